//! A move as a whole, over both stores: one step at a time, each found from what both say. Whoever stops between two steps, or is stopped,
//! goes on by beginning again.

use std::collections::HashMap;

use crate::api::PlaceState;
use crate::auth::KeyId;
use crate::engine::Engine;
use crate::engine::access::Operated;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, Ulid};
use crate::ledger::{AccountId, Mode};
use crate::money::Money;
use crate::participant::Reference;
use crate::store::record::{AccountRecord, ClientRecord, ElsewhereRecord, KeyRecord, KeyStatus, MovementRecord};
use crate::store::{Lookup, Unique, typed};
use crate::time::Millis;

use super::arrive::{Arrive, Remember, TakeIn, Welcome};
use super::leave::{Leave, MoveOut, Stay, Switch, reference};
use super::pack::Packed;
use super::references::Cursor;
use super::{ClientPlace, MoveStep, Obstacle, Other};

/// How long nodes take to learn where a client is: they look every second.
const NOTICED: Millis = 5_000;

/// What a move is.
#[derive(Debug, Clone)]
pub struct RelocationOrder {
    /// The client.
    pub client: Ulid,
    /// The public address of the gateway that it leaves.
    pub from_url: String,
    /// The public address of the gateway to which it goes.
    pub to_url: String,
    /// Why, for the records of both.
    pub reason: String,
}

/// What a step did, or waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelocationStep {
    /// The client is marked as leaving: nothing new begins at the old gateway.
    Left,
    /// Nothing was done: the servers have so many milliseconds left to learn of the last step.
    Wait(Millis),
    /// The client is at the new gateway, and may not call there yet.
    Arrived,
    /// So many references and answers were copied.
    Remembered(usize),
    /// So much left the old gateway's ledger.
    MovedOut(Vec<Money>),
    /// So much came into the new gateway's ledger.
    TakenIn(Vec<Money>),
    /// Both were compared, and the client is at the new gateway from now on.
    Switched,
    /// The client may call at the new gateway.
    Welcomed,
    /// Nothing is left to do.
    Done,
}

/// The move of a client between two stores, each opened by an engine with its own master keys. Servers may run over both.
pub struct Relocation<'e> {
    from: &'e Engine,
    to: &'e Engine,
    order: RelocationOrder,
    cursor: Cursor,
    /// By this clock, when a time was first seen that is ahead of it.
    ahead: HashMap<Millis, Millis>,
}

/// The client at the old gateway, and where it is.
struct Places {
    client: ClientRecord,
    /// By the old gateway; `None` if it never moved.
    here: Option<PlaceState>,
    /// Its number at the new gateway, and where it is by that one; `None` if that one does not know it as somebody who moves.
    there: Option<(ClientNo, PlaceState)>,
}

impl<'e> Relocation<'e> {
    /// A move, begun or to be gone on with.
    ///
    /// # Errors
    /// `invalid_state` if both are the same gateway.
    pub fn new(from: &'e Engine, to: &'e Engine, order: RelocationOrder) -> Result<Self> {
        if from.gateway_identity() == to.gateway_identity() {
            return Err(Error::with(ErrorCode::InvalidState, "both stores are of the same gateway"));
        }
        Ok(Self { from, to, order, cursor: Cursor::begin(), ahead: HashMap::new() })
    }

    /// Where the client is by both, as of now.
    fn places(&self) -> Result<Places> {
        self.from.follow_setup()?;
        self.to.follow_setup()?;
        let client = self.from.client_with(self.order.client)?;
        let here = self.from.place_of(client.no);
        if let Some(place) = here.as_ref().filter(|place| matches!(place.state, PlaceState::Leaving | PlaceState::Moved)) {
            require_of_this_move(place, &self.to.gateway_identity(), &self.order.to_url)?;
        }
        let there: Option<ClientRecord> = typed(self.to.store.find(&Unique::ClientId(self.order.client))?)?;
        let there = there.and_then(|there| Some((there.no, self.to.place_of(there.no)?)));
        // Where it stayed, it was to go on to a third one.
        if let Some((_, place)) = there.as_ref().filter(|(_, place)| place.state != PlaceState::Stayed) {
            require_of_this_move(place, &self.from.gateway_identity(), &self.order.from_url)?;
        }
        let (here, there) = (here.map(|place| place.state), there.map(|(no, place)| (no, place.state)));
        Ok(Places { client, here, there })
    }

