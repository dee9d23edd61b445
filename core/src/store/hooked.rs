//! A store whose calls a test counts, delays or refuses.
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! use railgate::ids::ClientNo;
//! use railgate::store::hooked::{Call, Hooked, Hooks};
//! use railgate::store::record::Key;
//! use railgate::store::{Store as _, StoreError};
//!
//! #[derive(Default)]
//! struct Counted(AtomicUsize);
//!
//! impl Hooks for Counted {
//!     fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
//!         self.0.fetch_add(usize::from(matches!(call, Call::Get(_))), Ordering::Relaxed);
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Hooked::<Counted>::default();
//! store.get(&Key::Client(ClientNo(1)))?;
//! assert_eq!(store.0.load(Ordering::Relaxed), 1);
//! # Ok(())
//! # }
//! ```

use std::ops::Deref;
use std::sync::Arc;

use super::memory::MemoryStore;
use super::record::{Key, Record};
use super::{Clash, Commit, CommitError, Lookup, Scan, Store, StoreError, Unique};

/// A call of a store.
#[derive(Debug, Clone, Copy)]
pub enum Call<'a> {
    /// [`Store::commit`].
    Commit(&'a Commit),
    /// [`Store::get`].
    Get(&'a Key),
    /// [`Store::find`].
    Find(&'a Unique),
    /// [`Store::scan`].
    Scan(&'a Scan),
    /// [`Store::secure`].
    Secure,
    /// [`Store::look_up`] of a remote store. Of any other, each look-up is a call of its own.
    LookUp(&'a [Lookup]),
}

/// What happens around the calls of a store. By default nothing does.
pub trait Hooks: Send + Sync {
    /// Called before each call, which it may hold up.
    ///
    /// # Errors
    /// Returned to the caller; the wrapped store is then not called.
    fn before(&self, _call: &Call<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    /// The writes of a commit whose conditions another process has spoilt. If there are any, the wrapped store is not called.
    fn clashes(&self, _commit: &Commit) -> Vec<Clash> {
        Vec::new()
    }

    /// Called after each commit of the wrapped store, with its result.
    fn committed(&self, _commit: &Commit, _made: &Result<(), CommitError>) {}

    /// Called after each scan of the wrapped store.
    fn scanned(&self, _scan: &Scan) {}

    /// Whether the store says that it is on another machine, even if the wrapped one is not.
    fn is_remote(&self) -> bool {
        false
    }

    /// The most reads that the store says it makes at a time.
    fn readers(&self) -> usize {
        usize::MAX
    }
}

/// A store with hooks, which it dereferences to.
pub struct Hooked<H> {
    inner: Arc<dyn Store>,
    hooks: H,
}

impl<H: Hooks> Hooked<H> {
    /// A store over `inner`.
    pub fn with(inner: Arc<dyn Store>, hooks: H) -> Arc<Self> {
        Arc::new(Self { inner, hooks })
    }

    /// A store over `inner`, with the hooks' default.
    pub fn over(inner: Arc<dyn Store>) -> Arc<Self>
    where
        H: Default,
    {
        Self::with(inner, H::default())
    }
}

/// Over an empty memory store.
impl<H: Hooks + Default> Default for Hooked<H> {
    fn default() -> Self {
        Self { inner: Arc::new(MemoryStore::new()), hooks: H::default() }
    }
}

impl<H> Deref for Hooked<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.hooks
    }
}

impl<H: Hooks> Store for Hooked<H> {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        self.hooks.before(&Call::Commit(commit))?;
        let clashes = self.hooks.clashes(commit);
        if !clashes.is_empty() {
            return Err(CommitError::Conflict(clashes));
        }
        let made = self.inner.commit(commit);
        self.hooks.committed(commit, &made);
        made
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.hooks.before(&Call::Get(key))?;
        self.inner.get(key)
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.hooks.before(&Call::Find(unique))?;
        self.inner.find(unique)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.hooks.before(&Call::Scan(scan))?;
        let found = self.inner.scan(scan);
        self.hooks.scanned(scan);
        found
    }

    fn secure(&self) -> Result<(), StoreError> {
        self.hooks.before(&Call::Secure)?;
        self.inner.secure()
    }

    fn is_remote(&self) -> bool {
        self.hooks.is_remote() || self.inner.is_remote()
    }

    fn readers(&self) -> usize {
        self.hooks.readers().min(self.inner.readers())
    }

    fn look_up(&self, lookups: &[Lookup]) -> Result<Vec<Vec<Record>>, StoreError> {
        if self.is_remote() {
            self.hooks.before(&Call::LookUp(lookups))?;
            return self.inner.look_up(lookups);
        }
        lookups.iter().map(|lookup| super::one_by_one(self, lookup)).collect()
    }
}
