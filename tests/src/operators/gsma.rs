//! A mobile-money operator with the GSMA Mobile Money API 1.2.0.
//!
//! Some requests it answers with their transaction, others with a request state; it does each once, and calls back. Whatever it gets and
//! says is held against the published document. Answers that name no payment cannot be confused by anybody who does not lie, so it does
//! not confuse them: errors, and links to what failed.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use railgate::money::Amount;
use railgate::rail::{HttpReply, HttpRequest, Rails};
use railgate::route::ProviderSpec;
use railgate::time::{Millis, parse_rfc3339};
use railgate::validate::provider::parse_provider;
use serde_json::{Value, json};

use super::agenda::Agenda;
use super::schema::Document;
use super::{Books, Cast, Intent, Operator};

/// What `us:whispered` is with Basic authentication.
const CREDENTIALS: &str = "Basic dXM6d2hpc3BlcmVk";
const API_KEY: &str = "k-1";
const PAY: &str = "/transactions/type/{transactionType}";
const TRANSACTION: &str = "/transactions/{transactionReference}";
const REVERSE: &str = "/transactions/{transactionReference}/reversals";
const STATE: &str = "/requeststates/{serverCorrelationId}";
const RESPONSE: &str = "/responses/{clientCorrelationId}";
const HEARTBEAT: &str = "/heartbeat";
const STATUS: &str = "/accounts/{identifierType}/{identifier}/status";
const NAME: &str = "/accounts/{identifierType}/{identifier}/accountname";

/// Operators that find whatever they have.
pub fn thorough() -> Cast {
    Cast {
        rails: Rails::built_in,
        provider: |id, base_url| provider(id, base_url, json!({"not_found_is_proof": "true"})),
        operator: |_, base_url| Box::new(Gsma::new(base_url, true, true)),
        payees: &[
            "msisdn:+254700000001",
            "iban:DE89370400440532013000",
            "acct:12-34",
            "wallet:w-1",
            "email:jane@shop.example",
            "business:600100",
        ],
        finds_everything: true,
    }
}

/// Operators that do not always find what they have.
pub fn forgetful() -> Cast {
    Cast { provider: |id, base_url| provider(id, base_url, json!({"transaction": "transfer"})), finds_everything: false, ..thorough() }
}

/// Operators that do not repeat our references, do not call back, and say where something is by its path.
pub fn terse() -> Cast {
    Cast {
        provider: |id, base_url| provider(id, base_url, json!({"notify": "polling", "not_found_is_proof": "true"})),
        operator: |_, base_url| Box::new(Gsma::new(base_url, false, false)),
        ..thorough()
    }
}

fn provider(id: &str, base_url: &str, more: Value) -> ProviderSpec {
    let mut settings = json!({
        "debit_party_type": "organisationid", "debit_party": "4711", "x_client_id": "us", "partial_reversals": "true",
        "token_url": format!("{base_url}/token"),
    });
    settings.as_object_mut().expect("settings").extend(more.as_object().expect("settings").clone());
    let body = json!({
        "id": id, "name": id, "rail": "gsma", "mode": "sandbox", "base_url": base_url, "settings": settings,
        "secrets": {"client_id": "us", "client_secret": "whispered", "api_key": API_KEY},
    });
    parse_provider(body.to_string().as_bytes(), &Rails::built_in()).expect("a provider").spec
}

/// The published document.
fn document() -> Option<&'static Document> {
    static DOCUMENT: OnceLock<Option<Document>> = OnceLock::new();
    DOCUMENT.get_or_init(|| Document::read("gsma/mobile-money-api-1.2.0.yaml")).as_ref()
}

/// An operator.
struct Gsma {
    base_url: String,
    /// Whether transactions have the reference of whom they were requested by.
    echoes: bool,
    absolute_links: bool,
    intent: Intent,
    mixes_up: bool,
    hides_until: Millis,
    /// The number of the access token that is valid, and whether it was issued.
    token: (u32, bool),
    /// What was requested, by `X-CorrelationID`.
    orders: BTreeMap<String, Order>,
    /// The ids of the reversals of each transaction.
    reversals: BTreeMap<String, Vec<String>>,
    open: Agenda,
    callbacks: Vec<HttpRequest>,
    books: Books,
}

