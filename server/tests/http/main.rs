//! The HTTP interface: every route, every problem, hostile callers, many callers at once, and a graceful shutdown.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod between_clients;
mod bundles;
mod connections;
mod cors;
mod day;
mod deprecated;
mod document;
mod feed;
mod follow;
mod hostile;
mod injection;
mod inside;
mod keyed;
mod limits;
mod mobile;
mod notifications;
mod operators;
mod partner;
#[path = "../../../core/tests/support/plain_rail.rs"]
mod plain_rail;
mod problems;
mod quality;
mod races;
mod rails;
mod receipts;
mod reconciliations;
mod routes;
mod scenarios;
mod sessions;
mod shapes;
mod shutdown;
mod signed;
mod simulator;
mod sites;
mod smuggling;
mod story;
mod strangers;
mod support;
mod tenants;
mod trees;
mod webhooks;
