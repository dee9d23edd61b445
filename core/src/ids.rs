//! Identifiers: dense numbers inside the store, ULIDs with a prefix outside.
//!
//! ```
//! use railgate::ids::{IdKey, SettlementNo, Ulid};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (secret, random) = ([7; 16], 0x12_3456_789a);
//! let key = IdKey(secret);
//! let id = key.seal(SettlementNo(42), 1_795_257_497_042, random);
//! let public = format!("stl_{id}");
//!
//! // Only the store's key leads from the id back to the number.
//! let id = public.strip_prefix("stl_").and_then(Ulid::parse).ok_or("not an id")?;
//! assert_eq!(key.open(id), SettlementNo(42));
//! assert_ne!(IdKey([8; 16]).open(id), SettlementNo(42));
//! assert_eq!(id.at_ms(), 1_795_257_497_042);
//! # Ok(())
//! # }
//! ```
//!
//! Inside, a settlement has a [`SettlementNo`], by which the store's rows are clustered, so inserts append. Outside, its id is
//! `stl_` and a ULID. The ULID contains the number, masked under the store's [`IdKey`], and 40 random bits. So a lookup by id needs
//! no separate index, and the id reveals neither the number nor the volume of business.

use arrayvec::ArrayString;
use sha2::{Digest, Sha256};
use std::fmt::{self, Write as _};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);
    };
}

number! {
    /// A settlement's number inside one store, from 1, ascending. Its child records are clustered under it.
    SettlementNo(i64)
}
number! {
    /// A client's number inside one store, from 1. Numbers from [`ClientNo::OPERATORS`] on are those of operators, and from
    /// [`ClientNo::USERS`] on those of clients' end users. Both sign calls like clients but have no client's record: whatever looks for
    /// one finds none.
    ClientNo(u32)
}

number! {
    /// An operator's number inside one store, from 1. 0 means nobody: the command line, which works on the store itself.
    OperatorNo(u32)
}

number! {
    /// The number of a client's end user inside one store, from 1; never reused.
    UserNo(u32)
}

impl ClientNo {
    /// Above every client's number.
    pub const OPERATORS: u32 = 1 << 30;
    /// Above every operator's number.
    pub const USERS: u32 = 1 << 31;

    /// The operator that signs under this number; `None` for a client.
    pub const fn operator(self) -> Option<OperatorNo> {
        match self.0.checked_sub(Self::OPERATORS) {
            Some(no) if no > 0 && self.0 < Self::USERS => Some(OperatorNo(no)),
            Some(_) | None => None,
        }
    }

    /// The end user that signs under this number; `None` for a client or an operator.
    pub const fn user(self) -> Option<UserNo> {
        match self.0.checked_sub(Self::USERS) {
            Some(no) if no > 0 => Some(UserNo(no)),
            Some(_) | None => None,
        }
    }
}

impl UserNo {
    /// The number under which the user's devices sign calls, and under which the user's payments are counted.
    pub const fn party(self) -> ClientNo {
        ClientNo(ClientNo::USERS + self.0)
    }
}

impl OperatorNo {
    /// The number under which the operator signs calls.
    pub const fn party(self) -> ClientNo {
        ClientNo(ClientNo::OPERATORS + self.0)
    }
}

number! {
    /// A provider's number inside one store, from 1; never reused.
    ProviderNo(u16)
}

number! {
    /// A webhook endpoint's number inside one store, from 1; never reused.
    EndpointNo(u32)
}

number! {
    /// A key's number inside one store, from 1; never reused. 0 means no key.
    KeyNo(u32)
}

const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Crockford's base 32, in which codes are written that people type.
pub(crate) struct Crockford;

impl Crockford {
    /// The symbol of the five lowest bits.
    pub(crate) fn symbol(bits: u8) -> char {
        CROCKFORD[usize::from(bits & 31)].into()
    }

    /// The symbol that somebody meant who typed this character: of either case, and with letters for the digits that look like them.
    pub(crate) fn typed(c: char) -> Option<char> {
        let meant = match c.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            other => other,
        };
        CROCKFORD.iter().map(|symbol| char::from(*symbol)).find(|symbol| *symbol == meant)
    }
}

/// A ULID: 48 bits of milliseconds and 80 bits that make it unique; 26 characters in Crockford's base 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(pub u128);

