//! Making a commit: one transaction and two round trips. The first carries all that is to be written, the second the
//! `COMMIT`, which is sent only after every condition was seen to hold.
//!
//! READ COMMITTED is enough, because no write relies on what another statement read. A row is added where its keys are
//! free (`ON CONFLICT DO NOTHING` waits for whoever is adding the same one), replaced where its condition holds at that
//! very moment (an `UPDATE` that waited looks at the row again), and totals are added to where they stand. A commit that
//! waited for another therefore sees what that one did, and needs neither a retry nor a lock taken beforehand.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, SimpleQueryMessage, Statement};

use super::cells::{Batch, Cells, records};
use super::error::{Meaning, failed, meaning, surely_not_made};
use super::plan::{Plan, Step};
use super::pool::{Connection, Lent, Shared, in_order, jittered};
use super::read;
use super::tables::{Action, Sql, post, statements};
use crate::ledger::{AccountId, Totals};
use crate::store::record::{AccountRecord, RecordKind};
use crate::store::{Clash, CommitError, StoreError};

/// The wait before another try; it grows with their number.
const PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// What became of one try.
enum Tried {
    Made,
    Refused(CommitError),
    /// Some total may leave its range: to find out which, totals are read before they are written.
    Overflow,
    /// Nothing was written, and the same again may work.
    Again(StoreError),
    /// Nothing was written, and the connection is of no use any more.
    Lost(StoreError),
    /// Nothing was written, and this server cannot do it now.
    Later(StoreError),
    /// The link broke after `COMMIT` was sent.
    Unknown(StoreError, Transaction),
}

/// A transaction, as a server that lives through it remembers it.
struct Transaction {
    xid: String,
    backend: String,
    server: String,
}

