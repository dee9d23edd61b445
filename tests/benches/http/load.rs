//! The load generator: one thread, keep-alive connections, one request at a time on each, all prepared in advance.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The number of requests prepared per second: more than any server on available machines can handle.
pub const MOST_PER_SECOND: u64 = 25_000;

/// The result of a run.
#[derive(Clone)]
pub struct Figures {
    /// The number of responses.
    pub count: usize,
    /// Requests a second.
    pub rate: f64,
    /// The median response time,
    pub p50: Duration,
    /// and the 99th percentile.
    pub p99: Duration,
    latencies: Vec<Duration>,
}

impl Figures {
    /// The result for calls with these durations, in any order, over this time.
    pub fn of(mut latencies: Vec<Duration>, elapsed: Duration) -> Self {
        latencies.sort_unstable();
        let at = |q: usize| latencies[(latencies.len() - 1) * q / 100];
        let rate = latencies.len() as f64 / elapsed.as_secs_f64();
        Self { count: latencies.len(), rate, p50: at(50), p99: at(99), latencies }
    }

    /// The combined result of concurrent runs.
    pub fn together(runs: Vec<Self>) -> Self {
        let rate = runs.iter().map(|run| run.rate).sum();
        let all = runs.into_iter().flat_map(|run| run.latencies).collect();
        Self { rate, ..Self::of(all, Duration::from_secs(1)) }
    }
}

/// Sends the requests over `connections` connections for `seconds`, or until there are none left.
pub fn run(address: SocketAddr, requests: Vec<Vec<u8>>, connections: usize, seconds: u64) -> Figures {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (requests, next) = (Arc::new(requests), Arc::new(AtomicUsize::new(0)));
    let started = Instant::now();
    let end = started + Duration::from_secs(seconds);
    let latencies: Vec<Duration> = runtime.block_on(async {
        let tasks: Vec<_> =
            (0..connections).map(|_| tokio::spawn(connection(address, Arc::clone(&requests), Arc::clone(&next), end))).collect();
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.expect("a connection"));
        }
        all
    });
    Figures::of(latencies, started.elapsed())
}

async fn connection(address: SocketAddr, requests: Arc<Vec<Vec<u8>>>, next: Arc<AtomicUsize>, end: Instant) -> Vec<Duration> {
    let mut stream = TcpStream::connect(address).await.expect("connecting");
    stream.set_nodelay(true).expect("nodelay");
    let mut latencies = Vec::with_capacity(100_000);
    let mut buffer = vec![0; 16 * 1024];
    while Instant::now() < end
        && let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed))
    {
        let sent = Instant::now();
        stream.write_all(request).await.expect("writing");
        answer(&mut stream, &mut buffer).await;
        latencies.push(sent.elapsed());
    }
    latencies
}

/// Reads one complete response; anything but a success ends the benchmark.
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
