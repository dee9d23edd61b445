//! What an operator must do, one check after the other. Most apply to every rail; some are about what only adapters are told.

use std::thread;
use std::time::{Duration, Instant};

use railgate::api::{Action, RailCall};
use railgate::engine::{Heartbeat, PayeeQuestion};
use railgate::ids::ProviderNo;
use railgate::money::Money;
use railgate::participant::Participant;
use railgate::rail::adapter::{CALLBACK_SECRET, answer_in, health_in, payee_in};
use railgate::rail::{HttpReply, HttpRequest, Payee, PayeeMatch, RailAnswer};
use railgate::route::Capabilities;
use railgate::route::health::Health;
use railgate::time::Millis;
use serde_json::Value;

use super::Plan;
use super::stand::{Seen, Stand};

/// An answer that takes longer is worth a word.
const SLOW_MS: u64 = 5_000;
/// How often to ask about what was accepted.
const ASK_EVERY: Duration = Duration::from_millis(500);

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    /// It must be changed.
    Failed(String),
    /// It may stay, but it would be better otherwise.
    Advised(String),
    /// It does not apply.
    Skipped(String),
}

/// How a request is altered that an adapter must refuse.
type Forgery = fn(&mut HttpRequest);

impl Verdict {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Advised(_) => "advice",
            Self::Skipped(_) => "skipped",
        }
    }

    pub(crate) fn why(&self) -> Option<&str> {
        match self {
            Self::Passed => None,
            Self::Failed(why) | Self::Advised(why) | Self::Skipped(why) => Some(why),
        }
    }
}

/// A check, with what was sent and what came.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) about: &'static str,
    pub(crate) verdict: Verdict,
    /// What was expected.
    pub(crate) expected: &'static str,
    /// Where the protocol says so.
    pub(crate) says: &'static str,
    pub(crate) seen: Vec<Seen>,
}

/// A check that can be made.
struct Case {
    about: &'static str,
    expected: &'static str,
    /// Where the protocol of adapters says so, and that of all others.
    says: (&'static str, &'static str),
    /// Whether it is about what only adapters are told.
    adapters_only: bool,
    make: fn(&mut Run<'_>) -> Found,
}

/// An early end of a check, or `Ok` if it passed.
type Found<T = ()> = Result<T, Verdict>;

fn failed<T>(why: impl Into<String>) -> Found<T> {
    Err(Verdict::Failed(why.into()))
}

fn ours(error: railgate::Error) -> Verdict {
    Verdict::Failed(format!("the gateway of the test stopped: {error}"))
}

/// A page of the documentation of adapters, and its part about what must be kept.
const ENDPOINTS: &str = "docs/rails/adapter.md#the-five-endpoints";
const KEEPS: &str = "docs/rails/adapter.md#what-an-adapter-must-keep";
const MEANS: &str = "docs/rails/adapter.md#what-each-answer-means";
const SIGNS: &str = "docs/rails/adapter.md#signatures";
const CALLS_BACK: &str = "docs/rails/adapter.md#callbacks";
/// Those of the GSMA Mobile Money API.
const OFFERS: &str = "docs/rails/gsma.md#what-the-operator-must-offer";
const PROVES: &str = "docs/rails/gsma.md#what-counts-as-proof";

macro_rules! cases {
    ($($about:literal, $expected:literal, $says:expr, $adapters_only:literal, $make:ident;)*) => {
        &[$(Case { about: $about, expected: $expected, says: $says, adapters_only: $adapters_only, make: |run| run.$make() }),*]
    };
}

/// All checks, in order.
const CASES: &[Case] = cases! {
    "it says how the operator is", "up or degraded, within 5 seconds", (ENDPOINTS, OFFERS), false, health;
    "it knows a payee", "match or close_match for the payee whom it pays", (ENDPOINTS, OFFERS), false, known_payee;
    "it does not know everybody", "no_match for the payee whom nobody is", (ENDPOINTS, OFFERS), false, unknown_payee;
    "it pays", "completed, at once or within the time that the test waits", (ENDPOINTS, PROVES), false, pays;
    "it says what became of the payment", "the same answer as to the payment", (ENDPOINTS, PROVES), false, asked;
    "its answers name payment, amount and currency", "payment, amount and currency as they were asked for", (ENDPOINTS, PROVES), true, named;
    "the same payment again is the same payment", "the same answer, with the same reference: a key is paid once", (KEEPS, OFFERS), false, repeated;
    "the same payment twice at the same time is one", "the same answer to both", (KEEPS, OFFERS), true, at_once;
    "another payment under the same key is refused with 409", "409, and the payment stays what it was", (KEEPS, OFFERS), true, altered;
    "a key that was never sent is not found, with its word for it", "404 with {\"authoritative\": true}", (KEEPS, PROVES), false, never_sent;
    "it declines what it cannot pay", "declined for the payee whom nobody is", (MEANS, PROVES), false, declined;
    "it gives back", "completed for each part", (ENDPOINTS, OFFERS), false, reverses;
    "it says what became of the reversal", "completed, as before", (ENDPOINTS, PROVES), false, reversal_asked;
    "the same reversal again is the same reversal", "the same answer: a key gives back once", (KEEPS, OFFERS), true, reversal_repeated;
    "another reversal under the same key is refused with 409", "409, and the reversal stays what it was", (KEEPS, OFFERS), true, reversal_altered;
    "a reversal that was never sent is not found, with its word for it", "404 with {\"authoritative\": true}", (KEEPS, PROVES), true, reversal_never_sent;
    "it declines to give back more than is left", "declined", (KEEPS, OFFERS), true, too_much_back;
    "it declines to give back what was never paid", "declined", (KEEPS, OFFERS), true, nothing_to_give_back;
    "it refuses what the gateway did not sign", "401, and nothing is taken", (SIGNS, OFFERS), true, forged;
    "it refuses a wrong token", "401, and nothing is taken", (SIGNS, OFFERS), true, stranger_refused;
    "what it accepts, it ends, and reports with its signature", "accepted at first, then a signed callback about it, and an end", (CALLS_BACK, OFFERS), false, later;
};

/// The checks that were made, and what they found out on the way.
struct Run<'a> {
    stand: &'a Stand,
    plan: &'a Plan,
    checks: Vec<Check>,
    verifies: bool,
    /// The first payment, and what became of it.
    paid: Option<(RailCall, RailAnswer)>,
    reversed: Option<RailCall>,
}

