//! How records lie in the journal: as rows, one value behind the other.
//!
//! A row is the columns of [`rows`], in order. A value is one byte that tells what it is, and what that says: 0 is null, 1 an
//! integer (zigzag, LEB128), 2 a text and 3 bytes (length and content), and from 4 on the integers from 0 to 251 themselves.
//!
//! A key is the number of the kind and the columns of the primary key, so that bytes are in the order of keys: integers as
//! eight bytes, big-endian, the sign turned; texts and bytes as they are, for no column stands behind one that is not of a
//! fixed length.

use crate::store::StoreError;
use crate::store::compact::{Rest, blob, signed, text};
use crate::store::record::{Key, Record, RecordKind};
use crate::store::rows::{self, Bound, Read, Sink, Source};

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const TEXT: u8 = 2;
const BYTES: u8 = 3;
/// The first of those that are an integer by themselves.
const SMALL: u8 = 4;

/// The number of a kind. Never used for another.
pub(super) fn code(kind: RecordKind) -> u8 {
    match kind {
        RecordKind::Client => 1,
        RecordKind::Key => 2,
        RecordKind::Token => 3,
        RecordKind::Provider => 4,
        RecordKind::Account => 5,
        RecordKind::Settlement => 6,
        RecordKind::Attempt => 7,
        RecordKind::Reversal => 8,
        RecordKind::Event => 9,
        RecordKind::Transfer => 10,
        RecordKind::Task => 11,
        RecordKind::Idempotency => 12,
        RecordKind::SimPayment => 13,
        RecordKind::Nonce => 14,
        RecordKind::Secret => 15,
        RecordKind::Audit => 16,
        RecordKind::Meta => 17,
        RecordKind::Unlogged => 18,
        RecordKind::Feed => 19,
        RecordKind::Tile => 20,
        RecordKind::LogHead => 21,
        RecordKind::Endpoint => 22,
        RecordKind::EndpointSecret => 23,
        RecordKind::Queue => 24,
        RecordKind::Delivery => 25,
    }
}

fn kind(code_of: u8) -> Option<RecordKind> {
    RecordKind::ALL.iter().copied().find(|kind| code(*kind) == code_of)
}

/// The kind that a key begins with, and the row under it, as a record.
pub(super) fn record<const SERVER: bool>(code: u8, row: &[u8]) -> Read<Record> {
    let mut reader = Reader { rest: Rest(row), read: 0 };
    let kind = kind(code).map_or_else(|| reader.bad("a kind of record"), Ok)?;
    let record = rows::record_of::<SERVER, _>(kind, &mut reader)?;
    if reader.rest.0.is_empty() { Ok(record) } else { reader.bad("the end of its row") }
}

/// A record as a row.
pub(super) fn row<const SERVER: bool>(record: &Record) -> Result<Vec<u8>, StoreError> {
    let mut values = Values(Vec::with_capacity(128));
    rows::bind_of::<SERVER, _>(record, &mut values)?;
    Ok(values.0)
}

/// The bytes of a key; `None` where no record can have it.
pub(super) fn key(key: &Key) -> Option<Vec<u8>> {
    let possible = match key {
        Key::Event((no, n)) => rows::child_key(*no, *n).is_some(),
        Key::Attempt((no, n)) | Key::Reversal((no, n)) | Key::Transfer((no, n)) | Key::SimPayment((no, n)) => {
            rows::child_key(*no, (*n).into()).is_some()
        }
        Key::Client(_) | Key::Key(_) | Key::Token(_) | Key::Provider(_) | Key::Account(_) | Key::Settlement(_) => true,
        Key::Task(_) | Key::Idempotency(_) | Key::Nonce(_) | Key::Secret(_) | Key::Audit(_) | Key::Meta(_) | Key::Unlogged(_) => true,
        Key::Feed(_) | Key::Tile(_) | Key::LogHead(_) | Key::Endpoint(_) | Key::EndpointSecret(_) | Key::Queue(_) => true,
        Key::Delivery(_) => true,
    };
    let mut bytes = Ordered::of(code(key.kind()));
    (possible && rows::bind_key(key, &mut bytes).is_ok()).then_some(bytes.0)
}

