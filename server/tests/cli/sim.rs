//! The simulator on the command line.

use super::support::{World, railgate};

#[test]
fn scenarios_are_listed_and_play_money_is_added() {
    let world = World::enrolled();
    let listed = world.run(&["sim", "scenarios"]).ok().out;
    assert!(listed.contains("sim:timeout-then-ok") && listed.contains("the answer is lost"), "{listed}");
    let funded = world.run(&["sim", "fund", "250.5", "CHF"]).ok().out;
    assert!(funded.contains("CHF") && funded.contains("250.50"), "{funded}");
    let refused = world.run(&["sim", "fund", "-1", "CHF"]).fails(1);
    assert!(refused.err.contains("/amount"), "{}", refused.err);
    assert!(world.run(&["balance", "CHF"]).ok().out.contains("250.50"));
}

#[test]
fn a_payment_is_advanced_to_its_end() {
    let world = World::enrolled();
    world.run(&["settle", "10.50", "EUR", "sim:timeout-never", "--reference", "r-1"]).ok();
    let failed = world.run(&["sim", "advance", "r-1", "failed", "--code", "account_closed"]).ok().out;
    assert!(failed.contains("failed (RJCT)") && failed.contains("account_closed"), "{failed}");
    let refused = world.run(&["sim", "advance", "r-1", "completed"]).fails(1);
    assert!(refused.err.contains("cannot become completed"), "{}", refused.err);
    world.run(&["sim", "advance", "r-1", "paid"]).fails(2);
}

#[test]
fn faults_are_shown_and_replaced() {
    let world = World::enrolled();
    let none = world.run(&["sim", "faults", "--json"]).ok().json();
    assert_eq!(none["rate"], 0);
    let shown = world.run(&["sim", "faults", "--rate", "0.25", "--latency", "1500", "--seed", "7"]).ok().out;
    assert!(shown.contains("0.25") && shown.contains("1500 ms"), "{shown}");
    let replaced = world.run(&["sim", "faults", "--drop-answer-rate", "1", "--json"]).ok().json();
    assert_eq!((&replaced["rate"], &replaced["drop_answer_rate"]), (&0.into(), &1.into()));
    assert_eq!(world.run(&["sim", "faults", "--none", "--json"]).ok().json(), none);
    world.run(&["sim", "faults", "--rate", "2"]).fails(2);
}

#[test]
fn a_sandbox_starts_again() {
    let world = World::enrolled();
    world.run(&["settle", "10.50", "EUR", "sim:pending", "--reference", "r-1"]).ok();
    let reset = world.run(&["sim", "reset"]).ok().out;
    assert!(reset.contains("were ended: 1."), "{reset}");
    assert!(world.run(&["balance", "EUR"]).ok().out.contains("1,000,000.00"));
    assert_eq!(world.run(&["sim", "reset", "--json"]).ok().json()["ended"], 0);
}

#[test]
fn the_clock_is_put_ahead_stopped_and_let_run() {
    let world = World::enrolled();
    world.run(&["settle", "10.50", "EUR", "sim:returned-after-1d", "--reference", "r-1", "--wait", "5"]).ok();
    let ahead = world.run(&["sim", "clock", "--advance", "1d", "--freeze"]).ok().out;
    assert!(ahead.contains("stopped") && !ahead.contains("on its way"), "{ahead}");
    assert!(world.run(&["status", "r-1"]).ok().out.contains("returned"));
    let runs = world.run(&["sim", "clock", "--run", "--json"]).ok().json();
    assert_eq!((&runs["frozen"], &runs["advancing_to"]), (&false.into(), &serde_json::Value::Null));
    assert!(runs["ahead_ms"].as_i64().unwrap() > 86_000_000, "{runs}");
    world.run(&["sim", "clock", "--advance", "1 day"]).fails(2);
    world.run(&["sim", "clock", "--advance", "367d"]).fails(1);
}

#[test]
fn a_deployment_is_played_from_a_number_and_told() {
    let played = railgate(&["sim", "--seed", "7", "--steps", "300"], None).ok().out;
    assert!(played.contains("seed 7: 300 steps") && played.contains("everything holds"), "{played}");
    let told = railgate(&["sim", "--seed", "7", "--steps", "300", "--settlement", "all"], None).ok().out;
    assert!(told.lines().count() > 50, "{told}");
    // What happens to one payment begins with its first event.
    let one = told.split_whitespace().find(|word| word.starts_with("live-")).unwrap().trim_end_matches([':', ',']);
    let story = railgate(&["sim", "--seed", "7", "--steps", "300", "--settlement", one], None).ok().out;
    assert!(story.contains("settlement.accepted") && story.lines().count() < told.lines().count(), "{story}");
    // Several are played on all cores.
    let several = railgate(&["sim", "--seed", "7", "--steps", "2100"], None).ok().out;
    assert!(several.contains("seeds 7 to 8: 2100 steps"), "{several}");
    let misspelt = railgate(&["sim", "--seed", "7", "--without", "crash"], None).fails(2).err;
    assert!(misspelt.contains("crashes"), "{misspelt}");
}

#[test]
fn a_deployment_that_loses_money_fails_and_says_how_to_play_it_again() {
    let plays = |seed: u64| {
        let number = seed.to_string();
        railgate(&["sim", "--seed", &number, "--steps", "600", "--lose-acknowledged"], None)
    };
    let failed = (1..=20).map(plays).find(|run| run.code != Some(0)).unwrap().fails(1);
    assert!(failed.err.contains("made smaller"), "{}", failed.err);
    let (_, again) = failed.err.split_once("play it again: railgate ").unwrap();
    let again: Vec<&str> = again.split_whitespace().collect();
    assert!(again.contains(&"--only") && again.contains(&"--lose-acknowledged"), "{again:?}");
    let smaller = railgate(&again, None).fails(1);
    assert!(smaller.err.contains("of seed"), "{}", smaller.err);
}
