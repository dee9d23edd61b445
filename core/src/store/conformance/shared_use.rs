//! One store shared by several threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::fixtures::*;
use super::{Factory, clashes, make};
use crate::ids::{ProviderNo, SettlementNo};
use crate::ledger::{AccountId, Owner, Totals, Transfer, TransferKind};
use crate::store::record::*;
use crate::store::{Scan, Store, Write};

const COMMITS: i64 = 60;

/// While one thread commits, others read: every read sees whole commits, and never an older state than before.
pub fn readers_see_whole_commits(new: Factory<'_>) {
    let store = &*new();
    make(store, (1..=20).map(|n| insert(attempt(1, n))));
    make(store, [funding(-1, account_of(1), i64::MAX / 2)]);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let now = one_state(store);
                    assert!(now >= last, "went back from {last} to {now}");
                    last = now;
                    balanced(store);
                }
            });
        }
        for round in 1..=COMMITS {
            let all = (1..=20).map(|n| replace(AttemptRecord { started_at: 1_000 + round, ..attempt(1, n) }));
            let hold = transfer(round, 1, account_of(1), account(Owner::Provider(ProviderNo(1))), round);
            make(store, all.chain([Write::Post(Transfer { kind: TransferKind::Pending, ..hold })]));
            // The next reader sees what was committed.
            assert_eq!(one_state(store), 1_000 + round);
        }
        done.store(true, Ordering::Relaxed);
    });
}

fn one_state(store: &dyn Store) -> i64 {
    let found = store.scan(&Scan::attempts(SettlementNo(1))).unwrap();
    let times: Vec<i64> = found.iter().map(|it| if let Record::Attempt(it) = it { it.started_at } else { panic!("{it:?}") }).collect();
    assert_eq!(times, [times[0]; 20], "a part of a commit");
    times[0]
}

fn balanced(store: &dyn Store) {
    let accounts = store.scan(&Scan::after(&Key::Account(AccountId(i64::MIN)), usize::MAX)).unwrap();
    let sum = accounts.iter().fold(Totals::default(), |sum, it| match it {
        Record::Account(it) => sum.plus(&it.totals).unwrap(),
        other => panic!("{other:?}"),
    });
    assert_eq!((sum.debits_pending, sum.debits_posted), (sum.credits_pending, sum.credits_posted));
}

/// Several threads raise one settlement's version: exactly one of them writes each version.
pub fn writers_take_turns(new: Factory<'_>) {
    let store = &*new();
    make(store, [insert(settlement(1, 1, "a")), funding(-1, account_of(1), 4 * COMMITS)]);
    thread::scope(|scope| {
        for writer in 0..4i64 {
            scope.spawn(move || {
                for round in 0..COMMITS {
                    let no = 2 + writer * COMMITS + round;
                    let payment = Write::Post(transfer(no, 1, account_of(1), account(Owner::Fees), 1));
                    make(store, [insert(settlement(no, 1, &no.to_string())), insert(event(no, 1)), payment]);
                    raise(store);
                }
            });
        }
    });
    let Some(Record::Settlement(raised)) = store.get(&Key::Settlement(SettlementNo(1))).unwrap() else { panic!("gone") };
    assert_eq!(i64::from(raised.version), 1 + 4 * COMMITS);
    let Some(Record::Account(payer)) = store.get(&Key::Account(account_of(1))).unwrap() else { panic!("gone") };
    assert_eq!(payer.totals.available(), Some(0));
    let all = store.scan(&Scan::after(&Key::Settlement(SettlementNo(0)), usize::MAX)).unwrap();
    assert_eq!(all.len() as i64, 1 + 4 * COMMITS);
}

fn raise(store: &dyn Store) {
    loop {
        let Some(Record::Settlement(was)) = store.get(&Key::Settlement(SettlementNo(1))).unwrap() else { panic!("gone") };
        let expected = was.version;
        let raised = SettlementRecord { version: expected + 1, ..was };
        if clashes(store.commit(&commit([update(raised, expected)]))).is_empty() {
            return;
        }
    }
}

/// Several threads use the same nonces, each with a different change: every nonce carries exactly one of the changes.
pub fn a_nonce_is_used_once(new: Factory<'_>) {
    let store = &*new();
    const NONCES: u8 = 60;
    let won: Vec<i64> = thread::scope(|scope| {
        let writers: Vec<_> = (0..4i64)
            .map(|writer| {
                scope.spawn(move || {
                    let change = |n: u8| insert(audit(1 + writer * i64::from(NONCES) + i64::from(n)));
                    let used = |n: u8| clashes(store.commit(&commit([change(n), insert(nonce(n, 5))])));
                    // Half of the threads go in the opposite direction, so that each finds free and used nonces.
                    let turn = |n: u8| if writer % 2 == 0 { n } else { NONCES - 1 - n };
                    let won = (0..NONCES).map(turn).filter(|n| match used(*n).as_slice() {
                        [] => true,
                        [1] => false,
                        other => panic!("clashed at {other:?}"),
                    });
                    won.count() as i64
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(won.iter().sum::<i64>(), i64::from(NONCES), "{won:?}");
    assert_eq!(store.scan(&Scan::after(&Key::Audit(0), usize::MAX)).unwrap().len(), usize::from(NONCES));
    // Once its row is deleted, a nonce could be used again: only the expiry of its challenge prevents that.
    make(store, [Write::Delete(Key::Nonce([0; 32])), insert(nonce(0, 9))]);
}
