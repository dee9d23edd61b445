//! The types that cross a binding or the wire: commands in, outcomes and views out, and the work a host carries.

mod command;
mod request;
mod task;
mod view;
mod webhook;

pub use crate::error::{FieldProblem, Problem};
pub use crate::receipt::ReceiptView;
pub use command::{Caller, Command, Credential, Enrolled, IdempotencyKey, IssuedToken, Operation, Outcome, SignedBy, Subject, Target};
pub use request::*;
pub use task::{Action, Call, Lease, Work};
pub use view::*;
pub use webhook::*;
