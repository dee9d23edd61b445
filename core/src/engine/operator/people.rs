//! Who is an operator: invitations, keys, roles.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::api::{Caller, IssuedToken, OperatorInvitationView, OperatorView};
use crate::auth::{PublicKey, Scope};
use crate::engine::Engine;
use crate::engine::access::{named, revoked};
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::engine::once::Answers;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{OperatorNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::{AuditAction, Key, KeyRecord, OperatorRecord, OperatorRole, OperatorStatus, Record, RecordKind, Version};
use crate::store::{Scan, Unique, typed_all};
use crate::time::Millis;

use super::approval::acting;

const PREFIX: &str = "opi_";
/// How long an invitation is valid.
const INVITATION_TTL_MS: Millis = 7 * 86_400_000;
/// How many operators there may be who are not revoked.
const MOST: usize = 200;

/// Invites somebody to be an operator.
#[derive(Debug, Clone)]
pub struct InviteOperator {
    /// 1 to 100 printable characters.
    pub name: String,
    /// What they may do.
    pub role: OperatorRole,
    /// Who invites; `None` on the store itself.
    pub by: Option<OperatorNo>,
    /// Why, for the audit trail.
    pub reason: Option<String>,
}

/// An invitation, as it is given out. The code is shown only once.
#[derive(Clone)]
pub struct InvitedOperator {
    /// The operator.
    pub operator: OperatorRecord,
    /// With it, they enrol a key.
    pub code: String,
}

impl std::fmt::Debug for InvitedOperator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InvitedOperator").field("operator", &self.operator.no).finish_non_exhaustive()
    }
}

impl Command for InviteOperator {
    type Output = InvitedOperator;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<InvitedOperator> {
        may_manage(d, self.by)?;
        let name = named(&self.name, "name", "name_malformed")?;
        let all = operators(d.overlay)?;
        if all.iter().filter(|it| is_counted(it, d.overlay.now)).count() >= MOST {
            return Err(Error::with(ErrorCode::InvalidState, format!("there are {MOST} operators; revoke those who have left")));
        }
        let no = OperatorNo(all.iter().map(|it| it.no.0).max().unwrap_or(0) + 1);
        let code = new_code(d.engine, no);
        let now = d.overlay.now;
        let operator = OperatorRecord {
            no,
            id: d.engine.fresh_ulid(now),
            name,
            role: self.role,
            status: OperatorStatus::Invited,
            code: hash(&code),
            invited_by: self.by.unwrap_or(OperatorNo(0)),
            created_at: now,
            expires_at: now.saturating_add(INVITATION_TTL_MS),
            enrolled_at: None,
            revoked_at: None,
            version: Version::default(),
        };
        d.overlay.insert(operator.clone());
        Ok(InvitedOperator { operator, code })
    }

    fn deed(&self, done: Option<&InvitedOperator>) -> Option<Deed> {
        let detail = serde_json::json!({ "name": self.name, "role": self.role.as_str(), "reason": self.reason });
        let deed = Deed::new(AuditAction::InviteOperator).detail(detail.to_string());
        Some(match done {
            Some(invited) => deed.name(public(&invited.operator)),
            None => deed,
        })
    }
}

impl Answers for InviteOperator {
    type View = OperatorInvitationView;

    fn view(&self, d: &Decision<'_, '_>, invited: &InvitedOperator) -> Result<OperatorInvitationView> {
        let operator = d.engine.operator_view(&invited.operator)?;
        Ok(OperatorInvitationView { operator, code: Some(invited.code.clone()), code_shown: false })
    }

    fn withhold(view: &mut OperatorInvitationView) {
        view.code_shown = view.code.take().is_some();
    }
}

/// Enrols the key of somebody who was invited.
#[derive(Clone)]
pub struct EnrollOperator {
    /// The code of the invitation.
    pub code: String,
    /// The key, which signed the call.
    pub key: PublicKey,
    /// The operator's name; `None` for that of the invitation.
    pub name: Option<String>,
}

impl std::fmt::Debug for EnrollOperator {
    /// Omits the code.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnrollOperator").field("key", &self.key).field("name", &self.name).finish_non_exhaustive()
    }
}

