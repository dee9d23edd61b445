//! The steps of a payment, and what replies to them lead to.

use std::collections::BTreeSet;

use railgate::Config;
use railgate::api::{ReverseRequest, SettlementStatus};
use railgate::engine::Step as Taken;
use railgate::env::Env as _;
use railgate::rail::mojaloop::{Objection, State};
use railgate::rail::{CallbackError, Carried, Inbound};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::world::*;

#[test]
fn a_payment_is_begun_and_accepted_step_by_step() {
    let (world, adapter) = (World::new(), Adapter::new(fine));
    let paid = world.pay(&adapter);
    assert_eq!((paid.status, &*paid.provider), (SettlementStatus::Completed, "first"));
    let asked = adapter.asked.lock().unwrap();
    let id = paid.rail_reference.unwrap();
    let shown: Vec<_> = asked.iter().map(|it| format!("{} {}", it.method, it.url)).collect();
    let about = format!("PUT https://first.example/out/transfers/{id}");
    assert_eq!(shown, ["POST https://first.example/out/transfers", &about, &about]);
    for request in &*asked {
        assert!(request.headers.contains(&("authorization".to_owned(), "Bearer hush".to_owned())));
        assert!(request.headers.contains(&("content-type".to_owned(), "application/json".to_owned())));
        assert!(!request.repeatable, "what was lost is asked about, not sent again");
    }
    let begun: Value = serde_json::from_slice(&asked[0].body).unwrap();
    let key = begun["homeTransactionId"].as_str().unwrap();
    let ulid = paid.id.as_str().strip_prefix("stl_").unwrap();
    assert_eq!(key, format!("{ulid}-1"));
    let note: String = "thanks\n".repeat(20).chars().take(128).collect();
    let wanted = json!({
        "transferId": id, "homeTransactionId": key, "amountType": "RECEIVE", "currency": "EUR", "amount": "10", "note": note,
        "transactionType": "TRANSFER", "to": {"idType": "MSISDN", "idValue": "254700000001"},
        "from": {"idType": "BUSINESS", "idValue": "shop-42", "fspId": "ourbank", "displayName": "Shop 42"},
    });
    assert_eq!(begun, wanted);
    // As the page says: the first half of a digest, with the version and variant of a UUID of version 4.
    let digest = Sha256::digest(format!("railgate-mojaloop-transfer-v1\0{key}"));
    let mut hex: Vec<char> = digest[..16].iter().flat_map(|byte| format!("{byte:02x}").chars().collect::<Vec<_>>()).collect();
    assert!("89ab".contains(&id[19..20]), "{id} is no UUID");
    (hex[12], hex[16]) = ('4', id.chars().nth(19).unwrap());
    [20, 16, 12, 8].into_iter().for_each(|at| hex.insert(at, '-'));
    assert_eq!(id, hex.into_iter().collect::<String>());
}

#[test]
fn amounts_have_no_zeros_at_the_end() {
    for (money, amount) in [("10.50 EUR", "10.5"), ("0.05 EUR", "0.05"), ("100 JPY", "100"), ("1.250 KWD", "1.25"), ("200.00 EUR", "200")] {
        let (world, adapter) = (World::new(), Adapter::new(fine));
        let request = railgate::api::CreateRequest::new(money.parse().unwrap(), PAYEE.parse().unwrap(), "r".parse().unwrap());
        world.shop().create(request).unwrap();
        world.pass(&adapter, 0);
        let begun: Value = serde_json::from_slice(&adapter.asked.lock().unwrap()[0].body).unwrap();
        assert_eq!((&begun["amount"], begun.get("note")), (&json!(amount), None));
    }
}

#[test]
fn an_adapter_that_accepts_by_itself_is_taken_at_its_word() {
    let at_once = but(BEGIN, |transfer| completed(transfer, "COMMITTED"));
    assert_eq!(World::new().pay(&at_once).status, SettlementStatus::Completed);
    assert_eq!(at_once.steps(), [BEGIN]);
    let party = but(BEGIN, |transfer| quoted(transfer, adds(0)));
    assert_eq!(World::new().pay(&party).status, SettlementStatus::Completed);
    assert_eq!(party.steps(), [BEGIN, ACCEPT_QUOTE]);
    let quote = but(ACCEPT_PARTY, |transfer| completed(transfer, "COMMITTED"));
    assert_eq!(World::new().pay(&quote).status, SettlementStatus::Completed);
    assert_eq!(quote.steps(), [BEGIN, ACCEPT_PARTY]);
}

