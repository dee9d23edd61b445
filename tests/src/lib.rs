//! Drivers of the tests and benches that cross crates: the real binary as a child process, a plain HTTP client, and calls
//! that are signed before they are needed.

pub mod binary;
pub mod client;
pub mod interop;
pub mod key;
pub mod presigned;

/// The README's Rust runs as it is printed.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// So does that of the page about webhooks.
#[cfg(doctest)]
#[doc = include_str!("../../docs/webhooks.md")]
struct Webhooks;
