//! Reads: the queue, and everything that is known about one settlement.

use std::collections::BTreeMap;

use super::Asked;
use crate::api::{CaseAnswerView, CaseAttemptView, CaseTransferView, CaseView, ReviewView, ReviewsView};
use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, SettlementNo, Ulid};
use crate::ledger::{AccountId, Mode, Owner, Transfer};
use crate::money::{Currency, Money};
use crate::store::record::{AttemptRecord, ClientRecord, Key, Record, ReversalRecord, ReviewReason, ReviewRecord, SettlementRecord};
use crate::store::{Lookup, Scan, typed, typed_all};
use crate::time::{Millis, rfc3339};
use crate::trace::settlement_ulid;

/// How many records of the queue are read at a time.
const LOOK_UPS: usize = 1_000;

/// What is due in the queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DueReviews {
    /// How many reviews of real money and of play money, and since when the oldest of them waits.
    pub waiting: BTreeMap<Mode, (usize, Millis)>,
    /// What their payments and reversals add up to, in minor units.
    pub at_stake: BTreeMap<(Mode, Currency), i64>,
}

impl Engine {
    /// A page of what waits for a person and is due at or before `until`, of all clients, oldest first; after the row `after` if given.
    /// Also the row after which the next page begins, if there is one.
    pub fn reviews(&self, until: Millis, after: Option<&ReviewRecord>, limit: usize) -> Result<(Vec<ReviewView>, Option<ReviewRecord>)> {
        let after = after.map(|row| (row.due, row.settlement, row.child));
        let rows: Vec<ReviewRecord> = typed_all(self.store.scan(&Scan::reviews(until, after, limit))?)?;
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            let record: Option<SettlementRecord> = typed(self.store.get(&Key::Settlement(row.settlement))?)?;
            found.extend(record.map(|record| self.review_view(&record, row)).transpose()?.flatten());
        }
        let next = if rows.len() < limit { None } else { rows.last().cloned() };
        Ok((found, next))
    }

    /// A page of what waits for a person, for the wire: what is due, or `all`, put off included.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub fn reviews_page(&self, all: bool, cursor: Option<&str>, limit: usize) -> Result<ReviewsView> {
        let after = cursor.map(|cursor| self.review_after(cursor).ok_or_else(|| Error::new(ErrorCode::InvalidCursor))).transpose()?;
        let (data, next) = self.reviews(if all { Millis::MAX } else { self.now() }, after.as_ref(), limit)?;
        let next_cursor = match &next {
            Some(row) => {
                let record: Option<SettlementRecord> = typed(self.store.get(&Key::Settlement(row.settlement))?)?;
                record.map(|record| format!("{}.{}.{}", self.settlement_id(&record), row.child, row.due))
            }
            None => None,
        };
        Ok(ReviewsView { data, has_more: next_cursor.is_some(), next_cursor })
    }

    /// The place in the queue that a cursor names.
    fn review_after(&self, cursor: &str) -> Option<ReviewRecord> {
        let mut parts = cursor.split('.');
        let id = Ulid::parse(parts.next()?.strip_prefix("stl_")?)?;
        let (child, due) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let settlement = self.id_key.open(id);
        // Of a place, only its time and key count.
        Some(ReviewRecord { settlement, child, reason: ReviewReason::Discrepancy, opened_at: due, due })
    }

    /// Everything that is known about a settlement of any client, for a person who decides about it, with what the provider said if it
    /// was asked.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn case(&self, settlement: Ulid, asked: Option<&Asked>) -> Result<CaseView> {
        let record = self.settlement_of_any(settlement)?;
        let no = record.no;
        let rows: Vec<ReviewRecord> = typed_all(self.store.scan(&Scan::reviews_of(no))?)?;
        let waiting: Result<Vec<_>> = rows.iter().map(|row| self.review_view(&record, row)).collect();
        let attempts: Vec<AttemptRecord> = typed_all(self.store.scan(&Scan::attempts(no))?)?;
        let transfers: Vec<Transfer> = typed_all(self.store.scan(&Scan::transfers(no))?)?;
        let client = self.client_of(record.client)?;
        Ok(CaseView {
            asked: asked.map(|asked| asked.answers.iter().map(CaseAnswerView::from).collect()),
            waiting: waiting?.into_iter().flatten().collect(),
            settlement: self.view(&record, client),
            findings: self.findings_about(no)?,
            attempts: attempts.iter().map(|it| self.case_attempt(it)).collect(),
            reversals: self.reversals(&record)?,
            events: self.events(&record, 0, usize::from(u16::MAX))?,
            transfers: transfers.iter().map(|it| self.case_transfer(it, record.currency, client)).collect(),
        })
    }

    fn case_attempt(&self, it: &AttemptRecord) -> CaseAttemptView {
        CaseAttemptView {
            attempt: it.n,
            provider: self.provider_name(it.provider),
            status: it.status,
            sends: it.sends,
            started_at: rfc3339(it.started_at),
            answered_at: it.answered_at.map(rfc3339),
        }
    }

    /// A transfer of a settlement: its accounts are of its client, its providers and the fees.
    fn case_transfer(&self, it: &Transfer, currency: Currency, client: Ulid) -> CaseTransferView {
        let account = |id: AccountId| match id.owner() {
            Owner::Client(_) => format!("cli_{client}"),
            Owner::Provider(no) => self.provider_name(no),
            Owner::Funding => "funding".to_owned(),
            Owner::Fees => "fees".to_owned(),
        };
        CaseTransferView {
            transfer: it.n,
            kind: it.kind,
            code: it.code,
            amount: Money::from_minor(it.amount, currency).decimal(),
            debit: account(it.debit),
            credit: account(it.credit),
            resolves: Some(it.resolves).filter(|n| *n > 0),
            at: rfc3339(it.at),
        }
    }

    /// The settlement with this id, of any client.
    pub fn settlement_of_any(&self, id: Ulid) -> Result<SettlementRecord> {
        let record: Option<SettlementRecord> = typed(self.store.get(&Key::Settlement(self.id_key.open(id)))?)?;
        let record = record.filter(|record| settlement_ulid(&self.id_key, record) == id);
        record.ok_or_else(|| Error::new(ErrorCode::SettlementNotFound))
    }

    /// What is due in the queue, counted up to `most` reviews.
    pub fn reviews_due(&self, most: usize) -> Result<DueReviews> {
        let rows: Vec<ReviewRecord> = typed_all(self.store.scan(&Scan::reviews(self.now(), None, most))?)?;
        let mut due = DueReviews::default();
        for rows in rows.chunks(LOOK_UPS) {
            let settlements = rows.iter().map(|row| Lookup::Get(Key::Settlement(row.settlement)));
            let reversals = rows.iter().filter(|row| row.child > 0).map(|row| Lookup::Get(Key::Reversal((row.settlement, row.child))));
            let found = self.store.look_up(&settlements.chain(reversals).collect::<Vec<_>>())?;
            let (settlements, reversals) = found.split_at(rows.len());
            let mut reversals = reversals.iter();
            for (row, settlement) in rows.iter().zip(settlements) {
                let reversal = if row.child > 0 { reversals.next().and_then(|found| found.first()) } else { None };
                // A row may outlive its settlement's flag; a record it names is always there.
                let Some(Record::Settlement(record)) = settlement.first() else { continue };
                let amount = match reversal {
                    Some(Record::Reversal(reversal)) => reversal.amount,
                    Some(_) | None => record.amount,
                };
                let sum = due.at_stake.entry((record.mode, record.currency)).or_default();
                *sum = sum.saturating_add(amount);
                let (count, oldest) = due.waiting.entry(record.mode).or_insert((0, row.opened_at));
                (*count, *oldest) = (*count + 1, row.opened_at.min(*oldest));
            }
        }
        Ok(due)
    }

    /// A row of the queue; `None` if it is not flagged any more, because an older program cleared the flag.
    fn review_view(&self, record: &SettlementRecord, row: &ReviewRecord) -> Result<Option<ReviewView>> {
        let reversal = match row.child {
            0 => None,
            n => self.flagged_reversal(record.no, n)?,
        };
        if !record.needs_review || (row.child > 0 && reversal.is_none()) {
            return Ok(None);
        }
        let (status, amount) = match &reversal {
            None => (record.status.name(), record.amount),
            Some(reversal) => (reversal.status.name(), reversal.amount),
        };
        let settlement_id = self.settlement_id(record);
        let id = match row.child {
            0 => settlement_id.clone(),
            n => format!("{settlement_id}.{n}"),
        };
        Ok(Some(ReviewView {
            id,
            settlement_id,
            reversal: reversal.as_ref().map(|reversal| reversal.n),
            reversal_id: reversal.map(|reversal| format!("rev_{}", self.reversal_ulid(&reversal))),
            reference: record.reference.as_str().to_owned(),
            client_id: format!("cli_{}", self.client_of(record.client)?),
            sandbox: record.mode.is_sandbox(),
            reason: row.reason,
            opened_at: rfc3339(row.opened_at),
            due_at: rfc3339(row.due),
            status,
            amount: Money::from_minor(amount, record.currency).into(),
            currency: record.currency.code().to_owned(),
            provider: self.provider_id(record.provider).into(),
        }))
    }

    fn flagged_reversal(&self, no: SettlementNo, n: u16) -> Result<Option<ReversalRecord>> {
        let found: Option<ReversalRecord> = typed(self.store.get(&Key::Reversal((no, n)))?)?;
        Ok(found.filter(|reversal| reversal.needs_review))
    }

    pub(crate) fn client_of(&self, no: ClientNo) -> Result<Ulid> {
        let client: Option<ClientRecord> = typed(self.store.get(&Key::Client(no))?)?;
        client.map(|client| client.id).ok_or_else(|| Error::internal(format!("client number {} is missing", no.0)))
    }
}
