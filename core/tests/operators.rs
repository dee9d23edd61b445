//! The people who run the gateway: who may do what, and who has to confirm it.

use crate::support;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use crate::plain_rail::{PlainRail, provider};
use crate::support::{START, Sandbox, sealing};
use railgate::api::{Caller, SignedBy};
use railgate::auth::{Nonce, PublicKey, Scope, Signer, SoftwareKey};
use railgate::engine::{
    ActRequest, Acted, ChangeRole, DecideApproval, Decided, EnrollLive, EnrollOperator, FourEyes, InviteOperator, Maintain, Operate,
    Operated, Operation, OperatorBy, RevokeOperator, Signed, Slot,
};
use railgate::env::Env;
use railgate::ids::{ClientNo, OperatorNo, Ulid};
use railgate::ledger::Mode;
use railgate::rail::Rails;
use railgate::rail::simulator::Simulator;
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{
    ApprovalRecord, ApprovalStatus, AuditAction, AuditRecord, Key, OperatorAct, OperatorRole, OperatorStatus, RecordKind, SignedWith,
};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store, typed, typed_all};
use railgate::time::rfc3339;
use railgate::{Config, Engine, Error, ErrorCode};
use serde_json::{Value, json};

const DAY: i64 = 86_400_000;

fn config() -> Config {
    let live = ProviderSpec { mode: Mode::Live, ..provider("acme", "https://acme.example") };
    let play = ProviderSpec::new("play", "Play", Mode::Sandbox, &Simulator);
    Config { providers: vec![live, play], rails: Rails::built_in().with(PlainRail), ..sealing() }
}

fn over_each_store(test: impl Fn(&Sandbox)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("operators.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for store in stores {
        test(&Sandbox::over(store, config(), 1));
    }
}

fn key(n: u8) -> PublicKey {
    SoftwareKey::ed25519(&[n; 32]).public_key()
}

/// Invites somebody, on the store itself or as an operator, and enrols their key.
fn person(engine: &Engine, n: u8, role: OperatorRole, by: Option<OperatorNo>) -> OperatorBy {
    let invited = engine.run(Operated(InviteOperator { name: format!("Person {n}"), role, by, reason: None })).unwrap();
    let new = engine.run(EnrollOperator { code: invited.code, key: key(n), name: None }).unwrap();
    OperatorBy { no: new.operator.no, key: new.key.no }
}

fn operate(engine: &Engine, by: OperatorBy, act: OperatorAct, subject: &str, body: &str) -> Result<Operate, Error> {
    Operate::read(engine, by, ActRequest { act, subject, body: body.as_bytes(), expected: None })
}

fn act(engine: &Engine, by: OperatorBy, what: OperatorAct, subject: &str, body: &str) -> Result<Operation, Error> {
    engine.run(signed(by, operate(engine, by, what, subject, body)?))
}

/// A command as an operator signs it, with a nonce of its own.
fn signed<C>(by: OperatorBy, command: C) -> Signed<C> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    Signed {
        by: SignedBy { client: by.no.party(), key: by.key, with: SignedWith::Key, nonce: Nonce { hash, expires_at: i64::MAX - 1 } },
        command,
    }
}

fn asked(operation: Operation) -> ApprovalRecord {
    match operation {
        Operation::Asked(approval) => *approval,
        Operation::Done { acted, .. } => panic!("was done at once: {acted:?}"),
    }
}

fn decide(engine: &Engine, by: OperatorBy, approval: Ulid, confirm: bool) -> Result<Decided, Error> {
    engine.run(signed(by, DecideApproval { by, approval, confirm, comment: Some("seen".to_owned()) }))
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    result.unwrap_err().code
}

fn id(s: &Sandbox) -> String {
    format!("cli_{}", s.caller.client_id)
}

