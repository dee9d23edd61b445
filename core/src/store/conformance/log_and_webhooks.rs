//! The records of the log and of webhooks: their unique keys, their versions, and the order and limits of their scans.

use super::fixtures::*;
use super::lists::{keys, walks};
use super::{Factory, holds, make, refuse};
use crate::ids::{ClientNo, EndpointNo, ProviderNo, SettlementNo, Ulid, UserNo};
use crate::ledger::Mode;
use crate::lifecycle::SettlementStatus;
use crate::store::record::*;
use crate::store::{Scan, Store, Unique, Write};
use crate::time::Millis;

const SANDBOX: Mode = Mode::Sandbox;
const LIVE: Mode = Mode::Live;

/// An endpoint's id and an event's place in a feed: found, refused a second time, and free again once removed.
pub fn feeds_and_endpoints_have_unique_keys(new: Factory<'_>) {
    let store = &*new();
    make(store, [insert(endpoint(1, 1, 11)), insert(endpoint(2, 1, u128::MAX))]);
    make(store, [insert(feed(1, LIVE, 1, 1)), insert(FeedRecord { n: 65_535, ..feed(2, SANDBOX, 7, 1) }), insert(feed(1, LIVE, 2, -2))]);
    let id = |id: u128| Unique::EndpointId(Ulid(id));
    let of = |settlement: i64, n: u32| Unique::FeedOf(SettlementNo(settlement), n);

    assert_eq!(store.find(&id(11)).unwrap(), Some(endpoint(1, 1, 11).into()));
    assert_eq!(store.find(&id(u128::MAX)).unwrap(), Some(endpoint(2, 1, u128::MAX).into()));
    assert_eq!(store.find(&of(1, 1)).unwrap(), Some(feed(1, LIVE, 1, 1).into()));
    assert_eq!(store.find(&of(1, 65_535)).unwrap(), Some(FeedRecord { n: 65_535, ..feed(2, SANDBOX, 7, 1) }.into()));
    assert_eq!(store.find(&of(-2, 1)).unwrap(), Some(feed(1, LIVE, 2, -2).into()));
    for absent in [id(0), id(12), of(1, 0), of(1, 2), of(2, 1)] {
        assert_eq!(store.find(&absent).unwrap(), None, "{absent:?}");
    }
    assert_eq!(refuse(store, [insert(endpoint(3, 9, 11)), insert(feed(9, LIVE, 1, 1)), insert(feed(1, LIVE, 1, 9))]), [0, 1, 2]);

    make(store, [Write::Delete(Key::Endpoint(EndpointNo(1))), Write::Delete(Key::Feed((ClientNo(1), LIVE, 1)))]);
    for gone in [id(11), of(1, 1)] {
        assert_eq!(store.find(&gone).unwrap(), None, "{gone:?}");
    }
    make(store, [insert(endpoint(3, 9, 11)), insert(feed(9, LIVE, 1, 1)), insert(feed(1, LIVE, 1, 9))]);
    assert_eq!(store.find(&id(11)).unwrap(), Some(endpoint(3, 9, 11).into()));
    assert_eq!(store.find(&of(1, 1)).unwrap(), Some(feed(9, LIVE, 1, 1).into()));
}

/// Optimistic concurrency as for settlements: the version decides, even twice in one commit.
pub fn endpoints_and_queues_are_replaced_only_at_their_version(new: Factory<'_>) {
    let changed = EndpointRecord { version: 2, url: "https://shop.example/new".to_owned(), updated_at: 2_000, ..endpoint(1, 1, 11) };
    let leased = QueueRecord { version: 2, owner: -7, due: Some(9), added: Some(8), failing_since: Some(7), ..queue(1, Some(5)) };
    let gone = EndpointRecord { version: 3, status: EndpointStatus::Gone, ..changed.clone() };
    let empty = QueueRecord { version: 3, owner: 0, due: None, added: None, ..leased.clone() };
    let kinds: [[Record; 3]; 2] =
        [[endpoint(1, 1, 11).into(), changed.into(), gone.into()], [queue(1, Some(5)).into(), leased.into(), empty.into()]];
    for [first, second, third] in kinds {
        let store = &*new();
        assert_eq!(refuse(store, [update(second.clone(), 1)]), [0], "not there");
        make(store, [insert(first.clone())]);
        for wrong in [0, 2, u32::MAX] {
            assert_eq!(refuse(store, [update(second.clone(), wrong)]), [0]);
        }
        holds(store, first.clone());
        make(store, [update(second.clone(), 1)]);
        holds(store, second.clone());
        assert_eq!(refuse(store, [update(second.clone(), 1)]), [0], "somebody was faster");
        holds(store, second.clone());

        make(store, [Write::Delete(first.key())]);
        assert_eq!(refuse(store, [insert(first.clone()), update(second.clone(), 1), update(third.clone(), 1)]), [2]);
        assert_eq!(store.get(&first.key()).unwrap(), None);
        make(store, [insert(first.clone()), update(second.clone(), 1), update(third.clone(), 2)]);
        holds(store, third.clone());
        assert_eq!(refuse(store, [update(second.clone(), 3), update(third, 3)]), [1]);
    }
}

