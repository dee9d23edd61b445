//! Moving a client to another gateway, each of which has a store of its own: a cell.
//!
//! The gateway that the client leaves stays the archive: what was done there is read, and reversed, there. Nothing new begins there, and
//! nothing begins at the other one before, so that at no moment the client pays at both. Where a client is, is a row of the
//! configuration: every node follows those rows, and the rows of before stay. [`Relocation`] moves a client in steps of one commit each.

mod arrive;
mod leave;
mod obstacles;
mod pack;
mod references;
mod relocate;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::api::{ClientPlaceView, PlaceState};
use crate::engine::Engine;
use crate::engine::group::{Decision, Deed, Overlay, Prefetch};
use crate::engine::setup::Rows;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo, ProviderNo, Ulid};
use crate::store::record::{AuditAction, ClientRecord, ElsewhereRecord, Key, ReferenceKind, SetupRecord, SetupSubject};
use crate::store::{Lookup, Unique};
use crate::time::{Millis, rfc3339};
use crate::trace::hex;

pub use obstacles::Obstacle;
pub use relocate::{Relocation, RelocationOrder, RelocationStep};

/// The other gateway of a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Other {
    /// The identity of its store.
    pub(crate) gateway: String,
    /// Its public address.
    pub(crate) url: String,
}

/// Where a client is, as a row of the configuration says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Document {
    state: PlaceState,
    #[serde(flatten)]
    other: Other,
}

/// Where a client is, if it ever moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientPlace {
    pub(crate) state: PlaceState,
    pub(crate) other: Other,
    /// When it came to be so.
    pub(crate) since: Millis,
    reason: Option<String>,
}

/// What a client that moves to another gateway may still have done at the one that it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stays {
    /// Nothing of this kind: it would begin something new.
    No,
    /// This, once it has moved: it ends what was begun here.
    Afterwards,
    /// This at any time: it is needed to read, or decides by itself.
    Always,
}

impl ClientPlace {
    /// What a row says, if it is about the place of a client.
    pub(crate) fn of(row: &SetupRecord) -> Result<Option<(ClientNo, Self)>> {
        let (SetupSubject::Place, Some(client)) = (row.subject, row.client) else { return Ok(None) };
        let Document { state, other } = serde_json::from_str(&row.document)
            .map_err(|_| Error::internal(format!("revision {} of the configuration does not say where a client is", row.revision)))?;
        Ok(Some((client, Self { state, other, since: row.at, reason: row.reason.clone() })))
    }

    /// The refusal of whatever the client would begin; `None` if it is here. Whether it has arrived is decided where it is let in: until
    /// then it is suspended, and no node that hears of it late keeps it waiting.
    pub(crate) fn refusal(&self) -> Option<Error> {
        match self.state {
            PlaceState::Leaving => Some(Error::new(ErrorCode::ClientMoving)),
            PlaceState::Moved => {
                let said = format!("the client is at {} now; what it did here stays here", self.other.url);
                Some(Error::with(ErrorCode::ClientMoved, said).at_gateway(self.other.url.clone()))
            }
            PlaceState::Stayed | PlaceState::Arriving | PlaceState::Arrived => None,
        }
    }

    /// The refusal of whatever an operator would change; `None` if the client is here and at rest.
    pub(crate) fn refusal_to_operators(&self) -> Option<Error> {
        if self.state == PlaceState::Arriving { Some(Error::new(ErrorCode::ClientMoving)) } else { self.refusal() }
    }

    /// The view of operators.
    pub(crate) fn view(&self) -> ClientPlaceView {
        let Other { gateway, url } = self.other.clone();
        ClientPlaceView { state: self.state, url, gateway, since: rfc3339(self.since), reason: self.reason.clone() }
    }
}

impl Engine {
    /// Where a client is; `None` if it never moved. Costs no read.
    pub(crate) fn place_of(&self, client: ClientNo) -> Option<Arc<ClientPlace>> {
        self.setup_now().places.get(&client).cloned()
    }

    /// Where a client is, if it moves to another gateway or came from one. Costs no read.
    pub fn client_place(&self, client: ClientNo) -> Option<ClientPlaceView> {
        self.place_of(client).map(|place| place.view())
    }

    /// Requires that the client is here.
    ///
    /// # Errors
    /// `client_moving`, `client_moved`.
    pub(crate) fn require_here(&self, client: ClientNo) -> Result<()> {
        self.place_of(client).and_then(|place| place.refusal()).map_or(Ok(()), Err)
    }

    /// Requires, for an operator's act, that the client is here, and not on its way: the act might reach one gateway only.
    ///
    /// # Errors
    /// `client_moving`, `client_moved`.
    pub(crate) fn require_settled(&self, client: ClientNo) -> Result<()> {
        self.place_of(client).and_then(|place| place.refusal_to_operators()).map_or(Ok(()), Err)
    }

    /// [`Engine::require_settled`], for what makes sense also once the client has moved.
    ///
    /// # Errors
    /// `client_moving`.
    pub(crate) fn require_at_rest(&self, client: ClientNo) -> Result<()> {
        self.require_settled(client).or_else(|refusal| if refusal.code == ErrorCode::ClientMoved { Ok(()) } else { Err(refusal) })
    }

    /// Whether the client is on its way here: only the move itself lets it in.
    pub(crate) fn is_arriving(&self, client: ClientNo) -> bool {
        self.place_of(client).is_some_and(|place| place.state == PlaceState::Arriving)
    }

