//! Four eyes: what waits for a second operator, and what that operator decides.

use crate::api::AskedView;
use crate::auth::Scope;
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::engine::once::Answers;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, OperatorNo, Ulid};
use crate::store::record::{ApprovalRecord, ApprovalStatus, AuditAction, Key, OperatorRecord, OperatorStatus, Record, SignedWith, Version};
use crate::store::{Scan, Unique, typed_all};
use crate::time::Millis;

use super::act::{Act, ActRequest, Acted, Operate, OperatorBy, with_reason};
use super::people::public;

/// How long something waits for a second operator.
const WAITS_MS: Millis = 7 * 86_400_000;
/// How much may wait at a time.
const MOST: usize = 500;
/// How much of it may be asked for by one operator.
const MOST_OF_ONE: usize = 100;

impl Engine {
    /// Keeps a request for a second operator. The same request of the same operator waits once.
    pub(super) fn ask_second(&self, d: &mut Decision<'_, '_>, operate: &Operate, client: ClientNo) -> Result<ApprovalRecord> {
        let now = d.overlay.now;
        let (Operate { by, reason, act, .. }, request) = (operate, operate.request());
        // What is confirmed is what was looked at: a change of the same thing meanwhile is a conflict.
        let replaces = match request.expected {
            None => act.version(d)?,
            expected => expected,
        };
        let waiting = pending(d)?;
        let same = waiting.iter().find(|it| {
            (it.act, it.asked_by, it.replaces) == (request.act, by.no, replaces)
                && (&it.subject, &it.request) == (&request.subject, &request.body)
                && it.sealed.is_empty()
                && request.secret.is_none()
        });
        if let Some(same) = same {
            return Ok(same.clone());
        }
        let own = waiting.iter().filter(|it| it.asked_by == by.no).count();
        for (waits, most, of) in [(waiting.len(), MOST, "requests"), (own, MOST_OF_ONE, "of your requests")] {
            if waits >= most {
                let said = format!("{most} {of} wait for a second operator: have some of them decided first");
                return Err(Error::with(ErrorCode::InvalidState, said));
            }
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
            replaces,
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

    /// How many requests wait for a second operator.
    pub(super) fn approvals_pending(&self) -> Result<usize> {
        let scan = Scan::approvals(Some(ApprovalStatus::Pending), i64::MAX, MOST);
        let stored: Vec<ApprovalRecord> = typed_all(self.store.scan(&scan)?)?;
        Ok(stored.iter().filter(|it| it.status_at(self.now()) == ApprovalStatus::Pending).count())
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

/// What waits, newest first, with the changes of this group.
fn pending(d: &Decision<'_, '_>) -> Result<Vec<ApprovalRecord>> {
    // Newest first: what has expired is behind everything that waits.
    let stored: Vec<ApprovalRecord> = typed_all(d.overlay.store.scan(&Scan::approvals(Some(ApprovalStatus::Pending), i64::MAX, MOST))?)?;
    let added = d.overlay.inserted().filter_map(|record| if let Record::Approval(it) = record { Some(it.clone()) } else { None });
    let mut waiting = Vec::with_capacity(stored.len());
    for approval in stored.into_iter().chain(added) {
        let key = Key::Approval(approval.no);
        let current = if d.overlay.touched(&key) { d.overlay.get(&key)? } else { Some(approval) };
        waiting.extend(current.filter(|it| it.status_at(d.overlay.now) == ApprovalStatus::Pending));
    }
    Ok(waiting)
}

/// Closes up to `limit` requests that nobody decided in time, with the secrets in them. Returns how many.
pub(crate) fn expire_approvals(overlay: &mut Overlay<'_>, limit: usize) -> Result<usize> {
    let scan = Scan::approvals(Some(ApprovalStatus::Pending), i64::MAX, usize::MAX);
    let waiting: Vec<ApprovalRecord> = typed_all(overlay.store.scan(&scan)?)?;
    let (mut count, now) = (0, overlay.now);
    for approval in waiting.into_iter().filter(|it| it.status_at(now) == ApprovalStatus::Expired).take(limit) {
        if !overlay.touched(&Key::Approval(approval.no)) {
            let read = approval.version;
            let expired = ApprovalRecord { status: ApprovalStatus::Expired, sealed: Vec::new(), version: read.next(), ..approval };
            overlay.update(expired, read);
            count += 1;
        }
    }
    Ok(count)
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
        let status = match approval.status_at(d.overlay.now) {
            ApprovalStatus::Expired if mutated!(ExpiredConfirmed) => ApprovalStatus::Pending,
            ApprovalStatus::Declined if mutated!(DeclinedConfirmed) => ApprovalStatus::Pending,
            status => status,
        };
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
        may_confirm(d, &asker, &person(d, self.by.no)?)?;
        acting(d, self.by.no, Scope::OperatorApprove)?;
        let opened = match approval.sealed.as_slice() {
            [] => None,
            sealed => Some(d.engine.unseal(&place(approval.no), sealed)?),
        };
        let body = opened.as_ref().map_or(approval.request.as_bytes(), |opened| opened.as_slice());
        let request = ActRequest { act: approval.act, subject: &approval.subject, body, expected: approval.replaces };
        let (act, _) = Act::parse(d.engine, request)?;
        let (outcome, deed) = act.carry_out(d, self.by, Some(approval.asked_by));
        let acted = outcome?;
        if matches!(&acted, Acted::Moved(moved) if moved.replayed) {
            return Err(Error::with(ErrorCode::InvalidState, "what has this reference was done meanwhile: decline the request"));
        }
        if let Some(deed) = deed {
            let (id, by) = (format!("apr_{}", approval.id), public(&asker));
            let deed = with_reason(deed, approval.reason.as_deref(), Some((&id, &by)));
            d.record(self.by.signs(deed), Some(SignedWith::Key), None);
        }
        Ok(acted)
    }
}

/// Nobody confirms what they asked for. Whoever invites people, directly or through others, could hold their keys, so all of them
/// count as one: two pairs of eyes are two whom the command line invited, and those whom they invited.
fn may_confirm(d: &Decision<'_, '_>, asker: &OperatorRecord, decider: &OperatorRecord) -> Result<()> {
    let said = if mutated!(ConfirmedByAsker) {
        return Ok(());
    } else if asker.no == decider.no {
        "you asked for it yourself: somebody else has to confirm it"
    } else if first_of_line(d, asker)? == first_of_line(d, decider)? {
        "the invitations of you and of the operator who asked for it go back to one person: somebody else has to confirm it"
    } else if asker.status != OperatorStatus::Active || !asker.role.scopes().allows(Scope::OperatorAct) {
        let said = "the operator who asked for it may not act any more: decline it, and ask for it again if it is right";
        return Err(Error::with(ErrorCode::InvalidState, said));
    } else {
        return Ok(());
    };
    Err(Error::with(ErrorCode::SecondOperatorRequired, said))
}

/// The operator whom the command line invited, at the head of the invitations that lead to this one.
fn first_of_line(d: &Decision<'_, '_>, operator: &OperatorRecord) -> Result<OperatorNo> {
    let (mut no, mut above) = (operator.no, operator.invited_by);
    // Whoever invites has a lower number.
    while above != OperatorNo(0) {
        (no, above) = (above, person(d, above)?.invited_by);
    }
    Ok(no)
}

/// The operator who acts, if their role still has what the act requires: what a host knows about a role may be seconds old.
///
/// # Errors
/// `insufficient_scope`.
pub(crate) fn acting(d: &Decision<'_, '_>, no: OperatorNo, scope: Scope) -> Result<OperatorRecord> {
    let operator = person(d, no)?;
    if operator.status == OperatorStatus::Active && operator.role.scopes().allows(scope) {
        Ok(operator)
    } else {
        Err(Error::with(ErrorCode::InsufficientScope, "your role was changed and does not allow it any more"))
    }
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
