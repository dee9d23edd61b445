//! A client's keys, and an operator's actions on clients.

use railgate::store::record::KeyStatus;

use super::*;

fn revoke(client: &Client, n: u8) -> RevokeKey {
    RevokeKey { caller: client.caller, key: public(n).id() }
}

fn statuses(w: &World, client: &Client) -> Vec<(String, KeyStatus)> {
    w.engine.keys(&client.caller).unwrap().into_iter().map(|key| (key.key_id, key.status)).collect()
}

fn is(n: u8, status: KeyStatus) -> (String, KeyStatus) {
    (public(n).id().to_string(), status)
}

#[test]
fn a_second_key_signs_and_its_tokens_end_with_it() {
    over_each_store(|w| {
        let client = w.client(1);
        let second = w.add_key(&client, 2).unwrap();
        let token = w.token(second.no).text;
        assert_eq!(w.engine.authenticate(&token).unwrap().key, second.no);
        w.pass(5);
        let revoked = w.run(revoke(&client, 2)).unwrap();
        assert_eq!((revoked.status, revoked.revoked_at), (KeyStatus::Revoked, Some(START + 5)));
        assert_eq!(code(w.engine.authenticate(&token)), "token_invalid");
        w.pass(5);
        assert_eq!(w.run(revoke(&client, 2)).unwrap().revoked_at, Some(START + 5), "once more changes nothing");
        assert_eq!(statuses(&w, &client), [is(1, KeyStatus::Active), is(2, KeyStatus::Revoked)]);
    });
}

#[test]
fn a_revoked_key_never_comes_back() {
    over_each_store(|w| {
        let (one, two) = (w.client(1), w.client(3));
        w.add_key(&one, 2).unwrap();
        w.run(revoke(&one, 2)).unwrap();
        assert_eq!(code(w.add_key(&one, 2)), "key_exists");
        assert_eq!(code(w.add_key(&two, 2)), "key_exists");
        assert_eq!(code(w.run(EnrollLive { caller: two.caller, key: public(2) })), "key_exists");
        assert_eq!(code(w.run(enrolment("New", 2))), "key_exists");
        let approve = Approve { client: one.caller.client_id, key: Some(public(2).id()) };
        assert_eq!(code(w.operate(approve)), "key_not_found");
        assert_eq!(code(w.engine.signatory(&public(2).id())), "key_revoked");
    });
}

#[test]
fn a_key_that_is_revoked_in_the_group_of_its_approval_stays_revoked() {
    over_each_store(|w| {
        let client = w.client(1);
        w.run(EnrollLive { caller: client.caller, key: public(2) }).unwrap();
        let id = client.caller.client_id;
        let revoke = Operated(Revoke { client: id, key: public(2).id() });
        let approve = Operated(Approve { client: id, key: None });
        let (revoked, approved) = together(&w.engine, revoke, approve);
        assert_eq!((ended(revoked), ended(approved)), ("ok", "key_not_found"));
        assert_eq!(code(w.engine.signatory(&public(2).id())), "key_revoked");
    });
}

#[test]
fn a_live_key_waits_for_an_operator() {
    over_each_store(|w| {
        let client = w.client(1);
        let id = client.caller.client_id;
        let asked = w.run(EnrollLive { caller: client.caller, key: public(2) }).unwrap();
        assert_eq!(asked.status, KeyStatus::Pending);
        assert_eq!(code(w.engine.signatory(&asked.id)), "enrollment_pending");
        assert_eq!(code(w.run(IssueToken { key: asked.no, scopes: None, session: None })), "enrollment_pending");

        let other = w.client(3);
        let foreign = Approve { client: other.caller.client_id, key: Some(asked.id) };
        assert_eq!(code(w.operate(foreign)), "key_not_found", "not as another client's");
        w.run(EnrollLive { caller: client.caller, key: public(4) }).unwrap();
        w.operate(Approve { client: id, key: Some(asked.id) }).unwrap();
        assert_eq!(w.engine.signatory(&asked.id).unwrap().caller.mode, railgate::ledger::Mode::Live);
        assert_eq!(code(w.engine.signatory(&public(4).id())), "enrollment_pending", "only the one that was named");
        w.operate(Approve { client: id, key: None }).unwrap();
        w.engine.signatory(&public(4).id()).unwrap();
        assert_eq!(code(w.operate(Approve { client: id, key: None })), "key_not_found");
        assert!(w.token(asked.no).text.starts_with("rg_live_"));
    });
}

#[test]
fn a_sandbox_credential_neither_sees_nor_revokes_live_keys() {
    over_each_store(|w| {
        let client = w.client(1);
        let live = w.live(&client, 2);
        assert_eq!(statuses(&w, &client), [is(1, KeyStatus::Active)]);
        assert_eq!(code(w.run(revoke(&client, 2))), "key_not_found");
        w.engine.signatory(&public(2).id()).unwrap();
        assert_eq!(statuses(&w, &live), [is(1, KeyStatus::Active), is(2, KeyStatus::Active)]);
        w.run(revoke(&live, 1)).unwrap();
        assert_eq!(code(w.engine.signatory(&public(1).id())), "key_revoked");
    });
}

#[test]
fn other_clients_keys_are_not_there() {
    over_each_store(|w| {
        let (one, two) = (w.client(1), w.client(3));
        assert_eq!(code(w.run(revoke(&one, 3))), "key_not_found");
        assert_eq!(code(w.run(revoke(&one, 9))), "key_not_found", "as one that nobody has");
        let foreign = Revoke { client: one.caller.client_id, key: public(3).id() };
        assert_eq!(code(w.operate(foreign)), "key_not_found");
        assert_eq!(statuses(&w, &two), [is(3, KeyStatus::Active)]);
    });
}

#[test]
fn a_client_has_at_most_fifty_keys_that_are_not_revoked() {
    over_each_store(|w| {
        let client = w.client(0);
        let ended = codes(&w.engine, (1..60).map(|n| add_key(&client, n)));
        assert!(ended[..49].iter().all(|code| *code == "ok"), "{ended:?}");
        assert!(ended[49..].iter().all(|code| *code == "invalid_fields"), "in one group too: {ended:?}");
        assert_eq!(code(w.add_key(&client, 100)), "invalid_fields");
        assert_eq!(code(w.run(EnrollLive { caller: client.caller, key: public(100) })), "invalid_fields");
        let add = |n| AnyCommand::new(add_key(&client, n));
        let group = [AnyCommand::new(revoke(&client, 7)), add(100), add(101)];
        assert_eq!(codes(&w.engine, group), ["ok", "ok", "invalid_fields"]);
        let other = w.client(200);
        w.add_key(&other, 201).unwrap();
    });
}

#[test]
fn a_suspended_client_is_refused_until_it_is_resumed() {
    over_each_store(|w| {
        let (one, two) = (w.client(1), w.client(3));
        let token = w.token(one.key).text;
        w.operate(Suspend(one.caller.client_id)).unwrap();
        assert_eq!(code(w.engine.authenticate(&token)), "client_suspended");
        assert_eq!(code(w.engine.signatory(&public(1).id())), "client_suspended");
        w.engine.signatory(&public(3).id()).unwrap();
        w.operate(Resume(one.caller.client_id)).unwrap();
        w.engine.authenticate(&token).unwrap();
        let nobody = Ulid::new(START, 1);
        assert_ne!(nobody, two.caller.client_id);
        assert_eq!(code(w.operate(Suspend(nobody))), "client_not_found");
        assert_eq!(code(w.operate(Resume(nobody))), "client_not_found");
        assert_eq!(code(w.operate(Approve { client: nobody, key: None })), "client_not_found");
    });
}
