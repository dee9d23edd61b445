//! The report of a test, as partners and reviewers read it.

use std::time::Duration;

use railgate::api::{CameReport, CheckReport, ConformanceReport, ExchangeReport};

use super::checks::{Check, Verdict};
use super::stand::Seen;

/// The longest body that is shown, in bytes, and the most exchanges of a check.
const BODY_MAX: usize = 2_048;
const EXCHANGES_MAX: usize = 12;

/// What the checks of an endpoint found.
pub(crate) fn report(base_url: &str, checks: &[Check], took: Duration) -> ConformanceReport {
    let failed = checks.iter().filter(|check| matches!(check.verdict, Verdict::Failed(_))).count();
    ConformanceReport {
        ok: failed == 0,
        base_url: base_url.to_owned(),
        failed: u32::try_from(failed).unwrap_or(u32::MAX),
        took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        checks: checks.iter().map(check_report).collect(),
    }
}

fn check_report(check: &Check) -> CheckReport {
    CheckReport {
        check: check.about.to_owned(),
        result: check.verdict.name().to_owned(),
        why: check.verdict.why().map(cut),
        expected: check.expected.to_owned(),
        says: check.says.to_owned(),
        exchanges: check.seen.iter().take(EXCHANGES_MAX).map(exchange).collect(),
    }
}

fn exchange(seen: &Seen) -> ExchangeReport {
    ExchangeReport {
        method: seen.method.to_owned(),
        url: cut(&seen.url),
        body: cut(&seen.body),
        came: seen.status().map(|status| CameReport { status, body: cut(seen.came_body()) }),
        took_ms: seen.took_ms,
    }
}

/// The beginning of a long text.
fn cut(text: &str) -> String {
    if text.len() <= BODY_MAX {
        return text.to_owned();
    }
    let end = (0..=BODY_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}
