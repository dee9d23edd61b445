//! Name resolution: concurrent requests for a name share one lookup, and results are cached briefly.
//!
//! Whoever runs a name's servers decides how long they take. So lookups in flight are limited in number, in time and for each
//! client, and a slow name costs one lookup, however many deliveries wait for it. The cache contains addresses, not
//! permissions: each address is checked before each connection.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use railgate::api::Share;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// How many of a name's addresses are used.
const LOOKED_AT: usize = 32;
/// How many names the system resolves at the same time. Each occupies one of the runtime's 512 threads meanwhile.
const PERMITS: usize = 128;
/// How many of them are for one client, mode and line, so that its slow names leave room for the names of others.
const PERMITS_EACH: usize = 4;
/// How many clients without a lookup in flight are kept.
const CLIENTS: usize = 1_024;
/// The timeout of a lookup, from its start: waiting for a turn is not the name's fault.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a result is cached, failures included: long enough for deliveries that are due together.
const REMEMBERED: Duration = Duration::from_secs(5);
/// How many names are cached.
const NAMES: usize = 1_024;

/// A pending lookup of a name's addresses.
pub type Addresses<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// The place of a lookup among those of its client; dropped when the lookup has ended.
#[derive(Debug, Default)]
pub struct Turn(Option<OwnedSemaphorePermit>);

/// Resolves names, and gives up on a name that takes too long.
pub trait Resolve: Send + Sync {
    /// The addresses of a name, in the order in which to try them. The lookup keeps `turn` until it has really ended.
    fn resolve<'a>(&'a self, name: &'a str, turn: Turn) -> Addresses<'a>;
}

/// The system's resolver, with its hosts file and name servers.
#[derive(Debug, Clone)]
pub struct System {
    permits: Arc<Semaphore>,
    /// Asks the system, which blocks the thread.
    ask: fn(&str) -> io::Result<Vec<IpAddr>>,
}

impl Default for System {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(PERMITS)), ask }
    }
}

fn ask(name: &str) -> io::Result<Vec<IpAddr>> {
    Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).take(LOOKED_AT).collect())
}

impl Resolve for System {
    fn resolve<'a>(&'a self, name: &'a str, turn: Turn) -> Addresses<'a> {
        Box::pin(async move {
            let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(io::Error::other)?;
            let (name, ask) = (name.to_owned(), self.ask);
            let lookup = tokio::task::spawn_blocking(move || {
                // Released when the system is done, not when nobody waits for it any more.
                let _held = (permit, turn);
                ask(&name)
            });
            timeout(PATIENCE, lookup).await.map_err(io::Error::from)?.map_err(io::Error::other)?
        })
    }
}

/// Lookups in flight and cached results.
pub(super) struct Lookups {
    resolver: Arc<dyn Resolve>,
    known: Mutex<HashMap<String, Arc<Lookup>>>,
    turns: Turns,
}

/// The places of each client.
#[derive(Default)]
struct Turns(Mutex<HashMap<Share, Arc<Semaphore>>>);

impl Turns {
    fn of(&self, share: Share) -> Arc<Semaphore> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= CLIENTS {
            // A place in use holds on to its semaphore.
            all.retain(|_, places| Arc::strong_count(places) > 1);
        }
        Arc::clone(all.entry(share).or_insert_with(|| Arc::new(Semaphore::new(PERMITS_EACH))))
    }
}

/// One lookup, with its result once there is one.
type Lookup = OnceCell<Resolved>;

struct Resolved {
    at: Instant,
    /// `None`: the name does not resolve, or not in time.
    addresses: Option<Arc<[IpAddr]>>,
}

impl Lookups {
    /// Lookups by this resolver.
    pub(super) fn of(resolver: Arc<dyn Resolve>) -> Self {
        Self { resolver, known: Mutex::default(), turns: Turns::default() }
    }