/// The ends of every range, and texts that nobody should write.
pub fn the_ends_of_the_log_and_of_webhooks_survive(new: Factory<'_>) {
    let store = &*new();
    let strange = "\u{0}'\";--\u{feff}\u{202e}Ä\u{0308}日本語🦀\n\u{10ffff}".to_owned();
    let said = || Some(strange.clone());
    let highest = (1 << 47) - 1;
    for (no, extreme) in [(highest, i64::MAX), (-highest, i64::MIN)] {
        let moment = Moment {
            status: SettlementStatus::Returned,
            needs_review: true,
            provider: ProviderNo(u16::MAX),
            reversed: extreme,
            reversing: extreme,
            attempts: u16::MAX,
            updated_at: extreme,
            completed_at: Some(extreme),
            rail_reference: said(),
            failure: said(),
        };
        let events = vec![LoggedEvent { kind: EventType::ReversalFailed, at: extreme, hash: [0xff; 32] }; 300];
        let (settlement, client) = (SettlementNo(extreme), ClientNo(u32::MAX));
        let user = Some(UserNo(u32::MAX));
        let change = LoggedChange { settlement, client, mode: LIVE, user, version: u32::MAX, moment: Some(moment), events };
        let silent = LoggedChange { events: Vec::new(), moment: None, user: None, ..change.clone() };
        let tried = LastTry { at: extreme, took_ms: u32::MAX, status: Some(u16::MAX), error: said(), excerpt: strange.repeat(100) };
        let all: [Record; 12] = [
            UnloggedRecord { no: extreme, changes: vec![change, silent] }.into(),
            UnloggedRecord { no: 0, changes: Vec::new() }.into(),
            FeedRecord { n: 65_535, at: extreme, leaf: extreme, ..feed(u32::MAX, LIVE, 0, no) }.into(),
            FeedRecord { client: ClientNo(0), position: extreme, n: 0, ..feed(0, SANDBOX, 1, no) }.into(),
            TileRecord { entries: vec![0xff; 8192], ..tile(63, (1 << 56) - 1) }.into(),
            TileRecord { entries: Vec::new(), ..tile(0, 0) }.into(),
            TileRecord { mode: LIVE, ..tile(63, (1 << 56) - 1) }.into(),
            LogHeadRecord { events: extreme, owner: extreme, until: extreme, live: Later(Some(extreme)) }.into(),
            LogHeadRecord { live: Later(None), ..log_head(1) }.into(),
            EndpointSecretRecord { sealed: vec![0; 500], created_at: extreme, until: Some(extreme), ..endpoint_secret(u32::MAX, u32::MAX) }
                .into(),
            QueueRecord {
                version: u32::MAX,
                troubled: true,
                owner: extreme,
                added: Some(extreme),
                failing_since: Some(extreme),
                ..queue(u32::MAX, Some(extreme))
            }
            .into(),
            DeliveryRecord {
                message: Ulid(u128::MAX),
                attempts: u16::MAX,
                settlement: SettlementNo(no),
                n: u32::MAX,
                body: strange.repeat(1000),
                last: Some(tried),
                ..delivery(extreme, u32::MAX, Some(extreme))
            }
            .into(),
        ];
        make(store, all.iter().cloned().map(insert));
        all.iter().for_each(|record| holds(store, record.clone()));
        make(store, all.iter().map(|record| Write::Delete(record.key())));

        let full = EndpointRecord {
            version: u32::MAX,
            mode: LIVE,
            url: strange.repeat(100),
            topics: Some(TopicSet::from_bits(extreme)),
            description: said(),
            created_at: extreme,
            updated_at: extreme,
            ..endpoint(u32::MAX, u32::MAX, u128::MAX)
        };
        make(store, [insert(full.clone())]);
        holds(store, full.clone());
        let bare = EndpointRecord { topics: Some(TopicSet::default()), description: Some(String::new()), url: String::new(), ..full };
        make(store, [update(bare.clone(), u32::MAX)]);
        holds(store, bare.clone());
        make(store, [Write::Delete(Record::from(bare).key())]);
    }
}

