//! How well an app works: what its devices measure, and what their client is told about it.

use railgate::api::{AmountInput, QualityBody, QualityPointBody, Rate};
use railgate::client::Request;

use crate::client::GatewayClient;
use crate::error::GatewayError;
use crate::filter::{below, pairs};
use crate::link::{now, unique_name};
use crate::measured::QualityOptions;
use crate::mirror::{Give, mirror_record};
use crate::mobile::MOBILE;
use crate::names::{NetworkKind, QualityUnit};
use crate::request::written;
use crate::values::{Decimal, Instant};

/// Where points go. Calls of it are not measured.
pub(crate) fn path() -> String {
    format!("{MOBILE}/quality")
}

/// One point that a device measured. It has no text that could name a person.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct QualityPoint {
    /// What was measured: up to four lower-case names with dots between, such as `screen.open`.
    pub metric: String,
    /// The value: up to 1,000,000,000,000 on either side of zero, kept in thousandths.
    pub value: f64,
    /// What it was measured in.
    pub unit: QualityUnit,
    /// Unique on the device, 8 to 64 letters, digits, `-` and `_`: a point that is sent again counts once. A new one by default.
    #[uniffi(default = None)]
    pub id: Option<String>,
    /// When it was measured, in the last seven days; now by default.
    #[uniffi(default = None)]
    pub at: Option<Instant>,
    /// The version of the app, such as `3.2.0`.
    #[uniffi(default = None)]
    pub app_version: Option<String>,
    /// The operating system and its version, such as `android 16`.
    #[uniffi(default = None)]
    pub os: Option<String>,
    /// What the device was connected by.
    #[uniffi(default = None)]
    pub network: Option<NetworkKind>,
    /// The settlement that it is about, by its id or reference: only its provider is kept.
    #[uniffi(default = None)]
    pub settlement: Option<String>,
    /// Whether what was measured failed. The value counts either way.
    #[uniffi(default = false)]
    pub failed: bool,
}

impl QualityPoint {
    pub(crate) fn body(self) -> Result<QualityPointBody, GatewayError> {
        let Self { metric, value, unit, id, at, app_version, os, network, settlement, failed } = self;
        Ok(QualityPointBody {
            id: id.map_or_else(unique_name, Ok)?,
            metric,
            value: AmountInput::typed(&value.to_string()),
            // The gateway refuses an unknown one.
            unit: unit.name().unwrap_or("unrecognised").to_owned(),
            at: at.unwrap_or(Instant(now())).rfc3339(),
            app_version,
            os,
            network: network.and_then(NetworkKind::name).map(str::to_owned),
            settlement,
            failed: Some(failed),
        })
    }
}

mirror_record! {
    /// What became of points.
    QualityTaken of railgate::api::QualityTakenView {
        /// How many were taken.
        accepted: u64,
        /// How many had been taken before.
        duplicates: u64,
        /// Those that were refused: sending them again does not help.
        refused: Vec<QualityRefusal>,
    }
}

mirror_record! {
    /// A point that was refused.
    QualityRefusal of railgate::api::QualityRefusalView {
        /// Its place among those that were sent, from 0.
        index: u64,
        /// Why, with pointers into the point.
        errors: Vec<crate::FieldProblem>,
    }
}

mirror_record! {
    /// What devices measured of one thing, in groups. A group of fewer than five devices is not shown by itself.
    QualitySummary of railgate::api::QualitySummaryView {
        /// What was measured.
        metric: String,
        /// `sandbox` or `live`.
        environment: String,
        /// The beginning: of an hour, UTC.
        from_time("from") = from: Instant,
        /// The end, exclusive.
        to_time("to") = to: Instant,
        /// The groups, in order.
        groups: Vec<QualityGroup>,
        /// How many points are in none of the groups, because too few devices measured them.
        withheld: i64,
        /// Whether everything was counted: of very much, the newest is.
        complete: bool,
    }
}

