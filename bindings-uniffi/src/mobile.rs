//! End users and their devices: what a backend manages, and what an app does on a device of a user.

use railgate::ErrorCode;
use railgate::api::{AttestationBody, DecisionBody, DeviceCodeBody, DeviceEnrollBody, ShownBody, UserBody, UserLimitsBody, UserLimitsView};
use railgate::client::{Call, Request};
use railgate::receipt::{Code, Drawing};
use serde::Deserialize;

use crate::client::{Data, GatewayClient, once, part};
use crate::error::GatewayError;
use crate::filter::{below, pairs};
use crate::mirror::{Give, mirror_record};
use crate::names::{AttestationFormat, AttestationLevel, UserStatus};
use crate::request::written;
use crate::values::{Decimal, Instant};
use crate::views::Settlement;

pub(crate) const MOBILE: &str = "/api/v1/mobile";

mirror_record! {
    /// What the maker of a device says about its key.
    DeviceAttestation of railgate::store::record::DeviceAttestation {
        /// Who vouches for it.
        format: AttestationFormat,
        /// Where the key lives, as the gateway verified; absent if it could not.
        level: Option<AttestationLevel>,
        /// Why the gateway could not verify it.
        problem: Option<String>,
    }
}

/// What an app shows of where its key lives, bound to the code with which the device enrols.
#[derive(Debug, Clone, PartialEq, uniffi::Enum)]
pub enum Attestation {
    /// Android Key Attestation.
    AndroidKey {
        /// The certificates of the key in base64 (DER), the key's first.
        chain: Vec<String>,
    },
    /// App Attest.
    AppleAppAttest {
        /// The attestation object in base64 (CBOR).
        object: String,
    },
}

impl Attestation {
    fn body(self) -> AttestationBody {
        match self {
            Self::AndroidKey { chain } => AttestationBody { format: "android-key".to_owned(), chain: Some(chain), object: None },
            Self::AppleAppAttest { object } => AttestationBody { format: "apple-app-attest".to_owned(), chain: None, object: Some(object) },
        }
    }
}

mirror_record! {
    /// A device of an end user.
    Device of railgate::api::DeviceView {
        /// `dev_` and a ULID.
        id: String,
        /// The client's own name for the user.
        user: String,
        /// The key's RFC 7638 thumbprint.
        key_id: String,
        /// What its owner calls it.
        name: Option<String>,
        /// The platform, as the app names it.
        platform: String,
        /// The version of the app that enrolled.
        app_version: Option<String>,
        /// The model.
        model: Option<String>,
        /// What its maker says about its key; absent if the app showed nothing.
        attestation: Option<DeviceAttestation>,
        /// When it enrolled.
        created_at: Instant,
        /// When it was revoked; absent while it may call.
        revoked_at: Option<Instant>,
    }
}

/// What an end user may pay in one currency, without fees. A day is UTC.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct UserLimits {
    /// ISO 4217 code.
    pub currency: String,
    /// The largest payment.
    #[uniffi(default = None)]
    pub max: Option<Decimal>,
    /// The most that the payments of a day add up to.
    #[uniffi(default = None)]
    pub daily_value: Option<Decimal>,
    /// The most payments of a day.
    #[uniffi(default = None)]
    pub daily_count: Option<i64>,
    /// Payments of more than this wait until the user approves them on a device.
    #[uniffi(default = None)]
    pub approval_over: Option<Decimal>,
}

impl Give<UserLimits> for UserLimitsView {
    fn give(self) -> Result<UserLimits, GatewayError> {
        let Self { currency, max, daily_value, daily_count, approval_over } = self;
        let (max, daily_value, approval_over) = (max.give()?, daily_value.give()?, approval_over.give()?);
        Ok(UserLimits { currency, max, daily_value, daily_count, approval_over })
    }
}

mirror_record! {
    /// An end user, as the client sees them.
    User of railgate::api::UserView {
        /// The client's own name for the user.
        user: String,
        /// `sandbox` or `live`.
        environment: String,
        /// Whether the user's devices may call.
        status: UserStatus,
        /// What the user may pay.
        limits: Vec<UserLimits>,
        /// When the client first named the user.
        created_at: Instant,
        /// Increases with every change.
        version: u32,
    }
}

