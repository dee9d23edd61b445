//! The one driver of the background loops: the outbox, webhooks, the numbering of events.

use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;

use railgate::time::Millis;
use railgate::{Error, Result};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep};

use crate::stop::Stop;

const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(3);
/// The pause before a loop that panicked restarts.
const RESTART: Duration = Duration::from_secs(1);

/// The tasks that a loop has in flight.
pub(crate) type InFlight = JoinSet<Result<()>>;

/// What a loop does after a step.
pub(crate) enum Next {
    /// Take another step at once: there was something to do.
    Step,
    /// Rest this long, or until the loop is woken or something in flight ends.
    Rest(Duration),
}

/// A background loop. All its state is in the store, so it may stop or panic at any moment.
pub(crate) trait Background: Send + Sync + 'static {
    /// Its name in the log.
    const PART: &'static str;

    /// Starts what is due.
    fn step(&mut self, in_flight: &mut InFlight) -> impl Future<Output = Result<Next>> + Send;

    /// Completes when there may be more to do.
    fn woken(&self) -> impl Future<Output = ()> + Send;

    /// Runs last, after the server was told to stop: waits for what is in flight.
    fn end(self, in_flight: InFlight) -> impl Future<Output = ()> + Send
    where
        Self: Sized,
    {
        drain(in_flight)
    }
}

/// Waits for everything in flight, whatever its outcome.
pub(crate) async fn drain(mut in_flight: InFlight) {
    while in_flight.join_next().await.is_some() {}
}

