//! The simulator: what a client does with its own sandbox. None of it touches another client, or live money.

use axum::extract::State;
use railgate::api::{BalanceView, Caller, FundBody, ScenariosView};
use railgate::engine::Fund;
use railgate::ledger::Mode;
use railgate::rail::sandbox_scenarios;
use railgate::validate::parse_money;

use super::App;
use super::document::{BadFields, Denied, TooMuch, Unserved};
use super::extract::{Authenticated, Posted};
use super::response::{HandlerResult, ok};
use super::route::{Simulator, routes};

routes![scenarios, fund];

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
/// Every call adds the amount again. An account may be credited with 10,000,000,000 of its currency in all.
#[utoipa::path(
    post, path = "/api/v1/simulator/fund", tag = "simulator", operation_id = "fund",
    request_body(content = FundBody, content_type = "application/json", example = json!({"currency": "EUR", "amount": 250.00})),
    responses((status = 200, description = "The balance afterwards", body = BalanceView), BadFields, TooMuch, Denied, Unserved),
)]
pub(crate) async fn fund(State(app): State<App>, posted: Posted<Simulator>) -> HandlerResult {
    let money = parse_money(posted.body())?;
    posted.run(&app, Fund { caller: posted.caller, money }).await?;
    // A live credential sees its live balances; play money is in the sandbox.
    let caller = Caller { mode: Mode::Sandbox, ..posted.caller };
    let view = app.gateway.read(&caller, |engine| engine.balance(&caller, money.currency().code())).await?;
    ok(&view)
}
