//! The event trace: each event's SHA-256 covers the previous event, so no event can be changed, removed or moved without
//! invalidating every later hash.
//!
//! Whoever has a trace can verify it, with any SHA-256:
//!
//! ```
//! use railgate::api::EventView;
//! use sha2::{Digest as _, Sha256};
//! # use std::sync::Arc;
//! # use railgate::{Config, Gateway, api::CreateRequest, env::ManualEnv, store::memory::MemoryStore};
//!
//! /// Whether the events are a trace from its start, as it was recorded.
//! fn is_unbroken(trace: Vec<EventView>) -> serde_json::Result<bool> {
//!     let mut last = None;
//!     for (sequence, mut event) in (1..).zip(trace) {
//!         let hash = event.hash.take();
//!         let form = serde_json::to_vec(&event)?; // already in canonical form
//!         let computed = base16ct::lower::encode_string(&Sha256::digest(form));
//!         if event.sequence != sequence || event.prev != last || hash.as_ref() != Some(&computed) {
//!             return Ok(false);
//!         }
//!         last = hash;
//!     }
//!     Ok(true)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (store, env) = (Arc::new(MemoryStore::new()), Arc::new(ManualEnv::new(1_795_257_497_042, 1)));
//! # let gateway = Gateway::open_with(store, env, Config::sandbox())?;
//! # let enrolled = gateway.enroll("Shop")?;
//! # let shop = gateway.client(&enrolled);
//! # shop.create(CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?))?;
//! # gateway.work()?;
//! let mut trace = shop.events("inv-1", 0, 100)?.data;
//! assert!(is_unbroken(trace.clone())?);
//!
//! trace[1].at = "2026-11-21T10:00:00.000Z".to_owned();
//! assert!(!is_unbroken(trace)?);
//! # Ok(())
//! # }
//! ```
//!
//! The hash is computed over the RFC 8785 (JCS) form of the event as its owner sees it, without `hash`. That form is written
//! directly here: sorted keys, no floats, strings escaped as JCS requires. A test compares it with an independent canonicaliser.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::ids::{IdKey, Ulid};
use crate::lifecycle::{Direction, StateName};
use crate::money::Money;
use crate::store::record::{Actor, Digest32, EventRecord, EventType, SettlementRecord};
use crate::time::{Millis, rfc3339};

/// Lower-case hexadecimal.
pub(crate) use base16ct::lower::encode_string as hex;

/// The content of an event, before it has a hash.
pub(crate) struct TracedEvent<'a> {
    pub(crate) kind: EventType,
    pub(crate) at: Millis,
    pub(crate) from: Option<StateName>,
    pub(crate) to: Option<StateName>,
    pub(crate) actor: Actor,
    /// The attempt or reversal concerned; 0 for none.
    pub(crate) child: u16,
    /// A canonical JSON object; `None` if the data is derived from the settlement.
    pub(crate) data: Option<&'a str>,
}

impl<'a> From<&'a EventRecord> for TracedEvent<'a> {
    fn from(e: &'a EventRecord) -> Self {
        Self { kind: e.kind, at: e.at, from: e.from, to: e.to, actor: e.actor, child: e.child, data: e.data.as_deref() }
    }
}

/// The public ULID of a settlement.
pub(crate) fn settlement_ulid(key: &IdKey, record: &SettlementRecord) -> Ulid {
    key.seal(record.no, record.created_at, record.salt)
}

/// The hash of the event at `sequence`; `prev` is the hash of the previous event.
pub(crate) fn link_hash(
    key: &IdKey,
    record: &SettlementRecord,
    link: &TracedEvent<'_>,
    sequence: u32,
    prev: Option<&Digest32>,
) -> Digest32 {
    let mut form = String::with_capacity(512);
    write_canonical(&mut form, key, record, link, sequence, prev);
    Sha256::digest(form.as_bytes()).into()
}

/// The event's public ULID, which is derived and therefore not stored.
pub(crate) fn event_ulid(key: &IdKey, record: &SettlementRecord, link: &TracedEvent<'_>, sequence: u32) -> Ulid {
    key.child("evt", record.no, sequence, link.at)
}

/// The attempt that an event is about. Events of reversals name theirs in `data`.
pub(crate) fn attempt_of(link: &TracedEvent<'_>) -> Option<u16> {
    match link.kind {
        EventType::ReversalAccepted
        | EventType::ReversalSubmitted
        | EventType::ReversalUnknown
        | EventType::ReversalCompleted
        | EventType::ReversalFailed
        | EventType::SettlementPartiallyReversed
        | EventType::SettlementReversed => None,
        EventType::SettlementAccepted
        | EventType::SettlementSubmitted
        | EventType::SettlementUnknown
        | EventType::SettlementCompleted
        | EventType::SettlementFailed
        | EventType::SettlementCancelled
        | EventType::SettlementReturned
        | EventType::SettlementDiscrepancy
        | EventType::SettlementReviewed
        | EventType::AttemptStarted
        | EventType::AttemptAnswered => (link.child > 0).then_some(link.child),
    }
}

