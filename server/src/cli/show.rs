//! `railgate status`, `list` and `balance`: commands that only read.

use std::time::{Duration, Instant};

use hyper::header::{ACCEPT, HeaderValue};
use railgate::api::{BalanceView, BalancesView, EntriesView, Page, SettlementView, StatusView};

use super::Global;
use super::failure::{Done, Failure};
use super::http::{ApiResponse, Ask, encode};
use super::problem::read;
use super::render;
use super::session::Session;
use super::terminal::{Terminal, Tone};

/// The longest time for which the server holds a response, in seconds.
const LONGEST_WAIT_S: u64 = 30;

const STATUS_EXAMPLES: &str = "\
Examples:
  railgate status inv-2026-0042
  railgate status stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB --wait 60
      Waits until it is final, at most 60 seconds; then shows its status.";

const LIST_EXAMPLES: &str = "\
Examples:
  railgate list --status unknown --status submitted
  railgate list --currency EUR --min-amount 100 --created-from 2026-11-01T00:00:00Z
  railgate list --needs-review true
  railgate list --all --json
      Every page, one JSON document per line.";

const BALANCE_EXAMPLES: &str = "\
Examples:
  railgate balance
  railgate balance EUR --json";

const STATEMENT_EXAMPLES: &str = "\
Examples:
  railgate statement EUR
  railgate statement EUR --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z --all
  railgate statement EUR --csv > november.csv
      Everything, as a file for a spreadsheet.";

/// Show the statement of an account: each posted transfer with the balance after it, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = STATEMENT_EXAMPLES)]
pub(crate) struct StatementArgs {
    /// The account's currency
    #[arg(value_name = "CURRENCY")]
    currency: String,
    /// Posted at this time (RFC 3339) or later
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Posted before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Start where an earlier page ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// All pages, not just the first
    #[arg(long)]
    all: bool,
    /// Print everything as CSV
    #[arg(long, conflicts_with_all = ["cursor", "all"])]
    csv: bool,
}

/// Show the status of a payment
#[derive(Debug, clap::Args)]
#[command(after_help = STATUS_EXAMPLES)]
pub(crate) struct StatusArgs {
    /// The reference or id of the payment
    #[arg(value_name = "REF")]
    target: String,
    /// Wait up to this many seconds until it is final
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u64>,
}

/// List payments, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct ListArgs {
    /// Only with this status; may be repeated
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,
    /// Only in this currency
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
    /// Only through this provider
    #[arg(long, value_name = "ID")]
    provider: Option<String>,
    /// Only to this participant
    #[arg(long, value_name = "PARTICIPANT")]
    to: Option<String>,
    /// Only with this reference
    #[arg(long, value_name = "REFERENCE")]
    reference: Option<String>,
    /// Only sandbox payments, or only live ones
    #[arg(long, value_name = "true|false")]
    sandbox: Option<bool>,
    /// Created at this time (RFC 3339) or later
    #[arg(long, value_name = "TIME")]
    created_from: Option<String>,
    /// Created before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    created_to: Option<String>,
    /// At least this amount
    #[arg(long, value_name = "AMOUNT")]
    min_amount: Option<String>,
    /// At most this amount
    #[arg(long, value_name = "AMOUNT")]
    max_amount: Option<String>,
    /// Only those flagged for review, or only the others
    #[arg(long, value_name = "true|false")]
    needs_review: Option<bool>,
    /// Only payments by you, or only payments to you
    #[arg(long, value_name = "outgoing|incoming")]
    direction: Option<String>,
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

/// Show the balances of the accounts
#[derive(Debug, clap::Args)]
#[command(after_help = BALANCE_EXAMPLES)]
pub(crate) struct BalanceArgs {
    /// Only this currency
    #[arg(value_name = "CURRENCY")]
    currency: Option<String>,
}

pub(crate) async fn status(args: StatusArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let path = format!("/gateway/settlements/{}/status", encode(&args.target));
    let (answer, found) = match args.wait {
        None => {
            let answer = session.call(Ask::get(&path)).await?;
            let found = read(&answer)?;
            (answer, found)
        }
        Some(seconds) => until_final(&mut session, &path, Duration::from_secs(seconds)).await?,
    };
    if global.json { terminal.json(&answer.body) } else { terminal.show(&render::status(terminal, &found)) }
}

/// Long-polls from version to version until the status is final or the time is up.
async fn until_final(session: &mut Session, path: &str, patience: Duration) -> Done<(ApiResponse, StatusView)> {
    let end = Instant::now() + patience;
    let mut ask = Ask::get(path);
    loop {
        let answer = session.call_until_answered(ask, "reading changes nothing").await?;
        let found: StatusView = read(&answer)?;
        // Rounded up: the last second counts too.
        let left = end.saturating_duration_since(Instant::now()).as_millis().div_ceil(1000);
        if found.is_final || left == 0 {
            return Ok((answer, found));
        }
        let wait = u64::try_from(left).unwrap_or(LONGEST_WAIT_S).min(LONGEST_WAIT_S);
        ask = Ask::get(format!("{path}?wait={wait}&version={}", found.version)).patient(wait);
    }
}

