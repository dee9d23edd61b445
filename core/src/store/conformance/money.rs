//! Totals and the balance guard.

use super::fixtures::*;
use super::{Factory, everything, make};
use crate::ids::{ClientNo, ProviderNo};
use crate::ledger::{AccountId, Mode, Owner, Totals, Transfer, TransferKind};
use crate::store::record::{Key, Record};
use crate::store::{CommitError, Scan, Store, Write};
use crate::terms::Used;
use crate::time::Millis;

fn totals_of(store: &dyn Store, account: AccountId) -> Option<Totals> {
    match store.get(&Key::Account(account)).unwrap() {
        Some(Record::Account(found)) => {
            assert_eq!(found.id, account);
            Some(found.totals)
        }
        None => None,
        Some(other) => panic!("not an account: {other:?}"),
    }
}

fn guarded(result: Result<(), CommitError>) -> AccountId {
    match result {
        Err(CommitError::BalanceGuard(account)) => account,
        other => panic!("not guarded: {other:?}"),
    }
}

/// The transfer that ends a hold.
fn resolved(hold: &Transfer, kind: TransferKind, n: u16, at: Millis) -> Transfer {
    Transfer { n, kind, resolves: hold.n, at, ..hold.clone() }
}

fn pending(journal: i64, n: u16, debit: AccountId, credit: AccountId, amount: i64) -> Transfer {
    Transfer { kind: TransferKind::Pending, ..transfer(journal, n, debit, credit, amount) }
}

/// Each kind of transfer changes the right totals on both sides, and its line is kept.
pub fn transfers_add_up_to_totals(new: Factory<'_>) {
    let store = &*new();
    let (payer, payee, source) = (account_of(1), account(Owner::Provider(ProviderNo(1))), account(Owner::Funding));
    assert_eq!(totals_of(store, payer), None);
    make(store, [funding(-1, payer, 1000)]);
    let (first, second) = (pending(1, 1, payer, payee, 300), pending(1, 2, payer, payee, 50));
    make(store, [Write::Post(first.clone()), Write::Post(second.clone())]);
    assert_eq!(totals_of(store, payer), Some(totals([350, 0, 0, 1000])));
    assert_eq!(totals_of(store, payee), Some(totals([0, 0, 350, 0])));
    make(store, [Write::Post(resolved(&first, TransferKind::Post, 3, 5)), Write::Post(resolved(&second, TransferKind::Void, 4, 6))]);
    assert_eq!(totals_of(store, payer), Some(totals([0, 300, 0, 1000])));
    assert_eq!(totals_of(store, payee), Some(totals([0, 0, 0, 300])));
    assert_eq!(totals_of(store, source), Some(totals([0, 1000, 0, 0])));

    let journal = store.scan(&Scan::transfers(first.journal)).unwrap();
    let expected = [first.clone(), second.clone(), resolved(&first, TransferKind::Post, 3, 5), resolved(&second, TransferKind::Void, 4, 6)];
    assert_eq!(journal, expected.map(Record::from));

    // To itself, and back and forth: the account has a row, with nothing in it.
    let (own, other) = (account_of(8), account_of(9));
    make(
        store,
        [Write::Post(pending(3, 1, own, other, 1)), Write::Post(resolved(&pending(3, 1, own, other, 1), TransferKind::Void, 2, 0))],
    );
    assert_eq!(totals_of(store, own), Some(Totals::default()));
    make(store, [funding(-2, own, 5), Write::Post(transfer(4, 1, own, own, 5))]);
    assert_eq!(totals_of(store, own), Some(totals([0, 5, 0, 10])));
}

/// The floor is exactly zero; only the end of the commit counts, not the order inside.
pub fn a_commit_counts_as_a_whole_for_the_guard(new: Factory<'_>) {
    let store = &*new();
    let (payer, payee) = (account_of(1), account_of(2));
    assert_eq!(guarded(store.commit(&commit([Write::Post(pending(1, 1, payer, payee, 1))]))), payer);
    assert_eq!(everything(store), []);

    make(store, [Write::Post(pending(1, 1, payer, payee, 100)), funding(-1, payer, 100)]);
    assert_eq!(totals_of(store, payer).unwrap().available(), Some(0));
    for over in [pending(2, 1, payer, payee, 1), transfer(2, 1, payer, payee, 1)] {
        assert_eq!(guarded(store.commit(&commit([Write::Post(over)]))), payer);
    }
    // Announced money cannot be spent.
    assert_eq!(guarded(store.commit(&commit([Write::Post(transfer(2, 1, payee, payer, 1))]))), payee);
    let both = [transfer(2, 1, payer, payee, 40), transfer(2, 2, payee, payer, 41)];
    assert_eq!(guarded(store.commit(&commit(both.map(Write::Post)))), payee);
    let both = [transfer(2, 1, payer, payee, 40), transfer(2, 2, payee, payer, 40)];
    make(store, both.map(Write::Post));
    // A clash takes precedence over the guard: the next decision may not even need the money.
    let refused = store.commit(&commit([Write::Post(transfer(2, 1, payer, payee, 500)), insert(task(1, 1))]));
    assert!(matches!(refused, Err(CommitError::Conflict(_))), "{refused:?}");
}

