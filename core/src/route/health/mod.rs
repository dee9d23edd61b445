//! Whether a provider answers: what it answered lately, what it says of itself, and a breaker that keeps payments from one that does
//! not.
//!
//! All of it is arithmetic: the time is passed in, in milliseconds of a clock that nobody can set.
//!
//! ```
//! use railgate::route::health::{Breaker, Outcome, Window};
//!
//! let (mut window, mut breaker) = (Window::default(), Breaker::Closed);
//! for second in 1..=5 {
//!     let now = second * 1_000;
//!     window.add(now, Outcome::Failed, 20);
//!     breaker = breaker.hear(Outcome::Failed, now - 20, now, &window.lately(now));
//! }
//! assert!(!breaker.admits(5_000), "five failures and nothing else");
//! assert_eq!(window.lately(5_000).success_rate(), Some(0.0));
//! assert!(breaker.admits(15_000), "after ten seconds, a few may try");
//! ```

mod breaker;
mod window;

use crate::lifecycle::named_enum;
use crate::time::Millis;

pub use breaker::{Breaker, BreakerState};
pub use window::{Tally, Window};

/// The share of answered calls, in percent, below which a provider counts as degraded.
const GOOD_PERCENT: u64 = 95;
/// How many calls a rate must be of before it means something.
const ENOUGH: u32 = 10;
/// From which 95th percentile of its answers on a provider counts as degraded, in milliseconds.
const SLOW_MS: u64 = 5_000;

/// How a call that moves money ended, as far as that says something about the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The provider gave an answer that its protocol allows. That it refused the payment is one.
    Answered,
    /// It could not be reached, or did not give such an answer in time.
    Failed,
}

named_enum! {
    /// How a provider is, from best to worst.
    pub enum Health {
        /// It answers, or was not asked lately.
        Up = "up",
        /// It answers slowly, not always, or is being tried again after an outage.
        Degraded = "degraded",
        /// It does not answer: payments go elsewhere or wait.
        Down = "down",
        /// Its operator announced that it takes no payments for a while.
        Maintenance = "maintenance",
    }
}

impl Health {
    /// Whether a provider that says this of itself takes new payments.
    pub const fn admits(self) -> bool {
        match self {
            Self::Up | Self::Degraded => true,
            Self::Down | Self::Maintenance => false,
        }
    }
}

/// For how long what a provider says of itself counts, in milliseconds.
const SAID_MS: Millis = 120_000;
/// When a payment that may not leave because of it asks again, in milliseconds.
const AGAIN_MS: Millis = 5_000;

/// What a provider last said of itself, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// How it is.
    pub health: Health,
    /// When it said so.
    pub at: Millis,
}

impl Said {
    /// What it said, unless that is too long ago to count.
    pub fn at(self, now: Millis) -> Option<Health> {
        (now - self.at < SAID_MS).then_some(self.health)
    }

    /// Lets a payment leave for it.
    ///
    /// # Errors
    /// In how many milliseconds to ask again, if it said that it takes none.
    pub fn leave(self, now: Millis) -> Result<(), Millis> {
        match self.at(now) {
            Some(health) if !health.admits() => Err(AGAIN_MS.min(self.at + SAID_MS - now)),
            Some(_) | None => Ok(()),
        }
    }
}

/// What is known about a provider's answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// How it is: the worse of what its answers show and what it says of itself.
    pub health: Health,
    /// Whether payments are sent to it.
    pub breaker: BreakerState,
    /// The share of the last minute's calls that were answered; `None` if there were none.
    pub success_rate: Option<f64>,
    /// The time within which 95 % of the last minute's answers came, in milliseconds, at most a quarter too high.
    pub p95_ms: Option<u64>,
    /// When the last call ended, or it last said how it is, by the wall clock.
    pub updated_at: Option<Millis>,
}

impl Reading {
    /// A provider that was never asked.
    pub const NONE: Self = Self { health: Health::Up, breaker: BreakerState::Closed, success_rate: None, p95_ms: None, updated_at: None };

