//! railgate for phones, the JVM and Python: one interface in Kotlin, Swift and Python.
//!
//! - [`GatewayClient`] calls a gateway: the app provides the connection as [`HttpTransport`] and the device's key as
//!   [`Signer`]; the key stays where it is. Calls are asynchronous and do not block.
//! - [`SandboxGateway`] is a complete gateway on the device, with play money: the engine over SQLite, without network.
//! - [`Outbox`] stores settlements that are created without network and sends each once.
//! - [`verify_receipt`] and [`WebhookVerifier`] verify receipts and webhooks offline; [`validate_settlement`] checks a
//!   request while it is typed.
//!
//! The crate `railgate` makes all decisions; this crate adapts it to the languages.

uniffi::setup_scaffolding!("railgate");

mod account;
mod beside;
mod client;
mod disk;
mod error;
mod feed;
mod fields;
mod filter;
mod follow;
mod host;
mod keys;
mod link;
mod live;
mod measured;
mod mirror;
mod mobile;
mod names;
mod notifications;
mod outbox;
mod push;
mod quality;
mod raw;
mod request;
mod sandbox;
mod sandbox_line;
mod sandbox_users;
mod signing;
mod simulator;
mod values;
mod verify;
mod views;
mod webhooks;
mod writes;

pub use client::{Enrollment, Environment, GatewayClient};
pub use error::{FieldProblem, GatewayError, Problem, payer_message};
pub use feed::FeedFollower;
pub use filter::{SettlementFilter, SettlementPage, StatementFilter, StatementPage};
pub use follow::StatusFollower;
pub use host::{HttpHeader, HttpRequest, HttpResponse, HttpTransport, Signer, SignerError, TransportError};
pub use measured::QualityOptions;
pub use mobile::{Attestation, Device, DeviceAttestation, DeviceEnrollment, EnrollmentCode, User, UserLimits};
pub use names::*;
pub use notifications::*;
pub use outbox::{Outbox, OutboxEntry, OutboxState, OutboxWatcher, open_outbox};
pub use push::{PushKeys, PushMessage};
pub use quality::*;
pub use raw::{ExportForm, ReceiptForm};
pub use request::{BatchResult, ReversalRequest, SettlementRequest, validate_settlement};
pub use sandbox::{SandboxFaults, SandboxGateway, SandboxOptions, SandboxWork, open_sandbox};
pub use sandbox_users::SandboxDevice;
pub use signing::SoftwareSigner;
pub use values::{Decimal, Instant, Json};
pub use verify::{WebhookMessage, WebhookVerifier, verify_receipt};
pub use views::*;
pub use webhooks::*;

#[cfg(test)]
mod tests;
