//! A kind of record that exists only for tests, and a column added to it later. Both are declared as in [`tables`](super::tables),
//! with a migration; everything else is derived.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, irrefutable_let_patterns, reason = "a test needs only a part of what is declared, which is one kind")]

use rusqlite::Connection;

use super::cell::{Cell, FURTHER, ordered};
use super::column::Column;
use super::declare::{Flag, Spec, has};
use super::journal::code;
use super::sql::Shape;
use super::sqlite::rows::{Bind, Cells as SqliteCells};
use super::sqlite::tables::{Action, Statements};
use crate::ids::SettlementNo;

/// The kind before the new column.
mod before {
    use crate::ids::SettlementNo;
    use crate::store::column::{Bound, Column, Read, Sink, Source};
    use crate::store::declare::{Flag, Layout, Line, Role, Spec, has, tables};

    tables! {
        /// A test record.
        Scratch(ScratchRecord) "scratch" = 100 Versioned, find ScratchName(name: String) {
            key {
                /// Its settlement.
                settlement: SettlementNo,
                /// Its number within the settlement.
                n: u16 => k;
            }
            /// Unique if present.
            name: Option<String> [unique];
            /// Increases by one with every change.
            version: u32;
        }
    }
}

/// The kind with the new column.
mod after {
    use crate::auth::Algorithm;
    use crate::ids::SettlementNo;
    use crate::store::column::{Bound, Column, Read, Sink, Source};
    use crate::store::declare::{Flag, Layout, Line, Role, Spec, has, tables};

    tables! {
        /// A test record.
        Scratch(ScratchRecord) "scratch" = 100 Versioned, find ScratchName(name: String) {
            key {
                /// Its settlement.
                settlement: SettlementNo,
                /// Its number within the settlement.
                n: u16 => k;
            }
            /// Unique if present.
            name: Option<String> [unique];
            /// Increases by one with every change.
            version: u32;
            /// Its signature algorithm.
            signed: Option<Algorithm> => how;
        }
    }
}

const MIGRATIONS: [&str; 2] = [
    "CREATE TABLE scratch (k INTEGER PRIMARY KEY, name TEXT UNIQUE, version INTEGER NOT NULL) STRICT",
    "ALTER TABLE scratch ADD COLUMN how INTEGER",
];

/// Executes a statement that writes a row; returns whether a row was written.
fn write(database: &Connection, sql: &str, bind: impl FnOnce(&mut Bind<'_, '_>) -> rusqlite::Result<()>) -> bool {
    let mut statement = database.prepare(sql).unwrap();
    bind(&mut Bind::new(&mut statement)).unwrap();
    statement.raw_execute().unwrap() == 1
}

