//! Every statement uses an index, according to the server's actual plans for the store, with no rows and with many.

use railgate::auth::KeyId;
use railgate::ids::{ClientNo, EndpointNo, ProviderNo, SettlementNo, Ulid, UserNo};
use railgate::ledger::{AccountId, Mode};
use railgate::lifecycle::{Direction, SettlementStatus};
use railgate::store::conformance::fixtures::*;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::*;
use railgate::store::{Scan, SettlementFilter, Store, Unique, Write};
use railgate_tests::pgbouncer::PgBouncer;
use railgate_tests::postgres::Postgres;

use super::options;

fn fill(store: &dyn Store) {
    let (no, small) = (|n: i64| n + 1, |n: i64| n as u32 + 1);
    for from in (0..3_000).step_by(500) {
        let many = from..from + 500;
        let each = |make: &dyn Fn(i64) -> Record| commit(many.clone().map(|n| insert(make(n))));
        let makers: [&dyn Fn(i64) -> Record; 14] = [
            &|n| settlement(no(n), small(n % 20), &n.to_string()).into(),
            &|n| SettlementRecord { needs_review: true, ..settlement(100_000 + n, small(n % 20), &format!("r{n}")) }.into(),
            &|n| event(no(n), 1).into(),
            &|n| attempt(no(n), 1).into(),
            &|n| reversal(no(n), 1, small(n % 20), Some(&n.to_string())).into(),
            &|n| task(n, 1).into(),
            &|n| idempotency(small(n % 20), &n.to_string(), n).into(),
            &|n| sim_payment(no(n), 1).into(),
            &|n| NonceRecord { hash: hash(n), expires_at: n }.into(),
            &|n| TokenRecord { hash: hash(n), expires_at: n, ..token(1, 5) }.into(),
            &|n| feed(small(n % 20), Mode::Live, n, no(n)).into(),
            &|n| endpoint(small(n), small(n % 600), n as u128).into(),
            &|n| queue(small(n), Some(n)).into(),
            &|n| delivery(n, small(n % 20), Some(n)).into(),
        ];
        makers.iter().for_each(|make| store.commit(&each(*make)).unwrap());
        let makers: [&dyn Fn(i64) -> Record; 15] = [
            &|n| client(small(n), n as u128).into(),
            &|n| KeyRecord { id: KeyId(hash(n)), ..key(small(n), small(n % 600), 1) }.into(),
            &|n| audit(n).into(),
            &|n| endpoint_secret(small(n % 20), small(n)).into(),
            &|n| unlogged(n).into(),
            &|n| allowance(small(n), n).into(),
            &|n| review(no(n), 0, n).into(),
            &|n| InvitationRecord { hash: hash(n), ..invitation(1, n) }.into(),
            &|n| user(small(n), &n.to_string()).into(),
            &|n| device(small(n), n as u128, small(n % 600)).into(),
            &|n| notification(small(n % 600), n, n % 50 == 0).into(),
            &|n| DeviceCodeRecord { hash: hash(n), ..device_code(1, small(n % 600), n) }.into(),
            &|n| SettlementRecord { user: Some(UserNo(small(n % 600))), ..settlement(200_000 + n, 1, &format!("u{n}")) }.into(),
            &|n| QualityRecord { client: ClientNo(small(n % 20)), is_day: n % 3 == 0, ..quality("a", n, "1") }.into(),
            &|n| quality_seen(n, 1).into(),
        ];
        makers.iter().for_each(|make| store.commit(&each(*make)).unwrap());
        store.commit(&commit(many.map(|n| funding(-no(n), account_of(small(n)), 5)))).unwrap();
    }
}

fn hash(n: i64) -> [u8; 32] {
    let mut hash = [7; 32];
    hash[..8].copy_from_slice(&n.to_be_bytes());
    hash
}

