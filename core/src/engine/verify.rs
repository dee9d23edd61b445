//! Proving a whole database: the trail is unbroken, the record is what the trail says, transfers balance, account
//! totals are the sum of their transfers, every settlement is in exactly one place, and keys and tokens have an owner.

use std::collections::{BTreeMap, HashSet};

use crate::error::Result;
use crate::ids::{ClientNo, IdKey, KeyNo, SettlementNo};
use crate::ledger::{AccountId, Mode, Totals, Transfer, TransferCode, TransferKind};
use crate::lifecycle::{AttemptStatus, ReversalStatus, SettlementStatus};
use crate::store::record::{
    AccountRecord, AttemptRecord, AuditRecord, ClientRecord, EventRecord, EventType, Key, KeyRecord, MetaRecord, ReversalRecord,
    SettlementRecord, SimPaymentRecord, TaskKey, TaskKind, TaskRecord, TokenRecord,
};
use crate::store::{Scan, Store, StoreError, typed, typed_all};
use crate::time::Millis;
use crate::trail::{self, Link};

/// How far a verification has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Settlements looked at.
    pub settlements_done: u64,
    /// The highest settlement number: an upper bound of how many there are.
    pub settlements_total: u64,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyProblem {
    /// The settlement (`stl_…`), account or currency concerned.
    pub what: String,
    /// Stable code.
    pub code: &'static str,
    /// One sentence for people.
    pub message: String,
}

/// What a verification counted and found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// How many settlements.
    pub settlements: u64,
    /// How many events.
    pub events: u64,
    /// How many transfers.
    pub transfers: u64,
    /// How many accounts.
    pub accounts: u64,
    /// How many open tasks.
    pub tasks: u64,
    /// How many payments the simulated operator received more than once.
    pub received_twice: u64,
    /// What is wrong, at most [`MOST_PROBLEMS`].
    pub problems: Vec<VerifyProblem>,
    /// There are more problems than are listed.
    pub truncated: bool,
}

/// How many problems a report lists.
pub const MOST_PROBLEMS: usize = 1_000;
const PAGE: usize = 500;
/// Numbers of keys that were given out and not used leave gaps, but not such ones.
const MOST_KEYS_MISSING: u32 = 100_000;

impl VerifyReport {
    /// Nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, what: impl Into<String>, code: &'static str, message: impl Into<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(VerifyProblem { what: what.into(), code, message: message.into() });
        } else {
            self.truncated = true;
        }
    }
}

/// Reads everything, page by page, and reports all that does not hold. The store should not be written meanwhile, or
/// be a snapshot.
pub fn verify(store: &dyn Store, progress: &mut dyn FnMut(Progress)) -> Result<VerifyReport> {
    let mut report = VerifyReport::default();
    let key = id_key(store)?;
    access(store, &mut report)?;
    let tasks = open_tasks(store, &mut report)?;
    let mut sums: BTreeMap<AccountId, Totals> = BTreeMap::new();
    journal(store, &mut report, &mut sums)?;
    accounts(store, &mut report, &sums)?;
    let last: Option<SettlementRecord> = typed(store.scan(&Scan::LastSettlement)?.pop())?;
    let settlements_total = last.map_or(0, |s| s.no.0 as u64);
    let mut after = SettlementNo(0);
    let mut references = HashSet::new();
    loop {
        let page: Vec<SettlementRecord> = typed_all(store.scan(&Scan::Settlements { after, limit: PAGE })?)?;
        let Some(last) = page.last() else { break };
        after = last.no;
        for record in &page {
            let what = format!("stl_{}", trail::settlement_ulid(&key, record));
            report.settlements += 1;
            report.events += u64::from(record.version);
            if !references.insert((record.client, record.reference.as_str().to_owned())) {
                report.problem(&what, "reference_twice", "another settlement of the client has the same reference");
            }
            if !record.status.is_final() && !tasks.contains(&record.no) {
                report.problem(&what, "no_task", format!("it is {} and nothing in the outbox drives it on", record.status.as_str()));
            }
            for (code, message) in settlement(store, &key, record)? {
                report.received_twice += u64::from(code == RECEIVED_TWICE);
                report.problem(&what, code, message);
            }
        }
        progress(Progress { settlements_done: report.settlements, settlements_total });
    }
    Ok(report)
}

const RECEIVED_TWICE: &str = "received_twice";

