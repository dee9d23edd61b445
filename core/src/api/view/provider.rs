//! Providers as clients see them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::DecimalNumber;
use crate::route::health::Health;
use crate::route::{Capabilities, FeeRefund};

/// An operator that payments can go to: what it takes, what it charges, and how it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderView {
    /// Its id, which a create can name as `provider`.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// The protocol that it speaks.
    pub rail: String,
    /// Whether it is of the sandbox: no real money moves.
    pub sandbox: bool,
    /// The kinds of participant that it reaches; null for all.
    pub namespaces: Option<Vec<String>>,
    /// The currencies that it settles, ISO 4217; null for all.
    pub currencies: Option<Vec<String>>,
    /// The countries that it reaches, ISO 3166-1 alpha-2, for people; empty if it does not say.
    pub countries: Vec<String>,
    /// Smallest and largest payments, by currency. A currency that is not listed has no limits.
    pub limits: BTreeMap<String, LimitView>,
    /// What it charges. The rule that fits best applies: of both currency and namespace, then of the currency, then of the namespace.
    pub fees: Vec<FeeView>,
    /// What it supports.
    pub capabilities: Capabilities,
    /// How it is, as seen by the server that answers.
    pub status: Health,
    /// The share of the last minute's payments and reversals to which it gave an answer, 0 to 1; null if there were none.
    pub success_rate: Option<f64>,
    /// The time within which 95 % of its answers came in the last minute, in milliseconds, at most a quarter too high; null if there
    /// were none.
    pub p95_ms: Option<u64>,
    /// When these figures last changed, RFC 3339; null if nothing was sent to it yet.
    pub updated_at: Option<String>,
}

/// The smallest and the largest payment in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LimitView {
    /// The smallest payment.
    pub min: DecimalNumber,
    /// The largest payment; null if there is no limit.
    pub max: Option<DecimalNumber>,
}

/// A fee: a flat part and a percentage of the amount, each rounded up, within bounds. Amounts are in units of the payment's currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeeView {
    /// Only for this currency; null for all.
    pub currency: Option<String>,
    /// Only for this kind of participant; null for all.
    pub namespace: Option<String>,
    /// An amount for each payment.
    pub flat: DecimalNumber,
    /// Hundredths of the payment's amount.
    pub percent: DecimalNumber,
    /// The smallest fee.
    pub min: DecimalNumber,
    /// The largest fee; null if there is no limit.
    pub max: Option<DecimalNumber>,
    /// In rising order of `from`; the last whose `from` the payment reaches replaces `flat` and `percent`.
    pub tiers: Vec<FeeTierView>,
    /// What completed reversals give back of it. An older gateway does not say it, and gives back nothing.
    #[serde(default = "FeeRefund::unsaid")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub refund: FeeRefund,
}

/// A flat part and a percentage from some amount on, for the whole payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeeTierView {
    /// The smallest payment of the tier.
    pub from: DecimalNumber,
    /// An amount for each payment.
    pub flat: DecimalNumber,
    /// Hundredths of the payment's amount.
    pub percent: DecimalNumber,
}

/// The providers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProvidersView {
    /// The providers, in order of preference where the table of routes says nothing else.
    pub data: Vec<ProviderView>,
}