    /// Everything that stands in the way of a move that has not begun, or not reached the switch.
    ///
    /// # Errors
    /// `client_not_found`, and why a store cannot be read.
    pub fn obstacles(&self) -> Result<Vec<Obstacle>> {
        let Places { client, here, there } = self.places()?;
        if here == Some(PlaceState::Moved) {
            return Ok(Vec::new());
        }
        let mut found = self.from.obstacles_here(&client)?;
        if there.is_none() {
            found.extend(self.to.obstacles_there(&client, &self.from.keys_in_store(client.no)?)?);
        }
        Ok(found)
    }

    /// The next step.
    ///
    /// # Errors
    /// `invalid_state` if something stands in the way, and whatever a step refuses. What was done stays; the same call goes on.
    pub fn step(&mut self) -> Result<RelocationStep> {
        let Places { client, here, there } = self.places()?;
        match (here, there) {
            (None | Some(PlaceState::Stayed | PlaceState::Arrived), None) => self.leave(&client),
            (Some(PlaceState::Leaving), there) => self.before_the_switch(&client, there),
            (Some(PlaceState::Moved), Some((no, PlaceState::Arriving))) => self.welcome(no),
            (Some(PlaceState::Moved), Some((_, PlaceState::Arrived | PlaceState::Leaving | PlaceState::Moved | PlaceState::Stayed))) => {
                Ok(self.money(&client)?.unwrap_or(RelocationStep::Done))
            }
            (Some(PlaceState::Arriving), _) => Err(Error::new(ErrorCode::ClientMoving)),
            (Some(PlaceState::Moved), None) | (None | Some(PlaceState::Stayed | PlaceState::Arrived), Some(_)) => {
                Err(Error::with(ErrorCode::InvalidState, "the two stores disagree about the client: one was restored from a backup"))
            }
        }
    }

    /// Ends a move that has not reached the new gateway: the client stays at the old one.
    ///
    /// # Errors
    /// `invalid_state` once the new gateway has the client: from there, the move goes on.
    pub fn abort(&self) -> Result<()> {
        if self.places()?.there.is_some() {
            let said = "the new gateway has the client: from here on, the move can only be finished";
            return Err(Error::with(ErrorCode::InvalidState, said));
        }
        self.from.run(Operated(Stay { step: self.outbound() })).map(drop)
    }

    fn leave(&self, client: &ClientRecord) -> Result<RelocationStep> {
        self.require_nothing_open()?;
        self.from.run(Operated(Leave { step: self.outbound(), accounts: self.accounts(client)? }))?;
        Ok(RelocationStep::Left)
    }

    fn before_the_switch(&mut self, client: &ClientRecord, there: Option<(ClientNo, PlaceState)>) -> Result<RelocationStep> {
        if let Some(wait) = self.wait_for(self.from, client.no) {
            return Ok(wait);
        }
        // A node may have accepted something before it learned of the mark.
        self.require_nothing_open()?;
        let Some((no, _)) = there else {
            let packed = self.from.pack(self.order.client)?;
            self.to.run(Operated(Arrive { step: self.inbound(), packed }))?;
            return Ok(RelocationStep::Arrived);
        };
        if let Some(step) = self.remember(client, no)? {
            return Ok(step);
        }
        if let Some(step) = self.money(client)? {
            return Ok(step);
        }
        self.compare(client, no)?;
        self.from.run(Operated(Switch { step: self.outbound(), accounts: self.accounts(client)? }))?;
        Ok(RelocationStep::Switched)
    }

