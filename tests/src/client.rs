//! A plain blocking HTTP/1.1 client that signs its requests, over one keep-alive connection: small enough to be
//! trusted in a crash test.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use railgate::auth::{Signer, SoftwareKey};
use railgate::client::{self, Call, Exchange, Request, RetryPolicy, Session, SignedBy, Snapshot, Step};
use railgate::ledger::Mode;
use serde_json::{Value, json};

/// One connection, without signatures.
pub struct Connection(BufReader<TcpStream>);

/// A response.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body if it is JSON, otherwise null.
    pub body: Value,
    /// The nonce of the call's signature; empty if it was not signed.
    pub nonce: String,
    /// The body as received.
    pub bytes: Vec<u8>,
}

impl Response {
    /// The value of a header, by lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The code of a problem; empty if it is not one.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or("")
    }
}

impl Connection {
    /// Connects to a server.
    pub fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends the bytes of one request and reads the response.
    pub fn exchange(&mut self, request: &[u8]) -> Result<Response> {
        self.put(request)?;
        self.answer()
    }

    /// Whether there is no unread data.
    pub fn is_silent(&mut self) -> Result<bool> {
        self.0.get_ref().set_nonblocking(true)?;
        let peeked = self.0.get_ref().peek(&mut [0]);
        self.0.get_ref().set_nonblocking(false)?;
        match peeked {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(self.0.buffer().is_empty()),
            other => other.map(|_| false),
        }
    }

    /// Sends the bytes of one request.
    pub fn put(&mut self, request: &[u8]) -> Result<()> {
        self.0.get_mut().write_all(request)
    }