fn id_key(store: &dyn Store) -> Result<IdKey> {
    let meta: Option<MetaRecord> = typed(store.get(&Key::Meta(super::ID_KEY.to_owned()))?)?;
    let value = meta.and_then(|m| m.value.try_into().ok());
    Ok(IdKey(value.ok_or_else(|| StoreError::corrupt("reading the id key", "this is not a database of the gateway"))?))
}

/// Who may call hangs together: every token and every line of the audit trail names a key that is there, every key a
/// client that is there.
fn access(store: &dyn Store, report: &mut VerifyReport) -> Result<()> {
    let keys = keys(store, report)?;
    // The scan has no place to go on from; but tokens are small, and leave a day after their end.
    let tokens = Scan::TokensExpiredBefore { expired: Millis::MAX, limit: usize::MAX };
    for token in typed_all::<TokenRecord>(store.scan(&tokens)?)?.into_iter().filter(|token| token.key != KeyNo(0)) {
        let what = || format!("a token of client number {}", token.client.0);
        match keys.get(&token.key) {
            None => report.problem(what(), "token_without_key", format!("its key, number {}, is not there", token.key.0)),
            Some(owner) if *owner != (token.client, token.mode) => {
                report.problem(what(), "token_differs", format!("its key, number {}, is of another client or mode", token.key.0));
            }
            Some(_) => {}
        }
    }
    let mut after = i64::MIN;
    loop {
        let page: Vec<AuditRecord> = typed_all(store.scan(&Scan::Audit { after, limit: PAGE })?)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.no;
        for record in page.iter().filter(|record| record.key != KeyNo(0) && !keys.contains_key(&record.key)) {
            let message = format!("its key, number {}, is not there", record.key.0);
            report.problem(format!("audit record {}", record.no), "audit_without_key", message);
        }
    }
}

/// Every key's owner and mode, by number.
fn keys(store: &dyn Store, report: &mut VerifyReport) -> Result<BTreeMap<KeyNo, (ClientNo, Mode)>> {
    let mut clients = HashSet::new();
    let mut after = ClientNo(0);
    loop {
        let page: Vec<ClientRecord> = typed_all(store.scan(&Scan::Clients { after, limit: PAGE })?)?;
        let Some(last) = page.last() else { break };
        after = last.no;
        clients.extend(page.iter().map(|client| client.no));
    }
    let mut keys = BTreeMap::new();
    let last: Option<KeyRecord> = typed(store.scan(&Scan::LastKey)?.pop())?;
    let mut missing = 0;
    for no in (1..=last.map_or(0, |key| key.no.0)).map(KeyNo) {
        let Some(key) = typed::<KeyRecord>(store.get(&Key::Key(no))?)? else {
            missing += 1;
            if missing > MOST_KEYS_MISSING {
                report.problem("keys", "key_numbers", format!("no key from number {} on, but there is a later one", no.0 - missing + 1));
                break;
            }
            continue;
        };
        missing = 0;
        if !clients.contains(&key.client) {
            let message = format!("its client, number {}, is not there", key.client.0);
            report.problem(format!("key {}", key.id), "key_without_client", message);
        }
        if key.public.id() != key.id {
            report.problem(format!("key {}", key.id), "key_differs", "its name is not the thumbprint of its public key");
        }
        keys.insert(key.no, (key.client, key.mode));
    }
    Ok(keys)
}

fn open_tasks(store: &dyn Store, report: &mut VerifyReport) -> Result<HashSet<SettlementNo>> {
    let mut driven = HashSet::new();
    let mut after = TaskKey(i64::MIN);
    loop {
        let page: Vec<TaskRecord> = typed_all(store.scan(&Scan::Tasks { after, until: Millis::MAX >> 20, limit: PAGE })?)?;
        let Some(last) = page.last() else { return Ok(driven) };
        after = last.key;
        report.tasks += page.len() as u64;
        driven.extend(page.iter().filter(|t| matches!(t.kind, TaskKind::Dispatch | TaskKind::Inquire)).map(|t| t.settlement));
    }
}

/// Adds up every transfer. Each debits and credits the same amount, so the sums balance by themselves; what is proved
/// is that the stored totals are these sums.
fn journal(store: &dyn Store, report: &mut VerifyReport, sums: &mut BTreeMap<AccountId, Totals>) -> Result<()> {
    let mut after = (SettlementNo(0), 0);
    loop {
        let page: Vec<Transfer> = typed_all(store.scan(&Scan::AllTransfers { after, limit: PAGE })?)?;
        let Some(last) = page.last() else { return Ok(()) };
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
            for (account, delta) in transfer.deltas() {
                let sum = sums.entry(account).or_default();
                *sum = sum.plus(&delta).unwrap_or(*sum);
            }
        }
    }
}

