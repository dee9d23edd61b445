//! Verifies access: clients, keys, tokens and the audit trail.

use std::collections::{BTreeMap, HashSet};

use crate::error::Result;
use crate::ids::{ClientNo, KeyNo};
use crate::ledger::Mode;
use crate::store::record::{AuditRecord, ClientRecord, Key, KeyRecord, RecordKind, TokenRecord};
use crate::store::{Scan, Store, typed, typed_all};
use crate::time::Millis;

use super::{PAGE, VerifyReport};

/// Unused key numbers leave gaps, but never as large as this.
const MOST_KEYS_MISSING: u32 = 100_000;

/// Verifies that every token and every audit record names an existing key, and every key an existing client.
pub(super) fn access(store: &dyn Store, report: &mut VerifyReport) -> Result<()> {
    let keys = keys(store, report)?;
    // This scan cannot be continued page by page; but tokens are small, and deleted a day after they expire.
    let tokens = Scan::tokens_expired_before(Millis::MAX, usize::MAX);
    for token in typed_all::<TokenRecord>(store.scan(&tokens)?)?.into_iter().filter(|token| token.key != KeyNo(0)) {
        let what = || format!("a token of client number {}", token.client.0);
        match keys.get(&token.key) {
            None => report.problem(what(), "token_without_key", format!("its key, number {}, is missing", token.key.0)),
            Some(owner) if *owner != (token.client, token.mode) => {
                report.problem(what(), "token_differs", format!("its key, number {}, belongs to another client or mode", token.key.0));
            }
            Some(_) => {}
        }
    }
    let mut after = i64::MIN;
    loop {
        let page: Vec<AuditRecord> = typed_all(store.scan(&Scan::after(&Key::Audit(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.no;
        for record in page.iter().filter(|record| record.key != KeyNo(0) && !keys.contains_key(&record.key)) {
            let message = format!("its key, number {}, is missing", record.key.0);
            report.problem(format!("audit record {}", record.no), "audit_without_key", message);
        }
    }
}

/// The owner and mode of every key, by number.
fn keys(store: &dyn Store, report: &mut VerifyReport) -> Result<BTreeMap<KeyNo, (ClientNo, Mode)>> {
    let mut clients = HashSet::new();
    let mut after = ClientNo(0);
    loop {
        let page: Vec<ClientRecord> = typed_all(store.scan(&Scan::after(&Key::Client(after), PAGE))?)?;
        let Some(last) = page.last() else { break };
        after = last.no;
        clients.extend(page.iter().map(|client| client.no));
    }
    let mut keys = BTreeMap::new();
    let last: Option<KeyRecord> = typed(store.scan(&Scan::last(RecordKind::Key))?.pop())?;
    let mut missing = 0;
    for no in (1..=last.map_or(0, |key| key.no.0)).map(KeyNo) {
        let Some(key) = typed::<KeyRecord>(store.get(&Key::Key(no))?)? else {
            missing += 1;
            if missing > MOST_KEYS_MISSING {
                report.problem("keys", "key_numbers", format!("no key from number {} on, but there is a later one", no.0 - missing + 1));
                break;
            }
            continue;
        };
        missing = 0;
        if !clients.contains(&key.client) {
            let message = format!("its client, number {}, is missing", key.client.0);
            report.problem(format!("key {}", key.id), "key_without_client", message);
        }
        if key.public.id() != key.id {
            report.problem(format!("key {}", key.id), "key_differs", "its name is not the thumbprint of its public key");
        }
        keys.insert(key.no, (key.client, key.mode));
    }
    Ok(keys)
}
