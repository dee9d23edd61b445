//! Who asks, of what, and what an enrolment gives.

use crate::auth::{KeyId, Nonce, PublicKey, ScopeSet};
use crate::ids::{ClientNo, KeyNo, SettlementNo, Ulid};
use crate::ledger::Mode;
use crate::participant::Reference;
use crate::store::record::{Digest32, KeyRecord};
use crate::time::Millis;

/// Who asks: a client, and the mode its credential was issued for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The client's number in this store.
    pub client: ClientNo,
    /// The ULID behind `cli_`.
    pub client_id: Ulid,
    /// The credential's mode.
    pub mode: Mode,
}

/// A key that may sign, or a token and the key that must sign with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credential {
    /// Whom it speaks for.
    pub caller: Caller,
    /// The key's number.
    pub key: KeyNo,
    /// The key's thumbprint.
    pub key_id: KeyId,
    /// The key.
    pub public: PublicKey,
    /// What it may do.
    pub scopes: ScopeSet,
    /// When it ends: the token's end, or never for a key alone.
    pub expires_at: Millis,
}

/// The signature under which a command came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedBy {
    /// Whose; 0 for somebody who is only just enrolling.
    pub client: ClientNo,
    /// With which key; 0 likewise.
    pub key: KeyNo,
    /// What it used up.
    pub nonce: Nonce,
}

/// `<ref>` in a path: the client's own reference, or the `stl_` id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The client's reference.
    Reference(Reference),
    /// The ULID behind `stl_`.
    Id(Ulid),
}

impl Target {
    /// Reads `<ref>`. Text that is neither can name nothing: the caller answers "not found".
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

/// An `Idempotency-Key` header and what it was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The header's text, 1 to 255 printable ASCII characters.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub fingerprint: Digest32,
}

/// What an answer of a rail is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Attempt `n` of a settlement.
    Attempt(SettlementNo, u16),
    /// Reversal `n` of a settlement.
    Reversal(SettlementNo, u16),
}

/// A client's first session. There is no `Debug`: it holds secrets.
#[derive(Clone)]
pub struct Enrolled {
    /// Who it is from now on.
    pub caller: Caller,
    /// Its name, as it gave it.
    pub name: String,
    /// The key it enrolled with.
    pub key: Option<KeyRecord>,
    /// The first token of that key.
    pub token: Option<IssuedToken>,
    /// `whsec_` and base64 of 32 bytes, shown this once; `None` where no host delivers webhooks.
    pub webhook_secret: Option<String>,
}

/// An access token. There is no `Debug`: the text is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// Its text, shown this once.
    pub text: String,
    /// What it may do.
    pub scopes: ScopeSet,
    /// When it ends.
    pub expires_at: Millis,
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
