//! The outbox: what is due is leased, carried to a rail by the host, and its answer taken in.

mod answer;
mod free;
mod inside;
mod lease;
mod rail;
mod work;

pub use answer::Answer;
pub(crate) use answer::{INQUIRIES, actor_of, describe, refusal};
pub use free::{Recover, Release};
pub use inside::Receive;
pub use lease::LeaseTasks;