/// Runs a loop until `stop`. After a fault it pauses: twice as long after each one, until something succeeds.
async fn drive<B: Background>(mut background: B, mut stop: Stop) {
    let (mut in_flight, mut pause, mut damage) = (InFlight::new(), PAUSE_MIN, None);
    while !stop.is_requested() {
        match turn(&mut background, &mut in_flight, &mut stop).await {
            Ok(()) => (pause, damage) = (PAUSE_MIN, None),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                let pause_ms = pause.as_millis();
                if !error.is_damage() {
                    tracing::warn!(%error, cause, part = B::PART, pause_ms, "a pause after a fault");
                } else if damage.as_ref() != Some(&cause) {
                    tracing::error!(%error, cause, part = B::PART, "a fault that does not pass by itself; it is reported once");
                    damage = Some(cause);
                }
                stop.after(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
    }
    background.end(in_flight).await;
}

/// One step, and the rest after it.
async fn turn<B: Background>(background: &mut B, in_flight: &mut InFlight, stop: &mut Stop) -> Result<()> {
    let mut ended = Ok(());
    // Everything that ended by now counts as one fault: an outage fails all that is in flight.
    while let Some(done) = in_flight.try_join_next() {
        ended = ended.and(judge(done));
    }
    ended?;
    let Next::Rest(nap) = background.step(in_flight).await? else { return Ok(()) };
    tokio::select! {
        () = rest(nap) => Ok(()),
        () = background.woken() => Ok(()),
        Some(done) = in_flight.join_next() => judge(done),
        () = stop.requested() => Ok(()),
    }
}

/// Sleeps about this long. Long rests end together, at whole half seconds of the process: an idle server's loops then wake its threads once
/// for all of them.
async fn rest(nap: Duration) {
    const TICK: Duration = Duration::from_millis(500);
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    if !(2 * TICK..PAUSE_MAX).contains(&nap) {
        return sleep(nap).await;
    }
    let past = BEGUN.get_or_init(Instant::now).elapsed();
    let beyond = u64::try_from((past + nap + TICK / 2).as_millis() % TICK.as_millis()).unwrap_or(0);
    sleep(nap + TICK / 2 - Duration::from_millis(beyond)).await;
}

fn judge(done: Result<Result<()>, JoinError>) -> Result<()> {
    done.unwrap_or_else(|panicked| Err(Error::internal(panicked)))
}

/// The time until `due`; very long if nothing is due.
pub(crate) fn until(due: Option<Millis>, now: Millis) -> Duration {
    due.map_or(Duration::MAX, |due| Duration::from_millis(u64::try_from(due - now).unwrap_or(0)))
}

/// Runs a loop until `stop`. One that panics restarts, as it would after a crash.
pub(crate) async fn keep<B: Background>(stop: &Stop, begin: impl Fn() -> B) {
    while let Err(panicked) = tokio::spawn(drive(begin(), stop.clone())).await {
        tracing::error!(part = B::PART, %panicked, "a background loop panicked and restarts");
        if stop.clone().after(RESTART).await {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use railgate::ErrorCode;
    use tokio::time::Instant;

    use super::*;
    use crate::stop::{Stopper, stop};

    /// Acts in each step as a test specifies, given the number of steps before it.
    struct Told<F> {
        steps: Arc<AtomicUsize>,
        act: F,
    }

    impl<F: Fn(usize, &mut InFlight) -> Result<Next> + Send + Sync + 'static> Background for Told<F> {
        const PART: &'static str = "a test";

        async fn step(&mut self, in_flight: &mut InFlight) -> Result<Next> {
            (self.act)(self.steps.fetch_add(1, Ordering::SeqCst), in_flight)
        }

        async fn woken(&self) {
            std::future::pending().await
        }
    }

    /// The number of steps that a loop took until it ended.
    async fn steps(stop: &Stop, act: impl Fn(usize, &mut InFlight) -> Result<Next> + Send + Sync + Copy + 'static) -> usize {
        let steps = Arc::new(AtomicUsize::new(0));
        keep(stop, || Told { steps: Arc::clone(&steps), act }).await;
        steps.load(Ordering::SeqCst)
    }

    fn shared() -> (&'static Stopper, Stop) {
        let (stopper, stop) = stop();
        (Box::leak(Box::new(stopper)), stop)
    }

    #[tokio::test(start_paused = true)]
    async fn long_rests_end_together_and_others_when_they_should() {
        let begun = Instant::now();
        let mut ends = Vec::new();
        for late in [0, 70, 130, 310, 490] {
            sleep(Duration::from_millis(late)).await;
            let before = Instant::now();
            rest(Duration::from_secs(1)).await;
            assert!((748..=1_252).contains(&before.elapsed().as_millis()), "{:?}", before.elapsed());
            ends.push(begun.elapsed().as_millis());
        }
        for end in &ends {
            // Timers have milliseconds.
            assert!((*end + 2 - ends[0]) % 500 <= 4, "{ends:?}");
        }
        for exact in [20, 999, 3_000] {
            let before = Instant::now();
            rest(Duration::from_millis(exact)).await;
            assert_eq!(before.elapsed().as_millis(), u128::from(exact));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_panics_restarts_until_it_is_told_to_stop() {
        let (stopper, stop) = shared();
        let taken = steps(&stop, |n, _| {
            assert!(n >= 2, "as told");
            stopper.stop();
            Ok(Next::Step)
        });
        assert_eq!(taken.await, 3);
    }

    #[tokio::test]
    async fn a_loop_that_panics_after_it_was_told_to_stop_does_not_restart() {
        let (stopper, stop) = shared();
        let taken = steps(&stop, |_, _| {
            stopper.stop();
            panic!("as told")
        });
        assert_eq!(taken.await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_after_each_fault_up_to_three_seconds_and_a_success_ends_them() {
        let (stopper, stop) = shared();
        let begun = Instant::now();
        let taken = steps(&stop, |n, in_flight| match n {
            0..=6 => Err(Error::new(ErrorCode::StoreUnavailable)),
            7 => Ok(Next::Step),
            8 => {
                in_flight.spawn(async { Err(Error::new(ErrorCode::StoreUnavailable)) });
                Ok(Next::Rest(Duration::MAX))
            }
            _ => {
                stopper.stop();
                Ok(Next::Step)
            }
        });
        assert_eq!(taken.await, 10);
        let pauses = [100, 200, 400, 800, 1_600, 3_000, 3_000, 100];
        assert_eq!(begun.elapsed(), Duration::from_millis(pauses.iter().sum()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_together_costs_one_pause() {
        let (stopper, stop) = shared();
        let begun = Instant::now();
        let taken = steps(&stop, |n, in_flight| {
            if n == 0 {
                (0..300).for_each(|_| drop(in_flight.spawn(async { Err(Error::new(ErrorCode::StoreUnavailable)) })));
                return Ok(Next::Rest(Duration::MAX));
            }
            stopper.stop();
            Ok(Next::Step)
        });
        assert_eq!(taken.await, 2);
        // One is seen at rest, all others at the next turn.
        assert!(begun.elapsed() <= Duration::from_millis(100 + 200));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_in_flight_at_the_end_is_waited_for() {
        let (stopper, stop) = shared();
        let done: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
        let taken = steps(&stop, |_, in_flight| {
            in_flight.spawn(async {
                sleep(Duration::from_secs(5)).await;
                done.fetch_add(1, Ordering::SeqCst);
                Ok(())
            });
            stopper.stop();
            Ok(Next::Step)
        });
        assert_eq!(taken.await, 1);
        assert_eq!(done.load(Ordering::SeqCst), 1);
    }
}
