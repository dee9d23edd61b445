//! Where a client is, if it moves to another gateway or came from one.

use serde::{Deserialize, Serialize};

use crate::lifecycle::named_enum;

named_enum! {
    /// Where a client is, as one of its gateways sees it.
    pub enum PlaceState {
        /// It is leaving for another gateway.
        Leaving = "leaving",
        /// It moved to another gateway; this one keeps what it did here.
        Moved = "moved",
        /// It was about to leave, and stays.
        Stayed = "stayed",
        /// It is arriving from another gateway.
        Arriving = "arriving",
        /// It came from another gateway.
        Arrived = "arrived",
    }
}

/// Where a client is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClientPlaceView {
    /// `leaving`, `moved`, `stayed`, `arriving` or `arrived`.
    pub state: PlaceState,
    /// The address of the other gateway.
    pub url: String,
    /// The identity of the other gateway's store: 16 hexadecimal digits.
    pub gateway: String,
    /// Since when, RFC 3339.
    pub since: String,
    /// Why, as the operator said.
    pub reason: Option<String>,
}
