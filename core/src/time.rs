//! Time on the wire: RFC 3339 in UTC with milliseconds. Inside, time is milliseconds since 1970-01-01T00:00:00Z.

use std::fmt::Write as _;

/// Milliseconds since the Unix epoch, in UTC.
pub type Millis = i64;

/// `2026-11-21T10:38:17.042Z`.
pub fn rfc3339(at: Millis) -> String {
    let mut out = String::with_capacity(24);
    match jiff::Timestamp::from_millisecond(at) {
        Ok(t) => {
            let _ = write!(out, "{t:.3}");
        }
        Err(_) => out.push_str("9999-12-31T23:59:59.999Z"),
    }
    out
}

/// Reads any RFC 3339 time with an offset or `Z`; sub-millisecond digits are cut off.
pub fn parse_rfc3339(text: &str) -> Option<Millis> {
    // The library takes all of ISO 8601 and more; RFC 3339 is one shape of it.
    let shape = |pattern: &str, text: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(t, p)| if p == b'0' { t.is_ascii_digit() } else { t.eq_ignore_ascii_case(&p) })
    };
    let (time, rest) = text.split_at_checked(19)?;
    let digits = rest.strip_prefix('.').map_or(0, |f| f.bytes().take_while(u8::is_ascii_digit).count());
    let offset = if rest.starts_with('.') && digits > 0 { &rest[1 + digits..] } else { rest };
    let offset_ok = shape("z", offset) || shape("+00:00", offset) || shape("-00:00", offset);
    if !shape("0000-00-00t00:00:00", time) || !offset_ok {
        return None;
    }
    text.parse::<jiff::Timestamp>().ok().map(|t| t.as_millisecond())
}

/// Reads an HTTP date in each of the three forms that RFC 9110, section 5.6.7, has receivers read, such as
/// `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn parse_http_date(text: &str) -> Option<Millis> {
    if let Ok(at) = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text) {
        return Some(at.as_millisecond());
    }
    // Both are in UTC, whether they say so or not.
    ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"].iter().find_map(|form| {
        let time = jiff::fmt::strtime::parse(form, text).and_then(|parsed| parsed.to_datetime()).ok()?;
        time.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|at| at.timestamp().as_millisecond())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_milliseconds_and_reads_any_offset() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_795_257_497_042), "2026-11-21T10:38:17.042Z");
        assert_eq!(parse_rfc3339("2026-11-21T10:38:17.042Z"), Some(1_795_257_497_042));
        assert_eq!(parse_rfc3339("2026-11-21T12:38:17.0429+02:00"), Some(1_795_257_497_042));
        assert_eq!(parse_rfc3339("2026-11-21t10:38:17z"), Some(1_795_257_497_000));
        let not = ["", "2026-11-21", "2026-11-21T10:38:17", "2026-11-21 10:38:17Z", "20261121T103817Z", "2026-11-21T10:38Z"];
        let nor = ["2026-11-21T10:38:17+02", "2026-11-21T10:38:17+0200", "2026-11-21T10:38:17,5Z", "2026-11-21T10:38:17.Z"];
        for text in
            not.into_iter().chain(nor).chain(["2026-11-21T10:38:17Z[Europe/Berlin]", "2026-13-21T10:38:17Z", "2026-11-21T10:38:1éZ"])
        {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn http_dates_are_read_in_their_three_forms() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(parse_http_date(text), Some(784_111_777_000), "{text}");
        }
        for text in ["", "Sun, 06 Nov 1994", "06-Nov-94 08:49:37", "1994-11-06T08:49:37Z", "Sun, 31 Feb 1994 08:49:37 GMT"] {
            assert_eq!(parse_http_date(text), None, "{text}");
        }
    }
}
