//! Payments through adapters that keep books, over networks that fail, on hosts that die: nothing is paid twice, and the gateway says
//! what happened.

use railgate_tests::operators::{ADAPTERS, CARELESS, kill_many, simulate_many};
use railgate_tests::place::Place;

#[test]
fn whatever_happens_adapters_and_gateway_agree() {
    simulate_many(&ADAPTERS, 1_000);
}

#[test]
fn so_they_do_if_what_is_sent_again_is_paid_again() {
    simulate_many(&CARELESS, 500);
}

#[test]
fn a_server_that_is_killed_again_and_again_pays_through_adapters_once() {
    kill_many(&ADAPTERS, &Place::sqlite(), 25);
}

#[test]
fn so_it_does_over_a_postgresql_that_crashes_too() {
    kill_many(&ADAPTERS, &Place::postgres(), 15);
}
