//! Bundles of partners: from the draft over the review and the test to a provider that takes payments, and to its end.
#![cfg(all(feature = "bundles", feature = "sqlite", feature = "testkit"))]

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::receiver::new_hook;
use crate::support::{Sandbox, enroll, sealing};
use railgate::api::{BundleSummaryView, BundleView, Caller, CheckReport, ConformanceReport, EventDetails, SignedBy};
use railgate::auth::{Nonce, Signer, SoftwareKey};
use railgate::bundle::EXAMPLE;
use railgate::engine::{
    ActRequest, AskBundle, BundleAsk, BundleBy, BundleReader, BundleScope, BundleTest, BundleVerdict, DecideApproval, EnrollOperator,
    FourEyes, InviteOperator, LeaseTests, NumberEvents, Operate, Operated, Operation, OperatorBy, ReportTest, ReviewBundle, Signed,
    TestEnded, verify,
};
use railgate::env::Env as _;
use railgate::ids::{KeyNo, OperatorNo, SettlementNo, Ulid};
use railgate::ledger::Mode;
use railgate::lifecycle::BundleStatus;
use railgate::rail::{Carried, Carrier, HttpReply, HttpRequest, Rails};
use railgate::route::Availability;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{
    AuditAction, AuditRecord, BundlePartRecord, BundleRecord, BundleStepRecord, ConformanceStatus, DeliveryRecord, Key, OperatorAct,
    OperatorRole, Record, RecordKind, SignedWith, Topic,
};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Scan, Store, Write, typed, typed_all};
use railgate::validate::bundle::{BundleComment, BundleContent, parse_bundle};
use railgate::{Config, Engine, Error, ErrorCode};
use serde_json::{Value, json};

const MINUTE: i64 = 60_000;

fn config() -> Config {
    Config { rails: Rails::built_in(), owner: Some(1), ..sealing() }
}

fn over_each_store(test: impl Fn(&Sandbox)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("bundles.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for store in stores {
        test(&Sandbox::over(store, config(), 1));
    }
}

fn person(engine: &Engine, n: u8, role: OperatorRole, by: Option<OperatorNo>) -> OperatorBy {
    let invited = engine.run(Operated(InviteOperator { name: format!("Person {n}"), role, by, reason: None })).unwrap();
    let new = engine.run(EnrollOperator { code: invited.code, key: SoftwareKey::ed25519(&[n; 32]).public_key(), name: None }).unwrap();
    OperatorBy { no: new.operator.no, key: new.key.no }
}

/// A command as an operator signs it, with a nonce of its own.
fn signed<C>(by: OperatorBy, command: C) -> Signed<C> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    let nonce = Nonce { hash, expires_at: i64::MAX - 1 };
    Signed { by: SignedBy { client: by.no.party(), key: by.key, with: SignedWith::Key, nonce }, command }
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    result.unwrap_err().code
}

/// The example of the documentation, with changes.
fn content(change: impl Fn(&mut Value)) -> BundleContent {
    let mut body: Value = serde_json::from_str(EXAMPLE).unwrap();
    change(&mut body);
    parse_bundle(body.to_string().as_bytes()).unwrap()
}

/// A partner with a key, in a mode.
#[derive(Clone, Copy)]
struct Partner(Caller);

impl Partner {
    const KEY: KeyNo = KeyNo(77);

    fn write(self, s: &Sandbox, bundle: Option<(Ulid, Option<u32>)>, content: BundleContent) -> Result<Ulid, Error> {
        let written = s.engine.run(s.engine.read_bundle(&self.0, Self::KEY, bundle, content)?)?;
        Ok(written.id)
    }

    fn ask(self, s: &Sandbox, id: Ulid, ask: BundleAsk) -> Result<BundleStatus, Error> {
        let by = BundleBy::Partner(self.0, Self::KEY);
        Ok(s.engine.run(AskBundle { by, id, expected: None, ask, comment: None })?.status)
    }

    fn view(self, s: &Sandbox, id: Ulid) -> BundleView {
        s.engine.bundle(BundleReader::Partner(self.0), id).unwrap()
    }

