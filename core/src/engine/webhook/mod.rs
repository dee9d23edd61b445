//! Webhooks: endpoints as their owners change and see them, and the deliveries owed to them.

mod delivery;
mod endpoint;
mod message;
mod queue;
mod read;
mod replay;

#[cfg(feature = "push")]
pub(crate) use endpoint::place as endpoint_place;
pub use endpoint::{ChangedWebhook, CreateWebhook, DeleteWebhook, EnableWebhook, MOST_WEBHOOKS, RotateWebhookSecret, UpdateWebhook};
pub(crate) use endpoint::{place as secret_place, used_mark};
#[cfg(feature = "push")]
pub(crate) use message::set_back;
pub use queue::{Delivered, LeaseQueues, Tallied};
pub use read::{DeliveryFilter, MOST_WAITING};
pub use replay::{Redeliver, Replay, Replayed, TestWebhook, Tested};
