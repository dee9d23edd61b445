//! Makes a commit in one transaction and two round trips, or one where the server itself checks every condition. The first carries all
//! writes, the second the `COMMIT`, which is sent only after every condition has been found true. Through a pooler that pools
//! transactions, the `BEGIN` takes one more.
//!
//! READ COMMITTED is enough, because no write relies on what another statement read. A row is inserted if its keys are free (an
//! `INSERT` waits for another one of the same key), it is replaced if its condition is true at that moment (an
//! `UPDATE` that waited checks the row again), and totals are added to their current values. A commit that waited for another
//! therefore sees its result, and needs neither a retry nor a lock in advance.
//!
//! `ON CONFLICT DO NOTHING` tells which keys are taken, and costs the server nearly as much again as the insert. So a first try takes it
//! for granted that the keys of most new rows are free, and a second one finds out which are not. The server logs the first, so the
//! commits after it take nothing for granted until many have found all keys free.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row, SimpleQueryMessage};

use super::at_once;
use super::cells::{Batch, Cells, records};
use super::error::{Meaning, failed, meaning, surely_not_made};
use super::plan::{Plan, Step};
use super::pool::{Answer, Connection, Lent, Message, Ready, Shared, in_order, jittered, send};
use super::read;
use super::session::{Identity, last_row};
use super::tables::{Action, Sql, count, insert_drawn, is_drawn, post, statements, types};
use crate::ledger::{AccountId, Totals};
use crate::store::record::{AccountRecord, RecordKind, UsageRecord};
use crate::store::shared::Counts;
use crate::store::{Clash, CommitError, StoreError};

/// The pause before a retry; it grows with the number of tries.
const PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Begins a transaction and returns its number.
pub(super) const BEGIN: &str = "BEGIN READ WRITE; SELECT pg_current_xact_id()";

/// The most new rows of different kinds that are inserted by one statement.
const TOGETHER: usize = 128;

/// The result of one try.
pub(super) enum Tried {
    Made,
    Refused(CommitError),
    /// A total may leave its range. To find out which, the next try reads the totals before it writes them.
    Overflow,
    /// What it took for granted is not so: the key of a new row is taken, or an account spends too much. The next try finds out which.
    Doubtful(StoreError),
    /// Nothing was written; a retry may succeed.
    Again(StoreError),
    /// Nothing was written; the connection is no longer usable.
    Lost(StoreError),
    /// Nothing was written; this server cannot do it at the moment.
    Later(StoreError),
    /// The connection broke after `COMMIT` was sent.
    Unknown(StoreError, Transaction),
}

/// A transaction, as the server that runs it identifies it.
pub(super) struct Transaction {
    xid: String,
    backend: String,
    server: String,
}

impl Transaction {
    /// The one with this number that the connection is in.
    pub(super) fn on(link: &Connection, xid: String) -> Self {
        let Identity { backend, server } = link.identity.clone();
        Self { xid, backend, server }
    }
}

