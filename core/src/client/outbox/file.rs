//! The outbox as a SQLite file: every step is one durable transaction before anything leaves the device.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, named_params, params};

use super::{
    Doubt, Heard, LATE_MS, OutboxEntry, OutboxInput, OutboxNext, OutboxState, Step, Try, TryKind, Verdict, judge, outbox_transition,
    pause_ms,
};
use crate::client::Request;
use crate::time::Millis;

/// `rgob`: marks the file as an outbox (SQLite's `application_id`).
const APPLICATION: i64 = 0x7267_6f62;
/// The version of the file layout.
const LAYOUT: i64 = 1;

/// Why an outbox operation failed.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// Another process, or another part of this one, has the outbox open.
    #[error("the outbox is in use")]
    InUse,
    /// The file is not an outbox.
    #[error("the file is not an outbox")]
    NotAnOutbox,
    /// A newer version of the software wrote the file.
    #[error("the outbox was written by a newer version")]
    Newer,
    /// The outbox contains what another client created: sent by this one, it would be paid again.
    #[error("the outbox belongs to {0}")]
    OtherOwner(String),
    /// Another request already uses the reference.
    #[error("the reference is used for a different request")]
    ReferenceTaken,
    /// No entry has the reference.
    #[error("no entry has this reference")]
    Absent,
    /// The state of the entry does not allow the operation.
    #[error("the entry is {}", .0.as_str())]
    State(OutboxState),
    /// The file cannot be read or written.
    #[error("the outbox cannot be read or written: {0}")]
    File(#[from] rusqlite::Error),
}

/// An open outbox, locked against any other user. Every method may wait for the disk.
pub struct OutboxFile {
    connection: Mutex<Connection>,
}

/// An entry, with the fields for internal use only.
struct Kept {
    no: i64,
    entry: OutboxEntry,
    kind: i64,
    /// A try has no response.
    doubtful: bool,
    /// When the gateway first answered after that, by its own clock.
    told_at: Option<Millis>,
    refused: bool,
    version: u32,
    looks: u32,
}

const COLUMNS: &str = "reference, body, state, tries, next_at, problem, settlement, created_at, updated_at, change, \
                       kind, doubtful, told_at, refused, version, looks, no";

/// The longest time that anything is put off.
const LONGEST_WAIT_MS: Millis = 2 * LATE_MS;

/// The kind of an entry's latest try, as stored.
const CREATE: i64 = 1;
const ASK: i64 = 2;

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    let code: u8 = row.get(2)?;
    let state = OutboxState::from_code(code).ok_or(rusqlite::Error::IntegralValueOutOfRange(2, code.into()))?;
    let entry = OutboxEntry {
        reference: row.get(0)?,
        body: row.get(1)?,
        state,
        tries: row.get(3)?,
        next_at: row.get(4)?,
        problem: row.get(5)?,
        settlement: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        change: row.get(9)?,
    };
    Ok(Kept {
        entry,
        kind: row.get(10)?,
        doubtful: row.get(11)?,
        told_at: row.get(12)?,
        refused: row.get(13)?,
        version: row.get(14)?,
        looks: row.get(15)?,
        no: row.get(16)?,
    })
}

impl Kept {
    /// `date`: when the gateway gave the current response, by its own clock.
    fn doubt(&self, date: Option<Millis>) -> Doubt {
        match self.doubtful {
            false => Doubt::None,
            true if self.doubt_left(date) == Some(0) => Doubt::Over,
            true => Doubt::Open,
        }
    }

    /// How much longer a try without a response can still be carried out, if known.
    fn doubt_left(&self, date: Option<Millis>) -> Option<Millis> {
        let passed = date?.saturating_sub(self.told_at?);
        Some(LATE_MS.saturating_sub(passed).clamp(0, LATE_MS))
    }

    /// Records that the latest try may have been carried out, or may still be.
    fn put_in_doubt(&mut self) {
        if self.kind == CREATE {
            (self.doubtful, self.told_at) = (true, None);
        }
    }

