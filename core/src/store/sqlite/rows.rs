//! How a record lies in its table: one pair of functions a kind, in the order of its columns.
//!
//! Writing binds by position without a copy or an allocation of our own; reading trusts nothing that it finds.

mod access;
mod log;
mod webhook;

use rusqlite::types::{Null, ToSql, ValueRef};
use rusqlite::{Row, Statement};

use crate::ids::{ClientNo, ProviderNo, SettlementNo};
use crate::ledger::{AccountId, Mode, Totals, Transfer, TransferCode, TransferKind};
use crate::lifecycle::{AttemptStatus, ReversalStatus, SettlementStatus, StateName};
use crate::money::Currency;
use crate::participant::{Participant, Reference};
use crate::store::StoreError;
use crate::store::record::*;
use crate::store::shared::{MAX_NO, tile_key};
use crate::validate::ReversalReason;

/// The columns of each table, in the order in which records are bound and read.
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
pub(super) use columns;
pub(super) use log::feed_owner;

/// The key of child `n` of settlement `no`; `None` where no such child can be.
pub(super) fn child_key(no: SettlementNo, n: u32) -> Option<i64> {
    let fits = no.0.unsigned_abs() <= MAX_NO.unsigned_abs() && n <= u32::from(u16::MAX);
    fits.then_some(no.0 << 16 | i64::from(n))
}

/// Binds one parameter after another.
pub(super) struct Bind<'s, 'c> {
    statement: &'s mut Statement<'c>,
    next: usize,
}

type Bound = rusqlite::Result<()>;

impl<'s, 'c> Bind<'s, 'c> {
    /// From the first parameter on.
    pub(super) fn new(statement: &'s mut Statement<'c>) -> Self {
        Self { statement, next: 1 }
    }

    /// The next parameter.
    #[inline]
    pub(super) fn put(&mut self, value: impl ToSql) -> Bound {
        self.statement.raw_bind_parameter(self.next, value)?;
        self.next += 1;
        Ok(())
    }

    #[inline]
    fn child(&mut self, no: SettlementNo, n: u32) -> Bound {
        // `shared::check` refused what does not fit.
        self.put(no.0 << 16 | i64::from(n))
    }

    fn json<T: serde::Serialize>(&mut self, value: Option<&T>) -> Bound {
        match value {
            None => self.put(Null),
            Some(value) => self.put(serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?),
        }
    }
}

/// Binds a whole record, its key first.
pub(super) fn bind(record: &Record, statement: &mut Statement<'_>) -> Bound {
    bind_all(record, &mut Bind::new(statement))
}

fn bind_all(record: &Record, b: &mut Bind<'_, '_>) -> Bound {
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
        Record::Key(r) => access::key(r, b),
        Record::Token(r) => access::token(r, b),
        Record::Nonce(r) => access::nonce(r, b),
        Record::Secret(r) => access::secret(r, b),
        Record::Audit(r) => access::audit(r, b),
        Record::Provider(r) => {
            b.put(r.no.0)?;
            b.put(r.id.as_str())
        }
        Record::Meta(r) => {
            b.put(r.name.as_str())?;
            b.put(r.value.as_slice())
        }
        Record::Unlogged(r) => log::unlogged(r, b),
        Record::Feed(r) => log::feed(r, b),
        Record::Tile(r) => log::tile(r, b),
        Record::LogHead(r) => log::log_head(r, b),
        Record::Endpoint(r) => webhook::endpoint(r, b),
        Record::EndpointSecret(r) => webhook::secret(r, b),
        Record::Queue(r) => webhook::queue(r, b),
        Record::Delivery(r) => webhook::delivery(r, b),
    }
}

/// Binds a whole record, and behind it the version that it replaces.
pub(super) fn bind_update(record: &Record, expected: u32, statement: &mut Statement<'_>) -> Bound {
    let b = &mut Bind::new(statement);
    bind_all(record, b)?;
    b.put(expected)
}

