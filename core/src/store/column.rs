//! How a value lies in a column: one implementation a type, for every store.
//!
//! Each store says how a cell gets into a row ([`Sink`]) and out of it again ([`Source`]). What a cell is follows from the
//! type of the field, and which columns there are from [`tables`](super::tables).

use super::StoreError;
use super::changes::{decode_changes, encode_changes};
use super::record::*;
use super::shared::{pack_child, pack_tile};
use crate::auth::{Algorithm, KeyId, PublicKey, ScopeSet};
use crate::ids::{ClientNo, EndpointNo, KeyNo, ProviderNo, SettlementNo, Ulid};
use crate::ledger::{AccountId, Mode, Totals};
use crate::lifecycle::Coded;
use crate::money::Currency;
use crate::participant::{Participant, Reference};

/// What a column holds: its type where a database has types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flag,
    Int2,
    Int4,
    Int8,
    Text,
    Bytes,
}

/// Takes the cells of a row, one column after another.
pub(crate) trait Sink {
    /// Why a cell could not be taken.
    type Error;

    /// Takes NULL.
    fn null(&mut self) -> Bound<Self>;
    /// Takes an integer, of whatever width its column has.
    fn int(&mut self, value: i64) -> Bound<Self>;
    /// Takes a text.
    fn text(&mut self, value: &str) -> Bound<Self>;
    /// Takes bytes.
    fn bytes(&mut self, value: &[u8]) -> Bound<Self>;
    /// A value that is none.
    fn failed(error: serde_json::Error) -> Self::Error;
}

/// Whether a [`Sink`] took a cell.
pub(crate) type Bound<S> = Result<(), <S as Sink>::Error>;

/// What reading gives.
pub(crate) type Read<T> = Result<T, StoreError>;

/// Gives the cells of a row, one column after another. Nothing that it gives is trusted.
pub(crate) trait Source {
    /// The next column's integer, of whatever width.
    fn integer(&mut self) -> Read<Option<i64>>;
    /// The next column's text.
    fn text(&mut self) -> Read<Option<String>>;
    /// The next column's bytes.
    fn bytes(&mut self) -> Read<Option<&[u8]>>;
    /// The name of the column that was read last.
    fn column(&self) -> String;

    /// The column that was read last is not as it should be.
    #[cold]
    fn bad<T>(&self, what: &str) -> Read<T> {
        Err(StoreError::corrupt("reading a row", format!("column {} does not hold {what}", self.column())))
    }

    /// What must be there.
    fn some<T>(&self, found: Option<T>, what: &str) -> Read<T> {
        found.map_or_else(|| self.bad(what), Ok)
    }
}

/// What a field's value, or the values of a few fields together, are in one column or several.
pub(crate) trait Column: Sized {
    /// What each of the columns holds.
    const KINDS: &'static [Kind];
    /// Whether they may be NULL.
    const NULLABLE: bool = false;

    /// Gives itself to a sink.
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S>;
    /// Reads the next columns.
    fn read<C: Source>(source: &mut C) -> Read<Self>;
    /// Why no column can hold this value.
    fn refusal(&self) -> Option<&'static str> {
        None
    }
}

/// A value of one column, which may be absent where its field is optional.
pub(crate) trait Stored: Sized {
    /// What the column holds.
    const KIND: Kind;

    /// Gives itself to a sink.
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S>;
    /// Reads the next column; `None` for NULL.
    fn read<C: Source>(source: &mut C) -> Read<Option<Self>>;
    /// Why the column cannot hold this value.
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

/// A number in the range of its type.
#[inline]
fn ranged<T: TryFrom<i64>, C: Source + ?Sized>(source: &mut C) -> Read<Option<T>> {
    match source.integer()? {
        None => Ok(None),
        Some(n) => T::try_from(n).map(Some).or_else(|_| source.bad("a number in range")),
    }
}

/// What a number or a text stands for.
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

/// Types around another one, whose column it has.
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
    KeyNo(u32) = |it| it.0, Self;
    ProviderNo(u16) = |it| it.0, Self;
    AccountId(i64) = |it| it.0, Self;
    TaskKey(i64) = |it| it.0, Self;
    KeyId([u8; 32]) = |it| it.0, Self;
    // The same 64 bits.
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

/// What is stored as a small number.
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

/// Texts, by what they show and how they are read.
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
                meant(source, text, "what was written", $read)
            }
        }
    )*};
}
texts! {
    String = as_str, Some;
    Reference = as_str, |text| Some(Self::from_stored(text));
    Participant = as_str, Self::from_stored;
}

/// What is kept as JSON, in a column of text.
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
                    Some(text) => serde_json::from_str(&text).map(Some).or_else(|e| source.bad(&format!("what was written: {e}"))),
                }
            }
        }
    )*};
}
json!(Box<SettlementMore> Failure LastTry);

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
            Some(Err(_)) => source.bad("as many bytes as it should"),
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

/// Two columns: how it signs, and its bytes.
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

/// Four columns.
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

/// A child's key: one number, ordered by settlement and then by its own number. What does not fit lies at the end where it would.
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

/// The feed that a client's events of a mode belong to: one number.
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

/// A tile's place: one number, by level and then by index.
impl Column for (u8, i64) {
    const KINDS: &'static [Kind] = &[Kind::Int8];

    #[inline]
    fn put<S: Sink + ?Sized>(&self, sink: &mut S) -> Bound<S> {
        sink.int(pack_tile(self.0, self.1).unwrap_or(i64::MAX))
    }

    fn read<C: Source>(source: &mut C) -> Read<Self> {
        let k = <i64 as Column>::read(source)?;
        Ok(((k >> 56) as u8, k & ((1 << 56) - 1)))
    }

    fn refusal(&self) -> Option<&'static str> {
        pack_tile(self.0, self.1).is_none().then_some("a tile has a level below 64 and an index of 56 bits")
    }
}