    /// Sets when to continue, based on the current state.
    fn schedule(&mut self, date: Option<Millis>, now: Millis, at_end: bool) {
        let reference = &self.entry.reference;
        self.entry.next_at = match self.entry.state {
            OutboxState::Queued => Some(now + pause_ms(reference, self.entry.tries)),
            OutboxState::Unknown => {
                let left = if self.refused { self.doubt_left(date).unwrap_or(0) } else { 0 };
                Some(now + left.max(pause_ms(reference, self.entry.tries)))
            }
            OutboxState::Delivered if !at_end => Some(now + pause_ms(reference, self.looks)),
            OutboxState::Sending | OutboxState::Delivered | OutboxState::Refused | OutboxState::Withdrawn => None,
        };
    }

    fn take(&mut self, verdict: Verdict) {
        if let Some((settlement, version)) = verdict.settlement {
            self.entry.settlement = Some(settlement);
            self.version = version;
        }
        self.entry.problem = verdict.problem;
    }
}

impl OutboxFile {
    /// Opens the outbox at `path`, or creates it. `owner` names on whose behalf the entries are sent: gateway, mode and client; and `user`
    /// for which of its end users, if that is known. What was sent for one would be another payment for another one. A try that was in
    /// flight when an earlier process ended counts as one without a response.
    ///
    /// # Errors
    /// [`OutboxError`], except `ReferenceTaken`, `Absent` and `State`.
    pub fn open(path: &Path, owner: &str, user: Option<&str>, now: Millis) -> Result<Self, OutboxError> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(std::time::Duration::ZERO)?;
        // The lock lasts until the file is closed or the process ends, for whatever reason.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        let begun = connection.transaction_with_behavior(TransactionBehavior::Exclusive);
        let transaction = begun.map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => OutboxError::InUse,
            Some(rusqlite::ErrorCode::NotADatabase) => OutboxError::NotAnOutbox,
            _ => OutboxError::File(error),
        })?;
        prepare(&transaction, owner, user)?;
        recover(&transaction, now)?;
        transaction.commit()?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        // On Apple's systems only this reaches the disk itself; elsewhere it changes nothing.
        connection.pragma_update(None, "fullfsync", true)?;
        connection.pragma_update(None, "checkpoint_fullfsync", true)?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // If another thread panicked, its transaction was rolled back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, change: impl FnOnce(&Transaction<'_>) -> Result<T, OutboxError>) -> Result<T, OutboxError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let made = change(&transaction)?;
        transaction.commit()?;
        Ok(made)
    }

    /// Adds a settlement, to be sent as soon as there is a network. Adding it again changes nothing. `body` is the input of
    /// [`crate::validate::parse_create`], including `reference`.
    ///
    /// # Errors
    /// [`OutboxError::ReferenceTaken`], [`OutboxError::File`].
    pub fn put(&self, reference: &str, body: &str, now: Millis) -> Result<OutboxEntry, OutboxError> {
        self.write(|transaction| {
            if let Some(there) = find(transaction, reference)? {
                return if there.entry.body == body { Ok(there.entry) } else { Err(OutboxError::ReferenceTaken) };
            }
            let change = next_change(transaction)?;
            // The number is explicit because SQLite would reuse that of a removed entry.
            transaction
                .prepare_cached(
                    "INSERT INTO entry (no, reference, body, state, next_at, created_at, updated_at, change) \
                     VALUES (?5, ?1, ?2, ?3, ?4, ?4, ?4, ?5)",
                )?
                .execute(params![reference, body, OutboxState::Queued.code(), now, change])?;
            found(transaction, reference).map(|kept| kept.entry)
        })
    }

    /// Returns the next due task. A try is stored as possibly sent before it is returned.
    ///
    /// # Errors
    /// [`OutboxError::File`].
    pub fn next(&self, now: Millis) -> Result<Step, OutboxError> {
        self.write(|transaction| {
            // A time too far in the future was set by a clock that has been put back since.
            let query = format!(
                "SELECT {COLUMNS} FROM entry WHERE next_at IS NOT NULL AND (next_at <= ?1 OR next_at > ?2) ORDER BY next_at, no LIMIT 1"
            );
            let furthest = now.saturating_add(LONGEST_WAIT_MS);
            let due = transaction.prepare_cached(&query)?.query_row([now, furthest], kept).optional()?;
            let Some(mut due) = due else {
                let first: Option<Millis> = transaction
                    .prepare_cached("SELECT min(next_at) FROM entry WHERE next_at IS NOT NULL")?
                    .query_row([], |row| row.get(0))?;
                return Ok(first.map_or(Step::Idle, Step::Wait));
            };
            let kind = start(&mut due, now);
            match kind {
                TryKind::Create | TryKind::Ask => save(transaction, &mut due, now)?,
                TryKind::Follow => update(transaction, &due)?,
            }
            let (entry, OutboxEntry { reference, body, tries, .. }) = (due.no, due.entry);
            let request = request(kind, &reference, &body);
            Ok(Step::Send(Box::new(Try { entry, reference, number: tries, kind, request })))
        })
    }

    /// Records the outcome of a try and returns its entry, unless the entry was removed. Late news about a try that was given up as
    /// lost counts only if it proves something.
    ///
    /// # Errors
    /// [`OutboxError::File`].
    pub fn heard(&self, tried: &Try, heard: &Heard<'_>, now: Millis) -> Result<Option<OutboxEntry>, OutboxError> {
        self.write(|transaction| {
            let kept = find(transaction, &tried.reference)?.filter(|kept| kept.no == tried.entry);
            let Some(mut kept) = kept else { return Ok(None) };
            let verdict = judge(tried.kind, &tried.reference, &kept.entry.body, heard);
            if decide(&mut kept, tried, verdict, heard.date(), now) {
                save(transaction, &mut kept, now)?;
            }
            Ok(Some(kept.entry))
        })
    }

    /// Withdraws an entry if no try of it can be carried out.
    ///
    /// # Errors
    /// [`OutboxError::State`] if something may have left, [`OutboxError::Absent`], [`OutboxError::File`].
    pub fn withdraw(&self, reference: &str, now: Millis) -> Result<OutboxEntry, OutboxError> {
        self.write(|transaction| {
            let mut kept = found(transaction, reference)?;
            match outbox_transition(kept.entry.state, OutboxInput::Withdraw, kept.doubt(None)) {
                OutboxNext::To(state) => {
                    kept.entry.state = state;
                    kept.schedule(None, now, true);
                    save(transaction, &mut kept, now)?;
                }
                OutboxNext::Stay => {}
                OutboxNext::Refuse => return Err(OutboxError::State(kept.entry.state)),
            }
            Ok(kept.entry)
        })
    }

    /// Removes a finished entry. Its reference may be added again, as a new entry with no memory of the first one; the gateway
    /// remembers, and pays nothing twice.
    ///
    /// # Errors
    /// [`OutboxError::State`] if something must still be sent or followed, [`OutboxError::Absent`], [`OutboxError::File`].
    pub fn remove(&self, reference: &str) -> Result<(), OutboxError> {
        self.write(|transaction| {
            let entry = found(transaction, reference)?.entry;
            if !entry.has_ended() {
                return Err(OutboxError::State(entry.state));
            }
            transaction.prepare_cached("DELETE FROM entry WHERE reference = ?1")?.execute([reference])?;
            Ok(())
        })
    }

    /// Removes all finished entries that last changed before `before`; returns their number.
    ///
    /// # Errors
    /// [`OutboxError::File`].
    pub fn prune(&self, before: Millis) -> Result<usize, OutboxError> {
        self.write(|transaction| {
            let ended = OutboxState::ALL.iter().filter(|state| state.is_final());
            let mut prune = transaction.prepare_cached("DELETE FROM entry WHERE state = ?1 AND next_at IS NULL AND updated_at < ?2")?;
            Ok(ended.map(|state| prune.execute(params![state.code(), before])).sum::<Result<_, _>>()?)
        })
    }

    /// Reports that there is a network again: everything that waits becomes due now.
    ///
    /// # Errors
    /// [`OutboxError::File`].
    pub fn wake(&self, now: Millis) -> Result<(), OutboxError> {
        self.write(|transaction| {
            // An entry that waits for the end of its doubt keeps its time.
            transaction.prepare_cached("UPDATE entry SET next_at = ?1 WHERE next_at > ?1 AND refused = 0")?.execute([now])?;
            Ok(())
        })
    }

    /// The entry with this reference; `None` if there is none.
    ///
    /// # Errors
    /// [`OutboxError::File`].
    pub fn entry(&self, reference: &str) -> Result<Option<OutboxEntry>, OutboxError> {
        Ok(find(&self.connection(), reference)?.map(|kept| kept.entry))
    }

    /// At most `limit` entries that changed after the change `after`, in the order of their latest change. 0 returns all.
    ///
    /// # Errors
    /// [`OutboxError::File`].
    pub fn changes(&self, after: i64, limit: u32) -> Result<Vec<OutboxEntry>, OutboxError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM entry WHERE change > ?1 ORDER BY change LIMIT ?2"))?;
        let rows = query.query_map(params![after, limit], |row| Ok(kept(row)?.entry))?;
        rows.collect::<Result<_, _>>().map_err(OutboxError::from)
    }
}

