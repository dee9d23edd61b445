//! Credentials as they are seen: challenges, enrolments, tokens and keys.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::BalanceView;
use crate::auth::Algorithm;
use crate::ledger::Mode;
use crate::store::record::{KeyRecord, KeyStatus};
use crate::time::rfc3339;

/// A challenge.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChallengeView {
    /// Begins the `nonce` of a signature: as it is, or with a dot and up to 32 characters of your own behind it.
    #[cfg_attr(feature = "openapi", schema(example = "c1.AWdG…"))]
    pub challenge: String,
    /// Seconds.
    #[cfg_attr(feature = "openapi", schema(example = 300))]
    pub expires_in: i64,
}

/// A new client and its first credential, or a live key that waits for its approval.
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
    /// The first access token.
    #[serde(flatten)]
    pub token: Option<TokenView>,
    /// Verifies webhooks (Standard Webhooks). It is shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "whsec_…"))]
    pub webhook_secret: Option<String>,
    /// What the new accounts hold: play money.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub balances: Vec<BalanceView>,
}

/// A fresh access token.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenView {
    /// Send it as `Authorization: Bearer …`, each call signed by the key that took it. It is shown this once.
    #[cfg_attr(feature = "openapi", schema(example = "rg_sandbox_…"))]
    pub access_token: String,
    /// `Bearer`.
    pub token_type: Cow<'static, str>,
    /// Seconds.
    pub expires_in: i64,
    /// What it may do, names with spaces between them.
    #[cfg_attr(feature = "openapi", schema(example = "settlements:read settlements:write"))]
    pub scope: String,
}

/// A fresh access token, and whose it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GrantView {
    /// `cli_` and a ULID: who took it, also for whoever never heard the answer to its enrolment.
    pub client_id: String,
    /// The token.
    #[serde(flatten)]
    pub token: TokenView,
}

/// A key as its owner sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyView {
    /// RFC 7638 thumbprint (SHA-256): what `keyid` names.
    pub key_id: String,
    /// `ecdsa-p256-sha256` or `ed25519`.
    pub algorithm: Algorithm,
    /// `sandbox` or `live`.
    pub environment: Mode,
    /// `active`, `pending` until an operator approves, or `revoked`.
    pub status: KeyStatus,
    /// What its owner calls it.
    pub label: Option<String>,
    /// What it may do, names with spaces between them.
    pub scope: String,
    /// When it was made, RFC 3339.
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
    /// Oldest first.
    pub data: Vec<KeyView>,
}
