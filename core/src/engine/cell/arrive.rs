//! The steps of a move at the gateway to which the client comes.

use crate::api::PlaceState;
use crate::engine::Engine;
use crate::engine::access::{no_master, webhook_place};
use crate::engine::group::{Command, Decision, Deed, Prefetch, overflow};
use crate::engine::money::{funding, made_before, make};
use crate::engine::setup::{Rows, carry_over};
use crate::engine::webhook::{secret_place, used_mark};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ClientNo;
use crate::ledger::{AccountId, Mode, Owner, SUM_MAX};
use crate::money::Money;
use crate::participant::Reference;
use crate::store::record::{
    BroughtRecord, ClientRecord, EndpointRecord, EndpointSecretRecord, IdempotencyRecord, Key, KeyRecord, MetaRecord, MovementKind,
    MovementRecord, QueueRecord, Version,
};
use crate::store::{Lookup, Unique, Write};
use crate::terms::{UsageId, Used};
use crate::validate::evidence;

use super::pack::Packed;
use super::references::Page;
use super::{MoveStep, client_and_place, put_place};

/// Takes a client over, suspended: all of it that is small, in one commit.
pub(crate) struct Arrive {
    pub(crate) step: MoveStep,
    /// What comes with the client.
    pub(crate) packed: Packed,
}

impl Command for Arrive {
    type Output = ClientNo;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ClientNo> {
        let mut rows = Rows::read(d.overlay)?;
        if d.overlay.find::<ClientRecord>(&Unique::ClientId(self.step.client))?.is_some() {
            let (client, place) = client_and_place(d.overlay, &rows, self.step.client)?;
            return self.step.require(place.as_ref(), &[PlaceState::Arriving]).map(|_| client.no);
        }
        let Packed { client, webhook_secret, secret_used, .. } = &self.packed;
        let no = d.writer.client_no();
        let webhook_secret = match webhook_secret {
            Some(secret) => d.engine.seal(&webhook_place(no), secret).ok_or_else(no_master)?,
            None => Vec::new(),
        };
        let client = ClientRecord { no, webhook_secret, suspended: true, version: Version::default(), ..client.clone() };
        d.overlay.insert(client.clone());
        if *secret_used {
            d.overlay.insert(MetaRecord { name: used_mark(no), value: Vec::new() });
        }
        self.keys(d, no)?;
        self.endpoints(d, no)?;
        self.play_money(d, no);
        self.used_today(d, no);
        if let Some(terms) = &self.packed.terms {
            carry_over(d, &mut rows, client, terms, &self.step.reason)?;
        }
        put_place(d, &mut rows, no, PlaceState::Arriving, &self.step)?;
        Ok(no)
    }

    /// One for the play money, and one for each change of credit.
    fn numbers(&self, _: &Engine) -> usize {
        1 + self.packed.terms.as_ref().map_or(0, |terms| terms.credit.as_ref().map_or(0, |credit| credit.len()))
    }

    fn deed(&self, done: Option<&ClientNo>) -> Option<Deed> {
        Some(self.step.deed("arrive", done.copied()))
    }
}

impl Arrive {
    /// The keys, also revoked ones: none comes back.
    fn keys(&self, d: &mut Decision<'_, '_>, client: ClientNo) -> Result<()> {
        for key in &self.packed.keys {
            if d.overlay.find::<KeyRecord>(&Unique::KeyId(key.id))?.is_some() {
                return Err(Error::with(ErrorCode::KeyExists, format!("the key {} is enrolled at the other gateway", key.id)));
            }
            let no = d.writer.key_no();
            d.overlay.insert(KeyRecord { no, client, version: Version::default(), ..key.clone() });
        }
        Ok(())
    }

    fn endpoints(&self, d: &mut Decision<'_, '_>, client: ClientNo) -> Result<()> {
        for (endpoint, secrets) in &self.packed.endpoints {
            let no = d.writer.endpoint_no();
            for (secret, opened) in secrets {
                let sealed = d.engine.seal(&secret_place(no, secret.n), opened).ok_or_else(no_master)?;
                d.overlay.insert(EndpointSecretRecord { endpoint: no, sealed, version: Version::default(), ..secret.clone() });
            }
            d.overlay.insert(QueueRecord {
                endpoint: no,
                version: 1,
                troubled: false,
                due: None,
                owner: 0,
                added: None,
                failing_since: None,
            });
            d.overlay.insert(EndpointRecord { no, client, version: 1, ..endpoint.clone() });
        }
        Ok(())
    }

    /// As much as it had; there, it stays on accounts that nobody can use.
    fn play_money(&self, d: &mut Decision<'_, '_>, client: ClientNo) {
        if self.packed.play_money.is_empty() {
            return;
        }
        let (journal, now) = (d.writer.journal(), d.overlay.now);
        for (n, money) in (1..).zip(&self.packed.play_money) {
            d.overlay.post(funding(journal, n, client, *money, now));
        }
    }

