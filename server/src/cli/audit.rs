//! `railgate audit`: the audit trail, read from the store itself.

use comfy_table::Cell;
use railgate::api::AuditView;
use railgate::engine::AuditNames;
use railgate::ids::{ClientNo, Ulid};
use railgate::store::record::{AuditRecord, Key, TaskKey};
use railgate::store::{Scan, Store, typed_all};
use railgate::time::parse_rfc3339;

use super::Global;
use super::clients::{by_id, client_id};
use super::failure::{Done, Failure};
use super::render::short_time;
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, printable};

const EXAMPLES: &str = "\
Examples:
  railgate audit --since 2026-11-21T00:00:00Z
  railgate audit --client cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB --limit 1000
  railgate audit --after 1849583012345678 --json
      Continues after a row that was shown, by its number.

Oldest first. Contains every signed change, every refusal of one, and what operators did.";

/// How many rows are read at a time.
const PAGE: usize = 1_000;

/// Show who did what, and the outcome
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    /// Only records about this client
    #[arg(long, value_name = "CLIENT", value_parser = client_id)]
    client: Option<Ulid>,
    /// Only records after this number
    #[arg(long, value_name = "NO")]
    after: Option<i64>,
    /// Only records from this time on (RFC 3339)
    #[arg(long, value_name = "TIME", conflicts_with = "after")]
    since: Option<String>,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    #[command(flatten)]
    store: StoreArg,
}

pub(crate) fn run(args: AuditArgs, global: &Global, terminal: &Terminal) -> Done {
    let store = args.store.place()?.open()?;
    let only = args.client.map(|id| by_id(&*store, id)).transpose()?.map(|client| client.no);
    let after = match &args.since {
        Some(text) => {
            let at = parse_rfc3339(text).ok_or_else(|| Failure::usage(format!("{text:?} is not a time")).hint("2026-11-21T00:00:00Z"))?;
            TaskKey::new(at, 0).0.saturating_sub(1)
        }
        None => args.after.unwrap_or(i64::MIN),
    };
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let (records, more) = collect(&*store, only, after, limit)?;
    let mut names = AuditNames::of(&*store);
    let rows: Vec<AuditView> = records.iter().map(|record| names.view(record)).collect::<railgate::Result<_>>()?;
    if global.json {
        let document = serde_json::json!({ "data": rows, "has_more": more });
        return terminal.json(document.to_string().as_bytes());
    }
    show(&rows, more, terminal)
}

/// At most `limit` records, and whether there are more.
fn collect(store: &dyn Store, only: Option<ClientNo>, mut after: i64, limit: usize) -> Done<(Vec<AuditRecord>, bool)> {
    let mut found: Vec<AuditRecord> = Vec::new();
    loop {
        let page = store.scan(&Scan::after(&Key::Audit(after), PAGE)).and_then(typed_all::<AuditRecord>).map_err(railgate::Error::from)?;
        let Some(last) = page.last() else { return Ok((found, false)) };
        after = last.no;
        for record in page.into_iter().filter(|record| only.is_none_or(|client| record.client == client)) {
            if found.len() == limit {
                return Ok((found, true));
            }
            found.push(record);
        }
    }
}

fn show(rows: &[AuditView], more: bool, terminal: &Terminal) -> Done {
    let Some(last) = rows.last() else { return terminal.line(terminal.paint(Tone::Dim, "Nothing was done.")) };
    let mut table = terminal.table(&["when", "who", "key", "action", "on what", "outcome"]);
    let mut details = Vec::new();
    for row in rows {
        let who = match row.by {
            "operator" => row.operator_id.as_deref().unwrap_or(row.by),
            _ => row.client_id.as_deref().unwrap_or("nobody"),
        };
        // Enough of a thumbprint to tell keys apart; --json prints all of it.
        let key: String = row.key_id.as_deref().unwrap_or_default().chars().take(8).collect();
        let tone = if row.outcome == "done" { Tone::Good } else { Tone::Bad };
        table.add_row(vec![
            Cell::new(short_time(&row.at)),
            Tone::Strong.cell(who),
            Tone::Dim.cell(key),
            Cell::new(row.action),
            Cell::new(row.target.as_deref().unwrap_or_default()),
            tone.cell(&row.outcome),
        ]);
        if let Some(detail) = &row.detail {
            details.push(format!("{}  {}", short_time(&row.at), printable(detail.get())));
        }
    }
    terminal.show(&table)?;
    for detail in details {
        terminal.line(terminal.paint(Tone::Dim, detail))?;
    }
    if more {
        terminal.line(terminal.paint(Tone::Dim, format_args!("There are more: --after {}", last.no)))?;
    }
    Ok(())
}
