//! The rows of the log: what is not numbered yet, the feeds, the tiles and the head.

use super::{Bind, Bound, Cells, Read};
use crate::ids::ClientNo;
use crate::ledger::Mode;
use crate::store::changes::{decode_changes, encode_changes};
use crate::store::record::*;
use crate::store::shared::tile_key;

/// The feed that a client's events of a mode belong to, as one number.
pub(in super::super) fn feed_owner(client: ClientNo, mode: Mode) -> i64 {
    i64::from(client.0) << 2 | i64::from(mode.code())
}

pub(super) fn unlogged(r: &UnloggedRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(r.no)?;
    b.put(encode_changes(&r.changes))
}

pub(super) fn read_unlogged(c: &mut Cells<'_, '_>) -> Read<UnloggedRecord> {
    Ok(UnloggedRecord { no: c.int()?, changes: decode_changes(c.bytes()?)? })
}

pub(super) fn feed(r: &FeedRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(feed_owner(r.client, r.mode))?;
    b.put(r.position)?;
    b.child(r.settlement, r.n)?;
    b.put(r.at)?;
    b.put(r.leaf)
}

pub(super) fn read_feed(c: &mut Cells<'_, '_>) -> Read<FeedRecord> {
    let owner: i64 = c.int()?;
    let client = u32::try_from(owner >> 2).ok().map(ClientNo).map_or_else(|| c.bad("a client and mode"), Ok)?;
    let mode = Mode::from_code((owner & 3) as u8).map_or_else(|| c.bad("a client and mode"), Ok)?;
    let position = c.int()?;
    let (settlement, n) = c.child()?;
    Ok(FeedRecord { client, mode, position, settlement, n: n.into(), at: c.int()?, leaf: c.int()? })
}

pub(super) fn tile(r: &TileRecord, b: &mut Bind<'_, '_>) -> Bound {
    // `shared::check` refused what does not fit.
    b.put(tile_key(r.level, r.index))?;
    b.put(r.entries.as_slice())
}

pub(super) fn read_tile(c: &mut Cells<'_, '_>) -> Read<TileRecord> {
    let k: i64 = c.int()?;
    Ok(TileRecord { level: (k >> 56) as u8, index: k & ((1 << 56) - 1), entries: c.bytes()?.to_vec() })
}

pub(super) fn log_head(r: &LogHeadRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(r.size)?;
    b.put(r.owner)?;
    b.put(r.until)
}

pub(super) fn read_log_head(c: &mut Cells<'_, '_>) -> Read<LogHeadRecord> {
    Ok(LogHeadRecord { size: c.int()?, owner: c.int()?, until: c.int()? })
}
