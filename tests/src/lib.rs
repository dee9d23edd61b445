//! Drivers for tests and benchmarks that span crates: the real binary as a child process, a plain HTTP client, and
//! presigned calls.

pub mod bare;
pub mod binary;
pub mod client;
pub mod disk;
pub mod figures;
pub mod fuzz;
pub mod interop;
pub mod kept;
pub mod key;
pub mod load;
pub mod nodes;
pub mod npm;
pub mod operators;
pub mod patience;
pub mod patroni;
pub mod pgbouncer;
pub mod place;
pub mod port;
pub mod postgres;
pub mod presigned;
pub mod push;
pub mod receiver;
pub mod rest;
pub mod skipped;
pub mod stage;
pub mod stream;
pub mod subscriber;
pub mod supervised;
pub mod web;

/// Runs the README's Rust examples.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// Runs the Rust examples of the page about webhooks.
#[cfg(doctest)]
#[doc = include_str!("../../docs/webhooks.md")]
struct Webhooks;

/// Compiles the Rust example of the page about PostgreSQL.
#[cfg(doctest)]
#[doc = include_str!("../../docs/postgresql.md")]
struct Postgresql;

/// Runs the Rust example of the page about embedding.
#[cfg(doctest)]
#[doc = include_str!("../../docs/start/embedding-in-rust.md")]
struct Embedding;