    /// The first few addresses of a name; `None` if there are none. A lookup for a client waits until the client has a place;
    /// others who ask for the same name meanwhile do not wait for that.
    pub(super) async fn addresses(&self, name: &str, asker: Option<Share>) -> Option<Arc<[IpAddr]>> {
        let places = asker.map(|share| self.turns.of(share));
        let mut turn = None;
        loop {
            let lookup = self.lookup(name);
            // If the first caller gives up, another one that waits does the lookup.
            let answer = lookup.get_or_try_init(async || {
                let free =
                    || places.as_ref().map_or(Some(Turn::default()), |places| Turn::of(Arc::clone(places).try_acquire_owned().ok()?));
                let turn = turn.take().or_else(free).ok_or(NoTurn)?;
                let found = self.resolver.resolve(name, turn).await.ok();
                Ok(Resolved { at: Instant::now(), addresses: found.map(|found| found.into_iter().take(LOOKED_AT).collect()) })
            });
            match (answer.await, &places) {
                (Ok(answer), _) => return answer.addresses.clone(),
                (Err(NoTurn), None) => return None,
                (Err(NoTurn), Some(places)) => turn = Turn::of(Arc::clone(places).acquire_owned().await.ok()?),
            }
        }
    }

    /// The lookup of a name that is in flight or cached, or else a new one.
    fn lookup(&self, name: &str) -> Arc<Lookup> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lookup) = known.get(name).filter(|lookup| !is_over(lookup)) {
            return Arc::clone(lookup);
        }
        if known.len() >= NAMES {
            known.retain(|_, lookup| !is_over(lookup));
        }
        if known.len() >= NAMES {
            let answered = known.iter().filter_map(|(name, lookup)| Some((lookup.get()?.at, name)));
            if let Some(oldest) = answered.min().map(|(_, name)| name.clone()) {
                known.remove(&oldest);
            }
        }
        let lookup = Arc::new(Lookup::new());
        // With all of them in flight, this lookup is not shared.
        if known.len() < NAMES {
            known.insert(name.to_owned(), Arc::clone(&lookup));
        }
        lookup
    }
}

/// The client has no place left.
struct NoTurn;

impl Turn {
    fn of(place: OwnedSemaphorePermit) -> Option<Self> {
        Some(Self(Some(place)))
    }

    /// Whether it counts for a client, and not for the gateway itself.
    pub fn is_of_a_client(&self) -> bool {
        self.0.is_some()
    }
}

