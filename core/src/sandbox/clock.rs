//! The sandbox's clock: that of the host, put ahead or stopped at will, so that a day of inquiries, call-backs and returns
//! passes in a moment.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::time::{Millis, rfc3339};
use crate::validate::json::{FieldProblems, Object, Value};

/// How the sandbox's time is told from the host's. What is kept of it: 8 bytes big-endian for how far it is ahead, and 8 more
/// for when it stands, while it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Clock {
    ahead: Millis,
    frozen_at: Option<Millis>,
}

/// How the clock stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClockView {
    /// RFC 3339; the sandbox's time.
    pub now: String,
    /// It stands until it is told to go on.
    pub frozen: bool,
    /// By how much it is before the host's, in milliseconds; less than 0 after it stood.
    pub ahead_ms: Millis,
}

/// What may be asked of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ClockRequest {
    /// Stops it, or lets it go on; as it is if absent.
    pub(super) frozen: Option<bool>,
    /// Moves it ahead first.
    pub(super) advance_ms: Millis,
}

/// A year and a day: what takes longer can be asked for again.
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
    /// The sandbox's time when the host's is `host`.
    pub(super) fn at(&self, host: Millis) -> Millis {
        self.frozen_at.unwrap_or_else(|| host.saturating_add(self.ahead))
    }

    /// The host's time when the sandbox's will be `at`; `None` if the clock stands before that.
    pub(super) fn host_time(&self, at: Millis, host: Millis) -> Option<Millis> {
        match self.frozen_at {
            None => Some(at.saturating_sub(self.ahead).max(host)),
            Some(frozen_at) => (at <= frozen_at).then_some(host),
        }
    }

    /// The clock as it is asked to be, at `now` by itself and `host` by the host.
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
    Error::internal("the clock of the sandbox is not as it was written")
}
