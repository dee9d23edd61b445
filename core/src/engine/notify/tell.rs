//! Telling users: what an event means to the user who pays, and where it is written.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Engine;
use crate::engine::group::{Overlay, Writer};
use crate::engine::webhook::set_back;
use crate::error::{Error, Result};
use crate::ids::{SettlementNo, UserNo, named};
use crate::ledger::Mode;
use crate::money::Money;
use crate::notification::{Preferences, Push};
use crate::store::record::{
    DeliveryCause, DeliveryRecord, DeliveryStatus, DeviceRecord, EndpointRecord, EventType, Key, LoggedChange, NotificationFacts,
    NotificationKind, NotificationRecord, PaymentApprovalStatus, PushRoute, Record, SettlementRecord, Topic, UserRecord,
};
use crate::store::{Lookup, Scan, Write, typed, typed_all};
use crate::time::Millis;

use super::inbox::NOTIFICATIONS_KEPT;

/// How many notifications make room at once, at most.
const AT_ONCE: usize = 50;

/// A user while something is told.
struct Listener {
    user: UserRecord,
    wants: Preferences,
    subscriptions: Vec<EndpointRecord>,
    /// The number of the last notification.
    last: i64,
    /// When the first push is due, if there is one.
    due: Option<Millis>,
}

/// Something to tell.
struct Told {
    kind: NotificationKind,
    facts: NotificationFacts,
    /// The event: its settlement and sequence number; zeros for none.
    event: (SettlementNo, u32),
    /// When it happened, by the clock of the user's client.
    at: Millis,
    /// Whether a push is still of use.
    pushed: bool,
}

