//! A scan as a statement. Its text depends on the shape only, so that each is made once and stays prepared.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::{Is, Limit, Order, Scan, Shape};
use crate::money::Currency;
use crate::store::cell::Cell;
use crate::store::column::Kind;
use crate::store::declare::Role;
use crate::store::sql::{self, ColumnOf, Dialect, list};

/// The statements of one database that were asked for so far. There are as many as there are combinations of list filters at
/// most, and they stay.
pub(crate) struct Statements {
    dialect: Dialect,
    texts: LazyLock<RwLock<HashMap<Shape, &'static str>>>,
}

impl Statements {
    /// None so far.
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
    /// What the parameters of its statement are.
    pub(crate) fn params(&self) -> impl Iterator<Item = Cell> {
        let limit = (self.shape.limit == Limit::Given).then(|| Cell::Int(i64::try_from(self.limit).unwrap_or(i64::MAX)));
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
                        // It merges them as they come.
                        #[cfg(feature = "sqlite")]
                        Dialect::Sqlite => walk,
                        // Each in the order of the whole, and no longer than the whole.
                        #[cfg(feature = "postgres")]
                        Dialect::Postgres => format!("({walk}{end})"),
                    }
                };
                codes.iter().map(walk).collect::<Vec<_>>().join(" UNION ALL ") + &end
            }
        }
    }

    /// What must hold, and how many values it takes.
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

    /// Order and limit.
    fn end(&self, table: &sql::Shape, dialect: Dialect, values: usize) -> String {
        let is_one = |it: &&ColumnOf| self.tests.iter().any(|(column, is)| usize::from(*column) + 1 == it.no && *is == Is::Equal);
        let key = || table.key().filter(|it| !is_one(it));
        let order = match self.order {
            // There is at most one row of a unique key, which is found by it and not on a walk in order.
            _ if table.unique().count() > 0 && table.unique().all(|it| is_one(&it)) => String::new(),
            Order::Key => format!(" ORDER BY {}", list(key(), ", ", |it| it.name.to_owned())),
            Order::KeyBackwards => format!(" ORDER BY {}", list(key(), ", ", |it| format!("{} DESC", it.name))),
            Order::By(columns) => {
                let columns = columns.iter().filter_map(|column| table.columns.get(usize::from(*column)));
                format!(" ORDER BY {}", list(columns, ", ", |it| it.name.to_owned()))
            }
        };
        match self.limit {
            Limit::None => order,
            Limit::One => order + " LIMIT 1",
            Limit::Given => format!("{order} LIMIT {}", dialect.param(values + 1)),
        }
    }
}

/// What must hold of a column, where so many values stand before its own.
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
        // A walk of its own each.
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
