//! Statements that lack lines, because an older server posted transfers without them, and how they get them.
#![cfg(all(feature = "sqlite", feature = "testkit"))]

use std::sync::Arc;

use crate::support::meddling::Meddling;
use crate::support::{Sandbox, sealing};
use railgate::api::EntryView;
use railgate::engine::{Fund, NumberEvents, Operated, StatementGap, statement_gaps, verify};
use railgate::env::Env as _;
use railgate::ids::SettlementNo;
use railgate::ledger::{AccountId, Mode, Owner};
use railgate::money::Currency;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{AuditAction, AuditRecord, EntryRecord, Record, RecordKind};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Scan, Store, Write, typed_all};
use railgate::{Config, Engine};

const HOUR: i64 = 3_600_000;

fn over_each_store(test: impl Fn(&Sandbox)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("repair.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for store in stores {
        let s = Sandbox::over(store, sealing(), 1);
        // The first use of the money draws the opening balances, each with a line.
        fund(&s, "7.00 CHF");
        test(&s);
    }
}

fn book(engine: &Engine) {
    while engine.run(NumberEvents { limit: 100 }).unwrap().more {}
}

fn fund(s: &Sandbox, money: &str) {
    s.engine.run(Fund { caller: s.caller, money: money.parse().unwrap() }).unwrap();
}

fn remove(store: &dyn Store, records: Vec<Record>) {
    store.commit(&Commit { writes: records.iter().map(|record| Write::Delete(record.key())).collect() }).unwrap();
}

/// Does something as a server of before statements did: nothing that it posts has a line.
fn as_before(s: &Sandbox, work: impl FnOnce()) {
    book(&s.engine);
    work();
    remove(&*s.store, s.store.scan(&Scan::all(RecordKind::Unbooked, usize::MAX)).unwrap());
}

fn account(s: &Sandbox, currency: &str) -> AccountId {
    AccountId::new(Owner::Client(s.caller.client), Mode::Sandbox, Currency::from_code(currency).unwrap())
}

/// Replaces the statement by the balance, brought forward as a migration does.
fn brought_forward(s: &Sandbox, currency: &str) {
    book(&s.engine);
    let entries = s.store.scan(&Scan::entries(account(s, currency), 0, i64::MAX, usize::MAX)).unwrap();
    let [last]: [EntryRecord; 1] = typed_all(entries[..1].to_vec()).unwrap().try_into().unwrap();
    remove(&*s.store, entries);
    let opening = EntryRecord { n: 0, at: s.env.now(), amount: 0, code: None, journal: SettlementNo(0), transfer: 0, ..last };
    s.store.commit(&Commit { writes: vec![Write::Insert(opening.into())] }).unwrap();
}

fn problems(s: &Sandbox) -> Vec<&'static str> {
    verify::verify(&*s.store, &mut |_| {}).unwrap().problems.iter().map(|problem| problem.code).collect()
}

fn gaps(s: &Sandbox) -> Vec<StatementGap> {
    statement_gaps(&*s.store).unwrap()
}

/// Adds what is missing through this engine. Returns how many lines.
fn repair(engine: &Engine, gaps: &[StatementGap]) -> usize {
    gaps.iter().flat_map(StatementGap::commands).map(|command| engine.run(Operated(command)).unwrap()).sum()
}

fn lines(s: &Sandbox, currency: &str) -> Vec<EntryView> {
    let request = s.engine.statement_request(&s.caller, currency, (None, None), None, 5_000).unwrap();
    let mut lines = s.engine.statement(&request).unwrap().data;
    lines.reverse();
    lines
}

fn told(lines: &[EntryView]) -> Vec<(&str, &str, &str)> {
    lines.iter().map(|line| (&*line.kind, line.amount.as_str(), line.balance.as_str())).collect()
}

/// The statement is what verification expects, and ends at the balance.
fn assert_whole(s: &Sandbox) {
    s.assert_sound();
    assert_eq!(gaps(s), []);
    for currency in ["EUR", "CHF"] {
        let Ok(balance) = s.engine.balance(&s.caller, currency) else { continue };
        assert_eq!(lines(s, currency).last().map(|line| line.balance.as_str()), Some(balance.ledger.as_str()));
    }
}

#[test]
fn what_a_server_of_before_posted_is_added_below_what_was_read() {
    over_each_store(|s| {
        as_before(s, || {
            s.pay("lost", "sim:ok");
            s.work();
            fund(s, "5.00 CHF");
        });
        s.pay("kept", "sim:ok");
        s.work();
        book(&s.engine);
        let before = lines(s, "EUR");
        assert_eq!(told(&before).last(), Some(&("payment", "-10.00", "999990.00")), "one payment too few");
        assert_eq!(problems(s), ["statement_differs", "statement_differs"]);

        let found = gaps(s);
        let mut differences: Vec<_> = found.iter().map(|gap| (gap.lines.len(), gap.difference)).collect();
        differences.sort_unstable();
        assert_eq!(differences, [(1, -1_000), (1, 500)]);
        assert_eq!(repair(&s.engine, &found), 2);
        let after = lines(s, "EUR");
        assert_eq!(told(&after[..before.len()]), told(&before), "nobody has to read it again");
        assert_eq!(told(&after[before.len()..]), [("payment", "-10.00", "999980.00")]);
        assert_eq!(after.last().unwrap().reference.as_deref(), Some("lost"));
        assert_eq!(told(&lines(s, "CHF")), [("funding", "7.00", "7.00"), ("funding", "5.00", "12.00")]);
        assert_whole(s);

        // Once more changes nothing, even from what was found before.
        assert_eq!(repair(&s.engine, &found), 0);
        s.pay("later", "sim:ok");
        s.work();
        book(&s.engine);
        assert_eq!(lines(s, "EUR").last().unwrap().balance.as_str(), "999970.00");
        assert_whole(s);
        let audit: Vec<AuditRecord> = typed_all(s.store.scan(&Scan::all(RecordKind::Audit, usize::MAX)).unwrap()).unwrap();
        let mut said: Vec<_> = audit
            .iter()
            .filter(|row| row.action == AuditAction::RepairStatement)
            .map(|row| (row.client, row.name.as_deref().unwrap()))
            .collect();
        said.truncate(2);
        said.sort_unstable();
        assert_eq!(said, [(s.caller.client, "sandbox CHF: 1 lines"), (s.caller.client, "sandbox EUR: 1 lines")]);
    });
}

