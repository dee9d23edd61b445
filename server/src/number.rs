//! Numbers events after the commits that make them: in their owners' feeds, and in the log.

use std::time::Duration;

use railgate::Result;
use railgate::api::Logged;
use railgate::engine::NumberEvents;
use tokio::time::{Instant, sleep, sleep_until};

use crate::background::Backoff;
use crate::gateway::Gateway;
use crate::stop::Stop;

/// About how many events are numbered in one commit.
const AT_ONCE: usize = 512;
/// The shortest time between rounds under load: each round is a commit that creates have to wait for.
const PACE: Duration = Duration::from_millis(10);
/// How often to look whether another node is still numbering.
const LOOK: Duration = Duration::from_millis(250);

/// Numbers events until `stop` turns true, and then once more.
pub async fn drive(gateway: Gateway, look_every: Duration, mut stop: Stop) {
    let mut backoff = Backoff::new("the numbering of events", &stop);
    loop {
        let begun = Instant::now();
        let nap = match step(&gateway).await {
            Ok(logged) => {
                backoff.reset();
                match (logged.more, logged.held_until) {
                    // Events left at the end are durable, and are numbered after the next start.
                    (true, _) if !stop.is_requested() => continue,
                    (_, Some(_)) => LOOK,
                    // Other nodes make events too, and may go away before they number them.
                    (_, None) => look_every,
                }
            }
            Err(error) => {
                backoff.wait("numbering events", &error).await;
                Duration::ZERO
            }
        };
        if stop.is_requested() {
            return;
        }
        tokio::select! {
            () = gateway.unlogged() => sleep_until(begun + PACE).await,
            () = sleep(nap) => {}
            () = stop.requested() => {}
        }
    }
}

/// Numbers some events; returns how far it got.
pub(crate) async fn step(gateway: &Gateway) -> Result<Logged> {
    gateway.work(NumberEvents { limit: AT_ONCE }).await
}
