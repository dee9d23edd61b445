//! Credentials as callers see them: challenges, enrolments, tokens and keys.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::BalanceView;
use crate::api::Jwk;
use crate::auth::Algorithm;
use crate::ledger::Mode;
use crate::store::record::{KeyRecord, KeyStatus};
use crate::terms::SessionUse;
use crate::time::rfc3339;

/// A challenge for signing a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChallengeView {
    /// The start of a signature's `nonce`: use it as it is, or append a dot and up to 32 characters of your own.
    #[cfg_attr(feature = "openapi", schema(example = "c1.AWdG…"))]
    pub challenge: String,
    /// Lifetime in seconds.
    #[cfg_attr(feature = "openapi", schema(example = 300))]
    pub expires_in: i64,
}

/// A new client and its first credential, or a live key that awaits approval.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EnrollmentView {
    /// `cli_` and a ULID.
    pub client_id: String,
    /// The key's RFC 7638 thumbprint: the `keyid` of its signatures.
    pub key_id: String,
    /// `sandbox` or `live`.
    pub environment: Mode,
    /// `active`, or `pending` until an operator approves the live key.
    pub status: KeyStatus,
    /// The first access token; absent for a live key.
    #[serde(flatten)]
    pub token: Option<TokenView>,
    /// The secret that verifies webhooks (Standard Webhooks). It is not shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "whsec_…"))]
    pub webhook_secret: Option<String>,
    /// The opening balances, in play money.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub balances: Vec<BalanceView>,
}

/// A new access token.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenView {
    /// Send it as `Authorization: Bearer …`, and sign each call with the key that requested it. It is not shown again.
    #[cfg_attr(feature = "openapi", schema(example = "rg_sandbox_…"))]
    pub access_token: String,
    /// Always `Bearer`.
    pub token_type: Cow<'static, str>,
    /// Lifetime in seconds.
    pub expires_in: i64,
    /// The token's scopes, separated by spaces.
    #[cfg_attr(feature = "openapi", schema(example = "settlements:read settlements:write"))]
    pub scope: String,
}

/// The gateway's half of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionView {
    /// The `keyid` of the session's signatures.
    #[cfg_attr(feature = "openapi", schema(example = "ses_AAECAwQFBgcICQoLDA0ODw"))]
    pub key_id: String,
    /// The gateway's ephemeral public key, on the curve of the client's.
    pub jwk: Jwk,
    /// Always `hmac-sha256`.
    pub alg: Cow<'static, str>,
    /// Which calls the session may sign: `all`, or `reads`.
    pub signs: SessionUse,
    /// Lifetime in seconds: that of the token.
    pub expires_in: i64,
}

/// A new access token and its client.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GrantView {
    /// `cli_` and a ULID, also for a client that never received the response to its enrolment.
    pub client_id: String,
    /// The access token.
    #[serde(flatten)]
    pub token: TokenView,
    /// The gateway's half of the session, if the call asked for one and the client may have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionView>,
}

/// A key as its owner sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyView {
    /// The key's RFC 7638 thumbprint (SHA-256): the `keyid` of its signatures.
    pub key_id: String,
    /// `ecdsa-p256-sha256` or `ed25519`.
    pub algorithm: Algorithm,
    /// `sandbox` or `live`.
    pub environment: Mode,
    /// `active`, `pending` until an operator approves, or `revoked`.
    pub status: KeyStatus,
    /// The owner's label for the key.
    pub label: Option<String>,
    /// The key's scopes, separated by spaces.
    pub scope: String,
    /// When it was created, RFC 3339.
    pub created_at: String,
    /// When it was revoked, RFC 3339.
    pub revoked_at: Option<String>,
}

impl From<&KeyRecord> for KeyView {
    fn from(key: &KeyRecord) -> Self {
        Self {
            key_id: key.id.to_string(),
            algorithm: key.public.algorithm(),
            environment: key.mode,
            status: key.status,
            label: key.label.clone(),
            scope: key.scopes.to_string(),
            created_at: rfc3339(key.created_at),
            revoked_at: key.revoked_at.map(rfc3339),
        }
    }
}

/// A client's keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeysView {
    /// The keys, oldest first.
    pub data: Vec<KeyView>,
}
