//! The calls: connections that send on a schedule, or as fast as they are answered and told.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use railgate_tests::client::{Client as Connection, Response};
use serde_json::json;

use super::world::{CLIENTS, Client, Failures, SLOW_PROVIDER, World};

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
/// Connections of each client.
const LANES: usize = 4;
/// Without a schedule, how many payments of a client may wait to be told.
const AHEAD: u64 = 64;
/// A payment that is reversed was made so many before: it has been told.
const BEFORE: u64 = 100;
/// How often a payment goes through the slow provider.
const SLOW_EVERY: Duration = Duration::from_millis(250);

/// How long calls of a kind took, in microseconds, since somebody took them. A call that should have left earlier counts from then.
#[derive(Default)]
pub struct Took {
    pub create: Mutex<Vec<u32>>,
    pub read: Mutex<Vec<u32>>,
}

struct Shared {
    clients: Arc<Vec<Client>>,
    failures: Arc<Failures>,
    stops: AtomicBool,
    answered: AtomicU64,
    took: Took,
}

/// A load that runs.
pub struct Load {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts it, with so many calls a second, or as many as are answered.
    pub fn start(world: &World, rate: Option<f64>) -> Self {
        let shared = Arc::new(Shared {
            clients: Arc::clone(&world.clients),
            failures: Arc::clone(&world.failures),
            stops: AtomicBool::new(false),
            answered: AtomicU64::new(0),
            took: Took::default(),
        });
        let address = world.server.address;
        let begun = Instant::now();
        let lane = |n: usize| {
            let shared = Arc::clone(&shared);
            let account = shared.clients[n % CLIENTS].account.clone();
            let every = rate.map(|rate| Duration::from_secs_f64((CLIENTS * LANES) as f64 / rate));
            spawn(move || {
                let connection = account.connect(address).expect("connecting");
                let first = every.map_or(begun, |every| begun + every.mul_f64(n as f64 / (CLIENTS * LANES) as f64));
                Lane { shared, connection, n, first, every, made: 0 }.work();
            })
        };
        let mut threads: Vec<_> = (0..CLIENTS * LANES).map(lane).collect();
        threads.push({
            let shared = Arc::clone(&shared);
            spawn(move || pay_slowly(&shared, address))
        });
        Self { shared, threads }
    }

    /// Calls that were answered.
    pub fn answered(&self) -> u64 {
        self.shared.answered.load(Ordering::Relaxed)
    }

    pub fn took(&self) -> &Took {
        &self.shared.took
    }

    pub fn stop(self) {
        self.shared.stops.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().expect("no panics"));
    }
}

/// One connection.
struct Lane {
    shared: Arc<Shared>,
    connection: Connection,
    n: usize,
    first: Instant,
    every: Option<Duration>,
    made: u64,
}

impl Lane {
    fn work(mut self) {
        for n in 0.. {
            let due = self.every.map(|every| self.first + every * n);
            if let Some(due) = due {
                sleep(due.saturating_duration_since(Instant::now()));
            }
            if self.shared.stops.load(Ordering::Relaxed) {
                return;
            }
            self.one(n, due.unwrap_or_else(Instant::now));
            self.shared.answered.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn one(&mut self, n: u32, due: Instant) {
        let shared = Arc::clone(&self.shared);
        match n % 10 {
            0 | 2 | 4 | 6 => {
                self.let_them_be_told();
                let due = if self.every.is_some() { due } else { Instant::now() };
                let body = json!({"amount": 0.01, "currency": "EUR", "to": "sim:ok", "reference": self.reference(self.made), "description": "Invoice of November"});
                if self.call("POST", SETTLEMENTS, Some(&body.to_string()), &[201]).is_some() {
                    self.made += 1;
                    self.client().made.fetch_add(1, Ordering::Relaxed);
                    note(&shared.took.create, due);
                }
            }
            8 => _ = self.call("GET", &format!("{SETTLEMENTS}?limit=50"), None, &[200]),
            9 if self.made > BEFORE => {
                let path = format!("{SETTLEMENTS}/{}/reverse", self.reference(self.made - BEFORE));
                self.call("POST", &path, None, &[201]);
            }
            _ => {
                let path = format!("{SETTLEMENTS}/{}/status", self.reference(self.made.saturating_sub(1 + u64::from(n % 3))));
                if self.made > 0 && self.call("GET", &path, None, &[200]).is_some() {
                    note(&shared.took.read, due);
                }
            }
        }
    }

    fn client(&self) -> &Client {
        &self.shared.clients[self.n % CLIENTS]
    }

    fn reference(&self, n: u64) -> String {
        format!("soak-{}-{n}", self.n)
    }

    /// Without a schedule, waits until the webhooks have followed.
    fn let_them_be_told(&self) {
        let waiting = || self.client().made.load(Ordering::Relaxed) > self.client().receiver.seen().completed + AHEAD;
        while self.every.is_none() && waiting() && !self.shared.stops.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(1));
        }
    }

    fn call(&mut self, method: &str, path: &str, body: Option<&str>, statuses: &[u16]) -> Option<Response> {
        let answer = self.connection.send(method, path, body);
        expected(&self.shared.failures, &format!("{method} {path}"), answer, statuses)
    }
}

/// The response if it is as it should be; otherwise a failure is noted.
pub fn expected(failures: &Failures, call: &str, answer: std::io::Result<Response>, statuses: &[u16]) -> Option<Response> {
    match answer {
        Ok(response) if statuses.contains(&response.status) => Some(response),
        Ok(response) => {
            failures.add(format!("{call}: {} {}", response.status, response.body));
            None
        }
        Err(error) => {
            failures.add(format!("{call}: {error}"));
            None
        }
    }
}

fn note(took: &Mutex<Vec<u32>>, since: Instant) {
    took.lock().expect("no panics").push(u32::try_from(since.elapsed().as_micros()).unwrap_or(u32::MAX));
}

/// Pays through the slow provider, now and then.
fn pay_slowly(shared: &Shared, address: std::net::SocketAddr) {
    let client = &shared.clients[0];
    let mut connection = client.account.connect(address).expect("connecting");
    for n in 0.. {
        sleep(SLOW_EVERY);
        if shared.stops.load(Ordering::Relaxed) {
            return;
        }
        let body = json!({"amount": 0.01, "currency": "EUR", "to": "msisdn:+254700000001", "reference": format!("slow-{n}"), "provider": SLOW_PROVIDER});
        let answer = connection.send("POST", SETTLEMENTS, Some(&body.to_string()));
        if expected(&shared.failures, "a payment through the slow provider", answer, &[201]).is_some() {
            client.made.fetch_add(1, Ordering::Relaxed);
        }
    }
}
