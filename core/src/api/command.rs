//! What the engine can be told to do, and what comes of it.

use crate::ids::{ClientNo, SettlementNo, Ulid};
use crate::ledger::Mode;
use crate::money::Money;
use crate::participant::Reference;
use crate::rail::RailAnswer;
use crate::store::record::{Digest32, ReversalRecord, SettlementRecord, TaskKey};
use crate::time::Millis;
use crate::validate::{CreateRequest, ReverseRequest};

use super::task::{Call, Lease};

/// Who asks: a client, and the mode its credential was issued for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The client's number in this store.
    pub client: ClientNo,
    /// The ULID behind `cli_`.
    pub client_id: Ulid,
    /// The credential's mode.
    pub mode: Mode,
}

/// `<ref>` in a path: the client's own reference, or the `stl_` id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The client's reference.
    Reference(Reference),
    /// The ULID behind `stl_`.
    Id(Ulid),
}

impl Target {
    /// Reads `<ref>`. Text that is neither can name nothing: the caller answers "not found".
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("stl_") {
            Some(ulid) => Ulid::parse(ulid).map(Self::Id),
            None => Reference::parse(text).ok().map(Self::Reference),
        }
    }
}

/// An `Idempotency-Key` header and what it was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The header's text, 1 to 255 printable ASCII characters.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub fingerprint: Digest32,
}

/// What an answer of a rail is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Attempt `n` of a settlement.
    Attempt(SettlementNo, u16),
    /// Reversal `n` of a settlement.
    Reversal(SettlementNo, u16),
}

/// One thing to do. Commands of a group are decided in order and become durable together; each succeeds or fails alone.
#[derive(Debug, Clone)]
pub enum Command {
    /// Enrols a new sandbox client with funded accounts and a first token.
    Enroll {
        /// 1 to 100 characters.
        name: String,
    },
    /// Issues a further token to a client that proved who it is.
    IssueToken(Caller),
    /// Puts play money into a client's sandbox account.
    Fund {
        /// Whose.
        caller: Caller,
        /// How much.
        money: Money,
    },
    /// Creates a settlement, or replays one.
    Create {
        /// Who.
        caller: Caller,
        /// What, validated.
        request: Box<CreateRequest>,
    },
    /// Cancels a settlement that was not dispatched, or reverses a completed one.
    Reverse {
        /// Who.
        caller: Caller,
        /// Which settlement.
        target: Target,
        /// How much and why.
        request: Box<ReverseRequest>,
        /// The header, if it was sent.
        idempotency: Option<IdempotencyKey>,
    },
    /// Takes up to `limit` due tasks and stores what must be stored before they leave.
    Lease {
        /// At most so many.
        limit: usize,
    },
    /// What a rail said, in answer to a call or by calling back.
    Answer {
        /// About what.
        subject: Subject,
        /// What.
        answer: RailAnswer,
        /// The lease under which it was asked; `None` for a callback that nobody asked for.
        lease: Option<TaskKey>,
    },
    /// Lets the simulated operator receive a call; its books are written before it answers.
    Simulate(Call),
    /// Makes the tasks of owners that are gone due now. For a host that has the store to itself, at its start.
    Recover,
    /// Forgets what is past its time: idempotency keys after seven days, tokens a day after their end.
    Maintain,
}

/// What came of a command, in the order of [`Command`].
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Of [`Command::Enroll`].
    Enrolled(Box<Enrolled>),
    /// Of [`Command::IssueToken`]: the token's text, shown this once, and its end.
    Token(String, Millis),
    /// Of [`Command::Create`].
    Created {
        /// The settlement as it stands.
        settlement: Box<SettlementRecord>,
        /// It was there before.
        replayed: bool,
    },
    /// Of [`Command::Reverse`].
    Reversed {
        /// The settlement as it stands.
        settlement: Box<SettlementRecord>,
        /// The reversal; `None` when the settlement was cancelled instead.
        reversal: Option<Box<ReversalRecord>>,
        /// It was there before.
        replayed: bool,
    },
    /// Of [`Command::Lease`].
    Leased(Vec<Lease>),
    /// Of [`Command::Simulate`].
    Simulated(RailAnswer),
    /// Of a command whose effect is all there is to say; how many things it touched.
    Done(usize),
}

/// A client's first session.
#[derive(Debug, Clone)]
pub struct Enrolled {
    /// Who it is from now on.
    pub caller: Caller,
    /// Its name, as it gave it.
    pub name: String,
    /// The access token, shown this once.
    pub token: String,
    /// When the token ends.
    pub token_expires_at: Millis,
}
