//! What became of a payment: request states, transactions, and what the operator answered when its answer was lost.

use railgate::api::SettlementStatus;
use railgate::rail::{Carried, HttpRequest};
use serde_json::{Value, json};

use super::support::*;

const PAID: SettlementStatus = SettlementStatus::Completed;
const SUBMITTED: SettlementStatus = SettlementStatus::Submitted;
const UNKNOWN: SettlementStatus = SettlementStatus::Unknown;
const FAILED: SettlementStatus = SettlementStatus::Failed;

/// Pays with this first answer; afterwards every question within 10 seconds is answered by `tell`, which knows our key.
fn asked_after(world: &World, first: &Carried, tell: impl Fn(&str, &str) -> Carried) -> (SettlementStatus, Vec<String>) {
    let operator = Script::new(|request: &HttpRequest| match request.method {
        "POST" => first.clone(),
        _ => tell(&request.url[ONE.len()..], &world.key()),
    });
    let view = world.pay(&operator, 10_000);
    let paths = operator.paths();
    (view.status, paths[1..].to_vec())
}

fn taken() -> Carried {
    replied(202, state(STATE, "pending"))
}

#[test]
fn a_request_state_is_polled_and_its_transaction_read() {
    let world = World::new();
    let operator = Script::new(|request: &HttpRequest| match (request.method, &request.url[ONE.len()..]) {
        ("POST", _) => taken(),
        (_, "/transactions/P%2F1") => replied(200, ours("P/1", "completed", &world.key())),
        (_, _) if world.gateway.engine().now() < START + 30_000 => replied(200, state(STATE, "pending")),
        (_, _) => replied(200, completed_as("P/1")),
    });
    let pending = world.pay(&operator, 10_000);
    assert_eq!((pending.status, pending.rail_reference.unwrap()), (SUBMITTED, format!("requeststates/{STATE}")));
    world.pass(&operator, 30_000);
    let paid = world.view();
    assert_eq!((paid.status, paid.rail_reference.as_deref()), (PAID, Some("P/1")));
    let poll = format!("GET /requeststates/{STATE}");
    assert_eq!(operator.paths(), ["POST /transactions/type/disbursement", &poll, &poll, "GET /transactions/P%2F1"]);
    let inquiry = operator.last("GET");
    assert_eq!((header(&inquiry, "x-correlationid"), header(&inquiry, "x-callback-url"), inquiry.repeatable), (None, None, true));
}

#[test]
fn a_failed_request_counts_once_the_operator_says_that_it_was_ours() {
    let failed = json!({"serverCorrelationId": STATE, "status": "failed", "notificationMethod": "polling",
        "error": {"errorCategory": "identification", "errorCode": "identifierError"}});
    let world = World::new();
    let (status, asked) = asked_after(&world, &taken(), |path, _| match path.starts_with("/responses/") {
        true => replied(200, json!({"link": format!("/requeststates/{STATE}")})),
        false => replied(200, &failed),
    });
    assert_eq!(status, FAILED);
    let failure = world.view().failure.unwrap();
    assert_eq!((failure.code.as_str(), failure.rail_code.as_deref()), ("recipient_not_found", Some("identification.identifierError")));
    let poll = format!("GET /requeststates/{STATE}");
    assert_eq!(asked, [&poll, "GET /responses/{id}", &poll]);

    // What was answered first was another request's state.
    let world = World::new();
    let (status, asked) = asked_after(&world, &taken(), |path, key| match path {
        _ if path.starts_with("/responses/") => replied(200, json!({"link": format!("{ONE}/transactions/P-1")})),
        "/transactions/P-1" => replied(200, ours("P-1", "completed", key)),
        _ => replied(200, &failed),
    });
    assert_eq!((status, asked.len()), (PAID, 3));

    // An operator that does not say again what it answered is trusted to have answered us.
    let world = World::set(json!({"responses": "false"}));
    let (status, asked) = asked_after(&world, &taken(), |_, _| replied(200, &failed));
    assert_eq!((status, asked), (FAILED, vec![poll]));
}

#[test]
fn that_a_request_failed_is_proof_whatever_the_operators_reason() {
    for (reason, status, code) in [
        (json!({"errorCategory": "internal", "errorCode": "genericError"}), FAILED, Some("other")),
        (json!({"errorCategory": "serviceUnavailable", "errorCode": "genericError"}), FAILED, Some("other")),
        (json!({"errorCategory": "businessRule", "errorCode": "insufficientFunds"}), FAILED, Some("insufficient_funds")),
        (json!({"errorCategory": "strange"}), FAILED, Some("other")),
        (Value::Null, FAILED, Some("other")),
        (json!({"errorCategory": "businessRule", "errorCode": "duplicateRequest"}), SUBMITTED, None),
    ] {
        let world = World::set(json!({"responses": "false"}));
        let mut failed = state(STATE, "failed");
        failed["error"] = reason.clone();
        let (found, _) = asked_after(&world, &taken(), |_, _| replied(200, &failed));
        let failure = world.view().failure.map(|failure| failure.code.as_str().to_owned());
        assert_eq!((found, failure.as_deref()), (status, code), "{reason}");
    }
}