/// Every code stored as a number is read back unchanged.
pub fn every_code_of_webhooks_survives(new: Factory<'_>) {
    let store = &*new();
    make(store, [insert(endpoint(1, 1, 11))]);
    for status in EndpointStatus::ALL {
        let changed = EndpointRecord { status: *status, topics: Some(TopicSet::of(Topic::all())), ..endpoint(1, 1, 11) };
        make(store, [update(changed.clone(), 1)]);
        holds(store, changed);
    }
    let mut deliveries = Vec::new();
    for topic in Topic::all() {
        deliveries.push(DeliveryRecord { topic, ..delivery(100 + i64::from(topic.code()), 1, None) });
    }
    for status in DeliveryStatus::ALL {
        deliveries.push(DeliveryRecord { status: *status, ..delivery(200 + i64::from(status.code()), 1, None) });
    }
    for cause in DeliveryCause::ALL {
        deliveries.push(DeliveryRecord { cause: *cause, ..delivery(300 + i64::from(cause.code()), 1, None) });
    }
    for record in deliveries {
        make(store, [insert(record.clone())]);
        holds(store, record);
    }
}

/// By number, and never more than requested.
pub fn what_is_not_numbered_yet_comes_in_order(new: Factory<'_>) {
    let store = &*new();
    assert_eq!(keys(store, &Scan::all(RecordKind::Unlogged, 9)), []);
    make(store, [7, i64::MAX, -5, 0, i64::MIN].map(|no| insert(unlogged(no))));
    let ordered = [i64::MIN, -5, 0, 7, i64::MAX].map(Key::Unlogged);
    for limit in [0, 1, 4, 5, 6, usize::MAX] {
        assert_eq!(keys(store, &Scan::all(RecordKind::Unlogged, limit)), ordered[..limit.min(5)]);
    }
    // Numbering removes them from the front, while more are added at the end.
    make(store, [Write::Delete(Key::Unlogged(i64::MIN)), Write::Delete(Key::Unlogged(-5)), insert(unlogged(8))]);
    assert_eq!(keys(store, &Scan::all(RecordKind::Unlogged, 3)), [0, 7, 8].map(Key::Unlogged));
}

/// Feeds of neighbouring clients and of both modes, in an unrelated order.
fn feeds(store: &dyn Store) -> Vec<(ClientNo, Mode)> {
    let owners = [(u32::MAX, LIVE), (2, SANDBOX), (1, LIVE), (3, SANDBOX), (1, SANDBOX), (2, LIVE), (u32::MAX, SANDBOX)];
    for (settlement, position) in (0i64..).zip([5, i64::MAX, 1, 2]) {
        let each = |((client, mode), of)| insert(feed(client, mode, position, settlement * 10 + of));
        make(store, owners.into_iter().zip(1i64..).map(each));
    }
    let mut owners = owners.map(|(client, mode)| (ClientNo(client), mode)).to_vec();
    owners.sort();
    owners
}

