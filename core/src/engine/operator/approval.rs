//! Four eyes: what waits for a second operator, and what that operator decides.

use crate::api::AskedView;
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed};
use crate::engine::once::Answers;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, OperatorNo, Ulid};
use crate::store::record::{ApprovalRecord, ApprovalStatus, AuditAction, Key, OperatorRecord, OperatorStatus, Record, Version};
use crate::store::{Scan, Unique, typed_all};
use crate::time::Millis;

use super::act::{Act, ActRequest, Acted, Operate, OperatorBy, with_reason};
use super::people::public;

/// How long something waits for a second operator.
const WAITS_MS: Millis = 7 * 86_400_000;
/// How much may wait at a time.
const MOST: usize = 500;

impl Engine {
    /// Keeps a request for a second operator. The same request of the same operator waits once.
    pub(super) fn ask_second(&self, d: &mut Decision<'_, '_>, operate: &Operate, client: ClientNo) -> Result<ApprovalRecord> {
        let now = d.overlay.now;
        let (Operate { by, reason, .. }, request) = (operate, operate.request());
        let waiting = pending(d, MOST)?;
        let same = waiting.iter().find(|it| {
            it.expires_at > now
                && (it.act, it.asked_by, it.replaces) == (request.act, by.no, request.expected)
                && (&it.subject, &it.request) == (&request.subject, &request.body)
                && it.sealed.is_empty()
                && request.secret.is_none()
        });
        if let Some(same) = same {
            return Ok(same.clone());
        }
        if waiting.iter().filter(|it| it.expires_at > now).count() >= MOST {
            return Err(Error::with(
                ErrorCode::InvalidState,
                format!("{MOST} requests wait for a second operator; decide some of them first"),
            ));
        }
        let no = d.writer.audit_no(now);
        let sealed = match &request.secret {
            Some(secret) => {
                let sealed = self.seal(&place(no), secret);
                sealed.ok_or_else(|| Error::internal("there is no master key to seal the request with"))?
            }
            None => Vec::new(),
        };
        let approval = ApprovalRecord {
            no,
            id: self.fresh_ulid(now),
            act: request.act,
            subject: request.subject.clone(),
            request: request.body.clone(),
            sealed,
            replaces: request.expected,
            client,
            reason: reason.clone(),
            asked_by: by.no,
            asked_at: now,
            expires_at: now.saturating_add(WAITS_MS),
            status: ApprovalStatus::Pending,
            decided_by: OperatorNo(0),
            decided_at: None,
            comment: None,
            version: Version::default(),
        };
        d.overlay.insert(approval.clone());
        Ok(approval)
    }

    /// Reseals what waits and is not sealed under the first master key.
    pub(crate) fn reseal_approvals(&self, is_stale: impl Fn(&[u8]) -> bool) -> Result<usize> {
        let waiting: Vec<ApprovalRecord> =
            typed_all(self.store.scan(&Scan::approvals(Some(ApprovalStatus::Pending), i64::MAX, usize::MAX))?)?;
        let mut count = 0;
        for approval in waiting.into_iter().filter(|approval| is_stale(&approval.sealed)) {
            count += usize::from(self.reseal_one(&Key::Approval(approval.no), |approval: &mut ApprovalRecord| {
                approval.sealed = self.sealed_anew(&place(approval.no), &approval.sealed)?;
                approval.version = approval.version.next();
                Ok(())
            })?);
        }
        Ok(count)
    }
}

/// What waits, newest first, with what this group added.
fn pending(d: &Decision<'_, '_>, most: usize) -> Result<Vec<ApprovalRecord>> {
    let stored: Vec<ApprovalRecord> = typed_all(d.overlay.store.scan(&Scan::approvals(Some(ApprovalStatus::Pending), i64::MAX, most))?)?;
    let added = d.overlay.inserted().filter_map(|record| if let Record::Approval(it) = record { Some(it.no) } else { None });
    let numbers: Vec<i64> = stored.iter().map(|it| it.no).chain(added).collect();
    let current = numbers.into_iter().filter_map(|no| d.overlay.get::<ApprovalRecord>(&Key::Approval(no)).transpose());
    Ok(current.collect::<Result<Vec<_>>>()?.into_iter().filter(|it| it.status == ApprovalStatus::Pending).collect())
}

/// The additional data under which a request is sealed.
fn place(no: i64) -> String {
    format!("approval/{no}/request")
}

/// Confirms or declines what another operator asked for. Whoever asked may withdraw it by declining.
#[derive(Debug, Clone)]
pub struct DecideApproval {
    /// Who decides.
    pub by: OperatorBy,
    /// Its id.
    pub approval: Ulid,
    /// Whether it takes effect.
    pub confirm: bool,
    /// What the decider says.
    pub comment: Option<String>,
}

