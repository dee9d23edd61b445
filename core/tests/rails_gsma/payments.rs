//! Payments, and what operators answer to them.

use railgate::api::SettlementStatus;
use railgate::rail::gsma::correlation_id;
use railgate::rail::{Carried, HttpRequest};
use serde_json::{Value, json};

use super::support::*;

#[test]
fn a_disbursement_is_what_the_api_says() {
    let world = World::set(json!({"debit_party_type": "accountid", "debit_party": "4711", "x_client_id": "us"}));
    let operator = Script::new(|request: &HttpRequest| replied(201, transaction(&sent(request), "P-1", "completed")));
    let paid = world.pay(&operator, 0);
    assert_eq!((paid.status, paid.rail_reference.as_deref()), (SettlementStatus::Completed, Some("P-1")));
    assert_eq!(operator.paths(), ["POST /transactions/type/disbursement"]);
    let request = operator.last("POST");
    let expected = json!({
        "type": "disbursement", "amount": "10.00", "currency": "EUR", "requestingOrganisationTransactionReference": world.key(),
        "creditParty": [{"key": "msisdn", "value": "+254700000001"}], "debitParty": [{"key": "accountid", "value": "4711"}],
    });
    assert_eq!(sent(&request), expected);
    for (name, value) in [
        ("accept", Some("application/json")),
        ("content-type", Some("application/json")),
        ("x-date", Some("2026-11-21T10:38:17.042Z")),
        ("x-correlationid", Some(world.correlation().as_str())),
        ("x-client-id", Some("us")),
        ("x-api-key", None),
        ("authorization", None),
    ] {
        assert_eq!(header(&request, name).as_deref(), value, "{name}");
    }
    let callback = header(&request, "x-callback-url").unwrap();
    assert!(callback.starts_with(&format!("https://gateway.example/rails/one/callbacks/{}.", world.key())), "{callback}");
    assert!(!request.repeatable, "a payment is never sent twice on its own account");
}

#[test]
fn the_id_of_a_request_follows_from_its_key_and_is_a_uuid_of_version_8() {
    assert_eq!(correlation_id("01KAJX3M7Q5W8ZP9D2R4T6V8YB-1"), "b89f70ac-0d76-8293-81d7-7b8b17a91f42");
    for key in ["", "a", "01KAJX3M7Q5W8ZP9D2R4T6V8YB-2", "01KAJX3M7Q5W8ZP9D2R4T6V8YB-R1"] {
        let id = correlation_id(key);
        let groups: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12], "{id}");
        assert!(id.as_bytes()[14] == b'8' && matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{id}");
        assert_ne!(id, correlation_id("01KAJX3M7Q5W8ZP9D2R4T6V8YB-1"));
    }
}

#[test]
fn settings_choose_the_transaction_and_how_its_end_is_learnt() {
    let world = World::set(json!({"transaction": "transfer", "notify": "polling"}));
    let operator = Script::new(|request: &HttpRequest| replied(200, transaction(&sent(request), "P-1", "Completed")));
    assert_eq!(world.pay(&operator, 0).status, SettlementStatus::Completed);
    assert_eq!(operator.paths(), ["POST /transactions/type/transfer"]);
    let request = operator.last("POST");
    assert_eq!((sent(&request)["type"].as_str(), header(&request, "x-callback-url")), (Some("transfer"), None));
    assert!(sent(&request)["debitParty"].is_null(), "the operator knows whose account pays");
}

#[test]
fn each_participant_has_an_identifier_or_is_refused_before_anything_is_sent() {
    for (to, key, value) in [
        ("iban:DE89370400440532013000", "iban", "DE89370400440532013000"),
        ("acct:47-11", "accountid", "47-11"),
        ("wallet:w1", "walletid", "w1"),
        ("alias:jane", "identityalias", "jane"),
        ("email:jane@example.com", "emailaddress", "jane@example.com"),
        ("business:600100", "organisationid", "600100"),
    ] {
        let world = World::new();
        let operator = Script::new(|request: &HttpRequest| replied(201, transaction(&sent(request), "P-1", "completed")));
        assert_eq!(world.pay_to(to, &operator, 0).status, SettlementStatus::Completed, "{to}");
        assert_eq!(sent(&operator.last("POST"))["creditParty"], json!([{"key": key, "value": value}]));
    }
    for to in ["device:till-1", "sim:ok"] {
        let world = World::new();
        let operator = Script::new(|_: &HttpRequest| unreachable!("nothing is sent"));
        let refused = world.pay_to(to, &operator, 0);
        assert_eq!(refused.failure.unwrap().code.as_str(), "not_allowed", "{to}");
    }
}

