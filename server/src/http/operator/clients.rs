//! Clients, as operators see and change them.

use axum::extract::State;
use railgate::ErrorCode;
use railgate::api::{
    ApproveClientBody, AskedView, ClientDetailView, ClientsView, ReasonBody, SetFeesBody, SetLimitsBody, SetSessionSignaturesBody,
};
use railgate::ids::Ulid;
use railgate::store::record::OperatorAct;

use super::super::App;
use super::super::document::{BadFields, BadQuery, Denied, NoClient, NotActed, Unserved};
use super::super::extract::{Authenticated, Named};
use super::super::keyed::Keyed;
use super::super::response::{HandlerResult, ok};
use super::super::route::{AsAgent, AsViewer, routes};
use super::{act, id, page};

routes![clients, client, approve, suspend, resume, limits, fees, session_signatures];

/// List the clients, oldest first
#[utoipa::path(
    get, path = "/api/v1/operator/clients", tag = "operators", operation_id = "listClients",
    params(
        ("pending" = Option<bool>, Query, description = "Only clients with a key that awaits approval"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = ClientsView), BadQuery, Denied, Unserved),
)]
pub(crate) async fn clients(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    let (limit, cursor, pending) =
        page(&call.uri, |params| params.choice("pending", &[false, true], |it| if it { "true" } else { "false" }))?;
    let after = cursor.map(|cursor| id(&cursor, "cli_", ErrorCode::InvalidCursor)).transpose()?;
    let read = move |engine: &railgate::Engine| engine.clients(pending.unwrap_or(false), after, limit);
    ok(&app.gateway.scan(&call.caller, read).await?)
}

/// Read a client
///
/// With its keys, balances, and what is agreed with it.
#[utoipa::path(
    get, path = "/api/v1/operator/clients/{id}", tag = "operators", operation_id = "getClient",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "The client", body = ClientDetailView), NoClient, Denied, Unserved),
)]
pub(crate) async fn client(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    let client = id(named.last(), "cli_", ErrorCode::ClientNotFound)?;
    ok(&detail(&app, &call.caller, client).await?)
}

/// Approve live access
///
/// Activates the live keys of the client that wait: compare their thumbprints with the client over another channel, and name the key if
/// several wait.
#[utoipa::path(
    post, path = "/api/v1/operator/clients/{id}/approve", tag = "operators", operation_id = "approveClient",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = ApproveClientBody, content_type = "application/json", example = json!({"reason": "contract signed"})),
    responses((status = 200, description = "The client", body = ClientDetailView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn approve(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::ApproveClient).await
}

/// Suspend a client
///
/// Every call of it is refused: on this server at once, on others within five seconds. Payments that it made go on.
#[utoipa::path(
    post, path = "/api/v1/operator/clients/{id}/suspend", tag = "operators", operation_id = "suspendClient",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = ReasonBody, content_type = "application/json", example = json!({"reason": "its key was stolen"})),
    responses((status = 200, description = "The client", body = ClientDetailView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn suspend(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::SuspendClient).await
}

/// End a client's suspension
#[utoipa::path(
    post, path = "/api/v1/operator/clients/{id}/resume", tag = "operators", operation_id = "resumeClient",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = ReasonBody, content_type = "application/json", example = json!({"reason": "it has a new key"})),
    responses((status = 200, description = "The client", body = ClientDetailView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn resume(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::ResumeClient).await
}

/// Set the limits of a client in one mode and currency
///
/// What is left out stays as it is; `null` lifts a limit. A day is UTC.
#[utoipa::path(
    put, path = "/api/v1/operator/clients/{id}/limits", tag = "operators", operation_id = "setClientLimits",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = SetLimitsBody, content_type = "application/json", example = json!({"mode": "live", "currency": "EUR", "daily_value": "5000.00", "reason": "agreed by phone"})),
    responses((status = 200, description = "The client", body = ClientDetailView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn limits(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::SetLimits).await
}

/// Set the fees of a client
///
/// Replaces all of its rules; without any, it pays the providers' fees.
#[utoipa::path(
    put, path = "/api/v1/operator/clients/{id}/fees", tag = "operators", operation_id = "setClientFees",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = SetFeesBody, content_type = "application/json", example = json!({"fees": [{"percent": "0.5", "min": "0.10"}], "reason": "contract of May"})),
    responses((status = 200, description = "The client", body = ClientDetailView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn fees(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::SetFees).await
}

/// Set which calls a client's sessions may sign
///
/// In one mode; without this, all in the sandbox, and reads where money is live. Takes effect for sessions that are there already.
#[utoipa::path(
    put, path = "/api/v1/operator/clients/{id}/session-signatures", tag = "operators", operation_id = "setClientSessionSignatures",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = SetSessionSignaturesBody, content_type = "application/json", example = json!({"mode": "live", "session_signatures": "all", "reason": "its keys are in hardware"})),
    responses((status = 200, description = "The client", body = ClientDetailView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn session_signatures(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::SetSessionSignatures).await
}

/// Changes a client and answers with it.
async fn change(app: &App, client: &str, keyed: &Keyed<AsAgent>, what: OperatorAct) -> HandlerResult {
    act(app, keyed, what, client, async || ok(&detail(app, &keyed.caller, id(client, "cli_", ErrorCode::ClientNotFound)?).await?)).await
}

async fn detail(app: &App, caller: &railgate::api::Caller, client: Ulid) -> railgate::Result<ClientDetailView> {
    app.gateway.read(caller, |engine| engine.client_detail(client)).await
}
