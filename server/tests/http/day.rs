//! A day in the life of a gateway that moves real money: two operators, two servers over one store, a provider outside.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::put;
use hyper::{Request, StatusCode};
use railgate::auth::{Signer as _, SoftwareKey, TAG};
use railgate::engine::verify::verify;
use railgate::engine::{InviteOperator, Operated};
use railgate::env::{Env as _, ManualEnv};
use railgate::rail::Rails;
use railgate::store::Store;
use railgate::store::record::OperatorRole;
use railgate_server::gateway::Tenant;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::plain_rail::PlainRail;
use super::support::{Answer, NOW, PATIENCE, SETTLEMENTS, Service, live_call, read_until, service_at, sign_as};

const HOUR: i64 = 3_600_000;

/// What the provider was asked to pay: key, amount and payee. It answers nothing usable about payees that end in 9.
type Books = Arc<Mutex<Vec<(String, String, String)>>>;

async fn pay(State(books): State<Books>, Path(key): Path<String>, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap();
    let [amount, to] = ["amount", "to"].map(|name| body[name].as_str().unwrap().to_owned());
    let silent = to.ends_with('9');
    books.lock().unwrap().push((key, amount, to));
    if silent { (StatusCode::BAD_GATEWAY, "").into_response() } else { r#"{"status":"paid","reference":"P-1"}"#.into_response() }
}

async fn tell() -> StatusCode {
    StatusCode::BAD_GATEWAY
}

async fn refund() -> &'static str {
    r#"{"status":"paid","reference":"R-1"}"#
}

async fn provider() -> (String, Books) {
    let books = Books::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let routes = Router::new().route("/payments/{key}", put(pay).get(tell)).route("/refunds/{key}", put(refund).get(tell));
    let routes = routes.with_state(Arc::clone(&books));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (address, books)
}

/// Whoever calls with a live key: an operator, or a client.
struct Caller {
    key: SoftwareKey,
    token: String,
    id: String,
}

impl Caller {
    async fn call(&self, at: &Service, method: &str, path: &str, body: Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        live_call(at, (&self.key, &self.token), method, path, &body).await
    }

    async fn get(&self, at: &Service, path: &str) -> Value {
        self.call(at, "GET", path, Value::Null).await.expect(200).json()
    }

    async fn post(&self, at: &Service, path: &str, body: Value) -> Answer {
        self.call(at, "POST", path, body).await
    }

    async fn balance(&self, at: &Service) -> (String, String) {
        (self.member(at, "available").await, self.member(at, "reserved").await)
    }

    /// An amount of the balance in euros, as it is written.
    async fn member(&self, at: &Service, name: &str) -> String {
        let answer = self.call(at, "GET", "/api/v1/balances/EUR", Value::Null).await.expect(200);
        let text = answer.text().split_once(&format!("\"{name}\":")).unwrap().1;
        text.split([',', '}']).next().unwrap().to_owned()
    }
}

fn key(n: u8) -> SoftwareKey {
    SoftwareKey::p256(&[n; 32]).unwrap()
}

async fn operator(at: &Service, n: u8, name: &str, role: OperatorRole) -> Caller {
    let invite = InviteOperator { name: name.to_owned(), role, by: None, reason: None };
    let code = at.running.gateway().run(Tenant::GATEWAY, Operated(invite)).await.unwrap().code;
    let jwk: Value = serde_json::from_str(&key(n).public_key().jwk()).unwrap();
    let request = Request::post("/api/v1/operator/enrollments").header("content-type", "application/json");
    let request = request.body(Body::from(json!({"code": code, "jwk": jwk}).to_string())).unwrap();
    let enrolled = at.exchange(at.sign(request, &key(n)).await).await.expect(201).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Caller { key: key(n), token: text(&enrolled["access_token"]), id: text(&enrolled["operator"]["id"]) }
}

/// A client whose live key two operators let in.
async fn live_client(at: &mut Service, n: u8, name: &str, (ada, grace): (&Caller, &Caller)) -> Caller {
    at.token = at.enroll(name).await;
    let pending = at.ask_live(&key(n)).await.expect(202).json();
    let id = pending["client_id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/operator/clients/{id}/approve");
    let waits = ada.post(at, &path, json!({"reason": "contract signed"})).await;
    at.live_token(&key(n)).await.problem(403, "enrollment_pending");
    confirm(at, grace, waits).await;
    let token = at.live_token(&key(n)).await.expect(200).json()["access_token"].as_str().unwrap().to_owned();
    Caller { key: key(n), token, id }
}

