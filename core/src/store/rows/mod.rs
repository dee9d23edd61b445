//! How a record lies in a table of either database: one pair of functions a kind, in the order of its columns.
//!
//! Each database says how a value gets into a column ([`Sink`]) and out of it again ([`Source`]); its SQL is its own.

mod access;
mod cell;
mod log;
mod webhook;

use crate::ids::{ClientNo, ProviderNo, SettlementNo};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use crate::ids::{EndpointNo, KeyNo};
use crate::ledger::{AccountId, Mode, Totals, Transfer, TransferCode, TransferKind};
use crate::lifecycle::{AttemptStatus, ReversalStatus, SettlementStatus, StateName};
use crate::money::Currency;
use crate::participant::{Participant, Reference};
/// There is one table a kind.
pub(crate) use crate::store::record::RecordKind as Table;
use crate::store::record::*;
use crate::store::shared::{MAX_NO, tile_key};
use crate::validate::ReversalReason;

/// The columns of each table, in the order in which records are bound and read.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
macro_rules! columns {
    (client) => {
        "no, id, name, suspended, webhook_secret, created_at"
    };
    (key) => {
        "no, id, client, mode, algorithm, public, scopes, status, label, created_at, revoked_at"
    };
    (token) => {
        "hash, client, key, mode, scopes, created_at, expires_at"
    };
    (provider) => {
        "no, id"
    };
    (account) => {
        "id, debits_pending, debits_posted, credits_pending, credits_posted"
    };
    (settlement) => {
        "no, client, reference, mode, status, version, needs_review, amount, currency, recipient, provider, fee, reversed, \
         reversing, attempts, reversals, transfers, hold, salt, head, created_at, updated_at, completed_at, expires_at, more"
    };
    (event) => {
        "k, kind, at, from_state, to_state, actor, child, data, hash"
    };
    (attempt) => {
        "k, provider, status, sends, started_at, answered_at"
    };
    (reversal) => {
        "k, client, reference, status, amount, reason, description, hold, needs_review, rail_reference, failure, created_at, \
         updated_at, completed_at"
    };
    (transfer) => {
        "k, kind, code, debit, credit, amount, resolves, at"
    };
    (task) => {
        "key, kind, settlement, child, tries, since, owner"
    };
    (idempotency) => {
        "client, key, fingerprint, settlement, reversal, created_at"
    };
    (sim_payment) => {
        "k, provider, received, received_at"
    };
    (nonce) => {
        "hash, expires_at"
    };
    (secret) => {
        "kind, no, sealed, public, created_at, retired_at"
    };
    (audit) => {
        "no, at, client, key, action, target, name, refused"
    };
    (meta) => {
        "name, value"
    };
    (unlogged) => {
        "no, changes"
    };
    (feed) => {
        "owner, position, k, at, leaf"
    };
    (tile) => {
        "k, entries"
    };
    (log_head) => {
        "size, owner, until"
    };
    (endpoint) => {
        "no, id, version, client, mode, status, url, topics, description, created_at, updated_at"
    };
    (endpoint_secret) => {
        "endpoint, n, sealed, created_at, until"
    };
    (queue) => {
        "endpoint, version, troubled, due, owner, added, failing_since"
    };
    (delivery) => {
        "no, endpoint, message, topic, cause, status, attempts, due, settlement, n, body, last"
    };
}
pub(crate) use cell::{Bound, Read, Sink, Source};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) use columns;
pub(crate) use log::feed_owner;

/// The key of child `n` of settlement `no`; `None` where no such child can be.
pub(crate) fn child_key(no: SettlementNo, n: u32) -> Option<i64> {
    let fits = no.0.unsigned_abs() <= MAX_NO.unsigned_abs() && n <= u32::from(u16::MAX);
    fits.then_some(no.0 << 16 | i64::from(n))
}

/// Binds a whole record, its key first.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn bind<S: Sink>(record: &Record, b: &mut S) -> Bound<S> {
    bind_of::<true, S>(record, b)
}

