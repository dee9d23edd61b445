//! Becoming a client: at once in the sandbox, as far as the settings admit strangers; for live access, after an operator's approval.

use crate::api::{Caller, Enrolled};
use crate::auth::{PublicKey, ScopeSet};
use crate::engine::group::{Command, Decision, Deed};
#[cfg(feature = "sandbox")]
use crate::engine::money::funding;
use crate::engine::{Engine, Enrollment};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo};
use crate::ledger::Mode;
use crate::store::record::{AllowanceRecord, AuditAction, ClientRecord, Key, KeyRecord, KeyStatus, RecordKind, Version};
use crate::store::{Scan, Store, typed, typed_all};
use crate::time::Millis;
use crate::validate::access::printable;
use crate::webhook::WebhookSecret;

use super::secrets::webhook_place;

/// How many clients are read at once to count them.
const PAGE: usize = 500;
/// The shortest time between two counts of all clients: they are counted only if there seem to be too many.
const COUNT_EVERY: Millis = 60_000;

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
        // A client that never pays leaves no transfers, which would stay for ever.
        d.overlay.insert(AllowanceRecord { client: caller.client, version: 1, since: d.overlay.now });
        let key = self.key.as_ref().map(|key| engine.new_key(d.overlay, d.writer, &caller, key, ScopeSet::CLIENT)).transpose()?;
        let token = key.as_ref().map(|key| engine.write_token(d.overlay, key, key.scopes, None));
        if let Some(key) = &key {
            d.overlay.insert(key.clone());
        }
        Ok(Enrolled { caller, name, key, token, webhook_secret })
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

/// Enrols a caller for whom nobody vouches, if the settings admit it.
#[derive(Debug, Clone)]
pub struct EnrollStranger {
    /// The new client.
    pub enroll: Enroll,
    /// The code of an invitation.
    pub invitation: Option<String>,
}

impl Command for EnrollStranger {
    type Output = Enrolled;

    fn is_repeatable(&self) -> bool {
        self.enroll.is_repeatable()
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Enrolled> {
        d.engine.admits_strangers()?;
        let cap = d.engine.config.enrollment_cap;
        if d.writer.census.reached(cap, d.writer.client_numbers(), d.engine, d.overlay.now)? {
            let detail = format!("this gateway takes {cap} clients, and has them");
            return Err(Error::with(ErrorCode::EnrollmentFull, detail));
        }
        if d.engine.config.enrollment == Enrollment::Invited {
            d.engine.use_invitation(d.overlay, self.invitation.as_deref())?;
        }
        self.enroll.decide(d)
    }

    fn deed(&self, done: Option<&Enrolled>) -> Option<Deed> {
        self.enroll.deed(done)
    }
}

/// How many clients there are, without counting them for each enrolment: at most as many as numbers were given out, less those that
/// turned out to be unused when they were last counted.
#[derive(Default)]
pub(crate) struct Census {
    unused: u32,
    counted_at: Option<Millis>,
}

impl Census {
    /// Whether there are `cap` clients. `numbers` were given out.
    fn reached(&mut self, cap: u32, numbers: u32, engine: &Engine, now: Millis) -> Result<bool> {
        if numbers.saturating_sub(self.unused) < cap {
            return Ok(false);
        }
        if self.counted_at.is_some_and(|at| (0..COUNT_EVERY).contains(&(now - at))) {
            return Ok(true);
        }
        self.counted_at = Some(now);
        let count = count_clients(&*engine.store, cap)?;
        // Other nodes may have given out numbers that this one has not heard of.
        let last: Option<ClientRecord> = typed(engine.store.scan(&Scan::last(RecordKind::Client))?.pop())?;
        self.unused = last.map_or(0, |last| last.no.0).max(numbers).saturating_sub(count);
        Ok(count >= cap)
    }
}

/// The number of clients, counted up to `most`.
fn count_clients(store: &dyn Store, most: u32) -> Result<u32> {
    let (mut count, mut page) = (0, Scan::all(RecordKind::Client, PAGE));
    while count < most {
        let found: Vec<ClientRecord> = typed_all(store.scan(&page)?)?;
        count += found.len() as u32;
        let Some(last) = found.last().filter(|_| found.len() == PAGE) else { break };
        page = Scan::after(&Key::Client(last.no), PAGE);
    }
    Ok(count)
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
        let (caller, _) = enroll_client(d, &self.name, |_| None)?;
        for money in &d.engine.config.sandbox_funding {
            d.overlay.post(funding(d.writer.journal(), 1, caller.client, *money, d.overlay.now));
        }
        Ok(caller)
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

/// Adds a client without a key. Returns it and its trimmed name.
pub(crate) fn enroll_client(
    d: &mut Decision<'_, '_>,
    name: &str,
    webhook_secret: impl FnOnce(ClientNo) -> Option<Vec<u8>>,
) -> Result<(Caller, String)> {
    let name = named(name, "client_name", "client_name_malformed")?;
    let (overlay, writer) = (&mut *d.overlay, &mut *d.writer);
    let caller = Caller::client(writer.client_no(), d.engine.fresh_ulid(overlay.now), Mode::Sandbox);
    let (no, id) = (caller.client, caller.client_id);
    let webhook_secret = webhook_secret(no).unwrap_or_default();
    let (created_at, version) = (overlay.now, Version::default());
    overlay.insert(ClientRecord { no, id, name: name.clone(), suspended: false, webhook_secret, created_at, version });
    Ok((caller, name))
}

impl Engine {
    /// Whether callers may enrol that are no clients yet, at all.
    ///
    /// # Errors
    /// `enrollment_closed` if not.
    pub fn admits_strangers(&self) -> Result<()> {
        match self.config.enrollment {
            Enrollment::Open | Enrollment::Invited => Ok(()),
            Enrollment::Off => Err(Error::new(ErrorCode::EnrollmentClosed)),
        }
    }

    /// The secret's text and its sealed form.
    fn new_webhook_secret(&self, client: ClientNo) -> Option<(String, Vec<u8>)> {
        let mut bytes = [0u8; 32];
        self.env.random(&mut bytes);
        let secret = WebhookSecret::from_bytes(bytes);
        let sealed = self.seal(&webhook_place(client), secret.as_bytes())?;
        Some((secret.to_text().to_string(), sealed))
    }
}

/// The trimmed text, if it may be stored as a name.
pub(crate) fn named(text: &str, field: &'static str, code: &'static str) -> Result<String> {
    printable(text).map_err(|said| Error::field(format!("/{field}"), code, format!("{field} {said}")))
}
