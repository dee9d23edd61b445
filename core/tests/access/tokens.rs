//! Access tokens: what they allow, and when they end.

use railgate::auth::Scope;

use super::*;

/// Revokes a token; returns whether it existed.
fn revokes(w: &World, client: &Client, text: &str) -> bool {
    w.run(revocation(client, text)).unwrap()
}

fn revocation(client: &Client, text: &str) -> RevokeToken {
    RevokeToken { caller: client.caller, key: client.key, token: token_hash(text).unwrap() }
}

/// A token of another gateway: it has the form of one, and was never issued here.
fn made_up() -> String {
    railgate::auth::token_text(&railgate::ids::IdKey([7; 16]), railgate::ledger::Mode::Sandbox, &[7; 32], i64::MAX)
}

#[test]
fn a_token_ends_at_its_time() {
    over_each_store(|w| {
        let client = w.client(1);
        let token = w.token(client.key);
        w.pass(899_999);
        w.engine.authenticate(&token.text).unwrap();
        w.pass(1);
        assert_eq!(code(w.engine.authenticate(&token.text)), "token_expired");
        // It is deleted a day later.
        w.pass(86_400_001);
        w.run(Maintain).unwrap();
        assert_eq!(code(w.engine.authenticate(&token.text)), "token_expired");
        assert!(!revokes(&w, &client, &token.text));
    });
}

#[test]
fn noise_is_no_token() {
    over_each_store(|w| {
        let token = w.token(w.client(1).key).text;
        let mut mistyped = token.clone();
        mistyped.replace_range(20..21, if &token[20..21] == "A" { "B" } else { "A" });
        let foreign = made_up();
        let live = token.replace("rg_sandbox_", "rg_live_");
        for noise in ["", "rg_sandbox_", &mistyped, &foreign, &live, &token[..69], &format!("{token}A"), &format!(" {token}")] {
            assert_eq!(code(w.engine.authenticate(noise)), "token_invalid", "{noise}");
        }
        w.engine.authenticate(&token).unwrap();
    });
}

#[test]
fn a_token_may_do_less_than_its_key_and_never_more() {
    over_each_store(|w| {
        let client = w.client(1);
        let read = ScopeSet::NONE.with(Scope::SettlementsRead);
        let some = read.with(Scope::BalancesRead);
        let add = AddKey { caller: client.caller, key: public(2), label: Some("till".to_owned()), scopes: some };
        let narrow = w.run(add).unwrap();
        let take = |scopes| w.run(IssueToken { key: narrow.no, scopes, session: None });
        assert_eq!(take(None).unwrap().scopes, some);
        let narrower = take(Some(read)).unwrap();
        assert_eq!(w.engine.authenticate(&narrower.text).unwrap().scopes, read);
        for beyond in [some.with(Scope::Admin), ScopeSet::CLIENT, ScopeSet::NONE.with(Scope::KeysWrite), ScopeSet::NONE] {
            assert_eq!(code(take(Some(beyond))), "insufficient_scope", "{beyond}");
        }
        assert_eq!(code(w.run(IssueToken { key: KeyNo(999), scopes: None, session: None })), "key_unknown");
    });
}

#[test]
fn a_key_that_was_revoked_since_the_call_was_checked_takes_no_token() {
    over_each_store(|w| {
        let client = w.client(1);
        let other = w.add_key(&client, 2).unwrap();
        w.engine.signatory(&other.id).unwrap();
        let revoke = RevokeKey { caller: client.caller, key: other.id };
        let take = IssueToken { key: other.no, scopes: None, session: None };
        let (revoked, taken) = together(&w.engine, revoke, take.clone());
        assert_eq!((ended(revoked), ended(taken)), ("ok", "key_revoked"), "in one group");
        assert_eq!(code(w.run(take)), "key_revoked");
        assert_eq!(code(w.engine.signatory(&other.id)), "key_revoked");
    });
}

#[test]
fn a_client_revokes_its_own_tokens_only() {
    over_each_store(|w| {
        let (one, two) = (w.client(1), w.client(3));
        let live = w.live(&one, 5);
        let (mine, foreign, real) = (w.token(one.key).text, w.token(two.key).text, w.token(live.key).text);
        assert!(real.starts_with("rg_live_"));
        let before = w.everything();
        assert!(!revokes(&w, &one, &foreign), "another client's counts as done");
        assert!(!revokes(&w, &one, &real), "a sandbox credential has no power over live tokens");
        assert!(!revokes(&w, &one, &made_up()));
        assert_eq!(w.everything(), before);
        w.engine.authenticate(&foreign).unwrap();
        w.engine.authenticate(&real).unwrap();

        let twice = w.engine.run_all(vec![revocation(&one, &mine); 2]);
        assert_eq!(twice.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [true, false], "also twice in one group");
        assert_eq!(code(w.engine.authenticate(&mine)), "token_invalid");
        assert!(revokes(&w, &live, &real));
        assert_eq!(code(w.engine.authenticate(&real)), "token_invalid");
    });
}
