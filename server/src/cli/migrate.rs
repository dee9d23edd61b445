//! `railgate migrate`: brings a store to this program's schema without serving it.

use railgate::store::SchemaVersion;

use super::Global;
use super::failure::{Done, Failure};
use super::stores::{StoreArg, StorePlace};
use super::terminal::{Terminal, Tone};

const EXAMPLES: &str = "\
Examples:
  railgate migrate --check
      Only prints the schema's version. Exit code 1 if it is behind.
  railgate migrate --store postgres://owner@db.example/railgate
      As the role that owns the tables; servers of another role then run with --db-migrate off.

railgate serve migrates by itself unless told not to. A SQLite file must not be served meanwhile.
Migrations only go forward: make a backup first.";

/// Migrate the store to this version's schema
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    store: StoreArg,
    /// Change nothing; exit code 1 if a migration is pending
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: MigrateArgs, global: &Global, terminal: &Terminal) -> Done {
    let place = args.store.place()?;
    let was = place.schema()?;
    if args.check || was.is_current() {
        tell(&place, was, was, global, terminal)?;
        return if was.is_current() { Ok(()) } else { Err(behind(&place, was)) };
    }
    drop(place.open_to_write()?);
    tell(&place, was, place.schema()?, global, terminal)
}

fn tell(place: &StorePlace, was: SchemaVersion, is: SchemaVersion, global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        let document = serde_json::json!({ "store": place.to_string(), "was": was.applied, "is": is.applied, "current": is.known });
        return terminal.json(document.to_string().as_bytes());
    }
    if was != is {
        let done = terminal.paint(Tone::Good, "✓");
        return terminal.line(format_args!("{done} {place}: schema migrated from version {} to version {}", was.applied, is.applied));
    }
    let current = if is.is_current() { ", which is the current one".to_owned() } else { format!("; the current one is {}", is.known) };
    terminal.line(format_args!("{place}: schema version {}{current}", is.applied))
}

fn behind(place: &StorePlace, was: SchemaVersion) -> Failure {
    let missing = was.known.saturating_sub(was.applied);
    Failure::new(format!("{missing} migration{} missing", if missing == 1 { " is" } else { "s are" }))
        .hint(format!("railgate migrate --store {place}"))
}