/// Writes the event's `data`. For the first event it is derived from the settlement's immutable fields, so that the chain covers the
/// amount, the payee and, of an incoming payment, the payer without storing them twice.
pub(crate) fn write_data(out: &mut String, record: &SettlementRecord, link: &TracedEvent<'_>) {
    match (link.data, link.kind) {
        (Some(data), _) => out.push_str(data),
        (None, EventType::SettlementAccepted) => write_terms(out, record, "fee", &Money::from_minor(record.fee, record.currency).decimal()),
        (None, EventType::SettlementCompleted) if record.direction() == Direction::Incoming => {
            write_terms(out, record, "from", record.other_side().and_then(|it| it.from.as_deref()).unwrap_or_default());
        }
        (None, _) => out.push_str("{}"),
    }
}

/// Writes the amount and the payee, with one more member that sorts between them.
fn write_terms(out: &mut String, record: &SettlementRecord, name: &str, value: &str) {
    let amount = Money::from_minor(record.amount, record.currency).decimal();
    let _ = write!(out, r#"{{"amount":"{amount}","currency":"{}","{name}":"#, record.currency.code());
    write_string(out, value);
    out.push_str(r#","to":"#);
    write_string(out, record.to.as_str());
    out.push('}');
}

fn write_canonical(
    out: &mut String,
    key: &IdKey,
    record: &SettlementRecord,
    link: &TracedEvent<'_>,
    sequence: u32,
    prev: Option<&Digest32>,
) {
    let _ = write!(out, r#"{{"actor":"{}","at":"{}","attempt":"#, link.actor.as_str(), rfc3339(link.at));
    match attempt_of(link) {
        None => out.push_str("null"),
        Some(n) => {
            let _ = write!(out, "{n}");
        }
    }
    out.push_str(r#","data":"#);
    write_data(out, record, link);
    out.push_str(r#","from":"#);
    write_state(out, link.from);
    let _ = write!(out, r#","id":"evt_{}","prev":"#, event_ulid(key, record, link, sequence));
    match prev {
        None => out.push_str("null"),
        Some(hash) => {
            out.push('"');
            out.push_str(&hex(hash));
            out.push('"');
        }
    }
    // A reference only has letters, digits and `._-`, so there is nothing to escape.
    let _ = write!(
        out,
        r#","reference":"{}","sequence":{sequence},"settlement_id":"stl_{}","to":"#,
        record.reference.as_str(),
        settlement_ulid(key, record)
    );
    write_state(out, link.to);
    let _ = write!(out, r#","type":"{}"}}"#, link.kind.as_str());
}

fn write_state(out: &mut String, state: Option<StateName>) {
    match state {
        None => out.push_str("null"),
        Some(state) => {
            out.push('"');
            out.push_str(state.as_str());
            out.push('"');
        }
    }
}

/// Writes a JSON string as in RFC 8785, which is also the form of `serde_json`.
pub(crate) fn write_string(out: &mut String, text: &str) {
    if text.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        // Serialising a string cannot fail.
        out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::*;

    /// All strings in a document, including the names of members.
    fn strings(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
            Value::Object(members) => {
                found.extend(members.keys().cloned());
                members.values().for_each(|member| strings(member, found));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The documents published with RFC 8785 and their canonical forms. They verify the canonicaliser with which other tests
    /// compare the trace's form, and the way the trace writes strings.
    #[test]
    fn strings_are_written_as_the_published_documents_have_them() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/jcs"));
        let mut count = 0;
        for name in ["arrays", "french", "structures", "unicode", "values", "weird"] {
            let read = |side: &str| std::fs::read_to_string(folder.join(side).join(format!("{name}.json"))).unwrap();
            let (input, output) = (read("input"), read("output"));
            let (document, output) = (serde_json::from_str::<Value>(&input).unwrap(), output.trim_end());
            assert_eq!(serde_json_canonicalizer::to_string(&document).unwrap(), output, "{name}");
            let mut all = Vec::new();
            strings(&document, &mut all);
            for text in &all {
                let mut written = String::new();
                write_string(&mut written, text);
                assert!(output.contains(&written), "{name}: {written}");
            }
            count += all.len();
        }
        assert!(count > 40, "{count} strings");
    }
}
