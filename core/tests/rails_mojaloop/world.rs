//! A gateway with two providers in the scheme, and the adapter that both call.

use std::sync::{Arc, Mutex};

use railgate::api::{CreateRequest, SettlementStatus, SettlementView};
use railgate::env::{Env as _, ManualEnv};
use railgate::rail::{Carried, Carrier, HttpReply, HttpRequest, Rails};
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::validate::provider::parse_provider;
use railgate::{Client, Config, Gateway};
use serde_json::{Value, json};

pub const START: i64 = 1_795_257_497_042;
pub const PAYEE: &str = "msisdn:+254700000001";

pub const BEGIN: &str = "POST /transfers";
pub const ACCEPT_PARTY: &str = r#"PUT {"acceptParty":true}"#;
pub const ACCEPT_QUOTE: &str = r#"PUT {"acceptQuote":true}"#;
pub const REFUSE_QUOTE: &str = r#"PUT {"acceptQuote":false}"#;
pub const REFUSE_CONVERSION: &str = r#"PUT {"acceptConversion":false}"#;
pub const INQUIRE: &str = "GET";

/// A provider as an operator would write it, with more settings.
pub fn provider(id: &str, more: Value) -> ProviderSpec {
    let mut body = json!({
        "id": id, "name": id, "rail": "mojaloop", "mode": "sandbox", "base_url": format!("https://{id}.example/out"),
        "fees": [{"flat": "0.30"}], "secrets": {"token": "hush"},
        "settings": {"payer_id_type": "BUSINESS", "payer_id": "shop-42", "payer_fsp": "ourbank", "payer_name": "Shop 42"},
    });
    for (name, value) in more.as_object().unwrap() {
        body["settings"][name] = value.clone();
    }
    parse_provider(body.to_string().as_bytes(), &Rails::built_in()).unwrap().spec
}

/// Replies to what it is asked with a function of the step and of the transfer as it was begun.
pub struct Adapter<F> {
    reply: F,
    pub asked: Mutex<Vec<HttpRequest>>,
    begun: Mutex<Value>,
}

impl<F: Fn(&str, &Value) -> Carried> Adapter<F> {
    pub fn new(reply: F) -> Self {
        Self { reply, asked: Mutex::default(), begun: Mutex::default() }
    }

    /// The steps that it was asked for, without inquiries.
    pub fn steps(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().filter(|it| it.method != "GET").map(step).collect()
    }
}

/// What a request asks for; the method and the path where the body does not say it.
fn step(request: &HttpRequest) -> String {
    match request.method {
        "POST" => BEGIN.to_owned(),
        "GET" => INQUIRE.to_owned(),
        method => format!("{method} {}", String::from_utf8(request.body.clone()).unwrap()),
    }
}

impl<F: Fn(&str, &Value) -> Carried> Carrier for Adapter<F> {
    fn carry(&self, request: &HttpRequest) -> Carried {
        self.asked.lock().unwrap().push(request.clone());
        if request.method == "POST" {
            *self.begun.lock().unwrap() = serde_json::from_slice(&request.body).unwrap();
        }
        let begun = self.begun.lock().unwrap().clone();
        (self.reply)(&step(request), &begun)
    }
}

pub fn replied(status: u16, body: &Value) -> Carried {
    Carried::Answered(HttpReply { status, headers: Vec::new(), body: body.to_string().into_bytes() })
}

/// The transfer, with more members.
pub fn with(transfer: &Value, more: Value) -> Value {
    let mut transfer = transfer.clone();
    transfer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    transfer
}

pub fn at(state: &str, transfer: &Value) -> Carried {
    replied(200, &with(transfer, json!({"currentState": state})))
}

/// It waits with a quote.
pub fn quoted(transfer: &Value, quote: Value) -> Carried {
    replied(200, &with(transfer, json!({"currentState": "WAITING_FOR_QUOTE_ACCEPTANCE", "quoteResponse": {"body": quote}})))
}

/// The quote that adds this much to ten euros.
pub fn adds(cents: u32) -> Value {
    json!({"transferAmount": {"currency": "EUR", "amount": format!("10.{cents:02}")}})
}

/// It is done, and the scheme says this.
pub fn completed(transfer: &Value, state: &str) -> Carried {
    let fulfil = json!({"body": {"transferState": state}});
    replied(200, &with(transfer, json!({"currentState": "COMPLETED", "fulfil": fulfil})))
}

