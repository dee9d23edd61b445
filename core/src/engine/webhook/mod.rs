//! Webhooks: endpoints as their owners change and see them, and the deliveries owed to them.

mod delivery;
mod endpoint;
mod message;
mod queue;
mod read;
mod replay;

pub use endpoint::{ChangedWebhook, CreateWebhook, DeleteWebhook, EnableWebhook, MOST_WEBHOOKS, RotateWebhookSecret, UpdateWebhook};
pub(crate) use endpoint::{place as secret_place, used_mark};
pub use queue::{Delivered, LeaseQueues, Tallied};
pub use read::MOST_WAITING;
pub use replay::{Redeliver, Replay, Replayed, TestWebhook, Tested};
