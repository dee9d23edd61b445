//! The store in memory: the model that every other store is compared with, and the store of a browser tab and of tests.
//!
//! One lock, one ordered map a kind, a few indexes. A commit is applied write by write under the lock and taken back
//! from the last to the first if anything stood in its way, so that nobody ever sees a part of one.

use std::collections::{BTreeMap, BTreeSet, HashMap, btree_map};
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::RwLock;

use super::record::*;
use super::shared::{self, Deltas};
use super::{Clash, Commit, CommitError, Place, Scan, SettlementFilter, Store, StoreError, Unique, Write};
use crate::auth::KeyId;
use crate::ids::{ClientNo, EndpointNo, KeyNo, ProviderNo, SettlementNo, Ulid};
use crate::ledger::{AccountId, Mode, Owner, Totals, Transfer};
use crate::time::Millis;

/// Keeps everything in memory. Dropped, it is gone.
#[derive(Default)]
pub struct MemoryStore {
    state: RwLock<State>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for MemoryStore {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        shared::check(commit)?;
        self.state.write().map_err(|_| poisoned())?.commit(commit)
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        Ok(self.state.read().map_err(|_| poisoned())?.get(key))
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        Ok(self.state.read().map_err(|_| poisoned())?.find(unique))
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        Ok(self.state.read().map_err(|_| poisoned())?.scan(scan))
    }
}

/// A thread that panicked in the middle of a commit may have left a part of it.
fn poisoned() -> StoreError {
    StoreError::corrupt("locking the memory store", "a thread panicked inside a commit")
}

#[derive(Default)]
struct State {
    clients: BTreeMap<ClientNo, ClientRecord>,
    keys: BTreeMap<KeyNo, KeyRecord>,
    tokens: BTreeMap<Digest32, TokenRecord>,
    providers: BTreeMap<ProviderNo, ProviderRecord>,
    accounts: BTreeMap<AccountId, Totals>,
    settlements: BTreeMap<SettlementNo, SettlementRecord>,
    attempts: BTreeMap<(SettlementNo, u16), AttemptRecord>,
    reversals: BTreeMap<(SettlementNo, u16), ReversalRecord>,
    events: BTreeMap<(SettlementNo, u32), EventRecord>,
    transfers: BTreeMap<(SettlementNo, u16), Transfer>,
    tasks: BTreeMap<TaskKey, TaskRecord>,
    idempotency: BTreeMap<(ClientNo, String), IdempotencyRecord>,
    sim_payments: BTreeMap<(SettlementNo, u16), SimPaymentRecord>,
    nonces: BTreeMap<Digest32, NonceRecord>,
    secrets: BTreeMap<(SecretKind, u32), SecretRecord>,
    audit: BTreeMap<i64, AuditRecord>,
    meta: BTreeMap<String, MetaRecord>,
    unlogged: BTreeMap<i64, UnloggedRecord>,
    feed: BTreeMap<(ClientNo, Mode, i64), FeedRecord>,
    tiles: BTreeMap<(u8, i64), TileRecord>,
    log_head: BTreeMap<i64, LogHeadRecord>,
    endpoints: BTreeMap<EndpointNo, EndpointRecord>,
    endpoint_secrets: BTreeMap<(EndpointNo, u32), EndpointSecretRecord>,
    queues: BTreeMap<EndpointNo, QueueRecord>,
    deliveries: BTreeMap<i64, DeliveryRecord>,

    feed_of: BTreeMap<(SettlementNo, u32), (ClientNo, Mode, i64)>,
    endpoint_ids: BTreeMap<Ulid, EndpointNo>,
    deliveries_of: BTreeSet<(EndpointNo, i64)>,
    client_ids: BTreeMap<Ulid, ClientNo>,
    key_ids: BTreeMap<KeyId, KeyNo>,
    keys_of: BTreeSet<(ClientNo, KeyNo)>,
    provider_ids: BTreeMap<String, ProviderNo>,
    of_client: BTreeMap<ClientNo, OfClient>,
}

