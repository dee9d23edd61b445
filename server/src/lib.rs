//! railgate as a service: the engine behind an HTTP interface, its worker and metrics; and the command line.
//!
//! A host with its own command line uses the crate without its default features and calls [`start_with`]:
//!
//! | feature | adds |
//! |---|---|
//! | `cli` | the binary `railgate`: its commands, settings and log |
//! | `console` | the browser sites `/console` and `/docs`, if `scripts/web.sh` has built them |
//! | `pdf` | receipts as PDF, with the fonts for them |
//! | `traces` | spans for a collector, by OpenTelemetry's protocol |
//!
//! | to change … | look at |
//! |---|---|
//! | a route | [`http`]: one file per family; a handler and its name in the `routes!` of its file; see `http/route.rs` |
//! | what happens around every request | `http/middleware.rs` |
//! | TLS, CORS, rate limits | `http/tls.rs`, `http/cors.rs`, `http/limit.rs`; their settings in [`config`] |
//! | which connections are open, and which one makes room | `http/connections.rs`; how many files that takes: `open_files.rs` |
//! | how commands reach the engine | [`gateway`] |
//! | how outbox tasks are sent | [`worker`], [`carrier`] |
//! | how webhooks are delivered | [`deliver`] |
//! | what end users read, by language | `texts/`; what is pushed to them: `push.rs` |
//! | how background loops back off after a fault and restart after a panic | `background.rs` |
//! | a setting of `railgate serve` | `cli/settings/`; of any host: [`config`], [`Hosted`] |
//! | how URLs chosen by strangers are called | [`outbound`] |
//! | how a receipt looks as PDF | `pdf/` |
//! | the order of startup and shutdown | [`service`] |

mod attest;
mod background;
pub mod carrier;
#[cfg(feature = "cli")]
pub mod cli;
pub mod config;
mod conformance;
mod csv;
pub mod deliver;
mod durable;
mod expiring;
mod following;
pub mod gateway;
mod heartbeat;
pub mod http;
pub mod master;
pub mod metrics;
mod number;
mod open_files;
pub mod outbound;
#[cfg(any(test, feature = "pdf", feature = "written-document"))]
mod packed;
#[cfg(feature = "pdf")]
pub mod pdf;
mod push;
mod reconciling;
pub mod service;
mod shares;
pub mod stop;
#[cfg(feature = "cli")]
pub mod telemetry;
mod texts;
pub mod traces;
pub mod verify;
pub mod worker;

pub use config::{Edge, RateLimits, TlsFiles};
pub use service::{Hosted, Running, ServeError, start, start_with};
