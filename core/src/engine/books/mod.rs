//! Payments between two clients of the gateway, settled on its own books in the commit that creates them.
//!
//! Each of the two has a settlement of its own, with its own trace, and sees nothing of the other one. The payer's goes through the
//! provider `books` like any payment: held, attempted, posted. The payee's takes the money from there in the same commit, so the
//! provider's accounts are zero at every moment. A reversal goes the same way back.

mod pay;
mod take_back;

pub(crate) use pay::client_named;

use crate::engine::Engine;
use crate::engine::group::{Overlay, Writer};
use crate::engine::settlement::Change;
#[cfg(feature = "sandbox")]
use crate::error::Error;
use crate::error::Result;
use crate::ids::{ClientNo, Ulid};
use crate::ledger::Mode;
use crate::money::Money;
use crate::participant::Participant;
use crate::rail::{Rail, books};
use crate::route::ProviderSpec;
use crate::store::record::{ClientRecord, ReferenceKind, ReversalRecord, SettlementRecord};

/// What becomes of payments to other clients of the gateway. A trait, so that a program with one client does not contain them.
pub(crate) trait BetweenClients: Send + Sync {
    /// The provider that settles them, in each mode; `None` if nobody does.
    fn providers(&self) -> Option<[ProviderSpec; 2]>;
    /// The rail of that provider, if it is of this kind.
    fn rail(&self, kind: &str) -> Option<&'static dyn Rail>;
    /// Requires that the client is at this gateway, and that it used the reference of a new payment at no other.
    fn takes(&self, engine: &Engine, overlay: &Overlay<'_>, client: ClientNo, reference: &str) -> Result<()>;
    /// The client that is to be paid; `None` if the payment leaves the gateway.
    fn payee(&self, engine: &Engine, overlay: &mut Overlay<'_>, mode: Mode, to: &Participant, money: Money)
    -> Result<Option<ClientRecord>>;
    /// Settles an accepted payment, whose money is on hold, and returns it as stored.
    fn pay(
        &self,
        engine: &Engine,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        change: Change<'_>,
        parties: (Ulid, &ClientRecord),
    ) -> Result<SettlementRecord>;
    /// Carries out an accepted reversal of such a payment, or records why it failed. Returns both as stored.
    fn take_back(
        &self,
        engine: &Engine,
        overlay: &mut Overlay<'_>,
        change: Change<'_>,
        reversal: ReversalRecord,
    ) -> Result<(SettlementRecord, ReversalRecord)>;
}

/// Settles them.
pub(crate) struct OnBooks;

impl BetweenClients for OnBooks {
    fn providers(&self) -> Option<[ProviderSpec; 2]> {
        Some(books::providers())
    }

    fn rail(&self, kind: &str) -> Option<&'static dyn Rail> {
        (kind == books::Books.kind()).then_some(&books::Books)
    }

    fn takes(&self, engine: &Engine, overlay: &Overlay<'_>, client: ClientNo, reference: &str) -> Result<()> {
        // Every payment passes here: of a client that never moved, this is all.
        let Some(place) = engine.place_of(client) else { return Ok(()) };
        place.refusal().map_or(Ok(()), Err)?;
        engine.require_unused(overlay, client, ReferenceKind::Settlement, reference)
    }

    fn payee(
        &self,
        engine: &Engine,
        overlay: &mut Overlay<'_>,
        mode: Mode,
        to: &Participant,
        money: Money,
    ) -> Result<Option<ClientRecord>> {
        if to.namespace() != books::NAMESPACE {
            return Ok(None);
        }
        engine.payable_client(overlay, mode, to, money).map(Some)
    }

    fn pay(
        &self,
        engine: &Engine,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        change: Change<'_>,
        (payer, payee): (Ulid, &ClientRecord),
    ) -> Result<SettlementRecord> {
        engine.pay_client(overlay, writer, change, payer, payee)
    }

    fn take_back(
        &self,
        engine: &Engine,
        overlay: &mut Overlay<'_>,
        change: Change<'_>,
        reversal: ReversalRecord,
    ) -> Result<(SettlementRecord, ReversalRecord)> {
        engine.take_back(overlay, change, reversal)
    }
}

/// There are no other clients: whoever is paid is outside the program.
#[cfg(feature = "sandbox")]
pub(crate) struct OneClient;

#[cfg(feature = "sandbox")]
impl BetweenClients for OneClient {
    fn providers(&self) -> Option<[ProviderSpec; 2]> {
        None
    }

    fn rail(&self, _: &str) -> Option<&'static dyn Rail> {
        None
    }

    fn takes(&self, _: &Engine, _: &Overlay<'_>, _: ClientNo, _: &str) -> Result<()> {
        Ok(())
    }

    fn payee(&self, _: &Engine, _: &mut Overlay<'_>, _: Mode, _: &Participant, _: Money) -> Result<Option<ClientRecord>> {
        Ok(None)
    }

    fn pay(&self, _: &Engine, _: &mut Overlay<'_>, _: &mut Writer, _: Change<'_>, _: (Ulid, &ClientRecord)) -> Result<SettlementRecord> {
        Err(alone())
    }

    fn take_back(&self, _: &Engine, _: &mut Overlay<'_>, _: Change<'_>, _: ReversalRecord) -> Result<(SettlementRecord, ReversalRecord)> {
        Err(alone())
    }
}

#[cfg(feature = "sandbox")]
fn alone() -> Error {
    Error::internal("there is no other client")
}