/// A payment or a reversal.
struct Order {
    /// The body of the request.
    asked: Value,
    /// The transaction that is to be given back, if it is a reversal.
    original: Option<String>,
    callback_url: Option<String>,
    /// Whether it is answered with a request state.
    has_state: bool,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Open { does: bool },
    Done,
    Refused(Refusal),
}

/// A status of HTTP, a category and a code.
type Refusal = (u16, &'static str, &'static str);
/// A reply: its status and its body.
type Said = (u16, Value);

const REFUSALS: [Refusal; 5] = [
    (400, "businessRule", "insufficientFunds"),
    (400, "businessRule", "samePartiesError"),
    (400, "validation", "formatError"),
    (404, "identification", "identifierError"),
    (401, "authorisation", "requestDeclined"),
];
const NOTHING: Refusal = (404, "identification", "identifierError");
const NOBODY: Refusal = (401, "authorisation", "clientAuthorisationError");
const DUPLICATE: Refusal = (400, "businessRule", "duplicateRequest");
const NOT_NOW: Refusal = (400, "businessRule", "incorrectState");

fn refused((status, category, code): Refusal) -> Said {
    (status, json!({"errorCategory": category, "errorCode": code, "errordescription": "told in words"}))
}

/// A digit of an id, by which requests differ.
fn digit(id: &str, at: usize) -> usize {
    id[at..=at].chars().next().and_then(|digit| digit.to_digit(16)).map_or(0, |digit| digit as usize)
}

/// The operator's reference for the transaction of a request.
fn reference(id: &str) -> String {
    format!("T/{id}")
}

/// The id of the state of a request: another UUID, whose other is the id of the request.
fn state_id(id: &str) -> String {
    id.chars().rev().collect::<String>().split('-').collect::<String>().chars().enumerate().fold(String::new(), |mut out, (at, digit)| {
        if matches!(at, 8 | 12 | 16 | 20) {
            out.push('-');
        }
        out.push(digit);
        out
    })
}

fn cents(body: &Value) -> i64 {
    let euro = railgate::money::Currency::from_code(body["currency"].as_str().expect("a currency")).expect("a currency");
    Amount::parse(body["amount"].as_str().expect("an amount")).and_then(|amount| amount.to_money(euro)).expect("an amount").minor()
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn unescaped(segment: &str) -> String {
    let mut parts = segment.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("an escaped byte"));
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).expect("UTF-8")
}

impl Operator for Gsma {
    fn serve(&mut self, request: &HttpRequest, now: Millis) -> HttpReply {
        self.settle(now);
        let path = request.url.strip_prefix(&self.base_url).expect("a path of the operator").to_owned();
        if path == "/token" {
            return self.issue(request);
        }
        let segments: Vec<String> = path.trim_start_matches('/').split('/').map(unescaped).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let template = match (request.method, &segments[..]) {
            ("POST", ["transactions", "type", _]) => PAY,
            ("POST", ["transactions", _, "reversals"]) => REVERSE,
            ("GET", ["transactions", _]) => TRANSACTION,
            ("GET", ["requeststates", _]) => STATE,
            ("GET", ["responses", _]) => RESPONSE,
            ("GET", ["heartbeat"]) => HEARTBEAT,
            ("GET", ["accounts", _, _, "status"]) => STATUS,
            ("GET", ["accounts", _, _, "accountname"]) => NAME,
            (method, _) => panic!("the operator has no {method} {path}"),
        };
        check_request(request, template, &segments);
        let (status, body) = match template {
            _ if !self.lets_in(request) => refused(NOBODY),
            PAY => self.order(request, None, now),
            REVERSE => self.order(request, Some(segments[1]), now),
            HEARTBEAT => (200, json!({"serviceStatus": "available"})),
            STATUS => (200, json!({"accountStatus": if self.intent == Intent::Refuses { "unregistered" } else { "available" }})),
            NAME => (200, json!({"name": {"firstName": "Jane", "lastName": "Wanjiru"}})),
            _ if now < self.hides_until => refused(NOTHING),
            TRANSACTION => self.transaction(segments[1]),
            STATE => self.state(segments[1]),
            _ => self.response(segments[1]),
        };
        let body = body.to_string().into_bytes();
        if let Some(document) = document() {
            document.check_reply(request.method, template, status, &body);
        }
        HttpReply { status, headers: vec![("content-type".to_owned(), "application/json".to_owned())], body }
    }

