//! A Mojaloop scheme and the adapter before it, as the gateway sees them: the outbound API 2.1 of the SDK scheme adapter.
//!
//! The adapter remembers how far each transfer is, and forgets it when the same transfer is begun again. The scheme knows only transfers
//! that were prepared, and carries out each once. The adapter may report a time-out although the scheme carries a transfer out.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use railgate::money::{Amount, Currency};
use railgate::rail::{HttpReply, HttpRequest, Rails};
use railgate::route::ProviderSpec;
use railgate::time::{Millis, rfc3339};
use railgate::validate::provider::parse_provider;
use serde_json::{Value, json};

use super::agenda::Agenda;
use super::schema::Document;
use super::{Books, Cast, Intent, Operator};

const TOKEN: &str = "hush";
const TRANSFERS: &str = "/transfers";
const TRANSFER: &str = "/transfers/{transferId}";
const PARTY: &str = "/parties/{Type}/{ID}";
/// What the client pays on top of an amount.
const FEE: &str = "0.30";
/// In the place of what is secret between the payer's and the payee's provider.
const CONDITION: &str = "WLctttbu2HvTsa1XWvUoGRcQozHsqeu9Ahl2JW9Bsu8";

/// A scheme whose adapter waits for every acceptance, and which finds whatever it has.
pub fn stepwise() -> Cast {
    Cast {
        rails: Rails::built_in,
        provider: |id, base_url| provider(id, base_url, true),
        operator: |_, base_url| Box::new(Scheme::new(base_url, false)),
        payees: &["msisdn:+254700000001", "iban:DE89370400440532013000", "acct:12-34", "alias:jane", "wallet:w-1"],
        finds_everything: true,
    }
}

/// A scheme that does not always find what it has.
pub fn forgetful() -> Cast {
    Cast { provider: |id, base_url| provider(id, base_url, false), finds_everything: false, ..stepwise() }
}

/// A scheme whose adapter accepts by itself.
pub fn automatic() -> Cast {
    Cast { operator: |_, base_url| Box::new(Scheme::new(base_url, true)), ..stepwise() }
}

fn provider(id: &str, base_url: &str, not_found_is_proof: bool) -> ProviderSpec {
    let body = json!({
        "id": id, "name": id, "rail": "mojaloop", "mode": "sandbox", "base_url": base_url, "fees": [{"flat": FEE}],
        "secrets": {"token": TOKEN},
        "settings": {
            "payer_id_type": "BUSINESS", "payer_id": "shop-42", "payer_fsp": "ourbank", "payer_name": "Shop 42",
            "not_found_is_proof": not_found_is_proof.to_string(),
        },
    });
    parse_provider(body.to_string().as_bytes(), &Rails::built_in()).expect("a provider").spec
}

/// The published document, with what the adapter does and it leaves out.
fn document() -> Option<&'static Document> {
    static DOCUMENT: OnceLock<Option<Document>> = OnceLock::new();
    let read = || {
        let mut document = Document::read("mojaloop/sdk-scheme-adapter-outbound-2.1.yaml")?;
        document.add("/components/schemas/transferStatus/enum", "ABORTED");
        Some(document)
    };
    DOCUMENT.get_or_init(read).as_ref()
}

/// A scheme with its adapter.
struct Scheme {
    base_url: String,
    /// Whether the adapter accepts payees and quotes by itself.
    automatic: bool,
    intent: Intent,
    mixes_up: bool,
    hides_until: Millis,
    transfers: BTreeMap<String, Transfer>,
    open: Agenda,
    books: Books,
}

/// A transfer, as the adapter and the scheme know it.
struct Transfer {
    /// As it was begun last.
    begun: Value,
    at: At,
    /// The quote of the payee's provider.
    quote: Option<Value>,
    prepared: Option<Prepared>,
}

/// How far the adapter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Found,
    Quoted,
    Converting,
    Succeeded,
    Stopped,
    Failed,
}

/// How far the scheme is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prepared {
    Open { pays: bool },
    Committed,
    Aborted,
}

/// A reply: its status and its body.
type Said = (u16, Value);

