//! The settlements of all clients.

use axum::extract::State;
use railgate::api::Caller;
use railgate::api::{CaseView, Page, SettlementView};
use railgate::engine::ListRequest;
use railgate::ids::Ulid;
use railgate::ledger::Mode;
use railgate::{Engine, ErrorCode, Result};

use super::super::App;
use super::super::document::{BadQuery, Denied, ListParams, NoClient, NoSettlement, Unserved};
use super::super::export::stream;
use super::super::extract::{Authenticated, Named, Open, pairs};
use super::super::response::{HandlerResult, ok};
use super::super::route::{AsViewer, routes};
use super::id;

routes![list, export, read];

/// List the settlements of all clients, newest first
///
/// Takes the filters of a client's own list, and `client`. Without `client`, the order is that of creation to within two seconds. A page
/// may have fewer settlements than asked for, or none, and still a cursor: it examines only so many.
#[utoipa::path(
    get, path = "/api/v1/operator/settlements", tag = "operators", operation_id = "listAllSettlements",
    params(
        ListParams,
        ("client" = Option<String>, Query, description = "Only those of this client", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = Page<SettlementView>), BadQuery, NoClient, Denied, Unserved),
)]
pub(crate) async fn list(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    let mut pairs = pairs(&call.uri)?;
    let client = of_client(&mut pairs)?;
    let request = app.gateway.engine().parse_list(&pairs)?;
    ok(&app.gateway.scan(&call.caller, move |engine| page(engine, client, &request)).await?)
}

/// Export the settlements of all clients as CSV or NDJSON
///
/// Takes the filters of the list and streams everything that matches, newest first.
#[utoipa::path(
    get, path = "/api/v1/operator/settlements/export", tag = "operators", operation_id = "exportAllSettlements",
    params(ListParams, ("client" = Option<String>, Query, description = "Only those of this client", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses(
        (status = 200, description = "Everything that matches", content(
            (String = "text/csv", example = "id,reference,status\n"),
            (String = "application/x-ndjson", example = "{\"id\":\"stl_01ARZ3NDEKTSV4RRFFQ69G5FAV\"}\n"),
        )),
        BadQuery, NoClient, Denied, Unserved,
    ),
)]
pub(crate) async fn export(State(app): State<App>, open: Open<AsViewer>) -> HandlerResult {
    let mut pairs = pairs(&open.uri)?;
    let client = of_client(&mut pairs)?;
    stream(app, &open.headers, open.caller, &pairs, Box::new(move |engine, request| page(engine, client, request))).await
}

/// Read everything about a settlement of any client
///
/// The record, its attempts, reversals, trace and transfers, and what waits for a person.
#[utoipa::path(
    get, path = "/api/v1/operator/settlements/{id}", tag = "operators", operation_id = "getAnySettlement",
    params(("id" = String, Path, description = "The `stl_` id", example = "stl_01ARZ3NDEKTSV4RRFFQ69G5FAV")),
    responses((status = 200, description = "Everything that is known", body = CaseView), NoSettlement, Denied, Unserved),
)]
pub(crate) async fn read(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    let settlement = id(named.last(), "stl_", ErrorCode::SettlementNotFound)?;
    ok(&app.gateway.read(&call.caller, |engine| engine.case(settlement, None)).await?)
}

/// Takes the parameter `client` out of the others.
fn of_client(pairs: &mut Vec<(String, String)>) -> Result<Option<Ulid>> {
    let Some(at) = pairs.iter().position(|(name, _)| name == "client") else { return Ok(None) };
    let (_, client) = pairs.remove(at);
    id(&client, "cli_", ErrorCode::ClientNotFound).map(Some)
}

fn page(engine: &Engine, client: Option<Ulid>, request: &ListRequest) -> Result<Page<SettlementView>> {
    match client {
        Some(client_id) => engine.list(&Caller::client(engine.client_no(client_id)?, client_id, Mode::Live), request),
        None => engine.list_all(request),
    }
}
