//! The outbox of a device: settlements that are created without network are kept in a file, and each is paid once.
//!
//! This module decides; [`OutboxFile`] (feature `sqlite`) stores what was decided before anything leaves. The host carries
//! [`Try`]s to the gateway and reports what was [`Heard`]. Three rules hold whatever the network does:
//!
//! - **Stored before sent.** A try is on disk before its first byte leaves, so that after a crash it is known
//!   what may have left.
//! - **One reference.** Every try of an entry is the same call with the same reference: the gateway answers all but the first
//!   with what that one made.
//! - **Unknown is never refused.** A try without an answer that can be trusted leaves a *doubt*: it may have been carried out,
//!   or still be in flight for as long as its signature is valid ([`LATE_MS`]). A refusal of a later try then proves nothing: a
//!   gateway judges a request before it looks up its reference. The gateway is asked for the reference instead, and only
//!   when it does not know it and nothing can arrive any more is the entry refused. That is measured by the gateway's own
//!   clock, from one of its answers to another, because a device's clock may jump at any moment.
//!
//! A settlement that somebody else made under the reference is never mistaken for the entry's: what the gateway shows must
//! match the request.

#[cfg(feature = "sqlite")]
mod file;
mod judge;

use super::Request;
use crate::lifecycle::stored_enum;
use crate::time::Millis;

#[cfg(feature = "sqlite")]
pub use file::{OutboxError, OutboxFile};
pub use judge::{Heard, Verdict, judge, shows};

stored_enum! {
    /// Where an entry stands.
    pub enum OutboxState {
        /// Stored; nothing that has left can still be carried out.
        Queued = 1 "queued",
        /// A try is in flight.
        Sending = 2 "sending",
        /// A try left, and no answer came that can be trusted: the gateway may have it or not.
        Unknown = 3 "unknown",
        /// The gateway has it; the settlement tells the rest.
        Delivered = 4 "delivered",
        /// The gateway refused it and nothing of it can arrive any more: nothing is paid.
        Refused = 5 "refused",
        /// Withdrawn while nothing of it could be carried out.
        Withdrawn = 6 "withdrawn",
    }
}

impl OutboxState {
    /// Nothing more is sent.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Queued | Self::Sending | Self::Unknown => false,
            Self::Delivered | Self::Refused | Self::Withdrawn => true,
        }
    }
}

stored_enum! {
    /// What happens to an entry.
    pub enum OutboxInput {
        /// A try is about to leave.
        Start = 1 "start",
        /// Nothing of the try left the device.
        NotSent = 2 "not_sent",
        /// The try left and no answer came that can be trusted; or the process ended while it was in flight.
        NoAnswer = 3 "no_answer",
        /// The gateway did nothing, for a reason that can pass.
        PutOff = 4 "put_off",
        /// The gateway refused the request itself.
        Refused = 5 "refused",
        /// The gateway has the settlement.
        Taken = 6 "taken",
        /// The gateway was asked and does not know the reference.
        Absent = 7 "absent",
        /// The app withdraws it.
        Withdraw = 8 "withdraw",
        /// The reference is that of another settlement: none of the entry's tries can be carried out.
        Foreign = 9 "foreign",
    }
}

stored_enum! {
    /// Whether an earlier try may have been carried out, or may yet be.
    pub enum Doubt {
        /// Every earlier try has an answer.
        None = 1 "none",
        /// One has not, and could still arrive as far as the gateway's answers tell.
        Open = 2 "open",
        /// One has not, but nothing can arrive any more.
        Over = 3 "over",
    }
}

/// What an input makes of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutboxNext {
    /// This state.
    To(OutboxState),
    /// The same state: old news, or a repeat.
    Stay,
    /// The state does not allow it.
    Refuse,
}

