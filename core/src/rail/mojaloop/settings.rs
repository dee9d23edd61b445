//! What is configured for a provider.

use serde_json::{Value, json};

use crate::error::FieldProblem;
use crate::rail::{TLS_KEY, is_common_setting};
use crate::route::ProviderSpec;
use crate::validate::json::pointer;

const PAYER_ID_TYPE: &str = "payer_id_type";
const PAYER_ID: &str = "payer_id";
const PAYER_FSP: &str = "payer_fsp";
const PAYER_NAME: &str = "payer_name";
/// Whether the scheme pays nothing that it does not know when it is asked.
pub(super) const NOT_FOUND_IS_PROOF: &str = "not_found_is_proof";
/// Whether the gateway pays what a quote adds, however much it is.
pub(super) const ABSORB_FEES: &str = "absorb_fees";
/// The secret that lets the gateway in at the adapter.
pub(super) const TOKEN: &str = "token";

const SETTINGS: [&str; 6] = [PAYER_ID_TYPE, PAYER_ID, PAYER_FSP, PAYER_NAME, NOT_FOUND_IS_PROOF, ABSORB_FEES];
const ID_TYPES: [&str; 8] = ["MSISDN", "EMAIL", "PERSONAL_ID", "BUSINESS", "DEVICE", "ACCOUNT_ID", "IBAN", "ALIAS"];
const ID_MAX_CHARS: usize = 128;
const FSP_MAX_CHARS: usize = 32;

pub(super) fn is_set(provider: &ProviderSpec, name: &str) -> bool {
    provider.settings.get(name).is_some_and(|value| value == "true")
}

/// The payer in a transfer: the account of the gateway's operator at its own provider in the scheme.
pub(super) fn payer(provider: &ProviderSpec) -> Value {
    let setting = |name| provider.settings.get(name).map(String::as_str);
    let mut payer = json!({"idType": setting(PAYER_ID_TYPE), "idValue": setting(PAYER_ID)});
    for (member, name) in [("fspId", PAYER_FSP), ("displayName", PAYER_NAME)] {
        if let Some(value) = setting(name) {
            payer[member] = value.into();
        }
    }
    payer
}

pub(super) fn problems(provider: &ProviderSpec) -> Vec<FieldProblem> {
    let mut problems = Vec::new();
    let mut problem = |pointer: String, code, said: &str| problems.push(FieldProblem::new(pointer, code, said));
    if provider.base_url.is_none() {
        problem("/base_url".to_owned(), "required", "must be the address of the scheme adapter's outbound API");
    }
    for name in [PAYER_ID_TYPE, PAYER_ID] {
        if !provider.settings.contains_key(name) {
            problem(format!("/settings/{name}"), "required", "is required by the rail mojaloop");
        }
    }
    for (name, value) in &provider.settings {
        if let Some((code, said)) = wrong(name, value) {
            problem(format!("/settings{}", pointer(name)), code, &said);
        }
    }
    for (name, value) in &provider.secrets.0 {
        let at = format!("/secrets{}", pointer(name));
        match name.as_str() {
            TOKEN if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_graphic()) => {
                problem(at, "invalid_characters", "must be the token alone, of visible ASCII characters");
            }
            TOKEN | TLS_KEY => {}
            _ => problem(at, "unknown_field", &format!("is not a secret of the rail mojaloop; it has: {TOKEN}, {TLS_KEY}")),
        }
    }
    problems
}

fn wrong(name: &str, value: &str) -> Option<(&'static str, String)> {
    let sized = |max| match value.chars().count() {
        0 => Some(("too_short", "must not be empty".to_owned())),
        _ if value.contains(char::is_control) => Some(("invalid_characters", "must not have control characters".to_owned())),
        n if n > max => Some(("too_long", format!("must have at most {max} characters"))),
        _ => None,
    };
    match name {
        PAYER_ID_TYPE if ID_TYPES.contains(&value) => None,
        PAYER_ID_TYPE => Some(("unknown_value", format!("must be one of {}", ID_TYPES.join(", ")))),
        PAYER_ID => sized(ID_MAX_CHARS),
        PAYER_FSP => sized(FSP_MAX_CHARS),
        PAYER_NAME if value.trim().is_empty() || !value.chars().all(is_of_name) => {
            Some(("invalid_characters", "must be a name of letters, digits, spaces, and any of _ . , ' -".to_owned()))
        }
        PAYER_NAME => sized(ID_MAX_CHARS),
        NOT_FOUND_IS_PROOF | ABSORB_FEES if matches!(value, "true" | "false") => None,
        NOT_FOUND_IS_PROOF | ABSORB_FEES => Some(("unknown_value", "must be true or false".to_owned())),
        name if is_common_setting(name) => None,
        _ => Some(("unknown_field", format!("is not a setting of the rail mojaloop; it has: {}", SETTINGS.join(", ")))),
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ' ' | '.' | ',' | '\'' | '-')
}
