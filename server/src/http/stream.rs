//! Streams of events (Server-Sent Events): of one settlement, or of all that happens to a client.
//!
//! A stream keeps nothing but where it is: what it sends is read from the store when there is room for it. So a
//! follower that comes back with `Last-Event-ID` misses nothing, wherever the stream broke, and one that reads too
//! slowly is cut off instead of being remembered for.

use std::fmt::Write as _;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use hyper::HeaderMap;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use railgate::api::{Caller, EventView};
use railgate::error::FieldProblem;
use railgate::ids::ClientNo;
use railgate::store::record::SettlementRecord;
use railgate::{Engine, Error, Result};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::App;
use super::response::NO_STORE;
use super::streams::{self, Place};

pub(super) const EVENT_STREAM: &str = "text/event-stream";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The end of a stream whose server stops: connect again in this many milliseconds, to whoever answers then.
const COME_BACK: &str = "retry: 500\n: this server is stopping\n\n";
/// Events read together.
const PAGE: usize = 100;

/// What is followed.
#[derive(Clone)]
pub(super) enum Followed {
    /// A settlement's trace, by sequence.
    Settlement(Box<SettlementRecord>),
    /// A client's feed, by position.
    Feed(Caller),
}

impl Followed {
    /// What comes behind `after`: each with its place.
    fn read(&self, engine: &Engine, after: i64) -> Result<Vec<(i64, EventView)>> {
        match self {
            Self::Settlement(record) => {
                let Ok(after) = u32::try_from(after) else { return Ok(Vec::new()) };
                Ok(engine.events(record, after, PAGE)?.into_iter().map(|event| (i64::from(event.sequence), event)).collect())
            }
            Self::Feed(caller) => Ok(engine.feed(caller, after, PAGE)?.into_iter().map(|entry| (entry.position, entry.event)).collect()),
        }
    }
}

/// The last event that a follower has seen, as its `Last-Event-ID` says.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let last = value.to_str().ok().and_then(|text| text.trim().parse().ok()).filter(|last| *last >= 0);
    last.map(Some).ok_or_else(|| {
        let problem = FieldProblem::new("Last-Event-ID", "out_of_range", "Last-Event-ID must be the id of an event of this stream");
        Error::invalid(vec![problem])
    })
}

/// An answer to `client` that stays open and tells what happens behind `after`. `token` is the one under which it was
/// asked for.
///
/// # Errors
/// `rate_limited` when too many streams are open.
pub(super) fn open(app: App, client: ClientNo, token: String, followed: Followed, after: i64) -> Result<Response> {
    let place = streams::take(&app, client)?;
    let (sender, receiver) = mpsc::channel(5);
    // There is room for it whatever stands before it.
    let farewell = sender.clone().try_reserve_owned().map_err(Error::internal)?;
    tokio::spawn(async move {
        let stopping = app.stopping.clone();
        let follower = Follower { app, token, followed, after, sender, _place: place };
        match follower.follow().await {
            // Another node, or this one soon, goes on where the follower is.
            Ok(()) if stopping.is_requested() => drop(farewell.send(Ok(COME_BACK.into()))),
            Ok(()) => {}
            Err(error) => tracing::warn!(%error, "a stream of events ended"),
        }
    });
    let mut response = Response::new(Body::from_stream(ReceiverStream::new(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, NO_STORE);
    // Proxies that gather answers before they pass them on would hold the stream back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

struct Follower {
    app: App,
    /// Under which it was opened.
    token: String,
    followed: Followed,
    after: i64,
    sender: mpsc::Sender<Result<Bytes>>,
    /// Among the streams that may be open.
    _place: Place,
}

impl Follower {
    /// Sends what is there and then what happens, until nobody listens, the token ends or the process is to end.
    async fn follow(mut self) -> Result<()> {
        let mut watch = match &self.followed {
            Followed::Settlement(record) => self.app.gateway.watch(record.no),
            Followed::Feed(caller) => self.app.gateway.watch_feed(caller.client, caller.mode),
        };
        let mut stopping = self.app.stopping.clone();
        let every = |period: Duration| tokio::time::interval(period.max(Duration::from_millis(1)));
        // Other nodes change things too, and nobody tells this one.
        let (mut heartbeat, mut look) = (every(self.app.limits.heartbeat), every(self.app.limits.look));
        heartbeat.reset();
        look.reset();
        if !self.send("retry: 1000\n\n".into()).await {
            return Ok(());
        }
        while self.catch_up().await? {
            tokio::select! {
                () = watch.changed() => {}
                _ = look.tick() => {}
                _ = heartbeat.tick() => {
                    if !self.send(": still here\n\n".into()).await {
                        return Ok(());
                    }
                }
                () = self.sender.closed() => return Ok(()),
                () = stopping.requested() => return Ok(()),
            }
        }
        Ok(())
    }

    /// Sends every event that was not sent yet; `false` when nobody listens any more, or nobody may.
    async fn catch_up(&mut self) -> Result<bool> {
        loop {
            // However much is left: the follower goes on elsewhere, from where it is.
            if self.app.stopping.is_requested() {
                return Ok(true);
            }
            // Whoever was let in is not let in for ever: the stream ends with its token, key and client, and is taken up
            // again with another signature.
            let (token, followed, after) = (self.token.clone(), self.followed.clone(), self.after);
            let read = self.app.gateway.scan(move |engine| {
                engine.authenticate(&token)?;
                followed.read(engine, after)
            });
            let events = match read.await {
                Ok(events) => events,
                Err(error) if error.code.http_status() < 500 => return Ok(false),
                Err(error) => {
                    // Cut off, so that the client comes back and asks again from where it was.
                    self.pass_on(Err(error.clone())).await;
                    return Err(error);
                }
            };
            let full = events.len() == PAGE;
            let mut text = String::with_capacity(512 * events.len());
            for (place, event) in &events {
                write_event(&mut text, *place, event)?;
                self.after = *place;
            }
            if !text.is_empty() && !self.send(text).await {
                return Ok(false);
            }
            if !full {
                return Ok(true);
            }
        }
    }

    async fn send(&self, text: String) -> bool {
        self.pass_on(Ok(text.into())).await
    }

    /// `false` when nobody listens any more. Waits for room: whoever makes none loses the connection. Once the process is
    /// to end it waits no more.
    async fn pass_on(&self, what: Result<Bytes>) -> bool {
        let mut stopping = self.app.stopping.clone();
        tokio::select! {
            biased;
            sent = self.sender.send(what) => sent.is_ok(),
            () = stopping.requested() => false,
        }
    }
}

fn write_event(out: &mut String, place: i64, event: &EventView) -> Result<()> {
    let data = serde_json::to_string(event).map_err(Error::internal)?;
    // JSON without white space between its parts is one line.
    write!(out, "id: {place}\nevent: {}\ndata: {data}\n\n", event.kind.as_str()).map_err(Error::internal)
}
