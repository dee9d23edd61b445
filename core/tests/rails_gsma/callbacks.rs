//! What operators report on their own initiative.

use railgate::api::{ReversalStatus, SettlementStatus};
use railgate::engine::ReportAnswer;
use railgate::rail::{CallbackError, Carried, HttpRequest, Inbound};
use serde_json::{Value, json};

use super::support::*;

/// Takes a callback at this address as a server does.
fn call_back(world: &World, url: &str, body: &Value) -> Result<u16, CallbackError> {
    let (_, place) = url.split_once("/callbacks/").unwrap();
    receive(world, Some(place), body.to_string().as_bytes())
}

fn receive(world: &World, place: Option<&str>, body: &[u8]) -> Result<u16, CallbackError> {
    let engine = world.gateway.engine();
    let inbound = Inbound { rail_key: None, source: None, headers: &[], body, now: engine.now() };
    let reported = engine.read_callback("one", place, inbound).unwrap()?.unwrap();
    engine.run(ReportAnswer { subject: reported.subject, answer: reported.answer, lease: None }).unwrap();
    Ok(reported.status)
}

/// A payment that the operator took, and the address for its end.
fn taken() -> (World, String) {
    let world = World::set(json!({"partial_reversals": "true"}));
    let operator = Script::new(|request: &HttpRequest| match request.method {
        "POST" => replied(202, state(STATE, "pending")),
        _ => Carried::Lost,
    });
    assert_eq!(world.pay(&operator, 0).status, SettlementStatus::Submitted);
    (world, header(&operator.last("POST"), "x-callback-url").unwrap())
}

#[test]
fn the_end_of_a_payment_is_reported_at_its_address() {
    let (world, url) = taken();
    let paid = ours("P-1", "completed", &world.key());
    assert_eq!(call_back(&world, &url, &paid), Ok(204));
    assert_eq!((world.view().status, world.view().rail_reference.as_deref()), (SettlementStatus::Completed, Some("P-1")));
    let before = world.shop().events("r", 0, 100).unwrap().data.len();
    assert_eq!(call_back(&world, &url, &paid), Ok(204), "a repeated one is taken, and changes nothing");
    assert_eq!(world.shop().events("r", 0, 100).unwrap().data.len(), before);
    assert_eq!(call_back(&world, &url, &ours("P-2", "completed", &world.key())), Err(CallbackError::Malformed), "it was paid as P-1");
}

#[test]
fn a_forged_callback_and_one_about_another_payment_are_rejected() {
    let (world, url) = taken();
    let paid = ours("P-1", "completed", &world.key());
    let body = paid.to_string();
    assert_eq!(receive(&world, None, body.as_bytes()), Err(CallbackError::Unauthenticated), "the common address has no authentic ones");
    let place = url.split_once("/callbacks/").unwrap().1;
    for forged in [world.key().as_str(), &format!("{}.0000", world.key()), &place.replace("-1.", "-2."), &place[..place.len() - 1]] {
        assert_eq!(receive(&world, Some(forged), body.as_bytes()), Err(CallbackError::Unauthenticated), "{forged}");
    }
    for (name, value) in [
        ("amount", json!("10.01")),
        ("currency", json!("KES")),
        ("creditParty", json!([{"key": "msisdn", "value": "+254700000002"}])),
        ("requestingOrganisationTransactionReference", json!("another")),
        ("type", json!("reversal")),
        ("transactionReference", Value::Null),
    ] {
        let mut wrong = paid.clone();
        wrong[name] = value;
        assert_eq!(call_back(&world, &url, &wrong), Err(CallbackError::Malformed), "{name}");
    }
    for unreadable in ["", "{", "[]", "{}", &state(STATE, "completed").to_string(), r#"{"errorCategory": "strange", "errorCode": "odd"}"#] {
        assert_eq!(receive(&world, Some(place), unreadable.as_bytes()), Err(CallbackError::Malformed), "{unreadable}");
    }
    assert_eq!(world.view().status, SettlementStatus::Submitted);
}

#[test]
fn a_failure_is_reported_with_its_reason() {
    for (category, code, status, failure) in [
        ("businessRule", "insufficientFunds", SettlementStatus::Failed, Some("insufficient_funds")),
        ("identification", "identifierError", SettlementStatus::Failed, Some("recipient_not_found")),
        ("internal", "genericError", SettlementStatus::Submitted, None),
        ("businessRule", "duplicateRequest", SettlementStatus::Submitted, None),
    ] {
        let (world, url) = taken();
        assert_eq!(call_back(&world, &url, &json!({"errorCategory": category, "errorCode": code})), Ok(204));
        let view = world.view();
        let found = view.failure.map(|failure| failure.code.as_str().to_owned());
        assert_eq!((view.status, found.as_deref()), (status, failure), "{category} {code}");
    }
}

#[test]
fn a_callback_that_contradicts_the_end_waits_for_a_person() {
    let (world, url) = taken();
    call_back(&world, &url, &ours("P-1", "completed", &world.key())).unwrap();
    call_back(&world, &url, &json!({"errorCategory": "businessRule", "errorCode": "insufficientFunds"})).unwrap();
    assert_eq!((world.view().status, world.view().needs_review), (SettlementStatus::Completed, true), "no money moves");
}

#[test]
fn the_end_of_a_reversal_is_reported_at_its_own_address() {
    let world = World::paid();
    let operator = Script::new(|request: &HttpRequest| match request.method {
        "POST" => replied(202, state(STATE, "pending")),
        _ => Carried::Lost,
    });
    assert_eq!(world.reverse(&operator, 0), ReversalStatus::Submitted);
    let url = header(&operator.last("POST"), "x-callback-url").unwrap();
    let back =
        json!({"type": "reversal", "transactionReference": "B-1", "transactionStatus": "completed", "originalTransactionReference": "P-1"});
    let mut other = back.clone();
    other["originalTransactionReference"] = "P-2".into();
    assert_eq!(call_back(&world, &url, &other), Err(CallbackError::Malformed));
    assert_eq!(call_back(&world, &url, &ours("P-1", "completed", &world.key())), Err(CallbackError::Malformed));
    assert_eq!(call_back(&world, &url, &back), Ok(204));
    assert_eq!(world.shop().reversal("r", "back").unwrap().status, ReversalStatus::Completed);
}
