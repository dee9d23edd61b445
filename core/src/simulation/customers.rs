//! Clients of a simulated gateway: they pay, give back, send calls again, and look at what is not theirs.

use std::collections::BTreeMap;

use crate::api::{Caller, IdempotencyKey, SignedBy, Target};
use crate::auth::{ScopeSet, Signer as _, SoftwareKey};
use crate::engine::{AddKey, Approve, Create, Created, Engine, EnrollLive, Reverse, Reversed, Signed};
use crate::env::Env as _;
use crate::error::{Error, ErrorCode};
use crate::ids::{KeyNo, Ulid};
use crate::ledger::Mode;
use crate::money::{Currency, Money};
use crate::participant::{Participant, Reference};
use crate::time::Millis;
use crate::validate::{CreateRequest, parse_reverse};

use super::Part;
use super::model::{Back, Verdict};
use super::rails::{Callback, FEE, OPERATORS};
use super::users::Phone;
use super::world::{DAY, World, cents, enrol, fault, in_doubt, operated};

/// Payees of a sandbox, by what becomes of the payments.
const PAYEES: [&str; 10] = [
    "sim:ok",
    "sim:slow-30s",
    "sim:decline-over_limit",
    "sim:timeout-then-ok",
    "sim:timeout-then-fail",
    "sim:late-ok-after-fail",
    "sim:duplicate-callback",
    "sim:failover",
    "sim:returned-after-1d",
    "sim:reverse-fail",
];
/// How long a client sends a call again under the same key: less than a week.
const KEYS_MS: Millis = 6 * DAY;
/// How many calls of a client somebody has recorded.
const RECORDED: usize = 48;

/// A client.
pub(super) struct Customer {
    /// With its sandbox credential.
    pub(super) caller: Caller,
    pub(super) key: KeyNo,
    /// Those of its user, in each mode.
    pub(super) phones: [Phone; 2],
    references: u64,
    calls: u64,
    sent: Vec<Sent>,
    /// What it asked for under each reference.
    asked: BTreeMap<String, CreateRequest>,
}

/// A call that got no answer, and is made again.
pub(super) enum Again {
    /// One of a client.
    Sent(usize, Sent),
    /// A person decides about what waits for a second one.
    Decision { who: usize, approval: Ulid, confirm: bool },
    /// A user decides about a payment.
    Consent { id: String, approve: bool },
    /// An operator calls back.
    Callback(Callback),
}

/// A signed call as it was sent.
#[derive(Clone)]
pub(super) struct Sent {
    what: What,
    /// Whether there was an answer that says what happened.
    answered: bool,
    at: Millis,
}

#[derive(Clone)]
enum What {
    Pay(Box<Signed<Create>>),
    GiveBack { call: Box<Signed<Reverse>>, settlement: String, name: String },
}

impl Customer {
    pub(super) fn enrol(eye: &Engine, n: u8) -> Result<Self, Error> {
        let caller = enrol(eye, format!("Client {n}"))?;
        let key = SoftwareKey::ed25519(&[n + 1; 32]).public_key();
        let key = eye.run(AddKey { caller, key, label: None, scopes: ScopeSet::CLIENT })?.no;
        let live = SoftwareKey::ed25519(&[n + 50; 32]).public_key();
        eye.run(EnrollLive { caller, key: live })?;
        operated(eye, Approve { client: caller.client_id, key: None })?;
        let phones = Phone::pair(eye, caller, n)?;
        Ok(Self { caller, key, phones, references: 0, calls: 0, sent: Vec::new(), asked: BTreeMap::new() })
    }

    fn record(&mut self, sent: Sent, place: usize) {
        if self.sent.len() < RECORDED {
            self.sent.push(sent);
        } else {
            self.sent[place % RECORDED] = sent;
        }
    }
}

fn mode(live: bool) -> Mode {
    if live { Mode::Live } else { Mode::Sandbox }
}