/// Makes all checks that apply, in order.
pub(crate) fn run_all(stand: &Stand, plan: &Plan) -> Vec<Check> {
    let mut run = Run { stand, plan, checks: Vec::new(), verifies: false, paid: None, reversed: None };
    for case in CASES.iter().filter(|case| plan.is_adapter() || !case.adapters_only) {
        if plan.is_stopped() {
            break;
        }
        run.check(case);
    }
    run.timely();
    run.checks
}

impl Run<'_> {
    fn check(&mut self, case: &Case) {
        let verdict = if self.plan.is_over() {
            Verdict::Skipped("the time for the whole test is over".to_owned())
        } else {
            (case.make)(self).err().unwrap_or(Verdict::Passed)
        };
        let says = if self.plan.is_adapter() { case.says.0 } else { case.says.1 };
        self.checks.push(Check { about: case.about, verdict, expected: case.expected, says, seen: self.stand.take_seen() });
    }

    fn has(&self) -> Capabilities {
        self.plan.provider.capabilities
    }

    /// Sends a call as production would; the reply, whatever it is.
    fn reply(&self, call: &RailCall) -> Found<HttpReply> {
        self.reply_to(call, |_| ())
    }

    fn reply_to(&self, call: &RailCall, alter: impl Fn(&mut HttpRequest)) -> Found<HttpReply> {
        // A check may come long after the call was made.
        let call = RailCall { leave_by: Millis::MAX, ..call.clone() };
        self.stand.ask(call, alter).0.ok_or_else(|| self.no_answer())
    }

    fn no_answer(&self) -> Verdict {
        Verdict::Failed(format!("there was no answer in time, or none of at most 64 KiB: {}", self.stand.last_came()))
    }

    /// What the answer to a call means.
    fn answer(&self, call: &RailCall) -> Found<RailAnswer> {
        if self.plan.is_adapter() {
            let reply = self.reply(call)?;
            return answer_in(call, &reply).map_err(|why| Verdict::Failed(format!("the answer means nothing: {why}")));
        }
        let call = RailCall { leave_by: Millis::MAX, ..call.clone() };
        match self.stand.ask(call, |_| ()) {
            (None, _) | (_, None) => Err(self.no_answer()),
            (Some(_), Some(RailAnswer::Unknown)) => failed(format!("the answer proves nothing: {}", self.stand.last_came())),
            (Some(_), Some(answer)) => Ok(answer),
        }
    }

    fn first(&self) -> Found<(RailCall, RailAnswer)> {
        self.paid.clone().ok_or_else(|| Verdict::Skipped("there is no payment".to_owned()))
    }

    fn health(&mut self) -> Found {
        let (Some(reply), said) = self.stand.ask(Heartbeat(self.stand.provider()), |_| ()) else {
            return failed("there was no answer within 5 s");
        };
        let read: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        self.verifies = read["verifies_signatures"] == true;
        let said = if self.plan.is_adapter() {
            health_in(&reply)
        } else {
            said.flatten().ok_or_else(|| format!("the status {} does not say how it is", reply.status))
        };
        match said {
            Ok(Health::Up | Health::Degraded) => Ok(()),
            Ok(away @ (Health::Down | Health::Maintenance)) => {
                failed(format!("it says that the operator is {}: a gateway would send no payments", away.as_str()))
            }
            Err(why) => failed(why),
        }
    }

    fn payee(&self, to: &Participant) -> Found<PayeeMatch> {
        if !self.has().check_payee {
            return Err(Verdict::Skipped("its settings say that it knows no payees".to_owned()));
        }
        let payee = Payee { to: to.clone(), currency: self.plan.amount.currency() };
        let (reply, said) = self.stand.ask(PayeeQuestion { provider: self.stand.provider(), payee }, |_| ());
        let reply = reply.ok_or_else(|| Verdict::Failed("there was no answer in time".to_owned()))?;
        if self.plan.is_adapter() {
            return payee_in(&reply).map(|view| view.payee_match).map_err(Verdict::Failed);
        }
        said.map(|view| view.payee_match).ok_or_else(|| Verdict::Failed("the answer says nothing about the payee".to_owned()))
    }

    fn unknown(&self) -> Found<Participant> {
        self.plan.unknown_to.clone().ok_or_else(|| Verdict::Skipped("nobody is named whom it does not know (unknown_to)".to_owned()))
    }

    fn known_payee(&mut self) -> Found {
        match self.payee(&self.plan.to)? {
            PayeeMatch::Match | PayeeMatch::CloseMatch => Ok(()),
            PayeeMatch::NotAvailable => Err(Verdict::Advised("it knows no payees: set payees = \"no\" for the provider".to_owned())),
            PayeeMatch::NoMatch => failed("it must know the payee of --to"),
        }
    }

    fn unknown_payee(&mut self) -> Found {
        let unknown = self.unknown()?;
        match self.payee(&unknown)? {
            PayeeMatch::NoMatch => Ok(()),
            PayeeMatch::NotAvailable => Err(Verdict::Skipped("it knows no payees".to_owned())),
            PayeeMatch::Match | PayeeMatch::CloseMatch => failed("it must not know the payee of --unknown-to"),
        }
    }

    /// Asks again until it is not `accepted` any more.
    fn until_final(&self, asked: &RailCall, mut answer: RailAnswer) -> Found<RailAnswer> {
        let (end, mut asked) = (self.plan.patience(), asked.clone());
        while let RailAnswer::Accepted { rail_reference } = &answer
            && Instant::now() < end
            && !self.plan.is_stopped()
        {
            // Adapters are asked by the key alone; others may have said where to ask.
            if !self.plan.is_adapter() && rail_reference.is_some() {
                asked.rail_reference.clone_from(rail_reference);
            }
            thread::sleep(ASK_EVERY);
            answer = self.answer(&inquiry(&asked))?;
        }
        Ok(answer)
    }

    fn pays(&mut self) -> Found {
        let call = self.stand.pay(&self.plan.to, self.plan.amount).map_err(ours)?;
        let first = self.answer(&call)?;
        let answer = self.until_final(&call, first)?;
        self.stand.report(&call, answer.clone()).map_err(ours)?;
        match &answer {
            RailAnswer::Completed { .. } => self.paid = Some((call, answer)),
            RailAnswer::Accepted { .. } => return failed(format!("it was not completed within {} s (--wait)", self.plan.wait.as_secs())),
            RailAnswer::Declined { code, .. } => return failed(format!("it must pay the payee of --to, but declined: {}", code.as_str())),
            RailAnswer::NotSent | RailAnswer::Unknown | RailAnswer::Returned { .. } => return failed("it must pay the payee of --to"),
        }
        Ok(())
    }

    fn same(&self, call: &RailCall, expected: &RailAnswer) -> Found {
        let answer = self.answer(call)?;
        if answer == *expected { Ok(()) } else { failed(format!("it answered {expected:?} before, and now {answer:?}")) }
    }

    fn asked(&mut self) -> Found {
        let (call, answer) = self.first()?;
        if self.plan.is_adapter() {
            return self.same(&inquiry(&call), &answer);
        }
        match self.answer(&inquiry(&call))? {
            RailAnswer::Completed { .. } => Ok(()),
            other => failed(format!("it was completed before, and is now {other:?}")),
        }
    }

    fn named(&mut self) -> Found {
        let (call, _) = self.first()?;
        let reply = self.reply(&inquiry(&call))?;
        let said: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let missing: Vec<_> = ["payment", "amount", "currency"].into_iter().filter(|name| !said[name].is_string()).collect();
        let why = || format!("it has no {}: with them, the gateway notices if an answer is about something else", missing.join(", "));
        if missing.is_empty() { Ok(()) } else { Err(Verdict::Advised(why())) }
    }

    fn repeated(&mut self) -> Found {
        let (call, answer) = self.first()?;
        if self.plan.is_adapter() {
            return self.same(&call, &answer);
        }
        let again = RailCall { leave_by: Millis::MAX, ..call };
        // That it is a duplicate may be said in many ways; only another payment is wrong.
        match self.stand.ask(again, |_| ()).1 {
            Some(other @ RailAnswer::Completed { .. }) if other != answer => {
                failed(format!("it answered {answer:?} before, and now {other:?}"))
            }
            Some(_) => Ok(()),
            None => Err(self.no_answer()),
        }
    }

    fn at_once(&mut self) -> Found {
        self.first()?;
        let call = self.stand.pay(&self.plan.to, self.plan.amount).map_err(ours)?;
        let ask = || self.answer(&call).and_then(|answer| self.until_final(&call, answer));
        let (one, other) = thread::scope(|scope| {
            let other = scope.spawn(ask);
            (ask(), other.join())
        });
        let other = other.unwrap_or_else(|_| failed("the test broke off"));
        match (one?, other?) {
            (one, other) if one == other && matches!(one, RailAnswer::Completed { .. }) => Ok(()),
            (one, other) => failed(format!("it answered {one:?} and {other:?}")),
        }
    }

    /// Expects 409 for `other`, and that `call` stays what it was.
    fn conflicts(&self, call: &RailCall, other: &RailCall, expected: &RailAnswer) -> Found {
        let reply = self.reply(other)?;
        if reply.status != 409 {
            return failed(format!("the status is {} instead of 409", reply.status));
        }
        self.same(&inquiry(call), expected)
    }

    fn altered(&mut self) -> Found {
        let (call, answer) = self.first()?;
        let more = RailCall { money: minor(&call, call.money.minor() + 1), ..call.clone() };
        self.conflicts(&call, &more, &answer)?;
        match self.plan.later_to.clone().or_else(|| self.plan.unknown_to.clone()) {
            Some(to) => self.conflicts(&call, &RailCall { to, ..call.clone() }, &answer),
            None => Ok(()),
        }
    }

    fn not_found(&self, call: &RailCall) -> Found {
        if !self.plan.is_adapter() {
            let call = RailCall { leave_by: Millis::MAX, ..call.clone() };
            return match self.stand.ask(call, |_| ()) {
                (Some(_), Some(RailAnswer::NotSent)) => Ok(()),
                (Some(_), Some(RailAnswer::Unknown)) => {
                    Err(Verdict::Advised("it does not vouch for that: a payment that got lost waits for a person".to_owned()))
                }
                (Some(_), Some(other)) => failed(format!("it answered {other:?} about a key that was never sent")),
                (None, _) | (_, None) => Err(self.no_answer()),
            };
        }
        let reply = self.reply(call)?;
        match answer_in(call, &reply) {
            Ok(RailAnswer::NotSent) => Ok(()),
            Ok(other) => failed(format!("it answered {other:?} about a key that was never sent")),
            Err(_) if reply.status == 404 && reply.json().is_some_and(|said| said["authoritative"] == false) => {
                Err(Verdict::Advised("it does not vouch for that: a payment that got lost waits for a person".to_owned()))
            }
            Err(_) if reply.status == 404 => failed("404 needs a body that says whether it is authoritative"),
            Err(why) => failed(why),
        }
    }

    fn never_sent(&mut self) -> Found {
        let call = self.stand.pay(&self.plan.to, self.plan.amount).map_err(ours)?;
        self.not_found(&inquiry(&call))
    }

    fn declined(&mut self) -> Found {
        let unknown = self.unknown()?;
        let call = self.stand.pay(&unknown, self.plan.amount).map_err(ours)?;
        let first = self.answer(&call)?;
        match self.until_final(&call, first)? {
            RailAnswer::Declined { .. } => Ok(()),
            other => failed(format!("it must decline to pay the payee of --unknown-to, but answered {other:?}")),
        }
    }

    /// The first payment, if it can be given back.
    fn reversible(&self) -> Found<RailCall> {
        if self.has().reverse {
            self.first().map(|(call, _)| call)
        } else {
            Err(Verdict::Skipped("its settings say that it takes no reversals (--reversals)".to_owned()))
        }
    }

    fn back(&self) -> Found<RailCall> {
        self.reversible()?;
        self.reversed.clone().ok_or_else(|| Verdict::Skipped("there is no reversal".to_owned()))
    }

    fn reverses(&mut self) -> Found {
        let paid = self.reversible()?;
        let whole = paid.money.minor();
        let parts = if self.has().partial_reverse { vec![whole / 4, whole - whole / 4] } else { vec![whole] };
        for part in parts {
            let call = self.stand.reverse(&paid, minor(&paid, part)).map_err(ours)?;
            let first = self.answer(&call)?;
            let answer = self.until_final(&call, first)?;
            if !matches!(answer, RailAnswer::Completed { .. }) {
                return failed(format!("it must give back {}, but answered {answer:?}", call.money.decimal()));
            }
            self.stand.report(&call, answer).map_err(ours)?;
            self.reversed = Some(call);
        }
        Ok(())
    }

    fn reversal_asked(&mut self) -> Found {
        match self.answer(&inquiry(&self.back()?))? {
            RailAnswer::Completed { .. } => Ok(()),
            other => failed(format!("it was completed before, and is now {other:?}")),
        }
    }

    fn reversal_repeated(&mut self) -> Found {
        let call = self.back()?;
        let before = self.answer(&inquiry(&call))?;
        self.same(&call, &before)
    }

    fn reversal_altered(&mut self) -> Found {
        let call = self.back()?;
        let before = self.answer(&inquiry(&call))?;
        let less = RailCall { money: minor(&call, call.money.minor() - 1), ..call.clone() };
        self.conflicts(&call, &less, &before)
    }

    fn reversal_never_sent(&mut self) -> Found {
        let call = self.back()?;
        self.not_found(&inquiry(&another(&call, "R91")))
    }

    fn too_much_back(&mut self) -> Found {
        let call = self.back()?;
        self.declines(&RailCall { money: minor(&call, 1), ..another(&call, "R92") })
    }

    fn nothing_to_give_back(&mut self) -> Found {
        let call = self.back()?;
        let unpaid = call.paid_as.as_ref().map(|(key, _)| (another_key(key, "91"), None));
        self.declines(&RailCall { paid_as: unpaid, ..another(&call, "R93") })
    }

    fn declines(&self, call: &RailCall) -> Found {
        let first = self.answer(call)?;
        match self.until_final(call, first)? {
            RailAnswer::Declined { .. } => Ok(()),
            other => failed(format!("it answered {other:?}")),
        }
    }

    fn forged(&mut self) -> Found {
        if !self.verifies {
            let why = "its health does not say verifies_signatures: whoever reaches it, or learns its token, can have it pay";
            return Err(Verdict::Advised(why.to_owned()));
        }
        let forgeries: [(&str, Forgery); 4] = [
            ("without a signature", |request| request.headers.retain(|(name, _)| !name.starts_with("signature"))),
            ("with another body", |request| {
                request.body = String::from_utf8_lossy(&request.body).replace(r#""amount":""#, r#""amount":"9"#).into_bytes();
            }),
            ("for another address", |request| request.url.push('9')),
            ("with another signature", |request| {
                let signatures = request.headers.iter_mut().filter(|(name, _)| name == "signature");
                signatures.for_each(|(_, value)| *value = format!("sig1=:{}==:", "A".repeat(86)));
            }),
        ];
        for (what, alter) in forgeries {
            let call = self.stand.pay(&self.plan.to, self.plan.amount).map_err(ours)?;
            self.refuses(&call, what, alter)?;
        }
        Ok(())
    }

    /// Expects that the altered call is refused, and that nothing was taken.
    fn refuses(&self, call: &RailCall, what: &str, alter: fn(&mut HttpRequest)) -> Found {
        let reply = self.reply_to(call, alter)?;
        if reply.status != 401 {
            return failed(format!("a payment {what} was answered with {} instead of 401", reply.status));
        }
        match answer_in(&inquiry(call), &self.reply(&inquiry(&RailCall { provider: self.stand.provider(), ..call.clone() }))?) {
            Ok(RailAnswer::Completed { .. } | RailAnswer::Accepted { .. }) => failed(format!("a payment {what} was taken")),
            Ok(RailAnswer::Declined { .. } | RailAnswer::NotSent | RailAnswer::Unknown | RailAnswer::Returned { .. }) | Err(_) => Ok(()),
        }
    }

    fn stranger_refused(&mut self) -> Found {
        let provider: ProviderNo = self.stand.stranger().ok_or_else(|| Verdict::Skipped("it expects no token (--token)".to_owned()))?;
        let call = self.stand.pay(&self.plan.to, self.plan.amount).map_err(ours)?;
        self.refuses(&RailCall { provider, ..call }, "with a wrong token", |_| ())
    }

    fn later(&mut self) -> Found {
        let unnamed = || Verdict::Skipped("nobody is named whom it pays later (later_to)".to_owned());
        let later_to = self.plan.later_to.clone().ok_or_else(unnamed)?;
        let has_secret = self.plan.provider.secrets.get(CALLBACK_SECRET).is_some();
        let call = self.stand.pay(&later_to, self.plan.amount).map_err(ours)?;
        let answer = self.answer(&call)?;
        if !matches!(answer, RailAnswer::Accepted { .. }) {
            return Err(Verdict::Skipped("it did not accept the payment to --later-to for later".to_owned()));
        }
        self.stand.report(&call, answer.clone()).map_err(ours)?;
        if has_secret {
            self.reported(&call)?;
        }
        if matches!(self.until_final(&call, answer)?, RailAnswer::Accepted { .. }) {
            return failed(format!("it was not ended within {} s (--wait)", self.plan.wait.as_secs()));
        }
        if has_secret || !self.plan.is_adapter() {
            return Ok(());
        }
        Err(Verdict::Skipped("it ended; its callbacks were not tested (--callback-secret)".to_owned()))
    }

    /// Waits for a callback about a payment.
    fn reported(&self, call: &RailCall) -> Found {
        let end = self.plan.patience();
        loop {
            let Some(arrived) = self.stand.arrived(end.saturating_duration_since(Instant::now())) else {
                return Err(Verdict::Advised(format!("no callback arrived within {} s: the gateway has to ask", self.plan.wait.as_secs())));
            };
            match arrived.read {
                Ok(subject) if subject == call.subject => return Ok(()),
                // About an earlier one.
                Ok(_) => {}
                Err(why) => return failed(format!("a callback was refused: {why}: {}", arrived.body)),
            }
        }
    }

    /// How long all answers took.
    fn timely(&mut self) {
        let slowest = self.checks.iter().flat_map(|check| &check.seen).max_by_key(|seen| seen.took_ms).cloned();
        let verdict = match &slowest {
            Some(seen) if seen.took_ms >= SLOW_MS => {
                Verdict::Advised(format!("the slowest took {} ms: accept what takes long, and report it later", seen.took_ms))
            }
            Some(_) | None => Verdict::Passed,
        };
        let verdict = if self.plan.is_over() {
            Verdict::Failed("it was so slow that the whole test did not end in its time".to_owned())
        } else {
            verdict
        };
        let says = if self.plan.is_adapter() { KEEPS } else { OFFERS };
        let expected = "each answer within 5 seconds; what takes longer is accepted, and reported later";
        self.checks.push(Check { about: "it answers in time", verdict, expected, says, seen: slowest.into_iter().collect() });
    }
}

/// The question about a call.
fn inquiry(call: &RailCall) -> RailCall {
    let action = match call.action {
        Action::Submit | Action::Inquire => Action::Inquire,
        Action::Reverse | Action::InquireReversal => Action::InquireReversal,
    };
    RailCall { action, ..call.clone() }
}

fn minor(call: &RailCall, minor: i64) -> Money {
    Money::from_minor(minor, call.money.currency())
}

/// A call under a key that the gateway never used.
fn another(call: &RailCall, which: &str) -> RailCall {
    RailCall { rail_key: another_key(&call.rail_key, which), ..call.clone() }
}

fn another_key(key: &str, which: &str) -> String {
    format!("{}-{which}", key.split('-').next().unwrap_or_default())
}
