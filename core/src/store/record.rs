//! What a store keeps: plain data, no behaviour. Keys are dense numbers; texts appear only where people gave them.

mod log;
mod webhook;

use std::collections::BTreeMap;

use crate::auth::{KeyId, PublicKey, ScopeSet};
use crate::ids::{ClientNo, EndpointNo, KeyNo, ProviderNo, SettlementNo, Ulid};
use crate::ledger::{AccountId, Mode, Totals, Transfer};
use crate::lifecycle::{AttemptStatus, ReversalStatus, SettlementStatus, StateName, stored_enum};
use crate::money::Currency;
use crate::participant::{Participant, Reference};
use crate::rail::FailureCode;
use crate::time::Millis;
use crate::validate::ReversalReason;

pub use log::*;
pub use webhook::*;

/// A SHA-256 digest.
pub type Digest32 = [u8; 32];

/// A business that holds credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRecord {
    /// Its number.
    pub no: ClientNo,
    /// The ULID behind `cli_`.
    pub id: Ulid,
    /// Its name, as it enrolled.
    pub name: String,
    /// May not call any more.
    pub suspended: bool,
    /// The secret under which its webhooks are signed, sealed; empty where no host delivers any.
    pub webhook_secret: Vec<u8>,
    /// When it enrolled.
    pub created_at: Millis,
}

stored_enum! {
    /// Whether a key may sign.
    pub enum KeyStatus {
        /// It may.
        Active = 1 "active",
        /// Not before an operator approves it.
        Pending = 2 "pending",
        /// Never again.
        Revoked = 3 "revoked",
    }
}

/// A client's public key. Rows stay for ever: a revoked key never comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its number.
    pub no: KeyNo,
    /// Its thumbprint, unique.
    pub id: KeyId,
    /// Whose.
    pub client: ClientNo,
    /// The mode its tokens are for.
    pub mode: Mode,
    /// The key itself.
    pub public: PublicKey,
    /// What its tokens may do at most.
    pub scopes: ScopeSet,
    /// Whether it may sign.
    pub status: KeyStatus,
    /// What its owner calls it.
    pub label: Option<String>,
    /// When it was enrolled.
    pub created_at: Millis,
    /// When it was revoked.
    pub revoked_at: Option<Millis>,
}

/// An access token: only its hash is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// SHA-256 of the token's text.
    pub hash: Digest32,
    /// Whose.
    pub client: ClientNo,
    /// The key that took it, and must sign every call that carries it.
    pub key: KeyNo,
    /// The mode it was issued for.
    pub mode: Mode,
    /// What it may do.
    pub scopes: ScopeSet,
    /// When it was issued.
    pub created_at: Millis,
    /// When it ends.
    pub expires_at: Millis,
}

/// A nonce that a change used up. The same signed call does nothing any more, at any node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonceRecord {
    /// SHA-256 of the nonce's text.
    pub hash: Digest32,
    /// When its challenge ends; the row may leave then.
    pub expires_at: Millis,
}

stored_enum! {
    /// What a secret of the gateway is for.
    pub enum SecretKind {
        /// The HMAC key of challenges.
        Challenge = 1 "challenge",
        /// The P-256 key that signs receipts.
        Receipt = 2 "receipt",
        /// The Ed25519 key that signs the log's checkpoints.
        Log = 3 "log",
    }
}

/// A secret of the gateway itself, sealed under a master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRecord {
    /// What it is for.
    pub kind: SecretKind,
    /// Its number among those of its kind, from 1; the highest is in use.
    pub no: u32,
    /// The secret, sealed.
    pub sealed: Vec<u8>,
    /// Its public half: of P-256 SEC 1 uncompressed, of Ed25519 32 bytes; empty if it has none.
    pub public: Vec<u8>,
    /// When it was made.
    pub created_at: Millis,
    /// When another took its place.
    pub retired_at: Option<Millis>,
}

