//! Publication and revocation: acts of operators.

use serde_json::json;

use crate::engine::group::{Command, Decision, Deed};
use crate::engine::operator::OperatorBy;
use crate::engine::setup::SwitchProvider;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{OperatorNo, Ulid};
use crate::ledger::Mode;
use crate::lifecycle::bundle::BundleInput;
use crate::route::Availability;
use crate::store::record::{AuditAction, BundleRecord, BundleStepKind, ClientRecord, Key, OperatorRecord};

use super::make::{is_in, is_taken};
use super::{BundleBy, Step, bundle_name, due_now, found, is_tested, manifest_of, next, require_version, take};

/// Who carries an act out, and who had asked for it, if it was another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hands {
    /// Who carries it out.
    pub by: OperatorBy,
    /// Who had asked for it.
    pub asked_by: Option<OperatorNo>,
}

impl Hands {
    fn asked_by(self, d: &Decision<'_, '_>) -> Result<Option<String>> {
        let asked = self.asked_by.filter(|no| *no != self.by.no).map(|no| d.overlay.get::<OperatorRecord>(&Key::Operator(no)));
        Ok(asked.transpose()?.flatten().map(|it| format!("opr_{}", it.id)))
    }
}

/// Asks for the publication of a bundle: it follows a test that no check fails.
#[derive(Debug, Clone)]
pub struct PublishBundle {
    /// The bundle.
    pub id: Ulid,
    /// Where: the sandbox first.
    pub mode: Mode,
    /// Whether its wishes for routes are added to the table.
    pub with_routes: bool,
    /// The version of it that was seen; `None` for whichever there is.
    pub expected: Option<u32>,
    /// Why.
    pub reason: String,
    /// Whose hands carry it out, once that is known.
    pub hands: Option<Hands>,
}

impl Command for PublishBundle {
    type Output = BundleRecord;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<BundleRecord> {
        let bundle = found(d, self.id)?;
        require_version(&bundle, self.expected)?;
        let input = match self.mode {
            Mode::Sandbox => BundleInput::PublishSandbox,
            Mode::Live => BundleInput::PublishLive,
        };
        next(&bundle, input)?;
        let refused = |said: &str| Err(Error::with(ErrorCode::InvalidState, said.to_owned()));
        if is_in(&bundle, self.mode) {
            return refused("it is published there already");
        }
        if self.mode == Mode::Live && bundle.mode != Mode::Live {
            let said = "the bundle was made with a sandbox credential: its partner has to send it with a live one";
            return Err(Error::with(ErrorCode::ModeMismatch, said));
        }
        let client: Option<ClientRecord> = d.overlay.get(&Key::Client(bundle.client))?;
        if client.is_none_or(|client| client.suspended) {
            return refused("its partner is suspended");
        }
        if is_tested(&bundle) {
            return Err(Error::with(ErrorCode::RequestInProgress, "its sandbox endpoint is being tested: wait for the report"));
        }
        let manifest = manifest_of(d, &bundle)?;
        let Some(spec) = manifest.provider(self.mode) else { return refused("the manifest has no live endpoint") };
        if is_taken(d, &bundle, self.mode, &spec.id)? {
            return refused(&format!("there is a provider {} already, which is not of this partner", spec.id));
        }
        let Some(hands) = self.hands else { return Err(Error::internal("a bundle is published by nobody")) };
        let data = json!({ "mode": self.mode.as_str(), "routes": self.with_routes, "asked_by": hands.asked_by(d)? });
        let (with_routes, status) = (self.with_routes, bundle.status);
        let bundle = BundleRecord { publishing: Some(self.mode), with_routes, ..due_now(d.overlay, bundle) };
        let step = Step::of(BundleStepKind::PublicationAsked, BundleBy::Operator(hands.by), status);
        Ok(take(d, bundle, step.comment(Some(self.reason.clone())).data(data)))
    }

    fn deed(&self, done: Option<&BundleRecord>) -> Option<Deed> {
        deed(AuditAction::PublishBundle, self.id, done, json!({ "mode": self.mode.as_str() }))
    }
}

/// Revokes a published bundle: its providers get no new payments, and those that they have are followed to their end.
#[derive(Debug, Clone)]
pub struct RevokeBundle {
    /// The bundle.
    pub id: Ulid,
    /// The version of it that was seen; `None` for whichever there is.
    pub expected: Option<u32>,
    /// Why.
    pub reason: String,
    /// Whose hands carry it out, once that is known.
    pub hands: Option<Hands>,
}

impl Command for RevokeBundle {
    type Output = BundleRecord;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<BundleRecord> {
        let bundle = found(d, self.id)?;
        require_version(&bundle, self.expected)?;
        let status = next(&bundle, BundleInput::Revoke)?;
        let Some(hands) = self.hands else { return Err(Error::internal("a bundle is revoked by nobody")) };
        let manifest = manifest_of(d, &bundle)?;
        let mut disabled = Vec::new();
        for mode in [Mode::Sandbox, Mode::Live].into_iter().filter(|mode| is_in(&bundle, *mode)) {
            let Some(spec) = manifest.provider(mode) else { continue };
            let reason = Some(format!("bundle {} was revoked: {}", bundle_name(self.id), self.reason));
            SwitchProvider { id: spec.id.clone(), to: Availability::Disabled, expected: None, reason }.decide(d)?;
            disabled.push(spec.id.clone());
        }
        let data = json!({ "providers": disabled, "asked_by": hands.asked_by(d)? });
        let conformance = bundle.conformance.filter(|_| !is_tested(&bundle));
        let bundle = BundleRecord { publishing: None, due: None, owner: 0, conformance, ..bundle };
        let step = Step::of(BundleStepKind::Revoked, BundleBy::Operator(hands.by), status);
        Ok(take(d, bundle, step.comment(Some(self.reason.clone())).data(data)))
    }

    fn deed(&self, done: Option<&BundleRecord>) -> Option<Deed> {
        deed(AuditAction::RevokeBundle, self.id, done, json!({}))
    }
}

fn deed(action: AuditAction, id: Ulid, done: Option<&BundleRecord>, detail: serde_json::Value) -> Option<Deed> {
    let deed = Deed::new(action).name(bundle_name(id)).detail(detail.to_string());
    Some(match done {
        Some(bundle) => deed.of(bundle.client, crate::ids::KeyNo(0)),
        None => deed,
    })
}
