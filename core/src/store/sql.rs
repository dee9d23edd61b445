//! The SQL that both databases share: the columns of a table, and the statements that look up one row.

use std::fmt::Write as _;

use super::column::Kind;
use super::declare::{Flag, Role, Spec, has};

/// An SQL dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[cfg(feature = "sqlite")]
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
}

impl Dialect {
    /// The placeholder of parameter `n`, counted from 1.
    pub(crate) fn param(self, n: usize) -> String {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite => format!("?{n}"),
            #[cfg(feature = "postgres")]
            Self::Postgres => format!("${n}"),
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnOf {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
    pub(crate) role: Role,
    /// From 1: the parameter for its value in statements that take a whole record.
    pub(crate) no: usize,
}

/// A table as seen by SQL.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) columns: Vec<ColumnOf>,
    versioned: bool,
}

impl ColumnOf {
    /// A version as a number, in SQL. `name` may contain the table.
    pub(crate) fn version(&self, name: &str) -> String {
        if self.nullable { format!("COALESCE({name}, 0)") } else { name.to_owned() }
    }
}

impl Shape {
    /// The shape of a table from its declaration.
    pub(crate) fn of(spec: &Spec) -> Self {
        let lines = spec.lines.iter().flat_map(|line| line.names.iter().zip(line.kinds).map(move |column| (line, column)));
        let columns =
            lines.zip(1..).map(|((line, (name, kind)), no)| ColumnOf { name, kind: *kind, nullable: line.nullable, role: line.role, no });
        Self { name: spec.name, columns: columns.collect(), versioned: has(spec.flags, Flag::Versioned) }
    }

    /// The column of the version that guards a replacement.
    pub(crate) fn version(&self) -> Option<&ColumnOf> {
        self.columns.iter().filter(|_| self.versioned).find(|it| it.name == "version")
    }

    /// The columns of the primary key.
    pub(crate) fn key(&self) -> impl Iterator<Item = &ColumnOf> {
        self.columns.iter().filter(|it| it.role == Role::Key)
    }

    /// The columns of the further unique key.
    pub(crate) fn unique(&self) -> impl Iterator<Item = &ColumnOf> {
        self.columns.iter().filter(|it| it.role == Role::Unique)
    }

    /// The columns outside the primary key that never change.
    pub(crate) fn fixed(&self) -> impl Iterator<Item = &ColumnOf> {
        self.columns.iter().filter(|it| matches!(it.role, Role::Unique | Role::Fixed))
    }

    /// The columns that a replacement assigns. If nothing can change, it assigns the key, because the row must still exist.
    pub(crate) fn assigned(&self) -> Vec<&ColumnOf> {
        let changing: Vec<_> = self.columns.iter().filter(|it| matches!(it.role, Role::Checked | Role::Later | Role::Plain)).collect();
        if changing.is_empty() { self.key().take(1).collect() } else { changing }
    }

    /// The names of all columns.
    pub(crate) fn names(&self) -> String {
        list(&self.columns, ", ", |it| it.name.to_owned())
    }

    /// A `SELECT` of whole rows, to which conditions can be added.
    pub(crate) fn select(&self) -> String {
        format!("SELECT {} FROM {}", self.names(), self.name)
    }

    /// Selects the row with a primary key.
    pub(crate) fn get(&self, dialect: Dialect) -> String {
        self.select_where(dialect, self.key())
    }

    /// Selects the row with a further unique key.
    pub(crate) fn find(&self, dialect: Dialect) -> String {
        self.select_where(dialect, self.unique())
    }

    fn select_where<'s>(&self, dialect: Dialect, columns: impl Iterator<Item = &'s ColumnOf>) -> String {
        let mut sql = self.select();
        for (column, n) in columns.zip(1..) {
            let _ = write!(sql, " {} {} = {}", if n == 1 { "WHERE" } else { "AND" }, column.name, dialect.param(n));
        }
        sql
    }
}

/// Formats each column with `say`, separated by `between`.
pub(crate) fn list<'s>(columns: impl IntoIterator<Item = &'s ColumnOf>, between: &str, say: impl FnMut(&ColumnOf) -> String) -> String {
    columns.into_iter().map(say).collect::<Vec<_>>().join(between)
}
