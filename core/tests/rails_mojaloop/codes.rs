//! Every error code of the scheme, at every step, and inquiries. The page about the rail says what is expected.

use railgate::api::SettlementStatus;
use railgate::rail::Carried;
use serde_json::{Value, json};

use super::world::*;

/// A row of the page: code, failure, whether another provider may be tried, and when the code is proof.
fn rows() -> Vec<[String; 4]> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/rails/mojaloop.md")).unwrap();
    let table = page.split("\n## What the scheme's error codes mean\n").nth(1).unwrap();
    let cells = |row: &str| row.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect::<Vec<_>>();
    let rows = table.lines().filter(|line| line.starts_with("| `")).map(cells);
    let rows: Vec<_> = rows.map(|cells| [&cells[1], &cells[3], &cells[4], &cells[5]].map(Clone::clone)).collect();
    assert!(rows.len() > 60, "the table cannot be read");
    rows
}

/// A code that the row is about: for a whole class, one that is not listed.
fn example(code: &str) -> String {
    if code == "xxxx" { "9876".to_owned() } else { code.replace("xx", "99") }
}

#[test]
fn every_code_means_what_the_page_says() {
    for [code, failure, elsewhere, proof] in rows() {
        let code = example(&code);
        for step in [BEGIN, ACCEPT_PARTY, ACCEPT_QUOTE] {
            let adapter = but(step, |transfer| failed(transfer, &code));
            let view = World::new().pay(&adapter);
            let counts = match &*proof {
                "always" => true,
                "before the quote is accepted" => step != ACCEPT_QUOTE,
                "never" => false,
                other => panic!("{other}"),
            };
            let (status, failed, rail_code) = end(&view);
            let attempts = if counts && elsewhere == "yes" { 2 } else { 1 };
            assert_eq!(view.attempts, attempts, "{code} to {step}");
            match counts {
                true => assert_eq!((status, failed, rail_code.as_deref()), (SettlementStatus::Failed, Some(&*failure), Some(&*code))),
                false => assert_eq!((status, failed), (SettlementStatus::Unknown, None), "{code} to {step}"),
            }
        }
    }
}

#[test]
fn the_codes_that_matter_most_are_as_the_scheme_means_them() {
    let early = |code: &str| end_but(ACCEPT_PARTY, |transfer| failed(transfer, code));
    let late = |code: &str| end_but(ACCEPT_QUOTE, |transfer| failed(transfer, code));
    assert_eq!(early("3204"), refused("recipient_not_found", "3204"));
    assert_eq!(early("5200"), refused("over_limit", "5200"));
    assert_eq!(early("5400"), refused("account_blocked", "5400"));
    assert_eq!(late("4001"), refused("insufficient_funds", "4001"));
    assert_eq!(late("5104"), refused("not_allowed", "5104"));
    for open in ["1001", "2001", "2004", "3100", "3106", "3208", "3303", "4300", "6000"] {
        assert_eq!(late(open), unknown(), "{open}");
    }
    for wrong in ["510", "51040", "51o4", ""] {
        assert_eq!(late(wrong), unknown(), "{wrong} is no code");
    }
}

#[test]
fn an_error_without_a_code_is_known_by_its_status() {
    for early in [BEGIN, ACCEPT_PARTY] {
        assert_eq!(end_but(early, |transfer| failed_with(transfer, 504, json!({}))), refused("provider_offline", "http_504"), "{early}");
        assert_eq!(end_but(early, |transfer| failed_with(transfer, 500, json!({}))), refused("other", "http_500"), "{early}");
        assert_eq!(end_but(early, |transfer| failed_with(transfer, 400, json!({}))), refused("other", "http_400"), "{early}");
    }
    for status in [400, 500, 504] {
        assert_eq!(end_but(ACCEPT_QUOTE, |transfer| failed_with(transfer, status, json!({}))), unknown(), "{status}");
    }
}

#[test]
fn an_adapter_that_has_a_quote_may_have_accepted_it() {
    for member in ["quoteResponse", "fxQuotesResponse", "fxQuoteResponse", "prepare"] {
        for step in [BEGIN, ACCEPT_PARTY] {
            let late = |code: &str| end_but(step, |transfer| failed(&with(transfer, json!({member: {"body": adds(0)}})), code));
            assert_eq!(late("2004"), unknown(), "{member}");
            assert_eq!(late("5104"), refused("not_allowed", "5104"), "{member}");
        }
    }
}

#[test]
fn an_error_that_contradicts_itself_says_nothing() {
    let fulfilled = json!({"fulfil": {"body": {"transferState": "COMMITTED"}}});
    for step in [BEGIN, ACCEPT_PARTY, ACCEPT_QUOTE] {
        assert_eq!(end_but(step, |transfer| failed(&with(transfer, fulfilled.clone()), "5104")), unknown());
        for (status, state) in [(200, "ERROR_OCCURRED"), (500, "COMPLETED"), (500, "ABORTED"), (302, "ERROR_OCCURRED"), (500, "?")] {
            let error = json!({"mojaloopError": {"errorInformation": {"errorCode": "5104"}}});
            let reply = |transfer: &Value| {
                let transfer = with(transfer, json!({"currentState": state, "lastError": error}));
                replied(status, &with(&transfer, json!({"transferState": transfer})))
            };
            assert_eq!(end_but(step, reply), unknown(), "{status} {state} to {step}");
        }
    }
}

