//! railgate as a service: the engine behind an HTTP interface, its worker, its settings, logs and figures; and the
//! command line.
//!
//! | to change … | look at |
//! |---|---|
//! | a route | [`http`]: one file a family; every route stands in `http::all_routes` |
//! | what happens around every request | `http/front.rs` |
//! | TLS, CORS, rate limits | `http/tls.rs`, `http/cors.rs`, `http/limit.rs`; their settings in `config/edge.rs` |
//! | how commands reach the engine | [`gateway`] |
//! | how the outbox is carried | [`worker`] |
//! | how webhooks are delivered | [`deliver`] |
//! | a setting | [`config`] |
//! | how webhooks are delivered | [`deliver`] |
//! | how strangers' URLs are called | [`outbound`] |
//! | how a receipt looks as PDF | [`pdf`] |
//! | the order of start and end | [`running`] |

pub mod cli;
pub mod config;
pub mod deliver;
pub mod gateway;
pub mod http;
pub mod master;
pub mod metrics;
mod number;
pub mod outbound;
pub mod pdf;
pub mod running;
pub mod stop;
pub mod telemetry;
pub mod verify;
pub mod worker;

pub use config::{Edge, RateLimits, TlsFiles};
pub use running::{Hosted, Running, ServeError, serve, start, start_with};