/// One client's indexes: a list never walks over another client's rows.
#[derive(Default)]
struct OfClient {
    settlements: BTreeSet<SettlementNo>,
    references: HashMap<Box<str>, SettlementNo>,
    reversal_references: HashMap<Box<str>, (SettlementNo, u16)>,
}

/// How one applied write is taken back.
enum Undo {
    /// The write at this index added a record.
    Added(usize),
    /// A record was replaced or removed; this is what it was.
    Was(Box<Record>),
}

impl State {
    fn commit(&mut self, commit: &Commit) -> Result<(), CommitError> {
        let mut undo = Vec::with_capacity(commit.writes.len());
        let mut clashes = Vec::new();
        let mut deltas = Deltas::default();
        for (index, write) in commit.writes.iter().enumerate() {
            let undone_by = match write {
                Write::Insert(record) => self.insert(record).then_some(Undo::Added(index)),
                Write::Update { record, expected } => self.update(record, *expected),
                Write::Replace(record) => self.replace(record),
                Write::Post(transfer) => self.post(transfer, &mut deltas).then_some(Undo::Added(index)),
                Write::Delete(key) => self.remove(key).map(|was| Undo::Was(Box::new(was))),
            };
            match undone_by {
                Some(step) => undo.push(step),
                None => clashes.push(Clash { write: index }),
            }
        }
        let settled = if clashes.is_empty() {
            deltas.settle(|account| Ok(self.accounts.get(&account).copied().unwrap_or_default()))
        } else {
            Err(CommitError::Conflict(clashes))
        };
        match settled {
            Ok(totals) => {
                self.accounts.extend(totals);
                Ok(())
            }
            Err(error) => {
                self.take_back(undo, commit);
                Err(error)
            }
        }
    }

    fn take_back(&mut self, undo: Vec<Undo>, commit: &Commit) {
        for step in undo.into_iter().rev() {
            match step {
                Undo::Was(record) => {
                    self.remove(&record.key());
                    self.insert(&record);
                }
                Undo::Added(index) => match &commit.writes[index] {
                    Write::Post(transfer) => drop(self.transfers.remove(&(transfer.journal, transfer.n))),
                    Write::Insert(record) => drop(self.remove(&record.key())),
                    Write::Update { .. } | Write::Replace(_) | Write::Delete(_) => {}
                },
            }
        }
    }

    /// Adds a record unless one of its keys is taken.
    fn insert(&mut self, record: &Record) -> bool {
        match record {
            Record::Client(r) => {
                vacant(&self.client_ids, &r.id) && add(&mut self.clients, r.no, r) && add(&mut self.client_ids, r.id, &r.no)
            }
            Record::Provider(r) => {
                vacant(&self.provider_ids, &r.id) && add(&mut self.providers, r.no, r) && add(&mut self.provider_ids, r.id.clone(), &r.no)
            }
            Record::Settlement(r) => self.insert_settlement(r),
            Record::Reversal(r) => self.insert_reversal(r),
            Record::Key(r) => {
                vacant(&self.key_ids, &r.id)
                    && add(&mut self.keys, r.no, r)
                    && add(&mut self.key_ids, r.id, &r.no)
                    && self.keys_of.insert((r.client, r.no))
            }
            Record::Token(r) => add(&mut self.tokens, r.hash, r),
            Record::Attempt(r) => add(&mut self.attempts, (r.settlement, r.n), r),
            Record::Event(r) => add(&mut self.events, (r.settlement, r.n), r),
            Record::Task(r) => add(&mut self.tasks, r.key, r),
            Record::Idempotency(r) => add(&mut self.idempotency, (r.client, r.key.clone()), r),
            Record::SimPayment(r) => add(&mut self.sim_payments, (r.settlement, r.child), r),
            Record::Nonce(r) => add(&mut self.nonces, r.hash, r),
            Record::Secret(r) => add(&mut self.secrets, (r.kind, r.no), r),
            Record::Audit(r) => add(&mut self.audit, r.no, r),
            Record::Meta(r) => add(&mut self.meta, r.name.clone(), r),
            Record::Unlogged(r) => add(&mut self.unlogged, r.no, r),
            Record::Feed(r) => {
                let key = (r.client, r.mode, r.position);
                vacant(&self.feed_of, &(r.settlement, r.n))
                    && add(&mut self.feed, key, r)
                    && add(&mut self.feed_of, (r.settlement, r.n), &key)
            }
            Record::Tile(r) => add(&mut self.tiles, (r.level, r.index), r),
            Record::LogHead(r) => add(&mut self.log_head, r.size, r),
            Record::Endpoint(r) => {
                vacant(&self.endpoint_ids, &r.id) && add(&mut self.endpoints, r.no, r) && add(&mut self.endpoint_ids, r.id, &r.no)
            }
            Record::EndpointSecret(r) => add(&mut self.endpoint_secrets, (r.endpoint, r.n), r),
            Record::Queue(r) => add(&mut self.queues, r.endpoint, r),
            Record::Delivery(r) => add(&mut self.deliveries, r.no, r) && self.deliveries_of.insert((r.endpoint, r.no)),
            // `shared::check` lets neither in.
            Record::Account(_) | Record::Transfer(_) => false,
        }
    }

