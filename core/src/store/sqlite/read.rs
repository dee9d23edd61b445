//! Reading: every key, look-up and scan is one statement, so that each sees one commit's state as a whole.

use std::fmt::Write as _;
use std::sync::LazyLock;

use rusqlite::types::Value;
use rusqlite::{Connection, Params, Rows, Statement, params, params_from_iter};

use super::failed;
use super::rows::{self, Table, child_key, columns, feed_owner};
use crate::ids::{ClientNo, SettlementNo};
use crate::money::Currency;
use crate::store::record::*;
use crate::store::shared::tile_key;
use crate::store::{AmountBound, Place, Scan, SettlementFilter, StoreError, Unique};

type Found = Result<Vec<Record>, StoreError>;

/// The record under a primary key.
pub(super) fn get(connection: &Connection, key: &Key) -> Result<Option<Record>, StoreError> {
    let one = |sql, params: [Value; 1]| first(connection, key.kind(), sql, params);
    let child = |sql, no: SettlementNo, n: u32| match child_key(no, n) {
        Some(k) => one(sql, [k.into()]),
        None => Ok(None),
    };
    macro_rules! by {
        ($table:ident, $key:literal) => {
            concat!("SELECT ", columns!($table), " FROM ", stringify!($table), " WHERE ", $key, " = ?1")
        };
    }
    match key {
        Key::Client(no) => one(by!(client, "no"), [no.0.into()]),
        Key::Key(no) => one(by!(key, "no"), [no.0.into()]),
        Key::Token(hash) => one(by!(token, "hash"), [hash.to_vec().into()]),
        Key::Nonce(hash) => one(by!(nonce, "hash"), [hash.to_vec().into()]),
        Key::Audit(no) => one(by!(audit, "no"), [(*no).into()]),
        Key::Provider(no) => one(by!(provider, "no"), [no.0.into()]),
        Key::Account(id) => one(by!(account, "id"), [id.0.into()]),
        Key::Settlement(no) => one(by!(settlement, "no"), [no.0.into()]),
        Key::Event((no, n)) => child(by!(event, "k"), *no, *n),
        Key::Attempt((no, n)) => child(by!(attempt, "k"), *no, (*n).into()),
        Key::Reversal((no, n)) => child(by!(reversal, "k"), *no, (*n).into()),
        Key::Transfer((no, n)) => child(by!(transfer, "k"), *no, (*n).into()),
        Key::SimPayment((no, n)) => child(by!(sim_payment, "k"), *no, (*n).into()),
        Key::Task(key) => one(by!(task, "key"), [key.0.into()]),
        Key::Meta(name) => one(by!(meta, "name"), [name.clone().into()]),
        Key::Idempotency((client, key)) => first(
            connection,
            Table::Idempotency,
            concat!("SELECT ", columns!(idempotency), " FROM idempotency WHERE client = ?1 AND key = ?2"),
            params![client.0, key],
        ),
        Key::Secret((kind, no)) => first(
            connection,
            Table::Secret,
            concat!("SELECT ", columns!(secret), " FROM secret WHERE kind = ?1 AND no = ?2"),
            params![kind.code(), no],
        ),
        Key::Unlogged(no) => one(by!(unlogged, "no"), [(*no).into()]),
        Key::Feed((client, mode, position)) => first(
            connection,
            Table::Feed,
            concat!("SELECT ", columns!(feed), " FROM feed WHERE owner = ?1 AND position = ?2"),
            params![feed_owner(*client, *mode), position],
        ),
        Key::Tile((level, index)) => match tile_key(*level, *index) {
            Some(k) => one(by!(tile, "k"), [k.into()]),
            None => Ok(None),
        },
        Key::LogHead(size) => one(by!(log_head, "size"), [(*size).into()]),
        Key::Endpoint(no) => one(by!(endpoint, "no"), [no.0.into()]),
        Key::EndpointSecret((endpoint, n)) => first(
            connection,
            Table::EndpointSecret,
            concat!("SELECT ", columns!(endpoint_secret), " FROM endpoint_secret WHERE endpoint = ?1 AND n = ?2"),
            params![endpoint.0, n],
        ),
        Key::Queue(endpoint) => one(by!(queue, "endpoint"), [endpoint.0.into()]),
        Key::Delivery(no) => one(by!(delivery, "no"), [(*no).into()]),
    }
}

