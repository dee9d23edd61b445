//! Payments through adapters that keep books, over networks that fail, on hosts that die: nothing is paid twice, and the gateway says
//! what happened.

use railgate_tests::operators::{ADAPTERS, kill_many, simulate_many};

#[test]
fn whatever_happens_adapters_and_gateway_agree() {
    simulate_many(&ADAPTERS, 1_000);
}

#[test]
fn a_server_that_is_killed_again_and_again_pays_through_adapters_once() {
    kill_many(&ADAPTERS, 25);
}
