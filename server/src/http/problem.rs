//! Errors on the wire: RFC 9457 problem documents, made in one place.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Method, StatusCode};
use railgate::api::Problem;
use railgate::auth::TAG;
use railgate::{Error, ErrorCode};

use super::context::Context;
use super::route::Access;

/// The signature that a refused call needs (RFC 9421, section 5.1).
pub(crate) const ACCEPT_SIGNATURE: HeaderName = HeaderName::from_static("accept-signature");

/// The content type of problem documents.
pub(crate) const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The problem document of `error`, for the request `request_id` to `instance`.
pub(crate) fn problem(error: &Error, instance: &str, request_id: &str) -> Problem {
    Problem { instance: Some(instance.to_owned()), request_id: Some(request_id.to_owned()), ..error.problem() }
}

/// A handler's error. The middleware makes the document, because it has the request.
#[derive(Debug, Clone)]
pub(crate) struct HttpError(pub(crate) Error);

impl From<Error> for HttpError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<ErrorCode> for HttpError {
    fn from(code: ErrorCode) -> Self {
        Self(Error::new(code))
    }
}

impl IntoResponse for HttpError {
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

/// Fills `response` with the document of `failure`. Headers that are already there, such as `Allow`, stay. `challenge`
/// is a fresh one.
pub(crate) fn render(response: &mut Response, failure: HttpError, method: &Method, instance: &str, context: &Context, challenge: &str) {
    let code = failure.0.code;
    *response.status_mut() = status(code);
    // A caller that fails too often is no longer told why.
    let signature_base = context.signature_base().filter(|_| code == ErrorCode::SignatureInvalid).map(str::to_owned);
    let problem = Problem { signature_base, ..problem(&failure.0, instance, context.id()) };
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, PROBLEM_JSON);
    match code.http_status() {
        401 => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(bearer_challenge(code)));
            if let Ok(wanted) = HeaderValue::try_from(wanted_signature(method, context.access(), challenge)) {
                headers.insert(ACCEPT_SIGNATURE, wanted);
            }
        }
        403 if code == ErrorCode::InsufficientScope => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(bearer_challenge(code)));
        }
        429 => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("60"));
        }
        503 => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    // Only text and numbers: this cannot fail.
    *response.body_mut() = Body::from(serde_json::to_vec(&problem).unwrap_or_default());
}

/// The `WWW-Authenticate` of RFC 6750, section 3.
fn bearer_challenge(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::TokenInvalid | ErrorCode::TokenExpired => r#"Bearer realm="railgate", error="invalid_token""#,
        ErrorCode::InsufficientScope => r#"Bearer realm="railgate", error="insufficient_scope""#,
        _ => r#"Bearer realm="railgate""#,
    }
}

/// RFC 9421, section 5.1: the signature that is required, with a nonce that is valid for five minutes.
fn wanted_signature(method: &Method, access: Option<Access>, challenge: &str) -> String {
    let authorization = match access {
        Some(Access::Token | Access::Scope(_) | Access::Shared(_) | Access::Consent) | None => r#" "authorization""#,
        Some(Access::Unsigned | Access::Enrolling | Access::Key) => "",
    };
    let body = if matches!(*method, Method::POST | Method::PUT | Method::PATCH) { r#" "content-type" "content-digest""# } else { "" };
    format!(r#"sig1=("@method" "@target-uri"{authorization}{body});created;keyid;alg;nonce="{challenge}";tag="{TAG}""#)
}
