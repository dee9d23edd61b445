//! What end users are told: each event once, in the inbox and as pushes, within what they prefer.
#![cfg(all(feature = "push", feature = "sqlite", feature = "testkit"))]

use crate::support;
use std::sync::Arc;

use crate::support::{START, Sandbox};
use railgate::api::{Caller, CreateRequest, Parcel, Target, Tried};
use railgate::auth::{Signer as _, SoftwareKey};
use railgate::engine::{
    Create, DecidePayment, Delivered, EnrollDevice, Expire, LeaseQueues, MOST_SUBSCRIPTIONS, Maintain, MakeDeviceCode, MarkAllRead,
    MarkRead, NOTIFICATIONS_KEPT, NumberEvents, Operated, PutPreferences, RemoveSubscription, Reverse, RevokeDevice, Rotate, Shown,
    Subscribe,
};
use railgate::env::Env as _;
use railgate::ids::{KeyNo, Ulid, UserNo};
use railgate::notification::{Detail, Preferences, Push, Quiet};
use railgate::seal::MasterKeys;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{
    DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointStatus, LastTry, NotificationKind, NotificationRecord, Record, RecordKind,
    SecretKind,
};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store, typed_all};
use railgate::validate::mobile::parse_user;
use railgate::validate::notification::{parse_preferences, parse_subscription};
use railgate::validate::parse_reverse;
use railgate::{Config, Engine, ErrorCode};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const P256DH: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

fn config() -> Config {
    Config { master: MasterKeys::new(vec![(1, [9; 32])]).map(Arc::new), ..Config::default() }
}

fn over_each_store(test: impl Fn(&Sandbox)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("notifications.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for store in stores {
        test(&Sandbox::over(store, config(), 1));
    }
}

/// A device of an end user, and how it calls.
#[derive(Clone, Copy)]
struct Phone {
    caller: Caller,
    key: KeyNo,
    id: Ulid,
    user: UserNo,
}

