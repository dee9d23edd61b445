//! What owners can do: secrets, tests, redeliveries, replays, removal; and what they cannot see of others.

use crate::support;
use railgate::api::NewWebhook;
use railgate::engine::Enroll;
use railgate::ledger::Mode;
use railgate::seal::MasterKeys;
use railgate::store::record::EndpointSecretRecord;

use super::*;
use crate::support::remote::Remote;

fn secrets(w: &World, endpoint: EndpointNo) -> Vec<String> {
    w.s.engine.webhook_secrets(endpoint).unwrap().iter().map(|secret| secret.to_text().to_string()).collect()
}

fn rotation(w: &World, id: Ulid, grace_ms: i64) -> RotateWebhookSecret {
    RotateWebhookSecret { caller: w.s.caller, id, grace_ms }
}

fn rotate(w: &World, id: Ulid, grace_ms: i64) -> String {
    w.run(rotation(w, id, grace_ms)).unwrap().secret.unwrap().to_text().to_string()
}

#[test]
fn secrets_overlap_during_a_rotation_and_then_end() {
    let w = World::new();
    let endpoint = w.hook();
    let first = secrets(&w, endpoint.no).remove(0);
    let second = rotate(&w, endpoint.id, HOUR);
    assert_eq!(secrets(&w, endpoint.no), [&second, &first].map(Clone::clone));
    let third = rotate(&w, endpoint.id, 2 * HOUR);
    assert_eq!(secrets(&w, endpoint.no), [&third, &second, &first].map(Clone::clone));
    w.pass(HOUR);
    assert_eq!(secrets(&w, endpoint.no), [&third, &second].map(Clone::clone), "a later rotation keeps none longer");
    w.pass(HOUR);
    assert_eq!(secrets(&w, endpoint.no), [third]);
    for _ in 0..4 {
        rotate(&w, endpoint.id, DAY);
    }
    let all = secrets(&w, endpoint.no);
    let refused = w.run(rotation(&w, endpoint.id, DAY)).unwrap_err();
    assert_eq!((refused.code.as_str(), all.len()), ("invalid_state", 5));
    assert!(
        refused.detail.contains("until 2026-") && secrets(&w, endpoint.no) == all,
        "each signs for as long as was said: {}",
        refused.detail
    );
    w.pass(DAY);
    assert_eq!(secrets(&w, endpoint.no).len(), 1);
    for _ in 0..4 {
        rotate(&w, endpoint.id, DAY);
    }
    let newest = rotate(&w, endpoint.id, 0);
    assert_eq!(secrets(&w, endpoint.no), [newest], "at once, where a secret has leaked");
    for grace_ms in [i64::MAX, i64::MIN] {
        rotate(&w, endpoint.id, grace_ms);
        assert!(!secrets(&w, endpoint.no).is_empty());
    }
}

#[test]
fn a_rotation_behind_another_change_of_its_group_is_to_be_tried_again() {
    let w = World::new();
    let endpoint = w.hook();
    let (first, second) = together(&w.s.engine, rotation(&w, endpoint.id, HOUR), rotation(&w, endpoint.id, HOUR));
    assert!(first.is_ok());
    assert_eq!(code(second), "version_conflict");
    assert_eq!(secrets(&w, endpoint.no).len(), 2);
}

#[test]
fn a_sandbox_client_begins_with_the_secret_it_was_given_and_a_live_one_with_its_own() {
    let w = World::new();
    let enrolled = w.run(Enroll { name: "New".to_owned(), key: None }).unwrap();
    let sandbox = w.hook_of(enrolled.caller, None);
    assert_eq!(secrets(&w, sandbox.no), [enrolled.webhook_secret.clone().unwrap()]);
    let live = w.hook_of(Caller { mode: Mode::Live, ..enrolled.caller }, None);
    assert_ne!(secrets(&w, live.no), secrets(&w, sandbox.no));
}