/// An operator who enrolled.
#[derive(Debug, Clone)]
pub struct NewOperator {
    /// The operator.
    pub operator: OperatorRecord,
    /// The key.
    pub key: KeyRecord,
    /// The first access token.
    pub token: IssuedToken,
}

impl Command for EnrollOperator {
    type Output = NewOperator;

    /// The second attempt fails: the code is used up.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<NewOperator> {
        if d.overlay.find::<KeyRecord>(&Unique::KeyId(self.key.id()))?.is_some() {
            // The response to the same call may have been lost: that is told apart from a wrong code.
            return Err(Error::with(ErrorCode::KeyExists, "the key is already enrolled: get a token with it at /api/v1/auth/tokens"));
        }
        let invited = code_number(&self.code).map(|no| d.overlay.get::<OperatorRecord>(&Key::Operator(no))).transpose()?.flatten();
        let valid = invited.filter(|it| {
            let is_open = it.status == OperatorStatus::Invited && it.expires_at > d.overlay.now && !it.code.is_empty();
            is_open && bool::from(it.code.ct_eq(&hash(&self.code)))
        });
        let invited = valid.ok_or_else(|| {
            Error::with(ErrorCode::InvitationInvalid, "the code is unknown, was used or has expired: ask who invited you for another one")
        })?;
        let name = self.name.as_deref().map(|name| named(name, "name", "name_malformed")).transpose()?;
        let caller = Caller::client(invited.no.party(), invited.id, Mode::Live);
        let key = d.engine.new_key(d.overlay, d.writer, &caller, &self.key, invited.role.scopes())?;
        d.overlay.insert(key.clone());
        let token = d.engine.write_token(d.overlay, &key, key.scopes, None);
        let (read, enrolled_at) = (invited.version, Some(d.overlay.now));
        let operator = OperatorRecord {
            name: name.unwrap_or_else(|| invited.name.clone()),
            status: OperatorStatus::Active,
            code: Vec::new(),
            enrolled_at,
            version: read.next(),
            ..invited
        };
        d.overlay.update(operator.clone(), read);
        Ok(NewOperator { operator, key, token })
    }

    fn deed(&self, done: Option<&NewOperator>) -> Option<Deed> {
        let deed = Deed::new(AuditAction::EnrollOperator);
        Some(match done {
            Some(new) => deed.name(public(&new.operator)).of(new.operator.no.party(), new.key.no),
            None => deed.name(self.key.id().to_string()),
        })
    }
}

/// Changes what an operator may do, at once. Returns the operator as changed.
#[derive(Debug, Clone)]
pub struct ChangeRole {
    /// The operator's id.
    pub operator: Ulid,
    /// What they may do from now on.
    pub role: OperatorRole,
    /// Who changes it; `None` on the store itself.
    pub by: Option<OperatorNo>,
    /// Why, for the audit trail.
    pub reason: Option<String>,
}

impl Command for ChangeRole {
    type Output = OperatorRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<OperatorRecord> {
        may_manage(d, self.by)?;
        let operator = other(d.overlay, self.operator, self.by)?;
        if operator.status == OperatorStatus::Revoked {
            return Err(Error::with(ErrorCode::InvalidState, "the operator was revoked"));
        }
        // What a key may do is written beside it, and every token is bound by that.
        for key in d.engine.keys_of(d.overlay, operator.no.party())? {
            let read = key.version;
            d.overlay.update(KeyRecord { scopes: self.role.scopes(), version: read.next(), ..key }, read);
        }
        let read = operator.version;
        let operator = OperatorRecord { role: self.role, version: read.next(), ..operator };
        d.overlay.update(operator.clone(), read);
        Ok(operator)
    }

    fn deed(&self, _: Option<&OperatorRecord>) -> Option<Deed> {
        let detail = serde_json::json!({ "role": self.role.as_str(), "reason": self.reason });
        Some(Deed::new(AuditAction::ChangeRole).name(format!("opr_{}", self.operator)).detail(detail.to_string()))
    }
}

/// Revokes an operator, with all keys and tokens, or an invitation that was not used. Returns the operator as changed.
#[derive(Debug, Clone)]
pub struct RevokeOperator {
    /// The operator's id.
    pub operator: Ulid,
    /// Who revokes; `None` on the store itself.
    pub by: Option<OperatorNo>,
    /// Why, for the audit trail.
    pub reason: Option<String>,
}

