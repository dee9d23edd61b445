//! The queue of what waits for a person, and what the person decides: the money follows, once, and nothing is left behind.
#![cfg(all(feature = "sqlite", feature = "testkit"))]

use crate::support;
use std::path::Path;
use std::sync::{Arc, Barrier};

use crate::support::log::log_all;
use crate::support::meddling::Meddling;
use crate::support::receiver::new_hook;
use crate::support::{START, Sandbox, enroll, sealing, target, together};
use railgate::api::{CaseTransferView, Subject};
use railgate::engine::{DueReviews, Maintain, Operated, ReportAnswer, ResolveReview, Reviewed};
use railgate::env::{Env as _, ManualEnv};
use railgate::ids::Ulid;
use railgate::ledger::Mode;
use railgate::lifecycle::{Resolution, ReversalStatus};
use railgate::money::Currency;
use railgate::rail::{FailureCode, RailAnswer};
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{
    Actor, AuditAction, AuditRecord, DeliveryRecord, EventType, Key, RecordKind, ReversalRecord, ReviewReason, ReviewRecord,
    SettlementRecord, Topic,
};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Scan, Store, Write, typed_all};
use railgate::{Config, Engine, Error, ErrorCode};

const DAY: i64 = 86_400_000;
const FULL: &str = "1000000.00";
const PAID: &str = "999990.00";
const EVIDENCE: &str = "Statement of 24 November, line 7";

/// A sandbox over each kind of store, with the file that it needs.
fn sandboxes() -> Vec<(Sandbox, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("reviews.db")).unwrap();
    let over = |store: Arc<dyn Store>| Sandbox::over(store, sealing(), 1);
    vec![(over(Arc::new(MemoryStore::new())), None), (over(Arc::new(sqlite)), Some(folder))]
}

fn all<T: TryFrom<railgate::store::record::Record, Error = railgate::store::record::Record>>(s: &Sandbox, kind: RecordKind) -> Vec<T> {
    typed_all(s.store.scan(&Scan::all(kind, usize::MAX)).unwrap()).unwrap()
}

fn record(s: &Sandbox, reference: &str) -> SettlementRecord {
    s.engine.settlement(&s.caller, &target(reference)).unwrap()
}

fn id(s: &Sandbox, reference: &str) -> Ulid {
    Ulid::parse(s.view(reference).id.strip_prefix("stl_").unwrap()).unwrap()
}

/// What waits now: reversal, reason and since when.
fn due(s: &Sandbox) -> Vec<(u16, ReviewReason, i64)> {
    let rows: Vec<ReviewRecord> = typed_all(s.store.scan(&Scan::reviews(s.env.now(), None, 10)).unwrap()).unwrap();
    rows.iter().map(|row| (row.child, row.reason, row.opened_at)).collect()
}

fn decision(s: &Sandbox, reversal: Option<u16>, resolution: Resolution) -> Operated<ResolveReview> {
    Operated(ResolveReview { settlement: id(s, "r"), reversal, resolution, evidence: EVIDENCE.to_owned(), expected: None })
}

fn resolve(s: &Sandbox, reversal: Option<u16>, resolution: Resolution) -> Result<Reviewed, Error> {
    s.engine.run(decision(s, reversal, resolution))
}

fn refused(s: &Sandbox, reversal: Option<u16>, resolution: Resolution) -> (ErrorCode, String) {
    let error = resolve(s, reversal, resolution).unwrap_err();
    (error.code, error.to_string())
}

/// A rail's answer that nobody asked for.
fn report(engine: &Engine, subject: Subject, answer: RailAnswer) -> Result<(), Error> {
    engine.run(ReportAnswer { subject, answer, lease: None })
}

fn declined() -> RailAnswer {
    RailAnswer::Declined { code: FailureCode::Other, elsewhere_ok: false, rail_code: None }
}

/// The books are sound, and the queue has a row for each flag and no other.
fn assert_sound(s: &Sandbox) {
    s.assert_sound();
    let rows: Vec<ReviewRecord> = all(s, RecordKind::Review);
    for settlement in all::<SettlementRecord>(s, RecordKind::Settlement) {
        let has_row = rows.iter().any(|row| row.settlement == settlement.no);
        assert_eq!(settlement.needs_review, has_row, "{settlement:?} {rows:?}");
    }
    for reversal in all::<ReversalRecord>(s, RecordKind::Reversal) {
        let has_row = rows.iter().any(|row| (row.settlement, row.child) == (reversal.settlement, reversal.n));
        assert_eq!(reversal.needs_review, has_row, "{reversal:?} {rows:?}");
    }
}

