//! The OpenAPI document: what each route declares, and what applies to all of them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::Method;
use hyper::body::Bytes;
use railgate::ErrorCode;
use railgate::api::{
    AnswerDetails, ApprovalTerms, AttemptDetails, BundleDetails, BundleEventView, BundleStepDetails, CancellationDetails,
    CompletionDetails, ConsentDetails, CreditChange, CreditDetails, DecisionDetails, FailureDetails, FieldProblem, MovedDetails,
    MovementDetails, NoDetails, OutcomeDetails, PaymentDetails, Problem, ReversalDetails, ReversalTerms, ReviewDetails, ShownDetails,
};
use serde_json::{Value, json};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem, PathsMap};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{AdditionalProperties, Object, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi as Document, Ref, RefOr, Required, Server};
use utoipa::{IntoParams, IntoResponses, OpenApi};

use super::deprecated::{DEPRECATED, Deprecated, mark};

/// How calls are signed.
const SIGNED: &str = "An access token from `/api/v1/auth/tokens` and, on every call, an RFC 9421 signature by its key, or in \
    the session that the token call began (`hmac-sha256`): \
    `Signature-Input` covers `@method`, `@target-uri`, `authorization` and, if sent, `content-type`, \
    `content-digest` and `idempotency-key`, with `created`, `keyid`, `alg`, `tag=\"railgate\"` and a `nonce` that begins \
    with a challenge of this gateway.";

/// What applies to every route.
#[derive(OpenApi)]
#[openapi(
    info(title = "railgate", description = "Settlement gateway: create a payment, trace it, reverse it. Amounts are exact decimals; every error is an RFC 9457 problem with a stable `code`."),
    components(schemas(
        Problem, FieldProblem, BundleEventView,
        // Events name these by their type.
        PaymentDetails, NoDetails, CompletionDetails, ReviewDetails, FailureDetails, CancellationDetails, ReversalDetails, ReversalTerms,
        AnswerDetails, OutcomeDetails, DecisionDetails, AttemptDetails, MovementDetails, MovedDetails, CreditDetails, CreditChange,
        ApprovalTerms, ConsentDetails, ShownDetails, BundleDetails, BundleStepDetails,
    )),
    security(("bearer" = [])),
    tags(
        (name = "settlements", description = "Payments"),
        (name = "reversals", description = "Undoing payments, in whole or in part"),
        (name = "balances", description = "The client's accounts"),
        (name = "bundles", description = "Providers as their partners describe them, and their review"),
        (name = "providers", description = "The operators that payments can go to"),
        (name = "rails", description = "What operators call"),
        (name = "operators", description = "What the people who run the gateway see and decide"),
        (name = "webhooks", description = "Event notifications: Standard Webhooks 1.0.0"),
        (name = "access", description = "Credentials"),
        (name = "mobile", description = "End users of clients, their devices, payments that wait for them, and what they are told"),
        (name = "simulator", description = "The sandbox's simulated operator"),
        (name = "log", description = "The transparency log of all events of the credential's mode"),
        (name = "service", description = "The service itself"),
    ),
)]
struct Base;

/// The document before the routes are added.
pub(super) fn base() -> Document {
    Base::openapi()
}

/// The document as a server has it: written when somebody asks for it.
pub(super) struct Described {
    public_url: Option<String>,
    #[cfg_attr(feature = "written-document", expect(dead_code, reason = "it is written already"))]
    deprecated: &'static [Deprecated],
    text: OnceLock<Bytes>,
    compressed: OnceLock<Option<Bytes>>,
}

impl Described {
    pub(super) fn new(public_url: Option<String>, deprecated: &'static [Deprecated]) -> Self {
        Self { public_url, deprecated, text: OnceLock::new(), compressed: OnceLock::new() }
    }

    pub(super) fn text(&self) -> Bytes {
        self.text.get_or_init(|| self.write().unwrap_or_default().into()).clone()
    }

