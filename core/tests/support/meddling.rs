//! A store in which something happens at the worst possible moment.

use std::sync::{Arc, Mutex};

use railgate::store::record::{Key, Record, RecordKind};
use railgate::store::{Commit, CommitError, Scan, Store, StoreError, Unique, Write};

type Hook = Box<dyn FnOnce() + Send>;

/// Runs an action just before the next commit, or the next that writes a kind of record, or just after the next read of the clients.
pub struct Meddling {
    inner: Arc<dyn Store>,
    before_commit: Mutex<Option<Hook>>,
    before_write: Mutex<Option<(RecordKind, Hook)>>,
    after_clients: Mutex<Option<Hook>>,
}

impl Meddling {
    pub fn over(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, before_commit: Mutex::default(), before_write: Mutex::default(), after_clients: Mutex::default() })
    }

    pub fn before_commit(&self, hook: impl FnOnce() + Send + 'static) {
        *self.before_commit.lock().unwrap() = Some(Box::new(hook));
    }

    pub fn before_write(&self, kind: RecordKind, hook: impl FnOnce() + Send + 'static) {
        *self.before_write.lock().unwrap() = Some((kind, Box::new(hook)));
    }

    pub fn after_clients(&self, hook: impl FnOnce() + Send + 'static) {
        *self.after_clients.lock().unwrap() = Some(Box::new(hook));
    }
}

fn kind_of(write: &Write) -> RecordKind {
    match write {
        Write::Insert(record) | Write::Replace(record) | Write::Update { record, .. } => record.kind(),
        Write::Post(_) => RecordKind::Transfer,
        Write::Delete(key) => key.kind(),
    }
}

fn fire(hook: &Mutex<Option<Hook>>) {
    let hook = hook.lock().unwrap().take();
    if let Some(hook) = hook {
        hook();
    }
}

impl Store for Meddling {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        fire(&self.before_commit);
        let hook = self.before_write.lock().unwrap().take_if(|(kind, _)| commit.writes.iter().any(|write| kind_of(write) == *kind));
        if let Some((_, hook)) = hook {
            hook();
        }
        self.inner.commit(commit)
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.inner.get(key)
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.inner.find(unique)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        let found = self.inner.scan(scan);
        if scan.kind() == RecordKind::Client {
            fire(&self.after_clients);
        }
        found
    }
}
