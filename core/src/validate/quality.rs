//! What devices measure.
//!
//! ```
//! use railgate::validate::quality::parse_quality;
//!
//! # fn main() -> Result<(), railgate::Error> {
//! # let now = 1_795_257_497_042;
//! let body = br#"{"items": [
//!     {"id": "01KAJX3M7Q5W", "metric": "app.start", "value": 812.5, "unit": "ms", "at": "2026-11-21T10:00:00Z"},
//!     {"id": "01KAJX3M7Q5X", "metric": "app.start", "value": 640, "unit": "ms", "at": "2026-11-21T10:00:00Z", "os": "Ada's phone"}
//! ]}"#;
//! let points = parse_quality(body, now)?;
//! assert_eq!(points[0].as_ref().map(|point| point.value), Ok(812_500));
//! assert!(points[1].is_err());
//! # Ok(())
//! # }
//! ```

use rust_decimal::{Decimal, RoundingStrategy};

use crate::api::{QualityBody, QualityPointBody, Target};
use crate::error::{Error, FieldProblem, PROBLEMS_MAX};
use crate::quality::SKETCH_MAX;
use crate::store::record::{Network, QualityUnit};
use crate::time::{Millis, rfc3339};

use super::json::{FieldProblems, Object, Value};
use super::simulator::one_of;

/// The most points of a batch.
pub const QUALITY_POINTS_MAX: usize = 500;
/// How old a point may be, in milliseconds.
pub const QUALITY_WINDOW_MS: Millis = 7 * 86_400_000;
/// How far ahead a device's clock may be, in milliseconds.
pub const QUALITY_AHEAD_MS: Millis = 300_000;

/// The operating systems that a point may name.
const SYSTEMS: [&str; 8] = ["android", "ios", "ipados", "harmonyos", "windows", "macos", "linux", "other"];
/// What may follow the hyphen in the version of an app.
const STAGES: [&str; 4] = ["alpha", "beta", "rc", "dev"];

/// A valid point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualityPoint {
    /// The app's own id.
    pub id: String,
    /// What was measured.
    pub metric: String,
    /// The value, in thousandths.
    pub value: i64,
    /// What it was measured in.
    pub unit: QualityUnit,
    /// When it was measured.
    pub at: Millis,
    /// The version of the app; empty if it is not known.
    pub app_version: String,
    /// The operating system; empty if it is not known.
    pub os: String,
    /// What the device was connected by.
    pub network: Network,
    /// The settlement that it is about.
    pub settlement: Option<Target>,
    /// Whether what was measured failed.
    pub failed: bool,
}

/// A point, or what is wrong with it.
pub type QualityInput = Result<QualityPoint, Vec<FieldProblem>>;

/// Parses `{"items": [...]}` with 1 to 500 points, each by itself: the pointers of its problems are relative to it. All of them together
/// list at most [`PROBLEMS_MAX`] problems.
///
/// # Errors
/// `malformed_json`, `invalid_fields`: about the batch itself.
pub fn parse_quality(body: &[u8], now: Millis) -> Result<Vec<QualityInput>, Error> {
    let mut body = Object::parse(body, &QualityBody::FIELDS)?;
    let items = body.required("items", |value| value.elements(QUALITY_POINTS_MAX));
    let mut budget = PROBLEMS_MAX;
    let read = |value| {
        point(value, now).map_err(|mut error| {
            error.list_within(&mut budget);
            error.into_fields()
        })
    };
    Ok(body.finish(|| items)?.into_iter().map(read).collect())
}

fn point(value: Value<'_>, now: Millis) -> Result<QualityPoint, Error> {
    let mut body = value.object(&QualityPointBody::FIELDS)?;
    let id = body.required("id", id);
    let metric = body.required("metric", metric);
    let value = body.required("value", thousandths);
    let unit = body.required("unit", |value| Ok(QualityUnit::ALL[one_of(value, &mut QualityUnit::ALL.iter().map(|it| it.as_str()))?]));
    let at = body.required("at", |value| recent(value, now));
    let app_version = body.optional("app_version", app_version);
    let os = body.optional("os", os);
    let network = body.optional("network", |value| Ok(Network::ALL[one_of(value, &mut Network::ALL.iter().map(|it| it.as_str()))?]));
    let settlement = body.optional("settlement", settlement);
    let failed = body.optional("failed", Value::boolean);
    body.finish(|| {
        Some(QualityPoint {
            id: id?,
            metric: metric?,
            value: value?,
            unit: unit?,
            at: at?,
            app_version: app_version?.unwrap_or_default(),
            os: os?.unwrap_or_default(),
            network: network?.unwrap_or(Network::Unknown),
            settlement: settlement?,
            failed: failed?.unwrap_or_default(),
        })
    })
}

