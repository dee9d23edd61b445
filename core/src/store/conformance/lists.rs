//! Scans: their order, their pages and their filters.

use super::fixtures::*;
use super::{Factory, make, refuse};
use crate::ids::{ClientNo, KeyNo, ProviderNo, SettlementNo, Ulid, UserNo};
use crate::ledger::{AccountId, Mode, Owner};
use crate::lifecycle::{BundleStatus, Direction, SettlementStatus};
use crate::money::Currency;
use crate::participant::Participant;
use crate::store::record::*;
use crate::store::{Scan, SettlementFilter, Store, Unique, Write};
use crate::time::Millis;

pub(super) fn keys(store: &dyn Store, scan: &Scan) -> Vec<Key> {
    store.scan(scan).unwrap().iter().map(Record::key).collect()
}

/// Walks a scan page by page, with every page size, and expects exactly `expected`, in order.
pub(super) fn walks(store: &dyn Store, expected: &[Key], page: impl Fn(Option<&Key>, usize) -> Scan) {
    assert_eq!(keys(store, &page(None, 0)), []);
    for limit in (1..=expected.len() + 1).chain([usize::MAX]) {
        let mut seen: Vec<Key> = Vec::new();
        loop {
            let found = keys(store, &page(seen.last(), limit));
            assert!(found.len() <= limit);
            let ended = found.len() < limit;
            seen.extend(found);
            // A page that starts at the last key instead of after it would never end.
            if ended || seen.len() > expected.len() {
                break;
            }
        }
        assert_eq!(seen, expected, "in pages of {limit}");
    }
}

/// At least two records of every kind, in key order within each kind.
fn in_order() -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    macro_rules! add {
        ($($record:expr),* $(,)?) => {
            records.extend([$(Record::from($record)),*])
        };
    }
    add!(client(1, 12), client(2, 11), key(1, 2, 2), key(u32::MAX, 1, 1), token(1, 6), token(200, 5), provider(1, "q"), provider(2, "p"));
    add!(settlement(-7, 1, "c"), settlement(1, 1, "b"), settlement(2, 1, "a"), attempt(1, 2), attempt(2, 1));
    add!(reversal(1, 65_535, 1, None), reversal(2, 1, 1, Some("r")), event(-7, 65_535), event(1, 65_535), event(2, 1));
    add!(task(-5, 1), task(5, 0), task(5, 1), sim_payment(1, 65_535), sim_payment(2, 0), nonce(1, 6), nonce(200, 5));
    // Texts are ordered byte by byte, whatever they contain.
    let texts = ["", "\0", "\0\0", "\0a", "\u{1}", "\u{1}\0", "\u{2}", "A", "a", "a\u{1}", "ab", "ü", "\u{10ffff}"];
    records.extend(texts.map(|text| idempotency(1, text, 5).into()));
    add!(idempotency(2, "", 4));
    records.extend(texts.map(|text| meta(text, b"1").into()));
    add!(secret(SecretKind::Challenge, 2), secret(SecretKind::Receipt, 1), secret(SecretKind::Receipt, 2), audit(-1), audit(1));
    add!(unlogged(-1), unlogged(1), feed(1, Mode::Sandbox, 9, 1), feed(1, Mode::Live, -1, 2), feed(1, Mode::Live, 1, 3));
    add!(feed(2, Mode::Sandbox, 1, 4), tile(0, 7), tile(1, 0), tile(63, 1), log_head(5), log_head(7));
    add!(endpoint(1, 1, 12), endpoint(2, 1, 11), endpoint_secret(1, 2), endpoint_secret(2, 1), queue(1, None), queue(2, Some(5)));
    add!(delivery(-1, 2, Some(5)), delivery(1, 1, None));
    add!(allowance(1, 9), allowance(u32::MAX, 5), invitation(1, 6), invitation(200, 5), setup(1), setup(2));
    add!(usage(1, 5, 1), usage(20_000, 1, 1));
    add!(movement(3, "m-3"), movement(9, "m-1"));
    add!(simulator(1, u64::MAX), simulator(u32::MAX, 0), clock(1, 5), clock(u32::MAX, 6));
    add!(operator(1, 12), operator(200, 11), approval(-1, 12), approval(1, 11));
    add!(user(1, "b"), user(u32::MAX, "a"), device(1, 12, 1), device(200, 11, 1), device_code(1, 2, 6), device_code(200, 1, 5));
    add!(notification(1, 9, true), notification(1, 12, false), notification(2, -1, true));
    // A text inside a key ends before one that it begins.
    add!(quality("a", 7, "1"), quality("a", 7, "1.5"), quality("a", 8, ""), quality("a.b", -7, "1"), quality("ab", 1, ""));
    add!(quality_seen(-1, 7), quality_seen(1, 5), quality_seen(1, 6));
    add!(unbooked(-1), unbooked(1), entry(1, 0), entry(1, 7), entry(2, 1), node(-1, None), node(1, Some("https://10.0.0.7:8443")));
    add!(reconciliation(1, 2), reconciliation(2, 1), finding(1, 2, 7), finding(2, 1, 0), matches(1, 2), matches(2, 1));
    add!(review(-7, 1, 9), review(1, 0, 6), review(1, 2, 5), review(2, 0, 7));
    records.extend(texts.map(|text| elsewhere(1, ReferenceKind::Settlement, text).into()));
    add!(elsewhere(1, ReferenceKind::Reversal, "a"), elsewhere(2, ReferenceKind::Settlement, "a"), brought(1, 5, 1), brought(20_000, 1, 1));
    add!(bundle(-1, 2, 12), bundle(1, 1, 11), bundle_part(1, 1, 2), bundle_part(1, 2, 0), bundle_part(2, 1, 0));
    add!(bundle_step(1, 9), bundle_step(2, 1));
    records
}

/// Puts at least two records of every kind into an empty store. Returns them in key order within each kind.
pub fn fill(store: &dyn Store) -> Vec<Record> {
    let mut expected = in_order();
    make(store, expected.iter().rev().cloned().map(Write::Insert));
    make(store, [5, 1, -3].map(|no| funding(no, account_of(no.unsigned_abs() as u32), 7)));
    let transfers = [-3, 1, 5].map(|no| Key::Transfer((SettlementNo(no), 1)));
    let mut accounts = [1, 3, 5].map(account_of).to_vec();
    accounts.push(account(Owner::Funding));
    accounts.sort();
    expected.extend(transfers.into_iter().chain(accounts.into_iter().map(Key::Account)).map(|key| store.get(&key).unwrap().unwrap()));
    expected
}

