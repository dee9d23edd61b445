//! The sandbox's clock: the host's clock, which can be put ahead or stopped, so that a day of inquiries, callbacks and returns
//! passes in a moment.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::time::{Millis, rfc3339};
use crate::validate::json::{FieldProblems, Object, Value};

/// How the sandbox's time is derived from the host's. Stored as 8 bytes, big-endian, for how far it is ahead, plus 8 bytes for the
/// time at which it is stopped, if it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Clock {
    ahead: Millis,
    frozen_at: Option<Millis>,
}

/// The state of the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClockView {
    /// The sandbox's time, RFC 3339.
    pub now: String,
    /// Whether the clock is stopped.
    pub frozen: bool,
    /// How far it is ahead of the host's clock, in milliseconds; negative after it was stopped for a while.
    pub ahead_ms: Millis,
}

/// A request to change the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ClockRequest {
    /// Stops or restarts it; unchanged if absent.
    pub(super) frozen: Option<bool>,
    /// Moves it ahead first, by this many milliseconds.
    pub(super) advance_ms: Millis,
}

/// A year and a day; a longer time takes several requests.
const FARTHEST: Millis = 366 * 86_400_000;

impl ClockRequest {
    pub(super) fn parse(body: &str) -> Result<Self> {
        const FIELDS: [&str; 2] = ["frozen", "advance_ms"];
        let mut body = Object::parse(body.as_bytes(), &FIELDS)?;
        let frozen = body.optional("frozen", Value::boolean);
        let advance_ms = body.optional("advance_ms", span);
        body.finish(|| Some(Self { frozen: frozen?, advance_ms: advance_ms?.unwrap_or_default() }))
    }
}

fn span(value: Value<'_>) -> Result<Millis, FieldProblems> {
    let within = value.number()?.parse().ok().filter(|ms| (0..=FARTHEST).contains(ms));
    within.ok_or_else(|| FieldProblems::one("out_of_range", format!("must be a whole number of milliseconds from 0 to {FARTHEST}")))
}

impl Clock {
    /// The sandbox's time at the host's time `host`.
    pub(super) fn at(&self, host: Millis) -> Millis {
        self.frozen_at.unwrap_or_else(|| host.saturating_add(self.ahead))
    }

    /// The host's time at which the sandbox's will be `at`; `None` if the clock is stopped before that.
    pub(super) fn host_time(&self, at: Millis, host: Millis) -> Option<Millis> {
        match self.frozen_at {
            None => Some(at.saturating_sub(self.ahead).max(host)),
            Some(frozen_at) => (at <= frozen_at).then_some(host),
        }
    }

    /// The clock after a request, at the sandbox's time `now` and the host's time `host`.
    pub(super) fn asked(&self, request: ClockRequest, now: Millis, host: Millis) -> Self {
        let now = now.saturating_add(request.advance_ms);
        let frozen = request.frozen.unwrap_or(self.frozen_at.is_some());
        Self { ahead: now.saturating_sub(host), frozen_at: frozen.then_some(now) }
    }

    pub(super) fn view(&self, now: Millis, host: Millis) -> ClockView {
        ClockView { now: rfc3339(now), frozen: self.frozen_at.is_some(), ahead_ms: now.saturating_sub(host) }
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        [Some(self.ahead), self.frozen_at].into_iter().flatten().flat_map(i64::to_be_bytes).collect()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (values, []) = bytes.as_chunks::<8>() else { return Err(damaged()) };
        match values {
            [ahead] => Ok(Self { ahead: i64::from_be_bytes(*ahead), frozen_at: None }),
            [ahead, frozen_at] => Ok(Self { ahead: i64::from_be_bytes(*ahead), frozen_at: Some(i64::from_be_bytes(*frozen_at)) }),
            _ => Err(damaged()),
        }
    }
}

fn damaged() -> Error {
    Error::internal("the stored clock of the sandbox is damaged")
}
