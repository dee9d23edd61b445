//! Limits the open event streams. Each occupies a connection, and reads from the store, for as long as its client likes:
//! so each client has its share of them, and other calls keep enough connections. Each process counts its own.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate::ids::ClientNo;
use railgate::{Error, ErrorCode, Result};

use super::App;

/// The open streams, by client.
#[derive(Default)]
pub(super) struct Streams(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    all: usize,
    of: HashMap<ClientNo, usize>,
}

/// A stream's place, freed on drop.
pub(super) struct Place {
    app: App,
    client: ClientNo,
}

/// Reserves a place for a stream of this client.
///
/// # Errors
/// `rate_limited` when the client, or all clients together, have as many streams as allowed.
pub(super) fn take(app: &App, client: ClientNo) -> Result<Place> {
    app.streams.counts().take(client, app.limits.client_streams, app.limits.connections / 2)?;
    Ok(Place { app: app.clone(), client })
}

impl Streams {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn take(&mut self, client: ClientNo, most_of_one: usize, most: usize) -> Result<()> {
        if self.of.get(&client).is_some_and(|open| *open >= most_of_one) || most_of_one == 0 {
            let detail = format!("a client may have {most_of_one} event streams open; close one of them first");
            return Err(Error::with(ErrorCode::RateLimited, detail));
        }
        if self.all >= most {
            return Err(Error::with(ErrorCode::RateLimited, "too many event streams are open; try again later, or read pages"));
        }
        *self.of.entry(client).or_default() += 1;
        self.all += 1;
        Ok(())
    }

    fn give_back(&mut self, client: ClientNo) {
        let Entry::Occupied(mut open) = self.of.entry(client) else { return };
        self.all -= 1;
        *open.get_mut() -= 1;
        if *open.get() == 0 {
            open.remove();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.app.streams.counts().give_back(self.client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_has_its_share_and_all_have_theirs() {
        let mut counts = Counts::default();
        let (one, two) = (ClientNo(1), ClientNo(2));
        let refused = |taken: Result<()>| taken.unwrap_err().code == ErrorCode::RateLimited;
        assert!(counts.take(one, 2, 3).is_ok() && counts.take(one, 2, 3).is_ok());
        assert!(refused(counts.take(one, 2, 3)));
        assert!(counts.take(two, 2, 3).is_ok());
        assert!(refused(counts.take(two, 2, 3)), "all places are taken");
        counts.give_back(one);
        assert!(counts.take(two, 2, 3).is_ok());
        for client in [one, two, two] {
            counts.give_back(client);
        }
        assert!(counts.all == 0 && counts.of.is_empty(), "a client without open streams is forgotten");
    }
}
