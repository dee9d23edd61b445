//! Messages to endpoints: the bodies of deliveries, and examples.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::api::{BalanceMovementView, Caller, SettlementView};
use crate::error::{Error, Result};
use crate::ids::{SettlementNo, Ulid};
use crate::lifecycle::{BundleStatus, ReversalStatus, SettlementStatus};
use crate::money::Currency;
use crate::participant::{Participant, Reference};
use crate::rail::FailureCode;
use crate::store::record::{
    ClientRecord, EndpointRecord, EventRecord, EventType, Failure, Key, LoggedChange, LoggedEvent, Moment, MovementKind, MovementRecord,
    ReversalRecord, SettlementMore, SettlementRecord, Topic,
};
use crate::time::{Millis, rfc3339};
use crate::trace::{self, About, Traced, traced_key};

use crate::engine::Engine;
use crate::engine::group::Overlay;

impl Engine {
    /// An event's id and message body, with a settlement as the event's commit left it. `None` if the stored event is not the one that
    /// was noted.
    pub(crate) fn message(
        &self,
        overlay: &Overlay<'_>,
        change: &LoggedChange,
        index: usize,
        event: &LoggedEvent,
    ) -> Result<Option<(Ulid, String)>> {
        let traced: Option<Traced> = overlay.get(&traced_key(event.kind, change.settlement))?;
        let stored: Option<EventRecord> = overlay.get(&Key::Event((change.settlement, change.sequence(index))))?;
        let (Some(mut traced), Some(stored)) = (traced, stored.filter(|stored| stored.hash == event.hash)) else { return Ok(None) };
        if let (Traced::Settlement(record), Some(moment)) = (&mut traced, &change.moment) {
            set_back(record, change.version, moment);
        }
        self.message_of(overlay, traced.about(), &stored)
    }

    pub(crate) fn message_of(&self, overlay: &Overlay<'_>, about: About<'_>, event: &EventRecord) -> Result<Option<(Ulid, String)>> {
        let data = match about {
            About::Movement(record) => movement_data(record)?,
            #[cfg(feature = "bundles")]
            About::Bundle(record) => match self.bundle_data(overlay, record, event)? {
                Some(data) => data,
                None => return Ok(None),
            },
            #[cfg(not(feature = "bundles"))]
            About::Bundle(_) => return Ok(None),
            About::Settlement(record) => match overlay.get::<ClientRecord>(&Key::Client(record.client))? {
                Some(client) => self.settlement_data(overlay, record, client.id, event)?,
                None => return Ok(None),
            },
        };
        Ok(Some((trace::event_ulid(&self.id_key, event), envelope(Topic::Event(event.kind), event.at, &data))))
    }

    fn settlement_data(&self, overlay: &Overlay<'_>, record: &SettlementRecord, client: Ulid, event: &EventRecord) -> Result<String> {
        let reversal = match self.reversal_of(overlay, event)? {
            Some(reversal) => Some(serde_json::to_string(&self.reversal_view(record, &reversal)).map_err(Error::internal)?),
            None => None,
        };
        let view = serde_json::to_string(&self.view(record, client)).map_err(Error::internal)?;
        Ok(data(&view, event.n, reversal.as_deref()))
    }

    /// The reversal of an event, as the event left it.
    fn reversal_of(&self, overlay: &Overlay<'_>, event: &EventRecord) -> Result<Option<ReversalRecord>> {
        if trace::attempt_of(event).is_some() || event.child == 0 {
            return Ok(None);
        }
        let reversal: Option<ReversalRecord> = overlay.get(&Key::Reversal((event.settlement, event.child)))?;
        Ok(reversal.map(|mut reversal| {
            if let Some(status) = event.to.and_then(|to| ReversalStatus::from_name(to.as_str())).filter(|_| is_of_reversal(event)) {
                reversal.status = status;
                if !status.is_final() {
                    (reversal.completed_at, reversal.failure, reversal.updated_at) = (None, None, event.at);
                }
                if matches!(status, ReversalStatus::Accepted | ReversalStatus::Submitted) {
                    (reversal.rail_reference, reversal.needs_review) = (None, false);
                }
            }
            reversal
        }))
    }

