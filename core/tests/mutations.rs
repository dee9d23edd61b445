//! The simulation can fail: each fault that is built in on purpose is found within a number of worlds.
//!
//! `RAILGATE_MUTATION=name` looks for one alone; `RAILGATE_SEEDS=n` says how many worlds are played for each.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(feature = "mutations")]

use railgate::mutation::{Mutation, with};
use railgate::simulation::{Plan, play};

/// How many steps each world has here.
const STEPS: u64 = 1_500;

/// Within how many worlds each is found.
const WITHIN: u64 = 30;

/// The first seed that finds it, and what it says.
fn found(mutation: Mutation, seeds: u64) -> Option<(u64, String)> {
    (1..=seeds).find_map(|seed| {
        let plan = Plan { steps: STEPS, ..Plan::of(seed) };
        let failure = with(mutation, || play(&plan)).failure?;
        // A world that fails anyway says nothing.
        if play(&plan).failure.is_some() {
            return None;
        }
        Some((seed, format!("step {}: {}", failure.step, failure.said)))
    })
}

#[test]
fn every_fault_is_found() {
    let one = std::env::var("RAILGATE_MUTATION").ok();
    let seeds = std::env::var("RAILGATE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    std::panic::set_hook(Box::new(|_| {}));
    let mut lost = Vec::new();
    let chosen: Vec<&Mutation> = Mutation::ALL.iter().filter(|it| one.as_deref().is_none_or(|one| one == it.as_str())).collect();
    assert!(!chosen.is_empty(), "there is no fault {one:?}");
    for mutation in chosen {
        match found(*mutation, seeds.unwrap_or(WITHIN)) {
            Some((seed, said)) => println!("{:<28} {seed:>4}  {}", mutation.as_str(), said.chars().take(150).collect::<String>()),
            None => lost.push(mutation.as_str()),
        }
    }
    let _ = std::panic::take_hook();
    assert!(lost.is_empty(), "not found: {lost:?}");
}
