//! Values that anybody may ask for, read at most once a second however many do.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a value is kept.
const KEPT: Duration = Duration::from_secs(1);

/// A value that one caller reads for all who ask meanwhile, and in the second after.
pub(super) struct Cached<T>(Arc<Mutex<Option<(Instant, T)>>>);

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone + Send + 'static> Cached<T> {
    /// The kept value, or what `read` returns. `None` if it panicked.
    pub(super) async fn get<F: Future<Output = T> + Send + 'static>(&self, read: impl FnOnce() -> F) -> Option<T> {
        let mut kept = Arc::clone(&self.0).lock_owned().await;
        if let Some((since, value)) = &*kept
            && since.elapsed() < KEPT
        {
            return Some(value.clone());
        }
        let reading = read();
        // Of its own: a caller that disconnects ends its request, and the next one would read again.
        let task = tokio::spawn(async move {
            let value = reading.await;
            *kept = Some((Instant::now(), value.clone()));
            value
        });
        task.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn however_many_ask_it_is_read_once_a_second() {
        let (cached, reads) = (Arc::new(Cached::default()), Arc::new(AtomicUsize::new(0)));
        let go = Arc::new(Notify::new());
        let ask = || {
            let (cached, reads, go) = (Arc::clone(&cached), Arc::clone(&reads), Arc::clone(&go));
            async move {
                let read = || async move {
                    go.notified().await;
                    reads.fetch_add(1, Ordering::SeqCst) + 1
                };
                cached.get(read).await
            }
        };
        let crowd: Vec<_> = (0..100).map(|_| tokio::spawn(ask())).collect();
        tokio::task::yield_now().await;
        // Who asked first gives up: the others do not start again.
        crowd[0].abort();
        go.notify_one();
        for asked in crowd.into_iter().skip(1) {
            assert_eq!(asked.await.unwrap(), Some(1));
        }
        tokio::time::advance(Duration::from_millis(1_001)).await;
        go.notify_one();
        assert_eq!(ask().await, Some(2));
    }
}
