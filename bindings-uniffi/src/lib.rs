//! railgate on phones and in Python: the validation of a settlement request, the very one that the server runs.

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
}

/// Checks the JSON body of a create call. `now_ms`: milliseconds since 1970 in UTC; `expires_at` must lie behind it.
///
/// # Errors
/// [`GatewayError::Invalid`] with every problem at once.
#[uniffi::export]
pub fn validate_settlement(body: String, now_ms: i64) -> Result<(), GatewayError> {
    let invalid = |error: railgate::Error| GatewayError::Invalid {
        code: error.code.as_str().to_owned(),
        detail: error.detail.into_owned(),
        problems: error
            .fields
            .into_iter()
            .map(|f| FieldProblem { pointer: f.pointer, code: f.code.into_owned(), message: f.message })
            .collect(),
    };
    parse_create(body.as_bytes(), &AnyCurrency, now_ms).map(|_| ()).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_every_problem_with_its_pointer() {
        let body = r#"{"amount": "10", "currency": "EURO", "to": "sim:ok", "reference": "check"}"#;
        let GatewayError::Invalid { code, problems, .. } = validate_settlement(body.to_owned(), 0).unwrap_err();
        assert_eq!(code, "invalid_fields");
        assert_eq!(problems.iter().map(|p| p.pointer.as_str()).collect::<Vec<_>>(), ["/currency", "/reference"]);
    }

    #[test]
    fn a_valid_body_passes() {
        let body = r#"{"amount": 10.5, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "inv-1"}"#;
        assert!(validate_settlement(body.to_owned(), 0).is_ok());
    }
}
