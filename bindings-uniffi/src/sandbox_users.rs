//! End users of the sandbox and their devices: what a backend manages, and what an app does on a device of a user.

use std::sync::Arc;

use railgate::api::{DeviceCodeBody, UserBody};

use crate::client::Data;
use crate::error::GatewayError;
use crate::filter::{SettlementFilter, SettlementPage};
use crate::mobile::{Device, EnrollmentCode, User, UserLimits, bodies, decision_body};
use crate::names::UserStatus;
use crate::request::{SettlementRequest, written};
use crate::sandbox::SandboxGateway;
use crate::sandbox_line::{line, listing, shown};
use crate::views::Settlement;

/// The enrolment of a device without a key.
#[derive(serde::Serialize)]
struct Enrolling {
    code: String,
    platform: String,
    app_version: Option<String>,
    model: Option<String>,
    name: Option<String>,
}

#[uniffi::export]
impl SandboxGateway {
    /// Makes a code with which one device of an end user enrols; a newer code replaces it. Adds the user if there is none of this name.
    /// `limits` replace what the user may pay; `link` is the address that opens the app, with `{code}` where the code goes.
    ///
    /// # Errors
    /// `Invalid`; `Refused`, such as `user_blocked`; `Storage`.
    #[uniffi::method(default(limits = None, link = None))]
    pub async fn enrollment_code(
        &self,
        user: String,
        limits: Option<Vec<UserLimits>>,
        link: Option<String>,
    ) -> Result<EnrollmentCode, GatewayError> {
        let body = written(&DeviceCodeBody { user, limits: bodies(limits), link });
        shown(self.write(false, line("enrollment_code", &[], &body)).await).map(EnrollmentCode::drawn)
    }

    /// Returns an end user, by your own name for them.
    ///
    /// # Errors
    /// `Refused` with code `user_not_found`; `Storage`.
    pub async fn user(&self, user: String) -> Result<User, GatewayError> {
        shown(self.read(line("user", &[("user", &user)], "")).await)
    }

    /// Adds or changes an end user: what is absent stays as it is. The devices of a blocked user are refused.
    ///
    /// # Errors
    /// `Invalid`, `Refused`, `Storage`.
    #[uniffi::method(default(limits = None, status = None))]
    pub async fn put_user(&self, user: String, limits: Option<Vec<UserLimits>>, status: Option<UserStatus>) -> Result<User, GatewayError> {
        let body = written(&UserBody { limits: bodies(limits), status: UserStatus::text(status) });
        shown(self.write(true, line("put_user", &[("user", &user)], &body)).await)
    }

    /// Enrols a device with a code. It needs no key: a sandbox verifies no signature.
    ///
    /// # Errors
    /// `Invalid`; `Refused`, such as `device_code_invalid`; `Storage`.
    #[uniffi::method(default(app_version = None, model = None, name = None))]
    pub async fn enroll_device(
        &self,
        code: String,
        platform: String,
        app_version: Option<String>,
        model: Option<String>,
        name: Option<String>,
    ) -> Result<Device, GatewayError> {
        let body = written(&Enrolling { code, platform, app_version, model, name });
        shown(self.write(false, line("enroll_device", &[], &body)).await)
    }

    /// Returns the devices of an end user, oldest first.
    ///
    /// # Errors
    /// `Refused` with code `user_not_found`; `Storage`.
    pub async fn devices(&self, user: String) -> Result<Vec<Device>, GatewayError> {
        shown(self.read(line("devices", &[("user", &user)], "")).await).map(|page: Data<Device>| page.data)
    }

    /// Gives a device another name.
    ///
    /// # Errors
    /// `Invalid`; `Refused` with code `device_not_found`; `Storage`.
    pub async fn rename_device(&self, device: String, name: String) -> Result<Device, GatewayError> {
        let body = written(&railgate::api::DeviceBody { name });
        shown(self.write(true, line("rename_device", &[("id", &device)], &body)).await)
    }

    /// Revokes a device: nothing more is done on it.
    ///
    /// # Errors
    /// `Refused` with code `device_not_found`; `Storage`.
    pub async fn revoke_device(&self, device: String) -> Result<Device, GatewayError> {
        shown(self.write(true, line("revoke_device", &[("id", &device)], "")).await)
    }

    /// Returns a device of an end user, on which this user pays, approves and declines.
    ///
    /// # Errors
    /// None.
    pub fn on_device(self: Arc<Self>, device: String) -> Result<Arc<SandboxDevice>, GatewayError> {
        Ok(Arc::new(SandboxDevice { gateway: self, id: device }))
    }
}

/// A device of an end user of the sandbox. Whatever is called here, the user does: they make and see their own payments.
///
/// Every call fails with `Refused` and `device_not_found`, `key_revoked` or `user_blocked` if there is no such device, if it was revoked,
/// or if its user is blocked.
#[derive(uniffi::Object)]
pub struct SandboxDevice {
    gateway: Arc<SandboxGateway>,
    id: String,
}

impl SandboxDevice {
    async fn decide(&self, (id, body): (String, String)) -> Result<Settlement, GatewayError> {
        shown(self.gateway.write(true, line("decide", &[("as", &self.id), ("id", &id)], &body)).await)
    }
}

#[uniffi::export]
impl SandboxDevice {
    /// Creates a settlement that this user pays; one above their `approval_over` waits until they approve it.
    ///
    /// # Errors
    /// As [`SandboxGateway::create`].
    pub async fn create(&self, request: SettlementRequest) -> Result<Settlement, GatewayError> {
        shown(self.gateway.write(true, line("create", &[("as", &self.id)], &request.body())).await)
    }

    /// Returns this user's settlement with this reference or id.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    pub async fn settlement(&self, reference: String) -> Result<Settlement, GatewayError> {
        shown(self.gateway.read(line("get", &[("as", &self.id), ("ref", &reference)], "")).await)
    }

    /// Returns a page of this user's settlements, newest first.
    ///
    /// # Errors
    /// `Invalid`, `Storage`.
    pub async fn settlements(&self, filter: SettlementFilter) -> Result<SettlementPage, GatewayError> {
        shown(self.gateway.read(listing(&[("as", &self.id)], &filter.query()?)).await)
    }

    /// Returns the payments that wait for the user, newest first.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn payment_approvals(&self) -> Result<Vec<Settlement>, GatewayError> {
        shown(self.gateway.read(line("approvals", &[("as", &self.id)], "")).await).map(|page: Data<Settlement>| page.data)
    }

    /// Approves a payment that waits for the user. `shown` is the payment as the app showed it: the gateway pays that or nothing.
    ///
    /// # Errors
    /// `Refused`, such as `approval_decided` if another device was first, with what was decided; `Invalid`, `Storage`.
    #[uniffi::method(default(payee_name = None))]
    pub async fn approve(&self, shown: Settlement, payee_name: Option<String>) -> Result<Settlement, GatewayError> {
        self.decide(decision_body("approve", shown, payee_name, None)).await
    }

    /// Declines a payment that waits for the user: it is cancelled.
    ///
    /// # Errors
    /// As [`SandboxDevice::approve`].
    #[uniffi::method(default(reason = None))]
    pub async fn decline(&self, shown: Settlement, reason: Option<String>) -> Result<Settlement, GatewayError> {
        self.decide(decision_body("decline", shown, None, reason)).await
    }
}
