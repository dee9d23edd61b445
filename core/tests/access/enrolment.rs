//! The first session of a client.

use super::*;

#[test]
fn a_key_that_enrols_gets_a_token_that_works_and_funded_accounts() {
    over_each_store(|w| {
        let enrolled = w.enroll(1);
        let token = enrolled.token.unwrap();
        let credential = w.engine.authenticate(&token.text).unwrap();
        assert_eq!((credential.caller, credential.public), (enrolled.caller, public(1)));
        assert_eq!((credential.scopes, credential.expires_at), (ScopeSet::CLIENT, START + 900_000));
        assert_eq!(w.engine.signatory(&public(1).id()).unwrap().caller, enrolled.caller);
        assert_eq!(w.engine.balance(&enrolled.caller, "EUR").unwrap().available.as_str(), "1000000.00");
        assert_eq!(enrolled.key.unwrap().mode, railgate::ledger::Mode::Sandbox);
        w.assert_sound();
    });
}

#[test]
fn a_key_enrols_once() {
    over_each_store(|w| {
        let again = enrolment("Again", 1);
        assert_eq!(codes(&w.engine, vec![again.clone(); 2]), ["ok", "key_exists"], "within one group");
        let before = w.everything();
        assert_eq!(code(w.run(again)), "key_exists");
        assert_eq!(w.everything(), before, "the refused one left nothing behind");
        let other = w.client(2);
        assert_eq!(code(w.add_key(&other, 1)), "key_exists", "nor as another client's second key");
        assert_eq!(code(w.run(EnrollLive { caller: other.caller, key: public(1) })), "key_exists", "nor as a live one");
    });
}

#[test]
fn a_client_without_a_key_has_nothing_to_authenticate_with() {
    over_each_store(|w| {
        let enrolled = w.run(Enroll { name: "Host".to_owned(), key: None }).unwrap();
        assert!(enrolled.key.is_none() && enrolled.token.is_none());
        assert!(w.engine.keys(&enrolled.caller).unwrap().is_empty());
        assert!(!w.everything().iter().any(|record| matches!(record, Record::Token(_) | Record::Key(_))));
    });
}

#[test]
fn a_webhook_secret_needs_a_master_key() {
    let w = World::over(Arc::new(MemoryStore::new()), Config::default());
    assert!(w.enroll(1).webhook_secret.is_none());
    let stored = everything(&*w.store).into_iter().find_map(|record| match record {
        Record::Client(client) => Some(client.webhook_secret),
        _ => None,
    });
    assert_eq!(stored, Some(Vec::new()));
}

#[test]
fn the_database_holds_neither_the_webhook_secret_nor_the_token() {
    use base64::Engine as _;
    let dir = Dir::new();
    let w = World::over(dir.open(), sealing());
    let enrolled = w.enroll(1);
    let secret = enrolled.webhook_secret.unwrap();
    let token = enrolled.token.unwrap().text;
    let bytes = base64::engine::general_purpose::STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let body = token.strip_prefix("rg_sandbox_").unwrap();
    let random = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(body).unwrap();
    assert_eq!((bytes.len(), random.len()), (32, 44));
    let hidden: [&[u8]; 4] = [&bytes, &secret.as_bytes()["whsec_".len()..], body.as_bytes(), &random[..32]];
    let look = |when: &str| {
        let mut sought = 0;
        for file in std::fs::read_dir(&dir.0).unwrap() {
            let held = std::fs::read(file.unwrap().path()).unwrap();
            sought += usize::from(held.windows(8).any(|part| part == b"Client 1"));
            for secret in hidden {
                assert!(!held.windows(secret.len()).any(|part| part == secret), "{when}");
            }
        }
        assert!(sought > 0, "{when}: the client's name is there to be found");
    };
    look("while it is open, the log included");
    drop(w);
    look("after closing");
}

#[test]
fn what_went_out_at_enrolment_does_not_show_in_debug_output() {
    let w = World::over(Arc::new(MemoryStore::new()), sealing());
    let enrolled = w.enroll(1);
    let shown = format!("{enrolled:?}");
    assert!(!shown.contains(&enrolled.token.unwrap().text) && !shown.contains(&enrolled.webhook_secret.unwrap()));
}

#[test]
fn names_are_printable_and_short() {
    let w = World::over(Arc::new(MemoryStore::new()), sealing());
    for name in ["", "  ", "a\u{7}b", &"x".repeat(101)] {
        assert_eq!(code(w.run(enrolment(name, 1))), "invalid_fields", "{name:?}");
    }
    w.run(enrolment(&"x".repeat(100), 1)).unwrap();
}

#[test]
fn another_clients_many_keys_do_not_stand_in_the_way_of_enrolling_at_another_node() {
    over_each_store(|w| {
        // This node has not heard of the client that the other one enrols: it would give it the same number.
        let late = w.node(sealing());
        let full = w.client(0);
        for n in 1..50 {
            w.add_key(&full, n).unwrap();
        }
        let enrolled = late.enroll(60);
        assert_ne!(enrolled.caller.client, full.caller.client);
        assert_eq!(late.engine.authenticate(&enrolled.token.unwrap().text).unwrap().caller, enrolled.caller);
    });
}