    fn steps(self, s: &Sandbox, id: Ulid) -> Vec<String> {
        let steps = s.engine.bundle_timeline(BundleReader::Partner(self.0), id, 0, 1_000).unwrap().data;
        let numbers: Vec<u32> = steps.iter().map(|step| step.sequence).collect();
        assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>(), "no gaps");
        steps.iter().map(|step| step.kind.as_str().trim_start_matches("bundle.").to_owned()).collect()
    }
}

fn review(s: &Sandbox, by: OperatorBy, id: Ulid, verdict: BundleVerdict) -> Result<BundleStatus, Error> {
    let review = ReviewBundle { by, id, expected: None, verdict, comment: Some("seen".to_owned()) };
    Ok(s.engine.run(signed(by, review))?.status)
}

fn approve(s: &Sandbox, by: OperatorBy, partner: Partner, id: Ulid) -> Result<BundleStatus, Error> {
    let digest = partner.view(s, id).summary.digest;
    let mut bytes = [0; 32];
    for (n, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digest[2 * n..2 * n + 2], 16).unwrap();
    }
    review(s, by, id, BundleVerdict::Approve(bytes))
}

fn act(s: &Sandbox, by: OperatorBy, act: OperatorAct, id: Ulid, body: &Value) -> Result<Operation, Error> {
    let (subject, body) = (format!("bun_{id}"), body.to_string());
    let request = ActRequest { act, subject: &subject, body: body.as_bytes(), expected: None };
    s.engine.run(signed(by, Operate::read(&s.engine, by, request)?))
}

fn publish(s: &Sandbox, by: OperatorBy, id: Ulid, mode: &str) -> Result<Operation, Error> {
    act(s, by, OperatorAct::PublishBundle, id, &json!({"mode": mode, "reason": "contract signed"}))
}

fn lease(s: &Sandbox) -> Vec<BundleTest> {
    s.engine.run(LeaseTests { limit: 9 }).unwrap()
}

/// Makes the only test that is due, with this result.
fn tested(s: &Sandbox, ok: bool) -> BundleTest {
    let [test] = <[BundleTest; 1]>::try_from(lease(s)).unwrap();
    let check = CheckReport { check: "it pays".to_owned(), result: "failed".to_owned(), ..CheckReport::default() };
    let report = ConformanceReport { ok, failed: u32::from(!ok), checks: vec![check], ..ConformanceReport::default() };
    assert!(s.engine.run(ReportTest { bundle: test.bundle, until: test.until, ended: TestEnded::Reported(Box::new(report)) }).unwrap());
    s.engine.follow_setup().unwrap();
    test
}

/// A bundle that was reviewed and approved.
fn approved(s: &Sandbox, partner: Partner, reviewer: OperatorBy, change: impl Fn(&mut Value)) -> Ulid {
    let id = partner.write(s, None, content(change)).unwrap();
    partner.ask(s, id, BundleAsk::Submit).unwrap();
    tested(s, true);
    review(s, reviewer, id, BundleVerdict::StartReview).unwrap();
    assert_eq!(approve(s, reviewer, partner, id).unwrap(), BundleStatus::Approved);
    id
}

fn provider(s: &Sandbox, id: &str) -> Option<(Mode, Availability)> {
    let applied = s.engine.applied_providers();
    applied.iter().find(|it| it.spec.id == id).map(|it| (it.spec.mode, it.spec.availability))
}

fn told(s: &Sandbox) -> Vec<Topic> {
    let deliveries: Vec<DeliveryRecord> = typed_all(s.store.scan(&Scan::all(RecordKind::Delivery, usize::MAX)).unwrap()).unwrap();
    deliveries.iter().map(|it| it.topic).collect()
}

fn number(s: &Sandbox) {
    while s.engine.run(NumberEvents { limit: 100 }).unwrap().more {}
}

