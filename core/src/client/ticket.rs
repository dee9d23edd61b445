//! Tokens and challenges, which a server grants for a limited time, and how they are kept.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::auth::SessionKey;
use crate::terms::SessionUse;
use crate::time::Millis;

/// A token is renewed in its last minute so that it does not expire in flight.
pub(super) const TOKEN_MARGIN: Millis = 60_000;
/// A challenge only needs to outlive one call.
pub(super) const CHALLENGE_MARGIN: Millis = 30_000;

/// A token or a challenge.
#[derive(Clone)]
pub(super) struct Ticket {
    pub(super) text: String,
    /// When to fetch a new one: before it expires, but never in the first half of its lifetime.
    pub(super) renew_at: Millis,
    pub(super) ends_at: Millis,
    half_at: Millis,
}

impl Ticket {
    pub(super) fn new(text: &str, now: Millis, life_s: i64, margin: Millis) -> Self {
        let life = life_s.clamp(0, i64::from(u32::MAX)) * 1000;
        let ends_at = now.saturating_add(life);
        Self { text: text.to_owned(), renew_at: ends_at - margin.min(life / 2), ends_at, half_at: ends_at - life / 2 }
    }

    /// Whether an offered replacement is worth taking.
    pub(super) fn is_half_over(&self, now: Millis) -> bool {
        now >= self.half_at
    }

    fn kept(text: &str, ends_at: Millis, margin: Millis) -> Self {
        let renew_at = ends_at.saturating_sub(margin);
        Self { text: text.to_owned(), renew_at, ends_at, half_at: renew_at }
    }
}

/// A session's token and challenge, to be kept between two runs. It has no `Debug` because it contains a secret.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// The access token; `None` if there is none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_token: Option<String>,
    /// When the token expires, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_ends_at: Option<Millis>,
    /// The key of the token's session, in base64url, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Which calls the session may sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_signs: Option<String>,
    /// The challenge; `None` if there is none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub challenge: Option<String>,
    /// When the challenge expires, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub challenge_ends_at: Option<Millis>,
}

impl Snapshot {
    pub(super) fn of(token: Option<&Ticket>, shared: Option<&(SessionKey, SessionUse)>, challenge: Option<&Ticket>) -> Self {
        Self {
            access_token: token.map(|ticket| ticket.text.clone()),
            token_ends_at: token.map(|ticket| ticket.ends_at),
            session_key: shared.map(|(key, _)| URL_SAFE_NO_PAD.encode(key.to_bytes().as_slice())),
            session_signs: shared.map(|(_, signs)| signs.as_str().to_owned()),
            challenge: challenge.map(|ticket| ticket.text.clone()),
            challenge_ends_at: challenge.map(|ticket| ticket.ends_at),
        }
    }

    /// Without the session's key: what is left is useless without the enrolled key, which signs until the next token.
    #[must_use]
    pub fn without_session(self) -> Self {
        Self { session_key: None, session_signs: None, ..self }
    }

    /// The key of the token's session, and which calls it signs.
    pub fn session(&self) -> Option<(SessionKey, SessionUse)> {
        let bytes = URL_SAFE_NO_PAD.decode(self.session_key.as_deref()?).ok()?;
        Some((SessionKey::from_bytes(&bytes)?, SessionUse::from_name(self.session_signs.as_deref()?)?))
    }

    pub(super) fn tickets(&self) -> (Option<Ticket>, Option<Ticket>) {
        let kept = |text: &Option<String>, end: Option<Millis>, margin| Some(Ticket::kept(text.as_deref()?, end?, margin));
        let token = kept(&self.access_token, self.token_ends_at, TOKEN_MARGIN);
        (token, kept(&self.challenge, self.challenge_ends_at, CHALLENGE_MARGIN))
    }
}