/// A payment of which nobody knows for a day whether it was carried out.
fn nobody_knows(s: &Sandbox) {
    s.pay("r", "sim:timeout-never");
    s.pass(DAY - 60_000);
    assert_eq!(due(s), []);
    s.pass(2 * 3_600_000);
    assert_eq!((s.status("r"), s.view("r").needs_review), ("unknown", true));
    let waiting = due(s);
    assert!(matches!(waiting[..], [(0, ReviewReason::NoEndForADay, at)] if at > START + DAY - 60_000), "{waiting:?}");
    assert_sound(s);
}

/// A reversal of which nobody knows for a day whether it was carried out.
fn nobody_knows_of_the_reversal(s: &Sandbox) {
    s.pay("r", "sim:reverse-unknown");
    s.work();
    s.reverse("r", r#"{"amount":4}"#).unwrap();
    s.pass(DAY + 3_600_000);
    assert!(matches!(due(s)[..], [(1, ReviewReason::NoEndForADay, _)]));
    assert!(s.view("r").needs_review);
    assert_sound(s);
}

#[test]
fn a_confirmed_payment_is_posted_and_leaves_the_queue() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        let done = resolve(&s, None, Resolution::ConfirmedCompleted).unwrap();
        assert_eq!((done.settlement, done.client), (record(&s, "r").no, s.caller.client));
        assert_eq!((s.status("r"), s.view("r").needs_review), ("completed", false));
        assert_eq!(s.euros(), (PAID.into(), "0.00".into(), "0.00".into()));
        assert_eq!(s.trace("r")[s.trace("r").len() - 3..], ["settlement.reviewed", "attempt.answered", "settlement.completed"]);
        let events = s.events("r");
        let last = &events[events.len() - 3..];
        assert!(last.iter().all(|event| event.actor == Actor::Operator), "{last:?}");
        assert_eq!(last[0].data.get(), r#"{"resolution":"confirmed_completed"}"#);
        assert!(!serde_json::to_string(&events).unwrap().contains("Statement"), "the evidence is not for clients");
        assert_sound(&s);

        let trail: Vec<AuditRecord> = all(&s, RecordKind::Audit);
        let entry = trail.last().unwrap();
        assert_eq!((entry.action, entry.target, entry.client), (AuditAction::ResolveReview, done.settlement.0, s.caller.client));
        let detail = format!(r#"{{"evidence":"{EVIDENCE}","resolution":"confirmed_completed"}}"#);
        assert_eq!((entry.detail.as_deref(), entry.refused.as_deref()), (Some(detail.as_str()), None));

        let before = s.events("r").len();
        s.pass(7 * DAY);
        assert_eq!((s.events("r").len(), due(&s)), (before, vec![]), "nobody asks the rail any more");
    }
}

#[test]
fn a_payment_that_was_not_carried_out_gives_the_money_back() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        resolve(&s, None, Resolution::ConfirmedFailed).unwrap();
        assert_eq!((s.status("r"), s.view("r").needs_review), ("failed", false));
        assert_eq!(s.view("r").failure.unwrap().code, FailureCode::Other);
        assert_eq!(s.euros(), (FULL.into(), "0.00".into(), "0.00".into()));
        assert_sound(&s);
    }
}

#[test]
fn an_answer_that_contradicts_a_person_is_a_discrepancy_which_a_person_accepts() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        resolve(&s, None, Resolution::ConfirmedCompleted).unwrap();
        report(&s.engine, Subject::Attempt(record(&s, "r").no, 1), declined()).unwrap();
        assert_eq!((s.status("r"), s.view("r").needs_review, s.euros().0), ("completed", true, PAID.into()));
        assert_eq!(due(&s), [(0, ReviewReason::Discrepancy, s.env.now())]);
        assert_sound(&s);

        let (code, said) = refused(&s, None, Resolution::ConfirmedFailed);
        assert_eq!(code, ErrorCode::InvalidState);
        assert!(said.contains("the settlement is completed: confirmed_failed does not fit, only accept_discrepancy"), "{said}");
        assert_eq!(refused(&s, None, Resolution::KeepWaiting).0, ErrorCode::InvalidState);
        let before = s.events("r").len();
        resolve(&s, None, Resolution::AcceptDiscrepancy).unwrap();
        assert_eq!((s.status("r"), s.view("r").needs_review, due(&s)), ("completed", false, vec![]));
        assert_eq!((s.events("r").len(), s.trace("r").last()), (before + 1, Some(&"settlement.reviewed")));
        let (code, said) = refused(&s, None, Resolution::AcceptDiscrepancy);
        assert_eq!(code, ErrorCode::ReviewNotFound);
        assert!(said.contains("does not wait for a person"), "{said}");
        assert_sound(&s);
    }
}

