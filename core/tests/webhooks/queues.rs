//! When deliveries are made: leases, pauses, endpoints in trouble, and nothing that waits forever.

use railgate::store::Write;
use railgate::store::faulty::{CommitFault, Faulty};

use super::*;

#[test]
fn a_delivery_is_tried_ten_times_on_schedule() {
    let w = World::new();
    let endpoint = w.hook();
    w.event("r");
    let expected = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    let mut waits = Vec::new();
    while w.s.engine.next_delivery_due(true, true).unwrap().is_some() {
        waits.push(w.to_next_due());
        let parcel = w.parcel();
        assert_eq!(parcel.deliveries[0].attempts as usize, waits.len() - 1);
        w.report(&parcel, 500);
    }
    assert_eq!(waits.len(), expected.len());
    for (wait, seconds) in waits.iter().zip(expected) {
        assert!((seconds * 800..=seconds * 1_200).contains(wait), "{wait} ms for {seconds} s: {waits:?}");
    }
    let delivery = w.deliveries(endpoint.no).remove(0);
    assert_eq!((delivery.status, delivery.attempts, delivery.due), (DeliveryStatus::Failed, 10, None));
    assert_eq!(delivery.last.unwrap().status, Some(500));
    assert_eq!(w.status(endpoint.id), EndpointStatus::Enabled, "three days are not five");
}

#[test]
fn every_try_sends_the_same_bytes_under_the_same_id() {
    let w = World::new();
    w.hook();
    w.event("r");
    let first = w.parcel();
    w.report(&first, 500);
    w.s.work();
    w.to_next_due();
    let again = w.parcel();
    assert_eq!((first.deliveries[0].message, &first.deliveries[0].body), (again.deliveries[0].message, &again.deliveries[0].body));
}

#[test]
fn a_receiver_puts_the_next_try_off_as_it_asks() {
    let w = World::new();
    w.hook();
    w.event("r");
    let parcel = w.parcel();
    let tries = vec![Tried { retry_after: Some(HOUR), ..tried(&parcel.deliveries[0], w.s.env.now(), Some(503)) }];
    w.run(Delivered { endpoint: parcel.endpoint, until: parcel.until, tries, more: false }).unwrap();
    assert_eq!(w.to_next_due(), HOUR);
}

#[test]
fn a_host_that_could_try_nothing_is_asked_again_a_moment_later_and_nothing_has_failed() {
    let w = World::new();
    let endpoint = w.hook();
    w.event("r");
    let parcel = w.parcel();
    w.run(Delivered { tries: Vec::new(), more: true, ..w.delivered(&parcel, None) }).unwrap();
    assert!(w.lease().is_empty());
    let queue = w.queue(endpoint.no);
    assert_eq!((queue.troubled, queue.failing_since), (false, None));
    assert_eq!(w.to_next_due(), 1_000);
    assert_eq!(w.parcel().deliveries, parcel.deliveries);
}

#[test]
fn a_receiver_that_asks_for_peace_is_sent_nothing_else_either() {
    for (status, asked, quiet) in [(503, HOUR, HOUR), (429, HOUR, HOUR), (429, 9 * DAY, DAY), (500, HOUR, 0)] {
        let w = World::new();
        let endpoint = w.hook();
        w.event("r");
        let parcel = w.parcel();
        let (began, mut report) = (w.s.env.now(), w.delivered(&parcel, Some(status)));
        report.tries.iter_mut().for_each(|tried| tried.retry_after = Some(asked));
        w.event("meanwhile");
        w.run(report).unwrap();
        w.event("after");
        let other = w.hook();
        w.event("another");
        assert_eq!(w.lease().iter().filter(|parcel| parcel.endpoint == endpoint.no).count(), usize::from(quiet == 0), "{status}");
        if quiet > 0 {
            w.pass(quiet - 1);
            assert!(w.lease().iter().all(|parcel| parcel.endpoint == other.no), "{status}");
            w.s.env.advance_to(began + quiet);
            let parcel = w.lease().into_iter().find(|parcel| parcel.endpoint == endpoint.no).unwrap();
            assert_eq!(parcel.deliveries.len(), 4, "{status}");
        }
    }
}

