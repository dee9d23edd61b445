//! What a response other than 2xx says about the try that it ends.

use super::{Lost, Why};
use crate::client::proof::{Proof, known, passes};
use crate::client::{Response, Told, told};
use crate::error::ErrorCode;
use crate::time::{Millis, parse_http_date};

/// What happened to a try, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing left the host.
    NotSent,
    /// It was refused and not carried out.
    Refused,
    /// Neither this nor any other try was carried out, or the aim of the call has already been reached.
    Settled,
    /// It was answered and may have been carried out.
    Open,
    /// Something other than a gateway answered it, and a retry will not help.
    Unreadable,
    /// It was not answered.
    Unanswered,
}

/// How a try ended.
pub(super) struct Heard {
    pub(super) fate: Fate,
    pub(super) why: Why,
    /// A retry soon may succeed.
    pub(super) passes: bool,
    pub(super) retry_after_ms: Option<u64>,
}

impl Heard {
    /// Reads the response to a create call (`creates`) or to any other call.
    pub(super) fn of(answer: &Response<'_>, creates: bool, now: Millis) -> Self {
        let retry_after_ms = answer.header("retry-after").and_then(|value| retry_after_ms(value, now));
        let Some(Told { code, retryable, .. }) = problem(answer) else {
            // A proxy that got no response from the gateway, or a page from an unknown source.
            let passes = matches!(answer.status, 502..=504);
            let (fate, why) = if passes { (Fate::Unanswered, Why::Lost(Lost::NoAnswer)) } else { (Fate::Unreadable, Why::Unreadable) };
            return Self { fate, why, passes, retry_after_ms };
        };
        let code = known(&code, answer.status);
        let (fate, passes) = match code {
            Some(ErrorCode::KeyExists) => (Fate::Settled, false),
            Some(code) => (fate(Proof::of(code), creates), passes(code)),
            // A code of a newer gateway: its class tells whether the request was judged.
            None => {
                let busy = answer.status == 429 || answer.status >= 500;
                let judged = answer.status == 422 || (answer.status < 500 && !creates);
                (if judged { Fate::Refused } else { Fate::Open }, retryable && busy)
            }
        };
        Self { fate, why: Why::Response, passes, retry_after_ms }
    }
}

fn fate(proof: Proof, creates: bool) -> Fate {
    match proof {
        Proof::Foreign => Fate::Settled,
        Proof::Judged | Proof::PutOff => Fate::Refused,
        Proof::Open => Fate::Open,
        Proof::Other if creates => Fate::Open,
        Proof::Other => Fate::Refused,
    }
}

/// The gateway's problem document, if the response is one. A proxy's own errors may have a code, too: only a code that the gateway
/// has, or the media type of a problem document, marks it as the gateway's.
fn problem(answer: &Response<'_>) -> Option<Told> {
    let problem = told(answer.body)?;
    let typed = answer.header("content-type").is_some_and(|kind| kind.starts_with("application/problem+json"));
    let ours = (typed && !problem.code.is_empty()) || ErrorCode::ALL.iter().any(|known| known.as_str() == problem.code);
    (ours && answer.status >= 400).then_some(problem)
}

/// The wait that a `Retry-After` asks for (RFC 9110, section 10.2.3): seconds, or a date.
pub(super) fn retry_after_ms(value: &str, now: Millis) -> Option<u64> {
    let value = value.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return value.parse::<u32>().ok().map(|seconds| u64::from(seconds) * 1_000);
    }
    parse_http_date(value).map(|at| u64::try_from(at.saturating_sub(now)).unwrap_or(0))
}