    /// A fictitious settlement in this status, for an example.
    fn example_settlement(&self, caller: &Caller, status: SettlementStatus, needs_review: bool, now: Millis) -> Result<SettlementView> {
        let missing = || Error::internal("the example is not valid");
        let amount = 1_050;
        let reversed = match status {
            SettlementStatus::Reversed => amount,
            SettlementStatus::PartiallyReversed => amount / 2,
            SettlementStatus::Accepted
            | SettlementStatus::Submitted
            | SettlementStatus::Unknown
            | SettlementStatus::Completed
            | SettlementStatus::Returned
            | SettlementStatus::Failed
            | SettlementStatus::Cancelled => 0,
        };
        let failure = (status == SettlementStatus::Failed).then_some(Failure { code: FailureCode::RecipientNotFound, rail_code: None });
        let record = SettlementRecord {
            no: SettlementNo(0),
            client: caller.client,
            reference: Reference::from_stored("example-of-a-test".to_owned()),
            mode: caller.mode,
            status,
            version: 5,
            needs_review,
            amount,
            currency: Currency::from_code("EUR").ok_or_else(missing)?,
            to: Participant::from_stored("msisdn:+254700000001".to_owned()).ok_or_else(missing)?,
            provider: self.routes().preferred().ok_or_else(missing)?,
            fee: 0,
            reversed,
            reversing: 0,
            attempts: 1,
            reversals: 0,
            transfers: 1,
            hold: 1,
            salt: 0,
            head: [0; 32],
            created_at: now,
            updated_at: now,
            completed_at: status.is_final().then_some(now),
            expires_at: None,
            more: Some(Arc::new(SettlementMore {
                description: Some("An example, sent to try this webhook".into()),
                failure,
                ..SettlementMore::default()
            })),
            user: None,
        };
        Ok(self.view(&record, caller.client_id))
    }

    /// The data of an example message for a topic: the shape is real, what it is about is made up.
    pub(crate) fn example(&self, caller: &Caller, endpoint: &EndpointRecord, topic: Topic, now: Millis) -> Result<String> {
        let kind = match topic {
            Topic::Event(kind) => kind,
            Topic::WebhookDisabled => return serde_json::to_string(&self.webhook_view(endpoint)?).map_err(Error::internal),
            // No webhook receives it.
            Topic::Notification => return Ok("{}".to_owned()),
        };
        match example_of(kind) {
            Example::Settlement(status) => {
                let view = self.example_settlement(caller, status, kind == EventType::SettlementDiscrepancy, now)?;
                Ok(data(&serde_json::to_string(&view).map_err(Error::internal)?, view.version, None))
            }
            Example::Movement(kind) => {
                let currency = Currency::from_code("EUR").ok_or_else(|| Error::internal("the example is not valid"))?;
                movement_data(&MovementRecord {
                    journal: SettlementNo(0),
                    client: caller.client,
                    reference: Reference::from_stored("example-of-a-test".to_owned()),
                    kind,
                    mode: caller.mode,
                    currency,
                    amount: 250_000,
                    evidence: String::new(),
                    at: now,
                    previous: (kind == MovementKind::CreditLine).then_some(100_000),
                    terms: None,
                })
            }
            #[cfg(feature = "bundles")]
            Example::Bundle(status) => self.bundle_example(caller, status, now),
            #[cfg(not(feature = "bundles"))]
            Example::Bundle(status) => Err(Error::internal(format!("this program has no bundles, and none is {}", status.as_str()))),
        }
    }
}

/// What an example of an event is about.
enum Example {
    /// A settlement in this status.
    Settlement(SettlementStatus),
    /// What an operator did to the client's account.
    Movement(MovementKind),
    /// A bundle in this state.
    Bundle(BundleStatus),
}

