//! The one error type of the engine: a stable code, where it points, and whether to try again.
//!
//! Codes, statuses and categories are those of the HTTP contract, section 8, so that every host
//! (server, phone, browser) tells its user the same thing. Causes stay inside: [`Failure::detail`]
//! is safe to show to a client, [`std::error::Error::source`] is for the operator's log.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::lifecycle::named_enum;
use crate::store::StoreError;

named_enum! {
    /// What kind of trouble a code means, after the GSMA Mobile Money API's error categories.
    pub enum Category {
        /// The request itself is wrong.
        Validation = "validation",
        /// The caller may not do this.
        Authorisation = "authorisation",
        /// The thing, or the caller, is not known.
        Identification = "identification",
        /// The request is well formed and the state of affairs forbids it.
        BusinessRule = "business_rule",
        /// Nothing is wrong with the request; try later.
        ServiceUnavailable = "service_unavailable",
        /// A fault of the gateway.
        Internal = "internal",
    }
}

macro_rules! error_codes {
    ($($variant:ident = $name:literal, $status:literal, $category:ident, $retry:literal, $title:literal;)*) => {
        /// A stable error code. The wire name never changes; new ones may be added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $(#[doc = $title] $variant,)* }

        impl ErrorCode {
            /// Every code there is, in the order of the HTTP status.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The wire name, `snake_case`.
            pub fn as_str(self) -> &'static str { match self { $(Self::$variant => $name,)* } }
            /// The HTTP status that carries this code.
            pub fn http_status(self) -> u16 { match self { $(Self::$variant => $status,)* } }
            /// The family the code belongs to.
            pub fn category(self) -> Category { match self { $(Self::$variant => Category::$category,)* } }
            /// Whether the very same request is safe and useful to send again.
            pub fn retryable(self) -> bool { match self { $(Self::$variant => $retry,)* } }
            /// One short sentence for people, the same for every occurrence.
            pub fn title(self) -> &'static str { match self { $(Self::$variant => $title,)* } }
        }
    };
}

