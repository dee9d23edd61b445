//! The request to stop, for everything that runs.

use std::time::Duration;

use tokio::sync::watch;

/// Requests the stop, from everyone who has a [`Stop`].
pub struct Stopper(watch::Sender<bool>);

/// Learns when it is time to stop.
#[derive(Clone)]
pub struct Stop(watch::Receiver<bool>);

/// A connected pair.
pub fn stop() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

impl Stopper {
    /// Requests the stop. Those who ask only later learn it too.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Whether the stop was requested.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Completes when the stop is requested, at once if it was already. Also completes when the [`Stopper`] is gone:
    /// otherwise whatever waits would never end.
    pub async fn requested(&mut self) {
        let _ = self.0.wait_for(|stop| *stop).await;
    }

    /// Completes after this time, or as soon as the stop is requested; returns whether it is requested.
    pub async fn after(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, self.requested()).await.is_ok()
    }
}
