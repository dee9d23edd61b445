//! The statement of a client's account, as its owner reads it.

use crate::api::{Caller, DecimalNumber, EntriesView, EntryView};
use crate::engine::Engine;
use crate::engine::search::{Dated, first_from};
use crate::error::{Error, ErrorCode, Result};
use crate::ledger::{AccountId, Owner, TransferCode};
use crate::money::{Currency, Money};
use crate::store::record::{EntryRecord, Key, Record};
use crate::store::{Lookup, Scan, typed, typed_all};
use crate::time::{Millis, rfc3339};

/// Which lines of a statement to read.
#[derive(Debug, Clone)]
pub struct StatementRequest {
    account: AccountId,
    currency: Currency,
    /// The first line.
    from: i64,
    /// One past the last line.
    before: i64,
    /// The most lines of a page.
    pub limit: usize,
}

impl StatementRequest {
    /// The request for the next page; `None` after the last one.
    pub fn next(&self, page: &EntriesView) -> Option<Self> {
        let before = page.next_cursor.as_ref()?.parse().ok()?;
        Some(Self { before, ..self.clone() })
    }
}

/// Where the rest of a line is: the settlement or movement that posted it, if either did.
fn source(entry: &EntryRecord) -> Option<Lookup> {
    let key = match entry.code? {
        TransferCode::Deposit | TransferCode::Withdrawal => Key::Movement(entry.journal),
        TransferCode::Funding => return None,
        TransferCode::Payment | TransferCode::Fee | TransferCode::FeeRefund | TransferCode::Reversal | TransferCode::Return => {
            Key::Settlement(entry.journal)
        }
    };
    Some(Lookup::Get(key))
}

impl Engine {
    /// A request for the lines of the caller's account from `from` on and before `to`, below the line `cursor`.
    ///
    /// # Errors
    /// `balance_not_found` if the caller never held that currency, `invalid_cursor`.
    pub fn statement_request(
        &self,
        caller: &Caller,
        currency: &str,
        (from, to): (Option<Millis>, Option<Millis>),
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<StatementRequest> {
        self.balance(caller, currency)?;
        let currency = Currency::from_code(currency).ok_or_else(|| Error::new(ErrorCode::BalanceNotFound))?;
        let account = AccountId::new(Owner::Client(caller.client), caller.mode, currency);
        let first = from.map(|from| self.first_entry_from(account, from)).transpose()?.unwrap_or(0);
        let end = to.map(|to| self.first_entry_from(account, to)).transpose()?.unwrap_or(i64::MAX);
        let cursor: Option<i64> = cursor.map(|cursor| cursor.parse().map_err(|_| Error::new(ErrorCode::InvalidCursor))).transpose()?;
        Ok(StatementRequest { account, currency, from: first, before: cursor.unwrap_or(i64::MAX).min(end), limit })
    }

    /// A page of a statement, newest first.
    pub fn statement(&self, request: &StatementRequest) -> Result<EntriesView> {
        let scan = Scan::entries(request.account, request.from, request.before, request.limit + 1);
        let mut entries: Vec<EntryRecord> = typed_all(self.store.scan(&scan)?)?;
        let more = entries.len() > request.limit;
        entries.truncate(request.limit);
        let next_cursor = entries.last().filter(|_| more).map(|last| last.n.to_string());
        let sources = entries.iter().map(source).collect::<Vec<_>>();
        let wanted: Vec<Lookup> = sources.iter().flatten().cloned().collect();
        let mut found = self.store.look_up(&wanted)?.into_iter();
        let of = |source: &Option<Lookup>| source.as_ref().and_then(|_| found.next()?.pop());
        let sources: Vec<Option<Record>> = sources.iter().map(of).collect();
        let data = entries.iter().zip(sources).map(|(entry, source)| self.entry_view(entry, source, request.currency)).collect();
        Ok(EntriesView { data, has_more: more, next_cursor })
    }

    fn entry_view(&self, entry: &EntryRecord, source: Option<Record>, currency: Currency) -> EntryView {
        let (settlement, movement) = match source {
            Some(Record::Settlement(settlement)) => (Some(settlement), None),
            Some(Record::Movement(movement)) => (None, Some(movement)),
            Some(_) | None => (None, None),
        };
        let reference = settlement.as_ref().map(|it| it.reference.as_str()).or_else(|| movement.as_ref().map(|it| it.reference.as_str()));
        let money = |minor| DecimalNumber::from(Money::from_minor(minor, currency));
        EntryView {
            number: entry.n,
            at: rfc3339(entry.at),
            kind: entry.code.map_or("brought_forward", |code| code.as_str()).into(),
            amount: money(entry.amount),
            balance: money(entry.balance),
            currency: currency.code().to_owned(),
            reference: reference.map(str::to_owned),
            settlement_id: settlement.as_ref().map(|it| self.settlement_id(it)),
            description: settlement.and_then(|it| it.more.and_then(|more| more.description.as_deref().map(str::to_owned))),
        }
    }

    /// The number of the first line that was posted at or after this time. Lines are in the order of their times.
    fn first_entry_from(&self, account: AccountId, at: Millis) -> Result<i64> {
        let last: Option<EntryRecord> = typed(self.store.scan(&Scan::last_entry(account))?.pop())?;
        let line = |n| -> Result<Option<Dated>> {
            let entry: Option<EntryRecord> = typed(self.store.get(&Key::Entry((account, n)))?)?;
            Ok(entry.map(|entry| (entry.n, entry.at)))
        };
        // A statement begins with line 0 or 1.
        let first = match line(0)? {
            None => line(1)?,
            first => first,
        };
        let (Some(first), Some(last)) = (first, last) else { return Ok(0) };
        first_from((first.0 - 1, first.1), (last.n + 1, last.at), at, line)
    }
}
