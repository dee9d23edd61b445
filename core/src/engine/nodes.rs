//! The servers that run over a store: each keeps a record of itself, for the people who run the gateway. Nothing is decided by them.

use std::cmp::Reverse;

use crate::api::NodeView;
use crate::engine::group::{Command, Decision, Prefetch};
use crate::error::Result;
use crate::store::record::{Key, NodeRecord, RecordKind};
use crate::store::{Lookup, Scan, Store, Write, typed_all};
use crate::time::{Millis, rfc3339};

/// A server that was seen longer ago is taken for stopped: it missed two records in a row.
const UP: Millis = 30_000;
/// How long a server that did not stop properly stays listed.
const LISTED: Millis = 86_400_000;

/// What a server says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFacts {
    /// The name of its machine.
    pub host: String,
    /// The URL of the address that it listens on; `None` if it listens on all addresses of its machine.
    pub address: Option<String>,
    /// The version of its program.
    pub version: String,
    /// When it started.
    pub started_at: Millis,
}

/// Records that this server runs. A server repeats it every ten seconds.
#[derive(Debug, Clone)]
pub struct RecordNode {
    /// The server.
    pub facts: NodeFacts,
    /// No other server uses the store: records of others are of before, or came with a backup, and are removed.
    pub alone: bool,
}

impl Command for RecordNode {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        true
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([Lookup::Get(Key::Node(prefetch.engine.owner))]);
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        let NodeFacts { host, address, version, started_at } = self.facts.clone();
        let (no, seen_at) = (d.engine.owner, d.overlay.now);
        let record = NodeRecord { no, host, address, version, started_at, seen_at };
        // A replacement that is not there conflicts: another node may have removed it, by a clock that is a day ahead.
        if d.overlay.get::<NodeRecord>(&Key::Node(no))?.is_some() {
            d.overlay.write(Write::Replace(record.into()));
            return Ok(());
        }
        let others = if self.alone { all(d.overlay.store)? } else { Vec::new() };
        others.into_iter().for_each(|other| d.overlay.write(Write::Delete(Key::Node(other.no))));
        d.overlay.insert(record);
        Ok(())
    }
}

/// Removes the record of this server, which stops.
#[derive(Debug, Clone)]
pub struct RemoveNode;

impl Command for RemoveNode {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        let key = Key::Node(d.engine.owner);
        if d.overlay.get::<NodeRecord>(&key)?.is_some() {
            d.overlay.write(Write::Delete(key));
        }
        Ok(())
    }
}

/// The servers that run over a store, and those that were gone within a day without a proper stop, the newest first.
///
/// # Errors
/// Why the store cannot be read.
pub fn nodes(store: &dyn Store, now: Millis) -> Result<Vec<NodeView>> {
    let mut nodes = all(store)?;
    nodes.retain(|node| !is_old(node, now));
    nodes.sort_by_key(|node| (Reverse(node.started_at), node.no));
    let view = |node: NodeRecord| NodeView {
        id: format!("{:016x}", node.no),
        // One whose clock is far ahead may have stopped long ago.
        up: node.seen_at.abs_diff(now) <= UP.unsigned_abs(),
        host: node.host,
        address: node.address,
        version: node.version,
        started_at: rfc3339(node.started_at),
        seen_at: rfc3339(node.seen_at),
    };
    Ok(nodes.into_iter().map(view).collect())
}

/// The records of servers that are not listed any more, at most `limit`.
pub(super) fn old_nodes(store: &dyn Store, now: Millis, limit: usize) -> Result<Vec<Key>> {
    let old = all(store)?.into_iter().filter(|node| is_old(node, now));
    Ok(old.take(limit).map(|node| Key::Node(node.no)).collect())
}

/// A record of a time that is far from now, on either side: one that a wrong clock dated would never grow old.
fn is_old(node: &NodeRecord, now: Millis) -> bool {
    node.seen_at.abs_diff(now) > LISTED.unsigned_abs()
}

/// One for each server, and few others.
fn all(store: &dyn Store) -> Result<Vec<NodeRecord>> {
    Ok(typed_all(store.scan(&Scan::all(RecordKind::Node, usize::MAX))?)?)
}
