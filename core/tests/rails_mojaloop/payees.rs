//! Who a payee is, as the scheme knows it.

use railgate::engine::Step as Taken;
use railgate::rail::{Carried, PayeeMatch};
use serde_json::{Value, json};

use super::world::*;

/// The URL that a check asks, and what it finds.
fn check(to: &str, carried: &Carried) -> (String, PayeeMatch, Option<String>) {
    let world = World::new();
    let engine = world.gateway.engine();
    let body = json!({"amount": 10, "currency": "EUR", "to": to, "reference": "r"}).to_string();
    let mut preflight = engine.preflight(&world.client.caller, body.as_bytes()).unwrap();
    let mut exchange = engine.exchange(preflight.lookup.take().unwrap()).unwrap();
    let Taken::Send(request) = exchange.step(engine) else { panic!("the scheme is asked") };
    assert!(request.method == "GET" && request.headers.contains(&("authorization".to_owned(), "Bearer hush".to_owned())));
    exchange.heard(engine, carried);
    let Taken::Done(payee) = exchange.step(engine) else { panic!("it answered") };
    let view = preflight.answered(payee).payee;
    (request.url, view.payee_match, view.display_name)
}

fn found(id_type: &str, id: &str, more: Value) -> Carried {
    let party = with(&json!({"partyIdInfo": {"partyIdType": id_type, "partyIdentifier": id, "fspId": "theirs"}}), more);
    replied(200, &json!({"currentState": "COMPLETED", "party": {"body": party, "headers": {}}}))
}

#[test]
fn each_kind_of_payee_is_looked_up_as_the_scheme_names_it() {
    let kinds = [
        (PAYEE, "MSISDN", "254700000001", "254700000001"),
        ("iban:DE89370400440532013000", "IBAN", "DE89370400440532013000", "DE89370400440532013000"),
        ("acct:12-34", "ACCOUNT_ID", "12-34", "12-34"),
        ("email:jane@example.com", "EMAIL", "jane@example.com", "jane%40example.com"),
        ("alias:jane.w", "ALIAS", "jane.w", "jane.w"),
        ("alias:..", "ALIAS", "..", "%2E%2E"),
        ("alias:é%", "ALIAS", "é%", "%C3%A9%25"),
        ("business:shoes", "BUSINESS", "shoes", "shoes"),
        ("device:pos_1", "DEVICE", "pos_1", "pos_1"),
    ];
    for (to, id_type, id, in_path) in kinds {
        let (url, payee_match, name) = check(to, &found(id_type, id, json!({"name": "Jane"})));
        assert_eq!(url, format!("https://first.example/out/parties/{id_type}/{in_path}"));
        assert_eq!((payee_match, name.as_deref()), (PayeeMatch::Match, Some("Jane")), "{to}");
        let adapter = Adapter::new(fine);
        assert_eq!(World::new().pay_to(to, &adapter).status.as_str(), "completed");
        let begun: Value = serde_json::from_slice(&adapter.asked.lock().unwrap()[0].body).unwrap();
        assert_eq!(begun["to"], json!({"idType": id_type, "idValue": id}));
    }
}

#[test]
fn a_name_is_shown_as_far_as_the_scheme_tells_it() {
    let named = |more: Value| check(PAYEE, &found("MSISDN", "+254700000001", more));
    let name = |more: Value| {
        let (_, payee_match, name) = named(more);
        assert_eq!(payee_match, PayeeMatch::Match);
        name
    };
    let complex = |names: Value| json!({"personalInfo": {"complexName": names}});
    assert_eq!(name(json!({"name": " Jane "})).as_deref(), Some("Jane"));
    assert_eq!(name(complex(json!({"firstName": "Jane", "middleName": "A.", "lastName": "Wanjiru"}))).as_deref(), Some("Jane A. Wanjiru"));
    assert_eq!(name(complex(json!({"lastName": "Wanjiru"}))).as_deref(), Some("Wanjiru"));
    assert_eq!(name(json!({})), None);
    assert_eq!(name(json!({"name": "x".repeat(129)})), None);
    assert_eq!(name(json!({"name": "a\u{7}b"})), None);
}

#[test]
fn a_payee_is_missing_only_if_the_scheme_says_so() {
    let error = |status: u16, code: &str| replied(status, &json!({"errorInformation": {"errorCode": code, "errorDescription": "?"}}));
    assert_eq!(check(PAYEE, &error(404, "3204")).1, PayeeMatch::NoMatch);
    let unclear = [
        error(404, "3200"),
        error(404, "2003"),
        error(200, "3204"),
        replied(404, &Value::Null),
        replied(500, &json!({})),
        Carried::Lost,
        Carried::NotSent,
        found("MSISDN", "254700000002", json!({"name": "Another"})),
        found("ALIAS", "254700000001", json!({"name": "Another"})),
        replied(200, &json!({"currentState": "ERROR_OCCURRED"})),
        replied(200, &json!({"currentState": "COMPLETED", "party": {}})),
    ];
    for carried in unclear {
        let (_, payee_match, name) = check(PAYEE, &carried);
        assert_eq!((payee_match, name), (PayeeMatch::NotAvailable, None), "{carried:?}");
    }
}

#[test]
fn whom_a_scheme_cannot_know_it_is_not_asked_about() {
    let world = World::new();
    let engine = world.gateway.engine();
    let body = br#"{"amount":10,"currency":"EUR","to":"wallet:w-1","reference":"r"}"#;
    let mut preflight = engine.preflight(&world.client.caller, body).unwrap();
    let mut exchange = engine.exchange(preflight.lookup.take().unwrap()).unwrap();
    let Taken::Done(payee) = exchange.step(engine) else { panic!("nothing is sent") };
    assert_eq!(payee.payee_match, PayeeMatch::NotAvailable);
}
