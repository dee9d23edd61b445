//! Tenants are apart on every route there is: the list of routes is the document's, which another test compares with the router's.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use hyper::Request;
use railgate::auth::{Signer as _, SoftwareKey, TAG, TAG_NEW_KEY};
use railgate::engine::{MoveMoney, Operated};
use railgate::env::Env as _;
use railgate::ids::Ulid;
use railgate::ledger::Mode;
use railgate::money::{Currency, Money};
use railgate::participant::Reference;
use railgate::rail::simulator::Simulator;
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{MovementKind, OperatorRole};
use railgate_server::gateway::Tenant;
use serde_json::{Value, json};

use super::bundles::{BUNDLES, bundle};
use super::document::concrete;
use super::mobile::{MOBILE, Phone, phone};
use super::notifications::PushService;
use super::operators::person;
use super::signed::live_with_key;
use super::support::{Answer, SETTLEMENTS, Service, live_call, service, service_with, sign_as};

/// In every text that the owner writes. No answer to anybody else contains it.
const MARK: &str = "hollyhock";
const OWNERS_USER: &str = "hollyhock-ada";
const USER: &str = "/api/v1/mobile/users/{user}";

/// A caller: its key, its token and whether it is live.
pub(super) struct Identity {
    pub(super) name: &'static str,
    pub(super) key: Arc<SoftwareKey>,
    pub(super) token: String,
    pub(super) is_live: bool,
    pub(super) is_revoked: bool,
}

impl Identity {
    pub(super) fn sandbox(name: &'static str, service: &Service, token: &str) -> Self {
        Self { name, key: service.key_of(token), token: token.to_owned(), is_live: false, is_revoked: false }
    }

    pub(super) fn phone(name: &'static str, phone: &Phone) -> Self {
        Self { name, key: Arc::clone(&phone.key), token: phone.token.clone(), is_live: false, is_revoked: false }
    }

    async fn call(&self, service: &Service, route: &Route, path: &str) -> Answer {
        let request = Request::builder().method(&*route.method).uri(path).header("authorization", format!("Bearer {}", self.token));
        let request = if route.takes_if_match { request.header("if-match", "*") } else { request };
        let request = match &route.body {
            Value::Null => request.body(Body::empty()),
            body => request.header("content-type", "application/json").body(Body::from(body.to_string())),
        };
        self.send(service, request.unwrap()).await
    }

    /// Reads in one of the forms that there are.
    pub(super) async fn read(&self, service: &Service, path: &str, accept: &str) -> Answer {
        let request = Request::get(path).header("authorization", format!("Bearer {}", self.token)).header("accept", accept);
        self.send(service, request.body(Body::empty()).unwrap()).await
    }

    async fn send(&self, service: &Service, request: Request<Body>) -> Answer {
        let nonce = if self.is_live { service.live_nonce().await } else { service.nonce().await };
        service.exchange(sign_as(service, request, &*self.key, service.env.now() / 1_000, &nonce, TAG).await).await
    }
}

/// A route, with the example that the document has of its body.
pub(super) struct Route {
    pub(super) method: String,
    pub(super) path: String,
    body: Value,
    takes_if_match: bool,
    pub(super) needs_token: bool,
}

pub(super) async fn routes(service: &Service) -> Vec<Route> {
    let document = service.get("/openapi.json").await.expect(200).json();
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().unwrap();
            routes.push(Route {
                method: method.to_uppercase(),
                path: path.clone(),
                body: operation["requestBody"]["content"]["application/json"]["example"].clone(),
                takes_if_match: parameters.iter().any(|it| it["name"] == "If-Match"),
                needs_token: operation["security"].is_null(),
            });
        }
    }
    routes
}

/// What the owner has: the parts of paths that name it, by the beginning of the path and the parameter.
pub(super) struct Owned {
    pub(super) names: Vec<(&'static str, &'static str, String)>,
}

/// A name of the same form that nobody has.
fn of_nobody(name: &str) -> String {
    let other = |c: char| if c == '0' { '1' } else { '0' };
    match name.split_at(name.len() - 1) {
        // Of an id, its last character is changed, of any other name its first: each stays what it was, a name that is well formed.
        (begin, last) if name.contains('_') => format!("{begin}{}", last.chars().map(other).collect::<String>()),
        _ => format!("{}{}", other(name.chars().next().unwrap()), &name[1..]),
    }
}

