//! `railgate copy --client`: moves a client to another gateway.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use railgate::Engine;
use railgate::engine::{Obstacle, Relocation, RelocationOrder, RelocationStep};
use railgate::ids::Ulid;
use railgate::money::Money;
use serde_json::json;

use super::super::Global;
use super::super::clients::client_id;
use super::super::failure::{Done, Failure};
use super::super::stores::StorePlace;
use super::super::terminal::{Terminal, Tone, note};
use crate::master;

/// The longest address that a record of a move keeps.
const LONGEST_URL: usize = 200;

/// The options of a move.
#[derive(Debug, Clone, Args)]
pub(super) struct ClientMove {
    /// Move only this client, to the gateway of the other store
    #[arg(long, value_name = "CLIENT", value_parser = client_id, requires_all = ["from_url", "to_url", "reason"])]
    client: Option<Ulid>,
    /// The source's file of master keys [default: beside an SQLite store]
    #[arg(long, value_name = "FILE", requires = "client")]
    from_keys: Option<PathBuf>,
    /// The target's file of master keys [default: beside an SQLite store]
    #[arg(long, value_name = "FILE", requires = "client")]
    to_keys: Option<PathBuf>,
    /// The public address of the gateway that the client leaves
    #[arg(long, value_name = "URL", value_parser = address, requires = "client")]
    from_url: Option<String>,
    /// The public address of the gateway to which it goes
    #[arg(long, value_name = "URL", value_parser = address, requires = "client")]
    to_url: Option<String>,
    /// Why, for the records of both gateways
    #[arg(long, value_name = "TEXT", requires = "client")]
    reason: Option<String>,
    /// Let the client stay: possible until the other gateway has it
    #[arg(long, requires = "client")]
    abort: bool,
}

/// A move that was asked for.
pub(super) struct Asked {
    order: RelocationOrder,
    from_keys: Option<PathBuf>,
    to_keys: Option<PathBuf>,
    abort: bool,
}

impl ClientMove {
    /// The move; `None` for a copy of everything.
    pub(super) fn order(self) -> Done<Option<Asked>> {
        let Self { client: Some(client), from_keys, to_keys, from_url: Some(from_url), to_url: Some(to_url), reason, abort } = self else {
            return Ok(None);
        };
        if from_url == to_url {
            return Err(Failure::usage("both gateways have the same address: a client could not tell them apart"));
        }
        let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty() && reason.chars().count() <= 500);
        let reason = reason.ok_or_else(|| Failure::usage("--reason must have 1 to 500 characters"))?;
        Ok(Some(Asked { order: RelocationOrder { client, from_url, to_url, reason }, from_keys, to_keys, abort }))
    }
}

/// A public address, without a slash at its end.
fn address(text: &str) -> Result<String, String> {
    let url = text.trim_end_matches('/');
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_fine = host.is_some_and(|host| !host.is_empty()) && url.len() <= LONGEST_URL && url.bytes().all(|byte| byte.is_ascii_graphic());
    if is_fine { Ok(url.to_owned()) } else { Err("an address is https:// and the name of a host".to_owned()) }
}

pub(super) fn run(asked: &Asked, (from, to): (&StorePlace, &StorePlace), global: &Global, terminal: &Terminal) -> Done {
    let [here, there] = [(from, &asked.from_keys), (to, &asked.to_keys)].map(|(place, keys)| engine(place, keys.as_ref()));
    let (here, there) = (here?, there?);
    let mut relocation = Relocation::new(&here, &there, asked.order.clone())?;
    let client = format!("cli_{}", asked.order.client);
    if asked.abort {
        relocation.abort()?;
        if global.json {
            return terminal.json(json!({"client_id": client, "done": "stayed"}).to_string().as_bytes());
        }
        return terminal.line(format_args!("{} {client} stays where it is", terminal.paint(Tone::Good, "✓")));
    }
    let obstacles = relocation.obstacles()?;
    if !obstacles.is_empty() {
        return Err(in_the_way(&client, &obstacles));
    }
    let mut steps = Vec::new();
    loop {
        let step = relocation.step().map_err(|error| Failure::from(error).hint("what was done stays done: the same command goes on"))?;
        match &step {
            RelocationStep::Done => break,
            RelocationStep::Wait(ms) => {
                note("waiting until all servers have noticed");
                sleep(Duration::from_millis(u64::try_from(*ms).unwrap_or_default()));
            }
            done => {
                let said = said(done, &asked.order);
                if !global.json {
                    terminal.line(format_args!("{} {said}", terminal.paint(Tone::Good, "✓")))?;
                }
                steps.push(said);
            }
        }
    }
    if global.json {
        let url = &asked.order.to_url;
        return terminal.json(json!({"client_id": client, "done": "moved", "url": url, "steps": steps}).to_string().as_bytes());
    }
    terminal.line(format_args!(
        "{client} is at {} now. Tell its owner the new address: its keys and webhooks stay as they are.",
        asked.order.to_url
    ))
}

/// An engine over a store, with its master keys.
fn engine(place: &StorePlace, keys: Option<&PathBuf>) -> Done<Engine> {
    let path = match (keys, place) {
        (Some(path), _) => path.clone(),
        (None, StorePlace::File(path)) => master::beside(path),
        (None, StorePlace::Database(_)) => {
            return Err(Failure::usage(format!("no file of master keys is named for {place}")).hint("--from-keys FILE, --to-keys FILE"));
        }
    };
    let keys = master::load(&path).map_err(|error| Failure::caused("the master keys cannot be read", error))?;
    place.engine(Some(Arc::new(keys)))
}

fn in_the_way(client: &str, obstacles: &[Obstacle]) -> Failure {
    let failure = Failure::new(format!("{client} cannot move yet"));
    let failure = obstacles.iter().fold(failure, |failure, obstacle| failure.detail(obstacle.message.clone()));
    failure.hint("nothing was changed: run the same command again when it is at rest")
}

fn said(step: &RelocationStep, order: &RelocationOrder) -> String {
    let amounts = |money: &[Money]| {
        let all: Vec<String> = money.iter().map(|money| format!("{} {}", money.decimal(), money.currency())).collect();
        all.join(", ")
    };
    match step {
        RelocationStep::Left => format!("nothing new begins at {}", order.from_url),
        RelocationStep::Wait(_) | RelocationStep::Done => String::new(),
        RelocationStep::Arrived => "keys, webhooks and terms are copied".to_owned(),
        RelocationStep::Remembered(count) => format!("{count} references and answers are copied"),
        RelocationStep::MovedOut(money) => format!("{} left {}", amounts(money), order.from_url),
        RelocationStep::TakenIn(money) => format!("{} arrived at {}", amounts(money), order.to_url),
        RelocationStep::Switched => "both gateways were compared, and the client has moved".to_owned(),
        RelocationStep::Welcomed => format!("the client may call at {}", order.to_url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_a_host() {
        assert_eq!(address("https://b.pay.example/").unwrap(), "https://b.pay.example");
        for wrong in ["", "https://", "b.pay.example", "ftp://b.pay.example", "https://b pay"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
