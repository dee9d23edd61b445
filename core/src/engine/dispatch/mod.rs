//! The outbox: what is due is leased, carried to a rail by the host, and its answer taken in.

mod answer;
mod inside;
mod lease;
mod rail;
mod release;
mod work;

pub use answer::ReportAnswer;
pub(crate) use answer::{INQUIRIES, actor_of, describe, refusal};
pub use inside::Receive;
pub use lease::LeaseTasks;
pub use release::{Recover, Release};
pub use work::Round;
