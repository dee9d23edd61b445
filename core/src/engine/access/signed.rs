//! Signed commands: the nonce is burnt and the audit record written in the same commit as the change.

use crate::api::SignedBy;
use crate::auth::Nonce;
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay, Prefetch};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo};
use crate::store::record::{AuditAction, AuditRecord, ClientRecord, Key, KeyRecord, KeyStatus, NonceRecord, SignedWith};
use crate::store::{Lookup, Write};
use crate::time::rfc3339;

use super::refusals::Counted;

/// The most characters of a name in the audit trail.
const LONGEST_NAME: usize = 128;

/// A command that a client signed. Its nonce is burnt and its audit record written in the command's own commit.
///
/// A command that [names itself](Command::names_itself) and succeeds burns no nonce: if it is sent again, the result is a replay.
#[derive(Debug, Clone)]
pub struct Signed<C> {
    /// Who signed, and with which nonce.
    pub by: SignedBy,
    /// The command to run.
    pub command: C,
}

impl<C: Command> Command for Signed<C> {
    type Output = C::Output;

    fn is_repeatable(&self) -> bool {
        self.command.is_repeatable()
    }

    /// If its group was not committed, a refused command may be sent again and succeed: its nonce is not burnt.
    fn refusal_stands(&self) -> bool {
        false
    }

    /// The nonce is burnt whether the command succeeds or fails, so sending the same call again, to any node, has no effect. A
    /// create that succeeds needs no nonce record, because its reference reveals a replay; a refused one does, because it might
    /// succeed later.
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<C::Output> {
        let Self { by, command } = self;
        if command.names_itself() {
            // At first its nonce is taken to be unburnt, which the commit requires.
            if d.writer.round > 0 {
                refuse_burnt(d, &by.nonce)?;
            }
        } else {
            still_may_sign(d.overlay, by)?;
            burn(d.overlay, &by.nonce)?;
            if !is_stranger(by) {
                d.overlay.settle();
            }
        }
        let outcome = d.engine.may_still(by.client, command.stays()).and_then(|()| command.decide(d));
        match &outcome {
            // Nothing was done, so there is nothing to record, nor a commit. The nonce of a replayed reversal is burnt already.
            Ok(output) if C::is_replay(output) => {
                if command.names_itself() {
                    refuse_burnt(d, &by.nonce)?;
                }
                return outcome;
            }
            Ok(_) if command.names_itself() => require_unburnt(d, &by.nonce),
            Ok(_) => {}
            Err(error) if error.code.http_status() >= 500 && error.code != ErrorCode::NoRoute => return outcome,
            // A caller that is no client leaves nothing behind, not even its nonce: whoever sends a copy of the call can at best get
            // the same key enrolled.
            Err(_) if is_stranger(by) => return outcome,
            Err(_) => {
                d.overlay.discard();
                if command.names_itself() && !is_known_burnt(d, &by.nonce)? {
                    d.overlay.insert(record(&by.nonce));
                }
            }
        }
        d.audit((by.client, by.key), Some(by.with), command, &outcome);
        d.overlay.settle();
        outcome
    }

    /// Reads whether the signer may still sign, whether this very call was decided before, and what the command reads.
    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        let SignedBy { nonce, key, client, .. } = &self.by;
        if !self.command.names_itself() {
            prefetch.add([Key::Nonce(nonce.hash), Key::Key(*key), Key::Client(*client)].map(Lookup::Get));
        } else if prefetch.again {
            prefetch.add([Lookup::Get(Key::Nonce(nonce.hash))]);
        }
        self.command.prefetch(prefetch);
    }

    fn numbers(&self, engine: &Engine) -> usize {
        self.command.numbers(engine)
    }

    fn is_replay(output: &C::Output) -> bool {
        C::is_replay(output)
    }

    fn touched(output: &C::Output) -> usize {
        C::touched(output)
    }
}

impl Decision<'_, '_> {
    /// Writes an audit record of what `by` did or was refused, if the command has one. A client's refusals are recorded one by one
    /// up to a limit, and counted beyond.
    pub(crate) fn audit<C: Command>(&mut self, by: (ClientNo, KeyNo), with: Option<SignedWith>, command: &C, outcome: &Result<C::Output>) {
        let Some(deed) = command.deed(outcome.as_ref().ok()) else { return };
        let (client, key) = deed.of.unwrap_or(by);
        let by_operator = by.0 == ClientNo(0);
        if outcome.is_err() && !by_operator && !self.may_record_refusal(client) {
            return;
        }
        self.record(deed.of(client, key), with, outcome.as_ref().err());
    }

