//! Whether this machine's clock agrees with the database's, and so with those of the other nodes.
//!
//! The end of a lease is judged by the clock of the node that looks at it. A payment that an inquiry does not find counts as never
//! sent one lease after the last moment at which it may have left. If the clocks of two nodes differed by that much, each would
//! send it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::store::{MOST_APART_MS, StoreError};

/// How far this machine's clock may differ from the database's. Two nodes then differ by at most twice that, plus the time of the
/// query: well below a lease.
const MOST_APART: Duration = Duration::from_millis(MOST_APART_MS as u64);

/// Queries the database's time, in microseconds since 1970.
pub(super) const ASK: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// This machine's time, in the same unit.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Refuses a database whose reported time is impossible between sending the query and receiving the response.
pub(super) fn check(sent: i64, told: i64, received: i64) -> Result<(), StoreError> {
    let most = i64::try_from(MOST_APART.as_micros()).unwrap_or(i64::MAX);
    let (ahead, behind) = (sent.saturating_sub(told), told.saturating_sub(received));
    if ahead <= most && behind <= most {
        return Ok(());
    }
    let (by, where_to) = if ahead > most { (ahead, "ahead of") } else { (behind, "behind") };
    let (seconds, most) = (by / 1_000_000, MOST_APART.as_secs());
    let cause =
        format!("this machine's clock is {seconds} s {where_to} the database's; more than {most} s is unsafe: synchronise it (NTP)");
    Err(StoreError::unavailable("comparing clocks with the database", cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_differ_by_more_than_asking_explains_are_refused() {
        let second = |it: i64| it * 1_000_000;
        for (sent, told, received, refused) in [
            (100, 100, 100, None),
            (100, 95, 100, None),
            (100, 105, 100, None),
            (100, 107, 102, None),
            (100, 94, 130, Some("6 s ahead of")),
            (100, 108, 102, Some("6 s behind")),
            (100, 0, 100, Some("100 s ahead of")),
            (100, 3_700, 101, Some("3599 s behind")),
        ] {
            let checked = check(second(sent), second(told), second(received)).map_err(|error| (error.retryable, error.to_string()));
            match (&checked, refused) {
                (Ok(()), None) => {}
                (Err((true, text)), Some(part)) => assert!(text.contains(part), "{text}"),
                other => panic!("{sent} {told} {received}: {other:?}"),
            }
        }
        assert!(check(second(5), second(5) - 5_000_001, second(5)).is_err());
        assert!(check(i64::MAX, i64::MIN, i64::MAX).is_err() && check(0, i64::MAX, 0).is_err());
    }
}
