//! The lifecycle of a settlement.
//!
//! ```
//! use railgate::lifecycle::IsoStatus;
//! use railgate::lifecycle::settlement::{Next, SettlementInput, SettlementStatus, transition};
//!
//! let mut status = SettlementStatus::Accepted;
//! for input in [SettlementInput::AttemptStarted, SettlementInput::AttemptUnknown, SettlementInput::AttemptCompleted] {
//!     if let Next::To(next) = transition(status, input) {
//!         status = next;
//!     }
//! }
//! assert_eq!((status, status.iso_status()), (SettlementStatus::Completed, IsoStatus::Acsc));
//! assert!(status.is_final() && status.is_paid());
//!
//! // The same answer again changes nothing.
//! assert_eq!(transition(status, SettlementInput::AttemptCompleted), Next::Stay);
//! ```

use super::{IsoStatus, StateName, named_enum, stored_enum};

stored_enum! {
    /// The state of a settlement.
    pub enum SettlementStatus {
        /// Stored, funds on hold, nothing sent.
        Accepted = 1 "accepted",
        /// An attempt was stored and may have been sent.
        Submitted = 2 "submitted",
        /// The rail's answer is not known; the hold stays.
        Unknown = 3 "unknown",
        /// Paid. Final, but can still be reversed or returned.
        Completed = 4 "completed",
        /// A part of it was reversed.
        PartiallyReversed = 5 "partially_reversed",
        /// All of it was reversed.
        Reversed = 6 "reversed",
        /// The rail bounced it after completion.
        Returned = 7 "returned",
        /// Proved not paid; the money is released.
        Failed = 8 "failed",
        /// Withdrawn before anything was sent; the money is released.
        Cancelled = 9 "cancelled",
    }
}

impl SettlementStatus {
    /// Whether the state no longer changes by itself. (`completed` can still be reversed or returned.)
    pub const fn is_final(self) -> bool {
        match self {
            Self::Accepted | Self::Submitted | Self::Unknown => false,
            Self::Completed | Self::PartiallyReversed | Self::Reversed | Self::Returned | Self::Failed | Self::Cancelled => true,
        }
    }

    /// Whether the money left: the hold was posted.
    pub const fn is_paid(self) -> bool {
        match self {
            Self::Completed | Self::PartiallyReversed | Self::Reversed | Self::Returned => true,
            Self::Accepted | Self::Submitted | Self::Unknown | Self::Failed | Self::Cancelled => false,
        }
    }

    /// The corresponding ISO 20022 payment status.
    pub const fn iso_status(self) -> IsoStatus {
        match self {
            Self::Accepted => IsoStatus::Rcvd,
            Self::Submitted => IsoStatus::Acsp,
            Self::Unknown => IsoStatus::Pdng,
            Self::Completed | Self::PartiallyReversed | Self::Reversed | Self::Returned => IsoStatus::Acsc,
            Self::Failed => IsoStatus::Rjct,
            Self::Cancelled => IsoStatus::Canc,
        }
    }

    /// Its name in events.
    pub const fn name(self) -> StateName {
        match self {
            Self::Accepted => StateName::Accepted,
            Self::Submitted => StateName::Submitted,
            Self::Unknown => StateName::Unknown,
            Self::Completed => StateName::Completed,
            Self::PartiallyReversed => StateName::PartiallyReversed,
            Self::Reversed => StateName::Reversed,
            Self::Returned => StateName::Returned,
            Self::Failed => StateName::Failed,
            Self::Cancelled => StateName::Cancelled,
        }
    }
}

named_enum! {
    /// Whether the owner of a settlement pays or is paid.
    pub enum Direction {
        /// It pays.
        Outgoing = "outgoing",
        /// Another client of the gateway pays it.
        Incoming = "incoming",
    }
}

impl Direction {
    /// The other one.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Outgoing => Self::Incoming,
            Self::Incoming => Self::Outgoing,
        }
    }

    /// That of every settlement of a gateway that does not say it.
    pub(crate) const fn unsaid() -> Self {
        Self::Outgoing
    }
}

stored_enum! {
    /// An input to the settlement's lifecycle.
    pub enum SettlementInput {
        /// An attempt is about to be sent: the first, or one at the next provider.
        AttemptStarted = 1 "attempt_started",
        /// The rail accepted the attempt and will report the outcome later.
        AttemptAccepted = 2 "attempt_accepted",
        /// It is not known whether the attempt was carried out.
        AttemptUnknown = 3 "attempt_unknown",
        /// Proof that the current attempt was paid.
        AttemptCompleted = 4 "attempt_completed",
        /// Proof that the current attempt failed, and another provider remains.
        AttemptDeadRouteLeft = 5 "attempt_dead_route_left",
        /// Proof that the current attempt failed, and no other provider remains.
        AttemptDeadNoRoute = 6 "attempt_dead_no_route",
        /// A rail's answer that contradicts what was proved (a late success, a late decline, a superseded attempt).
        Contradiction = 7 "contradiction",
        /// The client cancels it, or it expired before it was sent.
        Cancel = 8 "cancel",
        /// A reversal completed and something remains.
        ReversedPart = 9 "reversed_part",
        /// A reversal completed and nothing remains.
        ReversedAll = 10 "reversed_all",
        /// The rail bounced a completed payment.
        Bounced = 11 "bounced",
    }
}

/// The effect of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The settlement changes to this state.
    To(SettlementStatus),
    /// Nothing changes and nothing is recorded about the state: a repeated or outdated input.
    Stay,
    /// The state stays, but a person must look at it: event `settlement.discrepancy`, `needs_review`.
    Discrepancy,
    /// The state does not allow it; the caller gets an error.
    Refuse,
}

