//! Operators' calls, from the invitation to what a second operator confirms.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use axum::body::Body;
use hyper::Request;
use railgate::auth::{Signer as _, SoftwareKey, TAG};
use railgate::engine::{InviteOperator, Operated};
use railgate::env::{Env as _, ManualEnv};
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::store::record::OperatorRole;
use railgate::store::sqlite::SqliteStore;
use railgate_server::RateLimits;
use railgate_server::gateway::Tenant;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::day::a_day;
use super::document::concrete;
use super::signed::live;
use super::support::{
    Answer, NOW, PATIENCE, SETTLEMENTS, Service, head_of, live_call, live_with, read_until, service, service_at, service_with, sign_as,
};

const OPERATOR: &str = "/api/v1/operator";

/// An operator with a key and a token.
pub(super) struct Person {
    pub(super) key: Arc<SoftwareKey>,
    pub(super) token: String,
    pub(super) id: String,
}

impl Person {
    pub(super) async fn call(&self, service: &Service, method: &str, path: &str, body: Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        live_call(service, (&self.key, &self.token), method, &format!("{OPERATOR}{path}"), &body).await
    }

    pub(super) async fn get(&self, service: &Service, path: &str) -> Value {
        self.call(service, "GET", path, Value::Null).await.expect(200).json()
    }
}

/// Enrols an operator with a code.
async fn enroll(service: &Service, n: u8, code: &str) -> Answer {
    let key = SoftwareKey::p256(&[n; 32]).unwrap();
    let jwk: Value = serde_json::from_str(&key.public_key().jwk()).unwrap();
    let body = json!({"code": code, "jwk": jwk}).to_string();
    let request = Request::post(format!("{OPERATOR}/enrollments")).header("content-type", "application/json");
    service.exchange(service.sign(request.body(Body::from(body)).unwrap(), &key).await).await
}

/// An operator whom nobody invited.
pub(super) async fn person(service: &Service, n: u8, role: OperatorRole) -> Person {
    let invite = InviteOperator { name: format!("Person {n}"), role, by: None, reason: None };
    let code = service.running.gateway().run(Tenant::GATEWAY, Operated(invite)).await.unwrap().code;
    let enrolled = enroll(service, n, &code).await.expect(201);
    assert_eq!(enrolled.header("cache-control"), Some("no-store"));
    let enrolled = enrolled.json();
    assert_eq!((&enrolled["operator"]["role"], &enrolled["operator"]["status"]), (&json!(role.as_str()), &json!("active")));
    Person {
        key: Arc::new(SoftwareKey::p256(&[n; 32]).unwrap()),
        token: enrolled["access_token"].as_str().unwrap().to_owned(),
        id: enrolled["operator"]["id"].as_str().unwrap().to_owned(),
    }
}

fn deposit(amount: &str, reference: &str) -> Value {
    json!({"currency": "EUR", "amount": amount, "reference": reference, "evidence": "statement 7, line 12", "reason": "paid in"})
}

