//! `railgate demo`: a gateway inside this process, payments that meet every kind of trouble, and the proof that no money
//! was lost. The clock is set by hand, so a day takes no time.

mod plays;
mod stage;
mod sums;
mod trace;

use railgate::api::{BalanceView, EventView, ReversalView, SettlementView};
use railgate::engine::verify::VerifyReport;
use railgate::money::Money;
use railgate::store::record::SettlementRecord;
use serde::Serialize;
use tempfile::TempDir;

use super::Global;
use super::failure::{Done, Failure};
use super::operator::{self, ReportShape};
use super::terminal::{Terminal, Tone, align_right, note, number};
use plays::Play;
use railgate::money::grouped;
use stage::{Aside, Performed, Stage};
use sums::Sum;
use trace::Verdict;

const EXAMPLES: &str = "\
Examples:
  railgate demo
  railgate demo --scenario timeout-then-ok --scenario reversal
  railgate demo --scenario decline-account_closed
  railgate demo --seed 7 --json | jq .sums
  railgate demo --keep
      Keeps the database; inspect it with railgate ledger verify --store sqlite:PATH.

The same seed shows the same payments, byte for byte. Needs no server and no network.
Exit code 1 if a payment does not end as it must, or the money does not add up.";

/// Play payments through every kind of trouble, and prove that the money adds up
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Determines ids, times and everything else that is random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Only this scenario; may be repeated
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<String>,
    /// Keep the database afterwards
    #[arg(long)]
    keep: bool,
}

/// The results of the demo.
struct Report {
    seed: u64,
    store: String,
    client_id: String,
    performed: Vec<Performed>,
    before: Vec<BalanceView>,
    after: Vec<BalanceView>,
    sums: Vec<Sum>,
    verified: VerifyReport,
}

pub(crate) fn run(args: &DemoArgs, global: &Global, terminal: &Terminal) -> Done {
    let terminal = &terminal.laid_out();
    let program = plays::chosen(&args.scenarios)?;
    let folder = tempfile::Builder::new().prefix("railgate-demo-").tempdir();
    let folder = folder.map_err(|error| Failure::new(format!("cannot create a temporary folder: {error}")))?;
    let played = play(args, global, terminal, &folder, program);
    if args.keep {
        let path = folder.keep().join(FILE);
        note(format_args!("kept: railgate ledger verify --store sqlite:{}", path.display()));
    }
    let report = played?;
    if global.json {
        terminal.json(&report.document()?)?;
    } else {
        report.show(terminal)?;
    }
    report.judge()
}

const FILE: &str = "railgate.db";

fn play(args: &DemoArgs, global: &Global, terminal: &Terminal, folder: &TempDir, program: Vec<Play>) -> Done<Report> {
    let path = folder.path().join(FILE);
    let mut stage = Stage::open(&path, args.seed)?;
    let store = path.display().to_string();
    if !global.json {
        open_curtain(terminal, args, &store, &stage.client_id())?;
    }
    let before = stage.balances()?;
    let mut performed = Vec::new();
    for (n, play) in program.into_iter().enumerate() {
        let shown = stage.perform(play)?;
        if !global.json {
            trace::show(terminal, n + 1, &shown)?;
        }
        performed.push(shown);
    }
    let records: Vec<SettlementRecord> = performed.iter().map(|it| stage.record(it.record.no)).collect::<Done<_>>()?;
    let after = stage.balances()?;
    let sums = sums::add_up(&before, &after, &records);
    let verified = stage.verify()?;
    Ok(Report { seed: args.seed, store, client_id: stage.client_id(), performed, before, after, sums, verified })
}

fn open_curtain(terminal: &Terminal, args: &DemoArgs, store: &str, client_id: &str) -> Done {
    let kept = if args.keep { "kept afterwards" } else { "deleted afterwards" };
    terminal.line(terminal.paint(Tone::Strong, "railgate demo: what happens to a payment when things go wrong"))?;
    terminal.line("A whole gateway inside this process. The operators are simulated, the clock is set by hand.")?;
    terminal.line(terminal.paint(Tone::Dim, format_args!("store {store} ({kept})\nclient {client_id}, seed {}", args.seed)))?;
    terminal.line("")
}

