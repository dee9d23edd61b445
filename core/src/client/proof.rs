//! What a refusal proves about the call that it answers.

use crate::error::ErrorCode;

/// What an error code proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// The reference belongs to somebody else for good: no try of this call was or will be carried out.
    Foreign,
    /// The gateway judged the request itself.
    Judged,
    /// Refused before the request was judged, because of the caller, the rate or the transport, or because the body was incomplete.
    PutOff,
    /// The response may be about this very call, carried out or in flight.
    Open,
    /// A refusal of calls other than create. As the response to a create it proves nothing.
    Other,
}

impl Proof {
    /// What `code` proves.
    pub(super) fn of(code: ErrorCode) -> Self {
        use ErrorCode as E;
        match code {
            E::ReferenceConflict => Self::Foreign,
            E::InvalidFields
            | E::AccountNotFound
            | E::InsufficientFunds
            | E::AmountBelowMinimum
            | E::AmountAboveMaximum
            | E::LimitDailyValue
            | E::LimitDailyCount
            | E::SameParty
            | E::QuoteExpired
            | E::IdempotencyKeyReused
            | E::ClientMoved
            | E::BodyTooLarge => Self::Judged,
            E::MalformedJson
            | E::MalformedRequest
            | E::DigestMismatch
            | E::TokenMissing
            | E::TokenInvalid
            | E::TokenExpired
            | E::SignatureMissing
            | E::SignatureInvalid
            | E::ChallengeInvalid
            | E::ChallengeExpired
            | E::ClockSkew
            | E::KeyUnknown
            | E::KeyRevoked
            | E::SignatureKeyRequired
            | E::InsufficientScope
            | E::EnrollmentPending
            | E::EnrollmentClosed
            | E::EnrollmentFull
            | E::InvitationInvalid
            | E::SecondOperatorRequired
            | E::UserBlocked
            | E::DeviceCodeInvalid
            | E::ModeMismatch
            | E::ClientSuspended
            | E::ClientMoving
            | E::RateLimited
            | E::NoRoute
            | E::RouteNotFound
            | E::VersionSunset
            | E::MethodNotAllowed
            | E::NotAcceptable
            | E::UnsupportedMediaType => Self::PutOff,
            E::NonceReplayed | E::RequestInProgress | E::Timeout | E::Internal | E::StoreUnavailable => Self::Open,
            E::InvalidCursor
            | E::EpochChanged
            | E::SettlementNotFound
            | E::ReversalNotFound
            | E::BalanceNotFound
            | E::MovementNotFound
            | E::UserNotFound
            | E::DeviceNotFound
            | E::PaymentApprovalNotFound
            | E::NotificationNotFound
            | E::PushSubscriptionNotFound
            | E::ApprovalDecided
            | E::KeyNotFound
            | E::TileNotFound
            | E::WebhookNotFound
            | E::DeliveryNotFound
            | E::ClientNotFound
            | E::ProviderNotFound
            | E::SettlementInFlight
            | E::InvalidState
            | E::ReversalExceedsRemaining
            | E::AlreadyReversed
            | E::NotCompleted
            | E::VersionConflict
            | E::KeyExists
            | E::TooManyWebhooks
            | E::TooManyBundles
            | E::BundleUnusable
            | E::ReversalNotSupported
            | E::ReversalWindowClosed
            | E::ReceiptInvalid
            | E::NotLoggedYet
            | E::ReviewNotFound
            | E::OperatorNotFound
            | E::ApprovalNotFound
            | E::ReconciliationNotFound
            | E::BundleNotFound
            | E::StatementUnusable
            // The other gateway may have carried out this very call.
            | E::ReferenceElsewhere => Self::Other,
        }
    }
}

/// The code with this name, if `status` is its status. With any other status the response is not from a gateway.
pub(super) fn known(code: &str, status: u16) -> Option<ErrorCode> {
    ErrorCode::parse(code).filter(|known| known.http_status() == status)
}

/// Whether the refusal passes by itself or follows from a lost response: if the network sent a call twice, `nonce_replayed` answers
/// one copy, and a new try finds out what happened to the other. A route or settlement in progress takes longer than a caller
/// waits; those and all others are left to the caller.
pub(super) fn passes(code: ErrorCode) -> bool {
    use ErrorCode as E;
    code == E::NonceReplayed || (code.retryable() && !matches!(code, E::NoRoute | E::SettlementInFlight))
}
