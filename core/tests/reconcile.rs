//! A provider's statement against the settlements: what differs is found, waits for a person with the line as evidence, and is found
//! once.
#![cfg(all(feature = "reconcile", feature = "sqlite", feature = "testkit"))]

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::Arc;

use crate::support::{Sandbox, sealing, target};
use proptest::prelude::*;
use railgate::api::{ReconciliationView, StatementFindingView, Subject};
use railgate::engine::verify::verify;
use railgate::engine::{BeginReconciliation, Keep, KeepReconciled, LeaseTasks, Operated, ReportAnswer, ResolveReview, Statement};
use railgate::env::Env as _;
use railgate::ids::{OperatorNo, SettlementNo, Ulid};
use railgate::lifecycle::Resolution;
use railgate::rail::{FailureCode, RailAnswer};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{FindingKind, FindingRecord, MatchedBy, Record, RecordKind, ReviewReason, ReviewRecord, StatementFormat};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Scan, Store, Write, typed_all};
use railgate::time::rfc3339;
use railgate::{Config, Error, ErrorCode};
use sha2::{Digest as _, Sha256};

const DAY: i64 = 86_400_000;
const HOUR: i64 = 3_600_000;

/// The columns of the tables in these tests.
const COLUMNS: [(&str, &str); 6] = [
    ("statement_amount", "Amount"),
    ("statement_currency", "Currency"),
    ("statement_date", "Time"),
    ("statement_references", "Reference,Key"),
    ("statement_participant", "Party"),
    ("statement_entry", "Entry"),
];

fn config() -> Config {
    let mut config = sealing();
    for provider in &mut config.providers {
        provider.settings.extend(COLUMNS.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    config
}

fn sandboxes() -> Vec<(Sandbox, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("reconcile.db")).unwrap();
    let over = |store: Arc<dyn Store>| Sandbox::over(store, config(), 1);
    vec![(over(Arc::new(MemoryStore::new())), None), (over(Arc::new(sqlite)), Some(folder))]
}

/// A statement in memory.
struct Text(String);

impl Statement for Text {
    fn open(&mut self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(self.0.as_bytes()))
    }
}

/// A line of a table.
#[derive(Clone, Debug)]
struct Row {
    minor: i64,
    at: i64,
    reference: String,
    key: String,
    party: String,
    entry: String,
}

impl Row {
    /// The line that the provider writes about a payment that was carried out.
    fn of(s: &Sandbox, reference: &str) -> Self {
        let view = s.view(reference);
        Self {
            minor: -view.amount_minor.parse::<i64>().unwrap(),
            at: s.env.now(),
            reference: view.rail_reference.unwrap_or_default(),
            key: format!("{}-1", view.id.trim_start_matches("stl_")),
            party: view.to.split_once(':').unwrap().1.to_owned(),
            entry: format!("E-{reference}"),
        }
    }

    /// Four euros of it that came back, by what the operator calls them.
    fn back(s: &Sandbox, name: &str, key: &str) -> Self {
        let key = format!("{}-{key}", ulid(s, name));
        Self { minor: 400, reference: String::new(), key, entry: format!("R-{name}"), ..Self::of(s, name) }
    }

    fn unnamed(self) -> Self {
        Self { reference: String::new(), key: String::new(), ..self }
    }
}

fn table(rows: &[Row]) -> String {
    let mut out = "Time,Entry,Reference,Key,Party,Amount,Currency\n".to_owned();
    for Row { minor, at, reference, key, party, entry } in rows {
        let sign = if *minor < 0 { "-" } else { "" };
        let amount = format!("{sign}{}.{:02}", minor.abs() / 100, minor.abs() % 100);
        out.push_str(&format!("{},{entry},{reference},{key},{party},{amount},EUR\n", rfc3339(*at)));
    }
    out
}

/// The statement of two days around now: what was carried out now is well inside.
fn around(s: &Sandbox, rows: &[Row]) -> String {
    let edge = |at: i64, name: &str| Row {
        minor: 1,
        at,
        reference: name.to_owned(),
        key: String::new(),
        party: String::new(),
        entry: format!("{name} {at}"),
    };
    let mut all = vec![edge(s.env.now() - 2 * DAY, "begin")];
    all.extend(rows.iter().cloned());
    all.push(edge(s.env.now() + 2 * DAY, "end"));
    table(&all)
}

