//! Waiting for what others do.

use std::time::{Duration, Instant};

/// What has not come after so long does not come any more. This is no statement about how long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Looks until `done`, which `what` names.
///
/// # Panics
/// When [`PATIENCE`] has passed.
#[track_caller]
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "not even after {PATIENCE:?}: {what}");
        // Whoever is waited for needs the processor more.
        std::thread::sleep(Duration::from_millis(1));
    }
}
