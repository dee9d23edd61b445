//! railgate in the browser: the validation of a settlement request and the checking of receipts, the very ones that the
//! server and its command line run.
//!
//! Values cross the boundary as JSON text, so that `deny unknown fields` and exact amounts hold on the way in and out.

use railgate::validate::{AnyCurrency, parse_create};
use wasm_bindgen::JsError;
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
        Err(error) => error.fields.clone(),
    };
    serde_json::to_string(&problems).unwrap_or_default()
}

/// What a receipt says, if it is genuine; offline. `jws`: the compact JWS; `jwks`: the key set as the gateway publishes it
/// at `/.well-known/jwks.json`.
///
/// Returns the claims as a JSON object, amounts in it as text.
///
/// # Errors
/// Throws an `Error` that says what is wrong, where the receipt is not genuine.
#[wasm_bindgen(js_name = verifyReceipt)]
pub fn verify_receipt(jws: &str, jwks: &str) -> Result<String, JsError> {
    verified(jws, jwks).map_err(|detail| JsError::new(&detail))
}

fn verified(jws: &str, jwks: &str) -> Result<String, String> {
    let claims = railgate::receipt::verify_receipt(jws, jwks).map_err(|error| error.detail.to_string())?;
    serde_json::to_string(&claims).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{validate_settlement, verified};

    /// Made by the engine, with a key of tests.
    const RECEIPT: &str = "eyJhbGciOiJFUzI1NiIsImtpZCI6Ik5ycWczLU1fWHd0eC0xdGJ0YzFKN1h1bDJEeWVDMGJVU3k5dV81TlNHNmciLCJ0eXAiOiJzZXR0bGVtZW\
        50LXJlY2VpcHQrand0In0.eyJpc3MiOiJodHRwczovL3BheS5leGFtcGxlIiwianRpIjoicmNwdF8wMU03WVRZWEVKRVpXUVdSNFRISlNZSlY2\
        VyIsImlhdCI6MTc5NTI1NzQ5Nywic3ViIjoic3RsXzAxTTdZVFlYRUoxRlA0VkM1RjAwMDAwMDA5IiwiZW52Ijoic2FuZGJveCIsInJlZiI6Im\
        ludi0xIiwiYW10IjoiMTAuNTAiLCJjdXIiOiJFVVIiLCJmZWUiOiIwLjA1IiwiZnJvbSI6ImNsaV8wMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAw\
        MyIsInRvIjoiaWJhbjoqKiozMDAwIiwic3RhdHVzIjoiY29tcGxldGVkIiwic2V0dGxlZF9hdCI6IjIwMjYtMTEtMjFUMTA6Mzg6MTcuMDQyWi\
        IsInByb3ZpZGVyIjoic2ltdWxhdG9yIiwicmFpbF9yZWYiOm51bGwsInJldiI6IjAuMDAiLCJldiI6eyJuIjo1LCJoZWFkIjoiYWJhYmFiYWJh\
        YmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYiJ9fQ.NAC3I3YSzYlFW-oZkiQyp6AKqFxzt1n\
        Y5XokTwUmWgVklq9Zpznqo5ureLQ4vtb9P-ZygXExYZfsz5fSa8aciA";
    const KEYS: &str = r#"{"keys":[{"crv":"P-256","kty":"EC","x":"b_A7lJJBzh2t1DUZ5pYOCoW0GmmgXDKBA6orzhWUyhY","y":"PE91OlW_AdxT9sCwx-7ni0DG_30lqW4igrmJzvccFEo"}]}"#;

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

    #[test]
    fn a_genuine_receipt_says_what_it_says() {
        let (jws, jwks) = (RECEIPT, KEYS);
        let claims: serde_json::Value = serde_json::from_str(&verified(jws, jwks).unwrap()).unwrap();
        assert_eq!((&claims["ref"], &claims["amt"], &claims["cur"]), (&"inv-1".into(), &"10.50".into(), &"EUR".into()));
    }

    #[test]
    fn one_that_was_changed_says_nothing() {
        assert_eq!(verified(&RECEIPT.replacen("eyJpc3Mi", "eyJpc3Nj", 1), KEYS).unwrap_err(), "the signature does not fit");
        assert_eq!(verified(RECEIPT, r#"{"keys":[]}"#).unwrap_err(), "the key set has no keys");
        assert!(verified("", "").is_err());
    }
}
