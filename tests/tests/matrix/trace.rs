//! Traces in words: what the events of a payment tell, and what they must tell in each cell of the matrix.
//!
//! `completed` is a state of the payment, `1:completed` one of its first attempt, and `R:completed` one of its reversal. At `review`, a
//! person is called because nothing has ended for a day, and at `discrepancy` because the operator contradicts itself.

use std::collections::BTreeMap;

use railgate::lifecycle::StateName;
use railgate::rail::simulator::Scenario;
use railgate::store::record::{EventRecord, EventType};

use crate::{Situation, end_of};

/// The words of a trace. Requires each event to lead from the state to which the one before it led.
pub fn told(events: &[EventRecord]) -> String {
    let mut states: BTreeMap<String, StateName> = BTreeMap::new();
    let words = events.iter().map(|event| {
        let (about, happened) = event.kind.as_str().split_once('.').unwrap();
        let whose = match about {
            "settlement" => String::new(),
            "attempt" => format!("{}:", event.child),
            _ => "R:".to_owned(),
        };
        // What calls a person changes no state, and names that of the payment.
        let calls = event.from == event.to;
        let of = if calls { "" } else { &whose };
        assert_eq!(event.from, states.get(of).copied(), "{event:?}");
        let to = event.to.unwrap();
        states.insert(of.to_owned(), to);
        let word = match event.kind {
            EventType::SettlementDiscrepancy => "discrepancy",
            EventType::SettlementUnknown | EventType::ReversalUnknown if calls => "review",
            EventType::AttemptAnswered => to.as_str(),
            _ => happened,
        };
        assert!(calls || word == to.as_str(), "{event:?}");
        format!("{whose}{word}")
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What the trace of a payment must be.
pub fn expected(scenario: Scenario, situation: Situation) -> String {
    let paid = format!("accepted submitted 1:started {}", payment(scenario, situation));
    match end_of(scenario, situation).reversal {
        Some(_) => format!("{paid} R:accepted R:submitted {}", reversal(scenario, situation)),
        None => paid,
    }
}

fn payment(scenario: Scenario, situation: Situation) -> String {
    match (situation, scenario) {
        (Situation::Create | Situation::CrashAfterAnswer | Situation::DuplicateCallback | Situation::LateCallback, _) => {
            answered(scenario, 1)
        }
        // It has not arrived. Once that is proved, the same attempt is sent again.
        (Situation::CrashBeforeSend, _) | (Situation::CrashAfterSend | Situation::LateAnswer, Scenario::ProviderDown) => {
            format!("1:unknown unknown submitted 1:started {}", answered(scenario, 1))
        }
        // Then the first answer arrives, that it is refused.
        (Situation::LateAnswer, Scenario::LateOkAfterFail) => format!("{} discrepancy", unheard(scenario)),
        (Situation::CrashAfterSend | Situation::LateAnswer, _) => unheard(scenario),
        (Situation::FirstRefuses, _) => format!("1:declined 2:started {}", answered(scenario, 2)),
        (Situation::FirstDown, _) => format!("1:not_sent 2:started {}", answered(scenario, 2)),
    }
}

/// What follows once attempt `n` has arrived, if the operator's first answer is heard.
fn answered(scenario: Scenario, n: u16) -> String {
    let words = match scenario {
        Scenario::Ok | Scenario::CloseMatch | Scenario::NoMatch | Scenario::ReverseFail | Scenario::ReverseUnknown => {
            "n:completed completed"
        }
        Scenario::Slow30s | Scenario::DuplicateCallback => "n:accepted n:completed completed",
        Scenario::Pending => "n:accepted review",
        Scenario::Decline(_) => "n:declined failed",
        Scenario::TimeoutThenOk | Scenario::OutOfOrder => "n:unknown unknown n:completed completed",
        Scenario::TimeoutThenFail => "n:unknown unknown n:declined failed",
        Scenario::TimeoutNever => "n:unknown unknown review",
        Scenario::LateOkAfterFail => "n:declined failed discrepancy",
        Scenario::ReturnedAfter1d => "n:completed completed returned",
        Scenario::Failover if n == 1 => "1:declined 2:started 2:completed completed",
        Scenario::Failover => "n:completed completed",
        Scenario::ProviderDown if n == 1 => "1:not_sent 2:started 2:not_sent failed",
        Scenario::ProviderDown => "n:not_sent failed",
    };
    words.replace("n:", &format!("{n}:"))
}

/// What follows once the first attempt has arrived, if nobody hears the answer: an inquiry or a callback is what is heard first.
fn unheard(scenario: Scenario) -> String {
    match scenario {
        // The callback arrives before the lease ends, and with it the time to notice that the answer is missing.
        Scenario::DuplicateCallback | Scenario::OutOfOrder | Scenario::LateOkAfterFail => "1:completed completed".to_owned(),
        // There is no answer to hear.
        Scenario::TimeoutThenOk | Scenario::TimeoutThenFail | Scenario::TimeoutNever => answered(scenario, 1),
        // It is done by the time that somebody inquires.
        Scenario::Slow30s => "1:unknown unknown 1:completed completed".to_owned(),
        Scenario::Pending => "1:unknown unknown 1:accepted submitted review".to_owned(),
        Scenario::Failover => "1:unknown unknown 1:declined submitted 2:started 2:completed completed".to_owned(),
        Scenario::Ok
        | Scenario::Decline(_)
        | Scenario::ProviderDown
        | Scenario::ReturnedAfter1d
        | Scenario::ReverseFail
        | Scenario::ReverseUnknown
        | Scenario::CloseMatch
        | Scenario::NoMatch => format!("1:unknown unknown {}", answered(scenario, 1)),
    }
}

/// What follows once a reversal is submitted.
fn reversal(scenario: Scenario, situation: Situation) -> String {
    let end = match (scenario, situation) {
        // It has not arrived, and is not sent again by itself.
        (_, Situation::CrashBeforeSend) | (Scenario::ReverseFail, _) => "R:failed",
        (Scenario::ReverseUnknown, _) => "R:review",
        _ => "R:completed reversed",
    };
    let unheard = matches!(situation, Situation::CrashBeforeSend | Situation::CrashAfterSend | Situation::LateAnswer);
    if unheard || scenario == Scenario::ReverseUnknown { format!("R:unknown {end}") } else { end.to_owned() }
}
