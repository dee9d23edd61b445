//! A gateway with two operators, and what they answer.

use std::sync::{Arc, Mutex};

use railgate::api::{CreateRequest, Enrolled, ReversalStatus, ReverseRequest, SettlementStatus, SettlementView};
use railgate::env::{Env as _, ManualEnv};
use railgate::rail::gsma::correlation_id;
use railgate::rail::{Carried, Carrier, HttpReply, HttpRequest, Rails};
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::validate::provider::parse_provider;
use railgate::{Client, Config, Gateway};
use serde_json::{Value, json};

pub const START: i64 = 1_795_257_497_042;
pub const ONE: &str = "https://one.example/v1.2/mm";
pub const PAYEE: &str = "msisdn:+254700000001";
/// The id that operators give a request.
pub const STATE: &str = "be77f48f-2433-4bfa-8cdd-aaf058a400de";
pub const OTHER_STATE: &str = "00000000-2433-4bfa-8cdd-aaf058a400de";

/// Answers with a function of the request, and records the requests.
pub struct Script<F> {
    answer: F,
    pub asked: Mutex<Vec<HttpRequest>>,
}

impl<F: Fn(&HttpRequest) -> Carried> Script<F> {
    pub fn new(answer: F) -> Self {
        Self { answer, asked: Mutex::default() }
    }

    /// Method and path of each request, below the base address, with the id of the first attempt or reversal as `{id}`.
    pub fn paths(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let ids: Vec<String> = asked.iter().filter(|it| it.method == "POST").filter_map(|it| header(it, "x-correlationid")).collect();
        let plain = |url: &str| ids.iter().fold(url.replace(ONE, ""), |url, id| url.replace(id.as_str(), "{id}"));
        asked.iter().map(|it| format!("{} {}", it.method, plain(&it.url))).collect()
    }

    pub fn last(&self, method: &str) -> HttpRequest {
        self.asked.lock().unwrap().iter().rfind(|it| it.method == method).unwrap().clone()
    }
}

impl<F: Fn(&HttpRequest) -> Carried> Carrier for Script<F> {
    fn carry(&self, request: &HttpRequest) -> Carried {
        self.asked.lock().unwrap().push(request.clone());
        (self.answer)(request)
    }
}

pub fn header(request: &HttpRequest, name: &str) -> Option<String> {
    request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

pub fn sent(request: &HttpRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

pub fn replied(status: u16, body: impl ToString) -> Carried {
    Carried::Answered(HttpReply { status, headers: Vec::new(), body: body.to_string().into_bytes() })
}

pub fn error(status: u16, category: &str, code: &str) -> Carried {
    replied(status, json!({"errorCategory": category, "errorCode": code, "errordescription": "told in words"}))
}

pub fn not_found() -> Carried {
    error(404, "identification", "identifierError")
}

/// A transaction with the values of the request that made it.
pub fn transaction(body: &Value, reference: &str, status: &str) -> Value {
    let mut transaction = body.clone();
    transaction["transactionReference"] = reference.into();
    transaction["transactionStatus"] = status.into();
    transaction
}

pub fn state(id: &str, status: &str) -> Value {
    json!({"serverCorrelationId": id, "status": status, "notificationMethod": "polling"})
}

pub fn completed_as(reference: &str) -> Value {
    let mut state = state(STATE, "completed");
    state["objectReference"] = reference.into();
    state
}

/// The payment of [`World::pay`] at its operator.
pub fn ours(reference: &str, status: &str, key: &str) -> Value {
    json!({
        "amount": "10.00", "currency": "EUR", "type": "disbursement", "creditParty": [{"key": "msisdn", "value": "+254700000001"}],
        "debitParty": [{"key": "accountid", "value": "4711"}], "transactionReference": reference, "transactionStatus": status,
        "requestingOrganisationTransactionReference": key,
    })
}

/// A provider as in a file: at `https://{id}.example/v1.2/mm`.
pub fn provider(id: &str, settings: Value, secrets: Value) -> ProviderSpec {
    let body = json!({
        "id": id, "name": id, "rail": "gsma", "mode": "sandbox", "base_url": format!("https://{id}.example/v1.2/mm"),
        "settings": settings, "secrets": secrets,
    });
    parse_provider(body.to_string().as_bytes(), &Rails::built_in()).unwrap().spec
}

pub struct World {
    pub gateway: Gateway,
    pub env: Arc<ManualEnv>,
    pub client: Enrolled,
}

impl World {
    /// With one operator, and nothing set.
    pub fn new() -> Self {
        Self::set(json!({}))
    }

    /// With one operator, and these settings.
    pub fn set(settings: Value) -> Self {
        Self::with(vec![provider("one", settings, json!({}))])
    }

    pub fn with(providers: Vec<ProviderSpec>) -> Self {
        let env = Arc::new(ManualEnv::new(START, 1));
        let config = Config { providers, rails: Rails::built_in(), ..Config::sandbox() };
        let gateway = Gateway::open_with(Arc::new(MemoryStore::new()), env.clone(), config).unwrap();
        gateway.engine().reached_at("https://gateway.example/rails".to_owned());
        let client = gateway.enroll("Shop").unwrap();
        Self { gateway, env, client }
    }

    pub fn shop(&self) -> Client<'_> {
        self.gateway.client(&self.client)
    }

    /// Pays ten euros, and carries everything due now or within `ms`.
    pub fn pay(&self, carrier: &dyn Carrier, ms: i64) -> SettlementView {
        self.pay_to(PAYEE, carrier, ms)
    }

    pub fn pay_to(&self, to: &str, carrier: &dyn Carrier, ms: i64) -> SettlementView {
        let request = CreateRequest::new("10 EUR".parse().unwrap(), to.parse().unwrap(), "r".parse().unwrap());
        self.shop().create(request).unwrap();
        self.pass(carrier, ms);
        self.view()
    }

    pub fn view(&self) -> SettlementView {
        self.shop().settlement("r").unwrap()
    }

    /// The key of the first attempt.
    pub fn key(&self) -> String {
        format!("{}-1", self.view().id.to_string().trim_start_matches("stl_"))
    }

    pub fn correlation(&self) -> String {
        correlation_id(&self.key())
    }

    pub fn pass(&self, carrier: &dyn Carrier, ms: i64) {
        let end = self.env.now() + ms;
        self.gateway.work_with(carrier).unwrap();
        while let Some(due) = self.gateway.next_due().unwrap().filter(|due| *due <= end) {
            self.env.advance_to(due);
            self.gateway.work_with(carrier).unwrap();
        }
        self.env.advance_to(end);
    }

    /// Has it paid as `P-1`.
    pub fn paid() -> Self {
        let world = Self::set(json!({"partial_reversals": "true"}));
        let pays = Script::new(|request: &HttpRequest| replied(201, transaction(&sent(request), "P-1", "completed")));
        assert_eq!(world.pay(&pays, 0).status, SettlementStatus::Completed);
        world
    }

    /// Gives two euros back, and carries everything due now or within `ms`.
    pub fn reverse(&self, carrier: &dyn Carrier, ms: i64) -> ReversalStatus {
        let request = ReverseRequest { amount: "2".parse().ok(), reference: "back".parse().ok(), ..ReverseRequest::default() };
        self.shop().reverse("r", request).unwrap();
        self.pass(carrier, ms);
        self.shop().reversal("r", "back").unwrap().status
    }
}
