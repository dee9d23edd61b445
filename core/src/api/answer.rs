//! The results of calls that may be repeated.

use super::{ReverseView, SettlementView};

/// The result of a create.
#[derive(Debug, Clone)]
pub struct CreateAnswer {
    /// The settlement after the call.
    pub settlement: SettlementView,
    /// Whether the settlement existed before.
    pub replayed: bool,
}

/// The result of a reverse call.
#[derive(Debug, Clone)]
pub struct ReverseAnswer {
    /// The settlement and, unless it was cancelled, the reversal.
    pub view: ReverseView,
    /// Whether this repeats an earlier reversal.
    pub replayed: bool,
}