    fn insert_settlement(&mut self, r: &SettlementRecord) -> bool {
        let btree_map::Entry::Vacant(place) = self.settlements.entry(r.no) else { return false };
        let mine = self.of_client.entry(r.client).or_default();
        if mine.references.contains_key(r.reference.as_str()) {
            return false;
        }
        mine.references.insert(r.reference.as_str().into(), r.no);
        mine.settlements.insert(r.no);
        place.insert(r.clone());
        true
    }

    fn insert_reversal(&mut self, r: &ReversalRecord) -> bool {
        let key = (r.settlement, r.n);
        let btree_map::Entry::Vacant(place) = self.reversals.entry(key) else { return false };
        if let Some(reference) = &r.reference {
            let taken = &mut self.of_client.entry(r.client).or_default().reversal_references;
            if taken.contains_key(reference.as_str()) {
                return false;
            }
            taken.insert(reference.as_str().into(), key);
        }
        place.insert(r.clone());
        true
    }

    fn post(&mut self, transfer: &Transfer, deltas: &mut Deltas) -> bool {
        let added = add(&mut self.transfers, (transfer.journal, transfer.n), transfer);
        if added {
            deltas.add(transfer);
        }
        added
    }

    fn update(&mut self, new: &Record, expected: u32) -> Option<Undo> {
        let was: Record = match new {
            Record::Settlement(r) => {
                let same = |old: &SettlementRecord| old.version == expected && (old.client, &old.reference) == (r.client, &r.reference);
                swap(&mut self.settlements, &r.no, r, same)?.into()
            }
            Record::Endpoint(r) => {
                let same = |old: &EndpointRecord| old.version == expected && (old.id, old.client, old.mode) == (r.id, r.client, r.mode);
                swap(&mut self.endpoints, &r.no, r, same)?.into()
            }
            Record::Queue(r) => swap(&mut self.queues, &r.endpoint, r, |old| old.version == expected)?.into(),
            // `shared::check` lets none of these in.
            Record::Client(_) | Record::Key(_) | Record::Token(_) | Record::Provider(_) | Record::Account(_) => return None,
            Record::Attempt(_) | Record::Reversal(_) | Record::Event(_) | Record::Transfer(_) | Record::Task(_) => return None,
            Record::Idempotency(_) | Record::SimPayment(_) | Record::Nonce(_) | Record::Secret(_) | Record::Audit(_) => return None,
            Record::Meta(_) | Record::Unlogged(_) | Record::Feed(_) | Record::Tile(_) | Record::LogHead(_) => return None,
            Record::EndpointSecret(_) | Record::Delivery(_) => return None,
        };
        Some(Undo::Was(Box::new(was)))
    }

