//! What the gateway did in a period, by provider and currency.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::api::{
    FigureView, FourEyesView, OperatorSettingsView, OverviewView, QueuesView, Rate, ReviewsDueView, StakeView, WebhookFiguresView,
};
use crate::engine::{DueReviews, Engine, nodes};
use crate::error::Result;
use crate::ids::{ClientNo, ProviderNo, SettlementNo};
use crate::ledger::Mode;
use crate::lifecycle::{Direction, SettlementStatus};
use crate::money::{Currency, Money};
use crate::store::record::{ClockRecord, DeliveryRecord, DeliveryStatus, Key, RecordKind, SettlementRecord, TaskKey};
use crate::store::{Scan, SettlementFilter, typed, typed_all};
use crate::time::{Millis, rfc3339};

/// The most settlements that are looked at for each environment: a second or so of a machine's time. Live figures are not hidden by what
/// sandboxes do.
const MOST: [(Mode, i64); 2] = [(Mode::Live, 1_000_000), (Mode::Sandbox, 100_000)];
/// How many are read at once.
const PAGE: usize = 2_000;
/// The most deliveries that are looked at, up to a page: half a second or so of a machine's time.
const MOST_DELIVERIES: usize = 50_000;
/// The last time that the number of a delivery can have.
const LAST_MILLIS: Millis = i64::MAX >> 20;
/// Up to how many things that wait are counted.
const WAITING: usize = 10_000;

/// The payments of one provider in one currency, so far.
#[derive(Default)]
struct Sums {
    count: usize,
    value: i64,
    succeeded: usize,
    succeeded_value: i64,
    failed: usize,
    cancelled: usize,
    took: Vec<Millis>,
}

impl Sums {
    fn add(&mut self, it: &SettlementRecord) {
        self.count += 1;
        self.value = self.value.saturating_add(it.amount);
        match it.status {
            SettlementStatus::Completed | SettlementStatus::PartiallyReversed | SettlementStatus::Reversed | SettlementStatus::Returned => {
                self.succeeded += 1;
                self.succeeded_value = self.succeeded_value.saturating_add(it.amount);
                self.took.extend(it.completed_at.map(|at| (at - it.created_at).max(0)));
            }
            SettlementStatus::Failed => self.failed += 1,
            SettlementStatus::Cancelled => self.cancelled += 1,
            SettlementStatus::Accepted | SettlementStatus::Submitted | SettlementStatus::Unknown => {}
        }
    }

    fn view(mut self, mode: Mode, provider: String, currency: Currency) -> FigureView {
        self.took.sort_unstable();
        let took = |percent: usize| self.took.get((self.took.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        let ended = self.succeeded + self.failed;
        let millionths = (self.succeeded * 1_000_000).checked_div(ended).and_then(|share| u32::try_from(share).ok());
        FigureView {
            sandbox: mode.is_sandbox(),
            provider,
            currency: currency.code().to_owned(),
            count: self.count,
            value: Money::from_minor(self.value, currency).into(),
            succeeded: self.succeeded,
            succeeded_value: Money::from_minor(self.succeeded_value, currency).into(),
            failed: self.failed,
            cancelled: self.cancelled,
            open: self.count - ended - self.cancelled,
            success_rate: millionths.and_then(Rate::of_millionths),
            p50_ms: took(50),
            p95_ms: took(95),
        }
    }
}

impl DueReviews {
    fn view(self) -> ReviewsDueView {
        let stake = |((mode, currency), minor): ((Mode, Currency), i64)| StakeView {
            sandbox: mode.is_sandbox(),
            currency: currency.code().to_owned(),
            amount: Money::from_minor(minor, currency).into(),
        };
        ReviewsDueView {
            due: self.waiting.values().map(|(count, _)| count).sum(),
            oldest_at: self.waiting.values().map(|(_, oldest)| *oldest).min().map(rfc3339),
            at_stake: self.at_stake.into_iter().map(stake).collect(),
        }
    }
}

/// When the gateway accepted settlements, by its own clock.
struct AcceptedAt<'a> {
    engine: &'a Engine,
    now: Millis,
    /// The clocks of sandboxes that were read so far.
    known: HashMap<ClientNo, Option<ClockRecord>>,
}

impl AcceptedAt<'_> {
    /// Exact, unless the client has changed the clock of its sandbox: then as [`ClockRecord::shown`] tells.
    fn of(&mut self, it: &SettlementRecord) -> Result<Millis> {
        if !self.engine.has_own_clock(it.owner()) {
            return Ok(it.created_at);
        }
        let clock = match self.known.entry(it.client) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(typed(self.engine.store.get(&Key::Clock(it.client))?)?),
        };
        Ok(clock.as_ref().map_or(it.created_at, |clock| clock.shown(it.created_at, self.now)))
    }
}

