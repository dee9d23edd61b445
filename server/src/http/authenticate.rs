//! Authentication: every call shows its token and a signature by the token's key over a nonce that this gateway issued.
//!
//! The checks run in this order, each with its own code. On the head alone: declared size and types; token; `keyid` is the token's
//! key or session; challenge; clock; signature; that a session may sign it; nonce not seen on this node; the client's quota not used up.
//! Only then is the body read, into memory that was set aside for it. Then: its size; that the signature covers it; digest; nonce unused,
//! which takes it; scope. The call is counted last: only authenticated calls count against a client.
//!
//! What strangers can cause before their signature is verified is bounded: a token that this gateway did not make costs no read;
//! a key that has signed on this node costs one only with a signature that is valid, and any other key only while its address has
//! not used up its failures.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};
use railgate::api::{Caller, Credential, SignedBy};
use railgate::auth::{
    By, KeyId, Message, Nonce, PublicKey, Scope, SessionKey, Signed, TAG, TAG_NEW_KEY, Verify, check_content_digest, check_content_sha256,
    find_signature, key_required, token_mode,
};
use railgate::env::Env;
use railgate::ids::{ClientNo, KeyNo};
use railgate::ledger::Mode;
use railgate::limit::Decision;
use railgate::store::record::{KeyRecord, SignedWith};
use railgate::time::Millis;
use railgate::{Engine, Error, ErrorCode, Result};
use smallvec::SmallVec;

use super::body;
use super::challenge::Challenger;
use super::context::Context;
use super::key_cache::{KeyCache, Known};
use super::limit::Limits;
use super::nonce_cache::NonceCache;
use super::route::Access;
use super::token::{self, TokenCache};
use crate::gateway::Lookups;

/// Checks every call.
pub(crate) struct Authenticator {
    engine: Arc<Engine>,
    lookups: Lookups,
    challenges: Challenger,
    tokens: TokenCache,
    keys: KeyCache,
    seen: NonceCache,
    verifier: Arc<dyn Verify>,
    /// The base URLs under which callers reach this gateway, without a trailing slash; callers should sign the first one.
    bases: Vec<String>,
    limits: Limits,
    /// Nonces that expire later were burnt on this node, if at all.
    burnt_elsewhere_until: Millis,
}

/// An authenticated call.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    /// The credential whose key signed.
    pub(crate) credential: Credential,
    /// The client, the key and the nonce of the signature.
    pub(crate) by: SignedBy,
}

/// What the checks read before the body.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) context: &'a Context,
}

/// A whole request, as the checks read it.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) head: Head<'a>,
    pub(crate) body: &'a [u8],
}

/// A call whose head is signed by a credential's key. Its body is not checked yet, and its nonce not taken.
pub(crate) struct Proven {
    credential: Credential,
    signed: Signed,
    nonce: Nonce,
}