/// A webhook whose receiver responded with `status` and asks for a pause of one day.
fn asks_for_a_day(w: &World, status: u16) -> EndpointRecord {
    let endpoint = w.hook();
    w.event("r");
    let parcel = w.parcel();
    let tries = vec![Tried { retry_after: Some(DAY), ..tried(&parcel.deliveries[0], w.s.env.now(), Some(status)) }];
    w.run(Delivered { endpoint: parcel.endpoint, until: parcel.until, tries, more: false }).unwrap();
    endpoint
}

#[test]
fn an_owner_who_disables_and_enables_ends_the_peace() {
    let w = World::new();
    let endpoint = asks_for_a_day(&w, 429);
    w.enable(endpoint.id, false);
    w.enable(endpoint.id, true);
    w.event("s");
    assert_eq!(w.parcel().deliveries.len(), 1, "but what was put off stays so");
}

#[test]
fn a_new_address_ends_the_peace_and_the_failures_of_the_old_one() {
    let w = World::new();
    let endpoint = asks_for_a_day(&w, 503);
    let patch = |url: &str| WebhookPatch { url: Some(url.to_owned()), ..WebhookPatch::default() };
    w.update(endpoint.id, patch(&endpoint.url)).unwrap();
    w.event("s");
    assert!(w.lease().is_empty(), "the same address is the same receiver");
    w.update(endpoint.id, patch("https://example.com/moved")).unwrap();
    let queue = w.queue(endpoint.no);
    assert_eq!((queue.failing_since, queue.troubled), (None, true));
    w.event("t");
    let parcel = w.parcel();
    assert_eq!((parcel.url.as_str(), parcel.deliveries.len()), ("https://example.com/moved", 2));
    // A disabled one stays disabled.
    w.enable(endpoint.id, false);
    w.update(endpoint.id, patch("https://example.com/again")).unwrap();
    assert!(w.queue(endpoint.no).due.is_none() && w.lease().is_empty());
}

#[test]
fn what_is_delivered_is_not_delivered_again() {
    let w = World::new();
    let endpoint = w.hook();
    w.event("r");
    let parcel = w.parcel();
    assert!(w.lease().is_empty(), "nobody else gets it meanwhile");
    w.report(&parcel, 204);
    assert_eq!(w.s.engine.next_delivery_due(true, true).unwrap(), None);
    assert_eq!(w.deliveries(endpoint.no)[0].status, DeliveryStatus::Delivered);
    // A late or repeated report changes nothing.
    w.report(&parcel, 500);
    assert_eq!((w.deliveries(endpoint.no)[0].attempts, w.queue(endpoint.no).troubled), (1, false));
}

#[test]
fn a_lease_that_ran_out_is_taken_over_and_nothing_is_lost() {
    let w = World::new();
    let endpoint = w.hook();
    let other = w.node(w.s.store.clone(), 2);
    w.event("r");
    let dead = w.parcel();
    w.event("s");
    assert!(lease(&other, 9, 9).is_empty());
    assert_eq!(w.to_next_due(), 30_000, "when the lease ends");
    let taken = lease(&other, 9, 9).remove(0);
    assert_eq!(taken.deliveries.len(), 2, "what was added meanwhile too");
    // The first host was only slow: its report counts and does not affect the other's lease.
    w.report(&dead, 200);
    assert_eq!(w.queue(endpoint.no).owner, 2);
    let tries = taken.deliveries.iter().map(|delivery| tried(delivery, w.s.env.now(), Some(200))).collect();
    other.run(Delivered { endpoint: taken.endpoint, until: taken.until, tries, more: false }).unwrap();
    assert!(w.deliveries(endpoint.no).iter().all(|delivery| (delivery.status, delivery.attempts) == (DeliveryStatus::Delivered, 1)));
    assert_eq!(w.s.engine.next_delivery_due(true, true).unwrap(), None);
}

#[test]
fn a_host_that_has_the_store_to_itself_waits_for_no_lease() {
    let w = World::new();
    w.hook();
    w.event("r");
    let other = w.node(w.s.store.clone(), 2);
    drop(w.parcel());
    other.run(railgate::engine::Recover).unwrap();
    assert_eq!(lease(&other, 9, 9).len(), 1);
}

