//! Verifies payments between two clients: the settlements of both agree, and nothing stays with the provider between them.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::ids::{ProviderNo, SettlementNo};
use crate::ledger::{AccountId, Owner, Totals};
use crate::lifecycle::Direction;
use crate::rail::books;
use crate::store::record::{ClientRecord, Key, OtherSide, ProviderRecord, RecordKind, SettlementRecord};
use crate::store::{Scan, Store, typed, typed_all};

use super::{Findings, VerifyReport};

/// The provider between clients, if the store has one.
fn books(store: &dyn Store) -> Result<Option<ProviderNo>> {
    let all: Vec<ProviderRecord> = typed_all(store.scan(&Scan::all(RecordKind::Provider, usize::MAX))?)?;
    Ok(all.into_iter().find(|provider| provider.id == books::ID).map(|provider| provider.no))
}

/// Verifies that all that payers pay is with payees: the provider's accounts are zero.
pub(super) fn balanced(store: &dyn Store, report: &mut VerifyReport, stored: &BTreeMap<AccountId, Totals>) -> Result<()> {
    let Some(books) = books(store)? else { return Ok(()) };
    for (id, totals) in stored.iter().filter(|(id, _)| id.owner() == Owner::Provider(books)) {
        if (totals.ledger(), totals.debits_pending, totals.credits_pending) != (Some(0), 0, 0) {
            let what = format!("books {} {}", id.currency().map_or("?", |currency| currency.code()), id.mode().as_str());
            report.problem(what, "books_not_zero", format!("something stays between the clients: {totals:?}"));
        }
    }
    Ok(())
}

/// Verifies that the other client's settlement exists and agrees with this one.
pub(super) fn check_pair(store: &dyn Store, record: &SettlementRecord, problems: &mut Findings) -> Result<()> {
    let Some(side) = record.other_side() else {
        if record.direction() == Direction::Incoming {
            problems.push(("pair_differs", "it is incoming, but names no payer".to_owned()));
        }
        return Ok(());
    };
    let Some(other) = typed::<SettlementRecord>(store.get(&Key::Settlement(SettlementNo(side.settlement)))?)? else {
        problems.push(("pair_missing", "the other client's settlement of the payment is missing".to_owned()));
        return Ok(());
    };
    let (incoming, outgoing) = match record.direction() {
        Direction::Incoming => (record, &other),
        Direction::Outgoing => (&other, record),
    };
    let payer: Option<ClientRecord> = typed(store.get(&Key::Client(outgoing.client))?)?;
    let from = payer.map(|payer| format!("participant:cli_{}", payer.id));
    let names = |one: &SettlementRecord, other: &SettlementRecord, from: Option<String>| {
        let side = OtherSide { settlement: other.no.0, client: other.client.0, from };
        one.other_side() == Some(&side)
    };
    let named = names(incoming, outgoing, from) && names(outgoing, incoming, None);
    let terms = |it: &SettlementRecord| (it.amount, it.currency, it.mode, it.provider, it.to.clone());
    if !named || incoming.direction() == outgoing.direction() || terms(incoming) != terms(outgoing) {
        problems.push(("pair_differs", "the settlements of the two clients are not about the same payment".to_owned()));
    }
    if incoming.reversed != outgoing.reversed {
        let message = format!("{} minor units went back to the payer, and {} from the payee", outgoing.reversed, incoming.reversed);
        problems.push(("pair_differs", message));
    }
    Ok(())
}
