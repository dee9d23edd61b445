//! Any store against the memory store as its model: whatever is written, both must respond alike.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::fixtures::*;
use super::{Factory, everything};
use crate::auth::KeyId;
use crate::ids::{ClientNo, EndpointNo, ProviderNo, SettlementNo, Ulid, UserNo};
use crate::ledger::{AccountId, Mode, Owner, Transfer, TransferKind};
use crate::lifecycle::{AttemptStatus, Direction, SettlementStatus};
use crate::participant::Reference;
use crate::store::memory::MemoryStore;
use crate::store::record::*;
use crate::store::{Commit, CommitError, Lookup, Scan, SettlementFilter, Store, Unique, Write};
use crate::terms::{UsageId, Used};

/// The result of a commit, in a form that can be compared between stores.
#[derive(Debug, PartialEq)]
enum Outcome {
    Made,
    Clashed(Vec<usize>),
    Guarded(AccountId),
    Limited(UsageId),
    Refused,
}

fn outcome(store: &dyn Store, commit: &Commit) -> Outcome {
    match store.commit(commit) {
        Ok(()) => Outcome::Made,
        Err(CommitError::Conflict(clashes)) => Outcome::Clashed(clashes.into_iter().map(|it| it.write).collect()),
        Err(CommitError::BalanceGuard(account)) => Outcome::Guarded(account),
        Err(CommitError::UsageGuard(id)) => Outcome::Limited(id),
        Err(CommitError::Store(error)) if !error.retryable => Outcome::Refused,
        Err(other) => panic!("{other:?}"),
    }
}

prop_compose! {
    fn any_settlement()(
        no in 1i64..6, client in 1u32..3, reference in "[abc]", version in 1u32..4, needs_review: bool, amount in 1i64..2000,
        status in prop::sample::select(SettlementStatus::ALL), code in prop::sample::select(vec!["EUR", "JPY", "KWD"]),
        provider in 1u16..3, created_at in 0i64..50, live: bool, by_user: bool,
    ) -> SettlementRecord {
        let mode = if live { Mode::Live } else { Mode::Sandbox };
        let (provider, currency) = (ProviderNo(provider), currency(code));
        // Each client of the model has one user.
        let user = by_user.then_some(UserNo(client));
        let plain = settlement(no, client, &reference);
        SettlementRecord { version, needs_review, amount, status, currency, provider, created_at, mode, user, ..plain }
    }
}

prop_compose! {
    fn any_transfer()(
        journal in -2i64..4, n in 1u16..4, kind in prop::sample::select(TransferKind::ALL), debit in any_account(), credit in any_account(),
        amount in prop_oneof![8 => 1i64..100, 1 => Just(i64::MAX), 1 => Just(i64::MAX / 2), 1 => Just(0)],
    ) -> Transfer {
        Transfer { kind, ..transfer(journal, n, debit, credit, amount) }
    }
}

fn any_account() -> impl Strategy<Value = AccountId> {
    let owners = [Owner::Client(ClientNo(1)), Owner::Client(ClientNo(2)), Owner::Provider(ProviderNo(1)), Owner::Funding, Owner::Funding];
    prop::sample::select(owners.map(account).to_vec())
}

fn any_other() -> impl Strategy<Value = Record> {
    let small = || 1i64..4;
    prop_oneof![
        (1u8..4, small()).prop_map(|(hash, at)| token(hash, at).into()),
        (1u8..4, small()).prop_map(|(hash, at)| nonce(hash, at).into()),
        (small(), prop::sample::select(AuditAction::ALL), prop::option::of("[no]")).prop_map(|(no, action, name)| AuditRecord {
            action,
            name,
            ..audit(no)
        }
        .into()),
        (1u16..3, "[pq]").prop_map(|(no, id)| provider(no, &id).into()),
        (small(), 0u16..3, small()).prop_map(|(no, child, due)| review(no, child, due).into()),
        (small(), 1u16..3, prop::sample::select(AttemptStatus::ALL))
            .prop_map(|(no, n, status)| AttemptRecord { status, ..attempt(no, n) }.into()),
        (small(), 1u16..3, 1u32..3, prop::option::of("[rs]")).prop_map(|(no, n, client, reference)| reversal(
            no,
            n,
            client,
            reference.as_deref()
        )
        .into()),
        (small(), prop_oneof![9 => 0u32..3, 1 => 65_535u32..65_537], prop::option::of("\\PC{0,3}")).prop_map(|(no, n, data)| EventRecord {
            data,
            ..event(no, n)
        }
        .into()),
        (small(), 0u32..2, any::<i64>()).prop_map(|(due, n, owner)| TaskRecord { owner, ..task(due, n) }.into()),
        (1u32..3, "[kl]", small()).prop_map(|(client, key, at)| idempotency(client, &key, at).into()),
        (small(), 1u16..3, any::<u16>()).prop_map(|(no, n, received)| SimPaymentRecord { received, ..sim_payment(no, n) }.into()),
        ("[mn]", prop::collection::vec(any::<u8>(), 0..3)).prop_map(|(name, value)| meta(&name, &value).into()),
    ]
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(Mode::ALL)
}