#[test]
fn what_is_added_while_its_queue_is_leased_is_delivered_after_the_report() {
    let w = World::new();
    let endpoint = w.hook();
    let (engine, log) = (&w.s.engine, NumberEvents { limit: 10 });
    // One after the other, and in one group with the report in both orders.
    for (n, order) in ["apart", "before", "after"].into_iter().enumerate() {
        w.event(&format!("r{n}"));
        let parcel = w.parcel();
        w.s.pay(&format!("s{n}"), "sim:ok");
        let report = w.delivered(&parcel, Some(200));
        let (logged, reported) = match order {
            "apart" => (engine.run(log.clone()), engine.run(report)),
            "before" => together(engine, log.clone(), report),
            _ => {
                let (reported, logged) = together(engine, report, log.clone());
                (logged, reported)
            }
        };
        assert!(logged.is_ok() && reported.is_ok());
        assert_eq!(w.s.engine.next_delivery_due(true, true).unwrap(), Some(w.s.env.now()), "{order}");
        assert_eq!(w.deliver(200).len(), 1, "{order}");
    }
    assert!(w.deliveries(endpoint.no).iter().all(|delivery| delivery.status == DeliveryStatus::Delivered));
}

#[test]
fn what_is_added_in_the_group_of_a_lease_is_delivered_too() {
    let w = World::new();
    w.hook();
    for (n, first_lease) in [true, false].into_iter().enumerate() {
        w.event(&format!("r{n}"));
        w.s.pay(&format!("s{n}"), "sim:ok");
        let (lease, log) = (LeaseQueues { healthy: 9, troubled: 9, in_flight: Vec::new() }, NumberEvents { limit: 9 });
        let (leased, logged) = if first_lease {
            together(&w.s.engine, lease, log)
        } else {
            let (logged, leased) = together(&w.s.engine, log, lease);
            (leased, logged)
        };
        logged.unwrap();
        leased.unwrap().iter().for_each(|parcel| w.report(parcel, 200));
        w.deliver(200);
    }
    let all: Vec<DeliveryRecord> = w.deliveries(EndpointNo(1));
    assert!(all.len() == 4 && all.iter().all(|delivery| delivery.status == DeliveryStatus::Delivered), "{all:?}");
}

#[test]
fn a_queue_is_not_put_to_rest_over_what_another_node_just_added() {
    let w = World::new();
    let endpoint = w.hook();
    w.event("r");
    w.deliver(200);
    // It is checked although nothing waits, as after a lease that another host's report overtook.
    let queue = w.queue(endpoint.no);
    let due = QueueRecord { due: Some(w.s.env.now()), version: queue.version + 1, ..queue.clone() };
    w.s.store.commit(&Commit { writes: vec![Write::Update { record: due.into(), expected: queue.version }] }).unwrap();
    let slow = Meddling::over(w.s.store.clone());
    let late = w.node(slow.clone(), 2);
    let fast = w.node(w.s.store.clone(), 1);
    w.s.pay("s", "sim:ok");
    slow.before_commit(move || assert_eq!(log_all(&fast), 1));
    let parcels = lease(&late, 9, 9);
    let waiting = w.deliver(200);
    assert_eq!(parcels.len() + waiting.len(), 1, "it is not stranded");
}

#[test]
fn a_report_whose_commit_was_made_but_not_answered_counts_once() {
    for (fault, status) in [(CommitFault::LostAfter, 500), (CommitFault::LostAfter, 200), (CommitFault::LostBefore, 500)] {
        let faults = Arc::new(Faulty::new(MemoryStore::new()));
        let w = World::over(faults.clone());
        let endpoint = w.hook();
        w.event("r");
        let report = w.delivered(&w.parcel(), Some(status));
        faults.script([Some(fault)]);
        assert_eq!(code(w.run(report.clone())), "store_unavailable");
        w.pass(3);
        w.run(report).unwrap();
        let delivery = w.deliveries(endpoint.no).remove(0);
        assert_eq!((delivery.attempts, delivery.status == DeliveryStatus::Delivered), (1, status == 200), "{fault:?}");
        assert_eq!(w.s.engine.next_delivery_due(true, true).unwrap(), delivery.due);
    }
}

