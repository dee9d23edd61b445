//! Observes the providers outside this program, each engine for itself, and keeps payments from those that do not answer.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::api::RailCall;
use crate::engine::Engine;
use crate::engine::dispatch::payment;
use crate::engine::settlement::Change;
use crate::env::Env;
use crate::ids::ProviderNo;
use crate::rail::{Carrier, RailAnswer, Rails};
use crate::route::Routes;
use crate::route::health::{Breaker, BreakerState, Health, Outcome, Pulse, Reading, Said, Window};
use crate::time::Millis;

/// What an engine does about providers that may not answer. A trait, so that a program whose operators are all inside it does not
/// contain what observes others.
pub(crate) trait Watch: Send + Sync {
    /// Has the providers of `routes` observed. Nothing is known any more about those that were `changed`.
    fn observed(&self, routes: Routes, rails: &Rails, changed: &[ProviderNo]) -> Routes;

    /// Lets the first attempt of a settlement leave for its provider or, if that does not answer or was switched off, for the first on the
    /// route that takes it.
    ///
    /// # Errors
    /// In how many milliseconds to ask again, if none of them does.
    fn may_leave(&self, routes: &Routes, change: &mut Change<'_>) -> Result<(), Millis>;

    /// Asks an operator outside the program.
    ///
    /// # Errors
    /// `internal` if the call's provider is no longer configured.
    fn ask(&self, engine: &Engine, call: RailCall, carrier: &dyn Carrier) -> crate::error::Result<RailAnswer>;
}

/// All operators are inside the program, and answer.
#[cfg(feature = "sandbox")]
pub(crate) struct Unwatched;

#[cfg(feature = "sandbox")]
impl Watch for Unwatched {
    fn observed(&self, routes: Routes, _: &Rails, _: &[ProviderNo]) -> Routes {
        routes
    }

    fn may_leave(&self, _: &Routes, _: &mut Change<'_>) -> Result<(), Millis> {
        Ok(())
    }

    fn ask(&self, _: &Engine, _: RailCall, _: &dyn Carrier) -> crate::error::Result<RailAnswer> {
        Ok(RailAnswer::Unknown)
    }
}

/// Observes the providers outside the program.
pub(crate) struct Watching {
    env: Arc<dyn Env>,
    pulses: Mutex<BTreeMap<ProviderNo, Arc<Observed>>>,
}

impl Watching {
    pub(crate) fn new(env: Arc<dyn Env>) -> Self {
        Self { env, pulses: Mutex::default() }
    }
}

impl Watch for Watching {
    fn observed(&self, routes: Routes, rails: &Rails, changed: &[ProviderNo]) -> Routes {
        let mut pulses = self.pulses.lock().unwrap_or_else(PoisonError::into_inner);
        // A provider that was changed is another one: what is known about it may not hold any more.
        pulses.retain(|no, _| !changed.contains(no));
        routes.observed(|no, spec| {
            let outside = rails.get(&spec.rail).is_some_and(|rail| rail.inside().is_none());
            outside.then(|| Arc::clone(pulses.entry(no).or_insert_with(|| Arc::new(Observed::new(&self.env)))) as Arc<dyn Pulse>)
        })
    }

    fn ask(&self, engine: &Engine, call: RailCall, carrier: &dyn Carrier) -> crate::error::Result<RailAnswer> {
        engine.converse(call, carrier)
    }

    fn may_leave(&self, routes: &Routes, change: &mut Change<'_>) -> Result<(), Millis> {
        let own = change.record.provider;
        let Err(mut wait) = routes.leave(own) else { return Ok(()) };
        for step in routes.steps(&payment(&change.record)).iter().filter(|step| step.out.is_none() && step.no != own) {
            match step.leave() {
                Ok(()) => {
                    change.rehold(step.no);
                    return Ok(());
                }
                Err(longer) => wait = wait.min(longer),
            }
        }
        Err(wait)
    }
}

/// A window, a breaker and the operator's own word, by the steady clock.
struct Observed {
    env: Arc<dyn Env>,
    /// Whether nothing keeps payments from it, so that routing need not wait for the lock while all is well.
    well: AtomicBool,
    seen: Mutex<Seen>,
}

struct Seen {
    window: Window,
    breaker: Breaker,
    said: Option<Said>,
    updated_at: Option<Millis>,
}

impl Default for Seen {
    fn default() -> Self {
        Self { window: Window::default(), breaker: Breaker::Closed, said: None, updated_at: None }
    }
}

impl Seen {
    /// The breaker after a payment left.
    fn leave(&self, now: Millis) -> Result<Breaker, Millis> {
        self.said.map_or(Ok(()), |said| said.leave(now))?;
        self.breaker.leave(now)
    }

    /// Whether nothing keeps payments from it, at any time until it is heard of again.
    fn is_well(&self) -> bool {
        self.breaker == Breaker::Closed && self.said.is_none_or(|said| said.health.admits())
    }
}

impl Observed {
    /// Begins to observe a provider that nothing is known about.
    fn new(env: &Arc<dyn Env>) -> Self {
        Self { env: Arc::clone(env), well: AtomicBool::new(true), seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_well(&self) -> bool {
        self.well.load(Ordering::Acquire)
    }
}

impl Pulse for Observed {
    fn admits(&self) -> bool {
        self.is_well() || self.seen().leave(self.env.steady()).is_ok()
    }

    fn leave(&self) -> Result<(), Millis> {
        if self.is_well() {
            return Ok(());
        }
        let mut seen = self.seen();
        seen.breaker = seen.leave(self.env.steady())?;
        Ok(())
    }

    fn hear(&self, outcome: Outcome, took_ms: Millis) {
        let mut seen = self.seen();
        // Read under the lock, so that no call ends before one that was counted earlier.
        let now = self.env.steady();
        seen.window.add(now, outcome, u64::try_from(took_ms).unwrap_or(0));
        seen.updated_at = Some(self.env.now());
        let (was, lately) = (seen.breaker, seen.window.lately(now));
        seen.breaker = was.hear(outcome, now - took_ms, now, &lately);
        if seen.breaker == Breaker::Closed && was != Breaker::Closed {
            seen.window = Window::default();
            seen.window.add(now, outcome, u64::try_from(took_ms).unwrap_or(0));
        }
        self.well.store(seen.is_well(), Ordering::Release);
    }

    fn says(&self, health: Health) {
        let mut seen = self.seen();
        seen.said = Some(Said { health, at: self.env.steady() });
        seen.updated_at = Some(self.env.now());
        self.well.store(seen.is_well(), Ordering::Release);
    }

    fn reading(&self) -> Reading {
        let (seen, now) = (self.seen(), self.env.steady());
        let said = seen.said.and_then(|said| said.at(now));
        Reading::of(seen.breaker.state(now), &seen.window.lately(now), said, seen.updated_at)
    }
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state: BreakerState = self.reading().breaker;
        f.write_str(state.as_str())
    }
}
