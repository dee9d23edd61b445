//! Request bodies, as a client writes them. [`crate::validate`] checks incoming bodies, takes its list of members from here, and
//! reports everything that is wrong, and where. Therefore most members are strings.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

#[cfg(feature = "openapi")]
use schema::{amount, event_type_or_none, events, failure, left, outcome, reason};

use crate::auth::{EphemeralKey, PublicKey};

/// Declares a body: required members, then optional ones. `[…]` adds attributes to a member's schema.
macro_rules! body {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:tt) => { $wire };
    ($(#[doc = $doc:literal])* $name:ident {
        $($(#[doc = $rdoc:literal])* $([$($rschema:tt)*])? $required:ident: $rkind:ty,)*
    } optional {
        $($(#[$ometa:meta])* $([$($oschema:tt)*])? $optional:ident $(as $wire:tt)?: $okind:ty,)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $rdoc])* $(#[cfg_attr(feature = "openapi", schema($($rschema)*))])? pub $required: $rkind,)*
            $(
                $(#[$ometa])*
                $(#[cfg_attr(feature = "openapi", schema($($oschema)*))])?
                $(#[serde(rename = $wire)])?
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $optional: Option<$okind>,
            )*
        }

        impl $name {
            /// All members, in the order in which problems are reported.
            pub const FIELDS: [&'static str; [$(stringify!($required),)* $(stringify!($optional),)*].len()] =
                [$(stringify!($required),)* $(body!(@name $optional $($wire)?),)*];
        }
    };
}
pub(super) use body;

body! {
    /// A settlement to create.
    CreateBody {
        /// More than zero, with no more decimals than the currency has.
        [schema_with = amount, example = 10.50]
        amount: AmountInput,
        /// ISO 4217 code.
        [example = "EUR", pattern = "^[A-Z]{3}$"]
        currency: String,
        /// `namespace:identifier`.
        [example = "msisdn:+254700000001", pattern = "^[a-z][a-z0-9._-]{0,31}:[^\\s/?#]{1,128}$"]
        to: String,
        /// The client's unique reference; makes the call idempotent.
        [example = "invoice-2026-0001", pattern = "^[A-Za-z0-9._-]{1,64}$"]
        reference: String,
    } optional {
        /// If true, no real money moves. Default: the credential's mode.
        sandbox: bool,
        /// A description for people.
        [max_length = 140]
        description: String,
        /// The client's own key-value pairs, at most 50.
        metadata: BTreeMap<String, String>,
        /// Pins the payment to this provider.
        [example = "simulator", pattern = "^[a-z0-9._-]{1,64}$"]
        provider: String,
        /// From a check; fixes the fee.
        [min_length = 1, max_length = 256]
        quote_id: String,
        /// RFC 3339; the settlement is cancelled if it was not dispatched by then.
        [example = "2030-01-01T00:00:00Z", format = DateTime]
        expires_at: String,
        /// The client's end user who pays, by the client's own name for them: their limits apply, and above one of them the payment waits
        /// until they approve it. A user's device leaves it out: it pays as its user.
        [example = "customer-17", pattern = "^[!-~]{1,64}$"]
        user: String,
    }
}

body! {
    /// Several settlements to create.
    CreateBatchBody {
        /// 1 to 1,000.
        [min_items = 1, max_items = 1000]
        settlements: Vec<CreateBody>,
    } optional {}
}

body! {
    /// The amount to reverse, and why.
    ReverseBody {} optional {
        /// Default: everything that can still be reversed.
        [schema_with = left, required = false, example = 4.20]
        amount: AmountInput,
        /// The reason, a [`crate::validate::ReversalReason`].
        [schema_with = reason, required = false]
        reason: Cow<'static, str>,
        /// The client's reference, unique among its reversals.
        [example = "refund-1", pattern = "^[A-Za-z0-9._-]{1,64}$"]
        reference: String,
        /// A description for people.
        [max_length = 140]
        description: String,
    }
}

body! {
    /// Play money to add to a sandbox account.
    FundBody {
        /// ISO 4217 code.
        [example = "EUR", pattern = "^[A-Z]{3}$"]
        currency: String,
        /// More than zero, with no more decimals than the currency has.
        [schema_with = amount, example = 10.50]
        amount: AmountInput,
    } optional {}
}

body! {
    /// What becomes of a settlement of the sandbox.
    AdvanceBody {
        /// What the simulated operator does.
        [schema_with = outcome]
        to: Cow<'static, str>,
    } optional {
        /// Why it fails, a [`crate::rail::FailureCode`]; only with `failed`. Default: `other`.
        [schema_with = failure, required = false]
        code: Cow<'static, str>,
    }
}

/// A public key (RFC 7517): P-256 or Ed25519; in a session, P-256 or X25519.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Jwk {
    /// `EC` or `OKP`.
    #[cfg_attr(feature = "openapi", schema(example = "OKP", pattern = "^(EC|OKP)$"))]
    pub kty: String,
    /// `P-256`, `Ed25519` or `X25519`.
    #[cfg_attr(feature = "openapi", schema(example = "Ed25519", pattern = "^(P-256|Ed25519|X25519)$"))]
    pub crv: String,
    /// base64url without padding, 32 bytes.
    #[cfg_attr(feature = "openapi", schema(example = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", pattern = "^[A-Za-z0-9_-]{43}$"))]
    pub x: String,
    /// For P-256: base64url without padding, 32 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = "^[A-Za-z0-9_-]{43}$"))]
    pub y: Option<String>,
}

body! {
    /// A client that enrols.
    EnrollBody {
        /// The public key. Its private key never leaves the owner.
        jwk: Jwk,
    } optional {
        /// A name for people. Required in the sandbox.
        [example = "Corner shop", min_length = 1, max_length = 100]
        client_name: String,
        /// Default: `sandbox`.
        [example = "sandbox", pattern = "^(sandbox|live)$"]
        environment: String,
        /// The code of an invitation, if the gateway requires one for a new sandbox client.
        [example = "inv_01KAJX3M7Q5W8ZP9D2R4T6V8YB", pattern = "^[A-Za-z0-9_]{0,64}$"]
        invitation: String,
    }
}

body! {
    /// What a challenge is for.
    ChallengeBody {} optional {
        /// The mode of the key that will sign; default: `sandbox`.
        [example = "sandbox", pattern = "^(sandbox|live)$"]
        environment: String,
    }
}

body! {
    /// The token to issue.
    TokenBody {} optional {
        /// Scopes, separated by spaces; default: everything the key may do.
        [example = "settlements:read balances:read", min_length = 1]
        scope: String,
        /// Asks for a session, in which calls are signed with HMAC-SHA256 instead of by the key.
        session: SessionBody,
    }
}

impl Jwk {
    fn p256(point: &[u8; 65]) -> Self {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        Self { kty: "EC".to_owned(), crv: "P-256".to_owned(), x: text(&point[1..33]), y: Some(text(&point[33..])) }
    }

    fn okp(curve: &str, bytes: &[u8]) -> Self {
        Self { kty: "OKP".to_owned(), crv: curve.to_owned(), x: URL_SAFE_NO_PAD.encode(bytes), y: None }
    }
}

impl From<&EphemeralKey> for Jwk {
    fn from(key: &EphemeralKey) -> Self {
        match key {
            EphemeralKey::P256(point) => Self::p256(point),
            EphemeralKey::X25519(bytes) => Self::okp("X25519", bytes),
        }
    }
}

impl From<&PublicKey> for Jwk {
    fn from(key: &PublicKey) -> Self {
        match key {
            PublicKey::P256(point) => Self::p256(point),
            PublicKey::Ed25519(bytes) => Self::okp("Ed25519", bytes),
        }
    }
}

body! {
    /// The client's half of a session.
    SessionBody {
        /// An ephemeral public key made for this call alone: `EC` with `P-256`, or `OKP` with `X25519`.
        jwk: Jwk,
    } optional {}
}

body! {
    /// The token to revoke.
    RevokeBody {} optional {
        /// Default: the token of the call.
        token: String,
    }
}

body! {
    /// An additional key.
    NewKeyBody {
        /// The public key. Its private key never leaves the owner.
        jwk: Jwk,
    } optional {
        /// The owner's label for the key.
        [example = "till 2", min_length = 1, max_length = 100]
        label: String,
        /// Scopes, separated by spaces; default: those of the credential that adds the key.
        [min_length = 1]
        scope: String,
    }
}

body! {
    /// A webhook to create.
    NewWebhookBody {
        /// Where deliveries go: https to a public address, without user name, password or fragment.
        [example = "https://shop.example.com/hooks/railgate", min_length = 1, max_length = 2048]
        url: String,
    } optional {
        /// Types of event to deliver; default: all, including future types.
        [schema_with = events, required = false]
        events: Vec<String>,
        /// The owner's description.
        [max_length = 200]
        description: String,
    }
}

body! {
    /// Changes to a webhook.
    WebhookPatchBody {} optional {
        /// Where deliveries go.
        [example = "https://shop.example.com/hooks/railgate", min_length = 1, max_length = 2048, nullable = false]
        url: String,
        /// Types of event to deliver; null for all.
        #[serde(deserialize_with = "given")]
        [schema_with = events, required = false]
        events: Option<Vec<String>>,
        /// The owner's description; null removes it.
        #[serde(deserialize_with = "given")]
        [max_length = 200, value_type = Option<String>]
        description: Option<String>,
        /// Whether anything is delivered to it.
        [nullable = false]
        enabled: bool,
    }
}

body! {
    /// How a secret is rotated.
    RotationBody {} optional {
        /// How many seconds the old secret also signs; default: one day.
        [example = 3600, minimum = 0, maximum = 604_800]
        grace: u32,
    }
}

body! {
    /// The example to send.
    TestBody {} optional {
        /// A type of event; default: `settlement.completed`.
        [schema_with = event_type_or_none, required = false, example = "settlement.completed"]
        kind as "type": String,
    }
}

body! {
    /// The events to deliver again.
    ReplayBody {
        /// RFC 3339, inclusive.
        [example = "2026-11-20T00:00:00Z", format = DateTime]
        since: String,
    } optional {
        /// RFC 3339, exclusive; default: everything there is.
        [example = "2026-11-21T00:00:00Z", format = DateTime]
        until: String,
        /// `next_after` of the previous response, to continue from there.
        [minimum = 0]
        after: i64,
    }
}

/// Reads a member that is present, even if it is `null`.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(reader: D) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}

/// An amount as a client writes it: a JSON number, or a string with the same text, kept verbatim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmountInput(String);

impl AmountInput {
    /// An amount as a JSON string.
    pub fn text(amount: &str) -> Self {
        Self(serde_json::to_string(amount).unwrap_or_default())
    }

    /// A JSON number if the text is exactly one, otherwise a JSON string: then the gateway reports what is wrong with it.
    pub fn typed(amount: &str) -> Self {
        let number = amount.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let number = number && serde_json::from_str::<&RawValue>(amount).is_ok();
        if number { Self(amount.trim_end().to_owned()) } else { Self::text(amount) }
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for AmountInput {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        schema::amount_or_zero("A decimal number without an exponent, at least zero. A JSON number, or a string with the same text.").into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for AmountInput {}

/// What the document says of an [`AmountInput`] that must be more than zero.
#[cfg(feature = "openapi")]
pub(super) enum PositiveAmountInput {}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for PositiveAmountInput {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        amount().into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for PositiveAmountInput {}

/// An empty string, which is not an amount.
impl Default for AmountInput {
    fn default() -> Self {
        Self::text("")
    }
}

impl Serialize for AmountInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AmountInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Box<RawValue>>::deserialize(deserializer).map(|raw| Self(Box::<str>::from(raw).into()))
    }
}

/// Schemas that a derive cannot express.
#[cfg(feature = "openapi")]
pub(super) mod schema {
    use utoipa::openapi::schema::{ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type};

    use crate::rail::FailureCode;
    use crate::rail::simulator::Outcome;
    use crate::store::record::Topic;
    use crate::validate::ReversalReason;

    /// More than zero, of at most 15 digits before the point.
    const POSITIVE: &str = "^([1-9][0-9]{0,14}([.][0-9]{1,14})?|0[.][0-9]{0,13}[1-9][0-9]{0,13})$";
    /// The same, or zero.
    const AT_LEAST_ZERO: &str = "^(0|[1-9][0-9]{0,14})([.][0-9]{1,14})?$";
    /// The same with a minus, or zero.
    const AT_MOST_ZERO: &str = "^(0([.]0{1,14})?|-(0|[1-9][0-9]{0,14})([.][0-9]{1,14})?)$";

    /// A number, or its text: the bounds are for the number, the pattern for the text.
    fn decimal(what: &str, pattern: &str) -> ObjectBuilder {
        let kinds = SchemaType::from_iter([Type::Number, Type::String]);
        ObjectBuilder::new().schema_type(kinds).description(Some(what)).pattern(Some(pattern))
    }

    pub(super) fn amount() -> Object {
        let what = "More than zero, at most 15 significant digits, no exponent, no more decimals than the currency has. A JSON number, or a \
            string with the same text.";
        decimal(what, POSITIVE).exclusive_minimum(Some(0)).build()
    }

    pub(super) fn amount_or_zero(what: &str) -> Object {
        decimal(what, AT_LEAST_ZERO).minimum(Some(0)).build()
    }

    pub(in crate::api) fn floor() -> Object {
        decimal("Zero for none, otherwise less than zero.", AT_MOST_ZERO).maximum(Some(0)).build()
    }

    pub(super) fn left() -> Object {
        let kinds = SchemaType::from_iter([Type::Number, Type::String, Type::Null]);
        let what = "As in a create; default: everything that can still be reversed.";
        decimal(what, POSITIVE).schema_type(kinds).exclusive_minimum(Some(0)).build()
    }

    /// One of these names.
    fn one_of(names: impl Iterator<Item = &'static str>) -> ObjectBuilder {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names))
    }

    /// One of these names, or `null`, which is as if it were left out.
    fn one_of_or_none(names: impl Iterator<Item = &'static str>) -> ObjectBuilder {
        let kinds = SchemaType::from_iter([Type::String, Type::Null]);
        ObjectBuilder::new().schema_type(kinds).enum_values(Some(names.map(Some).chain([None])))
    }

    pub(super) fn reason() -> Object {
        one_of_or_none(ReversalReason::ALL.iter().map(|reason| reason.as_str())).description(Some("The reason for the reversal.")).build()
    }

    pub(super) fn outcome() -> Object {
        one_of(Outcome::ALL.iter().map(|outcome| outcome.as_str())).description(Some("What the simulated operator does.")).build()
    }

    pub(super) fn failure() -> Object {
        let described = "Why it fails; only with `failed`. Default: `other`.";
        one_of_or_none(FailureCode::ALL.iter().map(|code| code.as_str())).description(Some(described)).build()
    }

    pub(super) fn events() -> Schema {
        let everything = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["*"]));
        let some = ArrayBuilder::new().items(event_type()).min_items(Some(1)).max_items(Some(100));
        let not_named = ObjectBuilder::new().schema_type(Type::Null);
        let all = OneOfBuilder::new().item(some).item(everything).item(not_named);
        all.description(Some("Types of event; `*` or null for all of them")).into()
    }

    fn event_type() -> Object {
        one_of(Topic::all().map(Topic::as_str)).build()
    }

    pub(super) fn event_type_or_none() -> Object {
        one_of_or_none(Topic::all().map(Topic::as_str)).build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_leaves_as_it_was_typed() {
        let sent = |typed| serde_json::to_string(&AmountInput::typed(typed)).unwrap();
        for number in ["10.50", "0", "-1", "1e3"] {
            assert_eq!(sent(number), number);
        }
        for text in ["010", "1.", "ten", "true", "1,5", ""] {
            assert_eq!(sent(text), format!("\"{text}\""));
        }
    }
}
