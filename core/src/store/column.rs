//! How a value is stored in a column: one implementation per type, for every store.
//!
//! Each store defines how a cell gets into a row ([`Sink`]) and out of it again ([`Source`]). The type of the field defines the
//! cell, and [`tables`](super::tables) defines the columns.

use std::sync::Arc;

use super::StoreError;
use super::changes::{decode_changes, decode_lines, encode_changes, encode_lines};
use super::record::*;
use super::shared::{pack_child, pack_tile};
use crate::auth::{Algorithm, KeyId, PublicKey, ScopeSet};
use crate::ids::{ClientNo, EndpointNo, KeyNo, OperatorNo, ProviderNo, SettlementNo, Ulid, UserNo};
use crate::ledger::{AccountId, Mode, Totals};
use crate::lifecycle::Coded;
use crate::money::Currency;
use crate::participant::{Participant, Reference};
use crate::quality::{Devices, Sketch};
use crate::terms::{UsageId, Used, UserLimits};

/// The type of a column, in databases that have types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flag,
    Int2,
    Int4,
    Int8,
    Text,
    Bytes,
}

/// Receives the cells of a row, one column after another.
pub(crate) trait Sink {
    /// Why a cell was not accepted.
    type Error;

    /// Writes NULL.
    fn null(&mut self) -> Bound<Self>;
    /// Writes an integer, whatever the width of its column.
    fn int(&mut self, value: i64) -> Bound<Self>;
    /// Writes a text.
    fn text(&mut self, value: &str) -> Bound<Self>;
    /// Writes bytes.
    fn bytes(&mut self, value: &[u8]) -> Bound<Self>;
    /// The error for a value that cannot be serialised.
    fn failed(error: serde_json::Error) -> Self::Error;
}

/// Whether a [`Sink`] accepted a cell.
pub(crate) type Bound<S> = Result<(), <S as Sink>::Error>;

/// The result of reading.
pub(crate) type Read<T> = Result<T, StoreError>;

/// Returns the cells of a row, one column after another. None of its values is trusted.
pub(crate) trait Source {
    /// The next column's integer, whatever its width.
    fn integer(&mut self) -> Read<Option<i64>>;
    /// The next column's text.
    fn text(&mut self) -> Read<Option<String>>;
    /// The next column's bytes.
    fn bytes(&mut self) -> Read<Option<&[u8]>>;
    /// The name of the column read last.
    fn column(&self) -> String;

    /// The error for the column read last: its value is not as expected.
    #[cold]
    fn bad<T>(&self, what: &str) -> Read<T> {
        Err(self.fault(what))
    }

    /// See [`Source::bad`]: the same for values of every type.
    #[cold]
    fn fault(&self, what: &str) -> StoreError {
        StoreError::corrupt("reading a row", format!("column {} does not hold {what}", self.column()))
    }

    /// A value that must not be NULL.
    fn some<T>(&self, found: Option<T>, what: &str) -> Read<T> {
        found.map_or_else(|| self.bad(what), Ok)
    }
}

/// The value of a field, or of a few fields together, in one or several columns.
pub(crate) trait Column: Sized {
    /// The type of each column.
    const KINDS: &'static [Kind];
    /// Whether the columns may be NULL.
    const NULLABLE: bool = false;
    /// Whether rows of a journal end before the columns where they are NULL, as they did before there were such columns.
    const LATER: bool = false;

    /// Writes itself to a sink.
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S>;
    /// Reads the next columns.
    fn read<C: Source>(source: &mut C) -> Read<Self>;
    /// Why no column can store this value.
    fn refusal(&self) -> Option<&'static str> {
        None
    }
}

/// A value in one column, which may be NULL if its field is optional.
pub(crate) trait Stored: Sized {
    /// The type of the column.
    const KIND: Kind;

    /// Writes itself to a sink.
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S>;
    /// Reads the next column; `None` for NULL.
    fn read<C: Source>(source: &mut C) -> Read<Option<Self>>;
    /// Why the column cannot store this value.
    fn refusal(&self) -> Option<&'static str> {
        None
    }
}

