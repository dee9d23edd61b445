//! The expected log, derived independently of it: only from the event traces.

use std::collections::{BTreeMap, BTreeSet};

use hmac::{Hmac, KeyInit as _, Mac as _};
use railgate::api::Caller;
use railgate::engine::NumberEvents;
use railgate::ids::{ClientNo, SettlementNo};
use railgate::ledger::Mode;
use railgate::log::{commitment, leaf_hash, node_hash};
use railgate::store::record::{
    EventRecord, FeedRecord, Key, LogHeadRecord, MetaRecord, MovementRecord, RecordKind, SettlementRecord, UnloggedRecord,
};
use railgate::store::{Scan, Store, typed, typed_all};
use railgate::{Engine, api};
use sha2::Sha256;

pub const ALL: usize = usize::MAX;

/// Numbers all waiting events; returns how many.
pub fn log_all(engine: &Engine) -> usize {
    let mut count = 0;
    loop {
        let logged = log_some(engine, 100);
        count += logged.events;
        assert_eq!(logged.held_until, None);
        if !logged.more {
            return count;
        }
    }
}

pub fn log_some(engine: &Engine, limit: usize) -> api::Logged {
    engine.run(NumberEvents { limit }).unwrap()
}

pub fn settlements(store: &dyn Store) -> Vec<SettlementRecord> {
    typed_all(store.scan(&Scan::after(&Key::Settlement(SettlementNo(0)), ALL)).unwrap()).unwrap()
}

pub fn events_of(store: &dyn Store, settlement: SettlementNo) -> Vec<EventRecord> {
    typed_all(store.scan(&Scan::events(settlement, 0, ALL)).unwrap()).unwrap()
}

pub fn feeds(store: &dyn Store) -> Vec<FeedRecord> {
    let scan = Scan::after(&Key::Feed((ClientNo(0), Mode::Sandbox, 0)), ALL);
    typed_all(store.scan(&scan).unwrap()).unwrap()
}

pub fn unlogged(store: &dyn Store) -> Vec<UnloggedRecord> {
    typed_all(store.scan(&Scan::all(RecordKind::Unlogged, ALL)).unwrap()).unwrap()
}

pub fn head(store: &dyn Store) -> LogHeadRecord {
    typed(store.scan(&Scan::last(RecordKind::LogHead)).unwrap().pop()).unwrap().unwrap()
}

/// The salt as documented: HMAC-SHA-256 of the id key over a label, the settlement and the sequence number.
pub fn salt(store: &dyn Store, settlement: SettlementNo, n: u32) -> [u8; 32] {
    let meta: MetaRecord = typed(store.get(&Key::Meta("id_key".to_owned())).unwrap()).unwrap().unwrap();
    let mac = Hmac::<Sha256>::new_from_slice(&meta.value).unwrap();
    mac.chain_update(b"railgate-log-salt-v1\0")
        .chain_update(settlement.0.to_be_bytes())
        .chain_update(n.to_be_bytes())
        .finalize()
        .into_bytes()
        .into()
}

/// The root over these leaves, by the definition of RFC 6962.
pub fn naive_root(leaves: &[[u8; 32]]) -> [u8; 32] {
    match leaves {
        [] => railgate::log::empty_root(),
        [one] => leaf_hash(one),
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            node_hash(&naive_root(left), &naive_root(right))
        }
    }
}

/// The data of every leaf of a mode's tree in order, each derived from its event.
pub fn leaves(store: &dyn Store, mode: Mode) -> Vec<[u8; 32]> {
    let own = feeds(store).into_iter().filter(|entry| entry.mode == mode);
    let by_leaf: BTreeMap<i64, FeedRecord> = own.map(|entry| (entry.leaf, entry)).collect();
    assert!(by_leaf.keys().copied().eq(0..head(store).leaves(mode)), "leaves are numbered without gaps, each once");
    let leaf = |entry: &FeedRecord| {
        let event: EventRecord = typed(store.get(&Key::Event((entry.settlement, entry.n))).unwrap()).unwrap().unwrap();
        assert_eq!(event.at, entry.at);
        commitment(&salt(store, entry.settlement, entry.n), &event.hash)
    };
    by_leaf.values().map(leaf).collect()
}

/// Every event has exactly one position in its owner's feed and in the tree of its mode, in the order of its trace, and nothing else
/// has one.
pub fn assert_logged(store: &dyn Store) {
    assert_eq!(unlogged(store), []);
    let feeds = feeds(store);
    let mut ends: BTreeMap<(ClientNo, Mode), i64> = BTreeMap::new();
    for entry in &feeds {
        let end = ends.entry((entry.client, entry.mode)).or_default();
        *end += 1;
        assert_eq!(entry.position, *end, "positions have no gaps");
    }
    let mut places: BTreeMap<SettlementNo, Vec<&FeedRecord>> = BTreeMap::new();
    feeds.iter().for_each(|entry| places.entry(entry.settlement).or_default().push(entry));
    for record in settlements(store) {
        let places = places.remove(&record.no).unwrap_or_default();
        assert!(places.iter().all(|entry| (entry.client, entry.mode) == (record.client, record.mode)));
        let numbers: Vec<u32> = places.iter().map(|entry| entry.n).collect();
        assert_eq!(numbers, (1..=record.version).collect::<Vec<_>>(), "in the order of the trace, each once");
        assert!(places.is_sorted_by(|one, next| one.leaf < next.leaf && one.position < next.position));
    }
    let movements: Vec<MovementRecord> = typed_all(store.scan(&Scan::after(&Key::Movement(SettlementNo(0)), ALL)).unwrap()).unwrap();
    for record in movements {
        let places = places.remove(&record.journal).unwrap_or_default();
        assert_eq!(places.iter().map(|it| (it.client, it.mode, it.n)).collect::<Vec<_>>(), [(record.client, record.mode, 1)]);
    }
    assert!(places.is_empty(), "{places:?}");
    let numbers: BTreeSet<(Mode, i64)> = feeds.iter().map(|entry| (entry.mode, entry.leaf)).collect();
    assert_eq!((numbers.len(), feeds.len() as i64), (feeds.len(), head(store).events));
    Mode::ALL.iter().for_each(|mode| drop(leaves(store, *mode)));
}

/// The signed checkpoint of a mode's tree covers exactly these leaves; returns how many.
pub fn assert_tree(engine: &Engine, store: &dyn Store, mode: Mode) -> u64 {
    let leaves = leaves(store, mode);
    let checkpoint = engine.log_keys(mode).unwrap()[0].open(&engine.checkpoint(mode).unwrap()).unwrap();
    assert_eq!((checkpoint.size, checkpoint.root), (leaves.len() as u64, naive_root(&leaves)));
    checkpoint.size
}

/// [`assert_tree`] of both modes.
pub fn assert_trees(engine: &Engine, store: &dyn Store) {
    for mode in Mode::ALL {
        assert_tree(engine, store, *mode);
    }
}

/// The feed contains the same events as the settlements' own traces.
pub fn assert_feed_shows_traces(engine: &Engine, caller: &Caller) {
    let feed = engine.feed(caller, 0, 100_000).unwrap();
    assert!(feed.iter().map(|entry| entry.position).eq(1..=feed.len() as i64));
    for entry in &feed {
        let target = api::Target::parse(entry.event.settlement_id.as_deref().unwrap()).unwrap();
        let record = engine.settlement(caller, &target).unwrap();
        let own = &engine.events(&record, entry.event.sequence - 1, 1).unwrap()[0];
        assert_eq!(serde_json::to_string(&entry.event).unwrap(), serde_json::to_string(own).unwrap());
    }
}