    #[cfg(feature = "written-document")]
    fn write(&self) -> Option<Vec<u8>> {
        super::written::written(self.public_url.as_deref())
    }

    #[cfg(not(feature = "written-document"))]
    fn write(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(&described(self.public_url.as_deref(), self.deprecated)).ok()
    }

    /// The same with gzip, a fifteenth of its size.
    pub(super) fn compressed(&self) -> Option<Bytes> {
        let write = || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&self.text()).ok()?;
            encoder.finish().ok().map(Bytes::from)
        };
        self.compressed.get_or_init(write).clone()
    }
}

/// The whole document (OpenAPI 3.1), as `/openapi.json` serves it.
pub fn document(public_url: Option<&str>) -> Document {
    described(public_url, DEPRECATED)
}

/// See [`document`]; with these routes marked as deprecated.
pub(super) fn described(public_url: Option<&str>, deprecated: &[Deprecated]) -> Document {
    let mut document = super::described().into_openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    document.servers = Some(vec![Server::new(public_url.unwrap_or("/"))]);
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(SIGNED)).build();
    document.components.get_or_insert_default().add_security_scheme("bearer", SecurityScheme::Http(bearer));
    // The router's form for the rest of a path, `{*name}`, does not exist in an OpenAPI template.
    let paths = std::mem::take(&mut document.paths.paths);
    document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    merge_closed(&mut document.components.get_or_insert_default().schemas);
    add_shadows(&mut document.paths.paths);
    super::webhooks::announced(&mut document);
    for path in document.paths.paths.values_mut() {
        for operation in operations(path) {
            add_request_id(operation);
            operation.request_body.iter_mut().for_each(without_null);
            operation.parameters.iter_mut().flatten().for_each(as_text);
        }
    }
    mark(&mut document, deprecated);
    if !cfg!(feature = "pdf") {
        without_form(&mut document, super::receipts::PDF, "Paper");
    }
    document
}

/// Removes a response format that this build does not have.
fn without_form(document: &mut Document, content_type: &str, schema: &str) {
    for operation in document.paths.paths.values_mut().flat_map(operations) {
        for response in operation.responses.responses.values_mut() {
            if let RefOr::T(response) = response {
                response.content.shift_remove(content_type);
            }
        }
    }
    document.components.get_or_insert_default().schemas.remove(schema);
}

pub(super) fn operations(path: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let all = [&mut path.get, &mut path.post, &mut path.put, &mut path.patch, &mut path.delete, &mut path.head, &mut path.options];
    all.into_iter().filter_map(Option::as_mut)
}

/// The operation of this method.
pub(super) fn operations_of<'p>(path: &'p mut PathItem, method: &Method) -> Option<&'p mut Operation> {
    match *method {
        Method::GET => path.get.as_mut(),
        Method::POST => path.post.as_mut(),
        Method::PUT => path.put.as_mut(),
        Method::PATCH => path.patch.as_mut(),
        Method::DELETE => path.delete.as_mut(),
        _ => None,
    }
}

/// Writes out what has all members of another schema and some of its own, if the other one takes no more: a value could not conform to both.
fn merge_closed(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let is_closed = |it: &Object| matches!(it.additional_properties.as_deref(), Some(AdditionalProperties::FreeForm(false)));
    let closed: BTreeMap<String, Object> = schemas
        .iter()
        .filter_map(|(name, schema)| match schema {
            RefOr::T(Schema::Object(object)) if is_closed(object) => Some((format!("#/components/schemas/{name}"), object.clone())),
            _ => None,
        })
        .collect();
    for schema in schemas.values_mut() {
        let RefOr::T(Schema::AllOf(all)) = schema else { continue };
        if let [RefOr::Ref(other), RefOr::T(Schema::Object(own))] = &*all.items
            && let Some(other) = closed.get(&other.ref_location)
        {
            let mut merged = other.clone();
            merged.description.clone_from(&all.description);
            merged.properties.extend(own.properties.clone());
            merged.required.extend(own.required.iter().cloned());
            *schema = RefOr::T(Schema::Object(merged));
        }
    }
}

