//! The operator's commands: they work on the store itself, even while a server runs on it.

use std::path::{Path, PathBuf};

use comfy_table::Cell;
use indicatif::{ProgressBar, ProgressStyle};
use railgate::engine::verify::{VerifyReport, verify};
use railgate::store::Store;
use railgate::store::sqlite::{SqliteStore, folder_of};
use serde::Serialize;
use tempfile::TempPath;

use super::Global;
use super::failure::{Done, Failure};
use super::repair::{self, RepairArgs};
use super::stores::{StoreArg, StorePlace};
use super::terminal::{Terminal, Tone, align_right, number};
use crate::durable;

const VERIFY_EXAMPLES: &str = "\
Examples:
  railgate ledger verify
  railgate ledger verify --store sqlite:/var/lib/railgate/railgate.db --json
  railgate ledger verify --store postgres://gateway@db.example/railgate

Reads every settlement, recomputes its event chain, its state, its journal and both accounts of each
transfer, the log over all events, and compares. If an event was changed, removed or moved, the first
such event is named. Changes nothing; servers may run on the store meanwhile: it is read as of one moment.
Exit code 1 if anything does not agree.";

const BACKUP_EXAMPLES: &str = "\
Examples:
  railgate backup --to /backup/railgate-2026-11-21.db
  railgate backup --store sqlite:/var/lib/railgate/railgate.db --to copy.db

A server may run on the store meanwhile: the copy is the state of one moment. The copy is opened and
checked before it gets its name; an existing file is never overwritten. Whoever makes it owns it: to
serve it, give it to the user that the server runs as.
Before you serve a copy in place of a store that was used after it: run `railgate log new-epoch`,
because the numbers of later events are assigned again, and compare it with the providers before clients
reach it, or payments are made twice: docs/operations/backup.md.
A PostgreSQL database is backed up with its own tools, pg_dump and pg_basebackup.";

/// Inspect and repair the ledger
#[derive(Debug, clap::Args)]
pub(crate) struct LedgerArgs {
    #[command(subcommand)]
    command: LedgerCommand,
}

#[derive(Debug, clap::Subcommand)]
enum LedgerCommand {
    /// Recompute everything that can be recomputed, and compare
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(StoreArg),
    RepairStatements(RepairArgs),
}

/// Back up a SQLite store into a file, even while a server is using it
#[derive(Debug, clap::Args)]
#[command(after_help = BACKUP_EXAMPLES)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    store: StoreArg,
    /// The path of the backup, which must not exist yet
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

pub(crate) fn ledger(args: LedgerArgs, global: &Global, terminal: &Terminal) -> Done {
    let store = match args.command {
        LedgerCommand::Verify(store) => store,
        LedgerCommand::RepairStatements(args) => return repair::run(&args, global, terminal),
    };
    let place = store.place()?;
    let report = check(&*place.open()?, "checking")?;
    if global.json {
        let document = serde_json::to_vec(&ReportShape::of(&report));
        terminal.json(&document.map_err(|error| Failure::caused("cannot write the report", error))?)?;
    } else {
        show(terminal, &place, &report)?;
    }
    if report.is_ok() { Ok(()) } else { Err(broken(&report)) }
}

