//! Why a call could not be carried out: one closed set of kinds, each with the same problem document.

use railgate::ErrorCode;
use railgate::client::ClientError;
use serde::Deserialize;

/// One thing that is wrong with a request, and where.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, uniffi::Record)]
pub struct FieldProblem {
    /// RFC 6901 JSON pointer into the request body, such as `/amount`.
    pub pointer: String,
    /// Stable code, such as `required` or `amount_scale`.
    pub code: String,
    /// One sentence for people, saying what would be valid.
    pub message: String,
}

impl From<railgate::error::FieldProblem> for FieldProblem {
    fn from(problem: railgate::error::FieldProblem) -> Self {
        let railgate::error::FieldProblem { pointer, code, message } = problem;
        Self { pointer, code: code.into_owned(), message }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Problem {
    /// Stable code: what programs should look at.
    pub code: String,
    /// One sentence for people.
    pub detail: String,
    /// The same request is safe and useful to send again.
    pub retryable: bool,
    /// Everything that is wrong with the request, and where.
    pub problems: Vec<FieldProblem>,
    /// The HTTP status; absent where no server was asked.
    pub status: Option<u16>,
    /// Names the request in the server's log.
    pub request_id: Option<String>,
}

impl Problem {
    /// A problem that was found on this device.
    pub(crate) fn local(code: &str, detail: impl Into<String>) -> Self {
        let (code, detail) = (code.to_owned(), detail.into());
        Self { code, detail, retryable: false, problems: Vec::new(), status: None, request_id: None }
    }

    /// A problem that may be gone at the next try.
    pub(crate) fn passing(code: &str, detail: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::local(code, detail) }
    }
}

/// Why a call could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum GatewayError {
    /// The request is wrong; every problem is listed. Nothing was sent.
    #[error("{}: {}", problem.code, problem.detail)]
    Invalid {
        /// What went wrong.
        problem: Problem,
    },
    /// The gateway refused, and did nothing.
    #[error("{}: {}", problem.code, problem.detail)]
    Refused {
        /// What went wrong.
        problem: Problem,
    },
    /// No answer came that can be trusted. The call may have been carried out or not: the same call with the same
    /// reference finds out, and pays nothing twice.
    #[error("{}: {}", problem.code, problem.detail)]
    Unanswered {
        /// What went wrong.
        problem: Problem,
    },
    /// The device's key did not sign. Nothing was sent.
    #[error("{}: {}", problem.code, problem.detail)]
    Unsigned {
        /// What went wrong.
        problem: Problem,
    },
    /// A receipt or a webhook is not genuine.
    #[error("{}: {}", problem.code, problem.detail)]
    NotGenuine {
        /// What went wrong.
        problem: Problem,
    },
    /// The device's storage failed, or what it holds is not for this use.
    #[error("{}: {}", problem.code, problem.detail)]
    Storage {
        /// What went wrong.
        problem: Problem,
    },
}

impl GatewayError {
    pub(crate) fn invalid(problem: Problem) -> Self {
        Self::Invalid { problem }
    }

    /// No answer that can be trusted; the same call may be sent again.
    pub(crate) fn unanswered(code: &str, detail: impl Into<String>) -> Self {
        Self::Unanswered { problem: Problem::passing(code, detail) }
    }

    /// The key did not sign this time.
    pub(crate) fn unsigned(detail: impl Into<String>) -> Self {
        Self::Unsigned { problem: Problem::passing("not_signed", detail) }
    }

    /// The key, or what it signs, is useless, however often it is asked.
    pub(crate) fn unsignable(detail: impl Into<String>) -> Self {
        Self::Unsigned { problem: Problem::local("not_signed", detail) }
    }

    pub(crate) fn is_unsigned(&self) -> bool {
        matches!(self, Self::Unsigned { .. })
    }

    pub(crate) fn not_genuine(code: &str, detail: impl Into<String>) -> Self {
        Self::NotGenuine { problem: Problem::local(code, detail) }
    }

    /// What went wrong, whatever the kind.
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
    /// What the engine says about a request that was not sent.
    fn from(error: railgate::Error) -> Self {
        let (code, local) = (error.code, Problem::local(error.code.as_str(), error.detail.to_string()));
        let problems = error.into_fields().into_iter().map(FieldProblem::from).collect();
        let problem = Problem { retryable: code.retryable(), problems, ..local };
        match code {
            ErrorCode::ReceiptInvalid => Self::NotGenuine { problem },
            ErrorCode::StoreUnavailable => Self::Storage { problem },
            _ => Self::Invalid { problem },
        }
    }
}

impl From<ClientError> for GatewayError {
    fn from(error: ClientError) -> Self {
        let detail = error.to_string();
        match error {
            ClientError::Address | ClientError::Path => Self::invalid(Problem::local("malformed_request", detail)),
            // An exchange fetches them first.
            ClientError::NotReady => Self::unanswered("not_ready", detail),
            ClientError::Sign(_) => Self::unsignable(detail),
        }
    }
}
