//! `railgate receipt proof`: proves that a settlement's last event is in the gateway's log.

use std::path::PathBuf;

use clap::Args;
use comfy_table::Cell;
use railgate::log::{LogKey, verify_proof};
use serde::Deserialize;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{Ask, encode};
use super::session::Session;
use super::terminal::{Terminal, Tone};

pub(super) const EXAMPLES: &str = "\
Examples:
  railgate receipt proof inv-2026-0042
  railgate receipt proof inv-2026-0042 --out inv.tlog-proof
      Saves the proof in the form of C2SP tlog-proof, for other tools.
  railgate receipt proof inv-2026-0042 --key 'pay.example.org/log+1a2b3c4d+AQ…'
      With the log's key as you noted it earlier, instead of asking the server for it.";

#[derive(Debug, Args)]
pub(super) struct ProofArgs {
    /// The reference or id of the payment
    #[arg(value_name = "REF")]
    target: String,
    /// Save the proof to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The log's key, a C2SP verifier key [default: the server's own]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

#[derive(Deserialize)]
struct Proof {
    settlement_id: String,
    event_id: String,
    sequence: u32,
    event_hash: String,
    leaf_index: u64,
    proof: String,
}

pub(super) async fn run(args: ProofArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let answer = session.call(Ask::get(format!("/gateway/settlements/{}/receipt/proof", encode(&args.target)))).await?;
    let proof: Proof = serde_json::from_slice(&answer.body).map_err(|error| Failure::caused("the proof cannot be read", error))?;
    let keys = match args.key {
        Some(key) => key,
        None => {
            let answer = session.call(Ask::get("/log/keys")).await?;
            String::from_utf8(answer.body.to_vec()).map_err(|error| Failure::caused("the log's keys cannot be read", error))?
        }
    };
    let hash = hash(&proof.event_hash).ok_or_else(|| Failure::new("the proof names no hash of an event"))?;
    let keys: Vec<LogKey> = keys.lines().filter_map(LogKey::parse).collect();
    let mut refusal = Failure::new("there is no key to check the proof with");
    let mut found = None;
    for key in &keys {
        match verify_proof(&proof.proof, &hash, key) {
            Ok(checkpoint) => found = Some(checkpoint),
            Err(cause) => refusal = Failure::new(format!("the proof does not hold: {cause}")),
        }
    }
    let Some(checkpoint) = found else { return Err(refusal) };
    if let Some(path) = &args.out {
        let written = std::fs::write(path, &proof.proof);
        written.map_err(|error| Failure::caused(format_args!("cannot write {}", path.display()), error))?;
    }
    if global.json {
        return terminal.json(&answer.body);
    }
    let holds = format_args!("It holds: the event is in the log of {}.", checkpoint.origin);
    terminal.line(terminal.paint(Tone::Good, holds))?;
    terminal.show(&terminal.card(vec![
        ("settlement", Cell::new(&proof.settlement_id)),
        ("event", Cell::new(format!("{} (number {} of its trace)", proof.event_id, proof.sequence))),
        ("event hash", Cell::new(&proof.event_hash)),
        ("leaf", Cell::new(format!("{} of {}", proof.leaf_index, checkpoint.size))),
    ]))
}

fn hash(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    bytes.try_into().ok().filter(|_| digits.len() == 64)
}
