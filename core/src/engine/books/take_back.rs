//! The reversal of a payment between two clients: the money goes back at once, if the payee still has it.

use crate::engine::Engine;
use crate::engine::dispatch::Said;
use crate::engine::group::Overlay;
use crate::engine::settlement::{Change, Note};
use crate::error::{Error, Result};
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::{AccountId, Owner};
use crate::lifecycle::{ReversalStatus, StateName, reversal};
use crate::rail::{FailureCode, RailAnswer};
use crate::store::record::{Actor, EventType, Key, ReversalRecord, SettlementRecord};
use crate::store::{Lookup, Write};

impl Engine {
    /// Carries out a reversal that was accepted in `change`, or fails it because the payee does not have the money. Its credit is not
    /// for others to spend.
    pub(super) fn take_back(
        &self,
        overlay: &mut Overlay<'_>,
        mut change: Change<'_>,
        mut reversal: ReversalRecord,
    ) -> Result<(SettlementRecord, ReversalRecord)> {
        let incoming = payees(overlay, &change.record)?;
        let account = AccountId::new(Owner::Client(incoming.client), incoming.mode, incoming.currency);
        let available = overlay.totals(account)?.available();
        let answer = if available.is_some_and(|available| available >= reversal.amount) {
            RailAnswer::Completed { rail_reference: None }
        } else {
            RailAnswer::Declined { code: FailureCode::InsufficientFunds, elsewhere_ok: false, rail_code: None }
        };
        if let reversal::Next::To(to) = reversal::dispatch(reversal.status) {
            self.submit_reversal(&mut change, &mut reversal, to);
        }
        if let reversal::Next::To(to) = reversal::transition(reversal.status, answer.kind()) {
            self.take_reversal_answer(&mut change, &mut reversal, to, Said::from(&answer));
        }
        change.write(Write::Insert(reversal.clone().into()));
        let settlement = change.update(overlay)?;
        if reversal.status == ReversalStatus::Completed {
            self.hand_back(overlay, incoming, &reversal)?;
            overlay.forbid_credit(account);
        }
        Ok((settlement, reversal))
    }

    /// The payee's side: its settlement has a reversal of its own. Of what the payer wrote, it has the reason alone.
    fn hand_back(&self, overlay: &mut Overlay<'_>, incoming: SettlementRecord, reversal: &ReversalRecord) -> Result<()> {
        let now = self.time_of(overlay, incoming.owner())?;
        let mut change = Change::of(self, incoming, now);
        let n = change.record.reversals + 1;
        change.record.reversals = n;
        let own = ReversalRecord {
            settlement: change.record.no,
            n,
            client: change.record.client,
            reference: None,
            status: ReversalStatus::Completed,
            amount: reversal.amount,
            reason: reversal.reason,
            description: None,
            hold: 0,
            needs_review: false,
            rail_reference: None,
            failure: None,
            created_at: now,
            updated_at: now,
            completed_at: Some(now),
        };
        change.hand_back(own.amount);
        let data = self.amount_of_reversal(&change.record, &own);
        change.event(EventType::ReversalCompleted, Note::new(None, StateName::Completed, Actor::Rail).child(n).data(data));
        self.reversed(&mut change, &own, Actor::Rail);
        change.write(Write::Insert(own.into()));
        change.update(overlay).map(drop)
    }
}

/// The payee's settlement of a payment.
fn payees(overlay: &mut Overlay<'_>, paid: &SettlementRecord) -> Result<SettlementRecord> {
    let other = paid.other_side().ok_or_else(|| Error::internal("a payment between clients names no other side"))?;
    let (no, client) = (SettlementNo(other.settlement), ClientNo(other.client));
    let account = AccountId::new(Owner::Client(client), paid.mode, paid.currency);
    overlay.look_up([Lookup::Get(Key::Settlement(no)), Lookup::Get(Key::Account(account))])?;
    overlay.settlement(no)
}
