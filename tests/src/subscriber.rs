//! A receiver of webhooks that verifies each delivery and tells each event from its repeats.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use railgate::rail::{HttpReply, HttpRequest};
use railgate::time::parse_rfc3339;
use railgate::webhook::{ID, SignedHeaders, TOLERANCE_S, WebhookSecret, verify};
use serde_json::{Value, json};

use crate::client::{Client, now};
use crate::operators::{read, write};

/// What has arrived.
#[derive(Default)]
pub struct Seen {
    secret: Option<WebhookSecret>,
    /// Hashes of the ids: for hours, there are millions.
    ids: HashSet<u64>,
    hashes: RandomState,
    /// Payments of whose completion it was told.
    pub completed: u64,
    /// Deliveries of events that had arrived before.
    pub repeated: u64,
    /// Deliveries whose signature was not right.
    pub forged: u64,
    /// Milliseconds from each event to its first arrival, since somebody took them.
    pub lags: Vec<u32>,
}

impl Seen {
    /// How many different events have arrived.
    pub fn distinct(&self) -> usize {
        self.ids.len()
    }

    fn take_in(&mut self, request: &HttpRequest) -> u16 {
        let header = |name: &str| request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let genuine = SignedHeaders::find(header)
            .and_then(|signed| verify(self.secret.as_slice(), &signed, &request.body, now() / 1_000, TOLERANCE_S));
        if genuine.is_err() {
            self.forged += 1;
            return 401;
        }
        if !self.ids.insert(self.hashes.hash_one(header(ID))) {
            self.repeated += 1;
            return 204;
        }
        let body: Value = serde_json::from_slice(&request.body).expect("a signed message is JSON");
        self.completed += u64::from(body["type"] == "settlement.completed");
        let at = body["timestamp"].as_str().and_then(parse_rfc3339).expect("a timestamp");
        self.lags.push(u32::try_from((now() - at).max(0)).unwrap_or(u32::MAX));
        204
    }
}

/// A running receiver, which outlives every server. It runs as long as the process.
pub struct Subscriber {
    url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Subscriber {
    /// Starts one on a free port, and has the client's events sent there: those of these types, or all if there are none.
    ///
    /// # Panics
    /// If no port can be had, or the webhook is refused.
    pub fn subscribed(client: &mut Client, events: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let mut body = json!({ "url": format!("{url}/hook") });
        if !events.is_empty() {
            body["events"] = json!(events);
        }
        let made = client.send("POST", "/api/v1/webhooks", Some(&body.to_string())).expect("an answer");
        assert_eq!(made.status, 201, "{made:?}");
        let secret = made.body["secret"].as_str().and_then(|secret| WebhookSecret::parse(secret).ok());
        seen.lock().expect("no panics").secret = Some(secret.expect("a secret"));
        let subscriber = Self { url, seen };
        subscriber.listen(listener);
        subscriber
    }

    /// What has arrived. As long as it is held, nothing is received.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("no panics")
    }

    fn listen(&self, listener: TcpListener) {
        let (seen, base) = (Arc::clone(&self.seen), self.url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, base) = (Arc::clone(&seen), base.clone());
                std::thread::spawn(move || converse(stream, &seen, &base));
            }
        });
    }
}

fn converse(stream: TcpStream, seen: &Mutex<Seen>, base: &str) {
    let _ = stream.set_nodelay(true);
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream, base) {
        let status = seen.lock().expect("no panics").take_in(&request);
        let reply = HttpReply { status, headers: Vec::new(), body: Vec::new() };
        if stream.get_mut().write_all(&write(&reply)).is_err() {
            return;
        }
    }
}