/// The one place that decides how an entry moves. Total: every state, input and doubt has an answer.
pub const fn outbox_transition(from: OutboxState, input: OutboxInput, doubt: Doubt) -> OutboxNext {
    use OutboxInput as I;
    use OutboxNext::{Refuse, Stay, To};
    use OutboxState as S;
    match (from, input) {
        (S::Queued | S::Unknown, I::Start) => To(S::Sending),
        (S::Sending | S::Delivered | S::Refused | S::Withdrawn, I::Start) => Refuse,

        // Certainty is never lost: what was in doubt before such a try is in doubt after it.
        (S::Sending, I::NotSent | I::PutOff) => match doubt {
            Doubt::None => To(S::Queued),
            Doubt::Open | Doubt::Over => To(S::Unknown),
        },
        (S::Sending, I::NoAnswer) => To(S::Unknown),
        (S::Sending, I::Refused) => match doubt {
            Doubt::None => To(S::Refused),
            // To be asked for by its reference.
            Doubt::Open | Doubt::Over => To(S::Unknown),
        },
        (S::Sending, I::Foreign) => To(S::Refused),
        (S::Sending, I::Absent) => match doubt {
            Doubt::None | Doubt::Open => To(S::Unknown),
            Doubt::Over => To(S::Refused),
        },
        // Answers to tries that were given up as lost.
        (
            S::Queued | S::Unknown | S::Delivered | S::Refused | S::Withdrawn,
            I::NotSent | I::NoAnswer | I::PutOff | I::Refused | I::Absent | I::Foreign,
        ) => Stay,

        // Proof, however late it comes.
        (S::Sending | S::Unknown, I::Taken) => To(S::Delivered),
        (S::Delivered, I::Taken) => Stay,
        // Somebody else's settlement under this reference; nothing of this entry can be carried out.
        (S::Queued | S::Refused | S::Withdrawn, I::Taken) => Stay,

        (S::Queued, I::Withdraw) => To(S::Withdrawn),
        (S::Withdrawn, I::Withdraw) => Stay,
        (S::Sending | S::Unknown | S::Delivered | S::Refused, I::Withdraw) => Refuse,
    }
}

/// How long after the gateway answered a later call a try may still be carried out: its challenge was issued before that,
/// and is refused after five minutes, perhaps by another node's clock.
pub const LATE_MS: Millis = 15 * 60_000;

/// What a try asks of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryKind {
    /// To create the settlement.
    Create,
    /// Whether it knows the reference.
    Ask,
    /// How a settlement that it has continues.
    Follow,
}

/// One call that is to be carried to the gateway now. It is stored already.
#[derive(Clone)]
pub struct Try {
    /// The number of the entry: one that was put in later under the same reference is another.
    pub entry: i64,
    /// The entry's reference.
    pub reference: String,
    /// Its number among the entry's tries, from 1.
    pub number: u32,
    /// Its purpose.
    pub kind: TryKind,
    /// The call, to be signed and sent.
    pub request: Request,
}

/// What there is to do.
#[derive(Clone)]
pub enum Step {
    /// Carry this, and report what was heard.
    Send(Box<Try>),
    /// Nothing before this time.
    Wait(Millis),
    /// Nothing until something is put in.
    Idle,
}

/// An entry, as the app sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The reference of the settlement.
    pub reference: String,
    /// The body of the create call.
    pub body: String,
    /// Where it stands.
    pub state: OutboxState,
    /// How many tries were started.
    pub tries: u32,
    /// When the next is due, or when the settlement is polled next; none when nothing more is sent.
    pub next_at: Option<Millis>,
    /// What stood in the way of the latest try: a problem document.
    pub problem: Option<String>,
    /// The settlement as the gateway showed it last.
    pub settlement: Option<String>,
    /// When it was put in.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// Grows with every change of any entry of the file.
    pub change: i64,
}

impl OutboxEntry {
    /// It is finished: nothing more is sent for it, and it no longer changes.
    pub const fn has_ended(&self) -> bool {
        self.state.is_final() && self.next_at.is_none()
    }
}

/// The longest backoff between two tries.
const LONGEST_PAUSE_MS: Millis = 5 * 60_000;

/// How long to wait after the `tries`-th try: 1 s, doubled each time up to five minutes; the devices of a shop that lost its
/// network are spread by a fifth, each by its references.
pub fn pause_ms(reference: &str, tries: u32) -> Millis {
    let doubled = 1_000_i64.checked_shl(tries.saturating_sub(1).min(20)).map_or(LONGEST_PAUSE_MS, |ms| ms.min(LONGEST_PAUSE_MS));
    let spread = reference.bytes().fold(i64::from(tries), |sum, byte| (sum * 31 + i64::from(byte)) % 1_009);
    doubled + doubled / 5 * spread / 1_009
}

#[cfg(test)]
mod tests;