/// It met an error of the scheme.
pub fn failed(transfer: &Value, code: &str) -> Carried {
    failed_with(transfer, 500, json!({"mojaloopError": {"errorInformation": {"errorCode": code, "errorDescription": "?"}}}))
}

pub fn failed_with(transfer: &Value, status: u16, error: Value) -> Carried {
    let transfer = with(transfer, json!({"currentState": "ERROR_OCCURRED", "lastError": error}));
    replied(status, &json!({"message": "?", "statusCode": status.to_string(), "transferState": transfer}))
}

/// What an adapter replies whose scheme pays.
pub fn fine(step: &str, transfer: &Value) -> Carried {
    match step {
        BEGIN => at("WAITING_FOR_PARTY_ACCEPTANCE", transfer),
        ACCEPT_PARTY => quoted(transfer, adds(0)),
        ACCEPT_QUOTE | INQUIRE => completed(transfer, "COMMITTED"),
        _ => at("ABORTED", transfer),
    }
}

/// [`fine`], but for one step.
pub fn but<'a>(step: &'a str, reply: impl Fn(&Value) -> Carried + 'a) -> Adapter<impl Fn(&str, &Value) -> Carried + 'a> {
    Adapter::new(move |asked, transfer| if asked == step { reply(transfer) } else { fine(asked, transfer) })
}

pub struct World {
    pub gateway: Gateway,
    pub env: Arc<ManualEnv>,
    pub client: railgate::api::Enrolled,
}

impl World {
    pub fn new() -> Self {
        Self::with(json!({}))
    }

    /// With these settings of both providers.
    pub fn with(settings: Value) -> Self {
        let env = Arc::new(ManualEnv::new(START, 1));
        let providers = vec![provider("first", settings.clone()), provider("second", settings)];
        let config = Config { providers, rails: Rails::built_in(), ..Config::sandbox() };
        let gateway = Gateway::open_with(Arc::new(MemoryStore::new()), env.clone(), config).unwrap();
        let client = gateway.enroll("Shop").unwrap();
        Self { gateway, env, client }
    }

    pub fn shop(&self) -> Client<'_> {
        self.gateway.client(&self.client)
    }

    /// Pays ten euros, and carries everything due now.
    pub fn pay(&self, adapter: &dyn Carrier) -> SettlementView {
        self.pay_to(PAYEE, adapter)
    }

    pub fn pay_to(&self, to: &str, adapter: &dyn Carrier) -> SettlementView {
        let request = CreateRequest::new("10 EUR".parse().unwrap(), to.parse().unwrap(), "r".parse().unwrap());
        self.shop().create(CreateRequest { description: Some("thanks\n".repeat(20).into()), ..request }).unwrap();
        self.pass(adapter, 0)
    }

    /// Carries everything due within `ms`.
    pub fn pass(&self, adapter: &dyn Carrier, ms: i64) -> SettlementView {
        let end = self.env.now() + ms;
        self.gateway.work_with(adapter).unwrap();
        while let Some(due) = self.gateway.next_due().unwrap().filter(|due| *due <= end) {
            self.env.advance_to(due);
            self.gateway.work_with(adapter).unwrap();
        }
        self.env.advance_to(end);
        self.shop().settlement("r").unwrap()
    }
}

/// The end of a payment: its status, and the codes of the gateway and the rail if it failed.
pub fn end(view: &SettlementView) -> (SettlementStatus, Option<&'static str>, Option<String>) {
    let failure = view.failure.as_ref();
    (view.status, failure.map(|it| it.code.as_str()), failure.and_then(|it| it.rail_code.clone()))
}

/// Pays with [`fine`] but for one step, and returns the end.
pub fn end_but(step: &str, reply: impl Fn(&Value) -> Carried) -> (SettlementStatus, Option<&'static str>, Option<String>) {
    end(&World::new().pay(&but(step, reply)))
}

pub fn unknown() -> (SettlementStatus, Option<&'static str>, Option<String>) {
    (SettlementStatus::Unknown, None, None)
}

pub fn refused(code: &'static str, rail_code: &str) -> (SettlementStatus, Option<&'static str>, Option<String>) {
    (SettlementStatus::Failed, Some(code), Some(rail_code.to_owned()))
}
