//! Validates a create request before it is sent, with the gateway's own rules and messages.

use railgate::validate::{AnyCurrency, parse_create};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{json, millis, text};

/// Checks the JSON body of a create call, except for conditions that only the gateway can check (balances, limits, whether the
/// reference is taken). `now_ms` is the current time, because `expires_at` must be later.
///
/// Returns a JSON array of problems `{pointer, code, message}`, empty if the body is valid.
///
/// # Errors
/// Throws for arguments of the wrong type.
#[wasm_bindgen]
pub fn check_settlement(
    #[wasm_bindgen(unchecked_param_type = "string")] body: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
) -> Result<String, JsError> {
    let (body, now) = (text(body, "body")?, millis(now_ms, "now_ms")?);
    json(&parse_create(body.as_bytes(), &AnyCurrency, now).map_or_else(|error| error.into_fields(), |_| Vec::new()))
}
