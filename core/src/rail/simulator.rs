//! The simulated operator, whose answers depend on the participant that is paid.
//!
//! ```
//! use railgate::api::SettlementStatus;
//! # use std::sync::Arc;
//! # use railgate::{Client, Config, Gateway, api::CreateRequest, env::ManualEnv, store::memory::MemoryStore};
//!
//! # fn pay(shop: &Client<'_>, to: &str, reference: &str) -> Result<(), Box<dyn std::error::Error>> {
//! #     shop.create(CreateRequest::new("10.50 EUR".parse()?, to.parse()?, reference.parse()?))?;
//! #     Ok(())
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (store, env) = (Arc::new(MemoryStore::new()), Arc::new(ManualEnv::new(1_795_257_497_042, 1)));
//! # let gateway = Gateway::open_with(store, env.clone(), Config::sandbox())?;
//! # let enrolled = gateway.enroll("Shop")?;
//! # let shop = gateway.client(&enrolled);
//! pay(&shop, "sim:decline-account_closed", "closed")?;
//! pay(&shop, "sim:timeout-then-ok", "lost")?;
//! gateway.work()?;
//!
//! let closed = shop.settlement("closed")?;
//! assert_eq!(closed.failure.map(|failure| failure.code.as_str()), Some("account_closed"));
//! assert_eq!(shop.settlement("lost")?.status, SettlementStatus::Unknown);
//!
//! // The engine inquires by itself, when it is due, and finds that the operator paid.
//! while let Some(due) = gateway.next_due()? {
//!     env.advance_to(due);
//!     gateway.work()?;
//! }
//! assert_eq!(shop.settlement("lost")?.status, SettlementStatus::Completed);
//! # Ok(())
//! # }
//! ```
//!
//! Its answers are pure functions of the scenario, the attempt and the time since the request arrived; [`SCENARIOS`] lists the
//! scenarios. The engine keeps the operator's books (what arrived, and how often) separate from its own, and delivers its callbacks
//! through the outbox.

use std::borrow::Cow;

use super::{FailureCode, Heard, HttpReply, Inside, Link, PayeeMatch, Rail, RailAnswer, Request};
use crate::api::{PayeeView, RailCall, ScenarioView, Subject};
use crate::error::Params;
use crate::ledger::Mode;
use crate::lifecycle::stored_enum;
use crate::participant::{Namespace, Participant};
use crate::route::{Capabilities, ProviderSpec};
use crate::time::Millis;
use crate::validate::nearest::Nearest;

/// The rail of the simulated operator.
pub struct Simulator;

impl Rail for Simulator {
    fn kind(&self) -> &'static str {
        "simulator"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: true, reverse: true, partial_reverse: true, inquiry: true, idempotent_submit: true }
    }

    fn payee(&self, to: &Participant) -> PayeeView {
        let (payee_match, name) = match (to.namespace() == Namespace::Sim).then(|| Scenario::of(to)) {
            Some(Scenario::CloseMatch) => (PayeeMatch::CloseMatch, Some("Simulated Payee Ltd")),
            Some(Scenario::NoMatch) => (PayeeMatch::NoMatch, None),
            Some(_) => (PayeeMatch::Match, Some("Simulated Payee")),
            None => (PayeeMatch::NotAvailable, None),
        };
        PayeeView { payee_match, display_name: name.map(str::to_owned) }
    }

    fn encode(&self, _: &RailCall, _: &Link<'_>) -> Request {
        Request::Inside
    }

    fn decode(&self, _: &RailCall, _: &Link<'_>, _: &HttpReply) -> Heard<RailAnswer> {
        Heard::Answer(RailAnswer::Unknown)
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }

    fn scenarios(&self) -> &'static [ScenarioView] {
        SCENARIOS
    }
}

impl Inside for Simulator {
    fn is_reachable(&self, call: &RailCall) -> bool {
        Scenario::of(&call.to) != Scenario::ProviderDown
    }

    fn answer(&self, call: &RailCall) -> RailAnswer {
        match call.subject {
            Subject::Attempt(_, n) => Scenario::of(&call.to).submit(n, &call.rail_key),
            Subject::Reversal(..) => Scenario::of(&call.to).reverse(&call.rail_key),
        }
    }

    fn inquire(&self, call: &RailCall, elapsed: Millis) -> RailAnswer {
        match call.subject {
            Subject::Attempt(_, n) => Scenario::of(&call.to).inquire(n, &call.rail_key, elapsed),
            Subject::Reversal(..) => Scenario::of(&call.to).reverse(&call.rail_key),
        }
    }

    fn callbacks(&self, call: &RailCall) -> Vec<(Millis, RailAnswer)> {
        Scenario::of(&call.to).callbacks(&call.rail_key)
    }

