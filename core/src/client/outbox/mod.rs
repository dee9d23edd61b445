//! The outbox of a device: settlements created without a network are kept in a file, and each is paid once.
//!
#![cfg_attr(feature = "sqlite", doc = "```")]
#![cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
//! use railgate::client::outbox::{Heard, OutboxFile, OutboxState, Step};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("outbox.db");
//! # let now = 1_795_257_497_042;
//! let outbox = OutboxFile::open(&path, "https://pay.example sandbox cli_01JD0000000000000000000000", None, now)?;
//! outbox.put("inv-1", r#"{"amount": 10.50, "currency": "EUR", "to": "sim:ok", "reference": "inv-1"}"#, now)?;
//!
//! // Stored as possibly sent before it is returned. The host sends `attempt.request` with an `Exchange`.
//! let Step::Send(attempt) = outbox.next(now)? else { return Err("nothing is due".into()) };
//! assert_eq!((&*attempt.request.method, &*attempt.request.path), ("POST", "/api/v1/gateway/settlements"));
//!
//! // The network broke: the gateway may have the settlement or not, so it can no longer be withdrawn.
//! let entry = outbox.heard(&attempt, &Heard::NoAnswer { problem: r#"{"code":"no_answer"}"# }, now)?;
//! assert_eq!(entry.map(|entry| entry.state), Some(OutboxState::Unknown));
//! assert!(outbox.withdraw("inv-1", now).is_err());
//!
//! // The next try, a second later, is the same call with the same reference.
//! let Step::Wait(due) = outbox.next(now)? else { return Err("it must wait".into()) };
//! assert!((now + 1_000..now + 2_000).contains(&due));
//! # Ok(())
//! # }
//! ```
//!
//! This module decides; [`OutboxFile`] (feature `sqlite`) stores each decision before anything leaves. The host carries each
//! [`Try`] to the gateway and reports its outcome as [`Heard`]. Three rules hold regardless of the network:
//!
//! - **Stored before sent.** A try is on disk before its first byte leaves. After a crash it is therefore known what may have left.
//! - **One reference.** Every try of an entry is the same call with the same reference: to all but the first, the gateway returns
//!   the result of the first.
//! - **Unknown is never refused.** A try without a trustworthy response leaves a *doubt*: it may have been carried out, or still be
//!   in flight for as long as its signature is valid ([`LATE_MS`]). A refusal of a later try then proves nothing, because a gateway
//!   judges a request before it looks up its reference. Instead, the gateway is asked for the reference. The entry is refused only
//!   if the gateway does not have it and nothing can arrive any more. The gateway's own clock measures that, from one of its
//!   responses to another, because a device's clock may jump at any moment.
//!
//! A settlement that somebody else made under the reference is never mistaken for the entry's: the settlement that the gateway
//! returns must match the request.

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
    /// The state of an entry.
    pub enum OutboxState {
        /// Stored; nothing that has left can still be carried out.
        Queued = 1 "queued",
        /// A try is in flight.
        Sending = 2 "sending",
        /// A try left, but no trustworthy response came: the gateway may have it or not.
        Unknown = 3 "unknown",
        /// The gateway has it; the settlement contains the rest.
        Delivered = 4 "delivered",
        /// The gateway refused it, and none of its tries can arrive any more: nothing is paid.
        Refused = 5 "refused",
        /// Withdrawn while none of its tries could be carried out.
        Withdrawn = 6 "withdrawn",
    }
}

impl OutboxState {
    /// Whether nothing more is sent to create the settlement.
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
        /// The try left, but no trustworthy response came; or the process ended while it was in flight.
        NoAnswer = 3 "no_answer",
        /// The gateway did nothing, for a reason that can pass.
        PutOff = 4 "put_off",
        /// The gateway refused the request itself.
        Refused = 5 "refused",
        /// The gateway has the settlement.
        Taken = 6 "taken",
        /// The gateway was asked for the reference and does not have it.
        Absent = 7 "absent",
        /// The app withdraws the entry.
        Withdraw = 8 "withdraw",
        /// The reference belongs to another settlement: none of the entry's tries can be carried out.
        Foreign = 9 "foreign",
    }
}

stored_enum! {
    /// Whether an earlier try may have been carried out, or may still be.
    pub enum Doubt {
        /// Every earlier try has a response.
        None = 1 "none",
        /// One has none, and judging by the gateway's responses it could still arrive.
        Open = 2 "open",
        /// One has none, but nothing can arrive any more.
        Over = 3 "over",
    }
}

/// The result of an input in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutboxNext {
    /// The entry moves to this state.
    To(OutboxState),
    /// The entry keeps its state: the input is old news or a repeat.
    Stay,
    /// The state does not allow the input.
    Refuse,
}