#[test]
fn what_is_changed_by_hand_is_found() {
    over_each_store(|s| {
        let partner = Partner(s.caller);
        let id = partner.write(s, None, content(|_| ())).unwrap();
        partner.ask(s, id, BundleAsk::Submit).unwrap();
        number(s);
        s.assert_sound();
        let bundle: BundleRecord = typed(s.store.scan(&Scan::last(RecordKind::Bundle)).unwrap().pop()).unwrap().unwrap();
        let step: BundleStepRecord = typed(s.store.get(&Key::BundleStep((bundle.no, 2))).unwrap()).unwrap().unwrap();
        let part: BundlePartRecord = typed(s.store.get(&Key::BundlePart((bundle.no, 1, 0))).unwrap()).unwrap().unwrap();
        let changes: [(Record, &[&str]); 4] = [
            (BundleStepRecord { comment: Some("approved by phone".to_owned()), ..step.clone() }.into(), &["step_differs"]),
            (BundleStepRecord { to: BundleStatus::Approved, ..step.clone() }.into(), &["step_differs", "state_differs"]),
            (BundleRecord { status: BundleStatus::Approved, ..bundle.clone() }.into(), &["state_differs"]),
            (BundlePartRecord { digest: [7; 32], ..part.clone() }.into(), &["step_differs", "step_differs", "bundle_content"]),
        ];
        let replace = |record: Record| {
            let write = match record {
                Record::Bundle(record) => {
                    let read = typed::<BundleRecord>(s.store.get(&Key::Bundle(bundle.no)).unwrap()).unwrap().unwrap().version;
                    Write::Update { record: BundleRecord { version: read.next(), ..record }.into(), expected: read.into() }
                }
                other => Write::Replace(other),
            };
            s.store.commit(&Commit { writes: vec![write] }).unwrap();
        };
        for (change, expected) in changes {
            replace(change);
            let report = verify::verify(&*s.store, &mut |_| {}).unwrap();
            assert_eq!(report.problems.iter().map(|it| it.code).collect::<Vec<_>>(), expected);
            [step.clone().into(), bundle.clone().into(), part.clone().into()].into_iter().for_each(replace);
        }
        // The same with a draft that was replaced, whose content is not kept.
        let draft = partner.write(s, None, content(|_| ())).unwrap();
        partner.write(s, Some((draft, None)), content(|body| body["manifest"]["name"] = json!("Acme"))).unwrap();
        let other: BundleRecord = typed(s.store.scan(&Scan::last(RecordKind::Bundle)).unwrap().pop()).unwrap().unwrap();
        let made: BundleStepRecord = typed(s.store.get(&Key::BundleStep((other.no, 1))).unwrap()).unwrap().unwrap();
        assert!(s.store.get(&Key::BundlePart((other.no, 1, 0))).unwrap().is_none());
        s.assert_sound();
        replace(BundleStepRecord { comment: Some("approved by phone".to_owned()), ..made.clone() }.into());
        let report = verify::verify(&*s.store, &mut |_| {}).unwrap();
        assert_eq!(report.problems.iter().map(|it| it.code).collect::<Vec<_>>(), ["step_differs"]);
        replace(made.into());

        let event = Key::Event((SettlementNo(bundle.no), 2));
        s.store.commit(&Commit { writes: vec![Write::Delete(event)] }).unwrap();
        let report = verify::verify(&*s.store, &mut |_| {}).unwrap();
        let codes: Vec<&str> = report.problems.iter().map(|it| it.code).collect();
        assert!(codes.contains(&"trail_head") && codes.contains(&"feed_without_event"), "{codes:?}");
    });
}

