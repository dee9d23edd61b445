//! What the engine can be told to do, and what comes of it.

use crate::auth::{KeyId, Nonce, PublicKey, ScopeSet};
use crate::ids::{ClientNo, EndpointNo, KeyNo, SettlementNo, Ulid};
use crate::ledger::Mode;
use crate::money::Money;
use crate::participant::Reference;
use crate::rail::RailAnswer;
use crate::store::record::{AuditAction, ClientRecord, Digest32, KeyRecord, ReversalRecord, SecretKind, SettlementRecord, TaskKey};
use crate::time::Millis;
use crate::validate::{CreateRequest, ReverseRequest};

use super::task::{Call, Lease};
use super::webhook::{Logged, Parcel, Share, Tried, WebhookChange, WebhookDone};

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

/// A key that may sign, or a token and the key that must sign with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credential {
    /// Whom it speaks for.
    pub caller: Caller,
    /// The key's number.
    pub key: KeyNo,
    /// The key's thumbprint.
    pub key_id: KeyId,
    /// The key.
    pub public: PublicKey,
    /// What it may do.
    pub scopes: ScopeSet,
    /// When it ends: the token's end, or never for a key alone.
    pub expires_at: Millis,
}

/// The signature under which a command came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedBy {
    /// Whose; 0 for somebody who is only just enrolling.
    pub client: ClientNo,
    /// With which key; 0 likewise.
    pub key: KeyNo,
    /// What it used up.
    pub nonce: Nonce,
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

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reference(reference) => f.write_str(reference.as_str()),
            Self::Id(id) => write!(f, "stl_{id}"),
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
    /// Enrols a new sandbox client with funded accounts.
    Enroll {
        /// 1 to 100 characters.
        name: String,
        /// Its first key, which also gets a first token; `None` where the client is this very process.
        key: Option<PublicKey>,
    },
    /// Asks for live access with a key of its own; an operator decides.
    EnrollLive {
        /// Who asks, with an active key.
        caller: Caller,
        /// The key that will sign live calls.
        key: PublicKey,
    },
    /// Issues a token to a key that has signed.
    IssueToken {
        /// The key.
        key: KeyNo,
        /// What the token may do: no more than the key; everything it may, unless told.
        scopes: Option<ScopeSet>,
    },
    /// Ends a token of the caller's before its time.
    RevokeToken {
        /// Who.
        caller: Caller,
        /// SHA-256 of the token's text.
        token: Digest32,
    },
    /// Adds a key for the caller's mode.
    AddKey {
        /// Who.
        caller: Caller,
        /// The key; it has signed the call too.
        key: PublicKey,
        /// What its owner calls it, at most 100 characters.
        label: Option<String>,
        /// What it may do: no more than the credential that adds it.
        scopes: ScopeSet,
    },
    /// Revokes a key of the caller's; its tokens end with it.
    RevokeKey {
        /// Who.
        caller: Caller,
        /// Which.
        key: KeyId,
    },
    /// Whatever a client signed: the nonce is used up and the deed recorded in the commit of the command itself.
    ///
    /// A create that succeeds burns nothing: sent again, it is answered as the replay that it is.
    Signed {
        /// By whom.
        by: SignedBy,
        /// What.
        command: Box<Command>,
    },
    /// Nothing but a signed call that is about to have an effect outside the store.
    Note {
        /// Which.
        action: AuditAction,
        /// On what.
        target: SettlementNo,
    },
    /// What the operator of the gateway does.
    Operate(Operation),
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
    /// Numbers events that are not in the log yet, about so many at most; see [`super::Logged`].
    Log {
        /// About so many.
        limit: usize,
    },
    /// Changes a client's webhooks, or asks something of them.
    Webhook {
        /// Who.
        caller: Caller,
        /// What.
        change: Box<WebhookChange>,
    },
    /// Takes endpoints for which deliveries are due.
    LeaseQueues {
        /// At most so many of those whose last delivery succeeded.
        healthy: usize,
        /// At most so many of the others.
        troubled: usize,
        /// How many parcels the host has under way already. Who has as many in a line as it may have webhooks is given
        /// no more there.
        under_way: Vec<(Share, usize)>,
    },
    /// How the deliveries of a [`Parcel`] went.
    Delivered {
        /// To whom.
        endpoint: EndpointNo,
        /// How.
        tries: Vec<Tried>,
    },
    /// How the delivery of a [`WebhookChange::Test`] went.
    Tested {
        /// Its number.
        delivery: i64,
        /// How.
        tried: Tried,
    },
    /// Makes the tasks of owners that are gone due now. For a host that has the store to itself, at its start.
    Recover,
    /// Gives back what this engine has leased and not reported, so that other nodes need not wait for its leases to end. For a
    /// host that has nothing under way any more, at its end.
    Release,
    /// Forgets what is past its time: idempotency keys after seven days, tokens a day and nonces an hour after their end.
    Maintain,
}

