//! The types that cross a binding or the wire: commands in, results and views out, and the work of a host.

mod answer;
mod caller;
mod request;
mod task;
mod view;
mod webhook;

pub use crate::error::{FieldProblem, Problem};
pub use crate::lifecycle::{ReversalStatus, SettlementStatus};
pub use crate::receipt::ReceiptView;
pub use crate::validate::{CreateRequest, ReverseRequest};
pub use answer::{CreateAnswer, ReverseAnswer};
pub use caller::{Caller, Credential, Enrolled, IdempotencyKey, IssuedToken, SignedBy, Subject, Target};
pub use request::*;
pub use task::{Action, Lease, RailCall, Work};
pub use view::*;
pub use webhook::*;
