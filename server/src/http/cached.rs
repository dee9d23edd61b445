//! Values that many ask for, read once for all of them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

/// A value that took longer to read is kept [`TIMES`] as long: reading takes a tenth of the time at most, however many ask.
const CHEAP: Duration = Duration::from_millis(200);
const TIMES: u32 = 9;

/// A value that one caller reads for all who ask meanwhile, and for a while after.
pub(super) struct Cached<T> {
    kept: Arc<Mutex<Option<Kept<T>>>>,
    at_least: Duration,
}

struct Kept<T> {
    value: T,
    until: Instant,
}

/// Keeps a value for a second: for what strangers may ask for.
impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self { at_least: Duration::from_secs(1), ..Self::by_cost() }
    }
}

impl<T> Cached<T> {
    /// Keeps a value only if it took long to read: what is cheap is always fresh.
    pub(super) fn by_cost() -> Self {
        Self { kept: Arc::default(), at_least: Duration::ZERO }
    }
}

impl<T: Clone + Send + 'static> Cached<T> {
    /// The kept value, or what `read` returns. `None` if it panicked.
    pub(super) async fn get<F: Future<Output = T> + Send + 'static>(&self, read: impl FnOnce() -> F) -> Option<T> {
        let mut kept = Arc::clone(&self.kept).lock_owned().await;
        if let Some(Kept { value, .. }) = kept.as_ref().filter(|kept| Instant::now() < kept.until) {
            return Some(value.clone());
        }
        let (begun, at_least, reading) = (Instant::now(), self.at_least, read());
        // Of its own: a caller that disconnects ends its request, and the next one would read again.
        let task = tokio::spawn(async move {
            let value = reading.await;
            let took = Some(begun.elapsed()).filter(|took| *took > CHEAP).unwrap_or_default();
            let until = Instant::now() + at_least.max(took * TIMES);
            *kept = Some(Kept { value: value.clone(), until });
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
    #[tokio::test(start_paused = true)]
    async fn what_takes_long_is_read_a_tenth_of_the_time() {
        let cached = Cached::by_cost();
        let reads = Arc::new(AtomicUsize::new(0));
        let ask = async |takes: u64| {
            let reads = Arc::clone(&reads);
            let read = || async move {
                tokio::time::sleep(Duration::from_millis(takes)).await;
                reads.fetch_add(1, Ordering::SeqCst) + 1
            };
            cached.get(read).await
        };
        assert_eq!([ask(0).await, ask(150).await], [Some(1), Some(2)], "what is cheap is fresh");
        assert_eq!(ask(500).await, Some(3));
        tokio::time::advance(Duration::from_millis(4_490)).await;
        assert_eq!(ask(500).await, Some(3));
        tokio::time::advance(Duration::from_millis(20)).await;
        assert_eq!(ask(500).await, Some(4));
    }
}
