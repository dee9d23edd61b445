//! The providers that payments can go to.

use axum::extract::State;
use railgate::api::{ProviderView, ProvidersView};

use super::App;
use super::document::{Denied, NoProvider, Unserved};
use super::extract::{Authenticated, Named};
use super::response::{HandlerResult, ok};
use super::route::{ProvidersRead, routes};

routes![providers, provider];

/// List the providers
///
/// Those that the credential's payments can go to: a sandbox credential sees those of the sandbox, a live one all. Each server
/// judges from the payments that it sent itself whether a provider answers.
#[utoipa::path(
    get, path = "/api/v1/providers", tag = "providers", operation_id = "listProviders",
    responses((status = 200, description = "All providers in service, and how they are", body = ProvidersView), Denied, Unserved),
)]
pub(crate) async fn providers(State(app): State<App>, Authenticated(call): Authenticated<ProvidersRead>) -> HandlerResult {
    ok(&ProvidersView { data: app.gateway.engine().providers(&call.caller) })
}

/// Read a provider
#[utoipa::path(
    get, path = "/api/v1/providers/{id}", tag = "providers", operation_id = "getProvider",
    params(("id" = String, Path, description = "The provider's id", example = "simulator")),
    responses((status = 200, description = "The provider, and how it is", body = ProviderView), NoProvider, Denied, Unserved),
)]
pub(crate) async fn provider(State(app): State<App>, Authenticated(call): Authenticated<ProvidersRead>, named: Named) -> HandlerResult {
    ok(&app.gateway.engine().provider_by_id(&call.caller, named.last())?)
}
