//! Balances and statements.

use axum::extract::State;
use railgate::api::{BalanceMovementView, BalanceView, BalancesView, EntriesView, EntryView};
use railgate::engine::StatementRequest;
use railgate::{Engine, Result};

use super::App;
use super::document::{BadQuery, Denied, NoBalance, NoMovement, Unserved};
use super::export::{CSV, Form, NDJSON, stream_rows};
use super::extract::{Authenticated, Named, Open, Params};
use super::negotiate::{JSON, choose};
use super::response::{HandlerResult, ok};
use super::route::{BalancesRead, routes};
use crate::csv::write_cells;

routes![balances, balance, entries, movement];

/// The default and the most of a page of a statement, and the size of those of a stream.
const PAGE: (usize, usize) = (50, 200);

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

/// Read a deposit, a withdrawal or a credit line
///
/// Real money that an operator of the gateway credited or debited, by the reference that its event, its webhook and its line of the
/// statement have; or a change of credit, by that of its event and its webhook.
#[utoipa::path(
    get, path = "/api/v1/balances/movements/{reference}", tag = "balances", operation_id = "getMovement",
    params(("reference" = String, Path, description = "The operator's reference", example = "wire-2026-0001")),
    responses((status = 200, description = "The movement", body = BalanceMovementView), NoMovement, Denied, Unserved),
)]
pub(crate) async fn movement(State(app): State<App>, Authenticated(call): Authenticated<BalancesRead>, named: Named) -> HandlerResult {
    ok(&app.gateway.read(&call.caller, |engine| engine.movement(&call.caller, named.last())).await?)
}

/// Read the statement of one currency, newest first
///
/// Each posted transfer with the balance after it. Lines follow the payments that cause them within moments. As CSV or NDJSON, by `Accept`,
/// everything is streamed, without pages.
#[utoipa::path(
    get, path = "/api/v1/balances/{currency}/entries", tag = "balances", operation_id = "listEntries",
    params(
        ("currency" = String, Path, description = "ISO 4217 code", example = "EUR"),
        ("from" = Option<String>, Query, description = "RFC 3339, inclusive", format = DateTime, example = "2026-01-01T00:00:00Z"),
        ("to" = Option<String>, Query, description = "RFC 3339, exclusive", format = DateTime),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses(
        (status = 200, description = "One page, or all lines", content(
            (EntriesView = "application/json"),
            (String = "text/csv", example = "number,at,type,amount,balance,currency\n"),
            (String = "application/x-ndjson", example = "{\"number\":1,\"type\":\"deposit\"}\n"),
        )),
        BadQuery, NoBalance, Denied, Unserved,
    ),
)]
pub(crate) async fn entries(State(app): State<App>, open: Open<BalancesRead>, named: Named) -> HandlerResult {
    let kind = choose(&open.headers, &[JSON, CSV, NDJSON])?;
    let mut params = Params::of(&open.uri)?;
    let period = (params.time("from"), params.time("to"));
    let (limit, cursor) = match kind {
        JSON => (params.number("limit", 1..=PAGE.1).unwrap_or(PAGE.0), params.text("cursor")),
        _ => (PAGE.1, None),
    };
    params.finish()?;
    let caller = open.caller;
    let request = move |engine: &Engine| engine.statement_request(&caller, named.last(), period, cursor.as_deref(), limit);
    let request = app.gateway.scan(&caller, request).await?;
    if kind == JSON {
        return ok(&app.gateway.scan(&caller, move |engine| engine.statement(&request)).await?);
    }
    let form = Form::of(kind);
    let page = move |engine: &Engine, request: StatementRequest| {
        let page = engine.statement(&request)?;
        Ok((form.rows(&page.data, write_entry)?, request.next(&page)))
    };
    stream_rows(app, caller, form, ("statement", HEADER), request, Box::new(page)).await
}

const HEADER: &str = "number,at,type,amount,balance,currency,reference,settlement_id,description\r\n";

/// One line, in the order of [`HEADER`]. A missing value is an empty cell.
fn write_entry(out: &mut String, entry: &EntryView) -> Result<()> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let number = entry.number.to_string();
    let (reference, settlement, description) = (text(&entry.reference), text(&entry.settlement_id), text(&entry.description));
    let (amount, balance) = (entry.amount.as_str(), entry.balance.as_str());
    write_cells(out, &[&number, &entry.at, &entry.kind, amount, balance, &entry.currency, &reference, &settlement, &description]);
    Ok(())
}
