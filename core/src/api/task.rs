//! The work of a host: leased from the outbox, done outside, its result reported back.

use crate::ids::{ClientNo, ProviderNo};
use crate::ledger::Mode;
use crate::money::Money;
use crate::participant::{Participant, Reference};
use crate::rail::RailAnswer;
use crate::store::record::TaskKey;
use crate::time::Millis;

use super::caller::Subject;

/// A task that this host may work on until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The lease's key, to be handed back with the answer.
    pub key: TaskKey,
    /// The work to do.
    pub work: Work,
}

/// The work that a task requires of its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Send a call to a rail and report its answer.
    Call(RailCall),
    /// Report a callback that arrived from an operator inside the gateway, unchanged.
    Callback {
        /// The subject of the callback.
        subject: Subject,
        /// The operator's answer.
        answer: RailAnswer,
    },
}

/// The kind of call to a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Submit a payment.
    Submit,
    /// Inquire about a payment.
    Inquire,
    /// Give money back.
    Reverse,
    /// Inquire about a reversal.
    InquireReversal,
}

/// A call to a provider. If its outcome is not known for certain, the answer must be `Unknown`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RailCall {
    /// The attempt or reversal concerned.
    pub subject: Subject,
    /// The client that pays.
    pub client: ClientNo,
    /// The kind of call.
    pub action: Action,
    /// The provider to call.
    pub provider: ProviderNo,
    /// The key of the attempt or reversal at the rail: the same on every retry, different for every attempt.
    pub rail_key: String,
    /// For a reversal: the key of the attempt that paid, and the rail's own reference for it.
    pub paid_as: Option<(String, Option<String>)>,
    /// The rail's own reference for the attempt or the reversal, as far as it is known.
    pub rail_reference: Option<String>,
    /// The amount to pay or to give back.
    pub money: Money,
    /// For an inquiry about a payment: whether a reversal gave some of it back, or is about to.
    pub given_back: bool,
    /// What the client pays for the payment on top, in minor units.
    pub fee: i64,
    /// The payee.
    pub to: Participant,
    /// The client's reference.
    pub reference: Reference,
    /// The client's words for the payee, or why money is given back.
    pub description: Option<String>,
    /// Sandbox or live.
    pub mode: Mode,
    /// For inquiries: how many came before this one.
    pub tries: u16,
    /// It must not leave after this time: then the lease ends, and others may ask about its outcome. A host that was held up
    /// answers `Unknown` instead of sending late.
    pub not_after: Millis,
    /// The same moment by [`Env::steady`](crate::env::Env::steady), which nobody can set.
    pub leave_by: Millis,
}
