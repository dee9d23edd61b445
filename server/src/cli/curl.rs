//! `railgate curl`: any call of the interface by hand, with the profile's token.

use std::io::Read;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};

use super::Global;
use super::failure::{Done, EXIT_HTTP, Failure};
use super::http::{API, Answer, Ask};
use super::problem::Problem;
use super::session::Session;
use super::terminal::{Terminal, note};

const EXAMPLES: &str = "\
Examples:
  railgate curl GET /balances
  railgate curl POST /gateway/settlements '{\"amount\":10.50,\"currency\":\"EUR\",\"to\":\"sim:ok\",\"reference\":\"inv-1\"}'
  railgate curl POST /gateway/settlements @settlement.json -H 'Prefer: wait=10'
  cat batch.json | railgate curl POST /gateway/settlements/batch -
  railgate curl GET /gateway/settlements/inv-1/events | jq .

The answer's body goes to standard output as it came, the status line to standard error.
Exit code: 0 for 2xx, 22 for any other answer, 1 for none.";

/// Paths that do not live below `/api/v1`.
const ROOTS: &[&str] = &["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/.well-known/", "/api/"];

/// Sends any request with the profile's token, and prints the answer as it came
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CurlArgs {
    /// The request's method, such as GET or POST
    #[arg(value_name = "METHOD")]
    method: String,
    /// The path, with or without /api/v1 before it
    #[arg(value_name = "PATH")]
    path: String,
    /// The body: its text, @FILE, or - for standard input
    #[arg(value_name = "BODY|@FILE|-", allow_hyphen_values = true)]
    body: Option<String>,
    /// A further header, 'Name: value'; may be given many times
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    headers: Vec<String>,
}

pub(crate) async fn run(args: CurlArgs, global: &Global, terminal: &Terminal) -> Done {
    let ask = request(&args)?;
    // Unsigned routes work without a profile; on the others the server says what is missing.
    let mut session = Session::open_anonymous(global)?;
    let answer = session.exchange(ask).await?.map_err(|cause| session.unanswered(&cause))?;
    note(format_args!("HTTP/1.1 {}", answer.status));
    terminal.raw(&answer.body)?;
    if answer.status.is_success() {
        return Ok(());
    }
    if answer.status.as_u16() == 401 && !session.is_enrolled() {
        return Err(session.file().missing().exit(EXIT_HTTP));
    }
    Err(failed(&answer))
}

fn failed(answer: &Answer) -> Failure {
    let code = Problem::of(answer).code;
    let code = if code.is_empty() { String::new() } else { format!(" {code}") };
    Failure::new(format!("the server answered {}{code}", answer.status.as_u16())).exit(EXIT_HTTP)
}

fn request(args: &CurlArgs) -> Done<Ask> {
    let method = Method::from_bytes(args.method.to_ascii_uppercase().as_bytes())
        .map_err(|_| Failure::usage(format!("{:?} is not a method", args.method)).hint("write GET, POST, PUT, PATCH or DELETE"))?;
    let mut ask = Ask::new(method, "");
    ask.path = full_path(&args.path);
    if let Some(body) = &args.body {
        ask.body = Some(read_body(body)?);
        ask.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let mut given: Vec<HeaderName> = Vec::new();
    for header in &args.headers {
        let (name, value) = parse_header(header)?;
        // A header that is given replaces ours; given twice, both are sent.
        if given.contains(&name) {
            ask.headers.append(name, value);
        } else {
            ask.headers.insert(name.clone(), value);
            given.push(name);
        }
    }
    // `Prefer: wait=N` holds the answer back; be as patient as it asks for.
    ask.patience = std::time::Duration::from_secs(30);
    Ok(ask)
}

fn full_path(path: &str) -> String {
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    if ROOTS.iter().any(|root| path.starts_with(root)) { path } else { format!("{API}{path}") }
}

fn parse_header(text: &str) -> Done<(HeaderName, HeaderValue)> {
    let wrong = || Failure::usage(format!("{text:?} is not a header")).hint("write -H 'Name: value'");
    let (name, value) = text.split_once(':').ok_or_else(wrong)?;
    let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
    let value = HeaderValue::from_str(value.trim()).map_err(|_| wrong())?;
    Ok((name, value))
}

fn read_body(text: &str) -> Done<Bytes> {
    if text == "-" {
        let mut body = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut body);
        return read.map(|_| Bytes::from(body)).map_err(|error| Failure::new(format!("cannot read standard input: {error}")));
    }
    match text.strip_prefix('@') {
        Some(path) => std::fs::read(path).map(Bytes::from).map_err(|error| Failure::new(format!("cannot read {path}: {error}"))),
        None => Ok(Bytes::from(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_leave_out_where_the_interface_lives() {
        for (given, full) in [
            ("/balances", "/api/v1/balances"),
            ("balances?x=1", "/api/v1/balances?x=1"),
            ("/api/v1/balances", "/api/v1/balances"),
            ("/api/v9/balances", "/api/v9/balances"),
            ("/healthz", "/healthz"),
            ("/.well-known/jwks.json", "/.well-known/jwks.json"),
        ] {
            assert_eq!(full_path(given), full);
        }
    }

    #[test]
    fn headers_are_read_as_curl_reads_them() {
        let (name, value) = parse_header("Prefer: wait=5").unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("prefer", "wait=5"));
        assert!(parse_header("no colon").is_err());
        assert!(parse_header("bad name: x").is_err());
    }
}
