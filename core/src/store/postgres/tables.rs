//! What PostgreSQL's tables are made of, and the statements that write them.
//!
//! Each statement takes one array a column, so that a commit of a thousand rows is as many statements as there are kinds
//! of rows in it. All of them are made here from the tables' columns, once.

use std::sync::LazyLock;

use tokio_postgres::types::Type;

use crate::store::rows::{Table, columns};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Flag,
    Int2,
    Int4,
    Int8,
    Text,
    Bytes,
}

impl Kind {
    /// The type of one value.
    pub(super) fn single(self) -> Type {
        match self {
            Self::Flag => Type::BOOL,
            Self::Int2 => Type::INT2,
            Self::Int4 => Type::INT4,
            Self::Int8 => Type::INT8,
            Self::Text => Type::TEXT,
            Self::Bytes => Type::BYTEA,
        }
    }

    /// The type of an array of them.
    pub(super) fn array(self) -> Type {
        match self {
            Self::Flag => Type::BOOL_ARRAY,
            Self::Int2 => Type::INT2_ARRAY,
            Self::Int4 => Type::INT4_ARRAY,
            Self::Int8 => Type::INT8_ARRAY,
            Self::Text => Type::TEXT_ARRAY,
            Self::Bytes => Type::BYTEA_ARRAY,
        }
    }
}

/// A table: its columns in the order in which [`crate::store::rows`] gives them, the primary key first.
pub(super) struct Shape {
    /// Its name.
    name: &'static str,
    columns: &'static str,
    /// What each column holds.
    pub(super) kinds: &'static [Kind],
    /// How many columns the primary key has.
    pub(super) key: usize,
    /// Columns behind it that never change: of another unique key, or by the trait's word.
    fixed: &'static [&'static str],
    /// Has a unique key beside the primary one.
    pub(super) unique: bool,
    /// Is replaced by version.
    versioned: bool,
}

const PLAIN: Shape = Shape { name: "", columns: "", kinds: &[], key: 1, fixed: &[], unique: false, versioned: false };

macro_rules! shape {
    ($table:ident [$($kind:ident)*] $($more:tt)*) => {
        Shape { name: stringify!($table), columns: columns!($table), kinds: &[$(Kind::$kind),*], $($more)* ..PLAIN }
    };
}

