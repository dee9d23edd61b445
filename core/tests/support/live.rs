//! A gateway that also moves real money, over the same simulated operator, and its log with a tree for each mode.

use std::sync::Arc;

use railgate::api::Caller;
use railgate::engine::NumberEvents;
use railgate::env::Env;
use railgate::ids::SettlementNo;
use railgate::ledger::{AccountId, Mode, Owner, Transfer, TransferCode, TransferKind};
use railgate::log::{TileKind, TilePath, verify_proof};
use railgate::money::Currency;
use railgate::rail::simulator::Simulator;
use railgate::route::ProviderSpec;
use railgate::store::record::{BookedLine, EventRecord, UnbookedRecord};
use railgate::store::{Commit, Store, Write};
use railgate::{Config, Engine};

use super::log::{assert_logged, assert_tree, events_of, head, leaves};
use super::{START, Sandbox, create, sealing, target};

/// A sandbox whose client is also paid for with real money.
pub fn both_modes(store: Arc<dyn Store>, config: Config) -> Sandbox {
    let s = Sandbox::over(store, in_both_modes(config), 1);
    fund_live(&s, s.caller, 1);
    s
}

pub fn in_both_modes(config: Config) -> Config {
    let providers =
        vec![ProviderSpec::new("play", "Play", Mode::Sandbox, &Simulator), ProviderSpec::new("real", "Real", Mode::Live, &Simulator)];
    Config { providers, ..config }
}

/// Another node of such a gateway over `store`, which is its own.
pub fn node(s: &Sandbox, store: Arc<dyn Store>, owner: i64) -> Engine {
    Engine::open(store, s.env.clone(), in_both_modes(Config { owner: Some(owner), ..sealing() })).unwrap()
}

/// Puts real money into a client's account.
pub fn fund_live(s: &Sandbox, caller: Caller, n: i64) {
    let account = |owner| AccountId::new(owner, Mode::Live, Currency::from_code("EUR").unwrap());
    let transfer = Transfer {
        journal: SettlementNo(1_000_000 + n),
        n: 1,
        kind: TransferKind::Single,
        code: TransferCode::Funding,
        debit: account(Owner::Funding),
        credit: account(Owner::Client(caller.client)),
        amount: 1_000_000,
        resolves: 0,
        at: START,
    };
    // As the engine would, with the line of the statement.
    let Transfer { credit, amount, code, journal, n, at, .. } = transfer;
    let lines = vec![BookedLine { account: credit, amount, code, journal, transfer: n, at }];
    let unbooked = UnbookedRecord { no: -journal.0, lines };
    s.store.commit(&Commit { writes: vec![Write::Post(transfer), Write::Insert(unbooked.into())] }).unwrap();
}

pub fn live(caller: Caller) -> Caller {
    Caller { mode: Mode::Live, ..caller }
}

/// Pays ten euros in the mode of the caller.
pub fn pay(engine: &Engine, caller: Caller, reference: &str) {
    let body = format!(r#"{{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"{reference}"}}"#);
    engine.run(create(engine, caller, &body)).unwrap();
}

/// Two nodes pay in both modes and number the events in turn; each mode has its own tree all along.
pub fn two_nodes_keep_two_trees(store: Arc<dyn Store>) {
    let one = both_modes(store.clone(), Config { owner: Some(1), ..sealing() });
    let other = Engine::open(store, one.env.clone(), in_both_modes(Config { owner: Some(2), ..sealing() })).unwrap();
    let mut sizes = Vec::new();
    for n in 0..90 {
        let engine = [&one.engine, &other][n % 2];
        pay(engine, one.caller, &format!("play-{n}"));
        if n % 3 == 0 {
            pay(engine, live(one.caller), &format!("real-{n}"));
        }
        one.work();
        if n % 9 == 0 {
            one.env.advance_to(one.env.now() + 5_001);
            while engine.run(NumberEvents { limit: 20 }).unwrap().more {}
            let size = |mode| assert_tree(&other, &*one.store, mode);
            sizes.push((size(Mode::Sandbox), size(Mode::Live)));
        }
    }
    one.env.advance_to(one.env.now() + 5_001);
    while one.engine.run(NumberEvents { limit: 1_000 }).unwrap().more {}
    assert_logged(&*one.store);
    one.assert_sound();
    let head = head(&*one.store);
    let count = |mode| events(&one, mode).count() as u64;
    assert_eq!((count(Mode::Sandbox), count(Mode::Live)), (head.leaves(Mode::Sandbox) as u64, head.leaves(Mode::Live) as u64));
    assert!(count(Mode::Sandbox) > 256 && count(Mode::Live) > 64, "{head:?}");
    assert!(sizes.is_sorted() && sizes.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{sizes:?}");
    assert_two_trees(&one);
}

fn events(s: &Sandbox, mode: Mode) -> impl Iterator<Item = EventRecord> {
    let settlements = super::log::settlements(&*s.store).into_iter().filter(move |record| record.mode == mode);
    settlements.flat_map(|record| events_of(&*s.store, record.no)).collect::<Vec<_>>().into_iter()
}

/// Each tree has the events of its mode and no others, and proves them under its own name only.
pub fn assert_two_trees(s: &Sandbox) {
    let names = [(Mode::Sandbox, "railgate/log"), (Mode::Live, "railgate/log/live")];
    for (mode, name) in names {
        let size = assert_tree(&s.engine, &*s.store, mode);
        assert_eq!(size, events(s, mode).count() as u64, "{name}");
        let (own, others) = (s.engine.log_keys(mode).unwrap(), s.engine.log_keys(another(mode)).unwrap());
        assert_eq!(own[0].name().as_str(), name);
        let caller = Caller { mode, ..s.caller };
        for entry in s.engine.feed(&caller, 0, 10_000).unwrap().into_iter().rev().step_by(17) {
            let named = target(entry.event.settlement_id.as_deref().unwrap());
            let (proof, record) = (s.engine.proof(&caller, &named).unwrap(), s.engine.settlement(&caller, &named).unwrap());
            let hash = events_of(&*s.store, record.no).pop().unwrap().hash;
            let checkpoint = verify_proof(&proof.proof, &hash, &own[0]).unwrap();
            assert_eq!((checkpoint.origin.as_str(), checkpoint.size), (name, size));
            assert!(verify_proof(&proof.proof, &hash, &others[0]).is_err());
        }
        // All leaves of the served tree are the mode's own.
        let mut served = Vec::new();
        for index in 0..size.div_ceil(256) {
            let width = (size - index * 256).min(256) as u16;
            let path = TilePath::new(TileKind::Entries, index, width).unwrap();
            served.extend(s.engine.log_tile(mode, &path).unwrap().unwrap().chunks(34).map(|entry| entry[2..].to_vec()));
        }
        assert_eq!(served, leaves(&*s.store, mode));
        let beyond = TilePath::new(TileKind::Entries, size / 256, (size % 256) as u16 + 1).unwrap();
        assert_eq!(s.engine.log_tile(mode, &beyond).unwrap(), None);
    }
}

fn another(mode: Mode) -> Mode {
    match mode {
        Mode::Sandbox => Mode::Live,
        Mode::Live => Mode::Sandbox,
    }
}
