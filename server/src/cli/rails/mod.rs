//! `railgate rails test`: finds out what is wrong with an adapter, before money depends on it.

mod checks;
mod stand;

use std::net::SocketAddr;

use clap::{Args, Subcommand};
use comfy_table::Cell;
use railgate::money::Money;
use railgate::participant::Participant;
use railgate::webhook::{Cidr, WebhookSecret};
use serde_json::json;

use super::Global;
use super::failure::{Done, Failure};
use super::terminal::{Terminal, Tone, note, printable};
use checks::{Check, Verdict, run_all};
use stand::{Seen, Stand};

const TEST_EXAMPLES: &str = "\
Examples:
  railgate rails test http://127.0.0.1:8100 --listen 127.0.0.1:8099
      The adapter finds the keys of the test at http://127.0.0.1:8099/.well-known/jwks.json.
  railgate rails test https://adapter.example --token T --callback-secret whsec_… \\
      --listen 0.0.0.0:8099 --public-url http://tester.example:8099 \\
      --to msisdn:+37120000001 --unknown-to msisdn:+37120000000 --later-to msisdn:+37120000002

It makes a handful of payments in the sandbox, and gives them back. Exit code 1 if a check fails.
docs/rails/adapter.md describes what an adapter must do.";

/// Work on the rails to operators
#[derive(Debug, Args)]
pub(crate) struct RailsArgs {
    #[command(subcommand)]
    command: RailsCommand,
}

#[derive(Debug, Subcommand)]
enum RailsCommand {
    /// Test an adapter: pay, ask, repeat, alter, reverse and forge, and say what is wrong
    #[command(after_help = TEST_EXAMPLES)]
    Test(Box<TestArgs>),
}

#[derive(Debug, Args)]
struct TestArgs {
    /// The adapter's base URL
    url: String,
    /// The bearer token that it expects
    #[arg(long, value_name = "TOKEN", env = "RAILGATE_ADAPTER_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The secret that it signs callbacks with; without it, callbacks are not tested
    #[arg(long, value_name = "SECRET", env = "RAILGATE_ADAPTER_CALLBACK_SECRET", hide_env_values = true, value_parser = secret)]
    callback_secret: Option<String>,
    /// Somebody whom it pays at once, or within --wait
    #[arg(long, value_name = "PARTICIPANT", default_value = "msisdn:+254700000001")]
    to: Participant,
    /// Somebody whom it does not know
    #[arg(long, value_name = "PARTICIPANT", default_value = "msisdn:+254700000404")]
    unknown_to: Participant,
    /// Somebody whom it pays later: it accepts the payment at first
    #[arg(long, value_name = "PARTICIPANT", default_value = "msisdn:+254700000202")]
    later_to: Participant,
    /// How much to pay each time
    #[arg(long, value_name = "AMOUNT", default_value = "10.00 EUR", value_parser = amount)]
    amount: Money,
    /// Which reversals it takes
    #[arg(long, value_enum, default_value_t = Reversals::Partial)]
    reversals: Reversals,
    /// Where to serve the keys of the test and to receive callbacks; port 0 picks a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// How the adapter reaches --listen, if not at that address
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// For how many seconds to wait for what it accepted, and for callbacks
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    wait: u64,
    /// Allow an adapter in this range of addresses although it is not public (`10.1.0.0/16`)
    #[arg(long, value_name = "CIDR", value_delimiter = ',', env = "RAILGATE_PROVIDER_ALLOW")]
    provider_allow: Vec<Cidr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Reversals {
    /// Of any part
    Partial,
    /// Of the whole payment only
    Full,
    /// None
    None,
}

impl Reversals {
    /// The value of the provider's setting.
    fn setting(self) -> &'static str {
        match self {
            Self::Partial => "partial",
            Self::Full => "full",
            Self::None => "none",
        }
    }
}

fn secret(text: &str) -> Result<String, String> {
    WebhookSecret::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// At least four minor units, so that it has parts.
fn amount(text: &str) -> Result<Money, String> {
    let money: Money = text.parse().map_err(|_| "write an amount and a currency, such as '10.00 EUR'".to_owned())?;
    if money.minor() >= 4 { Ok(money) } else { Err("it is too small to give parts of it back".to_owned()) }
}

pub(crate) fn run(args: RailsArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        RailsCommand::Test(args) => test(&args, global, terminal),
    }
}

fn test(args: &TestArgs, global: &Global, terminal: &Terminal) -> Done {
    let stand = Stand::open(args)?;
    note(format_args!("the keys of this test are at {}/.well-known/jwks.json", stand.base()));
    let checks = run_all(stand, args);
    let failed = checks.iter().filter(|check| matches!(check.verdict, Verdict::Failed(_))).count();
    if global.json {
        terminal.json(document(args, &checks, failed).to_string().as_bytes())?;
    } else {
        show(&checks, failed, terminal)?;
    }
    match failed {
        0 => Ok(()),
        1 => Err(Failure::new("a check failed")),
        n => Err(Failure::new(format!("{n} checks failed"))),
    }
}

fn show(checks: &[Check], failed: usize, terminal: &Terminal) -> Done {
    let mut table = terminal.table(&["result", "check", "sent", "came"]);
    for check in checks {
        let last = check.seen.last();
        table.add_row(vec![
            tone(&check.verdict).cell(check.verdict.name()),
            Cell::new(check.about),
            Tone::Dim.cell(last.map(Seen::sent).unwrap_or_default()),
            Tone::Dim.cell(last.map(Seen::came).unwrap_or_default()),
        ]);
    }
    terminal.show(&table)?;
    for check in checks {
        let Some(why) = check.verdict.why() else { continue };
        terminal.line(format_args!(
            "\n{}: {}\n  {}",
            terminal.paint(tone(&check.verdict), check.verdict.name()),
            check.about,
            printable(why)
        ))?;
        if matches!(check.verdict, Verdict::Failed(_)) {
            for seen in &check.seen {
                terminal.line(format_args!("    sent  {} {}", seen.sent(), printable(&seen.body)))?;
                terminal.line(format_args!("    came  {} {}", seen.came(), printable(seen.came_body())))?;
            }
        }
    }
    let passed = checks.iter().filter(|check| check.verdict == Verdict::Passed).count();
    terminal.line(format_args!("\n{passed} of {} checks passed, {failed} failed", checks.len()))
}

const fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Passed => Tone::Good,
        Verdict::Failed(_) => Tone::Bad,
        Verdict::Advised(_) => Tone::Warn,
        Verdict::Skipped(_) => Tone::Dim,
    }
}

fn document(args: &TestArgs, checks: &[Check], failed: usize) -> serde_json::Value {
    let seen = |seen: &Seen| {
        let came = seen.status().map(|status| json!({ "status": status, "body": seen.came_body() }));
        json!({ "method": seen.method, "url": seen.url, "body": seen.body, "came": came, "took_ms": seen.took_ms })
    };
    let checks: Vec<_> = checks
        .iter()
        .map(|check| {
            let exchanges: Vec<_> = check.seen.iter().map(seen).collect();
            json!({ "check": check.about, "result": check.verdict.name(), "why": check.verdict.why(), "exchanges": exchanges })
        })
        .collect();
    json!({ "adapter": args.url, "ok": failed == 0, "failed": failed, "checks": checks })
}
