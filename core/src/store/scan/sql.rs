//! A scan as an SQL statement. Its text depends only on the shape: each text is generated once and stays prepared.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::{Is, Limit, Order, Scan, Shape};
use crate::money::Currency;
use crate::store::cell::Cell;
use crate::store::column::Kind;
use crate::store::declare::Role;
use crate::store::sql::{self, ColumnOf, Dialect, list};

/// The statements of one database requested so far. They are never removed; their number is limited by the combinations of list
/// filters.
pub(crate) struct Statements {
    dialect: Dialect,
    texts: LazyLock<RwLock<HashMap<Shape, &'static str>>>,
}

impl Statements {
    /// An empty set of statements.
    pub(crate) const fn new(dialect: Dialect) -> Self {
        Self { dialect, texts: LazyLock::new(RwLock::default) }
    }

    /// The statement of a scan; its parameters are [`Scan::params`].
    pub(crate) fn of(&self, scan: &Scan) -> &'static str {
        if let Some(text) = self.texts.read().unwrap_or_else(PoisonError::into_inner).get(&scan.shape) {
            return text;
        }
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        texts.entry(scan.shape.clone()).or_insert_with(|| scan.shape.text(self.dialect).leak())
    }
}

impl Scan {
    /// The values for the statement's parameters.
    pub(crate) fn params(&self) -> impl Iterator<Item = Cell> {
        let number = |limit: usize| Cell::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        let limit = match self.shape.limit {
            Limit::None | Limit::One => None,
            Limit::Given => Some(number(self.limit)),
            Limit::Last => Some(number(self.limit.saturating_sub(1))),
        };
        self.cells.iter().cloned().chain(limit)
    }
}

impl Shape {
    fn text(&self, dialect: Dialect) -> String {
        let table = sql::Shape::of(&self.kind.spec());
        let (conditions, values) = self.conditions(&table, dialect);
        let end = self.end(&table, dialect, values);
        let select = |conditions: &str| match conditions {
            "" => table.select(),
            some => format!("{} WHERE {some}", table.select()),
        };
        match self.tests.iter().find_map(|(column, is)| if let Is::Each(codes) = is { Some((*column, *codes)) } else { None }) {
            None => select(&conditions) + &end,
            Some((column, codes)) => {
                let name = table.columns[usize::from(column)].name;
                let walk = |code: &u8| {
                    let walk = select(&format!("{conditions} AND {name} = {code}"));
                    match dialect {
                        // SQLite merges the walks as it goes.
                        #[cfg(feature = "sqlite")]
                        Dialect::Sqlite => walk,
                        // Each walk has the order and the limit of the whole.
                        #[cfg(feature = "postgres")]
                        Dialect::Postgres => format!("({walk}{end})"),
                    }
                };
                codes.iter().map(walk).collect::<Vec<_>>().join(" UNION ALL ") + &end
            }
        }
    }

    /// The conditions, and the number of values they take.
    fn conditions(&self, table: &sql::Shape, dialect: Dialect) -> (String, usize) {
        let mut values = 0;
        let mut conditions = Vec::with_capacity(self.tests.len());
        for (column, is) in &self.tests {
            if let Is::Each(_) = is {
                continue;
            }
            conditions.push(condition(table, &table.columns[usize::from(*column)], *is, dialect, values));
            values += is.width(self.kind.layout().key);
        }
        (conditions.join(" AND "), values)
    }

    /// The order and the limit.
    fn end(&self, table: &sql::Shape, dialect: Dialect, values: usize) -> String {
        let is_one = |it: &&ColumnOf| self.tests.iter().any(|(column, is)| usize::from(*column) + 1 == it.no && *is == Is::Equal);
        let key = || table.key().filter(|it| !is_one(it));
        let order = match self.order {
            // At most one row has a unique key, and it is found by that key and not by an ordered walk.
            _ if table.unique().count() > 0 && table.unique().all(|it| is_one(&it)) => String::new(),
            Order::Key => format!(" ORDER BY {}", list(key(), ", ", |it| it.name.to_owned())),
            Order::KeyBackwards => format!(" ORDER BY {}", list(key(), ", ", |it| format!("{} DESC", it.name))),
            Order::By(columns) => {
                let columns = columns.iter().filter_map(|column| table.columns.get(usize::from(*column)));
                format!(" ORDER BY {}", list(columns, ", ", |it| it.name.to_owned()))
            }
            Order::ByBackwards(columns) => {
                let columns = columns.iter().filter_map(|column| table.columns.get(usize::from(*column)));
                format!(" ORDER BY {}", list(columns, ", ", |it| format!("{} DESC", it.name)))
            }
        };
        match self.limit {
            Limit::None => order,
            Limit::One => order + " LIMIT 1",
            Limit::Given => format!("{order} LIMIT {}", dialect.param(values + 1)),
            Limit::Last => format!("{order} LIMIT 1 OFFSET {}", dialect.param(values + 1)),
        }
    }
}

/// The condition on a column, after `values` earlier parameters.
fn condition(table: &sql::Shape, column: &ColumnOf, is: Is, dialect: Dialect, values: usize) -> String {
    let (name, param) = (column.name, dialect.param(values + 1));
    match is {
        Is::Equal => format!("{name} = {param}"),
        Is::Above => format!("{name} > {param}"),
        Is::From => format!("{name} >= {param}"),
        Is::Below => format!("{name} < {param}"),
        Is::UpTo => format!("{name} <= {param}"),
        Is::Behind => {
            let names = list(table.key(), ", ", |it| it.name.to_owned());
            format!("({names}) > ({})", list(table.key(), ", ", |it| dialect.param(values + it.no)))
        }
        Is::Before | Is::NotBefore => {
            let names = list(std::iter::once(column).chain(table.key()), ", ", |it| it.name.to_owned());
            let operator = if is == Is::Before { "<" } else { ">=" };
            format!("({names}) {operator} ({param}, {})", dialect.param(values + 2))
        }
        Is::Flag(flag) => {
            debug_assert!(column.kind == Kind::Flag && column.role != Role::Key);
            match dialect {
                #[cfg(feature = "sqlite")]
                Dialect::Sqlite => format!("{name} = {}", u8::from(flag)),
                #[cfg(feature = "postgres")]
                Dialect::Postgres if flag => name.to_owned(),
                #[cfg(feature = "postgres")]
                Dialect::Postgres => format!("NOT {name}"),
            }
        }
        Is::Not(code) => format!("{name} <> {code}"),
        Is::LowBitsZero => format!("{name} & 3 = 0"),
        Is::OneOf => format!("({param} >> {name}) & 1 = 1"),
        Is::AtLeast => amount(name, ">=", dialect, values),
        Is::AtMost => amount(name, "<=", dialect, values),
        // Each code has its own walk.
        Is::Each(_) => String::new(),
    }
}

/// Compares by value: there is one bound for each number of decimals that a currency can have.
fn amount(name: &str, operator: &str, dialect: Dialect, values: usize) -> String {
    let mut sql = format!("{name} {operator} CASE");
    for (decimals, currencies) in CURRENCIES_BY_DECIMALS.iter().enumerate() {
        if decimals != USUAL_DECIMALS && !currencies.is_empty() {
            let _ = write!(sql, " WHEN currency IN ({currencies}) THEN {}", dialect.param(values + 1 + decimals));
        }
    }
    let _ = write!(sql, " ELSE {} END", dialect.param(values + 1 + USUAL_DECIMALS));
    sql
}

/// Most currencies have two decimals; a statement names only the others.
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
