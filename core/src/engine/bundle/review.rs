//! What reviewers decide.

use serde_json::json;

use crate::api::BundleSummaryView;
use crate::engine::Answers;
use crate::engine::group::{Command, Decision, Deed};
use crate::engine::operator::OperatorBy;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::Ulid;
use crate::lifecycle::bundle::BundleInput;
use crate::store::record::{AuditAction, BundleRecord, BundleStepKind, BundleStepRecord, ConformanceStatus, Digest32};
use crate::store::{Scan, typed_all};
use crate::trace::hex;

use super::{BundleBy, STEPS_MAX, Step, bundle_name, details, next, require_version, take};

/// What a reviewer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleVerdict {
    /// The review begins.
    StartReview,
    /// It may be published. The digest is that of the revision that was reviewed.
    Approve(Digest32),
    /// It will not be published.
    Reject,
    /// Its partner has to change it.
    RequestChanges,
}

/// Takes a step of the review.
#[derive(Debug, Clone)]
pub struct ReviewBundle {
    /// Who decides.
    pub by: OperatorBy,
    /// The bundle.
    pub id: Ulid,
    /// The version of it that was reviewed; `None` for whichever there is.
    pub expected: Option<u32>,
    /// What is decided.
    pub verdict: BundleVerdict,
    /// Why.
    pub comment: Option<String>,
}

impl Command for ReviewBundle {
    type Output = BundleRecord;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<BundleRecord> {
        let by = BundleBy::Operator(self.by);
        let bundle = by.find(d, self.id)?;
        require_version(&bundle, self.expected)?;
        let (input, kind) = match self.verdict {
            BundleVerdict::StartReview => (BundleInput::StartReview, BundleStepKind::InReview),
            BundleVerdict::Approve(_) => (BundleInput::Approve, BundleStepKind::Approved),
            BundleVerdict::Reject => (BundleInput::Reject, BundleStepKind::Rejected),
            BundleVerdict::RequestChanges => (BundleInput::RequestChanges, BundleStepKind::ChangesRequested),
        };
        let status = next(&bundle, input)?;
        self.require_other_hands(d, &bundle)?;
        if let BundleVerdict::Approve(digest) = self.verdict {
            if digest != bundle.digest {
                let said = format!("it is not the digest of revision {}, which is the last: review that", bundle.revision);
                return Err(Error::with(ErrorCode::VersionConflict, said));
            }
            match bundle.conformance {
                Some(ConformanceStatus::Passed) => {}
                Some(ConformanceStatus::Failed) | None => {
                    let said = "the test of its sandbox endpoint failed: request changes, or have it tested again once it is mended";
                    return Err(Error::with(ErrorCode::InvalidState, said));
                }
                Some(ConformanceStatus::Waiting | ConformanceStatus::Running) => {
                    return Err(Error::with(ErrorCode::RequestInProgress, "its sandbox endpoint is being tested: wait for the report"));
                }
            }
        }
        let step = Step::of(kind, by, status).comment(self.comment.clone()).data(json!({ "digest": hex(&bundle.digest) }));
        Ok(take(d, bundle, step))
    }

    fn deed(&self, _: Option<&BundleRecord>) -> Option<Deed> {
        let detail = details(self.comment.as_deref(), json!({ "verdict": self.verdict.as_str() }));
        Some(self.by.signs(Deed::new(AuditAction::ReviewBundle).name(bundle_name(self.id)).detail(detail)))
    }
}

impl ReviewBundle {
    /// Nobody who wrote or submitted any of it decides about it.
    fn require_other_hands(&self, d: &Decision<'_, '_>, bundle: &BundleRecord) -> Result<()> {
        let steps: Vec<BundleStepRecord> = typed_all(d.overlay.store.scan(&Scan::bundle_steps(bundle.no, 0, STEPS_MAX as usize * 2))?)?;
        let own = |step: &BundleStepRecord| step.by == self.by.no.party() || step.key == self.by.key;
        let wrote = |step: &BundleStepRecord| {
            matches!(step.kind, BundleStepKind::Created | BundleStepKind::Edited | BundleStepKind::Submitted) && own(step)
        };
        if steps.iter().any(wrote) {
            return Err(Error::with(ErrorCode::SecondOperatorRequired, "nobody decides about a bundle that they wrote or submitted"));
        }
        Ok(())
    }
}

impl BundleVerdict {
    const fn as_str(self) -> &'static str {
        match self {
            Self::StartReview => "start_review",
            Self::Approve(_) => "approve",
            Self::Reject => "reject",
            Self::RequestChanges => "request_changes",
        }
    }
}

impl Answers for ReviewBundle {
    type View = BundleSummaryView;

    fn view(&self, d: &Decision<'_, '_>, bundle: &BundleRecord) -> Result<BundleSummaryView> {
        d.engine.bundle_summary(bundle)
    }
}
