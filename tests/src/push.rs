//! A push service on this machine (RFC 8030): the gateway sends to it, and it hands each message to whoever asks for it next.
//!
//! | request | answer |
//! |---|---|
//! | `POST /p/NAME` | 201; the message is kept under the name, which whoever subscribes chooses |
//! | `GET /p/NAME` | the oldest message under the name as it came, once there is one; it is kept no longer |
//! | `POST /browsers` | the subscription of a browser: `PushSubscription.toJSON()` |
//! | `GET /browsers/NAME` | as `GET /p/NAME`, decrypted: what a browser hands to its service worker |

use std::collections::{HashMap, VecDeque};
use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use railgate::push::{SubscriptionKeys, decrypt};
use railgate::rail::{HttpReply, HttpRequest};
use serde_json::json;

use crate::operators::{read, write};

/// What all browsers have as keys: only their names differ.
const PRIVATE: [u8; 32] = [3; 32];
const AUTH: [u8; 16] = [5; 16];

/// A running push service. It runs as long as the process.
pub struct PushService {
    /// Its address: `http://127.0.0.1:PORT`.
    pub origin: String,
}

#[derive(Default)]
struct Kept {
    messages: Mutex<HashMap<String, VecDeque<Vec<u8>>>>,
    came: Condvar,
    browsers: Mutex<u32>,
}

impl PushService {
    /// Starts one on a free port.
    ///
    /// # Panics
    /// If no port can be had.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("bound"));
        let (kept, base) = (Arc::new(Kept::default()), origin.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, base) = (Arc::clone(&kept), base.clone());
                std::thread::spawn(move || converse(stream, &kept, &base));
            }
        });
        Self { origin }
    }
}

fn converse(stream: TcpStream, kept: &Kept, base: &str) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream, base) {
        let reply = kept.serve(&request, base);
        if stream.get_mut().write_all(&write(&reply)).is_err() {
            return;
        }
    }
}

fn keys() -> SubscriptionKeys {
    SubscriptionKeys::of(&PRIVATE, AUTH).expect("a key")
}

impl Kept {
    fn serve(&self, request: &HttpRequest, base: &str) -> HttpReply {
        let parts: Vec<&str> = request.url.trim_start_matches(base).trim_start_matches('/').split('/').collect();
        let (status, body) = match (request.method, &parts[..]) {
            ("POST", ["p", name]) => {
                let mut messages = self.messages.lock().expect("no panics");
                messages.entry((*name).to_owned()).or_default().push_back(request.body.clone());
                self.came.notify_all();
                (201, Vec::new())
            }
            ("GET", ["p", name]) => (200, self.next(name)),
            ("POST", ["browsers"]) => {
                let mut browsers = self.browsers.lock().expect("no panics");
                *browsers += 1;
                let (p256dh, auth) = keys().texts();
                let subscription = json!({
                    "endpoint": format!("{base}/p/browser-{browsers}"), "expirationTime": null, "keys": {"p256dh": p256dh, "auth": auth},
                });
                (201, subscription.to_string().into_bytes())
            }
            ("GET", ["browsers", name]) => (200, decrypt(&keys(), &PRIVATE, &self.next(name)).expect("a message for this browser")),
            _ => (404, Vec::new()),
        };
        HttpReply { status, headers: Vec::new(), body }
    }

    /// The next message under a name, once there is one.
    fn next(&self, name: &str) -> Vec<u8> {
        let mut messages = self.messages.lock().expect("no panics");
        loop {
            if let Some(message) = messages.get_mut(name).and_then(VecDeque::pop_front) {
                return message;
            }
            messages = self.came.wait(messages).expect("no panics");
        }
    }
}
