//! What is sent beside the app's calls. This library has no threads for that: whatever call is under way carries it on, and none waits for
//! it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::link::Boxed;

/// After this time, nobody waits any more for what was sent: it is longer than a call can take.
const GIVEN_UP: Duration = Duration::from_secs(120);

/// Something on its way to the gateway, or nothing.
///
/// Its lock is only ever tried: while one call carries it on, which may run the app's code, all others go on without.
#[derive(Default)]
pub(crate) struct Beside(Mutex<Option<Sending>>);

struct Sending {
    work: Boxed<'static, ()>,
    since: Instant,
}

impl Beside {
    /// Begins to send something, unless something else is on its way. What a program has stopped waiting for is given up.
    pub(crate) fn begin(&self, work: impl FnOnce() -> Boxed<'static, ()>) {
        if let Ok(mut slot) = self.0.try_lock()
            && slot.as_ref().is_none_or(|sending| sending.since.elapsed() > GIVEN_UP)
        {
            *slot = Some(Sending { work: work(), since: Instant::now() });
        }
    }

    /// Gives up what is on its way.
    pub(crate) fn end(&self) {
        if let Ok(mut slot) = self.0.try_lock() {
            *slot = None;
        }
    }

    /// Carries out a call, and meanwhile what is sent beside it.
    pub(crate) async fn during<T>(&self, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        poll_fn(|context| {
            let ended = call.as_mut().poll(context);
            if ended.is_pending()
                && let Ok(mut slot) = self.0.try_lock()
                && slot.as_mut().is_some_and(|sending| sending.work.as_mut().poll(context).is_ready())
            {
                *slot = None;
            }
            ended
        })
        .await
    }
}