/// The same in a program that has only what a sandbox writes unless it has a `SERVER`'s: keys, tokens, the log and webhooks.
pub(crate) fn bind_of<const SERVER: bool, S: Sink>(record: &Record, b: &mut S) -> Bound<S> {
    match record {
        Record::Settlement(r) => settlement(r, b),
        Record::Event(r) => event(r, b),
        Record::Task(r) => task(r, b),
        Record::Attempt(r) => attempt(r, b),
        Record::Reversal(r) => reversal(r, b),
        Record::Idempotency(r) => idempotency(r, b),
        Record::SimPayment(r) => sim_payment(r, b),
        Record::Transfer(r) => transfer(r, b),
        Record::Account(r) => account(r.id, &r.totals, b),
        Record::Client(r) => access::client(r, b),
        Record::Key(r) if SERVER => access::key(r, b),
        Record::Token(r) if SERVER => access::token(r, b),
        Record::Nonce(r) if SERVER => access::nonce(r, b),
        Record::Secret(r) => access::secret(r, b),
        Record::Audit(r) if SERVER => access::audit(r, b),
        Record::Provider(r) => {
            b.put(r.no.0)?;
            b.put(r.id.as_str())
        }
        Record::Meta(r) => {
            b.put(r.name.as_str())?;
            b.put(r.value.as_slice())
        }
        Record::Unlogged(r) if SERVER => log::unlogged(r, b),
        Record::Feed(r) => log::feed(r, b),
        Record::Tile(r) if SERVER => log::tile(r, b),
        Record::LogHead(r) if SERVER => log::log_head(r, b),
        Record::Endpoint(r) if SERVER => webhook::endpoint(r, b),
        Record::EndpointSecret(r) if SERVER => webhook::secret(r, b),
        Record::Queue(r) if SERVER => webhook::queue(r, b),
        Record::Delivery(r) if SERVER => webhook::delivery(r, b),
        Record::Key(_) | Record::Token(_) | Record::Nonce(_) | Record::Audit(_) | Record::Unlogged(_) | Record::Tile(_) => foreign::<S>(),
        Record::LogHead(_) | Record::Endpoint(_) | Record::EndpointSecret(_) | Record::Queue(_) | Record::Delivery(_) => foreign::<S>(),
    }
}

fn foreign<S: Sink>() -> Bound<S> {
    Err(S::failed(serde::ser::Error::custom("no sandbox has such a record")))
}

fn settlement<S: Sink>(r: &SettlementRecord, b: &mut S) -> Bound<S> {
    b.put(r.no.0)?;
    b.put(r.client.0)?;
    b.put(r.reference.as_str())?;
    b.put(r.mode.code())?;
    b.put(r.status.code())?;
    b.put(r.version)?;
    b.put(r.needs_review)?;
    b.put(r.amount)?;
    b.put(r.currency.numeric())?;
    b.put(r.to.as_str())?;
    b.put(r.provider.0)?;
    b.put(r.fee)?;
    b.put(r.reversed)?;
    b.put(r.reversing)?;
    b.put(r.attempts)?;
    b.put(r.reversals)?;
    b.put(r.transfers)?;
    b.put(r.hold)?;
    b.put(r.salt as i64)?;
    b.put(r.head.as_slice())?;
    b.put(r.created_at)?;
    b.put(r.updated_at)?;
    b.put(r.completed_at)?;
    b.put(r.expires_at)?;
    b.json(r.more.as_deref())
}

fn event<S: Sink>(r: &EventRecord, b: &mut S) -> Bound<S> {
    b.child(r.settlement, r.n)?;
    b.put(r.kind.code())?;
    b.put(r.at)?;
    b.put(r.from.map(StateName::code))?;
    b.put(r.to.map(StateName::code))?;
    b.put(r.actor.code())?;
    b.put(r.child)?;
    b.put(r.data.as_deref())?;
    b.put(r.hash.as_slice())
}

fn attempt<S: Sink>(r: &AttemptRecord, b: &mut S) -> Bound<S> {
    b.child(r.settlement, r.n.into())?;
    b.put(r.provider.0)?;
    b.put(r.status.code())?;
    b.put(r.sends)?;
    b.put(r.started_at)?;
    b.put(r.answered_at)
}

