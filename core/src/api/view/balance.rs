//! Balances, statements, and money that an operator moved, as their owner sees them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::DecimalNumber;
use crate::store::record::{MovementKind, MovementRecord};
use crate::time::rfc3339;

/// A line of a statement: a posted transfer, and the balance after it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EntryView {
    /// Its number in the statement, from 1; 0 for a balance brought forward.
    pub number: i64,
    /// When it was posted, RFC 3339.
    pub at: String,
    /// `payment`, `fee`, `fee_refund`, `reversal`, `return`, `deposit`, `withdrawal`, `funding`, or `brought_forward` for what was there
    /// before.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// What the account gained; less than zero for what it spent.
    pub amount: DecimalNumber,
    /// The balance after it, as `ledger` of the balance: what is on hold still counts.
    pub balance: DecimalNumber,
    /// ISO 4217 code.
    pub currency: String,
    /// The reference of the settlement, or of the deposit or withdrawal.
    pub reference: Option<String>,
    /// The settlement that it belongs to.
    pub settlement_id: Option<String>,
    /// The settlement's description.
    pub description: Option<String>,
}

/// A page of a statement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EntriesView {
    /// Newest first.
    pub data: Vec<EntryView>,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// A client's balance in one currency.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BalanceView {
    /// The account's name: `main`.
    pub account: Cow<'static, str>,
    /// ISO 4217 code.
    pub currency: String,
    /// Whether this is play money.
    pub sandbox: bool,
    /// The amount that can be spent without credit. It may fall to `credit` below zero.
    pub available: DecimalNumber,
    /// The credit that was granted: how far below zero `available` may fall. Zero if there is none, as always in the sandbox.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    #[serde(default = "DecimalNumber::zero")]
    pub credit: DecimalNumber,
    /// The amount held by settlements in flight.
    pub reserved: DecimalNumber,
    /// The amount announced by reversals in flight.
    pub pending: DecimalNumber,
    /// The book balance: available plus reserved.
    pub ledger: DecimalNumber,
    /// When the balance was read, RFC 3339.
    pub as_of: String,
}

/// A client's balances.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BalancesView {
    /// One balance for each currency.
    pub data: Vec<BalanceView>,
}

/// Real money that an operator of the gateway credited or debited, or a change of credit, as the client sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BalanceMovementView {
    /// `deposit`, `withdrawal` or `credit_line`.
    pub kind: MovementKind,
    /// The operator's reference, unique for each client. The line of the statement has it too; a change of credit has no line.
    pub reference: String,
    /// How much, more than zero; of a credit line, how far below zero `available` may fall from then on, or zero.
    pub amount: DecimalNumber,
    /// The credit before; present for a credit line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<DecimalNumber>,
    /// ISO 4217 code.
    pub currency: String,
    /// When it was made, RFC 3339.
    pub at: String,
}

impl From<&MovementRecord> for BalanceMovementView {
    fn from(it: &MovementRecord) -> Self {
        Self {
            kind: it.kind,
            reference: it.reference.as_str().to_owned(),
            amount: it.money().into(),
            previous: it.previous().map(DecimalNumber::from),
            currency: it.currency.code().to_owned(),
            at: rfc3339(it.at),
        }
    }
}