    fn used_today(&self, d: &mut Decision<'_, '_>, client: ClientNo) {
        for (id, used) in &self.packed.used {
            let Some(currency) = id.currency() else { continue };
            let id = UsageId::new(client, id.mode(), currency, id.day());
            d.overlay.write(Write::Count { id, by: *used, most: Used::MAX });
            d.overlay.insert(BroughtRecord { id, used: *used });
        }
    }
}

/// Keeps a page of references that the client used at the other gateway, and of answers under its `Idempotency-Key`s. Returns how many
/// are new.
#[derive(Debug, Clone)]
pub(crate) struct Remember {
    pub(crate) step: MoveStep,
    /// The client's number here.
    pub(crate) no: ClientNo,
    pub(crate) page: Page,
}

impl Command for Remember {
    type Output = usize;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add(self.page.keys(self.no).map(Lookup::Get));
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<usize> {
        self.step.require(d.engine.place_of(self.no).as_deref(), &[PlaceState::Arriving])?;
        let mut new = 0;
        for record in self.page.references(self.no) {
            let key = Key::Elsewhere((record.client, record.kind, record.reference.clone()));
            if d.overlay.stored(&key)?.is_none() {
                d.overlay.insert(record);
                new += 1;
            }
        }
        for answer in &self.page.answers {
            if d.overlay.stored(&Key::Idempotency((self.no, answer.key.clone())))?.is_none() {
                d.overlay.insert(IdempotencyRecord { client: self.no, ..answer.clone() });
                new += 1;
            }
        }
        Ok(new)
    }

    fn touched(new: &usize) -> usize {
        *new
    }
}

/// Pays in what left the other gateway, each amount once.
#[derive(Debug, Clone)]
pub(crate) struct TakeIn {
    pub(crate) step: MoveStep,
    /// The references and amounts.
    pub(crate) moved: Vec<(Reference, Money)>,
}

impl Command for TakeIn {
    type Output = (ClientNo, Vec<Money>);

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Self::Output> {
        let rows = Rows::read(d.overlay)?;
        let (client, place) = client_and_place(d.overlay, &rows, self.step.client)?;
        if place.as_ref().is_none_or(|place| place.state != PlaceState::Stayed) {
            self.step.require(place.as_ref(), &[PlaceState::Arriving, PlaceState::Arrived])?;
        }
        let evidence = evidence(&format!("moved from {}", self.step.other.url))?;
        let mut taken = Vec::new();
        for (reference, money) in &self.moved {
            if made_before(d.overlay, client.no, reference, (MovementKind::Deposit, *money, &evidence))?.is_some() {
                continue;
            }
            let account = AccountId::new(Owner::Client(client.no), Mode::Live, money.currency());
            let after = d.overlay.totals(account)?.ledger().and_then(|ledger| ledger.checked_add(money.minor()));
            after.filter(|after| *after < SUM_MAX).ok_or_else(overflow)?;
            let movement = MovementRecord {
                journal: d.writer.journal(),
                client: client.no,
                reference: reference.clone(),
                kind: MovementKind::Deposit,
                mode: Mode::Live,
                currency: money.currency(),
                amount: money.minor(),
                evidence: evidence.clone(),
                at: d.overlay.now,
                previous: None,
                terms: None,
            };
            make(d, &movement);
            d.record(movement.deed(), None, None);
            taken.push(*money);
        }
        Ok((client.no, taken))
    }

    fn numbers(&self, _: &Engine) -> usize {
        self.moved.len()
    }

    fn deed(&self, done: Option<&Self::Output>) -> Option<Deed> {
        Some(self.step.deed("take_in", done.map(|(client, _)| *client)))
    }
}

/// Lets the client in, once the other gateway has let it go.
#[derive(Debug, Clone)]
pub(crate) struct Welcome {
    pub(crate) step: MoveStep,
}

impl Command for Welcome {
    type Output = ClientNo;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ClientNo> {
        let mut rows = Rows::read(d.overlay)?;
        let (client, place) = client_and_place(d.overlay, &rows, self.step.client)?;
        let no = client.no;
        if self.step.require(place.as_ref(), &[PlaceState::Arriving, PlaceState::Arrived])? == PlaceState::Arriving {
            let read = client.version;
            d.overlay.update(ClientRecord { suspended: false, version: read.next(), ..client }, read);
            put_place(d, &mut rows, no, PlaceState::Arrived, &self.step)?;
        }
        Ok(no)
    }

    fn deed(&self, done: Option<&ClientNo>) -> Option<Deed> {
        Some(self.step.deed("welcome", done.copied()))
    }
}
