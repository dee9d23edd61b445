//! Providers and routes, as operators configure them.

use axum::extract::State;
use axum::response::Response;
use hyper::header::ETAG;
use railgate::ErrorCode;
use railgate::api::{
    AskedView, CreateBody, ExplainView, OperatedProviderView, OperatedProvidersView, OperatedRoutesView, PositionsView, ProviderBody,
    ReasonBody, RoutesBody,
};
use railgate::store::record::OperatorAct;

use super::super::App;
use super::super::document::{BadBody, BadFields, Denied, NoClient, NoProvider, NotActed, Unserved};
use super::super::extract::{Authenticated, Named, Params, Posted};
use super::super::keyed::Keyed;
use super::super::response::{HandlerResult, ok, with_text};
use super::super::route::{AsAgent, AsViewer, routes};
use super::{act, id};

routes![providers, provider, positions, put, enable, disable, maintain, routes_read, routes_put, explain];

/// List the providers as they are configured
///
/// Also those that are switched off, with how this server finds them. Secrets are never shown.
#[utoipa::path(
    get, path = "/api/v1/operator/providers", tag = "operators", operation_id = "listConfiguredProviders",
    responses((status = 200, description = "All providers", body = OperatedProvidersView), Denied, Unserved),
)]
pub(crate) async fn providers(State(app): State<App>, Authenticated(_): Authenticated<AsViewer>) -> HandlerResult {
    ok(&OperatedProvidersView { data: app.gateway.engine().operated_providers() })
}

/// Read a provider as it is configured
#[utoipa::path(
    get, path = "/api/v1/operator/providers/{id}", tag = "operators", operation_id = "getConfiguredProvider",
    params(("id" = String, Path, description = "The provider's id", example = "simulator")),
    responses((status = 200, description = "The provider", body = OperatedProviderView, headers(("ETag" = String, description = "The version"))), NoProvider, Denied, Unserved),
)]
pub(crate) async fn provider(State(app): State<App>, Authenticated(_): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    shown(&app, named.last())
}

/// Read what was paid through a provider
///
/// One position for each currency, from the provider's accounts in the ledger: what was carried out, less what came back, and what is on
/// hold for payments that it may have.
#[utoipa::path(
    get, path = "/api/v1/operator/providers/{id}/positions", tag = "operators", operation_id = "getPositions",
    params(("id" = String, Path, description = "The provider's id", example = "simulator")),
    responses((status = 200, description = "Its positions", body = PositionsView), NoProvider, Denied, Unserved),
)]
pub(crate) async fn positions(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    ok(&PositionsView { data: app.gateway.read(&call.caller, |engine| engine.positions(named.last())).await? })
}

