//! Calls signed in a session: what is accepted, and each way to be refused.

use axum::body::Body;
use hyper::Request;
use railgate::auth::{
    Curve, EphemeralKey, EphemeralSecret, Outgoing, SessionBinding, SessionId, SessionKey, Signer, Stamp, TAG, sign_in_session,
};
use railgate::engine::{Operated, PutTerms};
use railgate::env::Env as _;
use railgate::ledger::Mode;
use railgate::store::record::OperatorRole;
use railgate_server::gateway::Tenant;
use serde_json::{Value, json};

use super::operators::person;
use super::support::{Answer, SETTLEMENTS, Service, service, sign_as};

const BODY: &str = r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"r-1"}"#;

/// A token with a session.
#[derive(Clone)]
pub(super) struct Shared {
    token: String,
    key: SessionKey,
    told: Value,
    mode: Mode,
}

fn ours(curve: Curve) -> EphemeralSecret {
    EphemeralSecret::new(curve, [5; 32]).unwrap()
}

async fn ask(service: &Service, jwk: &str) -> Answer {
    ask_as(service, &*service.key_of(&service.token), Mode::Sandbox, jwk).await
}

async fn nonce(service: &Service, mode: Mode) -> String {
    if mode.is_sandbox() { service.nonce().await } else { service.live_nonce().await }
}

