//! railgate on phones and in Python: one interface in Kotlin, Swift and Python.
//!
//! - [`GatewayClient`] talks to a gateway: the app brings the connection as [`HttpTransport`] and the device's key as
//!   [`Signer`]; the key stays where it is. Calls are asynchronous, and nothing here blocks.
//! - [`SandboxGateway`] is a whole gateway on the device, with play money: the engine over SQLite, and no network.
//! - [`Outbox`] keeps settlements that are created without network and sends each once.
//! - [`verify_receipt`] and [`WebhookVerifier`] check what came from a gateway, offline; [`validate_settlement`] checks a
//!   request while it is typed.
//!
//! The crate `railgate` decides everything; this crate adapts it to the languages.

uniffi::setup_scaffolding!("railgate");

mod client;
mod error;
mod follow;
mod host;
mod keys;
mod link;
mod mirror;
mod names;
mod outbox;
mod request;
mod sandbox;
mod signing;
mod values;
mod verify;
mod views;

pub use client::{Enrollment, Environment, GatewayClient, SettlementFilter, SettlementPage};
pub use error::{FieldProblem, GatewayError, Problem};
pub use follow::StatusFollower;
pub use host::{HttpHeader, HttpRequest, HttpResponse, HttpTransport, Signer, SignerError, TransportError};
pub use names::*;
pub use outbox::{Outbox, OutboxEntry, OutboxState, OutboxWatcher, open_outbox};
pub use request::{ReversalRequest, SettlementRequest, validate_settlement};
pub use sandbox::{SandboxGateway, SandboxOptions, SandboxWatcher, SandboxWork, open_sandbox};
pub use signing::SoftwareSigner;
pub use values::{Decimal, Instant, Json};
pub use verify::{WebhookMessage, WebhookVerifier, verify_receipt};
pub use views::*;

#[cfg(test)]
mod tests;
