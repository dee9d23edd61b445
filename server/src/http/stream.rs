//! Event streams (Server-Sent Events): of one settlement, of everything that happens to a client, of a user's notifications, or of
//! changes to what operators see.
//!
//! A stream keeps only its position: events are read from the store when there is room to send them. So a follower that
//! reconnects with `Last-Event-ID` misses nothing, wherever the stream broke, and one that reads too slowly is cut off
//! instead of being buffered for.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use hyper::HeaderMap;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use railgate::api::{Caller, EventView};
use railgate::error::FieldProblem;
use railgate::ledger::Mode;
use railgate::store::record::SettlementRecord;
use railgate::{Engine, Error, Result};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::App;
use super::held::{self, Place};
use super::mobile;
use super::response::NO_STORE;
use crate::gateway::Tenant;
use crate::texts::Locale;

pub(super) const EVENT_STREAM: &str = "text/event-stream";
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Ends a stream whose server stops: the client reconnects in this many milliseconds, to any node that answers.
const COME_BACK: &str = "retry: 500\n: this server is stopping\n\n";
/// How long changes for operators gather: under load, every commit is one.
const GATHER: Duration = Duration::from_millis(500);
/// The most events that are read together.
const PAGE: usize = 100;

/// What a stream follows.
#[derive(Clone)]
pub(super) enum Followed {
    /// A settlement's trace, by sequence.
    Settlement(Box<SettlementRecord>),
    /// A client's feed, by position.
    Feed(Caller),
    /// The inbox of an end user, by number, in these languages.
    Inbox(Caller, Arc<[String]>),
    /// That something changed for operators, by mark: a mark that is not the last one is news.
    Changes,
}

/// An event of a stream.
struct Shown {
    /// Its place, after which the stream goes on.
    place: i64,
    /// What a follower sends as `Last-Event-ID`.
    id: String,
    name: &'static str,
    /// JSON without white space, which is one line.
    data: String,
}

fn shown(place: i64, event: &EventView) -> Result<Shown> {
    let data = serde_json::to_string(event).map_err(Error::internal)?;
    Ok(Shown { place, id: place.to_string(), name: event.kind.as_str(), data })
}

impl Followed {
    /// The events after `after`.
    fn read(&self, engine: &Engine, after: i64) -> Result<Vec<Shown>> {
        match self {
            Self::Settlement(record) => {
                let Ok(after) = u32::try_from(after) else { return Ok(Vec::new()) };
                engine.events(record, after, PAGE)?.iter().map(|event| shown(event.sequence.into(), event)).collect()
            }
            Self::Feed(caller) => engine.feed(caller, after, PAGE)?.iter().map(|entry| shown(entry.position, &entry.event)).collect(),
            Self::Inbox(caller, tags) => {
                let locale = Locale::of(tags.iter().map(String::as_str));
                let entries = engine.inbox_after(caller, after, PAGE)?;
                entries
                    .iter()
                    .map(|entry| {
                        let view = mobile::notifications::shown(entry, &locale, engine.now());
                        let data = serde_json::to_string(&view).map_err(Error::internal)?;
                        Ok(Shown { place: entry.record.n, id: view.id, name: view.kind.as_str(), data })
                    })
                    .collect()
            }
            Self::Changes => {
                let now = engine.changes()?;
                let data = serde_json::to_string(&now).map_err(Error::internal)?;
                let news = Shown { place: now.mark, id: now.mark.to_string(), name: "changed", data };
                Ok(if now.mark == after { Vec::new() } else { vec![news] })
            }
        }
    }

    /// How long what changes gathers before it is told, however often it does.
    fn gathers(&self) -> Option<Duration> {
        match self {
            Self::Settlement(_) | Self::Feed(_) | Self::Inbox(..) => None,
            Self::Changes => Some(GATHER),
        }
    }
}

/// The last event that a follower has seen, from its `Last-Event-ID`.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let last = value.to_str().ok().and_then(|text| text.trim().parse().ok()).filter(|last| *last >= 0);
    last.map(Some).ok_or_else(|| {
        let problem = FieldProblem::new("Last-Event-ID", "out_of_range", "Last-Event-ID must be the id of an event of this stream");
        Error::invalid(vec![problem])
    })
}

