//! `railgate curl`: any call of the interface by hand, signed with the profile's key.

use std::io::Read;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};

use super::Global;
use super::failure::{Done, EXIT_HTTP, Failure};
use super::http::{API, ApiResponse, Ask};
use super::problem::{Problem, unanswered};
use super::session::{Next, SIGNED_HEADERS, Session};
use super::terminal::{Terminal, note};

const EXAMPLES: &str = "\
Examples:
  railgate curl GET /balances
  railgate curl POST /gateway/settlements '{\"amount\":10.50,\"currency\":\"EUR\",\"to\":\"sim:ok\",\"reference\":\"inv-1\"}'
  railgate curl POST /gateway/settlements @settlement.json -H 'Prefer: wait=10'
  cat batch.json | railgate curl POST /gateway/settlements/batch -
  railgate curl GET /gateway/settlements/inv-1/events | jq .

  railgate curl GET /balances --print-curl | sh
      Prints the same call for curl: signed, valid once and for five minutes.

The response body goes to standard output unchanged, the status line to standard error.
Exit code: 0 for 2xx, 22 for any other response, 1 for none.";

/// Paths outside `/api/v1`.
const ROOTS: &[&str] = &["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/.well-known/", "/api/"];

/// Sign and send any request with the profile's key, and print the raw response
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CurlArgs {
    /// The request's method, such as GET or POST
    #[arg(value_name = "METHOD")]
    method: String,
    /// The path, with or without /api/v1 in front
    #[arg(value_name = "PATH")]
    path: String,
    /// The body: its text, @FILE, or - for standard input
    #[arg(value_name = "BODY|@FILE|-", allow_hyphen_values = true)]
    body: Option<String>,
    /// An additional header, 'Name: value'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// Print a curl command with all headers instead of sending; it works once, within five minutes
    #[arg(long, visible_alias = "curl")]
    print_curl: bool,
}

pub(crate) async fn run(args: CurlArgs, global: &Global, terminal: &Terminal) -> Done {
    let ask = request(&args)?;
    // Unsigned routes work without a profile; for the others the server reports what is missing.
    let mut session = Session::open_anonymous(global)?;
    if args.print_curl {
        return print(&mut session, ask, global, terminal).await;
    }
    let answer = session.exchange(ask).await?.last.map_err(|cause| unanswered(session.server(), &cause))?;
    note(format_args!("HTTP/1.1 {}", answer.status));
    terminal.raw(&answer.body)?;
    if answer.status.is_success() {
        return Ok(());
    }
    if answer.status.as_u16() == 401 && session.profile().is_none() {
        return Err(session.file().missing().exit(EXIT_HTTP));
    }
    Err(failed(&answer))
}

/// Prints the request as a shell command instead of sending it.
async fn print(session: &mut Session, ask: Ask, global: &Global, terminal: &Terminal) -> Done {
    if session.profile().is_none() {
        return Err(session.file().missing());
    }
    let mut running = session.begin_once(ask)?;
    let ask = loop {
        match session.next(&mut running).await? {
            Next::Send(ask, _) => break ask,
            Next::Pause(pause) => tokio::time::sleep(pause).await,
            Next::Done(done) => return running.ended(done).and_then(|ended| session.accepted(ended)).map(drop),
        }
    };
    let line = command_line(&ask, session.server(), global)?;
    note("valid once and for five minutes; it contains your access token, so do not share it");
    terminal.line(line)
}

fn command_line(ask: &Ask, server: &str, global: &Global) -> Done<String> {
    let mut line = format!("curl --path-as-is -g -X {}", quoted(ask.method.as_str()));
    if let Some(file) = &global.cacert {
        line.push_str(&format!(" --cacert {}", quoted(&file.display().to_string())));
    }
    for (name, value) in &ask.headers {
        let value = value.to_str().map_err(|_| Failure::usage(format!("the header {name} is not text")))?;
        line.push_str(&format!(" \\\n  -H {}", quoted(&format!("{name}: {value}"))));
    }
    if let Some(body) = ask.body.as_ref().filter(|body| !body.is_empty()) {
        let body = std::str::from_utf8(body).ok().filter(|text| !text.contains('\0'));
        let body = body.ok_or_else(|| Failure::usage("the body is not text, so it cannot be on a command line"))?;
        // `--data-raw`, so that a body that begins with @ is not taken for a file name.
        line.push_str(&format!(" \\\n  --data-raw {}", quoted(body)));
    }
    line.push_str(&format!(" \\\n  {}", quoted(&format!("{server}{}", ask.path))));
    Ok(line)
}

/// Quotes for a POSIX shell: in single quotes every character is literal.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn failed(answer: &ApiResponse) -> Failure {
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
        if SIGNED_HEADERS.contains(&name.as_str()) {
            return Err(Failure::usage(format!("{name} is set by the signature and cannot be given")));
        }
        // A given header replaces the default one; given twice, both are sent.
        if given.contains(&name) {
            ask.headers.append(name, value);
        } else {
            ask.headers.insert(name.clone(), value);
            given.push(name);
        }
    }
    // `Prefer: wait=N` holds the response: wait for as long as it may ask for.
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
    fn a_shell_reads_back_what_was_quoted() {
        for text in ["plain", "it's", "$(rm) `x` \\ \"", "a\nb", "''"] {
            let out = std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(text))).output().unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), text);
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
