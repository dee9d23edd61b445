//! The log of all events. A commit notes its events; a later commit numbers them, in order.
//!
//! A commit with events adds one row that names them ([`UnloggedRecord`]), which is all that a create pays for the log. One node at
//! a time takes such rows, gives each event its place in its owner's feed and in the Merkle tree of its mode, writes the deliveries
//! owed to webhooks, and removes the rows, all in one commit. If that node crashes, the rows remain, so no event is missed. The key of
//! the log's head is the number of all events in it, so no event is numbered twice.

mod epoch;
mod feed;
mod numbering;
mod repair;
mod statement;
mod trees;

use std::collections::{BTreeMap, HashMap, HashSet};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::api::Logged;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, IdKey, SettlementNo};
use crate::ledger::Mode;
use crate::log;
use crate::store::record::{
    EventRecord, FeedRecord, Key, Later, LogHeadRecord, LoggedChange, LoggedEvent, MetaRecord, Moment, Record, RecordKind,
    SettlementRecord, TaskKey, UnloggedRecord,
};
use crate::store::{Commit, CommitError, Lookup, Scan, Store, Unique, Write, typed, typed_all};
use crate::time::Millis;
use crate::trace::About;

use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Overlay};

pub use epoch::BeginEpoch;
#[cfg(feature = "sandbox")]
pub(crate) use numbering::Immediate;
pub(crate) use numbering::{Deferred, Numbering};
pub use repair::{AddStatementLines, StatementGap, statement_gaps};
pub(crate) use statement::endings;
pub(crate) use trees::StoredTiles;

/// How long a node that appended keeps the others from appending, so that they do not collide.
const LOG_LEASE: Millis = 5_000;
/// A lease that ends later than this was set by a wrong clock. The head's key keeps nodes apart in any case.
const LOG_LEASE_MOST: Millis = 60_000;
/// How long an event waits until its predecessor is numbered. After that, the trace must be damaged.
const PREDECESSOR_WAIT: Millis = 60_000;
/// How many events of a database that is older than the log are numbered in one commit.
const BACKFILL: usize = 2_000;
pub(crate) const BACKFILL_KEY: &str = "log_backfill";
/// The size of both trees when those were numbered: they are in the order of their settlements, not of time.
const BACKFILLED_KEY: &str = "log_backfilled";
/// How many rows are read at first: under load, each has the events of many commands.
const FEW: usize = 16;
/// The maximum number of rows read to find the events that the first rows wait for.
const WIDEST: usize = 16_384;

/// What to number next.
struct Turn {
    /// The numbers of the rows that were read.
    rows: Vec<i64>,
    /// For each change, the index of its row.
    from: Vec<usize>,
    changes: Vec<LoggedChange>,
    waiting: Waiting,
    /// Whether there are more rows.
    more: bool,
    /// The turn of the last row.
    until: Option<Millis>,
}

/// Numbers events that are not in the log yet. Leaves the work to another node if that node is numbering.
#[derive(Debug, Clone)]
pub struct NumberEvents {
    /// Approximate maximum number of events.
    pub limit: usize,
}

impl Command for NumberEvents {
    type Output = Logged;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Logged> {
        let (engine, overlay) = (d.engine, &mut *d.overlay);
        let head = log_head(overlay.store)?.ok_or_else(|| Error::internal("the log has no head"))?;
        // A second such command in the same group finds nothing to do.
        if overlay.touched(&Key::LogHead(head.events)) {
            return Ok(Logged::default());
        }
        // A clock that is far ahead must not keep the others waiting.
        if head.owner != engine.owner && head.until > overlay.now && head.until - overlay.now <= LOG_LEASE_MOST {
            return Ok(Logged { held_until: Some(head.until), ..Logged::default() });
        }
        let mut turn = engine.take(overlay, &d.writer.logged_before, self.limit.max(1))?;
        if !turn.changes.is_empty() {
            // Changes that do not fit into this commit wait for the next.
            let told = engine.fan_out(overlay, d.writer, &turn.changes)?;
            #[cfg(feature = "push")]
            engine.tell_users(overlay, d.writer, &turn.changes[..told])?;
            for (at, change) in turn.from.drain(told..).zip(turn.changes.drain(told..)) {
                let (waiting, fewer) = turn.waiting.entry(at).or_default();
                waiting.push(change);
                (*fewer, turn.more) = (true, true);
            }
            engine.append(overlay, head, &turn.changes)?;
        }
        for (at, no) in turn.rows.into_iter().enumerate() {
            match turn.waiting.remove(&at) {
                None => overlay.write(Write::Delete(Key::Unlogged(no))),
                Some((changes, true)) => overlay.write(Write::Replace(UnloggedRecord { no, changes }.into())),
                Some((_, false)) => {}
            }
        }
        d.writer.unlogged.served(turn.until.filter(|_| turn.more));
        let booked = engine.book(overlay, self.limit.max(1))?;
        let events = turn.changes.iter().map(|change| change.events.len()).sum();
        Ok(Logged { events, more: turn.more || booked, held_until: None })
    }

