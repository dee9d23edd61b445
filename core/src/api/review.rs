//! What waits for a person, as operators see it.

use serde::Serialize;

use super::DecimalNumber;
use crate::lifecycle::StateName;
use crate::store::record::ReviewReason;

/// A settlement that needs review, or one of its reversals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewView {
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