/// The end of a payment whose acceptance was lost, by the reply to inquiries.
fn inquired(settings: Value, reply: impl Fn(&Value) -> Carried) -> (SettlementStatus, Option<&'static str>, Option<String>) {
    let world = World::with(settings);
    let adapter = Adapter::new(move |step: &str, transfer: &Value| match step {
        ACCEPT_QUOTE => Carried::Lost,
        INQUIRE => reply(transfer),
        _ => fine(step, transfer),
    });
    assert_eq!(end(&world.pay(&adapter)), unknown());
    let ended = end(&world.pass(&adapter, 10_000));
    let asked = adapter.asked.lock().unwrap();
    let inquiry = asked.iter().find(|it| it.method == "GET").unwrap();
    let begun: Value = serde_json::from_slice(&asked[0].body).unwrap();
    assert_eq!(inquiry.url, format!("https://first.example/out/transfers/{}", begun["transferId"].as_str().unwrap()));
    ended
}

/// What an adapter knows of a transfer that it asks the scheme about.
fn known(transfer: &Value) -> Value {
    json!({"transferId": transfer["transferId"]})
}

#[test]
fn an_inquiry_ends_the_doubt() {
    let said = |state: &'static str| inquired(json!({}), move |transfer| completed(&known(transfer), state));
    assert_eq!(said("COMMITTED").0, SettlementStatus::Completed);
    assert_eq!((said("RESERVED").0, said("RECEIVED").0), (SettlementStatus::Submitted, SettlementStatus::Submitted));
    assert_eq!(said("ABORTED"), refused("other", "ABORTED"));
    assert_eq!(inquired(json!({}), |transfer| at("ABORTED", &known(transfer))), refused("other", "ABORTED"));
    let other = json!({"transferId": "b51ec534-ee48-4575-b6a9-ead2955b8069"});
    let unclear: [&dyn Fn(&Value) -> Carried; 11] = [
        &|_| Carried::Lost,
        &|_| Carried::NotSent,
        &|_| replied(200, &json!({})),
        &|_| replied(404, &Value::Null),
        &|_| completed(&other, "COMMITTED"),
        &|_| completed(&json!({}), "COMMITTED"),
        &|transfer| at("COMPLETED", &known(transfer)),
        &|transfer| at("ERROR_OCCURRED", &known(transfer)),
        &|transfer| failed(&known(transfer), "5104"),
        &|transfer| failed(&known(transfer), "4300"),
        &|transfer| failed(&known(transfer), "2004"),
    ];
    for (n, reply) in unclear.into_iter().enumerate() {
        assert_eq!(inquired(json!({"not_found_is_proof": "true"}), reply), unknown(), "{n}");
    }
}

#[test]
fn what_the_scheme_does_not_know_is_proof_if_it_says_so_and_late_enough() {
    let not_found = |transfer: &Value| failed(&known(transfer), "3208");
    let bare = |_: &Value| replied(500, &json!({"statusCode": "3208", "message": "?"}));
    let waits = |transfer: &Value| at("WAITING_FOR_QUOTE_ACCEPTANCE", &known(transfer));
    let replies: [&dyn Fn(&Value) -> Carried; 3] = [&not_found, &bare, &waits];
    for reply in replies {
        for (setting, paid) in [("true", true), ("false", false)] {
            let world = World::with(json!({"not_found_is_proof": setting}));
            // The first acceptance is lost before it arrives.
            let lost = std::sync::atomic::AtomicBool::new(true);
            let adapter = Adapter::new(|step: &str, transfer: &Value| match step {
                ACCEPT_QUOTE if lost.swap(false, std::sync::atomic::Ordering::SeqCst) => Carried::Lost,
                INQUIRE => reply(transfer),
                _ => fine(step, transfer),
            });
            world.pay(&adapter);
            assert_eq!(end(&world.pass(&adapter, 50_000)), unknown(), "it may still be on its way");
            let view = world.pass(&adapter, 100_000);
            assert_eq!(view.status == SettlementStatus::Completed, paid, "{setting}");
            let asked = adapter.asked.lock().unwrap();
            let ids: Vec<Value> =
                asked.iter().filter(|it| it.method == "POST").map(|it| serde_json::from_slice(&it.body).unwrap()).collect();
            assert!(ids.iter().all(|it| it["transferId"] == ids[0]["transferId"]), "the same transfer is sent again, not another");
            assert_eq!(ids.len(), if paid { 2 } else { 1 });
        }
    }
    let of_another = |_: &Value| failed(&json!({"transferId": "b51ec534-ee48-4575-b6a9-ead2955b8069"}), "3208");
    let world = World::with(json!({"not_found_is_proof": "true"}));
    let adapter = Adapter::new(|step: &str, transfer: &Value| match step {
        ACCEPT_QUOTE => Carried::Lost,
        INQUIRE => of_another(transfer),
        _ => fine(step, transfer),
    });
    world.pay(&adapter);
    assert_eq!(end(&world.pass(&adapter, 200_000)), unknown());
}
