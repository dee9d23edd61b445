//! A change of one settlement while it is being decided: state, trace, journal and version change together.

use std::sync::Arc;

use crate::api::{Action, RailCall, Subject};
use crate::error::Result;
use crate::ids::{ClientNo, ProviderNo, SettlementNo, UserNo};
use crate::ledger::{AccountId, Owner, Transfer, TransferCode, TransferKind};
use crate::lifecycle::SettlementStatus;
use crate::lifecycle::StateName;
use crate::lifecycle::settlement::{Next, SettlementInput, transition};
use crate::money::Money;
use crate::rail::FailureCode;
use crate::store::Write;
use crate::store::record::{
    Actor, AttemptRecord, EventRecord, EventType, Failure, PaymentApprovalStatus, ReversalRecord, ReviewReason, SettlementMore,
    SettlementRecord,
};
use crate::terms::{UsageId, Used};
use crate::time::Millis;
use crate::trace::{self, About};

use crate::engine::Engine;
use crate::engine::group::Overlay;
use crate::engine::review::Mark;

/// The content of an event, besides its type.
pub(crate) struct Note {
    pub(crate) from: Option<StateName>,
    pub(crate) to: Option<StateName>,
    pub(crate) actor: Actor,
    /// The number of the attempt or reversal; 0 for none.
    pub(crate) child: u16,
    /// A canonical JSON object.
    pub(crate) data: Option<String>,
}

impl Note {
    pub(crate) fn new(from: Option<StateName>, to: StateName, actor: Actor) -> Self {
        Self { from, to: Some(to), actor, child: 0, data: None }
    }

    pub(crate) fn child(mut self, n: u16) -> Self {
        self.child = n;
        self
    }

    pub(crate) fn data(mut self, data: String) -> Self {
        self.data = Some(data);
        self
    }
}

/// The settlement with its changes, and the writes that belong to them.
pub(crate) struct Change<'e> {
    engine: &'e Engine,
    pub(crate) record: SettlementRecord,
    expected: u32,
    pub(crate) now: Millis,
    /// Whether it waited for a person when it was read, and what has changed about that.
    flagged: bool,
    marks: Vec<Mark>,
    /// Whether the settlement must still be as it was read, even if it does not change.
    guarded: bool,
    writes: Vec<Write>,
}

impl<'e> Change<'e> {
    /// Starts a change of an existing settlement, or of a new one. A new one has version 0; its first event makes it 1.
    pub(crate) fn of(engine: &'e Engine, record: SettlementRecord, now: Millis) -> Self {
        let (expected, flagged) = (record.version, record.needs_review);
        Self { engine, expected, record, now, flagged, marks: Vec::new(), guarded: false, writes: Vec::with_capacity(6) }
    }

    /// Adds an event to the trace.
    pub(crate) fn event(&mut self, kind: EventType, note: Note) {
        let n = self.record.version + 1;
        let mut event = EventRecord {
            settlement: self.record.no,
            n,
            kind,
            at: self.now,
            from: note.from,
            to: note.to,
            actor: note.actor,
            child: note.child,
            data: note.data,
            hash: [0; 32],
        };
        let prev = (n > 1).then_some(&self.record.head);
        event.hash = trace::link_hash(&self.engine.id_key, About::Settlement(&self.record), &event, prev);
        self.record.version = n;
        self.record.head = event.hash;
        self.record.updated_at = self.now;
        self.write(Write::Insert(event.into()));
    }

    pub(crate) fn write(&mut self, write: Write) {
        self.writes.push(write);
    }

    /// Feeds an input to the lifecycle. Records the new state, its money and its event; returns the transition.
    pub(crate) fn input(&mut self, input: SettlementInput, note: Note) -> Next {
        let next = transition(self.record.status, input);
        match next {
            Next::To(to) => self.enter(to, note),
            Next::Discrepancy => self.discrepancy(0, note),
            Next::Stay | Next::Refuse => {}
        }
        next
    }

    fn enter(&mut self, to: SettlementStatus, note: Note) {
        let from = self.record.status;
        if self.record.waits_for_user()
            && let Some(approval) = &mut self.more().approval
        {
            approval.status = PaymentApprovalStatus::Ended;
        }
        self.record.status = to;
        if to.is_final() {
            // A settlement was flagged because its outcome was unknown; now it is known.
            if !from.is_final() && self.record.needs_review {
                self.record.needs_review = false;
                self.mark(Mark::Known);
            }
            self.record.completed_at = self.record.completed_at.or(Some(self.now));
        }
        self.move_money(to);
        let kind = entered(to);
        self.event(kind, Note { from: Some(from.name()), to: Some(to.name()), ..note });
    }

