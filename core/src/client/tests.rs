//! A session against a server that follows a script and verifies the requests it gets.

use super::*;
use crate::auth::{Algorithm, Message, RustCrypto, Signer as _, SoftwareKey, find_signature, to_der};

const NOW: Millis = 1_763_733_600_000;

fn key(n: u8) -> SoftwareKey {
    SoftwareKey::ed25519(&[n; 32])
}

fn session() -> Session {
    Session::new("http://127.0.0.1:8080/", Mode::Sandbox, key(1).public_key()).unwrap()
}

fn answer(status: u16, body: &str) -> Response<'_> {
    Response { status, headers: &[], body: body.as_bytes() }
}

fn ready() -> Session {
    let mut session = session();
    assert!(session.learn(&answer(200, r#"{"challenge":"c1.first.tag","expires_in":300}"#), NOW));
    assert!(session.learn(&answer(200, r#"{"access_token":"rg_sandbox_x","token_type":"Bearer","expires_in":900}"#), NOW));
    session
}

/// The request, signed by the session's key.
fn sign(session: &Session, request: Request, authenticated: bool, now: Millis, random: [u8; 16]) -> Result<Request, ClientError> {
    let draft = session.draft(request, authenticated, now, random)?;
    let signature = key(1).sign(draft.to_sign()).unwrap();
    draft.finish(&signature)
}

/// Verifies as the server does; returns the nonce and the time.
#[track_caller]
fn verified(request: &Request, by: &PublicKey, tag: &str) -> (String, i64) {
    let uri = format!("http://127.0.0.1:8080{}", request.path);
    let fields: Vec<(&str, &[u8])> = request.headers.iter().map(|(n, v)| (n.as_str(), v.as_bytes())).collect();
    let message = Message { method: &request.method, target_uri: &uri, status: None, fields: &fields };
    let signed = find_signature(&message, tag).unwrap();
    assert_eq!(signed.key_id, by.id());
    signed.check_coverage(&message, !request.body.is_empty()).unwrap();
    signed.verify(&signed.base(&message).unwrap(), by, &RustCrypto).unwrap();
    (signed.nonce.clone(), signed.created)
}

#[test]
fn a_first_call_fetches_a_challenge_then_a_token_then_nothing() {
    let mut session = session();
    assert_eq!(session.needs(NOW, false), Some(Need::Challenge));
    let request = session.challenge_request();
    assert_eq!((request.path.as_str(), request.body.as_slice()), ("/api/v1/auth/challenges", &br#"{"environment":"sandbox"}"#[..]));
    assert!(request.headers.iter().all(|(name, _)| !name.starts_with("signature")));
    assert!(session.learn(&answer(200, r#"{"challenge":"c1.a.b","expires_in":300}"#), NOW));

    assert_eq!((session.needs(NOW, false), session.needs(NOW, true)), (None, Some(Need::Token)));
    let request = sign(&session, session.token_request(None), false, NOW, [2; 16]).unwrap();
    let (nonce, created) = verified(&request, &session.public_key(), TAG);
    assert_eq!((nonce.as_str(), created), ("c1.a.b.AgICAgICAgICAgICAgICAg", NOW / 1000));
    assert!(session.learn(&answer(200, r#"{"access_token":"t","expires_in":900}"#), NOW));
    assert_eq!(session.needs(NOW, true), None);
}

#[test]
fn every_call_is_signed_over_what_matters_and_another_nonce() {
    let session = ready();
    let mut call = Request::post("/api/v1/gateway/settlements?x=1", r#"{"amount":1}"#.to_owned());
    call.headers.push(("Authorization".to_owned(), "Bearer somebody else's".to_owned()));
    let first = sign(&session, call.clone(), true, NOW, [3; 16]).unwrap();
    let second = sign(&session, call.clone(), true, NOW, [4; 16]).unwrap();
    let nonces = [&first, &second].map(|request| verified(request, &session.public_key(), TAG).0);
    assert_ne!(nonces[0], nonces[1]);
    assert!(nonces.iter().all(|nonce| nonce.starts_with("c1.first.tag.")));
    let tokens: Vec<&str> =
        first.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case("authorization")).map(|(_, v)| v.as_str()).collect();
    assert_eq!(tokens, ["Bearer rg_sandbox_x"]);
    // Signing again replaces the old signature.
    let again = sign(&session, first, true, NOW, [5; 16]).unwrap();
    verified(&again, &session.public_key(), TAG);
}

#[test]
fn a_new_key_signs_the_same_request_too() {
    let session = ready();
    let new = key(2);
    let call = session.enroll_live_request(&new.public_key());
    let signed = sign(&session, call, false, NOW, [6; 16]).unwrap();
    let draft = session.draft_of_new_key(signed, &new.public_key(), NOW, [7; 16]).unwrap();
    let signature = new.sign(draft.to_sign()).unwrap();
    let signed = draft.finish(&signature).unwrap();
    let (first, _) = verified(&signed, &session.public_key(), TAG);
    let (second, _) = verified(&signed, &new.public_key(), TAG_NEW_KEY);
    assert_ne!(first, second);
    assert_eq!(signed.headers.iter().filter(|(name, _)| name == "content-digest").count(), 1);
}

#[test]
fn a_token_is_renewed_in_its_last_minute_and_a_short_one_in_its_last_half() {
    let mut session = ready();
    let challenge_lives = |session: &mut Session, at| session.learn(&answer(200, r#"{"challenge":"c1.n.n","expires_in":300}"#), at);
    for (after_s, wanted) in [(839, None), (840, Some(Need::Token))] {
        challenge_lives(&mut session, NOW + after_s * 1000);
        assert_eq!(session.needs(NOW + after_s * 1000, true), wanted, "{after_s}");
    }
    assert!(session.learn(&answer(200, r#"{"access_token":"short","expires_in":60}"#), NOW));
    challenge_lives(&mut session, NOW);
    assert_eq!(session.needs(NOW, true), None, "a token that was just taken is used");
    assert_eq!(session.needs(NOW + 30_000, true), Some(Need::Token));
}

#[test]
fn what_was_refused_before_anything_was_done_may_be_tried_once_more() {
    for (code, again, need) in [
        ("challenge_expired", true, Some(Need::Challenge)),
        ("challenge_invalid", true, Some(Need::Challenge)),
        ("token_expired", true, Some(Need::Token)),
        ("token_invalid", true, Some(Need::Token)),
        // It may be the client's own call, carried out.
        ("nonce_replayed", false, None),
        ("signature_invalid", false, None),
        ("reference_conflict", false, None),
        ("clock_skew", false, None),
    ] {
        let mut session = ready();
        let body = format!(r#"{{"code":"{code}","status":401}}"#);
        assert_eq!((session.hear(&answer(401, &body), NOW), session.needs(NOW, true)), (again, need), "{code}");
    }
    let mut session = ready();
    assert!(!session.hear(&answer(503, "<html>"), NOW));
    assert!(!session.hear(&answer(200, r#"{"code":"token_expired"}"#), NOW), "only a problem is a refusal");
}

#[test]
fn a_clock_that_is_wrong_is_put_right_by_the_server_s() {
    let mut session = ready();
    let headers = [("Date", "Fri, 21 Nov 2025 15:00:00 GMT")];
    let refused = Response { status: 401, headers: &headers, body: br#"{"code":"clock_skew"}"# };
    assert!(session.hear(&refused, NOW));
    let signed = sign(&session, Request::new("GET", "/api/v1/balances"), true, NOW + 2000, [8; 16]).unwrap();
    assert_eq!(verified(&signed, &session.public_key(), TAG).1, 1_763_737_202);
}

#[test]
fn a_fresh_challenge_is_taken_from_any_answer_once_the_old_one_is_half_over() {
    let mut session = ready();
    let headers = [("signature-challenge", "c1.second.tag")];
    let told = Response { status: 404, headers: &headers, body: b"{}" };
    session.hear(&told, NOW + 149_000);
    assert_eq!(session.snapshot().challenge.as_deref(), Some("c1.first.tag"));
    session.hear(&told, NOW + 150_000);
    assert_eq!(session.snapshot().challenge.as_deref(), Some("c1.second.tag"));
}

#[test]
fn a_session_is_kept_and_taken_up_again() {
    let kept = serde_json::to_string(&ready().snapshot()).unwrap();
    let mut session = session();
    session.restore(&serde_json::from_str(&kept).unwrap());
    assert_eq!(session.needs(NOW, true), None);
    assert_eq!(session.needs(NOW + 840_000, true), Some(Need::Challenge));
    session.restore(&Snapshot::default());
    assert_eq!(session.needs(NOW, true), Some(Need::Challenge));
}

#[test]
fn addresses_and_paths_are_signed_as_they_are_compared() {
    let base = |text: &str| Session::new(text, Mode::Live, key(1).public_key()).map(|session| session.base().to_owned()).ok();
    assert_eq!(base("HTTPS://Pay.Example.COM:443/Base/").as_deref(), Some("https://pay.example.com/Base"));
    assert_eq!(base("http://[::1]:80").as_deref(), Some("http://[::1]"));
    for bad in ["", "ftp://x", "pay.example.com", "http://", "http://:80", "http://user@host", "http://host?q", "http://a b"] {
        assert_eq!(base(bad), None, "{bad}");
    }
    for bad in ["balances", "/a b", "/a#b", ""] {
        let refused = sign(&ready(), Request::new("GET", bad), true, NOW, [9; 16]);
        assert!(matches!(refused, Err(ClientError::Path)), "{bad}");
    }
    let early = sign(&session(), Request::new("GET", "/x"), false, NOW, [9; 16]);
    assert!(matches!(early, Err(ClientError::NotReady)));
}

#[test]
fn an_answer_that_grants_nothing_is_told_from_one_that_cannot_be_read() {
    let mut session = ready();
    assert!(!session.learn(&answer(200, "<html>"), NOW));
    assert!(!session.learn(&answer(200, r#"{"challenge":"without an end"}"#), NOW));
    assert!(session.learn(&answer(202, r#"{"client_id":"cli_x","status":"pending"}"#), NOW));
    assert_eq!(session.needs(NOW, true), None);
}

#[test]
fn a_draft_takes_a_signature_of_its_key_s_kind() {
    let key = SoftwareKey::p256(&[7; 32]).unwrap();
    let mut session = Session::new("https://pay.example", Mode::Sandbox, key.public_key()).unwrap();
    assert!(session.learn(&answer(200, r#"{"challenge":"c1.a.b","expires_in":300}"#), NOW));
    let draft = session.draft(Request::new("GET", "/x"), false, NOW, [1; 16]).unwrap();
    let raw = key.sign(draft.to_sign()).unwrap();
    let der = to_der(raw.as_slice().try_into().unwrap());
    assert!(draft.clone().finish(&raw).unwrap() == draft.clone().finish(&der).unwrap());
    for bad in [&raw[..63], &[], &[0x30; 72]] {
        let refused = draft.clone().finish(bad).map(|_| ()).unwrap_err();
        assert!(matches!(refused, ClientError::Sign(SignError::Malformed(Algorithm::EcdsaP256Sha256))));
        assert_eq!(refused.code(), "malformed_signature");
    }
    assert!(matches!(session.draft(Request::new("GET", "/x"), true, NOW, [1; 16]), Err(ClientError::NotReady)));
}