/// Starts the next try of a due entry.
fn start(due: &mut Kept, now: Millis) -> TryKind {
    match outbox_transition(due.entry.state, OutboxInput::Start, due.doubt(None)) {
        OutboxNext::To(state) => {
            due.entry.state = state;
            due.entry.tries += 1;
            due.entry.next_at = None;
            due.kind = if due.refused { ASK } else { CREATE };
            if due.refused { TryKind::Ask } else { TryKind::Create }
        }
        OutboxNext::Stay | OutboxNext::Refuse => {
            due.looks += 1;
            due.schedule(None, now, false);
            TryKind::Follow
        }
    }
}

/// Applies a verdict to an entry; returns whether it changed. `date`: when the gateway gave the response, by its own clock.
fn decide(kept: &mut Kept, tried: &Try, verdict: Verdict, date: Option<Millis>, now: Millis) -> bool {
    if tried.kind == TryKind::Follow || kept.entry.state == OutboxState::Delivered {
        let newer = verdict.settlement.as_ref().is_some_and(|(_, version)| *version > kept.version);
        if newer && kept.entry.state == OutboxState::Delivered {
            let at_end = verdict.at_end;
            kept.looks = 0;
            kept.take(verdict);
            kept.schedule(date, now, at_end);
            return true;
        }
        return false;
    }
    if verdict.input != OutboxInput::Taken && (kept.entry.tries != tried.number || kept.entry.state != OutboxState::Sending) {
        return false;
    }
    let OutboxNext::To(state) = outbox_transition(kept.entry.state, verdict.input, kept.doubt(date)) else { return false };
    kept.entry.state = state;
    match verdict.input {
        OutboxInput::NoAnswer => kept.put_in_doubt(),
        OutboxInput::Refused => kept.refused = true,
        OutboxInput::Taken => (kept.doubtful, kept.told_at, kept.refused) = (false, None, false),
        OutboxInput::Start
        | OutboxInput::NotSent
        | OutboxInput::PutOff
        | OutboxInput::Absent
        | OutboxInput::Withdraw
        | OutboxInput::Foreign => {}
    }
    if kept.doubtful && verdict.input != OutboxInput::NoAnswer {
        kept.told_at = kept.told_at.or(date);
    }
    // The app wants to know why it was refused, not that it is absent.
    let problem = (verdict.input == OutboxInput::Absent).then(|| kept.entry.problem.take()).flatten();
    let at_end = verdict.at_end;
    kept.take(verdict);
    kept.entry.problem = problem.or(kept.entry.problem.take());
    kept.schedule(date, now, at_end);
    true
}

