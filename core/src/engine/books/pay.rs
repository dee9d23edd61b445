//! A payment to another client: whether it can be paid, and both settlements of the payment.

use std::sync::Arc;

use crate::engine::Engine;
use crate::engine::dispatch::Said;
use crate::engine::group::{Overlay, Writer, overflow};
use crate::engine::settlement::{Change, Note};
use crate::error::{Error, Result};
use crate::ids::{ClientNo, Ulid};
use crate::ledger::{AccountId, Mode, Owner, SUM_MAX};
use crate::lifecycle::{SettlementStatus, StateName, attempt};
use crate::money::Money;
use crate::participant::{Participant, Reference};
use crate::rail::RailAnswer;
use crate::store::record::{Actor, ClientRecord, EventType, Key, KeyStatus, OtherSide, SettlementMore, SettlementRecord};
use crate::store::{Lookup, Scan, Unique, Write};
use crate::time::Millis;

/// A client as a participant.
pub(crate) fn participant_of(client: Ulid) -> String {
    format!("participant:cli_{client}")
}

/// The id of the client that a participant names, if it is one.
pub(crate) fn client_named(to: &Participant) -> Option<Ulid> {
    let id = to.identifier().strip_prefix("cli_").and_then(Ulid::parse)?;
    // There is one way to write it, so that lists and replays find it as it was sent.
    (participant_of(id) == to.as_str()).then_some(id)
}

impl Engine {
    /// The client that a payment pays.
    ///
    /// # Errors
    /// `participant_not_found` at `/to`, whatever the reason: a stranger does not learn who is a client, or suspended, or has live
    /// access.
    pub(super) fn payable_client(&self, overlay: &mut Overlay<'_>, mode: Mode, to: &Participant, money: Money) -> Result<ClientRecord> {
        let not_found = || Error::field("/to", "participant_not_found", "no client of this gateway can be paid under this id");
        let id = client_named(to).ok_or_else(not_found)?;
        let client: Option<ClientRecord> = overlay.find(&Unique::ClientId(id))?;
        let client = client.filter(|client| !client.suspended && self.require_here(client.no).is_ok()).ok_or_else(not_found)?;
        let account = |owner| AccountId::new(owner, mode, money.currency());
        let own = account(Owner::Client(client.no));
        overlay.look_up([Lookup::Get(Key::Account(own)), further(client.no, mode)])?;
        if !self.has_access(overlay, client.no, mode)? || !takes(overlay, own, money)? {
            return Err(not_found());
        }
        // Everything between clients passes through this account.
        let books = self.routes().books(mode).map(|(no, _)| no).ok_or_else(|| Error::internal("there are no books"))?;
        if !takes(overlay, account(Owner::Provider(books)), money)? {
            return Err(overflow());
        }
        Ok(client)
    }

    /// Whether the client has a key with which it can dispose of money of this mode.
    fn has_access(&self, overlay: &Overlay<'_>, client: ClientNo, mode: Mode) -> Result<bool> {
        if mode.is_sandbox() {
            return Ok(true);
        }
        let keys = self.keys_of(overlay, client)?;
        Ok(keys.iter().any(|key| key.mode == mode && key.status == KeyStatus::Active))
    }

    /// Settles the payment of `change`, which holds its money: completes it, and makes the settlement of the payee.
    pub(super) fn pay_client(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        mut change: Change<'_>,
        payer: Ulid,
        payee: &ClientRecord,
    ) -> Result<SettlementRecord> {
        self.complete(overlay, &mut change)?;
        if change.record.mode.is_sandbox() {
            // From now on the payee has accounts, and so all of its opening balances.
            self.draw_allowance(overlay, writer, payee.no)?;
        }
        // The sandbox of each has a clock of its own.
        let now = self.time_of(overlay, (payee.no, change.record.mode))?;
        let incoming = self.incoming(writer, &change.record, payee, payer, now);
        change.more().other_side = Some(OtherSide { settlement: incoming.no.0, client: payee.no.0, from: None });
        let settlement = change.store(overlay)?;
        let mut change = Change::of(self, incoming, now);
        change.receive();
        change.event(EventType::SettlementCompleted, Note::new(None, StateName::Completed, Actor::Rail));
        change.insert(overlay);
        Ok(settlement)
    }

    /// The only attempt: the books answer at once.
    fn complete(&self, overlay: &Overlay<'_>, change: &mut Change<'_>) -> Result<()> {
        let refused = || Error::internal("a payment that was just accepted cannot be sent");
        let mut attempt = self.start_attempt(change, 1).ok_or_else(refused)?;
        let answer = RailAnswer::Completed { rail_reference: None };
        let attempt::Next::To(to) = attempt::transition(attempt.status, answer.kind()) else { return Err(refused()) };
        self.take_answer(overlay, change, &mut attempt, to, Said::from(&answer))?;
        change.write(Write::Insert(attempt.into()));
        Ok(())
    }

    /// The payee's settlement of a payment, without its money and its event. Of what the payer wrote, it has the description alone.
    fn incoming(&self, writer: &mut Writer, paid: &SettlementRecord, payee: &ClientRecord, payer: Ulid, now: Millis) -> SettlementRecord {
        let (no, salt) = (writer.journal(), self.salt());
        let other_side = Some(OtherSide { settlement: paid.no.0, client: paid.client.0, from: Some(participant_of(payer)) });
        let description = paid.more.as_ref().and_then(|more| more.description.clone());
        SettlementRecord {
            no,
            client: payee.no,
            // No client can choose such a reference, and in a path it means the same as the id.
            reference: Reference::from_stored(format!("stl_{}", self.id_key.seal(no, now, salt))),
            mode: paid.mode,
            status: SettlementStatus::Completed,
            version: 0,
            needs_review: false,
            amount: paid.amount,
            currency: paid.currency,
            to: paid.to.clone(),
            provider: paid.provider,
            fee: 0,
            reversed: 0,
            reversing: 0,
            attempts: 0,
            reversals: 0,
            transfers: 0,
            hold: 0,
            salt,
            head: [0; 32],
            created_at: now,
            updated_at: now,
            completed_at: Some(now),
            expires_at: None,
            more: Some(Arc::new(SettlementMore { description, other_side, ..SettlementMore::default() })),
            user: None,
        }
    }
}

/// What else a payee is judged by: its keys, or the balances that it has still to come.
fn further(client: ClientNo, mode: Mode) -> Lookup {
    match mode {
        Mode::Live => Lookup::Scan(Scan::keys_of(client)),
        Mode::Sandbox => Lookup::Get(Key::Allowance(client)),
    }
}

/// Whether an account takes so much more, and a reversal of it later.
fn takes(overlay: &mut Overlay<'_>, account: AccountId, money: Money) -> Result<bool> {
    let totals = overlay.totals(account)?;
    let sum = totals.credits_posted.max(totals.debits_posted).checked_add(money.minor());
    Ok(sum.is_some_and(|sum| sum < SUM_MAX))
}
