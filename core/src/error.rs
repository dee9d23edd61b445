//! The engine's one error type: a stable code, where it points, and whether to retry.
//!
//! Every host (server, phone, browser) uses the same codes, statuses and categories, so that all tell their users the same
//! thing. The server documents each code on a page of its own, from the texts here. Causes stay inside: [`ErrorDetails::detail`]
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
        /// The resource, or the caller, is not known.
        Identification = "identification",
        /// The request is well formed, but the present state rules it out.
        BusinessRule = "business_rule",
        /// Nothing is wrong with the request; retry later.
        ServiceUnavailable = "service_unavailable",
        /// A fault of the gateway.
        Internal = "internal",
    }
}

macro_rules! error_codes {
    ($($variant:ident = $name:literal, $status:literal, $category:ident, $retry:literal, $title:literal, $meaning:literal, $advice:literal;)*) => {
        /// A stable error code. The wire name never changes; new ones may be added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $(#[doc = $title] $variant,)* }

        impl ErrorCode {
            /// Every code, roughly in the order of the HTTP status.
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
            /// What the code means, in a sentence or two. For its documentation; no answer carries it.
            pub fn meaning(self) -> &'static str { match self { $(Self::$variant => $meaning,)* } }
            /// What the caller should do about it. For its documentation; no answer carries it.
            pub fn advice(self) -> &'static str { match self { $(Self::$variant => $advice,)* } }
        }
    };
}