/// The only place that decides how an entry moves. It is total: it covers every state, input and doubt.
pub const fn outbox_transition(from: OutboxState, input: OutboxInput, doubt: Doubt) -> OutboxNext {
    use OutboxInput as I;
    use OutboxNext::{Refuse, Stay, To};
    use OutboxState as S;
    match (from, input) {
        (S::Queued | S::Unknown, I::Start) => To(S::Sending),
        (S::Sending | S::Delivered | S::Refused | S::Withdrawn, I::Start) => Refuse,

        // Certainty is never lost: an entry in doubt before such a try is in doubt after it.
        (S::Sending, I::NotSent | I::PutOff) => match doubt {
            Doubt::None => To(S::Queued),
            Doubt::Open | Doubt::Over => To(S::Unknown),
        },
        (S::Sending, I::NoAnswer) => To(S::Unknown),
        (S::Sending, I::Refused) => match doubt {
            Doubt::None => To(S::Refused),
            // The gateway is then asked for the reference.
            Doubt::Open | Doubt::Over => To(S::Unknown),
        },
        (S::Sending, I::Foreign) => To(S::Refused),
        (S::Sending, I::Absent) => match doubt {
            Doubt::None | Doubt::Open => To(S::Unknown),
            Doubt::Over => To(S::Refused),
        },
        // Responses to tries that were given up as lost.
        (
            S::Queued | S::Unknown | S::Delivered | S::Refused | S::Withdrawn,
            I::NotSent | I::NoAnswer | I::PutOff | I::Refused | I::Absent | I::Foreign,
        ) => Stay,

        // Proof counts, however late it comes.
        (S::Sending | S::Unknown, I::Taken) => To(S::Delivered),
        (S::Delivered, I::Taken) => Stay,
        // Somebody else's settlement under this reference; none of this entry's tries can be carried out.
        (S::Queued | S::Refused | S::Withdrawn, I::Taken) => Stay,

        (S::Queued, I::Withdraw) => To(S::Withdrawn),
        (S::Withdrawn, I::Withdraw) => Stay,
        (S::Sending | S::Unknown | S::Delivered | S::Refused, I::Withdraw) => Refuse,
    }
}

/// How long a try may still be carried out after the gateway answered a later call: its challenge was issued before that and is
/// refused after five minutes, perhaps by another node's clock.
pub const LATE_MS: Millis = 15 * 60_000;

/// What a try asks of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryKind {
    /// To create the settlement.
    Create,
    /// Whether it has the reference.
    Ask,
    /// How the settlement, which the gateway has, continues.
    Follow,
}

/// A call to carry to the gateway now. It is already stored.
#[derive(Clone)]
pub struct Try {
    /// The number of the entry; an entry added later under the same reference has a different one.
    pub entry: i64,
    /// The entry's reference.
    pub reference: String,
    /// Its number among the entry's tries, from 1.
    pub number: u32,
    /// What the call asks of the gateway.
    pub kind: TryKind,
    /// The call to sign and send.
    pub request: Request,
}

/// What the host must do next.
#[derive(Clone)]
pub enum Step {
    /// Carry this try, and report its outcome.
    Send(Box<Try>),
    /// Do nothing before this time.
    Wait(Millis),
    /// Do nothing until an entry is added.
    Idle,
}

/// An entry, as the app sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The reference of the settlement.
    pub reference: String,
    /// The body of the create call, as JSON.
    pub body: String,
    /// The state of the entry.
    pub state: OutboxState,
    /// The number of tries started.
    pub tries: u32,
    /// When the next try or poll of the settlement is due; `None` when nothing more is sent.
    pub next_at: Option<Millis>,
    /// What stood in the way of the latest try, as a problem document.
    pub problem: Option<String>,
    /// The settlement as the gateway last returned it, as JSON.
    pub settlement: Option<String>,
    /// When the entry was added.
    pub created_at: Millis,
    /// When the entry last changed.
    pub updated_at: Millis,
    /// Increases with every change to any entry of the file.
    pub change: i64,
}

impl OutboxEntry {
    /// Whether the entry is finished: nothing more is sent for it, and it no longer changes.
    pub const fn has_ended(&self) -> bool {
        self.state.is_final() && self.next_at.is_none()
    }
}

/// The longest backoff between two tries.
const LONGEST_PAUSE_MS: Millis = 5 * 60_000;

/// How long to wait after the `tries`-th try: 1 s, doubled each time up to five minutes, plus up to a fifth. That part depends on
/// the reference and spreads the devices of a shop that lost its network.
pub fn pause_ms(reference: &str, tries: u32) -> Millis {
    let doubled = 1_000_i64.checked_shl(tries.saturating_sub(1).min(20)).map_or(LONGEST_PAUSE_MS, |ms| ms.min(LONGEST_PAUSE_MS));
    let spread = reference.bytes().fold(i64::from(tries), |sum, byte| (sum * 31 + i64::from(byte)) % 1_009);
    doubled + doubled / 5 * spread / 1_009
}

#[cfg(test)]
mod tests;
