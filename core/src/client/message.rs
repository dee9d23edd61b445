//! Requests and answers as a session sees them.

use crate::auth::SignatureFields;

/// A request, with a path below the server's base address.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// Path and query, beginning with a slash.
    pub path: String,
    /// Names and values, one entry for each line.
    pub headers: Vec<(String, String)>,
    /// The body; empty means no body.
    pub body: Vec<u8>,
}

/// An answer, as far as an [`Exchange`](super::Exchange) looks at it.
#[derive(Debug, Clone, Copy)]
pub struct Response<'a> {
    /// The status.
    pub status: u16,
    /// Names and values; those of [`Response::HEADERS`] are all that is looked at.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: &'a [u8],
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// A `POST` of a JSON document.
    pub fn post(path: &str, json: String) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { headers, body: json.into_bytes(), ..Self::new("POST", path) }
    }

    pub(super) fn remove(&mut self, names: &[&str]) {
        self.headers.retain(|(name, _)| !names.iter().any(|gone| name.eq_ignore_ascii_case(gone)));
    }

    /// Adds a signature to those that are there.
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
    /// The headers that are looked at, in lower case.
    pub const HEADERS: [&'static str; 4] = ["content-type", "date", "retry-after", "signature-challenge"];

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }
}

/// A server's address as it is signed, the way RFC 9110 compares addresses: scheme and host in lower case, no default
/// port, and no slash at the end. `None` if it is none. A server must call itself by the same.
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
