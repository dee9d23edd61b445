//! Quantiles of many numbers in little space: a DDSketch with an integer mapping.
//!
//! Numbers are counted in bins, fifty to each power of two, so that any two numbers of a bin differ by little of their size. A quantile
//! is the middle of the bin that holds it: at most one hundredth of its size away from the exact one (nearest rank). Two sketches merge by
//! adding up their bins. The result is the same in whatever order numbers and sketches come, bit for bit and on every platform, because
//! nothing is computed with floats. That, and the size of what is stored (two to four bytes for each bin in use), is why this is not one
//! of the published packages.
//!
//! ```
//! use railgate::quality::Sketch;
//!
//! let mut sketch = Sketch::default();
//! (1..=1_000).for_each(|value| sketch.add(value));
//! assert!((495 * 2..=505 * 2).contains(&sketch.twice_quantile(50).unwrap_or_default()));
//! assert_eq!((sketch.count(), sketch.sum(), sketch.max()), (1_000, 500_500, Some(1_000)));
//! ```
//!
//! Sources: C. Masson, J. E. Rim, H. K. Lee, "DDSketch: A Fast and Fully-Mergeable Quantile Sketch with Relative-Error Guarantees", PVLDB
//! 12 (2019), with the linearly interpolated mapping.

use crate::store::compact::{Rest, number, signed};

/// The bins of each power of two. Half of a bin is a hundredth of its smallest number.
const BINS_PER_POWER: u64 = 50;
/// The largest number that a sketch takes, and the smallest one below zero. Larger ones count as this one.
pub const SKETCH_MAX: i64 = 1_000_000_000_000_000;
/// The most bins that a sketch can have: those of every power of two up to [`SKETCH_MAX`], on both sides of zero, and zero itself. It never
/// has to give up precision to stay small.
pub const SKETCH_BINS_MAX: usize = 2 * (SKETCH_MAX.ilog2() as usize + 1) * BINS_PER_POWER as usize + 1;

/// The first byte of an encoded sketch.
const FORMAT: u8 = 1;

/// How many numbers there were, their sum, the smallest and the largest one, and about where the others lie.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sketch {
    /// The bins in use, by index: the sign of its numbers, their power of two, and the part of it.
    bins: Vec<(i32, u64)>,
    sum: i128,
    min: i64,
    max: i64,
}

/// The bin of a number; 0 for zero.
fn bin(value: i64) -> i32 {
    let size = value.unsigned_abs();
    let Some(power) = size.checked_ilog2() else { return 0 };
    let part = ((size - (1 << power)) * BINS_PER_POWER) >> power;
    // At most fifty times fifty.
    let index = 1 + i32::try_from(u64::from(power) * BINS_PER_POWER + part).unwrap_or(i32::MAX - 1);
    if value < 0 { -index } else { index }
}

/// Twice the middle of a bin: the sum of its smallest and its largest number.
fn twice_middle(bin: i32) -> i64 {
    let Some(index) = u64::from(bin.unsigned_abs()).checked_sub(1) else { return 0 };
    let (power, part) = (index / BINS_PER_POWER, index % BINS_PER_POWER);
    let from = |part: u64| (1 << power) + (part << power).div_ceil(BINS_PER_POWER);
    let twice = i64::try_from(from(part) + from(part + 1) - 1).unwrap_or(i64::MAX);
    if bin < 0 { -twice } else { twice }
}

impl Sketch {
    /// Counts a number.
    pub fn add(&mut self, value: i64) {
        let value = value.clamp(-SKETCH_MAX, SKETCH_MAX);
        self.note(value, value, value.into());
        let index = bin(value);
        match self.bins.binary_search_by_key(&index, |(bin, _)| *bin) {
            Ok(at) => self.bins[at].1 = self.bins[at].1.saturating_add(1),
            Err(at) => self.bins.insert(at, (index, 1)),
        }
    }

