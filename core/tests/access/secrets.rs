//! The gateway's own secrets: generated once, rotated, and resealed when the master key changes.

use railgate::auth::ChallengeKeys;
use railgate::ledger::Mode;
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::record::{ClientRecord, Key, RecordKind, SecretKind, SecretRecord};

use super::*;

fn keys(w: &World) -> ChallengeKeys {
    w.engine.challenge_keys().unwrap()
}

fn stored(w: &World, kind: SecretKind) -> Vec<SecretRecord> {
    let all: Vec<SecretRecord> = typed_all(w.store.scan(&Scan::all(RecordKind::Secret, usize::MAX)).unwrap()).unwrap();
    all.into_iter().filter(|secret| secret.kind == kind).collect()
}

fn issue(w: &World) -> String {
    keys(w).issue(Mode::Sandbox, w.env.now(), [3; 11])
}

fn accepts(w: &World, challenge: &str) -> bool {
    keys(w).check(challenge, Mode::Sandbox, w.env.now()).is_ok()
}

fn with_master(keys: &[(u32, [u8; 32])]) -> Config {
    Config { master: Some(Arc::new(MasterKeys::new(keys.to_vec()).unwrap())), ..Config::default() }
}

#[test]
fn of_two_nodes_the_first_makes_the_secrets_for_both() {
    over_each_store(|w| {
        let slow = Meddling::over(w.store.clone());
        let late = World::over(slow.clone(), sealing());
        let fast = Arc::new(w.node(sealing()));
        let first = fast.clone();
        slow.before_commit(move || drop(keys(&first)));
        let challenge = issue(&late);
        assert!(accepts(&fast, &challenge) && accepts(&late, &issue(&fast)));
        assert_eq!((stored(&w, SecretKind::Challenge).len(), stored(&w, SecretKind::Receipt).len()), (1, 1));
        assert_eq!(late.engine.receipt_keys().unwrap(), fast.engine.receipt_keys().unwrap());
    });
}

#[test]
fn secrets_are_made_although_the_store_refuses_at_first() {
    let faults = Arc::new(Faulty::new(MemoryStore::new()));
    let w = World::over(faults.clone(), sealing());
    faults.script([Some(CommitFault::Conflict)]);
    assert_eq!(w.engine.receipt_keys().unwrap().len(), 1);

    let faults = Arc::new(Faulty::new(MemoryStore::new()));
    let w = World::over(faults.clone(), sealing());
    for fault in [CommitFault::Unavailable, CommitFault::LostBefore, CommitFault::LostAfter] {
        faults.script([Some(fault)]);
        assert_eq!(w.engine.challenge_keys().err().unwrap().code.as_str(), "store_unavailable");
    }
    let challenge = issue(&w);
    assert!(accepts(&w.node(sealing()), &challenge));
    assert_eq!(stored(&w, SecretKind::Challenge).len(), 1);
}

#[test]
fn a_challenge_outlives_the_rotation_of_its_key() {
    over_each_store(|w| {
        let old = issue(&w);
        w.pass(1_000);
        w.operate(Rotate(SecretKind::Challenge)).unwrap();
        let new = issue(&w);
        assert!(accepts(&w, &old) && accepts(&w, &new));
        w.pass(298_999);
        assert!(accepts(&w, &old), "until its end");
        w.pass(1_001);
        assert!(!accepts(&w, &old) && keys(&w).knows(&old), "ended, but known as one of ours");
        w.pass(3_600_000);
        assert!(!keys(&w).knows(&old) && keys(&w).knows(&new), "the old key is out of use after an hour");
        w.operate(Rotate(SecretKind::Challenge)).unwrap();
        let numbers: Vec<u32> = stored(&w, SecretKind::Challenge).iter().map(|secret| secret.no).collect();
        assert_eq!(numbers, [2, 3], "and gone with the next rotation");
    });
}

#[test]
fn two_rotations_in_one_group_follow_each_other() {
    over_each_store(|w| {
        let old = issue(&w);
        assert_eq!(codes(&w.engine, vec![Operated(Rotate(SecretKind::Challenge)); 2]), ["ok", "ok"]);
        let numbers: Vec<(u32, bool)> =
            stored(&w, SecretKind::Challenge).iter().map(|secret| (secret.no, secret.retired_at.is_some())).collect();
        assert_eq!(numbers, [(1, true), (2, true), (3, false)]);
        assert!(accepts(&w, &old));
    });
}

#[test]
fn retired_receipt_keys_stay() {
    over_each_store(|w| {
        let first = w.engine.receipt_keys().unwrap();
        for _ in 0..3 {
            w.pass(86_400_000);
            w.operate(Rotate(SecretKind::Receipt)).unwrap();
        }
        let all = w.engine.receipt_keys().unwrap();
        assert_eq!((all.len(), all[0].public, all[0].retired_at), (4, first[0].public, Some(START + 86_400_000)));
        assert_eq!(all.iter().filter(|key| key.retired_at.is_none()).count(), 1);
        assert_eq!(all[3].retired_at, None);
    });
}