/// The kinds of the findings about a settlement or a reversal, or about nothing known, without those of the edges.
type Kinds = Vec<(FindingKind, Option<String>, Option<u16>)>;

fn run(s: &Sandbox, text: &str, again: bool) -> Result<(ReconciliationView, Vec<StatementFindingView>), Error> {
    let provider = "simulator";
    let digest = Sha256::digest(text).into();
    let mut statement = Text(text.to_owned());
    let is_made = s.engine.is_reconciled(provider, digest)? && !again;
    let read = if is_made { None } else { Some(s.engine.read_statement(provider, &mut statement)?) };
    let format = read.as_ref().map_or(StatementFormat::Csv, |read| read.format());
    let begin = BeginReconciliation { provider: provider.to_owned(), name: "s.csv".to_owned(), digest, format, by: OperatorNo(0), again };
    let begun = s.engine.run(Operated(begin))?;
    let made = match (begun.is_due, read) {
        (true, Some(read)) => s.engine.reconcile_statement(begun, read, &mut statement, &mut |step| s.engine.run(step))?,
        (_, _) => begun.run,
    };
    let view = s.engine.reconciliation_view(&made)?;
    let findings = s.engine.findings(&view.id, None, None, 100_000)?.data;
    Ok((view, findings))
}

fn kinds(findings: &[StatementFindingView]) -> Kinds {
    let is_edge = |it: &&StatementFindingView| {
        it.line.as_ref().is_some_and(|line| line.references.first().is_some_and(|name| name == "begin" || name == "end"))
    };
    let all = findings.iter().filter(|it| !is_edge(it)).map(|it| (it.kind, it.reference.clone(), it.reversal));
    all.collect()
}

fn compared(s: &Sandbox, rows: &[Row]) -> (ReconciliationView, Kinds) {
    let (view, findings) = run(s, &around(s, rows), false).unwrap();
    (view, kinds(&findings))
}

fn reviews(s: &Sandbox) -> Vec<(i64, u16, ReviewReason)> {
    let rows: Vec<ReviewRecord> = typed_all(s.store.scan(&Scan::all(RecordKind::Review, 9_999)).unwrap()).unwrap();
    rows.iter().map(|row| (row.settlement.0, row.child, row.reason)).collect()
}

fn no(s: &Sandbox, reference: &str) -> i64 {
    s.engine.settlement(&s.caller, &target(reference)).unwrap().no.0
}

fn ulid(s: &Sandbox, reference: &str) -> Ulid {
    Ulid::parse(s.view(reference).id.strip_prefix("stl_").unwrap()).unwrap()
}

fn resolve(s: &Sandbox, reference: &str, reversal: Option<u16>, resolution: Resolution) {
    let evidence = "the statement".to_owned();
    s.engine.run(Operated(ResolveReview { settlement: ulid(s, reference), reversal, resolution, evidence, expected: None })).unwrap();
}

fn paid(s: &Sandbox, names: &[&str]) {
    names.iter().for_each(|name| drop(s.pay(name, "msisdn:+254700000001")));
    s.work();
}

#[test]
fn a_statement_that_agrees_has_no_findings() {
    for (s, _folder) in sandboxes() {
        paid(&s, &["a", "b", "c"]);
        let rows = ["a", "b", "c"].map(|name| Row::of(&s, name));
        let (by_key, by_amount) = (Row { reference: String::new(), ..rows[1].clone() }, rows[2].clone().unnamed());
        let (view, kinds) = compared(&s, &[rows[0].clone(), by_key, by_amount]);
        assert_eq!(kinds, []);
        assert_eq!((view.lines, view.matched.rail_reference, view.matched.rail_key, view.matched.amount), (5, 1, 1, 1));
        assert_eq!((view.missing_here, view.missing_there, view.provider.as_str()), (2, 0, "simulator"), "only the two edges");
        assert_eq!(reviews(&s), []);
        s.assert_sound();
    }
}