    /// Puts a record in the place of the one under its key. Unique keys never change: a record that differs in one
    /// is not the same record.
    fn replace(&mut self, record: &Record) -> Option<Undo> {
        let was: Record = match record {
            Record::Client(r) => swap(&mut self.clients, &r.no, r, |old| old.id == r.id)?.into(),
            Record::Provider(r) => swap(&mut self.providers, &r.no, r, |old| old.id == r.id)?.into(),
            Record::Reversal(r) => {
                let same = |old: &ReversalRecord| (old.client, &old.reference) == (r.client, &r.reference);
                swap(&mut self.reversals, &(r.settlement, r.n), r, same)?.into()
            }
            Record::Key(r) => {
                let was = swap(&mut self.keys, &r.no, r, |old| old.id == r.id)?;
                self.keys_of.remove(&(was.client, was.no));
                self.keys_of.insert((r.client, r.no));
                was.into()
            }
            Record::Token(r) => swap(&mut self.tokens, &r.hash, r, |_| true)?.into(),
            Record::Attempt(r) => swap(&mut self.attempts, &(r.settlement, r.n), r, |_| true)?.into(),
            Record::Event(r) => swap(&mut self.events, &(r.settlement, r.n), r, |_| true)?.into(),
            Record::Task(r) => swap(&mut self.tasks, &r.key, r, |_| true)?.into(),
            Record::Idempotency(r) => swap(&mut self.idempotency, &(r.client, r.key.clone()), r, |_| true)?.into(),
            Record::SimPayment(r) => swap(&mut self.sim_payments, &(r.settlement, r.child), r, |_| true)?.into(),
            Record::Nonce(r) => swap(&mut self.nonces, &r.hash, r, |_| true)?.into(),
            Record::Secret(r) => swap(&mut self.secrets, &(r.kind, r.no), r, |_| true)?.into(),
            Record::Audit(r) => swap(&mut self.audit, &r.no, r, |_| true)?.into(),
            Record::Meta(r) => swap(&mut self.meta, &r.name, r, |_| true)?.into(),
            Record::Unlogged(r) => swap(&mut self.unlogged, &r.no, r, |_| true)?.into(),
            Record::Feed(r) => {
                let same = |old: &FeedRecord| (old.settlement, old.n) == (r.settlement, r.n);
                swap(&mut self.feed, &(r.client, r.mode, r.position), r, same)?.into()
            }
            Record::Tile(r) => swap(&mut self.tiles, &(r.level, r.index), r, |_| true)?.into(),
            Record::LogHead(r) => swap(&mut self.log_head, &r.size, r, |_| true)?.into(),
            Record::EndpointSecret(r) => swap(&mut self.endpoint_secrets, &(r.endpoint, r.n), r, |_| true)?.into(),
            Record::Delivery(r) => swap(&mut self.deliveries, &r.no, r, |old| old.endpoint == r.endpoint)?.into(),
            // `shared::check` lets none of these in.
            Record::Settlement(_) | Record::Endpoint(_) | Record::Queue(_) | Record::Account(_) | Record::Transfer(_) => return None,
        };
        Some(Undo::Was(Box::new(was)))
    }