const fn example_of(kind: EventType) -> Example {
    let status = match kind {
        EventType::SettlementAccepted | EventType::ApprovalRequested | EventType::ApprovalApproved | EventType::ApprovalDeclined => {
            SettlementStatus::Accepted
        }
        EventType::SettlementSubmitted | EventType::AttemptStarted | EventType::AttemptAnswered => SettlementStatus::Submitted,
        EventType::SettlementUnknown => SettlementStatus::Unknown,
        EventType::SettlementFailed => SettlementStatus::Failed,
        EventType::SettlementCancelled => SettlementStatus::Cancelled,
        EventType::SettlementPartiallyReversed => SettlementStatus::PartiallyReversed,
        EventType::SettlementReversed => SettlementStatus::Reversed,
        EventType::SettlementReturned => SettlementStatus::Returned,
        EventType::SettlementCompleted
        | EventType::SettlementDiscrepancy
        | EventType::SettlementReviewed
        | EventType::ReversalAccepted
        | EventType::ReversalSubmitted
        | EventType::ReversalUnknown
        | EventType::ReversalCompleted
        | EventType::ReversalFailed => SettlementStatus::Completed,
        EventType::BundleCreated | EventType::BundleEdited => return Example::Bundle(BundleStatus::Draft),
        EventType::BundleSubmitted | EventType::BundleCommented | EventType::BundleTested | EventType::BundleTestAsked => {
            return Example::Bundle(BundleStatus::Submitted);
        }
        EventType::BundleInReview => return Example::Bundle(BundleStatus::InReview),
        EventType::BundleApproved | EventType::BundlePublicationAsked | EventType::BundlePublicationFailed => {
            return Example::Bundle(BundleStatus::Approved);
        }
        EventType::BundleRejected => return Example::Bundle(BundleStatus::Rejected),
        EventType::BundleChangesRequested => return Example::Bundle(BundleStatus::ChangesRequested),
        EventType::BundleWithdrawn => return Example::Bundle(BundleStatus::Withdrawn),
        EventType::BundlePublished | EventType::BundleSuperseded => return Example::Bundle(BundleStatus::Published),
        EventType::BundleRevoked => return Example::Bundle(BundleStatus::Revoked),
        EventType::BalanceDeposited => return Example::Movement(MovementKind::Deposit),
        EventType::BalanceWithdrawn => return Example::Movement(MovementKind::Withdrawal),
        EventType::BalanceCreditChanged => return Example::Movement(MovementKind::CreditLine),
    };
    Example::Settlement(status)
}

/// A movement as its client sees it, with the sequence of its event.
fn movement_data(record: &MovementRecord) -> Result<String> {
    Ok(data(&serde_json::to_string(&BalanceMovementView::from(record)).map_err(Error::internal)?, 1, None))
}

fn is_of_reversal(event: &EventRecord) -> bool {
    event.kind.as_str().starts_with("reversal.")
}

/// Standard Webhooks: `{type, timestamp, data}`.
pub(crate) fn envelope(topic: Topic, at: Millis, data: &str) -> String {
    format!(r#"{{"type":"{}","timestamp":"{}","data":{data}}}"#, topic.as_str(), rfc3339(at))
}

/// A record's JSON, extended by the event's sequence and by the reversal, if the event is about one.
fn data(record: &str, sequence: u32, reversal: Option<&str>) -> String {
    let mut out = record.strip_suffix('}').unwrap_or(record).to_owned();
    let _ = write!(out, r#","sequence":{sequence}"#);
    if let Some(reversal) = reversal {
        let _ = write!(out, r#","reversal":{reversal}"#);
    }
    out.push('}');
    out
}

/// Sets the settlement back to its state at `moment`.
pub(crate) fn set_back(record: &mut SettlementRecord, version: u32, moment: &Moment) {
    record.status = moment.status;
    record.version = version;
    record.needs_review = moment.needs_review;
    record.provider = moment.provider;
    record.reversed = moment.reversed;
    record.reversing = moment.reversing;
    record.attempts = moment.attempts;
    record.updated_at = moment.updated_at;
    record.completed_at = moment.completed_at;
    let failure: Option<Failure> = moment.failure.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let more = Arc::make_mut(record.more.get_or_insert_default());
    more.rail_reference.clone_from(&moment.rail_reference);
    more.failure = failure;
    if *more == SettlementMore::default() {
        record.more = None;
    }
}