stored_enum! {
    /// What somebody did or tried to do.
    pub enum AuditAction {
        /// A client enrolled.
        Enroll = 1 "enroll",
        /// A client asked for a live key.
        EnrollLive = 2 "enroll_live",
        /// A token was taken.
        IssueToken = 3 "issue_token",
        /// A token was revoked.
        RevokeToken = 4 "revoke_token",
        /// A key was added.
        AddKey = 5 "add_key",
        /// A key was revoked.
        RevokeKey = 6 "revoke_key",
        /// A settlement was created.
        CreateSettlement = 7 "create_settlement",
        /// A settlement was cancelled or reversed.
        ReverseSettlement = 8 "reverse_settlement",
        /// A settlement was compared with its rail.
        CheckSettlement = 9 "check_settlement",
        /// An operator approved a client's live keys.
        ApproveClient = 10 "approve_client",
        /// An operator suspended a client.
        SuspendClient = 11 "suspend_client",
        /// An operator let a client call again.
        ResumeClient = 12 "resume_client",
        /// A secret of the gateway was replaced.
        RotateSecret = 13 "rotate_secret",
        /// Play money was put into an account.
        Fund = 14 "fund",
        /// A webhook was made.
        CreateWebhook = 15 "create_webhook",
        /// A webhook was changed.
        UpdateWebhook = 16 "update_webhook",
        /// A webhook was removed.
        DeleteWebhook = 17 "delete_webhook",
        /// A webhook got a new secret.
        RotateWebhookSecret = 18 "rotate_webhook_secret",
        /// A disabled webhook was enabled.
        EnableWebhook = 19 "enable_webhook",
        /// A webhook was tried.
        TestWebhook = 20 "test_webhook",
        /// A delivery was asked for again.
        RedeliverWebhook = 21 "redeliver_webhook",
        /// A webhook's events since some time were asked for again.
        ReplayWebhook = 22 "replay_webhook",
    }
}

/// Who did what, and what came of it. Written in the commit of the change itself; append-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its number, growing.
    pub no: i64,
    /// When.
    pub at: Millis,
    /// Which client did it, or had it done to it by an operator; 0 for none.
    pub client: ClientNo,
    /// With which key; 0 for an operator.
    pub key: KeyNo,
    /// What.
    pub action: AuditAction,
    /// The number of what was changed: a settlement's, a key's or a client's; 0 where nothing was.
    pub target: i64,
    /// What was named, where it has no number.
    pub name: Option<String>,
    /// The code of the refusal; `None` when it was done.
    pub refused: Option<String>,
}

/// A provider's number, given when the store first hears of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRecord {
    /// Its number.
    pub no: ProviderNo,
    /// Its id in the configuration and on the wire.
    pub id: String,
}

/// An account and its totals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRecord {
    /// Owner, mode and currency.
    pub id: AccountId,
    /// The four totals, minor units.
    pub totals: Totals,
}

/// A settlement as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettlementRecord {
    /// Its number; children are clustered under it.
    pub no: SettlementNo,
    /// Whose.
    pub client: ClientNo,
    /// The client's reference, unique per client for ever.
    pub reference: Reference,
    /// Sandbox or live.
    pub mode: Mode,
    /// Where it stands.
    pub status: SettlementStatus,
    /// Grows by one with every event: also the sequence of the last one.
    pub version: u32,
    /// A person must look.
    pub needs_review: bool,
    /// Minor units.
    pub amount: i64,
    /// Its currency.
    pub currency: Currency,
    /// The receiving participant, canonical.
    pub to: Participant,
    /// The provider of the current attempt, or the one that it will go to first.
    pub provider: ProviderNo,
    /// Minor units, held and posted beside the amount.
    pub fee: i64,
    /// Minor units given back by completed reversals.
    pub reversed: i64,
    /// Minor units of reversals under way.
    pub reversing: i64,
    /// How many attempts were started.
    pub attempts: u16,
    /// How many reversals were asked for.
    pub reversals: u16,
    /// How many transfers its journal has.
    pub transfers: u16,
    /// The `n` of the transfer that holds the amount.
    pub hold: u16,
    /// 40 random bits of the public id.
    pub salt: u64,
    /// Hash of the last event.
    pub head: Digest32,
    /// When it was accepted; the public id's time.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// When it became final for the first time.
    pub completed_at: Option<Millis>,
    /// Cancelled if not dispatched by then.
    pub expires_at: Option<Millis>,
    /// What few settlements have; `None` when all of it is empty, which is the common case.
    pub more: Option<Box<SettlementMore>>,
}