    /// Flags the settlement for a person because of itself (`0`) or the reversal with this number. There is only one event: until
    /// someone has reviewed it, further contradictions add none.
    pub(crate) fn discrepancy(&mut self, child: u16, note: Note) {
        self.flag(child, ReviewReason::Discrepancy, EventType::SettlementDiscrepancy, note);
    }

    /// Like [`Change::discrepancy`], for any reason and with an event of this type.
    pub(crate) fn flag(&mut self, child: u16, reason: ReviewReason, kind: EventType, note: Note) {
        let flagged = self.record.needs_review;
        self.mark(Mark::Open(child, reason));
        if flagged {
            return;
        }
        let state = Some(self.record.status.name());
        self.event(kind, Note { from: state, to: state, ..note });
    }

    /// Changes what waits for a person.
    pub(crate) fn mark(&mut self, mark: Mark) {
        if let Mark::Open(..) = mark {
            self.record.needs_review = true;
        }
        self.marks.push(mark);
    }

    /// The money follows the state: posted when paid, released when proved failed or cancelled.
    fn move_money(&mut self, to: SettlementStatus) {
        match to {
            SettlementStatus::Completed => self.resolve_hold(TransferKind::Post),
            SettlementStatus::Failed | SettlementStatus::Cancelled => {
                if mutated!(HoldKept) {
                    return;
                }
                self.resolve_hold(TransferKind::Void);
                let by = Used::minus_one(self.record.amount);
                for id in self.record.counters().filter(|_| !mutated!(LimitNotGivenBack)) {
                    self.write(Write::Count { id, by, most: by });
                }
            }
            SettlementStatus::Returned => self.give_back_rest(),
            // On hold since the settlement was accepted; reversals move their own money.
            SettlementStatus::Accepted | SettlementStatus::Submitted | SettlementStatus::Unknown => {}
            SettlementStatus::PartiallyReversed | SettlementStatus::Reversed => {}
        }
    }

    /// Holds amount and fee for the settlement's current provider.
    pub(crate) fn hold(&mut self) {
        let (client, provider) = self.accounts();
        self.record.hold = self.transfer(TransferKind::Pending, TransferCode::Payment, client, provider, self.record.amount, 0);
        if self.record.fee > 0 {
            let fees = self.account(Owner::Fees);
            self.transfer(TransferKind::Pending, TransferCode::Fee, client, fees, self.record.fee, 0);
        }
    }

    /// Counts the payment for the limits of its day, which may add up to `most`.
    pub(crate) fn count(&mut self, most: Used) {
        if mutated!(LimitNotCounted) {
            return;
        }
        self.more().counted = true;
        self.write(Write::Count { id: self.record.usage(self.record.client), by: Used::one(self.record.amount), most });
    }

    /// Counts the payment for the limits of its user's day, which may add up to `most`.
    pub(crate) fn count_for_user(&mut self, user: UserNo, most: Used) {
        self.more().counted_for_user = true;
        self.write(Write::Count { id: self.record.usage(user.party()), by: Used::one(self.record.amount), most });
    }

    /// Moves the hold to another provider: releases it there, holds it here.
    pub(crate) fn rehold(&mut self, provider: ProviderNo) {
        self.resolve_hold(TransferKind::Void);
        self.record.provider = provider;
        if let Some(more) = &mut self.record.more {
            Arc::make_mut(more).rail_reference = None;
        }
        self.hold();
    }

    fn resolve_hold(&mut self, kind: TransferKind) {
        let (client, provider) = self.accounts();
        let hold = self.record.hold;
        self.transfer(kind, TransferCode::Payment, client, provider, self.record.amount, hold);
        if self.record.fee > 0 {
            let fees = self.account(Owner::Fees);
            self.transfer(kind, TransferCode::Fee, client, fees, self.record.fee, hold + 1);
        }
    }

    fn give_back_rest(&mut self) {
        let rest = self.record.amount - if mutated!(BounceAboveRest) { 0 } else { self.record.reversed };
        if rest > 0 {
            let (client, provider) = self.accounts();
            self.transfer(TransferKind::Single, TransferCode::Return, provider, client, rest, 0);
        }
    }

