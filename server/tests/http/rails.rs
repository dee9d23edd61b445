//! A rail's requests make the round trip to a real operator on this machine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, put};
use hyper::StatusCode;
use railgate::Config;
use railgate::api::{CreateRequest, Target};
use railgate::engine::{CALLS_AT_ONCE, Create, Enroll, PutProviders};
use railgate::env::{Env as _, ManualEnv};
use railgate::lifecycle::SettlementStatus;
use railgate::money::Currency;
use railgate::rail::Rails;
use railgate::rail::adapter::Adapter;
use railgate::route::{Availability, ProviderSpec, Serves};
use railgate::store::memory::MemoryStore;
use railgate_server::gateway::Tenant;
use railgate_server::{Hosted, Running, start_with};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::plain_rail;
use super::support::{NOW, PATIENCE, SETTLEMENTS, service_with};

/// What has arrived: how often, by key.
type Books = Arc<Mutex<HashMap<String, usize>>>;

async fn pay(State(books): State<Books>, Path(key): Path<String>) -> Response {
    *books.lock().unwrap().entry(key).or_default() += 1;
    r#"{"status":"paid","reference":"P-1"}"#.into_response()
}

/// Accepts the payment, and closes the connection before it responds.
async fn pay_and_fall_silent(State(books): State<Books>, Path(key): Path<String>) -> Response {
    *books.lock().unwrap().entry(key).or_default() += 1;
    (StatusCode::BAD_GATEWAY, "").into_response()
}

async fn tell(State(books): State<Books>, Path(key): Path<String>) -> Response {
    match books.lock().unwrap().contains_key(&key) {
        true => r#"{"status":"paid","reference":"P-2"}"#.into_response(),
        false => StatusCode::NOT_FOUND.into_response(),
    }
}

/// An operator on this machine, with its address.
async fn operator(routes: Router<Books>) -> (String, Books) {
    let books = Books::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let app = routes.with_state(Arc::clone(&books));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (address, books)
}

struct Service {
    running: Running,
    env: Arc<ManualEnv>,
}

async fn gateway_to(providers: &[(&str, &str)]) -> Service {
    gateway_with(providers.iter().map(|(id, url)| plain_rail::provider(id, url)).collect()).await
}

async fn gateway_with(providers: Vec<ProviderSpec>) -> Service {
    let mut hosted = Hosted::over(Arc::new(MemoryStore::new()));
    let env = Arc::new(ManualEnv::new(NOW, 1));
    hosted.env = env.clone();
    hosted.worker.look_every = Duration::from_millis(10);
    hosted.engine = Config { providers, rails: Rails::built_in().with(plain_rail::PlainRail), ..hosted.engine };
    Service { running: start_with(hosted, "127.0.0.1:0".parse().unwrap(), None).await.unwrap(), env }
}