async fn ask_as(service: &Service, key: &dyn Signer, mode: Mode, jwk: &str) -> Answer {
    let request = Request::post("/api/v1/auth/tokens").header("content-type", "application/json");
    let request = request.body(Body::from(format!(r#"{{"session":{{"jwk":{jwk}}}}}"#))).unwrap();
    let nonce = nonce(service, mode).await;
    service.exchange(sign_as(service, request, key, service.env.now() / 1_000, &nonce, TAG).await).await
}

fn bytes(told: &Value) -> [u8; 32] {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(told.as_str().unwrap()).unwrap().try_into().unwrap()
}

async fn shared_on(service: &Service, curve: Curve) -> Shared {
    begun_by(service, &*service.key_of(&service.token), Mode::Sandbox, curve).await
}

async fn begun_by(service: &Service, signer: &dyn Signer, mode: Mode, curve: Curve) -> Shared {
    let told = ask_as(service, signer, mode, &ours(curve).public().jwk()).await.expect(200).json();
    let half = &told["session"];
    assert_eq!((&half["alg"], &half["expires_in"]), (&json!("hmac-sha256"), &json!(900)));
    let theirs = match curve {
        Curve::X25519 => EphemeralKey::X25519(bytes(&half["jwk"]["x"])),
        Curve::P256 => EphemeralKey::p256(&[&[4], &bytes(&half["jwk"]["x"])[..], &bytes(&half["jwk"]["y"])].concat()).unwrap(),
    };
    let token = told["access_token"].as_str().unwrap().to_owned();
    let id = SessionId::parse(half["key_id"].as_str().unwrap()).unwrap();
    let bound = SessionBinding { token: &token, mode, key: signer.public_key().id(), session: id };
    let key = bound.derive(&ours(curve).agree(&theirs).unwrap());
    Shared { token, key, told: half.clone(), mode }
}

async fn shared(service: &Service) -> Shared {
    shared_on(service, Curve::X25519).await
}

/// A session that this key has begun in the sandbox.
pub(super) async fn begun(service: &Service, signer: &dyn Signer) -> Shared {
    begun_by(service, signer, Mode::Sandbox, Curve::X25519).await
}

/// The answer to a call that a session signs.
pub(super) async fn called(service: &Service, shared: &Shared, method: &str, path: &str, body: &str) -> Answer {
    service.exchange(call(service, shared, method, path, body).await).await
}

/// A call signed in a session.
async fn call(service: &Service, shared: &Shared, method: &str, path: &str, body: &str) -> Request<Body> {
    let nonce = nonce(service, shared.mode).await;
    let authorization = format!("Bearer {}", shared.token);
    let mut fields: Vec<(&str, &[u8])> = vec![("authorization", authorization.as_bytes())];
    if !body.is_empty() {
        fields.push(("content-type", b"application/json"));
    }
    let target_uri = format!("{}{path}", service.running.base_url());
    let outgoing = Outgoing { method, target_uri: &target_uri, fields: &fields, body: body.as_bytes() };
    let stamp = Stamp { created: service.env.now() / 1_000, nonce: &nonce, tag: TAG, label: "sig1" };
    let signed = sign_in_session(&shared.key, &outgoing, &stamp).unwrap();
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in fields {
        request = request.header(name, value);
    }
    if let Some(digest) = signed.content_digest {
        request = request.header("content-digest", digest);
    }
    let request = request.header("signature-input", signed.signature_input).header("signature", signed.signature);
    request.body(Body::from(body.to_owned())).unwrap()
}

async fn create(service: &Service, shared: &Shared, reference: &str) -> Request<Body> {
    call(service, shared, "POST", SETTLEMENTS, &BODY.replace("r-1", reference)).await
}

fn copy(request: &Request<Body>, body: &str) -> Request<Body> {
    let mut copy = Request::builder().method(request.method()).uri(request.uri());
    for (name, value) in request.headers() {
        copy = copy.header(name, value);
    }
    copy.body(Body::from(body.to_owned())).unwrap()
}

#[tokio::test]
async fn a_session_signs_calls_under_the_same_rules() {
    let service = service().await;
    for (n, curve) in [Curve::X25519, Curve::P256].into_iter().enumerate() {
        let shared = shared_on(&service, curve).await;
        assert_eq!(shared.told["signs"], "all");
        let reference = format!("r-{n}");
        let request = create(&service, &shared, &reference).await;
        let again = copy(&request, &BODY.replace("r-1", &reference));
        let created = service.exchange(request).await.expect(201).json();
        assert_eq!(created["reference"], reference);
        service.exchange(again).await.problem(401, "nonce_replayed");
        service.exchange(call(&service, &shared, "GET", &format!("{SETTLEMENTS}/{reference}"), "").await).await.expect(200);
    }
    let page = service.running.gateway().engine().audit(None, i64::MAX, 50).unwrap();
    let signed: Vec<_> = page.data.iter().filter(|it| it.action == "create_settlement").map(|it| it.signed_by).collect();
    assert_eq!(signed, [Some("session"); 2]);
}

#[tokio::test]
async fn a_changed_call_is_refused() {
    let service = service().await;
    let shared = shared(&service).await;
    let mut path = call(&service, &shared, "GET", SETTLEMENTS, "").await;
    *path.uri_mut() = format!("{SETTLEMENTS}?limit=6").parse().unwrap();
    service.exchange(path).await.problem(401, "signature_invalid");
    let body = create(&service, &shared, "b-1").await;
    service.exchange(copy(&body, BODY)).await.problem(400, "digest_mismatch");
    let uncovered = call(&service, &shared, "GET", SETTLEMENTS, "").await;
    let mut uncovered = copy(&uncovered, "");
    uncovered.headers_mut().insert("idempotency-key", "added-on-the-way".parse().unwrap());
    service.exchange(uncovered).await.problem(401, "signature_invalid");
}

#[tokio::test]
async fn a_session_is_of_no_use_for_another_token() {
    let service = service().await;
    let (one, other) = (shared(&service).await, shared(&service).await);
    let crossed = Shared { token: other.token.clone(), ..one.clone() };
    service.exchange(create(&service, &crossed, "c-1").await).await.problem(401, "key_unknown");
    // Under the other's name, with its own key.
    let mut renamed = one.key.to_bytes();
    renamed[..16].copy_from_slice(&other.key.id.0);
    let renamed = Shared { token: other.token.clone(), key: SessionKey::from_bytes(&*renamed).unwrap(), ..one.clone() };
    service.exchange(create(&service, &renamed, "c-2").await).await.problem(401, "signature_invalid");
    // A token without a session.
    let bare = Shared { token: service.token.clone(), ..one.clone() };
    service.exchange(create(&service, &bare, "c-3").await).await.problem(401, "key_unknown");
    service.exchange(create(&service, &one, "c-4").await).await.expect(201);
}

#[tokio::test]
async fn algorithms_are_not_confused() {
    let service = service().await;
    let shared = shared(&service).await;
    for (from, to) in [("hmac-sha256", "ed25519"), ("hmac-sha256", "ecdsa-p256-sha256"), ("hmac-sha256", "none")] {
        let mut request = call(&service, &shared, "GET", SETTLEMENTS, "").await;
        let input = request.headers()["signature-input"].to_str().unwrap().replace(from, to);
        request.headers_mut().insert("signature-input", input.parse().unwrap());
        service.exchange(request).await.problem(401, "signature_invalid");
    }
    // The key's id with the session's algorithm.
    let mut request = call(&service, &shared, "GET", SETTLEMENTS, "").await;
    let id = service.key_of(&service.token).public_key().id().to_string();
    let input = request.headers()["signature-input"].to_str().unwrap().replace(&shared.key.id.to_string(), &id);
    request.headers_mut().insert("signature-input", input.parse().unwrap());
    service.exchange(request).await.problem(401, "signature_invalid");
}

#[tokio::test]
async fn what_is_done_with_keys_and_tokens_the_key_signs() {
    let service = service().await;
    let shared = shared(&service).await;
    service.exchange(call(&service, &shared, "GET", "/api/v1/auth/keys", "").await).await.expect(200);
    let body = json!({"jwk": serde_json::from_str::<Value>(&railgate::auth::SoftwareKey::ed25519(&[3; 32]).public_key().jwk()).unwrap()});
    for (method, path, body) in [
        ("POST", "/api/v1/auth/keys", body.to_string()),
        ("DELETE", "/api/v1/auth/keys/NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", String::new()),
        ("POST", "/api/v1/auth/tokens/revoke", "{}".to_owned()),
        ("POST", "/api/v1/auth/tokens", "{}".to_owned()),
    ] {
        let problem = service.exchange(call(&service, &shared, method, path, &body).await).await.problem(401, "signature_key_required");
        assert_eq!(problem["retryable"], false, "{method} {path}");
    }
    service.exchange(call(&service, &shared, "GET", SETTLEMENTS, "").await).await.expect(200);
}

#[tokio::test]
async fn a_session_ends_with_its_token() {
    let service = service().await;
    let one = shared(&service).await;
    let request = service.request("POST", "/api/v1/auth/tokens/revoke").header("content-type", "application/json");
    let request = request.body(Body::from(json!({"token": one.token}).to_string())).unwrap();
    service.send(request).await.expect(204);
    service.exchange(create(&service, &one, "e-1").await).await.problem(401, "token_invalid");

    let other = shared(&service).await;
    service.env.advance_to(service.env.now() + 900_000);
    service.exchange(create(&service, &other, "e-2").await).await.problem(401, "token_expired");
}

#[tokio::test]
async fn what_a_client_was_granted_counts_at_each_call() {
    let service = service().await;
    let shared = shared(&service).await;
    service.exchange(create(&service, &shared, "g-1").await).await.expect(201);
    let client = service.get("/api/v1/auth/keys").await.expect(200);
    assert_eq!(client.json()["data"].as_array().unwrap().len(), 1);
    let id = service.exchange(call(&service, &shared, "GET", "/api/v1/gateway/settlements/g-1", "").await).await.expect(200).json();
    let client = id["client_id"].as_str().unwrap().to_owned();
    for (uses, reads, writes) in [("reads", 200, 401), ("off", 401, 401), ("all", 200, 201)] {
        let body = serde_json::from_value(json!({"client": client, "session_signatures": {"sandbox": uses}})).unwrap();
        let put = Operated(PutTerms { terms: vec![(body, None)], reason: None });
        service.running.gateway().run(Tenant::GATEWAY, put).await.unwrap();
        service.running.gateway().engine().follow_setup().unwrap();
        assert_eq!(service.exchange(call(&service, &shared, "GET", SETTLEMENTS, "").await).await.status, reads, "{uses}");
        let created = service.exchange(create(&service, &shared, &format!("g-{uses}")).await).await;
        assert_eq!(created.status, writes, "{uses}");
        if writes == 401 {
            created.problem(401, "signature_key_required");
        }
    }
}

#[tokio::test]
async fn an_operators_session_reads_and_changes_nothing() {
    let service = service().await;
    let ada = person(&service, 91, OperatorRole::Admin).await;
    let shared = begun_by(&service, &*ada.key, Mode::Live, Curve::P256).await;
    assert_eq!(shared.told["signs"], "reads");
    service.exchange(call(&service, &shared, "GET", "/api/v1/operator/clients", "").await).await.expect(200);
    let invite = json!({"name": "Bob", "role": "admin", "reason": "new"}).to_string();
    let explain = r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"x-1"}"#;
    for (path, body) in [("operators", &*invite), ("routes/explain", explain)] {
        let request = call(&service, &shared, "POST", &format!("/api/v1/operator/{path}"), body).await;
        service.exchange(request).await.problem(401, "signature_key_required");
    }
}

#[tokio::test]
async fn a_session_ends_with_the_key_that_began_it() {
    let service = service().await;
    let shared = shared(&service).await;
    service.exchange(create(&service, &shared, "k-1").await).await.expect(201);
    let path = format!("/api/v1/auth/keys/{}", service.key_of(&service.token).public_key().id());
    let request = service.request("DELETE", &path).body(Body::empty()).unwrap();
    service.send(request).await.expect(204);
    service.exchange(create(&service, &shared, "k-2").await).await.problem(401, "token_invalid");
}

#[tokio::test]
async fn a_useless_key_is_named_by_its_place() {
    let service = service().await;
    let zero = "A".repeat(43);
    for (jwk, pointer) in [
        (format!(r#"{{"kty":"OKP","crv":"X25519","x":"{zero}"}}"#), "/session/jwk/x"),
        (format!(r#"{{"kty":"EC","crv":"P-256","x":"{zero}","y":"{zero}"}}"#), "/session/jwk/x"),
        (format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{zero}"}}"#), "/session/jwk/crv"),
        (format!(r#"{{"kty":"OKP","crv":"X25519","x":"{zero}","d":"{zero}"}}"#), "/session/jwk/d"),
        (r#"{"kty":"oct","k":"AA"}"#.to_owned(), "/session/jwk/k"),
    ] {
        let problem = ask(&service, &jwk).await.problem(422, "invalid_fields");
        let pointers: Vec<&str> = problem["errors"].as_array().unwrap().iter().map(|it| it["pointer"].as_str().unwrap()).collect();
        assert!(pointers.contains(&pointer), "{pointers:?}: {jwk}");
    }
}
