//! Clients and modes are apart: whatever is created, reversed or repeated, an answer shows only what its caller may read.

use std::sync::Arc;

use crate::support::live::{both_modes, fund_live, live};
use crate::support::{Sandbox, enroll, target};
use proptest::prelude::*;
use railgate::api::{Caller, IdempotencyKey, Target};
use railgate::engine::{Create, Reverse};
use railgate::ledger::Mode;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{IdempotencyRecord, RecordKind, SettlementRecord};
use railgate::store::{Commit, Scan, Write, typed_all};
use railgate::validate::parse_reverse;
use railgate::{Config, Error};

fn gateway() -> Sandbox {
    both_modes(Arc::new(MemoryStore::default()), Config::default())
}

fn create(s: &Sandbox, caller: Caller, reference: &str, sandbox: Option<bool>) -> Result<SettlementRecord, Error> {
    let mode = sandbox.map(|it| format!(r#","sandbox":{it}"#)).unwrap_or_default();
    let body = format!(r#"{{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"{reference}"{mode}}}"#);
    let request = Box::new(s.engine.parse_create(body.as_bytes()).unwrap());
    s.engine.run(Create { caller, request }).map(|created| *created.settlement)
}

/// A reversal as HTTP hands it over: the fingerprint covers the path and the body.
fn reversal(caller: Caller, named: Target, key: Option<&str>, body: &str) -> Reverse {
    let print = format!("{named}\0{body}").bytes().fold(7u64, |print, b| print.wrapping_mul(31).wrapping_add(b.into()));
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&print.to_be_bytes());
    let idempotency = key.map(|key| IdempotencyKey { key: key.to_owned(), fingerprint });
    Reverse { caller, target: named, request: Box::new(parse_reverse(body.as_bytes()).unwrap()), idempotency }
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code.as_str()
}

fn reversals(s: &Sandbox) -> usize {
    s.store.scan(&Scan::all(RecordKind::Reversal, usize::MAX)).unwrap().len()
}

#[test]
fn a_sandbox_credential_that_repeats_a_live_reversal_learns_nothing() {
    let s = gateway();
    create(&s, live(s.caller), "r", None).unwrap();
    s.work();
    let repeated = |caller| reversal(caller, target("r"), Some("k"), r#"{"amount":1}"#);
    assert!(!s.engine.run(repeated(live(s.caller))).unwrap().replayed);
    assert_eq!(code(s.engine.run(repeated(s.caller))), "settlement_not_found");
    assert_eq!(code(s.engine.run(repeated(enroll(&s.engine, "Other")))), "settlement_not_found");
    assert!(s.engine.run(repeated(live(s.caller))).unwrap().replayed);
    assert_eq!(reversals(&s), 1);
}

#[test]
fn the_keys_of_the_sandbox_and_of_live_calls_are_apart() {
    let s = gateway();
    create(&s, live(s.caller), "real", None).unwrap();
    create(&s, s.caller, "play", None).unwrap();
    s.work();
    let keyed = |caller, reference| s.engine.run(reversal(caller, target(reference), Some("k"), r#"{"amount":1}"#));
    assert!(!keyed(live(s.caller), "real").unwrap().replayed);
    assert!(!keyed(s.caller, "play").unwrap().replayed, "another key, in another mode");
    // A live credential may reverse in the sandbox: what it repeats there is a repetition, whoever was first.
    assert!(keyed(live(s.caller), "play").unwrap().replayed);
    assert!(keyed(live(s.caller), "real").unwrap().replayed);
    assert_eq!(reversals(&s), 2);
}

#[test]
fn a_key_from_before_keys_had_a_mode_still_prevents_a_second_reversal() {
    let s = gateway();
    create(&s, live(s.caller), "real", None).unwrap();
    create(&s, s.caller, "play", None).unwrap();
    s.work();
    for (caller, reference, key) in [(live(s.caller), "real", "k"), (s.caller, "play", "l")] {
        let keyed = |key, body| s.engine.run(reversal(caller, target(reference), Some(key), body));
        assert!(!keyed(key, r#"{"amount":1}"#).unwrap().replayed);
        let stored: Vec<IdempotencyRecord> = typed_all(s.store.scan(&Scan::all(RecordKind::Idempotency, 9)).unwrap()).unwrap();
        let row = stored.into_iter().find(|row| row.key.ends_with(key)).unwrap();
        let bare = IdempotencyRecord { key: key.to_owned(), ..row.clone() };
        let gone = Write::Delete(railgate::store::record::Record::from(row).key());
        s.store.commit(&Commit { writes: vec![gone, Write::Insert(bare.into())] }).unwrap();
        assert!(keyed(key, r#"{"amount":1}"#).unwrap().replayed, "{reference}");
        assert_eq!(code(keyed(key, r#"{"amount":2}"#)), "idempotency_key_reused", "{reference}");
    }
    assert_eq!(reversals(&s), 2);
}

/// A call of one of four credentials: two clients, each in both modes.
#[derive(Debug, Clone)]
enum Call {
    Create {
        who: usize,
        reference: String,
        sandbox: Option<bool>,
    },
    /// Of the settlement with this reference, or of the `n`-th of all by its id.
    Reverse {
        who: usize,
        named: Result<String, usize>,
        key: Option<String>,
        body: String,
    },
}

fn any_call() -> impl Strategy<Value = Call> {
    let names = || prop_oneof![3 => "[abc]".prop_map(Ok), 1 => (0usize..8).prop_map(Err)];
    let key = || prop::option::weighted(0.8, "[kl]");
    let body = || prop::sample::select(vec!["", r#"{"amount":1}"#, r#"{"amount":1,"reference":"x"}"#, r#"{"amount":2}"#]);
    prop_oneof![
        2 => (0usize..4, "[abc]", prop::option::of(any::<bool>())).prop_map(|(who, reference, sandbox)| Call::Create { who, reference, sandbox }),
        3 => (0usize..4, names(), key(), body())
            .prop_map(|(who, named, key, body)| Call::Reverse { who, named, key, body: body.to_owned() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    /// Every call is sent by every credential, so that each is repeated by the others.
    #[test]
    fn no_answer_and_no_replay_shows_what_its_caller_may_not_read(calls in prop::collection::vec(any_call(), 1..25)) {
        let s = gateway();
        let other = enroll(&s.engine, "Other");
        fund_live(&s, other, 2);
        let callers = [s.caller, live(s.caller), other, live(other)];
        let mut made: Vec<Target> = Vec::new();
        for call in calls {
            let (Call::Create { who: first, .. } | Call::Reverse { who: first, .. }) = &call;
            for caller in (0..4).map(|n| callers[(first + n) % 4]) {
                let shown = match &call {
                    Call::Create { reference, sandbox, .. } => create(&s, caller, reference, *sandbox),
                    Call::Reverse { named, key, body, .. } => {
                        let named = match named {
                            Ok(reference) => target(reference),
                            Err(n) if made.is_empty() => target(&format!("stl_01ARZ3NDEKTSV4RRFFQ69G5FA{n}")),
                            Err(n) => made[n % made.len()].clone(),
                        };
                        s.engine.run(reversal(caller, named, key.as_deref(), body)).map(|reversed| *reversed.settlement)
                    }
                };
                let Ok(shown) = shown else { continue };
                prop_assert!(shown.client == caller.client && (caller.mode == Mode::Live || shown.mode == Mode::Sandbox));
                let id = target(&s.engine.view(&shown, caller.client_id).id);
                prop_assert_eq!(s.engine.settlement(&caller, &id).unwrap().no, shown.no, "it may read what it is shown");
                if !made.contains(&id) {
                    made.push(id);
                }
            }
            s.work();
        }
    }
}
