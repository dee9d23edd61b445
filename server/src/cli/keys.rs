//! `railgate keys`: the gateway's own keys, listed and replaced by its operator.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Cell;
use railgate::Engine;
use railgate::auth::PublicKey;
use railgate::engine::{Operated, Rotate};
use railgate::store::record::{RecordKind, SecretKind, SecretRecord};
use railgate::store::{Scan, typed_all};
use railgate::time::rfc3339;
use serde::Serialize;

use super::Global;
use super::failure::{Done, Failure};
use super::render::short_time;
use super::stores::{StoreArg, StorePlace};
use super::terminal::{Terminal, Tone, number};
use crate::master;

const LIST_EXAMPLES: &str = "\
Examples:
  railgate keys list
  railgate keys list --store sqlite:/var/lib/railgate/railgate.db --json";

const ROTATE_EXAMPLES: &str = "\
Examples:
  railgate keys rotate challenge
      Challenges of the old key are accepted until they expire; calls continue.
  railgate keys rotate receipt
      Receipts of the old key stay verifiable: its public half stays published.
  railgate keys rotate master --master-keys /etc/railgate/master.keys
      Puts a new master key first and seals every secret of the store under it. If servers run on other
      machines, copy the file to each of them at once: until then, they cannot open what is sealed under
      the new key. Keep the file's old lines until no older backup is left: its secrets are sealed under
      them.";

/// List and replace the gateway's own keys
#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// List the gateway's keys, never their secrets
    #[command(after_help = LIST_EXAMPLES)]
    List(Place),
    /// Replace a key; what was made with the old one stays valid
    #[command(after_help = ROTATE_EXAMPLES)]
    Rotate {
        /// The key to replace
        #[arg(value_enum)]
        kind: Kind,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// Makes challenges
    Challenge,
    /// Signs receipts
    Receipt,
    /// Signs the checkpoints of the log
    Log,
    /// Identifies the gateway to push services
    Vapid,
    /// Seals the store's secrets
    Master,
}

#[derive(Debug, Args)]
struct Place {
    #[command(flatten)]
    store: StoreArg,
    /// The file of master keys [env: RAILGATE_MASTER_KEYS] [default: as for railgate serve]
    #[arg(long, value_name = "FILE")]
    master_keys: Option<String>,
}

impl Place {
    /// The store, and the file of its master keys.
    fn find(&self) -> Done<(StorePlace, PathBuf)> {
        self.store.place_and_keys(self.master_keys.clone())
    }
}

pub(crate) fn run(args: KeysArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        KeysCommand::List(place) => list(&place, global, terminal),
        KeysCommand::Rotate { kind: Kind::Master, place } => rotate_master(&place, global, terminal),
        KeysCommand::Rotate { kind: Kind::Challenge, place } => rotate(SecretKind::Challenge, &place, global, terminal),
        KeysCommand::Rotate { kind: Kind::Receipt, place } => rotate(SecretKind::Receipt, &place, global, terminal),
        KeysCommand::Rotate { kind: Kind::Log, place } => rotate(SecretKind::Log, &place, global, terminal),
        KeysCommand::Rotate { kind: Kind::Vapid, place } => rotate(SecretKind::Vapid, &place, global, terminal),
    }
}

/// A key of the gateway in the list.
#[derive(Serialize)]
struct SecretShape {
    kind: &'static str,
    no: u32,
    /// The thumbprint of its public half, if it has one.
    key_id: Option<String>,
    /// The master key that it is sealed under.
    master_key: Option<u32>,
    created_at: String,
    retired_at: Option<String>,
}

