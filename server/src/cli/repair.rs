//! `railgate ledger repair-statements`: adds the lines that statements lack.

use comfy_table::Cell;
use railgate::engine::{Operated, StatementGap, statement_gaps};
use railgate::ledger::Owner;
use railgate::money::Money;
use railgate::store::record::{ClientRecord, Key};
use railgate::store::{Store, typed};
use serde::Serialize;

use super::Global;
use super::failure::{Done, Failure};
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, align_right, number};

const EXAMPLES: &str = "\
Examples:
  railgate ledger repair-statements --check
      Changes nothing. Exit code 1 if a statement lacks lines.
  railgate ledger repair-statements --store postgres://gateway@db.example/railgate

A server of a version before statements that still ran while its successors were rolled out left its postings
out of the statements; `railgate ledger verify` calls that statement_differs. Their lines are added below the
last ones, and the lines above stay as clients have read them. Run it when the last such server has stopped;
servers of this version may run meanwhile. Repeating it changes nothing more.";

/// Add the lines that statements lack
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    store: StoreArg,
    /// Change nothing; exit code 1 if a statement lacks lines
    #[arg(long)]
    check: bool,
}

/// A statement that lacks lines, as people and programs read it.
#[derive(Serialize)]
struct Shape {
    client_id: String,
    sandbox: bool,
    currency: String,
    /// How much more the account has than its statement.
    difference: railgate::api::DecimalNumber,
    /// How many lines explain that; 0 if none do.
    lines: usize,
    /// How many of them were added.
    added: usize,
}

pub(crate) fn run(args: &RepairArgs, global: &Global, terminal: &Terminal) -> Done {
    let place = args.store.place()?;
    // As of one moment: a transfer whose line was written after it was looked for would seem to lack it.
    let snapshot = place.open()?;
    let gaps = statement_gaps(&*snapshot)?;
    let mut shapes = gaps.iter().map(|gap| shape(&*snapshot, gap)).collect::<Done<Vec<_>>>()?;
    drop(snapshot);
    if !args.check && !gaps.is_empty() {
        let engine = place.engine(None)?;
        for (gap, shape) in gaps.iter().zip(&mut shapes) {
            for command in gap.commands() {
                shape.added += engine.run(Operated(command))?;
            }
        }
    }
    show(&shapes, global, terminal)?;
    let open = shapes.iter().filter(|it| if args.check { true } else { it.lines == 0 }).count();
    match open {
        0 => Ok(()),
        _ if args.check => Err(Failure::new(format!("{open} statements lack lines")).hint("railgate ledger repair-statements")),
        _ => Err(Failure::new(format!("no transfers explain what {open} statements lack; these were left as they are"))
            .hint("railgate ledger verify shows what else is wrong; compare with the last backup that verifies")),
    }
}

fn shape(store: &dyn Store, gap: &StatementGap) -> Done<Shape> {
    let (owner, currency) = (gap.account.owner(), gap.account.currency());
    let (Owner::Client(client), Some(currency)) = (owner, currency) else {
        return Err(Failure::new(format!("account {} has no statement", gap.account.0)));
    };
    let client: Option<ClientRecord> =
        typed(store.get(&Key::Client(client)).map_err(railgate::Error::from)?).map_err(railgate::Error::from)?;
    Ok(Shape {
        client_id: client.map_or_else(|| "unknown".to_owned(), |client| format!("cli_{}", client.id)),
        sandbox: gap.account.mode().is_sandbox(),
        currency: currency.code().to_owned(),
        difference: Money::from_minor(gap.difference, currency).into(),
        lines: gap.lines.len(),
        added: 0,
    })
}

fn show(shapes: &[Shape], global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        return terminal.json(serde_json::json!({ "data": shapes }).to_string().as_bytes());
    }
    if shapes.is_empty() {
        return terminal.line(format_args!("{} no statement lacks lines", terminal.paint(Tone::Good, "✓")));
    }
    let mut table = terminal.table(&["client", "environment", "currency", "lacks", "lines", "added"]);
    for it in shapes {
        table.add_row(vec![
            Tone::Strong.cell(&it.client_id),
            Cell::new(if it.sandbox { "sandbox" } else { "live" }),
            Cell::new(&it.currency),
            number(super::render::decimal(&it.difference)),
            number(if it.lines == 0 { "unexplained".to_owned() } else { it.lines.to_string() }),
            number(it.added),
        ]);
    }
    align_right(&mut table, 3..=5);
    terminal.show(&table)
}