/// A code with which one device of an end user enrols. It is shown only this once.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct EnrollmentCode {
    /// The client's own name for the user.
    pub user: String,
    /// The code, for people to type.
    pub code: String,
    /// The address that opens the app with the code.
    pub link: String,
    /// The same address as a QR code: an SVG image.
    #[serde(default)]
    pub qr: String,
    /// When the code expires.
    pub expires_at: Instant,
}

impl EnrollmentCode {
    /// Draws the QR code of a sandbox's.
    pub(crate) fn drawn(self) -> Self {
        let qr = Code::of(self.link.as_bytes(), Drawing::default()).map(|code| code.svg(&self.link)).unwrap_or_default();
        Self { qr, ..self }
    }
}

/// A device that enrolled.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct DeviceEnrollment {
    /// The device.
    pub device: Device,
    /// `cli_` and a ULID: the client whose user it is.
    pub client_id: String,
}

impl UserLimits {
    fn body(self) -> UserLimitsBody {
        let Self { currency, max, daily_value, daily_count, approval_over } = self;
        let amount = |value: Option<Decimal>| value.map(|value| railgate::api::AmountInput::text(&value.shortest()));
        UserLimitsBody {
            currency,
            max: amount(max),
            daily_value: amount(daily_value),
            daily_count: daily_count.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
            approval_over: amount(approval_over),
        }
    }
}

pub(crate) fn bodies(limits: Option<Vec<UserLimits>>) -> Option<Vec<UserLimitsBody>> {
    limits.map(|limits| limits.into_iter().map(UserLimits::body).collect())
}

impl UserStatus {
    /// As the gateway reads it, which refuses an unknown one.
    pub(crate) fn text(status: Option<Self>) -> Option<String> {
        status.map(|status| status.name().unwrap_or("unrecognised").to_owned())
    }
}

/// The id of a payment, and the body with which a user decides about it.
pub(crate) fn decision_body(decision: &str, payment: Settlement, payee_name: Option<String>, reason: Option<String>) -> (String, String) {
    let Settlement { id, amount, currency, to, reference, .. } = payment;
    let amount = railgate::api::AmountInput::text(&amount.shortest());
    let shown = ShownBody { amount, currency, to, reference, payee_name };
    (id, written(&DecisionBody { decision: decision.to_owned(), shown, reason }))
}

/// A user's name, for a path.
fn path_of_user(user: &str) -> String {
    format!("{MOBILE}/users/{}", percent_encoding::utf8_percent_encode(user, percent_encoding::NON_ALPHANUMERIC))
}

fn path_of_device(device: &str) -> Result<String, GatewayError> {
    Ok(format!("{MOBILE}/devices/{}", part(device, ErrorCode::DeviceNotFound)?))
}

#[uniffi::export]
impl GatewayClient {
    /// Makes a code with which one device of the client's end user enrols; a newer code replaces it. Adds the user if there is none of
    /// this name. `limits` replace what the user may pay; `link` is the address that opens the app, with `{code}` where the code goes.
    ///
    /// # Errors
    /// `Refused`, such as `user_blocked`; `Unanswered`: make another one; `Unsigned`.
    #[uniffi::method(default(limits = None, link = None))]
    pub async fn enrollment_code(
        &self,
        user: String,
        limits: Option<Vec<UserLimits>>,
        link: Option<String>,
    ) -> Result<EnrollmentCode, GatewayError> {
        let body = written(&DeviceCodeBody { user, limits: bodies(limits), link });
        // Not sent again after a lost response: it would come without the code.
        let call = Call::new(Request::post(&format!("{MOBILE}/enrollment-codes"), body));
        self.link.call(call, 1).await
    }

    /// Returns one of the client's end users, by the client's own name for them.
    ///
    /// # Errors
    /// `Refused` with code `user_not_found`; `Unanswered`, `Unsigned`.
    pub async fn user(&self, user: String) -> Result<User, GatewayError> {
        self.look(path_of_user(&user)).await
    }

    /// Adds or changes an end user: what is absent stays as it is. The devices of a blocked user are refused.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    #[uniffi::method(default(limits = None, status = None))]
    pub async fn put_user(&self, user: String, limits: Option<Vec<UserLimits>>, status: Option<UserStatus>) -> Result<User, GatewayError> {
        let body = UserBody { limits: bodies(limits), status: UserStatus::text(status) };
        self.call(once("PUT", &path_of_user(&user), written(&body))?).await
    }

