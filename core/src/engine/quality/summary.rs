//! Summaries: groups of what was measured, none of them of a few devices.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use crate::api::{Caller, DecimalNumber, QualityGroupView, QualitySummaryView, Rate};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::{ClientNo, ProviderNo};
use crate::ledger::Mode;
use crate::lifecycle::named_enum;
use crate::quality::{Devices, Sketch};
use crate::store::record::{Network, QualityRecord, QualityUnit};
use crate::store::{Scan, typed_all};
use crate::time::{Millis, rfc3339};

use super::{DAY, HOUR};

/// The longest range of a summary, in milliseconds.
pub const QUALITY_RANGE_MS: Millis = 92 * DAY;
/// The range that is summarised by default, up to now.
const USUAL: Millis = 7 * DAY;
/// Beyond every time that people mean.
const FAR: Millis = i64::MAX / 4;
/// The most things that tell groups apart.
const BY_MAX: usize = 2;
/// The most records that are read: half a second or so of a machine's time.
const MOST: usize = 50_000;
/// The range that is read at once.
const PAGE: Millis = 4 * DAY;

named_enum! {
    /// What tells groups of points apart.
    pub enum QualityBy {
        /// The hour; the day, of what is older than nine days.
        Hour = "hour",
        /// The day (UTC).
        Day = "day",
        /// The version of the app.
        AppVersion = "app_version",
        /// The operating system.
        Os = "os",
        /// What the device was connected by.
        Network = "network",
        /// The provider of the settlement.
        Provider = "provider",
    }
}

/// What is summarised, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualityRequest {
    metric: String,
    from: Millis,
    to: Millis,
    by: Vec<QualityBy>,
}

impl QualityRequest {
    /// What was measured from `from` on and before `to`, whole hours: by default in the seven days before `now`.
    ///
    /// # Errors
    /// `invalid_fields`.
    pub fn new(metric: String, from: Option<Millis>, to: Option<Millis>, by: Vec<QualityBy>, now: Millis) -> Result<Self> {
        let hours = |at: Millis| at.clamp(-FAR, FAR).div_euclid(HOUR);
        let to = hours(to.unwrap_or(now).saturating_add(HOUR - 1)) * HOUR;
        let from = from.map_or(to - USUAL, |from| hours(from) * HOUR);
        if from >= to {
            return Err(Error::field("from", "out_of_range", "from must be earlier than to"));
        }
        if to - from > QUALITY_RANGE_MS {
            return Err(Error::field("from", "out_of_range", format!("a summary is of at most {} days", QUALITY_RANGE_MS / DAY)));
        }
        let repeated = by.len() == BY_MAX && by.first() == by.last();
        if by.len() > BY_MAX || repeated {
            return Err(Error::field("by", "too_many", format!("by may be given up to {BY_MAX} times, each time another one")));
        }
        Ok(Self { metric, from, to, by })
    }
}

/// What tells a group apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Time(Millis),
    Text(String),
    Network(Network),
    Provider(ProviderNo),
}

/// The points of a group.
#[derive(Default)]
struct Group {
    points: i64,
    failures: i64,
    devices: Devices,
    values: Sketch,
}

impl Group {
    fn add(&mut self, points: i64, failures: i64, devices: &Devices, values: &Sketch) {
        self.points += points;
        self.failures += failures;
        self.devices.merge(devices);
        self.values.merge(values);
    }
}

/// Whose devices measured what is summarised.
#[derive(Clone, Copy)]
enum Whose {
    /// Those of one client.
    Client(ClientNo),
    /// Those of every client.
    All,
}

impl Engine {
    /// What devices of the caller measured, in its mode. Groups of few devices are added up, and left out if that is of few devices too.
    ///
    /// # Errors
    /// Why the store cannot be read.
    pub fn quality_summary(&self, caller: &Caller, request: &QualityRequest) -> Result<QualitySummaryView> {
        self.summarise(Whose::Client(caller.client), caller.mode, request)
    }

    /// What devices of all clients measured, in this mode. They count together: a group is of at least five devices, whosever they are.
    ///
    /// # Errors
    /// Why the store cannot be read.
    pub fn quality_summary_of_all(&self, mode: Mode, request: &QualityRequest) -> Result<QualitySummaryView> {
        self.summarise(Whose::All, mode, request)
    }

    /// What was measured from `start` on and before `end`; up to `most` records, and whether these are all.
    fn measured(
        &self,
        whose: Whose,
        mode: Mode,
        metric: &str,
        (start, end): (Millis, Millis),
        most: usize,
    ) -> Result<(Vec<QualityRecord>, bool)> {
        let limit = most.saturating_add(1);
        let scans = match whose {
            Whose::Client(client) => vec![Scan::quality(client, mode, metric, start, end, limit)],
            // The index by time has hours and days apart.
            Whose::All => [false, true].map(|is_day| Scan::quality_of_all(is_day, metric, start, end, limit)).to_vec(),
        };
        let (mut found, mut is_all) = (Vec::new(), true);
        for scan in scans {
            let part: Vec<QualityRecord> = typed_all(self.store.scan(&scan)?)?;
            is_all &= part.len() <= most;
            found.extend(part.into_iter().take(most).filter(|it| it.mode == mode));
        }
        is_all &= found.len() <= most;
        found.truncate(most);
        Ok((found, is_all))
    }