/// Positions of one owner, from any position on, without those of the previous and next owners.
pub fn a_feed_is_of_one_client_in_one_mode(new: Factory<'_>) {
    let store = &*new();
    for (client, mode) in feeds(store) {
        let mine = [1, 2, 5, i64::MAX].map(|position| Key::Feed((client, mode, position)));
        walks(store, &mine, |last, limit| match last {
            Some(Key::Feed((client, mode, after))) => Scan::feed(*client, *mode, *after, limit),
            _ => Scan::feed(client, mode, 0, limit),
        });
        let after = |after, limit| keys(store, &Scan::feed(client, mode, after, limit));
        assert_eq!(after(i64::MIN, 9), mine);
        assert_eq!(after(i64::MIN, 1), mine[..1]);
        assert_eq!(after(3, 9), mine[2..]);
        assert_eq!(after(i64::MAX - 1, 9), mine[3..]);
        assert_eq!(after(i64::MAX, 9), []);
        assert_eq!(keys(store, &Scan::last_feed(client, mode)), mine[3..]);
    }
    for (client, mode) in [(ClientNo(0), LIVE), (ClientNo(3), LIVE), (ClientNo(4), SANDBOX), (ClientNo(u32::MAX - 1), LIVE)] {
        assert_eq!(keys(store, &Scan::feed(client, mode, i64::MIN, 9)), [], "{client:?} {mode:?}");
        assert_eq!(keys(store, &Scan::last_feed(client, mode)), [], "{client:?} {mode:?}");
    }
    make(store, [Write::Delete(Key::Feed((ClientNo(2), SANDBOX, i64::MAX)))]);
    assert_eq!(keys(store, &Scan::last_feed(ClientNo(2), SANDBOX)), [Key::Feed((ClientNo(2), SANDBOX, 5))]);
}

/// By client, mode and position, regardless of the owner at which a page ends.
pub fn all_feeds_are_walked_owner_by_owner(new: Factory<'_>) {
    let store = &*new();
    let owners = feeds(store);
    let all: Vec<Key> = owners.iter().flat_map(|(client, mode)| [1, 2, 5, i64::MAX].map(|p| Key::Feed((*client, *mode, p)))).collect();
    walks(store, &all, |last, limit| match last {
        Some(Key::Feed(after)) => Scan::after(&Key::Feed(*after), limit),
        _ => Scan::after(&Key::Feed((ClientNo(0), SANDBOX, i64::MIN)), limit),
    });
    let after = |client, mode, after| keys(store, &Scan::after(&Key::Feed((ClientNo(client), mode, after)), 99));
    assert_eq!(after(0, LIVE, i64::MAX), all);
    assert_eq!(after(1, SANDBOX, 2), all[2..]);
    assert_eq!(after(1, SANDBOX, i64::MAX), all[4..]);
    assert_eq!(after(1, LIVE, i64::MIN), all[4..]);
    assert_eq!(after(3, LIVE, 1), all[20..]);
    assert_eq!(after(u32::MAX, LIVE, i64::MAX), []);
}

/// The key of the head is the size: of two nodes that append to the same head, only one succeeds.
pub fn the_log_has_one_head_that_one_of_many_moves_on(new: Factory<'_>) {
    let store = &*new();
    assert_eq!(keys(store, &Scan::last(RecordKind::LogHead)), []);
    let on = |from, to| [Write::Delete(Key::LogHead(from)), insert(log_head(to))];
    make(store, [insert(log_head(0))]);
    assert_eq!(refuse(store, [insert(log_head(0))]), [0], "the first head is made once");
    make(store, on(0, 3));
    assert_eq!(refuse(store, on(0, 3)), [0, 1], "as far");
    assert_eq!(refuse(store, on(0, 5)), [0], "farther");
    let held = LogHeadRecord { owner: 7, until: 9, ..log_head(3) };
    make(store, [replace(held)]);
    assert_eq!(store.scan(&Scan::last(RecordKind::LogHead)).unwrap(), [held.into()]);
    // The head moves with each write of a commit, and only one is left.
    make(store, on(3, 4).into_iter().chain(on(4, i64::MAX)));
    assert_eq!(keys(store, &Scan::last(RecordKind::LogHead)), [Key::LogHead(i64::MAX)]);
    assert_eq!(store.get(&Key::LogHead(4)).unwrap(), None);
}

