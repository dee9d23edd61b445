//! The open connections: how many there are, how many of one address, and which one ends when there is no room for another.
//!
//! Opening a connection costs a stranger nothing, so it must not cost others theirs. When all places are taken, the connection
//! that has been idle for longest makes room: first those that never brought a request, then those that brought none of a known
//! client. A connection whose request has arrived is never ended. A request that is still arriving protects nothing: otherwise
//! slow senders could hold all places.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::HeaderMap;
use railgate::webhook::Cidr;
use tokio::sync::Notify;

use super::forwarded;
use super::limit::network;
use super::middleware::Burden;
use crate::metrics::Metrics;
use crate::shares::{Share, Shares};

/// The places of a listener.
pub(super) struct Connections(Arc<Places>);

struct Places {
    bounds: Bounds,
    metrics: Arc<Metrics>,
    table: Mutex<Table>,
    /// The requests in flight of callers behind trusted proxies.
    behind: Shares<IpAddr>,
    /// Notified when a place is free, or a connection has become idle while none is.
    changed: Notify,
}

/// How many connections may be open.
pub(super) struct Bounds {
    /// In all.
    pub(super) all: usize,
    /// From one address; IPv6 addresses count by their /64.
    pub(super) of_one: usize,
    /// Proxies, whose connections are those of many.
    pub(super) proxies: Vec<Cidr>,
}

impl Bounds {
    /// A proxy on this machine may go unnamed.
    fn is_bounded(&self, address: IpAddr) -> bool {
        !address.is_loopback() && !self.is_proxy(address)
    }

    fn is_proxy(&self, address: IpAddr) -> bool {
        self.proxies.iter().any(|range| range.contains(address))
    }
}

#[derive(Default)]
struct Table {
    open: usize,
    of: HashMap<IpAddr, usize>,
    /// The connections that may be ended, the first one first.
    idle: BTreeMap<Rank, Arc<Link>>,
    next: u64,
    /// How many were told to end and are not gone yet.
    leaving: usize,
}

/// The order in which connections make room. The number counts up with each change.
type Rank = (Worth, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// It has never brought a whole request.
    Silent,
    /// It has, but none of a known client.
    Served,
    /// It has brought a request of an authenticated client.
    Known,
}

/// An open connection, as those see it who serve it.
pub(super) struct Link {
    places: Arc<Places>,
    address: IpAddr,
    state: Mutex<State>,
    /// Whether the response has been handed over as a whole. It is sent when the stream has been flushed after that.
    handed: AtomicBool,
    end: Notify,
    /// Whether a call is held that wants to know when the other end closes.
    held: AtomicBool,
    closed: Notify,
}

struct State {
    worth: Worth,
    phase: Phase,
    /// The number of its latest request, and whether the response to that is sent.
    request: u64,
    answered: bool,
    /// What the responses that are not sent yet keep occupied.
    burdens: Vec<Arc<Burden>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// May be ended. A rank that is no longer in the table means that it was told to.
    Idle(Rank),
    /// Is being answered. `last`: it was told to end just before, and does so afterwards.
    Busy { last: bool },
    /// Was told to end, and has nothing to do before.
    Leaving,
}

/// A taken place; free again on drop.
pub(super) struct Open {
    pub(super) link: Arc<Link>,
    /// Whether most places are taken, so that nobody should be waited for long.
    pub(super) pressed: bool,
}

enum Entry {
    Open(Open),
    /// The address has its share.
    Refused,
    /// All places are taken.
    Full,
}

impl Connections {
    pub(super) fn new(bounds: Bounds, metrics: Arc<Metrics>) -> Self {
        Self(Arc::new(Places { bounds, metrics, table: Mutex::default(), behind: Shares::default(), changed: Notify::new() }))
    }

    /// A place for a connection from this address; `None` when the address has its share. When all are taken, an idle
    /// connection is ended; if none is idle, this waits.
    pub(super) async fn admit(&self, address: IpAddr) -> Option<Open> {
        loop {
            let mut changed = pin!(self.0.changed.notified());
            changed.as_mut().enable();
            match Places::enter(&self.0, address) {
                Entry::Open(open) => return Some(open),
                Entry::Refused => {
                    self.0.metrics.connection_refused();
                    return None;
                }
                Entry::Full => changed.await,
            }
        }
    }
}

impl Places {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(places: &Arc<Self>, address: IpAddr) -> Entry {
        let (bounds, network) = (&places.bounds, network(address));
        let mut table = places.table();
        if bounds.is_bounded(address) && table.of.get(&network).is_some_and(|open| *open >= bounds.of_one) {
            return Entry::Refused;
        }
        if table.open >= bounds.all {
            // One at a time: each that ends makes room for one.
            if table.leaving == 0
                && let Some((_, link)) = table.idle.pop_first()
            {
                table.leaving += 1;
                link.end.notify_one();
                places.metrics.connection_evicted();
            }
            return Entry::Full;
        }
        table.open += 1;
        *table.of.entry(network).or_default() += 1;
        let rank = table.rank(Worth::Silent);
        let state = State { worth: Worth::Silent, phase: Phase::Idle(rank), request: 0, answered: false, burdens: Vec::new() };
        let link = Arc::new(Link {
            places: Arc::clone(places),
            address,
            state: Mutex::new(state),
            handed: AtomicBool::new(false),
            end: Notify::new(),
            held: AtomicBool::new(false),
            closed: Notify::new(),
        });
        table.idle.insert(rank, Arc::clone(&link));
        Entry::Open(Open { link, pressed: table.open > bounds.all / 4 * 3 })
    }
}

