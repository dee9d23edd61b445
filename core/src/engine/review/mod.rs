//! What waits for a person, and what the person decides.
//!
//! A settlement or reversal needs review if its outcome is still unknown after a day, or if an answer of its rail contradicts what
//! was proved. The queue has a row for each, which is written and removed in the commit that sets or clears `needs_review`. A sandbox
//! has no operator and therefore no queue.

mod ask;
mod mend;
mod queue;
mod read;
mod resolve;

use crate::time::Millis;

pub use ask::Asked;
pub(crate) use mend::mend;
pub(crate) use queue::{Mark, queue};
pub use read::DueReviews;
pub use resolve::{ResolveReview, Reviewed};

/// How long something that was put off stays out of the queue.
const AGAIN_AFTER: Millis = 86_400_000;
