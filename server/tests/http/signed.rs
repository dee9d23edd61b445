//! Signed calls: what is accepted, and each way to be refused.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::Request;
use railgate::auth::{Signer, SoftwareKey, TAG, TAG_NEW_KEY};
use railgate::engine::{Approve, Operated, Resume, Suspend};
use railgate::env::Env as _;
use railgate::ids::Ulid;
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::time::parse_http_date;
use railgate_server::Hosted;
use railgate_server::gateway::Tenant;
use serde_json::{Value, json};

use super::support::{NOW, SETTLEMENTS, Service, live_call, service, service_with, sign_as};

const BODY: &str = r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"r-1"}"#;

/// A signed create that was not sent yet.
async fn create(service: &Service, reference: &str) -> Request<Body> {
    let body = BODY.replace("r-1", reference);
    let request = service.request("POST", SETTLEMENTS).header("content-type", "application/json").body(Body::from(body)).unwrap();
    service.sign(request, &*service.key_of(&service.token)).await
}

/// A signed read that was not sent yet.
async fn list(service: &Service) -> Request<Body> {
    let request = service.request("GET", &format!("{SETTLEMENTS}?limit=5")).body(Body::empty()).unwrap();
    service.sign(request, &*service.key_of(&service.token)).await
}

fn header(request: &Request<Body>, name: &str) -> String {
    request.headers()[name].to_str().unwrap().to_owned()
}

fn set(request: &mut Request<Body>, name: &'static str, value: &str) {
    request.headers_mut().insert(name, value.parse().unwrap());
}

/// Asserts how a request is refused, and that nothing was done.
async fn refused(service: &Service, request: Request<Body>, status: u16, code: &str) -> Value {
    let answer = service.exchange(request).await;
    assert!(answer.header("signature-challenge").unwrap().starts_with("c1."));
    if status == 401 {
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer realm=\"railgate\""));
        let wanted = answer.header("accept-signature").unwrap();
        assert!(wanted.contains("nonce=\"c1.") && wanted.ends_with(";tag=\"railgate\""), "{wanted}");
    }
    if code == "clock_skew" {
        // What a client sets its clock by.
        assert_eq!(answer.header("date").and_then(parse_http_date), Some(service.env.now() / 1_000 * 1_000));
    }
    let problem = answer.problem(status, code);
    let count = service.get(SETTLEMENTS).await.expect(200).json()["data"].as_array().unwrap().len();
    assert_eq!(count, 0, "something was created");
    problem
}

fn private(n: u8) -> Arc<SoftwareKey> {
    Arc::new(SoftwareKey::p256(&[n; 32]).unwrap())
}

#[tokio::test]
async fn a_changed_call_is_refused_whatever_was_changed() {
    let service = service().await;
    let other = service.enroll("Other").await;

    let mut method = list(&service).await;
    *method.method_mut() = "POST".parse().unwrap();
    let problem = refused(&service, method, 401, "signature_invalid").await;
    let base = problem["signature_base"].as_str().unwrap();
    assert!(base.starts_with("\"@method\": POST\n\"@target-uri\": http://127.0.0.1:"), "{base}");
    assert!(base.contains("\"authorization\": Bearer <redacted>\n") && !base.contains("rg_sandbox_"), "{base}");

    let mut path = list(&service).await;
    *path.uri_mut() = format!("{SETTLEMENTS}/export?limit=5").parse().unwrap();
    refused(&service, path, 401, "signature_invalid").await;
    let mut query = list(&service).await;
    *query.uri_mut() = format!("{SETTLEMENTS}?limit=6").parse().unwrap();
    refused(&service, query, 401, "signature_invalid").await;

    let mut body = create(&service, "b-1").await;
    *body.body_mut() = Body::from(BODY);
    refused(&service, body, 400, "digest_mismatch").await;
    let mut both = create(&service, "b-2").await;
    *both.body_mut() = Body::from(BODY);
    set(&mut both, "content-digest", &railgate::auth::content_digest(BODY.as_bytes()));
    refused(&service, both, 401, "signature_invalid").await;

    let mut token = create(&service, "t-1").await;
    set(&mut token, "authorization", &format!("Bearer {other}"));
    refused(&service, token, 401, "signature_invalid").await;
    let mut scheme = create(&service, "t-2").await;
    set(&mut scheme, "authorization", &format!("bearer {}", service.token));
    refused(&service, scheme, 401, "signature_invalid").await;
    let mut kind = create(&service, "c-1").await;
    set(&mut kind, "content-type", "application/json; charset=utf-8");
    refused(&service, kind, 401, "signature_invalid").await;
    let mut added = create(&service, "c-2").await;
    set(&mut added, "idempotency-key", "added-on-the-way");
    refused(&service, added, 401, "signature_invalid").await;
}

