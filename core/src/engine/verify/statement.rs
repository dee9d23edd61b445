//! Verifies that each statement adds up, and ends, with what is not booked yet, at the balance of its account.

use std::collections::BTreeMap;

use crate::engine::event_log::{endings, log_head};
use crate::error::Result;
use crate::ledger::{AccountId, Totals, Transfer, TransferKind};
use crate::store::record::{EntryRecord, Key};
use crate::store::{Lookup, Store, typed};

use super::VerifyReport;

/// Walks all statements. `stored` has the clients' accounts.
pub(super) fn statements(store: &dyn Store, report: &mut VerifyReport, stored: &BTreeMap<AccountId, Totals>) -> Result<()> {
    // A program without a log has no statements either.
    if log_head(store)?.is_none() {
        return Ok(());
    }
    let mut above: Option<EntryRecord> = None;
    let mut ends = endings(store, &mut |page| {
        posted(store, report, page)?;
        for entry in page {
            follows(report, above.as_ref().filter(|above| above.account == entry.account), entry);
            above = Some(entry.clone());
        }
        Ok(())
    })?;
    // A journal of before statements has none: it is not migrated.
    if ends.is_empty() {
        return Ok(());
    }
    for (id, totals) in stored.iter().filter(|(id, _)| id.has_floor()) {
        let balance = ends.remove(id).unwrap_or_default().balance;
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

/// Checks that a line follows from the one above it. A statement begins with line 0 or 1.
fn follows(report: &mut VerifyReport, above: Option<&EntryRecord>, entry: &EntryRecord) {
    let (n, balance) = above.map_or((0, 0), |above| (above.n, above.balance));
    let begins = above.is_none() && entry.n == 0;
    if !begins && (entry.n != n + 1 || entry.balance != balance.saturating_add(entry.amount)) {
        let message = format!("line {} does not follow from the line above it", entry.n);
        report.problem(name(entry.account), "statement_broken", message);
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
