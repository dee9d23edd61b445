//! End users of clients: codes, devices, limits, and payments that wait for the user.

use std::sync::Arc;

use crate::support::{START, Sandbox, create, enroll, target, together};
use railgate::api::{Caller, SettlementView};
use railgate::auth::{PublicKey, Scope, Signer, SoftwareKey};
use railgate::engine::{
    Create, DEVICE_CODE_TTL_MS, DecidePayment, EnrollDevice, MadeCode, Maintain, MakeDeviceCode, NewDevice, Operated, PutTerms, PutUser,
    RenameDevice, RevokeDevice, SetClock, Shown, Suspend,
};
use railgate::ids::{KeyNo, Ulid, UserNo};
use railgate::ledger::Mode;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{DeviceCodeRecord, RecordKind, UserStatus};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store, typed_all};
use railgate::validate::mobile::parse_user;
use railgate::validate::simulator::parse_clock;
use railgate::{Config, Error, ErrorCode};

const HOUR: i64 = 3_600_000;
const LIMITS: &str = r#"{"limits":[{"currency":"EUR","max":500,"daily_value":900,"daily_count":5,"approval_over":100}]}"#;

fn over_each_store(test: impl Fn(&Sandbox)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("mobile.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for store in stores {
        test(&Sandbox::over(store, Config::default(), 1));
    }
}

fn key(n: u8) -> PublicKey {
    SoftwareKey::ed25519(&[n; 32]).public_key()
}

fn make_code(caller: Caller, name: &str) -> MakeDeviceCode {
    let (limits, _) = parse_user(LIMITS.as_bytes()).unwrap();
    MakeDeviceCode { caller, name: name.to_owned(), limits, link: "app:{code}".to_owned() }
}

fn code_for(s: &Sandbox, name: &str) -> MadeCode {
    s.engine.run(make_code(s.caller, name)).unwrap()
}

fn enrolling(code: &str, n: u8) -> EnrollDevice {
    let platform = "android".to_owned();
    EnrollDevice {
        code: code.to_owned(),
        key: key(n),
        platform,
        app_version: None,
        model: None,
        label: Some(format!("phone {n}")),
        attestation: None,
    }
}

#[test]
fn two_commands_that_name_a_new_user_at_once_fail_nobody() {
    over_each_store(|s| {
        let put = PutUser { caller: s.caller, name: "ada".to_owned(), limits: None, status: None };
        let (one, other) = together(&s.engine, put.clone(), make_code(s.caller, "ada"));
        assert_eq!(one.unwrap().no, other.unwrap().user.no);
        let (one, other) = together(&s.engine, make_code(s.caller, "ben"), PutUser { name: "ben".to_owned(), ..put });
        assert_eq!(one.unwrap().user.no, other.unwrap().no);
    });
}

/// A device of an end user, and how it calls.
struct Phone {
    caller: Caller,
    key: KeyNo,
    id: Ulid,
}

impl From<(&Sandbox, NewDevice)> for Phone {
    fn from((s, new): (&Sandbox, NewDevice)) -> Self {
        Self { caller: Caller { user: Some(new.user.no), ..s.caller }, key: new.key.no, id: new.device.id }
    }
}

fn phone(s: &Sandbox, name: &str, n: u8) -> Phone {
    let code = code_for(s, name).code;
    (s, s.engine.run(enrolling(&code, n)).unwrap()).into()
}

/// A payment as this caller asks for it.
fn payment(s: &Sandbox, caller: Caller, reference: &str, amount: u32, more: &str) -> Create {
    let body = format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:ok","reference":"{reference}"{more}}}"#);
    Create { caller, request: Box::new(s.engine.parse_create(body.as_bytes()).unwrap()) }
}

fn pay(s: &Sandbox, caller: Caller, reference: &str, amount: u32, more: &str) -> Result<SettlementView, Error> {
    let created = s.engine.run(payment(s, caller, reference, amount, more))?;
    Ok(s.engine.view(&created.settlement, caller.client_id))
}