#[test]
fn what_is_put_off_comes_back_after_a_day() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        let opened = due(&s);
        assert_eq!(refused(&s, None, Resolution::AcceptDiscrepancy).0, ErrorCode::InvalidState);
        for _ in 0..2 {
            resolve(&s, None, Resolution::KeepWaiting).unwrap();
            assert_eq!((s.status("r"), s.view("r").needs_review, due(&s)), ("unknown", true, vec![]));
            assert_eq!(s.trace("r").last(), Some(&"settlement.reviewed"));
            assert_sound(&s);
            s.pass(DAY - 1);
            assert_eq!(due(&s), []);
            s.pass(1);
            assert_eq!(due(&s), opened, "it still knows since when it waits");
        }
        // Also what was put off can be decided at any time.
        resolve(&s, None, Resolution::KeepWaiting).unwrap();
        resolve(&s, None, Resolution::ConfirmedFailed).unwrap();
        assert_sound(&s);
    }
}

#[test]
fn proof_that_arrives_by_itself_empties_the_queue() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        report(&s.engine, Subject::Attempt(record(&s, "r").no, 1), RailAnswer::Completed { rail_reference: None }).unwrap();
        assert_eq!((s.status("r"), s.view("r").needs_review, due(&s)), ("completed", false, vec![]));
        assert_sound(&s);
        assert_eq!(refused(&s, None, Resolution::ConfirmedFailed).0, ErrorCode::ReviewNotFound);
        assert_eq!(s.euros().0, PAID);
    }
    for (s, _folder) in sandboxes() {
        nobody_knows_of_the_reversal(&s);
        report(&s.engine, Subject::Reversal(record(&s, "r").no, 1), declined()).unwrap();
        assert_eq!((s.status("r"), s.view("r").needs_review, due(&s)), ("completed", false, vec![]));
        assert_sound(&s);
    }
}

#[test]
fn a_payment_that_two_providers_made_is_reviewed_although_its_outcome_is_known() {
    for (s, _folder) in sandboxes() {
        s.pay("r", "sim:failover");
        // The first provider declines it; before the second one is tried, the first reports that it paid after all.
        assert_eq!(s.engine.work(1, &()).unwrap(), 1);
        assert_eq!(record(&s, "r").attempts, 1);
        let no = record(&s, "r").no;
        report(&s.engine, Subject::Attempt(no, 1), RailAnswer::Completed { rail_reference: None }).unwrap();
        assert!(s.view("r").needs_review);
        s.work();
        assert_eq!((s.status("r"), s.view("r").needs_review), ("completed", true), "it was paid twice");
        assert!(matches!(due(&s)[..], [(0, ReviewReason::Discrepancy, _)]));
        assert_sound(&s);
        assert_eq!(refused(&s, None, Resolution::ConfirmedFailed).0, ErrorCode::InvalidState);
        resolve(&s, None, Resolution::AcceptDiscrepancy).unwrap();
        assert_eq!((due(&s), s.view("r").needs_review), (vec![], false));
        assert_sound(&s);
    }
}

