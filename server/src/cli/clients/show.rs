//! `railgate clients show`: everything about one client.

use comfy_table::Cell;
use railgate::Error;
use railgate::api::{ClientDetailView, ClientPlaceView, PlaceState};

use super::OnClient;
use crate::cli::Global;
use crate::cli::failure::{Done, Failure};
use crate::cli::render::short_time;
use crate::cli::terminal::{Terminal, Tone};

pub(super) const EXAMPLES: &str = "\
Examples:
  railgate clients show cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB
  railgate clients show cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB --json";

pub(super) fn run(on: &OnClient, global: &Global, terminal: &Terminal) -> Done {
    let place = on.store.place()?;
    let shown = place.engine(None)?.client_detail(on.client);
    let shown = shown.map_err(|error| Failure::from(error).hint(format!("list the clients: railgate clients list --store {place}")))?;
    if global.json {
        return terminal.json(&serde_json::to_vec(&shown).map_err(Error::internal)?);
    }
    let ClientDetailView { client, balances, place, .. } = &shown;
    let mut rows = vec![
        ("client", Tone::Strong.cell(&client.client_id)),
        ("name", Cell::new(&client.name)),
        ("since", Cell::new(short_time(&client.created_at))),
        ("state", if client.suspended { Tone::Bad.cell("suspended") } else { Tone::Good.cell("active") }),
        ("keys", Cell::new(format!("{} sandbox, {} live, {} pending", client.sandbox_keys, client.live_keys, client.pending_keys))),
    ];
    rows.extend(place.as_ref().map(|place| ("place", where_it_is(place))));
    rows.extend(balances.iter().map(|it| ("live balance", Cell::new(format!("{} {} available", it.available.as_str(), it.currency)))));
    terminal.show(&terminal.card(rows))
}

fn where_it_is(place: &ClientPlaceView) -> Cell {
    let ClientPlaceView { state, url, since, .. } = place;
    let (tone, said) = match state {
        PlaceState::Leaving => (Tone::Warn, "is leaving for"),
        PlaceState::Moved => (Tone::Warn, "moved to"),
        PlaceState::Stayed => (Tone::Plain, "stayed, and did not move to"),
        PlaceState::Arriving => (Tone::Warn, "is arriving from"),
        PlaceState::Arrived => (Tone::Plain, "came from"),
    };
    tone.cell(format!("{said} {url}, {}", short_time(since)))
}
