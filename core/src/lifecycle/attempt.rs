//! One try at one provider, and what a rail's answer makes of it.

use super::{StateName, stored_enum};

stored_enum! {
    /// Where an attempt stands.
    pub enum AttemptStatus {
        /// Stored; it may have left.
        Started = 1 "started",
        /// The rail has it and will say later how it ended.
        Accepted = 2 "accepted",
        /// It is not known whether the rail has it.
        Unknown = 3 "unknown",
        /// Paid.
        Completed = 4 "completed",
        /// Refused by the rail: dead.
        Declined = 5 "declined",
        /// Proved never to have reached the rail: dead.
        NotSent = 6 "not_sent",
    }
}

impl AttemptStatus {
    /// Whether it is proved not to have paid and never to pay.
    pub const fn is_dead(self) -> bool {
        match self {
            Self::Declined | Self::NotSent => true,
            Self::Started | Self::Accepted | Self::Unknown | Self::Completed => false,
        }
    }

    /// Whether the rail may still change it.
    pub const fn is_open(self) -> bool {
        match self {
            Self::Started | Self::Accepted | Self::Unknown => true,
            Self::Completed | Self::Declined | Self::NotSent => false,
        }
    }

    /// The name under which events record it.
    pub const fn name(self) -> StateName {
        match self {
            Self::Started => StateName::Started,
            Self::Accepted => StateName::Accepted,
            Self::Unknown => StateName::Unknown,
            Self::Completed => StateName::Completed,
            Self::Declined => StateName::Declined,
            Self::NotSent => StateName::NotSent,
        }
    }
}

stored_enum! {
    /// What a rail said, without its details.
    pub enum AnswerKind {
        /// Paid.
        Completed = 1 "completed",
        /// Accepted; the outcome comes later.
        Accepted = 2 "accepted",
        /// Refused.
        Declined = 3 "declined",
        /// Never left, or proved unknown to a rail whose not-found is authoritative.
        NotSent = 4 "not_sent",
        /// Time-out, reset, 5xx, unparsable.
        Unknown = 5 "unknown",
        /// Bounced after it had completed.
        Returned = 6 "returned",
    }
}

/// What an answer makes of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The attempt goes to this state.
    To(AttemptStatus),
    /// Nothing new: a repeat, or older than what is already known.
    Stay,
    /// It contradicts what was proved.
    Contradiction,
    /// The payment came back after it had completed.
    Bounced,
    /// It was paid without our knowing, and has since come back: completed first, then bounced.
    PaidAndBounced,
}

/// The same attempt is sent again, under the same rail key, after proof that it had not arrived.
pub const fn resend(from: AttemptStatus) -> Next {
    match from {
        AttemptStatus::Unknown => Next::To(AttemptStatus::Started),
        AttemptStatus::Started | AttemptStatus::Accepted | AttemptStatus::Completed => Next::Stay,
        AttemptStatus::Declined | AttemptStatus::NotSent => Next::Stay,
    }
}

/// The one place that decides what an answer means. Total.
pub const fn transition(from: AttemptStatus, answer: AnswerKind) -> Next {
    use AnswerKind as A;
    use AttemptStatus as S;
    use Next::{Bounced, Contradiction, PaidAndBounced, Stay, To};
    match (from, answer) {
        (S::Started | S::Accepted | S::Unknown, A::Completed) => To(S::Completed),
        (S::Completed, A::Completed) => Stay,
        (S::Declined | S::NotSent, A::Completed) => Contradiction,

        (S::Started | S::Unknown, A::Accepted) => To(S::Accepted),
        (S::Accepted | S::Completed | S::Declined, A::Accepted) => Stay,
        // The rail has what was proved never to have reached it.
        (S::NotSent, A::Accepted) => Contradiction,

        (S::Started | S::Accepted | S::Unknown, A::Declined) => To(S::Declined),
        (S::Declined | S::NotSent, A::Declined) => Stay,
        (S::Completed, A::Declined) => Contradiction,

        (S::Started | S::Unknown, A::NotSent) => To(S::NotSent),
        // The rail took it once: that it cannot find it now proves nothing, and a person must look.
        (S::Accepted, A::NotSent) => Contradiction,
        (S::Declined | S::NotSent, A::NotSent) => Stay,
        (S::Completed, A::NotSent) => Contradiction,

        (S::Started, A::Unknown) => To(S::Unknown),
        // That the rail took it stays known, whatever became of a later question.
        (S::Accepted | S::Unknown | S::Completed | S::Declined | S::NotSent, A::Unknown) => Stay,

        (S::Completed, A::Returned) => Bounced,
        // It must have been paid to come back.
        (S::Started | S::Accepted | S::Unknown, A::Returned) => PaidAndBounced,
        (S::Declined | S::NotSent, A::Returned) => Contradiction,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_open_attempt_changes() {
        for &from in AttemptStatus::ALL {
            for &answer in AnswerKind::ALL {
                if let Next::To(to) = transition(from, answer) {
                    assert!(from.is_open(), "{from:?} {answer:?} {to:?}");
                }
            }
        }
    }

    #[test]
    fn what_the_rail_took_is_never_proved_unsent_nor_sent_again() {
        for &answer in AnswerKind::ALL {
            let next = transition(AttemptStatus::Accepted, answer);
            assert!(!matches!(next, Next::To(AttemptStatus::NotSent | AttemptStatus::Unknown)), "{answer:?}");
        }
        assert_eq!(resend(AttemptStatus::Accepted), Next::Stay);
    }
}
