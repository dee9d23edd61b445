//! The outbox: due tasks are leased, the host carries them to a rail, and their answers are applied.

mod age;
mod answer;
mod callback;
mod exchange;
mod inside;
mod lease;
mod rail;
mod release;
mod tokens;
mod work;

pub(crate) use age::Ages;
pub use answer::ReportAnswer;
pub(crate) use answer::{Said, describe, payment, refusal};
pub use callback::Reported;
pub use exchange::{Exchange, Heartbeat, PayeeQuestion, Question, Step};
pub use inside::Receive;
pub(crate) use inside::entry_of;
pub use lease::{CALLS_AT_ONCE, LeaseTasks};
pub use release::{Recover, Release};
pub(crate) use tokens::Tokens;
pub use work::Round;
