//! Plain records to build commits from: valid, small, and the same on every call.
//!
//! ```
//! use railgate::store::conformance::fixtures::{account_of, commit, event, funding, insert, settlement};
//! use railgate::store::memory::MemoryStore;
//! use railgate::store::record::{Key, Record};
//! use railgate::store::{Store as _, typed};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::new();
//! store.commit(&commit([insert(settlement(1, 1, "inv-1")), insert(event(1, 1)), funding(2, account_of(1), 500)]))?;
//!
//! assert_eq!(typed(store.get(&Key::Settlement(settlement(1, 1, "inv-1").no))?)?, Some(settlement(1, 1, "inv-1")));
//! assert!(matches!(store.get(&Key::Account(account_of(1)))?, Some(Record::Account(_))));
//! # Ok(())
//! # }
//! ```

use crate::auth::{KeyId, PublicKey, ScopeSet};
use crate::ids::{ClientNo, EndpointNo, KeyNo, OperatorNo, ProviderNo, SettlementNo, Ulid, UserNo};
use crate::ledger::{AccountId, Mode, Owner, Totals, Transfer, TransferCode, TransferKind};
use crate::lifecycle::{AttemptStatus, BundleStatus, Direction, ReversalStatus, SettlementStatus, StateName};
use crate::money::Currency;
use crate::participant::{Participant, Reference};
use crate::quality::{Devices, Sketch};
use crate::store::record::*;
use crate::store::{Commit, Write};
use crate::terms::{UsageId, Used, UserLimits};

/// The currency with this code.
pub fn currency(code: &str) -> Currency {
    Currency::from_code(code).expect("a currency of the tests")
}

/// A commit with these writes.
pub fn commit(writes: impl IntoIterator<Item = Write>) -> Commit {
    Commit { writes: writes.into_iter().collect() }
}

/// A write that adds a record.
pub fn insert(record: impl Into<Record>) -> Write {
    Write::Insert(record.into())
}

/// A write that replaces a record.
pub fn replace(record: impl Into<Record>) -> Write {
    Write::Replace(record.into())
}

/// A write that replaces a record of any kind. If its kind has a version, that stays as it is.
pub fn replace_any(record: impl Into<Record>) -> Write {
    let record = record.into();
    match record.version() {
        Some(expected) => Write::Update { record, expected },
        None => Write::Replace(record),
    }
}

/// A write that replaces a record with version `expected`.
pub fn update(record: impl Into<Record>, expected: u32) -> Write {
    Write::Update { record: record.into(), expected }
}

/// A settlement that has just been accepted.
pub fn settlement(no: i64, client: u32, reference: &str) -> SettlementRecord {
    SettlementRecord {
        no: SettlementNo(no),
        client: ClientNo(client),
        reference: Reference::from_stored(reference.to_owned()),
        mode: Mode::Sandbox,
        status: SettlementStatus::Accepted,
        version: 1,
        needs_review: false,
        amount: 1050,
        currency: currency("EUR"),
        to: Participant::from_stored("sim:ok".to_owned()).expect("a participant of the tests"),
        provider: ProviderNo(1),
        fee: 10,
        reversed: 0,
        reversing: 0,
        attempts: 0,
        reversals: 0,
        transfers: 1,
        hold: 1,
        salt: 0x12_3456_789a,
        head: [1; 32],
        created_at: 1_000 + no,
        updated_at: 1_000 + no,
        completed_at: None,
        expires_at: None,
        more: None,
        user: None,
    }
}

/// An event of a settlement.
pub fn event(settlement: i64, n: u32) -> EventRecord {
    EventRecord {
        settlement: SettlementNo(settlement),
        n,
        kind: EventType::SettlementAccepted,
        at: 1_000,
        from: None,
        to: Some(StateName::Accepted),
        actor: Actor::Client,
        child: 0,
        data: None,
        hash: [2; 32],
    }
}

/// An attempt of a settlement.
pub fn attempt(settlement: i64, n: u16) -> AttemptRecord {
    AttemptRecord {
        settlement: SettlementNo(settlement),
        n,
        provider: ProviderNo(1),
        status: AttemptStatus::Started,
        started_at: 1_000,
        sends: 1,
        answered_at: None,
    }
}

