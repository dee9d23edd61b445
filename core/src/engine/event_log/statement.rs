//! Statements: each posted transfer of a client's account becomes a line with the balance after it.
//!
//! A commit that posts transfers notes their lines in one row ([`UnbookedRecord`]); a create posts nothing, and pays nothing. The node that
//! numbers events books the rows: it alone knows the balance after each line, because commits change accounts blindly.

use std::collections::HashMap;

use crate::engine::Engine;
use crate::engine::group::{Overlay, overflow};
use crate::error::{Error, Result};
use crate::ledger::{AccountId, Owner, TransferKind};
use crate::store::record::{BookedLine, EntryRecord, Key, RecordKind, UnbookedRecord};
use crate::store::{Commit, Lookup, Scan, Write, typed, typed_all};
use crate::time::Millis;

/// What a commit adds to the statements of clients.
pub(super) fn lines_of(commit: &Commit) -> Vec<BookedLine> {
    let mut lines = Vec::new();
    for write in &commit.writes {
        let Write::Post(transfer) = write else { continue };
        match transfer.kind {
            TransferKind::Pending | TransferKind::Void => continue,
            TransferKind::Post | TransferKind::Single => {}
        }
        for (account, amount) in [(transfer.debit, -transfer.amount), (transfer.credit, transfer.amount)] {
            if let Owner::Client(_) = account.owner() {
                let (code, journal, at) = (transfer.code, transfer.journal, transfer.at);
                lines.push(BookedLine { account, amount, code, journal, transfer: transfer.n, at });
            }
        }
    }
    lines
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
fn entry_after(before: Option<&EntryRecord>, line: &BookedLine, now: Millis) -> Result<EntryRecord> {
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