fn list(place: &Place, global: &Global, terminal: &Terminal) -> Done {
    let (store, keys) = place.find()?;
    let opened = store.open()?;
    let master = master::load(&keys).map_err(failed)?;
    let secrets: Vec<SecretRecord> =
        opened.scan(&Scan::all(RecordKind::Secret, usize::MAX)).and_then(typed_all).map_err(railgate::Error::from)?;
    let shapes: Vec<SecretShape> = secrets
        .iter()
        .map(|secret| SecretShape {
            kind: secret.kind.as_str(),
            no: secret.no,
            key_id: PublicKey::p256(&secret.public).map(|key| key.id().to_string()),
            master_key: master.seals_with(&secret.sealed),
            created_at: rfc3339(secret.created_at),
            retired_at: secret.retired_at.map(rfc3339),
        })
        .collect();
    if global.json {
        let document = serde_json::json!({ "data": shapes, "master_keys": { "file": keys, "ids": master.ids() } });
        return terminal.json(document.to_string().as_bytes());
    }
    let mut table = terminal.table(&["for", "no.", "key", "sealed under", "made", "state"]);
    for it in &shapes {
        let state = match &it.retired_at {
            None => Tone::Good.cell("in use"),
            Some(at) => Tone::Dim.cell(format!("retired {}", short_time(at))),
        };
        table.add_row(vec![
            Tone::Strong.cell(it.kind),
            number(it.no),
            Cell::new(it.key_id.as_deref().unwrap_or_default()),
            Cell::new(it.master_key.map_or_else(String::new, |id| format!("master key {id}"))),
            Cell::new(short_time(&it.created_at)),
            state,
        ]);
    }
    if shapes.is_empty() {
        terminal.line(terminal.paint(Tone::Dim, "No keys yet: railgate serve creates them."))?;
    } else {
        terminal.show(&table)?;
    }
    let ids: Vec<String> = master.ids().iter().map(ToString::to_string).collect();
    terminal.line("")?;
    terminal.line(format_args!("Master keys, the first in use: {} ({})", ids.join(", "), keys.display()))
}

fn rotate(kind: SecretKind, place: &Place, global: &Global, terminal: &Terminal) -> Done {
    let (store, keys) = place.find()?;
    // Check the store first: a mistyped path is the likelier mistake.
    drop(store.open()?);
    let master = Arc::new(master::load(&keys).map_err(failed)?);
    store.engine(Some(master))?.run(Operated(Rotate(kind)))?;
    if global.json {
        return terminal.json(serde_json::json!({ "rotated": kind.as_str() }).to_string().as_bytes());
    }
    terminal.line(format_args!("{} a new {} key is in use", terminal.paint(Tone::Good, "✓"), kind.as_str()))?;
    terminal.line(match kind {
        SecretKind::Challenge => "A running server uses it within ten seconds; challenges of the old one are accepted until they expire.",
        SecretKind::Receipt => "Receipts of the old one stay verifiable: its public half stays published.",
        SecretKind::Vapid => "Push subscriptions stay bound to the key that they were made with: the old one goes on signing for those.",
        SecretKind::Log => "Checkpoints and proofs of the old one stay verifiable: its public half stays published.",
    })
}

fn rotate_master(place: &Place, global: &Global, terminal: &Terminal) -> Done {
    let (store, keys) = place.find()?;
    drop(store.open()?);
    // Durable before anything is sealed under it: after a crash, all secrets are sealed under keys in the file, and running
    // the same command again seals the rest.
    let (master, id) = master::rotate(&keys).map_err(failed)?;
    let engine: Engine = store.engine(Some(Arc::new(master)))?;
    let resealed = engine.reseal().map_err(|error| unfinished(error, id, &keys))?;
    if global.json {
        return terminal.json(serde_json::json!({ "rotated": "master", "master_key": id, "resealed": resealed }).to_string().as_bytes());
    }
    let secrets = if resealed == 1 { "1 secret is".to_owned() } else { format!("{resealed} secrets are") };
    terminal.line(format_args!("{} master key {id} is in use; {secrets} sealed under it now", terminal.paint(Tone::Good, "✓")))?;
    terminal.line(format_args!("Running servers reload {} within a few seconds.", keys.display()))?;
    terminal.line("Keep the file's old lines until every backup made before now is gone: its secrets are sealed under them.")
}

fn unfinished(error: railgate::Error, id: u32, keys: &Path) -> Failure {
    Failure::from(error)
        .detail(format!("master key {id} is in {} and safe; not everything is sealed under it yet", keys.display()))
        .hint("nothing is lost; once the cause is gone, the same command seals the rest (under one more key)")
}

pub(super) fn failed(error: master::MasterError) -> Failure {
    let hint = match &error {
        master::MasterError::Missing { .. } => Some("railgate serve creates it; name another with --master-keys FILE".to_owned()),
        master::MasterError::Exposed { path, .. } => Some(format!("chmod 600 {}", path.display())),
        master::MasterError::Io { .. } | master::MasterError::Content { .. } | master::MasterError::NoRandomness(_) => None,
    };
    let failure = Failure::new(super::failure::chain(&error));
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