#[test]
fn a_reversal_that_contradicts_itself_on_its_way_is_reviewed_although_its_outcome_is_known() {
    for (s, _folder) in sandboxes() {
        s.pay("r", "sim:ok");
        s.work();
        s.reverse("r", r#"{"amount":4}"#).unwrap();
        let subject = Subject::Reversal(record(&s, "r").no, 1);
        report(&s.engine, subject, RailAnswer::Returned { rail_code: None }).unwrap();
        assert!(matches!(due(&s)[..], [(1, ReviewReason::Discrepancy, _)]));
        s.work();
        assert_eq!((s.status("r"), s.view("r").needs_review), ("partially_reversed", true));
        assert!(matches!(due(&s)[..], [(1, ReviewReason::Discrepancy, _)]));
        assert_sound(&s);
        resolve(&s, Some(1), Resolution::AcceptDiscrepancy).unwrap();
        assert_eq!((due(&s), s.view("r").needs_review), (vec![], false));
        assert_sound(&s);
    }
}

#[test]
fn a_reversal_is_decided_by_its_number() {
    for (resolution, status, available) in
        [(Resolution::ConfirmedCompleted, "partially_reversed", "999994.00"), (Resolution::ConfirmedFailed, "completed", PAID)]
    {
        for (s, _folder) in sandboxes() {
            nobody_knows_of_the_reversal(&s);
            let (code, said) = refused(&s, None, Resolution::AcceptDiscrepancy);
            assert_eq!(code, ErrorCode::ReviewNotFound);
            assert!(said.contains("its reversal 1 waits"), "{said}");
            assert_eq!(refused(&s, Some(2), resolution).0, ErrorCode::ReversalNotFound);
            assert_eq!(refused(&s, Some(0), resolution).0, ErrorCode::ReversalNotFound);
            resolve(&s, Some(1), resolution).unwrap();
            assert_eq!((s.status("r"), s.view("r").needs_review, due(&s)), (status, false, vec![]));
            assert_eq!(s.euros(), (available.into(), "0.00".into(), "0.00".into()));
            let reviewed = s.events("r").into_iter().find(|event| event.kind == EventType::SettlementReviewed).unwrap();
            let reversal = s.engine.reversals(&record(&s, "r")).unwrap().remove(0).id;
            assert_eq!(reviewed.data.get(), format!(r#"{{"resolution":"{}","reversal":"{reversal}"}}"#, resolution.as_str()));
            assert_sound(&s);

            // The rail contradicts it afterwards.
            let late = if status == "completed" { RailAnswer::Completed { rail_reference: None } } else { declined() };
            report(&s.engine, Subject::Reversal(record(&s, "r").no, 1), late).unwrap();
            assert_eq!(due(&s), [(1, ReviewReason::Discrepancy, s.env.now())]);
            assert_sound(&s);
            resolve(&s, Some(1), Resolution::AcceptDiscrepancy).unwrap();
            assert_eq!((s.view("r").needs_review, s.euros().0.as_str()), (false, available));
            assert_sound(&s);
        }
    }
}

#[test]
fn a_contradiction_that_another_node_overtakes_is_not_lost() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), sealing(), 1);
    nobody_knows_of_the_reversal(&s);
    let store = Meddling::over(s.store.clone());
    let slow = Engine::open(store.clone(), s.env.clone(), sealing_of(2)).unwrap();
    let fast = Engine::open(s.store.clone(), s.env.clone(), sealing_of(3)).unwrap();
    let other = decision(&s, Some(1), Resolution::ConfirmedCompleted);
    store.before_commit(move || assert!(fast.run(other).is_ok()));
    report(&slow, Subject::Attempt(record(&s, "r").no, 1), declined()).unwrap();
    assert!(s.view("r").needs_review);
    assert!(matches!(due(&s)[..], [(0, ReviewReason::Discrepancy, _)]));
    assert_sound(&s);
}

#[test]
fn what_a_rail_calls_a_reversal_does_not_undo_what_another_node_learned_of_it() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), sealing(), 1);
    s.pay("r", "sim:reverse-unknown");
    s.work();
    s.reverse("r", r#"{"amount":4}"#).unwrap();
    s.work();
    let store = Meddling::over(s.store.clone());
    let slow = Engine::open(store.clone(), s.env.clone(), sealing_of(2)).unwrap();
    let fast = Engine::open(s.store.clone(), s.env.clone(), sealing_of(3)).unwrap();
    let subject = Subject::Reversal(record(&s, "r").no, 1);
    report(&s.engine, subject, RailAnswer::Accepted { rail_reference: None }).unwrap();
    store.before_commit(move || report(&fast, subject, RailAnswer::Completed { rail_reference: None }).unwrap());
    report(&slow, subject, RailAnswer::Accepted { rail_reference: Some("rail-7".to_owned()) }).unwrap();
    let reversal: ReversalRecord = all(&s, RecordKind::Reversal).remove(0);
    assert_eq!((reversal.status, s.status("r")), (ReversalStatus::Completed, "partially_reversed"));
    s.assert_sound();
}

#[test]
fn the_flag_stays_until_the_last_reason_is_gone() {
    for (s, _folder) in sandboxes() {
        nobody_knows_of_the_reversal(&s);
        report(&s.engine, Subject::Attempt(record(&s, "r").no, 1), declined()).unwrap();
        assert_eq!(due(&s).len(), 2);
        assert_sound(&s);
        resolve(&s, Some(1), Resolution::ConfirmedCompleted).unwrap();
        assert!(s.view("r").needs_review);
        assert_sound(&s);
        resolve(&s, None, Resolution::AcceptDiscrepancy).unwrap();
        assert!(!s.view("r").needs_review);
        assert_sound(&s);
    }
}