#[test]
fn a_lease_whose_commit_was_made_but_not_answered_ends() {
    let faults = Arc::new(Faulty::new(MemoryStore::new()));
    let w = World::over(faults.clone());
    w.hook();
    w.event("r");
    faults.script([Some(CommitFault::LostAfter)]);
    assert_eq!(code(w.run(LeaseQueues { healthy: 1, troubled: 1, in_flight: Vec::new() })), "store_unavailable");
    assert!(w.lease().is_empty());
    w.to_next_due();
    assert_eq!(w.deliver(200).len(), 1);
}

#[test]
fn endpoints_in_trouble_wait_in_a_line_of_their_own() {
    let w = World::new();
    let bad: Vec<EndpointRecord> = (0..5).map(|_| w.hook()).collect();
    w.event("r");
    w.deliver(500);
    let good = w.hook();
    w.pass(10 * SECOND);
    w.event("s");
    let leased = |healthy, troubled| lease(&w.s.engine, healthy, troubled).iter().map(|parcel| parcel.endpoint).collect::<Vec<_>>();
    assert_eq!(leased(9, 0), [good.no]);
    assert_eq!(leased(9, 2).len(), 2);
    let rest = leased(0, 9);
    assert!(rest.len() == 3 && !rest.contains(&good.no));
    // After one success it is back in the normal line.
    w.pass(30_001);
    let parcel = lease(&w.s.engine, 0, 9).into_iter().find(|parcel| parcel.endpoint == bad[0].no).unwrap();
    w.report(&parcel, 200);
    let queue = w.queue(bad[0].no);
    assert_eq!((queue.troubled, queue.failing_since), (false, None));
}

#[test]
fn a_backlog_waits_its_turn_behind_other_queues() {
    for (troubled, status) in [(true, 500), (false, 200)] {
        let w = World::new();
        let (long, short) = (w.hook_of(w.s.caller, Some(TopicSet::of([ACCEPTED]))), w.hook_of(w.s.caller, Some(TopicSet::of([COMPLETED]))));
        // A response, but a slow one: nothing waits in the second line either.
        let took_ms = if troubled { 2_001 } else { 5 };
        w.event("r");
        w.s.work();
        log_all(&w.s.engine);
        for parcel in w.lease() {
            let mut report = w.delivered(&parcel, Some(200));
            report.tries.iter_mut().for_each(|tried| tried.outcome.took_ms = took_ms);
            w.run(report).unwrap();
        }
        assert!([long.no, short.no].iter().all(|no| w.queue(*no).troubled == troubled));
        for n in 0..40 {
            w.s.pay(&format!("s{n}"), "sim:ok");
        }
        log_all(&w.s.engine);
        w.pass(SECOND);
        w.s.work();
        log_all(&w.s.engine);
        let next = || lease(&w.s.engine, usize::from(!troubled), usize::from(troubled)).remove(0);
        let first = next();
        assert_eq!(first.endpoint, long.no);
        w.pass(SECOND);
        w.report(&first, status);
        assert_eq!(next().endpoint, short.no, "{status}");
    }
}

