//! The operators of a simulated deployment, with books of their own, and the protocol that they speak.
//!
//! The books are the truth about who was paid. An operator executes every payment that reaches it and that it does not know, and, unless
//! it recognises repeats, those that it knows as well: once for each request.

use std::collections::BTreeMap;

use crate::api::{Action, RailCall};
use crate::ledger::Mode;
use crate::money::Amount;
use crate::rail::{CallbackError, Carried, FailureCode, Heard, HttpReply, HttpRequest, Inbound, Link, Rail, RailAnswer, Request};
use crate::route::{Capabilities, FeeRefund, FeeRule, ProviderSpec, Units};
use crate::time::Millis;

use super::random::Random;
use super::statements::COLUMNS;

/// How many operators there are.
pub(super) const OPERATORS: usize = 4;
/// The fee of each payment through an operator, in minor units.
pub(super) const FEE: i64 = 7;
const TAG: &str = "x-wire-key";

/// The protocol: `PUT` and `GET` of `{base}/p/{key}` for payments and `{base}/r/{key}` for reversals. An answer is a word.
pub(super) struct Wire;

impl Rail for Wire {
    fn kind(&self) -> &'static str {
        "wire"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: false, reverse: true, partial_reverse: true, inquiry: true, idempotent_submit: true }
    }

    fn encode(&self, call: &RailCall, link: &Link<'_>) -> Request {
        let base = link.provider.base_url.as_deref().unwrap_or_default();
        let (method, place) = match call.action {
            Action::Submit => ("PUT", "p"),
            Action::Inquire => ("GET", "p"),
            Action::Reverse => ("PUT", "r"),
            Action::InquireReversal => ("GET", "r"),
        };
        let paid_as = call.paid_as.as_ref().map_or("", |(key, _)| key);
        let body = format!("{} {paid_as}", call.money.minor());
        Request::Http(HttpRequest::new(method, format!("{base}/{place}/{}", call.rail_key)).body(body))
    }

    fn decode(&self, call: &RailCall, _: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
        Heard::Answer(match (reply.status, call.action) {
            (200, _) => said(&reply.body).unwrap_or(RailAnswer::Unknown),
            (404, Action::Inquire | Action::InquireReversal) => RailAnswer::NotSent,
            _ => RailAnswer::Unknown,
        })
    }

    fn callback_key(&self, inbound: &Inbound<'_>, provider: &ProviderSpec) -> Result<String, CallbackError> {
        let header = |name: &str| inbound.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        // Who knows the operator's own name is the operator.
        if header("authorization") != Some(provider.id.as_str()) {
            return Err(CallbackError::Unauthenticated);
        }
        header(TAG).map(str::to_owned).ok_or(CallbackError::Malformed)
    }

    fn decode_callback(&self, _: &RailCall, inbound: &Inbound<'_>) -> Result<RailAnswer, CallbackError> {
        said(inbound.body).ok_or(CallbackError::Malformed)
    }
}

fn said(body: &[u8]) -> Option<RailAnswer> {
    let declined = |elsewhere_ok| RailAnswer::Declined { code: FailureCode::OverLimit, elsewhere_ok, rail_code: None };
    Some(match std::str::from_utf8(body).ok()? {
        "paid" => RailAnswer::Completed { rail_reference: None },
        "taken" => RailAnswer::Accepted { rail_reference: None },
        "refused" => declined(false),
        "elsewhere" => declined(true),
        "returned" => RailAnswer::Returned { rail_code: None },
        _ => return None,
    })
}

fn fee() -> Units {
    Amount::parse("0.07").ok().and_then(Units::of).unwrap_or_default()
}

/// What became of a payment or a reversal at an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Taken,
    Done,
    Refused { elsewhere: bool },
    Returned,
}

impl Fate {
    const fn word(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Done => "paid",
            Self::Refused { elsewhere: false } => "refused",
            Self::Refused { elsewhere: true } => "elsewhere",
            Self::Returned => "returned",
        }
    }
}

