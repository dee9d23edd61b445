//! `railgate reconcile`: a provider's statement against the settlements, on the store itself.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Cell;
use railgate::api::{ReconciliationView, StatementFindingView, StatementFindingsView};
use railgate::engine::{BeginReconciliation, Begun, KeepReconciled, Kept, Operated, ReconcileHost};
use railgate::ids::OperatorNo;
use railgate::reconcile::{HTML_END, html_begin};
use railgate::store::record::StatementFormat;
use railgate::{Engine, Result};
use serde::Serialize;

use super::Global;
use super::failure::{Done, Failure};
use super::render::{decimal, short_time, state};
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, align_right, number, printable};
use crate::reconciling::{StatementFile, csv_header, csv_rows, html_rows};

const EXAMPLES: &str = "\
Examples:
  railgate reconcile --provider operator-kenya --statement 2026-11-24.csv
  railgate reconcile --provider bank --statement camt053.xml --format html > reconciliation.html
  railgate reconcile --provider bank --statement camt053.xml --store postgres://railgate@db/railgate --format csv
  railgate reconcile list
  railgate reconcile show rec_01KAJX3M7Q5W8ZP9D2R4T6V8YB

Reads CSV (the provider's settings name the columns), ISO 20022 camt.053 and camt.054, versions 02 and 08, and statement
entries of the GSMA Mobile Money API. What differs waits for a person: railgate review list. The same file again changes
nothing.";

const LIST_EXAMPLES: &str = "\
Examples:
  railgate reconcile list
  railgate reconcile list --provider bank --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  railgate reconcile show rec_01KAJX3M7Q5W8ZP9D2R4T6V8YB
  railgate reconcile show rec_01KAJX3M7Q5W8ZP9D2R4T6V8YB --format csv > findings.csv";

/// How many findings a table shows.
const SHOWN: usize = 100;
/// How many findings are read at a time.
const PAGE: usize = 1_000;

/// Compare a provider's statement with the settlements
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(crate) struct ReconcileArgs {
    #[command(subcommand)]
    command: Option<ReconcileCommand>,
    /// The id of the provider
    #[arg(long, value_name = "PROVIDER", required = true)]
    provider: Option<String>,
    /// The file
    #[arg(long, value_name = "FILE", required = true)]
    statement: Option<PathBuf>,
    /// Compare a file again that was compared before
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    store: StoreArg,
}

#[derive(Debug, Subcommand)]
enum ReconcileCommand {
    /// List what was compared, newest first
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Only statements of this provider
        #[arg(long, value_name = "PROVIDER")]
        provider: Option<String>,
        /// Show at most this many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        #[command(flatten)]
        store: StoreArg,
    },
    /// Show what a comparison found
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The id of the reconciliation
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        shown: Shown,
        #[command(flatten)]
        store: StoreArg,
    },
}

#[derive(Debug, Clone, Copy, Args)]
struct Shown {
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal
    Table,
    /// One document with all findings
    Json,
    /// The findings, for a spreadsheet
    Csv,
    /// A page to print
    Html,
}

/// Runs the commands on the engine itself, and records who ran them as whoever has the store.
struct OnStore<'a>(&'a Engine);

impl ReconcileHost for OnStore<'_> {
    fn begin(&mut self, command: BeginReconciliation) -> Result<Begun> {
        self.0.run(Operated(command))
    }

    fn keep(&mut self, command: KeepReconciled) -> Result<Kept> {
        self.0.run(command)
    }
}

pub(crate) fn run(args: ReconcileArgs, global: &Global, terminal: &Terminal) -> Done {
    match (args.command, args.provider, args.statement) {
        (Some(ReconcileCommand::List { provider, limit, store }), _, _) => {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            list(&store.place()?.engine(None)?, provider.as_deref(), limit, global, terminal)
        }
        (Some(ReconcileCommand::Show { id, shown, store }), _, _) => {
            let place = store.place()?;
            let engine = place.engine(None)?;
            let hint = || format!("list what was compared: railgate reconcile list --store {place}");
            let run = engine.reconciliation(&id).map_err(|error| Failure::from(error).hint(hint()))?;
            show(&engine, &run, shown.form(global), terminal)
        }
        (None, Some(provider), Some(file)) => {
            let (mut statement, digest) = read(&file)?;
            let engine = args.store.place()?.engine(None)?;
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let order = BeginReconciliation { provider, name, digest, format: StatementFormat::Csv, by: OperatorNo(0), again: args.again };
            let run = engine.reconcile_file(order, &mut statement, &mut OnStore(&engine))?;
            show(&engine, &engine.reconciliation_view(&run)?, args.shown.form(global), terminal)
        }
        (None, _, _) => Err(Failure::usage("--provider and --statement are required")),
    }
}

impl Shown {
    fn form(self, global: &Global) -> Form {
        if global.json { Form::Json } else { self.format }
    }
}

/// The file, and its digest.
fn read(path: &Path) -> Done<(StatementFile, [u8; 32])> {
    let unreadable = |error| Failure::caused(format!("cannot read {}", path.display()), error);
    let mut file = StatementFile(File::open(path).map_err(unreadable)?);
    let digest = file.digest().map_err(unreadable)?;
    Ok((file, digest))
}

#[derive(Serialize)]
struct ListShape {
    data: Vec<ReconciliationView>,
    has_more: bool,
}

#[derive(Serialize)]
struct ShowShape<'a> {
    reconciliation: &'a ReconciliationView,
    findings: Vec<StatementFindingView>,
}