    /// Receives the money of an incoming payment, which its payer has paid to the provider.
    pub(crate) fn receive(&mut self) {
        let (client, provider) = self.accounts();
        self.transfer(TransferKind::Single, TransferCode::Payment, provider, client, self.record.amount, 0);
    }

    /// Gives back so much of an incoming payment.
    pub(crate) fn hand_back(&mut self, amount: i64) {
        let (client, provider) = self.accounts();
        self.record.reversed += amount;
        self.transfer(TransferKind::Single, TransferCode::Reversal, client, provider, amount, 0);
    }

    /// Announces the money of a reversal, and returns the transfer's number.
    pub(crate) fn announce(&mut self, amount: i64) -> u16 {
        let (client, provider) = self.accounts();
        self.record.reversing += amount;
        self.transfer(TransferKind::Pending, TransferCode::Reversal, provider, client, amount, 0)
    }

    /// Ends the announcement of a reversal: the money has arrived, or will not come.
    pub(crate) fn end_reversal(&mut self, reversal: &ReversalRecord, kind: TransferKind) {
        let (client, provider) = self.accounts();
        self.record.reversing -= reversal.amount;
        self.transfer(kind, TransferCode::Reversal, provider, client, reversal.amount, reversal.hold);
        if kind == TransferKind::Post {
            let before = self.record.fee_given_back();
            self.record.reversed += reversal.amount;
            let more = self.record.fee_given_back() - before;
            if more > 0 && !mutated!(FeeNotReversed) {
                let fees = self.account(Owner::Fees);
                self.transfer(TransferKind::Single, TransferCode::FeeRefund, fees, client, more, 0);
            }
        }
    }

    fn transfer(&mut self, kind: TransferKind, code: TransferCode, debit: AccountId, credit: AccountId, amount: i64, resolves: u16) -> u16 {
        let n = self.record.transfers + 1;
        self.record.transfers = n;
        self.write(Write::Post(Transfer { journal: self.record.no, n, kind, code, debit, credit, amount, resolves, at: self.now }));
        n
    }

    fn accounts(&self) -> (AccountId, AccountId) {
        (self.account(Owner::Client(self.record.client)), self.account(Owner::Provider(self.record.provider)))
    }

    fn account(&self, owner: Owner) -> AccountId {
        AccountId::new(owner, self.record.mode, self.record.currency)
    }

    /// The rarely used part of the record, for changing it.
    pub(crate) fn more(&mut self) -> &mut SettlementMore {
        Arc::make_mut(self.record.more.get_or_insert_default())
    }

    /// Records why it failed, or will fail if no other provider accepts it.
    pub(crate) fn failure(&mut self, code: FailureCode, rail_code: Option<String>) {
        self.more().failure = Some(Failure { code, rail_code });
    }

    /// Writes a new settlement and everything that belongs to it. Returns it as stored.
    pub(crate) fn insert(self, overlay: &mut Overlay<'_>) -> SettlementRecord {
        overlay.insert(self.record.clone());
        self.writes.into_iter().for_each(|w| overlay.write(w));
        self.record
    }

    /// Writes the settlement, new or not, and everything that belongs to it. Returns it as stored.
    pub(crate) fn store(self, overlay: &mut Overlay<'_>) -> Result<SettlementRecord> {
        if self.expected == 0 { Ok(self.insert(overlay)) } else { self.update(overlay) }
    }

    /// Requires the settlement to be unchanged at the commit: the writes to its children were decided over the settlement as read.
    pub(crate) fn guard(&mut self) {
        self.guarded = true;
    }

    /// Writes the settlement, if it changed, and everything that belongs to it. Returns it as stored.
    pub(crate) fn update(mut self, overlay: &mut Overlay<'_>) -> Result<SettlementRecord> {
        if !self.marks.is_empty() {
            let before = overlay.commit.writes.len();
            self.record.needs_review = self.engine.numbering.review(overlay, &self.record, self.flagged, &self.marks)?;
            self.guarded |= overlay.commit.writes.len() > before;
        }
        if self.record.version != self.expected || self.guarded {
            overlay.write(Write::Update { record: self.record.clone().into(), expected: self.expected });
        }
        self.writes.into_iter().for_each(|w| overlay.write(w));
        Ok(self.record)
    }
}

impl SettlementRecord {
    /// The counter of a client or a user on the day on which it was accepted.
    fn usage(&self, party: ClientNo) -> UsageId {
        UsageId::new(party, self.mode, self.currency, self.created_at)
    }

