//! railgate: a settlement gateway that a program embeds.
//!
//! One engine validates, routes, traces, reverses and receipts payment transfers across payment rails, and hides the operators
//! behind one interface. This crate is the engine; a server, phones, browsers and tests are hosts of it.
//!
//! # A payment, from a file to a receipt
//!
//! The program below keeps its money in a SQLite file. It runs as it is printed, with simulated operators.
//!
#![cfg_attr(all(feature = "sqlite", feature = "system"), doc = "```")]
#![cfg_attr(not(all(feature = "sqlite", feature = "system")), doc = "```ignore")]
//! use std::sync::Arc;
//!
//! use railgate::api::{CreateRequest, SettlementStatus};
//! use railgate::seal::MasterKeys;
//! use railgate::store::sqlite::SqliteStore;
//! use railgate::{Config, ErrorCode, Gateway};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("payments.db");
//! # let secret = [7; 32];
//! // Secrets, such as the key that signs receipts, are kept sealed under a master key of yours.
//! let master = Some(Arc::new(MasterKeys::generate(1, secret)));
//! let gateway = Gateway::open(SqliteStore::open(path)?, Config { master, ..Config::sandbox() })?;
//!
//! // Everything belongs to a client, which sees nothing of the others.
//! let enrolled = gateway.enroll("Shop")?;
//! let shop = gateway.client(&enrolled);
//! assert_eq!(shop.balance("EUR")?.available.as_str(), "1000000.00");
//!
//! // Amounts are exact: integers of minor units inside, decimals at the edges, never floats.
//! let made = shop.create(CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?))?;
//! assert_eq!(made.settlement.status, SettlementStatus::Accepted);
//!
//! // Stored, and the money held. It leaves when the host carries what is due.
//! gateway.work()?;
//! let paid = shop.settlement("inv-1")?;
//! assert_eq!(paid.status, SettlementStatus::Completed);
//! assert_eq!(paid.rail_reference.as_deref().map(|it| it.starts_with("SIM-")), Some(true));
//!
//! // The trace says what happened, without gaps; each event holds the hash of the one before.
//! let trace = shop.events("inv-1", 0, 100)?.data;
//! assert_eq!(trace.last().map(|event| event.kind.as_str()), Some("settlement.completed"));
//!
//! // A receipt is a signed text (JWS) that anybody can check offline.
//! let receipt = shop.receipt("inv-1")?;
//! assert_eq!(receipt.jws.split('.').count(), 3);
//!
//! // An error has a stable code, and says where in the request it is.
//! let refused = shop.create_json(r#"{"amount": 1e3, "currency": "EUR", "to": "sim:ok", "reference": "inv-2"}"#);
//! let refused = refused.map(drop).unwrap_err();
//! assert_eq!((refused.code, &*refused.fields[0].pointer), (ErrorCode::InvalidFields, "/amount"));
//! # Ok(())
//! # }
//! ```
//!
//! # What a host does
//!
//! The engine decides; a host carries out what it decided. The engine is synchronous, does no I/O of its own, reads no clock
//! and draws no randomness: [`store::Store`] and [`env::Env`] are its only doors. Every outside effect is an outbox row written
//! in the same commit as the state that caused it; a host leases the row, does the I/O and reports the answer back.
//!
//! | you write | begin with |
//! |---|---|
//! | a program that settles for itself or its customers | [`Gateway`] and [`Client`] |
//! | a host with a queue and workers of its own | [`engine::Engine`] |
//! | an app or a page that plays a gateway offline | `sandbox` (feature `sandbox`) |
//! | a client of somebody else's gateway | [`client::Session`] |
//! | a check of a receipt | [`receipt::verify_receipt`] |
//! | a check of a webhook | [`webhook::verify`] |
//!
//! # Where records live
//!
//! [`store::memory::MemoryStore`] for tests; `store::sqlite` (feature `sqlite`, on by default) for one machine;
//! `store::postgres` (feature `postgres`) for several; `store::journal` (feature `sandbox`) where the host has no database. All
//! of them pass one conformance suite.
//!
//! # Features
//!
//! `sqlite` and `system` (the system's clock and randomness) are on by default; `postgres`, `sandbox`, `openapi` and `testkit`
//! are not. A feature only adds.

pub mod api;
pub mod auth;
pub mod client;
pub mod engine;
pub mod env;
pub mod error;
pub mod gateway;
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
pub mod trace;
pub mod validate;
pub mod webhook;

pub use engine::{Config, Engine};
pub use error::{Error, ErrorCode, Result};
pub use gateway::{Client, Gateway};
