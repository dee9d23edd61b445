//! Stories over sockets: the real server, killed again and again while it pays through operators on this machine.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use railgate::engine::{Recover, document_of};
use railgate::env::{Env as _, ManualEnv, SystemEnv};
use railgate::rail::{Rails, sandbox_providers};
use railgate::route::ProviderSpec;
use railgate::seal::MasterKeys;
use railgate::store::Store;
use railgate::{Config, Engine};
use serde_json::{Value, json};

use super::truth::{bring_to_rest, compare};
use super::{Cast, IDS, Listening, Placed, from_environment};
use crate::binary::{Server, railgate};
use crate::client::{Account, enroll};
use crate::place::Place;
use crate::port;

const CONNECTIONS: u64 = 4;
/// How many payments are answered between two kills.
const PER_KILL: u64 = 20;
/// One in so many kills hits the database server as well.
const DATABASE_EVERY: u64 = 5;

/// Has the real server make payments through two operators over a network that fails, and kills it with SIGKILL so many times, after each
/// twenty of them; one kill in five ends PostgreSQL, too. Then lets it come to rest and compares. `RAILGATE_KILLS=n` kills it n times.
///
/// # Panics
/// If something was paid twice, or is not as the gateway says.
pub fn kill_many(cast: &Cast, place: &Place, kills: u64) {
    let operators: Vec<Listening> = (1..).zip(IDS).map(|(seed, id)| Listening::start(cast, id, Some(seed))).collect();
    let specs: Vec<ProviderSpec> = IDS.iter().zip(&operators).map(|(id, at)| (cast.provider)(id, at.base_url())).collect();
    let listen = format!("127.0.0.1:{}", port::free());
    let start = || place.serve_with(&["--listen", &listen]);
    place.serve().kill();
    apply(&["--store", place.url(), "--data-dir", &place.home()], &specs);
    let mut server = start();
    let account = enroll(server.address);
    let next = AtomicU64::new(0);
    for round in 1..=from_environment("RAILGATE_KILLS").unwrap_or(kills) {
        if round.is_multiple_of(100) {
            eprintln!("killed {round} times");
        }
        std::thread::scope(|scope| {
            let connections: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(|| load(cast, &server, &account, &next))).collect();
            while next.load(Ordering::SeqCst) < round * PER_KILL {
                assert!(!connections.iter().all(|connection| connection.is_finished()), "the server is gone before it was killed");
                std::thread::yield_now();
            }
            let killed = Command::new("kill").args(["-KILL", &server.pid().to_string()]).status().expect("kill");
            assert!(killed.success());
        });
        server.kill();
        if let Some(database) = place.database().filter(|_| round.is_multiple_of(DATABASE_EVERY)) {
            database.restart("immediate");
        }
        server = start();
    }
    server.kill();
    let mut operators = operators.into_iter().map(Listening::stop).collect();
    settle(place.open(), &place.keys(), (cast.rails)(), specs, &mut operators);
    let paid = operators.iter().map(|placed| placed.operator.books().paid.len()).sum::<usize>();
    assert!(paid > 0, "nothing was paid");
    eprintln!("{} payments asked for, {paid} paid by the operators' books", next.into_inner());
}

/// Starts the real server over the database at `path`, paying through these providers and no others.
///
/// # Panics
/// If they cannot be put into force.
pub fn paying_through(path: &Path, specs: &[ProviderSpec]) -> Server {
    let server = Server::start(path, &[]);
    apply(&["--store", &format!("sqlite:{}", path.display())], specs);
    // It would follow the change within seconds; started again, it has it from the beginning.
    server.kill();
    Server::start(path, &[])
}

/// Has a store that no server uses any more come to rest, and compares.
pub(super) fn settle(store: Arc<dyn Store>, keys: &Path, rails: Rails, providers: Vec<ProviderSpec>, operators: &mut Vec<Placed>) {
    // A clock that runs ahead of whatever the server stored, as one that was never set.
    let env = Arc::new(ManualEnv::new(SystemEnv::default().now() + 60_000, 1));
    let keys = MasterKeys::parse(&std::fs::read_to_string(keys).expect("the file of master keys")).expect("keys");
    let config = Config { providers, rails, master: Some(Arc::new(keys)), ..Config::sandbox() };
    let engine = Engine::open(Arc::clone(&store), env.clone(), config).expect("opened");
    engine.run(Recover).expect("recovered");
    bring_to_rest(&engine, &env, operators);
    compare(&*store, &engine, operators);
}

/// Puts providers into force, and no others, with the command line. `store` are the options that name the store.
pub(super) fn apply(store: &[&str], specs: &[ProviderSpec]) {
    apply_beside(store, specs);
    // Otherwise it pays everybody, and comes first.
    for simulated in sandbox_providers() {
        let mut disable = Command::new(railgate());
        run(disable.args(["providers", "disable", &simulated.id, "--reason", "a test of other operators"]).args(store));
    }
}

fn run(command: &mut Command) {
    let done = command.output().expect("railgate runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Puts providers into force beside the simulated one.
///
/// # Panics
/// If they are refused.
pub fn apply_beside(store: &[&str], specs: &[ProviderSpec]) {
    let folder = tempfile::tempdir().expect("a folder");
    let documents: Vec<Value> = specs
        .iter()
        .map(|spec| {
            let mut document = serde_json::to_value(document_of(spec)).expect("a document");
            document["secrets"] = spec
                .secrets
                .0
                .iter()
                .map(|(name, secret)| (name.clone(), json!(secret.as_str())))
                .collect::<serde_json::Map<_, _>>()
                .into();
            document
        })
        .collect();
    let file = folder.path().join("providers.json");
    std::fs::write(&file, json!({"providers": documents}).to_string()).expect("written");
    run(Command::new(railgate()).args(["providers", "apply", "--yes"]).arg(&file).args(store));
}

/// Creates payments on one connection until the server is gone, and gives some of them back.
fn load(cast: &Cast, server: &Server, account: &Account, next: &AtomicU64) {
    let Ok(mut client) = account.connect(server.address) else { return };
    loop {
        let n = next.fetch_add(1, Ordering::SeqCst);
        let to = cast.payees[usize::try_from(n).unwrap_or(0) % cast.payees.len()];
        let body = json!({"amount": 1.25, "currency": "EUR", "to": to, "reference": format!("k-{n}")}).to_string();
        let Ok(response) = client.send("POST", "/api/v1/gateway/settlements", Some(&body)) else { return };
        assert_eq!(response.status, 201, "{response:?}");
        if n % 5 == 4 {
            let path = format!("/api/v1/gateway/settlements/k-{}/reverse", n - 4);
            if client.send("POST", &path, None).is_err() {
                return;
            }
        }
    }
}