/// The last index of a level next to the first of the next, and the same places in both trees.
pub fn tiles_are_told_apart_by_mode_level_and_index(new: Factory<'_>) {
    let store = &*new();
    let last = (1 << 56) - 1;
    let places = [(0, 0), (0, 1), (0, last), (1, 0), (1, last), (2, 0), (63, 0), (63, last)];
    let places: Vec<(Mode, u8, i64)> = [SANDBOX, LIVE].into_iter().flat_map(|mode| places.map(|(level, at)| (mode, level, at))).collect();
    let marked = |(mode, level, index): (Mode, u8, i64)| TileRecord { mode, level, index, entries: vec![mode.code(), level, index as u8] };
    make(store, places.iter().map(|place| insert(marked(*place))));
    places.iter().for_each(|place| holds(store, marked(*place)));
    assert_eq!(keys(store, &Scan::all(RecordKind::Tile, 99)), places.iter().copied().map(Key::Tile).collect::<Vec<_>>(), "in this order");
    let (changed, gone) = ((SANDBOX, 1, 0), (LIVE, 0, last));
    make(store, [replace(TileRecord { entries: vec![9; 32], ..marked(changed) }), Write::Delete(Key::Tile(gone))]);
    for place in places.iter().filter(|place| ![changed, gone].contains(place)) {
        holds(store, marked(*place));
    }
    assert_eq!(store.get(&Key::Tile(gone)).unwrap(), None);
}

/// All endpoints, and those of one client in one mode.
pub fn endpoints_are_listed_by_number_and_by_owner(new: Factory<'_>) {
    let store = &*new();
    let owners = [(7, 1, LIVE), (2, 2, SANDBOX), (5, 1, SANDBOX), (1, 1, LIVE), (6, 2, SANDBOX), (u32::MAX, u32::MAX, LIVE)];
    make(store, owners.map(|(no, client, mode)| insert(EndpointRecord { mode, ..endpoint(no, client, no.into()) })));
    let all = [1, 2, 5, 6, 7, u32::MAX].map(|no| Key::Endpoint(EndpointNo(no)));
    walks(store, &all, |last, limit| match last {
        Some(Key::Endpoint(after)) => Scan::after(&Key::Endpoint(*after), limit),
        _ => Scan::after(&Key::Endpoint(EndpointNo(0)), limit),
    });
    assert_eq!(keys(store, &Scan::after(&Key::Endpoint(EndpointNo(u32::MAX)), 9)), []);
    assert_eq!(keys(store, &Scan::last(RecordKind::Endpoint)), all[5..]);

    let of = |client, mode| keys(store, &Scan::endpoints_of(ClientNo(client), mode));
    let numbers = |numbers: &[u32]| numbers.iter().map(|no| Key::Endpoint(EndpointNo(*no))).collect::<Vec<_>>();
    assert_eq!(of(1, LIVE), numbers(&[1, 7]));
    assert_eq!(of(1, SANDBOX), numbers(&[5]));
    assert_eq!(of(2, SANDBOX), numbers(&[2, 6]));
    assert_eq!(of(u32::MAX, LIVE), numbers(&[u32::MAX]));
    for (client, mode) in [(0, LIVE), (2, LIVE), (3, SANDBOX), (u32::MAX, SANDBOX)] {
        assert_eq!(of(client, mode), []);
    }
    make(store, [update(EndpointRecord { version: 2, mode: LIVE, status: EndpointStatus::Removed, ..endpoint(1, 1, 1) }, 1)]);
    assert_eq!(of(1, LIVE), numbers(&[7]), "not one that its owner removed, though it is still there");
    assert!(store.get(&Key::Endpoint(EndpointNo(1))).unwrap().is_some());
    make(store, [Write::Delete(Key::Endpoint(EndpointNo(1))), Write::Delete(Key::Endpoint(EndpointNo(u32::MAX)))]);
    assert_eq!(of(1, LIVE), numbers(&[7]));
    assert_eq!(keys(store, &Scan::last(RecordKind::Endpoint)), numbers(&[7]));
}

/// By number, the newest last, without the neighbours' secrets.
pub fn secrets_of_an_endpoint_are_its_own(new: Factory<'_>) {
    let store = &*new();
    let all = [(2, 1), (3, u32::MAX), (2, u32::MAX), (1, u32::MAX), (2, 10), (2, 9), (3, 0), (u32::MAX, u32::MAX)];
    make(store, all.map(|(endpoint, n)| insert(endpoint_secret(endpoint, n))));
    let of = |endpoint| keys(store, &Scan::endpoint_secrets(EndpointNo(endpoint)));
    let mine = |endpoint: u32, ns: &[u32]| ns.iter().map(|n| Key::EndpointSecret((EndpointNo(endpoint), *n))).collect::<Vec<_>>();
    assert_eq!(of(2), mine(2, &[1, 9, 10, u32::MAX]));
    assert_eq!(of(1), mine(1, &[u32::MAX]));
    assert_eq!(of(3), mine(3, &[0, u32::MAX]));
    assert_eq!(of(u32::MAX), mine(u32::MAX, &[u32::MAX]));
    assert_eq!(of(4), []);
}

