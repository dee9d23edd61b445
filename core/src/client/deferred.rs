//! Signing in two steps, for keys that sign asynchronously or elsewhere: Web Crypto, a phone's key store, a security key.
//!
//! ```text
//! while let Some(need) = session.needs(now, true) {
//!     let request = match session.prepare_draft(need, now, random)? {
//!         Drafted::Plain(request) => request,
//!         Drafted::Sign(draft) => draft.finish(&key.sign(draft.to_sign()).await)?,
//!     };
//!     session.learn(&send(request).await, now)?;
//! }
//! let draft = session.draft(request, true, now, random)?;
//! let answer = send(draft.finish(&key.sign(draft.to_sign()).await)?).await;
//! ```

use std::sync::Arc;

use super::{ClientError, Need, Request, Session};
use crate::auth::{PublicKey, SignError, Signer, TAG, TAG_NEW_KEY, UnsignedFields};
use crate::ledger::Mode;
use crate::time::Millis;

/// A request that only lacks a signature. It is valid for a few minutes, and may be sent once.
#[derive(Clone)]
pub struct Draft {
    request: Request,
    fields: UnsignedFields,
}

/// What fetches what a session needs.
pub enum Drafted {
    /// To be sent as it is.
    Plain(Request),
    /// To be signed first.
    Sign(Draft),
}

impl Draft {
    /// The bytes to sign.
    pub fn to_sign(&self) -> &[u8] {
        self.fields.to_sign()
    }

    /// The request, ready to be sent. The signature: for P-256 `r‖s`, as Web Crypto gives it, or DER, as key stores do; for
    /// Ed25519 64 bytes.
    ///
    /// # Errors
    /// [`ClientError::Sign`] if these bytes are no signature of the key's kind.
    pub fn finish(&self, signature: &[u8]) -> Result<Request, ClientError> {
        let mut request = self.request.clone();
        request.add(self.fields.finish(signature)?);
        Ok(request)
    }
}

/// Stands for a key that signs elsewhere.
struct Elsewhere(PublicKey);

impl Signer for Elsewhere {
    fn public_key(&self) -> PublicKey {
        self.0
    }

    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, SignError> {
        Err(SignError::KeyStore("the key signs elsewhere: ask for a draft".to_owned()))
    }
}

impl Session {
    /// A session whose key signs [`Draft`]s, and nothing else.
    ///
    /// # Errors
    /// [`ClientError::Address`].
    pub fn deferred(base: &str, mode: Mode, key: PublicKey) -> Result<Self, ClientError> {
        Self::new(base, mode, Arc::new(Elsewhere(key)))
    }

    /// The first half of [`Session::sign`].
    ///
    /// # Errors
    /// As of [`Session::sign`].
    pub fn draft(&self, request: Request, authenticated: bool, now: Millis, random: [u8; 16]) -> Result<Draft, ClientError> {
        let request = self.with_token(request, authenticated)?;
        let fields = self.unsigned(&request, &self.public_key(), ("sig1", TAG), now, random)?;
        Ok(Draft { request, fields })
    }

    /// The second signature of a request that brings `key`, a new one; to be made by that. `request` is what the draft of the
    /// first came to.
    ///
    /// # Errors
    /// As of [`Session::sign`].
    pub fn draft_of_new_key(&self, request: Request, key: &PublicKey, now: Millis, random: [u8; 16]) -> Result<Draft, ClientError> {
        let fields = self.unsigned(&request, key, ("sig2", TAG_NEW_KEY), now, random)?;
        Ok(Draft { request, fields })
    }

    /// The first half of [`Session::prepare`].
    ///
    /// # Errors
    /// As of [`Session::sign`].
    pub fn prepare_draft(&self, need: Need, now: Millis, random: [u8; 16]) -> Result<Drafted, ClientError> {
        match need {
            Need::Challenge => Ok(Drafted::Plain(self.challenge_request())),
            Need::Token => self.draft(self.token_request(None), false, now, random).map(Drafted::Sign),
        }
    }
}