    fn told(&self, call: &RailCall, outcome: Outcome, code: Option<FailureCode>) -> RailAnswer {
        match outcome {
            Outcome::Submitted => taken(&call.rail_key),
            Outcome::Unknown => RailAnswer::Unknown,
            Outcome::Completed => paid(&call.rail_key),
            Outcome::Failed => declined(code.unwrap_or(FailureCode::Other), false),
            Outcome::Returned => returned(),
        }
    }
}

stored_enum! {
    /// What the simulated operator can be told to do with a payment, whatever its scenario.
    pub enum Outcome {
        /// It takes the payment, and reports no outcome.
        Submitted = 1 "submitted",
        /// Its answers are lost.
        Unknown = 2 "unknown",
        /// It pays.
        Completed = 3 "completed",
        /// It refuses the payment.
        Failed = 4 "failed",
        /// It paid, and the payment comes back.
        Returned = 5 "returned",
    }
}

impl ProviderSpec {
    /// A simulated operator that serves everything in the sandbox, free of charge.
    pub fn simulator(id: &str, name: &str) -> Self {
        Self::new(id, name, Mode::Sandbox, &Simulator)
    }
}

/// How the operator treats one participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// Pays at once.
    Ok,
    /// Accepts; pays after 30 seconds.
    Slow30s,
    /// Accepts and never reports an outcome.
    Pending,
    /// Refuses with this code.
    Decline(FailureCode),
    /// The answer is lost, but it was paid.
    TimeoutThenOk,
    /// The answer is lost, and it was refused.
    TimeoutThenFail,
    /// The answer is lost, and the outcome stays unknown.
    TimeoutNever,
    /// Refuses, and after 10 seconds reports that it paid.
    LateOkAfterFail,
    /// Accepts; the callback of its success arrives twice.
    DuplicateCallback,
    /// The answer is lost; the callback of the success overtakes that of the acceptance.
    OutOfOrder,
    /// No provider can be reached.
    ProviderDown,
    /// The first provider refuses, the next one pays.
    Failover,
    /// Pays; the payment comes back after a day.
    ReturnedAfter1d,
    /// Pays; refuses a reversal.
    ReverseFail,
    /// Pays; the outcome of a reversal stays unknown.
    ReverseUnknown,
    /// Pays; the payee's name is similar.
    CloseMatch,
    /// Pays; the payee's name does not match.
    NoMatch,
}

/// All scenarios, as listed by `/simulator/scenarios`.
pub const SCENARIOS: &[ScenarioView] = &[
    scenario("sim:ok", "completes at once"),
    scenario("sim:slow-30s", "is taken, and completes after 30 seconds"),
    scenario("sim:pending", "is taken, and never ends by itself"),
    scenario("sim:decline-recipient_not_found", "is refused with that code; every failure code works after decline-"),
    scenario("sim:timeout-then-ok", "the answer is lost; an inquiry finds it completed"),
    scenario("sim:timeout-then-fail", "the answer is lost; an inquiry finds it refused"),
    scenario("sim:timeout-never", "the answer is lost, and no inquiry ever finds out"),
    scenario("sim:late-ok-after-fail", "is refused; 10 seconds later the operator claims that it paid"),
    scenario("sim:duplicate-callback", "is taken; the callback of its success arrives twice"),
    scenario("sim:out-of-order", "the answer is lost; the callback of its success overtakes that of its acceptance"),
    scenario("sim:provider-down", "no provider can be reached"),
    scenario("sim:failover", "the first provider refuses, the next one completes"),
    scenario("sim:returned-after-1d", "completes, and comes back after a day"),
    scenario("sim:reverse-fail", "completes; reversing it is refused"),
    scenario("sim:reverse-unknown", "completes; nobody finds out whether it was reversed"),
    scenario("sim:close-match", "completes; the payee check says close_match"),
    scenario("sim:no-match", "completes; the payee check says no_match"),
];

const fn scenario(to: &'static str, description: &'static str) -> ScenarioView {
    ScenarioView { to: Cow::Borrowed(to), description: Cow::Borrowed(description) }
}

/// What precedes a failure code.
const DECLINE: &str = "decline-";

/// The names of all other scenarios.
const NAMES: [(&str, Scenario); 16] = [
    ("ok", Scenario::Ok),
    ("slow-30s", Scenario::Slow30s),
    ("pending", Scenario::Pending),
    ("timeout-then-ok", Scenario::TimeoutThenOk),
    ("timeout-then-fail", Scenario::TimeoutThenFail),
    ("timeout-never", Scenario::TimeoutNever),
    ("late-ok-after-fail", Scenario::LateOkAfterFail),
    ("duplicate-callback", Scenario::DuplicateCallback),
    ("out-of-order", Scenario::OutOfOrder),
    ("provider-down", Scenario::ProviderDown),
    ("failover", Scenario::Failover),
    ("returned-after-1d", Scenario::ReturnedAfter1d),
    ("reverse-fail", Scenario::ReverseFail),
    ("reverse-unknown", Scenario::ReverseUnknown),
    ("close-match", Scenario::CloseMatch),
    ("no-match", Scenario::NoMatch),
];

