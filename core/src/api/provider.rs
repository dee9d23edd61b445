//! Providers and routes as an operator writes them. [`crate::validate::provider`] checks them.

use std::collections::BTreeMap;
use std::fmt;

use super::AmountInput;
#[cfg(feature = "openapi")]
use super::request::PositiveAmountInput;
use super::request::body;

body! {
    /// A provider: one operator that can be reached over a rail.
    ProviderBody {
        /// Stable id.
        [example = "operator-kenya", pattern = "^[a-z0-9._-]{1,64}$"]
        id: String,
        /// A name for people.
        [example = "Operator in Kenya", min_length = 1, max_length = 100]
        name: String,
        /// The protocol that it speaks.
        [example = "simulator", min_length = 1]
        rail: String,
        /// `sandbox` or `live`, never both.
        [example = "sandbox", pattern = "^(sandbox|live)$"]
        mode: String,
    } optional {
        /// The address of its interface.
        [example = "https://operator.example/payments", max_length = 2048]
        base_url: String,
        /// Settings of its rail.
        settings: BTreeMap<String, String>,
        /// Secrets of its rail, by name. They are never shown again; left out, those that it has stay.
        secrets: SecretTexts,
        /// The kinds of participant that it reaches; default: all.
        [example = json!(["msisdn"]), min_items = 1]
        namespaces: Vec<String>,
        /// The currencies that it settles, ISO 4217; default: all.
        [example = json!(["KES"]), min_items = 1]
        currencies: Vec<String>,
        /// The countries that it reaches, ISO 3166-1 alpha-2, for people.
        [example = json!(["KE"]), min_items = 1]
        countries: Vec<String>,
        /// Smallest and largest payments, by currency.
        limits: BTreeMap<String, LimitBody>,
        /// What it charges. The rule that fits best applies: of both currency and namespace, then of the currency, then of the namespace.
        [min_items = 1]
        fees: Vec<FeeBody>,
        /// How long calls to it may take.
        timeouts: TimeoutsBody,
        /// Whether it takes new payments; default: true.
        enabled: bool,
        /// Whether it takes none for a while; default: false.
        maintenance: bool,
    }
}

/// Secrets by name. Debugging shows the names only.
#[derive(Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct SecretTexts(pub BTreeMap<String, String>);

impl fmt::Debug for SecretTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

body! {
    /// Bounds of a payment, in units of its currency.
    LimitBody {} optional {
        /// The smallest payment; default: the smallest unit of the currency.
        [value_type = Option<PositiveAmountInput>]
        min: AmountInput,
        /// The largest payment; default: no limit.
        [value_type = Option<PositiveAmountInput>]
        max: AmountInput,
    }
}

body! {
    /// A fee: a flat part and a percentage, within bounds. Amounts are in units of the payment's currency.
    FeeBody {} optional {
        /// Only for this currency.
        currency: String,
        /// Only for this kind of participant.
        namespace: String,
        /// An amount for each payment.
        flat: AmountInput,
        /// Hundredths of the payment's amount.
        percent: AmountInput,
        /// The smallest fee.
        min: AmountInput,
        /// The largest fee.
        max: AmountInput,
        /// In rising order of `from`; the last whose `from` the payment reaches replaces `flat` and `percent`.
        [min_items = 1]
        tiers: Vec<FeeTierBody>,
        /// What completed reversals give back of it: `none` (default), `proportional` to the reversed part, or `full` once the whole
        /// payment is reversed.
        [pattern = "^(none|proportional|full)$"]
        refund: String,
    }
}

body! {
    /// A flat part and a percentage from some amount on, for the whole payment.
    FeeTierBody {
        /// The smallest payment of the tier.
        from: AmountInput,
    } optional {
        /// An amount for each payment.
        flat: AmountInput,
        /// Hundredths of the payment's amount.
        percent: AmountInput,
    }
}

body! {
    /// Time-outs of calls to a provider, in milliseconds.
    TimeoutsBody {} optional {
        /// How long a connection may take to be made.
        [maximum = 120_000]
        connect_ms: u64,
        /// How long an answer may take, connection included.
        [maximum = 120_000]
        answer_ms: u64,
    }
}

body! {
    /// The whole table of routes.
    RoutesBody {
        /// The entries. For a kind of participant without any, every enabled provider that serves it is tried, in order of id.
        routes: Vec<RouteBody>,
    } optional {}
}

body! {
    /// An entry: for payments like these, these providers. The longest prefix wins, then the narrowest entry.
    RouteBody {
        /// `sandbox` or `live`.
        [example = "live", pattern = "^(sandbox|live)$"]
        mode: String,
        /// The kind of participant.
        [example = "msisdn", min_length = 1]
        namespace: String,
        /// The providers to try.
        [min_items = 1]
        providers: Vec<ChoiceBody>,
    } optional {
        /// What the participant's identifier starts with.
        [example = "+2547", min_length = 1]
        prefix: String,
        /// Only this currency.
        currency: String,
        /// The smallest payment; needs a currency.
        [value_type = Option<PositiveAmountInput>]
        min: AmountInput,
        /// The largest payment; needs a currency.
        [value_type = Option<PositiveAmountInput>]
        max: AmountInput,
    }
}

body! {
    /// A provider in a route.
    ChoiceBody {
        /// Its id.
        [example = "operator-kenya", pattern = "^[a-z0-9._-]{1,64}$"]
        id: String,
        /// The lowest is tried first.
        [maximum = 1_000_000]
        priority: u32,
    } optional {
        /// Its share among those of the same priority; default: 1.
        [maximum = 1_000_000]
        weight: u32,
    }
}
