//! A session against a server that follows a script and verifies the requests it gets.

use super::*;
use crate::auth::{
    Algorithm, EphemeralKey, Message, RustCrypto, SessionBinding, SessionId, SessionKey, Signer as _, SoftwareKey, find_signature, to_der,
};

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
    assert!(session.learn(&answer(200, r#"{"challenge":"c1.first.tag","expires_in":300}"#), None, NOW));
    assert!(session.learn(&answer(200, r#"{"access_token":"rg_sandbox_x","token_type":"Bearer","expires_in":900}"#), None, NOW));
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
    assert_eq!(signed.key_id().unwrap(), by.id());
    signed.check_coverage(&message, !request.body.is_empty()).unwrap();
    signed.verify(&signed.base(&message).unwrap(), by, &RustCrypto).unwrap();
    (signed.nonce.to_string(), signed.created)
}

#[test]
fn a_first_call_fetches_a_challenge_then_a_token_then_nothing() {
    let mut session = session();
    assert_eq!(session.needs(NOW, false), Some(Need::Challenge));
    let request = session.challenge_request();
    assert_eq!((request.path.as_str(), request.body.as_slice()), ("/api/v1/auth/challenges", &br#"{"environment":"sandbox"}"#[..]));
    assert!(request.headers.iter().all(|(name, _)| !name.starts_with("signature")));
    assert!(session.learn(&answer(200, r#"{"challenge":"c1.a.b","expires_in":300}"#), None, NOW));

    assert_eq!((session.needs(NOW, false), session.needs(NOW, true)), (None, Some(Need::Token)));
    let request = sign(&session, session.token_request(None), false, NOW, [2; 16]).unwrap();
    let (nonce, created) = verified(&request, &session.public_key(), TAG);
    assert_eq!((nonce.as_str(), created), ("c1.a.b.AgICAgICAgICAgICAgICAg", NOW / 1000));
    assert!(session.learn(&answer(200, r#"{"access_token":"t","expires_in":900}"#), None, NOW));
    assert_eq!(session.needs(NOW, true), None);
}

#[test]
fn the_address_of_the_api_is_understood_as_that_of_the_server() {
    for (given, base) in [
        ("https://pay.example/api/v1", "https://pay.example"),
        ("https://pay.example/api/v1/", "https://pay.example"),
        ("https://pay.example/pay/api/v1", "https://pay.example/pay"),
        ("https://pay.example/api", "https://pay.example/api"),
    ] {
        assert_eq!(Session::new(given, Mode::Sandbox, key(1).public_key()).unwrap().base(), base, "{given}");
    }
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
    let challenge_lives = |session: &mut Session, at| session.learn(&answer(200, r#"{"challenge":"c1.n.n","expires_in":300}"#), None, at);
    for (after_s, wanted) in [(839, None), (840, Some(Need::Token))] {
        challenge_lives(&mut session, NOW + after_s * 1000);
        assert_eq!(session.needs(NOW + after_s * 1000, true), wanted, "{after_s}");
    }
    assert!(session.learn(&answer(200, r#"{"access_token":"short","expires_in":60}"#), None, NOW));
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
    assert!(!session.learn(&answer(200, "<html>"), None, NOW));
    assert!(!session.learn(&answer(200, r#"{"challenge":"without an end"}"#), None, NOW));
    assert!(session.learn(&answer(202, r#"{"client_id":"cli_x","status":"pending"}"#), None, NOW));
    assert_eq!(session.needs(NOW, true), None);
}

#[test]
fn a_draft_takes_a_signature_of_its_key_s_kind() {
    let key = SoftwareKey::p256(&[7; 32]).unwrap();
    let mut session = Session::new("https://pay.example", Mode::Sandbox, key.public_key()).unwrap();
    assert!(session.learn(&answer(200, r#"{"challenge":"c1.a.b","expires_in":300}"#), None, NOW));
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

/// A gateway's answer to a token call that offered `ephemeral`, and the session's key as the gateway has it.
fn granted(session: &Session, ephemeral: &str, signs: &str) -> (String, SessionKey) {
    let offered: [u8; 32] = URL_SAFE_NO_PAD.decode(ephemeral).unwrap().try_into().unwrap();
    let ours = X25519Secret::new([9; 32]);
    let id = SessionId([4; 16]);
    let bound = SessionBinding { token: "rg_sandbox_s", mode: Mode::Sandbox, key: session.public_key().id(), session: id };
    let key = bound.derive(&ours.agree(&offered).unwrap());
    let jwk = EphemeralKey::X25519(ours.public()).jwk();
    let half = format!(r#"{{"key_id":"{id}","jwk":{jwk},"alg":"hmac-sha256","signs":"{signs}","expires_in":900}}"#);
    (format!(r#"{{"access_token":"rg_sandbox_s","token_type":"Bearer","expires_in":900,"session":{half}}}"#), key)
}

const POLICY: RetryPolicy = RetryPolicy { tries: 1, timeout_ms: 1, pause_ms: 1, longest_pause_ms: 1, unconnected: true };

/// A session in the middle: it has a token whose calls are signed with the key that is returned.
fn shared(signs: &str) -> (Session, SessionKey) {
    let mut session = session();
    session.learn(&answer(200, r#"{"challenge":"c1.a.b","expires_in":300}"#), None, NOW);
    let mut exchange = Exchange::new(Call::new(Request::new("GET", "/api/v1/balances")), POLICY);
    let Step::Sign { message, .. } = exchange.next(&mut session, NOW, [2; 48]) else { panic!("the key signs the token call") };
    exchange.signed(&key(1).sign(&message).unwrap());
    let Step::Send { request, prepares: true, .. } = exchange.next(&mut session, NOW, [3; 48]) else { panic!("a token is fetched") };
    let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
    let (told, key) = granted(&session, body["session"]["jwk"]["x"].as_str().unwrap(), signs);
    exchange.answered(&mut session, &answer(200, &told), NOW);
    (session, key)
}

/// The first step of a call: `None` if the key is to sign it, otherwise what is sent.
fn sent(session: &mut Session, request: Request) -> (Exchange, Option<Request>) {
    let mut exchange = Exchange::new(Call::new(request), POLICY);
    match exchange.next(session, NOW, [5; 48]) {
        Step::Send { request, .. } => (exchange, Some(request)),
        Step::Sign { .. } => (exchange, None),
        Step::Pause(_) | Step::Done(_) => panic!(),
    }
}

#[test]
fn a_session_signs_what_it_may_and_the_key_all_else() {
    for (signs, writes) in [("all", true), ("reads", false)] {
        let (mut session, key) = shared(signs);
        for (request, may) in [
            (Request::new("GET", "/api/v1/balances"), true),
            (Request::new("GET", "/api/v1/auth/keys"), true),
            (Request::post("/api/v1/gateway/settlements", "{}".to_owned()), writes),
            (Request::post("/api/v1/auth/tokens/revoke", "{}".to_owned()), false),
            (Request::new("DELETE", "/api/v1/auth/keys/x"), false),
            (Request::post("/api/v1/operator/approvals/x/confirm", "{}".to_owned()), false),
        ] {
            let (_, signed) = sent(&mut session, request.clone());
            assert_eq!(signed.is_some(), may, "{signs}: {} {}", request.method, request.path);
            let Some(signed) = signed else { continue };
            let uri = format!("http://127.0.0.1:8080{}", signed.path);
            let fields: Vec<(&str, &[u8])> = signed.headers.iter().map(|(n, v)| (n.as_str(), v.as_bytes())).collect();
            let message = Message { method: &signed.method, target_uri: &uri, status: None, fields: &fields };
            let found = find_signature(&message, TAG).unwrap();
            found.check_coverage(&message, !signed.body.is_empty()).unwrap();
            found.verify_session(&found.base(&message).unwrap(), &key).unwrap();
        }
    }
}

#[test]
fn a_session_that_the_gateway_does_not_take_gives_way_to_the_key() {
    for code in ["signature_key_required", "key_unknown", "signature_invalid"] {
        let (mut session, _) = shared("all");
        let create = Request::post("/api/v1/gateway/settlements", "{}".to_owned());
        let (mut exchange, first) = sent(&mut session, create);
        assert!(first.is_some());
        exchange.answered(&mut session, &answer(401, &format!(r#"{{"code":"{code}"}}"#)), NOW);
        assert!(matches!(exchange.next(&mut session, NOW, [6; 48]), Step::Sign { by: SignedBy::Key, .. }), "{code}");
        assert_eq!(session.snapshot().session(), None);
    }
}

#[test]
fn each_call_in_flight_gives_way_to_the_key() {
    let (mut session, _) = shared("all");
    let create = || Request::post("/api/v1/gateway/settlements", "{}".to_owned());
    let mut calls = [sent(&mut session, create()).0, sent(&mut session, create()).0];
    for exchange in &mut calls {
        exchange.answered(&mut session, &answer(401, r#"{"code":"signature_key_required"}"#), NOW);
        assert!(matches!(exchange.next(&mut session, NOW, [6; 48]), Step::Sign { by: SignedBy::Key, .. }));
    }
}

#[test]
fn a_call_that_was_signed_anew_already_gives_way_to_the_key_too() {
    let (mut session, _) = shared("all");
    let (mut exchange, _) = sent(&mut session, Request::new("GET", "/api/v1/balances"));
    exchange.answered(&mut session, &answer(401, r#"{"code":"challenge_expired"}"#), NOW);
    assert!(matches!(exchange.next(&mut session, NOW, [6; 48]), Step::Send { prepares: true, .. }));
    exchange.answered(&mut session, &answer(200, r#"{"challenge":"c1.b.b","expires_in":300}"#), NOW);
    assert!(matches!(exchange.next(&mut session, NOW, [7; 48]), Step::Send { prepares: false, .. }));
    exchange.answered(&mut session, &answer(401, r#"{"code":"signature_key_required"}"#), NOW);
    assert!(matches!(exchange.next(&mut session, NOW, [8; 48]), Step::Sign { by: SignedBy::Key, .. }));
}

#[test]
fn a_call_that_the_key_signed_ends_no_session() {
    let (mut session, key) = shared("reads");
    let (mut exchange, none) = sent(&mut session, Request::post("/api/v1/gateway/settlements", "{}".to_owned()));
    assert!(none.is_none());
    exchange.signed(&self::key(1).sign(b"something else").unwrap());
    assert!(matches!(exchange.next(&mut session, NOW, [6; 48]), Step::Send { .. }));
    exchange.answered(&mut session, &answer(401, r#"{"code":"signature_invalid"}"#), NOW);
    assert!(matches!(exchange.next(&mut session, NOW, [7; 48]), Step::Done(Done { verdict: Verdict::Refused, .. })));
    assert_eq!(session.snapshot().session().map(|(key, _)| key), Some(key));
}

/// The request for a token that `exchange` sends next.
fn asked(exchange: &mut Exchange, session: &mut Session) -> serde_json::Value {
    let Step::Sign { message, .. } = exchange.next(session, NOW, [2; 48]) else { panic!("the key signs the token call") };
    exchange.signed(&key(1).sign(&message).unwrap());
    let Step::Send { request, prepares: true, .. } = exchange.next(session, NOW, [3; 48]) else { panic!("a token is fetched") };
    serde_json::from_slice(&request.body).unwrap()
}

#[test]
fn a_gateway_that_knows_no_sessions_is_asked_without_one() {
    let mut session = session();
    session.learn(&answer(200, r#"{"challenge":"c1.a.b","expires_in":300}"#), None, NOW);
    let mut exchange = Exchange::new(Call::new(Request::new("GET", "/api/v1/balances")), POLICY);
    assert!(asked(&mut exchange, &mut session)["session"]["jwk"].is_object());
    exchange.answered(&mut session, &answer(422, r#"{"code":"invalid_fields"}"#), NOW);
    assert_eq!(asked(&mut exchange, &mut session), serde_json::json!({}));
    exchange.answered(&mut session, &answer(200, r#"{"access_token":"rg_sandbox_t","expires_in":900}"#), NOW);
    assert!(matches!(exchange.next(&mut session, NOW, [4; 48]), Step::Sign { by: SignedBy::Key, .. }));
    // What refuses that, too, refuses a token.
    let mut session = self::session();
    session.learn(&answer(200, r#"{"challenge":"c1.a.b","expires_in":300}"#), None, NOW);
    let mut exchange = Exchange::new(Call::new(Request::new("GET", "/api/v1/balances")), POLICY);
    for _ in 0..2 {
        asked(&mut exchange, &mut session);
        exchange.answered(&mut session, &answer(422, r#"{"code":"invalid_fields"}"#), NOW);
    }
    assert!(matches!(exchange.next(&mut session, NOW, [4; 48]), Step::Done(Done { verdict: Verdict::NotDone, .. })));
}

#[test]
fn a_session_that_cannot_be_used_does_not_hide_its_token() {
    let right = |session: &Session, offered: &str| granted(session, offered, "all").0;
    type Change = (&'static str, &'static str, bool);
    const CHANGES: [Change; 5] = [
        (r#""signs":"all","#, "", true),
        (r#""signs":"all""#, r#""signs":"some""#, false),
        ("X25519", "X448", false),
        ("hmac-sha256", "hmac-sha512", false),
        ("ses_", "tok_", false),
    ];
    for (from, to, usable) in CHANGES {
        let mut session = session();
        session.learn(&answer(200, r#"{"challenge":"c1.a.b","expires_in":300}"#), None, NOW);
        let mut exchange = Exchange::new(Call::new(Request::new("GET", "/api/v1/balances")), POLICY);
        let offered = asked(&mut exchange, &mut session)["session"]["jwk"]["x"].as_str().unwrap().to_owned();
        let told = right(&session, &offered);
        assert!(told.contains(from), "{told}");
        exchange.answered(&mut session, &answer(200, &told.replace(from, to)), NOW);
        assert_eq!(session.snapshot().access_token.as_deref(), Some("rg_sandbox_s"), "{to}");
        assert_eq!(session.snapshot().session().is_some(), usable, "{to}");
    }
}

#[test]
fn a_session_ends_with_its_token_and_outlives_the_program() {
    let (mut session, key) = shared("all");
    let kept = serde_json::to_string(&session.snapshot()).unwrap();
    let mut next = self::session();
    next.restore(&serde_json::from_str(&kept).unwrap());
    assert_eq!(next.snapshot().session().map(|(key, _)| key), Some(key));
    assert!(sent(&mut next, Request::new("GET", "/api/v1/balances")).1.is_some());
    // What hosts keep where others may read it: the session goes on as long as the program.
    let bare = session.snapshot().without_session();
    let mut other = self::session();
    for (session, left) in [(&mut session, Some(key)), (&mut other, None)] {
        session.restore(&bare);
        assert_eq!(session.snapshot().session().map(|(key, _)| key), left);
    }

    session.hear(&answer(401, r#"{"code":"token_expired"}"#), NOW);
    assert_eq!(session.snapshot().session(), None);
    // A gateway of before, or one that grants none: the key signs.
    session.learn(&answer(200, r#"{"access_token":"rg_sandbox_t","expires_in":900}"#), None, NOW);
    assert!(sent(&mut session, Request::new("GET", "/api/v1/balances")).1.is_none());
}
