//! What a provider can be configured with, payees and heartbeats.

use railgate::engine::Step;
use railgate::rail::gsma::Gsma;
use railgate::rail::{Carried, HttpReply, HttpRequest, Link, PayeeMatch, Rail as _, Rails};
use railgate::route::health::Health;
use railgate::validate::provider::parse_provider;
use serde_json::{Value, json};

use super::support::*;

fn problems(base_url: Option<&str>, settings: Value, secrets: Value) -> Vec<(String, String)> {
    let body =
        json!({"id": "o", "name": "O", "rail": "gsma", "mode": "live", "base_url": base_url, "settings": settings, "secrets": secrets});
    let mut body = body.as_object().unwrap().clone();
    body.retain(|_, value| !value.is_null());
    let parsed = parse_provider(Value::from(body).to_string().as_bytes(), &Rails::built_in());
    let fields = parsed.err().map(railgate::Error::into_fields).unwrap_or_default();
    fields.into_iter().map(|problem| (problem.pointer.to_string(), problem.code.to_string())).collect()
}

#[test]
fn what_is_wrong_about_a_provider_is_said_where_it_is() {
    assert_eq!(problems(Some(ONE), json!({}), json!({})), []);
    assert_eq!(problems(None, json!({}), json!({})), [("/base_url".to_owned(), "required".to_owned())]);
    for (name, value, code) in [
        ("transaction", "deposit", "unknown_value"),
        ("notify", "pigeon", "unknown_value"),
        ("responses", "yes", "unknown_value"),
        ("partial_reversals", "", "unknown_value"),
        ("not_found_is_proof", "TRUE", "unknown_value"),
        ("token_url", "ftp://id.example", "url_malformed"),
        ("token_url", "https://user@id.example", "url_malformed"),
        ("x_client_id", "two words", "invalid_characters"),
        ("x_client_id", "", "invalid_characters"),
        ("callback_sources", "anywhere", "range_malformed"),
        ("tls_authorities", "none", "certificate_malformed"),
        ("colour", "blue", "unknown_field"),
    ] {
        assert_eq!(
            problems(Some(ONE), json!({name: value}), json!({})),
            [(format!("/settings/{name}"), code.to_owned())],
            "{name} {value}"
        );
    }
    assert_eq!(problems(Some(ONE), json!({"a/b~": "c"}), json!({}))[0].0, "/settings/a~1b~0");
    let required = |pointer: &str| [(pointer.to_owned(), "required".to_owned())];
    assert_eq!(problems(Some(ONE), json!({"debit_party": "1"}), json!({})), required("/settings/debit_party_type"));
    assert_eq!(problems(Some(ONE), json!({"debit_party_type": "msisdn"}), json!({})), required("/settings/debit_party"));
    let unknown = problems(Some(ONE), json!({"debit_party_type": "purse", "debit_party": ""}), json!({}));
    assert_eq!(unknown.len(), 2, "{unknown:?}");
    let token = json!({"token_url": "https://id.example/token"});
    assert_eq!(problems(Some(ONE), token.clone(), json!({})), [], "secrets that are left out stay as they are");
    assert_eq!(problems(Some(ONE), token.clone(), json!({"client_id": "us"})), required("/secrets/client_secret"));
    assert_eq!(problems(Some(ONE), token, json!({"client_id": "us", "client_secret": "s", "tls_key": "k", "api_key": "a"})), []);
    assert_eq!(problems(Some(ONE), json!({}), json!({"client_id": "us", "client_secret": "s"})), required("/settings/token_url"));
    let pointers = |found: Vec<(String, String)>| found.into_iter().map(|(pointer, _)| pointer).collect::<Vec<_>>();
    assert_eq!(pointers(problems(Some(ONE), json!({}), json!({"api_key": "a b", "pin": "1"}))), ["/secrets/pin", "/secrets/api_key"]);
}

#[test]
fn settings_say_what_the_provider_supports() {
    let of = |settings| provider("one", settings, json!({})).capabilities;
    let plain = of(json!({}));
    assert_eq!(
        (plain.check_payee, plain.reverse, plain.partial_reverse, plain.inquiry, plain.idempotent_submit),
        (true, true, false, false, true)
    );
    assert!(of(json!({"partial_reversals": "true"})).partial_reverse && !of(json!({"partial_reversals": "false"})).partial_reverse);
    assert!(of(json!({"not_found_is_proof": "true"})).inquiry && !of(json!({"not_found_is_proof": "false"})).inquiry);
    assert!(!Rails::sandbox().kinds().any(|kind| kind == "gsma"), "a page does not contain it");
}