/// A body that may be left out is not `null` when it is there.
fn without_null(body: &mut RefOr<RequestBody>) {
    let RefOr::T(body) = body else { return };
    for content in body.content.values_mut() {
        if let RefOr::T(content) = content
            && let Some(RefOr::T(Schema::OneOf(either))) = &content.schema
            && let [some @ RefOr::Ref(_), _] | [_, some @ RefOr::Ref(_)] = &*either.items
        {
            content.schema = Some(some.clone());
        }
    }
}

/// A parameter that may be left out is not `null` when it is there: as text, that would be a word.
fn as_text(parameter: &mut RefOr<Parameter>) {
    if let RefOr::T(parameter) = parameter
        && let Some(RefOr::T(Schema::Object(object))) = &mut parameter.schema
        && let SchemaType::Array(kinds) = &object.schema_type
        && let [kind, Type::Null] = &kinds[..]
    {
        object.schema_type = SchemaType::Type(kind.clone());
    }
}

/// Where a parameter may have the text of another path, as `{ref}` in `/settlements/{ref}` that of `/settlements/batch`, the other path
/// answers; if that has no such method, with a 405.
fn add_shadows(paths: &mut PathsMap<String, PathItem>) {
    let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let served = |item: &mut PathItem| methods.each_ref().map(|method| operations_of(item, method).is_some());
    let all: Vec<_> = paths.iter_mut().map(|(path, item)| (path.clone(), served(item))).collect();
    for (path, item) in paths.iter_mut() {
        for (n, method) in methods.iter().enumerate() {
            let is_shadowed = all.iter().any(|(other, served)| !served[n] && shadows(other, path));
            if let Some(operation) = operations_of(item, method).filter(|_| is_shadowed) {
                let refused = || RefOr::T(problem(&[ErrorCode::MethodNotAllowed]));
                operation.responses.responses.entry("405".to_owned()).or_insert_with(refused);
            }
        }
    }
}

/// Whether `path` is one that `template` matches, too, and that is served in its place.
fn shadows(path: &str, template: &str) -> bool {
    let is_parameter = |part: &str| part.starts_with('{');
    let fits = |(part, of): (&str, &str)| part == of || (is_parameter(of) && !is_parameter(part));
    path != template && path.split('/').count() == template.split('/').count() && path.split('/').zip(template.split('/')).all(fits)
}

/// Every call accepts and returns an `X-Request-Id`.
fn add_request_id(operation: &mut Operation) {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let parameter = ParameterBuilder::new()
        .name("X-Request-Id")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Identifies the call in the response and in the server's log: 1 to 128 of `A-Z a-z 0-9 . _ -`. Another one is generated if it \
             is absent or has another form, because a proxy may have added it",
        ))
        .schema(Some(text()));
    operation.parameters.get_or_insert_default().push(RefOr::T(parameter.build()));
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            let text = text().pattern(Some("^[A-Za-z0-9._-]{1,128}$"));
            let header = HeaderBuilder::new().schema(Some(text)).description(Some("The call's id"));
            response.headers.insert("X-Request-Id".to_owned(), RefOr::T(header.build()));
        }
    }
}

/// For a call that may be repeated under an `Idempotency-Key`.
pub(super) fn add_idempotency_key(operation: &mut Operation) {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let parameter = ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "1 to 255 printable ASCII characters, kept for 7 days: the same request with the same key is carried out once, and \
             answered again. A call with a key counts as two writes",
        ))
        .example(Some(json!("7f3c2e")))
        .schema(Some(text().pattern(Some("^[!-~]([ -~]{0,253}[!-~])?$"))));
    operation.parameters.get_or_insert_default().push(RefOr::T(parameter.build()));
    for (status, response) in &mut operation.responses.responses {
        if let (true, RefOr::T(response)) = (status.starts_with('2'), response) {
            let header = HeaderBuilder::new().schema(Some(text())).description(Some("`true` when the call was carried out before"));
            response.headers.insert("Idempotent-Replayed".to_owned(), RefOr::T(header.build()));
        }
    }
    let responses = &mut operation.responses.responses;
    responses.entry("422".to_owned()).or_insert_with(|| RefOr::T(problem(&[ErrorCode::IdempotencyKeyReused])));
}

