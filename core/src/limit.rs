//! Rate limiting by the generic cell rate algorithm (GCRA), in whole microseconds. A call may cost more than one use.
//!
//! ```
//! use railgate::limit::Gcra;
//!
//! # let now_us = 1_795_257_497_042_000;
//! let limit = Gcra::per_minute(60);
//! let mut caller = 0; // a new caller; keep one number for each
//!
//! // The quota may be used up at once.
//! for _ in 0..60 {
//!     assert!(limit.take(&mut caller, now_us).allowed);
//! }
//! let refused = limit.take(&mut caller, now_us);
//! assert_eq!((refused.allowed, refused.remaining, refused.retry_after_s), (false, 0, 1));
//!
//! // It refills evenly: one use a second.
//! assert!(limit.take(&mut caller, now_us + 1_000_000).allowed);
//! assert!(limit.is_full(caller, now_us + 61_000_000));
//! ```
//!
//! The only state of a caller is one number: the time at which its quota is full again. So a limit needs no clock, no list
//! of past calls and no background work.

/// Microseconds per minute.
const MINUTE_US: i64 = 60_000_000;
const SECOND_US: i64 = 1_000_000;
/// The most uses that one call may cost.
pub const MOST: u32 = 1_000;

/// A quota per minute. It may be used up at once and then refills evenly.
///
/// In any period, at most the quota plus the refill of that period is allowed, if no call costs more than half of the quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gcra {
    quota: u32,
    /// How long one use takes to refill.
    interval_us: i64,
}

/// The decision about one use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Whether it is allowed. If not, nothing was used up.
    pub allowed: bool,
    /// How many more uses are allowed right now.
    pub remaining: u32,
    /// Seconds until the quota is full again, rounded up.
    pub reset_s: u32,
    /// Seconds until the next use is allowed, rounded up; 0 if one is allowed now.
    pub retry_after_s: u32,
}

impl Gcra {
    /// `quota` uses per minute: at least 1, at most 60 million.
    pub fn per_minute(quota: u32) -> Self {
        let quota = quota.clamp(1, 60_000_000);
        // Rounded up, so that rounding never exceeds the quota.
        let interval_us = (MINUTE_US + i64::from(quota) - 1) / i64::from(quota);
        Self { quota, interval_us }
    }

    /// The quota per minute.
    pub fn quota(&self) -> u32 {
        self.quota
    }

    /// Takes one use, if any is left. `state` is the caller's theoretical arrival time: 0 for a new caller. It may be dropped
    /// without loss once [`Gcra::is_full`]. Times are microseconds since any fixed moment in the distant past.
    pub fn take(&self, state: &mut i64, now_us: i64) -> Decision {
        self.take_many(state, 1, now_us)
    }

    /// Takes `count` uses at once, at most [`MOST`], or none. A call that costs more than half of the quota is allowed when half of it is
    /// left: what it costs beyond what is left is paid back before the next one.
    pub fn take_many(&self, state: &mut i64, count: u32, now_us: i64) -> Decision {
        let count = count.min(MOST);
        let window_us = self.interval_us * i64::from(self.quota);
        // A clock that was set back must not lock a caller out for longer than one window and the largest debt.
        let arrival = (*state).clamp(now_us, now_us.saturating_add(window_us + self.interval_us * i64::from(MOST)));
        let before_us = window_us - (arrival - now_us);
        let needed_us = self.interval_us * i64::from(count.min(self.quota.div_ceil(2)));
        let allowed = before_us >= needed_us;
        let cost_us = if allowed { self.interval_us * i64::from(count) } else { 0 };
        // Also on a refusal, where it only matters after such a clock change: otherwise each refusal would restart the window.
        *state = arrival.saturating_add(cost_us);
        let left_us = before_us - cost_us;
        let wait_us = (if allowed { self.interval_us } else { needed_us }) - left_us;
        Decision {
            allowed,
            remaining: whole(left_us / self.interval_us),
            reset_s: seconds(window_us - left_us),
            retry_after_s: seconds(wait_us),
        }
    }

    /// Whether the quota is full. The caller's state then has no information and may be dropped.
    pub fn is_full(&self, state: i64, now_us: i64) -> bool {
        state <= now_us
    }
}

/// Whole seconds, rounded up, at least 0.
fn seconds(us: i64) -> u32 {
    whole((us.max(0) + SECOND_US - 1) / SECOND_US)
}

