//! The rows of the log: what is not numbered yet, the feeds, the tiles and the head.

use super::{Bound, Read, Sink, Source};
use crate::ids::ClientNo;
use crate::ledger::Mode;
use crate::store::changes::{decode_changes, encode_changes};
use crate::store::record::*;
use crate::store::shared::tile_key;

/// The feed that a client's events of a mode belong to, as one number.
pub(crate) fn feed_owner(client: ClientNo, mode: Mode) -> i64 {
    i64::from(client.0) << 2 | i64::from(mode.code())
}

pub(super) fn unlogged<S: Sink>(r: &UnloggedRecord, b: &mut S) -> Bound<S> {
    b.put(r.no)?;
    b.put(encode_changes(&r.changes).as_slice())
}

pub(super) fn read_unlogged(c: &mut impl Source) -> Read<UnloggedRecord> {
    Ok(UnloggedRecord { no: c.int()?, changes: decode_changes(c.bytes()?)? })
}

pub(super) fn feed<S: Sink>(r: &FeedRecord, b: &mut S) -> Bound<S> {
    b.put(feed_owner(r.client, r.mode))?;
    b.put(r.position)?;
    b.child(r.settlement, r.n)?;
    b.put(r.at)?;
    b.put(r.leaf)
}

pub(super) fn read_feed_owner(c: &mut impl Source) -> Read<(ClientNo, Mode)> {
    let owner: i64 = c.int()?;
    let client = u32::try_from(owner >> 2).ok().map(ClientNo).map_or_else(|| c.bad("a client and mode"), Ok)?;
    let mode = Mode::from_code((owner & 3) as u8).map_or_else(|| c.bad("a client and mode"), Ok)?;
    Ok((client, mode))
}

pub(super) fn read_feed(c: &mut impl Source) -> Read<FeedRecord> {
    let (client, mode) = read_feed_owner(c)?;
    let position = c.int()?;
    let (settlement, n) = c.child()?;
    Ok(FeedRecord { client, mode, position, settlement, n: n.into(), at: c.int()?, leaf: c.int()? })
}

pub(super) fn tile<S: Sink>(r: &TileRecord, b: &mut S) -> Bound<S> {
    // `shared::check` refused what does not fit.
    b.put(tile_key(r.level, r.index))?;
    b.put(r.entries.as_slice())
}

pub(super) fn read_tile_key(c: &mut impl Source) -> Read<(u8, i64)> {
    let k: i64 = c.int()?;
    Ok(((k >> 56) as u8, k & ((1 << 56) - 1)))
}

pub(super) fn read_tile(c: &mut impl Source) -> Read<TileRecord> {
    let (level, index) = read_tile_key(c)?;
    Ok(TileRecord { level, index, entries: c.bytes()?.to_vec() })
}

pub(super) fn log_head<S: Sink>(r: &LogHeadRecord, b: &mut S) -> Bound<S> {
    b.put(r.size)?;
    b.put(r.owner)?;
    b.put(r.until)
}

pub(super) fn read_log_head(c: &mut impl Source) -> Read<LogHeadRecord> {
    Ok(LogHeadRecord { size: c.int()?, owner: c.int()?, until: c.int()? })
}
