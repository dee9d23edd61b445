//! Ranges of addresses.
//!
//! `ipnet` would save fifteen lines here, but not the errors that say what to write instead, and web pages would have to load it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A range of IP addresses, such as `10.0.0.0/8` or `fd00::/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cidr {
    base: IpAddr,
    bits: u8,
}

/// Why a text is not a range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CidrError {
    /// The part before the slash is not an address.
    #[error("is not an address and a number of bits, such as 10.0.0.0/8")]
    Address,
    /// The part after the slash is not a valid number of bits.
    #[error("has no number of bits after the slash: up to 32 for IPv4, up to 128 for IPv6")]
    Bits,
    /// The address has bits set after the prefix: the meaning is unclear.
    #[error("has an address inside the range: write its first address, {0}")]
    NotFirst(Cidr),
}

impl Cidr {
    /// Parses `address/bits`, or an address alone as a range of one.
    ///
    /// # Errors
    /// [`CidrError`].
    pub fn parse(text: &str) -> Result<Self, CidrError> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let base: IpAddr = address.parse().map_err(|_| CidrError::Address)?;
        let most = width(base);
        let bits = match bits {
            None => most,
            Some(bits) if bits.bytes().all(|b| b.is_ascii_digit()) => bits.parse().map_err(|_| CidrError::Bits)?,
            Some(_) => return Err(CidrError::Bits),
        };
        if bits > most {
            return Err(CidrError::Bits);
        }
        let range = Self { base: first(base, bits), bits };
        if range.base == base { Ok(range) } else { Err(CidrError::NotFirst(range)) }
    }

    pub(super) const fn v4(base: [u8; 4], bits: u8) -> Self {
        Self { base: IpAddr::V4(Ipv4Addr::from_octets(base)), bits }
    }

    pub(super) const fn v6(base: [u16; 8], bits: u8) -> Self {
        Self { base: IpAddr::V6(Ipv6Addr::from_segments(base)), bits }
    }

    /// Whether it contains an address. IPv4 and IPv6 never match each other here, not even if mapped.
    pub fn contains(&self, address: IpAddr) -> bool {
        first(address, self.bits) == self.base
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The address with all but its first bits cleared.
fn first(address: IpAddr, bits: u8) -> IpAddr {
    let cleared = u32::from(width(address).saturating_sub(bits));
    match address {
        IpAddr::V4(address) => Ipv4Addr::from_bits(address.to_bits() & u32::MAX.checked_shl(cleared).unwrap_or(0)).into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & u128::MAX.checked_shl(cleared).unwrap_or(0)).into(),
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        Self::parse(text)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}