/// A `sim:` participant that names no scenario: a typing error, which must not pass for a payment that succeeds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the simulator has no scenario of that name; the nearest are {}, {} and {}", nearest[0], nearest[1], nearest[2])]
pub struct UnknownScenario {
    /// The participants with the most similar names, the nearest first.
    pub nearest: [String; 3],
}

impl UnknownScenario {
    /// The stable code of the field problem.
    pub fn code(&self) -> &'static str {
        "participant_scenario_unknown"
    }

    /// The values in the message.
    pub(crate) fn params(&self) -> Params {
        Params::one("nearest", self.nearest[0].clone())
    }
}

/// Checks that a participant of a new payment, if it is one of the simulator's, names a scenario.
///
/// # Errors
/// [`UnknownScenario`].
pub fn check_scenario(to: &Participant) -> Result<(), UnknownScenario> {
    if to.namespace() != Namespace::Sim || Scenario::named(to.identifier()).is_some() {
        return Ok(());
    }
    let mut nearest = Nearest::to(to.identifier());
    NAMES.iter().for_each(|(name, _)| nearest.offer("", name));
    FailureCode::ALL.iter().for_each(|code| nearest.offer(DECLINE, code.as_str()));
    Err(UnknownScenario { nearest: nearest.found().map(|name| ["sim:", &name].concat()) })
}

const SLOW: Millis = 30_000;
const DAY: Millis = 86_400_000;

impl Scenario {
    /// The scenario of a participant. One that is stored and names none, from before [`check_scenario`], is paid at once.
    pub fn of(to: &Participant) -> Self {
        match to.namespace() {
            Namespace::Sim => Self::named(to.identifier()).unwrap_or(Self::Ok),
            Namespace::Msisdn
            | Namespace::Iban
            | Namespace::Acct
            | Namespace::Wallet
            | Namespace::Alias
            | Namespace::Email
            | Namespace::Business
            | Namespace::Device
            | Namespace::Participant => Self::Ok,
        }
    }

    fn named(name: &str) -> Option<Self> {
        if let Some(code) = name.strip_prefix(DECLINE) {
            return FailureCode::from_name(code).map(Self::Decline);
        }
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, scenario)| *scenario)
    }

    /// The answer to attempt `n` of a payment.
    pub fn submit(self, n: u16, rail_key: &str) -> RailAnswer {
        match self {
            Self::Ok | Self::ReturnedAfter1d | Self::ReverseFail | Self::ReverseUnknown | Self::CloseMatch | Self::NoMatch => {
                paid(rail_key)
            }
            Self::Slow30s | Self::Pending | Self::DuplicateCallback => taken(rail_key),
            Self::Decline(code) => declined(code, false),
            Self::LateOkAfterFail => declined(FailureCode::Other, false),
            Self::Failover if n == 1 => declined(FailureCode::OverLimit, true),
            Self::Failover => paid(rail_key),
            Self::TimeoutThenOk | Self::TimeoutThenFail | Self::TimeoutNever | Self::OutOfOrder => RailAnswer::Unknown,
            Self::ProviderDown => RailAnswer::NotSent,
        }
    }

    /// The answer to an inquiry about attempt `n`, `elapsed` milliseconds after it arrived.
    pub fn inquire(self, n: u16, rail_key: &str, elapsed: Millis) -> RailAnswer {
        match self {
            Self::Slow30s if elapsed >= SLOW => paid(rail_key),
            Self::Slow30s | Self::Pending => taken(rail_key),
            Self::TimeoutThenOk | Self::DuplicateCallback | Self::OutOfOrder => paid(rail_key),
            Self::TimeoutThenFail => declined(FailureCode::Other, false),
            Self::TimeoutNever => RailAnswer::Unknown,
            Self::ReturnedAfter1d if elapsed >= DAY => returned(),
            Self::LateOkAfterFail if elapsed >= 10_000 => paid(rail_key),
            Self::Ok
            | Self::Decline(_)
            | Self::LateOkAfterFail
            | Self::ProviderDown
            | Self::Failover
            | Self::ReturnedAfter1d
            | Self::ReverseFail
            | Self::ReverseUnknown
            | Self::CloseMatch
            | Self::NoMatch => self.submit(n, rail_key),
        }
    }

    /// The answer to a reversal, and to an inquiry about one.
    pub fn reverse(self, rail_key: &str) -> RailAnswer {
        match self {
            Self::ReverseFail => declined(FailureCode::NotAllowed, false),
            Self::ReverseUnknown => RailAnswer::Unknown,
            Self::ProviderDown => RailAnswer::NotSent,
            Self::Ok
            | Self::Slow30s
            | Self::Pending
            | Self::Decline(_)
            | Self::TimeoutThenOk
            | Self::TimeoutThenFail
            | Self::TimeoutNever
            | Self::LateOkAfterFail
            | Self::DuplicateCallback
            | Self::OutOfOrder
            | Self::Failover
            | Self::ReturnedAfter1d
            | Self::CloseMatch
            | Self::NoMatch => paid(rail_key),
        }
    }

    /// The callbacks about an accepted payment: the delay after its arrival, and the answer.
    pub fn callbacks(self, rail_key: &str) -> Vec<(Millis, RailAnswer)> {
        match self {
            Self::Slow30s => vec![(SLOW, paid(rail_key))],
            Self::LateOkAfterFail => vec![(10_000, paid(rail_key))],
            Self::DuplicateCallback => vec![(1_000, paid(rail_key)), (2_000, paid(rail_key))],
            Self::OutOfOrder => {
                vec![(1_000, paid(rail_key)), (2_000, taken(rail_key))]
            }
            Self::ReturnedAfter1d => vec![(DAY, returned())],
            Self::Ok
            | Self::Pending
            | Self::Decline(_)
            | Self::TimeoutThenOk
            | Self::TimeoutThenFail
            | Self::TimeoutNever
            | Self::ProviderDown
            | Self::Failover
            | Self::ReverseFail
            | Self::ReverseUnknown
            | Self::CloseMatch
            | Self::NoMatch => Vec::new(),
        }
    }
}