    fn remove(&mut self, key: &Key) -> Option<Record> {
        Some(match key {
            Key::Client(no) => {
                let was = self.clients.remove(no)?;
                self.client_ids.remove(&was.id);
                was.into()
            }
            Key::Provider(no) => {
                let was = self.providers.remove(no)?;
                self.provider_ids.remove(&was.id);
                was.into()
            }
            Key::Settlement(no) => {
                let was = self.settlements.remove(no)?;
                if let Some(mine) = self.of_client.get_mut(&was.client) {
                    mine.settlements.remove(no);
                    mine.references.remove(was.reference.as_str());
                }
                was.into()
            }
            Key::Reversal(key) => {
                let was = self.reversals.remove(key)?;
                if let (Some(reference), Some(mine)) = (&was.reference, self.of_client.get_mut(&was.client)) {
                    mine.reversal_references.remove(reference.as_str());
                }
                was.into()
            }
            Key::Key(no) => {
                let was = self.keys.remove(no)?;
                self.key_ids.remove(&was.id);
                self.keys_of.remove(&(was.client, was.no));
                was.into()
            }
            Key::Token(hash) => self.tokens.remove(hash)?.into(),
            Key::Attempt(key) => self.attempts.remove(key)?.into(),
            Key::Event(key) => self.events.remove(key)?.into(),
            Key::Task(key) => self.tasks.remove(key)?.into(),
            Key::Idempotency(key) => self.idempotency.remove(key)?.into(),
            Key::SimPayment(key) => self.sim_payments.remove(key)?.into(),
            Key::Nonce(hash) => self.nonces.remove(hash)?.into(),
            Key::Secret(key) => self.secrets.remove(key)?.into(),
            Key::Audit(no) => self.audit.remove(no)?.into(),
            Key::Meta(name) => self.meta.remove(name)?.into(),
            Key::Unlogged(no) => self.unlogged.remove(no)?.into(),
            Key::Feed(key) => {
                let was = self.feed.remove(key)?;
                self.feed_of.remove(&(was.settlement, was.n));
                was.into()
            }
            Key::Tile(key) => self.tiles.remove(key)?.into(),
            Key::LogHead(size) => self.log_head.remove(size)?.into(),
            Key::Endpoint(no) => {
                let was = self.endpoints.remove(no)?;
                self.endpoint_ids.remove(&was.id);
                was.into()
            }
            Key::EndpointSecret(key) => self.endpoint_secrets.remove(key)?.into(),
            Key::Queue(endpoint) => self.queues.remove(endpoint)?.into(),
            Key::Delivery(no) => {
                let was = self.deliveries.remove(no)?;
                self.deliveries_of.remove(&(was.endpoint, was.no));
                was.into()
            }
            // `shared::check` lets neither in.
            Key::Account(_) | Key::Transfer(_) => return None,
        })
    }

    fn get(&self, key: &Key) -> Option<Record> {
        Some(match key {
            Key::Client(key) => self.clients.get(key)?.clone().into(),
            Key::Key(key) => self.keys.get(key)?.clone().into(),
            Key::Token(key) => self.tokens.get(key)?.clone().into(),
            Key::Provider(key) => self.providers.get(key)?.clone().into(),
            Key::Account(key) => account((key, self.accounts.get(key)?)),
            Key::Settlement(key) => self.settlements.get(key)?.clone().into(),
            Key::Attempt(key) => self.attempts.get(key)?.clone().into(),
            Key::Reversal(key) => self.reversals.get(key)?.clone().into(),
            Key::Event(key) => self.events.get(key)?.clone().into(),
            Key::Transfer(key) => self.transfers.get(key)?.clone().into(),
            Key::Task(key) => self.tasks.get(key)?.clone().into(),
            Key::Idempotency(key) => self.idempotency.get(key)?.clone().into(),
            Key::SimPayment(key) => self.sim_payments.get(key)?.clone().into(),
            Key::Nonce(key) => self.nonces.get(key)?.clone().into(),
            Key::Secret(key) => self.secrets.get(key)?.clone().into(),
            Key::Audit(key) => self.audit.get(key)?.clone().into(),
            Key::Meta(key) => self.meta.get(key)?.clone().into(),
            Key::Unlogged(key) => self.unlogged.get(key)?.clone().into(),
            Key::Feed(key) => self.feed.get(key)?.clone().into(),
            Key::Tile(key) => self.tiles.get(key)?.clone().into(),
            Key::LogHead(key) => (*self.log_head.get(key)?).into(),
            Key::Endpoint(key) => self.endpoints.get(key)?.clone().into(),
            Key::EndpointSecret(key) => self.endpoint_secrets.get(key)?.clone().into(),
            Key::Queue(key) => self.queues.get(key)?.clone().into(),
            Key::Delivery(key) => self.deliveries.get(key)?.clone().into(),
        })
    }

