//! Verifies the books: transfers add up to the accounts' totals, and a settlement's transfers match its record.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::ids::SettlementNo;
use crate::ledger::{AccountId, Totals, Transfer, TransferCode, TransferKind};
use crate::lifecycle::SettlementStatus;
use crate::store::record::{AccountRecord, Key, MovementRecord, SettlementRecord};
use crate::store::{Scan, Store, typed, typed_all};

use super::credit;
use super::pairs::balanced;
use super::statement::statements;
use super::{Findings, PAGE, VerifyReport};

/// Adds up all transfers. Each debits and credits the same amount, so the sums balance by themselves. The proof is that
/// the stored totals equal these sums. Returns how many transfers are deposits and withdrawals.
pub(super) fn journal(store: &dyn Store, report: &mut VerifyReport, sums: &mut BTreeMap<AccountId, Totals>) -> Result<u64> {
    let (mut after, mut moved) = ((SettlementNo(0), 0), 0);
    loop {
        let page: Vec<Transfer> = typed_all(store.scan(&Scan::after(&Key::Transfer(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(moved) };
        after = (last.journal, last.n);
        for transfer in &page {
            report.transfers += 1;
            if transfer.amount <= 0 || transfer.debit == transfer.credit {
                report.problem(format!("transfer {}/{}", transfer.journal.0, transfer.n), "transfer_malformed", "it moves nothing");
            }
            if (transfer.debit.mode(), transfer.debit.currency()) != (transfer.credit.mode(), transfer.credit.currency()) {
                report.problem(
                    format!("transfer {}/{}", transfer.journal.0, transfer.n),
                    "transfer_mixed",
                    "its accounts differ in mode or currency",
                );
            }
            if matches!(transfer.code, TransferCode::Deposit | TransferCode::Withdrawal) {
                let movement: Option<MovementRecord> = typed(store.get(&Key::Movement(transfer.journal))?)?;
                if movement.is_none_or(|movement| movement.transfer().as_ref() != Some(transfer)) {
                    let what = format!("transfer {}/{}", transfer.journal.0, transfer.n);
                    report.problem(what, "movement_differs", "no deposit or withdrawal is recorded for it, or another one");
                }
                moved += 1;
            }
            for (account, delta) in transfer.deltas() {
                let sum = sums.entry(account).or_default();
                *sum = sum.plus(&delta).unwrap_or(*sum);
            }
        }
    }
}

pub(super) fn accounts(store: &dyn Store, report: &mut VerifyReport, sums: &BTreeMap<AccountId, Totals>) -> Result<()> {
    let mut stored = BTreeMap::new();
    let mut after = AccountId(i64::MIN);
    loop {
        let page: Vec<AccountRecord> = typed_all(store.scan(&Scan::after(&Key::Account(after), PAGE))?)?;
        let Some(last) = page.last() else { break };
        after = last.id;
        stored.extend(page.into_iter().map(|a| (a.id, a.totals)));
    }
    report.accounts = stored.len() as u64;
    let granted = credit::most(store)?;
    let name = |id: AccountId| format!("account {:?} {} {}", id.owner(), id.currency().map_or("?", |c| c.code()), id.mode().as_str());
    let mut books: BTreeMap<_, (i128, i128)> = BTreeMap::new();
    for (id, totals) in &stored {
        let sum = sums.get(id).copied().unwrap_or_default();
        if sum != *totals {
            report.problem(name(*id), "account_total", format!("its totals are {totals:?}, its transfers add up to {sum:?}"));
        }
        if id.has_floor() && totals.available().is_none_or(|a| a < -granted.get(id).copied().unwrap_or(0)) {
            report.problem(name(*id), "account_overdrawn", "its available money is below zero, or below its credit");
        }
        let book = books.entry((id.mode(), id.currency())).or_default();
        book.0 += i128::from(totals.credits_posted) - i128::from(totals.debits_posted);
        book.1 += i128::from(totals.credits_pending) - i128::from(totals.debits_pending);
    }
    for id in sums.keys().filter(|id| !stored.contains_key(id)) {
        report.problem(name(*id), "account_missing", "transfers refer to it, but it is missing");
    }
    for ((mode, currency), book) in books.into_iter().filter(|(_, book)| *book != (0, 0)) {
        let currency = currency.map_or("?", |c| c.code());
        report.problem(
            format!("{currency} {}", mode.as_str()),
            "out_of_balance",
            format!("all accounts together are off by {} posted, {} pending", book.0, book.1),
        );
    }
    balanced(store, report, &stored)?;
    statements(store, report, &stored)
}

/// The sums of a settlement's transfers, in minor units.
#[derive(Default)]
struct Sums {
    held: i64,
    paid: i64,
    fees_held: i64,
    fees_paid: i64,
    announced: i64,
    reversed: i64,
    returned: i64,
    fees_refunded: i64,
}

pub(super) fn check_journal(store: &dyn Store, record: &SettlementRecord, problems: &mut Findings) -> Result<()> {
    let transfers: Vec<Transfer> = typed_all(store.scan(&Scan::transfers(record.no))?)?;
    if transfers.len() != usize::from(record.transfers) {
        problems.push(("journal_count", format!("{} transfers, the record says {}", transfers.len(), record.transfers)));
    }
    let mut sums = Sums::default();
    let mut resolved = Vec::new();
    for t in &transfers {
        let (pending, posted) = match t.kind {
            TransferKind::Pending => (t.amount, 0),
            TransferKind::Post => (-t.amount, t.amount),
            TransferKind::Void => (-t.amount, 0),
            TransferKind::Single => (0, t.amount),
        };
        if matches!(t.kind, TransferKind::Post | TransferKind::Void) {
            let matches = transfers.iter().any(|p| {
                p.n == t.resolves
                    && p.kind == TransferKind::Pending
                    && (p.code, p.debit, p.credit, p.amount) == (t.code, t.debit, t.credit, t.amount)
            });
            if !matches || resolved.contains(&t.resolves) {
                problems.push(("hold_resolved_wrongly", format!("transfer {} does not end exactly one hold", t.n)));
            }
            resolved.push(t.resolves);
        }
        let (p, q) = match t.code {
            TransferCode::Payment => (&mut sums.held, &mut sums.paid),
            TransferCode::Fee => (&mut sums.fees_held, &mut sums.fees_paid),
            TransferCode::Reversal => (&mut sums.announced, &mut sums.reversed),
            TransferCode::FeeRefund => (&mut sums.announced, &mut sums.fees_refunded),
            TransferCode::Return | TransferCode::Funding | TransferCode::Deposit | TransferCode::Withdrawal => {
                (&mut sums.announced, &mut sums.returned)
            }
        };
        *p += pending;
        *q += posted;
    }
    compare_journal(record, &sums, problems);
    Ok(())
}

fn compare_journal(record: &SettlementRecord, sums: &Sums, problems: &mut Findings) {
    let (held, paid) = match record.status {
        SettlementStatus::Accepted | SettlementStatus::Submitted | SettlementStatus::Unknown => (record.amount, 0),
        SettlementStatus::Completed | SettlementStatus::PartiallyReversed | SettlementStatus::Reversed | SettlementStatus::Returned => {
            (0, record.amount)
        }
        SettlementStatus::Failed | SettlementStatus::Cancelled => (0, 0),
    };
    let fee = |part: i64| if part == 0 { 0 } else { record.fee };
    let returned = if record.status == SettlementStatus::Returned { record.amount - record.reversed } else { 0 };
    let expected = [
        ("held", held, sums.held),
        ("paid", paid, sums.paid),
        ("fee held", fee(held), sums.fees_held),
        ("fee paid", fee(paid), sums.fees_paid),
        ("being reversed", record.reversing, sums.announced),
        ("reversed", record.reversed, sums.reversed),
        ("returned", returned, sums.returned),
        ("fee given back", record.fee_given_back(), sums.fees_refunded),
    ];
    for (what, says, is) in expected {
        if says != is {
            problems.push(("ledger_differs", format!("{what}: the record says {says} minor units, the journal {is}")));
        }
    }
}
