//! How many files this process may open. Each connection is one.

/// The files that the store, webhooks, providers and the log may need besides connections.
const OTHERS: u64 = 640;

/// Raises the process's limit as far as `connections` need it and the system allows. Returns how many connections fit, which
/// is less than asked for if the limit is too low; the log says so.
pub(crate) fn make_room(connections: usize) -> usize {
    let wanted = connections as u64 + OTHERS;
    let Some(limit) = raised(wanted) else { return connections };
    let fitting = fitting(connections, limit);
    if limit < wanted {
        tracing::warn!(
            limit,
            wanted,
            connections = fitting,
            "the system lets this process open fewer files than it wants to: raise the hard limit (ulimit -Hn, LimitNOFILE), or \
             lower max-connections"
        );
    }
    fitting
}

/// How many of the `connections` a process may have that may open `limit` files. Half of a very low limit is for connections.
fn fitting(connections: usize, limit: u64) -> usize {
    let room = limit.saturating_sub(OTHERS).max(limit / 2).max(1);
    connections.min(usize::try_from(room).unwrap_or(usize::MAX))
}

/// The limit after it was raised to `wanted` or as far as possible; `None` if there is none.
#[cfg(unix)]
fn raised(wanted: u64) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let current = current?;
    let possible = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if current >= possible {
        return Some(current);
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(possible), maximum }) {
        Ok(()) => Some(possible),
        Err(cause) => {
            tracing::warn!(%cause, "the limit of open files cannot be raised");
            Some(current)
        }
    }
}

#[cfg(not(unix))]
fn raised(_: u64) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_what_others_do_not_need_and_at_least_half() {
        assert_eq!(fitting(4_096, 1_048_576), 4_096);
        assert_eq!(fitting(4_096, 4_096 + OTHERS), 4_096);
        assert_eq!(fitting(4_096, 4_096), 3_456);
        assert_eq!(fitting(4_096, 1_024), 512);
        assert_eq!(fitting(100, 1_024), 100);
        assert_eq!(fitting(4_096, 0), 1);
    }
}