/// A line of an operator's books.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) fate: Fate,
    pub(super) amount: i64,
    /// How often money moved.
    pub(super) executed: u32,
    /// How many requests it took and has not decided about.
    pub(super) open: u32,
    /// Whether the operator once said that it had not paid what it had.
    pub(super) denied: bool,
    /// Whether it once said that it had paid what it had not.
    pub(super) claimed: bool,
    pub(super) at: Millis,
}

/// An operator.
#[derive(Debug)]
pub(super) struct Operator {
    pub(super) id: &'static str,
    /// Whether it recognises a payment that it knows.
    idempotent: bool,
    /// Whether it vouches for what it has not found.
    vouches: bool,
    /// Whether it takes its time, and calls back.
    slow: bool,
    pub(super) books: BTreeMap<String, Entry>,
}

/// A callback on its way.
#[derive(Debug, Clone)]
pub(super) struct Callback {
    pub(super) by: &'static str,
    pub(super) key: String,
    pub(super) word: &'static str,
}

impl Callback {
    /// Its header fields.
    pub(super) fn headers(&self) -> [(&str, &str); 2] {
        [("authorization", self.by), (TAG, &self.key)]
    }
}

/// What happens to a request and its answer on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Road {
    Free,
    /// The connection is refused.
    Closed,
    /// The request is lost.
    LostThere,
    /// The answer is lost.
    LostBack,
    /// The answer is an error of a proxy, which may have passed the request on, or may do so later.
    Broken,
}

impl Operator {
    pub(super) fn all() -> [Self; OPERATORS] {
        let operator = |id, idempotent, vouches, slow| Self { id, idempotent, vouches, slow, books: BTreeMap::new() };
        [
            operator("exact", true, true, false),
            operator("plain", false, false, false),
            operator("slow", true, true, true),
            operator("strict", false, true, false),
        ]
    }

    /// The operators as the gateway is configured to reach them.
    pub(super) fn specs(first: usize) -> Vec<ProviderSpec> {
        let mut specs: Vec<ProviderSpec> = Self::all().iter().map(Self::spec).collect();
        let len = specs.len();
        specs.rotate_left(first % len);
        specs
    }

    fn spec(&self) -> ProviderSpec {
        let spec = ProviderSpec::new(self.id, self.id, Mode::Live, &Wire);
        let fees = vec![FeeRule { flat: fee(), refund: Some(FeeRefund::Proportional), ..FeeRule::default() }];
        let capabilities = Capabilities { inquiry: self.vouches, idempotent_submit: self.idempotent, ..Wire.capabilities() };
        let settings = COLUMNS.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        ProviderSpec { base_url: Some(format!("https://{}", self.id)), settings, fees, capabilities, ..spec }
    }

    /// Whom a request is for, and the key in it.
    pub(super) fn addressed(url: &str) -> Option<(&str, &str)> {
        let (id, path) = url.strip_prefix("https://")?.split_once('/')?;
        Some((id, path.split_once('/')?.1))
    }

    /// Takes a request. `lies` is whether the operator may say something else than its books.
    pub(super) fn take(&mut self, request: &HttpRequest, random: &mut Random, lies: bool, now: Millis) -> Carried {
        let key = request.url.rsplit('/').next().unwrap_or_default().to_owned();
        if request.method == "GET" {
            return self.look(&key, random, lies);
        }
        let amount = std::str::from_utf8(&request.body).ok().and_then(|body| body.split(' ').next()?.parse().ok()).unwrap_or(0);
        let known = self.books.get(&key).map(|entry| entry.fate);
        if let Some(fate) = known.filter(|_| self.idempotent) {
            return reply(fate.word());
        }
        let fate = match random.below(20) {
            0 => Fate::Refused { elsewhere: false },
            1 | 2 => Fate::Refused { elsewhere: true },
            _ if self.slow => Fate::Taken,
            3 => Fate::Taken,
            _ => Fate::Done,
        };
        // It refuses, and pays all the same; or it says that it has paid, and refuses.
        let (denies, claims) = (fate == Fate::Done && random.one_in(30), matches!(fate, Fate::Refused { .. }) && random.one_in(12));
        let (denies, claims) = (lies && denies, lies && claims);
        let entry = self.books.entry(key).or_insert(Entry { fate, amount, executed: 0, open: 0, denied: false, claimed: false, at: now });
        entry.take(fate);
        entry.denied |= denies;
        entry.claimed |= claims && entry.executed == 0;
        // One that does not vouch for anything often says nothing of what it has done.
        if lies && !self.vouches && random.one_in(3) {
            return Carried::Answered(HttpReply { status: 500, headers: Vec::new(), body: Vec::new() });
        }
        reply(match (denies, claims) {
            (true, _) => "elsewhere",
            (_, true) => "paid",
            (false, false) => fate.word(),
        })
    }

