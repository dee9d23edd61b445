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

use std::borrow::Cow;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::ids::{ClientNo, IdKey, SettlementNo, Ulid};
use crate::ledger::Mode;
use crate::lifecycle::{Direction, StateName};
use crate::money::Money;
use crate::store::record::{BundleRecord, Digest32, EventRecord, EventSubject, EventType, Key, MovementRecord, Record, SettlementRecord};
use crate::time::write_rfc3339;

/// Lower-case hexadecimal.
pub(crate) use base16ct::lower::encode_string as hex;

/// What a trace is about. Its events are stored under a journal number, which settlements, movements of money and bundles share.
#[derive(Debug, Clone, Copy)]
pub(crate) enum About<'a> {
    /// A settlement.
    Settlement(&'a SettlementRecord),
    /// What an operator did to a client's account: a trace of one event.
    Movement(&'a MovementRecord),
    /// A partner's bundle: each step is an event.
    Bundle(&'a BundleRecord),
}

impl<'a> About<'a> {
    /// The number under which its events are stored.
    pub(crate) const fn no(self) -> SettlementNo {
        match self {
            Self::Settlement(record) => record.no,
            Self::Movement(record) => record.journal,
            Self::Bundle(record) => record.journal(),
        }
    }

    /// Whose feed its events are in.
    pub(crate) const fn owner(self) -> (ClientNo, Mode) {
        match self {
            Self::Settlement(record) => (record.client, record.mode),
            Self::Movement(record) => (record.client, record.mode),
            Self::Bundle(record) => (record.client, record.mode),
        }
    }

    /// The client's reference, or the operator's, or the id of the bundle.
    pub(crate) fn reference(self) -> Cow<'a, str> {
        match self {
            Self::Settlement(record) => record.reference.as_str().into(),
            Self::Movement(record) => record.reference.as_str().into(),
            Self::Bundle(record) => format!("bun_{}", record.id).into(),
        }
    }
}

/// What a trace is about, as it is stored.
pub(crate) enum Traced {
    /// A settlement.
    Settlement(Box<SettlementRecord>),
    /// A movement of money.
    Movement(Box<MovementRecord>),
    /// A bundle.
    Bundle(Box<BundleRecord>),
}

impl Traced {
    pub(crate) const fn about(&self) -> About<'_> {
        match self {
            Self::Settlement(record) => About::Settlement(record),
            Self::Movement(record) => About::Movement(record),
            Self::Bundle(record) => About::Bundle(record),
        }
    }
}

impl TryFrom<Record> for Traced {
    type Error = Record;

    fn try_from(record: Record) -> Result<Self, Record> {
        match record {
            Record::Settlement(record) => Ok(Self::Settlement(record.into())),
            Record::Movement(record) => Ok(Self::Movement(record.into())),
            Record::Bundle(record) => Ok(Self::Bundle(record.into())),
            other => Err(other),
        }
    }
}

/// Where the record is that such an event is about.
pub(crate) const fn traced_key(kind: EventType, no: SettlementNo) -> Key {
    match kind.subject() {
        EventSubject::Settlement => Key::Settlement(no),
        EventSubject::Movement => Key::Movement(no),
        EventSubject::Bundle => Key::Bundle(no.0),
    }
}

/// The public ULID of a settlement.
pub(crate) fn settlement_ulid(key: &IdKey, record: &SettlementRecord) -> Ulid {
    key.seal(record.no, record.created_at, record.salt)
}

/// What the event's hash must be, whatever it is; `prev` is the hash of the previous event.
pub(crate) fn link_hash(key: &IdKey, about: About<'_>, event: &EventRecord, prev: Option<&Digest32>) -> Digest32 {
    let mut form = String::with_capacity(512);
    write_canonical(&mut form, key, about, event, prev);
    Sha256::digest(form.as_bytes()).into()
}

/// The event's public ULID, which is derived and therefore not stored.
pub(crate) fn event_ulid(key: &IdKey, event: &EventRecord) -> Ulid {
    key.child("evt", event.settlement, event.n, event.at)
}