#[test]
fn what_the_scheme_has_done_is_what_counts() {
    let ends =
        |step| ["COMMITTED", "RESERVED", "RECEIVED", "ABORTED", "?"].map(|state| end_but(step, |transfer| completed(transfer, state)));
    let taken = (SettlementStatus::Submitted, None, None);
    for step in [BEGIN, ACCEPT_PARTY, ACCEPT_QUOTE] {
        let paid = (SettlementStatus::Completed, None, None);
        assert_eq!(ends(step), [paid, taken.clone(), taken.clone(), refused("other", "ABORTED"), unknown()], "{step}");
    }
    assert_eq!(end_but(ACCEPT_QUOTE, |transfer| at("COMPLETED", transfer)), unknown(), "half an answer");
}

#[test]
fn a_quote_is_accepted_if_it_adds_no_more_than_the_client_pays() {
    let quote = |settings: Value, quote: Value| {
        let adapter = but(ACCEPT_PARTY, move |transfer| quoted(transfer, quote.clone()));
        let ended = end(&World::with(settings).pay(&adapter));
        let told = adapter.steps();
        // The other provider is tried, and its quote is no better.
        (ended, told.len(), told.last().unwrap().clone())
    };
    let receives = |amount: &str| with(&adds(0), json!({"payeeReceiveAmount": {"currency": "EUR", "amount": amount}}));
    let good = [json!({"transferAmount": {"currency": "EUR", "amount": "10.3"}}), adds(0), adds(1), receives("10"), receives("10.01")];
    let less = json!({"transferAmount": {"currency": "EUR", "amount": "9.9999"}});
    for accepted in good.into_iter().chain([less]) {
        let paid = ((SettlementStatus::Completed, None, None), 3, ACCEPT_QUOTE.to_owned());
        assert_eq!(quote(json!({}), accepted.clone()), paid, "{accepted}");
    }
    let in_dollars = json!({"currency": "USD", "amount": "10"});
    let refusals = [
        (adds(31), "over_limit", Objection::Fee),
        (json!({"transferAmount": {"currency": "EUR", "amount": "10.3001"}}), "over_limit", Objection::Fee),
        (receives("9.99"), "invalid_amount", Objection::Amount),
        (with(&adds(0), json!({"payeeReceiveAmount": in_dollars})), "invalid_amount", Objection::Amount),
        (json!({"transferAmount": in_dollars}), "not_allowed", Objection::Currency),
        (json!({"transferAmount": {"currency": "EUR", "amount": 10}}), "other", Objection::Unreadable),
        (json!({"transferAmount": {"currency": "EUR", "amount": "1e1"}}), "other", Objection::Unreadable),
        (with(&adds(0), json!({"payeeReceiveAmount": "10"})), "other", Objection::Unreadable),
        (json!({}), "other", Objection::Unreadable),
    ];
    let mut seen = BTreeSet::from([Objection::Conversion]);
    for (bad, code, objection) in refusals {
        // The adapter repeats the quote with its end.
        let adapter = Adapter::new(|step: &str, transfer: &Value| match step {
            ACCEPT_PARTY => quoted(transfer, bad.clone()),
            REFUSE_QUOTE => at("ABORTED", &with(transfer, json!({"quoteResponse": {"body": bad}}))),
            _ => fine(step, transfer),
        });
        let failed = World::new().pay(&adapter);
        assert_eq!(end(&failed), refused(code, objection.as_str()), "{bad}");
        assert_eq!(failed.attempts, 2, "another provider may ask for less");
        assert_eq!(adapter.steps(), [BEGIN, ACCEPT_PARTY, REFUSE_QUOTE, BEGIN, ACCEPT_PARTY, REFUSE_QUOTE]);
        seen.insert(objection);
    }
    assert_eq!(seen.len(), Objection::ALL.len(), "every objection is tried");
    let absorbed = ((SettlementStatus::Completed, None, None), 3, ACCEPT_QUOTE.to_owned());
    assert_eq!(quote(json!({"absorb_fees": "true"}), adds(99)), absorbed);
    let in_another = ((SettlementStatus::Failed, Some("over_limit"), Some("quote_fee".to_owned())), 6, REFUSE_QUOTE.to_owned());
    assert_eq!(quote(json!({"absorb_fees": "true"}), json!({"transferAmount": in_dollars})), in_another, "never in another currency");
}

