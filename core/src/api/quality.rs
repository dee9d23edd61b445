//! What devices measure, and what clients are told about it.

use serde::{Deserialize, Serialize};

use super::request::body;
use super::{AmountInput, DecimalNumber, Rate};
use crate::error::FieldProblem;
use crate::store::record::{Network, QualityUnit};

body! {
    /// What a device measured: 1 to 500 points.
    QualityBody {
        /// The points, in any order.
        [min_items = 1, max_items = 500]
        items: Vec<QualityPointBody>,
    } optional {}
}

body! {
    /// One point. It has no text that could name a person.
    QualityPointBody {
        /// The app's own id, unique on the device: a point that is sent again counts once.
        [example = "01KAJX3M7Q5W8ZP9D2R4T6V8YB", pattern = "^[A-Za-z0-9_-]{8,64}$"]
        id: String,
        /// What was measured: up to four lower-case names.
        [example = "payment.confirmed", pattern = "^[a-z][a-z0-9_]{0,31}([.][a-z][a-z0-9_]{0,31}){0,3}$", max_length = 64]
        metric: String,
        /// The value: up to 1,000,000,000,000 on either side of zero, rounded to thousandths.
        [example = 812.5]
        value: AmountInput,
        /// `ms`, `s`, `count`, `bytes` or `percent`.
        [example = "ms"]
        unit: String,
        /// When it was measured, RFC 3339: in the last seven days, and at most five minutes ahead of the gateway's clock.
        [example = "2026-11-21T10:38:17Z", format = DateTime]
        at: String,
    } optional {
        /// The version of the app.
        [example = "3.2.0", pattern = "^[0-9]{1,6}([.][0-9]{1,6}){0,3}(-(alpha|beta|rc|dev)([.]?[0-9]{1,6})?)?([+][0-9]{1,9})?$"]
        app_version: String,
        /// The operating system, and its version.
        [example = "android 16", pattern = "^(android|ios|ipados|harmonyos|windows|macos|linux|other)( [0-9]{1,4}([.][0-9]{1,4}){0,2})?$"]
        os: String,
        /// `wifi`, `cellular`, `ethernet`, `offline` or `unknown`, which is the default.
        [example = "cellular"]
        network: String,
        /// The settlement that it is about: its `stl_` id or its reference. Only its provider is kept, if it is the caller's own.
        [example = "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB"]
        settlement: String,
        /// Whether what was measured failed. Default: it did not.
        failed: bool,
    }
}

/// What became of a batch of points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QualityTakenView {
    /// How many points were taken.
    pub accepted: usize,
    /// How many had been taken before.
    pub duplicates: usize,
    /// The points that were refused; sending them again does not help.
    pub refused: Vec<QualityRefusalView>,
}

/// A point that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QualityRefusalView {
    /// Its place in the batch, from 0.
    pub index: usize,
    /// Why, with pointers into the point. A batch lists at most 100 problems: of further points, none.
    pub errors: Vec<FieldProblem>,
}

/// What devices measured of one thing, in groups. A group of fewer than five devices is not shown by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QualitySummaryView {
    /// What was measured.
    #[cfg_attr(feature = "openapi", schema(example = "payment.confirmed"))]
    pub metric: String,
    /// `sandbox` or `live`.
    pub environment: crate::ledger::Mode,
    /// The beginning, RFC 3339: of an hour, UTC.
    pub from: String,
    /// The end, RFC 3339, exclusive.
    pub to: String,
    /// The groups, in order.
    pub groups: Vec<QualityGroupView>,
    /// How many points are in none of the groups, because too few devices measured them.
    pub withheld: i64,
    /// Whether everything was counted: of very much, the newest is.
    pub complete: bool,
}

/// A group. It has a member for each that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QualityGroupView {
    /// Whether this is what the groups of fewer than five devices add up to. It has none of the members that tell groups apart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub other: bool,
    /// The beginning of the hour, RFC 3339; of what is older than nine days, of the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<String>,
    /// The day (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "2026-11-21"))]
    pub day: Option<String>,
    /// The version of the app, or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_version: Option<String>,
    /// The operating system, or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// What the devices were connected by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The provider's id, or `none` for points about no settlement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What the values are measured in. Different ones are never added up.
    pub unit: QualityUnit,
    /// How many points there are.
    pub count: i64,
    /// The mean of the values.
    pub mean: DecimalNumber,
    /// The median: like the other percentiles, at most one hundredth of its size off.
    pub p50: DecimalNumber,
    /// The 95th percentile.
    pub p95: DecimalNumber,
    /// The 99th percentile.
    pub p99: DecimalNumber,
    /// The smallest value.
    pub min: DecimalNumber,
    /// The largest value.
    pub max: DecimalNumber,
    /// The share of points that are about something that failed.
    pub failure_rate: Rate,
}
