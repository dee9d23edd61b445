//! What every store must do: plain functions that take any store. [`store_conformance!`](crate::store_conformance) turns them into
//! tests.
//!
//! ```
//! use railgate::store::memory::MemoryStore;
//! use railgate::store::{Store, conformance};
//!
//! # fn new_store() -> MemoryStore {
//! #     MemoryStore::new()
//! # }
//! // In a test file: the whole suite, each function as a test. The second argument makes an empty store.
//! railgate::store_conformance!(my_store, || Box::new(new_store()) as Box<dyn Store>);
//!
//! # fn main() {
//! // Or one of them.
//! conformance::nothing_of_a_refused_commit_is_visible(&|| Box::new(new_store()));
//! # }
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "assertions of a test suite, never part of a running gateway")]

pub mod fixtures;
mod lists;
mod log_and_webhooks;
mod model;
mod money;
mod shared_use;

pub use lists::*;
pub use log_and_webhooks::*;
pub use model::any_history_reads_as_in_memory;
pub use money::*;
pub use shared_use::*;

use std::sync::Arc;

use super::record::*;
use super::*;
use crate::auth::{KeyId, PublicKey, ScopeSet};
use crate::ids::{ClientNo, EndpointNo, KeyNo, OperatorNo, ProviderNo, SettlementNo, Ulid};
use crate::ledger::{AccountId, Mode};
use crate::lifecycle::{AttemptStatus, SettlementStatus, StateName};
use crate::money::Currency;
use crate::participant::Reference;
use crate::rail::FailureCode;
use crate::time::Millis;
use crate::validate::ReversalReason;
use fixtures::*;

/// Creates an empty store, a new one on every call.
pub type Factory<'a> = &'a dyn Fn() -> Box<dyn Store>;

