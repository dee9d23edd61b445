//! Authentication: every call shows its token and a signature by the token's key over a nonce that this gateway issued.
//!
//! The checks run in this order, each with its own code: size and parse; token; `keyid` is the token's key; challenge;
//! clock; signature; digest; nonce unused; scope. Rate limits come last: only authenticated calls count against a client.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};
use railgate::api::{Caller, Credential, SignedBy};
use railgate::auth::{
    KeyId, Message, Nonce, PublicKey, Scope, Signed, TAG, TAG_NEW_KEY, Verify, check_content_digest, find_signature, token_mode,
};
use railgate::env::Env;
use railgate::ids::{ClientNo, KeyNo};
use railgate::ledger::Mode;
use railgate::{Engine, Error, ErrorCode, Result};

use super::challenge::Challenger;
use super::context::Context;
use super::limit::{Limits, Peer};
use super::nonce_cache::NonceCache;
use super::route::Access;
use super::token::{self, TokenCache};
use crate::gateway::read_from;

/// Checks every call.
pub(crate) struct Authenticator {
    engine: Arc<Engine>,
    challenges: Challenger,
    tokens: TokenCache,
    seen: NonceCache,
    verifier: Arc<dyn Verify>,
    /// The base URLs under which callers reach this gateway, without a trailing slash; callers should sign the first one.
    bases: Vec<String>,
    limits: Limits,
}

/// An authenticated call.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    /// The credential whose key signed.
    pub(crate) credential: Credential,
    /// The client, the key and the nonce of the signature.
    pub(crate) by: SignedBy,
}

/// The parts of a request that the checks read.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) body: &'a [u8],
    pub(crate) context: &'a Context,
}

impl Authenticator {
    /// The authenticator of a gateway that callers reach under `bases`.
    pub(crate) fn open(
        engine: Arc<Engine>,
        env: Arc<dyn Env>,
        verifier: Arc<dyn Verify>,
        bases: Vec<String>,
        limits: Limits,
    ) -> Result<Self> {
        let challenges = Challenger::open(&engine, env)?;
        Ok(Self { engine, challenges, tokens: TokenCache::default(), seen: NonceCache::default(), verifier, bases, limits })
    }

    /// A fresh challenge for a caller of this mode.
    pub(crate) fn challenge(&self, mode: Mode) -> String {
        self.challenges.mint(mode)
    }

    /// Clears the cached tokens of a client after it revoked tokens or keys on this node.
    pub(crate) fn forget(&self, client: ClientNo) {
        self.tokens.forget(client);
    }

    /// Counts a failed authentication. `true`: there were too many from this address, and the caller gets `rate_limited`
    /// instead. Correct calls are never refused for that, nor is any key locked: anyone can send wrong calls in another's
    /// name.
    pub(crate) fn failed(&self, peer: IpAddr) -> bool {
        self.limits.failure(peer, self.engine.now())
    }

    /// Adds the headers of the rate limit decision, if there was one.
    pub(crate) fn announce(&self, headers: &mut HeaderMap, context: &Context) {
        if let Some((write, decision)) = context.rate() {
            self.limits.announce(headers, context.mode(), write, decision);
        }
    }

