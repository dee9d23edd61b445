//! Statements that lack lines: a server of before there were statements posted transfers while its successors already ran.
//!
//! Nothing tells such a server that the schema has changed while it runs, so its transfers have no lines. They are found as what the
//! transfers of an account have and its statement has not, and added below its last line. The lines above stay as they are: clients have
//! read them, and a bank adds what it missed in the same way.

use std::collections::{BTreeMap, HashSet};

use super::statement::{Ending, endings, entry_after, lines_of_transfer, waiting};
use crate::engine::group::{Command, Decision, Deed};
use crate::error::Result;
use crate::ids::{KeyNo, SettlementNo};
use crate::ledger::{AccountId, Owner, Transfer};
use crate::store::record::{AccountRecord, AuditAction, BookedLine, EntryRecord, Key, RecordKind};
use crate::store::{Scan, Store, typed_all};
use crate::time::Millis;

/// How many records are read at a time.
const PAGE: usize = 500;
/// How many lines are added in one commit.
const AT_ONCE: usize = 500;
/// How far the time of a transfer is from that of its commit at most: clocks of servers differ, and a migration keeps commits waiting.
const ABOUT: Millis = 3_600_000;

/// What a statement lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementGap {
    /// The account.
    pub account: AccountId,
    /// The lines that it lacks, in the order of their transfers; empty if its transfers do not explain the difference.
    pub lines: Vec<BookedLine>,
    /// How much more the account has than its statement, in minor units.
    pub difference: i64,
    /// The number of its last line.
    last: i64,
}

impl StatementGap {
    /// The commands that add the lines, each in a commit of its own.
    pub fn commands(&self) -> impl Iterator<Item = AddStatementLines> {
        let (account, last) = (self.account, self.last);
        self.lines.chunks(AT_ONCE).map(move |lines| AddStatementLines { account, last, lines: lines.to_vec() })
    }
}

/// The statements of a store that lack lines, by account. The store must be a snapshot, or not be written to meanwhile.
///
/// # Errors
/// Why the store cannot be read.
pub fn statement_gaps(store: &dyn Store) -> Result<Vec<StatementGap>> {
    let mut suspects = suspects(store)?;
    let mut booked: HashSet<(AccountId, SettlementNo, u16)> =
        waiting(store)?.iter().map(|line| (line.account, line.journal, line.transfer)).collect();
    for suspect in suspects.values() {
        let mut before = i64::MAX;
        loop {
            let page: Vec<EntryRecord> = typed_all(store.scan(&Scan::entries(suspect.account, 0, before, PAGE))?)?;
            let Some(first) = page.last() else { break };
            before = first.n;
            booked.extend(page.iter().map(|entry| (entry.account, entry.journal, entry.transfer)));
        }
    }
    if !suspects.is_empty() {
        each_line(store, &mut |line| {
            if let Some(suspect) = suspects.get_mut(&line.account)
                && !booked.contains(&(line.account, line.journal, line.transfer))
            {
                suspect.lacking.push(line);
            }
        })?;
    }
    Ok(suspects.into_values().map(Suspect::judged).filter(|gap| gap.difference != 0 || !gap.lines.is_empty()).collect())
}

/// A statement that does not end where its account is, or has fewer lines than that has transfers.
struct Suspect {
    account: AccountId,
    ending: Ending,
    difference: i64,
    lacking: Vec<BookedLine>,
}

impl Suspect {
    fn judged(self) -> StatementGap {
        let Self { account, ending, difference, lacking } = self;
        let lines = explained(ending.brought_at, lacking, difference.into()).unwrap_or_default();
        StatementGap { account, lines, difference, last: ending.n }
    }
}

