//! Tests and replays in flight: one per webhook at a time, so that nobody can make this gateway call a receiver many times
//! at once, or fill its store. Each process counts its own.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate::ids::{ClientNo, Ulid};
use railgate::{Error, ErrorCode, Result};

/// The webhooks with a test or a replay in flight, each with the client that asked: a client that names another's webhook
/// blocks nobody, and does not learn whether its owner is busy with it.
#[derive(Default)]
pub(in crate::http) struct InFlight(Mutex<HashSet<(ClientNo, Ulid)>>);

/// Removes its entry on drop, however the call ends.
pub(super) struct Begun<'a> {
    of: &'a InFlight,
    begun: (ClientNo, Ulid),
}

impl InFlight {
    /// Starts a test or a replay of this webhook for this client.
    pub(super) fn begin(&self, client: ClientNo, webhook: Ulid) -> Result<Begun<'_>> {
        let begun = (client, webhook);
        if self.webhooks().insert(begun) {
            return Ok(Begun { of: self, begun });
        }
        Err(Error::with(ErrorCode::RequestInProgress, "a test or a replay of this webhook is in progress; wait for its response"))
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
