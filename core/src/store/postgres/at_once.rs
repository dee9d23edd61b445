//! Makes a commit in one round trip: `COMMIT` follows the writes without waiting for their results.
//!
//! It serves commits of which the server itself checks every condition: a key that is taken and must be free, or an account that spends
//! more than it has, is an error, and a transaction with an error is rolled back even if it is told to commit. `COMMIT` is sent as soon
//! as the number of the transaction is known, so that its outcome can be found out if the connection breaks.
//!
//! Through a pooler that pools transactions, the transaction has begun and its number is known before anything else is sent: two round
//! trips, with `COMMIT` right behind the writes.

use std::future::poll_fn;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use tokio::time::{Instant, timeout_at};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::cells::Batch;
use super::error::{Meaning, failed, meaning};
use super::plan::Plan;
use super::pool::{Connection, Message, Shared, in_order, send};
use super::tables::{post_guarded, types};
use super::write::{BEGIN, Care, Part, Transaction, Tried, accounts, broken, last_cell, rolled_back_by_the_end, slow, unended};
use crate::store::StoreError;
use crate::store::column::{Kind, Sink as _};

/// Whether the server checks all conditions of such a transaction.
pub(super) fn is_possible(plan: &Plan, parts: &[Part<'_>], care: Care) -> bool {
    !care.totals && !care.keys && plan.counts.is_empty() && !parts.iter().any(|part| matches!(part, Part::Single(_)))
}

/// Makes the commit, or nothing of it.
pub(super) async fn commit(shared: &Shared, link: &mut Connection, plan: &Plan, parts: &[Part<'_>], deadline: Instant) -> Tried {
    let xid = OnceLock::new();
    link.was_warned();
    let done = timeout_at(deadline, write(shared, link, plan, parts, &xid)).await;
    let transaction = xid.into_inner().map(|xid| Transaction::on(link, xid));
    let (ended, done) = match done {
        Ok(Ok(done)) => done,
        Ok(Err(tried)) => return rolled_back_by_the_end(tried),
        Err(_) => return transaction.map_or_else(|| Tried::Lost(slow()), |it| Tried::Unknown(slow(), it)),
    };
    // The server has refused a statement, and with it the transaction. If the connection broke instead, it may have been made, even if
    // a pooler reports that in the place of a response.
    if let Some(error) = done.into_iter().filter_map(Result::err).find(|error| error.as_db_error().is_some()) {
        return match (ended, transaction) {
            (Ok(_), _) => {
                link.in_transaction = false;
                refused(&error)
            }
            (Err(_), Some(transaction)) if !link.is_refusal(&error) => Tried::Unknown(failed("committing", &error), transaction),
            (Err(_), _) => rolled_back_by_the_end(refused(&error)),
        };
    }
    match (ended, transaction) {
        // `COMMIT` is sent under a number; without one, nobody could find out.
        (Ok(_), transaction) => super::write::ended(link, transaction.unwrap_or_else(|| Transaction::on(link, String::new()))),
        (Err(error), Some(transaction)) => unended(&error, transaction),
        (Err(error), None) => rolled_back_by_the_end(broken(&error)),
    }
}

/// Whether a message was sent; the error that it got.
type Done = Result<bool, Error>;

/// One message of the transaction.
enum Job<'m> {
    Begin,
    Write(Message<'m>),
    Commit,
}

/// The result of `COMMIT`, and those of the messages before it. Sets the transaction's number before `COMMIT` is sent.
///
/// # Errors
/// If a message could not be sent: `COMMIT` was not sent either, because it would make the others durable without that one.
async fn write(
    shared: &Shared,
    link: &mut Connection,
    plan: &Plan,
    parts: &[Part<'_>],
    xid: &OnceLock<String>,
) -> Result<(Done, Vec<Done>), Tried> {
    let refuse = |error: StoreError| Tried::Refused(error.into());
    let added = accounts(&plan.deltas.each().unwrap_or_default()).map_err(refuse)?;
    let least = least(plan).map_err(refuse)?;
    let posting = (!plan.deltas.is_empty()).then(|| (post_guarded(), [added.params(), least.params()].concat()));
    let (sql, params): (Vec<_>, Vec<_>) = parts.iter().map(|part| (part.sql(), part.params())).chain(posting).unzip();
    let wanted: Vec<(&str, Vec<Type>)> = sql.into_iter().map(types).collect();
    let prepared = link.prepare(&wanted).await.map_err(|e| broken(&e))?;
    let entered = link.enter(|opening| &opening.writing).await.map_err(|e| broken(&e))?;
    shared.accepts(link).map_err(Tried::Lost)?;
    if let Some(begun) = &entered {
        let _ = xid.set(last_cell(&begun.told));
    }

    let (client, halted) = (&link.client, &AtomicBool::new(false));
    let writes = prepared.iter().zip(params).map(|(statement, params)| Job::Write(Message::Query(statement, params)));
    let jobs = entered.is_none().then_some(Job::Begin).into_iter().chain(writes).chain([Job::Commit]);
    let mut done = in_order(jobs.map(|job| async move {
        let (done, is_needed) = match job {
            Job::Begin => (client.simple_query(BEGIN).await.map(|begun| drop(xid.set(last_cell(&begun)))), true),
            // If the server refuses it, the server rolls back. One that was not sent, nobody misses.
            Job::Write(message) => (send(client, message).await.map(drop), false),
            Job::Commit => return commit_after(client, xid, halted).await,
        };
        if done.as_ref().is_err_and(|error| is_needed || error.as_db_error().is_none()) {
            halted.store(true, Ordering::Relaxed);
        }
        done.map(|()| true)
    }))
    .await;
    match done.pop() {
        // The error that kept it from being sent comes first: one that only follows from it, such as that of a write outside of a
        // transaction, must not decide.
        Some(Ok(false)) | None => Err(done.into_iter().find_map(Result::err).map_or_else(|| Tried::Lost(slow()), |error| broken(&error))),
        Some(ended) => Ok((ended, done)),
    }
}

/// Sends `COMMIT` once the transaction has its number and everything before it was sent; returns `false` if something was not.
///
/// It is the last of the jobs that are polled together, and each poll of one is a poll of all: whatever has been answered by then, the
/// others were sent before it, and what keeps it from being sent is known.
async fn commit_after(client: &Client, xid: &OnceLock<String>, halted: &AtomicBool) -> Done {
    let is_halted = || halted.load(Ordering::Relaxed);
    poll_fn(|_| if xid.get().is_some() || is_halted() { Poll::Ready(()) } else { Poll::Pending }).await;
    if is_halted() { Ok(false) } else { client.batch_execute("COMMIT").await.map(|()| true) }
}

/// What each account must have left.
fn least(plan: &Plan) -> Result<Batch, StoreError> {
    let mut batch = Batch::new(&[Kind::Int8, Kind::Int8]);
    plan.deltas.least().try_for_each(|(account, least)| {
        batch.int(account.0)?;
        batch.int(least)
    })?;
    Ok(batch)
}

/// What it means that the server refused a statement.
fn refused(error: &Error) -> Tried {
    match meaning(error) {
        Meaning::OutOfRange => Tried::Overflow,
        Meaning::Lost | Meaning::Again | Meaning::Later | Meaning::Never => broken(error),
    }
}
