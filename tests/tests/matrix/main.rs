//! Every scenario of the simulated operator in every situation, over every store: the state, the trace, the money, the webhooks and the
//! operator's own count agree.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod money;
#[allow(dead_code, reason = "simulations use more of it")]
#[path = "../../../core/tests/support/receiver.rs"]
mod receiver;
#[allow(dead_code, reason = "other tests count the round trips")]
#[path = "../../../core/tests/support/remote.rs"]
mod remote;
#[path = "../../../core/tests/support/mod.rs"]
mod support;
mod trace;
mod world;

use std::sync::Arc;

use money::Money;
use railgate::api::{ReversalStatus, SettlementStatus};
use railgate::ids::ProviderNo;
use railgate::ledger::Owner;
use railgate::participant::Participant;
use railgate::rail::FailureCode;
use railgate::rail::simulator::{SCENARIOS, Scenario};
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::sqlite::SqliteStore;
use railgate_tests::postgres::Postgres;
use remote::Remote;
use support::log;
use world::{Told, play};

/// What happens while payments and reversals are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Situation {
    /// Nothing goes wrong.
    Create,
    /// The host dies after it has stored that it sends, and before it does.
    CrashBeforeSend,
    /// The host dies before it has the answer.
    CrashAfterSend,
    /// The host dies after it has stored the answer.
    CrashAfterAnswer,
    /// The host has the answer and stands still, until another one has asked and gone on; then it reports it.
    LateAnswer,
    /// Each callback arrives twice, and what the operator says in the end once more, twice.
    DuplicateCallback,
    /// Each callback arrives 20 minutes late, after several inquiries.
    LateCallback,
    /// The first provider refuses, and the second one plays the scenario.
    FirstRefuses,
    /// Nothing reaches the first provider, and the second one plays the scenario.
    FirstDown,
}

const SITUATIONS: [Situation; 9] = [
    Situation::Create,
    Situation::CrashBeforeSend,
    Situation::CrashAfterSend,
    Situation::CrashAfterAnswer,
    Situation::LateAnswer,
    Situation::DuplicateCallback,
    Situation::LateCallback,
    Situation::FirstRefuses,
    Situation::FirstDown,
];

/// The providers of the sandbox, in order of preference.
const PROVIDERS: [ProviderNo; 2] = [ProviderNo(1), ProviderNo(2)];

/// How a payment must end.
#[derive(Debug, PartialEq, Eq)]
struct End {
    status: SettlementStatus,
    needs_review: bool,
    /// How many payments the operator has carried out.
    paid: usize,
    /// What becomes of a full reversal, which is asked for if the payment is completed.
    reversal: Option<ReversalStatus>,
}

/// The participants of all scenarios, with every failure code, and one of another kind.
fn participants() -> Vec<Participant> {
    let listed = SCENARIOS.iter().map(|it| it.to.clone().into_owned());
    let codes = FailureCode::ALL.iter().map(|code| format!("sim:decline-{}", code.as_str()));
    let mut all: Vec<String> = listed.chain(codes).chain(["msisdn:+254700000001".to_owned()]).collect();
    all.sort_unstable();
    all.dedup();
    all.iter().map(|to| to.parse().unwrap()).collect()
}

fn end_of(scenario: Scenario, situation: Situation) -> End {
    let end = undisturbed_end_of(scenario, situation);
    match (situation, end.reversal) {
        // A reversal that was provably not sent has failed, and is not sent again by itself.
        (Situation::CrashBeforeSend, Some(_)) => {
            End { status: SettlementStatus::Completed, needs_review: false, reversal: Some(ReversalStatus::Failed), ..end }
        }
        (_, Some(_) | None) => end,
    }
}