pub(crate) fn backup(args: BackupArgs, global: &Global, terminal: &Terminal) -> Done {
    let from = match args.store.place()? {
        StorePlace::File(path) => path,
        place @ StorePlace::Database(_) => {
            return Err(Failure::new(format!("{place} is backed up with PostgreSQL's own tools"))
                .hint("pg_dump --format=custom for a copy of one moment, pg_basebackup to restore any moment: docs/postgresql.md"));
        }
    };
    if args.to.exists() {
        return Err(taken(&args.to));
    }
    let store = open_file(&from)?;
    let folder = folder_of(&args.to);
    // Written in a separate folder next to its place: the files that SQLite keeps next to an open database go with it,
    // and an interruption leaves no file that looks like a backup.
    let nest = tempfile::Builder::new().prefix(".railgate-backup-").tempdir_in(folder);
    let nest = nest.map_err(|error| Failure::new(format!("cannot write in {}: {error}", folder.display())))?;
    let draft = nest.path().join("copy.db");
    let bar = bar("copying", "pages");
    store.backup(&draft, &mut |done, total| advance(&bar, done, total)).map_err(railgate::Error::from)?;
    bar.finish_and_clear();
    let report = check(&open_file(&draft)?, "checking the copy")?;
    if !report.is_ok() {
        return Err(broken(&report)
            .hint(format!("the copy was discarded; check the store itself: railgate ledger verify --store sqlite:{}", from.display())));
    }
    publish(&from, draft, &args.to)?;
    let bytes = std::fs::metadata(&args.to).map(|meta| meta.len()).unwrap_or_default();
    if global.json {
        let document = serde_json::json!({ "from": from, "to": args.to, "bytes": bytes, "ledger": ReportShape::of(&report) });
        return terminal.json(document.to_string().as_bytes());
    }
    terminal.line(format_args!("{} → {} ({})", from.display(), args.to.display(), indicatif::HumanBytes(bytes)))?;
    terminal.line(verdict(terminal, &report))
}

/// Gives the draft its name, unless that was taken meanwhile. It has the store's mode, but belongs to whoever makes it: a service
/// has no business with root's backups, and the number of a user that exists only while it runs may be another's tomorrow.
fn publish(from: &Path, draft: PathBuf, to: &Path) -> Done {
    let named = || -> std::io::Result<()> {
        std::fs::set_permissions(&draft, std::fs::metadata(from)?.permissions())?;
        durable::name(TempPath::try_from_path(draft)?, to, false)
    };
    named().map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => taken(to),
        _ => Failure::new(format!("cannot write {}: {error}", to.display())),
    })
}

fn taken(to: &Path) -> Failure {
    Failure::new(format!("{} exists already", to.display())).hint("choose another name: a backup never overwrites anything")
}

fn open_file(path: &Path) -> Done<SqliteStore> {
    if !path.exists() {
        return Err(Failure::new(format!("there is no store at {}", path.display())).hint("name it with --store sqlite:PATH"));
    }
    let opened = SqliteStore::open_read_only(path);
    opened.map_err(|error| Failure::caused(format_args!("cannot open {}", path.display()), error))
}

pub(super) fn check(store: &dyn Store, what: &'static str) -> Done<VerifyReport> {
    let bar = bar(what, "settlements");
    let report = verify(store, &mut |progress| advance(&bar, progress.settlements_done, progress.settlements_total))?;
    bar.finish_and_clear();
    Ok(report)
}