    fn touched(logged: &Logged) -> usize {
        logged.events.max(1)
    }
}

impl Engine {
    /// The changes to number now, each after its predecessors in its settlement's trace.
    ///
    /// Nodes' clocks differ, so a later change may be in an earlier row. A change that must wait stays in its row. If all of the
    /// first rows wait, the changes that they wait for are in later rows.
    fn take(&self, overlay: &mut Overlay<'_>, known: &[(SettlementNo, u32)], limit: usize) -> Result<Turn> {
        let (mut reach, mut wider, mut given_up) = (limit.min(FEW), false, false);
        loop {
            let rows: Vec<UnloggedRecord> = typed_all(overlay.store.scan(&Scan::all(RecordKind::Unlogged, reach))?)?;
            let (full, found) = (rows.len() == reach, rows.len());
            if full && !wider && reach < limit && events_in(&rows) < limit {
                reach = reach.saturating_mul(4).min(limit);
                continue;
            }
            let chosen = if wider { rows } else { first_of(rows, limit) };
            let (rows, more): (Vec<i64>, bool) = (chosen.iter().map(|row| row.no).collect(), full || chosen.len() < found);
            // As long as there are unread rows, they may contain what the others wait for.
            let (taken, waiting) = self.in_turn(overlay, without(chosen, known), given_up || !more)?;
            if taken.is_empty() && more && !given_up {
                (wider, given_up) = (true, reach >= limit.max(WIDEST));
                reach = reach.saturating_mul(4).min(limit.max(WIDEST));
                continue;
            }
            let more = more && !taken.is_empty();
            let until = rows.last().map(|no| TaskKey(*no).due());
            let (from, changes) = taken.into_iter().unzip();
            return Ok(Turn { rows, from, changes, waiting, more, until });
        }
    }

    /// Splits the rows' changes into those that can be numbered, in order, and those that must wait, by row. With `give_up`, a
    /// change waits no longer than [`PREDECESSOR_WAIT`].
    fn in_turn(
        &self,
        overlay: &mut Overlay<'_>,
        rows: Vec<UnloggedRecord>,
        give_up: bool,
    ) -> Result<(Vec<(usize, LoggedChange)>, Waiting)> {
        let ages: Vec<i64> = rows.iter().map(|row| row.no >> 20).collect();
        let counts: Vec<usize> = rows.iter().map(|row| row.changes.len()).collect();
        let all: Vec<(usize, LoggedChange)> =
            rows.into_iter().enumerate().flat_map(|(at, row)| row.changes.into_iter().map(move |change| (at, change))).collect();
        let (mut taken, mut waiting) = (Vec::new(), Waiting::new());
        let mut last: HashMap<SettlementNo, u32> = HashMap::new();
        let later = all.iter().filter(|(_, change)| !change.events.is_empty() && change.sequence(0) > 1);
        overlay.look_up(later.map(|(_, change)| Lookup::Find(Unique::FeedOf(change.settlement, change.sequence(0) - 1))))?;
        for (at, change) in in_order(all).into_iter().filter(|(_, change)| !change.events.is_empty()) {
            let first = change.sequence(0);
            let after = last.get(&change.settlement).copied();
            let follows = first <= 1 || after == Some(first - 1) || {
                after.is_none() && overlay.stored_under(&Unique::FeedOf(change.settlement, first - 1))?.is_some()
            };
            if follows || give_up && overlay.now - ages[at] > PREDECESSOR_WAIT {
                last.insert(change.settlement, change.version);
                taken.push((at, change));
            } else {
                waiting.entry(at).or_default().0.push(change);
            }
        }
        for (at, (changes, fewer)) in &mut waiting {
            *fewer = changes.len() < counts[*at];
        }
        Ok((taken, waiting))
    }