fn decision(view: &SettlementView, phone: &Phone, approve: bool) -> DecidePayment {
    let money = format!("{} {}", view.amount.as_str(), view.currency).parse().unwrap();
    let shown = Shown { money, to: view.to.parse().unwrap(), reference: view.reference.parse().unwrap(), payee_name: None };
    let settlement = Ulid::parse(view.id.strip_prefix("stl_").unwrap()).unwrap();
    DecidePayment { caller: phone.caller, key: phone.key, settlement, approve, shown, reason: None }
}

fn decide(s: &Sandbox, view: &SettlementView, phone: &Phone, approve: bool) -> Result<SettlementView, Error> {
    let record = s.engine.run(decision(view, phone, approve))?;
    Ok(s.engine.view(&record, phone.caller.client_id))
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    result.unwrap_err().code
}

fn approval(view: &SettlementView) -> &'static str {
    view.approval.as_ref().map_or("none", |approval| approval.status.as_str())
}

#[test]
fn a_code_enrols_one_device_once() {
    over_each_store(|s| {
        let made = code_for(s, "ada");
        assert_eq!(made.expires_at, START + DEVICE_CODE_TTL_MS);
        let wrong = made.code.replace(&made.code[..1], if made.code.starts_with('7') { "8" } else { "7" });
        assert_eq!(code(s.engine.run(enrolling(&wrong, 1))), ErrorCode::DeviceCodeInvalid);
        let new = s.engine.run(enrolling(&made.code.to_lowercase().replace('-', " "), 1)).unwrap();
        assert_eq!((new.user.name.as_str(), new.client_id), ("ada", s.caller.client_id));
        assert_eq!(new.key.scopes.to_string(), Scope::Mobile.as_str());
        assert_eq!(code(s.engine.run(enrolling(&made.code, 2))), ErrorCode::DeviceCodeInvalid, "it was used");
        assert_eq!(code(s.engine.run(enrolling(&made.code, 1))), ErrorCode::KeyExists, "its own answer may have been lost");

        let credential = s.engine.authenticate(&new.token.text).unwrap();
        assert_eq!(credential.caller, Caller { user: Some(new.user.no), ..s.caller });
        assert_eq!(s.engine.signatory(&key(1).id()).unwrap().caller, credential.caller);
        assert!(s.engine.keys(&s.caller).unwrap().is_empty(), "a device's key is not one of the client's");
        s.assert_sound();
    });
}

#[test]
fn of_two_devices_with_one_code_one_enrols() {
    over_each_store(|s| {
        let made = code_for(s, "ada");
        let (one, next) = together(&s.engine, enrolling(&made.code, 1), enrolling(&made.code, 2));
        assert!(one.is_ok());
        assert_eq!(code(next), ErrorCode::DeviceCodeInvalid);
    });
}

#[test]
fn the_last_code_of_a_user_counts_and_for_ten_minutes() {
    over_each_store(|s| {
        let first = code_for(s, "ada");
        let other = code_for(s, "bob");
        let (second, third) = together(&s.engine, make_code(s.caller, "ada"), make_code(s.caller, "ada"));
        for replaced in [&first, &second.unwrap()] {
            assert_eq!(code(s.engine.run(enrolling(&replaced.code, 1))), ErrorCode::DeviceCodeInvalid);
        }
        s.env.advance_to(START + DEVICE_CODE_TTL_MS - 1);
        s.engine.run(enrolling(&third.unwrap().code, 1)).unwrap();
        s.env.advance_to(START + DEVICE_CODE_TTL_MS);
        assert_eq!(code(s.engine.run(enrolling(&other.code, 2))), ErrorCode::DeviceCodeInvalid);
        let codes = || typed_all::<DeviceCodeRecord>(s.store.scan(&Scan::all(RecordKind::DeviceCode, 9)).unwrap()).unwrap().len();
        assert_eq!(codes(), 1);
        s.env.advance_to(START + DEVICE_CODE_TTL_MS + 1);
        s.engine.run(Maintain).unwrap();
        assert_eq!(codes(), 0);
    });
}