/// Endpoints that respond are in one line, those that do not in the other; those with nothing due are in neither.
pub fn queues_wait_in_two_lines_by_due_time(new: Factory<'_>) {
    let store = &*new();
    let calm = [(8, Some(i64::MAX)), (5, Some(3)), (1, Some(5)), (4, None), (2, Some(3)), (10, Some(i64::MIN))];
    let troubled = [(9, Some(4)), (7, Some(i64::MIN)), (6, None), (3, Some(4)), (u32::MAX, Some(4))];
    make(store, calm.map(|(endpoint, due)| insert(queue(endpoint, due))));
    make(store, troubled.map(|(endpoint, due)| insert(QueueRecord { troubled: true, ..queue(endpoint, due) })));
    let line = |troubled, until, limit| {
        let found = keys(store, &Scan::queues(troubled, until, limit));
        found.iter().map(|key| if let Key::Queue(endpoint) = key { endpoint.0 } else { panic!("{key:?}") }).collect::<Vec<_>>()
    };
    assert_eq!(line(false, Millis::MAX, 99), [10, 2, 5, 1, 8], "at the same time the lower number first");
    assert_eq!(line(false, Millis::MAX - 1, 99), [10, 2, 5, 1]);
    assert_eq!(line(false, 3, 99), [10, 2, 5]);
    assert_eq!(line(false, 3, 2), [10, 2]);
    assert_eq!(line(false, 2, 99), [10]);
    assert_eq!(line(false, Millis::MIN, 99), [10]);
    assert_eq!(line(true, Millis::MAX, usize::MAX), [7, 3, 9, u32::MAX]);
    assert_eq!(line(true, 4, 3), [7, 3, 9]);
    assert_eq!(line(true, 3, 99), [7]);
    assert_eq!(line(true, Millis::MAX, 0), [0; 0]);

    let second = |endpoint, due| QueueRecord { version: 2, ..queue(endpoint, due) };
    make(store, [update(second(2, None), 1), update(QueueRecord { troubled: true, ..second(5, Some(4)) }, 1)]);
    make(store, [update(second(4, Some(0)), 1), update(second(7, Some(6)), 1), Write::Delete(Key::Queue(EndpointNo(10)))]);
    assert_eq!(line(false, Millis::MAX, 99), [4, 1, 7, 8]);
    assert_eq!(line(true, Millis::MAX, 99), [3, 5, 9, u32::MAX]);
}

/// The deliveries due for one endpoint, regardless of those for its neighbours.
pub fn due_deliveries_are_one_endpoints_and_the_earliest_first(new: Factory<'_>) {
    let store = &*new();
    let mine = [(8, Some(i64::MAX)), (5, Some(3)), (1, Some(5)), (4, None), (2, Some(3)), (i64::MAX, Some(4)), (-1, Some(i64::MIN))];
    make(store, mine.map(|(no, due)| insert(delivery(no, 2, due))));
    make(store, [insert(delivery(3, 1, Some(3))), insert(delivery(6, 3, Some(0))), insert(delivery(7, u32::MAX, Some(3)))]);
    let due = |endpoint, until, limit| {
        let found = keys(store, &Scan::deliveries_due(EndpointNo(endpoint), until, limit));
        found.iter().map(|key| if let Key::Delivery(no) = key { *no } else { panic!("{key:?}") }).collect::<Vec<_>>()
    };
    assert_eq!(due(2, Millis::MAX, 99), [-1, 2, 5, i64::MAX, 1, 8], "at the same time the older first");
    assert_eq!(due(2, 4, 99), [-1, 2, 5, i64::MAX]);
    assert_eq!(due(2, 3, 2), [-1, 2]);
    assert_eq!(due(2, 2, 99), [-1]);
    assert_eq!(due(2, Millis::MIN, 99), [-1]);
    assert_eq!(due(2, Millis::MAX, 0), [0; 0]);
    assert_eq!(due(1, Millis::MAX, usize::MAX), [3]);
    assert_eq!(due(3, Millis::MAX, 99), [6]);
    assert_eq!(due(3, -1, 99), [0; 0]);
    assert_eq!(due(u32::MAX, 3, 99), [7]);
    assert_eq!(due(4, Millis::MAX, 99), [0; 0]);

    let done = DeliveryRecord { status: DeliveryStatus::Delivered, ..delivery(2, 2, None) };
    make(store, [replace(done), replace(delivery(-1, 2, Some(7))), replace(delivery(4, 2, Some(1))), Write::Delete(Key::Delivery(1))]);
    assert_eq!(due(2, Millis::MAX - 1, 99), [4, 5, i64::MAX, -1]);
}

