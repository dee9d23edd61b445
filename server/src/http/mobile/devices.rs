//! Devices of end users.

use axum::extract::State;
use hyper::StatusCode;
use railgate::ErrorCode;
use railgate::api::{DeviceBody, DeviceEnrollBody, DeviceEnrollmentView, DeviceView, DevicesView};
use railgate::engine::{RenameDevice, RevokeDevice, Signed, device_code};
use railgate::ids::Ulid;
use railgate::ledger::Mode;
use railgate::validate::mobile::{parse_device, parse_device_enrollment};

use super::super::App;
use super::super::access::{no_content, token_view};
use super::super::body::ATTESTED;
use super::super::document::{BadFields, BadMessage, BadQuery, Changing, Denied, KeyTaken, NoDevice, NoUser, NotCoded, Unserved};
use super::super::extract::{Authenticated, Named, Params, Posted, Raw};
use super::super::keyed::{Keyed, answered};
use super::super::operator::id;
use super::super::problem::HttpError;
use super::super::response::{HandlerResult, ok, secret};
use super::super::route::{Access, OwnDevices, routes};
use crate::attest::Enrolling;
use crate::gateway::Tenant;

routes![enroll, devices, device, rename, revoke];

/// Enrol a device
///
/// With the code that the client made for its user, signed by the key in the body, without a token. The device then gets tokens as
/// clients do: their scope is `mobile`, and they see and make this user's payments only.
#[utoipa::path(
    post, path = "/api/v1/mobile/devices", tag = "mobile", operation_id = "enrollDevice",
    request_body(content = DeviceEnrollBody, content_type = "application/json", example = json!({"code": "7K3M-Q9XR-2T8W-HN5E", "platform": "android", "app_version": "3.2.0", "model": "Pixel 9", "jwk": {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}})),
    responses((status = 201, description = "Enrolled", body = DeviceEnrollmentView), BadFields, NotCoded, KeyTaken, Unserved),
)]
pub(crate) async fn enroll(State(app): State<App>, raw: Raw<ATTESTED>) -> HandlerResult {
    let request = parse_device_enrollment(&raw.body)?;
    raw.context.set_access(Access::Enrolling);
    let by = app.gate.admit_new(&request.key, &[Mode::Live, Mode::Sandbox], raw.shown())?;
    let attestation = request.evidence.as_ref().map(|evidence| {
        let code = device_code(&request.code).unwrap_or_default();
        app.attestor.record(evidence, &Enrolling { code: &code, key: &request.key, now: app.gateway.engine().now() })
    });
    let command = request.command(attestation);
    let new = app.gateway.run(Tenant::STRANGER, Signed { by, command }).await?;
    app.gate.enrolled(&new.key);
    let device = app.gateway.read(Tenant::GATEWAY, |engine| engine.new_device_view(&new.device)).await?;
    let (client_id, environment) = (format!("cli_{}", new.client_id), new.user.mode);
    let token = token_view(app.gateway.engine(), new.token);
    secret(StatusCode::CREATED, &DeviceEnrollmentView { device, client_id, environment, token })
}

/// List the devices of a user, oldest first
///
/// A device lists those of its own user; a client names one of its users.
#[utoipa::path(
    get, path = "/api/v1/mobile/devices", tag = "mobile", operation_id = "listDevices",
    params(("user" = Option<String>, Query, description = "The client's own name for the user; not on a device", example = "customer-17")),
    responses((status = 200, description = "All devices", body = DevicesView), BadQuery, NoUser, Denied, Unserved),
)]
pub(crate) async fn devices(State(app): State<App>, Authenticated(call): Authenticated<OwnDevices>) -> HandlerResult {
    let mut params = Params::of(&call.uri)?;
    let user = params.text("user");
    params.finish()?;
    ok(&app.gateway.read(&call.caller, |engine| engine.devices(&call.caller, user.as_deref())).await?)
}

/// Read a device
#[utoipa::path(
    get, path = "/api/v1/mobile/devices/{id}", tag = "mobile", operation_id = "getDevice",
    params(("id" = String, Path, description = "The `dev_` id", example = "dev_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "The device", body = DeviceView), NoDevice, Denied, Unserved),
)]
pub(crate) async fn device(State(app): State<App>, Authenticated(call): Authenticated<OwnDevices>, named: Named) -> HandlerResult {
    let device = named_device(&named)?;
    ok(&app.gateway.read(&call.caller, |engine| engine.device(&call.caller, device)).await?)
}

/// Rename a device
#[utoipa::path(
    patch, path = "/api/v1/mobile/devices/{id}", tag = "mobile", operation_id = "renameDevice",
    params(("id" = String, Path, description = "The `dev_` id", example = "dev_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = DeviceBody, content_type = "application/json", example = json!({"name": "Ada's phone"})),
    responses((status = 200, description = "The device", body = DeviceView), BadFields, NoDevice, Denied, Changing, Unserved),
)]
pub(crate) async fn rename(State(app): State<App>, named: Named, keyed: Keyed<OwnDevices>) -> HandlerResult {
    let (device, label) = (named_device(&named)?, parse_device(keyed.body())?);
    answered(StatusCode::OK, keyed.once(&app, RenameDevice { caller: keyed.caller, device, label }).await?)
}

/// Revoke a device
///
/// With its key and tokens: here at once, on other servers within five seconds. A user revokes any of their devices from any other, and
/// the client those of its users. A revoked device cannot be restored; the same phone enrols again with a new key.
#[utoipa::path(
    delete, path = "/api/v1/mobile/devices/{id}", tag = "mobile", operation_id = "revokeDevice",
    params(("id" = String, Path, description = "The `dev_` id", example = "dev_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 204, description = "The device can no longer call"), NoDevice, BadMessage, Denied, Unserved),
)]
pub(crate) async fn revoke(State(app): State<App>, named: Named, posted: Posted<OwnDevices>) -> HandlerResult {
    let device = named_device(&named)?;
    posted.run(&app, RevokeDevice { caller: posted.caller, device }).await?;
    app.gate.forget(posted.caller.client);
    Ok(no_content())
}

fn named_device(named: &Named) -> Result<Ulid, HttpError> {
    Ok(id(named.last(), "dev_", ErrorCode::DeviceNotFound)?)
}