    /// Gives each event its place in its owner's feed and in the tree of its mode.
    fn append(&self, overlay: &mut Overlay<'_>, head: LogHeadRecord, changes: &[LoggedChange]) -> Result<()> {
        let mut positions: HashMap<(ClientNo, Mode), i64> = HashMap::new();
        let owners: HashSet<_> = changes.iter().map(|change| (change.client, change.mode)).collect();
        overlay.look_up(owners.into_iter().map(|(client, mode)| Lookup::Scan(Scan::last_feed(client, mode))))?;
        let mut trees: BTreeMap<Mode, Vec<[u8; 32]>> = BTreeMap::new();
        let mut next = head;
        for change in changes {
            let (owner, leaves) = ((change.client, change.mode), trees.entry(change.mode).or_default());
            for (index, event) in change.events.iter().enumerate() {
                let position = match positions.get(&owner) {
                    Some(position) => *position,
                    None => position_of(overlay.stored_page(&Scan::last_feed(owner.0, owner.1))?)?,
                } + 1;
                positions.insert(owner, position);
                let n = change.sequence(index);
                overlay.insert(FeedRecord {
                    client: change.client,
                    mode: change.mode,
                    position,
                    settlement: change.settlement,
                    n,
                    at: event.at,
                    leaf: next.leaves(change.mode),
                });
                leaves.push(log::commitment(&leaf_salt(&self.id_key, change.settlement, n), &event.hash));
                next = next.with_one_more(change.mode);
            }
        }
        for (mode, leaves) in trees {
            trees::grow(overlay, &head, mode, &leaves)?;
        }
        overlay.write(Write::Delete(Key::LogHead(head.events)));
        overlay.insert(LogHeadRecord { owner: self.owner, until: overlay.now + LOG_LEASE, ..next });
        Ok(())
    }

    /// Creates the head of the log, and numbers the events of a database that is older than the log. From then
    /// on, each commit notes its own events.
    pub(crate) fn begin_log(&self) -> Result<()> {
        let store = &*self.store;
        match log_head(store)? {
            Some(LogHeadRecord { live: Later(Some(_)), .. }) => {}
            Some(head) => self.separate_trees(head)?,
            None => {
                let head = LogHeadRecord { events: 0, owner: 0, until: 0, live: Later(Some(0)) };
                let mut writes = vec![Write::Insert(head.into())];
                if !store.scan(&Scan::last(RecordKind::Settlement))?.is_empty() {
                    writes.push(Write::Insert(backfilled(SettlementNo(0)).into()));
                }
                match store.commit(&Commit { writes }) {
                    // Another node may have been first.
                    Ok(()) | Err(CommitError::Conflict(_)) => {}
                    Err(error) => return Err(Error::caused(ErrorCode::StoreUnavailable, error)),
                }
            }
        }
        while self.backfill()? {}
        Ok(())
    }

    /// Numbers the next events of before the log; `false` if none are left.
    fn backfill(&self) -> Result<bool> {
        let store = &*self.store;
        let Some(done) = typed::<MetaRecord>(store.get(&Key::Meta(BACKFILL_KEY.to_owned()))?)? else { return Ok(false) };
        let mut after =
            SettlementNo(i64::from_be_bytes(done.value.try_into().map_err(|_| Error::internal("the log's backfill mark is damaged"))?));
        let head = log_head(store)?.ok_or_else(|| Error::internal("the log has no head"))?;
        let mut overlay = Overlay::new(store, self.env.now());
        let settlements: Vec<SettlementRecord> = typed_all(store.scan(&Scan::after(&Key::Settlement(after), BACKFILL / 4))?)?;
        let ended = settlements.is_empty();
        let mut changes = Vec::new();
        for record in settlements {
            after = record.no;
            let events: Vec<EventRecord> = typed_all(store.scan(&Scan::events(record.no, 0, usize::MAX))?)?;
            // One run, unless events were removed by hand.
            for run in events.chunk_by(|one, next| one.n + 1 == next.n) {
                let mut change = change_of(About::Settlement(&record));
                change.version = run.last().map_or(0, |event| event.n);
                change.events = run.iter().map(logged).collect();
                changes.push(change);
            }
        }
        if ended {
            overlay.write(Write::Delete(Key::Meta(BACKFILL_KEY.to_owned())));
            let sizes = [Mode::Sandbox, Mode::Live].map(|mode| head.leaves(mode).to_be_bytes());
            overlay.insert(MetaRecord { name: BACKFILLED_KEY.to_owned(), value: sizes.concat() });
        } else {
            overlay.write(Write::Replace(backfilled(after).into()));
        }
        if !changes.is_empty() {
            self.append(&mut overlay, head, &changes)?;
        }
        match store.commit(&overlay.commit) {
            Ok(()) => Ok(!ended),
            // Another node is numbering them too.
            Err(CommitError::Conflict(_)) => Ok(true),
            Err(error) => Err(Error::caused(ErrorCode::StoreUnavailable, error)),
        }
    }

