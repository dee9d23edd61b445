//! The transparency log of the credential's mode: its checkpoint, tiles and keys, and the proof that a settlement's last event is in
//! the log.

use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue};
use railgate::api::ProofView;
use railgate::ledger::Mode;
use railgate::log::TilePath;
use railgate::{Engine, Error, ErrorCode};
use tokio::time::sleep;

use super::App;
use super::document::{Denied, NoProof, NoTile, Unserved};
use super::extract::{Named, Open};
use super::negotiate::{JSON, choose};
use super::response::{HandlerResult, NO_STORE, ok};
use super::route::{AnyToken, ReceiptsRead, routes};
use super::settlements::{REVALIDATE, matches};
use crate::number;

const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";
/// How many times events are numbered for a caller that waits for a proof, before it has to try again.
const ROUNDS: usize = 8;
/// How often to look whether another node has numbered them.
const LOOK: Duration = Duration::from_millis(100);

routes![proof, checkpoint, keys, tile];

/// Get the proof that a settlement's last event is in the log
///
/// As JSON with each part of it, or as `text/plain` in the form of C2SP `tlog-proof`. It can be checked offline with the
/// log's key: the event's hash and the salt make the leaf, and the path leads from the leaf to the root of the signed
/// checkpoint. No later change to the event, or to any event before it, would go unnoticed.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}/receipt/proof", tag = "settlements", operation_id = "getReceiptProof",
    params(("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001")),
    responses(
        (status = 200, description = "The proof", content(
            (ProofView = "application/json"),
            (String = "text/plain", example = "c2sp.org/tlog-proof@v1\nextra …\nindex 17\n…"),
        )),
        NoProof, Denied, Unserved,
    ),
)]
pub(crate) async fn proof(State(app): State<App>, open: Open<ReceiptsRead>, named: Named) -> HandlerResult {
    let kind = choose(&open.headers, &[JSON, TEXT])?;
    let target = named.target()?.clone();
    let mut rounds = ROUNDS;
    let proof = loop {
        let target = target.clone();
        match app.gateway.scan(&open.caller, move |engine| engine.proof(&open.caller, &target)).await {
            // Events are numbered after the commit that makes them: a caller that asks at once helps with that.
            Err(error) if error.code == ErrorCode::NotLoggedYet && rounds > 0 => {
                let logged = number::step(&app.gateway).await?;
                rounds -= 1;
                // Where another node numbers them, wait for it. Otherwise try again at once: the event was numbered in between, and
                // there may be a newer one.
                if logged.events == 0 && !logged.more && logged.held_until.is_some() {
                    sleep(LOOK).await;
                }
            }
            other => break other?,
        }
    };
    if kind == TEXT { Ok(text(proof.proof)) } else { ok(&proof) }
}

/// Get the log's checkpoint
///
/// A C2SP `tlog-checkpoint` in a signed note: origin, size and root of the Merkle tree (RFC 6962) over all events of the credential's
/// mode. The sandbox and live have separate logs.
#[utoipa::path(
    get, path = "/api/v1/log/checkpoint", tag = "log", operation_id = "getLogCheckpoint",
    responses((status = 200, description = "The checkpoint", body = String, content_type = "text/plain"), Denied, Unserved),
)]
pub(crate) async fn checkpoint(State(app): State<App>, open: Open<AnyToken>) -> HandlerResult {
    choose(&open.headers, &[TEXT])?;
    Ok(text(app.gateway.scan(&open.caller, move |engine| engine.checkpoint(open.caller.mode)).await?))
}

/// Get the log's keys
///
/// The keys that sign checkpoints, or have signed them, as C2SP verifier keys, one per line, newest first. For a live credential, which
/// also reads sandbox settlements, those of the sandbox's log follow.
#[utoipa::path(
    get, path = "/api/v1/log/keys", tag = "log", operation_id = "listLogKeys",
    responses((status = 200, description = "The keys", body = String, content_type = "text/plain"), Denied, Unserved),
)]
pub(crate) async fn keys(State(app): State<App>, open: Open<AnyToken>) -> HandlerResult {
    choose(&open.headers, &[TEXT])?;
    let modes: &[Mode] = if open.caller.mode.is_sandbox() { &[Mode::Sandbox] } else { &[Mode::Live, Mode::Sandbox] };
    let read = move |engine: &Engine| modes.iter().map(|mode| engine.log_keys(*mode)).collect::<Result<Vec<_>, Error>>();
    let keys = app.gateway.scan(&open.caller, read).await?.concat();
    Ok(text(keys.iter().map(|key| format!("{key}\n")).collect()))
}

/// Get a tile of the log
///
/// As specified by C2SP `tlog-tiles`: `<L>/<N>[.p/<W>]` are the hashes of level L, `entries/<N>[.p/<W>]` the leaves. A leaf
/// is a salted commitment to an event and reveals nothing about it without the salt.
#[utoipa::path(
    get, path = "/api/v1/log/tile/{*tile}", tag = "log", operation_id = "getLogTile",
    params(
        ("tile" = String, Path, description = "The tile's path, which contains slashes", example = "0/x001/x234/067.p/8"),
        ("If-None-Match" = Option<String>, Header, description = "An `ETag`", example = "\"sandbox-1\""),
    ),
    responses(
        (status = 200, description = "The tile", body = Vec<u8>, content_type = "application/octet-stream", headers(("ETag" = String, description = "The log and its epoch"))),
        (status = 304, description = "Unchanged since the `ETag` in `If-None-Match`"),
        NoTile, Denied, Unserved,
    ),
)]
pub(crate) async fn tile(State(app): State<App>, open: Open<AnyToken>, Path(tile): Path<String>) -> HandlerResult {
    choose(&open.headers, &[BYTES])?;
    let none = || Error::new(ErrorCode::TileNotFound);
    let path = TilePath::parse(&format!("tile/{tile}")).ok_or_else(none)?;
    let read = move |engine: &Engine| Ok::<_, Error>((engine.epoch()?, engine.log_tile(open.caller.mode, &path)?));
    let (epoch, bytes) = app.gateway.scan(&open.caller, read).await?;
    let bytes = bytes.ok_or_else(none)?;
    // A tile of this width never changes, until a backup is restored and the next epoch begins.
    let tag = format!("\"{}-{epoch}\"", open.caller.mode.as_str());
    let mut response = if matches(&open.headers, &tag) { StatusCode::NOT_MODIFIED.into_response() } else { bytes.into_response() };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(BYTES));
    headers.insert(CACHE_CONTROL, REVALIDATE);
    headers.insert(ETAG, HeaderValue::try_from(tag).map_err(Error::internal)?);
    Ok(response)
}

fn text(body: String) -> Response {
    let mut response = (StatusCode::OK, body).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, NO_STORE);
    response
}
