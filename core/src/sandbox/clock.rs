//! How the sandbox's clock is stored: 8 bytes, big-endian, for how far it is ahead, plus 8 bytes for the time at which it is stopped,
//! if it is.

use crate::clock::Clock;
use crate::error::{Error, Result};

pub(super) fn to_bytes(clock: Clock) -> Vec<u8> {
    [Some(clock.ahead), clock.frozen_at].into_iter().flatten().flat_map(i64::to_be_bytes).collect()
}

pub(super) fn from_bytes(bytes: &[u8]) -> Result<Clock> {
    let (values, []) = bytes.as_chunks::<8>() else { return Err(damaged()) };
    match values {
        [ahead] => Ok(Clock { ahead: i64::from_be_bytes(*ahead), frozen_at: None }),
        [ahead, frozen_at] => Ok(Clock { ahead: i64::from_be_bytes(*ahead), frozen_at: Some(i64::from_be_bytes(*frozen_at)) }),
        _ => Err(damaged()),
    }
}

fn damaged() -> Error {
    Error::internal("the stored clock of the sandbox is damaged")
}
