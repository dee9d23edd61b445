//! Drivers of the tests and benches that cross crates: the real binary as a child process, and a plain HTTP client.

pub mod binary;
pub mod client;

/// The README's Rust runs as it is printed.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
