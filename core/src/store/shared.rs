//! Rules common to all stores: which writes every store refuses, and how the transfers of one commit add up.

use std::collections::BTreeMap;

use super::column::Column;
use super::record::{Key, Record, RecordKind, UsageRecord};
use super::{Commit, CommitError, Store, StoreError, Write};
use crate::ids::SettlementNo;
use crate::ledger::{AccountId, Mode, Totals, Transfer};
use crate::terms::{UsageId, Used};

/// Settlement and journal numbers are in `-MAX_NO..=MAX_NO`, so that a child's key fits into 64 bits with 16 bits of its own.
pub(crate) const MAX_NO: i64 = (1 << 47) - 1;

/// The highest sequence number of an event: it uses the lower 16 bits of the key.
pub(crate) const MAX_EVENT: u32 = u16::MAX as u32;

/// The name of the meta record in a target of [`super::copy`] while the target is incomplete.
pub(crate) const COPY_MARK: &str = "copy";

/// Refuses a store that is an unfinished copy: a server would miss the other half, or repeat what has been done.
pub(crate) fn require_whole(store: &dyn Store) -> Result<(), StoreError> {
    match store.get(&Key::Meta(COPY_MARK.to_owned()))? {
        None => Ok(()),
        Some(_) => {
            let cause = "it is a copy that is not finished: the same `railgate copy` again finishes it";
            Err(StoreError::new("opening the store", cause, false))
        }
    }
}

/// A child's key as one number, ordered by settlement and then by its own number; `None` if no record has such a key.
pub(crate) const fn pack_child(no: SettlementNo, n: u32) -> Option<i64> {
    let fits = no.0.unsigned_abs() <= MAX_NO.unsigned_abs() && n <= MAX_EVENT;
    if fits { Some(no.0 << 16 | n as i64) } else { None }
}

/// A tile's position as one number, ordered by mode, then by level and then by index; `None` if there is no such tile.
pub(crate) fn pack_tile(mode: Mode, level: u8, index: i64) -> Option<i64> {
    let tree = match mode {
        Mode::Sandbox => 0,
        Mode::Live => 1 << 62,
    };
    (level < 64 && (0..1 << 56).contains(&index)).then_some(tree | i64::from(level) << 56 | index)
}

/// Refuses mistakes of the caller, which do not depend on the stored data. Nothing is written in that case.
pub(crate) fn check(commit: &Commit) -> Result<(), StoreError> {
    let refusal = |write: &Write| match write {
        Write::Insert(record) => refusal(record),
        Write::Update { record, .. } if record.version().is_none() => Some("only what has a version is replaced by version"),
        Write::Replace(record) if record.version().is_some() => Some("what has a version is replaced only by version"),
        Write::Update { record, .. } | Write::Replace(record) => refusal(record),
        Write::Post(transfer) if transfer.amount <= 0 => Some("a transfer moves more than zero"),
        Write::Post(transfer) => Column::refusal(&(transfer.journal, transfer.n)),
        Write::Floor { account, .. } if !account.has_floor() => Some("the account has no floor"),
        Write::Floor { floor, .. } if *floor > 0 => Some("a floor is zero or less"),
        Write::Count { .. } | Write::Floor { .. } => None,
        Write::Delete(key) if is_posted(key.kind()) => Some("accounts and transfers are never removed"),
        Write::Delete(key) | Write::Absent(key) => key.refusal(),
    };
    let refused = |cause| Err(StoreError::new("refusing a commit", cause, false));
    commit.writes.iter().find_map(refusal).map_or(Ok(()), refused)
}

fn refusal(record: &Record) -> Option<&'static str> {
    if is_posted(record.kind()) { Some("accounts and transfers change only by a post") } else { record.refusal() }
}

fn is_posted(kind: RecordKind) -> bool {
    kind.layout().posted
}

/// The sum of a commit's transfers by account: a popular account is updated once per commit, not once per transfer.
///
/// The sums are wider than the totals, so that neither overflow nor the balance guard depends on the order of the transfers.
pub(crate) struct Deltas {
    accounts: Vec<(AccountId, [i128; 4])>,
    /// Where the available money may fall below zero.
    floors: BTreeMap<AccountId, Floor>,
}