/// Accounts without a floor may go below zero, and one with a floor that neither receives nor spends passes.
pub fn only_what_spends_is_guarded(new: Factory<'_>) {
    let store = &*new();
    let provider = account(Owner::Provider(ProviderNo(7)));
    make(store, [Write::Post(transfer(1, 1, provider, account(Owner::Fees), 10)), funding(-1, account_of(1), 10)]);
    assert_eq!(totals_of(store, provider).unwrap().available(), Some(-10));
    let (live, other_currency) = (
        AccountId::new(Owner::Client(ClientNo(1)), Mode::Live, currency("EUR")),
        AccountId::new(Owner::Client(ClientNo(1)), Mode::Sandbox, currency("JPY")),
    );
    for empty in [live, other_currency] {
        assert_eq!(guarded(store.commit(&commit([Write::Post(transfer(2, 1, empty, provider, 1))]))), empty);
    }
    // Releasing a hold and receiving need no money.
    let hold = pending(3, 1, account_of(1), provider, 10);
    make(store, [Write::Post(hold.clone())]);
    make(store, [Write::Post(resolved(&hold, TransferKind::Post, 2, 0))]);
    make(store, [Write::Post(transfer(4, 1, provider, account_of(1), 3))]);
    assert_eq!(totals_of(store, account_of(1)).unwrap().available(), Some(3));
}

/// Totals never wrap, and a sum that fits is not refused because of the order of its parts.
pub fn totals_that_do_not_fit_are_refused(new: Factory<'_>) {
    let store = &*new();
    make(store, [funding(-1, account_of(1), i64::MAX)]);
    let before = everything(store);
    for over in [funding(-2, account_of(1), 1), funding(-2, account_of(2), 1), funding(-2, account_of(1), i64::MAX)] {
        match store.commit(&commit([over, insert(task(1, 1))])) {
            Err(CommitError::Store(error)) => assert!(!error.retryable),
            other => panic!("{other:?}"),
        }
        assert_eq!(everything(store), before);
    }
    let (payer, payee) = (account_of(1), account(Owner::Provider(ProviderNo(1))));
    let hold = pending(1, 1, payer, payee, i64::MAX);
    let again = Transfer { n: 3, ..hold.clone() };
    make(store, [Write::Post(hold.clone()), Write::Post(again), Write::Post(resolved(&hold, TransferKind::Void, 2, 0))]);
    assert_eq!(totals_of(store, payer), Some(totals([i64::MAX, 0, 0, i64::MAX])));
}

/// A thousand transfers in one commit, from many accounts into one.
pub fn a_popular_account_takes_every_transfer(new: Factory<'_>) {
    let store = &*new();
    let popular = account(Owner::Provider(ProviderNo(1)));
    make(store, (0..100).map(|n| funding(-1 - n, account_of(n as u32), 10_000)));
    make(store, (1..=1000).map(|n| Write::Post(pending(n, 1, account_of(n as u32 % 100), popular, n))));
    assert_eq!(totals_of(store, popular), Some(totals([0, 0, 500_500, 0])));
    let accounts = store.scan(&Scan::after(&Key::Account(AccountId(i64::MIN)), usize::MAX)).unwrap();
    let mut sum = Totals::default();
    for record in &accounts {
        let Record::Account(account) = record else { panic!("not an account: {record:?}") };
        sum = sum.plus(&account.totals).unwrap();
    }
    assert_eq!((accounts.len(), sum), (102, totals([500_500, 1_000_000, 500_500, 1_000_000])));
}

/// An account may fall to the floor of a commit, and not a unit further; without one, to zero.
pub fn a_floor_below_zero_holds_for_one_commit(new: Factory<'_>) {
    let store = &*new();
    let (payer, payee) = (account_of(1), account(Owner::Provider(ProviderNo(1))));
    let floor = |floor| Write::Floor { account: payer, floor };
    let pay = |no, amount| Write::Post(pending(no, 1, payer, payee, amount));
    assert_eq!(guarded(store.commit(&commit([pay(1, 100)]))), payer);
    assert_eq!(guarded(store.commit(&commit([floor(-99), pay(1, 100)]))), payer);
    let other = Write::Floor { account: account_of(2), floor: -100 };
    assert_eq!(guarded(store.commit(&commit([other, pay(1, 100)]))), payer);
    make(store, [pay(1, 60), floor(-100), pay(2, 40)]);
    assert_eq!(totals_of(store, payer).unwrap().available(), Some(-100));
    assert_eq!(guarded(store.commit(&commit([pay(3, 1)]))), payer);
    assert_eq!(guarded(store.commit(&commit([floor(-100), pay(3, 1)]))), payer);
    // What is below its floor may receive, and release what it held.
    make(store, [funding(-1, payer, 1), Write::Post(resolved(&pending(1, 1, payer, payee, 60), TransferKind::Void, 2, 0))]);
    assert_eq!(totals_of(store, payer).unwrap().available(), Some(-39));
    for wrong in [floor(1), Write::Floor { account: payee, floor: -1 }] {
        assert!(matches!(store.commit(&commit([wrong])), Err(CommitError::Store(error)) if !error.retryable));
    }
}

