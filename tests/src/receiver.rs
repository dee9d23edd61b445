//! A receiver of webhooks that outlives every server, takes deliveries or not, and remembers each.

use std::collections::{HashMap, HashSet};
use std::io::{BufReader, Read as _, Result, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use railgate::rail::HttpRequest;
use railgate::store::record::RecordKind;
use railgate::store::{Scan, Store};
use railgate::webhook::{SignedHeaders, TOLERANCE_S, VerifyError, WebhookSecret, verify};
use serde_json::{Value, json};

use crate::client::{Account, Client, now};
use crate::operators::read;

/// How often a waiter checks that its condition can still become true.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How the receiver treats a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// It is accepted.
    Take,
    /// The response comes a byte at a time.
    TakeSlowly,
    /// The response is an error.
    Refuse,
    /// The connection ends without a response.
    HangUp,
    /// There is no response as long as the gateway runs.
    Hold,
}

/// A received delivery.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Its `webhook-id`.
    pub id: String,
    /// Its body.
    pub body: Vec<u8>,
    /// Whether its signature is right.
    pub genuine: std::result::Result<(), VerifyError>,
    /// What it met.
    pub reaction: Reaction,
}

/// What came so far, and how the next deliveries are treated.
#[derive(Default)]
pub struct Seen {
    secret: Option<WebhookSecret>,
    /// Every delivery, in order.
    pub arrivals: Vec<Arrival>,
    ids: HashSet<String>,
    /// Whether it misbehaves: only at the first attempt of an id, because a third attempt would come minutes later.
    pub difficult: bool,
    /// After this many arrivals, the next new event is held.
    pub hold_from: Option<usize>,
    /// The event that is held.
    pub held: Option<String>,
}

impl Seen {
    fn reaction(&mut self, id: &str) -> Reaction {
        let is_new = self.ids.insert(id.to_owned());
        if !is_new || !self.difficult {
            return Reaction::Take;
        }
        if self.hold_from.take_if(|from| self.arrivals.len() >= *from).is_some() {
            self.held = Some(id.to_owned());
            return Reaction::Hold;
        }
        match self.ids.len() % 61 {
            13 => Reaction::Refuse,
            41 => Reaction::HangUp,
            n if n % 10 == 7 => Reaction::TakeSlowly,
            _ => Reaction::Take,
        }
    }
}

/// The receiver of the webhook. It outlives every server.
pub struct Receiver {
    address: SocketAddr,
    seen: Mutex<Seen>,
    news: Condvar,
}

impl Receiver {
    /// Starts it on a free port.
    pub fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let receiver = Arc::new(Self { address: listener.local_addr().expect("an address"), seen: Mutex::default(), news: Condvar::new() });
        let own = Arc::clone(&receiver);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, own) = (stream.expect("a connection"), Arc::clone(&own));
                // A connection ends with the gateway, possibly in the middle of a request.
                std::thread::spawn(move || own.serve(&stream));
            }
        });
        receiver
    }

    /// What came so far.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: &TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(request) = read(&mut reader, "") {
            let reaction = self.take_in(request);
            let answer: &[u8] = match reaction {
                Reaction::Take | Reaction::TakeSlowly => b"HTTP/1.1 204 No Content\r\n\r\n",
                Reaction::Refuse => b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n",
                Reaction::HangUp => return Ok(()),
                // Nothing more can be read until the other side is gone.
                Reaction::Hold => return reader.read(&mut [0]).map(drop),
            };
            let pieces = if reaction == Reaction::TakeSlowly { 1 } else { answer.len() };
            answer.chunks(pieces).try_for_each(|piece| stream.write_all(piece))?;
        }
        Ok(())
    }

    fn take_in(&self, HttpRequest { headers, body, .. }: HttpRequest) -> Reaction {
        let mut seen = self.seen();
        let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let signed = SignedHeaders::find(header);
        let genuine = signed.and_then(|signed| verify(seen.secret.as_slice(), &signed, &body, now() / 1_000, TOLERANCE_S));
        let id = header(railgate::webhook::ID).unwrap_or_default().to_owned();
        let reaction = seen.reaction(&id);
        seen.arrivals.push(Arrival { id, body, genuine, reaction });
        self.news.notify_all();
        reaction
    }

    /// Waits until the receiver meets a condition; the server at this address must keep running.
    pub fn wait(&self, server: SocketAddr, what: impl Fn(&Seen) -> bool) {
        while !what(&self.seen()) {
            self.rest(server);
        }
    }

    /// Waits until a delivery comes or a short time has passed.
    fn rest(&self, server: SocketAddr) {
        drop(self.news.wait_timeout(self.seen(), LOOK_EVERY).expect("no panics"));
        TcpStream::connect(server).expect("the server is gone before it was killed");
    }
}