/// A progress bar on standard error, only if that is a terminal.
fn bar(what: &'static str, unit: &'static str) -> ProgressBar {
    let template = format!("{{msg}} [{{bar:40}}] {{human_pos}}/{{human_len}} {unit}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style.progress_chars("━╸ ")).with_message(what)
}

fn advance(bar: &ProgressBar, done: u64, total: u64) {
    bar.set_length(total);
    bar.set_position(done);
}

fn show(terminal: &Terminal, place: &StorePlace, report: &VerifyReport) -> Done {
    let counts = [
        ("settlements", report.settlements),
        ("events", report.events),
        ("transfers", report.transfers),
        ("accounts", report.accounts),
        ("open tasks", report.tasks),
        ("events in the log", report.logged),
        ("webhooks", report.webhooks),
        ("deliveries", report.deliveries),
        ("sent twice", report.received_twice),
    ];
    let mut table = terminal.table(&["checked", "count"]);
    for (what, count) in counts {
        table.add_row(vec![Cell::new(what), number(railgate::money::grouped(&count.to_string()))]);
    }
    align_right(&mut table, [1]);
    terminal.line(terminal.paint(Tone::Dim, place))?;
    terminal.show(&table)?;
    show_problems(terminal, report)?;
    terminal.line("")?;
    if let Some(first) = &report.first_broken {
        let place = format!("{}, event {}", first.settlement, first.sequence);
        let title = terminal.paint(Tone::Bad, "First broken link:");
        terminal.line(format_args!("{title} {} ({}: {})", terminal.paint(Tone::Strong, place), first.code, first.message))?;
    }
    terminal.line(verdict(terminal, report))
}

/// Lists the problems, if there are any.
pub(super) fn show_problems(terminal: &Terminal, report: &VerifyReport) -> Done {
    if report.problems.is_empty() {
        return Ok(());
    }
    let mut table = terminal.table(&["where", "problem", "what is wrong"]);
    for problem in &report.problems {
        table.add_row(vec![Tone::Strong.cell(&problem.what), Tone::Bad.cell(problem.code), Cell::new(&problem.message)]);
    }
    terminal.line("")?;
    terminal.show(&table)?;
    if report.truncated {
        terminal.line(terminal.paint(Tone::Warn, "There are more than are shown."))?;
    }
    Ok(())
}

/// The report in one line.
pub(super) fn verdict(terminal: &Terminal, report: &VerifyReport) -> String {
    let count = |n: u64, one: &str| format!("{} {one}{}", railgate::money::grouped(&n.to_string()), if n == 1 { "" } else { "s" });
    if report.is_ok() {
        let what = [
            count(report.settlements, "settlement"),
            count(report.events, "event"),
            count(report.transfers, "transfer"),
            count(report.accounts, "account"),
        ];
        return format!("{} everything agrees: {}; nothing sent twice", terminal.paint(Tone::Good, "✓"), what.join(", "));
    }
    let problems = u64::try_from(report.problems.len()).unwrap_or(u64::MAX);
    let at_least = if report.truncated { "at least " } else { "" };
    format!("{} {at_least}{} found", terminal.paint(Tone::Bad, "✗"), count(problems, "problem"))
}

pub(super) fn broken(report: &VerifyReport) -> Failure {
    let more = if report.truncated { "at least " } else { "" };
    if report.problems.iter().all(|problem| problem.code == "statement_differs") {
        return Failure::new(format!("{more}{} statements do not end where their accounts are", report.problems.len()))
            .hint("if a server of before statements ran beside newer ones: railgate ledger repair-statements adds what it left out");
    }
    let first = report.first_broken.as_ref();
    let first = first.map_or_else(String::new, |link| format!("; the first broken link is event {} of {}", link.sequence, link.settlement));
    Failure::new(format!("the ledger does not agree with itself: {more}{} problems{first}", report.problems.len()))
        .hint("stop paying out, keep the file as it is, and compare with the last backup that verifies")
}

/// A report as JSON.
#[derive(Serialize)]
pub(super) struct ReportShape<'a> {
    ok: bool,
    settlements: u64,
    events: u64,
    transfers: u64,
    accounts: u64,
    tasks: u64,
    logged: u64,
    webhooks: u64,
    deliveries: u64,
    received_twice: u64,
    first_broken: Option<BrokenShape<'a>>,
    problems: Vec<ProblemShape<'a>>,
    truncated: bool,
}

#[derive(Serialize)]
struct BrokenShape<'a> {
    settlement: &'a str,
    sequence: u32,
    code: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct ProblemShape<'a> {
    what: &'a str,
    code: &'a str,
    message: &'a str,
}

impl<'a> ReportShape<'a> {
    /// The shape of this report.
    pub(super) fn of(report: &'a VerifyReport) -> Self {
        Self {
            ok: report.is_ok(),
            settlements: report.settlements,
            events: report.events,
            transfers: report.transfers,
            accounts: report.accounts,
            tasks: report.tasks,
            logged: report.logged,
            webhooks: report.webhooks,
            deliveries: report.deliveries,
            received_twice: report.received_twice,
            first_broken: report.first_broken.as_ref().map(|first| BrokenShape {
                settlement: &first.settlement,
                sequence: first.sequence,
                code: first.code,
                message: &first.message,
            }),
            problems: report
                .problems
                .iter()
                .map(|problem| ProblemShape { what: &problem.what, code: problem.code, message: &problem.message })
                .collect(),
            truncated: report.truncated,
        }
    }
}