fn id(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (8..=64).contains(&text.len()) && text.bytes().all(good) {
        return Ok(text.into_owned());
    }
    Err(FieldProblems::one("id_malformed", "must have 8 to 64 letters, digits, hyphens and underscores, such as a ULID or a UUID"))
}

fn metric(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    if is_metric(&text) {
        return Ok(text.into_owned());
    }
    let said =
        "must be up to four names with dots between, such as payment.confirmed: lower-case letters, digits and underscores, at most 64";
    Err(FieldProblems::one("metric_malformed", said))
}

/// Whether a metric may have this name.
pub fn is_metric(name: &str) -> bool {
    let part = |part: &str| {
        (1..=32).contains(&part.len())
            && part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    name.len() <= 64 && name.split('.').count() <= 4 && name.split('.').all(part)
}

/// A number with or without an exponent, in thousandths.
fn thousandths(value: Value<'_>) -> Result<i64, FieldProblems> {
    let text = value.number()?;
    let is_plain = text.len() <= 40 && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E'));
    let number = if text.contains(['e', 'E']) { Decimal::from_scientific(&text) } else { Decimal::from_str_exact(&text) };
    let number = number.ok().filter(|_| is_plain);
    let number = number.ok_or_else(|| FieldProblems::one("number_malformed", "must be a decimal number of at most 28 digits"))?;
    let mut rounded = number.round_dp_with_strategy(3, RoundingStrategy::MidpointAwayFromZero);
    rounded.rescale(3);
    let fits = i64::try_from(rounded.mantissa()).ok().filter(|it| rounded.scale() == 3 && it.abs() <= SKETCH_MAX);
    fits.ok_or_else(|| FieldProblems::one("out_of_range", "must be from -1000000000000 to 1000000000000"))
}

fn recent(value: Value<'_>, now: Millis) -> Result<Millis, FieldProblems> {
    let at = super::time(value)?;
    if at > now + QUALITY_AHEAD_MS {
        let said = format!("must not be in the future; it is {} now", rfc3339(now));
        Err(FieldProblems::one("at_in_future", said))
    } else if at <= now - QUALITY_WINDOW_MS {
        Err(FieldProblems::one("at_too_old", format!("must be in the last seven days; it is {} now", rfc3339(now))))
    } else {
        Ok(at)
    }
}

/// Digits in groups with dots between.
fn is_numbers(text: &str, groups: usize, digits: usize) -> bool {
    let group = |group: &str| (1..=digits).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit());
    text.split('.').count() <= groups && text.split('.').all(group)
}

fn app_version(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    let (version, build) = text.split_once('+').map_or((&*text, None), |(version, build)| (version, Some(build)));
    let (numbers, stage) = version.split_once('-').map_or((version, None), |(numbers, stage)| (numbers, Some(stage)));
    let is_stage = |text: &str| {
        STAGES
            .iter()
            .filter_map(|stage| text.strip_prefix(stage))
            .any(|n| n.is_empty() || is_numbers(n.strip_prefix('.').unwrap_or(n), 1, 6))
    };
    if is_numbers(numbers, 4, 6) && stage.is_none_or(is_stage) && build.is_none_or(|build| is_numbers(build, 1, 9)) {
        return Ok(text.into_owned());
    }
    Err(FieldProblems::one("version_malformed", "must be a version such as 3.2.0, 3.2.0-beta.1 or 3.2.0+451"))
}

fn os(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    let (name, version) = text.split_once(' ').map_or((&*text, None), |(name, version)| (name, Some(version)));
    if SYSTEMS.contains(&name) && version.is_none_or(|version| is_numbers(version, 3, 4)) {
        return Ok(text.into_owned());
    }
    let said = format!("must be one of {}, and may have a version behind it, as in android 16 or ios 26.1", SYSTEMS.join(", "));
    Err(FieldProblems::one("os_malformed", said))
}