impl Operator for Scheme {
    fn serve(&mut self, request: &HttpRequest, now: Millis) -> HttpReply {
        self.settle(now);
        let path = request.url.strip_prefix(&self.base_url).expect("a path of the adapter").to_owned();
        let authorization = request.headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.as_str());
        if authorization != Some(&format!("Bearer {TOKEN}")) {
            return HttpReply { status: 401, headers: Vec::new(), body: Vec::new() };
        }
        let template = match path.trim_start_matches('/').split('/').collect::<Vec<_>>()[..] {
            ["transfers"] => TRANSFERS,
            ["transfers", _] => TRANSFER,
            ["parties", _, _] => PARTY,
            // It is well.
            [""] => return HttpReply { status: 200, headers: Vec::new(), body: Vec::new() },
            _ => panic!("the adapter has no {path}"),
        };
        if let Some(document) = document() {
            document.check_request(request.method, template, &request.body);
        }
        let last = path.rsplit('/').next().unwrap_or_default();
        let (status, body) = match (request.method, template) {
            ("POST", TRANSFERS) => self.begin(&request.body, now),
            ("PUT", TRANSFER) => self.go_on(last, &request.body, now),
            ("GET", TRANSFER) => self.tell(last, now),
            ("GET", PARTY) => self.party(&path),
            (method, _) => panic!("the adapter has no {method} {path}"),
        };
        let body = self.mixed_up(body).to_string().into_bytes();
        if let Some(document) = document() {
            document.check_reply(request.method, template, status, &body);
        }
        HttpReply { status, headers: vec![("content-type".to_owned(), "application/json".to_owned())], body }
    }

    /// It has none. What is due happens.
    fn callbacks(&mut self, now: Millis) -> Vec<HttpRequest> {
        self.settle(now);
        Vec::new()
    }

    fn next_due(&self) -> Option<Millis> {
        self.open.next()
    }

    fn intend(&mut self, intent: Intent) {
        self.intent = intent;
    }

    /// Its token never ends.
    fn end_tokens(&mut self) {}

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

impl Scheme {
    fn new(base_url: &str, automatic: bool) -> Self {
        let (base_url, intent, transfers) = (base_url.to_owned(), Intent::Does, BTreeMap::new());
        let (open, books) = (Agenda::default(), Books::default());
        Self { base_url, automatic, intent, mixes_up: false, hides_until: 0, transfers, open, books }
    }

    fn begin(&mut self, body: &[u8], now: Millis) -> Said {
        let begun: Value = serde_json::from_slice(body).expect("a transfer");
        let id = begun["transferId"].as_str().expect("the gateway says under which id").to_owned();
        assert_eq!((&begun["from"]["fspId"], &begun["amountType"]), (&json!("ourbank"), &json!("RECEIVE")));
        let prepared = self.transfers.get(&id).and_then(|transfer| transfer.prepared);
        self.transfers.insert(id.clone(), Transfer { begun, at: At::Found, quote: None, prepared });
        match self.intent {
            Intent::Refuses => self.fail(&id, Some("3204")),
            Intent::RefusesAfter(_) => self.fail(&id, None),
            Intent::Does | Intent::DoesAfter(_) if self.automatic => self.quote(&id, now),
            Intent::Does | Intent::DoesAfter(_) => self.state(&id),
        }
    }

    /// Accepting, and refusing what cannot be refused any more, are as in the adapter: what counts is how far the transfer is.
    fn go_on(&mut self, id: &str, body: &[u8], now: Millis) -> Said {
        let told: Value = serde_json::from_slice(body).expect("what to do");
        let at = self.transfer(id).at;
        match at {
            At::Found if told["acceptParty"] == true => match self.intent {
                Intent::Refuses => self.fail(id, Some("5103")),
                Intent::RefusesAfter(_) => self.fail(id, None),
                Intent::Does | Intent::DoesAfter(_) => self.quote(id, now),
            },
            At::Quoted if told["acceptQuote"] == true && converts(id) => self.moved(id, At::Converting),
            At::Quoted if told["acceptQuote"] == true => self.prepare(id, now),
            At::Found | At::Quoted | At::Converting => {
                assert!(told["acceptConversion"] != true, "the gateway pays in one currency");
                self.moved(id, At::Stopped)
            }
            At::Succeeded | At::Stopped | At::Failed => self.state(id),
        }
    }

