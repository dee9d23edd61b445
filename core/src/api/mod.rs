//! The types that cross a binding or the wire: commands in, results and views out, and the work of a host.
//!
//! A client of the HTTP interface writes a body and reads a view or a problem. Amounts keep their digits both ways:
//!
//! ```
//! use railgate::ErrorCode;
//! use railgate::api::{AmountInput, BalanceView, CreateBody, Problem};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let body = CreateBody {
//!     amount: AmountInput::typed("10.50"),
//!     currency: "EUR".to_owned(),
//!     to: "sim:ok".to_owned(),
//!     reference: "inv-1".to_owned(),
//!     ..CreateBody::default()
//! };
//! assert_eq!(serde_json::to_string(&body)?, r#"{"amount":10.50,"currency":"EUR","to":"sim:ok","reference":"inv-1"}"#);
//!
//! # let gateway = railgate::Gateway::open_with(
//! #     std::sync::Arc::new(railgate::store::memory::MemoryStore::new()),
//! #     std::sync::Arc::new(railgate::env::ManualEnv::new(1_795_257_497_042, 1)),
//! #     railgate::Config::sandbox(),
//! # )?;
//! # let enrolled = gateway.enroll("Shop")?;
//! # let answer = serde_json::to_string(&gateway.client(&enrolled).balance("EUR")?)?;
//! let balance: BalanceView = serde_json::from_str(&answer)?;
//! assert_eq!(balance.available.as_str(), "1000000.00");
//!
//! # let answer = railgate::Error::new(ErrorCode::InsufficientFunds).problem_json();
//! let problem: Problem = serde_json::from_str(&answer)?;
//! assert_eq!(ErrorCode::parse(&problem.code), Some(ErrorCode::InsufficientFunds));
//! assert!(!problem.retryable);
//! # Ok(())
//! # }
//! ```

mod answer;
#[cfg(feature = "bundles")]
mod bundle;
mod caller;
mod mobile;
#[cfg(feature = "push-client")]
mod notification;
mod operator;
mod place;
mod provider;
mod quality;
mod reconcile;
mod request;
mod review;
mod simulator;
mod task;
mod terms;
mod view;
mod webhook;

pub use crate::error::{FieldProblem, Problem};
pub use crate::lifecycle::{ReversalStatus, SettlementStatus};
pub use crate::receipt::ReceiptView;
pub use crate::validate::{CreateRequest, ReverseRequest};
pub use answer::{CreateAnswer, ReverseAnswer};
#[cfg(feature = "bundles")]
pub use bundle::*;
pub use caller::{Caller, Credential, Enrolled, IdempotencyKey, IssuedSession, IssuedToken, SignedBy, Subject, Target};
pub use mobile::*;
#[cfg(feature = "push-client")]
pub use notification::*;
pub use operator::*;
pub use place::{ClientPlaceView, PlaceState};
pub use provider::*;
pub use quality::*;
pub use reconcile::*;
pub use request::*;
pub use review::*;
pub use simulator::*;
pub use task::{Action, Lease, RailCall, Work};
pub use terms::*;
pub use view::*;
pub use webhook::*;
