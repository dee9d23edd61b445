//! Values with a native type in each language: exact decimals and instants.

use railgate::time::{Millis, parse_rfc3339, rfc3339};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::error::{GatewayError, Problem};

/// An exact decimal: `BigDecimal`, `Foundation.Decimal`, `decimal.Decimal`. It never passes through a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(rust_decimal::Decimal);

uniffi::custom_type!(
    /// An exact decimal. It never passes through a float.
    Decimal, String, {
    lower: |decimal| decimal.to_string(),
    try_lift: |text| Ok(Decimal::parse(&text).ok_or_else(|| not_a_decimal(&text))?),
});

fn not_a_decimal(text: &str) -> GatewayError {
    GatewayError::invalid(Problem::local("invalid_fields", format!("{text:?} is not a finite decimal of at most 28 digits")))
}

impl Decimal {
    /// Parses a decimal without exponent, such as `10.50`; its scale is kept.
    pub fn parse(text: &str) -> Option<Self> {
        rust_decimal::Decimal::from_str_exact(text).ok().map(Self)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    /// The text without trailing zeros: not every language's decimals keep them, and the request must not depend on that.
    pub(crate) fn shortest(self) -> String {
        self.0.normalize().to_string()
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    /// Reads a JSON number or string digit by digit.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <Box<RawValue>>::deserialize(deserializer)?;
        Self::parse(raw.get().trim_matches('"')).ok_or_else(|| D::Error::custom("not a decimal"))
    }
}

/// A moment, exact to the millisecond: `java.time.Instant`, `Foundation.Date`, an aware `datetime.datetime`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub(crate) Millis);

uniffi::custom_type!(
    /// A moment, exact to the millisecond.
    Instant, i64, {
    lower: |instant| instant.0,
    try_lift: |ms| Ok(Instant::of(ms).ok_or_else(|| not_a_time(ms))?),
});

fn not_a_time(ms: Millis) -> GatewayError {
    GatewayError::invalid(Problem::local("invalid_fields", format!("{ms} ms since 1970 is not in the years 1 to 9999")))
}

/// From the year 1 to the end of 9999: RFC 3339 can express no others, and additions to these do not overflow.
const TIMES: std::ops::RangeInclusive<Millis> = -62_135_596_800_000..=253_402_300_799_999;

impl Instant {
    fn of(ms: Millis) -> Option<Self> {
        TIMES.contains(&ms).then_some(Self(ms))
    }

    /// The text on the wire.
    pub(crate) fn rfc3339(self) -> String {
        rfc3339(self.0)
    }

    /// Parses RFC 3339.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        parse_rfc3339(text).map(Self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not a time in RFC 3339"))
    }
}

/// A JSON document as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(pub(crate) String);

uniffi::custom_type!(
    /// A JSON document as text.
    Json, String, {
    lower: |json| json.0,
    try_lift: |text| Ok(Json(text)),
});

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Box<RawValue>>::deserialize(deserializer).map(|raw| Self(String::from(Box::<str>::from(raw))))
    }
}
