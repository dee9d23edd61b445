//! Durable creates over HTTP beside a bare axum JSON echo with the same body, in the same run, interleaved.
//!
//! Load generator and server share the machine's cores, so only the ratio travels. Creates are measured twice: alone
//! (`--outbox off`), and with the outbox sending them on meanwhile, as a gateway does. Arguments: `--seconds N` a
//! measurement (3), `--rounds N` (3), `--connections 1,16,64,256`.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use railgate_tests::binary::Server;
use railgate_tests::client::enroll;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What both servers are sent: the echo parses and writes all of it.
#[derive(Serialize, Deserialize)]
struct Body {
    amount: f64,
    currency: String,
    to: String,
    reference: String,
    description: String,
    metadata: std::collections::BTreeMap<String, String>,
}

fn body(n: u64) -> String {
    format!(
        r#"{{"amount":0.01,"currency":"EUR","to":"msisdn:+254700000001","reference":"inv-2026-{n:012}","description":"Invoice of November, order of 12 crates","metadata":{{"order":"4711-0815","branch":"Nairobi West"}}}}"#
    )
}

struct Options {
    seconds: u64,
    rounds: usize,
    connections: Vec<usize>,
}

fn options() -> Options {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned();
    let connections = value("--connections").unwrap_or_else(|| "1,16,64,256".into());
    Options {
        seconds: value("--seconds").and_then(|v| v.parse().ok()).unwrap_or(3),
        rounds: value("--rounds").and_then(|v| v.parse().ok()).unwrap_or(3),
        connections: connections.split(',').filter_map(|c| c.parse().ok()).collect(),
    }
}

fn main() {
    if std::env::args().any(|a| a == "--echo") {
        return echo();
    }
    // `cargo test --benches` only asks whether it starts.
    if !std::env::args().any(|a| a == "--bench") {
        return;
    }
    let options = options();
    let folder = tempfile::tempdir().expect("a folder");
    let mut reference = Echo::start();
    println!("connections | echo/s | creates/s | ratio | p50 ms | p99 ms | with outbox/s | ratio | p50 ms | p99 ms");
    println!("-----------:|-------:|----------:|------:|-------:|-------:|--------------:|------:|-------:|------:");
    let mut next = 0;
    for &connections in &options.connections {
        let (mut echoes, mut alone, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..options.rounds {
            echoes.push(run(reference.address, "/echo", "", connections, options.seconds, &mut next));
            for (outbox, runs) in [("off", &mut alone), ("on", &mut whole)] {
                // A fresh database each time, so that no round pays for the outbox that the one before it left.
                let path = folder.path().join(format!("{connections}-{round}-{outbox}.db"));
                let server = Server::start(&path, &["--outbox", outbox]);
                let authorization = format!("authorization: Bearer {}\r\n", enroll(server.address));
                runs.push(run(server.address, "/api/v1/gateway/settlements", &authorization, connections, options.seconds, &mut next));
            }
        }
        let (echo, alone, whole) = (median(&mut echoes), median(&mut alone), median(&mut whole));
        println!("{connections} | {:.0} | {} | {}", echo.rate, alone.row(&echo), whole.row(&echo));
    }
    reference.child.kill().expect("killing the echo");
    reference.child.wait().expect("waiting");
}

#[derive(Clone)]
struct Figures {
    rate: f64,
    p50: Duration,
    p99: Duration,
}

impl Figures {
    fn row(&self, echo: &Figures) -> String {
        let (p50, p99) = (self.p50.as_secs_f64() * 1e3, self.p99.as_secs_f64() * 1e3);
        format!("{:.0} | {:.0} % | {p50:.2} | {p99:.2}", self.rate, 100.0 * self.rate / echo.rate)
    }
}

fn median(runs: &mut [Figures]) -> Figures {
    runs.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    runs[runs.len() / 2].clone()
}

/// Sends from `connections` keep-alive connections for `seconds`, one request at a time on each.
fn run(address: SocketAddr, path: &str, header: &str, connections: usize, seconds: u64, next: &mut u64) -> Figures {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let first = *next;
    // Every connection has numbers of its own: references never repeat.
    *next += connections as u64 * 10_000_000;
    let started = Instant::now();
    let end = started + Duration::from_secs(seconds);
    let mut latencies: Vec<Duration> = runtime.block_on(async {
        let tasks: Vec<_> = (0..connections as u64)
            .map(|c| tokio::spawn(connection(address, path.to_owned(), header.to_owned(), first + c * 10_000_000, end)))
            .collect();
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.expect("a connection"));
        }
        all
    });
    let elapsed = started.elapsed();
    latencies.sort_unstable();
    let at = |q: usize| latencies[(latencies.len() - 1) * q / 100];
    Figures { rate: latencies.len() as f64 / elapsed.as_secs_f64(), p50: at(50), p99: at(99) }
}

async fn connection(address: SocketAddr, path: String, header: String, first: u64, end: Instant) -> Vec<Duration> {
    let mut stream = TcpStream::connect(address).await.expect("connecting");
    stream.set_nodelay(true).expect("nodelay");
    let mut latencies = Vec::with_capacity(100_000);
    let mut buffer = vec![0; 16 * 1024];
    let mut n = first;
    while Instant::now() < end {
        let body = body(n);
        n += 1;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: bench\r\n{header}content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let sent = Instant::now();
        stream.write_all((head + &body).as_bytes()).await.expect("writing");
        answer(&mut stream, &mut buffer).await;
        latencies.push(sent.elapsed());
    }
    latencies
}

/// Reads one whole answer; anything but a success ends the bench.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).await.expect("reading");
        assert!(read > 0, "the server hung up");
        filled += read;
        let Some(head) = buffer[..filled].windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        assert!(buffer.starts_with(b"HTTP/1.1 20"), "{}", String::from_utf8_lossy(&buffer[..filled]));
        if filled >= head + 4 + content_length(&buffer[..head]) {
            return;
        }
    }
}

fn content_length(head: &[u8]) -> usize {
    let name = b"content-length: ";
    let at = head.windows(name.len()).position(|w| w.eq_ignore_ascii_case(name)).expect("a length") + name.len();
    head[at..].iter().take_while(|b| b.is_ascii_digit()).fold(0, |n, b| n * 10 + usize::from(b - b'0'))
}

/// The reference: what axum does at best with a body of this kind.
struct Echo {
    child: Child,
    address: SocketAddr,
}

impl Echo {
    fn start() -> Self {
        let exe = std::env::current_exe().expect("own path");
        let mut child = Command::new(exe).arg("--echo").stdout(Stdio::piped()).spawn().expect("the echo starts");
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().expect("piped")), &mut line).expect("its address");
        Self { child, address: line.trim().parse().expect("an address") }
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn echo() {
    let handler = |axum::Json(body): axum::Json<Body>| async move { axum::Json(body) };
    let router = axum::Router::new().route("/echo", axum::routing::post(handler));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("binding");
    println!("{}", listener.local_addr().expect("bound"));
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).await.expect("serving");
}