/// Runs every list.
fn scans() -> Vec<Scan> {
    let (limit, settlement, client, endpoint) = (9, SettlementNo(5), ClientNo(5), EndpointNo(5));
    let list = |filter, before| Scan::settlements_of(client, &filter, before, limit);
    let plain = SettlementFilter::default;
    vec![
        list(plain(), None),
        list(plain(), Some((5, settlement))),
        list(SettlementFilter { needs_review: Some(true), ..plain() }, Some((5, settlement))),
        list(SettlementFilter { created_from: Some(3), created_to: Some(9), from: Some((4, settlement)), ..plain() }, None),
        Scan::nth_settlement_of(client, &SettlementFilter { created_from: Some(3), ..plain() }, Some((5, settlement)), 4),
        list(SettlementFilter { status: vec![SettlementStatus::Failed], min_amount: Some([5; 5]), ..plain() }, None),
        list(SettlementFilter { reference: Some("5".to_owned()), ..plain() }, Some((5, settlement))),
        list(SettlementFilter { direction: Some(Direction::Incoming), from: Some((4, settlement)), ..plain() }, None),
        list(SettlementFilter { direction: Some(Direction::Outgoing), from: Some((4, settlement)), ..plain() }, None),
        Scan::after(&Key::Settlement(settlement), limit),
        Scan::last(RecordKind::Settlement),
        Scan::last(RecordKind::Transfer),
        Scan::events(settlement, 0, limit),
        Scan::attempts(settlement),
        Scan::reversals(settlement),
        Scan::transfers(settlement),
        Scan::after(&Key::Transfer((settlement, 1)), limit),
        Scan::tasks(TaskKey(5), 99, limit),
        Scan::accounts_of(client),
        Scan::after(&Key::Account(AccountId(5)), limit),
        Scan::after(&Key::Client(client), limit),
        Scan::last(RecordKind::Client),
        Scan::keys_of(client),
        Scan::all(RecordKind::Provider, usize::MAX),
        Scan::all(RecordKind::Secret, usize::MAX),
        Scan::last(RecordKind::LogHead),
        Scan::last(RecordKind::Key),
        Scan::after(&Key::Audit(5), limit),
        Scan::last(RecordKind::Audit),
        Scan::sim_payments(settlement),
        Scan::idempotency_before(99, limit),
        Scan::nonces_expired_before(99, limit),
        Scan::tokens_expired_before(99, limit),
        Scan::allowances_before(99, limit),
        Scan::invitations_expired_before(99, limit),
        Scan::refusals_before(99, limit),
        Scan::expired_before(99, None, limit),
        Scan::expired_before(99, Some((5, settlement)), limit),
        Scan::expired_of(client, Mode::Sandbox, 99, limit),
        Scan::tasks_of(client, TaskKey(5), 99, limit),
        Scan::clocks_since(5, limit),
        Scan::reviews(99, None, limit),
        Scan::reviews(99, Some((5, settlement, 1)), limit),
        Scan::reviews_of(settlement),
        Scan::flagged(limit),
        Scan::all(RecordKind::Unlogged, limit),
        Scan::feed(client, Mode::Live, 5, limit),
        Scan::last_feed(client, Mode::Live),
        Scan::after(&Key::Feed((client, Mode::Live, 5)), limit),
        Scan::after(&Key::Endpoint(endpoint), limit),
        Scan::endpoints_of(client, Mode::Sandbox),
        Scan::last(RecordKind::Endpoint),
        Scan::endpoint_secrets(endpoint),
        Scan::queues(false, 99, limit),
        Scan::queues(true, 99, limit),
        Scan::deliveries_due(endpoint, 99, limit),
        Scan::deliveries_of(endpoint, 999, Some(DeliveryStatus::Failed), limit),
        Scan::deliveries_of(endpoint, 999, None, limit),
        Scan::deliveries_before(99, limit),
        Scan::movements_of(client, "5", limit),
        Scan::users_of(client, Mode::Sandbox, "5", limit),
        Scan::last(RecordKind::User),
        Scan::devices_of(UserNo(5)),
        Scan::device_codes_of(UserNo(5)),
        Scan::device_codes_expired_before(99, limit),
        Scan::notifications_of(UserNo(5), false, 999, limit),
        Scan::notifications_of(UserNo(5), true, i64::MAX, limit),
        Scan::notifications_after(UserNo(5), 9, limit),
        Scan::last_notification(UserNo(5)),
        Scan::nth_notification(UserNo(5), 500),
        Scan::notifications_before(99, limit),
        list(SettlementFilter { user: Some(UserNo(5)), ..plain() }, Some((5, settlement))),
        Scan::settlements_of_user(&SettlementFilter { status: vec![SettlementStatus::Accepted], user: Some(UserNo(5)), ..plain() }, limit),
        Scan::quality(client, Mode::Sandbox, "a", 5, 99, limit),
        Scan::quality_of_all(false, "a", 5, 99, limit),
        Scan::quality_of_all(true, "a", 5, 99, limit),
        Scan::quality_before(false, 99, limit),
        Scan::quality_before(true, 99, limit),
        Scan::quality_seen_before(99, limit),
    ]
}

/// Runs a scan over every table from its first row, and after a key of each shape.
fn walks() -> Vec<Scan> {
    let keys = [
        Key::Provider(ProviderNo(5)),
        Key::Nonce(hash(5)),
        Key::Event((SettlementNo(5), 1)),
        Key::Idempotency((ClientNo(5), "5".to_owned())),
        Key::Secret((SecretKind::Receipt, 1)),
        Key::Meta("5".to_owned()),
        Key::Feed((ClientNo(5), Mode::Live, 5)),
        Key::Tile((Mode::Live, 1, 5)),
        Key::EndpointSecret((EndpointNo(5), 1)),
    ];
    let first = RecordKind::ALL.iter().map(|kind| Scan::all(*kind, 9));
    first.chain(keys.iter().map(|key| Scan::after(key, 9))).collect()
}

fn look_ups() -> Vec<Unique> {
    let client = ClientNo(6);
    vec![
        Unique::SettlementReference(client, "5".parse().unwrap()),
        Unique::ReversalReference(client, "5".to_owned()),
        Unique::ClientId(Ulid(5)),
        Unique::KeyId(KeyId(hash(5))),
        Unique::EndpointId(Ulid(5)),
        Unique::FeedOf(SettlementNo(5), 1),
        Unique::UserName(ClientNo(1), Mode::Sandbox, "5".to_owned()),
        Unique::DeviceId(Ulid(5)),
    ]
}

