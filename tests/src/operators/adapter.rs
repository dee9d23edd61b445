//! An adapter that keeps books: the operator of the rail `adapter`.

use std::collections::BTreeMap;

use railgate::auth::content_digest;
use railgate::ledger::Mode;
use railgate::money::Money;
use railgate::rail::adapter::{Adapter, CALLBACK_SECRET, TOKEN};
use railgate::rail::{HttpReply, HttpRequest, Rails};
use railgate::route::{Capabilities, ProviderSpec, Secrets};
use railgate::time::Millis;
use railgate::webhook::{ID, SIGNATURE, TIMESTAMP, WebhookSecret, sign};
use serde_json::{Value, json};

use super::agenda::Agenda;
use super::{Books, Cast, Intent, Operator};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Adapters whose "not found" is authoritative when they say so, and who sometimes do not say so.
pub const ADAPTERS: Cast = Cast {
    rails: Rails::built_in,
    provider,
    operator: |id, base_url| Box::new(Keeper::new(id, base_url, true)),
    payees: &["msisdn:+254700000001", "msisdn:+254700000002"],
    finds_everything: false,
};

/// Adapters that do not call back.
pub const QUIET: Cast = Cast { operator: |id, base_url| Box::new(Keeper::new(id, base_url, false)), ..ADAPTERS };

/// Adapters that pay again what is sent again, and providers that say so.
pub const CARELESS: Cast = Cast {
    provider: |id, base_url| {
        let spec = provider(id, base_url);
        ProviderSpec { capabilities: Capabilities { idempotent_submit: false, ..spec.capabilities }, ..spec }
    },
    operator: |id, base_url| Box::new(Keeper { pays_once: false, ..Keeper::new(id, base_url, true) }),
    ..ADAPTERS
};

fn provider(id: &str, base_url: &str) -> ProviderSpec {
    let secrets = [(TOKEN, token(id)), (CALLBACK_SECRET, SECRET.to_owned())];
    let secrets = Secrets(secrets.into_iter().map(|(name, secret)| (name.to_owned(), secret.into())).collect());
    ProviderSpec { base_url: Some(base_url.to_owned()), secrets, ..ProviderSpec::new(id, id, Mode::Sandbox, &Adapter) }
}

fn token(id: &str) -> String {
    format!("token-of-{id}")
}

/// What became of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Completed,
    Declined,
    /// Done, or refused, later.
    Open {
        does: bool,
    },
}

struct Taken {
    /// The payment that it gives back a part of.
    of: Option<String>,
    asked: Value,
    callback_url: Option<String>,
    amount: i64,
    state: State,
}

struct Keeper {
    id: String,
    base_url: String,
    taken: BTreeMap<String, Taken>,
    /// The keys of the reversals of each payment.
    reversals: BTreeMap<String, Vec<String>>,
    open: Agenda,
    books: Books,
    intent: Intent,
    mixes_up: bool,
    hides_until: Millis,
    calls_back: bool,
    /// Whether a request that is repeated is one.
    pays_once: bool,
    callbacks: Vec<HttpRequest>,
}

impl Keeper {
    fn new(id: &str, base_url: &str, calls_back: bool) -> Self {
        Self {
            id: id.to_owned(),
            base_url: base_url.to_owned(),
            taken: BTreeMap::new(),
            reversals: BTreeMap::new(),
            open: Agenda::default(),
            books: Books::default(),
            intent: Intent::Does,
            mixes_up: false,
            hides_until: 0,
            calls_back,
            pays_once: true,
            callbacks: Vec::new(),
        }
    }

