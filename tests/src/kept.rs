//! What must hold after a [`Load`](crate::load::Load), however often its servers were killed: nothing that was answered is lost, nothing is
//! paid twice, and the books are right.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;

use railgate::Engine;
use railgate::api::{Caller, Target};
use railgate::engine::verify::verify;
use railgate::ids::{ClientNo, SettlementNo};
use railgate::ledger::Mode;
use railgate::lifecycle::{ReversalStatus, SettlementStatus};
use railgate::store::record::{AuditAction, AuditRecord, ClientRecord, Key, ReversalRecord, SettlementRecord, SimPaymentRecord};
use railgate::store::{Scan, Store, typed_all};
use sha2::{Digest, Sha256};

use crate::client::Account;
use crate::load::{Answered, Reversal};
use crate::rest::run_to_rest;

/// The books and traces are right, and nothing reached an operator twice. Returns the number of tasks.
///
/// # Panics
/// If something is wrong.
pub fn assert_sound(store: &dyn Store, when: &str) -> u64 {
    let report = verify(store, &mut |_| {}).expect("reading");
    assert!(report.is_ok(), "{when}: {:#?}", report.problems);
    assert_eq!(report.received_twice, 0, "{when}");
    report.tasks
}

/// Every acknowledged reversal has spent its nonce and is in the audit trail with its result, and so is every decision of a person.
///
/// # Panics
/// If something is missing.
pub fn assert_recorded(store: &dyn Store, answered: &Answered, when: &str) {
    let numbers: HashMap<String, SettlementNo> =
        settlements(store).into_iter().map(|record| (record.reference.as_str().to_owned(), record.no)).collect();
    let audit: Vec<AuditRecord> = typed_all(store.scan(&Scan::after(&Key::Audit(i64::MIN), usize::MAX)).expect("reading")).expect("audit");
    let reviewed = audit.iter().filter(|line| line.action == AuditAction::ResolveReview && line.refused.is_none());
    let reviewed: HashSet<i64> = reviewed.map(|line| line.target).collect();
    let lost = answered.decided.keys().find(|reference| !reviewed.contains(&numbers[*reference].0));
    assert_eq!(lost, None, "{when}: the audit trail lacks a decision about a review");
    let audit = audit.into_iter().filter(|line| line.action == AuditAction::ReverseSettlement);
    let audit: HashSet<_> = audit.map(|line| (line.target, line.name, line.refused)).collect();
    for reversal in &answered.reversals {
        let Reversal { reference, status, code, .. } = reversal;
        let line = match status {
            409 => (0, Some(reference.clone()), Some(code.clone())),
            _ => (numbers[reference].0, None, None),
        };
        assert!(
            !reversal.recorded || audit.contains(&line),
            "{when}: the audit trail lacks the reversal of {reference}, answered {status} {code}"
        );
        let hash = Sha256::digest(&reversal.nonce).into();
        let burnt = store.get(&Key::Nonce(hash)).expect("reading");
        assert!(burnt.is_some(), "{when}: the nonce of the reversal of {reference}, answered {status} {code}, is not burnt");
    }
}

fn settlements(store: &dyn Store) -> Vec<SettlementRecord> {
    typed_all(store.scan(&Scan::after(&Key::Settlement(SettlementNo(0)), usize::MAX)).expect("reading")).expect("settlements")
}

/// The server has every settlement of this account, under its id.
///
/// # Panics
/// If one is missing.
pub fn assert_all_there(server: SocketAddr, account: &Account, created: &HashMap<String, String>) {
    let mut client = account.connect(server).expect("connecting");
    for (reference, id) in created {
        let found = client.send("GET", &format!("/api/v1/gateway/settlements/{reference}"), None).expect("reading");
        assert_eq!((found.status, found.body["id"].as_str()), (200, Some(id.as_str())), "{reference}");
    }
}

/// Brings the store to rest under a clock that runs ahead, and checks the final state of each settlement.
///
/// # Panics
/// If one is not as it must be.
pub fn assert_rests(store: &Arc<dyn Store>, answered: &Answered) {
    let engine = run_to_rest(store);
    let clients: Vec<ClientRecord> =
        typed_all(store.scan(&Scan::after(&Key::Client(ClientNo(0)), usize::MAX)).expect("reading")).expect("clients");
    // By the order in which they enrol: the one that pays, and the one that nobody answers.
    let record = |client: usize, id: &str| settlement(&engine, &clients[client], id);
    let reversals: HashMap<&str, u16> = answered.reversals.iter().map(|r| (r.reference.as_str(), r.status)).collect();
    for (reference, id) in &answered.created {
        let record = record(0, id);
        let made: Vec<ReversalRecord> = typed_all(store.scan(&Scan::reversals(record.no)).expect("reading")).expect("reversals");
        let made: Vec<ReversalStatus> = made.into_iter().map(|reversal| reversal.status).collect();
        let expected = expected(&record, reversals.get(reference.as_str()).copied(), answered.tried.contains(reference), &made);
        assert!(expected.contains(&record.status), "{reference} to {}: {:?} and not {expected:?}", record.to.as_str(), record.status);
        assert_paid_once(&**store, &record);
    }
    for (reference, id) in &answered.silent {
        let record = record(1, id);
        let expected: &[SettlementStatus] = match answered.decided.get(reference) {
            Some(&"confirmed_completed") => &[SettlementStatus::Completed],
            Some(_) => &[SettlementStatus::Failed],
            None => &[SettlementStatus::Completed, SettlementStatus::Failed],
        };
        assert!(expected.contains(&record.status) && !record.needs_review, "{reference}: {:?} and not {expected:?}", record.status);
        assert_paid_once(&**store, &record);
    }
    drop(engine);
    assert_eq!(assert_sound(&**store, "at rest"), 0, "tasks are left");
}

/// What a settlement may be in the end, by the answer to its reversal, and the reversals that were made.
fn expected(record: &SettlementRecord, answer: Option<u16>, tried: bool, made: &[ReversalStatus]) -> Vec<SettlementStatus> {
    let undisturbed = match record.to.as_str() {
        "sim:decline-over_limit" => vec![SettlementStatus::Failed],
        // Its first answer may be lost, and the later one counts.
        "sim:late-ok-after-fail" => vec![SettlementStatus::Failed, SettlementStatus::Completed],
        _ => vec![SettlementStatus::Completed],
    };
    match (answer, made) {
        (Some(200), []) => vec![SettlementStatus::Cancelled],
        (None, []) if tried => [undisturbed, vec![SettlementStatus::Cancelled]].concat(),
        (Some(409) | None, []) => undisturbed,
        (Some(201) | None, [ReversalStatus::Completed]) => vec![SettlementStatus::Reversed],
        // The kill came before the operator got the reversal: an inquiry proves that, and the payment remains.
        (Some(201) | None, [ReversalStatus::Failed]) => undisturbed,
        _ => panic!("{}: reversing it was answered {answer:?}, and there is {made:?}", record.reference.as_str()),
    }
}

fn assert_paid_once(store: &dyn Store, record: &SettlementRecord) {
    let books: Vec<SimPaymentRecord> = typed_all(store.scan(&Scan::sim_payments(record.no)).expect("reading")).expect("payments");
    assert!(books.iter().all(|payment| payment.received == 1), "{}: {books:?}", record.reference.as_str());
}

fn settlement(engine: &Engine, client: &ClientRecord, id: &str) -> SettlementRecord {
    let caller = Caller::client(client.no, client.id, Mode::Sandbox);
    engine.settlement(&caller, &Target::parse(id).expect("an id")).expect("the settlement")
}
