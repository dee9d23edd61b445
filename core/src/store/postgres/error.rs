//! What an error of PostgreSQL, or of the connection to it, means for the store.

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::store::StoreError;

/// What a failed statement means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The connection is gone or unusable.
    Lost,
    /// The transaction conflicted with another; a retry may succeed.
    Again,
    /// The server cannot do it at the moment: full, too busy, too slow.
    Later,
    /// A total is out of range.
    OutOfRange,
    /// A retry never helps: no permission, or a foreign schema.
    Never,
}

/// `idle_in_transaction_session_timeout`: the server received no further statement and ended the connection.
const IDLE_IN_TRANSACTION: &str = "25P03";
/// `transaction_timeout`: the server ended the connection, possibly right after a commit that it made.
const TRANSACTION_TOO_LONG: &str = "25P04";

/// The meaning of this error.
pub(super) fn meaning(error: &Error) -> Meaning {
    error.code().map_or(Meaning::Lost, meaning_of)
}

fn meaning_of(state: &SqlState) -> Meaning {
    if *state == SqlState::NUMERIC_VALUE_OUT_OF_RANGE {
        return Meaning::OutOfRange;
    }
    // The statements prepared by the connection no longer exist, or the server turned out to be a standby.
    let stale = [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::FEATURE_NOT_SUPPORTED, SqlState::READ_ONLY_SQL_TRANSACTION];
    if stale.contains(state) {
        return Meaning::Lost;
    }
    if [IDLE_IN_TRANSACTION, TRANSACTION_TOO_LONG].contains(&state.code()) {
        return Meaning::Lost;
    }
    if [SqlState::QUERY_CANCELED, SqlState::LOCK_NOT_AVAILABLE].contains(state) {
        return Meaning::Later;
    }
    match state.code().get(..2) {
        Some("08" | "57") => Meaning::Lost,
        Some("40") => Meaning::Again,
        Some("53" | "55" | "58") => Meaning::Later,
        Some(_) | None => Meaning::Never,
    }
}

/// Whether this error itself proves that the commit was not made.
pub(super) fn surely_not_made(error: &Error) -> bool {
    error.code().is_some_and(|state| says_not_made(state.code()))
}

fn says_not_made(code: &str) -> bool {
    // The standard defines 40003 as completion unknown. A server that waits for the next statement has not seen the `COMMIT`:
    // `IDLE_IN_TRANSACTION` is therefore proof.
    code != "40003" && code != TRANSACTION_TOO_LONG && ["22", "23", "25", "40"].iter().any(|class| code.starts_with(class))
}

/// Whether this error is about the connection and not about a statement: PgBouncer reports the loss of the server so.
pub(super) fn is_about_the_connection(error: &Error) -> bool {
    error.code().is_some_and(|state| state.code().starts_with("08"))
}

/// Converts to an error of the store. After a lost connection, a retry is always worthwhile.
pub(super) fn failed(context: &'static str, error: &Error) -> StoreError {
    let retryable = match meaning(error) {
        Meaning::Lost | Meaning::Again | Meaning::Later => true,
        Meaning::OutOfRange | Meaning::Never => false,
    };
    StoreError::new(context, text(error), retryable)
}

/// The error as text, without the contents of the row concerned.
pub(super) fn text(error: &Error) -> String {
    match error.as_db_error() {
        Some(told) => format!("{}: {} (SQLSTATE {})", told.severity(), told.message(), told.code().code()),
        None => {
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
            format!("{error}{cause}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_error_means_and_proves() {
        for (code, means, proves) in [
            ("08006", Meaning::Lost, false),
            ("57P01", Meaning::Lost, false),
            ("25006", Meaning::Lost, true),
            ("25P03", Meaning::Lost, true),
            ("25P04", Meaning::Lost, false),
            ("26000", Meaning::Lost, false),
            ("40001", Meaning::Again, true),
            ("40P01", Meaning::Again, true),
            ("40003", Meaning::Again, false),
            ("57014", Meaning::Later, false),
            ("55P03", Meaning::Later, false),
            ("53100", Meaning::Later, false),
            ("22003", Meaning::OutOfRange, true),
            ("25P02", Meaning::Never, true),
            ("42501", Meaning::Never, false),
        ] {
            assert_eq!(meaning_of(&SqlState::from_code(code)), means, "{code}");
            assert_eq!(says_not_made(code), proves, "{code}");
        }
    }
}
