//! End users of clients: what they may pay, their devices, and payments that wait for them.
//!
//! A user belongs to one client and one mode. Their devices sign calls with keys of their own, under a number that no client has
//! ([`UserNo::party`]), and see and make this user's payments only. A payment above the user's `approval_over` stays `accepted`, with its
//! money on hold and without a task, until [`DecidePayment`] sends it or cancels it, or its time is over.

mod consent;
mod device;
mod read;
mod user;

pub use consent::{DecidePayment, Shown};
#[cfg(feature = "sandbox")]
pub(crate) use device::EnrollDeviceAlone;
pub use device::{EnrollDevice, NewDevice, RenameDevice, RevokeDevice};
pub use user::{APP_LINK, DEVICE_CODE_TTL_MS, MadeCode, MakeDeviceCode, PutUser, device_code};

use crate::api::Caller;
use crate::engine::group::Overlay;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::UserNo;
use crate::ledger::Mode;
use crate::store::Unique;
use crate::store::record::{Key, UserRecord, UserStatus};
use crate::terms::UserLimits;
use crate::validate::CreateRequest;

/// The end user who pays a settlement.
pub(crate) struct Payer {
    pub(crate) no: UserNo,
    /// The client's own name for the user.
    pub(crate) name: String,
    /// What the user may pay in the currency of the payment.
    pub(crate) limits: Option<UserLimits>,
}

/// The user who pays what a caller asks for, if one does.
pub(crate) fn payer(overlay: &Overlay<'_>, caller: &Caller, mode: Mode, request: &CreateRequest) -> Result<Option<Payer>> {
    let user = match (caller.user, &request.user) {
        (None, None) => return Ok(None),
        (Some(no), name) => {
            let user = user(overlay, no)?;
            if name.as_ref().is_some_and(|name| *name != user.name) {
                return Err(nobody());
            }
            if user.mode != mode {
                return Err(Error::with(ErrorCode::ModeMismatch, "the user of this device is of the other mode: leave out sandbox"));
            }
            user
        }
        (None, Some(name)) => {
            let found: Option<UserRecord> = overlay.find(&Unique::UserName(caller.client, mode, name.clone()))?;
            found.ok_or_else(nobody)?
        }
    };
    require_active(&user)?;
    let limits = user.limits.into_iter().find(|limits| limits.currency == request.money.currency());
    Ok(Some(Payer { no: user.no, name: user.name, limits }))
}

fn nobody() -> Error {
    Error::field("/user", "user_not_found", "the client has no user of this name: make a code for a device of theirs first")
}

/// An end user that must exist, because something of theirs does.
fn user(overlay: &Overlay<'_>, no: UserNo) -> Result<UserRecord> {
    overlay.get(&Key::User(no))?.ok_or_else(|| Error::internal("an end user is missing"))
}

pub(crate) fn require_active(user: &UserRecord) -> Result<()> {
    match user.status {
        UserStatus::Active => Ok(()),
        UserStatus::Blocked => Err(Error::new(ErrorCode::UserBlocked)),
    }
}