    fn callbacks(&mut self, now: Millis) -> Vec<HttpRequest> {
        self.settle(now);
        std::mem::take(&mut self.callbacks)
    }

    fn next_due(&self) -> Option<Millis> {
        if self.callbacks.is_empty() { self.open.next() } else { Some(0) }
    }

    fn intend(&mut self, intent: Intent) {
        self.intent = intent;
    }

    fn end_tokens(&mut self) {
        self.token = (self.token.0 + 1, false);
    }

    fn mix_up(&mut self) {
        self.mixes_up = true;
    }

    fn hide_until(&mut self, at: Millis) {
        self.hides_until = at;
    }

    fn books(&self) -> &Books {
        &self.books
    }
}

/// Requires a request to be as the document says, its header fields and the parts of its path too.
fn check_request(request: &HttpRequest, template: &str, segments: &[&str]) {
    let date = header(request, "x-date").and_then(parse_rfc3339);
    assert!(date.is_some() && header(request, "accept") == Some("application/json"), "{request:?}");
    let Some(document) = document() else { return };
    document.check_request(request.method, template, &request.body);
    for name in ["X-CorrelationID", "X-Date", "X-API-Key", "X-Client-Id", "X-Callback-URL"] {
        if let Some(value) = header(request, &name.to_ascii_lowercase()) {
            document.check_parameter(name, value);
        }
    }
    let parts: &[(&str, usize)] = match template {
        PAY => &[("transactionTypePath", 2)],
        TRANSACTION | REVERSE => &[("transactionReference", 1)],
        STATE => &[("serverCorrelationId", 1)],
        RESPONSE => &[("clientCorrelationId", 1)],
        STATUS | NAME => &[("identifierType", 1), ("identifier", 2)],
        _ => &[],
    };
    parts.iter().for_each(|(name, at)| document.check_parameter(name, segments[*at]));
}

impl Gsma {
    fn new(base_url: &str, echoes: bool, absolute_links: bool) -> Self {
        Self {
            base_url: base_url.to_owned(),
            echoes,
            absolute_links,
            intent: Intent::Does,
            mixes_up: false,
            hides_until: 0,
            token: (1, false),
            orders: BTreeMap::new(),
            reversals: BTreeMap::new(),
            open: Agenda::default(),
            callbacks: Vec::new(),
            books: Books::default(),
        }
    }

    fn issue(&mut self, request: &HttpRequest) -> HttpReply {
        assert_eq!((request.method, request.body.as_slice()), ("POST", b"grant_type=client_credentials".as_slice()));
        assert_eq!(header(request, "authorization"), Some(CREDENTIALS));
        self.token.1 = true;
        let body = json!({"access_token": format!("t{}", self.token.0), "token_type": "Bearer", "expires_in": 3_600});
        HttpReply { status: 200, headers: Vec::new(), body: body.to_string().into_bytes() }
    }

    fn lets_in(&self, request: &HttpRequest) -> bool {
        let token = format!("Bearer t{}", self.token.0);
        self.token.1 && header(request, "authorization") == Some(&token) && header(request, "x-api-key") == Some(API_KEY)
    }

