//! The tests of the engine: one program, so that what they share is compiled once. `mutations` is another, because it switches faults on
//! for its whole process.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod auth_roundtrip;
mod auth_vectors;
mod books;
mod bundles;
mod cells;
mod checks;
mod clocks;
mod commands;
mod copy;
mod creates;
mod epochs;
mod exchanges;
mod fairness;
mod golden;
mod health;
mod interleavings;
mod isolation;
mod journal;
mod lifecycle_table;
mod limits;
mod lists;
mod log;
mod mobile;
mod movements;
mod node_records;
mod nodes;
mod notifications;
mod once;
mod operators;
mod power;
mod quality;
mod rail_pages;
mod rails;
mod rails_adapter;
mod rails_gsma;
mod rails_mojaloop;
mod reads;
mod receipts;
mod reconcile;
mod refunds;
mod reviews;
mod room;
mod rules;
mod sandbox_scenarios;
mod scenarios;
mod setup;
mod simulation;
mod simulator;
mod statement;
mod statement_repair;
mod statements;
mod stores;
mod tidy;
mod together;
mod trees;
mod verify;
mod webhooks;
mod wire;

// What they share, and other crates' tests too.
#[path = "support/adapter_says.rs"]
mod adapter_says;
#[path = "support/plain_rail.rs"]
mod plain_rail;
#[path = "support/scripted.rs"]
mod scripted;
mod support;
