//! What operators read: people, approvals, clients, and the settlements of all clients.

use std::cmp::Reverse;

use serde_json::value::RawValue;

use crate::api::{
    ApprovalView, ApprovalsView, Caller, ClientDetailView, ClientView, ClientsView, KeyView, OperatorView, OperatorsView, Page,
    SettlementView,
};
use crate::engine::Engine;
use crate::engine::search::{Dated, first_from};
use crate::engine::settlement::ListRequest;
use crate::engine::setup::terms_of;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, OperatorNo, SettlementNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::{
    ApprovalRecord, ApprovalStatus, ClientRecord, Key, KeyRecord, OperatorRecord, OperatorStatus, RecordKind, SettlementRecord,
};
use crate::store::{Scan, SettlementFilter, Unique, typed, typed_all};
use crate::terms::Terms;
use crate::time::{Millis, rfc3339};

use super::people::public;

/// How many numbers of settlements a page examines. One that finds too few ends early, with a cursor that goes on.
const EXAMINED: i64 = 4_000;
/// How many settlements are read at once where the first one says nothing.
const PAGE: usize = 500;
/// How far the order of numbers may differ from that of time, over all nodes: twice what a node keeps a block of numbers for.
const SKEW: Millis = 2_000;

impl Engine {
    /// All operators, in the order in which they were invited.
    pub fn operators(&self) -> Result<OperatorsView> {
        let all: Vec<OperatorRecord> = typed_all(self.store.scan(&Scan::all(RecordKind::Operator, usize::MAX))?)?;
        Ok(OperatorsView { data: all.iter().map(|operator| self.operator_view(operator)).collect::<Result<_>>()? })
    }

    /// The view of an operator.
    pub fn operator_view(&self, operator: &OperatorRecord) -> Result<OperatorView> {
        let is_invited = operator.status == OperatorStatus::Invited;
        Ok(OperatorView {
            id: public(operator),
            name: operator.name.clone(),
            role: operator.role,
            status: operator.status,
            invited_by: self.operator_id(operator.invited_by)?,
            created_at: rfc3339(operator.created_at),
            expires_at: is_invited.then(|| rfc3339(operator.expires_at)),
            enrolled_at: operator.enrolled_at.map(rfc3339),
            revoked_at: operator.revoked_at.map(rfc3339),
        })
    }

    /// The id of an operator on the wire; `None` for nobody.
    fn operator_id(&self, no: OperatorNo) -> Result<Option<String>> {
        let found: Option<OperatorRecord> = if no == OperatorNo(0) { None } else { typed(self.store.get(&Key::Operator(no))?)? };
        Ok(found.as_ref().map(public))
    }

    /// A page of what operators asked for, newest first, after the one with the id `after`; with this status, or all.
    pub fn approvals(&self, status: Option<ApprovalStatus>, after: Option<Ulid>, limit: usize) -> Result<ApprovalsView> {
        let before = match after {
            Some(id) => self.approval_record(id).map_err(|_| Error::new(ErrorCode::InvalidCursor))?.no,
            None => i64::MAX,
        };
        let scan =
            |status| -> Result<Vec<ApprovalRecord>> { Ok(typed_all(self.store.scan(&Scan::approvals(status, before, limit + 1))?)?) };
        let mut found = scan(status)?;
        if status == Some(ApprovalStatus::Expired) {
            // Those whose time was over a moment ago are still stored as pending.
            found.extend(scan(Some(ApprovalStatus::Pending))?);
            found.sort_unstable_by_key(|approval| Reverse(approval.no));
        }
        let more = found.len() > limit;
        found.truncate(limit);
        let next_cursor = found.last().filter(|_| more).map(|last| format!("apr_{}", last.id));
        let now = self.now();
        let shown = found.iter().filter(|approval| status.is_none_or(|status| approval.status_at(now) == status));
        let data = shown.map(|approval| self.approval_view(approval)).collect::<Result<_>>()?;
        Ok(ApprovalsView { data, has_more: more, next_cursor })
    }

