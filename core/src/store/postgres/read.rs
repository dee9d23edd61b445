//! Reading: every key, look-up and scan is one statement, and therefore sees the complete state after one commit.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::cells::{Param, records};
use super::pool::Asked;
use super::tables;
use crate::store::cell::Cell;
use crate::store::record::{Key, Record, RecordKind};
use crate::store::scan::sql::Statements;
use crate::store::sql::Dialect;
use crate::store::{Lookup, Scan, StoreError, Unique};

/// A statement that reads whole rows of a kind.
pub(super) struct Query {
    /// The kind of the rows.
    pub(super) kind: RecordKind,
    /// The SQL text.
    pub(super) sql: &'static str,
    /// The values of its parameters.
    pub(super) params: Vec<Param>,
}

/// Selects the record with this primary key; `None` if no record can have it.
pub(super) fn get(key: &Key) -> Result<Option<Query>, StoreError> {
    if key.refusal().is_some() {
        return Ok(None);
    }
    let kind = key.kind();
    let mut cells = Vec::new();
    key.bind(&mut cells)?;
    Ok(Some(Query { kind, sql: &tables::statements(kind).get, params: params(cells) }))
}

/// A batch of look-ups: one statement per kind for primary keys, separate statements for all others.
pub(super) struct Together {
    queries: Vec<(Query, Asking)>,
    /// The number of look-ups.
    count: usize,
}

/// Which look-ups a statement answers.
enum Asking {
    /// One look-up, by index.
    One(usize),
    /// The look-ups of these keys, by index.
    Keys(HashMap<Key, Vec<usize>>),
}

impl Together {
    /// Look-ups that no record can match find nothing and are not sent.
    pub(super) fn of(lookups: &[Lookup]) -> Result<Self, StoreError> {
        let mut queries: Vec<(Query, Asking)> = Vec::new();
        let mut of_kind: HashMap<RecordKind, usize> = HashMap::new();
        for (at, lookup) in lookups.iter().enumerate() {
            let (query, key) = match lookup {
                Lookup::Get(key) => (get(key)?, Some(key)),
                Lookup::Find(unique) => (find(unique)?, None),
                Lookup::Scan(wanted) => (Some(scan(wanted)), None),
            };
            let Some(query) = query else { continue };
            let Some((key, sql)) = key.and_then(|key| Some((key, tables::statements(query.kind).get_any.as_deref()?))) else {
                queries.push((query, Asking::One(at)));
                continue;
            };
            let place = *of_kind.entry(query.kind).or_insert_with(|| {
                queries.push((Query { kind: query.kind, sql, params: vec![Param::Any(Vec::new())] }, Asking::Keys(HashMap::new())));
                queries.len() - 1
            });
            if let Some((Query { params, .. }, Asking::Keys(asking))) = queries.get_mut(place)
                && let Some(Param::Any(values)) = params.first_mut()
            {
                values.extend(query.params.into_iter().filter_map(|it| if let Param::One(cell) = it { Some(cell) } else { None }));
                asking.entry(key.clone()).or_default().push(at);
            }
        }
        Ok(Self { queries, count: lookups.len() })
    }

    /// The statements to send.
    pub(super) fn asked(&mut self) -> Vec<Asked> {
        self.queries.iter_mut().map(|(query, _)| (query.sql, std::mem::take(&mut query.params))).collect()
    }

    /// The records that each look-up found.
    pub(super) fn found(self, answers: Vec<Vec<Row>>) -> Result<Vec<Vec<Record>>, StoreError> {
        let mut found: Vec<Vec<Record>> = vec![Vec::new(); self.count];
        for ((query, asking), rows) in self.queries.into_iter().zip(answers) {
            let records = records(query.kind, &rows)?;
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

/// Selects the record with this other unique key; `None` if no record can have it.
pub(super) fn find(unique: &Unique) -> Result<Option<Query>, StoreError> {
    if unique.refusal().is_some() {
        return Ok(None);
    }
    let kind = unique.kind();
    let mut cells = Vec::new();
    unique.bind(&mut cells)?;
    Ok(Some(Query { kind, sql: &tables::statements(kind).find, params: params(cells) }))
}

/// The statements of scans.
static SCANS: Statements = Statements::new(Dialect::Postgres);

/// A page of records.
pub(super) fn scan(scan: &Scan) -> Query {
    Query { kind: scan.kind(), sql: SCANS.of(scan), params: params(scan.params()) }
}

fn params(cells: impl IntoIterator<Item = Cell>) -> Vec<Param> {
    cells.into_iter().map(Param::One).collect()
}
