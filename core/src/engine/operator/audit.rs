//! The audit trail as people read it: numbers become names.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::api::{AuditPageView, AuditView};
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::{ClientNo, EndpointNo, KeyNo, OperatorNo, SettlementNo};
use crate::store::record::{
    AuditAction, AuditRecord, ClientRecord, EndpointRecord, Key, KeyRecord, OperatorRecord, Record, SettlementRecord,
};
use crate::store::{Scan, Store, typed, typed_all};
use crate::time::rfc3339;

/// How many records a page with a filter examines. One that finds too few ends early, with a cursor that goes on.
const EXAMINED: usize = 4_000;

impl Engine {
    /// A page of the audit trail, newest first, below the number `before` (`i64::MAX` for the newest); only about this client, if given.
    pub fn audit(&self, client: Option<ClientNo>, before: i64, limit: usize) -> Result<AuditPageView> {
        let most = if client.is_some() { EXAMINED } else { limit + 1 };
        let examined: Vec<AuditRecord> = typed_all(self.store.scan(&Scan::audit_before(before, most))?)?;
        let end = examined.last().filter(|_| examined.len() == most).map(|last| last.no);
        let mut found: Vec<AuditRecord> =
            examined.into_iter().filter(|record| client.is_none_or(|client| record.client == client)).collect();
        let next = if found.len() > limit {
            found.truncate(limit);
            found.last().map(|last| last.no)
        } else {
            end
        };
        let mut names = AuditNames::of(&*self.store);
        let data = found.iter().map(|record| names.view(record)).collect::<Result<_>>()?;
        Ok(AuditPageView { data, has_more: next.is_some(), next_cursor: next.map(|no| no.to_string()) })
    }
}

/// What a target's number identifies.
enum Subject {
    Client,
    Key,
    Settlement,
    Webhook,
    Nothing,
}

impl Subject {
    fn of(action: AuditAction) -> Self {
        match action {
            AuditAction::Enroll
            | AuditAction::ApproveClient
            | AuditAction::SuspendClient
            | AuditAction::ResumeClient
            | AuditAction::MoveClient => Self::Client,
            AuditAction::EnrollLive | AuditAction::IssueToken | AuditAction::RevokeToken | AuditAction::AddKey | AuditAction::RevokeKey => {
                Self::Key
            }
            AuditAction::CreateSettlement
            | AuditAction::ReverseSettlement
            | AuditAction::CheckSettlement
            | AuditAction::ResolveReview
            | AuditAction::ApprovePayment
            | AuditAction::DeclinePayment
            | AuditAction::AdvanceSettlement => Self::Settlement,
            AuditAction::CreateWebhook
            | AuditAction::UpdateWebhook
            | AuditAction::DeleteWebhook
            | AuditAction::RotateWebhookSecret
            | AuditAction::EnableWebhook
            | AuditAction::TestWebhook
            | AuditAction::RedeliverWebhook
            | AuditAction::ReplayWebhook => Self::Webhook,
            AuditAction::RotateSecret
            | AuditAction::BeginEpoch
            | AuditAction::RepairStatement
            | AuditAction::Fund
            | AuditAction::SetFaults
            | AuditAction::ResetSandbox
            | AuditAction::SetClock
            | AuditAction::MoreRefusals
            | AuditAction::Invite
            | AuditAction::WithdrawInvitation
            | AuditAction::PutProvider
            | AuditAction::EnableProvider
            | AuditAction::DisableProvider
            | AuditAction::MaintainProvider
            | AuditAction::PutRoutes
            | AuditAction::PutTerms
            | AuditAction::SetCredit
            | AuditAction::Reconcile
            | AuditAction::Deposit
            | AuditAction::Withdraw
            | AuditAction::InviteOperator
            | AuditAction::EnrollOperator
            | AuditAction::ChangeRole
            | AuditAction::RevokeOperator
            | AuditAction::AskApproval
            | AuditAction::ConfirmApproval
            | AuditAction::DeclineApproval
            | AuditAction::PutUser
            | AuditAction::MakeDeviceCode
            | AuditAction::EnrollDevice
            | AuditAction::RenameDevice
            | AuditAction::RevokeDevice
            | AuditAction::CreateBundle
            | AuditAction::EditBundle
            | AuditAction::SubmitBundle
            | AuditAction::WithdrawBundle
            | AuditAction::TestBundle
            | AuditAction::CommentBundle
            | AuditAction::ReviewBundle
            | AuditAction::PublishBundle
            | AuditAction::RevokeBundle
            | AuditAction::Subscribe
            | AuditAction::Unsubscribe => Self::Nothing,
        }
    }
}