#[test]
fn resealed_under_a_new_master_key_everything_opens_with_it_alone() {
    over_each_store(|w| {
        let secret = w.enroll(1).webhook_secret.unwrap();
        w.run(Enroll { name: "Host".to_owned(), key: None }).unwrap();
        let challenge = issue(&w);
        w.operate(Rotate(SecretKind::Challenge)).unwrap();
        let both = w.node(with_master(&[(2, [8; 32]), (1, [9; 32])]));
        // Two challenge keys, one receipt key, one log key and two clients.
        assert_eq!(both.engine.reseal().unwrap(), 6);
        assert_eq!(both.engine.reseal().unwrap(), 0, "nothing is left to do");
        let new = w.node(with_master(&[(2, [8; 32])]));
        assert!(accepts(&new, &challenge));
        let client: ClientRecord = typed_all(w.store.scan(&Scan::after(&Key::Client(ClientNo(0)), 1)).unwrap()).unwrap().remove(0);
        let master = MasterKeys::new(vec![(2, [8; 32])]).unwrap();
        let opened = master.open("client/1/webhook_secret", &client.webhook_secret).unwrap();
        assert_eq!(secret, format!("whsec_{}", base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &*opened)));
        assert_eq!(w.engine.challenge_keys().err().unwrap().code.as_str(), "internal", "the old one opens nothing any more");
        w.assert_sound();
    });
}

#[test]
fn a_wrong_master_key_is_refused_and_overwrites_nothing() {
    over_each_store(|w| {
        w.enroll(1);
        keys(&w);
        let before = w.everything();
        // An unknown id, the right id with another secret, and the latter together with a new key.
        let wrong: [&[(u32, [u8; 32])]; 3] = [&[(7, [1; 32])], &[(1, [1; 32])], &[(2, [2; 32]), (1, [1; 32])]];
        for (n, list) in wrong.into_iter().enumerate() {
            let other = w.node(with_master(list));
            let error = other.engine.challenge_keys().err().unwrap();
            assert_eq!(error.code.as_str(), "internal");
            let why = format!("{error:?}").to_lowercase();
            assert!(why.contains(if n == 0 { "unknownkey" } else { "forged" }) || why.contains("master key"), "{why}");
            if n != 1 {
                assert_eq!(code(other.engine.reseal()), "internal");
            }
            assert_eq!(w.everything(), before);
        }
        let none = w.node(Config::default());
        assert_eq!(none.engine.challenge_keys().err().unwrap().code.as_str(), "internal");
        assert_eq!(code(none.engine.reseal()), "internal");
        assert_eq!(code(none.operate(Rotate(SecretKind::Challenge))), "internal");
        assert_eq!(w.everything(), before);
        keys(&w);
    });
}

#[test]
fn resealing_keeps_what_another_process_changes_between_its_read_and_its_write() {
    over_each_store(|w| {
        let client = w.client(1);
        keys(&w);
        let made = w.run(new_hook(client.caller, None)).unwrap().endpoint;
        let slow = Meddling::over(w.store.clone());
        let both = World::over(slow.clone(), with_master(&[(2, [8; 32]), (1, [9; 32])]));
        let operator = Arc::new(w.node(sealing()));
        let (suspend, other) = (Suspend(client.caller.client_id), operator.clone());
        slow.before_write(RecordKind::Client, move || drop(other.operate(suspend).unwrap()));
        assert_eq!(both.engine.reseal().unwrap(), 5);
        assert_eq!(code(w.engine.signatory(&public(1).id())), "client_suspended");

        let back = World::over(slow.clone(), with_master(&[(1, [9; 32]), (2, [8; 32])]));
        let (caller, id, other) = (client.caller, made.id, Arc::new(both.node(with_master(&[(2, [8; 32]), (1, [9; 32])]))));
        slow.before_write(RecordKind::EndpointSecret, move || {
            drop(other.run(RotateWebhookSecret { caller, id, grace_ms: 1_000 }).unwrap());
        });
        assert_eq!(back.engine.reseal().unwrap(), 5);
        assert_eq!(back.engine.webhook_secrets(made.no).unwrap().len(), 2);
        back.pass(1_001);
        assert_eq!(back.engine.webhook_secrets(made.no).unwrap().len(), 1, "the old secret still ends");
        w.assert_sound();
    });
}

#[test]
fn resealing_keeps_a_suspension_that_comes_meanwhile() {
    over_each_store(|w| {
        let client = w.client(1);
        keys(&w);
        let slow = Meddling::over(w.store.clone());
        let both = World::over(slow.clone(), with_master(&[(2, [8; 32]), (1, [9; 32])]));
        let operator = w.node(sealing());
        let suspend = Suspend(client.caller.client_id);
        slow.after_clients(move || drop(operator.operate(suspend).unwrap()));
        // One key of each kind and the client.
        assert_eq!(both.engine.reseal().unwrap(), 4);
        assert_eq!(code(w.engine.signatory(&public(1).id())), "client_suspended");
    });
}
