//! The parts of the server's answers that tables show. Every field may be missing and more may come: a client must
//! be able to read what an older or a newer server says. `--json` passes by all of this.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

pub(crate) use railgate::money::grouped;

use super::failure::{Done, Failure};
use super::http::Answer;

/// A decimal as the server wrote it, never turned into a float.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Num(pub(crate) String);

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <Box<RawValue>>::deserialize(deserializer)?;
        Ok(Self(raw.get().trim_matches('"').to_owned()))
    }
}

impl Num {
    /// Whether any digit of it is not zero.
    pub(crate) fn is_zero(&self) -> bool {
        !self.0.bytes().any(|b| b.is_ascii_digit() && b != b'0')
    }
}

/// With groups of three digits: `1,000,000.00`.
impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(&self.0))
    }
}

/// Reads an answer's body.
pub(crate) fn read<T: DeserializeOwned>(answer: &Answer) -> Done<T> {
    serde_json::from_slice(&answer.body)
        .map_err(|error| Failure::new(format!("the server's answer cannot be read: {error}")).hint("--json shows it as it is"))
}

/// A page of a list.
#[derive(Debug, Deserialize)]
pub(crate) struct Page<T> {
    /// The page.
    pub(crate) data: Vec<T>,
    /// Whether there is more behind it.
    #[serde(default)]
    pub(crate) has_more: bool,
    /// Where the next page begins.
    #[serde(default)]
    pub(crate) next_cursor: Option<String>,
}

/// A settlement record.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Settlement {
    pub(crate) id: String,
    pub(crate) reference: String,
    pub(crate) status: String,
    pub(crate) sandbox: bool,
    pub(crate) amount: Num,
    pub(crate) currency: String,
    pub(crate) to: String,
    pub(crate) fee: Num,
    pub(crate) total_debit: Num,
    pub(crate) provider: String,
    pub(crate) rail_reference: Option<String>,
    pub(crate) attempts: u32,
    pub(crate) failure: Option<FailureShape>,
    pub(crate) needs_review: bool,
    pub(crate) reversed_amount: Num,
    pub(crate) reversing_amount: Num,
    pub(crate) iso_status: String,
    pub(crate) description: Option<String>,
    pub(crate) created_at: String,
    pub(crate) completed_at: Option<String>,
}

/// Why something failed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FailureShape {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) iso_reason: String,
}

impl fmt::Display for FailureShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, message, iso_reason } = self;
        write!(f, "{code}: {message} ({iso_reason})")
    }
}

/// The short form for polling.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Status {
    pub(crate) id: String,
    pub(crate) reference: String,
    pub(crate) status: String,
    pub(crate) version: u64,
    pub(crate) iso_status: String,
    pub(crate) failure: Option<FailureShape>,
    pub(crate) needs_review: bool,
    #[serde(rename = "final")]
    pub(crate) is_final: bool,
    pub(crate) updated_at: String,
}

/// One link of a trace.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Event {
    pub(crate) sequence: u64,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) at: String,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) actor: String,
    pub(crate) attempt: Option<u32>,
}

/// The answer of a reverse call.
#[derive(Debug, Deserialize)]
pub(crate) struct Reversed {
    #[serde(default)]
    pub(crate) reversal: Option<Reversal>,
    pub(crate) settlement: Settlement,
}

/// A reversal.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Reversal {
    pub(crate) id: String,
    pub(crate) reference: Option<String>,
    pub(crate) status: String,
    pub(crate) amount: Num,
    pub(crate) currency: String,
    pub(crate) reason: Option<String>,
    pub(crate) failure: Option<FailureShape>,
}

/// A balance in one currency.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Balance {
    pub(crate) account: String,
    pub(crate) currency: String,
    pub(crate) available: Num,
    pub(crate) reserved: Num,
    pub(crate) pending: Num,
    pub(crate) ledger: Num,
    pub(crate) as_of: String,
}

/// The answer of a pre-flight check.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Preflight {
    pub(crate) ok: bool,
    pub(crate) problems: Vec<FieldNote>,
    pub(crate) warnings: Vec<FieldNote>,
    pub(crate) quote: Option<Quote>,
    pub(crate) route: Vec<String>,
    pub(crate) payee: Payee,
    pub(crate) funds_available: bool,
}

/// One thing about one field of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FieldNote {
    pub(crate) pointer: String,
    pub(crate) code: String,
    pub(crate) message: String,
}

/// What it would cost.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Quote {
    pub(crate) fee: Num,
    pub(crate) total_debit: Num,
    pub(crate) provider: String,
    pub(crate) expires_at: String,
}

/// Who would be paid.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Payee {
    pub(crate) display_name: Option<String>,
    #[serde(rename = "match")]
    pub(crate) payee_match: String,
}

/// The answer of a reconciling check.
#[derive(Debug, Deserialize)]
pub(crate) struct Reconciled {
    pub(crate) consistent: bool,
    #[serde(default)]
    pub(crate) findings: Vec<Finding>,
    pub(crate) settlement: Settlement,
}

/// Where record, ledger, trace and rail do not agree.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Finding {
    pub(crate) code: String,
    pub(crate) message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_keeps_every_digit_and_is_grouped_for_people() {
        let balance: Balance = serde_json::from_str(r#"{"available":999999999999999.10,"ledger":"-1234.5"}"#).unwrap();
        assert_eq!(balance.available.0, "999999999999999.10");
        assert_eq!(balance.available.to_string(), "999,999,999,999,999.10");
        assert_eq!(balance.ledger.to_string(), "-1,234.5");
        assert_eq!((grouped("0"), grouped("100"), grouped("1000")), ("0".into(), "100".into(), "1,000".into()));
        assert!(Num("0.00".into()).is_zero() && !Num("0.01".into()).is_zero());
    }
}
