//! Reading: every key, look-up and scan is one statement, so that each sees one commit's state as a whole.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use tokio_postgres::Row;

use super::cells::{Param, Params, records};
use super::pool::Asked;
use super::tables;
use crate::ids::{ClientNo, SettlementNo};
use crate::money::Currency;
use crate::store::record::*;
use crate::store::rows::{self, Table, child_key, columns, feed_owner};
use crate::store::{AmountBound, Lookup, Place, Scan, SettlementFilter, StoreError, Unique};

/// A statement that reads whole rows of a table.
pub(super) struct Query {
    /// Which table.
    pub(super) table: Table,
    /// Its text.
    pub(super) sql: Cow<'static, str>,
    /// What its parameters are.
    pub(super) params: Vec<Param>,
}

/// The record under a primary key; `None` for a key that no record can have.
pub(super) fn get(key: &Key) -> Result<Option<Query>, StoreError> {
    let possible = match key {
        Key::Event((no, n)) => child_key(*no, *n).is_some(),
        Key::Attempt((no, n)) | Key::Reversal((no, n)) | Key::Transfer((no, n)) | Key::SimPayment((no, n)) => {
            child_key(*no, (*n).into()).is_some()
        }
        Key::Client(_) | Key::Key(_) | Key::Token(_) | Key::Provider(_) | Key::Account(_) | Key::Settlement(_) | Key::Task(_) => true,
        Key::Idempotency(_) | Key::Nonce(_) | Key::Secret(_) | Key::Audit(_) | Key::Meta(_) | Key::Unlogged(_) | Key::Feed(_) => true,
        // A place that no tile has is NULL, which no row equals.
        Key::Tile(_) | Key::LogHead(_) | Key::Endpoint(_) | Key::EndpointSecret(_) | Key::Queue(_) | Key::Delivery(_) => true,
    };
    if !possible {
        return Ok(None);
    }
    let table = key.kind();
    let mut params = Params::default();
    rows::bind_key(key, &mut params)?;
    Ok(Some(Query { table, sql: tables::get(table).into(), params: params.0 }))
}

/// Look-ups that are made together: those by primary key as one statement a table, all others as they are.
pub(super) struct Together {
    queries: Vec<(Query, Asking)>,
    /// How many look-ups there are.
    count: usize,
}

/// Whose answer a statement is.
enum Asking {
    /// Of one look-up.
    One(usize),
    /// Of those for these keys.
    Keys(HashMap<Key, Vec<usize>>),
}

impl Together {
    /// Look-ups of what no record can have find nothing, and are not made.
    pub(super) fn of(lookups: &[Lookup]) -> Result<Self, StoreError> {
        let mut queries: Vec<(Query, Asking)> = Vec::new();
        let mut of_table: HashMap<Table, usize> = HashMap::new();
        for (at, lookup) in lookups.iter().enumerate() {
            let (query, key) = match lookup {
                Lookup::Get(key) => (get(key)?, Some(key)),
                Lookup::Find(unique) => (find(unique), None),
                Lookup::Scan(wanted) => (scan(wanted), None),
            };
            let Some(mut query) = query.filter(|query| !matches!(query.params.as_slice(), [Param::Null])) else { continue };
            let Some((key, sql)) = key.and_then(|key| Some((key, tables::get_any(query.table)?))) else {
                queries.push((query, Asking::One(at)));
                continue;
            };
            let place = *of_table.entry(query.table).or_insert_with(|| {
                queries.push((
                    Query { table: query.table, sql: sql.into(), params: vec![Param::Any(Vec::new())] },
                    Asking::Keys(HashMap::new()),
                ));
                queries.len() - 1
            });
            if let Some((Query { params, .. }, Asking::Keys(asking))) = queries.get_mut(place)
                && let Some(Param::Any(values)) = params.first_mut()
            {
                values.append(&mut query.params);
                asking.entry(key.clone()).or_default().push(at);
            }
        }
        Ok(Self { queries, count: lookups.len() })
    }

    /// What to send.
    pub(super) fn asked(&mut self) -> Vec<Asked> {
        self.queries.iter_mut().map(|(query, _)| (query.sql.clone(), std::mem::take(&mut query.params))).collect()
    }

    /// What each look-up found.
    pub(super) fn found(self, answers: Vec<Vec<Row>>) -> Result<Vec<Vec<Record>>, StoreError> {
        let mut found: Vec<Vec<Record>> = vec![Vec::new(); self.count];
        for ((query, asking), rows) in self.queries.into_iter().zip(answers) {
            let records = records(query.table, &rows)?;
            match asking {
                Asking::One(at) => found[at] = records,
                Asking::Keys(asking) => {
                    for record in records {
                        for at in asking.get(&record.key()).into_iter().flatten() {
                            found[*at].push(record.clone());
                        }
                    }
                }
            }
        }
        Ok(found)
    }
}