/// Whether the result is too old, or nobody waits for it any more.
fn is_over(lookup: &Arc<Lookup>) -> bool {
    match lookup.get() {
        Some(answer) => answer.at.elapsed() >= REMEMBERED,
        None => Arc::strong_count(lookup) == 1,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use railgate::ids::ClientNo;
    use railgate::ledger::Mode;

    use super::*;

    /// Counts the lookups. Names `no…` do not resolve; each lookup takes a second, that of `slow…` too long.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Resolve for Counting {
        fn resolve<'a>(&'a self, name: &'a str, turn: Turn) -> Addresses<'a> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Box::pin(async move {
                let _turn = turn;
                let slow = name.starts_with("slow");
                tokio::time::sleep(if slow { PATIENCE } else { Duration::from_secs(1) }).await;
                match name {
                    name if name.starts_with("no") => Err(io::Error::other("no such name")),
                    _ if slow => Err(io::ErrorKind::TimedOut.into()),
                    _ => Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST); 100]),
                }
            })
        }
    }

    fn counting() -> (Arc<Counting>, Arc<Lookups>) {
        let counting = Arc::new(Counting::default());
        (Arc::clone(&counting), Arc::new(Lookups::of(counting)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_is_looked_up_once_for_all_who_ask_and_remembered_for_a_moment() {
        for (name, found) in [("a.example", Some(LOOKED_AT)), ("no.example", None), ("slow.example", None)] {
            let (counting, lookups) = counting();
            let asked = || counting.0.load(Ordering::SeqCst);
            let together: tokio::task::JoinSet<_> = (0..50)
                .map(|_| {
                    let lookups = Arc::clone(&lookups);
                    async move { lookups.addresses(name, None).await.map(|found| found.len()) }
                })
                .collect();
            let began = Instant::now();
            assert!(together.join_all().await.iter().all(|answer| *answer == found), "{name}");
            assert!(began.elapsed() <= PATIENCE + Duration::from_millis(10), "{name}: {:?}", began.elapsed());
            tokio::time::advance(REMEMBERED - Duration::from_millis(10)).await;
            lookups.addresses(name, None).await;
            assert_eq!(asked(), 1, "{name}");
            tokio::time::advance(Duration::from_millis(10)).await;
            lookups.addresses(name, None).await;
            assert_eq!(asked(), 2, "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_its_turn_is_not_taken_for_a_slow_name() {
        static BUSY: AtomicBool = AtomicBool::new(true);
        let ask = |name: &str| {
            while name.starts_with("slow") && BUSY.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])
        };
        let lookups = Arc::new(Lookups::of(Arc::new(System { permits: Arc::new(Semaphore::new(1)), ask })));
        let begin = |name: &'static str| {
            let lookups = Arc::clone(&lookups);
            tokio::spawn(async move { lookups.addresses(name, None).await })
        };
        let (slow, next) = (begin("slow.example"), begin("a.example"));
        // Both have started, in this order.
        tokio::task::yield_now().await;
        tokio::time::advance(PATIENCE).await;
        let (slow, waits) = (slow.await.unwrap(), !next.is_finished());
        BUSY.store(false, Ordering::SeqCst);
        assert!(slow.is_none() && waits, "the system was busy");
        assert!(next.await.unwrap().is_some());
    }

    fn client(no: u32) -> Option<Share> {
        Some(Share { client: ClientNo(no), mode: Mode::Sandbox, troubled: false, push: false })
    }

    #[tokio::test(start_paused = true)]
    async fn slow_names_of_a_client_leave_the_others_their_places() {
        let (counting, lookups) = counting();
        let ask = |name: String, asker| {
            let lookups = Arc::clone(&lookups);
            tokio::spawn(async move { lookups.addresses(&name, asker).await })
        };
        let slow: Vec<_> = (0..PERMITS).map(|n| ask(format!("slow{n}.example"), client(1))).collect();
        // It also wants the name that others need.
        let shared = ask("a.example".to_owned(), client(1));
        while lookups.known.lock().unwrap().len() <= PERMITS {
            tokio::task::yield_now().await;
        }
        let began = Instant::now();
        assert!(lookups.addresses("a.example", client(2)).await.is_some());
        assert!(
            lookups
                .addresses("b.example", Some(Share { client: ClientNo(1), mode: Mode::Live, troubled: false, push: false }))
                .await
                .is_some()
        );
        assert_eq!(began.elapsed().as_secs(), 2, "a second each, as if they were alone");
        assert_eq!(counting.0.load(Ordering::SeqCst), PERMITS_EACH + 2);
        assert!(shared.await.unwrap().is_some());
        for answer in slow {
            assert!(answer.await.unwrap().is_none());
        }
        assert_eq!(counting.0.load(Ordering::SeqCst), PERMITS + 3, "each had its turn");
    }

    #[tokio::test(start_paused = true)]
    async fn a_lookup_that_nobody_waits_for_keeps_its_place_until_it_ends() {
        static ENDED: AtomicBool = AtomicBool::new(false);
        let ask = |_: &str| {
            while !ENDED.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])
        };
        let lookups = Arc::new(Lookups::of(Arc::new(System { permits: Arc::new(Semaphore::new(PERMITS)), ask })));
        let begin = |n: usize| {
            let lookups = Arc::clone(&lookups);
            tokio::spawn(async move { lookups.addresses(&format!("slow{n}.example"), client(1)).await })
        };
        let slow: Vec<_> = (0..PERMITS_EACH).map(begin).collect();
        let places = lookups.turns.of(client(1).unwrap());
        while places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        tokio::time::advance(PATIENCE).await;
        for answer in slow {
            assert!(answer.await.unwrap().is_none());
        }
        assert_eq!(places.available_permits(), 0);
        ENDED.store(true, Ordering::SeqCst);
        assert!(places.acquire().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_up_that_its_first_asker_gave_up_is_made_by_the_next() {
        let (counting, lookups) = counting();
        assert!(timeout(Duration::from_millis(10), lookups.addresses("a.example", None)).await.is_err());
        assert!(lookups.addresses("a.example", None).await.is_some());
        assert_eq!(counting.0.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_names_are_remembered_than_there_is_room_for() {
        let (_, lookups) = counting();
        let waiting: Vec<_> = (0..NAMES + 9).map(|n| lookups.lookup(&format!("{n}.example"))).collect();
        let size = || lookups.known.lock().unwrap().len();
        assert_eq!(size(), NAMES);
        assert!(lookups.addresses("a.example", None).await.is_some(), "not shared, but answered");
        assert_eq!(size(), NAMES);
        drop(waiting);
        assert!(lookups.addresses("a.example", None).await.is_some());
        assert_eq!(size(), 1);
        for n in 0..NAMES {
            lookups.lookup(&format!("{n}.example")).set(Resolved { at: Instant::now(), addresses: None }).ok().unwrap();
        }
        assert_eq!(size(), NAMES, "the oldest made room");
    }
}
