//! End users of clients, their devices, and the payments that wait for them.

use serde::{Deserialize, Serialize};

#[cfg(feature = "openapi")]
use super::request::PositiveAmountInput;
use super::request::body;
use super::{AmountInput, DecimalNumber, Jwk, SettlementView, TokenView};
use crate::store::record::{DeviceAttestation, PaymentApprovalStatus, UserStatus};

body! {
    /// A code for a device of an end user. The user is added when first named.
    DeviceCodeBody {
        /// The client's own name for the user: 1 to 64 printable ASCII characters without spaces.
        [example = "customer-17", pattern = "^[!-~]{1,64}$"]
        user: String,
    } optional {
        /// What the user may pay: replaces what there was. One entry for each currency.
        limits: Vec<UserLimitsBody>,
        /// The address that opens the app, with `{code}` where the code goes. Default: `railgate:enroll?…`.
        [example = "https://app.example/enroll#{code}", max_length = 500]
        link: String,
    }
}

body! {
    /// What an end user may pay in one currency, without fees. A day is UTC.
    UserLimitsBody {
        /// ISO 4217 code.
        [example = "EUR", pattern = "^[A-Z]{3}$"]
        currency: String,
    } optional {
        /// The largest payment.
        max: AmountInput,
        /// The most that the payments of a day add up to.
        daily_value: AmountInput,
        /// The most payments of a day.
        daily_count: u32,
        /// Payments of more than this wait until the user approves them on a device.
        approval_over: AmountInput,
    }
}

body! {
    /// A change of an end user. What is left out stays as it is.
    UserBody {} optional {
        /// What the user may pay. One entry for each currency.
        limits: Vec<UserLimitsBody>,
        /// `active`, or `blocked`: the user's devices may not call.
        [example = "blocked", pattern = "^(active|blocked)$"]
        status: String,
    }
}

body! {
    /// A device of an end user, with the code that the client made for it.
    DeviceEnrollBody {
        /// The code. Upper or lower case, with or without hyphens and spaces; `O` counts as 0, `I` and `L` as 1.
        [example = "7K3M-Q9XR-2T8W-HN5E", min_length = 1]
        code: String,
        /// The device's public key, which signs the call.
        jwk: Jwk,
        /// The platform, such as `android` or `ios`: 1 to 40 printable characters.
        [example = "android", min_length = 1, max_length = 40]
        platform: String,
    } optional {
        /// The version of the app.
        [example = "3.2.0", min_length = 1, max_length = 40]
        app_version: String,
        /// The model of the device.
        [example = "Pixel 9", min_length = 1, max_length = 100]
        model: String,
        /// What its owner calls it.
        [min_length = 1, max_length = 100]
        name: String,
        /// What the maker of the device says about the key.
        attestation: AttestationBody,
    }
}

body! {
    /// What the maker of a device says about its key, bound to the code: see the documentation of the mobile API.
    AttestationBody {
        /// `android-key` or `apple-app-attest`.
        [example = "android-key", pattern = "^(android-key|apple-app-attest)$"]
        format: String,
    } optional {
        /// Of `android-key`: the certificates in base64 (DER), the key's first.
        [min_items = 1, max_items = 8]
        chain: Vec<String>,
        /// Of `apple-app-attest`: the attestation object in base64 (CBOR).
        object: String,
    }
}

body! {
    /// A new name for a device.
    DeviceBody {
        /// 1 to 100 printable characters.
        [min_length = 1, max_length = 100]
        name: String,
    } optional {}
}

body! {
    /// A payment as the app showed it to its user. It must be what the gateway has, and the device's signature covers it.
    ShownBody {
        /// The amount.
        [value_type = PositiveAmountInput, example = 250.00]
        amount: AmountInput,
        /// ISO 4217 code.
        [example = "EUR", pattern = "^[A-Z]{3}$"]
        currency: String,
        /// The payee.
        [example = "msisdn:+254700000001", min_length = 1]
        to: String,
        /// The reference.
        [example = "invoice-2026-0001", min_length = 1]
        reference: String,
    } optional {
        /// The name of the payee, if the app showed one.
        [min_length = 1, max_length = 140]
        payee_name: String,
    }
}

