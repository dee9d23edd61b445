//! Files that are sent: received into a file without a name, as fast as they come, and never in memory as a whole.
//!
//! Only whoever has signed the head and may use the route gets this far. Few files of each kind are received at a time.

use std::any::Any;
use std::fs::File;
use std::io::Write as _;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use http_body_util::BodyExt as _;
use hyper::http::request::Parts;
use railgate::api::{Caller, SignedBy};
use railgate::engine::{Answer, Answers, KeptUnder, Once, Signed};
use railgate::ids::ClientNo;
use railgate::validate::bundle::{BUNDLE_MAX_BYTES, ZIP};
use railgate::{Error, ErrorCode};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::authenticate::{Admitted, Head};
use super::body;
use super::extract::noted;
use super::keyed::{COST, key_of};
use super::negotiate::{self, JSON};
use super::problem::HttpError;
use super::route::Asks;
use super::{App, HttpLimits};
use crate::shares::Shares;

/// How many statements are received and used at a time.
const STATEMENTS: usize = 2;
/// How many bundles are received and read at a time, each of another client.
const BUNDLES: usize = 4;
/// How long a bundle may take to arrive.
const BUNDLE_TIME: Duration = Duration::from_secs(60);
/// How much is written at once.
const CHUNK: usize = 1024 * 1024;

/// A place among the files that are received, until it is dropped.
pub(crate) type Held = Arc<dyn Any + Send + Sync>;

/// The places for files.
pub(crate) struct Uploads {
    statements: Arc<Semaphore>,
    bundles: Shares<ClientNo>,
}

impl Default for Uploads {
    fn default() -> Self {
        Self { statements: Arc::new(Semaphore::new(STATEMENTS)), bundles: Shares::default() }
    }
}

/// A kind of file.
pub(crate) trait Kind: Send + Sync + 'static {
    /// The largest, in bytes.
    const MOST: usize;
    /// Its media types.
    const TYPES: &'static [&'static str];
    /// How long it may take to arrive.
    fn time(limits: &HttpLimits) -> Duration;
    /// A place for one more, if there is one.
    fn place(uploads: &Uploads, client: ClientNo) -> Option<Held>;
}

/// Statements of providers, which operators send.
pub(crate) struct Statements;

impl Kind for Statements {
    const MOST: usize = 256 * 1024 * 1024;
    const TYPES: &'static [&'static str] = &["text/csv", "application/xml", "text/xml", JSON];

    fn time(limits: &HttpLimits) -> Duration {
        limits.upload
    }

    fn place(uploads: &Uploads, _: ClientNo) -> Option<Held> {
        Some(Arc::new(Arc::clone(&uploads.statements).try_acquire_owned().ok()?))
    }
}

/// Bundles, which partners send.
pub(crate) struct Bundles;

impl Kind for Bundles {
    const MOST: usize = BUNDLE_MAX_BYTES;
    const TYPES: &'static [&'static str] = &[JSON, ZIP];

    fn time(_: &HttpLimits) -> Duration {
        BUNDLE_TIME
    }

    fn place(uploads: &Uploads, client: ClientNo) -> Option<Held> {
        Some(Arc::new(uploads.bundles.take(client, 1, |in_hand| in_hand.own == 0 && in_hand.all < BUNDLES).ok()?))
    }
}

/// A request with a file of the kind `K`, from a caller that meets `A`.
pub(crate) struct Uploaded<A, K = Statements> {
    /// The authenticated caller.
    pub(crate) caller: Caller,
    pub(crate) parts: Parts,
    /// The file, and its SHA-256.
    pub(crate) file: File,
    pub(crate) sha256: [u8; 32],
    /// Its place among the files.
    pub(crate) place: Held,
    /// Who signed, and with which nonce.
    pub(crate) by: SignedBy,
    key: Option<KeptUnder>,
    asked: PhantomData<(A, K)>,
}

impl<A: Asks, K: Kind> FromRequest<App> for Uploaded<A, K> {
    type Rejection = HttpError;

