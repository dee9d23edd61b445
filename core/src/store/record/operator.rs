//! Operators, and what they ask each other to confirm.

use crate::auth::{Scope, ScopeSet};
use crate::lifecycle::stored_enum;

stored_enum! {
    /// What an operator may do. Each role may do what those before it may.
    pub enum OperatorRole {
        /// Reads everything.
        Viewer = 1 "viewer",
        /// Acts on clients, money, providers, routes and reviews.
        Agent = 2 "agent",
        /// Confirms what others asked for.
        Approver = 3 "approver",
        /// Invites and revokes operators, and changes their roles.
        Admin = 4 "admin",
    }
}

impl OperatorRole {
    /// The scopes of an operator's tokens.
    pub const fn scopes(self) -> ScopeSet {
        match self {
            Self::Viewer => ScopeSet::NONE.with(Scope::OperatorRead),
            Self::Agent => Self::Viewer.scopes().with(Scope::OperatorAct).with(Scope::BundlesReview),
            Self::Approver => Self::Agent.scopes().with(Scope::OperatorApprove),
            Self::Admin => Self::Approver.scopes().with(Scope::Admin),
        }
    }
}

stored_enum! {
    /// Whether an operator may sign.
    pub enum OperatorStatus {
        /// Invited, without a key.
        Invited = 1 "invited",
        /// May sign.
        Active = 2 "active",
        /// May never sign again.
        Revoked = 3 "revoked",
    }
}

stored_enum! {
    /// An act of an operator that others may have to confirm.
    pub enum OperatorAct {
        /// Activates a client's live keys.
        ApproveClient = 1 "approve_client",
        /// Refuses all calls of a client.
        SuspendClient = 2 "suspend_client",
        /// Ends a client's suspension.
        ResumeClient = 3 "resume_client",
        /// Replaces a client's limits in one mode and currency.
        SetLimits = 4 "set_limits",
        /// Replaces a client's fees.
        SetFees = 5 "set_fees",
        /// Replaces the floor of a client's live account: its credit.
        SetFloor = 6 "set_floor",
        /// Credits what a client paid in.
        Deposit = 7 "deposit",
        /// Debits what a client was paid out.
        Withdraw = 8 "withdraw",
        /// Adds or replaces a provider.
        PutProvider = 9 "put_provider",
        /// Enables a provider.
        EnableProvider = 10 "enable_provider",
        /// Disables a provider.
        DisableProvider = 11 "disable_provider",
        /// Puts a provider into maintenance.
        MaintainProvider = 12 "maintain_provider",
        /// Replaces the table of routes.
        PutRoutes = 13 "put_routes",
        /// Decides about something that needs review.
        ResolveReview = 14 "resolve_review",
        /// Replaces which calls a client's sessions may sign in one mode.
        SetSessionSignatures = 15 "set_session_signatures",
        /// Publishes a partner's bundle.
        PublishBundle = 20 "publish_bundle",
        /// Revokes a published bundle.
        RevokeBundle = 21 "revoke_bundle",
    }
}

stored_enum! {
    /// Whether something that was asked for waits, or how it was decided.
    pub enum ApprovalStatus {
        /// Waits for a second operator.
        Pending = 1 "pending",
        /// Confirmed, and in effect.
        Confirmed = 2 "confirmed",
        /// Declined.
        Declined = 3 "declined",
        /// Nobody decided in time.
        Expired = 4 "expired",
    }
}