    fn summarise(&self, whose: Whose, mode: Mode, request: &QualityRequest) -> Result<QualitySummaryView> {
        let mut groups: BTreeMap<(QualityUnit, Vec<Mark>), Group> = BTreeMap::new();
        let (mut left, mut end, mut complete) = (MOST, request.to, true);
        while end > request.from && complete {
            let start = request.from.max(end - PAGE);
            let (page, is_all) = self.measured(whose, mode, &request.metric, (start, end), left)?;
            complete = is_all;
            for it in &page {
                let marks = request.by.iter().map(|by| mark_of(*by, it)).collect();
                groups.entry((it.unit, marks)).or_default().add(it.points, it.failures, &it.devices, &it.values);
            }
            (left, end) = (left - page.len(), start);
        }
        Ok(self.summary_view(mode, request, groups, complete))
    }

    /// A summary without what is of few devices.
    fn summary_view(
        &self,
        mode: Mode,
        request: &QualityRequest,
        groups: BTreeMap<(QualityUnit, Vec<Mark>), Group>,
        complete: bool,
    ) -> QualitySummaryView {
        let (shown, few): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, group)| group.devices.are_enough());
        let mut others: BTreeMap<QualityUnit, Group> = BTreeMap::new();
        for ((unit, _), group) in &few {
            others.entry(*unit).or_default().add(group.points, group.failures, &group.devices, &group.values);
        }
        let (others, withheld): (Vec<_>, Vec<_>) = others.into_iter().partition(|(_, group)| group.devices.are_enough());
        let shown = shown.iter().map(|((unit, marks), group)| self.group_view(*unit, Some((&request.by, marks)), group));
        let others = others.iter().map(|(unit, group)| self.group_view(*unit, None, group));
        QualitySummaryView {
            metric: request.metric.clone(),
            environment: mode,
            from: rfc3339(request.from),
            to: rfc3339(request.to),
            groups: shown.chain(others).collect(),
            withheld: withheld.iter().map(|(_, group)| group.points).sum(),
            complete,
        }
    }

    /// A group as it is shown; without marks, the one of all that is not shown by itself.
    fn group_view(&self, unit: QualityUnit, marks: Option<(&[QualityBy], &[Mark])>, group: &Group) -> QualityGroupView {
        let values = &group.values;
        let percentile = |percent| halves(values.twice_quantile(percent));
        let failed = group.failures.saturating_mul(1_000_000).checked_div(group.points).and_then(|share| u32::try_from(share).ok());
        let mut view = QualityGroupView {
            other: marks.is_none(),
            hour: None,
            day: None,
            app_version: None,
            os: None,
            network: None,
            provider: None,
            unit,
            count: group.points,
            mean: halves(twice_mean(values)),
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
            min: halves(values.min().map(|value| 2 * value)),
            max: halves(values.max().map(|value| 2 * value)),
            failure_rate: failed.and_then(Rate::of_millionths).unwrap_or_default(),
        };
        for (by, mark) in marks.iter().flat_map(|(by, marks)| by.iter().zip(*marks)) {
            match (by, mark) {
                (QualityBy::Hour, Mark::Time(at)) => view.hour = Some(rfc3339(*at)),
                (_, Mark::Time(at)) => view.day = rfc3339(*at).get(..10).map(str::to_owned),
                (QualityBy::Os, Mark::Text(text)) => view.os = Some(told(text)),
                (_, Mark::Text(text)) => view.app_version = Some(told(text)),
                (_, Mark::Network(network)) => view.network = Some(*network),
                (_, Mark::Provider(ProviderNo(0))) => view.provider = Some("none".to_owned()),
                (_, Mark::Provider(no)) => view.provider = Some(self.provider_id(*no).into()),
            }
        }
        view
    }
}

fn mark_of(by: QualityBy, record: &QualityRecord) -> Mark {
    match by {
        QualityBy::Hour => Mark::Time(record.begins_at),
        QualityBy::Day => Mark::Time(record.begins_at.div_euclid(DAY) * DAY),
        QualityBy::AppVersion => Mark::Text(record.app_version.clone()),
        QualityBy::Os => Mark::Text(record.os.clone()),
        QualityBy::Network => Mark::Network(record.network),
        QualityBy::Provider => Mark::Provider(record.provider),
    }
}

/// What an app may leave out.
fn told(text: &str) -> String {
    if text.is_empty() { "unknown" } else { text }.to_owned()
}

/// Twice the mean, rounded towards zero.
fn twice_mean(values: &Sketch) -> Option<i64> {
    let mean = values.sum().saturating_mul(2).checked_div(values.count().into())?;
    i64::try_from(mean).ok()
}

/// Half of so many thousandths.
fn halves(twice: Option<i64>) -> DecimalNumber {
    let tens_of_thousandths = i128::from(twice.unwrap_or_default()) * 5;
    DecimalNumber::from_text(Decimal::from_i128_with_scale(tens_of_thousandths, 4).normalize().to_string())
}
