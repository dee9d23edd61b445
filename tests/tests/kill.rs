//! Repeated SIGKILL under load: no acknowledged settlement is lost, none is dispatched twice, the ledger balances; no
//! acknowledged reversal is lost, nor its nonce, nor its record in the audit trail.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use railgate::Engine;
use railgate::api::{Caller, Target};
use railgate::engine::verify::verify;
use railgate::ids::{ClientNo, SettlementNo};
use railgate::ledger::Mode;
use railgate::lifecycle::{ReversalStatus, SettlementStatus};
use railgate::store::record::{AuditAction, AuditRecord, ClientRecord, Key, ReversalRecord, SettlementRecord, SimPaymentRecord};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store, typed_all};
use railgate_tests::binary::Server;
use railgate_tests::client::{Account, enroll};
use railgate_tests::rest::run_to_rest;
use sha2::{Digest, Sha256};

const ROUNDS: u64 = 50;
const CONNECTIONS: u64 = 8;
const SCENARIOS: &[&str] =
    &["sim:ok", "sim:ok", "sim:ok", "sim:failover", "sim:timeout-then-ok", "sim:decline-over_limit", "msisdn:+254700000001"];
/// One in this many creates is followed by a reversal: alternately of the same settlement, which has hardly been sent yet, and
/// of one from an earlier round.
const REVERSE_EVERY: u64 = 4;

/// The acknowledged and the attempted operations.
#[derive(Default)]
struct Answered {
    /// Reference and id of every settlement.
    created: HashMap<String, String>,
    /// References of the settlements that were to be reversed, acknowledged or not.
    tried: HashSet<String>,
    reversals: Vec<Reversal>,
}

/// An acknowledged reversal.
struct Reversal {
    reference: String,
    nonce: String,
    status: u16,
    code: String,
}

/// Whether the payment with this reference succeeds at once.
fn pays(reference: &str) -> bool {
    let n: usize = reference.strip_prefix("k-").and_then(|n| n.parse().ok()).expect("a reference of this test");
    SCENARIOS[n % SCENARIOS.len()] == "sim:ok"
}

/// Creates and reverses settlements on one connection until the server is gone; records the acknowledged ones.
fn load(server: &Server, account: &Account, next: &AtomicU64, answered: &Mutex<Answered>, count: &AtomicU64, earlier: &Mutex<Vec<String>>) {
    let Ok(mut client) = account.connect(server.address) else { return };
    loop {
        let n = next.fetch_add(1, Ordering::SeqCst);
        let to = SCENARIOS[(n % SCENARIOS.len() as u64) as usize];
        let reference = format!("k-{n}");
        let body = format!(r#"{{"amount":0.01,"currency":"EUR","to":"{to}","reference":"{reference}"}}"#);
        let Ok(response) = client.send("POST", "/api/v1/gateway/settlements", Some(&body)) else { return };
        assert_eq!(response.status, 201, "{response:?}");
        let id = response.body["id"].as_str().expect("an id").to_owned();
        answered.lock().expect("no panics").created.insert(reference.clone(), id);
        count.fetch_add(1, Ordering::SeqCst);
        if !n.is_multiple_of(REVERSE_EVERY) {
            continue;
        }
        let left = if n.is_multiple_of(2 * REVERSE_EVERY) { None } else { earlier.lock().expect("no panics").pop() };
        let reference = left.unwrap_or(reference);
        answered.lock().expect("no panics").tried.insert(reference.clone());
        let path = format!("/api/v1/gateway/settlements/{reference}/reverse");
        let Ok(response) = client.send("POST", &path, None) else { return };
        assert!(matches!(response.status, 200 | 201 | 409), "{response:?}");
        let code = response.code().to_owned();
        answered.lock().expect("no panics").reversals.push(Reversal { reference, nonce: response.nonce, status: response.status, code });
    }
}

/// Opens the database as the killed server left it.
fn assert_sound(path: &Path, round: u64) -> u64 {
    let store = SqliteStore::open_read_only(path).expect("opening");
    let report = verify(&store, &mut |_| {}).expect("reading");
    assert!(report.is_ok(), "round {round}: {:#?}", report.problems);
    assert_eq!(report.received_twice, 0, "round {round}");
    report.tasks
}

/// Every acknowledged reversal has spent its nonce and is in the audit trail with its result.
fn assert_recorded(path: &Path, reversals: &[Reversal], round: u64) {
    let store = SqliteStore::open_read_only(path).expect("opening");
    let numbers: HashMap<String, SettlementNo> =
        settlements(&store).into_iter().map(|record| (record.reference.as_str().to_owned(), record.no)).collect();
    let audit: Vec<AuditRecord> = typed_all(store.scan(&Scan::after(&Key::Audit(i64::MIN), usize::MAX)).expect("reading")).expect("audit");
    let audit = audit.into_iter().filter(|line| line.action == AuditAction::ReverseSettlement);
    let audit: HashSet<_> = audit.map(|line| (line.target, line.name, line.refused)).collect();
    for reversal in reversals {
        let Reversal { reference, status, code, .. } = reversal;
        let line = match status {
            409 => (0, Some(reference.clone()), Some(code.clone())),
            _ => (numbers[reference].0, None, None),
        };
        assert!(audit.contains(&line), "round {round}: the audit trail lacks the reversal of {reference}, answered {status} {code}");
        let hash = Sha256::digest(&reversal.nonce).into();
        let burnt = store.get(&Key::Nonce(hash)).expect("reading");
        assert!(burnt.is_some(), "round {round}: the nonce of the reversal of {reference}, answered {status} {code}, is not burnt");
    }
}

fn settlements(store: &dyn Store) -> Vec<SettlementRecord> {
    typed_all(store.scan(&Scan::after(&Key::Settlement(SettlementNo(0)), usize::MAX)).expect("reading")).expect("settlements")
}

fn assert_all_there(server: &Server, account: &Account, answered: &HashMap<String, String>) {
    let mut client = account.connect(server.address).expect("connecting");
    for (reference, id) in answered {
        let found = client.send("GET", &format!("/api/v1/gateway/settlements/{reference}"), None).expect("reading");
        assert_eq!((found.status, found.body["id"].as_str()), (200, Some(id.as_str())), "{reference}");
    }
}

/// Brings the database to rest under a clock that runs ahead, and checks the final state of each settlement.
fn assert_rests(path: &Path, answered: &Answered) {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path).expect("opening"));
    let engine = run_to_rest(&store);
    let reversals: HashMap<&str, u16> = answered.reversals.iter().map(|r| (r.reference.as_str(), r.status)).collect();
    for (reference, id) in &answered.created {
        let record = settlement(&*store, &engine, id);
        let declined = record.to.as_str() == "sim:decline-over_limit";
        let undisturbed = if declined { SettlementStatus::Failed } else { SettlementStatus::Completed };
        let made: Vec<ReversalRecord> = typed_all(store.scan(&Scan::reversals(record.no)).expect("reading")).expect("reversals");
        let made: Vec<ReversalStatus> = made.into_iter().map(|reversal| reversal.status).collect();
        let answer = reversals.get(reference.as_str());
        let expected: &[SettlementStatus] = match (answer, &made[..]) {
            (Some(200), []) => &[SettlementStatus::Cancelled],
            (Some(409), []) => &[undisturbed],
            (None, []) if answered.tried.contains(reference) => &[undisturbed, SettlementStatus::Cancelled],
            (None, []) => &[undisturbed],
            (Some(201) | None, [ReversalStatus::Completed]) => &[SettlementStatus::Reversed],
            // The kill came before the operator got the reversal: an inquiry proves that, and the payment remains.
            (Some(201) | None, [ReversalStatus::Failed]) => &[undisturbed],
            _ => panic!("{reference}: reversing it was answered {answer:?}, and there is {made:?}"),
        };
        assert!(expected.contains(&record.status), "{reference} to {}: {:?} and not {expected:?}", record.to.as_str(), record.status);
        let books: Vec<SimPaymentRecord> = typed_all(store.scan(&Scan::sim_payments(record.no)).expect("reading")).expect("payments");
        assert!(books.iter().all(|payment| payment.received == 1), "{reference}: {books:?}");
    }
    drop((engine, store));
    assert_eq!(assert_sound(path, ROUNDS + 2), 0, "tasks are left");
}