fn accounts(store: &dyn Store, report: &mut VerifyReport, sums: &BTreeMap<AccountId, Totals>) -> Result<()> {
    let mut stored = BTreeMap::new();
    let mut after = AccountId(i64::MIN);
    loop {
        let page: Vec<AccountRecord> = typed_all(store.scan(&Scan::Accounts { after, limit: PAGE })?)?;
        let Some(last) = page.last() else { break };
        after = last.id;
        stored.extend(page.into_iter().map(|a| (a.id, a.totals)));
    }
    report.accounts = stored.len() as u64;
    let name = |id: AccountId| format!("account {:?} {} {}", id.owner(), id.currency().map_or("?", |c| c.code()), id.mode().as_str());
    let mut books: BTreeMap<_, (i128, i128)> = BTreeMap::new();
    for (id, totals) in &stored {
        let sum = sums.get(id).copied().unwrap_or_default();
        if sum != *totals {
            report.problem(name(*id), "account_total", format!("its totals are {totals:?}, its transfers add up to {sum:?}"));
        }
        if id.has_floor() && totals.available().is_none_or(|a| a < 0) {
            report.problem(name(*id), "account_overdrawn", "its available money is below zero");
        }
        let book = books.entry((id.mode(), id.currency())).or_default();
        book.0 += i128::from(totals.credits_posted) - i128::from(totals.debits_posted);
        book.1 += i128::from(totals.credits_pending) - i128::from(totals.debits_pending);
    }
    for id in sums.keys().filter(|id| !stored.contains_key(id)) {
        report.problem(name(*id), "account_missing", "transfers name it, and it is not there");
    }
    for ((mode, currency), book) in books.into_iter().filter(|(_, book)| *book != (0, 0)) {
        let currency = currency.map_or("?", |c| c.code());
        report.problem(
            format!("{currency} {}", mode.as_str()),
            "out_of_balance",
            format!("all accounts together are off by {} posted, {} pending", book.0, book.1),
        );
    }
    Ok(())
}

/// Everything that one settlement must agree on: trail, state, journal, attempts, reversals, the operator's books.
pub(crate) fn settlement(store: &dyn Store, key: &IdKey, record: &SettlementRecord) -> Result<Vec<(&'static str, String)>> {
    let mut problems = Vec::new();
    check_trail(store, key, record, &mut problems)?;
    check_journal(store, record, &mut problems)?;
    check_attempts(store, record, &mut problems)?;
    check_reversals(store, record, &mut problems)?;
    for payment in typed_all::<SimPaymentRecord>(store.scan(&Scan::SimPayments(record.no))?)? {
        if payment.received > 1 {
            problems.push((RECEIVED_TWICE, format!("the operator received attempt {} {} times", payment.child, payment.received)));
        }
    }
    Ok(problems)
}

