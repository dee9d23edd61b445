//! Tenants are apart on every route there is: the list of routes is the document's, which another test compares with the router's.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use hyper::Request;
use railgate::auth::{Signer as _, SoftwareKey, TAG, TAG_NEW_KEY};
use railgate::env::Env as _;
use railgate::store::memory::MemoryStore;
use railgate::store::record::OperatorRole;
use serde_json::{Value, json};

use super::bundles::{BUNDLES, bundle};
use super::document::concrete;
use super::mobile::{MOBILE, Phone, phone};
use super::notifications::PushService;
use super::operators::person;
use super::support::{Answer, SETTLEMENTS, Service, service, service_with, sign_as};

/// In every text that the owner writes. No answer to anybody else contains it.
const MARK: &str = "hollyhock";
const OWNERS_USER: &str = "hollyhock-ada";

/// A caller: its key, its token and whether it is live.
struct Identity {
    name: &'static str,
    key: Arc<SoftwareKey>,
    token: String,
    is_live: bool,
}

impl Identity {
    fn phone(name: &'static str, phone: &Phone) -> Self {
        Self { name, key: Arc::clone(&phone.key), token: phone.token.clone(), is_live: false }
    }

    async fn call(&self, service: &Service, route: &Route, path: &str) -> Answer {
        let request = Request::builder().method(&*route.method).uri(path).header("authorization", format!("Bearer {}", self.token));
        let request = if route.takes_if_match { request.header("if-match", "*") } else { request };
        let request = match &route.body {
            Value::Null => request.body(Body::empty()),
            body => request.header("content-type", "application/json").body(Body::from(body.to_string())),
        };
        let nonce = if self.is_live { service.live_nonce().await } else { service.nonce().await };
        service.exchange(sign_as(service, request.unwrap(), &*self.key, service.env.now() / 1_000, &nonce, TAG).await).await
    }
}

/// A route, with the example that the document has of its body.
struct Route {
    method: String,
    path: String,
    body: Value,
    takes_if_match: bool,
    needs_token: bool,
}

async fn routes(service: &Service) -> Vec<Route> {
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
struct Owned {
    names: Vec<(&'static str, &'static str, String)>,
}

impl Owned {
    /// One of each kind of thing that a client can have.
    async fn make(service: &Service, owner: &Phone) -> Self {
        let text = |answer: &Value, name: &str| answer[name].as_str().unwrap().to_owned();
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

    /// The path with the owner's names, and whether it has any.
    fn path(&self, template: &str) -> (String, bool) {
        let own = self.names.iter().filter(|(prefix, name, _)| template.starts_with(prefix) && template.contains(name));
        let path = own.fold(template.to_owned(), |path, (_, name, value)| path.replace(name, value));
        let is_owned = path != template;
        (concrete(&path), is_owned)
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
}

/// Everything that the owner and its user can read.
async fn all_that_is_seen(service: &Service, routes: &[Route], owned: &Owned, owner: &Phone) -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    let by_backend = Identity { name: "owner", key: service.key_of(&service.token), token: service.token.clone(), is_live: false };
    for by in [by_backend, Identity::phone("its user", owner)] {
        for route in routes.iter().filter(|it| it.method == "GET" && it.needs_token && !it.path.contains("/log/")) {
            let (path, is_owned) = owned.path(&route.path);
            let answer = by.call(service, route, &path).await;
            assert!(!is_owned || by.name != "owner" || answer.status != 404, "{path}: {}", answer.text());
            // A proof grows with the log.
            if answer.status.is_success() && !path.ends_with("/proof") {
                seen.insert(format!("{} {path}", by.name), answer.text().to_owned());
            }
        }
    }
    seen
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
    Identity { name: "a revoked key", key: second, token, is_live: false }
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
    service.token = own_token;
    let others = [
        Identity { name: "another client", key: service.key_of(&other), token: other, is_live: false },
        Identity::phone("another client's user", &others_phone),
        Identity::phone("another user", &neighbour),
        revoked,
    ];

    let routes = routes(&service).await;
    // Once what happens in the background has happened.
    let mut before = BTreeMap::new();
    loop {
        let seen = all_that_is_seen(&service, &routes, &owned, &owner).await;
        if std::mem::replace(&mut before, seen.clone()) == seen {
            break;
        }
    }
    assert!(before.len() > 25 && before.values().any(|text| text.contains(MARK)), "{:?}", before.keys());
    let mut tried = 0;
    // The names of users are each client's own: another one may have a user who is called the same. Whoever changes their own preferences
    // has another version from then on, as the owner sees.
    let own = ["/api/v1/mobile/users/{user}", "/api/v1/mobile/preferences"];
    for route in routes.iter().filter(|it| it.needs_token && !own.contains(&it.path.as_str())) {
        let (path, is_owned) = owned.path(&route.path);
        for by in &others {
            let place = format!("{} {path} by {}", route.method, by.name);
            let answer = by.call(&service, route, &path).await;
            owned.assert_silent(&place, &answer);
            if by.name == "a revoked key" {
                // Who is refused often is told no more.
                assert!([401, 429].contains(&answer.status.as_u16()), "{place}: {}", answer.text());
            } else if is_owned {
                let status = answer.status.as_u16();
                assert!([400, 403, 404, 409, 422].contains(&status), "{place}: {status} {}", answer.text());
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
    let after = all_that_is_seen(&service, &routes, &owned, &owner).await;
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
    let client = Identity { name: "client", key: service.key_of(&service.token), token: service.token.clone(), is_live: false };
    let mut all = vec![client, Identity::phone("phone", &device)];
    let roles = [OperatorRole::Viewer, OperatorRole::Agent, OperatorRole::Approver, OperatorRole::Admin];
    for (n, role) in (51..).zip(roles) {
        let person = person(&service, n, role).await;
        all.push(Identity { name: role.as_str(), key: person.key, token: person.token, is_live: true });
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