#[test]
fn resealing_covers_the_secrets_of_endpoints() {
    let w = World::new();
    let endpoint = w.hook();
    rotate(&w, endpoint.id, HOUR);
    let before = secrets(&w, endpoint.no);
    let with = |keys: &[(u32, [u8; 32])]| {
        let config = Config { master: Some(Arc::new(MasterKeys::new(keys.to_vec()).unwrap())), ..Config::default() };
        Engine::open(w.s.store.clone(), w.s.env.clone(), config).unwrap()
    };
    let both = with(&[(2, [8; 32]), (1, [9; 32])]);
    assert!(both.reseal().unwrap() >= 2);
    assert_eq!(both.reseal().unwrap(), 0);
    let after: Vec<String> =
        with(&[(2, [8; 32])]).webhook_secrets(endpoint.no).unwrap().iter().map(|secret| secret.to_text().to_string()).collect();
    assert_eq!(after, before);
}

#[test]
fn there_are_at_most_ten_webhooks_for_a_client_and_mode() {
    let w = World::new();
    let results = w.s.engine.run_all(vec![new_hook(w.s.caller, None); 12]);
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 10);
    assert_eq!(code(results.into_iter().next_back().unwrap()), "too_many_webhooks");
    w.hook_of(Caller { mode: Mode::Live, ..w.s.caller }, None);
    let id = w.s.engine.webhooks(&w.s.caller).unwrap()[0].id.clone();
    let id = Ulid::parse(id.strip_prefix("whk_").unwrap()).unwrap();
    w.delete(id);
    w.hook();
    assert_eq!(code(w.run(new_hook(w.s.caller, None))), "too_many_webhooks");
}

#[test]
fn a_test_is_sent_at_once_and_says_nothing_about_the_endpoints_health() {
    let w = World::new();
    let endpoint = w.hook();
    let before = w.queue(endpoint.no);
    for topic in Topic::all() {
        let parcel = w.test(endpoint.id, topic).unwrap();
        let delivery = &parcel.deliveries[0];
        assert_eq!((parcel.deliveries.len(), delivery.cause, &parcel.url), (1, DeliveryCause::Test, &endpoint.url));
        assert_eq!(json(delivery)["type"], topic.as_str());
        assert!(w.lease().is_empty(), "nobody else sends it");
        let tried = tried(delivery, w.s.env.now(), Some(if topic == COMPLETED { 200 } else { 410 }));
        w.run(Tested { delivery: delivery.no, tried }).unwrap();
    }
    assert_eq!((w.queue(endpoint.no), w.status(endpoint.id)), (before, EndpointStatus::Enabled));
    let delivered = w.s.engine.deliveries(&w.s.caller, endpoint.id, Some(DeliveryStatus::Delivered), None, 100).unwrap();
    assert_eq!(delivered.iter().map(|delivery| delivery.topic).collect::<Vec<_>>(), [COMPLETED]);
    // Only tests are reported like this.
    w.event("r");
    let real = w.parcel().deliveries.remove(0);
    let report = Tested { delivery: real.no, tried: tried(&real, 0, Some(200)) };
    assert_eq!(code(w.run(report)), "delivery_not_found");
    w.enable(endpoint.id, false);
    assert!(w.test(endpoint.id, COMPLETED).is_ok(), "to see whether it is well again");
}

#[test]
fn a_delivery_is_made_once_more_with_its_old_id_and_body() {
    let w = World::new();
    let endpoint = w.hook();
    w.event("r");
    let sent = w.deliver(200).remove(0);
    let id = w.public_id(&sent);
    w.redeliver(endpoint.id, id).unwrap();
    let again = w.deliver(200).remove(0);
    assert_eq!((again.cause, again.message, &again.body), (DeliveryCause::Redelivery, sent.message, &sent.body));
    assert_ne!(again.no, sent.no);
    w.enable(endpoint.id, false);
    assert_eq!(code(w.redeliver(endpoint.id, id)), "invalid_state");
}