impl<T: Stored> Column for T {
    const KINDS: &'static [Kind] = &[T::KIND];

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        self.put(sink)
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Self> {
        let found = T::read(source)?;
        source.some(found, "a value")
    }

    #[inline]
    fn refusal(&self) -> Option<&'static str> {
        self.refusal()
    }
}

impl<T: Stored> Column for Option<T> {
    const KINDS: &'static [Kind] = &[T::KIND];
    const NULLABLE: bool = true;

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        match self {
            None => sink.null(),
            Some(value) => value.put(sink),
        }
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Self> {
        T::read(source)
    }
}

/// A number within the range of its type.
#[inline]
fn ranged<T: TryFrom<i64>, C: Source + ?Sized>(source: &mut C) -> Read<Option<T>> {
    match source.integer()? {
        None => Ok(None),
        Some(n) => T::try_from(n).map(Some).or_else(|_| source.bad("a number in range")),
    }
}

/// The value that a stored number or text represents.
#[inline]
fn meant<T, U, C: Source>(source: &C, found: Option<T>, what: &str, meaning: impl FnOnce(T) -> Option<U>) -> Read<Option<U>> {
    match found {
        None => Ok(None),
        Some(found) => meaning(found).map_or_else(|| source.bad(what), |it| Ok(Some(it))),
    }
}

macro_rules! integers {
    ($($type:ty: $kind:ident;)*) => {$(
        impl Stored for $type {
            const KIND: Kind = Kind::$kind;

            #[inline]
            fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
                sink.int((*self).into())
            }

            #[inline]
            fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
                ranged(source)
            }
        }
    )*};
}
integers! { i64: Int8; u32: Int8; u16: Int4; }

/// Wrapper types, which use the column of their inner type.
macro_rules! wrapped {
    ($($type:ident($inner:ty) = |$it:ident| $get:expr, $new:expr;)*) => {$(
        impl Stored for $type {
            const KIND: Kind = <$inner as Stored>::KIND;

            #[inline]
            fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
                let $it = self;
                Stored::put(&$get, sink)
            }

            #[inline]
            fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
                Ok(<$inner as Stored>::read(source)?.map($new))
            }
        }
    )*};
}
wrapped! {
    ClientNo(u32) = |it| it.0, Self;
    EndpointNo(u32) = |it| it.0, Self;
    OperatorNo(u32) = |it| it.0, Self;
    UserNo(u32) = |it| it.0, Self;
    KeyNo(u32) = |it| it.0, Self;
    ProviderNo(u16) = |it| it.0, Self;
    AccountId(i64) = |it| it.0, Self;
    UsageId(i64) = |it| it.0, Self;
    TaskKey(i64) = |it| it.0, Self;
    KeyId([u8; 32]) = |it| it.0, Self;
    // The same 64 bits, reinterpreted.
    u64(i64) = |it| *it as i64, |it| it as u64;
    Ulid([u8; 16]) = |it| it.0.to_be_bytes(), |it| Self(u128::from_be_bytes(it));
    ScopeSet(u32) = |it| it.bits(), Self::from_bits;
    TopicSet(i64) = |it| it.bits(), Self::from_bits;
}

impl Stored for SettlementNo {
    const KIND: Kind = Kind::Int8;

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.int(self.0)
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
        Ok(source.integer()?.map(Self))
    }

    fn refusal(&self) -> Option<&'static str> {
        pack_child(*self, 0).is_none().then_some("a settlement number has at most 47 bits")
    }
}

impl Stored for bool {
    const KIND: Kind = Kind::Flag;

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.int((*self).into())
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
        Ok(source.integer()?.map(|it| it != 0))
    }
}

/// Types stored as a small number.
macro_rules! coded {
    ($type:ty $(, $enum:ident)?) => {
        impl$(<$enum: Coded>)? Stored for $type {
            const KIND: Kind = Kind::Int2;

            #[inline]
            fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
                sink.int((*self).code().into())
            }

            #[inline]
            fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
                let code = ranged(source)?;
                meant(source, code, "a known code", Self::from_code)
            }
        }
    };
}
coded!(T, T);
coded!(Topic);

