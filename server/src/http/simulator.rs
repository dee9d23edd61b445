//! The simulator: what a client does with its own sandbox. None of it touches another client, or live money.

use std::pin::pin;
use std::time::Duration;

use axum::extract::State;
use hyper::StatusCode;
use railgate::api::{
    AdvanceBody, BalanceView, Caller, ClockBody, ClockView, FaultsBody, FaultsView, FundBody, ResetBody, ResetView, ScenariosView,
    SettlementView,
};
use railgate::engine::{Advance, End, Fund, LastStep, Reset, Restore, SetClock, SetFaults};
use railgate::ledger::Mode;
use railgate::rail::sandbox_scenarios;
use railgate::validate::parse_money;
use railgate::validate::simulator::{parse_advance, parse_clock, parse_faults};
use tokio::time::sleep;

use super::App;
use super::connections::Link;
use super::document::{BadFields, Denied, InvalidPage, NoSettlement, NotAdvanced, TooMuch, Unserved};
use super::extract::{Authenticated, Named, Posted};
use super::held;
use super::keyed::{Keyed, answered, marked};
use super::response::{HandlerResult, ok};
use super::route::{Simulator, routes};

/// How many pages of settlements a reset looks at in one call, each among 4,000.
const RESET_PAGES: usize = 25;

/// How often a clock that is on its way is looked at at first; then half as often each time, down to [`SELDOM`]. Any node may move it.
const OFTEN: Duration = Duration::from_millis(10);
const SELDOM: Duration = Duration::from_millis(500);
const DAY_MS: i64 = 86_400_000;

routes![scenarios, fund, advance, clock, set_clock, faults, set_faults, reset];

/// List the scenarios of the sandbox's simulated operator
#[utoipa::path(
    get, path = "/api/v1/simulator/scenarios", tag = "simulator", operation_id = "listScenarios",
    responses((status = 200, description = "Each with the `to` that triggers it", body = ScenariosView), Denied, Unserved),
)]
pub(crate) async fn scenarios(Authenticated(_): Authenticated<Simulator>) -> HandlerResult {
    ok(&ScenariosView { data: sandbox_scenarios().to_vec() })
}

/// Add play money to a sandbox account
///
/// Every call adds the amount again, unless it repeats an `Idempotency-Key`. An account may be credited with 10,000,000,000 of its currency
/// in all.
#[utoipa::path(
    post, path = "/api/v1/simulator/fund", tag = "simulator", operation_id = "fund",
    request_body(content = FundBody, content_type = "application/json", example = json!({"currency": "EUR", "amount": 250.00})),
    responses((status = 200, description = "The balance afterwards", body = BalanceView), BadFields, TooMuch, Denied, Unserved),
)]
pub(crate) async fn fund(State(app): State<App>, keyed: Keyed<Simulator>) -> HandlerResult {
    let money = parse_money(keyed.body())?;
    answered(StatusCode::OK, keyed.once(&app, Fund { caller: keyed.caller, money }).await?)
}

/// Decide what becomes of a settlement of the sandbox
///
/// The simulated operator decides now, whatever its scenario, and sticks to it. Its answer takes its usual way: the lifecycle, the
/// money, the trace and webhooks follow. What has not been sent yet is sent first. If the settlement already is where `to` brings it,
/// nothing changes. A live settlement is not found here.
#[utoipa::path(
    post, path = "/api/v1/simulator/settlements/{ref}/advance", tag = "simulator", operation_id = "advanceSettlement",
    params(("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001")),
    request_body(content = AdvanceBody, content_type = "application/json", example = json!({"to": "failed", "code": "account_closed"})),
    responses((status = 200, description = "The settlement afterwards", body = SettlementView), BadFields, NoSettlement, NotAdvanced, Denied, Unserved),
)]
pub(crate) async fn advance(State(app): State<App>, named: Named, keyed: Keyed<Simulator>) -> HandlerResult {
    let (target, request) = (named.target()?.clone(), parse_advance(keyed.body())?);
    answered(StatusCode::OK, keyed.once(&app, Advance { caller: keyed.caller, target, request }).await?)
}

/// Read the clock of the caller's sandbox
#[utoipa::path(
    get, path = "/api/v1/simulator/clock", tag = "simulator", operation_id = "getClock",
    responses((status = 200, description = "Its time, and where it is on its way to", body = ClockView), Denied, Unserved),
)]
pub(crate) async fn clock(State(app): State<App>, Authenticated(call): Authenticated<Simulator>) -> HandlerResult {
    ok(&app.gateway.read(&call.caller, |engine| engine.clock(&call.caller)).await?)
}

/// Stop the clock of the caller's sandbox, let it run, or put it ahead
///
/// Expiry, inquiries, late answers, returns and the retries of webhooks follow it, and all times of the sandbox's settlements are its;
/// nobody else's are. An advance travels: whatever becomes due on the way is carried out at its own time, and the answer comes when it
/// has arrived, or names the time to which it is still on its way (`advancing_to`) after 20 seconds at most. Another advance goes farther,
/// and `{"frozen": true}` stops it where it is. Time never goes back. Each started day of an advance counts as a write. A repeat with the
/// same `Idempotency-Key` changes nothing and counts no days: it waits like the first call, and answers with the clock as it is by then.
/// Where several servers share a database, the others follow the first change of a clock within about a second, and later ones at once.
#[utoipa::path(
    put, path = "/api/v1/simulator/clock", tag = "simulator", operation_id = "setClock",
    request_body(content = ClockBody, content_type = "application/json", example = json!({"advance_ms": 86_400_000})),
    responses((status = 200, description = "The clock afterwards", body = ClockView), BadFields, Denied, Unserved),
)]
pub(crate) async fn set_clock(State(app): State<App>, keyed: Keyed<Simulator>) -> HandlerResult {
    let (caller, request) = (keyed.caller, parse_clock(keyed.body())?);
    let set = if keyed.kept(&app).await?.is_some() {
        None
    } else {
        keyed.charge(&app, usize::try_from(request.advance_ms.unsigned_abs().div_ceil(DAY_MS.unsigned_abs())).unwrap_or(usize::MAX))?;
        keyed.once(&app, SetClock { caller, request }).await?.output
    };
    let repeated = set.is_none();
    let clock = match set {
        Some(set) => set,
        None => app.gateway.read(&caller, |engine| engine.clock(&caller)).await?,
    };
    marked(ok(&arrived(&app, &caller, keyed.link(), clock).await)?, repeated)
}