/// Makes the whole commit durable, or nothing of it. After a conflict with another transaction, or if the connection was lost
/// before the commit, it retries until the deadline. The time that a server needs to detect conflicts, such as deadlocks, is not
/// counted: the deadline starts after that.
pub(super) async fn commit(shared: Arc<Shared>, plan: Plan) -> Result<(), CommitError> {
    let mut deadline = shared.deadline();
    let mut in_the_way = false;
    let mut care = Care { totals: plan.deltas.each().is_none(), keys: shared.is_wary() };
    let mut pause = PAUSE;
    loop {
        let mut lent = shared.writer(deadline).await?;
        let link = shared.link(&mut lent, deadline).await?;
        let mut tried = try_once(&shared, link, &plan, care, Instant::now() + shared.limit).await;
        if let Tried::Unknown(error, transaction) = tried {
            tried = find_out(&shared, &mut lent, &plan, &transaction).await.into_tried(error, transaction);
        }
        let error = match tried {
            Tried::Made => return Ok(()),
            Tried::Refused(error) => return Err(error),
            Tried::Unknown(error, _) => {
                shared.doubt(&mut lent);
                return Err(CommitError::Indeterminate(error));
            }
            Tried::Later(error) => {
                shared.doubt(&mut lent);
                return Err(error.into());
            }
            Tried::Overflow => {
                care.totals = true;
                continue;
            }
            Tried::Doubtful(_) if !care.keys => {
                shared.beware();
                care.keys = true;
                continue;
            }
            Tried::Doubtful(error) => return Err(error.into()),
            Tried::Again(error) => {
                if !std::mem::replace(&mut in_the_way, true) {
                    deadline = shared.deadline();
                }
                error
            }
            Tried::Lost(error) => {
                lent.discard();
                error
            }
        };
        drop(lent);
        if Instant::now() >= deadline {
            return Err(error.into());
        }
        sleep(jittered(pause)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// What a try does not take for granted, because an earlier one failed by it.
#[derive(Clone, Copy)]
pub(super) struct Care {
    /// That all totals stay in their range.
    pub(super) totals: bool,
    /// That the keys of new rows are free, and that accounts have what they spend.
    pub(super) keys: bool,
}

async fn try_once(shared: &Shared, link: &mut Connection, plan: &Plan, care: Care, deadline: Instant) -> Tried {
    // Until the end of the transaction has been seen, whatever happens to this job: a panic, or the end of its runtime.
    link.in_transaction = true;
    let parts = parts(plan, care);
    if at_once::is_possible(plan, &parts, care) {
        return at_once::commit(shared, link, plan, &parts, deadline).await;
    }
    let transaction = match timeout_at(deadline, write(shared, link, plan, &parts, care)).await {
        Ok(Ok(transaction)) => transaction,
        Ok(Err(Tried::Lost(error))) => return Tried::Lost(error),
        Ok(Err(tried)) => {
            // If even this fails, the connection is not used again, and the server rolls back by itself.
            return match timeout_at(deadline, link.client.batch_execute("ROLLBACK")).await {
                Ok(Ok(())) => {
                    link.in_transaction = false;
                    tried
                }
                Ok(Err(_)) | Err(_) => rolled_back_by_the_end(tried),
            };
        }
        Err(_) => return Tried::Lost(slow()),
    };
    link.was_warned();
    match timeout_at(deadline, link.client.batch_execute("COMMIT")).await {
        Ok(Ok(())) => ended(link, transaction),
        Ok(Err(error)) => unended(&error, transaction),
        Err(_) => Tried::Unknown(slow(), transaction),
    }
}

pub(super) fn slow() -> StoreError {
    StoreError::unavailable("committing", "the database did not answer in time")
}

/// The meaning of a `COMMIT` that the server answered. If it warned, it did not wait for its standby, and nobody knows yet whether that has
/// the commit.
pub(super) fn ended(link: &mut Connection, transaction: Transaction) -> Tried {
    link.in_transaction = false;
    if link.was_warned() {
        let cause = "somebody ended its wait for the standby";
        return Tried::Unknown(StoreError::unavailable("committing", cause), transaction);
    }
    Tried::Made
}

/// The meaning of an error after `COMMIT` was sent.
pub(super) fn unended(error: &Error, transaction: Transaction) -> Tried {
    if !surely_not_made(error) {
        return Tried::Unknown(failed("committing", error), transaction);
    }
    match meaning(error) {
        Meaning::Lost | Meaning::Again | Meaning::Later => Tried::Lost(failed("committing", error)),
        Meaning::OutOfRange | Meaning::Never => Tried::Refused(failed("committing", error).into()),
    }
}

/// A transaction that could not be ended ends with its connection.
pub(super) fn rolled_back_by_the_end(tried: Tried) -> Tried {
    match tried {
        Tried::Again(error) => Tried::Lost(error),
        Tried::Overflow | Tried::Doubtful(_) => Tried::Lost(StoreError::unavailable("committing", "the connection was lost")),
        other => other,
    }
}

/// Writes everything and checks that all conditions were true.
async fn write(shared: &Shared, link: &mut Connection, plan: &Plan, parts: &[Part<'_>], care: Care) -> Result<Transaction, Tried> {
    let Prepared { parts: prepared, posting, counting } = prepare(link, plan, parts).await.map_err(|e| broken(&e))?;
    // In careful mode it adds zero: that locks the rows and returns their values.
    let added = if care.totals { None } else { plan.deltas.each() };
    let added = accounts(&added.unwrap_or_else(|| plan.deltas.nothing())).map_err(refuse)?;
    let writing = prepared.iter().zip(parts.iter().map(Part::params));
    let counted = counters(&plan.counts).map_err(refuse)?;
    let sums = [posting.as_ref().zip(Some(added.params())), counting.as_ref().zip(Some(counted.params()))];
    let entered = link.enter(|opening| &opening.writing).await.map_err(|e| broken(&e))?;
    shared.accepts(link).map_err(Tried::Lost)?;
    let begin = entered.is_none().then_some(Message::Plain(BEGIN));
    let writes = writing.chain(sums.into_iter().flatten()).map(|(statement, params)| Message::Query(statement, params));
    let mut done = in_order(begin.into_iter().chain(writes).map(|message| send(&link.client, message))).await.into_iter();

    let begun = entered.map(Ok).or_else(|| done.next()).unwrap_or_else(|| Ok(Answer::default())).map_err(|e| broken(&e))?;
    let transaction = Transaction::on(link, last_cell(&begun.told));
    let mut clashes = Vec::new();
    for (part, done) in parts.iter().zip(done.by_ref()) {
        let Answer { rows, .. } = done.map_err(|e| broken(&e))?;
        match part {
            Part::Single(step) if rows.len() != step.batch.rows() => {
                let missing = step.batch.missing(&rows).map_err(refuse)?;
                clashes.extend(missing.into_iter().filter_map(|row| step.writes.get(row)).map(|write| Clash { write: *write }));
            }
            Part::Drawn { .. } | Part::Free(_) | Part::Single(_) => {}
        }
    }
    if !clashes.is_empty() {
        clashes.sort_by_key(|clash| clash.write);
        return Err(Tried::Refused(CommitError::Conflict(clashes)));
    }
    let posted = posting.as_ref().and_then(|_| done.next());
    let counted = done.next();
    let totals = match posted {
        None => HashMap::new(),
        Some(Err(error)) if meaning(&error) == Meaning::OutOfRange && !care.totals => return Err(Tried::Overflow),
        Some(done) => totals(&done.map_err(|e| broken(&e))?.rows).map_err(refuse)?,
    };
    let now = |account| totals.get(&account).copied().ok_or_else(|| StoreError::corrupt("adding up an account", "it has no totals"));
    if care.totals && posting.is_some() {
        let settled = plan.deltas.settle(now).map_err(Tried::Refused)?;
        replace(link, &accounts(&settled).map_err(refuse)?).await.map_err(|e| broken(&e))?;
    } else {
        plan.deltas.guard(now).map_err(Tried::Refused)?;
    }
    if let Some(counted) = counted {
        let rows = counted.map_err(|e| broken(&e))?.rows;
        let now: Result<Vec<UsageRecord>, _> = rows.iter().map(|row| UsageRecord::read(&mut Cells::new(row))).collect();
        plan.counts.guard(&now.map_err(refuse)?).map_err(Tried::Refused)?;
    }
    Ok(transaction)
}

/// The last column of the last row in a simple query's response; empty if there is none.
pub(super) fn last_cell(answer: &[SimpleQueryMessage]) -> String {
    let row = last_row(answer);
    row.and_then(|row| row.get(row.len().checked_sub(1)?)).unwrap_or_default().to_owned()
}

/// Encodes accounts as rows.
pub(super) fn accounts(totals: &[(AccountId, Totals)]) -> Result<Batch, StoreError> {
    let mut batch = Batch::new(&post().kinds);
    totals.iter().try_for_each(|(id, totals)| AccountRecord { id: *id, totals: *totals }.bind(&mut batch))?;
    Ok(batch)
}

/// Encodes what is counted as rows.
fn counters(counts: &Counts) -> Result<Batch, StoreError> {
    let mut batch = Batch::new(&count().kinds);
    counts.each().try_for_each(|usage| usage.bind(&mut batch))?;
    Ok(batch)
}

/// Decodes accounts from rows.
fn totals(found: &[Row]) -> Result<HashMap<AccountId, Totals>, StoreError> {
    let each = found.iter().map(|row| AccountRecord::read(&mut Cells::new(row)));
    each.map(|account| account.map(|it| (it.id, it.totals))).collect()
}

/// Replaces the totals of accounts that this transaction has already locked.
async fn replace(link: &mut Connection, accounts: &Batch) -> Result<(), Error> {
    let sql = statements(RecordKind::Account).write(Action::Replace);
    for statement in link.prepare(&[(sql.text.as_str(), sql.types())]).await? {
        send(&link.client, Message::Query(&statement, accounts.params())).await?;
    }
    Ok(())
}

fn refuse(error: StoreError) -> Tried {
    Tried::Refused(error.into())
}

/// The meaning of an error before `COMMIT`: nothing was written.
pub(super) fn broken(error: &Error) -> Tried {
    if matches!(error.code(), Some(&SqlState::UNIQUE_VIOLATION | &SqlState::DIVISION_BY_ZERO)) {
        return Tried::Doubtful(failed("writing", error));
    }
    let failed = failed("writing", error);
    match meaning(error) {
        Meaning::Lost => Tried::Lost(failed),
        Meaning::Again => Tried::Again(failed),
        Meaning::Later => Tried::Later(failed),
        Meaning::OutOfRange | Meaning::Never => Tried::Refused(failed.into()),
    }
}

/// What a server reports about a commit whose response was lost.
enum Resolved {
    Made,
    NotMade,
    Unknown,
}

impl Resolved {
    fn into_tried(self, error: StoreError, transaction: Transaction) -> Tried {
        match self {
            Self::Made => Tried::Made,
            Self::NotMade => Tried::Again(error),
            Self::Unknown => Tried::Unknown(error, transaction),
        }
    }
}

/// Finds out the result of a commit whose response was lost, over a new connection, and over another one if that is lost, too.
async fn find_out(shared: &Shared, lent: &mut Lent<'_>, plan: &Plan, transaction: &Transaction) -> Resolved {
    let deadline = shared.patient_deadline();
    loop {
        lent.discard();
        let Ok(link) = shared.link(lent, deadline).await else { return Resolved::Unknown };
        match timeout_at(deadline, resolve(link, plan, transaction)).await {
            Ok(Ok(resolved)) => return resolved,
            Ok(Err(error)) if meaning(&error) == Meaning::Lost && Instant::now() < deadline => sleep(jittered(PAUSE)).await,
            Ok(Err(_)) | Err(_) => return Resolved::Unknown,
        }
    }
}

/// Asks a server whether it made a commit. It can tell only if it is the server that received the commit, on the same timeline:
/// another one numbers its transactions differently.
async fn resolve(link: &mut Connection, plan: &Plan, transaction: &Transaction) -> Result<Resolved, Error> {
    let Transaction { xid, backend, server } = transaction;
    link.enter(|opening| &opening.reading).await?;
    if server.is_empty() || link.identity.server != *server || xid.is_empty() {
        return Ok(Resolved::Unknown);
    }
    let asked = format!("SELECT pg_xact_status('{xid}'::xid8)");
    // If its process still runs, nobody waits for it. Terminating it settles the result, except while it waits for a standby:
    // ending that wait would show a commit that no standby has.
    let end = format!(
        "SELECT pg_stat_clear_snapshot(); SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = {backend} AND usename = current_user \
         AND backend_xid = ('{xid}'::xid8)::xid AND wait_event IS DISTINCT FROM 'SyncRep'"
    );
    loop {
        let status = match link.client.simple_query(&asked).await {
            Ok(answer) => last_cell(&answer),
            // A crash lost even its number: the server has not reached it again.
            Err(error) if error.code() == Some(&SqlState::INVALID_PARAMETER_VALUE) => return Ok(Resolved::NotMade),
            Err(error) => return Err(error),
        };
        match status.as_str() {
            "aborted" => return Ok(Resolved::NotMade),
            "committed" => {
                let resolved = is_ours(link, plan, xid).await?;
                if matches!(resolved, Resolved::Made) {
                    secure(link).await?;
                }
                return Ok(resolved);
            }
            "in progress" => {
                // It may have ended by itself in the meantime; the next check tells.
                let _ = link.client.simple_query(&end).await;
                sleep(jittered(PAUSE)).await;
            }
            _ => return Ok(Resolved::Unknown),
        }
    }
}

/// Returns once everything that this server shows is as durable as an acknowledged commit: a later write is, so everything before
/// it is, too. If the wait of a commit was cut off, that commit is visible without being replicated. Ends a transaction that was
/// entered.
async fn secure(link: &mut Connection) -> Result<(), Error> {
    loop {
        let begin = if std::mem::replace(&mut link.in_transaction, true) { "" } else { "BEGIN READ WRITE; " };
        link.was_warned();
        link.client.batch_execute(&format!("{begin}SELECT pg_logical_emit_message(true, 'railgate', ''); COMMIT")).await?;
        link.in_transaction = false;
        // Otherwise somebody ended this wait, too.
        if !link.was_warned() {
            return Ok(());
        }
    }
}

/// The same on a separate connection.
pub(super) async fn secured(shared: Arc<Shared>) -> Result<(), StoreError> {
    let fail = |e| failed("securing the visible commits", &e);
    let deadline = shared.patient_deadline();
    let mut lent = shared.writer(deadline).await?;
    let link = shared.link(&mut lent, deadline).await?;
    let secured = async {
        link.enter(|opening| &opening.reading).await.map_err(fail)?;
        shared.accepts(link)?;
        secure(link).await.map_err(fail)
    };
    let slow = |_| StoreError::unavailable("securing the visible commits", "the database did not answer in time");
    timeout_at(Instant::now() + shared.limit, secured).await.map_err(slow)?
}

/// Whether the transaction that was committed under this number is ours. After a crash, a server reuses the numbers that it lost,
/// so that only the rows tell.
async fn is_ours(link: &mut Connection, plan: &Plan, xid: &str) -> Result<Resolved, Error> {
    let Some(witness) = &plan.witness else { return Ok(Resolved::Unknown) };
    let Ok(Some(query)) = read::get(&witness.key()) else { return Ok(Resolved::Unknown) };
    let sql = format!("{} AND xmin = ('{xid}'::xid8)::xid", query.sql);
    let types: Vec<Type> = query.params.iter().map(|it| it.kind()).collect();
    let params: Vec<&(dyn ToSql + Sync)> = query.params.iter().map(|it| it as _).collect();
    let found = send(&link.client, Message::Query(&Ready::Text(&sql, types), params)).await?;
    let Ok(found) = records(query.kind, &found.rows) else { return Ok(Resolved::Unknown) };
    // Compares the whole row: another node may have been given both the number of the transaction and that of the row.
    Ok(if found.first() == Some(witness) { Resolved::Made } else { Resolved::NotMade })
}

/// What one statement of a transaction writes.
pub(super) enum Part<'p> {
    /// New rows whose keys are taken to be free.
    Drawn { steps: Vec<&'p Step>, sql: &'static Sql },
    /// Keys that are taken to be free.
    Free(&'p Step),
    /// Rows of one kind.
    Single(&'p Step),
}

/// The statements of a plan, in order. What depends on nothing else comes first, whatever its kind.
fn parts(plan: &Plan, care: Care) -> Vec<Part<'_>> {
    let is_drawn = |step: &&Step| !care.keys && step.is_first && step.action == Action::Insert && is_drawn(step.kind);
    let (drawn, others): (Vec<&Step>, Vec<&Step>) = plan.steps.iter().partition(is_drawn);
    // What few rows cost is the statement; with many, the server works on one kind while the next is on its way.
    let few = drawn.iter().map(|step| step.batch.rows()).sum::<usize>() <= TOGETHER;
    let statements = drawn.chunks(if few { drawn.len().max(1) } else { 1 }).map(|steps| {
        let kinds: Vec<RecordKind> = steps.iter().map(|step| step.kind).collect();
        Part::Drawn { steps: steps.to_vec(), sql: insert_drawn(&kinds) }
    });
    let is_free = |step: &Step| !care.keys && step.is_first && step.action == Action::Miss;
    statements.chain(others.into_iter().map(|step| if is_free(step) { Part::Free(step) } else { Part::Single(step) })).collect()
}

impl Part<'_> {
    pub(super) fn sql(&self) -> &'static Sql {
        match self {
            Self::Drawn { sql, .. } => sql,
            Self::Free(step) => &statements(step.kind).none,
            Self::Single(step) => statements(step.kind).write(step.action),
        }
    }

    pub(super) fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        match self {
            Self::Drawn { steps, .. } => steps.iter().flat_map(|step| step.batch.params()).collect(),
            Self::Free(step) | Self::Single(step) => step.batch.params(),
        }
    }
}

/// The statements of a plan, prepared.
struct Prepared {
    parts: Vec<Ready<'static>>,
    /// Adds to the totals of accounts, if there are transfers.
    posting: Option<Ready<'static>>,
    /// Adds to counters, if something is counted.
    counting: Option<Ready<'static>>,
}

async fn prepare(link: &mut Connection, plan: &Plan, parts: &[Part<'_>]) -> Result<Prepared, Error> {
    let mut wanted: Vec<&'static Sql> = parts.iter().map(Part::sql).collect();
    let (posts, counts) = (!plan.deltas.is_empty(), !plan.counts.is_empty());
    wanted.extend(posts.then(post).into_iter().chain(counts.then(count)));
    let wanted: Vec<(&'static str, Vec<Type>)> = wanted.into_iter().map(types).collect();
    let mut parts = link.prepare(&wanted).await?;
    let counting = if counts { parts.pop() } else { None };
    let posting = if posts { parts.pop() } else { None };
    Ok(Prepared { parts, posting, counting })
}
