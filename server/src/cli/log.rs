//! `railgate log`: what an operator says about the log as a whole.

use railgate::engine::{BeginEpoch, Operated};

use super::Global;
use super::failure::Done;
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone};

const EPOCH_EXAMPLES: &str = "\
Examples:
  railgate log new-epoch
  railgate log new-epoch --store postgres://gateway@db.example/railgate --json

Run it once on a restored backup, before you serve it in place of a store that was used after it: positions of
feeds and of the log are assigned again, and must not be under the name of the log whose checkpoints others keep.
Followers of feeds get `epoch_changed`, and whoever keeps checkpoints sees a log with a new name: its old name
and /epoch-N. Checkpoints and proofs of former epochs stay verifiable. A server may run on the store meanwhile.";

/// Manage the log of all events
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: LogCommand,
}

#[derive(Debug, clap::Subcommand)]
enum LogCommand {
    /// Say that a backup was restored: begin the next epoch of the log and of all feeds
    #[command(after_help = EPOCH_EXAMPLES)]
    NewEpoch(StoreArg),
}

pub(crate) fn run(args: LogArgs, global: &Global, terminal: &Terminal) -> Done {
    let LogCommand::NewEpoch(store) = args.command;
    let engine = store.place()?.engine(None)?;
    let epoch = engine.run(Operated(BeginEpoch { after: engine.epoch()? }))?;
    if global.json {
        return terminal.json(serde_json::json!({ "epoch": epoch }).to_string().as_bytes());
    }
    terminal.line(format_args!("{} epoch {epoch} of the log and of all feeds has begun", terminal.paint(Tone::Good, "✓")))
}