/// Creates the webhook and gives the receiver its secret; returns its path.
pub fn make_webhook(client: &mut Client, receiver: &Receiver) -> String {
    let body = json!({ "url": format!("http://{}/hook", receiver.address) });
    let made = client.send("POST", "/api/v1/webhooks", Some(&body.to_string())).expect("an answer");
    assert_eq!(made.status, 201, "{made:?}");
    receiver.seen().secret = Some(WebhookSecret::parse(made.body["secret"].as_str().expect("a secret")).expect("a secret"));
    format!("/api/v1/webhooks/{}", made.body["id"].as_str().expect("an id"))
}

/// Waits until every event is numbered, and then until its deliveries are done; returns the feed as of the time in between. `read` opens
/// the store as it is now.
pub fn drain(server: SocketAddr, account: &Account, webhook: &str, receiver: &Receiver, read: &dyn Fn() -> Arc<dyn Store>) -> Vec<Value> {
    let unnumbered = || read().scan(&Scan::all(RecordKind::Unlogged, 1)).expect("reading");
    while !unnumbered().is_empty() {
        receiver.rest(server);
    }
    let mut client = account.connect(server).expect("connecting");
    let feed = client.feed().expect("the feed");
    while !deliveries(&mut client, webhook, "pending").is_empty() {
        receiver.rest(server);
    }
    feed
}

/// The deliveries of a webhook that have this status.
pub fn deliveries(client: &mut Client, webhook: &str, status: &str) -> Vec<Value> {
    let page = client.send("GET", &format!("{webhook}/deliveries?status={status}"), None).expect("an answer");
    assert_eq!(page.status, 200, "{page:?}");
    page.body["data"].as_array().expect("a page").clone()
}

/// The events of a feed.
pub fn by_id(feed: &[Value]) -> HashMap<&str, &Value> {
    feed.iter().map(|entry| (entry["event"]["id"].as_str().expect("an id"), &entry["event"])).collect()
}

/// Each arrival matches its event, and all arrivals with one id are the same.
pub fn assert_true(arrivals: &[Arrival], feed: &[Value]) {
    let events = by_id(feed);
    let mut bodies: HashMap<&str, &[u8]> = HashMap::new();
    for Arrival { id, body, genuine, .. } in arrivals {
        assert_eq!(*genuine, Ok(()), "{id}");
        let event = events.get(id.as_str()).unwrap_or_else(|| panic!("{id} arrived and is not in the feed"));
        let first = *bodies.entry(id).or_insert(body);
        assert!(first == body, "{id} arrived with two bodies");
        let sent: Value = serde_json::from_slice(body).expect("JSON");
        let told = [&sent["type"], &sent["timestamp"], &sent["data"]["id"], &sent["data"]["reference"], &sent["data"]["sequence"]];
        let happened = ["type", "at", "settlement_id", "reference", "sequence"].map(|member| &event[member]);
        assert_eq!(told, happened, "{id}");
    }
}

/// Everything in the feed was taken at least once.
///
/// # Panics
/// If something never arrived.
pub fn assert_taken(arrivals: &[Arrival], feed: &[Value]) {
    let taken = |arrival: &&Arrival| matches!(arrival.reaction, Reaction::Take | Reaction::TakeSlowly);
    let taken: HashSet<&str> = arrivals.iter().filter(taken).map(|arrival| arrival.id.as_str()).collect();
    let missed: Vec<&Value> = feed.iter().filter(|entry| !taken.contains(entry["event"]["id"].as_str().expect("an id"))).collect();
    assert!(missed.is_empty(), "{} of {} events never arrived: {missed:#?}", missed.len(), feed.len());
}
