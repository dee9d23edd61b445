//! The server's outer edge: encryption, browsers, rate limits and the public address.

use std::path::PathBuf;

use hyper::header::HeaderValue;
use railgate::webhook::Cidr;

/// What stands between the network and the interface. The default is a plain listener without limits, for tests and
/// for a host in the same process; `railgate serve` has defaults of its own.
#[derive(Debug, Clone, Default)]
pub struct Edge {
    /// Serve HTTPS from these files; plain HTTP without.
    pub tls: Option<TlsFiles>,
    /// Pages of these origins may call, and read what is answered.
    pub cors_origins: Vec<HeaderValue>,
    /// How often one client may call.
    pub rate: Option<RateLimits>,
    /// The address under which clients reach this server, without a slash at its end.
    pub public_url: Option<String>,
    /// Addresses that webhooks may go to although they are not public.
    pub webhook_allow: Vec<Cidr>,
}

/// Where a certificate and its private key are, both PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate first, then those that lead to a root.
    pub cert: PathBuf,
    /// The private key of the first certificate.
    pub key: PathBuf,
}

/// How often one client may call, on each node of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// Calls that change nothing.
    pub reads_per_minute: u32,
    /// Calls that may change something.
    pub writes_per_minute: u32,
}

/// `off`, or `READS/WRITES`.
pub(super) fn rate_limits(text: &str) -> Result<Option<RateLimits>, String> {
    if text == "off" {
        return Ok(None);
    }
    let number = |text: &str| text.parse().ok().filter(|n| (1..=1_000_000).contains(n));
    let limits = text
        .split_once('/')
        .and_then(|(reads, writes)| Some(RateLimits { reads_per_minute: number(reads)?, writes_per_minute: number(writes)? }));
    let right = "must be off or READS/WRITES a minute, each from 1 to 1000000, such as 3000/600";
    limits.map(Some).ok_or_else(|| right.to_owned())
}

/// A range of addresses, such as `10.1.0.0/16`.
pub(super) fn cidr(text: &str) -> Result<Cidr, String> {
    Cidr::parse(text).map_err(|error| format!("{text:?} {error}"))
}

/// One exact origin, as browsers write it: in lower case, without the port that its scheme implies.
pub(super) fn origin(text: &str) -> Result<HeaderValue, String> {
    let wrong = || format!("must be exact origins such as https://shop.example.com, without path or wildcard; {text:?} is none");
    let given = text.to_ascii_lowercase();
    let uri: hyper::Uri = given.parse().map_err(|_| wrong())?;
    let (Some(scheme @ ("http" | "https")), Some(host)) = (uri.scheme_str(), uri.host()) else { return Err(wrong()) };
    let port = uri.port_u16();
    let name = |port: Option<u16>| format!("{scheme}://{host}{}", port.map(|port| format!(":{port}")).unwrap_or_default());
    if host.is_empty() || host.contains('*') || name(port) != given {
        return Err(wrong());
    }
    let implied = if scheme == "https" { 443 } else { 80 };
    HeaderValue::try_from(name(port.filter(|port| *port != implied))).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_exact() {
        let of = |text: &str| origin(text).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(of("https://shop.example.com").as_deref(), Ok("https://shop.example.com"));
        assert_eq!(of("HTTPS://Shop.Example.com:443").as_deref(), Ok("https://shop.example.com"));
        assert_eq!(of("http://localhost:5173").as_deref(), Ok("http://localhost:5173"));
        assert_eq!(of("http://[::1]:80").as_deref(), Ok("http://[::1]"));
        for wrong in [
            "*",
            "null",
            "shop.example.com",
            "https://",
            "https://*.example.com",
            "https://x/",
            "https://x/y",
            "https://x?y",
            "https://u@x",
            "https://x:",
            "https://x:99999",
            "ftp://x",
            "https://x y",
            "file:///x",
            "https://x#y",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_are_off_or_a_pair() {
        assert_eq!(rate_limits("off"), Ok(None));
        assert_eq!(rate_limits("3000/600"), Ok(Some(RateLimits { reads_per_minute: 3_000, writes_per_minute: 600 })));
        for wrong in ["", "on", "3000", "0/600", "3000/0", "3000/1000001", "-1/5", "1/2/3", "3000 / 600"] {
            assert!(rate_limits(wrong).unwrap_err().contains("READS/WRITES"), "{wrong}");
        }
    }
}