    async fn from_request(request: Request, app: &App) -> Result<Self, HttpError> {
        let (mut parts, body) = request.into_parts();
        let context = noted(&mut parts);
        context.set_access(A::ACCESS);
        let head = Head { parts: &parts, context: &context };
        let known = check_head::<K>(&parts).and_then(|()| {
            let proven = app.gate.prove_head(A::ACCESS, head)?;
            app.gate.check_scope(&proven, A::ACCESS)?;
            negotiate::require_one_of(&parts.headers, K::TYPES)?;
            let full = "other files are being received; nothing was done, try again";
            let place = K::place(&app.uploads, proven.caller().client);
            Ok((proven, place.ok_or_else(|| Error::with(ErrorCode::StoreUnavailable, full))?))
        });
        let (proven, place) = match known {
            Ok(known) => known,
            Err(error) => {
                body::discard(body, &parts.headers);
                return Err(error.into());
            }
        };
        let (file, sha256) = receive::<K>(body, &app.limits).await?;
        let Admitted { credential, by } = app.gate.complete_file(proven, A::ACCESS, Head { parts: &parts, context: &context }, &sha256)?;
        let caller = credential.caller;
        let content = [parts.uri.query().unwrap_or_default().as_bytes(), b"\0", &sha256].concat();
        let key = key_of(&parts, &content)?.map(|key| KeptUnder { caller, key });
        if key.is_some() {
            app.gate.count(&context, &caller, true, COST - 1)?;
        }
        Ok(Self { caller, parts, file, sha256, place, by, key, asked: PhantomData })
    }
}

impl<A, K> Uploaded<A, K> {
    /// Carries out the command that this request asks for, once for each `Idempotency-Key`.
    pub(crate) async fn once<C: Answers>(&self, app: &App, command: C) -> Result<Answer<C::Output>, Error> {
        let command = Once { key: self.key.clone(), goes_on: false, command };
        app.gateway.run(&self.caller, Signed { by: self.by.clone(), command }).await
    }

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
fn check_head<K: Kind>(parts: &Parts) -> Result<(), Error> {
    body::check_length(&parts.headers, K::MOST)?;
    negotiate::choose(&parts.headers, &[JSON])?;
    if body::is_declared(&parts.headers) { negotiate::require_one_of(&parts.headers, K::TYPES) } else { Ok(()) }
}

/// Receives a file of a kind, in its time.
async fn receive<K: Kind>(body: Body, limits: &HttpLimits) -> Result<(File, [u8; 32]), Error> {
    let late = |_| Error::with(ErrorCode::MalformedRequest, "the file did not arrive in time");
    timeout(K::time(limits), receive_body(body, limits, K::MOST)).await.map_err(late)?
}

/// Receives a body into a file.
async fn receive_body(mut body: Body, limits: &HttpLimits, most: usize) -> Result<(File, [u8; 32]), Error> {
    let mut file = tempfile::tempfile().map_err(no_room)?;
    let (mut hasher, mut length, mut chunk) = (Sha256::new(), 0usize, Vec::with_capacity(CHUNK));
    loop {
        let early = || Error::with(ErrorCode::MalformedRequest, "the body ended early or is not framed as HTTP requires");
        let late = || Error::with(ErrorCode::MalformedRequest, "the body did not arrive in time");
        let frame = timeout(limits.body_read, body.frame()).await.map_err(|_| late())?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| early())?.into_data() else { continue };
        length += data.len();
        if length > most {
            return Err(Error::with(ErrorCode::BodyTooLarge, format!("the file may have at most {most} bytes")));
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

#[cfg(test)]
mod tests {
    use futures_util::stream::unfold;
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_file_that_trickles_is_received_for_its_time_and_no_longer() {
        let limits = HttpLimits::default();
        let trickle = || {
            Body::from_stream(unfold((), |()| async {
                sleep(Duration::from_secs(1)).await;
                Some((Ok::<_, std::io::Error>("x"), ()))
            }))
        };
        let begun = Instant::now();
        let refused = receive::<Bundles>(trickle(), &limits).await.unwrap_err();
        assert_eq!((refused.code, begun.elapsed().as_secs()), (ErrorCode::MalformedRequest, 60));
        let begun = Instant::now();
        let refused = receive::<Statements>(trickle(), &limits).await.unwrap_err();
        assert_eq!((refused.code, begun.elapsed().as_secs()), (ErrorCode::MalformedRequest, 600));
    }

    #[test]
    fn a_client_sends_one_bundle_at_a_time_and_four_clients_do() {
        let uploads = Uploads::default();
        let place = |client: u32| Bundles::place(&uploads, ClientNo(client));
        let first = place(1).unwrap();
        assert!(place(1).is_none(), "it has its place");
        let others: Vec<Held> = (2..=4).map(|client| place(client).unwrap()).collect();
        assert!(place(5).is_none(), "all are taken");
        drop(first);
        assert!(place(5).is_some() && others.len() == 3);
    }

    #[test]
    fn two_statements_are_received_at_a_time() {
        let uploads = Uploads::default();
        let place = || Statements::place(&uploads, ClientNo(0));
        let (first, second) = (place().unwrap(), place().unwrap());
        assert!(place().is_none());
        drop(first);
        assert!(place().is_some());
        drop(second);
    }
}