/// A whole store can be walked kind by kind.
pub fn every_kind_is_walked_in_the_order_of_its_keys(new: Factory<'_>) {
    let store = &*new();
    let expected = fill(store);
    for kind in RecordKind::ALL {
        let expected: Vec<Record> = expected.iter().filter(|record| record.kind() == *kind).cloned().collect();
        assert!(expected.len() >= 2, "{kind:?}");
        let page = |last: Option<&Key>, limit| last.map_or_else(|| Scan::all(*kind, limit), |last| Scan::after(last, limit));
        walks(store, &expected.iter().map(Record::key).collect::<Vec<_>>(), page);
        assert_eq!(store.scan(&page(None, usize::MAX)).unwrap(), expected);
    }
}

/// Every paged scan by key.
pub fn pages_begin_after_and_end_at_their_limit(new: Factory<'_>) {
    let store = &*new();
    let numbers = [1, 2, 5, 6, 100];
    make(store, numbers.map(|no| insert(settlement(no, 1, &no.to_string()))));
    make(store, numbers.map(|no| funding(no, account_of(no as u32), 1)));
    make(store, [insert(event(5, 1)), insert(event(5, 2)), insert(event(5, 65_535)), insert(event(6, 3))]);
    make(store, numbers.map(|no| insert(client(no as u32, no as u128))));
    make(store, [funding(-3, account_of(1), 1)]);
    make(store, [100, 6, -1, 2, 1, 5].map(|no| insert(audit(no))));
    make(store, [insert(key(7, 1, 1)), insert(key(2, 2, 2))]);

    let settlements = numbers.map(|no| Key::Settlement(SettlementNo(no)));
    walks(store, &settlements, |last, limit| match last {
        Some(Key::Settlement(after)) => Scan::after(&Key::Settlement(*after), limit),
        _ => Scan::after(&Key::Settlement(SettlementNo(0)), limit),
    });
    let events = [1, 2, 65_535].map(|n| Key::Event((SettlementNo(5), n)));
    walks(store, &events, |last, limit| match last {
        Some(Key::Event((settlement, after))) => Scan::events(*settlement, *after, limit),
        _ => Scan::events(SettlementNo(5), 0, limit),
    });
    let transfers = [-3, 1, 2, 5, 6, 100].map(|no| Key::Transfer((SettlementNo(no), 1)));
    walks(store, &transfers, |last, limit| match last {
        Some(Key::Transfer(after)) => Scan::after(&Key::Transfer(*after), limit),
        _ => Scan::after(&Key::Transfer((SettlementNo(i64::MIN), u16::MAX)), limit),
    });
    let clients = numbers.map(|no| Key::Client(ClientNo(no as u32)));
    walks(store, &clients, |last, limit| match last {
        Some(Key::Client(after)) => Scan::after(&Key::Client(*after), limit),
        _ => Scan::after(&Key::Client(ClientNo(0)), limit),
    });
    let audited = [-1, 1, 2, 5, 6, 100].map(Key::Audit);
    walks(store, &audited, |last, limit| match last {
        Some(Key::Audit(after)) => Scan::after(&Key::Audit(*after), limit),
        _ => Scan::after(&Key::Audit(i64::MIN), limit),
    });
    let mut accounts = numbers.map(|no| account_of(no as u32)).to_vec();
    accounts.push(account(Owner::Funding));
    accounts.sort();
    let accounts: Vec<Key> = accounts.into_iter().map(Key::Account).collect();
    walks(store, &accounts, |last, limit| match last {
        Some(Key::Account(after)) => Scan::after(&Key::Account(*after), limit),
        _ => Scan::after(&Key::Account(AccountId(i64::MIN)), limit),
    });

    assert_eq!(keys(store, &Scan::last(RecordKind::Settlement)), [Key::Settlement(SettlementNo(100))]);
    assert_eq!(keys(store, &Scan::last(RecordKind::Transfer)), [Key::Transfer((SettlementNo(100), 1))]);
    assert_eq!(keys(store, &Scan::last(RecordKind::Client)), [Key::Client(ClientNo(100))]);
    assert_eq!(keys(store, &Scan::last(RecordKind::Key)), [Key::Key(KeyNo(7))]);
    assert_eq!(keys(store, &Scan::last(RecordKind::Audit)), [Key::Audit(100)]);
    for beyond in [
        Scan::after(&Key::Settlement(SettlementNo(i64::MAX)), 9),
        Scan::after(&Key::Transfer((SettlementNo(i64::MAX), 0)), 9),
        Scan::events(SettlementNo(5), u32::MAX, 9),
        Scan::events(SettlementNo(i64::MAX), 0, 9),
        Scan::after(&Key::Client(ClientNo(u32::MAX)), 9),
        Scan::after(&Key::Audit(i64::MAX), 9),
        Scan::transfers(SettlementNo(i64::MIN)),
    ] {
        assert_eq!(keys(store, &beyond), [], "{beyond:?}");
    }
}

/// The first and the last possible child, next to the neighbours' last and first.
pub fn children_of_one_settlement_stay_apart_from_the_next(new: Factory<'_>) {
    let store = &*new();
    for no in [1, 2, 3] {
        for n in [0, 1, 2, u16::MAX] {
            let payment = transfer(no, n, account(Owner::Funding), account_of(1), 1);
            make(store, [insert(attempt(no, n)), insert(reversal(no, n, 1, None)), insert(sim_payment(no, n)), Write::Post(payment)]);
        }
        make(store, [insert(event(no, 0)), insert(event(no, 65_535))]);
    }
    let two = SettlementNo(2);
    let ns = [(two, 0), (two, 1), (two, 2), (two, u16::MAX)];
    assert_eq!(keys(store, &Scan::attempts(two)), ns.map(Key::Attempt));
    assert_eq!(keys(store, &Scan::reversals(two)), ns.map(Key::Reversal));
    assert_eq!(keys(store, &Scan::transfers(two)), ns.map(Key::Transfer));
    assert_eq!(keys(store, &Scan::sim_payments(two)), ns.map(Key::SimPayment));
    assert_eq!(keys(store, &Scan::events(two, 0, 9)), [Key::Event((two, 65_535))]);
    assert_eq!(keys(store, &Scan::attempts(SettlementNo(4))), []);

    make(store, [insert(provider(9, "a")), insert(provider(2, "c")), insert(provider(u16::MAX, "b"))]);
    assert_eq!(keys(store, &Scan::all(RecordKind::Provider, usize::MAX)), [2, 9, u16::MAX].map(|no| Key::Provider(ProviderNo(no))));
}

