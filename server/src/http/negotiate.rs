//! `Accept` and `Content-Type` (RFC 9110), as far as this interface needs them.

use hyper::HeaderMap;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use railgate::{Error, ErrorCode};

pub(crate) const JSON: &str = "application/json";

/// The caller's favourite among `offers`, which are in the server's order of preference.
///
/// # Errors
/// [`ErrorCode::NotAcceptable`] when the caller accepts none.
pub(crate) fn choose(headers: &HeaderMap, offers: &'static [&'static str]) -> Result<&'static str, Error> {
    let first = offers.first().copied().unwrap_or(JSON);
    let mut accepts = headers.get_all(ACCEPT).iter().peekable();
    match accepts.peek() {
        None => return Ok(first),
        Some(one) if matches!(one.as_bytes(), b"*/*") || one.as_bytes() == first.as_bytes() => return Ok(first),
        Some(_) => {}
    }
    let ranges: Vec<&str> = accepts.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).collect();
    let liked = |offer: &'static str| (offer, ranges.iter().filter_map(|range| fit(range, offer)).max());
    // Of several ranges that match an offer, the most specific one determines its quality.
    let best = offers.iter().rev().map(|offer| liked(offer)).filter_map(|(offer, fit)| fit.map(|(_, q)| (q, offer)));
    match best.filter(|(q, _)| *q > 0).max_by_key(|(q, _)| *q) {
        Some((_, offer)) => Ok(offer),
        None => Err(Error::with(ErrorCode::NotAcceptable, format!("Accept must allow {}", offers.join(" or ")))),
    }
}

/// How specifically a media range matches `offer`, and its quality in thousandths.
fn fit(range: &str, offer: &str) -> Option<(u8, u16)> {
    let mut parts = range.split(';').map(str::trim);
    let name = parts.next()?.to_ascii_lowercase();
    let specific = if name == offer {
        2
    } else if name.strip_suffix("/*").is_some_and(|family| offer.split('/').next() == Some(family)) {
        1
    } else if name == "*/*" {
        0
    } else {
        return None;
    };
    let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    Some((specific, quality.map_or(1_000, thousandths)))
}

/// `0.5` as 500; an unreadable quality counts as 1, like an absent one.
fn thousandths(quality: &str) -> u16 {
    let (whole, fraction) = quality.split_once('.').unwrap_or((quality, ""));
    if whole != "0" {
        return 1_000;
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(3);
    digits.fold(0, |sum, digit| sum * 10 + u16::from(digit.wrapping_sub(b'0').min(9)))
}

/// Whether the caller takes a body in the encoding `name`, unless at quality 0.
pub(crate) fn takes_encoding(headers: &HeaderMap, name: &str) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|encodings| encodings.split(',')).any(|encoding| {
        let mut parts = encoding.split(';').map(str::trim);
        parts.next().is_some_and(|one| one.eq_ignore_ascii_case(name))
            && parts.find_map(|part| part.strip_prefix("q=")).is_none_or(|quality| thousandths(quality) > 0)
    })
}

/// Checks that the body has one of these types, and is not compressed.
///
/// # Errors
/// [`ErrorCode::UnsupportedMediaType`].
pub(crate) fn require_one_of(headers: &HeaderMap, known: &[&str]) -> Result<(), Error> {
    if headers.get(CONTENT_ENCODING).is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(Error::with(ErrorCode::UnsupportedMediaType, "the body must not be compressed"));
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let name = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if known.contains(&name.as_str()) {
        return Ok(());
    }
    Err(Error::with(ErrorCode::UnsupportedMediaType, format!("Content-Type must be {}", known.join(" or "))))
}

/// Checks that the body is JSON and not compressed.
///
/// # Errors
/// [`ErrorCode::UnsupportedMediaType`].
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), Error> {
    let refuse = |detail: &'static str| Err(Error::with(ErrorCode::UnsupportedMediaType, detail));
    if headers.get(CONTENT_ENCODING).is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return refuse("the body must not be compressed");
    }
    let Some(kind) = headers.get(CONTENT_TYPE) else {
        return refuse("Content-Type is missing; it must be application/json");
    };
    if kind.as_bytes() == JSON.as_bytes() {
        return Ok(());
    }
    let name = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if name == JSON || (name.starts_with("application/") && name.ends_with("+json")) {
        return Ok(());
    }
    refuse("Content-Type must be application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, value.parse().unwrap());
        headers
    }

    #[test]
    fn the_best_liked_offer_is_chosen() {
        const OFFERS: &[&str] = &["text/csv", "application/x-ndjson"];
        let chosen = |value| choose(&accept(value), OFFERS).map_err(|error| error.code);
        assert_eq!(choose(&HeaderMap::new(), OFFERS).unwrap(), "text/csv");
        assert_eq!(chosen("*/*"), Ok("text/csv"));
        assert_eq!(chosen("application/x-ndjson"), Ok("application/x-ndjson"));
        assert_eq!(chosen("text/*;q=0.3, application/*"), Ok("application/x-ndjson"));
        assert_eq!(chosen("text/csv;q=0, */*"), Ok("application/x-ndjson"));
        assert_eq!(chosen("TEXT/CSV; q=0.01, application/json"), Ok("text/csv"));
        assert_eq!(chosen("text/csv;q=0.000"), Err(ErrorCode::NotAcceptable));
        assert_eq!(chosen("application/xml"), Err(ErrorCode::NotAcceptable));
    }

    #[test]
    fn brotli_is_sent_to_those_who_take_it() {
        let takes = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
            takes_encoding(&headers, "br")
        };
        for takes_it in ["br", "gzip, deflate, br", "gzip;q=0.5, BR;q=0.1"] {
            assert!(takes(takes_it), "{takes_it}");
        }
        for refuses in ["", "gzip", "br;q=0", "identity, br; q=0.0", "brotli"] {
            assert!(!takes(refuses), "{refuses}");
        }
        assert!(!takes_encoding(&HeaderMap::new(), "br"));
    }

    #[test]
    fn json_is_told_from_the_rest() {
        let check = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, value.parse().unwrap());
            require_json(&headers).is_ok()
        };
        assert!(check("application/json") && check("Application/JSON; charset=utf-8") && check("application/vnd.x+json"));
        assert!(!check("text/json") && !check("application/jsonp") && !check("application/x-www-form-urlencoded"));
        assert!(require_json(&HeaderMap::new()).is_err());
    }
}
