//! The engine's only error type: a stable code, where the problem is, and whether to retry.
//!
//! ```
//! use std::error::Error as _;
//!
//! use railgate::{Error, ErrorCode};
//!
//! // What happened, for the caller. The code determines the rest.
//! let error = Error::with(ErrorCode::InsufficientFunds, "10.50 EUR were asked for, 4.20 EUR are available");
//! assert_eq!((error.code.http_status(), error.retryable), (422, false));
//!
//! // The same as a problem document (RFC 9457).
//! let problem = error.problem();
//! assert_eq!(problem.kind, "/docs/problems/insufficient_funds");
//! assert_eq!(problem.detail, "10.50 EUR were asked for, 4.20 EUR are available");
//!
//! // A cause is for the operator's log. The caller does not see it.
//! let error = Error::caused(ErrorCode::StoreUnavailable, std::io::Error::other("/dev/sda1 is full"));
//! assert!(!error.problem_json().contains("sda1"));
//! assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("/dev/sda1 is full"));
//! assert!(error.retryable);
//! ```
//!
//! All hosts (server, phone, browser) use the same codes, statuses and categories, so they all report the same to their users. The
//! server documents each code on its own page, with the texts from here. Causes stay inside: [`ErrorDetails::detail`] is safe to
//! show to a client, [`std::error::Error::source`] is for the operator's log.

mod params;

pub use params::Params;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::lifecycle::named_enum;
use crate::store::StoreError;

named_enum! {
    /// The category of an error, after the error categories of the GSMA Mobile Money API.
    pub enum Category {
        /// The request itself is wrong.
        Validation = "validation",
        /// The caller is not allowed to do this.
        Authorisation = "authorisation",
        /// The resource or the caller is unknown.
        Identification = "identification",
        /// The request is well formed, but the current state rules it out.
        BusinessRule = "business_rule",
        /// Nothing is wrong with the request; retry later.
        ServiceUnavailable = "service_unavailable",
        /// A fault of the gateway.
        Internal = "internal",
    }
}

macro_rules! error_codes {
    ($($variant:ident = $name:literal, $status:literal, $category:ident, $retry:literal, $title:literal, $meaning:literal, $advice:literal;)*) => {
        /// A stable error code. The wire name never changes; new codes may be added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $(#[doc = $title] $variant,)* }

        impl ErrorCode {
            /// All codes, roughly in the order of their HTTP status.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The wire name, `snake_case`.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $name,)* } }
            /// The HTTP status of this code.
            pub const fn http_status(self) -> u16 { match self { $(Self::$variant => $status,)* } }
            /// The category of the code.
            pub const fn category(self) -> Category { match self { $(Self::$variant => Category::$category,)* } }
            /// Whether the very same request is safe and useful to send again.
            pub const fn retryable(self) -> bool { match self { $(Self::$variant => $retry,)* } }
            /// One short sentence for people, the same for every occurrence.
            pub const fn title(self) -> &'static str { match self { $(Self::$variant => $title,)* } }
            /// What the code means, in a sentence or two. For the documentation; not part of a response.
            pub const fn meaning(self) -> &'static str { match self { $(Self::$variant => $meaning,)* } }
            /// What the caller should do. For the documentation; not part of a response.
            pub const fn advice(self) -> &'static str { match self { $(Self::$variant => $advice,)* } }
        }
    };
}

