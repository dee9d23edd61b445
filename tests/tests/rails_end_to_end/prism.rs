//! An independent proxy, Prism, between the gateway and an operator. It lets nothing through that is not as the published document of the
//! GSMA Mobile Money API says.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use railgate_tests::client::{Client, Connection, enroll};
use railgate_tests::interop::prepare;
use railgate_tests::operators::{Books, Intent, Listening, gsma, paying_through, schema};
use railgate_tests::patience::until;
use railgate_tests::port;
use serde_json::json;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

/// A running proxy.
struct Prism {
    child: Child,
    /// What it says, line by line.
    said: Receiver<String>,
    port: u16,
}

impl Prism {
    /// Starts it in front of `upstream`, and waits until it listens.
    fn start(document: &Path, upstream: &str) -> Self {
        let (mut command, port) = (prepare("prism-node"), port::free());
        command.arg(document).args([upstream, &port.to_string()]).env("NO_COLOR", "1");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("node runs");
        let (output, (tell, said)) = (child.stdout.take().expect("piped"), channel());
        std::thread::spawn(move || {
            // Until it ends, or nobody listens.
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| tell.send(line))
        });
        while !said.recv().expect("it runs").contains("is listening") {}
        Self { child, said, port }
    }

    /// What it has found wrong since the last time.
    fn objections(&self) -> Vec<String> {
        self.said.try_iter().filter(|line| ["warning", "error", "Violation"].iter().any(|word| line.contains(word))).collect()
    }
}

impl Drop for Prism {
    fn drop(&mut self) {
        self.child.kill().expect("it was not waited for");
        self.child.wait().expect("waiting");
    }
}

fn status(client: &mut Client, path: &str) -> String {
    let told = client.send("GET", path, None).expect("answered");
    assert_eq!(told.status, 200, "{told:?}");
    told.body["status"].as_str().expect("a status").to_owned()
}

#[test]
fn an_independent_proxy_has_nothing_to_object() {
    let Some(text) = schema::published("gsma/mobile-money-api-1.2.0.yaml") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    // An escape in it is one that JavaScript's regular expressions refuse: the proxy would skip the whole schema without a word.
    let document = folder.path().join("document.yaml");
    std::fs::write(&document, text.replace(r"\\,{1}", ",")).expect("written");
    let cast = gsma::terse();
    let operator = Listening::start(&cast, "first", None);
    let proxy = Prism::start(&document, operator.base_url());
    let mut spec = (cast.provider)("first", &format!("http://127.0.0.1:{}", proxy.port));
    // That is another document's matter.
    spec.settings.insert("token_url".to_owned(), format!("{}/token", operator.base_url()));
    let server = paying_through(&folder.path().join("gateway.db"), &[spec]);
    let mut client = enroll(server.address).connect(server.address).expect("connected");
    let mut pay = |intent: Intent, name: &str, ends: &[&str]| {
        operator.operator().intend(intent);
        let path = |n: usize| format!("{SETTLEMENTS}/{name}-{n}");
        for (n, to) in cast.payees.iter().enumerate() {
            let body =
                json!({"amount": 1.25, "currency": "EUR", "to": to, "reference": format!("{name}-{n}"), "description": "An invoice"});
            let made = client.send("POST", SETTLEMENTS, Some(&body.to_string())).expect("answered");
            assert_eq!(made.status, 201, "{made:?}");
        }
        (0..cast.payees.len()).for_each(|n| until("it has ended", || ends.contains(&&*status(&mut client, &path(n)))));
    };
    pay(Intent::Does, "done", &["completed"]);
    pay(Intent::DoesAfter(100), "later", &["completed"]);
    // Some refusals prove nothing.
    pay(Intent::Refuses, "refused", &["failed", "unknown"]);
    operator.operator().intend(Intent::Does);
    for n in 0..cast.payees.len() {
        let path = format!("{SETTLEMENTS}/done-{n}");
        assert!(client.send("POST", &format!("{path}/reverse"), None).expect("answered").status < 300);
        until("it is given back", || status(&mut client, &path) == "reversed");
    }
    let count = |books: &Books| (books.paid.len(), books.given_back.len());
    assert_eq!(count(operator.operator().books()), (2 * cast.payees.len(), cast.payees.len()));
    assert_eq!(proxy.objections(), [""; 0]);
    // It would have objected.
    let mut raw = Connection::open(([127, 0, 0, 1], proxy.port).into()).expect("connected");
    let wrong = b"POST /transactions/type/disbursement HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
        content-length: 17\r\n\r\n{\"amount\": false}";
    assert_eq!(raw.exchange(&wrong[..]).expect("answered").status, 422);
    until("it objects", || !proxy.objections().is_empty());
}