/// The table as PostgreSQL has it.
pub(super) const fn shape(table: Table) -> Shape {
    match table {
        Table::Client => shape!(client [Int8 Bytes Text Flag Bytes Int8] fixed: &["id"], unique: true,),
        Table::Key => {
            shape!(key [Int8 Bytes Int8 Int2 Int2 Bytes Int8 Int2 Text Int8 Int8] fixed: &["id"], unique: true,)
        }
        Table::Token => shape!(token [Bytes Int8 Int8 Int2 Int8 Int8 Int8]),
        Table::Provider => shape!(provider [Int4 Text] fixed: &["id"], unique: true,),
        Table::Account => shape!(account [Int8 Int8 Int8 Int8 Int8]),
        Table::Settlement => shape!(settlement
            [Int8 Int8 Text Int2 Int2 Int8 Flag Int8 Int2 Text Int4 Int8 Int8 Int8 Int4 Int4 Int4 Int4 Int8 Bytes Int8 Int8 Int8 Int8 Text]
            fixed: &["client", "reference"], unique: true, versioned: true,),
        Table::Event => shape!(event [Int8 Int2 Int8 Int2 Int2 Int2 Int4 Text Bytes]),
        Table::Attempt => shape!(attempt [Int8 Int4 Int2 Int4 Int8 Int8]),
        Table::Reversal => shape!(reversal
            [Int8 Int8 Text Int2 Int8 Int2 Text Int4 Flag Text Text Int8 Int8 Int8] fixed: &["client", "reference"], unique: true,),
        Table::Transfer => shape!(transfer [Int8 Int2 Int2 Int8 Int8 Int8 Int4 Int8]),
        Table::Task => shape!(task [Int8 Int2 Int8 Int4 Int4 Int8 Int8]),
        Table::Idempotency => shape!(idempotency [Int8 Text Bytes Int8 Int4 Int8] key: 2,),
        Table::SimPayment => shape!(sim_payment [Int8 Int4 Int4 Int8]),
        Table::Nonce => shape!(nonce [Bytes Int8]),
        Table::Secret => shape!(secret [Int2 Int8 Bytes Bytes Int8 Int8] key: 2,),
        Table::Audit => shape!(audit [Int8 Int8 Int8 Int8 Int2 Int8 Text Text]),
        Table::Meta => shape!(meta [Text Bytes]),
        Table::Unlogged => shape!(unlogged [Int8 Bytes]),
        Table::Feed => shape!(feed [Int8 Int8 Int8 Int8 Int8] key: 2, fixed: &["k"], unique: true,),
        Table::Tile => shape!(tile [Int8 Bytes]),
        Table::LogHead => shape!(log_head [Int8 Int8 Int8]),
        Table::Endpoint => shape!(endpoint [Int8 Bytes Int8 Int8 Int2 Int2 Text Int8 Text Int8 Int8]
            fixed: &["id", "client", "mode"], unique: true, versioned: true,),
        Table::EndpointSecret => shape!(endpoint_secret [Int8 Int8 Bytes Int8 Int8] key: 2,),
        Table::Queue => shape!(queue [Int8 Int8 Flag Int8 Int8 Int8 Int8] versioned: true,),
        Table::Delivery => {
            shape!(delivery [Int8 Int8 Bytes Int2 Int2 Int2 Int4 Int8 Int8 Int8 Text Text] fixed: &["endpoint"],)
        }
    }
}

/// What a commit does to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Action {
    Insert,
    Replace,
    Delete,
}

/// A statement and what its parameters hold.
pub(super) struct Sql {
    /// Its text.
    pub(super) text: String,
    /// What each parameter is an array of.
    pub(super) kinds: Vec<Kind>,
}

impl Sql {
    /// The types of its parameters.
    pub(super) fn types(&self) -> Vec<Type> {
        self.kinds.iter().map(|kind| kind.array()).collect()
    }
}

/// The statements of one table.
struct Statements {
    get: String,
    get_any: Option<String>,
    first: String,
    after: String,
    writes: [Sql; 3],
}

static STATEMENTS: LazyLock<Vec<Statements>> = LazyLock::new(|| Table::ALL.iter().map(|table| statements(&shape(*table))).collect());

/// The statement that does this to a table. Its result has one row for each row that it wrote, with the primary key.
pub(super) fn write(table: Table, action: Action) -> &'static Sql {
    &STATEMENTS[table as usize].writes[action as usize]
}

/// The statement that finds a row by its primary key.
pub(super) fn get(table: Table) -> &'static str {
    &STATEMENTS[table as usize].get
}

/// The statement that finds the rows of several primary keys, in any order; none where a key has more than one column.
pub(super) fn get_any(table: Table) -> Option<&'static str> {
    STATEMENTS[table as usize].get_any.as_deref()
}

/// The statement that walks a table by its primary key, behind one or from the first row on: at most as many rows as its
/// last parameter says.
pub(super) fn page(table: Table, behind: bool) -> &'static str {
    let statements = &STATEMENTS[table as usize];
    if behind { &statements.after } else { &statements.first }
}

/// Adds to accounts' totals and says what they are then; an account without a row starts at zero.
pub(super) static POST: LazyLock<Sql> = LazyLock::new(|| {
    let shape = shape(Table::Account);
    let added: Vec<String> = shape.names().skip(1).map(|name| format!("{name} = account.{name} + excluded.{name}")).collect();
    let text = format!(
        "INSERT INTO account ({0}) SELECT * FROM {1} ON CONFLICT (id) DO UPDATE SET {2} RETURNING {0}",
        shape.columns,
        arrays(shape.kinds),
        added.join(", ")
    );
    Sql { text, kinds: shape.kinds.to_vec() }
});