impl Ulid {
    /// Combines the two parts. The upper 16 bits of the time and the upper 48 of `tail` are dropped.
    pub fn new(at_ms: i64, tail: u128) -> Self {
        Self(((at_ms as u128 & 0xffff_ffff_ffff) << 80) | (tail & ((1 << 80) - 1)))
    }

    /// The time part, milliseconds since the Unix epoch.
    pub fn at_ms(self) -> i64 {
        (self.0 >> 80) as i64
    }

    /// Parses 26 characters of Crockford's base 32, upper or lower case. Rejects other alphabets and overflow.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 26 {
            return None;
        }
        let mut value: u128 = 0;
        for (i, byte) in text.bytes().enumerate() {
            let digit = CROCKFORD.iter().position(|c| *c == byte.to_ascii_uppercase())? as u128;
            if i == 0 && digit > 7 {
                return None;
            }
            value = (value << 5) | digit;
        }
        Some(Self(value))
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0u8; 26];
        for (i, out) in text.iter_mut().enumerate() {
            *out = CROCKFORD[(self.0 >> (125 - 5 * i)) as usize & 31];
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

/// A text with enough room for a public id or a time, and without memory of its own.
pub type Short = ArrayString<32>;

/// A public id: what it is of, such as `stl_`, and the ULID.
pub(crate) fn named(prefix: &str, id: Ulid) -> Short {
    let mut text = Short::new();
    let _ = write!(text, "{prefix}{id}");
    text
}

/// A store's secret for masking settlement numbers in public ids. Made once and kept with the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IdKey(pub [u8; 16]);

impl fmt::Debug for IdKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdKey(..)")
    }
}

const MASK_40: u64 = (1 << 40) - 1;

impl IdKey {
    /// The public ULID of settlement `no`, created at `at_ms`, with 40 random bits as `salt`.
    pub fn seal(&self, no: SettlementNo, at_ms: i64, salt: u64) -> Ulid {
        let masked = (no.0 as u64 ^ self.mask(at_ms, salt)) & MASK_40;
        Ulid::new(at_ms, (u128::from(masked) << 40) | u128::from(salt & MASK_40))
    }

    /// The number inside a public ULID. Any ULID opens to *some* number, so the caller must check the id of the record it finds.
    pub fn open(&self, id: Ulid) -> SettlementNo {
        let salt = id.0 as u64 & MASK_40;
        let masked = (id.0 >> 40) as u64 & MASK_40;
        SettlementNo(((masked ^ self.mask(id.at_ms(), salt)) & MASK_40) as i64)
    }

    /// The ULID of a child (a reversal, an event). It is derived, so the same child always has the same id.
    pub fn child(&self, kind: &str, parent: SettlementNo, n: u32, at_ms: i64) -> Ulid {
        let digest = Sha256::new()
            .chain_update(self.0)
            .chain_update(kind)
            .chain_update(parent.0.to_be_bytes())
            .chain_update(n.to_be_bytes())
            .finalize();
        let mut tail = [0u8; 16];
        tail.copy_from_slice(&digest[..16]);
        Ulid::new(at_ms, u128::from_be_bytes(tail))
    }

    fn mask(&self, at_ms: i64, salt: u64) -> u64 {
        let digest =
            Sha256::new().chain_update(self.0).chain_update(at_ms.to_be_bytes()).chain_update((salt & MASK_40).to_be_bytes()).finalize();
        let mut first = [0u8; 8];
        first.copy_from_slice(&digest[..8]);
        u64::from_be_bytes(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulid_text_round_trips_and_rejects_what_is_not_one() {
        // The example from the ULID specification.
        let id = Ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap();
        assert_eq!(id.at_ms(), 1_469_922_850_259);
        assert_eq!(id.to_string(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
        for bad in ["", "01ARZ3NDEKTSV4RRFFQ69G5FA", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "é1ARZ3NDEKTSV4RRFFQ69G5F"]
        {
            assert_eq!(Ulid::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_sealed_number_opens_only_under_its_key() {
        let (key, other) = (IdKey([7; 16]), IdKey([8; 16]));
        for no in [1, 2, 1_000_000, (1i64 << 40) - 1] {
            let id = key.seal(SettlementNo(no), 1_795_257_497_042, 0x12_3456_789a);
            assert_eq!(key.open(id), SettlementNo(no));
            assert_ne!(other.open(id), SettlementNo(no));
            assert_eq!(id.at_ms(), 1_795_257_497_042);
        }
    }
}
