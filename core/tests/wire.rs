//! A body's type and schema match the validator: the same members, the same required ones, no others.
#![cfg(feature = "openapi")]

use std::collections::BTreeSet;

use railgate::Error;
use railgate::api::*;
use railgate::validate::access::{parse_challenge, parse_enroll, parse_new_key, parse_revocation, parse_token};
use railgate::validate::mobile::{parse_decision, parse_device, parse_device_code, parse_device_enrollment, parse_user};
use railgate::validate::quality::parse_quality;
use railgate::validate::simulator::{parse_advance, parse_faults};
use railgate::validate::webhook::{parse_new_webhook, parse_replay, parse_rotation, parse_webhook_patch, parse_webhook_test};
use railgate::validate::{AnyCurrency, parse_batch, parse_create, parse_money, parse_reverse};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use utoipa::PartialSchema;

/// `whole` has every member; `least` has none, unless a member decides which others are required.
#[track_caller]
fn agree<B: PartialSchema + Serialize + DeserializeOwned, T>(
    fields: &[&str],
    whole: &Value,
    least: Value,
    read: impl Fn(&[u8]) -> Result<T, Error>,
) {
    let schema = serde_json::to_value(B::schema()).unwrap();
    let described: BTreeSet<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(described, fields.iter().copied().collect(), "the schema");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(whole.as_object().unwrap().keys().map(String::as_str).collect::<BTreeSet<_>>(), described, "the example");

    let body: B = serde_json::from_str(&whole.to_string()).unwrap();
    let sent = serde_json::to_string(&body).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&sent).unwrap(), *whole, "what is sent");
    read(sent.as_bytes()).map(drop).unwrap();

    let problems = |body: &Value| match read(body.to_string().as_bytes()) {
        Ok(_) => Vec::new(),
        Err(error) => error.into_fields().into_iter().map(|problem| (problem.pointer, problem.code.into_owned())).collect(),
    };
    let missing: BTreeSet<String> =
        problems(&least).into_iter().filter(|(_, code)| code == "required").map(|(pointer, _)| pointer).collect();
    let required = schema["required"].as_array().into_iter().flatten().map(|name| format!("/{}", name.as_str().unwrap()));
    assert_eq!(missing, required.collect(), "what is required");
    // A member that is never read would be accepted with any value.
    for field in fields {
        let mut odd = whole.clone();
        odd[field] = json!({"odd": 1});
        assert!(problems(&odd).iter().any(|(pointer, _)| pointer.starts_with(&format!("/{field}"))), "{field} is not read");
    }
    let mut more = whole.clone();
    more["nobody"] = json!(1);
    assert_eq!(problems(&more), [("/nobody".to_owned(), "unknown_field".to_owned())]);
}

fn create() -> Value {
    json!({
        "amount": 10.5, "currency": "EUR", "to": "sim:ok", "reference": "inv-1", "sandbox": true, "description": "November",
        "metadata": {"order": "42"}, "provider": "simulator", "quote_id": "q", "expires_at": "2030-01-01T00:00:00Z",
        "user": "customer-17",
    })
}

#[test]
fn payments() {
    agree::<CreateBody, _>(&CreateBody::FIELDS, &create(), json!({}), |body| parse_create(body, &AnyCurrency, 0));
    let batch = json!({"settlements": [create()]});
    agree::<CreateBatchBody, _>(&CreateBatchBody::FIELDS, &batch, json!({}), |body| parse_batch(body, &AnyCurrency, 0));
    let reverse = json!({"amount": "4.20", "reason": "fraud", "reference": "r", "description": "d"});
    agree::<ReverseBody, _>(&ReverseBody::FIELDS, &reverse, json!({}), parse_reverse);
    agree::<FundBody, _>(&FundBody::FIELDS, &json!({"currency": "EUR", "amount": "1"}), json!({}), parse_money);
    agree::<AdvanceBody, _>(&AdvanceBody::FIELDS, &json!({"to": "failed", "code": "over_limit"}), json!({}), parse_advance);
    let faults = json!({"rate": 0.1, "latency_ms": 2000, "drop_answer_rate": 0.05, "seed": 7});
    agree::<FaultsBody, _>(&FaultsBody::FIELDS, &faults, json!({}), parse_faults);
}

