//! The place of a call in a distributed trace: W3C Trace Context, level 1.
//!
//! A settlement keeps the one under which it was created, so that what is sent because of it later, to an operator or to a webhook, belongs
//! to the same trace.
//!
//! ```
//! use railgate::traceparent::TraceParent;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let place: TraceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse()?;
//! assert!(place.is_sampled());
//! assert_eq!(place.trace(), "4bf92f3577b34da6a3ce929d0e0e4736");
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceParent {
    /// The trace; never zero.
    pub trace_id: [u8; 16],
    /// The span in it; never zero.
    pub span_id: [u8; 8],
    /// Bit 0: whether it is recorded.
    pub flags: u8,
}

/// A text that is not a `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a traceparent")]
pub struct NoTraceParent;

impl TraceParent {
    /// The id of the trace as it is written.
    pub fn trace(self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.trace_id))
    }

    /// Whether whoever sent it records its trace.
    pub const fn is_sampled(self) -> bool {
        self.flags & 1 == 1
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, span) = (u128::from_be_bytes(self.trace_id), u64::from_be_bytes(self.span_id));
        write!(f, "00-{trace:032x}-{span:016x}-{:02x}", self.flags)
    }
}

impl FromStr for TraceParent {
    type Err = NoTraceParent;

    /// Of a later version, what this one knows is read, as the standard demands.
    fn from_str(text: &str) -> Result<Self, NoTraceParent> {
        let is_hex = |part: &str, digits: usize| part.len() == digits && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let mut parts = text.split('-');
        let mut part = |digits| parts.next().filter(|part| is_hex(part, digits)).ok_or(NoTraceParent);
        let (version, trace, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
        let trace = u128::from_str_radix(trace, 16).map_err(|_| NoTraceParent)?;
        let span = u64::from_str_radix(span, 16).map_err(|_| NoTraceParent)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| NoTraceParent)?;
        let is_whole = version != "00" || parts.next().is_none();
        let is_good = is_whole && version != "ff" && trace != 0 && span != 0;
        is_good.then_some(Self { trace_id: trace.to_be_bytes(), span_id: span.to_be_bytes(), flags }).ok_or(NoTraceParent)
    }
}

impl Serialize for TraceParent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceParent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn one_is_read_and_written_as_it_was() {
        let read: TraceParent = GIVEN.parse().unwrap();
        assert_eq!((read.to_string().as_str(), read.is_sampled()), (GIVEN, true));
        assert_eq!(serde_json::from_str::<TraceParent>(&serde_json::to_string(&read).unwrap()).unwrap(), read);
        let later = GIVEN.replacen("00", "01", 1) + "-what-comes-later";
        assert_eq!(later.parse(), Ok(read));
    }

    #[test]
    fn what_is_none_is_none() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        for wrong in [
            String::new(),
            GIVEN.to_uppercase(),
            format!("{GIVEN}-more"),
            format!("ff-{trace}-{span}-01"),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{trace}-{span}"),
            format!("00-{trace}-{span}-1"),
            format!("00-{}-{span}-01", &trace[1..]),
            format!("00-+{}-{span}-01", &trace[1..]),
        ] {
            assert_eq!(wrong.parse::<TraceParent>(), Err(NoTraceParent), "{wrong}");
        }
    }
}
