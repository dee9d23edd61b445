//! What a refusal proves about the call that it answers.

use crate::error::ErrorCode;

/// What a code proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// The reference is somebody else's, for ever: whatever tries of this call there were, none was or will be carried out.
    Foreign,
    /// The request itself was judged.
    Judged,
    /// Refused before it was looked at: who calls, how fast, by what way; or a body that did not arrive whole.
    PutOff,
    /// It may be this very call, carried out or under way.
    Open,
    /// Refused as calls are that are no creates. It is no answer to a create.
    Other,
}

impl Proof {
    /// What `code` proves.
    pub(super) fn of(code: ErrorCode) -> Self {
        use ErrorCode as E;
        match code {
            E::ReferenceConflict => Self::Foreign,
            E::InvalidFields
            | E::InsufficientFunds
            | E::AmountBelowMinimum
            | E::AmountAboveMaximum
            | E::SameParty
            | E::QuoteExpired
            | E::IdempotencyKeyReused
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
            | E::InsufficientScope
            | E::EnrollmentPending
            | E::ModeMismatch
            | E::ClientSuspended
            | E::RateLimited
            | E::NoRoute
            | E::RouteNotFound
            | E::MethodNotAllowed
            | E::NotAcceptable
            | E::UnsupportedMediaType => Self::PutOff,
            E::NonceReplayed | E::RequestInProgress | E::Timeout | E::Internal | E::StoreUnavailable => Self::Open,
            E::InvalidCursor
            | E::SettlementNotFound
            | E::ReversalNotFound
            | E::BalanceNotFound
            | E::KeyNotFound
            | E::TileNotFound
            | E::WebhookNotFound
            | E::DeliveryNotFound
            | E::ClientNotFound
            | E::SettlementInFlight
            | E::InvalidState
            | E::ReversalExceedsRemaining
            | E::AlreadyReversed
            | E::NotCompleted
            | E::VersionConflict
            | E::KeyExists
            | E::TooManyWebhooks
            | E::ReversalNotSupported
            | E::ReceiptInvalid
            | E::NotLoggedYet => Self::Other,
        }
    }
}

/// The code of this name, if that is also its status. Under another status it is not an answer of a gateway.
pub(super) fn known(code: &str, status: u16) -> Option<ErrorCode> {
    ErrorCode::parse(code).filter(|known| known.http_status() == status)
}

/// A refusal that ends by itself, or that a lost answer leaves behind: when the network has sent a call twice, `nonce_replayed`
/// is the answer to one copy, and what came of the other is asked anew. A route or a settlement that is under way takes longer
/// than a caller waits; that and the rest is for the caller to see.
pub(super) fn passes(code: ErrorCode) -> bool {
    use ErrorCode as E;
    code == E::NonceReplayed || (code.retryable() && !matches!(code, E::NoRoute | E::SettlementInFlight))
}