fn phone(s: &Sandbox, name: &str, n: u8) -> Phone {
    let (limits, _) = parse_user(br#"{"limits":[{"currency":"EUR","approval_over":100}]}"#).unwrap();
    let make = MakeDeviceCode { caller: s.caller, name: name.to_owned(), limits, link: "app:{code}".to_owned() };
    let code = s.engine.run(make).unwrap().code;
    let key = SoftwareKey::ed25519(&[n; 32]).public_key();
    let label = Some(format!("phone {n}"));
    let enroll = EnrollDevice { code, key, platform: "android".to_owned(), app_version: None, model: None, attestation: None, label };
    let new = s.engine.run(enroll).unwrap();
    let caller = Caller { user: Some(new.user.no), ..s.caller };
    Phone { caller, key: new.key.no, id: new.device.id, user: new.user.no }
}

impl Phone {
    /// What the user was told, oldest first.
    fn told(&self, s: &Sandbox) -> Vec<NotificationRecord> {
        number(&s.engine);
        s.engine.inbox_after(&self.caller, 0, 1_000).unwrap().into_iter().map(|entry| entry.record).collect()
    }

    fn kinds(&self, s: &Sandbox) -> Vec<&'static str> {
        self.told(s).iter().map(|record| record.kind.as_str()).collect()
    }

    fn subscribe(&self, s: &Sandbox, path: &str) -> EndpointRecord {
        let body =
            format!(r#"{{"endpoint":"https://push.example.com/{path}","keys":{{"p256dh":"{P256DH}","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}}}"#);
        s.engine.run(Subscribe { caller: self.caller, key: self.key, new: parse_subscription(body.as_bytes()).unwrap() }).unwrap()
    }

    fn prefers(&self, s: &Sandbox, body: &str) {
        s.engine.run(PutPreferences { caller: self.caller, wants: parse_preferences(body.as_bytes()).unwrap() }).unwrap();
    }

    fn pay(&self, s: &Sandbox, reference: &str, amount: u32, to: &str) {
        let request = CreateRequest::new(format!("{amount}.00 EUR").parse().unwrap(), to.parse().unwrap(), reference.parse().unwrap());
        s.engine.run(Create { caller: self.caller, request: Box::new(request) }).unwrap();
    }

    fn decide(&self, s: &Sandbox, reference: &str, approve: bool) {
        let record = s.engine.settlement(&self.caller, &Target::Reference(reference.parse().unwrap())).unwrap();
        let view = s.engine.view(&record, self.caller.client_id);
        let money = format!("{} {}", view.amount.as_str(), view.currency).parse().unwrap();
        let shown = Shown { money, to: view.to.parse().unwrap(), reference: view.reference.parse().unwrap(), payee_name: None };
        let settlement = Ulid::parse(view.id.strip_prefix("stl_").unwrap()).unwrap();
        s.engine.run(DecidePayment { caller: self.caller, key: self.key, settlement, approve, shown, reason: None }).unwrap();
    }
}

fn number(engine: &Engine) {
    while engine.run(NumberEvents { limit: 1_000 }).unwrap().more {}
}

fn all<T: TryFrom<Record, Error = Record>>(s: &Sandbox, kind: RecordKind) -> Vec<T> {
    typed_all(s.store.scan(&Scan::all(kind, usize::MAX)).unwrap()).unwrap()
}

/// Every push that waits or was sent, oldest first.
fn pushes(s: &Sandbox) -> Vec<(DeliveryRecord, Push)> {
    number(&s.engine);
    let deliveries: Vec<DeliveryRecord> = all(s, RecordKind::Delivery);
    deliveries.into_iter().map(|delivery| (delivery.clone(), serde_json::from_str(&delivery.body).unwrap())).collect()
}

fn lease(s: &Sandbox) -> Option<Parcel> {
    number(&s.engine);
    s.engine.run(LeaseQueues { healthy: 9, troubled: 9, in_flight: Vec::new() }).unwrap().pop()
}

/// Reports that every delivery of a parcel got this answer.
fn answer(s: &Sandbox, parcel: &Parcel, status: Option<u16>, retry_after: Option<i64>, is_too_late: bool) {
    let at = s.env.now();
    let tries = parcel.deliveries.iter().map(|delivery| {
        let outcome = LastTry { at, took_ms: 1, status, error: None, excerpt: String::new() };
        Tried { delivery: delivery.no, outcome, retry_after, is_too_late }
    });
    let (endpoint, until) = (parcel.endpoint, parcel.until);
    s.engine.run(Delivered { endpoint, until, tries: tries.collect(), more: false }).unwrap();
}

#[test]
fn a_user_is_told_of_each_turn_of_their_payments_and_of_nothing_else() {
    over_each_store(|s| {
        let (ada, bob) = (phone(s, "ada", 1), phone(s, "bob", 2));
        s.pay("of-nobody", "sim:ok");
        ada.pay(s, "small", 10, "sim:ok");
        ada.pay(s, "wrong", 11, "sim:decline-account_closed");
        ada.pay(s, "large", 200, "sim:ok");
        s.work();
        ada.decide(s, "large", true);
        s.work();
        ada.pay(s, "declined", 201, "sim:ok");
        ada.decide(s, "declined", false);
        ada.pay(s, "late", 202, "sim:ok");
        s.pass(2 * HOUR);
        let settlements = s.engine.expired(None, 9).unwrap().settlements;
        s.engine.run(Expire { settlements }).unwrap();
        let told: Vec<(&str, String)> =
            ada.told(s).iter().map(|it| (it.kind.as_str(), it.facts.reference.clone().unwrap_or_default())).collect();
        let mut expected = vec![("device.enrolled", "")];
        expected.extend([("approval.requested", "large"), ("payment.completed", "small"), ("payment.failed", "wrong")]);
        expected.extend([("payment.completed", "large"), ("approval.requested", "declined"), ("payment.cancelled", "declined")]);
        expected.extend([("approval.requested", "late"), ("approval.expired", "late")]);
        let sorted = |mut all: Vec<(String, String)>| {
            all.sort();
            all
        };
        let owned = |all: Vec<(&str, String)>| sorted(all.into_iter().map(|(kind, of)| (kind.to_owned(), of)).collect());
        assert_eq!(owned(told), owned(expected.into_iter().map(|(kind, of)| (kind, of.to_owned())).collect()));
        assert_eq!(bob.kinds(s), ["device.enrolled"]);
        assert_eq!(s.engine.inbox(&s.caller, false, None, 9).unwrap_err().code, ErrorCode::InsufficientScope);
        s.assert_sound();
    });
}

#[test]
fn what_comes_back_is_told_with_its_amount() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        ada.pay(s, "back", 10, "sim:returned-after-1d");
        ada.pay(s, "part", 20, "sim:ok");
        s.work();
        let request = Box::new(parse_reverse(br#"{"amount":5}"#).unwrap());
        s.engine.run(Reverse { caller: s.caller, target: support::target("part"), request, idempotency: None }).unwrap();
        s.pass(25 * HOUR);
        let told = ada.told(s);
        let of = |kind| told.iter().find(|record| record.kind == kind).map(|record| record.facts.amount.clone().unwrap()).unwrap();
        assert_eq!(of(NotificationKind::PaymentReversed), "5.00");
        assert_eq!(of(NotificationKind::PaymentReturned), "10.00");
    });
}

