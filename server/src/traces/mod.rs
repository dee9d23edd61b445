//! Spans for a collector, by OpenTelemetry's protocol: a call, the requests to operators that it causes, and the webhooks that tell of them
//! are one trace, however much later they are sent and by whichever server. The settlement keeps the place of the call that made it.

#[cfg(feature = "traces")]
mod otlp;
#[cfg(feature = "traces")]
use otlp as means;
#[cfg(not(feature = "traces"))]
mod none;
#[cfg(not(feature = "traces"))]
use none as means;

use std::borrow::Cow;

use hyper::HeaderMap;
use hyper::header::HeaderName;
use railgate::traceparent::TraceParent;

/// The header of W3C Trace Context.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Where spans go, and how many.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceSettings {
    /// The address of the collector, to which `/v1/traces` is added.
    pub collector: String,
    /// The share of the traces that begin here which are recorded, from 0 to 1. Callers who send a `traceparent` decide about theirs.
    pub share: f64,
}

/// Why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("spans cannot be sent to {collector}: {cause}")]
pub struct TracesError {
    /// The address of the collector.
    pub collector: String,
    /// What is wrong.
    pub cause: String,
}

/// What a span stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A call that this server answers.
    Server,
    /// A request that this server sends.
    Client,
}

/// Makes spans. Clones send to the same collector.
#[derive(Clone, Default)]
pub(crate) struct Traces(Option<means::Tracing>);

impl Traces {
    /// Spans as these settings say; none without.
    pub(crate) fn open(settings: Option<&TraceSettings>) -> Result<Self, TracesError> {
        settings.map(means::Tracing::open).transpose().map(Self)
    }

    /// Whether any spans are made.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// A span that begins now and ends when it is dropped.
    pub(crate) fn begin(&self, name: impl Into<Cow<'static, str>>, kind: Kind, parent: Option<TraceParent>) -> Span {
        Span(self.0.as_ref().map(|tracing| tracing.begin(name.into(), kind, parent)))
    }

    /// Sends what has ended.
    pub(crate) fn flush(&self) {
        if let Some(tracing) = &self.0 {
            tracing.flush();
        }
    }
}

/// A span, if there are any.
pub(crate) struct Span(Option<means::Span>);

impl Span {
    /// No span.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Ends it.
    pub(crate) fn end(self) {}

    /// Where it is, for what it causes.
    pub(crate) fn place(&self) -> Option<TraceParent> {
        self.0.as_ref().map(means::Span::place)
    }

    /// Gives it another name.
    pub(crate) fn rename(&mut self, name: impl FnOnce() -> String) {
        if let Some(span) = &mut self.0 {
            span.rename(name());
        }
    }

    /// Says something about it.
    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Cow<'static, str>>) {
        if let Some(span) = &mut self.0 {
            span.set(key, value.into());
        }
    }

    /// Records the status of a response; `is_fault` if it is one of this side.
    pub(crate) fn answered(&mut self, status: u16, is_fault: bool) {
        if let Some(span) = &mut self.0 {
            span.answered(status, is_fault);
        }
    }

    /// Says that it did not do what it was for.
    pub(crate) fn fail(&mut self, why: impl Into<Cow<'static, str>>) {
        if let Some(span) = &mut self.0 {
            span.fail(why.into());
        }
    }
}

/// The place that a caller gives, if it is one.
pub(crate) fn given(headers: &HeaderMap) -> Option<TraceParent> {
    let mut all = headers.get_all(TRACEPARENT).iter();
    let first = all.next()?;
    // Of two, nobody knows which is right.
    if all.next().is_some() { None } else { first.to_str().ok()?.trim().parse().ok() }
}
