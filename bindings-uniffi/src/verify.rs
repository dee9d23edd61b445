//! Receipts and webhooks, checked on the device by the same code as the gateway's.

use std::collections::HashMap;
use std::sync::Arc;

use railgate::webhook::{SignedHeaders, TOLERANCE_S, VerifyError, WebhookSecret, verify};
use serde::Deserialize;

use crate::error::{GatewayError, Problem};
use crate::mirror::Give;
use crate::values::{Instant, Json};
use crate::views::ReceiptClaims;

/// What a receipt says, if it is genuine; offline. `jws`: the compact JWS; `jwks`: the key set as the gateway publishes it
/// at `/.well-known/jwks.json`. Whether a later receipt took its place only the gateway can tell.
///
/// # Errors
/// `NotGenuine` with code `receipt_invalid` and, as detail, what is wrong with it.
#[uniffi::export]
pub fn verify_receipt(jws: String, jwks: String) -> Result<ReceiptClaims, GatewayError> {
    railgate::receipt::verify_receipt(&jws, &jwks)?.give()
}

/// A webhook that is genuine.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct WebhookMessage {
    /// `webhook-id`: the same each time that it is sent again. Remember it for as long as the tolerance, and take it once.
    pub id: String,
    /// What it tells, such as `settlement.completed`.
    pub kind: String,
    /// When that happened.
    pub at: Instant,
    /// When this attempt was sent.
    pub sent_at: Instant,
    /// The record as it then stood, with `sequence` and `version`, as JSON.
    pub data: Json,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "type")]
    kind: String,
    timestamp: Instant,
    data: Json,
}

/// Checks webhooks (Standard Webhooks 1.0.0) with one secret, or with the old and the new one while they are changed.
#[derive(uniffi::Object)]
pub struct WebhookVerifier {
    secrets: Vec<WebhookSecret>,
}

#[uniffi::export]
impl WebhookVerifier {
    /// A verifier with these secrets: `whsec_` and base64.
    ///
    /// # Errors
    /// `Invalid` with code `webhook_secret_malformed`.
    #[uniffi::constructor]
    pub fn new(secrets: Vec<String>) -> Result<Arc<Self>, GatewayError> {
        let parse = |text: &String| WebhookSecret::parse(text);
        let secrets: Result<Vec<_>, _> = secrets.iter().map(parse).collect();
        match secrets {
            Ok(secrets) if !secrets.is_empty() => Ok(Arc::new(Self { secrets })),
            Ok(_) => Err(GatewayError::invalid(Problem::local("webhook_secret_malformed", "there is no secret"))),
            Err(error) => Err(GatewayError::invalid(Problem::local("webhook_secret_malformed", error.to_string()))),
        }
    }

    /// The message, if it was signed with one of the secrets at most five minutes before or after `now`. `headers` by
    /// their names in any case; `body` as it came, byte for byte, before anything parsed it.
    ///
    /// # Errors
    /// `NotGenuine`, with a code such as `webhook_too_old` or `webhook_signature_invalid`.
    pub fn verify(&self, headers: HashMap<String, String>, body: Vec<u8>, now: Instant) -> Result<WebhookMessage, GatewayError> {
        let find = |name: &str| headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
        let signed = SignedHeaders::find(find).map_err(not_genuine)?;
        verify(&self.secrets, &signed, &body, now.0.div_euclid(1_000), TOLERANCE_S).map_err(not_genuine)?;
        let sent_at = Instant(signed.timestamp_s().map_err(not_genuine)?.saturating_mul(1_000));
        let payload: Payload = serde_json::from_slice(&body)
            .map_err(|_| GatewayError::not_genuine("webhook_malformed", "the body is signed, but not a webhook of a gateway"))?;
        let Payload { kind, timestamp, data } = payload;
        Ok(WebhookMessage { id: signed.id.to_owned(), kind, at: timestamp, sent_at, data })
    }
}

fn not_genuine(error: VerifyError) -> GatewayError {
    let code = match error {
        VerifyError::Missing(_) | VerifyError::Malformed(_) => "webhook_malformed",
        VerifyError::TooOld { .. } => "webhook_too_old",
        VerifyError::TooNew { .. } => "webhook_too_new",
        VerifyError::NoMatchingSignature => "webhook_signature_invalid",
    };
    GatewayError::not_genuine(code, error.to_string())
}