impl Deltas {
    /// Both sides of each transfer, in the order of the accounts.
    pub(crate) fn of(commit: &Commit) -> Self {
        let posts = commit.writes.iter().filter_map(|write| if let Write::Post(transfer) = write { Some(transfer) } else { None });
        let mut deltas: Vec<_> = posts.flat_map(Transfer::deltas).map(|(id, delta)| (id, parts(&delta).map(i128::from))).collect();
        deltas.sort_by_key(|(account, _)| *account);
        deltas.dedup_by(|(account, delta), (last, sum)| {
            let same = account == last;
            if same {
                sum.iter_mut().zip(delta).for_each(|(sum, delta)| *sum += *delta);
            }
            same
        });
        Self { accounts: deltas, floors: floors(commit) }
    }

    fn floor(&self, account: AccountId) -> i64 {
        self.floors.get(&account).map_or(0, Floor::least)
    }

    /// Whether there were no transfers.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// The new totals of every account, by key, or why the commit is refused: an account with a floor spent more than it has, or
    /// totals no longer fit.
    pub(crate) fn settle(
        &self,
        mut current: impl FnMut(AccountId) -> Result<Totals, StoreError>,
    ) -> Result<Vec<(AccountId, Totals)>, CommitError> {
        let mut settled = Vec::with_capacity(self.accounts.len());
        for &(account, ref delta) in &self.accounts {
            let totals = sum(&current(account)?, delta).ok_or_else(|| overflow(account))?;
            guard(account, delta, &totals, self.floor(account))?;
            settled.push((account, totals));
        }
        Ok(settled)
    }
}

/// For a store that adds up the totals itself.
#[cfg(feature = "postgres")]
impl Deltas {
    /// The amount to add to each account, by key; `None` if it does not fit the type of totals.
    pub(crate) fn each(&self) -> Option<Vec<(AccountId, Totals)>> {
        self.accounts.iter().map(|(account, delta)| Some((*account, sum(&Totals::default(), delta)?))).collect()
    }

    /// The accounts, by key, with nothing to add.
    pub(crate) fn nothing(&self) -> Vec<(AccountId, Totals)> {
        self.accounts.iter().map(|(account, _)| (*account, Totals::default())).collect()
    }

    /// What must be left on each account, by key: [`Deltas::guard`] as a number.
    pub(crate) fn least(&self) -> impl Iterator<Item = (AccountId, i64)> {
        let guarded = |account: &AccountId, delta| spends(delta) && account.has_floor();
        self.accounts.iter().map(move |(account, delta)| (*account, if guarded(account, delta) { self.floor(*account) } else { i64::MIN }))
    }

    /// Whether the commit is allowed. `now` returns the totals after it.
    pub(crate) fn guard(&self, now: impl Fn(AccountId) -> Result<Totals, StoreError>) -> Result<(), CommitError> {
        self.accounts.iter().try_for_each(|(account, delta)| guard(*account, delta, &now(*account)?, self.floor(*account)))
    }
}

/// How far the available money of an account may fall.
#[derive(Default)]
struct Floor {
    /// The lowest floor of the commit.
    lowest: i64,
    /// By how much the money changes after the last of the writes that must leave zero at least; of several such, the most.
    since_zero: Option<i128>,
}

impl Floor {
    /// What must be left in the end. What is spent after zero was left may use the floor; what was spent before may not.
    fn least(&self) -> i64 {
        let since = self.since_zero.map_or(i64::MIN, |since| i64::try_from(since.min(0)).unwrap_or(i64::MIN));
        self.lowest.max(since)
    }
}

fn floors(commit: &Commit) -> BTreeMap<AccountId, Floor> {
    let mut floors: BTreeMap<AccountId, Floor> = BTreeMap::new();
    for write in &commit.writes {
        match write {
            Write::Floor { account, floor } => {
                let found = floors.entry(*account).or_default();
                found.lowest = found.lowest.min(*floor);
                if *floor == 0 {
                    found.since_zero = Some(found.since_zero.map_or(0, |since| since.max(0)));
                }
            }
            Write::Post(transfer) if !floors.is_empty() => {
                for (account, delta) in transfer.deltas() {
                    if let Some(since) = floors.get_mut(&account).and_then(|floor| floor.since_zero.as_mut()) {
                        *since += change(&parts(&delta).map(i128::from));
                    }
                }
            }
            Write::Post(_) | Write::Insert(_) | Write::Update { .. } | Write::Replace(_) => {}
            Write::Count { .. } | Write::Delete(_) | Write::Absent(_) => {}
        }
    }
    floors
}