/// What a floor of zero stands behind uses no lower floor of the same commit; what comes after it may.
pub fn a_floor_of_zero_holds_for_the_writes_before_it(new: Factory<'_>) {
    let store = &*new();
    let (payer, payee) = (account_of(1), account(Owner::Provider(ProviderNo(1))));
    let floor = |floor| Write::Floor { account: payer, floor };
    let pay = |no, amount| Write::Post(pending(no, 1, payer, payee, amount));
    make(store, [funding(-1, payer, 10)]);
    let refused: [&[Write]; 4] = [
        &[pay(1, 11), floor(0), floor(-100), pay(2, 5)],
        &[floor(-100), pay(1, 5), pay(2, 6), floor(0)],
        &[pay(1, 9), floor(0), pay(2, 2), floor(0), pay(3, 5), floor(-100)],
        &[pay(1, 10), floor(0), floor(-4), pay(2, 5)],
    ];
    for writes in refused {
        assert_eq!(guarded(store.commit(&commit(writes.iter().cloned()))), payer);
    }
    make(store, [pay(1, 6), floor(0), pay(2, 4), floor(0), floor(-100), pay(3, 5)]);
    assert_eq!(totals_of(store, payer).unwrap().available(), Some(-5));
}

/// A counter starts at zero and counts the commit as a whole; what takes back is never refused.
pub fn a_counter_adds_up_to_its_limit(new: Factory<'_>) {
    let store = &*new();
    let most = Used { value: 100, count: 3 };
    let count = |day, by| Write::Count { id: usage_id(day), by, most };
    let used = |day| match store.get(&Key::Usage(usage_id(day))).unwrap() {
        Some(Record::Usage(usage)) => Some((usage.used.value, usage.used.count)),
        None => None,
        Some(other) => panic!("not a counter: {other:?}"),
    };
    let limited = |result: Result<(), CommitError>| matches!(result, Err(CommitError::UsageGuard(id)) if id == usage_id(1));
    assert!(limited(store.commit(&commit([count(1, Used::one(101))]))));
    assert_eq!(used(1), None);
    make(store, [count(1, Used::one(60)), count(1, Used::one(70)), count(1, Used::minus_one(60)), count(2, Used::one(5))]);
    assert_eq!((used(1), used(2)), (Some((70, 1)), Some((5, 1))));
    assert!(limited(store.commit(&commit([count(1, Used::one(31)), insert(task(1, 1))]))));
    make(store, [count(1, Used::one(30))]);
    make(store, [count(1, Used::one(0))]);
    assert!(limited(store.commit(&commit([count(1, Used::one(0))]))), "three payments");
    assert_eq!(used(1), Some((100, 3)));
    // A limit that is lower by now refuses nothing that is given back, nor what is paid in the same commit.
    let back = Write::Count { id: usage_id(1), by: Used::minus_one(30), most: Used::default() };
    make(store, [back.clone(), back.clone()]);
    assert_eq!(used(1), Some((40, 1)));
    make(store, [count(1, Used::one(50)), back.clone()]);
    assert_eq!(used(1), Some((60, 1)));
    assert!(limited(store.commit(&commit([count(1, Used::one(71)), back]))), "101 would be too much");
    // Of several limits the lowest counts.
    let lower = Write::Count { id: usage_id(1), by: Used::one(20), most: Used { value: 90, count: 9 } };
    assert!(limited(store.commit(&commit([count(1, Used::one(20)), lower]))));
    assert_eq!(store.get(&Key::Task(crate::store::record::TaskKey::new(1, 1))).unwrap(), None);
    // A clash takes precedence over every guard, and money over a counter.
    let clash = store.commit(&commit([count(1, Used::one(500)), Write::Delete(Key::Usage(usage_id(9)))]));
    assert!(matches!(clash, Err(CommitError::Conflict(_))), "{clash:?}");
    let poor = Write::Post(pending(1, 1, account_of(1), account_of(2), 1));
    assert_eq!(guarded(store.commit(&commit([count(1, Used::one(500)), poor]))), account_of(1));
}
