//! What the binary contains compressed, because it is rarely needed: `build.rs` packs it.

use std::io::Read as _;

use flate2::read::DeflateDecoder;

/// The bytes of a packed file, to be unpacked.
macro_rules! packed {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".deflate"))
    };
}

pub(crate) use packed;

/// `None` if `build.rs` packed something else, which tests rule out.
pub(crate) fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    DeflateDecoder::new(bytes).read_to_end(&mut whole).ok()?;
    Some(whole)
}