#[test]
fn what_was_refused_changes_nothing_and_is_in_the_audit_trail() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        for evidence in ["", "  ", "two\nlines", "hidden\u{202e}", &"x".repeat(501)] {
            let act = ResolveReview { evidence: evidence.to_owned(), ..decision(&s, None, Resolution::ConfirmedCompleted).0 };
            let error = s.engine.run(Operated(act)).unwrap_err();
            assert_eq!((error.code, &*error.fields[0].pointer), (ErrorCode::InvalidFields, "/evidence"), "{evidence:?}");
        }
        let stranger = ResolveReview { settlement: Ulid(7), ..decision(&s, None, Resolution::ConfirmedCompleted).0 };
        assert_eq!(s.engine.run(Operated(stranger)).unwrap_err().code, ErrorCode::SettlementNotFound);
        let outdated = ResolveReview { expected: Some(1), ..decision(&s, None, Resolution::ConfirmedCompleted).0 };
        assert_eq!(s.engine.run(Operated(outdated)).unwrap_err().code, ErrorCode::VersionConflict);
        let trail: Vec<AuditRecord> = all(&s, RecordKind::Audit);
        let refusals: Vec<_> = trail.iter().filter(|it| it.action == AuditAction::ResolveReview).map(|it| it.refused.as_deref()).collect();
        assert!(trail.iter().filter_map(|it| it.detail.as_ref()).all(|detail| detail.len() < 300), "{trail:?}");
        assert_eq!(refusals[5..], [Some("settlement_not_found"), Some("version_conflict")]);
        assert_eq!((s.status("r"), due(&s).len()), ("unknown", 1));
        assert_sound(&s);
    }
}

#[test]
fn of_two_decisions_one_counts() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        let (one, other) =
            together(&s.engine, decision(&s, None, Resolution::ConfirmedFailed), decision(&s, None, Resolution::ConfirmedCompleted));
        assert_eq!((one.is_ok(), other.unwrap_err().code), (true, ErrorCode::ReviewNotFound));
        assert_eq!((s.status("r"), s.euros().0.as_str()), ("failed", FULL));
        assert_sound(&s);
    }
    // At two nodes at the same time, and against the rail.
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        let start = Arc::new(Barrier::new(3));
        let act = decision(&s, None, Resolution::ConfirmedCompleted).0;
        let race = |seed: u64, resolution: Option<Resolution>| {
            let (start, store, now, no) = (start.clone(), s.store.clone(), s.env.now(), record(&s, "r").no);
            let act = resolution.map(|resolution| Operated(ResolveReview { resolution, ..act.clone() }));
            std::thread::spawn(move || {
                let engine = Engine::open(store, Arc::new(ManualEnv::new(now, seed)), sealing_of(seed)).unwrap();
                start.wait();
                match act {
                    Some(act) => engine.run(act).map(drop),
                    None => report(&engine, Subject::Attempt(no, 1), RailAnswer::Completed { rail_reference: None }),
                }
            })
        };
        let threads = [race(2, Some(Resolution::ConfirmedCompleted)), race(3, Some(Resolution::ConfirmedFailed)), race(4, None)];
        let [one, other, rail] = threads.map(|thread| thread.join().unwrap());
        rail.unwrap();
        let counted = [&one, &other].into_iter().filter(|outcome| outcome.is_ok()).count();
        assert!(counted <= 1, "{one:?} {other:?}");
        for lost in [&one, &other].into_iter().filter_map(|outcome| outcome.as_ref().err()) {
            // A discrepancy that the rail caused meanwhile may wait by then, which nobody can confirm.
            assert!(matches!(lost.code, ErrorCode::ReviewNotFound | ErrorCode::InvalidState), "{lost:?}");
        }
        let expected = if other.is_ok() { ("failed", FULL) } else { ("completed", PAID) };
        assert_eq!((s.status("r"), s.euros().0.as_str()), expected);
        assert_sound(&s);
    }
}

fn sealing_of(owner: u64) -> Config {
    Config { owner: Some(owner as i64), ..sealing() }
}