    /// Judges a provider by its breaker, its last minute and its own word.
    pub fn of(breaker: BreakerState, lately: &Tally, said: Option<Health>, updated_at: Option<Millis>) -> Self {
        let (success_rate, p95_ms) = (lately.success_rate(), lately.p95_ms());
        let answered = u64::from(lately.answered()) * 100;
        let poor = lately.calls() >= ENOUGH && answered < u64::from(lately.calls()) * GOOD_PERCENT;
        let health = match breaker {
            BreakerState::Open => Health::Down,
            BreakerState::HalfOpen => Health::Degraded,
            BreakerState::Closed if poor || p95_ms.is_some_and(|p95| p95 >= SLOW_MS) => Health::Degraded,
            BreakerState::Closed => Health::Up,
        };
        let health = health.max(said.unwrap_or(Health::Up));
        Self { health, breaker, success_rate, p95_ms, updated_at }
    }
}

/// Observes one provider. A trait, so that a program whose operators are all inside it does not contain what observes others.
pub trait Pulse: Send + Sync + std::fmt::Debug {
    /// Whether a new payment may be routed to the provider. Costs one atomic read while it answers.
    fn admits(&self) -> bool;
    /// Lets a payment leave for the provider.
    ///
    /// # Errors
    /// In how many milliseconds to ask again, if it may not leave now.
    fn leave(&self) -> Result<(), Millis>;
    /// Takes note of a call that ended now and took so many milliseconds.
    fn hear(&self, outcome: Outcome, took_ms: Millis);
    /// Takes note of what the provider says of itself.
    fn says(&self, health: Health);
    /// What is known now.
    fn reading(&self) -> Reading;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(answered: u32, failed: u32, took_ms: u64) -> Tally {
        let mut tally = Tally::default();
        (0..answered).for_each(|_| tally.add(Outcome::Answered, took_ms));
        (0..failed).for_each(|_| tally.add(Outcome::Failed, took_ms));
        tally
    }

    #[test]
    fn health_follows_the_breaker_then_the_rate_then_the_time() {
        let health = |breaker, tally: &Tally| Reading::of(breaker, tally, None, None).health;
        let fine = tally(20, 0, 50);
        assert_eq!(health(BreakerState::Open, &fine), Health::Down);
        assert_eq!(health(BreakerState::HalfOpen, &fine), Health::Degraded);
        assert_eq!(health(BreakerState::Closed, &fine), Health::Up);
        assert_eq!(health(BreakerState::Closed, &Tally::default()), Health::Up, "nothing is known");
        assert_eq!(health(BreakerState::Closed, &tally(19, 1, 50)), Health::Up, "95 %");
        assert_eq!(health(BreakerState::Closed, &tally(18, 1, 50)), Health::Degraded);
        assert_eq!(health(BreakerState::Closed, &tally(8, 1, 50)), Health::Up, "too few to judge by");
        assert_eq!(health(BreakerState::Closed, &tally(1, 0, 6_000)), Health::Degraded);
    }

    #[test]
    fn the_worse_of_what_is_seen_and_what_it_says_counts() {
        for seen in BreakerState::ALL {
            let alone = Reading::of(*seen, &Tally::default(), None, None).health;
            for said in Health::ALL {
                assert_eq!(Reading::of(*seen, &Tally::default(), Some(*said), None).health, alone.max(*said));
            }
        }
        assert!(Health::Up < Health::Degraded && Health::Degraded < Health::Down && Health::Down < Health::Maintenance);
    }

    #[test]
    fn what_it_says_counts_for_two_minutes() {
        const AT: Millis = 1_000_000;
        for health in Health::ALL {
            let said = Said { health: *health, at: AT };
            let admits = matches!(health, Health::Up | Health::Degraded);
            assert_eq!((said.at(AT), said.at(AT + 119_999), said.at(AT + 120_000)), (Some(*health), Some(*health), None));
            assert_eq!(said.leave(AT), if admits { Ok(()) } else { Err(5_000) });
            assert_eq!(said.leave(AT + 119_000), if admits { Ok(()) } else { Err(1_000) }, "not longer than it counts");
            assert_eq!(said.leave(AT + 120_000), Ok(()));
        }
    }
}
