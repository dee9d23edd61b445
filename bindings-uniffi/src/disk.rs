//! Work that waits for the disk, on threads of its own.

use std::sync::{Arc, Mutex, PoisonError};

use blocking::unblock;
use event_listener::Event as Signal;

use crate::error::{GatewayError, Problem};

/// Runs `work` on a thread that may wait for the disk. All work passes as one type: the library has the code for running it once.
pub(crate) async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, GatewayError> {
    let (told, answer) = answer();
    let work: Box<dyn FnOnce() + Send> = Box::new(move || told.tell(work()));
    unblock(work).await;
    let unanswered = || GatewayError::Storage { problem: Problem::local("internal", "the work ended without a result") };
    answer.take().ok_or_else(unanswered)
}

/// Runs `work` there, and waits for nothing.
pub(crate) fn begin_on_disk(work: impl FnOnce() + Send + 'static) {
    let work: Box<dyn FnOnce() + Send> = Box::new(work);
    unblock(work).detach();
}

/// The place of one result that another thread brings.
struct Place<T> {
    result: Mutex<Option<T>>,
    done: Signal,
}

/// Who brings it. Dropping this without a result ends the wait as well.
pub(crate) struct Teller<T>(Arc<Place<T>>);

/// Who waits for it.
pub(crate) struct Answer<T>(Arc<Place<T>>);

/// A place for a result.
pub(crate) fn answer<T>() -> (Teller<T>, Answer<T>) {
    let place = Arc::new(Place { result: Mutex::new(None), done: Signal::new() });
    (Teller(Arc::clone(&place)), Answer(place))
}

impl<T> Teller<T> {
    pub(crate) fn tell(self, result: T) {
        *self.0.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }
}

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        self.0.done.notify(usize::MAX);
    }
}

impl<T> Answer<T> {
    /// Starts `work`, which has the teller, and waits until that is dropped; `None` if it brought no result.
    pub(crate) async fn after(self, work: impl FnOnce()) -> Option<T> {
        let done = self.0.done.listen();
        work();
        done.await;
        self.take()
    }

    fn take(&self) -> Option<T> {
        self.0.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
