//! Reconciliations: a provider's statement is compared with the settlements there, and what differs waits for a person.
//!
//! A host reads the file ([`Engine::read_statement`]), begins a reconciliation ([`BeginReconciliation`]), and has it compared
//! ([`Engine::reconcile_statement`]). That keeps what it finds in small commits ([`KeepReconciled`]), and only its last commit makes the
//! reconciliation count. If a host stops on the way, the next one with the same file clears what there is and makes it again.

#[cfg(feature = "reconcile")]
mod begin;
#[cfg(feature = "reconcile")]
mod compare;
#[cfg(feature = "reconcile")]
mod earlier;
#[cfg(feature = "reconcile")]
mod keep;
mod read;
#[cfg(feature = "reconcile")]
mod run;

#[cfg(feature = "reconcile")]
pub use begin::{BeginReconciliation, Begun};
#[cfg(feature = "reconcile")]
pub use keep::{Keep, KeepReconciled, Kept};
#[cfg(feature = "reconcile")]
pub use run::{ReadStatement, ReconcileHost, Statement};
