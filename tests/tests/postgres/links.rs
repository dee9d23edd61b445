//! Broken connections, crashed servers, and callers of every kind: no commit is partial, and every result
//! is true.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;

use railgate::ids::{ClientNo, ProviderNo, SettlementNo};
use railgate::ledger::{Owner, Totals};
use railgate::store::conformance::{clashes, fixtures::*};
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::{AccountRecord, Key, Record};
use railgate::store::{Commit, CommitError, Scan, Store, Unique, Write, typed_all};
use railgate_tests::patience::until;
use railgate_tests::pgbouncer::PgBouncer;
use railgate_tests::postgres::{Postgres, Sql};

use super::pooler::{pooled, shared};
use super::{Fresh, options, some_writes};

/// One settlement with its dependent rows and a payment into a shared account.
pub(super) fn payment(no: i64) -> Commit {
    let paid = Write::Post(transfer(no, 1, account(Owner::Funding), account(Owner::Provider(ProviderNo(1))), no));
    commit([insert(settlement(no, 1, &no.to_string())), insert(event(no, 1)), insert(task(no, 1)), paid])
}

/// The reported result of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Made,
    NotMade,
    Unknown,
}

/// Pays from several threads until `stop`, each payment once, and records the results.
fn pay(store: &PostgresStore, stop: &AtomicBool, next: &AtomicI64) -> Vec<(i64, Said)> {
    let mut answers = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let no = next.fetch_add(1, Ordering::Relaxed);
        answers.push(match store.commit(&payment(no)) {
            Ok(()) => (no, Said::Made),
            Err(CommitError::Store(error)) => {
                assert!(error.retryable, "{error}");
                (no, Said::NotMade)
            }
            Err(CommitError::Indeterminate(_)) => (no, Said::Unknown),
            Err(other) => panic!("{no}: {other:?}"),
        });
        // Whatever happens to a connection, a read either works or is retryable.
        if let Err(error) = store.get(&Key::Settlement(SettlementNo(no))) {
            assert!(error.retryable, "{error}");
        }
    }
    answers
}

/// Each payment is complete or absent, as reported, and the totals are the sum of the payments.
pub(super) fn assert_whole(store: &dyn Store, answers: &BTreeMap<i64, Said>) {
    let mut sum = 0;
    for (no, said) in answers {
        let found = store.get(&Key::Settlement(SettlementNo(*no))).unwrap().is_some();
        let children = [Key::Event((SettlementNo(*no), 1)), Key::Transfer((SettlementNo(*no), 1)), Key::Task(task(*no, 1).key)];
        for child in children {
            assert_eq!(store.get(&child).unwrap().is_some(), found, "a part of {no}");
        }
        assert!(*said == Said::Unknown || found == (*said == Said::Made), "{no} was reported as {said:?}");
        sum += if found { *no } else { 0 };
    }
    let Some(Record::Account(popular)) = store.get(&Key::Account(account(Owner::Provider(ProviderNo(1))))).unwrap() else {
        panic!("nothing was paid")
    };
    assert_eq!(popular.totals.credits_posted, sum);
}

/// Pays from four threads through two stores while `trouble` runs.
pub(super) fn under(url: &str, trouble: impl FnOnce(&AtomicI64)) {
    let patient = PostgresOptions { connect_timeout: std::time::Duration::from_secs(120), ..options() };
    let stores = [(); 2].map(|()| PostgresStore::open(url, patient.clone()).unwrap());
    let (stop, next) = (AtomicBool::new(false), AtomicI64::new(1));
    let answers: BTreeMap<i64, Said> = thread::scope(|scope| {
        let payers: Vec<_> = [0, 0, 1, 1]
            .map(|at: usize| {
                scope.spawn({
                    let (store, stop, next) = (&stores[at], &stop, &next);
                    move || pay(store, stop, next)
                })
            })
            .into_iter()
            .collect();
        trouble(&next);
        stop.store(true, Ordering::Relaxed);
        payers.into_iter().flat_map(|payer| payer.join().unwrap()).collect()
    });
    let made = answers.values().filter(|said| **said == Said::Made).count();
    let unknown = answers.values().filter(|said| **said == Said::Unknown).count();
    eprintln!("{} payments: {made} made, {unknown} unknown", answers.len());
    assert!(made * 2 > answers.len(), "most are made in spite of it");
    assert_eq!(unknown, 0, "a server that is there again says what it made");
    assert_whole(&stores[0], &answers);
}

