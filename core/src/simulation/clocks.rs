//! The clocks of the nodes: each differs a little from the true time, by which operators and clients go, and is sometimes set anew, also
//! back.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::env::{Env, ManualEnv};
use crate::time::Millis;

use super::random::Random;

/// By how much a node's clock differs from the true time at most, so that those of two nodes differ by twice as much.
///
/// A server refuses a database whose clock differs from its own by more than five seconds. Not quite as much holds here: that a payment was
/// not found is proof when twice the time of a lease has passed by the node that asks, and one that leaves as late as it may and is then as
/// long under way arrives 56 s after it was stored by the clock of another, of 60.
pub(super) const SKEW: Millis = 1_900;

/// The clock of one node.
pub(super) struct NodeClock {
    truth: Arc<ManualEnv>,
    ahead: AtomicI64,
}

impl NodeClock {
    pub(super) fn new(truth: Arc<ManualEnv>) -> Self {
        Self { truth, ahead: AtomicI64::new(0) }
    }

    /// Sets it to any time near the true one.
    pub(super) fn set(&self, random: &mut Random) {
        let ahead = random.below(2 * SKEW as u64 + 1) as Millis - SKEW;
        self.ahead.store(ahead, Ordering::SeqCst);
    }

    /// Sets it to the true time.
    pub(super) fn set_right(&self) {
        self.ahead.store(0, Ordering::SeqCst);
    }
}

impl Env for NodeClock {
    fn now(&self) -> Millis {
        self.truth.now() + self.ahead.load(Ordering::SeqCst)
    }

    fn steady(&self) -> Millis {
        self.truth.now()
    }

    fn random(&self, out: &mut [u8]) {
        self.truth.random(out);
    }
}
