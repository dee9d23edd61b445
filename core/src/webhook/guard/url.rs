//! A strict URL parser: only the part of RFC 3986 that a webhook's address needs.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::GuardError;

/// The maximum length of a webhook's URL, in bytes.
pub const URL_MAX_BYTES: usize = 2048;

/// Limits from RFC 1035.
const NAME_MAX_BYTES: usize = 253;
const LABEL_MAX_BYTES: usize = 63;

/// Names without a meaning outside a network (RFC 6761, RFC 6762, RFC 8375, and those that ICANN reserves for private use), as the
/// whole name or its end.
const LOCAL_NAMES: &[&str] = &["localhost", "local", "internal", "home.arpa", "localdomain", "lan", "intranet", "corp", "home"];

/// The parts of a URL that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Destination {
    /// Whether the scheme is https (otherwise http).
    pub https: bool,
    /// The host.
    pub host: Host,
    /// The port; the scheme's default if the URL has none.
    pub port: u16,
    /// Path and query, starting with a slash.
    pub path_and_query: String,
}

/// A host in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A domain name in lower case, without a trailing dot.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl Host {
    /// Whether it can only be this machine: a loopback address, `localhost`, or a name below it.
    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => is_localhost(name),
            Self::Address(address) => address.is_loopback(),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl Destination {
    /// The value of the `Host` header: with the port, unless it is the scheme's default.
    pub fn authority(&self) -> String {
        if self.port == default_port(self.https) { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }
}

/// The URL in canonical form, which parses to the same URL.
impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.https { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.path_and_query)
    }
}

fn default_port(https: bool) -> u16 {
    if https { 443 } else { 80 }
}

/// Parses a URL. Does not decide whether it may be called.
pub(super) fn parse(url: &str) -> Result<Destination, GuardError> {
    if url.len() > URL_MAX_BYTES {
        return Err(GuardError::TooLong);
    }
    let (scheme, rest) = url.split_once("://").ok_or(GuardError::Scheme)?;
    let https = match () {
        () if scheme.eq_ignore_ascii_case("https") => true,
        () if scheme.eq_ignore_ascii_case("http") => false,
        () => return Err(GuardError::Scheme),
    };
    if rest.contains('#') {
        return Err(GuardError::Fragment);
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err(GuardError::UserInfo);
    }
    let (host, port) = split_port(authority)?;
    let port = port.map_or(Ok(default_port(https)), parse_port)?;
    let host = parse_host(host)?;
    if !is_encoded(path) {
        return Err(GuardError::Character);
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok(Destination { https, host, port, path_and_query: format!("{slash}{path}") })
}

/// Splits host and port; the colons of an IPv6 address do not separate a port.
fn split_port(authority: &str) -> Result<(&str, Option<&str>), GuardError> {
    let end = if authority.starts_with('[') { authority.find(']').ok_or(GuardError::Host)? + 1 } else { 0 };
    let (_, behind) = authority.split_at(end);
    match behind.split_once(':') {
        None if end == 0 || behind.is_empty() => Ok((authority, None)),
        Some((host, port)) if end == 0 || host.is_empty() => Ok((&authority[..end + host.len()], Some(port))),
        None | Some(_) => Err(GuardError::Host),
    }
}

fn parse_port(text: &str) -> Result<u16, GuardError> {
    let digits = (1..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let port = Some(text).filter(|_| digits).and_then(|text| text.parse().ok());
    port.filter(|port| *port != 0).ok_or(GuardError::Port)
}

fn parse_host(text: &str) -> Result<Host, GuardError> {
    if let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        // Zones (`%25eth0`) are refused.
        return inside.parse::<Ipv6Addr>().map(|address| Host::Address(address.into())).map_err(|_| GuardError::Host);
    }
    let name = text.to_ascii_lowercase();
    if name.len() > NAME_MAX_BYTES || !name.split('.').all(is_label) {
        return Err(GuardError::Host);
    }
    // No top-level domain starts with a digit. A name that ends so is meant as an address: `127.1`, `0x7f000001`, `2130706433`.
    if name.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_digit())) {
        // The standard library's parser is strict: four decimal numbers without leading zeros.
        return name.parse::<Ipv4Addr>().map(|address| Host::Address(address.into())).map_err(|_| GuardError::AddressForm);
    }
    Ok(Host::Name(name))
}

/// Letters, digits, hyphens, and underscores, which occur in practice.
fn is_label(label: &str) -> bool {
    let edge = |c: char| c == '-';
    (1..=LABEL_MAX_BYTES).contains(&label.len())
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && !label.starts_with(edge)
        && !label.ends_with(edge)
}

/// Whether path and query contain only characters that RFC 3986 allows there; all others must be percent-encoded.
fn is_encoded(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)),
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => true,
        other => b"-._~!$&'()*+,;=:@/?".contains(other),
    })
}

/// `localhost` or a name below it (RFC 6761).
pub(super) fn is_localhost(name: &str) -> bool {
    is_below(name, "localhost")
}

/// A name that only has a meaning inside a network.
pub(super) fn is_local_name(name: &str) -> bool {
    !name.contains('.') || LOCAL_NAMES.iter().any(|local| is_below(name, local))
}

fn is_below(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
