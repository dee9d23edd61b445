//! The lifecycle of a reversal, which gives back a completed settlement, in whole or in part.
//!
//! ```
//! use railgate::ErrorCode;
//! use railgate::lifecycle::SettlementStatus;
//! use railgate::lifecycle::reversal::{Ask, Undo, undo};
//!
//! // What was not sent is cancelled, and what was paid is reversed. In between, the outcome must be awaited.
//! assert_eq!(undo(SettlementStatus::Accepted, Ask::Whole), Undo::Cancel);
//! assert_eq!(undo(SettlementStatus::Submitted, Ask::Whole), Undo::Refuse(ErrorCode::SettlementInFlight));
//! assert_eq!(undo(SettlementStatus::Completed, Ask::Part), Undo::Reverse);
//!
//! // No more than was paid.
//! assert_eq!(undo(SettlementStatus::Completed, Ask::Excess), Undo::Refuse(ErrorCode::ReversalExceedsRemaining));
//! ```

use super::attempt::AnswerKind;
use super::settlement::SettlementStatus;
use super::{IsoStatus, StateName, stored_enum};
use crate::error::ErrorCode;

stored_enum! {
    /// The state of a reversal.
    pub enum ReversalStatus {
        /// Stored, the amount announced, nothing sent.
        Accepted = 1 "accepted",
        /// Stored as sent; the rail may have it.
        Submitted = 2 "submitted",
        /// The rail's answer is not known.
        Unknown = 3 "unknown",
        /// The money is back.
        Completed = 4 "completed",
        /// Proved not reversed.
        Failed = 5 "failed",
    }
}

impl ReversalStatus {
    /// Whether the state no longer changes.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed => true,
            Self::Accepted | Self::Submitted | Self::Unknown => false,
        }
    }

    /// Its name in events.
    pub const fn name(self) -> StateName {
        match self {
            Self::Accepted => StateName::Accepted,
            Self::Submitted => StateName::Submitted,
            Self::Unknown => StateName::Unknown,
            Self::Completed => StateName::Completed,
            Self::Failed => StateName::Failed,
        }
    }

    /// The corresponding ISO 20022 payment status.
    pub const fn iso_status(self) -> IsoStatus {
        match self {
            Self::Accepted => IsoStatus::Rcvd,
            Self::Submitted => IsoStatus::Acsp,
            Self::Unknown => IsoStatus::Pdng,
            Self::Completed => IsoStatus::Acsc,
            Self::Failed => IsoStatus::Rjct,
        }
    }
}

stored_enum! {
    /// How much of a settlement a client asks to reverse.
    pub enum Ask {
        /// The whole remainder.
        Whole = 1 "reverse_whole",
        /// Less than the remainder.
        Part = 2 "reverse_part",
        /// More than the remainder, or anything if nothing remains.
        Excess = 3 "reverse_excess",
    }
}

/// What a request to reverse a settlement leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undo {
    /// Nothing was sent: the settlement is cancelled.
    Cancel,
    /// It was paid: a reversal starts, if the provider supports it.
    Reverse,
    /// The request is refused.
    Refuse(ErrorCode),
}

/// Whether and how a settlement in this state may be undone. Covers every state and request.
pub const fn undo(from: SettlementStatus, ask: Ask) -> Undo {
    use SettlementStatus as S;
    match (from, ask) {
        (S::Accepted, Ask::Whole) => Undo::Cancel,
        // A settlement that was not sent can only be cancelled as a whole.
        (S::Accepted, Ask::Part | Ask::Excess) => Undo::Refuse(ErrorCode::InvalidState),
        (S::Submitted | S::Unknown, Ask::Whole | Ask::Part | Ask::Excess) => Undo::Refuse(ErrorCode::SettlementInFlight),
        (S::Completed | S::PartiallyReversed, Ask::Whole | Ask::Part) => Undo::Reverse,
        (S::Completed | S::PartiallyReversed, Ask::Excess) => Undo::Refuse(ErrorCode::ReversalExceedsRemaining),
        (S::Reversed, Ask::Whole | Ask::Part | Ask::Excess) => Undo::Refuse(ErrorCode::AlreadyReversed),
        // The payee does not have the money.
        (S::Cancelled | S::Failed | S::Returned, Ask::Whole | Ask::Part | Ask::Excess) => Undo::Refuse(ErrorCode::InvalidState),
    }
}

/// The effect of a rail's answer, or of sending, on a reversal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The reversal changes to this state.
    To(ReversalStatus),
    /// Nothing new: a repeated or outdated answer.
    Stay,
    /// The answer contradicts what was proved; a person must look at it.
    Discrepancy,
}

/// The transition when a reversal is about to be sent.
pub const fn dispatch(from: ReversalStatus) -> Next {
    match from {
        ReversalStatus::Accepted => Next::To(ReversalStatus::Submitted),
        ReversalStatus::Submitted | ReversalStatus::Unknown | ReversalStatus::Completed | ReversalStatus::Failed => Next::Stay,
    }
}

/// The effect of a rail's answer on a reversal. Covers every state and answer.
pub const fn transition(from: ReversalStatus, answer: AnswerKind) -> Next {
    use AnswerKind as A;
    use Next::{Discrepancy, Stay, To};
    use ReversalStatus as S;
    match (from, answer) {
        (S::Submitted | S::Unknown, A::Completed) => To(S::Completed),
        (S::Completed, A::Completed) => Stay,
        (S::Accepted | S::Failed, A::Completed) => Discrepancy,

        (S::Unknown, A::Accepted) => To(S::Submitted),
        (S::Submitted | S::Completed | S::Failed, A::Accepted) => Stay,
        (S::Accepted, A::Accepted) => Discrepancy,

        (S::Submitted | S::Unknown, A::Declined | A::NotSent) => To(S::Failed),
        (S::Failed, A::Declined | A::NotSent) => Stay,
        (S::Accepted, A::Declined | A::NotSent) => Stay,
        (S::Completed, A::Declined | A::NotSent) => Discrepancy,

        (S::Submitted, A::Unknown) => To(S::Unknown),
        (S::Accepted | S::Unknown | S::Completed | S::Failed, A::Unknown) => Stay,

        // A reversal is not a payment that could bounce; a person must find out what this means.
        (S::Accepted | S::Submitted | S::Unknown | S::Completed | S::Failed, A::Returned) => Discrepancy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_final_reversal_never_changes() {
        for &from in ReversalStatus::ALL.iter().filter(|s| s.is_final()) {
            for &answer in AnswerKind::ALL {
                assert!(!matches!(transition(from, answer), Next::To(_)));
            }
            assert_eq!(dispatch(from), Next::Stay);
        }
    }
}
