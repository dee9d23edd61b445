//! The operator's day of the HTTP tests, on two servers with connections of their own to one database.

#[path = "../../../server/tests/http/day.rs"]
mod day;
#[path = "../../../core/tests/support/plain_rail.rs"]
mod plain_rail;
#[path = "../../../server/tests/http/support.rs"]
#[allow(dead_code, clippy::expect_used, reason = "the day needs a part of it")]
mod support;

use std::sync::Arc;

use railgate::store::Store;
use railgate::store::postgres::PostgresStore;

use super::{Fresh, options};
use railgate_tests::postgres::Postgres;

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_day_over_postgresql() {
    let fresh = tokio::task::spawn_blocking(Fresh::new).await.unwrap();
    let url = Postgres::shared().url(&fresh.database);
    let open = move || -> Arc<dyn Store> { Arc::new(PostgresStore::open(&url, options()).unwrap()) };
    let stores = tokio::task::spawn_blocking(move || [open(), open()]).await.unwrap();
    day::a_day(stores).await;
    tokio::task::spawn_blocking(move || drop(fresh)).await.unwrap();
}
