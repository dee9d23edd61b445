//! What a provider is configured with.

use railgate::rail::Rails;
use railgate::validate::provider::parse_provider;
use serde_json::{Value, json};

use super::world::provider;

/// The problems of a provider: pointers and codes.
fn problems(change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let mut body = json!({
        "id": "hub", "name": "Hub", "rail": "mojaloop", "mode": "live", "base_url": "https://hub.example",
        "settings": {"payer_id_type": "BUSINESS", "payer_id": "shop-42"},
    });
    change(&mut body);
    let found = parse_provider(body.to_string().as_bytes(), &Rails::built_in()).map(drop);
    let found = found.err().map(railgate::Error::into_fields).unwrap_or_default();
    found.into_iter().map(|it| (it.pointer.to_string(), it.code.to_string())).collect()
}

#[test]
fn what_is_wrong_is_named() {
    assert_eq!(problems(|_| ()), []);
    let one = |pointer: &str, code: &str| vec![(pointer.to_owned(), code.to_owned())];
    assert_eq!(problems(|it| drop(it.as_object_mut().unwrap().remove("base_url"))), one("/base_url", "required"));
    let required = ["/settings/payer_id_type", "/settings/payer_id"].map(|pointer| (pointer.to_owned(), "required".to_owned()));
    assert_eq!(problems(|it| it["settings"] = json!({})), required);
    let long = |n| "x".repeat(n);
    let wrong = [
        ("payer_id_type", json!("PASSPORT"), "unknown_value"),
        ("payer_id", json!(""), "too_short"),
        ("payer_id", json!(long(129)), "too_long"),
        ("payer_id", json!("a\nb"), "invalid_characters"),
        ("payer_fsp", json!(long(33)), "too_long"),
        ("payer_fsp", json!(""), "too_short"),
        ("payer_name", json!("  "), "invalid_characters"),
        ("payer_name", json!("Shop <42>"), "invalid_characters"),
        ("payer_name", json!(long(129)), "too_long"),
        ("absorb_fees", json!("yes"), "unknown_value"),
        ("not_found_is_proof", json!("1"), "unknown_value"),
        ("payerFsp", json!("ourbank"), "unknown_field"),
    ];
    for (name, value, code) in wrong {
        assert_eq!(problems(|it| it["settings"][name] = value.clone()), one(&format!("/settings/{name}"), code), "{value}");
    }
    assert_eq!(problems(|it| it["settings"]["a/~b"] = json!("")), one("/settings/a~1~0b", "unknown_field"));
    for (secrets, pointer, code) in [
        (json!({"token": ""}), "/secrets/token", "invalid_characters"),
        (json!({"token": "a b"}), "/secrets/token", "invalid_characters"),
        (json!({"password": "a"}), "/secrets/password", "unknown_field"),
    ] {
        assert_eq!(problems(|it| it["secrets"] = secrets), one(pointer, code));
    }
}

#[test]
fn what_every_provider_may_have_is_allowed_here_too() {
    let certificate = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
    let all = json!({
        "payer_id_type": "MSISDN", "payer_id": "254700000042", "payer_fsp": "ourbank", "payer_name": "Schöner Laden, Co. 42",
        "absorb_fees": "false", "not_found_is_proof": "true", "callback_sources": "192.0.2.0/24",
        "tls_authorities": certificate, "tls_certificates": certificate,
    });
    let found = problems(|it| {
        it["settings"] = all;
        it["secrets"] = json!({"token": "hush", "tls_key": "-----BEGIN PRIVATE KEY-----"});
    });
    assert_eq!(found, []);
}

#[test]
fn a_scheme_is_authoritative_if_its_operator_says_so() {
    let capabilities = |settings| provider("hub", settings).capabilities;
    let plain = capabilities(json!({}));
    assert!(plain.check_payee && plain.idempotent_submit && !plain.inquiry && !plain.reverse && !plain.partial_reverse);
    assert!(capabilities(json!({"not_found_is_proof": "true"})).inquiry);
    assert!(!capabilities(json!({"not_found_is_proof": "false"})).inquiry);
}