#[test]
fn one_client_is_given_no_more_than_its_part_of_a_line() {
    let w = World::new();
    let other = enroll(&w.s.engine, "Other");
    let (mine, theirs) = (w.hook(), w.hook_of(other, None));
    w.event("r");
    w.run(create(&w.s.engine, other, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"s"}"#)).unwrap();
    log_all(&w.s.engine);
    let share = |troubled| Share { client: w.s.caller.client, mode: w.s.caller.mode, troubled, push: false };
    let leased = |share, parcels| {
        let parcels = w.run(LeaseQueues { healthy: 99, troubled: 99, in_flight: vec![(share, parcels)] }).unwrap();
        parcels.iter().map(|parcel| parcel.endpoint).collect::<Vec<_>>()
    };
    assert_eq!(leased(share(false), MOST_WEBHOOKS), [theirs.no]);
    // It is postponed without a lease: as soon as there is room again, it is delivered.
    let queue = w.queue(mine.no);
    assert_eq!((queue.owner, queue.due), (0, Some(w.s.env.now() + SECOND)));
    w.pass(SECOND);
    assert!(leased(share(false), MOST_WEBHOOKS).is_empty());
    w.pass(SECOND);
    assert_eq!(leased(share(false), MOST_WEBHOOKS - 1), [mine.no]);
    // The other line has its own room; parcels leased together count too.
    w.pass(30 * SECOND);
    w.deliver(200);
    let hooks: Vec<EndpointRecord> = (1..MOST_WEBHOOKS).map(|_| w.hook()).collect();
    w.event("t");
    assert_eq!(leased(share(true), MOST_WEBHOOKS).len(), hooks.len() + 1);
    for hook in [mine].iter().chain(&hooks) {
        w.enable(hook.id, false);
        w.enable(hook.id, true);
    }
    assert_eq!(leased(share(false), 7).len(), MOST_WEBHOOKS - 7);
}

#[test]
fn a_receiver_that_is_slow_waits_among_those_in_trouble_until_it_is_fast() {
    let w = World::new();
    let endpoint = w.hook();
    for (n, (took_ms, status, troubled, failing)) in
        [(2_000, 200, false, false), (2_001, 200, true, false), (1, 500, true, true), (9_000, 204, true, false), (5, 200, false, false)]
            .into_iter()
            .enumerate()
    {
        w.event(&format!("r{n}"));
        let parcel = w.lease().into_iter().next().unwrap();
        let tries = parcel.deliveries.iter().map(|delivery| {
            let mut tried = tried(delivery, w.s.env.now(), Some(status));
            tried.outcome.took_ms = took_ms;
            tried
        });
        w.run(Delivered { endpoint: endpoint.no, until: parcel.until, tries: tries.collect(), more: false }).unwrap();
        let queue = w.queue(endpoint.no);
        assert_eq!((queue.troubled, queue.failing_since.is_some()), (troubled, failing), "{took_ms} ms, {status}");
    }
}

#[test]
fn who_is_enabled_again_stays_among_those_in_trouble_until_it_answers() {
    let w = World::new();
    let endpoint = w.hook();
    w.event("r");
    w.deliver(500);
    w.enable(endpoint.id, false);
    w.enable(endpoint.id, true);
    let queue = w.queue(endpoint.no);
    assert_eq!((queue.troubled, queue.failing_since), (true, None));
    w.event("s");
    assert!(lease(&w.s.engine, 9, 0).is_empty());
    w.deliver(200);
    assert!(!w.queue(endpoint.no).troubled);
}

#[test]
fn when_something_is_due_is_told_for_each_line() {
    let w = World::new();
    let due = |healthy, troubled| w.s.engine.next_delivery_due(healthy, troubled).unwrap();
    w.hook();
    w.event("r");
    w.deliver(500);
    let (good, failed) = (w.hook(), due(false, true));
    assert!(failed > Some(w.s.env.now()) && due(true, false).is_none());
    w.event("s");
    let now = w.s.env.now();
    assert_eq!((due(true, false), due(false, true), due(true, true), due(false, false)), (Some(now), Some(now), Some(now), None));
    assert_eq!(lease(&w.s.engine, 9, 0)[0].endpoint, good.no);
    assert!(due(true, false) > Some(now), "when the lease ends");
}

/// An endpoint for which this many deliveries wait.
fn hook_with(w: &World, waiting: usize) -> EndpointRecord {
    let endpoint = w.hook();
    for n in 0..waiting {
        w.s.pay(&format!("r{n}"), "sim:ok");
    }
    log_all(&w.s.engine);
    endpoint
}

#[test]
fn many_deliveries_of_one_endpoint_go_out_in_parts() {
    let w = World::new();
    let endpoint = hook_with(&w, 100);
    let parcel = w.parcel();
    assert_eq!(parcel.deliveries.len(), 64);
    w.report(&parcel, 500);
    let parcel = w.parcel();
    assert_eq!(parcel.deliveries.len(), 16, "as many as are in flight at once, for an endpoint in trouble");
    w.report(&parcel, 200);
    assert_eq!(w.deliver(200).len(), 20);
    assert!(w.deliveries(endpoint.no).iter().all(|delivery| delivery.attempts == 1));
}

#[test]
fn a_report_takes_the_next_parcel_with_it() {
    let w = World::new();
    let endpoint = hook_with(&w, 150);
    let more = |parcel: &Parcel, status| w.run(Delivered { more: true, ..w.delivered(parcel, Some(status)) }).unwrap().next;
    let first = w.parcel();
    w.pass(SECOND);
    let second = more(&first, 200).unwrap();
    assert_eq!((second.deliveries.len(), second.until), (64, w.s.env.now() + 30 * SECOND));
    assert!(w.lease().is_empty(), "nobody else gets it meanwhile");
    assert!(more(&first, 200).is_none(), "a repeated report has no lease any more");
    let third = more(&second, 200).unwrap();
    assert_eq!(third.deliveries.len(), 22);
    assert!(more(&third, 200).is_none(), "nothing is left");
    assert_eq!(w.s.engine.next_delivery_due(true, true).unwrap(), None);
    assert!(w.deliveries(endpoint.no).iter().all(|delivery| (delivery.status, delivery.attempts) == (DeliveryStatus::Delivered, 1)));
}

#[test]
fn deliveries_that_were_not_tried_stay_due() {
    let w = World::new();
    hook_with(&w, 40);
    let mut parcel = w.parcel();
    parcel.deliveries.truncate(7);
    let next = w.run(Delivered { more: true, ..w.delivered(&parcel, Some(200)) }).unwrap().next.unwrap();
    assert_eq!(next.deliveries.len(), 33);
    w.report(&Parcel { deliveries: next.deliveries[..3].to_vec(), ..next }, 200);
    assert_eq!(w.deliver(200).len(), 30);
}

#[test]
fn an_endpoint_gets_no_next_parcel_when_it_changes_its_line_or_stops() {
    for (status, retry_after) in [(500, None), (410, None), (503, Some(HOUR))] {
        let w = World::new();
        hook_with(&w, 100);
        let mut report = w.delivered(&w.parcel(), Some(status));
        report.tries.iter_mut().for_each(|tried| tried.retry_after = retry_after);
        assert!(w.run(Delivered { more: true, ..report }).unwrap().next.is_none(), "{status}");
    }
    let w = World::new();
    let endpoint = hook_with(&w, 100);
    let report = Delivered { more: true, ..w.delivered(&w.parcel(), Some(200)) };
    w.enable(endpoint.id, false);
    assert!(w.run(report).unwrap().next.is_none(), "disabled");
}

#[test]
fn the_next_parcel_is_what_the_group_of_its_report_left() {
    let w = World::new();
    let endpoint = hook_with(&w, 65);
    let parcel = w.parcel();
    let last = w.public_id(w.deliveries(endpoint.no).last().unwrap());
    let report = Delivered { more: true, ..w.delivered(&parcel, Some(200)) };
    w.s.pay("late", "sim:ok");
    let (logged, next) = together(&w.s.engine, NumberEvents { limit: 9 }, report);
    logged.unwrap();
    let next = next.unwrap().next.unwrap();
    assert_eq!(
        next.deliveries.iter().map(|delivery| w.public_id(delivery)).collect::<Vec<_>>(),
        [last],
        "of those stored before the group"
    );
    assert!(w.run(Delivered { more: false, ..w.delivered(&next, Some(200)) }).unwrap().next.is_none());
    assert_eq!(w.deliver(200).len(), 1, "what the group added");
    assert!(w.deliveries(endpoint.no).iter().all(|delivery| delivery.status == DeliveryStatus::Delivered));
}

#[test]
fn an_endpoint_that_says_it_is_gone_is_left_alone_and_its_owner_told_elsewhere() {
    let w = World::new();
    let (gone, other) = (w.hook(), w.hook());
    let deaf = w.hook_of(w.s.caller, Some(TopicSet::of([COMPLETED])));
    w.event("r");
    for parcel in w.lease() {
        w.report(&parcel, if parcel.endpoint == gone.no { 410 } else { 200 });
    }
    assert_eq!(w.status(gone.id), EndpointStatus::Gone);
    let told = w.deliver(200);
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].endpoint, told[0].topic, told[0].settlement.0), (other.no, Topic::WebhookDisabled, 0));
    let body = json(&told[0]);
    assert_eq!((&body["type"], &body["data"]["status"]), (&Value::from("webhook.disabled"), &Value::from("gone")));
    assert_eq!(body["data"]["id"], format!("whk_{}", gone.id));
    w.event("s");
    assert_eq!((w.deliveries(gone.no).len(), w.deliveries(deaf.no).len()), (1, 0));
}