#[test]
fn each_difference_is_found_and_waits_for_a_person() {
    for (s, _folder) in sandboxes() {
        paid(&s, &["missing", "differs", "twice", "fine"]);
        s.pay("open", "sim:timeout-never");
        s.pay("failed", "sim:decline-account_blocked");
        s.work();
        assert_eq!((s.status("open"), s.status("failed")), ("unknown", "failed"));
        let differs = Row { minor: -999, ..Row::of(&s, "differs") };
        let twice = Row { entry: "E-other".to_owned(), ..Row::of(&s, "twice") };
        let stranger = Row { reference: "X".to_owned(), key: String::new(), minor: -4_200, ..twice.clone() };
        let rows = [differs, Row::of(&s, "twice"), twice, Row::of(&s, "open"), Row::of(&s, "failed"), stranger, Row::of(&s, "fine")];
        let (view, findings) = run(&s, &around(&s, &rows), false).unwrap();
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(
            kinds(&findings),
            [
                (FindingKind::AmountDiffers, named("differs"), None),
                (FindingKind::DuplicateThere, named("twice"), None),
                (FindingKind::MissingHere, named("open"), None),
                (FindingKind::MissingHere, named("failed"), None),
                (FindingKind::MissingHere, None, None),
                (FindingKind::MissingThere, named("missing"), None),
            ]
        );
        assert_eq!((view.missing_here, view.missing_there, view.amount_differs, view.duplicate_there), (5, 1, 1, 1));
        let differing = findings.iter().find(|it| it.kind == FindingKind::AmountDiffers).unwrap();
        let line = differing.line.as_ref().unwrap();
        assert_eq!((line.line, line.amount.as_str(), differing.amount.as_ref().unwrap().as_str()), (3, "9.99", "10.00"));
        assert_eq!((differing.matched_by, differing.confidence, differing.waits), (Some(MatchedBy::RailReference), 100, true));
        let mut expected = vec![(no(&s, "open"), 0, ReviewReason::InStatement)];
        expected.extend(["missing", "differs", "twice", "failed"].map(|name| (no(&s, name), 0, ReviewReason::StatementDiffers)));
        expected.sort_unstable_by_key(|it| it.0);
        assert_eq!(reviews(&s), expected);
        assert!(s.view("missing").needs_review && !s.view("fine").needs_review);
        assert_eq!(s.trace("missing").last(), Some(&"settlement.discrepancy"));
        // Its owner is told that something is wrong, and not what the statement says.
        assert_eq!(s.events("open").last().unwrap().data.get(), r#"{"needs_review":true,"reason":"in_statement"}"#);
        let case = s.engine.case(ulid(&s, "open"), None).unwrap();
        assert_eq!((case.findings.len(), case.findings[0].line.as_ref().unwrap().entry.as_deref()), (1, Some("E-open")));
        s.assert_sound();
    }
}

#[test]
fn what_becomes_of_findings_afterwards_is_verified() {
    let (s, _folder) = sandboxes().swap_remove(0);
    paid(&s, &["missing"]);
    compared(&s, &[]);
    let codes = || verify(&*s.store, &mut |_| {}).unwrap().problems.into_iter().map(|it| it.code).collect::<Vec<_>>();
    assert_eq!(codes(), [""; 0]);
    let findings: Vec<FindingRecord> = typed_all(s.store.scan(&Scan::all(RecordKind::Finding, 9)).unwrap()).unwrap();
    let missing = findings.into_iter().find(|it| it.kind == FindingKind::MissingThere).unwrap();
    let change = |write| s.store.commit(&Commit { writes: vec![write] }).unwrap();
    change(Write::Replace(FindingRecord { settlement: SettlementNo(1), ..missing.clone() }.into()));
    assert_eq!(codes(), ["finding_without_settlement"]);
    change(Write::Delete(Record::from(missing).key()));
    assert_eq!(codes(), ["findings_differ"]);
}

#[test]
fn the_same_file_again_changes_nothing() {
    for (s, _folder) in sandboxes() {
        paid(&s, &["a", "b"]);
        let text = around(&s, &[Row::of(&s, "a")]);
        let (first, findings) = run(&s, &text, false).unwrap();
        assert_eq!(first.missing_there, 1);
        resolve(&s, "b", None, Resolution::AcceptDiscrepancy);
        let events = s.trace("b").len();
        let (second, same) = run(&s, &text, false).unwrap();
        assert_eq!((&second, same.len()), (&first, findings.len()));
        // Compared again on purpose, it is found again, but what a person decided stays decided.
        let (third, again) = run(&s, &text, true).unwrap();
        assert_ne!(third.id, first.id);
        assert_eq!((third.missing_there, kinds(&again)), (1, kinds(&findings)));
        assert_eq!((reviews(&s), s.trace("b").len(), s.view("b").needs_review), (vec![], events, false));
        let all = s.engine.reconciliations(Some("simulator"), None, 10).unwrap();
        assert_eq!(all.data.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), [third.id.as_str(), first.id.as_str()]);
        s.assert_sound();
    }
}