    /// Requires that a client may still have this done here.
    ///
    /// # Errors
    /// `client_moving`, `client_moved`.
    pub(crate) fn may_still(&self, client: ClientNo, stays: Stays) -> Result<()> {
        match stays {
            Stays::No => self.require_here(client),
            Stays::Afterwards => match self.require_here(client) {
                Err(refusal) if refusal.code != ErrorCode::ClientMoved => Err(refusal),
                Ok(()) | Err(_) => Ok(()),
            },
            Stays::Always => Ok(()),
        }
    }

    /// Requires that the reference was not used for the client at another gateway, before it came here.
    ///
    /// # Errors
    /// `reference_elsewhere`.
    pub(crate) fn require_unused(&self, overlay: &Overlay<'_>, client: ClientNo, kind: ReferenceKind, reference: &str) -> Result<()> {
        let Some(key) = self.elsewhere_key(client, kind, reference) else { return Ok(()) };
        let Some(ElsewhereRecord { id, url, .. }) = overlay.get(&key)? else { return Ok(()) };
        let what = match kind {
            ReferenceKind::Settlement | ReferenceKind::Reversal => id,
            ReferenceKind::Movement => format!("a {id}"),
        };
        let said = format!("the reference is that of {what} at {url}, where the client was before");
        Err(Error::with(ErrorCode::ReferenceElsewhere, said).at_gateway(url))
    }

    /// Where it stands that another gateway knows a reference; `None` if no other can.
    fn elsewhere_key(&self, client: ClientNo, kind: ReferenceKind, reference: &str) -> Option<Key> {
        self.place_of(client).map(|_| Key::Elsewhere((client, kind, reference.to_owned())))
    }

    /// What identifies this engine's store, in 16 hexadecimal digits: unlike its key of ids, it may be told.
    pub fn gateway_identity(&self) -> String {
        let digest = Sha256::new().chain_update(b"railgate gateway\n").chain_update(self.id_key.0).finalize();
        hex(&digest[..8])
    }
}

impl Prefetch<'_> {
    /// Whether another gateway knows the reference, for a client that came from one.
    pub(crate) fn elsewhere(&mut self, client: ClientNo, kind: ReferenceKind, reference: &str) {
        let key = self.engine.elsewhere_key(client, kind, reference);
        self.add(key.map(Lookup::Get));
    }
}

/// Where a client is by the rows so far.
pub(crate) fn place_in(rows: &Rows, client: ClientNo) -> Result<Option<ClientPlace>> {
    let row = rows.last(|row| is_of(row, client));
    Ok(row.map(ClientPlace::of).transpose()?.flatten().map(|(_, place)| place))
}

/// The client, and where it is by the rows so far.
fn client_and_place(overlay: &Overlay<'_>, rows: &Rows, id: Ulid) -> Result<(ClientRecord, Option<ClientPlace>)> {
    let client: ClientRecord = overlay.find(&Unique::ClientId(id))?.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))?;
    let place = place_in(rows, client.no)?;
    Ok((client, place))
}

fn is_of(row: &SetupRecord, client: ClientNo) -> bool {
    (row.subject, row.client) == (SetupSubject::Place, Some(client))
}

/// Writes where a client is from now on.
fn put_place(d: &mut Decision<'_, '_>, rows: &mut Rows, client: ClientNo, state: PlaceState, step: &MoveStep) -> Result<()> {
    let document = Document { state, other: step.other.clone() };
    let document = serde_json::to_string(&document).map_err(Error::internal)?;
    let (at, reason) = (d.overlay.now, Some(step.reason.clone()).filter(|reason| !reason.is_empty()));
    let row = |revision| {
        let (subject, provider, secrets) = (SetupSubject::Place, ProviderNo(0), Vec::new());
        Ok(SetupRecord { revision, subject, provider, at, document, secrets, reason, client: Some(client) })
    };
    rows.append(d.overlay, None, |row| is_of(row, client), row).map(drop)
}

/// What each step of a move names.
#[derive(Debug, Clone)]
pub(crate) struct MoveStep {
    /// The client's id.
    pub(crate) client: Ulid,
    /// The other gateway.
    pub(crate) other: Other,
    /// Why, for the record.
    pub(crate) reason: String,
}

impl MoveStep {
    /// What the audit trail says of a step.
    fn deed(&self, step: &'static str, done: Option<ClientNo>) -> Deed {
        let Self { client, other, reason } = self;
        let detail = serde_json::json!({"step": step, "gateway": other.gateway, "url": other.url, "reason": reason}).to_string();
        let deed = Deed::new(AuditAction::MoveClient).name(format!("cli_{client}")).detail(detail);
        match done {
            Some(no) => deed.target(no.0).of(no, KeyNo(0)),
            None => deed,
        }
    }

    /// Requires that the client is in one of these states, on a move between here and the other gateway.
    fn require(&self, place: Option<&ClientPlace>, states: &[PlaceState]) -> Result<PlaceState> {
        match place {
            Some(place) if states.contains(&place.state) && place.other.gateway == self.other.gateway => Ok(place.state),
            Some(place) => {
                let said = format!("the client is {} ({}): this step does not follow", place.state.as_str(), place.other.url);
                Err(Error::with(ErrorCode::InvalidState, said))
            }
            None => Err(Error::with(ErrorCode::InvalidState, "the client is not moving")),
        }
    }
}
