//! A server that stands still in the middle of paying, while another one asks what became of the payments.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use railgate::participant::Namespace;
use railgate::rail::{Rails, TLS_AUTHORITIES};
use railgate::route::{ProviderSpec, Serves};
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use serde_json::json;

use super::secured::Secured;
use super::story::{apply, settle};
use super::{Cast, Placed};
use crate::binary::Server;
use crate::client::{Account, Client, new_key};
use crate::nodes::PUBLIC_URL;
use crate::patience::until;
use crate::postgres::Postgres;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

/// A rail on which a payment is frozen.
pub struct Frozen {
    /// Its rail and operator. The operator's word that something does not exist must be proof.
    pub cast: Cast,
    /// Who is paid. No other rail of the same test pays participants of this kind.
    pub payee: &'static str,
    /// How many connections a payment makes, to an operator that has served a heartbeat, before the one by which the money moves.
    pub after: usize,
}

/// Pays with one server over each rail, and freezes it (SIGSTOP) while it connects to send what moves the money. Another server takes the
/// payments over, asks, waits until nothing can be in flight any more, and pays. Then the first one goes on.
///
/// # Panics
/// If it sends anything, or something was paid twice, or is not as the gateway says.
pub fn freeze(rails: Vec<Frozen>) {
    let (folder, postgres) = (tempfile::tempdir().expect("a folder"), Postgres::shared());
    let (store, keys) = (postgres.url(&postgres.database()), folder.path().join("master.keys"));
    let keys_path = keys.display().to_string();
    let start = || Server::over(&store, &["--master-keys", &keys_path, "--public-url", PUBLIC_URL]);
    let operators: Vec<Secured> = rails.iter().map(|rail| Secured::start(&rail.cast, &id_of(rail))).collect();
    let specs: Vec<ProviderSpec> = rails.iter().zip(&operators).map(|(rail, at)| provider(rail, at)).collect();
    start().kill();
    apply(&["--store", &store, "--master-keys", &keys_path], &specs);
    let first = start();
    // The next heartbeats follow half a minute later.
    until("every operator has answered a heartbeat", || operators.iter().all(|operator| operator.answered() > 0));
    let held: Vec<_> = rails.iter().zip(&operators).map(|(rail, operator)| operator.hold(rail.after)).collect();
    let account = Account::enroll(first.address, Some(PUBLIC_URL), new_key()).expect("enrolled");
    let mut client = account.connect(first.address).expect("connected");
    for rail in &rails {
        let body = json!({"amount": 1.25, "currency": "EUR", "to": rail.payee, "reference": id_of(rail)});
        let made = client.send("POST", SETTLEMENTS, Some(&body.to_string())).expect("answered");
        assert_eq!(made.status, 201, "{made:?}");
    }
    held.iter().for_each(super::secured::Held::begun);
    signal(&first, "STOP");
    until("every thread of the first server stands still", || stands_still(&first));
    let stopped = Instant::now();
    held.iter().for_each(super::secured::Held::go_on);
    let second = start();
    let mut other = account.connect(second.address).expect("connected");
    for rail in &rails {
        // A scheme that would have to convert money refuses once it is told to go on.
        until("the second server has paid", || ["completed", "failed"].contains(&status(&mut other, rail).as_str()));
    }
    let stood = stopped.elapsed();
    signal(&first, "CONT");
    for (rail, held) in rails.iter().zip(held) {
        let arrived = held.arrived();
        assert!(arrived.is_none(), "after it stood still for {stood:?}, the server sent over the rail {}: {arrived:?}", id_of(rail));
    }
    let mut client = account.connect(first.address).expect("it goes on");
    let paid: Vec<bool> = rails.iter().map(|rail| status(&mut client, rail) == "completed").collect();
    first.kill();
    second.kill();
    let mut placed: Vec<Placed> = operators.into_iter().map(Secured::stop).collect();
    let database = PostgresStore::open(&store, PostgresOptions::default()).expect("opened");
    settle(Arc::new(database), &keys, Rails::built_in(), specs, &mut placed);
    for ((rail, placed), paid) in rails.iter().zip(&placed).zip(paid) {
        assert_eq!(placed.operator.books().paid.len(), usize::from(paid), "{}", id_of(rail));
    }
}

fn id_of(rail: &Frozen) -> String {
    namespace(rail).as_str().to_owned()
}

fn namespace(rail: &Frozen) -> Namespace {
    rail.payee.parse::<railgate::participant::Participant>().expect("a participant").namespace()
}

fn provider(rail: &Frozen, operator: &Secured) -> ProviderSpec {
    let mut spec = (rail.cast.provider)(&id_of(rail), operator.base_url());
    spec.namespaces = Serves::Only(vec![namespace(rail)]);
    spec.settings.insert(TLS_AUTHORITIES.to_owned(), operator.authority.clone());
    spec
}

fn status(client: &mut Client, rail: &Frozen) -> String {
    let told = client.send("GET", &format!("{SETTLEMENTS}/{}", id_of(rail)), None).expect("answered");
    assert_eq!(told.status, 200, "{told:?}");
    told.body["status"].as_str().expect("a status").to_owned()
}

fn signal(server: &Server, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &server.pid().to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// Whether all its threads have stopped: `kill` returns before those that still wait for a processor have seen the signal.
fn stands_still(server: &Server) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.pid())).expect("it runs");
    threads.flatten().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state follows the name, which is in parentheses and may contain anything.
        stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
    })
}