/// Due tasks come first, by due time; leasing moves a task to the end of its lease.
pub fn tasks_are_a_prefix_by_due_time(new: Factory<'_>) {
    let store = &*new();
    let due = [(-5, 1), (0, 7), (10, 1), (10, 0xf_ffff), (11, 0), (1 << 42, 3)];
    make(store, due.map(|(at, n)| insert(task(at, n))));
    let key = |i: usize| Key::Task(TaskKey::new(due[i].0, due[i].1));
    let all: Vec<Key> = (0..due.len()).map(key).collect();
    let begin = TaskKey(i64::MIN);
    for (until, count) in [(Millis::MIN, 0), (-6, 0), (-5, 1), (9, 2), (10, 4), (11, 5), (1 << 41, 5), (1 << 42, 6), (Millis::MAX, 6)] {
        assert_eq!(keys(store, &Scan::tasks(begin, until, 99)), all[..count], "until {until}");
    }
    walks(store, &all[..4], |last, limit| match last {
        Some(Key::Task(after)) => Scan::tasks(*after, 10, limit),
        _ => Scan::tasks(begin, 10, limit),
    });
    let leased = TaskRecord { key: TaskKey::new(40, 2), owner: 1, ..task(0, 7) };
    make(store, [Write::Delete(key(1)), insert(leased.clone())]);
    assert_eq!(keys(store, &Scan::tasks(begin, 0, 9)), [key(0)]);
    assert_eq!(store.get(&Key::Task(leased.key)).unwrap(), Some(leased.into()));
}

/// A client's clock finds its own tasks: those that are due by the gateway's clock first, then those that wait for its own.
pub fn tasks_of_a_client_are_found_by_its_clock(new: Factory<'_>) {
    let store = &*new();
    let of = |client, key| TaskRecord { key, client: Some(ClientNo(client)), ..task(0, 0) };
    let (due, later, waiting) = (TaskKey::new(5, 1), TaskKey::new(9, 1), TaskKey::waiting(3, 1));
    make(store, [insert(of(1, waiting)), insert(of(1, due)), insert(of(1, later)), insert(of(2, TaskKey::new(5, 2))), insert(task(5, 3))]);
    let found = |client, after, until| keys(store, &Scan::tasks_of(ClientNo(client), after, until, 9));
    let begin = TaskKey(i64::MIN);
    assert_eq!(found(1, begin, Millis::MAX), [due, later, waiting].map(Key::Task));
    assert_eq!(found(1, begin, 5), [Key::Task(due)]);
    assert_eq!(found(1, due, WAITING - 1), [Key::Task(later)]);
    assert_eq!(found(1, later, WAITING + 2), []);
    assert_eq!(found(1, later, WAITING + 3), [Key::Task(waiting)]);
    assert_eq!(found(3, begin, Millis::MAX), []);

    make(store, [insert(clock(1, 20)), insert(clock(2, 10)), insert(clock(3, 30))]);
    let since = |since, limit| keys(store, &Scan::clocks_since(since, limit));
    assert_eq!(since(20, 9), [ClientNo(1), ClientNo(3)].map(Key::Clock));
    assert_eq!(since(i64::MIN, 1), [Key::Clock(ClientNo(2))]);
}

/// What has expired is walked page by page, and of one client in one mode.
pub fn what_has_expired_is_found_by_page_and_by_client(new: Factory<'_>) {
    let store = &*new();
    let accepted = |no, client: u32, mode, at| {
        let expires_at = Some(at);
        SettlementRecord { expires_at, mode, status: SettlementStatus::Accepted, ..settlement(no, client, &no.to_string()) }
    };
    let (play, live) = (Mode::Sandbox, Mode::Live);
    let all = [accepted(3, 1, play, 5), accepted(4, 2, play, 5), accepted(2, 1, live, 6), accepted(1, 1, play, 7)];
    make(store, all.iter().cloned().map(insert));
    let ordered = all.each_ref().map(|it| Key::Settlement(it.no));
    walks(store, &ordered, |last, limit| match last {
        Some(Key::Settlement(no)) => {
            let at = all.iter().find(|it| it.no == *no).and_then(|it| it.expires_at).unwrap();
            Scan::expired_before(8, Some((at, *no)), limit)
        }
        _ => Scan::expired_before(8, None, limit),
    });
    assert_eq!(keys(store, &Scan::expired_of(ClientNo(1), play, 8, 9)), [ordered[0].clone(), ordered[3].clone()]);
    assert_eq!(keys(store, &Scan::expired_of(ClientNo(1), play, 7, 9)), [ordered[0].clone()]);
}

/// Kinds of owners share numbers, but not accounts.
pub fn accounts_of_a_client_are_its_own(new: Factory<'_>) {
    let store = &*new();
    let of = |owner, mode, code| AccountId::new(owner, mode, currency(code));
    let own = |no| Owner::Client(ClientNo(no));
    let mut mine =
        [of(own(2), Mode::Sandbox, "EUR"), of(own(2), Mode::Live, "EUR"), of(own(2), Mode::Sandbox, "JPY"), of(own(2), Mode::Live, "ZMW")];
    let others = [
        of(own(1), Mode::Live, "ZWL"),
        of(own(3), Mode::Sandbox, "ALL"),
        of(own(0), Mode::Sandbox, "EUR"),
        of(own(u32::MAX), Mode::Sandbox, "EUR"),
        of(Owner::Provider(ProviderNo(2)), Mode::Sandbox, "EUR"),
        of(Owner::Fees, Mode::Sandbox, "EUR"),
    ];
    let all = mine.iter().chain(&others);
    make(store, all.zip(1..).map(|(&account, journal)| funding(journal, account, 1)));
    mine.sort();
    assert_eq!(keys(store, &Scan::accounts_of(ClientNo(2))), mine.map(Key::Account));
    let mut numbered = [mine[0], mine[1], mine[2], mine[3], others[4]];
    numbered.sort();
    assert_eq!(keys(store, &Scan::accounts_numbered(2)), numbered.map(Key::Account));
    assert_eq!(keys(store, &Scan::accounts_of(ClientNo(u32::MAX))), [Key::Account(others[3])]);
    assert_eq!(keys(store, &Scan::accounts_of(ClientNo(4))), []);
}