    /// Admits a call that needs a credential.
    ///
    /// # Errors
    /// The first check that fails, in the order of the module documentation.
    pub(crate) fn admit(&self, access: Access, shown: Shown<'_>) -> Result<Admitted> {
        let fields = fields(shown.parts);
        let found = self.find(shown, &fields, TAG);
        let bearer = token::bearer(&shown.parts.headers);
        if let Ok(Some(mode)) = bearer.as_ref().map(|token| token.and_then(token_mode)) {
            shown.context.set_mode(mode);
        }
        let credential = match access {
            Access::Token | Access::Scope(_) => {
                let credential = self.tokens.authenticate(bearer?.ok_or_else(token::missing)?, &self.engine)?;
                shown.context.set_caller(&credential.caller);
                credential
            }
            Access::Key => {
                let credential = read_from(&self.engine, |engine| engine.signatory(&found.as_ref().map_err(Clone::clone)?.key_id))?;
                // Anyone can name a key: the client is logged only once the key has signed.
                shown.context.set_mode(credential.caller.mode);
                credential
            }
            Access::Unsigned | Access::Enrolling => return Err(Error::internal("the route takes no credential")),
        };
        let found = found?;
        if found.key_id != credential.key_id {
            return Err(Error::with(ErrorCode::SignatureInvalid, "keyid does not name the key that the token is bound to"));
        }
        let nonce = self.prove(shown, &fields, &found, &credential.public, credential.caller.mode)?;
        shown.context.set_caller(&credential.caller);
        self.take(&nonce)?;
        let scope = match access {
            Access::Scope(scope) => Some(scope),
            Access::Token | Access::Key | Access::Unsigned | Access::Enrolling => None,
        };
        if let Some(scope) = scope {
            self.allow(scope, &credential, &nonce)?;
        }
        self.charge(shown, &credential.caller)?;
        Ok(Admitted { credential, by: SignedBy { client: credential.caller.client, key: credential.key, nonce } })
    }

    /// Admits a caller whose key is not enrolled yet.
    pub(crate) fn admit_new(&self, key: &PublicKey, shown: Shown<'_>) -> Result<SignedBy> {
        let fields = fields(shown.parts);
        let found = self.find(shown, &fields, TAG)?;
        require_key(&found, &key.id())?;
        let nonce = self.prove(shown, &fields, &found, key, Mode::Sandbox)?;
        self.take(&nonce)?;
        let again_s = self.limits.enrollment(Peer::of(&shown.parts.extensions), self.engine.now()).err();
        if let Some(again_s) = again_s {
            let detail = format!("too many enrolments from this address; try again in {again_s} s");
            return Err(Error::with(ErrorCode::RateLimited, detail));
        }
        Ok(SignedBy { client: ClientNo(0), key: KeyNo(0), nonce })
    }

    /// Checks that a key to be added has signed the call too. This does not use up the nonce: it is used up by the call's
    /// own signature, or bound to it, as both cover the same call.
    pub(crate) fn require_new_key(&self, key: &PublicKey, mode: Mode, shown: Shown<'_>) -> Result<()> {
        let fields = fields(shown.parts);
        let found = self.find(shown, &fields, TAG_NEW_KEY).map_err(|error| match error.code {
            ErrorCode::SignatureMissing => {
                let detail = format!("the new key must sign the call too: a second signature with tag=\"{TAG_NEW_KEY}\"");
                Error::with(ErrorCode::SignatureMissing, detail)
            }
            _ => error,
        })?;
        require_key(&found, &key.id())?;
        self.prove(shown, &fields, &found, key, mode).map(drop)
    }

    fn find(&self, shown: Shown<'_>, fields: &[(&str, &[u8])], tag: &str) -> Result<Signed> {
        // The target URI does not matter for finding the signature.
        find_signature(&message(shown, "", fields), tag)
    }

    /// Checks challenge, clock, signature and digest. Returns the nonce, which is not used up yet.
    fn prove(&self, shown: Shown<'_>, fields: &[(&str, &[u8])], signed: &Signed, key: &PublicKey, mode: Mode) -> Result<Nonce> {
        let nonce = self.challenges.check(&self.engine, &signed.nonce, mode)?;
        signed.check_created(self.engine.now())?;
        self.verify(shown, fields, signed, key, mode)?;
        if let Some(digest) = message(shown, "", fields).field("content-digest") {
            check_content_digest(&digest, shown.body)?;
        }
        Ok(nonce)
    }

