//! Sessions: on what a key's owner and the gateway agree in the token call, and who may have one.

use railgate::ErrorCode;
use railgate::api::{Credential, IssuedSession};
use railgate::auth::{Curve, EphemeralKey, EphemeralSecret, SessionBinding, SessionKey};
use railgate::engine::PutTerms;
use railgate::ids::OperatorNo;
use railgate::ledger::Mode;
use railgate::store::record::TokenRecord;
use railgate::store::{Commit, Write, typed};
use railgate::terms::SessionUse;

use super::*;

/// The client's half of a session.
fn ours(curve: Curve) -> EphemeralSecret {
    EphemeralSecret::new(curve, [5; 32]).unwrap()
}

fn ask(w: &World, key: KeyNo, theirs: EphemeralKey) -> Result<IssuedToken> {
    let session = Some(w.engine.agree(&theirs)?);
    w.run(IssueToken { key, scopes: None, session })
}

/// The session's key as its client derives it.
fn derived(token: &IssuedToken, theirs: IssuedSession, credential: &Credential, ours: &EphemeralSecret) -> SessionKey {
    let bound = SessionBinding { token: &token.text, mode: credential.caller.mode, key: credential.key_id, session: theirs.id };
    bound.derive(&ours.agree(&theirs.public).unwrap())
}

fn agree_on(w: &World, client: &Client, uses: &[(&str, &str)]) {
    let uses: Vec<String> = uses.iter().map(|(mode, it)| format!(r#""{mode}":"{it}""#)).collect();
    let body = format!(r#"{{"client":"cli_{}","session_signatures":{{{}}}}}"#, client.caller.client_id, uses.join(","));
    w.operate(PutTerms { terms: vec![(serde_json::from_str(&body).unwrap(), None)], reason: None }).unwrap();
    w.engine.follow_setup().unwrap();
}

#[test]
fn both_sides_derive_one_key_and_every_node_has_it() {
    over_each_store(|w| {
        let client = w.client(1);
        for curve in [Curve::X25519, Curve::P256] {
            let ours = ours(curve);
            let token = ask(&w, client.key, ours.public()).unwrap();
            let theirs = token.session.unwrap();
            assert_eq!((theirs.public.curve(), theirs.signs), (curve, SessionUse::All));
            for engine in [&w.engine, &w.node(sealing()).engine] {
                let credential = engine.authenticate(&token.text).unwrap();
                assert_eq!(credential.session, Some(derived(&token, theirs, &credential, &ours)));
            }
        }
        assert_eq!(w.engine.authenticate(&w.token(client.key).text).unwrap().session, None, "nobody asked for one");
    });
}

#[test]
fn no_two_tokens_share_a_session() {
    over_each_store(|w| {
        let client = w.client(1);
        let ours = ours(Curve::X25519);
        let tokens = [1, 2].map(|_| ask(&w, client.key, ours.public()).unwrap());
        let keys = tokens.each_ref().map(|token| w.engine.authenticate(&token.text).unwrap().session.unwrap());
        assert_ne!(keys[0], keys[1]);
        assert_ne!(tokens[0].session.unwrap().public, tokens[1].session.unwrap().public, "each has an ephemeral key of its own");
        // A sealed key that was moved to another token does not open there.
        let [one, other] = tokens.each_ref().map(|token| Key::Token(token_hash(&token.text).unwrap()));
        let stored = |key: &Key| -> TokenRecord { typed(w.store.get(key).unwrap()).unwrap().unwrap() };
        let moved = TokenRecord { session: stored(&other).session, ..stored(&one) };
        w.store.commit(&Commit { writes: vec![Write::Delete(one)] }).unwrap();
        w.store.commit(&Commit { writes: vec![Write::Insert(moved.into())] }).unwrap();
        assert_eq!(w.engine.authenticate(&tokens[0].text).unwrap().session, None);
    });
}

#[test]
fn a_session_signs_what_its_client_was_granted() {
    over_each_store(|w| {
        let client = w.client(1);
        let live = w.live(&client, 3);
        let signs = |client: &Client| ask(&w, client.key, ours(Curve::X25519).public()).unwrap().session.map(|it| it.signs);
        assert_eq!((signs(&client), signs(&live)), (Some(SessionUse::All), Some(SessionUse::Reads)));
        agree_on(&w, &client, &[("live", "all"), ("sandbox", "reads")]);
        assert_eq!((signs(&client), signs(&live)), (Some(SessionUse::Reads), Some(SessionUse::All)));
        agree_on(&w, &client, &[("sandbox", "off")]);
        assert_eq!((signs(&client), signs(&live)), (None, Some(SessionUse::Reads)), "terms are replaced whole");
        assert_eq!(w.engine.session_use(OperatorNo(1).party(), Mode::Live), SessionUse::Reads);
    });
}

#[test]
fn a_key_that_everybody_could_know_the_secret_of_is_refused() {
    over_each_store(|w| {
        let client = w.client(1);
        // The points of small order, and some with other spellings (RFC 7748, section 6.1).
        let mut small = vec![[0; 32]];
        small.push(std::array::from_fn(|at| u8::from(at == 0)));
        small.push(std::array::from_fn(|at| {
            [0xec, 0x7f, 0xff][if at == 0 {
                0
            } else if at == 31 {
                1
            } else {
                2
            }]
        }));
        small.push(std::array::from_fn(|at| {
            [0xed, 0x7f, 0xff][if at == 0 {
                0
            } else if at == 31 {
                1
            } else {
                2
            }]
        }));
        for point in small {
            let refused = ask(&w, client.key, EphemeralKey::X25519(point)).unwrap_err();
            assert_eq!(refused.code, ErrorCode::InvalidFields);
            assert_eq!(refused.into_fields()[0].pointer, "/session/jwk/x");
        }
        assert_eq!(EphemeralKey::p256(&[4; 65]), None, "it is not on the curve");
    });
}

#[test]
fn a_gateway_without_master_keys_has_no_sessions() {
    let w = World::over(Arc::new(MemoryStore::new()), Config::default());
    let key = w.client(1).key;
    let token = ask(&w, key, ours(Curve::X25519).public()).unwrap();
    assert_eq!(token.session, None);
    w.engine.authenticate(&token.text).unwrap();
}