/// By number, regardless of the order of insertion, and without those of neighbours.
pub fn keys_of_a_client_are_its_own(new: Factory<'_>) {
    let store = &*new();
    let owners = [(5, 2), (1, 1), (u32::MAX, 2), (2, 3), (9, u32::MAX), (3, 2), (4, 0)];
    make(store, owners.iter().zip(1..).map(|((no, client), id)| insert(key(*no, *client, id))));
    let of = |client| keys(store, &Scan::keys_of(ClientNo(client)));
    let numbered = |numbers: &[u32]| numbers.iter().map(|no| Key::Key(KeyNo(*no))).collect::<Vec<_>>();
    assert_eq!(of(2), numbered(&[3, 5, u32::MAX]));
    assert_eq!(of(0), numbered(&[4]));
    assert_eq!(of(u32::MAX), numbered(&[9]));
    assert_eq!(of(4), []);
    // A revoked key stays in its owner's list.
    make(store, [replace_any(KeyRecord { status: KeyStatus::Revoked, ..key(3, 2, 6) })]);
    assert_eq!(of(2), numbered(&[3, 5, u32::MAX]));
    // Lists reflect changes of a record.
    make(store, [replace_any(key(3, 1, 6)), Write::Delete(Key::Key(KeyNo(5)))]);
    assert_eq!((of(1), of(2)), (numbered(&[1, 3]), numbered(&[u32::MAX])));
    assert_eq!(keys(store, &Scan::last(RecordKind::Key)), numbered(&[u32::MAX]));
}

/// A user's notifications by number in both directions, the unread ones, and those of any user by time.
pub fn notifications_are_walked_by_user_and_by_time(new: Factory<'_>) {
    let store = &*new();
    let told = |user: u32, n: i64| Key::Notification((UserNo(user), n));
    let all = [(1, 7, true), (1, 3, false), (1, 9, true), (2, 8, true), (1, -1, false)];
    make(store, all.map(|(user, n, unread)| insert(notification(user, n, unread))));
    let newest = [9, 7, 3, -1].map(|n| told(1, n));
    walks(store, &newest, |last, limit| match last {
        Some(Key::Notification((_, before))) => Scan::notifications_of(UserNo(1), false, *before, limit),
        _ => Scan::notifications_of(UserNo(1), false, i64::MAX, limit),
    });
    assert_eq!(keys(store, &Scan::notifications_of(UserNo(1), true, i64::MAX, 9)), newest[..2]);
    assert_eq!(keys(store, &Scan::notifications_of(UserNo(1), true, 9, 9)), newest[1..2]);
    assert_eq!(keys(store, &Scan::notifications_after(UserNo(1), 3, 9)), [7, 9].map(|n| told(1, n)));
    assert_eq!(keys(store, &Scan::notifications_after(UserNo(1), 3, 1)), [told(1, 7)]);
    assert_eq!(keys(store, &Scan::last_notification(UserNo(1))), newest[..1]);
    assert_eq!(keys(store, &Scan::last_notification(UserNo(3))), []);
    for (n, key) in (1..).zip(newest.iter().cloned()) {
        assert_eq!(keys(store, &Scan::nth_notification(UserNo(1), n)), [key]);
    }
    assert_eq!(keys(store, &Scan::nth_notification(UserNo(1), 5)), []);
    assert_eq!(keys(store, &Scan::notifications_before(9, 3)), [told(1, -1), told(1, 3), told(1, 7)]);
}

/// A client's users by name in each mode, a user's devices and codes, and a user's payments, newest first.
pub fn users_have_devices_codes_and_payments(new: Factory<'_>) {
    let store = &*new();
    let live = UserRecord { mode: Mode::Live, ..user(4, "a") };
    let other = UserRecord { client: ClientNo(2), ..user(5, "a") };
    make(store, [user(3, "a"), user(1, "c"), user(2, "b"), live.clone(), other.clone()].map(insert));
    let ordered = [3, 2, 1].map(|no| Key::User(UserNo(no)));
    let name = |key: &Key| match key {
        Key::User(UserNo(1)) => "c",
        Key::User(UserNo(2)) => "b",
        _ => "a",
    };
    walks(store, &ordered, |last, limit| Scan::users_of(ClientNo(1), Mode::Sandbox, last.map_or("", name), limit));
    assert_eq!(keys(store, &Scan::users_of(ClientNo(1), Mode::Live, "", 9)), [Key::User(live.no)]);
    let found = |client, mode, name: &str| store.find(&Unique::UserName(ClientNo(client), mode, name.to_owned())).unwrap();
    assert_eq!(found(1, Mode::Sandbox, "b"), Some(user(2, "b").into()));
    assert_eq!(found(2, Mode::Sandbox, "a"), Some(other.into()));
    assert_eq!(found(1, Mode::Live, "b"), None);
    assert_eq!(refuse(store, [insert(user(9, "b"))]), [0]);

    make(store, [device(7, 1, 2), device(5, 2, 2), device(6, 3, 3)].map(insert));
    assert_eq!(keys(store, &Scan::devices_of(UserNo(2))), [5, 7].map(|no| Key::Device(KeyNo(no))));
    assert_eq!(store.find(&Unique::DeviceId(Ulid(3))).unwrap(), Some(device(6, 3, 3).into()));
    make(store, [device_code(9, 2, 7), device_code(1, 2, 8), device_code(5, 3, 9)].map(insert));
    assert_eq!(keys(store, &Scan::device_codes_of(UserNo(2))), [1, 9].map(|n| Key::DeviceCode([n; 32])));
    assert_eq!(keys(store, &Scan::device_codes_expired_before(9, 9)), [9, 1].map(|n| Key::DeviceCode([n; 32])));

    let paid = |no: i64, by: u32| SettlementRecord { user: Some(UserNo(by)), ..settlement(no, 1, &no.to_string()) };
    make(store, [insert(paid(1, 2)), insert(paid(2, 3)), insert(paid(3, 2)), insert(settlement(4, 1, "4"))]);
    let filter = SettlementFilter { user: Some(UserNo(2)), ..SettlementFilter::default() };
    let expected = [3, 1].map(|no| Key::Settlement(SettlementNo(no)));
    assert_eq!(keys(store, &Scan::settlements_of_user(&filter, 9)), expected);
    assert_eq!(keys(store, &Scan::settlements_of(ClientNo(1), &filter, None, 9)), expected);
    assert_eq!(keys(store, &Scan::nth_settlement_of(ClientNo(1), &filter, None, 2)), expected[1..]);
}

