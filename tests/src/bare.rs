//! Copies rows of a database without knowledge of their meaning, as the minimal client of the benchmarks does.

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, Statement};

/// A statement that inserts rows into a table, given as one array per column.
pub async fn insert(client: &Client, table: &str) -> Statement {
    let all = client.prepare(&format!("SELECT * FROM {table}")).await.expect("preparing");
    let arrays: Vec<String> = all.columns().iter().zip(1..).map(|(it, n)| format!("${n}::{}[]", it.type_().name())).collect();
    client.prepare(&format!("INSERT INTO {table} SELECT * FROM unnest({})", arrays.join(", "))).await.expect("preparing")
}

/// Rows as one array per column, without the last `extra` columns. `None` if there are no rows.
pub fn columns(rows: &[Row], extra: usize) -> Vec<Box<dyn ToSql + Send + Sync>> {
    let Some(first) = rows.first() else { return Vec::new() };
    let kinds = first.columns().iter().map(|column| column.type_().clone()).take(first.len() - extra);
    macro_rules! array {
        ($at:expr, $type:ty) => {
            Box::new(rows.iter().map(|row| row.get($at)).collect::<Vec<Option<$type>>>())
        };
    }
    let array = |(at, kind): (usize, Type)| -> Box<dyn ToSql + Send + Sync> {
        match kind {
            Type::INT8 => array!(at, i64),
            Type::INT4 => array!(at, i32),
            Type::INT2 => array!(at, i16),
            Type::BOOL => array!(at, bool),
            Type::TEXT => array!(at, String),
            Type::BYTEA => array!(at, Vec<u8>),
            other => panic!("a column of type {other}"),
        }
    };
    kinds.enumerate().map(array).collect()
}