#[test]
fn a_device_sees_its_users_payments_and_no_others() {
    over_each_store(|s| {
        let (ada, bob) = (phone(s, "ada", 1), phone(s, "bob", 2));
        pay(s, ada.caller, "a-1", 10, "").unwrap();
        pay(s, s.caller, "a-2", 10, r#","user":"ada""#).unwrap();
        pay(s, bob.caller, "b-1", 10, "").unwrap();
        s.pay("c-1", "sim:ok");
        let listed = |caller: &Caller, query: &[(String, String)]| {
            let page = s.engine.list(caller, &s.engine.parse_list(query).unwrap()).unwrap();
            page.data.iter().map(|it| it.reference.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(listed(&ada.caller, &[]), ["a-2", "a-1"]);
        assert_eq!(listed(&bob.caller, &[]), ["b-1"]);
        assert_eq!(listed(&s.caller, &[]).len(), 4);
        let of = |name: &str| [("user".to_owned(), name.to_owned())];
        assert_eq!(listed(&s.caller, &of("ada")), ["a-2", "a-1"]);
        assert_eq!(listed(&bob.caller, &of("ada")), ["b-1"], "a device sees its own user's, whatever it asks for");
        assert_eq!(listed(&s.caller, &of("nobody")), [""; 0]);
        assert!(s.engine.settlement(&ada.caller, &target("a-2")).is_ok());
        for hidden in ["b-1", "c-1", s.view("b-1").id.as_str()] {
            assert_eq!(code(s.engine.settlement(&ada.caller, &target(hidden))), ErrorCode::SettlementNotFound, "{hidden}");
        }
        let taken = pay(s, ada.caller, "b-1", 10, "").unwrap_err();
        assert_eq!((taken.code, taken.detail.contains("user")), (ErrorCode::ReferenceConflict, false), "and does not learn whose it is");
        assert_eq!(s.view("a-1").user.as_deref(), Some("ada"));
        assert_eq!(s.events("a-1")[0].actor.as_str(), "user");
        assert_eq!(s.events("a-2")[0].actor.as_str(), "client");
    });
}

#[test]
fn a_user_pays_within_limits_besides_those_of_the_client() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        assert_eq!(code(pay(s, ada.caller, "p-0", 501, "")), ErrorCode::AmountAboveMaximum);
        assert_eq!(code(pay(s, s.caller, "p-0", 501, r#","user":"ada""#)), ErrorCode::AmountAboveMaximum);
        pay(s, ada.caller, "p-1", 500, "").unwrap();
        pay(s, ada.caller, "p-2", 400, "").unwrap();
        assert_eq!(code(pay(s, ada.caller, "p-3", 1, "")), ErrorCode::LimitDailyValue);
        assert!(pay(s, s.caller, "p-4", 501, "").is_ok(), "what the client pays for itself does not count");
        // What is cancelled does not count any more.
        s.reverse("p-2", "").unwrap();
        pay(s, ada.caller, "p-5", 400, "").unwrap();
        s.assert_sound();
        for n in 6..9 {
            s.reverse(&format!("p-{}", n - 1), "").unwrap();
            pay(s, ada.caller, &format!("p-{n}"), 101, "").unwrap();
        }
        s.assert_sound();
        let check = s.engine.preflight(&ada.caller, br#"{"amount":501,"currency":"EUR","to":"sim:ok","reference":"p-9"}"#).unwrap().view;
        assert!(!check.ok && check.problems[0].code == "amount_above_maximum", "{:?}", check.problems);
        let nobody = pay(s, s.caller, "p-10", 1, r#","user":"eve""#).unwrap_err();
        assert_eq!((&*nobody.fields[0].pointer, &*nobody.fields[0].code), ("/user", "user_not_found"));
        assert!(pay(s, ada.caller, "p-11", 1, r#","user":"bob""#).is_err(), "a device pays as its own user");
    });
}

#[test]
fn a_payment_above_the_limit_waits_until_its_user_approves_it() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        let before = s.euros();
        let waiting = pay(s, s.caller, "p-1", 250, r#","user":"ada""#).unwrap();
        assert_eq!((waiting.status.as_str(), approval(&waiting)), ("accepted", "pending"));
        s.pass(HOUR / 2);
        assert_eq!((s.status("p-1"), s.euros().1.as_str()), ("accepted", "250.00"), "its money is on hold, and nothing is sent");
        s.assert_sound();
        let listed = s.engine.waiting_payments(&ada.caller).unwrap().data;
        assert_eq!(listed.iter().map(|it| it.reference.as_str()).collect::<Vec<_>>(), ["p-1"]);

        let approved = decide(s, &waiting, &ada, true).unwrap();
        assert_eq!((approval(&approved), approved.expires_at), ("approved", None));
        s.work();
        assert_eq!(s.status("p-1"), "completed");
        assert_eq!(
            s.trace("p-1"),
            [
                "settlement.accepted",
                "approval.requested",
                "approval.approved",
                "settlement.submitted",
                "attempt.started",
                "attempt.answered",
                "settlement.completed"
            ]
        );
        let events = s.events("p-1");
        let said: serde_json::Value = serde_json::from_str(events[2].data.get()).unwrap();
        assert_eq!(said["device"], format!("dev_{}", ada.id));
        assert_eq!(said["key_id"], key(1).id().to_string());
        assert_eq!(said["shown"], serde_json::json!({"amount": "250.00", "currency": "EUR", "reference": "p-1", "to": "sim:ok"}));
        assert_eq!(events[2].actor.as_str(), "user");
        assert!(s.engine.waiting_payments(&ada.caller).unwrap().data.is_empty());
        assert_ne!(s.euros(), before);
        s.assert_sound();
        // The client's repeat of its create is a replay, whatever has become of it.
        assert_eq!(pay(s, s.caller, "p-1", 250, r#","user":"ada""#).unwrap().status.as_str(), "completed");
        assert_eq!(code(pay(s, s.caller, "p-1", 250, "")), ErrorCode::ReferenceConflict);
    });
}

#[test]
fn a_phone_does_not_learn_what_its_client_has() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        let check = |amount: &str| {
            let body = format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:ok","reference":"p-1"}}"#);
            let view = s.engine.preflight(&ada.caller, body.as_bytes()).unwrap().view;
            (view.funds_available, view.problems.iter().map(|it| it.code.to_string()).collect::<Vec<_>>())
        };
        // Beyond what its user may pay, it makes no difference whether there is as much.
        let refused = (false, vec!["amount_above_maximum".to_owned(), "limit_daily_value".to_owned()]);
        assert_eq!((check("901"), check("900000000")), (refused.clone(), refused));
        assert_eq!(check("500"), (true, Vec::new()));
        // Of the client's own limits it learns that they are reached.
        let limits = serde_json::json!({"client": format!("cli_{}", s.caller.client_id), "limits": [{"mode": "sandbox", "currency": "EUR", "daily_value": "40"}]});
        s.engine.run(Operated(PutTerms { terms: vec![(serde_json::from_value(limits).unwrap(), None)], reason: None })).unwrap();
        s.engine.follow_setup().unwrap();
        let (own, seen) = (pay(s, s.caller, "p-1", 41, "").unwrap_err(), pay(s, ada.caller, "p-1", 41, "").unwrap_err());
        assert_eq!((own.code, seen.code), (ErrorCode::LimitDailyValue, ErrorCode::LimitDailyValue));
        assert!(own.detail.contains("40.00") && !seen.detail.contains("40.00"), "{}", seen.detail);
        assert_eq!(check("41"), (true, vec!["limit_daily_value".to_owned()]));
    });
}

#[test]
fn up_to_the_limit_nobody_is_asked() {
    let s = Sandbox::new();
    let ada = phone(&s, "ada", 1);
    let paid = pay(&s, ada.caller, "p-1", 100, "").unwrap();
    assert_eq!(approval(&paid), "none");
    s.work();
    assert_eq!(s.status("p-1"), "completed");
    assert_eq!(code(decide(&s, &paid, &ada, true)), ErrorCode::PaymentApprovalNotFound);
}

#[test]
fn a_declined_payment_is_cancelled_and_its_money_is_free() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        let before = s.euros();
        let waiting = pay(s, ada.caller, "p-1", 250, "").unwrap();
        let declined = decide(s, &waiting, &ada, false).unwrap();
        assert_eq!((declined.status.as_str(), approval(&declined)), ("cancelled", "declined"));
        assert_eq!(s.euros(), before);
        assert_eq!(s.trace("p-1")[2..], ["approval.declined", "settlement.cancelled"]);
        assert_eq!(s.events("p-1")[3].data.get(), r#"{"reason":"declined"}"#);
        assert_eq!(decide(s, &waiting, &ada, false).unwrap().version, declined.version, "the same again changes nothing");
        s.pass(2 * HOUR);
        s.assert_sound();
    });
}

#[test]
fn a_payment_that_nobody_decides_about_is_cancelled() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        let waiting = pay(s, ada.caller, "p-1", 250, "").unwrap();
        assert_eq!(waiting.expires_at.map(|at| at.to_string()), Some(railgate::time::rfc3339(START + HOUR)));
        let sooner = format!(r#","expires_at":"{}""#, railgate::time::rfc3339(START + 5_000));
        let short = pay(s, ada.caller, "p-2", 250, &sooner).unwrap();
        let expire = |at| {
            s.env.advance_to(at);
            let settlements = s.engine.expired(None, 9).unwrap().settlements;
            s.engine.run(railgate::engine::Expire { settlements }).unwrap()
        };
        assert_eq!(expire(START + 4_999), 0);
        s.env.advance_to(START + 5_000);
        assert_eq!(code(decide(s, &short, &ada, true)), ErrorCode::ApprovalDecided, "its time is over");
        assert_eq!(expire(START + 5_000), 1);
        assert_eq!((s.status("p-2"), approval(&s.view("p-2"))), ("cancelled", "ended"));
        assert_eq!(expire(START + HOUR), 1);
        assert_eq!(code(decide(s, &waiting, &ada, true)), ErrorCode::ApprovalDecided);
        assert_eq!(pay(s, ada.caller, "p-2", 250, &sooner).unwrap().status.as_str(), "cancelled", "its create is a replay");
        // The client may withdraw one, too.
        let third = pay(s, ada.caller, "p-3", 250, "").unwrap();
        s.reverse("p-3", "").unwrap();
        assert_eq!(code(decide(s, &third, &ada, true)), ErrorCode::ApprovalDecided);
        s.assert_sound();
    });
}