    /// Copies the next page of references; `None` if there is no other.
    fn remember(&mut self, client: &ClientRecord, no: ClientNo) -> Result<Option<RelocationStep>> {
        while self.cursor != Cursor::End {
            let (page, next) = self.from.page_of_used(client.no, &self.order.from_url, self.cursor.clone())?;
            let new = if page.len() > 0 { self.to.run(Remember { step: self.inbound(), no, page })? } else { 0 };
            self.cursor = next;
            if new > 0 {
                return Ok(Some(RelocationStep::Remembered(new)));
            }
        }
        Ok(None)
    }

    /// Takes what is available out of the old ledger, or what left it into the new one; `None` if nothing is left to move.
    fn money(&self, client: &ClientRecord) -> Result<Option<RelocationStep>> {
        // What left and did not arrive comes first.
        let moved = self.moved_out(client)?;
        let (_, taken) =
            if moved.is_empty() { (client.no, Vec::new()) } else { self.to.run(Operated(TakeIn { step: self.inbound(), moved }))? };
        if !taken.is_empty() {
            return Ok(Some(RelocationStep::TakenIn(taken)));
        }
        let accounts = self.from.accounts(client.no)?;
        let has_money = |it: &&AccountRecord| it.id.mode() == Mode::Live && it.totals.available() > Some(0);
        let accounts: Vec<AccountId> = accounts.iter().filter(has_money).map(|it| it.id).collect();
        if accounts.is_empty() {
            return Ok(None);
        }
        let (_, left) = self.from.run(Operated(MoveOut { step: self.outbound(), accounts }))?;
        Ok(Some(RelocationStep::MovedOut(left.iter().map(|movement| movement.moved().1).collect())))
    }

    /// What left the old ledger for the new one, by all runs so far.
    fn moved_out(&self, client: &ClientRecord) -> Result<Vec<(Reference, Money)>> {
        let mut moved = Vec::new();
        for account in self.accounts(client)?.into_iter().filter(|account| account.mode() == Mode::Live) {
            let Some(currency) = account.currency() else { continue };
            for n in 1.. {
                let text = reference(&self.to.gateway_identity(), currency, n);
                let found: Option<MovementRecord> = typed(self.from.store.find(&Unique::MovementReference(client.no, text))?)?;
                let Some(found) = found else { break };
                moved.push(found.moved());
            }
        }
        Ok(moved)
    }

    fn welcome(&mut self, no: ClientNo) -> Result<RelocationStep> {
        // Its terms, and that it came from elsewhere, must be known everywhere before its first call.
        if let Some(wait) = self.wait_for(self.to, no) {
            return Ok(wait);
        }
        self.to.run(Operated(Welcome { step: self.inbound() }))?;
        Ok(RelocationStep::Welcomed)
    }

    /// Requires that the new gateway has all of the client.
    fn compare(&self, client: &ClientRecord, no: ClientNo) -> Result<()> {
        let (here, there) = (self.from.pack(self.order.client)?, self.to.pack(self.order.client)?);
        let mut differ = differing(&here, &there);
        let mut cursor = Cursor::begin();
        while cursor != Cursor::End {
            let (page, next) = self.from.page_of_used(client.no, &self.order.from_url, cursor)?;
            cursor = next;
            let lookups: Vec<Lookup> = page.keys(no).map(Lookup::Get).collect();
            let found = self.to.store.look_up(&lookups)?;
            let kept: Vec<ElsewhereRecord> = found.iter().flatten().filter_map(|it| it.clone().try_into().ok()).collect();
            if found.iter().any(Vec::is_empty) || page.references(no).any(|wanted| !kept.contains(&wanted)) {
                differ.push("references");
                break;
            }
        }
        let moved: Vec<Money> = self.moved_out(client)?.into_iter().map(|(_, money)| money).collect();
        for account in self.to.accounts(no)?.iter().filter(|account| account.id.mode() == Mode::Live) {
            let sum = moved.iter().filter(|money| Some(money.currency()) == account.id.currency()).map(|money| money.minor()).sum::<i64>();
            if account.totals.ledger() != Some(sum) {
                differ.push("balances");
            }
        }
        if differ.is_empty() {
            return Ok(());
        }
        let said =
            format!("the two gateways differ about the client's {}: it stays where it is, and the move is not finished", differ.join(", "));
        Err(Error::with(ErrorCode::InvalidState, said))
    }