#[test]
fn the_owner_is_told_and_nobody_else() {
    for (s, _folder) in sandboxes() {
        let others = [enroll(&s.engine, "Second"), enroll(&s.engine, "Third")];
        for caller in [s.caller, others[0], others[1]] {
            s.engine.run(new_hook(caller, None)).unwrap();
        }
        nobody_knows(&s);
        resolve(&s, None, Resolution::ConfirmedCompleted).unwrap();
        log_all(&s.engine);
        let told: Vec<DeliveryRecord> = all(&s, RecordKind::Delivery);
        let reviewed: Vec<_> = told.iter().filter(|it| it.topic == Topic::Event(EventType::SettlementReviewed)).collect();
        assert_eq!(reviewed.len(), 1);
        assert!(reviewed[0].body.contains(r#""status":"completed""#) && !reviewed[0].body.contains("Statement"), "{}", reviewed[0].body);
        for other in others {
            assert_eq!(s.engine.settlement(&other, &target("r")).unwrap_err().code, ErrorCode::SettlementNotFound);
            assert_eq!(s.engine.balance(&other, "EUR").unwrap().available.as_str(), FULL);
        }
    }
}

#[test]
fn the_queue_is_read_in_pages_across_clients() {
    for (s, _folder) in sandboxes() {
        let other = enroll(&s.engine, "Other");
        for n in 0..3 {
            s.pay(&format!("r{n}"), "sim:late-ok-after-fail");
            s.engine.run(support::create(&s.engine, other, &body(n))).unwrap();
            s.pass(60_000);
        }
        let mut seen: Vec<ReviewRecord> = Vec::new();
        loop {
            let after = seen.last().map(|row| (row.due, row.settlement, row.child));
            let page: Vec<ReviewRecord> = typed_all(s.store.scan(&Scan::reviews(s.env.now(), after, 2)).unwrap()).unwrap();
            if page.is_empty() {
                break;
            }
            seen.extend(page);
        }
        let whole: Vec<ReviewRecord> = typed_all(s.store.scan(&Scan::reviews(i64::MAX, None, 100)).unwrap()).unwrap();
        assert_eq!((seen.len(), &seen), (6, &whole));
        assert!(seen.is_sorted_by_key(|row| row.due));
        assert_sound(&s);
    }
}

fn body(n: i32) -> String {
    format!(r#"{{"amount":10.00,"currency":"EUR","to":"sim:late-ok-after-fail","reference":"o{n}"}}"#)
}

#[test]
fn maintenance_mends_what_a_program_without_a_queue_left() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        s.pay("other", "sim:ok");
        s.work();
        let (flagged, plain) = (record(&s, "r"), record(&s, "other"));
        let stale = ReviewRecord { settlement: plain.no, child: 0, reason: ReviewReason::Discrepancy, opened_at: 1, due: 1 };
        let writes = vec![Write::Delete(Key::Review((flagged.no, 0))), Write::Insert(stale.into())];
        s.store.commit(&Commit { writes }).unwrap();
        assert!(s.engine.reviews_page(true, None, 9).unwrap().data.is_empty());
        assert_eq!(s.engine.run(Maintain).unwrap(), 2);
        assert_sound(&s);
        assert_eq!(s.engine.run(Maintain).unwrap(), 0);
        // In the group in which somebody decides about it, too.
        s.store.commit(&Commit { writes: vec![Write::Delete(Key::Review((flagged.no, 0)))] }).unwrap();
        let (decided, mended) = together(&s.engine, decision(&s, None, Resolution::KeepWaiting), Maintain);
        assert_eq!((decided.is_ok(), mended.unwrap()), (true, 0));
        assert_sound(&s);
        // Even without a row, what is flagged can be decided, and what is cleared leaves nothing.
        s.store.commit(&Commit { writes: vec![Write::Delete(Key::Review((flagged.no, 0)))] }).unwrap();
        resolve(&s, None, Resolution::ConfirmedCompleted).unwrap();
        assert_eq!(s.status("r"), "completed");
        assert_sound(&s);
    }
}

#[test]
fn maintenance_in_the_group_of_a_decision_adds_nothing() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        resolve(&s, None, Resolution::ConfirmedCompleted).unwrap();
        report(&s.engine, Subject::Attempt(record(&s, "r").no, 1), declined()).unwrap();
        s.store.commit(&Commit { writes: vec![Write::Delete(Key::Review((record(&s, "r").no, 0)))] }).unwrap();
        let (decided, mended) = together(&s.engine, decision(&s, None, Resolution::AcceptDiscrepancy), Maintain);
        assert_eq!((decided.is_ok(), mended.unwrap()), (true, 0));
        assert_eq!((s.view("r").needs_review, due(&s)), (false, vec![]));
        assert_sound(&s);
    }
}