fn whole(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: i64 = 1_795_257_497_042_000;

    #[test]
    fn the_quota_may_be_used_at_once_and_comes_back_evenly() {
        let limit = Gcra::per_minute(3);
        let mut state = 0;
        let told = |d: Decision| (d.allowed, d.remaining, d.reset_s, d.retry_after_s);
        assert_eq!(told(limit.take(&mut state, NOW)), (true, 2, 20, 0));
        assert_eq!(told(limit.take(&mut state, NOW)), (true, 1, 40, 0));
        assert_eq!(told(limit.take(&mut state, NOW)), (true, 0, 60, 20));
        let before = state;
        assert_eq!(told(limit.take(&mut state, NOW + 1)), (false, 0, 60, 20));
        assert_eq!(told(limit.take(&mut state, NOW + 19_999_999)), (false, 0, 41, 1));
        assert_eq!(state, before, "a refused use uses nothing up");
        assert_eq!(told(limit.take(&mut state, NOW + 20_000_000)), (true, 0, 60, 20));
        assert!(!limit.is_full(state, NOW + 79_999_999) && limit.is_full(state, NOW + 80_000_000));
        assert_eq!(told(limit.take(&mut state, NOW + 80_000_000)), (true, 2, 20, 0));
    }

    #[test]
    fn a_call_that_costs_much_is_paid_back_before_the_next_one() {
        let limit = Gcra::per_minute(600);
        let told = |d: Decision| (d.allowed, d.remaining, d.retry_after_s);
        let mut state = 0;
        assert_eq!(told(limit.take_many(&mut state, 200, NOW)), (true, 400, 0));
        assert_eq!(told(limit.take_many(&mut state, 1_000, NOW)), (true, 0, 61), "more than there is in a minute, half of which is left");
        assert_eq!(told(limit.take_many(&mut state, 1, NOW + 60 * SECOND_US)), (false, 0, 1));
        assert_eq!(told(limit.take_many(&mut state, 1, NOW + 61 * SECOND_US)), (true, 9, 0));
        assert_eq!(told(limit.take_many(&mut state, 300, NOW + 61 * SECOND_US)), (false, 9, 30), "half of the quota comes first");
        assert_eq!(told(limit.take_many(&mut state, 300, NOW + 91 * SECOND_US)), (true, 9, 0));
    }

    #[test]
    fn many_a_minute_are_told_in_seconds_rounded_up() {
        let first = Gcra::per_minute(3_000).take(&mut 0, NOW);
        assert_eq!(first, Decision { allowed: true, remaining: 2_999, reset_s: 1, retry_after_s: 0 });
        assert_eq!(Gcra::per_minute(0).quota(), 1);
        assert!(Gcra::per_minute(u32::MAX).take(&mut 0, NOW).allowed);
    }

    #[test]
    fn a_clock_that_is_put_back_locks_nobody_out_for_long() {
        let limit = Gcra::per_minute(60);
        let mut state = 0;
        limit.take(&mut state, NOW);
        let back = NOW - 86_400 * SECOND_US;
        // At most as long as after the largest debt, which a clock that was put back looks like.
        assert_eq!(limit.take(&mut state, back).retry_after_s, 1 + MOST);
        assert!(limit.take(&mut state, back + i64::from(1 + MOST) * SECOND_US).allowed);
    }

    proptest! {
        #[test]
        fn no_span_of_time_holds_more_than_the_quota_and_what_came_back(
            quota in 1u32..200,
            steps in proptest::collection::vec(0i64..2_000_000, 1..600),
        ) {
            let limit = Gcra::per_minute(quota);
            let (mut state, mut now) = (0, NOW);
            let mut allowed = Vec::new();
            for step in steps {
                now += step;
                if limit.take(&mut state, now).allowed {
                    allowed.push(now);
                }
            }
            for (first, from) in allowed.iter().enumerate() {
                for (last, until) in allowed.iter().enumerate().skip(first) {
                    let came_back = (until - from) / limit.interval_us;
                    prop_assert!((last - first + 1) as i64 <= i64::from(quota) + came_back);
                }
            }
        }

        #[test]
        fn no_span_of_time_costs_more_than_the_quota_what_came_back_and_one_debt(
            quota in 1u32..200,
            calls in proptest::collection::vec((0i64..2_000_000, 1u32..400), 1..300),
        ) {
            let limit = Gcra::per_minute(quota);
            let (mut state, mut now) = (0, NOW);
            let mut allowed: Vec<(i64, i64)> = Vec::new();
            for (step, count) in calls {
                now += step;
                if limit.take_many(&mut state, count, now).allowed {
                    allowed.push((now, count.into()));
                }
            }
            for (first, (from, _)) in allowed.iter().enumerate() {
                let mut cost = 0;
                for (until, count) in &allowed[first..] {
                    cost += count;
                    prop_assert!(cost <= i64::from(quota) + (until - from) / limit.interval_us + (count - i64::from(quota) / 2).max(0));
                }
            }
        }

        #[test]
        fn what_is_told_is_true(quota in 1u32..500, steps in proptest::collection::vec(0i64..5_000_000, 1..100)) {
            let limit = Gcra::per_minute(quota);
            let (mut state, mut now) = (0, NOW);
            for step in steps {
                now += step;
                let told = limit.take(&mut state, now);
                let mut copy = state;
                for _ in 0..told.remaining {
                    prop_assert!(limit.take(&mut copy, now).allowed);
                }
                prop_assert!(!limit.take(&mut copy, now).allowed);
                prop_assert_eq!(told.remaining == 0, told.retry_after_s > 0);
                prop_assert!(limit.take(&mut state.clone(), now + i64::from(told.retry_after_s) * SECOND_US).allowed);
                prop_assert!(limit.is_full(state, now + i64::from(told.reset_s) * SECOND_US));
            }
        }
    }
}
