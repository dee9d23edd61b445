//! Signed commands: each nonce is valid for one change.

use super::*;

fn somebody(w: &World) -> Client {
    let credential = w.engine.signatory(&public(1).id()).unwrap();
    Client { caller: credential.caller, key: credential.key }
}

#[test]
fn the_same_signed_change_happens_once() {
    over_each_store(|w| {
        let commands = signable(&w);
        let client = somebody(&w);
        for (n, (action, command)) in (1..).zip(commands) {
            let command = signed(&client, n, command);
            w.run(command.clone()).unwrap();
            assert!(w.engine.is_burnt(&nonce(n).hash).unwrap(), "{action:?}");
            let before = w.everything();
            assert_eq!(code(w.run(command.clone())), "nonce_replayed", "{action:?}");
            assert_eq!(codes(&w.engine, vec![command; 2]), ["nonce_replayed"; 2], "{action:?}");
            assert_eq!(w.everything(), before, "{action:?}: nothing changed");
        }
        w.assert_sound();
    });
}

#[test]
fn the_same_signed_change_twice_in_one_group_happens_once() {
    over_each_store(|w| {
        let commands = signable(&w);
        let client = somebody(&w);
        let (nonces, rows) = (w.nonces().len(), w.audit().len());
        for (n, (action, command)) in (1..).zip(commands) {
            let command = signed(&client, n, command);
            assert_eq!(codes(&w.engine, vec![command; 2]), ["ok", "nonce_replayed"], "{action:?}");
            assert_eq!((w.nonces().len(), w.audit().len()), (nonces + usize::from(n), rows + usize::from(n)), "{action:?}");
        }
        w.assert_sound();
    });
}

#[test]
fn a_nonce_that_one_change_spent_is_spent_for_every_other() {
    over_each_store(|w| {
        let client = w.client(1);
        assert_eq!(codes(&w.engine, [2, 4].map(|n| signed(&client, 1, add_key(&client, n)))), ["ok", "nonce_replayed"]);
        assert_eq!(w.engine.keys(&client.caller).unwrap().len(), 2);
        assert_eq!(code(w.run(signed(&client, 1, add_key(&client, 4)))), "nonce_replayed");
        w.run(signed(&client, 2, add_key(&client, 4))).unwrap();
    });
}

#[test]
fn a_refused_change_spends_its_nonce_too() {
    over_each_store(|w| {
        let client = w.client(1);
        let zero = Money::from_minor(0, Currency::from_code("EUR").unwrap());
        let refused = [
            (AnyCommand::new(enrolment("Again", 1)), "key_exists"),
            (AnyCommand::new(EnrollLive { caller: client.caller, key: public(1) }), "key_exists"),
            (AnyCommand::new(IssueToken { key: client.key, scopes: Some(ScopeSet::all()), session: None }), "insufficient_scope"),
            (AnyCommand::new(add_key(&client, 1)), "key_exists"),
            (AnyCommand::new(RevokeKey { caller: client.caller, key: public(9).id() }), "key_not_found"),
            (AnyCommand::new(Fund { caller: client.caller, money: zero }), "invalid_fields"),
            (AnyCommand::new(reverse(client.caller, "nothing", "")), "settlement_not_found"),
        ];
        for (n, (command, expected)) in (1..).zip(refused) {
            let command = signed(&client, n, command);
            assert_eq!(code(w.run(command.clone())), expected);
            assert!(w.engine.is_burnt(&nonce(n).hash).unwrap(), "{expected}");
            assert_eq!(w.audit().last().unwrap().refused.as_deref(), Some(expected));
            let before = w.everything();
            assert_eq!(code(w.run(command)), "nonce_replayed", "{expected}");
            assert_eq!(w.everything(), before, "{expected}");
        }
    });
}

