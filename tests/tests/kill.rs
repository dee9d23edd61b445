//! SIGKILL under load, again and again: no answered settlement is lost, none is dispatched twice, the books balance.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use railgate::api::{Caller, Command, Target};
use railgate::engine::verify::verify;
use railgate::env::ManualEnv;
use railgate::ids::ClientNo;
use railgate::ledger::Mode;
use railgate::lifecycle::SettlementStatus;
use railgate::store::record::{ClientRecord, SettlementRecord, SimPaymentRecord};
use railgate::store::sqlite::{SqliteOptions, SqliteStore};
use railgate::store::{Scan, Store, typed_all};
use railgate::{Config, Engine};
use railgate_tests::binary::Server;
use railgate_tests::client::{Client, enroll};

const ROUNDS: u64 = 50;
const CONNECTIONS: u64 = 8;
const SCENARIOS: &[&str] =
    &["sim:ok", "sim:ok", "sim:ok", "sim:failover", "sim:timeout-then-ok", "sim:decline-over_limit", "msisdn:+254700000001"];

/// Reference and id of every settlement that was answered.
type Answered = Mutex<HashMap<String, String>>;

/// Creates settlements on one connection until the server is gone; notes what was answered.
fn load(server: &Server, token: &str, next: &AtomicU64, answered: &Answered, count: &AtomicU64) {
    let Ok(mut client) = Client::connect(server.address, Some(token)) else { return };
    loop {
        let n = next.fetch_add(1, Ordering::SeqCst);
        let to = SCENARIOS[(n % SCENARIOS.len() as u64) as usize];
        let reference = format!("k-{n}");
        let body = format!(r#"{{"amount":0.01,"currency":"EUR","to":"{to}","reference":"{reference}"}}"#);
        let Ok(response) = client.send("POST", "/api/v1/gateway/settlements", Some(&body)) else { return };
        assert_eq!(response.status, 201, "{response:?}");
        let id = response.body["id"].as_str().expect("an id").to_owned();
        answered.lock().expect("no panics").insert(reference, id);
        count.fetch_add(1, Ordering::SeqCst);
    }
}

/// Reads the database as the dead server left it.
fn assert_sound(path: &Path, round: u64) -> u64 {
    let store = SqliteStore::open_read_only(path).expect("opening");
    let report = verify(&store, &mut |_| {}).expect("reading");
    assert!(report.is_ok(), "round {round}: {:#?}", report.problems);
    assert_eq!(report.received_twice, 0, "round {round}");
    report.tasks
}

fn assert_all_there(server: &Server, token: &str, answered: &HashMap<String, String>) {
    let mut client = Client::connect(server.address, Some(token)).expect("connecting");
    for (reference, id) in answered {
        let found = client.send("GET", &format!("/api/v1/gateway/settlements/{reference}"), None).expect("reading");
        assert_eq!((found.status, found.body["id"].as_str()), (200, Some(id.as_str())), "{reference}");
    }
}

/// Lets the database come to rest under a clock that runs ahead, and checks where each settlement ended.
fn assert_rests(path: &Path, answered: &HashMap<String, String>) {
    let store = Arc::new(SqliteStore::open(path, SqliteOptions::default()).expect("opening"));
    let env = Arc::new(ManualEnv::new(i64::MAX >> 22, 1));
    let engine = Engine::open(store.clone(), env.clone(), Config::default()).expect("an engine");
    engine.run(Command::Recover).expect("recovering");
    while let Some(due) = engine.next_due().expect("reading") {
        env.advance_to(due);
        engine.work(1_000).expect("working");
    }
    for (reference, id) in answered {
        let record = settlement(&*store, &engine, id);
        let declined = record.to.as_str() == "sim:decline-over_limit";
        let expected = if declined { SettlementStatus::Failed } else { SettlementStatus::Completed };
        assert_eq!(record.status, expected, "{reference} to {}", record.to.as_str());
        let books: Vec<SimPaymentRecord> = typed_all(store.scan(&Scan::SimPayments(record.no)).expect("reading")).expect("payments");
        assert!(books.iter().all(|payment| payment.received == 1), "{reference}: {books:?}");
    }
    drop((engine, store));
    assert_eq!(assert_sound(path, ROUNDS + 2), 0, "tasks are left");
}

fn settlement(store: &dyn Store, engine: &Engine, id: &str) -> SettlementRecord {
    let clients: Vec<ClientRecord> =
        typed_all(store.scan(&Scan::Clients { after: ClientNo(0), limit: 1 }).expect("reading")).expect("clients");
    let caller = Caller { client: clients[0].no, client_id: clients[0].id, mode: Mode::Sandbox };
    engine.settlement(&caller, &Target::parse(id).expect("an id")).expect("the settlement")
}

#[test]
fn fifty_kills_lose_nothing_and_send_nothing_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gateway.db");
    let mut server = Server::start(&path, &[]);
    let token = enroll(server.address);
    let next = AtomicU64::new(0);
    let mut all = HashMap::new();
    for round in 1..=ROUNDS {
        // How much is answered before the kill differs from round to round, and so does what is under way.
        let (kill_at, count, answered) = (round * 37 % 97 + 1, AtomicU64::new(0), Answered::default());
        std::thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| load(&server, &token, &next, &answered, &count));
            }
            while count.load(Ordering::SeqCst) < kill_at {
                std::thread::yield_now();
            }
            // Requests are in flight on every connection at this moment.
            kill(server.pid());
        });
        server.kill();
        assert_sound(&path, round);
        server = Server::start(&path, &[]);
        let answered = answered.into_inner().expect("no panics");
        assert!(answered.len() as u64 >= kill_at);
        assert_all_there(&server, &token, &answered);
        all.extend(answered);
    }
    assert_all_there(&server, &token, &all);
    assert!(server.stop(), "a graceful end");
    assert_sound(&path, ROUNDS + 1);
    assert_rests(&path, &all);
}

fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status().expect("kill");
    assert!(status.success());
}