/// Waits until this many more payments have begun.
pub(super) fn more(next: &AtomicI64, count: i64) {
    let from = next.load(Ordering::Relaxed);
    until("more payments are begun", || next.load(Ordering::Relaxed) >= from + count);
}

#[test]
fn references_that_are_used_again_and_again_cost_one_line_of_the_servers_log() {
    let server = Postgres::quick();
    let store = PostgresStore::open(&server.url(&server.database()), options()).unwrap();
    store.commit(&payment(1)).unwrap();
    for no in 2..30 {
        let again = commit([insert(event(no, 1)), insert(settlement(no, 1, "1")), insert(task(no, 1))]);
        assert_eq!(clashes(store.commit(&again)), [1]);
        assert_eq!(store.get(&Key::Event((SettlementNo(no), 1))).unwrap(), None);
    }
    store.commit(&payment(30)).unwrap();
    let log = std::fs::read_to_string(server.folder().join("log")).unwrap();
    assert_eq!(log.matches("duplicate key").count(), 1, "{log}");
}

#[test]
fn connections_that_are_cut_in_the_middle_of_commits_leave_nothing_half_written() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let sql = server.sql(&fresh.database);
    let all =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()", fresh.database);
    under(&server.url(&fresh.database), |next| {
        for _ in 0..40 {
            sql.texts(&all);
            more(next, 20);
        }
    });
}

#[test]
fn a_server_that_crashes_and_comes_back_has_what_it_answered() {
    let server = Postgres::quick();
    let database = server.database();
    under(&server.url(&database), |next| {
        for _ in 0..3 {
            more(next, 200);
            server.restart("immediate");
        }
        more(next, 200);
    });
}

#[test]
fn two_stores_over_one_database_agree() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let other = PostgresStore::open(&server.url(&fresh.database), options()).unwrap();
    let stores: [&dyn Store; 2] = [&fresh, &other];
    const EACH: i64 = 150;
    fresh.commit(&commit([funding(-1, account_of(1), 3 * EACH)])).unwrap();
    // Both spend from one account with funds for three quarters of it, and compete for the same references.
    let made: i64 = thread::scope(|scope| {
        let spenders: Vec<_> = (0..4i64)
            .map(|spender| {
                scope.spawn(move || {
                    let store = stores[spender as usize % 2];
                    let mut made = 0;
                    for round in 0..EACH {
                        let no = 1 + spender * EACH + round;
                        // Pairs of spenders race for each reference.
                        let reference = format!("{}-{round}", spender / 2);
                        let spent = transfer(no, 1, account_of(1), account(Owner::Provider(ProviderNo(1))), 2);
                        match store.commit(&commit([insert(settlement(no, 1, &reference)), Write::Post(spent)])) {
                            Ok(()) => made += 1,
                            Err(CommitError::Conflict(at)) => assert_eq!(at.len(), 1, "{at:?}"),
                            Err(CommitError::BalanceGuard(account)) => assert_eq!(account, account_of(1)),
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                    made
                })
            })
            .collect();
        spenders.into_iter().map(|spender| spender.join().unwrap()).sum()
    });
    let rows = fresh.scan(&Scan::after(&Key::Settlement(SettlementNo(0)), 9_999)).unwrap();
    assert_eq!(rows.len() as i64, made);
    assert!(made <= 2 * EACH, "a reference was taken twice");
    let accounts: Vec<AccountRecord> = typed_all(other.scan(&Scan::accounts_of(ClientNo(1))).unwrap()).unwrap();
    assert_eq!(accounts[0].totals.available(), Some(3 * EACH - 2 * made));
    assert!(3 * EACH - 2 * made >= 0);
    // Everything was tried, so the remaining funds are less than one payment, or every reference is used.
    assert!(3 * EACH - 2 * made < 2 || made == 2 * EACH);
}

#[test]
fn commits_in_the_opposite_order_do_not_stand_in_each_others_way_for_ever() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let other = PostgresStore::open(&server.url(&fresh.database), options()).unwrap();
    let names: Vec<String> = (0..40).map(|n| format!("name {n}")).collect();
    fresh.commit(&commit((1..=40).map(|no| insert(settlement(no, 1, &format!("s{no}")))))).unwrap();
    // Rows in either order, and unique references against the order of the rows that carry them.
    thread::scope(|scope| {
        for (at, store) in [&fresh as &dyn Store, &other].into_iter().enumerate() {
            let names = &names;
            scope.spawn(move || {
                for round in 0..30 {
                    let turned = |n: i64| if at == 0 { n } else { 39 - n };
                    let all = (0..40i64).map(|n| {
                        let no = 1_000 + 1_000 * (round * 2 + at as i64) + n;
                        insert(settlement(no, 1, &format!("{}/{round}", names[turned(n) as usize])))
                    });
                    // One of the two is first with all of them.
                    let clashed = clashes(store.commit(&commit(all)));
                    assert!(clashed.is_empty() || clashed.len() == 40, "{clashed:?}");
                    let touched = (0..40).map(|n| Write::Delete(Key::Task(task(turned(n), 1).key)));
                    let _ = store.commit(&commit((0..40).map(|n| insert(task(turned(n), 1)))));
                    let _ = store.commit(&commit(touched));
                }
            });
        }
    });
    assert_eq!(fresh.scan(&Scan::after(&Key::Settlement(SettlementNo(40)), 9_999)).unwrap().len(), 30 * 40);
}

