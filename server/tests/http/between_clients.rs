//! Payments between two clients over HTTP: each sees its own side, nobody else sees anything, and all of it is proved.

use std::sync::Arc;

use axum::body::Body;
use hyper::Request;
use railgate::engine::{NumberEvents, verify};
use railgate::receipt::verify_receipt;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{ClientRecord, RecordKind};
use railgate::store::{Scan, Store as _, typed_all};
use railgate_server::gateway::Tenant;
use serde_json::{Value, json};

use super::support::{Answer, SETTLEMENTS, Service, service_with};

/// One of several clients of the service.
struct Party<'s> {
    service: &'s Service,
    token: String,
    participant: String,
}

impl<'s> Party<'s> {
    async fn enrolled(service: &'s Service, store: &MemoryStore, name: &str) -> Self {
        let token = service.enroll(name).await;
        let clients: Vec<ClientRecord> = typed_all(store.scan(&Scan::all(RecordKind::Client, 99)).unwrap()).unwrap();
        let client = clients.into_iter().find(|client| client.name == name).unwrap();
        Self { service, token, participant: format!("participant:cli_{}", client.id) }
    }

    async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {}", self.token));
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(Body::from(body.to_string())),
            None => request.body(Body::empty()),
        };
        self.service.send(request.unwrap()).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, None).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, Some(body)).await
    }

    async fn pay(&self, to: &Party<'_>, amount: &str, reference: &str) -> Answer {
        self.post(SETTLEMENTS, &json!({"amount": amount, "currency": "EUR", "to": to.participant, "reference": reference})).await
    }

    /// A webhook: the path of its deliveries.
    async fn webhook(&self) -> String {
        // Nobody listens there: what is owed stays in the list.
        let made = self.post("/api/v1/webhooks", &json!({"url": "http://127.0.0.1:9/hook"})).await.expect(201).json();
        format!("/api/v1/webhooks/{}/deliveries?limit=200", made["id"].as_str().unwrap())
    }

    async fn topics(&self, deliveries: &str) -> Vec<String> {
        let page = self.get(deliveries).await.expect(200).json();
        let mut topics: Vec<_> = page["data"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect();
        topics.sort();
        topics
    }
}

async fn number(service: &Service) {
    while let Ok(logged) = service.running.gateway().run(Tenant::GATEWAY, NumberEvents { limit: 1_000 }).await {
        if !logged.more && logged.held_until.is_none() {
            break;
        }
    }
}