    /// The number of leaves of a mode's tree that were backfilled when the log was created; 0 if none.
    pub(crate) fn backfilled(&self, mode: Mode) -> Result<i64> {
        let sizes: Option<MetaRecord> = typed(self.store.get(&Key::Meta(BACKFILLED_KEY.to_owned()))?)?;
        let at = match mode {
            Mode::Sandbox => 0,
            // There is none in a log from when all events were in one tree.
            Mode::Live => 8,
        };
        let size = sizes.as_ref().and_then(|sizes| sizes.value.get(at..at + 8));
        Ok(size.and_then(|size| size.try_into().ok()).map_or(0, i64::from_be_bytes))
    }

    /// Lets this node append at once, if it does not share the store and the previous node is gone.
    pub(crate) fn take_over_log(&self, overlay: &mut Overlay<'_>) -> Result<()> {
        if let Some(head) = log_head(overlay.store)?.filter(|head| head.owner != self.owner && head.until > overlay.now)
            && !overlay.touched(&Key::LogHead(head.events))
        {
            overlay.write(Write::Replace(LogHeadRecord { owner: self.owner, ..head }.into()));
        }
        Ok(())
    }

    /// Lets other nodes append at once, if this node appended last.
    pub(crate) fn leave_log(&self, overlay: &mut Overlay<'_>) -> Result<()> {
        if let Some(head) = log_head(overlay.store)?.filter(|head| head.owner == self.owner && head.until > overlay.now)
            && !overlay.touched(&Key::LogHead(head.events))
        {
            overlay.write(Write::Replace(LogHeadRecord { until: 0, ..head }.into()));
        }
        Ok(())
    }
}

/// The salt of an event's leaf. Without it, the tree reveals nothing about the event.
pub(crate) fn leaf_salt(key: &IdKey, settlement: SettlementNo, n: u32) -> [u8; 32] {
    // HMAC accepts keys of any length.
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(&key.0) else { return [0; 32] };
    let mac = mac.chain_update(b"railgate-log-salt-v1\0").chain_update(settlement.0.to_be_bytes()).chain_update(n.to_be_bytes());
    mac.finalize().into_bytes().into()
}

/// The head of the log, which has the sizes of its trees.
pub(crate) fn log_head(store: &dyn Store) -> Result<Option<LogHeadRecord>> {
    Ok(typed(store.scan(&Scan::last(RecordKind::LogHead))?.pop())?)
}

/// The last used position of a feed; 0 if it is empty.
pub(crate) fn last_position(store: &dyn Store, client: ClientNo, mode: Mode) -> Result<i64> {
    position_of(store.scan(&Scan::last_feed(client, mode))?)
}

fn position_of(mut last: Vec<Record>) -> Result<i64> {
    Ok(typed::<FeedRecord>(last.pop())?.map_or(0, |last| last.position))
}

/// What a commit adds to traces. A command writes what a trace is about first, then its events.
pub(crate) fn changes_of(commit: &Commit) -> Result<Vec<LoggedChange>> {
    let mut changes: Vec<LoggedChange> = Vec::with_capacity(commit.writes.iter().filter(|write| traced_by(write).is_some()).count());
    let mut changed: Option<About<'_>> = None;
    for write in &commit.writes {
        if let Some(about) = traced_by(write) {
            changed = Some(about);
        } else if let Write::Insert(Record::Event(event)) = write {
            changes.extend(changed.take().map(change_of));
            let last = changes.last_mut().filter(|last| last.settlement == event.settlement && event.n <= last.version);
            let last = last.ok_or_else(|| Error::internal("an event was made without what it is about"))?;
            last.events.push(logged(event));
        }
    }
    Ok(changes)
}