/// Problem responses by status, each with the codes that it can carry.
fn problems(codes: &[ErrorCode]) -> BTreeMap<String, RefOr<Response>> {
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    for code in codes {
        by_status.entry(code.http_status()).or_default().push(*code);
    }
    by_status.into_iter().map(|(status, codes)| (status.to_string(), RefOr::T(problem(&codes)))).collect()
}

pub(super) fn problem(codes: &[ErrorCode]) -> Response {
    let described = codes.iter().map(|code| format!("`{}`: {}", code.as_str(), code.title())).collect::<Vec<_>>().join(". ");
    let mut content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem")));
    if let Some(code) = codes.first() {
        content = content.example(Some(example(*code)));
    }
    let mut response = ResponseBuilder::new().description(described).content("application/problem+json", content.build());
    let mut header = |name: &str, what: &str| {
        let text = ObjectBuilder::new().schema_type(Type::String);
        response = std::mem::take(&mut response).header(name, HeaderBuilder::new().schema(Some(text)).description(Some(what)).build());
    };
    match codes.first().map(|code| code.http_status()) {
        Some(401) => header("WWW-Authenticate", "`Bearer realm=\"railgate\"`"),
        Some(503) => header("Retry-After", "Seconds"),
        Some(_) | None => {}
    }
    response.build()
}

fn example(code: ErrorCode) -> Value {
    let mut example = json!({
        "type": code.uri(),
        "title": code.title(),
        "status": code.http_status(),
        "detail": code.title(),
        "instance": "/api/v1/gateway/settlements",
        "code": code.as_str(),
        "category": code.category().as_str(),
        "retryable": code.retryable(),
        "request_id": "req_000000000000000000000001",
    });
    if code == ErrorCode::InvalidFields {
        example["errors"] = json!([{"pointer": "/amount", "code": "required", "message": "is required"}]);
    }
    example
}

macro_rules! problem_groups {
    ($($(#[$doc:meta])* $name:ident = [$($code:ident),* $(,)?];)*) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                problems(&[$(ErrorCode::$code),*])
            }
        }
    )*};
}