error_codes! {
    MalformedJson = "malformed_json", 400, Validation, false, "The body is not valid JSON",
        "The body could not be read as JSON: a syntax error, bytes that are not UTF-8, or something after its end.",
        "Send exactly one JSON document. Each entry of `errors` names the place where parsing stopped.";
    MalformedRequest = "malformed_request", 400, Validation, false, "The request is malformed",
        "The request breaks HTTP or a rule for its parameters: a truncated body, an unreadable query, a body where none is allowed.",
        "Read `detail`, correct the request and send it again.";
    InvalidCursor = "invalid_cursor", 400, Validation, false, "The cursor is not one that this list gave out",
        "A cursor belongs to the list that returned it. This one was altered, or comes from another list.",
        "Pass `next_cursor` back unchanged, to the same list, or start again without a cursor.";
    DigestMismatch = "digest_mismatch", 400, Validation, false, "The body does not match its Content-Digest",
        "The Content-Digest header is missing its `sha-256`, is malformed, or names a different body. The body may have been altered in \
         transit.",
        "Compute the digest over the exact bytes that you send, after any compression or reformatting.";
    TokenMissing = "token_missing", 401, Authorisation, false, "An access token is required",
        "The route requires an access token, and the call has none.",
        "Get a token at `POST /api/v1/auth/tokens` and send it as `Authorization: Bearer …`, covered by the signature.";
    TokenInvalid = "token_invalid", 401, Authorisation, false, "The access token is not known",
        "The token was never issued, was revoked, or its key was revoked.",
        "Get a new token with your key. If that is refused too, the key has been revoked.";
    TokenExpired = "token_expired", 401, Authorisation, false, "The access token has expired",
        "A token is valid for 15 minutes.",
        "Get a new token at `POST /api/v1/auth/tokens`, then sign the call with it and send it again.";
    SignatureMissing = "signature_missing", 401, Authorisation, false, "The call must be signed",
        "The route requires an HTTP message signature (RFC 9421) with the tag `railgate`, and the call has none.",
        "Sign the call as the Accept-Signature header of the response specifies.";
    SignatureInvalid = "signature_invalid", 401, Authorisation, false, "The signature does not match the call",
        "The signature omits a required component, is malformed, was made with another key, or covers values other than those received.",
        "Compare what you signed with what you sent. In the sandbox, `signature_base` is the text that the gateway checked.";
    ChallengeInvalid = "challenge_invalid", 401, Authorisation, false, "The nonce does not begin with a challenge of this gateway",
        "Every nonce begins with a challenge that this gateway issued, for the same mode. This one does not.",
        "Take the challenge from the Signature-Challenge header of any response, append random characters of your own, and sign again.";
    ChallengeExpired = "challenge_expired", 401, Authorisation, false, "The challenge has expired; take a fresh one",
        "A challenge is valid for five minutes.",
        "Sign again with the new challenge in the Signature-Challenge header of the response.";
    NonceReplayed = "nonce_replayed", 401, Authorisation, false, "The nonce was used before",
        "A nonce is valid for one call. This one was used before.",
        "Sign every call with a new nonce, even a retry. If you did not send the call twice, someone else sent a copy of it, without \
         effect.";
    ClockSkew = "clock_skew", 401, Authorisation, false, "The signature's time is too far from the gateway's",
        "The signature's `created` may differ from the gateway's clock by five minutes at most, and its `expires` must not have passed.",
        "Set your clock, or take the time from the Date header of a response. `detail` names both times.";
    KeyUnknown = "key_unknown", 401, Authorisation, false, "The key is not enrolled",
        "The `keyid` of the signature names no enrolled key.",
        "Enroll the key first. A key's id is its RFC 7638 thumbprint.";
    KeyRevoked = "key_revoked", 401, Authorisation, false, "The key was revoked",
        "The key and all its tokens were revoked permanently.",
        "Sign with another key of the client, or enroll a new one.";
    SignatureKeyRequired = "signature_key_required", 401, Authorisation, false, "The key itself must sign this call",
        "The call is signed in a session. Tokens, keys, enrolments and what operators do are signed by the key itself; and so is what the \
         client's `session_signatures` exclude.",
        "Sign the call again with the key that took the token, with a new nonce. Nothing was done.";
    InsufficientScope = "insufficient_scope", 403, Authorisation, false, "The credential may not do this",
        "The token or its key lacks the scope that the route requires.",
        "Get a token with the scope that `detail` names. If the key lacks it too, ask the operator of the gateway.";
    EnrollmentPending = "enrollment_pending", 403, Authorisation, false, "An operator has not approved the key yet",
        "The key is enrolled, but on this gateway an operator must approve new keys first.",
        "Wait for the approval, then try again. The key need not be enrolled a second time.";
    EnrollmentClosed = "enrollment_closed", 403, Authorisation, false, "The gateway takes no new clients",
        "The operator of the gateway has switched enrolment off. Clients that are enrolled are not affected.",
        "Ask the operator of the gateway.";
    EnrollmentFull = "enrollment_full", 403, Authorisation, false, "The gateway has as many clients as it takes",
        "The operator of the gateway has set a limit on clients, and it is reached. Clients that are enrolled are not affected.",
        "Ask the operator of the gateway, or try again another day: clients that were never used expire.";
    InvitationInvalid = "invitation_invalid", 403, Authorisation, false, "Enrolment requires a valid invitation",
        "On this gateway a new client enrols with an invitation. The call has none, or one that is unknown, used or expired.",
        "Ask the operator of the gateway for an invitation and send its code as `invitation`. Each one serves for one client.";
    ModeMismatch = "mode_mismatch", 403, Authorisation, false, "The credential belongs to another mode",
        "Sandbox credentials cannot move real money, and live ones cannot reach the sandbox.",
        "Use a credential of the right mode, or omit `sandbox`.";
    ClientSuspended = "client_suspended", 403, Authorisation, false, "The client is suspended",
        "An operator has suspended the client. Payments that were already sent are still completed or fail as usual.",
        "Ask the operator of the gateway.";
    UserBlocked = "user_blocked", 403, Authorisation, false, "The user is blocked",
        "The client has blocked this user: the user's devices may not call, and nobody pays as this user.",
        "The client may set the user's `status` to `active` again.";
    DeviceCodeInvalid = "device_code_invalid", 403, Authorisation, false, "The code is not valid",
        "A device enrols with a code that its user got from the client. The code is mistyped, unknown, was used, has expired, or was \
         replaced by a newer one.",
        "Compare it with what was shown, or ask for another code. Each one serves for one device, for ten minutes.";
    SecondOperatorRequired = "second_operator_required", 403, Authorisation, false, "Somebody else has to decide this",
        "Nobody decides about what they asked for themselves, nor about what was asked for by an operator whom they invited or who invited \
         them.",
        "Ask a colleague who may approve. Operators whom `railgate operators invite` invited on the server were invited by nobody.";
    SettlementNotFound = "settlement_not_found", 404, Identification, false, "No such settlement",
        "You have no settlement with this reference or id. Those of other clients are never shown.",
        "Check the spelling. If you sent the create and got no response, send the same create again: it is not carried out twice.";
    ReversalNotFound = "reversal_not_found", 404, Identification, false, "No such reversal",
        "The settlement has no reversal with this reference or id.",
        "List its reversals at `GET /api/v1/gateway/settlements/{ref}/reversals`.";
    ReviewNotFound = "review_not_found", 404, Identification, false, "Nothing waits for a decision",
        "Neither the settlement nor the reversal named waits for a person. Only operators see this code.",
        "List what waits with `railgate review list`. Somebody else, or the rail itself, may have decided it meanwhile.";
    ReconciliationNotFound = "reconciliation_not_found", 404, Identification, false, "No such reconciliation",
        "The gateway has no reconciliation with this id. Only operators see this code.",
        "List them at `GET /api/v1/operator/reconciliations` or with `railgate reconcile list`.";
    BundleNotFound = "bundle_not_found", 404, Identification, false, "No such bundle",
        "The client has no bundle with this id in this mode, or the bundle has no such revision or document. Those of other clients are \
         never shown.",
        "List your bundles at `GET /api/v1/bundles`.";
    OperatorNotFound = "operator_not_found", 404, Identification, false, "No such operator",
        "The gateway has no operator with this id. Only operators see this code.",
        "List them at `GET /api/v1/operator/operators` or with `railgate operators list`.";
    ApprovalNotFound = "approval_not_found", 404, Identification, false, "Nothing with this id was asked for",
        "No operator asked for a confirmation under this id. Only operators see this code.",
        "List what was asked for at `GET /api/v1/operator/approvals`.";
    UserNotFound = "user_not_found", 404, Identification, false, "No such user",
        "The client has no end user of this name in the environment of the credential.",
        "A user is added with the first code for a device of theirs: `POST /api/v1/mobile/enrollment-codes`.";
    DeviceNotFound = "device_not_found", 404, Identification, false, "No such device",
        "There is no device with this id, or it is not the caller's.",
        "List the devices at `GET /api/v1/mobile/devices`.";
    NotificationNotFound = "notification_not_found", 404, Identification, false, "No such notification",
        "There is no notification with this id, or it is not this user's. The newest 500 are kept, for 90 days.",
        "List them at `GET /api/v1/mobile/notifications`.";
    PushSubscriptionNotFound = "push_subscription_not_found", 404, Identification, false, "No such push subscription",
        "There is no push subscription with this id, it is not this user's, or its push service said that it has ended.",
        "List them at `GET /api/v1/mobile/push-subscriptions`; the app may subscribe again.";
    PaymentApprovalNotFound = "payment_approval_not_found", 404, Identification, false, "No payment with this id waits for the user",
        "There is no such payment, it is not this user's, or it never needed an approval.",
        "List what waits at `GET /api/v1/mobile/approvals`.";
    AccountNotFound = "account_not_found", 404, Identification, false, "The client has no account in this currency",
        "A payment is made from the client's account in its currency, and the client has none. Nothing was reserved.",
        "Pay in a currency of `GET /api/v1/balances`. A deposit opens an account; in the sandbox, `POST /api/v1/simulator/fund` does.";
    BalanceNotFound = "balance_not_found", 404, Identification, false, "No balance in that currency",
        "The client has no account in this currency.",
        "List your accounts at `GET /api/v1/balances`.";
    MovementNotFound = "movement_not_found", 404, Identification, false, "No such deposit, withdrawal or credit line",
        "No operator credited or debited real money of the client under this reference. Those of other clients are never shown.",
        "Look at the statement: `GET /api/v1/balances/{currency}/entries`.";
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
        "The gateway has no client with this id. Only operators see this code.",
        "List the clients with `railgate clients list`.";
    ProviderNotFound = "provider_not_found", 404, Identification, false, "No such provider",
        "The gateway has no provider with this id.",
        "List them at `GET /api/v1/providers`.";
    RouteNotFound = "route_not_found", 404, Identification, false, "There is no such path",
        "No route has this path. Paths are case-sensitive and have no trailing slash.",
        "`GET /openapi.json` describes every route.";
    VersionSunset = "version_sunset", 410, Identification, false, "This route has stopped",
        "The route was deprecated for at least a year, and stopped at the time in `Sunset`. Nothing was done.",
        "Use the route in `Link` with `rel=\"successor-version\"`. `GET /openapi.json` describes it.";
    MethodNotAllowed = "method_not_allowed", 405, Validation, false, "That path does not take this method",
        "The path exists, but not with this method.",
        "Use one of the methods in the Allow header.";
    NotAcceptable = "not_acceptable", 406, Validation, false, "No representation matches the Accept header",
        "The Accept header rules out every media type of this route.",
        "`detail` lists the available media types. Without an Accept header you get the first.";
    BodyTooLarge = "body_too_large", 413, Validation, false, "The body is too large",
        "The limit is 64 KiB; 256 MiB for a provider's statement, 1 MiB for a batch, 8 KiB for an enrolment, 4 KiB for a challenge.",
        "Send less at a time: split the batch, or shorten the metadata.";
    UnsupportedMediaType = "unsupported_media_type", 415, Validation, false, "The body must be application/json",
        "Bodies are JSON and must be labelled as such; only a provider's statement may also be CSV or XML.",
        "Send `Content-Type: application/json`.";
    Timeout = "timeout", 504, ServiceUnavailable, true, "The request took too long",
        "The gateway could not finish in time. It is not known whether the request was carried out.",
        "If `retryable` is true, send the same request again: nothing is done twice. Otherwise check first whether it was carried out.";
    ReferenceConflict = "reference_conflict", 409, BusinessRule, false, "The reference was used for a different request",
        "You have used this reference before, for a request that differs. The earlier request stands; this one had no effect.",
        "Each entry of `errors` names a field that differs. Read the settlement or reversal with this reference. If you meant a new \
         payment, give it a new reference.";
    ReferenceElsewhere = "reference_elsewhere", 409, BusinessRule, false, "The reference was used at another gateway",
        "The client came from another gateway and used this reference there. `detail` names what has it, and `other_gateway` where that \
         is. Nothing was done here.",
        "Read it at `other_gateway`, with the same key: it may be the very payment that you mean. If you meant a new one, give it a new \
         reference.";
    SettlementInFlight = "settlement_in_flight", 409, BusinessRule, true, "The settlement is on its way; wait until it is final",
        "The payment has been handed to a provider, whose final answer is not known yet. A payment that may still arrive cannot be undone.",
        "Wait until the status is final, by webhook, feed or long poll, then try again.";
    InvalidState = "invalid_state", 409, BusinessRule, false, "Its state does not allow this",
        "The request is well formed, but the state of the resource rules it out, and waiting does not change that.",
        "Read the current state. `detail` names the obstacle.";
    ApprovalDecided = "approval_decided", 409, BusinessRule, false, "The payment does not wait for the user any more",
        "It was approved or declined on another device, it was decided differently before, or its time is over. What was decided first \
         counts.",
        "Read the payment. `detail` says what was decided, when, and on which device.";
    ReversalExceedsRemaining = "reversal_exceeds_remaining", 409, BusinessRule, false, "More than what is left to reverse",
        "The reversals of a settlement must not exceed its amount in total.",
        "Reverse no more than the remainder, which `detail` names, or omit `amount` to reverse all of it.";
    AlreadyReversed = "already_reversed", 409, BusinessRule, false, "The settlement is already reversed",
        "Nothing of the settlement is left to reverse.",
        "There is nothing to do. The settlement's reversals show when and why.";
    EpochChanged = "epoch_changed", 409, Identification, false, "The feed is not the one you followed",
        "The gateway's operator restored a backup, so that positions after it were assigned again; or `after` is past the end of the feed.",
        "Read the feed again from 0, or from a position before the backup, without `epoch`. Recognise the events that you have by their \
         `id`.";
    NotCompleted = "not_completed", 409, BusinessRule, false, "The settlement is not completed, so there is no receipt",
        "A receipt confirms that the money arrived, so there is none before.",
        "Wait until the settlement is completed. A failed or cancelled one never has a receipt.";
    VersionConflict = "version_conflict", 409, BusinessRule, true, "It was changed in the meantime",
        "Another request changed the same resource at the same time. Nothing of this request was done.",
        "Read again; if the request still makes sense, send it again.";
    ClientMoving = "client_moving", 409, BusinessRule, true, "The client is moving to another gateway",
        "The gateway's operator is moving the client. Until that is done, nothing new begins at either gateway; what exists can be read at \
         the old one.",
        "Try again in a minute. When the client has moved, the old gateway says where to: `client_moved`.";
    ClientMoved = "client_moved", 409, BusinessRule, false, "The client moved to another gateway",
        "The client is at another gateway now, whose address `other_gateway` names. What it did here can be read and reversed here for \
         ever, and nothing new begins here.",
        "Send the call to `other_gateway`, signed for that address, with the same key. Payments that were made here keep their references \
         there.";
    RequestInProgress = "request_in_progress", 409, BusinessRule, true, "The same request is still in progress",
        "An identical or competing request has not finished yet.",
        "Wait a moment, then send the request again.";
    KeyExists = "key_exists", 409, BusinessRule, false, "The key is enrolled already",
        "The public key belongs to a client already. A key is enrolled once.",
        "Get a token with it. If the key is not yours, generate a new key pair.";
    TooManyWebhooks = "too_many_webhooks", 409, BusinessRule, false, "The limit on webhooks is reached",
        "A client may have a limited number of webhooks, which `detail` names.",
        "Remove one that is no longer needed, or subscribe one webhook to more types of event.";
    TooManyBundles = "too_many_bundles", 409, BusinessRule, false, "The limit on bundles is reached",
        "A client may have a limited number of bundles, revisions and comments, and limited room for documents; `detail` names the limit.",
        "Withdraw bundles that are no longer needed, attach smaller documents, or ask the operator of the gateway.";
    BundleUnusable = "bundle_unusable", 422, Validation, false, "The bundle cannot be read",
        "The archive is damaged, or is not one that the gateway unpacks: paths, links, encryption, archives in archives, sizes that do not \
         fit, or bytes around it. Nothing was recorded of it.",
        "`errors` names the entry and what is wrong with it. Pack plain files without folders: `zip -X bundle.zip manifest.json \
         secrets.json licence.pdf`.";
    InvalidFields = "invalid_fields", 422, Validation, false, "Some fields are not valid",
        "At least one field breaks a rule. All problems of the request are reported at once, up to 100; nothing was done.",
        "Correct everything in `errors`: `pointer` is the place, `code` the problem, `message` what would be valid.";
    StatementUnusable = "statement_unusable", 422, Validation, false, "The statement cannot be used",
        "The file is damaged, in another format or encoding, too large, or obviously not a statement of this provider. Nothing was \
         recorded of it.",
        "`errors` names the line, byte or element, and what is wrong there. For a table, check the provider's `statement_…` settings. Only \
         operators see this code.";
    InsufficientFunds = "insufficient_funds", 422, BusinessRule, false, "The account does not hold enough",
        "The available balance does not cover the amount and the fee. Without any account in the currency, the code is \
         `account_not_found`.",
        "Fund the account, or pay less. `GET /api/v1/balances` shows what is available and what is reserved.";
    AmountBelowMinimum = "amount_below_minimum", 422, BusinessRule, false, "Less than the smallest payment",
        "No provider for this payment accepts so small an amount, or your own limits do not allow it.",
        "Pay at least the amount in `detail`.";
    AmountAboveMaximum = "amount_above_maximum", 422, BusinessRule, false, "More than the largest payment",
        "No provider for this payment accepts so large an amount, or your own limits do not allow it.",
        "Pay at most the amount in `detail`, in several settlements if necessary.";
    LimitDailyValue = "limit_daily_value", 422, BusinessRule, false, "The payments of today would add up to too much",
        "The gateway's operator limits the sum of your payments of a day, in each currency. Nothing was reserved.",
        "Pay at most what `detail` says is left, or the rest after midnight UTC. Payments that fail or are cancelled do not count.";
    LimitDailyCount = "limit_daily_count", 422, BusinessRule, false, "There were too many payments today",
        "The gateway's operator limits how many payments you make in a day, in each currency. Nothing was reserved.",
        "Pay after midnight UTC. Payments that fail or are cancelled do not count.";
    SameParty = "same_party", 422, BusinessRule, false, "Payer and payee are the same",
        "The payee is the client that pays.",
        "Correct `to`.";
    QuoteExpired = "quote_expired", 422, BusinessRule, false, "The quote has expired; ask for a new one",
        "A quote holds its fee until `expires_at`. That time has passed, or the provider is no longer available.",
        "Get a new quote at `POST /api/v1/gateway/settlements/check` and show its fee before you pay.";
    IdempotencyKeyReused = "idempotency_key_reused", 422, Validation, false, "The Idempotency-Key was used for a different request",
        "An Idempotency-Key identifies one request. This one was used before, for a different request.",
        "Use a new key for every new request, and repeat it only to retry that request.";
    ReversalNotSupported = "reversal_not_supported", 422, BusinessRule, false, "The provider cannot reverse this",
        "The provider of the payment cannot reverse it, or not in part.",
        "Reverse the whole amount if `detail` says that this is possible; otherwise settle it with the payee directly.";
    ReversalWindowClosed = "reversal_window_closed", 422, BusinessRule, false, "It is too late to reverse this",
        "The time in which the payment could be reversed has passed.",
        "Settle it with the payee directly, or ask the gateway's operator.";
    ReceiptInvalid = "receipt_invalid", 422, Validation, false, "The receipt is not one that these keys signed",
        "The text is not a receipt, or its signature does not match any of the keys it was checked against.",
        "Do not rely on it. Fetch the receipt and the keys (`/.well-known/jwks.json`) from the gateway that issued it.";
    RateLimited = "rate_limited", 429, ServiceUnavailable, true, "Too many requests; slow down",
        "The client, or its address, has sent more requests than allowed.",
        "Wait for the number of seconds in Retry-After. The RateLimit headers show the remaining quota.";
    Internal = "internal", 500, Internal, false, "Something went wrong on our side",
        "The gateway has a fault. The cause is in its log, under `request_id`.",
        "Check whether the request was carried out before you send it again. Give the operator the `request_id`.";
    NoRoute = "no_route", 503, ServiceUnavailable, true, "No provider serves that participant and currency now",
        "No provider in service reaches this payee in this currency. Nothing was reserved.",
        "Check `to` and `currency`; try again later.";
    NotLoggedYet = "not_logged_yet", 503, ServiceUnavailable, true, "The event is not in the log yet; try again in a moment",
        "The event is stored; it is added to the log shortly afterwards.",
        "Wait for the number of seconds in Retry-After, then try again.";
    StoreUnavailable = "store_unavailable", 503, ServiceUnavailable, true, "The store cannot be reached; nothing was lost",
        "The gateway cannot reach its database. If this happened while the request was being stored, it is not known whether it was \
         carried out.",
        "If `retryable` is true, send the same request again after a pause: nothing is done twice. Otherwise check first whether it was \
         carried out.";
}