    fn verify(&self, shown: Shown<'_>, fields: &[(&str, &[u8])], signed: &Signed, key: &PublicKey, mode: Mode) -> Result<()> {
        let mut first = None;
        for n in 0..self.bases.len() {
            let target_uri = self.target_uri(shown, n);
            let message = message(shown, &target_uri, fields);
            signed.check_coverage(&message, !shown.body.is_empty())?;
            let base = signed.base(&message)?;
            match signed.verify(&base, key, &*self.verifier) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    first.get_or_insert((error, base));
                }
            }
        }
        let Some((error, base)) = first else { return Err(Error::internal("the gateway has no address")) };
        if mode == Mode::Sandbox {
            shown.context.set_signature_base(redacted(&base));
        }
        Err(error)
    }

    fn target_uri(&self, shown: Shown<'_>, base: usize) -> String {
        let path = shown.parts.uri.path_and_query().map_or("/", |path| path.as_str());
        format!("{}{path}", self.bases.get(base).map_or("", String::as_str))
    }

    fn take(&self, nonce: &Nonce) -> Result<()> {
        self.seen.take(nonce, self.engine.now())
    }

    fn charge(&self, shown: Shown<'_>, caller: &Caller) -> Result<()> {
        let write = !matches!(shown.parts.method, Method::GET | Method::HEAD);
        self.count(shown.context, caller, write, 1)
    }

    /// Counts `cost` further uses against the caller's quota: of writes, or of reads.
    ///
    /// # Errors
    /// `rate_limited` when there are not enough left.
    pub(crate) fn count(&self, context: &Context, caller: &Caller, write: bool, cost: usize) -> Result<()> {
        let cost = u32::try_from(cost).unwrap_or(u32::MAX);
        let Some(decision) = self.limits.client(caller.into(), write, cost, self.engine.now()) else { return Ok(()) };
        context.set_rate(write, decision);
        if decision.allowed {
            return Ok(());
        }
        let detail = format!("the quota of this minute is used up; try again in {} s", decision.retry_after_s);
        Err(Error::with(ErrorCode::RateLimited, detail))
    }

    fn allow(&self, scope: Scope, credential: &Credential, nonce: &Nonce) -> Result<()> {
        if !credential.scopes.allows(scope) {
            let detail = format!("the call needs the scope {}; the credential has: {}", scope.as_str(), credential.scopes);
            return Err(Error::with(ErrorCode::InsufficientScope, detail));
        }
        // A create burns its nonce only if it is refused, so it looks for a burnt one here. Other changes find it in their own
        // commit, and so do creates on a remote store, single or batched: there the engine looks up a whole group at once.
        if scope == Scope::SettlementsWrite && !self.engine.is_remote() && self.engine.is_burnt(&nonce.hash)? {
            return Err(Error::new(ErrorCode::NonceReplayed));
        }
        Ok(())
    }
}

fn require_key(found: &Signed, id: &KeyId) -> Result<()> {
    if found.key_id == *id {
        return Ok(());
    }
    let detail = format!("keyid must be the RFC 7638 thumbprint of the key in the body: {id}");
    Err(Error::with(ErrorCode::SignatureInvalid, detail))
}

fn fields(parts: &Parts) -> Vec<(&str, &[u8])> {
    parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
}

fn message<'a>(shown: Shown<'a>, target_uri: &'a str, fields: &'a [(&'a str, &'a [u8])]) -> Message<'a> {
    Message { method: shown.parts.method.as_str(), target_uri, status: None, fields }
}

/// Removes the token from a signature base, because the base goes into a response that callers may log.
fn redacted(base: &str) -> String {
    let lines = base.lines().map(|line| if line.starts_with("\"authorization\"") { "\"authorization\": Bearer <redacted>" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_shown_without_its_token() {
        let base = "\"@method\": GET\n\"authorization\": Bearer rg_sandbox_secret\n\"@signature-params\": ()";
        assert_eq!(redacted(base), "\"@method\": GET\n\"authorization\": Bearer <redacted>\n\"@signature-params\": ()");
    }
}