fn text(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap().to_owned()
}

impl Owned {
    /// One of each kind of thing that a client can have in the sandbox.
    async fn make(service: &Service, owner: &Phone) -> Self {
        let reference = format!("{MARK}-1");
        let settled = service.settled(&reference, "sim:ok").await;
        let reversal = service.post(&format!("{SETTLEMENTS}/{reference}/reverse"), &json!({"amount": 1})).await.expect(201).json();
        let waiting = json!({"amount": 250, "currency": "EUR", "to": "sim:ok", "reference": format!("{MARK}-2"), "user": OWNERS_USER});
        let waiting = service.post(SETTLEMENTS, &waiting).await.expect(201).json();
        let webhook = json!({"url": format!("http://127.0.0.1:9/{MARK}")});
        let webhook = text(&service.post("/api/v1/webhooks", &webhook).await.expect(201).json(), "id");
        let there = format!("/api/v1/webhooks/{webhook}");
        service.post(&format!("{there}/test"), &json!({})).await.expect(200);
        let deliveries = service.get(&format!("{there}/deliveries")).await.expect(200).json();
        let pushes = PushService::start().await;
        owner.subscribe(service, &pushes).await;
        let subscriptions = owner.get(service, &format!("{MOBILE}/push-subscriptions")).await.expect(200).json();
        let inbox = loop {
            let inbox = owner.get(service, &format!("{MOBILE}/notifications")).await.expect(200).json();
            if inbox["data"][0].is_object() {
                break inbox;
            }
            tokio::task::yield_now().await;
        };
        let made = bundle("http://127.0.0.1:9", |body| body["manifest"]["name"] = json!(MARK));
        let made = service.post(BUNDLES, &made).await.expect(201).json();
        let key = service.key_of(&service.token).public_key().id().to_string();
        let movement = service.post("/api/v1/simulator/fund", &json!({"amount": 1, "currency": "EUR"})).await;
        assert!(movement.status.is_success(), "{}", movement.text());
        Self {
            names: vec![
                (SETTLEMENTS, "{ref}", text(&settled, "id")),
                (SETTLEMENTS, "{id}", text(&reversal["reversal"], "id")),
                ("/api/v1/simulator/settlements", "{ref}", text(&waiting, "id")),
                ("/api/v1/webhooks", "{id}", webhook),
                ("/api/v1/webhooks", "{delivery}", text(&deliveries["data"][0], "id")),
                ("/api/v1/mobile/approvals", "{id}", text(&waiting, "id")),
                ("/api/v1/mobile/devices", "{id}", owner.id.clone()),
                ("/api/v1/mobile/notifications", "{id}", text(&inbox["data"][0], "id")),
                ("/api/v1/mobile/push-subscriptions", "{id}", text(&subscriptions["data"][0], "id")),
                ("/api/v1/mobile/users", "{user}", OWNERS_USER.to_owned()),
                (BUNDLES, "{id}", text(&made, "id")),
                (BUNDLES, "{name}", "licence.txt".to_owned()),
                ("/api/v1/auth/keys", "{kid}", key),
            ],
        }
    }