impl World<'_> {
    /// A client pays: something new, or something that it asked for before.
    pub(super) fn pay(&mut self) -> Verdict {
        let who = self.random.index(self.customers.len());
        let live = !self.random.one_in(4) || !self.has(Part::Sandbox);
        let repeats = self.random.one_in(6) && self.has(Part::Repeats);
        let request = match self.earlier(who).filter(|_| repeats) {
            Some(mut earlier) => {
                // Not quite the same request must be refused.
                if self.random.one_in(4) {
                    earlier.money = Money::from_minor(earlier.money.minor() + 1, earlier.money.currency());
                }
                earlier
            }
            None => self.fresh(who, live)?,
        };
        let live = request.reference.as_str().contains("live");
        let (caller, key) = self.who_pays(who, request.reference.as_str());
        let by = self.signed_by(caller.client, key);
        self.model.asks(who, live, request.reference.as_str(), request.money.minor().into(), request.to.as_str());
        let call = Signed { by, command: Create { caller, request: Box::new(request) } };
        self.send_payment(who, call)
    }

    /// The client, or its user's phone: whoever asked first under a reference.
    fn who_pays(&self, who: usize, reference: &str) -> (Caller, KeyNo) {
        let (customer, live) = (&self.customers[who], reference.contains("live"));
        if reference.contains("phone") {
            let phone = customer.phones[usize::from(live)];
            return (phone.caller, phone.key);
        }
        (Caller { mode: mode(live), ..customer.caller }, customer.key)
    }

    fn earlier(&mut self, who: usize) -> Option<CreateRequest> {
        let asked = &self.customers[who].asked;
        let at = self.random.index(asked.len());
        asked.values().nth(at).cloned()
    }

    fn fresh(&mut self, who: usize, live: bool) -> Result<CreateRequest, String> {
        let by_phone = self.random.one_in(10) && self.has(Part::Users);
        let customer = &mut self.customers[who];
        customer.references += 1;
        let reference = format!("{}-{}{who}-{}", mode(live).as_str(), if by_phone { "phone-" } else { "" }, customer.references);
        let minor = match self.random.below(30) {
            0 => 40_000,
            1 | 2 => 9_000,
            _ => 1 + self.random.below(900) as i64,
        };
        let between = self.random.one_in(8) && self.has(Part::Books);
        let payee = (who + 1 + self.random.index(2)) % self.customers.len();
        let to = match live {
            _ if between => format!("participant:cli_{}", self.customers[payee].caller.client_id),
            true => format!("msisdn:+25470000{:04}", self.random.below(10_000)),
            false => self.random.pick(&PAYEES).to_owned(),
        };
        let currency = Currency::from_code("EUR").ok_or("there are no euros")?;
        let participant = Participant::parse(&to).map_err(fault)?;
        let reference = Reference::parse(&reference).map_err(fault)?;
        let mut request = CreateRequest::new(Money::from_minor(minor, currency), participant, reference.clone());
        if self.random.one_in(10) {
            request.expires_at = Some(self.env.now() + 1_000 + self.random.below(60_000) as i64);
        }
        if live && !between && self.random.one_in(4) {
            request.provider = Some(self.operators[self.random.index(OPERATORS)].id.to_owned());
        }
        self.customers[who].asked.insert(reference.as_str().to_owned(), request.clone());
        Ok(request)
    }

    /// Sends a create as a host does: it goes no further if its nonce is spent.
    fn send_payment(&mut self, who: usize, call: Signed<Create>) -> Verdict {
        let node = self.node();
        if self.nodes[node].engine.is_burnt(&call.by.nonce.hash).unwrap_or(true) {
            return Ok(());
        }
        let result = self.run(node, call.clone())?;
        let place = self.random.index(RECORDED);
        let answered = !matches!(&result, Err(error) if in_doubt(error));
        self.unanswered =
            (!answered).then(|| Again::Sent(who, Sent { what: What::Pay(Box::new(call.clone())), answered, at: self.env.now() }));
        let Create { caller, request } = &call.command;
        let (reference, live) = (request.reference.as_str(), caller.mode == Mode::Live);
        match result {
            Ok(Created { settlement, .. }) => {
                let view = self.eye.view(&settlement, caller.client_id);
                if cents(view.amount.as_str()) != request.money.minor().into() {
                    return Err(format!("{reference} asks for {}, and the answer is {view:?}", request.money.decimal()));
                }
                let id = view.id.to_string();
                self.model.answered(who, reference, &id)?;
            }
            Err(error) => {
                let known = [
                    ErrorCode::StoreUnavailable,
                    ErrorCode::ReferenceConflict,
                    ErrorCode::InsufficientFunds,
                    ErrorCode::AccountNotFound,
                    ErrorCode::LimitDailyCount,
                    ErrorCode::LimitDailyValue,
                    ErrorCode::NoRoute,
                    ErrorCode::NonceReplayed,
                    ErrorCode::InvalidFields,
                ];
                if !known.contains(&error.code) {
                    return Err(format!("{reference} is refused: {error}"));
                }
                let leaves = live && request.to.as_str().starts_with("msisdn:");
                let fee = if leaves { FEE.into() } else { 0 };
                self.model.refused((who, live), request.money.minor().into(), fee, self.env.now(), error.code.as_str())?;
            }
        }
        let sent = Sent { what: What::Pay(Box::new(call)), answered, at: self.env.now() };
        self.customers[who].record(sent, place);
        Ok(())
    }

    /// A client wants money back: of a payment of its own, in whole or in part.
    pub(super) fn give_back(&mut self) -> Verdict {
        let who = self.random.index(self.customers.len());
        let Some(payment) = self.earlier(who) else { return Ok(()) };
        let Some(settlement) = self.model.id_of(who, payment.reference.as_str()).map(str::to_owned) else { return Ok(()) };
        let live = payment.reference.as_str().contains("live");
        let caller = Caller { mode: mode(live), ..self.customers[who].caller };
        let minor = payment.money.minor();
        let part = match self.random.below(6) {
            0 => Some(minor + 1),
            1 => Some(minor),
            2 | 3 => Some(1 + self.random.below(minor as u64) as i64),
            _ => None,
        };
        self.customers[who].calls += 1;
        let calls = self.customers[who].calls;
        let amount = part.map(|part| format!(r#""amount":"{}""#, Money::from_minor(part, payment.money.currency()).decimal()));
        let (name, idempotency, reference) = match self.random.below(3) {
            0 => (format!("key k{who}-{calls}"), Some(format!("k{who}-{calls}")), None),
            1 => (format!("reference v{who}-{calls}"), None, Some(format!(r#""reference":"v{who}-{calls}""#))),
            _ => (format!("call {who}-{calls}"), None, None),
        };
        let body = format!("{{{}}}", amount.into_iter().chain(reference).collect::<Vec<_>>().join(","));
        let request = Box::new(parse_reverse(body.as_bytes()).map_err(fault)?);
        let idempotency = idempotency.map(|key| IdempotencyKey { fingerprint: [calls as u8; 32], key });
        let by = self.signed_by(caller.client, self.customers[who].key);
        let command = Reverse { caller, target: Target::Reference(payment.reference), request, idempotency };
        self.send_back(who, Signed { by, command }, &settlement, &name, (self.env.now(), false))
    }

    /// `first` is when it was sent for the first time, and whether this very call was answered.
    fn send_back(&mut self, who: usize, call: Signed<Reverse>, settlement: &str, name: &str, first: (Millis, bool)) -> Verdict {
        let (at, answered_before) = first;
        let node = self.node();
        self.model.asks_back(settlement, name);
        let result = self.run(node, call.clone())?;
        let place = self.random.index(RECORDED);
        // That it was used says nothing of what it did, and a standby may lack that.
        let answered = !matches!(&result, Err(error) if in_doubt(error) || error.code == ErrorCode::NonceReplayed);
        match result {
            Ok(Reversed { .. }) if answered_before => return Err(format!("a nonce that was used did something again: {name}")),
            Ok(Reversed { settlement: record, reversal, replayed }) => {
                let id = reversal.map(|reversal| self.eye.reversal_view(&record, &reversal).id);
                let answer = id.as_deref().map_or(Back::Cancelled, |id| Back::Reversed(id, replayed));
                self.model.gives_back(settlement, name, answer)?;
            }
            Err(error) if in_doubt(&error) => {}
            Err(error) if error.code == ErrorCode::NonceReplayed => {}
            Err(_) if answered_before => return Err(format!("a nonce that was used is not known any more: {name}")),
            Err(_) => self.model.gives_back(settlement, name, Back::Refused)?,
        }
        if !answered_before {
            let (settlement, name) = (settlement.to_owned(), name.to_owned());
            let sent = Sent { what: What::GiveBack { call: Box::new(call), settlement, name }, answered, at };
            self.unanswered = (!answered).then(|| Again::Sent(who, sent.clone()));
            self.customers[who].record(sent, place);
        }
        Ok(())
    }

    /// Whoever got no answer asks again at once.
    pub(super) fn ask_again(&mut self) -> Verdict {
        match self.unanswered.take() {
            None => Ok(()),
            Some(Again::Sent(who, sent)) => self.send_once_more(who, sent, true),
            Some(Again::Decision { who, approval, confirm }) => self.decide_as(who, approval, confirm).map(drop),
            Some(Again::Consent { id, approve }) => self.decide_as_user(&id, approve, (false, false)).map(drop),
            Some(Again::Callback(callback)) => self.callback(&callback),
        }
    }

    /// Somebody sends a recorded call again; or a client does so itself, signed anew.
    pub(super) fn send_again(&mut self) -> Verdict {
        let who = self.random.index(self.customers.len());
        let draws = [(); 3].map(|()| self.random.index(self.customers[who].sent.len()));
        // Rather what gives money back: clients ask for payments again by themselves.
        let gives_back = |at: &&usize| matches!(self.customers[who].sent.get(**at), Some(Sent { what: What::GiveBack { .. }, .. }));
        let at = draws.iter().find(gives_back).copied().unwrap_or(draws[0]);
        let anew = self.random.one_in(2);
        let Some(sent) = self.customers[who].sent.get(at).cloned() else { return Ok(()) };
        self.send_once_more(who, sent, anew)
    }

    /// Sends a call again, signed anew or as it was.
    fn send_once_more(&mut self, who: usize, sent: Sent, anew: bool) -> Verdict {
        let Sent { what, answered, at } = sent;
        // What a key was used for is known for a week, however often it is used.
        let is_recent = self.env.now() - at < KEYS_MS;
        let anew = anew && is_recent;
        match what {
            What::Pay(call) => {
                let call = if anew { Signed { by: self.anew(&call.by), command: call.command } } else { *call };
                self.send_payment(who, call)
            }
            // Without a name, it would be another reversal.
            What::GiveBack { call, settlement, name } if anew && !name.starts_with("call") => {
                let call = Signed { by: self.anew(&call.by), command: call.command };
                let settlement = self.named_by(who, &call, settlement);
                self.send_back(who, call, &settlement, &name, (at, false))
            }
            // It may not have counted, and then a gateway takes its signature for minutes only: here, signatures last.
            What::GiveBack { name, .. } if !answered && !is_recent && name.starts_with("key") => Ok(()),
            What::GiveBack { call, settlement, name } => {
                let settlement = self.named_by(who, &call, settlement);
                self.send_back(who, *call, &settlement, &name, (at, answered))
            }
        }
    }

    /// The settlement that a call names: another one than when it was first sent, if that was lost with its primary and asked for again.
    fn named_by(&self, who: usize, call: &Signed<Reverse>, before: String) -> String {
        match &call.command.target {
            Target::Reference(reference) => self.model.id_of(who, reference.as_str()).map_or(before, str::to_owned),
            Target::Id(_) => before,
        }
    }

    fn anew(&mut self, by: &SignedBy) -> SignedBy {
        self.signed_by(by.client, by.key)
    }

    /// A client looks for what is not its own: another's, or what its credential does not show.
    pub(super) fn pry(&mut self) -> Verdict {
        let (who, of) = (self.random.index(self.customers.len()), self.random.index(self.customers.len()));
        let Some(payment) = self.earlier(of) else { return Ok(()) };
        let live = payment.reference.as_str().contains("live");
        let Some(id) = self.model.id_of(of, payment.reference.as_str()).map(str::to_owned) else { return Ok(()) };
        let as_live = self.random.one_in(2);
        let caller = Caller { mode: mode(as_live), ..self.customers[who].caller };
        let is_own = who == of && (as_live || !live);
        let node = self.node();
        let Some(target) = Target::parse(&id) else { return Err(format!("{id} is no id")) };
        match self.nodes[node].engine.settlement(&caller, &target) {
            Ok(_) if !is_own => {
                return Err(format!("client {who} ({}) sees {} of client {of}", caller.mode.as_str(), payment.reference.as_str()));
            }
            Err(error) if is_own && error.code == ErrorCode::SettlementNotFound => {
                return Err(format!("client {who} does not see its {id}"));
            }
            Ok(_) | Err(_) => {}
        }
        if is_own {
            return Ok(());
        }
        // Nor can it do anything about it.
        let request = Box::new(parse_reverse(b"{}").map_err(fault)?);
        let by = self.signed_by(caller.client, self.customers[who].key);
        match self.run(node, Signed { by, command: Reverse { caller, target, request, idempotency: None } })? {
            Ok(_) => Err(format!("client {who} gives back {id} of client {of}")),
            Err(_) => Ok(()),
        }
    }
}