#[test]
fn five_days_of_failures_disable_and_one_success_begins_anew() {
    let w = World::new();
    let (failing, other) = (w.hook(), w.hook());
    let fail_for = |days: i64, tag: &str| {
        let end = w.s.env.now() + days * DAY;
        let mut n = 0;
        while w.s.env.now() < end && w.status(failing.id) == EndpointStatus::Enabled {
            w.event(&format!("{tag}{n}"));
            for parcel in w.lease() {
                w.report(&parcel, if parcel.endpoint == failing.no { 500 } else { 200 });
            }
            w.pass(6 * HOUR);
            n += 1;
        }
    };
    fail_for(4, "a");
    assert_eq!(w.status(failing.id), EndpointStatus::Enabled);
    assert!(w.s.engine.webhook(&w.s.caller, failing.id).unwrap().failing_since.is_some());
    w.event("well");
    w.deliver(200);
    fail_for(4, "b");
    assert_eq!(w.status(failing.id), EndpointStatus::Enabled, "it was well in between");
    fail_for(3, "c");
    assert_eq!(w.status(failing.id), EndpointStatus::Failing);
    let waiting = w.deliveries(failing.no).iter().filter(|delivery| delivery.status == DeliveryStatus::Pending).count();
    assert!(waiting > 0);
    assert_eq!(w.deliveries(other.no).iter().filter(|delivery| delivery.topic == Topic::WebhookDisabled).count(), 1);
    w.deliver(200);
    // Enabled again, its waiting deliveries are made; earlier failures no longer count.
    w.run(EnableWebhook { caller: w.s.caller, id: failing.id }).unwrap();
    w.pass(2 * DAY);
    let sent = w.deliver(200);
    assert_eq!(sent.iter().filter(|delivery| delivery.endpoint == failing.no).count(), waiting);
    assert_eq!(w.queue(failing.no).failing_since, None);
}

