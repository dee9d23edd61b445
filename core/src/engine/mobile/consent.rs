//! Payments that wait for their user: asked when they are accepted, decided on a device.

use crate::api::{ApprovalTerms, Caller, ConsentDetails, SettlementView, ShownDetails};
use crate::engine::Engine;
use crate::engine::clock::Todo;
use crate::engine::group::{Command, Decision, Deed, Overlay, Writer};
use crate::engine::once::Answers;
use crate::engine::settlement::{Change, Note};
use crate::error::{Error, ErrorCode, FieldProblem, Result};
use crate::ids::{KeyNo, Ulid};
use crate::lifecycle::StateName;
use crate::lifecycle::settlement::SettlementInput;
use crate::money::Money;
use crate::participant::{Participant, Reference};
use crate::store::record::{
    Actor, AuditAction, DeviceRecord, EventType, Key, KeyRecord, PaymentApproval, PaymentApprovalStatus, SettlementRecord, TaskKind,
};
use crate::time::{Millis, rfc3339};
use crate::trace;

use super::device::public;
use super::{require_active, user};

/// How long a payment waits for its user, unless its client sets an earlier end.
const WAITS_MS: Millis = 3_600_000;

/// What an app showed to its user before they decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The amount.
    pub money: Money,
    /// The payee.
    pub to: Participant,
    /// The reference.
    pub reference: Reference,
    /// The name of the payee, if the app showed one.
    pub payee_name: Option<String>,
}

/// Sends a payment that waits for its user, or cancels it, as the user decided on a device.
#[derive(Debug, Clone)]
pub struct DecidePayment {
    /// The user, on a device.
    pub caller: Caller,
    /// The device's key, which signed the call.
    pub key: KeyNo,
    /// The id of the settlement.
    pub settlement: Ulid,
    /// Whether it is sent.
    pub approve: bool,
    /// What the app showed.
    pub shown: Shown,
    /// Why the user declined.
    pub reason: Option<String>,
}

impl Command for DecidePayment {
    type Output = Box<SettlementRecord>;

    /// The second attempt finds it decided, in the same way on the same device.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Box<SettlementRecord>> {
        let record = self.find(d)?;
        require_active(&user(d.overlay, self.user()?)?)?;
        self.require_shown(&record)?;
        let approval = record.approval().ok_or_else(not_found)?;
        match (approval.status, self.approve) {
            (PaymentApprovalStatus::Pending, _) => {}
            (PaymentApprovalStatus::Approved, true) | (PaymentApprovalStatus::Declined, false) if approval.device == Some(self.key.0) => {
                return Ok(Box::new(record));
            }
            _ => return Err(decided(d.overlay, &record)?),
        }
        let mut change = d.engine.change(d.overlay, record.no)?;
        if change.record.expires_at.is_some_and(|at| at <= change.now) {
            return Err(Error::with(ErrorCode::ApprovalDecided, "its time is over, and nothing is paid"));
        }
        self.record(d.overlay, &mut change)?;
        let stored = if self.approve {
            d.engine.approved(d.overlay, d.writer, change, &self.caller)?
        } else {
            let note = Note::new(None, StateName::Cancelled, Actor::User).data(r#"{"reason":"declined"}"#.to_owned());
            change.input(SettlementInput::Cancel, note);
            change.update(d.overlay)?
        };
        Ok(Box::new(stored))
    }

    /// A payment to another client makes a second settlement, the payee's.
    fn numbers(&self, _: &Engine) -> usize {
        1
    }

    fn deed(&self, done: Option<&Box<SettlementRecord>>) -> Option<Deed> {
        let deed = Deed::new(if self.approve { AuditAction::ApprovePayment } else { AuditAction::DeclinePayment });
        Some(match done {
            Some(record) => deed.target(record.no.0),
            None => deed.name(format!("stl_{}", self.settlement)),
        })
    }
}

impl Answers for DecidePayment {
    type View = SettlementView;

    fn view(&self, d: &Decision<'_, '_>, record: &Box<SettlementRecord>) -> Result<SettlementView> {
        Ok(d.engine.view(record, self.caller.client_id))
    }
}

impl DecidePayment {
    fn user(&self) -> Result<crate::ids::UserNo> {
        self.caller.user.ok_or_else(|| Error::internal("a client decides for a user"))
    }

    /// The payment, if it is this user's.
    fn find(&self, d: &Decision<'_, '_>) -> Result<SettlementRecord> {
        let (user, key) = (Some(self.user()?), &d.engine.id_key);
        let found: Option<SettlementRecord> = d.overlay.get(&Key::Settlement(key.open(self.settlement)))?;
        found
            .filter(|it| (it.user == user || mutated!(ForeignConsent)) && trace::settlement_ulid(key, it) == self.settlement)
            .ok_or_else(not_found)
    }

    /// Requires that the app showed what would be paid.
    fn require_shown(&self, record: &SettlementRecord) -> Result<()> {
        let money = Money::from_minor(record.amount, record.currency);
        let differs = |pointer: &'static str, is: String| {
            FieldProblem::new(pointer, "shown_differs", format!("the payment has {is}: show it to the user and let them decide again"))
        };
        let Shown { money: shown, to, reference, .. } = &self.shown;
        let mut problems = Vec::new();
        if shown.currency() != record.currency {
            problems.push(differs("/shown/currency", record.currency.code().to_owned()));
        } else if *shown != money {
            problems.push(differs("/shown/amount", money.decimal_text().to_string()));
        }
        if *to != record.to {
            problems.push(differs("/shown/to", record.to.as_str().to_owned()));
        }
        if *reference != record.reference {
            problems.push(differs("/shown/reference", record.reference.as_str().to_owned()));
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
    }