/// The record under another unique key.
pub(super) fn find(connection: &Connection, unique: &Unique) -> Result<Option<Record>, StoreError> {
    match unique {
        Unique::SettlementReference(client, reference) => first(
            connection,
            Table::Settlement,
            concat!("SELECT ", columns!(settlement), " FROM settlement WHERE client = ?1 AND reference = ?2"),
            params![client.0, reference],
        ),
        Unique::ReversalReference(client, reference) => first(
            connection,
            Table::Reversal,
            concat!("SELECT ", columns!(reversal), " FROM reversal WHERE client = ?1 AND reference = ?2"),
            params![client.0, reference],
        ),
        Unique::ClientId(id) => {
            let sql = concat!("SELECT ", columns!(client), " FROM client WHERE id = ?1");
            first(connection, Table::Client, sql, params![id.0.to_be_bytes()])
        }
        Unique::KeyId(id) => {
            let sql = concat!("SELECT ", columns!(key), " FROM key WHERE id = ?1");
            first(connection, Table::Key, sql, params![id.0])
        }
        Unique::EndpointId(id) => {
            let sql = concat!("SELECT ", columns!(endpoint), " FROM endpoint WHERE id = ?1");
            first(connection, Table::Endpoint, sql, params![id.0.to_be_bytes()])
        }
        Unique::FeedOf(settlement, n) => match child_key(*settlement, *n) {
            Some(k) => first(connection, Table::Feed, concat!("SELECT ", columns!(feed), " FROM feed WHERE k = ?1"), params![k]),
            None => Ok(None),
        },
    }
}

