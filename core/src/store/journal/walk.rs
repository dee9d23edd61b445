//! The scans of the store as walks over a range of keys.

use std::ops::Bound;

use super::code;
use super::table::Table;
use crate::ledger::{AccountId, Owner};
use crate::store::memory::matches;
use crate::store::record::*;
use crate::store::rows::Read;
use crate::store::shared::MAX_EVENT;
use crate::store::{Place, Scan, StoreError};

/// Where a walk begins and ends, and in which direction it goes.
struct Way {
    from: Bound<Vec<u8>>,
    to: Bound<Vec<u8>>,
    backwards: bool,
    limit: usize,
    /// Nothing can be there.
    empty: bool,
}

/// What a walk does with a record.
enum Step {
    Take,
    Pass,
    Stop,
}

fn take_if(wanted: bool) -> Step {
    if wanted { Step::Take } else { Step::Pass }
}

/// All of a kind, by key.
fn all(kind: RecordKind) -> Way {
    let first = code::code(kind);
    Way { from: Bound::Included(vec![first]), to: Bound::Excluded(vec![first + 1]), backwards: false, limit: usize::MAX, empty: false }
}

/// On which side of all that can be there a key lies that no record can have.
fn is_beyond(key: &Key) -> bool {
    match key {
        Key::Event((no, _)) | Key::Attempt((no, _)) | Key::Reversal((no, _)) | Key::Transfer((no, _)) | Key::SimPayment((no, _)) => {
            no.0 > 0
        }
        _ => true,
    }
}

impl Way {
    /// Behind this key.
    fn after(self, key: &Key) -> Self {
        self.begin(key, Bound::Excluded)
    }

    /// From this key on, and with it.
    fn from(self, key: &Key) -> Self {
        self.begin(key, Bound::Included)
    }

    /// Before this key.
    fn before(self, key: &Key) -> Self {
        self.end(key, Bound::Excluded)
    }

    /// Up to this key, and with it.
    fn until(self, key: &Key) -> Self {
        self.end(key, Bound::Included)
    }

    fn begin(self, key: &Key, bound: fn(Vec<u8>) -> Bound<Vec<u8>>) -> Self {
        match code::key(key) {
            Some(from) => Self { from: bound(from), ..self },
            None if is_beyond(key) => Self { empty: true, ..self },
            None => self,
        }
    }

    fn end(self, key: &Key, bound: fn(Vec<u8>) -> Bound<Vec<u8>>) -> Self {
        match code::key(key) {
            Some(to) => Self { to: bound(to), ..self },
            None if is_beyond(key) => self,
            None => Self { empty: true, ..self },
        }
    }

    fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    fn backwards(self) -> Self {
        Self { backwards: true, ..self }
    }

    /// The last one.
    fn last(self) -> Self {
        self.backwards().limit(1)
    }
}