fn undisturbed_end_of(scenario: Scenario, situation: Situation) -> End {
    let end = |status, needs_review, paid, reversal| End { status, needs_review, paid, reversal };
    let reversed = || end(SettlementStatus::Reversed, false, 1, Some(ReversalStatus::Completed));
    match scenario {
        Scenario::Ok
        | Scenario::Slow30s
        | Scenario::TimeoutThenOk
        | Scenario::DuplicateCallback
        | Scenario::OutOfOrder
        | Scenario::Failover
        | Scenario::CloseMatch
        | Scenario::NoMatch => reversed(),
        Scenario::ReverseFail => end(SettlementStatus::Completed, false, 1, Some(ReversalStatus::Failed)),
        Scenario::ReverseUnknown => end(SettlementStatus::Completed, true, 1, Some(ReversalStatus::Unknown)),
        Scenario::ReturnedAfter1d => end(SettlementStatus::Returned, false, 1, None),
        Scenario::Pending => end(SettlementStatus::Submitted, true, 0, None),
        Scenario::TimeoutNever => end(SettlementStatus::Unknown, true, 0, None),
        Scenario::Decline(_) | Scenario::TimeoutThenFail | Scenario::ProviderDown => end(SettlementStatus::Failed, false, 0, None),
        Scenario::LateOkAfterFail => match situation {
            // Its refusal was lost: the first word that arrives is that it has paid.
            Situation::CrashAfterSend => reversed(),
            // So it is here, and its refusal then contradicts it.
            Situation::LateAnswer => End { needs_review: true, ..reversed() },
            Situation::Create
            | Situation::CrashBeforeSend
            | Situation::CrashAfterAnswer
            | Situation::DuplicateCallback
            | Situation::LateCallback
            | Situation::FirstRefuses
            | Situation::FirstDown => end(SettlementStatus::Failed, true, 1, None),
        },
    }
}

/// Plays every cell over the stores that `new` makes, each of which it opens again when a host dies.
fn matrix(new: &dyn Fn() -> Box<dyn Fn() -> Arc<dyn Store>>) -> Vec<Vec<Told>> {
    let participants = participants();
    SITUATIONS
        .map(|situation| {
            let told = play(&*new(), situation, &participants);
            for (to, told) in participants.iter().zip(&told) {
                check(Scenario::of(to), situation, told, &format!("{} in the situation {situation:?}", to.as_str()));
            }
            told
        })
        .into()
}

/// Requires a cell to be as its scenario and its situation say.
fn check(scenario: Scenario, situation: Situation, told: &Told, named: &str) {
    let end = end_of(scenario, situation);
    assert_eq!(told.end, end, "{named}: {}", told.trace);
    assert_eq!(told.trace, trace::expected(scenario, situation), "{named}");
    let first_is_out = matches!(situation, Situation::FirstRefuses | Situation::FirstDown);
    let leaves_first = first_is_out || matches!(scenario, Scenario::Failover | Scenario::ProviderDown);
    let provider = PROVIDERS[usize::from(leaves_first)];
    assert_eq!(told.money, Money::at(&end, Owner::Provider(provider)), "{named}");
    let arrived = &told.arrived;
    assert!(arrived.iter().all(|(_, at, times)| *times == 1 && !(first_is_out && *at == PROVIDERS[0])), "{named}: {arrived:?}");
}

/// Requires every cell over a store of files to be as it is over one in memory that is as far away.
fn assert_as_in_memory(in_files: &[Vec<Told>], in_memory: fn() -> Arc<dyn Store>) {
    let in_memory = matrix(&|| {
        let store = in_memory();
        Box::new(move || Arc::clone(&store))
    });
    for ((situation, here), there) in SITUATIONS.iter().zip(in_files).zip(&in_memory) {
        for ((to, here), there) in participants().iter().zip(here).zip(there) {
            assert_eq!(here, there, "{} in the situation {situation:?}", to.as_str());
        }
    }
}

#[test]
fn each_scenario_that_is_listed_is_one_of_its_own() {
    let of = |to: &str| Scenario::of(&to.parse().unwrap());
    for (n, one) in SCENARIOS.iter().enumerate() {
        assert!(SCENARIOS[..n].iter().all(|other| of(&other.to) != of(&one.to)), "{}", one.to);
    }
}

#[test]
fn over_sqlite_all_agree_as_in_memory() {
    let over_sqlite = matrix(&|| {
        let folder = tempfile::tempdir().unwrap();
        Box::new(move || Arc::new(SqliteStore::open(folder.path().join("matrix.db")).unwrap()))
    });
    assert_as_in_memory(&over_sqlite, || Arc::new(MemoryStore::new()));
}

#[test]
fn over_postgresql_all_agree_as_in_memory() {
    let server = Postgres::shared();
    let over_postgresql = matrix(&|| {
        let url = server.url(&server.database());
        Box::new(move || Arc::new(PostgresStore::open(&url, PostgresOptions::default()).unwrap()))
    });
    assert_as_in_memory(&over_postgresql, || Remote::over(Arc::new(MemoryStore::new())));
}
