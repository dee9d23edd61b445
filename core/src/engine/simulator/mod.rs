//! What a client does with the simulated operator of its own sandbox.

mod advance;
mod faults;
mod reset;

pub use advance::Advance;
pub(crate) use faults::Fault;
pub use faults::SetFaults;
pub use reset::{End, Reset, Restore};
