//! The bodies of calls, as a client writes them. What comes in is judged by [`crate::validate`], which takes its list of members
//! from here and tells everything that is wrong, and where; so most members are texts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

#[cfg(feature = "openapi")]
use schema::{amount, event_type, events, left, reason};

/// Declares a body: members that must be there, then those that may. `[…]` says more of a member in its schema.
macro_rules! body {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:tt) => { $wire };
    ($(#[doc = $doc:literal])* $name:ident {
        $($(#[doc = $rdoc:literal])* $([$($rschema:tt)*])? $required:ident: $rkind:ty,)*
    } optional {
        $($(#[$ometa:meta])* $([$($oschema:tt)*])? $optional:ident $(as $wire:tt)?: $okind:ty,)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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
            /// The members that there may be, in the order in which problems are told.
            pub const FIELDS: [&'static str; [$(stringify!($required),)* $(stringify!($optional),)*].len()] =
                [$(stringify!($required),)* $(body!(@name $optional $($wire)?),)*];
        }
    };
}

body! {
    /// A settlement to be created.
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
        /// The client's own name of it, unique for ever; makes the call idempotent.
        [example = "invoice-2026-0001", pattern = "^[A-Za-z0-9._-]{1,64}$"]
        reference: String,
    } optional {
        /// No real money moves. Default: what the credential was issued for.
        sandbox: bool,
        /// For people.
        [max_length = 140]
        description: String,
        /// The client's own pairs, at most 50.
        metadata: BTreeMap<String, String>,
        /// Pins a provider.
        [example = "simulator"]
        provider: String,
        /// Of a check; fixes the fee.
        quote_id: String,
        /// RFC 3339; cancelled if it was not dispatched by then.
        [example = "2030-01-01T00:00:00Z"]
        expires_at: String,
    }
}

body! {
    /// Several settlements to be created.
    CreateBatchBody {
        /// 1 to 1,000.
        [min_items = 1, max_items = 1000]
        settlements: Vec<CreateBody>,
    } optional {}
}

body! {
    /// What is to be given back.
    ReverseBody {} optional {
        /// What is left to reverse, unless told.
        [schema_with = left, required = false, example = 4.20]
        amount: AmountInput,
        /// Why: the name of a [`crate::validate::ReversalReason`].
        [schema_with = reason, required = false]
        reason: Cow<'static, str>,
        /// The client's own name of the reversal, unique among its reversals.
        [example = "refund-1", pattern = "^[A-Za-z0-9._-]{1,64}$"]
        reference: String,
        /// For people.
        [max_length = 140]
        description: String,
    }
}

body! {
    /// Play money for an account of the sandbox.
    FundBody {
        /// ISO 4217 code.
        [example = "EUR", pattern = "^[A-Z]{3}$"]
        currency: String,
        /// More than zero, with no more decimals than the currency has.
        [schema_with = amount, example = 10.50]
        amount: AmountInput,
    } optional {}
}

/// A public key (RFC 7517): P-256 or Ed25519.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Jwk {
    /// `EC` or `OKP`.
    #[cfg_attr(feature = "openapi", schema(example = "OKP"))]
    pub kty: String,
    /// `P-256` or `Ed25519`.
    #[cfg_attr(feature = "openapi", schema(example = "Ed25519"))]
    pub crv: String,
    /// base64url without padding, 32 bytes.
    #[cfg_attr(feature = "openapi", schema(example = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))]
    pub x: String,
    /// For P-256: base64url without padding, 32 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
}

body! {
    /// Who enrols.
    EnrollBody {
        /// The key. Its private half never leaves its owner.
        jwk: Jwk,
    } optional {
        /// For people. Required in the sandbox.
        [example = "Corner shop", min_length = 1, max_length = 100]
        client_name: String,
        /// `sandbox` unless told.
        [example = "sandbox"]
        environment: String,
    }
}

body! {
    /// For whom a challenge is.
    ChallengeBody {} optional {
        /// The mode of the key that will sign: `sandbox` unless told.
        [example = "sandbox"]
        environment: String,
    }
}

body! {
    /// What a token is to do.
    TokenBody {} optional {
        /// Names with spaces between them; everything the key may do, unless told.
        [example = "settlements:read balances:read"]
        scope: String,
    }
}

body! {
    /// Which token.
    RevokeBody {} optional {
        /// The token of the call, unless told.
        token: String,
    }
}

body! {
    /// A further key.
    NewKeyBody {
        /// The key. Its private half never leaves its owner.
        jwk: Jwk,
    } optional {
        /// What its owner calls it.
        [example = "till 2", max_length = 100]
        label: String,
        /// What it may do, names with spaces between them; as much as the credential that adds it, unless told.
        scope: String,
    }
}

body! {
    /// A webhook to be made.
    NewWebhookBody {
        /// Where deliveries go: https to a public address, without user name, password or fragment.
        [example = "https://shop.example.com/hooks/railgate", min_length = 1, max_length = 2048]
        url: String,
    } optional {
        /// Of which types of event it is told; of everything, also of types to come, unless told.
        [schema_with = events, required = false]
        events: Vec<String>,
        /// What its owner calls it.
        [max_length = 200]
        description: String,
    }
}

body! {
    /// What to change of a webhook.
    WebhookPatchBody {} optional {
        /// Where deliveries go.
        [example = "https://shop.example.com/hooks/railgate", min_length = 1, max_length = 2048, nullable = false]
        url: String,
        /// Of which types of event it is told; null for everything.
        #[serde(deserialize_with = "given")]
        [schema_with = events, required = false]
        events: Option<Vec<String>>,
        /// What its owner calls it; null takes it away.
        #[serde(deserialize_with = "given")]
        [max_length = 200, value_type = Option<String>]
        description: Option<String>,
        /// Whether it is told anything.
        [nullable = false]
        enabled: bool,
    }
}

body! {
    /// How a secret gives way to the next.
    RotationBody {} optional {
        /// For so many seconds the old secret signs too: a day unless told.
        [example = 3600, minimum = 0, maximum = 604_800]
        grace: u32,
    }
}

body! {
    /// What to send an example of.
    TestBody {} optional {
        /// A type of event; `settlement.completed` unless told.
        [schema_with = event_type, required = false, example = "settlement.completed"]
        kind as "type": String,
    }
}

body! {
    /// Which events to deliver once more.
    ReplayBody {
        /// RFC 3339, inclusive.
        [example = "2026-11-20T00:00:00Z"]
        since: String,
    } optional {
        /// RFC 3339, exclusive; everything there is, unless told.
        [example = "2026-11-21T00:00:00Z"]
        until: String,
        /// `next_after` of the answer before, to go on where it stopped.
        [minimum = 0]
        after: i64,
    }
}

/// A member that is there, be it `null`.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(reader: D) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}

/// An amount as a client writes it: a JSON number or the same as text, kept to the letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmountInput(String);

impl AmountInput {
    /// As a JSON string.
    pub fn text(amount: &str) -> Self {
        Self(serde_json::to_string(amount).unwrap_or_default())
    }

    /// As a JSON number if it is one to the letter, else as a JSON string: so a gateway says what is wrong with it.
    pub fn typed(amount: &str) -> Self {
        let number = amount.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let number = number && serde_json::from_str::<&RawValue>(amount).is_ok();
        if number { Self(amount.trim_end().to_owned()) } else { Self::text(amount) }
    }
}

/// None: not an amount.
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

/// What a derive cannot say.
#[cfg(feature = "openapi")]
mod schema {
    use utoipa::openapi::schema::{ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type};

    use crate::store::record::Topic;
    use crate::validate::ReversalReason;

    fn decimal(what: &str) -> Object {
        let kinds = SchemaType::from_iter([Type::Number, Type::String]);
        ObjectBuilder::new().schema_type(kinds).description(Some(what)).build()
    }

    pub(super) fn amount() -> Object {
        decimal(
            "More than zero, at most 15 significant digits, no exponent, no more decimals than the currency has. A JSON number, or a string \
             with the same text.",
        )
    }

    pub(super) fn left() -> Object {
        decimal("As in a create; what is left to reverse, unless told.")
    }

    pub(super) fn reason() -> Object {
        let names = ReversalReason::ALL.iter().map(|reason| reason.as_str());
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).description(Some("Why.")).build()
    }

    pub(super) fn events() -> Schema {
        let everything = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["*"]));
        let some = ArrayBuilder::new().items(event_type()).min_items(Some(1)).max_items(Some(100));
        let not_named = ObjectBuilder::new().schema_type(Type::Null);
        let all = OneOfBuilder::new().item(some).item(everything).item(not_named);
        all.description(Some("Types of event; `*` or null for all of them")).into()
    }

    /// One of the types of event.
    pub(super) fn event_type() -> Object {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(Topic::all().map(Topic::as_str))).build()
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