impl<const SERVER: bool> Table<SERVER> {
    fn walk(&self, way: Way, step: &dyn Fn(&Record) -> Step) -> Read<Vec<Record>> {
        let Way { from, to, backwards, limit, empty } = way;
        let empty = empty
            || match (&from, &to) {
                (Bound::Included(from), Bound::Included(to)) => from > to,
                (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) => from >= to,
                (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            };
        let mut found = Vec::new();
        if empty {
            return Ok(found);
        }
        let bound = |bound: Bound<Vec<u8>>| bound.map(Vec::into_boxed_slice);
        let mut range = self.rows.range((bound(from), bound(to)));
        while found.len() < limit {
            let next = if backwards { range.next_back() } else { range.next() };
            let Some((key, row)) = next else { break };
            let record = code::record::<SERVER>(key[0], row)?;
            match step(&record) {
                Step::Take => found.push(record),
                Step::Pass => {}
                Step::Stop => break,
            }
        }
        Ok(found)
    }

    fn page(&self, way: Way) -> Read<Vec<Record>> {
        self.walk(way, &|_| Step::Take)
    }

    /// The children of a settlement, or what has a number of its own: by the lowest and the highest key.
    fn between(&self, kind: RecordKind, first: &Key, last: &Key) -> Read<Vec<Record>> {
        self.page(all(kind).from(first).until(last))
    }

    pub(super) fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        match scan {
            Scan::SettlementsOf { client, filter, before, limit } => {
                let way = all(RecordKind::Settlement).backwards().limit(*limit);
                let way = match before {
                    Some(before) => way.before(&Key::Settlement(*before)),
                    None => way,
                };
                self.walk(way, &|it| take_if(matches!(it, Record::Settlement(r) if r.client == *client && matches(filter, r))))
            }
            Scan::Settlements { after, limit } => self.page(all(RecordKind::Settlement).after(&Key::Settlement(*after)).limit(*limit)),
            Scan::LastSettlement => self.page(all(RecordKind::Settlement).last()),
            Scan::LastTransfer => self.page(all(RecordKind::Transfer).last()),
            Scan::Events { settlement, after, limit } => {
                if *after >= MAX_EVENT {
                    return Ok(Vec::new());
                }
                let way = all(RecordKind::Event).after(&Key::Event((*settlement, *after))).until(&Key::Event((*settlement, MAX_EVENT)));
                self.page(way.limit(*limit))
            }
            Scan::Attempts(of) => self.between(RecordKind::Attempt, &Key::Attempt((*of, 0)), &Key::Attempt((*of, u16::MAX))),
            Scan::Reversals(of) => self.between(RecordKind::Reversal, &Key::Reversal((*of, 0)), &Key::Reversal((*of, u16::MAX))),
            Scan::Transfers(of) => self.between(RecordKind::Transfer, &Key::Transfer((*of, 0)), &Key::Transfer((*of, u16::MAX))),
            Scan::SimPayments(of) => self.between(RecordKind::SimPayment, &Key::SimPayment((*of, 0)), &Key::SimPayment((*of, u16::MAX))),
            Scan::AllTransfers { after, limit } => self.page(all(RecordKind::Transfer).after(&Key::Transfer(*after)).limit(*limit)),
            Scan::Tasks { after, until, limit } => {
                let way = all(RecordKind::Task).after(&Key::Task(*after)).limit(*limit);
                self.walk(way, &|it| match it {
                    Record::Task(task) if task.key.due() <= *until => Step::Take,
                    _ => Step::Stop,
                })
            }
            Scan::AccountsOf(client) => {
                // A client's accounts lie together, beside those of other owners with the same number.
                let number = i64::from(client.0);
                let way = all(RecordKind::Account).from(&Key::Account(AccountId(number << 16)));
                let way = way.before(&Key::Account(AccountId((number + 1) << 16)));
                self.walk(way, &|it| take_if(matches!(it, Record::Account(r) if r.id.owner() == Owner::Client(*client))))
            }
            Scan::Accounts { after, limit } => self.page(all(RecordKind::Account).after(&Key::Account(*after)).limit(*limit)),
            Scan::Clients { after, limit } => self.page(all(RecordKind::Client).after(&Key::Client(*after)).limit(*limit)),
            Scan::LastClient => self.page(all(RecordKind::Client).last()),
            Scan::KeysOf(client) if SERVER => {
                self.walk(all(RecordKind::Key), &|it| take_if(matches!(it, Record::Key(r) if r.client == *client)))
            }
            Scan::LastKey => self.page(all(RecordKind::Key).last()),
            Scan::Providers => self.page(all(RecordKind::Provider)),
            Scan::Secrets => self.page(all(RecordKind::Secret)),
            Scan::Audit { after, limit } if SERVER => self.page(all(RecordKind::Audit).after(&Key::Audit(*after)).limit(*limit)),
            Scan::LastAudit if SERVER => self.page(all(RecordKind::Audit).last()),
            Scan::IdempotencyBefore { created, limit } => {
                let way = all(RecordKind::Idempotency).limit(*limit);
                self.walk(way, &|it| take_if(matches!(it, Record::Idempotency(r) if r.created_at < *created)))
            }
            Scan::NoncesExpiredBefore { expired, limit } if SERVER => {
                let way = all(RecordKind::Nonce).limit(*limit);
                self.walk(way, &|it| take_if(matches!(it, Record::Nonce(r) if r.expires_at < *expired)))
            }
            Scan::TokensExpiredBefore { expired, limit } if SERVER => {
                let way = all(RecordKind::Token).limit(*limit);
                self.walk(way, &|it| take_if(matches!(it, Record::Token(r) if r.expires_at < *expired)))
            }
            Scan::Unlogged { limit } if SERVER => self.page(all(RecordKind::Unlogged).limit(*limit)),
            Scan::Feed { client, mode, after, limit } => {
                let way = all(RecordKind::Feed).after(&Key::Feed((*client, *mode, *after)));
                self.page(way.until(&Key::Feed((*client, *mode, i64::MAX))).limit(*limit))
            }
            Scan::LastFeed(client, mode) => {
                let way = all(RecordKind::Feed).from(&Key::Feed((*client, *mode, i64::MIN)));
                self.page(way.until(&Key::Feed((*client, *mode, i64::MAX))).last())
            }
            Scan::AllFeeds { after, limit } => self.page(all(RecordKind::Feed).after(&Key::Feed(*after)).limit(*limit)),
            Scan::LogHead => self.page(all(RecordKind::LogHead).last()),
            Scan::Endpoints { after, limit } if SERVER => self.page(all(RecordKind::Endpoint).after(&Key::Endpoint(*after)).limit(*limit)),
            Scan::LastEndpoint => self.page(all(RecordKind::Endpoint).last()),
            Scan::EndpointSecrets(of) if SERVER => {
                let (first, last) = (Key::EndpointSecret((*of, 0)), Key::EndpointSecret((*of, u32::MAX)));
                self.between(RecordKind::EndpointSecret, &first, &last)
            }
            Scan::EndpointsOf(..)
            | Scan::Queues { .. }
            | Scan::DeliveriesDue { .. }
            | Scan::DeliveriesOf { .. }
            | Scan::DeliveriesBefore { .. }
                if SERVER =>
            {
                self.scan_webhooks(scan)
            }
            Scan::KeysOf(_)
            | Scan::Audit { .. }
            | Scan::LastAudit
            | Scan::NoncesExpiredBefore { .. }
            | Scan::TokensExpiredBefore { .. } => Ok(Vec::new()),
            Scan::Unlogged { .. } | Scan::Endpoints { .. } | Scan::EndpointSecrets(_) | Scan::EndpointsOf(..) => Ok(Vec::new()),
            Scan::Queues { .. } | Scan::DeliveriesDue { .. } | Scan::DeliveriesOf { .. } | Scan::DeliveriesBefore { .. } => Ok(Vec::new()),
            Scan::All { from: Place::First(kind), limit } => self.page(all(*kind).limit(*limit)),
            Scan::All { from: Place::After(key), limit } => self.page(all(key.kind()).after(key).limit(*limit)),
        }
    }