/// Pays ten euros and waits until that is done; returns the provider and the number of attempts.
async fn paid(Service { running, env }: &Service) -> (String, u16) {
    let gateway = running.gateway();
    let caller = gateway.run(Tenant::STRANGER, Enroll { name: "Shop".to_owned(), key: None }).await.unwrap().caller;
    let request = CreateRequest::new("10 EUR".parse().unwrap(), "msisdn:+254700000001".parse().unwrap(), "r".parse().unwrap());
    let made = gateway.run(&caller, Create { caller, request: Box::new(request) }).await.unwrap();
    let mut watch = gateway.watch(made.settlement.no);
    let target = Target::parse("r").unwrap();
    let done = tokio::time::timeout(PATIENCE, async {
        loop {
            let record = gateway.read(&caller, |engine| engine.settlement(&caller, &target)).await.unwrap();
            if record.status == SettlementStatus::Completed {
                return record;
            }
            assert!(!record.status.is_final(), "{:?}", record.status);
            if record.status == SettlementStatus::Unknown {
                // Moves the clock to the inquiry about its outcome.
                env.advance_to(env.now() + 5_000);
            }
            watch.changed().await;
        }
    });
    let record = done.await.expect("the payment ends");
    let view = gateway.engine().view(&record, caller.client_id);
    (view.provider.into(), view.attempts)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_is_paid_through_and_its_figures_are_told_apart() {
    let (address, books) = operator(Router::new().route("/payments/{key}", put(pay).get(tell))).await;
    let service = gateway_to(&[("first", &address)]).await;
    assert_eq!(paid(&service).await, ("first".to_owned(), 1));
    assert_eq!(books.lock().unwrap().values().copied().collect::<Vec<_>>(), [1]);
    let figures = service.running.metrics().encode();
    assert!(figures.contains("railgate_rail_answers_total{provider=\"first\",answer=\"completed\"} 1"), "{figures}");
    assert!(figures.contains("railgate_rail_request_duration_seconds_count{provider=\"first\"} 1"), "{figures}");
    service.running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_cannot_be_reached_is_passed_over() {
    let (address, _) = operator(Router::new().route("/payments/{key}", put(pay))).await;
    // A port that was free a moment ago, and that nobody was told about.
    let closed = format!("http://{}", TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap());
    let service = gateway_to(&[("away", &closed), ("there", &address)]).await;
    assert_eq!(paid(&service).await, ("there".to_owned(), 2));
    service.running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_fell_silent_is_asked_and_not_paid_twice() {
    let (address, books) = operator(Router::new().route("/payments/{key}", put(pay_and_fall_silent).get(tell))).await;
    let (other, unused) = operator(Router::new().route("/payments/{key}", put(pay))).await;
    let service = gateway_to(&[("silent", &address), ("other", &other)]).await;
    assert_eq!(paid(&service).await, ("silent".to_owned(), 1));
    assert_eq!(books.lock().unwrap().values().copied().collect::<Vec<_>>(), [1]);
    assert!(unused.lock().unwrap().is_empty());
    service.running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_does_not_answer_keeps_no_payment_through_another_waiting() {
    let taken = Arc::new(Semaphore::new(0));
    let take = {
        let taken = Arc::clone(&taken);
        move || {
            taken.add_permits(1);
            std::future::pending::<Response>()
        }
    };
    let (silent, _) = operator(Router::new().route("/payments/{key}", put(take))).await;
    let (well, _) = operator(Router::new().route("/payments/{key}", put(pay))).await;
    let provider = |id, url, code| {
        let currencies = Serves::Only(vec![Currency::from_code(code).unwrap()]);
        ProviderSpec { currencies, answer_ms: Some(600_000), ..plain_rail::provider(id, url) }
    };
    let service = gateway_with(vec![provider("silent", &silent, "USD"), provider("well", &well, "EUR")]).await;
    let gateway = service.running.gateway();
    let caller = gateway.run(Tenant::STRANGER, Enroll { name: "Other".to_owned(), key: None }).await.unwrap().caller;
    let create = |n: usize| {
        let (money, reference) = ("10 USD".parse().unwrap(), format!("r-{n}").parse().unwrap());
        Create { caller, request: Box::new(CreateRequest::new(money, "msisdn:+254700000001".parse().unwrap(), reference)) }
    };
    let made = gateway.run_all(&caller, (0..CALLS_AT_ONCE + 44).map(create).collect()).await.unwrap();
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    let all = u32::try_from(CALLS_AT_ONCE).unwrap();
    tokio::time::timeout(PATIENCE, taken.acquire_many(all)).await.expect("it gets as many calls as it may").unwrap().forget();
    assert_eq!(paid(&service).await, ("well".to_owned(), 1));
    assert_eq!(taken.available_permits(), 0, "the rest waits");
    drop(service);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_shows_the_payee_as_the_operator_names_it() {
    let name = |Path(account): Path<String>| async move { format!(r#"{{"name":"Holder of {account}"}}"#) };
    let (address, _) = operator(Router::new().route("/accounts/{account}", get(name))).await;
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| {
        hosted.engine.providers = vec![plain_rail::provider("first", &address)];
        hosted.engine.rails = Rails::built_in().with(plain_rail::PlainRail);
    });
    let service = service.await;
    let body = json!({"amount": 10, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "r"});
    let view = service.post(&format!("{SETTLEMENTS}/check"), &body).await.expect(200).json();
    assert_eq!(view["payee"], json!({"display_name": "Holder of +254700000001", "match": "match"}));
    service.running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_does_not_answer_is_shown_as_down_and_passed_over() {
    let (address, books) = operator(Router::new().route("/payments/{key}", put(pay))).await;
    let (silent, asked) = operator(Router::new().route("/payments/{key}", put(pay_and_fall_silent).get(tell))).await;
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| {
        hosted.engine.providers = vec![plain_rail::provider("silent", &silent), plain_rail::provider("there", &address)];
        hosted.engine.rails = Rails::built_in().with(plain_rail::PlainRail);
    });
    let service = service.await;
    let up = service.get("/api/v1/providers/silent").await.expect(200).json();
    assert_eq!((&up["status"], &up["success_rate"], &up["updated_at"]), (&json!("up"), &json!(null), &json!(null)));
    let pay = async |reference: &str, provider: Option<&str>, status: &str| {
        let mut body = json!({"amount": 10, "currency": "EUR", "to": "msisdn:+254700000001", "reference": reference});
        if let Some(provider) = provider {
            body["provider"] = json!(provider);
        }
        service.post(SETTLEMENTS, &body).await.expect(201);
        service.until(reference, status).await;
        service.get(&format!("{SETTLEMENTS}/{reference}")).await.json()
    };
    for n in 0..5 {
        pay(&format!("unclear-{n}"), Some("silent"), "unknown").await;
    }
    let down = service.get("/api/v1/providers/silent").await.expect(200).json();
    assert_eq!((&down["status"], &down["success_rate"], &down["p95_ms"]), (&json!("down"), &json!(0.0), &json!(null)));
    assert_eq!(pay("other", None, "completed").await["provider"], "there");
    assert_eq!((asked.lock().unwrap().len(), books.lock().unwrap().len()), (5, 1));
    let listed = service.get("/api/v1/providers").await.expect(200).json();
    assert_eq!((&listed["data"][0], &listed["data"][1]["success_rate"]), (&down, &json!(1.0)));
    let figures = service.figures().await;
    for line in [
        "railgate_provider_breaker{provider=\"silent\",state=\"open\"} 1",
        "railgate_provider_success_ratios{provider=\"silent\"} 0.0",
        "railgate_provider_success_ratios{provider=\"there\"} 1.0",
    ] {
        assert!(figures.contains(line), "{line} is not in\n{figures}");
    }
    service.running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_asks_about_the_reversal_and_calls_a_person_if_it_is_denied() {
    let denied = async || r#"{"status":"refused"}"#;
    let routes = Router::new().route("/payments/{key}", put(pay).get(tell)).route("/refunds/{key}", put(pay).get(denied));
    let (address, _) = operator(routes).await;
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| {
        hosted.engine.providers = vec![plain_rail::provider("first", &address)];
        hosted.engine.rails = Rails::built_in().with(plain_rail::PlainRail);
    });
    let service = service.await;
    let body = json!({"amount": 10, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "r"});
    service.post(SETTLEMENTS, &body).await.expect(201);
    service.until("r", "completed").await;
    let check = async || service.post(&format!("{SETTLEMENTS}/r/check"), &json!(null)).await.expect(200).json();
    assert_eq!(check().await["consistent"], true);
    service.post(&format!("{SETTLEMENTS}/r/reverse"), &json!({})).await.expect(201);
    service.until("r", "reversed").await;
    for _ in 0..2 {
        let found = check().await;
        let codes: Vec<_> = found["findings"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect();
        assert_eq!((codes, &found["settlement"]["needs_review"]), (vec!["rail_disagrees", "needs_review"], &json!(true)));
        assert_eq!(service.running.gateway().engine().reviews_due(10).unwrap().waiting.len(), 1);
    }
    service.running.stop().await;
}

/// What an adapter says of itself.
type Word = Arc<Mutex<&'static str>>;

#[tokio::test(flavor = "multi_thread")]
async fn adapters_are_asked_how_they_are_and_believed() {
    let word = Word::new(Mutex::new("maintenance"));
    let say = async |State(word): State<Word>| format!(r#"{{"status":"{}"}}"#, *word.lock().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().route("/railgate/v1/health", get(say)).with_state(Arc::clone(&word));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let named = |name: &str| ProviderSpec {
        base_url: Some(address.clone()),
        ..ProviderSpec::new("adapted", name, railgate::ledger::Mode::Sandbox, &Adapter)
    };
    let off = ProviderSpec { id: "off".to_owned(), availability: Availability::Disabled, ..named("Off") };
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| {
        hosted.engine.providers = vec![named("Adapted"), off, plain_rail::provider("plain", &address)];
        hosted.engine.rails = Rails::built_in().with(plain_rail::PlainRail);
    });
    let service = service.await;
    let until = async |status: &str| {
        while service.get("/api/v1/providers/adapted").await.expect(200).json()["status"] != status {
            tokio::task::yield_now().await;
        }
    };
    until("maintenance").await;
    let body = json!({"amount": 10, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "r"});
    let check = service.post(&format!("{SETTLEMENTS}/check"), &body).await.expect(200).json();
    assert_eq!((&check["route"][0]["why"], &check["route"][2]["verdict"]), (&json!("unavailable"), &json!("in")));
    let figures = service.figures().await;
    for line in [
        "railgate_provider_heartbeats_total{provider=\"adapted\",health=\"maintenance\"} 1",
        "railgate_provider_health{provider=\"adapted\",health=\"maintenance\"} 1",
    ] {
        assert!(figures.contains(line), "{line} is not in\n{figures}");
    }
    for silent in ["off", "plain"] {
        assert!(!figures.contains(&format!("heartbeats_total{{provider=\"{silent}\"")), "{figures}");
    }

    // One that was changed is another one, and asked at once.
    *word.lock().unwrap() = "degraded";
    let body = railgate::engine::document_of(&named("Adapted anew"));
    let put = PutProviders { providers: vec![(body, None)], reason: None };
    service.running.gateway().run(Tenant::GATEWAY, put).await.unwrap();
    until("degraded").await;
    service.running.stop().await;
}