/// A reversal of a settlement.
pub fn reversal(settlement: i64, n: u16, client: u32, reference: Option<&str>) -> ReversalRecord {
    ReversalRecord {
        settlement: SettlementNo(settlement),
        n,
        client: ClientNo(client),
        reference: reference.map(|text| Reference::from_stored(text.to_owned())),
        status: ReversalStatus::Accepted,
        amount: 50,
        reason: None,
        description: None,
        hold: 3,
        needs_review: false,
        rail_reference: None,
        failure: None,
        created_at: 2_000,
        updated_at: 2_000,
        completed_at: None,
    }
}

/// A task due at `due`.
pub fn task(due: i64, n: u32) -> TaskRecord {
    TaskRecord {
        key: TaskKey::new(due, n),
        kind: TaskKind::Dispatch,
        settlement: SettlementNo(1),
        child: 0,
        tries: 0,
        since: due,
        owner: 0,
        client: None,
    }
}

/// The clock of a client's sandbox, first changed at `since`.
pub fn clock(client: u32, since: i64) -> ClockRecord {
    ClockRecord {
        client: ClientNo(client),
        ahead: 86_400_000,
        stands_at: (since % 2 == 0).then_some(since),
        goal: None,
        stays: false,
        stops: 4_096,
        stopped_at: since,
        alarm: Some(TaskKey::new(since, 1)),
        since,
        version: Version(1),
    }
}