fn wire(amount: &str, reference: &str) -> String {
    format!(r#"{{"currency": "EUR", "amount": "{amount}", "reference": "{reference}", "evidence": "line 7"}}"#)
}

/// Available live euros; none if there is no account.
fn euros(s: &Sandbox) -> String {
    let live = Caller { mode: Mode::Live, ..s.caller };
    s.engine.balance(&live, "EUR").map_or_else(|_| "none".to_owned(), |balance| balance.available.as_str().to_owned())
}

fn audit(s: &Sandbox) -> Vec<AuditRecord> {
    typed_all(s.store.scan(&Scan::all(RecordKind::Audit, usize::MAX)).unwrap()).unwrap()
}

#[test]
fn an_operator_enrols_once_and_has_what_the_role_allows() {
    over_each_store(|s| {
        let invited =
            s.engine.run(Operated(InviteOperator { name: " Ada ".to_owned(), role: OperatorRole::Agent, by: None, reason: None }));
        let invited = invited.unwrap();
        assert_eq!((invited.operator.name.as_str(), invited.operator.status), ("Ada", OperatorStatus::Invited));
        let stored = s.store.scan(&Scan::all(RecordKind::Operator, 9)).unwrap();
        assert!(!format!("{stored:?}").contains(&invited.code), "only the hash of a code is stored");
        let enroll = |code: &str, n| s.engine.run(EnrollOperator { code: code.to_owned(), key: key(n), name: Some("Ada L.".to_owned()) });
        for wrong in ["", "opi_", "opi_01KAJX3M7Q5W8ZP9D2R4T6V8YB", &invited.code[..invited.code.len() - 1], &format!("{}0", invited.code)]
        {
            assert_eq!(code(enroll(wrong, 1)), ErrorCode::InvitationInvalid, "{wrong}");
        }
        let mut other = invited.code.clone().into_bytes();
        let last = other.len() - 1;
        other[last] = if other[last] == b'0' { b'1' } else { b'0' };
        assert_eq!(code(enroll(std::str::from_utf8(&other).unwrap(), 1)), ErrorCode::InvitationInvalid);
        let new = enroll(&invited.code, 1).unwrap();
        assert_eq!((new.operator.name.as_str(), new.operator.status), ("Ada L.", OperatorStatus::Active));
        assert_eq!(code(enroll(&invited.code, 2)), ErrorCode::InvitationInvalid, "a code is for one key");
        assert_eq!(code(enroll(&invited.code, 1)), ErrorCode::KeyExists, "a lost response is told apart");

        let credential = s.engine.authenticate(&new.token.text).unwrap();
        assert_eq!(credential.caller.client.operator(), Some(new.operator.no));
        assert_eq!(credential.scopes, OperatorRole::Agent.scopes());
        assert!(!credential.scopes.allows(Scope::SettlementsRead) && !credential.scopes.allows(Scope::OperatorApprove));
        assert_eq!(s.engine.signatory(&key(1).id()).unwrap().caller, credential.caller);
        // Nothing that belongs to a client is reached by an operator's number.
        assert!(s.engine.balances(&credential.caller).unwrap().is_empty());
        assert_eq!(
            code(s.engine.run(signed(OperatorBy { no: new.operator.no, key: new.key.no }, EnrollLive { caller: s.caller, key: key(1) }))),
            ErrorCode::KeyExists
        );
    });
}

#[test]
fn an_invitation_expires_and_can_be_revoked() {
    over_each_store(|s| {
        let invite = || {
            s.engine.run(Operated(InviteOperator { name: "Bob".to_owned(), role: OperatorRole::Viewer, by: None, reason: None })).unwrap()
        };
        let (late, withdrawn) = (invite(), invite());
        let revoke = RevokeOperator { operator: withdrawn.operator.id, by: None, reason: None };
        assert_eq!(s.engine.run(Operated(revoke.clone())).unwrap().status, OperatorStatus::Revoked);
        assert_eq!(s.engine.run(Operated(revoke)).unwrap().status, OperatorStatus::Revoked, "a repeat changes nothing");
        s.env.advance_to(s.env.now() + 7 * DAY);
        for it in [late, withdrawn] {
            assert_eq!(code(s.engine.run(EnrollOperator { code: it.code, key: key(1), name: None })), ErrorCode::InvitationInvalid);
        }
        assert_eq!(code(s.engine.run(Operated(RevokeOperator { operator: Ulid(7), by: None, reason: None }))), ErrorCode::OperatorNotFound);
    });
}

#[test]
fn there_are_two_hundred_operators_at_most() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    let invite =
        |n: u32| s.engine.run(Operated(InviteOperator { name: format!("Person {n}"), role: OperatorRole::Viewer, by: None, reason: None }));
    for n in 0..200 {
        invite(n).unwrap();
    }
    assert_eq!(code(invite(200)), ErrorCode::InvalidState);
    // An invitation that nobody used counts as long as it is valid.
    s.env.advance_to(s.env.now() + 7 * DAY);
    invite(200).unwrap();
}

