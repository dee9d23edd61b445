//! The pages that a problem's `type` links to: one per error code, and a list of all codes. Their texts are in the core,
//! next to the codes; here they become HTML: in the frame of the documentation if this server has it, else a page without scripts, fonts
//! or images.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use railgate::error::Category;
use railgate::{Error, ErrorCode};
use sha2::{Digest as _, Sha256};

use super::App;
use super::document::NoPage;
use super::extract::Noted;
use super::response::{HandlerResult, with, with_text};
use super::route::routes;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{max-width:42rem;margin:0 auto;padding:2rem 1rem;font:16px/1.55 system-ui,sans-serif}\
h1{font-size:1.375rem;line-height:1.3}h2{margin:1.5rem 0 .25rem;font-size:1rem}p{margin:0 0 .5rem}\
table{width:100%;border-collapse:collapse}\
th,td{padding:.3rem .75rem .3rem 0;border-bottom:1px solid #8884;text-align:start;vertical-align:baseline;font-weight:400}\
code{font:.9em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}";

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
});

routes![list, page];

/// Every error code, as a page for people
#[utoipa::path(
    get, path = "/docs/problems", tag = "service", operation_id = "problems", security(()),
    responses((status = 200, description = "A page with every code", content_type = "text/html", body = String)),
)]
pub(crate) async fn list(State(app): State<App>, _: Noted) -> HandlerResult {
    let mut body = String::from("<h1>Error codes</h1>\n<table>\n<tbody>\n");
    let mut codes = ErrorCode::ALL.to_vec();
    codes.sort_by_key(|code| code.http_status());
    for code in codes {
        let (name, status, title) = (code.as_str(), code.http_status(), escape(code.title()));
        let _ = writeln!(body, "<tr><td>{status}</td><td><a href=\"{}\"><code>{name}</code></a><br>{title}</td></tr>", code.uri());
    }
    body.push_str("</tbody>\n</table>\n");
    html(&app, "Error codes", &body)
}

/// What an error code means and what to do about it, as a page for people
///
/// The `type` of a problem is the address of this page, relative to the server.
#[utoipa::path(
    get, path = "/docs/problems/{code}", tag = "service", operation_id = "problem", security(()),
    params(("code" = String, Path, description = "An error code", example = "reference_conflict")),
    responses((status = 200, description = "A page about the code", content_type = "text/html", body = String), NoPage),
)]
pub(crate) async fn page(State(app): State<App>, _: Noted, uri: Uri) -> HandlerResult {
    let name = uri.path().rsplit('/').next().unwrap_or_default();
    let unknown = || Error::with(ErrorCode::RouteNotFound, format!("there is no such error code; {} lists them all", ErrorCode::DOCS));
    let code = ErrorCode::parse(name).ok_or_else(unknown)?;
    let retry = if code.retryable() {
        "Yes: it is safe and useful to send the same request again, after the pause in Retry-After or a short one of your choice. \
         The problem's `retryable` member decides: it is false if the request could be carried out twice."
    } else {
        "Not unchanged: the same request would fail in the same way, or could be carried out twice."
    };
    let body = format!(
        "<h1>{title}</h1>\n<p><code>{name}</code> · HTTP status {status} · {category}</p>\n\
         <h2>What it means</h2>\n<p>{meaning}</p>\n<h2>What to do</h2>\n<p>{advice}</p>\n<h2>Retry?</h2>\n<p>{retry}</p>\n\
         <p><a href=\"{all}\">All error codes</a></p>\n",
        title = escape(code.title()),
        status = code.http_status(),
        category = family(code.category()),
        meaning = marked(code.meaning()),
        advice = marked(code.advice()),
        retry = marked(retry),
        all = ErrorCode::DOCS,
    );
    html(&app, name, &body)
}

fn family(category: Category) -> &'static str {
    match category {
        Category::Validation => "the request is wrong",
        Category::Authorisation => "the caller may not do this",
        Category::Identification => "something does not exist",
        Category::BusinessRule => "the current state does not allow it",
        Category::ServiceUnavailable => "temporary",
        Category::Internal => "a fault in the gateway",
    }
}

fn html(app: &App, title: &str, body: &str) -> HandlerResult {
    // At most the lifetime of the challenge that comes with every response.
    let response = framed(app, title, body).unwrap_or_else(|| alone(title, body))?;
    with(response, CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"))
}

#[cfg(feature = "console")]
fn framed(app: &App, title: &str, body: &str) -> Option<HandlerResult> {
    if app.sites { super::site::problem(title, body) } else { None }
}

#[cfg(not(feature = "console"))]
fn framed(_: &App, _: &str, _: &str) -> Option<HandlerResult> {
    None
}

fn alone(title: &str, body: &str) -> HandlerResult {
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} · railgate</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    );
    let response = with(Response::new(Body::from(page)), CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))?;
    let response = with(response, X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))?;
    with_text(response, CONTENT_SECURITY_POLICY, POLICY.clone())
}

/// Escapes text, and marks up as code what is in backticks.
fn marked(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(n, part)| if n % 2 == 0 { escape(part) } else { format!("<code>{}</code>", escape(part)).into() }).collect()
}

/// Escapes text for an element's content; all of it is the gateway's own.
fn escape(text: &str) -> Cow<'_, str> {
    if text.contains(['&', '<']) { text.replace('&', "&amp;").replace('<', "&lt;").into() } else { text.into() }
}
