//! How well apps work, as their devices measure it: what is kept of many points instead of the points themselves.
//!
//! ```
//! use railgate::quality::{Devices, Sketch};
//!
//! // Two sketches of different values become one of all of them.
//! let (mut one, mut other) = (Sketch::default(), Sketch::default());
//! (1..=100).for_each(|value| one.add(value));
//! (101..=200).for_each(|value| other.add(value));
//! one.merge(&other);
//! assert_eq!((one.count(), one.min(), one.max()), (200, Some(1), Some(200)));
//!
//! // Whether they are of five devices is all that is kept of who measured.
//! let mut devices = Devices::one(1);
//! (1..=4).for_each(|no| devices.merge(&Devices::one(no)));
//! assert!(!devices.are_enough());
//! devices.merge(&Devices::one(5));
//! assert_eq!(devices, Devices::Enough);
//! ```

mod sketch;

pub use sketch::{SKETCH_BINS_MAX, SKETCH_MAX, Sketch};

/// How many devices a group needs to be shown by itself.
pub const DEVICES_MIN: usize = 5;

/// Which devices contributed, as far as it takes to tell whether they are [`DEVICES_MIN`]: their numbers are forgotten as soon as they are.
/// Which of them came first makes no difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Devices {
    /// Fewer: the numbers of their keys, in order.
    Few(Vec<u32>),
    /// At least as many.
    Enough,
}

impl Default for Devices {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Devices {
    /// A single one.
    pub fn one(no: u32) -> Self {
        Self::Few(vec![no])
    }

    /// These and others.
    pub fn merge(&mut self, others: &Self) {
        if let (Self::Few(own), Self::Few(more)) = (&mut *self, others) {
            own.extend(more);
            own.sort_unstable();
            own.dedup();
            if own.len() < DEVICES_MIN {
                return;
            }
        }
        *self = Self::Enough;
    }

    /// Whether they are at least [`DEVICES_MIN`].
    pub fn are_enough(&self) -> bool {
        *self == Self::Enough
    }

    /// Four bytes for each number; a single byte for enough.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Few(numbers) => numbers.iter().flat_map(|no| no.to_be_bytes()).collect(),
            Self::Enough => vec![1],
        }
    }

    /// Reads what [`Devices::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        let numbers: Vec<u32> = numbers.iter().map(|no| u32::from_be_bytes(*no)).collect();
        match rest {
            [] if numbers.len() < DEVICES_MIN && numbers.is_sorted_by(|one, next| one < next) => Some(Self::Few(numbers)),
            [1] if numbers.is_empty() => Some(Self::Enough),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(numbers: &[u32]) -> Devices {
        let mut devices = Devices::default();
        numbers.iter().for_each(|no| devices.merge(&Devices::one(*no)));
        devices
    }

    proptest! {
        #[test]
        fn it_is_exactly_known_whether_devices_are_enough(groups in prop::collection::vec(prop::collection::vec(0u32..9, 0..6), 0..5)) {
            let mut union = Devices::default();
            groups.iter().for_each(|group| union.merge(&of(group)));
            let distinct: BTreeSet<u32> = groups.iter().flatten().copied().collect();
            prop_assert_eq!(union.are_enough(), distinct.len() >= DEVICES_MIN);
            let mut backwards = Devices::default();
            groups.iter().rev().for_each(|group| backwards.merge(&of(group)));
            prop_assert_eq!(&backwards, &union);
            prop_assert_eq!(Devices::decode(&union.encode()), Some(union));
        }
    }

    #[test]
    fn what_is_no_set_of_devices_is_refused() {
        for bytes in [&[0][..], &[0, 0, 0, 2, 0, 0, 0, 1], &[0, 0, 0, 1, 1], &[0; 20]] {
            assert_eq!(Devices::decode(bytes), None, "{bytes:?}");
        }
    }
}