#[tokio::test]
async fn no_operators_key_acts_as_a_client() {
    let service = service().await;
    let admin = person(&service, 21, OperatorRole::Admin).await;
    let document = service.get("/openapi.json").await.expect(200).json();
    let mut refused = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            // Whoever has a token may read the log's tree and its own keys.
            let any_token = ["/api/v1/auth/", "/api/v1/log/", OPERATOR].iter().any(|prefix| path.starts_with(prefix));
            // What reviewers decide is beside what their partners ask for.
            let any_token = any_token || operation["tags"] == json!(["operators"]);
            if any_token || !operation["security"].is_null() {
                continue;
            }
            let answer = live_call(&service, (&admin.key, &admin.token), &method.to_uppercase(), &concrete(path), "").await;
            answer.problem(403, "insufficient_scope");
            refused += 1;
        }
    }
    assert!(refused > 30, "{refused}");
    // It cannot give its client's rights to another key either, because it has none.
    let other = SoftwareKey::p256(&[22; 32]).unwrap();
    let jwk: Value = serde_json::from_str(&other.public_key().jwk()).unwrap();
    let body = json!({"jwk": jwk}).to_string();
    let refusals = [
        live_call(&service, (&admin.key, &admin.token), "POST", "/api/v1/auth/keys", &body).await,
        live_call(
            &service,
            (&admin.key, &admin.token),
            "POST",
            "/api/v1/auth/enrollments",
            &json!({"jwk": jwk, "environment": "live"}).to_string(),
        )
        .await,
    ];
    for refusal in refusals {
        assert!((400..=403).contains(&refusal.status.as_u16()), "{} {}", refusal.status, refusal.text());
    }
    let keys = live_call(&service, (&admin.key, &admin.token), "GET", "/api/v1/auth/keys", "").await.expect(200).json();
    assert_eq!(keys["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_call_under_a_key_is_carried_out_once() {
    let service = service().await;
    let admin = person(&service, 35, OperatorRole::Admin).await;
    let approver = person(&service, 36, OperatorRole::Approver).await;
    let client = admin.get(&service, "/clients").await["data"][0]["client_id"].as_str().unwrap().to_owned();
    let keyed = async |person: &Person, key: &str, path: &str, body: &Value| {
        let call = ("POST", &*format!("{OPERATOR}{path}"));
        live_with(&service, (&person.key, &person.token), Some(("idempotency-key", key)), call, &body.to_string()).await
    };
    let invite = json!({"name": "Grace", "role": "viewer", "reason": "new"});
    let asked = keyed(&admin, "deposit", &format!("/clients/{client}/deposits"), &deposit("25.00", "w1")).await.expect(202).json();
    let approval = asked["approval"]["id"].as_str().unwrap();
    let calls = [
        (&admin, "/operators".to_owned(), invite, 201),
        (&admin, format!("/clients/{client}/suspend"), json!({"reason": "r"}), 200),
        (&admin, format!("/clients/{client}/resume"), json!({"reason": "r"}), 200),
        (&admin, format!("/clients/{client}/deposits"), deposit("5.00", "w2"), 202),
        (&approver, format!("/approvals/{approval}/confirm"), json!({"comment": "seen"}), 200),
        (&admin, format!("/operators/{}/revoke", approver.id), json!({"reason": "left"}), 200),
    ];
    for (n, (person, path, body, status)) in calls.iter().enumerate() {
        let key = format!("key {n}");
        let first = keyed(person, &key, path, body).await.expect(*status);
        assert_eq!(first.header("idempotent-replayed"), None, "{path}");
        if n + 1 == calls.len() {
            break;
        }
        let again = keyed(person, &key, path, body).await.expect(*status);
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{path}");
        let (mut first, mut again) = (first.json(), again.json());
        if let Some(code) = first.as_object_mut().unwrap().remove("code") {
            assert!(code.as_str().unwrap().starts_with("opi_"));
            assert_eq!(again.as_object_mut().unwrap().remove("code_shown"), Some(json!(true)), "shown only once");
        }
        assert_eq!(again, first, "{path}");
        let mut other = body.clone();
        other[if body.get("reason").is_some() { "reason" } else { "comment" }] = json!("another");
        keyed(person, &key, path, &other).await.problem(422, "idempotency_key_reused");
    }
    // The repeat of the suspension comes after the end of it, and suspends nobody.
    keyed(&admin, "key 1", &calls[1].1, &calls[1].2).await.expect(200);
    assert_eq!(admin.get(&service, &format!("/clients/{client}")).await["suspended"], json!(false));
    let people = admin.get(&service, "/operators").await["data"].as_array().unwrap().len();
    assert_eq!((people, admin.get(&service, "/approvals").await["data"].as_array().unwrap().len()), (3, 2));
    service.running.stop().await;
}

#[tokio::test]
async fn each_role_may_do_what_it_is_for() {
    let service = service().await;
    let people = [
        person(&service, 31, OperatorRole::Viewer).await,
        person(&service, 32, OperatorRole::Agent).await,
        person(&service, 33, OperatorRole::Approver).await,
        person(&service, 34, OperatorRole::Admin).await,
    ];
    let calls: [(&str, &str, Value); 4] = [
        ("GET", "/clients", Value::Null),
        ("POST", "/clients/cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB/suspend", json!({"reason": "r"})),
        ("POST", "/approvals/apr_01KAJX3M7Q5W8ZP9D2R4T6V8YB/confirm", json!({})),
        ("POST", "/operators", json!({"name": "N", "role": "viewer", "reason": "r"})),
    ];
    for (n, person) in people.iter().enumerate() {
        for (m, (method, path, body)) in calls.iter().enumerate() {
            let answer = person.call(&service, method, path, body.clone()).await;
            assert_eq!(answer.status == 403, m > n, "{path}: {} {}", answer.status, answer.text());
        }
    }
}

#[tokio::test]
async fn a_code_enrols_one_key_and_guesses_are_limited() {
    let rates = RateLimits { reads_per_minute: 3_000, writes_per_minute: 600 };
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| hosted.edge.rate = Some(rates)).await;
    let admin = person(&service, 41, OperatorRole::Admin).await;
    let invited =
        admin.call(&service, "POST", "/operators", json!({"name": "Grace", "role": "approver", "reason": "new"})).await.expect(201);
    assert_eq!(invited.header("cache-control"), Some("no-store"));
    let invited = invited.json();
    let code = invited["code"].as_str().unwrap();
    assert_eq!(invited["operator"]["invited_by"], admin.id.as_str());
    enroll(&service, 42, "opi_01KAJX3M7Q5W8ZP9D2R4T6V8YB").await.problem(403, "invitation_invalid");
    enroll(&service, 42, code).await.expect(201);
    enroll(&service, 43, code).await.problem(403, "invitation_invalid");
    enroll(&service, 42, code).await.problem(409, "key_exists");
    let listed = admin.get(&service, "/operators").await;
    assert!(!listed.to_string().contains(code) && listed["data"].as_array().unwrap().len() == 2);
    admin.call(&service, "POST", "/operators", json!({"name": "Grace", "role": "owner"})).await.problem(422, "invalid_fields");
    let own = format!("/operators/{}/revoke", admin.id);
    admin.call(&service, "POST", &own, json!({"reason": "r"})).await.problem(403, "second_operator_required");

    // Thirty enrolments a minute from one address, right or wrong: then no guess is looked at, and neither is the right code.
    let invited = admin.call(&service, "POST", "/operators", json!({"name": "Linus", "role": "viewer", "reason": "new"})).await.expect(201);
    let code = invited.json()["code"].as_str().unwrap().to_owned();
    let mut guesses = 0;
    let limited = loop {
        let guess = enroll(&service, 44, &format!("opi_01KAJX3M7Q5W8ZP9D2R4T6V{guesses:03}")).await;
        if guess.status == 429 {
            break guess;
        }
        guess.problem(403, "invitation_invalid");
        guesses += 1;
    };
    assert_eq!(guesses, 24, "with the client, the admin and the four attempts before");
    assert!(limited.header("retry-after").is_some());
    limited.problem(429, "rate_limited");
    enroll(&service, 44, &code).await.problem(429, "rate_limited");
    service.env.advance_to(NOW + 2_000);
    enroll(&service, 44, &code).await.expect(201);
}

