//! Connections: accepted one by one, limited in number and time, and closed gracefully.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use railgate::webhook::Cidr;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;

use super::connections::{Bounds, Connections, Link, Open};
use super::context::Origin;
use super::middleware::Middleware;
use super::wire::{Arriving, Leaving, Wire};
use super::{HttpLimits, Metrics, Tls};
use crate::stop::{Stop, stop};

/// The largest head of a request, in bytes.
pub(super) const HEAD: usize = 32 * 1024;
/// The fewest connections of one address that have a place, however few there are in all.
const ADDRESS_CONNECTIONS: usize = 16;

/// A connection, before or without TLS.
type Stream = Pin<Box<TimeoutStream<TcpStream>>>;

/// A bound socket that is not served yet.
pub(crate) struct Listener {
    door: Door,
    limits: HttpLimits,
    metrics: Arc<Metrics>,
    tls: Option<Arc<Tls>>,
}

/// A bound socket whose connections have places.
pub(super) struct Door {
    socket: TcpListener,
    /// Accepted, and without a place so far.
    pending: Option<(TcpStream, SocketAddr)>,
    places: Connections,
    stall: Duration,
}

impl Door {
    pub(super) fn new(socket: TcpListener, bounds: Bounds, stall: Duration, metrics: Arc<Metrics>) -> Self {
        Self { socket, pending: None, places: Connections::new(bounds, metrics), stall }
    }

    /// The next connection. While all places are busy, it waits, and those after it in the system's queue. Nothing is lost
    /// when the call is dropped.
    pub(super) async fn accept(&mut self) -> (Stream, Open) {
        loop {
            let address = match &self.pending {
                Some((_, address)) => *address,
                None => match self.socket.accept().await {
                    Ok(accepted) => self.pending.insert(accepted).1,
                    Err(cause) => {
                        // Out of file handles, or the peer went away: the former needs a pause.
                        tracing::warn!(%cause, "a connection could not be accepted");
                        sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
            };
            let place = self.places.admit(address.ip().to_canonical()).await;
            let Some(((stream, _), place)) = self.pending.take().zip(place) else { continue };
            let _ = stream.set_nodelay(true);
            let mut stream = TimeoutStream::new(stream);
            // A peer that does not read is cut off, so that nothing is buffered for it.
            stream.set_write_timeout(Some(self.stall));
            return (Box::pin(stream), place);
        }
    }
}

impl Listener {
    /// Binds the address. With `tls` the listener serves HTTPS, without it plain HTTP. Connections from `proxies` are those
    /// of many.
    pub(crate) async fn bind(
        address: SocketAddr,
        limits: HttpLimits,
        proxies: Vec<Cidr>,
        metrics: Arc<Metrics>,
        tls: Option<Arc<Tls>>,
    ) -> io::Result<Self> {
        let of_one = limits.address_connections.unwrap_or((limits.connections / 8).max(ADDRESS_CONNECTIONS));
        let bounds = Bounds { all: limits.connections, of_one, proxies };
        let door = Door::new(TcpListener::bind(address).await?, bounds, limits.stall, Arc::clone(&metrics));
        Ok(Self { door, limits, metrics, tls })
    }

    /// The bound address.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.door.socket.local_addr()
    }

    /// Serves until `stopping`; then lets requests in flight finish, and cuts off what is left after the drain time. Until
    /// they have finished, and at least for the configured grace period, new connections are served too: load balancers
    /// first have to notice that readiness is gone.
    pub(crate) async fn serve(mut self, front: Middleware, mut stopping: Stop) {
        let mut early = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = stopping.requested() => break,
                accepted = self.door.accept() => accepted,
            };
            early.spawn(self.converse(accepted, &front, true, stopping.clone()));
            while early.try_join_next().is_some() {}
        }
        let (mut late, (closed, closing)) = (JoinSet::new(), stop());
        let (deadline, grace) = (Instant::now() + self.limits.drain, self.limits.grace);
        let mut in_time = {
            let ended = async { while early.join_next().await.is_some() {} };
            let mut in_flight = pin!(timeout_at(deadline, async { tokio::join!(ended, sleep(grace)) }));
            loop {
                let accepted = tokio::select! {
                    biased;
                    drained = &mut in_flight => break drained.is_ok(),
                    accepted = self.door.accept() => accepted,
                };
                late.spawn(self.converse(accepted, &front, false, closing.clone()));
            }
        };
        drop(self);
        closed.stop();
        in_time &= timeout_at(deadline, async { while late.join_next().await.is_some() {} }).await.is_ok();
        if !in_time {
            tracing::warn!(connections = early.len() + late.len(), "requests were cut off: the time to drain them is over");
        }
        tokio::join!(early.shutdown(), late.shutdown());
    }

    /// Serves one connection to its end.
    fn converse(
        &self,
        (stream, place): (Stream, Open),
        front: &Middleware,
        keep_alive: bool,
        stopping: Stop,
    ) -> impl Future<Output = ()> + Send + 'static {
        let limits = self.limits;
        let patience = |time: Duration| if place.pressed { time.min(limits.pressed) } else { time };
        let mut builder = builder(patience(limits.head_read));
        builder.keep_alive(keep_alive);
        let (tls, handshake) = (self.tls.as_ref().map(|tls| tls.acceptor()), patience(limits.handshake));
        let connection = Connection { front: front.clone(), builder, link: Arc::clone(&place.link), stopping };
        let open = self.metrics.connection();
        async move {
            match tls {
                Some(tls) => connection.secured(tls, stream, handshake).await,
                None => connection.converse(stream).await,
            }
            drop((place, open));
        }
    }
}

