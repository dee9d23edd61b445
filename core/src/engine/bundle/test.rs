//! The test of a bundle's sandbox endpoint: the engine says what to test, a host holds the exchanges and reports.

use std::sync::Arc;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::api::{CheckReport, ConformanceReport};
use crate::engine::group::{Command, Decision};
use crate::engine::{Config, Engine};
use crate::error::{Error, Result};
use crate::ids::KeyNo;
use crate::ledger::Mode;
use crate::lifecycle::bundle::BundleInput;
use crate::route::ProviderSpec;
use crate::store::memory::MemoryStore;
use crate::store::record::{BundlePartRecord, BundleRecord, BundleStepKind, ConformanceStatus, Key};
use crate::store::{Commit, Scan, Store as _, Write, typed, typed_all};
use crate::time::Millis;
use crate::validate::bundle::TestPlan;

use super::make::{make, supersede};
use super::{REPORT, REPORT_NAME, Step, manifest_of, next, take};

/// How long a host has a test without a word.
const LEASE: Millis = 600_000;
/// How often a test is begun before it counts as failed: it may be what stops the hosts.
const TRIES: u16 = 3;
/// The longest report, in bytes.
const REPORT_MAX_BYTES: usize = 1 << 20;

/// A test that this host is to make.
#[derive(Debug, Clone)]
pub struct BundleTest {
    /// The number of the bundle.
    pub bundle: i64,
    /// Until when this host has it.
    pub until: Millis,
    /// The provider in the sandbox, with its secrets.
    pub provider: ProviderSpec,
    /// Whom to pay, and how much.
    pub plan: TestPlan,
}

impl Engine {
    /// What a test is made with: a store with the keys that sign calls to operators, so that partners know them, and the rails and master
    /// keys of this engine.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn rehearsal(&self) -> Result<(Arc<MemoryStore>, Config)> {
        let store = MemoryStore::new();
        let writes = self.receipt_secrets()?.into_iter().map(|secret| Write::Insert(secret.into())).collect();
        store.commit(&Commit { writes }).map_err(Error::internal)?;
        let config = Config { rails: self.config.rails.clone(), master: self.config.master.clone(), ..Config::default() };
        Ok((Arc::new(store), config))
    }

    /// Whether a test waits for a host.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn is_test_due(&self) -> Result<bool> {
        Ok(!self.store.scan(&Scan::bundles_due(self.now(), 1))?.is_empty())
    }
}

/// Leases tests that are due.
#[derive(Debug, Clone, Copy)]
pub struct LeaseTests {
    /// The most.
    pub limit: usize,
}

impl Command for LeaseTests {
    type Output = Vec<BundleTest>;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Vec<BundleTest>> {
        let due: Vec<BundleRecord> = typed_all(d.overlay.store.scan(&Scan::bundles_due(d.overlay.now, self.limit))?)?;
        let mut leased = Vec::new();
        for bundle in due {
            if d.overlay.touched(&Key::Bundle(bundle.no)) {
                continue;
            }
            match manifest_of(d, &bundle) {
                Ok(manifest) if bundle.tries < TRIES => {
                    let (until, read) = (d.overlay.now + LEASE, bundle.version);
                    let (provider, plan) = (manifest.sandbox, manifest.test);
                    leased.push(BundleTest { bundle: bundle.no, until, provider, plan });
                    let (owner, conformance) = (d.engine.owner, Some(ConformanceStatus::Running));
                    let next =
                        BundleRecord { due: Some(until), owner, conformance, tries: bundle.tries + 1, version: read.next(), ..bundle };
                    d.overlay.update(next, read);
                }
                Ok(_) => drop(ended(d, bundle, &broken(format!("the gateway began the test {TRIES} times, and did not end it")))?),
                // The store cannot be read now.
                Err(error) if error.retryable => return if leased.is_empty() { Err(error) } else { Ok(leased) },
                Err(error) => drop(ended(d, bundle, &broken(format!("the manifest cannot be used any more: {error}")))?),
            }
            d.overlay.settle();
        }
        Ok(leased)
    }
}

/// How a test ended.
#[derive(Debug, Clone)]
pub enum TestEnded {
    /// With a report.
    Reported(Box<ConformanceReport>),
    /// This host stops: another one makes it.
    Left,
}

/// Reports a leased test. Returns whether it counts: the lease may be another host's by now, or nobody may want it any more.
#[derive(Debug, Clone)]
pub struct ReportTest {
    /// [`BundleTest::bundle`].
    pub bundle: i64,
    /// [`BundleTest::until`].
    pub until: Millis,
    /// How it ended.
    pub ended: TestEnded,
}

