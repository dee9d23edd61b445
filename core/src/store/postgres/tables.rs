//! The statements of every table, generated once from the declarations.
//!
//! Writing statements take one array per column, so that a commit of a thousand rows needs only one statement per kind.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

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
    /// Finds that there is no such row.
    Miss,
}

/// The number of actions.
const ACTIONS: usize = 4;

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
    writes: [Sql; ACTIONS],
    /// Fails with a division by zero if there is a row with one of several primary keys.
    pub(in crate::store) none: Sql,
    /// Adds to existing values and returns the results.
    pub(in crate::store) post: Sql,
}

/// The statements of a table.
pub(in crate::store) fn statements(kind: RecordKind) -> &'static Statements {
    static ALL: LazyLock<Vec<Statements>> =
        LazyLock::new(|| RecordKind::ALL.iter().map(|kind| Statements::of(&Shape::of(&kind.spec()))).collect());
    &ALL[kind as usize]
}

/// Whether the keys of a new row of this kind are nearly always free: only the node that draws its number uses it, and a client seldom
/// repeats a reference.
pub(in crate::store) fn is_drawn(kind: RecordKind) -> bool {
    use RecordKind as Is;
    matches!(
        kind,
        Is::Settlement | Is::Event | Is::Attempt | Is::Transfer | Is::Task | Is::SimPayment | Is::Audit | Is::Unlogged | Is::Delivery
    )
}

/// Inserts rows of several kinds with free keys, in one statement and at half the cost of one that expects keys to be taken. If one
/// is, it fails.
pub(in crate::store) fn insert_drawn(kinds: &[RecordKind]) -> &'static Sql {
    // Few combinations occur, and each is kept for good.
    static ALL: LazyLock<Mutex<HashMap<Vec<RecordKind>, &Sql>>> = LazyLock::new(Mutex::default);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(kinds.to_vec()).or_insert_with(|| Box::leak(Box::new(inserting(kinds))))
}

fn inserting(kinds: &[RecordKind]) -> Sql {
    let mut of: Vec<Kind> = Vec::new();
    let mut inserts: Vec<String> = Vec::new();
    for kind in kinds {
        let table = Shape::of(&kind.spec());
        let (name, columns) = (table.name, table.names());
        let own: Vec<Kind> = table.columns.iter().map(|it| it.kind).collect();
        inserts.push(format!("INSERT INTO {name} ({columns}) SELECT * FROM {}", arrays_from(of.len() + 1, &own)));
        of.extend(own);
    }
    let last = inserts.pop().unwrap_or_default();
    let with: Vec<String> = inserts.iter().zip(1..).map(|(insert, n)| format!("i{n} AS ({insert})")).collect();
    let with = if with.is_empty() { String::new() } else { format!("WITH {} ", with.join(", ")) };
    Sql { text: with + &last, kinds: of }
}

/// Adds to the totals of accounts; an account without a row starts at zero.
pub(in crate::store) fn post() -> &'static Sql {
    &statements(RecordKind::Account).post
}

/// Adds to the totals of accounts, and fails with a division by zero if less is left of one than it must have: two more parameters are
/// the accounts and what that is.
pub(in crate::store) fn post_guarded() -> &'static Sql {
    static SQL: LazyLock<Sql> = LazyLock::new(|| {
        let Sql { text, kinds } = post();
        let own = [Kind::Int8, Kind::Int8];
        let left = "t.credits_posted - t.debits_posted - t.debits_pending";
        let accounts = arrays_from(kinds.len() + 1, &own);
        let text = format!("WITH t AS ({text}) SELECT 1 / ({left} >= u.least)::int4 FROM t JOIN {accounts} AS u (id, least) USING (id)");
        Sql { text, kinds: [kinds.as_slice(), &own].concat() }
    });
    &SQL
}

/// A statement as it is prepared.
pub(in crate::store) fn types(sql: &'static Sql) -> (&'static str, Vec<Type>) {
    (&sql.text, sql.types())
}

/// Adds to counters; a counter without a row starts at zero.
pub(in crate::store) fn count() -> &'static Sql {
    &statements(RecordKind::Usage).post
}

impl Statements {
    /// The statement for this action. Its result has one row, with the primary key, for each row whose condition holds.
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
        let named_keys = list(&keys, ", ", named);
        let delete = format!("DELETE FROM {name} AS t USING {gone} AS u ({named_keys}) WHERE {same_key} RETURNING {returning}");

        let missed = format!("SELECT u.* FROM {gone} AS u ({named_keys}) WHERE NOT EXISTS (SELECT FROM {name} AS t WHERE {same_key})");
        let none = format!("SELECT 1 / (count(*) = 0)::int4 FROM {name} AS t JOIN {gone} AS u ({named_keys}) ON {same_key}");

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
        let post = format!(
            "INSERT INTO {name} ({columns}) SELECT * FROM {rows} ON CONFLICT ({named_keys}) DO UPDATE SET {added} RETURNING {columns}"
        );
        let own = || kinds(&table.columns);
        let of_keys = |text| Sql { text, kinds: kinds(&keys) };
        Self {
            get: table.get(Dialect::Postgres),
            get_any,
            find: table.find(Dialect::Postgres),
            writes: [Sql { text: insert, kinds: own() }, Sql { text: replace, kinds: of }, of_keys(delete), of_keys(missed)],
            none: of_keys(none),
            post: Sql { text: post, kinds: own() },
        }
    }
}

/// One array per column, turned into rows in order.
fn arrays(kinds: &[Kind]) -> String {
    arrays_from(1, kinds)
}

/// The same, with the number of the first parameter.
fn arrays_from(first: usize, kinds: &[Kind]) -> String {
    let arrays: Vec<String> = kinds.iter().zip(first..).map(|(kind, n)| format!("${n}::{}[]", kind.single().name())).collect();
    format!("unnest({})", arrays.join(", "))
}
