//! Two cells, each with a database and two servers of its own, behind the router of docs/scale.md: every call reaches the cell of its
//! client, and no other cell serves it.

use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use railgate_tests::binary::railgate;
use railgate_tests::client::{Account, Client, Connection, Response, call, new_key, render_for};
use railgate_tests::nodes::Nodes;
use railgate_tests::patience::until;
use railgate_tests::port;
use railgate_tests::postgres::Postgres;
use railgate_tests::supervised::Supervised;
use serde_json::{Value, json};

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
const HOSTS: [&str; 2] = ["a.pay.example", "b.pay.example"];

/// Two cells and their router.
struct Cells {
    cells: [Nodes; 2],
    router: SocketAddr,
    _nginx: Supervised,
}

impl Cells {
    /// Nobody enrols in the first cell without an invitation.
    fn start() -> Self {
        let cell = |n: usize| {
            let server = cluster(n);
            let more: &[&str] = &["--enrollment", ["invited", "open"][n]];
            Nodes::start_at(&format!("https://{}", HOSTS[n]), &server.url(&server.database()), [more, more])
        };
        let cells = [cell(0), cell(1)];
        let router = SocketAddr::from(([127, 0, 0, 1], port::free()));
        let nginx =
            Supervised::start(Command::new("sh"), "nginx", &configuration(&cells, router), &["-e", "stderr", "-p", ".", "-c", "conf"]);
        until("nginx listens (./check installs it)", || TcpStream::connect(router).is_ok());
        Self { cells, router, _nginx: nginx }
    }

    /// A new client of a cell, through the router.
    fn enroll(&self, cell: usize) -> Account {
        let code = (cell == 0).then(|| invite(self.cells[cell].store()));
        Account::enroll_invited(self.router, Some(&base(cell)), new_key(), code.as_deref()).expect("enrolling")
    }

    /// A connection of a client to the router.
    fn connect(&self, account: &Account) -> Client {
        account.connect(self.router).expect("connecting")
    }

    /// How many settlements the store of a cell has.
    fn settlements(&self, cell: usize) -> u64 {
        let told = run(&["ledger", "verify", "--json", "--store", self.cells[cell].store()]);
        assert_eq!(told["problems"], json!([]), "{told:#}");
        told["settlements"].as_u64().expect("a count")
    }
}

/// The PostgreSQL of a cell; each test has a database of its own there.
fn cluster(cell: usize) -> &'static Postgres {
    static CLUSTERS: [OnceLock<Postgres>; 2] = [OnceLock::new(), OnceLock::new()];
    CLUSTERS[cell].get_or_init(Postgres::quick)
}

fn base(cell: usize) -> String {
    format!("https://{}", HOSTS[cell])
}

/// The router of the documentation, with these addresses, and without TLS.
fn configuration(cells: &[Nodes; 2], router: SocketAddr) -> String {
    let page = include_str!("../../docs/scale.md");
    let (_, rest) = page.split_once("```nginx\n").expect("a configuration");
    let (documented, _) = rest.split_once("```").expect("its end");
    let mut http = documented.lines().filter(|line| !line.trim_start().starts_with("ssl_")).collect::<Vec<_>>().join("\n");
    let mut put = |from: &str, to: &str| {
        assert!(http.contains(from), "{from} is not in the configuration");
        http = http.replace(from, to);
    };
    put("listen 443 ssl;", &format!("listen {router};"));
    for (cell, nodes) in (1..).zip(cells) {
        for node in [0, 1] {
            put(&format!("10.0.{cell}.{}:8080", node + 1), &nodes.address(node).to_string());
        }
    }
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|it| format!("{it}_temp_path {it};\n")).concat();
    format!("daemon off;\nmaster_process off;\npid pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{http}}}\n")
}

fn run(args: &[&str]) -> Value {
    let told = Command::new(railgate()).args(args).output().expect("railgate runs");
    assert!(told.status.success(), "{told:?}");
    serde_json::from_slice(&told.stdout).expect("JSON")
}

fn invite(store: &str) -> String {
    let told = run(&["clients", "invite", "--json", "--store", store]);
    told["invitation"].as_str().unwrap_or_else(|| panic!("{told:#}")).to_owned()
}

fn pay(client: &mut Client, reference: &str) -> Response {
    let body = json!({"amount": 5, "currency": "EUR", "to": "sim:ok", "reference": reference}).to_string();
    client.send("POST", SETTLEMENTS, Some(&body)).expect("the router")
}

