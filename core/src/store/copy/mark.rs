//! The mark in an unfinished target: the source of the copy, and its progress.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Origin;
use crate::store::cell::Cell;
use crate::store::column::{Read, Source};
use crate::store::record::{Key, MetaRecord, RecordKind};
use crate::store::shared::COPY_MARK;
use crate::store::{Scan, StoreError};
use crate::trace::hex;

/// The position in a walk over the records of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// At the first record of this kind.
    First(RecordKind),
    /// After this key, which a record can have.
    After(Key),
}

impl Place {
    /// The kind of the records.
    pub(super) const fn kind(&self) -> RecordKind {
        match self {
            Self::First(kind) => *kind,
            Self::After(key) => key.kind(),
        }
    }

    /// A page of at most `limit` records from this position.
    pub(super) fn page(&self, limit: usize) -> Scan {
        match self {
            Self::First(kind) => Scan::all(*kind, limit),
            Self::After(key) => Scan::after(key, limit),
        }
    }
}

/// The progress of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// The source and its state when the copy started.
    pub(super) origin: Origin,
    /// The number of records copied.
    pub(super) copied: u64,
    /// The next position; `None` when all records are there.
    pub(super) next: Option<Place>,
}

/// A mark as stored: JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    source: String,
    moment: String,
    copied: u64,
    kind: Option<String>,
    /// The columns of the last key of that kind.
    after: Option<Vec<Value>>,
}

impl Mark {
    /// The mark as a record.
    pub(super) fn record(&self) -> Result<MetaRecord, StoreError> {
        let (kind, after) = match &self.next {
            None => (None, None),
            Some(place @ Place::First(_)) => (Some(place.kind()), None),
            Some(place @ Place::After(key)) => (Some(place.kind()), Some(columns(key)?)),
        };
        let kept = Kept {
            source: hex(&self.origin.identity),
            moment: hex(&self.origin.moment),
            copied: self.copied,
            kind: kind.map(|kind| kind.as_str().to_owned()),
            after,
        };
        let value = serde_json::to_vec(&kept).map_err(unreadable)?;
        Ok(MetaRecord { name: COPY_MARK.to_owned(), value })
    }

    /// Reads a mark from its record.
    pub(super) fn read(record: &MetaRecord) -> Result<Self, StoreError> {
        let kept: Kept = serde_json::from_slice(&record.value).map_err(unreadable)?;
        let digest = |text: &str| unhex(text).and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| unreadable("not a hash"));
        let place = |name: String| {
            let kind = RecordKind::from_name(&name).ok_or_else(|| unreadable("an unknown kind"))?;
            let Some(columns) = &kept.after else { return Ok(Place::First(kind)) };
            Key::read(kind, &mut Columns { values: columns.iter(), bytes: Vec::new() }).map(Place::After)
        };
        Ok(Self {
            origin: Origin { identity: digest(&kept.source)?, moment: digest(&kept.moment)? },
            copied: kept.copied,
            next: kept.kind.clone().map(place).transpose()?,
        })
    }
}

fn unreadable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::corrupt("reading the mark of a copy", cause)
}

/// The columns of a key as JSON values; bytes are hexadecimal.
fn columns(key: &Key) -> Result<Vec<Value>, StoreError> {
    let mut cells = Vec::new();
    key.bind(&mut cells)?;
    let value = |cell| match cell {
        Cell::Null => Value::Null,
        Cell::Int(value) => value.into(),
        Cell::Text(value) => value.into(),
        Cell::Bytes(value) => hex(&value).into(),
    };
    Ok(cells.into_iter().map(value).collect())
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

/// Reads the columns of a key back.
struct Columns<'v> {
    values: std::slice::Iter<'v, Value>,
    bytes: Vec<u8>,
}

impl Source for Columns<'_> {
    fn integer(&mut self) -> Read<Option<i64>> {
        match self.values.next() {
            Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) => number.as_i64().map_or_else(|| self.bad("a number in range"), |number| Ok(Some(number))),
            Some(Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) | None => self.bad("a number"),
        }
    }

    fn text(&mut self) -> Read<Option<String>> {
        match self.values.next() {
            Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) | None => self.bad("a text"),
        }
    }

    fn bytes(&mut self) -> Read<Option<&[u8]>> {
        let Some(text) = self.text()? else { return Ok(None) };
        self.bytes = unhex(&text).map_or_else(|| self.bad("bytes"), Ok)?;
        Ok(Some(&self.bytes))
    }

    fn column(&self) -> String {
        "of a mark".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ClientNo, EndpointNo, SettlementNo};
    use crate::ledger::Mode;
    use crate::store::record::{SecretKind, TaskKey};

    #[test]
    fn every_place_is_read_as_it_was_kept() {
        let keys = [
            Key::Client(ClientNo(u32::MAX)),
            Key::Token([0xab; 32]),
            Key::Event((SettlementNo(-5), 65_535)),
            Key::Reversal((SettlementNo(7), 1)),
            Key::Task(TaskKey(i64::MIN)),
            Key::Idempotency((ClientNo(1), "\0 \u{1} ü \"".to_owned())),
            Key::Secret((SecretKind::Log, 3)),
            Key::Meta(String::new()),
            Key::Feed((ClientNo(2), Mode::Live, i64::MAX)),
            Key::Tile((Mode::Sandbox, 63, 9)),
            Key::Tile((Mode::Live, 0, 9)),
            Key::EndpointSecret((EndpointNo(1), 2)),
        ];
        let first = RecordKind::ALL.iter().copied().map(Place::First);
        let places = first.chain(keys.into_iter().map(Place::After)).map(Some).chain([None]);
        for next in places {
            let mark = Mark { origin: Origin { identity: [1; 32], moment: [0xfe; 32] }, copied: u64::MAX, next };
            assert_eq!(Mark::read(&mark.record().unwrap()).unwrap(), mark);
        }
    }

    #[test]
    fn a_mark_that_nobody_kept_is_refused() {
        let value = |text: &str| MetaRecord { name: COPY_MARK.to_owned(), value: text.as_bytes().to_vec() };
        let hash = "00".repeat(32);
        let mark = |more: &str| format!(r#"{{"source":"{hash}","moment":"{hash}","copied":1,{more}}}"#);
        assert!(Mark::read(&value(&mark(r#""kind":"client","after":[5]"#))).is_ok());
        for wrong in [
            String::new(),
            mark(r#""kind":"nothing","after":[5]"#),
            mark(r#""kind":"client","after":[]"#),
            mark(r#""kind":"client","after":[-1]"#),
            mark(r#""kind":"client","after":["5"]"#),
            mark(r#""kind":"token","after":["0"]"#),
            mark(r#""kind":"token","after":["zz"]"#),
            mark(r#""kind":"client","after":[5],"more":1"#),
            mark(r#""kind":null,"after":null"#).replace("00", "0"),
        ] {
            assert!(Mark::read(&value(&wrong)).is_err(), "{wrong}");
        }
    }
}
