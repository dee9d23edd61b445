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
use super::shares::{Share, Shares};
use crate::metrics::Metrics;

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
        let state = State { worth: Worth::Silent, phase: Phase::Idle(rank), burdens: Vec::new() };
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

    /// The head of a request has arrived, and its body not yet.
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

    /// A whole request has arrived.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        if let Phase::Idle(rank) = state.phase {
            let mut table = self.places.table();
            let last = table.idle.remove(&rank).is_none();
            if last {
                table.leaving -= 1;
            }
            state.phase = Phase::Busy { last };
            state.worth = state.worth.max(Worth::Served);
        }
        drop(state);
        self.handed.store(false, Ordering::Release);
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
        let state = link.state();
        let mut table = link.places.table();
        let left = match state.phase {
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
mod tests {
    use super::*;

    fn connections(all: usize, of_one: usize) -> Connections {
        let proxies = vec!["192.0.2.0/24".parse().unwrap()];
        Connections::new(Bounds { all, of_one, proxies }, Arc::default())
    }

    fn enter(connections: &Connections, address: &str) -> Entry {
        Places::enter(&connections.0, address.parse().unwrap())
    }

    fn open(connections: &Connections, address: &str) -> Open {
        match enter(connections, address) {
            Entry::Open(open) => open,
            Entry::Refused | Entry::Full => panic!("no place for {address}"),
        }
    }

    fn is_refused(connections: &Connections, address: &str) -> bool {
        matches!(enter(connections, address), Entry::Refused)
    }

    /// Whether the connection was told to end.
    fn ended(open: &Open) -> bool {
        let state = open.link.state();
        match state.phase {
            Phase::Idle(rank) => !open.link.places.table().idle.contains_key(&rank),
            Phase::Busy { last } => last,
            Phase::Leaving => true,
        }
    }

    /// A request that is answered to its end.
    fn serve(open: &Open) {
        open.link.begin();
        open.link.hand_over();
        open.link.flushed();
    }

    #[test]
    fn an_address_has_its_share_and_proxies_and_this_machine_have_no_bound() {
        let all = connections(100, 2);
        let mut held = vec![open(&all, "198.51.100.1"), open(&all, "198.51.100.1")];
        assert!(is_refused(&all, "198.51.100.1"));
        held.push(open(&all, "198.51.100.2"));
        held.push(open(&all, "2001:db8::1"));
        held.push(open(&all, "2001:db8::ffff:2"));
        assert!(is_refused(&all, "2001:db8::3"), "a /64 is one address");
        held.push(open(&all, "2001:db8:0:1::1"));
        for proxy in ["192.0.2.7", "127.0.0.1", "::1"] {
            held.extend((0..5).map(|_| open(&all, proxy)));
        }
        held.remove(0);
        held.push(open(&all, "198.51.100.1"));
        drop(held);
        let table = all.0.table();
        assert!(table.open == 0 && table.of.is_empty() && table.idle.is_empty() && table.leaving == 0);
    }

    #[test]
    fn strangers_make_room_before_those_who_called_and_those_before_known_clients() {
        let all = connections(4, 100);
        let [known, served, first, second] = [(); 4].map(|()| open(&all, "198.51.100.1"));
        known.link.recognise();
        serve(&known);
        serve(&served);
        for (next, connection) in [first, second, served, known].into_iter().enumerate() {
            assert!(!ended(&connection));
            assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full));
            assert!(ended(&connection), "number {next} was not the one to go");
            drop(connection);
            let busy = open(&all, "198.51.100.2");
            busy.link.begin();
            std::mem::forget(busy);
        }
        assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full), "none is idle");
        assert_eq!(all.0.table().leaving, 0);
    }

    #[test]
    fn a_request_protects_its_connection_once_it_has_arrived_until_its_answer_is_sent() {
        let all = connections(2, 100);
        let (arriving, busy) = (open(&all, "198.51.100.1"), open(&all, "198.51.100.1"));
        arriving.link.hear();
        busy.link.begin();
        assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full));
        assert!(ended(&arriving) && !ended(&busy));
        // It arrives just now: it is answered, and the connection ends afterwards.
        arriving.link.begin();
        assert!(arriving.link.is_busy());
        busy.link.flushed();
        assert!(busy.link.is_busy(), "its response is not complete");
        busy.link.hand_over();
        assert!(busy.link.is_busy(), "its response is not sent");
        busy.link.flushed();
        assert!(!busy.link.is_busy());
        serve(&arriving);
        arriving.link.hand_over();
        arriving.link.flushed();
        assert!(matches!(enter(&all, "198.51.100.2"), Entry::Full));
        assert!(!ended(&busy), "the other one is about to go");
        drop(arriving);
        assert!(matches!(enter(&all, "198.51.100.2"), Entry::Open(_)));
    }

    #[test]
    fn behind_a_proxy_each_caller_has_as_many_requests_as_others_have_connections() {
        let all = connections(100, 2);
        let proxy = open(&all, "192.0.2.7");
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "203.0.113.9".parse().unwrap());
        assert_eq!(open(&all, "198.51.100.1").link.caller(&headers).to_string(), "198.51.100.1", "anybody may send that header");
        let caller = proxy.link.caller(&headers);
        assert_eq!(caller.to_string(), "203.0.113.9");
        let turns = [proxy.link.turn(caller), proxy.link.turn(caller)];
        assert!(turns.iter().all(Result::is_ok) && proxy.link.turn(caller).is_err());
        assert!(proxy.link.turn("203.0.113.10".parse().unwrap()).is_ok());
        drop(turns);
        assert!(proxy.link.turn(caller).is_ok());
        // The proxy's own calls, such as its probes, have no bound.
        let own = proxy.link.caller(&HeaderMap::new());
        assert!([(); 9].iter().all(|()| proxy.link.turn(own).is_ok_and(|turn| turn.is_none())));
    }

    #[tokio::test]
    async fn who_comes_while_all_are_busy_waits_for_the_first_to_become_idle() {
        let all = Arc::new(connections(1, 100));
        let busy = open(&all, "198.51.100.1");
        busy.link.begin();
        let waiting = tokio::spawn({
            let all = Arc::clone(&all);
            async move { all.admit("198.51.100.2".parse().unwrap()).await.is_some() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        busy.link.hand_over();
        busy.link.flushed();
        busy.link.told_to_end().await;
        drop(busy);
        assert!(waiting.await.unwrap());
    }
}
