//! What a person may decide about a settlement or a reversal that needs review.
//!
//! ```
//! use railgate::lifecycle::SettlementStatus;
//! use railgate::lifecycle::review::{Next, Resolution, settlement};
//!
//! // Nobody knows how it ended, so whoever can prove it decides.
//! assert_eq!(settlement(SettlementStatus::Unknown, Resolution::ConfirmedCompleted), Next::Completed);
//!
//! // What is final stays as it is: a person can only accept that something contradicts it.
//! assert_eq!(settlement(SettlementStatus::Failed, Resolution::ConfirmedCompleted), Next::Refuse);
//! assert_eq!(settlement(SettlementStatus::Failed, Resolution::AcceptDiscrepancy), Next::Cleared);
//! ```

use super::reversal::ReversalStatus;
use super::settlement::SettlementStatus;
use super::stored_enum;

stored_enum! {
    /// What a person decided about something that needs review.
    pub enum Resolution {
        /// The rail carried it out, as evidence from outside the gateway shows.
        ConfirmedCompleted = 1 "confirmed_completed",
        /// The rail did not carry it out and never will, as evidence from outside the gateway shows.
        ConfirmedFailed = 2 "confirmed_failed",
        /// The recorded outcome stays, although something contradicts it.
        AcceptDiscrepancy = 3 "accept_discrepancy",
        /// There is no evidence yet: ask again in a day.
        KeepWaiting = 4 "keep_waiting",
    }
}

/// The effect of a resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The outcome is that it was carried out, as if the rail had said so.
    Completed,
    /// The outcome is that it was not carried out, as if the rail had said so.
    Failed,
    /// The outcome stays, and nobody waits for a person any more.
    Cleared,
    /// It needs review again in a day.
    KeepWaiting,
    /// The state does not allow it.
    Refuse,
}

/// What a resolution means for a settlement. Covers every state and resolution.
pub const fn settlement(status: SettlementStatus, resolution: Resolution) -> Next {
    use Resolution as R;
    use SettlementStatus as S;
    match (status, resolution) {
        (S::Submitted | S::Unknown, R::ConfirmedCompleted) => Next::Completed,
        (S::Submitted | S::Unknown, R::ConfirmedFailed) => Next::Failed,
        // Nothing was sent, so that no rail can have an outcome.
        (S::Accepted, R::ConfirmedCompleted | R::ConfirmedFailed) => Next::Refuse,
        (
            S::Completed | S::PartiallyReversed | S::Reversed | S::Returned | S::Failed | S::Cancelled,
            R::ConfirmedCompleted | R::ConfirmedFailed,
        ) => Next::Refuse,

        (S::Completed | S::PartiallyReversed | S::Reversed | S::Returned | S::Failed | S::Cancelled, R::AcceptDiscrepancy) => Next::Cleared,
        // There is no outcome yet that something could contradict.
        (S::Accepted | S::Submitted | S::Unknown, R::AcceptDiscrepancy) => Next::Refuse,

        (S::Accepted | S::Submitted | S::Unknown, R::KeepWaiting) => Next::KeepWaiting,
        // Nothing more will happen by itself.
        (S::Completed | S::PartiallyReversed | S::Reversed | S::Returned | S::Failed | S::Cancelled, R::KeepWaiting) => Next::Refuse,
    }
}

/// What a resolution means for a reversal. Covers every state and resolution.
pub const fn reversal(status: ReversalStatus, resolution: Resolution) -> Next {
    use Resolution as R;
    use ReversalStatus as S;
    match (status, resolution) {
        (S::Submitted | S::Unknown, R::ConfirmedCompleted) => Next::Completed,
        (S::Submitted | S::Unknown, R::ConfirmedFailed) => Next::Failed,
        (S::Accepted | S::Completed | S::Failed, R::ConfirmedCompleted | R::ConfirmedFailed) => Next::Refuse,

        (S::Completed | S::Failed, R::AcceptDiscrepancy) => Next::Cleared,
        (S::Accepted | S::Submitted | S::Unknown, R::AcceptDiscrepancy) => Next::Refuse,

        (S::Accepted | S::Submitted | S::Unknown, R::KeepWaiting) => Next::KeepWaiting,
        (S::Completed | S::Failed, R::KeepWaiting) => Next::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_open_outcome_is_confirmed_and_only_a_final_one_accepted() {
        let check = |is_final: bool, may_have_left: bool, resolution: Resolution, next: Next| match resolution {
            Resolution::ConfirmedCompleted => assert_eq!(next == Next::Completed, may_have_left),
            Resolution::ConfirmedFailed => assert_eq!(next == Next::Failed, may_have_left),
            Resolution::AcceptDiscrepancy => assert_eq!(next == Next::Cleared, is_final),
            Resolution::KeepWaiting => assert_eq!(next == Next::KeepWaiting, !is_final),
        };
        for &resolution in Resolution::ALL {
            for &status in SettlementStatus::ALL {
                let may_have_left = !status.is_final() && status != SettlementStatus::Accepted;
                check(status.is_final(), may_have_left, resolution, settlement(status, resolution));
            }
            for &status in ReversalStatus::ALL {
                let may_have_left = !status.is_final() && status != ReversalStatus::Accepted;
                check(status.is_final(), may_have_left, resolution, reversal(status, resolution));
            }
        }
    }

    #[test]
    fn every_state_has_a_way_out() {
        for &status in SettlementStatus::ALL {
            assert!(Resolution::ALL.iter().any(|&resolution| settlement(status, resolution) != Next::Refuse), "{status:?}");
        }
        for &status in ReversalStatus::ALL {
            assert!(Resolution::ALL.iter().any(|&resolution| reversal(status, resolution) != Next::Refuse), "{status:?}");
        }
    }
}