fn settlement(value: Value<'_>) -> Result<Target, FieldProblems> {
    let said = || FieldProblems::one("settlement_malformed", "must be the stl_ id or the reference of a settlement");
    Target::parse(&value.text()?).ok_or_else(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_795_257_497_042;

    fn parsed(more: &str) -> QualityInput {
        let point = format!(r#"{{"id":"01KAJX3M7Q5W","unit":"ms","metric":"app.start","at":"2026-11-21T10:38:00Z",{more}}}"#);
        parse_quality(format!(r#"{{"items":[{point}]}}"#).as_bytes(), NOW).unwrap().remove(0)
    }

    fn codes(input: QualityInput) -> String {
        input.unwrap_err().iter().map(|field| format!("{} {}", field.pointer, field.code)).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_value_is_rounded_to_thousandths() {
        for (given, thousandths) in [
            ("812.5", 812_500),
            ("0", 0),
            ("-3", -3_000),
            ("12.100000001", 12_100),
            ("0.0005", 1),
            ("1e-7", 0),
            ("1.5E+3", 1_500_000),
            ("\"7.25\"", 7_250),
            ("1000000000000", SKETCH_MAX),
        ] {
            assert_eq!(parsed(&format!(r#""value":{given}"#)).map(|point| point.value), Ok(thousandths), "{given}");
        }
        for (given, code) in [
            ("1000000000000.001", "out_of_range"),
            ("-1e20", "out_of_range"),
            ("1e400", "number_malformed"),
            ("\"1_0\"", "number_malformed"),
            ("\"NaN\"", "number_malformed"),
            ("true", "wrong_type"),
        ] {
            assert_eq!(codes(parsed(&format!(r#""value":{given}"#))), format!("/value {code}"), "{given}");
        }
    }

    #[test]
    fn no_member_takes_free_text() {
        for good in ["3", "3.2.0", "3.2.0-beta.1", "3.2.0-rc2+451", "2026.11.21.7"] {
            assert!(parsed(&format!(r#""value":1,"app_version":"{good}""#)).is_ok(), "{good}");
        }
        for bad in ["3.2.0-ada", "v3", "3..2", "3.2.0+ada", "1.2.3.4.5", "3.2.0-beta.x", "", "+1"] {
            assert_eq!(codes(parsed(&format!(r#""value":1,"app_version":"{bad}""#))), "/app_version version_malformed", "{bad}");
        }
        for good in ["android", "android 16", "ios 26.1", "other"] {
            assert!(parsed(&format!(r#""value":1,"os":"{good}""#)).is_ok(), "{good}");
        }
        for bad in ["Android", "ada", "ios ada", "ios  26", "ios 26.1.2.3"] {
            assert_eq!(codes(parsed(&format!(r#""value":1,"os":"{bad}""#))), "/os os_malformed", "{bad}");
        }
        assert_eq!(codes(parsed(r#""value":1,"network":"ada's wifi","user":"ada""#)), "/network unknown_value, /user unknown_field");
        for bad in ["App", "app..start", "a.b.c.d.e", "app start", "9a", &"a".repeat(33)] {
            assert!(!is_metric(bad), "{bad}");
        }
    }

    #[test]
    fn a_point_is_of_the_last_seven_days() {
        let at = |ms: Millis| {
            let body = format!(r#"{{"items":[{{"id":"01KAJX3M","metric":"a","value":1,"unit":"s","at":"{}"}}]}}"#, rfc3339(NOW + ms));
            parse_quality(body.as_bytes(), NOW).unwrap().remove(0)
        };
        assert!(at(QUALITY_AHEAD_MS).is_ok() && at(1 - QUALITY_WINDOW_MS).is_ok());
        assert_eq!(codes(at(QUALITY_AHEAD_MS + 1)), "/at at_in_future");
        assert_eq!(codes(at(-QUALITY_WINDOW_MS)), "/at at_too_old");
    }

    #[test]
    fn a_batch_has_bounds_and_each_point_its_own_problems() {
        let batch = |points: usize| parse_quality(format!(r#"{{"items":[{}]}}"#, vec!["{}"; points].join(",")).as_bytes(), NOW);
        assert!(batch(0).is_err() && batch(501).is_err());
        let all = batch(500).unwrap();
        assert_eq!(codes(all[0].clone()), "/id required, /metric required, /value required, /unit required, /at required");
        assert!(all.iter().all(Result::is_err) && all.iter().flat_map(|one| one.clone().unwrap_err()).count() <= PROBLEMS_MAX + 1);
    }
}