impl Shape {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.columns.split(", ")
    }
}

fn statements(shape: &Shape) -> Statements {
    let (name, columns) = (shape.name, shape.columns);
    let keys: Vec<&str> = shape.names().take(shape.key).collect();
    let joined =
        |condition: &dyn Fn(&str) -> String, names: &[&str]| names.iter().map(|it| condition(it)).collect::<Vec<_>>().join(" AND ");
    let same_key = joined(&|it| format!("t.{it} = u.{it}"), &keys);
    let returning = keys.iter().map(|it| format!("t.{it}")).collect::<Vec<_>>().join(", ");

    let by_key: Vec<String> = keys.iter().zip(1..).map(|(it, n)| format!("{it} = ${n}")).collect();
    let get = format!("SELECT {columns} FROM {name} WHERE {}", by_key.join(" AND "));
    let get_any = if let [key] = keys.as_slice() { Some(format!("SELECT {columns} FROM {name} WHERE {key} = ANY($1)")) } else { None };
    let (order, places) = (keys.join(", "), (1..=keys.len()).map(|n| format!("${n}")).collect::<Vec<_>>().join(", "));
    let first = format!("SELECT {columns} FROM {name} ORDER BY {order} LIMIT $1");
    let after = format!("SELECT {columns} FROM {name} WHERE ({order}) > ({places}) ORDER BY {order} LIMIT ${}", keys.len() + 1);
    let insert =
        format!("INSERT INTO {name} AS t ({columns}) SELECT * FROM {} ON CONFLICT DO NOTHING RETURNING {returning}", arrays(shape.kinds));
    let delete = format!(
        "DELETE FROM {name} AS t USING {} AS u ({}) WHERE {same_key} RETURNING {returning}",
        arrays(&shape.kinds[..shape.key]),
        keys.join(", ")
    );

    let mut kinds = shape.kinds.to_vec();
    let mut condition = same_key;
    for fixed in shape.fixed {
        condition.push_str(&format!(" AND t.{fixed} IS NOT DISTINCT FROM u.{fixed}"));
    }
    let mut given = columns.to_owned();
    if shape.versioned {
        kinds.push(Kind::Int8);
        given.push_str(", expected");
        condition.push_str(" AND t.version = u.expected");
    }
    let mut assigned: Vec<&str> = shape.names().skip(shape.key).filter(|it| !shape.fixed.contains(it)).collect();
    if assigned.is_empty() {
        // Nothing can change, but whether it is there still counts.
        assigned.push(keys[0]);
    }
    let assigned: Vec<String> = assigned.iter().map(|it| format!("{it} = u.{it}")).collect();
    let replace = format!(
        "UPDATE {name} AS t SET {} FROM {} AS u ({given}) WHERE {condition} RETURNING {returning}",
        assigned.join(", "),
        arrays(&kinds)
    );
    let own = || shape.kinds.to_vec();
    let delete = Sql { text: delete, kinds: shape.kinds[..shape.key].to_vec() };
    Statements { get, get_any, first, after, writes: [Sql { text: insert, kinds: own() }, Sql { text: replace, kinds }, delete] }
}

/// One array a column, turned into rows in their order.
fn arrays(kinds: &[Kind]) -> String {
    let arrays: Vec<String> = kinds.iter().zip(1..).map(|(kind, n)| format!("${n}::{}[]", kind.single().name())).collect();
    format!("unnest({})", arrays.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_says_what_each_of_its_columns_holds() {
        for (at, table) in Table::ALL.iter().enumerate() {
            let shape = shape(*table);
            assert_eq!(*table as usize, at);
            assert_eq!(shape.names().count(), shape.kinds.len(), "{}", shape.name);
            assert!(shape.fixed.iter().all(|it| shape.names().any(|name| name == *it)), "{}", shape.name);
            assert!(!shape.versioned || shape.names().any(|name| name == "version"), "{}", shape.name);
        }
    }
}
