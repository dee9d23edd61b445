//! The statements of every table, generated once from the declarations.

use std::sync::LazyLock;

use crate::store::declare::Role;
use crate::store::record::RecordKind;
use crate::store::sql::{ColumnOf, Dialect, Shape, list};

/// What a commit does to a table.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Action {
    Insert,
    Replace,
    Delete,
}

/// The number of actions.
pub(in crate::store) const ACTIONS: usize = 3;

/// The statements of one table.
pub(in crate::store) struct Statements {
    /// Selects the row with a primary key.
    pub(in crate::store) get: String,
    /// Selects the row with the further unique key.
    pub(in crate::store) find: String,
    writes: [String; ACTIONS],
    /// Inserts a row or replaces the existing one.
    pub(in crate::store) upsert: String,
}

/// The statements of a table.
pub(in crate::store) fn statements(kind: RecordKind) -> &'static Statements {
    static ALL: LazyLock<Vec<Statements>> =
        LazyLock::new(|| RecordKind::ALL.iter().map(|kind| Statements::of(&Shape::of(&kind.spec()))).collect());
    &ALL[kind as usize]
}

impl Statements {
    /// The parameters are the columns in order. A replacement of a kind with a version takes the expected version as last
    /// parameter.
    pub(in crate::store) fn write(&self, action: Action) -> &str {
        &self.writes[action as usize]
    }

    pub(in crate::store) fn of(table: &Shape) -> Self {
        let name = table.name;
        let set = |it: &ColumnOf| format!("{} = ?{}", it.name, it.no);
        let key = || list(table.key(), " AND ", set);
        let values = list(&table.columns, ", ", |it| format!("?{}", it.no));
        let row = format!("INSERT INTO {name} ({}) VALUES ({values}) ON CONFLICT DO", table.names());

        let is_expected = |it: &ColumnOf| format!(" AND {} = ?{}", it.version("version"), table.columns.len() + 1);
        let version = table.version().map(is_expected).unwrap_or_default();
        // Compared instead of assigned: SQLite rewrites an index whose columns an update names, even if they do not change.
        let same = |it: &ColumnOf| format!(" AND {} {} ?{}", it.name, if it.nullable { "IS" } else { "=" }, it.no);
        let fixed = list(table.fixed(), "", same);
        let replace = format!("UPDATE {name} SET {} WHERE {}{version}{fixed}", list(table.assigned(), ", ", set), key());
        let delete = format!("DELETE FROM {name} WHERE {}", key());
        let changing = table.columns.iter().filter(|it| it.role == Role::Plain);
        Self {
            get: table.get(Dialect::Sqlite),
            find: table.find(Dialect::Sqlite),
            upsert: format!("{row} UPDATE SET {}", list(changing, ", ", set)),
            writes: [format!("{row} NOTHING"), replace, delete],
        }
    }
}
