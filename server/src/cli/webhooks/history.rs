//! `railgate webhooks test|deliveries|redeliver|replay`: a webhook's deliveries, past and repeated.

use clap::{Args, Subcommand};
use hyper::Method;
use railgate::api::{DeliveryView, Page, ReplayBody, ReplayView, TestBody, TestView};
use serde_json::json;

use super::owner::{Which, body, show_delivery};
use super::tables;
use crate::cli::Global;
use crate::cli::failure::{Done, Failure};
use crate::cli::http::{Ask, encode};
use crate::cli::problem::read;
use crate::cli::session::Session;
use crate::cli::terminal::{Terminal, Tone};

const TEST_EXAMPLES: &str = "\
Examples:
  railgate webhooks test whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB
  railgate webhooks test whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB --type settlement.failed

An example is sent at once, signed like a real event, and tried once. Exit code 1 if the receiver did not accept it.";

const DELIVERIES_EXAMPLES: &str = "\
Examples:
  railgate webhooks deliveries whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB
  railgate webhooks deliveries whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB --status failed --all
  railgate webhooks deliveries whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB --limit 200 --json

They are kept for 30 days. `railgate webhooks show WEBHOOK DELIVERY` shows one with what was sent.";

const REDELIVER_EXAMPLES: &str = "\
Examples:
  railgate webhooks redeliver whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB dlv_01KAJX3NBC5W8ZP9D2R4T6V8YB
      The same event under the same webhook-id, as a new delivery.";

const REPLAY_EXAMPLES: &str = "\
Examples:
  railgate webhooks replay whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB --since 2026-11-20T08:00:00Z
      Everything since then again, after an outage of the receiver.
  railgate webhooks replay whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB --since 2026-11-20T08:00:00Z --until 2026-11-20T09:30:00Z

Each event keeps its webhook-id, so that a receiver recognises what it has; its settlement is shown in its current state.";

#[derive(Debug, Subcommand)]
pub(super) enum HistoryCommand {
    /// Send an example to a webhook, and show its response
    #[command(after_help = TEST_EXAMPLES)]
    Test {
        #[command(flatten)]
        which: Which,
        /// The type of event [default: settlement.completed]
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
    },
    /// List deliveries sent and pending, newest first
    #[command(after_help = DELIVERIES_EXAMPLES)]
    Deliveries(DeliveriesArgs),
    /// Send a delivery again
    #[command(after_help = REDELIVER_EXAMPLES)]
    Redeliver {
        #[command(flatten)]
        which: Which,
        /// The delivery (dlv_…)
        #[arg(value_name = "DELIVERY")]
        delivery: String,
    },
    /// Send the events of a period again
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
}

#[derive(Debug, Args)]
pub(super) struct DeliveriesArgs {
    #[command(flatten)]
    which: Which,
    /// Only deliveries with this status: pending, delivered or failed
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Items per page, at most 200
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=200))]
    limit: Option<u16>,
    /// Start where an earlier page ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// All pages, not just the first
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    which: Which,
    /// Events at this time (RFC 3339) or later
    #[arg(long, value_name = "TIME")]
    since: String,
    /// Events before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

pub(super) async fn run(command: HistoryCommand, session: &mut Session, global: &Global, terminal: &Terminal) -> Done {
    match command {
        HistoryCommand::Test { which, kind } => test(&which, kind.as_deref(), session, global, terminal).await,
        HistoryCommand::Deliveries(args) => deliveries(&args, session, global, terminal).await,
        HistoryCommand::Redeliver { which, delivery } => {
            let path = which.path(&format!("/deliveries/{}/redeliver", encode(&delivery)));
            let answer = session.call(Ask::new(Method::POST, path)).await?;
            show_delivery(&answer, global, terminal)
        }
        HistoryCommand::Replay(args) => replay(&args, session, global, terminal).await,
    }
}

async fn test(which: &Which, kind: Option<&str>, session: &mut Session, global: &Global, terminal: &Terminal) -> Done {
    let answer = session.call(Ask::post(which.path("/test"), body(&TestBody { kind: kind.map(str::to_owned) }))).await?;
    let tested: TestView = read(&answer)?;
    if global.json {
        terminal.json(&answer.body)?;
    } else {
        terminal.show(&tables::tested(terminal, &tested))?;
    }
    if tested.delivered {
        return Ok(());
    }
    Err(Failure::new("the receiver did not accept the test").hint("only a 2xx response counts; redirects are not followed"))
}

async fn deliveries(args: &DeliveriesArgs, session: &mut Session, global: &Global, terminal: &Terminal) -> Done {
    let mut cursor = args.cursor.clone();
    let mut shown = 0;
    loop {
        let answer = session.call(Ask::get(deliveries_path(args, cursor.as_deref()))).await?;
        let page: Page<DeliveryView> = read(&answer)?;
        if global.json {
            terminal.json(&answer.body)?;
        } else if !page.data.is_empty() {
            terminal.show(&tables::deliveries(terminal, &page.data))?;
        }
        shown += page.data.len();
        cursor = page.next_cursor.filter(|_| page.has_more);
        match &cursor {
            Some(_) if args.all => {}
            Some(next) if !global.json => {
                return terminal.line(terminal.paint(Tone::Dim, format_args!("There are more: --all, or --cursor {next}")));
            }
            None if shown == 0 && !global.json => return terminal.line(terminal.paint(Tone::Dim, "No deliveries.")),
            _ => return Ok(()),
        }
    }
}

fn deliveries_path(args: &DeliveriesArgs, cursor: Option<&str>) -> String {
    let pairs = [
        ("status", args.status.clone()),
        ("limit", args.limit.map(|limit| limit.to_string()).or_else(|| args.all.then(|| "200".to_owned()))),
        ("cursor", cursor.map(str::to_owned)),
    ];
    let query: Vec<String> = pairs.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", encode(&value?)))).collect();
    let path = args.which.path("/deliveries");
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// Repeats the call until everything is queued.
async fn replay(args: &ReplayArgs, session: &mut Session, global: &Global, terminal: &Terminal) -> Done {
    let (mut queued, mut after) = (0, None);
    loop {
        let part = ReplayBody { since: args.since.clone(), until: args.until.clone(), after };
        let answer = session.call(Ask::post(args.which.path("/replay"), body(&part))).await.map_err(|failure| match queued {
            0 => failure,
            _ => failure.detail(format!("{queued} deliveries had been queued by then, and stay queued")),
        })?;
        let part: ReplayView = read(&answer)?;
        queued += part.queued;
        if part.next_after.is_none() || part.next_after == after {
            break;
        }
        after = part.next_after;
    }
    if global.json {
        return terminal.json(json!({ "queued": queued }).to_string().as_bytes());
    }
    let deliveries = if queued == 1 { "delivery is" } else { "deliveries are" };
    terminal.line(format_args!("{} {queued} {deliveries} on the way", terminal.paint(Tone::Good, "✓")))
}