/// How a payment stands after this answer to it, while nothing else can be asked.
fn after(answer: impl Fn(&Value) -> Carried) -> (SettlementStatus, Option<String>) {
    let world = World::new();
    let operator = Script::new(|request: &HttpRequest| match request.method {
        "POST" => answer(&sent(request)),
        _ => Carried::NotSent,
    });
    let view = world.pay(&operator, 0);
    (view.status, view.failure.map(|failure| failure.code.as_str().to_owned()))
}

#[test]
fn an_answer_about_another_payment_proves_nothing() {
    let with = |name: &str, value: Value| {
        after(|body| {
            let mut answer = transaction(body, "P-1", "completed");
            answer[name] = value.clone();
            replied(201, answer)
        })
    };
    let unknown = (SettlementStatus::Unknown, None);
    for (name, value) in [
        ("amount", json!("10.01")),
        ("amount", json!(10.0)),
        ("amount", json!("-10.00")),
        ("amount", Value::Null),
        ("currency", json!("KES")),
        ("currency", Value::Null),
        ("type", json!("merchantpay")),
        ("type", json!("reversal")),
        ("type", Value::Null),
        ("creditParty", json!([{"key": "msisdn", "value": "+254700000002"}])),
        ("creditParty", json!([{"key": "walletid", "value": "+254700000001"}])),
        ("creditParty", json!([])),
        ("creditParty", json!("+254700000001")),
        ("requestingOrganisationTransactionReference", json!("01KAJX3M7Q5W8ZP9D2R4T6V8YB-1")),
        ("transactionReference", Value::Null),
        ("transactionReference", json!("")),
        ("transactionReference", json!("..")),
        ("transactionReference", json!("requeststates/1")),
        ("transactionStatus", Value::Null),
        ("transactionStatus", json!("somewhere")),
    ] {
        assert_eq!(with(name, value.clone()), unknown, "{name} {value}");
    }
    let paid = (SettlementStatus::Completed, None);
    for (name, value) in [
        ("amount", json!("10")),
        ("amount", json!("10.0000")),
        ("creditParty", json!([{"key": "accountid", "value": "9"}, {"key": "MSISDN", "value": "254700000001"}])),
        ("creditParty", Value::Null),
        ("requestingOrganisationTransactionReference", Value::Null),
        ("fees", json!([{"feeType": "any", "feeAmount": "1.00", "feeCurrency": "EUR"}])),
    ] {
        assert_eq!(with(name, value.clone()), paid, "{name} {value}");
    }
}

#[test]
fn what_is_not_the_apis_own_answer_proves_nothing() {
    let refused = |code: &str| (SettlementStatus::Failed, Some(code.to_owned()));
    let unknown = (SettlementStatus::Unknown, None);
    let fault = |status| after(move |_| error(status, "businessRule", "insufficientFunds"));
    for status in [400, 401, 403, 404, 409, 422, 429] {
        assert_eq!(fault(status), refused("insufficient_funds"), "{status}");
        assert_eq!(after(|_| replied(status, "<html>proxy</html>")), unknown, "{status}");
        assert_eq!(after(|_| replied(status, "{}")), unknown, "{status}");
        assert_eq!(after(|_| error(status, "internal", "genericError")), unknown, "{status}");
    }
    for status in [200, 201, 202, 204, 301, 307, 408, 500, 502, 503, 504] {
        assert_eq!(fault(status), unknown, "{status}");
    }
    assert_eq!(after(|_| error(400, "businessRule", "somethingNew")), unknown);
    assert_eq!(after(|_| error(400, "somethingNew", "insufficientFunds")), unknown);
    assert_eq!(after(|_| error(400, "BusinessRule", "InsufficientFunds")), refused("insufficient_funds"), "version 1.0 had these names");
    for lost in
        [Carried::Lost, replied(201, ""), replied(201, "{"), replied(202, "{}"), replied(202, state("1", "pending")), replied(204, "")]
    {
        assert_eq!(after(|_| lost.clone()), unknown, "{lost:?}");
    }
    assert_eq!(after(|body| replied(202, transaction(body, "P-1", "completed"))), unknown);
    assert_eq!(after(|body| replied(200, transaction(body, "P-1", "completed").to_string().split_at(99).0)), unknown);
}

#[test]
fn a_request_that_is_being_worked_on_has_no_end_yet_whatever_its_state() {
    for status in ["pending", "completed", "failed"] {
        let taken = after(|_| replied(202, state(STATE, status)));
        assert_eq!(taken, (SettlementStatus::Submitted, None), "{status}");
    }
}