fn paid(rail_key: &str) -> RailAnswer {
    RailAnswer::Completed { rail_reference: Some(rail_reference(rail_key)) }
}

fn taken(rail_key: &str) -> RailAnswer {
    RailAnswer::Accepted { rail_reference: Some(rail_reference(rail_key)) }
}

fn declined(code: FailureCode, elsewhere_ok: bool) -> RailAnswer {
    RailAnswer::Declined { code, elsewhere_ok, rail_code: Some(format!("SIM-{}", code.iso_reason())) }
}

fn returned() -> RailAnswer {
    RailAnswer::Returned { rail_code: Some("SIM-RETURN".to_owned()) }
}

/// The operator's own reference, derived from the key so that a repeated request gets the same one.
fn rail_reference(rail_key: &str) -> String {
    format!("SIM-{rail_key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest_to(text: &str) -> Option<[String; 3]> {
        check_scenario(&Participant::parse(text).unwrap()).err().map(|unknown| unknown.nearest)
    }

    #[test]
    fn every_scenario_and_every_failure_code_is_known() {
        for to in SCENARIOS.iter().map(|scenario| scenario.to.to_string()) {
            assert_eq!(nearest_to(&to), None, "{to}");
        }
        for (name, scenario) in NAMES {
            let to = Participant::parse(&format!("sim:{name}")).unwrap();
            assert!(Scenario::of(&to) == scenario && SCENARIOS.iter().any(|listed| listed.to == to.as_str()), "{name}");
        }
        for code in FailureCode::ALL {
            let to = Participant::parse(&format!("sim:decline-{}", code.as_str())).unwrap();
            assert_eq!((check_scenario(&to), Scenario::of(&to)), (Ok(()), Scenario::Decline(*code)));
        }
        assert_eq!(nearest_to("acct:declined"), None, "only the simulator has scenarios");
    }

    #[test]
    fn a_typing_error_names_what_was_meant() {
        for (typed, meant) in [
            ("sim:declined", "sim:decline-other"),
            ("sim:decline", "sim:decline-other"),
            ("sim:decline-account_close", "sim:decline-account_closed"),
            ("sim:decline-no_such_code", "sim:decline-not_allowed"),
            ("sim:slow", "sim:slow-30s"),
            ("sim:timeout", "sim:timeout-never"),
            ("sim:fail-over", "sim:failover"),
            ("sim:okay", "sim:ok"),
        ] {
            let nearest = nearest_to(typed).unwrap();
            assert_eq!(nearest[0], meant, "{typed}: {nearest:?}");
        }
    }

    #[test]
    fn what_was_stored_before_names_were_checked_is_still_paid() {
        let stored = Participant::from_stored("sim:decline".to_owned()).unwrap();
        assert_eq!(Scenario::of(&stored), Scenario::Ok);
    }
}
