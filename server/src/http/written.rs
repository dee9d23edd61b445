//! The OpenAPI document as the tests have seen it, without the code that writes it, which is larger by more than a megabyte: what a release
//! serves. It marks the routes as deprecated that this version deprecates, whatever the settings of a host.

use crate::packed::{packed, unpacked};

const SERVER: &str = r#"{"url": "/"}"#;

/// See [`super::document::described`].
pub(super) fn written(public_url: Option<&str>) -> Option<Vec<u8>> {
    let document = String::from_utf8(unpacked(packed!("openapi.json"))?).ok()?;
    let server = format!(r#"{{"url": {}}}"#, serde_json::to_string(public_url.unwrap_or("/")).ok()?);
    Some(document.replacen(SERVER, &server, 1).into_bytes())
}

#[cfg(test)]
#[cfg(feature = "pdf")]
mod tests {
    use super::*;

    #[test]
    fn a_release_serves_the_document_of_the_routes() {
        for url in [None, Some("https://pay.example.com"), Some("https://\"quoted\".example")] {
            let written: serde_json::Value = serde_json::from_slice(&written(url).unwrap()).unwrap();
            assert_eq!(written, serde_json::to_value(crate::http::document(url)).unwrap());
        }
    }
}
