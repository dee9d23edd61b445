//! The breaker: closed while a provider answers, open while it does not, half-open while a few payments find out.

use super::{Outcome, Tally};
use crate::lifecycle::named_enum;
use crate::time::Millis;

/// How many failures open a breaker if there was no answer in the last minute.
const FAILURES: u32 = 5;
/// From how many calls in the last minute on half of them failing opens a breaker.
const CALLS: u32 = 10;
/// How long a breaker is open the first time, in milliseconds; then twice as long each time.
const OPEN_MS: Millis = 10_000;
/// How often that doubles: up to 320 s.
const DOUBLINGS: u8 = 5;
/// How many payments may find out at the same time whether the provider answers again.
const PROBES: u8 = 3;
/// After how long payments that were to find out, and were never heard of again, are replaced by others, in milliseconds.
const PROBE_MS: Millis = 60_000;
/// When a payment that may not leave asks again while others find out, in milliseconds.
const AGAIN_MS: Millis = 5_000;

/// Whether payments may leave for a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaker {
    /// They may.
    Closed,
    /// They may not, until a time.
    Open {
        /// When a few may try again.
        until: Millis,
        /// How often it opened since it was last closed, less one.
        again: u8,
    },
    /// A few may, to find out.
    HalfOpen {
        /// Since when. What left before that proves nothing.
        since: Millis,
        /// How many left.
        probes: u8,
        /// When the last of them left.
        last: Millis,
        /// How often it opened since it was last closed, less one.
        again: u8,
    },
}

named_enum! {
    /// A [`Breaker`]'s state, without its details.
    pub enum BreakerState {
        /// Payments leave for the provider.
        Closed = "closed",
        /// None do.
        Open = "open",
        /// A few do, to find out whether it answers again.
        HalfOpen = "half_open",
    }
}

impl Breaker {
    /// The breaker at a time: one that was open until then is half-open.
    pub fn at(self, now: Millis) -> Self {
        match self {
            Self::Open { until, again } if until <= now => Self::HalfOpen { since: until, probes: 0, last: until, again },
            Self::Closed | Self::Open { .. } | Self::HalfOpen { .. } => self,
        }
    }