#[test]
fn credentials() {
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"});
    let enroll = json!({"jwk": jwk, "client_name": "Shop", "environment": "sandbox", "invitation": "inv_7"});
    // In the sandbox the name is required too, which the schema does not express.
    agree::<EnrollBody, _>(&EnrollBody::FIELDS, &enroll, json!({"environment": "live"}), parse_enroll);
    agree::<NewKeyBody, _>(&NewKeyBody::FIELDS, &json!({"jwk": jwk, "label": "till", "scope": "balances:read"}), json!({}), parse_new_key);
    let ephemeral = json!({"kty": "OKP", "crv": "X25519", "x": "UKYUCbHd0DJemxa3AOcZ6XcsBwALG9d4bpB8ZT0gSV0"});
    let token = json!({"scope": "balances:read", "session": {"jwk": ephemeral}});
    agree::<TokenBody, _>(&TokenBody::FIELDS, &token, json!({}), parse_token);
    agree::<RevokeBody, _>(&RevokeBody::FIELDS, &json!({"token": "rg_sandbox_x"}), json!({}), parse_revocation);
    agree::<ChallengeBody, _>(&ChallengeBody::FIELDS, &json!({"environment": "live"}), json!({}), parse_challenge);
}

#[test]
fn mobile() {
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"});
    let limits = json!([{"currency": "EUR", "max": 500.5, "daily_value": 1, "daily_count": 3, "approval_over": 0}]);
    let code = json!({"user": "customer-17", "limits": limits, "link": "app:{code}"});
    agree::<DeviceCodeBody, _>(&DeviceCodeBody::FIELDS, &code, json!({}), parse_device_code);
    agree::<UserBody, _>(&UserBody::FIELDS, &json!({"limits": limits, "status": "blocked"}), json!({}), parse_user);
    let device = json!({"code": "7K3M", "jwk": jwk, "platform": "ios", "app_version": "3", "model": "Phone 9", "name": "mine",
        "attestation": {"format": "android-key", "chain": ["AAAA"]}});
    agree::<DeviceEnrollBody, _>(&DeviceEnrollBody::FIELDS, &device, json!({}), parse_device_enrollment);
    agree::<DeviceBody, _>(&DeviceBody::FIELDS, &json!({"name": "mine"}), json!({}), parse_device);
    let shown = json!({"amount": 10.5, "currency": "EUR", "to": "sim:ok", "reference": "inv-1", "payee_name": "Ada"});
    let decision = json!({"decision": "approve", "shown": shown, "reason": "r"});
    agree::<DecisionBody, _>(&DecisionBody::FIELDS, &decision, json!({}), parse_decision);
}

#[test]
fn quality() {
    let now = 1_795_257_497_042;
    let point = json!({
        "id": "01KAJX3M7Q5W8ZP9D2R4T6V8YB", "metric": "app.start", "value": 812.5, "unit": "ms", "at": "2026-11-21T10:00:00Z",
        "app_version": "3.2.0", "os": "android 16", "network": "wifi", "settlement": "inv-1", "failed": true,
    });
    let batch = |point: &[u8]| parse_quality(&[br#"{"items":["#, point, b"]}"].concat(), now);
    let one = |point: &[u8]| batch(point).and_then(|mut points| points.remove(0).map_err(Error::invalid));
    agree::<QualityPointBody, _>(&QualityPointBody::FIELDS, &point, json!({}), one);
    agree::<QualityBody, _>(&QualityBody::FIELDS, &json!({"items": [point]}), json!({}), |body| parse_quality(body, now));
}

#[test]
fn webhooks() {
    let new = json!({"url": "https://x.example/", "events": ["settlement.completed"], "description": "d"});
    agree::<NewWebhookBody, _>(&NewWebhookBody::FIELDS, &new, json!({}), parse_new_webhook);
    let patch = json!({"url": "https://x.example/", "events": null, "description": null, "enabled": true});
    agree::<WebhookPatchBody, _>(&WebhookPatchBody::FIELDS, &patch, json!({}), parse_webhook_patch);
    agree::<RotationBody, _>(&RotationBody::FIELDS, &json!({"grace": 60}), json!({}), parse_rotation);
    agree::<TestBody, _>(&TestBody::FIELDS, &json!({"type": "settlement.completed"}), json!({}), parse_webhook_test);
    let replay = json!({"since": "2026-11-20T00:00:00Z", "until": "2026-11-21T00:00:00Z", "after": 7});
    agree::<ReplayBody, _>(&ReplayBody::FIELDS, &replay, json!({}), parse_replay);
}