#[test]
fn a_bundle_becomes_a_provider_and_every_step_is_on_its_timeline_and_told() {
    over_each_store(|s| {
        let (partner, reviewer) = (Partner(s.caller), person(&s.engine, 1, OperatorRole::Agent, None));
        s.engine.run(new_hook(s.caller, None)).unwrap();
        let id = partner.write(s, None, content(|body| body["manifest"]["name"] = json!("Acme"))).unwrap();
        partner.write(s, Some((id, Some(1))), content(|_| ())).unwrap();
        assert_eq!(code(partner.write(s, Some((id, Some(1))), content(|_| ()))), ErrorCode::VersionConflict);
        let view = partner.view(s, id);
        let parts = s.store.scan(&Scan::all(RecordKind::BundlePart, 99)).unwrap().len();
        assert_eq!((view.summary.revision, view.summary.version, parts), (2, 2, 2), "a revision that nobody saw is gone");
        assert_eq!(view.secrets.sandbox, ["callback_secret", "token"]);
        assert_eq!((view.documents.len(), view.documents[0].media_type.as_str()), (1, "text/plain; charset=utf-8"));
        let stored = format!("{:?}", s.store.scan(&Scan::all(RecordKind::Bundle, 9)).unwrap());
        assert!(!stored.contains("a-long-random-text") && !serde_json::to_string(&view).unwrap().contains("a-long-random-text"));

        assert_eq!(partner.ask(s, id, BundleAsk::Submit).unwrap(), BundleStatus::Submitted);
        assert_eq!(code(partner.write(s, Some((id, None)), content(|_| ()))), ErrorCode::InvalidState);
        review(s, reviewer, id, BundleVerdict::StartReview).unwrap();
        assert_eq!(code(approve(s, reviewer, partner, id)), ErrorCode::RequestInProgress, "its test has not ended");
        let test = tested(s, true);
        assert_eq!((test.provider.id.as_str(), test.provider.secrets.get("token")), ("acme-sandbox", Some("a-long-random-text")));
        assert_eq!(test.plan.amount.decimal(), "100.00");
        let comment = BundleComment { comment: "Really?".to_owned(), pointer: Some("/manifest/limits/KES/max".to_owned()) };
        let said = AskBundle { by: BundleBy::Operator(reviewer), id, expected: None, ask: BundleAsk::Comment(comment), comment: None };
        s.engine.run(signed(reviewer, said)).unwrap();
        review(s, reviewer, id, BundleVerdict::RequestChanges).unwrap();

        // Left out, the secrets stay.
        let smaller = content(|body| {
            body["manifest"]["limits"]["KES"]["max"] = json!(70_000);
            body["manifest"]["version"] = json!("1.0.1");
            body.as_object_mut().unwrap().remove("secrets");
        });
        partner.write(s, Some((id, None)), smaller).unwrap();
        let diff = s.engine.bundle_diff(BundleReader::Operator, id, None, None).unwrap();
        let changes: Vec<_> = diff.changes.iter().map(|it| (it.pointer.as_str(), it.after.as_ref().map(|raw| raw.get()))).collect();
        assert_eq!(changes, [("/manifest/limits/KES/max", Some("70000")), ("/manifest/version", Some("\"1.0.1\""))]);
        // However high the number is, no other revision is looked for; one that was not submitted is gone, even if its test was kept.
        for none in [u32::MAX, 4, 1] {
            assert_eq!(code(s.engine.bundle_diff(BundleReader::Operator, id, None, Some(none))), ErrorCode::BundleNotFound);
            assert_eq!(code(s.engine.bundle_diff(BundleReader::Operator, id, Some(none), None)), ErrorCode::BundleNotFound);
        }
        assert_eq!(s.engine.bundle_diff(BundleReader::Operator, id, None, Some(2)).unwrap().from, 0, "nothing before it is kept");
        partner.ask(s, id, BundleAsk::Submit).unwrap();
        tested(s, true);
        review(s, reviewer, id, BundleVerdict::StartReview).unwrap();
        assert_eq!(code(review(s, reviewer, id, BundleVerdict::Approve([0; 32]))), ErrorCode::VersionConflict);
        approve(s, reviewer, partner, id).unwrap();
        let signatures = partner.view(s, id).signatures;
        assert_eq!(signatures.iter().map(|it| it.role.as_str()).collect::<Vec<_>>(), ["partner", "reviewer"]);
        assert!(signatures.iter().all(|it| it.digest == partner.view(s, id).summary.digest) && signatures[1].key_id.is_some());

        assert_eq!(code(publish(s, reviewer, id, "live")), ErrorCode::InvalidState, "the sandbox comes first");
        assert!(matches!(publish(s, reviewer, id, "sandbox").unwrap(), Operation::Done { .. }));
        assert_eq!((provider(s, "acme-sandbox"), partner.view(s, id).summary.publishing), (None, Some(Mode::Sandbox)));
        tested(s, true);
        assert_eq!(provider(s, "acme-sandbox"), Some((Mode::Sandbox, Availability::Enabled)));
        assert_eq!(code(publish(s, reviewer, id, "live")), ErrorCode::ModeMismatch, "of a sandbox credential");
        act(s, reviewer, OperatorAct::RevokeBundle, id, &json!({"reason": "contract ended"})).unwrap();
        s.engine.follow_setup().unwrap();
        assert_eq!(provider(s, "acme-sandbox"), Some((Mode::Sandbox, Availability::Disabled)));

        let expected = "created edited submitted in_review tested commented changes_requested edited submitted tested in_review approved \
                        publication_asked tested published revoked";
        assert_eq!(partner.steps(s, id).join(" "), expected);
        number(s);
        let short = |name: &str| name.trim_start_matches("bundle.").to_owned();
        assert_eq!(told(s).iter().map(|topic| short(topic.as_str())).collect::<Vec<_>>().join(" "), expected);
        let logged = s.engine.feed(&s.caller, 0, 1_000).unwrap();
        assert_eq!(logged.iter().map(|it| short(it.event.kind.as_str())).collect::<Vec<_>>().join(" "), expected);
        let (mut last, mut actors) = (None, Vec::new());
        for (sequence, entry) in (1..).zip(logged) {
            let event = entry.event;
            assert_eq!((event.sequence, &event.prev, &event.reference), (sequence, &last, &format!("bun_{id}")));
            assert!(event.settlement_id.is_none());
            let EventDetails::BundleDetails(details) = event.details().unwrap() else { panic!("{:?}", event.kind) };
            assert_eq!(details.bundle.digest.len(), 64);
            (last, actors) = (event.hash, [actors, vec![event.actor.as_str()]].concat());
        }
        assert_eq!(
            actors.join(" "),
            "client client client operator system operator operator client client system operator operator \
            operator system system operator"
        );
        let audit: Vec<AuditRecord> = typed_all(s.store.scan(&Scan::all(RecordKind::Audit, usize::MAX)).unwrap()).unwrap();
        let mine = audit.iter().filter(|it| it.key == reviewer.key && it.refused.is_none()).map(|it| it.action);
        use AuditAction as A;
        let acts =
            [A::ReviewBundle, A::CommentBundle, A::ReviewBundle, A::ReviewBundle, A::ReviewBundle, A::PublishBundle, A::RevokeBundle];
        assert_eq!(mine.filter(|it| *it != A::EnrollOperator).collect::<Vec<_>>(), acts);
        s.assert_sound();
    });
}

