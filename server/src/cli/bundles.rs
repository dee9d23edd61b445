//! `railgate bundles`: what partners sent, for operators, on the store itself. Decisions about them are signed, and go over HTTP.

use clap::{Args, Subcommand};
use comfy_table::Cell;
use railgate::engine::{BundleReader, BundleScope};
use railgate::ids::Ulid;
use railgate::lifecycle::BundleStatus;

use super::Global;
use super::failure::{Done, Failure};
use super::render::short_time;
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, printable};

const LIST_EXAMPLES: &str = "\
Examples:
  railgate bundles list
  railgate bundles list --status submitted --json";
const SHOW_EXAMPLES: &str = "\
Examples:
  railgate bundles show bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB

Shows the timeline. What it contains, and what its test found: railgate curl GET /operator/bundles/ID";

/// The most that are listed.
const MOST: usize = 1_000;

/// Look at the bundles of partners
#[derive(Debug, Args)]
pub(crate) struct BundlesArgs {
    #[command(subcommand)]
    command: BundlesCommand,
}

#[derive(Debug, Subcommand)]
enum BundlesCommand {
    /// List the bundles of all partners, newest first
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Only bundles in this state
        #[arg(long, value_name = "STATUS", value_parser = status)]
        status: Option<BundleStatus>,
        #[command(flatten)]
        store: StoreArg,
    },
    /// Show what happened to a bundle
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The bundle
        #[arg(value_name = "ID", value_parser = bundle)]
        id: Ulid,
        #[command(flatten)]
        store: StoreArg,
    },
}

fn status(text: &str) -> Result<BundleStatus, String> {
    let known = || BundleStatus::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
    BundleStatus::from_name(text).ok_or_else(|| format!("must be one of {}", known()))
}

fn bundle(text: &str) -> Result<Ulid, String> {
    text.strip_prefix("bun_").and_then(Ulid::parse).ok_or_else(|| "the id of a bundle is bun_ and 26 letters and digits".to_owned())
}

pub(crate) fn run(args: BundlesArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        BundlesCommand::List { status, store } => list(status, &store, global, terminal),
        BundlesCommand::Show { id, store } => show(id, &store, global, terminal),
    }
}

fn list(status: Option<BundleStatus>, store: &StoreArg, global: &Global, terminal: &Terminal) -> Done {
    let page = store.place()?.engine(None)?.bundles(BundleReader::Operator, BundleScope { status, client: None }, None, MOST)?;
    if global.json {
        return terminal.json(&written(&page)?);
    }
    let mut table = terminal.table(&["id", "client", "provider", "version", "status", "test", "changed"]);
    for it in &page.data {
        table.add_row(vec![
            Tone::Strong.cell(&it.id),
            Cell::new(&it.client_id),
            Cell::new(printable(&it.provider)),
            Cell::new(printable(&it.release)),
            Cell::new(it.status.as_str()),
            Cell::new(it.conformance.map_or("", |it| it.as_str())),
            Tone::Dim.cell(short_time(&it.updated_at)),
        ]);
    }
    terminal.show(&table)
}

fn show(id: Ulid, store: &StoreArg, global: &Global, terminal: &Terminal) -> Done {
    let steps = store.place()?.engine(None)?.bundle_timeline(BundleReader::Operator, id, 0, MOST)?;
    if global.json {
        return terminal.json(&written(&steps)?);
    }
    let mut table = terminal.table(&["#", "at", "step", "by", "revision", "status", "said"]);
    for it in &steps.data {
        table.add_row(vec![
            Cell::new(it.sequence),
            Tone::Dim.cell(short_time(&it.at)),
            Cell::new(it.kind.as_str().trim_start_matches("bundle.")),
            Cell::new(it.by.as_deref().unwrap_or("the gateway")),
            Cell::new(it.revision),
            Cell::new(it.to.as_str()),
            Cell::new(it.comment.as_deref().map(printable).unwrap_or_default()),
        ]);
    }
    terminal.show(&table)
}

fn written<T: serde::Serialize>(value: &T) -> Done<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| Failure::caused("the answer cannot be written", error))
}