    /// The counters for which it counts.
    pub(crate) fn counters(&self) -> impl Iterator<Item = UsageId> + use<> {
        let more = self.more.as_deref();
        let client = more.filter(|more| more.counted).map(|_| self.usage(self.client));
        let user = self.user.filter(|_| more.is_some_and(|more| more.counted_for_user)).map(|user| self.usage(user.party()));
        client.into_iter().chain(user)
    }

    /// What completed reversals have given back of the fee, in minor units.
    pub(crate) fn fee_given_back(&self) -> i64 {
        let refund = self.more.as_ref().and_then(|more| more.fee_refund);
        refund.map_or(0, |refund| refund.given_back(self.fee, self.amount, self.reversed))
    }
}

const fn entered(status: SettlementStatus) -> EventType {
    match status {
        SettlementStatus::Accepted => EventType::SettlementAccepted,
        SettlementStatus::Submitted => EventType::SettlementSubmitted,
        SettlementStatus::Unknown => EventType::SettlementUnknown,
        SettlementStatus::Completed => EventType::SettlementCompleted,
        SettlementStatus::PartiallyReversed => EventType::SettlementPartiallyReversed,
        SettlementStatus::Reversed => EventType::SettlementReversed,
        SettlementStatus::Returned => EventType::SettlementReturned,
        SettlementStatus::Failed => EventType::SettlementFailed,
        SettlementStatus::Cancelled => EventType::SettlementCancelled,
    }
}

impl Engine {
    /// The call `action` about an attempt, to the attempt's provider.
    pub(crate) fn attempt_call(&self, record: &SettlementRecord, attempt: &AttemptRecord, action: Action, tries: u16) -> Result<RailCall> {
        self.provider(attempt.provider)?;
        let subject = Subject::Attempt(attempt.settlement, attempt.n);
        let more = record.more.as_ref();
        Ok(RailCall {
            subject,
            client: record.client,
            action,
            provider: attempt.provider,
            rail_key: self.rail_key(record, subject),
            paid_as: None,
            // What the settlement knows is its last attempt's.
            rail_reference: more.filter(|_| attempt.n == record.attempts).and_then(|more| more.rail_reference.clone()),
            money: Money::from_minor(record.amount, record.currency),
            given_back: record.reversed + record.reversing > 0,
            fee: record.fee,
            to: record.to.clone(),
            reference: record.reference.clone(),
            description: more.and_then(|more| more.description.as_deref().map(str::to_owned)),
            mode: record.mode,
            tries,
            not_after: self.now() + self.config.lease_ms,
            leave_by: self.env.steady() + self.config.lease_ms,
        })
    }

    /// The call `action` about a reversal, to the provider that was paid.
    pub(crate) fn reversal_call(
        &self,
        record: &SettlementRecord,
        reversal: &ReversalRecord,
        action: Action,
        tries: u16,
    ) -> Result<RailCall> {
        self.provider(record.provider)?;
        let subject = Subject::Reversal(reversal.settlement, reversal.n);
        let paid_as = self.rail_key(record, Subject::Attempt(record.no, record.attempts));
        Ok(RailCall {
            subject,
            client: record.client,
            action,
            provider: record.provider,
            rail_key: self.rail_key(record, subject),
            paid_as: Some((paid_as, record.more.as_ref().and_then(|more| more.rail_reference.clone()))),
            rail_reference: reversal.rail_reference.clone(),
            money: Money::from_minor(reversal.amount, record.currency),
            given_back: false,
            fee: 0,
            to: record.to.clone(),
            reference: record.reference.clone(),
            description: reversal.reason.map(|reason| reason.as_str().to_owned()),
            mode: record.mode,
            tries,
            not_after: self.now() + self.config.lease_ms,
            leave_by: self.env.steady() + self.config.lease_ms,
        })
    }

    /// The key of an attempt or a reversal at a rail: unique for ever, and the same on every retry.
    fn rail_key(&self, record: &SettlementRecord, subject: Subject) -> String {
        let id = trace::settlement_ulid(&self.id_key, record);
        match subject {
            Subject::Attempt(_, n) => format!("{id}-{n}"),
            Subject::Reversal(_, n) => format!("{id}-R{n}"),
        }
    }

    pub(crate) fn change(&self, overlay: &Overlay<'_>, no: SettlementNo) -> Result<Change<'_>> {
        let record = overlay.settlement(no)?;
        let now = self.time_of(overlay, record.owner())?;
        Ok(Change::of(self, record, now))
    }
}