impl Engine {
    /// What was accepted from `from` on and before `to`, by the gateway's clock, and what waits now. Of very many settlements, the newest
    /// are counted.
    pub fn overview(&self, from: Millis, to: Millis) -> Result<OverviewView> {
        let (first, end) = self.numbers_of(Some(from), Some(to))?;
        let mut clocks = AcceptedAt { engine: self, now: self.now(), known: HashMap::new() };
        let mut sums: BTreeMap<(Mode, ProviderNo, Currency), Sums> = BTreeMap::new();
        let (mut counted, mut complete) = (0, true);
        for (mode, most) in MOST {
            // A payment between two clients is one of them, seen from its payer.
            let filter = SettlementFilter { mode: Some(mode), direction: Some(Direction::Outgoing), ..SettlementFilter::default() };
            let (lowest, mut end) = (first.0.max(end.0.saturating_sub(most)), end);
            complete &= lowest <= first.0;
            while end.0 > lowest {
                let start = SettlementNo(lowest.max(end.0 - PAGE as i64));
                let page: Vec<SettlementRecord> = typed_all(self.store.scan(&Scan::settlements(&filter, start, end, PAGE))?)?;
                for it in &page {
                    if (from..to).contains(&clocks.of(it)?) {
                        counted += 1;
                        sums.entry((it.mode, it.provider, it.currency)).or_default().add(it);
                    }
                }
                end = start;
            }
        }
        let figures =
            sums.into_iter().map(|((mode, provider, currency), sums)| sums.view(mode, self.provider_id(provider).into(), currency));
        let due = self.reviews_due(WAITING)?;
        Ok(OverviewView {
            from: rfc3339(from),
            to: rfc3339(to),
            counted,
            complete,
            figures: figures.collect(),
            reviews: due.view(),
            approvals_pending: self.approvals_pending()?,
            queues: self.queues()?,
            webhooks: self.webhook_figures(from, to)?,
            nodes: nodes(&*self.store, self.now())?,
        })
    }

    /// What became of the deliveries that were made from `from` on and before `to`.
    fn webhook_figures(&self, from: Millis, to: Millis) -> Result<WebhookFiguresView> {
        let mut figures = WebhookFiguresView { complete: true, ..WebhookFiguresView::default() };
        // Deliveries are numbered by their time.
        let first_of = |at: Millis| at.clamp(0, LAST_MILLIS) << 20;
        let (mut after, end) = (first_of(from) - 1, first_of(to));
        loop {
            let page: Vec<DeliveryRecord> = typed_all(self.store.scan(&Scan::after(&Key::Delivery(after), PAGE))?)?;
            let (read, Some(last)) = (page.len(), page.last().map(|last| last.no)) else { return Ok(figures) };
            for delivery in page.iter().take_while(|delivery| delivery.no < end) {
                figures.counted += 1;
                *match delivery.status {
                    DeliveryStatus::Delivered => &mut figures.delivered,
                    DeliveryStatus::Failed => &mut figures.failed,
                    DeliveryStatus::Pending if delivery.attempts > 0 => &mut figures.retrying,
                    DeliveryStatus::Pending => &mut figures.waiting,
                } += 1;
            }
            if last >= end || read < PAGE {
                return Ok(figures);
            }
            if figures.counted >= MOST_DELIVERIES {
                return Ok(WebhookFiguresView { complete: false, ..figures });
            }
            after = last;
        }
    }

    /// The settings that operators act under.
    pub fn operator_settings(&self) -> OperatorSettingsView {
        OperatorSettingsView { four_eyes: FourEyesView::from(&self.config.four_eyes) }
    }

    /// What waits to be carried out, by whichever server is next.
    fn queues(&self) -> Result<QueuesView> {
        let now = self.now();
        let count = |scan: Scan| -> Result<usize> { Ok(self.store.scan(&scan)?.len()) };
        let webhooks = [false, true].map(|troubled| count(Scan::queues(troubled, now, WAITING)));
        Ok(QueuesView {
            outbox_due: count(Scan::tasks(TaskKey(i64::MIN), now, WAITING))?,
            outbox_due_since: self.next_due()?.filter(|due| *due <= now).map(rfc3339),
            webhooks_due: webhooks.into_iter().sum::<Result<usize>>()?,
            commits_to_number: count(Scan::all(RecordKind::Unlogged, WAITING))?,
        })
    }
}
