//! Money that is given back.

use railgate::api::{ReversalStatus, ReverseRequest, SettlementStatus, Subject};
use railgate::engine::ReportAnswer;
use railgate::rail::gsma::correlation_id;
use railgate::rail::{Carried, HttpRequest, RailAnswer};
use serde_json::{Value, json};

use super::support::*;

fn reversed(request: &HttpRequest, reference: &str, status: &str) -> Value {
    let mut answer = transaction(&sent(request), reference, status);
    answer["originalTransactionReference"] = "P-1".into();
    answer
}

#[test]
fn a_reversal_is_what_the_api_says() {
    let world = World::paid();
    let operator = Script::new(|request: &HttpRequest| replied(201, reversed(request, "B-1", "completed")));
    assert_eq!(world.reverse(&operator, 0), ReversalStatus::Completed);
    let reversal = world.shop().reversal("r", "back").unwrap();
    assert_eq!(reversal.rail_reference.as_deref(), Some("B-1"));
    assert_eq!(operator.paths(), ["POST /transactions/P-1/reversals"]);
    let key = world.key().replace("-1", "-R1");
    let request = operator.last("POST");
    let expected = json!({"type": "reversal", "amount": "2.00", "currency": "EUR", "requestingOrganisationTransactionReference": key});
    assert_eq!(sent(&request), expected);
    assert_eq!(header(&request, "x-correlationid"), Some(correlation_id(&key)));
    assert!(header(&request, "x-callback-url").unwrap().contains(&format!("/callbacks/{key}.")));
    assert_eq!(world.view().status, SettlementStatus::PartiallyReversed);
}

#[test]
fn a_part_goes_back_only_if_the_operator_gives_back_parts() {
    let world = World::new();
    let pays = Script::new(|request: &HttpRequest| replied(201, transaction(&sent(request), "P-1", "completed")));
    world.pay(&pays, 0);
    let part = ReverseRequest { amount: "2".parse().ok(), ..ReverseRequest::default() };
    let refused = world.shop().reverse("r", part).unwrap_err();
    assert_eq!(refused.code, railgate::ErrorCode::ReversalNotSupported);
    let operator = Script::new(|request: &HttpRequest| replied(201, reversed(request, "B-1", "completed")));
    world.shop().reverse("r", ReverseRequest::default()).unwrap();
    world.pass(&operator, 0);
    assert_eq!((world.view().status, sent(&operator.last("POST"))["amount"].clone()), (SettlementStatus::Reversed, json!("10.00")));
}

/// How a reversal stands after this answer to it, while nothing else can be asked.
fn after(answer: impl Fn(&HttpRequest) -> Carried) -> (ReversalStatus, Option<String>) {
    let world = World::paid();
    let operator = Script::new(|request: &HttpRequest| if request.method == "POST" { answer(request) } else { Carried::NotSent });
    let status = world.reverse(&operator, 0);
    (status, world.shop().reversal("r", "back").unwrap().failure.map(|failure| failure.code.as_str().to_owned()))
}

#[test]
fn an_answer_about_another_reversal_proves_nothing() {
    let with = |name: &str, value: Value| {
        after(|request| {
            let mut answer = reversed(request, "B-1", "completed");
            answer[name] = value.clone();
            replied(201, answer)
        })
        .0
    };
    for (name, value) in [
        ("amount", json!("10.00")),
        ("currency", json!("USD")),
        ("type", json!("disbursement")),
        ("type", json!("adjustment")),
        ("originalTransactionReference", json!("P-2")),
        ("requestingOrganisationTransactionReference", json!("another")),
        ("transactionReference", Value::Null),
        ("transactionStatus", json!("reversed")),
    ] {
        assert_eq!(with(name, value.clone()), ReversalStatus::Unknown, "{name} {value}");
    }
    for name in ["amount", "currency", "originalTransactionReference", "requestingOrganisationTransactionReference"] {
        assert_eq!(with(name, Value::Null), ReversalStatus::Completed, "{name}");
    }
}

#[test]
fn a_reversal_is_refused_for_reasons_of_its_own() {
    let refused = |code: &str| (ReversalStatus::Failed, Some(code.to_owned()));
    assert_eq!(after(|_| error(404, "identification", "identifierError")), refused("other"));
    assert_eq!(after(|_| error(400, "businessRule", "incorrectState")), refused("not_allowed"));
    assert_eq!(after(|_| error(400, "businessRule", "insufficientFunds")), refused("insufficient_funds"));
    let unknown = (ReversalStatus::Unknown, None);
    assert_eq!(after(|_| error(400, "businessRule", "duplicateRequest")), unknown);
    assert_eq!(after(|_| error(503, "serviceUnavailable", "genericError")), unknown);
    assert_eq!(after(|_| replied(404, "")), unknown);
    assert_eq!(after(|_| Carried::Lost), unknown);
}

