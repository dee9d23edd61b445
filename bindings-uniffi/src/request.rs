//! What a caller asks for, and the JSON that it becomes.

use std::collections::HashMap;

use railgate::api::{AmountInput, CreateBody, ReverseBody};
use railgate::validate::{AnyCurrency, parse_create};

use crate::error::GatewayError;
use crate::names::ReversalReason;
use crate::values::{Decimal, Instant};

/// A settlement to be created.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct SettlementRequest {
    /// More than zero, no more decimals than the currency has.
    pub amount: Decimal,
    /// ISO 4217 code.
    pub currency: String,
    /// The receiving participant, `namespace:identifier`.
    pub to: String,
    /// The client's own name of it, unique for ever. It makes the call safe to repeat: choose it once, and keep it.
    pub reference: String,
    /// For people.
    #[uniffi(default = None)]
    pub description: Option<String>,
    /// The client's own pairs, at most 50.
    #[uniffi(default)]
    pub metadata: HashMap<String, String>,
    /// Pins a provider.
    #[uniffi(default = None)]
    pub provider: Option<String>,
    /// Of a check; fixes the fee.
    #[uniffi(default = None)]
    pub quote_id: Option<String>,
    /// Cancelled if it was not dispatched by then.
    #[uniffi(default = None)]
    pub expires_at: Option<Instant>,
}

/// What is to be given back.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct ReversalRequest {
    /// The client's own name of the reversal, unique among its reversals. It makes the call safe to repeat.
    pub reference: String,
    /// What is left to reverse, unless told.
    #[uniffi(default = None)]
    pub amount: Option<Decimal>,
    /// Why.
    #[uniffi(default = None)]
    pub reason: Option<ReversalReason>,
    /// For people.
    #[uniffi(default = None)]
    pub description: Option<String>,
}

/// A body as it is sent: its members in the order of their declaration, so that the same request has the same bytes.
fn written(body: &impl serde::Serialize) -> String {
    // Texts and numbers only: this cannot fail.
    serde_json::to_string(body).unwrap_or_default()
}

impl SettlementRequest {
    /// The body of the create call.
    pub(crate) fn body(&self) -> String {
        let Self { amount, currency, to, reference, description, metadata, provider, quote_id, expires_at } = self.clone();
        written(&CreateBody {
            amount: AmountInput::text(&amount.shortest()),
            currency,
            to,
            reference,
            // That of the credential.
            sandbox: None,
            description,
            metadata: (!metadata.is_empty()).then(|| metadata.into_iter().collect()),
            provider,
            quote_id,
            expires_at: expires_at.map(Instant::rfc3339),
        })
    }

    /// The body, if the gateway's own validator takes it.
    pub(crate) fn checked_body(&self, now: Instant) -> Result<String, GatewayError> {
        let body = self.body();
        parse_create(body.as_bytes(), &AnyCurrency, now.0)?;
        Ok(body)
    }
}

impl ReversalRequest {
    /// The body of the reverse call.
    pub(crate) fn body(&self) -> String {
        let Self { reference, amount, reason, description } = self.clone();
        written(&ReverseBody {
            amount: amount.map(|amount| AmountInput::text(&amount.shortest())),
            // One that nobody knows is for the gateway to refuse.
            reason: reason.map(|reason| reason.name().unwrap_or("unrecognised").into()),
            reference: Some(reference),
            description,
        })
    }
}

/// Checks a request on the device with the gateway's own validator: for forms, while somebody types. `expires_at` must be
/// later than `now`.
///
/// # Errors
/// `Invalid` with every problem at once.
#[uniffi::export]
pub fn validate_settlement(request: SettlementRequest, now: Instant) -> Result<(), GatewayError> {
    request.checked_body(now).map(drop)
}