#[test]
fn an_event_is_told_once_although_the_host_stops_in_between() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        ada.subscribe(s, "1");
        ada.pay(s, "p", 10, "sim:ok");
        s.work();
        // The event is stored, and nothing was told of it yet. Another host goes on.
        let next = Engine::open(s.store.clone(), s.env.clone(), config()).unwrap();
        s.env.advance_to(s.env.now() + 10_000);
        number(&next);
        number(&s.engine);
        assert_eq!(ada.kinds(s), ["device.enrolled", "payment.completed"]);
        assert_eq!(pushes(s).len(), 1);
        // A host that sent it and stopped before it said so: it is sent again, with the same id.
        let first = lease(s).unwrap();
        s.env.advance_to(s.env.now() + 10 * MINUTE);
        let again = lease(s).unwrap();
        assert_eq!(first.deliveries[0].body, again.deliveries[0].body);
        answer(s, &again, Some(201), None, false);
        assert!(lease(s).is_none());
    });
}

#[test]
fn a_push_has_no_more_than_its_user_lets_it_say() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        ada.subscribe(s, "1");
        for (n, detail) in Detail::ALL.iter().enumerate() {
            ada.prefers(s, &format!(r#"{{"detail":"{}"}}"#, detail.as_str()));
            ada.pay(s, &format!("rent-{n}"), 10, "sim:ok");
            s.work();
            number(&s.engine);
        }
        let said: Vec<String> = pushes(s).into_iter().map(|(delivery, _)| delivery.body).collect();
        for secret in ["rent-", "sim:ok", "stl_"] {
            assert_eq!(said.iter().map(|body| body.contains(secret)).collect::<Vec<_>>(), [false, false, true], "{secret}");
        }
        assert_eq!(said.iter().map(|body| body.contains("10.00")).collect::<Vec<_>>(), [false, true, true]);
    });
}

#[test]
fn what_a_user_does_not_want_is_not_told() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        ada.subscribe(s, "1");
        ada.prefers(s, r#"{"kinds":{"payment.completed":{"inbox":false},"payment.failed":{"push":false}}}"#);
        ada.pay(s, "good", 10, "sim:ok");
        ada.pay(s, "bad", 10, "sim:decline-other");
        s.work();
        assert_eq!(ada.kinds(s), ["device.enrolled", "payment.failed"]);
        let pushed = pushes(s);
        assert_eq!(pushed.len(), 1);
        assert_eq!((pushed[0].1.kind, &pushed[0].1.id), (NotificationKind::PaymentCompleted, &None));
    });
}

