//! The engine over PostgreSQL compared with a minimal client that inserts the same rows, on the same server in the same run.
//!
//! The minimal client has its rows in advance, checks nothing and reads nothing: for each table a prepared statement with an
//! array per column, an update of two accounts, a whole group pipelined. Both wait for every commit to be durable.

use std::sync::Arc;
use std::time::Instant;

use railgate::api::Caller;
use railgate::engine::Enroll;
use railgate::env::ManualEnv;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::{Config, Engine};
use railgate_tests::bare::{self, columns};
use railgate_tests::postgres::{Postgres, Sql};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::{Pair, commands, create};

/// The tables that a create adds rows to, and the ascending key of each.
const TABLES: [(&str, &str); 5] = [("settlement", "no"), ("event", "k"), ("transfer", "k"), ("task", "key"), ("unlogged", "no")];

/// A typical setting for a server of this size.
const SETTINGS: &str = "shared_buffers = 256MB\nmax_wal_size = 4GB\n";

pub struct Postgresql {
    engine: Engine,
    env: Arc<ManualEnv>,
    caller: Caller,
    source: Sql,
    target: Sql,
    inserts: Vec<Statement>,
    update: Statement,
    /// The highest key of each table that both have.
    copied: [i64; 5],
    next: usize,
    _server: Postgres,
}

impl Postgresql {
    pub fn new() -> Self {
        let server = Postgres::start(SETTINGS);
        let (ours, bare) = (server.database(), server.database());
        let store = |database: &str| PostgresStore::open(&server.url(database), PostgresOptions::default()).expect("a store");
        drop(store(&bare));
        let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
        let engine = Engine::open(Arc::new(store(&ours)), env.clone(), Config::default()).expect("an engine");
        let caller = engine.run(Enroll { name: "Bench".into(), key: None }).expect("enrolling").caller;
        let (source, target) = (server.sql(&ours), server.sql(&bare));
        let inserts = TABLES.iter().map(|(table, _)| target.wait(bare::insert(&target.client, table))).collect();
        target.run("INSERT INTO account VALUES (1, 0, 0, 0, 0), (2, 0, 0, 0, 0)");
        let update = "UPDATE account SET debits_pending = debits_pending + $1 WHERE id = ANY ('{1, 2}')";
        let update = target.wait(target.client.prepare(update)).expect("preparing");
        let (copied, next) = ([0; 5], 0);
        Self { engine, env, caller, source, target, inserts, update, copied, next, _server: server }
    }

    fn rows(&mut self, at: usize) -> Vec<Row> {
        let (table, key) = TABLES[at];
        let rows = self.source.rows(&format!("SELECT *, {key} AS above FROM {table} WHERE {key} > {} ORDER BY {key}", self.copied[at]));
        if let Some(last) = rows.last() {
            self.copied[at] = last.get("above");
        }
        rows
    }
}

impl Pair for Postgresql {
    fn present(&self) -> usize {
        self.next
    }

    fn engine(&mut self, rows: usize, group: usize) -> f64 {
        create(&self.engine, &self.env, commands(&self.engine, self.caller, &mut self.next, rows, group))
    }

    fn bare(&mut self, group: usize) -> f64 {
        let tables: Vec<Vec<Row>> = (0..TABLES.len()).map(|at| self.rows(at)).collect();
        let count = tables[0].len();
        let groups = count.div_ceil(group);
        // A group has a different number of rows in each table: a settlement has several events, a group one log row.
        let share = |rows: &Vec<Row>, at: usize| {
            let each = rows.len().div_ceil(groups.max(1));
            columns(rows.get(at * each..((at + 1) * each).min(rows.len())).unwrap_or_default(), 1)
        };
        let groups: Vec<Vec<Vec<Box<dyn ToSql + Send + Sync>>>> =
            (0..groups).map(|at| tables.iter().map(|rows| share(rows, at)).collect()).collect();
        let started = Instant::now();
        for group in &groups {
            let client = &self.target.client;
            let params: Vec<Vec<&(dyn ToSql + Sync)>> =
                group.iter().map(|columns| columns.iter().map(|it| &**it as &(dyn ToSql + Sync)).collect()).collect();
            self.target.wait(async {
                // Polled and thus sent in this order.
                let (begun, written, moved, made) = tokio::join!(
                    biased;
                    client.batch_execute("BEGIN"),
                    async {
                        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|at| insert(client, &self.inserts[at], &params[at]));
                        tokio::try_join!(biased; a, b, c, d, e)
                    },
                    client.execute(&self.update, &[&1i64]),
                    client.batch_execute("COMMIT")
                );
                begun.and(written.map(drop)).and(moved.map(drop)).and(made).expect("a group");
            });
        }
        count as f64 / started.elapsed().as_secs_f64()
    }
}

/// Inserts the rows of each table that has any; the first session has none in some tables.
async fn insert(client: &Client, statement: &Statement, params: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
    if params.is_empty() { Ok(0) } else { client.execute(statement, params).await }
}
