//! The OpenAPI document and the router agree.

use std::collections::BTreeSet;

use axum::body::Body;
use hyper::Request;
use railgate::api::{BalanceMovementView, BundleSummaryView, SettlementView, WebhookView};
use railgate::auth::{Signer as _, SoftwareKey};
use railgate::store::record::{EventSubject, Topic};
use serde_json::Value;

use super::support::service;

const METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

/// A path that matches this template.
pub(crate) fn concrete(template: &str) -> String {
    let names = [
        ("{ref}", "some-reference"),
        ("{id}", "rev_x"),
        ("{currency}", "EUR"),
        ("{kid}", "nobody"),
        ("{delivery}", "dlv_x"),
        ("{code}", "internal"),
        ("{user}", "nobody"),
        ("{name}", "licence.pdf"),
    ];
    names.iter().fold(template.to_owned(), |path, (name, value)| path.replace(name, value))
}

/// What each route requires of its caller, as callers find it out: the whole list, for the review of changes.
#[tokio::test]
async fn who_may_call_what() {
    let service = service().await;
    let key = service.key_of(&service.token);
    let token = async |scope: &str| {
        let request = Request::post("/api/v1/auth/tokens").header("content-type", "application/json");
        let request = request.body(Body::from(serde_json::json!({"scope": scope}).to_string())).unwrap();
        let answer = service.exchange(service.sign(request, &*key).await).await.expect(200);
        answer.json()["access_token"].as_str().unwrap().to_owned()
    };
    let document = service.get("/openapi.json").await.expect(200).json();
    let mut list = String::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let request = || Request::builder().method(method.to_uppercase().as_str()).uri(concrete(path));
            let bare = service.exchange(request().body(Body::empty()).unwrap()).await;
            let refused = if bare.status == 401 { bare.json()["code"].as_str().unwrap().to_owned() } else { String::new() };
            let mut asks = match refused.as_str() {
                "token_missing" => "any token".to_owned(),
                "signature_missing" => "a key's signature".to_owned(),
                "" => "nothing".to_owned(),
                other => panic!("{method} {path}: {other}"),
            };
            assert_eq!(refused == "token_missing", operation["security"].is_null(), "{method} {path} is documented in another way");
            // A separate token for each route: one of them revokes the token it is called with.
            for own in ["settlements:read", "balances:read"].into_iter().filter(|_| refused == "token_missing") {
                let bearer = format!("Bearer {}", token(own).await);
                let with_token = request().header("authorization", bearer).body(Body::empty()).unwrap();
                let answer = service.exchange(service.sign(with_token, &*key).await).await;
                assert_ne!(answer.status, 401, "{method} {path}: {}", answer.text());
                let detail = if answer.status == 403 { answer.json()["detail"].as_str().unwrap().to_owned() } else { String::new() };
                if let Some((scope, _)) = detail.strip_prefix("the call needs the scope ").and_then(|rest| rest.split_once(';')) {
                    asks = scope.to_owned();
                }
            }
            list.push_str(&format!("{:6} {path}: {asks}\n", method.to_uppercase()));
        }
    }
    insta::assert_snapshot!(list);
}

#[tokio::test]
async fn what_is_documented_is_served_and_nothing_else() {
    let service = service().await;
    let document = service.get("/openapi.json").await.expect(200).json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    let mut count = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let documented: Vec<&str> = METHODS.into_iter().filter(|method| item.get(method).is_some()).collect();
        assert!(!documented.is_empty(), "{path}");
        let concrete = concrete(path);
        for method in &documented {
            let request = service.request(&method.to_uppercase(), &concrete).body(Body::empty()).unwrap();
            let answer = service.send(request).await;
            let code = if answer.status.is_success() { String::new() } else { answer.json()["code"].to_string() };
            assert!(!code.contains("route_not_found") && !code.contains("method_not_allowed"), "{method} {path}: {code}");
            count += 1;
        }
        // The router's own list of methods for this path, from its response to a method that no route has.
        let answer = service.send(service.request("PROPFIND", &concrete).body(Body::empty()).unwrap()).await.expect(405);
        let served = answer.header("allow").unwrap().to_lowercase();
        let mut served: Vec<&str> = served.split(',').filter(|method| *method != "head").collect();
        served.sort_unstable();
        let mut documented = documented;
        documented.sort_unstable();
        assert_eq!(served, documented, "{path}");
    }
    assert_eq!(count, 155);
}

