//! What an adapter must do, one check after the other.

use std::thread;
use std::time::{Duration, Instant};

use railgate::api::{Action, RailCall};
use railgate::engine::{Heartbeat, PayeeQuestion};
use railgate::ids::ProviderNo;
use railgate::money::Money;
use railgate::participant::Participant;
use railgate::rail::adapter::{answer_in, health_in, payee_in};
use railgate::rail::{HttpReply, HttpRequest, Payee, PayeeMatch, RailAnswer};
use railgate::route::health::Health;
use railgate::time::Millis;
use serde_json::Value;

use super::stand::{Seen, Stand};
use super::{Reversals, TestArgs};

/// An answer that takes longer is worth a word.
const SLOW_MS: u64 = 5_000;
/// How often to ask about what was accepted.
const ASK_EVERY: Duration = Duration::from_millis(500);

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
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
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Advised(_) => "advice",
            Self::Skipped(_) => "skipped",
        }
    }

    pub(super) fn why(&self) -> Option<&str> {
        match self {
            Self::Passed => None,
            Self::Failed(why) | Self::Advised(why) | Self::Skipped(why) => Some(why),
        }
    }
}

/// A check, with what was sent and what came.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) about: &'static str,
    pub(super) verdict: Verdict,
    pub(super) seen: Vec<Seen>,
}

/// An early end of a check, or `Ok` if it passed.
type Found<T = ()> = Result<T, Verdict>;

fn failed<T>(why: impl Into<String>) -> Found<T> {
    Err(Verdict::Failed(why.into()))
}

fn ours(error: railgate::Error) -> Verdict {
    Verdict::Failed(format!("the gateway of the test stopped: {error}"))
}

/// The checks that were made, and what they found out on the way.
struct Run<'a> {
    stand: Stand,
    args: &'a TestArgs,
    checks: Vec<Check>,
    verifies: bool,
    /// The first payment, and what became of it.
    paid: Option<(RailCall, RailAnswer)>,
    reversed: Option<RailCall>,
}

/// Makes all checks, in order.
pub(super) fn run_all(stand: Stand, args: &TestArgs) -> Vec<Check> {
    let mut run = Run { stand, args, checks: Vec::new(), verifies: false, paid: None, reversed: None };
    run.check("it says how the operator is", Run::health);
    run.check("it knows a payee", Run::known_payee);
    run.check("it does not know everybody", Run::unknown_payee);
    run.check("it pays", Run::pays);
    run.check("it says what became of the payment", Run::asked);
    run.check("its answers name payment, amount and currency", Run::named);
    run.check("the same payment again is the same payment", Run::repeated);
    run.check("the same payment twice at the same time is one", Run::at_once);
    run.check("another payment under the same key is refused with 409", Run::altered);
    run.check("a key that was never sent is not found, with its word for it", Run::never_sent);
    run.check("it declines what it cannot pay", Run::declined);
    run.check("it gives back", Run::reverses);
    run.check("it says what became of the reversal", Run::reversal_asked);
    run.check("the same reversal again is the same reversal", Run::reversal_repeated);
    run.check("another reversal under the same key is refused with 409", Run::reversal_altered);
    run.check("a reversal that was never sent is not found, with its word for it", Run::reversal_never_sent);
    run.check("it declines to give back more than is left", Run::too_much_back);
    run.check("it declines to give back what was never paid", Run::nothing_to_give_back);
    run.check("it refuses what the gateway did not sign", Run::forged);
    run.check("it refuses a wrong token", Run::stranger);
    run.check("what it accepts, it ends, and reports with its signature", Run::later);
    run.timely();
    run.checks
}