#[test]
fn a_delivery_that_is_not_there_is_not_found_whatever_its_id_says() {
    let w = World::new();
    let endpoint = w.hook();
    // Many in the same millisecond, so that none is older.
    for n in 0..150 {
        w.s.pay(&format!("r{n}"), "sim:ok");
    }
    log_all(&w.s.engine);
    let made = w.deliveries(endpoint.no);
    let real = w.public_id(&made[0]);
    w.redeliver(endpoint.id, real).unwrap();
    let at = w.s.env.now();
    for id in
        [Ulid(real.0 ^ 1), Ulid::new(at, 5), Ulid::new(at - 1, 5), Ulid::new(at + 1, 5), Ulid(0), Ulid(u128::MAX), Ulid(u128::MAX >> 1)]
    {
        assert_eq!(code(w.redeliver(endpoint.id, id)), "delivery_not_found", "{id}");
    }
    let other = w.hook();
    assert_eq!(code(w.redeliver(other.id, real)), "delivery_not_found", "another's");
}

fn replay(w: &World, id: Ulid, since: i64, until: i64) -> usize {
    let (mut after, mut count) = (0, 0);
    loop {
        let Replayed { queued, next } = w.run(Replay { caller: w.s.caller, id, since, until, after, before: 0 }).unwrap();
        count += queued;
        match next {
            Some(next) => after = next,
            None => return count,
        }
    }
}

#[test]
fn a_part_of_a_replay_makes_few_round_trips_however_many_events_it_looks_at() {
    let far = Arc::new(Remote::default());
    let w = World::over(far.clone());
    let (deaf, all) = (w.hook_of(w.s.caller, Some(TopicSet::of([COMPLETED]))), w.hook());
    for n in 0..501 {
        w.s.pay(&format!("r{n}"), "sim:ok");
    }
    log_all(&w.s.engine);
    for (endpoint, expected) in [(&deaf, 0), (&all, 500)] {
        far.taken();
        let replay = Replay { caller: w.s.caller, id: endpoint.id, since: 0, until: i64::MAX, after: 1, before: 0 };
        assert_eq!(w.run(replay).unwrap().queued, expected);
        let round_trips = far.taken();
        assert!(round_trips <= 10, "{round_trips} round trips for {expected} deliveries");
    }
}

#[test]
fn a_replay_sends_the_events_of_a_time_again_in_their_order() {
    let w = World::new();
    let mut times = Vec::new();
    for n in 0..600 {
        times.push(w.s.env.now());
        w.s.pay(&format!("r{n}"), "sim:ok");
        w.pass(MINUTE);
    }
    log_all(&w.s.engine);
    let endpoint = w.hook();
    assert_eq!(replay(&w, endpoint.id, times[20], times[590]), 570, "more than one part");
    let made = w.deliveries(endpoint.no);
    let references: Vec<String> = made.iter().map(|delivery| json(delivery)["data"]["reference"].as_str().unwrap().to_owned()).collect();
    assert_eq!(references, (20..590).map(|n| format!("r{n}")).collect::<Vec<_>>());
    assert!(made.iter().all(|delivery| delivery.cause == DeliveryCause::Replay));
    assert_eq!(made[0].message.to_string(), w.s.events("r20")[0].id.strip_prefix("evt_").unwrap(), "receivers know it by its id");
    let sent: Vec<i64> = w.deliver(200).iter().map(|delivery| delivery.no).collect();
    assert_eq!(sent, made.iter().map(|delivery| delivery.no).collect::<Vec<_>>(), "in the order of the feed");
    assert_eq!(replay(&w, endpoint.id, 0, i64::MAX), 600);
    assert_eq!((replay(&w, endpoint.id, i64::MAX, i64::MAX), replay(&w, endpoint.id, i64::MIN, i64::MIN)), (0, 0));
    assert_eq!(replay(&w, endpoint.id, times[5], times[5]), 0);
    assert_eq!(replay(&w, endpoint.id, times[5], times[5] + 1), 1);
}