#[test]
fn roles_change_at_once_and_nobody_changes_their_own() {
    over_each_store(|s| {
        let admin = person(&s.engine, 1, OperatorRole::Admin, None);
        let agent = person(&s.engine, 2, OperatorRole::Agent, Some(admin.no));
        let ids: Vec<Ulid> = s.engine.operators().unwrap().data.iter().map(|it| Ulid::parse(&it.id[4..]).unwrap()).collect();
        let token = s.engine.run(railgate::engine::IssueToken { key: agent.key, scopes: None, session: None }).unwrap();
        let change =
            |operator, role, by: OperatorBy| s.engine.run(signed(by, ChangeRole { operator, role, by: Some(by.no), reason: None }));
        assert_eq!(code(change(ids[0], OperatorRole::Viewer, admin)), ErrorCode::SecondOperatorRequired);
        change(ids[1], OperatorRole::Viewer, admin).unwrap();
        assert_eq!(
            s.engine.authenticate(&token.text).unwrap().scopes,
            OperatorRole::Viewer.scopes(),
            "a token never has more than its key"
        );
        change(ids[1], OperatorRole::Approver, admin).unwrap();
        let again = s.engine.run(railgate::engine::IssueToken { key: agent.key, scopes: None, session: None }).unwrap();
        assert_eq!(again.scopes, OperatorRole::Approver.scopes());
        let revoke = RevokeOperator { operator: ids[1], by: Some(admin.no), reason: Some("left".to_owned()) };
        s.engine.run(signed(admin, revoke)).unwrap();
        assert_eq!(code(s.engine.authenticate(&again.text).map(drop)), ErrorCode::TokenInvalid);
        assert_eq!(code(s.engine.signatory(&key(2).id()).map(drop)), ErrorCode::KeyRevoked);
        // A call that was checked before the revocation is refused in its own commit.
        assert_eq!(code(act(&s.engine, agent, OperatorAct::SuspendClient, &id(s), r#"{"reason": "late"}"#)), ErrorCode::KeyRevoked);
        assert_eq!(code(change(ids[1], OperatorRole::Admin, admin)), ErrorCode::InvalidState);
    });
}

#[test]
fn real_money_moves_when_a_second_operator_confirms() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let deposit = |amount: &str, reference: &str| act(&s.engine, ada, OperatorAct::Deposit, &id(s), &wire(amount, reference));
        let first = asked(deposit("100.00", "w-1").unwrap());
        assert_eq!(asked(deposit("100.00", "w-1").unwrap()).id, first.id, "the same request waits once");
        assert_eq!(euros(s), "none");
        assert_eq!(code(decide(&s.engine, ada, first.id, true)), ErrorCode::SecondOperatorRequired);
        let decided = decide(&s.engine, bob, first.id, true).unwrap();
        assert!(matches!(decided.acted, Some(Acted::Moved(_))) && decided.approval.status == ApprovalStatus::Confirmed);
        assert_eq!(euros(s), "100.00");
        assert_eq!(code(decide(&s.engine, bob, first.id, true)), ErrorCode::InvalidState);
        assert_eq!(code(decide(&s.engine, bob, first.id, false)), ErrorCode::InvalidState);
        // What was done before needs nobody.
        assert!(matches!(deposit("100.00", "w-1").unwrap(), Operation::Done { .. }));
        assert_eq!(code(deposit("100.01", "w-1")), ErrorCode::ReferenceConflict);

        // What cannot be done is refused when it is asked for, and again when it is confirmed.
        let withdraw = |amount: &str, reference: &str| act(&s.engine, ada, OperatorAct::Withdraw, &id(s), &wire(amount, reference));
        assert_eq!(code(withdraw("100.01", "o-1")), ErrorCode::InsufficientFunds);
        let (one, two) = (asked(withdraw("60.00", "o-2").unwrap()), asked(withdraw("60.00", "o-3").unwrap()));
        decide(&s.engine, bob, one.id, true).unwrap();
        assert_eq!(code(decide(&s.engine, bob, two.id, true)), ErrorCode::InsufficientFunds);
        assert_eq!(s.engine.approval(two.id).unwrap().status, ApprovalStatus::Pending, "it goes on waiting");
        assert_eq!(
            decide(&s.engine, ada, two.id, false).unwrap().approval.status,
            ApprovalStatus::Declined,
            "whoever asked may withdraw it"
        );
        assert_eq!(euros(s), "40.00");
        assert_eq!(code(decide(&s.engine, bob, Ulid(9), true)), ErrorCode::ApprovalNotFound);
        s.assert_sound();
    });
}

#[test]
fn nobody_confirms_with_a_key_that_they_gave_out() {
    over_each_store(|s| {
        let admin = person(&s.engine, 1, OperatorRole::Admin, None);
        let invited = person(&s.engine, 2, OperatorRole::Approver, Some(admin.no));
        let outside = person(&s.engine, 3, OperatorRole::Approver, None);
        for (asker, other) in [(admin, invited), (invited, admin)] {
            let waits = asked(act(&s.engine, asker, OperatorAct::Deposit, &id(s), &wire("1.00", &format!("k-{}", asker.no.0))).unwrap());
            assert_eq!(code(decide(&s.engine, other, waits.id, true)), ErrorCode::SecondOperatorRequired);
            decide(&s.engine, outside, waits.id, true).unwrap();
        }
        assert_eq!(euros(s), "2.00");
    });
}