#[test]
fn a_conversion_is_refused_whenever_it_is_offered() {
    for step in [BEGIN, ACCEPT_PARTY, ACCEPT_QUOTE] {
        let adapter = but(step, |transfer| at("WAITING_FOR_CONVERSION_ACCEPTANCE", transfer));
        assert_eq!(end(&World::new().pay(&adapter)), refused("not_allowed", "conversion"), "{step}");
        assert_eq!(adapter.steps().last().unwrap(), REFUSE_CONVERSION);
    }
}

#[test]
fn a_refusal_of_the_gateway_ends_the_payment_unless_it_was_paid_all_the_same() {
    let refuses = |end_of_it: fn(&Value) -> Carried| {
        let adapter = Adapter::new(move |step: &str, transfer: &Value| match step {
            ACCEPT_PARTY => quoted(transfer, adds(99)),
            REFUSE_QUOTE => end_of_it(transfer),
            _ => fine(step, transfer),
        });
        end(&World::new().pay(&adapter))
    };
    assert_eq!(refuses(|transfer| at("ABORTED", transfer)), refused("over_limit", "quote_fee"));
    assert_eq!(refuses(|transfer| failed(transfer, "2001")), refused("over_limit", "quote_fee"));
    assert_eq!(refuses(|transfer| completed(transfer, "COMMITTED")).0, SettlementStatus::Completed);
    assert_eq!(refuses(|transfer| quoted(transfer, adds(99))), unknown(), "it was told, and still waits");
    assert_eq!(refuses(|_| Carried::Lost), unknown());
    assert_eq!(refuses(|_| replied(404, &Value::Null)), unknown());
    let fulfilled = |transfer: &Value| at("ABORTED", &with(transfer, json!({"fulfil": {"body": {"transferState": "COMMITTED"}}})));
    assert_eq!(refuses(fulfilled), unknown(), "it contradicts itself");
}

#[test]
fn no_step_is_taken_twice_and_none_back() {
    let steps = [BEGIN, ACCEPT_PARTY, ACCEPT_QUOTE];
    for (n, step) in steps.into_iter().enumerate() {
        for state in State::ALL {
            let adapter = but(step, |transfer| at(state.as_str(), &with(transfer, json!({"quoteResponse": {"body": adds(0)}}))));
            let (status, told) = (World::new().pay(&adapter).status, adapter.steps());
            let unfit = match state {
                State::WaitingForParty => n > 0,
                State::WaitingForQuote => n > 1,
                State::WaitingForConversion | State::Aborted => false,
                // Half an answer, and an error that is none.
                State::Completed | State::Error => true,
            };
            assert_eq!(unfit, status == SettlementStatus::Unknown, "{} to {step}", state.as_str());
            assert!(!unfit || told == steps[..=n], "{told:?}: nothing follows an answer that does not fit");
            let once: BTreeSet<_> = told.iter().take_while(|it| it.as_str() != REFUSE_CONVERSION).take(3).collect();
            assert!(status != SettlementStatus::Completed || once.len() == told.len());
        }
    }
}

#[test]
fn a_reply_about_another_transfer_says_nothing() {
    let others = [
        ("transferId", json!("b51ec534-ee48-4575-b6a9-ead2955b8069")),
        ("homeTransactionId", json!("01KAJX3M7Q5W8ZP9D2R4T6V8YB-1")),
        ("amount", json!("10.01")),
        ("amount", json!(10)),
        ("currency", json!("USD")),
        ("to", json!({"idType": "MSISDN", "idValue": "254700000002"})),
        ("to", json!({"idType": "ALIAS", "idValue": "254700000001"})),
        ("to", json!([])),
    ];
    for (member, other) in others {
        for step in [BEGIN, ACCEPT_PARTY, ACCEPT_QUOTE] {
            let mixed = |transfer: &Value, other: &Value| with(transfer, json!({member: other}));
            let replies: [&dyn Fn(&Value) -> Carried; 4] = [
                &|transfer| fine(step, &mixed(transfer, &other)),
                &|transfer| failed(&mixed(transfer, &other), "5104"),
                &|transfer| at("ABORTED", &mixed(transfer, &other)),
                &|transfer| {
                    let mut missing = transfer.clone();
                    missing.as_object_mut().unwrap().remove(member);
                    fine(step, &missing)
                },
            ];
            for (n, reply) in replies.into_iter().enumerate() {
                let adapter = but(step, reply);
                assert_eq!(end(&World::new().pay(&adapter)), unknown(), "{member} in reply {n} to {step}");
                assert_eq!(adapter.steps().last().unwrap(), step, "nothing follows");
            }
        }
    }
}

