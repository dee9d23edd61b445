//! `railgate quality`: what devices of all clients measured, read from the store itself.

use clap::builder::TypedValueParser as _;
use comfy_table::Cell;
use railgate::api::{QualityGroupView, QualitySummaryView};
use railgate::engine::{QualityBy, QualityRequest};
use railgate::ledger::Mode;
use railgate::time::{Millis, parse_rfc3339};
use railgate::validate::quality::is_metric;

use super::Global;
use super::failure::{Done, Failure};
use super::render::{decimal, short_time};
use super::sim::names;
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, align_right, number, printable};

const EXAMPLES: &str = "\
Examples:
  railgate quality payment.confirmed
  railgate quality payment.answer --by os --by network --from 2026-11-01T00:00:00Z
  railgate quality payment.answer --environment sandbox --store sqlite:/var/lib/railgate/railgate.db --json

Devices of all clients count together, and clients are not told apart. What fewer than five devices
measured is added up to `other`, and left out if that is of fewer than five devices, too.";

/// Summarise what devices of all clients measured
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct QualityArgs {
    /// What was measured
    #[arg(value_name = "METRIC", value_parser = metric)]
    metric: String,
    /// What tells groups apart: up to two
    #[arg(long, value_name = "WHAT", value_parser = by())]
    by: Vec<QualityBy>,
    /// Real money or the sandbox
    #[arg(long, value_name = "ENVIRONMENT", default_value = Mode::Live.as_str(), value_parser = environment())]
    environment: Mode,
    /// From this time on (RFC 3339); the hour counts [default: seven days before the end]
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<Millis>,
    /// Before this time (RFC 3339); a begun hour counts [default: now]
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<Millis>,
    #[command(flatten)]
    store: StoreArg,
}

fn metric(text: &str) -> Result<String, &'static str> {
    is_metric(text).then(|| text.to_owned()).ok_or("a metric is up to four lower-case names with dots between, such as payment.confirmed")
}

fn time(text: &str) -> Result<Millis, &'static str> {
    parse_rfc3339(text).ok_or("a time is written as 2026-01-31T12:00:00Z")
}

fn by() -> impl clap::builder::TypedValueParser<Value = QualityBy> {
    named(QualityBy::ALL, QualityBy::as_str)
}

fn environment() -> impl clap::builder::TypedValueParser<Value = Mode> {
    named(Mode::ALL, Mode::as_str)
}

/// One of these, by their wire names.
fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    as_str: fn(T) -> &'static str,
) -> impl clap::builder::TypedValueParser<Value = T> {
    names(all, as_str).try_map(move |name| all.iter().copied().find(|one| as_str(*one) == name).ok_or("there is no such name"))
}

pub(crate) fn run(args: QualityArgs, global: &Global, terminal: &Terminal) -> Done {
    let engine = args.store.place()?.engine(None)?;
    let request = QualityRequest::new(args.metric, args.from, args.to, args.by.clone(), engine.now()).map_err(Failure::from)?;
    let summary = engine.quality_summary_of_all(args.environment, &request)?;
    if global.json {
        let document = serde_json::to_vec(&summary).map_err(|error| Failure::caused("cannot write the summary", error))?;
        return terminal.json(&document);
    }
    show(&summary, &args.by, terminal)
}

fn show(summary: &QualitySummaryView, by: &[QualityBy], terminal: &Terminal) -> Done {
    let span =
        format!("{}, {}: {} to {}", summary.metric, summary.environment.as_str(), short_time(&summary.from), short_time(&summary.to));
    terminal.line(terminal.paint(Tone::Dim, span))?;
    if !summary.groups.is_empty() {
        let headings: Vec<&str> = by.iter().map(|by| by.as_str()).chain(FIGURES).collect();
        let mut table = terminal.table(&headings);
        for group in &summary.groups {
            table.add_row(row(group, by));
        }
        align_right(&mut table, by.len()..by.len() + FIGURES.len() - 1);
        terminal.show(&table)?;
    } else if summary.withheld == 0 {
        terminal.line("Nothing was measured.")?;
    }
    if summary.withheld > 0 {
        let few = format!("{} points are not shown: fewer than five devices measured them.", summary.withheld);
        terminal.line(terminal.paint(Tone::Warn, few))?;
    }
    if !summary.complete {
        terminal.line(terminal.paint(Tone::Warn, "Only the newest were counted: choose a shorter time."))?;
    }
    Ok(())
}

const FIGURES: [&str; 9] = ["count", "mean", "p50", "p95", "p99", "min", "max", "failed", "unit"];

fn row(group: &QualityGroupView, by: &[QualityBy]) -> Vec<Cell> {
    let figures = [&group.mean, &group.p50, &group.p95, &group.p99, &group.min, &group.max];
    let mut cells: Vec<Cell> = by.iter().map(|by| Tone::Strong.cell(printable(&mark(group, *by)))).collect();
    cells.push(number(group.count));
    cells.extend(figures.map(|figure| number(decimal(figure))));
    cells.push(number(group.failure_rate.text()));
    cells.push(Cell::new(group.unit.as_str()));
    cells
}

/// What tells the group apart in this.
fn mark(group: &QualityGroupView, by: QualityBy) -> String {
    let told = match by {
        QualityBy::Hour => group.hour.as_deref().map(short_time),
        QualityBy::Day => group.day.clone(),
        QualityBy::AppVersion => group.app_version.clone(),
        QualityBy::Os => group.os.clone(),
        QualityBy::Network => group.network.map(|network| network.as_str().to_owned()),
        QualityBy::Provider => group.provider.clone(),
    };
    told.unwrap_or_else(|| "other".to_owned())
}