#[test]
fn maintenance_removes_a_reversal_whose_flag_is_gone_from_beside_its_settlement() {
    for (s, _folder) in sandboxes() {
        nobody_knows_of_the_reversal(&s);
        report(&s.engine, Subject::Attempt(record(&s, "r").no, 1), declined()).unwrap();
        assert_eq!(due(&s).len(), 2);
        let reversal: ReversalRecord = all(&s, RecordKind::Reversal).remove(0);
        let cleared = ReversalRecord { needs_review: false, ..reversal };
        s.store.commit(&Commit { writes: vec![Write::Replace(cleared.into())] }).unwrap();
        let shown = s.engine.reviews_page(true, None, 9).unwrap().data;
        assert_eq!(shown.iter().map(|it| it.reversal).collect::<Vec<_>>(), [None], "what is not flagged is not shown");
        assert_eq!(s.engine.run(Maintain).unwrap(), 1);
        assert!(matches!(due(&s)[..], [(0, ReviewReason::Discrepancy, _)]));
        assert_sound(&s);
    }
}

#[test]
fn what_is_opened_and_closed_in_one_group_leaves_no_row() {
    for (s, _folder) in sandboxes() {
        nobody_knows(&s);
        resolve(&s, None, Resolution::ConfirmedCompleted).unwrap();
        s.pay("other", "sim:timeout-never");
        s.work();
        let contradiction = ReportAnswer { subject: Subject::Attempt(record(&s, "r").no, 1), answer: declined(), lease: None };
        let (told, decided) = together(&s.engine, contradiction, decision(&s, None, Resolution::AcceptDiscrepancy));
        assert!(told.is_ok() && decided.is_ok(), "{decided:?}");
        assert_eq!((s.view("r").needs_review, due(&s)), (false, vec![]));
        assert_sound(&s);
    }
}

#[test]
fn what_a_person_sees_names_who_has_the_money() {
    let providers = ["first", "second"].map(|id| ProviderSpec::simulator(id, id)).to_vec();
    let s = Sandbox::over(Arc::new(MemoryStore::new()), Config { providers, ..sealing() }, 1);
    let told = |reference: &str| {
        let case = s.engine.case(id(&s, reference), None).unwrap();
        let attempts: Vec<_> = case.attempts.iter().map(|it| it.provider.clone()).collect();
        let of = |it: &CaseTransferView| (it.amount.clone(), it.debit.clone(), it.credit.clone(), it.resolves);
        (attempts, case.transfers.iter().map(of).collect::<Vec<_>>())
    };
    let client = format!("cli_{}", s.caller.client_id);
    let held = |by: &str, resolves| ("10.00".to_owned(), client.clone(), by.to_owned(), resolves);
    s.pay("r", "sim:failover");
    assert_eq!(told("r"), (vec![], vec![held("first", None)]), "nothing has left yet");
    s.work();
    let (attempts, transfers) = told("r");
    assert_eq!(attempts, ["first", "second"]);
    assert_eq!(transfers, [held("first", None), held("first", Some(1)), held("second", None), held("second", Some(3))]);
}

