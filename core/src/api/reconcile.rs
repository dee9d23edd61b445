//! Reconciliations, as operators see them.

use serde::Serialize;

use super::DecimalNumber;
use crate::lifecycle::{Direction, StateName};
use crate::store::record::{FindingKind, MatchedBy, ReconciliationStatus, StatementFormat};

/// A provider's statement that was compared with the settlements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReconciliationView {
    /// Its id.
    pub id: String,
    /// The provider.
    pub provider: String,
    /// The name of the file.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    /// The format of the file.
    pub format: StatementFormat,
    /// Whether it is complete. Until then the counts are zero.
    pub status: ReconciliationStatus,
    /// The beginning of the time that the statement is about, RFC 3339.
    pub period_from: Option<String>,
    /// The end of it, exclusive.
    pub period_to: Option<String>,
    /// The lines that were compared.
    pub lines: u32,
    /// The lines that do not count: not booked, or of nothing.
    pub skipped: u32,
    /// The lines that match.
    pub matched: MatchedView,
    /// Carried out there, and not carried out or not known here.
    pub missing_here: u32,
    /// Carried out here, and not in the statement.
    pub missing_there: u32,
    /// On both sides, with different amounts.
    pub amount_differs: u32,
    /// More than once there.
    pub duplicate_there: u32,
    /// The operator who had it made; null if that was done on the store itself.
    pub made_by: Option<String>,
    /// When it was begun, RFC 3339.
    pub created_at: String,
    /// When it was complete, RFC 3339.
    pub finished_at: Option<String>,
}

/// How many lines match, by what connects them to a settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MatchedView {
    /// The provider's own reference.
    pub rail_reference: u32,
    /// The key under which the gateway sent it.
    pub rail_key: u32,
    /// Amount, date and, where the statement has one, the participant.
    pub amount: u32,
}

impl MatchedView {
    /// All of them.
    pub const fn all(self) -> u32 {
        self.rail_reference + self.rail_key + self.amount
    }
}

/// A page of reconciliations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReconciliationsView {
    /// Newest first.
    pub data: Vec<ReconciliationView>,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// Something in which a statement and the settlements differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementFindingView {
    /// Its number in the reconciliation, from 1.
    pub n: i64,
    /// The reconciliation.
    pub reconciliation_id: String,
    /// How they differ.
    pub kind: FindingKind,
    /// The settlement; null if none is known.
    pub settlement_id: Option<String>,
    /// The number of the reversal, if it is about one.
    pub reversal: Option<u16>,
    /// The client's reference for the settlement.
    pub reference: Option<String>,
    /// The client that owns it.
    pub client_id: Option<String>,
    /// The status of the settlement or of the reversal now.
    pub status: Option<StateName>,
    /// The amount of the settlement or of the reversal.
    pub amount: Option<DecimalNumber>,
    /// Its currency.
    pub currency: Option<String>,
    /// What connects the line to the settlement.
    pub matched_by: Option<MatchedBy>,
    /// How certain that is, in hundredths.
    pub confidence: u16,
    /// The line of the statement; null if the statement has none.
    pub line: Option<StatementLineView>,
    /// Whether the settlement or reversal waits for a person.
    pub waits: bool,
}

/// A page of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementFindingsView {
    /// In the order of the statement's lines, then what is missing there.
    pub data: Vec<StatementFindingView>,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// A line of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementLineView {
    /// Its place: the line in a table, the number of the entry in every other format.
    pub line: u64,
    /// `outgoing` for money that left, `incoming` for money that came.
    pub direction: Direction,
    /// The amount.
    pub amount: DecimalNumber,
    /// Its currency.
    pub currency: String,
    /// When it was booked: RFC 3339, or a date.
    pub booked_at: String,
    /// The references in it.
    pub references: Vec<String>,
    /// The identifier of the other party.
    pub participant: Option<String>,
    /// The provider's identifier of the entry.
    pub entry: Option<String>,
    /// What it says for people.
    pub text: Option<String>,
}