#[test]
fn whom_one_person_let_in_are_one_pair_of_eyes() {
    over_each_store(|s| {
        let admin = person(&s.engine, 1, OperatorRole::Admin, None);
        let between = person(&s.engine, 2, OperatorRole::Admin, Some(admin.no));
        let last = person(&s.engine, 3, OperatorRole::Approver, Some(between.no));
        let beside = person(&s.engine, 4, OperatorRole::Approver, Some(admin.no));
        let other = person(&s.engine, 5, OperatorRole::Admin, None);
        let others = person(&s.engine, 6, OperatorRole::Approver, Some(other.no));
        let ask =
            |by: OperatorBy| asked(act(&s.engine, by, OperatorAct::Deposit, &id(s), &wire("1.00", &format!("c-{}", by.no.0))).unwrap()).id;
        assert_eq!(code(decide(&s.engine, last, ask(admin), true)), ErrorCode::SecondOperatorRequired);
        assert_eq!(code(decide(&s.engine, admin, ask(last), true)), ErrorCode::SecondOperatorRequired);
        assert_eq!(code(decide(&s.engine, beside, ask(last), true)), ErrorCode::SecondOperatorRequired, "one person may hold both keys");
        decide(&s.engine, others, ask(last), true).unwrap();
        decide(&s.engine, beside, ask(other), true).unwrap();
    });
}

#[test]
fn a_role_that_was_taken_away_counts_at_once() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let ids: Vec<Ulid> = s.engine.operators().unwrap().data.iter().map(|it| Ulid::parse(&it.id[4..]).unwrap()).collect();
        let role = |operator, role| s.engine.run(Operated(ChangeRole { operator, role, by: None, reason: None })).map(drop).unwrap();
        let ask = |reference| act(&s.engine, ada, OperatorAct::Deposit, &id(s), &wire("1.00", reference));
        let waits = asked(ask("one").unwrap()).id;
        // The host still knows the roles of a moment ago.
        role(ids[1], OperatorRole::Agent);
        assert_eq!(code(decide(&s.engine, bob, waits, true)), ErrorCode::InsufficientScope);
        role(ids[1], OperatorRole::Approver);
        role(ids[0], OperatorRole::Viewer);
        assert_eq!(code(ask("two")), ErrorCode::InsufficientScope);
        assert_eq!(code(decide(&s.engine, bob, waits, true)), ErrorCode::InvalidState, "who asked may not act any more");
        let invite = InviteOperator { name: "X".to_owned(), role: OperatorRole::Admin, by: Some(bob.no), reason: None };
        assert_eq!(code(s.engine.run(Operated(invite)).map(drop)), ErrorCode::InsufficientScope);
        assert_eq!(euros(s), "none");
    });
}

#[test]
fn what_is_confirmed_is_what_was_looked_at() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let cleo = person(&s.engine, 3, OperatorRole::Agent, None);
        let body = |url: &str| {
            format!(
                r#"{{"id": "b", "name": "B", "rail": "plain", "mode": "live", "base_url": "https://{url}.example", "reason": "contract"}}"#
            )
        };
        let put = |by, url: &str| asked(act(&s.engine, by, OperatorAct::PutProvider, "b", &body(url)).unwrap()).id;
        let (early, urgent) = (put(ada, "old"), put(cleo, "new"));
        decide(&s.engine, bob, urgent, true).unwrap();
        assert_eq!(code(decide(&s.engine, bob, early, true)), ErrorCode::VersionConflict, "it would undo what came after it");
        decide(&s.engine, bob, early, false).unwrap();
        // The same movement, asked for by two: the second has nothing left to do.
        let ask = |by| asked(act(&s.engine, by, OperatorAct::Deposit, &id(s), &wire("1.00", "wire-1")).unwrap()).id;
        let (one, two) = (ask(ada), ask(cleo));
        decide(&s.engine, bob, one, true).unwrap();
        assert_eq!(code(decide(&s.engine, bob, two, true)), ErrorCode::InvalidState);
        assert_eq!(euros(s), "1.00");
    });
}

