//! A change of one settlement while it is being decided: state, trace, journal and version move together.

use crate::api::{Action, RailCall, Subject};
use crate::error::Result;
use crate::ids::{ProviderNo, SettlementNo};
use crate::ledger::{AccountId, Owner, Transfer, TransferCode, TransferKind};
use crate::lifecycle::SettlementStatus;
use crate::lifecycle::StateName;
use crate::lifecycle::settlement::{Next, SettlementInput, transition};
use crate::money::Money;
use crate::rail::FailureCode;
use crate::store::Write;
use crate::store::record::{Actor, AttemptRecord, EventRecord, EventType, Failure, ReversalRecord, SettlementMore, SettlementRecord};
use crate::time::Millis;
use crate::trace::{self, TracedEvent};

use crate::engine::Engine;
use crate::engine::group::Overlay;

/// What an event says beside its type.
pub(crate) struct Note {
    pub(crate) from: Option<StateName>,
    pub(crate) to: Option<StateName>,
    pub(crate) actor: Actor,
    /// Attempt or reversal; 0 for none.
    pub(crate) child: u16,
    /// One canonical JSON object.
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

/// The settlement as it will be, and what is written with it.
pub(crate) struct Change<'e> {
    engine: &'e Engine,
    pub(crate) record: SettlementRecord,
    expected: u32,
    pub(crate) now: Millis,
    /// The settlement must still be as it was read, even if it does not change.
    guarded: bool,
    writes: Vec<Write>,
}

impl<'e> Change<'e> {
    /// Of a settlement that exists, or of one that is only now made: its version is 0, its first event makes it 1.
    pub(crate) fn of(engine: &'e Engine, record: SettlementRecord, now: Millis) -> Self {
        Self { engine, expected: record.version, record, now, guarded: false, writes: Vec::with_capacity(6) }
    }

    /// Adds an event to the trace.
    pub(crate) fn event(&mut self, kind: EventType, note: Note) {
        let link = TracedEvent {
            kind,
            at: self.now,
            from: note.from,
            to: note.to,
            actor: note.actor,
            child: note.child,
            data: note.data.as_deref(),
        };
        let n = self.record.version + 1;
        let prev = (n > 1).then_some(&self.record.head);
        let hash = trace::link_hash(&self.engine.id_key, &self.record, &link, n, prev);
        self.record.version = n;
        self.record.head = hash;
        self.record.updated_at = self.now;
        self.write(Write::Insert(
            EventRecord {
                settlement: self.record.no,
                n,
                kind,
                at: self.now,
                from: note.from,
                to: note.to,
                actor: note.actor,
                child: note.child,
                data: note.data,
                hash,
            }
            .into(),
        ));
    }

    pub(crate) fn write(&mut self, write: Write) {
        self.writes.push(write);
    }

    /// Feeds the lifecycle. Records the new state, its money and its event; says what followed.
    pub(crate) fn input(&mut self, input: SettlementInput, note: Note) -> Next {
        let next = transition(self.record.status, input);
        match next {
            Next::To(to) => self.enter(to, note),
            Next::Discrepancy => self.discrepancy(note),
            Next::Stay | Next::Refuse => {}
        }
        next
    }

    fn enter(&mut self, to: SettlementStatus, note: Note) {
        let from = self.record.status;
        self.record.status = to;
        if to.is_final() {
            // What was flagged because nobody knew is known now.
            if !from.is_final() {
                self.record.needs_review = false;
            }
            self.record.completed_at = self.record.completed_at.or(Some(self.now));
        }
        self.move_money(to);
        let kind = entered(to);
        self.event(kind, Note { from: Some(from.name()), to: Some(to.name()), ..note });
    }

    /// Flags the settlement for a person. Once: until somebody has looked, further contradictions add nothing.
    fn discrepancy(&mut self, note: Note) {
        if self.record.needs_review {
            return;
        }
        self.record.needs_review = true;
        let state = Some(self.record.status.name());
        self.event(EventType::SettlementDiscrepancy, Note { from: state, to: state, ..note });
    }

    /// Money follows the state: post when paid, let go when proved dead or withdrawn.
    fn move_money(&mut self, to: SettlementStatus) {
        match to {
            SettlementStatus::Completed => self.resolve_hold(TransferKind::Post),
            SettlementStatus::Failed | SettlementStatus::Cancelled => self.resolve_hold(TransferKind::Void),
            SettlementStatus::Returned => self.give_back_rest(),
            // Held since it was accepted; reversals move their own money.
            SettlementStatus::Accepted | SettlementStatus::Submitted | SettlementStatus::Unknown => {}
            SettlementStatus::PartiallyReversed | SettlementStatus::Reversed => {}
        }
    }