/// The attempt that an event is about. Events of reversals name theirs in `data`.
pub(crate) fn attempt_of(event: &EventRecord) -> Option<u16> {
    match event.kind {
        EventType::ReversalAccepted
        | EventType::ReversalSubmitted
        | EventType::ReversalUnknown
        | EventType::ReversalCompleted
        | EventType::ReversalFailed
        | EventType::SettlementPartiallyReversed
        | EventType::SettlementReversed
        | EventType::BalanceDeposited
        | EventType::BalanceWithdrawn
        | EventType::BalanceCreditChanged
        | EventType::ApprovalRequested
        | EventType::ApprovalApproved
        | EventType::ApprovalDeclined
        | EventType::BundleCreated
        | EventType::BundleEdited
        | EventType::BundleCommented
        | EventType::BundleTested
        | EventType::BundlePublicationAsked
        | EventType::BundlePublicationFailed
        | EventType::BundleSuperseded
        | EventType::BundleTestAsked
        | EventType::BundleSubmitted
        | EventType::BundleInReview
        | EventType::BundleApproved
        | EventType::BundleRejected
        | EventType::BundleChangesRequested
        | EventType::BundleWithdrawn
        | EventType::BundlePublished
        | EventType::BundleRevoked => None,
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
        | EventType::AttemptAnswered => (event.child > 0).then_some(event.child),
    }
}

/// Writes the event's `data`. For the first event of a settlement and for a movement it is derived from immutable fields, so that the
/// chain covers amount, payee, payer and reference without storing them twice.
pub(crate) fn write_data(out: &mut String, about: About<'_>, event: &EventRecord) {
    match (&event.data, about, event.kind) {
        (Some(data), _, _) => out.push_str(data),
        (None, About::Settlement(record), EventType::SettlementAccepted) => {
            write_terms(out, record, "fee", &Money::from_minor(record.fee, record.currency).decimal_text());
        }
        (None, About::Settlement(record), EventType::SettlementCompleted) if record.direction() == Direction::Incoming => {
            write_terms(out, record, "from", record.other_side().and_then(|it| it.from.as_deref()).unwrap_or_default());
        }
        (None, About::Movement(record), _) => write_movement(out, record),
        (None, About::Settlement(_) | About::Bundle(_), _) => out.push_str("{}"),
    }
}

/// Writes the amount and the payee, with one more member that sorts between them.
fn write_terms(out: &mut String, record: &SettlementRecord, name: &str, value: &str) {
    let amount = Money::from_minor(record.amount, record.currency).decimal_text();
    let _ = write!(out, r#"{{"amount":"{amount}","currency":"{}","{name}":"#, record.currency.code());
    write_string(out, value);
    out.push_str(r#","to":"#);
    write_string(out, record.to.as_str());
    out.push('}');
}

/// Writes what an operator did. Evidence is the operators' own and never told.
fn write_movement(out: &mut String, record: &MovementRecord) {
    let (amount, currency, reference) = (record.money().decimal_text(), record.currency.code(), record.reference.as_str());
    let _ = match record.previous() {
        Some(previous) => {
            let previous = previous.decimal_text();
            write!(out, r#"{{"credit":{{"amount":"{amount}","currency":"{currency}","previous":"{previous}","reference":"{reference}"}}}}"#)
        }
        None => {
            let kind = record.kind.as_str();
            write!(out, r#"{{"movement":{{"amount":"{amount}","currency":"{currency}","kind":"{kind}","reference":"{reference}"}}}}"#)
        }
    };
}

fn write_canonical(out: &mut String, key: &IdKey, about: About<'_>, event: &EventRecord, prev: Option<&Digest32>) {
    let _ = write!(out, r#"{{"actor":"{}","at":""#, event.actor.as_str());
    write_rfc3339(out, event.at);
    out.push_str(r#"","attempt":"#);
    match attempt_of(event) {
        None => out.push_str("null"),
        Some(n) => {
            let _ = write!(out, "{n}");
        }
    }
    out.push_str(r#","data":"#);
    write_data(out, about, event);
    out.push_str(r#","from":"#);
    write_state(out, event.from);
    let _ = write!(out, r#","id":"evt_{}","prev":"#, event_ulid(key, event));
    match prev {
        None => out.push_str("null"),
        Some(hash) => {
            out.push('"');
            out.push_str(&hex(hash));
            out.push('"');
        }
    }
    // A reference or an id only has letters, digits and `._-`, so there is nothing to escape.
    let _ = write!(out, r#","reference":"{}","sequence":{},"settlement_id":"#, about.reference(), event.n);
    match about {
        About::Movement(_) | About::Bundle(_) => out.push_str("null"),
        About::Settlement(record) => {
            let _ = write!(out, r#""stl_{}""#, settlement_ulid(key, record));
        }
    }
    out.push_str(r#","to":"#);
    write_state(out, event.to);
    let _ = write!(out, r#","type":"{}"}}"#, event.kind.as_str());
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
