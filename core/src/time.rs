//! Time on the wire: RFC 3339 in UTC with milliseconds. Inside, time is in milliseconds since 1970-01-01T00:00:00Z.
//!
//! ```
//! use railgate::time::{http_date, parse_http_date, parse_rfc3339, rfc3339};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let at = parse_rfc3339("2026-11-21T12:38:17.042+02:00").ok_or("not a time")?;
//! assert_eq!(at, 1_795_257_497_042);
//! assert_eq!(rfc3339(at), "2026-11-21T10:38:17.042Z");
//!
//! // A time without an offset could be anywhere.
//! assert_eq!(parse_rfc3339("2026-11-21T12:38:17"), None);
//!
//! // `Date` and `Retry-After` of an HTTP response.
//! assert_eq!(parse_http_date("Sat, 21 Nov 2026 10:38:17 GMT"), Some(1_795_257_497_000));
//! assert_eq!(http_date(1_795_257_497_042), "Sat, 21 Nov 2026 10:38:17 GMT");
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

use crate::ids::Short;

/// Milliseconds since the Unix epoch, in UTC.
pub type Millis = i64;

/// The calendar date and time in UTC; `None` after the year 9999.
fn civil(at: Millis) -> Option<DateTime> {
    Timestamp::from_millisecond(at).ok().map(|at| Offset::UTC.to_datetime(at))
}

/// Formats a time as `2026-11-21T10:38:17.042Z`.
pub fn rfc3339(at: Millis) -> String {
    short_rfc3339(at).as_str().to_owned()
}

/// [`rfc3339`], without memory of its own.
pub(crate) fn short_rfc3339(at: Millis) -> Short {
    let mut out = Short::new();
    write_rfc3339(&mut out, at);
    out
}

/// Writes [`rfc3339`].
pub(crate) fn write_rfc3339(out: &mut impl fmt::Write, at: Millis) {
    match civil(at).filter(|t| t.year() >= 0) {
        Some(t) => {
            let (date, time, ms) = ((t.year(), t.month(), t.day()), (t.hour(), t.minute(), t.second()), at.rem_euclid(1_000));
            let _ = write!(out, "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{ms:03}Z", date.0, date.1, date.2, time.0, time.1, time.2);
        }
        None => _ = out.write_str("9999-12-31T23:59:59.999Z"),
    }
}

/// Formats a time as `21 November 2026, 10:38:17 UTC`, for people; `None` after the year 9999.
pub(crate) fn readable(at: Millis) -> Option<String> {
    let t = civil(at)?;
    let month = MONTHS.get(usize::try_from(t.month()).ok()?.checked_sub(1)?)?;
    Some(format!("{} {month} {}, {:02}:{:02}:{:02} UTC", t.day(), t.year(), t.hour(), t.minute(), t.second()))
}

/// Parses any RFC 3339 time with an offset or `Z`. Digits below a millisecond are cut off, and a leap
/// second counts as the second before it.
///
/// Written by hand, because the library's parser supports all of ISO 8601 and time zones, which is too much for a page to load.
pub fn parse_rfc3339(text: &str) -> Option<Millis> {
    let (date_time, rest) = text.split_at_checked(19)?;
    let (date, time) = date_time.split_at_checked(11)?;
    if !matches!(date.as_bytes()[10], b'T' | b't') {
        return None;
    }
    let time = clock(&time.replacen(":60", ":59", usize::from(time.ends_with(":60"))))?;
    let (fraction, offset) = match rest.strip_prefix('.') {
        None => (0, rest),
        Some(rest) => {
            let count = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, offset) = rest.split_at(count);
            (format!("{digits:0<3}").get(..3).filter(|_| count > 0)?.parse().ok()?, offset)
        }
    };
    let seconds = match offset.split_at_checked(1)? {
        ("Z" | "z", "") => 0,
        ("+", ahead) => span(ahead)?,
        ("-", behind) => -span(behind)?,
        _ => return None,
    };
    let date = match fields::<3>(&date[..10], b'-')? {
        [year, month, day] if date.as_bytes()[4] == b'-' => Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?,
        _ => return None,
    };
    let at = Offset::from_seconds(seconds).ok()?.to_timestamp(DateTime::from_parts(date, time)).ok()?;
    Some(at.as_millisecond() + fraction)
}

/// Parses groups of two digits, the first of which may have four, separated by `mark`.
fn fields<const N: usize>(text: &str, mark: u8) -> Option<[i16; N]> {
    let mut parts = text.split(char::from(mark));
    let mut fields = [0; N];
    for (at, field) in fields.iter_mut().enumerate() {
        let part = parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))?;
        *field = part.parse().ok().filter(|_| part.len() == 2 || at == 0 && part.len() == 4)?;
    }
    parts.next().is_none().then_some(fields)
}

/// Parses a time of day such as `10:38:17`.
fn clock(text: &str) -> Option<Time> {
    let [hour, minute, second] = fields::<3>(text, b':').filter(|_| text.len() == 8)?.map(|field| i8::try_from(field).unwrap_or(i8::MAX));
    Time::new(hour, minute, second, 0).ok()
}

/// Parses an offset such as `02:00` and returns seconds.
fn span(text: &str) -> Option<i32> {
    let [hours, minutes] = fields::<2>(text, b':').filter(|_| text.len() == 5)?.map(i32::from);
    (hours < 24 && minutes < 60).then_some(hours * 3_600 + minutes * 60)
}

const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

/// Parses an HTTP date in any of the three forms that receivers must accept by RFC 9110 section 5.6.7, such
/// as `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn parse_http_date(text: &str) -> Option<Millis> {
    let at = httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Millis::try_from(at.as_millis()).ok()
}

/// An HTTP date in the form that senders use by RFC 9110 section 5.6.7, such as `Sun, 06 Nov 1994 08:49:37 GMT`: of the years 1970 to 9999.
pub fn http_date(at: Millis) -> String {
    const LAST: Millis = 253_402_300_799_000;
    let since = Duration::from_millis(u64::try_from(at.min(LAST)).unwrap_or(0));
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since)
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
        assert_eq!(parse_rfc3339("2026-11-21T10:38:17.1-00:30"), Some(1_795_259_297_100));
        assert_eq!(parse_rfc3339("2016-12-31T23:59:60Z"), parse_rfc3339("2016-12-31T23:59:59Z"));
        assert_eq!(parse_rfc3339("2026-11-21T10:38:17.123456789123Z"), Some(1_795_257_497_123));
        assert_eq!(parse_rfc3339("0000-01-01T00:00:00Z").map(rfc3339).as_deref(), Some("0000-01-01T00:00:00.000Z"));
        let not = ["", "2026-11-21", "2026-11-21T10:38:17", "2026-11-21 10:38:17Z", "20261121T103817Z", "2026-11-21T10:38Z"];
        let nor = ["2026-11-21T10:38:17+02", "2026-11-21T10:38:17+0200", "2026-11-21T10:38:17,5Z", "2026-11-21T10:38:17.Z"];
        let neither =
            ["2026-11-21T24:00:00Z", "2026-02-29T10:00:00Z", "2026-11-21T10:38:17+24:00", "20-11-21T10:38:1700Z", "2026-11-+1T10:38:17Z"];
        for text in not.into_iter().chain(nor).chain(neither).chain([
            "2026-11-21T10:38:17Z[Europe/Berlin]",
            "2026-13-21T10:38:17Z",
            "2026-11-21T10:38:1éZ",
        ]) {
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