impl Command for ReportTest {
    type Output = bool;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<bool> {
        let bundle: Option<BundleRecord> = d.overlay.get(&Key::Bundle(self.bundle))?;
        let mine = |it: &BundleRecord| {
            it.owner == d.engine.owner && it.due == Some(self.until) && it.conformance == Some(ConformanceStatus::Running)
        };
        let Some(bundle) = bundle.filter(mine) else { return Ok(false) };
        match &self.ended {
            TestEnded::Left => {
                let read = bundle.version;
                let (due, conformance) = (Some(d.overlay.now), Some(ConformanceStatus::Waiting));
                let next =
                    BundleRecord { due, owner: 0, conformance, tries: bundle.tries.saturating_sub(1), version: read.next(), ..bundle };
                d.overlay.update(next, read);
            }
            TestEnded::Reported(report) => drop(ended(d, bundle, report)?),
        }
        Ok(true)
    }
}

/// A report about a test that could not be made.
fn broken(why: String) -> ConformanceReport {
    let check = CheckReport { check: "the test is made".to_owned(), result: "failed".to_owned(), why: Some(why), ..CheckReport::default() };
    ConformanceReport { failed: 1, checks: vec![check], ..ConformanceReport::default() }
}

/// Records the end of a test, and publishes the bundle if that is what it was made for.
fn ended(d: &mut Decision<'_, '_>, bundle: BundleRecord, report: &ConformanceReport) -> Result<BundleRecord> {
    let mut made = None;
    if let (Some(mode), true) = (bundle.publishing, report.ok) {
        d.overlay.settle();
        made = Some(make(d, &bundle, mode));
        if made.as_ref().is_some_and(Result::is_err) {
            d.overlay.discard();
        }
    }
    keep_report(d, &bundle, report)?;
    let conformance = Some(if report.ok { ConformanceStatus::Passed } else { ConformanceStatus::Failed });
    let (status, asked) = (bundle.status, bundle.publishing);
    let data = json!({ "status": conformance, "failed": report.failed, "checks": report.checks.len(), "took_ms": report.took_ms });
    let bundle = BundleRecord { conformance, due: None, owner: 0, tries: 0, publishing: None, report: bundle.steps + 1, ..bundle };
    let bundle = take(d, bundle, Step::own(BundleStepKind::Tested, status).data(data));
    let Some(mode) = asked else { return Ok(bundle) };
    d.overlay.settle();
    match made {
        Some(Ok(left_out)) => published(d, bundle, mode, left_out),
        Some(Err(error)) => failed(d, bundle, mode, &error.to_string()),
        None => failed(d, bundle, mode, "the test of its sandbox endpoint failed"),
    }
}

fn published(d: &mut Decision<'_, '_>, bundle: BundleRecord, mode: Mode, left_out: Vec<String>) -> Result<BundleRecord> {
    let (input, bundle) = match mode {
        Mode::Sandbox => (BundleInput::PublishSandbox, BundleRecord { in_sandbox: true, ..bundle }),
        Mode::Live => (BundleInput::PublishLive, BundleRecord { in_live: true, ..bundle }),
    };
    let status = next(&bundle, input)?;
    let data = json!({ "mode": mode.as_str(), "routes_left_out": left_out });
    let bundle = take(d, bundle, Step::own(BundleStepKind::Published, status).data(data));
    supersede(d, &bundle, mode)?;
    Ok(bundle)
}

fn failed(d: &mut Decision<'_, '_>, bundle: BundleRecord, mode: Mode, why: &str) -> Result<BundleRecord> {
    let status = bundle.status;
    let step = Step::own(BundleStepKind::PublicationFailed, status).comment(Some(why.to_owned()));
    Ok(take(d, bundle, step.data(json!({ "mode": mode.as_str() }))))
}

/// Keeps the report beside its revision, in place of an earlier one.
fn keep_report(d: &mut Decision<'_, '_>, bundle: &BundleRecord, report: &ConformanceReport) -> Result<()> {
    let mut content = serde_json::to_vec(report).map_err(Error::internal)?;
    if content.len() > REPORT_MAX_BYTES {
        let mut short = report.clone();
        short.checks.iter_mut().for_each(|check| check.exchanges.clear());
        content = serde_json::to_vec(&short).map_err(Error::internal)?;
    }
    let key = Key::BundlePart((bundle.no, bundle.revision, REPORT));
    let part = BundlePartRecord {
        bundle: bundle.no,
        revision: bundle.revision,
        n: REPORT,
        name: REPORT_NAME.to_owned(),
        digest: Sha256::digest(&content).into(),
        key: KeyNo(0),
        at: d.overlay.now,
        content,
    };
    let before: Option<BundlePartRecord> = typed(d.overlay.store.get(&key)?)?;
    d.overlay.write(if before.is_some() { Write::Replace(part.into()) } else { Write::Insert(part.into()) });
    Ok(())
}