impl Run<'_> {
    fn check(&mut self, about: &'static str, make: fn(&mut Self) -> Found) {
        let verdict = make(self).err().unwrap_or(Verdict::Passed);
        self.checks.push(Check { about, verdict, seen: self.stand.take_seen() });
    }

    /// Sends a call as production would; the reply, whatever it is.
    fn reply(&self, call: &RailCall) -> Found<HttpReply> {
        self.reply_to(call, |_| ())
    }

    fn reply_to(&self, call: &RailCall, alter: impl Fn(&mut HttpRequest)) -> Found<HttpReply> {
        // A check may come long after the call was made.
        let call = RailCall { leave_by: Millis::MAX, ..call.clone() };
        self.stand.ask(call, alter).ok_or_else(|| Verdict::Failed("there was no answer in time, or none of at most 64 KiB".to_owned()))
    }

    /// What the answer to a call means.
    fn answer(&self, call: &RailCall) -> Found<RailAnswer> {
        let reply = self.reply(call)?;
        answer_in(call, &reply).map_err(|why| Verdict::Failed(format!("the answer means nothing: {why}")))
    }

    fn first(&self) -> Found<(RailCall, RailAnswer)> {
        self.paid.clone().ok_or_else(|| Verdict::Skipped("there is no payment".to_owned()))
    }

    fn health(&mut self) -> Found {
        let Some(reply) = self.stand.ask(Heartbeat(self.stand.provider()), |_| ()) else { return failed("there was no answer within 5 s") };
        let said: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        self.verifies = said["verifies_signatures"] == true;
        match health_in(&reply) {
            Ok(Health::Up | Health::Degraded) => Ok(()),
            Ok(away @ (Health::Down | Health::Maintenance)) => {
                failed(format!("it says that the operator is {}: a gateway would send no payments", away.as_str()))
            }
            Err(why) => failed(why),
        }
    }

    fn payee(&self, to: &Participant) -> Found<PayeeMatch> {
        let payee = Payee { to: to.clone(), currency: self.args.amount.currency() };
        let reply = self.stand.ask(PayeeQuestion { provider: self.stand.provider(), payee }, |_| ());
        let reply = reply.ok_or_else(|| Verdict::Failed("there was no answer in time".to_owned()))?;
        payee_in(&reply).map(|view| view.payee_match).map_err(Verdict::Failed)
    }

    fn known_payee(&mut self) -> Found {
        match self.payee(&self.args.to)? {
            PayeeMatch::Match | PayeeMatch::CloseMatch => Ok(()),
            PayeeMatch::NotAvailable => Err(Verdict::Advised("it knows no payees: set payees = \"no\" for the provider".to_owned())),
            PayeeMatch::NoMatch => failed("it must know the payee of --to"),
        }
    }

    fn unknown_payee(&mut self) -> Found {
        match self.payee(&self.args.unknown_to)? {
            PayeeMatch::NoMatch => Ok(()),
            PayeeMatch::NotAvailable => Err(Verdict::Skipped("it knows no payees".to_owned())),
            PayeeMatch::Match | PayeeMatch::CloseMatch => failed("it must not know the payee of --unknown-to"),
        }
    }

    /// Asks again until it is not `accepted` any more.
    fn until_final(&self, asked: &RailCall, mut answer: RailAnswer) -> Found<RailAnswer> {
        let end = Instant::now() + Duration::from_secs(self.args.wait);
        while matches!(answer, RailAnswer::Accepted { .. }) && Instant::now() < end {
            thread::sleep(ASK_EVERY);
            answer = self.answer(&inquiry(asked))?;
        }
        Ok(answer)
    }

    fn pays(&mut self) -> Found {
        let call = self.stand.pay(&self.args.to, self.args.amount).map_err(ours)?;
        let first = self.answer(&call)?;
        let answer = self.until_final(&call, first)?;
        self.stand.report(&call, answer.clone()).map_err(ours)?;
        match &answer {
            RailAnswer::Completed { .. } => self.paid = Some((call, answer)),
            RailAnswer::Accepted { .. } => return failed(format!("it was not completed within {} s (--wait)", self.args.wait)),
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
        self.same(&inquiry(&call), &answer)
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
        self.same(&call, &answer)
    }

    fn at_once(&mut self) -> Found {
        self.first()?;
        let call = self.stand.pay(&self.args.to, self.args.amount).map_err(ours)?;
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
        let elsewhere = RailCall { to: self.args.later_to.clone(), ..call.clone() };
        self.conflicts(&call, &elsewhere, &answer)
    }

    fn not_found(&self, call: &RailCall) -> Found {
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
        let call = self.stand.pay(&self.args.to, self.args.amount).map_err(ours)?;
        self.not_found(&inquiry(&call))
    }

    fn declined(&mut self) -> Found {
        let call = self.stand.pay(&self.args.unknown_to, self.args.amount).map_err(ours)?;
        let first = self.answer(&call)?;
        match self.until_final(&call, first)? {
            RailAnswer::Declined { .. } => Ok(()),
            other => failed(format!("it must decline to pay the payee of --unknown-to, but answered {other:?}")),
        }
    }

    /// The first payment, if it can be given back.
    fn reversible(&self) -> Found<RailCall> {
        match self.args.reversals {
            Reversals::None => Err(Verdict::Skipped("it takes no reversals (--reversals)".to_owned())),
            Reversals::Full | Reversals::Partial => self.first().map(|(call, _)| call),
        }
    }

    fn back(&self) -> Found<RailCall> {
        self.reversible()?;
        self.reversed.clone().ok_or_else(|| Verdict::Skipped("there is no reversal".to_owned()))
    }

    fn reverses(&mut self) -> Found {
        let paid = self.reversible()?;
        let whole = paid.money.minor();
        let parts = if self.args.reversals == Reversals::Partial { vec![whole / 4, whole - whole / 4] } else { vec![whole] };
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
            let call = self.stand.pay(&self.args.to, self.args.amount).map_err(ours)?;
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

    fn stranger(&mut self) -> Found {
        let provider: ProviderNo = self.stand.stranger().ok_or_else(|| Verdict::Skipped("it expects no token (--token)".to_owned()))?;
        let call = self.stand.pay(&self.args.to, self.args.amount).map_err(ours)?;
        self.refuses(&RailCall { provider, ..call }, "with a wrong token", |_| ())
    }

    fn later(&mut self) -> Found {
        let call = self.stand.pay(&self.args.later_to, self.args.amount).map_err(ours)?;
        let answer = self.answer(&call)?;
        if !matches!(answer, RailAnswer::Accepted { .. }) {
            return Err(Verdict::Skipped("it did not accept the payment to --later-to for later".to_owned()));
        }
        self.stand.report(&call, answer.clone()).map_err(ours)?;
        if self.args.callback_secret.is_some() {
            self.reported(&call)?;
        }
        if matches!(self.until_final(&call, answer)?, RailAnswer::Accepted { .. }) {
            return failed(format!("it was not ended within {} s (--wait)", self.args.wait));
        }
        match &self.args.callback_secret {
            Some(_) => Ok(()),
            None => Err(Verdict::Skipped("it ended; its callbacks were not tested (--callback-secret)".to_owned())),
        }
    }

    /// Waits for a callback about a payment.
    fn reported(&self, call: &RailCall) -> Found {
        let end = Instant::now() + Duration::from_secs(self.args.wait);
        loop {
            let Some(arrived) = self.stand.arrived(end.saturating_duration_since(Instant::now())) else {
                return Err(Verdict::Advised(format!("no callback arrived within {} s: the gateway has to ask", self.args.wait)));
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
        self.checks.push(Check { about: "it answers in time", verdict, seen: slowest.into_iter().collect() });
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
