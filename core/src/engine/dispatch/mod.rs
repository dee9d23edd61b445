//! The outbox: due tasks are leased, the host carries them to a rail, and their answers are applied.

mod age;
mod answer;
mod inside;
mod lease;
mod rail;
mod release;
mod work;

pub(crate) use age::Ages;
pub use answer::ReportAnswer;
pub(crate) use answer::{INQUIRIES, Said, describe, payment, refusal};
pub use inside::Receive;
pub(crate) use inside::entry_of;
pub use lease::LeaseTasks;
pub use release::{Recover, Release};
pub use work::Round;
