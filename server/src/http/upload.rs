//! Files that are sent: received into a file without a name, as fast as they come, and never in memory as a whole.
//!
//! Only whoever has signed the head and may use the route gets this far. Two files are received at a time.

use std::fs::File;
use std::io::Write as _;
use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use http_body_util::BodyExt as _;
use hyper::http::request::Parts;
use railgate::api::{Caller, SignedBy};
use railgate::engine::{Answer, Answers, KeptUnder, Once};
use railgate::{Error, ErrorCode};
use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::App;
use super::authenticate::{Admitted, Head};
use super::body;
use super::extract::noted;
use super::keyed::{COST, key_of};
use super::negotiate::{self, JSON};
use super::problem::HttpError;
use super::route::Asks;

/// The largest file, in bytes.
pub(crate) const FILE: usize = 256 * 1024 * 1024;
/// How many are received and used at a time.
const AT_A_TIME: usize = 2;
/// How much is written at once.
const CHUNK: usize = 1024 * 1024;
/// The types of statements.
const TYPES: [&str; 4] = ["text/csv", "application/xml", "text/xml", JSON];

/// The places for files.
pub(crate) struct Uploads(Arc<Semaphore>);

impl Default for Uploads {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_A_TIME)))
    }
}

/// A request with a file, from a caller that meets `A`.
pub(crate) struct Uploaded<A> {
    /// The authenticated caller.
    pub(crate) caller: Caller,
    pub(crate) parts: Parts,
    /// The file, and its SHA-256.
    pub(crate) file: File,
    pub(crate) sha256: [u8; 32],
    /// Its place among the files.
    pub(crate) place: Arc<OwnedSemaphorePermit>,
    /// Who signed, and with which nonce.
    pub(crate) by: SignedBy,
    key: Option<KeptUnder>,
    asked: PhantomData<A>,
}

impl<A: Asks> FromRequest<App> for Uploaded<A> {
    type Rejection = HttpError;

    async fn from_request(request: Request, app: &App) -> Result<Self, HttpError> {
        let (mut parts, body) = request.into_parts();
        let context = noted(&mut parts);
        context.set_access(A::ACCESS);
        let head = Head { parts: &parts, context: &context };
        let known = check_head(&parts).and_then(|()| {
            let proven = app.gate.prove_head(A::ACCESS, head)?;
            app.gate.check_scope(&proven, A::ACCESS)?;
            app.gate.check_quota(&proven, head)?;
            negotiate::require_one_of(&parts.headers, &TYPES)?;
            let full = "other files are being received; nothing was done, try again";
            let place = Arc::clone(&app.uploads.0).try_acquire_owned();
            Ok((proven, place.map_err(|_| Error::with(ErrorCode::StoreUnavailable, full))?))
        });
        let (proven, place) = match known {
            Ok(known) => known,
            Err(error) => {
                body::discard(body, &parts.headers);
                return Err(error.into());
            }
        };
        let received = match timeout(app.limits.upload, receive(body, app)).await {
            Ok(received) => received?,
            Err(_) => return Err(Error::with(ErrorCode::MalformedRequest, "the file did not arrive in time").into()),
        };
        let (file, sha256) = received;
        let Admitted { credential, by } = app.gate.complete_file(proven, A::ACCESS, Head { parts: &parts, context: &context }, &sha256)?;
        let caller = credential.caller;
        let content = [parts.uri.query().unwrap_or_default().as_bytes(), b"\0", &sha256].concat();
        let key = key_of(&parts, &content)?.map(|key| KeptUnder { caller, key });
        if key.is_some() {
            app.gate.count(&context, &caller, true, COST - 1)?;
        }
        Ok(Self { caller, parts, file, sha256, place: Arc::new(place), by, key, asked: PhantomData })
    }
}

impl<A> Uploaded<A> {
    /// The answer that is kept under the call's `Idempotency-Key`.
    pub(crate) async fn kept(&self, app: &App) -> Result<Option<Answer<()>>, Error> {
        match &self.key {
            Some(key) => app.gateway.read(&self.caller, |engine| engine.kept_answer(key)).await,
            None => Ok(None),
        }
    }

    /// Keeps the answer of the last step under the call's `Idempotency-Key`, if it has one.
    pub(crate) async fn keep<C: Answers>(&self, app: &App, step: C) -> Result<(), Error> {
        match &self.key {
            Some(key) => {
                let once = Once { key: Some(key.clone()), goes_on: false, command: step };
                app.gateway.run(&self.caller, once).await.map(drop)
            }
            None => Ok(()),
        }
    }
}

/// Checks what a head says about the two bodies.
fn check_head(parts: &Parts) -> Result<(), Error> {
    body::check_length(&parts.headers, FILE)?;
    negotiate::choose(&parts.headers, &[JSON])?;
    if body::is_declared(&parts.headers) { negotiate::require_one_of(&parts.headers, &TYPES) } else { Ok(()) }
}

/// Receives a body into a file.
async fn receive(mut body: Body, app: &App) -> Result<(File, [u8; 32]), Error> {
    let mut file = tempfile::tempfile().map_err(no_room)?;
    let (mut hasher, mut length, mut chunk) = (Sha256::new(), 0usize, Vec::with_capacity(CHUNK));
    loop {
        let early = || Error::with(ErrorCode::MalformedRequest, "the body ended early or is not framed as HTTP requires");
        let late = || Error::with(ErrorCode::MalformedRequest, "the body did not arrive in time");
        let frame = timeout(app.limits.body_read, body.frame()).await.map_err(|_| late())?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| early())?.into_data() else { continue };
        length += data.len();
        if length > FILE {
            return Err(Error::with(ErrorCode::BodyTooLarge, format!("a statement may have at most {FILE} bytes")));
        }
        hasher.update(&data);
        chunk.extend_from_slice(&data);
        if chunk.len() >= CHUNK {
            (file, chunk) = written(file, chunk).await?;
        }
    }
    let (file, _) = written(file, chunk).await?;
    Ok((file, hasher.finalize().into()))
}

/// Writes a part of a file on a thread that may block.
async fn written(mut file: File, mut chunk: Vec<u8>) -> Result<(File, Vec<u8>), Error> {
    let write = move || {
        file.write_all(&chunk)?;
        chunk.clear();
        Ok((file, chunk))
    };
    tokio::task::spawn_blocking(write).await.map_err(Error::internal)?.map_err(no_room)
}

fn no_room(cause: std::io::Error) -> Error {
    Error::caused(ErrorCode::StoreUnavailable, cause)
}