/// Makes the commit durable, or leaves nothing of it. One that stood in another's way, or whose connection was lost before it
/// could be made, is tried again for as long as there is patience. That a server takes its time to see who stands in whose way,
/// as it does with deadlocks, is not held against it: patience counts from then on.
pub(super) async fn commit(shared: Arc<Shared>, plan: Plan) -> Result<(), CommitError> {
    let mut deadline = shared.deadline();
    let mut in_the_way = false;
    let mut careful = plan.deltas.each().is_none();
    let mut pause = PAUSE;
    loop {
        let mut lent = shared.writer(deadline).await?;
        let link = shared.link(&mut lent, deadline).await?;
        let mut tried = try_once(link, &plan, careful, Instant::now() + shared.limit).await;
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
                careful = true;
                continue;
            }
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

async fn try_once(link: &mut Connection, plan: &Plan, careful: bool, deadline: Instant) -> Tried {
    let slow = || StoreError::unavailable("committing", "the database did not answer in time");
    // Until it was seen to end, whatever happens to this job: a panic, or the end of its runtime.
    link.in_transaction = true;
    let transaction = match timeout_at(deadline, write(link, plan, careful)).await {
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
    match timeout_at(deadline, link.client.batch_execute("COMMIT")).await {
        Ok(Ok(())) => {
            link.in_transaction = false;
            Tried::Made
        }
        Ok(Err(error)) if surely_not_made(&error) => match meaning(&error) {
            Meaning::Lost | Meaning::Again | Meaning::Later => Tried::Lost(failed("committing", &error)),
            Meaning::OutOfRange | Meaning::Never => Tried::Refused(failed("committing", &error).into()),
        },
        Ok(Err(error)) => Tried::Unknown(failed("committing", &error), transaction),
        Err(_) => Tried::Unknown(slow(), transaction),
    }
}

/// A transaction that could not be ended ends with its connection.
fn rolled_back_by_the_end(tried: Tried) -> Tried {
    match tried {
        Tried::Again(error) => Tried::Lost(error),
        Tried::Overflow => Tried::Lost(StoreError::unavailable("committing", "the connection was lost")),
        other => other,
    }
}

/// Writes everything, and sees whether all conditions held.
async fn write(link: &mut Connection, plan: &Plan, careful: bool) -> Result<Transaction, Tried> {
    let (prepared, posting) = prepare(link, plan).await.map_err(|e| broken(&e))?;
    // Careful, it adds nothing: that takes the rows and tells what stands in them.
    let added = if careful { None } else { plan.deltas.each() };
    let added = accounts(&added.unwrap_or_else(|| plan.deltas.nothing())).map_err(refuse)?;
    let steps = prepared.iter().zip(plan.steps.iter().map(|step| &step.batch));
    let jobs = std::iter::once(None).chain(steps.chain(posting.as_ref().map(|it| (it, &added))).map(Some));
    let mut done = in_order(jobs.map(|job| send(&link.client, job))).await.into_iter();

    let begun = done.next().unwrap_or_else(|| Ok(Done::default())).map_err(|e| broken(&e))?;
    let transaction = Transaction { xid: begun.xid, backend: link.backend.clone(), server: link.server.clone() };
    let mut clashes = Vec::new();
    for (step, done) in plan.steps.iter().zip(done.by_ref()) {
        let rows = done.map_err(|e| broken(&e))?.rows;
        if rows.len() != step.batch.rows() {
            let missing = step.batch.missing(&rows).map_err(refuse)?;
            clashes.extend(missing.into_iter().filter_map(|row| step.writes.get(row)).map(|write| Clash { write: *write }));
        }
    }
    if !clashes.is_empty() {
        clashes.sort_by_key(|clash| clash.write);
        return Err(Tried::Refused(CommitError::Conflict(clashes)));
    }
    let totals = match done.next() {
        None => return Ok(transaction),
        Some(Err(error)) if meaning(&error) == Meaning::OutOfRange && !careful => return Err(Tried::Overflow),
        Some(done) => totals(&done.map_err(|e| broken(&e))?.rows).map_err(refuse)?,
    };
    let now = |account| totals.get(&account).copied().ok_or_else(|| StoreError::corrupt("adding up an account", "it has no totals"));
    if careful {
        let settled = plan.deltas.settle(now).map_err(Tried::Refused)?;
        replace(link, &accounts(&settled).map_err(refuse)?).await.map_err(|e| broken(&e))?;
    } else {
        plan.deltas.guard(now).map_err(Tried::Refused)?;
    }
    Ok(transaction)
}

/// What the server answered to one statement.
#[derive(Default)]
struct Done {
    xid: String,
    rows: Vec<Row>,
}

/// Sends one statement with its rows, or what begins a transaction.
async fn send(client: &Client, statement: Option<(&Statement, &Batch)>) -> Result<Done, Error> {
    match statement {
        Some((statement, batch)) => Ok(Done { rows: client.query(statement, &batch.params()).await?, ..Done::default() }),
        None => {
            let begun = client.simple_query("BEGIN READ WRITE; SELECT pg_current_xact_id()").await?;
            Ok(Done { xid: cell(&begun, 0), ..Done::default() })
        }
    }
}

/// A column of the first row of a simple query's answer; empty if there is none.
fn cell(answer: &[SimpleQueryMessage], column: usize) -> String {
    let row = answer.iter().find_map(|message| if let SimpleQueryMessage::Row(row) = message { Some(row) } else { None });
    row.and_then(|row| row.get(column)).unwrap_or_default().to_owned()
}

/// Accounts as rows.
fn accounts(totals: &[(AccountId, Totals)]) -> Result<Batch, StoreError> {
    let mut batch = Batch::new(&post().kinds);
    totals.iter().try_for_each(|(id, totals)| AccountRecord { id: *id, totals: *totals }.bind(&mut batch))?;
    Ok(batch)
}

/// Accounts from rows.
fn totals(found: &[Row]) -> Result<HashMap<AccountId, Totals>, StoreError> {
    let each = found.iter().map(|row| AccountRecord::read(&mut Cells::new(row)));
    each.map(|account| account.map(|it| (it.id, it.totals))).collect()
}

/// Sets the totals of accounts that this transaction holds already.
async fn replace(link: &mut Connection, accounts: &Batch) -> Result<(), Error> {
    let sql = statements(RecordKind::Account).write(Action::Replace);
    for statement in link.prepare(&[(&sql.text, sql.types())]).await? {
        link.client.query(&statement, &accounts.params()).await?;
    }
    Ok(())
}

fn refuse(error: StoreError) -> Tried {
    Tried::Refused(error.into())
}

/// What an error before `COMMIT` means: nothing was written.
fn broken(error: &Error) -> Tried {
    let failed = failed("writing", error);
    match meaning(error) {
        Meaning::Lost => Tried::Lost(failed),
        Meaning::Again => Tried::Again(failed),
        Meaning::Later => Tried::Later(failed),
        Meaning::OutOfRange | Meaning::Never => Tried::Refused(failed.into()),
    }
}

/// What a server says of a commit whose answer was lost.
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

/// Finds out what became of a commit whose answer was lost, over a new connection, and over another one if that is lost, too.
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

/// Asks a server whether it made a commit. It knows if it is the one that was asked to make it, in the same timeline:
/// another one counts its transactions anew.
async fn resolve(link: &mut Connection, plan: &Plan, transaction: &Transaction) -> Result<Resolved, Error> {
    let Transaction { xid, backend, server } = transaction;
    if server.is_empty() || link.server != *server || xid.is_empty() {
        return Ok(Resolved::Unknown);
    }
    let asked = format!("SELECT pg_xact_status('{xid}'::xid8)");
    // Whoever still works at it does so for nobody. Ended, it says what it came to. Not so where it waits for a standby: its
    // end would show a commit that no standby has.
    let end = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = {backend} AND usename = current_user \
         AND backend_xid = ('{xid}'::xid8)::xid AND wait_event IS DISTINCT FROM 'SyncRep'"
    );
    loop {
        let status = match link.client.simple_query(&asked).await {
            Ok(answer) => cell(&answer, 0),
            // A crash took even its number: the server has not come that far again.
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
                // It may have ended by itself meanwhile; the next look tells.
                let _ = link.client.simple_query(&end).await;
                sleep(jittered(PAUSE)).await;
            }
            _ => return Ok(Resolved::Unknown),
        }
    }
}