impl Stored for Currency {
    const KIND: Kind = Kind::Int2;

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.int(self.numeric().into())
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
        let numeric = ranged(source)?;
        meant(source, numeric, "a currency", Self::from_numeric)
    }
}

/// Types stored as text, with the functions that format and parse them.
macro_rules! texts {
    ($($type:ident = $show:ident, $read:expr;)*) => {$(
        impl Stored for $type {
            const KIND: Kind = Kind::Text;

            #[inline]
            fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
                sink.text(self.$show())
            }

            #[inline]
            fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
                let text = source.text()?;
                meant(source, text, "a valid value", $read)
            }
        }
    )*};
}
texts! {
    String = as_str, Some;
    Reference = as_str, |text| Some(Self::from_stored(text));
    Participant = as_str, Self::from_stored;
}

/// Types stored as JSON in a text column.
macro_rules! json {
    ($($type:ty)*) => {$(
        impl Stored for $type {
            const KIND: Kind = Kind::Text;

            fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
                sink.text(&serde_json::to_string(self).map_err(S::failed)?)
            }

            fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
                match source.text()? {
                    None => Ok(None),
                    Some(text) => serde_json::from_str(&text).map(Some).or_else(|e| source.bad(&format!("a valid value: {e}"))),
                }
            }
        }
    )*};
}
json!(Arc<SettlementMore> Box<StatementLine> Failure LastTry Vec<UserLimits> DeviceAttestation Box<NotificationFacts> Box<PushRoute>);

impl Stored for Vec<u8> {
    const KIND: Kind = Kind::Bytes;

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.bytes(self)
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
        Ok(source.bytes()?.map(<[u8]>::to_vec))
    }
}

impl<const N: usize> Stored for [u8; N] {
    const KIND: Kind = Kind::Bytes;

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.bytes(self)
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
        match source.bytes()?.map(Self::try_from) {
            None => Ok(None),
            Some(Ok(array)) => Ok(Some(array)),
            Some(Err(_)) => source.bad("the right number of bytes"),
        }
    }
}

impl Stored for Vec<LoggedChange> {
    const KIND: Kind = Kind::Bytes;

    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.bytes(&encode_changes(self))
    }

    fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
        source.bytes()?.map(decode_changes).transpose()
    }
}

impl Stored for Vec<BookedLine> {
    const KIND: Kind = Kind::Bytes;

    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.bytes(&encode_lines(self))
    }

    fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
        source.bytes()?.map(decode_lines).transpose()
    }
}

impl Stored for Sketch {
    const KIND: Kind = Kind::Bytes;

    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.bytes(&self.encode())
    }

    fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
        let sketch = source.bytes()?.map(Self::decode);
        meant(source, sketch, "a sketch", |sketch| sketch)
    }
}

impl Stored for Devices {
    const KIND: Kind = Kind::Bytes;

    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.bytes(&self.encode())
    }

    fn read<C: Source>(source: &mut C) -> Read<Option<Self>> {
        let devices = source.bytes()?.map(Self::decode);
        meant(source, devices, "a set of devices", |devices| devices)
    }
}

/// Two columns: the algorithm and the key's bytes.
impl Column for PublicKey {
    const KINDS: &'static [Kind] = &[Kind::Int2, Kind::Bytes];

    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        Stored::put(&self.algorithm(), sink)?;
        sink.bytes(self.as_bytes())
    }

    fn read<C: Source>(source: &mut C) -> Read<Self> {
        let algorithm = <Algorithm as Column>::read(source)?;
        let key = source.bytes()?.and_then(|bytes| Self::of_row(algorithm, bytes));
        source.some(key, "a public key")
    }
}