    /// One of each kind of thing that a client can have where money is live, but for what phones have.
    async fn make_live(service: &Service, owner: &Identity, client: &str) -> Self {
        let by = (&*owner.key, &*owner.token);
        let post = async |path: &str, body: Value| live_call(service, by, "POST", path, &body.to_string()).await.expect(201).json();
        let reference = format!("{MARK}-wire-1");
        let deposit = MoveMoney {
            client: Ulid::parse(client.strip_prefix("cli_").unwrap()).unwrap(),
            kind: MovementKind::Deposit,
            money: Money::from_minor(1_000_000, Currency::from_code("EUR").unwrap()),
            reference: Reference::parse(&reference).unwrap(),
            evidence: "statement 7, line 12".to_owned(),
        };
        service.running.gateway().run(Tenant::GATEWAY, Operated(deposit)).await.unwrap();
        let paid = json!({"amount": 1, "currency": "EUR", "to": "msisdn:+254700000001", "reference": format!("{MARK}-1")});
        let paid = text(&post(SETTLEMENTS, paid).await, "id");
        while live_call(service, by, "GET", &format!("{SETTLEMENTS}/{paid}/status"), "").await.expect(200).json()["final"] != true {
            tokio::task::yield_now().await;
        }
        let reversal = post(&format!("{SETTLEMENTS}/{paid}/reverse"), json!({"amount": 0.5})).await;
        let webhook = text(&post("/api/v1/webhooks", json!({"url": format!("https://127.0.0.1:9/{MARK}")})).await, "id");
        let there = format!("/api/v1/webhooks/{webhook}");
        live_call(service, by, "POST", &format!("{there}/test"), "{}").await.expect(200);
        let deliveries = live_call(service, by, "GET", &format!("{there}/deliveries"), "").await.expect(200).json();
        let made = post(BUNDLES, bundle("http://127.0.0.1:9", |body| body["manifest"]["name"] = json!(MARK))).await;
        live_call(service, by, "PUT", &format!("{MOBILE}/users/{OWNERS_USER}"), "{}").await.expect(200);
        Self {
            names: vec![
                (SETTLEMENTS, "{ref}", paid),
                (SETTLEMENTS, "{id}", text(&reversal["reversal"], "id")),
                ("/api/v1/balances/movements", "{reference}", reference),
                ("/api/v1/webhooks", "{id}", webhook),
                ("/api/v1/webhooks", "{delivery}", text(&deliveries["data"][0], "id")),
                ("/api/v1/mobile/users", "{user}", OWNERS_USER.to_owned()),
                (BUNDLES, "{id}", text(&made, "id")),
                (BUNDLES, "{name}", "licence.txt".to_owned()),
                ("/api/v1/auth/keys", "{kid}", owner.key.public_key().id().to_string()),
            ],
        }
    }

    /// The path with the owner's names, and the same with names that nobody has, if it has any.
    pub(super) fn path(&self, template: &str) -> (String, Option<String>) {
        let own = self.names.iter().filter(|(prefix, name, _)| template.starts_with(prefix) && template.contains(name));
        let (path, nobodys) = own.fold((template.to_owned(), template.to_owned()), |(path, nobodys), (_, name, value)| {
            (path.replace(name, value), nobodys.replace(name, &of_nobody(value)))
        });
        let is_owned = path != template;
        (concrete(&path), is_owned.then(|| concrete(&nobodys)))
    }

    /// Asserts that an answer says nothing about the owner's things. A problem may repeat the path that was called.
    fn assert_silent(&self, place: &str, answer: &Answer) {
        let mut body: Value = serde_json::from_slice(&answer.body).unwrap_or_else(|_| json!(String::from_utf8_lossy(&answer.body)));
        if let Some(problem) = body.as_object_mut().filter(|_| answer.status.as_u16() >= 400) {
            problem.remove("instance");
        }
        let text = body.to_string();
        let secrets = self.names.iter().map(|(.., value)| value.as_str()).filter(|value| *value != "licence.txt");
        for secret in secrets.chain([MARK]) {
            assert!(!text.contains(secret), "{place} tells of {secret}: {text}");
        }
    }

    /// Calls every route as all these, who may see nothing of it and change nothing; how often something of the owner was named.
    async fn tried(&self, service: &Service, routes: impl Iterator<Item = &Route>, others: &[Identity]) -> usize {
        let mut tried = 0;
        for route in routes.filter(|it| it.needs_token) {
            let (path, nobodys) = self.path(&route.path);
            for by in others {
                let place = format!("{} {path} by {}", route.method, by.name);
                let answer = by.call(service, route, &path).await;
                if by.is_revoked {
                    // Who is refused often is told no more.
                    assert!([401, 429].contains(&answer.status.as_u16()), "{place}: {}", answer.text());
                }
                let Some(nobodys) = nobodys.as_ref().filter(|_| !by.is_revoked) else {
                    self.assert_silent(&place, &answer);
                    continue;
                };
                tried += 1;
                let instead = by.call(service, route, nobodys).await;
                // Each client has names of its own for its users: it makes one that is called the same, and reads that.
                if route.path == USER && answer.status == 200 {
                    assert_eq!(instead.status, 200, "{place}");
                    continue;
                }
                self.assert_silent(&place, &answer);
                let (answer, instead) = (refusal(&answer), refusal(&instead));
                assert_eq!(answer, instead, "{place}: what somebody else has is as what nobody has");
                // Not found, unless nobody with such a credential may call the route at all.
                let is_closed = answer["code"] == "insufficient_scope" || answer["code"] == "mode_mismatch";
                assert!(answer["status"] == 404 || is_closed, "{place}: {answer:#}");
            }
        }
        tried
    }
}