/// An endpoint's own list, complete and by delivery status.
pub fn deliveries_are_listed_newest_first(new: Factory<'_>) {
    let store = &*new();
    let statuses = DeliveryStatus::ALL;
    let status = |no: i64| statuses[(no / 3 % 3) as usize];
    make(store, (1..=36).map(|no| insert(DeliveryRecord { status: status(no), ..delivery(no, 1 + (no % 3) as u32, None) })));
    let endpoint = EndpointNo(2);
    for only in [None, Some(statuses[0]), Some(statuses[1]), Some(statuses[2])] {
        let mine = (1..=36).rev().filter(|no| no % 3 == 1 && only.is_none_or(|only| status(*no) == only));
        let mine: Vec<Key> = mine.map(Key::Delivery).collect();
        assert_eq!(mine.len(), if only.is_none() { 12 } else { 4 });
        walks(store, &mine, |last, limit| match last {
            Some(Key::Delivery(before)) => Scan::deliveries_of(endpoint, *before, only, limit),
            _ => Scan::deliveries_of(endpoint, i64::MAX, only, limit),
        });
    }
    let list = |endpoint, before, status| keys(store, &Scan::deliveries_of(EndpointNo(endpoint), before, status, 2));
    assert_eq!(list(2, 31, None), [28, 25].map(Key::Delivery));
    assert_eq!(list(2, 30, None), [28, 25].map(Key::Delivery));
    assert_eq!(list(2, 2, None), [1].map(Key::Delivery));
    for (endpoint, before) in [(2, 1), (2, i64::MIN), (4, i64::MAX), (0, i64::MAX)] {
        assert_eq!(list(endpoint, before, None), []);
    }
    // A delivery that ended moves from one list to the other.
    assert_eq!(list(2, 6, Some(DeliveryStatus::Failed)), []);
    make(store, [replace(DeliveryRecord { status: DeliveryStatus::Failed, ..delivery(4, 2, None) })]);
    assert_eq!(list(2, 6, Some(DeliveryStatus::Failed)), [Key::Delivery(4)]);
    assert_eq!(list(2, 6, Some(status(4))), []);
    make(store, [Write::Delete(Key::Delivery(4))]);
    assert_eq!(list(2, 6, None), [Key::Delivery(1)]);
    // Another endpoint now uses its number: the first endpoint's lists no longer contain it.
    make(store, [insert(delivery(4, 1, Some(5)))]);
    assert_eq!(list(2, 6, None), [Key::Delivery(1)]);
    assert_eq!(list(1, 6, None), [4, 3].map(Key::Delivery));
}

/// The deliveries to clean up: oldest first, of all endpoints and in any state.
pub fn old_deliveries_of_all_endpoints_come_in_order(new: Factory<'_>) {
    let store = &*new();
    make(store, [(9, 1), (-3, 2), (4, u32::MAX), (i64::MIN, 1), (6, 2)].map(|(no, endpoint)| insert(delivery(no, endpoint, Some(no)))));
    let before = |before, limit| keys(store, &Scan::deliveries_before(before, limit));
    let ordered = [i64::MIN, -3, 4, 6, 9].map(Key::Delivery);
    assert_eq!(before(i64::MAX, 99), ordered);
    assert_eq!(before(i64::MAX, 2), ordered[..2]);
    assert_eq!(before(6, usize::MAX), ordered[..3]);
    assert_eq!(before(7, 99), ordered[..4]);
    assert_eq!(before(i64::MAX, 0), []);
    assert_eq!(before(i64::MIN, 99), []);
}