impl Report {
    fn show(&self, terminal: &Terminal) -> Done {
        heading(terminal, "How they ended")?;
        terminal.show(&self.overview(terminal))?;
        terminal.line("")?;
        heading(terminal, "Does the money add up?")?;
        sums::show(terminal, &self.sums)?;
        terminal.line("")?;
        heading(terminal, "The result of the ledger's own check")?;
        terminal.line(format_args!("    {}", operator::verdict(terminal, &self.verified)))?;
        operator::show_problems(terminal, &self.verified)
    }

    fn overview(&self, terminal: &Terminal) -> comfy_table::Table {
        let mut table = terminal.table(&["     ", "payment", "amount", "", "ended", "after", "came back", "by"]);
        for it in &self.performed {
            let view = &it.view;
            let mark = match trace::verdict(it) {
                Verdict::AsPromised => Tone::Good.cell("    ✓"),
                Verdict::NothingPromised => Tone::Dim.cell("    ·"),
                Verdict::Broken(_) => Tone::Bad.cell("    ✗"),
            };
            let back = Money::from_minor(sums::came_back(&it.record), it.record.currency);
            table.add_row(vec![
                mark,
                Tone::Plain.cell(&it.play.name),
                number(grouped(view.amount.as_str())),
                Tone::Plain.cell(&view.currency),
                sums::outcome(it.record.status.as_str(), it.record.needs_review),
                number(trace::lasted(it)),
                number(if back.minor() == 0 { String::new() } else { grouped(&back.decimal()) }),
                Tone::Dim.cell(&view.provider),
            ]);
        }
        align_right(&mut table, [2, 5, 6]);
        table
    }

    /// Fails if anything is not as it must be.
    fn judge(&self) -> Done {
        let mut wrong: Vec<String> = Vec::new();
        for it in &self.performed {
            if let Verdict::Broken(why) = trace::verdict(it) {
                wrong.push(format!("{}: {why}", it.play.name));
            }
        }
        let sums = self.sums.iter().filter(|sum| !sum.adds_up());
        wrong.extend(sums.map(|sum| format!("the {} account does not add up", sum.currency)));
        if !self.verified.is_ok() {
            wrong.push(format!("the ledger's check found {} problems", self.verified.problems.len()));
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let failure = Failure::new("the demo did not come out as it must");
        let failure = wrong.into_iter().fold(failure, Failure::detail);
        Err(failure.hint(format!("--seed {} --keep repeats it and keeps the database", self.seed)))
    }

    fn document(&self) -> Done<Vec<u8>> {
        let document = Document {
            seed: self.seed,
            store: &self.store,
            client_id: &self.client_id,
            settlements: self.performed.iter().map(Shown::of).collect(),
            balances_before: &self.before,
            balances_after: &self.after,
            sums: &self.sums,
            adds_up: self.sums.iter().all(Sum::adds_up),
            ledger: ReportShape::of(&self.verified),
        };
        serde_json::to_vec(&document).map_err(|error| Failure::caused("cannot write the report", error))
    }
}

fn heading(terminal: &Terminal, text: &str) -> Done {
    let rule = "─".repeat(usize::from(terminal.width()).saturating_sub(text.chars().count() + 5));
    terminal.line(format_args!("    {} {}", terminal.paint(Tone::Strong, text), terminal.paint(Tone::Dim, rule)))
}

/// The output of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    seed: u64,
    store: &'a str,
    client_id: &'a str,
    settlements: Vec<Shown<'a>>,
    balances_before: &'a [BalanceView],
    balances_after: &'a [BalanceView],
    sums: &'a [Sum],
    adds_up: bool,
    ledger: ReportShape<'a>,
}

#[derive(Serialize)]
struct Shown<'a> {
    scenario: &'a str,
    as_promised: bool,
    settlement: &'a SettlementView,
    events: &'a [EventView],
    reversals: &'a [ReversalView],
    notes: &'a [Aside],
}

impl<'a> Shown<'a> {
    fn of(it: &'a Performed) -> Self {
        Self {
            scenario: &it.play.name,
            as_promised: !matches!(trace::verdict(it), Verdict::Broken(_)),
            settlement: &it.view,
            events: &it.events,
            reversals: &it.reversals,
            notes: &it.asides,
        }
    }
}