macro_rules! select {
    ($table:ident, $rest:literal) => {
        concat!("SELECT ", columns!($table), " FROM ", stringify!($table), " ", $rest)
    };
}

/// The record under another unique key.
pub(super) fn find(unique: &Unique) -> Option<Query> {
    let (table, sql, params) = match unique {
        Unique::SettlementReference(client, reference) => {
            let sql = select!(settlement, "WHERE client = $1 AND reference = $2");
            (Table::Settlement, sql, vec![Param::Int(client.0.into()), Param::Text(reference.clone())])
        }
        Unique::ReversalReference(client, reference) => {
            let sql = select!(reversal, "WHERE client = $1 AND reference = $2");
            (Table::Reversal, sql, vec![Param::Int(client.0.into()), Param::Text(reference.clone())])
        }
        Unique::ClientId(id) => (Table::Client, select!(client, "WHERE id = $1"), vec![Param::Bytes(id.0.to_be_bytes().to_vec())]),
        Unique::KeyId(id) => (Table::Key, select!(key, "WHERE id = $1"), vec![Param::Bytes(id.0.to_vec())]),
        Unique::EndpointId(id) => (Table::Endpoint, select!(endpoint, "WHERE id = $1"), vec![Param::Bytes(id.0.to_be_bytes().to_vec())]),
        Unique::FeedOf(settlement, n) => (Table::Feed, select!(feed, "WHERE k = $1"), vec![Param::Int(child_key(*settlement, *n)?)]),
    };
    Some(Query { table, sql: sql.into(), params })
}