fn settlement(r: &SettlementRecord, b: &mut Bind<'_, '_>) -> Bound {
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

fn event(r: &EventRecord, b: &mut Bind<'_, '_>) -> Bound {
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

fn attempt(r: &AttemptRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.child(r.settlement, r.n.into())?;
    b.put(r.provider.0)?;
    b.put(r.status.code())?;
    b.put(r.sends)?;
    b.put(r.started_at)?;
    b.put(r.answered_at)
}

fn reversal(r: &ReversalRecord, b: &mut Bind<'_, '_>) -> Bound {
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

pub(super) fn transfer(r: &Transfer, b: &mut Bind<'_, '_>) -> Bound {
    b.child(r.journal, r.n.into())?;
    b.put(r.kind.code())?;
    b.put(r.code.code())?;
    b.put(r.debit.0)?;
    b.put(r.credit.0)?;
    b.put(r.amount)?;
    b.put(r.resolves)?;
    b.put(r.at)
}

pub(super) fn account(id: AccountId, totals: &Totals, b: &mut Bind<'_, '_>) -> Bound {
    b.put(id.0)?;
    b.put(totals.debits_pending)?;
    b.put(totals.debits_posted)?;
    b.put(totals.credits_pending)?;
    b.put(totals.credits_posted)
}

fn task(r: &TaskRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(r.key.0)?;
    b.put(r.kind.code())?;
    b.put(r.settlement.0)?;
    b.put(r.child)?;
    b.put(r.tries)?;
    b.put(r.since)?;
    b.put(r.owner)
}

fn idempotency(r: &IdempotencyRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(r.client.0)?;
    b.put(r.key.as_str())?;
    b.put(r.fingerprint.as_slice())?;
    b.put(r.settlement.0)?;
    b.put(r.reversal)?;
    b.put(r.created_at)
}

fn sim_payment(r: &SimPaymentRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.child(r.settlement, r.child.into())?;
    b.put(r.provider.0)?;
    b.put(r.received)?;
    b.put(r.received_at)
}

/// Binds a primary key.
pub(super) fn bind_key(key: &Key, statement: &mut Statement<'_>) -> Bound {
    let b = &mut Bind::new(statement);
    match key {
        Key::Client(no) => b.put(no.0),
        Key::Key(no) => b.put(no.0),
        Key::Token(hash) | Key::Nonce(hash) => b.put(hash.as_slice()),
        Key::Secret((kind, no)) => {
            b.put(kind.code())?;
            b.put(no)
        }
        Key::Audit(no) => b.put(no),
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
        Key::Unlogged(no) | Key::LogHead(no) | Key::Delivery(no) => b.put(no),
        Key::Feed((client, mode, position)) => {
            b.put(feed_owner(*client, *mode))?;
            b.put(position)
        }
        Key::Tile((level, index)) => b.put(tile_key(*level, *index)),
        Key::Endpoint(no) | Key::Queue(no) => b.put(no.0),
        Key::EndpointSecret((endpoint, n)) => {
            b.put(endpoint.0)?;
            b.put(n)
        }
    }
}

/// Reads one column after another.
struct Cells<'r, 's> {
    row: &'r Row<'s>,
    next: usize,
}

type Read<T> = Result<T, StoreError>;

impl<'r> Cells<'r, '_> {
    fn value(&mut self) -> Read<ValueRef<'r>> {
        let value = self.row.get_ref(self.next).map_err(|e| StoreError::corrupt("reading a row", e))?;
        self.next += 1;
        Ok(value)
    }

    fn bad<T>(&self, what: &str) -> Read<T> {
        let column = self.next.saturating_sub(1);
        let name = self.row.as_ref().column_name(column).unwrap_or("?").to_owned();
        Err(StoreError::corrupt("reading a row", format!("column {name} does not hold {what}")))
    }

    fn optional<T: TryFrom<i64>>(&mut self) -> Read<Option<T>> {
        match self.value()? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(n) => T::try_from(n).map(Some).or_else(|_| self.bad("a number in range")),
            ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => self.bad("a number"),
        }
    }

    fn int<T: TryFrom<i64>>(&mut self) -> Read<T> {
        self.optional()?.map_or_else(|| self.bad("a number"), Ok)
    }

    fn flag(&mut self) -> Read<bool> {
        Ok(self.int::<i64>()? != 0)
    }

    fn code<T>(&mut self, from: impl FnOnce(u8) -> Option<T>) -> Read<T> {
        from(self.int()?).map_or_else(|| self.bad("a known code"), Ok)
    }

    fn optional_code<T>(&mut self, from: impl FnOnce(u8) -> Option<T>) -> Read<Option<T>> {
        match self.optional()? {
            None => Ok(None),
            Some(code) => from(code).map_or_else(|| self.bad("a known code"), |value| Ok(Some(value))),
        }
    }

    fn child(&mut self) -> Read<(SettlementNo, u16)> {
        let k: i64 = self.int()?;
        Ok((SettlementNo(k >> 16), k as u16))
    }

    fn optional_text(&mut self) -> Read<Option<String>> {
        match self.value()? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Ok(Some(text.to_owned())),
                Err(_) => self.bad("UTF-8"),
            },
            ValueRef::Real(_) | ValueRef::Integer(_) | ValueRef::Blob(_) => self.bad("a text"),
        }
    }

    fn text(&mut self) -> Read<String> {
        self.optional_text()?.map_or_else(|| self.bad("a text"), Ok)
    }

    fn bytes(&mut self) -> Read<&'r [u8]> {
        match self.value()? {
            ValueRef::Blob(bytes) => Ok(bytes),
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Integer(_) | ValueRef::Text(_) => self.bad("bytes"),
        }
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.bytes()?.try_into().or_else(|_| self.bad("as many bytes as it should"))
    }

    fn json<T: serde::de::DeserializeOwned>(&mut self) -> Read<Option<T>> {
        match self.optional_text()? {
            None => Ok(None),
            Some(text) => serde_json::from_str(&text).map(Some).or_else(|e| self.bad(&format!("what was written: {e}"))),
        }
    }
}

