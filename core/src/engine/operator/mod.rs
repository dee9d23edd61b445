//! Operators: the people who run the gateway. They sign calls with keys of their own, under numbers that no client has
//! ([`OperatorNo::party`](crate::ids::OperatorNo::party)), and never act as clients.
//!
//! What they may ask for is an [`Act`]. [`Operate`] carries it out, or, where the settings require a second operator, keeps the request
//! until [`DecideApproval`] confirms or declines it.

mod act;
mod approval;
mod audit;
mod changes;
mod overview;
mod people;
mod read;

pub use act::{Act, ActRequest, Acted, Operate, Operation, OperatorBy, review_id};
#[cfg(feature = "bundles")]
pub(crate) use approval::acting;
pub(crate) use approval::expire_approvals;
pub use approval::{DecideApproval, Decided};
pub use audit::AuditNames;
pub use people::{ChangeRole, EnrollOperator, InviteOperator, InvitedOperator, NewOperator, RevokeOperator};