#[tokio::test]
async fn a_client_becomes_live_gets_money_and_is_suspended() {
    let service = service().await;
    let (ada, bob) = (person(&service, 51, OperatorRole::Agent).await, person(&service, 52, OperatorRole::Approver).await);
    let (client_key, client_token, client) = live(&service).await;
    let paid_in = |reference: &'static str| {
        ada.call(&service, "POST", "/clients/X/deposits".replace('X', &client).leak(), deposit("100.00", reference))
    };
    let waits = paid_in("w-1").await.expect(202).json()["approval"].clone();
    assert_eq!((&waits["status"], &waits["act"], &waits["asked_by"]), (&json!("pending"), &json!("deposit"), &json!(ada.id)));
    assert_eq!(waits["request"]["amount"], "100.00");
    let id = waits["id"].as_str().unwrap();
    let listed = bob.get(&service, "/approvals?status=pending").await;
    assert_eq!(listed["data"][0]["id"], id);
    ada.call(&service, "POST", &format!("/approvals/{id}/confirm"), json!({})).await.problem(403, "insufficient_scope");
    let confirmed =
        bob.call(&service, "POST", &format!("/approvals/{id}/confirm"), json!({"comment": "compared"})).await.expect(200).json();
    assert_eq!((&confirmed["approval"]["status"], &confirmed["approval"]["decided_by"]), (&json!("confirmed"), &json!(bob.id)));
    bob.call(&service, "POST", &format!("/approvals/{id}/confirm"), json!({})).await.problem(409, "invalid_state");
    let again = paid_in("w-1").await.expect(200).json();
    assert_eq!((&again["kind"], &again["reference"]), (&json!("deposit"), &json!("w-1")));
    let balance = live_call(&service, (&client_key, &client_token), "GET", "/api/v1/balances/EUR", "").await.expect(200);
    assert!(balance.text().contains("\"available\":100.00"), "{}", balance.text());
    ada.call(&service, "POST", &format!("/clients/{client}/withdrawals"), deposit("100.01", "o-1"))
        .await
        .problem(422, "insufficient_funds");

    let limits = json!({"mode": "live", "currency": "EUR", "max": "50", "reason": "new client"});
    let detail = ada.call(&service, "PUT", &format!("/clients/{client}/limits"), limits).await.expect(200).json();
    assert_eq!(detail["terms"]["limits"][0]["max"], "50.00");
    ada.call(&service, "PUT", &format!("/clients/{client}/limits"), json!({"mode": "live", "currency": "EUR"}))
        .await
        .problem(422, "invalid_fields");

    // A credit line, which needs a second operator, is told wherever it is read.
    let floor = |amount: &str| json!({"currency": "EUR", "amount": amount, "reference": "line-1", "evidence": "contract of May"});
    let path = format!("/clients/{client}/floor");
    let without = json!({"currency": "EUR", "amount": "-50", "reason": "no evidence"});
    let refused = ada.call(&service, "PUT", &path, without).await.expect(422).json();
    let missing: Vec<&str> = refused["errors"].as_array().unwrap().iter().map(|it| it["pointer"].as_str().unwrap()).collect();
    assert_eq!(missing, ["/reference", "/evidence"]);
    let waits = ada.call(&service, "PUT", &path, floor("-50")).await.expect(202).json()["approval"].clone();
    assert_eq!((&waits["act"], &waits["request"]["reference"]), (&json!("set_floor"), &json!("line-1")));
    bob.call(&service, "POST", &format!("/approvals/{}/confirm", waits["id"].as_str().unwrap()), json!({})).await.expect(200);
    let set = ada.call(&service, "PUT", &path, floor("-50.00")).await.expect(200);
    let text = set.text().to_owned();
    assert!(text.contains(r#""kind":"credit_line","currency":"EUR","amount":50.00,"previous":0.00,"reference":"line-1""#), "{text}");
    ada.call(&service, "PUT", &path, floor("-51")).await.problem(409, "reference_conflict");
    let balance = live_call(&service, (&client_key, &client_token), "GET", "/api/v1/balances/EUR", "").await.expect(200);
    assert!(balance.text().contains("\"credit\":50.00"), "{}", balance.text());

    let suspend = json!({"reason": "its key was stolen"});
    let detail = ada.call(&service, "POST", &format!("/clients/{client}/suspend"), suspend.clone()).await.expect(200).json();
    assert_eq!(detail["suspended"], true);
    live_call(&service, (&client_key, &client_token), "GET", "/api/v1/balances", "").await.problem(403, "client_suspended");
    ada.call(&service, "POST", &format!("/clients/{client}/resume"), suspend).await.expect(200);
    live_call(&service, (&client_key, &client_token), "GET", "/api/v1/balances", "").await.expect(200);

    let audit = ada.get(&service, &format!("/audit?client={client}")).await;
    let actions: Vec<&str> = audit["data"].as_array().unwrap().iter().map(|row| row["action"].as_str().unwrap()).collect();
    for action in ["resume_client", "suspend_client", "put_terms", "set_credit", "deposit", "ask_approval"] {
        assert!(actions.contains(&action), "{action} in {actions:?}");
    }
    let whole = audit["data"].as_array().unwrap().iter().find(|row| row["action"] == "deposit").unwrap().clone();
    assert_eq!((&whole["detail"]["asked_by"], &whole["operator_id"]), (&json!(ada.id), &json!(bob.id)));
    let set = audit["data"].as_array().unwrap().iter().find(|row| row["action"] == "set_credit").unwrap().clone();
    assert_eq!((&set["target"], &set["detail"]["evidence"]), (&json!("line-1 50.00 EUR"), &json!("contract of May")));
}

#[tokio::test]
async fn providers_and_routes_are_replaced_at_their_version() {
    let service = service().await;
    let ada = person(&service, 61, OperatorRole::Agent).await;
    let body = json!({"id": "third", "name": "Third", "rail": "simulator", "mode": "sandbox", "fees": [{"flat": "0.25"}], "reason": "more choice"});
    let made = ada.call(&service, "PUT", "/providers/third", body.clone()).await.expect(200);
    let tag = made.header("etag").unwrap().to_owned();
    assert_eq!((&made.json()["status"], &made.json()["fees"][0]["flat"]), (&json!("up"), &json!("0.25")));
    let read = live_call(&service, (&ada.key, &ada.token), "GET", &format!("{OPERATOR}/providers/third"), "").await.expect(200);
    assert_eq!(read.header("etag"), Some(tag.as_str()));
    let off = ada.call(&service, "POST", "/providers/third/disable", json!({"reason": "fault"})).await.expect(200).json();
    assert_eq!(off["enabled"], false);
    ada.call(&service, "POST", "/providers/nobody/disable", json!({"reason": "fault"})).await.problem(404, "provider_not_found");
    ada.call(&service, "PUT", "/providers/other", body).await.problem(422, "invalid_fields");
    let live = json!({"id": "real", "name": "Real", "rail": "simulator", "mode": "live"});
    ada.call(&service, "PUT", "/providers/real", live).await.problem(422, "invalid_fields");

    let table = json!({"routes": [{"mode": "sandbox", "namespace": "msisdn", "prefix": "+254", "providers": [{"id": "simulator", "priority": 1}]}]});
    let mut reasoned = table.clone();
    reasoned["reason"] = json!("more choice");
    ada.call(&service, "PUT", "/routes", reasoned.clone()).await.problem(400, "malformed_request");
    let put = async |body: &Value, expected: &str| {
        let call = ("PUT", &*format!("{OPERATOR}/routes"));
        live_with(&service, (&ada.key, &ada.token), Some(("if-match", expected)), call, &body.to_string()).await
    };
    let tag = put(&reasoned, "*").await.expect(200).header("etag").unwrap().to_owned();
    put(&reasoned, "\"0\"").await.problem(409, "version_conflict");
    put(&reasoned, &tag).await.expect(200);
    put(&table, &tag).await.problem(422, "invalid_fields");
    assert_eq!(ada.get(&service, "/routes").await["routes"], table["routes"]);
    let payment = json!({"amount": 5, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "any", "sandbox": true});
    let route = ada.call(&service, "POST", "/routes/explain", payment).await.expect(200).json();
    let first = &route["route"][0];
    assert_eq!((&first["provider"], &first["verdict"]), (&json!("simulator"), &json!("in")), "{route:#}");
}

#[tokio::test]
async fn settlements_of_all_clients_are_listed_exported_and_reviewed() {
    let mut service = service().await;
    let (ada, bob) = (person(&service, 71, OperatorRole::Agent).await, person(&service, 72, OperatorRole::Approver).await);
    service.settled("one", "sim:ok").await;
    let first = service.get(&format!("{SETTLEMENTS}/one")).await.json();
    service.token = service.enroll("Another").await;
    service.settled("late", "sim:late-ok-after-fail").await;
    let listed = ada.get(&service, "/settlements").await;
    let references: Vec<&str> = listed["data"].as_array().unwrap().iter().map(|it| it["reference"].as_str().unwrap()).collect();
    assert_eq!(references, ["late", "one"]);
    let own = ada.get(&service, &format!("/settlements?client={}&status=completed", first["client_id"].as_str().unwrap())).await;
    assert_eq!((own["data"].as_array().unwrap().len(), &own["data"][0]["id"]), (1, &first["id"]));
    let whole = ada.get(&service, &format!("/settlements/{}", first["id"].as_str().unwrap())).await;
    assert_eq!((&whole["settlement"]["reference"], whole["transfers"].as_array().unwrap().is_empty()), (&json!("one"), false));
    let export = live_call(&service, (&ada.key, &ada.token), "GET", &format!("{OPERATOR}/settlements/export"), "").await.expect(200);
    assert_eq!(export.text().lines().count(), 3);

    let overview = ada.get(&service, "/overview").await;
    assert_eq!((&overview["counted"], &overview["complete"], &overview["approvals_pending"]), (&json!(2), &json!(true), &json!(0)));
    assert!(overview["queues"]["outbox_due"].is_u64() && overview["queues"]["commits_to_number"].is_u64(), "{overview:#}");
    let figure = &overview["figures"][0];
    let counts = ["count", "succeeded", "failed", "open"].map(|name| figure[name].as_u64().unwrap());
    assert_eq!((counts, &figure["currency"], &figure["sandbox"]), ([2, 1, 1, 0], &json!("EUR"), &json!(true)), "{overview:#}");
    assert_eq!(figure["success_rate"].as_f64(), Some(0.5));
    let early = ada.get(&service, "/overview?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z").await;
    assert_eq!((&early["counted"], &early["figures"]), (&json!(0), &json!([])));
    ada.call(&service, "GET", "/overview?from=yesterday", Value::Null).await.problem(422, "invalid_fields");

    let begun = std::time::Instant::now();
    let review = loop {
        service.env.step(10_000);
        let waiting = ada.get(&service, "/reviews").await;
        if let Some(first) = waiting["data"].as_array().unwrap().first() {
            break first.clone();
        }
        assert!(begun.elapsed() < PATIENCE);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let id = review["id"].as_str().unwrap();
    assert_eq!((&review["reason"], &review["reference"]), (&json!("discrepancy"), &json!("late")));
    let known = ada.get(&service, &format!("/reviews/{id}")).await;
    assert_eq!(known["waiting"][0]["id"], id);
    let asked = ada.call(&service, "POST", &format!("/reviews/{id}/ask"), Value::Null).await.expect(200).json();
    assert!(asked["asked"].is_array(), "{asked:#}");
    let resolve = |resolution: &str| json!({"resolution": resolution, "evidence": "statement 7, line 12", "reason": "seen"});
    ada.call(&service, "POST", &format!("/reviews/{id}/resolve"), resolve("confirmed_failed")).await.problem(409, "invalid_state");
    let done = ada.call(&service, "POST", &format!("/reviews/{id}/resolve"), resolve("accept_discrepancy")).await.expect(200).json();
    assert_eq!(done["waiting"], json!([]));
    bob.call(&service, "POST", &format!("/reviews/{id}/resolve"), resolve("accept_discrepancy")).await.problem(404, "review_not_found");
}

#[tokio::test]
async fn an_overview_lists_the_servers_of_the_store() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let shared = |seed| {
        let env = Arc::new(ManualEnv::new(NOW, seed));
        service_at(store.clone(), env, |hosted| hosted.worker.alone = false)
    };
    let (one, two) = (shared(1).await, shared(2).await);
    let ada = person(&one, 81, OperatorRole::Viewer).await;
    let begun = std::time::Instant::now();
    let nodes = loop {
        let nodes = ada.get(&one, "/overview").await["nodes"].as_array().unwrap().clone();
        if nodes.len() == 2 {
            break nodes;
        }
        assert!(begun.elapsed() < PATIENCE, "{nodes:?}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    for service in [&one, &two] {
        let node = nodes.iter().find(|node| node["address"] == service.running.origin()).unwrap();
        let told = (&node["up"], &node["version"], &node["seen_at"]);
        assert_eq!(told, (&json!(true), &json!(env!("CARGO_PKG_VERSION")), &json!("2026-11-21T10:38:17.042Z")), "{node:#}");
        assert!(!node["host"].as_str().unwrap().is_empty() && node["id"].as_str().unwrap().len() == 16, "{node:#}");
    }
    two.running.stop().await;
    let nodes = ada.get(&one, "/overview").await["nodes"].take();
    assert_eq!((&nodes[0]["address"], &nodes[1]), (&json!(one.running.origin()), &Value::Null));
    one.running.stop().await;
}

#[tokio::test]
async fn operators_are_told_when_something_changed() {
    let service = service().await;
    let viewer = person(&service, 71, OperatorRole::Viewer).await;
    let follow = async |last: Option<&str>| {
        let path = format!("{OPERATOR}/changes");
        let request = Request::get(path).header("authorization", format!("Bearer {}", viewer.token)).header("accept", "text/event-stream");
        let request = if let Some(last) = last { request.header("last-event-id", last) } else { request };
        let nonce = service.live_nonce().await;
        let signed = sign_as(&service, request.body(Body::empty()).unwrap(), &*viewer.key, service.env.now() / 1_000, &nonce, TAG).await;
        let mut stream = service.connect().await;
        stream.write_all(head_of(&signed).as_bytes()).await.unwrap();
        stream
    };
    let told = |text: &str| text.contains("event: changed") && text.contains("}\n\n");
    let mark = |text: &str| text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    let mut stream = follow(None).await;
    let first = mark(&read_until(&mut stream, told).await);
    service.settled("seen", "sim:ok").await;
    let second = mark(&read_until(&mut stream, told).await);
    assert_ne!(first, second);
    // What is told afterwards belongs to the same payment, until all its events are in the log.
    let trace = service.get(&format!("{SETTLEMENTS}/seen/events")).await.expect(200).json();
    let mut now = viewer.get(&service, "/changes").await;
    while now["events"].as_u64() < u64::try_from(trace["data"].as_array().unwrap().len()).ok() {
        now = viewer.get(&service, "/changes").await;
    }
    let mut resumed = follow(Some(&now["mark"].to_string())).await;
    person(&service, 72, OperatorRole::Viewer).await;
    let third = read_until(&mut resumed, told).await;
    assert_ne!(mark(&third), now["mark"].to_string(), "the last one is not told again: {third}");
    let data: Value = third.lines().find_map(|line| line.strip_prefix("data: ")).map(|line| serde_json::from_str(line).unwrap()).unwrap();
    assert_eq!((&data["mark"].to_string(), &data["events"]), (&mark(&third), &now["events"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_day_over_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path().join("day.db")).unwrap());
    a_day([store.clone(), store]).await;
}