fn find(connection: &Connection, reference: &str) -> rusqlite::Result<Option<Kept>> {
    connection.prepare_cached(&format!("SELECT {COLUMNS} FROM entry WHERE reference = ?1"))?.query_row([reference], kept).optional()
}

fn found(connection: &Connection, reference: &str) -> Result<Kept, OutboxError> {
    find(connection, reference)?.ok_or(OutboxError::Absent)
}

fn next_change(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("UPDATE outbox SET change = change + 1 RETURNING change")?.query_row([], |row| row.get(0))
}

/// Stores an entry with the current time as its last change.
fn save(connection: &Connection, kept: &mut Kept, now: Millis) -> Result<(), OutboxError> {
    kept.entry.updated_at = now;
    kept.entry.change = next_change(connection)?;
    update(connection, kept)
}

fn update(connection: &Connection, kept: &Kept) -> Result<(), OutboxError> {
    let entry = &kept.entry;
    connection
        .prepare_cached(
            "UPDATE entry SET state = :state, tries = :tries, kind = :kind, doubtful = :doubtful, told_at = :told_at, \
             refused = :refused, next_at = :next_at, problem = :problem, settlement = :settlement, version = :version, looks = :looks, \
             updated_at = :updated_at, change = :change WHERE reference = :reference",
        )?
        .execute(named_params! {
            ":state": entry.state.code(), ":tries": entry.tries, ":kind": kept.kind, ":doubtful": kept.doubtful,
            ":told_at": kept.told_at, ":refused": kept.refused, ":next_at": entry.next_at, ":problem": entry.problem,
            ":settlement": entry.settlement, ":version": kept.version, ":looks": kept.looks, ":updated_at": entry.updated_at,
            ":change": entry.change, ":reference": entry.reference,
        })?;
    Ok(())
}

