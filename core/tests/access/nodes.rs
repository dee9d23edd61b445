//! Signed commands at two nodes, and over a failing store: a change happens once, and the response says whether.

use railgate::ErrorCode;
use railgate::api::IdempotencyKey;
use railgate::engine::Reverse;
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::record::Key;

use super::*;

fn somebody(w: &World) -> Client {
    let credential = w.engine.signatory(&public(1).id()).unwrap();
    Client { caller: credential.caller, key: credential.key }
}

#[test]
fn of_one_signed_change_at_two_nodes_one_succeeds() {
    over_each_store(|w| {
        let other = w.node(sealing());
        let commands = signable(&w);
        let client = somebody(&w);
        for (n, (action, command)) in (1..).zip(commands) {
            let command = signed(&client, n, command);
            let (first, second) = if n % 2 == 0 { (&w, &other) } else { (&other, &w) };
            first.run(command.clone()).unwrap();
            let before = w.everything();
            assert_eq!(code(second.run(command)), "nonce_replayed", "{action:?}");
            assert_eq!(w.everything(), before, "{action:?}");
        }
        w.assert_sound();
    });
}

#[test]
fn a_node_that_was_overtaken_between_deciding_and_committing_does_nothing() {
    over_each_store(|w| {
        let commands = signable(&w);
        let client = somebody(&w);
        let slow = Meddling::over(w.store.clone());
        let late = Engine::open(slow.clone(), w.env.clone(), sealing()).unwrap();
        let fast = Arc::new(w.node(sealing()));
        for (n, (action, command)) in (1..).zip(commands) {
            let command = signed(&client, n, command);
            let (node, same) = (fast.clone(), command.clone());
            slow.before_commit(move || drop(node.run(same).unwrap()));
            let (nonces, rows) = (w.nonces().len(), w.audit().len());
            assert_eq!(code(late.run(command)), "nonce_replayed", "{action:?}");
            assert_eq!((w.nonces().len(), w.audit().len()), (nonces + 1, rows + 1), "{action:?}");
        }
        w.assert_sound();
    });
}

#[test]
fn a_create_that_was_overtaken_is_answered_as_the_replay_that_it_is() {
    over_each_store(|w| {
        let client = w.client(1);
        let slow = Meddling::over(w.store.clone());
        let late = Engine::open(slow.clone(), w.env.clone(), sealing()).unwrap();
        let fast = w.node(sealing());
        let command = signed(&client, 1, w.create(&client, "r", "10"));
        let same = command.clone();
        slow.before_commit(move || drop(fast.run(same).unwrap()));
        assert!(late.run(command).unwrap().replayed);
        assert_eq!(w.audit().len(), 1);
        w.assert_sound();
    });
}

#[test]
fn a_create_that_one_node_refused_is_refused_by_every_other() {
    let w = World::over(Arc::new(Remote::default()), sealing());
    let client = w.client(1);
    let other = w.node(sealing());
    let refused = signed(&client, 1, w.create(&client, "r", "2000000"));
    assert_eq!(code(other.run(refused.clone())), "insufficient_funds");
    w.run(Fund { caller: client.caller, money: "5000000 EUR".parse().unwrap() }).unwrap();
    let before = w.everything();
    assert_eq!(code(w.run(refused.clone())), "nonce_replayed", "it could be paid now");
    assert_eq!(w.everything(), before);
    let beside = signed(&client, 2, w.create(&client, "s", "10"));
    assert_eq!(codes(&w.engine, [refused, beside]), ["nonce_replayed", "ok"]);
    assert_eq!(w.nonces().len(), 1);
    w.assert_sound();
}

#[test]
fn a_refused_create_that_is_sent_again_is_no_replay_of_the_one_that_succeeded() {
    let w = World::over(Arc::new(Remote::default()), sealing());
    let client = w.client(1);
    let other = w.node(sealing());
    let refused = signed(&client, 1, w.create(&client, "r", "2000000"));
    assert_eq!(code(other.run(refused.clone())), "insufficient_funds");
    w.run(Fund { caller: client.caller, money: "5000000 EUR".parse().unwrap() }).unwrap();
    w.run(signed(&client, 2, w.create(&client, "r", "2000000"))).unwrap();
    for again in [vec![refused.clone()], vec![refused.clone(), signed(&client, 3, w.create(&client, "s", "10"))]] {
        assert_eq!(codes(&w.engine, again)[0], "nonce_replayed");
    }
    // Where it would be refused now, its reference is found without a clash.
    w.run(signed(&client, 4, w.create(&client, "all", "2500000"))).unwrap();
    assert_eq!(codes(&w.engine, [refused]), ["nonce_replayed"]);
    w.assert_sound();
}

