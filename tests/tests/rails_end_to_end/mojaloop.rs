//! The rail `mojaloop` over a scheme that keeps its own books. Every request and reply is as the published document of the adapter says.

use std::sync::Arc;

use railgate::engine::{Enroll, Step};
use railgate::env::ManualEnv;
use railgate::rail::{Carried, PayeeMatch};
use railgate::store::memory::MemoryStore;
use railgate::{Config, Engine};
use railgate_tests::operators::{Intent, kill_many, mojaloop, simulate_many};
use railgate_tests::place::Place;

#[test]
fn what_the_gateway_says_is_what_the_scheme_did() {
    simulate_many(&mojaloop::stepwise(), 300);
}

#[test]
fn so_it_is_if_the_scheme_does_not_find_all_that_it_has() {
    simulate_many(&mojaloop::forgetful(), 200);
}

#[test]
fn so_it_is_if_the_adapter_accepts_by_itself() {
    simulate_many(&mojaloop::automatic(), 200);
}

#[test]
fn a_killed_server_pays_nothing_twice() {
    kill_many(&mojaloop::stepwise(), &Place::sqlite(), 10);
}

#[test]
fn a_check_finds_the_payee_or_that_there_is_none() {
    let cast = mojaloop::stepwise();
    let (env, base_url) = (Arc::new(ManualEnv::new(1_795_257_497_042, 1)), "https://first.example/api");
    let config = Config { providers: vec![(cast.provider)("first", base_url)], rails: (cast.rails)(), ..Config::sandbox() };
    let engine = Engine::open(Arc::new(MemoryStore::new()), env, config).unwrap();
    let caller = engine.run(Enroll { name: "Shop".to_owned(), key: None }).unwrap().caller;
    let mut operator = (cast.operator)("first", base_url);
    let name = Some("Jane Wanjiru".to_owned());
    for (intent, found) in [(Intent::Does, (PayeeMatch::Match, name)), (Intent::Refuses, (PayeeMatch::NoMatch, None))] {
        operator.intend(intent);
        let body = br#"{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"r"}"#;
        let mut preflight = engine.preflight(&caller, body).unwrap();
        let mut exchange = engine.exchange(preflight.lookup.take().unwrap()).unwrap();
        let Step::Send(request) = exchange.step(&engine) else { panic!("the scheme is asked") };
        exchange.heard(&engine, &Carried::Answered(operator.serve(&request, 0)));
        let Step::Done(payee) = exchange.step(&engine) else { panic!("it answered") };
        assert_eq!((payee.payee_match, payee.display_name), found);
    }
}
