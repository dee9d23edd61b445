//! Devices of end users.

use crate::api::{Caller, DeviceView, IssuedToken};
use crate::auth::{PublicKey, Scope, ScopeSet};
use crate::engine::Engine;
use crate::engine::access::revoked;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::engine::once::Answers;
use crate::error::{Error, ErrorCode, Result};
#[cfg(feature = "sandbox")]
use crate::ids::KeyNo;
use crate::ids::{Ulid, UserNo};
#[cfg(feature = "push")]
use crate::store::record::NotificationKind;
use crate::store::record::{AuditAction, ClientRecord, DeviceAttestation, DeviceRecord, Key, KeyRecord, KeyStatus, UserRecord, Version};
use crate::store::{Unique, typed};

use super::{require_active, user};

/// How many devices of one user may be enrolled at a time.
const MOST: usize = 20;

/// Enrols a device with the code that its client made.
#[derive(Clone)]
pub struct EnrollDevice {
    /// The code, as somebody typed it.
    pub code: String,
    /// The device's key, which signed the call.
    pub key: PublicKey,
    /// The platform, as the app names it.
    pub platform: String,
    /// The version of the app.
    pub app_version: Option<String>,
    /// The model of the device.
    pub model: Option<String>,
    /// What its owner calls it.
    pub label: Option<String>,
    /// What its maker says about its key, as far as the host could verify it.
    pub attestation: Option<DeviceAttestation>,
}

impl std::fmt::Debug for EnrollDevice {
    /// Omits the code.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnrollDevice").field("key", &self.key).field("platform", &self.platform).finish_non_exhaustive()
    }
}

/// A device that enrolled.
#[derive(Debug, Clone)]
pub struct NewDevice {
    /// The device.
    pub device: DeviceRecord,
    /// Its user.
    pub user: UserRecord,
    /// The id of the user's client.
    pub client_id: Ulid,
    /// Its key.
    pub key: KeyRecord,
    /// Its first access token.
    pub token: IssuedToken,
}

impl EnrollDevice {
    /// Enrols the device with its key, and makes its `token`.
    fn enrol<T>(
        &self,
        d: &mut Decision<'_, '_>,
        token: impl FnOnce(&mut Decision<'_, '_>, &KeyRecord) -> T,
    ) -> Result<(DeviceRecord, UserRecord, Ulid, KeyRecord, T)> {
        if d.overlay.find::<KeyRecord>(&Unique::KeyId(self.key.id()))?.is_some() {
            // The response to the same call may have been lost: that is told apart from a wrong code.
            return Err(Error::with(ErrorCode::KeyExists, "the key is already enrolled: get a token with it at /api/v1/auth/tokens"));
        }
        let no = d.engine.use_code(d, &self.code)?;
        let user = user(d.overlay, no)?;
        require_active(&user)?;
        let client: Option<ClientRecord> = d.overlay.get(&Key::Client(user.client))?;
        let client = client.filter(|client| !client.suspended).ok_or_else(|| Error::new(ErrorCode::ClientSuspended))?;
        let in_use = d.engine.keys_of(d.overlay, no.party())?.iter().filter(|key| key.status == KeyStatus::Active).count();
        if in_use >= MOST {
            return Err(Error::with(ErrorCode::InvalidState, format!("the user has {MOST} devices: revoke one that is no longer used")));
        }
        let party = Caller::client(no.party(), client.id, user.mode);
        let key = d.engine.new_key(d.overlay, d.writer, &party, &self.key, ScopeSet::NONE.with(Scope::Mobile))?;
        d.overlay.insert(key.clone());
        let token = token(d, &key);
        let device = DeviceRecord {
            no: key.no,
            id: d.engine.fresh_ulid(d.overlay.now),
            user: no,
            label: self.label.clone(),
            platform: self.platform.clone(),
            app_version: self.app_version.clone(),
            model: self.model.clone(),
            attestation: self.attestation.clone(),
            created_at: d.overlay.now,
            revoked_at: None,
            version: Version::default().next(),
        };
        d.overlay.insert(device.clone());
        #[cfg(feature = "push")]
        d.engine.tell_of_device(d.overlay, d.writer, NotificationKind::DeviceEnrolled, &device)?;
        Ok((device, user, client.id, key, token))
    }
}

impl Command for EnrollDevice {
    type Output = NewDevice;

    /// The second attempt fails: the code is used up.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<NewDevice> {
        let (device, user, client_id, key, token) = self.enrol(d, |d, key| d.engine.write_token(d.overlay, key, key.scopes, None))?;
        Ok(NewDevice { device, user, client_id, key, token })
    }

    fn deed(&self, done: Option<&NewDevice>) -> Option<Deed> {
        let deed = Deed::new(AuditAction::EnrollDevice);
        Some(match done {
            Some(new) => deed.name(public(&new.device)).of(new.user.client, new.key.no),
            None => deed.name(self.key.id().to_string()),
        })
    }
}

