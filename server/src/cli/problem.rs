//! Responses of the server: parsed, or reported as the `application/problem+json` (RFC 9457) that they are.

use railgate::api::FieldProblem;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::failure::{Done, Failure};
use super::http::{ApiResponse, NoAnswer};

/// Parses the body of a response that is not a problem. Unknown members are ignored.
pub(crate) fn read<T: DeserializeOwned>(answer: &ApiResponse) -> Done<T> {
    serde_json::from_slice(&answer.body)
        .map_err(|error| Failure::new(format!("the server's response cannot be read: {error}")).hint("--json shows it as it is"))
}

/// The members of a problem that are shown. Unlike in [`railgate::api::Problem`], all are optional: the response may come
/// from something in between.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Problem {
    /// Always the same for a code.
    title: String,
    /// About this occurrence.
    detail: String,
    /// The stable error code.
    pub(crate) code: String,
    /// Whether the same request is safe and useful to send again.
    pub(crate) retryable: bool,
    /// The request's id in the server's log.
    request_id: String,
    /// The invalid fields of the request.
    errors: Vec<FieldProblem>,
}

impl Problem {
    /// The problem in a response; empty if there is none.
    pub(crate) fn of(answer: &ApiResponse) -> Self {
        serde_json::from_slice(&answer.body).unwrap_or_default()
    }
}

/// The failure of a command that got this response.
pub(crate) fn refused(answer: &ApiResponse, profile: &str) -> Failure {
    let problem = Problem::of(answer);
    let mut failure = Failure::new(headline(answer, &problem));
    let wide = |pick: fn(&FieldProblem) -> &str| problem.errors.iter().map(|e| pick(e).chars().count()).max().unwrap_or(0);
    let (pointers, codes) = (wide(|e| &e.pointer), wide(|e| &e.code));
    for FieldProblem { pointer, code, message, .. } in &problem.errors {
        failure = failure.detail(format!("{pointer:pointers$}  {code:codes$}  {message}"));
    }
    let id = Some(problem.request_id.as_str()).filter(|id| !id.is_empty()).or_else(|| answer.header("x-request-id"));
    if let Some(id) = id {
        failure = failure.detail(format!("request {id}"));
    }
    match advice(&problem, profile) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Such as `409 reference_conflict: The reference was used for a different request`.
fn headline(answer: &ApiResponse, problem: &Problem) -> String {
    let status = answer.status.as_u16();
    if problem.code.is_empty() {
        let reason = answer.status.canonical_reason().unwrap_or("an unknown status");
        return format!("the server answered {status} {reason}");
    }
    let Problem { code, title, detail, .. } = problem;
    match (title.is_empty(), detail.is_empty() || detail == title) {
        (true, _) => format!("{status} {code}: {detail}"),
        (false, true) => format!("{status} {code}: {title}"),
        (false, false) => format!("{status} {code}: {title}: {detail}"),
    }
}

/// What to do about a problem. Matches the code as text, not as the engine's enum: the server may be newer than this client.
fn advice(problem: &Problem, profile: &str) -> Option<String> {
    let hint = match problem.code.as_str() {
        "enrollment_pending" => "an operator of the gateway must approve the key: railgate clients approve cli_…".to_owned(),
        "invitation_invalid" => "pass the code that an operator of the gateway made: railgate enroll --invitation CODE".to_owned(),
        "clock_skew" => "set this machine's clock, then try again".to_owned(),
        "signature_invalid" => {
            "is --server the address that the server uses as its own (its --public-url)? The signature covers that address".to_owned()
        }
        "token_missing" | "token_invalid" | "token_expired" | "key_unknown" | "key_revoked" => {
            format!("the profile {profile:?} is no longer valid at this server; enrol again: railgate enroll --force --profile {profile}")
        }
        "reference_conflict" => "a reference identifies one request for ever: choose another with --reference, or look \
                                 it up with railgate status"
            .to_owned(),
        "settlement_in_flight" => "wait until it is final, then try again: railgate status REF --wait 30".to_owned(),
        "not_completed" => "see its status: railgate status REF".to_owned(),
        "settlement_not_found" => "list the payments: railgate list".to_owned(),
        "insufficient_funds" | "account_not_found" | "balance_not_found" => "list the accounts: railgate balance".to_owned(),
        "reversal_exceeds_remaining" | "already_reversed" | "invalid_state" => {
            "see what happened to it so far: railgate events REF".to_owned()
        }
        "route_not_found" => "is this the address of a railgate server, and of this version?".to_owned(),
        _ if problem.retryable => "the same request is safe to send again; try later".to_owned(),
        _ => return None,
    };
    Some(hint)
}

/// The failure of a command that got no response.
pub(crate) fn unanswered(base: &str, cause: &NoAnswer) -> Failure {
    match cause {
        NoAnswer::NotSent(cause) => Failure::new(format!("cannot reach {base}: {cause}"))
            .hint("is the server running (railgate serve), and is this its address? --server URL changes it"),
        NoAnswer::Lost(cause) => Failure::new(format!("the connection to {base} broke before the response came: {cause}"))
            .hint("it may have arrived; look before sending anything new: railgate list"),
    }
}