fn reversal<S: Sink>(r: &ReversalRecord, b: &mut S) -> Bound<S> {
    b.child(r.settlement, r.n.into())?;
    b.put(r.client.0)?;
    b.put(r.reference.as_ref().map(Reference::as_str))?;
    b.put(r.status.code())?;
    b.put(r.amount)?;
    b.put(r.reason.map(ReversalReason::code))?;
    b.put(r.description.as_deref())?;
    b.put(r.hold)?;
    b.put(r.needs_review)?;
    b.put(r.rail_reference.as_deref())?;
    b.json(r.failure.as_ref())?;
    b.put(r.created_at)?;
    b.put(r.updated_at)?;
    b.put(r.completed_at)
}

pub(crate) fn transfer<S: Sink>(r: &Transfer, b: &mut S) -> Bound<S> {
    b.child(r.journal, r.n.into())?;
    b.put(r.kind.code())?;
    b.put(r.code.code())?;
    b.put(r.debit.0)?;
    b.put(r.credit.0)?;
    b.put(r.amount)?;
    b.put(r.resolves)?;
    b.put(r.at)
}

pub(crate) fn account<S: Sink>(id: AccountId, totals: &Totals, b: &mut S) -> Bound<S> {
    b.put(id.0)?;
    b.put(totals.debits_pending)?;
    b.put(totals.debits_posted)?;
    b.put(totals.credits_pending)?;
    b.put(totals.credits_posted)
}

fn task<S: Sink>(r: &TaskRecord, b: &mut S) -> Bound<S> {
    b.put(r.key.0)?;
    b.put(r.kind.code())?;
    b.put(r.settlement.0)?;
    b.put(r.child)?;
    b.put(r.tries)?;
    b.put(r.since)?;
    b.put(r.owner)
}

fn idempotency<S: Sink>(r: &IdempotencyRecord, b: &mut S) -> Bound<S> {
    b.put(r.client.0)?;
    b.put(r.key.as_str())?;
    b.put(r.fingerprint.as_slice())?;
    b.put(r.settlement.0)?;
    b.put(r.reversal)?;
    b.put(r.created_at)
}

fn sim_payment<S: Sink>(r: &SimPaymentRecord, b: &mut S) -> Bound<S> {
    b.child(r.settlement, r.child.into())?;
    b.put(r.provider.0)?;
    b.put(r.received)?;
    b.put(r.received_at)
}

/// Binds a primary key.
pub(crate) fn bind_key<S: Sink>(key: &Key, b: &mut S) -> Bound<S> {
    match key {
        Key::Client(no) => b.put(no.0),
        Key::Key(no) => b.put(no.0),
        Key::Token(hash) | Key::Nonce(hash) => b.put(hash.as_slice()),
        Key::Secret((kind, no)) => {
            b.put(kind.code())?;
            b.put(*no)
        }
        Key::Audit(no) => b.put(*no),
        Key::Provider(no) => b.put(no.0),
        Key::Account(id) => b.put(id.0),
        Key::Settlement(no) => b.put(no.0),
        Key::Event((no, n)) => b.child(*no, *n),
        Key::Attempt((no, n)) | Key::Reversal((no, n)) | Key::Transfer((no, n)) | Key::SimPayment((no, n)) => b.child(*no, (*n).into()),
        Key::Task(key) => b.put(key.0),
        Key::Idempotency((client, key)) => {
            b.put(client.0)?;
            b.put(key.as_str())
        }
        Key::Meta(name) => b.put(name.as_str()),
        Key::Unlogged(no) | Key::LogHead(no) | Key::Delivery(no) => b.put(*no),
        Key::Feed((client, mode, position)) => {
            b.put(feed_owner(*client, *mode))?;
            b.put(*position)
        }
        Key::Tile((level, index)) => b.put(tile_key(*level, *index)),
        Key::Endpoint(no) | Key::Queue(no) => b.put(no.0),
        Key::EndpointSecret((endpoint, n)) => {
            b.put(endpoint.0)?;
            b.put(*n)
        }
    }
}

