//! Bundles: what partners describe, how it is reviewed, and how it becomes a provider.
//!
//! A host reads what was sent ([`Engine::read_bundle`](crate::Engine::read_bundle)) and runs [`WriteBundle`], [`AskBundle`],
//! [`ReviewBundle`]; publication and revocation are acts of operators ([`Operate`](crate::engine::Operate)). Submitting and publishing ask
//! for a test of the sandbox endpoint: a host leases it ([`LeaseTests`]), holds the exchanges, and reports ([`ReportTest`]). The report
//! of a test that precedes a publication makes the provider, in its own commit.

mod ask;
mod make;
mod overlap;
mod publish;
mod read;
mod review;
mod tell;
mod test;
mod write;

use serde_json::json;

use crate::api::{BundleSecretsBody, Caller};
use crate::auth::Scope;
use crate::engine::Engine;
use crate::engine::group::{Decision, Overlay};
use crate::engine::operator::{OperatorBy, acting};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo, Ulid};
use crate::lifecycle::bundle::{BundleInput, BundleStatus, Next, transition};
use crate::store::Unique;
use crate::store::record::{BundlePartRecord, BundleRecord, BundleStepKind, BundleStepRecord, ConformanceStatus, EventRecord, Key};
use crate::trace::{About, hex, link_hash};
use crate::validate::bundle::{Manifest, parse_manifest};

pub use ask::{AskBundle, BundleAsk};
pub use publish::{Hands, PublishBundle, RevokeBundle};
pub use read::{BundleReader, BundleScope};
pub use review::{BundleVerdict, ReviewBundle};
pub use test::{BundleTest, LeaseTests, ReportTest, TestEnded};
pub use write::WriteBundle;

/// How many bundles of a client may be open in each mode.
const OPEN_MAX: usize = 20;
/// How many bundles of a client there may be in all in each mode.
const BUNDLES_MAX: usize = 500;
/// How many bytes of revisions are kept for a client in each mode.
const KEPT_MAX: i64 = 100 << 20;
/// How many steps a timeline may have before nothing is added that can be left out.
const STEPS_MAX: u32 = 1_000;
/// The number of the part of a revision that has the last report about it.
const REPORT: u16 = u16::MAX;
/// The name of that part.
const REPORT_NAME: &str = "conformance.json";

/// Who acts on a bundle.
#[derive(Debug, Clone, Copy)]
pub enum BundleBy {
    /// Its partner.
    Partner(Caller, KeyNo),
    /// An operator.
    Operator(OperatorBy),
}

impl BundleBy {
    /// The bundle with this id, if it may be acted on.
    fn find(self, d: &Decision<'_, '_>, id: Ulid) -> Result<BundleRecord> {
        let found = found(d, id)?;
        match self {
            Self::Partner(caller, _) if found.client == caller.client && found.mode == caller.mode => Ok(found),
            Self::Partner(..) => Err(Error::new(ErrorCode::BundleNotFound)),
            Self::Operator(by) => acting(d, by.no, Scope::BundlesReview).map(|_| found),
        }
    }

    fn party(self) -> ClientNo {
        match self {
            Self::Partner(caller, _) => caller.client,
            Self::Operator(by) => by.no.party(),
        }
    }

    fn key(self) -> KeyNo {
        match self {
            Self::Partner(_, key) => key,
            Self::Operator(by) => by.key,
        }
    }
}

fn found(d: &Decision<'_, '_>, id: Ulid) -> Result<BundleRecord> {
    d.overlay.find(&Unique::BundleId(id))?.ok_or_else(|| Error::new(ErrorCode::BundleNotFound))
}

/// A step to be taken.
struct Step {
    kind: BundleStepKind,
    by: ClientNo,
    key: KeyNo,
    to: BundleStatus,
    comment: Option<String>,
    data: Option<serde_json::Value>,
}

impl Step {
    fn of(kind: BundleStepKind, by: BundleBy, to: BundleStatus) -> Self {
        Self { kind, by: by.party(), key: by.key(), to, comment: None, data: None }
    }

    /// A step of the gateway itself.
    fn own(kind: BundleStepKind, to: BundleStatus) -> Self {
        Self { kind, by: ClientNo(0), key: KeyNo(0), to, comment: None, data: None }
    }

    fn comment(self, comment: Option<String>) -> Self {
        Self { comment, ..self }
    }