#[test]
fn a_person_who_has_the_line_moves_the_settlement() {
    for (s, _folder) in sandboxes() {
        s.pay("open", "sim:timeout-never");
        s.pay("other", "sim:timeout-never");
        s.work();
        compared(&s, &[Row::of(&s, "open"), Row::of(&s, "other")]);
        resolve(&s, "open", None, Resolution::ConfirmedCompleted);
        resolve(&s, "other", None, Resolution::ConfirmedFailed);
        assert_eq!((s.status("open"), s.status("other")), ("completed", "failed"));
        assert_eq!((reviews(&s), s.euros().0.as_str()), (vec![], "999990.00"));
        s.assert_sound();
    }
}

#[test]
fn proof_that_agrees_with_the_statement_ends_the_wait_and_proof_that_contradicts_it_does_not() {
    for (s, _folder) in sandboxes() {
        s.pay("agrees", "sim:timeout-never");
        s.pay("contradicts", "sim:timeout-never");
        s.work();
        compared(&s, &[Row::of(&s, "agrees"), Row::of(&s, "contradicts")]);
        let report = |name: &str, answer| {
            let subject = Subject::Attempt(s.engine.settlement(&s.caller, &target(name)).unwrap().no, 1);
            s.engine.run(ReportAnswer { subject, answer, lease: None }).unwrap();
        };
        report("agrees", RailAnswer::Completed { rail_reference: None });
        report("contradicts", RailAnswer::Declined { code: FailureCode::Other, elsewhere_ok: false, rail_code: None });
        assert_eq!((s.status("agrees"), s.status("contradicts")), ("completed", "failed"));
        assert_eq!(reviews(&s), [(no(&s, "contradicts"), 0, ReviewReason::StatementDiffers)]);
        s.assert_sound();
        resolve(&s, "contradicts", None, Resolution::AcceptDiscrepancy);
        assert_eq!(reviews(&s), []);
    }
}

