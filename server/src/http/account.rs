//! Balances.

use axum::extract::State;
use railgate::api::{BalanceView, BalancesView};

use super::App;
use super::document::{Denied, NoBalance, Unserved};
use super::extract::{Authenticated, Named};
use super::response::{HandlerResult, ok};
use super::route::{BalancesRead, routes};

routes![balances, balance];

/// Read all balances
#[utoipa::path(
    get, path = "/api/v1/balances", tag = "balances", operation_id = "listBalances",
    responses((status = 200, description = "One balance per currency", body = BalancesView), Denied, Unserved),
)]
pub(crate) async fn balances(State(app): State<App>, Authenticated(call): Authenticated<BalancesRead>) -> HandlerResult {
    let data = app.gateway.read(&call.caller, |engine| engine.balances(&call.caller)).await?;
    ok(&BalancesView { data })
}

/// Read the balance in one currency
#[utoipa::path(
    get, path = "/api/v1/balances/{currency}", tag = "balances", operation_id = "getBalance",
    params(("currency" = String, Path, description = "ISO 4217 code", example = "EUR")),
    responses((status = 200, description = "The balance", body = BalanceView), NoBalance, Denied, Unserved),
)]
pub(crate) async fn balance(State(app): State<App>, Authenticated(call): Authenticated<BalancesRead>, named: Named) -> HandlerResult {
    let view = app.gateway.read(&call.caller, |engine| engine.balance(&call.caller, named.last())).await?;
    ok(&view)
}
