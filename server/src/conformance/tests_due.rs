//! Makes the tests of bundles that are due, on threads that may wait.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use railgate::Result;
use railgate::api::{CheckReport, ConformanceReport};
use railgate::engine::{BundleTest, LeaseTests, ReportTest, TestEnded};
use railgate::webhook::Guard;
use tokio::runtime::Handle;

use super::{Doors, Plan, Stand, World, report, run_all};
use crate::background::{Background, InFlight, Next, drain};
use crate::carrier::OneByOne;
use crate::gateway::Gateway;

/// How many tests a server makes at a time.
const AT_ONCE: usize = 2;
/// How often to look for more.
const LOOK: Duration = Duration::from_secs(1);

/// The background loop that makes them.
pub(crate) struct Tests {
    gateway: Gateway,
    doors: Doors,
    /// Where partners' endpoints may be: where clients' webhooks may.
    guard: Guard,
    /// Below which operators report.
    callback_base: String,
    stop: Arc<AtomicBool>,
}

impl Tests {
    pub(crate) fn new(gateway: Gateway, doors: Doors, guard: Guard, callback_base: String) -> Self {
        Self { gateway, doors, guard, callback_base, stop: Arc::default() }
    }

    fn begin(&self, test: BundleTest, in_flight: &mut InFlight) {
        let (gateway, doors, stop) = (self.gateway.clone(), self.doors.clone(), Arc::clone(&self.stop));
        let (guard, base, handle) = (self.guard.clone(), self.callback_base.clone(), Handle::current());
        in_flight.spawn(async move {
            let (bundle, until, engine) = (test.bundle, test.until, gateway.clone());
            let stopped = Arc::clone(&stop);
            let made = tokio::task::spawn_blocking(move || make(&engine, &doors, &test, stop, guard, base, handle)).await;
            let ended = if stopped.load(Ordering::Relaxed) {
                TestEnded::Left
            } else {
                TestEnded::Reported(Box::new(
                    made.unwrap_or_else(|panicked| Err(railgate::Error::internal(panicked))).unwrap_or_else(broken),
                ))
            };
            gateway.work(ReportTest { bundle, until, ended }).await?;
            // A bundle that was published has made a provider.
            gateway.look(|engine| engine.follow_setup()).map(drop)
        });
    }
}

fn make(
    gateway: &Gateway,
    doors: &Doors,
    test: &BundleTest,
    stop: Arc<AtomicBool>,
    guard: Guard,
    base: String,
    handle: Handle,
) -> Result<ConformanceReport> {
    let engine = gateway.engine();
    let (store, config) = engine.rehearsal()?;
    let env = Arc::clone(engine.env());
    let carrier = Box::new(OneByOne::guarded(handle, Arc::clone(&env), guard));
    let plan = Plan::of(test, stop);
    let begun = Instant::now();
    let stand = Stand::open(&plan, World { store, env, config, carrier })?;
    stand.reached_at(base);
    let _open = doors.open(&stand);
    let checks = run_all(&stand, &plan);
    Ok(report(test.provider.base_url.as_deref().unwrap_or_default(), &checks, begun.elapsed()))
}

/// The report about a test that this server could not make.
fn broken(error: railgate::Error) -> ConformanceReport {
    tracing::error!(%error, "the test of a bundle could not be made");
    let why = Some("the gateway could not make the test: ask its operators".to_owned());
    let check = CheckReport { check: "the test is made".to_owned(), result: "failed".to_owned(), why, ..CheckReport::default() };
    ConformanceReport { failed: 1, checks: vec![check], ..ConformanceReport::default() }
}

impl Background for Tests {
    const PART: &'static str = "the tests of bundles";

    async fn step(&mut self, in_flight: &mut InFlight) -> Result<Next> {
        let room = AT_ONCE.saturating_sub(in_flight.len());
        // A command would cost a commit for nothing.
        if room == 0 || !self.gateway.look(|engine| engine.is_test_due())? {
            return Ok(Next::Rest(LOOK));
        }
        let leased = self.gateway.work(LeaseTests { limit: room }).await?;
        leased.into_iter().for_each(|test| self.begin(test, in_flight));
        Ok(Next::Rest(LOOK))
    }

    async fn woken(&self) {
        pending().await
    }

    /// Tests that are being made stop at their next check, and other servers make them.
    async fn end(self, in_flight: InFlight) {
        self.stop.store(true, Ordering::Relaxed);
        drain(in_flight).await;
    }
}