problem_groups! {
    /// For every call that needs a token.
    Denied = [
        DigestMismatch, TokenMissing, TokenInvalid, TokenExpired, SignatureMissing, SignatureInvalid, ChallengeInvalid, ChallengeExpired,
        ClockSkew, NonceReplayed, KeyUnknown, SignatureKeyRequired, InsufficientScope, ModeMismatch, ClientSuspended, RateLimited,
    ];
    /// For every call that is signed without a token.
    Unproved = [
        DigestMismatch, SignatureMissing, SignatureInvalid, SignatureKeyRequired, ChallengeInvalid, ChallengeExpired, ClockSkew,
        NonceReplayed, KeyUnknown, KeyRevoked, InsufficientScope, EnrollmentPending, ClientSuspended, RateLimited,
    ];
    /// For calls that bring a key.
    KeyTaken = [KeyExists];
    /// For calls that make a client, which are signed without a token.
    NotAdmitted = [
        DigestMismatch, SignatureMissing, SignatureInvalid, SignatureKeyRequired, ChallengeInvalid, ChallengeExpired, ClockSkew,
        NonceReplayed, KeyUnknown, KeyRevoked, InsufficientScope, EnrollmentPending, EnrollmentClosed, EnrollmentFull, InvitationInvalid,
        ClientSuspended, RateLimited,
    ];
    /// For calls that name a key.
    NoKey = [KeyNotFound];
    /// For every call.
    Unserved = [NotAcceptable, Internal, StoreUnavailable, NoRoute, Timeout];
    /// For every call with a body.
    BadBody = [
        MalformedJson, MalformedRequest, BodyTooLarge, UnsupportedMediaType, InvalidFields, InsufficientFunds, AmountBelowMinimum,
        AmountAboveMaximum, SameParty, QuoteExpired, IdempotencyKeyReused, ReversalNotSupported, ClientMoving, ClientMoved,
        ReferenceElsewhere,
    ];
    /// For calls with a body where only the fields can be wrong.
    BadFields = [
        MalformedJson, MalformedRequest, BodyTooLarge, UnsupportedMediaType, InvalidFields, IdempotencyKeyReused, ClientMoving, ClientMoved,
    ];
    /// For all other calls that may have a body, which is ignored.
    BadMessage = [MalformedRequest, BodyTooLarge, UnsupportedMediaType];
    /// For every call with query parameters.
    BadQuery = [MalformedRequest, InvalidCursor, InvalidFields];
    /// For calls that go on where another left off in a feed.
    Restored = [EpochChanged];
    /// For calls that name a settlement.
    NoSettlement = [SettlementNotFound];
    /// For calls that ask for a receipt.
    NoReceipt = [SettlementNotFound, NotCompleted];
    /// For calls that name a tile of the log.
    NoTile = [TileNotFound];
    /// For calls that ask for a proof.
    NoProof = [SettlementNotFound, NotLoggedYet];
    /// For calls that name a reversal.
    NoReversal = [SettlementNotFound, ReversalNotFound];
    /// For calls that name a balance.
    NoBalance = [BalanceNotFound];
    /// For calls that name a deposit, a withdrawal or a change of credit.
    NoMovement = [MovementNotFound];
    /// For calls that name a provider.
    NoProvider = [ProviderNotFound];
    /// For callbacks of operators.
    NotAuthentic = [SignatureInvalid, ProviderNotFound, SettlementNotFound];
    NoReconciliation = [ReconciliationNotFound];
    /// For calls that name a bundle.
    NoBundle = [BundleNotFound];
    /// For a bundle that is sent.
    NotKept = [
        MalformedJson, MalformedRequest, BodyTooLarge, UnsupportedMediaType, BundleUnusable, InvalidFields, TooManyBundles, InvalidState,
        VersionConflict, BundleNotFound, IdempotencyKeyReused,
    ];
    /// For steps of a bundle.
    NotStepped = [
        BundleNotFound, InvalidState, VersionConflict, RequestInProgress, TooManyBundles, SecondOperatorRequired, ModeMismatch, MalformedJson,
        MalformedRequest, BodyTooLarge, UnsupportedMediaType, InvalidFields, IdempotencyKeyReused,
    ];
    /// For a statement that is sent.
    NotReconciled = [
        MalformedRequest, ProviderNotFound, NotAcceptable, BodyTooLarge, UnsupportedMediaType, RequestInProgress, StatementUnusable,
        InvalidFields, IdempotencyKeyReused,
    ];
    /// For calls that tell the simulated operator what to do.
    NotAdvanced = [InvalidState, VersionConflict];
    /// For operators' calls that name a client.
    NoClient = [ClientNotFound];
    /// For calls that name an operator.
    NoOperator = [OperatorNotFound];
    /// For calls that name an end user.
    NoUser = [UserNotFound];
    /// For calls that concern an end user.
    UserIsBlocked = [UserBlocked];
    /// For calls that name a device.
    NoDevice = [DeviceNotFound];
    /// For calls that name a notification.
    NoNotification = [NotificationNotFound];
    /// For calls that name a push subscription.
    NoSubscription = [PushSubscriptionNotFound];
    /// For calls that name a payment that waits for its user.
    NoPaymentApproval = [PaymentApprovalNotFound];
    /// For decisions of end users.
    Decided = [ApprovalDecided];
    /// For devices that enrol.
    NotCoded = [
        DigestMismatch, SignatureMissing, SignatureInvalid, ChallengeInvalid, ChallengeExpired, ClockSkew, NonceReplayed,
        DeviceCodeInvalid, UserBlocked, ClientSuspended, InvalidState, RateLimited,
    ];
    /// For calls that name what was asked for.
    NoApproval = [ApprovalNotFound];
    /// For operators' acts.
    NotActed = [
        SecondOperatorRequired, ClientNotFound, KeyNotFound, ProviderNotFound, SettlementNotFound, ReversalNotFound, ReviewNotFound,
        InvalidState, VersionConflict, ReferenceConflict, InsufficientFunds,
    ];
    /// For operators who enrol.
    NotInvited = [
        DigestMismatch, SignatureMissing, SignatureInvalid, ChallengeInvalid, ChallengeExpired, ClockSkew, NonceReplayed,
        InvitationInvalid, RateLimited,
    ];
    /// For calls that go on at a cursor.
    InvalidPage = [InvalidCursor];
    /// For calls that add play money.
    TooMuch = [AmountAboveMaximum];
    /// For calls that name a webhook.
    NoWebhook = [WebhookNotFound];
    /// For calls that name a delivery of a webhook.
    NoDelivery = [WebhookNotFound, DeliveryNotFound];
    /// For calls that create a webhook.
    NoRoom = [TooManyWebhooks];
    /// For calls that change a webhook.
    Changing = [VersionConflict];
    /// For calls that give a webhook a new secret.
    Rotating = [InvalidState, VersionConflict];
    /// For calls that test a webhook.
    Testing = [RequestInProgress];
    /// For calls that need an enabled webhook.
    NotEnabled = [InvalidState, VersionConflict];
    /// For a create.
    Refused = [AccountNotFound, ReferenceConflict, UserBlocked, VersionConflict];
    /// For a reversal.
    NotReversible = [
        SettlementInFlight, InvalidState, ReversalExceedsRemaining, AlreadyReversed, ReferenceConflict, VersionConflict, RequestInProgress,
    ];
    /// For calls that name an error code.
    NoPage = [RouteNotFound];
    /// For the readiness probe.
    Unready = [StoreUnavailable];
}

