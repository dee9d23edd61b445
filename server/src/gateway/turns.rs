//! Places that are limited for all, and for each tenant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use railgate::{Error, ErrorCode, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::clients::Tenant;

/// How long one waits for a place.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many of a tenant may wait for a place.
const WAITING_OF_ONE: usize = 256;

/// A number of places, of which each tenant may have a part. Who has to wait is served in the order of arrival: as a tenant has no more
/// waiting than its part, nobody waits for another's queue.
pub(super) struct Turns {
    all: Semaphore,
    part: usize,
    of: Mutex<HashMap<Tenant, Part>>,
}

/// A tenant's part, kept while somebody uses it or waits for it.
struct Part {
    places: Arc<Semaphore>,
    users: usize,
}

/// A place. It is free again when this is dropped.
pub(super) struct Turn<'a> {
    _one: SemaphorePermit<'a>,
    _own: OwnedSemaphorePermit,
    _user: User<'a>,
}

impl Turns {
    /// `all` places, of which a tenant may have `part`.
    pub(super) fn new(all: usize, part: usize) -> Self {
        Self { all: Semaphore::new(all), part: part.min(all), of: Mutex::default() }
    }

    /// Waits for a place.
    ///
    /// # Errors
    /// `store_unavailable` when it takes too long, or too many of this tenant wait already.
    pub(super) async fn take(&self, tenant: Tenant) -> Result<Turn<'_>> {
        let busy = || Error::with(ErrorCode::StoreUnavailable, "too many reads are waiting; try again");
        let (user, places) = self.enter(tenant).ok_or_else(busy)?;
        let wait = async {
            let own = places.acquire_owned().await.ok()?;
            Some((own, self.all.acquire().await.ok()?))
        };
        let (own, one) = timeout(PATIENCE, wait).await.ok().flatten().ok_or_else(busy)?;
        Ok(Turn { _one: one, _own: own, _user: user })
    }

    fn enter(&self, tenant: Tenant) -> Option<(User<'_>, Arc<Semaphore>)> {
        let mut of = self.parts();
        let part = of.entry(tenant).or_insert_with(|| Part { places: Arc::new(Semaphore::new(self.part)), users: 0 });
        if part.users >= self.part + WAITING_OF_ONE {
            return None;
        }
        part.users += 1;
        let places = Arc::clone(&part.places);
        drop(of);
        Some((User { turns: self, tenant }, places))
    }

    /// No panic happens under this lock.
    fn parts(&self) -> MutexGuard<'_, HashMap<Tenant, Part>> {
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who has a place of a tenant, or waits for one.
struct User<'a> {
    turns: &'a Turns,
    tenant: Tenant,
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        let mut of = self.turns.parts();
        let Some(part) = of.get_mut(&self.tenant) else { return };
        part.users -= 1;
        if part.users == 0 {
            of.remove(&self.tenant);
        }
    }
}

#[cfg(test)]
mod tests {
    use railgate::ids::ClientNo;
    use railgate::ledger::Mode;

    use super::*;

    const ONE: Tenant = Tenant { client: ClientNo(1), mode: Mode::Sandbox };
    const OTHER: Tenant = Tenant { client: ClientNo(2), mode: Mode::Sandbox };

    #[tokio::test(start_paused = true)]
    async fn one_tenant_has_its_part_and_others_find_places() {
        let turns = Turns::new(4, 2);
        let held = [turns.take(ONE).await.unwrap(), turns.take(ONE).await.unwrap()];
        assert_eq!(turns.take(ONE).await.err().map(|error| error.code), Some(ErrorCode::StoreUnavailable));
        let theirs = turns.take(OTHER).await.unwrap();
        drop(held);
        assert!(turns.take(ONE).await.is_ok());
        drop(theirs);
        assert!(turns.parts().is_empty(), "nobody is remembered for nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_one_tenant_is_refused_at_once() {
        let turns = Arc::new(Turns::new(4, 2));
        let _held = [turns.take(ONE).await.unwrap(), turns.take(ONE).await.unwrap()];
        let crowd: Vec<_> = (0..WAITING_OF_ONE)
            .map(|_| {
                let turns = Arc::clone(&turns);
                tokio::spawn(async move { turns.take(ONE).await.is_ok() })
            })
            .collect();
        while turns.parts().get(&ONE).is_none_or(|part| part.users < 2 + WAITING_OF_ONE) {
            tokio::task::yield_now().await;
        }
        let begun = tokio::time::Instant::now();
        assert!(turns.take(ONE).await.is_err() && begun.elapsed().is_zero());
        assert!(turns.take(OTHER).await.is_ok());
        for one in crowd {
            assert!(!one.await.unwrap(), "the others waited as long as anybody");
        }
    }
}
