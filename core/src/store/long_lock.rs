//! A mutex that a thread can hold between its calls: for what several calls make together, such as one transaction of several
//! commits.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Only threads over an embedded store wait for each other. Other programs do not include what that takes.
pub(crate) const HOLDS: bool = cfg!(feature = "sqlite");

/// Instead of a thread that holds the value.
const NOBODY: usize = 0;

/// A value that one thread uses at a time. It stays usable after a panic.
pub(crate) struct LongLock<T> {
    state: Mutex<State<T>>,
    /// The thread that holds the value between its calls. Changes only while the state is locked.
    holder: AtomicUsize,
    changed: Condvar,
}

struct State<T> {
    value: T,
    /// How many threads a holder has delayed.
    delayed: usize,
}

/// The value, for one call.
pub(crate) struct Locked<'a, T>(MutexGuard<'a, State<T>>);

/// This thread holds the value until this is dropped.
#[must_use = "the value is held only as long as this lives"]
pub(crate) struct Holding<'a, T>(&'a LongLock<T>);

impl<T> LongLock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { state: Mutex::new(State { value, delayed: 0 }), holder: AtomicUsize::new(NOBODY), changed: Condvar::new() }
    }

    /// Waits until no other thread uses or holds the value.
    pub(crate) fn lock(&self) -> Locked<'_, T> {
        let mut state = self.state();
        if HOLDS && self.is_others() {
            state.delayed += 1;
            state = self.changed.wait_while(state, |_| self.is_others()).unwrap_or_else(PoisonError::into_inner);
            state.delayed -= 1;
            self.changed.notify_all();
        }
        Locked(state)
    }

    /// Holds the value for this thread, which must not hold it already. Those that an earlier holder delayed come first: holders in a
    /// row delay nobody for ever.
    pub(crate) fn hold(&self) -> Holding<'_, T> {
        let is_busy = |state: &mut State<T>| state.delayed > 0 || self.holder.load(Ordering::Relaxed) != NOBODY;
        let state = self.changed.wait_while(self.state(), is_busy).unwrap_or_else(PoisonError::into_inner);
        self.holder.store(this_thread(), Ordering::Relaxed);
        drop(state);
        Holding(self)
    }

    /// Whether this thread holds the value. Waits for nobody.
    pub(crate) fn is_mine(&self) -> bool {
        HOLDS && self.holder.load(Ordering::Relaxed) == this_thread()
    }

    fn is_others(&self) -> bool {
        let holder = self.holder.load(Ordering::Relaxed);
        holder != NOBODY && holder != this_thread()
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the running threads apart.
fn this_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0.value
    }
}

impl<T> Drop for Holding<'_, T> {
    fn drop(&mut self) {
        let state = self.0.state();
        self.0.holder.store(NOBODY, Ordering::Relaxed);
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread::scope;

    use super::*;

    #[test]
    fn what_a_thread_holds_is_its_own_between_its_calls() {
        let lock = LongLock::new(Vec::new());
        scope(|threads| {
            let holding = lock.hold();
            lock.lock().push("first");
            let (started, starts) = channel();
            let lock = &lock;
            threads.spawn(move || {
                assert!(!lock.is_mine());
                started.send(()).unwrap();
                lock.lock().push("another's");
            });
            starts.recv().unwrap();
            assert!(lock.is_mine());
            lock.lock().push("second");
            drop(holding);
        });
        assert_eq!(*lock.lock(), ["first", "second", "another's"]);
    }

    #[test]
    fn holders_in_a_row_let_others_pass() {
        let lock = LongLock::new(0);
        scope(|threads| {
            let mut holding = Some(lock.hold());
            threads.spawn(|| *lock.lock() += 1);
            while lock.state().delayed == 0 {
                std::thread::yield_now();
            }
            holding.take();
            let again = lock.hold();
            assert_eq!(*lock.lock(), 1);
            drop(again);
        });
    }

    #[test]
    fn a_panic_holds_nothing() {
        let lock = LongLock::new(());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _holding = lock.hold();
            panic!("on purpose");
        }));
        assert!(panicked.is_err() && !lock.is_mine());
        scope(|threads| drop(threads.spawn(|| drop(lock.lock())).join()));
    }
}
