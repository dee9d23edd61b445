//! An operator that listens on this machine's loopback, over a network that loses, cuts off and repeats.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use railgate::rail::{HttpReply, HttpRequest};

use super::callbacks::Messengers;
use super::{Cast, Operator, Placed, Random};

/// Nothing is due: it waits until something is.
const FOREVER: Duration = Duration::from_secs(3_600);

/// An operator that listens.
pub struct Listening {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    base_url: String,
    operator: Mutex<Box<dyn Operator>>,
    /// That something is due sooner than it was, or that it stops.
    sooner: Condvar,
    /// How long each reply waits, in milliseconds.
    slow_ms: AtomicU64,
    /// `None` on a network where nothing goes wrong.
    random: Option<Mutex<Random>>,
    stops: AtomicBool,
}

/// What the network does to a request or its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The connection ends before the operator gets it.
    Before,
    /// The connection ends before the gateway gets the reply.
    After,
    /// The reply ends in the middle.
    Half,
    /// Something in between answers, and the operator never gets it.
    GatewayBefore,
    /// Something in between answers, although the operator got it.
    GatewayAfter,
    MixedUp,
}

impl Listening {
    /// Starts one with this id. With a seed, things go wrong.
    ///
    /// # Panics
    /// If no port can be had.
    pub fn start(cast: &Cast, id: &str, seed: Option<u64>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base_url = format!("http://{}/api", listener.local_addr().expect("bound"));
        let operator = Mutex::new((cast.operator)(id, &base_url));
        let random = seed.map(|seed| Mutex::new(Random::new(seed)));
        let shared =
            Shared { base_url, operator, sooner: Condvar::new(), slow_ms: AtomicU64::new(0), random, stops: AtomicBool::new(false) };
        let shared = Arc::new(shared);
        let (accepting, calling) = (Arc::clone(&shared), Arc::clone(&shared));
        let threads = vec![std::thread::spawn(move || accepting.accept(&listener)), std::thread::spawn(move || calling.call_back())];
        Self { shared, threads }
    }

    /// Where it is.
    pub fn base_url(&self) -> &str {
        &self.shared.base_url
    }