fn suspects(store: &dyn Store) -> Result<BTreeMap<AccountId, Suspect>> {
    let endings = endings(store, &mut |_| Ok(()))?;
    let mut posted: BTreeMap<AccountId, usize> = BTreeMap::new();
    each_line(store, &mut |line| {
        let brought_at = endings.get(&line.account).and_then(|ending| ending.brought_at);
        *posted.entry(line.account).or_default() += usize::from(brought_at.is_none_or(|at| line.at > at));
    })?;
    let (mut suspects, mut after) = (BTreeMap::new(), AccountId(i64::MIN));
    loop {
        let page: Vec<AccountRecord> = typed_all(store.scan(&Scan::after(&Key::Account(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(suspects) };
        after = last.id;
        for AccountRecord { id: account, totals } in page.into_iter().filter(|account| matches!(account.id.owner(), Owner::Client(_))) {
            let ending = endings.get(&account).copied().unwrap_or_default();
            let difference = totals.ledger().unwrap_or_default().saturating_sub(ending.balance);
            if difference != 0 || posted.get(&account).is_some_and(|posted| *posted > ending.lines) {
                suspects.insert(account, Suspect { account, ending, difference, lacking: Vec::new() });
            }
        }
    }
}

/// Passes what every transfer adds to statements to `each`.
fn each_line(store: &dyn Store, each: &mut dyn FnMut(BookedLine)) -> Result<()> {
    let mut scan = Scan::all(RecordKind::Transfer, PAGE);
    loop {
        let page: Vec<Transfer> = typed_all(store.scan(&scan)?)?;
        let Some(last) = page.last() else { return Ok(()) };
        scan = Scan::after(&Key::Transfer((last.journal, last.n)), PAGE);
        page.iter().flat_map(lines_of_transfer).for_each(&mut *each);
    }
}

/// Those of the lines that explain the difference. A balance that was brought forward has all transfers that were committed before: the
/// later ones begin about at its time, where they add up.
fn explained(brought_at: Option<Millis>, mut lacking: Vec<BookedLine>, difference: i128) -> Option<Vec<BookedLine>> {
    lacking.sort_by_key(|line| (line.at, line.journal, line.transfer));
    let Some(brought_at) = brought_at else { return (total(&lacking) == difference).then_some(lacking) };
    let later = lacking.partition_point(|line| line.at <= brought_at);
    let earliest = lacking.partition_point(|line| line.at < brought_at.saturating_sub(ABOUT));
    let latest = lacking.partition_point(|line| line.at <= brought_at.saturating_add(ABOUT));
    let mut sum = total(&lacking[latest..]);
    let mut fitting: Vec<usize> = Vec::new();
    for at in (earliest..=latest).rev() {
        if sum == difference {
            fitting.push(at);
        }
        sum += at.checked_sub(1).map_or(0, |above| i128::from(lacking[above].amount));
    }
    let first = fitting.into_iter().min_by_key(|at| at.abs_diff(later))?;
    Some(lacking.split_off(first))
}

fn total(lines: &[BookedLine]) -> i128 {
    lines.iter().map(|line| i128::from(line.amount)).sum()
}

/// Adds lines that a statement lacks below its last one. Servers may run meanwhile: a line that is there by then is not added again.
/// Returns how many it added.
#[derive(Debug, Clone)]
pub struct AddStatementLines {
    account: AccountId,
    /// The last line that was seen without finding these.
    last: i64,
    lines: Vec<BookedLine>,
}

impl Command for AddStatementLines {
    type Output = usize;

    fn is_repeatable(&self) -> bool {
        true
    }

    /// Whoever adds a line to the same statement at the same time, such as the server that books, takes the same number: one of both
    /// decides again.
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<usize> {
        let store = d.overlay.store;
        let since: Vec<EntryRecord> = typed_all(store.scan(&Scan::entries(self.account, self.last, i64::MAX, usize::MAX))?)?;
        let waiting = waiting(store)?.into_iter().filter(|line| line.account == self.account);
        let mut there: HashSet<(SettlementNo, u16)> = waiting.map(|line| (line.journal, line.transfer)).collect();
        there.extend(since.iter().map(|entry| (entry.journal, entry.transfer)));
        let mut last = since.into_iter().next();
        let mut added = 0;
        for line in self.lines.iter().filter(|line| !there.contains(&(line.journal, line.transfer))) {
            let entry = entry_after(last.as_ref(), line, d.overlay.now)?;
            d.overlay.insert(entry.clone());
            (last, added) = (Some(entry), added + 1);
        }
        Ok(added)
    }

    fn deed(&self, done: Option<&usize>) -> Option<Deed> {
        let Owner::Client(client) = self.account.owner() else { return None };
        let currency = self.account.currency().map_or("?", |currency| currency.code());
        let lines = done.copied().unwrap_or(self.lines.len());
        let name = format!("{} {currency}: {lines} lines", self.account.mode().as_str());
        Some(Deed::new(AuditAction::RepairStatement).of(client, KeyNo(0)).name(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Mode, TransferCode};

    fn line(journal: i64, at: Millis, amount: i64) -> BookedLine {
        let account = AccountId::new(Owner::Client(crate::ids::ClientNo(1)), Mode::Live, crate::money::Currency::from_code("EUR").unwrap());
        BookedLine { account, amount, code: TransferCode::Payment, journal: SettlementNo(journal), transfer: 1, at }
    }

    fn found(brought_at: Option<Millis>, lacking: &[(Millis, i64)], difference: i128) -> Option<Vec<i64>> {
        let lacking = (1..).zip(lacking).map(|(no, (at, amount))| line(no, *at, *amount)).collect();
        Some(explained(brought_at, lacking, difference)?.iter().map(|line| line.amount).collect())
    }

    #[test]
    fn without_a_balance_brought_forward_all_must_add_up() {
        assert_eq!(found(None, &[(9, 2), (5, -7)], -5), Some(vec![-7, 2]), "in the order of time");
        assert_eq!(found(None, &[(9, 2), (5, -7)], 2), None);
        assert_eq!(found(None, &[(9, 3), (5, -3)], 0), Some(vec![-3, 3]));
        assert_eq!(found(None, &[], 1), None);
    }

    #[test]
    fn what_was_brought_forward_is_not_added() {
        let at = 10 * ABOUT;
        let lacking = [(1, 100), (at - 1, 20), (at + 1, -3), (at + 2 * ABOUT, -4)];
        assert_eq!(found(Some(at), &lacking, -7), Some(vec![-3, -4]));
        // Committed after it, by a clock that was slow; and before it, by one that was fast.
        assert_eq!(found(Some(at), &lacking, 13), Some(vec![20, -3, -4]));
        assert_eq!(found(Some(at), &lacking, -4), Some(vec![-4]));
        // Far from its time nothing is in doubt.
        assert_eq!(found(Some(at), &lacking, 113), None);
        assert_eq!(found(Some(at), &lacking, 0), None);
        // Of several that add up, the nearest to its time.
        assert_eq!(found(Some(at), &[(at - 2, 5), (at - 1, -5), (at + 1, 7)], 7), Some(vec![7]));
        assert_eq!(found(Some(at), &[(at - 2, 5), (at - 1, -5)], 0), Some(vec![]));
        assert_eq!(found(Some(at), &[(at + 1, 5), (at + 2, -5)], 0), Some(vec![5, -5]));
    }
}
