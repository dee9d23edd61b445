//! What background loops share: how they back off after a fault, and how they restart after a panic.

use std::future::Future;
use std::time::Duration;

use railgate::Error;
use railgate::time::Millis;

use crate::stop::Stop;

const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(3);
/// The pause before a part that panicked is restarted.
const BEGIN_AGAIN: Duration = Duration::from_secs(1);

/// How long a loop waits after a fault: twice as long after each one, until something succeeds.
pub(crate) struct Backoff {
    part: &'static str,
    stop: Stop,
    pause: Duration,
}

impl Backoff {
    pub(crate) fn new(part: &'static str, stop: &Stop) -> Self {
        Self { part, stop: stop.clone(), pause: PAUSE_MIN }
    }

    /// Makes the next pause the shortest one again.
    pub(crate) fn reset(&mut self) {
        self.pause = PAUSE_MIN;
    }

    /// Logs the fault and waits, but no longer than until `stop`.
    pub(crate) async fn wait(&mut self, doing: &'static str, error: &Error) {
        tracing::warn!(%error, cause = cause(error), part = self.part, doing, pause_ms = self.pause.as_millis(), "a pause after a fault");
        self.stop.after(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }
}

/// An error with its cause, for the log.
pub(crate) fn cause(error: &Error) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}

/// The time until `due`; very long if nothing is due.
pub(crate) fn until(due: Option<Millis>, now: Millis) -> Duration {
    due.map_or(Duration::MAX, |due| Duration::from_millis(u64::try_from(due - now).unwrap_or(0)))
}

/// Keeps a part running until it ends by itself. One that panics is restarted, as it would be after a crash: all its state
/// is in the store.
pub(crate) async fn keep<F: Future<Output = ()> + Send + 'static>(part: &'static str, stop: &Stop, begin: impl Fn() -> F) {
    while let Err(panicked) = tokio::spawn(begin()).await {
        tracing::error!(part, %panicked, "a background task panicked and is being restarted");
        if stop.clone().after(BEGIN_AGAIN).await {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::stop::stop;

    #[tokio::test(start_paused = true)]
    async fn what_panics_in_the_background_begins_again_until_it_ends_by_itself() {
        let begun = Arc::new(AtomicUsize::new(0));
        let (_stopper, stop) = stop();
        keep("a test", &stop, || {
            let begun = Arc::clone(&begun);
            async move { assert!(begun.fetch_add(1, Ordering::SeqCst) >= 2, "as told") }
        })
        .await;
        assert_eq!(begun.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn what_panics_after_the_end_was_asked_for_does_not_begin_again() {
        let (stopper, stop) = stop();
        stopper.stop();
        keep("a test", &stop, || async { panic!("as told") }).await;
    }
}