impl Engine {
    /// Tells the users who pay of these events.
    pub(crate) fn tell_users(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, changes: &[LoggedChange]) -> Result<()> {
        let concerned = || changes.iter().filter_map(|change| change.user.map(|user| (user, change)));
        let users: BTreeSet<(UserNo, Mode)> = concerned().map(|(user, change)| (user, change.mode)).collect();
        if users.is_empty() {
            return Ok(());
        }
        let of_users = users.iter().flat_map(|(user, mode)| {
            let scans = [Scan::last_notification(*user), Scan::endpoints_of(user.party(), *mode)].map(Lookup::Scan);
            scans.into_iter().chain([Lookup::Get(Key::User(*user))])
        });
        overlay.look_up(of_users.chain(concerned().map(|(_, change)| Lookup::Get(Key::Settlement(change.settlement)))))?;
        let mut listeners: BTreeMap<UserNo, Option<Listener>> = BTreeMap::new();
        for (user, change) in concerned() {
            let Some(record) = overlay.get::<SettlementRecord>(&Key::Settlement(change.settlement))? else { continue };
            for (index, event) in change.events.iter().enumerate() {
                let Some(kind) = kind_of(event.kind, event.at, &record) else { continue };
                let listener = match listeners.entry(user) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => place.insert(self.listener(overlay, user, |_| false)?),
                };
                let Some(listener) = listener else { continue };
                let told = Told {
                    kind,
                    facts: self.facts_of(kind, &record, change),
                    event: (change.settlement, change.sequence(index)),
                    at: event.at,
                    pushed: kind != NotificationKind::ApprovalRequested || record.waits_for_user(),
                };
                self.tell(overlay, writer, listener, told)?;
            }
        }
        listeners.into_values().flatten().try_for_each(|listener| self.enqueue_pushes(overlay, &listener))
    }

    /// Makes sure that what was queued for a user is looked at. Once for each commit: a queue is written only once.
    fn enqueue_pushes(&self, overlay: &mut Overlay<'_>, listener: &Listener) -> Result<()> {
        let Some(due) = listener.due else { return Ok(()) };
        listener.subscriptions.iter().try_for_each(|endpoint| self.enqueue(overlay, endpoint.no, due))
    }

    /// Tells a user that a device of theirs was enrolled or revoked. To a device that was revoked, nothing is pushed any more.
    pub(crate) fn tell_of_device(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        kind: NotificationKind,
        device: &DeviceRecord,
    ) -> Result<()> {
        if !self.numbering.tells_users() {
            return Ok(());
        }
        let revoked = |route: &PushRoute| kind == NotificationKind::DeviceRevoked && route.device == device.no.0;
        let Some(mut listener) = self.listener(overlay, device.user, revoked)? else { return Ok(()) };
        let name = device.label.clone().or_else(|| device.model.clone()).unwrap_or_else(|| device.platform.clone());
        let facts = NotificationFacts { device_id: Some(format!("dev_{}", device.id)), device: Some(name), ..NotificationFacts::default() };
        let told = Told { kind, facts, event: (SettlementNo(0), 0), at: overlay.now, pushed: true };
        self.tell(overlay, writer, &mut listener, told)?;
        self.enqueue_pushes(overlay, &listener)
    }

    /// A user with what is needed to tell them something; `None` if the record is missing. Makes room in the inbox, and removes
    /// subscriptions that have expired or that have `ended`.
    fn listener(&self, overlay: &mut Overlay<'_>, no: UserNo, ended: impl Fn(&PushRoute) -> bool) -> Result<Option<Listener>> {
        let Some(user) = overlay.get::<UserRecord>(&Key::User(no))? else { return Ok(None) };
        let stored: Option<NotificationRecord> = typed(overlay.stored_page(&Scan::last_notification(no))?.pop())?;
        let made = overlay.inserted().filter_map(|record| match record {
            Record::Notification(made) if made.user == no => Some(made.n),
            _ => None,
        });
        let last = stored.map(|last| last.n).into_iter().chain(made).max().unwrap_or(0);
        let now = overlay.now;
        let is_over = |route: &PushRoute| ended(route) || route.expires_at.is_some_and(|end| end <= now);
        let all = self.enabled_endpoints(overlay, no.party(), user.mode)?.into_iter();
        let (gone, subscriptions): (Vec<_>, Vec<_>) = all.partition(|endpoint| endpoint.push.as_deref().is_none_or(is_over));
        gone.into_iter().try_for_each(|endpoint| self.remove_endpoint(overlay, endpoint).map(drop))?;
        self.make_room(overlay, no)?;
        Ok(Some(Listener { wants: Preferences::of_stored(&user.preferences), subscriptions, last, due: None, user }))
    }

    /// Writes a notification where its user wants it.
    fn tell(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, listener: &mut Listener, told: Told) -> Result<()> {
        let channels = listener.wants.channels(told.kind);
        let id = if channels.inbox { Some(self.put_into_inbox(overlay, listener, &told)?) } else { None };
        if channels.push && told.pushed && !listener.subscriptions.is_empty() {
            self.push(overlay, writer, listener, &told, id)?;
        }
        Ok(())
    }

    /// Removes the oldest notifications of a user, so that there is room for one more.
    fn make_room(&self, overlay: &mut Overlay<'_>, user: UserNo) -> Result<()> {
        let Some(last) = typed::<NotificationRecord>(overlay.store.scan(&Scan::nth_notification(user, NOTIFICATIONS_KEPT))?.pop())? else {
            return Ok(());
        };
        let over: Vec<NotificationRecord> =
            typed_all(overlay.store.scan(&Scan::notifications_of(user, false, last.n.saturating_add(1), AT_ONCE))?)?;
        for key in over.into_iter().map(|record| Key::Notification((user, record.n))) {
            if !overlay.touched(&key) {
                overlay.write(Write::Delete(key));
            }
        }
        Ok(())
    }

    /// Adds a notification. Numbers grow with time, and where that stands with each other.
    fn put_into_inbox(&self, overlay: &mut Overlay<'_>, listener: &mut Listener, told: &Told) -> Result<String> {
        let user = listener.user.no;
        let n = (overlay.now << 20).max(listener.last.saturating_add(1));
        listener.last = n;
        overlay.insert(NotificationRecord {
            user,
            n,
            kind: told.kind,
            settlement: told.event.0,
            at: told.at,
            unread: true,
            read_at: None,
            facts: Box::new(told.facts.clone()),
        });
        Ok(named("ntf_", self.notification_ulid(user, n)).to_string())
    }

    /// Queues a push for each subscription. In quiet hours it waits for their end, unless it would be of no use then: so it comes at once,
    /// without a sound.
    fn push(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, listener: &mut Listener, told: &Told, id: Option<String>) -> Result<()> {
        let useful_ms = match told.facts.expires_at {
            // Both are of the client's clock, which may be another than the gateway's.
            Some(end) => (end - told.at).max(0),
            None => told.kind.useful_ms(),
        };
        let until = overlay.now.saturating_add(useful_ms);
        let quiet = listener.wants.quiet.as_ref().and_then(|quiet| quiet.ends_at(overlay.now));
        let (due, silent) = match quiet {
            Some(end) if end < until => (end, false),
            Some(_) => (overlay.now, true),
            None => (overlay.now, false),
        };
        let detail = listener.wants.detail;
        let mut push = Push {
            id,
            kind: told.kind,
            at: told.at,
            detail,
            facts: told.facts.within(detail),
            locales: Vec::new(),
            about: Some(format!("{}/{}", told.event.0.0, listener.user.no.0)).filter(|_| told.event.0 != SettlementNo(0)),
            until,
            silent,
        };
        for endpoint in &listener.subscriptions {
            let of_device = endpoint.push.as_ref().and_then(|route| route.locale.as_ref());
            push.locales = listener.wants.locale.iter().chain(of_device).cloned().collect();
            overlay.insert(DeliveryRecord {
                no: writer.delivery_no(overlay.now),
                endpoint: endpoint.no,
                message: self.fresh_ulid(overlay.now),
                topic: Topic::Notification,
                cause: DeliveryCause::Event,
                status: DeliveryStatus::Pending,
                attempts: 0,
                due: Some(due),
                settlement: told.event.0,
                n: told.event.1,
                body: serde_json::to_string(&push).map_err(Error::internal)?,
                last: None,
            });
        }
        listener.due = listener.due.into_iter().chain([due]).min();
        Ok(())
    }

    /// What a notification of a payment is about, as the change left it.
    fn facts_of(&self, kind: NotificationKind, record: &SettlementRecord, change: &LoggedChange) -> NotificationFacts {
        let mut then = record.clone();
        if let Some(moment) = &change.moment {
            set_back(&mut then, change.version, moment);
        }
        let amount = if kind == NotificationKind::PaymentReversed { then.reversed } else { then.amount };
        let failure = then.more.as_ref().and_then(|more| more.failure.as_ref()).map(|failure| failure.code);
        NotificationFacts {
            settlement_id: Some(named("stl_", self.id_key.seal(record.no, record.created_at, record.salt)).to_string()),
            reference: Some(record.reference.as_str().to_owned()),
            amount: Some(Money::from_minor(amount, record.currency).decimal()),
            currency: Some(record.currency.code().to_owned()),
            to: Some(record.to.as_str().to_owned()),
            failure: failure.filter(|_| kind == NotificationKind::PaymentFailed),
            expires_at: record.expires_at.filter(|_| kind == NotificationKind::ApprovalRequested),
            ..NotificationFacts::default()
        }
    }
}