/// Records of the log and of webhooks that are replaced without a version.
fn any_of_log_and_webhooks() -> impl Strategy<Value = Record> {
    let small = || 1i64..4;
    prop_oneof![
        (small(), any::<bool>()).prop_map(|(no, empty)| {
            let full = unlogged(no);
            if empty { UnloggedRecord { changes: Vec::new(), ..full }.into() } else { full.into() }
        }),
        (1u32..3, any_mode(), small(), small(), prop_oneof![9 => 1u32..3, 1 => 65_535u32..65_537])
            .prop_map(|(client, mode, position, settlement, n)| FeedRecord { n, ..feed(client, mode, position, settlement) }.into()),
        (any_mode(), prop_oneof![9 => 0u8..2, 1 => 63u8..65], 0i64..2, any::<u8>())
            .prop_map(|(mode, level, index, entry)| { TileRecord { mode, level, index, entries: vec![entry; 32] }.into() }),
        (small(), any::<i64>(), any::<Option<i64>>()).prop_map(|(events, owner, live)| LogHeadRecord {
            owner,
            live: Later(live),
            ..log_head(events)
        }
        .into()),
        any_delivery().prop_map(Record::from),
        any_delivery().prop_map(Record::from),
    ]
}

prop_compose! {
    fn any_delivery()(
        no in 1i64..8, endpoint in 1u32..4, due in prop::option::of(0i64..4), status in prop::sample::select(DeliveryStatus::ALL),
        tried in prop::option::of("\\PC{0,3}"),
    ) -> DeliveryRecord {
        let last = tried.map(|excerpt| LastTry { at: 1, took_ms: 2, status: Some(500), error: None, excerpt });
        DeliveryRecord { status, last, ..delivery(no, endpoint, due) }
    }
}

/// Records replaced by version, except settlements.
fn any_versioned() -> impl Strategy<Value = Record> {
    let status = || prop::sample::select(EndpointStatus::ALL);
    let version = || (0u32..3).prop_map(Version);
    let ended = || prop::option::of(1i64..4);
    prop_oneof![
        (1u32..4, 1u32..3, 1u128..4, any_mode(), 1u32..4, status()).prop_map(|(no, client, id, mode, version, status)| {
            EndpointRecord { mode, version, status, ..endpoint(no, client, id) }.into()
        }),
        (1u32..4, 1u128..4, any::<bool>(), version()).prop_map(|(no, id, suspended, version)| ClientRecord {
            suspended,
            version,
            ..client(no, id)
        }
        .into()),
        (1u32..4, 1u32..3, 1u8..4, prop::sample::select(KeyStatus::ALL), version())
            .prop_map(|(no, client, id, status, version)| KeyRecord { status, version, ..key(no, client, id) }.into()),
        (prop::sample::select(SecretKind::ALL), 1u32..3, ended(), version()).prop_map(|(kind, no, retired_at, version)| SecretRecord {
            retired_at,
            version,
            ..secret(kind, no)
        }
        .into()),
        (1u32..4, 1u32..4, ended(), version()).prop_map(|(endpoint, n, until, version)| EndpointSecretRecord {
            until,
            version,
            ..endpoint_secret(endpoint, n)
        }
        .into()),
        (1u32..4, 1u32..4, any::<bool>(), prop::option::of(0i64..4)).prop_map(|(endpoint, version, troubled, due)| QueueRecord {
            version,
            troubled,
            ..queue(endpoint, due)
        }
        .into()),
    ]
}