/// Which table a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Client,
    Key,
    Token,
    Provider,
    Account,
    Settlement,
    Event,
    Attempt,
    Reversal,
    Transfer,
    Task,
    Idempotency,
    SimPayment,
    Nonce,
    Secret,
    Audit,
    Meta,
    Unlogged,
    Feed,
    Tile,
    LogHead,
    Endpoint,
    EndpointSecret,
    Queue,
    Delivery,
}

impl Table {
    /// The table of a key.
    pub(super) fn of(key: &Key) -> Self {
        match key {
            Key::Client(_) => Self::Client,
            Key::Key(_) => Self::Key,
            Key::Token(_) => Self::Token,
            Key::Provider(_) => Self::Provider,
            Key::Account(_) => Self::Account,
            Key::Settlement(_) => Self::Settlement,
            Key::Event(_) => Self::Event,
            Key::Attempt(_) => Self::Attempt,
            Key::Reversal(_) => Self::Reversal,
            Key::Transfer(_) => Self::Transfer,
            Key::Task(_) => Self::Task,
            Key::Idempotency(_) => Self::Idempotency,
            Key::SimPayment(_) => Self::SimPayment,
            Key::Nonce(_) => Self::Nonce,
            Key::Secret(_) => Self::Secret,
            Key::Audit(_) => Self::Audit,
            Key::Meta(_) => Self::Meta,
            Key::Unlogged(_) => Self::Unlogged,
            Key::Feed(_) => Self::Feed,
            Key::Tile(_) => Self::Tile,
            Key::LogHead(_) => Self::LogHead,
            Key::Endpoint(_) => Self::Endpoint,
            Key::EndpointSecret(_) => Self::EndpointSecret,
            Key::Queue(_) => Self::Queue,
            Key::Delivery(_) => Self::Delivery,
        }
    }
}

/// Reads a row of `table`, all its columns in order.
pub(super) fn record(table: Table, row: &Row<'_>) -> Read<Record> {
    let c = &mut Cells { row, next: 0 };
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
        Table::Key => access::read_key(c)?.into(),
        Table::Token => access::read_token(c)?.into(),
        Table::Nonce => access::read_nonce(c)?.into(),
        Table::Secret => access::read_secret(c)?.into(),
        Table::Audit => access::read_audit(c)?.into(),
        Table::Provider => ProviderRecord { no: ProviderNo(c.int()?), id: c.text()? }.into(),
        Table::Meta => MetaRecord { name: c.text()?, value: c.bytes()?.to_vec() }.into(),
        Table::Unlogged => log::read_unlogged(c)?.into(),
        Table::Feed => log::read_feed(c)?.into(),
        Table::Tile => log::read_tile(c)?.into(),
        Table::LogHead => log::read_log_head(c)?.into(),
        Table::Endpoint => webhook::read_endpoint(c)?.into(),
        Table::EndpointSecret => webhook::read_secret(c)?.into(),
        Table::Queue => webhook::read_queue(c)?.into(),
        Table::Delivery => webhook::read_delivery(c)?.into(),
    })
}

fn read_settlement(c: &mut Cells<'_, '_>) -> Read<SettlementRecord> {
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

fn read_reversal(c: &mut Cells<'_, '_>) -> Read<ReversalRecord> {
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

fn read_event(c: &mut Cells<'_, '_>) -> Read<EventRecord> {
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

fn read_transfer(c: &mut Cells<'_, '_>) -> Read<Transfer> {
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

fn read_task(c: &mut Cells<'_, '_>) -> Read<TaskRecord> {
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

fn totals(c: &mut Cells<'_, '_>) -> Read<Totals> {
    Ok(Totals { debits_pending: c.int()?, debits_posted: c.int()?, credits_pending: c.int()?, credits_posted: c.int()? })
}

/// The totals of an account's row that holds only them.
pub(super) fn only_totals(row: &Row<'_>) -> Read<Totals> {
    totals(&mut Cells { row, next: 0 })
}