/// What the events after this write are about, if it changes that.
fn traced_by(write: &Write) -> Option<About<'_>> {
    match write {
        Write::Insert(Record::Settlement(record)) | Write::Update { record: Record::Settlement(record), .. } => {
            Some(About::Settlement(record))
        }
        Write::Insert(Record::Movement(record)) => Some(About::Movement(record)),
        Write::Insert(Record::Bundle(record)) | Write::Update { record: Record::Bundle(record), .. } => Some(About::Bundle(record)),
        Write::Insert(_)
        | Write::Update { .. }
        | Write::Replace(_)
        | Write::Post(_)
        | Write::Count { .. }
        | Write::Floor { .. }
        | Write::Delete(_)
        | Write::Absent(_) => None,
    }
}

/// The current state of what a trace is about, without its events.
fn change_of(about: About<'_>) -> LoggedChange {
    let (client, mode) = about.owner();
    let (user, version, moment) = match about {
        About::Settlement(record) => (record.user, record.version, Some(moment_of(record))),
        About::Movement(_) => (None, 1, None),
        About::Bundle(record) => (None, record.steps, None),
    };
    // A create has no more than one event.
    LoggedChange { settlement: about.no(), client, mode, user, version, moment, events: Vec::with_capacity(1) }
}

fn moment_of(record: &SettlementRecord) -> Moment {
    let more = record.more.as_deref();
    let failure = more.and_then(|more| more.failure.as_ref());
    Moment {
        status: record.status,
        needs_review: record.needs_review,
        provider: record.provider,
        reversed: record.reversed,
        reversing: record.reversing,
        attempts: record.attempts,
        updated_at: record.updated_at,
        completed_at: record.completed_at,
        rail_reference: more.and_then(|more| more.rail_reference.clone()),
        failure: failure.and_then(|failure| serde_json::to_string(failure).ok()),
    }
}

fn logged(event: &EventRecord) -> LoggedEvent {
    LoggedEvent { kind: event.kind, at: event.at, hash: event.hash }
}

/// For each row index, the changes that must wait, and whether they are fewer than the row has.
type Waiting = HashMap<usize, (Vec<LoggedChange>, bool)>;

/// The rows without events that were logged already: such an event waits again by a fault or because a row was added by hand.
fn without(mut rows: Vec<UnloggedRecord>, known: &[(SettlementNo, u32)]) -> Vec<UnloggedRecord> {
    for change in rows.iter_mut().flat_map(|row| &mut row.changes).filter(|_| !known.is_empty()) {
        let logged = (0..change.events.len()).rev().find(|index| known.contains(&(change.settlement, change.sequence(*index))));
        change.events.drain(..logged.map_or(0, |last| last + 1));
    }
    rows
}

/// The first rows, with about `limit` events in total.
fn first_of(rows: Vec<UnloggedRecord>, limit: usize) -> Vec<UnloggedRecord> {
    let mut count = 0;
    rows.into_iter()
        .take_while(|row| {
            let wanted = count < limit;
            count += events_in(std::slice::from_ref(row));
            wanted
        })
        .collect()
}

fn events_in(rows: &[UnloggedRecord]) -> usize {
    rows.iter().flat_map(|row| &row.changes).map(|change| change.events.len()).sum()
}

/// Sorts each settlement's changes in the order of its trace; all other changes keep their places.
fn in_order(mut all: Vec<(usize, LoggedChange)>) -> Vec<(usize, LoggedChange)> {
    let mut places: Vec<_> = all.iter().enumerate().map(|(place, (_, change))| (change.settlement, place)).collect();
    places.sort_unstable();
    for places in places.chunk_by(|one, other| one.0 == other.0) {
        if places.is_sorted_by_key(|(_, place)| all[*place].1.version) {
            continue;
        }
        let mut changes: Vec<_> = places.iter().map(|(_, place)| all[*place].clone()).collect();
        changes.sort_by_key(|(_, change)| change.version);
        for ((_, place), change) in places.iter().zip(changes) {
            all[*place] = change;
        }
    }
    all
}

fn backfilled(done: SettlementNo) -> MetaRecord {
    MetaRecord { name: BACKFILL_KEY.to_owned(), value: done.0.to_be_bytes().to_vec() }
}
