//! Three PostgreSQL servers under Patroni in synchronous mode lose their primary, under load: it is killed, or it freezes and wakes up after
//! another one has taken its place. One node reaches them by their addresses, the other one through PgBouncer and HAProxy. Nothing that
//! was answered is lost, nothing is paid twice, and nobody has to do anything. `RAILGATE_ROUNDS` is how often each happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use railgate::store::Store;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate_tests::binary::Server;
use railgate_tests::client::Account;
use railgate_tests::kept::{assert_all_there, assert_recorded, assert_rests, assert_sound};
use railgate_tests::load::{Load, rounds};
use railgate_tests::nodes::{Nodes, PUBLIC_URL};
use railgate_tests::patience::until;
use railgate_tests::patroni::Patroni;
use railgate_tests::pgbouncer::PgBouncer;
use railgate_tests::skipped::skipped;

const DATABASE: &str = "gateway";
const CONNECTIONS: usize = 4;
/// How many payments come before a fault, and after each step.
const PAYMENTS: usize = 60;

#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The server and its Patroni are killed, and start again later.
    Killed,
    /// They stop in the middle of what they do, and go on later, as if nothing had happened.
    Frozen,
}

#[test]
fn a_primary_that_is_killed_or_frozen_takes_nothing_with_it() {
    if std::env::var_os("RAILGATE_PATRONI").is_some_and(|patroni| patroni == "none") {
        skipped("PostgreSQL under Patroni, which ./check could not provide here");
        return;
    }
    let mut cluster = Patroni::start();
    cluster.make(DATABASE);
    let bouncer = PgBouncer::pooling_transactions_at(cluster.proxy_port());
    let url = cluster.url(DATABASE);
    let nodes = Nodes::start_over(PUBLIC_URL, [&url, &bouncer.url(DATABASE)], [&[], &[]]);
    let person = Server::operator_code_of(&url, "agent");
    let person = Account::enroll_operator_at(nodes.address(0), Some(PUBLIC_URL), &person).expect("enrolling");
    let load = Load::of(nodes.enroll(), nodes.enroll(), person);
    let going = AtomicBool::new(true);
    std::thread::scope(|scope| {
        let _ends = Ends(&going);
        for n in 0..CONNECTIONS {
            let (load, nodes, going) = (&load, &nodes, &going);
            // A call without an answer is sent to the other node.
            let way = move |tries: usize| going.load(Ordering::SeqCst).then(|| nodes.address((n + tries) % 2));
            match n {
                0 => scope.spawn(move || load.decide(&way)),
                _ => scope.spawn(move || load.pay(&way)),
            };
        }
        for round in 1..=rounds(1) {
            for fault in [Fault::Killed, Fault::Frozen] {
                disturb(&mut cluster, &nodes, &load, fault, round);
            }
        }
    });
    let answered = load.answered();
    for node in [0, 1] {
        assert_all_there(nodes.address(node), &load.account, &answered.created);
    }
    assert!(nodes.stop(0) && nodes.stop(1), "graceful ends");
    let store = open(&url);
    assert_sound(&*store, "in the end");
    assert_rests(&store, &answered);
    assert_recorded(&*store, &answered, "at rest");
    let (operations, decisions) = (answered.operations(), answered.decided.len());
    eprintln!("{operations} operations acknowledged, {decisions} of them decisions about reviews; {} without an answer", answered.unclear);
}

/// Takes the primary away, and waits until everything is as before, without doing anything but what a machine that boots does.
fn disturb(cluster: &mut Patroni, nodes: &Nodes, load: &Load, fault: Fault, round: u64) {
    more(load);
    let lost = cluster.primary().expect("a primary");
    let begun = Instant::now();
    match fault {
        Fault::Killed => cluster.kill(lost),
        Fault::Frozen => cluster.freeze(lost, true),
    }
    until("another server takes its place", || cluster.primary().is_some_and(|primary| primary != lost));
    let replaced = begun.elapsed();
    let paid = [0, 1].map(|node| {
        let reference = format!("after-{fault:?}-{round}-{node}");
        until("the node pays again", || pays(nodes, load, node, &reference));
        begun.elapsed()
    });
    more(load);
    match fault {
        Fault::Killed => cluster.start_again(lost),
        Fault::Frozen => cluster.freeze(lost, false),
    }
    // The one that comes back is there from now on.
    more(load);
    until("all servers are in step", || cluster.is_whole());
    for node in [0, 1] {
        let recent = load.answered().recent.clone();
        assert_all_there(nodes.address(node), &load.account, &recent);
    }
    load.answered().turn_over();
    eprintln!(
        "round {round}: server {lost} was {fault:?}; replaced after {replaced:?}; node 0 (its hosts) paid after {:?}, node 1 (PgBouncer) after \
         {:?}; whole after {:?}",
        paid[0],
        paid[1],
        begun.elapsed()
    );
}

fn more(load: &Load) {
    let enough = load.answered().created.len() + PAYMENTS;
    until("further payments are acknowledged", || load.answered().created.len() >= enough);
}

/// Whether a node takes a payment.
fn pays(nodes: &Nodes, load: &Load, node: usize, reference: &str) -> bool {
    let body = format!(r#"{{"amount":"0.01","currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
    let sent =
        load.account.connect(nodes.address(node)).and_then(|mut client| client.send("POST", "/api/v1/gateway/settlements", Some(&body)));
    sent.is_ok_and(|response| [200, 201].contains(&response.status))
}

fn open(url: &str) -> Arc<dyn Store> {
    Arc::new(PostgresStore::open(url, PostgresOptions::default()).expect("opening"))
}

/// Ends the load of a story that panicked: otherwise it waits for it for ever.
struct Ends<'g>(&'g AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}
