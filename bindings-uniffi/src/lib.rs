//! railgate on phones and in Python: the validation of a settlement request and the checking of receipts, the very ones
//! that the server and its command line run.

use railgate::validate::{AnyCurrency, parse_create};

uniffi::setup_scaffolding!("railgate");

/// One thing that is wrong with a request, and where.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct FieldProblem {
    /// RFC 6901 JSON pointer into the request body.
    pub pointer: String,
    /// Stable code, such as `required` or `amount_scale`.
    pub code: String,
    /// One sentence for people, saying what would be right.
    pub message: String,
}

/// Why a call could not be carried out.
#[derive(Debug, thiserror::Error, uniffi::Error)]
pub enum GatewayError {
    /// The request is wrong; every problem is listed.
    #[error("{code}: {detail}")]
    Invalid {
        /// Stable code of the whole, such as `invalid_fields` or `malformed_json`.
        code: String,
        /// One sentence for people.
        detail: String,
        /// What exactly is wrong.
        problems: Vec<FieldProblem>,
    },
    /// The receipt is not genuine.
    #[error("receipt_invalid: {detail}")]
    ReceiptInvalid {
        /// What is wrong with it: one sentence for people.
        detail: String,
    },
}

/// Checks the JSON body of a create call. `now_ms`: milliseconds since 1970 in UTC; `expires_at` must lie behind it.
///
/// # Errors
/// [`GatewayError::Invalid`] with every problem at once.
#[uniffi::export]
pub fn validate_settlement(body: String, now_ms: i64) -> Result<(), GatewayError> {
    let invalid = |error: railgate::Error| GatewayError::Invalid {
        code: error.code.as_str().to_owned(),
        detail: error.detail.to_string(),
        problems: error
            .fields
            .iter()
            .cloned()
            .map(|f| FieldProblem { pointer: f.pointer, code: f.code.into_owned(), message: f.message })
            .collect(),
    };
    parse_create(body.as_bytes(), &AnyCurrency, now_ms).map(|_| ()).map_err(invalid)
}

/// What a receipt says, if it is genuine; offline. `jws`: the compact JWS; `jwks`: the key set as the gateway publishes it
/// at `/.well-known/jwks.json`. Gives the claims as a JSON object, amounts in it as text.
///
/// # Errors
/// [`GatewayError::ReceiptInvalid`].
#[uniffi::export]
pub fn verify_receipt(jws: String, jwks: String) -> Result<String, GatewayError> {
    let invalid = |detail: String| GatewayError::ReceiptInvalid { detail };
    let claims = railgate::receipt::verify_receipt(&jws, &jwks).map_err(|error| invalid(error.detail.to_string()))?;
    serde_json::to_string(&claims).map_err(|error| invalid(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let body = r#"{"amount": "10", "currency": "EURO", "to": "sim:ok", "reference": "check"}"#;
        let GatewayError::Invalid { code, problems, .. } = validate_settlement(body.to_owned(), 0).unwrap_err() else { panic!() };
        assert_eq!(code, "invalid_fields");
        assert_eq!(problems.iter().map(|p| p.pointer.as_str()).collect::<Vec<_>>(), ["/currency", "/reference"]);
    }

    #[test]
    fn a_valid_body_passes() {
        let body = r#"{"amount": 10.5, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "inv-1"}"#;
        assert!(validate_settlement(body.to_owned(), 0).is_ok());
    }

    #[test]
    fn a_genuine_receipt_says_what_it_says() {
        let claims = verify_receipt(RECEIPT.to_owned(), KEYS.to_owned()).unwrap();
        assert!(claims.contains(r#""ref":"inv-1","amt":"10.50","cur":"EUR""#), "{claims}");
    }

    #[test]
    fn one_that_was_changed_says_nothing() {
        let changed = RECEIPT.replacen("eyJpc3Mi", "eyJpc3Nj", 1);
        for (jws, jwks, why) in [(&*changed, KEYS, "the signature does not fit"), (RECEIPT, r#"{"keys":[]}"#, "the key set has no keys")] {
            let GatewayError::ReceiptInvalid { detail } = verify_receipt(jws.to_owned(), jwks.to_owned()).unwrap_err() else { panic!() };
            assert_eq!(detail, why);
        }
    }
}
