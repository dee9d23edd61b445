//! Removing clients that enrolled and never used what they got.

use crate::engine::Engine;
use crate::engine::group::Overlay;
use crate::error::Result;
use crate::ids::{ClientNo, KeyNo};
use crate::ledger::Mode;
use crate::store::record::{
    AccountRecord, AllowanceRecord, ClientRecord, EndpointRecord, EndpointStatus, Key, KeyRecord, KeyStatus, RecordKind, SimulatorRecord,
};
use crate::store::{Scan, Write, typed, typed_all};
use crate::time::Millis;

/// How long a sandbox client may stay without a payment.
const UNUSED: Millis = 30 * 86_400_000;
/// How long a client is refused before it is removed: every call that was admitted before has ended by then, on every node.
const GRACE: Millis = 600_000;
/// How many clients are considered at once. Each costs a few reads, and everybody waits meanwhile.
const AT_ONCE: usize = 200;

impl Engine {
    /// Removes sandbox clients that have not used their money for thirty days, with their keys and webhooks, and returns the number
    /// of records. Nothing in the ledger names such a client: its money is only a row that is removed here. What stays is the audit
    /// trail of what it did. A client with a live key, and one that an operator suspended, is kept.
    ///
    /// One call suspends such a client, a later one removes it. A payment changes the same row as the first call, so a client that
    /// pays at that very moment is not suspended, or its payment is refused.
    pub(crate) fn expire_clients(&self, overlay: &mut Overlay<'_>) -> Result<usize> {
        let unused = Scan::allowances_before(overlay.now - UNUSED, AT_ONCE);
        let unused: Vec<AllowanceRecord> = typed_all(overlay.store.scan(&unused)?)?;
        let mut count = 0;
        if unused.is_empty() {
            return Ok(count);
        }
        // The records with the highest numbers stay, so that nobody else ever gets these numbers.
        let last_client: Option<ClientRecord> = typed(overlay.store.scan(&Scan::last(RecordKind::Client))?.pop())?;
        let last_key: Option<KeyRecord> = typed(overlay.store.scan(&Scan::last(RecordKind::Key))?.pop())?;
        let (last_client, last_key) = (last_client.map(|client| client.no), last_key.map(|key| key.no));
        for allowance in unused {
            let leaving = allowance.is_leaving();
            if overlay.touched(&Key::Allowance(allowance.client)) || leaving && overlay.now + allowance.since < GRACE {
                continue;
            }
            let Some(client) = overlay.get::<ClientRecord>(&Key::Client(allowance.client))? else { continue };
            let keys = self.keys_of(overlay, client.no)?;
            let last = last_client == Some(client.no) || keys.iter().any(|key| last_key == Some(key.no));
            let kept = last || self.is_in_use(overlay, client.no, &keys)?;
            match (leaving, client.suspended) {
                (true, true) if !kept => count += self.remove_client(overlay, client, keys.iter().map(|key| key.no))?,
                (false, false) if !kept => {
                    overlay.write(allowance.changed(-overlay.now));
                    suspend(overlay, client, true);
                }
                // It was kept for another reason, or an operator has decided.
                (_, suspended) => {
                    overlay.write(allowance.changed(overlay.now));
                    if leaving && suspended {
                        suspend(overlay, client, false);
                    }
                }
            }
        }
        Ok(count)
    }

    /// Whether something is known of the client that its allowance does not tell.
    fn is_in_use(&self, overlay: &Overlay<'_>, client: ClientNo, keys: &[KeyRecord]) -> Result<bool> {
        if keys.iter().any(|key| key.mode == Mode::Live && key.status != KeyStatus::Revoked) {
            return Ok(true);
        }
        // Whoever has end users is about to be used.
        for mode in [Mode::Sandbox, Mode::Live] {
            if !overlay.store.scan(&Scan::users_of(client, mode, "", 1))?.is_empty() {
                return Ok(true);
            }
        }
        // A node of the previous release funds accounts without an allowance.
        let accounts: Vec<AccountRecord> = typed_all(overlay.store.scan(&Scan::accounts_of(client))?)?;
        Ok(!accounts.is_empty())
    }

    fn remove_client(&self, overlay: &mut Overlay<'_>, record: ClientRecord, keys: impl Iterator<Item = KeyNo>) -> Result<usize> {
        let (client, read, mut count) = (record.no, record.version, 0);
        // What an operator changes meanwhile is a conflict.
        overlay.update(ClientRecord { version: read.next(), ..record }, read);
        for mode in [Mode::Sandbox, Mode::Live] {
            let endpoints: Vec<EndpointRecord> = typed_all(overlay.store.scan(&Scan::endpoints_of(client, mode))?)?;
            for endpoint in endpoints {
                self.stop_queue(overlay, endpoint.no)?;
                self.write_endpoint(overlay, EndpointRecord { status: EndpointStatus::Removed, ..endpoint });
            }
        }
        // Its last tokens are of no use without their key, and are removed a day after they expire.
        for key in [Key::Allowance(client), Key::Client(client)].into_iter().chain(keys.map(Key::Key)) {
            overlay.write(Write::Delete(key));
            count += 1;
        }
        if overlay.get::<SimulatorRecord>(&Key::Simulator(client))?.is_some() {
            overlay.write(Write::Delete(Key::Simulator(client)));
        }
        // Its alarm rings in vain.
        if overlay.clock(client)?.is_some() {
            overlay.write(Write::Delete(Key::Clock(client)));
        }
        Ok(count)
    }
}

fn suspend(overlay: &mut Overlay<'_>, client: ClientRecord, suspended: bool) {
    let read = client.version;
    overlay.update(ClientRecord { suspended, version: read.next(), ..client }, read);
}
