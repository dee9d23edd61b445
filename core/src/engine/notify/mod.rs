//! Notifications of end users: an inbox, preferences, and push subscriptions.
//!
//! A user is told of what happens to their payments in the commit that numbers the events ([`super::NumberEvents`]), as webhooks are: the
//! notification and the deliveries to the user's push subscriptions are in that commit, once for each event. A payment without a user costs
//! nothing. What happens to the user's devices is told in the commit of the change itself.
//!
//! A push subscription is an endpoint like that of a webhook, owned by the user ([`crate::ids::UserNo::party`]): it has the same queue,
//! leases, retries and guard.

mod inbox;
mod preferences;
mod subscription;
mod tell;

pub(crate) use inbox::stale_notifications;
pub use inbox::{Inbox, InboxEntry, MarkAllRead, MarkRead, NOTIFICATIONS_KEPT};
pub use preferences::PutPreferences;
pub use subscription::{MOST_SUBSCRIPTIONS, RemoveSubscription, Subscribe};

use crate::api::Caller;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::UserNo;

/// The end user who calls on a device.
fn caller_user(caller: &Caller) -> Result<UserNo> {
    caller.user.ok_or_else(|| Error::with(ErrorCode::InsufficientScope, "only a device of an end user has notifications"))
}
