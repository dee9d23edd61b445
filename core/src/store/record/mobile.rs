//! End users of clients, their devices, and payments that wait for them.

use crate::lifecycle::{named_enum, stored_enum};
use crate::time::Millis;

use super::SettlementRecord;

stored_enum! {
    /// Whether a user's devices may call.
    pub enum UserStatus {
        /// They may.
        Active = 1 "active",
        /// They may not, until the client changes it.
        Blocked = 2 "blocked",
    }
}

stored_enum! {
    /// How far the approval of a payment by its user is.
    pub enum PaymentApprovalStatus {
        /// The payment waits for the user.
        Pending = 1 "pending",
        /// The user approved it.
        Approved = 2 "approved",
        /// The user declined it.
        Declined = 3 "declined",
        /// It ended before the user decided: it expired, or the client cancelled it.
        Ended = 4 "ended",
    }
}

named_enum! {
    /// Who vouches for the key of a device.
    pub enum AttestationFormat {
        /// Android Key Attestation.
        AndroidKey = "android-key",
        /// App Attest, of Apple.
        AppleAppAttest = "apple-app-attest",
    }
}

named_enum! {
    /// Where the key of a device lives, the weakest place first.
    pub enum AttestationLevel {
        /// In software.
        Software = "software",
        /// In the trusted environment of the processor.
        TrustedEnvironment = "trusted_environment",
        /// In a security chip.
        StrongBox = "strongbox",
        /// Beside an app that Apple vouches for, on a device with a Secure Enclave.
        SecureEnclave = "secure_enclave",
    }
}

/// What the maker of a device says about its key.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceAttestation {
    /// Who vouches for it.
    pub format: AttestationFormat,
    /// Where the key lives, as was verified; null if it was not.
    pub level: Option<AttestationLevel>,
    /// Why it was not verified; null if it was.
    pub problem: Option<String>,
}

/// The approval that a payment needs of its user.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentApproval {
    /// How far it is.
    pub status: PaymentApprovalStatus,
    /// What the client set as the end of the payment; its `expires_at` is not later, and the end of the approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_expiry: Option<Millis>,
    /// The key of the device on which it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Millis>,
}

impl SettlementRecord {
    /// The approval that it needs of its user, if it needs one.
    pub fn approval(&self) -> Option<&PaymentApproval> {
        self.more.as_deref()?.approval.as_ref()
    }

    /// Whether it waits for its user: nothing is sent before.
    pub fn waits_for_user(&self) -> bool {
        self.approval().is_some_and(|approval| approval.status == PaymentApprovalStatus::Pending)
    }

    /// The end that its client set, if it did.
    pub(crate) fn asked_expiry(&self) -> Option<Millis> {
        self.approval().map_or(self.expires_at, |approval| approval.asked_expiry)
    }
}