#[test]
fn a_state_that_is_not_ours_or_says_too_little_ends_nothing() {
    let half = |answer: &Value| {
        let world = World::new();
        let (status, asked) = asked_after(&world, &taken(), |path, _| match path.starts_with("/responses/") {
            true => not_found(),
            false => replied(200, answer),
        });
        assert_eq!(asked.last().unwrap(), "GET /responses/{id}", "{answer}");
        status
    };
    assert_eq!(half(&state(OTHER_STATE, "completed")), SUBMITTED);
    assert_eq!(half(&state(STATE, "completed")), SUBMITTED, "it does not say as what");
    assert_eq!(half(&state(STATE, "lost")), SUBMITTED);
    assert_eq!(half(&json!({})), SUBMITTED);
    for unusable in [replied(500, ""), replied(429, ""), error(401, "authorisation", "genericError"), Carried::Lost] {
        let world = World::new();
        let (status, asked) = asked_after(&world, &taken(), |_, _| unusable.clone());
        assert_eq!((status, asked.len()), (SUBMITTED, 1), "{unusable:?}");
    }
}

#[test]
fn a_transaction_counts_if_it_has_our_key_or_the_operators_record_leads_to_it() {
    let tell = |changed: fn(&mut Value), linked: bool| {
        let world = World::new();
        asked_after(&world, &taken(), move |path, key| {
            let mut found = ours("P-1", "completed", key);
            changed(&mut found);
            match path {
                "/transactions/P-1" => replied(200, found),
                _ if path.starts_with("/responses/") && linked => replied(200, json!({"link": format!("requeststates/{STATE}")})),
                _ if path.starts_with("/responses/") => not_found(),
                _ => replied(200, completed_as("P-1")),
            }
        })
    };
    let unnamed: fn(&mut Value) = |it| it["requestingOrganisationTransactionReference"] = Value::Null;
    assert_eq!(tell(|_| (), false).0, PAID);
    assert_eq!(tell(unnamed, true).0, PAID);
    assert_eq!(tell(unnamed, true).1.len(), 5);
    assert_eq!(tell(unnamed, false).0, SUBMITTED, "another payment of the same amount to the same payee looks like this");
    for wrong in [
        |it: &mut Value| it["amount"] = "9.99".into(),
        |it: &mut Value| it["creditParty"][0]["value"] = "+254700000002".into(),
        |it: &mut Value| it["transactionReference"] = "P-2".into(),
        |it: &mut Value| it["requestingOrganisationTransactionReference"] = "another".into(),
    ] {
        for linked in [true, false] {
            let (status, asked) = tell(wrong, linked);
            assert_eq!(status, SUBMITTED);
            assert!(asked.len() <= 5, "it does not go round in circles: {asked:?}");
        }
    }
}

#[test]
fn a_lost_answer_is_asked_for_again() {
    for link in ["/transactions/P-1".to_owned(), format!("{ONE}/transactions/P-1"), "/v1.2/mm/transactions/P-1".to_owned()] {
        let world = World::new();
        let (status, asked) = asked_after(&world, &Carried::Lost, |path, key| match path {
            "/transactions/P-1" => replied(200, ours("P-1", "completed", key)),
            _ => replied(200, json!({"link": link})),
        });
        assert_eq!((status, asked), (PAID, vec!["GET /responses/{id}".to_owned(), "GET /transactions/P-1".to_owned()]), "{link}");
    }
    let world = World::new();
    let (status, asked) = asked_after(&world, &Carried::Lost, |path, key| match path {
        "/transactions/P-1" => replied(200, ours("P-1", "completed", key)),
        _ if path.starts_with("/responses/") => replied(200, json!({"link": format!("/requeststates/{STATE}")})),
        _ => replied(200, completed_as("P-1")),
    });
    assert_eq!((status, asked.len()), (PAID, 3));
    for (status, found) in
        [("pending", SUBMITTED), ("failed", FAILED), ("EXPIRED", FAILED), ("somewhere", UNKNOWN), ("reversed", SettlementStatus::Returned)]
    {
        let world = World::new();
        let tell = |path: &str, key: &str| match path {
            "/transactions/P-1" => replied(200, ours("P-1", status, key)),
            _ => replied(200, json!({"link": "/transactions/P-1"})),
        };
        assert_eq!(asked_after(&world, &Carried::Lost, tell).0, found, "{status}");
    }
}