impl Table {
    fn rank(&mut self, worth: Worth) -> Rank {
        self.next += 1;
        (worth, self.next)
    }
}

impl Link {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address that sends a request: the other end of the connection, or the caller whom a trusted proxy names.
    pub(super) fn caller(&self, headers: &HeaderMap) -> IpAddr {
        let bounds = &self.places.bounds;
        if bounds.is_proxy(self.address) { forwarded::caller(self.address, headers, &bounds.proxies) } else { self.address }
    }

    /// A turn for a request of `caller`. Behind a proxy, callers have no connections of their own: each may have as many
    /// requests in flight as others may have connections. `Err`: it has.
    pub(super) fn turn(&self, caller: IpAddr) -> Result<Option<Share<IpAddr>>, ()> {
        let bounds = &self.places.bounds;
        if caller == self.address || !bounds.is_proxy(self.address) {
            return Ok(None);
        }
        self.places.behind.take(network(caller), 1, |in_hand| in_hand.own < bounds.of_one).map(Some).map_err(drop)
    }

    /// Completes when the connection should make room, unless it is busy.
    pub(super) async fn told_to_end(&self) {
        self.end.notified().await;
    }

    /// Completes when the other end has closed the connection, or its side of it. Never on a connection that this process has with
    /// itself.
    pub(super) async fn hung_up(link: Option<&Self>) {
        let Some(link) = link else { return std::future::pending().await };
        link.held.store(true, Ordering::Release);
        link.closed.notified().await;
    }

    /// See [`Link::hung_up`].
    pub(super) fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire)
    }

    /// The other end has closed its side.
    pub(super) fn hang_up(&self) {
        self.held.store(false, Ordering::Release);
        self.closed.notify_one();
    }

    /// Whether a request of it is being answered.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.state().phase, Phase::Busy { .. })
    }

    /// The head of a request has arrived; returns the request's number.
    pub(super) fn request(&self) -> u64 {
        self.handed.store(false, Ordering::Release);
        let mut state = self.state();
        state.answered = false;
        state.request += 1;
        state.request
    }

    /// The body of a request has not arrived yet.
    pub(super) fn hear(self: &Arc<Self>) {
        let mut state = self.state();
        if let Phase::Idle(rank) = state.phase {
            let mut table = self.places.table();
            if table.idle.remove(&rank).is_some() {
                let rank = table.rank(state.worth);
                state.phase = Phase::Idle(rank);
                table.idle.insert(rank, Arc::clone(self));
            }
        }
    }

    /// A whole request has arrived. The body of one that was refused by its head may end after the response, and then protects
    /// nothing.
    pub(super) fn begin(&self, request: u64) {
        let mut state = self.state();
        if state.request != request || state.answered {
            return;
        }
        if let Phase::Idle(rank) = state.phase {
            let mut table = self.places.table();
            let last = table.idle.remove(&rank).is_none();
            if last {
                table.leaving -= 1;
            }
            state.phase = Phase::Busy { last };
            state.worth = state.worth.max(Worth::Served);
        }
    }

    /// The request is one of a known client.
    pub(super) fn recognise(&self) {
        self.state().worth = Worth::Known;
    }

    /// A response will occupy `burden` until it is sent.
    pub(super) fn bear(&self, burden: Arc<Burden>) {
        self.state().burdens.push(burden);
    }

    /// The response has been handed over as a whole.
    pub(super) fn hand_over(&self) {
        self.handed.store(true, Ordering::Release);
    }

    /// Everything that was handed over has been sent.
    pub(super) fn flushed(self: &Arc<Self>) {
        if !self.handed.load(Ordering::Acquire) {
            return;
        }
        self.handed.store(false, Ordering::Release);
        let mut state = self.state();
        let burdens = std::mem::take(&mut state.burdens);
        state.answered = true;
        self.held.store(false, Ordering::Release);
        if let Phase::Busy { last } = state.phase {
            let mut table = self.places.table();
            if last {
                table.leaving += 1;
                state.phase = Phase::Leaving;
            } else {
                let rank = table.rank(state.worth);
                state.phase = Phase::Idle(rank);
                table.idle.insert(rank, Arc::clone(self));
                if table.open >= self.places.bounds.all {
                    self.places.changed.notify_waiters();
                }
            }
        }
        drop(state);
        drop(burdens);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let (link, network) = (&self.link, network(self.link.address));
        let mut state = link.state();
        let mut table = link.places.table();
        // A body may outlive its connection.
        let left = match std::mem::replace(&mut state.phase, Phase::Leaving) {
            Phase::Idle(rank) => table.idle.remove(&rank).is_none(),
            Phase::Leaving => true,
            Phase::Busy { .. } => false,
        };
        table.leaving -= usize::from(left);
        table.open -= 1;
        if let Some(open) = table.of.get_mut(&network) {
            *open -= 1;
            if *open == 0 {
                table.of.remove(&network);
            }
        }
        drop(table);
        link.places.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
