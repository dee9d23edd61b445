//! Drivers of the tests and benches that cross crates: the real binary as a child process, a plain HTTP client, and calls
//! that are signed before they are needed.

pub mod bare;
pub mod binary;
pub mod client;
pub mod interop;
pub mod key;
pub mod nodes;
pub mod npm;
pub mod patience;
pub mod port;
pub mod postgres;
pub mod presigned;
pub mod rest;

/// The README's Rust runs as it is printed.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// So does that of the page about webhooks.
#[cfg(doctest)]
#[doc = include_str!("../../docs/webhooks.md")]
struct Webhooks;

/// And that of the page about PostgreSQL is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/postgresql.md")]
struct Postgresql;
