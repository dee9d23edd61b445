//! Liveness, readiness and the OpenAPI document.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use railgate::api::{HealthView, OverviewView};
use railgate::engine::TryWriting;
use railgate::{Error, ErrorCode, Result};

use super::App;
use super::cached::Cached;
use super::document::Unready;
use super::extract::Noted;
use super::negotiate::takes_encoding;
use super::problem::HttpError;
use super::response::{HandlerResult, JSON_VALUE, Kept, ok, with};
use super::route::routes;
use crate::gateway::Tenant;

/// How long a group may be under way: no store that works takes as long.
const STANDS_STILL: Duration = Duration::from_secs(10);

fn health(status: &'static str) -> HandlerResult {
    ok(&HealthView { status: status.into(), version: env!("CARGO_PKG_VERSION").into() })
}

/// What many may read from the store, as read last.
pub(super) struct Readings {
    is_usable: Cached<bool>,
    pub(super) receipt_keys: Cached<Result<Bytes>>,
    /// What the gateway did in the day until now.
    pub(super) overview: Cached<Result<OverviewView>>,
}

impl Default for Readings {
    fn default() -> Self {
        Self { is_usable: Cached::default(), receipt_keys: Cached::default(), overview: Cached::by_cost() }
    }
}

routes![healthz, readyz, openapi];

/// Is the process alive?
#[utoipa::path(
    get, path = "/healthz", tag = "service", operation_id = "healthz",
    responses((status = 200, description = "The process is alive", body = HealthView)),
)]
pub(crate) async fn healthz(_: Noted) -> HandlerResult {
    health("ok")
}

/// Is the service ready for traffic?
///
/// Not while it is shutting down, nor while its store cannot be read or takes no writes, as with a disk that is full or stands still. It is
/// tried once a second at most.
#[utoipa::path(
    get, path = "/readyz", tag = "service", operation_id = "readyz",
    responses((status = 200, description = "The service is ready", body = HealthView), Unready),
)]
pub(crate) async fn readyz(State(app): State<App>, _: Noted) -> HandlerResult {
    let unready = |detail| HttpError(Error::with(ErrorCode::StoreUnavailable, detail));
    if app.stopping.is_requested() || !app.gateway.is_open() {
        return Err(unready("the service is shutting down"));
    }
    if app.gateway.writing_for() > STANDS_STILL {
        return Err(unready("the store does not end what it is writing"));
    }
    let gateway = app.gateway.clone();
    let read = || async move {
        let read = gateway.scan(Tenant::GATEWAY, |engine| engine.next_due().map(drop)).await;
        // A node that gets no traffic any more would never notice that its store takes writes again.
        let tried = match read {
            Ok(()) if !gateway.engine().takes_writes() => match gateway.work(TryWriting::Write).await {
                Ok(()) => gateway.work(TryWriting::Remove).await,
                full => full,
            },
            other => other,
        };
        if let Err(error) = &tried {
            tracing::warn!(%error, "not ready: the store fails");
        }
        tried.is_ok()
    };
    match app.readings.is_usable.get(read).await {
        Some(true) => health("ready"),
        Some(false) | None => Err(unready("the store cannot be read or written")),
    }
}

/// This document
#[utoipa::path(
    get, path = "/openapi.json", tag = "service", operation_id = "openapi",
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json", body = Object)),
)]
pub(crate) async fn openapi(State(app): State<App>, _: Noted, headers: HeaderMap) -> HandlerResult {
    let compressed = if takes_encoding(&headers, "gzip") { app.document.compressed() } else { None };
    let mut response = match compressed {
        Some(bytes) => with(Response::new(Body::from(bytes)), CONTENT_ENCODING, HeaderValue::from_static("gzip"))?,
        None => Response::new(Body::from(app.document.text())),
    };
    response.headers_mut().insert(CONTENT_TYPE, JSON_VALUE);
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
    response.extensions_mut().insert(Kept);
    Ok(response)
}
