//! railgate: one settlement engine, four hosts.
//!
//! The engine decides; a host (server, phone, browser, test) carries out what it decided. The engine is synchronous,
//! does no I/O of its own, reads no clock and draws no randomness: [`store::Store`] and [`env::Env`] are its only
//! doors. Every outside effect is an outbox row written in the same commit as the state that caused it; a host leases
//! the row, does the I/O and reports the answer back.

pub mod api;
pub mod auth;
pub mod client;
pub mod engine;
pub mod env;
pub mod error;
pub mod ids;
pub mod ledger;
pub mod lifecycle;
pub mod limit;
pub mod log;
pub mod money;
pub mod participant;
pub mod rail;
pub mod receipt;
pub mod route;
#[cfg(feature = "sandbox")]
pub mod sandbox;
pub mod seal;
pub mod store;
pub mod time;
pub mod trail;
pub mod validate;
pub mod webhook;

pub use engine::{Config, Engine};
pub use error::{Error, ErrorCode, Result};