#[test]
fn reversals_are_lines_of_their_own() {
    for (s, _folder) in sandboxes() {
        for (name, to) in [("done", "sim:ok"), ("open", "sim:reverse-unknown"), ("gone", "sim:ok")] {
            s.pay(name, to);
        }
        s.work();
        for name in ["done", "open", "gone"] {
            s.reverse(name, r#"{"amount":4}"#).unwrap();
        }
        s.work();
        let payments = ["done", "open", "gone"].map(|name| Row::of(&s, name));
        let mut rows = payments.to_vec();
        // By the reversal's key, and by that of the payment alone.
        rows.extend([Row::back(&s, "done", "1"), Row::back(&s, "open", "R1")]);
        let (view, kinds) = compared(&s, &rows);
        assert_eq!(
            kinds,
            [(FindingKind::MissingHere, Some("open".to_owned()), Some(1)), (FindingKind::MissingThere, Some("gone".to_owned()), Some(1))]
        );
        assert_eq!((view.matched.rail_reference, view.matched.rail_key), (3, 1));
        let (open, gone) = (no(&s, "open"), no(&s, "gone"));
        assert_eq!(reviews(&s), [(open, 1, ReviewReason::InStatement), (gone, 1, ReviewReason::StatementDiffers)]);
        s.assert_sound();
        resolve(&s, "open", Some(1), Resolution::ConfirmedCompleted);
        resolve(&s, "gone", Some(1), Resolution::AcceptDiscrepancy);
        assert_eq!((s.status("open"), reviews(&s)), ("partially_reversed", vec![]));
        s.assert_sound();
    }
}

#[test]
fn equal_reversals_in_different_statements_are_different_ones() {
    for (s, _folder) in sandboxes() {
        s.pay("p", "sim:ok");
        s.work();
        let back = |entry: &str| Row { entry: entry.to_owned(), ..Row::back(&s, "p", "1") };
        let paid = Row::of(&s, "p");
        let reverse = || {
            s.reverse("p", r#"{"amount":4}"#).unwrap();
            s.work();
        };
        reverse();
        let first = back("E-1");
        assert_eq!(compared(&s, &[paid, first.clone()]).1, []);
        s.pass(DAY);
        reverse();
        let text = around(&s, &[back("E-2")]);
        for again in [false, true] {
            assert_eq!(kinds(&run(&s, &text, again).unwrap().1), []);
        }
        // In whichever order a later one has both.
        s.pass(HOUR);
        assert_eq!(compared(&s, &[back("E-2"), first.clone()]).1, []);
        // No third one was asked for.
        s.pass(HOUR);
        let twice = (FindingKind::DuplicateThere, Some("p".to_owned()), Some(1));
        assert_eq!(compared(&s, &[back("E-3")]).1, [twice]);
        s.assert_sound();
    }
}

#[test]
fn proof_about_a_reversal_agrees_with_the_statement_or_contradicts_it() {
    for (s, _folder) in sandboxes() {
        let names = ["agrees", "contradicts", "decided"];
        names.iter().for_each(|name| drop(s.pay(name, "sim:reverse-unknown")));
        s.work();
        names.iter().for_each(|name| drop(s.reverse(name, r#"{"amount":4}"#).unwrap()));
        s.work();
        compared(&s, &names.iter().flat_map(|name| [Row::of(&s, name), Row::back(&s, name, "R1")]).collect::<Vec<_>>());
        assert_eq!(reviews(&s), names.map(|name| (no(&s, name), 1, ReviewReason::InStatement)));
        let report = |name: &str, answer| {
            let subject = Subject::Reversal(s.engine.settlement(&s.caller, &target(name)).unwrap().no, 1);
            s.engine.run(ReportAnswer { subject, answer, lease: None }).unwrap();
        };
        report("agrees", RailAnswer::Completed { rail_reference: None });
        report("contradicts", RailAnswer::Declined { code: FailureCode::Other, elsewhere_ok: false, rail_code: None });
        resolve(&s, "decided", Some(1), Resolution::ConfirmedFailed);
        assert_eq!(reviews(&s), [(no(&s, "contradicts"), 1, ReviewReason::StatementDiffers)]);
        resolve(&s, "contradicts", Some(1), Resolution::AcceptDiscrepancy);
        assert_eq!(reviews(&s), []);
        s.assert_sound();
    }
}

#[test]
fn a_reversal_that_gets_unclear_after_its_statement_still_waits_for_the_line() {
    for (s, _folder) in sandboxes() {
        s.pay("r", "sim:ok");
        s.work();
        s.reverse("r", r#"{"amount":4}"#).unwrap();
        // It is on its way.
        assert_eq!(s.engine.run(LeaseTasks::up_to(9)).unwrap().len(), 1);
        compared(&s, &[Row::of(&s, "r"), Row::back(&s, "r", "R1")]);
        assert_eq!(reviews(&s), [(no(&s, "r"), 1, ReviewReason::InStatement)]);
        let subject = Subject::Reversal(s.engine.settlement(&s.caller, &target("r")).unwrap().no, 1);
        s.engine.run(ReportAnswer { subject, answer: RailAnswer::Unknown, lease: None }).unwrap();
        assert_eq!(reviews(&s), [(no(&s, "r"), 1, ReviewReason::InStatement)]);
        s.assert_sound();
    }
}

#[test]
fn money_that_came_back_unasked_is_found() {
    for (s, _folder) in sandboxes() {
        paid(&s, &["a"]);
        let back = Row { minor: 1_000, entry: "E-back".to_owned(), ..Row::of(&s, "a") };
        let (_, kinds) = compared(&s, &[Row::of(&s, "a"), back]);
        assert_eq!(kinds, [(FindingKind::MissingHere, Some("a".to_owned()), None)]);
        assert_eq!(reviews(&s), [(no(&s, "a"), 0, ReviewReason::StatementDiffers)]);
        s.assert_sound();
    }
}

#[test]
fn what_is_near_the_edge_of_a_statement_is_in_one_of_two() {
    for (s, _folder) in sandboxes() {
        let start = s.env.now();
        paid(&s, &["first"]);
        s.pass(3 * DAY);
        paid(&s, &["late", "early", "lost"]);
        let [first, late, early] = ["first", "late", "early"].map(|name| Row::of(&s, name));
        let end = s.env.now();
        let mark =
            |at: i64| Row { minor: 1, at, reference: "begin".to_owned(), key: String::new(), party: String::new(), entry: at.to_string() };
        // The first statement ends just after the three; it has one of them.
        let one = [mark(start - 2 * DAY), Row { at: start, ..first }, Row { at: end, ..early.clone() }, mark(end + HOUR)];
        let (_, findings) = run(&s, &table(&one), false).unwrap();
        assert_eq!(kinds(&findings), [], "what was carried out last may be in the next statement");
        // The next one has another, and the early one again, as statements that overlap do.
        s.pass(DAY);
        let two = [mark(end + HOUR + 1), Row { at: end + 2 * HOUR, ..late }, early, mark(end + 3 * DAY)];
        let (view, findings) = run(&s, &table(&two), false).unwrap();
        assert_eq!(kinds(&findings), [(FindingKind::MissingThere, Some("lost".to_owned()), None)]);
        assert_eq!((view.matched.rail_reference, view.duplicate_there), (2, 0));
        s.assert_sound();
    }
}

#[test]
fn the_same_payment_in_two_statements_was_made_twice() {
    for (s, _folder) in sandboxes() {
        paid(&s, &["a"]);
        let row = Row::of(&s, "a");
        compared(&s, std::slice::from_ref(&row));
        s.pass(2 * DAY);
        let (_, kinds) = compared(&s, &[Row { at: s.env.now(), entry: "E-next".to_owned(), ..row }]);
        assert_eq!(kinds, [(FindingKind::DuplicateThere, Some("a".to_owned()), None)]);
        assert_eq!(reviews(&s), [(no(&s, "a"), 0, ReviewReason::StatementDiffers)]);
    }
}

#[test]
fn old_payments_are_found_by_key_and_strangers_keys_name_nothing() {
    for (s, _folder) in sandboxes() {
        paid(&s, &["old"]);
        let old = Row { reference: String::new(), ..Row::of(&s, "old") };
        s.pass(60 * DAY);
        let now = s.env.now();
        let forged = Row { key: format!("{}-1", Ulid(ulid(&s, "old").0 ^ 1)), party: String::new(), ..old.clone() };
        let (view, kinds) = compared(&s, &[Row { at: now, ..old.clone() }, Row { at: now, ..forged }]);
        assert_eq!((view.matched.rail_key, kinds), (1, vec![(FindingKind::MissingHere, None, None)]));
    }
}

#[test]
fn a_key_of_something_that_does_not_exist_names_nothing_and_hides_nothing() {
    for (s, _folder) in sandboxes() {
        paid(&s, &["a", "lost"]);
        let bogus = |name: &str, key: &str| Row {
            reference: String::new(),
            key: format!("{}-{key}", ulid(&s, name)),
            entry: format!("{name} {key}"),
            party: String::new(),
            ..Row::of(&s, name)
        };
        let rows = [Row::of(&s, "a"), bogus("a", "R9"), bogus("a", "9"), bogus("lost", "R1")];
        let (view, kinds) = compared(&s, &rows);
        let unknown = (FindingKind::MissingHere, None, None);
        let lost = (FindingKind::MissingThere, Some("lost".to_owned()), None);
        assert_eq!((view.matched.all(), kinds), (1, vec![unknown.clone(), unknown.clone(), unknown, lost]));
        s.assert_sound();
    }
}

#[test]
fn an_attempt_that_was_given_up_and_paid_all_the_same_is_found() {
    for (s, _folder) in sandboxes() {
        s.pay("a", "sim:failover");
        s.work();
        let record = s.engine.settlement(&s.caller, &target("a")).unwrap();
        assert_eq!((record.attempts, s.status("a")), (2, "completed"));
        let (_, kinds) = compared(&s, &[Row { reference: String::new(), ..Row::of(&s, "a") }]);
        assert_eq!(kinds, [(FindingKind::MissingHere, Some("a".to_owned()), None)]);
        assert_eq!(reviews(&s), [(record.no.0, 0, ReviewReason::StatementDiffers)]);
        s.assert_sound();
    }
}

#[test]
fn a_host_that_stopped_halfway_leaves_it_to_the_next_one() {
    for (s, _folder) in sandboxes() {
        paid(&s, &["a", "b", "c"]);
        let text = around(&s, &[Row::of(&s, "a")]);
        let digest: [u8; 32] = Sha256::digest(&text).into();
        let begin = || BeginReconciliation {
            provider: "simulator".to_owned(),
            name: "s.csv".to_owned(),
            digest,
            format: StatementFormat::Csv,
            by: OperatorNo(0),
            again: false,
        };
        // For each step that the work takes: it breaks there, without a word.
        let mut broken_at = 0;
        loop {
            let mut statement = Text(text.clone());
            let read = s.engine.read_statement("simulator", &mut statement).unwrap();
            let begun = s.engine.run(begin()).unwrap();
            let mut steps = 0;
            let mut keep = |step: KeepReconciled| {
                steps += 1;
                if steps > broken_at { Err(Error::new(ErrorCode::StoreUnavailable)) } else { s.engine.run(step) }
            };
            if s.engine.reconcile_statement(begun, read, &mut statement, &mut keep).is_ok() {
                break;
            }
            assert_eq!(s.engine.run(begin()).unwrap_err().code, ErrorCode::RequestInProgress, "it may still be on its way");
            s.pass(HOUR);
            broken_at += 1;
        }
        assert!(broken_at > 3, "{broken_at}");
        let (view, findings) = run(&s, &text, false).unwrap();
        assert_eq!((view.missing_there, view.missing_here, findings.len()), (2, 2, 4));
        assert_eq!(reviews(&s).len(), 2);
        assert_eq!(s.trace("b").iter().filter(|it| **it == "settlement.discrepancy").count(), 1, "told once");
        s.assert_sound();
    }
}

#[test]
fn only_one_host_makes_it() {
    for (s, _folder) in sandboxes() {
        paid(&s, &["a"]);
        let mut statement = Text(around(&s, &[]));
        let digest: [u8; 32] = Sha256::digest(&statement.0).into();
        let read = s.engine.read_statement("simulator", &mut statement).unwrap();
        let begin = BeginReconciliation {
            provider: "simulator".to_owned(),
            name: String::new(),
            digest,
            format: StatementFormat::Csv,
            by: OperatorNo(0),
            again: false,
        };
        let begun = s.engine.run(begin.clone()).unwrap();
        let other = BeginReconciliation { digest: [7; 32], ..begin.clone() };
        assert_eq!(s.engine.run(other).unwrap_err().code, ErrorCode::RequestInProgress, "one after the other");
        s.pass(HOUR);
        let taken = s.engine.run(begin).unwrap();
        assert_eq!((taken.is_due, taken.run.no), (true, begun.run.no));
        let outrun = s.engine.reconcile_statement(begun, read, &mut statement, &mut |step| s.engine.run(step));
        assert_eq!(outrun.unwrap_err().code, ErrorCode::RequestInProgress);
        let stale = KeepReconciled { run: taken.run.no, expected: taken.run.version, what: Keep::Left };
        s.engine.run(stale).unwrap();
        assert_eq!(s.engine.reconciliations(None, None, 9).unwrap().data.len(), 0, "nothing was kept of it");
    }
}

#[test]
fn files_that_are_no_statements_are_refused_with_the_place() {
    let (s, _folder) = sandboxes().remove(0);
    let refused = |text: &str| {
        let error = run(&s, text, false).map(drop).unwrap_err();
        assert_eq!((error.code, error.fields.len()), (ErrorCode::StatementUnusable, 1), "{text}");
        (error.fields[0].pointer.clone(), error.fields[0].message.clone())
    };
    let head = "Time,Entry,Reference,Key,Party,Amount,Currency\n";
    let good = "2026-11-21,E,R,K,P,-1.00,EUR\n";
    assert_eq!(refused("").0, "byte 0");
    assert_eq!(refused("a,b\n"), ("line 1".to_owned(), "there is no column \"Amount\"".to_owned()));
    assert_eq!(refused(&format!("{head}{good}2026-11-21,E,R,K,P,-1.00\n")).0, "line 3");
    assert_eq!(refused(&format!("{head}{good}2026-13-21,E,R,K,P,-1.00,EUR\n")).0, "line 3");
    assert_eq!(refused(&format!("{head}{good}2026-11-21,E,R,K,P,-1.005,EUR\n")).0, "line 3");
    assert_eq!(refused(&format!("{head}{good}2026-11-21,E,R,K,P,-1.00,EURO\n")).0, "line 3");
    let long = format!("{head}{good}2026-11-21,E,{},K,P,-1.00,EUR\n", "x".repeat(100_000));
    assert_eq!(refused(&long), ("line 3".to_owned(), "a row may have at most 65536 bytes".to_owned()));
    assert!(refused("\u{feff}").1.contains("empty"));
    assert!(refused("\0T\0i").1.contains("UTF-8"));
    assert_eq!(s.engine.reconciliations(None, None, 9).unwrap().data, []);
    let unknown = s.engine.read_statement("nobody", &mut Text(String::new())).map(drop).unwrap_err();
    assert_eq!(unknown.code, ErrorCode::ProviderNotFound);
}

/// What is wrong with one payment in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Missing,
    Differs,
    Twice,
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![6 => Just(Fault::None), 1 => Just(Fault::Missing), 1 => Just(Fault::Differs), 1 => Just(Fault::Twice)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_statement_with_faults_has_exactly_these(
        faults in prop::collection::vec((fault(), 0..3u8), 1..30),
        strangers in 0..3usize,
        seed in any::<u64>(),
    ) {
        let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), seed);
        let mut expected = Kinds::new();
        let mut rows = Vec::new();
        for (n, (fault, naming)) in faults.iter().enumerate() {
            let name = format!("p{n}");
            // Each payment has an amount of its own, so that it can be told from others by that.
            let body = format!(r#"{{"amount":{}.50,"currency":"EUR","to":"msisdn:+2547000000{n:02}","reference":"{name}"}}"#, n + 1);
            s.create(&body).unwrap();
            s.work();
            let full = Row::of(&s, &name);
            let row = match naming {
                0 => full,
                1 => Row { reference: String::new(), ..full },
                // Without a name, only what agrees can be found.
                _ if *fault == Fault::None => full.unnamed(),
                _ => full,
            };
            let found = |kind| (kind, Some(name.clone()), None);
            match fault {
                Fault::None => rows.push(row),
                Fault::Missing => expected.push(found(FindingKind::MissingThere)),
                Fault::Differs => {
                    expected.push(found(FindingKind::AmountDiffers));
                    rows.push(Row { minor: row.minor - 1, ..row });
                }
                Fault::Twice => {
                    expected.push(found(FindingKind::DuplicateThere));
                    rows.push(row.clone());
                    rows.push(Row { entry: format!("again {n}"), ..row });
                }
            }
        }
        for n in 0..strangers {
            expected.push((FindingKind::MissingHere, None, None));
            let (reference, entry) = (format!("X{n}"), format!("S{n}"));
            rows.push(Row { minor: -7, at: s.env.now(), reference, key: String::new(), party: String::new(), entry });
        }
        let (view, mut kinds) = compared(&s, &rows);
        let order = |it: &(FindingKind, Option<String>, Option<u16>)| (it.0.code(), it.1.clone());
        kinds.sort_by_key(order);
        expected.sort_by_key(order);
        prop_assert_eq!(kinds, expected);
        let known = faults.iter().filter(|(fault, _)| matches!(fault, Fault::None | Fault::Twice)).count();
        prop_assert_eq!(view.matched.all() as usize, known);
        s.assert_sound();
    }
}

#[test]
fn settings_are_checked_when_a_provider_is_configured() {
    let parse = |settings: &[(&str, &str)]| {
        let settings: BTreeMap<&str, &str> = settings.iter().copied().collect();
        let body = serde_json::json!({ "id": "p", "name": "P", "rail": "simulator", "mode": "sandbox", "settings": settings });
        let parsed = railgate::validate::provider::parse_provider(body.to_string().as_bytes(), &railgate::rail::Rails::built_in());
        parsed.map(drop).map_err(|error| error.into_fields().into_iter().map(|it| it.pointer).collect::<Vec<_>>())
    };
    assert_eq!(parse(&COLUMNS), Ok(()));
    assert_eq!(parse(&[("anything", "else"), ("statement_account", "7"), ("statement_grace_hours", "48")]), Ok(()));
    let wrong = [("statement_amont", "A"), ("statement_currency", "=EURO"), ("statement_grace_hours", "x")];
    let pointers = ["grace_hours", "amount", "currency", "date", "amont"].map(|name| format!("/settings/statement_{name}"));
    assert_eq!(parse(&wrong), Err(pointers.into()));
}