    fn find(&self, unique: &Unique) -> Option<Record> {
        match unique {
            Unique::SettlementReference(client, reference) => {
                let no = self.of_client.get(client)?.references.get(reference.as_str())?;
                self.get(&Key::Settlement(*no))
            }
            Unique::ReversalReference(client, reference) => {
                let key = self.of_client.get(client)?.reversal_references.get(reference.as_str())?;
                self.get(&Key::Reversal(*key))
            }
            Unique::ClientId(id) => self.get(&Key::Client(*self.client_ids.get(id)?)),
            Unique::KeyId(id) => self.get(&Key::Key(*self.key_ids.get(id)?)),
            Unique::EndpointId(id) => self.get(&Key::Endpoint(*self.endpoint_ids.get(id)?)),
            Unique::FeedOf(settlement, n) => self.get(&Key::Feed(*self.feed_of.get(&(*settlement, *n))?)),
        }
    }

    fn scan(&self, scan: &Scan) -> Vec<Record> {
        match scan {
            Scan::SettlementsOf { client, filter, before, limit } => self.settlements_of(*client, filter, *before, *limit),
            Scan::Settlements { after, limit } => records(self.settlements.range((Excluded(*after), Unbounded)), *limit),
            Scan::LastSettlement => records(self.settlements.last_key_value(), 1),
            Scan::LastTransfer => records(self.transfers.last_key_value(), 1),
            Scan::Events { settlement, after, limit } => {
                records(self.events.range((Excluded((*settlement, *after)), Included((*settlement, u32::MAX)))), *limit)
            }
            Scan::Attempts(of) => records(self.attempts.range((*of, 0)..=(*of, u16::MAX)), usize::MAX),
            Scan::Reversals(of) => records(self.reversals.range((*of, 0)..=(*of, u16::MAX)), usize::MAX),
            Scan::Transfers(of) => records(self.transfers.range((*of, 0)..=(*of, u16::MAX)), usize::MAX),
            Scan::SimPayments(of) => records(self.sim_payments.range((*of, 0)..=(*of, u16::MAX)), usize::MAX),
            Scan::AllTransfers { after, limit } => records(self.transfers.range((Excluded(*after), Unbounded)), *limit),
            Scan::Tasks { after, until, limit } => {
                let due = self.tasks.range((Excluded(*after), Unbounded)).take_while(|(key, _)| key.due() <= *until);
                records(due, *limit)
            }
            Scan::AccountsOf(client) => {
                // A client's accounts lie together, beside those of other owners with the same number.
                let range = AccountId(i64::from(client.0) << 16)..AccountId((i64::from(client.0) + 1) << 16);
                let mine = self.accounts.range(range).filter(|(id, _)| id.owner() == Owner::Client(*client));
                mine.map(account).collect()
            }
            Scan::Accounts { after, limit } => self.accounts.range((Excluded(*after), Unbounded)).take(*limit).map(account).collect(),
            Scan::Clients { after, limit } => records(self.clients.range((Excluded(*after), Unbounded)), *limit),
            Scan::LastClient => records(self.clients.last_key_value(), 1),
            Scan::KeysOf(client) => {
                let mine = self.keys_of.range((*client, KeyNo(0))..=(*client, KeyNo(u32::MAX)));
                mine.filter_map(|(_, no)| self.keys.get(no)).map(|r| r.clone().into()).collect()
            }
            Scan::LastKey => records(self.keys.last_key_value(), 1),
            Scan::Providers => records(&self.providers, usize::MAX),
            Scan::Secrets => records(&self.secrets, usize::MAX),
            Scan::Audit { after, limit } => records(self.audit.range((Excluded(*after), Unbounded)), *limit),
            Scan::LastAudit => records(self.audit.last_key_value(), 1),
            Scan::IdempotencyBefore { created, limit } => records(self.idempotency.iter().filter(|(_, r)| r.created_at < *created), *limit),
            Scan::NoncesExpiredBefore { expired, limit } => records(self.nonces.iter().filter(|(_, r)| r.expires_at < *expired), *limit),
            Scan::TokensExpiredBefore { expired, limit } => records(self.tokens.iter().filter(|(_, r)| r.expires_at < *expired), *limit),
            Scan::Unlogged { limit } => records(&self.unlogged, *limit),
            Scan::Feed { client, mode, after, limit } => {
                let mine = (Excluded((*client, *mode, *after)), Included((*client, *mode, i64::MAX)));
                if *after == i64::MAX { Vec::new() } else { records(self.feed.range(mine), *limit) }
            }
            Scan::LastFeed(client, mode) => {
                records(self.feed.range((*client, *mode, i64::MIN)..=(*client, *mode, i64::MAX)).next_back(), 1)
            }
            Scan::AllFeeds { after, limit } => records(self.feed.range((Excluded(*after), Unbounded)), *limit),
            Scan::LogHead => records(self.log_head.last_key_value(), 1),
            Scan::Endpoints { after, limit } => records(self.endpoints.range((Excluded(*after), Unbounded)), *limit),
            Scan::EndpointsOf(client, mode) => {
                let there = |r: &EndpointRecord| (r.client, r.mode) == (*client, *mode) && r.status != EndpointStatus::Removed;
                records(self.endpoints.iter().filter(|(_, r)| there(r)), usize::MAX)
            }
            Scan::LastEndpoint => records(self.endpoints.last_key_value(), 1),
            Scan::EndpointSecrets(of) => records(self.endpoint_secrets.range((*of, 0)..=(*of, u32::MAX)), usize::MAX),
            Scan::Queues { troubled, until, limit } => {
                let due = self.queues.values().filter(|r| r.troubled == *troubled && r.due.is_some_and(|due| due <= *until));
                earliest(due, |r| (r.due, i64::from(r.endpoint.0)), *limit)
            }
            Scan::DeliveriesDue { endpoint, until, limit } => {
                let due = self.deliveries_of(*endpoint, None).filter(|r| r.due.is_some_and(|due| due <= *until));
                earliest(due, |r| (r.due, r.no), *limit)
            }
            Scan::DeliveriesOf { endpoint, before, status, limit } => {
                let newest_first = self.deliveries_of(*endpoint, Some(*before)).rev();
                let newest_first = newest_first.filter(|r| status.is_none_or(|it| it == r.status));
                newest_first.take(*limit).map(|r| r.clone().into()).collect()
            }
            Scan::DeliveriesBefore { before, limit } => records(self.deliveries.range((Unbounded, Excluded(*before))), *limit),
            Scan::All { from, limit } => self.all(from, *limit),
        }
    }