fn any_write() -> impl Strategy<Value = Write> {
    prop_oneof![
        4 => any_settlement().prop_map(insert),
        3 => (any_settlement(), 1u32..4).prop_map(|(record, expected)| update(record, expected)),
        1 => (1i64..6).prop_map(|no| Write::Delete(Key::Settlement(SettlementNo(no)))),
        4 => any_transfer().prop_map(Write::Post),
        1 => (any_account(), -100i64..2).prop_map(|(account, floor)| Write::Floor { account, floor }),
        3 => (0i64..2, -5i64..9, 0i64..30).prop_map(|(day, value, most)| Write::Count {
            id: usage_id(day),
            by: Used { value, count: value.signum() },
            most: Used { value: most, count: 3 },
        }),
        5 => any_other().prop_map(Write::Insert),
        3 => any_other().prop_map(Write::Replace),
        2 => any_other().prop_map(|record| Write::Delete(record.key())),
        2 => any_other().prop_map(|record| Write::Absent(record.key())),
        6 => any_of_log_and_webhooks().prop_map(Write::Insert),
        3 => any_of_log_and_webhooks().prop_map(Write::Replace),
        2 => any_of_log_and_webhooks().prop_map(|record| Write::Delete(record.key())),
        6 => any_versioned().prop_map(Write::Insert),
        8 => (any_versioned(), 0u32..4).prop_map(|(record, expected)| update(record, expected)),
        2 => any_versioned().prop_map(|record| Write::Delete(record.key())),
        1 => any_versioned().prop_map(|record| Write::Absent(record.key())),
    ]
}

prop_compose! {
    fn any_filter()(
        status in prop::collection::vec(prop::sample::select(SettlementStatus::ALL), 0..3),
        code in prop::option::of(prop::sample::select(vec!["EUR", "JPY"])), provider in prop::option::of((1u16..3).prop_map(ProviderNo)),
        reference in prop::option::weighted(0.2, "[abc]"), live in prop::option::of(any::<bool>()), needs_review in prop::option::of(any::<bool>()),
        created_from in prop::option::of(0i64..50), created_to in prop::option::of(0i64..50),
        least in prop::option::of(0i64..50), most in prop::option::of(0i64..50), from in prop::option::weighted(0.2, (0i64..50, (0i64..9).prop_map(SettlementNo))),
        (direction, user) in (prop::option::of(prop::sample::select(Direction::ALL)), prop::option::weighted(0.2, (1u32..3).prop_map(UserNo))),
    ) -> SettlementFilter {
        let bound = |it: i64| [it, it * 10, it * 100, it * 1000, it * 10_000];
        let mode = live.map(|live| if live { Mode::Live } else { Mode::Sandbox });
        let (min_amount, max_amount) = (least.map(bound), most.map(bound));
        SettlementFilter {
            status, currency: code.map(currency), provider, reference, mode, needs_review, created_from, created_to, min_amount, max_amount, direction,
            user, to: None, from,
        }
    }
}

fn scans_of_the_log() -> Vec<Scan> {
    let mut scans = vec![Scan::all(RecordKind::Unlogged, 2), Scan::last(RecordKind::LogHead)];
    for client in (0..4).map(ClientNo) {
        for mode in Mode::ALL.iter().copied() {
            scans.push(Scan::last_feed(client, mode));
            for after in [i64::MIN, 1, 2, i64::MAX] {
                scans.extend([Scan::feed(client, mode, after, 2), Scan::after(&Key::Feed((client, mode, after)), 3)]);
            }
        }
    }
    scans
}

fn scans_of_webhooks() -> Vec<Scan> {
    let mut scans = vec![Scan::last(RecordKind::Endpoint), Scan::after(&Key::Endpoint(EndpointNo(1)), 1)];
    scans.extend((1..3).flat_map(|client| Mode::ALL.iter().map(move |mode| Scan::endpoints_of(ClientNo(client), *mode))));
    scans.extend([1, 4, i64::MAX].map(|before| Scan::deliveries_before(before, 3)));
    for until in [-1, 1, 2, i64::MAX] {
        scans.extend([false, true].map(|troubled| Scan::queues(troubled, until, 2)));
        scans.extend((1..4).map(|no| Scan::deliveries_due(EndpointNo(no), until, 3)));
    }
    for status in DeliveryStatus::ALL.iter().copied().map(Some).chain([None]) {
        for endpoint in (1..4).map(EndpointNo) {
            scans.extend([4, i64::MAX].map(|before| Scan::deliveries_of(endpoint, before, status, 3)));
        }
    }
    scans
}