/// Refuses new totals that do not fit, and an account with a floor that spent more than it has.
fn guard(account: AccountId, delta: &[i128; 4], totals: &Totals, floor: i64) -> Result<(), CommitError> {
    let available = totals.available().ok_or_else(|| overflow(account))?;
    if spends(delta) && available < floor && account.has_floor() { Err(CommitError::BalanceGuard(account)) } else { Ok(()) }
}

/// Whether a change leaves less to spend.
fn spends(delta: &[i128; 4]) -> bool {
    change(delta) < 0
}

/// By how much a change leaves more to spend.
fn change([debits_pending, debits_posted, _, credits_posted]: &[i128; 4]) -> i128 {
    credits_posted - debits_posted - debits_pending
}

/// The sum of a commit's counts by counter.
pub(crate) struct Counts(Vec<(UsageId, Used, Used)>);

impl Counts {
    /// What to add to each counter and the most that it may become, by key. Only what adds limits the counter: what takes back, in
    /// the same commit, must not refuse it.
    pub(crate) fn of(commit: &Commit) -> Self {
        let count = |write: &Write| match write {
            Write::Count { id, by, most } if by.adds() => Some((*id, *by, *most)),
            Write::Count { id, by, .. } => Some((*id, *by, Used::MAX)),
            Write::Insert(_) | Write::Update { .. } | Write::Replace(_) | Write::Post(_) => None,
            Write::Floor { .. } | Write::Delete(_) | Write::Absent(_) => None,
        };
        let mut counts: Vec<_> = commit.writes.iter().filter_map(count).collect();
        counts.sort_by_key(|(id, ..)| *id);
        counts.dedup_by(|(id, by, most), (last, sum, least)| {
            let same = id == last;
            if same {
                *sum = sum.plus(*by);
                *least = Used { value: least.value.min(most.value), count: least.count.min(most.count) };
            }
            same
        });
        Self(counts)
    }

    /// Whether nothing is counted.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The new value of every counter, by key, or which one would become more than it may.
    pub(crate) fn settle(&self, mut current: impl FnMut(UsageId) -> Result<Used, StoreError>) -> Result<Vec<UsageRecord>, CommitError> {
        let settled = self.0.iter().map(|&(id, by, most)| {
            let used = current(id)?.plus(by);
            require_within(id, by, used, most)?;
            Ok(UsageRecord { id, used })
        });
        settled.collect()
    }
}

/// For a store that adds up the counters itself.
#[cfg(feature = "postgres")]
impl Counts {
    /// What to add to each counter, by key.
    pub(crate) fn each(&self) -> impl Iterator<Item = UsageRecord> {
        self.0.iter().map(|(id, by, _)| UsageRecord { id: *id, used: *by })
    }

    /// Whether the commit is allowed. `now` are the counters after it, in any order.
    pub(crate) fn guard(&self, now: &[UsageRecord]) -> Result<(), CommitError> {
        now.iter().try_for_each(|record| {
            let counted = self.0.iter().find(|(id, ..)| *id == record.id);
            counted.map_or(Ok(()), |(id, by, most)| require_within(*id, *by, record.used, *most))
        })
    }
}

/// Taking back is always allowed: the limits may have become lower meanwhile.
fn require_within(id: UsageId, by: Used, used: Used, most: Used) -> Result<(), CommitError> {
    if by.adds() && !used.is_within(most) { Err(CommitError::UsageGuard(id)) } else { Ok(()) }
}

fn parts(totals: &Totals) -> [i64; 4] {
    [totals.debits_pending, totals.debits_posted, totals.credits_pending, totals.credits_posted]
}

fn sum(totals: &Totals, delta: &[i128; 4]) -> Option<Totals> {
    let [a, b, c, d] = parts(totals);
    let plus = |total: i64, i: usize| i64::try_from(i128::from(total) + delta[i]).ok();
    Some(Totals { debits_pending: plus(a, 0)?, debits_posted: plus(b, 1)?, credits_pending: plus(c, 2)?, credits_posted: plus(d, 3)? })
}

fn overflow(account: AccountId) -> StoreError {
    StoreError::corrupt("adding up an account", format!("the totals of account {} do not fit", account.0))
}
