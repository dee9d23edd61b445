//! Every kind of record, declared once. [`declare`](super::declare) derives from it the type, the key, the layout of a row, the
//! statements of both databases, the encoding in a journal, and what a copy compares. A new column is therefore one line here and a
//! migration for each database; a new kind is one declaration here and its migrations. A new column comes last and may be NULL: a
//! journal has no migrations, and its older rows end before that column.
//!
//! Keys are dense numbers; texts appear only where people entered them.

use std::sync::Arc;

use super::column::{Bound, Column, Read, Sink, Source};
pub(crate) use super::declare::{Flag, Layout, Line, Role, Spec, has, tables};
use super::record::*;
use crate::auth::{KeyId, PublicKey, ScopeSet};
use crate::ids::{ClientNo, EndpointNo, KeyNo, OperatorNo, ProviderNo, SettlementNo, Ulid, UserNo};
use crate::ledger::{AccountId, Mode, Totals, Transfer, TransferCode, TransferKind};
use crate::lifecycle::{AttemptStatus, BundleStatus, ReversalStatus, SettlementStatus, StateName};
use crate::money::Currency;
use crate::participant::{Participant, Reference};
use crate::quality::{Devices, Sketch};
use crate::rail::FailureCode;
use crate::rail::simulator::Outcome;
use crate::terms::{UsageId, Used, UserLimits};
use crate::time::Millis;
use crate::validate::ReversalReason;

