//! When a certificate ends, for the log: just enough DER to find that.

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;

/// The end of an X.509 certificate's validity, such as `2027-02-19T23:59:59Z`. `None` if it has another shape.
pub(super) fn not_after(certificate: &[u8]) -> Option<String> {
    let (certificate, _) = value(certificate, SEQUENCE)?;
    let (mut fields, _) = value(certificate, SEQUENCE)?;
    if let Some((_, rest)) = value(fields, VERSION) {
        fields = rest;
    }
    // Serial number, signature algorithm, issuer.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        fields = value(fields, tag)?.1;
    }
    let (validity, _) = value(fields, SEQUENCE)?;
    let (_, not_after) = time(validity)?;
    time(not_after).map(|(text, _)| text)
}

fn time(der: &[u8]) -> Option<(String, &[u8])> {
    let (digits, rest) = match der.first()? {
        &UTC_TIME => {
            let (text, rest) = value(der, UTC_TIME)?;
            let text = std::str::from_utf8(text).ok()?;
            // RFC 5280: two digits of a year from 1950 to 2049.
            let century = if text.get(..2)?.parse::<u8>().ok()? < 50 { "20" } else { "19" };
            (format!("{century}{text}"), rest)
        }
        _ => {
            let (text, rest) = value(der, GENERALIZED_TIME)?;
            (std::str::from_utf8(text).ok()?.to_owned(), rest)
        }
    };
    let plain = digits.len() == 15 && digits.ends_with('Z') && digits[..14].bytes().all(|b| b.is_ascii_digit());
    let part = |from: usize, until: usize| digits.get(from..until).unwrap_or_default();
    let (date, clock) = ([part(0, 4), part(4, 6), part(6, 8)].join("-"), [part(8, 10), part(10, 12), part(12, 14)].join(":"));
    plain.then(|| (format!("{date}T{clock}Z"), rest))
}

/// The value that begins here with this tag, and what follows it.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = der.split_first()?;
    let (&short, mut rest) = rest.split_first()?;
    let mut length = usize::from(short);
    if short >= 0x80 {
        let (long, after) = rest.split_at_checked(usize::from(short & 0x7f))?;
        if long.is_empty() || long.len() > 4 {
            return None;
        }
        length = long.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte));
        rest = after;
    }
    if first == tag { rest.split_at_checked(length) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(year: i32) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 2, 19);
        let key = rcgen::KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_end_is_found_in_both_forms_of_time() {
        assert_eq!(not_after(&certificate(2_027)).as_deref(), Some("2027-02-19T00:00:00Z"));
        assert_eq!(not_after(&certificate(2_150)).as_deref(), Some("2150-02-19T00:00:00Z"));
    }

    #[test]
    fn anything_else_has_none() {
        let whole = certificate(2_027);
        let end = whole.windows(6).rposition(|at| at == b"270219").unwrap() + 13;
        for length in 0..whole.len() {
            // Whether the rest is there is for others to judge, but lengths that lead beyond the end never panic.
            assert!(length >= end || not_after(&whole[..length]).is_none(), "{length}");
        }
        for at in 0..whole.len().min(300) {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            let _ = not_after(&changed);
        }
    }
}
