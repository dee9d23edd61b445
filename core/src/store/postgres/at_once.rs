//! Makes a commit in one round trip: `COMMIT` follows the writes without waiting for their results.
//!
//! It serves commits of which the server itself checks every condition: the key of a new row that is taken, or an account that spends
//! more than it has, is an error, and a transaction with an error is rolled back even if it is told to commit. `COMMIT` is sent as soon
//! as the number of the transaction is known, so that its outcome can be found out if the connection breaks.
//!
//! Through a pooler that pools transactions, the transaction has begun and its number is known before anything else is sent: two round
//! trips, with `COMMIT` right behind the writes.

use std::sync::OnceLock;

use tokio::time::{Instant, timeout_at};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

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
    !care.totals && !care.keys && plan.counts.is_empty() && parts.iter().all(|part| matches!(part, Part::Drawn { .. }))
}

/// Makes the commit, or nothing of it.
pub(super) async fn commit(shared: &Shared, link: &mut Connection, plan: &Plan, parts: &[Part<'_>], deadline: Instant) -> Tried {
    let xid = OnceLock::new();
    let done = timeout_at(deadline, write(shared, link, plan, parts, &xid)).await;
    let transaction = xid.into_inner().map(|xid| Transaction::on(link, xid));
    let mut done = match done {
        Ok(Ok(done)) => done.into_iter(),
        Ok(Err(tried)) => return rolled_back_by_the_end(tried),
        Err(_) => return transaction.map_or_else(|| Tried::Lost(slow()), |it| Tried::Unknown(slow(), it)),
    };
    let ended = done.next().unwrap_or(Ok(()));
    // The server has refused a statement, and with it the transaction. If the connection broke instead, it may have been made, even if
    // a pooler reports that in the place of a response.
    if let Some(error) = done.filter_map(Result::err).find(|error| error.as_db_error().is_some()) {
        return match (ended, transaction) {
            (Ok(()), _) => {
                link.in_transaction = false;
                refused(&error)
            }
            (Err(_), Some(transaction)) if !link.is_refusal(&error) => Tried::Unknown(failed("committing", &error), transaction),
            (Err(_), _) => rolled_back_by_the_end(refused(&error)),
        };
    }
    match (ended, transaction) {
        (Ok(()), _) => {
            link.in_transaction = false;
            Tried::Made
        }
        (Err(error), Some(transaction)) => unended(&error, transaction),
        (Err(error), None) => rolled_back_by_the_end(broken(&error)),
    }
}

/// The results of the transaction itself and of each statement in it. Sets its number before `COMMIT` is sent.
async fn write(
    shared: &Shared,
    link: &mut Connection,
    plan: &Plan,
    parts: &[Part<'_>],
    xid: &OnceLock<String>,
) -> Result<Vec<Result<(), Error>>, Tried> {
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

    // `None` is the transaction itself. One that has yet to begin comes first, and sends `COMMIT` when it has begun.
    let client = &link.client;
    let (first, last) = if entered.is_none() { (Some(None), None) } else { (None, Some(None)) };
    let writes = prepared.iter().zip(params).map(|(statement, params)| Some(Message::Query(statement, params)));
    let jobs = first.into_iter().chain(writes).chain(last).map(|job| async move {
        if let Some(message) = job {
            return send(client, message).await.map(drop);
        }
        if xid.get().is_none() {
            let begun = client.simple_query(BEGIN).await?;
            let _ = xid.set(last_cell(&begun));
        }
        client.batch_execute("COMMIT").await
    });
    let mut done = in_order(jobs).await;
    if entered.is_some() {
        done.rotate_right(1);
    }
    Ok(done)
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
        _ if error.code() == Some(&SqlState::DIVISION_BY_ZERO) => Tried::Doubtful(failed("writing", error)),
        Meaning::Lost | Meaning::Again | Meaning::Later | Meaning::Never => broken(error),
    }
}
