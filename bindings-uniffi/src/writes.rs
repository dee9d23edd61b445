//! Calls that change a sandbox. Those that wait together are carried out together, in one write to the disk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use event_listener::Event as Signal;
use railgate::sandbox::{Sandbox, Undone};
use railgate::{Error, ErrorCode};

use crate::disk::{answer, begin_on_disk};
use crate::link::now;

/// The most calls in one write: each waits for all of them.
const AT_ONCE: usize = 256;

/// A call. It is carried out, and what it returns shows the result once that is durable, or why it is not.
type Call = Box<dyn FnOnce(&Sandbox) -> Show + Send>;
type Show = Box<dyn FnOnce(&Result<(), NotDone>)>;

/// Why a call that succeeded has no result.
enum NotDone {
    /// Its write failed.
    Undone(Undone),
    /// It is durable, but what was due at once could not be carried out.
    Work(Error),
}

/// A write that was made, or not.
struct Done {
    shows: Vec<Show>,
    ended: Result<(), NotDone>,
}

impl Done {
    fn show(self) {
        self.shows.into_iter().for_each(|show| show(&self.ended));
    }
}

/// The calls that change one sandbox.
pub(crate) struct Writes {
    sandbox: Arc<Sandbox>,
    /// Notified after each write.
    changed: Arc<Signal>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    calls: Vec<Call>,
    /// Whether a thread takes them.
    is_served: bool,
}

impl Writes {
    pub(crate) fn new(sandbox: Arc<Sandbox>, changed: Arc<Signal>) -> Self {
        Self { sandbox, changed, waiting: Mutex::default() }
    }

    /// Carries out a call and what is due at once, on the disk's thread, so that it is completed even if the caller was cancelled.
    /// `repeatable`: whether it may be sent again if nobody knows what became of it.
    pub(crate) async fn carry_out<T: Send + 'static>(
        self: &Arc<Self>,
        repeatable: bool,
        call: impl FnOnce(&Sandbox) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (teller, answer) = answer();
        let call: Call = Box::new(move |sandbox| {
            let made = call(sandbox);
            Box::new(move |ended| {
                teller.tell(made.and_then(|made| match ended {
                    Ok(()) => Ok(made),
                    Err(NotDone::Undone(undone)) => Err(undone.error(repeatable)),
                    Err(NotDone::Work(error)) => Err(error.clone()),
                }));
            })
        });
        // There is no answer only if a call panicked.
        answer.after(|| self.add(call)).await.unwrap_or_else(|| Err(Error::in_doubt(ErrorCode::Internal, repeatable)))
    }

    fn add(self: &Arc<Self>, call: Call) {
        let mut waiting = self.waiting();
        waiting.calls.push(call);
        if !std::mem::replace(&mut waiting.is_served, true) {
            let writes = Arc::clone(self);
            begin_on_disk(move || writes.serve());
        }
    }

    /// Makes writes until no call waits. Before the last results are shown, the sandbox is let go: who has them may close it and open
    /// its file again.
    fn serve(self: Arc<Self>) {
        let mut next = self.next();
        while let Some(calls) = next {
            // Nothing of a write that panicked is kept, and those who wait for the next one do not suffer for it.
            let done = catch_unwind(AssertUnwindSafe(|| self.write(calls))).ok();
            next = self.next();
            if next.is_none() {
                drop(self);
                done.into_iter().for_each(Done::show);
                return;
            }
            done.into_iter().for_each(Done::show);
        }
    }

    /// The calls for the next write.
    fn next(&self) -> Option<Vec<Call>> {
        let mut waiting = self.waiting();
        waiting.is_served = !waiting.calls.is_empty();
        let count = waiting.calls.len().min(AT_ONCE);
        waiting.is_served.then(|| waiting.calls.drain(..count).collect())
    }

    fn write(&self, calls: Vec<Call>) -> Done {
        let mut shows = Vec::with_capacity(calls.len());
        let ended = self.sandbox.at_once(now(), || shows.extend(calls.into_iter().map(|call| call(&self.sandbox))));
        let ended = match ended {
            Ok(worked) => worked.map(drop).map_err(NotDone::Work),
            Err(undone) => Err(NotDone::Undone(undone)),
        };
        self.changed.notify(usize::MAX);
        Done { shows, ended }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