/// What was decided.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The request, as decided.
    pub approval: ApprovalRecord,
    /// What it did, if it was confirmed.
    pub acted: Option<Acted>,
}

impl Command for DecideApproval {
    type Output = Decided;

    /// The second attempt finds it decided.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Decided> {
        let found: Option<ApprovalRecord> = d.overlay.find(&Unique::ApprovalId(self.approval))?;
        let approval = found.ok_or_else(|| Error::new(ErrorCode::ApprovalNotFound))?;
        let status = approval.status_at(d.overlay.now);
        if status != ApprovalStatus::Pending {
            return Err(Error::with(ErrorCode::InvalidState, format!("it is {} and waits for nobody", status.as_str())));
        }
        let acted = if self.confirm { Some(self.carry_out(d, &approval)?) } else { None };
        let read = approval.version;
        let approval = ApprovalRecord {
            status: if self.confirm { ApprovalStatus::Confirmed } else { ApprovalStatus::Declined },
            sealed: Vec::new(),
            decided_by: self.by.no,
            decided_at: Some(d.overlay.now),
            comment: self.comment.clone(),
            version: read.next(),
            ..approval
        };
        d.overlay.update(approval.clone(), read);
        Ok(Decided { approval, acted })
    }

    fn numbers(&self, _: &Engine) -> usize {
        1
    }

    fn deed(&self, _: Option<&Decided>) -> Option<Deed> {
        let action = if self.confirm { AuditAction::ConfirmApproval } else { AuditAction::DeclineApproval };
        let detail = serde_json::json!({ "comment": self.comment });
        Some(self.by.signs(Deed::new(action).name(format!("apr_{}", self.approval)).detail(detail.to_string())))
    }
}

impl Answers for DecideApproval {
    type View = AskedView;

    fn view(&self, d: &Decision<'_, '_>, decided: &Decided) -> Result<AskedView> {
        Ok(AskedView { approval: d.engine.approval_view(&decided.approval)? })
    }
}

impl DecideApproval {
    fn carry_out(&self, d: &mut Decision<'_, '_>, approval: &ApprovalRecord) -> Result<Acted> {
        let asker = person(d, approval.asked_by)?;
        let decider = person(d, self.by.no)?;
        may_confirm(d, &asker, &decider)?;
        let opened = match approval.sealed.as_slice() {
            [] => None,
            sealed => Some(d.engine.unseal(&place(approval.no), sealed)?),
        };
        let body = opened.as_ref().map_or(approval.request.as_bytes(), |opened| opened.as_slice());
        let request = ActRequest { act: approval.act, subject: &approval.subject, body, expected: approval.replaces };
        let (act, _) = Act::parse(d.engine, request)?;
        let (outcome, deed) = act.carry_out(d);
        let acted = outcome?;
        if let Some(deed) = deed {
            let (id, by) = (format!("apr_{}", approval.id), public(&asker));
            let deed = with_reason(deed, approval.reason.as_deref(), Some((&id, &by)));
            d.record(self.by.signs(deed), None);
        }
        Ok(acted)
    }
}

/// Nobody confirms what they asked for. Whoever invited somebody, directly or through others, could hold that person's key, so the two
/// count as one.
fn may_confirm(d: &Decision<'_, '_>, asker: &OperatorRecord, decider: &OperatorRecord) -> Result<()> {
    let said = if asker.no == decider.no {
        "you asked for it yourself: somebody else has to confirm it"
    } else if was_invited_by(d, asker, decider.no)? {
        "the operator who asked for it was invited by you: somebody else has to confirm it"
    } else if was_invited_by(d, decider, asker.no)? {
        "you were invited by the operator who asked for it: somebody else has to confirm it"
    } else if asker.status != OperatorStatus::Active {
        let said = "the operator who asked for it was revoked: decline it, and ask for it again if it is right";
        return Err(Error::with(ErrorCode::InvalidState, said));
    } else {
        return Ok(());
    };
    Err(Error::with(ErrorCode::SecondOperatorRequired, said))
}

/// Whether an operator was invited by this one, or by somebody who was.
fn was_invited_by(d: &Decision<'_, '_>, operator: &OperatorRecord, by: OperatorNo) -> Result<bool> {
    let mut above = operator.invited_by;
    // Whoever invites has a lower number.
    while above != OperatorNo(0) && above != by {
        above = person(d, above)?.invited_by;
    }
    Ok(above == by)
}

fn person(d: &Decision<'_, '_>, no: OperatorNo) -> Result<OperatorRecord> {
    d.overlay.get(&Key::Operator(no))?.ok_or_else(|| Error::internal("an operator is missing"))
}

impl ApprovalRecord {
    /// The status at this time.
    pub fn status_at(&self, now: Millis) -> ApprovalStatus {
        match self.status {
            ApprovalStatus::Pending if self.expires_at <= now => ApprovalStatus::Expired,
            status => status,
        }
    }
}
