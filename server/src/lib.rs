//! railgate as a service: the engine behind an HTTP interface, its worker and figures; and the command line.
//!
//! A host that has its own command line takes the crate without its default features and calls [`start_with`]:
//!
//! | feature | what it adds |
//! |---|---|
//! | `cli` | the binary `railgate`: its commands, settings and log |
//! | `pdf` | receipts as PDF, with the fonts for them |
//!
//! | to change … | look at |
//! |---|---|
//! | a route | [`http`]: one file a family; a handler and its name in the `routes!` of its file; see `http/route.rs` |
//! | what happens around every request | `http/middleware.rs` |
//! | TLS, CORS, rate limits | `http/tls.rs`, `http/cors.rs`, `http/limit.rs`; their settings in [`config`] |
//! | how commands reach the engine | [`gateway`] |
//! | how the outbox is carried | [`worker`], [`carrier`] |
//! | how webhooks are delivered | [`deliver`] |
//! | how loops in the background wait after a fault and begin again after a panic | `background.rs` |
//! | a setting of `railgate serve` | `cli/settings/`; of any host: [`config`], [`Hosted`] |
//! | how strangers' URLs are called | [`outbound`] |
//! | how a receipt looks as PDF | `pdf/` |
//! | the order of start and end | [`service`] |

mod background;
pub mod carrier;
#[cfg(feature = "cli")]
pub mod cli;
pub mod config;
pub mod deliver;
pub mod gateway;
pub mod http;
pub mod master;
pub mod metrics;
mod number;
pub mod outbound;
#[cfg(feature = "pdf")]
pub mod pdf;
pub mod service;
pub mod stop;
#[cfg(feature = "cli")]
pub mod telemetry;
pub mod verify;
pub mod worker;

pub use config::{Edge, RateLimits, TlsFiles};
pub use service::{Hosted, Running, ServeError, start, start_with};