    /// What was asked for under this id.
    ///
    /// # Errors
    /// `approval_not_found`.
    pub fn approval(&self, id: Ulid) -> Result<ApprovalView> {
        self.approval_view(&self.approval_record(id)?)
    }

    fn approval_record(&self, id: Ulid) -> Result<ApprovalRecord> {
        typed(self.store.find(&Unique::ApprovalId(id))?)?.ok_or_else(|| Error::new(ErrorCode::ApprovalNotFound))
    }

    /// The view of what was asked for.
    pub fn approval_view(&self, approval: &ApprovalRecord) -> Result<ApprovalView> {
        let client: Option<ClientRecord> = typed(self.store.get(&Key::Client(approval.client))?)?;
        Ok(ApprovalView {
            id: format!("apr_{}", approval.id),
            act: approval.act,
            subject: approval.subject.clone(),
            request: RawValue::from_string(approval.request.clone()).map_err(Error::internal)?,
            client_id: client.map(|client| format!("cli_{}", client.id)),
            reason: approval.reason.clone(),
            status: approval.status_at(self.now()),
            asked_by: self.operator_id(approval.asked_by)?.unwrap_or_default(),
            asked_at: rfc3339(approval.asked_at),
            expires_at: rfc3339(approval.expires_at),
            decided_by: self.operator_id(approval.decided_by)?,
            decided_at: approval.decided_at.map(rfc3339),
            comment: approval.comment.clone(),
        })
    }

    /// A page of clients, oldest first, after the one with the id `after`; only those with a key that awaits approval, if asked for.
    pub fn clients(&self, pending: bool, after: Option<Ulid>, limit: usize) -> Result<ClientsView> {
        let after = match after {
            Some(id) => self.client_record(id).map_err(|_| Error::new(ErrorCode::InvalidCursor))?.no,
            None => ClientNo(0),
        };
        let most = if pending { limit.max(200) } else { limit };
        let mut found: Vec<ClientRecord> = typed_all(self.store.scan(&Scan::after(&Key::Client(after), most + 1))?)?;
        let more = found.len() > most;
        found.truncate(most);
        let mut data = Vec::new();
        let mut last = found.last().filter(|_| more).map(|client| client.id);
        for client in &found {
            let view = ClientView::of(client, &self.keys_in_store(client.no)?);
            if pending && view.pending_keys == 0 {
                continue;
            }
            data.push(view);
            if data.len() == limit && !std::ptr::eq(client, &found[found.len() - 1]) {
                last = Some(client.id);
                break;
            }
        }
        Ok(ClientsView { data, has_more: last.is_some(), next_cursor: last.map(|id| format!("cli_{id}")) })
    }

    /// Everything about one client.
    ///
    /// # Errors
    /// `client_not_found`.
    pub fn client_detail(&self, id: Ulid) -> Result<ClientDetailView> {
        let client = self.client_record(id)?;
        let keys = self.keys_in_store(client.no)?;
        let agreed = self.applied_terms(client.no);
        let version = agreed.as_ref().map_or(0, |it| it.version);
        let terms = agreed.map_or_else(|| terms_of(id, &Terms::default()), |it| terms_of(id, &it.terms));
        Ok(ClientDetailView {
            client: ClientView::of(&client, &keys),
            keys: keys.iter().map(KeyView::from).collect(),
            balances: self.balances(&Caller::client(client.no, id, Mode::Live))?,
            terms,
            terms_version: version,
            place: self.client_place(client.no),
        })
    }

    /// The number of a client.
    ///
    /// # Errors
    /// `client_not_found`.
    pub fn client_no(&self, id: Ulid) -> Result<ClientNo> {
        Ok(self.client_record(id)?.no)
    }

