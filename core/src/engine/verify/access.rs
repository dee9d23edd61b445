//! Verifies access: clients, keys, tokens and the audit trail.

use std::collections::{BTreeMap, HashSet};

use crate::error::Result;
use crate::ids::{ClientNo, KeyNo, UserNo};
use crate::ledger::Mode;
use crate::store::record::{AuditRecord, ClientRecord, DeviceRecord, Key, KeyRecord, OperatorRecord, RecordKind, TokenRecord, UserRecord};
use crate::store::{Scan, Store, typed_all};
use crate::time::Millis;

use super::{PAGE, VerifyReport};

/// Verifies that every token, every device and every audit record names an existing key, and every key and every end user an existing
/// client. A client that was
/// removed because it was never used is gone with its keys, but its last tokens and its part of the audit trail may be left.
pub(super) fn access(store: &dyn Store, report: &mut VerifyReport) -> Result<()> {
    let mut clients = clients(store)?;
    users(store, &mut clients, report)?;
    let keys = keys(store, &clients, report)?;
    devices(store, &keys, report)?;
    // This scan cannot be continued page by page; but tokens are small, and deleted a day after they expire.
    let tokens = Scan::tokens_expired_before(Millis::MAX, usize::MAX);
    for token in typed_all::<TokenRecord>(store.scan(&tokens)?)?.into_iter().filter(|token| token.key != KeyNo(0)) {
        let what = || format!("a token of client number {}", token.client.0);
        match keys.get(&token.key) {
            None if !clients.contains(&token.client) => {}
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
        let dangling =
            |record: &&AuditRecord| record.key != KeyNo(0) && !keys.contains_key(&record.key) && clients.contains(&record.client);
        for record in page.iter().filter(dangling) {
            let message = format!("its key, number {}, is missing", record.key.0);
            report.problem(format!("audit record {}", record.no), "audit_without_key", message);
        }
    }
}

/// Everybody who may have keys: every client, and every operator.
fn clients(store: &dyn Store) -> Result<HashSet<ClientNo>> {
    let operators: Vec<OperatorRecord> = typed_all(store.scan(&Scan::all(RecordKind::Operator, usize::MAX))?)?;
    let mut clients: HashSet<ClientNo> = operators.iter().map(|operator| operator.no.party()).collect();
    let mut after = ClientNo(0);
    loop {
        let page: Vec<ClientRecord> = typed_all(store.scan(&Scan::after(&Key::Client(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(clients) };
        after = last.no;
        clients.extend(page.iter().map(|client| client.no));
    }
}

/// Adds every end user to those who may have keys.
fn users(store: &dyn Store, clients: &mut HashSet<ClientNo>, report: &mut VerifyReport) -> Result<()> {
    let mut after = UserNo(0);
    loop {
        let page: Vec<UserRecord> = typed_all(store.scan(&Scan::after(&Key::User(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.no;
        for user in page {
            if !clients.contains(&user.client) {
                let message = format!("its client, number {}, is missing", user.client.0);
                report.problem(format!("user {}", user.no.0), "user_without_client", message);
            }
            clients.insert(user.no.party());
        }
    }
}

/// Verifies that every device has a key of its user.
fn devices(store: &dyn Store, keys: &BTreeMap<KeyNo, (ClientNo, Mode)>, report: &mut VerifyReport) -> Result<()> {
    let mut after = KeyNo(0);
    loop {
        let page: Vec<DeviceRecord> = typed_all(store.scan(&Scan::after(&Key::Device(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.no;
        for device in page.iter().filter(|it| keys.get(&it.no).is_none_or(|(owner, _)| *owner != it.user.party())) {
            let message = format!("its key, number {}, is missing or another one's", device.no.0);
            report.problem(format!("device dev_{}", device.id), "device_without_key", message);
        }
    }
}

/// The owner and mode of every key, by number.
fn keys(store: &dyn Store, clients: &HashSet<ClientNo>, report: &mut VerifyReport) -> Result<BTreeMap<KeyNo, (ClientNo, Mode)>> {
    let mut keys = BTreeMap::new();
    let mut after = KeyNo(0);
    loop {
        let page: Vec<KeyRecord> = typed_all(store.scan(&Scan::after(&Key::Key(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(keys) };
        after = last.no;
        for key in page {
            if !clients.contains(&key.client) {
                let message = format!("its client, number {}, is missing", key.client.0);
                report.problem(format!("key {}", key.id), "key_without_client", message);
            }
            if key.public.id() != key.id {
                report.problem(format!("key {}", key.id), "key_differs", "its name is not the thumbprint of its public key");
            }
            if key.no.0 == u32::MAX {
                report.problem("keys", "key_numbers", "no number is left for another key");
            }
            keys.insert(key.no, (key.client, key.mode));
        }
    }
}
