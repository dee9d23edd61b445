//! Bundles over HTTP, from the partner's draft to a provider that is paid through, with the test of the partner's endpoint.

use std::sync::Arc;

use axum::body::Body;
use railgate::bundle::{EXAMPLE, schema};
use railgate::rail::Rails;
use railgate::store::memory::MemoryStore;
use railgate::store::record::OperatorRole;
use serde_json::{Value, json};

use super::operators::{Person, person};
use super::partner::{Fault, Running, SECRET, TOKEN};
use super::signed::live;
use super::support::{Answer, NOW, SETTLEMENTS, Service, live_call, service_with};

pub(super) const BUNDLES: &str = "/api/v1/bundles";

/// The example of the documentation, with the endpoint of this partner.
pub(super) fn bundle(url: &str, change: impl Fn(&mut Value)) -> Value {
    let mut body: Value = serde_json::from_str(EXAMPLE).unwrap();
    body["manifest"]["sandbox"]["base_url"] = json!(url);
    body["manifest"]["timeouts"] = json!({"connect_ms": 2_000, "answer_ms": 1_000});
    body["secrets"]["sandbox"] = json!({"token": TOKEN, "callback_secret": SECRET});
    change(&mut body);
    body
}

async fn put(service: &Service, id: &str, etag: &str, body: &Value) -> Answer {
    let request = service.request("PUT", &format!("{BUNDLES}/{id}")).header("content-type", "application/json").header("if-match", etag);
    service.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn step(service: &Service, id: &str, what: &str, body: &Value) -> Answer {
    service.post(&format!("{BUNDLES}/{id}/{what}"), body).await
}

/// A call of a reviewer below the bundles.
pub(super) async fn review(service: &Service, by: &Person, id: &str, what: &str, body: Value) -> Answer {
    live_call(service, (&by.key, &by.token), "POST", &format!("{BUNDLES}/{id}/{what}"), &body.to_string()).await
}

/// Waits until the test of a bundle has ended, and nothing is being published any more.
pub(super) async fn tested(service: &Service, reader: &Person, id: &str) -> Value {
    loop {
        let view = reader.get(service, &format!("/bundles/{id}")).await;
        let open = ["waiting", "running"].iter().any(|open| view["conformance"] == *open);
        if !open && view["publishing"].is_null() {
            return view;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

pub(super) async fn approved(service: &Service, by: &Person, id: &str) {
    review(service, by, id, "start-review", json!({"comment": "I take it."})).await.expect(200);
    let digest = by.get(service, &format!("/bundles/{id}")).await["digest"].clone();
    review(service, by, id, "approve", json!({"digest": digest, "comment": "seen"})).await.expect(200);
}

fn problems(answer: Answer) -> Vec<(String, String)> {
    let problem = answer.problem(422, "invalid_fields");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    problem["errors"].as_array().unwrap().iter().map(|it| (text(&it["pointer"]), text(&it["code"]))).collect()
}

pub(super) async fn with_adapters() -> Service {
    service_with(Arc::new(MemoryStore::new()), |hosted| hosted.engine.rails = Rails::built_in()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_is_written_tested_reviewed_published_and_revoked() {
    let service = with_adapters().await;
    let partner = Running::start(Fault::None, NOW).await;
    let agent = person(&service, 71, OperatorRole::Agent).await;
    let made = service.post(BUNDLES, &bundle(&partner.url, |_| ())).await.expect(201);
    assert_eq!(made.header("etag"), Some("\"1\""));
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(made.header("location"), Some(&*format!("{BUNDLES}/{id}")));
    assert!(!made.text().contains(TOKEN) && made.json()["secrets"]["sandbox"] == json!(["callback_secret", "token"]));

    put(&service, &id, "\"7\"", &bundle(&partner.url, |_| ())).await.problem(409, "version_conflict");
    let body = bundle(&partner.url, |body| body["manifest"]["name"] = json!("Acme Pay Ltd"));
    let second = put(&service, &id, "\"1\"", &body).await.expect(200);
    assert_eq!((second.header("etag"), &second.json()["revision"]), (Some("\"2\""), &json!(2)));
    step(&service, &id, "submit", &json!({"comment": "Ready."})).await.expect(200);
    let view = tested(&service, &agent, &id).await;
    let report = service.get(&format!("{BUNDLES}/{id}/conformance")).await.expect(200).json();
    assert_eq!(view["conformance"], "passed", "{report:#}");
    let checks = report["report"]["checks"].as_array().unwrap();
    let last = checks.iter().find(|it| it["check"].as_str().unwrap().contains("reports with its signature")).unwrap();
    assert_eq!((&last["result"], &last["says"]), (&json!("passed"), &json!("docs/rails/adapter.md#callbacks")), "{last:#}");
    let codes: Vec<&str> = view["findings"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["serves_the_same", "serves_the_same", "first_route", "first_route"]);

    let said = json!({"comment": "Is this right?", "pointer": "/manifest/limits/KES/max"});
    agent.call(&service, "POST", &format!("/bundles/{id}/comments"), said).await.expect(200);
    approved(&service, &agent, &id).await;
    let signatures = service.get(&format!("{BUNDLES}/{id}")).await.json()["signatures"].clone();
    assert_eq!((&signatures[0]["role"], &signatures[1]["role"]), (&json!("partner"), &json!("reviewer")));
    assert_eq!(signatures[0]["digest"], signatures[1]["digest"]);
    review(&service, &agent, &id, "publish", json!({"mode": "sandbox", "reason": "contract signed"})).await.expect(200);
    let view = tested(&service, &agent, &id).await;
    assert_eq!((&view["status"], &view["published"]["sandbox"]), (&json!("published"), &json!(true)), "{view:#}");

    // It is paid through, by the rail and the secrets of the bundle.
    let pay = |reference: &str| json!({"amount": 100, "currency": "KES", "to": "msisdn:+254700000001", "reference": reference, "provider": "acme-sandbox"});
    service.post(SETTLEMENTS, &pay("b-1")).await.expect(201);
    service.until("b-1", "completed").await;
    review(&service, &agent, &id, "revoke", json!({"reason": "contract ended"})).await.expect(200);
    service.post(SETTLEMENTS, &pay("b-2")).await.problem(503, "no_route");
    let steps = service.get(&format!("{BUNDLES}/{id}/timeline")).await.expect(200).json();
    let kinds: Vec<&str> = steps["data"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect();
    let expected = "created edited submitted tested commented in_review approved publication_asked tested published revoked";
    assert_eq!(kinds.join(" ").replace("bundle.", ""), expected);
    service.running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_endpoints_are_tested_at_a_time() {
    let service = with_adapters().await;
    let agent = person(&service, 71, OperatorRole::Agent).await;
    let (mut partners, mut ids) = (Vec::new(), Vec::new());
    for n in 0..6 {
        let partner = Running::start(Fault::None, NOW).await;
        let body = bundle(&partner.url, |body| body["manifest"]["id"] = json!(format!("acme-{n}")));
        let made = service.post(BUNDLES, &body).await.expect(201);
        ids.push(made.json()["id"].as_str().unwrap().to_owned());
        partners.push(partner);
    }
    for id in &ids {
        step(&service, id, "submit", &json!({"comment": "Ready."})).await.expect(200);
    }
    for id in &ids {
        assert_eq!(tested(&service, &agent, id).await["conformance"], "passed");
    }
    let tests: Vec<_> = partners.iter().map(Running::asked).collect();
    let under_way = |at| tests.iter().filter(|[first, last]| *first <= at && at <= *last).count();
    let most = tests.iter().map(|[first, _]| under_way(*first)).max().unwrap();
    assert!(most <= 2, "{most} were under way at a time");
    service.running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_that_is_wrong_is_caught_and_told_where() {
    let service = with_adapters().await;
    let partner = Running::start(Fault::None, NOW).await;
    let agent = person(&service, 72, OperatorRole::Agent).await;
    let id = service.post(BUNDLES, &bundle(&partner.url, |_| ())).await.expect(201).json()["id"].as_str().unwrap().to_owned();
    step(&service, &id, "submit", &json!({"comment": "Ready."})).await.expect(200);
    tested(&service, &agent, &id).await;
    let faults = [
        (Fault::PaysTwice, "the same payment again is the same payment", "it answered", "what-an-adapter-must-keep"),
        (Fault::Forgets, "it says what became of the payment", "NotSent", "the-five-endpoints"),
        (Fault::Late, "it pays", "no answer in time", "the-five-endpoints"),
        (Fault::WrongSignature, "what it accepts, it ends, and reports with its signature", "signature", "callbacks"),
        (Fault::TakesAnother, "another payment under the same key is refused with 409", "instead of 409", "what-an-adapter-must-keep"),
    ];
    for (fault, check, why, says) in faults {
        partner.set(fault);
        step(&service, &id, "test", &json!({"comment": "Again, please."})).await.expect(200);
        let view = tested(&service, &agent, &id).await;
        let report = agent.get(&service, &format!("/bundles/{id}/conformance")).await["report"].clone();
        assert_eq!((&view["conformance"], &report["ok"]), (&json!("failed"), &json!(false)), "{fault:?}");
        let found = report["checks"].as_array().unwrap().iter().find(|it| it["check"] == check).unwrap();
        assert_eq!(found["result"], "failed", "{fault:?}: {found:#}");
        assert!(found["why"].as_str().unwrap().contains(why), "{fault:?}: {found:#}");
        assert!(found["says"].as_str().unwrap().ends_with(says) && !found["expected"].as_str().unwrap().is_empty(), "{found:#}");
        let exchange = &found["exchanges"][0];
        assert!(exchange["url"].as_str().unwrap().starts_with(&partner.url) && exchange["method"].is_string(), "{found:#}");
    }
    // Not approved with a failed test; once it is mended, it is.
    review(&service, &agent, &id, "start-review", json!({"comment": "I take it."})).await.expect(200);
    let digest = agent.get(&service, &format!("/bundles/{id}")).await["digest"].clone();
    let approve = json!({"digest": digest, "comment": "seen"});
    review(&service, &agent, &id, "approve", approve.clone()).await.problem(409, "invalid_state");
    partner.set(Fault::None);
    agent.call(&service, "POST", &format!("/bundles/{id}/test"), json!({"comment": "They say that it is mended."})).await.expect(200);
    assert_eq!(tested(&service, &agent, &id).await["conformance"], "passed");
    review(&service, &agent, &id, "approve", approve).await.expect(200);
    // The test is repeated at the publication.
    partner.set(Fault::Forgets);
    review(&service, &agent, &id, "publish", json!({"mode": "sandbox", "reason": "contract signed"})).await.expect(200);
    let view = tested(&service, &agent, &id).await;
    assert_eq!((&view["status"], &view["published"]["sandbox"]), (&json!("approved"), &json!(false)));
    service.running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn live_publication_waits_for_a_second_operator() {
    let service = with_adapters().await;
    let partner = Running::start(Fault::None, NOW).await;
    let (agent, approver) = (person(&service, 73, OperatorRole::Agent).await, person(&service, 74, OperatorRole::Approver).await);
    let (key, token, _) = live(&service).await;
    let call = async |method: &str, path: &str, body: &str| live_call(&service, (&key, &token), method, path, body).await;
    let made = call("POST", BUNDLES, &bundle(&partner.url, |_| ()).to_string()).await.expect(201).json();
    let id = made["id"].as_str().unwrap();
    assert_eq!(made["mode"], "live");
    service.get(&format!("{BUNDLES}/{id}")).await.problem(404, "bundle_not_found");
    call("POST", &format!("{BUNDLES}/{id}/submit"), "").await.expect(200);
    tested(&service, &agent, id).await;
    approved(&service, &agent, id).await;
    let publish = |mode: &str| json!({"mode": mode, "reason": "contract signed"});
    review(&service, &agent, id, "publish", publish("live")).await.problem(409, "invalid_state");
    review(&service, &agent, id, "publish", publish("sandbox")).await.expect(200);
    tested(&service, &agent, id).await;
    let asked = review(&service, &agent, id, "publish", publish("live")).await.expect(202).json();
    let confirm = format!("/approvals/{}/confirm", asked["approval"]["id"].as_str().unwrap());
    agent.call(&service, "POST", &confirm, json!({"comment": "me"})).await.problem(403, "insufficient_scope");
    approver.call(&service, "POST", &confirm, json!({"comment": "seen"})).await.expect(200);
    let view = tested(&service, &agent, id).await;
    assert_eq!(view["published"], json!({"sandbox": true, "live": true}));
    let provider = agent.get(&service, "/providers/acme").await;
    assert_eq!((&provider["mode"], &provider["base_url"]), (&json!("live"), &json!("https://api.acme.example/railgate")));
    let listed = agent.get(&service, "/bundles?status=published").await;
    assert_eq!((&listed["data"][0]["id"], &listed["data"][0]["mode"]), (&json!(id), &json!("live")));
    service.running.stop().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_bundle_is_told_at_once() {
    let service = with_adapters().await;
    let agent = person(&service, 75, OperatorRole::Agent).await;
    let wrong = bundle("http://10.0.0.7/railgate", |body| {
        let manifest = &mut body["manifest"];
        manifest["version"] = json!("one");
        manifest["rail"] = json!("simulator");
        manifest["contacts"][0]["email"] = json!("nobody");
        manifest["limits"]["KES"] = json!({"min": 5, "max": 4});
        manifest["capabilities"]["reverse"] = json!(false);
        manifest["routes"][0]["namespace"] = json!("iban");
        manifest["settings"]["colour"] = json!("red");
        manifest["sandbox"]["test"]["to"] = json!("iban:DE89370400440532013000");
        manifest["more"] = json!(1);
        body["documents"][0]["name"] = json!("../licence.txt");
    });
    let found = problems(service.post(BUNDLES, &wrong).await);
    let pointers: Vec<&str> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    let expected = [
        "/documents/0/name",
        "/manifest/version",
        "/manifest/rail",
        "/manifest/contacts/0/email",
        "/manifest/more",
        "/manifest/limits/KES/max",
    ];
    assert!(expected.iter().all(|pointer| pointers.contains(pointer)), "{found:?}");
    let second = bundle("http://10.0.0.7/railgate", |body| {
        body["manifest"]["capabilities"]["reverse"] = json!(false);
        body["manifest"]["routes"][0]["namespace"] = json!("iban");
        body["manifest"]["sandbox"]["test"]["to"] = json!("iban:DE89370400440532013000");
    });
    let found = problems(service.post(BUNDLES, &second).await);
    let pointers: Vec<&str> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/manifest/routes/0/namespace", "/manifest/capabilities/reverse", "/manifest/sandbox/test/to"]);
    let inside = problems(service.post(BUNDLES, &bundle("http://10.0.0.7/railgate", |_| ())).await);
    assert_eq!(inside, [("/manifest/sandbox/base_url".to_owned(), "url_refused".to_owned())]);
    let live_here = bundle("https://acme.example", |body| body["manifest"]["live"]["base_url"] = json!("http://127.0.0.1:1/"));
    assert_eq!(problems(service.post(BUNDLES, &live_here).await)[0].0, "/manifest/live/base_url");

    let sent = async |kind: &str, body: Vec<u8>| {
        service.send(service.request("POST", BUNDLES).header("content-type", kind).body(Body::from(body)).unwrap()).await
    };
    let problem = sent("application/zip", b"PK\x03\x04".to_vec()).await.problem(422, "bundle_unusable");
    assert_eq!(problem["errors"][0]["pointer"], "the archive");
    sent("text/csv", b"a,b".to_vec()).await.problem(415, "unsupported_media_type");
    sent("application/json", vec![b' '; 10 * 1024 * 1024 + 1]).await.problem(413, "body_too_large");
    let large = bundle("https://acme.example", |body| {
        let text = "QUFB".repeat((9 << 20) / 4);
        body["documents"] = json!([{"name": "large.txt", "content": text}]);
    });
    let id = service.post(BUNDLES, &large).await.expect(201).json()["id"].as_str().unwrap().to_owned();
    let document = service.get(&format!("{BUNDLES}/{id}/documents/large.txt")).await.expect(200);
    assert_eq!((document.body.len(), document.header("x-content-type-options")), ((9 << 20) / 4 * 3, Some("nosniff")));
    assert_eq!(document.header("content-disposition"), Some("attachment; filename=\"large.txt\""));
    service.get(&format!("{BUNDLES}/{id}/documents/other.txt")).await.problem(404, "bundle_not_found");
    // No client reviews, not even its own, and no session signs for a bundle.
    step(&service, &id, "approve", &json!({"digest": "0".repeat(64), "comment": "me"})).await.problem(403, "insufficient_scope");
    review(&service, &agent, &id, "submit", json!({"comment": "me"})).await.problem(403, "insufficient_scope");
    service.get(&format!("{BUNDLES}/bun_01ARZ3NDEKTSV4RRFFQ69G5FAV")).await.problem(404, "bundle_not_found");
}

#[tokio::test]
async fn a_document_of_others_is_downloaded_and_never_shown() {
    let service = with_adapters().await;
    let agent = person(&service, 76, OperatorRole::Agent).await;
    // `<script>alert(1)</script>`, in what begins as it should.
    let (script, paper) = ("PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "JVBERi0xLjcKPHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==");
    let documents = [
        ("page.html", script),
        ("logo.svg", script),
        ("script.js", script),
        ("contract.pdf", paper),
        ("licence.txt", script),
        ("notes.md", script),
        ("fees.csv", script),
    ];
    let mut tried = 0;
    for (name, content) in documents {
        let document = json!({"name": name, "content": content});
        let made = service.post(BUNDLES, &bundle("https://acme.example", |body| body["documents"] = json!([document]))).await;
        if ["html", "svg", "js"].iter().any(|ending| name.ends_with(ending)) {
            assert_eq!(problems(made), [("/documents/0/name".to_owned(), "name_malformed".to_owned())], "{name}");
            continue;
        }
        let id = made.expect(201).json()["id"].as_str().unwrap().to_owned();
        let as_partner = service.get(&format!("{BUNDLES}/{id}/documents/{name}")).await;
        let as_reviewer = agent.call(&service, "GET", &format!("/bundles/{id}/documents/{name}"), Value::Null).await;
        for answer in [as_partner, as_reviewer] {
            let answer = answer.expect(200);
            assert_eq!(answer.header("content-disposition"), Some(&*format!("attachment; filename=\"{name}\"")));
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(answer.header("content-security-policy"), Some("default-src 'none'; sandbox"));
            let kind = answer.header("content-type").unwrap();
            assert!(!kind.contains("html") && !kind.contains("svg") && !kind.contains("script"), "{name} as {kind}");
            tried += 1;
        }
    }
    assert_eq!(tried, 8, "as partner and as reviewer");
    service.running.stop().await;
}

#[tokio::test]
async fn a_bundle_is_sent_once_and_the_schema_is_for_everybody() {
    let service = with_adapters().await;
    let request = hyper::Request::get(format!("{BUNDLES}/schema")).body(Body::empty()).unwrap();
    let published = service.exchange(request).await.expect(200);
    assert_eq!((published.header("content-type"), published.json()), (Some("application/schema+json"), schema()));
    let sent = async || {
        let request = service.request("POST", BUNDLES).header("content-type", "application/json").header("idempotency-key", "k");
        service.send(request.body(Body::from(bundle("https://acme.example", |_| ()).to_string())).unwrap()).await
    };
    let first = sent().await.expect(201);
    let again = sent().await.expect(201);
    assert_eq!((again.header("idempotent-replayed"), again.json()["id"].clone()), (Some("true"), first.json()["id"].clone()));
    assert_eq!(service.get(BUNDLES).await.json()["data"].as_array().unwrap().len(), 1);
}
