//! The last minute of a provider's answers.

use super::Outcome;
use crate::time::Millis;

/// How long a slot of the window collects, in milliseconds.
const SLOT_MS: Millis = 10_000;
/// How many slots there are: together a minute.
const SLOTS: usize = 6;
/// Classes of duration: four for each doubling, up to about two minutes.
const CLASSES: usize = 64;

/// How many calls were answered, how many failed, and how long the answers took. Tallies can be merged without loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    answered: u32,
    failed: u32,
    took: [u32; CLASSES],
}

impl Default for Tally {
    fn default() -> Self {
        Self { answered: 0, failed: 0, took: [0; CLASSES] }
    }
}

impl Tally {
    /// Counts a call. Only answers have a duration: how long nothing came says when we gave up.
    pub fn add(&mut self, outcome: Outcome, took_ms: u64) {
        match outcome {
            Outcome::Answered => {
                self.answered = self.answered.saturating_add(1);
                let class = &mut self.took[class_of(took_ms)];
                *class = class.saturating_add(1);
            }
            Outcome::Failed => self.failed = self.failed.saturating_add(1),
        }
    }

    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: &Self) {
        self.answered = self.answered.saturating_add(other.answered);
        self.failed = self.failed.saturating_add(other.failed);
        for (mine, theirs) in self.took.iter_mut().zip(&other.took) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// How many calls were answered.
    pub fn answered(&self) -> u32 {
        self.answered
    }

    /// How many calls failed.
    pub fn failed(&self) -> u32 {
        self.failed
    }

    /// How many calls there were.
    pub fn calls(&self) -> u32 {
        self.answered.saturating_add(self.failed)
    }

    /// The share of calls that were answered, 0 to 1 with four decimals, rounded down; `None` without calls.
    #[expect(clippy::float_arithmetic, reason = "a figure for people, not an amount")]
    pub fn success_rate(&self) -> Option<f64> {
        let shares = (u64::from(self.answered) * 10_000).checked_div(u64::from(self.calls()))?;
        Some(f64::from(u16::try_from(shares).unwrap_or(10_000)) / 10_000.0)
    }

    /// The time within which 95 % of the answers came, in milliseconds: exact up to 8 ms, at most a quarter too high above; what took
    /// longer than two minutes counts as that. `None` without answers.
    pub fn p95_ms(&self) -> Option<u64> {
        let rank = (u64::from(self.answered) * 95).div_ceil(100);
        let mut seen = 0;
        let within = |(class, count): (usize, &u32)| {
            seen += u64::from(*count);
            (seen >= rank).then(|| longest_of(class))
        };
        if rank == 0 { None } else { self.took.iter().enumerate().find_map(within) }
    }
}

/// The class of a duration: below 8 ms one for each, then four for each doubling.
fn class_of(ms: u64) -> usize {
    let class = match ms {
        0..8 => ms,
        _ => {
            let doubling = u64::from(ms.ilog2());
            // The two bits after the leading one.
            8 + (doubling - 3) * 4 + ((ms >> (doubling - 2)) & 3)
        }
    };
    usize::try_from(class).map_or(CLASSES - 1, |class| class.min(CLASSES - 1))
}

/// The longest duration of a class.
fn longest_of(class: usize) -> u64 {
    let class = class as u64;
    match class {
        0..8 => class,
        _ => {
            let (doubling, part) = (3 + (class - 8) / 4, (class - 8) % 4);
            ((5 + part) << (doubling - 2)) - 1
        }
    }
}

/// The tallies of the last minute, in slots of ten seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window([(Millis, Tally); SLOTS]);

impl Default for Window {
    fn default() -> Self {
        Self(std::array::from_fn(|_| (Millis::MIN, Tally::default())))
    }
}

impl Window {
    /// Counts a call that ended at `now`.
    pub fn add(&mut self, now: Millis, outcome: Outcome, took_ms: u64) {
        let number = now.div_euclid(SLOT_MS);
        let place = usize::try_from(number.rem_euclid(SLOTS as Millis)).unwrap_or(0);
        let (of, tally) = &mut self.0[place];
        if *of != number {
            (*of, *tally) = (number, Tally::default());
        }
        tally.add(outcome, took_ms);
    }

    /// All calls of the last minute: of the slot of `now`, and the five before it.
    pub fn lately(&self, now: Millis) -> Tally {
        let number = now.div_euclid(SLOT_MS);
        let mut sum = Tally::default();
        for (of, tally) in &self.0 {
            if (number - SLOTS as Millis + 1..=number).contains(of) {
                sum.merge(tally);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_call_counts_for_the_last_minute_and_no_longer() {
        let mut window = Window::default();
        window.add(5_000, Outcome::Answered, 10);
        window.add(15_000, Outcome::Failed, 10);
        let counts = |window: &Window, now| {
            let lately = window.lately(now);
            (lately.answered(), lately.failed())
        };
        assert_eq!(counts(&window, 4_999), (1, 0), "the same ten seconds");
        assert_eq!(counts(&window, 15_000), (1, 1));
        assert_eq!(counts(&window, 59_999), (1, 1));
        assert_eq!(counts(&window, 60_000), (0, 1));
        assert_eq!(counts(&window, 70_000), (0, 0));
        window.add(65_000, Outcome::Answered, 10);
        assert_eq!(counts(&window, 65_000), (1, 1), "a slot that is used again begins anew");
        assert_eq!(counts(&window, 0), (0, 0), "what a clock that went back has not seen yet");
    }

    #[test]
    fn a_percentile_needs_answers_and_ignores_failures() {
        let mut tally = Tally::default();
        assert_eq!((tally.p95_ms(), tally.success_rate()), (None, None));
        tally.add(Outcome::Failed, 30_000);
        assert_eq!((tally.p95_ms(), tally.success_rate()), (None, Some(0.0)));
        (1..=19).for_each(|_| tally.add(Outcome::Answered, 5));
        tally.add(Outcome::Answered, 90_000);
        assert_eq!(tally.p95_ms(), Some(5), "19 of 20 answers");
        tally.add(Outcome::Answered, 90_000);
        assert!((90_000..112_500).contains(&tally.p95_ms().unwrap()));
    }

    #[test]
    fn the_longest_durations_share_a_class() {
        assert_eq!(class_of(u64::MAX), CLASSES - 1);
        assert_eq!(longest_of(CLASSES - 1), 131_071);
    }

    proptest! {
        #[test]
        fn a_class_overstates_by_a_quarter_at_most(ms in 0u64..131_072) {
            let longest = longest_of(class_of(ms));
            prop_assert!(longest >= ms && longest <= ms + ms / 4, "{ms} ms count as {longest}");
            prop_assert_eq!(class_of(longest), class_of(ms));
            prop_assert_eq!(class_of(longest + 1), (class_of(ms) + 1).min(CLASSES - 1));
        }

        #[test]
        fn merged_tallies_are_as_if_counted_together(calls in proptest::collection::vec((any::<bool>(), 0u64..200_000), 0..60), at in 0usize..60) {
            let count = |calls: &[(bool, u64)]| {
                let mut tally = Tally::default();
                for (answered, ms) in calls {
                    tally.add(if *answered { Outcome::Answered } else { Outcome::Failed }, *ms);
                }
                tally
            };
            let (first, second) = calls.split_at(at.min(calls.len()));
            let mut merged = count(first);
            merged.merge(&count(second));
            prop_assert_eq!(merged, count(&calls));
        }
    }
}
