//! Which addresses are public.

use std::fmt;
use std::net::IpAddr;

use super::cidr::Cidr;

/// The purpose of an address, from the IANA registries of special-purpose addresses (RFC 6890).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressKind {
    /// Reachable from everywhere.
    Public,
    /// `0.0.0.0/8` and `::`: in practice this machine.
    Unspecified,
    /// This machine.
    Loopback,
    /// A private network: RFC 1918, unique local (RFC 4193) and its predecessor.
    Private,
    /// Shared between a provider and its customers (RFC 6598).
    Shared,
    /// This link, where cloud machines find their credentials.
    LinkLocal,
    /// A cloud's services for its own machines, at an address that looks public.
    Metadata,
    /// Multicast and broadcast.
    Multicast,
    /// For examples and benchmarks; never used in practice.
    Example,
    /// IPv6 with an embedded IPv4 address, which could be any: mapped, compatible, NAT64, 6to4, Teredo.
    Embedded,
    /// Reserved.
    Reserved,
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "shared (carrier-grade NAT)",
            Self::LinkLocal => "link-local",
            Self::Metadata => "cloud metadata",
            Self::Multicast => "multicast",
            Self::Example => "for documentation or benchmarks",
            Self::Embedded => "IPv6 with an IPv4 address inside",
            Self::Reserved => "reserved",
        })
    }
}

/// All IPv4 addresses are public except these.
const V4: &[(Cidr, AddressKind)] = &[
    (Cidr::v4([0, 0, 0, 0], 8), AddressKind::Unspecified),
    (Cidr::v4([10, 0, 0, 0], 8), AddressKind::Private),
    (Cidr::v4([100, 64, 0, 0], 10), AddressKind::Shared),
    (Cidr::v4([127, 0, 0, 0], 8), AddressKind::Loopback),
    (Cidr::v4([168, 63, 129, 16], 32), AddressKind::Metadata),
    (Cidr::v4([169, 254, 0, 0], 16), AddressKind::LinkLocal),
    (Cidr::v4([172, 16, 0, 0], 12), AddressKind::Private),
    (Cidr::v4([192, 0, 0, 0], 24), AddressKind::Reserved),
    (Cidr::v4([192, 0, 2, 0], 24), AddressKind::Example),
    (Cidr::v4([192, 88, 99, 0], 24), AddressKind::Reserved),
    (Cidr::v4([192, 168, 0, 0], 16), AddressKind::Private),
    (Cidr::v4([198, 18, 0, 0], 15), AddressKind::Example),
    (Cidr::v4([198, 51, 100, 0], 24), AddressKind::Example),
    (Cidr::v4([203, 0, 113, 0], 24), AddressKind::Example),
    (Cidr::v4([224, 0, 0, 0], 4), AddressKind::Multicast),
    (Cidr::v4([255, 255, 255, 255], 32), AddressKind::Multicast),
    (Cidr::v4([240, 0, 0, 0], 4), AddressKind::Reserved),
];

/// IPv6 addresses are public in `2000::/3`, except for the first five of these; the others only have a more precise name. The first
/// match counts.
const V6: &[(Cidr, AddressKind)] = &[
    (Cidr::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), AddressKind::Embedded), // Teredo
    (Cidr::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), AddressKind::Reserved), // protocols: ORCHID, benchmarks, …
    (Cidr::v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), AddressKind::Example),
    (Cidr::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), AddressKind::Embedded), // 6to4
    (Cidr::v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), AddressKind::Example),
    (Cidr::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3), AddressKind::Public),
    (Cidr::v6([0, 0, 0, 0, 0, 0, 0, 0], 128), AddressKind::Unspecified),
    (Cidr::v6([0, 0, 0, 0, 0, 0, 0, 1], 128), AddressKind::Loopback),
    (Cidr::v6([0, 0, 0, 0, 0, 0, 0, 0], 96), AddressKind::Embedded), // compatible
    (Cidr::v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), AddressKind::Embedded), // mapped
    (Cidr::v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), AddressKind::Embedded), // translated (RFC 2765)
    (Cidr::v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), AddressKind::Embedded), // NAT64
    (Cidr::v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), AddressKind::Embedded), // NAT64, local use
    (Cidr::v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), AddressKind::Private),
    (Cidr::v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), AddressKind::LinkLocal),
    (Cidr::v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), AddressKind::Private), // site-local
    (Cidr::v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), AddressKind::Multicast),
];

/// The purpose of an address.
pub(super) fn kind(address: IpAddr) -> AddressKind {
    // A connection to a mapped address uses IPv4.
    match (listed(address), listed(address.to_canonical())) {
        (AddressKind::Embedded, inside) if inside != AddressKind::Public => inside,
        (itself, _) => itself,
    }
}

fn listed(address: IpAddr) -> AddressKind {
    let (table, otherwise) = if address.is_ipv4() { (V4, AddressKind::Public) } else { (V6, AddressKind::Reserved) };
    table.iter().find(|(range, _)| range.contains(address)).map_or(otherwise, |(_, kind)| *kind)
}
