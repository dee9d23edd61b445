//! The terms of a client as an operator writes them. [`crate::validate::terms`] checks them.

use std::collections::BTreeMap;

use super::AmountInput;
use super::provider::FeeBody;
#[cfg(feature = "openapi")]
use super::request::PositiveAmountInput;
use super::request::body;

body! {
    /// What is agreed with a client. What is left out is not limited.
    TermsBody {
        /// The client.
        [example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB"]
        client: String,
    } optional {
        /// Limits of its payments, at most one entry for each mode and currency.
        limits: Vec<ClientLimitBody>,
        /// By currency, how far below zero the available money of its live account may fall.
        credit: BTreeMap<String, AmountInput>,
        /// What it pays instead of the providers' fees, where a rule fits.
        fees: Vec<FeeBody>,
        /// For how many days after its completion a payment can be reversed.
        reversal_days: u32,
        /// By mode, which calls its sessions may sign: `all` (by default in `sandbox`), `reads` (by default in `live`) or `off`.
        session_signatures: BTreeMap<String, String>,
    }
}

body! {
    /// The limits of a client's payments in one mode and currency: amounts without fees, in units of the currency. A day is UTC.
    ClientLimitBody {
        /// `sandbox` or `live`.
        [pattern = "^(sandbox|live)$"]
        mode: String,
        /// ISO 4217 code.
        [example = "EUR", pattern = "^[A-Z]{3}$"]
        currency: String,
    } optional {
        /// The smallest payment.
        [value_type = Option<PositiveAmountInput>]
        min: AmountInput,
        /// The largest payment.
        [value_type = Option<PositiveAmountInput>]
        max: AmountInput,
        /// The most that the payments of a day add up to.
        [value_type = Option<PositiveAmountInput>]
        daily_value: AmountInput,
        /// The most payments of a day.
        daily_count: u32,
    }
}
