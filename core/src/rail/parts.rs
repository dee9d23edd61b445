//! Parts of requests that several protocols have.

use sha2::{Digest as _, Sha256};

/// A text as one segment of a path, or as a value of a form.
pub(super) fn segment(text: &str) -> String {
    use std::fmt::Write as _;

    // Alone, these would be steps within the path.
    let is_step = matches!(text, "." | "..");
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') || (byte == b'.' && !is_step) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// The id of an attempt or a reversal at operators that want a UUID (RFC 9562): always the same for a key, and another for each
/// `purpose`.
pub(super) fn uuid(purpose: &str, rail_key: &str, version: u8) -> String {
    let digest = Sha256::new().chain_update(purpose).chain_update(b"\0").chain_update(rail_key).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = base16ct::lower::encode_string(&bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_one() {
        for (text, segment_of_it) in
            [("a.b-c_d~e", "a.b-c_d~e"), ("a/b c", "a%2Fb%20c"), ("..", "%2E%2E"), (".", "%2E"), ("é?#%", "%C3%A9%3F%23%25")]
        {
            assert_eq!(segment(text), segment_of_it);
        }
    }

    #[test]
    fn an_id_has_its_version_and_variant_and_is_of_its_key_and_purpose() {
        let id = uuid("one", "key-1", 8);
        assert_eq!((id.len(), &id[14..15], "89ab".contains(&id[19..20])), (36, "8", true));
        assert_eq!(uuid("one", "key-1", 8), id);
        assert!([uuid("two", "key-1", 8), uuid("one", "key-2", 8), uuid("one", "key-1", 4)].iter().all(|other| *other != id));
    }
}
