//! The stage of the story that each package tells in its own language: a partner's bundle became a provider, a backend has users, and
//! their phones approve payments that go through it. Here are the gateway, the partner, the operators and the push service; the package
//! under test is the backend and the phones.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::Server;
use crate::client::{Account, Client, Response, enroll};
use crate::operators::{Listening, gsma};
use crate::patience::until;
use crate::push::PushService;

const BUNDLES: &str = "/api/v1/bundles";
/// The provider that the bundle becomes in the sandbox.
const PROVIDER: &str = "acme-sandbox";
/// How many phones there are: what fewer measure is not shown.
pub const PHONES: usize = 5;

/// A gateway with the provider of a partner, and a push service.
pub struct Stage {
    server: Server,
    partner: Listening,
    pushes: PushService,
    /// What the gateway's test of the partner's endpoint has paid.
    paid_before: usize,
    _folder: TempDir,
}

impl Stage {
    /// Sets it: the partner submits its bundle, one operator reviews it, and another one publishes it. `more`: arguments of the server.
    ///
    /// # Panics
    /// If anything of it is refused.
    pub fn set(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gateway.db");
        let server = Server::start(&path, more);
        let partner = Listening::start(&gsma::thorough(), "acme", None);
        publish(&server, &path, partner.base_url());
        let paid_before = partner.operator().books().paid.len();
        Self { server, partner, pushes: PushService::start(), paid_before, _folder: folder }
    }

    /// Tells a test where everything is.
    pub fn show<'a>(&self, test: &'a mut Command) -> &'a mut Command {
        test.env("RAILGATE_STORY_URL", format!("http://{}", self.server.address));
        test.env("RAILGATE_STORY_PUSH", &self.pushes.origin).env("RAILGATE_STORY_PROVIDER", PROVIDER)
    }

    /// Asserts that the story was played: each phone's payment reached the partner once.
    ///
    /// # Panics
    /// If it was not.
    pub fn assert_played(&self) {
        let operator = self.partner.operator();
        let paid = &operator.books().paid;
        assert_eq!(paid.len() - self.paid_before, PHONES, "each phone approved one payment");
        assert!(paid.values().all(|entry| entry.times == 1), "nothing was paid twice");
    }
}

fn bundle(base_url: &str) -> Value {
    json!({
        "manifest": {
            "id": "acme", "version": "1.0.0", "name": "Acme", "rail": "gsma", "namespaces": ["msisdn"], "currencies": ["EUR"],
            "settings": {
                "debit_party_type": "organisationid", "debit_party": "4711", "x_client_id": "us", "partial_reversals": "true",
                "not_found_is_proof": "true", "token_url": format!("{base_url}/token"),
            },
            "contacts": [{"role": "technical", "email": "integration@acme.example"}],
            "sandbox": {"base_url": base_url, "test": {"to": "msisdn:+254700000001"}},
        },
        "secrets": {"sandbox": {"client_id": "us", "client_secret": "whispered", "api_key": "k-1"}},
    })
}

fn publish(server: &Server, path: &Path, base_url: &str) {
    let operator = || {
        let code = Server::operator_code(path, "agent");
        Account::enroll_operator(server.address, &code).and_then(|account| account.connect(server.address)).expect("an operator")
    };
    let (mut reviewer, mut publisher) = (operator(), operator());
    let mut partner = enroll(server.address).connect(server.address).expect("a connection");
    let made = call(&mut partner, "POST", BUNDLES, &bundle(base_url));
    let id = made["id"].as_str().expect("an id").to_owned();
    let step = |by: &mut Client, what: &str, body: Value| call(by, "POST", &format!("{BUNDLES}/{id}/{what}"), &body);
    step(&mut partner, "submit", json!({"comment": "Ready."}));
    let tested = tested(&mut reviewer, &id);
    assert_eq!(tested["conformance"], "passed", "{tested:#}");
    step(&mut reviewer, "start-review", json!({"comment": "I take it."}));
    step(&mut reviewer, "approve", json!({"digest": tested["digest"], "comment": "seen"}));
    step(&mut publisher, "publish", json!({"mode": "sandbox", "reason": "contract signed"}));
    let published = self::tested(&mut publisher, &id);
    assert_eq!(published["published"]["sandbox"], true, "{published:#}");
}

/// The bundle once its test has ended, and nothing is being published any more.
fn tested(by: &mut Client, id: &str) -> Value {
    let mut view = Value::Null;
    until("the bundle was tested", || {
        view = call(by, "GET", &format!("/api/v1/operator/bundles/{id}"), &Value::Null);
        !["waiting", "running"].iter().any(|open| view["conformance"] == *open) && view["publishing"].is_null()
    });
    view
}

fn call(by: &mut Client, method: &str, path: &str, body: &Value) -> Value {
    let body = (!body.is_null()).then(|| body.to_string());
    let Response { status, body, .. } = by.send(method, path, body.as_deref()).expect("a response");
    assert!((200..300).contains(&status), "{method} {path}: {status} {body:#}");
    body
}