mirror_record! {
    /// A group. It has a member for each thing that was asked for.
    QualityGroup of railgate::api::QualityGroupView {
        /// Whether this is what the groups of fewer than five devices add up to.
        other: bool [default],
        /// The beginning of the hour.
        hour: Option<Instant>,
        /// The day (UTC), such as `2026-11-21`.
        day: Option<String>,
        /// The version of the app, or `unknown`.
        app_version: Option<String>,
        /// The operating system, or `unknown`.
        os: Option<String>,
        /// What the devices were connected by.
        network: Option<NetworkKind>,
        /// The provider's id, or `none` for points about no settlement.
        provider: Option<String>,
        /// What the values are measured in.
        unit: QualityUnit,
        /// How many points there are.
        count: i64,
        /// The mean of the values.
        mean: Decimal,
        /// The median: like the other percentiles, at most one hundredth of its size off.
        p50: Decimal,
        /// The 95th percentile.
        p95: Decimal,
        /// The 99th percentile.
        p99: Decimal,
        /// The smallest value.
        min: Decimal,
        /// The largest value.
        max: Decimal,
        /// The share of points that are about something that failed, from 0 to 1.
        failure_rate: f64,
    }
}

impl Give<f64> for Rate {
    fn give(self) -> Result<f64, GatewayError> {
        Ok(f64::from(self.millionths()) / 1_000_000.0)
    }
}

/// What to sum up.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct QualityQuery {
    /// What was measured.
    pub metric: String,
    /// From the hour (UTC) of this time; by default the day before `until`.
    #[uniffi(default = None)]
    pub since: Option<Instant>,
    /// To the end of the hour of this time; now by default.
    #[uniffi(default = None)]
    pub until: Option<Instant>,
    /// What tells groups apart: up to two of `hour`, `day`, `app_version`, `os`, `network` and `provider`.
    #[uniffi(default = [])]
    pub by: Vec<String>,
}

#[uniffi::export]
impl GatewayClient {
    /// Has the package measure its calls from now on, on behalf of the app, and send what it measured beside later calls. Nothing is
    /// measured without this. `None` ends it and forgets what was not sent. Call it again when the network changes.
    ///
    /// Measured are `payment.answer`, `approval.answer` and `call.answer` (ms until the gateway answered; `failed` if it did not),
    /// `call.retries` (of calls that were sent more than once) and `network.offline` (ms without a connection). No call waits for it or
    /// fails by it. At most 500 points are kept, in memory: the newest.
    ///
    /// # Errors
    /// `Invalid` with code `invalid_fields` for a version or a system that a point must not name.
    pub fn measure_quality(&self, options: Option<QualityOptions>) -> Result<(), GatewayError> {
        self.link.measured().set(options)
    }

    /// Sends everything that was measured so far, and returns how many points that were: when the app goes to the background, or
    /// wherever its key may ask its user. It is done by itself beside other calls unless `background` is false.
    ///
    /// # Errors
    /// `Refused`; `Unanswered`, `Unsigned`: the points are kept.
    pub async fn send_quality(&self) -> Result<u64, GatewayError> {
        self.link.send_measured().await
    }

    /// Reports what the app itself measured: 1 to 500 points. A point that is wrong does not affect the others.
    ///
    /// # Errors
    /// `Refused`; `Unanswered`, `Unsigned`: send the same points again, with their ids.
    pub async fn report_quality(&self, points: Vec<QualityPoint>) -> Result<QualityTaken, GatewayError> {
        let items = points.into_iter().map(QualityPoint::body).collect::<Result<_, _>>()?;
        self.call(Request::post(&path(), written(&QualityBody { items }))).await
    }

    /// Returns what the devices of the client's users measured. No device may read it.
    ///
    /// # Errors
    /// `Refused`, such as `insufficient_scope` on a device or `invalid_fields`; `Unanswered`, `Unsigned`.
    pub async fn quality_summary(&self, query: QualityQuery) -> Result<QualitySummary, GatewayError> {
        let QualityQuery { metric, since, until, by } = query;
        let (since, until) = (since.map(Instant::rfc3339), until.map(Instant::rfc3339));
        let mut query = pairs([("metric", Some(metric)), ("from", since), ("to", until)]);
        query.extend(by.into_iter().map(|by| ("by".to_owned(), by)));
        self.look(below(&format!("{}/summary", path()), query)).await
    }
}