tables! {
    /// A business that has credentials.
    Client(ClientRecord) "client" = 1 Versioned, find ClientId(id: Ulid) {
        key {
            /// The client's number.
            no: ClientNo;
        }
        /// The ULID in `cli_…`.
        id: Ulid [unique];
        /// The name given when it enrolled.
        name: String;
        /// Whether it is suspended and may not call.
        suspended: bool;
        /// The sealed secret that signs its webhooks; empty if no host delivers any.
        webhook_secret: Vec<u8>;
        /// When it enrolled.
        created_at: Millis;
        /// Increases by one with every change.
        version: Version;
    }

    /// A client's public key. Rows are never removed: a revoked key never comes back.
    Key(KeyRecord) "key" = 2 Versioned, find KeyId(id: KeyId) {
        key {
            /// The key's number.
            no: KeyNo;
        }
        /// The RFC 7638 thumbprint, unique.
        id: KeyId [unique];
        /// The client that owns it.
        client: ClientNo;
        /// The mode of its tokens.
        mode: Mode;
        /// The key itself.
        public: PublicKey => algorithm public;
        /// The scopes that its tokens may have at most.
        scopes: ScopeSet;
        /// Whether it may sign.
        status: KeyStatus;
        /// The owner's name for it.
        label: Option<String>;
        /// When it was enrolled.
        created_at: Millis;
        /// When it was revoked; `None` if it was not.
        revoked_at: Option<Millis>;
        /// Increases by one with every change.
        version: Version;
    }

    /// An access token: only its hash is stored.
    Token(TokenRecord) "token" = 3 Server {
        key {
            /// SHA-256 of the token's text.
            hash: Digest32;
        }
        /// The client that owns it.
        client: ClientNo;
        /// The key that requested it, which must sign every call that carries it.
        key: KeyNo;
        /// The mode it was issued for.
        mode: Mode;
        /// The scopes it grants.
        scopes: ScopeSet;
        /// When it was issued.
        created_at: Millis;
        /// When it expires.
        expires_at: Millis;
        /// The key of its session, sealed; `None` if it has none.
        session: Option<Vec<u8>> [later];
    }

    /// A provider's number, assigned when the store first sees the provider.
    Provider(ProviderRecord) "provider" = 4 {
        key {
            /// The provider's number.
            no: ProviderNo;
        }
        /// The provider's id in the configuration and on the wire.
        id: String [unique];
    }

    /// An account and its totals.
    Account(AccountRecord) "account" = 5 Posted {
        key {
            /// Owner, mode and currency.
            id: AccountId;
        }
        /// The four totals, in minor units.
        totals: Totals => debits_pending debits_posted credits_pending credits_posted;
    }

    /// A settlement in its current state.
    Settlement(SettlementRecord) "settlement" = 6 Versioned, find SettlementReference(client: ClientNo)(reference: Reference) {
        key {
            /// The settlement's number; its children are clustered under it.
            no: SettlementNo;
        }
        /// The client that owns it.
        client: ClientNo [unique];
        /// The client's reference, unique per client forever.
        reference: Reference [unique];
        /// Sandbox or live.
        mode: Mode;
        /// The current status.
        status: SettlementStatus;
        /// Increases by one with every event: also the sequence number of the last one.
        version: u32;
        /// Whether a person must review it.
        needs_review: bool;
        /// The amount, in minor units.
        amount: i64;
        /// Its currency.
        currency: Currency;
        /// The receiving participant, canonical.
        to: Participant => recipient;
        /// The provider of the current attempt, or the one that it will go to first.
        provider: ProviderNo;
        /// The fee in minor units, held and posted in addition to the amount.
        fee: i64;
        /// The amount returned by completed reversals, in minor units.
        reversed: i64;
        /// The amount of reversals in progress, in minor units.
        reversing: i64;
        /// The number of attempts started.
        attempts: u16;
        /// The number of reversals requested.
        reversals: u16;
        /// The number of transfers in its journal.
        transfers: u16;
        /// The `n` of the transfer that reserves the amount; 0 for an incoming payment, which reserves nothing.
        hold: u16;
        /// 40 random bits of the public id.
        salt: u64;
        /// The hash of the last event.
        head: Digest32;
        /// When it was accepted, which is also the time in the public id.
        created_at: Millis;
        /// When it last changed.
        updated_at: Millis;
        /// When it first became final; `None` if it has not.
        completed_at: Option<Millis>;
        /// It is cancelled if it has not been dispatched by then.
        expires_at: Option<Millis>;
        /// Fields that few settlements have; `None` if all are empty, which is the usual case.
        more: Option<Arc<SettlementMore>>;
        /// The client's end user who pays, if one does.
        user: Option<UserNo> => app_user [later];
    }

    /// One attempt at one provider.
    Attempt(AttemptRecord) "attempt" = 7 {
        key {
            /// Its settlement.
            settlement: SettlementNo,
            /// Its number within the settlement, from 1.
            n: u16 => k;
        }
        /// The provider.
        provider: ProviderNo;
        /// The current status.
        status: AttemptStatus;
        /// How often it was sent, always with the same rail key. It is sent again only after proof that it had not arrived.
        sends: u16;
        /// When it was last recorded as sent, just before it left.
        started_at: Millis;
        /// When the last answer that changed it arrived; `None` if there is none.
        answered_at: Option<Millis>;
    }

    /// A reversal, full or partial.
    Reversal(ReversalRecord) "reversal" = 8, find ReversalReference(client: ClientNo)(reference: String) {
        key {
            /// Its settlement.
            settlement: SettlementNo,
            /// Its number within the settlement, from 1.
            n: u16 => k;
        }
        /// The client that owns it.
        client: ClientNo [unique];
        /// The client's reference for it, unique per client among reversals.
        reference: Option<Reference> [unique];
        /// The current status.
        status: ReversalStatus;
        /// The amount in minor units of the settlement's currency.
        amount: i64;
        /// The reason the client gave.
        reason: Option<ReversalReason>;
        /// The client's description.
        description: Option<String>;
        /// The `n` of the transfer that announces the returned money; 0 for an incoming payment, whose money is returned at once.
        hold: u16;
        /// Whether a person must review it.
        needs_review: bool;
        /// The rail's own reference for it.
        rail_reference: Option<String>;
        /// Why it failed; `None` if it did not.
        failure: Option<Failure>;
        /// When it was requested.
        created_at: Millis;
        /// When it last changed.
        updated_at: Millis;
        /// When it became final; `None` if it has not.
        completed_at: Option<Millis>;
    }

    /// One link of a settlement's event trace. Append-only.
    Event(EventRecord) "event" = 9 {
        key {
            /// Its settlement.
            settlement: SettlementNo,
            /// Its sequence number in the event trace, from 1, without gaps.
            n: u32 => k;
        }
        /// The type of the event.
        kind: EventType;
        /// When it happened.
        at: Millis;
        /// The state before, of whatever the type refers to.
        from: Option<StateName> => from_state;
        /// The state after.
        to: Option<StateName> => to_state;
        /// Who caused it.
        actor: Actor;
        /// The attempt or reversal concerned, from 1; 0 if there is none.
        child: u16;
        /// Further details: one canonical JSON object (RFC 8785).
        data: Option<String>;
        /// SHA-256 of the event's canonical form, which contains the previous event's hash.
        hash: Digest32;
    }

    /// A transfer; see [`crate::ledger`].
    Transfer(Transfer) "transfer" = 10 Elsewhere Posted {
        key {
            /// The settlement it belongs to; for funding, a number without a settlement.
            journal: SettlementNo,
            /// Its number within the journal number, from 1.
            n: u16 => k;
        }
        /// What it does to the totals.
        kind: TransferKind;
        /// The reason for it.
        code: TransferCode;
        /// The account that pays.
        debit: AccountId;
        /// The account that receives.
        credit: AccountId;
        /// The amount in minor units, more than zero.
        amount: i64;
        /// For post and void: the `n` of the pending transfer; otherwise 0.
        resolves: u16;
        /// When it was made.
        at: Millis;
    }

    /// One external effect that must still happen: written in the commit that caused it, carried out by the node that leases it.
    Task(TaskRecord) "task" = 11 {
        key {
            /// When it is due, or when its lease ends.
            key: TaskKey;
        }
        /// What to do.
        kind: TaskKind;
        /// The settlement.
        settlement: SettlementNo;
        /// The attempt or reversal; 0 if there is none.
        child: u16;
        /// The number of tries so far.
        tries: u16;
        /// The first due time, since which it has been waiting; of an inquiry, by the clock of its client's sandbox.
        since: Millis;
        /// The node that has the lease; 0 for none.
        owner: i64;
        /// The client whose sandbox it belongs to, if the clock of that sandbox has to know of it: it waits for a time, or that clock
        /// was changed before.
        client: Option<ClientNo> [later];
    }

    /// The result stored for an `Idempotency-Key`.
    Idempotency(IdempotencyRecord) "idempotency" = 12 {
        key {
            /// The client that sent it.
            client: ClientNo;
            /// The text of the header; in the sandbox after `sandbox` and a line feed.
            key: String;
        }
        /// SHA-256 over method, path and body.
        fingerprint: Digest32;
        /// The resulting settlement, also if a reversal was made; 0 for every other call.
        settlement: SettlementNo;
        /// The resulting reversal, from 1; 0 if there is none.
        reversal: u16;
        /// When it was created; it is deleted after seven days.
        created_at: Millis;
        /// The answer to repeat, as JSON, without secrets; `None` for a cancellation or a reversal.
        answer: Option<String> [later];
    }

    /// The simulated operator's record of one payment or reversal: its own books, not the gateway's.
    SimPayment(SimPaymentRecord) "sim_payment" = 13 {
        key {
            /// The settlement of the request.
            settlement: SettlementNo,
            /// The attempt, or the reversal with the highest bit set.
            child: u16 => k;
        }
        /// The provider that received it.
        provider: ProviderNo;
        /// How often the request arrived. More than once would be a double dispatch.
        received: u16;
        /// When it first arrived.
        received_at: Millis;
        /// What the operator answers about it since it was told to, whatever the scenario; `None` if it was not told.
        decided: Option<Outcome> [later];
        /// Why it is refused, if it was told to refuse it.
        code: Option<FailureCode> [later];
    }

    /// A nonce that a change has used. The same signed call then has no effect at any node.
    Nonce(NonceRecord) "nonce" = 14 Server {
        key {
            /// SHA-256 of the nonce's text.
            hash: Digest32;
        }
        /// When its challenge expires; the row may then be deleted.
        expires_at: Millis;
    }

    /// One of the gateway's own secrets, sealed under a master key.
    Secret(SecretRecord) "secret" = 15 Versioned {
        key {
            /// The purpose of the secret.
            kind: SecretKind;
            /// Its number within its kind, from 1; the highest is in use.
            no: u32;
        }
        /// The secret, sealed.
        sealed: Vec<u8>;
        /// The public half: SEC 1 uncompressed for P-256, 32 bytes for Ed25519; empty if there is none.
        public: Vec<u8>;
        /// When it was created.
        created_at: Millis;
        /// When another secret replaced it; `None` for the one in use.
        retired_at: Option<Millis>;
        /// Increases by one with every change.
        version: Version;
    }

    /// The audit trail: who did what, with which result. Written in the commit of the change itself; append-only.
    Audit(AuditRecord) "audit" = 16 Server {
        key {
            /// Its number, increasing.
            no: i64;
        }
        /// When it happened.
        at: Millis;
        /// The client that acted, or that an operator acted on; 0 if there is none.
        client: ClientNo;
        /// The key used; 0 for an operator.
        key: KeyNo;
        /// The action.
        action: AuditAction;
        /// The number of the object of the action: a settlement, key or client; 0 if there is none.
        target: i64;
        /// The name used, if the object has no number.
        name: Option<String>;
        /// The code of the refusal; `None` if the action was carried out.
        refused: Option<String>;
        /// What was decided and on which evidence, as one JSON object, if an operator must say so.
        detail: Option<String> [later];
        /// What signed the call; `None` if nothing did, or in a record of an earlier version.
        signed_by: Option<SignedWith> [later];
    }

    /// A named value of the store as a whole.
    Meta(MetaRecord) "meta" = 17 {
        key {
            /// The name.
            name: String;
        }
        /// The value.
        value: Vec<u8>;
    }

    /// The events of one commit that are not numbered yet. Written in that commit, so that none is missed, and removed in the
    /// commit that numbers them.
    Unlogged(UnloggedRecord) "unlogged" = 18 Server {
        key {
            /// Ordered by time across all nodes, and increasing on each of them.
            no: i64;
        }
        /// The changes, in the order in which they were decided.
        changes: Vec<LoggedChange>;
    }

    /// One event in its owner's feed: numbered without gaps per client and mode, in an order that never changes.
    Feed(FeedRecord) "feed" = 19, find FeedOf(settlement: SettlementNo, n: u32) {
        key {
            /// The client that owns the feed.
            client: ClientNo,
            /// Sandbox or live.
            mode: Mode => owner;
            /// Its position in the feed, from 1.
            position: i64;
        }
        /// The settlement of the event.
        settlement: SettlementNo,
        /// Its sequence number in that settlement's event trace.
        n: u32 => k [unique];
        /// When it happened.
        at: Millis;
        /// The index of its leaf in the Merkle tree of its mode, from 0.
        leaf: i64;
    }

    /// A tile of the Merkle tree of one mode: at level 0 the leaves themselves (commitments), above it the roots of the full tiles
    /// below.
    Tile(TileRecord) "tile" = 20 Server {
        key {
            /// The mode of the tree's events.
            mode: Mode,
            /// The level; 0 for leaves.
            level: u8,
            /// The position within the level, from 0.
            index: i64 => k;
        }
        /// At most 256 hashes of 32 bytes each.
        entries: Vec<u8>;
    }

    /// The state of the log. There is only one such row. Its key counts all events, so that only one node at a time can advance it.
    #[derive(Copy)]
    LogHead(LogHeadRecord) "log_head" = 21 Server {
        key {
            /// The number of events in the trees of both modes.
            events: i64;
        }
        /// The node that appends; 0 for none.
        owner: i64;
        /// When its lease on appending ends.
        until: Millis;
        /// How many of the events are in the live tree; `None` in a head from when all events were in one tree.
        live: Later<i64>;
    }

    /// An endpoint: a webhook, where a client receives events, or a push subscription, where an end user is told of payments.
    Endpoint(EndpointRecord) "endpoint" = 22 Server Versioned, find EndpointId(id: Ulid) {
        key {
            /// The endpoint's number.
            no: EndpointNo;
        }
        /// The ULID in `whk_…` or `psh_…`, unique.
        id: Ulid [unique];
        /// Increases by one with every change.
        version: u32;
        /// The client that owns it, or the number of the end user.
        client: ClientNo [fixed];
        /// The mode of the events that it receives.
        mode: Mode [fixed];
        /// Whether it receives deliveries.
        status: EndpointStatus;
        /// The URL to deliver to.
        url: String;
        /// The topics that it receives; `None` for all, including future ones.
        topics: Option<TopicSet>;
        /// The owner's description.
        description: Option<String>;
        /// When it was created.
        created_at: Millis;
        /// When it last changed.
        updated_at: Millis;
        /// What makes it a push subscription of an end user; `None` for a webhook.
        push: Option<Box<PushRoute>> [later];
    }

    /// A secret that signs an endpoint's deliveries, or the keys that encrypt for a push subscription.
    EndpointSecret(EndpointSecretRecord) "endpoint_secret" = 23 Server Versioned {
        key {
            /// The endpoint.
            endpoint: EndpointNo;
            /// Its number within the endpoint, from 1; the highest is the newest.
            n: u32;
        }
        /// The secret, sealed.
        sealed: Vec<u8>;
        /// When it was created.
        created_at: Millis;
        /// When it stops signing; `None` for the newest.
        until: Option<Millis>;
        /// Increases by one with every change.
        version: Version;
    }

    /// The queue of an endpoint: when its next delivery is due, which node has leased it, and how its deliveries succeed.
    ///
    /// Only one host at a time delivers to an endpoint, so that a slow endpoint with a long queue delays nobody else.
    Queue(QueueRecord) "queue" = 24 Server Versioned {
        key {
            /// The endpoint.
            endpoint: EndpointNo;
        }
        /// Increases by one with every change.
        version: u32;
        /// Whether its last delivery failed or was slow: it then waits in a separate line, away from endpoints that respond at
        /// once.
        troubled: bool;
        /// When the next delivery is due or the lease ends; `None` if nothing waits. A lease may also continue with nothing in
        /// flight, while the receiver has asked for a pause.
        due: Option<Millis>;
        /// The node that has the lease; 0 for none.
        owner: i64;
        /// The earliest due time of the deliveries added since it was leased.
        added: Option<Millis>;
        /// Since when every delivery has failed; `None` if the last one succeeded.
        failing_since: Option<Millis>;
    }

    /// One event for one endpoint.
    Delivery(DeliveryRecord) "delivery" = 25 Server {
        key {
            /// Its number: its creation time (milliseconds, upper 43 bits) and a number that makes it unique (lower 20 bits).
            no: i64;
        }
        /// The endpoint that receives it.
        endpoint: EndpointNo [fixed];
        /// The `webhook-id`: the ULID in `evt_…`, the same for each try.
        message: Ulid;
        /// The `type` of the event.
        topic: Topic;
        /// The reason for the delivery.
        cause: DeliveryCause;
        /// The current status.
        status: DeliveryStatus;
        /// The number of tries so far.
        attempts: u16;
        /// When it is tried next; `None` if it will not be.
        due: Option<Millis>;
        /// The settlement; 0 if there is none.
        settlement: SettlementNo [checked];
        /// The event's sequence number in the settlement's event trace; 0 if there is none.
        n: u32;
        /// The body, the same bytes for each try.
        body: String;
        /// The result of the last try; `None` before the first.
        last: Option<LastTry>;
    }

    /// The opening balances of a sandbox client that has not used its money yet. It becomes transfers, and this row is removed, with
    /// the client's first payment; if there never is one, the client expires.
    Allowance(AllowanceRecord) "allowance" = 26 Versioned {
        key {
            /// The client.
            client: ClientNo;
        }
        /// Increases by one with every change.
        version: u32;
        /// Since when it is unused; the negated time once the client is about to be removed.
        since: Millis;
    }

    /// An invitation to enrol, removed when it is used. Only the hash of its code is stored.
    Invitation(InvitationRecord) "invitation" = 27 Server {
        key {
            /// SHA-256 of the code.
            hash: Digest32;
        }
        /// When an operator made it.
        created_at: Millis;
        /// When it expires.
        expires_at: Millis;
    }

    /// A change of the gateway's configuration. Rows stay: the last one about a subject is in force.
    Setup(SetupRecord) "setup" = 28 Server {
        key {
            /// The revision of the configuration, from 1.
            revision: i64;
        }
        /// What it is about.
        subject: SetupSubject;
        /// The provider, if it is about one; otherwise 0.
        provider: ProviderNo;
        /// When it was made.
        at: Millis;
        /// What is in force from then on, in JSON: a [`crate::api::ProviderBody`] without secrets, a [`crate::api::RoutesBody`] or a
        /// [`crate::api::TermsBody`].
        document: String;
        /// The provider's secrets, sealed; empty if there are none.
        secrets: Vec<u8>;
        /// Why it was made.
        reason: Option<String>;
        /// The client, if it is about one.
        client: Option<ClientNo> [later];
    }

    /// What the counted payments of one client on one day add up to, in one mode and currency. Changed by [`Write::Count`] only.
    ///
    /// [`Write::Count`]: super::Write::Count
    Usage(UsageRecord) "usage" = 31 {
        key {
            /// Client, currency, mode and day.
            id: UsageId;
        }
        /// The sum of the amounts, and how many they are.
        used: Used => value count;
    }

    /// What an operator did to a client's account: real money that entered or left it, whose transfer has the same journal number, or
    /// a change of its credit, which moves none.
    Movement(MovementRecord) "movement" = 30 Server, find MovementReference(client: ClientNo)(reference: String) {
        key {
            /// The journal number.
            journal: SettlementNo;
        }
        /// The client whose account it is.
        client: ClientNo [unique];
        /// The operator's reference, unique for each client.
        reference: Reference [unique];
        /// In, out, or a change of credit.
        kind: MovementKind;
        /// Sandbox or live.
        mode: Mode;
        /// The currency.
        currency: Currency;
        /// The amount in minor units, more than zero; of a change of credit, the credit from then on, or zero for none.
        amount: i64;
        /// What proves it; empty for a change of credit that came with the whole terms of the client.
        evidence: String;
        /// When it was made.
        at: Millis;
        /// The credit before a change of it, in minor units.
        previous: Option<i64> [later];
        /// The revision of the configuration that has the client's terms with the credit, for a change of it.
        terms: Option<i64> [later];
    }

    /// The faults that a client ordered for its sandbox.
    #[derive(Copy)]
    Simulator(SimulatorRecord) "simulator" = 32 {
        key {
            /// The client.
            client: ClientNo;
        }
        /// The share of calls that do not reach the operator, in millionths.
        rate: u32;
        /// The share of calls whose answer is lost, in millionths.
        drop_answer_rate: u32;
        /// How long the operator takes to answer.
        latency_ms: Millis;
        /// Selects which calls are hit.
        seed: u64;
    }

    /// The clock of a client's sandbox, from its first change on.
    Clock(ClockRecord) "clock" = 37 Server Versioned {
        key {
            /// The client.
            client: ClientNo;
        }
        /// How far it is ahead of the gateway's clock.
        ahead: Millis;
        /// The time at which it stands; `None` if it runs.
        stands_at: Option<Millis>;
        /// The time to which it is on its way; `None` if it has arrived.
        goal: Option<Millis>;
        /// Whether it stays stopped there.
        stays: bool;
        /// How many further stops it makes on its way wherever something is due; after that, its steps are longer.
        stops: u32;
        /// When it came to where it stands, or began to run from there, by the gateway's clock.
        stopped_at: Millis;
        /// The task that looks at it next; `None` if nothing waits for it.
        alarm: Option<TaskKey>;
        /// When it was first changed, by the gateway's clock.
        since: Millis;
        /// Increases by one with every change.
        version: Version;
    }

    /// Something that waits for a person: a settlement, or one of its reversals. Written in the commit that flags it with
    /// `needs_review`, and removed in the commit that clears the flag.
    Review(ReviewRecord) "review" = 29 Server {
        key {
            /// The settlement.
            settlement: SettlementNo,
            /// 0 for the settlement itself, otherwise the number of its reversal.
            child: u16 => k;
        }
        /// Why it waits.
        reason: ReviewReason;
        /// Since when.
        opened_at: Millis;
        /// When a person should look at it: at once, or later if somebody put it off.
        due: Millis;
    }

    /// A person who runs the gateway. Rows are never removed: the audit trail names them.
    Operator(OperatorRecord) "operator" = 33 Server Versioned {
        key {
            /// The operator's number.
            no: OperatorNo;
        }
        /// The ULID in `opr_…`.
        id: Ulid;
        /// The name by which colleagues know them.
        name: String;
        /// What they may do.
        role: OperatorRole;
        /// Whether they were invited, may sign, or were revoked.
        status: OperatorStatus;
        /// SHA-256 of the code of their invitation; empty once it was used.
        code: Vec<u8>;
        /// Who invited them; 0 if that was done on the store itself.
        invited_by: OperatorNo;
        /// When they were invited.
        created_at: Millis;
        /// When the invitation expires.
        expires_at: Millis;
        /// When they enrolled their key; `None` if they have not.
        enrolled_at: Option<Millis>;
        /// When they were revoked; `None` if they were not.
        revoked_at: Option<Millis>;
        /// Increases by one with every change.
        version: Version;
    }

    /// What an operator asked for and a second one confirms or declines.
    Approval(ApprovalRecord) "approval" = 34 Server Versioned, find ApprovalId(id: Ulid) {
        key {
            /// Its number, which grows with time.
            no: i64;
        }
        /// The ULID in `apr_…`.
        id: Ulid [unique];
        /// What was asked for.
        act: OperatorAct;
        /// What it is about, as the path of the call named it.
        subject: String;
        /// The request, in JSON, without secrets.
        request: String;
        /// The whole request, sealed, if it has secrets; otherwise empty.
        sealed: Vec<u8>;
        /// The version of the configuration that it replaces; `None` for whichever there is.
        replaces: Option<i64>;
        /// The client concerned; 0 if there is none.
        client: ClientNo;
        /// Why it was asked for.
        reason: Option<String>;
        /// Who asked.
        asked_by: OperatorNo;
        /// When.
        asked_at: Millis;
        /// When it expires, unless somebody decides before.
        expires_at: Millis;
        /// Whether it waits or how it was decided.
        status: ApprovalStatus;
        /// Who decided; 0 if nobody has.
        decided_by: OperatorNo;
        /// When.
        decided_at: Option<Millis>;
        /// What the decider said.
        comment: Option<String>;
        /// Increases by one with every change.
        version: Version;
    }

    /// A provider's statement that was compared with the settlements.
    Reconciliation(ReconciliationRecord) "reconciliation" = 38 Server Versioned,
        find ReconciliationOf(provider: ProviderNo)(digest: Digest32)(round: u32)
    {
        key {
            /// Its number, from 1; it grows with time.
            no: i64;
        }
        /// The provider.
        provider: ProviderNo [unique];
        /// SHA-256 of the file.
        digest: Digest32 [unique];
        /// How often the same file was compared before.
        round: u32 [unique];
        /// The name of the file.
        name: String;
        /// Its format.
        format: StatementFormat;
        /// Whether it is complete.
        status: ReconciliationStatus;
        /// Who had it made; 0 if that was done on the store itself.
        by: OperatorNo => made_by;
        /// When it was begun, which is also the time in its public id.
        created_at: Millis;
        /// When it was complete; `None` if it is not.
        finished_at: Option<Millis>;
        /// The host that makes it.
        owner: i64;
        /// Until when that host has it.
        until: Millis;
        /// The beginning of the time that the statement is about.
        from: Option<Millis> => period_from;
        /// The end of it, exclusive.
        to: Option<Millis> => period_to;
        /// The lines that were compared.
        lines: u32;
        /// The lines that do not count: not booked, or of nothing.
        skipped: u32;
        /// The lines that match by the provider's reference.
        by_reference: u32;
        /// The lines that match by the gateway's key.
        by_key: u32;
        /// The lines that match by amount and date.
        by_amount: u32;
        /// The findings of each kind.
        missing_here: u32;
        /// See `missing_here`.
        missing_there: u32;
        /// See `missing_here`.
        amount_differs: u32;
        /// See `missing_here`.
        duplicate_there: u32;
        /// The highest settlement with a match.
        last: SettlementNo => last_settlement;
        /// Increases by one with every change.
        version: Version;
    }

    /// Something in which a statement and the settlements differ.
    Finding(FindingRecord) "finding" = 39 Server {
        key {
            /// The reconciliation.
            run: i64;
            /// Its number there, from 1.
            n: i64;
        }
        /// How they differ.
        kind: FindingKind;
        /// The settlement; 0 if none is known.
        settlement: SettlementNo;
        /// The reversal of it, from 1; 0 for the settlement itself.
        child: u16;
        /// What connects the two, if something does.
        matched_by: Option<MatchedBy>;
        /// How certain that is, in hundredths.
        confidence: u16;
        /// The identity of the line, the same in every statement that has it; 0 without one.
        entry: u64;
        /// The line of the statement, if there is one.
        line: Option<Box<StatementLine>>;
    }

    /// What a reconciliation matched, in pages.
    Matches(MatchesRecord) "matches" = 40 Server {
        key {
            /// The reconciliation.
            run: i64;
            /// The number of the page, from 1.
            n: i64;
        }
        /// Pairs of 8 bytes, by the first: what was matched, and the identity of the line.
        pairs: Vec<u8>;
    }

    /// What the posted transfers of one commit add to the statements of clients, until it is booked there.
    Unbooked(UnbookedRecord) "unbooked" = 35 Server {
        key {
            /// Its number: a time (milliseconds, upper 43 bits) and a number that makes it unique (lower 20 bits).
            no: i64;
        }
        /// The lines.
        lines: Vec<BookedLine>;
    }

    /// A line of a client's statement, clustered under its account.
    Entry(EntryRecord) "entry" = 36 Server {
        key {
            /// The account.
            account: AccountId;
            /// Its number in the statement, from 1; 0 for the balance brought forward from before there were statements.
            n: i64;
        }
        /// When it was posted, and not before the line above it.
        at: Millis;
        /// What the account gained, in minor units; less than zero for what it spent.
        amount: i64;
        /// The balance after it, in minor units: what is posted, with what is on hold.
        balance: i64;
        /// What for; `None` for a balance brought forward.
        code: Option<TransferCode>;
        /// The journal of the transfer: a settlement, or a movement of money; 0 for a balance brought forward.
        journal: SettlementNo;
        /// The number of the transfer within the journal.
        transfer: u16;
    }

    /// A partner's description of a provider, in its current state.
    Bundle(BundleRecord) "bundle" = 47 Server Versioned, find BundleId(id: Ulid) {
        key {
            /// Its number, which grows with time.
            no: i64;
        }
        /// The ULID in `bun_…`.
        id: Ulid [unique];
        /// The partner.
        client: ClientNo;
        /// The mode of the credential that made it.
        mode: Mode;
        /// The current state.
        status: BundleStatus;
        /// The id in its manifest: that of the provider.
        provider: String;
        /// The version in its manifest.
        release: String;
        /// The number of its last revision, from 1.
        revision: u32;
        /// The digest of that revision.
        digest: Digest32;
        /// The bytes of all revisions that are kept.
        bytes: i64;
        /// The number of steps on its timeline.
        steps: u32;
        /// The hash of the event of the last step.
        head: Digest32;
        /// The step of its last submission; 0 if there is none.
        submission: u32;
        /// The step with the last report of a test; 0 if there is none.
        report: u32;
        /// The secrets for its endpoints, sealed; empty if there are none.
        sealed: Vec<u8>;
        /// Whether its provider was made in the sandbox.
        in_sandbox: bool;
        /// Whether its provider was made live.
        in_live: bool;
        /// Where it is published once the test has passed; `None` if nobody asked for that.
        publishing: Option<Mode>;
        /// Whether its wishes for routes are then added to the table.
        with_routes: bool;
        /// How the test of its sandbox endpoint is; `None` before the first.
        conformance: Option<ConformanceStatus>;
        /// When the test is due, or the lease on it ends; `None` if none is.
        due: Option<Millis>;
        /// The host that has the lease; 0 for none.
        owner: i64;
        /// How often hosts began the test and did not end it.
        tries: u16;
        /// When it was made.
        created_at: Millis;
        /// When it last changed.
        updated_at: Millis;
        /// Increases by one with every change.
        version: Version;
    }

    /// A part of a revision of a bundle.
    BundlePart(BundlePartRecord) "bundle_part" = 48 Server {
        key {
            /// The bundle.
            bundle: i64;
            /// The revision.
            revision: u32;
            /// 0 for the manifest, otherwise the number of a document.
            n: u16;
        }
        /// The name of the file.
        name: String;
        /// The SHA-256 of its content; of a manifest, the digest of the whole revision.
        digest: Digest32;
        /// The key that signed the call that brought it.
        key: KeyNo => signed_by;
        /// When it came.
        at: Millis;
        /// The bytes.
        content: Vec<u8>;
    }

    /// A step of a bundle's timeline. Append-only.
    BundleStep(BundleStepRecord) "bundle_step" = 49 Server {
        key {
            /// The bundle.
            bundle: i64;
            /// Its number on the timeline, from 1, without gaps.
            n: u32;
        }
        /// What it is about.
        kind: BundleStepKind;
        /// When it happened.
        at: Millis;
        /// Who did it: the partner, an operator, or 0 for the gateway.
        by: ClientNo => made_by;
        /// The key that signed; 0 for the gateway.
        key: KeyNo => signed_by;
        /// The revision that it is about.
        revision: u32;
        /// The state before.
        from: BundleStatus => from_status;
        /// The state after.
        to: BundleStatus => to_status;
        /// What was said.
        comment: Option<String>;
        /// Further details, in JSON.
        data: Option<String>;
    }

    /// A server that runs over the store, or ran lately.
    Node(NodeRecord) "node" = 41 Server Local {
        key {
            /// The number under which it leases tasks; another one after each start.
            no: i64;
        }
        /// The name of its machine.
        host: String;
        /// The URL of the address that it listens on; `None` if it listens on all addresses of its machine.
        address: Option<String>;
        /// The version of its program.
        version: String;
        /// When it started.
        started_at: Millis;
        /// When it last said that it runs.
        seen_at: Millis;
    }

    /// A client's end user, who pays with a phone. The client names its users as it likes.
    User(UserRecord) "app_user" = 42 Versioned, find UserName(client: ClientNo)(mode: Mode)(name: String) {
        key {
            /// The user's number.
            no: UserNo;
        }
        /// The client.
        client: ClientNo [unique];
        /// Sandbox or live: a user of the one is another user in the other.
        mode: Mode [unique];
        /// The client's own name for the user.
        name: String [unique];
        /// Whether the user's devices may call.
        status: UserStatus;
        /// What the client allows the user, at most one entry for each currency.
        limits: Vec<UserLimits>;
        /// What the user wants to be notified of, in JSON; empty for the defaults.
        preferences: String;
        /// When the client first named the user.
        created_at: Millis;
        /// Increases by one with every change.
        version: Version;
    }

    /// A device of an end user: what is known of it besides its key. Rows are never removed: traces name them.
    Device(DeviceRecord) "device" = 43 Versioned, find DeviceId(id: Ulid) {
        key {
            /// Its key's number.
            no: KeyNo;
        }
        /// The ULID in `dev_…`.
        id: Ulid [unique];
        /// The user.
        user: UserNo => app_user;
        /// What its owner calls it.
        label: Option<String>;
        /// The platform, as the app names it.
        platform: String;
        /// The version of the app.
        app_version: Option<String>;
        /// The model.
        model: Option<String>;
        /// What its maker says about its key; `None` if the app showed nothing.
        attestation: Option<DeviceAttestation>;
        /// When it enrolled.
        created_at: Millis;
        /// When it was revoked; `None` if it was not.
        revoked_at: Option<Millis>;
        /// Increases by one with every change.
        version: Version;
    }

    /// A code with which one device of a user enrols, removed when it is used. Only its hash is stored.
    DeviceCode(DeviceCodeRecord) "device_code" = 44 {
        key {
            /// SHA-256 of the code.
            hash: Digest32;
        }
        /// The user.
        user: UserNo => app_user;
        /// When it was made.
        created_at: Millis;
        /// When it expires.
        expires_at: Millis;
    }

    /// Something that an end user was told, clustered under the user.
    Notification(NotificationRecord) "notification" = 46 Server {
        key {
            /// The user.
            user: UserNo => app_user;
            /// Its number: when it was told (milliseconds, upper 43 bits) and a number that makes it unique (lower 20 bits). It grows with
            /// each notification of the user.
            n: i64;
        }
        /// What it tells.
        kind: NotificationKind;
        /// The settlement that it is about; 0 if it is about none.
        settlement: SettlementNo;
        /// When that happened, by the clock of the user's client.
        at: Millis;
        /// Whether the user has not read it.
        unread: bool;
        /// When the user read it.
        read_at: Option<Millis>;
        /// What it is about, as it was then.
        facts: Box<NotificationFacts>;
    }

    /// A reference that was used for a client at another gateway before it came here: it stays used.
    Elsewhere(ElsewhereRecord) "elsewhere" = 50 Server {
        key {
            /// The client.
            client: ClientNo;
            /// What it was used for.
            kind: ReferenceKind;
            /// The reference.
            reference: String;
        }
        /// The public id of the settlement or the reversal; what a movement is, which has no id.
        id: String;
        /// The address of the gateway that has it.
        url: String;
    }

    /// What a client had paid of a day's limits at another gateway when it came here. It is part of the counter of that day.
    Brought(BroughtRecord) "brought" = 51 Server {
        key {
            /// Client, currency, mode and day.
            id: UsageId;
        }
        /// The sum of the amounts, and how many they were.
        used: Used => value count;
    }

    /// What devices of a client measured of one thing in an hour, or in a day (UTC) that is long over, and that agrees in the other fields.
    /// The points themselves are not kept.
    Quality(QualityRecord) "quality" = 53 Server Versioned {
        key {
            /// The client.
            client: ClientNo,
            /// Sandbox or live.
            mode: Mode => owner;
            /// What was measured.
            metric: String;
            /// The beginning of the hour or the day.
            begins_at: Millis;
            /// What it was measured in.
            unit: QualityUnit;
            /// The version of the app; empty if it did not say.
            app_version: String;
            /// The operating system; empty if the app did not say.
            os: String;
            /// What the devices were connected by.
            network: Network;
            /// The provider of the settlement concerned; 0 if there is none.
            provider: ProviderNo;
        }
        /// Whether it is about a day.
        is_day: bool;
        /// How many points there were.
        points: i64;
        /// How many of them were of something that failed.
        failures: i64;
        /// The devices that measured, as far as it matters.
        devices: Devices;
        /// The values, in thousandths.
        values: Sketch => sketch;
        /// Increases by one with every change.
        version: Version;
    }

    /// Which points a device reported on a day (UTC): they count once.
    QualitySeen(QualitySeenRecord) "quality_seen" = 54 Server Versioned {
        key {
            /// The day, from 1970-01-01.
            day: i64;
            /// The device's key; of a client that reports by itself, its own.
            device: KeyNo;
        }
        /// The first eight bytes of the SHA-256 of each point's id, in order.
        ids: Vec<u8>;
        /// Increases by one with every change.
        version: Version;
    }
}
