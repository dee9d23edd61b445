//! Repeated SIGKILL under load, with operators that answer late or never, a person who decides, and a webhook: no acknowledged settlement,
//! reversal or decision is lost, nor its nonce, nor its record in the audit trail; none is dispatched twice; the ledger balances; each
//! event arrives. `RAILGATE_ROUNDS` is the number of kills.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use railgate_tests::binary::Server;
use railgate_tests::client::{Account, enroll};
use railgate_tests::kept::{assert_all_there, assert_recorded, assert_rests, assert_sound};
use railgate_tests::load::{Load, rounds};
use railgate_tests::patience::until;
use railgate_tests::place::Place;
use railgate_tests::receiver::{Receiver, assert_taken, assert_true, drain, make_webhook};

/// Each store gets so many kills, then another one takes its place: to look through everything takes longer the more there is.
const ROUNDS_OF_A_STORE: u64 = 50;
/// All of a store is looked through after one in so many kills: what one of them broke stays broken. What was acknowledged since the
/// kill before is looked for after each.
const LOOK_EVERY: u64 = 5;
const CONNECTIONS: u64 = 6;
/// One in so many kills hits the database server as well.
const DATABASE_EVERY: u64 = 5;
/// In this round of each store the kill comes only after a person has decided.
const DECISION_AT: u64 = 20;

#[test]
fn kills_over_sqlite_lose_nothing_and_send_nothing_twice() {
    story(Place::sqlite, rounds(50));
}

#[test]
fn kills_over_postgresql_lose_nothing_and_send_nothing_twice() {
    story(Place::postgres, rounds(25));
}

fn story(place: impl Fn() -> Place, rounds: u64) {
    let (begun, mut operations, mut reviews) = (Instant::now(), 0, 0);
    for first in (1..=rounds).step_by(usize::try_from(ROUNDS_OF_A_STORE).expect("small")) {
        let kills = first..=rounds.min(first + ROUNDS_OF_A_STORE - 1);
        let last = *kills.end();
        let (more, decided) = a_store(&place(), kills);
        operations += more;
        reviews += decided;
        eprintln!("{last} kills, {operations} operations acknowledged, {reviews} of them decisions about reviews, {:?}", begun.elapsed());
    }
    assert!(rounds < ROUNDS_OF_A_STORE || reviews > 0, "nothing waited for a person");
}

/// Kills the server over one store again and again; returns how many operations were acknowledged, and how many were decisions.
fn a_store(place: &Place, kills: std::ops::RangeInclusive<u64>) -> (usize, usize) {
    let receiver = Receiver::start();
    let mut server = place.serve();
    let load = Load::of(enroll(server.address), enroll(server.address), person(place, &server));
    let webhook = make_webhook(&mut load.account.connect(server.address).expect("connecting"), &receiver);
    for round in kills {
        let database = place.database().filter(|_| round.is_multiple_of(DATABASE_EVERY));
        put_load(&load, &server, round);
        server.kill();
        if let Some(database) = database {
            database.restart("immediate");
        }
        if round.is_multiple_of(LOOK_EVERY) {
            let (when, store) = (format!("after kill {round}"), place.read());
            assert_sound(&*store, &when);
            assert_recorded(&*store, &load.answered(), &when);
        }
        server = place.serve();
        assert_all_there(server.address, &load.account, &load.answered().recent);
        load.answered().restarted();
    }
    let feed = drain(server.address, &load.account, &webhook, &receiver, &|| place.read());
    // Events that happen meanwhile are in the feed before they are delivered.
    let arrivals = receiver.seen().arrivals.clone();
    let all = load.account.connect(server.address).and_then(|mut client| client.feed()).expect("the feed");
    assert_true(&arrivals, &all);
    assert_taken(&arrivals, &feed);
    assert!(server.stop(), "a graceful end");
    let answered = load.answered();
    assert_sound(&*place.read(), "after a graceful end");
    let done = |status| answered.reversals.iter().any(|reversal| reversal.status == status);
    assert!(done(200) && done(201), "neither cancelling nor reversing was put to the test");
    assert_rests(&place.open(), &answered);
    assert_recorded(&*place.read(), &answered, "at rest");
    (answered.operations(), answered.decided.len())
}

fn person(place: &Place, server: &Server) -> Account {
    Account::enroll_operator(server.address, &Server::operator_code_of(place.url(), "agent")).expect("enrolling")
}

/// Puts load on the server and kills it after some more payments: their number differs between rounds, and so do the operations in flight.
fn put_load(load: &Load, server: &Server, round: u64) {
    let up = AtomicBool::new(true);
    let way = |_: usize| up.load(Ordering::SeqCst).then_some(server.address);
    std::thread::scope(|scope| {
        scope.spawn(|| load.decide(&way));
        if round % ROUNDS_OF_A_STORE == DECISION_AT {
            let before = load.answered().decided.len();
            until("a person has decided", || load.answered().decided.len() > before);
        }
        let enough = load.answered().created.len() + usize::try_from(round * 37 % 41 + 1).expect("small");
        let paying: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(|| load.pay(&way))).collect();
        let gone = || paying.iter().any(|connection| connection.is_finished());
        assert!(load.wait(|answered| answered.created.len() >= enough, gone), "the server is gone before it was killed");
        // Requests are in flight on every connection at this moment.
        kill(server.pid());
        up.store(false, Ordering::SeqCst);
    });
}

fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status().expect("kill");
    assert!(status.success());
}
