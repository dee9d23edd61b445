//! What the package measures of its own calls, if the app has asked for that, until it is sent.
//!
//! Points wait here, within bounds. They are sent beside the app's calls, by the same connection, and a point is forgotten only once the
//! gateway has said what became of it: the gateway knows each by its id, so a batch whose answer is lost is sent again as it is.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Moment};

use railgate::api::{QualityBody, QualityPointBody};
use railgate::client::{Request, Verdict};
use railgate::validate::quality::{QUALITY_POINTS_MAX, parse_quality};
use serde::Deserialize;

use crate::client::SETTLEMENTS;
use crate::error::GatewayError;
use crate::link::{now, parse};
use crate::mobile::MOBILE;
use crate::names::{NetworkKind, QualityUnit};
use crate::quality::{QualityPoint, path};
use crate::request::written;

/// So many points are sent beside the next call, and fewer once the first of them is so old.
const DUE_POINTS: usize = 100;
const DUE_AFTER: Duration = Duration::from_secs(60);
/// How long nothing is sent after a failure; twice as long after each further one, up to the longest.
const FIRST_REST: Duration = Duration::from_secs(60);
const LONGEST_REST: Duration = Duration::from_secs(6 * 3_600);

/// What the app says about itself in each point, and how points are sent.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct QualityOptions {
    /// The version of the app, such as `3.2.0`.
    #[uniffi(default = None)]
    pub app_version: Option<String>,
    /// The operating system and its version, such as `android 16`.
    #[uniffi(default = None)]
    pub os: Option<String>,
    /// What the device is connected by now.
    #[uniffi(default = None)]
    pub network: Option<NetworkKind>,
    /// Whether points are sent beside other calls. Live gateways have the key itself sign for them: with a key that asks its user each
    /// time, say false.
    #[uniffi(default = true)]
    pub background: bool,
}

/// What a call is measured as.
pub(crate) struct Subject {
    metric: &'static str,
    settlement: Option<String>,
}

/// What a call took.
#[derive(Default)]
pub(crate) struct Took {
    /// How often it was sent.
    pub(crate) tries: u32,
    /// How long its key took to sign: its user may have been asked.
    pub(crate) signing: Duration,
}

/// The points that wait.
#[derive(Default)]
pub(crate) struct Measured(Mutex<State>);

#[derive(Default)]
struct State {
    options: Option<QualityOptions>,
    points: VecDeque<QualityPointBody>,
    /// When the first of them came.
    since: Option<Moment>,
    /// Since when there has been no connection.
    offline_since: Option<Moment>,
    /// How often in a row they could not be sent, and until when that is not tried again.
    failures: u32,
    rests_until: Option<Moment>,
}

#[derive(Deserialize)]
struct Named {
    reference: String,
}

/// What a request is measured as; none: it waits for something, or fetches or sends what only this library needs.
fn subject(request: &Request) -> Option<Subject> {
    let path = request.path.as_str();
    let posts = request.method == "POST";
    let approval = path.strip_prefix(MOBILE).and_then(|path| path.strip_prefix("/approvals/"));
    if path == SETTLEMENTS && posts {
        let named = parse::<Named>(&request.body).ok();
        return Some(Subject { metric: "payment.answer", settlement: named.map(|named| named.reference) });
    }
    if let Some(id) = approval.filter(|_| posts) {
        return Some(Subject { metric: "approval.answer", settlement: Some(id.to_owned()) });
    }
    let unmeasured = path.starts_with("/api/v1/auth/") || path == self::path() || path.contains("wait=");
    (!unmeasured).then_some(Subject { metric: "call.answer", settlement: None })
}