    /// Enrols this device with a code that the app's backend made for its user. A device that is already enrolled, such as after a lost
    /// response, stays enrolled.
    ///
    /// # Errors
    /// `Refused`, such as `device_code_invalid`; `Unanswered`: it may be enrolled, repeat the call to find out; `Unsigned`.
    #[uniffi::method(default(app_version = None, model = None, name = None, attestation = None))]
    pub async fn enroll_device(
        &self,
        code: String,
        platform: String,
        app_version: Option<String>,
        model: Option<String>,
        name: Option<String>,
        attestation: Option<Attestation>,
    ) -> Result<DeviceEnrollment, GatewayError> {
        let attestation = attestation.map(Attestation::body);
        let jwk = railgate::api::Jwk::default();
        let body = DeviceEnrollBody { code, jwk, platform, app_version, model, name, attestation };
        let request = self.link.session(|session| session.enroll_device_request(body));
        let enrolled: Result<DeviceEnrollment, _> = self.link.carry(Call::new(request), 1, &|_| true).await.read();
        let enrollment = match enrolled {
            Err(GatewayError::Refused { problem }) if problem.code == ErrorCode::KeyExists.as_str() => {
                let client_id = self.link.identify().await?;
                let key_id = self.key_id()?;
                let own = self.devices(None).await?.into_iter().find(|device| device.key_id == key_id);
                let device = own.ok_or(GatewayError::Refused { problem })?;
                DeviceEnrollment { device, client_id }
            }
            enrolled => enrolled?,
        };
        self.link.is_of_user(&enrollment.device.user);
        Ok(enrollment)
    }

    /// Returns the devices of this device's user; for a backend, those of one of its users.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    #[uniffi::method(default(user = None))]
    pub async fn devices(&self, user: Option<String>) -> Result<Vec<Device>, GatewayError> {
        let page: Data<Device> = self.look(below(&format!("{MOBILE}/devices"), pairs([("user", user)]))).await?;
        Ok(page.data)
    }

    /// Gives a device another name.
    ///
    /// # Errors
    /// `Refused` with code `device_not_found`; `Unanswered`, `Unsigned`.
    pub async fn rename_device(&self, device: String, name: String) -> Result<Device, GatewayError> {
        self.call(once("PATCH", &path_of_device(&device)?, written(&railgate::api::DeviceBody { name }))?).await
    }

    /// Revokes a device: of the same user, or, for a backend, of one of its users.
    ///
    /// # Errors
    /// As [`GatewayClient::rename_device`].
    pub async fn revoke_device(&self, device: String) -> Result<(), GatewayError> {
        let request = Request::new("DELETE", &path_of_device(&device)?);
        self.call::<Option<crate::values::Json>>(request).await.map(drop)
    }

    /// Returns the payments that wait for the user of this device, newest first.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn payment_approvals(&self) -> Result<Vec<Settlement>, GatewayError> {
        let page: Data<Settlement> = self.look(format!("{MOBILE}/approvals")).await?;
        Ok(page.data)
    }

    /// Approves a payment that waits for the user. `shown` is the payment as the app showed it: the device's key signs its amount,
    /// currency, payee and reference, and the gateway pays that or nothing. The key itself signs, so a key store may ask the user.
    ///
    /// # Errors
    /// `Refused`, such as `approval_decided` if another device was first, with what was decided; `Unanswered`: repeat the call to find
    /// out; `Unsigned`.
    #[uniffi::method(default(payee_name = None))]
    pub async fn approve(&self, shown: Settlement, payee_name: Option<String>) -> Result<Settlement, GatewayError> {
        self.decide("approve", shown, payee_name, None).await
    }

    /// Declines a payment that waits for the user: it is cancelled.
    ///
    /// # Errors
    /// As [`GatewayClient::approve`].
    #[uniffi::method(default(reason = None))]
    pub async fn decline(&self, shown: Settlement, reason: Option<String>) -> Result<Settlement, GatewayError> {
        self.decide("decline", shown, None, reason).await
    }
}

impl GatewayClient {
    async fn decide(
        &self,
        decision: &str,
        payment: Settlement,
        payee_name: Option<String>,
        reason: Option<String>,
    ) -> Result<Settlement, GatewayError> {
        let (id, body) = decision_body(decision, payment, payee_name, reason);
        let path = format!("{MOBILE}/approvals/{}", part(&id, ErrorCode::PaymentApprovalNotFound)?);
        // The same decision on the same device is answered as before.
        self.call(Request::post(&path, body)).await
    }
}
