//! The records of bundles: what partners describe, and every step of it.

use crate::lifecycle::stored_enum;

stored_enum! {
    /// How the test of a bundle's sandbox endpoint is.
    pub enum ConformanceStatus {
        /// It waits for a server.
        Waiting = 1 "waiting",
        /// A server makes it.
        Running = 2 "running",
        /// No check failed.
        Passed = 3 "passed",
        /// A check failed.
        Failed = 4 "failed",
    }
}

stored_enum! {
    /// What a step of a bundle's timeline is about.
    pub enum BundleStepKind {
        /// Its partner made it.
        Created = 1 "bundle.created",
        /// Its partner replaced its content.
        Edited = 2 "bundle.edited",
        /// Its partner asked for a review.
        Submitted = 3 "bundle.submitted",
        /// Its partner withdrew it.
        Withdrawn = 4 "bundle.withdrawn",
        /// A reviewer began.
        InReview = 5 "bundle.in_review",
        /// A reviewer approved it.
        Approved = 6 "bundle.approved",
        /// A reviewer rejected it.
        Rejected = 7 "bundle.rejected",
        /// A reviewer asked for changes.
        ChangesRequested = 8 "bundle.changes_requested",
        /// Somebody said something about it.
        Commented = 9 "bundle.commented",
        /// Its sandbox endpoint was tested.
        Tested = 10 "bundle.tested",
        /// An operator asked for its publication, which a test precedes.
        PublicationAsked = 11 "bundle.publication_asked",
        /// It was published in the sandbox or live.
        Published = 12 "bundle.published",
        /// It was not published.
        PublicationFailed = 13 "bundle.publication_failed",
        /// An operator revoked it.
        Revoked = 14 "bundle.revoked",
        /// A later version took its place, in the sandbox or live.
        Superseded = 15 "bundle.superseded",
        /// Somebody asked for another test.
        TestAsked = 16 "bundle.test_asked",
    }
}

// Its codes are among those of `Topic`, which are those of `EventType` too: no two are the same.
stored_enum! {
    /// An event of a bundle that its partner's webhooks are told.
    pub enum BundleEvent {
        /// Its partner asked for a review.
        Submitted = 48 "bundle.submitted",
        /// A reviewer began.
        InReview = 49 "bundle.in_review",
        /// A reviewer approved it.
        Approved = 50 "bundle.approved",
        /// A reviewer rejected it.
        Rejected = 51 "bundle.rejected",
        /// A reviewer asked for changes.
        ChangesRequested = 52 "bundle.changes_requested",
        /// Its partner withdrew it.
        Withdrawn = 53 "bundle.withdrawn",
        /// It was published in the sandbox or live.
        Published = 54 "bundle.published",
        /// It was revoked.
        Revoked = 55 "bundle.revoked",
    }
}

impl BundleStepKind {
    /// What the partner's webhooks are told of it.
    pub(crate) const fn event(self) -> Option<BundleEvent> {
        Some(match self {
            Self::Submitted => BundleEvent::Submitted,
            Self::Withdrawn => BundleEvent::Withdrawn,
            Self::InReview => BundleEvent::InReview,
            Self::Approved => BundleEvent::Approved,
            Self::Rejected => BundleEvent::Rejected,
            Self::ChangesRequested => BundleEvent::ChangesRequested,
            Self::Published => BundleEvent::Published,
            Self::Revoked => BundleEvent::Revoked,
            Self::Created
            | Self::Edited
            | Self::Commented
            | Self::Tested
            | Self::PublicationAsked
            | Self::PublicationFailed
            | Self::Superseded
            | Self::TestAsked => return None,
        })
    }
}
