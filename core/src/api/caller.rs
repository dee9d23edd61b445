//! Callers, their credentials, and what their calls refer to.

use crate::auth::{EphemeralKey, KeyId, Nonce, PublicKey, ScopeSet, SessionId, SessionKey};
use crate::ids::{ClientNo, KeyNo, SettlementNo, Ulid, UserNo};
use crate::ledger::Mode;
use crate::participant::Reference;
use crate::store::record::{Digest32, KeyRecord, SettlementRecord, SignedWith};
use crate::terms::SessionUse;
use crate::time::Millis;

/// A client, with the mode of its credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The client's number in this store.
    pub client: ClientNo,
    /// The ULID after `cli_`.
    pub client_id: Ulid,
    /// The credential's mode.
    pub mode: Mode,
    /// The client's end user whose device calls: it sees and makes this user's payments only. `None` for the client itself.
    pub user: Option<UserNo>,
}

impl Caller {
    /// The client itself.
    pub const fn client(client: ClientNo, client_id: Ulid, mode: Mode) -> Self {
        Self { client, client_id, mode, user: None }
    }

    /// The number under which its keys and tokens are stored.
    pub fn party(&self) -> ClientNo {
        self.user.map_or(self.client, UserNo::party)
    }

    /// Whether it may see a settlement: its client's, of a mode that it sees, and on a device its user's.
    pub fn may_see(&self, record: &SettlementRecord) -> bool {
        let is_theirs = record.client == self.client || mutated!(WrongTenant);
        let is_shown = self.sees(record.mode) || mutated!(ModesMixed);
        is_theirs && is_shown && (self.user.is_none() || record.user == self.user)
    }

    /// Whether it may see its client's things of this mode: to a sandbox credential, live ones do not exist.
    pub fn sees(&self, mode: Mode) -> bool {
        self.mode == Mode::Live || self.mode == mode
    }
}

/// A key that may sign, or a token with the key that must sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credential {
    /// The client that it authenticates.
    pub caller: Caller,
    /// The key's number.
    pub key: KeyNo,
    /// The key's thumbprint.
    pub key_id: KeyId,
    /// The public key.
    pub public: PublicKey,
    /// The scopes it grants.
    pub scopes: ScopeSet,
    /// When it expires: the token's expiry, or `Millis::MAX` for a key alone.
    pub expires_at: Millis,
    /// The key of the token's session, if it has one.
    pub session: Option<SessionKey>,
}

/// The signature of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedBy {
    /// The client's number; 0 while it enrols.
    pub client: ClientNo,
    /// The key's number; 0 while it enrols.
    pub key: KeyNo,
    /// What signed.
    pub with: SignedWith,
    /// The nonce that the signature uses.
    pub nonce: Nonce,
}

/// `<ref>` in a path: the client's own reference, or the `stl_` id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The client's reference.
    Reference(Reference),
    /// The ULID after `stl_`.
    Id(Ulid),
}

impl Target {
    /// Parses `<ref>`. Text that is neither form cannot name anything: report "not found".
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("stl_") {
            Some(ulid) => Ulid::parse(ulid).map(Self::Id),
            None => Reference::parse(text).ok().map(Self::Reference),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reference(reference) => f.write_str(reference.as_str()),
            Self::Id(id) => write!(f, "stl_{id}"),
        }
    }
}

/// An `Idempotency-Key` header and a fingerprint of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The header's text, 1 to 255 printable ASCII characters.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub fingerprint: Digest32,
}

/// The subject of a rail's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Attempt `n` of a settlement.
    Attempt(SettlementNo, u16),
    /// Reversal `n` of a settlement.
    Reversal(SettlementNo, u16),
}

/// A client's first session. The `Debug` output omits its secrets.
#[derive(Clone)]
pub struct Enrolled {
    /// The new client.
    pub caller: Caller,
    /// Its name, without surrounding white space.
    pub name: String,
    /// The key that it enrolled with.
    pub key: Option<KeyRecord>,
    /// The first token of that key.
    pub token: Option<IssuedToken>,
    /// `whsec_` and base64 of 32 bytes, not shown again; `None` if no host delivers webhooks.
    pub webhook_secret: Option<String>,
}

/// An access token. The `Debug` output omits its text, which is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// Its text, not shown again.
    pub text: String,
    /// The scopes it grants.
    pub scopes: ScopeSet,
    /// When it expires.
    pub expires_at: Millis,
    /// The gateway's half of the session, if one was asked for and may be.
    pub session: Option<IssuedSession>,
}

/// The gateway's half of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssuedSession {
    /// The session's id.
    pub id: SessionId,
    /// The gateway's ephemeral key.
    pub public: EphemeralKey,
    /// Which calls it may sign.
    pub signs: SessionUse,
}

impl std::fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedToken").field("scopes", &self.scopes).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Enrolled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enrolled").field("caller", &self.caller).finish_non_exhaustive()
    }
}
