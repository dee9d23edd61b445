//! The end users of the sandbox's client, and their devices: as in a server, but whoever holds the sandbox calls as any of them.

use super::Sandbox;
use crate::api::{Caller, DeviceCodeView, DeviceView, DevicesView, PaymentApprovalsView, SettlementView, UserView, UsersView};
use crate::auth::{P256Key, PublicKey, Signer as _};
use crate::engine::{APP_LINK, DecidePayment, EnrollDeviceAlone, MakeDeviceCode, PutUser, RenameDevice, RevokeDevice};
use crate::env::Env as _;
use crate::error::{Error, ErrorCode, Result};
use crate::gateway::Client;
use crate::ids::{KeyNo, Ulid};
use crate::validate::mobile::{DecisionRequest, is_user, parse_decision, parse_device, parse_device_alone, parse_device_code, parse_user};

impl Sandbox {
    /// Adds or changes an end user, from a JSON body: `{"limits", "status"}`, both optional. What is left out stays as it is.
    ///
    /// # Errors
    /// `user_not_found` if nobody can have this name; `malformed_json`, `invalid_fields`.
    pub fn put_user_json(&self, name: &str, body: &str) -> Result<UserView> {
        if !is_user(name) {
            return Err(Error::new(ErrorCode::UserNotFound));
        }
        let (limits, status) = parse_user(body.as_bytes())?;
        let user = self.engine.run(PutUser { caller: self.caller, name: name.to_owned(), limits, status })?;
        Ok(UserView::from(&user))
    }

    /// A page of the end users after this name, sorted by name.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn users(&self, after: &str, limit: usize) -> Result<UsersView> {
        self.engine.users(&self.caller, after, limit)
    }

    /// The end user of this name.
    ///
    /// # Errors
    /// `user_not_found`.
    pub fn user(&self, name: &str) -> Result<UserView> {
        Ok(UserView::from(&self.engine.user(&self.caller, name)?))
    }

    /// Makes a code for one device of an end user, from a JSON body: `{"user", "limits"?, "link"?}`. It is valid for ten minutes. Adds the
    /// user if there is none. No QR code is drawn.
    ///
    /// # Errors
    /// `user_blocked`; `malformed_json`, `invalid_fields`.
    pub fn device_code_json(&self, body: &str) -> Result<DeviceCodeView> {
        let request = parse_device_code(body.as_bytes())?;
        let link = request.link.unwrap_or_else(|| APP_LINK.to_owned());
        let command = MakeDeviceCode { caller: self.caller, name: request.user, limits: request.limits, link: link.clone() };
        let made = self.engine.run(command)?;
        Ok(made.shown(made.in_link(&link), None))
    }

    /// Enrols a device with such a code, from the JSON body of the HTTP interface. A sandbox verifies no signature: without a `jwk`, the
    /// device gets a key that nobody has. An attestation is not read.
    ///
    /// # Errors
    /// `device_code_invalid`, `key_exists`, `user_blocked`; `malformed_json`, `invalid_fields`.
    pub fn enroll_device_json(&self, body: &str) -> Result<DeviceView> {
        let request = parse_device_alone(body.as_bytes(), || self.key_of_nobody())?;
        let device = self.engine.run(EnrollDeviceAlone(request.command(None)))?;
        self.engine.new_device_view(&device)
    }

    fn key_of_nobody(&self) -> PublicKey {
        let mut secret = [0; 32];
        // A number that is no secret of the curve comes once in 2³² times.
        loop {
            self.env.random(&mut secret);
            if let Some(key) = P256Key::new(&secret) {
                return key.public_key();
            }
        }
    }

    /// The client, for what it does with devices of its users.
    pub fn backend(&self) -> Party<'_> {
        Party { sandbox: self, caller: self.caller }
    }

    /// The end user on their device with this `dev_` id: everything they do there is done as this user.
    ///
    /// # Errors
    /// `device_not_found`; `key_revoked` if the device was revoked; `user_blocked`.
    pub fn on_device(&self, id: &str) -> Result<OnDevice<'_>> {
        let (user, key) = self.engine.user_on_device(&self.caller, device_id(id)?)?;
        Ok(OnDevice { party: Party { sandbox: self, caller: Caller { user: Some(user), ..self.caller } }, key })
    }
}

