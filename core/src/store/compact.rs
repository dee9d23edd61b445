//! Numbers, texts and bytes in sequence: the encoding of the journal and of rows that contain lists.
//!
//! This is our own code instead of `postcard` because it is short, rejects false lengths and trailing bytes, and keeps the stored
//! bytes unchanged forever.
//!
//! Numbers are LEB128, signed ones after zigzag; a text is its length and its UTF-8; an optional value has a flag byte before it.

/// A number: seven bits per byte, the lowest first, the highest bit set in all but the last.
pub(crate) fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Zigzag, so that small negative numbers stay small.
pub(crate) fn signed(out: &mut Vec<u8>, value: i64) {
    number(out, (value << 1 ^ value >> 63) as u64);
}

/// A text, after its length.
pub(crate) fn text(out: &mut Vec<u8>, value: &str) {
    blob(out, value.as_bytes());
}

/// Bytes, after their number.
pub(crate) fn blob(out: &mut Vec<u8>, value: &[u8]) {
    number(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// An optional value.
pub(crate) fn optional<T>(out: &mut Vec<u8>, value: Option<&T>, write: impl FnOnce(&mut Vec<u8>, &T)) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        write(out, value);
    }
}

/// The input not read yet. Every method returns `None` if the next bytes cannot have been written by its counterpart, and a false
/// length never allocates memory.
pub(crate) struct Rest<'a>(pub(crate) &'a [u8]);

impl<'a> Rest<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(crate) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    /// The number of items that follow, each of at least one byte.
    pub(crate) fn count(&mut self) -> Option<usize> {
        self.small().filter(|count| *count <= self.0.len())
    }

    /// Bytes, after their number.
    pub(crate) fn blob(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        self.bytes(length)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.blob()?.to_vec()).ok()
    }

    pub(crate) fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Some(None) }
    }
}
