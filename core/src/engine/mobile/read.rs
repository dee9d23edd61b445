//! Users, devices and waiting payments as callers see them.

use crate::api::{
    Caller, DecimalNumber, DeviceView, DevicesView, PaymentApprovalView, PaymentApprovalsView, UserLimitsView, UserView, UsersView,
};
use crate::engine::Engine;
use crate::engine::group::Overlay;
use crate::engine::settlement::as_problems;
use crate::error::{Error, ErrorCode, FieldProblem, Result};
use crate::ids::{Ulid, UserNo};
use crate::ledger::Mode;
use crate::lifecycle::SettlementStatus;
use crate::money::Money;
use crate::store::record::{DeviceRecord, Key, KeyRecord, PaymentApproval, SettlementRecord, UserRecord};
use crate::store::{Scan, SettlementFilter, Unique, typed, typed_all};
use crate::terms::{UsageId, UserLimits};
use crate::time::rfc3339;
use crate::trace;
use crate::validate::CreateRequest;

use super::device::{may_see, public};
use super::{Payer, payer, user};

/// The most payments that wait for a user and are listed.
const MOST_WAITING: usize = 200;

impl From<&UserLimits> for UserLimitsView {
    fn from(limits: &UserLimits) -> Self {
        let money = |minor: Option<i64>| minor.map(|minor| DecimalNumber::from(Money::from_minor(minor, limits.currency)));
        Self {
            currency: limits.currency.code().to_owned(),
            max: money(limits.max),
            daily_value: money(limits.daily_value),
            daily_count: limits.daily_count,
            approval_over: money(limits.approval_over),
        }
    }
}

impl From<&UserRecord> for UserView {
    fn from(user: &UserRecord) -> Self {
        Self {
            user: user.name.clone(),
            environment: user.mode,
            status: user.status,
            limits: user.limits.iter().map(UserLimitsView::from).collect(),
            created_at: rfc3339(user.created_at),
            version: user.version.0,
        }
    }
}

impl From<&PaymentApproval> for PaymentApprovalView {
    fn from(approval: &PaymentApproval) -> Self {
        Self { status: approval.status, decided_at: approval.decided_at.map(rfc3339) }
    }
}

impl Engine {
    /// A page of the caller's end users, by name, after this one.
    pub fn users(&self, caller: &Caller, after: &str, limit: usize) -> Result<UsersView> {
        let scan = Scan::users_of(caller.client, caller.mode, after, limit.saturating_add(1));
        let mut found: Vec<UserRecord> = typed_all(self.store.scan(&scan)?)?;
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next_cursor = found.last().filter(|_| has_more).map(|last| last.name.clone());
        Ok(UsersView { data: found.iter().map(UserView::from).collect(), has_more, next_cursor })
    }

    /// One of the caller's end users, by the caller's name for them.
    ///
    /// # Errors
    /// `user_not_found`.
    pub fn user(&self, caller: &Caller, name: &str) -> Result<UserRecord> {
        let found = typed(self.store.find(&Unique::UserName(caller.client, caller.mode, name.to_owned()))?)?;
        found.ok_or_else(|| Error::new(ErrorCode::UserNotFound))
    }

    /// The number of one of the caller's end users; `None` if there is none of this name.
    pub(crate) fn user_number(&self, caller: &Caller, name: &str) -> Result<Option<UserNo>> {
        let unique = Unique::UserName(caller.client, caller.mode, name.to_owned());
        Ok(typed::<UserRecord>(self.store.find(&unique)?)?.map(|user| user.no))
    }

    /// The devices of the caller's user, or of one of the caller's users.
    ///
    /// # Errors
    /// `user_not_found`.
    pub fn devices(&self, caller: &Caller, user: Option<&str>) -> Result<DevicesView> {
        let no = match (caller.user, user) {
            (Some(no), None) => no,
            (None, Some(name)) => self.user(caller, name)?.no,
            (Some(_), Some(_)) => return Err(Error::field("user", "unknown_parameter", "a device sees the devices of its own user")),
            (None, None) => return Err(Error::field("user", "required", "must name one of the client's users")),
        };
        let devices: Vec<DeviceRecord> = typed_all(self.store.scan(&Scan::devices_of(no))?)?;
        let overlay = Overlay::new(&*self.store, self.now());
        Ok(DevicesView { data: devices.iter().map(|device| self.device_view(&overlay, device)).collect::<Result<_>>()? })
    }

