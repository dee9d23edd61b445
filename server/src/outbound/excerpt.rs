//! Excerpts of what strangers sent, made safe to display.

/// How much of a response's body is kept, in bytes.
pub const EXCERPT_MAX_BYTES: usize = 1024;

/// The text without characters that move a terminal's cursor, change the direction of a line or are invisible. Line ends
/// and tabs become spaces; invalid UTF-8 becomes `U+FFFD`.
pub(super) fn printable(bytes: &[u8]) -> String {
    let whole = match std::str::from_utf8(bytes) {
        // Only a character was cut off at the end.
        Err(error) if bytes.len() >= EXCERPT_MAX_BYTES && error.error_len().is_none() => &bytes[..error.valid_up_to()],
        Ok(_) | Err(_) => bytes,
    };
    let blank = |c: char| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
    String::from_utf8_lossy(whole).chars().map(blank).filter(|c| !c.is_control() && !is_invisible(*c)).collect::<String>().trim().to_owned()
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_seen_is_left() {
        assert_eq!(printable(b"  {\"ok\":\ttrue}\r\n"), "{\"ok\": true}");
        assert_eq!(printable(b"\x1b[31mred\x1b[0m\0\x07\x7f\xc2\x9b"), "[31mred[0m");
        assert_eq!(printable("a\u{202e}b\u{200b}c\u{feff}d\u{2028}e".as_bytes()), "abcde");
        assert_eq!(printable(b"a\xffb\xe2\x82"), "a\u{fffd}b\u{fffd}");
        let mut cut = "x".repeat(EXCERPT_MAX_BYTES - 2).into_bytes();
        cut.extend_from_slice(&"€".as_bytes()[..2]);
        assert_eq!(printable(&cut), "x".repeat(EXCERPT_MAX_BYTES - 2));
    }
}
