//! Start-up: of nodes that start at the same time over an empty database, and of one that must refuse to start.

use std::process::Command;

use railgate_tests::binary::{Server, railgate};
use railgate_tests::client::{Account, Connection, call, new_key};
use railgate_tests::nodes::PUBLIC_URL;
use railgate_tests::postgres::Postgres;

const ROUNDS: usize = 3;

#[test]
fn nodes_that_start_together_over_an_empty_database_agree() {
    railgate();
    let server = Postgres::quick();
    for _ in 0..ROUNDS {
        let (url, folder) = (server.url(&server.database()), tempfile::tempdir().unwrap());
        let args = ["--data-dir", folder.path().to_str().unwrap(), "--public-url", PUBLIC_URL];
        let nodes: Vec<Server> = std::thread::scope(|scope| {
            let starting: Vec<_> = (0..3).map(|_| scope.spawn(|| Server::over(&url, &args))).collect();
            starting.into_iter().map(|node| node.join().unwrap()).collect()
        });
        for one in &nodes {
            let account = Account::enroll(one.address, Some(PUBLIC_URL), new_key()).unwrap();
            let mut client = account.connect(one.address).unwrap();
            for other in &nodes {
                // Its token and its challenge come from `one`.
                let bytes = client.signed(call("GET", "/api/v1/balances", None)).unwrap();
                let answer = Connection::open(other.address).unwrap().exchange(&bytes).unwrap();
                assert_eq!(answer.status, 200, "{answer:?}");
            }
        }
    }
}

#[test]
fn a_node_with_other_master_keys_does_not_start_and_says_why() {
    let server = Postgres::quick();
    let (url, folder) = (server.url(&server.database()), tempfile::tempdir().unwrap());
    let keys = |name: &str| folder.path().join(name).display().to_string();
    drop(Server::over(&url, &["--master-keys", &keys("one.keys")]));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--store", &url, "--master-keys", &keys("other.keys")];
    let ended = Command::new(railgate()).args(serve).output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert!(told.contains("master keys") && told.contains("other.keys"), "{told}");
    drop(Server::over(&url, &["--master-keys", &keys("one.keys")]));
}