/// Bytes that are in the order of what they were made of.
pub(super) struct Ordered(pub(super) Vec<u8>);

impl Ordered {
    /// Beginning with this one.
    pub(super) fn of(first: u8) -> Self {
        let mut bytes = Vec::with_capacity(24);
        bytes.push(first);
        Self(bytes)
    }
}

/// No record has such a key.
pub(super) struct Impossible;

impl Sink for Ordered {
    type Error = Impossible;

    fn null(&mut self) -> Bound<Self> {
        Err(Impossible)
    }

    fn int(&mut self, value: i64) -> Bound<Self> {
        self.0.extend_from_slice(&(value ^ i64::MIN).to_be_bytes());
        Ok(())
    }

    fn text(&mut self, value: &str) -> Bound<Self> {
        self.bytes(value.as_bytes())
    }

    fn bytes(&mut self, value: &[u8]) -> Bound<Self> {
        self.0.extend_from_slice(value);
        Ok(())
    }

    fn failed(_: serde_json::Error) -> Impossible {
        Impossible
    }
}

/// Values on their way in.
struct Values(Vec<u8>);

impl Sink for Values {
    type Error = StoreError;

    fn null(&mut self) -> Bound<Self> {
        self.0.push(NULL);
        Ok(())
    }

    fn int(&mut self, value: i64) -> Bound<Self> {
        match u8::try_from(value).ok().and_then(|small| small.checked_add(SMALL)) {
            Some(small) => self.0.push(small),
            None => {
                self.0.push(INTEGER);
                signed(&mut self.0, value);
            }
        }
        Ok(())
    }

    fn text(&mut self, value: &str) -> Bound<Self> {
        self.0.push(TEXT);
        text(&mut self.0, value);
        Ok(())
    }

    fn bytes(&mut self, value: &[u8]) -> Bound<Self> {
        self.0.push(BYTES);
        blob(&mut self.0, value);
        Ok(())
    }

    fn failed(error: serde_json::Error) -> StoreError {
        StoreError::corrupt("writing a row", error)
    }
}

/// Values on their way out.
struct Reader<'a> {
    rest: Rest<'a>,
    /// How many were read.
    read: usize,
}

enum Value<'a> {
    Null,
    Integer(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Option<Value<'a>> {
        self.read += 1;
        Some(match self.rest.byte()? {
            NULL => Value::Null,
            INTEGER => Value::Integer(self.rest.signed()?),
            TEXT => Value::Text(std::str::from_utf8(self.rest.blob()?).ok()?),
            BYTES => Value::Bytes(self.rest.blob()?),
            small => Value::Integer(i64::from(small - SMALL)),
        })
    }
}

impl Source for Reader<'_> {
    fn integer(&mut self) -> Read<Option<i64>> {
        match self.value() {
            Some(Value::Null) => Ok(None),
            Some(Value::Integer(value)) => Ok(Some(value)),
            Some(Value::Text(_) | Value::Bytes(_)) | None => self.bad("an integer"),
        }
    }

    fn optional_text(&mut self) -> Read<Option<String>> {
        match self.value() {
            Some(Value::Null) => Ok(None),
            Some(Value::Text(value)) => Ok(Some(value.to_owned())),
            Some(Value::Integer(_) | Value::Bytes(_)) | None => self.bad("a text"),
        }
    }

    fn bytes(&mut self) -> Read<&[u8]> {
        match self.value() {
            Some(Value::Bytes(value)) => Ok(value),
            Some(Value::Null | Value::Integer(_) | Value::Text(_)) | None => self.bad("bytes"),
        }
    }

    fn column(&self) -> String {
        self.read.to_string()
    }
}