    /// Counts all that another sketch has counted.
    pub fn merge(&mut self, other: &Self) {
        if other.bins.is_empty() {
            return;
        }
        self.note(other.min, other.max, other.sum);
        let own = std::mem::take(&mut self.bins);
        self.bins.reserve(own.len().max(other.bins.len()));
        let (mut own, mut others) = (own.into_iter().peekable(), other.bins.iter().copied().peekable());
        loop {
            let next = match (own.peek(), others.peek()) {
                (Some((one, count)), Some((other, more))) if one == other => {
                    let both = (*one, count.saturating_add(*more));
                    others.next();
                    own.next();
                    both
                }
                (Some((one, _)), Some((other, _))) if one > other => others.next().unwrap_or_default(),
                (Some(_), _) => own.next().unwrap_or_default(),
                (None, Some(_)) => others.next().unwrap_or_default(),
                (None, None) => return,
            };
            self.bins.push(next);
        }
    }

    /// Widens the bounds and adds to the sum, before the bins change.
    fn note(&mut self, min: i64, max: i64, sum: i128) {
        let is_first = self.bins.is_empty();
        self.min = if is_first { min } else { self.min.min(min) };
        self.max = if is_first { max } else { self.max.max(max) };
        self.sum = self.sum.saturating_add(sum);
    }

    /// How many numbers were counted.
    pub fn count(&self) -> u64 {
        self.bins.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Their sum.
    pub const fn sum(&self) -> i128 {
        self.sum
    }

    /// The smallest one.
    pub fn min(&self) -> Option<i64> {
        (!self.bins.is_empty()).then_some(self.min)
    }

    /// The largest one.
    pub fn max(&self) -> Option<i64> {
        (!self.bins.is_empty()).then_some(self.max)
    }

    /// Twice the number below or at which this share of all lies, in hundredths: the middle of a bin may lie between two whole numbers.
    pub fn twice_quantile(&self, percent: u8) -> Option<i64> {
        let rank = (u128::from(self.count()) * u128::from(percent.min(100))).div_ceil(100).max(1);
        let mut passed = 0;
        let found = self.bins.iter().find(|(_, count)| {
            passed += u128::from(*count);
            passed >= rank
        });
        found.map(|(bin, _)| twice_middle(*bin).clamp(2 * self.min, 2 * self.max))
    }

    /// The number of its bins.
    pub fn bins(&self) -> usize {
        self.bins.len()
    }

    /// Encodes it as defined in [`compact`](crate::store::compact): the format, the number of bins, the smallest and the largest number,
    /// the sum, and of each bin the distance to the one before it and its count.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 + 3 * self.bins.len());
        out.push(FORMAT);
        number(&mut out, self.bins.len() as u64);
        signed(&mut out, self.min);
        signed(&mut out, self.max);
        out.extend_from_slice(&self.sum.to_le_bytes());
        let mut before = 0;
        for (bin, count) in &self.bins {
            signed(&mut out, i64::from(*bin) - before);
            number(&mut out, *count);
            before = i64::from(*bin);
        }
        out
    }