/// What an event of a payment means to its user; `None` for steps on the way. `record` is the payment as it is now.
fn kind_of(event: EventType, at: Millis, record: &SettlementRecord) -> Option<NotificationKind> {
    let unapproved = || {
        let ended = record.approval().is_some_and(|approval| approval.status == PaymentApprovalStatus::Ended);
        ended && record.expires_at.is_some_and(|end| end <= at)
    };
    match event {
        EventType::ApprovalRequested => Some(NotificationKind::ApprovalRequested),
        EventType::SettlementCompleted => Some(NotificationKind::PaymentCompleted),
        EventType::SettlementFailed => Some(NotificationKind::PaymentFailed),
        EventType::SettlementCancelled if unapproved() => Some(NotificationKind::ApprovalExpired),
        EventType::SettlementCancelled => Some(NotificationKind::PaymentCancelled),
        EventType::SettlementReturned => Some(NotificationKind::PaymentReturned),
        EventType::SettlementPartiallyReversed | EventType::SettlementReversed => Some(NotificationKind::PaymentReversed),
        EventType::SettlementAccepted
        | EventType::SettlementSubmitted
        | EventType::SettlementUnknown
        | EventType::SettlementDiscrepancy
        | EventType::SettlementReviewed
        | EventType::AttemptStarted
        | EventType::AttemptAnswered
        | EventType::ReversalAccepted
        | EventType::ReversalSubmitted
        | EventType::ReversalUnknown
        | EventType::ReversalCompleted
        | EventType::ReversalFailed
        | EventType::BalanceDeposited
        | EventType::BalanceWithdrawn
        | EventType::BalanceCreditChanged
        | EventType::ApprovalApproved
        | EventType::ApprovalDeclined
        | EventType::BundleCreated
        | EventType::BundleEdited
        | EventType::BundleCommented
        | EventType::BundleTested
        | EventType::BundlePublicationAsked
        | EventType::BundlePublicationFailed
        | EventType::BundleSuperseded
        | EventType::BundleTestAsked
        | EventType::BundleSubmitted
        | EventType::BundleInReview
        | EventType::BundleApproved
        | EventType::BundleRejected
        | EventType::BundleChangesRequested
        | EventType::BundleWithdrawn
        | EventType::BundlePublished
        | EventType::BundleRevoked => None,
    }
}