#[test]
fn a_create_that_succeeds_spends_no_nonce_and_its_repeat_writes_nothing() {
    over_each_store(|w| {
        let client = w.client(1);
        let create = signed(&client, 1, w.create(&client, "r", "10"));
        assert!(!w.run(create.clone()).unwrap().replayed);
        assert!(w.nonces().is_empty() && !w.engine.is_burnt(&nonce(1).hash).unwrap());
        let before = w.everything();
        assert!(w.run(create).unwrap().replayed);
        let other = signed(&client, 2, w.create(&client, "r", "10.00"));
        assert!(w.run(other).unwrap().replayed, "under another nonce as well");
        assert_eq!(w.everything(), before);
    });
}

#[test]
fn a_refused_create_spends_its_nonce_since_it_might_succeed_later() {
    over_each_store(|w| {
        let client = w.client(1);
        assert_eq!(code(w.run(signed(&client, 1, w.create(&client, "r", "2000000")))), "insufficient_funds");
        assert!(w.engine.is_burnt(&nonce(1).hash).unwrap());
        w.run(signed(&client, 2, w.create(&client, "s", "10"))).unwrap();
        assert_eq!(code(w.run(signed(&client, 3, w.create(&client, "s", "11")))), "reference_conflict");
        assert!(w.engine.is_burnt(&nonce(3).hash).unwrap());
        assert_eq!(w.nonces().len(), 2);
    });
}

#[test]
fn creates_of_one_call_share_its_nonce() {
    over_each_store(|w| {
        let client = w.client(1);
        let create = |reference, amount| signed(&client, 1, w.create(&client, reference, amount));
        let batch = [create("a", "2000000"), create("b", "10"), create("c", "3000000"), create("b", "10")];
        assert_eq!(codes(&w.engine, batch), ["insufficient_funds", "ok", "insufficient_funds", "ok"]);
        assert_eq!(w.nonces().len(), 1);
        assert_eq!(w.audit().len(), 3, "the repeat of b was no deed");
        w.assert_sound();
    });
}

#[test]
fn a_repeated_reversal_spends_its_nonce_and_is_no_second_deed() {
    over_each_store(|w| {
        let client = w.client(1);
        w.run(w.create(&client, "r", "10")).unwrap();
        while w.engine.work(64, &()).unwrap() > 0 {}
        let body = r#"{"amount":3,"reference":"back"}"#;
        let first = w.run(signed(&client, 1, reverse(client.caller, "r", body))).unwrap();
        assert!(!first.replayed && first.reversal.is_some());
        let rows = w.audit();
        let again = w.run(signed(&client, 2, reverse(client.caller, "r", body))).unwrap();
        assert!(again.replayed);
        assert_eq!(w.audit(), rows);
        assert!(w.engine.is_burnt(&nonce(2).hash).unwrap());
        w.assert_sound();
    });
}

#[test]
fn a_spent_nonce_is_remembered_until_long_after_its_end() {
    over_each_store(|w| {
        let client = w.client(1);
        w.run(signed(&client, 1, add_key(&client, 2))).unwrap();
        w.pass(300_000 + 3_600_000);
        w.run(Maintain).unwrap();
        assert!(w.engine.is_burnt(&nonce(1).hash).unwrap());
        w.pass(1);
        w.run(Maintain).unwrap();
        assert!(w.nonces().is_empty());
    });
}

#[test]
fn a_credential_that_a_host_still_remembers_changes_nothing_for_good() {
    over_each_store(|w| {
        let client = w.client(1);
        let own = w.engine.signatory(&public(1).id()).unwrap();
        w.operate(Suspend(client.caller.client_id)).unwrap();
        let add = AddKey { caller: client.caller, key: public(4), label: None, scopes: own.scopes };
        assert_eq!(code(w.run(signed(&client, 1, add.clone()))), "client_suspended");
        w.operate(Resume(client.caller.client_id)).unwrap();
        w.run(signed(&client, 2, RevokeKey { caller: client.caller, key: own.key_id })).unwrap();
        let before = w.everything();
        assert_eq!(code(w.run(signed(&client, 3, add))), "key_revoked");
        assert_eq!(code(w.run(signed(&client, 4, reverse(client.caller, "r1", "{}")))), "key_revoked");
        assert_eq!(w.everything(), before);
    });
}
