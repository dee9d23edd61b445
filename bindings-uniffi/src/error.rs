//! Errors: a closed set of kinds, each with the same problem document.

use std::collections::HashMap;

use railgate::ErrorCode;
use railgate::client::ClientError;
use serde::Deserialize;

/// A problem of one field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, uniffi::Record)]
pub struct FieldProblem {
    /// RFC 6901 JSON pointer into the request body, such as `/amount`.
    pub pointer: String,
    /// Stable code, such as `required` or `amount_scale`.
    pub code: String,
    /// One sentence for people that describes a valid value.
    pub message: String,
    /// The values in the message, for programs that write their own: limits as `min` and `max`, as `nearest` what was probably meant,
    /// as `hint` which of several reasons with the same code it is.
    #[serde(default)]
    #[uniffi(default)]
    pub params: HashMap<String, String>,
}

/// One sentence about a problem for the person who fills in the form, in the language of `locale`, a BCP 47 tag: English, French or
/// Swahili; any other is English.
#[uniffi::export]
pub fn payer_message(problem: FieldProblem, locale: String) -> String {
    let FieldProblem { pointer, code, message, params } = problem;
    let params = params.into_iter().collect();
    railgate::validate::messages::for_payer(&railgate::error::FieldProblem { pointer, code: code.into(), message, params }, &locale)
}

impl From<railgate::error::FieldProblem> for FieldProblem {
    fn from(problem: railgate::error::FieldProblem) -> Self {
        let railgate::error::FieldProblem { pointer, code, message, params } = problem;
        Self { pointer, code: code.into_owned(), message, params: params.into_iter().collect() }
    }
}

/// The details of an error.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Problem {
    /// Stable code, for use by programs.
    pub code: String,
    /// One sentence for people.
    pub detail: String,
    /// It is safe and useful to send the same request again.
    pub retryable: bool,
    /// All problems of the request's fields.
    pub problems: Vec<FieldProblem>,
    /// The HTTP status; absent if no server was asked.
    pub status: Option<u16>,
    /// Identifies the request in the server's log.
    pub request_id: Option<String>,
    /// Provably nothing of the call was sent: it was not carried out, now or later.
    #[uniffi(default = false)]
    pub not_sent: bool,
}

impl Problem {
    /// A problem found on this device, not retryable.
    pub(crate) fn local(code: &str, detail: impl Into<String>) -> Self {
        let (code, detail) = (code.to_owned(), detail.into());
        Self { code, detail, retryable: false, problems: Vec::new(), status: None, request_id: None, not_sent: false }
    }

    /// A problem found on this device that a retry may solve.
    pub(crate) fn passing(code: &str, detail: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::local(code, detail) }
    }
}

/// The error of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum GatewayError {
    /// The request is invalid; every problem is listed. Nothing was sent.
    #[error("{}: {}", problem.code, problem.detail)]
    Invalid {
        /// The details.
        problem: Problem,
    },
    /// The gateway refused the call and did nothing.
    #[error("{}: {}", problem.code, problem.detail)]
    Refused {
        /// The details.
        problem: Problem,
    },
    /// There was no trustworthy response. Unless `not_sent` is true, the call may or may not have been executed: repeat it with the same
    /// reference to find out; nothing is paid twice.
    #[error("{}: {}", problem.code, problem.detail)]
    Unanswered {
        /// The details.
        problem: Problem,
    },
    /// The device's key did not sign. Nothing was sent.
    #[error("{}: {}", problem.code, problem.detail)]
    Unsigned {
        /// The details.
        problem: Problem,
    },
    /// A receipt or a webhook is not genuine.
    #[error("{}: {}", problem.code, problem.detail)]
    NotGenuine {
        /// The details.
        problem: Problem,
    },
    /// The device's storage failed, or its contents belong to another version, client or process.
    #[error("{}: {}", problem.code, problem.detail)]
    Storage {
        /// The details.
        problem: Problem,
    },
}

impl GatewayError {
    pub(crate) fn invalid(problem: Problem) -> Self {
        Self::Invalid { problem: Problem { not_sent: true, ..problem } }
    }

    /// There was no trustworthy response; the same call may be sent again.
    pub(crate) fn unanswered(code: &str, detail: impl Into<String>) -> Self {
        Self::Unanswered { problem: Problem::passing(code, detail) }
    }

    /// The key did not sign this time.
    pub(crate) fn unsigned(detail: impl Into<String>) -> Self {
        Self::Unsigned { problem: Problem::passing("not_signed", detail) }
    }

    /// The key or its signature is unusable; a retry does not help.
    pub(crate) fn unsignable(detail: impl Into<String>) -> Self {
        Self::Unsigned { problem: Problem::local("not_signed", detail) }
    }

    /// The error of a call of which nothing was sent.
    pub(crate) fn not_sent(mut self) -> Self {
        let (Self::Invalid { problem }
        | Self::Refused { problem }
        | Self::Unanswered { problem }
        | Self::Unsigned { problem }
        | Self::NotGenuine { problem }
        | Self::Storage { problem }) = &mut self;
        problem.not_sent = true;
        self
    }

    pub(crate) fn is_unsigned(&self) -> bool {
        matches!(self, Self::Unsigned { .. })
    }

    pub(crate) fn not_genuine(code: &str, detail: impl Into<String>) -> Self {
        Self::NotGenuine { problem: Problem::local(code, detail) }
    }

    /// The details, for any kind of error.
    pub fn problem(&self) -> &Problem {
        match self {
            Self::Invalid { problem }
            | Self::Refused { problem }
            | Self::Unanswered { problem }
            | Self::Unsigned { problem }
            | Self::NotGenuine { problem }
            | Self::Storage { problem } => problem,
        }
    }
}

impl From<railgate::Error> for GatewayError {
    /// Converts an error of the engine about a request that was not sent.
    fn from(error: railgate::Error) -> Self {
        let (code, local) = (error.code, Problem::local(error.code.as_str(), error.detail.to_string()));
        let problems = error.into_fields().into_iter().map(FieldProblem::from).collect();
        let problem = Problem { retryable: code.retryable(), problems, not_sent: true, ..local };
        match code {
            ErrorCode::ReceiptInvalid => Self::NotGenuine { problem },
            ErrorCode::StoreUnavailable => Self::Storage { problem },
            _ => Self::invalid(problem),
        }
    }
}

impl From<ClientError> for GatewayError {
    fn from(error: ClientError) -> Self {
        let detail = error.to_string();
        match error {
            ClientError::Address | ClientError::Path => Self::invalid(Problem::local("malformed_request", detail)),
            // An exchange fetches challenge and token first, so this is passing.
            ClientError::NotReady => Self::unanswered("not_ready", detail),
            ClientError::Sign(_) => Self::unsignable(detail),
        }
    }
}