#[test]
fn what_cancels_out_is_found_too() {
    over_each_store(|s| {
        as_before(s, || {
            s.pay("back", "sim:ok");
            s.work();
            s.reverse("back", "").unwrap();
            s.work();
        });
        assert_eq!(problems(s), [""; 0], "the sums agree");
        assert_eq!(repair(&s.engine, &gaps(s)), 2);
        let all = lines(s, "EUR");
        assert_eq!(told(&all[all.len() - 2..]), [("payment", "-10.00", "999990.00"), ("reversal", "10.00", "1000000.00")]);
        assert_whole(s);
    });
}

#[test]
fn what_was_brought_forward_is_not_added_again() {
    over_each_store(|s| {
        s.pay("old", "sim:ok");
        s.work();
        s.pass(24 * HOUR);
        brought_forward(s, "EUR");
        assert_whole(s);
        as_before(s, || {
            s.pass(60_000);
            s.pay("lost", "sim:ok");
            s.work();
        });
        s.pass(24 * HOUR);
        s.pay("kept", "sim:ok");
        s.work();
        book(&s.engine);
        assert_eq!(repair(&s.engine, &gaps(s)), 1);
        let all = lines(s, "EUR");
        let expected = [("brought_forward", "0.00", "999990.00"), ("payment", "-10.00", "999980.00"), ("payment", "-10.00", "999970.00")];
        assert_eq!(told(&all), expected);
        assert_eq!(all[2].reference.as_deref(), Some("lost"));
        assert_whole(s);
    });
}

#[test]
fn what_no_transfer_explains_is_told_and_left_alone() {
    over_each_store(|s| {
        book(&s.engine);
        let entries: Vec<EntryRecord> = typed_all(s.store.scan(&Scan::last_entry(account(s, "EUR"))).unwrap()).unwrap();
        let other = EntryRecord { balance: entries[0].balance - 1, ..entries[0].clone() };
        s.store.commit(&Commit { writes: vec![Write::Replace(other.into())] }).unwrap();
        as_before(s, || {
            s.pay("lost", "sim:ok");
            s.work();
        });
        let found = gaps(s);
        assert_eq!((found.len(), found[0].lines.len(), found[0].difference), (1, 0, -999));
        assert_eq!(repair(&s.engine, &found), 0);
        assert_eq!(lines(s, "EUR").len(), 1);
    });
}

#[test]
fn many_lines_take_several_commits() {
    over_each_store(|s| {
        as_before(s, || (0..1_100).for_each(|_| fund(s, "1.00 CHF")));
        let found = gaps(s);
        let [francs] = &found[..] else { panic!("{} gaps", found.len()) };
        assert_eq!((francs.lines.len(), francs.commands().count()), (1_100, 3));
        // Interrupted after the first; what is found then is the rest.
        s.engine.run(Operated(francs.commands().next().unwrap())).unwrap();
        assert_eq!(repair(&s.engine, &gaps(s)), 600);
        let all = lines(s, "CHF");
        assert_eq!((all.len(), all.last().unwrap().balance.as_str()), (1_101, "1107.00"));
        assert_whole(s);
    });
}

#[test]
fn servers_may_book_and_others_repair_meanwhile() {
    over_each_store(|s| {
        as_before(s, || {
            s.pay("lost", "sim:ok");
            s.work();
        });
        s.pay("waits", "sim:ok");
        s.work();
        let found = gaps(s);
        let slow = Meddling::over(s.store.clone());
        let at =
            |owner: i64, store: Arc<dyn Store>| Engine::open(store, s.env.clone(), Config { owner: Some(owner), ..sealing() }).unwrap();
        let (repairing, server, other) = (at(7, slow.clone()), at(8, s.store.clone()), at(9, s.store.clone()));
        // Whoever numbered last takes a while off.
        s.env.advance_to(s.env.now() + 5_001);
        slow.before_write(RecordKind::Entry, move || book(&server));
        assert_eq!(repair(&repairing, &found), 1, "decided again, below the line that was booked meanwhile");
        let all = lines(s, "EUR");
        assert_eq!(all.iter().filter_map(|line| line.reference.as_deref()).collect::<Vec<_>>(), ["waits", "lost"]);
        assert_whole(s);

        as_before(s, || {
            s.pay("again", "sim:ok");
            s.work();
        });
        let (found, same) = (gaps(s), gaps(s));
        slow.before_write(RecordKind::Entry, move || assert_eq!(repair(&other, &same), 1));
        assert_eq!(repair(&repairing, &found), 0, "somebody else was first");
        assert_whole(s);
    });
}
