//! `Idempotency-Key`: a handler that takes a [`Keyed`] request honours it, and its route is documented accordingly.

use std::ops::Deref;

use axum::extract::{FromRequest, Request};
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, IF_MATCH};
use hyper::http::request::Parts;
use railgate::api::IdempotencyKey;
use railgate::engine::{Answer, Answers, KeptUnder, Once};
use railgate::error::FieldProblem;
use railgate::{Error, ErrorCode};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::App;
use super::body::BODY;
use super::extract::Posted;
use super::problem::HttpError;
use super::response::{HandlerResult, JSON_VALUE, with};
use super::route::Asks;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Marks the response to a call that was carried out before.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// How many writes a call with a key counts as: what it keeps for seven days is charged like a second call.
pub(crate) const COST: usize = 2;

/// A [`Posted`] request that its client may name with an `Idempotency-Key`.
pub(crate) struct Keyed<A, const MAX: usize = BODY> {
    posted: Posted<A, MAX>,
    key: Option<KeptUnder>,
}

impl<A: Asks, const MAX: usize> FromRequest<App> for Keyed<A, MAX> {
    type Rejection = HttpError;

    async fn from_request(request: Request, app: &App) -> Result<Self, HttpError> {
        let posted = Posted::from_request(request, app).await?;
        let key = key_of(&posted.raw.parts, &posted.raw.body)?.map(|key| KeptUnder { caller: posted.caller, key });
        if key.is_some() {
            posted.charge(app, COST)?;
        }
        Ok(Self { posted, key })
    }
}

impl<A, const MAX: usize> Deref for Keyed<A, MAX> {
    type Target = Posted<A, MAX>;

    fn deref(&self) -> &Posted<A, MAX> {
        &self.posted
    }
}

impl<A, const MAX: usize> Keyed<A, MAX> {
    /// The key, for a command that keeps its answer in a way of its own.
    pub(crate) fn key(&self) -> Option<IdempotencyKey> {
        self.key.as_ref().map(|kept| kept.key.clone())
    }

    /// Carries out the command that this request asks for, unless it was carried out under this key before.
    pub(crate) async fn once<C: Answers>(&self, app: &App, command: C) -> Result<Answer<C::Output>, Error> {
        self.posted.run(app, self.named(command, false)).await
    }

    /// The command under this request's key: the one that begins the work, or one that goes on with it and replaces the answer.
    pub(crate) fn named<C>(&self, command: C, goes_on: bool) -> Once<C> {
        Once { key: self.key.clone(), goes_on, command }
    }

    /// The answer that is kept under the key, for work whose answer is known only at its end.
    pub(crate) async fn kept(&self, app: &App) -> Result<Option<Answer<()>>, Error> {
        match &self.key {
            Some(key) => app.gateway.read(&self.caller, |engine| engine.kept_answer(key)).await,
            None => Ok(None),
        }
    }
}

/// The response with this answer; `Idempotent-Replayed: true` if it is a repeated one.
pub(crate) fn answered<T>(status: StatusCode, answer: Answer<T>) -> HandlerResult {
    let repeated = answer.is_repeated();
    let mut response = Response::new(answer.body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON_VALUE);
    marked(response, repeated)
}

/// The response, with `Idempotent-Replayed: true` if it repeats an earlier answer.
pub(crate) fn marked(response: Response, repeated: bool) -> HandlerResult {
    if repeated { with(response, REPLAYED, HeaderValue::from_static("true")) } else { Ok(response) }
}

/// The `id` of what the answer is about.
pub(crate) fn id_in<T>(answer: &Answer<T>) -> Result<String, Error> {
    #[derive(Deserialize)]
    struct Identified {
        id: String,
    }
    serde_json::from_str(&answer.body).map(|Identified { id }| id).map_err(Error::internal)
}

/// The call's `Idempotency-Key`, with a fingerprint of the request, whose content is this.
pub(crate) fn key_of(parts: &Parts, content: &[u8]) -> Result<Option<IdempotencyKey>, Error> {
    let Parts { method, uri, headers, .. } = parts;
    let mut keys = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let good = |text: &&str| (1..=255).contains(&text.len()) && text.bytes().all(|b| (b' '..=b'~').contains(&b));
    let key = key.to_str().ok().map(str::trim).filter(good).filter(|_| keys.next().is_none());
    let Some(key) = key else {
        let message = "Idempotency-Key must be given once, with 1 to 255 printable ASCII characters";
        let mut error = Error::with(ErrorCode::MalformedRequest, message);
        error.fields.push(FieldProblem::new("Idempotency-Key", "malformed", message));
        return Err(error);
    };
    let mut digest = Sha256::new().chain_update(method.as_str()).chain_update([0]).chain_update(uri.path()).chain_update([0]);
    if let Some(expected) = headers.get(IF_MATCH) {
        digest = digest.chain_update(expected).chain_update([0]);
    }
    let digest = digest.chain_update(content);
    Ok(Some(IdempotencyKey { key: key.to_owned(), fingerprint: digest.finalize().into() }))
}
