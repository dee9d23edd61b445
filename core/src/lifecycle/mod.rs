//! States and transitions: for each lifecycle, a persisted enum and a pure, exhaustive function.
//!
//! ```
//! use railgate::lifecycle::attempt::{self, AnswerKind, AttemptStatus};
//! use railgate::lifecycle::settlement::{self, SettlementInput, SettlementStatus};
//!
//! // The operator's answer was lost. Nobody knows whether it paid, so the settlement must not fail, and cannot be cancelled.
//! let attempt = attempt::transition(AttemptStatus::Started, AnswerKind::Unknown);
//! assert_eq!(attempt, attempt::Next::To(AttemptStatus::Unknown));
//! let lost = settlement::transition(SettlementStatus::Submitted, SettlementInput::AttemptUnknown);
//! assert_eq!(lost, settlement::Next::To(SettlementStatus::Unknown));
//! let cancelled = settlement::transition(SettlementStatus::Unknown, SettlementInput::Cancel);
//! assert_eq!(cancelled, settlement::Next::Refuse);
//!
//! // An inquiry finds out.
//! let paid = settlement::transition(SettlementStatus::Unknown, SettlementInput::AttemptCompleted);
//! assert_eq!(paid, settlement::Next::To(SettlementStatus::Completed));
//! ```
//!
//! Nothing here reads a store, a clock or a setting. The engine passes an input, gets the transition, and records it. The complete
//! tables are in `docs/lifecycle.md`, generated from these functions.

pub mod attempt;
pub mod bundle;
pub mod reversal;
pub mod review;
pub mod settlement;
pub mod table;

pub use attempt::AttemptStatus;
pub use bundle::{BundleInput, BundleStatus};
pub use reversal::ReversalStatus;
pub use review::Resolution;
pub use settlement::{Direction, SettlementStatus};

/// A value that is stored as a small number.
#[allow(dead_code, reason = "a program without a database reads none")]
pub(crate) trait Coded: Copy {
    /// The stored number. Never changes.
    fn code(self) -> u8;
    /// The value for a stored number.
    fn from_code(code: u8) -> Option<Self>;
}

/// Declares a fieldless enum that is represented by names, in JSON and in the schema.
macro_rules! named_enum {
    ($(#[doc = $doc:literal])* $vis:vis enum $name:ident { $($(#[doc = $vdoc:literal])* $variant:ident = $text:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[doc = $vdoc])* $variant,)* }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];
            /// The wire name. Never changes.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $text,)* } }
            /// The value for a wire name.
            pub fn from_name(name: &str) -> Option<Self> { match name { $($text => Some(Self::$variant),)* _ => None } }
            /// The enum's doc comment, line by line.
            #[cfg(feature = "openapi")]
            #[doc(hidden)]
            pub const DOC: &'static [&'static str] = &[$($doc,)*];
            /// Each wire name with the variant's doc comment.
            #[cfg(feature = "openapi")]
            #[doc(hidden)]
            pub const DOCS: &'static [(&'static str, &'static [&'static str])] = &[$(($text, &[$($vdoc,)*]),)*];
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::lifecycle::read_name(deserializer, stringify!($name), Self::from_name)
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .enum_values(Some(Self::ALL.iter().map(|v| v.as_str())))
                    .into()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}
    };
}
pub(crate) use named_enum;

/// Declares a [`named_enum`] that is stored as a small number.
macro_rules! stored_enum {
    ($(#[doc = $doc:literal])* $vis:vis enum $name:ident { $($(#[doc = $vdoc:literal])* $variant:ident = $code:literal $text:literal,)* }) => {
        $crate::lifecycle::named_enum! {
            $(#[doc = $doc])*
            $vis enum $name { $($(#[doc = $vdoc])* $variant = $text,)* }
        }

        impl $name {
            /// The stored number. Never changes.
            pub const fn code(self) -> u8 { match self { $(Self::$variant => $code,)* } }
            /// The value for a stored number.
            pub const fn from_code(code: u8) -> Option<Self> { match code { $($code => Some(Self::$variant),)* _ => None } }
        }

        impl $crate::lifecycle::Coded for $name {
            #[inline]
            fn code(self) -> u8 { $name::code(self) }
            #[inline]
            fn from_code(code: u8) -> Option<Self> { $name::from_code(code) }
        }
    };
}
pub(crate) use stored_enum;

/// Reads a wire name of the type `what`.
pub(crate) fn read_name<'de, D: serde::Deserializer<'de>, T>(
    reader: D,
    what: &str,
    from_name: fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let name = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(reader)?;
    from_name(&name).ok_or_else(|| serde::de::Error::custom(format_args!("{name:?} is not a {what} that this version knows")))
}

named_enum! {
    /// An ISO 20022 payment status, from ExternalPaymentTransactionStatus1Code.
    pub enum IsoStatus {
        /// Received.
        Rcvd = "RCVD",
        /// Accepted, settlement in process.
        Acsp = "ACSP",
        /// Pending: the outcome is not known yet.
        Pdng = "PDNG",
        /// Accepted, settlement completed.
        Acsc = "ACSC",
        /// Rejected.
        Rjct = "RJCT",
        /// Cancelled.
        Canc = "CANC",
    }
}

stored_enum! {
    /// The state of a settlement, an attempt or a reversal, as events record it: they share the names.
    pub enum StateName {
        /// Stored, money held, nothing sent.
        Accepted = 1 "accepted",
        /// Stored as sent; the rail may have it.
        Submitted = 2 "submitted",
        /// The rail's answer is not known.
        Unknown = 3 "unknown",
        /// Carried out.
        Completed = 4 "completed",
        /// A part was reversed.
        PartiallyReversed = 5 "partially_reversed",
        /// All was reversed.
        Reversed = 6 "reversed",
        /// The rail bounced it after completion.
        Returned = 7 "returned",
        /// Proved not to have happened.
        Failed = 8 "failed",
        /// Withdrawn before anything was sent.
        Cancelled = 9 "cancelled",
        /// An attempt was stored and may have been sent.
        Started = 10 "started",
        /// The rail refused.
        Declined = 11 "declined",
        /// Provably never reached the rail.
        NotSent = 12 "not_sent",
    }
}
