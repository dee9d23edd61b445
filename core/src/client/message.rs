//! Requests and responses as a session sees them.

use crate::auth::SignatureFields;

/// A request to a path below the server's base address.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, in upper case.
    pub method: String,
    /// Path and query, starting with a slash.
    pub path: String,
    /// Header names and values, one entry per header line.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

/// A response, as far as an [`Exchange`](super::Exchange) reads it.
#[derive(Debug, Clone, Copy)]
pub struct Response<'a> {
    /// The HTTP status code.
    pub status: u16,
    /// Header names and values; only those in [`Response::HEADERS`] are read.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body; may be empty where only status and headers matter.
    pub body: &'a [u8],
}

impl Request {
    /// A request without headers or body.
    pub fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// A `POST` request with a JSON body.
    pub fn post(path: &str, json: String) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { headers, body: json.into_bytes(), ..Self::new("POST", path) }
    }

    pub(super) fn remove(&mut self, names: &[&str]) {
        self.headers.retain(|(name, _)| !names.iter().any(|gone| name.eq_ignore_ascii_case(gone)));
    }

    /// Adds a signature to those already present.
    pub(super) fn add(&mut self, made: SignatureFields) {
        self.headers.extend(made.content_digest.map(|digest| ("content-digest".to_owned(), digest)));
        self.join("signature-input", made.signature_input);
        self.join("signature", made.signature);
    }

    fn join(&mut self, name: &str, value: String) {
        match self.headers.iter_mut().find(|(known, _)| known == name) {
            Some((_, present)) => {
                present.push_str(", ");
                present.push_str(&value);
            }
            None => self.headers.push((name.to_owned(), value)),
        }
    }
}

impl Response<'_> {
    /// The headers that are read, in lower case.
    pub const HEADERS: [&'static str; 4] = ["content-type", "date", "retry-after", "signature-challenge"];

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }
}

/// The server's address in the form that is signed (RFC 9110 comparison rules): lower-case scheme and host, no default port, no
/// trailing slash. `None` if `text` is not such an address. The server must be configured with the same address.
pub fn normal_base(text: &str) -> Option<String> {
    let (scheme, rest) = text.trim_end_matches('/').split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let odd = |b: u8| b <= b' ' || b == 0x7f || matches!(b, b'@' | b'?' | b'#' | b'\\');
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix(default_port).unwrap_or(&host);
    (!host.is_empty() && !host.starts_with(':') && !rest.bytes().any(odd)).then(|| format!("{scheme}://{host}{path}"))
}