#[tokio::test]
async fn the_condition_of_a_change_is_signed_and_cannot_be_taken_away() {
    let service = service().await;
    let key = service.key_of(&service.token);
    let conditional = async || {
        let request = service.request("GET", SETTLEMENTS).header("if-match", "\"12\"").body(Body::empty()).unwrap();
        service.sign(request, &*key).await
    };
    let sent = conditional().await;
    assert!(header(&sent, "signature-input").contains("\"if-match\""));
    service.exchange(sent).await.expect(200);
    let mut taken_away = conditional().await;
    taken_away.headers_mut().remove("if-match");
    refused(&service, taken_away, 401, "signature_invalid").await;
    let mut any = conditional().await;
    set(&mut any, "if-match", "*");
    refused(&service, any, 401, "signature_invalid").await;
}

#[tokio::test]
async fn a_signature_must_be_there_once_and_cover_what_matters() {
    let service = service().await;
    let unsigned = service.request("POST", SETTLEMENTS).header("content-type", "application/json").body(Body::from(BODY)).unwrap();
    refused(&service, unsigned, 401, "signature_missing").await;

    let mut no_token = create(&service, "n-1").await;
    no_token.headers_mut().remove("authorization");
    refused(&service, no_token, 401, "token_missing").await;

    let mut twice = create(&service, "d-1").await;
    let (input, signature) = (header(&twice, "signature-input"), header(&twice, "signature"));
    set(&mut twice, "signature-input", &format!("{input}, {}", input.replace("sig1=", "sig2=")));
    set(&mut twice, "signature", &format!("{signature}, {}", signature.replace("sig1=", "sig2=")));
    refused(&service, twice, 401, "signature_invalid").await;

    // Signed as a call without a body, but sent with one.
    let bare = service.request("POST", SETTLEMENTS).header("content-type", "application/json").body(Body::empty()).unwrap();
    let mut uncovered = service.sign(bare, &*service.key_of(&service.token)).await;
    *uncovered.body_mut() = Body::from(BODY);
    let problem = refused(&service, uncovered, 401, "signature_invalid").await;
    assert!(problem["detail"].as_str().unwrap().contains("not covered"), "{problem:#}");

    for (what, with) in [("created=", "made="), ("nonce=", "once="), ("keyid=", "key="), ("alg=", "algorithm=")] {
        let mut lacking = create(&service, "l-1").await;
        let input = header(&lacking, "signature-input").replace(what, with);
        set(&mut lacking, "signature-input", &input);
        refused(&service, lacking, 401, "signature_invalid").await;
    }
    let mut garbled = create(&service, "g-1").await;
    set(&mut garbled, "signature", "sig1=:AAAA:");
    refused(&service, garbled, 401, "signature_invalid").await;
}