    /// Records the decision, and what the device's signature covers of it.
    fn record(&self, overlay: &Overlay<'_>, change: &mut Change<'_>) -> Result<()> {
        let device: Option<DeviceRecord> = overlay.get(&Key::Device(self.key))?;
        let device = device.ok_or_else(|| Error::internal("a user decides without a device"))?;
        let key: Option<KeyRecord> = overlay.get(&Key::Key(self.key))?;
        let key = key.ok_or_else(|| Error::internal("a device's key is missing"))?;
        let Shown { money, to, reference, payee_name } = &self.shown;
        let shown = ShownDetails {
            amount: money.decimal_text().to_string(),
            currency: money.currency().code().to_owned(),
            payee_name: payee_name.clone(),
            reference: reference.as_str().to_owned(),
            to: to.as_str().to_owned(),
        };
        let data = ConsentDetails { device: public(&device), key_id: key.id.to_string(), reason: self.reason.clone(), shown };
        let data = canonical(&data)?;
        let (status, kind) = match self.approve {
            true => (PaymentApprovalStatus::Approved, EventType::ApprovalApproved),
            false => (PaymentApprovalStatus::Declined, EventType::ApprovalDeclined),
        };
        let now = change.now;
        let asked_expiry = change.record.asked_expiry();
        change.more().approval = Some(PaymentApproval { status, asked_expiry, device: Some(self.key.0), decided_at: Some(now) });
        // From now on only the client's own end counts.
        change.record.expires_at = asked_expiry;
        change.event(kind, Note::new(Some(StateName::Accepted), StateName::Accepted, Actor::User).data(data));
        Ok(())
    }
}

/// The details of an event in their canonical form (RFC 8785): their members are declared in the order of their names.
fn canonical(details: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(details).map_err(Error::internal)
}

fn not_found() -> Error {
    Error::new(ErrorCode::PaymentApprovalNotFound)
}

/// Tells a device that comes too late what was decided, and where.
fn decided(overlay: &Overlay<'_>, record: &SettlementRecord) -> Result<Error> {
    let Some(approval) = record.approval() else { return Ok(not_found()) };
    let what = match approval.status {
        PaymentApprovalStatus::Pending => "it waits for the user",
        PaymentApprovalStatus::Approved => "it was approved",
        PaymentApprovalStatus::Declined => "it was declined",
        PaymentApprovalStatus::Ended => "its time is over or it was cancelled, and nothing is paid",
    };
    let device: Option<DeviceRecord> = approval.device.map(|no| overlay.get(&Key::Device(KeyNo(no)))).transpose()?.flatten();
    let place = device.map(|device| format!(" on the device {}", device.label.unwrap_or(device.platform))).unwrap_or_default();
    let at = approval.decided_at.map(|at| format!(" at {}", rfc3339(at))).unwrap_or_default();
    Ok(Error::with(ErrorCode::ApprovalDecided, format!("{what}{place}{at}")))
}

impl Change<'_> {
    /// Lets an accepted payment wait for its user.
    pub(crate) fn ask_user(&mut self, name: &str) -> Result<()> {
        let asked_expiry = self.record.expires_at;
        let expires_at = asked_expiry.unwrap_or(Millis::MAX).min(self.now.saturating_add(WAITS_MS));
        self.record.expires_at = Some(expires_at);
        self.more().approval =
            Some(PaymentApproval { status: PaymentApprovalStatus::Pending, asked_expiry, device: None, decided_at: None });
        let data = canonical(&ApprovalTerms { expires_at: rfc3339(expires_at), user: name.to_owned() })?;
        self.event(EventType::ApprovalRequested, Note::new(Some(StateName::Accepted), StateName::Accepted, Actor::System).data(data));
        Ok(())
    }
}

impl Engine {
    /// Sends a payment that its user has approved.
    fn approved(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, change: Change<'_>, caller: &Caller) -> Result<SettlementRecord> {
        let (mode, money) = (change.record.mode, Money::from_minor(change.record.amount, change.record.currency));
        match self.between_clients.payee(self, overlay, mode, &change.record.to.clone(), money)? {
            Some(payee) => self.between_clients.pay(self, overlay, writer, change, (caller.client_id, &payee)),
            None => {
                let record = change.update(overlay)?;
                self.send_first(overlay, writer, &record)?;
                Ok(record)
            }
        }
    }

    /// Lets the outbox send the first attempt of a payment.
    pub(crate) fn send_first(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, record: &SettlementRecord) -> Result<()> {
        let owner = record.owner();
        let key = writer.task_in_turn(owner, overlay.now);
        let todo = Todo { kind: TaskKind::Dispatch, settlement: record.no, child: 1, tries: 0, since: overlay.now };
        if !mutated!(LostOutboxRow) {
            overlay.insert(todo.under(key, self.held_by(owner)));
        }
        match record.expires_at {
            Some(at) => self.look_by(overlay, writer, owner, at),
            None => Ok(()),
        }
    }
}