fn list(engine: &Engine, provider: Option<&str>, limit: usize, global: &Global, terminal: &Terminal) -> Done {
    let page = engine.reconciliations(provider, None, limit)?;
    if global.json {
        return as_json(&ListShape { data: page.data, has_more: page.has_more }, terminal);
    }
    if page.data.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, "Nothing was compared yet."));
    }
    let mut table =
        terminal.table(&["id", "provider", "file", "compared", "lines", "matched", "missing here", "missing there", "differs", "twice"]);
    for it in &page.data {
        table.add_row(vec![
            Tone::Strong.cell(&it.id),
            Cell::new(&it.provider),
            Cell::new(printable(&it.file)),
            Tone::Dim.cell(it.finished_at.as_deref().map_or_else(|| it.status.as_str().to_owned(), short_time)),
            number(it.lines),
            number(it.matched.all()),
            number(it.missing_here),
            number(it.missing_there),
            number(it.amount_differs),
            number(it.duplicate_there),
        ]);
    }
    align_right(&mut table, 4..10);
    terminal.show(&table)?;
    if page.has_more { terminal.line(terminal.paint(Tone::Dim, "There are more: --limit N")) } else { Ok(()) }
}

fn show(engine: &Engine, run: &ReconciliationView, form: Form, terminal: &Terminal) -> Done {
    match form {
        Form::Table => table(engine, run, terminal),
        Form::Json => {
            let mut findings = Vec::new();
            each_page(engine, run, |page| {
                findings.extend(page.data);
                Ok(())
            })?;
            as_json(&ShowShape { reconciliation: run, findings }, terminal)
        }
        Form::Csv => {
            terminal.raw(csv_header().as_bytes())?;
            each_page(engine, run, |page| terminal.raw(csv_rows(&page.data).as_bytes()))
        }
        Form::Html => {
            terminal.raw(html_begin(run).as_bytes())?;
            each_page(engine, run, |page| terminal.raw(html_rows(&page.data).as_bytes()))?;
            terminal.raw(HTML_END.as_bytes())
        }
    }
}

fn each_page(engine: &Engine, run: &ReconciliationView, mut each: impl FnMut(StatementFindingsView) -> Done) -> Done {
    let mut cursor = None;
    loop {
        let page = engine.findings(&run.id, None, cursor.as_deref(), PAGE)?;
        cursor.clone_from(&page.next_cursor);
        each(page)?;
        if cursor.is_none() {
            return Ok(());
        }
    }
}

fn as_json(shape: &impl Serialize, terminal: &Terminal) -> Done {
    terminal.json(&serde_json::to_vec(shape).map_err(|error| Failure::caused("cannot write JSON", error))?)
}

fn table(engine: &Engine, run: &ReconciliationView, terminal: &Terminal) -> Done {
    let time = |at: &Option<String>| at.as_deref().map(short_time).unwrap_or_default();
    let matched = run.matched;
    let by =
        format!("{} ({} by reference, {} by key, {} by amount)", matched.all(), matched.rail_reference, matched.rail_key, matched.amount);
    let count = |n: u32| if n > 0 { Tone::Warn.cell(n) } else { Cell::new(n) };
    terminal.show(&terminal.card(vec![
        ("id", Tone::Strong.cell(&run.id)),
        ("provider", Cell::new(&run.provider)),
        ("file", Cell::new(format!("{} ({})", printable(&run.file), run.format.as_str()))),
        ("period", Cell::new(format!("{} to {}", time(&run.period_from), time(&run.period_to)))),
        ("lines", Cell::new(format!("{}, and {} that do not count", run.lines, run.skipped))),
        ("matched", Cell::new(by)),
        ("missing here", count(run.missing_here)),
        ("missing there", count(run.missing_there)),
        ("amount differs", count(run.amount_differs)),
        ("duplicate there", count(run.duplicate_there)),
    ]))?;
    let page = engine.findings(&run.id, None, None, SHOWN)?;
    if page.data.is_empty() {
        return terminal.line(terminal.paint(Tone::Good, "Statement and settlements agree."));
    }
    let mut table =
        terminal.table(&["finding", "settlement", "reference", "status", "here", "there", "line", "booked", "their reference", "waits"]);
    for it in &page.data {
        let line = it.line.as_ref();
        let money = |amount: String, currency: &str| number(format!("{amount} {currency}"));
        let here = it.amount.as_ref().zip(it.currency.as_ref());
        table.add_row(vec![
            Tone::Warn.cell(it.kind.as_str()),
            Cell::new(format!(
                "{}{}",
                it.settlement_id.as_deref().unwrap_or_default(),
                it.reversal.map(|n| format!(".{n}")).unwrap_or_default()
            )),
            Cell::new(it.reference.as_deref().unwrap_or_default()),
            it.status.map_or_else(|| Cell::new(""), |status| state(status.as_str())),
            here.map_or_else(|| Cell::new(""), |(amount, currency)| money(decimal(amount), currency)),
            line.map_or_else(|| Cell::new(""), |line| money(decimal(&line.amount), &line.currency)),
            number(line.map(|line| line.line.to_string()).unwrap_or_default()),
            Tone::Dim.cell(line.map(|line| line.booked_at.clone()).unwrap_or_default()),
            Cell::new(line.and_then(|line| line.references.first()).map(|it| printable(it)).unwrap_or_default()),
            Cell::new(if it.waits { "yes" } else { "" }),
        ]);
    }
    align_right(&mut table, [4, 5, 6]);
    terminal.show(&table)?;
    if page.has_more { terminal.line(terminal.paint(Tone::Dim, "There are more: --format csv")) } else { Ok(()) }
}
