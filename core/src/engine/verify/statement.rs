//! Verifies that each statement adds up, and ends, with what is not booked yet, at the balance of its account.

use std::collections::BTreeMap;

use crate::engine::event_log::log_head;
use crate::error::Result;
use crate::ledger::{AccountId, Totals, Transfer, TransferKind};
use crate::store::record::{EntryRecord, Key, RecordKind, UnbookedRecord};
use crate::store::{Lookup, Scan, Store, typed, typed_all};

use super::{PAGE, VerifyReport};

/// The end of a statement: its last number and balance.
type End = (i64, i64);

/// Walks all statements. `stored` has the clients' accounts.
pub(super) fn statements(store: &dyn Store, report: &mut VerifyReport, stored: &BTreeMap<AccountId, Totals>) -> Result<()> {
    // A program without a log has no statements either.
    if log_head(store)?.is_none() {
        return Ok(());
    }
    let mut ends = walked(store, report)?;
    let waiting: Vec<UnbookedRecord> = typed_all(store.scan(&Scan::all(RecordKind::Unbooked, usize::MAX))?)?;
    // A journal of before statements has none: it is not migrated.
    if ends.is_empty() && waiting.is_empty() {
        return Ok(());
    }
    for line in waiting.iter().flat_map(|row| &row.lines) {
        let (_, balance) = ends.entry(line.account).or_default();
        *balance = balance.saturating_add(line.amount);
    }
    for (id, totals) in stored.iter().filter(|(id, _)| id.has_floor()) {
        let (_, balance) = ends.remove(id).unwrap_or_default();
        if totals.ledger() != Some(balance) {
            let message = format!("it ends at {balance}, the account at {:?}", totals.ledger());
            report.problem(name(*id), "statement_differs", message);
        }
    }
    for (id, _) in ends {
        report.problem(name(id), "statement_without_account", "there is no account for it");
    }
    Ok(())
}

/// The end of each statement.
fn walked(store: &dyn Store, report: &mut VerifyReport) -> Result<BTreeMap<AccountId, End>> {
    let mut ends: BTreeMap<AccountId, End> = BTreeMap::new();
    let mut after = (AccountId(i64::MIN), 0);
    loop {
        let page: Vec<EntryRecord> = typed_all(store.scan(&Scan::after(&Key::Entry(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(ends) };
        after = (last.account, last.n);
        posted(store, report, &page)?;
        for entry in page {
            let (n, balance) = ends.get(&entry.account).copied().unwrap_or_default();
            let begins = !ends.contains_key(&entry.account) && entry.n == 0;
            if !begins && (entry.n != n + 1 || entry.balance != balance.saturating_add(entry.amount)) {
                let message = format!("line {} does not follow from the line above it", entry.n);
                report.problem(name(entry.account), "statement_broken", message);
            }
            ends.insert(entry.account, (entry.n, entry.balance));
        }
    }
}

/// Checks that each line is what its transfer moved.
fn posted(store: &dyn Store, report: &mut VerifyReport, lines: &[EntryRecord]) -> Result<()> {
    let lines: Vec<&EntryRecord> = lines.iter().filter(|line| line.code.is_some()).collect();
    let wanted: Vec<Lookup> = lines.iter().map(|line| Lookup::Get(Key::Transfer((line.journal, line.transfer)))).collect();
    for (line, found) in lines.into_iter().zip(store.look_up(&wanted)?) {
        let transfer: Option<Transfer> = typed(found.into_iter().next())?;
        let moved = transfer.filter(|it| matches!(it.kind, TransferKind::Post | TransferKind::Single) && Some(it.code) == line.code);
        let moved = moved.map(|it| if it.debit == line.account { (it.debit, -it.amount) } else { (it.credit, it.amount) });
        if moved != Some((line.account, line.amount)) {
            let message = format!("line {} is not what transfer {}/{} moved", line.n, line.journal.0, line.transfer);
            report.problem(name(line.account), "statement_line_differs", message);
        }
    }
    Ok(())
}

fn name(id: AccountId) -> String {
    format!("statement {:?} {} {}", id.owner(), id.currency().map_or("?", |currency| currency.code()), id.mode().as_str())
}
