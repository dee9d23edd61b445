//! Connections: accepted one by one, limited in number and time, and closed gracefully.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;

use super::limit::Peer;
use super::middleware::Middleware;
use super::{HttpLimits, Metrics, Tls};
use crate::metrics::CONTENT_TYPE as METRICS_TYPE;
use crate::stop::{Stop, stop};

/// The largest head of a request, in bytes.
const HEAD: usize = 32 * 1024;
/// The most connections for metrics scrapers.
const METRICS_CONNECTIONS: usize = 16;

/// A connection, before or without TLS.
type Stream = Pin<Box<TimeoutStream<TcpStream>>>;

/// A bound socket that is not served yet.
pub(crate) struct Listener {
    socket: TcpListener,
    limits: HttpLimits,
    metrics: Arc<Metrics>,
    slots: Arc<Semaphore>,
    tls: Option<Arc<Tls>>,
}

impl Listener {
    /// Binds the address. With `tls` the listener serves HTTPS, without it plain HTTP.
    pub(crate) async fn bind(address: SocketAddr, limits: HttpLimits, metrics: Arc<Metrics>, tls: Option<Arc<Tls>>) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        Ok(Self { socket, limits, metrics, slots: Arc::new(Semaphore::new(limits.connections)), tls })
    }

    /// The bound address.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves until `stopping`; then lets requests in flight finish, and cuts off what is left after the drain time. Until
    /// they have finished, and at least for the configured grace period, new connections are served too: load balancers
    /// first have to notice that readiness is gone.
    pub(crate) async fn serve(self, front: Middleware, mut stopping: Stop) {
        let mut connections = JoinSet::new();
        let early = GracefulShutdown::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = stopping.requested() => break,
                accepted = self.accept() => accepted,
            };
            connections.spawn(self.converse(accepted, &front, early.watcher(), true, stopping.clone()));
            while connections.try_join_next().is_some() {}
        }
        let (late, (closed, closing)) = (GracefulShutdown::new(), stop());
        let (deadline, grace) = (Instant::now() + self.limits.drain, self.limits.grace);
        let in_flight = timeout_at(deadline, async { tokio::join!(early.shutdown(), sleep(grace)) });
        let mut in_flight = pin!(in_flight);
        let mut in_time = loop {
            let accepted = tokio::select! {
                biased;
                drained = &mut in_flight => break drained.is_ok(),
                accepted = self.accept() => accepted,
            };
            connections.spawn(self.converse(accepted, &front, late.watcher(), false, closing.clone()));
        };
        drop(self);
        closed.stop();
        in_time &= timeout_at(deadline, late.shutdown()).await.is_ok();
        if !in_time {
            tracing::warn!(connections = connections.len(), "requests were cut off: the time to drain them is over");
        }
        connections.shutdown().await;
    }

    /// Serves one connection to its end.
    fn converse(
        &self,
        (stream, peer, slot): (Stream, Peer, OwnedSemaphorePermit),
        front: &Middleware,
        watcher: Watcher,
        keep_alive: bool,
        stopping: Stop,
    ) -> impl Future<Output = ()> + Send + 'static {
        let mut builder = self.builder();
        builder.keep_alive(keep_alive);
        let connection = Connection { front: front.clone(), builder, watcher, peer };
        let (tls, handshake) = (self.tls.as_ref().map(|tls| tls.acceptor()), self.limits.handshake);
        let open = self.metrics.connection();
        async move {
            match tls {
                Some(tls) => connection.secured(tls, stream, handshake, stopping).await,
                None => connection.converse(stream).await,
            }
            drop((slot, open));
        }
    }

    fn builder(&self) -> http1::Builder {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_read)
            .max_header_size(HEAD)
            .max_buf_size(4 * HEAD)
            // A client may close its side after the request and still wait for the response.
            .half_close(true);
        builder
    }

    /// The next connection. When all slots are taken, the next one waits in the system's queue.
    async fn accept(&self) -> (Stream, Peer, OwnedSemaphorePermit) {
        loop {
            // The semaphore is never closed.
            let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else { continue };
            match self.socket.accept().await {
                Ok((stream, peer)) => {
                    let _ = stream.set_nodelay(true);
                    let mut stream = TimeoutStream::new(stream);
                    // A peer that does not read is cut off, so that nothing is buffered for it.
                    stream.set_write_timeout(Some(self.limits.stall));
                    return (Box::pin(stream), Peer(peer.ip().to_canonical()), slot);
                }
                Err(cause) => {
                    // Out of file handles, or the peer went away: the former needs a pause.
                    tracing::warn!(%cause, "a connection could not be accepted");
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}

/// One connection, and what it needs to be served.
struct Connection {
    front: Middleware,
    builder: http1::Builder,
    watcher: Watcher,
    peer: Peer,
}

impl Connection {
    /// Serves after a handshake, which has its own timeout and holds up no other connection.
    async fn secured(self, tls: TlsAcceptor, stream: Stream, patience: Duration, mut stopping: Stop) {
        let shaken = tokio::select! {
            // No request was sent yet.
            () = stopping.requested() => return,
            shaken = timeout(patience, tls.accept(stream)) => shaken,
        };
        match shaken {
            Ok(Ok(stream)) => self.converse(stream).await,
            Ok(Err(cause)) => tracing::debug!(%cause, "a handshake failed"),
            Err(_) => tracing::debug!("a handshake took too long"),
        }
    }

    async fn converse(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Self { front, builder, watcher, peer } = self;
        let service = service_fn(move |mut request: Request<Incoming>| {
            let front = front.clone();
            request.extensions_mut().insert(peer);
            async move { Ok::<_, Infallible>(front.answer(request.map(Body::new)).await) }
        });
        if let Err(cause) = watcher.watch(builder.serve_connection(TokioIo::new(stream), service)).await {
            tracing::debug!(%cause, "a connection ended");
        }
    }
}

/// Serves `/metrics` until `stopping`. `refresh` updates the metrics that are not counted as they happen.
pub(crate) async fn serve_metrics(socket: TcpListener, metrics: Arc<Metrics>, refresh: Arc<dyn Fn() + Send + Sync>, mut stopping: Stop) {
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            () = stopping.requested() => return,
            accepted = socket.accept(), if connections.len() < METRICS_CONNECTIONS => accepted,
            _ = connections.join_next(), if !connections.is_empty() => continue,
        };
        let Ok((stream, _)) = stream else {
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (metrics, refresh) = (Arc::clone(&metrics), Arc::clone(&refresh));
        let service = service_fn(move |request: Request<Incoming>| {
            let (metrics, refresh) = (Arc::clone(&metrics), Arc::clone(&refresh));
            async move { Ok::<_, Infallible>(figures(&request, &metrics, refresh).await) }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(10)).max_header_size(HEAD);
        connections.spawn(async move {
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn figures(request: &Request<Incoming>, metrics: &Metrics, refresh: Arc<dyn Fn() + Send + Sync>) -> Response<String> {
    if request.uri().path() != "/metrics" {
        let mut response = Response::new("the metrics are at /metrics\n".to_owned());
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    // `refresh` reads the store.
    let _ = tokio::task::spawn_blocking(move || refresh()).await;
    let mut response = Response::new(metrics.encode());
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(METRICS_TYPE));
    response
}