#[test]
fn live_publication_needs_a_second_operator_and_a_new_version_takes_the_place_of_the_old_one() {
    over_each_store(|s| {
        let partner = Partner(Caller { mode: Mode::Live, ..s.caller });
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let id = approved(s, partner, ada, |_| ());
        publish(s, ada, id, "sandbox").unwrap();
        tested(s, true);
        let Operation::Asked(asked) = publish(s, ada, id, "live").unwrap() else { panic!("it is live at once") };
        assert!(lease(s).is_empty() && provider(s, "acme").is_none());
        let confirm = |by| s.engine.run(signed(by, DecideApproval { by, approval: asked.id, confirm: true, comment: None }));
        assert_eq!(code(confirm(ada)), ErrorCode::SecondOperatorRequired);
        confirm(bob).unwrap();
        tested(s, true);
        assert_eq!(provider(s, "acme"), Some((Mode::Live, Availability::Enabled)));
        let view = partner.view(s, id).summary;
        assert_eq!((view.status, view.published.sandbox, view.published.live), (BundleStatus::Published, true, true));
        let steps = s.engine.bundle_timeline(BundleReader::Operator, id, 0, 99).unwrap().data;
        let asked_for = steps.iter().rev().find(|it| it.kind.as_str() == "bundle.publication_asked").unwrap();
        assert!(asked_for.data.as_ref().unwrap().get().contains("opr_"), "who had asked for it");

        // The next version, in the sandbox at first: the old one stays live meanwhile.
        let next = approved(s, partner, bob, |body| body["manifest"]["version"] = json!("2.0.0"));
        publish(s, bob, next, "sandbox").unwrap();
        tested(s, true);
        let old = partner.view(s, id).summary;
        assert_eq!((old.status, old.published.sandbox, old.published.live), (BundleStatus::Published, false, true));
        let Operation::Asked(asked) = publish(s, bob, next, "live").unwrap() else { panic!("it is live at once") };
        let ada_may = s.engine.run(signed(ada, DecideApproval { by: ada, approval: asked.id, confirm: true, comment: None }));
        assert_eq!(code(ada_may), ErrorCode::InsufficientScope, "an agent confirms nothing");
        let eve = person(&s.engine, 3, OperatorRole::Approver, None);
        s.engine.run(signed(eve, DecideApproval { by: eve, approval: asked.id, confirm: true, comment: None })).unwrap();
        tested(s, true);
        assert_eq!(partner.view(s, id).summary.status, BundleStatus::Revoked, "superseded");
        assert_eq!(provider(s, "acme"), Some((Mode::Live, Availability::Enabled)));

        // Another partner cannot take the id.
        let thief = Partner(enroll(&s.engine, "Thief"));
        let theirs = approved(s, thief, ada, |_| ());
        assert!(thief.view(s, theirs).findings.iter().any(|it| it.code == "id_taken"));
        assert_eq!(code(publish(s, ada, theirs, "sandbox")), ErrorCode::InvalidState);
    });
}