pub(crate) async fn list(args: ListArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let mut cursor = args.cursor.clone();
    let mut shown = 0;
    loop {
        let answer = session.call(Ask::get(list_path(&args, cursor.as_deref()))).await?;
        let page: Page<SettlementView> = read(&answer)?;
        if global.json {
            terminal.json(&answer.body)?;
        } else if !page.data.is_empty() {
            terminal.show(&render::settlements(terminal, &page.data))?;
        }
        shown += page.data.len();
        cursor = page.next_cursor.filter(|_| page.has_more);
        match &cursor {
            Some(_) if args.all => {}
            Some(next) if !global.json => {
                let more = format!("There are more: --all, or --cursor {next}");
                return terminal.line(terminal.paint(Tone::Dim, more));
            }
            None if shown == 0 && !global.json => return terminal.line(terminal.paint(Tone::Dim, "No payments.")),
            _ => return Ok(()),
        }
    }
}

fn list_path(args: &ListArgs, cursor: Option<&str>) -> String {
    let text = |value: Option<bool>| value.map(|flag| flag.to_string());
    let mut pairs: Vec<(&str, String)> = args.status.iter().map(|status| ("status", status.clone())).collect();
    let single = [
        ("currency", args.currency.clone()),
        ("provider", args.provider.clone()),
        ("to", args.to.clone()),
        ("reference", args.reference.clone()),
        ("sandbox", text(args.sandbox)),
        ("created_from", args.created_from.clone()),
        ("created_to", args.created_to.clone()),
        ("min_amount", args.min_amount.clone()),
        ("max_amount", args.max_amount.clone()),
        ("needs_review", text(args.needs_review)),
        ("direction", args.direction.clone()),
        ("limit", args.limit.map(|limit| limit.to_string()).or_else(|| args.all.then(|| "200".to_owned()))),
        ("cursor", cursor.map(str::to_owned)),
    ];
    pairs.extend(single.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let query: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    if query.is_empty() { "/gateway/settlements".to_owned() } else { format!("/gateway/settlements?{}", query.join("&")) }
}

pub(crate) async fn balance(args: BalanceArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let path = match &args.currency {
        Some(currency) => format!("/balances/{}", encode(currency)),
        None => "/balances".to_owned(),
    };
    let answer = session.call(Ask::get(path)).await?;
    let balances = match args.currency {
        Some(_) => vec![read::<BalanceView>(&answer)?],
        None => read::<BalancesView>(&answer)?.data,
    };
    if global.json {
        return terminal.json(&answer.body);
    }
    let Some(first) = balances.first() else {
        return Err(Failure::new("this client has no account yet"));
    };
    terminal.show(&render::balances(terminal, &balances))?;
    terminal.line(terminal.paint(Tone::Dim, format_args!("as of {}", render::short_time(&first.as_of))))
}

pub(crate) async fn statement(args: StatementArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let mut cursor = args.cursor.clone();
    if args.csv {
        let ask = Ask::get(statement_path(&args, None)).with(ACCEPT, HeaderValue::from_static("text/csv"));
        return terminal.raw(&session.call(ask).await?.body);
    }
    loop {
        let answer = session.call(Ask::get(statement_path(&args, cursor.as_deref()))).await?;
        let page: EntriesView = read(&answer)?;
        if global.json {
            terminal.json(&answer.body)?;
        } else if page.data.is_empty() {
            terminal.line(terminal.paint(Tone::Dim, "No entries."))?;
        } else {
            terminal.show(&render::entries(terminal, &page.data))?;
        }
        cursor = page.next_cursor;
        match &cursor {
            Some(_) if args.all => {}
            Some(next) if !global.json => {
                return terminal.line(terminal.paint(Tone::Dim, format_args!("There are more: --all, or --cursor {next}")));
            }
            _ => return Ok(()),
        }
    }
}

fn statement_path(args: &StatementArgs, cursor: Option<&str>) -> String {
    let pairs = [("from", args.from.as_deref()), ("to", args.to.as_deref()), ("limit", args.all.then_some("200")), ("cursor", cursor)];
    let query: Vec<String> = pairs.iter().filter_map(|(name, value)| Some(format!("{name}={}", encode((*value)?)))).collect();
    let path = format!("/balances/{}/entries", encode(&args.currency));
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_s_filters_become_its_query() {
        #[derive(clap::Parser)]
        struct Only {
            #[command(flatten)]
            list: ListArgs,
        }
        let path = |line: &str| {
            let args = <Only as clap::Parser>::parse_from(["list"].into_iter().chain(line.split_whitespace())).list;
            list_path(&args, args.cursor.as_deref())
        };
        assert_eq!(path(""), "/gateway/settlements");
        assert_eq!(
            path("--status unknown --status failed --to sim:ok --needs-review true --limit 5"),
            "/gateway/settlements?status=unknown&status=failed&to=sim%3Aok&needs_review=true&limit=5"
        );
        assert_eq!(path("--all --cursor a+b"), "/gateway/settlements?limit=200&cursor=a%2Bb");
    }
}
