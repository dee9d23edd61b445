//! What a client does with the simulated operator of its own sandbox.

mod advance;

pub use advance::Advance;
