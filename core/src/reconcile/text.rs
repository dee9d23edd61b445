//! Amounts and times as statements write them.

use crate::money::Currency;
use crate::time::{Millis, parse_rfc3339};

/// A day, in milliseconds.
pub(super) const DAY: Millis = 86_400_000;

/// A decimal in minor units of its currency, with its sign. `point` separates the decimals; spaces, apostrophes and the other one of
/// `.` and `,` may group the digits before it. More decimals than the currency has must be zeros.
pub(super) fn amount(text: &str, currency: Currency, point: char) -> Result<i64, String> {
    let bad = || format!("{:?} is not an amount in {currency}", crate::error::excerpt(text));
    let text = text.trim();
    let (negative, digits) = match (text.strip_prefix(['-', '\u{2212}']), text.strip_suffix('-')) {
        (Some(rest), _) | (None, Some(rest)) => (true, rest),
        (None, None) => match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        },
    };
    let (whole, fraction) = digits.split_once(point).unwrap_or((digits, ""));
    let group = if point == '.' { ',' } else { '.' };
    let scale = usize::from(currency.minor_units());
    let (mut value, mut seen) = (0i64, false);
    let mut add = |digit: char| -> Result<(), String> {
        seen = true;
        let digit = digit.to_digit(10).ok_or_else(bad)?;
        value = value.checked_mul(10).and_then(|value| value.checked_add(digit.into())).ok_or_else(bad)?;
        Ok(())
    };
    for it in whole.trim().chars().filter(|it| *it != group && !matches!(it, ' ' | '\'' | '\u{a0}' | '\u{202f}')) {
        add(it)?;
    }
    let decimals: Vec<char> = fraction.chars().collect();
    for place in 0..scale {
        add(decimals.get(place).copied().unwrap_or('0'))?;
    }
    let exact = decimals.iter().skip(scale).all(|it| *it == '0') && (!whole.is_empty() || !fraction.is_empty());
    if !seen || !exact {
        return Err(bad());
    }
    Ok(if negative { -value } else { value })
}

/// A time, and whether only its day is known. `offset` is that of times without one.
pub(super) fn iso_time(text: &str, offset: Millis) -> Result<(Millis, bool), String> {
    let bad = || format!("{:?} is not a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z", crate::error::excerpt(text));
    let text = text.trim();
    if let Some(at) = parse_rfc3339(&text.replacen(' ', "T", 1)) {
        return Ok((at, false));
    }
    let local = |time: &str| parse_rfc3339(&format!("{time}Z")).map(|at| at - offset);
    if text.len() == 10 {
        return local(&format!("{text}T00:00:00")).map(|at| (at, true)).ok_or_else(bad);
    }
    // A date with an offset, as XML has them: the day counts.
    if let Some(at) = text.get(..10).filter(|_| text.as_bytes().get(10).is_some_and(|byte| matches!(byte, b'Z' | b'+' | b'-'))) {
        return local(&format!("{at}T00:00:00")).map(|at| (at, true)).ok_or_else(bad);
    }
    local(&text.replacen(' ', "T", 1)).map(|at| (at, false)).ok_or_else(bad)
}

/// A time by a pattern of `YYYY`, `MM`, `DD`, `hh`, `mm`, `ss` and other characters, which must be there as they are.
pub(super) fn patterned(text: &str, pattern: &str, offset: Millis) -> Result<(Millis, bool), String> {
    let bad = || format!("{:?} is not a time in the form {pattern}", crate::error::excerpt(text));
    let (mut parts, mut rest, mut left) = ([("YYYY", 1970), ("MM", 1), ("DD", 1), ("hh", 0), ("mm", 0), ("ss", 0)], text.trim(), pattern);
    let mut has_time = false;
    while let Some(first) = left.chars().next() {
        match parts.iter_mut().find(|(name, _)| left.starts_with(*name)) {
            Some((name, value)) => {
                let digits = rest.get(..name.len()).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())).ok_or_else(bad)?;
                *value = digits.parse().map_err(|_| bad())?;
                has_time |= *name == "hh";
                (rest, left) = (&rest[name.len()..], &left[name.len()..]);
            }
            None => {
                rest = rest.strip_prefix(first).ok_or_else(bad)?;
                left = &left[first.len_utf8()..];
            }
        }
    }
    let [(_, year), (_, month), (_, day), (_, hour), (_, minute), (_, second)] = parts;
    let time = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z");
    match parse_rfc3339(&time).filter(|_| rest.is_empty()) {
        Some(at) => Ok((at - offset, !has_time)),
        None => Err(bad()),
    }
}

/// An offset such as `+03:00` or `Z`, in milliseconds.
pub(super) fn offset(text: &str) -> Option<Millis> {
    Some(-parse_rfc3339(&format!("1970-01-01T00:00:00{text}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        let euro = |text: &str, point| amount(text, Currency::from_code("EUR").unwrap(), point).ok();
        for (text, point, minor) in [
            ("10.5", '.', 1_050),
            ("1,234.50", '.', 123_450),
            ("1.234,50", ',', 123_450),
            ("1 234,5000", ',', 123_450),
            ("-0.01", '.', -1),
            ("(7.00)", '.', -700),
            ("7-", '.', -700),
            (".5", '.', 50),
            ("92233720368547758.07", '.', i64::MAX),
        ] {
            assert_eq!(euro(text, point), Some(minor), "{text}");
        }
        for text in ["", "-", ".", "1.005", "1e3", "92233720368547758.08", "1.2.3", "٣", "NaN", "1\u{0}"] {
            assert_eq!(euro(text, '.'), None, "{text}");
        }
        assert_eq!(amount("500.00", Currency::from_code("JPY").unwrap(), '.'), Ok(500));
    }

    #[test]
    fn times_have_a_day_or_more() {
        assert_eq!(iso_time("1970-01-02", 0), Ok((DAY, true)));
        assert_eq!(iso_time("1970-01-02+03:00", 3_600_000), Ok((DAY - 3_600_000, true)));
        assert_eq!(iso_time("1970-01-01T01:00:00+01:00", 5), Ok((0, false)));
        assert_eq!(iso_time("1970-01-01 03:00:00", offset("+03:00").unwrap()), Ok((0, false)));
        assert_eq!(iso_time("1970-01-01T00:00:00.007", 0), Ok((7, false)));
        assert_eq!(patterned("02/01/1970", "DD/MM/YYYY", 0), Ok((DAY, true)));
        assert_eq!(patterned("02/01/1970 01:02", "DD/MM/YYYY hh:mm", 0), Ok((DAY + 3_720_000, false)));
        for bad in ["1970-02-30", "yesterday", "1970-1-1", "1970-01-01T", "é970-01-01Z"] {
            assert!(iso_time(bad, 0).is_err(), "{bad}");
        }
        for bad in ["31/02/1970", "1/1/1970", "02/01/1970 "] {
            assert_eq!(patterned(bad, "DD/MM/YYYY", 0).is_err(), bad != "02/01/1970 ", "{bad}");
        }
    }
}
