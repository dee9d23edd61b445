//! Connections to the server: encrypted and verified if the URL requires it.

use railgate::store::Store;
use railgate::store::conformance::everything;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;

use super::{options, some_writes};

const ACCESS: &str = "hostssl all careful all scram-sha-256\nlocal all all trust\nhost all all all trust\n";

#[test]
fn the_way_is_protected_as_the_url_says() {
    let server = Postgres::quick();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    server.put("data/server.crt", made.cert.pem().as_bytes());
    server.put("data/server.key", made.signing_key.serialize_pem().as_bytes());
    server.put("data/pg_hba.conf", ACCESS.as_bytes());
    server.sql("postgres").run("CREATE ROLE careful LOGIN SUPERUSER PASSWORD 'hunter2'");
    let folder = tempfile::tempdir().unwrap();
    let root = |name: &str, pem: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, pem).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (root("right.pem", made.cert.pem()), root("wrong.pem", other.cert.pem()));
    let database = server.database();
    let url = |who: &str, host: &str, query: &str| format!("postgres://{who}@{host}:{}/{database}?{query}", server.port());
    let open = |url: &str| PostgresStore::open(url, PostgresOptions { readers: 1, writers: 1, ..options() });
    let encrypted = || {
        let sql = "SELECT bool_and(ssl)::text FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'railgate'";
        server.sql(&database).texts(sql).remove(0) == "true"
    };

    // If the server has no TLS, only an unencrypted connection is possible.
    assert!(open(&url("railgate", "localhost", "sslmode=require")).is_err());
    let plain = open(&url("railgate", "localhost", "")).unwrap();
    assert!(!encrypted());
    drop(plain);
    server.sql("postgres").run("ALTER SYSTEM SET ssl = on");
    server.restart("fast");

    for (query, is_encrypted) in [("", true), ("sslmode=prefer", true), ("sslmode=require", true), ("sslmode=disable", false)] {
        let store = open(&url("railgate", "127.0.0.1", query)).unwrap();
        assert_eq!(encrypted(), is_encrypted, "{query}");
        drop(store);
        gone(&server, &database);
    }
    let verified = open(&url("careful:hunter2", "localhost", &format!("sslmode=verify-full&sslrootcert={right}"))).unwrap();
    verified.commit(&some_writes(1, 3)).unwrap();
    assert!(encrypted() && !everything(&verified).is_empty());
    open(&url("railgate", "localhost", &format!("sslmode=require&sslrootcert={right}"))).unwrap();

    for (host, query) in [
        ("localhost", format!("sslmode=verify-full&sslrootcert={wrong}")),
        ("localhost", format!("sslmode=require&sslrootcert={wrong}")),
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={right}")),
        ("localhost", "sslmode=verify-full".to_owned()),
    ] {
        let Err(error) = open(&url("railgate", host, &query)) else { panic!("{host} {query}: it was opened") };
        assert!(!error.retryable, "{query}: {error}");
    }
    let Err(refused) = open(&url("careful:hunter3", "localhost", "sslmode=require")) else { panic!("it was opened") };
    assert!(!refused.retryable && refused.to_string().contains("28P01") && !refused.to_string().contains("hunter3"), "{refused}");
}

/// Waits until the server has seen the store's connections end.
fn gone(server: &Postgres, database: &str) {
    let sql = server.sql(database);
    let there = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'railgate'";
    until("the connections are gone", || sql.texts(there).is_empty());
}