#[test]
fn a_link_is_followed_only_below_the_base_address() {
    for link in [
        "https://evil.example/v1.2/mm/transactions/P-1",
        "//evil.example/transactions/P-1",
        "transactions/..%2f..%2fP-1/x",
        "accounts/1",
        "",
    ] {
        let world = World::new();
        let (status, asked) = asked_after(&world, &Carried::Lost, |_, _| replied(200, json!({"link": link})));
        assert_eq!((status, asked), (UNKNOWN, vec!["GET /responses/{id}".to_owned()]), "{link}");
    }
}

#[test]
fn that_a_request_is_not_found_is_proof_only_if_the_operator_says_so() {
    for (settings, answer, end) in [
        (json!({}), not_found(), UNKNOWN),
        (json!({"not_found_is_proof": "true"}), not_found(), FAILED),
        (json!({"not_found_is_proof": "true"}), replied(404, "<html>proxy</html>"), UNKNOWN),
        (json!({"not_found_is_proof": "true"}), error(404, "businessRule", "genericError"), UNKNOWN),
        (json!({"not_found_is_proof": "true"}), error(400, "identification", "identifierError"), UNKNOWN),
        (json!({"not_found_is_proof": "true"}), error(500, "identification", "identifierError"), UNKNOWN),
    ] {
        let world = World::set(settings);
        let operator = Script::new(|request: &HttpRequest| if request.method == "POST" { Carried::Lost } else { answer.clone() });
        let early = world.pay(&operator, 10_000);
        assert_eq!(early.status, UNKNOWN, "it may still be on its way: {answer:?}");
        world.pass(&operator, 3 * 3_600_000);
        assert_eq!(world.view().status, end, "{answer:?}");
    }
    // What the operator had is not lost because it does not find it.
    let world = World::set(json!({"not_found_is_proof": "true"}));
    let operator = Script::new(|request: &HttpRequest| if request.method == "POST" { taken() } else { not_found() });
    world.pay(&operator, 3_600_000);
    assert_eq!((world.view().status, world.view().needs_review), (SUBMITTED, false));
}

#[test]
fn what_provably_never_arrived_is_sent_again_under_the_same_id() {
    let world = World::set(json!({"not_found_is_proof": "true"}));
    let arrived = std::sync::atomic::AtomicU32::new(0);
    let operator = Script::new(|request: &HttpRequest| match request.method {
        "POST" if arrived.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 => Carried::Lost,
        "POST" => replied(201, transaction(&sent(request), "P-1", "completed")),
        _ => not_found(),
    });
    assert_eq!(world.pay(&operator, 3_600_000).status, PAID);
    let asked = operator.asked.lock().unwrap();
    let posts: Vec<&HttpRequest> = asked.iter().filter(|it| it.method == "POST").collect();
    assert_eq!(posts.len(), 2);
    assert_eq!(header(posts[0], "x-correlationid"), header(posts[1], "x-correlationid"));
    assert_eq!(posts[0].body, posts[1].body);
}

#[test]
fn a_lost_refusal_counts_if_it_cannot_be_about_the_question() {
    for (answer, end) in [
        (error(400, "businessRule", "insufficientFunds"), FAILED),
        (error(400, "businessRule", "dailyValueLimitExceeded"), FAILED),
        (error(400, "businessRule", "rateLimitError"), UNKNOWN),
        (error(400, "businessRule", "genericError"), UNKNOWN),
        (error(400, "businessRule", "duplicateRequest"), UNKNOWN),
        (error(400, "validation", "formatError"), UNKNOWN),
        (error(401, "authorisation", "clientAuthorisationError"), UNKNOWN),
        (error(500, "businessRule", "insufficientFunds"), UNKNOWN),
        (error(404, "identification", "identifierError"), UNKNOWN),
    ] {
        let world = World::new();
        assert_eq!(asked_after(&world, &Carried::Lost, |_, _| answer.clone()).0, end, "{answer:?}");
    }
}

#[test]
fn a_duplicate_is_no_refusal_of_the_payment() {
    let world = World::new();
    let (status, _) = asked_after(&world, &error(400, "businessRule", "duplicateRequest"), |path, key| match path {
        "/transactions/P-1" => replied(200, ours("P-1", "completed", key)),
        _ => replied(200, json!({"link": "/transactions/P-1"})),
    });
    assert_eq!(status, PAID);
}

#[test]
fn an_operator_without_responses_is_not_asked_for_them() {
    let world = World::set(json!({"responses": "false"}));
    let (status, asked) = asked_after(&world, &Carried::Lost, |_, _| unreachable!("there is nothing to ask"));
    assert_eq!((status, asked.len()), (UNKNOWN, 0));
}
