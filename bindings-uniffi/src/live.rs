//! What waits for a change of a sandbox, and does meanwhile what becomes due there.

use std::sync::Arc;
use std::time::Duration;

use event_listener::{Event as Signal, Listener as _};
use railgate::sandbox::Sandbox;

use crate::disk::on_disk;
use crate::error::GatewayError;
use crate::link::now;
use crate::sandbox::refused;

/// The longest wait of a thread for something due, also if nobody waits for it any more.
const LONGEST_MS: i64 = 10_000;

/// A sandbox, and what is notified after each of its changes.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) changed: Arc<Signal>,
}

impl Live {
    /// Looks after each change until there is a view. As at a server, what becomes due is done without being asked for.
    pub(crate) async fn until(
        &self,
        look: impl Fn(&Sandbox) -> railgate::error::Result<Option<String>> + Clone + Send + 'static,
    ) -> Result<String, GatewayError> {
        loop {
            let listener = self.changed.listen();
            let (live, look) = (self.clone(), look.clone());
            let (found, due) = on_disk(move || live.work().and_then(|due| Ok((look(&live.sandbox)?, due)))).await?.map_err(refused)?;
            if let Some(found) = found {
                return Ok(found);
            }
            match due {
                None => listener.await,
                Some(due) => {
                    let ms = u64::try_from((due - now()).clamp(1, LONGEST_MS)).unwrap_or(1);
                    on_disk(move || listener.wait_timeout(Duration::from_millis(ms))).await?;
                }
            }
        }
    }

    /// Does what is due, and returns when more is.
    fn work(&self) -> railgate::error::Result<Option<i64>> {
        let worked = self.sandbox.at_once(now(), || ()).unwrap_or_else(|undone| Err(undone.error(true)))?;
        if worked.done > 0 {
            self.changed.notify(usize::MAX);
        }
        Ok(worked.due)
    }
}
