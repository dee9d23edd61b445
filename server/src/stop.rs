//! The wish to end, told to everything that runs.

use std::time::Duration;

use tokio::sync::watch;

/// Tells everyone who has the [`Stop`].
pub struct Stopper(watch::Sender<bool>);

/// Hears when it is time to end.
#[derive(Clone)]
pub struct Stop(watch::Receiver<bool>);

/// One that tells, and one that hears.
pub fn stop() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

impl Stopper {
    /// It is time. Also who asks later hears it.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Whether it is time.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Completes when it is time, at once if it is already. Also when nobody can tell any more: then nothing that
    /// waits would ever end.
    pub async fn requested(&mut self) {
        let _ = self.0.wait_for(|stop| *stop).await;
    }

    /// Completes after this time, or when it is time to end; says whether it is that.
    pub async fn after(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, self.requested()).await.is_ok()
    }
}