#[test]
fn a_bundle_that_changes_the_routes_needs_whom_the_routes_need() {
    let four_eyes = FourEyes { routes: true, ..FourEyes::OFF };
    let s = Sandbox::over(Arc::new(MemoryStore::new()), Config { four_eyes, ..config() }, 1);
    let (partner, ada) = (Partner(s.caller), person(&s.engine, 1, OperatorRole::Agent, None));
    let id = approved(&s, partner, ada, |_| ());
    assert!(matches!(publish(&s, ada, id, "sandbox").unwrap(), Operation::Asked(_)));
    let alone = json!({"mode": "sandbox", "routes": false, "reason": "contract signed"});
    assert!(matches!(act(&s, ada, OperatorAct::PublishBundle, id, &alone).unwrap(), Operation::Done { .. }));
}

#[test]
fn a_failed_test_stops_approval_and_publication() {
    over_each_store(|s| {
        let (partner, reviewer) = (Partner(s.caller), person(&s.engine, 1, OperatorRole::Agent, None));
        let id = partner.write(s, None, content(|_| ())).unwrap();
        partner.ask(s, id, BundleAsk::Submit).unwrap();
        review(s, reviewer, id, BundleVerdict::StartReview).unwrap();
        tested(s, false);
        assert_eq!(code(approve(s, reviewer, partner, id)), ErrorCode::InvalidState);
        let found = s.engine.bundle_conformance(BundleReader::Partner(s.caller), id).unwrap();
        assert!(found.report.unwrap().get().contains("it pays") && found.status == Some(ConformanceStatus::Failed));
        assert_eq!(partner.ask(s, id, BundleAsk::Test).unwrap(), BundleStatus::InReview);
        assert_eq!(code(partner.ask(s, id, BundleAsk::Test)), ErrorCode::RequestInProgress);
        tested(s, true);
        approve(s, reviewer, partner, id).unwrap();
        publish(s, reviewer, id, "sandbox").unwrap();
        tested(s, false);
        let view = partner.view(s, id).summary;
        assert_eq!((view.status, view.publishing, provider(s, "acme-sandbox")), (BundleStatus::Approved, None, None));
        assert_eq!(partner.steps(s, id).last().unwrap(), "publication_failed");
        publish(s, reviewer, id, "sandbox").unwrap();
        tested(s, true);
        assert!(provider(s, "acme-sandbox").is_some());
    });
}

