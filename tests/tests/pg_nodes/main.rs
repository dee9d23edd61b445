//! Two servers over one PostgreSQL database, under load, while nodes are killed, the database crashes, or a standby takes
//! over: every acknowledged call is durable, nothing is sent twice, and calls that cannot be done are refused.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod conflicts;
mod drain;
mod follower;
mod outage;
mod start;
mod storm;

use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate_tests::nodes::Nodes;
use railgate_tests::postgres::Postgres;

use storm::{CREATES, Storm, assert_sound};

/// Each storm runs alone on the machine.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts load on two nodes over `url` while `disturb` runs, and checks the result.
fn weathered(url: &str, disturb: impl FnOnce(&Storm<'_>, &Nodes)) {
    let nodes = Nodes::start(url, &[]);
    let storm = Storm::over(&nodes);
    let follower = std::thread::scope(|scope| {
        let _ends = Ends(&nodes);
        let follower = scope.spawn(|| storm.follow());
        storm.run(|storm| disturb(storm, &nodes));
        storm.assert_kept();
        assert!(nodes.stop(0) && nodes.stop(1), "graceful ends");
        follower.join().expect("no panics")
    });
    assert_sound(url, &follower);
}

/// Ends the nodes of a story that panicked: otherwise its follower waits for ever, and nobody learns why.
struct Ends<'n>(&'n Nodes);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            [0, 1].into_iter().filter(|node| self.0.is_up(*node)).for_each(|node| self.0.kill(node));
        }
    }
}

#[test]
fn nodes_that_are_killed_lose_nothing_and_send_nothing_twice() {
    let _turn = turn();
    let server = Postgres::quick();
    weathered(&server.url(&server.database()), |storm, nodes| {
        for node in [0, 1].into_iter().cycle() {
            // Requests are in flight on every connection at this moment.
            if !storm.more(CREATES / 14) {
                return;
            }
            nodes.kill(node);
            nodes.restart(node);
        }
    });
}

#[test]
fn a_database_that_crashes_loses_nothing() {
    let _turn = turn();
    let server = Postgres::quick();
    let database = server.database();
    let cut = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'");
    weathered(&server.url(&database), |storm, _| {
        for _ in 0..2 {
            // Single connections break too, during commits.
            for _ in 0..8 {
                assert!(storm.more(CREATES / 40), "the load is over before the crash");
                server.sql("postgres").texts(&cut);
            }
            // It is back before any call times out,
            server.restart("immediate");
        }
        // and once only afterwards.
        assert!(storm.more(CREATES / 5), "the load is over before the crash");
        server.stop("immediate");
        assert!(storm.refused(), "no call was told to retry later");
        server.start_again();
    });
}

#[test]
fn a_standby_that_takes_over_has_what_was_answered() {
    let _turn = turn();
    let primary = Postgres::quick();
    let database = primary.database();
    let standby = primary.standby();
    weathered(&Postgres::url_of_any(&[&primary, &standby], &database), |storm, _| {
        assert!(storm.more(CREATES / 2), "the load is over before the primary");
        primary.stop("immediate");
        assert!(storm.refused(), "no call was told to retry later");
        standby.promote();
    });
}