    fn scan_webhooks(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        match scan {
            Scan::EndpointsOf(client, mode) => self.walk(all(RecordKind::Endpoint), &|it| {
                let mine = |r: &EndpointRecord| (r.client, r.mode) == (*client, *mode) && r.status != EndpointStatus::Removed;
                take_if(matches!(it, Record::Endpoint(r) if mine(r)))
            }),
            Scan::Queues { troubled, until, limit } => {
                let due = |r: &QueueRecord| r.troubled == *troubled && r.due.is_some_and(|due| due <= *until);
                let found = self.walk(all(RecordKind::Queue), &|it| take_if(matches!(it, Record::Queue(r) if due(r))))?;
                Ok(earliest(found, *limit))
            }
            Scan::DeliveriesDue { endpoint, until, limit } => {
                let due = |r: &DeliveryRecord| r.endpoint == *endpoint && r.due.is_some_and(|due| due <= *until);
                let found = self.walk(all(RecordKind::Delivery), &|it| take_if(matches!(it, Record::Delivery(r) if due(r))))?;
                Ok(earliest(found, *limit))
            }
            Scan::DeliveriesOf { endpoint, before, status, limit } => {
                let way = all(RecordKind::Delivery).before(&Key::Delivery(*before)).backwards().limit(*limit);
                let wanted = |r: &DeliveryRecord| r.endpoint == *endpoint && status.is_none_or(|status| status == r.status);
                self.walk(way, &|it| take_if(matches!(it, Record::Delivery(r) if wanted(r))))
            }
            Scan::DeliveriesBefore { before, limit } => self.page(all(RecordKind::Delivery).before(&Key::Delivery(*before)).limit(*limit)),
            _ => Ok(Vec::new()),
        }
    }
}

/// The first of these by when they are due, and by their numbers.
fn earliest(mut found: Vec<Record>, limit: usize) -> Vec<Record> {
    found.sort_by_key(|record| match record {
        Record::Queue(r) => (r.due, i64::from(r.endpoint.0)),
        Record::Delivery(r) => (r.due, r.no),
        _ => (None, 0),
    });
    found.truncate(limit);
    found
}