/// A server that logs the plan of each statement.
const TELLING: &str = "session_preload_libraries = 'auto_explain'\nauto_explain.log_min_duration = 0\nlog_line_prefix = '%a|'\n\
                       fsync = off\nautovacuum = off\n";

/// The plans of the store's statements in the server's log from this offset on, each with its statement.
fn plans(server: &Postgres, from: usize) -> Vec<String> {
    let log = std::fs::read_to_string(server.folder().join("log")).unwrap();
    // Continuation lines of a statement or plan begin with a tab.
    let entries = log[from..].replace("\n\t", "\u{1}");
    let ours = entries.lines().filter(|line| line.starts_with("railgate|") && line.contains("plan:"));
    let plans = ours.filter_map(|line| line.split_once("Query Text: ")).map(|(_, plan)| plan.replace('\u{1}', "\n"));
    plans.filter(|plan| ["pg_backend_pid", "set_config", "BEGIN"].iter().all(|own| !plan.contains(own))).collect()
}

fn log_length(server: &Postgres) -> usize {
    std::fs::metadata(server.folder().join("log")).unwrap().len() as usize
}

fn assert_indexed(plans: &[String]) {
    for plan in plans {
        let (statement, steps) = plan.split_once('\n').unwrap();
        // Merged from scans no longer than the list: only few rows are sorted.
        let merged = statement.contains("UNION ALL") && steps.matches("Index Cond: ((endpoint = $1) AND (status =").count() == 3;
        for wrong in ["Seq Scan", "Sort", "Bitmap", "Hash Join", "Materialize"] {
            assert!(!steps.contains(wrong) || (wrong == "Sort" && merged), "{wrong}:\n{plan}");
        }
        // A full index scan only if the list has no condition or begins at one end.
        let walk =
            ["ORDER BY no DESC LIMIT 1", "ORDER BY k DESC LIMIT 1", "ORDER BY events DESC LIMIT 1", "provider ORDER BY", "secret ORDER BY"];
        let from_the_first = !statement.contains("WHERE") && statement.contains("ORDER BY") && statement.ends_with("LIMIT $1");
        // An index of nothing but what is listed.
        let flagged = statement.contains("WHERE needs_review ORDER BY") && steps.contains("Index Scan using settlement_review");
        let whole = walk.iter().any(|it| statement.contains(it)) || from_the_first || flagged;
        let found = steps.contains("Index Cond") || ["INSERT", "WITH t AS (INSERT"].iter().any(|it| statement.starts_with(it)) || whole;
        assert!(found, "no condition on an index:\n{plan}");
    }
}

#[test]
fn every_statement_is_served_by_an_index_in_its_order() {
    let server = Postgres::start(TELLING);
    every_statement_of(&server, &server.database(), |database| server.url(database));
    let pooler = PgBouncer::pooling_transactions(&server);
    every_statement_of(&server, &server.database(), |database| pooler.url(database));
}

fn every_statement_of(server: &Postgres, database: &str, url: impl Fn(&str) -> String) {
    let store = PostgresStore::open(&url(database), PostgresOptions { readers: 1, writers: 1, ..options() }).unwrap();
    let from = log_length(server);
    fill(&store);
    let filled = plans(server, from);
    assert!(filled.len() >= 120, "{} plans", filled.len());
    assert_indexed(&filled);
    server.sql(database).run("VACUUM ANALYZE");

    let from = log_length(server);
    let again = |n: i64| SettlementRecord { version: 2, ..settlement(n, (n as u32 - 1) % 20 + 1, &(n - 1).to_string()) };
    store.commit(&commit((1..20).map(|n| update(again(n), 1)))).unwrap();
    store.commit(&commit((1..20).map(|n| replace(attempt(n, 1))))).unwrap();
    store.commit(&commit((1..20).map(|n| replace(reversal(n, 1, (n as u32 - 1) % 20 + 1, Some(&(n - 1).to_string())))))).unwrap();
    store.commit(&commit((1..20).map(|n| Write::Delete(Key::Task(task(n, 1).key))))).unwrap();
    store.commit(&commit((1..20).map(|n| Write::Delete(Key::Idempotency((ClientNo(n as u32 % 20 + 1), n.to_string())))))).unwrap();
    let (scans, look_ups) = ([scans(), walks()].concat(), look_ups());
    for scan in &scans {
        store.scan(scan).unwrap();
    }
    for unique in &look_ups {
        assert!(store.find(unique).unwrap().is_some(), "{unique:?}");
    }
    let keys =
        [Key::Settlement(SettlementNo(50)), Key::Event((SettlementNo(5), 1)), Key::Nonce(hash(5)), Key::EndpointSecret((EndpointNo(6), 6))];
    for key in &keys {
        assert!(store.get(key).unwrap().is_some(), "{key:?}");
    }
    let used = plans(server, from);
    assert_eq!(used.len(), 5 + scans.len() + look_ups.len() + keys.len());
    assert_indexed(&used);
}