/// What was measured is found by metric and time, and what ended by time; what was seen by day.
pub fn what_devices_measured_is_in_order_of_time(new: Factory<'_>) {
    let store = &*new();
    let other = QualityRecord { client: ClientNo(2), ..quality("a", 5, "1") };
    let live = QualityRecord { mode: Mode::Live, ..quality("a", 5, "1") };
    let day = QualityRecord { is_day: true, ..quality("b", 4, "1") };
    let hours = [quality("a", 5, "1"), quality("a", 5, "1.5"), quality("a", 6, ""), quality("a", 9, ""), quality("aa", 5, "")];
    make(store, hours.iter().cloned().chain([other.clone(), live.clone(), day.clone()]).map(insert));
    let key = |record: &QualityRecord| Record::from(record.clone()).key();
    let of = |from, to, limit| keys(store, &Scan::quality(ClientNo(1), Mode::Sandbox, "a", from, to, limit));
    assert_eq!(of(5, 9, 9), hours[..3].iter().map(key).collect::<Vec<_>>());
    assert_eq!(of(6, 10, 1), [key(&hours[2])]);
    assert_eq!(of(5, 9, 2), hours[..2].iter().map(key).collect::<Vec<_>>());
    // Whosever it is, and of both modes.
    let of_all = |is_day, metric, from, to, limit| keys(store, &Scan::quality_of_all(is_day, metric, from, to, limit));
    let mut at_once = of_all(false, "a", 5, 6, 9);
    at_once.sort();
    let mut expected = [&hours[0], &hours[1], &other, &live].map(key).to_vec();
    expected.sort();
    assert_eq!(at_once, expected);
    assert_eq!(of_all(false, "a", 6, 10, 1), [key(&hours[2])], "the oldest first");
    assert_eq!((of_all(false, "b", 0, 9, 9), of_all(true, "b", 0, 9, 9)), (vec![], vec![key(&day)]));
    let mut ended = keys(store, &Scan::quality_before(false, 6, 9));
    ended.sort();
    let mut expected = [&hours[0], &hours[1], &hours[4], &other, &live].map(key).to_vec();
    expected.sort();
    assert_eq!(ended, expected);
    assert_eq!(keys(store, &Scan::quality_before(true, 6, 9)), [key(&day)]);
    assert_eq!(keys(store, &Scan::quality_before(true, 4, 9)), []);
    make(store, [quality_seen(6, 1), quality_seen(5, 3), quality_seen(5, 2), quality_seen(7, 1)].map(insert));
    let seen = [(5, 2), (5, 3), (6, 1)].map(|(day, device)| Key::QualitySeen((day, KeyNo(device))));
    assert_eq!(keys(store, &Scan::quality_seen_before(7, 9)), seen);
}

/// The highest number of a kind comes last.
pub fn secrets_are_in_order_of_kind_and_number(new: Factory<'_>) {
    let store = &*new();
    assert_eq!(keys(store, &Scan::all(RecordKind::Secret, usize::MAX)), []);
    let (challenge, receipt) = (SecretKind::Challenge, SecretKind::Receipt);
    let made = [(receipt, 2), (challenge, u32::MAX), (receipt, 1), (challenge, 1), (challenge, 10), (challenge, 9)];
    make(store, made.map(|(kind, no)| insert(secret(kind, no))));
    let ordered = [(challenge, 1), (challenge, 9), (challenge, 10), (challenge, u32::MAX), (receipt, 1), (receipt, 2)];
    assert_eq!(keys(store, &Scan::all(RecordKind::Secret, usize::MAX)), ordered.map(Key::Secret));
}

