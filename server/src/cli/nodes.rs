//! `railgate nodes`: the servers that run over a store, read from the store itself.

use comfy_table::Cell;
use railgate::api::NodeView;
use railgate::engine::nodes;
use railgate::env::{Env as _, SystemEnv};

use super::Global;
use super::failure::Done;
use super::render::short_time;
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, printable};

const EXAMPLES: &str = "\
Examples:
  railgate nodes
  railgate nodes --store postgres://gateway@db.example/railgate --json

The newest first. Each server records every ten seconds that it runs, and removes the record when it stops.
One that was not seen for 30 seconds is down; it is listed for a day. Servers of older versions that keep
no such record are not listed.";

/// List the servers that run over a store
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct NodesArgs {
    #[command(flatten)]
    store: StoreArg,
}

pub(crate) fn run(args: NodesArgs, global: &Global, terminal: &Terminal) -> Done {
    let nodes = nodes(&*args.store.place()?.open()?, SystemEnv::default().now())?;
    if global.json {
        return terminal.json(serde_json::json!({ "data": nodes }).to_string().as_bytes());
    }
    if nodes.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, "No servers run over this store."));
    }
    let mut table = terminal.table(&["server", "host", "address", "version", "started", "last seen", "is"]);
    for node in &nodes {
        table.add_row(row(node));
    }
    terminal.show(&table)
}

fn row(node: &NodeView) -> Vec<Cell> {
    let is = if node.up { Tone::Good.cell("up") } else { Tone::Bad.cell("down") };
    vec![
        Tone::Strong.cell(&node.id),
        Cell::new(printable(&node.host)),
        Cell::new(printable(node.address.as_deref().unwrap_or("every address of its host"))),
        Cell::new(printable(&node.version)),
        Cell::new(short_time(&node.started_at)),
        Cell::new(short_time(&node.seen_at)),
        is,
    ]
}
