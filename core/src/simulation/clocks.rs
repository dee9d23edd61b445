//! The clocks of the nodes: each differs a little from the true time, by which operators and clients go, and is sometimes set anew, also
//! back.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::env::{Env, ManualEnv};
use crate::store::MOST_APART_MS;
use crate::time::Millis;

use super::random::Random;

/// By how much a node's clock differs from the true time at most, so that those of two nodes differ by twice as much: a little less than a
/// server tolerates of a database's clock.
pub(super) const SKEW: Millis = MOST_APART_MS - 100;
/// The same of nodes over a file: they are processes of one machine.
const SKEW_OF_ONE: Millis = 1_900;

/// The clock of one node.
pub(super) struct NodeClock {
    truth: Arc<ManualEnv>,
    most: Millis,
    ahead: AtomicI64,
}

impl NodeClock {
    pub(super) fn new(truth: Arc<ManualEnv>, remote: bool) -> Self {
        Self { truth, most: if remote { SKEW } else { SKEW_OF_ONE }, ahead: AtomicI64::new(0) }
    }

    /// Sets it to any time near the true one.
    pub(super) fn set(&self, random: &mut Random) {
        let ahead = random.below(2 * self.most as u64 + 1) as Millis - self.most;
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