error_codes! {
    MalformedJson = "malformed_json", 400, Validation, false, "The body is not valid JSON",
        "The body could not be read as JSON: a syntax error, bytes that are not UTF-8, or something after its end.",
        "Send exactly one JSON document. Each entry of `errors` says where reading stopped.";
    MalformedRequest = "malformed_request", 400, Validation, false, "The request is malformed",
        "The request breaks HTTP or a rule for its parameters: a body that broke off, an unreadable query, a body where none is taken.",
        "Read `detail`, correct the request and send it again.";
    InvalidCursor = "invalid_cursor", 400, Validation, false, "The cursor is not one that this list gave out",
        "A cursor belongs to the list that returned it. This one was altered, or comes from another list.",
        "Pass `next_cursor` back unchanged, to the same list, or start again without a cursor.";
    DigestMismatch = "digest_mismatch", 400, Validation, false, "The body does not match its Content-Digest",
        "The Content-Digest header is missing its `sha-256`, is malformed, or names a different body. The body may have been altered on the way.",
        "Compute the digest over the very bytes that you send, after any compression or reformatting.";
    TokenMissing = "token_missing", 401, Authorisation, false, "An access token is required",
        "The route asks for an access token, and the call carries none.",
        "Take a token at `POST /api/v1/auth/tokens` and send it as `Authorization: Bearer …`, covered by the signature.";
    TokenInvalid = "token_invalid", 401, Authorisation, false, "The access token is not known",
        "The token was never issued, was revoked, or its key was revoked.",
        "Take a new token with your key. If that is refused too, the key has been revoked.";
    TokenExpired = "token_expired", 401, Authorisation, false, "The access token has expired",
        "A token lives for a quarter of an hour.",
        "Take a new token at `POST /api/v1/auth/tokens`, then sign and send the call again with it.";
    SignatureMissing = "signature_missing", 401, Authorisation, false, "The call must be signed",
        "The route asks for an HTTP message signature (RFC 9421) with the tag `railgate`, and the call carries none.",
        "Sign the call as the Accept-Signature header of the answer shows.";
    SignatureInvalid = "signature_invalid", 401, Authorisation, false, "The signature does not match the call",
        "The signature leaves out a component that it must cover, is malformed, was made by another key, or over other values than those received.",
        "Compare what you signed with what you sent. In the sandbox, `signature_base` is the text that the gateway checked.";
    ChallengeInvalid = "challenge_invalid", 401, Authorisation, false, "The nonce does not begin with a challenge of this gateway",
        "Every nonce begins with a challenge that this gateway issued, for the same mode. This one does not.",
        "Take the challenge from the Signature-Challenge header of any answer, put random characters of your own after it, and sign again.";
    ChallengeExpired = "challenge_expired", 401, Authorisation, false, "The challenge has expired; take a fresh one",
        "A challenge is good for five minutes.",
        "Sign again with the fresh challenge in the Signature-Challenge header of the answer.";
    NonceReplayed = "nonce_replayed", 401, Authorisation, false, "The nonce was used before",
        "A nonce is good for one call. A copy of this call has been here before.",
        "Sign every call with a nonce of its own, also when you retry. If this was not you, somebody has sent your call a second time, without effect.";
    ClockSkew = "clock_skew", 401, Authorisation, false, "The signature's time is too far from the gateway's",
        "The signature's `created` may differ from the gateway's clock by five minutes at most, and its `expires` must not have passed.",
        "Set your clock, or take the time from the Date header of an answer. `detail` names both times.";
    KeyUnknown = "key_unknown", 401, Authorisation, false, "The key is not enrolled",
        "The `keyid` of the signature names no enrolled key.",
        "Enroll the key first. A key's id is its RFC 7638 thumbprint.";
    KeyRevoked = "key_revoked", 401, Authorisation, false, "The key was revoked",
        "The key, and every token taken with it, was revoked for good.",
        "Sign with another key of the client, or enroll a new one.";
    InsufficientScope = "insufficient_scope", 403, Authorisation, false, "The credential may not do this",
        "The token, or the key behind it, lacks the scope that the route asks for.",
        "Take a token with the scope that `detail` names. If the key may not have it, ask the operator of the gateway.";
    EnrollmentPending = "enrollment_pending", 403, Authorisation, false, "An operator has not approved the key yet",
        "The key is known, but this gateway lets an operator approve new keys first.",
        "Wait for the approval, then try again. The key need not be enrolled a second time.";
    ModeMismatch = "mode_mismatch", 403, Authorisation, false, "The credential belongs to another mode",
        "Sandbox credentials cannot move real money, and live ones cannot reach the sandbox.",
        "Use a credential of the mode that you mean, or leave `sandbox` out.";
    ClientSuspended = "client_suspended", 403, Authorisation, false, "The client is suspended",
        "An operator has suspended the client. Payments that were already sent still reach their end.",
        "Ask the operator of the gateway.";
    SettlementNotFound = "settlement_not_found", 404, Identification, false, "No such settlement",
        "You have no settlement with this reference or id. Those of other clients are never shown.",
        "Check the spelling. If you just sent the create and heard no answer, send the same create again: it is not carried out twice.";
    ReversalNotFound = "reversal_not_found", 404, Identification, false, "No such reversal",
        "The settlement has no reversal with this reference or id.",
        "List its reversals at `GET /api/v1/gateway/settlements/{ref}/reversals`.";
    BalanceNotFound = "balance_not_found", 404, Identification, false, "No balance in that currency",
        "The client has no account in this currency.",
        "List your accounts at `GET /api/v1/balances`.";
    KeyNotFound = "key_not_found", 404, Identification, false, "No such key",
        "The client has no key with this id.",
        "List your keys at `GET /api/v1/auth/keys`.";
    TileNotFound = "tile_not_found", 404, Identification, false, "The log has no such tile",
        "The tile has a malformed address, or the log has not grown that far.",
        "Read `GET /api/v1/log/checkpoint` and ask only for tiles within its size.";
    WebhookNotFound = "webhook_not_found", 404, Identification, false, "No such webhook",
        "The client has no webhook with this id.",
        "List your webhooks at `GET /api/v1/webhooks`.";
    DeliveryNotFound = "delivery_not_found", 404, Identification, false, "No such delivery",
        "The webhook has no delivery with this id.",
        "List its deliveries at `GET /api/v1/webhooks/{id}/deliveries`.";
    ClientNotFound = "client_not_found", 404, Identification, false, "No such client",
        "The gateway has no client with this id. Only operators meet this code.",
        "List the clients with `railgate clients list`.";
    RouteNotFound = "route_not_found", 404, Identification, false, "There is no such path",
        "No route has this path. Paths are case-sensitive and have no slash at the end.",
        "`GET /openapi.json` describes every route.";
    MethodNotAllowed = "method_not_allowed", 405, Validation, false, "That path does not take this method",
        "The path exists, for other methods.",
        "Use one of the methods in the Allow header.";
    NotAcceptable = "not_acceptable", 406, Validation, false, "No representation matches the Accept header",
        "The Accept header rules out every form in which this route can answer.",
        "`detail` names the media types there are. Without an Accept header you get the first of them.";
    BodyTooLarge = "body_too_large", 413, Validation, false, "The body is too large",
        "A body may have 64 KiB, that of a batch 1 MiB.",
        "Send less at a time: split the batch, shorten the metadata.";
    UnsupportedMediaType = "unsupported_media_type", 415, Validation, false, "The body must be application/json",
        "Bodies are JSON and must say so.",
        "Send `Content-Type: application/json`.";
    Timeout = "timeout", 504, ServiceUnavailable, true, "The request took too long",
        "The gateway could not finish in time. It is not known whether the request was carried out.",
        "If `retryable` is true, send the same request again: nothing is done twice. Otherwise look before you send it again.";
    ReferenceConflict = "reference_conflict", 409, BusinessRule, false, "The reference was used for a different request",
        "You have used this reference before, for a request that differs. The earlier one stands; this one had no effect.",
        "Read what the reference stands for. If you meant a new payment, give it a new reference.";
    SettlementInFlight = "settlement_in_flight", 409, BusinessRule, true, "The settlement is on its way; wait until it is final",
        "The payment has been handed to a provider, whose final answer is not known yet. What may still arrive cannot be undone.",
        "Wait until the status is final, by webhook, feed or long poll, then try again.";
    InvalidState = "invalid_state", 409, BusinessRule, false, "Its state does not allow this",
        "The request is well formed, but the state of what it names rules it out, and waiting does not change that.",
        "Read the current state. `detail` says what stands in the way.";
    ReversalExceedsRemaining = "reversal_exceeds_remaining", 409, BusinessRule, false, "More than what is left to reverse",
        "All reversals of a settlement together may not exceed its amount.",
        "Read what is left (`detail` names it) and ask for no more than that, or leave `amount` out to reverse the rest.";
    AlreadyReversed = "already_reversed", 409, BusinessRule, false, "The settlement is already reversed",
        "Nothing of the settlement is left to reverse.",
        "Nothing is to be done. Its reversals say when and why.";
    NotCompleted = "not_completed", 409, BusinessRule, false, "The settlement is not completed, so there is no receipt",
        "A receipt states that money arrived; it exists from then on.",
        "Wait until the settlement is completed. A failed or cancelled one never has a receipt.";
    VersionConflict = "version_conflict", 409, BusinessRule, true, "It was changed in the meantime",
        "Something else changed the same thing between reading and writing. Nothing of this request was done.",
        "Read again; if the request still makes sense, send it again.";
    RequestInProgress = "request_in_progress", 409, BusinessRule, true, "The same request is still in progress",
        "An identical or a competing request has not been answered yet.",
        "Wait a moment, then send the request again.";
    KeyExists = "key_exists", 409, BusinessRule, false, "The key is enrolled already",
        "The public key belongs to a client already. A key is enrolled once.",
        "Take a token with it. If the key is not yours, make a new pair.";
    TooManyWebhooks = "too_many_webhooks", 409, BusinessRule, false, "The limit on webhooks is reached",
        "A client may have a limited number of webhooks, which `detail` names.",
        "Remove one that is not needed any more, or let one webhook take more topics.";
    InvalidFields = "invalid_fields", 422, Validation, false, "Some fields are not valid",
        "At least one field breaks a rule. All problems of the request are reported at once; nothing was done.",
        "Correct everything that `errors` lists: `pointer` says where, `code` what, `message` what would be right.";
    InsufficientFunds = "insufficient_funds", 422, BusinessRule, false, "The account does not hold enough",
        "The account's available money does not cover the amount and the fee.",
        "Fund the account, or pay less. `GET /api/v1/balances` shows what is available and what is reserved.";
    AmountBelowMinimum = "amount_below_minimum", 422, BusinessRule, false, "Less than the provider's minimum",
        "No provider that could carry this payment takes so small an amount.",
        "Pay at least what `detail` names.";
    AmountAboveMaximum = "amount_above_maximum", 422, BusinessRule, false, "More than the provider's maximum",
        "No provider that could carry this payment takes so large an amount.",
        "Pay at most what `detail` names, in several settlements if need be.";
    SameParty = "same_party", 422, BusinessRule, false, "Payer and payee are the same",
        "The payee is the client that pays.",
        "Correct `to`.";
    QuoteExpired = "quote_expired", 422, BusinessRule, false, "The quote has expired; ask for a new one",
        "A quote holds its fee until `expires_at`. It has passed, or the provider is not served any more.",
        "Take a new quote at `POST /api/v1/gateway/settlements/check` and show its fee before you pay.";
    IdempotencyKeyReused = "idempotency_key_reused", 422, Validation, false, "The Idempotency-Key was used for a different request",
        "An Idempotency-Key stands for one request. It was used before, for a request that differs.",
        "Make a new key for every new request, and keep it only for retries of that request.";
    ReversalNotSupported = "reversal_not_supported", 422, BusinessRule, false, "The provider cannot reverse this",
        "The provider that carried the payment cannot give it back, or not in part.",
        "Reverse the whole amount where `detail` says so; otherwise settle it with the payee directly.";
    ReceiptInvalid = "receipt_invalid", 422, Validation, false, "The receipt is not one that these keys signed",
        "The text is no receipt, or its signature does not match any of the keys it was checked against.",
        "Do not rely on it. Fetch the receipt and the keys (`/.well-known/jwks.json`) from the gateway that issued it.";
    RateLimited = "rate_limited", 429, ServiceUnavailable, true, "Too many requests; slow down",
        "The client, or the address it calls from, has sent more requests than it may.",
        "Wait for as many seconds as Retry-After says. The RateLimit headers show what is left.";
    Internal = "internal", 500, Internal, false, "Something went wrong on our side",
        "The gateway failed in a way that it should not. The cause is in its log, under `request_id`.",
        "Look whether the request was carried out before you send it again. Give the operator the `request_id`.";
    NoRoute = "no_route", 503, ServiceUnavailable, true, "No provider serves that participant and currency now",
        "No provider in service reaches this payee in this currency. Nothing was reserved.",
        "Check `to` and `currency`; try again later.";
    NotLoggedYet = "not_logged_yet", 503, ServiceUnavailable, true, "The event is not in the log yet; try again in a moment",
        "The event is stored; the log takes events in shortly after.",
        "Wait for as many seconds as Retry-After says, then ask again.";
    StoreUnavailable = "store_unavailable", 503, ServiceUnavailable, true, "The store cannot be reached; nothing was lost",
        "The gateway cannot reach its database. If that happened while the request was being stored, it is not known whether it was carried out.",
        "If `retryable` is true, send the same request again after a pause: nothing is done twice. Otherwise look before you send it again.";
}

