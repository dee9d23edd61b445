//! Search in what is in the order of its times, by number.

use crate::error::Result;
use crate::time::Millis;

/// A number, and the time of what has it.
pub(crate) type Dated = (i64, Millis);

/// The first number above `low` whose time is `at` or later; that of `high` if there is none below it. What `low` has was before, what
/// `high` has was not.
///
/// `read` returns the first that has this number or a higher one, below `high`. Numbers mostly grow evenly with time, so the first guess is
/// close, and what is read next is beside it: a few pages of a large table instead of one for each halving.
///
/// # Errors
/// Those of `read`.
pub(crate) fn first_from(low: Dated, high: Dated, at: Millis, mut read: impl FnMut(i64) -> Result<Option<Dated>>) -> Result<i64> {
    let (span, passed) = (i128::from(high.1) - i128::from(low.1), i128::from(at) - i128::from(low.1));
    let (mut low, mut high) = (low.0, high.0);
    let guess = if span > 0 { i128::from(high - low) * passed.clamp(0, span) / span } else { i128::from(high - low) / 2 };
    let (mut middle, mut step) = (low + i64::try_from(guess).unwrap_or(1), 1);
    let mut was_before = None;
    while high - low > 1 {
        middle = middle.clamp(low + 1, high - 1);
        let before = match read(middle)?.filter(|found| found.0 < high) {
            Some(found) if found.1 < at => {
                low = found.0;
                true
            }
            Some(_) | None => {
                high = middle;
                false
            }
        };
        // Ever further in one direction, until it is passed; then by halves.
        if was_before.is_none_or(|was| was == before) && step > 0 {
            middle = if before { low.saturating_add(step) } else { high.saturating_sub(step) };
            (step, was_before) = (step.saturating_mul(4), Some(before));
        } else {
            (middle, step) = (low + (high - low) / 2, 0);
        }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_a_walk_finds(gaps in prop::collection::vec((1i64..4, 0i64..50), 0..200), at in -10i64..6_000) {
            let mut all: Vec<Dated> = Vec::new();
            for (further, later) in gaps {
                let (no, time) = all.last().copied().unwrap_or((0, 0));
                all.push((no + further, time + later));
            }
            let end = all.last().map_or(1, |last| last.0 + 1);
            let last = all.last().map_or(0, |last| last.1);
            let read = |no| Ok(all.iter().copied().find(|found| found.0 >= no));
            let found = first_from((0, 0), (end, last), at, read).unwrap();
            // The next one that exists: between numbers, any of them does.
            let next = |no| all.iter().find(|it| it.0 >= no).map(|it| it.0);
            prop_assert_eq!(next(found), all.iter().find(|it| it.1 >= at).map(|it| it.0));
        }
    }

    #[test]
    fn few_are_read_where_numbers_grow_evenly_with_time() {
        let mut reads = Vec::new();
        let found = first_from((0, 0), (1_000_000, 100_000_000), 73_456_789, |no| {
            reads.push(no);
            // A little uneven.
            Ok(Some((no, no * 100 + (no % 97) * 3)))
        });
        let found = found.unwrap();
        assert!((734_500..734_600).contains(&found), "{found}");
        assert!(reads.len() < 16 && reads.iter().all(|no| (no - found).abs() < 300), "{reads:?}");
    }
}