/// The scans by age return everything that is older, in any order, and nothing else.
pub fn old_records_are_found_by_age(new: Factory<'_>) {
    let store = &*new();
    make(store, [3, 1, 2].map(|at| insert(idempotency(1, &at.to_string(), at))));
    make(store, [3, 1, 2].map(|at| insert(token(at as u8, at))));
    make(store, [3, 1, 2].map(|at| insert(nonce(9 - at as u8, at))));
    make(store, [3, 1, 2].map(|at| insert(allowance(9 - at as u32, at))));
    make(store, [3, 1, 2].map(|at| insert(invitation(9 - at as u8, at))));
    let ending = |no: i64, at, status| SettlementRecord { expires_at: Some(at), status, ..settlement(no, 1, &no.to_string()) };
    make(store, [3, 1, 2].map(|at| insert(ending(9 - at, at, SettlementStatus::Accepted))));
    make(store, [3, 1, 2].map(|at| insert(ending(19 - at, at, SettlementStatus::Submitted))));
    // What was done stays, however old it is.
    make(store, [3, 1, 2].map(|at| insert(AuditRecord { at, refused: Some("rate_limited".to_owned()), ..audit(9 - at) })));
    make(store, [3, 1, 2].map(|at| insert(AuditRecord { at, refused: None, ..audit(19 - at) })));
    for (before, count) in [(Millis::MIN, 0), (1, 0), (2, 1), (3, 2), (Millis::MAX, 3)] {
        for limit in [0, 1, 2, 99] {
            let idempotency = store.scan(&Scan::idempotency_before(before, limit)).unwrap();
            let tokens = store.scan(&Scan::tokens_expired_before(before, limit)).unwrap();
            let nonces = store.scan(&Scan::nonces_expired_before(before, limit)).unwrap();
            let allowances = store.scan(&Scan::allowances_before(before, limit)).unwrap();
            let invitations = store.scan(&Scan::invitations_expired_before(before, limit)).unwrap();
            let refusals = store.scan(&Scan::refusals_before(before, limit)).unwrap();
            let expired = store.scan(&Scan::expired_before(before, None, limit)).unwrap();
            let all = [idempotency, tokens, nonces, allowances, invitations, refusals, expired];
            assert_eq!(all.each_ref().map(Vec::len), [limit.min(count); 7]);
            for record in all.iter().flatten() {
                match record {
                    Record::Idempotency(it) => assert!(it.created_at < before),
                    Record::Token(it) => assert!(it.expires_at < before),
                    Record::Nonce(it) => assert!(it.expires_at < before),
                    Record::Allowance(it) => assert!(it.since < before),
                    Record::Invitation(it) => assert!(it.expires_at < before),
                    Record::Settlement(it) => assert!(it.expires_at < Some(before) && it.status == SettlementStatus::Accepted),
                    Record::Audit(it) => assert!(it.at < before && it.refused.is_some()),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

/// What waits for a person is read in pages, earliest first, up to a time; that of one settlement stands apart from the next.
pub fn reviews_come_in_the_order_of_their_time(new: Factory<'_>) {
    let store = &*new();
    let order = [(2, 0, 3), (2, 7, 3), (3, 0, 3), (1, 1, 5), (1, 0, 8), (9, 0, 8), (1, 65_000, 9)];
    let by_key = [4, 3, 6, 0, 1, 2, 5];
    make(store, by_key.map(|at| order[at]).map(|(settlement, child, due)| insert(review(settlement, child, due))));
    let key = |(settlement, child, _): (i64, u16, i64)| Key::Review((SettlementNo(settlement), child));
    for (until, count) in [(i64::MIN, 0), (2, 0), (3, 3), (7, 4), (8, 6), (i64::MAX, 7)] {
        for limit in [1, 2, 3, 99] {
            let mut seen: Vec<(i64, u16, i64)> = Vec::new();
            loop {
                let after = seen.last().map(|&(settlement, child, due)| (due, SettlementNo(settlement), child));
                let page = keys(store, &Scan::reviews(until, after, limit));
                assert!(page.len() <= limit);
                if page.is_empty() || seen.len() > order.len() {
                    break;
                }
                seen.extend(page.iter().map(|found| order.into_iter().find(|it| key(*it) == *found).unwrap()));
            }
            assert_eq!(seen, order[..count], "until {until} in pages of {limit}");
        }
    }
    assert_eq!(keys(store, &Scan::reviews_of(SettlementNo(1))), [order[4], order[3], order[6]].map(key));
    assert_eq!(keys(store, &Scan::reviews_of(SettlementNo(4))), []);

    make(store, (1..=6).map(|no| insert(SettlementRecord { needs_review: no % 2 == 0, ..settlement(no, 9 - no as u32, &no.to_string()) })));
    let flagged = |no| Key::Settlement(SettlementNo(no));
    assert_eq!(keys(store, &Scan::flagged(9)), [6, 4, 2].map(flagged));
    assert_eq!(keys(store, &Scan::flagged(2)), [6, 4].map(flagged));
}

/// Bundles are read newest first, by client and by state, and their tests by when they are due; parts and steps by bundle.
pub fn bundles_are_read_by_client_and_state_and_by_when_a_test_is_due(new: Factory<'_>) {
    let store = &*new();
    let made = (1..=6).map(|no| BundleRecord {
        status: if no % 3 == 0 { BundleStatus::Draft } else { BundleStatus::Approved },
        due: (no > 2).then_some(100 - no / 2),
        ..bundle(no, 1 + (no % 2) as u32, no as u128)
    });
    make(store, made.map(insert));
    make(store, [insert(BundleRecord { mode: Mode::Live, ..bundle(7, 1, 70) })]);
    let expect = |numbers: &[i64]| numbers.iter().map(|no| Key::Bundle(*no)).collect::<Vec<_>>();
    for (status, numbers) in [(None, &[7, 6, 5, 4, 3, 2, 1][..]), (Some(BundleStatus::Draft), &[6, 3]), (Some(BundleStatus::Revoked), &[])]
    {
        walks(store, &expect(numbers), |last, limit| match last {
            Some(Key::Bundle(before)) => Scan::bundles(status, *before, limit),
            _ => Scan::bundles(status, i64::MAX, limit),
        });
    }
    walks(store, &expect(&[6, 4, 2]), |last, limit| match last {
        Some(Key::Bundle(before)) => Scan::bundles_of(ClientNo(1), Mode::Sandbox, *before, limit),
        _ => Scan::bundles_of(ClientNo(1), Mode::Sandbox, i64::MAX, limit),
    });
    assert_eq!(keys(store, &Scan::bundles_due(98, 9)), expect(&[6, 4, 5]));
    assert_eq!(keys(store, &Scan::bundles_due(99, 9)), expect(&[6, 4, 5, 3]));
    assert_eq!(keys(store, &Scan::bundles_due(96, 9)), []);

    make(store, [(1, 1, 0), (1, 1, 3), (1, 2, 0), (2, 1, 1)].map(|(no, revision, n)| insert(bundle_part(no, revision, n))));
    assert_eq!(keys(store, &Scan::bundle_parts(1, 1)), [(1, 1, 0), (1, 1, 3)].map(Key::BundlePart));
    assert_eq!(keys(store, &Scan::bundle_parts(2, 2)), []);
    let kept = |bundle, revision| keys(store, &Scan::kept_before(bundle, revision));
    assert_eq!([kept(1, 3), kept(1, 2)], [(1, 2, 0), (1, 1, 0)].map(|key| vec![Key::BundlePart(key)]));
    assert_eq!([kept(1, 1), kept(2, u32::MAX)], [[], []]);
    make(store, [(1, 1), (1, 2), (1, 5), (2, 1)].map(|(no, n)| insert(bundle_step(no, n))));
    walks(store, &[1, 2, 5].map(|n| Key::BundleStep((1, n))), |last, limit| match last {
        Some(Key::BundleStep((_, after))) => Scan::bundle_steps(1, *after, limit),
        _ => Scan::bundle_steps(1, 0, limit),
    });
}

/// What reconciliations found is read by reconciliation and by settlement, in pages.
pub fn findings_are_read_by_reconciliation_and_by_settlement(new: Factory<'_>) {
    let store = &*new();
    make(store, (1..=6).map(|no| insert(ReconciliationRecord { provider: ProviderNo((no % 2) as u16), ..reconciliation(no, no as u8) })));
    make(store, (1..=9).map(|n| insert(finding(n % 2, n, n / 4))));
    make(store, (1..=5).map(|n| insert(matches(n % 2, n))));
    for only in [None, Some(ProviderNo(1))] {
        let mine: Vec<Key> = (1..=6).rev().filter(|no| only.is_none() || no % 2 == 1).map(Key::Reconciliation).collect();
        walks(store, &mine, |last, limit| match last {
            Some(Key::Reconciliation(before)) => Scan::reconciliations(only, *before, limit),
            _ => Scan::reconciliations(only, i64::MAX, limit),
        });
    }
    walks(store, &[1, 3, 5, 7, 9].map(|n| Key::Finding((1, n))), |last, limit| match last {
        Some(Key::Finding((_, after))) => Scan::findings(1, None, *after, limit),
        _ => Scan::findings(1, None, 0, limit),
    });
    assert_eq!(keys(store, &Scan::findings(1, Some(FindingKind::MissingThere), 0, 9)), []);
    assert_eq!(keys(store, &Scan::findings(0, Some(FindingKind::AmountDiffers), 4, 9)), [6, 8].map(|n| Key::Finding((0, n))));
    assert_eq!(keys(store, &Scan::findings_of(SettlementNo(1), 9)), [(0, 4), (0, 6), (1, 5), (1, 7)].map(Key::Finding));
    assert_eq!(keys(store, &Scan::matches(1, 1, 9)), [3, 5].map(|n| Key::Matches((1, n))));
}

/// What operators read is of all clients, newest first by number, in pages.
pub fn what_operators_read_is_newest_first(new: Factory<'_>) {
    let store = &*new();
    let status = |no: i64| ApprovalStatus::ALL[(no % 3) as usize];
    make(store, (1..=9).map(|no| insert(ApprovalRecord { status: status(no), ..approval(no, no as u128) })));
    make(store, (1..=9).map(|no| insert(settlement(no, (no % 2) as u32 + 1, &no.to_string()))));
    make(store, (1..=9).map(|no| insert(audit(no))));
    for only in [None, Some(ApprovalStatus::Pending), Some(ApprovalStatus::Declined)] {
        let mine: Vec<Key> = (1..=9).rev().filter(|no| only.is_none_or(|only| status(*no) == only)).map(Key::Approval).collect();
        walks(store, &mine, |last, limit| match last {
            Some(Key::Approval(before)) => Scan::approvals(only, *before, limit),
            _ => Scan::approvals(only, i64::MAX, limit),
        });
    }
    let all: Vec<Key> = (1..=9).rev().map(Key::Audit).collect();
    walks(store, &all, |last, limit| match last {
        Some(Key::Audit(before)) => Scan::audit_before(*before, limit),
        _ => Scan::audit_before(i64::MAX, limit),
    });
    let found = |filter: &SettlementFilter, from, before, limit| {
        let found = keys(store, &Scan::settlements(filter, SettlementNo(from), SettlementNo(before), limit));
        found.into_iter().map(|key| if let Key::Settlement(no) = key { no.0 } else { 0 }).collect::<Vec<_>>()
    };
    let everything = SettlementFilter::default();
    assert_eq!(found(&everything, 1, 10, 99), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(found(&everything, 3, 8, 3), [7, 6, 5]);
    assert_eq!(found(&everything, 5, 5, 9), [0; 0]);
    let at = |provider, after, last, limit| {
        keys(store, &Scan::settlements_at(ProviderNo(provider), SettlementNo(after), SettlementNo(last), limit))
    };
    assert_eq!(at(1, 2, 7, 3), [3, 4, 5].map(|no| Key::Settlement(SettlementNo(no))));
    assert_eq!(at(1, 5, 7, 9), [6, 7].map(|no| Key::Settlement(SettlementNo(no))));
    assert_eq!(at(9, 0, 9, 9), []);
    let by_reference = SettlementFilter { reference: Some("4".to_owned()), ..everything };
    assert_eq!(found(&by_reference, 1, 10, 9), [4]);
}

/// Statements stand apart from each other, and are read newest first.
pub fn a_statement_is_of_one_account_newest_first(new: Factory<'_>) {
    let store = &*new();
    make(store, (0..=9).map(|n| insert(entry(1, n))));
    make(store, (1..=3).map(|n| insert(entry(2, n))));
    let key = |client, n| Key::Entry((account_of(client), n));
    let all: Vec<Key> = (0..=9).rev().map(|n| key(1, n)).collect();
    walks(store, &all, |last, limit| match last {
        Some(Key::Entry((_, before))) => Scan::entries(account_of(1), 0, *before, limit),
        _ => Scan::entries(account_of(1), 0, i64::MAX, limit),
    });
    assert_eq!(keys(store, &Scan::entries(account_of(1), 3, 6, 9)), [5, 4, 3].map(|n| key(1, n)));
    assert_eq!(keys(store, &Scan::last_entry(account_of(2))), [key(2, 3)]);
    assert_eq!(keys(store, &Scan::last_entry(account_of(3))), []);
}

fn list(store: &dyn Store, client: u32, filter: &SettlementFilter, before: Option<i64>, limit: usize) -> Vec<i64> {
    let scan = Scan::settlements_of(ClientNo(client), filter, before.map(|no| (no.saturating_add(1_000), SettlementNo(no))), limit);
    let found = store.scan(&scan).unwrap();
    found.iter().map(|record| if let Record::Settlement(it) = record { it.no.0 } else { panic!("{record:?}") }).collect()
}

/// The settlements of two clients are interleaved, and neither client sees the other's.
pub fn a_clients_list_is_newest_first_and_its_own(new: Factory<'_>) {
    let store = &*new();
    make(store, (1..=40).map(|no| insert(settlement(no, 1 + (no % 3) as u32, &no.to_string()))));
    let all = SettlementFilter::default();
    let mine: Vec<i64> = (1..=40).rev().filter(|no| no % 3 == 1).collect();
    for limit in [1, 2, 13, 14, usize::MAX] {
        let mut seen = Vec::new();
        loop {
            let page = list(store, 2, &all, seen.last().copied(), limit);
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            seen.extend(page);
        }
        assert_eq!(seen, mine);
    }
    assert_eq!(list(store, 2, &all, None, 0), [0; 0]);
    assert_eq!(list(store, 2, &all, Some(1), 9), [0; 0]);
    assert_eq!(list(store, 2, &all, Some(i64::MAX), 2), [40, 37]);
    assert_eq!(list(store, 4, &all, None, 9), [0; 0]);
    let others = SettlementFilter { reference: Some("39".to_owned()), ..all };
    assert_eq!(list(store, 2, &others, None, 9), [0; 0]);
    assert_eq!(list(store, 1, &others, None, 9), [39]);
}

/// Two settlements that differ in one field, for each field that can restrict a list.
pub fn every_filter_of_a_list_filters(new: Factory<'_>) {
    let store = &*new();
    let plain = settlement(1, 1, "a");
    let other = SettlementRecord {
        status: SettlementStatus::Unknown,
        currency: currency("JPY"),
        provider: ProviderNo(2),
        to: Participant::from_stored("sim:slow".to_owned()).expect("a participant of the tests"),
        mode: Mode::Live,
        created_at: 5_000,
        needs_review: true,
        hold: 0,
        ..settlement(2, 1, "b")
    };
    make(store, [insert(plain.clone()), insert(other.clone())]);
    let all = SettlementFilter::default();
    let finds = |filter: SettlementFilter, expected: &[i64]| assert_eq!(list(store, 1, &filter, None, 9), expected, "{filter:?}");
    finds(all.clone(), &[2, 1]);
    finds(SettlementFilter { status: vec![SettlementStatus::Unknown], ..all.clone() }, &[2]);
    finds(SettlementFilter { status: vec![SettlementStatus::Accepted, SettlementStatus::Unknown], ..all.clone() }, &[2, 1]);
    finds(SettlementFilter { status: vec![SettlementStatus::Cancelled, SettlementStatus::Submitted], ..all.clone() }, &[]);
    finds(SettlementFilter { currency: Some(other.currency), ..all.clone() }, &[2]);
    finds(SettlementFilter { provider: Some(ProviderNo(2)), ..all.clone() }, &[2]);
    finds(SettlementFilter { to: Some("sim:slow".to_owned()), ..all.clone() }, &[2]);
    finds(SettlementFilter { to: Some("sim:SLOW".to_owned()), ..all.clone() }, &[]);
    finds(SettlementFilter { reference: Some("b".to_owned()), ..all.clone() }, &[2]);
    finds(SettlementFilter { mode: Some(Mode::Live), ..all.clone() }, &[2]);
    finds(SettlementFilter { mode: Some(Mode::Sandbox), ..all.clone() }, &[1]);
    finds(SettlementFilter { needs_review: Some(true), ..all.clone() }, &[2]);
    finds(SettlementFilter { needs_review: Some(false), ..all.clone() }, &[1]);
    finds(SettlementFilter { direction: Some(Direction::Incoming), ..all.clone() }, &[2]);
    finds(SettlementFilter { direction: Some(Direction::Outgoing), ..all.clone() }, &[1]);
    finds(SettlementFilter { created_from: Some(5_000), ..all.clone() }, &[2]);
    finds(SettlementFilter { created_from: Some(5_001), ..all.clone() }, &[]);
    finds(SettlementFilter { created_to: Some(5_000), ..all.clone() }, &[1]);
    finds(SettlementFilter { created_to: Some(5_001), ..all.clone() }, &[2, 1]);

    // A completed review removes the settlement from the list of those that need one.
    make(store, [update(SettlementRecord { version: 2, needs_review: false, ..other }, 1)]);
    finds(SettlementFilter { needs_review: Some(true), ..all.clone() }, &[]);
    make(store, [update(SettlementRecord { version: 2, needs_review: true, ..plain }, 1)]);
    finds(SettlementFilter { needs_review: Some(true), ..all }, &[1]);
}

/// `10` is 10 yen, 10.00 euro and 10.000 dinar.
pub fn amounts_are_compared_by_value(new: Factory<'_>) {
    let store = &*new();
    let amounts = [
        ("JPY", 9),
        ("JPY", 10),
        ("JPY", 11),
        ("EUR", 999),
        ("EUR", 1000),
        ("EUR", 1001),
        ("KWD", 9_999),
        ("KWD", 10_000),
        ("KWD", 10_001),
    ];
    make(
        store,
        amounts.iter().zip(1..).map(|((code, amount), no)| {
            insert(SettlementRecord { currency: currency(code), amount: *amount, ..settlement(no, 1, &no.to_string()) })
        }),
    );
    let ten = [10, 100, 1000, 10_000, 100_000];
    let least = SettlementFilter { min_amount: Some(ten), ..Default::default() };
    let most = SettlementFilter { max_amount: Some(ten), ..Default::default() };
    let exactly = SettlementFilter { max_amount: Some(ten), ..least.clone() };
    assert_eq!(list(store, 1, &least, None, 99), [9, 8, 6, 5, 3, 2]);
    assert_eq!(list(store, 1, &most, None, 99), [8, 7, 5, 4, 2, 1]);
    assert_eq!(list(store, 1, &exactly, None, 99), [8, 5, 2]);
    // Every currency is in the right class.
    make(
        store,
        Currency::all().map(|one| {
            let amount = 10 * 10i64.pow(one.minor_units().into());
            insert(SettlementRecord { currency: one, amount, ..settlement(i64::from(one.numeric()) + 1000, 2, one.code()) })
        }),
    );
    assert_eq!(list(store, 2, &exactly, None, usize::MAX).len(), Currency::all().count());
}

/// Filters are combined, and a page is filled however far back that takes.
pub fn filters_combine_and_page(new: Factory<'_>) {
    let store = &*new();
    make(
        store,
        (1..=60).map(|no| {
            let status = if no % 2 == 0 { SettlementStatus::Failed } else { SettlementStatus::Completed };
            let provider = ProviderNo((no % 5) as u16);
            insert(SettlementRecord { status, provider, needs_review: no % 3 == 0, amount: no, ..settlement(no, 1, &no.to_string()) })
        }),
    );
    let filter = SettlementFilter {
        status: vec![SettlementStatus::Failed],
        provider: Some(ProviderNo(0)),
        needs_review: Some(true),
        currency: Some(currency("EUR")),
        created_from: Some(0),
        created_to: Some(Millis::MAX),
        min_amount: Some([1; 5]),
        max_amount: Some([i64::MAX; 5]),
        mode: Some(Mode::Sandbox),
        to: Some("sim:ok".to_owned()),
        ..Default::default()
    };
    assert_eq!(list(store, 1, &filter, None, 9), [60, 30]);
    assert_eq!(list(store, 1, &filter, None, 1), [60]);
    assert_eq!(list(store, 1, &filter, Some(60), 1), [30]);
    assert_eq!(list(store, 1, &filter, Some(30), 1), [0; 0]);
}