/// One thing that is wrong with a request, and where.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FieldProblem {
    /// RFC 6901 JSON pointer into the request body; for query parameters the parameter's name.
    pub pointer: String,
    /// Stable code, such as `required`, `wrong_type`, `amount_scale`.
    pub code: Cow<'static, str>,
    /// One sentence for people, saying what would be valid.
    pub message: String,
}

impl FieldProblem {
    /// A problem at `pointer`.
    pub fn new(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code: Cow::Borrowed(code), message: message.into() }
    }
}

/// Why a command or a query was not carried out; the details are in [`ErrorDetails`]. One pointer in size, because almost every
/// function may fail. Cheap to clone: one failed group commit answers many callers.
#[derive(Clone)]
pub struct Error(Box<ErrorDetails>);

/// The details of an [`Error`].
#[derive(Debug, Clone)]
pub struct ErrorDetails {
    /// The stable code.
    pub code: ErrorCode,
    /// One sentence for the caller about this occurrence. Never contains internals or personal data of others.
    pub detail: Cow<'static, str>,
    /// What exactly is wrong, for [`ErrorCode::InvalidFields`] and the malformed ones.
    pub fields: Vec<FieldProblem>,
    /// The very same request is safe and useful to send again. As the code says, unless it may have been carried out and
    /// would then be carried out twice.
    pub retryable: bool,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl std::ops::Deref for Error {
    type Target = ErrorDetails;

    fn deref(&self) -> &ErrorDetails {
        &self.0
    }
}

impl std::ops::DerefMut for Error {
    fn deref_mut(&mut self) -> &mut ErrorDetails {
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
        Self(Box::new(ErrorDetails { code, detail: detail.into(), fields: Vec::new(), retryable: code.retryable(), source: None }))
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

    /// What is wrong with the request, if that is the reason.
    pub fn into_fields(self) -> Vec<FieldProblem> {
        self.0.fields
    }

    /// An internal error; `cause` goes to the log, never to the caller.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::caused(ErrorCode::Internal, cause)
    }

    /// It is not known whether the request was carried out. One that is not `repeatable` must not simply be sent again; see
    /// [`Command::is_repeatable`](crate::engine::Command::is_repeatable).
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

    /// Whether something stored is damaged, and only that: an internal error that is not the store's refusal to read at
    /// all.
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
    /// Names the kind of problem: the path of its page on the server, `/docs/problems/<code>`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "openapi", schema(example = "/docs/problems/reference_conflict"))]
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
    /// Where a server documents its codes; each has a page below.
    pub const DOCS: &'static str = "/docs/problems";

    /// The code with this wire name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// Its RFC 9457 problem type: a reference relative to the server, which documents the code there.
    pub fn uri(self) -> String {
        [Self::DOCS, "/", self.as_str()].concat()
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