#[test]
fn a_refusal_goes_elsewhere_and_a_doubt_does_not() {
    let pay = |answer: Carried| {
        let world = World::with(vec![provider("one", json!({}), json!({})), provider("two", json!({}), json!({}))]);
        let operator = Script::new(|request: &HttpRequest| match (request.method, request.url.starts_with(ONE)) {
            ("POST", true) => answer.clone(),
            ("POST", false) => replied(201, transaction(&sent(request), "P-2", "completed")),
            _ => Carried::Lost,
        });
        let view = world.pay(&operator, 60_000);
        (view.status, view.provider.to_string(), view.attempts)
    };
    let elsewhere = (SettlementStatus::Completed, "two".to_owned(), 2);
    assert_eq!(pay(error(400, "businessRule", "insufficientFunds")), elsewhere);
    assert_eq!(pay(Carried::NotSent), elsewhere);
    assert_eq!(pay(error(400, "authorisation", "requestDeclined")), (SettlementStatus::Failed, "one".to_owned(), 1));
    for doubt in [Carried::Lost, error(500, "internal", "genericError"), error(400, "businessRule", "duplicateRequest")] {
        assert_eq!(pay(doubt.clone()), (SettlementStatus::Unknown, "one".to_owned(), 1), "{doubt:?}");
    }
}

#[test]
fn an_access_token_is_asked_for_once_and_again_when_the_operator_ends_it() {
    let secrets = json!({"client_id": "us:1", "client_secret": "s&ecret", "api_key": "k"});
    let world = World::with(vec![provider("one", json!({"token_url": "https://id.example/token"}), secrets)]);
    let token = |n: u32| replied(200, json!({"access_token": format!("t{n}"), "token_type": "Bearer", "expires_in": 3_600}));
    let issued = std::sync::atomic::AtomicU32::new(0);
    let valid = std::sync::Mutex::new("Bearer t1");
    let operator = Script::new(|request: &HttpRequest| match request.url.as_str() {
        "https://id.example/token" => token(1 + issued.fetch_add(1, std::sync::atomic::Ordering::SeqCst)),
        _ if header(request, "authorization").as_deref() != Some(*valid.lock().unwrap()) => {
            error(401, "authorisation", "clientAuthorisationError")
        }
        _ => replied(201, transaction(&sent(request), "P-1", "completed")),
    });
    assert_eq!(world.pay(&operator, 0).status, SettlementStatus::Completed);
    let asked = operator.asked.lock().unwrap()[0].clone();
    assert_eq!((asked.method, asked.body.as_slice()), ("POST", b"grant_type=client_credentials".as_slice()));
    // us%3A1:s%26ecret
    assert_eq!(header(&asked, "authorization").as_deref(), Some("Basic dXMlM0ExOnMlMjZlY3JldA=="));
    assert_eq!(header(&operator.last("POST"), "x-api-key").as_deref(), Some("k"));

    let again = |reference: &str| {
        let request = railgate::api::CreateRequest::new("10 EUR".parse().unwrap(), PAYEE.parse().unwrap(), reference.parse().unwrap());
        world.shop().create(request).unwrap();
        world.pass(&operator, 0);
        world.shop().settlement(reference).unwrap().status
    };
    assert_eq!(again("second"), SettlementStatus::Completed);
    assert_eq!(operator.asked.lock().unwrap().len(), 3, "the token is still good");
    *valid.lock().unwrap() = "Bearer t2";
    assert_eq!(again("third"), SettlementStatus::Completed, "the operator ended the token, and a new one lets us in");
    assert_eq!(operator.asked.lock().unwrap().len(), 6);
    *valid.lock().unwrap() = "Bearer nobody";
    assert_eq!(again("fourth"), SettlementStatus::Failed, "it does not let us in at all");
}

#[test]
fn without_an_access_token_nothing_is_sent() {
    for answer in [
        Carried::Lost,
        replied(401, json!({"error": "invalid_client"})),
        replied(200, json!({"token_type": "bearer"})),
        replied(200, json!({"access_token": "", "token_type": "bearer"})),
        replied(200, json!({"access_token": "a\nb", "token_type": "bearer"})),
        replied(200, json!({"access_token": "t", "token_type": "mac"})),
        replied(200, json!({"access_token": "t", "token_type": "bearer", "expires_in": "soon"})),
        replied(500, json!({"access_token": "t", "token_type": "bearer"})),
    ] {
        let secrets = json!({"client_id": "us", "client_secret": "secret"});
        let world = World::with(vec![provider("one", json!({"token_url": "https://id.example/token"}), secrets)]);
        let operator = Script::new(|_: &HttpRequest| answer.clone());
        let view = world.pay(&operator, 0);
        assert_eq!(view.failure.unwrap().code.as_str(), "provider_offline", "{answer:?}");
        assert!(operator.asked.lock().unwrap().iter().all(|it| it.url == "https://id.example/token"));
    }
}
