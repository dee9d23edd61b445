//! Users who approve payments on their phones: a backend asks, the phone looks, approves, and waits for the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use railgate_tests::client::{Account, Client as Connection};
use serde_json::{Value, json};

use super::calls::expected;
use super::world::{Client, Failures, World};

const PHONES: usize = 8;
/// How often each is asked.
const EVERY: Duration = Duration::from_secs(2);
const MOBILE: &str = "/api/v1/mobile";

/// Phones that are in use.
pub struct Phones {
    stops: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Phones {
    pub fn stop(self) {
        self.stops.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().expect("no panics"));
    }
}

/// Enrols the phones, and has them used.
pub fn start(world: &World) -> Phones {
    let stops = Arc::new(AtomicBool::new(false));
    let phone = |n: usize| {
        let (clients, failures, stops) = (Arc::clone(&world.clients), Arc::clone(&world.failures), Arc::clone(&stops));
        let address = world.server.address;
        spawn(move || {
            let client = &clients[n % clients.len()];
            let mut backend = client.account.connect(address).expect("connecting");
            let user = format!("user-{n}");
            // Each payment is above what needs no approval.
            let body = json!({"user": user, "limits": [{"currency": "EUR", "max": 500, "approval_over": 0.01}]}).to_string();
            let made = backend.send("POST", &format!("{MOBILE}/enrollment-codes"), Some(&body)).expect("a code");
            assert_eq!(made.status, 201, "{made:?}");
            let device = Account::enroll_device(address, made.body["code"].as_str().expect("a code")).expect("enrolled");
            let phone = device.connect(address).expect("connecting");
            let mut user = User { backend, phone, name: user };
            for n in 0.. {
                sleep(EVERY);
                if stops.load(Ordering::Relaxed) {
                    return;
                }
                user.pay(client, &failures, n);
            }
        })
    };
    let threads = (0..PHONES).map(phone).collect();
    Phones { stops, threads }
}

struct User {
    backend: Connection,
    phone: Connection,
    name: String,
}

impl User {
    fn pay(&mut self, client: &Client, failures: &Failures, n: u64) -> Option<()> {
        let reference = format!("{}-{n}", self.name);
        let body = json!({"amount": 0.02, "currency": "EUR", "to": "sim:ok", "reference": reference, "user": self.name}).to_string();
        let path = "/api/v1/gateway/settlements";
        let waiting = expected(failures, "a payment of a user", self.backend.send("POST", path, Some(&body)), &[201])?.body;
        client.made.fetch_add(1, Ordering::Relaxed);
        let path = format!("{MOBILE}/approvals/{}", waiting["id"].as_str()?);
        let shown = expected(failures, "the phone looks", self.phone.send("GET", &path, None), &[200])?.body;
        let of = |name: &str| shown[name].clone();
        let what = json!({"amount": of("amount"), "currency": of("currency"), "to": of("to"), "reference": of("reference")});
        let decision = json!({"decision": "approve", "shown": what}).to_string();
        expected(failures, "the phone approves", self.phone.send("POST", &path, Some(&decision)), &[200])?;
        let mut now = Value::Null;
        while now["final"] != true {
            let path = format!("/api/v1/gateway/settlements/{reference}/status?wait=20");
            now = expected(failures, "the phone waits", self.phone.send("GET", &path, None), &[200])?.body;
        }
        expected(failures, "the inbox", self.phone.send("GET", &format!("{MOBILE}/notifications"), None), &[200])?;
        Some(())
    }
}