#[test]
fn every_operation_is_described_with_bodies_examples_and_problems() {
    let document = serde_json::to_value(railgate_server::http::document(Some("https://pay.example.com"))).unwrap();
    assert_eq!(document["servers"][0]["url"], "https://pay.example.com");
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let place = format!("{method} {path}");
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{place} has no summary");
            assert!(operation["operationId"].is_string() && operation["tags"][0].is_string(), "{place}");
            let parameters = operation["parameters"].as_array().unwrap();
            for part in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                assert!(parameters.iter().any(|p| p["name"] == part && p["in"] == "path" && p["required"] == true), "{place} {part}");
            }
            assert!(parameters.iter().all(|p| p["description"].is_string()), "{place} has a parameter without a description");
            // What may be left out is not `null`: of a parameter that would be a word, of a body another value.
            assert!(
                parameters.iter().all(|p| p["schema"]["type"].as_array().is_none_or(|kinds| !kinds.contains(&"null".into()))),
                "{place}"
            );
            if let Some(body) = operation.get("requestBody") {
                let content = &body["content"]["application/json"];
                assert!(content["schema"].get("oneOf").is_none(), "{place} may have no body, which is not null");
                assert!(content.get("example").or(content.get("examples")).is_some(), "{place} has no example of its body");
            }
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.keys().any(|status| status.starts_with('2')), "{place}");
            for (status, response) in responses {
                assert!(response["description"].as_str().is_some_and(|text| !text.is_empty()), "{place} {status}");
                if status.starts_with(['4', '5']) {
                    let problem = &response["content"]["application/problem+json"];
                    assert_eq!(problem["schema"]["$ref"], "#/components/schemas/Problem", "{place} {status}");
                    assert!(problem["example"]["code"].is_string(), "{place} {status}");
                }
            }
        }
    }
    let webhooks = document["webhooks"].as_object().unwrap();
    for topic in Topic::all() {
        let operation = &webhooks[topic.as_str()]["post"];
        assert_eq!(operation["requestBody"]["content"]["application/json"]["schema"]["properties"]["type"]["enum"][0], topic.as_str());
        assert_eq!(operation["security"], serde_json::json!([{}]), "no token is sent along");
        let example = &operation["requestBody"]["content"]["application/json"]["example"];
        assert_eq!(example["type"], topic.as_str());
        read_as_data(topic, &example["data"].to_string()).unwrap_or_else(|error| panic!("{}: {error}", topic.as_str()));
    }
    let mut missing = Vec::new();
    references(&document, &mut |name| {
        if !schemas.contains_key(name) {
            missing.push(name.to_owned());
        }
    });
    assert!(missing.is_empty(), "schemas that are referred to and not there: {missing:?}");
}

/// Reads the data of a message as the type that its schema describes.
fn read_as_data(topic: Topic, data: &str) -> serde_json::Result<()> {
    match topic {
        Topic::Event(kind) => match kind.subject() {
            EventSubject::Settlement => serde_json::from_str::<SettlementView>(data).map(drop),
            EventSubject::Movement => serde_json::from_str::<BalanceMovementView>(data).map(drop),
            EventSubject::Bundle => serde_json::from_str::<BundleSummaryView>(data).map(drop),
        },
        Topic::WebhookDisabled | Topic::Notification => serde_json::from_str::<WebhookView>(data).map(drop),
    }
}

