//! What the SQL of both databases has in common: the columns of a table, and the statements that look up one row.

use std::fmt::Write as _;

use super::column::Kind;
use super::declare::{Flag, Role, Spec, has};

/// Whose SQL it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[cfg(feature = "sqlite")]
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
}

impl Dialect {
    /// The place of a parameter, from 1.
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
    /// From 1: the parameter that has its value, where a whole record is given.
    pub(crate) no: usize,
}

/// A table as SQL sees it.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) columns: Vec<ColumnOf>,
    pub(crate) versioned: bool,
}

impl Shape {
    /// Of a table as it is declared.
    pub(crate) fn of(spec: &Spec) -> Self {
        let lines = spec.lines.iter().flat_map(|line| line.names.iter().zip(line.kinds).map(move |column| (line, column)));
        let columns =
            lines.zip(1..).map(|((line, (name, kind)), no)| ColumnOf { name, kind: *kind, nullable: line.nullable, role: line.role, no });
        Self { name: spec.name, columns: columns.collect(), versioned: has(spec.flags, Flag::Versioned) }
    }

    /// Those of the primary key.
    pub(crate) fn key(&self) -> impl Iterator<Item = &ColumnOf> {
        self.columns.iter().filter(|it| it.role == Role::Key)
    }

    /// Those of the further unique key.
    pub(crate) fn unique(&self) -> impl Iterator<Item = &ColumnOf> {
        self.columns.iter().filter(|it| it.role == Role::Unique)
    }

    /// Those behind the primary key that never change.
    pub(crate) fn fixed(&self) -> impl Iterator<Item = &ColumnOf> {
        self.columns.iter().filter(|it| matches!(it.role, Role::Unique | Role::Fixed))
    }

    /// Those that a replacement assigns. Where nothing can change it is the key, for whether it is there still counts.
    pub(crate) fn assigned(&self) -> Vec<&ColumnOf> {
        let changing: Vec<_> = self.columns.iter().filter(|it| matches!(it.role, Role::Checked | Role::Plain)).collect();
        if changing.is_empty() { self.key().take(1).collect() } else { changing }
    }

    /// The names of all.
    pub(crate) fn names(&self) -> String {
        list(&self.columns, ", ", |it| it.name.to_owned())
    }

    /// Whole rows, of which something is still to be said.
    pub(crate) fn select(&self) -> String {
        format!("SELECT {} FROM {}", self.names(), self.name)
    }

    /// The row of a primary key.
    pub(crate) fn get(&self, dialect: Dialect) -> String {
        self.select_where(dialect, self.key())
    }

    /// The row of a further unique key.
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

/// What is said of each, with something between.
pub(crate) fn list<'s>(columns: impl IntoIterator<Item = &'s ColumnOf>, between: &str, say: impl FnMut(&ColumnOf) -> String) -> String {
    columns.into_iter().map(say).collect::<Vec<_>>().join(between)
}