/// [`EnrollDevice`] for a [`crate::sandbox`], in which nobody needs a token.
#[cfg(feature = "sandbox")]
#[derive(Debug, Clone)]
pub(crate) struct EnrollDeviceAlone(pub(crate) EnrollDevice);

#[cfg(feature = "sandbox")]
impl Command for EnrollDeviceAlone {
    type Output = DeviceRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<DeviceRecord> {
        self.0.enrol(d, |_, _| ()).map(|(device, ..)| device)
    }
}

/// Gives a device another name. Returns the device as changed.
#[derive(Debug, Clone)]
pub struct RenameDevice {
    /// The client, or the user on a device.
    pub caller: Caller,
    /// The device's id.
    pub device: Ulid,
    /// 1 to 100 printable characters.
    pub label: String,
}

impl Command for RenameDevice {
    type Output = DeviceRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<DeviceRecord> {
        let device = own(d.overlay, &self.caller, self.device)?;
        let read = device.version;
        let device = DeviceRecord { label: Some(self.label.clone()), version: read.next(), ..device };
        d.overlay.update(device.clone(), read);
        Ok(device)
    }

    fn deed(&self, _: Option<&DeviceRecord>) -> Option<Deed> {
        Some(Deed::new(AuditAction::RenameDevice).name(format!("dev_{}", self.device)))
    }
}

impl Answers for RenameDevice {
    type View = DeviceView;

    fn view(&self, d: &Decision<'_, '_>, device: &DeviceRecord) -> Result<DeviceView> {
        d.engine.device_view(d.overlay, device)
    }
}

/// Revokes a device, with its key and tokens. Returns the device as changed.
#[derive(Debug, Clone)]
pub struct RevokeDevice {
    /// The client, or the user on a device.
    pub caller: Caller,
    /// The device's id.
    pub device: Ulid,
}

impl Command for RevokeDevice {
    type Output = DeviceRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<DeviceRecord> {
        let device = own(d.overlay, &self.caller, self.device)?;
        if device.revoked_at.is_some() {
            return Ok(device);
        }
        let key: Option<KeyRecord> = d.overlay.get(&Key::Key(device.no))?;
        revoked(d.overlay, key.ok_or_else(|| Error::internal("a device's key is missing"))?);
        let read = device.version;
        let device = DeviceRecord { revoked_at: Some(d.overlay.now), version: read.next(), ..device };
        d.overlay.update(device.clone(), read);
        #[cfg(feature = "push")]
        d.engine.tell_of_device(d.overlay, d.writer, NotificationKind::DeviceRevoked, &device)?;
        Ok(device)
    }

    fn deed(&self, _: Option<&DeviceRecord>) -> Option<Deed> {
        Some(Deed::new(AuditAction::RevokeDevice).name(format!("dev_{}", self.device)))
    }
}

/// A device that the caller may see: of the user on one of their devices, or of any user of the client.
fn own(overlay: &Overlay<'_>, caller: &Caller, id: Ulid) -> Result<DeviceRecord> {
    let not_found = || Error::new(ErrorCode::DeviceNotFound);
    let device: DeviceRecord = overlay.find(&Unique::DeviceId(id))?.ok_or_else(not_found)?;
    let owner = user(overlay, device.user)?;
    may_see(caller, &owner).then_some(device).ok_or_else(not_found)
}

/// Whether the caller is this user or their client.
pub(super) fn may_see(caller: &Caller, owner: &UserRecord) -> bool {
    match caller.user {
        Some(no) => no == owner.no,
        None => owner.client == caller.client && caller.sees(owner.mode),
    }
}

/// A device's id on the wire.
pub(super) fn public(device: &DeviceRecord) -> String {
    format!("dev_{}", device.id)
}

impl Engine {
    /// The end user of a client on a device of theirs, and the number of its key.
    ///
    /// # Errors
    /// `device_not_found`, `key_revoked`, `user_blocked`.
    #[cfg(feature = "sandbox")]
    pub(crate) fn user_on_device(&self, client: &Caller, id: Ulid) -> Result<(UserNo, KeyNo)> {
        let overlay = Overlay::new(&*self.store, self.now());
        let device = own(&overlay, client, id)?;
        if device.revoked_at.is_some() {
            return Err(Error::new(ErrorCode::KeyRevoked));
        }
        require_active(&user(&overlay, device.user)?)?;
        Ok((device.user, device.no))
    }

    /// The end user whose device signs with this key, and the id of their client.
    ///
    /// # Errors
    /// `user_blocked`, `client_suspended`.
    pub(crate) fn signing_user(&self, no: UserNo) -> Result<(UserRecord, Ulid)> {
        let user: Option<UserRecord> = typed(self.store.get(&Key::User(no))?)?;
        let user = user.ok_or_else(|| Error::internal("a key's user is missing"))?;
        require_active(&user)?;
        let client: Option<ClientRecord> = typed(self.store.get(&Key::Client(user.client))?)?;
        let client = client.ok_or_else(|| Error::internal("a user's client is missing"))?;
        if client.suspended { Err(Error::new(ErrorCode::ClientSuspended)) } else { Ok((user, client.id)) }
    }
}
