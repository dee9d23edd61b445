//! Errors on the wire: RFC 9457 problem documents, made in one place.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use railgate::error::FieldProblem;
use railgate::{Error, ErrorCode};
use serde::Serialize;
use utoipa::ToSchema;

/// What kind of document it is.
pub(crate) const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// An RFC 9457 problem: why a request was not carried out.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// Names the kind of problem; `code` is its last part.
    #[serde(rename = "type")]
    #[schema(example = "https://railgate.dev/problems/reference_conflict")]
    pub kind: String,
    /// One short sentence, the same for every occurrence.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// One sentence about this occurrence.
    pub detail: String,
    /// The path that was asked for.
    pub instance: String,
    /// Stable; what programs should look at.
    #[schema(example = "reference_conflict")]
    pub code: &'static str,
    /// The family: `validation`, `authorisation`, `identification`, `business_rule`, `service_unavailable`, `internal`.
    pub category: &'static str,
    /// The same request is safe and useful to send again.
    pub retryable: bool,
    /// Names this request in the server's log.
    pub request_id: String,
    /// Every single thing that is wrong with the request, and where.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}

impl Problem {
    /// The problem that `error` is, at `instance`, in answer to the request `request_id`.
    pub(crate) fn new(error: Error, instance: &str, request_id: &str) -> Self {
        let code = error.code;
        Self {
            kind: format!("https://railgate.dev/problems/{}", code.as_str()),
            title: code.title(),
            status: code.http_status(),
            detail: error.detail.into_owned(),
            instance: instance.to_owned(),
            code: code.as_str(),
            category: code.category().as_str(),
            retryable: code.retryable(),
            request_id: request_id.to_owned(),
            errors: error.fields,
        }
    }
}

/// What a handler answers when it cannot do what it was asked. The front makes the document, for it knows the request.
#[derive(Debug, Clone)]
pub(crate) struct Failure(pub(crate) Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<ErrorCode> for Failure {
    fn from(code: ErrorCode) -> Self {
        Self(Error::new(code))
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status(self.0.code);
        response.extensions_mut().insert(self);
        response
    }
}

fn status(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Fills `response` with the document of `failure`. Headers that are there already, such as `Allow`, stay.
pub(crate) fn render(response: &mut Response, failure: Failure, instance: &str, request_id: &str) {
    let code = failure.0.code;
    *response.status_mut() = status(code);
    let problem = Problem::new(failure.0, instance, request_id);
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, PROBLEM_JSON);
    match code.http_status() {
        401 => {
            let nothing_sent = code == ErrorCode::TokenMissing;
            let challenge = if nothing_sent { r#"Bearer realm="railgate""# } else { r#"Bearer realm="railgate", error="invalid_token""# };
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        429 | 503 => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    // Text and numbers only: this cannot fail.
    *response.body_mut() = Body::from(serde_json::to_vec(&problem).unwrap_or_default());
}
