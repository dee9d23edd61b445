//! railgate in the browser: the modules of the npm package `railgate`, a thin boundary around the code
//! that the server, its command line and phones run.
//!
//! Each feature is built as a separate module, so that a page loads only what it uses: `receipt`, `log`, `webhook`, `forms`, `qr`,
//! `client` (signed calls), `gateway` (the sandbox) and `sheet` (its receipts in readable forms). Values cross the boundary as JSON
//! text, so that unknown fields are refused and amounts stay exact, or as bytes; times are milliseconds since the Unix epoch.
//! Every argument is checked before it is used: a wrong one throws and does no damage.
//!
//! Every function that throws, throws an `Error` whose message is a problem as in the HTTP interface: a JSON object with `code`,
//! `status`, `title`, `detail`, `category`, `retryable` and, if fields are invalid, `errors`.
//!
//! On other targets the code compiles, so that it can be checked, but does not work.

mod boundary;

#[cfg(any(feature = "client", not(target_family = "wasm")))]
pub mod client;
#[cfg(any(feature = "forms", not(target_family = "wasm")))]
pub mod forms;
#[cfg(any(feature = "gateway", not(target_family = "wasm")))]
pub mod gateway;
#[cfg(any(feature = "log", not(target_family = "wasm")))]
pub mod log;
#[cfg(any(feature = "qr", not(target_family = "wasm")))]
pub mod qr;
#[cfg(any(feature = "receipt", not(target_family = "wasm")))]
pub mod receipt;
#[cfg(any(feature = "sheet", not(target_family = "wasm")))]
pub mod sheet;
#[cfg(any(feature = "webhook", not(target_family = "wasm")))]
pub mod webhook;