error_codes! {
    MalformedJson = "malformed_json", 400, Validation, false, "The body is not valid JSON";
    MalformedRequest = "malformed_request", 400, Validation, false, "The request is malformed";
    InvalidCursor = "invalid_cursor", 400, Validation, false, "The cursor is not one that this list gave out";
    DigestMismatch = "digest_mismatch", 400, Validation, false, "The body is not the one that its Content-Digest names";
    TokenMissing = "token_missing", 401, Authorisation, false, "An access token is required";
    TokenInvalid = "token_invalid", 401, Authorisation, false, "The access token is not known";
    TokenExpired = "token_expired", 401, Authorisation, false, "The access token has expired";
    SignatureMissing = "signature_missing", 401, Authorisation, false, "The call must be signed";
    SignatureInvalid = "signature_invalid", 401, Authorisation, false, "The signature does not fit the call";
    ChallengeInvalid = "challenge_invalid", 401, Authorisation, false, "The nonce does not begin with a challenge of this gateway";
    ChallengeExpired = "challenge_expired", 401, Authorisation, false, "The challenge has expired; take a fresh one";
    NonceReplayed = "nonce_replayed", 401, Authorisation, false, "The nonce was used before";
    ClockSkew = "clock_skew", 401, Authorisation, false, "The signature's time is too far from the gateway's";
    KeyUnknown = "key_unknown", 401, Authorisation, false, "The key is not enrolled";
    KeyRevoked = "key_revoked", 401, Authorisation, false, "The key was revoked";
    InsufficientScope = "insufficient_scope", 403, Authorisation, false, "The credential may not do this";
    EnrollmentPending = "enrollment_pending", 403, Authorisation, false, "An operator has not approved the key yet";
    ModeMismatch = "mode_mismatch", 403, Authorisation, false, "The credential belongs to another mode";
    ClientSuspended = "client_suspended", 403, Authorisation, false, "The client is suspended";
    SettlementNotFound = "settlement_not_found", 404, Identification, false, "No such settlement";
    ReversalNotFound = "reversal_not_found", 404, Identification, false, "No such reversal";
    BalanceNotFound = "balance_not_found", 404, Identification, false, "No balance in that currency";
    KeyNotFound = "key_not_found", 404, Identification, false, "No such key";
    TileNotFound = "tile_not_found", 404, Identification, false, "The log has no such tile";
    WebhookNotFound = "webhook_not_found", 404, Identification, false, "No such webhook";
    DeliveryNotFound = "delivery_not_found", 404, Identification, false, "No such delivery";
    ClientNotFound = "client_not_found", 404, Identification, false, "No such client";
    RouteNotFound = "route_not_found", 404, Identification, false, "Nothing lives at that path";
    MethodNotAllowed = "method_not_allowed", 405, Validation, false, "That path does not take this method";
    NotAcceptable = "not_acceptable", 406, Validation, false, "No representation matches the Accept header";
    BodyTooLarge = "body_too_large", 413, Validation, false, "The body is too large";
    UnsupportedMediaType = "unsupported_media_type", 415, Validation, false, "The body must be application/json";
    Timeout = "timeout", 504, ServiceUnavailable, true, "The request took too long";
    ReferenceConflict = "reference_conflict", 409, BusinessRule, false, "The reference was used for a different request";
    SettlementInFlight = "settlement_in_flight", 409, BusinessRule, true, "The settlement is on its way; wait until it is final";
    InvalidState = "invalid_state", 409, BusinessRule, false, "Its state does not allow this";
    ReversalExceedsRemaining = "reversal_exceeds_remaining", 409, BusinessRule, false, "More than what is left to reverse";
    AlreadyReversed = "already_reversed", 409, BusinessRule, false, "The settlement is already reversed";
    NotCompleted = "not_completed", 409, BusinessRule, false, "The settlement is not completed, so there is no receipt";
    VersionConflict = "version_conflict", 409, BusinessRule, true, "The thing changed meanwhile";
    RequestInProgress = "request_in_progress", 409, BusinessRule, true, "The same request is still being worked on";
    KeyExists = "key_exists", 409, BusinessRule, false, "The key is enrolled already";
    TooManyWebhooks = "too_many_webhooks", 409, BusinessRule, false, "There are as many webhooks as there can be";
    InvalidFields = "invalid_fields", 422, Validation, false, "Some fields are not valid";
    InsufficientFunds = "insufficient_funds", 422, BusinessRule, false, "The account does not hold enough";
    AmountBelowMinimum = "amount_below_minimum", 422, BusinessRule, false, "Less than the provider's minimum";
    AmountAboveMaximum = "amount_above_maximum", 422, BusinessRule, false, "More than the provider's maximum";
    SameParty = "same_party", 422, BusinessRule, false, "Payer and payee are the same";
    QuoteExpired = "quote_expired", 422, BusinessRule, false, "The quote is not valid any more; ask for a new one";
    IdempotencyKeyReused = "idempotency_key_reused", 422, Validation, false, "The Idempotency-Key was used for a different request";
    ReversalNotSupported = "reversal_not_supported", 422, BusinessRule, false, "The provider cannot reverse this";
    ReceiptInvalid = "receipt_invalid", 422, Validation, false, "The receipt is not one that these keys signed";
    RateLimited = "rate_limited", 429, ServiceUnavailable, true, "Too many requests; slow down";
    Internal = "internal", 500, Internal, false, "Something went wrong on our side";
    NoRoute = "no_route", 503, ServiceUnavailable, true, "No provider serves that participant and currency now";
    NotLoggedYet = "not_logged_yet", 503, ServiceUnavailable, true, "The event is not in the log yet; a moment later it is";
    StoreUnavailable = "store_unavailable", 503, ServiceUnavailable, true, "The store cannot be reached; nothing was lost";
}

/// One thing that is wrong with a request, and where.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FieldProblem {
    /// RFC 6901 JSON pointer into the request body; for query parameters the parameter's name.
    pub pointer: String,
    /// Stable code, such as `required`, `wrong_type`, `amount_scale`.
    pub code: Cow<'static, str>,
    /// One sentence for people, saying what would be right.
    pub message: String,
}

impl FieldProblem {
    /// A problem at `pointer`.
    pub fn new(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code: Cow::Borrowed(code), message: message.into() }
    }
}

/// Why a command or a query was not carried out; what it says is in [`Failure`]. One pointer, since almost everything may
/// fail. Cheap to clone: one failed group commit answers many callers.
#[derive(Clone)]
pub struct Error(Box<Failure>);

/// What an [`Error`] says.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The stable code.
    pub code: ErrorCode,
    /// One sentence for the caller about this occurrence. Never holds internals or personal data of others.
    pub detail: Cow<'static, str>,
    /// What exactly is wrong, for [`ErrorCode::InvalidFields`] and the malformed ones.
    pub fields: Vec<FieldProblem>,
    /// The very same request is safe and useful to send again: as the code says, unless it may have been carried out and
    /// would then be carried out twice.
    pub retryable: bool,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl std::ops::Deref for Error {
    type Target = Failure;

    fn deref(&self) -> &Failure {
        &self.0
    }
}

