//! The listener of the operator: metrics, and the probes of liveness and readiness. It has places of its own, so that they go
//! on while all connections of the other listener are taken.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::connections::{Bounds, Link};
use super::listener::{Door, builder, run};
use super::wire::{Arriving, Leaving, Wire};
use super::{Metrics, Middleware};
use crate::metrics::CONTENT_TYPE as METRICS_TYPE;
use crate::stop::Stop;

/// The most connections for scrapers and probes.
const CONNECTIONS: usize = 16;
/// How long a connection may be idle, and how long its reader may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the listener serves.
#[derive(Clone)]
pub(crate) struct Figures {
    pub(crate) metrics: Arc<Metrics>,
    /// Updates the metrics that are not counted as they happen.
    pub(crate) refresh: Arc<dyn Fn() + Send + Sync>,
    /// Answers the probes.
    pub(crate) front: Middleware,
}

impl Figures {
    /// Serves until `stopping`.
    pub(crate) async fn serve(self, socket: TcpListener, mut stopping: Stop) {
        let bounds = Bounds { all: CONNECTIONS, of_one: CONNECTIONS, proxies: Vec::new() };
        let mut door = Door::new(socket, bounds, PATIENCE, Arc::clone(&self.metrics));
        let mut connections = JoinSet::new();
        loop {
            let (stream, place) = tokio::select! {
                biased;
                () = stopping.requested() => return,
                accepted = door.accept() => accepted,
            };
            let (figures, link, stopping) = (self.clone(), Arc::clone(&place.link), stopping.clone());
            connections.spawn(async move {
                let answering = Arc::clone(&link);
                let service = service_fn(move |request| {
                    let (figures, link) = (figures.clone(), Arc::clone(&answering));
                    async move { Ok::<_, Infallible>(figures.answer(link, request).await) }
                });
                let wire = TokioIo::new(Wire::new(stream, Arc::clone(&link)));
                run(builder(PATIENCE).serve_connection(wire, service), &link, stopping).await;
                drop(place);
            });
            while connections.try_join_next().is_some() {}
        }
    }

    async fn answer(self, link: Arc<Link>, request: Request<Incoming>) -> Response<Leaving> {
        let request = request.map(|body| Arriving::body(body, &link));
        let response = match request.uri().path() {
            "/metrics" => self.figures().await,
            "/healthz" | "/readyz" => self.front.answer(request).await,
            _ => {
                let mut response = Response::new(Body::from("the metrics are at /metrics, the probes at /healthz and /readyz\n"));
                *response.status_mut() = StatusCode::NOT_FOUND;
                response
            }
        };
        response.map(|body| Leaving::new(body, link))
    }

    async fn figures(&self) -> Response<Body> {
        // It reads the store.
        let refresh = Arc::clone(&self.refresh);
        let _ = tokio::task::spawn_blocking(move || refresh()).await;
        let mut response = Response::new(Body::from(self.metrics.encode()));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(METRICS_TYPE));
        response
    }
}
