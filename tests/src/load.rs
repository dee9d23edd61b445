//! Load for gateways that are killed, or lose their database, at any moment: payments of all kinds, reversals, operators that answer
//! late or never, and a person who decides about what waits. Remembers what was answered.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Account, Client, Response};

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
const REVIEWS: &str = "/api/v1/operator/reviews";
/// As many as a prime number, so that every kind of payment is reversed too.
pub const SCENARIOS: &[&str] = &[
    "sim:ok",
    "sim:ok",
    "sim:ok",
    "sim:failover",
    "sim:timeout-then-ok",
    "sim:decline-over_limit",
    "msisdn:+254700000001",
    "sim:late-ok-after-fail",
    "sim:out-of-order",
    "sim:ok",
    "sim:duplicate-callback",
];
/// One in this many creates is followed by a reversal: alternately of the same settlement, which has hardly been sent yet, and
/// of an earlier one.
const REVERSE_EVERY: u64 = 4;
/// After so long everybody asks for a person what has no end.
const DAY_AND_MORE_MS: u64 = 25 * 3_600_000;
/// A server records the first 60 refusals of an hour one by one, but not in the order in which they are answered.
const REFUSALS_RECORDED: u32 = 40;
/// A server that says when to come again says so in whole seconds: nobody waits longer than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How many rounds a test that disturbs goes: `RAILGATE_ROUNDS`, or as many as it has by default.
pub fn rounds(default: u64) -> u64 {
    std::env::var("RAILGATE_ROUNDS").map_or(default, |rounds| rounds.parse().expect("RAILGATE_ROUNDS is a number"))
}

/// The acknowledged and the attempted operations.
#[derive(Default)]
pub struct Answered {
    /// Reference and id of every settlement.
    pub created: HashMap<String, String>,
    /// Those since the last [`Answered::turn_over`].
    pub recent: HashMap<String, String>,
    /// References of the settlements that were to be reversed, acknowledged or not.
    pub tried: HashSet<String>,
    /// The reversals that were answered.
    pub reversals: Vec<Reversal>,
    /// Reference and id of the settlements that an operator never answers.
    pub silent: HashMap<String, String>,
    /// The decisions about reviews that were answered, by the settlement's reference.
    pub decided: HashMap<String, &'static str>,
    /// How many calls had no definite answer, because a connection broke or there was no store.
    pub unclear: u64,
    /// How many reversals the servers that run now have refused.
    refused: u32,
    /// Payments of earlier rounds that were carried out and not reversed, and of this one.
    earlier: Vec<String>,
    fresh: Vec<String>,
}

impl Answered {
    /// How many operations were acknowledged.
    pub fn operations(&self) -> usize {
        self.created.len() + self.reversals.len() + self.silent.len() + self.decided.len()
    }

    /// A new server takes the place of the one that had the load.
    pub fn restarted(&mut self) {
        self.refused = 0;
        self.turn_over();
    }

    /// The payments made so far count as earlier ones.
    pub fn turn_over(&mut self) {
        self.recent.clear();
        let fresh = std::mem::take(&mut self.fresh);
        self.earlier.extend(fresh);
    }
}

/// An acknowledged reversal.
pub struct Reversal {
    /// What it is of.
    pub reference: String,
    /// The nonce of the call.
    pub nonce: String,
    /// Its status.
    pub status: u16,
    /// The code of its problem.
    pub code: String,
    /// Whether the audit trail must have it.
    pub recorded: bool,
}

/// Where the next connection goes, by the number of calls in a row that had no definite answer; `None` for the end.
pub type Way<'w> = &'w (dyn Fn(usize) -> Option<SocketAddr> + Sync);

/// A client that pays, a client whose payments nobody answers and whose clock travels, and a person who decides.
pub struct Load {
    /// The client that pays.
    pub account: Account,
    silent: Account,
    person: Account,
    next: AtomicU64,
    answered: Mutex<Answered>,
    news: Condvar,
}