/// The parts of a settlement that are mostly empty, kept as one value.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettlementMore {
    /// The client's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The client's own pairs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The provider that the client pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// The quote that fixed the fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote_id: Option<String>,
    /// The rail's own reference of the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail_reference: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Why a settlement or a reversal failed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The gateway's code.
    pub code: FailureCode,
    /// The rail's own code, when it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail_code: Option<String>,
}

/// One try at one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRecord {
    /// Of which settlement.
    pub settlement: SettlementNo,
    /// Which one, from 1.
    pub n: u16,
    /// At whom.
    pub provider: ProviderNo,
    /// Where it stands.
    pub status: AttemptStatus,
    /// How often it was sent, always under the same rail key: again only after proof that it had not arrived.
    pub sends: u16,
    /// When it was last stored as sent, just before it left.
    pub started_at: Millis,
    /// When the last answer that changed it came.
    pub answered_at: Option<Millis>,
}

/// A reversal, whole or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReversalRecord {
    /// Of which settlement.
    pub settlement: SettlementNo,
    /// Which one, from 1.
    pub n: u16,
    /// Whose.
    pub client: ClientNo,
    /// The client's reference of it, unique per client among reversals.
    pub reference: Option<Reference>,
    /// Where it stands.
    pub status: ReversalStatus,
    /// Minor units, in the settlement's currency.
    pub amount: i64,
    /// Why.
    pub reason: Option<ReversalReason>,
    /// The client's description.
    pub description: Option<String>,
    /// The `n` of the transfer that announces the money.
    pub hold: u16,
    /// A person must look.
    pub needs_review: bool,
    /// The rail's own reference of it.
    pub rail_reference: Option<String>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// When it was asked for.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// When it became final.
    pub completed_at: Option<Millis>,
}

stored_enum! {
    /// What happened.
    pub enum EventType {
        /// Stored, money held.
        SettlementAccepted = 1 "settlement.accepted",
        /// On its way.
        SettlementSubmitted = 2 "settlement.submitted",
        /// The rail's answer is not known.
        SettlementUnknown = 3 "settlement.unknown",
        /// Paid.
        SettlementCompleted = 4 "settlement.completed",
        /// Proved not paid.
        SettlementFailed = 5 "settlement.failed",
        /// Withdrawn.
        SettlementCancelled = 6 "settlement.cancelled",
        /// A part came back.
        SettlementPartiallyReversed = 7 "settlement.partially_reversed",
        /// All came back.
        SettlementReversed = 8 "settlement.reversed",
        /// The rail bounced it.
        SettlementReturned = 9 "settlement.returned",
        /// Something contradicts what was proved.
        SettlementDiscrepancy = 10 "settlement.discrepancy",
        /// A person looked.
        SettlementReviewed = 11 "settlement.reviewed",
        /// An attempt was stored, about to leave.
        AttemptStarted = 12 "attempt.started",
        /// The rail's answer changed it.
        AttemptAnswered = 13 "attempt.answered",
        /// A reversal was asked for.
        ReversalAccepted = 14 "reversal.accepted",
        /// It is on its way.
        ReversalSubmitted = 15 "reversal.submitted",
        /// The rail's answer is not known.
        ReversalUnknown = 16 "reversal.unknown",
        /// The money is back.
        ReversalCompleted = 17 "reversal.completed",
        /// Proved not reversed.
        ReversalFailed = 18 "reversal.failed",
    }
}

stored_enum! {
    /// Who made it happen.
    pub enum Actor {
        /// The client, by a call.
        Client = 1 "client",
        /// The gateway itself.
        System = 2 "system",
        /// The rail, by an answer or a callback.
        Rail = 3 "rail",
        /// A person on the gateway's side.
        Operator = 4 "operator",
    }
}

/// One link of a settlement's trace. Append-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    /// Of which settlement.
    pub settlement: SettlementNo,
    /// Its place in the trace, from 1, without gaps.
    pub n: u32,
    /// What happened.
    pub kind: EventType,
    /// When.
    pub at: Millis,
    /// The state before, of the thing the type names.
    pub from: Option<StateName>,
    /// The state after.
    pub to: Option<StateName>,
    /// Who.
    pub actor: Actor,
    /// The attempt or reversal concerned, from 1; 0 for none.
    pub child: u16,
    /// More about it: one canonical JSON object (RFC 8785).
    pub data: Option<String>,
    /// SHA-256 of the event's canonical form, which holds the hash of the one before.
    pub hash: Digest32,
}