/// Returns once all that this server shows is wherever a commit waits to be before it is answered: what is written after it
/// is. Where its own wait was cut off, a commit is shown without being there.
async fn secure(link: &mut Connection) -> Result<(), Error> {
    link.in_transaction = true;
    link.client.batch_execute("BEGIN READ WRITE; SELECT pg_logical_emit_message(true, 'railgate', ''); COMMIT").await?;
    link.in_transaction = false;
    Ok(())
}

/// The same on a connection of its own.
pub(super) async fn secured(shared: Arc<Shared>) -> Result<(), StoreError> {
    let deadline = shared.patient_deadline();
    let mut lent = shared.writer(deadline).await?;
    let link = shared.link(&mut lent, deadline).await?;
    match timeout_at(Instant::now() + shared.limit, secure(link)).await {
        Ok(secured) => secured.map_err(|e| failed("securing what is shown", &e)),
        Err(_) => Err(StoreError::unavailable("securing what is shown", "the database did not answer in time")),
    }
}

/// Whether the transaction that was committed under this number is ours. A server that crashed gives the numbers of
/// what it lost out again, so that only the rows tell.
async fn is_ours(link: &mut Connection, plan: &Plan, xid: &str) -> Result<Resolved, Error> {
    let Some(witness) = &plan.witness else { return Ok(Resolved::Unknown) };
    let Ok(Some(query)) = read::get(&witness.key()) else { return Ok(Resolved::Unknown) };
    let sql = format!("{} AND xmin = ('{xid}'::xid8)::xid", query.sql);
    let types: Vec<Type> = query.params.iter().map(|it| it.kind()).collect();
    let statement = link.client.prepare_typed(&sql, &types).await?;
    let params: Vec<&(dyn ToSql + Sync)> = query.params.iter().map(|it| it as _).collect();
    let Ok(found) = records(query.kind, &link.client.query(&statement, &params).await?) else { return Ok(Resolved::Unknown) };
    // The whole row: another node may have been given both the number of the transaction and that of the row.
    Ok(if found.first() == Some(witness) { Resolved::Made } else { Resolved::NotMade })
}

async fn prepare(link: &mut Connection, plan: &Plan) -> Result<(Vec<Statement>, Option<Statement>), Error> {
    let mut wanted: Vec<(&str, Vec<Type>)> = plan.steps.iter().map(sql).map(|sql| (sql.text.as_str(), sql.types())).collect();
    let posts = !plan.deltas.is_empty();
    if posts {
        wanted.push((&post().text, post().types()));
    }
    let mut statements = link.prepare(&wanted).await?;
    let posting = if posts { statements.pop() } else { None };
    Ok((statements, posting))
}

fn sql(step: &Step) -> &'static Sql {
    statements(step.kind).write(step.action)
}