impl Command for RevokeOperator {
    type Output = OperatorRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<OperatorRecord> {
        may_manage(d, self.by)?;
        let operator = other(d.overlay, self.operator, self.by)?;
        if operator.status == OperatorStatus::Revoked {
            return Ok(operator);
        }
        for key in d.engine.keys_of(d.overlay, operator.no.party())? {
            revoked(d.overlay, key);
        }
        let (read, revoked_at) = (operator.version, Some(d.overlay.now));
        let operator = OperatorRecord { status: OperatorStatus::Revoked, code: Vec::new(), revoked_at, version: read.next(), ..operator };
        d.overlay.update(operator.clone(), read);
        Ok(operator)
    }

    fn deed(&self, _: Option<&OperatorRecord>) -> Option<Deed> {
        let detail = serde_json::json!({ "reason": self.reason });
        Some(Deed::new(AuditAction::RevokeOperator).name(format!("opr_{}", self.operator)).detail(detail.to_string()))
    }
}

impl Answers for ChangeRole {
    type View = OperatorView;

    fn view(&self, d: &Decision<'_, '_>, changed: &OperatorRecord) -> Result<OperatorView> {
        d.engine.operator_view(changed)
    }
}

impl Answers for RevokeOperator {
    type View = OperatorView;

    fn view(&self, d: &Decision<'_, '_>, revoked: &OperatorRecord) -> Result<OperatorView> {
        d.engine.operator_view(revoked)
    }
}

/// All operators, by number, with the changes of this group.
pub(super) fn operators(overlay: &Overlay<'_>) -> Result<Vec<OperatorRecord>> {
    let stored: Vec<OperatorRecord> = typed_all(overlay.store.scan(&Scan::all(RecordKind::Operator, usize::MAX))?)?;
    let added = overlay.inserted().filter_map(|record| if let Record::Operator(operator) = record { Some(operator.no) } else { None });
    let numbers = stored.iter().map(|operator| operator.no).chain(added);
    numbers.filter_map(|no| overlay.get(&Key::Operator(no)).transpose()).collect()
}

/// Requires that whoever manages operators still may; the command line always may.
fn may_manage(d: &Decision<'_, '_>, by: Option<OperatorNo>) -> Result<()> {
    by.map_or(Ok(()), |no| acting(d, no, Scope::Admin).map(drop))
}

/// The operator with this id, who is not the one who acts.
fn other(overlay: &Overlay<'_>, id: Ulid, by: Option<OperatorNo>) -> Result<OperatorRecord> {
    let found = operators(overlay)?.into_iter().find(|operator| operator.id == id);
    let found = found.ok_or_else(|| Error::new(ErrorCode::OperatorNotFound))?;
    if by == Some(found.no) {
        return Err(Error::with(ErrorCode::SecondOperatorRequired, "nobody changes their own role or revokes themselves"));
    }
    Ok(found)
}

/// Whether an operator counts against the limit.
fn is_counted(operator: &OperatorRecord, now: Millis) -> bool {
    match operator.status {
        OperatorStatus::Active => true,
        OperatorStatus::Invited => operator.expires_at > now,
        OperatorStatus::Revoked => false,
    }
}

/// A code of 96 random bits behind the operator's number.
fn new_code(engine: &Engine, no: OperatorNo) -> String {
    let mut random = [0u8; 16];
    engine.env.random(&mut random[4..]);
    random[..4].copy_from_slice(&no.0.to_be_bytes());
    format!("{PREFIX}{}", Ulid(u128::from_be_bytes(random)))
}

fn code_number(code: &str) -> Option<OperatorNo> {
    let id = Ulid::parse(code.strip_prefix(PREFIX)?)?;
    u32::try_from(id.0 >> 96).ok().map(OperatorNo)
}

fn hash(code: &str) -> Vec<u8> {
    Sha256::digest(code.as_bytes()).to_vec()
}

/// The operator's id on the wire.
pub(super) fn public(operator: &OperatorRecord) -> String {
    format!("opr_{}", operator.id)
}
