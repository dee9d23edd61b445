//! railgate in the browser: the modules inside the npm package `railgate`, a thin boundary around the same code
//! that the server, its command line and phones run.
//!
//! Each feature is a module that is built by itself, so that a page loads only what it uses: `receipt`,
//! `webhook`, `forms`, `qr`, `client` (signing calls), `gateway` (the sandbox) and `sheet` (its receipts for people). Values cross the boundary as JSON text, so
//! that unknown fields are refused and amounts stay exact, or as bytes; times are milliseconds since the Unix epoch. Every
//! argument is checked before it is used: a wrong one throws, and breaks nothing.
//!
//! Whatever throws, throws an `Error` whose message is a problem as the HTTP interface has them: a JSON object with `code`,
//! `status`, `title`, `detail`, `category`, `retryable` and, where single things are wrong, `errors`.
//!
//! On other targets all of it compiles, so that it can be checked, but none of it works.

mod boundary;

#[cfg(any(feature = "client", not(target_family = "wasm")))]
pub mod client;
#[cfg(any(feature = "forms", not(target_family = "wasm")))]
pub mod forms;
#[cfg(any(feature = "gateway", not(target_family = "wasm")))]
pub mod gateway;
#[cfg(any(feature = "qr", not(target_family = "wasm")))]
pub mod qr;
#[cfg(any(feature = "receipt", not(target_family = "wasm")))]
pub mod receipt;
#[cfg(any(feature = "sheet", not(target_family = "wasm")))]
pub mod sheet;
#[cfg(any(feature = "webhook", not(target_family = "wasm")))]
pub mod webhook;