fn settlement(store: &dyn Store, engine: &Engine, id: &str) -> SettlementRecord {
    let clients: Vec<ClientRecord> = typed_all(store.scan(&Scan::after(&Key::Client(ClientNo(0)), 1)).expect("reading")).expect("clients");
    let caller = Caller::client(clients[0].no, clients[0].id, Mode::Sandbox);
    engine.settlement(&caller, &Target::parse(id).expect("an id")).expect("the settlement")
}

#[test]
fn fifty_kills_lose_nothing_and_send_nothing_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gateway.db");
    let mut server = Server::start(&path, &[]);
    let account = enroll(server.address);
    let next = AtomicU64::new(0);
    let mut all = Answered::default();
    for round in 1..=ROUNDS {
        // The number of responses before the kill differs between rounds, and so do the operations in flight.
        let (kill_at, count, answered) = (round * 37 % 97 + 1, AtomicU64::new(0), Mutex::<Answered>::default());
        let untouched = all.created.keys().filter(|reference| pays(reference) && !all.tried.contains(*reference));
        let earlier = Mutex::new(untouched.cloned().collect::<Vec<_>>());
        std::thread::scope(|scope| {
            let connections: Vec<_> =
                (0..CONNECTIONS).map(|_| scope.spawn(|| load(&server, &account, &next, &answered, &count, &earlier))).collect();
            while count.load(Ordering::SeqCst) < kill_at {
                assert!(!connections.iter().all(|connection| connection.is_finished()), "the server is gone before it was killed");
                std::thread::yield_now();
            }
            // Requests are in flight on every connection at this moment.
            kill(server.pid());
        });
        server.kill();
        let answered = answered.into_inner().expect("no panics");
        assert!(answered.created.len() as u64 >= kill_at);
        assert_sound(&path, round);
        assert_recorded(&path, &answered.reversals, round);
        server = Server::start(&path, &[]);
        assert_all_there(&server, &account, &answered.created);
        all.created.extend(answered.created);
        all.tried.extend(answered.tried);
        all.reversals.extend(answered.reversals);
    }
    assert_all_there(&server, &account, &all.created);
    assert!(server.stop(), "a graceful end");
    assert_sound(&path, ROUNDS + 1);
    assert_recorded(&path, &all.reversals, ROUNDS + 1);
    let done = |status| all.reversals.iter().any(|reversal| reversal.status == status);
    assert!(done(200) && done(201), "neither cancelling nor reversing was put to the test");
    assert_rests(&path, &all);
}

fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status().expect("kill");
    assert!(status.success());
}