#[test]
fn pushes_wait_in_quiet_hours_unless_they_would_come_too_late() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        ada.subscribe(s, "1");
        // The clock shows 10:38 UTC.
        ada.prefers(s, r#"{"quiet_hours":{"from":"10:00","to":"12:00","time_zone":"Z"}}"#);
        let end = Quiet::parse("10:00", "12:00", "Z").unwrap().ends_at(START).unwrap();
        ada.pay(s, "p", 10, "sim:ok");
        ada.pay(s, "ask", 200, "sim:ok");
        s.work();
        let pushed = pushes(s);
        let of = |kind| pushed.iter().find(|(_, push)| push.kind == kind).unwrap();
        let (waits, push) = of(NotificationKind::PaymentCompleted);
        assert_eq!((waits.due, push.silent), (Some(end), false));
        let (comes, push) = of(NotificationKind::ApprovalRequested);
        assert_eq!((comes.due, push.silent), (Some(s.env.now()), true), "the approval ends at 11:38");
        let parcel = lease(s).unwrap();
        assert_eq!(parcel.deliveries.len(), 1, "only what does not wait");
        answer(s, &parcel, Some(201), None, false);
        assert!(lease(s).is_none());
        assert_eq!(s.engine.next_delivery_due(true, true).unwrap(), Some(end));
        s.env.advance_to(end);
        assert_eq!(lease(s).unwrap().deliveries.len(), 1);
        s.assert_sound();
    });
}

#[test]
fn a_push_service_says_when_a_subscription_has_ended() {
    for (status, ended) in [(404, true), (410, true), (413, false), (400, false), (403, false), (301, false)] {
        over_each_store(|s| {
            let ada = phone(s, "ada", 1);
            let endpoint = ada.subscribe(s, "1");
            ada.pay(s, "p", 10, "sim:ok");
            s.work();
            answer(s, &lease(s).unwrap(), Some(status), None, false);
            let left: Vec<EndpointRecord> = all(s, RecordKind::Endpoint);
            assert_eq!(left[0].status == EndpointStatus::Removed, ended, "{status}");
            if !ended {
                assert_eq!(pushes(s)[0].0.status, DeliveryStatus::Failed, "{status} is final");
                assert_eq!(s.engine.subscriptions(&ada.caller, ada.key).unwrap().data.len(), 1);
            }
            assert!(lease(s).is_none());
            assert_eq!(endpoint.no, left[0].no);
            s.assert_sound();
        });
    }
}

#[test]
fn what_can_get_better_is_tried_again_and_not_before_it_was_asked_to_be() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        ada.subscribe(s, "1");
        ada.pay(s, "p", 10, "sim:ok");
        s.work();
        answer(s, &lease(s).unwrap(), Some(429), Some(HOUR), false);
        s.env.advance_to(s.env.now() + HOUR - 1);
        assert!(lease(s).is_none());
        s.env.advance_to(s.env.now() + 1);
        answer(s, &lease(s).unwrap(), Some(503), None, false);
        s.env.advance_to(s.env.now() + 10 * MINUTE);
        // Nothing is sent any more, and that is not the push service's fault.
        answer(s, &lease(s).unwrap(), None, None, true);
        assert_eq!(pushes(s)[0].0.status, DeliveryStatus::Failed);
        assert!(lease(s).is_none());
        s.assert_sound();
    });
}

#[test]
fn a_user_has_so_many_subscriptions_and_each_endpoint_once() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        let first = ada.subscribe(s, "1");
        assert_eq!(ada.subscribe(s, "1").id, first.id, "an app sends its subscription at every start");
        for n in 2..=MOST_SUBSCRIPTIONS {
            ada.subscribe(s, &n.to_string());
        }
        let ids = || s.engine.subscriptions(&ada.caller, ada.key).unwrap().data.into_iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!((ids().len(), &ids()[0]), (MOST_SUBSCRIPTIONS, &format!("psh_{}", first.id)));
        ada.subscribe(s, "one-more");
        assert_eq!(ids().len(), MOST_SUBSCRIPTIONS);
        assert!(!ids().contains(&format!("psh_{}", first.id)), "the oldest made room");
        let bob = phone(s, "bob", 2);
        let id = Ulid::parse(ids()[0].strip_prefix("psh_").unwrap()).unwrap();
        let of = |phone: &Phone| s.engine.run(RemoveSubscription { caller: phone.caller, id });
        assert_eq!(of(&bob).unwrap_err().code, ErrorCode::PushSubscriptionNotFound);
        of(&ada).unwrap();
        assert_eq!(of(&ada).unwrap_err().code, ErrorCode::PushSubscriptionNotFound);
        assert!(s.engine.webhooks(&s.caller).unwrap().is_empty(), "they are nobody's webhooks");
        s.assert_sound();
    });
}

