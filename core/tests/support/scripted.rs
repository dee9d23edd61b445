//! A gateway whose operators answer as a test says.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use railgate::api::{CreateRequest, Enrolled, SettlementView};
use railgate::env::{Env as _, ManualEnv};
use railgate::rail::{Carried, Carrier, HttpReply, HttpRequest, Rails};
use railgate::route::ProviderSpec;
use railgate::seal::MasterKeys;
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::{Client, Config, Gateway};

pub const START: i64 = 1_795_257_497_042;

/// Answers with a function of method and URL, and records the requests.
pub struct Script<F> {
    answer: F,
    pub asked: Mutex<Vec<HttpRequest>>,
}

impl<F: Fn(&str, &str) -> Carried> Script<F> {
    pub fn new(answer: F) -> Self {
        Self { answer, asked: Mutex::default() }
    }

    /// Method and URL of each request, without what is after the last slash.
    pub fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|it| format!("{} {}", it.method, it.url.rsplit_once('/').unwrap().0)).collect()
    }
}

impl<F: Fn(&str, &str) -> Carried> Carrier for Script<F> {
    fn carry(&self, request: &HttpRequest) -> Carried {
        self.asked.lock().unwrap().push(request.clone());
        (self.answer)(request.method, &request.url)
    }
}

pub fn replied(status: u16, body: &str) -> Carried {
    Carried::Answered(HttpReply { status, headers: Vec::new(), body: body.as_bytes().to_vec() })
}

pub struct World {
    pub gateway: Gateway,
    pub env: Arc<ManualEnv>,
    pub client: Enrolled,
}

impl World {
    pub fn over(providers: Vec<ProviderSpec>, rails: Rails) -> Self {
        Self::on(Arc::new(MemoryStore::new()), providers, rails)
    }

    pub fn on(store: Arc<dyn Store>, providers: Vec<ProviderSpec>, rails: Rails) -> Self {
        let env = Arc::new(ManualEnv::new(START, 1));
        let master = Some(Arc::new(MasterKeys::generate(1, [7; 32])));
        let config = Config { providers, rails, master, ..Config::sandbox() };
        let gateway = Gateway::open_with(store, env.clone(), config).unwrap();
        let client = gateway.enroll("Shop").unwrap();
        Self { gateway, env, client }
    }

    pub fn shop(&self) -> Client<'_> {
        self.gateway.client(&self.client)
    }

    /// Pays ten euros, and carries everything due now or within `ms`.
    pub fn pay(&self, carrier: &dyn Carrier, ms: i64) -> SettlementView {
        let request = CreateRequest::new("10 EUR".parse().unwrap(), "msisdn:+254700000001".parse().unwrap(), "r".parse().unwrap());
        self.shop().create(request).unwrap();
        self.pass(carrier, ms);
        self.shop().settlement("r").unwrap()
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
}
