//! An operator behind TLS, where a connection can be held in the middle of being made.

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use railgate::env::{Env as _, SystemEnv};
use railgate::rail::{HttpReply, HttpRequest};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::listening::{read, write};
use super::{Cast, Operator, Placed};

/// An operator behind TLS. Each connection carries one request.
pub(super) struct Secured {
    shared: Arc<Shared>,
    /// What its certificate is verified with, in PEM.
    pub(super) authority: String,
    thread: JoinHandle<()>,
}

struct Shared {
    base_url: String,
    tls: Arc<ServerConfig>,
    state: Mutex<State>,
}

struct State {
    operator: Box<dyn Operator>,
    /// How many questions it answered.
    answered: usize,
    /// What is told of the connection that is to be held, after how many others.
    hold: Option<(usize, Hold)>,
    stops: bool,
}

struct Hold {
    begun: Sender<()>,
    goes_on: Receiver<()>,
    arrived: Sender<Option<HttpRequest>>,
}

/// A connection that is held.
pub(super) struct Held {
    begun: Receiver<()>,
    goes_on: Sender<()>,
    arrived: Receiver<Option<HttpRequest>>,
}

impl Held {
    /// Waits until somebody makes the connection: the operator's part of the handshake is missing.
    pub(super) fn begun(&self) {
        self.begun.recv().expect("a connection is made");
    }

    /// Lets the operator do its part.
    pub(super) fn go_on(&self) {
        self.goes_on.send(()).expect("it waits");
    }

    /// Waits until the connection has ended, or a request has come over it, which is not served.
    pub(super) fn arrived(self) -> Option<HttpRequest> {
        self.arrived.recv().expect("it ends")
    }
}

impl Secured {
    /// Starts one with this id.
    pub(super) fn start(cast: &Cast, id: &str) -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
        let tls = tls.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).expect("they fit");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base_url = format!("https://{}/api", listener.local_addr().expect("bound"));
        let state = State { operator: (cast.operator)(id, &base_url), answered: 0, hold: None, stops: false };
        let shared = Arc::new(Shared { base_url, tls: Arc::new(tls), state: Mutex::new(state) });
        let accepting = Arc::clone(&shared);
        let thread = std::thread::spawn(move || accepting.accept(&listener));
        Self { shared, authority: made.cert.pem(), thread }
    }

    pub(super) fn base_url(&self) -> &str {
        &self.shared.base_url
    }

    /// How many questions (`GET`) it has answered.
    pub(super) fn answered(&self) -> usize {
        self.shared.state.lock().expect("no panics").answered
    }

    /// Holds one connection, after so many others.
    pub(super) fn hold(&self, after: usize) -> Held {
        let ((begin, begun), (go_on, goes_on), (tell, arrived)) = (channel(), channel(), channel());
        self.shared.state.lock().expect("no panics").hold = Some((after, Hold { begun: begin, goes_on, arrived: tell }));
        Held { begun, goes_on: go_on, arrived }
    }

    /// Stops listening.
    pub(super) fn stop(self) -> Placed {
        self.shared.state.lock().expect("no panics").stops = true;
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.base_url().trim_start_matches("https://").trim_end_matches("/api"));
        self.thread.join().expect("no panics");
        let shared = Arc::into_inner(self.shared).expect("nobody is served any more");
        Placed { base_url: shared.base_url, operator: shared.state.into_inner().expect("no panics").operator }
    }
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        let mut serving = Vec::new();
        for stream in listener.incoming() {
            let mut state = self.state.lock().expect("no panics");
            if state.stops {
                break;
            }
            let hold = match state.hold.take() {
                Some((0, hold)) => Some(hold),
                later => {
                    state.hold = later.map(|(after, hold)| (after - 1, hold));
                    None
                }
            };
            let (shared, stream) = (Arc::clone(&self), stream.expect("accepted"));
            serving.push(std::thread::spawn(move || shared.converse(stream, hold)));
        }
        serving.into_iter().for_each(|thread| thread.join().expect("no panics"));
    }

    fn converse(&self, stream: TcpStream, hold: Option<Hold>) {
        if let Some(hold) = &hold {
            stream.peek(&mut [0]).expect("the first byte of a handshake");
            hold.begun.send(()).expect("somebody waits");
            hold.goes_on.recv().expect("somebody says");
        }
        let connection = ServerConnection::new(Arc::clone(&self.tls)).expect("a configuration");
        let mut stream = BufReader::new(StreamOwned::new(connection, stream));
        let request = read(&mut stream, &self.base_url);
        if let Some(hold) = hold {
            return hold.arrived.send(request).expect("somebody waits");
        }
        // A node that is killed leaves connections without a request.
        let Some(request) = request else { return };
        let reply = self.serve(&request);
        let stream = stream.get_mut();
        // Whoever asked may be gone.
        let _ = stream.write_all(&write(&reply));
        stream.conn.send_close_notify();
        let _ = stream.flush();
    }

    fn serve(&self, request: &HttpRequest) -> HttpReply {
        let mut state = self.state.lock().expect("no panics");
        state.answered += usize::from(request.method == "GET");
        let mut reply = state.operator.serve(request, SystemEnv::default().now());
        reply.headers.push(("connection".to_owned(), "close".to_owned()));
        reply
    }
}
