//! What partners ask for, and what both sides say.

use serde_json::json;

use crate::api::BundleSummaryView;
use crate::engine::Answers;
use crate::engine::group::{Command, Decision, Deed};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::Ulid;
use crate::lifecycle::bundle::{BundleInput, BundleStatus};
use crate::store::record::{AuditAction, BundleRecord, BundleStepKind};
use crate::trace::hex;
use crate::validate::bundle::BundleComment;

use super::overlap::findings;
use super::{BundleBy, Step, bundle_name, details, due_now, is_tested, manifest_of, next, require_room, require_version, take};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BundleAsk {
    /// A review.
    Submit,
    /// That it is given up.
    Withdraw,
    /// Another test of its sandbox endpoint.
    Test,
    /// Nothing: something is said.
    Comment(BundleComment),
}

/// Takes a step that needs no decision of a reviewer.
#[derive(Debug, Clone)]
pub struct AskBundle {
    /// Who asks. Only a partner submits and withdraws.
    pub by: BundleBy,
    /// The bundle.
    pub id: Ulid,
    /// The version of it that the caller has seen; `None` for whichever there is.
    pub expected: Option<u32>,
    /// What is asked for.
    pub ask: BundleAsk,
    /// What is said with it.
    pub comment: Option<String>,
}

impl Command for AskBundle {
    type Output = BundleRecord;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<BundleRecord> {
        let bundle = self.by.find(d, self.id)?;
        require_version(&bundle, self.expected)?;
        match &self.ask {
            BundleAsk::Submit => self.submit(d, bundle),
            BundleAsk::Withdraw => {
                let status = next(&bundle, BundleInput::Withdraw)?;
                let bundle =
                    BundleRecord { due: None, publishing: None, conformance: bundle.conformance.filter(|_| !is_tested(&bundle)), ..bundle };
                Ok(take(d, bundle, Step::of(BundleStepKind::Withdrawn, self.by, status).comment(self.comment.clone())))
            }
            BundleAsk::Test => {
                require_room(&bundle)?;
                let status = bundle.status;
                if !matches!(status, BundleStatus::Submitted | BundleStatus::InReview | BundleStatus::Approved) {
                    let said =
                        format!("the bundle is {}: its endpoint is tested from its submission until it is published", status.as_str());
                    return Err(Error::with(ErrorCode::InvalidState, said));
                }
                if is_tested(&bundle) {
                    return Err(Error::with(ErrorCode::RequestInProgress, "a test waits or is being made"));
                }
                let bundle = due_now(d.overlay, bundle);
                Ok(take(d, bundle, Step::of(BundleStepKind::TestAsked, self.by, status).comment(self.comment.clone())))
            }
            BundleAsk::Comment(said) => {
                require_room(&bundle)?;
                if bundle.status.is_final() {
                    return Err(Error::with(ErrorCode::InvalidState, format!("the bundle is {}", bundle.status.as_str())));
                }
                let status = bundle.status;
                let step = Step::of(BundleStepKind::Commented, self.by, status).comment(Some(said.comment.clone()));
                Ok(take(d, bundle, step.data(json!({ "pointer": said.pointer }))))
            }
        }
    }

    fn deed(&self, _: Option<&BundleRecord>) -> Option<Deed> {
        let action = match &self.ask {
            BundleAsk::Submit => AuditAction::SubmitBundle,
            BundleAsk::Withdraw => AuditAction::WithdrawBundle,
            BundleAsk::Test => AuditAction::TestBundle,
            BundleAsk::Comment(_) => AuditAction::CommentBundle,
        };
        let deed = Deed::new(action).name(bundle_name(self.id));
        let deed = if self.comment.is_some() { deed.detail(details(self.comment.as_deref(), json!({}))) } else { deed };
        Some(match self.by {
            BundleBy::Partner(..) => deed,
            BundleBy::Operator(by) => by.signs(deed),
        })
    }
}

impl AskBundle {
    fn submit(&self, d: &mut Decision<'_, '_>, bundle: BundleRecord) -> Result<BundleRecord> {
        let BundleBy::Partner(..) = self.by else {
            return Err(Error::with(ErrorCode::SecondOperatorRequired, "only its partner submits a bundle"));
        };
        let status = next(&bundle, BundleInput::Submit)?;
        require_room(&bundle)?;
        let manifest = manifest_of(d, &bundle)?;
        // What is allowed may have changed since it was written.
        let refused = d.engine.places_refused(&manifest);
        if !refused.is_empty() {
            return Err(Error::invalid(refused));
        }
        let found = findings(d, &bundle, &manifest)?;
        let data = json!({ "digest": hex(&bundle.digest), "findings": found });
        let submission = bundle.steps + 1;
        let bundle = BundleRecord { submission, publishing: None, ..due_now(d.overlay, bundle) };
        Ok(take(d, bundle, Step::of(BundleStepKind::Submitted, self.by, status).comment(self.comment.clone()).data(data)))
    }
}

impl Answers for AskBundle {
    type View = BundleSummaryView;

    fn view(&self, d: &Decision<'_, '_>, bundle: &BundleRecord) -> Result<BundleSummaryView> {
        d.engine.bundle_summary(bundle)
    }
}
