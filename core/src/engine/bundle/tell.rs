//! What a partner's webhooks are told of its bundles.

use crate::api::{BundleEventView, Caller};
use crate::engine::Engine;
use crate::engine::group::Overlay;
use crate::error::{Error, Result};
use crate::ids::Ulid;
use crate::lifecycle::bundle::BundleStatus;
use crate::store::record::{BundlePartRecord, BundleRecord, BundleStepRecord, EventRecord, Key, Version};
use crate::time::Millis;

impl Engine {
    /// The data of a message about a step: the bundle as the step left it.
    pub(crate) fn bundle_data(&self, overlay: &Overlay<'_>, bundle: &BundleRecord, event: &EventRecord) -> Result<Option<String>> {
        let step: Option<BundleStepRecord> = overlay.get(&Key::BundleStep((bundle.no, event.n)))?;
        let Some(step) = step else { return Ok(None) };
        // A draft that was never submitted is not kept when it is replaced.
        let content: Option<BundlePartRecord> = overlay.get(&Key::BundlePart((bundle.no, step.revision, 0)))?;
        let digest = content.map_or(bundle.digest, |part| part.digest);
        let then = BundleRecord { status: step.to, revision: step.revision, digest, updated_at: step.at, ..bundle.clone() };
        self.bundle_message(&then, event.n, step.comment).map(Some)
    }

    fn bundle_message(&self, bundle: &BundleRecord, sequence: u32, comment: Option<String>) -> Result<String> {
        serde_json::to_string(&BundleEventView { bundle: self.bundle_summary(bundle)?, sequence, comment }).map_err(Error::internal)
    }

    /// The data of an example message: the shape is real, the bundle is made up.
    pub(crate) fn bundle_example(&self, caller: &Caller, status: BundleStatus, now: Millis) -> Result<String> {
        let bundle = BundleRecord {
            no: 0,
            id: Ulid(0),
            client: caller.client,
            mode: caller.mode,
            status,
            provider: "example-of-a-test".to_owned(),
            release: "1.0.0".to_owned(),
            revision: 1,
            digest: [0; 32],
            bytes: 0,
            steps: 2,
            head: [0; 32],
            submission: 2,
            report: 0,
            sealed: Vec::new(),
            in_sandbox: status == BundleStatus::Published,
            in_live: false,
            publishing: None,
            with_routes: false,
            conformance: None,
            due: None,
            owner: 0,
            tries: 0,
            created_at: now,
            updated_at: now,
            version: Version(2),
        };
        self.bundle_message(&bundle, 2, None)
    }
}