/// A problem of a request, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FieldProblem {
    /// RFC 6901 JSON pointer into the request body; for a query parameter, its name.
    pub pointer: String,
    /// Stable code, such as `required`, `wrong_type`, `amount_scale`.
    pub code: Cow<'static, str>,
    /// One sentence for people that describes a valid value.
    pub message: String,
    /// The values in the message, for programs that write their own: limits as `min` and `max`, as `nearest` what was probably meant,
    /// as `hint` which of several reasons with the same code it is.
    #[serde(default, skip_serializing_if = "Params::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false, value_type = std::collections::BTreeMap<String, String>))]
    pub params: Params,
}

impl FieldProblem {
    /// Creates a problem at `pointer`.
    pub fn new(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code: Cow::Borrowed(code), message: message.into(), params: Params::default() }
    }

    /// With the values in the message.
    #[must_use]
    pub fn with(mut self, params: Params) -> Self {
        self.params = params;
        self
    }
}

/// The most problems that a response lists; the rest is only counted.
pub const PROBLEMS_MAX: usize = 100;
/// The code of an entry that stands for those that are not listed.
const MORE: &str = "more_problems";
/// The most characters of a caller's own text that a message repeats.
const EXCERPT_MAX_CHARS: usize = 64;

/// A caller's own text for a message or a pointer, cut so that a response stays small whatever was sent.
pub fn excerpt(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(EXCERPT_MAX_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Why a command or a query was not carried out; the details are in [`ErrorDetails`]. The size of one pointer, because almost every
/// function may fail. Cheap to clone, because one failed group commit is reported to many callers.
#[derive(Clone)]
pub struct Error(Box<ErrorDetails>);

/// The details of an [`Error`].
#[derive(Debug, Clone)]
pub struct ErrorDetails {
    /// The stable code.
    pub code: ErrorCode,
    /// One sentence for the caller about this occurrence. Never contains internals or other people's personal data.
    pub detail: Cow<'static, str>,
    /// The problems of the request, for [`ErrorCode::InvalidFields`] and malformed requests. If there are more than
    /// [`PROBLEMS_MAX`], the last entry has the code `more_problems` and says how many are not listed.
    pub fields: Vec<FieldProblem>,
    /// How many problems are not listed.
    omitted: usize,
    /// Whether the very same request is safe and useful to send again. The code's default, unless the request may have been carried
    /// out and would then be carried out twice.
    pub retryable: bool,
    /// The address of the gateway to which the client moved, or which has what the call is about.
    pub other_gateway: Option<String>,
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

/// The first problem, and how many more there are: `/amount must be greater than zero; and 2 more problems`.
fn first_of(fields: &[FieldProblem], omitted: usize) -> String {
    let Some(FieldProblem { pointer, message, .. }) = fields.first() else { return ErrorCode::InvalidFields.title().to_owned() };
    // Most messages say of the field what it is or must be.
    let of_it = message.starts_with("is ") || message.starts_with("must ");
    let between = if pointer.is_empty() {
        ""
    } else if of_it {
        " "
    } else {
        ": "
    };
    let said = [pointer, between, message].concat();
    match fields.len() - 1 + omitted {
        0 => said,
        more => format!("{said}; and {more} more problem{}", if more == 1 { "" } else { "s" }),
    }
}

/// The result type of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with the code's title as its detail.
    pub fn new(code: ErrorCode) -> Self {
        Self::with(code, code.title())
    }

    /// An error with a specific detail.
    pub fn with(code: ErrorCode, detail: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(ErrorDetails {
            code,
            detail: detail.into(),
            fields: Vec::new(),
            omitted: 0,
            retryable: code.retryable(),
            other_gateway: None,
            source: None,
        }))
    }

    /// An error with all problems of a request, of which it lists at most [`PROBLEMS_MAX`].
    pub fn invalid(fields: Vec<FieldProblem>) -> Self {
        Self::invalid_and_more(fields, 0)
    }

    /// [`Error::invalid`], for a request with `omitted` more problems, which were only counted.
    pub(crate) fn invalid_and_more(fields: Vec<FieldProblem>, omitted: usize) -> Self {
        let mut error = Self::with(ErrorCode::InvalidFields, first_of(&fields, omitted));
        error.fields = fields;
        error.omitted = omitted;
        error.list(PROBLEMS_MAX);
        error
    }

    /// Lists at most as many problems as are left of `budget`, which a whole response shares, and takes them from it.
    pub(crate) fn list_within(&mut self, budget: &mut usize) {
        let total = self.fields.iter().filter(|problem| problem.code != MORE).count() + self.omitted;
        *budget -= self.list(*budget);
        if total > 0 && self.fields.is_empty() {
            let problems = if total == 1 { "problem" } else { "problems" };
            self.detail = Cow::Owned(format!("not valid, with {total} {problems}; the response lists problems of earlier elements only"));
        }
    }

    /// Lists at most `most` problems; returns how many.
    fn list(&mut self, most: usize) -> usize {
        self.fields.retain(|problem| problem.code != MORE);
        let listed = self.fields.len().min(most);
        self.omitted += self.fields.len() - listed;
        self.fields.truncate(listed);
        if listed > 0 && self.omitted > 0 {
            let more = format!("and {} more", self.omitted);
            self.fields.push(FieldProblem::new("", MORE, more));
        }
        listed
    }

    /// An error with a single problem of a request.
    pub fn field(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldProblem::new(pointer, code, message)])
    }

    /// The problems of the request, if there are any.
    pub fn into_fields(self) -> Vec<FieldProblem> {
        self.0.fields
    }

    /// The conflict of a request with an earlier one of the same reference, from its fields and whether each differs. Names the
    /// fields, not their values: whoever may write may not read everything. `None` if nothing differs.
    pub(crate) fn differing<const N: usize>(fields: [(&str, bool); N]) -> Option<Self> {
        let names: Vec<&str> = fields.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
        if names.is_empty() {
            return None;
        }
        let mut error = Self::with(ErrorCode::ReferenceConflict, format!("the reference was used with another {}", names.join(", ")));
        let problem = |name: &&str| FieldProblem::new(["/", name].concat(), "differs", "differs from the earlier request");
        error.fields = names.iter().map(problem).collect();
        Some(error)
    }

    /// An internal error; `cause` goes to the log, never to the caller.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::caused(ErrorCode::Internal, cause)
    }

    /// An error for a request that may or may not have been carried out. A request that is not `repeatable` must not simply be sent
    /// again; see [`Command::is_repeatable`](crate::engine::Command::is_repeatable).
    pub fn in_doubt(code: ErrorCode, repeatable: bool) -> Self {
        let detail = if repeatable {
            "it is not known whether the request was carried out; send it again to find out: nothing is done twice"
        } else {
            "it is not known whether the request was carried out; check before you send it again, because it could be done twice. \
             With a reference or an Idempotency-Key, a reversal is safe to send again"
        };
        let mut error = Self::with(code, detail);
        error.retryable &= repeatable;
        error
    }

    /// Whether the error only means that a stored record is damaged: an internal error, except a store that refuses to be read at
    /// all.
    pub fn is_damage(&self) -> bool {
        let fault = self.0.source.as_deref().and_then(|cause| cause.downcast_ref::<StoreError>());
        self.code == ErrorCode::Internal && fault.is_none_or(|fault| fault.corrupt)
    }

    /// Names the other gateway to which the caller should turn.
    #[must_use]
    pub(crate) fn at_gateway(mut self, url: impl Into<String>) -> Self {
        self.other_gateway = Some(url.into());
        self
    }

    /// An error with a cause for the log.
    pub fn caused(code: ErrorCode, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(code).because(cause)
    }

    /// Adds a cause for the log.
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
    /// The problem type: the path of its page on the server, `/docs/problems/<code>`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "openapi", schema(example = "/docs/problems/reference_conflict"))]
    pub kind: String,
    /// One short sentence, the same for every occurrence.
    pub title: Cow<'static, str>,
    /// The HTTP status.
    pub status: u16,
    /// One sentence about this occurrence.
    pub detail: Cow<'static, str>,
    /// The requested path; absent if there was no HTTP request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub instance: Option<String>,
    /// A stable code for programs.
    #[cfg_attr(feature = "openapi", schema(example = "reference_conflict"))]
    pub code: Cow<'static, str>,
    /// The category of the code.
    pub category: Category,
    /// Whether the same request is safe and useful to send again.
    pub retryable: bool,
    /// Identifies this request in the server's log; absent if there was no HTTP request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub request_id: Option<String>,
    /// In the sandbox, for an invalid signature: the base (RFC 9421, section 2.5) that should have been signed, without the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_base: Option<String>,
    /// The address of the client's other gateway: the one to which it moved, or the one that has what the call is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_gateway: Option<String>,
    /// Every problem of the request, and where it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}

