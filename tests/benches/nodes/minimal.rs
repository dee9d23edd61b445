//! The minimal client, and databases with existing settlements.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use railgate_tests::bare::{columns, insert};
use railgate_tests::postgres::{Postgres, Sql};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls};

use super::load::Figures;

/// The rows that a create adds: the table, and the settlement that a row belongs to.
const TABLES: [(&str, &str); 5] =
    [("settlement", "no"), ("event", "k >> 16"), ("transfer", "k >> 16"), ("task", "settlement"), ("audit", "target")];

type Columns = Vec<Box<dyn ToSql + Send + Sync>>;

/// A database that a node is about to write to.
pub struct Minimal {
    source: Sql,
    /// The creation time of its latest settlement; the numbers of several nodes have no order.
    until: i64,
}

/// The rows that a node wrote, for each settlement in each table.
pub struct Rows(Arc<Vec<[Columns; 5]>>);

impl Minimal {
    /// Records the current end.
    pub fn behind(server: &Postgres, database: &str) -> Self {
        let source = server.sql(database);
        let until = source.texts("SELECT coalesce(max(created_at), 0) FROM settlement")[0].parse().expect("a time");
        Self { source, until }
    }

    /// The rows written since.
    pub fn rows(&mut self) -> Rows {
        let tables = TABLES.map(|(table, of)| {
            // The audit trail also contains the client's enrolment and tokens.
            let only = if table == "audit" { " AND action = (SELECT action FROM audit ORDER BY no DESC LIMIT 1)" } else { "" };
            let new = format!("SELECT no FROM settlement WHERE created_at > {}", self.until);
            self.source.rows(&format!("SELECT * FROM {table} WHERE {of} IN ({new}){only} ORDER BY {of}"))
        });
        let count = tables[0].len();
        assert!(tables.iter().all(|rows| rows.len() == count), "every create adds one row to each table");
        Rows(Arc::new((0..count).map(|at| tables.each_ref().map(|rows| columns(&rows[at..=at], 0))).collect()))
    }
}

impl Rows {
    /// Inserts them again, for at most `seconds`.
    pub fn run(&self, server: &Postgres, database: &str, connections: usize, seconds: u64) -> Figures {
        let sql = server.sql(database);
        sql.run("INSERT INTO account VALUES (1, 0, 0, 0, 0), (2, 0, 0, 0, 0) ON CONFLICT DO NOTHING");
        let (next, url) = (Arc::new(AtomicUsize::new(0)), server.url(database));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut clients = Vec::new();
            for _ in 0..connections {
                clients.push(connect(&url).await);
            }
            let started = Instant::now();
            let end = started + Duration::from_secs(seconds);
            let work = |client| tokio::spawn(insert_all(client, Arc::clone(&self.0), Arc::clone(&next), end));
            let running: Vec<_> = clients.into_iter().map(work).collect();
            let mut latencies = Vec::new();
            for task in running {
                latencies.extend(task.await.expect("a connection"));
            }
            Figures::of(latencies, started.elapsed())
        })
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connecting");
    tokio::spawn(async move { drop(connection.await) });
    client
}

async fn insert_all(client: Client, rows: Arc<Vec<[Columns; 5]>>, next: Arc<AtomicUsize>, end: Instant) -> Vec<Duration> {
    let [a, b, c, d, e] = TABLES.map(|(table, _)| table);
    let inserts =
        [insert(&client, a).await, insert(&client, b).await, insert(&client, c).await, insert(&client, d).await, insert(&client, e).await];
    let update = client.prepare("UPDATE account SET debits_pending = debits_pending + 1 WHERE id = $1").await.expect("preparing");
    let mut latencies = Vec::new();
    while Instant::now() < end
        && let Some(rows) = rows.get(next.fetch_add(1, Ordering::Relaxed))
    {
        let sent = Instant::now();
        let add = |at: usize| {
            let params: Vec<&(dyn ToSql + Sync)> = rows[at].iter().map(|it| &**it as &(dyn ToSql + Sync)).collect();
            let (client, insert) = (&client, &inserts[at]);
            async move { client.execute(insert, &params).await }
        };
        // Polled and thus sent in this order, without waiting in between.
        let (begun, written, moved, made) = tokio::join!(
            biased;
            client.batch_execute("BEGIN"),
            async { tokio::try_join!(biased; add(0), add(1), add(2), add(3), add(4)) },
            async { tokio::try_join!(biased; client.execute(&update, &[&1i64]), client.execute(&update, &[&2i64])) },
            client.batch_execute("COMMIT")
        );
        begun.and(written.map(drop)).and(moved.map(drop)).and(made).expect("a settlement");
        latencies.push(sent.elapsed());
    }
    latencies
}

/// Brings a database to `present` settlements, copies of its first one with references scattered over the index. Each
/// has its row, an event and a transfer.
pub fn grow(server: &Postgres, database: &str, present: u64) {
    const AT_ONCE: i64 = 250_000;
    let sql = server.sql(database);
    let present = i64::try_from(present).expect("a count");
    let first = sql.texts("SELECT min(no) FROM settlement").pop().expect("measure with 0 settlements first");
    let mut there: i64 = sql.texts("SELECT count(*) FROM settlement")[0].parse().expect("a number");
    while there < present {
        eprint!("\rgrowing {database}: {there} of {present} settlements");
        let (above, count) = (last_no(&sql), AT_ONCE.min(present - there));
        for (table, of) in &TABLES[..3] {
            let value = |column: &String| match (column.as_str(), *table) {
                ("no", "settlement") => format!("{above} + g"),
                ("reference", "settlement") => format!("md5(({above} + g)::text)"),
                ("k", _) => format!("(({above} + g) << 16) | (k & 65535)"),
                _ => column.clone(),
            };
            let names = format!("SELECT attname FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum");
            let values: Vec<String> = sql.texts(&names).iter().map(value).collect();
            let values = values.join(", ");
            sql.run(&format!(
                "INSERT INTO {table} SELECT {values} FROM {table}, generate_series(1::bigint, {count}) AS g WHERE {of} = {first}"
            ));
        }
        there += count;
    }
    eprintln!();
    sql.run("VACUUM ANALYZE");
    sql.run("CHECKPOINT");
}

fn last_no(sql: &Sql) -> i64 {
    // Fundings share the numbering.
    let last = "SELECT greatest((SELECT max(no) FROM settlement), (SELECT max(k) >> 16 FROM transfer), 0)";
    sql.texts(last)[0].parse().expect("a number")
}
