//! The mobile API as a backend and a phone call it.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use hyper::Request;
use railgate::auth::{Signer as _, SoftwareKey};
use railgate::store::memory::MemoryStore;
use serde_json::{Value, json};

use super::document::concrete;
use super::support::{Answer, SETTLEMENTS, Service, service, service_with};

pub(super) const MOBILE: &str = "/api/v1/mobile";

/// A phone with a key and a token.
pub(super) struct Phone {
    pub(super) key: Arc<SoftwareKey>,
    pub(super) token: String,
    pub(super) id: String,
}

impl Phone {
    pub(super) async fn call(&self, service: &Service, method: &str, path: &str, body: Value) -> Answer {
        let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {}", self.token));
        let request = match body {
            Value::Null => request.body(Body::empty()),
            body => request.header("content-type", "application/json").body(Body::from(body.to_string())),
        };
        service.exchange(service.sign(request.unwrap(), &*self.key).await).await
    }

    pub(super) async fn get(&self, service: &Service, path: &str) -> Answer {
        self.call(service, "GET", path, Value::Null).await
    }
}

/// A code for a user who is asked about payments of more than 100 EUR.
pub(super) async fn code(service: &Service, user: &str) -> Value {
    code_for(service, json!({"user": user, "limits": [{"currency": "EUR", "max": 500, "approval_over": 100}]})).await
}

async fn code_for(service: &Service, body: Value) -> Value {
    let made = service.post(&format!("{MOBILE}/enrollment-codes"), &body).await.expect(201);
    assert_eq!(made.header("cache-control"), Some("no-store"));
    made.json()
}

async fn enroll(service: &Service, n: u8, code: &str) -> Answer {
    let key = SoftwareKey::p256(&[n; 32]).unwrap();
    let jwk: Value = serde_json::from_str(&key.public_key().jwk()).unwrap();
    let body = json!({"code": code, "jwk": jwk, "platform": "android", "name": format!("phone {n}")}).to_string();
    let request = Request::post(format!("{MOBILE}/devices")).header("content-type", "application/json");
    service.exchange(service.sign(request.body(Body::from(body)).unwrap(), &key).await).await
}

pub(super) async fn phone(service: &Service, n: u8, user: &str) -> Phone {
    let code = code(service, user).await;
    enrolled(service, n, &code).await
}

/// The phone of this user, who is put first.
pub(super) async fn phone_of(service: &Service, n: u8, user: Value) -> Phone {
    let code = code_for(service, user).await;
    enrolled(service, n, &code).await
}

async fn enrolled(service: &Service, n: u8, made: &Value) -> Phone {
    let enrolled = enroll(service, n, made["code"].as_str().unwrap()).await.expect(201).json();
    assert_eq!((&enrolled["scope"], &enrolled["environment"]), (&json!("mobile"), &json!("sandbox")));
    Phone {
        key: Arc::new(SoftwareKey::p256(&[n; 32]).unwrap()),
        token: enrolled["access_token"].as_str().unwrap().to_owned(),
        id: enrolled["device"]["id"].as_str().unwrap().to_owned(),
    }
}

fn payment(reference: &str, amount: u32) -> Value {
    json!({"amount": amount, "currency": "EUR", "to": "sim:ok", "reference": reference})
}

pub(super) fn decision(settlement: &Value, decision: &str) -> Value {
    let shown = |name: &str| settlement[name].clone();
    let shown = json!({"amount": shown("amount"), "currency": shown("currency"), "to": shown("to"), "reference": shown("reference")});
    json!({"decision": decision, "shown": shown})
}