#[test]
fn a_large_payment_is_large_in_however_many_parts_it_is_reversed() {
    over_each_store(|s| {
        let ada = person(&s.engine, 1, OperatorRole::Agent, None);
        for (reference, amount) in [("large", "1000"), ("small", "999.99")] {
            let body = format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:reverse-unknown","reference":"{reference}"}}"#);
            s.create(&body).unwrap();
            s.work();
            s.reverse(reference, r#"{"amount":10}"#).unwrap();
        }
        s.pass(DAY + 3_600_000);
        let resolve = |reference| {
            let subject = format!("{}.1", s.view(reference).id);
            let body = r#"{"resolution": "confirmed_completed", "evidence": "line 7"}"#;
            act(&s.engine, ada, OperatorAct::ResolveReview, &subject, body).unwrap()
        };
        asked(resolve("large"));
        assert!(matches!(resolve("small"), Operation::Done { .. }));
    });
}

#[test]
fn one_operator_does_not_fill_the_list_of_what_waits() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Agent, None));
        let ask = |by, n: usize| act(&s.engine, by, OperatorAct::Deposit, &id(s), &wire("1.00", &format!("w-{n}")));
        (0..100).for_each(|n| drop(asked(ask(ada, n).unwrap())));
        assert_eq!(code(ask(ada, 100)), ErrorCode::InvalidState);
        asked(ask(ada, 99).unwrap());
        asked(ask(bob, 100).unwrap());
        // What expired waits for nobody, and is closed in time.
        s.env.advance_to(s.env.now() + 7 * DAY);
        asked(ask(ada, 101).unwrap());
        while s.engine.run(Maintain).unwrap() > 0 {}
        let stored: Vec<ApprovalRecord> = typed_all(s.store.scan(&Scan::all(RecordKind::Approval, 999)).unwrap()).unwrap();
        let expired = stored.iter().filter(|it| it.status == ApprovalStatus::Expired).count();
        assert_eq!((expired, stored.len()), (101, 102));
    });
}