#[test]
fn a_subscription_ends_with_its_device_and_the_others_hear_of_it() {
    over_each_store(|s| {
        let (old, new) = (phone(s, "ada", 1), phone(s, "ada", 2));
        assert_eq!(old.user, new.user);
        old.subscribe(s, "old");
        new.subscribe(s, "new");
        s.engine.run(RevokeDevice { caller: new.caller, device: old.id }).unwrap();
        let left = s.engine.subscriptions(&new.caller, new.key).unwrap().data;
        assert_eq!(left.iter().map(|it| it.this_device).collect::<Vec<_>>(), [true]);
        assert_eq!(new.kinds(s), ["device.enrolled", "device.enrolled", "device.revoked"]);
        let pushed = pushes(s);
        assert_eq!(pushed.len(), 1, "only to the device that is left");
        assert_eq!((pushed[0].1.kind, pushed[0].0.settlement.0), (NotificationKind::DeviceRevoked, 0));
        s.assert_sound();
    });
}

#[test]
fn a_subscription_stays_bound_to_the_key_that_it_was_made_with() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        let of = |endpoint: &EndpointRecord| endpoint.push.as_ref().unwrap().vapid;
        let first = ada.subscribe(s, "1");
        let old = s.engine.subscriptions(&ada.caller, ada.key).unwrap().application_server_key;
        s.engine.run(Operated(Rotate(SecretKind::Vapid))).unwrap();
        let present = s.engine.subscriptions(&ada.caller, ada.key).unwrap().application_server_key;
        assert_ne!(present, old);
        assert_eq!(s.engine.vapid_key(of(&first)).unwrap().application_server_key(), old);
        assert_eq!(s.engine.vapid_key(of(&ada.subscribe(s, "2"))).unwrap().application_server_key(), present);
        let body = |key: &str| {
            let keys = format!(r#"{{"p256dh":"{P256DH}","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}"#);
            format!(r#"{{"endpoint":"https://push.example.com/3","keys":{keys},"application_server_key":"{key}"}}"#)
        };
        let with = |key: &str| {
            let new = parse_subscription(body(key).as_bytes()).unwrap();
            s.engine.run(Subscribe { caller: ada.caller, key: ada.key, new })
        };
        assert_eq!(of(&with(&old).unwrap()), of(&first), "the app subscribed before the key was replaced");
        assert_eq!(with("BAAA").unwrap_err().fields[0].pointer, "/application_server_key");
    });
}

#[test]
fn nothing_is_pushed_to_a_subscription_that_its_browser_let_expire() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        let keys = format!(r#"{{"p256dh":"{P256DH}","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}"#);
        let body = format!(r#"{{"endpoint":"https://push.example.com/1","keys":{keys},"expirationTime":{}}}"#, START + HOUR);
        s.engine.run(Subscribe { caller: ada.caller, key: ada.key, new: parse_subscription(body.as_bytes()).unwrap() }).unwrap();
        for reference in ["before", "after"] {
            // Both turns of a payment are numbered together.
            ada.pay(s, reference, 10, "sim:ok");
            ada.pay(s, &format!("{reference}-too"), 10, "sim:ok");
            s.work();
            number(&s.engine);
            s.env.advance_to(START + HOUR);
        }
        assert_eq!(pushes(s).len(), 2);
        assert!(s.engine.subscriptions(&ada.caller, ada.key).unwrap().data.is_empty());
        assert_eq!(ada.kinds(s).len(), 5);
        s.assert_sound();
    });
}

