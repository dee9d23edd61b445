//! Limits the calls that stay open for as long as their client likes: event streams, long polls, calls with `Prefer: wait`,
//! and exports. Each occupies a connection, so each client has its share of them, and other calls keep enough connections.
//! Each process counts its own.

use railgate::ids::ClientNo;
use railgate::{Error, ErrorCode, Result};

use super::App;
use crate::shares::{InHand, Share, Shares};

/// The most exports that run at once, of one client and in all: each reads pages for as long as its client takes them.
const CLIENT_EXPORTS: usize = 2;
const EXPORTS: usize = 16;
/// Of the places that are free, one client may have this part.
const PART: usize = 4;

/// The calls that are held.
#[derive(Default)]
pub(super) struct Held {
    /// Streams and waits together.
    calls: Shares<ClientNo>,
    streams: Shares<ClientNo>,
    waits: Shares<ClientNo>,
    exports: Shares<ClientNo>,
}

/// A held call's place, freed on drop.
pub(super) struct Place {
    _kind: Share<ClientNo>,
    _call: Share<ClientNo>,
}

/// Reserves a place for a stream of this client.
///
/// # Errors
/// `rate_limited` when the client, or all clients together, hold as many calls as allowed.
pub(super) fn stream(app: &App, client: ClientNo) -> Result<Place> {
    let most = app.limits.client_streams;
    let kind = app.held.streams.take(client, 1, |in_hand| in_hand.own < most).map_err(|_| {
        let detail = format!("a client may have {most} event streams open; close one of them first");
        Error::with(ErrorCode::RateLimited, detail)
    })?;
    let call = call(app, client).ok_or_else(|| {
        Error::with(ErrorCode::RateLimited, "too many event streams and waiting calls are open; try again later, or read pages")
    })?;
    Ok(Place { _kind: kind, _call: call })
}

/// Reserves a place for a call that waits for a change. `None`: too many wait already, and the call should be answered at once.
/// Nothing is wrong with it, and what it did is done.
pub(super) fn wait(app: &App, client: ClientNo) -> Option<Place> {
    let most = app.limits.client_waits;
    let kind = app.held.waits.take(client, 1, |in_hand| in_hand.own < most).ok()?;
    Some(Place { _kind: kind, _call: call(app, client)? })
}

/// Reserves a place for an export of this client.
///
/// # Errors
/// `rate_limited` when the client, or all clients together, have as many as allowed.
pub(super) fn export(app: &App, client: ClientNo) -> Result<Share<ClientNo>> {
    let allowed = |in_hand: InHand| in_hand.own < CLIENT_EXPORTS && in_hand.all < EXPORTS;
    app.held.exports.take(client, 1, allowed).map_err(|in_hand| {
        let detail = match in_hand.own < CLIENT_EXPORTS {
            true => "too many exports are running; try again later".to_owned(),
            false => format!("a client may run {CLIENT_EXPORTS} exports at once; finish or close one of them first"),
        };
        Error::with(ErrorCode::RateLimited, detail)
    })
}

/// Half of the connections may be held; the more are, the fewer one client may hold.
fn call(app: &App, client: ClientNo) -> Option<Share<ClientNo>> {
    let most = app.limits.connections / 2;
    app.held.calls.take(client, 1, |in_hand| may_hold(in_hand, most)).ok()
}

fn may_hold(in_hand: InHand, most: usize) -> bool {
    in_hand.all < most && (in_hand.own == 0 || in_hand.leaves_enough(1, most, PART))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_connections_are_not_held_and_a_few_clients_do_not_hold_the_rest() {
        let calls = Shares::default();
        let mut held = Vec::new();
        let mut all = |client: u32| {
            let before = held.len();
            while let Ok(call) = calls.take(ClientNo(client), 1, |in_hand| may_hold(in_hand, 2_048)) {
                held.push(call);
            }
            held.len() - before
        };
        let taken: Vec<_> = (1..=7).map(&mut all).collect();
        assert_eq!(taken, [409, 328, 262, 210, 168, 134, 107]);
        assert!((8..=30).all(|client| all(client) > 0), "the more are held, the fewer one may hold");
        assert!((31..1_000).map(&mut all).sum::<usize>() > 0);
        assert_eq!(held.len(), 2_048);
    }
}
