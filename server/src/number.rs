//! Numbers events behind the commits that make them: in their owners' feeds, and in the log.

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
/// Under load it numbers this often at most: each time is a commit that creates wait for.
const PACE: Duration = Duration::from_millis(10);
/// Where another node is at it, it is looked again this often whether it still is.
const LOOK: Duration = Duration::from_millis(250);

/// Numbers events until `stop` turns true, and once more then.
pub async fn drive(gateway: Gateway, look_every: Duration, mut stop: Stop) {
    let mut backoff = Backoff::new("the numbering of events", &stop);
    loop {
        let begun = Instant::now();
        let nap = match step(&gateway).await {
            Ok(logged) => {
                backoff.reset();
                match (logged.more, logged.held_until) {
                    // What is left at the end is durable, and numbered after the next start.
                    (true, _) if !stop.is_requested() => continue,
                    (_, Some(_)) => LOOK,
                    // Other nodes make events too, and vanish with them.
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

/// Numbers some events; says how far it came.
pub(crate) async fn step(gateway: &Gateway) -> Result<Logged> {
    gateway.work(NumberEvents { limit: AT_ONCE }).await
}