#[test]
fn what_was_leased_when_its_endpoint_was_disabled_waits_until_it_is_enabled() {
    let w = World::new();
    let endpoint = w.hook();
    w.event("r");
    let parcel = w.parcel();
    w.enable(endpoint.id, false);
    w.report(&parcel, 500);
    assert_eq!(w.s.engine.next_delivery_due(true, true).unwrap(), None);
    w.pass(DAY);
    assert!(w.lease().is_empty());
    w.enable(endpoint.id, true);
    assert_eq!(w.deliver(200).len(), 1);
}

#[test]
fn the_overview_says_what_became_of_the_webhooks_of_a_period() {
    let w = World::new();
    w.hook();
    let figures = |from: i64, to: i64| {
        let of = w.s.engine.overview(from, to).unwrap().webhooks;
        (of.counted, of.delivered, of.failed, of.retrying, of.waiting, of.complete)
    };
    let begun = w.s.env.now();
    assert_eq!(figures(begun, begun + DAY), (0, 0, 0, 0, 0, true));
    w.event("arrives");
    w.deliver(204);
    w.pass(HOUR);
    let later = w.s.env.now();
    w.event("fails");
    w.report(&w.parcel(), 500);
    w.event("waits");
    assert_eq!(figures(begun, later), (1, 1, 0, 0, 0, true));
    assert_eq!(figures(later, later + 1), (2, 0, 0, 1, 1, true));
    // Until it is given up, it counts as one that is tried again.
    while w.s.engine.next_delivery_due(true, true).unwrap().is_some() {
        w.to_next_due();
        w.deliver(500);
    }
    assert_eq!(figures(begun, later + 1), (3, 1, 2, 0, 0, true));
    assert_eq!(figures(later + 1, i64::MAX), (0, 0, 0, 0, 0, true));
}
