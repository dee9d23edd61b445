//! The faults that a client ordered for the simulated operator of its sandbox, and for the way to it.

use sha2::{Digest as _, Sha256};

use crate::api::{Action, Caller, FaultsView, RailCall, Rate};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay, Prefetch};
use crate::error::Result;
use crate::ids::ClientNo;
use crate::store::record::{AuditAction, Key, SimulatorRecord};
use crate::store::{Lookup, Write, typed};
use crate::time::Millis;

/// Replaces the faults of a client's sandbox.
#[derive(Debug, Clone)]
pub struct SetFaults {
    /// The client.
    pub caller: Caller,
    /// The faults from now on.
    pub faults: FaultsView,
}

impl Command for SetFaults {
    type Output = FaultsView;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<FaultsView> {
        set(d.overlay, self.caller.client, self.faults)?;
        Ok(self.faults)
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([Lookup::Get(Key::Simulator(self.caller.client))]);
    }

    fn deed(&self, _: Option<&FaultsView>) -> Option<Deed> {
        Some(Deed::new(AuditAction::SetFaults))
    }
}

/// Stores the faults of a client's sandbox.
pub(super) fn set(overlay: &mut Overlay<'_>, client: ClientNo, faults: FaultsView) -> Result<()> {
    let known: Option<SimulatorRecord> = overlay.get(&Key::Simulator(client))?;
    let FaultsView { rate, latency_ms, drop_answer_rate, seed } = faults;
    let record = SimulatorRecord {
        client,
        rate: rate.millionths(),
        latency_ms: Millis::try_from(latency_ms).unwrap_or(Millis::MAX),
        drop_answer_rate: drop_answer_rate.millionths(),
        seed,
    };
    overlay.write(if known.is_some() { Write::Replace(record.into()) } else { Write::Insert(record.into()) });
    Ok(())
}

impl Engine {
    /// The faults of a client's sandbox.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn faults(&self, caller: &Caller) -> Result<FaultsView> {
        let found: Option<SimulatorRecord> = typed(self.store.get(&Key::Simulator(caller.client))?)?;
        Ok(found.map(|record| record.view()).unwrap_or_default())
    }
}

/// What goes wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fault {
    /// The call does not reach the operator.
    pub(crate) not_sent: bool,
    /// Its answer does not come back.
    pub(crate) lost: bool,
    /// How long the answer takes.
    pub(crate) latency_ms: Millis,
}

impl SimulatorRecord {
    fn view(&self) -> FaultsView {
        let share = |millionths| Rate::of_millionths(millionths).unwrap_or_default();
        FaultsView {
            rate: share(self.rate),
            latency_ms: u64::try_from(self.latency_ms).unwrap_or(0),
            drop_answer_rate: share(self.drop_answer_rate),
            seed: self.seed,
        }
    }

    /// What goes wrong with a call: a function of the seed and the call.
    pub(crate) fn fault(&self, call: &RailCall) -> Fault {
        let action = match call.action {
            Action::Submit => 1u8,
            Action::Inquire => 2,
            Action::Reverse => 3,
            Action::InquireReversal => 4,
        };
        let digest = Sha256::new().chain_update(self.seed.to_be_bytes()).chain_update([action]).chain_update(call.tries.to_be_bytes());
        let digest: [u8; 32] = digest.chain_update(&call.rail_key).finalize().into();
        let (draws, _) = digest.as_chunks::<4>();
        // The share of all numbers below the share of a million.
        let hit = |draw: [u8; 4], share: u32| (u64::from(u32::from_be_bytes(draw)) * 1_000_000) >> 32 < u64::from(share);
        let latency_ms = if matches!(call.action, Action::Submit | Action::Reverse) { self.latency_ms } else { 0 };
        Fault { not_sent: hit(draws[0], self.rate), lost: hit(draws[1], self.drop_answer_rate), latency_ms }
    }
}