    /// Has the payee's provider make a quote.
    fn quote(&mut self, id: &str, now: Millis) -> Said {
        let transfer = self.transfer(id);
        let begun = &transfer.begun;
        let money = |cents| json!({"currency": begun["currency"], "amount": with_cents(&begun["amount"], cents)});
        transfer.quote = Some(json!({
            "transferAmount": money(adds(id)), "payeeReceiveAmount": money(0),
            "expiration": rfc3339(now + 60_000), "ilpPacket": "AYIBgQ", "condition": CONDITION,
        }));
        transfer.at = At::Quoted;
        if self.automatic { self.prepare(id, now) } else { self.state(id) }
    }

    /// Prepares the transfer at the scheme, which takes each id once.
    fn prepare(&mut self, id: &str, now: Millis) -> Said {
        if self.transfer(id).prepared.is_some() {
            return self.fail(id, Some("3106"));
        }
        let luck = luck(id, 4) % 3;
        match self.intent {
            Intent::Does => {
                self.end(id, true);
                self.moved(id, At::Succeeded)
            }
            Intent::Refuses => {
                self.end(id, false);
                self.fail(id, Some(["5104", "4001", "5105", "3100", "3303"][usize::from(luck_of(id))]))
            }
            Intent::DoesAfter(ms) | Intent::RefusesAfter(ms) => {
                let pays = matches!(self.intent, Intent::DoesAfter(_));
                self.transfer(id).prepared = Some(Prepared::Open { pays });
                self.open.add(now + ms, id);
                match luck {
                    0 => self.moved(id, At::Succeeded),
                    1 => self.fail(id, None),
                    _ => self.fail(id, Some(if pays { "2004" } else { "3303" })),
                }
            }
        }
    }

    /// Asks the scheme.
    fn tell(&mut self, id: &str, now: Millis) -> Said {
        let known = self.transfers.get(id).and_then(|transfer| transfer.prepared).filter(|_| now >= self.hides_until);
        match known {
            Some(prepared) => (200, json!({"transferId": id, "currentState": "COMPLETED", "fulfil": fulfil(prepared)})),
            None => {
                let state = json!({"transferId": id, "currentState": "ERROR_OCCURRED", "lastError": error(Some("3208"))});
                (500, json!({"message": "cannot get the transfer", "statusCode": "3208", "transferState": state}))
            }
        }
    }

    fn party(&self, path: &str) -> Said {
        let mut parts = path.rsplit('/');
        let (id, id_type) = (parts.next(), parts.next());
        if self.intent == Intent::Refuses {
            return (404, error(Some("3204"))["mojaloopError"].clone());
        }
        let info = json!({"partyIdType": id_type, "partyIdentifier": id, "fspId": "theirs"});
        let party = json!({"partyIdInfo": info, "name": "Jane Wanjiru", "supportedCurrencies": ["EUR"]});
        (200, json!({"currentState": "COMPLETED", "party": {"body": party, "headers": {}}}))
    }

    fn transfer(&mut self, id: &str) -> &mut Transfer {
        self.transfers.get_mut(id).expect("only what was begun goes on")
    }

    /// Ends a transfer at the scheme.
    fn end(&mut self, id: &str, pays: bool) {
        let transfer = self.transfer(id);
        transfer.prepared = Some(if pays { Prepared::Committed } else { Prepared::Aborted });
        if pays {
            let text = |name: &str| transfer.begun[name].as_str().expect("a text").to_owned();
            let currency = Currency::from_code(&text("currency")).expect("a currency");
            let amount = Amount::parse(&text("amount")).expect("an amount").to_money(currency).expect("money");
            let key = text("homeTransactionId");
            self.books.pay(&key, amount.minor());
        }
    }

    fn settle(&mut self, now: Millis) {
        while let Some(id) = self.open.take(now) {
            match self.transfer(&id).prepared {
                Some(Prepared::Open { pays }) => self.end(&id, pays),
                Some(Prepared::Committed | Prepared::Aborted) | None => {}
            }
        }
    }

