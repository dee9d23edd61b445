//! Which deliveries are made: one per listening endpoint and event, with the state at that time.

use crate::support;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use railgate::ErrorCode;
use railgate::api::{Lease, SignedBy, Work};
use railgate::auth::{Nonce, ScopeSet, Signer as _, SoftwareKey};
use railgate::engine::{AddKey, LeaseTasks, Receive, ReportAnswer, Signed};
use railgate::ledger::Mode;
use railgate::store::hooked::{Call, Hooked, Hooks};
use railgate::store::record::{AuditRecord, Record, RecordKind, SignedWith, UnbookedRecord, UnloggedRecord};
use railgate::store::{Clash, CommitError, StoreError, Write};

use super::*;

/// The state of a settlement and its reversals, by reference and version.
type Seen = BTreeMap<(String, u32), (Value, Vec<Value>)>;

fn look(w: &World, seen: &mut Seen) {
    for record in support::log::settlements(&*w.s.store) {
        let view = serde_json::to_value(w.s.engine.view(&record, w.s.caller.client_id)).unwrap();
        let reversals = w.s.engine.reversals(&record).unwrap().iter().map(|view| serde_json::to_value(view).unwrap()).collect();
        seen.entry((record.reference.as_str().to_owned(), record.version)).or_insert((view, reversals));
    }
}

/// Carries out what is due, one commit at a time, and checks after each.
fn work(w: &World, seen: &mut Seen) {
    loop {
        let leases = w.run(LeaseTasks::up_to(1)).unwrap();
        look(w, seen);
        let Some(Lease { key, work }) = leases.into_iter().next() else { return };
        let (subject, answer) = match work {
            Work::Callback { subject, answer } => (subject, answer),
            Work::Call(call) => (call.subject, w.run(Receive(call)).unwrap().unwrap()),
        };
        w.run(ReportAnswer { subject, answer, lease: Some(key) }).unwrap();
        look(w, seen);
    }
}

fn pass(w: &World, ms: i64, seen: &mut Seen) {
    let end = w.s.env.now() + ms;
    work(w, seen);
    while let Some(due) = w.s.engine.next_due().unwrap().filter(|due| *due <= end) {
        w.s.env.advance_to(due);
        work(w, seen);
    }
    w.s.env.advance_to(end);
}

#[test]
fn a_delivery_says_how_things_stood_at_its_event_whatever_came_after() {
    let w = World::new();
    let endpoint = w.hook();
    let mut seen = Seen::new();
    let scenarios =
        ["sim:ok", "sim:decline-over_limit", "sim:timeout-then-ok", "sim:failover", "sim:returned-after-1d", "sim:reverse-fail"];
    for (n, to) in scenarios.into_iter().enumerate() {
        w.s.pay(&format!("r{n}"), to);
        look(&w, &mut seen);
        pass(&w, 10, &mut seen);
    }
    pass(&w, HOUR, &mut seen);
    for body in [r#"{"amount":3}"#, r#"{"amount":7}"#] {
        for reference in ["r0", "r2", "r5"] {
            if w.s.reverse(reference, body).is_ok() {
                look(&w, &mut seen);
            }
            w.pass(7);
        }
        pass(&w, HOUR, &mut seen);
    }
    pass(&w, 3 * DAY, &mut seen);
    // Only now, long after everything is over, the log runs.
    log_all(&w.s.engine);
    let made = w.deliveries(endpoint.no);
    let events: usize = support::log::settlements(&*w.s.store).iter().map(|record| record.version as usize).sum();
    assert_eq!(made.len(), events);
    let mut with_reversal = 0;
    for delivery in &made {
        let body = json(delivery);
        let data = body["data"].as_object().unwrap();
        let sequence = data["sequence"].as_u64().unwrap() as u32;
        let reference = data["reference"].as_str().unwrap().to_owned();
        let event = &w.s.events(&reference)[sequence as usize - 1];
        assert_eq!((body["type"].as_str().unwrap(), body["timestamp"].as_str().unwrap()), (event.kind.as_str(), event.at.as_str()));
        assert_eq!((format!("evt_{}", delivery.message), delivery.topic.as_str()), (event.id.clone(), event.kind.as_str()));
        assert_eq!((delivery.n, delivery.cause, delivery.status), (sequence, DeliveryCause::Event, DeliveryStatus::Pending));
        let (_, (view, reversals)) = seen.range((reference.clone(), sequence)..).next().unwrap();
        let mut then = data.clone();
        then.remove("sequence");
        if let Some(reversal) = then.remove("reversal") {
            with_reversal += 1;
            assert!(reversals.contains(&reversal), "{} {reference}/{sequence}: {reversal}\n{reversals:?}", event.kind.as_str());
        }
        assert_eq!(&Value::Object(then), view, "{} {reference}/{sequence}", event.kind.as_str());
        assert!(!event.kind.as_str().starts_with("reversal.") || data.contains_key("reversal"));
        if let Some(state) = event.kind.as_str().strip_prefix("settlement.")
            && !["discrepancy", "reviewed"].contains(&state)
        {
            assert_eq!(data["status"], state);
        }
    }
    assert!(with_reversal >= 6, "{with_reversal}");
}

