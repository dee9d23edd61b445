//! Receipts, in the form that the caller prefers.

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{StatusCode, Uri};
use railgate::api::ReceiptView;
use railgate::error::FieldProblem;
use railgate::receipt::{Drawing, Level, Receipt, content_security_policy};
use railgate::{Error, Result};

use super::App;
use super::document::{BadQuery, Denied, NoReceipt, Unserved};
use super::extract::{Named, Open, Params};
use super::negotiate::{JSON, choose};
use super::response::{HandlerResult, ok, with_text};
use super::route::{OwnReceipts, routes};
use super::settlements::{REVALIDATE, matches};

const JOSE: &str = "application/jose";
const HTML: &str = "text/html";
pub(super) const PDF: &str = "application/pdf";
const SVG: &str = "image/svg+xml";
const TEXT: &str = "text/plain";
/// The most characters of an alternative text.
const TITLE_MAX: usize = 256;
/// The forms on offer, most preferred first.
const FORMS: &[&str] = if cfg!(feature = "pdf") { &[JSON, JOSE, HTML, PDF, SVG, TEXT] } else { &[JSON, JOSE, HTML, SVG, TEXT] };

routes![read];

/// Get a settlement's receipt
///
/// Available once the settlement is completed. Depending on `Accept`: JSON, the compact JWS alone, a page to print, that
/// page as PDF, the QR code of the JWS, or plain text. The QR code is drawn as `size`, `margin`, `level` and `title` say. The JWS can be
/// checked offline by any JOSE library with the keys at `/.well-known/jwks.json`. A reversal or a return makes a new receipt, which names
/// the previous one in `supersedes`.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}/receipt", tag = "settlements", operation_id = "getReceipt",
    params(
        ("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001"),
        ("size" = Option<u32>, Query, description = "Of `image/svg+xml`: its side in pixels; four a module by default", minimum = 1, maximum = 16_384),
        ("margin" = Option<usize>, Query, description = "Of `image/svg+xml`: light modules around the code, 4 by default", maximum = 64),
        ("level" = Option<String>, Query, description = "Of `image/svg+xml`: how much of the code may be damaged: `L` (7 %, the default), `M` (15 %), `Q` (25 %), `H` (30 %)", pattern = "^[LMQH]$"),
        ("title" = Option<String>, Query, description = "Of `image/svg+xml`: the alternative text, by default the receipt's id", max_length = 256),
        ("If-None-Match" = Option<String>, Header, description = "An `ETag`", example = "\"5-kPrK_qmx-json\""),
    ),
    responses(
        (status = 200, description = "The receipt", headers(("ETag" = String, description = "Changes with the receipt, its key and its form")), content(
            (ReceiptView = "application/json"),
            (String = "application/jose", example = "eyJhbGciOiJFUzI1NiIs….eyJpc3MiOiJodHRwczov….c2lnbmF0dXJl…"),
            (String = "text/html", example = "<!DOCTYPE html>…"),
            (Paper = "application/pdf"),
            (String = "image/svg+xml", example = "<svg …>…</svg>"),
            (String = "text/plain", example = "Payment receipt\n…"),
        )),
        (status = 304, description = "Unchanged since the `ETag` in `If-None-Match`"),
        BadQuery, NoReceipt, Denied, Unserved,
    ),
)]
pub(crate) async fn read(State(app): State<App>, open: Open<OwnReceipts>, named: Named) -> HandlerResult {
    let form = choose(&open.headers, FORMS)?;
    let image = Image::read(form, &open.uri)?;
    let target = named.target()?.clone();
    let receipt = app.gateway.scan(&open.caller, move |engine| engine.receipt(&open.caller, &target)).await?;
    let key = receipt.key_id.to_string();
    // The query is part of the address to which a tag belongs.
    let tag = format!("\"{}-{}-{}\"", receipt.claims.ev.n, &key[..8], ending(form));
    let mut response =
        if matches(&open.headers, &tag) { StatusCode::NOT_MODIFIED.into_response() } else { answer(form, receipt, &image).await? };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, REVALIDATE);
    headers.insert(VARY, HeaderValue::from_static("accept, authorization"));
    with_text(response, ETAG, tag)
}

/// How the QR code is drawn.
#[derive(Default)]
struct Image {
    drawing: Drawing,
    title: Option<String>,
}

impl Image {
    /// What the query says. Other forms take no parameters.
    fn read(form: &str, uri: &Uri) -> Result<Self> {
        let mut params = Params::of(uri)?;
        let mut image = Self::default();
        if form == SVG {
            let Drawing { level, margin, size } = image.drawing;
            image.drawing = Drawing {
                level: params.choice("level", &Level::ALL, Level::as_str).unwrap_or(level),
                margin: params.number("margin", 0..=Drawing::MARGIN_MAX).unwrap_or(margin),
                size: params.number("size", 1..=Drawing::SIZE_MAX).or(size),
            };
            image.title = params.text("title");
        }
        params.finish()?;
        match &image.title {
            Some(title) if title.chars().count() > TITLE_MAX => {
                let message = format!("title must have at most {TITLE_MAX} characters");
                Err(Error::invalid(vec![FieldProblem::new("title", "too_long", message)]))
            }
            Some(_) | None => Ok(image),
        }
    }
}

/// An A4 document.
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct Paper(Vec<u8>);

/// The file name extension of a form.
fn ending(form: &str) -> &'static str {
    match form {
        JOSE => "jws",
        HTML => "html",
        PDF => "pdf",
        SVG => "svg",
        TEXT => "txt",
        _ => "json",
    }
}

/// The receipt in this form.
async fn answer(form: &str, receipt: Receipt, image: &Image) -> HandlerResult {
    // A reference has no characters that need quoting.
    let name = format!("inline; filename=\"receipt-{}.{}\"", receipt.claims.reference, ending(form));
    let (content, body) = match form {
        JOSE => (JOSE, Body::from(receipt.jws)),
        HTML => ("text/html; charset=utf-8", Body::from(receipt.html())),
        #[cfg(feature = "pdf")]
        PDF => (PDF, Body::from(crate::pdf::drawn(receipt).await?)),
        SVG => (SVG, Body::from(receipt.drawn_as(image.drawing, image.title.as_deref())?)),
        TEXT => ("text/plain; charset=utf-8", Body::from(receipt.text())),
        _ => return ok(&receipt.view()),
    };
    let mut response = Response::new(body);
    let mut set = |name: HeaderName, value: &'static str| drop(response.headers_mut().insert(name, HeaderValue::from_static(value)));
    set(CONTENT_TYPE, content);
    // The receipt contains text by others: its type must not be guessed.
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    let response = with_text(response, CONTENT_SECURITY_POLICY, content_security_policy())?;
    with_text(response, CONTENT_DISPOSITION, name)
}