impl Load {
    /// Over accounts that exist.
    pub fn of(account: Account, silent: Account, person: Account) -> Self {
        Self { account, silent, person, next: AtomicU64::new(0), answered: Mutex::default(), news: Condvar::new() }
    }

    /// What was answered so far.
    pub fn answered(&self) -> MutexGuard<'_, Answered> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until enough was answered, or `over`; returns whether it was.
    pub fn wait(&self, enough: impl Fn(&Answered) -> bool, over: impl Fn() -> bool) -> bool {
        let mut answered = self.answered();
        while !enough(&answered) && !over() {
            answered = self.news.wait_timeout(answered, Duration::from_millis(20)).unwrap_or_else(PoisonError::into_inner).0;
        }
        enough(&answered)
    }

    /// Creates and reverses settlements on one connection after the other, until there is no way any more.
    pub fn pay(&self, way: Way<'_>) {
        let mut caller = Caller::new(self, &self.account, way);
        loop {
            let n = self.next.fetch_add(1, Ordering::SeqCst);
            let to = SCENARIOS[(n % SCENARIOS.len() as u64) as usize];
            let reference = format!("k-{n}");
            let Some(id) = caller.create(&reference, to) else { return };
            let mut answered = self.answered();
            answered.recent.insert(reference.clone(), id.clone());
            answered.created.insert(reference.clone(), id);
            self.news.notify_all();
            if !n.is_multiple_of(REVERSE_EVERY) {
                if to == "sim:ok" {
                    answered.fresh.push(reference);
                }
                continue;
            }
            let left = if n.is_multiple_of(2 * REVERSE_EVERY) { None } else { answered.earlier.pop() };
            let reference = left.unwrap_or(reference);
            answered.tried.insert(reference.clone());
            drop(answered);
            let asked = caller.ask("POST", &format!("{SETTLEMENTS}/{reference}/reverse"), None);
            let Asked::Answered(response) = asked else {
                if matches!(asked, Asked::Over) {
                    return;
                }
                continue;
            };
            assert!(matches!(response.status, 200 | 201 | 409), "{response:?}");
            let code = response.code().to_owned();
            let mut answered = self.answered();
            let refused = response.status == 409;
            answered.refused += u32::from(refused);
            let recorded = !refused || answered.refused <= REFUSALS_RECORDED;
            answered.reversals.push(Reversal { reference, nonce: response.nonce, status: response.status, code, recorded });
        }
    }

    /// Decides about what waits for a person, makes a payment that no operator answers, and lets a day pass for it, until there is no way
    /// any more.
    pub fn decide(&self, way: Way<'_>) {
        let (mut payer, mut person) = (Caller::new(self, &self.silent, way), Caller::new(self, &self.person, way));
        while person.decide_all().is_some() {
            let n = self.next.fetch_add(1, Ordering::SeqCst);
            let reference = format!("s-{n}");
            let Some(id) = payer.create(&reference, "sim:timeout-never") else { return };
            self.answered().silent.insert(reference, id);
            let advance = json!({ "advance_ms": DAY_AND_MORE_MS }).to_string();
            // If the answer is lost, the next advance goes farther.
            match payer.ask("PUT", "/api/v1/simulator/clock", Some(&advance)) {
                Asked::Answered(response) => assert_eq!(response.status, 200, "{response:?}"),
                Asked::Unclear => {}
                Asked::Over => return,
            }
        }
    }
}

enum Asked {
    Answered(Response),
    /// The call may have been carried out.
    Unclear,
    Over,
}

/// One connection after the other.
struct Caller<'l> {
    load: &'l Load,
    account: &'l Account,
    way: Way<'l>,
    client: Option<Client>,
    /// How many calls in a row had no definite answer.
    tries: usize,
    /// The reviews about which a decision was sent whose answer was lost.
    perhaps: HashSet<String>,
}