#[test]
fn the_failure_of_a_settlement_that_has_moved_on_is_not_told_early() {
    let w = World::new();
    let endpoint = w.hook();
    w.s.pay("r", "sim:decline-over_limit");
    w.s.pass(MINUTE);
    log_all(&w.s.engine);
    let made = w.deliveries(endpoint.no);
    for delivery in &made {
        let data = &json(delivery)["data"];
        assert_eq!(data["failure"].is_null(), data["status"] != "failed", "{}", delivery.body);
    }
    assert!(made.iter().any(|delivery| json(delivery)["data"]["status"] != "failed"));
    assert!(made.iter().any(|delivery| delivery.topic == Topic::Event(EventType::SettlementFailed)));
}

#[test]
fn each_endpoint_is_told_of_its_topics_and_its_clients_mode() {
    let w = World::new();
    let other = enroll(&w.s.engine, "Other");
    let all = w.hook();
    let some = w.hook_of(w.s.caller, Some(TopicSet::of([COMPLETED])));
    let theirs = w.hook_of(other, None);
    let live = w.hook_of(Caller { mode: Mode::Live, ..w.s.caller }, None);
    w.s.pay("r", "sim:ok");
    w.s.work();
    log_all(&w.s.engine);
    let topics = |endpoint: &EndpointRecord| w.deliveries(endpoint.no).iter().map(|delivery| delivery.topic).collect::<Vec<_>>();
    let trace: Vec<Topic> = w.s.trace("r").iter().map(|name| Topic::from_name(name).unwrap()).collect();
    assert_eq!(topics(&all), trace);
    assert_eq!(topics(&some), [COMPLETED]);
    assert!(topics(&theirs).is_empty() && topics(&live).is_empty());
    let both: Vec<_> = [&all, &some].iter().map(|endpoint| w.deliveries(endpoint.no).pop().unwrap()).collect();
    assert_eq!((both[0].message, &both[0].body), (both[1].message, &both[1].body), "one event has one id and one body");
}

#[test]
fn who_is_disabled_or_removed_is_told_nothing_and_what_waited_stays() {
    let w = World::new();
    let (off, gone, on) = (w.hook(), w.hook(), w.hook());
    w.event("before");
    w.enable(off.id, false);
    w.delete(gone.id);
    w.event("after");
    let count = |endpoint: &EndpointRecord| w.deliveries(endpoint.no).len();
    assert_eq!([count(&off), count(&gone), count(&on)], [1, 1, 2]);
    let endpoints: Vec<EndpointNo> = w.lease().iter().map(|parcel| parcel.endpoint).collect();
    assert_eq!(endpoints, [on.no]);
    assert_eq!(code(w.s.engine.webhook(&w.s.caller, gone.id)), "webhook_not_found");
    assert_eq!(w.s.engine.webhooks(&w.s.caller).unwrap().len(), 2);
}

