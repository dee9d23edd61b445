//! Waits for conditions that other processes bring about.

use std::time::{Duration, Instant};

/// A timeout against hangs, not a measure of how long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Polls until `done`; `what` describes the condition.
///
/// # Panics
/// After [`PATIENCE`].
#[track_caller]
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        // The process that is waited for needs the CPU more.
        std::thread::sleep(Duration::from_millis(1));
    }
}
