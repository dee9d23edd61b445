//! Every kind of record, declared once: what [`declare`](super::declare) makes of it are its type, its key, how it lies in a row,
//! the statements of both databases, what a journal holds of it, and what a copy compares. So a new column is a line here and
//! a migration for each database; a new kind a declaration here, and its migrations.
//!
//! Keys are dense numbers; texts appear only where people gave them.

use super::column::{Bound, Column, Read, Sink, Source};
pub(crate) use super::declare::{Flag, Layout, Line, Role, Spec, has, tables};
use super::record::*;
use crate::auth::{KeyId, PublicKey, ScopeSet};
use crate::ids::{ClientNo, EndpointNo, KeyNo, ProviderNo, SettlementNo, Ulid};
use crate::ledger::{AccountId, Mode, Totals, Transfer, TransferCode, TransferKind};
use crate::lifecycle::{AttemptStatus, ReversalStatus, SettlementStatus, StateName};
use crate::money::Currency;
use crate::participant::{Participant, Reference};
use crate::time::Millis;
use crate::validate::ReversalReason;

tables! {
    /// A business that holds credentials.
    Client(ClientRecord) "client" = 1, find ClientId(id: Ulid) {
        key {
            /// Its number.
            no: ClientNo;
        }
        /// The ULID behind `cli_`.
        id: Ulid [unique];
        /// Its name, as it enrolled.
        name: String;
        /// May not call any more.
        suspended: bool;
        /// The secret under which its webhooks are signed, sealed; empty where no host delivers any.
        webhook_secret: Vec<u8>;
        /// When it enrolled.
        created_at: Millis;
    }

    /// A client's public key. Rows stay for ever: a revoked key never comes back.
    Key(KeyRecord) "key" = 2 Server, find KeyId(id: KeyId) {
        key {
            /// Its number.
            no: KeyNo;
        }
        /// Its thumbprint, unique.
        id: KeyId [unique];
        /// Whose.
        client: ClientNo;
        /// The mode its tokens are for.
        mode: Mode;
        /// The key itself.
        public: PublicKey => algorithm public;
        /// What its tokens may do at most.
        scopes: ScopeSet;
        /// Whether it may sign.
        status: KeyStatus;
        /// What its owner calls it.
        label: Option<String>;
        /// When it was enrolled.
        created_at: Millis;
        /// When it was revoked.
        revoked_at: Option<Millis>;
    }

    /// An access token: only its hash is kept.
    Token(TokenRecord) "token" = 3 Server {
        key {
            /// SHA-256 of the token's text.
            hash: Digest32;
        }
        /// Whose.
        client: ClientNo;
        /// The key that took it, and must sign every call that carries it.
        key: KeyNo;
        /// The mode it was issued for.
        mode: Mode;
        /// What it may do.
        scopes: ScopeSet;
        /// When it was issued.
        created_at: Millis;
        /// When it ends.
        expires_at: Millis;
    }

    /// A provider's number, given when the store first hears of it.
    Provider(ProviderRecord) "provider" = 4 {
        key {
            /// Its number.
            no: ProviderNo;
        }
        /// Its id in the configuration and on the wire.
        id: String [unique];
    }

    /// An account and its totals.
    Account(AccountRecord) "account" = 5 Posted {
        key {
            /// Owner, mode and currency.
            id: AccountId;
        }
        /// The four totals, minor units.
        totals: Totals => debits_pending debits_posted credits_pending credits_posted;
    }

    /// A settlement as it stands.
    Settlement(SettlementRecord) "settlement" = 6 Versioned, find SettlementReference(client: ClientNo)(reference: String) {
        key {
            /// Its number; children are clustered under it.
            no: SettlementNo;
        }
        /// Whose.
        client: ClientNo [unique];
        /// The client's reference, unique per client for ever.
        reference: Reference [unique];
        /// Sandbox or live.
        mode: Mode;
        /// Where it stands.
        status: SettlementStatus;
        /// Grows by one with every event: also the sequence of the last one.
        version: u32;
        /// A person must look.
        needs_review: bool;
        /// Minor units.
        amount: i64;
        /// Its currency.
        currency: Currency;
        /// The receiving participant, canonical.
        to: Participant => recipient;
        /// The provider of the current attempt, or the one that it will go to first.
        provider: ProviderNo;
        /// Minor units, held and posted beside the amount.
        fee: i64;
        /// Minor units given back by completed reversals.
        reversed: i64;
        /// Minor units of reversals under way.
        reversing: i64;
        /// How many attempts were started.
        attempts: u16;
        /// How many reversals were asked for.
        reversals: u16;
        /// How many transfers its journal has.
        transfers: u16;
        /// The `n` of the transfer that holds the amount.
        hold: u16;
        /// 40 random bits of the public id.
        salt: u64;
        /// Hash of the last event.
        head: Digest32;
        /// When it was accepted; the public id's time.
        created_at: Millis;
        /// When it last changed.
        updated_at: Millis;
        /// When it became final for the first time.
        completed_at: Option<Millis>;
        /// Cancelled if not dispatched by then.
        expires_at: Option<Millis>;
        /// What few settlements have; `None` when all of it is empty, which is the common case.
        more: Option<Box<SettlementMore>>;
    }

    /// One try at one provider.
    Attempt(AttemptRecord) "attempt" = 7 {
        key {
            /// Of which settlement.
            settlement: SettlementNo,
            /// Which one, from 1.
            n: u16 => k;
        }
        /// At whom.
        provider: ProviderNo;
        /// Where it stands.
        status: AttemptStatus;
        /// How often it was sent, always under the same rail key: again only after proof that it had not arrived.
        sends: u16;
        /// When it was last stored as sent, just before it left.
        started_at: Millis;
        /// When the last answer that changed it came.
        answered_at: Option<Millis>;
    }

    /// A reversal, whole or in part.
    Reversal(ReversalRecord) "reversal" = 8, find ReversalReference(client: ClientNo)(reference: String) {
        key {
            /// Of which settlement.
            settlement: SettlementNo,
            /// Which one, from 1.
            n: u16 => k;
        }
        /// Whose.
        client: ClientNo [unique];
        /// The client's reference of it, unique per client among reversals.
        reference: Option<Reference> [unique];
        /// Where it stands.
        status: ReversalStatus;
        /// Minor units, in the settlement's currency.
        amount: i64;
        /// Why.
        reason: Option<ReversalReason>;
        /// The client's description.
        description: Option<String>;
        /// The `n` of the transfer that announces the money.
        hold: u16;
        /// A person must look.
        needs_review: bool;
        /// The rail's own reference of it.
        rail_reference: Option<String>;
        /// Why it failed.
        failure: Option<Failure>;
        /// When it was asked for.
        created_at: Millis;
        /// When it last changed.
        updated_at: Millis;
        /// When it became final.
        completed_at: Option<Millis>;
    }

    /// One link of a settlement's trace. Append-only.
    Event(EventRecord) "event" = 9 {
        key {
            /// Of which settlement.
            settlement: SettlementNo,
            /// Its place in the trace, from 1, without gaps.
            n: u32 => k;
        }
        /// What happened.
        kind: EventType;
        /// When.
        at: Millis;
        /// The state before, of the thing the type names.
        from: Option<StateName> => from_state;
        /// The state after.
        to: Option<StateName> => to_state;
        /// Who.
        actor: Actor;
        /// The attempt or reversal concerned, from 1; 0 for none.
        child: u16;
        /// More about it: one canonical JSON object (RFC 8785).
        data: Option<String>;
        /// SHA-256 of the event's canonical form, which holds the hash of the one before.
        hash: Digest32;
    }

    /// See the ledger.
    Transfer(Transfer) "transfer" = 10 Elsewhere Posted {
        key {
            /// The settlement it belongs to; a number without a settlement for funding.
            journal: SettlementNo,
            /// Its place within the journal number, from 1.
            n: u16 => k;
        }
        /// What it does.
        kind: TransferKind;
        /// Why.
        code: TransferCode;
        /// The account that gives.
        debit: AccountId;
        /// The account that takes.
        credit: AccountId;
        /// Minor units, more than zero.
        amount: i64;
        /// For post and void: the `n` of the pending transfer; else 0.
        resolves: u16;
        /// When.
        at: Millis;
    }

    /// One outside effect that is due: written in the commit that caused it, done by whoever leases it.
    Task(TaskRecord) "task" = 11 {
        key {
            /// When it is due, or when its lease ends.
            key: TaskKey;
        }
        /// What to do.
        kind: TaskKind;
        /// For which settlement.
        settlement: SettlementNo;
        /// The attempt or reversal; 0 for none.
        child: u16;
        /// How often it was tried.
        tries: u16;
        /// Since when it has been waiting: the first due time.
        since: Millis;
        /// Who holds the lease; 0 for nobody.
        owner: i64;
    }

    /// What an `Idempotency-Key` stands for.
    Idempotency(IdempotencyRecord) "idempotency" = 12 {
        key {
            /// Whose.
            client: ClientNo;
            /// The key's text.
            key: String;
        }
        /// SHA-256 over method, path and body.
        fingerprint: Digest32;
        /// What came of it: the settlement and, if one was made, the reversal.
        settlement: SettlementNo;
        /// The reversal, from 1; 0 for none.
        reversal: u16;
        /// When; it is forgotten after seven days.
        created_at: Millis;
    }

    /// What the simulated operator knows of one payment or reversal: its own books, not the gateway's.
    SimPayment(SimPaymentRecord) "sim_payment" = 13 {
        key {
            /// The settlement in whose name it was asked.
            settlement: SettlementNo,
            /// The attempt, or the reversal with the highest bit set.
            child: u16 => k;
        }
        /// At which provider.
        provider: ProviderNo;
        /// How often the request arrived. More than once would be a double dispatch.
        received: u16;
        /// When it first arrived.
        received_at: Millis;
    }

    /// A nonce that a change used up. The same signed call does nothing any more, at any node.
    Nonce(NonceRecord) "nonce" = 14 Server {
        key {
            /// SHA-256 of the nonce's text.
            hash: Digest32;
        }
        /// When its challenge ends; the row may leave then.
        expires_at: Millis;
    }

    /// A secret of the gateway itself, sealed under a master key.
    Secret(SecretRecord) "secret" = 15 {
        key {
            /// What it is for.
            kind: SecretKind;
            /// Its number among those of its kind, from 1; the highest is in use.
            no: u32;
        }
        /// The secret, sealed.
        sealed: Vec<u8>;
        /// Its public half: of P-256 SEC 1 uncompressed, of Ed25519 32 bytes; empty if it has none.
        public: Vec<u8>;
        /// When it was made.
        created_at: Millis;
        /// When another took its place.
        retired_at: Option<Millis>;
    }

    /// Who did what, and what came of it. Written in the commit of the change itself; append-only.
    Audit(AuditRecord) "audit" = 16 Server {
        key {
            /// Its number, growing.
            no: i64;
        }
        /// When.
        at: Millis;
        /// Which client did it, or had it done to it by an operator; 0 for none.
        client: ClientNo;
        /// With which key; 0 for an operator.
        key: KeyNo;
        /// What.
        action: AuditAction;
        /// The number of what was changed: a settlement's, a key's or a client's; 0 where nothing was.
        target: i64;
        /// What was named, where it has no number.
        name: Option<String>;
        /// The code of the refusal; `None` when it was done.
        refused: Option<String>;
    }

    /// A named value that belongs to the store as a whole.
    Meta(MetaRecord) "meta" = 17 {
        key {
            /// Its name.
            name: String;
        }
        /// Its bytes.
        value: Vec<u8>;
    }

    /// The events of one commit that are not numbered yet. Written in that very commit, so that none can be missed, and
    /// removed in the one that numbers them.
    Unlogged(UnloggedRecord) "unlogged" = 18 Server {
        key {
            /// Ordered by time over all nodes, and growing at each of them.
            no: i64;
        }
        /// What changed, in the order in which it was decided.
        changes: Vec<LoggedChange>;
    }

    /// One event in its owner's feed: numbered without gaps per client and mode, in an order that never changes.
    Feed(FeedRecord) "feed" = 19, find FeedOf(settlement: SettlementNo, n: u32) {
        key {
            /// Whose.
            client: ClientNo,
            /// Sandbox or live.
            mode: Mode => owner;
            /// Its place in the feed, from 1.
            position: i64;
        }
        /// The settlement that it is an event of.
        settlement: SettlementNo,
        /// Its place in that settlement's trace.
        n: u32 => k [unique];
        /// When it happened.
        at: Millis;
        /// The index of its leaf in the Merkle tree over all events, from 0.
        leaf: i64;
    }

    /// A row of the Merkle tree: at level 0 the leaves themselves (commitments), above it the roots of the full tiles below.
    Tile(TileRecord) "tile" = 20 Server {
        key {
            /// 0 for leaves.
            level: u8,
            /// Which one of its level, from 0.
            index: i64 => k;
        }
        /// At most 256 entries of 32 bytes.
        entries: Vec<u8>;
    }

    /// How far the log is. There is one such row; its key is the size, so that only one node at a time can move it on.
    #[derive(Copy)]
    LogHead(LogHeadRecord) "log_head" = 21 Server {
        key {
            /// How many leaves there are.
            size: i64;
        }
        /// The node that appends.
        owner: i64;
        /// Until when the others leave it to that node.
        until: Millis;
    }

    /// Where a client wants to be told of events.
    Endpoint(EndpointRecord) "endpoint" = 22 Server Versioned, find EndpointId(id: Ulid) {
        key {
            /// Its number.
            no: EndpointNo;
        }
        /// The ULID behind `whk_`, unique.
        id: Ulid [unique];
        /// Grows by one with every change.
        version: u32;
        /// Whose.
        client: ClientNo [fixed];
        /// Of which mode's events it is told.
        mode: Mode [fixed];
        /// Whether it is told anything.
        status: EndpointStatus;
        /// Where.
        url: String;
        /// Of what; `None`: of everything, also of what there is not yet.
        topics: Option<TopicSet>;
        /// What its owner calls it.
        description: Option<String>;
        /// When it was made.
        created_at: Millis;
        /// When it last changed.
        updated_at: Millis;
    }

    /// A secret under which an endpoint's deliveries are signed.
    EndpointSecret(EndpointSecretRecord) "endpoint_secret" = 23 Server {
        key {
            /// Whose.
            endpoint: EndpointNo;
            /// Its number among the endpoint's, from 1; the highest is the newest.
            n: u32;
        }
        /// The secret, sealed.
        sealed: Vec<u8>;
        /// When it was made.
        created_at: Millis;
        /// When it stops signing; `None`: it is the newest.
        until: Option<Millis>;
    }

    /// The queue before an endpoint: when something is next due for it, who is at it, and how it fares.
    ///
    /// One host at a time delivers to an endpoint, so that neither its slowness nor what waits for it is in anybody's way.
    Queue(QueueRecord) "queue" = 24 Server Versioned {
        key {
            /// Before which endpoint.
            endpoint: EndpointNo;
        }
        /// Grows by one with every change.
        version: u32;
        /// Its last delivery failed or was slow: it waits in a line of its own, which takes nothing from those who answer at once.
        troubled: bool;
        /// When the next delivery is due or the lease ends; `None`: nothing waits. A lease is also kept, with nothing under way,
        /// while the receiver wants to be left alone.
        due: Option<Millis>;
        /// Who holds the lease; 0 for nobody.
        owner: i64;
        /// The earliest due time of what was added since it was leased.
        added: Option<Millis>;
        /// Since when every delivery has failed.
        failing_since: Option<Millis>;
    }

    /// One event that one endpoint is to be told of.
    Delivery(DeliveryRecord) "delivery" = 25 Server {
        key {
            /// Its number: when it was made (milliseconds, upper 43 bits) and a number that makes it unique (lower 20).
            no: i64;
        }
        /// Whom.
        endpoint: EndpointNo [fixed];
        /// The `webhook-id`: the ULID behind `evt_`, the same on each try.
        message: Ulid;
        /// The `type`.
        topic: Topic;
        /// Why.
        cause: DeliveryCause;
        /// How far it is.
        status: DeliveryStatus;
        /// How often it was tried.
        attempts: u16;
        /// When it is tried next; `None` when it will not be.
        due: Option<Millis>;
        /// The settlement; 0 for none.
        settlement: SettlementNo [checked];
        /// The event's place in the settlement's trace; 0 for none.
        n: u32;
        /// What is sent, the same bytes on each try.
        body: String;
        /// How the last try went.
        last: Option<LastTry>;
    }
}
