//! The simulator of a client's sandbox: its faults, its resets and its clock.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::request::body;

/// A share of calls, in millionths: written as a number from 0 to 1, and never a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rate(u32);

/// All calls.
const WHOLE: u32 = 1_000_000;

impl Rate {
    /// Reads a number from 0 to 1 with at most six decimals; `None` if the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (units, decimals) = text.split_once('.').unwrap_or((text, "0"));
        if !matches!(units, "0" | "1") || !(1..=6).contains(&decimals.len()) || !decimals.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let whole = if units == "1" { WHOLE } else { 0 };
        let digits = decimals.bytes().chain(std::iter::repeat(b'0')).take(6);
        Self::of_millionths(whole + digits.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
    }

    /// A share in millionths; `None` if it is more than all.
    pub fn of_millionths(millionths: u32) -> Option<Self> {
        (millionths <= WHOLE).then_some(Self(millionths))
    }

    /// The share in millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// The number's text, such as `0.25`.
    pub fn text(self) -> String {
        let text = format!("{}.{:06}", self.0 / WHOLE, self.0 % WHOLE);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.text()).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <Box<RawValue>>::deserialize(deserializer)?;
        Self::parse(raw.get()).ok_or_else(|| serde::de::Error::custom(format_args!("{raw} is not a share from 0 to 1")))
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Rate {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::schema::{ObjectBuilder, Type};
        ObjectBuilder::new()
            .schema_type(Type::Number)
            .minimum(Some(0))
            .maximum(Some(1))
            .description(Some("A share of calls from 0 (none) to 1 (all), with at most six decimals."))
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Rate {}

body! {
    /// How the simulated operator and the way to it fail. What is left out is 0.
    FaultsBody {} optional {
        /// The share of calls that do not reach the operator.
        [example = 0.1]
        rate: Rate,
        /// How long the operator takes to answer a payment or a reversal, in milliseconds; at most an hour. An answer that takes
        /// longer than the gateway waits comes late.
        [example = 2000, maximum = 3600000]
        latency_ms: u64,
        /// The share of calls whose answer is lost after the operator has done what was asked.
        [example = 0.05]
        drop_answer_rate: Rate,
        /// Selects which calls are hit: the same seed and the same calls have the same faults. At most 2⁵³ − 1.
        [example = 7, maximum = 9007199254740991i64]
        seed: u64,
    }
}

body! {
    /// How to change the clock of the sandbox.
    ClockBody {} optional {
        /// Stops the clock (`true`) or lets it run (`false`); unchanged if left out.
        [example = true]
        frozen: bool,
        /// Moves it ahead first, by this many milliseconds; at most 366 days.
        [example = 86400000, maximum = 31622400000i64]
        advance_ms: u64,
    }
}

/// The state of the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClockView {
    /// The sandbox's time, RFC 3339.
    pub now: String,
    /// Whether the clock is stopped, or will be when it has arrived.
    pub frozen: bool,
    /// How far it is ahead of the host's clock, in milliseconds; negative after it was stopped for a while.
    pub ahead_ms: i64,
    /// The time to which it is on its way, RFC 3339; absent once it has arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advancing_to: Option<String>,
}

body! {
    /// Where a reset goes on.
    ResetBody {} optional {
        /// `next_cursor` of the previous response.
        cursor: String,
    }
}

/// What a reset has done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResetView {
    /// How many settlements were ended.
    pub ended: u64,
    /// How many are still open, because their provider is not the simulated operator.
    pub still_open: u64,
    /// Set if there are more settlements than one call looks at: send the request again with this as `cursor`. Null when everything is
    /// done and the balances are restored.
    pub next_cursor: Option<String>,
}

/// The faults in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FaultsView {
    /// The share of calls that do not reach the operator.
    pub rate: Rate,
    /// How long the operator takes to answer a payment or a reversal, in milliseconds.
    pub latency_ms: u64,
    /// The share of calls whose answer is lost after the operator has done what was asked.
    pub drop_answer_rate: Rate,
    /// Selects which calls are hit.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_as_it_was_read() {
        for text in ["0", "1", "0.5", "0.25", "0.000001", "0.999999"] {
            assert_eq!(Rate::parse(text).unwrap().text(), text);
        }
        assert_eq!(Rate::parse("1.000"), Rate::parse("1"));
        for text in ["", "2", "1.000001", "-0.1", ".5", "0.", "1e-1", "0.0000001", "00", "0.5 "] {
            assert_eq!(Rate::parse(text), None, "{text}");
        }
    }
}
