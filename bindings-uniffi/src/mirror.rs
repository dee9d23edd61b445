//! Converts the core's views to the records and enums of the languages.
//!
//! Each conversion destructures the core's type exhaustively: a field or variant that is added, renamed or removed there does
//! not compile here until this module is updated. Responses of a server are parsed by the same names; a test compares
//! both ways.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use railgate::api::{DecimalNumber, SettlementPath};
use railgate::auth::Algorithm;
use railgate::error::Category;
use railgate::ids::Short;
use railgate::ledger::Mode;
use railgate::lifecycle::IsoStatus;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::error::GatewayError;
use crate::values::{Decimal, Instant, Json};

/// Converts a value of the core to its type in the languages.
pub(crate) trait Give<T> {
    /// The converted value.
    fn give(self) -> Result<T, GatewayError>;
}

fn odd(what: &str, text: &str) -> GatewayError {
    GatewayError::unanswered("answer_unreadable", format!("{text:?} is not {what}"))
}

macro_rules! give_itself {
    ($($kind:ty),*) => { $(impl Give<$kind> for $kind {
        fn give(self) -> Result<$kind, GatewayError> { Ok(self) }
    })* };
}
give_itself!(bool, u16, u32, u64, i64, f64, String);

impl Give<u64> for usize {
    fn give(self) -> Result<u64, GatewayError> {
        Ok(self as u64)
    }
}

impl Give<String> for Cow<'static, str> {
    fn give(self) -> Result<String, GatewayError> {
        Ok(self.into_owned())
    }
}

impl Give<String> for SmolStr {
    fn give(self) -> Result<String, GatewayError> {
        Ok(self.into())
    }
}

impl Give<String> for Short {
    fn give(self) -> Result<String, GatewayError> {
        Ok(self.as_str().to_owned())
    }
}

impl Give<Instant> for Short {
    fn give(self) -> Result<Instant, GatewayError> {
        Instant::parse(&self).ok_or_else(|| odd("a time", &self))
    }
}

impl Give<String> for SettlementPath {
    fn give(self) -> Result<String, GatewayError> {
        Ok(self.text())
    }
}

impl<T, S: Give<T>> Give<T> for Box<S> {
    fn give(self) -> Result<T, GatewayError> {
        (*self).give()
    }
}

impl<T, S: Give<T> + Clone> Give<T> for Arc<S> {
    fn give(self) -> Result<T, GatewayError> {
        Arc::unwrap_or_clone(self).give()
    }
}

macro_rules! give_name {
    ($($kind:ty),*) => { $(impl Give<String> for $kind {
        fn give(self) -> Result<String, GatewayError> { Ok(self.as_str().to_owned()) }
    })* };
}
give_name!(Algorithm, Category, IsoStatus, Mode);

impl Give<Decimal> for DecimalNumber {
    fn give(self) -> Result<Decimal, GatewayError> {
        Decimal::parse(self.as_str()).ok_or_else(|| odd("a decimal", self.as_str()))
    }
}

impl Give<Decimal> for String {
    fn give(self) -> Result<Decimal, GatewayError> {
        Decimal::parse(&self).ok_or_else(|| odd("a decimal", &self))
    }
}

impl Give<Instant> for String {
    fn give(self) -> Result<Instant, GatewayError> {
        Instant::parse(&self).ok_or_else(|| odd("a time", &self))
    }
}

impl Give<Instant> for i64 {
    /// A `NumericDate` of a receipt (RFC 7519): seconds.
    fn give(self) -> Result<Instant, GatewayError> {
        Ok(Instant(self.saturating_mul(1_000)))
    }
}

impl Give<Json> for Box<RawValue> {
    fn give(self) -> Result<Json, GatewayError> {
        Ok(Json(String::from(Box::<str>::from(self))))
    }
}

impl Give<HashMap<String, String>> for BTreeMap<String, String> {
    fn give(self) -> Result<HashMap<String, String>, GatewayError> {
        Ok(self.into_iter().collect())
    }
}

impl Give<HashMap<String, crate::AmountLimits>> for BTreeMap<String, railgate::api::LimitView> {
    fn give(self) -> Result<HashMap<String, crate::AmountLimits>, GatewayError> {
        self.into_iter().map(|(currency, limits)| Ok((currency, limits.give()?))).collect()
    }
}

impl<T: Give<U>, U> Give<Option<U>> for Option<T> {
    fn give(self) -> Result<Option<U>, GatewayError> {
        self.map(Give::give).transpose()
    }
}

impl<T: Give<U>, U> Give<Vec<U>> for Vec<T> {
    fn give(self) -> Result<Vec<U>, GatewayError> {
        self.into_iter().map(Give::give).collect()
    }
}

impl Give<crate::FieldProblem> for railgate::error::FieldProblem {
    fn give(self) -> Result<crate::FieldProblem, GatewayError> {
        Ok(self.into())
    }
}

/// A record with the fields of a core view. `name = core_name` if the core's name is not possible in a language, `name("wire")` if that
/// on the wire is not, and `[default]` after the type if it may be left out there.
macro_rules! mirror_record {
    (@get $fields:ident $name:expr) => { $fields.get($name) };
    (@get $fields:ident $name:expr, default) => { $fields.get_or_default($name) };
    (@wire $field:ident) => { stringify!($field) };
    (@wire $field:ident $wire:literal) => { $wire };
    ($(#[$doc:meta])* $name:ident of $core:ty {
        $($(#[$field_doc:meta])* $field:ident $(($wire:literal))? $(= $core_field:ident)?: $kind:ty $([$default:ident])?,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, uniffi::Record)]
        pub struct $name { $($(#[$field_doc])* pub $field: $kind,)* }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                fn record(fields: &$crate::fields::Fields<'_>) -> Result<$name, $crate::fields::Unread> {
                    Ok($name {
                        $($field: $crate::mirror::mirror_record!(@get fields
                            $crate::mirror::mirror_record!(@wire $field $($wire)?) $(, $default)?)?,)*
                    })
                }
                record(&$crate::fields::Fields::read(deserializer)?).map_err($crate::fields::Unread::of)
            }
        }

        impl $crate::mirror::Give<$name> for $core {
            fn give(self) -> Result<$name, $crate::GatewayError> {
                // Exhaustive: a field added to the core's view must be added here.
                let Self { $($($core_field:)? $field,)* } = self;
                Ok($name { $($field: $crate::mirror::Give::give($field)?,)* })
            }
        }
    };
}

/// An enum with the variants of a core enum, and one for names that only newer servers use.
macro_rules! mirror_enum {
    ($(#[$doc:meta])* $name:ident of $core:ty { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, uniffi::Enum)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A name that this version does not know: treat it as neither done nor failed.
            Unrecognised,
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <String as serde::Deserialize>::deserialize(deserializer)?;
                Ok(match name.as_str() { $($text => Self::$variant,)* _ => Self::Unrecognised })
            }
        }

        impl $name {
            /// The name on the wire; none for `Unrecognised`.
            #[allow(dead_code, reason = "some are only read")]
            pub(crate) fn name(self) -> Option<&'static str> {
                match self { $(Self::$variant => Some($text),)* Self::Unrecognised => None }
            }
        }

        impl $crate::mirror::Give<$name> for $core {
            fn give(self) -> Result<$name, $crate::GatewayError> {
                Ok(match self { $(Self::$variant => $name::$variant,)* })
            }
        }
    };
}

pub(crate) use {mirror_enum, mirror_record};
