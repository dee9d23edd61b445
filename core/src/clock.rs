//! The clock of a sandbox: the host's clock, which can be put ahead or stopped, so that a day of inquiries, callbacks and returns
//! passes in a moment. A sandbox in a page has one, and on a server each client's sandbox.

use crate::api::ClockView;
use crate::time::{Millis, rfc3339};

/// How a sandbox's time is derived from the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Clock {
    /// How far it is ahead of the host's clock.
    pub(crate) ahead: Millis,
    /// The time at which it is stopped, if it is.
    pub(crate) frozen_at: Option<Millis>,
}

/// A request to change a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockRequest {
    /// Stops or restarts it; unchanged if absent.
    pub frozen: Option<bool>,
    /// Moves it ahead first, by this many milliseconds.
    pub advance_ms: Millis,
}

impl Clock {
    /// The sandbox's time at the host's time `host`.
    pub(crate) fn at(&self, host: Millis) -> Millis {
        self.frozen_at.unwrap_or_else(|| host.saturating_add(self.ahead))
    }

    /// The host's time at which the sandbox's will be `at`; `None` if the clock is stopped before that.
    pub(crate) fn host_time(&self, at: Millis, host: Millis) -> Option<Millis> {
        match self.frozen_at {
            None => Some(at.saturating_sub(self.ahead).max(host)),
            Some(frozen_at) => (at <= frozen_at).then_some(host),
        }
    }

    /// A clock that shows `now` at the host's time `host`, and runs from there unless it is `frozen`.
    pub(crate) fn set_to(now: Millis, host: Millis, frozen: bool) -> Self {
        Self { ahead: now.saturating_sub(host), frozen_at: frozen.then_some(now) }
    }

    /// The state of a clock that shows `now` at the host's time `host`.
    pub(crate) fn view(now: Millis, host: Millis, frozen: bool) -> ClockView {
        ClockView { now: rfc3339(now), frozen, ahead_ms: now.saturating_sub(host), advancing_to: None }
    }
}