    /// Whether the gateway sent it: with its token, a whole body and a signature that covers what matters. The key is not known here.
    fn is_authentic(&self, request: &HttpRequest) -> bool {
        let header = |name: &str| request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let covers = header("signature-input").is_some_and(|input| {
            let body = request.body.is_empty() || input.contains(r#""content-digest""#);
            body && [r#""@method" "@target-uri" "authorization""#, r#"tag="railgate-rail""#].iter().all(|part| input.contains(part))
        });
        let digest = request.body.is_empty() || header("content-digest") == Some(&content_digest(&request.body));
        header("authorization") == Some(&format!("Bearer {}", token(&self.id))) && covers && digest && header("signature").is_some()
    }

    fn answer(&self, key: &str, taken: &Taken) -> Value {
        let names = match &taken.of {
            Some(payment) => json!({"payment": payment, "reversal": key}),
            None => json!({"payment": key}),
        };
        let mut said = json!({"amount": taken.asked["amount"], "currency": taken.asked["currency"], "rail_reference": format!("OP-{key}")});
        said.as_object_mut().expect("an object").extend(names.as_object().expect("an object").clone());
        match taken.state {
            State::Completed => said["status"] = json!("completed"),
            State::Open { .. } => said["status"] = json!("accepted"),
            State::Declined => {
                // Half of the keys may be tried elsewhere.
                let elsewhere = taken.of.is_none() && key.bytes().map(u32::from).sum::<u32>().is_multiple_of(2);
                said["status"] = json!("declined");
                said["code"] = json!("not_allowed");
                said["elsewhere_ok"] = json!(elsewhere);
            }
        }
        said
    }

    /// Whether a payment has so much left to give back.
    fn has(&self, payment: &str, amount: i64) -> bool {
        let back = self.reversals.get(payment).into_iter().flatten().map(|key| &self.taken[key]);
        let back: i64 = back.filter(|it| it.state != State::Declined).map(|it| it.amount).sum();
        self.taken.get(payment).is_some_and(|paid| paid.of.is_none() && paid.state == State::Completed && back + amount <= paid.amount)
    }

    fn take(&mut self, of: Option<&str>, key: &str, body: &[u8], now: Millis) -> (u16, Value) {
        let mut asked: Value = serde_json::from_slice(body).expect("the gateway sends JSON");
        let callback_url = asked.as_object_mut().and_then(|asked| asked.remove("callback_url"));
        if let Some(known) = self.taken.get(key) {
            let same = known.asked == asked && known.of.as_deref() == of;
            let (again, answer) = (!self.pays_once && same && known.state == State::Completed, self.answer(key, known));
            if again {
                self.do_it(key);
            }
            return if same { (200, answer) } else { (409, json!({})) };
        }
        let money = format!("{} {}", asked["amount"].as_str().expect("an amount"), asked["currency"].as_str().expect("a currency"));
        let amount = money.parse::<Money>().expect("money").minor();
        let state = match self.intent {
            _ if of.is_some_and(|payment| !self.has(payment, amount)) => State::Declined,
            Intent::Does => State::Completed,
            Intent::Refuses => State::Declined,
            Intent::DoesAfter(ms) => self.later(key, now + ms, true),
            Intent::RefusesAfter(ms) => self.later(key, now + ms, false),
        };
        let callback_url = callback_url.and_then(|url| Some(url.as_str()?.to_owned()));
        let taken = Taken { of: of.map(str::to_owned), asked, callback_url, amount, state };
        let answer = self.answer(key, &taken);
        if let Some(payment) = of {
            self.reversals.entry(payment.to_owned()).or_default().push(key.to_owned());
        }
        self.taken.insert(key.to_owned(), taken);
        if state == State::Completed {
            self.do_it(key);
        }
        (if matches!(state, State::Open { .. }) { 202 } else { 200 }, answer)
    }

    fn later(&mut self, key: &str, at: Millis, does: bool) -> State {
        self.open.add(at, key);
        State::Open { does }
    }

    fn do_it(&mut self, key: &str) {
        let taken = &self.taken[key];
        match taken.of {
            Some(_) => self.books.give_back(key, taken.amount),
            None => self.books.pay(key, taken.amount),
        }
    }

    /// Ends what is due, and reports it.
    fn pass(&mut self, now: Millis) {
        while let Some(key) = self.open.take(now) {
            let taken = self.taken.get_mut(&key).expect("it is there");
            let State::Open { does } = taken.state else { continue };
            taken.state = if does { State::Completed } else { State::Declined };
            if does {
                self.do_it(&key);
            }
            self.callbacks.extend(self.callback(&key, now));
        }
    }

    fn callback(&self, key: &str, now: Millis) -> Option<HttpRequest> {
        let taken = &self.taken[key];
        let own = taken.callback_url.as_deref().filter(|_| self.calls_back)?;
        // Of the two addresses, each key has one.
        let url = if key.ends_with('1') { own } else { own.rsplit_once('/')?.0 };
        let body = self.answer(key, taken).to_string();
        let (id, at_s) = (format!("cb_{key}"), now.div_euclid(1_000));
        let signature = sign(&[WebhookSecret::parse(SECRET).ok()?], &id, at_s, body.as_bytes());
        let request = HttpRequest::new("POST", url).header("content-type", "application/json").header(ID, id);
        Some(request.header(TIMESTAMP, at_s.to_string()).header(SIGNATURE, signature).body(body))
    }

    fn reply(&mut self, request: &HttpRequest, now: Millis) -> (u16, Value) {
        if !self.is_authentic(request) {
            return (401, json!({}));
        }
        let Some(path) = request.url.strip_prefix(&format!("{}/railgate/v1/", self.base_url)) else { return (404, json!({})) };
        let parts: Vec<&str> = path.split('/').collect();
        let (of, key) = match parts[..] {
            ["health"] => return (200, json!({"status": "up"})),
            ["payees"] => return (200, json!({"match": "match"})),
            ["payments", key] => (None, key),
            ["payments", payment, "reversals", key] => (Some(payment), key),
            _ => return (404, json!({})),
        };
        if request.method == "PUT" {
            return self.take(of, key, &request.body, now);
        }
        let found = self.taken.get(key).filter(|taken| taken.of.as_deref() == of && now >= self.hides_until);
        match found {
            Some(taken) => (200, self.answer(key, taken)),
            None => (404, json!({"authoritative": now >= self.hides_until})),
        }
    }
}

impl Operator for Keeper {
    fn serve(&mut self, request: &HttpRequest, now: Millis) -> HttpReply {
        self.pass(now);
        let (mut status, mut body) = self.reply(request, now);
        if std::mem::take(&mut self.mixes_up) {
            let asked = |key: &String| request.url.ends_with(key.as_str());
            let other = self.taken.iter().find(|(key, _)| !asked(key)).map(|(key, taken)| (200, self.answer(key, taken)));
            (status, body) = other.unwrap_or((200, json!({"status": "completed", "payment": "another"})));
        }
        HttpReply { status, headers: Vec::new(), body: body.to_string().into_bytes() }
    }

    fn callbacks(&mut self, now: Millis) -> Vec<HttpRequest> {
        self.pass(now);
        std::mem::take(&mut self.callbacks)
    }

    fn next_due(&self) -> Option<Millis> {
        if self.callbacks.is_empty() { self.open.next() } else { Some(0) }
    }

    fn intend(&mut self, intent: Intent) {
        self.intent = intent;
    }

    /// There are none: the token is one for ever.
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