    /// Its state at a time.
    pub fn state(self, now: Millis) -> BreakerState {
        match self.at(now) {
            Self::Closed => BreakerState::Closed,
            Self::Open { .. } => BreakerState::Open,
            Self::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    /// Whether a payment could leave now.
    pub fn admits(self, now: Millis) -> bool {
        self.leave(now).is_ok()
    }

    /// A payment leaves.
    ///
    /// # Errors
    /// In how many milliseconds to ask again, if it may not leave now.
    pub fn leave(self, now: Millis) -> Result<Self, Millis> {
        match self.at(now) {
            Self::Closed => Ok(Self::Closed),
            Self::Open { until, .. } => Err(until - now),
            Self::HalfOpen { since, probes, again, .. } if probes < PROBES => {
                Ok(Self::HalfOpen { since, probes: probes + 1, last: now, again })
            }
            Self::HalfOpen { since, last, again, .. } if last + PROBE_MS <= now => {
                Ok(Self::HalfOpen { since, probes: 1, last: now, again })
            }
            Self::HalfOpen { .. } => Err(AGAIN_MS),
        }
    }

    /// A call that left at `sent` ended now; `lately` counts the last minute's, this one included. A breaker that closes starts with
    /// an empty window.
    #[must_use]
    pub fn hear(self, outcome: Outcome, sent: Millis, now: Millis, lately: &Tally) -> Self {
        match (self.at(now), outcome) {
            (Self::Closed, Outcome::Failed) if is_down(lately) => Self::Open { until: now + OPEN_MS, again: 0 },
            (closed @ Self::Closed, Outcome::Answered | Outcome::Failed) => closed,
            // It left before the breaker opened.
            (open @ Self::Open { .. }, Outcome::Answered | Outcome::Failed) => open,
            (Self::HalfOpen { since, .. }, Outcome::Answered) if sent >= since => Self::Closed,
            (Self::HalfOpen { since, again, .. }, Outcome::Failed) if sent >= since => {
                let again = (again + 1).min(DOUBLINGS);
                Self::Open { until: now + (OPEN_MS << again), again }
            }
            (half_open @ Self::HalfOpen { .. }, Outcome::Answered | Outcome::Failed) => half_open,
        }
    }
}

/// Whether the last minute shows an outage.
fn is_down(lately: &Tally) -> bool {
    let (answered, failed) = (lately.answered(), lately.failed());
    (answered == 0 && failed >= FAILURES) || (lately.calls() >= CALLS && failed >= answered)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_000_000;
    const BOTH: [Outcome; 2] = [Outcome::Answered, Outcome::Failed];

    fn tally(answered: u32, failed: u32) -> Tally {
        let mut tally = Tally::default();
        (0..answered).for_each(|_| tally.add(Outcome::Answered, 1));
        (0..failed).for_each(|_| tally.add(Outcome::Failed, 1));
        tally
    }

    fn half_open(probes: u8, last: Millis) -> Breaker {
        Breaker::HalfOpen { since: NOW - 1_000, probes, last, again: 0 }
    }

    #[test]
    fn a_closed_breaker_opens_on_exactly_the_failures_that_show_an_outage() {
        let open = Breaker::Open { until: NOW + 10_000, again: 0 };
        for answered in 0..30 {
            for failed in 0..30 {
                let shown = (answered == 0 && failed >= 5) || (answered + failed >= 10 && failed * 2 >= answered + failed);
                let lately = tally(answered, failed);
                let expected = if shown { open } else { Breaker::Closed };
                assert_eq!(Breaker::Closed.hear(Outcome::Failed, 0, NOW, &lately), expected, "{answered} answered, {failed} failed");
                assert_eq!(Breaker::Closed.hear(Outcome::Answered, 0, NOW, &lately), Breaker::Closed, "an answer opens nothing");
            }
        }
    }

    #[test]
    fn an_open_breaker_lets_nothing_leave_and_learns_nothing_until_its_time_is_over() {
        for again in 0..=DOUBLINGS {
            for left in [1, 10, 320_000] {
                let open = Breaker::Open { until: NOW + left, again };
                assert_eq!(open.state(NOW), BreakerState::Open);
                assert_eq!((open.leave(NOW), open.admits(NOW)), (Err(left), false));
                for outcome in BOTH {
                    for sent in [0, NOW] {
                        assert_eq!(open.hear(outcome, sent, NOW, &tally(9, 9)), open);
                    }
                }
            }
            for over in [0, 1, 3_600_000] {
                let open = Breaker::Open { until: NOW - over, again };
                let since = NOW - over;
                assert_eq!(open.at(NOW), Breaker::HalfOpen { since, probes: 0, last: since, again });
                assert_eq!(open.leave(NOW), Ok(Breaker::HalfOpen { since, probes: 1, last: NOW, again }));
            }
        }
    }

    #[test]
    fn a_half_open_breaker_lets_three_leave() {
        let mut breaker = half_open(0, NOW - 1_000);
        for n in 1..=3 {
            breaker = breaker.leave(NOW + n).unwrap();
            assert_eq!(breaker, half_open(u8::try_from(n).unwrap(), NOW + n));
        }
        assert_eq!((breaker.leave(NOW + 4), breaker.admits(NOW + 4)), (Err(AGAIN_MS), false));
        assert_eq!(breaker.leave(NOW + 3 + PROBE_MS - 1), Err(AGAIN_MS));
        let lost = NOW + 3 + PROBE_MS;
        assert_eq!(breaker.leave(lost), Ok(half_open(1, lost)), "the three were never heard of again");
        assert_eq!(breaker.state(lost), BreakerState::HalfOpen);
    }

    #[test]
    fn what_left_since_it_is_half_open_decides_and_nothing_older() {
        let since = NOW - 1_000;
        for probes in 0..=PROBES {
            for again in 0..=DOUBLINGS {
                let breaker = Breaker::HalfOpen { since, probes, last: NOW, again };
                let lately = tally(0, 20);
                for outcome in BOTH {
                    assert_eq!(breaker.hear(outcome, since - 1, NOW, &lately), breaker);
                }
                assert_eq!(breaker.hear(Outcome::Answered, since, NOW, &lately), Breaker::Closed);
                let next = (again + 1).min(DOUBLINGS);
                let open = Breaker::Open { until: NOW + (10_000 << next), again: next };
                assert_eq!(breaker.hear(Outcome::Failed, since, NOW, &tally(20, 1)), open);
            }
        }
    }

    #[test]
    fn an_outage_that_goes_on_is_probed_ever_less_often_and_its_end_forgets_that() {
        let (mut now, mut breaker) = (NOW, Breaker::Closed.hear(Outcome::Failed, NOW, NOW, &tally(0, 5)));
        let mut waits = Vec::new();
        for _ in 0..8 {
            let Err(wait) = breaker.leave(now) else { panic!("{breaker:?} is not open") };
            waits.push(wait / 1_000);
            now += wait;
            breaker = breaker.leave(now).unwrap().hear(Outcome::Failed, now, now, &Tally::default());
        }
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 320, 320]);
        now += 320_000;
        let recovered = breaker.leave(now).unwrap().hear(Outcome::Answered, now, now, &Tally::default());
        assert_eq!(recovered, Breaker::Closed);
        assert_eq!(recovered.hear(Outcome::Failed, now, now, &tally(0, 5)), Breaker::Open { until: now + 10_000, again: 0 });
    }
}