fn approval_path(settlement: &Value) -> String {
    format!("{MOBILE}/approvals/{}", settlement["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_user_enrols_a_phone_and_approves_a_payment_on_it() {
    let service = service().await;
    let ada = phone(&service, 41, "ada").await;
    let mut body = payment("p-1", 250);
    body["user"] = json!("ada");
    let waiting = service.post(SETTLEMENTS, &body).await.expect(201).json();
    assert_eq!((&waiting["status"], &waiting["approval"]["status"]), (&json!("accepted"), &json!("pending")));
    let listed = ada.get(&service, &format!("{MOBILE}/approvals")).await.expect(200).json();
    assert_eq!(listed["data"], json!([waiting]));
    assert_eq!(ada.get(&service, &approval_path(&waiting)).await.expect(200).json(), waiting);
    let approve = decision(&waiting, "approve");
    let approved = ada.call(&service, "POST", &approval_path(&waiting), approve.clone()).await.expect(200).json();
    assert_eq!(approved["approval"]["status"], "approved");
    service.until("p-1", "completed").await;
    assert_eq!(ada.call(&service, "POST", &approval_path(&waiting), approve).await.expect(200).json()["status"], "completed");
    let too_late = ada.call(&service, "POST", &approval_path(&waiting), decision(&waiting, "decline")).await;
    too_late.problem(409, "approval_decided");
    assert_eq!(ada.get(&service, &format!("{SETTLEMENTS}/p-1/receipt")).await.expect(200).json()["status"], "completed");
    let events = ada.get(&service, &format!("{SETTLEMENTS}/p-1/events")).await.expect(200).json();
    assert_eq!(events["data"][2]["data"]["device"], ada.id);
    // The phone pays by itself, too.
    let paid = ada.call(&service, "POST", SETTLEMENTS, payment("p-2", 10)).await.expect(201).json();
    assert_eq!((&paid["user"], paid.get("approval")), (&json!("ada"), None));
    service.running.stop().await;
}

#[tokio::test]
async fn a_phone_reaches_what_is_its_users_and_nothing_else() {
    let service = service().await;
    let (ada, bob) = (phone(&service, 41, "ada").await, phone(&service, 42, "bob").await);
    let document = service.get("/openapi.json").await.expect(200).json();
    let mut reached = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            // What ends the token comes last.
            if !operation["security"].is_null() || path.ends_with("/tokens/revoke") {
                continue;
            }
            let answer = ada.call(&service, &method.to_uppercase(), &concrete(path), Value::Null).await;
            if answer.status == 403 {
                answer.problem(403, "insufficient_scope");
            } else {
                assert_ne!(answer.status, 401, "{path}: {}", answer.text());
                reached.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    let expected = [
        "DELETE /api/v1/mobile/devices/{id}",
        "DELETE /api/v1/mobile/push-subscriptions/{id}",
        "GET /api/v1/auth/keys",
        "GET /api/v1/gateway/settlements",
        "GET /api/v1/gateway/settlements/{ref}",
        "GET /api/v1/gateway/settlements/{ref}/events",
        "GET /api/v1/gateway/settlements/{ref}/receipt",
        "GET /api/v1/gateway/settlements/{ref}/status",
        "GET /api/v1/log/checkpoint",
        "GET /api/v1/log/keys",
        "GET /api/v1/log/tile/{tile}",
        "GET /api/v1/mobile/approvals",
        "GET /api/v1/mobile/approvals/{id}",
        "GET /api/v1/mobile/devices",
        "GET /api/v1/mobile/devices/{id}",
        "GET /api/v1/mobile/notifications",
        "GET /api/v1/mobile/preferences",
        "GET /api/v1/mobile/push-subscriptions",
        "PATCH /api/v1/mobile/devices/{id}",
        "POST /api/v1/gateway/settlements",
        "POST /api/v1/gateway/settlements/check",
        "POST /api/v1/mobile/approvals/{id}",
        "POST /api/v1/mobile/notifications/read-all",
        "POST /api/v1/mobile/notifications/{id}/read",
        "POST /api/v1/mobile/push-subscriptions",
        "POST /api/v1/mobile/quality",
        "PUT /api/v1/mobile/preferences",
    ];
    assert_eq!(reached.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    // Of what it reaches, it sees its user's.
    let waiting = bob.call(&service, "POST", SETTLEMENTS, payment("b-1", 250)).await.expect(201).json();
    service.post(SETTLEMENTS, &payment("c-1", 10)).await.expect(201);
    for path in ["b-1", "c-1", "b-1/status", "b-1/events", "b-1/receipt"] {
        ada.get(&service, &format!("{SETTLEMENTS}/{path}")).await.problem(404, "settlement_not_found");
    }
    assert_eq!(ada.get(&service, SETTLEMENTS).await.expect(200).json()["data"], json!([]));
    ada.get(&service, &format!("{MOBILE}/devices/{}", bob.id)).await.problem(404, "device_not_found");
    ada.call(&service, "DELETE", &format!("{MOBILE}/devices/{}", bob.id), Value::Null).await.problem(404, "device_not_found");
    ada.get(&service, &approval_path(&waiting)).await.problem(404, "payment_approval_not_found");
    let decided = ada.call(&service, "POST", &approval_path(&waiting), decision(&waiting, "approve")).await;
    decided.problem(404, "payment_approval_not_found");
    let keys = ada.get(&service, "/api/v1/auth/keys").await.expect(200).json();
    assert_eq!(keys["data"].as_array().unwrap().len(), 1, "its own");
    let revoke = "/api/v1/auth/tokens/revoke";
    ada.call(&service, "POST", revoke, Value::Null).await.expect(204);
    ada.get(&service, SETTLEMENTS).await.problem(401, "token_invalid");
    service.running.stop().await;
}

#[tokio::test]
async fn a_code_is_shown_once_and_a_revoked_phone_is_refused() {
    let service = service().await;
    let body = json!({"user": "ada", "link": "https://app.example/enroll#{code}"});
    let keyed = async || {
        let request = service.request("POST", &format!("{MOBILE}/enrollment-codes")).header("idempotency-key", "k-1");
        let request = request.header("content-type", "application/json").body(Body::from(body.to_string())).unwrap();
        service.send(request).await.expect(201).json()
    };
    let (made, again) = (keyed().await, keyed().await);
    let code = made["code"].as_str().unwrap();
    assert_eq!(made["link"], format!("https://app.example/enroll#{code}"));
    assert!(made["qr"].as_str().unwrap().starts_with("<svg"));
    assert_eq!((&again["code_shown"], again.get("code"), again.get("link"), again.get("qr")), (&json!(true), None, None, None));
    enroll(&service, 43, "7777-7777-7777-777G").await.problem(403, "device_code_invalid");
    let first = enroll(&service, 43, code).await.expect(201).json();
    enroll(&service, 44, code).await.problem(403, "device_code_invalid");
    let one = Phone {
        key: Arc::new(SoftwareKey::p256(&[43; 32]).unwrap()),
        token: first["access_token"].as_str().unwrap().to_owned(),
        id: first["device"]["id"].as_str().unwrap().to_owned(),
    };
    let device = format!("{MOBILE}/devices/{}", one.id);
    let renamed = one.call(&service, "PATCH", &device, json!({"name": "Ada's"})).await.expect(200).json();
    assert_eq!((&renamed["name"], &renamed["user"]), (&json!("Ada's"), &json!("ada")));
    service.get(&format!("{MOBILE}/devices")).await.problem(422, "invalid_fields");
    assert_eq!(service.get(&format!("{MOBILE}/devices?user=ada")).await.expect(200).json()["data"], json!([renamed]));
    let removed = service.send(service.request("DELETE", &device).body(Body::empty()).unwrap()).await;
    removed.expect(204);
    one.get(&service, SETTLEMENTS).await.problem(401, "token_invalid");
    service.running.stop().await;
}

#[tokio::test]
async fn a_user_is_changed_and_blocked_by_the_client() {
    let service = service().await;
    let ada = phone(&service, 41, "ada").await;
    let user = format!("{MOBILE}/users/ada");
    let shown = service.get(&user).await.expect(200);
    assert_eq!(shown.header("etag"), Some("\"1\""));
    assert_eq!(shown.json()["limits"], json!([{"currency": "EUR", "max": 500.00, "approval_over": 100.00}]));
    let put = async |body: Value| {
        let request = service.request("PUT", &user).header("content-type", "application/json");
        service.send(request.body(Body::from(body.to_string())).unwrap()).await
    };
    put(json!({"limits": [{"currency": "EUR", "max": 5}]})).await.expect(200);
    ada.call(&service, "POST", SETTLEMENTS, payment("p-1", 6)).await.problem(422, "amount_above_maximum");
    put(json!({"status": "gone"})).await.problem(422, "invalid_fields");
    assert_eq!(put(json!({"status": "blocked"})).await.expect(200).json()["status"], "blocked");
    ada.get(&service, SETTLEMENTS).await.problem(403, "user_blocked");
    let mut body = payment("p-2", 1);
    body["user"] = json!("ada");
    service.post(SETTLEMENTS, &body).await.problem(403, "user_blocked");
    put(json!({"status": "active"})).await.expect(200);
    ada.get(&service, SETTLEMENTS).await.expect(200);
    assert_eq!(service.get(&format!("{MOBILE}/users?limit=1")).await.expect(200).json()["data"][0]["user"], "ada");
    service.get(&format!("{MOBILE}/users/bob")).await.problem(404, "user_not_found");
    service.running.stop().await;
}

#[tokio::test]
async fn the_same_idempotency_key_of_two_users_names_two_calls() {
    let service = service().await;
    let (ada, bob) = (phone(&service, 41, "ada").await, phone(&service, 42, "bob").await);
    let rename = async |phone: &Phone, name: &str| {
        let request = Request::patch(format!("{MOBILE}/devices/{}", phone.id)).header("authorization", format!("Bearer {}", phone.token));
        let request = request.header("content-type", "application/json").header("idempotency-key", "same");
        let request = request.body(Body::from(json!({"name": name}).to_string())).unwrap();
        service.exchange(service.sign(request, &*phone.key).await).await
    };
    let first = rename(&ada, "Ada's").await.expect(200).json();
    assert_eq!(rename(&bob, "Bob's").await.expect(200).json()["name"], "Bob's");
    assert_eq!(rename(&ada, "Ada's").await.expect(200).json(), first);
    service.running.stop().await;
}

#[tokio::test]
async fn a_phones_session_signs_its_calls_but_no_approval() {
    let service = service_with(Arc::new(MemoryStore::new()), |_| {}).await;
    let ada = phone(&service, 41, "ada").await;
    let waiting = ada.call(&service, "POST", SETTLEMENTS, payment("p-1", 250)).await.expect(201).json();
    let session = super::sessions::begun(&service, &*ada.key).await;
    super::sessions::called(&service, &session, "GET", SETTLEMENTS, "").await.expect(200);
    let body = decision(&waiting, "approve").to_string();
    let refused = super::sessions::called(&service, &session, "POST", &approval_path(&waiting), &body).await;
    refused.problem(401, "signature_key_required");
    service.running.stop().await;
}
