//! The rail `gsma` over operators that keep their own books. Every request, reply and callback is as the published document of the API.

use std::sync::Arc;

use railgate::engine::{Enroll, Heartbeat, Step};
use railgate::env::ManualEnv;
use railgate::ids::ProviderNo;
use railgate::rail::{Carried, PayeeMatch};
use railgate::route::health::Health;
use railgate::store::memory::MemoryStore;
use railgate::{Config, Engine};
use railgate_tests::operators::{Intent, gsma, kill_many, simulate_many};
use railgate_tests::place::Place;

#[test]
fn what_the_gateway_says_is_what_the_operators_did() {
    simulate_many(&gsma::thorough(), 400);
}

#[test]
fn so_it_is_if_they_do_not_find_all_that_they_have() {
    simulate_many(&gsma::forgetful(), 400);
}

#[test]
fn so_it_is_if_they_say_no_more_than_they_must() {
    simulate_many(&gsma::terse(), 400);
}

#[test]
fn a_killed_server_pays_nothing_twice() {
    kill_many(&gsma::thorough(), &Place::sqlite(), 10);
}

#[test]
fn payees_are_checked_and_the_operators_health_is_heard() {
    let cast = gsma::thorough();
    let (env, base_url) = (Arc::new(ManualEnv::new(1_795_257_497_042, 1)), "https://first.example/api");
    let config = Config { providers: vec![(cast.provider)("first", base_url)], rails: (cast.rails)(), ..Config::sandbox() };
    let engine = Engine::open(Arc::new(MemoryStore::new()), env, config).unwrap();
    let caller = engine.run(Enroll { name: "Shop".to_owned(), key: None }).unwrap().caller;
    let mut operator = (cast.operator)("first", base_url);
    for (intent, found) in
        [(Intent::Does, (PayeeMatch::Match, Some("Jane Wanjiru".to_owned()))), (Intent::Refuses, (PayeeMatch::NoMatch, None))]
    {
        operator.intend(intent);
        let body = br#"{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"r"}"#;
        let mut preflight = engine.preflight(&caller, body).unwrap();
        let mut exchange = engine.exchange(preflight.lookup.take().unwrap()).unwrap();
        let payee = loop {
            match exchange.step(&engine) {
                Step::Done(payee) => break payee,
                Step::Send(request) | Step::Token(request) => exchange.heard(&engine, &Carried::Answered(operator.serve(&request, 0))),
            }
        };
        assert_eq!((payee.payee_match, payee.display_name), found);
    }
    let no: ProviderNo = engine.routes().number("first").unwrap();
    let mut exchange = engine.exchange(Heartbeat(no)).unwrap();
    let Step::Send(request) = exchange.step(&engine) else { panic!("it has a token") };
    exchange.heard(&engine, &Carried::Answered(operator.serve(&request, 0)));
    assert!(matches!(exchange.step(&engine), Step::Done(Some(Health::Up))));
}
