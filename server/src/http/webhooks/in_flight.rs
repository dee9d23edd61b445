//! Tests and replays that are under way: one of each webhook at a time, so that nobody has this gateway call a receiver many
//! times over at once, or fill its store. Each process counts its own.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate::ids::{ClientNo, Ulid};
use railgate::{Error, ErrorCode, Result};

/// The webhooks that are being tested or replayed to, each with who asked: somebody who names another's webhook stands in
/// nobody's way, and is not told whether its owner is at it.
#[derive(Default)]
pub(in crate::http) struct InFlight(Mutex<HashSet<(ClientNo, Ulid)>>);

/// Ends with the call, however that ends.
pub(super) struct Begun<'a> {
    of: &'a InFlight,
    begun: (ClientNo, Ulid),
}

impl InFlight {
    /// A test of this webhook begins for this client, or a replay.
    pub(super) fn begin(&self, client: ClientNo, webhook: Ulid) -> Result<Begun<'_>> {
        let begun = (client, webhook);
        if self.webhooks().insert(begun) {
            return Ok(Begun { of: self, begun });
        }
        Err(Error::with(ErrorCode::RequestInProgress, "a test of this webhook or a replay is under way; wait for its answer"))
    }

    fn webhooks(&self) -> MutexGuard<'_, HashSet<(ClientNo, Ulid)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.of.webhooks().remove(&self.begun);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_for_its_owner_whatever_others_name() {
        let all = InFlight::default();
        let id = Ulid::parse("01KAJX3M7Q5W8ZP9D2R4T6V8YB").unwrap();
        let (owner, other) = (ClientNo(1), ClientNo(2));
        let others = all.begin(other, id).unwrap();
        let begun = all.begin(owner, id).unwrap();
        assert_eq!(all.begin(owner, id).err().unwrap().code, ErrorCode::RequestInProgress);
        drop(others);
        assert!(all.begin(owner, id).is_err() && all.begin(other, id).is_ok());
        drop(begun);
        assert!(all.begin(owner, id).is_ok());
    }
}