#[test]
fn a_server_that_is_gone_can_be_tried_again() {
    let server = Postgres::quick();
    let database = server.database();
    let impatient = PostgresOptions { connect_timeout: std::time::Duration::from_secs(4), ..options() };
    let store = PostgresStore::open(&server.url(&database), impatient.clone()).unwrap();
    store.commit(&some_writes(1, 1)).unwrap();
    let url = server.url(&database);
    drop(server);
    match store.commit(&some_writes(2, 1)) {
        Err(CommitError::Store(error)) => assert!(error.retryable, "{error}"),
        other => panic!("{other:?}"),
    }
    let read = store.find(&Unique::SettlementReference(ClientNo(1), "1".parse().unwrap()));
    assert!(read.as_ref().is_err_and(|error| error.retryable), "{read:?}");
    assert!(PostgresStore::open(&url, impatient).is_err_and(|error| error.retryable));
}

#[test]
fn it_may_be_used_and_dropped_on_any_thread() {
    let fresh = Fresh::new();
    let work = move |no| {
        fresh.commit(&payment(no)).unwrap();
        assert!(fresh.get(&Key::Settlement(SettlementNo(no))).unwrap().is_some());
        fresh
    };
    let fresh = work(1);
    let url = Postgres::shared().url(&fresh.database);
    for runtime in [tokio::runtime::Builder::new_current_thread(), tokio::runtime::Builder::new_multi_thread()] {
        let mut runtime = runtime;
        let runtime = runtime.enable_all().build().unwrap();
        let url = url.clone();
        runtime.block_on(async move {
            let job = async move {
                let store = PostgresStore::open(&url, options()).unwrap();
                assert!(store.get(&Key::Settlement(SettlementNo(1))).unwrap().is_some());
                let _ = store.commit(&payment(2));
                drop(store);
            };
            tokio::spawn(job).await.unwrap();
        });
    }
    let Some(Record::Account(funding)) = fresh.get(&Key::Account(account(Owner::Funding))).unwrap() else { panic!("gone") };
    assert_eq!(funding.totals, Totals { debits_posted: 3, ..Totals::default() });
}

/// Makes a rule that records the settings under which a row is written.
fn note_settings(sql: &Sql) {
    sql.run("CREATE TABLE noted (setting text); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             INSERT INTO noted VALUES (current_setting('synchronous_commit')), (current_setting('transaction_isolation')); RETURN NEW; END $$; \
             CREATE TRIGGER note AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION note()");
}

#[test]
fn an_answer_is_durable_whatever_the_roles_defaults_are() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let sql = server.sql(&fresh.database);
    sql.run(&format!("ALTER DATABASE {} SET synchronous_commit = off", fresh.database));
    sql.run(&format!("ALTER DATABASE {} SET default_transaction_isolation = 'serializable'", fresh.database));
    let store = PostgresStore::open(&server.url(&fresh.database), PostgresOptions { writers: 1, ..options() }).unwrap();
    note_settings(&sql);
    store.commit(&payment(1)).unwrap();
    assert_eq!(sql.texts("SELECT setting FROM noted ORDER BY 1"), ["on", "read committed"]);
}