    fn look(&mut self, key: &str, random: &mut Random, lies: bool) -> Carried {
        let Some(entry) = self.books.get_mut(key) else {
            return Carried::Answered(HttpReply { status: 404, headers: Vec::new(), body: Vec::new() });
        };
        // One that does not vouch for what it has not found often does not find what it has.
        if lies && !self.vouches && random.one_in(2) {
            return Carried::Answered(HttpReply { status: 404, headers: Vec::new(), body: Vec::new() });
        }
        if lies && entry.fate == Fate::Done && random.one_in(60) {
            entry.denied = true;
            return Carried::Answered(HttpReply { status: 404, headers: Vec::new(), body: Vec::new() });
        }
        if lies && entry.executed == 0 && random.one_in(60) {
            entry.claimed = true;
            return reply("paid");
        }
        reply(entry.fate.word())
    }

    /// Goes on with something that it has: decides about what it took, or returns a payment. Calls back about it.
    pub(super) fn proceed(&mut self, random: &mut Random, returns: bool) -> Option<Callback> {
        let at = random.index(self.books.len());
        let (key, entry) = self.books.iter_mut().nth(at)?;
        match entry.fate {
            _ if entry.open > 0 => {
                let refuses = random.one_in(5);
                entry.decide(refuses);
            }
            Fate::Done if returns && !key.contains("-R") && random.one_in(12) => entry.fate = Fate::Returned,
            // Nothing is new; it says it again.
            Fate::Taken | Fate::Done | Fate::Refused { .. } | Fate::Returned => {}
        }
        Some(Callback { by: self.id, key: key.clone(), word: entry.fate.word() })
    }

    /// What it says about everything in its books.
    pub(super) fn callbacks(&self) -> impl Iterator<Item = Callback> {
        self.books.iter().map(|(key, entry)| Callback { by: self.id, key: key.clone(), word: entry.fate.word() })
    }

    /// Decides about all that it took. Returns whether there was something.
    pub(super) fn finish(&mut self) -> bool {
        let open = self.books.values_mut().filter(|entry| entry.open > 0);
        open.map(|entry| entry.decide(false)).count() > 0
    }
}

impl Entry {
    /// A request reaches it. What was paid before stays paid, and what was taken is still to be decided.
    fn take(&mut self, fate: Fate) {
        match fate {
            Fate::Done => self.executed += 1,
            Fate::Taken => self.open += 1,
            Fate::Refused { .. } | Fate::Returned => {}
        }
        self.fate = match fate {
            Fate::Done => Fate::Done,
            _ if self.executed > 0 => self.fate,
            _ if self.open > 0 => Fate::Taken,
            _ => fate,
        };
    }

    /// Decides about every request that it took: each of them is paid, or none.
    fn decide(&mut self, refuses: bool) {
        let open = std::mem::take(&mut self.open);
        if !refuses {
            self.executed += open;
            self.fate = Fate::Done;
        } else if self.executed == 0 {
            self.fate = Fate::Refused { elsewhere: false };
        }
    }
}

fn reply(word: &str) -> Carried {
    Carried::Answered(HttpReply { status: 200, headers: Vec::new(), body: word.as_bytes().to_vec() })
}
