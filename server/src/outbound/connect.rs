//! Connections to checked addresses only.
//!
//! A name is resolved once for a connection (`lookup.rs`); each address is checked, cached ones too; and the
//! connection goes to one of the addresses that passed. Nothing resolves the name a second time, so it cannot
//! point elsewhere in between.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use railgate::api::Share;
use railgate::webhook::{Destination, Guard, GuardError, Host};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower::Service;

use super::SendError;
use super::lookup::{Lookups, Resolve};

tokio::task_local! {
    /// The client for whom a request is made.
    pub(super) static ASKER: Share;
}

/// How many of a name's addresses are tried.
const TRIED: usize = 4;

/// Why there is no connection.
#[derive(Debug, Clone, Copy, thiserror::Error)]
pub(super) enum Unconnected {
    #[error("the URL is refused: {0}")]
    Refused(GuardError),
    #[error("the name does not resolve")]
    Dns,
    #[error("no address of the name is allowed")]
    Blocked,
    #[error("no address accepts a connection")]
    Tcp,
    #[error("the certificate is not valid")]
    Certificate,
    #[error("the handshake failed")]
    Handshake,
    #[error("connecting took too long")]
    Timeout,
}

impl From<Unconnected> for SendError {
    fn from(unconnected: Unconnected) -> Self {
        match unconnected {
            Unconnected::Refused(error) => Self::Refused(error),
            Unconnected::Dns => Self::Dns,
            Unconnected::Blocked => Self::Blocked,
            Unconnected::Tcp => Self::Connect,
            Unconnected::Certificate => Self::Certificate,
            Unconnected::Handshake => Self::Handshake,
            Unconnected::Timeout => Self::Timeout,
        }
    }
}

/// Makes guarded connections.
#[derive(Clone)]
pub(super) struct Connector {
    shared: Arc<Shared>,
}

struct Shared {
    guard: Arc<Guard>,
    lookups: Lookups,
    tls: Arc<ClientConfig>,
    limit: Duration,
}

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

impl Connector {
    pub(super) fn new(guard: Arc<Guard>, resolver: Arc<dyn Resolve>, tls: Arc<ClientConfig>, limit: Duration) -> Self {
        Self { shared: Arc::new(Shared { guard, lookups: Lookups::of(resolver), tls, limit }) }
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Unconnected;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, Unconnected>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Unconnected>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        // Here, in the request that wants a connection: the pool may go on connecting elsewhere.
        let (shared, asker) = (Arc::clone(&self.shared), ASKER.try_with(|asker| *asker).ok());
        Box::pin(async move {
            // Not only around the whole call: the pool may keep connecting after the call has ended.
            let connected = timeout(shared.limit, shared.connect(&uri, asker)).await;
            connected.unwrap_or(Err(Unconnected::Timeout))
        })
    }
}

impl Shared {
    async fn connect(&self, uri: &Uri, asker: Option<Share>) -> Result<Stream, Unconnected> {
        let destination = self.guard.check_url(&uri.to_string()).map_err(Unconnected::Refused)?;
        let addresses = self.addresses(&destination, asker).await?;
        let stream = self.first_to_accept(&addresses).await?;
        if !destination.https {
            return Ok(TokioIo::new(stream).into());
        }
        let name = match &destination.host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_| Unconnected::Refused(GuardError::Host))?,
            Host::Address(address) => ServerName::from(*address),
        };
        let shaken = TlsConnector::from(Arc::clone(&self.tls)).connect(name, TokioIo::new(TokioIo::new(stream))).await;
        shaken.map(Into::into).map_err(|error| match error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(_)) => Unconnected::Certificate,
            Some(_) | None => Unconnected::Handshake,
        })
    }

    /// The destination's addresses that may be called, in the order of the attempts.
    async fn addresses(&self, destination: &Destination, asker: Option<Share>) -> Result<Vec<SocketAddr>, Unconnected> {
        let found = match &destination.host {
            Host::Address(address) => Arc::from([*address]),
            Host::Name(name) => self.lookups.addresses(name, asker).await.ok_or(Unconnected::Dns)?,
        };
        if found.is_empty() {
            return Err(Unconnected::Dns);
        }
        let allowed = found.iter().copied().filter(|address| self.may_call(destination, *address)).collect();
        let addresses: Vec<SocketAddr> =
            alternating(allowed).into_iter().take(TRIED).map(|address| SocketAddr::new(address, destination.port)).collect();
        if addresses.is_empty() { Err(Unconnected::Blocked) } else { Ok(addresses) }
    }

    fn may_call(&self, destination: &Destination, address: IpAddr) -> bool {
        let checked = self.guard.check_peer(destination, address);
        if let Err(why) = checked {
            tracing::debug!(host = %destination.host, %address, %why, "an address is not called");
        }
        checked.is_ok()
    }

    /// Each address gets a share of the time, so that one that never answers does not use it up.
    async fn first_to_accept(&self, addresses: &[SocketAddr]) -> Result<TcpStream, Unconnected> {
        let share = self.limit / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut failed = Unconnected::Tcp;
        for address in addresses {
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(_)) => failed = Unconnected::Tcp,
                Err(_) => failed = Unconnected::Timeout,
            }
        }
        Err(failed)
    }
}

/// Both kinds of addresses alternately, starting with the kind of the first one: if one kind does not work here, the other
/// is tried soon.
fn alternating(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let first_is_v4 = addresses.first().is_some_and(IpAddr::is_ipv4);
    let (mut these, mut others): (VecDeque<_>, VecDeque<_>) = addresses.into_iter().partition(|address| address.is_ipv4() == first_is_v4);
    let mut mixed = Vec::with_capacity(these.len() + others.len());
    while !(these.is_empty() && others.is_empty()) {
        mixed.extend(these.pop_front());
        mixed.extend(others.pop_front());
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_addresses_are_tried_by_turns() {
        let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
        assert_eq!(alternating(addresses(&["::1", "::2", "::3", "1.1.1.1"])), addresses(&["::1", "1.1.1.1", "::2", "::3"]));
        assert_eq!(alternating(addresses(&["1.1.1.1", "::1"])), addresses(&["1.1.1.1", "::1"]));
        assert_eq!(alternating(Vec::new()), addresses(&[]));
    }
}