impl Column for Version {
    const KINDS: &'static [Kind] = &[Kind::Int8];
    const NULLABLE: bool = true;
    const LATER: bool = true;

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        Column::put(&Some(self.0).filter(|version| *version > 0), sink)
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Self> {
        Ok(Self(<Option<u32> as Column>::read(source)?.unwrap_or_default()))
    }
}

impl<T: Stored> Column for Later<T> {
    const KINDS: &'static [Kind] = <Option<T>>::KINDS;
    const NULLABLE: bool = true;
    const LATER: bool = true;

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        Column::put(&self.0, sink)
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Self> {
        Ok(Self(T::read(source)?))
    }
}

/// Four columns, one per total.
/// Two columns: the sum and the number.
impl Column for Used {
    const KINDS: &'static [Kind] = &[Kind::Int8, Kind::Int8];

    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.int(self.value)?;
        sink.int(self.count)
    }

    fn read<C: Source>(source: &mut C) -> Read<Self> {
        Ok(Self { value: <i64 as Column>::read(source)?, count: <i64 as Column>::read(source)? })
    }
}

impl Column for Totals {
    const KINDS: &'static [Kind] = &[Kind::Int8; 4];

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        [self.debits_pending, self.debits_posted, self.credits_pending, self.credits_posted].iter().try_for_each(|it| sink.int(*it))
    }

    #[inline]
    fn read<C: Source>(source: &mut C) -> Read<Self> {
        let mut next = || <i64 as Column>::read(source);
        Ok(Self { debits_pending: next()?, debits_posted: next()?, credits_pending: next()?, credits_posted: next()? })
    }
}

/// A child's key: one number, ordered by settlement and then by the child's own number. A key that does not fit sorts to the end.
macro_rules! children {
    ($($n:ty: $refusal:expr;)*) => {$(
        impl Column for (SettlementNo, $n) {
            const KINDS: &'static [Kind] = &[Kind::Int8];

            #[inline]
            fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
                let beyond = if self.0.0 < 0 { i64::MIN } else { i64::MAX };
                sink.int(pack_child(self.0, self.1.into()).unwrap_or(beyond))
            }

            #[inline]
            fn read<C: Source>(source: &mut C) -> Read<Self> {
                let k = <i64 as Column>::read(source)?;
                Ok((SettlementNo(k >> 16), (k as u16).into()))
            }

            fn refusal(&self) -> Option<&'static str> {
                Stored::refusal(&self.0).or_else(|| pack_child(self.0, self.1.into()).is_none().then_some($refusal))
            }
        }
    )*};
}
children! {
    u16: "a settlement has at most 65535 of a kind";
    u32: "a settlement has at most 65535 events";
}

/// The feed of a client's events in one mode: one number.
impl Column for (ClientNo, Mode) {
    const KINDS: &'static [Kind] = &[Kind::Int8];

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.int(i64::from(self.0.0) << 2 | i64::from(self.1.code()))
    }

    fn read<C: Source>(source: &mut C) -> Read<Self> {
        let owner = <i64 as Column>::read(source)?;
        let client = u32::try_from(owner >> 2).ok().map(ClientNo);
        source.some(client.zip(Mode::from_code((owner & 3) as u8)), "a client and mode")
    }
}

/// A tile's position: one number, ordered by mode, then by level and then by index.
impl Column for (Mode, u8, i64) {
    const KINDS: &'static [Kind] = &[Kind::Int8];

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.int(pack_tile(self.0, self.1, self.2).unwrap_or(i64::MAX))
    }

    fn read<C: Source>(source: &mut C) -> Read<Self> {
        let k = <i64 as Column>::read(source)?;
        let mode = match k >> 62 {
            0 => Some(Mode::Sandbox),
            1 => Some(Mode::Live),
            _ => None,
        };
        let place = mode.map(|mode| (mode, (k >> 56 & 63) as u8, k & ((1 << 56) - 1)));
        source.some(place, "a mode, a level and an index")
    }

    fn refusal(&self) -> Option<&'static str> {
        pack_tile(self.0, self.1, self.2).is_none().then_some("a tile has a level below 64 and an index of 56 bits")
    }
}
