//! The lifecycle of a reversal: the undoing, whole or in part, of a completed settlement.

use super::attempt::AnswerKind;
use super::{IsoStatus, StateName, stored_enum};

stored_enum! {
    /// Where a reversal stands.
    pub enum ReversalStatus {
        /// Stored, its amount set aside, nothing sent.
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
    /// Nothing more happens to it.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed => true,
            Self::Accepted | Self::Submitted | Self::Unknown => false,
        }
    }

    /// The name under which events record it.
    pub const fn name(self) -> StateName {
        match self {
            Self::Accepted => StateName::Accepted,
            Self::Submitted => StateName::Submitted,
            Self::Unknown => StateName::Unknown,
            Self::Completed => StateName::Completed,
            Self::Failed => StateName::Failed,
        }
    }

    /// The ISO 20022 payment status that corresponds.
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

/// What follows from a rail's answer, or from sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The reversal goes to this state.
    To(ReversalStatus),
    /// A repeat, or old news.
    Stay,
    /// It contradicts what was proved; a person must look.
    Discrepancy,
}

/// The reversal is about to leave.
pub const fn dispatch(from: ReversalStatus) -> Next {
    match from {
        ReversalStatus::Accepted => Next::To(ReversalStatus::Submitted),
        ReversalStatus::Submitted | ReversalStatus::Unknown | ReversalStatus::Completed | ReversalStatus::Failed => Next::Stay,
    }
}

/// What a rail's answer makes of a reversal. Total.
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

        // A reversal is not a payment that could bounce; what this means is for a person to find out.
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
