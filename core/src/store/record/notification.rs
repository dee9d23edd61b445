//! What end users are told: the kinds of notifications, what each is about, and where pushes go.

use serde::{Deserialize, Serialize};

use crate::lifecycle::stored_enum;
use crate::rail::FailureCode;
use crate::time::Millis;

stored_enum! {
    /// What a notification tells.
    pub enum NotificationKind {
        /// A payment waits for the user's approval.
        ApprovalRequested = 1 "approval.requested",
        /// A payment was cancelled because its user did not approve it in time.
        ApprovalExpired = 2 "approval.expired",
        /// A payment arrived.
        PaymentCompleted = 3 "payment.completed",
        /// A payment failed.
        PaymentFailed = 4 "payment.failed",
        /// A payment was cancelled before it was sent.
        PaymentCancelled = 5 "payment.cancelled",
        /// The rail returned a payment after it had completed.
        PaymentReturned = 6 "payment.returned",
        /// All or part of a payment was given back.
        PaymentReversed = 7 "payment.reversed",
        /// A device was enrolled.
        DeviceEnrolled = 8 "device.enrolled",
        /// A device was revoked.
        DeviceRevoked = 9 "device.revoked",
    }
}

/// What a notification is about, as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotificationFacts {
    /// The settlement: `stl_` and a ULID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settlement_id: Option<String>,
    /// The client's reference for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The amount, as a decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// Its currency, an ISO 4217 code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The payee, `namespace:identifier`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Why the payment failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureCode>,
    /// Until when the payment waits for approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// The device: `dev_` and a ULID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    /// What its owner calls it, or its model or platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// What makes an endpoint a push subscription. The keys that encrypt for it are its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushRoute {
    /// The client whose user has it: its pushes share that client's part of a line.
    pub client: u32,
    /// The key of the device that made it; it ends with the device.
    pub device: u32,
    /// The number of the gateway's key that it is bound to.
    pub vapid: u32,
    /// The language of the device, as a BCP 47 tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// When the browser lets it expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}