    fn data(self, data: serde_json::Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

/// The state after an input.
///
/// # Errors
/// `invalid_state`.
fn next(bundle: &BundleRecord, input: BundleInput) -> Result<BundleStatus> {
    match transition(bundle.status, input) {
        Next::To(status) => Ok(status),
        Next::Stay => Ok(bundle.status),
        Next::Refuse => {
            let said = format!("the bundle is {}: it cannot be changed by {}", bundle.status.as_str(), input.as_str());
            Err(Error::with(ErrorCode::InvalidState, said))
        }
    }
}

/// Refuses a bundle that is not at the version that the caller has seen.
fn require_version(bundle: &BundleRecord, expected: Option<u32>) -> Result<()> {
    let version = u32::from(bundle.version);
    if expected.is_none_or(|expected| expected == version) {
        return Ok(());
    }
    Err(Error::with(ErrorCode::VersionConflict, format!("it was changed meanwhile: it is at version {version} now")))
}

/// Refuses to add to a timeline what can be left out, once it is long.
fn require_room(bundle: &BundleRecord) -> Result<()> {
    if bundle.steps < STEPS_MAX {
        return Ok(());
    }
    Err(Error::with(ErrorCode::TooManyBundles, format!("the timeline of the bundle has {STEPS_MAX} steps, the maximum")))
}

/// Takes a step: writes it, its event, and the bundle as it leaves it.
fn take(d: &mut Decision<'_, '_>, bundle: BundleRecord, step: Step) -> BundleRecord {
    let read = bundle.version;
    let (bundle, event) = stepped(d, bundle, step);
    d.overlay.update(bundle.clone(), read);
    d.overlay.insert(event);
    bundle
}

/// Takes the first step of a new bundle.
fn begin(d: &mut Decision<'_, '_>, bundle: BundleRecord, step: Step) -> BundleRecord {
    let (bundle, event) = stepped(d, bundle, step);
    d.overlay.insert(bundle.clone());
    d.overlay.insert(event);
    bundle
}

/// Puts a step on the timeline. Returns the bundle as the step leaves it, and the event, which is written after it.
fn stepped(d: &mut Decision<'_, '_>, bundle: BundleRecord, step: Step) -> (BundleRecord, EventRecord) {
    let Step { kind, by, key, to, comment, data } = step;
    let (n, at) = (bundle.steps + 1, d.overlay.now);
    let data = data.map(|data| data.to_string());
    let step =
        BundleStepRecord { bundle: bundle.no, n, kind, at, by, key, revision: bundle.revision, from: bundle.status, to, comment, data };
    let mut event = EventRecord {
        settlement: bundle.journal(),
        n,
        kind: kind.event(),
        at,
        from: None,
        to: None,
        actor: step.actor(),
        child: 0,
        data: Some(step.told(&hex(&bundle.digest))),
        hash: [0; 32],
    };
    let before = (n > 1).then_some(&bundle.head);
    event.hash = link_hash(&d.engine.id_key, About::Bundle(&bundle), &event, before);
    d.overlay.insert(step);
    (BundleRecord { status: to, steps: n, head: event.hash, updated_at: at, version: bundle.version.next(), ..bundle }, event)
}

/// Asks for a test of the sandbox endpoint.
fn due_now(overlay: &Overlay<'_>, bundle: BundleRecord) -> BundleRecord {
    BundleRecord { conformance: Some(ConformanceStatus::Waiting), due: Some(overlay.now), owner: 0, tries: 0, ..bundle }
}

/// Whether a test waits or is being made.
fn is_tested(bundle: &BundleRecord) -> bool {
    matches!(bundle.conformance, Some(ConformanceStatus::Waiting | ConformanceStatus::Running))
}

/// The additional data under which a bundle's secrets are sealed.
fn place(no: i64) -> String {
    format!("bundle/{no}/secrets")
}

impl Engine {
    /// The secrets of a bundle.
    fn bundle_secrets(&self, bundle: &BundleRecord) -> Result<BundleSecretsBody> {
        if bundle.sealed.is_empty() {
            return Ok(BundleSecretsBody::default());
        }
        serde_json::from_slice(&self.unseal(&place(bundle.no), &bundle.sealed)?).map_err(Error::internal)
    }

    /// The manifest of a bundle's last revision, with its secrets.
    fn bundle_manifest(&self, bundle: &BundleRecord, part: &BundlePartRecord) -> Result<Manifest> {
        let text = std::str::from_utf8(&part.content).map_err(Error::internal)?;
        parse_manifest(text, &self.bundle_secrets(bundle)?, &self.config.rails)
    }

    /// Reseals the secrets of bundles that are not sealed under the first master key.
    pub(crate) fn reseal_bundles(&self, is_stale: impl Fn(&[u8]) -> bool) -> Result<usize> {
        let (mut count, mut before) = (0, i64::MAX);
        loop {
            let page: Vec<BundleRecord> = crate::store::typed_all(self.store.scan(&crate::store::Scan::bundles(None, before, 500))?)?;
            let Some(last) = page.last() else { return Ok(count) };
            before = last.no;
            for bundle in page.into_iter().filter(|bundle| is_stale(&bundle.sealed)) {
                count += usize::from(self.reseal_one(&Key::Bundle(bundle.no), |bundle: &mut BundleRecord| {
                    bundle.sealed = self.sealed_anew(&place(bundle.no), &bundle.sealed)?;
                    bundle.version = bundle.version.next();
                    Ok(())
                })?);
            }
        }
    }
}

/// The manifest of a bundle's last revision, with the changes of this group.
fn manifest_part(d: &Decision<'_, '_>, bundle: &BundleRecord) -> Result<BundlePartRecord> {
    d.overlay.get(&Key::BundlePart((bundle.no, bundle.revision, 0)))?.ok_or_else(|| Error::internal("a manifest is missing"))
}

fn manifest_of(d: &Decision<'_, '_>, bundle: &BundleRecord) -> Result<Manifest> {
    d.engine.bundle_manifest(bundle, &manifest_part(d, bundle)?)
}

/// The audit trail's name of a bundle.
fn bundle_name(id: Ulid) -> String {
    format!("bun_{id}")
}

/// The details of a deed.
fn details(comment: Option<&str>, what: serde_json::Value) -> String {
    let mut all = what;
    if let (Some(comment), Some(members)) = (comment, all.as_object_mut()) {
        members.insert("comment".to_owned(), json!(comment.chars().take(500).collect::<String>()));
    }
    all.to_string()
}