#[test]
fn what_was_lost_may_have_been_paid_and_what_was_not_sent_was_not() {
    for step in [BEGIN, ACCEPT_PARTY, ACCEPT_QUOTE] {
        assert_eq!(end_but(step, |_| Carried::Lost), unknown(), "{step}");
        let not_sent = (SettlementStatus::Failed, Some("provider_offline"), None);
        assert_eq!(end_but(step, |_| Carried::NotSent), not_sent, "{step}");
        for status in [200, 202, 204, 302, 408, 409, 429, 499, 500, 502, 503, 504] {
            for body in [Value::Null, json!({}), json!([]), json!("?"), json!({"transferState": {}}), json!({"statusCode": "5104"})] {
                assert_eq!(end_but(step, |_| replied(status, &body)), unknown(), "{status} {body} to {step}");
            }
        }
        let not_json = |_: &Value| Carried::Answered(railgate::rail::HttpReply { status: 200, headers: vec![], body: b"<html>".to_vec() });
        assert_eq!(end_but(step, not_json), unknown());
    }
}

#[test]
fn a_request_that_was_not_taken_is_refused_until_the_quote_is_accepted() {
    for (status, code) in [
        (401, "not_allowed"),
        (403, "not_allowed"),
        (400, "other"),
        (404, "other"),
        (405, "other"),
        (413, "other"),
        (415, "other"),
        (422, "other"),
    ] {
        for body in [Value::Null, json!({"message": "?", "transferState": {}})] {
            for early in [BEGIN, ACCEPT_PARTY] {
                let rail_code = format!("http_{status}");
                assert_eq!(end_but(early, |_| replied(status, &body)), refused(code, &rail_code), "{status} to {early}");
            }
            assert_eq!(end_but(ACCEPT_QUOTE, |_| replied(status, &body)), unknown(), "{status}");
        }
    }
}

#[test]
fn reversals_and_unserved_payees_never_leave() {
    let world = World::new();
    for to in ["wallet:w-1", "sim:ok"] {
        let (world, adapter) = (World::new(), Adapter::new(fine));
        assert_eq!(end(&world.pay_to(to, &adapter)), (SettlementStatus::Failed, Some("not_allowed"), None));
        assert_eq!(adapter.steps(), [""; 0], "{to}");
    }
    world.pay(&Adapter::new(fine));
    let refusal = world.shop().reverse("r", ReverseRequest::default()).unwrap_err();
    assert_eq!(refusal.code.as_str(), "reversal_not_supported");
}

#[test]
fn a_payment_that_may_not_leave_any_more_is_not_accepted() {
    let world = World::new();
    let (env, lease) = (world.env.clone(), Config::sandbox().lease_ms);
    let slow = but(ACCEPT_PARTY, move |transfer| {
        env.advance_to(env.now() + lease);
        quoted(transfer, adds(0))
    });
    assert_eq!(world.pay(&slow).status, SettlementStatus::Unknown);
    assert_eq!(slow.steps(), [BEGIN, ACCEPT_PARTY], "others may ask about it already");
}

#[test]
fn there_are_no_callbacks() {
    let world = World::new();
    let adapter = but(ACCEPT_QUOTE, |transfer| completed(transfer, "RESERVED"));
    world.pay(&adapter);
    let inbound = Inbound { rail_key: None, source: None, headers: &[], body: b"{}", now: START };
    let engine = world.gateway.engine();
    assert_eq!(engine.read_callback("first", None, inbound).unwrap().unwrap_err(), CallbackError::Unsupported);
}

#[test]
fn the_adapter_is_asked_whether_it_is_there() {
    let world = World::new();
    let engine = world.gateway.engine();
    let body = br#"{"amount":10,"currency":"EUR","to":"alias:jane","reference":"r"}"#;
    let mut preflight = engine.preflight(&world.client.caller, body).unwrap();
    let first = preflight.lookup.take().unwrap().provider;
    for (carried, health) in [(replied(200, &Value::Null), Some("up")), (replied(503, &Value::Null), None), (Carried::Lost, None)] {
        let mut exchange = engine.exchange(railgate::engine::Heartbeat(first)).unwrap();
        let Taken::Send(request) = exchange.step(engine) else { panic!("it is asked") };
        assert_eq!((request.method, &*request.url), ("GET", "https://first.example/out/"));
        exchange.heard(engine, &carried);
        let Taken::Done(found) = exchange.step(engine) else { panic!("it answered") };
        assert_eq!(found.map(|health| health.as_str()), health);
    }
}