    /// Takes a payment or a reversal.
    fn order(&mut self, request: &HttpRequest, original: Option<&str>, now: Millis) -> Said {
        let id = header(request, "x-correlationid").expect("an id").to_owned();
        if self.orders.contains_key(&id) {
            // Some operators say so, others say again what they said.
            return if digit(&id, 3) < 8 { refused(DUPLICATE) } else { self.answer(&id) };
        }
        let asked: Value = serde_json::from_slice(&request.body).expect("checked");
        let refusal = original.and_then(|original| self.forbids(original, &asked));
        let intent = refusal.map_or(self.intent, |_| Intent::Refuses);
        let (has_state, until, fate) = match intent {
            Intent::Does => (digit(&id, 0) < 8, now, Fate::Open { does: true }),
            Intent::DoesAfter(ms) => (true, now + ms, Fate::Open { does: true }),
            Intent::Refuses => (false, now, Fate::Refused(refusal.unwrap_or(REFUSALS[digit(&id, 1) % REFUSALS.len()]))),
            Intent::RefusesAfter(ms) => (true, now + ms, Fate::Open { does: false }),
        };
        if let (Fate::Refused(refusal), true) = (fate, digit(&id, 2) < 8) {
            // What it refused is as if it had never been there.
            return refused(refusal);
        }
        if matches!(fate, Fate::Open { .. }) {
            self.open.add(until, &id);
        }
        if let Some(original) = original {
            self.reversals.entry(original.to_owned()).or_default().push(id.clone());
        }
        let callback_url = header(request, "x-callback-url").map(str::to_owned);
        self.orders.insert(id.clone(), Order { asked, original: original.map(str::to_owned), callback_url, has_state, fate });
        if !has_state {
            self.settle(now);
        }
        self.answer(&id)
    }

    /// Why a reversal cannot be: the transaction does not exist, or not so much of it is left.
    fn forbids(&self, original: &str, asked: &Value) -> Option<Refusal> {
        let Some(paid) = self.paid(original).filter(|paid| paid.fate == Fate::Done) else { return Some(NOTHING) };
        let back = self.reversals.get(original).into_iter().flatten().map(|id| &self.orders[id]);
        let back = back.filter(|order| !matches!(order.fate, Fate::Refused(_))).map(|order| cents(&order.asked));
        let left = cents(&paid.asked) - back.sum::<i64>();
        (cents(asked) > left).then_some(NOT_NOW)
    }

    /// The payment that a reversal names.
    fn paid(&self, original: &str) -> Option<&Order> {
        self.orders.get(original.strip_prefix("T/")?).filter(|order| order.original.is_none())
    }

    /// What it says about a request that it has.
    fn answer(&mut self, id: &str) -> Said {
        let order = &self.orders[id];
        match order.fate {
            Fate::Refused(refusal) if !order.has_state => refused(refusal),
            _ if order.has_state => {
                let id = self.perhaps_another(id);
                (202, self.state_of(&id))
            }
            Fate::Open { .. } | Fate::Done | Fate::Refused(_) => (201, self.described(id)),
        }
    }

    /// Does and refuses what it is time for.
    fn settle(&mut self, now: Millis) {
        while let Some(id) = self.open.take(now) {
            let order = self.orders.get_mut(&id).expect("it is there");
            let Fate::Open { does } = order.fate else { continue };
            let key = order.asked["requestingOrganisationTransactionReference"].as_str().expect("our key");
            match (does, order.original.is_some()) {
                (true, false) => self.books.pay(key, cents(&order.asked)),
                (true, true) => self.books.give_back(key, cents(&order.asked)),
                (false, _) => {}
            }
            order.fate = if does { Fate::Done } else { Fate::Refused(REFUSALS[digit(&id, 1) % REFUSALS.len()]) };
            self.call_back(&id);
        }
    }

    /// Reports the end of a request that was answered with a request state.
    fn call_back(&mut self, id: &str) {
        let order = &self.orders[id];
        let Some(url) = order.callback_url.clone().filter(|_| order.has_state) else { return };
        let (event, body) = match order.fate {
            Fate::Refused(refusal) => ("Failure", refused(refusal).1),
            Fate::Open { .. } | Fate::Done => ("Success", self.described_as(id, id)),
        };
        let body = body.to_string().into_bytes();
        if let Some(document) = document() {
            let (template, name) = if self.orders[id].original.is_some() { (REVERSE, "reversals") } else { (PAY, "transactions") };
            document.check_callback(template, &format!("{name}{event}Event"), &body);
        }
        let request = HttpRequest::new("PUT", url).header("content-type", "application/json");
        self.callbacks.push(request.body(body));
    }

