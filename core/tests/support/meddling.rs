//! A store in which something happens at the worst possible moment.

use std::sync::Mutex;

use railgate::store::hooked::{Call, Hooked, Hooks};
use railgate::store::record::RecordKind;
use railgate::store::{Scan, StoreError, Write};

type Hook = Box<dyn FnOnce() + Send>;

/// Runs an action just before the next commit, the next that writes a kind of record, or the next read of one record of a kind, or
/// just after the next read of the clients.
pub type Meddling = Hooked<Moments>;

/// See [`Meddling`].
#[derive(Default)]
pub struct Moments {
    before_commit: Mutex<Option<Hook>>,
    before_write: Mutex<Option<(RecordKind, Hook)>>,
    before_get: Mutex<Option<(RecordKind, Hook)>>,
    after_clients: Mutex<Option<Hook>>,
}

impl Moments {
    pub fn before_commit(&self, hook: impl FnOnce() + Send + 'static) {
        *self.before_commit.lock().unwrap() = Some(Box::new(hook));
    }

    pub fn before_write(&self, kind: RecordKind, hook: impl FnOnce() + Send + 'static) {
        *self.before_write.lock().unwrap() = Some((kind, Box::new(hook)));
    }

    pub fn before_get(&self, kind: RecordKind, hook: impl FnOnce() + Send + 'static) {
        *self.before_get.lock().unwrap() = Some((kind, Box::new(hook)));
    }

    pub fn after_clients(&self, hook: impl FnOnce() + Send + 'static) {
        *self.after_clients.lock().unwrap() = Some(Box::new(hook));
    }
}

fn kind_of(write: &Write) -> RecordKind {
    match write {
        Write::Insert(record) | Write::Replace(record) | Write::Update { record, .. } => record.kind(),
        Write::Post(_) => RecordKind::Transfer,
        Write::Count { .. } => RecordKind::Usage,
        Write::Floor { .. } => RecordKind::Account,
        Write::Delete(key) | Write::Absent(key) => key.kind(),
    }
}

fn fire(hook: &Mutex<Option<Hook>>) {
    let hook = hook.lock().unwrap().take();
    if let Some(hook) = hook {
        hook();
    }
}

fn fire_if(hook: &Mutex<Option<(RecordKind, Hook)>>, concerns: impl Fn(RecordKind) -> bool) {
    let hook = hook.lock().unwrap().take_if(|(kind, _)| concerns(*kind));
    if let Some((_, hook)) = hook {
        hook();
    }
}

impl Hooks for Moments {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        match call {
            Call::Commit(commit) => {
                fire(&self.before_commit);
                fire_if(&self.before_write, |kind| commit.writes.iter().any(|write| kind_of(write) == kind));
            }
            Call::Get(key) => fire_if(&self.before_get, |kind| key.kind() == kind),
            _ => {}
        }
        Ok(())
    }

    fn scanned(&self, scan: &Scan) {
        if scan.kind() == RecordKind::Client {
            fire(&self.after_clients);
        }
    }
}
