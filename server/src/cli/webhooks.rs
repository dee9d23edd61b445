//! `railgate webhooks`: the owner's commands, and the receiver's tools.

mod delivery;
mod history;
mod listen;
mod owner;
mod pretty;
mod tables;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use comfy_table::Cell;
use railgate::time::rfc3339;
use railgate::webhook::{TOLERANCE_S, VerifyError, WebhookSecret};

use super::Global;
use super::failure::{Done, Failure};
use super::render::short_time;
use super::session::now;
use super::terminal::{Terminal, Tone, printable};
use delivery::Delivery;

const LISTEN_EXAMPLES: &str = "\
Examples:
  railgate webhooks listen --secret whsec_...
      Shows every webhook that arrives at http://127.0.0.1:8095, and whether it is genuine.
  RAILGATE_WEBHOOK_SECRET=whsec_... railgate webhooks listen --listen 127.0.0.1:0 --json
      Any free port, named on the first line; then each webhook as a JSON document on one line.
  railgate webhooks listen --secret whsec_old... --secret whsec_new... --save deliveries
      During a rotation; each webhook is saved to a file that `railgate webhooks verify` reads.
  railgate webhooks listen --secret whsec_... --status 503
      Responds like a failing receiver, to show the retries.

Genuine webhooks are answered with --status, others with 400. SIGINT or SIGTERM ends it.";

const VERIFY_EXAMPLES: &str = "\
Examples:
  railgate webhooks verify deliveries/evt_01JD.1.http --secret whsec_... --tolerance any
      A webhook that `railgate webhooks listen --save` saved. It is old by now, so its age is not checked.
  printf 'webhook-id: %s\\nwebhook-timestamp: %s\\nwebhook-signature: %s\\n\\n%s' \"$id\" \"$time\" \"$signature\" \"$body\" |
    railgate webhooks verify - --secret whsec_...

A file contains the headers, one per line as `name: value`, then an empty line, then the body, byte for byte.
A request line before the headers (`POST /hook HTTP/1.1`) is ignored. Lines may end in LF or CR LF.";

/// The longest delivery, headers and body together, in bytes.
const LONGEST: usize = 512 << 10;

/// Manage webhooks; receive and verify them on this machine
#[derive(Debug, Args)]
pub(crate) struct WebhooksArgs {
    #[command(subcommand)]
    command: WebhooksCommand,
}

#[derive(Debug, Subcommand)]
enum WebhooksCommand {
    #[command(flatten)]
    Owner(owner::OwnerCommand),
    /// Receive webhooks on a loopback address, and show whether each is genuine
    #[command(after_help = LISTEN_EXAMPLES)]
    Listen(listen::ListenArgs),
    /// Verify a webhook that was saved to a file
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
}

#[derive(Debug, Args)]
struct VerifyArgs {
    /// The webhook, headers and body; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    secrets: SecretArgs,
    #[command(flatten)]
    tolerance: ToleranceArgs,
}

#[derive(Debug, Args)]
struct SecretArgs {
    /// The secret (whsec_…); several during a rotation. In the environment, where commas separate them, other users of
    /// this machine cannot see it
    #[arg(long = "secret", value_name = "SECRET", env = "RAILGATE_WEBHOOK_SECRET", hide_env_values = true, value_delimiter = ',')]
    texts: Vec<String>,
}

impl SecretArgs {
    fn read(&self) -> Done<Vec<WebhookSecret>> {
        let texts: Vec<&str> = self.texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        if texts.is_empty() {
            return Err(Failure::usage("no secret is given")
                .hint("--secret whsec_…, or RAILGATE_WEBHOOK_SECRET in the environment; it is shown when it is created"));
        }
        let secret = |(number, text): (usize, &str)| {
            WebhookSecret::parse(text).map_err(|error| Failure::usage(format!("secret {number} cannot be used: {error}")))
        };
        (1..).zip(texts).map(secret).collect()
    }
}

#[derive(Debug, Args)]
struct ToleranceArgs {
    /// How many seconds the webhook's timestamp may differ from now; `any` checks the signature alone
    #[arg(long, value_name = "SECONDS", default_value_t = Tolerance(TOLERANCE_S), value_parser = tolerance)]
    tolerance: Tolerance,
}

#[derive(Debug, Clone, Copy)]
struct Tolerance(i64);

impl std::fmt::Display for Tolerance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

fn tolerance(text: &str) -> Result<Tolerance, &'static str> {
    match text.parse() {
        _ if text == "any" => Ok(Tolerance(i64::MAX)),
        Ok(seconds) if seconds >= 0 => Ok(Tolerance(seconds)),
        Ok(_) | Err(_) => Err("write a number of seconds, or any"),
    }
}

pub(crate) async fn run(args: WebhooksArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        WebhooksCommand::Owner(command) => owner::run(command, global, terminal).await,
        WebhooksCommand::Listen(args) => listen::run(args, global, terminal).await,
        WebhooksCommand::Verify(args) => verify(&args, global, terminal),
    }
}

fn verify(args: &VerifyArgs, global: &Global, terminal: &Terminal) -> Done {
    let secrets = args.secrets.read()?;
    let wrong = |what: &str| Failure::new(format!("{} {what}", args.file.display()));
    let delivery = Delivery::read(&read_file(&args.file)?).ok_or_else(|| {
        wrong("is not a webhook with its headers").hint("headers, an empty line, the body: railgate webhooks verify --help")
    })?;
    let now = now();
    let signed_s = delivery.check(&secrets, now / 1_000, args.tolerance.tolerance.0).map_err(|error| {
        let failure = wrong(&format!("is not genuine: {error}"));
        match error {
            VerifyError::TooOld { .. } => failure.hint("--tolerance any checks the signature alone"),
            VerifyError::TooNew { .. } => failure.hint("one of the two clocks is wrong"),
            VerifyError::Missing(_) | VerifyError::Malformed(_) | VerifyError::NoMatchingSignature => failure,
        }
    })?;
    let (sent, kind) = (rfc3339(signed_s.saturating_mul(1_000)), delivery.event_type());
    if global.json {
        let about = serde_json::json!({ "verified": true, "id": delivery.id(), "type": kind, "sent_at": sent });
        return terminal.json(about.to_string().as_bytes());
    }
    terminal.line(terminal.paint(Tone::Good, "Genuine: signed with the secret."))?;
    let mut rows = vec![("id", Tone::Strong.cell(delivery.id())), ("sent", Cell::new(short_time(&sent)))];
    if let Some(kind) = &kind {
        rows.insert(0, ("type", Tone::Strong.cell(printable(kind))));
    }
    terminal.show(&terminal.card(rows))
}

fn read_file(path: &Path) -> Done<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(LONGEST).unwrap_or(u64::MAX) + 1;
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::caused(format_args!("cannot read {}", path.display()), error))?;
    if bytes.len() > LONGEST {
        return Err(Failure::new(format!("{} is longer than any webhook", path.display())));
    }
    Ok(bytes)
}
