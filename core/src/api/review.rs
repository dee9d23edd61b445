//! What waits for a person, as operators see it.

use serde::Serialize;

use super::{DecimalNumber, EventView, ReversalView, SettlementView, StatementFindingView, Subject};
use crate::ledger::{TransferCode, TransferKind};
use crate::lifecycle::attempt::AnswerKind;
use crate::lifecycle::{AttemptStatus, StateName};
use crate::rail::{FailureCode, RailAnswer};
use crate::store::record::ReviewReason;

/// A settlement that needs review, or one of its reversals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewView {
    /// Names it: the settlement's id, followed by a dot and the reversal's number if it is about one.
    pub id: String,
    /// The settlement's id.
    pub settlement_id: String,
    /// The reversal's number within the settlement, from 1; `None` if it is about the settlement itself.
    pub reversal: Option<u16>,
    /// The reversal's id.
    pub reversal_id: Option<String>,
    /// The client's reference for the settlement.
    pub reference: String,
    /// The client that owns it.
    pub client_id: String,
    /// Whether it is of the sandbox.
    pub sandbox: bool,
    /// Why it waits.
    pub reason: ReviewReason,
    /// Since when.
    pub opened_at: String,
    /// When a person should look at it.
    pub due_at: String,
    /// The status of the settlement or of the reversal.
    pub status: StateName,
    /// The amount at stake: of the settlement or of the reversal.
    pub amount: DecimalNumber,
    /// Its currency.
    pub currency: String,
    /// The provider that has it.
    pub provider: String,
}

/// A page of what waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewsView {
    /// The longest due first.
    pub data: Vec<ReviewView>,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// Everything that is known about a settlement, for a person who decides about it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CaseView {
    /// What the provider said just now; absent if it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Vec<CaseAnswerView>>,
    /// What waits for a person: the settlement itself, reversals, or nothing.
    pub waiting: Vec<ReviewView>,
    /// The settlement as its owner sees it.
    pub settlement: SettlementView,
    /// What reconciliations with the provider's statements found about it.
    pub findings: Vec<StatementFindingView>,
    /// Its attempts.
    pub attempts: Vec<CaseAttemptView>,
    /// Its reversals.
    pub reversals: Vec<ReversalView>,
    /// Its whole trace.
    pub events: Vec<EventView>,
    /// Its transfers in the ledger.
    pub transfers: Vec<CaseTransferView>,
}

/// What a provider said about an attempt or a reversal when it was asked.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CaseAnswerView {
    /// The number of the attempt, if it is about one.
    pub attempt: Option<u16>,
    /// The number of the reversal, if it is about one.
    pub reversal: Option<u16>,
    /// What it said.
    pub answer: AnswerKind,
    /// Its reference for the payment.
    pub rail_reference: Option<String>,
    /// Why it declined.
    pub code: Option<FailureCode>,
    /// Its own code.
    pub rail_code: Option<String>,
}

impl From<&(Subject, RailAnswer)> for CaseAnswerView {
    fn from((subject, answer): &(Subject, RailAnswer)) -> Self {
        let (attempt, reversal) = match *subject {
            Subject::Attempt(_, n) => (Some(n), None),
            Subject::Reversal(_, n) => (None, Some(n)),
        };
        let (rail_reference, code, rail_code) = match answer {
            RailAnswer::Completed { rail_reference } | RailAnswer::Accepted { rail_reference } => (rail_reference.clone(), None, None),
            RailAnswer::Declined { code, rail_code, .. } => (None, Some(*code), rail_code.clone()),
            RailAnswer::Returned { rail_code } => (None, None, rail_code.clone()),
            RailAnswer::NotSent | RailAnswer::Unknown => (None, None, None),
        };
        Self { attempt, reversal, answer: answer.kind(), rail_reference, code, rail_code }
    }
}

/// An attempt at a provider.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CaseAttemptView {
    /// Its number, from 1.
    pub attempt: u16,
    /// The provider.
    pub provider: String,
    /// Its status.
    pub status: AttemptStatus,
    /// How often it was sent, always under the same key.
    pub sends: u16,
    /// When it was last sent, RFC 3339.
    pub started_at: String,
    /// When the last answer that changed it arrived, RFC 3339.
    pub answered_at: Option<String>,
}

/// A transfer between two accounts.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CaseTransferView {
    /// Its number, from 1.
    pub transfer: u16,
    /// Whether it holds, posts, or releases money.
    pub kind: TransferKind,
    /// What for.
    pub code: TransferCode,
    /// How much.
    pub amount: String,
    /// Whose account is debited.
    pub debit: String,
    /// Whose account is credited.
    pub credit: String,
    /// The transfer that it ends; null if it ends none.
    pub resolves: Option<u16>,
    /// When, RFC 3339.
    pub at: String,
}
