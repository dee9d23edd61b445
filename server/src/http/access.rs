//! Credentials: challenges, enrolments, tokens and keys.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use railgate::api::{
    ChallengeBody, ChallengeView, EnrollBody, EnrollmentView, GrantView, IssuedSession, IssuedToken, KeyView, KeysView, NewKeyBody,
    RevokeBody, SessionView, TokenBody, TokenView,
};
use railgate::auth::{CHALLENGE_TTL_S, KeyId, SESSION_ALGORITHM, ScopeSet, token_hash};
use railgate::engine::{AddKey, Enroll, EnrollLive, EnrollStranger, IssueToken, RevokeKey, RevokeToken, Signed};
use railgate::ledger::Mode;
use railgate::time::Millis;
use railgate::validate::access::{
    EnrollRequest, TokenRequest, parse_challenge, parse_enroll, parse_new_key, parse_revocation, parse_token,
};
use railgate::{Engine, Error, ErrorCode};

use super::App;
use super::body::{CHALLENGE, ENROLMENT};
use super::document::{BadBody, BadMessage, Denied, KeyTaken, NoKey, NotAdmitted, Unproved, Unserved};
use super::extract::{Authenticated, Named, Posted, Raw};
use super::keyed::{Keyed, answered};
use super::response::{HandlerResult, NO_STORE, ok, secret, with};
use super::route::{Access, AnyToken, KeyAlone, KeysWrite, routes};
use super::token;
use crate::gateway::Tenant;

routes![challenge, enroll, token, revoke_token, keys, add_key, revoke_key, jwks];

/// Get a challenge
///
/// Every response carries a fresh one too, as `Signature-Challenge`. One challenge serves many calls: append a dot and a
/// suffix of your choice, a different one for each call.
#[utoipa::path(
    post, path = "/api/v1/auth/challenges", tag = "access", operation_id = "createChallenge",
    request_body(content = Option<ChallengeBody>, content_type = "application/json", example = json!({"environment": "sandbox"})),
    responses((status = 200, description = "The challenge", body = ChallengeView), BadBody, Unserved),
)]
pub(crate) async fn challenge(State(app): State<App>, raw: Raw<CHALLENGE>) -> HandlerResult {
    let mode = parse_challenge(&raw.body)?;
    secret(StatusCode::OK, &ChallengeView { challenge: app.gate.challenge(mode), expires_in: CHALLENGE_TTL_S })
}

/// Enrol a key
///
/// As a new sandbox client: signed by the key in the body, without a token. Returns the first access token and funded
/// accounts; no real money moves. A gateway may require an invitation by its operator, or take no new clients. With
/// `"environment": "live"`: signed by an active key of the client and, with tag `railgate-newkey`, by the new key, which stays pending
/// until an operator approves it.
#[utoipa::path(
    post, path = "/api/v1/auth/enrollments", tag = "access", operation_id = "enroll",
    request_body(content = EnrollBody, content_type = "application/json", example = json!({"client_name": "Corner shop", "jwk": {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}})),
    responses(
        (status = 201, description = "Enrolled", body = EnrollmentView),
        (status = 202, description = "The live key awaits an operator's approval", body = EnrollmentView),
        BadBody, NotAdmitted, KeyTaken, Unserved,
    ),
)]
pub(crate) async fn enroll(State(app): State<App>, raw: Raw<ENROLMENT>) -> HandlerResult {
    match parse_enroll(&raw.body)? {
        EnrollRequest::Sandbox { key, name, invitation } => {
            raw.context.set_access(Access::Enrolling);
            // Before the signature, which costs more than this.
            app.gateway.engine().admits_strangers()?;
            let by = app.gate.admit_new(&key, &[Mode::Sandbox], raw.shown())?;
            let command = EnrollStranger { enroll: Enroll { name, key: Some(key) }, invitation };
            enroll_sandbox(&app, Signed { by, command }).await
        }
        EnrollRequest::Live { key } => {
            raw.context.set_access(Access::Key);
            let admitted = app.gate.admit(Access::Key, raw.shown())?;
            let caller = admitted.credential.caller;
            let own = admitted.credential.scopes;
            if own.both(ScopeSet::CLIENT) != ScopeSet::CLIENT {
                let detail = format!("a live key gets all scopes of its client; the signing key has only: {own}");
                return Err(Error::with(ErrorCode::InsufficientScope, detail).into());
            }
            app.gate.require_new_key(&key, caller.mode, raw.shown())?;
            let key = app.gateway.run(&caller, Signed { by: admitted.by, command: EnrollLive { caller, key } }).await?;
            app.gate.enrolled(&key);
            let view = EnrollmentView {
                client_id: format!("cli_{}", caller.client_id),
                key_id: key.id.to_string(),
                environment: key.mode,
                status: key.status,
                token: None,
                webhook_secret: None,
                balances: Vec::new(),
            };
            secret(StatusCode::ACCEPTED, &view)
        }
    }
}

