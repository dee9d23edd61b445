//! The simulator on the command line.

use super::support::World;

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