impl std::ops::DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Failure {
        &mut self.0
    }
}

/// The engine's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with the code's own title as detail.
    pub fn new(code: ErrorCode) -> Self {
        Self::with(code, code.title())
    }

    /// An error that says more about this occurrence.
    pub fn with(code: ErrorCode, detail: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Failure { code, detail: detail.into(), fields: Vec::new(), retryable: code.retryable(), source: None }))
    }

    /// All problems of one request at once.
    pub fn invalid(fields: Vec<FieldProblem>) -> Self {
        let detail = match fields.as_slice() {
            [one] => Cow::Owned(one.message.clone()),
            many => Cow::Owned(format!("{} problems, see errors", many.len())),
        };
        let mut error = Self::with(ErrorCode::InvalidFields, detail);
        error.fields = fields;
        error
    }

    /// A single problem of a request.
    pub fn field(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldProblem::new(pointer, code, message)])
    }

    /// What is wrong with the request, if that is why.
    pub fn into_fields(self) -> Vec<FieldProblem> {
        self.0.fields
    }

    /// A fault of ours; `cause` goes to the log, never to the caller.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::caused(ErrorCode::Internal, cause)
    }

    /// Nobody knows whether the request was carried out. One that is not `repeatable` must not simply be sent again; see
    /// [`Command::is_repeatable`](crate::api::Command::is_repeatable).
    pub fn in_doubt(code: ErrorCode, repeatable: bool) -> Self {
        let detail = if repeatable {
            "it is not known whether the request was carried out; sent again it tells, and nothing is done twice"
        } else {
            "it is not known whether the request was carried out; look before sending it again, for it could be done twice. \
             A reference or an Idempotency-Key of its own makes a reversal safe to send again"
        };
        let mut error = Self::with(code, detail);
        error.retryable &= repeatable;
        error
    }

    /// Whether something that is stored cannot be read for good, and only that: a fault of ours that is not the store's refusal to
    /// read at all.
    pub fn is_damage(&self) -> bool {
        let fault = self.0.source.as_deref().and_then(|cause| cause.downcast_ref::<StoreError>());
        self.code == ErrorCode::Internal && fault.is_none_or(|fault| fault.corrupt)
    }

    /// An error with a cause for the log.
    pub fn caused(code: ErrorCode, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(code).because(cause)
    }

    /// The same error with a cause for the log.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(Arc::from(cause.into()));
        self
    }
}

/// An RFC 9457 problem: why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// Names the kind of problem; `code` is its last part.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "openapi", schema(example = "https://railgate.dev/problems/reference_conflict"))]
    pub kind: String,
    /// One short sentence, the same for every occurrence.
    pub title: Cow<'static, str>,
    /// The HTTP status.
    pub status: u16,
    /// One sentence about this occurrence.
    pub detail: Cow<'static, str>,
    /// The path that was asked for; none where there was no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub instance: Option<String>,
    /// Stable; what programs should look at.
    #[cfg_attr(feature = "openapi", schema(example = "reference_conflict"))]
    pub code: Cow<'static, str>,
    /// The family.
    pub category: Category,
    /// The same request is safe and useful to send again.
    pub retryable: bool,
    /// Names this request in the server's log; none where there was no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub request_id: Option<String>,
    /// In the sandbox, for a signature that does not fit: the base (RFC 9421, section 2.5) that it should have been made
    /// over, with the token left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_base: Option<String>,
    /// Every single thing that is wrong with the request, and where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}

impl Error {
    /// What may be told of it. What depends on how it came to be told, such as `instance`, is for a host to add.
    pub fn problem(&self) -> Problem {
        let code = self.code;
        Problem {
            kind: code.uri(),
            title: Cow::Borrowed(code.title()),
            status: code.http_status(),
            detail: self.detail.clone(),
            instance: None,
            code: Cow::Borrowed(code.as_str()),
            category: code.category(),
            retryable: self.retryable,
            request_id: None,
            signature_base: None,
            errors: self.fields.clone(),
        }
    }

    /// [`Error::problem`] as a JSON object.
    pub fn problem_json(&self) -> String {
        // Texts and numbers only: this cannot fail.
        serde_json::to_string(&self.problem()).unwrap_or_default()
    }
}

impl ErrorCode {
    /// Its address as an RFC 9457 problem type.
    pub fn uri(self) -> String {
        ["https://railgate.dev/problems/", self.as_str()].concat()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.detail)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|e| e as &(dyn std::error::Error + 'static))
    }
}