#[test]
fn a_change_in_the_same_group_counts_before_the_log() {
    let w = World::new();
    let endpoint = w.hook();
    w.s.pay("r", "sim:ok");
    let patch = WebhookPatch { enabled: Some(false), ..WebhookPatch::default() };
    let disable = UpdateWebhook { caller: w.s.caller, id: endpoint.id, patch };
    let (disabled, logged) = together(&w.s.engine, disable, NumberEvents { limit: 10 });
    assert!(disabled.is_ok() && logged.is_ok());
    assert!(w.deliveries(endpoint.no).is_empty());
}

#[test]
fn an_endpoint_that_is_disabled_while_another_node_fans_out_is_told_nothing() {
    let w = World::new();
    let endpoint = w.hook();
    let slow = Meddling::over(w.s.store.clone());
    let (late, fast) = (w.node(slow.clone(), 2), w.node(w.s.store.clone(), 3));
    w.event("waiting");
    w.s.pay("r", "sim:ok");
    w.pass(5_001);
    let caller = w.s.caller;
    slow.before_commit(move || drop(fast.run(DeleteWebhook { caller, id: endpoint.id }).unwrap()));
    log_all(&late);
    assert_eq!(w.deliveries(endpoint.no).len(), 1);
}

#[test]
fn damage_to_one_client_holds_up_nobody_else() {
    let w = World::new();
    let other = enroll(&w.s.engine, "Other");
    let (mine, theirs) = (w.hook(), w.hook_of(other, None));
    w.s.store.commit(&Commit { writes: vec![Write::Delete(Key::Queue(mine.no))] }).unwrap();
    w.s.pay("gone", "sim:ok");
    w.run(create(&w.s.engine, other, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"r"}"#)).unwrap();
    let record = w.s.engine.settlement(&w.s.caller, &target("gone")).unwrap();
    w.s.store.commit(&Commit { writes: vec![Write::Delete(Key::Event((record.no, 1)))] }).unwrap();
    log_all(&w.s.engine);
    assert!(w.deliveries(mine.no).is_empty());
    assert_eq!(w.deliveries(theirs.no).len(), 1);
    assert_eq!(w.parcel().endpoint, theirs.no);
}

/// However large the deliveries are: no commit is too large, and nothing is omitted or out of order.
#[test]
fn what_would_make_a_commit_too_large_is_told_by_the_next() {
    let w = World::new();
    let endpoints: Vec<EndpointNo> = (0..10).map(|_| w.hook_of(w.s.caller, Some(TopicSet::of([ACCEPTED]))).no).collect();
    let metadata: BTreeMap<String, String> = (0..50).map(|n| (format!("key-{n}"), "x".repeat(500))).collect();
    let body =
        |n| serde_json::json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("large-{n}"), "metadata": metadata});
    let creates = (0..40).map(|n| create(&w.s.engine, w.s.caller, &body(n).to_string()));
    assert!(w.s.engine.run_all(creates).iter().all(Result::is_ok));
    let mut commits = 0;
    loop {
        let logged = w.run(NumberEvents { limit: 512 }).unwrap();
        commits += 1;
        assert!(logged.events < 40, "10 MB of bodies in one commit");
        if !logged.more {
            break;
        }
    }
    assert!(commits > 1);
    let references: Vec<String> = (0..40).map(|n| format!("large-{n}")).collect();
    for endpoint in endpoints {
        let told =
            w.deliveries(endpoint).into_iter().map(|it| serde_json::from_str::<Value>(&it.body).unwrap()["data"]["reference"].clone());
        assert_eq!(told.collect::<Vec<_>>(), references);
    }
    assert_eq!(w.s.engine.feed(&w.s.caller, 0, ALL).unwrap().len(), 40);
}

/// A store that refuses to return endpoints on request, like a database after its privileges were revoked.
#[derive(Default)]
struct Refusing(AtomicBool);