#[test]
fn every_call_reaches_the_cell_of_its_client() {
    let cells = Cells::start();
    let accounts = [cells.enroll(0), cells.enroll(1)];
    let mut clients = [cells.connect(&accounts[0]), cells.connect(&accounts[1])];
    // Both use the same references: what is unique for a client is nothing to a cell.
    for n in 0..10 {
        for (cell, client) in clients.iter_mut().enumerate() {
            let paid = pay(client, &format!("inv-{n}"));
            assert_eq!(paid.status, 201, "cell {cell}: {paid:?}");
        }
    }
    pay(&mut clients[1], "one-more");
    assert_eq!([cells.settlements(0), cells.settlements(1)], [10, 11]);
    for (cell, client) in clients.iter_mut().enumerate() {
        let found = client.send("GET", &format!("{SETTLEMENTS}/one-more"), None).expect("the router");
        assert_eq!(found.status, if cell == 1 { 200 } else { 404 });
    }
}

#[test]
fn no_other_cell_serves_a_client() {
    let cells = Cells::start();
    let account = cells.enroll(0);
    let body = json!({"amount": 5, "currency": "EUR", "to": "sim:ok", "reference": "inv-1"}).to_string();
    let signed = cells.connect(&account).signed(call("POST", SETTLEMENTS, Some(&body))).expect("signing");
    // The same bytes for the other host, and straight to the other cell's servers: whoever redirects them gains nothing.
    let elsewhere = String::from_utf8(signed.clone()).expect("text").replacen(HOSTS[0], HOSTS[1], 1).into_bytes();
    let other = &cells.cells[1];
    for (address, bytes) in [(cells.router, &elsewhere), (other.address(0), &signed), (other.address(1), &signed)] {
        let refused = Connection::open(address).expect("connecting").exchange(bytes).expect("an answer");
        assert_eq!((refused.status, refused.code()), (401, "token_invalid"), "{refused:?}");
    }
    // Its key is unknown there too, also if it signs for the other cell.
    let mut astray = cells.connect(&account.at(&base(1)));
    let asking = astray.signed_token_call().expect("signing");
    let refused = astray.exchange(&asking).expect("an answer");
    assert_eq!((refused.status, refused.code()), (401, "key_unknown"), "{refused:?}");
    assert_eq!([cells.settlements(0), cells.settlements(1)], [0, 0]);
    // At its own cell it counts, once.
    let mut own = Connection::open(cells.router).expect("connecting");
    let made = own.exchange(&signed).expect("an answer");
    assert_eq!(made.status, 201, "{made:?}");
    // One of its servers saw the nonce; the other one finds the settlement.
    let again = own.exchange(&signed).expect("an answer");
    assert!(again.status == 200 || again.code() == "nonce_replayed", "{again:?}");
    assert_eq!([cells.settlements(0), cells.settlements(1)], [1, 0]);
}

#[test]
fn who_enrols_lands_where_it_may_and_knows_nobody_elsewhere() {
    let cells = Cells::start();
    let health = call("GET", "/readyz", None);
    for (host, status) in [("a.pay.example", 200), ("b.pay.example", 200), ("c.pay.example", 421), ("pay.example", 421)] {
        let answer = Connection::open(cells.router).expect("connecting").exchange(&render_for(host, &health)).expect("an answer");
        assert_eq!(answer.status, status, "{host}: {answer:?}");
    }
    let mut stranger = Account::unknown(new_key(), Some(&base(0))).connect(cells.router).expect("connecting");
    let enrolment = stranger.signed_enrollment("Shop").expect("signing");
    let refused = stranger.exchange(&enrolment).expect("an answer");
    assert_eq!((refused.status, refused.code()), (403, "invitation_invalid"), "{refused:?}");
    let [payer, _payee] = [cells.enroll(0), cells.enroll(1)];
    let listed = [0, 1].map(|cell: usize| run(&["clients", "list", "--json", "--store", cells.cells[cell].store()])["data"].clone());
    assert_eq!(listed.each_ref().map(|it| it.as_array().expect("a list").len()), [1, 1]);

    // A payee of the other cell is a stranger here.
    let to = format!("participant:{}", listed[1][0]["client_id"].as_str().expect("an id"));
    let body = json!({"amount": 5, "currency": "EUR", "to": to, "reference": "inv-1"}).to_string();
    let refused = cells.connect(&payer).send("POST", SETTLEMENTS, Some(&body)).expect("the router");
    assert_eq!((refused.status, &refused.body["errors"][0]["code"]), (422, &json!("participant_not_found")), "{refused:?}");
}

