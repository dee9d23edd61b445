//! Where a webhook may be sent: not into the gateway's own network.
//!
//! A client that enters a URL makes the gateway call it, from a place that can reach more than outsiders can. A URL is therefore
//! checked twice: its text when it is entered ([`Guard::check_url`]), and each address that its host resolves to when a connection
//! is made ([`Guard::check_peer`]), because the name may point elsewhere a moment later. The host program must connect to an
//! address that was checked, and must not resolve the name again.
//!
//! A URL is parsed strictly, not repaired as browsers do. In a host name, addresses in any but their canonical form (`0x7f.1`,
//! `2130706433`, `127.1`), percent-encoding, non-ASCII letters and the like are refused, so that no other parser can interpret the
//! URL differently.

mod address;
mod cidr;
#[cfg(test)]
mod tests;
mod url;

use std::net::IpAddr;

pub use address::AddressKind;
pub use cidr::{Cidr, CidrError};
pub use url::{Destination, Host, URL_MAX_BYTES};

/// The destinations that are allowed. By default: https to public addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    /// Also allows `http://` and `https://` to this machine's loopback addresses: for development with a sandbox, and only if the
    /// gateway itself listens on loopback.
    pub insecure_loopback: bool,
    /// Addresses that the configuration allows although they are not public. If there are any, local names are not refused: only
    /// the addresses decide.
    pub allow: Vec<Cidr>,
}

/// Why a webhook must not be sent to a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// It is longer than [`URL_MAX_BYTES`].
    #[error("the URL is longer than {URL_MAX_BYTES} characters")]
    TooLong,
    /// It contains a blank, a control character, a non-ASCII letter, or a character that is not allowed in a URL.
    #[error("the URL has a character that must be percent-encoded, or that is not allowed in its position")]
    Character,
    /// It has no scheme, or an unsupported one.
    #[error("the URL must start with https://")]
    Scheme,
    /// There is an `@` before the path: a user name, or an attempt to hide the real host.
    #[error("the URL must not contain a user name or password")]
    UserInfo,
    /// There is a `#`.
    #[error("the URL must not contain a fragment")]
    Fragment,
    /// The port is not a number from 1 to 65535.
    #[error("the URL's port must be a number from 1 to 65535")]
    Port,
    /// The host is neither an ASCII name nor an address.
    #[error("the URL's host must be a domain name (an international one in its xn-- form), or an address")]
    Host,
    /// The host ends in a number but is not an address in dotted decimal: parsers disagree about its meaning.
    #[error("an address in the URL must be written as four decimal numbers with dots, or as IPv6 in brackets")]
    AddressForm,
    /// The name only has a meaning inside a network: `localhost`, `.local`, `.internal`, a name without a dot.
    #[error("the URL's host must be a public name")]
    LocalName,
    /// The address is not a public one.
    #[error("the address is not allowed: {0}")]
    Address(AddressKind),
}

impl Guard {
    /// Checks a URL's text and parses it. An address in it is checked as well; a name is not resolved.
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

    /// Checks an address. Those in `allow` are allowed; IPv4 addresses in `allow` are also allowed when mapped into IPv6.
    ///
    /// # Errors
    /// [`GuardError::Address`].
    pub fn check_addr(&self, address: IpAddr) -> Result<(), GuardError> {
        self.check_with(address, self.insecure_loopback)
    }

    fn check_with(&self, address: IpAddr, loopback: bool) -> Result<(), GuardError> {
        let real = address.to_canonical();
        if self.allow.iter().any(|allowed| allowed.contains(address) || allowed.contains(real)) {
            return Ok(());
        }
        match address::kind(address) {
            AddressKind::Public => Ok(()),
            AddressKind::Loopback if loopback => Ok(()),
            kind => Err(GuardError::Address(kind)),
        }
    }

    /// Checks an address that a destination's host resolved to: like [`Guard::check_addr`], and additionally that unencrypted
    /// traffic does not leave this machine, and that no name leads to it but those that say so. Whoever owns a public name may point
    /// it to a loopback address.
    ///
    /// # Errors
    /// [`GuardError::Address`]; [`GuardError::Scheme`] for `http` to another machine.
    pub fn check_peer(&self, destination: &Destination, address: IpAddr) -> Result<(), GuardError> {
        let means_here = self.insecure_loopback && destination.host.is_loopback();
        self.check_with(address, means_here)?;
        let stays_here = means_here && address.to_canonical().is_loopback();
        (destination.https || stays_here).then_some(()).ok_or(GuardError::Scheme)
    }

    fn check_name(&self, name: &str) -> Result<(), GuardError> {
        if !self.allow.is_empty() || (self.insecure_loopback && url::is_localhost(name)) {
            return Ok(());
        }
        (!url::is_local_name(name)).then_some(()).ok_or(GuardError::LocalName)
    }
}
