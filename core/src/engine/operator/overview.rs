//! What the gateway did in a period, by provider and currency.

use std::collections::BTreeMap;

use crate::api::{FigureView, OverviewView, QueuesView, Rate, ReviewsDueView, StakeView};
use crate::engine::{DueReviews, Engine, nodes};
use crate::error::Result;
use crate::ids::{ProviderNo, SettlementNo};
use crate::ledger::Mode;
use crate::lifecycle::{Direction, SettlementStatus};
use crate::money::{Currency, Money};
use crate::store::record::{RecordKind, SettlementRecord, TaskKey};
use crate::store::{Scan, SettlementFilter, typed_all};
use crate::time::{Millis, rfc3339};

use super::read::SKEW;

/// The most settlements that are looked at for each environment: a second or so of a machine's time. Live figures are not hidden by what
/// sandboxes do.
const MOST: [(Mode, i64); 2] = [(Mode::Live, 1_000_000), (Mode::Sandbox, 100_000)];
/// How many are read at once.
const PAGE: usize = 2_000;
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
        ReviewsDueView { due: self.count, oldest_at: self.oldest.map(rfc3339), at_stake: self.at_stake.into_iter().map(stake).collect() }
    }
}

impl Engine {
    /// What was accepted from `from` on and before `to`, and what waits now. Of very many settlements, the newest are counted.
    pub fn overview(&self, from: Millis, to: Millis) -> Result<OverviewView> {
        let first = self.first_created_from(Some(from.saturating_sub(SKEW)))?;
        let end = self.first_created_from(Some(to.saturating_add(SKEW)))?;
        // A payment between two clients is one of them, seen from its payer.
        let (direction, bounds) = (Some(Direction::Outgoing), (Some(from), Some(to)));
        let mut sums: BTreeMap<(Mode, ProviderNo, Currency), Sums> = BTreeMap::new();
        let (mut counted, mut complete) = (0, true);
        for (mode, most) in MOST {
            let (created_from, created_to) = bounds;
            let filter = SettlementFilter { mode: Some(mode), created_from, created_to, direction, ..SettlementFilter::default() };
            let (lowest, mut end) = (first.0.max(end.0.saturating_sub(most)), end);
            complete &= lowest <= first.0;
            while end.0 > lowest {
                let start = SettlementNo(lowest.max(end.0 - PAGE as i64));
                let page: Vec<SettlementRecord> = typed_all(self.store.scan(&Scan::settlements(&filter, start, end, PAGE))?)?;
                counted += page.len();
                for it in &page {
                    sums.entry((it.mode, it.provider, it.currency)).or_default().add(it);
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
            nodes: nodes(&*self.store, self.now())?,
        })
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