    /// The id of another request of the same kind, if it is to mix them up. In the place of a reversal, the document allows no payment.
    fn perhaps_another(&mut self, id: &str) -> String {
        let reverses = self.orders[id].original.is_some();
        let mut others = self.orders.iter().filter(|(other, order)| *other != id && order.original.is_some() == reverses);
        let other = if self.mixes_up { others.next().map(|(other, _)| other.clone()) } else { None };
        other.inspect(|_| self.mixes_up = false).unwrap_or_else(|| id.to_owned())
    }

    /// The transaction of a request, or of another one.
    fn described(&mut self, id: &str) -> Value {
        let other = if self.echoes { self.perhaps_another(id) } else { id.to_owned() };
        let mut described = self.described_as(&other, &other);
        if std::mem::take(&mut self.mixes_up) {
            described["amount"] = "1000000.00".into();
        }
        described
    }

    fn described_as(&self, id: &str, as_id: &str) -> Value {
        let order = &self.orders[id];
        let mut described = order.asked.clone();
        described["transactionReference"] = reference(as_id).into();
        described["transactionStatus"] = match order.fate {
            Fate::Open { .. } => "pending",
            Fate::Done => "completed",
            Fate::Refused(_) => "failed",
        }
        .into();
        if let Some(original) = &order.original {
            described["originalTransactionReference"] = original.as_str().into();
            let paid = self.paid(original).expect("it was checked");
            described["creditParty"] = paid.asked["debitParty"].clone();
            described["debitParty"] = paid.asked["creditParty"].clone();
        }
        if !self.echoes {
            described.as_object_mut().expect("a transaction").remove("requestingOrganisationTransactionReference");
        }
        described
    }

    fn state_of(&self, id: &str) -> Value {
        let order = &self.orders[id];
        let method = if order.callback_url.is_some() { "callback" } else { "polling" };
        let mut state = json!({"serverCorrelationId": state_id(id), "notificationMethod": method, "status": "pending"});
        match order.fate {
            Fate::Open { .. } => {}
            Fate::Done => {
                state["status"] = "completed".into();
                state["objectReference"] = reference(id).into();
            }
            Fate::Refused(refusal) => {
                state["status"] = "failed".into();
                state["error"] = refused(refusal).1;
            }
        }
        state
    }

    fn transaction(&mut self, wanted: &str) -> Said {
        let known = wanted.strip_prefix("T/").and_then(|id| Some((id, self.orders.get(id)?)));
        match known.filter(|(_, order)| !matches!(order.fate, Fate::Refused(_))) {
            Some((id, _)) => (200, self.described(id)),
            None => refused(NOTHING),
        }
    }

    fn state(&mut self, wanted: &str) -> Said {
        let id = state_id(wanted);
        if !self.orders.get(&id).is_some_and(|order| order.has_state) {
            return refused(NOTHING);
        }
        let id = self.perhaps_another(&id);
        (200, self.state_of(&id))
    }

    /// What it answered to the request with this id of the gateway's.
    fn response(&mut self, id: &str) -> Said {
        let Some(order) = self.orders.get(id) else { return refused(NOTHING) };
        let path = match (order.has_state, order.fate) {
            (false, Fate::Refused(refusal)) => return refused(refusal),
            (true, _) if order.fate != Fate::Done => format!("/requeststates/{}", state_id(id)),
            _ => {
                let done = self.perhaps_another(id);
                format!("/transactions/{}", reference(&done).replace('/', "%2F"))
            }
        };
        (200, json!({"link": if self.absolute_links { format!("{}{path}", self.base_url) } else { path }}))
    }
}