#[test]
fn a_test_outlives_its_host_and_is_not_begun_for_ever() {
    over_each_store(|s| {
        let partner = Partner(s.caller);
        let id = partner.write(s, None, content(|_| ())).unwrap();
        partner.ask(s, id, BundleAsk::Submit).unwrap();
        let other = Engine::open(s.store.clone(), s.env.clone(), Config { owner: Some(2), ..config() }).unwrap();
        let report = |engine: &Engine, test: &BundleTest, ended| engine.run(ReportTest { bundle: test.bundle, until: test.until, ended });
        let fine = || TestEnded::Reported(Box::new(ConformanceReport { ok: true, ..ConformanceReport::default() }));
        let first = lease(s).remove(0);
        assert!(other.run(LeaseTests { limit: 9 }).unwrap().is_empty());
        // A host that stops leaves it to the others at once; one that crashes when its lease ends.
        assert!(report(&s.engine, &first, TestEnded::Left).unwrap());
        let second = other.run(LeaseTests { limit: 9 }).unwrap().remove(0);
        assert!(!report(&s.engine, &first, fine()).unwrap(), "it is another host's by now");
        s.env.advance_to(second.until + 1);
        let third = lease(s).remove(0);
        assert!(!report(&other, &second, fine()).unwrap());
        s.env.advance_to(third.until + 1);
        lease(s);
        s.env.advance_to(s.env.now() + 11 * MINUTE);
        assert!(lease(s).is_empty(), "three began it and did not end it");
        assert_eq!(partner.view(s, id).summary.conformance, Some(ConformanceStatus::Failed));
        // Nobody wants the report of what was withdrawn.
        partner.ask(s, id, BundleAsk::Test).unwrap();
        let test = lease(s).remove(0);
        assert_eq!(partner.ask(s, id, BundleAsk::Withdraw).unwrap(), BundleStatus::Withdrawn);
        assert!(!report(&s.engine, &test, fine()).unwrap());
        assert_eq!(code(partner.ask(s, id, BundleAsk::Submit)), ErrorCode::InvalidState);
    });
}

#[test]
fn nobody_sees_or_decides_what_is_not_theirs_and_bounds_hold() {
    over_each_store(|s| {
        let (partner, stranger) = (Partner(s.caller), Partner(enroll(&s.engine, "Stranger")));
        let live = Partner(Caller { mode: Mode::Live, ..s.caller });
        let viewer = person(&s.engine, 1, OperatorRole::Viewer, None);
        let id = partner.write(s, None, content(|_| ())).unwrap();
        for other in [stranger, live] {
            assert_eq!(code(s.engine.bundle(BundleReader::Partner(other.0), id)), ErrorCode::BundleNotFound);
            assert_eq!(code(other.ask(s, id, BundleAsk::Submit)), ErrorCode::BundleNotFound);
            assert_eq!(code(other.write(s, Some((id, None)), content(|_| ()))), ErrorCode::BundleNotFound);
            assert!(s.engine.bundles(BundleReader::Partner(other.0), BundleScope::default(), None, 9).unwrap().data.is_empty());
        }
        partner.ask(s, id, BundleAsk::Submit).unwrap();
        assert_eq!(code(review(s, viewer, id, BundleVerdict::StartReview)), ErrorCode::InsufficientScope);
        let agent = person(&s.engine, 2, OperatorRole::Agent, None);
        let submit = AskBundle { by: BundleBy::Operator(agent), id, expected: None, ask: BundleAsk::Submit, comment: None };
        assert_eq!(code(s.engine.run(signed(agent, submit))), ErrorCode::SecondOperatorRequired);

        for _ in 1..20 {
            partner.write(s, None, content(|_| ())).unwrap();
        }
        assert_eq!(code(partner.write(s, None, content(|_| ()))), ErrorCode::TooManyBundles);
        let page = |cursor: Option<&str>| s.engine.bundles(BundleReader::Partner(s.caller), BundleScope::default(), cursor, 15).unwrap();
        let first = page(None);
        let rest = page(first.next_cursor.as_deref());
        let ids: Vec<&BundleSummaryView> = first.data.iter().chain(&rest.data).collect();
        assert!(ids.len() == 20 && !rest.has_more && ids.last().unwrap().id == format!("bun_{id}"));
        let all = s.engine.bundles(BundleReader::Operator, BundleScope { status: Some(BundleStatus::Submitted), client: None }, None, 9);
        assert_eq!(all.unwrap().data.len(), 1);
        // 11 documents of nearly 10 MiB are more than is kept for one client.
        let large = content(|body| body["documents"] = json!([]));
        let large = |n: u8| BundleContent {
            documents: vec![railgate::validate::bundle::BundleDocument {
                name: "large.pdf".to_owned(),
                content: [b"%PDF-".to_vec(), vec![n; 10_000_000]].concat(),
            }],
            ..large.clone()
        };
        let drafts: Vec<Ulid> = ids.iter().take(11).map(|it| Ulid::parse(&it.id[4..]).unwrap()).collect();
        for (n, draft) in (0..).zip(&drafts[..10]) {
            partner.write(s, Some((*draft, None)), large(n)).unwrap();
        }
        assert_eq!(code(partner.write(s, Some((drafts[10], None)), large(10))), ErrorCode::TooManyBundles);
    });
}