/// The command that moves a client from the first cell to the second.
fn moving(cells: &Cells, client: &str) -> Command {
    let [a, b] = &cells.cells;
    let keys = [a, b].map(|nodes| nodes.data_dir().join("railgate.keys"));
    let mut command = Command::new(railgate());
    command.args(["copy", "--client", client, "--reason", "the first cell is full", "--from", a.store(), "--to", b.store()]);
    command.arg("--from-keys").arg(&keys[0]).arg("--to-keys").arg(&keys[1]);
    command.args(["--from-url", &base(0), "--to-url", &base(1)]);
    command
}

fn shown(cells: &Cells, cell: usize, client: &str) -> Value {
    run(&["clients", "show", client, "--json", "--store", cells.cells[cell].store()])
}

#[test]
fn a_client_moves_while_servers_run_and_the_command_is_killed() {
    let cells = Cells::start();
    let account = cells.enroll(0);
    let mut old = cells.connect(&account);
    assert_eq!(pay(&mut old, "inv-1").status, 201);
    let paid = |client: &mut Client| client.send("GET", &format!("{SETTLEMENTS}/inv-1?wait=5"), None).expect("the router");
    until("the payment is final", || paid(&mut old).body["status"] == "completed");
    drop(old);
    let client = run(&["clients", "list", "--json", "--store", cells.cells[0].store()])["data"][0]["client_id"].clone();
    let client = client.as_str().expect("an id");
    let evidence = ["--reference", "bank-1", "--evidence", "line 7", "--store", cells.cells[0].store(), "--json"];
    run(&[&["clients", "deposit", client, "70", "EUR"][..], &evidence].concat());

    // Killed as soon as it has done something.
    let mut first = moving(&cells, client).stdout(Stdio::piped()).spawn().expect("railgate runs");
    let mut line = String::new();
    BufReader::new(first.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    assert!(line.contains("nothing new begins"), "{line}");
    first.kill().and_then(|()| first.wait()).expect("a process that runs");
    assert_eq!(shown(&cells, 0, client)["place"]["state"], "leaving");
    // Play money, since a payment that a server has taken would be answered again. The router ends a connection of many calls.
    let fund = || {
        let body = json!({"amount": 1, "currency": "EUR"}).to_string();
        cells.connect(&account).send("POST", "/api/v1/simulator/fund", Some(&body)).expect("the router")
    };
    until("the servers refuse it", || fund().code() == "client_moving");

    let told = moving(&cells, client).arg("--json").output().expect("railgate runs");
    assert!(told.status.success(), "{told:?}");
    let [here, there] = [0, 1].map(|cell| shown(&cells, cell, client));
    assert_eq!((&here["place"]["state"], &here["place"]["url"]), (&json!("moved"), &json!(base(1))));
    assert_eq!((&there["place"]["state"], &there["place"]["url"]), (&json!("arrived"), &json!(base(0))));
    assert_eq!((&here["balances"][0]["available"], &there["balances"][0]["available"]), (&json!(0.0), &json!(70.0)));

    // The old cell answers for what was done there, and tells the new address.
    until("the servers know where it is", || pay(&mut cells.connect(&account), "new").code() == "client_moved");
    let mut old = cells.connect(&account);
    let refused = pay(&mut old, "new");
    assert_eq!((refused.status, &refused.body["other_gateway"]), (409, &json!(base(1))));
    assert_eq!(paid(&mut old).status, 200);
    assert_eq!(pay(&mut old, "inv-1").status, 200, "as it was answered before");

    // The same key signs for the new one, where a reference that was used stays used.
    let mut new = cells.connect(&account.at(&base(1)));
    let refused = pay(&mut new, "inv-1");
    assert_eq!((refused.status, refused.code()), (409, "reference_elsewhere"));
    assert_eq!(refused.body["other_gateway"], json!(base(0)));
    assert_eq!(pay(&mut new, "inv-2").status, 201);
    assert_eq!([cells.settlements(0), cells.settlements(1)], [1, 1]);
    let again = moving(&cells, client).arg("--json").output().expect("railgate runs");
    assert_eq!(serde_json::from_slice::<Value>(&again.stdout).expect("JSON")["steps"], json!([]), "nothing is left to move");
}