    /// Writes an audit record of a deed, which says for which client and key, and of what signed it.
    pub(crate) fn record(&mut self, deed: Deed, signed_by: Option<SignedWith>, refusal: Option<&Error>) {
        let Deed { action, of, target, name, detail } = deed;
        let (client, key) = of.unwrap_or((ClientNo(0), KeyNo(0)));
        self.overlay.insert(AuditRecord {
            no: self.writer.audit_no(self.overlay.now),
            at: self.overlay.now,
            client,
            key,
            action,
            target,
            name: if target == 0 { name.map(bounded) } else { None },
            refused: refusal.map(|error| error.code.as_str().to_owned()),
            detail,
            signed_by,
        });
    }

    /// Whether this refusal of the client is recorded. Otherwise it is counted.
    fn may_record_refusal(&mut self, client: ClientNo) -> bool {
        let now = self.overlay.now;
        let (recorded, ended) = self.writer.refusals.note(client, now);
        if let Some(counted) = ended {
            self.record_counted(&counted);
        }
        recorded
    }

    /// Writes one record for the refusals that were only counted.
    pub(crate) fn record_counted(&mut self, counted: &Counted) {
        let Counted { client, since, count } = *counted;
        self.overlay.insert(AuditRecord {
            no: self.writer.audit_no(self.overlay.now),
            at: self.overlay.now,
            client,
            key: KeyNo(0),
            action: AuditAction::MoreRefusals,
            target: 0,
            name: Some(format!("{count} within the hour from {}", rfc3339(since))),
            refused: Some(AuditAction::MoreRefusals.as_str().to_owned()),
            detail: None,
            signed_by: None,
        });
    }
}

/// A text for the audit trail, which keeps no more of it than identifies something.
fn bounded(mut name: String) -> String {
    if let Some((end, _)) = name.char_indices().nth(LONGEST_NAME) {
        name.truncate(end);
    }
    name
}

/// Whether the caller is no client yet.
fn is_stranger(by: &SignedBy) -> bool {
    by.client == ClientNo(0)
}

/// Hosts cache credentials for some seconds. Lasting changes, such as adding a key, check the key again, as it may have been
/// revoked meanwhile. A create does not, to save the read.
fn still_may_sign(overlay: &Overlay<'_>, by: &SignedBy) -> Result<()> {
    if by.key == KeyNo(0) {
        return Ok(());
    }
    let key: Option<KeyRecord> = overlay.get(&Key::Key(by.key))?;
    if by.client.operator().is_some() {
        // An operator who is revoked has no key left.
        return key.is_some_and(|key| key.status == KeyStatus::Active).then_some(()).ok_or_else(|| Error::new(ErrorCode::KeyRevoked));
    }
    let client: Option<ClientRecord> = overlay.get(&Key::Client(by.client))?;
    if key.is_none_or(|key| key.status != KeyStatus::Active) {
        return Err(Error::new(ErrorCode::KeyRevoked));
    }
    if client.is_none_or(|client| client.suspended) {
        return Err(Error::new(ErrorCode::ClientSuspended));
    }
    Ok(())
}

/// Refuses a command whose nonce is burnt in the store. Hosts check that before they hand it over, unless each check is a round trip.
/// Nonces that this group burns do not count: they may belong to elements of the same batch.
fn refuse_burnt(d: &Decision<'_, '_>, nonce: &Nonce) -> Result<()> {
    let key = Key::Nonce(nonce.hash);
    if d.engine.store.is_remote() && !d.overlay.touched(&key) && d.overlay.stored(&key)?.is_some() {
        return Err(Error::new(ErrorCode::NonceReplayed));
    }
    Ok(())
}

/// Makes it a condition of the commit that the nonce of a command that succeeds was not burnt, as in [`refuse_burnt`].
fn require_unburnt(d: &mut Decision<'_, '_>, nonce: &Nonce) {
    let key = Key::Nonce(nonce.hash);
    if d.engine.store.is_remote() && !d.overlay.touched(&key) {
        d.overlay.write(Write::Absent(key));
    }
}

/// Whether the nonce of a command that was refused is burnt, as far as that is known without a round trip.
fn is_known_burnt(d: &Decision<'_, '_>, nonce: &Nonce) -> Result<bool> {
    if d.engine.store.is_remote() && !d.overlay.touched(&Key::Nonce(nonce.hash)) { Ok(false) } else { spent(d.overlay, nonce) }
}

fn spent(overlay: &Overlay<'_>, nonce: &Nonce) -> Result<bool> {
    Ok(overlay.get::<NonceRecord>(&Key::Nonce(nonce.hash))?.is_some())
}

fn burn(overlay: &mut Overlay<'_>, nonce: &Nonce) -> Result<()> {
    if mutated!(ForgottenNonce) {
        return Ok(());
    }
    if spent(overlay, nonce)? {
        return Err(Error::new(ErrorCode::NonceReplayed));
    }
    overlay.insert(record(nonce));
    Ok(())
}

fn record(nonce: &Nonce) -> NonceRecord {
    NonceRecord { hash: nonce.hash, expires_at: nonce.expires_at }
}