    /// Reads the response to a request that was sent.
    pub fn answer(&mut self) -> Result<Response> {
        let (status, headers) = self.head()?;
        let length = headers.iter().find(|(n, _)| n == "content-length").and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes)?;
        let json = headers.iter().any(|(name, value)| name == "content-type" && value.contains("json"));
        let body = if json && !bytes.is_empty() { serde_json::from_slice(&bytes)? } else { Value::Null };
        Ok(Response { status, headers, body, nonce: String::new(), bytes })
    }

    /// Reads status and headers but not the body: for responses without an end, such as streams.
    pub fn head(&mut self) -> Result<(u16, Vec<(String, String)>)> {
        let status = self.line()?;
        let status =
            status.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or_else(|| Error::new(ErrorKind::InvalidData, status.clone()))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok((status, headers))
    }

    /// The next chunk of a chunked body (RFC 9112, section 7.1); empty at its end.
    pub fn chunk(&mut self) -> Result<Vec<u8>> {
        let size = self.line()?;
        let size = usize::from_str_radix(&size, 16).map_err(|_| Error::new(ErrorKind::InvalidData, size))?;
        let mut bytes = vec![0; size + 2];
        self.0.read_exact(&mut bytes)?;
        bytes.truncate(size);
        Ok(bytes)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.0.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// An enrolled key and its token, from which further connections are made.
#[derive(Clone)]
pub struct Account {
    signer: Arc<dyn Signer>,
    /// The address that its calls are signed for; `None` means the address that it connects to.
    base: Option<String>,
    mode: Mode,
    snapshot: Snapshot,
}

/// Enrols a new sandbox client.
pub fn enroll(address: SocketAddr) -> Account {
    Account::enroll(address, None, new_key()).expect("enrolling")
}

impl Account {
    /// Enrols `signer` as a new sandbox client of a server whose public address is `base` or the address that it listens on.
    pub fn enroll(address: SocketAddr, base: Option<&str>, signer: Arc<dyn Signer>) -> Result<Self> {
        Self::enroll_invited(address, base, signer, None)
    }

    /// Like [`Account::enroll`], with an operator's invitation if there is one.
    pub fn enroll_invited(address: SocketAddr, base: Option<&str>, signer: Arc<dyn Signer>, code: Option<&str>) -> Result<Self> {
        let mut account = Self::unknown(signer, base);
        let mut client = account.connect(address)?;
        let response = client.ask(client.session.enroll_request("Test", code))?;
        assert_eq!(response.status, 201, "{response:?}");
        account.snapshot = client.session.snapshot();
        Ok(account)
    }

    /// Enrols a new key as that of whom an operator's invitation with this code is for.
    pub fn enroll_operator(address: SocketAddr, code: &str) -> Result<Self> {
        Self::enroll_operator_at(address, None, code)
    }

    /// Like [`Account::enroll_operator`], of a server whose public address is `base` or the address that it listens on.
    pub fn enroll_operator_at(address: SocketAddr, base: Option<&str>, code: &str) -> Result<Self> {
        let mut account = Self { mode: Mode::Live, ..Self::unknown(new_key(), base) };
        let mut client = account.connect(address)?;
        let response = client.ask(client.session.enroll_operator_request(code, None))?;
        assert_eq!(response.status, 201, "{response:?}");
        account.snapshot = client.session.snapshot();
        Ok(account)
    }

    /// Enrols a new key as a device of the end user whom a client's code is for.
    pub fn enroll_device(address: SocketAddr, code: &str) -> Result<Self> {
        let mut account = Self::unknown(new_key(), None);
        let mut client = account.connect(address)?;
        let jwk: Value = serde_json::from_str(&account.signer.public_key().jwk())?;
        let body = json!({"code": code, "jwk": jwk, "platform": "android"}).to_string();
        let response = client.send("POST", "/api/v1/mobile/devices", Some(&body))?;
        assert_eq!(response.status, 201, "{response:?}");
        account.snapshot = client.session.snapshot();
        Ok(account)
    }

    /// A key that is not enrolled.
    pub fn unknown(signer: Arc<dyn Signer>, base: Option<&str>) -> Self {
        Self { signer, base: base.map(str::to_owned), mode: Mode::Sandbox, snapshot: Snapshot::default() }
    }

    /// A further connection, which renews its token when necessary.
    pub fn connect(&self, address: SocketAddr) -> Result<Client> {
        let base = self.base.clone().unwrap_or_else(|| format!("http://{address}"));
        let mut session = Session::new(&base, self.mode, self.signer.public_key()).expect("an address");
        session.restore(&self.snapshot);
        Ok(Client { connection: Connection::open(address)?, session, signer: Arc::clone(&self.signer) })
    }

    /// The same key, without a token, for calls to another address.
    pub fn at(&self, base: &str) -> Self {
        Self { mode: self.mode, ..Self::unknown(Arc::clone(&self.signer), Some(base)) }
    }

    /// The access token from the enrolment.
    pub fn token(&self) -> &str {
        self.snapshot.access_token.as_deref().expect("enrolled")
    }

    /// The RFC 7638 thumbprint of its key.
    pub fn key_id(&self) -> String {
        self.signer.public_key().id().to_string()
    }
}

/// One connection of an account, which signs every call.
pub struct Client {
    connection: Connection,
    session: Session,
    signer: Arc<dyn Signer>,
}

/// No retries: a test that needs them makes them itself.
const ONCE: RetryPolicy = RetryPolicy { tries: 1, timeout_ms: 0, pause_ms: 0, longest_pause_ms: 0, unconnected: true };

impl Client {
    /// Sends one call and reads the response. A call that was refused because token or challenge had expired is signed
    /// and sent again.
    pub fn send(&mut self, method: &str, path: &str, body: Option<&str>) -> Result<Response> {
        self.ask(call(method, path, body))
    }

    /// Like [`Client::send`], for an existing request.
    pub fn ask(&mut self, request: Request) -> Result<Response> {
        let mut exchange = Exchange::new(Call::new(request), ONCE);
        let mut last = None;
        while let Some(bytes) = self.next(&mut exchange, None)? {
            let mut response = self.connection.exchange(&bytes)?;
            response.nonce = nonce(&bytes);
            self.answered(&mut exchange, &response);
            last = Some(response);
        }
        Ok(last.expect("what a call needs is granted"))
    }

    /// Gets `path` with this media type, or any if that is empty; returns the response as served.
    pub fn fetch(&mut self, path: &str, kind: &str) -> Result<Vec<u8>> {
        let mut request = call("GET", path, None);
        if !kind.is_empty() {
            request.headers.push(("accept".to_owned(), kind.to_owned()));
        }
        let response = self.ask(request)?;
        assert_eq!(response.status, 200, "{path}: {response:?}");
        Ok(response.bytes)
    }

    /// The client's complete feed, read page by page; asserts that its positions count from 1 without gaps.
    pub fn feed(&mut self) -> Result<Vec<Value>> {
        let mut feed: Vec<Value> = Vec::new();
        loop {
            let mut page = self.send("GET", &format!("/api/v1/gateway/events?limit=200&after={}", feed.len()), None)?;
            assert_eq!(page.status, 200, "{page:?}");
            for entry in page.body["data"].as_array_mut().expect("a page").drain(..) {
                assert_eq!(entry["position"], feed.len() + 1);
                feed.push(entry);
            }
            if page.body["has_more"] == false {
                return Ok(feed);
            }
        }
    }

    /// The bytes of a signed call, which the caller can send anywhere, any number of times.
    pub fn signed(&mut self, request: Request) -> Result<Vec<u8>> {
        let signed = self.next(&mut Exchange::new(Call::new(request), ONCE), None)?;
        Ok(signed.expect("what a call needs is granted"))
    }

    /// The bytes of a call that a new key signs too.
    pub fn signed_with_new_key(&mut self, request: Request, new_key: &dyn Signer) -> Result<Vec<u8>> {
        let call = Call::new(request).with_new_key(new_key.public_key());
        let signed = self.next(&mut Exchange::new(call, ONCE), Some(new_key))?;
        Ok(signed.expect("what a call needs is granted"))
    }

    /// The bytes of a call that enrols the key.
    pub fn signed_enrollment(&mut self, name: &str) -> Result<Vec<u8>> {
        let request = self.session.enroll_request(name, None);
        self.signed(request)
    }

    /// The bytes of a call that asks for a token.
    pub fn signed_token_call(&mut self) -> Result<Vec<u8>> {
        let request = self.session.token_request(None);
        self.signed(request)
    }

    /// Its token, challenge and session.
    pub fn snapshot(&self) -> Snapshot {
        self.session.snapshot()
    }

    /// Sends bytes unchanged.
    pub fn exchange(&mut self, bytes: &[u8]) -> Result<Response> {
        self.connection.exchange(bytes)
    }

    /// The connection itself.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// The bytes of the next request of the exchange; `None` at its end.
    fn next(&mut self, exchange: &mut Exchange, new_key: Option<&dyn Signer>) -> Result<Option<Vec<u8>>> {
        loop {
            match exchange.next(&mut self.session, now(), random()) {
                Step::Sign { by, message } => {
                    let key = match by {
                        SignedBy::Key => &*self.signer,
                        SignedBy::NewKey => new_key.expect("the call brings a key"),
                    };
                    exchange.signed(&key.sign(&message).expect("a key in memory signs"));
                }
                Step::Send { request, prepares: true, .. } => {
                    let bytes = self.render(&request);
                    let response = self.connection.exchange(&bytes)?;
                    if response.status >= 500 {
                        return Err(Error::other(format!("{}: {response:?}", request.path)));
                    }
                    self.answered(exchange, &response);
                }
                Step::Send { request, .. } => return Ok(Some(self.render(&request))),
                Step::Pause(_) => panic!("everything is tried once"),
                Step::Done(_) => return Ok(None),
            }
        }
    }

    /// For the host of the address that its calls are signed for, as a proxy wants it.
    fn render(&self, request: &Request) -> Vec<u8> {
        let base = self.session.base();
        let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
        render_for(authority.split('/').next().unwrap_or(authority), request)
    }

    fn answered(&mut self, exchange: &mut Exchange, response: &Response) {
        let headers: Vec<(&str, &str)> = response.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = client::Response { status: response.status, headers: &headers, body: &response.bytes };
        exchange.answered(&mut self.session, &answer, now());
    }
}

/// A call before it is signed.
pub fn call(method: &str, path: &str, body: Option<&str>) -> Request {
    match body {
        Some(body) => Request { method: method.to_owned(), ..Request::post(path, body.to_owned()) },
        None => Request::new(method, path),
    }
}

/// A new key for each call of this function.
pub fn new_key() -> Arc<SoftwareKey> {
    let mut secret = [0; 32];
    for half in secret.chunks_exact_mut(16) {
        half.copy_from_slice(&unique());
    }
    Arc::new(SoftwareKey::ed25519(&secret))
}

/// The bytes of a call, signed or not.
pub fn render(request: &Request) -> Vec<u8> {
    render_for("railgate", request)
}

/// The bytes of a call to a host, signed or not.
pub fn render_for(host: &str, request: &Request) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/1.1\r\nhost: {host}\r\n", request.method, request.path);
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !request.body.is_empty() {
        head.push_str(&format!("content-length: {}\r\n", request.body.len()));
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&request.body);
    bytes
}

/// The nonce of the (first) signature of a rendered request.
pub fn nonce(request: &[u8]) -> String {
    let text = String::from_utf8_lossy(request);
    let rest = text.split_once("nonce=\"").map_or("", |(_, rest)| rest);
    rest.split('"').next().unwrap_or("").to_owned()
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(now.as_millis()).expect("before the year 292000000")
}

/// Unique values, also across processes.
fn random() -> client::Random {
    let mut bytes = [0; 48];
    for part in bytes.chunks_exact_mut(16) {
        part.copy_from_slice(&unique());
    }
    bytes
}

fn unique() -> [u8; 16] {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(n);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    bytes[8..].copy_from_slice(&n.to_be_bytes());
    bytes
}
