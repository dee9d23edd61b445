//! The work a host carries: leased from the outbox, done outside, its answer reported back.

use crate::ids::ProviderNo;
use crate::ledger::Mode;
use crate::money::Money;
use crate::participant::{Participant, Reference};
use crate::rail::RailAnswer;
use crate::store::record::TaskKey;
use crate::time::Millis;

use super::caller::Subject;

/// A task that this host has until its lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Hand it back with the answer.
    pub key: TaskKey,
    /// What to do.
    pub work: Work,
}

/// What a task asks of its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Ask a rail, and report its answer.
    Call(RailCall),
    /// A callback of an operator inside the gateway has arrived: report it as it is.
    Callback {
        /// About what.
        subject: Subject,
        /// What it says.
        answer: RailAnswer,
    },
}

/// What is asked of a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Pay.
    Submit,
    /// How did the payment end?
    Inquire,
    /// Give back.
    Reverse,
    /// How did the giving back end?
    InquireReversal,
}

/// One question to one provider. Whoever carries it must answer `Unknown` unless it knows better.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RailCall {
    /// What it is about.
    pub subject: Subject,
    /// What is asked.
    pub action: Action,
    /// At whom.
    pub provider: ProviderNo,
    /// Under which key the rail knows it: the same on every retry, different for every attempt.
    pub rail_key: String,
    /// The amount to pay or to give back.
    pub money: Money,
    /// To whom.
    pub to: Participant,
    /// The client's reference.
    pub reference: Reference,
    /// Sandbox or live.
    pub mode: Mode,
    /// For inquiries: how many there were before this one.
    pub tries: u16,
    /// It must not leave after this time: the lease ends, and others begin to ask what became of it. A host that was
    /// held up answers `Unknown` instead of sending late.
    pub not_after: Millis,
}