/// The only place that decides how a settlement changes. Covers every state and input.
pub const fn transition(from: SettlementStatus, input: SettlementInput) -> Next {
    use Next::{Discrepancy, Refuse, Stay, To};
    use SettlementInput as I;
    use SettlementStatus as S;
    match (from, input) {
        (S::Accepted, I::AttemptStarted) => To(S::Submitted),
        (S::Submitted, I::AttemptStarted) => Stay,
        // An inquiry proved that the attempt failed, and another provider is tried: it is in flight again.
        (S::Unknown, I::AttemptStarted) => To(S::Submitted),
        (S::Completed | S::PartiallyReversed | S::Reversed | S::Returned | S::Failed | S::Cancelled, I::AttemptStarted) => Refuse,

        (S::Submitted, I::AttemptAccepted) => Stay,
        // The rail has it after all, but has not finished.
        (S::Unknown, I::AttemptAccepted) => To(S::Submitted),
        // Outdated: an `accepted` that arrives after a final answer does not contradict it.
        (S::Completed | S::PartiallyReversed | S::Reversed | S::Returned | S::Failed, I::AttemptAccepted) => Stay,
        (S::Accepted | S::Cancelled, I::AttemptAccepted) => Discrepancy,

        (S::Submitted, I::AttemptUnknown) => To(S::Unknown),
        (S::Unknown, I::AttemptUnknown) => Stay,
        // An unknown outcome never contradicts a proof.
        (S::Completed | S::PartiallyReversed | S::Reversed | S::Returned | S::Failed, I::AttemptUnknown) => Stay,
        (S::Accepted | S::Cancelled, I::AttemptUnknown) => Stay,

        (S::Submitted | S::Unknown, I::AttemptCompleted) => To(S::Completed),
        (S::Completed | S::PartiallyReversed | S::Reversed | S::Returned, I::AttemptCompleted) => Stay,
        // Paid although nothing was sent, or although it was proved to have failed.
        (S::Accepted | S::Failed | S::Cancelled, I::AttemptCompleted) => Discrepancy,

        // The next attempt is recorded by its own input; until then the state stays.
        (S::Submitted | S::Unknown, I::AttemptDeadRouteLeft) => Stay,
        (S::Submitted | S::Unknown, I::AttemptDeadNoRoute) => To(S::Failed),
        (S::Failed, I::AttemptDeadRouteLeft | I::AttemptDeadNoRoute) => Stay,
        (S::Accepted | S::Cancelled, I::AttemptDeadRouteLeft | I::AttemptDeadNoRoute) => Stay,
        (S::Completed | S::PartiallyReversed | S::Reversed | S::Returned, I::AttemptDeadRouteLeft | I::AttemptDeadNoRoute) => Discrepancy,

        (
            S::Accepted
            | S::Submitted
            | S::Unknown
            | S::Completed
            | S::PartiallyReversed
            | S::Reversed
            | S::Returned
            | S::Failed
            | S::Cancelled,
            I::Contradiction,
        ) => Discrepancy,

        (S::Accepted, I::Cancel) => To(S::Cancelled),
        (S::Cancelled, I::Cancel) => Stay,
        (S::Submitted | S::Unknown, I::Cancel) => Refuse,
        (S::Completed | S::PartiallyReversed | S::Reversed | S::Returned | S::Failed, I::Cancel) => Refuse,

        (S::Completed | S::PartiallyReversed, I::ReversedPart) => To(S::PartiallyReversed),
        (S::Completed | S::PartiallyReversed, I::ReversedAll) => To(S::Reversed),
        // A reversal that completes after the rail already bounced the payment: the money came back twice.
        (S::Returned | S::Reversed, I::ReversedPart | I::ReversedAll) => Discrepancy,
        (S::Accepted | S::Submitted | S::Unknown | S::Failed | S::Cancelled, I::ReversedPart | I::ReversedAll) => Discrepancy,

        (S::Completed | S::PartiallyReversed, I::Bounced) => To(S::Returned),
        (S::Returned, I::Bounced) => Stay,
        // Bounced before its completion was reported: the payee does not have the money, but a person must look at it.
        (S::Submitted | S::Unknown, I::Bounced) => Discrepancy,
        (S::Accepted | S::Reversed | S::Failed | S::Cancelled, I::Bounced) => Discrepancy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(mut check: impl FnMut(SettlementStatus, SettlementInput, Next)) {
        for &from in SettlementStatus::ALL {
            for &input in SettlementInput::ALL {
                check(from, input, transition(from, input));
            }
        }
    }

    #[test]
    fn unknown_becomes_failed_only_by_proof() {
        every(|from, input, next| {
            if from == SettlementStatus::Unknown && next == Next::To(SettlementStatus::Failed) {
                assert_eq!(input, SettlementInput::AttemptDeadNoRoute);
            }
        });
    }

    #[test]
    fn what_is_proved_dead_or_withdrawn_never_comes_alive() {
        every(|from, input, next| {
            if matches!(
                from,
                SettlementStatus::Failed | SettlementStatus::Cancelled | SettlementStatus::Reversed | SettlementStatus::Returned
            ) {
                assert!(!matches!(next, Next::To(_)), "{from:?} {input:?} {next:?}");
            }
        });
    }

    #[test]
    fn what_is_paid_stays_paid() {
        every(|from, input, next| {
            if let Next::To(to) = next {
                assert!(!from.is_paid() || to.is_paid(), "{from:?} {input:?} {to:?}");
            }
        });
    }

    #[test]
    fn nothing_is_cancelled_once_it_may_have_left() {
        every(|from, input, next| {
            if next == Next::To(SettlementStatus::Cancelled) {
                assert_eq!((from, input), (SettlementStatus::Accepted, SettlementInput::Cancel));
            }
        });
    }
}