impl<'l> Caller<'l> {
    fn new(load: &'l Load, account: &'l Account, way: Way<'l>) -> Self {
        Self { load, account, way, client: None, tries: 0, perhaps: HashSet::new() }
    }

    fn ask(&mut self, method: &str, path: &str, body: Option<&str>) -> Asked {
        let Some(address) = (self.way)(self.tries) else { return Asked::Over };
        if self.client.is_none() {
            self.client = self.account.connect(address).ok();
        }
        let sent = self.client.as_mut().map(|client| client.send(method, path, body));
        match sent {
            Some(Ok(response)) if ![503, 504].contains(&response.status) => {
                self.tries = 0;
                return Asked::Answered(response);
            }
            Some(Ok(response)) => {
                let code = if response.status == 503 { "store_unavailable" } else { "timeout" };
                assert_eq!(response.code(), code, "{response:?}");
                assert_eq!(response.header("retry-after").is_some(), response.status == 503, "{response:?}");
                let after =
                    response.header("retry-after").and_then(|seconds| seconds.parse().ok()).map_or(LONGEST_PAUSE, Duration::from_secs);
                // As the server asks.
                drop(self.load.news.wait_timeout(self.load.answered(), after.min(LONGEST_PAUSE)));
            }
            Some(Err(_)) | None => {}
        }
        self.client = None;
        self.tries += 1;
        self.load.answered().unclear += 1;
        if (self.way)(self.tries).is_none() { Asked::Over } else { Asked::Unclear }
    }

    /// Creates a settlement, and asks again with the same reference as long as the answer is unclear; returns its id.
    fn create(&mut self, reference: &str, to: &str) -> Option<String> {
        let body = json!({"amount": "0.01", "currency": "EUR", "to": to, "reference": reference}).to_string();
        loop {
            match self.ask("POST", SETTLEMENTS, Some(&body)) {
                Asked::Answered(response) => {
                    assert!(matches!(response.status, 200 | 201), "{response:?}");
                    return Some(response.body["id"].as_str().expect("an id").to_owned());
                }
                Asked::Unclear => {}
                Asked::Over => return None,
            }
        }
    }

    /// Decides about everything that waits; `None` if there is no way any more.
    fn decide_all(&mut self) -> Option<()> {
        let page = match self.ask("GET", &format!("{REVIEWS}?all=true&limit=50"), None) {
            Asked::Answered(response) => response,
            Asked::Unclear => return Some(()),
            Asked::Over => return None,
        };
        assert_eq!(page.status, 200, "{page:?}");
        for review in page.body["data"].as_array().expect("a page") {
            let id = review["id"].as_str().expect("an id");
            let resolution = resolution(review);
            let body = json!({"resolution": resolution, "evidence": "statement 7, line 12", "reason": "the bank wrote"}).to_string();
            match self.ask("POST", &format!("{REVIEWS}/{id}/resolve"), Some(&body)) {
                Asked::Answered(response) if response.status == 200 => {
                    self.load.answered().decided.insert(review["reference"].as_str().expect("a reference").to_owned(), resolution);
                }
                Asked::Answered(response) => {
                    let again = matches!(response.status, 404 | 409) && self.perhaps.contains(id);
                    assert!(again, "{id} waits, and cannot be decided about: {response:?}");
                }
                Asked::Unclear => drop(self.perhaps.insert(id.to_owned())),
                Asked::Over => return None,
            }
        }
        Some(())
    }
}

/// What a person finds out: that half of the payments without an answer were carried out.
fn resolution(review: &Value) -> &'static str {
    if review["reason"] != "no_end_for_a_day" {
        return "accept_discrepancy";
    }
    let id = review["id"].as_str().expect("an id");
    if id.bytes().map(u64::from).sum::<u64>().is_multiple_of(2) { "confirmed_completed" } else { "confirmed_failed" }
}
