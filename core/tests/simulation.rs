//! Whole deployments, played from numbers: what must hold holds in each, and in the end the log has every event exactly once.
//!
//! `RAILGATE_SEEDS=n` plays so many, `RAILGATE_STEPS=n` so long; `RAILGATE_SEED=n` plays only that one; `railgate sim --seed n` tells what happens in it.
#![cfg(all(feature = "simulation", feature = "testkit"))]

use crate::support::log::{assert_logged, assert_trees, leaves};
use railgate::simulation::{Part, Plan, Story, play, shrink};

/// How many steps each world has here.
const STEPS: u64 = 600;

fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|number| number.parse().ok())
}

fn run(seed: u64) {
    let steps = given("RAILGATE_STEPS").unwrap_or(STEPS);
    let played = play(&Plan { steps, ..Plan::of(seed) });
    assert_eq!(played.failure, None, "play it again: railgate sim --seed {seed} --steps {steps}");
    let (store, engine) = played.end.unwrap();
    assert_logged(&*store);
    assert_trees(&engine, &*store);
}

#[test]
fn what_must_hold_holds_in_every_world() {
    if let Some(seed) = given("RAILGATE_SEED") {
        return run(seed);
    }
    (1..=given("RAILGATE_SEEDS").unwrap_or(60)).for_each(run);
}

#[test]
fn the_same_seed_is_the_same_world() {
    let tell = || {
        let played = play(&Plan { steps: 400, story: Story::All, ..Plan::of(11) });
        let (store, _) = played.end.unwrap();
        let leaves = [railgate::ledger::Mode::Sandbox, railgate::ledger::Mode::Live].map(|mode| leaves(&*store, mode));
        (played.failure, played.steps, played.commits, played.story, leaves)
    };
    let one = tell();
    assert!(one.3.len() > 100, "it is told what happens");
    assert_eq!(one, tell());
}

#[test]
fn a_standby_that_lacks_acknowledged_commits_is_found_out_and_the_world_is_made_smaller() {
    let plan = |seed| Plan { steps: 1_000, lose_acknowledged: true, ..Plan::of(seed) };
    let failing = (1..=20).map(plan).find(|plan| play(plan).failure.is_some()).expect("money cannot survive it");
    let mut told = 0;
    let smaller = shrink(&failing, 60, &mut |_| told += 1);
    assert!(told > 0 && smaller.steps <= failing.steps);
    assert!(play(&smaller).failure.is_some(), "{smaller} fails too");
    assert!(smaller.without.len() > 3 && !smaller.without.contains(&Part::Store), "{smaller}");
}
