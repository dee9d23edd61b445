//! Building responses.

use axum::body::Body;
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use railgate::Error;
use serde::Serialize;

use super::problem::HttpError;

/// What handlers return.
pub(crate) type HandlerResult = Result<Response, HttpError>;

/// Marks a response whose bytes the server keeps anyway: however many readers leave it unread, it is in memory once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept;

pub(crate) const JSON_VALUE: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// A JSON response. Most fit the buffer's first size.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> HandlerResult {
    let mut text = Vec::with_capacity(1_280);
    serde_json::to_writer(&mut text, value).map_err(Error::internal)?;
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON_VALUE);
    Ok(response)
}

/// [`json`] with status 200.
pub(crate) fn ok<T: Serialize>(value: &T) -> HandlerResult {
    json(StatusCode::OK, value)
}

/// A JSON response with a secret, which must not be cached.
pub(crate) fn secret<T: Serialize>(status: StatusCode, value: &T) -> HandlerResult {
    with(json(status, value)?, CACHE_CONTROL, NO_STORE)
}

/// Adds a header.
pub(crate) fn with(mut response: Response, name: HeaderName, value: HeaderValue) -> HandlerResult {
    response.headers_mut().insert(name, value);
    Ok(response)
}

/// Adds a header with a computed value.
pub(crate) fn with_text(response: Response, name: HeaderName, value: String) -> HandlerResult {
    with(response, name, HeaderValue::try_from(value).map_err(Error::internal)?)
}