impl Hooks for Refusing {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        let wanted = match call {
            Call::Get(key) => matches!(key, Key::Endpoint(_)),
            Call::Scan(scan) => scan.kind() == RecordKind::Endpoint,
            Call::Commit(_) | Call::Find(_) | Call::Secure | Call::LookUp(_) => false,
        };
        match wanted && self.0.load(Ordering::SeqCst) {
            true => Err(StoreError::new("reading", "permission denied for table endpoint", false)),
            false => Ok(()),
        }
    }
}

#[test]
fn a_store_that_refuses_to_show_who_listens_is_not_taken_for_nobody_listening() {
    let store = Arc::new(Hooked::<Refusing>::default());
    let w = World::over(store.clone());
    let endpoint = w.hook();
    w.s.pay("r", "sim:ok");
    store.0.store(true, Ordering::SeqCst);
    let refused = w.run(NumberEvents { limit: 100 }).unwrap_err();
    assert!(refused.code == ErrorCode::Internal && !refused.is_damage(), "{refused}");
    assert!(!support::log::unlogged(&*store).is_empty(), "they are told later");
    assert!(w.run(LeaseQueues { healthy: 1, troubled: 0, in_flight: Vec::new() }).is_ok(), "nothing is due yet");
    store.0.store(false, Ordering::SeqCst);
    log_all(&w.s.engine);
    assert_eq!(w.deliveries(endpoint.no).len(), support::log::feeds(&*store).len());
}

/// Another node has the thousand numbers after each that is used here, in the same millisecond.
#[derive(Default)]
struct Neighbour(Mutex<Vec<i64>>);

/// The writes that have a number of time and node.
fn numbered(commit: &Commit) -> impl Iterator<Item = (usize, i64)> + '_ {
    commit.writes.iter().enumerate().filter_map(|(write, it)| match it {
        Write::Insert(Record::Task(task)) => Some((write, task.key.0)),
        Write::Insert(Record::Unlogged(UnloggedRecord { no, .. })) => Some((write, *no)),
        Write::Insert(Record::Unbooked(UnbookedRecord { no, .. })) => Some((write, *no)),
        Write::Insert(Record::Delivery(DeliveryRecord { no, .. })) => Some((write, *no)),
        Write::Insert(Record::Audit(AuditRecord { no, .. })) => Some((write, *no)),
        _ => None,
    })
}

impl Hooks for Neighbour {
    fn clashes(&self, commit: &Commit) -> Vec<Clash> {
        let used = self.0.lock().unwrap();
        let taken = |no: i64| used.iter().any(|used| (1..=1_000).contains(&(no - used)));
        numbered(commit).filter(|(_, no)| taken(*no)).map(|(write, _)| Clash { write }).collect()
    }

    fn committed(&self, commit: &Commit, made: &Result<(), CommitError>) {
        self.0.lock().unwrap().extend(numbered(commit).filter(|_| made.is_ok()).map(|(_, no)| no));
    }
}

#[test]
fn a_node_whose_next_numbers_another_one_has_goes_on_with_others() {
    let w = World::over(Hooked::<Neighbour>::over(Arc::new(MemoryStore::new())));
    let hook = w.hook_of(w.s.caller, Some(TopicSet::of([COMPLETED])));
    let public = SoftwareKey::ed25519(&[7; 32]).public_key();
    let key = w.run(AddKey { caller: w.s.caller, key: public, label: None, scopes: ScopeSet::CLIENT }).unwrap().no;
    for n in 0..20 {
        let body = format!(r#"{{"amount":10.00,"currency":"EUR","to":"sim:ok","reference":"pay-{n}"}}"#);
        let nonce = Nonce { hash: [n; 32], expires_at: w.s.env.now() + MINUTE };
        let by = SignedBy { client: w.s.caller.client, key, with: SignedWith::Key, nonce };
        w.run(Signed { by, command: create(&w.s.engine, w.s.caller, &body) }).unwrap();
        w.s.engine.work_until_quiet(&()).unwrap();
        log_all(&w.s.engine);
    }
    w.deliver(200);
    let delivered: Vec<String> = w.deliveries(hook.no).iter().map(|it| json(it)["settlement"]["reference"].to_string()).collect();
    assert_eq!(delivered.len(), 20, "{delivered:?}");
    w.s.assert_sound();
}
