//! The outbox: what is due is leased, carried to a rail by the host, and its answer taken in.

mod answer;
mod free;
mod lease;
mod simulate;
mod work;

pub use answer::Answer;
pub(crate) use answer::{INQUIRIES, actor_of, describe, refusal};
pub use free::{Recover, Release};
pub use lease::LeaseTasks;
pub use simulate::Simulate;
