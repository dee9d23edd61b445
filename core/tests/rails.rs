//! The interface between the engine and its rails: an HTTP rail that only this file registers, and scripted operators.

use std::sync::Arc;

use crate::plain_rail::{PlainRail, SIGNATURE, provider, signature};
use crate::scripted::{START, Script, World, replied};
use railgate::api::{CreateRequest, ReversalStatus, ReverseRequest, SettlementStatus, Subject, Work};
use railgate::engine::{LeaseTasks, ReportAnswer, Step};
use railgate::env::{Env as _, ManualEnv};
use railgate::rail::{CallbackError, Carried, Carrier, Inbound, PayeeMatch, RailAnswer, Rails};
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::store::record::TaskKey;
use railgate::{Config, Gateway};

/// With the providers `first` and `second`.
fn two() -> World {
    two_with(|_| ())
}

fn two_with(adjust: impl Fn(&mut ProviderSpec)) -> World {
    let mut providers = vec![provider("first", "https://one.example"), provider("second", "https://two.example")];
    providers.iter_mut().for_each(adjust);
    World::over(providers, Rails::built_in().with(PlainRail))
}

#[test]
fn a_payment_and_its_reversal_travel_as_their_rail_says() {
    let world = two();
    let operator = Script::new(|_, _| replied(200, r#"{"status":"paid","reference":"P-1"}"#));
    let paid = world.pay(&operator, 0);
    assert_eq!((paid.status, paid.rail_reference.as_deref()), (SettlementStatus::Completed, Some("P-1")));
    world.shop().reverse("r", ReverseRequest::default()).unwrap();
    world.pass(&operator, 0);
    assert_eq!(world.shop().settlement("r").unwrap().status, SettlementStatus::Reversed);
    assert_eq!(operator.asked(), ["PUT https://one.example/payments", "PUT https://one.example/refunds"]);
    let sent = &operator.asked.lock().unwrap()[0];
    assert_eq!(sent.body, br#"{"amount":"10.00","currency":"EUR","to":"msisdn:+254700000001"}"#);
}

#[test]
fn what_was_not_sent_goes_elsewhere_and_what_may_have_left_does_not() {
    let world = two();
    let first_is_down = Script::new(|_, url: &str| match url.starts_with("https://one") {
        true => Carried::NotSent,
        false => replied(200, r#"{"status":"paid"}"#),
    });
    assert_eq!(world.pay(&first_is_down, 0).provider, "second");
    assert_eq!(first_is_down.asked(), ["PUT https://one.example/payments", "PUT https://two.example/payments"]);

    for lost in [Carried::Lost, replied(500, ""), replied(200, "not what was agreed"), replied(200, r#"{"status":"?"}"#)] {
        let world = two();
        let silent = Script::new(|method: &str, _: &str| if method == "PUT" { lost.clone() } else { Carried::NotSent });
        let view = world.pay(&silent, 60_000);
        assert_eq!((view.status, view.attempts), (SettlementStatus::Unknown, 1), "{lost:?}");
        assert!(silent.asked().iter().all(|asked| asked.contains("//one.")), "an inquiry that cannot be made proves nothing");
    }
}

#[test]
fn what_waited_for_another_is_given_up_when_it_may_not_leave_any_more() {
    let world = two();
    let (env, lease) = (world.env.clone(), Config::sandbox().lease_ms);
    let slow = Script::new(move |_, _| {
        env.advance_to(env.now() + lease - 1_000);
        replied(200, r#"{"status":"paid"}"#)
    });
    for reference in ["a", "b", "c"] {
        let request = CreateRequest::new("10 EUR".parse().unwrap(), "msisdn:+254700000001".parse().unwrap(), reference.parse().unwrap());
        world.shop().create(request).unwrap();
    }
    world.gateway.work_with(&slow).unwrap();
    let time_outs: Vec<u64> = slow.asked.lock().unwrap().iter().filter(|it| it.method == "PUT").map(|it| it.timeout_ms).collect();
    assert_eq!(time_outs, [5_000, 1_000], "the third came too late to leave");
}

#[test]
fn an_inquiry_ends_the_doubt() {
    let inquired = |status: u16, body: &'static str| {
        let world = two();
        let operator = Script::new(move |method: &str, _: &str| if method == "PUT" { Carried::Lost } else { replied(status, body) });
        (world.pay(&operator, 10_000), operator.asked())
    };
    let (paid, asked) = inquired(200, r#"{"status":"paid"}"#);
    assert_eq!(paid.status, SettlementStatus::Completed);
    assert_eq!(asked, ["PUT https://one.example/payments", "GET https://one.example/payments"]);
    let (refused, _) = inquired(200, r#"{"status":"refused","code":"nobody"}"#);
    assert_eq!((refused.status, refused.failure.unwrap().rail_code.as_deref()), (SettlementStatus::Failed, Some("nobody")));
    let (early, _) = inquired(404, "");
    assert_eq!(early.status, SettlementStatus::Unknown, "not found is no proof while it may still be on its way");
}

/// Asks for a reversal of the whole payment, which has the reference `back`.
fn give_back(world: &World) {
    world.shop().reverse("r", ReverseRequest { reference: "back".parse().ok(), ..ReverseRequest::default() }).unwrap();
}

fn given_back(world: &World) -> ReversalStatus {
    world.shop().reversal("r", "back").unwrap().status
}

/// What a host does next, and then stands still.
fn lease_and_stand_still(world: &World) -> (Subject, TaskKey) {
    let lease = world.gateway.engine().run(LeaseTasks::up_to(1)).unwrap().remove(0);
    let Work::Call(call) = lease.work else { panic!("{lease:?}") };
    (call.subject, lease.key)
}

#[test]
fn not_found_is_proof_once_nothing_can_be_on_its_way_and_only_from_a_provider_whose_word_counts() {
    let lease = Config::sandbox().lease_ms;
    for (after, authoritative, proved) in [(2 * lease - 1, true, false), (2 * lease, true, true), (2 * lease, false, false)] {
        let lost = Script::new(|_, _| Carried::Lost);
        let found_nothing = Script::new(|method: &str, _: &str| if method == "PUT" { replied(200, PAID) } else { replied(404, "") });
        // One that might pay again what is sent again.
        let careless = || two_with(|spec| (spec.capabilities.inquiry, spec.capabilities.idempotent_submit) = (authoritative, false));

        let world = careless();
        world.pay(&lost, 0);
        world.env.advance_to(START + after);
        world.gateway.work_with(&found_nothing).unwrap();
        let view = world.shop().settlement("r").unwrap();
        let expected = if proved { (SettlementStatus::Completed, "second", 2) } else { (SettlementStatus::Unknown, "first", 1) };
        assert_eq!((view.status, view.provider.as_str(), view.attempts), expected, "{after} {authoritative}");

        let world = careless();
        world.pay(&found_nothing, 0);
        give_back(&world);
        world.pass(&lost, 0);
        world.env.advance_to(START + after);
        world.gateway.work_with(&found_nothing).unwrap();
        let expected = if proved { ReversalStatus::Failed } else { ReversalStatus::Unknown };
        assert_eq!(given_back(&world), expected, "{after} {authoritative}");
    }
}

#[test]
fn a_reversal_that_the_rail_took_does_not_fail_because_it_is_not_found_later() {
    let world = two();
    let forgets = Script::new(|method: &str, url: &str| match (method, url.contains("refunds")) {
        (_, false) => replied(200, PAID),
        ("PUT", true) => replied(200, r#"{"status":"taken","reference":"R-1"}"#),
        (_, true) => replied(404, ""),
    });
    world.pay(&forgets, 0);
    give_back(&world);
    world.pass(&forgets, 600_000);
    assert_eq!(given_back(&world), ReversalStatus::Unknown);
    world.pass(&Script::new(|_, _| replied(200, PAID)), 3_600_000);
    assert_eq!(given_back(&world), ReversalStatus::Completed);
}

#[test]
fn a_reversal_that_the_rail_reports_is_not_unknown_because_its_host_died() {
    let world = two();
    let takes = Script::new(|_, url: &str| replied(200, if url.contains("refunds") { r#"{"status":"taken"}"# } else { PAID }));
    world.pay(&takes, 0);
    give_back(&world);
    let (subject, _) = lease_and_stand_still(&world);
    let taken = RailAnswer::Accepted { rail_reference: Some("R-1".to_owned()) };
    world.gateway.engine().run(ReportAnswer { subject, answer: taken, lease: None }).unwrap();
    world.pass(&takes, 60_000);
    assert_eq!(given_back(&world), ReversalStatus::Submitted);
    let happened = world.shop().events("r", 0, 200).unwrap().data;
    assert!(happened.iter().all(|event| event.kind.as_str() != "reversal.unknown"));
}

#[test]
fn what_was_unclear_and_then_taken_is_asked_about_no_more_often() {
    let world = two();
    let slow = Script::new(|method: &str, _: &str| if method == "PUT" { Carried::Lost } else { replied(200, r#"{"status":"taken"}"#) });
    assert_eq!(world.pay(&slow, 120_000).status, SettlementStatus::Submitted);
    assert_eq!(slow.asked().len(), 1 + 3, "after 5 seconds, 30 and 120");
}

#[test]
fn a_reversal_that_is_under_way_is_asked_about_no_more_often() {
    let world = two();
    let takes = Script::new(|_, url: &str| replied(200, if url.contains("refunds") { r#"{"status":"taken"}"# } else { PAID }));
    world.pay(&takes, 0);
    give_back(&world);
    // Its operator says so by a callback, too, before its answer is stored and afterwards.
    let lease = world.gateway.engine().run(LeaseTasks::up_to(1)).unwrap().remove(0);
    let Work::Call(call) = lease.work else { panic!("{lease:?}") };
    for lease in [None, None, Some(lease.key), None] {
        let answer = RailAnswer::Accepted { rail_reference: Some("R-1".to_owned()) };
        world.gateway.engine().run(ReportAnswer { subject: call.subject, answer, lease }).unwrap();
    }
    world.pass(&takes, 180_000);
    assert_eq!(given_back(&world), ReversalStatus::Submitted);
    assert_eq!(takes.asked()[1..], ["GET https://one.example/refunds"; 3], "after 5 seconds, 30 and 120");
}

#[test]
fn what_was_to_be_sent_again_and_had_arrived_is_asked_about() {
    let world = two();
    let lost = Script::new(|method: &str, _: &str| if method == "PUT" { Carried::Lost } else { replied(404, "") });
    let subject = {
        let request = CreateRequest::new("10 EUR".parse().unwrap(), "msisdn:+254700000001".parse().unwrap(), "r".parse().unwrap());
        world.shop().create(request).unwrap();
        let (subject, lease) = lease_and_stand_still(&world);
        world.gateway.engine().run(ReportAnswer { subject, answer: RailAnswer::Unknown, lease: Some(lease) }).unwrap();
        subject
    };
    world.pass(&lost, 59_999);
    // It is not found when that is proof, and before it is sent again, its operator reports that it has it.
    world.env.advance_to(START + 60_000);
    let lease = world.gateway.engine().run(LeaseTasks::up_to(1)).unwrap().remove(0);
    world.gateway.engine().run(ReportAnswer { subject, answer: RailAnswer::NotSent, lease: Some(lease.key) }).unwrap();
    let taken = RailAnswer::Accepted { rail_reference: None };
    world.gateway.engine().run(ReportAnswer { subject, answer: taken, lease: None }).unwrap();
    let paid = Script::new(|_, _| replied(200, PAID));
    world.pass(&paid, 5_000);
    assert_eq!(world.shop().settlement("r").unwrap().status, SettlementStatus::Completed);
    assert_eq!(paid.asked(), ["GET https://one.example/payments"]);
}

#[test]
fn without_a_carrier_nothing_is_sent_and_that_is_what_is_said() {
    let world = two();
    let view = world.pay(&(), 0);
    assert_eq!(view.status, SettlementStatus::Failed);
    assert_eq!(view.failure.unwrap().code.as_str(), "provider_offline");
    assert_eq!(world.shop().balance("EUR").unwrap().reserved.as_str(), "0.00");
}

#[test]
fn a_callback_counts_only_under_its_providers_signature_and_for_its_own_payments() {
    let world = two();
    let operator = Script::new(|_, _| replied(200, r#"{"status":"taken"}"#));
    assert_eq!(world.pay(&operator, 0).status, SettlementStatus::Submitted);
    let key = operator.asked.lock().unwrap()[0].url.rsplit_once('/').unwrap().1.to_owned();
    let about = |key: &str| format!(r#"{{"key":"{key}","status":"paid"}}"#).into_bytes();
    let engine = world.gateway.engine();
    let read = |provider: &str, signature: &str, body: &[u8]| {
        let inbound = Inbound { rail_key: None, source: None, headers: &[(SIGNATURE, signature)], body, now: START };
        engine.read_callback(provider, None, inbound).unwrap()
    };
    let body = about(&key);
    let good = signature("whispered", &body);
    assert_eq!(read("first", &signature("guessed", &body), &body).unwrap_err(), CallbackError::Unauthenticated);
    assert_eq!(read("first", &good, br#"{"key":"another"}"#).unwrap_err(), CallbackError::Unauthenticated);
    assert_eq!(read("nobody", &good, &body).unwrap_err(), CallbackError::Unsupported);
    assert!(read("second", &good, &body).unwrap().is_none(), "it went to the other provider");
    let (ulid, _) = key.split_once('-').unwrap();
    for unknown in [ulid, &format!("{ulid}-2"), &format!("{ulid}-01"), &format!("{ulid}-R1"), "01KAJX3M7Q5W8ZP9D2R4T6V8YB-1", "-1", ""] {
        let body = about(unknown);
        assert!(read("first", &signature("whispered", &body), &body).unwrap().is_none(), "{unknown}");
    }
    let reported = read("first", &good, &body).unwrap().unwrap();
    assert!(matches!(reported.subject, Subject::Attempt(_, 1)));
    assert_eq!(reported.answer, RailAnswer::Completed { rail_reference: None });
    engine.run(ReportAnswer { subject: reported.subject, answer: reported.answer, lease: None }).unwrap();
    assert_eq!(world.shop().settlement("r").unwrap().status, SettlementStatus::Completed);
}

#[test]
fn a_check_asks_the_provider_who_the_payee_is_and_pays_nobody() {
    let world = two();
    let engine = world.gateway.engine();
    let body = br#"{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"r"}"#;
    let check = |carried: &Carried| {
        let mut preflight = engine.preflight(&world.client.caller, body).unwrap();
        let mut exchange = engine.exchange(preflight.lookup.take().unwrap()).unwrap();
        let Step::Send(request) = exchange.step(engine) else { panic!("the provider is asked") };
        assert_eq!((request.method, &*request.url), ("GET", "https://one.example/accounts/+254700000001"));
        exchange.heard(engine, carried);
        let Step::Done(payee) = exchange.step(engine) else { panic!("it answered") };
        let view = preflight.answered(payee);
        assert!(view.ok, "whatever the provider says, the payer decides");
        let warnings: Vec<String> = view.warnings.iter().map(|warning| warning.code.to_string()).collect();
        (view.payee.payee_match, view.payee.display_name, warnings)
    };
    let jane = || Some("Jane Wanjiru".to_owned());
    assert_eq!(check(&replied(200, r#"{"name":"Jane Wanjiru"}"#)), (PayeeMatch::Match, jane(), vec![]));
    assert_eq!(check(&replied(404, "")), (PayeeMatch::NoMatch, None, vec!["payee_no_match".to_owned()]));
    for silent in [Carried::Lost, Carried::NotSent, replied(500, ""), replied(200, "not what was agreed")] {
        assert_eq!(check(&silent), (PayeeMatch::NotAvailable, None, vec![]), "{silent:?}");
    }
    assert_eq!(world.gateway.work().unwrap(), 0);
}

/// The findings of a check, without the ids in their texts.
fn findings(world: &World, operator: &dyn Carrier) -> Vec<(String, String)> {
    let found = world.shop().reconcile_with("r", operator).unwrap();
    assert_eq!(found.consistent, found.findings.is_empty());
    let without_id =
        |text: &str| text.split(' ').map(|word| if word.starts_with("rev_") { "REV:" } else { word }).collect::<Vec<_>>().join(" ");
    found.findings.iter().map(|it| (it.code.to_string(), without_id(&it.message))).collect()
}

/// What waits for a person: the number of the reversal, if it is about one.
fn reviews(world: &World) -> Vec<Option<u16>> {
    let (found, _) = world.gateway.engine().reviews(i64::MAX >> 20, None, 10).unwrap();
    found.into_iter().map(|it| it.reversal).collect()
}

fn events(world: &World) -> usize {
    world.shop().events("r", 0, 200).unwrap().data.len()
}

const PAID: &str = r#"{"status":"paid"}"#;
const REFUSED: &str = r#"{"status":"refused"}"#;

#[test]
fn a_check_asks_about_reversals_and_applies_what_the_rail_says() {
    let world = two();
    let silent = Script::new(|method: &str, url: &str| match (method, url.contains("refunds")) {
        ("PUT", true) => Carried::Lost,
        _ => replied(200, PAID),
    });
    world.pay(&silent, 0);
    for (reference, amount) in [("one", "1"), ("two", "2")] {
        let (amount, reference) = (amount.parse().ok(), reference.parse().ok());
        world.shop().reverse("r", ReverseRequest { amount, reference, ..ReverseRequest::default() }).unwrap();
        world.pass(&silent, 0);
    }
    let status = |reference: &str| world.shop().reversal("r", reference).unwrap().status;
    assert_eq!((status("one"), status("two")), (ReversalStatus::Unknown, ReversalStatus::Unknown));
    silent.asked.lock().unwrap().clear();

    let unclear = Script::new(|_, url: &str| if url.contains("refunds") { replied(500, "") } else { replied(200, PAID) });
    let unsaid = ("rail_disagrees".to_owned(), "reversal REV: the rail could not say how it stands".to_owned());
    assert_eq!(findings(&world, &unclear), [unsaid.clone(), unsaid]);
    assert_eq!(unclear.asked(), ["GET https://one.example/payments", "GET https://one.example/refunds", "GET https://one.example/refunds"]);
    assert_eq!(reviews(&world), [], "that nobody knows is no contradiction");

    let found = Script::new(|_, url: &str| if url.ends_with("R2") { replied(404, "") } else { replied(200, PAID) });
    assert_eq!(findings(&world, &found), []);
    assert_eq!(status("one"), ReversalStatus::Completed);
    assert_eq!(status("two"), ReversalStatus::Unknown, "it may still be on its way");
    assert_eq!(world.shop().settlement("r").unwrap().reversed_amount.as_str(), "1.00");

    // The first is done: only the open one and, being the same here, the last are asked about.
    let done = Script::new(|_, _| replied(200, PAID));
    assert_eq!(findings(&world, &done), []);
    assert_eq!(done.asked(), ["GET https://one.example/payments", "GET https://one.example/refunds"]);
    assert_eq!(status("two"), ReversalStatus::Completed);
    let last = Script::new(|_, _| replied(200, PAID));
    assert_eq!(findings(&world, &last), []);
    assert_eq!(last.asked().len(), 2, "the last one, although it is final");
}

#[test]
fn a_check_asks_a_bounded_number_of_questions_and_says_what_it_left_out() {
    let world = two();
    let silent = Script::new(|_, url: &str| if url.contains("refunds") { Carried::Lost } else { replied(200, PAID) });
    world.pay(&silent, 0);
    for n in 0..20 {
        let (amount, reference) = ("0.10".parse().ok(), format!("part-{n}").parse().ok());
        world.shop().reverse("r", ReverseRequest { amount, reference, ..ReverseRequest::default() }).unwrap();
    }
    world.pass(&silent, 0);
    let fine = Script::new(|_, _| replied(200, PAID));
    let left_out =
        ("rail_not_asked".to_owned(), "the rail was not asked about 3 more reversals that are not final: check again".to_owned());
    assert_eq!(findings(&world, &fine), [left_out]);
    assert_eq!(fine.asked().len(), 1 + 16 + 1);
    assert_eq!(findings(&world, &fine), []);
    assert_eq!(world.shop().settlement("r").unwrap().reversed_amount.as_str(), "2.00");
}

#[test]
fn what_contradicts_a_reversal_waits_for_a_person_once() {
    let world = two();
    let fine = Script::new(|_, _| replied(200, PAID));
    world.pay(&fine, 0);
    world.shop().reverse("r", ReverseRequest::default()).unwrap();
    world.pass(&fine, 0);
    assert_eq!((findings(&world, &fine), reviews(&world)), (vec![], vec![]));

    let denies = Script::new(|_, url: &str| if url.contains("refunds") { replied(200, REFUSED) } else { replied(200, PAID) });
    let denied = ("rail_disagrees".to_owned(), "reversal REV: the rail says declined, the record says completed".to_owned());
    let waits = ("needs_review".to_owned(), "the settlement waits for a person to look at it".to_owned());
    assert_eq!(findings(&world, &denies), [denied.clone(), waits.clone()]);
    assert_eq!((reviews(&world), world.shop().settlement("r").unwrap().needs_review), (vec![Some(1)], true));
    assert_eq!(world.shop().settlement("r").unwrap().status, SettlementStatus::Reversed, "no money moves");
    let before = events(&world);
    assert_eq!(findings(&world, &denies), [denied, waits]);
    assert_eq!((reviews(&world), events(&world)), (vec![Some(1)], before), "a repeat changes nothing");
}

#[test]
fn that_the_rail_does_not_find_what_it_paid_is_a_contradiction_if_its_word_counts() {
    let cases = [(false, true, vec![None]), (false, false, vec![]), (true, true, vec![Some(1)]), (true, false, vec![])];
    for (of_reversal, authoritative, waiting) in cases {
        let world = two_with(|spec| spec.capabilities.inquiry = authoritative);
        let fine = Script::new(|_, _| replied(200, r#"{"status":"paid","reference":"P-1"}"#));
        world.pay(&fine, 0);
        if of_reversal {
            give_back(&world);
            world.pass(&fine, 0);
        }
        let lost =
            Script::new(move |_, url: &str| if url.contains("refunds") == of_reversal { replied(404, "") } else { replied(200, PAID) });
        findings(&world, &lost);
        assert_eq!(reviews(&world), [], "it may have been asked before it paid");
        world.pass(&fine, 60_000);
        let found = findings(&world, &lost);
        let about = if of_reversal { "reversal REV: " } else { "" };
        assert_eq!(found[0], ("rail_disagrees".to_owned(), format!("{about}the rail says not_sent, the record says completed")));
        assert_eq!(reviews(&world), waiting);
        let status = world.shop().settlement("r").unwrap().status;
        assert_eq!(status, if of_reversal { SettlementStatus::Reversed } else { SettlementStatus::Completed }, "no money moves");
    }
}

#[test]
fn that_a_check_does_not_find_what_is_open_proves_nothing_however_late_it_is() {
    let world = two();
    world.pay(&Script::new(|_, _| Carried::Lost), 600_000);
    findings(&world, &Script::new(|_, _| replied(404, "")));
    let view = world.shop().settlement("r").unwrap();
    assert_eq!((view.status, view.provider.as_str()), (SettlementStatus::Unknown, "first"));
    assert_eq!(reviews(&world), []);
}

#[test]
fn that_it_was_not_found_contradicts_nothing_if_it_is_reported_under_a_lost_lease() {
    for of_reversal in [false, true] {
        let world = two();
        let lost = Script::new(move |method: &str, url: &str| match method == "PUT" && url.contains("refunds") == of_reversal {
            true => Carried::Lost,
            false => replied(200, PAID),
        });
        world.pay(&lost, 0);
        if of_reversal {
            give_back(&world);
            world.pass(&lost, 0);
        }
        // One host asks what became of it. While it stands still, another asks again, and it was done.
        world.env.advance_to(START + 5_000);
        let (subject, key) = lease_and_stand_still(&world);
        world.pass(&lost, 600_000);
        let done = world.shop().settlement("r").unwrap().status;
        assert_eq!(done, if of_reversal { SettlementStatus::Reversed } else { SettlementStatus::Completed });
        world.gateway.engine().run(ReportAnswer { subject, answer: RailAnswer::NotSent, lease: Some(key) }).unwrap();
        assert_eq!((reviews(&world), world.shop().settlement("r").unwrap().status), (vec![], done));
    }
}

#[test]
fn a_provider_of_an_unknown_rail_is_refused_at_the_start() {
    let providers = vec![provider("first", "https://one.example")];
    let config = Config { providers, ..Config::sandbox() };
    let opened = Gateway::open_with(Arc::new(MemoryStore::new()), Arc::new(ManualEnv::new(START, 1)), config);
    let cause = opened.err().unwrap();
    assert!(std::error::Error::source(&cause).unwrap().to_string().contains("provider first uses rail plain"));
}