/// A page of records.
pub(super) fn scan(connection: &Connection, scan: &Scan) -> Found {
    macro_rules! select {
        ($table:ident, $rest:literal) => {
            concat!("SELECT ", columns!($table), " FROM ", stringify!($table), " ", $rest)
        };
    }
    let all = |table, sql, params: &[i64]| all(connection, table, sql, params_from_iter(params));
    let children = |table, sql, of: &SettlementNo| match (child_key(*of, 0), child_key(*of, u16::MAX.into())) {
        (Some(from), Some(to)) => all(table, sql, &[from, to]),
        (None, _) | (_, None) => Ok(Vec::new()),
    };
    match scan {
        Scan::SettlementsOf { client, filter, before, limit } => settlements_of(connection, *client, filter, *before, *limit),
        Scan::Settlements { after, limit } => {
            all(Table::Settlement, select!(settlement, "WHERE no > ?1 ORDER BY no LIMIT ?2"), &[after.0, bound(*limit)])
        }
        Scan::LastSettlement => all(Table::Settlement, select!(settlement, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::LastTransfer => all(Table::Transfer, select!(transfer, "ORDER BY k DESC LIMIT 1"), &[]),
        Scan::Events { settlement, after, limit } => match (child_key(*settlement, *after), child_key(*settlement, u16::MAX.into())) {
            (Some(after), Some(to)) => {
                let sql = select!(event, "WHERE k > ?1 AND k <= ?2 ORDER BY k LIMIT ?3");
                all(Table::Event, sql, &[after, to, bound(*limit)])
            }
            (None, _) | (_, None) => Ok(Vec::new()),
        },
        Scan::Attempts(of) => children(Table::Attempt, select!(attempt, "WHERE k BETWEEN ?1 AND ?2 ORDER BY k"), of),
        Scan::Reversals(of) => children(Table::Reversal, select!(reversal, "WHERE k BETWEEN ?1 AND ?2 ORDER BY k"), of),
        Scan::Transfers(of) => children(Table::Transfer, select!(transfer, "WHERE k BETWEEN ?1 AND ?2 ORDER BY k"), of),
        Scan::SimPayments(of) => children(Table::SimPayment, select!(sim_payment, "WHERE k BETWEEN ?1 AND ?2 ORDER BY k"), of),
        Scan::AllTransfers { after: (no, n), limit } => {
            // A number that no journal has lies below or above all of them.
            let after = child_key(*no, (*n).into()).unwrap_or(if no.0 < 0 { i64::MIN } else { i64::MAX });
            all(Table::Transfer, select!(transfer, "WHERE k > ?1 ORDER BY k LIMIT ?2"), &[after, bound(*limit)])
        }
        Scan::Tasks { after, until, limit } => {
            let sql = select!(task, "WHERE key > ?1 AND key >> 20 <= ?2 AND key <= ?3 ORDER BY key LIMIT ?4");
            // Due at or before, said once exactly and once as a bound that ends the walk over the key.
            let last = (*until).clamp(i64::MIN >> 20, i64::MAX >> 20) << 20 | 0xf_ffff;
            all(Table::Task, sql, &[after.0, *until, last, bound(*limit)])
        }
        Scan::AccountsOf(client) => {
            // A client's accounts lie together, beside those of other owners with the same number.
            let from = i64::from(client.0) << 16;
            let sql = select!(account, "WHERE id BETWEEN ?1 AND ?2 AND id & 3 = 0 ORDER BY id");
            all(Table::Account, sql, &[from, from | 0xffff])
        }
        Scan::Accounts { after, limit } => {
            all(Table::Account, select!(account, "WHERE id > ?1 ORDER BY id LIMIT ?2"), &[after.0, bound(*limit)])
        }
        Scan::Clients { after, limit } => {
            all(Table::Client, select!(client, "WHERE no > ?1 ORDER BY no LIMIT ?2"), &[after.0.into(), bound(*limit)])
        }
        Scan::LastClient => all(Table::Client, select!(client, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::KeysOf(client) => all(Table::Key, select!(key, "WHERE client = ?1 ORDER BY no"), &[client.0.into()]),
        Scan::LastKey => all(Table::Key, select!(key, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::Providers => all(Table::Provider, select!(provider, "ORDER BY no"), &[]),
        Scan::Secrets => all(Table::Secret, select!(secret, "ORDER BY kind, no"), &[]),
        Scan::Audit { after, limit } => all(Table::Audit, select!(audit, "WHERE no > ?1 ORDER BY no LIMIT ?2"), &[*after, bound(*limit)]),
        Scan::LastAudit => all(Table::Audit, select!(audit, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::IdempotencyBefore { created, limit } => {
            let sql = select!(idempotency, "WHERE created_at < ?1 ORDER BY created_at LIMIT ?2");
            all(Table::Idempotency, sql, &[*created, bound(*limit)])
        }
        Scan::NoncesExpiredBefore { expired, limit } => {
            let sql = select!(nonce, "WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2");
            all(Table::Nonce, sql, &[*expired, bound(*limit)])
        }
        Scan::TokensExpiredBefore { expired, limit } => {
            let sql = select!(token, "WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2");
            all(Table::Token, sql, &[*expired, bound(*limit)])
        }
        Scan::Unlogged { limit } => all(Table::Unlogged, select!(unlogged, "ORDER BY no LIMIT ?1"), &[bound(*limit)]),
        Scan::Feed { client, mode, after, limit } => {
            let sql = select!(feed, "WHERE owner = ?1 AND position > ?2 ORDER BY position LIMIT ?3");
            all(Table::Feed, sql, &[feed_owner(*client, *mode), *after, bound(*limit)])
        }
        Scan::LastFeed(client, mode) => {
            all(Table::Feed, select!(feed, "WHERE owner = ?1 ORDER BY position DESC LIMIT 1"), &[feed_owner(*client, *mode)])
        }
        Scan::AllFeeds { after: (client, mode, position), limit } => {
            let sql = select!(feed, "WHERE (owner, position) > (?1, ?2) ORDER BY owner, position LIMIT ?3");
            all(Table::Feed, sql, &[feed_owner(*client, *mode), *position, bound(*limit)])
        }
        Scan::LogHead => all(Table::LogHead, select!(log_head, "ORDER BY size DESC LIMIT 1"), &[]),
        Scan::Endpoints { after, limit } => {
            all(Table::Endpoint, select!(endpoint, "WHERE no > ?1 ORDER BY no LIMIT ?2"), &[after.0.into(), bound(*limit)])
        }
        Scan::EndpointsOf(client, mode) => {
            let sql = select!(endpoint, "WHERE client = ?1 AND mode = ?2 AND status <> 5 ORDER BY no");
            all(Table::Endpoint, sql, &[client.0.into(), mode.code().into()])
        }
        Scan::LastEndpoint => all(Table::Endpoint, select!(endpoint, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::EndpointSecrets(of) => all(Table::EndpointSecret, select!(endpoint_secret, "WHERE endpoint = ?1 ORDER BY n"), &[of.0.into()]),
        Scan::Queues { troubled, until, limit } => {
            let sql = select!(queue, "WHERE troubled = ?1 AND due <= ?2 ORDER BY due, endpoint LIMIT ?3");
            all(Table::Queue, sql, &[i64::from(*troubled), *until, bound(*limit)])
        }
        Scan::DeliveriesDue { endpoint, until, limit } => {
            let sql = select!(delivery, "WHERE endpoint = ?1 AND due <= ?2 ORDER BY due, no LIMIT ?3");
            all(Table::Delivery, sql, &[endpoint.0.into(), *until, bound(*limit)])
        }
        Scan::DeliveriesOf { endpoint, before, status, limit } => {
            let (endpoint, limit) = (endpoint.0.into(), bound(*limit));
            match status {
                Some(status) => {
                    let sql = select!(delivery, "WHERE endpoint = ?1 AND no < ?2 AND status = ?3 ORDER BY no DESC LIMIT ?4");
                    all(Table::Delivery, sql, &[endpoint, *before, status.code().into(), limit])
                }
                None => all(Table::Delivery, &DELIVERIES_OF_ANY_STATUS, &[endpoint, *before, limit]),
            }
        }
        Scan::DeliveriesBefore { before, limit } => {
            all(Table::Delivery, select!(delivery, "WHERE no < ?1 ORDER BY no LIMIT ?2"), &[*before, bound(*limit)])
        }
        Scan::All { from, limit } => page(connection, from, *limit),
    }
}

/// A page of a whole table.
fn page(connection: &Connection, from: &Place, limit: usize) -> Found {
    let table = from.kind();
    let [first, after] = &PAGES[table as usize];
    let sql = if let Place::After(_) = from { after } else { first };
    let bound_to = |statement: &mut Statement<'_>| {
        if let Place::After(key) = from {
            rows::bind_key(key, statement)?;
        }
        statement.raw_bind_parameter(statement.parameter_count(), bound(limit))
    };
    let mut statement = connection.prepare_cached(sql).map_err(|e| failed("preparing a scan", e))?;
    bound_to(&mut statement).map_err(|e| failed("scanning", e))?;
    read_all(table, statement.raw_query())
}

/// The statements that walk each table by its primary key: from the first row on, and behind a key.
static PAGES: LazyLock<Vec<[String; 2]>> = LazyLock::new(|| {
    let pages = |table: &Table| {
        let (name, columns) = (table.as_str(), columns_of(*table));
        let key: Vec<&str> = columns.split(", ").take(key_width(*table)).collect();
        let (keys, places) = (key.join(", "), vec!["?"; key.len()].join(", "));
        let page = |condition: &str| format!("SELECT {columns} FROM {name} {condition} ORDER BY {keys} LIMIT ?");
        [page(""), page(&format!("WHERE ({keys}) > ({places})"))]
    };
    Table::ALL.iter().map(pages).collect()
});

const fn columns_of(table: Table) -> &'static str {
    match table {
        Table::Client => columns!(client),
        Table::Key => columns!(key),
        Table::Token => columns!(token),
        Table::Provider => columns!(provider),
        Table::Account => columns!(account),
        Table::Settlement => columns!(settlement),
        Table::Event => columns!(event),
        Table::Attempt => columns!(attempt),
        Table::Reversal => columns!(reversal),
        Table::Transfer => columns!(transfer),
        Table::Task => columns!(task),
        Table::Idempotency => columns!(idempotency),
        Table::SimPayment => columns!(sim_payment),
        Table::Nonce => columns!(nonce),
        Table::Secret => columns!(secret),
        Table::Audit => columns!(audit),
        Table::Meta => columns!(meta),
        Table::Unlogged => columns!(unlogged),
        Table::Feed => columns!(feed),
        Table::Tile => columns!(tile),
        Table::LogHead => columns!(log_head),
        Table::Endpoint => columns!(endpoint),
        Table::EndpointSecret => columns!(endpoint_secret),
        Table::Queue => columns!(queue),
        Table::Delivery => columns!(delivery),
    }
}

/// How many columns the primary key has: the first ones.
const fn key_width(table: Table) -> usize {
    match table {
        Table::Idempotency | Table::Secret | Table::Feed | Table::EndpointSecret => 2,
        Table::Client | Table::Key | Table::Token | Table::Provider | Table::Account | Table::Settlement | Table::Event => 1,
        Table::Attempt | Table::Reversal | Table::Transfer | Table::Task | Table::SimPayment | Table::Nonce | Table::Audit => 1,
        Table::Meta | Table::Unlogged | Table::Tile | Table::LogHead | Table::Endpoint | Table::Queue | Table::Delivery => 1,
    }
}

fn settlements_of(
    connection: &Connection,
    client: ClientNo,
    filter: &SettlementFilter,
    before: Option<SettlementNo>,
    limit: usize,
) -> Found {
    let mut query = Query::new(client);
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
    if !status.is_empty() {
        let set = status.iter().fold(0i64, |set, status| set | 1 << status.code());
        query.and("(? >> status) & 1", set);
    }
    query.and_some("currency = ?", currency.map(|it| i64::from(it.numeric())));
    query.and_some("provider = ?", provider.map(|it| i64::from(it.0)));
    query.and_some("recipient = ?", to.clone());
    query.and_some("reference = ?", reference.clone());
    query.and_some("mode = ?", mode.map(|it| i64::from(it.code())));
    query.and_some("created_at >= ?", *created_from);
    query.and_some("created_at < ?", *created_to);
    if let Some(bound) = min_amount {
        query.and_amount(">=", bound);
    }
    if let Some(bound) = max_amount {
        query.and_amount("<=", bound);
    }
    // Literal, not a parameter: the index of what needs a review serves only a condition known beforehand.
    match needs_review {
        Some(true) => query.sql.push_str(" AND needs_review = 1"),
        Some(false) => query.sql.push_str(" AND needs_review = 0"),
        None => {}
    }
    query.and_some("no < ?", before.map(|no| no.0));
    query.sql.push_str(" ORDER BY no DESC LIMIT ?");
    query.params.push(bound(limit).into());
    all(connection, Table::Settlement, &query.sql, params_from_iter(query.params))
}

/// A list's statement, made of those filters that are there: their number is small, so the cache holds the usual ones.
struct Query {
    sql: String,
    params: Vec<Value>,
}

impl Query {
    fn new(client: ClientNo) -> Self {
        let sql = concat!("SELECT ", columns!(settlement), " FROM settlement WHERE client = ?").to_owned();
        Self { sql, params: vec![client.0.into()] }
    }

    fn and(&mut self, condition: &str, param: impl Into<Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self.params.push(param.into());
    }

    fn and_some(&mut self, condition: &str, param: Option<impl Into<Value>>) {
        if let Some(param) = param {
            self.and(condition, param);
        }
    }

    /// Compares by value: the bound has one number for each number of decimals that a currency can have.
    fn and_amount(&mut self, operator: &str, bound: &AmountBound) {
        let _ = write!(self.sql, " AND amount {operator} CASE");
        for (decimals, currencies) in CURRENCIES_BY_DECIMALS.iter().enumerate() {
            if decimals != USUAL_DECIMALS && !currencies.is_empty() {
                let _ = write!(self.sql, " WHEN currency IN ({currencies}) THEN ?");
                self.params.push(bound[decimals].into());
            }
        }
        self.sql.push_str(" ELSE ? END");
        self.params.push(bound[USUAL_DECIMALS].into());
    }
}

/// Most currencies have two decimals; only the others are named in a statement.
const USUAL_DECIMALS: usize = 2;

static CURRENCIES_BY_DECIMALS: LazyLock<[String; 5]> = LazyLock::new(|| {
    let mut lists: [String; 5] = Default::default();
    for currency in Currency::all() {
        let list = &mut lists[usize::from(currency.minor_units())];
        let comma = if list.is_empty() { "" } else { ", " };
        let _ = write!(list, "{comma}{}", currency.numeric());
    }
    lists
});

/// An endpoint's deliveries lie by status, so that a list of the few that failed never walks over the many that did not.
/// The list of all is merged from one walk a status, each in the order of the whole.
static DELIVERIES_OF_ANY_STATUS: LazyLock<String> = LazyLock::new(|| {
    let walk = concat!("SELECT ", columns!(delivery), " FROM delivery WHERE endpoint = ?1 AND no < ?2 AND status = ");
    let walks: Vec<String> = DeliveryStatus::ALL.iter().map(|status| format!("{walk}{}", status.code())).collect();
    format!("{} ORDER BY no DESC LIMIT ?3", walks.join(" UNION ALL "))
});

fn bound(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn first(connection: &Connection, table: Table, sql: &str, params: impl Params) -> Result<Option<Record>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(|e| failed("preparing a look-up", e))?;
    let mut found = statement.query(params).map_err(|e| failed("looking up", e))?;
    let row = found.next().map_err(|e| failed("looking up", e))?;
    row.map(|row| rows::record(table, row)).transpose()
}

fn all(connection: &Connection, table: Table, sql: &str, params: impl Params) -> Found {
    let mut statement = connection.prepare_cached(sql).map_err(|e| failed("preparing a scan", e))?;
    read_all(table, statement.query(params).map_err(|e| failed("scanning", e))?)
}

fn read_all(table: Table, mut found: Rows<'_>) -> Found {
    let mut records = Vec::new();
    while let Some(row) = found.next().map_err(|e| failed("scanning", e))? {
        records.push(rows::record(table, row)?);
    }
    Ok(records)
}