/// Reads a primary key, its columns in order.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn read_key(table: Table, c: &mut impl Source) -> Read<Key> {
    Ok(match table {
        Table::Client => Key::Client(ClientNo(c.int()?)),
        Table::Key => Key::Key(KeyNo(c.int()?)),
        Table::Token => Key::Token(c.array()?),
        Table::Nonce => Key::Nonce(c.array()?),
        Table::Provider => Key::Provider(ProviderNo(c.int()?)),
        Table::Account => Key::Account(AccountId(c.int()?)),
        Table::Settlement => Key::Settlement(SettlementNo(c.int()?)),
        Table::Event => {
            let (settlement, n) = c.child()?;
            Key::Event((settlement, n.into()))
        }
        Table::Attempt => Key::Attempt(c.child()?),
        Table::Reversal => Key::Reversal(c.child()?),
        Table::Transfer => Key::Transfer(c.child()?),
        Table::SimPayment => Key::SimPayment(c.child()?),
        Table::Task => Key::Task(TaskKey(c.int()?)),
        Table::Idempotency => Key::Idempotency((ClientNo(c.int()?), c.text()?)),
        Table::Secret => Key::Secret((c.code(SecretKind::from_code)?, c.int()?)),
        Table::Audit => Key::Audit(c.int()?),
        Table::Meta => Key::Meta(c.text()?),
        Table::Unlogged => Key::Unlogged(c.int()?),
        Table::Feed => {
            let (client, mode) = log::read_feed_owner(c)?;
            Key::Feed((client, mode, c.int()?))
        }
        Table::Tile => Key::Tile(log::read_tile_key(c)?),
        Table::LogHead => Key::LogHead(c.int()?),
        Table::Endpoint => Key::Endpoint(EndpointNo(c.int()?)),
        Table::EndpointSecret => Key::EndpointSecret((EndpointNo(c.int()?), c.int()?)),
        Table::Queue => Key::Queue(EndpointNo(c.int()?)),
        Table::Delivery => Key::Delivery(c.int()?),
    })
}

/// Reads a row of `table`, all its columns in order.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn record(table: Table, c: &mut impl Source) -> Read<Record> {
    record_of::<true, _>(table, c)
}

/// The same as [`bind_of`] is of [`bind`].
pub(crate) fn record_of<const SERVER: bool, C: Source>(table: Table, c: &mut C) -> Read<Record> {
    Ok(match table {
        Table::Settlement => read_settlement(c)?.into(),
        Table::Reversal => read_reversal(c)?.into(),
        Table::Event => read_event(c)?.into(),
        Table::Attempt => {
            let (settlement, n) = c.child()?;
            let (provider, status) = (ProviderNo(c.int()?), c.code(AttemptStatus::from_code)?);
            AttemptRecord { settlement, n, provider, status, sends: c.int()?, started_at: c.int()?, answered_at: c.optional()? }.into()
        }
        Table::Transfer => read_transfer(c)?.into(),
        Table::Task => read_task(c)?.into(),
        Table::Account => AccountRecord { id: AccountId(c.int()?), totals: totals(c)? }.into(),
        Table::Idempotency => IdempotencyRecord {
            client: ClientNo(c.int()?),
            key: c.text()?,
            fingerprint: c.array()?,
            settlement: SettlementNo(c.int()?),
            reversal: c.int()?,
            created_at: c.int()?,
        }
        .into(),
        Table::SimPayment => {
            let (settlement, child) = c.child()?;
            SimPaymentRecord { settlement, child, provider: ProviderNo(c.int()?), received: c.int()?, received_at: c.int()? }.into()
        }
        Table::Client => access::read_client(c)?.into(),
        Table::Key if SERVER => access::read_key(c)?.into(),
        Table::Token if SERVER => access::read_token(c)?.into(),
        Table::Nonce if SERVER => access::read_nonce(c)?.into(),
        Table::Secret => access::read_secret(c)?.into(),
        Table::Audit if SERVER => access::read_audit(c)?.into(),
        Table::Provider => ProviderRecord { no: ProviderNo(c.int()?), id: c.text()? }.into(),
        Table::Meta => MetaRecord { name: c.text()?, value: c.bytes()?.to_vec() }.into(),
        Table::Unlogged if SERVER => log::read_unlogged(c)?.into(),
        Table::Feed => log::read_feed(c)?.into(),
        Table::Tile if SERVER => log::read_tile(c)?.into(),
        Table::LogHead if SERVER => log::read_log_head(c)?.into(),
        Table::Endpoint if SERVER => webhook::read_endpoint(c)?.into(),
        Table::EndpointSecret if SERVER => webhook::read_secret(c)?.into(),
        Table::Queue if SERVER => webhook::read_queue(c)?.into(),
        Table::Delivery if SERVER => webhook::read_delivery(c)?.into(),
        Table::Key | Table::Token | Table::Nonce | Table::Audit | Table::Unlogged | Table::Tile => c.bad("what a sandbox has")?,
        Table::LogHead | Table::Endpoint | Table::EndpointSecret | Table::Queue | Table::Delivery => c.bad("what a sandbox has")?,
    })
}