    /// Holds amount and fee for the provider that the settlement now goes to.
    pub(crate) fn hold(&mut self) {
        let (client, provider) = self.accounts();
        self.record.hold = self.transfer(TransferKind::Pending, TransferCode::Payment, client, provider, self.record.amount, 0);
        if self.record.fee > 0 {
            let fees = self.account(Owner::Fees);
            self.transfer(TransferKind::Pending, TransferCode::Fee, client, fees, self.record.fee, 0);
        }
    }

    /// Moves the hold to another provider: let go there, hold here.
    pub(crate) fn rehold(&mut self, provider: ProviderNo) {
        self.resolve_hold(TransferKind::Void);
        self.record.provider = provider;
        if let Some(more) = &mut self.record.more {
            more.rail_reference = None;
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
        let rest = self.record.amount - self.record.reversed;
        if rest > 0 {
            let (client, provider) = self.accounts();
            self.transfer(TransferKind::Single, TransferCode::Return, provider, client, rest, 0);
        }
    }

    /// Announces the money of a reversal; gives the transfer's number.
    pub(crate) fn announce(&mut self, amount: i64) -> u16 {
        let (client, provider) = self.accounts();
        self.record.reversing += amount;
        self.transfer(TransferKind::Pending, TransferCode::Reversal, provider, client, amount, 0)
    }

    /// Ends the announcement of a reversal: the money is here, or it will not come.
    pub(crate) fn end_reversal(&mut self, reversal: &ReversalRecord, kind: TransferKind) {
        let (client, provider) = self.accounts();
        self.record.reversing -= reversal.amount;
        self.transfer(kind, TransferCode::Reversal, provider, client, reversal.amount, reversal.hold);
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

    /// Changes the mostly empty part.
    pub(crate) fn more(&mut self) -> &mut SettlementMore {
        self.record.more.get_or_insert_default()
    }

    /// Notes why it failed, or would fail if nobody else takes it.
    pub(crate) fn failure(&mut self, code: FailureCode, rail_code: Option<String>) {
        self.more().failure = Some(Failure { code, rail_code });
    }

    /// Stores a new settlement with all that belongs to it; gives it back as it is stored.
    pub(crate) fn insert(self, overlay: &mut Overlay<'_>) -> SettlementRecord {
        overlay.insert(self.record.clone());
        self.writes.into_iter().for_each(|w| overlay.write(w));
        self.record
    }

    /// What is written of its children was decided over the settlement as it was read.
    pub(crate) fn guard(&mut self) {
        self.guarded = true;
    }

    /// Stores the changed settlement, if it changed; gives it back as it is stored.
    pub(crate) fn update(self, overlay: &mut Overlay<'_>) -> SettlementRecord {
        if self.record.version != self.expected || self.guarded {
            overlay.write(Write::Update { record: self.record.clone().into(), expected: self.expected });
        }
        self.writes.into_iter().for_each(|w| overlay.write(w));
        self.record
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
    /// The question `action` about an attempt, to the provider it was made at.
    pub(crate) fn attempt_call(&self, record: &SettlementRecord, attempt: &AttemptRecord, action: Action, tries: u16) -> Result<RailCall> {
        let subject = Subject::Attempt(attempt.settlement, attempt.n);
        let money = Money::from_minor(record.amount, record.currency);
        self.call(record, subject, action, attempt.provider, money, tries)
    }

    /// The question `action` about a reversal, to the provider that was paid.
    pub(crate) fn reversal_call(
        &self,
        record: &SettlementRecord,
        reversal: &ReversalRecord,
        action: Action,
        tries: u16,
    ) -> Result<RailCall> {
        let subject = Subject::Reversal(reversal.settlement, reversal.n);
        let money = Money::from_minor(reversal.amount, record.currency);
        self.call(record, subject, action, record.provider, money, tries)
    }

    fn call(
        &self,
        record: &SettlementRecord,
        subject: Subject,
        action: Action,
        provider: ProviderNo,
        money: Money,
        tries: u16,
    ) -> Result<RailCall> {
        self.provider(provider)?;
        Ok(RailCall {
            subject,
            action,
            provider,
            rail_key: self.rail_key(record, subject),
            money,
            to: record.to.clone(),
            reference: record.reference.clone(),
            mode: record.mode,
            tries,
            not_after: self.now() + self.config.lease_ms,
        })
    }

    /// Under which key a rail knows an attempt or a reversal: unique for ever, the same on every retry.
    fn rail_key(&self, record: &SettlementRecord, subject: Subject) -> String {
        let id = trace::settlement_ulid(&self.id_key, record);
        match subject {
            Subject::Attempt(_, n) => format!("{id}-{n}"),
            Subject::Reversal(_, n) => format!("{id}-R{n}"),
        }
    }

    pub(crate) fn change(&self, overlay: &Overlay<'_>, no: SettlementNo) -> Result<Change<'_>> {
        Ok(Change::of(self, overlay.settlement(no)?, overlay.now))
    }
}