async fn enroll_sandbox(app: &App, command: Signed<EnrollStranger>) -> HandlerResult {
    let enrolled = app.gateway.run(Tenant::STRANGER, command).await?;
    let key = enrolled.key.ok_or_else(|| Error::internal("an enrolment without a key"))?;
    app.gate.enrolled(&key);
    let view = EnrollmentView {
        client_id: format!("cli_{}", enrolled.caller.client_id),
        key_id: key.id.to_string(),
        environment: key.mode,
        status: key.status,
        token: enrolled.token.map(|token| token_view(app.gateway.engine(), token)),
        webhook_secret: enrolled.webhook_secret,
        // Left empty on an error, for they can be read again; the secrets are shown only this once.
        balances: app.gateway.read(&enrolled.caller, |engine| engine.balances(&enrolled.caller)).await.unwrap_or_default(),
    };
    secret(StatusCode::CREATED, &view)
}

/// Get a fresh access token
///
/// Signed by an enrolled key, without a token. There is no refresh token: sign again. With an ephemeral key in `session`, the answer
/// has the gateway's: both derive a key with which the token's calls are then signed, and the enrolled key signs once in a token's life.
#[utoipa::path(
    post, path = "/api/v1/auth/tokens", tag = "access", operation_id = "createToken",
    request_body(content = Option<TokenBody>, content_type = "application/json", example = json!({"scope": "settlements:read balances:read"})),
    responses((status = 200, description = "The token", body = GrantView), BadBody, Unproved, Unserved),
)]
pub(crate) async fn token(State(app): State<App>, posted: Posted<KeyAlone>) -> HandlerResult {
    let TokenRequest { scopes, session } = parse_token(posted.body())?;
    let client_id = format!("cli_{}", posted.caller.client_id);
    let engine = app.gateway.engine();
    let session = session.map(|theirs| engine.agree(&theirs)).transpose()?;
    let token = posted.run(&app, IssueToken { key: posted.credential.key, scopes, session }).await?;
    let session = token.session.map(|session| session_view(engine, &session, token.expires_at));
    secret(StatusCode::OK, &GrantView { client_id, token: token_view(engine, token), session })
}

/// Revoke an access token
///
/// The token in the body, or the one of the call. An unknown token counts as revoked (RFC 7009).
#[utoipa::path(
    post, path = "/api/v1/auth/tokens/revoke", tag = "access", operation_id = "revokeToken",
    request_body(content = Option<RevokeBody>, content_type = "application/json", example = json!({"token": "rg_sandbox_…"})),
    responses((status = 204, description = "The token can no longer be used"), BadBody, Denied, Unserved),
)]
pub(crate) async fn revoke_token(State(app): State<App>, posted: Posted<AnyToken>) -> HandlerResult {
    let token = match parse_revocation(posted.body())? {
        Some(token) => token,
        None => token::bearer(&posted.raw.parts.headers)?.and_then(token_hash).ok_or_else(token::missing)?,
    };
    posted.run(&app, RevokeToken { caller: posted.caller, key: posted.credential.key, token }).await?;
    app.gate.forget(posted.caller.client);
    Ok(no_content())
}

/// List the client's keys, oldest first
#[utoipa::path(
    get, path = "/api/v1/auth/keys", tag = "access", operation_id = "listKeys",
    responses((status = 200, description = "All keys", body = KeysView), Denied, Unserved),
)]
pub(crate) async fn keys(State(app): State<App>, Authenticated(call): Authenticated<AnyToken>) -> HandlerResult {
    let data = app.gateway.read(&call.caller, |engine| engine.keys(&call.caller)).await?;
    ok(&KeysView { data })
}