    fn moved(&mut self, id: &str, at: At) -> Said {
        self.transfer(id).at = at;
        self.state(id)
    }

    /// The adapter meets an error: with a code of the scheme, or waiting in vain.
    fn fail(&mut self, id: &str, code: Option<&str>) -> Said {
        self.transfer(id).at = At::Failed;
        let mut state = self.state(id).1["transferState"].take();
        state["lastError"] = error(code);
        let status = if code.is_some() { 500 } else { 504 };
        (status, json!({"message": "it failed", "statusCode": code.unwrap_or("504"), "transferState": state}))
    }

    /// What the adapter says about a transfer: all that it knows.
    fn state(&mut self, id: &str) -> Said {
        let transfer = self.transfer(id);
        let mut state = transfer.begun.clone();
        state["currentState"] = match transfer.at {
            At::Found => "WAITING_FOR_PARTY_ACCEPTANCE",
            At::Quoted => "WAITING_FOR_QUOTE_ACCEPTANCE",
            At::Converting => "WAITING_FOR_CONVERSION_ACCEPTANCE",
            At::Succeeded => "COMPLETED",
            At::Stopped => "ABORTED",
            At::Failed => "ERROR_OCCURRED",
        }
        .into();
        if let Some(quote) = &transfer.quote {
            state["quoteResponse"] = json!({"body": quote, "headers": {}});
        }
        match (transfer.at, transfer.prepared) {
            (At::Succeeded, Some(prepared)) => state["fulfil"] = fulfil(prepared),
            (At::Failed, _) => return (500, json!({"message": "it failed", "statusCode": "500", "transferState": state})),
            (At::Found | At::Quoted | At::Converting | At::Succeeded | At::Stopped, _) => {}
        }
        (200, state)
    }

    /// The body, or one about another transfer.
    fn mixed_up(&mut self, mut body: Value) -> Value {
        if !std::mem::take(&mut self.mixes_up) {
            return body;
        }
        let about = if body["transferState"].is_object() { &mut body["transferState"] } else { &mut body };
        let Some(id) = about["transferId"].as_str().map(str::to_owned) else { return body };
        about["transferId"] = json!("b51ec534-ee48-4575-b6a9-ead2955b8069");
        let another = self.transfers.iter().find(|(other, _)| **other != id);
        let members = another.and_then(|(_, transfer)| transfer.begun.as_object()).into_iter().flatten();
        for (name, value) in members {
            // An answer to an inquiry has only the id.
            if let Some(member) = about.get_mut(name) {
                *member = value.clone();
            }
        }
        body
    }
}

fn error(code: Option<&str>) -> Value {
    match code {
        Some(code) => json!({
            "httpStatusCode": 500, "mojaloopError": {"errorInformation": {"errorCode": code, "errorDescription": "it failed"}},
        }),
        None => json!({"httpStatusCode": 504}),
    }
}

fn fulfil(prepared: Prepared) -> Value {
    let body = match prepared {
        Prepared::Open { .. } => json!({"transferState": "RESERVED"}),
        Prepared::Committed => json!({"transferState": "COMMITTED", "fulfilment": CONDITION}),
        Prepared::Aborted => json!({"transferState": "ABORTED"}),
    };
    json!({"body": body, "headers": {}})
}

/// A number that is always the same for a transfer, from two digits of its id.
fn luck(id: &str, at: usize) -> u8 {
    u8::from_str_radix(&id[at..at + 2], 16).expect("an id of hexadecimal digits")
}

/// Why it is refused: one of five.
fn luck_of(id: &str) -> u8 {
    luck(id, 6) % 5
}

/// What the quote adds, in cents: sometimes more than the client pays.
fn adds(id: &str) -> i64 {
    i64::from(luck(id, 0) % 34)
}

/// Whether somebody would have to convert the money.
fn converts(id: &str) -> bool {
    luck(id, 2).is_multiple_of(16)
}

/// An amount and some cents, as the scheme writes it.
fn with_cents(amount: &Value, cents: i64) -> String {
    let amount = amount.as_str().and_then(|text| Amount::parse(text).ok()?.scaled(2)).expect("an amount") + cents;
    let text = format!("{}.{:02}", amount / 100, amount % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
