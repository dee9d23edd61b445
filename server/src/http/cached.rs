//! Values that many ask for, read once for all of them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a value is kept that strangers may ask for.
const KEPT: Duration = Duration::from_secs(1);
/// A figure that took longer to count is kept [`TIMES`] as long: counting takes a tenth of the time at most, however many ask.
const CHEAP: Duration = Duration::from_millis(200);
const TIMES: u32 = 9;

/// A value that one caller reads for all who ask meanwhile, and for a while after.
pub(super) struct Cached<T> {
    kept: Arc<Mutex<Option<Kept<T>>>>,
    /// How long a value is kept that took so long to read.
    keeps: fn(&T, Duration) -> Duration,
}

struct Kept<T> {
    value: T,
    until: Instant,
}

/// Keeps whatever was read for a second.
impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self { kept: Arc::default(), keeps: |_, _| KEPT }
    }
}

impl<T, E> Cached<Result<T, E>> {
    /// Keeps what took long to read: what is cheap is always fresh, and what failed is tried again.
    pub(super) fn by_cost() -> Self {
        Self { kept: Arc::default(), keeps: |read, took| if read.is_ok() && took > CHEAP { took * TIMES } else { Duration::ZERO } }
    }
}

impl<T: Clone + Send + 'static> Cached<T> {
    /// The kept value, or what `read` returns. `None` if it panicked.
    pub(super) async fn get<F: Future<Output = T> + Send + 'static>(&self, read: impl FnOnce() -> F) -> Option<T> {
        let mut kept = Arc::clone(&self.kept).lock_owned().await;
        if let Some(Kept { value, .. }) = kept.as_ref().filter(|kept| Instant::now() < kept.until) {
            return Some(value.clone());
        }
        let (begun, keeps, reading) = (Instant::now(), self.keeps, read());
        // Of its own: a caller that disconnects ends its request, and the next one would read again.
        let task = tokio::spawn(async move {
            let value = reading.await;
            let until = Instant::now() + keeps(&value, begun.elapsed());
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

    /// Reads a number that grows with each read, which takes this long.
    async fn slowly(reads: Arc<AtomicUsize>, takes_ms: u64) -> usize {
        tokio::time::sleep(Duration::from_millis(takes_ms)).await;
        reads.fetch_add(1, Ordering::SeqCst) + 1
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_long_to_count_is_counted_a_tenth_of_the_time() {
        let (cached, reads) = (Cached::by_cost(), Arc::new(AtomicUsize::new(0)));
        let ask = async |takes: u64, fails: bool| {
            let reads = Arc::clone(&reads);
            cached.get(|| async move { if fails { Err(slowly(reads, takes).await) } else { Ok(slowly(reads, takes).await) } }).await
        };
        assert_eq!([ask(0, false).await, ask(150, false).await], [Some(Ok(1)), Some(Ok(2))], "what is cheap is fresh");
        assert_eq!([ask(500, true).await, ask(500, true).await], [Some(Err(3)), Some(Err(4))], "what failed is tried again");
        assert_eq!(ask(500, false).await, Some(Ok(5)));
        tokio::time::advance(Duration::from_millis(4_490)).await;
        assert_eq!(ask(500, false).await, Some(Ok(5)));
        tokio::time::advance(Duration::from_millis(20)).await;
        assert_eq!(ask(500, false).await, Some(Ok(6)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_strangers_ask_for_is_no_older_for_having_taken_long() {
        let (cached, reads) = (Cached::default(), Arc::new(AtomicUsize::new(0)));
        let ask = async || cached.get(|| slowly(Arc::clone(&reads), 10_000)).await;
        assert_eq!(ask().await, Some(1));
        tokio::time::advance(Duration::from_millis(1_001)).await;
        assert_eq!(ask().await, Some(2));
    }
}