#[test]
fn what_became_of_a_reversal_is_asked_as_for_a_payment() {
    let world = World::paid();
    let key = world.key().replace("-1", "-R1");
    let found = json!({"type": "reversal", "amount": "2.00", "currency": "EUR", "transactionReference": "B-1", "transactionStatus": "completed",
        "originalTransactionReference": "P-1", "requestingOrganisationTransactionReference": key});
    let operator = Script::new(|request: &HttpRequest| match (request.method, &request.url[ONE.len()..]) {
        ("POST", _) => replied(202, state(STATE, "pending")),
        (_, "/transactions/B-1") => replied(200, &found),
        _ => replied(200, completed_as("B-1")),
    });
    assert_eq!(world.reverse(&operator, 0), ReversalStatus::Submitted);
    let reference = world.shop().reversal("r", "back").unwrap().rail_reference;
    assert_eq!(reference, Some(format!("requeststates/{STATE}")));
    world.pass(&operator, 10_000);
    assert_eq!(world.shop().reversal("r", "back").unwrap().status, ReversalStatus::Completed);

    let world = World::paid();
    let lost = Script::new(|request: &HttpRequest| match (request.method, &request.url[ONE.len()..]) {
        ("POST", _) => Carried::Lost,
        (_, "/transactions/P-1") => replied(200, ours("P-1", "completed", &world.key())),
        (_, path) if path == format!("/responses/{}", correlation_id(&key)) => replied(200, json!({"link": "/transactions/P-1"})),
        (_, path) => panic!("{path}"),
    });
    assert_eq!(world.reverse(&lost, 10_000), ReversalStatus::Unknown, "the payment is not its reversal");
}

/// A payment of which only somebody else says that it was paid.
fn paid_without_reference(settings: Value) -> World {
    let world = World::set(settings);
    world.pay(&Script::new(|_: &HttpRequest| Carried::Lost), 0);
    let reported = world.gateway.engine().call_with(&world.key()).unwrap().unwrap();
    assert!(matches!(reported.subject, Subject::Attempt(_, 1)));
    let answer = RailAnswer::Completed { rail_reference: None };
    world.gateway.engine().run(ReportAnswer { subject: reported.subject, answer, lease: None }).unwrap();
    world
}

#[test]
fn the_transaction_to_reverse_is_looked_up_if_its_reference_is_not_known() {
    let ways = [vec!["/transactions/P-1".to_owned()], vec![format!("/requeststates/{STATE}"), "P-1".to_owned()]];
    for way in ways {
        let world = paid_without_reference(json!({}));
        let operator = Script::new(|request: &HttpRequest| match (request.method, &request.url[ONE.len()..]) {
            ("POST", _) => replied(201, reversed(request, "B-1", "completed")),
            (_, path) if path == format!("/responses/{}", world.correlation()) => replied(200, json!({"link": way[0]})),
            _ => replied(200, completed_as(&way[1])),
        });
        world.shop().reverse("r", ReverseRequest::default()).unwrap();
        world.pass(&operator, 0);
        assert_eq!(world.view().status, SettlementStatus::Reversed);
        assert_eq!(operator.paths().last().unwrap(), "POST /transactions/P-1/reversals");
    }
    for (answer, settings) in [(not_found(), json!({})), (Carried::Lost, json!({})), (not_found(), json!({"responses": "false"}))] {
        let world = paid_without_reference(settings);
        let operator = Script::new(|request: &HttpRequest| {
            assert_eq!(request.method, "GET", "nothing is given back of a transaction that is not known");
            answer.clone()
        });
        world.shop().reverse("r", ReverseRequest::default()).unwrap();
        world.pass(&operator, 0);
        let reversals = world.shop().reversals("r").unwrap();
        assert_ne!(reversals[0].status, ReversalStatus::Completed);
    }
}

#[test]
fn that_a_payment_is_reversed_is_news_only_if_the_gateway_did_not_have_it_reversed() {
    let says = |world: &World| {
        let reversed = ours("P-1", "reversed", &world.key());
        let operator = Script::new(move |request: &HttpRequest| match request.url.ends_with("/transactions/P-1") {
            true => replied(200, &reversed),
            false => replied(
                200,
                json!({"type": "reversal", "transactionReference": "B-1", "transactionStatus": "completed",
                "originalTransactionReference": "P-1", "requestingOrganisationTransactionReference": world.key().replace("-1", "-R1")}),
            ),
        });
        world.shop().reconcile_with("r", &operator).unwrap();
        world.view()
    };
    let world = World::paid();
    assert_eq!(says(&world).status, SettlementStatus::Returned);

    let world = World::paid();
    world.reverse(&Script::new(|request: &HttpRequest| replied(201, reversed(request, "B-1", "completed"))), 0);
    let view = says(&world);
    assert_eq!((view.status, view.needs_review), (SettlementStatus::PartiallyReversed, false));
}
