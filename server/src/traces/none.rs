//! A build without spans.

use std::borrow::Cow;
use std::convert::Infallible;

use railgate::traceparent::TraceParent;

use super::{Kind, TraceSettings, TracesError};

/// There is none.
#[derive(Clone)]
pub(super) enum Tracing {}

/// There is none.
pub(super) struct Span(Infallible);

impl Tracing {
    pub(super) fn open(settings: &TraceSettings) -> Result<Self, TracesError> {
        Err(TracesError { collector: settings.collector.clone(), cause: "this build has no traces".to_owned() })
    }

    pub(super) fn begin(&self, _: Cow<'static, str>, _: Kind, _: Option<TraceParent>) -> Span {
        match *self {}
    }

    pub(super) fn flush(&self) {
        match *self {}
    }
}

impl Span {
    pub(super) fn place(&self) -> TraceParent {
        match self.0 {}
    }

    pub(super) fn rename(&mut self, _: String) {
        match self.0 {}
    }

    pub(super) fn set(&mut self, _: &'static str, _: Cow<'static, str>) {
        match self.0 {}
    }

    pub(super) fn answered(&mut self, _: u16, _: bool) {
        match self.0 {}
    }

    pub(super) fn fail(&mut self, _: Cow<'static, str>) {
        match self.0 {}
    }
}
