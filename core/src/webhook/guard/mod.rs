//! Where a webhook may be sent: not into the gateway's own network.
//!
//! Whoever enters a URL makes the gateway call it, from a place that can reach more than the outside can. So a URL
//! is checked twice: its text when it is entered ([`Guard::check_url`]), and each address that its host resolves to when
//! a connection is made ([`Guard::check_peer`]), because a name may point elsewhere a moment later. A host must connect to
//! an address that was checked, and must not resolve the name again.
//!
//! A URL is read strictly, not repaired as browsers do. In a host, addresses in any but their canonical form (`0x7f.1`,
//! `2130706433`, `127.1`), percent-encoding, non-ASCII letters and the like are refused, so that no other reader can
//! understand the URL differently.

mod address;
mod cidr;
#[cfg(test)]
mod tests;
mod url;

use std::net::IpAddr;

pub use address::AddressKind;
pub use cidr::{Cidr, CidrError};
pub use url::{Destination, Host, URL_MAX_BYTES};

/// What is allowed. By default: https to public addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    /// Allows `http://` and `https://` to this machine's loopback addresses: for a sandbox that is being developed
    /// against, and only where the gateway itself listens on loopback.
    pub insecure_loopback: bool,
    /// Addresses that are allowed although they are not public, by configuration. Where there are any, names are not refused
    /// for what they are called: the addresses decide.
    pub allow: Vec<Cidr>,
}

/// Why a webhook may not be sent there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// It is longer than [`URL_MAX_BYTES`].
    #[error("the URL is longer than {URL_MAX_BYTES} characters")]
    TooLong,
    /// A blank, a control character, a letter outside of ASCII, or one that has no place in a URL.
    #[error("the URL has a character that must be percent-encoded, or stands where it must not")]
    Character,
    /// It has no scheme, or another one.
    #[error("the URL must begin with https://")]
    Scheme,
    /// There is an `@` before the path: a user name, or an attempt to hide the real host.
    #[error("the URL must have no user name or password in it")]
    UserInfo,
    /// There is a `#`.
    #[error("the URL must have no fragment in it")]
    Fragment,
    /// The port is no number from 1 to 65535.
    #[error("the URL's port must be a number from 1 to 65535")]
    Port,
    /// The host is neither a name in ASCII nor an address.
    #[error("the URL's host must be a domain name (an international one in its xn-- form), or an address")]
    Host,
    /// The host ends in a number, but is no address in dotted decimal: it is read in as many ways as there are readers.
    #[error("an address in the URL must be written as four decimal numbers with dots, or as IPv6 in brackets")]
    AddressForm,
    /// The name is one of those that only mean something inside a network: `localhost`, `.local`, `.internal`, a name
    /// without a dot.
    #[error("the URL's host must be a public name")]
    LocalName,
    /// The address is not a public one.
    #[error("the address is not allowed: {0}")]
    Address(AddressKind),
}

impl Guard {
    /// Checks a URL's text, and takes it apart. An address in it is checked as well; a name is not resolved.
    ///
    /// # Errors
    /// [`GuardError`].
    pub fn check_url(&self, url: &str) -> Result<Destination, GuardError> {
        let destination = url::parse(url)?;
        let stays_here = self.insecure_loopback && destination.host.is_loopback();
        if !destination.https && !stays_here {
            return Err(GuardError::Scheme);
        }
        match &destination.host {
            Host::Address(address) => self.check_addr(*address)?,
            Host::Name(name) => self.check_name(name)?,
        }
        Ok(destination)
    }

    /// Checks an address. Those in `allow` are allowed, and IPv4 addresses in it also where they are mapped into IPv6.
    ///
    /// # Errors
    /// [`GuardError::Address`].
    pub fn check_addr(&self, address: IpAddr) -> Result<(), GuardError> {
        let real = address.to_canonical();
        if self.allow.iter().any(|allowed| allowed.contains(address) || allowed.contains(real)) {
            return Ok(());
        }
        match address::kind(address) {
            AddressKind::Public => Ok(()),
            AddressKind::Loopback if self.insecure_loopback => Ok(()),
            kind => Err(GuardError::Address(kind)),
        }
    }

    /// Checks an address that a destination's host resolved to: as [`Guard::check_addr`], and that what is not encrypted does
    /// not leave this machine.
    ///
    /// # Errors
    /// [`GuardError::Address`]; [`GuardError::Scheme`] for `http` to another machine.
    pub fn check_peer(&self, destination: &Destination, address: IpAddr) -> Result<(), GuardError> {
        self.check_addr(address)?;
        let stays_here = self.insecure_loopback && address.to_canonical().is_loopback();
        (destination.https || stays_here).then_some(()).ok_or(GuardError::Scheme)
    }

    fn check_name(&self, name: &str) -> Result<(), GuardError> {
        if !self.allow.is_empty() || (self.insecure_loopback && url::is_localhost(name)) {
            return Ok(());
        }
        (!url::is_local_name(name)).then_some(()).ok_or(GuardError::LocalName)
    }
}