#[tokio::test]
async fn challenges_are_ours_and_fresh_and_clocks_agree() {
    let service = service().await;
    let key = service.key_of(&service.token);
    let now = service.env.now() / 1_000;
    let plain = || service.request("POST", SETTLEMENTS).header("content-type", "application/json").body(Body::from(BODY)).unwrap();

    let nonce = service.nonce().await;
    let forged = sign_as(&service, plain(), &*key, now, &nonce.replacen("c1.A", "c1.B", 1), TAG).await;
    refused(&service, forged, 401, "challenge_invalid").await;
    let made_up = sign_as(&service, plain(), &*key, now, "0123456789", TAG).await;
    refused(&service, made_up, 401, "challenge_invalid").await;
    // A challenge of the other mode is not valid for this key.
    let ask = Request::post("/api/v1/auth/challenges").header("content-type", "application/json");
    let live = service.exchange(ask.body(Body::from(r#"{"environment":"live"}"#)).unwrap()).await.expect(200).json();
    let other_mode = sign_as(&service, plain(), &*key, now, live["challenge"].as_str().unwrap(), TAG).await;
    refused(&service, other_mode, 401, "challenge_invalid").await;

    for created in [now - 301, now + 301] {
        let nonce = service.nonce().await;
        let skewed = sign_as(&service, plain(), &*key, created, &nonce, TAG).await;
        refused(&service, skewed, 401, "clock_skew").await;
    }
    let early = service.nonce().await;
    service.env.advance_to(NOW + 301_000);
    let late = sign_as(&service, plain(), &*key, now + 301, &early, TAG).await;
    refused(&service, late, 401, "challenge_expired").await;
}

#[tokio::test]
async fn a_nonce_counts_once_also_when_many_come_at_once() {
    let service = Arc::new(service().await);
    let read = list(&service).await;
    let (parts, _) = read.into_parts();
    let again = || Request::from_parts(parts.clone(), Body::empty());
    service.exchange(again()).await.expect(200);
    service.exchange(again()).await.problem(401, "nonce_replayed");

    let (parts, body) = create(&service, "once").await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let (service, request) = (Arc::clone(&service), Request::from_parts(parts.clone(), Body::from(body.clone())));
            tokio::spawn(async move { service.exchange(request).await.status.as_u16() })
        })
        .collect();
    let mut statuses = Vec::new();
    for task in tasks {
        statuses.push(task.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!((statuses[0], statuses[1], statuses[15]), (201, 401, 401), "{statuses:?}");
}

#[tokio::test]
async fn a_nonce_that_a_refused_create_burnt_stays_burnt_across_a_restart() {
    let named = |hosted: &mut Hosted| hosted.edge.public_url = Some("https://pay.example".to_owned());
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = service_with(Arc::clone(&store), named).await;
    let dear = first.request("POST", SETTLEMENTS).header("content-type", "application/json");
    let dear = dear.body(Body::from(BODY.replace(":1,", ":99999999,"))).unwrap();
    let (parts, body) = first.sign(dear, &*first.key_of(&first.token)).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let dear = || Request::from_parts(parts.clone(), Body::from(body.clone()));
    // Two calls that the first server never gets, with challenges from before the restart.
    let mut unsent = Vec::new();
    for reference in ["unsent-1", "unsent-2"] {
        unsent.push(create(&first, reference).await);
    }
    first.exchange(dear()).await.problem(422, "insufficient_funds");
    first.running.stop().await;

    let second = service_with(store, named).await;
    second.exchange(dear()).await.problem(401, "nonce_replayed");
    for call in unsent {
        second.exchange(call).await.expect(201);
    }
    second.exchange(dear()).await.problem(401, "nonce_replayed");
}

#[tokio::test]
async fn keys_and_tokens_come_and_go() {
    let service = service().await;
    let first = service.key_of(&service.token);
    // The same key cannot enrol twice, and signs only for itself.
    let jwk = |key: &SoftwareKey| serde_json::from_str::<Value>(&key.public_key().jwk()).unwrap();
    let post = |path: &str, body: Value| {
        Request::post(format!("/api/v1{path}")).header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
    };
    let again = service.sign(post("/auth/enrollments", json!({"jwk": jwk(&first), "client_name": "Twin"})), &*first).await;
    service.exchange(again).await.problem(409, "key_exists");
    let theirs = service.sign(post("/auth/enrollments", json!({"jwk": jwk(&private(3)), "client_name": "Thief"})), &*first).await;
    service.exchange(theirs).await.problem(401, "signature_invalid");
    let stranger = service.sign(post("/auth/tokens", json!({})), &*private(4)).await;
    service.exchange(stranger).await.problem(401, "key_unknown");

    // A second key, added by the first and itself; a token with fewer scopes for it.
    let second = private(5);
    let add = || {
        let request = service.request("POST", "/api/v1/auth/keys").header("content-type", "application/json");
        request.body(Body::from(json!({"jwk": jwk(&second), "label": "till 2"}).to_string())).unwrap()
    };
    let alone = service.sign(add(), &*first).await;
    service.exchange(alone).await.problem(401, "signature_missing");
    let now = service.env.now() / 1_000;
    let both = service.sign(add(), &*first).await;
    let both = sign_as(&service, both, &*second, now, &service.nonce().await, TAG_NEW_KEY).await;
    let added = service.exchange(both).await.expect(201).json();
    assert_eq!((&added["label"], &added["status"], &added["algorithm"]), (&json!("till 2"), &json!("active"), &json!("ecdsa-p256-sha256")));
    let narrow = service.sign(post("/auth/tokens", json!({"scope": "settlements:read"})), &*second).await;
    let narrow = service.exchange(narrow).await.expect(200).json();
    assert_eq!((&narrow["scope"], &narrow["expires_in"]), (&json!("settlements:read"), &json!(900)));
    let narrow = narrow["access_token"].as_str().unwrap().to_owned();
    service.keys.lock().unwrap().insert(narrow.clone(), Arc::clone(&second));

    // Calls that the token does not allow.
    let with = |method: &str, path: &str, token: &str| {
        Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"))
    };
    service.send(with("GET", SETTLEMENTS, &narrow).body(Body::empty()).unwrap()).await.expect(200);
    let denied = service.send(with("GET", "/api/v1/balances", &narrow).body(Body::empty()).unwrap()).await;
    assert_eq!(denied.header("www-authenticate"), Some("Bearer realm=\"railgate\", error=\"insufficient_scope\""));
    denied.problem(403, "insufficient_scope");
    let write = with("POST", SETTLEMENTS, &narrow).header("content-type", "application/json").body(Body::from(BODY)).unwrap();
    service.send(write).await.problem(403, "insufficient_scope");
    let wider = service.sign(post("/auth/tokens", json!({"scope": "admin"})), &*second).await;
    service.exchange(wider).await.problem(403, "insufficient_scope");

    // A revoked token, and a revoked key with all of its tokens.
    let keys = service.get("/api/v1/auth/keys").await.expect(200).json();
    assert_eq!(keys["data"].as_array().unwrap().len(), 2);
    let token = service.exchange(service.sign(post("/auth/tokens", json!({})), &*first).await).await.expect(200).json();
    let token = token["access_token"].as_str().unwrap().to_owned();
    service.keys.lock().unwrap().insert(token.clone(), Arc::clone(&first));
    let revoke = with("POST", "/api/v1/auth/tokens/revoke", &token).body(Body::empty()).unwrap();
    service.send(revoke).await.expect(204);
    service.send(with("GET", SETTLEMENTS, &token).body(Body::empty()).unwrap()).await.problem(401, "token_invalid");
    let kid = second.public_key().id();
    service.send(service.request("DELETE", &format!("/api/v1/auth/keys/{kid}")).body(Body::empty()).unwrap()).await.expect(204);
    service.send(with("GET", SETTLEMENTS, &narrow).body(Body::empty()).unwrap()).await.problem(401, "token_invalid");
    let gone = service.sign(post("/auth/tokens", json!({})), &*second).await;
    service.exchange(gone).await.problem(401, "key_revoked");
    service.send(service.request("DELETE", "/api/v1/auth/keys/nobody").body(Body::empty()).unwrap()).await.problem(404, "key_not_found");
}

/// A live key of the service's client, approved, with a token.
pub(crate) async fn live(service: &Service) -> (Arc<SoftwareKey>, String, String) {
    live_with_key(service, 6).await
}

/// The same, with another key for each client.
pub(crate) async fn live_with_key(service: &Service, n: u8) -> (Arc<SoftwareKey>, String, String) {
    let key = private(n);
    let pending = service.ask_live(&key).await.expect(202).json();
    assert_eq!((&pending["status"], &pending["environment"]), (&json!("pending"), &json!("live")));
    assert!(pending.get("access_token").is_none());
    service.live_token(&*key).await.problem(403, "enrollment_pending");

    let client = pending["client_id"].as_str().unwrap().to_owned();
    let client_id = Ulid::parse(client.strip_prefix("cli_").unwrap()).unwrap();
    let approve = Operated(Approve { client: client_id, key: None });
    service.running.gateway().run(Tenant::GATEWAY, approve).await.unwrap();
    let token = service.live_token(&*key).await.expect(200).json()["access_token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("rg_live_"));
    (key, token, client)
}

#[tokio::test]
async fn a_key_that_may_do_less_cannot_ask_for_live_access() {
    let service = service().await;
    let (first, narrow, wished) = (service.key_of(&service.token), private(7), private(8));
    let jwk = |key: &SoftwareKey| serde_json::from_str::<Value>(&key.public_key().jwk()).unwrap();
    let now = service.env.now() / 1_000;
    let add = service.request("POST", "/api/v1/auth/keys").header("content-type", "application/json");
    let add = add.body(Body::from(json!({"jwk": jwk(&narrow), "scope": "keys:write"}).to_string())).unwrap();
    let add = sign_as(&service, service.sign(add, &*first).await, &*narrow, now, &service.nonce().await, TAG_NEW_KEY).await;
    service.exchange(add).await.expect(201);
    let ask = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json");
    let ask = ask.body(Body::from(json!({"jwk": jwk(&wished), "environment": "live"}).to_string())).unwrap();
    let ask = sign_as(&service, service.sign(ask, &*narrow).await, &*wished, now, &service.nonce().await, TAG_NEW_KEY).await;
    service.exchange(ask).await.problem(403, "insufficient_scope");
}

#[tokio::test]
async fn sandbox_and_live_never_meet() {
    let service = service().await;
    let (key, token, _) = live(&service).await;
    let now = service.env.now() / 1_000;
    let live_call = async |method: &str, path: &str, body: &str| live_call(&service, (&*key, &token), method, path, body).await;
    // The sandbox's key cannot make a live settlement.
    let wish = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "m-1", "sandbox": false});
    service.post(SETTLEMENTS, &wish).await.problem(403, "mode_mismatch");
    // Live accounts have none of the sandbox's play money.
    let balances = live_call("GET", "/api/v1/balances", "").await.expect(200);
    assert!(balances.header("signature-challenge").is_some());
    assert_eq!(balances.json()["data"], json!([]));
    let body = r#"{"amount":1,"currency":"EUR","to":"msisdn:+254700000001","reference":"m-2"}"#;
    let answer = live_call("POST", SETTLEMENTS, body).await;
    assert!([422, 503].contains(&answer.status.as_u16()), "{}", answer.text());
    // A sandbox key does not see the live one, and cannot revoke it.
    let keys = service.get("/api/v1/auth/keys").await.expect(200).json();
    assert_eq!(keys["data"].as_array().unwrap().len(), 1);
    let path = format!("/api/v1/auth/keys/{}", key.public_key().id());
    service.send(service.request("DELETE", &path).body(Body::empty()).unwrap()).await.problem(404, "key_not_found");
    // A problem of a live call does not show its base.
    let request = Request::get(SETTLEMENTS).header("authorization", format!("Bearer {token}"));
    let ask = Request::post("/api/v1/auth/challenges").header("content-type", "application/json");
    let nonce = service.exchange(ask.body(Body::from(r#"{"environment":"live"}"#)).unwrap()).await.expect(200).json();
    let mut changed = sign_as(&service, request.body(Body::empty()).unwrap(), &*key, now, nonce["challenge"].as_str().unwrap(), TAG).await;
    *changed.uri_mut() = format!("{SETTLEMENTS}?limit=1").parse().unwrap();
    let problem = service.exchange(changed).await.problem(401, "signature_invalid");
    assert!(problem.get("signature_base").is_none(), "{problem:#}");
}

#[tokio::test]
async fn what_belongs_to_another_client_is_not_there() {
    let mut service = service().await;
    let theirs = service.settled("theirs", "sim:ok").await;
    let id = theirs["id"].as_str().unwrap().to_owned();
    service.token = service.enroll("Somebody else").await;
    for named in ["theirs", id.as_str()] {
        for part in ["", "/status", "/events", "/reversals", "/reversals/rev_x"] {
            service.get(&format!("{SETTLEMENTS}/{named}{part}")).await.problem(404, "settlement_not_found");
        }
        for part in ["/reverse", "/check"] {
            service.post(&format!("{SETTLEMENTS}/{named}{part}"), &json!({})).await.problem(404, "settlement_not_found");
        }
    }
    assert_eq!(service.get(&format!("{SETTLEMENTS}?reference=theirs")).await.json()["data"], json!([]));
    let export = service.send(
        service.request("GET", &format!("{SETTLEMENTS}/export")).header("accept", "application/x-ndjson").body(Body::empty()).unwrap(),
    );
    assert_eq!(export.await.expect(200).text(), "");
    // Any other client may use the reference.
    service.settled("theirs", "sim:ok").await;
}

#[tokio::test]
async fn a_suspended_client_is_refused_and_comes_back() {
    let service = service().await;
    let (_, _, client) = live(&service).await;
    let client = Ulid::parse(client.strip_prefix("cli_").unwrap()).unwrap();
    service.running.gateway().run(Tenant::GATEWAY, Operated(Suspend(client))).await.unwrap();
    service.env.advance_to(NOW + 5_001);
    service.get(SETTLEMENTS).await.problem(403, "client_suspended");
    service.running.gateway().run(Tenant::GATEWAY, Operated(Resume(client))).await.unwrap();
    service.get(SETTLEMENTS).await.expect(200);
}