/// A task's key: when it is due (milliseconds, upper 43 bits) and a number that makes it unique (lower 20).
///
/// The outbox is ordered by its own key: the due ones are a prefix, and leasing one moves it to the lease's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskKey(pub i64);

impl TaskKey {
    /// A key due at `due`, told apart by the low 20 bits of `n`.
    pub fn new(due: Millis, n: u32) -> Self {
        Self(due << 20 | i64::from(n & 0xf_ffff))
    }

    /// When it is due.
    pub fn due(self) -> Millis {
        self.0 >> 20
    }
}

stored_enum! {
    /// What the outbox is to do.
    pub enum TaskKind {
        /// Send the next attempt of a settlement.
        Dispatch = 1 "dispatch",
        /// Ask the rail how attempt `child` ended.
        Inquire = 2 "inquire",
        /// Send reversal `child`.
        Reverse = 3 "reverse",
        /// Ask the rail how reversal `child` ended.
        InquireReversal = 4 "inquire_reversal",
        /// The simulated operator calls back; `tries` says which of its callbacks.
        SimulatorCallback = 5 "simulator_callback",
    }
}

/// One outside effect that is due: written in the commit that caused it, done by whoever leases it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRecord {
    /// When it is due, or when its lease ends.
    pub key: TaskKey,
    /// What to do.
    pub kind: TaskKind,
    /// For which settlement.
    pub settlement: SettlementNo,
    /// The attempt or reversal; 0 for none.
    pub child: u16,
    /// How often it was tried.
    pub tries: u16,
    /// Since when it has been waiting: the first due time.
    pub since: Millis,
    /// Who holds the lease; 0 for nobody.
    pub owner: i64,
}

/// What an `Idempotency-Key` stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Whose.
    pub client: ClientNo,
    /// The key's text.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub fingerprint: Digest32,
    /// What came of it: the settlement and, if one was made, the reversal.
    pub settlement: SettlementNo,
    /// The reversal, from 1; 0 for none.
    pub reversal: u16,
    /// When; it is forgotten after seven days.
    pub created_at: Millis,
}

/// What the simulated operator knows of one payment or reversal: its own books, not the gateway's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimPaymentRecord {
    /// The settlement in whose name it was asked.
    pub settlement: SettlementNo,
    /// The attempt, or the reversal with the highest bit set.
    pub child: u16,
    /// At which provider.
    pub provider: ProviderNo,
    /// How often the request arrived. More than once would be a double dispatch.
    pub received: u16,
    /// When it first arrived.
    pub received_at: Millis,
}

/// The name of the [`MetaRecord`] with the key of public ids, which no two gateways have in common.
pub(crate) const ID_KEY: &str = "id_key";

/// The name of the [`MetaRecord`] with the clock of a sandbox, which marks a store as one.
pub(crate) const SANDBOX_KEY: &str = "sandbox";

/// A named value that belongs to the store as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaRecord {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub value: Vec<u8>,
}

macro_rules! records {
    ($($variant:ident($record:ty) $name:literal key $key:ty = |$r:ident| $expr:expr;)*) => {
        /// A kind of record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RecordKind { $(#[doc = concat!("Of a [`", stringify!($record), "`].")] $variant,)* }

        impl RecordKind {
            /// Every one, in order.
            pub const ALL: &'static [RecordKind] = &[$(RecordKind::$variant,)*];
            /// Its name, which is that of its table.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $name,)* } }
            /// The kind of a name.
            pub fn from_name(name: &str) -> Option<Self> { match name { $($name => Some(Self::$variant),)* _ => None } }
        }

        /// Any record, with its primary key.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Record { $(#[doc = concat!("See [`", stringify!($record), "`].")] $variant($record),)* }

        /// The primary key of a record.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Key { $(#[doc = concat!("Of a [`", stringify!($record), "`].")] $variant($key),)* }

        impl Record {
            /// Its primary key.
            pub fn key(&self) -> Key { match self { $(Record::$variant($r) => Key::$variant($expr),)* } }
            /// Its kind.
            pub const fn kind(&self) -> RecordKind { match self { $(Record::$variant(_) => RecordKind::$variant,)* } }
        }

        impl Key {
            /// The kind of what it is the key of.
            pub const fn kind(&self) -> RecordKind { match self { $(Key::$variant(_) => RecordKind::$variant,)* } }
        }

        $(
            impl From<$record> for Record { fn from(record: $record) -> Self { Record::$variant(record) } }
            impl TryFrom<Record> for $record {
                type Error = Record;
                fn try_from(record: Record) -> Result<Self, Record> {
                    if let Record::$variant(inner) = record { Ok(inner) } else { Err(record) }
                }
            }
        )*
    };
}

