//! Reconciliations: a provider's statement compared with the gateway's settlements.

use crate::lifecycle::{Direction, stored_enum};
use crate::money::Currency;
use crate::time::Millis;

stored_enum! {
    /// The format of a statement.
    pub enum StatementFormat {
        /// A table with a header row; the provider's settings name its columns.
        Csv = 1 "csv",
        /// ISO 20022 camt.053: a bank-to-customer statement.
        Camt053 = 2 "camt.053",
        /// ISO 20022 camt.054: a notification of debits and credits.
        Camt054 = 3 "camt.054",
        /// Statement entries of the GSMA Mobile Money API, as a JSON array.
        Gsma = 4 "gsma",
    }
}

stored_enum! {
    /// Whether a reconciliation is complete.
    pub enum ReconciliationStatus {
        /// It is being made. If its host stopped, the same file makes it again.
        Running = 1 "running",
        /// It is complete, and does not change any more.
        Done = 2 "done",
    }
}

stored_enum! {
    /// How a statement and the settlements differ.
    pub enum FindingKind {
        /// The provider has it, and here it is not carried out, or not known at all.
        MissingHere = 1 "missing_here",
        /// Here it is carried out, and the provider's statement does not have it.
        MissingThere = 2 "missing_there",
        /// Both have it, with different amounts or currencies.
        AmountDiffers = 3 "amount_differs",
        /// The provider has it more than once.
        DuplicateThere = 4 "duplicate_there",
    }
}

stored_enum! {
    /// What connects a line of a statement to a settlement.
    pub enum MatchedBy {
        /// The provider's own reference for it.
        RailReference = 1 "rail_reference",
        /// The key under which the gateway sent it.
        RailKey = 2 "rail_key",
        /// The amount, the date and, where the statement has one, the participant.
        Amount = 3 "amount",
    }
}

/// A line of a statement: money that left the gateway's account at the provider, or came back to it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementLine {
    /// Its number in the statement, from 1; the rows of a table are counted with the header.
    pub line: u64,
    /// `outgoing` for a payment, `incoming` for money that came back.
    pub direction: Direction,
    /// The amount, in minor units.
    pub amount: i64,
    /// Its currency.
    pub currency: Currency,
    /// When it was booked.
    pub at: Millis,
    /// Whether only the day of that is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_day: bool,
    /// The references in it: the provider's own, and those that it was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The identifier of the other party.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// The identifier of the entry, which no other entry of the provider has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// What it says for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
