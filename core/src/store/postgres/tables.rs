//! The statements of every table, generated once from the declarations.
//!
//! Writing statements take one array per column, so that a commit of a thousand rows needs only one statement per kind.

use std::sync::LazyLock;

use tokio_postgres::types::Type;

use crate::store::column::Kind;
use crate::store::record::RecordKind;
use crate::store::sql::{ColumnOf, Dialect, Shape, list};

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

    /// The type of an array of such values.
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

/// What a commit does to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::store) enum Action {
    Insert,
    Replace,
    Delete,
}

/// A statement and the types of its parameters.
pub(in crate::store) struct Sql {
    /// The SQL text.
    pub(in crate::store) text: String,
    /// The element type of each array parameter.
    pub(in crate::store) kinds: Vec<Kind>,
}

impl Sql {
    /// The PostgreSQL types of its parameters.
    pub(in crate::store) fn types(&self) -> Vec<Type> {
        self.kinds.iter().map(|kind| kind.array()).collect()
    }
}

/// The statements of one table.
pub(in crate::store) struct Statements {
    /// Selects the row with a primary key.
    pub(in crate::store) get: String,
    /// Selects the rows with several primary keys, in any order; `None` if the key has more than one column.
    pub(in crate::store) get_any: Option<String>,
    /// Selects the row with the further unique key.
    pub(in crate::store) find: String,
    writes: [Sql; 3],
    /// Adds to existing values and returns the results.
    pub(in crate::store) post: Sql,
}

/// The statements of a table.
pub(in crate::store) fn statements(kind: RecordKind) -> &'static Statements {
    static ALL: LazyLock<Vec<Statements>> =
        LazyLock::new(|| RecordKind::ALL.iter().map(|kind| Statements::of(&Shape::of(&kind.spec()))).collect());
    &ALL[kind as usize]
}

/// Adds to the totals of accounts; an account without a row starts at zero.
pub(in crate::store) fn post() -> &'static Sql {
    &statements(RecordKind::Account).post
}

/// Adds to counters; a counter without a row starts at zero.
pub(in crate::store) fn count() -> &'static Sql {
    &statements(RecordKind::Usage).post
}

impl Statements {
    /// The statement for this action. Its result has one row, with the primary key, for each row written.
    pub(in crate::store) fn write(&self, action: Action) -> &Sql {
        &self.writes[action as usize]
    }

    pub(in crate::store) fn of(table: &Shape) -> Self {
        let (name, columns) = (table.name, table.names());
        let named = |it: &ColumnOf| it.name.to_owned();
        let keys: Vec<ColumnOf> = table.key().copied().collect();
        let kinds = |columns: &[ColumnOf]| columns.iter().map(|it| it.kind).collect::<Vec<_>>();
        let same_key = list(&keys, " AND ", |it| format!("t.{0} = u.{0}", it.name));
        let returning = list(&keys, ", ", |it| format!("t.{}", it.name));

        let get_any = if let [key] = keys.as_slice() { Some(format!("{} WHERE {} = ANY($1)", table.select(), key.name)) } else { None };
        let rows = arrays(&kinds(&table.columns));
        let insert = format!("INSERT INTO {name} AS t ({columns}) SELECT * FROM {rows} ON CONFLICT DO NOTHING RETURNING {returning}");
        let gone = arrays(&kinds(&keys));
        let delete =
            format!("DELETE FROM {name} AS t USING {gone} AS u ({}) WHERE {same_key} RETURNING {returning}", list(&keys, ", ", named));

        let (mut given, mut of, mut condition) = (columns.clone(), kinds(&table.columns), same_key);
        condition += &list(table.fixed(), "", |it| format!(" AND t.{0} IS NOT DISTINCT FROM u.{0}", it.name));
        if let Some(version) = table.version() {
            of.push(Kind::Int8);
            given += ", expected";
            condition += &format!(" AND {} = u.expected", version.version("t.version"));
        }
        let set = list(table.assigned(), ", ", |it| format!("{0} = u.{0}", it.name));
        let replace = format!("UPDATE {name} AS t SET {set} FROM {} AS u ({given}) WHERE {condition} RETURNING {returning}", arrays(&of));

        let added = list(table.assigned(), ", ", |it| format!("{0} = {name}.{0} + excluded.{0}", it.name));
        let conflict = list(&keys, ", ", named);
        let post = format!(
            "INSERT INTO {name} ({columns}) SELECT * FROM {rows} ON CONFLICT ({conflict}) DO UPDATE SET {added} RETURNING {columns}"
        );
        let own = || kinds(&table.columns);
        let delete = Sql { text: delete, kinds: kinds(&keys) };
        Self {
            get: table.get(Dialect::Postgres),
            get_any,
            find: table.find(Dialect::Postgres),
            writes: [Sql { text: insert, kinds: own() }, Sql { text: replace, kinds: of }, delete],
            post: Sql { text: post, kinds: own() },
        }
    }
}

/// One array per column, turned into rows in order.
fn arrays(kinds: &[Kind]) -> String {
    let arrays: Vec<String> = kinds.iter().zip(1..).map(|(kind, n)| format!("${n}::{}[]", kind.single().name())).collect();
    format!("unnest({})", arrays.join(", "))
}