records! {
    Client(ClientRecord) "client" key ClientNo = |r| r.no;
    Key(KeyRecord) "key" key KeyNo = |r| r.no;
    Token(TokenRecord) "token" key Digest32 = |r| r.hash;
    Provider(ProviderRecord) "provider" key ProviderNo = |r| r.no;
    Account(AccountRecord) "account" key AccountId = |r| r.id;
    Settlement(SettlementRecord) "settlement" key SettlementNo = |r| r.no;
    Attempt(AttemptRecord) "attempt" key (SettlementNo, u16) = |r| (r.settlement, r.n);
    Reversal(ReversalRecord) "reversal" key (SettlementNo, u16) = |r| (r.settlement, r.n);
    Event(EventRecord) "event" key (SettlementNo, u32) = |r| (r.settlement, r.n);
    Transfer(Transfer) "transfer" key (SettlementNo, u16) = |r| (r.journal, r.n);
    Task(TaskRecord) "task" key TaskKey = |r| r.key;
    Idempotency(IdempotencyRecord) "idempotency" key (ClientNo, String) = |r| (r.client, r.key.clone());
    SimPayment(SimPaymentRecord) "sim_payment" key (SettlementNo, u16) = |r| (r.settlement, r.child);
    Nonce(NonceRecord) "nonce" key Digest32 = |r| r.hash;
    Secret(SecretRecord) "secret" key (SecretKind, u32) = |r| (r.kind, r.no);
    Audit(AuditRecord) "audit" key i64 = |r| r.no;
    Meta(MetaRecord) "meta" key String = |r| r.name.clone();
    Unlogged(UnloggedRecord) "unlogged" key i64 = |r| r.no;
    Feed(FeedRecord) "feed" key (ClientNo, Mode, i64) = |r| (r.client, r.mode, r.position);
    Tile(TileRecord) "tile" key (u8, i64) = |r| (r.level, r.index);
    LogHead(LogHeadRecord) "log_head" key i64 = |r| r.size;
    Endpoint(EndpointRecord) "endpoint" key EndpointNo = |r| r.no;
    EndpointSecret(EndpointSecretRecord) "endpoint_secret" key (EndpointNo, u32) = |r| (r.endpoint, r.n);
    Queue(QueueRecord) "queue" key EndpointNo = |r| r.endpoint;
    Delivery(DeliveryRecord) "delivery" key i64 = |r| r.no;
}

impl Record {
    /// The version by which it is replaced, of the kinds that have one.
    pub fn version(&self) -> Option<u32> {
        match self {
            Record::Settlement(r) => Some(r.version),
            Record::Endpoint(r) => Some(r.version),
            Record::Queue(r) => Some(r.version),
            Record::Client(_) | Record::Key(_) | Record::Token(_) | Record::Provider(_) | Record::Account(_) => None,
            Record::Attempt(_) | Record::Reversal(_) | Record::Event(_) | Record::Transfer(_) | Record::Task(_) => None,
            Record::Idempotency(_) | Record::SimPayment(_) | Record::Nonce(_) | Record::Secret(_) | Record::Audit(_) => None,
            Record::Meta(_) | Record::Unlogged(_) | Record::Feed(_) | Record::Tile(_) | Record::LogHead(_) => None,
            Record::EndpointSecret(_) | Record::Delivery(_) => None,
        }
    }
}