#[tokio::test]
async fn each_client_sees_its_side_and_a_third_one_nothing() {
    let store = Arc::new(MemoryStore::new());
    let service = service_with(store.clone(), |_| {}).await;
    let [ann, bob, eve] = [
        Party::enrolled(&service, &store, "Ann").await,
        Party::enrolled(&service, &store, "Bob").await,
        Party::enrolled(&service, &store, "Eve").await,
    ];
    let (anns, bobs, eves) = (ann.webhook().await, bob.webhook().await, eve.webhook().await);
    let paid = ann.pay(&bob, "12.50", "inv-1").await.expect(201).json();
    assert_eq!((&paid["status"], &paid["direction"], &paid["from"]), (&json!("completed"), &json!("outgoing"), &Value::Null));

    let got = bob.get(&format!("{SETTLEMENTS}?direction=incoming")).await.expect(200).json()["data"][0].clone();
    assert_eq!((&got["from"], &got["to"]), (&json!(ann.participant), &json!(bob.participant)));
    let (anns_id, bobs_id) = (paid["id"].as_str().unwrap(), got["id"].as_str().unwrap());
    for path in ["", "/status", "/events", "/receipt", "/reversals"] {
        ann.get(&format!("{SETTLEMENTS}/{anns_id}{path}")).await.expect(200);
        bob.get(&format!("{SETTLEMENTS}/{bobs_id}{path}")).await.expect(200);
        for (party, id) in [(&ann, bobs_id), (&bob, anns_id), (&bob, "inv-1"), (&eve, anns_id), (&eve, bobs_id)] {
            party.get(&format!("{SETTLEMENTS}/{id}{path}")).await.problem(404, "settlement_not_found");
        }
    }
    assert_eq!(bob.get(got["links"]["self"].as_str().unwrap()).await.expect(200).json()["id"], got["id"]);
    let exported = bob.call("GET", &format!("{SETTLEMENTS}/export?direction=incoming"), None).await.expect(200);
    assert!(exported.text().lines().nth(1).unwrap().ends_with(&format!(",incoming,{}", ann.participant)), "{}", exported.text());

    let keys = service.get("/.well-known/jwks.json").await.expect(200);
    for (party, id) in [(&ann, anns_id), (&bob, bobs_id)] {
        let receipt = party.get(&format!("{SETTLEMENTS}/{id}/receipt")).await.expect(200).json();
        let claims = verify_receipt(receipt["jws"].as_str().unwrap(), keys.text()).unwrap();
        assert_eq!((claims.sub.as_str(), claims.from.as_str()), (id, paid["client_id"].as_str().unwrap()));
        assert_eq!(party.post(&format!("{SETTLEMENTS}/{id}/check"), &json!({})).await.expect(200).json()["consistent"], true);
    }

    ann.post(&format!("{SETTLEMENTS}/inv-1/reverse"), &json!({"amount": 2.5})).await.expect(201);
    bob.post(&format!("{SETTLEMENTS}/{bobs_id}/reverse"), &json!({})).await.problem(422, "reversal_not_supported");
    number(&service).await;
    assert_eq!(
        bob.topics(&bobs).await,
        ["reversal.completed", "settlement.completed", "settlement.partially_reversed"],
        "the payee is told what happens to its side"
    );
    assert!(ann.topics(&anns).await.len() > 7, "the payer is told every step of its own");
    assert_eq!(eve.topics(&eves).await, [""; 0]);
    let lines = bob.get("/api/v1/balances/EUR/entries").await.expect(200).json();
    let amounts: Vec<_> = lines["data"].as_array().unwrap().iter().map(|line| line["amount"].to_string()).collect();
    assert_eq!(amounts[..2], ["-2.5", "12.5"]);
    let balance = |party: &Value| party["available"].to_string();
    assert_eq!(balance(&bob.get("/api/v1/balances/EUR").await.json()), "1000010.0");
    assert_eq!(balance(&ann.get("/api/v1/balances/EUR").await.json()), "999990.0");
    let report = verify::verify(&*store, &mut |_| {}).unwrap();
    assert!(report.is_ok(), "{:#?}", report.problems);
}

#[tokio::test]
async fn whoever_cannot_be_paid_is_refused_alike_by_a_create_and_a_check() {
    let store = Arc::new(MemoryStore::new());
    let service = service_with(store.clone(), |_| {}).await;
    let (ann, bob) = (Party::enrolled(&service, &store, "Ann").await, Party::enrolled(&service, &store, "Bob").await);
    let body = |to: &str| json!({"amount": 5, "currency": "EUR", "to": to, "reference": "r"});
    let stranger = body("participant:cli_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    let refused = ann.post(SETTLEMENTS, &stranger).await.problem(422, "invalid_fields");
    assert_eq!((&refused["errors"][0]["pointer"], &refused["errors"][0]["code"]), (&json!("/to"), &json!("participant_not_found")));
    let checked = ann.post(&format!("{SETTLEMENTS}/check"), &stranger).await.expect(200).json();
    assert_eq!((&checked["ok"], &checked["problems"][0]["code"]), (&json!(false), &json!("participant_not_found")));
    let checked = ann.post(&format!("{SETTLEMENTS}/check"), &body(&bob.participant)).await.expect(200).json();
    assert_eq!((&checked["payee"]["display_name"], &checked["quote"]["provider"]), (&json!("Bob"), &json!("books")));
    ann.post(SETTLEMENTS, &body(&ann.participant)).await.problem(422, "same_party");
}