/// What a refusal says, whatever was named.
fn refusal(answer: &Answer) -> Value {
    let mut problem = answer.json();
    for name in ["instance", "request_id"] {
        problem.as_object_mut().unwrap().remove(name);
    }
    problem
}

/// Everything that the owner and its user can read.
async fn all_that_is_seen(service: &Service, routes: &[Route], owned: &Owned, owners: &[Identity]) -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    for by in owners {
        for route in routes.iter().filter(|it| it.method == "GET" && it.needs_token && !it.path.contains("/log/")) {
            let (path, nobodys) = owned.path(&route.path);
            let answer = by.call(service, route, &path).await;
            assert!(nobodys.is_none() || by.name != "owner" || answer.status != 404, "{path}: {}", answer.text());
            // A proof grows with the log.
            if answer.status.is_success() && !path.ends_with("/proof") {
                seen.insert(format!("{} {path}", by.name), seen_of(route, &answer));
            }
        }
    }
    seen
}

/// What an answer says of the owner and its user. Its other users change what is their own.
fn seen_of(route: &Route, answer: &Answer) -> String {
    if route.path != "/api/v1/mobile/users" {
        return answer.text().to_owned();
    }
    let all = answer.json();
    let own = all["data"].as_array().unwrap().iter().filter(|user| user["user"] == OWNERS_USER);
    let own: Vec<_> = own.map(Value::to_string).collect();
    assert_eq!(own.len(), 1, "{all:#}");
    own.concat()
}

/// The same, once what happens in the background has happened.
async fn all_that_stays(service: &Service, routes: &[Route], owned: &Owned, owners: &[Identity]) -> BTreeMap<String, String> {
    let mut before = BTreeMap::new();
    loop {
        let seen = all_that_is_seen(service, routes, owned, owners).await;
        if std::mem::replace(&mut before, seen.clone()) == seen {
            assert!(before.values().any(|text| text.contains(MARK)), "{:?}", before.keys());
            return before;
        }
    }
}

