//! Rails: how a provider is spoken to. The engine decides *that* something is asked; a rail says how, and reads the
//! answer; a host carries it. A rail knows no store and keeps no state.

pub mod simulator;

use crate::lifecycle::attempt::AnswerKind;
use crate::lifecycle::stored_enum;

stored_enum! {
    /// Why a settlement or a reversal failed.
    pub enum FailureCode {
        /// The recipient does not exist at the provider.
        RecipientNotFound = 1 "recipient_not_found",
        /// The recipient's account is closed.
        AccountClosed = 2 "account_closed",
        /// The recipient's account is blocked.
        AccountBlocked = 3 "account_blocked",
        /// The gateway's own account at the provider is short.
        InsufficientFunds = 4 "insufficient_funds",
        /// The provider already has a payment like it.
        Duplicate = 5 "duplicate",
        /// Over one of the provider's limits.
        OverLimit = 6 "over_limit",
        /// The provider cannot be reached; provably nothing was sent.
        ProviderOffline = 7 "provider_offline",
        /// The provider does not take this amount.
        InvalidAmount = 8 "invalid_amount",
        /// The provider does not allow it.
        NotAllowed = 9 "not_allowed",
        /// Anything else.
        Other = 10 "other",
    }
}

impl FailureCode {
    /// The ISO 20022 status reason (ExternalStatusReason1Code).
    pub const fn iso_reason(self) -> &'static str {
        match self {
            Self::RecipientNotFound => "AC03",
            Self::AccountClosed => "AC07",
            Self::AccountBlocked => "AC06",
            Self::InsufficientFunds => "AM04",
            Self::Duplicate => "AM05",
            Self::OverLimit => "AM14",
            Self::ProviderOffline => "AB08",
            Self::InvalidAmount => "AM12",
            Self::NotAllowed => "AG01",
            Self::Other => "MS03",
        }
    }

    /// Which family it belongs to (contract, section 8).
    pub const fn category(self) -> crate::error::Category {
        use crate::error::Category as C;
        match self {
            Self::RecipientNotFound | Self::AccountClosed => C::Identification,
            Self::AccountBlocked | Self::NotAllowed => C::Authorisation,
            Self::InsufficientFunds | Self::Duplicate | Self::OverLimit | Self::Other => C::BusinessRule,
            Self::ProviderOffline => C::ServiceUnavailable,
            Self::InvalidAmount => C::Validation,
        }
    }

    /// One sentence for people.
    pub const fn message(self) -> &'static str {
        match self {
            Self::RecipientNotFound => "The provider does not know the recipient",
            Self::AccountClosed => "The recipient's account is closed",
            Self::AccountBlocked => "The recipient's account is blocked",
            Self::InsufficientFunds => "The provider reports insufficient funds",
            Self::Duplicate => "The provider already has a payment like this one",
            Self::OverLimit => "The payment is over a limit of the provider or the recipient",
            Self::ProviderOffline => "No provider could be reached; nothing was sent",
            Self::InvalidAmount => "The provider does not take this amount",
            Self::NotAllowed => "The provider does not allow this payment",
            Self::Other => "The provider refused the payment",
        }
    }
}

/// What a rail said about a payment or a reversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RailAnswer {
    /// Done.
    Completed {
        /// The rail's own reference of it.
        rail_reference: Option<String>,
    },
    /// Taken; how it ended comes later.
    Accepted {
        /// The rail's own reference of it.
        rail_reference: Option<String>,
    },
    /// Refused: it did not happen and will not.
    Declined {
        /// Why.
        code: FailureCode,
        /// Whether another provider may be asked.
        elsewhere_ok: bool,
        /// The rail's own code.
        rail_code: Option<String>,
    },
    /// Provably never reached the rail: it could not connect, or an authoritative inquiry does not know it.
    NotSent,
    /// Nobody knows: time-out, reset, 5xx, unparsable.
    Unknown,
    /// It had completed and came back.
    Returned {
        /// The rail's own code.
        rail_code: Option<String>,
    },
}

impl RailAnswer {
    /// What it says, without the details.
    pub fn kind(&self) -> AnswerKind {
        match self {
            Self::Completed { .. } => AnswerKind::Completed,
            Self::Accepted { .. } => AnswerKind::Accepted,
            Self::Declined { .. } => AnswerKind::Declined,
            Self::NotSent => AnswerKind::NotSent,
            Self::Unknown => AnswerKind::Unknown,
            Self::Returned { .. } => AnswerKind::Returned,
        }
    }
}