/// Defines the whole suite as tests in a module, for the stores that `$factory` creates.
#[macro_export]
macro_rules! store_conformance {
    ($module:ident, $factory:expr) => {
        $crate::store_conformance!(@ $module, $factory,
            every_kind_is_added_found_replaced_and_removed
            every_clash_is_reported_at_once
            unique_keys_are_unique_and_free_again_once_removed
            unique_keys_never_change
            a_settlement_is_replaced_only_at_its_version
            a_later_write_sees_the_earlier_ones
            a_commit_may_require_that_a_key_is_free
            nothing_of_a_refused_commit_is_visible
            mistakes_of_the_caller_are_refused
            the_largest_and_strangest_values_survive
            an_empty_commit_is_made
            transfers_add_up_to_totals
            a_commit_counts_as_a_whole_for_the_guard
            only_what_spends_is_guarded
            totals_that_do_not_fit_are_refused
            a_popular_account_takes_every_transfer
            a_floor_below_zero_holds_for_one_commit
            a_floor_of_zero_holds_for_the_writes_before_it
            a_counter_adds_up_to_its_limit
            pages_begin_after_and_end_at_their_limit
            every_kind_is_walked_in_the_order_of_its_keys
            children_of_one_settlement_stay_apart_from_the_next
            tasks_are_a_prefix_by_due_time
            tasks_of_a_client_are_found_by_its_clock
            what_has_expired_is_found_by_page_and_by_client
            accounts_of_a_client_are_its_own
            old_records_are_found_by_age
            reviews_come_in_the_order_of_their_time
            what_operators_read_is_newest_first
            findings_are_read_by_reconciliation_and_by_settlement
            bundles_are_read_by_client_and_state_and_by_when_a_test_is_due
            a_statement_is_of_one_account_newest_first
            keys_of_a_client_are_its_own
            users_have_devices_codes_and_payments
            notifications_are_walked_by_user_and_by_time
            what_devices_measured_is_in_order_of_time
            secrets_are_in_order_of_kind_and_number
            every_kind_of_key_and_code_survives
            a_clients_list_is_newest_first_and_its_own
            every_filter_of_a_list_filters
            amounts_are_compared_by_value
            filters_combine_and_page
            readers_see_whole_commits
            writers_take_turns
            a_nonce_is_used_once
            feeds_and_endpoints_have_unique_keys
            endpoints_and_queues_are_replaced_only_at_their_version
            the_ends_of_the_log_and_of_webhooks_survive
            every_code_of_webhooks_survives
            what_is_not_numbered_yet_comes_in_order
            a_feed_is_of_one_client_in_one_mode
            all_feeds_are_walked_owner_by_owner
            the_log_has_one_head_that_one_of_many_moves_on
            tiles_are_told_apart_by_mode_level_and_index
            endpoints_are_listed_by_number_and_by_owner
            secrets_of_an_endpoint_are_its_own
            queues_wait_in_two_lines_by_due_time
            due_deliveries_are_one_endpoints_and_the_earliest_first
            deliveries_are_listed_newest_first
            old_deliveries_of_all_endpoints_come_in_order
        );
    };
    (@ $module:ident, $factory:expr, $($name:ident)*) => {
        mod $module {
            use super::*;
            $(#[test] fn $name() { $crate::store::conformance::$name(&$factory) })*
        }
    };
}

/// The indexes of the writes that clashed in a commit; any other result fails the test.
pub fn clashes(result: Result<(), CommitError>) -> Vec<usize> {
    match result {
        Err(CommitError::Conflict(clashes)) => clashes.into_iter().map(|clash| clash.write).collect(),
        Ok(()) => Vec::new(),
        Err(other) => panic!("neither made nor in conflict: {other:?}"),
    }
}

fn make(store: &dyn Store, writes: impl IntoIterator<Item = Write>) {
    store.commit(&commit(writes)).unwrap();
}

fn refuse(store: &dyn Store, writes: impl IntoIterator<Item = Write>) -> Vec<usize> {
    clashes(store.commit(&commit(writes)))
}

fn holds(store: &dyn Store, record: impl Into<Record>) {
    let record = record.into();
    assert_eq!(store.get(&record.key()).unwrap().as_ref(), Some(&record));
}

/// For every kind that is written as a whole: a record and its replacement.
fn kinds() -> Vec<(Record, Record)> {
    let closed = AttemptRecord { status: AttemptStatus::Declined, answered_at: Some(9), ..attempt(1, 1) };
    let done = ReversalRecord { needs_review: true, completed_at: Some(9), ..reversal(1, 1, 1, Some("r")) };
    let more = EventRecord { data: Some("{}".to_owned()), from: Some(StateName::Started), ..event(1, 1) };
    let leased = TaskRecord { owner: -7, tries: 3, ..task(5, 1) };
    let again = IdempotencyRecord { reversal: 2, ..idempotency(1, "k", 5) };
    let sealed = ClientRecord { suspended: true, webhook_secret: vec![0, 255], ..client(1, 11) };
    let revoked = KeyRecord { status: KeyStatus::Revoked, revoked_at: Some(9), label: Some("till".to_owned()), ..key(1, 1, 1) };
    let narrower = TokenRecord { key: KeyNo(2), scopes: ScopeSet::NONE, session: Some(vec![1, 2]), ..token(1, 6) };
    let retired = SecretRecord { sealed: vec![0], public: vec![4; 65], retired_at: Some(9), ..secret(SecretKind::Receipt, 1) };
    let refused = AuditRecord {
        name: Some("n".to_owned()),
        refused: Some("nonce_replayed".to_owned()),
        detail: Some("{}".to_owned()),
        signed_by: Some(SignedWith::Session),
        ..audit(1)
    };
    let ended = EndpointSecretRecord { until: Some(9), ..endpoint_secret(1, 1) };
    let invited = OperatorRecord { status: OperatorStatus::Invited, code: vec![7; 32], enrolled_at: None, ..operator(1, 11) };
    let decided = ApprovalRecord {
        status: ApprovalStatus::Confirmed,
        sealed: Vec::new(),
        replaces: Some(7),
        reason: Some("r".to_owned()),
        decided_by: OperatorNo(2),
        decided_at: Some(5),
        comment: Some("c".to_owned()),
        ..approval(1, 11)
    };
    let status = ReconciliationStatus::Done;
    let made = ReconciliationRecord { status, finished_at: Some(9), from: None, to: Some(9), lines: u32::MAX, ..reconciliation(1, 1) };
    let tried = LastTry { at: 9, took_ms: 7, status: Some(500), error: None, excerpt: "sorry".to_owned() };
    let tried = DeliveryRecord { attempts: 1, last: Some(tried), ..delivery(1, 1, Some(9)) };
    vec![
        (client(1, 11).into(), sealed.into()),
        (key(1, 1, 1).into(), revoked.into()),
        (token(1, 5).into(), narrower.into()),
        (provider(1, "p").into(), provider(1, "p").into()),
        (attempt(1, 1).into(), closed.into()),
        (reversal(1, 1, 1, Some("r")).into(), done.into()),
        (event(1, 1).into(), more.into()),
        (task(5, 1).into(), leased.into()),
        (idempotency(1, "k", 5).into(), again.into()),
        (sim_payment(1, 1).into(), SimPaymentRecord { received: 2, ..sim_payment(1, 1) }.into()),
        (nonce(1, 5).into(), nonce(1, 6).into()),
        (secret(SecretKind::Receipt, 1).into(), retired.into()),
        (audit(1).into(), refused.into()),
        (meta("m", b"1").into(), meta("m", b"").into()),
        (unlogged(1).into(), UnloggedRecord { no: 1, changes: Vec::new() }.into()),
        (feed(1, Mode::Live, 1, 1).into(), FeedRecord { at: 9, leaf: 7, ..feed(1, Mode::Live, 1, 1) }.into()),
        (tile(1, 1).into(), TileRecord { entries: vec![5; 8192], ..tile(1, 1) }.into()),
        (log_head(5).into(), LogHeadRecord { owner: -7, until: 9, ..log_head(5) }.into()),
        (endpoint_secret(1, 1).into(), ended.into()),
        (delivery(1, 1, Some(5)).into(), tried.into()),
        (invitation(1, 5).into(), invitation(1, 6).into()),
        (movement(1, "m").into(), MovementRecord { evidence: "line 8".to_owned(), ..movement(1, "m") }.into()),
        (operator(1, 11).into(), invited.into()),
        (approval(1, 11).into(), decided.into()),
        (unbooked(1).into(), UnbookedRecord { lines: Vec::new(), ..unbooked(1) }.into()),
        (entry(1, 1).into(), EntryRecord { code: None, amount: i64::MIN, balance: i64::MAX, ..entry(1, 1) }.into()),
        (setup(1).into(), SetupRecord { secrets: Vec::new(), reason: None, client: Some(ClientNo(7)), ..setup(1) }.into()),
        (usage(1, 500, 2).into(), usage(1, -1, i64::MAX).into()),
        (reconciliation(1, 1).into(), made.into()),
        (finding(1, 1, 1).into(), FindingRecord { kind: FindingKind::MissingThere, line: None, ..finding(1, 1, 0) }.into()),
        (matches(1, 1).into(), MatchesRecord { pairs: Vec::new(), ..matches(1, 1) }.into()),
        (review(1, 0, 5).into(), ReviewRecord { reason: ReviewReason::Discrepancy, opened_at: 9, ..review(1, 0, 6) }.into()),
    ]
}

/// Insert, replace and delete for each kind, also where they must fail.
pub fn every_kind_is_added_found_replaced_and_removed(new: Factory<'_>) {
    for (first, second) in kinds() {
        let store = &*new();
        assert_eq!(store.get(&first.key()).unwrap(), None);
        assert_eq!(refuse(store, [replace_any(second.clone())]), [0], "{first:?}");
        assert_eq!(refuse(store, [Write::Delete(first.key())]), [0], "{first:?}");
        make(store, [Write::Absent(first.key()), insert(first.clone())]);
        holds(store, first.clone());
        assert_eq!(refuse(store, [insert(second.clone())]), [0], "{first:?}");
        assert_eq!(refuse(store, [Write::Absent(first.key())]), [0], "{first:?}");
        holds(store, first.clone());
        make(store, [replace_any(second.clone())]);
        holds(store, second.clone());
        make(store, [Write::Delete(first.key()), Write::Absent(first.key())]);
        assert_eq!(store.get(&first.key()).unwrap(), None);
    }
}

/// The condition refuses the whole commit, whatever else is written, and only as long as there is such a record.
pub fn a_commit_may_require_that_a_key_is_free(new: Factory<'_>) {
    let store = &*new();
    let is_free = |hash: u8| Write::Absent(Key::Nonce([hash; 32]));
    make(store, [insert(nonce(1, 5)), insert(nonce(3, 5))]);
    let create = |no: i64, conditions: &[Write]| {
        let rows = [insert(settlement(no, 1, &no.to_string())), insert(event(no, 1)), insert(task(no, 1)), insert(audit(no))];
        rows.into_iter().chain(conditions.iter().cloned()).collect::<Vec<_>>()
    };
    assert_eq!(refuse(store, create(1, &[is_free(2), is_free(1), is_free(4), is_free(3)])), [5, 7]);
    assert_eq!(store.get(&Key::Settlement(SettlementNo(1))).unwrap(), None);
    make(store, create(1, &[is_free(2), is_free(4), is_free(2)]));
    make(store, create(2, &[is_free(2), insert(nonce(2, 5))]));
    assert_eq!(refuse(store, create(3, &[insert(nonce(4, 5)), is_free(4)])), [5], "taken by this commit");
    assert_eq!(refuse(store, create(3, &[is_free(2)])), [4]);
    make(store, create(3, &[Write::Delete(Key::Nonce([2; 32])), is_free(2)]));
    assert_eq!(store.get(&Key::Settlement(SettlementNo(3))).unwrap(), Some(settlement(3, 1, "3").into()));
}

/// One commit with every kind of clash, between writes that would succeed.
pub fn every_clash_is_reported_at_once(new: Factory<'_>) {
    let store = &*new();
    make(store, [insert(settlement(1, 1, "a")), insert(reversal(1, 1, 1, Some("r"))), insert(client(1, 11)), insert(provider(1, "p"))]);
    make(store, [funding(-1, account_of(1), 100), insert(task(1, 1)), insert(key(1, 1, 1)), insert(nonce(1, 5)), insert(audit(1))]);
    make(store, [insert(endpoint(1, 1, 11)), insert(queue(1, None)), insert(delivery(1, 1, None)), insert(endpoint_secret(1, 1))]);
    make(store, [insert(feed(1, Mode::Live, 1, 1)), insert(tile(0, 0)), insert(log_head(5)), insert(unlogged(1))]);
    let writes = [
        insert(settlement(2, 1, "b")),
        insert(settlement(1, 1, "c")),            // number taken
        insert(settlement(3, 1, "a")),            // reference taken
        insert(settlement(4, 1, "b")),            // reference taken by this commit
        update(settlement(1, 1, "a"), 2),         // another version
        update(settlement(9, 1, "z"), 1),         // does not exist
        insert(reversal(2, 1, 1, Some("r"))),     // reference taken
        insert(client(2, 11)),                    // id taken
        insert(provider(2, "p")),                 // id taken
        funding(-1, account_of(1), 100),          // journal line taken
        insert(task(1, 1)),                       // key taken
        replace(attempt(1, 1)),                   // does not exist
        Write::Delete(Key::Meta("m".to_owned())), // does not exist
        insert(key(1, 1, 2)),                     // number taken
        insert(key(2, 2, 1)),                     // thumbprint taken by any client
        insert(nonce(1, 6)),                      // used before
        Write::Absent(Key::Nonce([1; 32])),       // used before
        insert(audit(1)),                         // number taken
        Write::Delete(Key::Nonce([2; 32])),       // does not exist
        insert(endpoint(2, 2, 11)),               // id taken
        insert(endpoint(1, 1, 12)),               // number taken
        update(endpoint(1, 1, 11), 2),            // another version
        update(endpoint(2, 1, 12), 1),            // does not exist
        insert(queue(1, None)),                   // exists
        update(queue(1, None), 2),                // another version
        update(queue(2, None), 1),                // does not exist
        insert(delivery(1, 2, None)),             // number taken
        replace(delivery(2, 1, None)),            // does not exist
        insert(endpoint_secret(1, 1)),            // number taken
        insert(feed(1, Mode::Live, 1, 2)),        // position taken
        insert(feed(2, Mode::Live, 1, 1)),        // event taken by any client
        insert(tile(0, 0)),                       // exists
        insert(log_head(5)),                      // exists
        Write::Delete(Key::LogHead(4)),           // does not exist
        insert(unlogged(1)),                      // number taken
        Write::Delete(Key::Unlogged(2)),          // does not exist
        insert(task(1, 2)),
    ];
    assert_eq!(refuse(store, writes.clone()), (1..=35).collect::<Vec<_>>());
    assert_eq!(store.get(&Key::Settlement(SettlementNo(2))).unwrap(), None);
    assert_eq!(store.get(&Key::Task(TaskKey::new(1, 2))).unwrap(), None);
    let [first, .., last] = writes;
    make(store, [first, last]);
}

/// Each further unique key, and which records may share a value.
pub fn unique_keys_are_unique_and_free_again_once_removed(new: Factory<'_>) {
    let store = &*new();
    make(store, [insert(settlement(1, 1, "a")), insert(settlement(2, 2, "a")), insert(settlement(3, 1, "A"))]);
    make(store, [insert(reversal(1, 1, 1, Some("a"))), insert(reversal(1, 2, 2, Some("a"))), insert(reversal(2, 1, 1, None))]);
    make(store, [insert(reversal(2, 2, 1, None)), insert(client(1, 11)), insert(client(2, u128::MAX))]);
    let by = |client: u32, text: &str| Unique::SettlementReference(ClientNo(client), Reference::from_stored(text.to_owned()));
    let undone = |client: u32, text: &str| Unique::ReversalReference(ClientNo(client), text.to_owned());
    let moved = |client: u32, text: &str| Unique::MovementReference(ClientNo(client), text.to_owned());
    make(store, [insert(movement(4, "a")), insert(movement(5, "A"))]);
    let of = |id: u128| Unique::ClientId(Ulid(id));
    let named = |id: u8| Unique::KeyId(KeyId([id; 32]));
    make(store, [insert(key(1, 1, 1)), insert(key(2, 1, 2)), insert(key(3, 2, u8::MAX))]);

    assert_eq!(store.find(&by(1, "a")).unwrap(), Some(settlement(1, 1, "a").into()));
    assert_eq!(store.find(&by(2, "a")).unwrap(), Some(settlement(2, 2, "a").into()));
    assert_eq!(store.find(&by(1, "A")).unwrap(), Some(settlement(3, 1, "A").into()));
    assert_eq!(store.find(&undone(2, "a")).unwrap(), Some(reversal(1, 2, 2, Some("a")).into()));
    assert_eq!(store.find(&of(u128::MAX)).unwrap(), Some(client(2, u128::MAX).into()));
    assert_eq!(store.find(&named(2)).unwrap(), Some(key(2, 1, 2).into()));
    assert_eq!(store.find(&named(u8::MAX)).unwrap(), Some(key(3, 2, u8::MAX).into()));
    assert_eq!(store.find(&moved(1, "A")).unwrap(), Some(movement(5, "A").into()));
    make(store, [insert(MovementRecord { client: ClientNo(2), ..movement(6, "B") })]);
    for (after, limit, found) in [("", 9, &[5, 4][..]), ("", 1, &[5]), ("A", 9, &[4]), ("a", 9, &[])] {
        let found: Vec<Key> = found.iter().map(|no| Key::Movement(SettlementNo(*no))).collect();
        assert_eq!(keys(store, &Scan::movements_of(ClientNo(1), after, limit)), found, "after {after:?}");
    }
    for absent in [moved(2, "a"), by(3, "a"), by(2, "A"), undone(2, "A"), undone(1, ""), of(12), named(3)] {
        assert_eq!(store.find(&absent).unwrap(), None, "{absent:?}");
    }

    make(store, [Write::Delete(Key::Settlement(SettlementNo(1))), Write::Delete(Key::Reversal((SettlementNo(1), 1)))]);
    make(store, [Write::Delete(Key::Client(ClientNo(1))), Write::Delete(Key::Key(KeyNo(2)))]);
    for gone in [by(1, "a"), undone(1, "a"), of(11), named(2)] {
        assert_eq!(store.find(&gone).unwrap(), None, "{gone:?}");
    }
    make(store, [insert(settlement(5, 1, "a")), insert(reversal(5, 1, 1, Some("a"))), insert(client(3, 11)), insert(key(9, 2, 2))]);
    assert_eq!(store.find(&named(2)).unwrap(), Some(key(9, 2, 2).into()));
    assert_eq!(store.find(&by(1, "a")).unwrap(), Some(settlement(5, 1, "a").into()));
}

/// A replacement that differs in a unique key is a different record.
pub fn unique_keys_never_change(new: Factory<'_>) {
    let store = &*new();
    make(store, [insert(settlement(1, 1, "a")), insert(reversal(1, 1, 1, Some("r"))), insert(reversal(1, 2, 1, None))]);
    make(store, [insert(client(1, 11)), insert(provider(1, "p")), insert(key(1, 1, 1))]);
    make(store, [insert(endpoint(1, 1, 11)), insert(feed(1, Mode::Live, 1, 1)), insert(delivery(1, 1, None))]);
    let changed = [
        update(settlement(1, 1, "b"), 1),
        update(settlement(1, 2, "a"), 1),
        replace(reversal(1, 1, 1, Some("s"))),
        replace(reversal(1, 1, 2, Some("r"))),
        replace(reversal(1, 1, 1, None)),
        replace(reversal(1, 2, 1, Some("t"))),
        replace_any(client(1, 12)),
        replace(provider(1, "q")),
        replace_any(key(1, 1, 2)),
        update(endpoint(1, 1, 12), 1),
        update(endpoint(1, 2, 11), 1),
        update(EndpointRecord { mode: Mode::Live, ..endpoint(1, 1, 11) }, 1),
        replace(feed(1, Mode::Live, 1, 2)),
        replace(FeedRecord { n: 2, ..feed(1, Mode::Live, 1, 1) }),
        replace(delivery(1, 2, None)),
    ];
    assert_eq!(refuse(store, changed), (0..15).collect::<Vec<_>>());
}

/// Optimistic concurrency: only the version decides.
pub fn a_settlement_is_replaced_only_at_its_version(new: Factory<'_>) {
    let store = &*new();
    make(store, [insert(settlement(1, 1, "a"))]);
    let second = SettlementRecord { version: 2, status: SettlementStatus::Submitted, needs_review: true, ..settlement(1, 1, "a") };
    for wrong in [0, 2, u32::MAX] {
        assert_eq!(refuse(store, [update(second.clone(), wrong)]), [0]);
    }
    holds(store, settlement(1, 1, "a"));
    make(store, [update(second.clone(), 1)]);
    holds(store, second.clone());
    assert_eq!(refuse(store, [update(second.clone(), 1)]), [0]);
    // Repeating the same version is up to the caller: the condition is about the old version, not the new one.
    make(store, [update(SettlementRecord { amount: 1, ..second.clone() }, 2)]);
    holds(store, SettlementRecord { amount: 1, ..second });
}

/// The order of writes counts: one commit may insert, update, remove and insert again.
pub fn a_later_write_sees_the_earlier_ones(new: Factory<'_>) {
    let store = &*new();
    let (one, other) = (settlement(1, 1, "a"), settlement(1, 1, "b"));
    let second = SettlementRecord { version: 2, ..one.clone() };
    let third = SettlementRecord { version: 3, ..one.clone() };
    let gone = Write::Delete(Key::Settlement(SettlementNo(1)));
    let life = [insert(one.clone()), update(second.clone(), 1), update(third.clone(), 2)];
    make(store, life.clone().into_iter().chain([gone.clone(), insert(other.clone())]));
    holds(store, other);
    make(store, [gone.clone()]);
    assert_eq!(refuse(store, life.into_iter().chain([update(second, 2), gone.clone(), gone.clone(), insert(one.clone())])), [3, 5]);

    make(store, [insert(task(1, 1)), replace(TaskRecord { tries: 1, ..task(1, 1) }), Write::Delete(Key::Task(TaskKey::new(1, 1)))]);
    assert_eq!(store.get(&Key::Task(TaskKey::new(1, 1))).unwrap(), None);
    assert_eq!(refuse(store, [insert(one.clone()), insert(one.clone()), gone, insert(one)]), [1]);
}

/// Everything readable in a store with few records, to check that nothing changed.
pub fn everything(store: &dyn Store) -> Vec<Record> {
    let limit = usize::MAX;
    let mut scans = vec![
        Scan::after(&Key::Settlement(SettlementNo(i64::MIN)), limit),
        Scan::after(&Key::Transfer((SettlementNo(i64::MIN), 0)), limit),
        Scan::tasks(TaskKey(i64::MIN), Millis::MAX, limit),
        Scan::after(&Key::Account(AccountId(i64::MIN)), limit),
        Scan::after(&Key::Client(ClientNo(0)), limit),
        Scan::all(RecordKind::Provider, usize::MAX),
        Scan::all(RecordKind::Secret, usize::MAX),
        Scan::after(&Key::Audit(i64::MIN), limit),
        Scan::all(RecordKind::Unlogged, limit),
        Scan::after(&Key::Feed((ClientNo(0), Mode::Sandbox, i64::MIN)), limit),
        Scan::last(RecordKind::LogHead),
        Scan::after(&Key::Endpoint(EndpointNo(0)), limit),
        Scan::deliveries_before(i64::MAX, limit),
    ];
    scans.extend((0..=9).map(|no| Scan::keys_of(ClientNo(no))));
    scans.extend((0..=9).map(|no| Scan::endpoint_secrets(EndpointNo(no))));
    for no in (0..=9).map(SettlementNo) {
        scans.extend([Scan::events(no, 0, limit), Scan::attempts(no), Scan::reversals(no), Scan::sim_payments(no)]);
    }
    let all = |scans: &[Scan]| scans.iter().flat_map(|scan| store.scan(scan).unwrap()).collect::<Vec<_>>();
    let mut unordered = all(&[
        Scan::idempotency_before(Millis::MAX, limit),
        Scan::nonces_expired_before(Millis::MAX, limit),
        Scan::tokens_expired_before(Millis::MAX, limit),
    ]);
    unordered.sort_by_key(Record::key);
    // Records that no scan returns completely are read by key.
    let queues = (0..=9).map(|no| Key::Queue(EndpointNo(no)));
    let places = (0..=3).flat_map(|level| (0..=3).map(move |index| (level, index)));
    let tiles = places.flat_map(|(level, index)| Mode::ALL.iter().map(move |mode| Key::Tile((*mode, level, index))));
    let found = queues.chain(tiles).filter_map(|key| store.get(&key).unwrap()).collect();
    [all(&scans), unordered, found].concat()
}

/// However a commit fails, no kind of record keeps a trace of it.
pub fn nothing_of_a_refused_commit_is_visible(new: Factory<'_>) {
    let store = &*new();
    make(store, kinds().into_iter().map(|(record, _)| insert(record)));
    make(store, [insert(settlement(1, 1, "a")), insert(endpoint(1, 1, 11)), insert(queue(1, Some(5))), funding(-1, account_of(1), 100)]);
    let before = everything(store);

    let second = SettlementRecord { version: 2, ..settlement(1, 1, "a") };
    let disabled = EndpointRecord { version: 2, status: EndpointStatus::Gone, ..endpoint(1, 1, 11) };
    let mut changes: Vec<Write> = kinds().into_iter().map(|(_, record)| replace_any(record)).collect();
    changes.extend(kinds().into_iter().map(|(record, _)| Write::Delete(record.key())));
    changes.extend([update(second, 1), insert(settlement(2, 1, "b")), insert(event(2, 1)), insert(task(7, 1))]);
    changes.extend([update(disabled, 1), insert(endpoint(2, 1, 12)), Write::Delete(Key::Endpoint(EndpointNo(1)))]);
    changes.extend([update(QueueRecord { version: 2, troubled: true, ..queue(1, Some(6)) }, 1), insert(queue(2, None))]);
    changes.extend([funding(-2, account_of(1), 5), funding(-3, account_of(2), 5)]);

    let failing =
        [insert(settlement(3, 1, "b")), Write::Post(transfer(2, 1, account_of(1), account_of(2), 106)), funding(-4, account_of(2), 0)];
    for failing in failing {
        let refused = store.commit(&commit(changes.iter().cloned().chain([failing])));
        assert!(refused.is_err());
        assert_eq!(everything(store), before);
        assert_eq!(store.find(&Unique::SettlementReference(ClientNo(1), Reference::from_stored("b".to_owned()))).unwrap(), None);
        assert_eq!(store.get(&Key::Meta("m".to_owned())).unwrap(), Some(meta("m", b"1").into()));
        assert_eq!(store.find(&Unique::EndpointId(Ulid(11))).unwrap(), Some(endpoint(1, 1, 11).into()));
        assert_eq!(store.find(&Unique::EndpointId(Ulid(12))).unwrap(), None);
        assert_eq!(store.find(&Unique::FeedOf(SettlementNo(1), 1)).unwrap(), Some(feed(1, Mode::Live, 1, 1).into()));
        let waiting = Scan::queues(false, Millis::MAX, 9);
        assert_eq!(store.scan(&waiting).unwrap(), [queue(1, Some(5)).into()]);
        let mine = Scan::deliveries_of(EndpointNo(1), i64::MAX, None, 9);
        assert_eq!(store.scan(&mine).unwrap(), [delivery(1, 1, Some(5)).into()]);
    }
    make(store, changes);
    assert_ne!(everything(store), before);
}

/// Invalid writes are refused as mistakes: not as conflicts, and not as retryable.
pub fn mistakes_of_the_caller_are_refused(new: Factory<'_>) {
    let store = &*new();
    let no = 1 << 47;
    let totals = AccountRecord { id: account_of(1), totals: Default::default() };
    let journal = transfer(1, 1, account_of(2), account_of(1), 1);
    let mistakes = [
        insert(totals.clone()),
        replace(totals),
        Write::Delete(Key::Account(account_of(1))),
        insert(journal.clone()),
        replace(journal),
        Write::Delete(Key::Transfer((SettlementNo(1), 1))),
        replace(settlement(1, 1, "a")),
        funding(1, account_of(1), 0),
        funding(1, account_of(1), -1),
        funding(no, account_of(1), 1),
        insert(settlement(no, 1, "a")),
        insert(settlement(-no, 1, "a")),
        insert(event(1, 65_536)),
        insert(attempt(no, 1)),
        Write::Delete(Key::Event((SettlementNo(1), u32::MAX))),
        Write::Delete(Key::Settlement(SettlementNo(i64::MIN))),
        replace(endpoint(1, 1, 11)),
        replace(queue(1, None)),
        replace(client(1, 11)),
        replace(key(1, 1, 1)),
        replace(secret(SecretKind::Receipt, 1)),
        replace(endpoint_secret(1, 1)),
        update(provider(1, "p"), 1),
        update(delivery(1, 1, None), 1),
        update(log_head(1), 1),
        update(settlement(no, 1, "a"), 1),
        insert(tile(64, 0)),
        insert(tile(0, -1)),
        insert(tile(0, 1 << 56)),
        insert(TileRecord { mode: Mode::Live, ..tile(64, 0) }),
        replace(tile(u8::MAX, i64::MAX)),
        Write::Delete(Key::Tile((Mode::Live, 64, 0))),
        insert(FeedRecord { n: 65_536, ..feed(1, Mode::Live, 1, 1) }),
        insert(feed(1, Mode::Live, 1, no)),
        insert(DeliveryRecord { settlement: SettlementNo(-no), ..delivery(1, 1, None) }),
    ];
    for mistake in mistakes {
        match store.commit(&commit([insert(task(1, 1)), mistake.clone()])) {
            Err(CommitError::Store(error)) => assert!(!error.retryable, "{mistake:?}"),
            other => panic!("{mistake:?}: {other:?}"),
        }
    }
    assert_eq!(everything(store), []);
    for absent in [
        Key::Event((SettlementNo(1), 65_536)),
        Key::Attempt((SettlementNo(i64::MAX), 1)),
        Key::Settlement(SettlementNo(no)),
        Key::Tile((Mode::Sandbox, 64, 0)),
        Key::Tile((Mode::Live, 0, -1)),
        Key::Tile((Mode::Live, u8::MAX, 1 << 56)),
    ] {
        assert_eq!(store.get(&absent).unwrap(), None);
    }
    for absent in [Unique::FeedOf(SettlementNo(1), 65_536), Unique::FeedOf(SettlementNo(no), 1)] {
        assert_eq!(store.find(&absent).unwrap(), None);
    }
}

/// The ends of every range, every script, and as much text as a request may contain.
pub fn the_largest_and_strangest_values_survive(new: Factory<'_>) {
    let store = &*new();
    let strange = "\u{0}'\";--\u{feff}\u{202e}Ä\u{0308}日本語🦀\n\u{10ffff}";
    let pairs = Arc::new((0..50).map(|n| (format!("{strange}{n}"), "é".repeat(270))).collect());
    let failure = Failure { code: FailureCode::Other, rail_code: Some(strange.to_owned()) };
    let more = SettlementMore { metadata: pairs, description: Some(strange.into()), failure: Some(failure.clone()), ..Default::default() };
    let highest = (1 << 47) - 1;
    for (no, extreme) in [(highest, i64::MAX), (-highest, i64::MIN)] {
        let full = SettlementRecord {
            version: u32::MAX,
            amount: extreme,
            fee: extreme,
            reversed: extreme,
            reversing: extreme,
            attempts: u16::MAX,
            reversals: u16::MAX,
            transfers: u16::MAX,
            hold: u16::MAX,
            provider: ProviderNo(u16::MAX),
            salt: u64::MAX,
            created_at: extreme,
            updated_at: extreme,
            completed_at: Some(extreme),
            expires_at: Some(extreme),
            more: Some(Arc::new(more.clone())),
            ..settlement(no, u32::MAX, strange)
        };
        make(store, [insert(full.clone())]);
        holds(store, full.clone());
        let bare = SettlementRecord { more: Some(Arc::default()), ..full.clone() };
        make(store, [update(bare.clone(), u32::MAX)]);
        holds(store, bare);
        make(store, [Write::Delete(Key::Settlement(SettlementNo(no)))]);

        let texts = EventRecord { data: Some(strange.repeat(1000)), child: u16::MAX, at: extreme, ..event(no, 65_535) };
        let said = Some(strange.to_owned());
        let undone = ReversalRecord {
            description: said.clone(),
            rail_reference: said,
            failure: Some(failure.clone()),
            ..reversal(no, u16::MAX, 0, None)
        };
        let due = TaskRecord { key: TaskKey(extreme), owner: extreme, since: extreme, tries: u16::MAX, ..task(0, 0) };
        let all: [Record; 11] = [
            texts.into(),
            undone.into(),
            due.into(),
            sim_payment(no, u16::MAX).into(),
            IdempotencyRecord { settlement: SettlementNo(extreme), reversal: u16::MAX, ..idempotency(u32::MAX, strange, extreme) }.into(),
            meta(strange, strange.as_bytes()).into(),
            ClientRecord { webhook_secret: vec![0xff; 100], created_at: extreme, ..client(u32::MAX, u128::MAX) }.into(),
            KeyRecord { label: Some(strange.to_owned()), revoked_at: Some(extreme), created_at: extreme, ..key(u32::MAX, u32::MAX, 0) }
                .into(),
            NonceRecord { hash: [0; 32], expires_at: extreme }.into(),
            SecretRecord { created_at: extreme, retired_at: Some(extreme), ..secret(SecretKind::Challenge, u32::MAX) }.into(),
            AuditRecord { at: extreme, target: extreme, name: Some(strange.to_owned()), refused: Some(String::new()), ..audit(extreme) }
                .into(),
        ];
        make(store, all.iter().cloned().map(insert));
        all.iter().for_each(|record| holds(store, record.clone()));
        make(store, all.iter().map(|record| Write::Delete(record.key())));
    }
    for reason in ReversalReason::ALL {
        let undone = ReversalRecord { reason: Some(*reason), ..reversal(1, u16::from(reason.code()), 1, None) };
        make(store, [insert(undone.clone())]);
        holds(store, undone);
    }
    for one in Currency::all() {
        let no = i64::from(one.numeric());
        let odd = SettlementRecord { currency: one, ..settlement(no, 1, one.code()) };
        make(store, [insert(odd.clone())]);
        holds(store, odd);
    }
}

/// Every code stored as a number is read back unchanged, and so are both kinds of public key.
pub fn every_kind_of_key_and_code_survives(new: Factory<'_>) {
    let store = &*new();
    let point = KeyRecord { public: PublicKey::P256(P256_POINT), mode: Mode::Live, scopes: ScopeSet::all(), ..key(1, 1, 1) };
    make(store, [insert(point.clone()), insert(key(2, 1, 2))]);
    holds(store, point.clone());
    holds(store, key(2, 1, 2));
    for status in KeyStatus::ALL {
        make(store, [replace_any(KeyRecord { status: *status, scopes: ScopeSet::NONE, ..point.clone() })]);
        holds(store, KeyRecord { status: *status, scopes: ScopeSet::NONE, ..point.clone() });
    }
    for (action, no) in AuditAction::ALL.iter().zip(1..) {
        make(store, [insert(AuditRecord { action: *action, ..audit(no) })]);
        holds(store, AuditRecord { action: *action, ..audit(no) });
    }
    for (signed_by, no) in SignedWith::ALL.iter().zip(-9..) {
        make(store, [insert(AuditRecord { signed_by: Some(*signed_by), ..audit(no) })]);
        holds(store, AuditRecord { signed_by: Some(*signed_by), ..audit(no) });
    }
    for kind in SecretKind::ALL {
        make(store, [insert(secret(*kind, 1))]);
        holds(store, secret(*kind, 1));
    }
}

/// An empty commit is not an error.
pub fn an_empty_commit_is_made(new: Factory<'_>) {
    let store = &*new();
    make(store, []);
    assert_eq!(everything(store), []);
    for last in [
        Scan::last(RecordKind::Settlement),
        Scan::last(RecordKind::Transfer),
        Scan::last(RecordKind::Client),
        Scan::last(RecordKind::Key),
        Scan::last(RecordKind::Audit),
        Scan::last(RecordKind::Endpoint),
        Scan::last(RecordKind::LogHead),
    ] {
        assert_eq!(store.scan(&last).unwrap(), []);
    }
}