type Problems = Vec<(&'static str, String)>;

fn check_trail(store: &dyn Store, key: &IdKey, record: &SettlementRecord, problems: &mut Problems) -> Result<()> {
    let mut prev: Option<[u8; 32]> = None;
    let mut state = None;
    let mut expected = 1;
    loop {
        let page: Vec<EventRecord> = typed_all(store.scan(&Scan::Events { settlement: record.no, after: expected - 1, limit: PAGE })?)?;
        if page.is_empty() {
            break;
        }
        for event in &page {
            if event.n != expected {
                problems.push(("trail_gap", format!("event {expected} is missing")));
                return Ok(());
            }
            if trail::link_hash(key, record, &Link::from(event), event.n, prev.as_ref()) != event.hash {
                problems.push(("trail_broken", format!("event {} is not what was recorded", event.n)));
                return Ok(());
            }
            if names_settlement_state(event.kind) {
                state = event.to;
            }
            prev = Some(event.hash);
            expected += 1;
        }
    }
    if expected - 1 != record.version || prev != Some(record.head) {
        problems.push(("trail_head", format!("the record says version {}, the trail ends at {}", record.version, expected - 1)));
    }
    if state != Some(record.status.name()) {
        problems.push(("state_differs", format!("the record says {}, the trail {:?}", record.status.as_str(), state.map(|s| s.as_str()))));
    }
    Ok(())
}

const fn names_settlement_state(kind: EventType) -> bool {
    match kind {
        EventType::SettlementAccepted
        | EventType::SettlementSubmitted
        | EventType::SettlementUnknown
        | EventType::SettlementCompleted
        | EventType::SettlementFailed
        | EventType::SettlementCancelled
        | EventType::SettlementPartiallyReversed
        | EventType::SettlementReversed
        | EventType::SettlementReturned => true,
        EventType::SettlementDiscrepancy
        | EventType::SettlementReviewed
        | EventType::AttemptStarted
        | EventType::AttemptAnswered
        | EventType::ReversalAccepted
        | EventType::ReversalSubmitted
        | EventType::ReversalUnknown
        | EventType::ReversalCompleted
        | EventType::ReversalFailed => false,
    }
}

/// What the transfers of a settlement add up to.
#[derive(Default)]
struct Sums {
    held: i64,
    paid: i64,
    fees_held: i64,
    fees_paid: i64,
    announced: i64,
    reversed: i64,
    returned: i64,
}

fn check_journal(store: &dyn Store, record: &SettlementRecord, problems: &mut Problems) -> Result<()> {
    let transfers: Vec<Transfer> = typed_all(store.scan(&Scan::Transfers(record.no))?)?;
    if transfers.len() != usize::from(record.transfers) {
        problems.push(("journal_count", format!("{} transfers, the record says {}", transfers.len(), record.transfers)));
    }
    let mut sums = Sums::default();
    let mut resolved = HashSet::new();
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
            if !matches || !resolved.insert(t.resolves) {
                problems.push(("hold_resolved_wrongly", format!("transfer {} does not end exactly one hold", t.n)));
            }
        }
        let (p, q) = match t.code {
            TransferCode::Payment => (&mut sums.held, &mut sums.paid),
            TransferCode::Fee => (&mut sums.fees_held, &mut sums.fees_paid),
            TransferCode::Reversal => (&mut sums.announced, &mut sums.reversed),
            TransferCode::Return | TransferCode::Funding => (&mut sums.announced, &mut sums.returned),
        };
        *p += pending;
        *q += posted;
    }
    compare_journal(record, &sums, problems);
    Ok(())
}

fn compare_journal(record: &SettlementRecord, sums: &Sums, problems: &mut Problems) {
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
    ];
    for (what, says, is) in expected {
        if says != is {
            problems.push(("ledger_differs", format!("{what}: the record says {says} minor units, the journal {is}")));
        }
    }
}

fn check_attempts(store: &dyn Store, record: &SettlementRecord, problems: &mut Problems) -> Result<()> {
    let attempts: Vec<AttemptRecord> = typed_all(store.scan(&Scan::Attempts(record.no))?)?;
    if attempts.len() != usize::from(record.attempts) {
        problems.push(("attempt_count", format!("{} attempts, the record says {}", attempts.len(), record.attempts)));
    }
    let alive = attempts.iter().filter(|a| !a.status.is_dead()).count();
    if alive > 1 {
        problems.push(("in_two_places", format!("{alive} attempts may pay or have paid")));
    }
    let last = attempts.last().map(|a| a.status);
    let fits = match record.status {
        SettlementStatus::Accepted | SettlementStatus::Cancelled => last.is_none(),
        // Between two providers the last attempt is dead and the next not yet started.
        SettlementStatus::Submitted | SettlementStatus::Unknown => last.is_some_and(|s| s != AttemptStatus::Completed),
        SettlementStatus::Completed | SettlementStatus::PartiallyReversed | SettlementStatus::Reversed | SettlementStatus::Returned => {
            last == Some(AttemptStatus::Completed)
        }
        SettlementStatus::Failed => last.is_none_or(AttemptStatus::is_dead),
    };
    if !fits {
        problems.push((
            "attempt_differs",
            format!("the settlement is {}, its last attempt {:?}", record.status.as_str(), last.map(|s| s.as_str())),
        ));
    }
    Ok(())
}

fn check_reversals(store: &dyn Store, record: &SettlementRecord, problems: &mut Problems) -> Result<()> {
    let reversals: Vec<ReversalRecord> = typed_all(store.scan(&Scan::Reversals(record.no))?)?;
    let sum = |wanted: &dyn Fn(ReversalStatus) -> bool| reversals.iter().filter(|r| wanted(r.status)).map(|r| r.amount).sum::<i64>();
    let reversed = sum(&|s| s == ReversalStatus::Completed);
    let reversing = sum(&|s| !s.is_final());
    if (reversed, reversing) != (record.reversed, record.reversing) || reversals.len() != usize::from(record.reversals) {
        problems.push(("reversals_differ", format!("its reversals add up to {reversed} done and {reversing} under way, in minor units")));
    }
    if reversed + reversing > record.amount {
        problems.push(("reversed_too_much", "more is being given back than was paid".to_owned()));
    }
    Ok(())
}
