//! The lifecycle of a bundle: a partner's description of a provider, from its draft until it is published, and revoked.
//!
//! ```
//! use railgate::lifecycle::bundle::{BundleInput, BundleStatus, Next, transition};
//!
//! let mut status = BundleStatus::Draft;
//! for input in [BundleInput::Submit, BundleInput::StartReview, BundleInput::Approve, BundleInput::PublishSandbox] {
//!     if let Next::To(next) = transition(status, input) {
//!         status = next;
//!     }
//! }
//! assert_eq!(status, BundleStatus::Published);
//! // It may go live; it is withdrawn by nobody any more, only revoked.
//! assert_eq!(transition(status, BundleInput::PublishLive), Next::Stay);
//! assert_eq!(transition(status, BundleInput::Withdraw), Next::Refuse);
//! ```

use super::{named_enum, stored_enum};

stored_enum! {
    /// The state of a bundle.
    pub enum BundleStatus {
        /// Its partner works on it.
        Draft = 1 "draft",
        /// Its partner asks for a review.
        Submitted = 2 "submitted",
        /// A reviewer looks at it.
        InReview = 3 "in_review",
        /// A reviewer asks for changes; its partner works on it.
        ChangesRequested = 4 "changes_requested",
        /// A reviewer approved it: it may be published.
        Approved = 5 "approved",
        /// A reviewer rejected it.
        Rejected = 6 "rejected",
        /// Its partner withdrew it.
        Withdrawn = 7 "withdrawn",
        /// Its provider takes payments: in the sandbox, and perhaps live.
        Published = 8 "published",
        /// Its provider takes no new payments any more.
        Revoked = 9 "revoked",
    }
}

impl BundleStatus {
    /// Whether nothing can happen to it any more.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Rejected | Self::Withdrawn | Self::Revoked => true,
            Self::Draft | Self::Submitted | Self::InReview | Self::ChangesRequested | Self::Approved | Self::Published => false,
        }
    }
}

named_enum! {
    /// What happens to a bundle.
    pub enum BundleInput {
        /// Its partner replaces its content.
        Edit = "edit",
        /// Its partner asks for a review.
        Submit = "submit",
        /// Its partner gives it up.
        Withdraw = "withdraw",
        /// A reviewer begins.
        StartReview = "start_review",
        /// A reviewer approves it.
        Approve = "approve",
        /// A reviewer rejects it.
        Reject = "reject",
        /// A reviewer asks for changes.
        RequestChanges = "request_changes",
        /// Its provider is made in the sandbox.
        PublishSandbox = "publish_sandbox",
        /// Its provider is made live.
        PublishLive = "publish_live",
        /// An operator revokes it.
        Revoke = "revoke",
        /// A later version of it has taken its place.
        Supersede = "supersede",
    }
}

/// What an input does to a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It moves to this state.
    To(BundleStatus),
    /// It is allowed, and the state stays.
    Stay,
    /// It is an error to the caller.
    Refuse,
}

/// The next state. Covers every state and input.
pub const fn transition(status: BundleStatus, input: BundleInput) -> Next {
    use BundleInput as I;
    use BundleStatus as S;
    match (status, input) {
        (S::Draft | S::ChangesRequested, I::Edit) => Next::Stay,
        (S::Draft | S::ChangesRequested, I::Submit) => Next::To(S::Submitted),
        // What is under review, or was approved, is what was submitted.
        (S::Submitted | S::InReview | S::Approved | S::Rejected | S::Withdrawn | S::Published | S::Revoked, I::Edit | I::Submit) => {
            Next::Refuse
        }

        (S::Draft | S::Submitted | S::InReview | S::ChangesRequested | S::Approved, I::Withdraw) => Next::To(S::Withdrawn),
        // Payments may be on their way: an operator revokes it.
        (S::Published, I::Withdraw) => Next::Refuse,
        (S::Rejected | S::Withdrawn | S::Revoked, I::Withdraw) => Next::Refuse,

        (S::Submitted, I::StartReview) => Next::To(S::InReview),
        (S::InReview, I::Approve) => Next::To(S::Approved),
        (S::InReview, I::Reject) => Next::To(S::Rejected),
        (S::InReview, I::RequestChanges) => Next::To(S::ChangesRequested),
        (S::InReview, I::StartReview) => Next::Refuse,
        (S::Submitted, I::Approve | I::Reject | I::RequestChanges) => Next::Refuse,
        (
            S::Draft | S::ChangesRequested | S::Approved | S::Rejected | S::Withdrawn | S::Published | S::Revoked,
            I::StartReview | I::Approve | I::Reject | I::RequestChanges,
        ) => Next::Refuse,

        (S::Approved, I::PublishSandbox) => Next::To(S::Published),
        // The sandbox comes first.
        (S::Approved, I::PublishLive) => Next::Refuse,
        (S::Published, I::PublishLive) => Next::Stay,
        (S::Published, I::PublishSandbox) => Next::Refuse,
        (S::Published, I::Revoke | I::Supersede) => Next::To(S::Revoked),
        (S::Approved, I::Revoke | I::Supersede) => Next::Refuse,
        (
            S::Draft | S::Submitted | S::InReview | S::ChangesRequested | S::Rejected | S::Withdrawn | S::Revoked,
            I::PublishSandbox | I::PublishLive | I::Revoke | I::Supersede,
        ) => Next::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_final_stays_and_everything_else_has_a_way_on() {
        for &status in BundleStatus::ALL {
            let moves = BundleInput::ALL.iter().any(|&input| transition(status, input) != Next::Refuse);
            assert_eq!(moves, !status.is_final(), "{status:?}");
        }
    }

    #[test]
    fn nothing_is_published_without_a_review_and_nothing_live_before_the_sandbox() {
        for &status in BundleStatus::ALL {
            for &input in BundleInput::ALL {
                let next = transition(status, input);
                if next == Next::To(BundleStatus::Published) {
                    assert_eq!((status, input), (BundleStatus::Approved, BundleInput::PublishSandbox));
                }
                if next == Next::To(BundleStatus::Approved) {
                    assert_eq!((status, input), (BundleStatus::InReview, BundleInput::Approve));
                }
                if input == BundleInput::PublishLive {
                    assert_eq!(next == Next::Stay, status == BundleStatus::Published);
                }
            }
        }
    }
}
