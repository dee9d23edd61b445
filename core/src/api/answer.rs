//! What calls come to that may be repeated.

use super::{ReverseView, SettlementView};

/// What a create came to.
#[derive(Debug, Clone)]
pub struct CreateAnswer {
    /// The settlement as it stands.
    pub settlement: SettlementView,
    /// It was there before.
    pub replayed: bool,
}

/// What a reversal came to.
#[derive(Debug, Clone)]
pub struct ReverseAnswer {
    /// The reversal, if the settlement was not cancelled instead, and the settlement.
    pub view: ReverseView,
    /// It was there before.
    pub replayed: bool,
}
