//! Requests, and their JSON.

use std::collections::HashMap;

use railgate::api::{AmountInput, CreateBody, ReverseBody};
use railgate::validate::{AnyCurrency, parse_create};

use crate::error::GatewayError;
use crate::names::ReversalReason;
use crate::values::{Decimal, Instant};

/// The request to create a settlement.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct SettlementRequest {
    /// Greater than zero, with no more decimals than the currency has.
    pub amount: Decimal,
    /// ISO 4217 code.
    pub currency: String,
    /// The receiving participant, `namespace:identifier`.
    pub to: String,
    /// The client's reference, unique for ever. It makes the call safe to repeat: choose it once, and keep it.
    pub reference: String,
    /// A description for people.
    #[uniffi(default = None)]
    pub description: Option<String>,
    /// The client's own names and values, at most 50.
    #[uniffi(default)]
    pub metadata: HashMap<String, String>,
    /// The id of a provider, to force the route.
    #[uniffi(default = None)]
    pub provider: Option<String>,
    /// The id of a quote from a check; fixes the fee.
    #[uniffi(default = None)]
    pub quote_id: Option<String>,
    /// The settlement is cancelled if it was not dispatched by then.
    #[uniffi(default = None)]
    pub expires_at: Option<Instant>,
}

/// The request to reverse a settlement.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct ReversalRequest {
    /// The client's reference of the reversal, unique among its reversals. It makes the call safe to repeat.
    pub reference: String,
    /// The amount to reverse; the remaining amount by default.
    #[uniffi(default = None)]
    pub amount: Option<Decimal>,
    /// The reason.
    #[uniffi(default = None)]
    pub reason: Option<ReversalReason>,
    /// A description for people.
    #[uniffi(default = None)]
    pub description: Option<String>,
}

/// Serialises a body with its members in the order of their declaration, so that the same request has the same bytes.
fn written(body: &impl serde::Serialize) -> String {
    // Only texts and numbers: this cannot fail.
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
            // The mode of the credential.
            sandbox: None,
            description,
            metadata: (!metadata.is_empty()).then(|| metadata.into_iter().collect()),
            provider,
            quote_id,
            expires_at: expires_at.map(Instant::rfc3339),
        })
    }

    /// The body, if it passes the gateway's own validator.
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
            // The gateway refuses an unknown one.
            reason: reason.map(|reason| reason.name().unwrap_or("unrecognised").into()),
            reference: Some(reference),
            description,
        })
    }
}

/// Checks a request on the device with the gateway's own validator, for example while a form is filled in. `expires_at` must be
/// later than `now`.
///
/// # Errors
/// `Invalid` with every problem at once.
#[uniffi::export]
pub fn validate_settlement(request: SettlementRequest, now: Instant) -> Result<(), GatewayError> {
    request.checked_body(now).map(drop)
}
