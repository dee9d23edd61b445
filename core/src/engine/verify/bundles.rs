//! Verifies that the trace of each bundle is unbroken, and that its timeline, its content and its record are as the trace says.

use crate::api::BundleDetails;
use crate::error::Result;
use crate::ids::IdKey;
use crate::store::record::{BundlePartRecord, BundleRecord, BundleStepRecord, EventRecord, Key};
use crate::store::{Scan, Store, typed, typed_all};
use crate::trace::{About, hex};

use super::log::LogCheck;
use super::trail::{Followed, follow};
use super::{Findings, PAGE, VerifyReport};

/// Verifies every bundle.
pub(super) fn bundles(store: &dyn Store, key: &IdKey, log: &mut LogCheck<'_>, report: &mut VerifyReport) -> Result<()> {
    let mut after = 0;
    loop {
        let page: Vec<BundleRecord> = typed_all(store.scan(&Scan::after(&Key::Bundle(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.no;
        for bundle in &page {
            one_bundle(store, key, bundle, log, report)?;
        }
    }
}

fn one_bundle(store: &dyn Store, key: &IdKey, bundle: &BundleRecord, log: &mut LogCheck<'_>, report: &mut VerifyReport) -> Result<()> {
    let (about, what) = (About::Bundle(bundle), format!("bun_{}", bundle.id));
    let (mut problems, mut differing, mut places) = (Vec::new(), Vec::new(), log.trace(about, &what));
    let Followed { mut broken, last, head, .. } = follow(store, key, about, &mut problems, &mut |event| {
        differing.extend(difference(store, bundle, event)?.map(|said| ("step_differs", said)));
        places.event(event, report)
    })?;
    report.events += u64::from(last);
    if broken.is_none() && (last != bundle.steps || head != Some(bundle.head)) {
        broken = Some(bundle.steps.min(last + 1));
        problems.push(("trail_head", format!("the record says {} steps, the trail ends at {last} or differs", bundle.steps)));
    }
    problems.extend(differing);
    problems.extend(content(store, bundle)?);
    if let (Some(sequence), Some((code, message))) = (broken, problems.first()) {
        report.broken(&what, bundle.journal(), sequence, (code, message));
    }
    problems.into_iter().for_each(|(code, message)| report.problem(&what, code, message));
    Ok(())
}

/// How a step differs from what its event says of it.
fn difference(store: &dyn Store, bundle: &BundleRecord, event: &EventRecord) -> Result<Option<String>> {
    let step: Option<BundleStepRecord> = typed(store.get(&Key::BundleStep((bundle.no, event.n)))?)?;
    let Some(step) = step else { return Ok(Some(format!("step {} is missing on the timeline", event.n))) };
    let part: Option<BundlePartRecord> = typed(store.get(&Key::BundlePart((bundle.no, step.revision, 0)))?)?;
    let data = event.data.as_deref().unwrap_or_default();
    // A draft that was never submitted is not kept when it is replaced: then only its event has its digest.
    let digest = match part {
        Some(part) => hex(&part.digest),
        None => serde_json::from_str(data).map_or_else(|_| String::new(), |it: BundleDetails| it.bundle.digest),
    };
    let told = data == step.told(&digest);
    let same = (step.kind.event(), step.actor(), step.at) == (event.kind, event.actor, event.at);
    Ok((!told || !same).then(|| format!("step {} is not what was recorded", event.n)))
}

/// Whether the record names the state and the content that its last step left.
fn content(store: &dyn Store, bundle: &BundleRecord) -> Result<Findings> {
    let mut problems = Findings::new();
    let step: Option<BundleStepRecord> = typed(store.get(&Key::BundleStep((bundle.no, bundle.steps)))?)?;
    if let Some(step) = step.filter(|step| (step.to, step.revision) != (bundle.status, bundle.revision)) {
        let (said, found) = (step.to.as_str(), bundle.status.as_str());
        problems.push(("state_differs", format!("the record says {found}, the last step {said}")));
    }
    let part: Option<BundlePartRecord> = typed(store.get(&Key::BundlePart((bundle.no, bundle.revision, 0)))?)?;
    if part.is_none_or(|part| part.digest != bundle.digest) {
        problems.push(("bundle_content", "its content is not what was signed".to_owned()));
    }
    Ok(problems)
}