/// The public names of numbers, each looked up once.
pub struct AuditNames<'a> {
    store: &'a dyn Store,
    parties: HashMap<ClientNo, Option<String>>,
    keys: HashMap<KeyNo, Option<(String, ClientNo)>>,
}

impl<'a> AuditNames<'a> {
    /// The names in this store.
    pub fn of(store: &'a dyn Store) -> Self {
        Self { store, parties: HashMap::new(), keys: HashMap::new() }
    }

    /// A record as people read it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn view(&mut self, record: &AuditRecord) -> Result<AuditView> {
        let key = self.key(record.key)?;
        let operator = key.as_ref().and_then(|(_, party)| party.operator()).or_else(|| record.client.operator());
        let target = match (&record.name, record.target) {
            (Some(name), 0) => Some(name.clone()),
            (_, 0) => None,
            (_, no) => Some(self.target(record.action, no)?),
        };
        let on_store = record.key == KeyNo(0) && !matches!(record.action, AuditAction::Enroll | AuditAction::MoreRefusals);
        Ok(AuditView {
            no: record.no,
            at: rfc3339(record.at),
            by: if on_store || operator.is_some() { "operator" } else { "client" },
            operator_id: operator.map(|no| self.party(no.party())).transpose()?.flatten(),
            client_id: if record.client.operator().is_some() { None } else { self.party(record.client)? },
            key_id: key.map(|(id, _)| id),
            signed_by: record.signed_by.map(|with| with.as_str()),
            action: record.action.as_str(),
            target,
            outcome: record.refused.clone().unwrap_or_else(|| "done".to_owned()),
            detail: record.detail.clone().and_then(|detail| RawValue::from_string(detail).ok()),
        })
    }

    fn target(&mut self, action: AuditAction, no: i64) -> Result<String> {
        let small = u32::try_from(no).unwrap_or(0);
        let named = match Subject::of(action) {
            Subject::Client => self.party(ClientNo(small))?,
            Subject::Key => self.key(KeyNo(small))?.map(|(id, _)| id),
            Subject::Settlement => {
                let found: Option<SettlementRecord> = self.found(&Key::Settlement(SettlementNo(no)))?;
                found.map(|settlement| settlement.reference.as_str().to_owned())
            }
            Subject::Webhook => {
                let found: Option<EndpointRecord> = self.found(&Key::Endpoint(EndpointNo(small)))?;
                found.map(|endpoint| format!("whk_{}", endpoint.id))
            }
            Subject::Nothing => None,
        };
        Ok(named.unwrap_or_else(|| format!("no. {no}")))
    }

    /// The public id of a client or operator.
    pub(crate) fn party(&mut self, no: ClientNo) -> Result<Option<String>> {
        if let Some(known) = self.parties.get(&no) {
            return Ok(known.clone());
        }
        let id = match no.operator() {
            Some(operator) => self.operator(operator)?,
            None => self.found::<ClientRecord>(&Key::Client(no))?.map(|client| format!("cli_{}", client.id)),
        };
        self.parties.insert(no, id.clone());
        Ok(id)
    }

    /// The thumbprint of a key; `None` for no key.
    #[cfg(feature = "bundles")]
    pub(crate) fn key_id(&mut self, no: KeyNo) -> Result<Option<String>> {
        Ok(self.key(no)?.map(|(id, _)| id))
    }

    fn operator(&self, no: OperatorNo) -> Result<Option<String>> {
        Ok(self.found::<OperatorRecord>(&Key::Operator(no))?.map(|operator| format!("opr_{}", operator.id)))
    }

    /// A key's thumbprint, and whose it is; `None` for no key.
    fn key(&mut self, no: KeyNo) -> Result<Option<(String, ClientNo)>> {
        if let Some(known) = self.keys.get(&no) {
            return Ok(known.clone());
        }
        let found = if no == KeyNo(0) { None } else { self.found::<KeyRecord>(&Key::Key(no))? };
        let key = found.map(|key| (key.id.to_string(), key.client));
        self.keys.insert(no, key.clone());
        Ok(key)
    }

    fn found<T: TryFrom<Record, Error = Record>>(&self, key: &Key) -> Result<Option<T>> {
        Ok(typed(self.store.get(key)?)?)
    }
}
