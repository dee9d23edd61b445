//! What the text of a setting means.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use directories::ProjectDirs;
use railgate::client::normal_base;
use railgate::store::sqlite::Synchronous;

use super::{DatabaseUrl, StoreConfig};
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
        _ => Err("must be json or pretty; what is logged is the setting log-level".to_owned()),
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

/// A whole number in `range`; `right` says which.
pub(super) fn whole(range: RangeInclusive<u32>, right: &'static str) -> impl FnOnce(&str) -> Result<u32, String> {
    move |text| text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| right.to_owned())
}

/// A file's path; empty text is none.
pub(super) fn file(text: &str) -> Result<Option<PathBuf>, String> {
    Ok((!text.is_empty()).then(|| PathBuf::from(text)))
}

pub(super) fn platform_data_dir() -> Result<String, String> {
    let dirs = ProjectDirs::from("dev", "railgate", "railgate").ok_or("this system names no data folder; give one")?;
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

pub(crate) fn store_address(text: &str) -> Result<StoreConfig, String> {
    if text == "memory:" {
        return Ok(StoreConfig::Memory);
    }
    if is_postgres(text) {
        return Ok(StoreConfig::Postgres(DatabaseUrl(text.to_owned())));
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

/// What may be shown of a setting: the address of a database without its password, also of one that is written wrongly.
pub(super) fn presentable(text: &str) -> Cow<'_, str> {
    if text.contains("://") && (text.contains('@') || text.to_ascii_lowercase().contains("password")) {
        hide_password(text).into()
    } else {
        text.into()
    }
}

/// The address of a database with `***` for its password, wherever it stands. A password that somebody forgot to encode may
/// have anything in it: so all from the first colon to the last `@` is taken for one, and all of a parameter that is named so.
fn hide_password(url: &str) -> String {
    let parameter = |part: &str| {
        let named = part.to_ascii_lowercase().find("password=").map(|at| at + "password=".len());
        named.map_or_else(|| part.to_owned(), |end| format!("{}***", &part[..end]))
    };
    let url = url.split('&').map(parameter).collect::<Vec<_>>().join("&");
    let Some((scheme, rest)) = url.split_once("://") else { return "***".to_owned() };
    match rest.rsplit_once('@') {
        Some((user, rest)) => match user.split_once(':') {
            Some((name, _)) => format!("{scheme}://{name}:***@{rest}"),
            None => format!("{scheme}://{user}@{rest}"),
        },
        None => format!("{scheme}://{rest}"),
    }
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
    // As clients sign it: an address that is written in another way would fit no signature.
    normal_base(text).map(Some).ok_or_else(wrong)
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
}
