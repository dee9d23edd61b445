//! The test of an operator's endpoint, before money depends on it: a gateway in memory pays, asks, repeats, alters, reverses and forges,
//! and says what is wrong. Partners run it on their machines, and the gateway runs it for bundles.

mod checks;
mod report;
mod stand;
pub(crate) mod tests_due;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use railgate::money::Money;
use railgate::participant::Participant;
use railgate::rail::Rail as _;
use railgate::rail::adapter::Adapter;
use railgate::route::ProviderSpec;

pub(crate) use checks::run_all;
#[cfg(feature = "cli")]
pub(crate) use checks::{Check, Verdict};
pub(crate) use report::report;
#[cfg(feature = "cli")]
pub(crate) use stand::{Door, Seen};
pub(crate) use stand::{Doors, Received, Stand, World};

/// How long a whole test may take, if a gateway makes it.
const BOUND: Duration = Duration::from_secs(240);
/// How long a gateway waits for what was accepted, and for callbacks.
const WAIT: Duration = Duration::from_secs(20);

/// What is tested.
pub(crate) struct Plan {
    /// The operator, as a provider of the sandbox, with its secrets.
    pub(crate) provider: ProviderSpec,
    /// Somebody whom it pays at once, or within [`Plan::wait`].
    pub(crate) to: Participant,
    /// Somebody whom it does not know.
    pub(crate) unknown_to: Option<Participant>,
    /// Somebody whom it pays later.
    pub(crate) later_to: Option<Participant>,
    /// How much to pay each time.
    pub(crate) amount: Money,
    /// How long to wait for what it accepted, and for callbacks.
    pub(crate) wait: Duration,
    /// When no further check is begun.
    pub(crate) until: Option<Instant>,
    /// Whether the test is to stop.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Plan {
    /// The test of a bundle.
    pub(crate) fn of(test: &railgate::engine::BundleTest, stop: Arc<AtomicBool>) -> Self {
        let plan = test.plan.clone();
        Self {
            provider: test.provider.clone(),
            to: plan.to,
            unknown_to: plan.unknown_to,
            later_to: plan.later_to,
            amount: plan.amount,
            wait: WAIT,
            until: Some(Instant::now() + BOUND),
            stop,
        }
    }

    /// Whether it speaks the protocol of adapters.
    fn is_adapter(&self) -> bool {
        self.provider.rail == Adapter.kind()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// How long something may be waited for.
    fn patience(&self) -> Instant {
        let end = Instant::now() + self.wait;
        self.until.map_or(end, |until| until.min(end))
    }
}