#[test]
fn a_signed_create_is_one_round_trip() {
    let store = Arc::new(Remote::default());
    let w = World::over(store.clone(), sealing());
    let client = w.client(1);
    w.run(signed(&client, 1, w.create(&client, "first", "10"))).unwrap();
    let (one, several) = (w.create(&client, "r", "10"), [2, 3, 4].map(|n| signed(&client, n, w.create(&client, &n.to_string(), "10"))));
    store.taken();
    w.run(signed(&client, 9, one)).unwrap();
    assert_eq!(store.taken(), 1);
    assert_eq!(codes(&w.engine, several), ["ok"; 3]);
    assert_eq!(store.taken(), 1);
}

#[test]
fn two_nodes_that_enrol_one_key_make_one_client() {
    over_each_store(|w| {
        let slow = Meddling::over(w.store.clone());
        let late = Engine::open(slow.clone(), w.env.clone(), sealing()).unwrap();
        let fast = w.node(sealing());
        slow.before_commit(move || drop(fast.enroll(1)));
        assert_eq!(code(late.run(signed_by_nobody(1, enrolment("Again", 1)))), "key_exists");
        assert_eq!(w.store.scan(&Scan::after(&Key::Client(ClientNo(0)), 9)).unwrap().len(), 1);
        w.assert_sound();
    });
}

/// A node that is overtaken by another between deciding and committing, and that other one.
fn late_and_fast(w: &World) -> (Arc<Meddling>, Engine, World) {
    let slow = Meddling::over(w.store.clone());
    let late = Engine::open(slow.clone(), w.env.clone(), sealing()).unwrap();
    (slow, late, w.node(sealing()))
}

#[test]
fn an_approval_does_not_undo_a_revocation_at_another_node_nor_the_other_way_round() {
    over_each_store(|w| {
        let client = w.client(1);
        let id = client.caller.client_id;
        let ask = |n| w.run(EnrollLive { caller: client.caller, key: public(n) }).unwrap().id;
        let (one, next) = (ask(2), ask(3));
        let approve = move |key| Operated(Approve { client: id, key: Some(key) });
        let revoke = move |key| Operated(Revoke { client: id, key });

        let (slow, late, fast) = late_and_fast(&w);
        slow.before_commit(move || drop(fast.run(revoke(one)).unwrap()));
        assert_eq!(code(late.run(approve(one))), "key_not_found", "it waits no more");
        assert_eq!(code(w.engine.signatory(&one)), "key_revoked");

        let (slow, late, fast) = late_and_fast(&w);
        slow.before_commit(move || drop(fast.run(approve(next)).unwrap()));
        late.run(revoke(next)).unwrap();
        assert_eq!(code(w.engine.signatory(&next)), "key_revoked");
        w.assert_sound();
    });
}

#[test]
fn of_a_suspension_and_a_resumption_at_two_nodes_the_later_one_counts() {
    over_each_store(|w| {
        let client = w.client(1);
        let id = client.caller.client_id;
        let (slow, late, fast) = late_and_fast(&w);
        slow.before_commit(move || drop(fast.operate(Resume(id)).unwrap()));
        assert!(late.run(Operated(Suspend(id))).unwrap().suspended);
        assert_eq!(code(w.engine.signatory(&public(1).id())), "client_suspended");
        let Some(Record::Client(stored)) = w.store.get(&Key::Client(client.caller.client)).unwrap() else { panic!("no client") };
        assert_eq!(stored.version.0, 2, "both were made, one after the other");
    });
}

/// A world whose store fails on request, and one command of every kind.
fn failing() -> (World, Arc<Faulty<MemoryStore>>, Client, Vec<Signable>) {
    let faults = Arc::new(Faulty::new(MemoryStore::new()));
    let w = World::over(faults.clone(), sealing());
    let commands = signable(&w);
    let client = somebody(&w);
    (w, faults, client, commands)
}

