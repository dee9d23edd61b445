//! Who is an operator, and what was done.

use axum::extract::State;
use hyper::StatusCode;
use hyper::header::CACHE_CONTROL;
use railgate::api::{
    AuditPageView, OperatorEnrollBody, OperatorEnrollmentView, OperatorInvitationView, OperatorInviteBody, OperatorSettingsView,
    OperatorView, OperatorsView, OverviewView, ReasonBody, RoleBody,
};
use railgate::engine::{ChangeRole, EnrollOperator, InviteOperator, RevokeOperator, Signed};
use railgate::ledger::Mode;
use railgate::time::Millis;
use railgate::validate::operator::{parse_operator_enrollment, parse_operator_invitation, parse_reason, parse_role};
use railgate::{Error, ErrorCode};

use super::super::App;
use super::super::access::token_view;
use super::super::body::ENROLMENT;
use super::super::document::{BadFields, BadQuery, Changing, Denied, KeyTaken, NoClient, NoOperator, NotInvited, Unserved};
use super::super::extract::{Authenticated, Named, Params, Raw};
use super::super::keyed::{Keyed, answered};
use super::super::response::{HandlerResult, NO_STORE, ok, secret, with};
use super::super::route::{Access, AsAdmin, AsViewer, routes};
use super::{acting, id, page};
use crate::gateway::Tenant;

routes![overview, settings, enroll, operators, invite, change_role, revoke, audit];

/// The period that an overview is about by default: a day.
const PERIOD: Millis = 86_400_000;

/// Read what the gateway did, and what waits
///
/// By environment, provider and currency, for settlements that were accepted in the period. Of very many, the newest are
/// counted, and `complete` is false. Figures of live payments are counted apart from the sandbox's. `nodes` are the servers over the store.
/// Without a period, what took long to count may be up to nine times as old as it took.
#[utoipa::path(
    get, path = "/api/v1/operator/overview", tag = "operators", operation_id = "getOverview",
    params(
        ("from" = Option<String>, Query, description = "RFC 3339, inclusive; a day before `to` by default", format = DateTime, example = "2026-01-01T00:00:00Z"),
        ("to" = Option<String>, Query, description = "RFC 3339, exclusive; now by default", format = DateTime),
    ),
    responses((status = 200, description = "Figures", body = OverviewView), BadQuery, Denied, Unserved),
)]
pub(crate) async fn overview(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    let mut params = Params::of(&call.uri)?;
    let (from, to) = (params.time("from"), params.time("to"));
    params.finish()?;
    let (gateway, tenant, is_usual) = (app.gateway.clone(), Tenant::from(&call.caller), from.or(to).is_none());
    let to = to.unwrap_or_else(|| gateway.engine().now() + 1);
    let from = from.unwrap_or(to.saturating_sub(PERIOD));
    let read = || async move { gateway.scan(tenant, move |engine| engine.overview(from, to)).await };
    // Every operator has it on the first page.
    let overview = if is_usual { app.readings.overview.get(read).await } else { Some(read().await) };
    ok(&overview.ok_or_else(|| Error::new(ErrorCode::Internal))??)
}

/// Read the settings that operators act under
///
/// Which acts a second operator has to confirm: whoever starts the gateway decides that.
#[utoipa::path(
    get, path = "/api/v1/operator/settings", tag = "operators", operation_id = "getOperatorSettings",
    responses((status = 200, description = "The settings", body = OperatorSettingsView), Denied, Unserved),
)]
pub(crate) async fn settings(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    ok(&app.gateway.read(&call.caller, |engine| Ok(engine.operator_settings())).await?)
}

/// Enrol as an operator
///
/// With the code of an invitation, signed by the key in the body, without a token. Operators' keys are of the live environment: they get
/// tokens as clients do, and sign every call.
#[utoipa::path(
    post, path = "/api/v1/operator/enrollments", tag = "operators", operation_id = "enrollOperator",
    request_body(content = OperatorEnrollBody, content_type = "application/json", example = json!({"code": "opi_01KAJX3M7Q5W8ZP9D2R4T6V8YB", "name": "Ada", "jwk": {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}})),
    responses((status = 201, description = "Enrolled", body = OperatorEnrollmentView), BadFields, NotInvited, KeyTaken, Unserved),
)]
pub(crate) async fn enroll(State(app): State<App>, raw: Raw<ENROLMENT>) -> HandlerResult {
    let request = parse_operator_enrollment(&raw.body)?;
    raw.context.set_access(Access::Enrolling);
    let by = app.gate.admit_new(&request.key, &[Mode::Live, Mode::Sandbox], raw.shown())?;
    let command = EnrollOperator { code: request.code, key: request.key, name: request.name };
    let new = app.gateway.run(Tenant::STRANGER, Signed { by, command }).await?;
    app.gate.enrolled(&new.key);
    let operator = app.gateway.read(Tenant::GATEWAY, |engine| engine.operator_view(&new.operator)).await?;
    let token = token_view(app.gateway.engine(), new.token);
    secret(StatusCode::CREATED, &OperatorEnrollmentView { operator, key_id: new.key.id.to_string(), token })
}