/// A provider, and why it is put.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "described here, read by the core")]
pub(crate) struct PutProviderBody {
    #[serde(flatten)]
    provider: ProviderBody,
    /// Why, for the audit trail.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// The whole table of routes, and why it is put.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "described here, read by the core")]
pub(crate) struct PutRoutesBody {
    #[serde(flatten)]
    table: RoutesBody,
    /// Why, for the audit trail.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// Add or replace a provider
///
/// The whole provider; secrets that are left out stay as they are. `If-Match` with an `ETag` replaces only that version. In force on
/// this server at once, on others within seconds.
#[utoipa::path(
    put, path = "/api/v1/operator/providers/{id}", tag = "operators", operation_id = "putProvider",
    params(("id" = String, Path, description = "The provider's id", example = "simulator"), ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is replaced", pattern = r#"^(\*|"[0-9]{1,18}")$"#, example = "\"12\"")),
    request_body(content = PutProviderBody, content_type = "application/json", example = json!({"id": "simulator", "name": "Simulated operator", "rail": "simulator", "mode": "sandbox", "fees": [{"percent": "0.5"}], "reason": "contract of May"})),
    responses((status = 200, description = "The provider", body = OperatedProviderView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn put(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::PutProvider).await
}

/// Enable a provider
#[utoipa::path(
    post, path = "/api/v1/operator/providers/{id}/enable", tag = "operators", operation_id = "enableProvider",
    params(("id" = String, Path, description = "The provider's id", example = "simulator")),
    request_body(content = ReasonBody, content_type = "application/json", example = json!({"reason": "the tests passed"})),
    responses((status = 200, description = "The provider", body = OperatedProviderView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn enable(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::EnableProvider).await
}

/// Disable a provider
///
/// It gets no new payments; those that it has are followed to their end.
#[utoipa::path(
    post, path = "/api/v1/operator/providers/{id}/disable", tag = "operators", operation_id = "disableProvider",
    params(("id" = String, Path, description = "The provider's id", example = "simulator")),
    request_body(content = ReasonBody, content_type = "application/json", example = json!({"reason": "it answers wrongly"})),
    responses((status = 200, description = "The provider", body = OperatedProviderView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn disable(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::DisableProvider).await
}

/// Put a provider into maintenance
///
/// It gets no new payments for a while, and clients see why; those that it has are followed to their end.
#[utoipa::path(
    post, path = "/api/v1/operator/providers/{id}/maintenance", tag = "operators", operation_id = "maintainProvider",
    params(("id" = String, Path, description = "The provider's id", example = "simulator")),
    request_body(content = ReasonBody, content_type = "application/json", example = json!({"reason": "announced for tonight"})),
    responses((status = 200, description = "The provider", body = OperatedProviderView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn maintain(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    change(&app, named.last(), &keyed, OperatorAct::MaintainProvider).await
}

/// Read the table of routes
#[utoipa::path(
    get, path = "/api/v1/operator/routes", tag = "operators", operation_id = "getRoutes",
    responses((status = 200, description = "The table", body = OperatedRoutesView, headers(("ETag" = String, description = "The version"))), Denied, Unserved),
)]
pub(crate) async fn routes_read(State(app): State<App>, Authenticated(_): Authenticated<AsViewer>) -> HandlerResult {
    table(&app)
}

/// Replace the table of routes
///
/// `If-Match` must have the `ETag` of the table that is replaced, or `*`.
#[utoipa::path(
    put, path = "/api/v1/operator/routes", tag = "operators", operation_id = "putRoutes",
    params(("If-Match" = String, Header, description = "The `ETag` of the version that is replaced, or `*`", pattern = r#"^(\*|"[0-9]{1,18}")$"#, example = "\"12\"")),
    request_body(content = PutRoutesBody, content_type = "application/json", example = json!({"routes": [{"mode": "sandbox", "namespace": "msisdn", "prefix": "+254", "providers": [{"id": "simulator", "priority": 1}]}], "reason": "contract of May"})),
    responses((status = 200, description = "The table", body = OperatedRoutesView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn routes_put(State(app): State<App>, keyed: Keyed<AsAgent>) -> HandlerResult {
    act(&app, &keyed, OperatorAct::PutRoutes, "", async || table(&app)).await
}

/// Explain where a payment would go
///
/// The body is that of a create; without `"sandbox": true` it is about a live payment. Nothing is made.
#[utoipa::path(
    post, path = "/api/v1/operator/routes/explain", tag = "operators", operation_id = "explainRoute",
    params(("client" = Option<String>, Query, description = "With the terms of this client", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = CreateBody, content_type = "application/json", example = json!({"amount": 10.50, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "any"})),
    responses((status = 200, description = "Each provider, in or out, and why", body = ExplainView), BadBody, NoClient, Denied, Unserved),
)]
pub(crate) async fn explain(State(app): State<App>, posted: Posted<AsViewer>) -> HandlerResult {
    let mut params = Params::of(&posted.raw.parts.uri)?;
    let client = params.text("client");
    params.finish()?;
    let client = client.map(|client| id(&client, "cli_", ErrorCode::ClientNotFound)).transpose()?;
    ok(&app.gateway.read(&posted.caller, |engine| engine.explain(client, posted.body())).await?)
}

async fn change(app: &App, provider: &str, keyed: &Keyed<AsAgent>, what: OperatorAct) -> HandlerResult {
    act(app, keyed, what, provider, async || shown(app, provider)).await
}

fn shown(app: &App, provider: &str) -> HandlerResult {
    let view = app.gateway.engine().operated_provider(provider)?;
    tagged(ok(&view)?, view.version)
}

fn table(app: &App) -> HandlerResult {
    let view = app.gateway.engine().operated_routes();
    tagged(ok(&view)?, view.version)
}

fn tagged(response: Response, version: i64) -> HandlerResult {
    with_text(response, ETAG, format!("\"{version}\""))
}
