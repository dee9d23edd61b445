//! Settlements: creating and reading them.

mod change;
mod check;
mod create;
mod expire;
mod list;
mod quote;
mod read;
mod receipt;
mod reconcile;

pub(crate) use change::{Change, Note};
pub use check::Preflight;
pub use create::{Create, Created};
pub use expire::{Expire, Expired};
pub use list::{ListRequest, PARAMETERS_MAX};
pub(crate) use list::{cursor_of, id_of};
pub(crate) use read::as_problems;
pub(crate) use receipt::OpenedReceiptKey;
pub use reconcile::{Inquiries, NoteCheck};