#[test]
fn an_answer_is_durable_whatever_becomes_of_the_servers_settings() {
    let server = Postgres::quick();
    let database = server.database();
    let store = PostgresStore::open(&server.url(&database), PostgresOptions { writers: 1, ..options() }).unwrap();
    store.commit(&payment(1)).unwrap();
    let sql = server.sql(&database);
    note_settings(&sql);
    sql.run("ALTER SYSTEM SET synchronous_commit = off");
    sql.run("SELECT pg_reload_conf()");
    until("connections that are there have the setting", || sql.texts("SHOW synchronous_commit") == ["off"]);
    store.commit(&payment(2)).unwrap();
    assert_eq!(sql.texts("SELECT setting FROM noted ORDER BY 1"), ["on", "read committed"]);
}

#[test]
fn a_server_that_takes_too_long_is_given_up_and_tried_again() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    fresh.commit(&payment(1)).unwrap();
    let hasty = PostgresOptions { statement_timeout: std::time::Duration::from_secs(5), writers: 1, ..options() };
    let store = PostgresStore::open(&server.url(&fresh.database), hasty).unwrap();
    let sql = server.sql(&fresh.database);
    sql.run("BEGIN; LOCK TABLE account IN ACCESS EXCLUSIVE MODE");
    match store.commit(&payment(2)) {
        Err(CommitError::Store(error)) => assert!(error.retryable && error.to_string().contains("57014"), "{error}"),
        other => panic!("{other:?}"),
    }
    let read = store.scan(&Scan::accounts_of(ClientNo(1)));
    assert!(read.as_ref().is_err_and(|error| error.retryable), "{read:?}");
    sql.run("COMMIT");
    assert_eq!(store.get(&Key::Settlement(SettlementNo(2))).unwrap(), None);
    store.commit(&payment(2)).unwrap();
}

/// What becomes of a chunk on its way.
enum Fate {
    Carried,
    Lost,
    /// The connection breaks.
    Cut,
}

type Filter = Box<dyn FnMut(&[u8]) -> Fate + Send>;

/// The port of a proxy to a server. Each connection has filters of its own, there and back. It ends with the test's process.
fn proxy(server: u16, filters: impl Fn() -> [Filter; 2] + Send + 'static) -> u16 {
    let carry = |mut from: TcpStream, mut to: TcpStream, mut filter: Filter| {
        let mut chunk = [0; 65_536];
        while let Ok(length @ 1..) = from.read(&mut chunk) {
            match filter(&chunk[..length]) {
                Fate::Carried if to.write_all(&chunk[..length]).is_ok() => {}
                Fate::Lost => {}
                Fate::Carried | Fate::Cut => break,
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { return };
            let (back, forth) = ((server.try_clone().unwrap(), client.try_clone().unwrap()), (client, server));
            let [there, here] = filters();
            thread::spawn(move || carry(forth.0, forth.1, there));
            thread::spawn(move || carry(back.0, back.1, here));
        }
    });
    port
}

fn contains(chunk: &[u8], text: &[u8]) -> bool {
    chunk.windows(text.len()).any(|it| it == text)
}

/// A proxy that drops the next `COMMIT` on request.
fn losing_a_commit(server: u16) -> (u16, Arc<AtomicBool>) {
    let lose = Arc::new(AtomicBool::new(false));
    let told = lose.clone();
    let port = proxy(server, move || {
        let lose = told.clone();
        let there = move |chunk: &[u8]| {
            if contains(chunk, b"COMMIT\0") && lose.swap(false, Ordering::Relaxed) { Fate::Lost } else { Fate::Carried }
        };
        [Box::new(there), Box::new(|_: &[u8]| Fate::Carried)]
    });
    (port, lose)
}

/// A proxy that on request carries the next writes with their `COMMIT`, but no response: when the server has made it, the connection
/// breaks.
fn losing_the_responses(server: u16) -> (u16, Arc<AtomicBool>) {
    let lose = Arc::new(AtomicBool::new(false));
    let told = lose.clone();
    let port = proxy(server, move || {
        let (lose, losing) = (told.clone(), Arc::new(AtomicBool::new(false)));
        let it_loses = losing.clone();
        let there = move |chunk: &[u8]| {
            if [b"INSERT ", b"COMMIT\0"].iter().any(|it| contains(chunk, *it)) && lose.swap(false, Ordering::Relaxed) {
                losing.store(true, Ordering::Relaxed);
            }
            Fate::Carried
        };
        let here = move |chunk: &[u8]| match it_loses.load(Ordering::Relaxed) {
            true if contains(chunk, b"COMMIT\0") => Fate::Cut,
            true => Fate::Lost,
            false => Fate::Carried,
        };
        [Box::new(there), Box::new(here)]
    });
    (port, lose)
}

