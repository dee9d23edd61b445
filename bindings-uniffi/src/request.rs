//! What a caller asks for, and the JSON that it becomes.

use std::collections::{BTreeMap, HashMap};

use railgate::validate::{AnyCurrency, parse_create};
use serde_json::{Map, Value};

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

/// Members of a JSON object in a fixed order, so that the same request has the same bytes.
struct Members(Map<String, Value>);

impl Members {
    fn new() -> Self {
        Self(Map::new())
    }

    fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
        self
    }

    fn text(self) -> String {
        Value::Object(self.0).to_string()
    }
}

impl SettlementRequest {
    /// The body of the create call.
    pub(crate) fn body(&self) -> String {
        // In an order of their own: the same request has the same bytes.
        let sorted: BTreeMap<_, _> = self.metadata.iter().collect();
        let metadata: Map<String, Value> = sorted.into_iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        Members::new()
            .with("amount", Some(self.amount.shortest()))
            .with("currency", Some(self.currency.as_str()))
            .with("to", Some(self.to.as_str()))
            .with("reference", Some(self.reference.as_str()))
            .with("description", self.description.as_deref())
            .with("metadata", (!metadata.is_empty()).then_some(metadata))
            .with("provider", self.provider.as_deref())
            .with("quote_id", self.quote_id.as_deref())
            .with("expires_at", self.expires_at.map(Instant::rfc3339))
            .text()
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
        Members::new()
            .with("amount", self.amount.map(Decimal::shortest))
            // One that nobody knows is for the gateway to refuse.
            .with("reason", self.reason.map(|reason| reason.name().unwrap_or("unrecognised")))
            .with("reference", Some(self.reference.as_str()))
            .with("description", self.description.as_deref())
            .text()
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