#[test]
fn a_payee_is_checked_by_account_status_and_name() {
    let check = |to: &str, status: Carried, name: Carried| {
        let world = World::new();
        let engine = world.gateway.engine();
        let body = json!({"amount": 10, "currency": "EUR", "to": to, "reference": "r"}).to_string();
        let mut preflight = engine.preflight(&world.client.caller, body.as_bytes()).unwrap();
        let mut exchange = engine.exchange(preflight.lookup.take().unwrap()).unwrap();
        let mut asked = Vec::new();
        loop {
            match exchange.step(engine) {
                Step::Done(payee) => {
                    let view = preflight.answered(payee);
                    return (view.payee.payee_match, view.payee.display_name, asked);
                }
                Step::Token(_) => panic!("no token is wanted"),
                Step::Send(request) => {
                    let answer = if request.url.ends_with("/status") { &status } else { &name };
                    asked.push(format!("{} {}", request.method, &request.url[ONE.len()..]));
                    exchange.heard(engine, answer);
                }
            }
        }
    };
    let status = |status: &str| replied(200, json!({"accountStatus": status}));
    let named = |name: Value| replied(200, json!({"name": name}));
    let full = || named(json!({"title": "Ms", "fullName": "Jane Wanjiru"}));
    let (found, name, asked) = check(PAYEE, status("available"), full());
    assert_eq!((found, name.as_deref()), (PayeeMatch::Match, Some("Jane Wanjiru")));
    assert_eq!(asked, ["GET /accounts/msisdn/%2B254700000001/status", "GET /accounts/msisdn/%2B254700000001/accountname"]);
    let (_, name, _) = check("email:a@b.example", status("available"), named(json!({"firstName": "Jane", "lastName": " Wanjiru "})));
    assert_eq!(name.as_deref(), Some("Jane Wanjiru"));
    let (_, name, _) = check(PAYEE, status("available"), named(json!({"fullName": " ", "nativeName": "ጄን"})));
    assert_eq!(name.as_deref(), Some("ጄን"));

    for nobody in [status("unregistered"), not_found()] {
        assert_eq!(check(PAYEE, nobody.clone(), full()).0, PayeeMatch::NoMatch, "{nobody:?}");
    }
    for unclear in
        [status("unavailable"), status("odd"), replied(404, ""), replied(500, ""), replied(200, ""), Carried::Lost, Carried::NotSent]
    {
        let (found, name, asked) = check(PAYEE, unclear.clone(), full());
        assert_eq!((found, name, asked.len()), (PayeeMatch::NotAvailable, None, 1), "{unclear:?}");
    }
    for unnamed in [named(json!({})), named(Value::Null), not_found(), replied(503, ""), Carried::Lost] {
        assert_eq!(check(PAYEE, status("available"), unnamed.clone()).0, PayeeMatch::NotAvailable, "{unnamed:?}");
    }
    let world = World::new();
    let to_a_device = br#"{"amount":10,"currency":"EUR","to":"device:1","reference":"r"}"#;
    let mut preflight = world.gateway.engine().preflight(&world.client.caller, to_a_device).unwrap();
    if let Some(question) = preflight.lookup.take() {
        let mut exchange = world.gateway.engine().exchange(question).unwrap();
        assert!(matches!(exchange.step(world.gateway.engine()), Step::Done(_)), "nobody is asked about whom the API cannot name");
    }
}

#[test]
fn a_heartbeat_says_how_the_operator_is() {
    let spec = provider("one", json!({"x_client_id": "us"}), json!({"api_key": "k"}));
    let link = Link { provider: &spec, token: None, callback_url: None, asked: None, now: START };
    let request: HttpRequest = Gsma.heartbeat(&link).unwrap();
    assert_eq!((request.method, request.url), ("GET", format!("{ONE}/heartbeat")));
    let heard =
        |status, body: Value| Gsma.decode_heartbeat(&HttpReply { status, headers: Vec::new(), body: body.to_string().into_bytes() });
    assert_eq!(heard(200, json!({"serviceStatus": "available"})), Some(Health::Up));
    assert_eq!(heard(200, json!({"serviceStatus": "degraded", "delay": 100})), Some(Health::Degraded));
    assert_eq!(heard(200, json!({"serviceStatus": "unavailable"})), Some(Health::Down));
    assert_eq!(heard(503, json!({"errorCategory": "serviceUnavailable", "errorCode": "genericError"})), Some(Health::Down));
    for silent in
        [(200, json!({})), (200, json!({"serviceStatus": "fine"})), (500, json!({"serviceStatus": "available"})), (503, json!({}))]
    {
        assert_eq!(heard(silent.0, silent.1.clone()), None, "{silent:?}");
    }
}