/// List the operators
#[utoipa::path(
    get, path = "/api/v1/operator/operators", tag = "operators", operation_id = "listOperators",
    responses((status = 200, description = "All operators", body = OperatorsView), Denied, Unserved),
)]
pub(crate) async fn operators(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    ok(&app.gateway.read(&call.caller, |engine| engine.operators()).await?)
}

/// Invite somebody to be an operator
///
/// The response shows the code, only this once. It is valid for seven days and for one key.
#[utoipa::path(
    post, path = "/api/v1/operator/operators", tag = "operators", operation_id = "inviteOperator",
    request_body(content = OperatorInviteBody, content_type = "application/json", example = json!({"name": "Ada", "role": "agent", "reason": "new in the team"})),
    responses((status = 201, description = "The code", body = OperatorInvitationView), BadFields, Denied, Changing, Unserved),
)]
pub(crate) async fn invite(State(app): State<App>, keyed: Keyed<AsAdmin>) -> HandlerResult {
    let request = parse_operator_invitation(keyed.body())?;
    let by = Some(acting(&keyed)?.no);
    let invite = InviteOperator { name: request.name, role: request.role, by, reason: Some(request.reason) };
    with(answered(StatusCode::CREATED, keyed.once(&app, invite).await?)?, CACHE_CONTROL, NO_STORE)
}

/// Change an operator's role
///
/// In force on this server at once, on others within five seconds. A token keeps the scopes that it was issued with, as far as the new
/// role has them.
#[utoipa::path(
    put, path = "/api/v1/operator/operators/{id}/role", tag = "operators", operation_id = "changeOperatorRole",
    params(("id" = String, Path, description = "The `opr_` id", example = "opr_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = RoleBody, content_type = "application/json", example = json!({"role": "approver", "reason": "promoted"})),
    responses((status = 200, description = "The operator", body = OperatorView), BadFields, NoOperator, Denied, Changing, Unserved),
)]
pub(crate) async fn change_role(State(app): State<App>, named: Named, keyed: Keyed<AsAdmin>) -> HandlerResult {
    let operator = id(named.last(), "opr_", ErrorCode::OperatorNotFound)?;
    let (role, reason) = parse_role(keyed.body())?;
    let by = Some(acting(&keyed)?.no);
    let answer = keyed.once(&app, ChangeRole { operator, role, by, reason: Some(reason) }).await?;
    if let Some(changed) = &answer.output {
        app.gate.forget(changed.no.party());
    }
    answered(StatusCode::OK, answer)
}

/// Revoke an operator
///
/// With all keys and tokens, on this server at once, on others within five seconds; or an invitation that was not used.
#[utoipa::path(
    post, path = "/api/v1/operator/operators/{id}/revoke", tag = "operators", operation_id = "revokeOperator",
    params(("id" = String, Path, description = "The `opr_` id", example = "opr_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = ReasonBody, content_type = "application/json", example = json!({"reason": "left the company"})),
    responses((status = 200, description = "The operator", body = OperatorView), BadFields, NoOperator, Denied, Changing, Unserved),
)]
pub(crate) async fn revoke(State(app): State<App>, named: Named, keyed: Keyed<AsAdmin>) -> HandlerResult {
    let operator = id(named.last(), "opr_", ErrorCode::OperatorNotFound)?;
    let reason = Some(parse_reason(keyed.body())?);
    let by = Some(acting(&keyed)?.no);
    let answer = keyed.once(&app, RevokeOperator { operator, by, reason }).await?;
    if let Some(revoked) = &answer.output {
        app.gate.forget(revoked.no.party());
    }
    answered(StatusCode::OK, answer)
}

/// Read the audit trail, newest first
///
/// Every signed change, every refusal of one, and what operators did. With `client`, a page may have fewer records than asked for, or
/// none, and still a cursor: it examines only so many.
#[utoipa::path(
    get, path = "/api/v1/operator/audit", tag = "operators", operation_id = "readAudit",
    params(
        ("client" = Option<String>, Query, description = "Only what concerns this client", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = AuditPageView), BadQuery, NoClient, Denied, Unserved),
)]
pub(crate) async fn audit(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    let (limit, cursor, client) = page(&call.uri, |params| params.text("client"))?;
    let client = client.map(|client| id(&client, "cli_", ErrorCode::ClientNotFound)).transpose()?;
    let before = match cursor {
        Some(cursor) => cursor.parse().map_err(|_| Error::new(ErrorCode::InvalidCursor))?,
        None => i64::MAX,
    };
    let read = move |engine: &railgate::Engine| {
        let client = client.map(|client| engine.client_no(client)).transpose()?;
        engine.audit(client, before, limit)
    };
    ok(&app.gateway.scan(&call.caller, read).await?)
}
