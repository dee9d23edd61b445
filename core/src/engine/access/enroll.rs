//! Becoming a client: at once in the sandbox; for live access, after an operator's approval.

use crate::api::{Caller, Enrolled};
use crate::auth::{PublicKey, ScopeSet};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed};
use crate::engine::money::funding;
use crate::error::{Error, Result};
use crate::ids::{ClientNo, KeyNo};
use crate::ledger::Mode;
use crate::store::record::{AuditAction, ClientRecord, KeyRecord, KeyStatus, Version};
use crate::webhook::WebhookSecret;

use super::secrets::webhook_place;

/// Enrols a new sandbox client with funded accounts.
#[derive(Debug, Clone)]
pub struct Enroll {
    /// 1 to 100 printable characters.
    pub name: String,
    /// The client's first key, which also gets a first token; `None` if the client is this process.
    pub key: Option<PublicKey>,
}

impl Command for Enroll {
    type Output = Enrolled;

    /// The second attempt fails if it has a key, because a key is enrolled only once.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Enrolled> {
        let mut webhook_secret = None;
        let engine = d.engine;
        let (caller, name) = enroll_client(d, &self.name, |client| {
            let (text, sealed) = engine.new_webhook_secret(client)?;
            webhook_secret = Some(text);
            Some(sealed)
        })?;
        let key = self.key.as_ref().map(|key| engine.new_key(d.overlay, d.writer, &caller, key, ScopeSet::CLIENT)).transpose()?;
        let token = key.as_ref().map(|key| engine.write_token(d.overlay, key, key.scopes));
        if let Some(key) = &key {
            d.overlay.insert(key.clone());
        }
        Ok(Enrolled { caller, name, key, token, webhook_secret })
    }

    fn numbers(&self, engine: &Engine) -> usize {
        engine.config.sandbox_funding.len()
    }

    /// The client is only known once the enrolment succeeded.
    fn deed(&self, done: Option<&Enrolled>) -> Option<Deed> {
        let deed = Deed::new(AuditAction::Enroll);
        Some(match done {
            Some(Enrolled { caller, key, .. }) => {
                deed.target(caller.client.0).of(caller.client, key.as_ref().map_or(KeyNo(0), |key| key.no))
            }
            None => deed.name(&*self.name),
        })
    }
}

/// Enrols the only client of a [`crate::sandbox`]: the program itself.
#[cfg(feature = "sandbox")]
#[derive(Debug, Clone)]
pub(crate) struct EnrollAlone {
    /// 1 to 100 printable characters.
    pub(crate) name: String,
}

#[cfg(feature = "sandbox")]
impl Command for EnrollAlone {
    type Output = Caller;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Caller> {
        enroll_client(d, &self.name, |_| None).map(|(caller, _)| caller)
    }

    fn numbers(&self, engine: &Engine) -> usize {
        engine.config.sandbox_funding.len()
    }
}

/// Requests live access with a new key; an operator decides.
#[derive(Debug, Clone)]
pub struct EnrollLive {
    /// The caller, with an active key.
    pub caller: Caller,
    /// The key that will sign live calls.
    pub key: PublicKey,
}

impl Command for EnrollLive {
    type Output = KeyRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<KeyRecord> {
        let live = Caller { mode: Mode::Live, ..self.caller };
        d.engine.check_room(d.overlay, self.caller.client)?;
        let mut key = d.engine.new_key(d.overlay, d.writer, &live, &self.key, ScopeSet::CLIENT)?;
        key.status = KeyStatus::Pending;
        d.overlay.insert(key.clone());
        Ok(key)
    }

    fn deed(&self, done: Option<&KeyRecord>) -> Option<Deed> {
        Some(Deed::new(AuditAction::EnrollLive).target(done.map_or(0, |key| key.no.0)).name(self.key.id().to_string()))
    }
}

/// Adds a client with funded sandbox accounts and no key. Returns it and its trimmed name.
pub(crate) fn enroll_client(
    d: &mut Decision<'_, '_>,
    name: &str,
    webhook_secret: impl FnOnce(ClientNo) -> Option<Vec<u8>>,
) -> Result<(Caller, String)> {
    let name = printable(name, "client_name")?;
    let (overlay, writer) = (&mut *d.overlay, &mut *d.writer);
    let caller = Caller { client: writer.client_no(), client_id: d.engine.fresh_ulid(overlay.now), mode: Mode::Sandbox };
    let (no, id) = (caller.client, caller.client_id);
    let webhook_secret = webhook_secret(no).unwrap_or_default();
    let (created_at, version) = (overlay.now, Version::default());
    overlay.insert(ClientRecord { no, id, name: name.clone(), suspended: false, webhook_secret, created_at, version });
    for money in &d.engine.config.sandbox_funding {
        overlay.post(funding(writer.journal(), caller.client, *money, overlay.now));
    }
    Ok((caller, name))
}

impl Engine {
    /// The secret's text and its sealed form.
    fn new_webhook_secret(&self, client: ClientNo) -> Option<(String, Vec<u8>)> {
        let mut bytes = [0u8; 32];
        self.env.random(&mut bytes);
        let secret = WebhookSecret::from_bytes(bytes);
        let sealed = self.seal(&webhook_place(client), secret.as_bytes())?;
        Some((secret.to_text().to_string(), sealed))
    }
}

pub(crate) fn printable(text: &str, field: &'static str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > 100 || text.chars().any(|c| c.is_control() || is_invisible(c)) {
        let code = if field == "client_name" { "client_name_malformed" } else { "label_malformed" };
        return Err(Error::field(format!("/{field}"), code, format!("{field} must have 1 to 100 printable characters")));
    }
    Ok(text.to_owned())
}

/// Characters that change the writing direction or are invisible: a name must not look like another one.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