/// Who manages devices: the client, or an end user.
#[derive(Clone, Copy)]
pub struct Party<'s> {
    sandbox: &'s Sandbox,
    caller: Caller,
}

impl Party<'_> {
    /// The devices of the user, oldest first; the client names one of its users.
    ///
    /// # Errors
    /// `user_not_found`; `invalid_fields` if a client names no user, or a user any.
    pub fn devices(&self, user: Option<&str>) -> Result<DevicesView> {
        self.sandbox.engine.devices(&self.caller, user)
    }

    /// A device of the user, or of one of the client's users.
    ///
    /// # Errors
    /// `device_not_found`.
    pub fn device(&self, id: &str) -> Result<DeviceView> {
        self.sandbox.engine.device(&self.caller, device_id(id)?)
    }

    /// Renames a device, from a JSON body: `{"name"}`.
    ///
    /// # Errors
    /// `device_not_found`; `malformed_json`, `invalid_fields`.
    pub fn rename_device_json(&self, id: &str, body: &str) -> Result<DeviceView> {
        let (device, label) = (device_id(id)?, parse_device(body.as_bytes())?);
        let device = self.sandbox.engine.run(RenameDevice { caller: self.caller, device, label })?;
        self.sandbox.engine.new_device_view(&device)
    }

    /// Revokes a device: it can no longer call.
    ///
    /// # Errors
    /// `device_not_found`.
    pub fn revoke_device(&self, id: &str) -> Result<DeviceView> {
        let device = self.sandbox.engine.run(RevokeDevice { caller: self.caller, device: device_id(id)? })?;
        self.sandbox.engine.new_device_view(&device)
    }
}

/// An end user on one of their devices: [`Sandbox::on_device`].
#[derive(Clone, Copy)]
pub struct OnDevice<'s> {
    party: Party<'s>,
    key: KeyNo,
}

impl<'s> OnDevice<'s> {
    /// The user's own payments: what they make is theirs, and they see no other.
    pub fn client(&self) -> Client<'s> {
        Client::of(&self.party.sandbox.engine, self.party.caller)
    }

    /// The user, for what they do with their devices.
    pub fn party(&self) -> Party<'s> {
        self.party
    }

    /// The payments that wait for the user, newest first.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn approvals(&self) -> Result<PaymentApprovalsView> {
        self.party.sandbox.engine.waiting_payments(&self.party.caller)
    }

    /// A payment that waits for the user or did, by its `stl_` id.
    ///
    /// # Errors
    /// `payment_approval_not_found`.
    pub fn approval(&self, id: &str) -> Result<SettlementView> {
        let (engine, caller) = (&self.party.sandbox.engine, &self.party.caller);
        Ok(engine.view(&engine.payment_approval(caller, payment_id(id)?)?, caller.client_id))
    }

    /// Approves or declines a payment, from a JSON body: `{"decision", "shown", "reason"?}`. An approved one is sent, a declined one is
    /// cancelled.
    ///
    /// # Errors
    /// `payment_approval_not_found`; `approval_decided` if another device was first or its time is over; `malformed_json`,
    /// `invalid_fields`, also if what was shown is not what would be paid.
    pub fn decide_json(&self, id: &str, body: &str) -> Result<SettlementView> {
        let (engine, caller) = (&self.party.sandbox.engine, self.party.caller);
        let settlement = payment_id(id)?;
        let DecisionRequest { approve, shown, reason } = parse_decision(body.as_bytes())?;
        let decided = engine.run(DecidePayment { caller, key: self.key, settlement, approve, shown, reason })?;
        Ok(engine.view(&decided, caller.client_id))
    }
}

fn device_id(text: &str) -> Result<Ulid> {
    public_id(text, "dev_", ErrorCode::DeviceNotFound)
}

fn payment_id(text: &str) -> Result<Ulid> {
    public_id(text, "stl_", ErrorCode::PaymentApprovalNotFound)
}

fn public_id(text: &str, prefix: &str, otherwise: ErrorCode) -> Result<Ulid> {
    text.strip_prefix(prefix).and_then(Ulid::parse).ok_or_else(|| Error::new(otherwise))
}
