//! The program of the demo: one payment each, against one of the simulated operator's behaviours.

use railgate::lifecycle::SettlementStatus;
use railgate::rail::FailureCode;
use railgate::rail::sandbox_scenarios;

use crate::cli::failure::{Done, Failure};

/// What the client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Pays, and waits for the result.
    Pay,
    /// Pays; then sends the same request again, and one that only looks like it.
    PayTwice,
    /// Changes its mind before anything was sent.
    Cancel,
    /// Pays; then takes back a part, too much, and the rest.
    ReverseInParts,
    /// Pays; then takes everything back, which the operator refuses.
    Reverse,
}

/// How a payment must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) status: SettlementStatus,
    /// Whether it awaits a review by a person.
    pub(super) needs_review: bool,
}

/// One payment of the demo.
#[derive(Debug, Clone)]
pub(super) struct Play {
    /// The scenario's name on the command line, and the payment's reference.
    pub(super) name: String,
    /// The participant who is paid.
    pub(super) to: String,
    /// The amount, in the form in which a client writes it.
    pub(super) amount: &'static str,
    /// ISO 4217 code.
    pub(super) currency: &'static str,
    /// What to look for, in one sentence.
    pub(super) story: String,
    pub(super) script: Script,
    /// How it must end; `None` if the demo promises nothing.
    pub(super) ending: Option<Ending>,
}

/// The plays with these names, in that order; without names, the most instructive ones.
pub(super) fn chosen(names: &[String]) -> Done<Vec<Play>> {
    if names.is_empty() {
        return Ok(program());
    }
    names.iter().map(|name| by_name(name).ok_or_else(|| unknown(name))).collect()
}

fn unknown(name: &str) -> Failure {
    let mut known: Vec<String> = program().into_iter().map(|play| play.name).collect();
    let more = sandbox_scenarios().iter().map(|scenario| short(&scenario.to).to_owned());
    known.extend(more.filter(|name| !known.contains(name)).collect::<Vec<_>>());
    Failure::usage(format!("there is no scenario {name:?}")).hint(format!("choose among {}", known.join(", ")))
}

/// A play of the program, or any other scenario of the simulator, for which nothing is promised.
fn by_name(name: &str) -> Option<Play> {
    let name = short(name);
    if let Some(play) = program().into_iter().find(|play| play.name == name) {
        return Some(play);
    }
    let plain = |story: String, ending| Play {
        name: name.to_owned(),
        to: format!("sim:{name}"),
        amount: "20.00",
        currency: "EUR",
        story,
        script: if name == "reverse-unknown" { Script::Reverse } else { Script::Pay },
        ending,
    };
    if let Some(code) = name.strip_prefix("decline-").and_then(FailureCode::from_name) {
        let ending = Ending { status: SettlementStatus::Failed, needs_review: false };
        return Some(plain(format!("The operator refuses: {}.", code.message()), Some(ending)));
    }
    let scenario = sandbox_scenarios().iter().find(|scenario| short(&scenario.to) == name)?;
    Some(plain(format!("A payment to {}: {}.", scenario.to, scenario.description), None))
}

fn short(name: &str) -> &str {
    name.strip_prefix("sim:").unwrap_or(name)
}

/// The demo's program, in the order in which it is best understood.
fn program() -> Vec<Play> {
    use SettlementStatus as S;
    let pay = |name: &str, amount, currency, status, story: &str| Play {
        name: name.to_owned(),
        to: format!("sim:{name}"),
        amount,
        currency,
        story: story.to_owned(),
        script: Script::Pay,
        ending: Some(Ending { status, needs_review: false }),
    };
    let act = |name: &str, script, amount, currency, status, story: &str| Play {
        to: "sim:ok".to_owned(),
        script,
        ..pay(name, amount, currency, status, story)
    };
    vec![
        pay("ok", "25.00", "EUR", S::Completed, "The plain case: the operator pays at once."),
        pay("slow-30s", "40.00", "EUR", S::Completed, "The operator takes it and calls back half a minute later."),
        pay(
            "decline-recipient_not_found",
            "15.00",
            "EUR",
            S::Failed,
            "The operator refuses: that is proof, so the held money is free again.",
        ),
        pay(
            "timeout-then-ok",
            "60.00",
            "USD",
            S::Completed,
            "The answer is lost. Not failed, not sent again: unknown, until an inquiry finds it paid.",
        ),
        pay(
            "timeout-then-fail",
            "35.00",
            "USD",
            S::Failed,
            "The answer is lost. The money stays held until an inquiry proves that it was refused.",
        ),
        pay("failover", "12000", "JPY", S::Completed, "The first operator refuses for a reason of its own; the second one pays."),
        pay("provider-down", "5000", "JPY", S::Failed, "Nobody can be reached: provably nothing was sent, so it may fail."),
        Play {
            ending: Some(Ending { status: S::Failed, needs_review: true }),
            ..pay(
                "late-ok-after-fail",
                "18.00",
                "EUR",
                S::Failed,
                "Refused, and later the operator claims that it paid: nothing flips, a person is called.",
            )
        },
        pay("duplicate-callback", "22.50", "USD", S::Completed, "The operator's callback comes twice; the money moves once."),
        pay("out-of-order", "31.00", "EUR", S::Completed, "The callback of the success overtakes that of the acceptance."),
        pay("returned-after-1d", "80.00", "USD", S::Returned, "Paid, and a day later the money comes back by itself."),
        act(
            "duplicate-create",
            Script::PayTwice,
            "10.50",
            "EUR",
            S::Completed,
            "The client repeats its request, as one does when the connection breaks: paid once.",
        ),
        act("cancel", Script::Cancel, "99.00", "EUR", S::Cancelled, "The client changes its mind before anything was sent."),
        act(
            "reversal",
            Script::ReverseInParts,
            "100.00",
            "USD",
            S::Reversed,
            "A part is given back, then more than is left (refused), then the rest.",
        ),
        Play {
            to: "sim:reverse-fail".to_owned(),
            ..act(
                "reverse-fail",
                Script::Reverse,
                "12.00",
                "EUR",
                S::Completed,
                "The operator refuses to give the money back: the payment stays as it was.",
            )
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_of_the_simulator_can_be_played() {
        for scenario in sandbox_scenarios() {
            assert!(by_name(&scenario.to).is_some(), "{}", scenario.to);
        }
        assert!(by_name("decline-account_closed").is_some());
        assert!(by_name("decline-nonsense").is_none());
        assert!(chosen(&["nonsense".to_owned()]).is_err());
    }
}
