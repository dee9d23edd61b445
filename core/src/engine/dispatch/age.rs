//! How long something has been on its way, whatever happens to the clock.
//!
//! That a rail does not find a payment releases its money once nothing can be on its way any more. The times in records are those of
//! the wall clock, which somebody may set ahead: that must not shorten the wait.

use std::sync::{Mutex, PoisonError};

use crate::env::Env;
use crate::time::Millis;

/// By how much the clocks may differ before the wall clock counts as set. Adjusting it slowly takes half an hour for that.
const STEP: u64 = 500;

/// Compares the wall clock with the steady one.
pub(crate) struct Ages(Mutex<Reading>);

/// Both clocks at one moment.
#[derive(Clone, Copy)]
struct Reading {
    wall: Millis,
    steady: Millis,
}

impl Reading {
    fn of(env: &dyn Env) -> Self {
        let steady = env.steady();
        Self { wall: env.now(), steady }
    }

    fn ahead(self) -> Millis {
        self.wall - self.steady
    }
}

impl Ages {
    /// Starts to compare the clocks.
    pub(crate) fn begin(env: &dyn Env) -> Self {
        Self(Mutex::new(Reading::of(env)))
    }

    /// Notices whether the wall clock was set. The sooner that happens, the shorter the further wait.
    pub(crate) fn look(&self, env: &dyn Env) {
        self.compare(env);
    }

    /// How long something sent at `sent` had at least been on its way at `asked`.
    ///
    /// If the clock was set since it was sent, only the steady time after that counts, and if it was sent before this process
    /// started, only the time since then.
    pub(crate) fn age(&self, env: &dyn Env, sent: Millis, asked: Millis) -> Millis {
        let (now, since) = self.compare(env);
        let by_wall = asked - sent;
        if sent >= since.wall {
            return by_wall;
        }
        let asked_steady = now.steady - (now.wall - asked).max(0);
        by_wall.min(asked_steady - since.steady)
    }

    /// Both clocks now, and at the earliest moment since which they have moved alike.
    fn compare(&self, env: &dyn Env) -> (Reading, Reading) {
        let now = Reading::of(env);
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now.ahead().abs_diff(since.ahead()) > STEP {
            *since = now;
        }
        (now, *since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::ManualEnv;

    const HOUR: Millis = 3_600_000;

    #[test]
    fn an_age_is_never_more_than_the_time_that_passed() {
        let env = ManualEnv::new(HOUR, 1);
        let ages = Ages::begin(&env);
        let age = |sent| ages.age(&env, sent, env.now());
        let pass = |ms| env.advance_to(env.now() + ms);
        assert_eq!(age(0), 0, "sent before the start");
        let sent = env.now();
        pass(1_000);
        assert_eq!((age(sent), age(0)), (1_000, 1_000));

        env.step(HOUR);
        assert_eq!(age(sent), 0);
        let after = env.now();
        pass(2_000);
        assert_eq!((age(sent), age(after)), (2_000, 2_000));

        env.step(-HOUR);
        ages.look(&env);
        pass(3_000);
        assert_eq!(age(sent), 3_000);
        assert!(age(after) < 0);
    }

    #[test]
    fn clocks_that_differ_by_half_a_second_are_no_reason_to_wait() {
        let env = ManualEnv::new(HOUR, 1);
        let ages = Ages::begin(&env);
        let (sent, step) = (env.now(), STEP as Millis);
        env.step(step);
        assert_eq!(ages.age(&env, sent, env.now()), step);
        env.step(1);
        assert_eq!(ages.age(&env, sent, env.now()), 0, "that was one step too many");
    }

    #[test]
    fn many_small_steps_are_noticed_like_a_large_one() {
        let env = ManualEnv::new(HOUR, 1);
        let ages = Ages::begin(&env);
        let sent = env.now();
        for _ in 0..100 {
            env.step(100);
            ages.look(&env);
        }
        assert!(ages.age(&env, sent, env.now()) <= STEP as Millis);
    }

    #[test]
    fn what_was_asked_before_the_clock_was_set_counts_as_asked_then() {
        let env = ManualEnv::new(HOUR, 1);
        let ages = Ages::begin(&env);
        let sent = env.now();
        env.advance_to(sent + 50_000);
        let asked = env.now();
        env.step(HOUR);
        assert!(ages.age(&env, sent, asked) <= 0);
        env.advance_to(env.now() + 90_000);
        assert!(ages.age(&env, sent, asked) <= 50_000);
    }
}