    /// Has each reply leave so long after its request was served.
    pub fn reply_after(&self, wait: Duration) {
        self.shared.slow_ms.store(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    /// The operator. As long as it is held, nobody is served.
    pub fn operator(&self) -> MutexGuard<'_, Box<dyn Operator>> {
        self.shared.operator.lock().expect("no panics")
    }

    /// Stops listening.
    pub(super) fn stop(mut self) -> Placed {
        self.end();
        let shared = Arc::clone(&self.shared);
        drop(self);
        // Connections may still hold it for a moment.
        let taken = std::mem::replace(&mut *shared.operator.lock().expect("no panics"), Box::new(Gone));
        Placed { base_url: shared.base_url.clone(), operator: taken }
    }

    fn end(&mut self) {
        self.shared.stops.store(true, Ordering::SeqCst);
        // It is not about to wait: it has not yet looked, or waits already.
        drop(self.shared.operator.lock());
        self.shared.sooner.notify_one();
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.shared.base_url.trim_start_matches("http://").trim_end_matches("/api"));
        for thread in self.threads.drain(..) {
            thread.join().expect("no panics");
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.end();
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_millis()).expect("a time")
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.stops.load(Ordering::SeqCst) {
                return;
            }
            let (shared, Ok(stream)) = (Arc::clone(&self), stream) else { continue };
            std::thread::spawn(move || shared.converse(stream));
        }
    }

    /// Serves the requests of one connection until it ends.
    fn converse(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let mut stream = BufReader::new(stream);
        while let Some(request) = read(&mut stream, &self.base_url) {
            if self.stops.load(Ordering::SeqCst) {
                return;
            }
            let fault = self.fault();
            let reply = match fault {
                Fault::Before => break,
                Fault::GatewayBefore => bad_gateway(),
                Fault::None | Fault::After | Fault::Half | Fault::GatewayAfter | Fault::MixedUp => self.serve(&request, fault),
            };
            let bytes = match fault {
                Fault::After => break,
                Fault::GatewayAfter => write(&bad_gateway()),
                Fault::None | Fault::Before | Fault::Half | Fault::GatewayBefore | Fault::MixedUp => write(&reply),
            };
            std::thread::sleep(Duration::from_millis(self.slow_ms.load(Ordering::SeqCst)));
            let length = if fault == Fault::Half { bytes.len() / 2 } else { bytes.len() };
            if stream.get_mut().write_all(&bytes[..length]).is_err() || fault == Fault::Half {
                break;
            }
        }
        let _ = stream.get_mut().shutdown(Shutdown::Both);
    }

    fn serve(&self, request: &HttpRequest, fault: Fault) -> HttpReply {
        let intent = self.random.as_ref().map(|random| random.lock().expect("no panics").intent());
        let mut operator = self.operator.lock().expect("no panics");
        if let Some(intent) = intent {
            operator.intend(intent);
        }
        if fault == Fault::MixedUp {
            operator.mix_up();
        }
        let due = |operator: &dyn Operator| operator.next_due().unwrap_or(i64::MAX);
        let before = due(&**operator);
        let reply = operator.serve(request, now());
        if due(&**operator) < before {
            self.sooner.notify_one();
        }
        reply
    }

    fn fault(&self) -> Fault {
        let Some(random) = &self.random else { return Fault::None };
        match random.lock().expect("no panics").below(20) {
            0 => Fault::Before,
            1 => Fault::After,
            2 => Fault::Half,
            3 => Fault::GatewayBefore,
            4 => Fault::GatewayAfter,
            5 => Fault::MixedUp,
            _ => Fault::None,
        }
    }

    /// Sends callbacks as soon as they are due.
    fn call_back(&self) {
        let messengers = Messengers::start();
        let mut operator = self.operator.lock().expect("no panics");
        while !self.stops.load(Ordering::SeqCst) {
            for callback in operator.callbacks(now()) {
                let times = self.random.as_ref().map_or(1, |random| random.lock().expect("no panics").below(3));
                (0..times).for_each(|_| messengers.send(callback.clone()));
            }
            let wait = operator.next_due().map_or(FOREVER, |at| Duration::from_millis(u64::try_from(at - now()).unwrap_or(0)));
            (operator, _) = self.sooner.wait_timeout(operator, wait).expect("no panics");
        }
    }
}

fn bad_gateway() -> HttpReply {
    HttpReply { status: 502, headers: Vec::new(), body: b"<html>Bad gateway</html>".to_vec() }
}

/// Reads a request; `None` at the end of the connection.
pub(crate) fn read(stream: &mut impl BufRead, base_url: &str) -> Option<HttpRequest> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace();
    let method = match words.next()? {
        "GET" => "GET",
        "PUT" => "PUT",
        "POST" => "POST",
        "PATCH" => "PATCH",
        _ => return None,
    };
    let origin = base_url.trim_end_matches("/api");
    let mut request = HttpRequest::new(method, format!("{origin}{}", words.next()?));
    loop {
        line.clear();
        stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = request.headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    request.body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut request.body).ok()?;
    Some(request)
}

pub(crate) fn write(reply: &HttpReply) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} Status\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
    for (name, value) in reply.headers.iter().filter(|(name, _)| name != "content-length") {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    [head.as_bytes(), b"\r\n", &reply.body].concat()
}

/// Left in the place of an operator that was taken out.
struct Gone;

impl Operator for Gone {
    fn serve(&mut self, _: &HttpRequest, _: i64) -> HttpReply {
        bad_gateway()
    }
    fn callbacks(&mut self, _: i64) -> Vec<HttpRequest> {
        Vec::new()
    }
    fn next_due(&self) -> Option<i64> {
        None
    }
    fn intend(&mut self, _: super::Intent) {}
    fn end_tokens(&mut self) {}
    fn mix_up(&mut self) {}
    fn hide_until(&mut self, _: i64) {}
    fn books(&self) -> &super::Books {
        static NONE: super::Books = super::Books { paid: std::collections::BTreeMap::new(), given_back: std::collections::BTreeMap::new() };
        &NONE
    }
}