    fn all(&self, from: &Place, limit: usize) -> Vec<Record> {
        macro_rules! page {
            ($map:ident, $variant:ident) => {
                behind(&self.$map, if let Place::After(Key::$variant(key)) = from { Some(key) } else { None }).take(limit)
            };
        }
        macro_rules! all {
            ($map:ident, $variant:ident) => {
                records(page!($map, $variant), limit)
            };
        }
        match from.kind() {
            RecordKind::Client => all!(clients, Client),
            RecordKind::Key => all!(keys, Key),
            RecordKind::Token => all!(tokens, Token),
            RecordKind::Provider => all!(providers, Provider),
            RecordKind::Account => page!(accounts, Account).map(account).collect(),
            RecordKind::Settlement => all!(settlements, Settlement),
            RecordKind::Attempt => all!(attempts, Attempt),
            RecordKind::Reversal => all!(reversals, Reversal),
            RecordKind::Event => all!(events, Event),
            RecordKind::Transfer => all!(transfers, Transfer),
            RecordKind::Task => all!(tasks, Task),
            RecordKind::Idempotency => all!(idempotency, Idempotency),
            RecordKind::SimPayment => all!(sim_payments, SimPayment),
            RecordKind::Nonce => all!(nonces, Nonce),
            RecordKind::Secret => all!(secrets, Secret),
            RecordKind::Audit => all!(audit, Audit),
            RecordKind::Meta => all!(meta, Meta),
            RecordKind::Unlogged => all!(unlogged, Unlogged),
            RecordKind::Feed => all!(feed, Feed),
            RecordKind::Tile => all!(tiles, Tile),
            RecordKind::LogHead => all!(log_head, LogHead),
            RecordKind::Endpoint => all!(endpoints, Endpoint),
            RecordKind::EndpointSecret => all!(endpoint_secrets, EndpointSecret),
            RecordKind::Queue => all!(queues, Queue),
            RecordKind::Delivery => all!(deliveries, Delivery),
        }
    }

