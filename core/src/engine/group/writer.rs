//! State that only the deciding thread touches: the numbers that it assigns, and what it learned from refused commits.

use crate::error::Result;
use crate::ids::{ClientNo, EndpointNo, KeyNo, SettlementNo, UserNo};
use crate::store::long_lock::HOLDS;
use crate::store::record::{
    BundleRecord, ClientRecord, EndpointRecord, KeyRecord, MovementRecord, Record, RecordKind, SettlementRecord, TaskKey, UserRecord,
};
use crate::store::{Scan, Store, typed};
use crate::time::Millis;

use super::estimates::Estimates;
use super::numbers::Numbers;
use super::turns::{Owner, Turns};
use crate::engine::access::{Census, Refusals};

pub(crate) struct Writer {
    /// For settlements, fundings and what operators do to a client's account.
    pub(super) journals: Numbers,
    next_client: u32,
    next_key: u32,
    next_user: u32,
    /// For tasks and audit records.
    next_task: u32,
    last_audit: i64,
    /// The order of the outbox, and that of events that are not numbered yet.
    pub(crate) outbox: Box<dyn Turns>,
    pub(crate) unlogged: Box<dyn Turns>,
    last_delivery: i64,
    next_endpoint: u32,
    /// How far maintenance has searched for removed endpoints.
    pub(crate) swept: EndpointNo,
    /// Events of this group that the log cannot take, because they are already in it.
    pub(crate) logged_before: Vec<(SettlementNo, u32)>,
    /// How often this group was decided before. From the second round on it is decided over what the store holds, instead of what was
    /// taken for granted.
    pub(crate) round: usize,
    /// Whether another node took the tasks or queues that this group had leased. They are left to that node, so that two nodes that
    /// compete for the same work do not keep each other's clients waiting.
    pub(crate) outrun: bool,
    /// The refusals of the last hour.
    pub(crate) refusals: Refusals,
    /// How many clients there are.
    pub(crate) census: Census,
    /// The totals that accounts had last.
    pub(crate) estimates: Estimates,
    /// Whether commits that this state has learned from were undone.
    pub(super) is_stale: bool,
}

/// 2³² divided by the golden ratio: multiples of it lie far apart, also those of small numbers.
const SPREAD: u32 = 0x9E37_79B9;

impl Writer {
    /// Nodes start their task numbers far apart, so that their keys hardly ever collide. `owner` identifies this node.
    pub(crate) fn new(store: &dyn Store, owner: i64, turns: impl Fn() -> Box<dyn Turns>) -> Result<Self> {
        Ok(Self {
            journals: Numbers::dense(store, next_journal(store)?)?,
            next_client: next(store, &Scan::last(RecordKind::Client), |last: ClientRecord| last.no.0)?,
            next_key: next(store, &Scan::last(RecordKind::Key), |last: KeyRecord| last.no.0)?,
            next_user: next(store, &Scan::last(RecordKind::User), |last: UserRecord| last.no.0)?,
            next_task: (owner as u32).wrapping_mul(SPREAD),
            last_audit: i64::MIN,
            outbox: turns(),
            unlogged: turns(),
            last_delivery: i64::MIN,
            next_endpoint: next(store, &Scan::last(RecordKind::Endpoint), |last: EndpointRecord| last.no.0)?,
            swept: EndpointNo(0),
            logged_before: Vec::new(),
            round: 0,
            outrun: false,
            refusals: Refusals::default(),
            census: Census::default(),
            estimates: Estimates::default(),
            is_stale: false,
        })
    }

    /// Learns from the store again what it holds, if commits were undone. Numbers of what was undone stay unused where they may be known.
    pub(super) fn refresh(&mut self, store: &dyn Store, turns: impl Fn() -> Box<dyn Turns>) -> Result<()> {
        if HOLDS && self.is_stale {
            let Self { next_task, last_audit, last_delivery, .. } = *self;
            *self = Self { next_task, last_audit, last_delivery, ..Self::new(store, 0, turns)? };
        }
        Ok(())
    }

    /// Continues after the highest numbers in the store, because another node may have assigned some too.
    pub(super) fn catch_up(&mut self, store: &dyn Store) -> Result<()> {
        self.next_client = self.next_client.max(next(store, &Scan::last(RecordKind::Client), |last: ClientRecord| last.no.0)?);
        self.next_key = self.next_key.max(next(store, &Scan::last(RecordKind::Key), |last: KeyRecord| last.no.0)?);
        self.next_user = self.next_user.max(next(store, &Scan::last(RecordKind::User), |last: UserRecord| last.no.0)?);
        self.next_endpoint = self.next_endpoint.max(next(store, &Scan::last(RecordKind::Endpoint), |last: EndpointRecord| last.no.0)?);
        Ok(())
    }

