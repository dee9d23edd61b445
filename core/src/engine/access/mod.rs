//! Access: clients, their keys and tokens, what an operator does to them, and the gateway's own secrets.

mod credential;
mod enroll;
mod expire;
mod invite;
mod keys;
mod operator;
mod refusals;
mod secrets;
mod signed;
mod tokens;
mod vault;

pub(crate) use enroll::Census;
#[cfg(feature = "sandbox")]
pub(crate) use enroll::EnrollAlone;
pub(crate) use enroll::named;
pub use enroll::{Enroll, EnrollLive, EnrollStranger};
pub use invite::{Invitation, InvitationId, Invite, WithdrawInvitation};
pub(crate) use keys::revoked;
pub use keys::{AddKey, RevokeKey};
pub use operator::{Approve, Operated, Resume, Revoke, Rotate, Suspend};
pub(crate) use refusals::Refusals;
pub use secrets::ReceiptKey;
pub(crate) use secrets::{no_master, place, webhook_place};
pub use signed::Signed;
pub use tokens::{IssueToken, RevokeToken};
#[cfg(feature = "sandbox")]
pub(crate) use vault::Plain;
pub(crate) use vault::Vault;
