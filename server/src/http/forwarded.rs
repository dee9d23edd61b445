//! The address of a caller behind a proxy, from `X-Forwarded-For`.
//!
//! Anybody can send this header, so it is read only on connections of trusted proxies, from its right end: each proxy appends
//! the address that it saw. RFC 7239's `Forwarded` is not read: a proxy that writes one of the two passes the other one on as
//! the caller sent it.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::HeaderName;
use railgate::webhook::Cidr;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The rightmost address that is not one of the `proxies`. `peer` is the proxy that the connection comes from: it is the
/// caller if it names no other. An entry that is not an address ends the search: nobody vouches for what is left of it.
pub(super) fn caller(peer: IpAddr, headers: &HeaderMap, proxies: &[Cidr]) -> IpAddr {
    let mut caller = peer;
    let values = headers.get_all(X_FORWARDED_FOR).iter();
    let mut entries: Vec<&str> = values.flat_map(|value| value.to_str().unwrap_or_default().split(',')).collect();
    while let Some(address) = entries.pop().and_then(address) {
        caller = address;
        if !proxies.iter().any(|range| range.contains(address)) {
            break;
        }
    }
    caller
}

/// An address, which some proxies write with its port.
fn address(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim();
    let bracketed = || entry.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok();
    let with_port = || entry.parse::<SocketAddr>().ok().map(|address| address.ip());
    entry.parse().ok().or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(X_FORWARDED_FOR, value.parse().unwrap());
        }
        let proxies = ["10.0.0.0/8", "fd00::/8"].map(|range| range.parse().unwrap());
        caller("10.0.0.1".parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn the_caller_is_the_rightmost_address_that_no_trusted_proxy_has() {
        assert_eq!(of(&["203.0.113.7"]), "203.0.113.7");
        assert_eq!(of(&["198.51.100.1, 203.0.113.7"]), "203.0.113.7", "whatever the caller claims");
        assert_eq!(of(&["198.51.100.1, 203.0.113.7 , 10.2.3.4"]), "203.0.113.7");
        assert_eq!(of(&["198.51.100.1", "203.0.113.7, 10.2.3.4", "fd00::1"]), "203.0.113.7");
        assert_eq!(of(&["203.0.113.7:4711"]), "203.0.113.7");
        assert_eq!(of(&["[2001:db8::1]:4711"]), "2001:db8::1");
        assert_eq!(of(&["[2001:db8::1]"]), "2001:db8::1");
        assert_eq!(of(&["::ffff:203.0.113.7"]), "203.0.113.7");
    }

    #[test]
    fn without_one_it_is_the_last_proxy_that_is_named() {
        assert_eq!(of(&[]), "10.0.0.1");
        assert_eq!(of(&[""]), "10.0.0.1");
        assert_eq!(of(&["unknown"]), "10.0.0.1");
        assert_eq!(of(&["198.51.100.1, unknown, 10.2.3.4"]), "10.2.3.4");
        assert_eq!(of(&["10.9.9.9, 10.2.3.4"]), "10.9.9.9");
    }
}
