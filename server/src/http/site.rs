//! The browser sites: `/console` for clients and operators, `/docs` for everyone. `scripts/web.sh` builds them, `build.rs` embeds
//! them compressed. A build without them answers with a page that says how to make one with them.

use std::collections::HashMap;
use std::io::Read as _;
use std::sync::LazyLock;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{StatusCode, Uri};
use railgate::{Error, ErrorCode};
use sha2::{Digest as _, Sha256};

use super::App;
use super::extract::Noted;
use super::negotiate::takes_encoding;
use super::problem::HttpError;
use super::response::{HandlerResult, Kept, with_text};

/// Every file of the sites: its path, and its content compressed with Brotli.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/site_files.rs"));

/// Where files are whose names change with their content.
const IMMUTABLE: &str = "console/assets/";

/// Scripts, styles and calls of this server only; no inline script or style, and no text that becomes script or markup.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; \
    connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// Passkeys lock keys of the console; nothing else that asks a reader for leave is used.
const PERMISSIONS: &str = "publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), \
    geolocation=(), payment=(), usb=(), serial=(), hid=(), bluetooth=()";

/// On every response of the sites.
const PROTECTION: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

const MISSING: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>railgate</title>\n</head>\n<body>\n\
    <main>\n<h1>This build has no browser sites</h1>\n<p>Run <code>scripts/web.sh</code> in the source folder (it needs Node), then build \
    the server again. The interface under <code>/api/v1</code> works without them.</p>\n</main>\n</body>\n</html>\n";

/// A file, ready to be sent.
struct File {
    compressed: &'static [u8],
    tag: String,
}

static BY_PATH: LazyLock<HashMap<&'static str, File>> = LazyLock::new(|| {
    let file = |&(path, compressed): &(&'static str, &'static [u8])| {
        let hash = Sha256::digest(compressed);
        let short: String = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        (path, File { compressed, tag: format!("\"{short}\"") })
    };
    FILES.iter().map(file).collect()
});

/// Adds both sites to the router. They are not part of the interface: the OpenAPI document has none of their files.
pub(super) fn served(router: Router<App>) -> Router<App> {
    if FILES.is_empty() {
        tracing::info!("this build has no browser sites; scripts/web.sh builds them, and --console off ends this message");
    }
    let (console, docs) = (get(console), get(docs));
    let router = router.route("/console", console.clone()).route("/console/", console.clone()).route("/console/{*path}", console);
    router.route("/docs", docs.clone()).route("/docs/", docs.clone()).route("/docs/{*path}", docs)
}

/// Every view of the console has an address of its own, and the same page.
async fn console(_: Noted, uri: Uri, headers: HeaderMap) -> HandlerResult {
    answer(&uri, &headers, |_| (StatusCode::OK, "console/index.html".to_owned()))
}

/// Every text has a page, without the ending of its file; the reference is one page, whose script reads the rest of the address.
async fn docs(_: Noted, uri: Uri, headers: HeaderMap) -> HandlerResult {
    answer(&uri, &headers, |path| match path.trim_end_matches('/') {
        "docs" => (StatusCode::OK, "docs/index.html".to_owned()),
        page if BY_PATH.contains_key(format!("{page}.html").as_str()) => (StatusCode::OK, format!("{page}.html")),
        page if page.starts_with("docs/api/") => (StatusCode::OK, "docs/api.html".to_owned()),
        _ => (StatusCode::NOT_FOUND, "docs/not-found.html".to_owned()),
    })
}

/// Where the page about an error code has its title and its text.
const PROBLEM_PLACES: [&str; 2] = ["{{title}}", "{{problem}}"];

/// A page about error codes in the frame of the documentation; `None` if this build has no sites.
pub(super) fn problem(title: &str, body: &str) -> Option<HandlerResult> {
    static FRAME: LazyLock<Option<String>> = LazyLock::new(|| String::from_utf8(plain(BY_PATH.get("problem.html")?).ok()?).ok());
    let [title_place, body_place] = PROBLEM_PLACES;
    let page = FRAME.as_ref()?.replace(title_place, title).replace(body_place, body);
    Some(protected(([(CONTENT_TYPE, media_type("problem.html"))], page).into_response()))
}

/// The file at this address, or what `otherwise` names.
fn answer(uri: &Uri, headers: &HeaderMap, otherwise: impl Fn(&str) -> (StatusCode, String)) -> HandlerResult {
    let path = uri.path().trim_start_matches('/');
    if FILES.is_empty() {
        return protected((StatusCode::NOT_FOUND, [(CONTENT_TYPE, "text/html; charset=utf-8")], MISSING).into_response());
    }
    let immutable = path.starts_with(IMMUTABLE);
    // A page of an older build asks for files that are gone: it must not get a page in their place.
    let (status, name) = match BY_PATH.contains_key(path) {
        true => (StatusCode::OK, path.to_owned()),
        false if immutable => return Err(HttpError::from(ErrorCode::RouteNotFound)),
        false => otherwise(path),
    };
    let file = BY_PATH.get(name.as_str()).ok_or(HttpError::from(ErrorCode::RouteNotFound))?;
    let unchanged = status == StatusCode::OK
        && headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).is_some_and(|tags| tags.contains(&file.tag));
    let mut response = if unchanged { StatusCode::NOT_MODIFIED.into_response() } else { content(&name, file, headers)? };
    if status != StatusCode::OK {
        *response.status_mut() = status;
    }
    let caching = if immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
    protected(with_text(response, ETAG, file.tag.clone())?)
}

/// The content as the caller takes it.
fn content(name: &str, file: &File, headers: &HeaderMap) -> HandlerResult {
    let mut response = if takes_encoding(headers, "br") {
        let mut response = Response::new(Body::from(Bytes::from_static(file.compressed)));
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
        response.extensions_mut().insert(Kept);
        response
    } else {
        Response::new(Body::from(plain(file)?))
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    Ok(response)
}

fn plain(file: &File) -> Result<Vec<u8>, Error> {
    let mut plain = Vec::new();
    brotli_decompressor::Decompressor::new(file.compressed, 4_096).read_to_end(&mut plain).map_err(Error::internal)?;
    Ok(plain)
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn protected(mut response: Response) -> HandlerResult {
    for (name, value) in PROTECTION {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}