/// A response to `caller` that stays open and sends the events after `after`. `token` is the one that authenticated the
/// call.
///
/// # Errors
/// `rate_limited` when too many calls are held.
pub(super) fn open(app: App, caller: &Caller, token: String, followed: Followed, after: i64) -> Result<Response> {
    let place = held::stream(&app, caller.party())?;
    let tenant = Tenant::from(caller);
    let (sender, receiver) = mpsc::channel(5);
    // Reserved, so that there is room for it whatever is queued before it.
    let farewell = sender.clone().try_reserve_owned().map_err(Error::internal)?;
    tokio::spawn(async move {
        let stopping = app.stopping.clone();
        let follower = Follower { app, token, tenant, followed, after, sender, _place: place };
        match follower.follow().await {
            // Another node, or this one after a restart, continues where the follower is.
            Ok(()) if stopping.is_requested() => drop(farewell.send(Ok(COME_BACK.into()))),
            Ok(()) => {}
            Err(error) => tracing::warn!(%error, "a stream of events ended"),
        }
    });
    let mut response = Response::new(Body::from_stream(ReceiverStream::new(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, NO_STORE);
    // Proxies that buffer responses would hold the stream back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

struct Follower {
    app: App,
    /// The token of the call that opened it.
    token: String,
    tenant: Tenant,
    followed: Followed,
    after: i64,
    sender: mpsc::Sender<Result<Bytes>>,
    /// Its place among the held calls.
    _place: Place,
}

impl Follower {
    /// Sends existing events, then new ones, until the client disconnects, the token ends or the process is to stop.
    async fn follow(mut self) -> Result<()> {
        let mut watch = match &self.followed {
            Followed::Settlement(record) => self.app.gateway.watch(record.no),
            Followed::Feed(caller) => self.app.gateway.watch_feed(caller.client, caller.mode),
            Followed::Inbox(caller, _) => self.app.gateway.watch_feed(caller.party(), Mode::Sandbox),
            Followed::Changes => self.app.gateway.watch_commits(),
        };
        let mut stopping = self.app.stopping.clone();
        let every = |period: Duration| tokio::time::interval(period.max(Duration::from_millis(1)));
        // Other nodes change things too, and do not notify this one.
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
            if let Some(pause) = self.followed.gathers() {
                stopping.after(pause).await;
            }
        }
        Ok(())
    }

    /// Sends every event that was not sent yet; `false` when the client has disconnected or may no longer read.
    async fn catch_up(&mut self) -> Result<bool> {
        loop {
            // However much is left: the follower continues elsewhere, from where it is.
            if self.app.stopping.is_requested() {
                return Ok(true);
            }
            // Access is checked on every read: the stream ends with its token, key or client, and is resumed with another
            // signature.
            let (token, followed, after) = (self.token.clone(), self.followed.clone(), self.after);
            let read = self.app.gateway.scan(self.tenant, move |engine| {
                engine.authenticate(&token)?;
                followed.read(engine, after)
            });
            let events = match read.await {
                Ok(events) => events,
                Err(error) if error.code.http_status() < 500 => return Ok(false),
                Err(error) => {
                    // Cut off, so that the client reconnects and continues from where it was.
                    self.pass_on(Err(error.clone())).await;
                    return Err(error);
                }
            };
            let full = events.len() == PAGE;
            let mut text = String::with_capacity(512 * events.len());
            for Shown { place, id, name, data } in &events {
                write!(text, "id: {id}\nevent: {name}\ndata: {data}\n\n").map_err(Error::internal)?;
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

    /// `false` when the client has disconnected. Waits for room: a client that makes none loses the connection. Stops waiting
    /// once the process is to stop.
    async fn pass_on(&self, what: Result<Bytes>) -> bool {
        let mut stopping = self.app.stopping.clone();
        tokio::select! {
            biased;
            sent = self.sender.send(what) => sent.is_ok(),
            () = stopping.requested() => false,
        }
    }
}