    /// The next journal number, for a settlement, a funding or a movement. The numbers of refused commands stay unused.
    pub(crate) fn journal(&mut self) -> SettlementNo {
        SettlementNo(self.journals.draw())
    }

    pub(crate) fn client_no(&mut self) -> ClientNo {
        ClientNo(drawn(&mut self.next_client))
    }

    /// How many numbers clients may have by now.
    pub(crate) fn client_numbers(&self) -> u32 {
        self.next_client - 1
    }

    pub(crate) fn key_no(&mut self) -> KeyNo {
        KeyNo(drawn(&mut self.next_key))
    }

    pub(crate) fn user_no(&mut self) -> UserNo {
        UserNo(drawn(&mut self.next_user))
    }

    pub(crate) fn endpoint_no(&mut self) -> EndpointNo {
        EndpointNo(drawn(&mut self.next_endpoint))
    }

    /// Another node uses the next keys, and with the same time: they may be many, so this one goes on far from them. What must only grow
    /// gets ahead of its time by less than a millisecond.
    pub(super) fn go_elsewhere(&mut self) {
        self.next_task = self.next_task.wrapping_add(SPREAD);
        for last in [&mut self.last_audit, &mut self.last_delivery] {
            *last = last.saturating_add(i64::from(SPREAD & 0xf_ffff));
        }
    }

    /// A fresh key for a task that is due at `due`.
    pub(crate) fn task_key(&mut self, due: Millis) -> TaskKey {
        self.next_task = self.next_task.wrapping_add(1);
        TaskKey::new(due, self.next_task)
    }

    /// A fresh key for a task that waits until a client's clock shows `at`.
    pub(crate) fn waiting_key(&mut self, at: Millis) -> TaskKey {
        self.next_task = self.next_task.wrapping_add(1);
        TaskKey::waiting(at, self.next_task)
    }

    /// A number for an audit record: ordered by time across nodes, and always growing on each node, whatever its clock does.
    pub(crate) fn audit_no(&mut self, now: Millis) -> i64 {
        self.last_audit = self.task_key(now).0.max(self.last_audit.saturating_add(1));
        self.last_audit
    }

    /// Forgets what was prepared for a commit that was not made.
    pub(crate) fn undo(&mut self) {
        self.refusals.undo();
        self.outbox.undo();
    }

    /// The commit was made.
    pub(crate) fn keep(&mut self) {
        self.refusals.keep();
        self.outbox.keep();
    }

    /// A key for a task that `owner` causes now, in turn with what others cause.
    pub(crate) fn task_in_turn(&mut self, owner: Owner, now: Millis) -> TaskKey {
        let turn = self.outbox.draw(owner, 1, now);
        let key = self.task_key(turn);
        self.outbox.added(key, now);
        key
    }

    /// Like [`Writer::audit_no`], for a delivery.
    pub(crate) fn delivery_no(&mut self, now: Millis) -> i64 {
        self.last_delivery = self.task_key(now).0.max(self.last_delivery.saturating_add(1));
        self.last_delivery
    }
}

fn drawn(next: &mut u32) -> u32 {
    let no = *next;
    *next += 1;
    no
}

/// One more than the highest number of a kind.
fn next<T: TryFrom<Record, Error = Record>>(store: &dyn Store, last: &Scan, no: impl FnOnce(T) -> u32) -> Result<u32> {
    Ok(typed(store.scan(last)?.pop())?.map_or(0, no) + 1)
}

/// One more than the highest journal number. A settlement may have no transfer yet; a change of credit and a bundle never have one.
pub(super) fn next_journal(store: &dyn Store) -> Result<i64> {
    let settlement: Option<SettlementRecord> = typed(store.scan(&Scan::last(RecordKind::Settlement))?.pop())?;
    let transfer: Option<crate::ledger::Transfer> = typed(store.scan(&Scan::last(RecordKind::Transfer))?.pop())?;
    let movement: Option<MovementRecord> = typed(store.scan(&Scan::last(RecordKind::Movement))?.pop())?;
    let bundle: Option<BundleRecord> = typed(store.scan(&Scan::last(RecordKind::Bundle))?.pop())?;
    let (settlement, transfer) = (settlement.map_or(0, |s| s.no.0), transfer.map_or(0, |t| t.journal.0));
    let journals = [settlement, transfer, movement.map_or(0, |m| m.journal.0), bundle.map_or(0, |b| b.no)];
    Ok(journals.into_iter().fold(0, i64::max) + 1)
}
