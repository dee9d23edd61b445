//! Draws numbers from a seed.

/// SplitMix64: small, fast, and good enough to choose what happens.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

/// 2⁶⁴ divided by the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The draws of one step. They depend on nothing that other steps do, so that a step does the same when others are left out.
    pub(super) const fn of(seed: u64, step: u64) -> Self {
        Self(mix(mix(seed.wrapping_add(GAMMA)).wrapping_add(step.wrapping_mul(GAMMA))))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// A number below `n`, or 0 if that is 0.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next().checked_rem(n).unwrap_or(0)
    }

    /// An index of a list of this length.
    pub(super) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of these; the list is not empty.
    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())]
    }
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