    /// A device of the caller's user, or of one of the caller's users.
    ///
    /// # Errors
    /// `device_not_found`.
    pub fn device(&self, caller: &Caller, id: Ulid) -> Result<DeviceView> {
        let not_found = || Error::new(ErrorCode::DeviceNotFound);
        let device: DeviceRecord = typed(self.store.find(&Unique::DeviceId(id))?)?.ok_or_else(not_found)?;
        let overlay = Overlay::new(&*self.store, self.now());
        if !may_see(caller, &user(&overlay, device.user)?) {
            return Err(not_found());
        }
        self.device_view(&overlay, &device)
    }

    /// A device as its user and their client see it.
    pub(crate) fn device_view(&self, overlay: &Overlay<'_>, device: &DeviceRecord) -> Result<DeviceView> {
        let key: Option<KeyRecord> = overlay.get(&Key::Key(device.no))?;
        let key = key.ok_or_else(|| Error::internal("a device's key is missing"))?;
        Ok(DeviceView {
            id: public(device),
            user: user(overlay, device.user)?.name,
            key_id: key.id.to_string(),
            name: device.label.clone(),
            platform: device.platform.clone(),
            app_version: device.app_version.clone(),
            model: device.model.clone(),
            attestation: device.attestation.clone(),
            created_at: rfc3339(device.created_at),
            revoked_at: device.revoked_at.map(rfc3339),
        })
    }

    /// The device of a key that just enrolled.
    pub fn new_device_view(&self, device: &DeviceRecord) -> Result<DeviceView> {
        self.device_view(&Overlay::new(&*self.store, self.now()), device)
    }

    /// The payments that wait for the user who calls, newest first.
    pub fn waiting_payments(&self, caller: &Caller) -> Result<PaymentApprovalsView> {
        let user = Some(own(caller)?);
        let filter = SettlementFilter { status: vec![SettlementStatus::Accepted], user, ..SettlementFilter::default() };
        let found: Vec<SettlementRecord> = typed_all(self.store.scan(&Scan::settlements_of_user(&filter, MOST_WAITING))?)?;
        let waiting = found.iter().filter(|record| record.waits_for_user());
        Ok(PaymentApprovalsView { data: waiting.map(|record| self.view(record, caller.client_id)).collect() })
    }

    /// A payment of the user who calls that needed their approval.
    ///
    /// # Errors
    /// `payment_approval_not_found`.
    pub fn payment_approval(&self, caller: &Caller, id: Ulid) -> Result<SettlementRecord> {
        let user = Some(own(caller)?);
        let found: Option<SettlementRecord> = typed(self.store.get(&Key::Settlement(self.id_key.open(id)))?)?;
        let own = |it: &SettlementRecord| it.user == user && it.approval().is_some() && trace::settlement_ulid(&self.id_key, it) == id;
        found.filter(own).ok_or_else(|| Error::new(ErrorCode::PaymentApprovalNotFound))
    }

    /// Why the user who would pay may not.
    pub(crate) fn user_problems(
        &self,
        overlay: &mut Overlay<'_>,
        caller: &Caller,
        mode: Mode,
        request: &CreateRequest,
    ) -> Result<Vec<FieldProblem>> {
        let limits = match payer(overlay, caller, mode, request) {
            Ok(None) => return Ok(Vec::new()),
            Ok(Some(Payer { no, limits, .. })) => limits.map(|limits| (no, limits.limits(mode))),
            Err(error) if error.code.http_status() < 500 => return Ok(as_problems(&error)),
            Err(error) => return Err(error),
        };
        let Some((no, limits)) = limits else { return Ok(Vec::new()) };
        let now = self.time_of(overlay, (caller.client, mode))?;
        let used = overlay.used(UsageId::new(no.party(), mode, request.money.currency(), now))?;
        let refusals = [limits.accepts(request.money).err(), limits.another(request.money, used).err()];
        Ok(refusals.iter().flatten().flat_map(as_problems).collect())
    }
}

fn own(caller: &Caller) -> Result<UserNo> {
    caller.user.ok_or_else(|| Error::with(ErrorCode::InsufficientScope, "only a device of an end user has payments to approve"))
}
