//! Verifies that each day's counter is the sum of the payments that count for it.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::lifecycle::SettlementStatus;
use crate::store::record::{BroughtRecord, Key, SettlementRecord, UsageRecord};
use crate::store::{Scan, Store, typed_all};
use crate::terms::{UsageId, Used};
use crate::time::rfc3339;

use super::{PAGE, VerifyReport};

/// What the counted payments of each day add up to.
#[derive(Default)]
pub(super) struct UsageCheck(BTreeMap<UsageId, Used>);

impl UsageCheck {
    /// Adds a settlement.
    pub(super) fn settlement(&mut self, record: &SettlementRecord) {
        let counts = match record.status {
            SettlementStatus::Failed | SettlementStatus::Cancelled => Used::default(),
            SettlementStatus::Accepted
            | SettlementStatus::Submitted
            | SettlementStatus::Unknown
            | SettlementStatus::Completed
            | SettlementStatus::PartiallyReversed
            | SettlementStatus::Reversed
            | SettlementStatus::Returned => Used::one(record.amount),
        };
        for id in record.counters() {
            let sum = self.0.entry(id).or_default();
            *sum = sum.plus(counts);
        }
    }

    /// Compares the sums with the stored counters.
    pub(super) fn end(mut self, store: &dyn Store, report: &mut VerifyReport) -> Result<()> {
        self.add_brought(store)?;
        let mut after = UsageId(i64::MIN);
        loop {
            let page: Vec<UsageRecord> = typed_all(store.scan(&Scan::after(&Key::Usage(after), PAGE))?)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            for stored in page {
                let sum = self.0.remove(&stored.id).unwrap_or_default();
                if sum != stored.used {
                    differs(report, stored.id, stored.used, sum);
                }
            }
        }
        self.0.into_iter().for_each(|(id, sum)| differs(report, id, Used::default(), sum));
        Ok(())
    }
}

impl UsageCheck {
    /// Adds what clients brought from the gateways at which they were before.
    fn add_brought(&mut self, store: &dyn Store) -> Result<()> {
        let mut after = UsageId(i64::MIN);
        loop {
            let page: Vec<BroughtRecord> = typed_all(store.scan(&Scan::after(&Key::Brought(after), PAGE))?)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.id;
            for BroughtRecord { id, used } in page {
                let sum = self.0.entry(id).or_default();
                *sum = sum.plus(used);
            }
        }
    }
}

fn differs(report: &mut VerifyReport, id: UsageId, says: Used, is: Used) {
    let currency = id.currency().map_or("?", |currency| currency.code());
    let whose = id.client().user().map_or_else(|| format!("client {}", id.client().0), |user| format!("user {}", user.0));
    let what = format!("counter of {whose}, {} {currency}, {}", id.mode().as_str(), &rfc3339(id.day())[..10]);
    let said = format!("it says {} minor units in {} payments, the payments are {} in {}", says.value, says.count, is.value, is.count);
    report.problem(what, "usage_differs", said);
}