/// Creates the tables, or checks that existing ones are an outbox and belong to `owner` and `user`. The first user who opens one without
/// becomes its user.
fn prepare(connection: &Connection, owner: &str, user: Option<&str>) -> Result<(), OutboxError> {
    let own = user.map_or_else(|| owner.to_owned(), |user| format!("{owner}\n{user}"));
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (pragma("application_id")?, pragma("user_version")?) {
        (0, 0) if tables == 0 => {
            connection.execute_batch(include_str!("schema.sql"))?;
            connection.execute("INSERT INTO outbox (id, owner, change) VALUES (1, ?1, 0)", [own])?;
            connection.pragma_update(None, "application_id", APPLICATION)?;
            connection.pragma_update(None, "user_version", LAYOUT)?;
            return Ok(());
        }
        (APPLICATION, LAYOUT) => {}
        (APPLICATION, newer) if newer > LAYOUT => return Err(OutboxError::Newer),
        _ => return Err(OutboxError::NotAnOutbox),
    }
    let theirs: String = connection.query_row("SELECT owner FROM outbox", [], |row| row.get(0))?;
    let (its_owner, its_user) = theirs.split_once('\n').map_or((theirs.as_str(), None), |(owner, user)| (owner, Some(user)));
    if its_owner != owner || its_user.is_some_and(|its| user.is_some_and(|user| user != its)) {
        return Err(OutboxError::OtherOwner(theirs));
    }
    if its_user.is_none() && user.is_some() {
        connection.execute("UPDATE outbox SET owner = ?1", [own])?;
    }
    Ok(())
}

/// Tries that were in flight when the process ended have no response.
fn recover(connection: &Connection, now: Millis) -> Result<(), OutboxError> {
    let query = format!("SELECT {COLUMNS} FROM entry WHERE state = ?1");
    let lost: Vec<Kept> = connection.prepare(&query)?.query_map([OutboxState::Sending.code()], kept)?.collect::<Result<_, _>>()?;
    for mut kept in lost {
        let OutboxNext::To(state) = outbox_transition(kept.entry.state, OutboxInput::NoAnswer, kept.doubt(None)) else { continue };
        kept.entry.state = state;
        kept.put_in_doubt();
        // Due at once: nothing has been tried since.
        kept.entry.next_at = Some(now);
        save(connection, &mut kept, now)?;
    }
    Ok(())
}

/// The HTTP request of a try.
fn request(kind: TryKind, reference: &str, body: &str) -> Request {
    match kind {
        TryKind::Create => Request::post("/api/v1/gateway/settlements", body.to_owned()),
        TryKind::Ask | TryKind::Follow => Request::new("GET", &format!("/api/v1/gateway/settlements/{reference}")),
    }
}