#[test]
fn whatever_happens_to_a_commit_the_answer_tells_the_truth() {
    for fault in CommitFault::ALL {
        let (w, faults, client, commands) = failing();
        for (n, (action, command)) in (1..).zip(commands) {
            let command = signed(&client, n, command);
            let (before, rows) = (w.everything(), w.audit().len());
            faults.script([Some(fault)]);
            let answer = w.run(command.clone());
            match fault {
                CommitFault::Unavailable | CommitFault::LostBefore => {
                    assert_eq!(code(answer), "store_unavailable", "{action:?} {fault:?}");
                    assert_eq!(w.everything(), before, "{action:?} {fault:?}: nothing happened");
                    w.run(command.clone()).unwrap();
                }
                CommitFault::Conflict | CommitFault::LostAfter => drop(answer.unwrap()),
            }
            assert_eq!(w.audit().len(), rows + 1, "{action:?} {fault:?}");
            assert_eq!(code(w.run(command)), "nonce_replayed", "{action:?} {fault:?}");
        }
        w.assert_sound();
    }
}

#[test]
fn in_doubt_only_what_can_be_sent_again_is_said_to_be_retryable() {
    let key = IdempotencyKey { key: "k".to_owned(), fingerprint: [0; 32] };
    for (body, idempotency, repeatable) in
        [(r#"{"amount":1}"#, None, false), (r#"{"amount":1,"reference":"back"}"#, None, true), (r#"{"amount":1}"#, Some(key), true)]
    {
        let (w, faults, client, _) = failing();
        w.run(signed(&client, 1, w.create(&client, "paid", "10"))).unwrap();
        let reverse = Reverse { idempotency, ..reverse(client.caller, "paid", body) };
        assert_eq!(reverse.is_repeatable(), repeatable, "{body}");
        faults.script([Some(CommitFault::LostBefore)]);
        let error = w.run(signed(&client, 2, reverse)).unwrap_err();
        assert_eq!((error.code, error.retryable), (ErrorCode::StoreUnavailable, repeatable), "{body}");
        assert_eq!(error.problem().retryable, repeatable, "{body}");
    }
}

#[test]
fn a_refusal_whose_commit_was_made_but_not_answered_is_still_the_refusal() {
    let (w, faults, client, _) = failing();
    for (n, fault) in (1..).zip([CommitFault::LostAfter, CommitFault::Conflict]) {
        faults.script([Some(fault)]);
        assert_eq!(code(w.run(signed(&client, n, w.create(&client, "big", "2000000")))), "insufficient_funds");
        assert!(w.engine.is_burnt(&nonce(n).hash).unwrap(), "{fault:?}");
    }
    assert_eq!(w.audit().len(), 2);
}

#[test]
fn a_fault_of_the_store_leaves_no_record_of_what_did_not_happen() {
    for failing_reads in 1..=6 {
        let (w, faults, client, mut commands) = failing();
        commands.push(signable_as(AuditAction::CreateSettlement, w.create(&client, "big", "2000000")));
        commands.push(signable_as(AuditAction::CreateSettlement, w.create(&client, "new", "10")));
        for (n, (action, command)) in (1..).zip(commands) {
            let rows = w.audit();
            faults.fail_reads(failing_reads);
            let answer = w.run(signed(&client, n, command));
            faults.calm();
            let kept = w.audit().len() - rows.len();
            match answer {
                Ok(_) => assert_eq!(kept, 1, "{action:?}"),
                Err(error) if error.code.http_status() >= 500 => assert_eq!(kept, 0, "{action:?}: {error}"),
                Err(error) => assert_eq!((kept, error.code.as_str()), (1, "insufficient_funds"), "{action:?}"),
            }
        }
        w.assert_sound();
    }
}

#[test]
fn a_refusal_that_was_not_recorded_is_not_answered_as_one() {
    let (w, faults, client, _) = failing();
    for (n, fault) in (1..).zip([CommitFault::Unavailable, CommitFault::LostBefore]) {
        faults.script([Some(fault)]);
        assert_eq!(code(w.run(signed(&client, n, w.create(&client, "big", "2000000")))), "store_unavailable");
        assert!(!w.engine.is_burnt(&nonce(n).hash).unwrap(), "{fault:?}");
    }
    assert!(w.audit().is_empty());
}