    fn client_record(&self, id: Ulid) -> Result<ClientRecord> {
        typed(self.store.find(&Unique::ClientId(id))?)?.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))
    }

    pub(crate) fn keys_in_store(&self, client: ClientNo) -> Result<Vec<KeyRecord>> {
        Ok(typed_all(self.store.scan(&Scan::keys_of(client))?)?)
    }

    /// One page of the settlements of all clients, newest first by number, which is the order of creation to within two seconds. Like a
    /// client's list, it may have fewer than `limit`, or none, and still a cursor.
    pub fn list_all(&self, request: &ListRequest) -> Result<Page<SettlementView>> {
        if request.is_empty() {
            return Ok(Page { data: Vec::new(), has_more: false, next_cursor: None });
        }
        let (from, to) = (request.filter.created_from, request.filter.created_to);
        let (first, end) = match request.cursor() {
            Some(cursor) => {
                let end = cursor.parse().map_err(|_| Error::new(ErrorCode::InvalidCursor))?;
                (self.numbers_of(from, None)?.0, SettlementNo(end))
            }
            None => self.numbers_of(from, to)?,
        };
        let is_filtered = request.filter != SettlementFilter::default();
        let start = if is_filtered { first.max(SettlementNo(end.0.saturating_sub(EXAMINED))) } else { first };
        let scan = Scan::settlements(&request.filter, start, end, request.limit + 1);
        let mut records: Vec<SettlementRecord> = typed_all(self.store.scan(&scan)?)?;
        let next = if records.len() > request.limit {
            records.truncate(request.limit);
            records.last().map(|last| last.no)
        } else {
            (start > first).then_some(start)
        };
        let next_cursor = next.map(|no| no.0.to_string());
        let data = records.iter().map(|record| Ok(self.view(record, self.client_of(record.client)?))).collect::<Result<_>>()?;
        Ok(Page { data, has_more: next_cursor.is_some(), next_cursor })
    }

    /// Between which numbers the settlements of a period are, the last one exclusive, to within [`SKEW`].
    ///
    /// Clocks of sandboxes may be years ahead: they say nothing of the gateway's time, nor may they hide what came after. So settlements
    /// with the gateway's own time are looked for; those of other clocks beside them are within the numbers.
    pub(crate) fn numbers_of(&self, from: Option<Millis>, to: Option<Millis>) -> Result<(SettlementNo, SettlementNo)> {
        let last: Option<SettlementRecord> = typed(self.store.scan(&Scan::last(RecordKind::Settlement))?.pop())?;
        let Some(last) = last else { return Ok((SettlementNo(1), SettlementNo(1))) };
        let end = (last.no.0 + 1, last.created_at);
        if from.is_none() && to.is_none() {
            return Ok((SettlementNo(1), SettlementNo(end.0)));
        }
        let Some(first) = self.own_time_from(1)? else { return Ok((SettlementNo(1), SettlementNo(end.0))) };
        let from_number = |at: Millis| first_from((0, first.1), end, at, |no| self.own_time_from(no));
        let start = from.map_or(Ok(1), |from| from_number(from.saturating_sub(SKEW)))?;
        let stop = match to {
            // The first one that is later, with all of other clocks before it.
            Some(to) => self.own_time_from(from_number(to.saturating_add(SKEW))?)?.map_or(end.0, |later| later.0),
            None => end.0,
        };
        Ok((SettlementNo(start), SettlementNo(stop)))
    }

    /// The first settlement with this number or a higher one that has the gateway's own time.
    fn own_time_from(&self, no: i64) -> Result<Option<Dated>> {
        let (mut after, mut page) = (SettlementNo(no - 1), 1);
        loop {
            let found: Vec<SettlementRecord> = typed_all(self.store.scan(&Scan::after(&Key::Settlement(after), page))?)?;
            let own = found.iter().find(|record| !self.has_own_clock(record.owner()));
            match (own, found.last()) {
                (Some(record), _) => return Ok(Some((record.no.0, record.created_at))),
                (None, None) => return Ok(None),
                (None, Some(last)) => (after, page) = (last.no, PAGE),
            }
        }
    }
}
