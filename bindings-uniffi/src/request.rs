//! Requests, and their JSON.

use std::collections::HashMap;

use railgate::api::{AmountInput, BatchView, CreateBody, ReverseBody};
use railgate::validate::{AnyCurrency, parse_create};
use serde::Deserialize;

use crate::error::{FieldProblem, GatewayError, Problem};
use crate::link::Told;
use crate::mirror::Give;
use crate::names::ReversalReason;
use crate::values::{Decimal, Instant};
use crate::views::Settlement;

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
    /// The client's end user who pays, by the client's own name for them. A user's device leaves it out.
    #[uniffi(default = None)]
    pub user: Option<String>,
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
pub(crate) fn written(body: &impl serde::Serialize) -> String {
    // Only texts and numbers: this cannot fail.
    serde_json::to_string(body).unwrap_or_default()
}

/// For a request that is sent: whether it has expired is for the gateway to say. What was done before stays done, and a repeat finds out.
pub(crate) const AT_ANY_TIME: Instant = Instant(i64::MIN);

impl SettlementRequest {
    /// The body of the create call.
    pub(crate) fn body(&self) -> String {
        let Self { amount, currency, to, reference, description, metadata, provider, quote_id, expires_at, user } = self.clone();
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
            user,
        })
    }

    /// The body, if it passes the gateway's own validator at this time.
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

/// The outcome of one request of a batch: a settlement or a problem.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct BatchResult {
    /// The HTTP status of the same request sent alone: 201, 200 if it had been created before, or that of the problem.
    pub status: u16,
    /// The settlement.
    pub settlement: Option<Settlement>,
    /// Why there is no settlement. Its pointers are relative to the request.
    pub problem: Option<Problem>,
}

/// The body of the batch call.
pub(crate) fn batch_body(requests: &[SettlementRequest]) -> String {
    let elements: Vec<String> = requests.iter().map(SettlementRequest::body).collect();
    format!(r#"{{"settlements":[{}]}}"#, elements.join(","))
}

/// A gateway's response to the batch call.
#[derive(Deserialize)]
pub(crate) struct BatchAnswer {
    pub(crate) results: Vec<Element>,
}

#[derive(Deserialize)]
pub(crate) struct Element {
    status: u16,
    settlement: Option<Settlement>,
    problem: Option<Told>,
}

impl BatchAnswer {
    pub(crate) fn results(self) -> Vec<BatchResult> {
        let result = |Element { status, settlement, problem }| {
            let problem = problem.map(|told: Told| told.problem(Some(status)));
            BatchResult { status, settlement, problem }
        };
        self.results.into_iter().map(result).collect()
    }
}

impl Give<Vec<BatchResult>> for BatchView {
    fn give(self) -> Result<Vec<BatchResult>, GatewayError> {
        self.results.give()
    }
}

impl Give<BatchResult> for railgate::api::BatchResult {
    fn give(self) -> Result<BatchResult, GatewayError> {
        let Self { status, settlement, problem } = self;
        Ok(BatchResult { status, settlement: settlement.give()?, problem: problem.give()? })
    }
}

impl Give<Problem> for railgate::api::Problem {
    fn give(self) -> Result<Problem, GatewayError> {
        let problems = self.errors.into_iter().map(FieldProblem::from).collect();
        let local = Problem::local(&self.code, self.detail);
        Ok(Problem { retryable: self.retryable, problems, status: Some(self.status), request_id: self.request_id, ..local })
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