/// The clock as soon as it has arrived, or where it is when most of the handler's time is over, this process stops or the caller is gone.
async fn arrived(app: &App, caller: &Caller, link: Option<&Link>, mut clock: ClockView) -> ClockView {
    let Some(_place) = held::wait(app, caller.client) else { return clock };
    let mut stopping = app.stopping.clone();
    let mut gone = pin!(Link::hung_up(link));
    let mut deadline = pin!(sleep(app.limits.handler * 2 / 3));
    let mut pause = OFTEN;
    while clock.advancing_to.is_some() {
        tokio::select! {
            () = sleep(pause) => pause = (pause * 2).min(SELDOM),
            () = &mut deadline => break,
            () = stopping.requested() => break,
            () = &mut gone => break,
        }
        // The clock was changed: a store that cannot be read now does not change that.
        let Ok(now) = app.gateway.read(caller, |engine| engine.clock(caller)).await else { break };
        clock = now;
    }
    clock
}

/// Read the faults of the caller's sandbox
#[utoipa::path(
    get, path = "/api/v1/simulator/faults", tag = "simulator", operation_id = "getFaults",
    responses((status = 200, description = "The faults in force", body = FaultsView), Denied, Unserved),
)]
pub(crate) async fn faults(State(app): State<App>, Authenticated(call): Authenticated<Simulator>) -> HandlerResult {
    ok(&app.gateway.read(&call.caller, |engine| engine.faults(&call.caller)).await?)
}

/// Make the simulated operator fail
///
/// Replaces the faults of the caller's sandbox; what is left out is 0. Which calls are hit follows from the seed and each call's key at
/// the operator. A call that does not reach the operator proves that nothing happened, so another provider is tried; one whose answer is
/// lost leaves the payment `unknown` until an inquiry finds it; an answer that takes longer than 30 seconds comes after the gateway has
/// given up waiting. The latency applies to payments and reversals, the rates to inquiries too.
#[utoipa::path(
    put, path = "/api/v1/simulator/faults", tag = "simulator", operation_id = "setFaults",
    request_body(content = FaultsBody, content_type = "application/json", example = json!({"rate": 0.1, "latency_ms": 2000, "drop_answer_rate": 0.05, "seed": 7})),
    responses((status = 200, description = "The faults from now on", body = FaultsView), BadFields, Denied, Unserved),
)]
pub(crate) async fn set_faults(State(app): State<App>, posted: Posted<Simulator>) -> HandlerResult {
    let faults = parse_faults(posted.body())?;
    ok(&posted.run(&app, SetFaults { caller: posted.caller, faults }).await?)
}

/// Start the sandbox again
///
/// Cancels the caller's sandbox settlements that were not sent, has the simulated operator refuse those that are open, removes all
/// faults, lets the clock run, and restores the opening balances. History stays: references are unique for ever, so use new ones. What is
/// completed keeps its scenario: reversals in flight and payments that are to come back go on. One call looks at 100,000 settlements at
/// most, and counts as 25 writes. An `Idempotency-Key` is taken once the call is done: one that was cut off is carried out again.
#[utoipa::path(
    post, path = "/api/v1/simulator/reset", tag = "simulator", operation_id = "resetSandbox",
    request_body(content = Option<ResetBody>, content_type = "application/json", example = json!({})),
    responses((status = 200, description = "What was done", body = ResetView), BadFields, InvalidPage, Denied, Unserved),
)]
pub(crate) async fn reset(State(app): State<App>, keyed: Keyed<Simulator>) -> HandlerResult {
    let caller = Caller { mode: Mode::Sandbox, ..keyed.caller };
    let mut request = app.gateway.engine().parse_reset(keyed.body())?;
    if let Some(answer) = keyed.kept(&app).await? {
        return answered(StatusCode::OK, answer);
    }
    // What it may have to look through costs far more than one write.
    keyed.charge(&app, RESET_PAGES)?;
    // Recorded before anything ends: the same call sent again must not begin another reset.
    keyed.run(&app, Reset { caller }).await?;
    let mut done = ResetView::default();
    let mut restore = None;
    for _ in 0..RESET_PAGES {
        let asked = request.clone();
        let page = app.gateway.scan(&caller, move |engine| engine.list(&caller, &asked)).await?;
        done.count(app.gateway.run_all(&caller, End::all(caller, &page)).await?)?;
        match request.next(&page) {
            Some(next) => request = next,
            None => {
                done.next_cursor = None;
                restore = Some(Restore { caller });
                break;
            }
        }
        done.next_cursor = page.next_cursor;
    }
    let last = keyed.named(LastStep { command: restore, view: done }, false);
    answered(StatusCode::OK, app.gateway.run(&caller, last).await?)
}
