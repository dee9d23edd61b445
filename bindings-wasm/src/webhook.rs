//! Verifies webhooks with the endpoint's secret.

use railgate::error::FieldProblem;
use railgate::webhook::{self, SignedHeaders, TOLERANCE_S, WebhookSecret};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{bytes, invalid, millis, text, text_or_none, texts, thrown_as};

/// Verifies webhooks according to Standard Webhooks 1.0.0.
#[wasm_bindgen]
pub struct WebhookVerifier(Vec<WebhookSecret>);

#[wasm_bindgen]
impl WebhookVerifier {
    /// `secrets`: one or more secrets, `whsec_…`; several during a rotation.
    ///
    /// # Errors
    /// Throws `invalid_fields` if one is not a secret.
    #[wasm_bindgen(constructor)]
    pub fn new(#[wasm_bindgen(unchecked_param_type = "readonly string[]")] secrets: &JsValue) -> Result<Self, JsError> {
        let secrets = texts(secrets, "secrets")?;
        if secrets.is_empty() {
            return Err(invalid(FieldProblem::new("", "too_few", "must contain at least one secret")));
        }
        let read = secrets.iter().enumerate().map(|(at, secret)| {
            WebhookSecret::parse(secret).map_err(|error| invalid(FieldProblem::new(format!("/{at}"), "invalid_secret", error.to_string())))
        });
        read.collect::<Result<_, _>>().map(Self)
    }

    /// Checks that a webhook was signed with one of the secrets and that its timestamp is at most five minutes from now. `id`,
    /// `timestamp` and `signature`: its headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, `undefined` if absent;
    /// `body`: its bytes, exactly as received.
    ///
    /// # Errors
    /// Throws `header_missing`, `header_malformed`, `timestamp_too_old`, `timestamp_too_new`, `no_matching_signature`.
    pub fn verify(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string | null | undefined")] id: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string | null | undefined")] timestamp: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string | null | undefined")] signature: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Uint8Array")] body: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
    ) -> Result<(), JsError> {
        let id = text_or_none(id, "id")?;
        let timestamp = text_or_none(timestamp, "timestamp")?;
        let signature = text_or_none(signature, "signature")?;
        let (body, now) = (bytes(body, "body")?, millis(now_ms, "now_ms")?);
        let headers = SignedHeaders::find(|name| match name {
            webhook::ID => id.as_deref(),
            webhook::TIMESTAMP => timestamp.as_deref(),
            _ => signature.as_deref(),
        });
        headers
            .and_then(|headers| webhook::verify(&self.0, &headers, &body, now.div_euclid(1000), TOLERANCE_S))
            .map_err(|error| thrown_as(error.code(), &error.to_string()))
    }

    /// The header `webhook-signature` of a message, as the gateway sends it: for tests of receivers. `seconds`: its timestamp.
    ///
    /// # Errors
    /// Throws for arguments of the wrong type.
    pub fn sign(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string")] id: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] seconds: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Uint8Array")] body: &JsValue,
    ) -> Result<String, JsError> {
        let (id, seconds, body) = (text(id, "id")?, millis(seconds, "seconds")?, bytes(body, "body")?);
        Ok(webhook::sign(&self.0, &id, seconds, &body))
    }
}