/// Confirms what an answer says was asked for.
async fn confirm(at: &Service, by: &Caller, waits: Answer) {
    let id = waits.expect(202).json()["approval"]["id"].as_str().unwrap().to_owned();
    by.post(at, &format!("/api/v1/operator/approvals/{id}/confirm"), json!({"comment": "compared"})).await.expect(200);
}

/// A new token for each, as their old ones have expired.
async fn awake(at: &Service, callers: &mut [&mut Caller]) {
    for caller in callers {
        caller.token = at.live_token(&caller.key).await.expect(200).json()["access_token"].as_str().unwrap().to_owned();
    }
}

fn payment(amount: &str, account: &str, reference: &str) -> Value {
    json!({"amount": amount, "currency": "EUR", "to": format!("acct:{account}"), "reference": reference})
}

/// Waits until a settlement has this status, as this server sees it.
async fn until(at: &Service, client: &Caller, reference: &str, status: &str) {
    let begun = Instant::now();
    loop {
        let found = client.get(at, &format!("{SETTLEMENTS}/{reference}")).await;
        if found["status"] == status {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{reference} is {} and not {status}", found["status"]);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// The day, on two servers over these stores, which are one.
pub(crate) async fn a_day(stores: [Arc<dyn Store>; 2]) {
    let (address, books) = provider().await;
    let envs = [Arc::new(ManualEnv::new(NOW, 42)), Arc::new(ManualEnv::new(NOW, 43))];
    let [first, second] = stores.clone();
    let rails = |hosted: &mut railgate_server::Hosted| hosted.engine.rails = Rails::built_in().with(PlainRail);
    let mut a = service_at(first, envs[0].clone(), rails).await;
    let mut b = service_at(second, envs[1].clone(), rails).await;

    // Two operators, a provider that both have seen, a client with money.
    let mut ada = operator(&a, 1, "Ada", OperatorRole::Agent).await;
    let mut grace = operator(&b, 2, "Grace", OperatorRole::Approver).await;
    let body = json!({
        "id": "bank", "name": "Bank", "rail": "plain", "mode": "live", "base_url": address, "currencies": ["EUR"],
        "fees": [{"flat": "0.50"}], "secrets": {"secret": "hush"}, "reason": "contract of May",
    });
    let waits = ada.call(&a, "PUT", "/api/v1/operator/providers/bank", body).await;
    assert!(!waits.text().contains("hush"));
    confirm(&b, &grace, waits).await;
    let mut shop = live_client(&mut a, 3, "Shop", (&ada, &grace)).await;
    let mut other = live_client(&mut b, 4, "Other", (&ada, &grace)).await;
    let deposit =
        json!({"currency": "EUR", "amount": "10000.00", "reference": "wire-1", "evidence": "statement 7, line 12", "reason": "paid in"});
    let money = |client: &Caller, what: &str| format!("/api/v1/operator/clients/{}/{what}", client.id);
    let waits = ada.post(&a, &money(&shop, "deposits"), deposit.clone()).await;
    confirm(&b, &grace, waits).await;
    ada.post(&b, &money(&shop, "deposits"), deposit).await.expect(200);
    assert_eq!(shop.balance(&a).await, ("10000.00".to_owned(), "0.00".to_owned()));
    let limits = json!({"mode": "live", "currency": "EUR", "max": "2000", "daily_value": "3000", "daily_count": 4, "reason": "new client"});
    ada.call(&b, "PUT", &money(&shop, "limits"), limits).await.expect(200);
    let begun = Instant::now();
    while a.running.gateway().engine().all_applied_terms().is_empty() || a.running.gateway().engine().applied_providers().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "the other server follows");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }

    // Payments by both servers, and each limit.
    shop.post(&a, SETTLEMENTS, payment("100", "1", "one")).await.expect(201);
    until(&b, &shop, "one", "completed").await;
    shop.post(&b, SETTLEMENTS, payment("2000.01", "1", "large")).await.problem(422, "amount_above_maximum");
    shop.post(&b, SETTLEMENTS, payment("1500", "19", "silent-large")).await.expect(201);
    shop.post(&a, SETTLEMENTS, payment("50", "29", "silent-small")).await.expect(201);
    shop.post(&a, SETTLEMENTS, payment("1350.01", "1", "much")).await.problem(422, "limit_daily_value");
    shop.post(&b, SETTLEMENTS, payment("10", "1", "four")).await.expect(201);
    shop.post(&a, SETTLEMENTS, payment("1", "1", "many")).await.problem(422, "limit_daily_count");
    until(&a, &shop, "four", "completed").await;
    until(&a, &shop, "silent-large", "unknown").await;
    until(&b, &shop, "silent-small", "unknown").await;
    assert_eq!(shop.balance(&b).await, ("8338.00".to_owned(), "1551.00".to_owned()), "the money of what nobody knows stays on hold");

    // A day later two payments wait for a person.
    let begun = Instant::now();
    let waiting = loop {
        assert!(begun.elapsed() < PATIENCE, "nothing waits");
        for at in [&a, &b] {
            at.env.step(HOUR);
        }
        tokio::time::sleep(std::time::Duration::from_millis(40)).await;
        awake(&a, &mut [&mut ada]).await;
        let reviews = ada.get(&a, "/api/v1/operator/reviews").await["data"].as_array().unwrap().clone();
        if reviews.len() == 2 {
            break reviews;
        }
    };
    awake(&b, &mut [&mut grace, &mut shop, &mut other]).await;
    let review = |reference: &str| {
        let found = waiting.iter().find(|it| it["reference"] == reference).unwrap();
        assert_eq!(found["reason"], "no_end_for_a_day");
        format!("/api/v1/operator/reviews/{}/resolve", found["id"].as_str().unwrap())
    };
    let decide = |what: &str| json!({"resolution": what, "evidence": "statement 8, line 3", "reason": "the bank wrote"});
    let waits = ada.post(&a, &review("silent-large"), decide("confirmed_completed")).await;
    assert_eq!(shop.balance(&a).await.1, "1551.00", "a large outcome needs two");
    confirm(&b, &grace, waits).await;
    ada.post(&b, &review("silent-small"), decide("confirmed_failed")).await.expect(200);
    until(&a, &shop, "silent-large", "completed").await;
    until(&b, &shop, "silent-small", "failed").await;
    assert_eq!(shop.balance(&a).await, ("8388.50".to_owned(), "0.00".to_owned()));

    // Money out, as much as there is.
    let out = |amount: &str, reference: &str| json!({"currency": "EUR", "amount": amount, "reference": reference, "evidence": "order 118", "reason": "asked for"});
    ada.post(&a, &money(&shop, "withdrawals"), out("8388.51", "out-1")).await.problem(422, "insufficient_funds");
    let waits = ada.post(&a, &money(&shop, "withdrawals"), out("388.50", "out-2")).await;
    confirm(&b, &grace, waits).await;
    assert_eq!(shop.balance(&b).await, ("8000.00".to_owned(), "0.00".to_owned()));

    // A credit line, which the client sees on both servers.
    let floor = json!({"currency": "EUR", "amount": "-500.00", "reference": "line-1", "evidence": "contract of May, paragraph 4", "reason": "asked for"});
    let waits = ada.call(&a, "PUT", &money(&shop, "floor"), floor.clone()).await;
    assert!(waits.text().contains("contract of May, paragraph 4"), "the second one sees the evidence");
    confirm(&b, &grace, waits).await;
    let again = ada.call(&b, "PUT", &money(&shop, "floor"), floor.clone()).await.expect(200).json();
    assert_eq!(
        (&again["kind"], &again["previous"], &again["evidence"]),
        (&json!("credit_line"), &json!(0.0), &json!("contract of May, paragraph 4"))
    );
    let mut other_floor = floor;
    other_floor["amount"] = json!("-600.00");
    ada.call(&a, "PUT", &money(&shop, "floor"), other_floor).await.problem(409, "reference_conflict");
    for at in [&a, &b] {
        let begun = Instant::now();
        while shop.member(at, "credit").await != "500.00" {
            assert!(begun.elapsed() < PATIENCE, "{}", shop.member(at, "credit").await);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    assert_eq!(shop.balance(&a).await, ("8000.00".to_owned(), "0.00".to_owned()), "credit is not money");

    // Everything agrees, and nobody else saw anything of it.
    let paid: Vec<(String, String)> = books.lock().unwrap().iter().map(|(_, amount, to)| (amount.clone(), to.clone())).collect();
    let mut expected =
        [("100.00", "1"), ("1500.00", "19"), ("50.00", "29"), ("10.00", "1")].map(|(amount, to)| (amount.to_owned(), format!("acct:{to}")));
    expected.sort();
    let mut sorted = paid.clone();
    sorted.sort();
    assert_eq!(sorted, expected, "each payment left once");
    let overview = ada.get(&b, "/api/v1/operator/overview?from=2026-01-01T00:00:00Z").await;
    let figure = &overview["figures"][0];
    let counts = ["count", "succeeded", "failed", "open"].map(|name| figure[name].as_u64().unwrap());
    assert_eq!((counts, &figure["provider"]), ([4, 3, 1, 0], &json!("bank")), "{overview:#}");
    let webhooks = &overview["webhooks"];
    assert_eq!(webhooks, &json!({"counted": 0, "complete": true, "delivered": 0, "failed": 0, "retrying": 0, "waiting": 0}));
    let rules = &ada.get(&a, "/api/v1/operator/settings").await["four_eyes"];
    let named = ["money", "access", "outcome", "provider", "routes", "terms"].map(|name| rules[name].as_bool().unwrap());
    assert_eq!((named, &rules["outcome_from"]), ([true, true, true, true, false, false], &json!(1000)), "as it is by default");
    other.call(&b, "GET", "/api/v1/operator/settings", Value::Null).await.problem(403, "insufficient_scope");
    let positions = ada.call(&b, "GET", "/api/v1/operator/providers/bank/positions", Value::Null).await.expect(200);
    let expected = r#"{"data":[{"provider":"bank","sandbox":false,"currency":"EUR","posted":1610.00,"pending":0.00}]}"#;
    assert_eq!(positions.text(), expected);
    audited(&a, &ada, &grace, &shop).await;
    stated(&b, &shop).await;
    told(&a, &shop).await;
    other.call(&b, "GET", "/api/v1/balances/movements/wire-1", Value::Null).await.problem(404, "movement_not_found");
    other.call(&a, "GET", "/api/v1/balances/EUR/entries", Value::Null).await.problem(404, "balance_not_found");
    assert_eq!(other.get(&a, SETTLEMENTS).await["data"], json!([]));
    other.call(&b, "GET", &format!("{SETTLEMENTS}/one"), Value::Null).await.problem(404, "settlement_not_found");
    other.call(&a, "GET", "/api/v1/operator/clients", Value::Null).await.problem(403, "insufficient_scope");
    assert_eq!(other.get(&b, "/api/v1/gateway/events").await["data"], json!([]));
    let report = verify(&*stores[0], &mut |_| {}).unwrap();
    assert!(report.is_ok(), "{:?}", report.problems);
    a.running.stop().await;
    b.running.stop().await;
}

/// Every act is in the audit trail, with who asked and who confirmed.
async fn audited(at: &Service, ada: &Caller, grace: &Caller, shop: &Caller) {
    let rows = ada.get(at, &format!("/api/v1/operator/audit?limit=200&client={}", shop.id)).await["data"].as_array().unwrap().clone();
    let by = |action: &str| {
        let found = rows.iter().filter(|row| row["action"] == action && row["outcome"] == "done");
        found
            .map(|row| (row["operator_id"].as_str().unwrap_or_default(), row["detail"]["asked_by"].as_str().unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let confirmed = (grace.id.as_str(), ada.id.as_str());
    let alone = (ada.id.as_str(), "");
    assert_eq!(by("deposit"), [confirmed]);
    assert_eq!(by("withdraw"), [confirmed]);
    assert_eq!(by("approve_client"), [confirmed]);
    assert_eq!(by("set_credit"), [confirmed]);
    assert_eq!(by("put_terms"), [alone], "the limits");
    assert_eq!(by("resolve_review"), [alone, confirmed], "newest first");
    assert_eq!(by("ask_approval").len(), 5);
}

/// The statement has every line of the day, and ends at the balance.
async fn stated(at: &Service, shop: &Caller) {
    let begun = Instant::now();
    let lines = loop {
        let lines = shop.get(at, "/api/v1/balances/EUR/entries").await["data"].as_array().unwrap().clone();
        if lines.len() == 8 {
            break lines;
        }
        assert!(begun.elapsed() < PATIENCE, "{lines:#?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let text = |line: &Value, name: &str| line[name].as_str().map_or_else(|| line[name].to_string(), str::to_owned);
    let told: Vec<_> = lines.iter().rev().map(|line| ["type", "reference", "amount"].map(|name| text(line, name))).collect();
    let line = |kind: &str, reference: &str, amount: &str| [kind, reference, amount].map(str::to_owned);
    assert_eq!(told[0], line("deposit", "wire-1", "10000.0"));
    assert_eq!(told[7], line("withdrawal", "out-2", "-388.5"));
    for (reference, amount) in [("one", "-100.0"), ("four", "-10.0"), ("silent-large", "-1500.0")] {
        assert!(told.contains(&line("payment", reference, amount)) && told.contains(&line("fee", reference, "-0.5")), "{told:?}");
    }
    assert_eq!(lines[0]["balance"].as_f64(), Some(8000.0));
    let early = shop.get(at, "/api/v1/balances/EUR/entries?to=2026-11-21T23:59:59Z&limit=3").await;
    assert_eq!((early["data"].as_array().unwrap().len(), &early["has_more"]), (3, &json!(true)));
    let csv = live_csv(at, shop).await;
    assert_eq!(csv.lines().count(), 9, "{csv}");
    assert!(csv.contains(",deposit,10000.00,10000.00,EUR,wire-1,,\r\n"), "{csv}");
}

/// The client was told of what operators moved: in its feed, as pages and as a stream, and wherever it looks a movement up.
async fn told(at: &Service, shop: &Caller) {
    let feed = shop.call(at, "GET", "/api/v1/gateway/events?limit=200", Value::Null).await.expect(200);
    let all = feed.json()["data"].as_array().unwrap().clone();
    let moved: Vec<&Value> = all.iter().map(|entry| &entry["event"]).filter(|event| event["settlement_id"].is_null()).collect();
    let data = |kind: &str, amount: &str, reference: &str| json!({"movement": {"kind": kind, "amount": amount, "currency": "EUR", "reference": reference}});
    let expected = [
        (json!("balance.deposited"), json!("wire-1"), data("deposit", "10000.00", "wire-1")),
        (json!("balance.withdrawn"), json!("out-2"), data("withdrawal", "388.50", "out-2")),
        (
            json!("balance.credit_changed"),
            json!("line-1"),
            json!({"credit": {"amount": "500.00", "currency": "EUR", "previous": "0.00", "reference": "line-1"}}),
        ),
    ];
    let found: Vec<_> = moved.iter().map(|it| (it["type"].clone(), it["reference"].clone(), it["data"].clone())).collect();
    assert_eq!(found, expected);
    let evidence = ["statement 7", "order 118", "contract of May"];
    assert!(!evidence.iter().any(|it| feed.text().contains(it)), "the evidence is the operators' own");

    let request = Request::get("/api/v1/gateway/events").header("authorization", format!("Bearer {}", shop.token));
    let request = request.header("accept", "text/event-stream").body(Body::empty()).unwrap();
    let (created, nonce) = (at.env.now() / 1_000, at.live_nonce().await);
    let (head, _) = sign_as(at, request, &shop.key, created, &nonce, TAG).await.into_parts();
    let headers: String = head.headers.iter().map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap())).collect();
    let mut stream = at.connect().await;
    stream.write_all(format!("GET {} HTTP/1.1\r\nhost: test\r\n{headers}\r\n", head.uri).as_bytes()).await.unwrap();
    let streamed = read_until(&mut stream, |text| text.contains("event: balance.credit_changed")).await;
    assert!(streamed.contains("event: balance.deposited") && streamed.contains("event: balance.withdrawn"), "{streamed}");

    let movement = shop.call(at, "GET", "/api/v1/balances/movements/out-2", Value::Null).await.expect(200);
    assert!(
        movement.text().starts_with(r#"{"kind":"withdrawal","reference":"out-2","amount":388.50,"currency":"EUR","at":""#),
        "{}",
        movement.text()
    );
    let line = shop.call(at, "GET", "/api/v1/balances/movements/line-1", Value::Null).await.expect(200);
    let expected = r#"{"kind":"credit_line","reference":"line-1","amount":500.00,"previous":0.00,"currency":"EUR","at":""#;
    assert!(line.text().starts_with(expected), "{}", line.text());
    shop.call(at, "GET", "/api/v1/balances/movements/out-1", Value::Null).await.problem(404, "movement_not_found");
}

async fn live_csv(at: &Service, shop: &Caller) -> String {
    let request = Request::get("/api/v1/balances/EUR/entries").header("authorization", format!("Bearer {}", shop.token));
    let request = request.header("accept", "text/csv").body(Body::empty()).unwrap();
    let (created, nonce) = (at.env.now() / 1_000, at.live_nonce().await);
    at.exchange(sign_as(at, request, &shop.key, created, &nonce, TAG).await).await.expect(200).text().to_owned()
}