/// The result of a request with an idempotency key.
pub fn idempotency(client: u32, key: &str, created_at: i64) -> IdempotencyRecord {
    IdempotencyRecord {
        client: ClientNo(client),
        key: key.to_owned(),
        fingerprint: [3; 32],
        settlement: SettlementNo(1),
        reversal: 0,
        created_at,
        answer: (created_at % 2 == 0).then(|| r#"{"a":"ü"}"#.to_owned()),
    }
}

/// A token of client 1.
pub fn token(hash: u8, expires_at: i64) -> TokenRecord {
    TokenRecord {
        hash: [hash; 32],
        client: ClientNo(1),
        key: KeyNo(1),
        mode: Mode::Live,
        scopes: ScopeSet::CLIENT,
        created_at: 0,
        expires_at,
        session: None,
    }
}

/// The base point of Ed25519: a valid public key.
pub const ED25519_POINT: [u8; 32] = {
    let mut bytes = [0x66; 32];
    bytes[0] = 0x58;
    bytes
};

/// The base point of P-256, SEC 1 uncompressed: a valid public key.
pub const P256_POINT: [u8; 65] = *b"\x04\
    \x6b\x17\xd1\xf2\xe1\x2c\x42\x47\xf8\xbc\xe6\xe5\x63\xa4\x40\xf2\x77\x03\x7d\x81\x2d\xeb\x33\xa0\xf4\xa1\x39\x45\xd8\x98\xc2\x96\
    \x4f\xe3\x42\xe2\xfe\x1a\x7f\x9b\x8e\xe7\xeb\x4a\x7c\x0f\x9e\x16\x2b\xce\x33\x57\x6b\x31\x5e\xce\xcb\xb6\x40\x68\x37\xbf\x51\xf5";

/// A key of `client`. Its thumbprint is derived from `id` instead of the key: a store does not compare them.
pub fn key(no: u32, client: u32, id: u8) -> KeyRecord {
    KeyRecord {
        no: KeyNo(no),
        id: KeyId([id; 32]),
        client: ClientNo(client),
        mode: Mode::Sandbox,
        public: PublicKey::Ed25519(ED25519_POINT),
        scopes: ScopeSet::CLIENT,
        status: KeyStatus::Active,
        label: None,
        created_at: 0,
        revoked_at: None,
        version: Version::default(),
    }
}

/// A used nonce.
pub fn nonce(hash: u8, expires_at: i64) -> NonceRecord {
    NonceRecord { hash: [hash; 32], expires_at }
}

/// The opening balances of a client that are unused since then.
pub fn allowance(client: u32, since: i64) -> AllowanceRecord {
    AllowanceRecord { client: ClientNo(client), version: 1, since }
}

/// An invitation.
pub fn invitation(hash: u8, expires_at: i64) -> InvitationRecord {
    InvitationRecord { hash: [hash; 32], created_at: 1, expires_at }
}

/// A server.
pub fn node(no: i64, address: Option<&str>) -> NodeRecord {
    let (host, address, version) = ("pay-1".to_owned(), address.map(str::to_owned), "1.2.3".to_owned());
    NodeRecord { no, host, address, version, started_at: 1, seen_at: 5 }
}

/// A deposit of client 1.
pub fn movement(journal: i64, reference: &str) -> MovementRecord {
    MovementRecord {
        journal: SettlementNo(journal),
        client: ClientNo(1),
        reference: Reference::from_stored(reference.to_owned()),
        kind: MovementKind::Deposit,
        mode: Mode::Live,
        currency: currency("EUR"),
        amount: 1_000,
        evidence: "line 7 of the statement of November".to_owned(),
        at: 1_000,
        previous: None,
        terms: None,
    }
}

/// An active operator.
pub fn operator(no: u32, id: u128) -> OperatorRecord {
    OperatorRecord {
        no: OperatorNo(no),
        id: Ulid(id),
        name: "Ada".to_owned(),
        role: OperatorRole::Agent,
        status: OperatorStatus::Active,
        code: Vec::new(),
        invited_by: OperatorNo(0),
        created_at: 1,
        expires_at: 9,
        enrolled_at: Some(5),
        revoked_at: None,
        version: Version::default(),
    }
}

/// An end user of client 1.
pub fn user(no: u32, name: &str) -> UserRecord {
    UserRecord {
        no: UserNo(no),
        client: ClientNo(1),
        mode: Mode::Sandbox,
        name: name.to_owned(),
        status: UserStatus::Active,
        limits: vec![UserLimits {
            currency: currency("EUR"),
            max: Some(9),
            daily_value: None,
            daily_count: Some(1),
            approval_over: Some(0),
        }],
        preferences: String::new(),
        created_at: 1,
        version: Version::default(),
    }
}

/// A device of an end user.
pub fn device(no: u32, id: u128, user: u32) -> DeviceRecord {
    DeviceRecord {
        no: KeyNo(no),
        id: Ulid(id),
        user: UserNo(user),
        label: Some("mine".to_owned()),
        platform: "ios".to_owned(),
        app_version: None,
        model: Some("Phone 9".to_owned()),
        attestation: None,
        created_at: 1,
        revoked_at: None,
        version: Version::default(),
    }
}

/// A code for a device of an end user.
pub fn device_code(n: u8, user: u32, expires_at: i64) -> DeviceCodeRecord {
    DeviceCodeRecord { hash: [n; 32], user: UserNo(user), created_at: 1, expires_at }
}

/// What devices of client 1 measured in an hour.
pub fn quality(metric: &str, begins_at: i64, app_version: &str) -> QualityRecord {
    let mut values = Sketch::default();
    values.add(begins_at);
    QualityRecord {
        client: ClientNo(1),
        mode: Mode::Sandbox,
        metric: metric.to_owned(),
        begins_at,
        unit: QualityUnit::Milliseconds,
        app_version: app_version.to_owned(),
        os: "ios 26".to_owned(),
        network: Network::Wifi,
        provider: ProviderNo(0),
        is_day: false,
        points: 1,
        failures: 0,
        devices: Devices::one(7),
        values,
        version: Version::default(),
    }
}

/// Which points a device reported on a day.
pub fn quality_seen(day: i64, device: u32) -> QualitySeenRecord {
    QualitySeenRecord { day, device: KeyNo(device), ids: vec![7; 8], version: Version::default() }
}

/// A deposit that waits for a second operator.
pub fn approval(no: i64, id: u128) -> ApprovalRecord {
    ApprovalRecord {
        no,
        id: Ulid(id),
        act: OperatorAct::Deposit,
        subject: "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB".to_owned(),
        request: "{}".to_owned(),
        sealed: vec![0, 255],
        replaces: None,
        client: ClientNo(1),
        reason: None,
        asked_by: OperatorNo(1),
        asked_at: 1,
        expires_at: 9,
        status: ApprovalStatus::Pending,
        decided_by: OperatorNo(0),
        decided_at: None,
        comment: None,
        version: Version::default(),
    }
}

/// A reconciliation of a file with this digest.
pub fn reconciliation(no: i64, digest: u8) -> ReconciliationRecord {
    ReconciliationRecord {
        no,
        provider: ProviderNo(1),
        digest: [digest; 32],
        round: 0,
        name: "statement.csv".to_owned(),
        format: StatementFormat::Csv,
        status: ReconciliationStatus::Running,
        by: OperatorNo(0),
        created_at: 5,
        finished_at: None,
        owner: -1,
        until: 9,
        from: Some(1),
        to: None,
        lines: 0,
        skipped: 0,
        by_reference: 1,
        by_key: 2,
        by_amount: 3,
        missing_here: 4,
        missing_there: 5,
        amount_differs: 6,
        duplicate_there: u32::MAX,
        last: SettlementNo(7),
        version: Version::default(),
    }
}

/// A finding about a settlement, or, with 0, about none.
pub fn finding(run: i64, n: i64, settlement: i64) -> FindingRecord {
    let line = StatementLine {
        line: 17,
        direction: Direction::Outgoing,
        amount: 1_050,
        currency: currency("EUR"),
        at: 5,
        whole_day: true,
        references: vec!["R\"1".to_owned()],
        participant: None,
        entry: Some("E".to_owned()),
        text: None,
    };
    FindingRecord {
        run,
        n,
        kind: FindingKind::AmountDiffers,
        settlement: SettlementNo(settlement),
        child: 0,
        matched_by: (settlement > 0).then_some(MatchedBy::RailKey),
        confidence: 100,
        entry: u64::MAX,
        line: (n % 2 > 0).then(|| Box::new(line)),
    }
}

/// A page of what a reconciliation matched.
pub fn matches(run: i64, n: i64) -> MatchesRecord {
    MatchesRecord { run, n, pairs: vec![0, 255, 7] }
}

/// A bundle of a client.
pub fn bundle(no: i64, client: u32, id: u128) -> BundleRecord {
    BundleRecord {
        no,
        id: Ulid(id),
        client: ClientNo(client),
        mode: Mode::Sandbox,
        status: BundleStatus::InReview,
        provider: "acme".to_owned(),
        release: "1.2.0".to_owned(),
        revision: 3,
        digest: [7; 32],
        bytes: 1 << 40,
        steps: 5,
        head: [8; 32],
        submission: 4,
        report: 0,
        sealed: vec![1, 0, 255],
        in_sandbox: true,
        in_live: false,
        publishing: Some(Mode::Live),
        with_routes: true,
        conformance: Some(ConformanceStatus::Running),
        due: None,
        owner: -1,
        tries: 2,
        created_at: 5,
        updated_at: 6,
        version: Version::default(),
    }
}

/// A part of a revision of a bundle.
pub fn bundle_part(bundle: i64, revision: u32, n: u16) -> BundlePartRecord {
    BundlePartRecord {
        bundle,
        revision,
        n,
        name: "contract.pdf".to_owned(),
        digest: [9; 32],
        key: KeyNo(7),
        at: 5,
        content: vec![0, 255, b'%'],
    }
}

/// A step of a bundle.
pub fn bundle_step(bundle: i64, n: u32) -> BundleStepRecord {
    BundleStepRecord {
        bundle,
        n,
        kind: BundleStepKind::ChangesRequested,
        at: 5,
        by: OperatorNo(2).party(),
        key: KeyNo(3),
        revision: 2,
        from: BundleStatus::InReview,
        to: BundleStatus::ChangesRequested,
        comment: (!n.is_multiple_of(2)).then(|| "ü".to_owned()),
        data: None,
    }
}

/// A line that waits to be booked.
pub fn unbooked(no: i64) -> UnbookedRecord {
    let (account, code, journal) = (account_of(1), TransferCode::Payment, SettlementNo(7));
    let line = BookedLine { account, amount: -500, code, journal, transfer: 2, at: 5 };
    UnbookedRecord { no, lines: vec![line, BookedLine { amount: i64::MAX, code: TransferCode::Return, ..line }] }
}

/// A line of the statement of client 1 or another one.
pub fn entry(client: u32, n: i64) -> EntryRecord {
    let (account, code, journal) = (account_of(client), Some(TransferCode::Payment), SettlementNo(7));
    EntryRecord { account, n, at: 5, amount: -500, balance: 500, code, journal, transfer: 2 }
}

/// A change of a provider.
pub fn setup(revision: i64) -> SetupRecord {
    SetupRecord {
        revision,
        subject: SetupSubject::Provider,
        provider: ProviderNo(1),
        at: 1_000,
        document: "{}".to_owned(),
        secrets: vec![1, 2, 3],
        reason: Some("a new contract".to_owned()),
        client: None,
    }
}

/// The counter of client 1's payments in euro on day `day`.
pub fn usage_id(day: i64) -> UsageId {
    UsageId::new(ClientNo(1), Mode::Live, currency("EUR"), day * 86_400_000)
}

/// So much was paid on a day.
pub fn usage(day: i64, value: i64, count: i64) -> UsageRecord {
    UsageRecord { id: usage_id(day), used: Used { value, count } }
}

/// What client 1 brought with it of a day's limits.
pub fn brought(day: i64, value: i64, count: i64) -> BroughtRecord {
    BroughtRecord { id: usage_id(day), used: Used { value, count } }
}

/// A reference that client 1 or another one used at another gateway.
pub fn elsewhere(client: u32, kind: ReferenceKind, reference: &str) -> ElsewhereRecord {
    let (id, url) = ("stl_01M7Z1BC0HKS8HGFZWA1RKHZQE".to_owned(), "https://a.pay.example".to_owned());
    ElsewhereRecord { client: ClientNo(client), kind, reference: reference.to_owned(), id, url }
}

/// A settlement, or its reversal `child`, that waits for a person.
pub fn review(settlement: i64, child: u16, due: i64) -> ReviewRecord {
    ReviewRecord { settlement: SettlementNo(settlement), child, reason: ReviewReason::NoEndForADay, opened_at: 1_000, due }
}

/// A secret of the gateway.
pub fn secret(kind: SecretKind, no: u32) -> SecretRecord {
    SecretRecord { kind, no, sealed: vec![1, 2, 3], public: Vec::new(), created_at: 0, retired_at: None, version: Version::default() }
}

/// An action of client 1 with key 1.
pub fn audit(no: i64) -> AuditRecord {
    AuditRecord {
        no,
        at: 1_000,
        client: ClientNo(1),
        key: KeyNo(1),
        action: AuditAction::CreateSettlement,
        target: 7,
        name: None,
        refused: None,
        detail: None,
        signed_by: None,
    }
}

/// A client with the id `id`.
pub fn client(no: u32, id: u128) -> ClientRecord {
    ClientRecord {
        no: ClientNo(no),
        id: Ulid(id),
        name: format!("client {no}"),
        suspended: false,
        webhook_secret: Vec::new(),
        created_at: 0,
        version: Version::default(),
    }
}

/// A provider with the id `id`.
pub fn provider(no: u16, id: &str) -> ProviderRecord {
    ProviderRecord { no: ProviderNo(no), id: id.to_owned() }
}

/// The faults of a client's sandbox.
pub fn simulator(client: u32, seed: u64) -> SimulatorRecord {
    SimulatorRecord { client: ClientNo(client), rate: 100_000, drop_answer_rate: 1_000_000, latency_ms: 2_000, seed }
}

/// A payment in the simulated operator's books.
pub fn sim_payment(settlement: i64, child: u16) -> SimPaymentRecord {
    SimPaymentRecord {
        settlement: SettlementNo(settlement),
        child,
        provider: ProviderNo(1),
        received: 1,
        received_at: 3_000,
        decided: None,
        code: None,
    }
}

/// A named value.
pub fn meta(name: &str, value: &[u8]) -> MetaRecord {
    MetaRecord { name: name.to_owned(), value: value.to_vec() }
}

/// The effect of one command on a settlement of client 1: its last event is not numbered yet.
pub fn unlogged(no: i64) -> UnloggedRecord {
    let moment = Moment {
        status: SettlementStatus::Accepted,
        needs_review: false,
        provider: ProviderNo(1),
        reversed: 0,
        reversing: 0,
        attempts: 0,
        updated_at: 1_000,
        completed_at: None,
        rail_reference: None,
        failure: None,
    };
    let events = vec![LoggedEvent { kind: EventType::SettlementAccepted, at: 1_000, hash: [2; 32] }];
    let change = LoggedChange {
        settlement: SettlementNo(1),
        client: ClientNo(1),
        mode: Mode::Sandbox,
        user: None,
        version: 1,
        moment: Some(moment),
        events,
    };
    UnloggedRecord { no, changes: vec![change] }
}

/// The first event of `settlement`, at a position in a client's feed.
pub fn feed(client: u32, mode: Mode, position: i64, settlement: i64) -> FeedRecord {
    FeedRecord { client: ClientNo(client), mode, position, settlement: SettlementNo(settlement), n: 1, at: 1_000, leaf: position - 1 }
}

/// A tile of the sandbox's tree, with one entry.
pub fn tile(level: u8, index: i64) -> TileRecord {
    TileRecord { mode: Mode::Sandbox, level, index, entries: vec![4; 32] }
}

/// A log of so many events, none of them live, that no node is appending to.
pub fn log_head(events: i64) -> LogHeadRecord {
    LogHeadRecord { events, owner: 0, until: 0, live: Later(Some(0)) }
}

/// A sandbox endpoint of `client` with the id `id`.
pub fn endpoint(no: u32, client: u32, id: u128) -> EndpointRecord {
    EndpointRecord {
        no: EndpointNo(no),
        id: Ulid(id),
        version: 1,
        client: ClientNo(client),
        mode: Mode::Sandbox,
        status: EndpointStatus::Enabled,
        url: "https://shop.example/hooks".to_owned(),
        topics: None,
        description: None,
        created_at: 1_000,
        updated_at: 1_000,
        push: None,
    }
}

/// A notification of an end user.
pub fn notification(user: u32, n: i64, unread: bool) -> NotificationRecord {
    NotificationRecord {
        user: UserNo(user),
        n,
        kind: NotificationKind::PaymentCompleted,
        settlement: SettlementNo(1),
        at: n,
        unread,
        read_at: (!unread).then_some(9),
        facts: Box::new(NotificationFacts { amount: Some("1.00".to_owned()), ..NotificationFacts::default() }),
    }
}

/// The `n`-th secret of an endpoint.
pub fn endpoint_secret(endpoint: u32, n: u32) -> EndpointSecretRecord {
    EndpointSecretRecord {
        endpoint: EndpointNo(endpoint),
        n,
        sealed: vec![1, 2, 3],
        created_at: 1_000,
        until: None,
        version: Version::default(),
    }
}

/// The queue of an endpoint that responds.
pub fn queue(endpoint: u32, due: Option<i64>) -> QueueRecord {
    QueueRecord { endpoint: EndpointNo(endpoint), version: 1, troubled: false, due, owner: 0, added: None, failing_since: None }
}

/// A delivery that has not been tried yet.
pub fn delivery(no: i64, endpoint: u32, due: Option<i64>) -> DeliveryRecord {
    DeliveryRecord {
        no,
        endpoint: EndpointNo(endpoint),
        message: Ulid(7),
        topic: Topic::Event(EventType::SettlementAccepted),
        cause: DeliveryCause::Event,
        status: DeliveryStatus::Pending,
        attempts: 0,
        due,
        settlement: SettlementNo(1),
        n: 1,
        body: "{}".to_owned(),
        last: None,
    }
}

/// An owner's sandbox account in euro.
pub fn account(owner: Owner) -> AccountId {
    AccountId::new(owner, Mode::Sandbox, currency("EUR"))
}

/// A client's sandbox account in euro.
pub fn account_of(client: u32) -> AccountId {
    account(Owner::Client(ClientNo(client)))
}

/// A transfer that moves money from one account to another at once.
pub fn transfer(journal: i64, n: u16, debit: AccountId, credit: AccountId, amount: i64) -> Transfer {
    let (kind, code) = (TransferKind::Single, TransferCode::Payment);
    Transfer { journal: SettlementNo(journal), n, kind, code, debit, credit, amount, resolves: 0, at: 1_000 }
}

/// A write that funds an account.
pub fn funding(journal: i64, account_id: AccountId, amount: i64) -> Write {
    Write::Post(transfer(journal, 1, account(Owner::Funding), account_id, amount))
}

/// Totals in the order debits pending, debits posted, credits pending, credits posted.
pub fn totals([debits_pending, debits_posted, credits_pending, credits_posted]: [i64; 4]) -> Totals {
    Totals { debits_pending, debits_posted, credits_pending, credits_posted }
}