/// A key of the owner that was revoked after it got a token.
async fn revoked(service: &Service) -> Identity {
    let (first, second) = (service.key_of(&service.token), Arc::new(SoftwareKey::p256(&[77; 32]).unwrap()));
    let jwk: Value = serde_json::from_str(&second.public_key().jwk()).unwrap();
    let add = service.request("POST", "/api/v1/auth/keys").header("content-type", "application/json");
    let add = add.body(Body::from(json!({"jwk": jwk, "label": "lost"}).to_string())).unwrap();
    let now = service.env.now() / 1_000;
    let add = sign_as(service, service.sign(add, &*first).await, &*second, now, &service.nonce().await, TAG_NEW_KEY).await;
    service.exchange(add).await.expect(201);
    let ask = Request::post("/api/v1/auth/tokens").body(Body::empty()).unwrap();
    let token = service.exchange(service.sign(ask, &*second).await).await.expect(200).json();
    let token = token["access_token"].as_str().unwrap().to_owned();
    let gone = service.request("DELETE", &format!("/api/v1/auth/keys/{}", second.public_key().id()));
    service.send(gone.body(Body::empty()).unwrap()).await.expect(204);
    Identity { name: "a revoked key", key: second, token, is_live: false, is_revoked: true }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_reads_or_changes_what_another_client_or_another_user_has() {
    let store = Arc::new(MemoryStore::new());
    let service = service_with(store, |hosted| hosted.engine.rails = railgate::rail::Rails::built_in()).await;
    let owner = phone(&service, 41, OWNERS_USER).await;
    let owned = Owned::make(&service, &owner).await;
    let neighbour = phone(&service, 42, "grace").await;
    let revoked = revoked(&service).await;
    let own_token = service.token.clone();
    // The other client has a phone, too, and then the service speaks for the owner again.
    let other = service.enroll("Other").await;
    let mut service = service;
    service.token = other.clone();
    let others_phone = phone(&service, 43, "linus").await;
    service.token = own_token.clone();
    let others = [
        Identity::sandbox("another client", &service, &other),
        Identity::phone("another client's user", &others_phone),
        Identity::phone("another user", &neighbour),
        revoked,
    ];
    let owners = [Identity::sandbox("owner", &service, &own_token), Identity::phone("its user", &owner)];
    let routes = routes(&service).await;
    let before = all_that_stays(&service, &routes, &owned, &owners).await;
    assert!(before.len() > 25, "{:?}", before.keys());
    let tried = owned.tried(&service, routes.iter(), &others).await;
    assert!(tried > 100, "{tried}");
    let after = all_that_is_seen(&service, &routes, &owned, &owners).await;
    for (place, text) in &before {
        assert_eq!(Some(text), after.get(place), "{place}");
    }
    service.running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_reads_or_changes_what_another_client_has_where_money_is_live() {
    let store = Arc::new(MemoryStore::new());
    let providers =
        vec![ProviderSpec::new("play", "Play", Mode::Sandbox, &Simulator), ProviderSpec::new("real", "Real", Mode::Live, &Simulator)];
    let mut service = service_with(store, |hosted| {
        hosted.engine.rails = railgate::rail::Rails::built_in();
        hosted.engine.providers = providers;
        hosted.edge.webhook_allow = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    let (key, token, client) = live_with_key(&service, 6).await;
    let owners = [Identity { name: "owner", key, token, is_live: true, is_revoked: false }];
    let owned = Owned::make_live(&service, &owners[0], &client).await;
    let own_sandbox = Identity::sandbox("the owner's key for the sandbox", &service, &service.token);
    service.token = service.enroll("Other").await;
    let (key, token, _) = live_with_key(&service, 7).await;
    let others = [
        Identity { name: "another client", key, token, is_live: true, is_revoked: false },
        Identity::sandbox("another client's key for the sandbox", &service, &service.token),
    ];
    let routes = routes(&service).await;
    let before = all_that_stays(&service, &routes, &owned, &owners).await;
    assert!(before.len() > 20, "{:?}", before.keys());
    let tried = owned.tried(&service, routes.iter(), &others).await;
    assert!(tried > 50, "{tried}");
    // What the owner has in the sandbox its live key sees, too: its key for the sandbox tries what is named.
    let named = routes.iter().filter(|it| owned.path(&it.path).1.is_some());
    let tried = owned.tried(&service, named, &[own_sandbox]).await;
    assert!(tried > 25, "{tried}");
    let after = all_that_is_seen(&service, &routes, &owned, &owners).await;
    for (place, text) in &before {
        assert_eq!(Some(text), after.get(place), "{place}");
    }
    service.running.stop().await;
}

/// Which identities get past the check of each route, for the review of changes: `-` is refused for what the credential is.
#[tokio::test(flavor = "multi_thread")]
async fn who_gets_past() {
    let service = service().await;
    let device = phone(&service, 41, "ada").await;
    let mut all = vec![Identity::sandbox("client", &service, &service.token), Identity::phone("phone", &device)];
    let roles = [OperatorRole::Viewer, OperatorRole::Agent, OperatorRole::Approver, OperatorRole::Admin];
    for (n, role) in (51..).zip(roles) {
        let person = person(&service, n, role).await;
        all.push(Identity { name: role.as_str(), key: person.key, token: person.token, is_live: true, is_revoked: false });
    }
    let mut list = String::new();
    for route in routes(&service).await.iter().filter(|it| it.needs_token && !it.path.ends_with("/auth/tokens/revoke")) {
        // Nothing of these names exists, and without its body no call changes anything.
        let bare =
            Route { method: route.method.clone(), path: route.path.clone(), body: Value::Null, takes_if_match: false, needs_token: true };
        let mut may = Vec::new();
        for by in &all {
            let answer = by.call(&service, &bare, &concrete(&route.path)).await;
            assert_ne!(answer.status, 401, "{} {} by {}: {}", route.method, route.path, by.name, answer.text());
            may.push(if answer.status == 403 { "-" } else { by.name });
        }
        list.push_str(&format!("{:6} {}: {}\n", route.method, route.path, may.join(" ")));
    }
    insta::assert_snapshot!(list);
}