    fn require_nothing_open(&self) -> Result<()> {
        let found = self.obstacles()?;
        let Some(first) = found.first() else { return Ok(()) };
        let more = if found.len() > 1 { format!("; and {} more", found.len() - 1) } else { String::new() };
        Err(Error::with(ErrorCode::InvalidState, format!("{}{more}", first.message)))
    }

    /// How long the nodes of a gateway have left to learn where the client is.
    fn wait_for(&mut self, engine: &Engine, client: ClientNo) -> Option<RelocationStep> {
        let (now, since) = (engine.now(), engine.place_of(client)?.since);
        // By the clock of a machine that is ahead, it has not been yet.
        let base = if since > now { *self.ahead.entry(since).or_insert(now) } else { since };
        Some(NOTICED - (now - base)).filter(|left| *left > 0).map(RelocationStep::Wait)
    }

    fn accounts(&self, client: &ClientRecord) -> Result<Vec<AccountId>> {
        Ok(self.from.accounts(client.no)?.into_iter().map(|account| account.id).collect())
    }

    /// What a step at the old gateway names.
    fn outbound(&self) -> MoveStep {
        let other = Other { gateway: self.to.gateway_identity(), url: self.order.to_url.clone() };
        MoveStep { client: self.order.client, other, reason: self.order.reason.clone() }
    }

    /// What a step at the new gateway names.
    fn inbound(&self) -> MoveStep {
        let other = Other { gateway: self.from.gateway_identity(), url: self.order.from_url.clone() };
        MoveStep { client: self.order.client, other, reason: self.order.reason.clone() }
    }
}

/// Requires that a place is of a move between these two gateways, and that both were called the same before.
fn require_of_this_move(place: &ClientPlace, gateway: &str, url: &str) -> Result<()> {
    let ClientPlace { state, other, .. } = place;
    let said = if other.gateway != gateway {
        format!("the client is {} already, with another gateway: {}", state.as_str(), other.url)
    } else if other.url != url {
        format!("the move was begun with the address {}, and not {url}", other.url)
    } else {
        return Ok(());
    };
    Err(Error::with(ErrorCode::InvalidState, said))
}

/// In what the two differ that should be equal, in spite of other numbers and seals.
fn differing(here: &Packed, there: &Packed) -> Vec<&'static str> {
    let keys = |packed: &Packed| {
        let mut keys: Vec<_> = packed.keys.iter().map(key_of).collect();
        keys.sort();
        keys
    };
    let webhooks = |packed: &Packed| -> Vec<_> {
        let webhook = packed.endpoints.iter().map(|(it, secrets)| {
            let secrets: Vec<_> = secrets.iter().map(|(secret, opened)| (secret.n, secret.until, opened.to_vec())).collect();
            // Not whether it is enabled: failing deliveries may change that at any time.
            (it.id, it.mode, it.url.clone(), it.topics, it.description.clone(), secrets)
        });
        webhook.collect()
    };
    // As text: an amount has several forms that are equal.
    let terms = |packed: &Packed| packed.terms.as_ref().map(|terms| serde_json::to_string(terms).unwrap_or_default());
    let differs = [
        ("name", here.client.name != there.client.name || here.client.created_at != there.client.created_at),
        ("keys", keys(here) != keys(there)),
        ("webhook secret", here.webhook_secret != there.webhook_secret || here.secret_used != there.secret_used),
        ("webhooks", webhooks(here) != webhooks(there)),
        ("terms", terms(here) != terms(there)),
    ];
    differs.into_iter().filter_map(|(what, differs)| differs.then_some(what)).collect()
}

/// A key without its number.
fn key_of(key: &KeyRecord) -> (KeyId, KeyStatus, Mode, String, Option<String>) {
    (key.id, key.status, key.mode, key.scopes.to_string(), key.label.clone())
}
