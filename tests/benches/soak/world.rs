//! The gateway, its clients with their webhooks and streams, and a provider that takes its time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use railgate::time::parse_rfc3339;
use railgate_tests::binary::Server;
use railgate_tests::client::{Account, enroll};
use railgate_tests::operators::{ADAPTERS, Listening, apply_beside};
use railgate_tests::patience::until;
use railgate_tests::port;
use railgate_tests::postgres::Postgres;
use railgate_tests::stream::Stream;
use railgate_tests::subscriber::Subscriber;
use tempfile::TempDir;

/// Clients, each with a webhook and a reader of its stream.
pub const CLIENTS: usize = 8;
/// How long the slow provider takes for an answer.
const SLOW: Duration = Duration::from_secs(3);
/// Its id.
pub const SLOW_PROVIDER: &str = "slow";
/// What the webhooks are about.
const EVENTS: [&str; 2] = ["settlement.completed", "reversal.completed"];

/// Calls that were not answered as they should.
#[derive(Default)]
pub struct Failures {
    count: AtomicU64,
    first: Mutex<Vec<String>>,
}

impl Failures {
    /// Notes one.
    pub fn add(&self, what: String) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut first = self.first.lock().expect("no panics");
        if first.len() < 5 {
            first.push(what);
        }
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The first of them.
    pub fn first(&self) -> Vec<String> {
        self.first.lock().expect("no panics").clone()
    }
}

/// What a reader of a stream has.
#[derive(Default)]
pub struct Heard {
    pub completed: AtomicU64,
    /// Milliseconds from each event to its arrival, since somebody took them.
    pub lags: Mutex<Vec<u32>>,
}

/// A client of the gateway.
pub struct Client {
    pub account: Account,
    pub receiver: Subscriber,
    /// Payments that it made.
    pub made: AtomicU64,
    pub heard: Arc<Heard>,
}

/// Where the data is.
pub struct Place {
    pub url: String,
    pub failures: Arc<Failures>,
    folder: Option<TempDir>,
}

impl Place {
    /// The database file, if it is one.
    pub fn file(&self) -> Option<PathBuf> {
        self.url.strip_prefix("sqlite:").map(PathBuf::from)
    }
}

pub struct World {
    pub server: Server,
    /// Where its metrics are.
    pub metrics: std::net::SocketAddr,
    pub clients: Arc<Vec<Client>>,
    pub failures: Arc<Failures>,
    pub place: Place,
    pub postgres: Option<Postgres>,
    pub database: String,
    readers: Vec<JoinHandle<()>>,
    ended: Arc<AtomicBool>,
    _slow: Listening,
}

impl World {
    /// Starts it over an empty store.
    pub fn start(over_postgres: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let postgres = over_postgres.then(|| Postgres::start(""));
        let database = postgres.as_ref().map(Postgres::database).unwrap_or_default();
        let url = match &postgres {
            Some(postgres) => postgres.url(&database),
            None => format!("sqlite:{}", folder.path().join("gateway.db").display()),
        };
        let failures: Arc<Failures> = Arc::default();
        let slow = Listening::start(&ADAPTERS, SLOW_PROVIDER, None);
        slow.reply_after(SLOW);
        let keys = folder.path().join("master.keys").display().to_string();
        let metrics = std::net::SocketAddr::from(([127, 0, 0, 1], port::free()));
        let at = metrics.to_string();
        let args = ["--master-keys", &keys, "--metrics-listen", &at];
        assert!(Server::over(&url, &args).stop(), "a graceful end");
        apply_beside(&["--store", &url, "--master-keys", &keys], &[(ADAPTERS.provider)(SLOW_PROVIDER, slow.base_url())]);
        let server = Server::over(&url, &args);
        let clients: Arc<Vec<Client>> = Arc::new((0..CLIENTS).map(|_| client(&server)).collect());
        let ended = Arc::new(AtomicBool::new(false));
        let reader = |n: usize| {
            let (clients, failures, ended, address) = (Arc::clone(&clients), Arc::clone(&failures), Arc::clone(&ended), server.address);
            std::thread::spawn(move || read(&clients[n], address, &failures, &ended))
        };
        let readers = (0..CLIENTS).map(reader).collect();
        let place = Place { url, failures: Arc::clone(&failures), folder: Some(folder) };
        Self { server, metrics, clients, failures, place, postgres, database, readers, ended, _slow: slow }
    }

    /// Payments made, and those of whose completion webhooks and streams told.
    pub fn counts(&self) -> (u64, u64, u64) {
        let sum = |of: &dyn Fn(&Client) -> u64| self.clients.iter().map(of).sum();
        let made = sum(&|client| client.made.load(Ordering::Relaxed));
        (made, sum(&|client| client.receiver.seen().completed), sum(&|client| client.heard.completed.load(Ordering::Relaxed)))
    }

    /// Deliveries that were repeated, and that were not genuine.
    pub fn odd_deliveries(&self) -> (u64, u64) {
        let seen = || self.clients.iter().map(|client| client.receiver.seen());
        (seen().map(|seen| seen.repeated).sum(), seen().map(|seen| seen.forged).sum())
    }

    pub fn until_all_is_told(&self) {
        until("every payment is completed and told", || {
            let (made, by_webhook, by_stream) = self.counts();
            made == by_webhook && made == by_stream
        });
    }

    /// Stops the server; what is stored stays as long as what is returned.
    pub fn end(self) -> (Place, Option<Postgres>) {
        self.ended.store(true, Ordering::SeqCst);
        if !self.server.stop() {
            self.failures.add("the server did not end gracefully".to_owned());
        }
        self.readers.into_iter().for_each(|reader| reader.join().expect("no panics"));
        (self.place, self.postgres)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.folder.take());
    }
}

fn client(server: &Server) -> Client {
    let account = enroll(server.address);
    let receiver = Subscriber::subscribed(&mut account.connect(server.address).expect("connecting"), &EVENTS);
    Client { account, receiver, made: AtomicU64::new(0), heard: Arc::default() }
}

/// Reads the stream of a client to the end of everything. One that is ended, as with its token, is opened again where it was.
fn read(client: &Client, address: std::net::SocketAddr, failures: &Failures, ended: &AtomicBool) {
    let mut position = 0;
    while !ended.load(Ordering::SeqCst) {
        let read = Stream::open(&client.account, address, position).and_then(|mut stream| {
            while let Some(block) = stream.next_block()? {
                let Some((at, event)) = block.event() else { continue };
                if at != position + 1 {
                    failures.add(format!("position {at} follows {position} in a stream"));
                }
                position = at;
                client.heard.completed.fetch_add(u64::from(event["type"] == "settlement.completed"), Ordering::Relaxed);
                let time = event["at"].as_str().and_then(parse_rfc3339).expect("a time");
                client.heard.lags.lock().expect("no panics").push(since(time));
            }
            Ok(())
        });
        if let Err(error) = read
            && !ended.load(Ordering::SeqCst)
        {
            failures.add(format!("a stream broke: {error}"));
        }
    }
}

fn since(time: i64) -> u32 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    u32::try_from((i64::try_from(now.as_millis()).expect("a time") - time).max(0)).unwrap_or(u32::MAX)
}