impl Command {
    /// Whether carrying it out twice does no more than once: what is named by its sender is found again, and what only sets
    /// something does not care. A reversal without a name takes its amount anew, and so does what makes a new thing each time.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Self::Signed { command, .. } => command.is_repeatable(),
            Self::Reverse { request, idempotency, .. } => idempotency.is_some() || request.reference.is_some(),
            Self::Fund { .. } | Self::Operate(Operation::Rotate(_)) => false,
            Self::Webhook { change, .. } => change.is_repeatable(),
            // An enrolment's key, asked for twice, is refused the second time.
            Self::Enroll { .. } | Self::EnrollLive { .. } | Self::AddKey { .. } => true,
            Self::IssueToken { .. } | Self::RevokeToken { .. } | Self::RevokeKey { .. } => true,
            Self::Note { .. } | Self::Create { .. } | Self::Operate(_) => true,
            // What hosts do, which do it again by themselves.
            Self::Lease { .. } | Self::Answer { .. } | Self::Simulate(_) | Self::Log { .. } => true,
            Self::LeaseQueues { .. } | Self::Delivered { .. } | Self::Tested { .. } => true,
            Self::Recover | Self::Release | Self::Maintain => true,
        }
    }
}

/// What the operator of the gateway does to clients and to the gateway's own secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Lets a client's pending live keys sign: the one named, or all of them.
    Approve {
        /// The client.
        client: Ulid,
        /// Only this key.
        key: Option<KeyId>,
    },
    /// Refuses every call of a client from now on.
    Suspend(Ulid),
    /// Takes its calls again.
    Resume(Ulid),
    /// Revokes a client's key.
    Revoke {
        /// The client.
        client: Ulid,
        /// Which.
        key: KeyId,
    },
    /// Makes a new secret of this kind; the old one stays valid for what was made with it.
    Rotate(SecretKind),
}

/// What came of a command, in the order of [`Command`].
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Of [`Command::Enroll`].
    Enrolled(Box<Enrolled>),
    /// Of [`Command::IssueToken`].
    Token(Box<IssuedToken>),
    /// The key that was added, asked for or revoked, as it stands.
    Key(Box<KeyRecord>),
    /// The client on which an operator acted, as it stands.
    Client(Box<ClientRecord>),
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
    /// Of [`Command::Log`].
    Logged(Logged),
    /// Of [`Command::Webhook`] and [`Command::Tested`].
    Webhook(WebhookDone),
    /// Of [`Command::LeaseQueues`].
    Parcels(Vec<Parcel>),
    /// Of a command whose effect is all there is to say; how many things it touched.
    Done(usize),
}

/// A client's first session. There is no `Debug`: it holds secrets.
#[derive(Clone)]
pub struct Enrolled {
    /// Who it is from now on.
    pub caller: Caller,
    /// Its name, as it gave it.
    pub name: String,
    /// The key it enrolled with.
    pub key: Option<KeyRecord>,
    /// The first token of that key.
    pub token: Option<IssuedToken>,
    /// `whsec_` and base64 of 32 bytes, shown this once; `None` where no host delivers webhooks.
    pub webhook_secret: Option<String>,
}

/// An access token. There is no `Debug`: the text is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// Its text, shown this once.
    pub text: String,
    /// What it may do.
    pub scopes: ScopeSet,
    /// When it ends.
    pub expires_at: Millis,
}

impl std::fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedToken").field("scopes", &self.scopes).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Enrolled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enrolled").field("caller", &self.caller).finish_non_exhaustive()
    }
}