#[test]
fn nobody_pushes_into_the_network_of_the_gateway() {
    over_each_store(|s| {
        let ada = phone(s, "ada", 1);
        for url in ["http://push.example.com/1", "https://127.0.0.1/1", "https://10.0.0.1/1", "https://user@push.example.com/"] {
            let body = format!(r#"{{"endpoint":"{url}","keys":{{"p256dh":"{P256DH}","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}}}"#);
            let new = parse_subscription(body.as_bytes()).unwrap();
            let refused = s.engine.run(Subscribe { caller: ada.caller, key: ada.key, new }).unwrap_err();
            assert_eq!((&*refused.fields[0].pointer, &*refused.fields[0].code), ("/endpoint", "url_refused"), "{url}");
        }
    });
}

#[test]
fn an_inbox_is_read_in_pages_and_marked() {
    over_each_store(|s| {
        let (ada, bob) = (phone(s, "ada", 1), phone(s, "bob", 2));
        for n in 0..5 {
            ada.pay(s, &format!("p-{n}"), 10, "sim:ok");
            s.work();
            number(&s.engine);
        }
        let page = |unread, cursor: Option<&str>| s.engine.inbox(&ada.caller, unread, cursor, 4).unwrap();
        let first = page(false, None);
        assert_eq!((first.entries.len(), first.unread), (4, 6));
        let second = page(false, first.next_cursor.as_deref());
        assert_eq!((second.entries.len(), second.next_cursor.clone()), (2, None));
        assert!(first.entries[3].record.n > second.entries[0].record.n, "newest first");
        let id = second.entries[0].id;
        let mark = |phone: &Phone| s.engine.run(MarkRead { caller: phone.caller, id });
        assert_eq!(mark(&bob).unwrap_err().code, ErrorCode::NotificationNotFound);
        assert_eq!(mark(&ada).unwrap().record.read_at, Some(s.env.now()));
        s.env.advance_to(s.env.now() + 5);
        assert_eq!(mark(&ada).unwrap().record.read_at, Some(s.env.now() - 5), "it was read before");
        assert_eq!((page(true, None).unread, page(true, None).entries.len()), (5, 4));
        s.engine.run(MarkAllRead { caller: ada.caller }).unwrap();
        assert_eq!(page(true, None).unread, 0);
        assert_eq!(s.engine.unread_count(&bob.caller).unwrap(), 1);
        assert_eq!(s.engine.inbox(&bob.caller, false, first.next_cursor.as_deref(), 4).unwrap_err().code, ErrorCode::InvalidCursor);
        let after = s.engine.place_in_inbox(&ada.caller, id).unwrap();
        assert_eq!(s.engine.inbox_after(&ada.caller, after, 9).unwrap().len(), 4);
    });
}

#[test]
fn an_inbox_keeps_the_newest_and_for_so_long() {
    let s = &Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    let ada = phone(s, "ada", 1);
    for n in 0..NOTIFICATIONS_KEPT {
        ada.pay(s, &format!("p-{n}"), 1, "sim:ok");
        s.work();
        number(&s.engine);
    }
    let told = ada.told(s);
    assert_eq!((told.len(), told[0].kind), (NOTIFICATIONS_KEPT, NotificationKind::PaymentCompleted), "the oldest is gone");
    s.env.advance_to(s.env.now() + 91 * 24 * HOUR);
    while !s.engine.inbox_after(&ada.caller, 0, 1).unwrap().is_empty() {
        s.engine.run(Maintain).unwrap();
    }
    ada.pay(s, "later", 1, "sim:ok");
    s.work();
    let later = ada.told(s);
    assert_eq!(later.len(), 1);
    assert!(later[0].n > told.last().unwrap().n, "numbers are never used again");
}

#[test]
fn preferences_of_a_later_version_say_the_least() {
    assert_eq!(Preferences::of_stored(r#"{"detail":"everything"}"#), Preferences::default());
}
