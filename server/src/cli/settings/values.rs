//! Parses the text of each setting.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use directories::ProjectDirs;
use hyper::header::HeaderValue;
use railgate::client::normal_base;
use railgate::engine::{Enrollment, FourEyes};
use railgate::store::sqlite::Synchronous;
use railgate::webhook::Cidr;

use crate::config::{DatabaseTls, DatabaseUrl, RateLimits, StoreConfig};
use crate::telemetry::LogFormat;

pub(super) fn log_name(format: LogFormat) -> &'static str {
    match format {
        LogFormat::Json => "json",
        LogFormat::Pretty => "pretty",
    }
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "json" => Ok(LogFormat::Json),
        "pretty" => Ok(LogFormat::Pretty),
        _ => Err("must be json or pretty; the setting log-level filters what is logged".to_owned()),
    }
}

pub(super) fn synchronous(text: &str) -> Result<Synchronous, String> {
    match text {
        "full" => Ok(Synchronous::Full),
        "normal" => Ok(Synchronous::Normal),
        _ => Err("must be full or normal".to_owned()),
    }
}

pub(super) fn on_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("must be on or off".to_owned()),
    }
}

pub(super) fn database_tls(text: &str) -> Result<DatabaseTls, String> {
    match text {
        "as-url" => Ok(DatabaseTls::AsUrl),
        "verify-full" => Ok(DatabaseTls::VerifyFull),
        _ => Err("must be as-url or verify-full".to_owned()),
    }
}

/// A whole number in `range`; `right` describes what is valid.
pub(super) fn whole(range: RangeInclusive<u32>, right: &'static str) -> impl Fn(&str) -> Result<u32, String> {
    move |text| text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| right.to_owned())
}

/// An Apple app: a team id, a dot and a bundle id.
pub(super) fn apple_app(text: &str) -> Result<String, String> {
    let right = || "must be TEAM.BUNDLE, such as ABCDE12345.com.example.shop".to_owned();
    let (team, bundle) = text.split_once('.').ok_or_else(right)?;
    let fits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'));
    if team.len() == 10 && fits(team) && fits(bundle) { Ok(text.to_owned()) } else { Err(right()) }
}

/// A file's path; empty text counts as absent.
pub(super) fn file(text: &str) -> Result<Option<PathBuf>, String> {
    Ok((!text.is_empty()).then(|| PathBuf::from(text)))
}

pub(super) fn platform_data_dir() -> Result<String, String> {
    let dirs = ProjectDirs::from("dev", "railgate", "railgate").ok_or("this system has no data folder; name one")?;
    Ok(dirs.data_dir().display().to_string())
}

pub(super) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    match text.strip_prefix("localhost:").map(str::parse) {
        Some(Ok(port)) => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        Some(Err(_)) | None => text.parse().map_err(|_| "must be IP:PORT, such as 127.0.0.1:8080".to_owned()),
    }
}

pub(super) fn metrics_address(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "off" { Ok(None) } else { listen_address(text).map(Some).map_err(|right| format!("{right}; or off")) }
}

pub(super) fn store_address(text: &str) -> Result<StoreConfig, String> {
    if text == "memory:" {
        return Ok(StoreConfig::Memory);
    }
    if is_postgres(text) {
        return Ok(StoreConfig::Postgres(DatabaseUrl::new(text)));
    }
    match text.strip_prefix("sqlite:") {
        Some(path) if !path.is_empty() => Ok(StoreConfig::Sqlite(PathBuf::from(path))),
        Some(_) => Err("must name a file, such as sqlite:/var/lib/railgate/railgate.db".to_owned()),
        None => Err("must be sqlite:PATH, postgres://USER@HOST/DATABASE or memory:".to_owned()),
    }
}

fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

pub(super) fn public_url(text: &str) -> Result<Option<String>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = || "must be an absolute http or https address without query, such as https://pay.example.com".to_owned();
    let uri: hyper::Uri = text.parse().map_err(|_| wrong())?;
    let http = matches!(uri.scheme_str(), Some("http" | "https"));
    if !http || uri.host().is_none_or(str::is_empty) || uri.query().is_some() || text.contains(['#', '@']) {
        return Err(wrong());
    }
    // In the form that clients sign: a URL in another form would match no signature.
    normal_base(text).map(Some).ok_or_else(wrong)
}

/// `off` or the address of a collector of spans.
pub(super) fn collector(text: &str) -> Result<Option<String>, String> {
    if text == "off" {
        return Ok(None);
    }
    public_url(text).ok().flatten().map(Some).ok_or_else(|| "must be off, or an address such as http://127.0.0.1:4318".to_owned())
}

/// From 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be a number from 0 to 1, such as 0.05".to_owned())
}

/// `open`, `invited` or `off`.
pub(super) fn enrollment(text: &str) -> Result<Enrollment, String> {
    match text {
        "open" => Ok(Enrollment::Open),
        "invited" => Ok(Enrollment::Invited),
        "off" => Ok(Enrollment::Off),
        _ => Err("must be open, invited or off".to_owned()),
    }
}

/// `off`, or the acts that a second operator has to confirm, separated by commas.
pub(super) fn four_eyes(text: &str) -> Result<FourEyes, String> {
    let mut rules = FourEyes::OFF;
    for act in text.split(',').map(str::trim).filter(|act| *act != "off" && !act.is_empty()) {
        match act {
            "money" => rules.money = true,
            "access" => rules.access = true,
            "outcome" => rules.outcome = true,
            "provider" => rules.provider = true,
            "routes" => rules.routes = true,
            "terms" => rules.terms = true,
            _ => return Err("must be off, or some of money, access, outcome, provider, routes and terms, separated by commas".to_owned()),
        }
    }
    Ok(rules)
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
    let right = "must be off or READS/WRITES per minute, each from 1 to 1000000, such as 3000/600";
    limits.map(Some).ok_or_else(|| right.to_owned())
}

/// `same`, which is `None`, or as for [`rate_limits`].
pub(super) fn live_rate_limits(text: &str) -> Result<Option<Option<RateLimits>>, String> {
    if text == "same" { Ok(None) } else { rate_limits(text).map(Some) }
}

/// A range of addresses, such as `10.1.0.0/16`.
pub(super) fn cidr(text: &str) -> Result<Cidr, String> {
    Cidr::parse(text).map_err(|error| format!("{text:?} {error}"))
}

/// One exact origin, as browsers write it: in lower case, without the port that its scheme implies.
pub(super) fn origin(text: &str) -> Result<HeaderValue, String> {
    let wrong = || format!("must be exact origins such as https://shop.example.com, without path or wildcard; {text:?} is not one");
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
    fn the_public_address_is_kept_as_clients_sign_it() {
        for (given, kept) in [
            ("https://pay.example.com", "https://pay.example.com"),
            ("HTTPS://Pay.Example.com:443/", "https://pay.example.com"),
            ("http://pay.example.com:80/Base/", "http://pay.example.com/Base"),
            ("https://[::1]:8443", "https://[::1]:8443"),
        ] {
            assert_eq!(public_url(given), Ok(Some(kept.to_owned())), "{given}");
        }
        assert_eq!(public_url(""), Ok(None));
        for wrong in ["pay.example.com", "ftp://x", "https://", "https://u@x", "https://x/?q", "https://x#y", "https:///x"] {
            assert!(public_url(wrong).is_err(), "{wrong}");
        }
    }

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
