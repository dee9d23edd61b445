//! railgate: a settlement gateway that a program embeds.
//!
//! One engine validates, routes, traces, reverses and receipts payment transfers across payment rails, and hides the operators
//! behind one interface. This crate is the engine. Servers, phones, browsers and tests are its hosts.
//!
//! # A payment, from a file to a receipt
//!
//! This program keeps its money in a SQLite file. It runs as printed, with simulated operators.
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
//! // Secrets, such as the key that signs receipts, are sealed under your master key.
//! let master = Some(Arc::new(MasterKeys::generate(1, secret)));
//! let gateway = Gateway::open(SqliteStore::open(path)?, Config { master, ..Config::sandbox() })?;
//!
//! // Everything belongs to a client, and a client sees only its own data.
//! let enrolled = gateway.enroll("Shop")?;
//! let shop = gateway.client(&enrolled);
//! assert_eq!(shop.balance("EUR")?.available.as_str(), "1000000.00");
//!
//! // Amounts are exact: integers of minor units inside, decimals at the edges, never floats.
//! let made = shop.create(CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?))?;
//! assert_eq!(made.settlement.status, SettlementStatus::Accepted);
//!
//! // The settlement is stored and the money is on hold. It leaves when the host works off the due tasks.
//! gateway.work()?;
//! let paid = shop.settlement("inv-1")?;
//! assert_eq!(paid.status, SettlementStatus::Completed);
//! assert_eq!(paid.rail_reference.as_deref().map(|it| it.starts_with("SIM-")), Some(true));
//!
//! // The trace records what happened, without gaps. Each event contains the hash of the previous one.
//! let trace = shop.events("inv-1", 0, 100)?.data;
//! assert_eq!(trace.last().map(|event| event.kind.as_str()), Some("settlement.completed"));
//!
//! // A receipt is a signed text (JWS) that anybody can verify offline.
//! let receipt = shop.receipt("inv-1")?;
//! assert_eq!(receipt.jws.split('.').count(), 3);
//!
//! // An error has a stable code and points at the faulty part of the request.
//! let refused = shop.create_json(r#"{"amount": 1e3, "currency": "EUR", "to": "sim:ok", "reference": "inv-2"}"#);
//! let refused = refused.map(drop).unwrap_err();
//! assert_eq!((refused.code, &*refused.fields[0].pointer), (ErrorCode::InvalidFields, "/amount"));
//! # Ok(())
//! # }
//! ```
//!
//! # What a host does
//!
//! The engine decides, and a host carries out the decisions. The engine is synchronous, does no I/O, reads no clock and draws no
//! randomness: everything passes through [`store::Store`] and [`env::Env`]. Every outside effect is an outbox row written in the
//! same commit as the state change that caused it. A host leases the row, does the I/O and reports the result back.
//!
//! | you write | start with |
//! |---|---|
//! | a program that settles for itself or its customers | [`Gateway`] and [`Client`] |
//! | a host with its own queue and workers | [`engine::Engine`] |
//! | an app or a web page that simulates a gateway offline | `sandbox` (feature `sandbox`) |
//! | a client of somebody else's gateway | [`client::Session`] |
//! | receipt verification | [`receipt::verify_receipt`] |
//! | webhook verification | [`webhook::verify`] |
//!
//! # Stores
//!
//! [`store::memory::MemoryStore`] is for tests, `store::sqlite` (feature `sqlite`, on by default) for one machine,
//! `store::postgres` (feature `postgres`) for several machines, and `store::journal` (feature `sandbox`) for hosts without a
//! database. All of them pass the same conformance suite.
//!
//! # Features
//!
//! `sqlite` and `system` (the system's clock and randomness) are on by default; `postgres`, `reconcile` (statements of providers), `push`
//! (Web Push; `push-client`: what an app needs of it), `bundles`, `sandbox`, `openapi` and `testkit` are not. Features are additive.

#[cfg(feature = "mutations")]
macro_rules! mutated {
    ($which:ident) => {
        $crate::mutation::is_on($crate::mutation::Mutation::$which)
    };
}

/// Whether a commit is answered before a standby has it: by such a fault alone.
#[cfg(feature = "mutations")]
macro_rules! answered_early {
    ($commit:expr) => {
        $crate::mutation::is_answered_early($commit)
    };
}

/// Whether a fault is built in on purpose: only in tests of the simulation, which must find it.
#[cfg(not(feature = "mutations"))]
macro_rules! mutated {
    ($which:ident) => {
        false
    };
}

/// Whether a commit is answered before a standby has it: by such a fault alone.
#[cfg(not(feature = "mutations"))]
macro_rules! answered_early {
    ($commit:expr) => {
        false
    };
}

pub mod api;
pub mod auth;
#[cfg(feature = "bundles")]
pub mod bundle;
pub mod client;
mod clock;
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
#[cfg(feature = "mutations")]
pub mod mutation;
#[cfg(feature = "push")]
pub mod notification;
pub mod participant;
#[cfg(feature = "push-client")]
pub mod push;
pub mod quality;
pub mod rail;
pub mod receipt;
#[cfg(feature = "reconcile")]
pub mod reconcile;
pub mod route;
#[cfg(feature = "sandbox")]
pub mod sandbox;
pub mod seal;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod store;
pub mod terms;
pub mod time;
pub mod trace;
pub mod traceparent;
pub mod validate;
pub mod webhook;

pub use engine::{Config, Engine};
pub use error::{Error, ErrorCode, Result};
pub use gateway::{Client, Gateway};
