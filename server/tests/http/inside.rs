//! What stays inside: of what operators write about a client, nothing is in any answer, event or webhook of the client.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use railgate::store::memory::MemoryStore;
use railgate::store::record::OperatorRole;
use railgate_server::Hosted;
use serde_json::{Value, json};

use super::mobile::phone;
use super::operators::{Person, person};
use super::signed::live;
use super::support::{Answer, SETTLEMENTS, Service, live_call, service_with};
use super::tenants::{Identity, Owned, routes};
use super::webhooks::Receiver;

/// In every text that an operator writes here: evidence, reasons, comments.
const INSIDE: &str = "quillwort";

/// The forms that some route has.
const FORMS: [&str; 9] = [
    "application/json",
    "text/csv",
    "application/x-ndjson",
    "application/jose",
    "text/html",
    "text/plain",
    "image/svg+xml",
    "application/pdf",
    "application/problem+json",
];

/// Confirms as a second operator what an answer says was asked for.
async fn confirm(service: &Service, by: &Person, asked: Answer) {
    let id = asked.expect(202).json()["approval"]["id"].as_str().unwrap().to_owned();
    by.call(service, "POST", &format!("/approvals/{id}/confirm"), json!({"comment": INSIDE})).await.expect(200);
}

/// Decides about a payment whose provider contradicted itself.
async fn review(service: &Service, by: &Person) {
    let waiting = loop {
        service.env.step(10_000);
        let waiting = by.get(service, "/reviews").await;
        if let Some(first) = waiting["data"].as_array().unwrap().first() {
            break first["id"].as_str().unwrap().to_owned();
        }
        tokio::task::yield_now().await;
    };
    let decide = json!({"resolution": "accept_discrepancy", "evidence": INSIDE, "reason": INSIDE});
    by.call(service, "POST", &format!("/reviews/{waiting}/resolve"), decide).await.expect(200);
}

/// Everything that operators do to one client, and to what all of them see.
async fn operated(service: &Service, client: &str, (agent, approver): (&Person, &Person)) {
    let at = |what: &str| format!("/clients/{client}/{what}");
    let movement = |amount: &str, reference: &str| json!({"currency": "EUR", "amount": amount, "reference": reference, "evidence": INSIDE, "reason": INSIDE});
    let asked = agent.call(service, "POST", &at("deposits"), movement("100.00", "wire-1")).await;
    confirm(service, approver, asked).await;
    let asked = agent.call(service, "POST", &at("withdrawals"), movement("10.00", "out-1")).await;
    confirm(service, approver, asked).await;
    let asked = agent.call(service, "PUT", &at("floor"), movement("-50", "line-1")).await;
    confirm(service, approver, asked).await;
    for mode in ["sandbox", "live"] {
        let limits = json!({"mode": mode, "currency": "EUR", "max": "2000", "reason": INSIDE});
        agent.call(service, "PUT", &at("limits"), limits).await.expect(200);
    }
    for what in ["suspend", "resume"] {
        agent.call(service, "POST", &at(what), json!({"reason": INSIDE})).await.expect(200);
    }
    let provider = json!({"id": "third", "name": "Third", "rail": "simulator", "mode": "sandbox", "reason": INSIDE});
    agent.call(service, "PUT", "/providers/third", provider).await.expect(200);
    for what in ["disable", "enable"] {
        agent.call(service, "POST", &format!("/providers/third/{what}"), json!({"reason": INSIDE})).await.expect(200);
    }
    review(service, agent).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_operators_write_about_a_client_stays_with_them() {
    // Nobody listens at the address of the live webhook, but its deliveries can be read.
    let allowed = |hosted: &mut Hosted| hosted.edge.webhook_allow = vec!["127.0.0.0/8".parse().unwrap()];
    let service = service_with(Arc::new(MemoryStore::new()), allowed).await;
    let device = phone(&service, 41, "ada").await;
    let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let hook = service.post("/api/v1/webhooks", &json!({"url": receiver.url})).await.expect(201).json();
    let (key, token, client) = live(&service).await;
    let hidden = json!({"url": "https://127.0.0.1:9/hook"}).to_string();
    let live_hook = live_call(&service, (&key, &token), "POST", "/api/v1/webhooks", &hidden).await.expect(201).json();
    let settled = service.settled("late", "sim:late-ok-after-fail").await;
    let (agent, approver) = (person(&service, 71, OperatorRole::Agent).await, person(&service, 72, OperatorRole::Approver).await);
    operated(&service, &client, (&agent, &approver)).await;

    // The client is told what was decided, and the operators have what they wrote.
    let told = |name: &str| receiver.seen.lock().unwrap().iter().any(|seen| seen.body.contains(name));
    while !told("settlement.reviewed") {
        tokio::task::yield_now().await;
    }
    let audit = agent.get(&service, &format!("/audit?limit=200&client={client}")).await.to_string();
    assert!(audit.matches(INSIDE).count() > 10, "{audit}");

    let id = |made: &Value| made["id"].as_str().unwrap().to_owned();
    let owned = |movement: &str, hook: &Value| Owned {
        names: vec![
            (SETTLEMENTS, "{ref}", id(&settled)),
            ("/api/v1/balances/movements", "{reference}", movement.to_owned()),
            ("/api/v1/webhooks", "{id}", id(hook)),
            ("/api/v1/providers", "{id}", "third".to_owned()),
        ],
    };
    let by_live = Identity { name: "live", key: Arc::clone(&key), token, is_live: true, is_revoked: false };
    let readers = [
        (Identity::sandbox("sandbox", &service, &service.token), owned("wire-1", &hook)),
        (by_live, owned("line-1", &live_hook)),
        (Identity::phone("phone", &device), owned("out-1", &hook)),
    ];
    let words = [INSIDE, "Person 71", "Person 72", &agent.id, &approver.id];
    let silent = |place: &str, text: &str| words.iter().for_each(|word| assert!(!text.contains(word), "{place} has {word}: {text}"));
    let mut seen = String::new();
    for route in routes(&service).await.iter().filter(|it| it.method == "GET" && it.needs_token) {
        for (by, owned) in &readers {
            let (path, _) = owned.path(&route.path);
            for form in FORMS {
                let answer = by.read(&service, &path, form).await;
                let text = String::from_utf8_lossy(&answer.body).into_owned();
                silent(&format!("{path} as {form} by {}", by.name), &text);
                seen.push_str(&text);
            }
        }
    }
    for shown in ["settlement.reviewed", "accept_discrepancy", "balance.deposited", "wire-1", "line-1", "Third"] {
        assert!(seen.contains(shown), "{shown} is told to nobody");
    }
    for parcel in receiver.seen.lock().unwrap().iter() {
        silent("a webhook", &parcel.body);
    }
    service.running.stop().await;
}