fn read_settlement(c: &mut impl Source) -> Read<SettlementRecord> {
    Ok(SettlementRecord {
        no: SettlementNo(c.int()?),
        client: ClientNo(c.int()?),
        reference: Reference::from_stored(c.text()?),
        mode: c.code(Mode::from_code)?,
        status: c.code(SettlementStatus::from_code)?,
        version: c.int()?,
        needs_review: c.flag()?,
        amount: c.int()?,
        currency: Currency::from_numeric(c.int()?).map_or_else(|| c.bad("a currency"), Ok)?,
        to: Participant::from_stored(c.text()?).map_or_else(|| c.bad("a participant"), Ok)?,
        provider: ProviderNo(c.int()?),
        fee: c.int()?,
        reversed: c.int()?,
        reversing: c.int()?,
        attempts: c.int()?,
        reversals: c.int()?,
        transfers: c.int()?,
        hold: c.int()?,
        salt: c.int::<i64>()? as u64,
        head: c.array()?,
        created_at: c.int()?,
        updated_at: c.int()?,
        completed_at: c.optional()?,
        expires_at: c.optional()?,
        more: c.json()?,
    })
}

fn read_reversal(c: &mut impl Source) -> Read<ReversalRecord> {
    let (settlement, n) = c.child()?;
    Ok(ReversalRecord {
        settlement,
        n,
        client: ClientNo(c.int()?),
        reference: c.optional_text()?.map(Reference::from_stored),
        status: c.code(ReversalStatus::from_code)?,
        amount: c.int()?,
        reason: c.optional_code(ReversalReason::from_code)?,
        description: c.optional_text()?,
        hold: c.int()?,
        needs_review: c.flag()?,
        rail_reference: c.optional_text()?,
        failure: c.json()?,
        created_at: c.int()?,
        updated_at: c.int()?,
        completed_at: c.optional()?,
    })
}

fn read_event(c: &mut impl Source) -> Read<EventRecord> {
    let (settlement, n) = c.child()?;
    Ok(EventRecord {
        settlement,
        n: n.into(),
        kind: c.code(EventType::from_code)?,
        at: c.int()?,
        from: c.optional_code(StateName::from_code)?,
        to: c.optional_code(StateName::from_code)?,
        actor: c.code(Actor::from_code)?,
        child: c.int()?,
        data: c.optional_text()?,
        hash: c.array()?,
    })
}

fn read_transfer(c: &mut impl Source) -> Read<Transfer> {
    let (journal, n) = c.child()?;
    Ok(Transfer {
        journal,
        n,
        kind: c.code(TransferKind::from_code)?,
        code: c.code(TransferCode::from_code)?,
        debit: AccountId(c.int()?),
        credit: AccountId(c.int()?),
        amount: c.int()?,
        resolves: c.int()?,
        at: c.int()?,
    })
}

fn read_task(c: &mut impl Source) -> Read<TaskRecord> {
    Ok(TaskRecord {
        key: TaskKey(c.int()?),
        kind: c.code(TaskKind::from_code)?,
        settlement: SettlementNo(c.int()?),
        child: c.int()?,
        tries: c.int()?,
        since: c.int()?,
        owner: c.int()?,
    })
}

/// The four totals of an account.
pub(crate) fn totals(c: &mut impl Source) -> Read<Totals> {
    Ok(Totals { debits_pending: c.int()?, debits_posted: c.int()?, credits_pending: c.int()?, credits_posted: c.int()? })
}