#[test]
fn the_queue_comes_in_pages_and_says_what_is_at_stake() {
    for (s, _folder) in sandboxes() {
        assert_eq!(s.engine.reviews_due(9).unwrap(), DueReviews::default());
        for (reference, amount) in [("a", 7), ("b", 10)] {
            s.create(&format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:timeout-never","reference":"{reference}"}}"#)).unwrap();
        }
        s.pass(60_000);
        s.pay("r", "sim:reverse-unknown");
        s.work();
        s.reverse("r", r#"{"amount":4}"#).unwrap();
        s.pass(2 * DAY);
        assert_eq!(due(&s).len(), 3);
        let pages = |limit| {
            let (mut cursor, mut pages) = (None, Vec::new());
            loop {
                let page = s.engine.reviews_page(false, cursor.as_deref(), limit).unwrap();
                pages.push(page.data.iter().map(|it| (it.reference.clone(), it.amount.as_str().to_owned())).collect::<Vec<_>>());
                assert_eq!(page.has_more, page.next_cursor.is_some());
                let Some(next) = page.next_cursor else { return pages };
                cursor = Some(next);
            }
        };
        let all = [("a", "7.00"), ("b", "10.00"), ("r", "4.00")].map(|(reference, amount)| (reference.to_owned(), amount.to_owned()));
        assert_eq!(pages(9), [all.to_vec()]);
        assert_eq!(pages(2), [all[..2].to_vec(), all[2..].to_vec()]);
        assert_eq!(pages(1).concat(), all);
        for wrong in ["", "x", "stl_x.0.1", "1.0.1"] {
            assert_eq!(s.engine.reviews_page(false, Some(wrong), 9).unwrap_err().code, ErrorCode::InvalidCursor, "{wrong:?}");
        }
        let stake = s.engine.reviews_due(9).unwrap();
        let oldest = due(&s).iter().map(|it| it.2).min();
        let euros = (Mode::Sandbox, Currency::from_code("EUR").unwrap());
        assert_eq!(stake, DueReviews { waiting: [(Mode::Sandbox, (3, oldest.unwrap()))].into(), at_stake: [(euros, 21_00)].into() });
    }
}

#[test]
fn an_operator_asks_the_rail_and_the_answer_counts() {
    for (s, _folder) in sandboxes() {
        s.pay("r", "sim:timeout-then-ok");
        s.work();
        assert_eq!(s.status("r"), "unknown");
        let asked = s.engine.ask_the_rail(id(&s, "r"), &()).unwrap();
        assert!(matches!(asked.answers[..], [(Subject::Attempt(_, 1), RailAnswer::Completed { .. })]), "{asked:?}");
        assert_eq!((asked.left_out, s.status("r")), (0, "completed"));
        let trail: Vec<AuditRecord> = all(&s, RecordKind::Audit);
        assert_eq!((trail.last().unwrap().action, trail.last().unwrap().target), (AuditAction::CheckSettlement, record(&s, "r").no.0));
        assert_eq!(s.engine.ask_the_rail(Ulid(7), &()).unwrap_err().code, ErrorCode::SettlementNotFound);
        assert_sound(&s);
    }
}

/// Writes what a database holds into the schema that the first migrations make.
fn as_of_migration(last: usize, from: &Path, to: &Path) {
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/migrations/sqlite");
    let mut files: Vec<_> = std::fs::read_dir(migrations).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    let database = rusqlite::Connection::open(to).unwrap();
    for file in &files[..last] {
        database.execute_batch(&std::fs::read_to_string(file).unwrap()).unwrap();
    }
    let names = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let tables = names("SELECT name FROM sqlite_schema WHERE type = 'table'");
    database.execute("ATTACH ?1 AS new", [from.to_str().unwrap()]).unwrap();
    for table in tables {
        let columns = |schema: &str| names(&format!("SELECT name FROM pragma_table_info('{table}', '{schema}')"));
        let (known, given) = (columns("main"), columns("new"));
        let kept = known.into_iter().filter(|column| given.contains(column)).collect::<Vec<_>>().join(", ");
        database.execute_batch(&format!("INSERT INTO main.{table} ({kept}) SELECT {kept} FROM new.{table}")).unwrap();
    }
    database
        .execute_batch(&format!(
            "CREATE TABLE migration AS SELECT * FROM new.migration WHERE no <= {last}; UPDATE reversal SET needs_review = 0;
             PRAGMA application_id = 0x52474154; PRAGMA user_version = {last};"
        ))
        .unwrap();
}

#[test]
fn a_database_of_before_brings_its_reviews() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    let s = Sandbox::over(Arc::new(SqliteStore::open(&path).unwrap()), sealing(), 1);
    s.pay("open", "sim:timeout-never");
    s.pay("late", "sim:late-ok-after-fail");
    s.pay("r", "sim:reverse-unknown");
    s.pay("fine", "sim:ok");
    s.work();
    s.reverse("r", "").unwrap();
    s.pass(DAY + 3_600_000);
    let expected: Vec<_> = due(&s).into_iter().map(|(child, reason, _)| (child, reason)).collect();
    assert_eq!(expected.len(), 3);
    let (env, caller) = (s.env.clone(), s.caller);
    drop(s);
    let old = folder.path().join("older.db");
    as_of_migration(8, &path, &old);
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&old).unwrap());
    let s = Sandbox { engine: Engine::open(store.clone(), env.clone(), sealing()).unwrap(), env, store, caller };
    let mut found: Vec<_> = due(&s).into_iter().map(|(child, reason, _)| (child, reason)).collect();
    found.sort_unstable();
    let mut wanted = expected;
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    assert_sound(&s);
    resolve(&s, Some(1), Resolution::ConfirmedCompleted).unwrap();
    assert_eq!((s.status("r"), s.view("r").needs_review), ("reversed", false));
    assert_sound(&s);
}
