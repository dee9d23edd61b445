//! Verifies receipts and webhooks on the device with the gateway's code.

use std::collections::HashMap;
use std::sync::Arc;

use railgate::webhook::{SignedHeaders, TOLERANCE_S, VerifyError, WebhookSecret, verify};
use serde::Deserialize;

use crate::error::{GatewayError, Problem};
use crate::link::parse;
use crate::mirror::Give;
use crate::values::{Instant, Json};
use crate::views::ReceiptClaims;

/// Returns the claims of a receipt if it is genuine, offline. `jws`: the compact JWS; `jwks`: the key set published
/// at `/.well-known/jwks.json`. Only the gateway can tell whether a later receipt has superseded it.
///
/// # Errors
/// `NotGenuine` with code `receipt_invalid` and the reason as detail.
#[uniffi::export]
pub fn verify_receipt(jws: String, jwks: String) -> Result<ReceiptClaims, GatewayError> {
    railgate::receipt::verify_receipt(&jws, &jwks)?.give()
}

/// A genuine webhook.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct WebhookMessage {
    /// `webhook-id`, the same in each attempt. Record it with its effects, and accept it once.
    pub id: String,
    /// The type of the event, such as `settlement.completed`.
    pub kind: String,
    /// When the event happened.
    pub at: Instant,
    /// When this attempt was sent.
    pub sent_at: Instant,
    /// The record as of the event, with `sequence` and `version`, as JSON.
    pub data: Json,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "type")]
    kind: String,
    timestamp: Instant,
    data: Json,
}

/// Verifies webhooks (Standard Webhooks 1.0.0) with one secret or, during a rotation, several.
#[derive(uniffi::Object)]
pub struct WebhookVerifier {
    secrets: Vec<WebhookSecret>,
}

#[uniffi::export]
impl WebhookVerifier {
    /// A verifier for these secrets: `whsec_` and base64.
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

    /// Returns the message if it was signed with one of the secrets and its timestamp is at most five minutes from `now`.
    /// `headers`: with names in any case; `body`: byte for byte as received, before anything parsed it.
    ///
    /// # Errors
    /// `NotGenuine`, with a code such as `webhook_too_old` or `webhook_signature_invalid`.
    pub fn verify(&self, headers: HashMap<String, String>, body: Vec<u8>, now: Instant) -> Result<WebhookMessage, GatewayError> {
        let find = |name: &str| headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
        let signed = SignedHeaders::find(find).map_err(not_genuine)?;
        verify(&self.secrets, &signed, &body, now.0.div_euclid(1_000), TOLERANCE_S).map_err(not_genuine)?;
        let sent_at = Instant(signed.timestamp_s().map_err(not_genuine)?.saturating_mul(1_000));
        let payload: Payload = parse(&body)
            .map_err(|_| GatewayError::not_genuine("webhook_malformed", "the body is signed, but is not a webhook of a gateway"))?;
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
