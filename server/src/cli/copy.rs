//! `railgate copy`: copies one store into another, above all out of the embedded one; or moves one client.

mod client;

use std::path::PathBuf;

use base16ct::lower::encode_string as hex;
use comfy_table::Cell;
use indicatif::{ProgressBar, ProgressStyle};
use railgate::engine::verify::VerifyReport;
use railgate::store::copy::{Compared, CopyError, Progress, Report, Step, Tally, copy};
use serde::Serialize;

use super::Global;
use super::failure::{Done, Failure};
use super::operator::{ReportShape, broken, check, show_problems, verdict};
use super::stores::StorePlace;
use super::terminal::{Terminal, Tone, align_right, number};
use railgate::money::grouped;

const EXAMPLES: &str = "\
Examples:
  railgate copy --from sqlite:/var/lib/railgate/railgate.db --to postgres://gateway@db.example/railgate
      Stop the server first. If the copy is interrupted, the same command resumes it.
  railgate copy --from postgres://gateway@db.example/railgate --to sqlite:/tmp/railgate.db
  RAILGATE_COPY_TO='postgres://gateway:secret@db.example/railgate' railgate copy --from sqlite:railgate.db
      Other users of this machine can see a password on the command line, but not one in the environment.

  railgate copy --client cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB --reason 'the first cell is full' \
    --from postgres://gateway@db-a.example/railgate --from-keys a.keys --from-url https://a.pay.example \
    --to postgres://gateway@db-b.example/railgate --to-keys b.keys --to-url https://b.pay.example
      Moves one client to another gateway. Servers may run on both.

Copies every record of every kind, then reads all of both stores again and compares counts and hashes, then
verifies the ledger of the copy. The target must be empty, or an interrupted copy of the same source.
Nobody may change the source meanwhile: a SQLite file that is being served is refused; for a PostgreSQL
database, stop every server yourself. If the source changes anyway, the copy fails. No server starts on half a copy.

With --client, both stores are gateways of their own, and only the client moves, with its keys, webhooks, terms and
money. What it did stays at the old gateway, which says everything that stands in the way, and begins nothing new
for it from then on. An interrupted move is finished by the same command; run later, it moves what came back since.";

/// Copy a whole store into another one, and prove that both contain the same records; or move one client
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CopyArgs {
    /// The store to copy from: `sqlite:PATH` or `postgres://USER@HOST/DATABASE`
    #[arg(long, value_name = "STORE", env = "RAILGATE_COPY_FROM", hide_env_values = true)]
    from: String,
    /// The store to copy into
    #[arg(long, value_name = "STORE", env = "RAILGATE_COPY_TO", hide_env_values = true)]
    to: String,
    /// The server's settings file, if it has one: its `db-tls` holds for both stores [env: RAILGATE_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    client: client::ClientMove,
}

pub(crate) fn run(args: CopyArgs, global: &Global, terminal: &Terminal) -> Done {
    let [from, to] = [&args.from, &args.to].map(|address| StorePlace::named(address, args.config.as_deref()));
    let (from, to) = (from?, to?);
    if from == to {
        return Err(Failure::usage("a store cannot be copied into itself"));
    }
    if let Some(moved) = args.client.order()? {
        return client::run(&moved, (&from, &to), global, terminal);
    }
    let source = from.open_quiet()?;
    let target = to.open_to_fill()?;
    let bar = counter();
    let copied = copy(&*source, &*target, &mut |progress| show_progress(&bar, progress));
    bar.finish_and_clear();
    let report = copied.map_err(|error| stopped(error, &from, &to))?;
    let verified = if report.is_equal() { Some(check(&*target, "checking the copy")?) } else { None };
    if global.json {
        terminal.json(&json(&from, &to, &report, verified.as_ref())?)?;
    } else {
        show(&from, &to, &report, verified.as_ref(), terminal)?;
    }
    match &verified {
        None => Err(differs(&to)),
        Some(verified) if verified.is_ok() => Ok(()),
        Some(verified) => Err(broken(verified).hint(format!("the copy is exact: the fault is in {from}; see railgate ledger verify"))),
    }
}

/// A progress bar on standard error, only if that is a terminal. The total is known once all records were read.
fn counter() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} records, {per_sec}");
    ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

fn show_progress(bar: &ProgressBar, progress: Progress) {
    let step = match progress.step {
        Step::Copying => "copying",
        Step::ReadingSource => "reading the source again",
        Step::ReadingTarget => "reading the copy",
    };
    let message = format!("{step} ({})", progress.kind.as_str());
    if bar.message() != message {
        bar.set_message(message);
    }
    // Each step counts from zero.
    if progress.records < bar.position() {
        bar.reset();
    }
    bar.set_position(progress.records);
    bar.tick();
}