#[test]
fn a_replay_keeps_to_the_endpoints_topics() {
    let w = World::new();
    for n in 0..3 {
        w.s.pay(&format!("r{n}"), "sim:ok");
    }
    w.s.work();
    log_all(&w.s.engine);
    let endpoint = w.hook_of(w.s.caller, Some(TopicSet::of([ACCEPTED])));
    assert_eq!(replay(&w, endpoint.id, 0, i64::MAX), 3);
    assert!(w.deliveries(endpoint.no).iter().all(|delivery| delivery.topic == ACCEPTED));
    // With the current state.
    assert!(w.deliveries(endpoint.no).iter().all(|delivery| json(delivery)["data"]["status"] == "completed"));
}

#[test]
fn a_replay_finds_what_was_filled_in_out_of_the_order_of_time() {
    let w = World::new();
    // The first settlement ends long after the second started.
    w.s.pay("first", "sim:returned-after-1d");
    w.s.pass(HOUR);
    for n in 0..20 {
        w.s.pay(&format!("r{n}"), "sim:ok");
    }
    let since = w.s.env.now();
    w.s.pass(2 * DAY);
    let late = w.s.events("first").iter().filter(|event| event.at > railgate::time::rfc3339(since + MINUTE)).count();
    assert!(late > 0);
    let mut writes: Vec<_> =
        support::log::unlogged(&*w.s.store).iter().map(|row| railgate::store::Write::Delete(Key::Unlogged(row.no))).collect();
    writes.push(railgate::store::Write::Delete(Key::LogHead(0)));
    w.s.store.commit(&Commit { writes }).unwrap();
    let upgraded = w.node(w.s.store.clone(), 1);
    w.s.pay("after", "sim:ok");
    log_all(&upgraded);
    let endpoint = w.hook();
    assert_eq!(replay(&w, endpoint.id, since + MINUTE, i64::MAX), late + 1);
}

#[test]
fn what_is_removed_is_swept_with_all_that_belongs_to_it() {
    let w = World::new();
    let (gone, kept) = (w.hook(), w.hook());
    w.event("r");
    w.delete(gone.id);
    let (caller, id) = (w.s.caller, gone.id);
    let refused = [
        code(w.run(DeleteWebhook { caller, id })),
        code(w.run(EnableWebhook { caller, id })),
        code(w.run(RotateWebhookSecret { caller, id, grace_ms: 0 })),
        code(w.run(TestWebhook { caller, id, topic: COMPLETED })),
        code(w.run(Replay { caller, id, since: 0, until: 1, after: 0, before: 0 })),
    ];
    assert_eq!(refused, ["webhook_not_found"; 5]);
    w.run(Maintain).unwrap();
    let left = |no: EndpointNo| {
        let secrets: Vec<EndpointSecretRecord> = typed_all(w.s.store.scan(&Scan::endpoint_secrets(no)).unwrap()).unwrap();
        let rows = [Key::Endpoint(no), Key::Queue(no)].iter().filter(|key| w.s.store.get(key).unwrap().is_some()).count();
        (w.deliveries(no).len(), secrets.len(), rows)
    };
    assert_eq!((left(gone.no), left(kept.no)), ((0, 0, 0), (1, 1, 2)));
    w.s.assert_sound();
}

#[test]
fn a_removed_endpoint_with_many_deliveries_is_swept_by_parts() {
    let w = World::new();
    let endpoint = w.hook();
    for n in 0..1_100 {
        w.s.pay(&format!("r{n}"), "sim:ok");
    }
    log_all(&w.s.engine);
    assert_eq!(w.deliveries(endpoint.no).len(), 1_100);
    w.delete(endpoint.id);
    w.run(Maintain).unwrap();
    assert!(w.s.store.get(&Key::Queue(endpoint.no)).unwrap().is_some());
    w.run(Maintain).unwrap();
    assert_eq!(w.deliveries(endpoint.no), []);
    assert_eq!(w.s.store.get(&Key::Queue(endpoint.no)).unwrap(), None);
    w.run(Maintain).unwrap();
    w.s.assert_sound();
}