fn ms(time: Duration) -> f64 {
    // Thousandths are kept.
    (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

impl Measured {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures from now on, or no longer.
    pub(crate) fn set(&self, options: Option<QualityOptions>) -> Result<(), GatewayError> {
        if let Some(options) = &options {
            // Otherwise the gateway would refuse each point, and nobody would know.
            let point = options.point("call.answer", 0.0, QualityUnit::Milliseconds).body()?;
            let parsed = parse_quality(written(&QualityBody { items: vec![point] }).as_bytes(), now())?;
            let problems: Vec<_> = parsed.into_iter().filter_map(Result::err).flatten().collect();
            if !problems.is_empty() {
                return Err(railgate::Error::invalid(problems).into());
            }
        }
        let mut state = self.state();
        match options {
            Some(_) => state.options = options,
            None => *state = State::default(),
        }
        Ok(())
    }

    /// What this call is measured as, if anything is measured.
    pub(crate) fn subject(&self, request: &Request) -> Option<Subject> {
        self.state().options.as_ref()?;
        subject(request)
    }

    /// A call ended, so long after it began.
    pub(crate) fn ended(&self, Subject { metric, settlement }: Subject, verdict: Verdict, took: &Took, since: Duration) {
        let answered = matches!(verdict, Verdict::Answered | Verdict::Refused);
        let mut state = self.state();
        let Some(options) = state.options.clone() else { return };
        let answer = options.point(metric, ms(since.saturating_sub(took.signing)), QualityUnit::Milliseconds);
        state.add(QualityPoint { settlement: settlement.clone(), failed: !answered, ..answer });
        if took.tries > 1 {
            let retries = options.point("call.retries", f64::from(took.tries - 1), QualityUnit::Count);
            state.add(QualityPoint { settlement, failed: !answered, ..retries });
        }
    }

    /// Something came from the gateway, or nothing could be sent to it.
    pub(crate) fn connected(&self, is_connected: bool) {
        let mut state = self.state();
        let Some(options) = state.options.clone() else { return };
        match (is_connected, state.offline_since) {
            (false, None) => state.offline_since = Some(Moment::now()),
            (true, Some(since)) => {
                state.offline_since = None;
                let offline = options.point("network.offline", ms(since.elapsed()), QualityUnit::Milliseconds);
                state.add(QualityPoint { network: Some(NetworkKind::Offline), ..offline });
            }
            (false, Some(_)) | (true, None) => {}
        }
    }

    /// Whether it is time to send points beside a call.
    pub(crate) fn is_due(&self) -> bool {
        let state = self.state();
        let rests = state.rests_until.is_some_and(|until| Moment::now() < until) || state.offline_since.is_some();
        let old = state.since.is_some_and(|since| since.elapsed() >= DUE_AFTER);
        let many = state.points.len() >= DUE_POINTS;
        state.options.as_ref().is_some_and(|options| options.background) && !rests && (many || old)
    }

    /// The request that reports all points, and their ids; none if there are none.
    pub(crate) fn report(&self) -> Option<(Request, HashSet<String>)> {
        let items: Vec<QualityPointBody> = self.state().points.iter().cloned().collect();
        let ids: HashSet<String> = items.iter().map(|item| item.id.clone()).collect();
        (!items.is_empty()).then(|| (Request::post(&path(), written(&QualityBody { items })), ids))
    }

    /// The gateway answered for these points, or did not.
    pub(crate) fn reported(&self, ids: &HashSet<String>, error: Option<&GatewayError>) {
        let mut state = self.state();
        // What it will never take is not kept.
        let refused = matches!(error, Some(GatewayError::Refused { problem }) if !problem.retryable);
        if error.is_none() || refused {
            state.points.retain(|point| !ids.contains(&point.id));
            state.since = (!state.points.is_empty()).then(Moment::now);
        }
        if error.is_none() {
            (state.failures, state.rests_until) = (0, None);
        } else {
            let rest = FIRST_REST.saturating_mul(1 << state.failures.min(16)).min(LONGEST_REST);
            (state.failures, state.rests_until) = (state.failures + 1, Some(Moment::now() + rest));
        }
    }
}

impl QualityOptions {
    fn point(&self, metric: &str, value: f64, unit: QualityUnit) -> QualityPoint {
        let Self { app_version, os, network, background: _ } = self.clone();
        let (id, at, settlement, failed) = (None, None, None, false);
        QualityPoint { metric: metric.to_owned(), value, unit, id, at, app_version, os, network, settlement, failed }
    }
}

impl State {
    /// Keeps a point, and drops the oldest if there are too many. A device without randomness measures nothing.
    fn add(&mut self, point: QualityPoint) {
        let Ok(point) = point.body() else { return };
        if self.points.len() == QUALITY_POINTS_MAX {
            self.points.pop_front();
        }
        self.points.push_back(point);
        self.since.get_or_insert_with(Moment::now);
    }
}

#[cfg(test)]
mod tests;
