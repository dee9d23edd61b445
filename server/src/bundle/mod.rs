//! Bundles as they are sent: as JSON, or as an archive.

pub(crate) mod archive;

use railgate::validate::bundle::{BundleContent, parse_bundle};
use railgate::{Error, Result};

/// The media type of archives.
pub(crate) const ZIP: &str = "application/zip";

/// Reads a bundle that was sent with this media type.
///
/// # Errors
/// `malformed_json`, `invalid_fields`, `bundle_unusable`.
pub(crate) fn read(media_type: &str, body: &[u8]) -> Result<BundleContent> {
    if media_type == ZIP { archive::unpack(body) } else { parse_bundle(body) }
}

impl From<archive::Unusable> for Error {
    fn from(why: archive::Unusable) -> Self {
        why.into_error()
    }
}