/// What a signature is verified with.
#[derive(Clone, Copy)]
enum With<'a> {
    Key(&'a PublicKey),
    Session(&'a SessionKey),
}

impl Proven {
    /// The client whose key signed the head.
    pub(crate) fn caller(&self) -> &Caller {
        &self.credential.caller
    }
}

impl Authenticator {
    /// The authenticator of a gateway that callers reach under `bases`; `alone` if no other node works on its store.
    pub(crate) fn open(
        engine: Arc<Engine>,
        env: Arc<dyn Env>,
        verifier: Arc<dyn Verify>,
        bases: Vec<String>,
        limits: Limits,
        alone: bool,
    ) -> Result<Self> {
        let burnt_elsewhere_until = if alone { engine.burnt_until()? } else { Millis::MAX };
        let challenges = Challenger::open(&engine, env)?;
        let lookups = Lookups::new(Arc::clone(&engine));
        let (tokens, keys, seen) = (TokenCache::default(), KeyCache::default(), NonceCache::default());
        Ok(Self { engine, lookups, challenges, tokens, keys, seen, verifier, bases, limits, burnt_elsewhere_until })
    }

    /// A fresh challenge for a caller of this mode.
    pub(crate) fn challenge(&self, mode: Mode) -> String {
        self.challenges.mint(mode)
    }

    /// Clears the cached tokens of a client after it revoked tokens or keys on this node.
    pub(crate) fn forget(&self, client: ClientNo) {
        self.tokens.forget(client);
    }

    /// Notes that a key was enrolled on this node.
    pub(crate) fn enrolled(&self, key: &KeyRecord) {
        self.keys.enrolled(&key.public, &key.id, key.mode);
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

    /// Admits a call that needs a credential, and whose body was read or is empty.
    ///
    /// # Errors
    /// The first check that fails, in the order of the module documentation.
    pub(crate) fn admit(&self, access: Access, shown: Shown<'_>) -> Result<Admitted> {
        self.complete(self.prove_head(access, shown.head)?, access, shown)
    }

    /// Checks everything that needs no body.
    ///
    /// # Errors
    /// See [`Authenticator::admit`].
    pub(crate) fn prove_head(&self, access: Access, head: Head<'_>) -> Result<Proven> {
        let fields = fields(head.parts);
        let found = self.find(head, &fields, TAG);
        let bearer = token::bearer(&head.parts.headers);
        if let Ok(Some(mode)) = bearer.as_ref().map(|token| token.and_then(token_mode)) {
            head.context.set_mode(mode);
        }
        let mut proven = None;
        let credential = match access {
            Access::Token | Access::Scope(_) | Access::Shared(_) | Access::Consent => {
                let credential = self.tokens.authenticate(bearer?.ok_or_else(token::missing)?, &self.lookups)?;
                head.context.set_caller(&credential.caller);
                credential
            }
            Access::Key => {
                let signed = found.as_ref().map_err(Clone::clone)?;
                let id = signed.key_id()?;
                let known = self.keys.find(&id, self.engine.now());
                if let Known::Signed(public, mode) = &known {
                    head.context.set_mode(*mode);
                    proven = Some(self.prove(head, &fields, signed, With::Key(public), *mode)?);
                }
                let credential = self.signatory(&id, known, head.context.origin.peer)?;
                // Anyone can name a key: the client is logged only once the key has signed.
                head.context.set_mode(credential.caller.mode);
                credential
            }
            Access::Unsigned | Access::Enrolling => return Err(Error::internal("the route takes no credential")),
        };
        let signed = found?;
        let with = maker(&signed, &credential)?;
        let nonce = match proven {
            Some(nonce) => nonce,
            None => self.prove(head, &fields, &signed, with, credential.caller.mode)?,
        };
        if let With::Session(_) = with {
            self.allow_session(access, head, &credential)?;
        }
        if access == Access::Key && proven.is_none() {
            self.keys.has_signed(&credential.public, &credential.key_id, credential.caller.mode);
        }
        head.context.set_caller(&credential.caller);
        // Whoever sends a copy of a call sends its body in vain.
        self.seen.check(&nonce, self.engine.now())?;
        self.check_quota(head, &credential.caller)?;
        Ok(Proven { credential, signed, nonce })
    }

    /// Checks what needs the body, and takes the nonce.
    ///
    /// # Errors
    /// See [`Authenticator::admit`].
    pub(crate) fn complete(&self, proven: Proven, access: Access, shown: Shown<'_>) -> Result<Admitted> {
        check_body(&proven.signed, shown)?;
        self.covered(proven, access, shown.head)
    }

    /// [`Authenticator::complete`], for a body that is in a file: with this SHA-256, and not empty.
    ///
    /// # Errors
    /// See [`Authenticator::admit`].
    pub(crate) fn complete_file(&self, proven: Proven, access: Access, head: Head<'_>, sha256: &[u8; 32]) -> Result<Admitted> {
        check_file(&proven.signed, head, sha256)?;
        self.covered(proven, access, head)
    }

    /// Whether the credential may do what a route asks for, before a body is received that nobody else could send.
    ///
    /// # Errors
    /// `insufficient_scope`.
    pub(crate) fn check_scope(&self, proven: &Proven, access: Access) -> Result<()> {
        match access {
            Access::Scope(scope) => self.allow(scope, &proven.credential, &proven.nonce),
            Access::Shared(scope) if proven.credential.caller.user.is_none() => self.allow(scope, &proven.credential, &proven.nonce),
            Access::Shared(Scope::SettlementsWrite) => {
                self.allow(Scope::Mobile, &proven.credential, &proven.nonce)?;
                self.check_create(&proven.nonce)
            }
            Access::Shared(_) | Access::Consent => self.allow(Scope::Mobile, &proven.credential, &proven.nonce),
            Access::Token | Access::Key | Access::Unsigned | Access::Enrolling => Ok(()),
        }
    }

    /// Checks what is left once the body is known to be the one that was signed.
    fn covered(&self, proven: Proven, access: Access, head: Head<'_>) -> Result<Admitted> {
        self.take(&proven.nonce)?;
        self.check_scope(&proven, access)?;
        let Proven { credential, nonce, signed } = proven;
        self.charge(head, &credential.caller)?;
        let with = if let By::Session { .. } = signed.by { SignedWith::Session } else { SignedWith::Key };
        Ok(Admitted { credential, by: SignedBy { client: credential.caller.client, key: credential.key, with, nonce } })
    }

    /// Whether a session may sign such a call.
    fn allow_session(&self, access: Access, head: Head<'_>, credential: &Credential) -> Result<()> {
        let writes = writes(head);
        if access.needs_key(writes) {
            return Err(key_required("the key itself must sign what is done with keys and tokens, and what operators do"));
        }
        if !self.engine.session_use(credential.caller.client, credential.caller.mode).allows(writes) {
            return Err(key_required("by the client's session_signatures, the key itself must sign this call"));
        }
        Ok(())
    }

    /// The client behind a key that signs without a token. A key that has not signed here costs a read only if its address has not
    /// used up its failures.
    fn signatory(&self, key: &KeyId, known: Known, peer: IpAddr) -> Result<Credential> {
        let now = self.engine.now();
        let enrolled = match known {
            Known::Signed(..) => return self.lookups.read(|engine| engine.signatory(key)),
            Known::Unknown => return Err(Error::new(ErrorCode::KeyUnknown)),
            Known::Nothing(enrolled) => enrolled,
        };
        if self.limits.has_failed_out(peer, now) {
            let detail = "too many calls from this address were refused; a key that is new here has to wait";
            return Err(Error::with(ErrorCode::RateLimited, detail));
        }
        let found = self.lookups.read_for_a_stranger(|engine| engine.signatory(key));
        if found.as_ref().is_err_and(|error| error.code == ErrorCode::KeyUnknown) {
            self.keys.not_enrolled(key, now, enrolled);
        }
        found
    }

    /// Admits a caller whose key is not enrolled yet, with a challenge of any of these modes.
    pub(crate) fn admit_new(&self, key: &PublicKey, modes: &[Mode], shown: Shown<'_>) -> Result<SignedBy> {
        let fields = fields(shown.head.parts);
        let found = self.find(shown.head, &fields, TAG)?;
        require_key(&found, &key.id())?;
        let mut proven = Err(Error::internal("a challenge has a mode"));
        for mode in modes {
            proven = self.prove(shown.head, &fields, &found, With::Key(key), *mode);
            // Only a challenge of another mode is not one of this mode.
            if proven.as_ref().err().is_none_or(|error| error.code != ErrorCode::ChallengeInvalid) {
                break;
            }
        }
        let nonce = proven?;
        check_body(&found, shown)?;
        self.take(&nonce)?;
        let again_s = self.limits.enrollment(shown.head.context.origin.peer, self.engine.now()).err();
        if let Some(again_s) = again_s {
            let detail = format!("too many enrolments from this address; try again in {again_s} s");
            return Err(Error::with(ErrorCode::RateLimited, detail));
        }
        Ok(SignedBy { client: ClientNo(0), key: KeyNo(0), with: SignedWith::Key, nonce })
    }

    /// Checks that a key to be added has signed the call too. This does not use up the nonce: it is used up by the call's
    /// own signature, or bound to it, as both cover the same call.
    pub(crate) fn require_new_key(&self, key: &PublicKey, mode: Mode, shown: Shown<'_>) -> Result<()> {
        let fields = fields(shown.head.parts);
        let found = self.find(shown.head, &fields, TAG_NEW_KEY).map_err(|error| match error.code {
            ErrorCode::SignatureMissing => {
                let detail = format!("the new key must sign the call too: a second signature with tag=\"{TAG_NEW_KEY}\"");
                Error::with(ErrorCode::SignatureMissing, detail)
            }
            _ => error,
        })?;
        require_key(&found, &key.id())?;
        self.prove(shown.head, &fields, &found, With::Key(key), mode)?;
        check_body(&found, shown)
    }

    fn find(&self, head: Head<'_>, fields: &[(&str, &[u8])], tag: &str) -> Result<Signed> {
        // The target URI does not matter for finding the signature.
        find_signature(&message(head, "", fields), tag)
    }

    /// Checks challenge, clock and signature. Returns the nonce, which is not used up yet.
    fn prove(&self, head: Head<'_>, fields: &[(&str, &[u8])], signed: &Signed, with: With<'_>, mode: Mode) -> Result<Nonce> {
        let nonce = self.challenges.check(&self.lookups, &signed.nonce, mode)?;
        signed.check_created(self.engine.now())?;
        self.verify(head, fields, signed, with, mode)?;
        Ok(nonce)
    }

    fn verify(&self, head: Head<'_>, fields: &[(&str, &[u8])], signed: &Signed, with: With<'_>, mode: Mode) -> Result<()> {
        let has_body = body::is_declared(&head.parts.headers);
        let mut first = None;
        for n in 0..self.bases.len() {
            let target_uri = self.target_uri(head, n);
            let message = message(head, &target_uri, fields);
            signed.check_coverage(&message, has_body)?;
            let base = signed.base(&message)?;
            let verified = match with {
                With::Key(key) => signed.verify(&base, key, &*self.verifier),
                With::Session(session) => signed.verify_session(&base, session),
            };
            match verified {
                Ok(()) => return Ok(()),
                Err(error) => {
                    first.get_or_insert((error, base));
                }
            }
        }
        let Some((error, base)) = first else { return Err(Error::internal("the gateway has no address")) };
        if mode == Mode::Sandbox {
            head.context.set_signature_base(redacted(&base));
        }
        Err(error)
    }

    fn target_uri(&self, head: Head<'_>, base: usize) -> String {
        let path = head.parts.uri.path_and_query().map_or("/", |path| path.as_str());
        [self.bases.get(base).map_or("", String::as_str), path].concat()
    }

    fn take(&self, nonce: &Nonce) -> Result<()> {
        self.seen.take(nonce, self.engine.now())
    }

    fn charge(&self, head: Head<'_>, caller: &Caller) -> Result<()> {
        self.count(head.context, caller, writes(head), 1)
    }

    /// Counts `cost` further uses against the caller's quota: of writes, or of reads.
    ///
    /// # Errors
    /// `rate_limited` when there are not enough left.
    pub(crate) fn count(&self, context: &Context, caller: &Caller, write: bool, cost: usize) -> Result<()> {
        let cost = u32::try_from(cost).unwrap_or(u32::MAX);
        granted(context, write, self.limits.client(caller.into(), write, cost, self.engine.now()))
    }

    /// Refuses a call whose sender has no use left, before its body is read and its nonce is remembered: what is refused takes no memory.
    /// The use is counted with the whole call: until the nonce is taken, anybody who saw the head could send it again.
    fn check_quota(&self, head: Head<'_>, caller: &Caller) -> Result<()> {
        let write = writes(head);
        match self.limits.client_has_left(caller.into(), write, self.engine.now()) {
            Some(decision) if !decision.allowed => granted(head.context, write, Some(decision)),
            Some(_) | None => Ok(()),
        }
    }

    fn allow(&self, scope: Scope, credential: &Credential, nonce: &Nonce) -> Result<()> {
        if !credential.scopes.allows(scope) {
            let detail = format!("the call needs the scope {}; the credential has: {}", scope.as_str(), credential.scopes);
            return Err(Error::with(ErrorCode::InsufficientScope, detail));
        }
        if scope == Scope::SettlementsWrite { self.check_create(nonce) } else { Ok(()) }
    }

    /// Whether a create shows a nonce that was not used.
    fn check_create(&self, nonce: &Nonce) -> Result<()> {
        // A create burns its nonce only if it is refused, so it looks for one that this node does not know: it was burnt by another, before
        // this one started, or before the clock went back. Other changes find it in their own commit, and so do creates on a remote
        // store, single or batched: there the engine looks up a whole group at once.
        let known_after = self.burnt_elsewhere_until.max(self.seen.forgot_until());
        let looks = nonce.expires_at <= known_after && !self.engine.is_remote();
        if looks && self.engine.is_burnt(&nonce.hash)? {
            return Err(Error::new(ErrorCode::NonceReplayed));
        }
        Ok(())
    }
}

/// Whether a call counts as a write.
fn writes(head: Head<'_>) -> bool {
    !matches!(head.parts.method, Method::GET | Method::HEAD)
}

/// Notes a decision about a quota for the response's headers, and refuses the call if that is the decision.
fn granted(context: &Context, write: bool, decision: Option<Decision>) -> Result<()> {
    let Some(decision) = decision else { return Ok(()) };
    context.set_rate(write, decision);
    if decision.allowed {
        return Ok(());
    }
    let detail = format!("the quota of this minute is used up; try again in {} s", decision.retry_after_s);
    Err(Error::with(ErrorCode::RateLimited, detail))
}

/// The lines of a head: as many as calls have in general need no memory of their own.
type Fields<'a> = SmallVec<[(&'a str, &'a [u8]); 16]>;

const DIGEST: &str = "content-digest";

/// The lines that state the body's digest.
fn digest(parts: &Parts) -> SmallVec<[(&str, &[u8]); 1]> {
    parts.headers.get_all(DIGEST).iter().map(|line| (DIGEST, line.as_bytes())).collect()
}

/// Checks that the signature covers the body's digest, and that this is the body. The digest itself was verified with the head.
fn check_body(signed: &Signed, shown: Shown<'_>) -> Result<()> {
    let lines = digest(shown.head.parts);
    let message = message(shown.head, "", &lines);
    if !shown.body.is_empty() {
        signed.check_coverage(&message, true)?;
    }
    match message.field(DIGEST) {
        Some(digest) => check_content_digest(&digest, shown.body),
        None => Ok(()),
    }
}

/// [`check_body`], for a body in a file.
fn check_file(signed: &Signed, head: Head<'_>, sha256: &[u8; 32]) -> Result<()> {
    let lines = digest(head.parts);
    let message = message(head, "", &lines);
    signed.check_coverage(&message, true)?;
    match message.field(DIGEST) {
        Some(digest) => check_content_sha256(&digest, sha256),
        None => Err(Error::with(ErrorCode::DigestMismatch, "Content-Digest must include the sha-256 of the body")),
    }
}

/// What a call with this credential must be signed with, by its `keyid`: the credential's key, or its session.
fn maker<'a>(signed: &Signed, credential: &'a Credential) -> Result<With<'a>> {
    match (signed.by, &credential.session) {
        (By::Key { id, .. }, _) if id == credential.key_id => Ok(With::Key(&credential.public)),
        (By::Key { .. }, _) => Err(Error::with(ErrorCode::SignatureInvalid, "keyid does not name the key that the token is bound to")),
        (By::Session { id, .. }, Some(session)) if id == session.id => Ok(With::Session(session)),
        (By::Session { .. }, _) => Err(Error::with(ErrorCode::KeyUnknown, "keyid does not name the session of the token")),
    }
}

fn require_key(found: &Signed, id: &KeyId) -> Result<()> {
    if found.key_id()? == *id {
        return Ok(());
    }
    let detail = format!("keyid must be the RFC 7638 thumbprint of the key in the body: {id}");
    Err(Error::with(ErrorCode::SignatureInvalid, detail))
}

fn fields(parts: &Parts) -> Fields<'_> {
    parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
}

fn message<'a>(head: Head<'a>, target_uri: &'a str, fields: &'a [(&'a str, &'a [u8])]) -> Message<'a> {
    Message { method: head.parts.method.as_str(), target_uri, status: None, fields }
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