/// Calls `found` with every schema that is referenced.
fn references(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Value::as_str) {
                found(name.strip_prefix("#/components/schemas/").unwrap_or(name));
            }
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(elements) => elements.iter().for_each(|element| references(element, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A response has exactly the members that the document defines.
fn conforms(value: &Value, schema: &Value, schemas: &Value, place: &str) {
    let schema = match schema["$ref"].as_str() {
        Some(name) => &schemas[name.strip_prefix("#/components/schemas/").unwrap_or(name)],
        None => schema,
    };
    if let Some(one_of) = schema["oneOf"].as_array() {
        let other = one_of.iter().find(|schema| schema["type"] != "null").unwrap_or(schema);
        if !value.is_null() {
            conforms(value, other, schemas, place);
        }
        return;
    }
    match value {
        Value::Object(members) if schema.get("properties").is_some() => {
            for (name, member) in members {
                let property = schema["properties"].get(name);
                let property = property.unwrap_or_else(|| panic!("{place}/{name} is not documented"));
                conforms(member, property, schemas, &format!("{place}/{name}"));
            }
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                assert!(members.contains_key(name), "{place}/{name} is documented and not there");
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| conforms(element, &schema["items"], schemas, place)),
        Value::String(text) => {
            if let Some(known) = schema["enum"].as_array() {
                assert!(known.iter().any(|value| value == text), "{place}: {text} is not among {known:?}");
            }
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[tokio::test]
async fn answers_have_the_shapes_that_are_documented() {
    let service = service().await;
    let document = service.get("/openapi.json").await.json();
    let check = |method: &str, template: &str, answer: &super::support::Answer| {
        let response = &document["paths"][template][method]["responses"][answer.status.as_str()];
        let content = response["content"].as_object().unwrap_or_else(|| panic!("{method} {template} {} is not documented", answer.status));
        let schema = &content[answer.header("content-type").unwrap()]["schema"];
        conforms(&answer.json(), schema, &document["components"]["schemas"], &format!("{method} {template}"));
    };
    let settlements = super::support::SETTLEMENTS;
    service.settled("doc-1", "sim:ok").await;
    service.settled("doc-2", "sim:decline-account_closed").await;
    let body = serde_json::json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "doc-3"});
    check("post", settlements, &service.post(settlements, &body).await);
    check("post", settlements, &service.post(settlements, &body).await);
    check("post", settlements, &service.post(settlements, &Value::Null).await);
    check("post", &format!("{settlements}/check"), &service.post(&format!("{settlements}/check"), &body).await);
    let batch = serde_json::json!({"settlements": [body, {}]});
    check("post", &format!("{settlements}/batch"), &service.post(&format!("{settlements}/batch"), &batch).await);
    let reverse = service.post(&format!("{settlements}/doc-1/reverse"), &serde_json::json!({"amount": 1})).await;
    check("post", &format!("{settlements}/{{ref}}/reverse"), &reverse);
    check("post", &format!("{settlements}/{{ref}}/check"), &service.post(&format!("{settlements}/doc-1/check"), &Value::Null).await);
    check("get", &format!("{settlements}/{{ref}}/reversals"), &service.get(&format!("{settlements}/doc-1/reversals")).await);
    for reference in ["doc-1", "doc-2", "nobody"] {
        for rest in ["", "/status", "/events"] {
            check("get", &format!("{settlements}/{{ref}}{rest}"), &service.get(&format!("{settlements}/{reference}{rest}")).await);
        }
    }
    check("get", "/api/v1/providers/{id}", &service.get("/api/v1/providers/simulator").await);
    check("get", "/api/v1/providers/{id}", &service.get("/api/v1/providers/nobody").await);
    for path in [settlements, "/api/v1/balances", "/api/v1/providers", "/api/v1/simulator/scenarios", "/healthz", "/readyz"] {
        check("get", path, &service.get(path).await);
    }
    check("get", "/api/v1/balances/{currency}", &service.get("/api/v1/balances/EUR").await);
    let webhook = service.post("/api/v1/webhooks", &serde_json::json!({"url": "http://127.0.0.1:9/"})).await;
    check("post", "/api/v1/webhooks", &webhook);
    let (of, there) = ("/api/v1/webhooks/{id}", format!("/api/v1/webhooks/{}", webhook.json()["id"].as_str().unwrap()));
    let empty = serde_json::json!({});
    for part in ["/rotate-secret", "/enable", "/test"] {
        check("post", &format!("{of}{part}"), &service.post(&format!("{there}{part}"), &empty).await);
    }
    let replay = serde_json::json!({"since": "2026-01-01T00:00:00Z"});
    check("post", &format!("{of}/replay"), &service.post(&format!("{there}/replay"), &replay).await);
    let deliveries = service.get(&format!("{there}/deliveries")).await;
    check("get", &format!("{of}/deliveries"), &deliveries);
    let delivery = format!("{there}/deliveries/{}", deliveries.json()["data"][0]["id"].as_str().unwrap());
    check("get", &format!("{of}/deliveries/{{delivery}}"), &service.get(&delivery).await);
    let again = service.post(&format!("{delivery}/redeliver"), &empty).await;
    check("post", &format!("{of}/deliveries/{{delivery}}/redeliver"), &again);
    check("get", of, &service.get(&there).await);
    check("get", "/api/v1/webhooks", &service.get("/api/v1/webhooks").await);
    check("post", "/api/v1/auth/tokens", &service.post("/api/v1/auth/tokens", &Value::Null).await);
    check("post", "/api/v1/auth/challenges", &service.post("/api/v1/auth/challenges", &Value::Null).await);
    check("get", "/api/v1/auth/keys", &service.get("/api/v1/auth/keys").await);
    let nobody = serde_json::json!({"client_name": "x"});
    check("post", "/api/v1/auth/enrollments", &service.post("/api/v1/auth/enrollments", &nobody).await);
    let key = SoftwareKey::ed25519(&[1; 32]);
    let jwk: Value = serde_json::from_str(&key.public_key().jwk()).unwrap();
    let body = serde_json::json!({"client_name": "x", "jwk": jwk}).to_string();
    let request = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json").body(Body::from(body)).unwrap();
    check("post", "/api/v1/auth/enrollments", &service.exchange(service.sign(request, &key).await).await);
    // Only in the sandbox: the base that should have been signed.
    let mut wrong = service.sign(service.request("GET", settlements).body(Body::empty()).unwrap(), &key).await;
    let token = wrong.headers()["authorization"].clone();
    check("get", settlements, &service.exchange(std::mem::take(&mut wrong)).await);
    let own = service.key_of(token.to_str().unwrap().split_once(' ').unwrap().1);
    let mut moved = service.sign(service.request("GET", settlements).body(Body::empty()).unwrap(), &*own).await;
    *moved.uri_mut() = format!("{settlements}?limit=1").parse().unwrap();
    check("get", settlements, &service.exchange(moved).await);
}

#[test]
fn the_document_as_a_whole() {
    insta::assert_json_snapshot!(railgate_server::http::document(None));
}

/// The members of an interface in the hand-written part of the npm package's types.
fn typescript(interface: &str) -> BTreeSet<String> {
    let source = include_str!("../../../bindings-wasm/npm/src/values.ts");
    let (_, rest) = source.split_once(&format!("export interface {interface} {{\n")).unwrap();
    let members = rest.split("\n}").next().unwrap().lines().filter_map(|line| line.trim().strip_prefix("readonly "));
    members.map(|line| line.split(['?', ':']).next().unwrap().to_owned()).collect()
}

/// The members of a schema, and of those that it is made of.
fn members(schemas: &Value, schema: &Value) -> BTreeSet<String> {
    let schema = schema["$ref"].as_str().map_or(schema, |path| &schemas[path.rsplit('/').next().unwrap()]);
    let own = schema["properties"].as_object().into_iter().flat_map(|it| it.keys().cloned());
    let parts = ["allOf", "oneOf"].into_iter().filter_map(|kind| schema[kind].as_array()).flatten();
    own.chain(parts.flat_map(|part| members(schemas, part))).collect()
}

#[test]
fn the_types_that_typescript_spells_out_have_the_members_of_the_document() {
    let document = serde_json::to_value(railgate_server::http::document(None)).unwrap();
    let schemas = &document["components"]["schemas"];
    assert_eq!(&typescript("BatchDone") | &typescript("BatchRefused"), members(schemas, &schemas["BatchResult"]));
    let enrolment = members(schemas, &schemas["EnrollmentView"]);
    assert!(typescript("Enrollment").is_subset(&enrolment), "{enrolment:?}");
}
