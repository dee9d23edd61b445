//! How well apps work, as their devices measure it.
//!
//! Points are added to sketches of an hour, which later become sketches of a day; only their ids are kept, for as long as they could be
//! sent again. What is read are sketches, so that its cost does not depend on how many points there were.

mod keep;
mod summary;
mod take;

pub(super) use keep::tidy_quality;
pub use summary::{QUALITY_RANGE_MS, QualityBy, QualityRequest};
pub use take::{QUALITY_DAILY_MAX, QualityTaken, TakeQuality};

use crate::time::Millis;

const HOUR: Millis = 3_600_000;
const DAY: Millis = 24 * HOUR;
