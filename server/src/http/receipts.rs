//! Receipts, in whichever form the caller likes.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, VARY, X_CONTENT_TYPE_OPTIONS,
};
use railgate::api::ReceiptView;
use railgate::receipt::{Receipt, content_security_policy};
use railgate::{Error, Result};
use tokio::sync::Semaphore;

use crate::pdf::pdf;

use super::App;
use super::answer::{Answer, ok, with_text};
use super::call::{Named, Open};
use super::document::{Denied, NoReceipt, Unserved};
use super::negotiate::{JSON, choose};
use super::settlements::{REVALIDATE, matches};

const JOSE: &str = "application/jose";
const HTML: &str = "text/html";
const PDF: &str = "application/pdf";
const SVG: &str = "image/svg+xml";
const TEXT: &str = "text/plain";

/// Get a settlement's receipt
///
/// Once it is completed. By `Accept`: JSON, the compact JWS alone, a page to print, the same as PDF, the QR code of the JWS,
/// or plain text. The JWS can be checked offline by any JOSE library with the keys at `/.well-known/jwks.json`. A reversal or a
/// return makes a new receipt, which names the one before in `supersedes`.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}/receipt", tag = "settlements", operation_id = "getReceipt",
    params(
        ("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001"),
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
        (status = 304, description = "Still what `If-None-Match` names"),
        NoReceipt, Denied, Unserved,
    ),
)]
pub(crate) async fn read(State(app): State<App>, open: Open, named: Named) -> Answer {
    let form = Form::of(choose(&open.headers, &[JSON, JOSE, HTML, PDF, SVG, TEXT])?);
    let target = named.target()?.clone();
    let receipt = app.gateway.scan(move |engine| engine.receipt(&open.caller, &target)).await?;
    let key = receipt.key_id.to_string();
    let tag = format!("\"{}-{}-{}\"", receipt.claims.ev.n, &key[..8], form.ending());
    let mut answer = if matches(&open.headers, &tag) { StatusCode::NOT_MODIFIED.into_response() } else { form.answer(receipt).await? };
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, REVALIDATE);
    headers.insert(VARY, HeaderValue::from_static("accept, authorization"));
    with_text(answer, ETAG, tag)
}

/// A document; A4.
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct Paper(Vec<u8>);

/// A representation.
#[derive(Debug, Clone, Copy)]
enum Form {
    Json,
    Jose,
    Html,
    Pdf,
    Svg,
    Text,
}

impl Form {
    fn of(kind: &str) -> Self {
        match kind {
            JOSE => Self::Jose,
            HTML => Self::Html,
            PDF => Self::Pdf,
            SVG => Self::Svg,
            TEXT => Self::Text,
            _ => Self::Json,
        }
    }

    /// Of a file's name.
    fn ending(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Jose => "jws",
            Self::Html => "html",
            Self::Pdf => "pdf",
            Self::Svg => "svg",
            Self::Text => "txt",
        }
    }

    async fn answer(self, receipt: Receipt) -> Result<Response, super::problem::Failure> {
        // A reference has nothing in it that would have to be quoted.
        let name = format!("inline; filename=\"receipt-{}.{}\"", receipt.claims.reference, self.ending());
        let (content, body) = match self {
            Self::Json => return ok(&receipt.view()),
            Self::Jose => (JOSE, Body::from(receipt.jws)),
            Self::Html => ("text/html; charset=utf-8", Body::from(receipt.html())),
            Self::Pdf => (PDF, Body::from(drawn(receipt).await?)),
            Self::Svg => (SVG, Body::from(receipt.svg()?)),
            Self::Text => ("text/plain; charset=utf-8", Body::from(receipt.text())),
        };
        let mut response = Response::new(body);
        let mut set = |name: HeaderName, value: &'static str| drop(response.headers_mut().insert(name, HeaderValue::from_static(value)));
        set(CONTENT_TYPE, content);
        // It holds the words of others: what it is must not be guessed.
        set(X_CONTENT_TYPE_OPTIONS, "nosniff");
        let response = with_text(response, CONTENT_SECURITY_POLICY, content_security_policy())?;
        with_text(response, CONTENT_DISPOSITION, name)
    }
}

/// A receipt as PDF, drawn beside the threads that carry requests, two at a time: it takes some milliseconds, and some
/// megabytes where a font of the system is needed. A caller who leaves does not stop the drawing, so it keeps its place.
async fn drawn(receipt: Receipt) -> Result<Vec<u8>> {
    static AT_ONCE: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(2)));
    let permit = Arc::clone(&AT_ONCE).acquire_owned().await.map_err(Error::internal)?;
    let drawing = tokio::task::spawn_blocking(move || {
        let drawn = pdf(&receipt);
        drop(permit);
        drawn
    });
    drawing.await.map_err(Error::internal)?
}
