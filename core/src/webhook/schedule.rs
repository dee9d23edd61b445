//! When a delivery is retried.

use crate::time::{Millis, parse_http_date};

const SECOND: Millis = 1_000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;

/// The delay before each attempt, after the previous one; the first is made at once. In total slightly over three days.
const DELAYS: [Millis; ATTEMPTS_MAX as usize] =
    [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

/// The number of attempts per delivery.
pub const ATTEMPTS_MAX: u16 = 10;
/// The longest time by which a receiver may postpone an attempt, in milliseconds: one day.
pub const RETRY_AFTER_MAX_MS: Millis = 24 * HOUR;

/// Longer values of `Retry-After` are ignored.
const RETRY_AFTER_MAX_BYTES: usize = 64;

/// The delay before the next attempt, in milliseconds, after `attempts_made` attempts; `None` if no attempt is left.
///
/// `random` varies the delay by up to a fifth in either direction. It must be fresh for each call, so that receivers that failed
/// together are not retried together. The wait that a receiver asks for ([`parse_retry_after`]) may postpone the attempt by up to
/// [`RETRY_AFTER_MAX_MS`], but never brings it forward.
pub fn next_delay(attempts_made: u16, random: u32, retry_after: Option<Millis>) -> Option<Millis> {
    let delay = *DELAYS.get(usize::from(attempts_made))?;
    let spread = delay / 5;
    let jittered = delay - spread + 2 * spread * Millis::from(random) / Millis::from(u32::MAX);
    Some(jittered.max(retry_after.unwrap_or(0).min(RETRY_AFTER_MAX_MS)))
}

/// Parses the value of `Retry-After` (RFC 9110, section 10.2.3), a number of seconds or an HTTP date, as milliseconds from `now`. A
/// date in the past is 0; longer waits are cut to [`RETRY_AFTER_MAX_MS`]. `None` if it is neither.
pub fn parse_retry_after(value: &str, now: Millis) -> Option<Millis> {
    let value = value.trim_matches([' ', '\t']);
    if value.is_empty() || value.len() > RETRY_AFTER_MAX_BYTES {
        return None;
    }
    let wait = if value.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than fit into an integer mean a long time, too.
        value.parse::<Millis>().map_or(Millis::MAX, |seconds| seconds.saturating_mul(SECOND))
    } else {
        parse_http_date(value)?.saturating_sub(now)
    };
    Some(wait.clamp(0, RETRY_AFTER_MAX_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_attempts_with_growing_waits() {
        let middle = u32::MAX / 2;
        let waits: Vec<Millis> = (0..).map_while(|made| next_delay(made, middle, None)).collect();
        let near = |wait: Millis, seconds: Millis| (seconds * SECOND - wait).abs() <= 1;
        let expected = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
        assert_eq!(waits.len(), expected.len());
        assert!(waits.iter().zip(expected).all(|(wait, seconds)| near(*wait, seconds)), "{waits:?}");
        for none_left in [10, 11, u16::MAX] {
            assert_eq!(next_delay(none_left, middle, Some(0)), None);
        }
    }

    #[test]
    fn waits_are_spread_by_a_fifth_either_way() {
        for (made, delay) in (0..).zip(DELAYS) {
            assert_eq!(next_delay(made, 0, None), Some(delay / 5 * 4));
            assert_eq!(next_delay(made, u32::MAX, None), Some(delay / 5 * 6));
        }
        assert_eq!(next_delay(0, u32::MAX, None), Some(0), "the first goes out at once");
    }

    #[test]
    fn a_receiver_puts_attempts_off_but_never_brings_them_forward() {
        assert_eq!(next_delay(1, 0, Some(60_000)), Some(60_000));
        assert_eq!(next_delay(2, 0, Some(60_000)), next_delay(2, 0, None));
        assert_eq!(next_delay(1, 0, Some(Millis::MAX)), Some(24 * HOUR));
        assert_eq!(next_delay(1, 0, Some(-1)), next_delay(1, 0, None));
        assert_eq!(next_delay(9, u32::MAX, Some(Millis::MAX)), next_delay(9, u32::MAX, None), "already later than a day");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = 784_111_777_000; // Sun, 06 Nov 1994 08:49:37 GMT
        for (text, wait) in [
            ("0", 0),
            ("120", 120_000),
            (" 5\t", 5_000),
            ("0000000007", 7_000),
            ("86401", RETRY_AFTER_MAX_MS),
            ("99999999999999999999999999", RETRY_AFTER_MAX_MS),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60_000),
            ("Sunday, 06-Nov-94 08:50:37 GMT", 60_000),
            ("Sun Nov  6 08:50:37 1994", 60_000),
            ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
            ("Mon, 06 Nov 2034 08:48:37 GMT", RETRY_AFTER_MAX_MS),
        ] {
            assert_eq!(parse_retry_after(text, now), Some(wait), "{text}");
        }
        let long = "1".repeat(65);
        for neither in ["", " ", "-1", "+5", "1.5", "5s", "soon", "1994-11-06T08:50:37Z", "Sun, 06 Nov 1994", "٥", &long] {
            assert_eq!(parse_retry_after(neither, now), None, "{neither}");
        }
    }
}
