//! The framing of entries and snapshots.
//!
//! An entry, all numbers big-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | version of the format |
//! | 8 | number, from 1, without gaps |
//! | 8 | length of the body |
//! | 4 | check: the first bytes of SHA-256 over the 17 bytes before |
//! | length | body: the rows that a commit changed, see [`super::table`] |
//! | 32 | link: SHA-256 over a name, the link of the entry before (32 zeros before the first), the 17 bytes, and the body |
//!
//! An entry is therefore either complete or torn, and altered bytes cannot turn one into the other: a false length fails its check.
//! A complete entry that was altered, moved, or comes from another journal does not link.

use sha2::{Digest as _, Sha256};

use super::JournalError;

/// The format of entries and snapshots. It increases when either changes, or when the rows in them do.
pub(super) const VERSION: u8 = 1;

const HEAD: usize = 1 + 8 + 8;
const CHECK: usize = 4;
const LINK: usize = 32;

pub(super) type ChainHash = [u8; LINK];

/// Appends an entry; returns its link.
pub(super) fn append(out: &mut Vec<u8>, number: u64, before: &ChainHash, body: &[u8]) -> ChainHash {
    let mut head = [VERSION; HEAD];
    head[1..9].copy_from_slice(&number.to_be_bytes());
    head[9..].copy_from_slice(&(body.len() as u64).to_be_bytes());
    let link = link(before, &head, body);
    out.extend_from_slice(&head);
    out.extend_from_slice(&check(&head));
    out.extend_from_slice(body);
    out.extend_from_slice(&link);
    link
}

fn link(before: &ChainHash, head: &[u8; HEAD], body: &[u8]) -> ChainHash {
    Sha256::new().chain_update(b"railgate-journal\0").chain_update(before).chain_update(head).chain_update(body).finalize().into()
}

fn check(head: &[u8; HEAD]) -> [u8; CHECK] {
    let mut check = [0; CHECK];
    check.copy_from_slice(&Sha256::digest(head)[..CHECK]);
    check
}

/// A complete entry. Its link has not been checked.
pub(super) struct Entry<'a> {
    pub(super) number: u64,
    pub(super) body: &'a [u8],
    pub(super) link: ChainHash,
    head: [u8; HEAD],
}

impl Entry<'_> {
    /// Whether it follows the entry with the link `before`.
    pub(super) fn follows(&self, before: &ChainHash) -> bool {
        link(before, &self.head, self.body) == self.link
    }
}

/// Takes the next entry off `rest`; `None` if the rest is an incomplete entry. `number` is the expected number.
pub(super) fn next<'a>(rest: &mut &'a [u8], number: u64) -> Result<Option<Entry<'a>>, JournalError> {
    let Some((head, behind)) = rest.split_first_chunk::<HEAD>() else { return Ok(None) };
    let Some((found, behind)) = behind.split_first_chunk::<CHECK>() else { return Ok(None) };
    if *found != check(head) {
        return Err(JournalError::Altered { entry: number });
    }
    if head[0] != VERSION {
        return Err(JournalError::Version(head[0]));
    }
    let (mut number, mut length) = ([0; 8], [0; 8]);
    number.copy_from_slice(&head[1..9]);
    length.copy_from_slice(&head[9..]);
    let length = usize::try_from(u64::from_be_bytes(length)).unwrap_or(usize::MAX);
    let Some((body, behind)) = behind.split_at_checked(length) else { return Ok(None) };
    let Some((link, behind)) = behind.split_first_chunk::<LINK>() else { return Ok(None) };
    *rest = behind;
    Ok(Some(Entry { number: u64::from_be_bytes(number), body, link: *link, head: *head }))
}

const MAGIC: &[u8; 4] = b"RGSN";

/// The content of a snapshot: the number and link of the last entry in it, and the rows.
pub(super) struct Opened<'a> {
    pub(super) number: u64,
    pub(super) link: ChainHash,
    pub(super) rows: &'a [u8],
}

/// Encodes a snapshot: `RGSN`, the version, number and link of the last entry, the rows, and SHA-256 over a name and all of that.
pub(super) fn wrap(number: u64, link: &ChainHash, rows: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(MAGIC.len() + 1 + 8 + LINK + rows.len() + LINK);
    out.extend_from_slice(MAGIC);
    out.push(VERSION);
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(link);
    out.extend_from_slice(rows);
    let seal = seal(&out);
    out.extend_from_slice(&seal);
    out
}

/// Decodes the output of [`wrap`].
pub(super) fn unwrap(snapshot: &[u8]) -> Result<Opened<'_>, JournalError> {
    let (all, found) = snapshot.split_last_chunk::<LINK>().ok_or(JournalError::Snapshot)?;
    let rest = all.strip_prefix(MAGIC).filter(|_| *found == seal(all)).ok_or(JournalError::Snapshot)?;
    let (version, rest) = rest.split_first().ok_or(JournalError::Snapshot)?;
    if *version != VERSION {
        return Err(JournalError::Version(*version));
    }
    let (number, rest) = rest.split_first_chunk().ok_or(JournalError::Snapshot)?;
    let (link, rows) = rest.split_first_chunk().ok_or(JournalError::Snapshot)?;
    Ok(Opened { number: u64::from_be_bytes(*number), link: *link, rows })
}

fn seal(all: &[u8]) -> ChainHash {
    Sha256::new().chain_update(b"railgate-snapshot\0").chain_update(all).finalize().into()
}