fn stopped(error: CopyError, from: &StorePlace, to: &StorePlace) -> Failure {
    let again = "run the same command again to resume".to_owned();
    let hint = match &error {
        CopyError::Source(_) | CopyError::Target(_) | CopyError::Commit(_) => again,
        CopyError::NothingThere => format!("is {from} the right one?"),
        CopyError::SourceUnfinished => format!("finish it first: railgate copy --from … --to {from}"),
        CopyError::TargetTaken => format!("name an empty one; {to} has other records than {from}"),
        CopyError::OtherSource => format!("finish that copy, or empty {to} and start again"),
        CopyError::SourceChanged => format!("make sure that nothing uses {from}, empty {to}, and start again"),
    };
    Failure::caused("the copy is not finished", error).hint(hint)
}

fn differs(to: &StorePlace) -> Failure {
    Failure::new("the copy differs from its source").hint(format!(
        "the source or the target was changed during the copy: make sure that nothing uses them, empty {to}, and start again"
    ))
}

/// A kind of record in the report.
#[derive(Serialize)]
struct KindShape {
    kind: &'static str,
    equal: bool,
    source: TallyShape,
    target: TallyShape,
}

#[derive(Serialize)]
struct TallyShape {
    records: u64,
    sha256: String,
}

impl From<&Tally> for TallyShape {
    fn from(tally: &Tally) -> Self {
        Self { records: tally.records, sha256: hex(&tally.digest) }
    }
}

impl From<&Compared> for KindShape {
    fn from(kind: &Compared) -> Self {
        let (source, target) = (TallyShape::from(&kind.source), TallyShape::from(&kind.target));
        Self { kind: kind.kind.as_str(), equal: kind.source == kind.target, source, target }
    }
}

fn json(from: &StorePlace, to: &StorePlace, report: &Report, verified: Option<&VerifyReport>) -> Done<Vec<u8>> {
    let document = serde_json::json!({
        "from": from.to_string(),
        "to": to.to_string(),
        "resumed": report.resumed,
        "copied": report.copied,
        "equal": report.is_equal(),
        "kinds": report.kinds.iter().map(KindShape::from).collect::<Vec<_>>(),
        "ledger": verified.map(ReportShape::of),
    });
    serde_json::to_vec(&document).map_err(|error| Failure::caused("cannot write the report", error))
}

fn show(from: &StorePlace, to: &StorePlace, report: &Report, verified: Option<&VerifyReport>, terminal: &Terminal) -> Done {
    terminal.line(terminal.paint(Tone::Dim, format_args!("{from} → {to}")))?;
    let mut table = terminal.table(&["kind", "source", "copy", "SHA-256 over all of a kind", ""]);
    for kind in report.kinds.iter().filter(|kind| kind.source.records + kind.target.records > 0) {
        let (same, digest) = if kind.source == kind.target {
            (Tone::Good.cell("the same"), hex(&kind.source.digest[..16]))
        } else {
            (Tone::Bad.cell("differs"), format!("{} / {}", hex(&kind.source.digest[..8]), hex(&kind.target.digest[..8])))
        };
        let count = |tally: &Tally| number(grouped(&tally.records.to_string()));
        table.add_row(vec![Cell::new(kind.kind.as_str()), count(&kind.source), count(&kind.target), Tone::Dim.cell(digest), same]);
    }
    align_right(&mut table, [1, 2]);
    terminal.show(&table)?;
    let Some(verified) = verified else { return Ok(()) };
    terminal.line("")?;
    let count = |records: u64| grouped(&records.to_string());
    let copied = match (report.copied, report.resumed) {
        (0, 0) => "nothing was left to copy".to_owned(),
        (copied, 0) => format!("{} records copied", count(copied)),
        (copied, earlier) => format!("{} records copied, {} earlier", count(copied), count(earlier)),
    };
    terminal.line(format_args!("{} {copied}; both stores contain the same records", terminal.paint(Tone::Good, "✓")))?;
    show_problems(terminal, verified)?;
    terminal.line(verdict(terminal, verified))?;
    terminal.line("")?;
    let both = "From now on serve one of the two, never both: what is pending in both would be sent twice.";
    terminal.line(terminal.paint(Tone::Warn, both))?;
    terminal
        .line(format_args!("The secrets are sealed under the same master keys: give the copy their file, --master-keys {}.", keys(from)))
}

/// The path of the source's master keys, if its address determines it.
fn keys(from: &StorePlace) -> String {
    match from {
        StorePlace::File(path) => Some(crate::master::beside(path)).filter(|keys: &PathBuf| keys.exists()),
        StorePlace::Database(_) => None,
    }
    .map_or_else(|| "FILE".to_owned(), |keys| keys.display().to_string())
}
