//! railgate in the browser: the validation of a settlement request, the very one that the server runs.
//!
//! Values cross the boundary as JSON text, so that `deny unknown fields` and exact amounts hold on the way in and out.

use railgate::validate::{AnyCurrency, parse_create};
use wasm_bindgen::prelude::wasm_bindgen;

/// Checks the JSON body of a create call.
///
/// Returns a JSON array of problems `{pointer, code, message}`; empty when the body is valid. `now_ms` is
/// `Date.now()`: `expires_at` must lie behind it.
#[wasm_bindgen(js_name = validateSettlement)]
#[must_use]
pub fn validate_settlement(body: &str, now_ms: f64) -> String {
    // Milliseconds since 1970 are integers far below 2^53; saturates at the ends.
    let problems = match parse_create(body.as_bytes(), &AnyCurrency, now_ms as i64) {
        Ok(_) => Vec::new(),
        Err(error) => error.fields,
    };
    serde_json::to_string(&problems).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::validate_settlement;

    #[test]
    fn reports_every_problem_with_its_pointer() {
        let body = r#"{"amount": 10.505, "currency": "EUR", "to": "sim:ok", "colour": "red"}"#;
        let problems: serde_json::Value = serde_json::from_str(&validate_settlement(body, 0.0)).unwrap();
        let mut pointers: Vec<_> = problems.as_array().unwrap().iter().map(|p| p["pointer"].as_str().unwrap()).collect();
        pointers.sort_unstable();
        assert_eq!(pointers, ["/amount", "/colour", "/reference"]);
    }

    #[test]
    fn a_valid_body_has_none() {
        let body = r#"{"amount": 10.50, "currency": "EUR", "to": "sim:ok", "reference": "inv-1"}"#;
        assert_eq!(validate_settlement(body, 0.0), "[]");
    }
}