#[test]
fn live_access_is_for_the_key_that_waited_when_it_was_asked_for() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let approve = |body: &str| act(&s.engine, ada, OperatorAct::ApproveClient, &id(s), body);
        assert_eq!(code(approve(r#"{"reason": "contract"}"#)), ErrorCode::KeyNotFound);
        s.engine.run(EnrollLive { caller: s.caller, key: key(8) }).unwrap();
        let waits = asked(approve(r#"{"reason": "contract"}"#).unwrap());
        assert!(waits.request.contains(&key(8).id().to_string()), "{}", waits.request);
        s.engine.run(EnrollLive { caller: s.caller, key: key(9) }).unwrap();
        assert_eq!(code(approve(r#"{"reason": "contract"}"#)), ErrorCode::InvalidFields, "several wait");
        decide(&s.engine, bob, waits.id, true).unwrap();
        assert!(s.engine.signatory(&key(8).id()).is_ok());
        assert_eq!(code(s.engine.signatory(&key(9).id()).map(drop)), ErrorCode::EnrollmentPending);
    });
}

#[test]
fn what_nobody_decides_expires_and_what_a_revoked_operator_asked_for_stays_undone() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let ask = |reference| asked(act(&s.engine, ada, OperatorAct::Deposit, &id(s), &wire("5.00", reference)).unwrap());
        let late = ask("late");
        s.env.advance_to(s.env.now() + 7 * DAY);
        assert_eq!(s.engine.approval(late.id).unwrap().status, ApprovalStatus::Expired);
        assert_eq!(code(decide(&s.engine, bob, late.id, true)), ErrorCode::InvalidState);
        let again = ask("late");
        assert_ne!(again.id, late.id, "it can be asked for again");
        let listed = |status| s.engine.approvals(Some(status), None, 50).unwrap().data.into_iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(
            (listed(ApprovalStatus::Expired), listed(ApprovalStatus::Pending)),
            (vec![format!("apr_{}", late.id)], vec![format!("apr_{}", again.id)])
        );
        let operator = Ulid::parse(&s.engine.operators().unwrap().data[0].id[4..]).unwrap();
        s.engine.run(Operated(RevokeOperator { operator, by: None, reason: None })).unwrap();
        assert_eq!(code(decide(&s.engine, bob, again.id, true)), ErrorCode::InvalidState);
        assert_eq!(euros(s), "none");
    });
}

#[test]
fn of_several_who_confirm_at_once_one_does() {
    over_each_store(|s| {
        let ada = person(&s.engine, 1, OperatorRole::Agent, None);
        let deciders: Vec<OperatorBy> = (2..6).map(|n| person(&s.engine, n, OperatorRole::Approver, None)).collect();
        // In one group.
        let waits = asked(act(&s.engine, ada, OperatorAct::Deposit, &id(s), &wire("1.00", "group")).unwrap());
        let confirm = |by: OperatorBy| signed(by, DecideApproval { by, approval: waits.id, confirm: true, comment: None });
        let (mut one, mut two) = (Slot::new(confirm(deciders[0])), Slot::new(confirm(deciders[1])));
        s.engine.execute(&mut [&mut one, &mut two]);
        assert!(one.into_result().unwrap().is_ok());
        assert_eq!(code(two.into_result().unwrap()), ErrorCode::InvalidState);
        // At several nodes.
        let waits = asked(act(&s.engine, ada, OperatorAct::Deposit, &id(s), &wire("10.00", "nodes")).unwrap());
        let nodes: Vec<Engine> =
            (2..6).map(|n| Engine::open(s.store.clone(), s.env.clone(), Config { owner: Some(n), ..config() }).unwrap()).collect();
        let barrier = Barrier::new(nodes.len());
        let done: usize = std::thread::scope(|scope| {
            let confirm = |(node, by): (&Engine, &OperatorBy)| {
                barrier.wait();
                usize::from(decide(node, *by, waits.id, true).is_ok())
            };
            let running: Vec<_> = nodes.iter().zip(&deciders).map(|pair| scope.spawn(move || confirm(pair))).collect();
            running.into_iter().map(|it| it.join().unwrap()).sum()
        });
        assert_eq!((done, euros(s).as_str()), (1, "11.00"));
        // The same request twice in one group waits once.
        let ask = || signed(ada, operate(&s.engine, ada, OperatorAct::Deposit, &id(s), &wire("2.00", "twice")).unwrap());
        let (mut one, mut two) = (Slot::new(ask()), Slot::new(ask()));
        s.engine.execute(&mut [&mut one, &mut two]);
        assert_eq!(asked(one.into_result().unwrap().unwrap()).id, asked(two.into_result().unwrap().unwrap()).id);
        s.assert_sound();
    });
}

#[test]
fn secrets_of_a_provider_that_waits_are_sealed() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let body = r#"{"id": "b", "name": "B", "rail": "plain", "mode": "live", "base_url": "https://b.example", "secrets": {"token": "hush-hush"}, "reason": "contract"}"#;
        let waits = asked(act(&s.engine, ada, OperatorAct::PutProvider, "b", body).unwrap());
        assert!(!format!("{waits:?}").contains("hush") && !waits.sealed.is_empty());
        assert!(waits.request.ends_with(r#","secrets":{"token":"hidden"}}"#), "who confirms sees which there are: {}", waits.request);
        assert_eq!(waits.reason.as_deref(), Some("contract"));
        assert_eq!(code(s.engine.operated_provider("b").map(drop)), ErrorCode::ProviderNotFound);
        decide(&s.engine, bob, waits.id, true).unwrap();
        s.engine.follow_setup().unwrap();
        let applied = s.engine.applied_providers();
        assert_eq!(applied[0].spec.secrets.0.values().map(|secret| secret.as_str()).collect::<Vec<_>>(), ["hush-hush"]);
        assert_eq!(s.engine.operated_provider("b").unwrap().secret_names, ["token"]);
        let left: Option<ApprovalRecord> = typed(s.store.get(&Key::Approval(waits.no)).unwrap()).unwrap();
        assert!(left.unwrap().sealed.is_empty(), "the secret is not kept twice");
        // Switching off needs nobody, switching on again does.
        assert!(matches!(
            act(&s.engine, ada, OperatorAct::DisableProvider, "b", r#"{"reason": "fault"}"#).unwrap(),
            Operation::Done { .. }
        ));
        asked(act(&s.engine, ada, OperatorAct::EnableProvider, "b", r#"{"reason": "repaired"}"#).unwrap());
        assert_eq!(code(act(&s.engine, ada, OperatorAct::PutProvider, "c", body)), ErrorCode::InvalidFields, "the path names the provider");
    });
}

#[test]
fn terms_are_changed_part_by_part() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let done = |what, body: &str| assert!(matches!(act(&s.engine, ada, what, &id(s), body).unwrap(), Operation::Done { .. }), "{body}");
        done(OperatorAct::SetLimits, r#"{"mode": "live", "currency": "EUR", "max": "90", "daily_value": "400", "reason": "start"}"#);
        done(OperatorAct::SetLimits, r#"{"mode": "live", "currency": "EUR", "daily_value": "500", "reason": "more"}"#);
        done(OperatorAct::SetLimits, r#"{"mode": "live", "currency": "USD", "max": "10", "reason": "start"}"#);
        done(OperatorAct::SetFees, r#"{"fees": [{"percent": "0.5"}], "reason": "contract"}"#);
        let signs = |signs| json!({"mode": "live", "session_signatures": signs, "reason": "keys in hardware"}).to_string();
        done(OperatorAct::SetSessionSignatures, &signs("off"));
        done(OperatorAct::SetSessionSignatures, &signs("all"));
        let waits = asked(act(&s.engine, ada, OperatorAct::SetFloor, &id(s), &floor("-250.00", "line-1")).unwrap());
        assert!(waits.request.contains("contract of May") && waits.request.contains("line-1"), "the second operator sees it");
        decide(&s.engine, bob, waits.id, true).unwrap();
        done(OperatorAct::SetLimits, r#"{"mode": "live", "currency": "USD", "max": null, "reason": "lifted"}"#);
        s.engine.follow_setup().unwrap();
        let terms = serde_json::to_string(&s.engine.client_detail(s.caller.client_id).unwrap().terms).unwrap();
        let expected = format!(
            r#"{{"client":"{}","limits":[{{"mode":"live","currency":"EUR","max":"90.00","daily_value":"500.00"}}],"credit":{{"EUR":"250.00"}},"fees":[{{"percent":"0.5"}}],"session_signatures":{{"live":"all"}}}}"#,
            id(s)
        );
        assert_eq!(terms, expected);
        assert_eq!(
            code(act(&s.engine, ada, OperatorAct::SetLimits, &id(s), r#"{"mode": "live", "currency": "EUR"}"#)),
            ErrorCode::InvalidFields,
            "why?"
        );
        let wrong = [
            (OperatorAct::SetLimits, r#"{"mode": "live", "currency": "EUR", "min": "91", "reason": "above the largest"}"#),
            (OperatorAct::SetSessionSignatures, &signs("some")),
            (OperatorAct::SetFloor, &floor("250.00", "is-no-floor-below-zero")),
            (OperatorAct::SetFloor, r#"{"currency": "EUR", "amount": "-250.00", "reason": "no reference, no evidence"}"#),
        ];
        for (what, body) in wrong {
            assert_eq!(code(act(&s.engine, ada, what, &id(s), body)), ErrorCode::InvalidFields, "{body}");
        }
        assert_eq!(
            code(act(&s.engine, ada, OperatorAct::SuspendClient, "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB", r#"{"reason": "x"}"#)),
            ErrorCode::ClientNotFound
        );
    });
}

fn floor(amount: &str, reference: &str) -> String {
    json!({"currency": "EUR", "amount": amount, "reference": reference, "evidence": "contract of May, paragraph 4"}).to_string()
}

#[test]
fn a_credit_line_is_set_once_by_two_operators() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let ask = |amount: &str, reference: &str| act(&s.engine, ada, OperatorAct::SetFloor, &id(s), &floor(amount, reference));
        let confirm = |asked: ApprovalRecord| decide(&s.engine, bob, asked.id, true);
        let (first, second) = (asked(ask("-100", "line-1").unwrap()), asked(ask("-200", "line-2").unwrap()));
        confirm(first).unwrap();
        assert_eq!(code(confirm(second)), ErrorCode::VersionConflict, "the terms are not what the second request was about");
        let again = ask("-100.00", "line-1").unwrap();
        let Operation::Done { acted: Acted::Moved(moved), .. } = again else { panic!("a repeat waits for nobody: {again:?}") };
        assert!(moved.replayed);
        assert_eq!(code(ask("-200", "line-1")), ErrorCode::ReferenceConflict);
        confirm(asked(act(&s.engine, ada, OperatorAct::Deposit, &id(s), &wire("5.00", "wire-1")).unwrap())).unwrap();
        assert_eq!(code(ask("-5", "wire-1")), ErrorCode::ReferenceConflict, "found when it is asked for");
        confirm(asked(ask("0", "line-3").unwrap())).unwrap();
        assert!(matches!(ask("-100", "line-1").unwrap(), Operation::Done { .. }), "however late");
        s.engine.follow_setup().unwrap();
        let terms = serde_json::to_value(s.engine.client_detail(s.caller.client_id).unwrap().terms).unwrap();
        assert_eq!(terms.get("credit"), None);
        let row = audit(s).into_iter().find(|row| row.action == AuditAction::SetCredit).unwrap();
        assert_eq!(row.name.as_deref(), Some("line-1 100.00 EUR"));
        let detail: Value = serde_json::from_str(row.detail.as_deref().unwrap()).unwrap();
        assert_eq!((&detail["evidence"], &detail["previous"]), (&json!("contract of May, paragraph 4"), &json!("0.00")));
        assert!(detail["asked_by"].is_string());
    });
}

#[test]
fn the_audit_trail_says_who_asked_and_who_confirmed() {
    over_each_store(|s| {
        let (ada, bob) = (person(&s.engine, 1, OperatorRole::Agent, None), person(&s.engine, 2, OperatorRole::Approver, None));
        let before = audit(s).len();
        let waits = asked(act(&s.engine, ada, OperatorAct::Deposit, &id(s), &wire("1.00", "w")).unwrap());
        let _ = decide(&s.engine, ada, waits.id, true).unwrap_err();
        decide(&s.engine, bob, waits.id, true).unwrap();
        act(&s.engine, ada, OperatorAct::SuspendClient, &id(s), r#"{"reason": "its key was stolen"}"#).unwrap();
        let people = s.engine.operators().unwrap().data;
        let page = s.engine.audit(None, i64::MAX, 200).unwrap().data;
        let rows: Vec<_> = page.iter().rev().skip(before).collect();
        let told: Vec<_> = rows.iter().map(|row| (row.action, row.operator_id.as_deref().unwrap_or(""), row.outcome.as_str())).collect();
        let (ada_id, bob_id) = (people[0].id.as_str(), people[1].id.as_str());
        let expected = [
            ("ask_approval", ada_id, "done"),
            ("confirm_approval", ada_id, "second_operator_required"),
            ("deposit", bob_id, "done"),
            ("confirm_approval", bob_id, "done"),
            ("suspend_client", ada_id, "done"),
        ];
        assert_eq!(told, expected);
        let detail = |n: usize| -> Value { serde_json::from_str(rows[n].detail.as_ref().unwrap().get()).unwrap() };
        assert_eq!(
            (detail(2)["asked_by"].as_str(), detail(2)["approval"].as_str()),
            (Some(ada_id), Some(format!("apr_{}", waits.id).as_str()))
        );
        assert_eq!(detail(4)["reason"], "its key was stolen");
        assert!([0, 2, 4].iter().all(|n| rows[*n].client_id.as_deref() == Some(id(s).as_str())));
        let of_client = s.engine.audit(Some(s.caller.client), i64::MAX, 50).unwrap();
        assert!(of_client.data.iter().all(|row| row.client_id.as_deref() == Some(id(s).as_str())) && of_client.next_cursor.is_none());
    });
}

#[test]
fn without_four_eyes_everything_is_done_at_once() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), Config { four_eyes: FourEyes::OFF, ..config() }, 1);
    let ada = person(&s.engine, 1, OperatorRole::Agent, None);
    assert!(matches!(act(&s.engine, ada, OperatorAct::Deposit, &id(&s), &wire("7.00", "w")).unwrap(), Operation::Done { .. }));
    assert_eq!(euros(&s), "7.00");
}

#[test]
fn lists_go_through_all_clients_and_settlements_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("lists.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for s in stores.map(|store| Sandbox::over(store, sealing(), 1)) {
        let (mut clients, mut paid) = (vec![id(&s)], Vec::new());
        for n in 0..6 {
            let caller = support::enroll(&s.engine, &format!("Client {n}"));
            clients.push(format!("cli_{}", caller.client_id));
            for m in 0..5 {
                let body = format!(r#"{{"amount":{},"currency":"EUR","to":"sim:ok","reference":"r-{m}"}}"#, m + 1);
                let made = s.engine.run(support::create(&s.engine, caller, &body)).unwrap();
                paid.push((s.engine.view(&made.settlement, caller.client_id).id, s.env.now(), m));
                s.env.advance_to(s.env.now() + 60_000);
            }
        }
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = s.engine.clients(false, after, 3).unwrap();
            assert!(page.data.len() <= 3);
            seen.extend(page.data.into_iter().map(|it| it.client_id));
            let Some(cursor) = page.next_cursor else { break };
            after = Ulid::parse(&cursor[4..]);
        }
        assert_eq!(seen, clients);
        assert!(s.engine.clients(true, None, 3).unwrap().data.is_empty());
        s.engine.run(EnrollLive { caller: s.caller, key: key(9) }).unwrap();
        assert_eq!(s.engine.clients(true, None, 3).unwrap().data[0].pending_keys, 1);

        paid.reverse();
        let listed = |query: &[(&str, String)]| {
            let (mut ids, mut cursor) = (Vec::new(), None::<String>);
            loop {
                let own = query.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
                let more = cursor.iter().map(|cursor| ("cursor".to_owned(), cursor.clone()));
                let pairs: Vec<_> = own.chain([("limit".to_owned(), "4".to_owned())]).chain(more).collect();
                let page = s.engine.list_all(&s.engine.parse_list(&pairs).unwrap()).unwrap();
                ids.extend(page.data.into_iter().map(|it| it.id));
                cursor = page.next_cursor;
                if cursor.is_none() {
                    return ids;
                }
            }
        };
        let wanted =
            |keep: &dyn Fn(i64, i64) -> bool| paid.iter().filter(|(_, at, m)| keep(*at, *m)).map(|(id, ..)| *id).collect::<Vec<_>>();
        assert_eq!(listed(&[]), wanted(&|_, _| true));
        assert_eq!(listed(&[("min_amount", "4".to_owned())]), wanted(&|_, m| m >= 3));
        for (from, to) in [(0, 29), (3, 17), (10, 10), (28, 40)] {
            let [from, to] = [from, to].map(|minutes| START + minutes * 60_000);
            let query = [("created_from", rfc3339(from)), ("created_to", rfc3339(to))];
            assert_eq!(listed(&query), wanted(&|at, _| (from..to).contains(&at)));
        }
        assert!(listed(&[("status", "failed".to_owned())]).is_empty() && listed(&[("provider", "nobody".to_owned())]).is_empty());
    }
}

#[test]
fn a_number_is_a_clients_or_an_operators() {
    assert_eq!((ClientNo(0).operator(), ClientNo(ClientNo::OPERATORS).operator()), (None, None));
    assert_eq!(OperatorNo(7).party().operator(), Some(OperatorNo(7)));
}