/// The second of two payments is in trouble, and made once.
fn assert_made_in_spite_of(trouble: &AtomicBool, port: u16, fresh: &Fresh) {
    let times = [4, 30].map(std::time::Duration::from_secs);
    let hasty = PostgresOptions { statement_timeout: times[0], connect_timeout: times[1], writers: 1, ..options() };
    let store = PostgresStore::open(&format!("postgres://railgate@127.0.0.1:{port}/{}", fresh.database), hasty).unwrap();
    store.commit(&payment(1)).unwrap();
    trouble.store(true, Ordering::Relaxed);
    store.commit(&payment(2)).unwrap();
    assert!(!trouble.load(Ordering::Relaxed), "nothing was lost");
    assert_whole(fresh, &BTreeMap::from([(1, Said::Made), (2, Said::Made)]));
}

#[test]
fn a_commit_that_got_stuck_on_its_way_is_made_over_another_connection() {
    let fresh = Fresh::new();
    let (port, lose) = losing_a_commit(Postgres::shared().port());
    assert_made_in_spite_of(&lose, port, &fresh);
}

#[test]
fn a_commit_that_got_stuck_before_a_pooler_is_made_over_another_connection() {
    let fresh = pooled();
    let (port, lose) = losing_a_commit(shared().port());
    assert_made_in_spite_of(&lose, port, &fresh);
}

#[test]
fn a_commit_whose_responses_were_lost_is_known_to_be_made() {
    let fresh = Fresh::new();
    let (port, lose) = losing_the_responses(Postgres::shared().port());
    assert_made_in_spite_of(&lose, port, &fresh);
}

#[test]
fn a_commit_whose_responses_were_lost_behind_a_pooler_is_known_to_be_made() {
    let fresh = Fresh::new();
    let (port, lose) = losing_the_responses(Postgres::shared().port());
    let pooler = PgBouncer::pooling_transactions_at(port);
    assert_made_in_spite_of(&lose, pooler.port(), &fresh);
}

#[test]
fn a_machine_that_says_nothing_takes_no_more_than_its_share_of_the_patience() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    // The system accepts its connections, but nothing ever reads from them.
    let dumb = TcpListener::bind("127.0.0.1:0").unwrap();
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", dumb.local_addr().unwrap().port(), server.port());
    let url = format!("postgres://railgate@{hosts}/{}", fresh.database);
    let patient = PostgresOptions { connect_timeout: std::time::Duration::from_secs(20), readers: 1, writers: 1, ..options() };
    thread::scope(|scope| {
        let (url, patient) = (&url, &patient);
        let opening: Vec<_> = (0..12).map(|_| scope.spawn(move || PostgresStore::open(url, patient.clone()).map(drop))).collect();
        opening.into_iter().for_each(|opening| opening.join().unwrap().unwrap());
    });
}

#[test]
fn a_clock_that_is_not_the_databases_is_refused_until_it_is_put_right() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let sql = server.sql(&fresh.database);
    // Its sessions see another time from now on.
    let told = |shift: &str| {
        sql.run(&format!(
            "CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql \
             AS $$ SELECT pg_catalog.clock_timestamp() + interval '{shift}' $$"
        ));
    };
    sql.run(&format!("ALTER DATABASE {} SET search_path = public, pg_catalog", fresh.database));
    let impatient = PostgresOptions { connect_timeout: std::time::Duration::from_secs(4), writers: 1, ..options() };
    for (shift, text) in [("60 s", "s behind the database's"), ("-60 s", "s ahead of the database's")] {
        told(shift);
        let Err(error) = PostgresStore::open(&server.url(&fresh.database), impatient.clone()) else { panic!("{shift}") };
        assert!(error.retryable && error.to_string().contains(text) && error.to_string().contains("NTP"), "{error}");
    }
    told("1 s");
    let store = PostgresStore::open(&server.url(&fresh.database), impatient).unwrap();
    store.commit(&payment(1)).unwrap();
    told("1 hour");
    let all =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()", fresh.database);
    sql.texts(&all);
    match store.commit(&payment(2)) {
        Err(CommitError::Store(error)) => assert!(error.retryable && error.to_string().contains("clock"), "{error}"),
        other => panic!("{other:?}"),
    }
    told("0 s");
    // After a series of refusals, its first attempts have a short timeout.
    until("it is taken", || store.commit(&payment(2)).is_ok());
}