/// An operator that accepts payments, ends them when it may, and never answers about one.
#[derive(Default)]
struct Acme {
    silent_about: RefCell<Option<String>>,
    ends: Cell<bool>,
}

impl Carrier for Acme {
    fn carry(&self, request: &HttpRequest) -> Carried {
        if String::from_utf8_lossy(&request.body).contains(r#""reference":"lost""#) {
            *self.silent_about.borrow_mut() = Some(request.url.clone());
        }
        if self.silent_about.borrow().as_ref() == Some(&request.url) {
            return Carried::Lost;
        }
        let said = if self.ends.get() && request.method == "GET" { "completed" } else { "accepted" };
        Carried::Answered(HttpReply { status: 200, headers: Vec::new(), body: format!(r#"{{"status":"{said}"}}"#).into_bytes() })
    }
}

#[test]
fn a_revoked_bundle_gets_no_new_payments_and_what_is_under_way_ends_or_waits_for_a_person() {
    over_each_store(|s| {
        let (partner, reviewer) = (Partner(s.caller), person(&s.engine, 1, OperatorRole::Agent, None));
        let id = approved(s, partner, reviewer, |_| ());
        publish(s, reviewer, id, "sandbox").unwrap();
        tested(s, true);
        let pay = |reference: &str| {
            let to = "msisdn:+254700000001";
            let body = json!({"amount": "100.00", "currency": "KES", "to": to, "reference": reference, "provider": "acme-sandbox"});
            s.create(&body.to_string())
        };
        let acme = Acme::default();
        let pass = |steps: usize| {
            for _ in 0..steps {
                while s.engine.work(64, &acme).unwrap() > 0 {}
                s.env.advance_to(s.env.now() + 30 * MINUTE);
            }
        };
        pay("slow").unwrap();
        pay("lost").unwrap();
        pass(1);
        assert_eq!((s.status("slow"), s.status("lost")), ("submitted", "unknown"));
        act(s, reviewer, OperatorAct::RevokeBundle, id, &json!({"reason": "it answers wrongly"})).unwrap();
        s.engine.follow_setup().unwrap();
        assert_eq!(code(pay("new")), ErrorCode::NoRoute);
        pass(2);
        assert_eq!(s.status("slow"), "submitted", "it is followed");
        acme.ends.set(true);
        pass(50);
        assert_eq!(s.status("slow"), "completed");
        let lost = s.view("lost");
        assert_eq!((lost.status.as_str(), lost.needs_review), ("unknown", true), "whatever has no end waits for a person");
        s.assert_sound();
    });
}

#[test]
fn a_gateway_without_the_rail_says_so() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), Config { rails: Rails::sandbox(), ..config() }, 1);
    let refused = Partner(s.caller).write(&s, None, content(|_| ())).unwrap_err();
    let problems: Vec<_> = refused.fields.iter().map(|it| (&*it.pointer, &*it.code)).collect();
    assert_eq!(problems, [("/manifest/rail", "rail_unknown")]);
}
