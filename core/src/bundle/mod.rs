//! Bundles: what partners describe. The schema of their manifests, how two revisions differ, and the digest that is signed for.
//!
//! ```
//! use railgate::bundle::{changes, digest_of};
//!
//! let (one, other) = (r#"{"limits": {"KES": {"max": 100}}}"#, r#"{"limits": {"KES": {"max": 250}}, "countries": ["KE"]}"#);
//! let changes: Vec<_> = changes(one, other).into_iter().map(|it| (it.pointer, it.before.map(|raw| raw.get().to_owned()))).collect();
//! let expected = [("/manifest/countries", None), ("/manifest/limits/KES/max", Some("100".to_owned()))];
//! assert_eq!(changes, expected.map(|(pointer, before)| (pointer.to_owned(), before)));
//!
//! // The digest is that of what `sha256sum manifest.json licence.pdf` prints.
//! let documents = [("licence.pdf", &b"%PDF"[..])];
//! assert_ne!(digest_of(one, documents), digest_of(other, documents));
//! ```

mod diff;
mod schema;

use sha2::{Digest as _, Sha256};

use crate::store::record::Digest32;
use crate::trace::hex;
use crate::validate::bundle::MANIFEST;

pub use diff::changes;
pub use schema::schema;

/// The digest of a revision: SHA-256 over the lines that `sha256sum` prints of its manifest, and of its documents in order of their names.
pub fn digest_of<'a>(manifest: &str, documents: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Digest32 {
    let mut documents: Vec<_> = documents.into_iter().collect();
    documents.sort_unstable();
    let files = std::iter::once((MANIFEST, manifest.as_bytes())).chain(documents);
    let mut whole = Sha256::new();
    for (name, content) in files {
        whole.update(format!("{}  {name}\n", hex(&Sha256::digest(content))));
    }
    whole.finalize().into()
}

/// An example of a bundle, complete, as the documentation has it.
pub const EXAMPLE: &str = include_str!("example.json");
