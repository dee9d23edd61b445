//! Statements: each posted transfer of a client's account becomes a line with the balance after it.
//!
//! A commit that posts transfers notes their lines in one row ([`UnbookedRecord`]); a create posts nothing, and pays nothing. The node that
//! numbers events books the rows: it alone knows the balance after each line, because commits change accounts blindly.

use std::collections::{BTreeMap, HashMap};

use crate::engine::Engine;
use crate::engine::group::{Overlay, overflow};
use crate::error::{Error, Result};
use crate::ledger::{AccountId, Owner, Transfer, TransferKind};
use crate::store::record::{BookedLine, EntryRecord, Key, RecordKind, UnbookedRecord};
use crate::store::{Commit, Lookup, Scan, Store, Write, typed, typed_all};
use crate::time::Millis;

/// How many lines are read at a time.
const PAGE: usize = 500;

/// What a commit adds to the statements of clients.
pub(super) fn lines_of(commit: &Commit) -> Vec<BookedLine> {
    let posted = commit.writes.iter().filter_map(|write| if let Write::Post(transfer) = write { Some(transfer) } else { None });
    let mut lines: Vec<BookedLine> = posted.flat_map(lines_of_transfer).collect();
    if mutated!(StatementLineTwice) {
        lines.extend_from_within(..1.min(lines.len()));
    }
    lines
}

/// What a transfer adds to the statements of clients.
pub(super) fn lines_of_transfer(transfer: &Transfer) -> impl Iterator<Item = BookedLine> {
    let Transfer { debit, credit, amount, code, journal, n, at, .. } = *transfer;
    let posts = match transfer.kind {
        TransferKind::Pending | TransferKind::Void => false,
        TransferKind::Post | TransferKind::Single => true,
    };
    let sides = [(debit, -amount), (credit, amount)].into_iter();
    let of_clients = sides.filter(move |(account, _)| posts && matches!(account.owner(), Owner::Client(_)));
    of_clients.map(move |(account, amount)| BookedLine { account, amount, code, journal, transfer: n, at })
}

/// Where a statement ends.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ending {
    /// The number of its last line.
    pub(crate) n: i64,
    /// The balance after that, and after the lines that wait to be booked.
    pub(crate) balance: i64,
    /// How many transfers are on it, or wait.
    pub(crate) lines: usize,
    /// When the balance was brought forward from before there were statements; `None` if none was.
    pub(crate) brought_at: Option<Millis>,
}

/// Where each statement ends. `each` gets all lines, in pages: by account, and from the first line of each.
pub(crate) fn endings(store: &dyn Store, each: &mut dyn FnMut(&[EntryRecord]) -> Result<()>) -> Result<BTreeMap<AccountId, Ending>> {
    let mut endings: BTreeMap<AccountId, Ending> = BTreeMap::new();
    let mut after = (AccountId(i64::MIN), 0);
    loop {
        let page: Vec<EntryRecord> = typed_all(store.scan(&Scan::after(&Key::Entry(after), PAGE))?)?;
        let Some(last) = page.last() else { break };
        after = (last.account, last.n);
        each(&page)?;
        for entry in page {
            let ending = endings.entry(entry.account).or_default();
            (ending.n, ending.balance) = (entry.n, entry.balance);
            match entry.code {
                Some(_) => ending.lines += 1,
                None => ending.brought_at = Some(entry.at),
            }
        }
    }
    for line in waiting(store)? {
        let ending = endings.entry(line.account).or_default();
        ending.balance = ending.balance.saturating_add(line.amount);
        ending.lines += 1;
    }
    Ok(endings)
}

/// The lines that are not booked yet.
pub(super) fn waiting(store: &dyn Store) -> Result<Vec<BookedLine>> {
    let rows: Vec<UnbookedRecord> = typed_all(store.scan(&Scan::all(RecordKind::Unbooked, usize::MAX))?)?;
    Ok(rows.into_iter().flat_map(|row| row.lines).collect())
}

impl Engine {
    /// Books the rows that wait, up to about `limit` lines. Returns whether there are more.
    pub(super) fn book(&self, overlay: &mut Overlay<'_>, limit: usize) -> Result<bool> {
        let rows: Vec<UnbookedRecord> = typed_all(overlay.store.scan(&Scan::all(RecordKind::Unbooked, limit.min(64)))?)?;
        // A second such command in the same group finds nothing to do.
        if rows.iter().any(|row| overlay.touched(&Key::Unbooked(row.no))) {
            return Ok(false);
        }
        let mut lines = 0;
        let begins_within = |row: &&UnbookedRecord| {
            let begins = lines;
            lines += row.lines.len();
            begins < limit
        };
        let chosen = rows.iter().take_while(begins_within).count();
        let more = rows.len() == limit.min(64) || chosen < rows.len();
        let rows = &rows[..chosen];
        let mut last: HashMap<AccountId, Option<EntryRecord>> = HashMap::new();
        let accounts = rows.iter().flat_map(|row| &row.lines).map(|line| line.account);
        overlay.look_up(accounts.map(|account| Lookup::Scan(Scan::last_entry(account))))?;
        for row in rows {
            for line in &row.lines {
                let before = match last.remove(&line.account) {
                    Some(entry) => entry,
                    None => typed(overlay.stored_page(&Scan::last_entry(line.account))?.pop())?,
                };
                let entry = entry_after(before.as_ref(), line, overlay.now)?;
                overlay.insert(entry.clone());
                last.insert(line.account, Some(entry));
            }
            overlay.write(Write::Delete(Key::Unbooked(row.no)));
        }
        Ok(more)
    }
}

/// The line of the statement below this one.
pub(super) fn entry_after(before: Option<&EntryRecord>, line: &BookedLine, now: Millis) -> Result<EntryRecord> {
    let balance = before.map_or(0, |before| before.balance).checked_add(line.amount).ok_or_else(overflow)?;
    let n = before.map_or(0, |before| before.n).checked_add(1).ok_or_else(|| Error::internal("a statement is too long"))?;
    Ok(EntryRecord {
        account: line.account,
        n,
        // Clocks of nodes differ; a statement is in order. One clock that is ahead must not date everything after it.
        at: before.map_or(i64::MIN, |before| before.at).max(line.at.min(now)),
        amount: line.amount,
        balance,
        code: Some(line.code),
        journal: line.journal,
        transfer: line.transfer,
    })
}