#[test]
fn a_declaration_and_a_migration_are_a_table_of_sqlite() {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch(MIGRATIONS[0]).unwrap();
    let old = Statements::of(&Shape::of(&before::RecordKind::Scratch.spec()));
    let first = before::ScratchRecord { settlement: SettlementNo(-7), n: 3, name: Some("a".to_owned()), version: 1 };
    assert!(write(&database, old.write(Action::Insert), |it| first.bind(it)));
    assert!(
        !write(&database, old.write(Action::Insert), |it| before::ScratchRecord { n: 4, ..first.clone() }.bind(it)),
        "its name is taken"
    );
    assert!(write(&database, old.write(Action::Insert), |it| before::ScratchRecord { n: 5, name: None, ..first.clone() }.bind(it)));

    // The new column is NULL in existing rows and is written from now on.
    database.execute_batch(MIGRATIONS[1]).unwrap();
    let new = Statements::of(&Shape::of(&after::RecordKind::Scratch.spec()));
    let read = |sql: &str, bind: &dyn Fn(&mut Bind<'_, '_>) -> rusqlite::Result<()>| {
        let mut statement = database.prepare(sql).unwrap();
        bind(&mut Bind::new(&mut statement)).unwrap();
        let mut rows = statement.raw_query();
        rows.next().unwrap().map(|row| after::ScratchRecord::read(&mut SqliteCells::new(row)).unwrap())
    };
    let named = after::Unique::ScratchName("a".to_owned());
    let grown = after::ScratchRecord { settlement: SettlementNo(-7), n: 3, name: Some("a".to_owned()), version: 1, signed: None };
    assert_eq!(read(&new.find, &|it| named.bind(it)), Some(grown.clone()));

    let second = after::ScratchRecord { version: 2, signed: Some(crate::auth::Algorithm::Ed25519), ..grown };
    let replace = |record: &after::ScratchRecord, expected: u32| {
        write(&database, new.write(Action::Replace), |it| {
            record.bind(it)?;
            Column::put(&expected, it)
        })
    };
    assert!(
        !replace(&second, 2) && !replace(&after::ScratchRecord { name: None, ..second.clone() }, 1),
        "version and name are as they were"
    );
    assert!(replace(&second, 1));
    let key = after::Record::from(second.clone()).key();
    assert_eq!(read(&new.get, &|it| key.bind(it)), Some(second));
    assert!(write(&database, new.write(Action::Delete), |it| key.bind(it)));
    assert_eq!(read(&new.get, &|it| key.bind(it)), None);
}

#[test]
fn a_declaration_is_a_row_of_a_journal_and_of_memory() {
    let record = after::ScratchRecord { settlement: SettlementNo(9), n: 1, name: Some("a".to_owned()), version: 300, signed: None };
    let mut cells = Vec::new();
    after::Record::from(record.clone()).bind::<true, _>(&mut cells).unwrap();
    let row = code::row(&cells, 0);
    assert_eq!(row, [1, 130, 128, 72, 2, 1, b'a', 1, 216, 4, 0]);
    assert_eq!(code::decode(&row).unwrap(), cells);
    let read = after::Record::read::<true, _>(after::RecordKind::Scratch, &mut code::Cells::new(cells.clone())).unwrap();
    assert_eq!((read.version(), read.kind().as_str()), (Some(300), "scratch"));
    assert_eq!(read, record.into());

    let layout = after::RecordKind::Scratch.layout();
    assert_eq!(layout.unique_of(&cells).unwrap(), ordered(100 | FURTHER, &[Cell::Text("a".to_owned())]).into());
    let with = |at: usize, cell: Cell| {
        let mut other = cells.clone();
        other[at] = cell;
        other
    };
    assert_eq!(layout.unique_of(&with(1, Cell::Null)), None);
    assert!(layout.may_follow(&cells, &with(2, Cell::Int(301))) && !layout.may_follow(&cells, &with(1, Cell::Text("b".to_owned()))));
    let beyond = after::Key::Scratch((SettlementNo(1 << 47), 1));
    assert!(beyond.refusal().is_some() && after::Key::Scratch((SettlementNo(9), 1)).refusal().is_none());
    let spec: Spec = after::RecordKind::Scratch.spec();
    assert!(has(spec.flags, Flag::Versioned) && !has(spec.flags, Flag::Server));
}

#[cfg(feature = "postgres")]
#[test]
fn a_declaration_is_the_statements_of_postgresql() {
    let new = super::postgres::tables::Statements::of(&Shape::of(&after::RecordKind::Scratch.spec()));
    use super::postgres::tables::Action;
    assert_eq!(new.find, "SELECT k, name, version, how FROM scratch WHERE name = $1");
    assert_eq!(
        new.write(Action::Replace).text,
        "UPDATE scratch AS t SET version = u.version, how = u.how \
         FROM unnest($1::int8[], $2::text[], $3::int8[], $4::int2[], $5::int8[]) AS u (k, name, version, how, expected) \
         WHERE t.k = u.k AND t.name IS NOT DISTINCT FROM u.name AND t.version = u.expected RETURNING t.k"
    );
}
