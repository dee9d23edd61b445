//! Conflicting transactions: callers do not notice them.

use railgate_tests::client::Account;
use railgate_tests::nodes::Nodes;
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;
use serde_json::json;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
/// How many settlements each connection makes.
const EACH: usize = 60;
const ROUNDS: usize = 3;

/// PostgreSQL's error codes for conflicts, raised occasionally without cause.
const UNLUCKY: &str = "
    CREATE SEQUENCE unlucky;
    CREATE FUNCTION unlucky() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE n bigint := nextval('unlucky');
    BEGIN
        IF n % 3 = 0 THEN RAISE EXCEPTION 'could not serialize access' USING ERRCODE = 'serialization_failure'; END IF;
        IF n % 5 = 0 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = 'deadlock_detected'; END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER unlucky AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION unlucky()";

/// Makes settlements at one node and reverses a part of each.
fn make(account: &Account, nodes: &Nodes, name: usize) {
    let mut client = account.connect(nodes.address(name % 2)).unwrap();
    for n in 0..EACH {
        let reference = format!("c-{name}-{n}");
        let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": reference});
        let made = client.send("POST", SETTLEMENTS, Some(&body.to_string())).unwrap();
        assert_eq!(made.status, 201, "{made:?}");
        let reversed = client.send("POST", &format!("{SETTLEMENTS}/{reference}/reverse"), None).unwrap();
        // It may be in flight to the operator at that moment.
        assert!([200, 201, 409].contains(&reversed.status), "{reversed:?}");
    }
}

#[test]
fn a_database_that_serialises_and_fails_now_and_then_is_asked_again() {
    let server = Postgres::quick();
    let database = server.database();
    let sql = server.sql(&database);
    sql.run(&format!("ALTER DATABASE {database} SET default_transaction_isolation = 'serializable'"));
    let nodes = Nodes::start(&server.url(&database), &[]);
    let account = nodes.enroll();
    sql.run(UNLUCKY);
    std::thread::scope(|scope| {
        for name in 0..4 {
            let (account, nodes) = (&account, &nodes);
            scope.spawn(move || make(account, nodes, name));
        }
    });
    let failed: i64 = sql.texts("SELECT last_value / 3 FROM unlucky")[0].parse().unwrap();
    assert!(failed > 20, "{failed} transactions failed");
}

#[test]
fn whoever_deadlocks_with_a_create_does_not_undo_it() {
    let server = Postgres::quick();
    let database = server.database();
    // Another transaction must wait for it before the create checks for a deadlock, which it does once. By then a node has used up
    // its patience with a silent server, five seconds; after eight it gives up the statement.
    server.sql("postgres").run(&format!("ALTER DATABASE {database} SET deadlock_timeout = '6s'"));
    // Their tasks are not done, so that the create is the nodes' only write.
    let nodes = Nodes::start(&server.url(&database), &["--outbox", "off"]);
    let account = nodes.enroll();
    let (mut client, sql) = (account.connect(nodes.address(0)).unwrap(), server.sql(&database));
    let payment = |n: usize| json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("d-{n}")}).to_string();
    // The first payment opens the accounts.
    assert_eq!(client.send("POST", SETTLEMENTS, Some(&payment(ROUNDS))).unwrap().status, 201);
    for n in 0..ROUNDS {
        // A session that checks for deadlocks much later than others, so that it is not the one that is aborted.
        sql.run("BEGIN; SET LOCAL deadlock_timeout = '60s'");
        sql.run("SELECT FROM account ORDER BY id FOR UPDATE");
        let body = payment(n);
        std::thread::scope(|scope| {
            let made = scope.spawn(|| client.send("POST", SETTLEMENTS, Some(&body)).unwrap());
            // Within a transaction, `pg_stat_activity` would stay as it was at the first read.
            until("the create waits", || !sql.texts("SELECT 1 FROM pg_locks WHERE NOT granted").is_empty());
            // The create has locked this table and waits for the account. The lock is granted when that transaction is aborted.
            sql.run("LOCK TABLE settlement IN SHARE MODE");
            assert_eq!(sql.texts(&format!("SELECT no FROM settlement WHERE reference = 'd-{n}'")), Vec::<String>::new());
            sql.run("ROLLBACK");
            let made = made.join().unwrap();
            assert_eq!(made.status, 201, "{made:?}");
        });
    }
    assert_eq!(sql.texts("SELECT count(*) FROM settlement"), [(ROUNDS + 1).to_string()]);
}