/// Everything that can be read about the records of the commits above.
fn same_answers(model: &dyn Store, store: &dyn Store, filter: &SettlementFilter) -> Result<(), TestCaseError> {
    prop_assert_eq!(everything(model), everything(store));
    let numbers = || (1..6).map(SettlementNo);
    let mut scans = vec![
        Scan::last(RecordKind::Settlement),
        Scan::last(RecordKind::Transfer),
        Scan::last(RecordKind::Client),
        Scan::last(RecordKind::Key),
        Scan::last(RecordKind::Audit),
    ];
    scans.extend((0..3).map(|after| Scan::after(&Key::Audit(after), 2)));
    scans.extend(numbers().map(Scan::transfers));
    scans.extend((0..4).map(|until| Scan::tasks(TaskKey(0), until, 2)));
    scans.extend((0..4).flat_map(|until| [None, Some((1, SettlementNo(2), 1))].map(|after| Scan::reviews(until, after, 2))));
    scans.extend(numbers().map(Scan::reviews_of).chain([Scan::flagged(2)]));
    for client in (1..3).map(ClientNo) {
        scans.push(Scan::accounts_of(client));
        for filter in [SettlementFilter::default(), filter.clone()] {
            let page = |before, limit| Scan::settlements_of(client, &filter, before, limit);
            scans.extend([1, 2, 5].map(|n| Scan::nth_settlement_of(client, &filter, None, n)));
            scans.extend([page(None, 99), page(None, 1), page(Some((20, SettlementNo(3))), 2)]);
        }
    }
    scans.extend(RecordKind::ALL.iter().map(|kind| Scan::all(*kind, usize::MAX)));
    scans.extend(scans_of_the_log());
    scans.extend(scans_of_webhooks());
    for scan in &scans {
        prop_assert_eq!(model.scan(scan).unwrap(), store.scan(scan).unwrap(), "{:?}", scan);
    }
    let texts = ["a", "b", "c", "r", "s"].map(str::to_owned);
    let of = |client| {
        texts.clone().map(|text| {
            [Unique::SettlementReference(client, Reference::from_stored(text.clone())), Unique::ReversalReference(client, text)]
        })
    };
    let ids = (1..4).flat_map(|id| [Unique::ClientId(Ulid(id.into())), Unique::KeyId(KeyId([id; 32]))]);
    let endpoints = (1..4).map(|id| Unique::EndpointId(Ulid(id)));
    let events = (1..4).flat_map(|no| [1, 2, 65_535, 65_536].map(|n| Unique::FeedOf(SettlementNo(no), n)));
    let uniques: Vec<Unique> = (1..3).map(ClientNo).flat_map(of).flatten().chain(ids).chain(endpoints).chain(events).collect();
    for unique in &uniques {
        prop_assert_eq!(model.find(unique).unwrap(), store.find(unique).unwrap(), "{:?}", unique);
    }
    let never =
        [Key::Event((SettlementNo(i64::MAX), 1)), Key::Tile((Mode::Live, 255, -1)), Key::Nonce([9; 32]), Key::Account(AccountId(i64::MIN))];
    let mut keys: Vec<Key> = everything(model).iter().map(Record::key).chain(never).collect();
    keys.extend(["m", "n"].map(|name| Key::Meta(name.to_owned())));
    for key in &keys {
        prop_assert_eq!(model.get(key).unwrap(), store.get(key).unwrap(), "{:?}", key);
    }
    // One look-up twice, as independent callers may request it.
    let keys = keys.iter().chain(keys.first()).cloned().map(Lookup::Get);
    let together: Vec<Lookup> = keys.chain(uniques.into_iter().map(Lookup::Find)).chain(scans.into_iter().map(Lookup::Scan)).collect();
    prop_assert_eq!(model.look_up(&together).unwrap(), store.look_up(&together).unwrap());
    Ok(())
}

/// Plays `cases` random histories of commits, each on a new store, and compares everything readable after each commit.
pub fn any_history_reads_as_in_memory(new: Factory<'_>, cases: u32) {
    let history = prop::collection::vec((prop::collection::vec(any_write(), 1..4), any_filter()), 1..40);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let played = TestRunner::new(config).run(&history, |steps| {
        let (model, store) = (MemoryStore::new(), new());
        for (writes, filter) in steps {
            let commit = commit(writes);
            prop_assert_eq!(outcome(&model, &commit), outcome(&*store, &commit), "{:?}", commit);
            same_answers(&model, &*store, &filter)?;
        }
        Ok(())
    });
    played.unwrap_or_else(|failure| panic!("{failure}"));
}
