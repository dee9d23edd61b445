//! The configuration of an engine.

use std::sync::Arc;

use crate::money::{Currency, Money};
use crate::rail::{Rails, sandbox_providers};
use crate::route::ProviderSpec;
use crate::seal::MasterKeys;
use crate::time::Millis;
use crate::webhook::Guard;

/// Who may enrol as a new client over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enrollment {
    /// Everybody.
    Open,
    /// Whoever has an invitation by an operator.
    Invited,
    /// Nobody.
    Off,
}

/// Which acts of an operator a second one has to confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FourEyes {
    /// Live money in or out of a client's account, and its floor.
    pub money: bool,
    /// Live access of a client.
    pub access: bool,
    /// The outcome of a payment or reversal, from [`FourEyes::outcome_from`] on.
    pub outcome: bool,
    /// A new or changed live provider, and enabling one. Switching one off needs nobody else.
    pub provider: bool,
    /// The table of routes.
    pub routes: bool,
    /// Limits and fees of a client.
    pub terms: bool,
    /// The smallest amount whose outcome needs a second operator, in units of its currency.
    pub outcome_from: i64,
}

impl FourEyes {
    /// Nobody has to confirm anything.
    pub const OFF: Self =
        Self { money: false, access: false, outcome: false, provider: false, routes: false, terms: false, outcome_from: 0 };
}

impl Default for FourEyes {
    fn default() -> Self {
        Self { money: true, access: true, outcome: true, provider: true, outcome_from: 1_000, ..Self::OFF }
    }
}

/// The configuration of an engine. The defaults are for the sandbox: two simulated providers.
#[derive(Debug, Clone)]
pub struct Config {
    /// The providers, in order of preference.
    pub providers: Vec<ProviderSpec>,
    /// The rails that providers may name.
    pub rails: Rails,
    /// The opening balances of a new sandbox client.
    pub sandbox_funding: Vec<Money>,
    /// How much an account of the sandbox is credited with in all, in units of its currency; `None` for as much as fits. All play money
    /// comes from one account of the gateway, whose total must not overflow, however many clients there are.
    pub play_money_max: Option<i64>,
    /// Who may enrol as a new client over the network.
    pub enrollment: Enrollment,
    /// How many clients there may be before no more enrol over the network.
    pub enrollment_cap: u32,
    /// Which acts of an operator a second one has to confirm.
    pub four_eyes: FourEyes,
    /// How long the audit trail keeps what was refused. What was done is kept for ever.
    pub audit_refusals_ms: Millis,
    /// How long what devices measured is kept.
    pub quality_retention_ms: Millis,
    /// Lifetime of an access token.
    pub token_ttl_ms: Millis,
    /// How long a quote is valid.
    pub quote_ttl_ms: Millis,
    /// How long a host may work on a leased task before the task counts as lost.
    pub lease_ms: Millis,
    /// The keys under which secrets are sealed. Without any, operations that need secrets are refused or left out.
    pub master: Option<Arc<MasterKeys>>,
    /// The `iss` of receipts: the gateway's public address, if it has one.
    pub issuer: String,
    /// Which webhook URLs are allowed.
    pub webhook_guard: Guard,
    /// Identifies this engine among those that share a store; drawn at random by default.
    pub owner: Option<i64>,
}

impl Config {
    /// Two simulated providers and funded accounts; no real money can move.
    pub fn sandbox() -> Self {
        Self::default()
    }
}

impl Default for Config {
    fn default() -> Self {
        // One million of each, in major units: a round number that people recognise in their first balance.
        let funded = ["EUR", "USD", "GBP", "JPY", "KWD", "KES", "UGX", "TZS", "GHS", "NGN", "XOF", "INR"];
        let million = |c: Currency| Money::from_minor(1_000_000 * 10_i64.pow(u32::from(c.minor_units())), c);
        Self {
            providers: sandbox_providers(),
            rails: Rails::sandbox(),
            sandbox_funding: funded.iter().filter_map(|code| Currency::from_code(code)).map(million).collect(),
            play_money_max: Some(10_000_000_000),
            enrollment: Enrollment::Open,
            enrollment_cap: 10_000,
            four_eyes: FourEyes::default(),
            audit_refusals_ms: 30 * 86_400_000,
            quality_retention_ms: 90 * 86_400_000,
            token_ttl_ms: 900_000,
            quote_ttl_ms: 900_000,
            lease_ms: 30_000,
            master: None,
            issuer: "railgate".to_owned(),
            webhook_guard: Guard::default(),
            owner: None,
        }
    }
}
