//! `railgate receipt`: fetches receipts, and verifies those of anybody.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Cell;
use hyper::Method;
use hyper::header::{ACCEPT, HeaderMap, HeaderValue};
use railgate::receipt::{Claims, verify_receipt};
use serde::Deserialize;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{ANSWER, Ask, encode};
use super::problem::{refused, unanswered};
use super::session::Session;
use super::terminal::{Terminal, Tone, note, printable};
use railgate::money::grouped;

const GET_EXAMPLES: &str = "\
Examples:
  railgate receipt get inv-2026-0042
  railgate receipt get inv-2026-0042 --format pdf --out receipt.pdf
  railgate receipt get inv-2026-0042 --format html --out receipt.html
  railgate receipt get inv-2026-0042 --format jose --out receipt.jws
      The signed receipt alone: what others need to check it.
  railgate receipt get inv-2026-0042 --format svg > code.svg";

const VERIFY_EXAMPLES: &str = "\
Examples:
  railgate receipt verify receipt.jws
      With the public keys of the server (--server).
  railgate receipt verify receipt.jws --jwks jwks.json
      Without a network. Fetch the keys once: curl https://HOST/.well-known/jwks.json > jwks.json
  railgate receipt get inv-2026-0042 --format jose | railgate receipt verify - --json

A genuine receipt may have been superseded by a later one: only the server knows.";

/// The longest receipt or set of keys, in bytes.
const LONGEST: u64 = 1 << 20;

/// Fetch and verify receipts
#[derive(Debug, Args)]
pub(crate) struct ReceiptArgs {
    #[command(subcommand)]
    command: ReceiptCommand,
}

#[derive(Debug, Subcommand)]
enum ReceiptCommand {
    /// Fetch the receipt of a completed payment
    #[command(after_help = GET_EXAMPLES)]
    Get(GetArgs),
    /// Check that a receipt is genuine, and show its contents
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Fetch and check the proof that a payment's last event is in the gateway's log
    #[command(after_help = super::proof::EXAMPLES)]
    Proof(super::proof::ProofArgs),
}

#[derive(Debug, Args)]
struct GetArgs {
    /// The reference or id of the payment
    #[arg(value_name = "REF")]
    target: String,
    /// The form [default: text, or json with --json]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct VerifyArgs {
    /// The receipt, as JWS or as JSON; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The public keys, as a JWK set [default: the server's own]
    #[arg(long, value_name = "FILE")]
    jwks: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// The contents, with the JWS
    Json,
    /// The compact JWS alone
    Jose,
    /// A page to print
    Html,
    /// The page as PDF
    Pdf,
    /// The QR code of the JWS
    Svg,
    /// Plain text
    Text,
}

impl Format {
    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Jose => "application/jose",
            Self::Html => "text/html",
            Self::Pdf => "application/pdf",
            Self::Svg => "image/svg+xml",
            Self::Text => "text/plain",
        }
    }
}

pub(crate) async fn run(args: ReceiptArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        ReceiptCommand::Get(args) => get(args, global, terminal).await,
        ReceiptCommand::Verify(args) => verify(args, global, terminal).await,
        ReceiptCommand::Proof(args) => super::proof::run(args, global, terminal).await,
    }
}

async fn get(args: GetArgs, global: &Global, terminal: &Terminal) -> Done {
    let format = args.format.unwrap_or(if global.json { Format::Json } else { Format::Text });
    if matches!(format, Format::Pdf) && args.out.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::new("a PDF is not shown on a terminal").hint("--out FILE saves it"));
    }
    let mut session = Session::open(global)?;
    let ask = Ask::get(format!("/gateway/settlements/{}/receipt", encode(&args.target)));
    let answer = session.call(ask.with(ACCEPT, HeaderValue::from_static(format.media_type()))).await?;
    match &args.out {
        Some(path) => {
            let written = std::fs::write(path, &answer.body);
            written.map_err(|error| Failure::caused(format_args!("cannot write {}", path.display()), error))
        }
        // With a line break, so that later output begins on a new line; a JWS is read with and without it.
        None => terminal.json(&answer.body),
    }
}

async fn verify(args: VerifyArgs, global: &Global, terminal: &Terminal) -> Done {
    let receipt = read_file(&args.file)?;
    let (keys, whose) = match &args.jwks {
        Some(path) => (read_file(path)?, path.display().to_string()),
        None => published(global).await?,
    };
    let claims = verify_receipt(&jws(&receipt), &keys)
        .map_err(|error| Failure::new(format!("the receipt is not genuine, by the keys of {whose}: {}", error.detail)))?;
    if global.json {
        let document = serde_json::to_vec(&claims).map_err(|error| Failure::caused("cannot write the receipt", error))?;
        return terminal.json(&document);
    }
    terminal.line(terminal.paint(Tone::Good, format_args!("Genuine: signed by a key of {whose}.")))?;
    if claims.env == "sandbox" {
        note("It is a sandbox receipt: no money was moved.");
    }
    show(&claims, terminal)
}

/// The JWS, from a file that contains it alone or in JSON.
fn jws(text: &str) -> String {
    #[derive(Deserialize)]
    struct Json {
        jws: String,
    }
    let text = text.trim();
    serde_json::from_str::<Json>(text).map_or_else(|_| text.to_owned(), |json| json.jws)
}

fn read_file(path: &Path) -> Done<String> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(LONGEST).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text))
    };
    read.map_err(|error| Failure::caused(format_args!("cannot read {}", path.display()), error))?;
    Ok(text)
}

/// The public keys of the server, and its address. No profile is needed.
async fn published(global: &Global) -> Done<(String, String)> {
    let session = Session::open_anonymous(global)?;
    let path = "/.well-known/jwks.json".to_owned();
    let ask = Ask { method: Method::GET, path, headers: HeaderMap::new(), body: None, patience: Duration::ZERO };
    let server = session.server().to_owned();
    let answer = match session.http().send(&ask, ANSWER).await? {
        Ok(answer) if answer.status.is_success() => answer,
        Ok(answer) => return Err(refused(&answer, &global.profile)),
        Err(cause) => return Err(unanswered(&server, &cause)),
    };
    let keys = String::from_utf8(answer.body.to_vec()).map_err(|error| Failure::caused("the server's keys cannot be read", error))?;
    Ok((keys, server))
}

fn show(claims: &Claims, terminal: &Terminal) -> Done {
    // Anybody may have signed it, and written what they liked.
    let text = |text: &str| Cell::new(printable(text));
    let money = |amount: &str| text(&format!("{} {}", grouped(amount), claims.cur));
    let mut rows = vec![
        ("receipt", text(&claims.jti)),
        ("settlement", text(&claims.sub)),
        ("reference", Tone::Strong.cell(printable(&claims.reference))),
        ("status", Tone::of_state(claims.status.as_str()).cell(claims.status.as_str())),
        ("amount", money(&claims.amt)),
        ("fee", money(&claims.fee)),
        ("given back", money(&claims.rev)),
        ("from", text(&claims.from)),
        ("to", text(&claims.to)),
        ("settled", text(&claims.settled_at)),
        ("provider", text(&claims.provider)),
        ("issuer", text(&claims.iss)),
    ];
    if let Some(before) = &claims.supersedes {
        rows.push(("supersedes", text(before)));
    }
    terminal.show(&terminal.card(rows))
}