#[test]
fn the_number_of_a_removed_endpoint_is_given_to_no_other() {
    let w = World::new();
    let gone = w.hook();
    w.event("r");
    let parcel = w.parcel();
    w.delete(gone.id);
    w.run(Maintain).unwrap();
    w.report(&parcel, 500);
    let later = w.node(w.s.store.clone(), 2);
    let new = later.run(new_hook(w.s.caller, None)).unwrap().endpoint;
    assert!(new.no > gone.no);
    assert!(w.s.engine.webhook_secrets(gone.no).unwrap().is_empty());
    // Once to the end, and once from the start.
    w.run(Maintain).unwrap();
    w.run(Maintain).unwrap();
    assert_eq!(w.s.store.get(&Key::Endpoint(gone.no)).unwrap(), None);
    w.s.assert_sound();
}

#[test]
fn a_delivery_can_be_looked_at_for_thirty_days() {
    let w = World::new();
    let endpoint = w.hook();
    w.event("r");
    w.deliver(200);
    w.pass(30 * DAY);
    w.run(Maintain).unwrap();
    assert_eq!(w.deliveries(endpoint.no).len(), 1);
    w.pass(1);
    w.run(Maintain).unwrap();
    assert!(w.deliveries(endpoint.no).is_empty());
}

#[test]
fn what_is_anothers_or_of_the_other_mode_is_not_found() {
    let w = World::new();
    let endpoint = w.hook();
    w.event("r");
    let delivery = w.public_id(&w.deliveries(endpoint.no)[0]);
    let strangers = [enroll(&w.s.engine, "Other"), Caller { mode: Mode::Live, ..w.s.caller }];
    for caller in strangers {
        let id = endpoint.id;
        let refused = [
            code(w.run(UpdateWebhook { caller, id, patch: WebhookPatch::default() })),
            code(w.run(DeleteWebhook { caller, id })),
            code(w.run(RotateWebhookSecret { caller, id, grace_ms: 0 })),
            code(w.run(EnableWebhook { caller, id })),
            code(w.run(TestWebhook { caller, id, topic: COMPLETED })),
            code(w.run(Redeliver { caller, id, delivery })),
            code(w.run(Replay { caller, id, since: 0, until: i64::MAX, after: 0, before: 0 })),
        ];
        assert_eq!(refused, ["webhook_not_found"; 7]);
        assert_eq!(code(w.s.engine.webhook(&caller, id)), "webhook_not_found");
        assert_eq!(code(w.s.engine.deliveries(&caller, id, None, None, 9)), "webhook_not_found");
        assert!(w.s.engine.webhooks(&caller).unwrap().is_empty());
    }
    assert_eq!(w.status(endpoint.id), EndpointStatus::Enabled);
}

#[test]
fn addresses_inside_are_refused_also_for_a_change() {
    let w = World::new();
    let endpoint = w.hook();
    for url in ["http://example.com/", "https://127.0.0.1/", "https://10.0.0.1/x", "https://[::1]/", "ftp://example.com/", ""] {
        let new = NewWebhook { url: url.to_owned(), topics: None, description: None };
        assert_eq!(code(w.run(CreateWebhook { caller: w.s.caller, new })), "invalid_fields", "{url}");
        let patch = WebhookPatch { url: Some(url.to_owned()), ..WebhookPatch::default() };
        assert_eq!(code(w.update(endpoint.id, patch)), "invalid_fields", "{url}");
    }
    assert_eq!(w.s.engine.webhooks(&w.s.caller).unwrap()[0].url, endpoint.url);
}