/// A page of records; `None` where there can be none.
pub(super) fn scan(scan: &Scan) -> Option<Query> {
    let all = |table, sql: &'static str, params: &[i64]| {
        Some(Query { table, sql: sql.into(), params: params.iter().map(|it| Param::Int(*it)).collect() })
    };
    let children = |table, sql, of: &SettlementNo| all(table, sql, &[child_key(*of, 0)?, child_key(*of, u16::MAX.into())?]);
    match scan {
        Scan::SettlementsOf { client, filter, before, limit } => Some(settlements_of(*client, filter, *before, *limit)),
        Scan::Settlements { after, limit } => {
            all(Table::Settlement, select!(settlement, "WHERE no > $1 ORDER BY no LIMIT $2"), &[after.0, bound(*limit)])
        }
        Scan::LastSettlement => all(Table::Settlement, select!(settlement, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::LastTransfer => all(Table::Transfer, select!(transfer, "ORDER BY k DESC LIMIT 1"), &[]),
        Scan::Events { settlement, after, limit } => {
            let (after, to) = (child_key(*settlement, *after)?, child_key(*settlement, u16::MAX.into())?);
            all(Table::Event, select!(event, "WHERE k > $1 AND k <= $2 ORDER BY k LIMIT $3"), &[after, to, bound(*limit)])
        }
        Scan::Attempts(of) => children(Table::Attempt, select!(attempt, "WHERE k BETWEEN $1 AND $2 ORDER BY k"), of),
        Scan::Reversals(of) => children(Table::Reversal, select!(reversal, "WHERE k BETWEEN $1 AND $2 ORDER BY k"), of),
        Scan::Transfers(of) => children(Table::Transfer, select!(transfer, "WHERE k BETWEEN $1 AND $2 ORDER BY k"), of),
        Scan::SimPayments(of) => children(Table::SimPayment, select!(sim_payment, "WHERE k BETWEEN $1 AND $2 ORDER BY k"), of),
        Scan::AllTransfers { after: (no, n), limit } => {
            // A number that no journal has lies below or above all of them.
            let after = child_key(*no, (*n).into()).unwrap_or(if no.0 < 0 { i64::MIN } else { i64::MAX });
            all(Table::Transfer, select!(transfer, "WHERE k > $1 ORDER BY k LIMIT $2"), &[after, bound(*limit)])
        }
        Scan::Tasks { after, until, limit } => {
            // Nothing is due before the earliest time that a key can tell.
            let until = Some(*until).filter(|until| *until >= i64::MIN >> 20)?;
            let last = until.min(i64::MAX >> 20) << 20 | 0xf_ffff;
            all(Table::Task, select!(task, "WHERE key > $1 AND key <= $2 ORDER BY key LIMIT $3"), &[after.0, last, bound(*limit)])
        }
        Scan::AccountsOf(client) => {
            // A client's accounts lie together, beside those of other owners with the same number.
            let from = i64::from(client.0) << 16;
            let sql = select!(account, "WHERE id BETWEEN $1 AND $2 AND id & 3 = 0 ORDER BY id");
            all(Table::Account, sql, &[from, from | 0xffff])
        }
        Scan::Accounts { after, limit } => {
            all(Table::Account, select!(account, "WHERE id > $1 ORDER BY id LIMIT $2"), &[after.0, bound(*limit)])
        }
        Scan::Clients { after, limit } => {
            all(Table::Client, select!(client, "WHERE no > $1 ORDER BY no LIMIT $2"), &[after.0.into(), bound(*limit)])
        }
        Scan::LastClient => all(Table::Client, select!(client, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::KeysOf(client) => all(Table::Key, select!(key, "WHERE client = $1 ORDER BY no"), &[client.0.into()]),
        Scan::LastKey => all(Table::Key, select!(key, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::Providers => all(Table::Provider, select!(provider, "ORDER BY no"), &[]),
        Scan::Secrets => all(Table::Secret, select!(secret, "ORDER BY kind, no"), &[]),
        Scan::Audit { after, limit } => all(Table::Audit, select!(audit, "WHERE no > $1 ORDER BY no LIMIT $2"), &[*after, bound(*limit)]),
        Scan::LastAudit => all(Table::Audit, select!(audit, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::IdempotencyBefore { created, limit } => {
            let sql = select!(idempotency, "WHERE created_at < $1 ORDER BY created_at LIMIT $2");
            all(Table::Idempotency, sql, &[*created, bound(*limit)])
        }
        Scan::NoncesExpiredBefore { expired, limit } => {
            all(Table::Nonce, select!(nonce, "WHERE expires_at < $1 ORDER BY expires_at LIMIT $2"), &[*expired, bound(*limit)])
        }
        Scan::TokensExpiredBefore { expired, limit } => {
            all(Table::Token, select!(token, "WHERE expires_at < $1 ORDER BY expires_at LIMIT $2"), &[*expired, bound(*limit)])
        }
        Scan::Unlogged { limit } => all(Table::Unlogged, select!(unlogged, "ORDER BY no LIMIT $1"), &[bound(*limit)]),
        Scan::Feed { client, mode, after, limit } => {
            let sql = select!(feed, "WHERE owner = $1 AND position > $2 ORDER BY position LIMIT $3");
            all(Table::Feed, sql, &[feed_owner(*client, *mode), *after, bound(*limit)])
        }
        Scan::LastFeed(client, mode) => {
            all(Table::Feed, select!(feed, "WHERE owner = $1 ORDER BY position DESC LIMIT 1"), &[feed_owner(*client, *mode)])
        }
        Scan::AllFeeds { after: (client, mode, position), limit } => {
            let sql = select!(feed, "WHERE (owner, position) > ($1, $2) ORDER BY owner, position LIMIT $3");
            all(Table::Feed, sql, &[feed_owner(*client, *mode), *position, bound(*limit)])
        }
        Scan::LogHead => all(Table::LogHead, select!(log_head, "ORDER BY size DESC LIMIT 1"), &[]),
        Scan::Endpoints { after, limit } => {
            all(Table::Endpoint, select!(endpoint, "WHERE no > $1 ORDER BY no LIMIT $2"), &[after.0.into(), bound(*limit)])
        }
        Scan::EndpointsOf(client, mode) => {
            let sql = select!(endpoint, "WHERE client = $1 AND mode = $2 AND status <> 5 ORDER BY no");
            all(Table::Endpoint, sql, &[client.0.into(), mode.code().into()])
        }
        Scan::LastEndpoint => all(Table::Endpoint, select!(endpoint, "ORDER BY no DESC LIMIT 1"), &[]),
        Scan::EndpointSecrets(of) => all(Table::EndpointSecret, select!(endpoint_secret, "WHERE endpoint = $1 ORDER BY n"), &[of.0.into()]),
        Scan::Queues { troubled, until, limit } => {
            // Literal, so that the order of the index is that of the list.
            let sql = if *troubled {
                select!(queue, "WHERE troubled AND due <= $1 ORDER BY due, endpoint LIMIT $2")
            } else {
                select!(queue, "WHERE NOT troubled AND due <= $1 ORDER BY due, endpoint LIMIT $2")
            };
            all(Table::Queue, sql, &[*until, bound(*limit)])
        }
        Scan::DeliveriesDue { endpoint, until, limit } => {
            let sql = select!(delivery, "WHERE endpoint = $1 AND due <= $2 ORDER BY due, no LIMIT $3");
            all(Table::Delivery, sql, &[endpoint.0.into(), *until, bound(*limit)])
        }
        Scan::DeliveriesOf { endpoint, before, status: Some(status), limit } => {
            let sql = select!(delivery, "WHERE endpoint = $1 AND no < $2 AND status = $3 ORDER BY no DESC LIMIT $4");
            all(Table::Delivery, sql, &[endpoint.0.into(), *before, status.code().into(), bound(*limit)])
        }
        Scan::DeliveriesOf { endpoint, before, status: None, limit } => {
            all(Table::Delivery, &DELIVERIES_OF_ANY_STATUS, &[endpoint.0.into(), *before, bound(*limit)])
        }
        Scan::DeliveriesBefore { before, limit } => {
            all(Table::Delivery, select!(delivery, "WHERE no < $1 ORDER BY no LIMIT $2"), &[*before, bound(*limit)])
        }
        Scan::All { from, limit } => page(from, *limit),
    }
}

/// A page of a whole table.
fn page(from: &Place, limit: usize) -> Option<Query> {
    let mut params = Params::default();
    if let Place::After(key) = from {
        // Only JSON may fail to be bound, and there is none in a key.
        rows::bind_key(key, &mut params).ok()?;
    }
    params.0.push(Param::Int(bound(limit)));
    let behind = params.0.len() > 1;
    Some(Query { table: from.kind(), sql: tables::page(from.kind(), behind).into(), params: params.0 })
}

fn settlements_of(client: ClientNo, filter: &SettlementFilter, before: Option<SettlementNo>, limit: usize) -> Query {
    let mut list = List::new(client);
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
        list.and("(", Param::Int(set), "::bigint >> status) & 1 = 1");
    }
    let int = |it: i64| Param::Int(it);
    list.and_some("currency = ", currency.map(|it| int(it.numeric().into())));
    list.and_some("provider = ", provider.map(|it| int(it.0.into())));
    list.and_some("recipient = ", to.clone().map(Param::Text));
    list.and_some("reference = ", reference.clone().map(Param::Text));
    list.and_some("mode = ", mode.map(|it| int(it.code().into())));
    list.and_some("created_at >= ", created_from.map(int));
    list.and_some("created_at < ", created_to.map(int));
    if let Some(bound) = min_amount {
        list.and_amount(">=", bound);
    }
    if let Some(bound) = max_amount {
        list.and_amount("<=", bound);
    }
    // Literal, not a parameter: the index of what needs a review serves only a condition known beforehand.
    match needs_review {
        Some(true) => list.sql.push_str(" AND needs_review"),
        Some(false) => list.sql.push_str(" AND NOT needs_review"),
        None => {}
    }
    list.and_some("no < ", before.map(|no| int(no.0)));
    // There is at most one of a reference, which is found by it and not on a walk in order.
    list.sql.push_str(if reference.is_some() { " LIMIT " } else { " ORDER BY no DESC LIMIT " });
    list.param(int(bound(limit)));
    Query { table: Table::Settlement, sql: list.sql.into(), params: list.params }
}

/// A list's statement, made of those filters that are there: their number is small, so the usual ones stay prepared.
struct List {
    sql: String,
    params: Vec<Param>,
}

impl List {
    fn new(client: ClientNo) -> Self {
        let mut list = Self { sql: select!(settlement, "WHERE client = ").to_owned(), params: Vec::new() };
        list.param(Param::Int(client.0.into()));
        list
    }

    /// A place for a value.
    fn param(&mut self, value: Param) {
        self.params.push(value);
        let _ = write!(self.sql, "${}", self.params.len());
    }

    fn and(&mut self, left: &str, value: Param, right: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(left);
        self.param(value);
        self.sql.push_str(right);
    }

    fn and_some(&mut self, left: &str, value: Option<Param>) {
        if let Some(value) = value {
            self.and(left, value, "");
        }
    }

    /// Compares by value: the bound has one number for each number of decimals that a currency can have.
    fn and_amount(&mut self, operator: &str, bound: &AmountBound) {
        let _ = write!(self.sql, " AND amount {operator} CASE");
        for (decimals, currencies) in CURRENCIES_BY_DECIMALS.iter().enumerate() {
            if decimals != USUAL_DECIMALS && !currencies.is_empty() {
                let _ = write!(self.sql, " WHEN currency IN ({currencies}) THEN ");
                self.param(Param::Int(bound[decimals]));
            }
        }
        self.sql.push_str(" ELSE ");
        self.param(Param::Int(bound[USUAL_DECIMALS]));
        self.sql.push_str(" END");
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
/// The list of all is the first of one walk a status, each in the order of the whole and no longer than the whole.
static DELIVERIES_OF_ANY_STATUS: LazyLock<String> = LazyLock::new(|| {
    let walk = |status: &DeliveryStatus| {
        let all = select!(delivery, "WHERE endpoint = $1 AND no < $2 AND status = ");
        format!("({all}{} ORDER BY no DESC LIMIT $3)", status.code())
    };
    let walks: Vec<String> = DeliveryStatus::ALL.iter().map(walk).collect();
    format!("{} ORDER BY no DESC LIMIT $3", walks.join(" UNION ALL "))
});

fn bound(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