/// The filters of a list of settlements.
#[derive(IntoParams)]
#[expect(dead_code, reason = "described here, read by the core")]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// Any of these statuses; may appear more than once.
    status: Option<Vec<railgate::lifecycle::SettlementStatus>>,
    /// ISO 4217 code.
    #[param(example = "EUR", pattern = "^[A-Z]{3}$")]
    currency: Option<String>,
    /// The provider's id.
    provider: Option<String>,
    /// The client's own name for the end user who pays.
    #[param(example = "customer-17")]
    user: Option<String>,
    /// The participant who is paid.
    #[param(example = "sim:ok")]
    to: Option<String>,
    /// The client's reference.
    reference: Option<String>,
    /// `true` for sandbox settlements, `false` for live ones.
    sandbox: Option<bool>,
    /// RFC 3339, inclusive.
    #[param(format = DateTime, example = "2026-01-01T00:00:00Z")]
    created_from: Option<String>,
    /// RFC 3339, exclusive.
    #[param(format = DateTime)]
    created_to: Option<String>,
    /// Decimal, inclusive.
    #[param(example = "10.50", pattern = "^[0-9]{1,15}([.][0-9]{1,15})?$")]
    min_amount: Option<String>,
    /// Decimal, inclusive.
    #[param(pattern = "^[0-9]{1,15}([.][0-9]{1,15})?$")]
    max_amount: Option<String>,
    /// Flagged for review by a person.
    needs_review: Option<bool>,
    /// Only payments by the client, or only payments to it; without it, both.
    direction: Option<railgate::lifecycle::Direction>,
}
#[cfg(test)]
mod tests {
    #[test]
    fn only_the_forms_that_this_build_has_are_documented() {
        let document = serde_json::to_string(&super::document(None)).unwrap();
        assert_eq!(document.contains("application/pdf"), cfg!(feature = "pdf"));
        assert_eq!(document.contains("Paper"), cfg!(feature = "pdf"));
    }
}