/// Add a key
///
/// Signed twice: by the current key (tag `railgate`) and by the new one (tag `railgate-newkey`). To rotate, add the new
/// key and delete the old one.
#[utoipa::path(
    post, path = "/api/v1/auth/keys", tag = "access", operation_id = "addKey",
    request_body(content = NewKeyBody, content_type = "application/json", example = json!({"label": "till 2", "jwk": {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}})),
    responses((status = 201, description = "The key", body = KeyView), BadBody, Denied, KeyTaken, Unserved),
)]
pub(crate) async fn add_key(State(app): State<App>, keyed: Keyed<KeysWrite>) -> HandlerResult {
    let request = parse_new_key(keyed.body())?;
    app.gate.require_new_key(&request.key, keyed.caller.mode, keyed.raw.shown())?;
    let own = keyed.credential.scopes;
    let scopes = request.scopes.unwrap_or(own);
    if scopes.both(own) != scopes {
        let detail = format!("a key cannot get more scopes than the signing key has: {own}");
        return Err(Error::with(ErrorCode::InsufficientScope, detail).into());
    }
    let command = AddKey { caller: keyed.caller, key: request.key, label: request.label, scopes };
    let answer = keyed.once(&app, command).await?;
    if let Some(key) = &answer.output {
        app.gate.enrolled(key);
    }
    with(answered(StatusCode::CREATED, answer)?, CACHE_CONTROL, NO_STORE)
}

/// Revoke a key
///
/// Its tokens become invalid too, on other nodes within five seconds. A revoked key cannot be restored.
#[utoipa::path(
    delete, path = "/api/v1/auth/keys/{kid}", tag = "access", operation_id = "revokeKey",
    params(("kid" = String, Path, description = "The key's thumbprint", example = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")),
    responses((status = 204, description = "The key can no longer sign"), NoKey, BadMessage, Denied, Unserved),
)]
pub(crate) async fn revoke_key(State(app): State<App>, named: Named, posted: Posted<KeysWrite>) -> HandlerResult {
    let key = KeyId::parse(named.last()).ok_or_else(|| Error::new(ErrorCode::KeyNotFound))?;
    posted.run(&app, RevokeKey { caller: posted.caller, key }).await?;
    app.gate.forget(posted.caller.client);
    Ok(no_content())
}

/// The public keys of receipts, as a JWK set (RFC 7517)
///
/// Retired keys stay listed, so that the receipts that they signed can still be verified.
#[utoipa::path(
    get, path = "/.well-known/jwks.json", tag = "service", operation_id = "receiptKeys",
    responses((status = 200, description = "A JWK set", body = serde_json::Value, content_type = "application/jwk-set+json"), Unserved),
)]
pub(crate) async fn jwks(State(app): State<App>, _: super::extract::Noted) -> HandlerResult {
    let gateway = app.gateway.clone();
    let read = || async move { gateway.scan(Tenant::STRANGER, Engine::receipt_jwks).await.map(Into::into) };
    let keys = app.readings.receipt_keys.get(read).await.ok_or_else(|| Error::new(ErrorCode::Internal))??;
    let answer = Response::new(Body::from(keys));
    let answer = with(answer, hyper::header::CONTENT_TYPE, HeaderValue::from_static("application/jwk-set+json"))?;
    with(answer, CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"))
}

pub(super) fn no_content() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

pub(super) fn token_view(engine: &Engine, token: IssuedToken) -> TokenView {
    TokenView {
        access_token: token.text,
        token_type: "Bearer".into(),
        expires_in: expires_in(engine, token.expires_at),
        scope: token.scopes.to_string(),
    }
}

fn session_view(engine: &Engine, session: &IssuedSession, expires_at: Millis) -> SessionView {
    SessionView {
        key_id: session.id.to_string(),
        jwk: (&session.public).into(),
        alg: SESSION_ALGORITHM.into(),
        signs: session.signs,
        expires_in: expires_in(engine, expires_at),
    }
}

/// Whole seconds until `end`, rounded up: a token made for a quarter of an hour reports 900.
fn expires_in(engine: &Engine, end: Millis) -> i64 {
    (end - engine.now() + 999).div_euclid(1_000).max(0)
}
