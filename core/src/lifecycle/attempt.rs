//! The lifecycle of an attempt at one provider: how a rail's answer changes it.
//!
//! ```
//! use railgate::lifecycle::attempt::{AnswerKind, AttemptStatus, Next, transition};
//!
//! // Refused: it is dead, and another provider may be tried.
//! assert_eq!(transition(AttemptStatus::Started, AnswerKind::Declined), Next::To(AttemptStatus::Declined));
//! assert!(AttemptStatus::Declined.is_dead());
//!
//! // A rail that claims later that it paid contradicts itself. The engine asks a person, because the money may have left twice.
//! assert_eq!(transition(AttemptStatus::Declined, AnswerKind::Completed), Next::Contradiction);
//! ```

use super::{StateName, stored_enum};

stored_enum! {
    /// The state of an attempt.
    pub enum AttemptStatus {
        /// Stored; it may have been sent.
        Started = 1 "started",
        /// The rail has accepted it and reports the outcome later.
        Accepted = 2 "accepted",
        /// Unknown whether the rail has it.
        Unknown = 3 "unknown",
        /// Paid.
        Completed = 4 "completed",
        /// Refused by the rail; it will never pay.
        Declined = 5 "declined",
        /// Proved never to have reached the rail; it will never pay.
        NotSent = 6 "not_sent",
    }
}

impl AttemptStatus {
    /// Whether it provably has not paid and never will.
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

    /// Its name in events.
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
    /// The kind of a rail's answer, without the details.
    pub enum AnswerKind {
        /// Paid.
        Completed = 1 "completed",
        /// Accepted; the outcome follows later.
        Accepted = 2 "accepted",
        /// Refused.
        Declined = 3 "declined",
        /// Never sent, or proved not to have arrived by an authoritative inquiry.
        NotSent = 4 "not_sent",
        /// Timeout, connection reset, 5xx, unreadable reply.
        Unknown = 5 "unknown",
        /// Bounced after completion.
        Returned = 6 "returned",
    }
}

/// The effect of an answer on an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The attempt changes to this state.
    To(AttemptStatus),
    /// Nothing new: a repeated or outdated answer.
    Stay,
    /// The answer contradicts what was proved.
    Contradiction,
    /// The payment came back after completion.
    Bounced,
    /// It was paid without our knowledge and has since come back: first completed, then bounced.
    PaidAndBounced,
}

/// Sends the same attempt again, under the same rail key, after proof that it never arrived.
pub const fn resend(from: AttemptStatus) -> Next {
    match from {
        AttemptStatus::Unknown => Next::To(AttemptStatus::Started),
        AttemptStatus::Started | AttemptStatus::Accepted | AttemptStatus::Completed => Next::Stay,
        AttemptStatus::Declined | AttemptStatus::NotSent => Next::Stay,
    }
}

/// The only place that decides what an answer means. Covers every state and answer.
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
        // The rail has an attempt that was proved never to have reached it.
        (S::NotSent, A::Accepted) => Contradiction,

        (S::Started | S::Accepted | S::Unknown, A::Declined) => To(S::Declined),
        (S::Declined | S::NotSent, A::Declined) => Stay,
        (S::Completed, A::Declined) => Contradiction,

        (S::Started | S::Unknown, A::NotSent) => To(S::NotSent),
        // The rail accepted it once, so not finding it now proves nothing, and a person must look at it.
        (S::Accepted, A::NotSent) => Contradiction,
        (S::Declined | S::NotSent, A::NotSent) => Stay,
        (S::Completed, A::NotSent) => Contradiction,

        (S::Started, A::Unknown) => To(S::Unknown),
        // It is known that the rail accepted it, whatever happened to a later inquiry.
        (S::Accepted | S::Unknown | S::Completed | S::Declined | S::NotSent, A::Unknown) => Stay,

        (S::Completed, A::Returned) => Bounced,
        // It must have been paid, or it could not come back.
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
