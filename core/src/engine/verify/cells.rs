//! Verifies what is known of clients that move to another gateway, or came from one.

use std::collections::HashSet;

use crate::api::PlaceState;
use crate::engine::cell::ClientPlace;
use crate::error::Result;
use crate::ids::ClientNo;
use crate::participant::Reference;
use crate::store::record::{ClientRecord, ElsewhereRecord, Key, RecordKind, ReferenceKind, SetupRecord};
use crate::store::{Lookup, Scan, Store, Unique, typed, typed_all};

use super::{PAGE, VerifyReport};

/// Verifies where clients are, and that what came with them is used here by nobody else.
pub(super) fn cells(store: &dyn Store, report: &mut VerifyReport) -> Result<()> {
    let came = places(store, report)?;
    let mut after = Key::Elsewhere((ClientNo(0), ReferenceKind::Settlement, String::new()));
    loop {
        let page: Vec<ElsewhereRecord> = typed_all(store.scan(&Scan::after(&after, PAGE))?)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Key::Elsewhere((last.client, last.kind, last.reference.clone()));
        let here: Vec<Lookup> = page.iter().map(|record| Lookup::Find(used_here(record))).collect();
        for (record, found) in page.iter().zip(store.look_up(&here)?) {
            one_reference(&came, record, !found.is_empty(), report);
        }
    }
}

/// The clients that came from another gateway.
fn places(store: &dyn Store, report: &mut VerifyReport) -> Result<HashSet<ClientNo>> {
    let rows: Vec<SetupRecord> = typed_all(store.scan(&Scan::all(RecordKind::Setup, usize::MAX))?)?;
    let mut came = HashSet::new();
    for row in &rows {
        let what = || format!("revision {} of the configuration", row.revision);
        match ClientPlace::of(row) {
            Err(_) => report.problem(what(), "place_unreadable", "it does not say where a client is"),
            Ok(None) => {}
            Ok(Some((client, place))) => {
                if typed::<ClientRecord>(store.get(&Key::Client(client))?)?.is_none() {
                    report.problem(what(), "place_without_client", format!("its client, number {}, is missing", client.0));
                }
                match place.state {
                    PlaceState::Arriving | PlaceState::Arrived => {
                        came.insert(client);
                    }
                    PlaceState::Leaving | PlaceState::Moved | PlaceState::Stayed => {}
                }
            }
        }
    }
    Ok(came)
}

fn one_reference(came: &HashSet<ClientNo>, record: &ElsewhereRecord, is_here: bool, report: &mut VerifyReport) {
    let what = || format!("{} reference {} of client number {}", record.kind.as_str(), record.reference, record.client.0);
    if !came.contains(&record.client) {
        report.problem(what(), "reference_without_move", "its client came from no other gateway");
    }
    if is_here {
        report.problem(what(), "reference_twice", format!("it was used at {} already, for {}", record.url, record.id));
    }
}

/// What would have the same reference here.
fn used_here(record: &ElsewhereRecord) -> Unique {
    match record.kind {
        ReferenceKind::Settlement => Unique::SettlementReference(record.client, Reference::from_stored(record.reference.clone())),
        ReferenceKind::Reversal => Unique::ReversalReference(record.client, record.reference.clone()),
        ReferenceKind::Movement => Unique::MovementReference(record.client, record.reference.clone()),
    }
}