#[test]
fn a_clock_that_is_put_ahead_ends_what_nobody_decided_about_and_holds_up_nobody() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        for reference in ["p-1", "p-2"] {
            pay(s, ada.caller, reference, 250, "").unwrap();
        }
        let request = parse_clock(br#"{"advance_ms":3600001}"#).unwrap();
        s.engine.run(SetClock { caller: s.caller, request }).unwrap();
        let other = enroll(&s.engine, "Another");
        let paid = s.engine.run(create(&s.engine, other, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"theirs"}"#)).unwrap();
        s.pass(5_000);
        assert_eq!(["p-1", "p-2"].map(|reference| (s.status(reference), approval(&s.view(reference)))), [("cancelled", "ended"); 2]);
        let paid = s.engine.settlement_by_number(paid.settlement.no).unwrap().unwrap();
        assert_eq!(paid.status.as_str(), "completed");
        s.assert_sound();
    });
}

#[test]
fn an_approved_payment_keeps_the_end_that_its_client_set() {
    let s = Sandbox::new();
    let ada = phone(&s, "ada", 1);
    let end = railgate::time::rfc3339(START + 2 * HOUR);
    let waiting = pay(&s, ada.caller, "p-1", 250, &format!(r#","expires_at":"{end}""#)).unwrap();
    assert_eq!(waiting.expires_at.map(|at| at.to_string()), Some(railgate::time::rfc3339(START + HOUR)));
    let approved = decide(&s, &waiting, &ada, true).unwrap();
    assert_eq!(approved.expires_at.map(|at| at.to_string()), Some(end));
}

#[test]
fn of_two_devices_that_answer_at_once_one_counts_and_the_other_is_told() {
    over_each_store(|s| {
        let (one, two) = (phone(s, "ada", 1), phone(s, "ada", 2));
        let waiting = pay(s, s.caller, "p-1", 250, r#","user":"ada""#).unwrap();
        let (first, second) = together(&s.engine, decision(&waiting, &one, true), decision(&waiting, &two, false));
        assert!(first.is_ok());
        let told = second.unwrap_err();
        assert_eq!(told.code, ErrorCode::ApprovalDecided);
        assert!(told.detail.contains("approved on the device phone 1"), "{}", told.detail);
        assert_eq!(code(decide(s, &waiting, &two, true)), ErrorCode::ApprovalDecided, "also if it agrees");
        s.work();
        assert_eq!(s.status("p-1"), "completed");
        s.assert_sound();
    });
}

#[test]
fn what_the_app_showed_must_be_what_would_be_paid() {
    let s = Sandbox::new();
    let (ada, bob) = (phone(&s, "ada", 1), phone(&s, "bob", 2));
    let waiting = pay(&s, ada.caller, "p-1", 250, "").unwrap();
    let right = decision(&waiting, &ada, true);
    let shown = &right.shown;
    let wrong = [
        ("/shown/amount", Shown { money: "25.00 EUR".parse().unwrap(), ..shown.clone() }),
        ("/shown/currency", Shown { money: "250.00 USD".parse().unwrap(), ..shown.clone() }),
        ("/shown/to", Shown { to: "sim:slow-30s".parse().unwrap(), ..shown.clone() }),
        ("/shown/reference", Shown { reference: "p-2".parse().unwrap(), ..shown.clone() }),
    ];
    for (pointer, shown) in wrong {
        let refused = s.engine.run(DecidePayment { shown, ..right.clone() }).unwrap_err();
        assert_eq!((&*refused.fields[0].pointer, &*refused.fields[0].code), (pointer, "shown_differs"));
    }
    assert_eq!(code(decide(&s, &waiting, &bob, true)), ErrorCode::PaymentApprovalNotFound, "another user's payment does not exist");
    assert_eq!(approval(&s.view("p-1")), "pending");
    assert!(s.engine.run(right).is_ok());
}

#[test]
fn a_blocked_user_pays_nothing_and_has_no_device_that_may_call() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        let token = |n| s.engine.signatory(&key(n).id());
        let waiting = pay(s, ada.caller, "p-1", 250, "").unwrap();
        let put = |status| s.engine.run(PutUser { caller: s.caller, name: "ada".to_owned(), limits: None, status: Some(status) }).unwrap();
        put(UserStatus::Blocked);
        assert_eq!(code(token(1)), ErrorCode::UserBlocked);
        assert_eq!(code(pay(s, s.caller, "p-2", 1, r#","user":"ada""#)), ErrorCode::UserBlocked);
        assert_eq!(code(decide(s, &waiting, &ada, true)), ErrorCode::UserBlocked);
        assert_eq!(code(s.engine.run(make_code(s.caller, "ada"))), ErrorCode::UserBlocked);
        put(UserStatus::Active);
        assert!(token(1).is_ok() && decide(s, &waiting, &ada, true).is_ok());
        s.engine.run(Suspend(s.caller.client_id)).unwrap();
        assert_eq!(code(token(1)), ErrorCode::ClientSuspended);
    });
}

#[test]
fn a_device_is_renamed_and_revoked_by_its_user_or_the_client() {
    over_each_store(|s| {
        let (one, two, bob) = (phone(s, "ada", 1), phone(s, "ada", 2), phone(s, "bob", 3));
        let rename =
            |phone: &Phone, device, label: &str| s.engine.run(RenameDevice { caller: phone.caller, device, label: label.to_owned() });
        rename(&one, two.id, "the old one").unwrap();
        assert_eq!(code(rename(&bob, two.id, "mine")), ErrorCode::DeviceNotFound);
        let names = |caller, user| {
            let devices = s.engine.devices(caller, user).unwrap().data;
            devices.into_iter().map(|it| (it.name.unwrap(), it.revoked_at.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(names(&one.caller, None), [("phone 1".to_owned(), false), ("the old one".to_owned(), false)]);
        assert_eq!(names(&s.caller, Some("bob")), [("phone 3".to_owned(), false)]);
        let revoke = |caller, device| s.engine.run(RevokeDevice { caller, device });
        assert_eq!(code(revoke(bob.caller, one.id)), ErrorCode::DeviceNotFound);
        let other = enroll(&s.engine, "Another client");
        assert_eq!(code(revoke(other, one.id)), ErrorCode::DeviceNotFound);
        revoke(one.caller, two.id).unwrap();
        assert_eq!(code(s.engine.signatory(&key(2).id())), ErrorCode::KeyRevoked);
        revoke(s.caller, one.id).unwrap();
        assert_eq!(revoke(s.caller, one.id).unwrap().revoked_at, Some(START), "once is enough");
        assert!(names(&s.caller, Some("ada")).iter().all(|(_, revoked)| *revoked));
    });
}

#[test]
fn users_are_of_one_client_and_one_mode() {
    over_each_store(|s| {
        phone(s, "ada", 1);
        let live = Caller { mode: Mode::Live, ..s.caller };
        let other = enroll(&s.engine, "Another client");
        for stranger in [live, other] {
            assert_eq!(code(s.engine.user(&stranger, "ada")), ErrorCode::UserNotFound);
            assert!(s.engine.users(&stranger, "", 9).unwrap().data.is_empty());
        }
        s.engine.run(make_code(live, "ada")).unwrap();
        s.engine.run(make_code(s.caller, "bob")).unwrap();
        let page = s.engine.users(&s.caller, "", 1).unwrap();
        assert_eq!((page.data[0].user.as_str(), page.next_cursor.as_deref()), ("ada", Some("ada")));
        assert_eq!(s.engine.users(&s.caller, "ada", 1).unwrap().data[0].user, "bob");
        assert_ne!(s.engine.user(&live, "ada").unwrap().no, UserNo(1));
    });
}

#[test]
fn a_payment_to_another_client_waits_too() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        let shop = enroll(&s.engine, "Shop");
        let body = format!(r#"{{"amount":250,"currency":"EUR","to":"participant:cli_{}","reference":"p-1"}}"#, shop.client_id);
        let request = Box::new(s.engine.parse_create(body.as_bytes()).unwrap());
        let created = s.engine.run(Create { caller: ada.caller, request }).unwrap();
        let waiting = s.engine.view(&created.settlement, s.caller.client_id);
        assert_eq!((waiting.status.as_str(), approval(&waiting)), ("accepted", "pending"));
        let received = |s: &Sandbox| s.engine.list(&shop, &s.engine.parse_list(&[]).unwrap()).unwrap().data.len();
        assert_eq!(received(s), 0);
        let paid = decide(s, &waiting, &ada, true).unwrap();
        assert_eq!((paid.status.as_str(), received(s)), ("completed", 1));
        s.assert_sound();
    });
}