body! {
    /// What the user decided about a payment, and what the app had shown.
    DecisionBody {
        /// `approve` or `decline`.
        [example = "approve", pattern = "^(approve|decline)$"]
        decision: String,
        /// What the app showed.
        shown: ShownBody,
    } optional {
        /// Why the user declined: 1 to 500 printable characters.
        [min_length = 1, max_length = 500]
        reason: String,
    }
}

/// A code with which one device of an end user enrols.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceCodeView {
    /// The client's own name for the user.
    pub user: String,
    /// The code, for people to type: four groups of four. It is not shown again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "7K3M-Q9XR-2T8W-HN5E"))]
    pub code: Option<String>,
    /// The address that opens the app with the code. It is not shown again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The same address as a QR code: an SVG image. It is not shown again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qr: Option<String>,
    /// Whether the answer to an earlier call with this `Idempotency-Key` showed the code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub code_shown: bool,
    /// When the code expires, RFC 3339.
    pub expires_at: String,
    /// For how long the code is valid, in seconds.
    pub expires_in: i64,
}

/// What an end user may pay in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserLimitsView {
    /// ISO 4217 code.
    pub currency: String,
    /// The largest payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<DecimalNumber>,
    /// The most that the payments of a day (UTC) add up to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_value: Option<DecimalNumber>,
    /// The most payments of a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_count: Option<i64>,
    /// Payments of more than this wait for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_over: Option<DecimalNumber>,
}

/// An end user as the client sees them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserView {
    /// The client's own name for the user.
    pub user: String,
    /// `sandbox` or `live`.
    pub environment: crate::ledger::Mode,
    /// Whether the user's devices may call.
    pub status: UserStatus,
    /// What the user may pay.
    pub limits: Vec<UserLimitsView>,
    /// When the client first named the user, RFC 3339.
    pub created_at: String,
    /// Increases with every change.
    pub version: u32,
}

/// A page of a client's end users.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsersView {
    /// The users, by name.
    pub data: Vec<UserView>,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// A device of an end user.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceView {
    /// `dev_` and a ULID.
    pub id: String,
    /// The client's own name for the user.
    pub user: String,
    /// The key's RFC 7638 thumbprint: the `keyid` of its signatures.
    pub key_id: String,
    /// What its owner calls it.
    pub name: Option<String>,
    /// The platform, as the app names it.
    pub platform: String,
    /// The version of the app that enrolled.
    pub app_version: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// What its maker says about its key; absent if the app showed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation: Option<DeviceAttestation>,
    /// When it enrolled, RFC 3339.
    pub created_at: String,
    /// When it was revoked, RFC 3339; null while it may call.
    pub revoked_at: Option<String>,
}

/// Devices of end users.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DevicesView {
    /// The devices, oldest first.
    pub data: Vec<DeviceView>,
}

/// A device that enrolled, with its first access token.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceEnrollmentView {
    /// The device.
    pub device: DeviceView,
    /// `cli_` and a ULID: the client whose user it is.
    pub client_id: String,
    /// `sandbox` or `live`.
    pub environment: crate::ledger::Mode,
    /// The first access token, of scope `mobile`.
    #[serde(flatten)]
    pub token: TokenView,
}

/// The approval of a payment by its end user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PaymentApprovalView {
    /// `pending`, `approved`, `declined`, or `ended` if the payment ended before the user decided.
    pub status: PaymentApprovalStatus,
    /// When the user decided, RFC 3339.
    pub decided_at: Option<String>,
}

/// Payments that wait for their user.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PaymentApprovalsView {
    /// The payments, newest first; each is cancelled at its `expires_at`.
    pub data: Vec<SettlementView>,
}