    /// Reads what [`Sketch::encode`] wrote; `None` if it is damaged, or of a newer version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        let bins = rest.byte().filter(|format| *format == FORMAT).and_then(|_| rest.count())?;
        let (min, max) = (rest.signed()?, rest.signed()?);
        let sum = i128::from_le_bytes(rest.bytes(16)?.try_into().ok()?);
        let mut sketch = Self { bins: Vec::with_capacity(bins), sum, min, max };
        let (mut last, mut total) = (None, 0u64);
        for _ in 0..bins {
            let index = i32::try_from(rest.signed()?.checked_add(last.map_or(0, i64::from))?).ok()?;
            let count = rest.number().filter(|count| *count > 0 && last.is_none_or(|last| index > last))?;
            total = total.checked_add(count)?;
            sketch.bins.push((index, count));
            last = Some(index);
        }
        let ends = sketch.bins.first().zip(sketch.bins.last());
        let fits = ends.map_or((min, max, sum) == (0, 0, 0), |(first, last)| (first.0, last.0) == (bin(min), bin(max)));
        (fits && rest.0.is_empty()).then_some(sketch)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[i64]) -> Sketch {
        let mut sketch = Sketch::default();
        values.iter().for_each(|value| sketch.add(*value));
        sketch
    }

    /// Of every size, as measurements are: most of the numbers of a range are of its largest power of two.
    fn any_value() -> impl Strategy<Value = i64> {
        let size = (0u32..50).prop_flat_map(|power| 0..=(1i64 << power).min(SKETCH_MAX));
        prop_oneof![4 => size.clone(), 1 => size.prop_map(|value| -value), 1 => Just(0), 1 => -SKETCH_MAX..=SKETCH_MAX]
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_a_hundredth_of_the_exact_one(mut values in prop::collection::vec(any_value(), 1..400), percent in 0u8..=100) {
            let found = i128::from(of(&values).twice_quantile(percent).unwrap());
            values.sort_unstable();
            let rank = (values.len() * usize::from(percent)).div_ceil(100).max(1);
            let exact = i128::from(values[rank - 1]);
            prop_assert!((found - 2 * exact).abs() * 100 <= 2 * exact.abs(), "{found} / 2 is not near {exact}");
        }

        #[test]
        fn merging_is_associative_and_commutative_and_like_counting(
            a in prop::collection::vec(any_value(), 0..60), b in prop::collection::vec(any_value(), 0..60), c in prop::collection::vec(any_value(), 0..60),
        ) {
            let merged = |one: &Sketch, other: &Sketch| {
                let mut one = one.clone();
                one.merge(other);
                one
            };
            let all = of(&[a.as_slice(), &b, &c].concat());
            let (a, b, c) = (of(&a), of(&b), of(&c));
            prop_assert_eq!(merged(&merged(&a, &b), &c), all.clone());
            prop_assert_eq!(merged(&a, &merged(&b, &c)), all.clone());
            prop_assert_eq!(merged(&merged(&c, &b), &a), all);
        }

        #[test]
        fn a_sketch_is_read_as_it_was_written(values in prop::collection::vec(any_value(), 0..200)) {
            let sketch = of(&values);
            let bytes = sketch.encode();
            prop_assert_eq!(Sketch::decode(&bytes), Some(sketch.clone()));
            prop_assert_eq!(Sketch::decode(&bytes[..bytes.len() - 1]), None);
            prop_assert_eq!(Sketch::decode(&[bytes.as_slice(), &[0]].concat()), None);
            prop_assert_eq!(sketch.count(), values.len() as u64);
            prop_assert_eq!(sketch.sum(), values.iter().map(|value| i128::from(*value)).sum::<i128>());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Sketch::decode(&bytes);
        }
    }

    #[test]
    fn a_sketch_has_bounds() {
        let mut sketch = Sketch::default();
        assert_eq!((sketch.count(), sketch.min(), sketch.max(), sketch.twice_quantile(50)), (0, None, None, None));
        for power in 0..50u32 {
            for part in 0..200 {
                let value = (1i64 << power) + ((1i64 << power) / 200) * part;
                sketch.add(value);
                sketch.add(-value);
            }
        }
        sketch.add(i64::MAX);
        sketch.add(i64::MIN);
        sketch.add(0);
        assert_eq!((sketch.min(), sketch.max()), (Some(-SKETCH_MAX), Some(SKETCH_MAX)));
        assert!(sketch.bins() > SKETCH_BINS_MAX / 2 && sketch.bins() <= SKETCH_BINS_MAX, "{}", sketch.bins());
        assert!(sketch.encode().len() < 20_000, "{}", sketch.encode().len());
    }

    #[test]
    fn small_numbers_are_exact() {
        for value in -60..=60 {
            assert_eq!(of(&[value - 1, value, value + 1]).twice_quantile(50), Some(2 * value));
        }
    }
}