    fn deliveries_of(&self, endpoint: EndpointNo, before: Option<i64>) -> impl DoubleEndedIterator<Item = &DeliveryRecord> {
        let end = before.map_or(Included((endpoint, i64::MAX)), |no| Excluded((endpoint, no)));
        let mine = self.deliveries_of.range((Included((endpoint, i64::MIN)), end));
        mine.filter_map(|(_, no)| self.deliveries.get(no))
    }

    fn settlements_of(&self, client: ClientNo, filter: &SettlementFilter, before: Option<SettlementNo>, limit: usize) -> Vec<Record> {
        let Some(mine) = self.of_client.get(&client) else { return Vec::new() };
        let below = before.map_or(Unbounded, Excluded);
        let newest_first = mine.settlements.range((Unbounded, below)).rev().filter_map(|no| self.settlements.get(no));
        newest_first.filter(|r| matches(filter, r)).take(limit).map(|r| r.clone().into()).collect()
    }
}

/// Whether a settlement is one that the filter shows.
pub(super) fn matches(filter: &SettlementFilter, r: &SettlementRecord) -> bool {
    let SettlementFilter {
        status,
        currency,
        provider,
        to,
        reference,
        mode,
        created_from,
        created_to,
        min_amount,
        max_amount,
        needs_review,
    } = filter;
    let decimals = usize::from(r.currency.minor_units());
    (status.is_empty() || status.contains(&r.status))
        && currency.is_none_or(|it| it == r.currency)
        && provider.is_none_or(|it| it == r.provider)
        && to.as_ref().is_none_or(|it| it == r.to.as_str())
        && reference.as_ref().is_none_or(|it| it == r.reference.as_str())
        && mode.is_none_or(|it: Mode| it == r.mode)
        && created_from.is_none_or(|it| r.created_at >= it)
        && created_to.is_none_or(|it| r.created_at < it)
        && min_amount.is_none_or(|bound| r.amount >= bound[decimals])
        && max_amount.is_none_or(|bound| r.amount <= bound[decimals])
        && needs_review.is_none_or(|it| it == r.needs_review)
}

fn vacant<K: Ord, V>(map: &BTreeMap<K, V>, key: &K) -> bool {
    !map.contains_key(key)
}

fn add<K: Ord, V: Clone>(map: &mut BTreeMap<K, V>, key: K, value: &V) -> bool {
    match map.entry(key) {
        btree_map::Entry::Vacant(place) => {
            place.insert(value.clone());
            true
        }
        btree_map::Entry::Occupied(_) => false,
    }
}

fn swap<K: Ord, V: Clone>(map: &mut BTreeMap<K, V>, key: &K, new: &V, same: impl FnOnce(&V) -> bool) -> Option<V> {
    let old = map.get_mut(key)?;
    same(old).then(|| std::mem::replace(old, new.clone()))
}

/// The first of these by what they are due.
fn earliest<'a, V: Clone + Into<Record> + 'a>(
    found: impl Iterator<Item = &'a V>,
    due: impl Fn(&V) -> (Option<Millis>, i64),
    limit: usize,
) -> Vec<Record> {
    let mut found: Vec<&V> = found.collect();
    found.sort_by_key(|record| due(record));
    found.into_iter().take(limit).map(|record| record.clone().into()).collect()
}

fn behind<'m, K: Ord, V>(map: &'m BTreeMap<K, V>, after: Option<&K>) -> btree_map::Range<'m, K, V> {
    map.range::<K, _>((after.map_or(Unbounded, Excluded), Unbounded))
}

fn account((id, totals): (&AccountId, &Totals)) -> Record {
    AccountRecord { id: *id, totals: *totals }.into()
}

fn records<'a, K: 'a, V: Clone + Into<Record> + 'a>(found: impl IntoIterator<Item = (&'a K, &'a V)>, limit: usize) -> Vec<Record> {
    found.into_iter().take(limit).map(|(_, record)| record.clone().into()).collect()
}
