//! A row's values, one after another, on their way into a database and out of it.

use crate::ids::SettlementNo;
use crate::store::StoreError;

/// Takes the values of a row, one column after another.
pub(crate) trait Sink {
    /// Why a value could not be taken.
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

    /// The next column.
    #[inline]
    fn put(&mut self, value: impl Cell) -> Bound<Self> {
        value.bind(self)
    }

    /// The key of a child.
    #[inline]
    fn child(&mut self, no: SettlementNo, n: u32) -> Bound<Self> {
        // `shared::check` refused what does not fit.
        self.int(no.0 << 16 | i64::from(n))
    }

    /// JSON, as text.
    fn json<T: serde::Serialize>(&mut self, value: Option<&T>) -> Bound<Self> {
        match value {
            None => self.null(),
            Some(value) => self.text(&serde_json::to_string(value).map_err(Self::failed)?),
        }
    }
}

/// Whether a [`Sink`] took a value.
pub(crate) type Bound<S> = Result<(), <S as Sink>::Error>;

/// What can stand in a column.
pub(crate) trait Cell {
    /// Gives itself to a sink.
    fn bind<S: Sink + ?Sized>(self, sink: &mut S) -> Bound<S>;
}

macro_rules! integer_cells {
    ($($type:ty)*) => {$(
        impl Cell for $type {
            #[inline]
            fn bind<S: Sink + ?Sized>(self, sink: &mut S) -> Bound<S> {
                sink.int(self.into())
            }
        }
    )*};
}
integer_cells!(i64 u32 u16 u8 bool);

impl Cell for &str {
    #[inline]
    fn bind<S: Sink + ?Sized>(self, sink: &mut S) -> Bound<S> {
        sink.text(self)
    }
}

impl Cell for &[u8] {
    #[inline]
    fn bind<S: Sink + ?Sized>(self, sink: &mut S) -> Bound<S> {
        sink.bytes(self)
    }
}

impl<T: Cell> Cell for Option<T> {
    #[inline]
    fn bind<S: Sink + ?Sized>(self, sink: &mut S) -> Bound<S> {
        match self {
            None => sink.null(),
            Some(value) => value.bind(sink),
        }
    }
}

/// What reading gives.
pub(crate) type Read<T> = Result<T, StoreError>;

/// Gives the values of a row, one column after another, and trusts none of them.
pub(crate) trait Source {
    /// The next column's integer, of whatever width.
    fn integer(&mut self) -> Read<Option<i64>>;
    /// The next column's text.
    fn optional_text(&mut self) -> Read<Option<String>>;
    /// The next column's bytes.
    fn bytes(&mut self) -> Read<&[u8]>;
    /// The name of the column that was read last.
    fn column(&self) -> String;

    /// The column that was read last is not as it should be.
    fn bad<T>(&self, what: &str) -> Read<T> {
        Err(StoreError::corrupt("reading a row", format!("column {} does not hold {what}", self.column())))
    }

    /// A number in the range of its type.
    fn optional<T: TryFrom<i64>>(&mut self) -> Read<Option<T>> {
        match self.integer()? {
            None => Ok(None),
            Some(n) => T::try_from(n).map(Some).or_else(|_| self.bad("a number in range")),
        }
    }

    /// A number that must be there.
    fn int<T: TryFrom<i64>>(&mut self) -> Read<T> {
        self.optional()?.map_or_else(|| self.bad("a number"), Ok)
    }

    /// Yes or no.
    fn flag(&mut self) -> Read<bool> {
        Ok(self.int::<i64>()? != 0)
    }

    /// A value stored as its number.
    fn code<T>(&mut self, from: impl FnOnce(u8) -> Option<T>) -> Read<T> {
        from(self.int()?).map_or_else(|| self.bad("a known code"), Ok)
    }

    /// The same, or none.
    fn optional_code<T>(&mut self, from: impl FnOnce(u8) -> Option<T>) -> Read<Option<T>> {
        match self.optional()? {
            None => Ok(None),
            Some(code) => from(code).map_or_else(|| self.bad("a known code"), |value| Ok(Some(value))),
        }
    }

    /// The key of a child.
    fn child(&mut self) -> Read<(SettlementNo, u16)> {
        let k: i64 = self.int()?;
        Ok((SettlementNo(k >> 16), k as u16))
    }

    /// A text that must be there.
    fn text(&mut self) -> Read<String> {
        self.optional_text()?.map_or_else(|| self.bad("a text"), Ok)
    }

    /// So many bytes.
    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let array = self.bytes()?.try_into().ok();
        array.map_or_else(|| self.bad("as many bytes as it should"), Ok)
    }

    /// What was written as JSON.
    fn json<T: serde::de::DeserializeOwned>(&mut self) -> Read<Option<T>> {
        match self.optional_text()? {
            None => Ok(None),
            Some(text) => serde_json::from_str(&text).map(Some).or_else(|e| self.bad(&format!("what was written: {e}"))),
        }
    }
}