/// What every problem with a code says. A program that takes it in a `const` carries the texts of this code only.
#[derive(Debug, Clone, Copy)]
pub struct CodeFacts {
    code: &'static str,
    status: u16,
    category: Category,
    retryable: bool,
    title: &'static str,
}

impl CodeFacts {
    /// A problem with this code.
    pub fn problem(self, detail: Cow<'static, str>, errors: Vec<FieldProblem>) -> Problem {
        Problem {
            kind: [ErrorCode::DOCS, "/", self.code].concat(),
            title: Cow::Borrowed(self.title),
            status: self.status,
            detail,
            instance: None,
            code: Cow::Borrowed(self.code),
            category: self.category,
            retryable: self.retryable,
            request_id: None,
            signature_base: None,
            other_gateway: None,
            errors,
        }
    }
}

impl Error {
    /// The public part of the error. The host adds members that depend on the request, such as `instance`.
    pub fn problem(&self) -> Problem {
        let problem = self.code.facts().problem(self.detail.clone(), self.fields.clone());
        Problem { retryable: self.retryable, other_gateway: self.other_gateway.clone(), ..problem }
    }

    /// [`Error::problem`] as a JSON object.
    pub fn problem_json(&self) -> String {
        // Only strings, numbers and booleans, so this cannot fail.
        serde_json::to_string(&self.problem()).unwrap_or_default()
    }
}

impl ErrorCode {
    /// The path under which a server documents its codes, one page per code.
    pub const DOCS: &'static str = "/docs/problems";

    /// What every problem with this code says.
    pub const fn facts(self) -> CodeFacts {
        let (code, status, category) = (self.as_str(), self.http_status(), self.category());
        CodeFacts { code, status, category, retryable: self.retryable(), title: self.title() }
    }

    /// The code with this wire name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// The RFC 9457 problem type: a reference relative to the server, which documents the code there.
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
