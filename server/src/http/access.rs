//! Enrolling, and renewing the access token.

use std::fmt;

use axum::extract::State;
use hyper::StatusCode;
use railgate::api::{BalanceView, Command, Outcome, environment};
use railgate::error::FieldProblem;
use railgate::time::Millis;
use railgate::{Engine, Error, ErrorCode, Result};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use utoipa::ToSchema;

use super::App;
use super::answer::{Answer, secret};
use super::call::{Posted, Unsigned};
use super::document::{BadBody, BadMessage, Denied, EnrollBody, Unserved};
use crate::worker;

/// A new client and its first credential.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EnrollmentView {
    /// `cli_` and a ULID.
    client_id: String,
    /// `sandbox` or `live`.
    #[schema(example = "sandbox")]
    environment: &'static str,
    /// Send it as `Authorization: Bearer …`. It is shown this once.
    #[schema(example = "rg_sandbox_…")]
    access_token: String,
    /// `Bearer`.
    token_type: &'static str,
    /// Seconds.
    expires_in: i64,
    /// What the new accounts hold: play money.
    balances: Vec<BalanceView>,
}

/// A fresh access token.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenView {
    /// Send it as `Authorization: Bearer …`. It is shown this once.
    #[schema(example = "rg_sandbox_…")]
    access_token: String,
    /// `Bearer`.
    token_type: &'static str,
    /// Seconds.
    expires_in: i64,
}

const BEARER: &str = "Bearer";

/// Enrol as a sandbox client
///
/// Answers the first access token and funded sandbox accounts. No credential is needed, and no real money moves.
#[utoipa::path(
    post, path = "/api/v1/auth/enrollments", tag = "access", operation_id = "enroll", security(()),
    request_body(content = EnrollBody, content_type = "application/json", example = json!({"client_name": "Corner shop"})),
    responses((status = 201, description = "Enrolled", body = EnrollmentView), BadBody, Unserved),
)]
pub(crate) async fn enroll(State(app): State<App>, unsigned: Unsigned) -> Answer {
    let name = client_name(&unsigned.body)?;
    let enrolled = match app.gateway.run(Command::Enroll { name }).await? {
        Outcome::Enrolled(enrolled) => enrolled,
        other => return Err(worker::unexpected(&other).into()),
    };
    let view = EnrollmentView {
        client_id: format!("cli_{}", enrolled.caller.client_id),
        environment: environment(enrolled.caller.mode),
        expires_in: expires_in(app.gateway.engine(), enrolled.token_expires_at),
        access_token: enrolled.token,
        token_type: BEARER,
        balances: app.gateway.read(|engine| engine.balances(&enrolled.caller))?,
    };
    secret(StatusCode::CREATED, &view)
}

/// Get a fresh access token
///
/// In exchange for one that is still valid; the old one stays valid until its own end.
#[utoipa::path(
    post, path = "/api/v1/auth/tokens", tag = "access", operation_id = "renewToken",
    responses((status = 200, description = "The token", body = TokenView), BadMessage, Denied, Unserved),
)]
pub(crate) async fn renew(State(app): State<App>, posted: Posted) -> Answer {
    let (access_token, end) = match app.gateway.run(Command::IssueToken(posted.caller)).await? {
        Outcome::Token(token, end) => (token, end),
        other => return Err(worker::unexpected(&other).into()),
    };
    let expires_in = expires_in(app.gateway.engine(), end);
    secret(StatusCode::OK, &TokenView { access_token, token_type: BEARER, expires_in })
}

/// Whole seconds from now, rounded up: a token that was made for a day says 86400.
fn expires_in(engine: &Engine, end: Millis) -> i64 {
    (end - engine.now() + 999).div_euclid(1_000).max(0)
}

/// Reads `{"client_name": "…"}`; everything that is wrong is told at once.
fn client_name(body: &[u8]) -> Result<String> {
    let fields = serde_json::from_slice::<Fields>(body).map_err(|cause| malformed(&cause))?;
    let Some(fields) = fields.0 else {
        return Err(Error::field("", "wrong_type", "must be an object"));
    };
    let mut name = None;
    let mut problems = Vec::new();
    let mut problem = |pointer: String, code, message: &str| problems.push(FieldProblem::new(pointer, code, message));
    for (field, value) in fields {
        match (field.as_str(), value) {
            ("client_name", _) if name.is_some() => problem("/client_name".to_owned(), "duplicate_field", "must not be given twice"),
            ("client_name", Value::String(text)) => name = Some(text),
            ("client_name", _) => {
                problem("/client_name".to_owned(), "wrong_type", "must be a string");
                name = Some(String::new());
            }
            (_, _) => problem(pointer(&field), "unknown_field", "is not a known field; there is client_name"),
        }
    }
    if name.is_none() {
        problem("/client_name".to_owned(), "required", "is required");
    }
    match name {
        Some(name) if problems.is_empty() => Ok(name),
        _ => Err(Error::invalid(problems)),
    }
}

fn malformed(cause: &serde_json::Error) -> Error {
    let message = cause.to_string();
    let mut error = Error::with(ErrorCode::MalformedJson, message.clone());
    error.fields.push(FieldProblem::new("", ErrorCode::MalformedJson.as_str(), message));
    error
}

/// The RFC 6901 pointer of a field.
fn pointer(field: &str) -> String {
    format!("/{}", field.replace('~', "~0").replace('/', "~1"))
}

/// The members of an object, duplicates included; `None` for any other value.
struct Fields(Option<Vec<(String, Value)>>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = map.next_entry()? {
            fields.push(entry);
        }
        Ok(Fields(Some(fields)))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Fields, A::Error> {
        while seq.next_element::<Value>()?.is_some() {}
        Ok(Fields(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Fields, E> {
        Ok(Fields(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Fields, E> {
        Ok(Fields(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Fields, E> {
        Ok(Fields(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Fields, E> {
        Ok(Fields(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Fields, E> {
        Ok(Fields(None))
    }

    fn visit_unit<E>(self) -> Result<Fields, E> {
        Ok(Fields(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_everything_wrong_is_told() {
        assert_eq!(client_name(br#"{"client_name":"Shop"}"#).unwrap(), "Shop");
        let codes = |body: &str| {
            let error = client_name(body.as_bytes()).unwrap_err();
            error.fields.iter().map(|field| format!("{} {}", field.pointer, field.code)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(codes("{}"), "/client_name required");
        assert_eq!(codes(r#"{"client_name":7,"a/b":1}"#), "/client_name wrong_type, /a~1b unknown_field");
        assert_eq!(codes(r#"{"client_name":"a","client_name":"b"}"#), "/client_name duplicate_field");
        for other in ["[1]", "\"x\"", "1", "1.5", "-1", "true", "null"] {
            assert_eq!(codes(other), " wrong_type", "{other}");
        }
        assert_eq!(codes("{"), " malformed_json");
        assert_eq!(codes(&"[".repeat(1_000_000)), " malformed_json");
    }
}