/// How connections are read and written. `patience` is for a request's head.
pub(super) fn builder(patience: Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_header_size(HEAD)
        .max_buf_size(4 * HEAD)
        // A client may close its side after the request and still wait for the response.
        .half_close(true);
    builder
}

/// One connection, and what it needs to be served.
struct Connection {
    front: Middleware,
    builder: http1::Builder,
    link: Arc<Link>,
    stopping: Stop,
}

impl Connection {
    /// Serves after a handshake, which has its own timeout and holds up no other connection.
    async fn secured(mut self, tls: TlsAcceptor, stream: Stream, patience: Duration) {
        let shaken = tokio::select! {
            // No request was sent yet.
            () = self.stopping.requested() => return,
            () = self.link.told_to_end() => return,
            shaken = timeout(patience, tls.accept(stream)) => shaken,
        };
        match shaken {
            Ok(Ok(stream)) => self.converse(stream).await,
            Ok(Err(cause)) => tracing::debug!(%cause, "a handshake failed"),
            Err(_) => tracing::debug!("a handshake took too long"),
        }
    }

    async fn converse(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Self { front, builder, link, stopping } = self;
        let service = {
            let link = Arc::clone(&link);
            service_fn(move |request| {
                let (front, link) = (front.clone(), Arc::clone(&link));
                async move { Ok::<_, Infallible>(answer(&front, link, request).await) }
            })
        };
        let wire = TokioIo::new(Wire::new(stream, Arc::clone(&link)));
        run(builder.serve_connection(wire, service), &link, stopping).await;
    }
}

/// Answers one request of a connection.
async fn answer(front: &Middleware, link: Arc<Link>, request: Request<Incoming>) -> Response<Leaving> {
    let origin = Origin { peer: link.caller(request.headers()), link: Some(Arc::clone(&link)) };
    let response = front.answer_from(&origin, request.map(|body| Arriving::body(body, &link))).await;
    response.map(|body| Leaving::new(body, link))
}

/// Runs a connection until it ends by itself, is idle when `stopping`, or has to make room for another.
pub(super) async fn run<S, B>(connection: http1::Connection<TokioIo<Wire<S>>, B>, link: &Link, mut stopping: Stop)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    B: hyper::service::HttpService<Incoming>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    B::ResBody: hyper::body::Body + 'static,
    <B::ResBody as hyper::body::Body>::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut connection = pin!(connection);
    let mut stops = false;
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(cause) = ended {
                    tracing::debug!(%cause, "a connection ended");
                }
                return;
            }
            () = stopping.requested(), if !stops => {
                stops = true;
                connection.as_mut().graceful_shutdown();
            }
            () = link.told_to_end() => {
                connection.as_mut().graceful_shutdown();
                // Closes it if it is idle, and reads what has arrived meanwhile.
                let closed = poll_fn(|cx| Poll::Ready(connection.as_mut().poll(cx).is_ready())).await;
                if closed || !link.is_busy() {
                    return;
                }
            }
        }
    }
}
