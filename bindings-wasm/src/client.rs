//! Signing calls with a key in Web Crypto, which signs asynchronously and may be non-extractable.

use railgate::auth::PublicKey;
use railgate::client::{
    Call, ClientError, Done, Exchange as ClientExchange, Lost, Request, Response, RetryPolicy, Session as ClientSession, SignedBy,
    Snapshot, Step as ClientStep, Verdict, Why,
};
use railgate::error::Error;
use railgate::ledger::Mode;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{array, bytes, count, counts, flag, json, millis, text, text_or_none, texts, thrown, thrown_as};

/// A request as JSON. An empty body means no body.
#[derive(Serialize)]
struct Sent {
    method: String,
    /// Path and query.
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Sent {
    fn of(request: Request) -> Result<Self, JsError> {
        let Request { method, path, headers, body } = request;
        // It came in as text.
        let body = String::from_utf8(body).map_err(|cause| thrown(&Error::internal(cause)))?;
        Ok(Self { method, path, headers, body })
    }
}

/// A step as JSON.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Step<'a> {
    /// Sign `to_sign` with the session's key or the new one.
    Sign {
        new_key: bool,
    },
    Send {
        request: Sent,
        timeout_ms: u64,
        prepares: bool,
    },
    Pause(u64),
    Done {
        verdict: &'static str,
        why: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        /// Code and detail if the request cannot be signed.
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<(&'a str, String)>,
    },
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str, name: &str) -> Result<T, JsError> {
    serde_json::from_str(json)
        .map_err(|error| thrown(&Error::field(format!("/{name}"), "malformed", format!("{name} is not what it should be: {error}"))))
}

/// Pairs of alternating names and values.
fn pairs(texts: &[String]) -> impl Iterator<Item = (&str, &str)> {
    texts.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str()))
}

fn refused(error: ClientError) -> JsError {
    thrown_as(error.code(), &error.to_string())
}

fn key(jwk: &JsValue, name: &str) -> Result<PublicKey, JsError> {
    PublicKey::trusted_jwk(&text(jwk, name)?).map_err(|error| thrown(&error))
}

/// A session with one gateway on behalf of one key.
#[wasm_bindgen]
pub struct Session(ClientSession);

#[wasm_bindgen]
impl Session {
    /// `base`: the gateway's public address; `mode`: `sandbox` or `live`; `jwk`: the public key as a JWK (ECDSA over
    /// P-256, or Ed25519).
    ///
    /// # Errors
    /// Throws `invalid_address`, or a problem with the key.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "string")] base: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "\"sandbox\" | \"live\"")] mode: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] jwk: &JsValue,
    ) -> Result<Self, JsError> {
        let mode = match text(mode, "mode")?.as_str() {
            "sandbox" => Mode::Sandbox,
            "live" => Mode::Live,
            _ => return Err(thrown(&Error::field("/mode", "unknown_mode", "must be sandbox or live"))),
        };
        ClientSession::new(&text(base, "base")?, mode, key(jwk, "jwk")?).map(Self).map_err(refused)
    }

    /// The gateway's address as it is signed.
    #[must_use]
    pub fn base(&self) -> String {
        self.0.base().to_owned()
    }

    /// The key's RFC 7638 thumbprint.
    #[must_use]
    pub fn key_id(&self) -> String {
        self.0.public_key().id().to_string()
    }

    /// The request that enrols the key as a new sandbox client; `invitation`: the code of an operator's, or undefined. It must be
    /// signed and needs no token.
    ///
    /// # Errors
    /// Throws for arguments of the wrong type.
    pub fn enroll_request(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string")] name: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "string")] invitation: &JsValue,
    ) -> Result<String, JsError> {
        let invitation = text_or_none(invitation, "invitation")?;
        json(&Sent::of(self.0.enroll_request(&text(name, "name")?, invitation.as_deref()))?)
    }

    /// The request for live access with a new key. It must be signed by both keys and needs no token.
    ///
    /// # Errors
    /// Throws if the key is invalid.
    pub fn enroll_live_request(&self, #[wasm_bindgen(unchecked_param_type = "string")] jwk: &JsValue) -> Result<String, JsError> {
        json(&Sent::of(self.0.enroll_live_request(&key(jwk, "jwk")?))?)
    }

    /// The state to store for the next session, as JSON. It contains the token.
    ///
    /// # Errors
    /// Throws `internal`; no cause is known.
    pub fn snapshot(&self) -> Result<String, JsError> {
        json(&self.0.snapshot().without_session())
    }

    /// Restores the state from [`Session::snapshot`].
    ///
    /// # Errors
    /// Throws if it is not a snapshot.
    pub fn restore(&mut self, #[wasm_bindgen(unchecked_param_type = "string")] snapshot: &JsValue) -> Result<(), JsError> {
        let snapshot: Snapshot = parse(&text(snapshot, "snapshot")?, "snapshot")?;
        self.0.restore(&snapshot);
        Ok(())
    }
}

/// One signed call, step by step: what to sign, what to send, how long to wait, and finally the outcome.
#[wasm_bindgen]
pub struct Exchange {
    inner: ClientExchange,
    /// The bytes to sign.
    message: Vec<u8>,
}

#[wasm_bindgen]
impl Exchange {
    /// `headers`: alternating names and values; `body`: empty means no body; `new_key`: the public JWK of a key that it enrols;
    /// `patience`: the number of attempts, the timeout of an attempt, the extra timeout of this call, the first and the longest
    /// backoff, how often in a row the stream broke that this call reopens, and the minimum pause then; times in milliseconds.
    ///
    /// # Errors
    /// Throws for arguments of the wrong type or an invalid new key.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "string")] method: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] path: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string[]")] headers: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] body: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "boolean")] repeatable: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string | undefined")] new_key: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number[]")] patience: &JsValue,
    ) -> Result<Self, JsError> {
        let [tries, timeout_ms, extra_ms, pause_ms, longest_pause_ms, failures, wish_ms] = counts(patience, "patience")?;
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let tries = small(tries);
        let patience = RetryPolicy { tries, timeout_ms, pause_ms, longest_pause_ms, unconnected: true };
        let mut request = Request::new(&text(method, "method")?, &text(path, "path")?);
        request.headers = pairs(&texts(headers, "headers")?).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        request.body = text(body, "body")?.into_bytes();
        let mut call = Call::new(request).extra(extra_ms);
        if flag(repeatable, "repeatable")? {
            call = call.repeatable();
        }
        if !new_key.is_undefined() {
            call = call.with_new_key(key(new_key, "new_key")?);
        }
        let mut inner = ClientExchange::new(call, patience);
        if failures > 0 {
            inner.pause_first(small(failures), wish_ms);
        }
        Ok(Self { inner, message: Vec::new() })
    }

    /// An exchange that fetches the challenge and token that this call needs, shared by all calls that wait for them.
    #[must_use]
    pub fn preparation(&self) -> Self {
        Self { inner: self.inner.preparation(), message: Vec::new() }
    }

    /// Whether the next step fetches something that other calls may be fetching, too.
    ///
    /// # Errors
    /// Throws for arguments of the wrong type.
    pub fn lacks(&self, session: &Session, #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue) -> Result<bool, JsError> {
        Ok(self.inner.lacks(&session.0, millis(now_ms, "now_ms")?))
    }

    /// The next step, as JSON: `{"sign": {"new_key"}}`, `{"send": {"request", "timeout_ms", "prepares"}}`, `{"pause": ms}` or
    /// `{"done": {"verdict", "why", "retry_after_ms", "problem"}}`. `random`: 48 random bytes, fresh for each call.
    ///
    /// # Errors
    /// Throws for arguments of the wrong type.
    pub fn next(
        &mut self,
        session: &mut Session,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Uint8Array")] random: &JsValue,
    ) -> Result<String, JsError> {
        let step = match self.inner.next(&mut session.0, millis(now_ms, "now_ms")?, array(random, "random")?) {
            ClientStep::Sign { by, message } => {
                self.message = message;
                Step::Sign { new_key: by == SignedBy::NewKey }
            }
            ClientStep::Send { request, timeout_ms, prepares } => Step::Send { request: Sent::of(request)?, timeout_ms, prepares },
            ClientStep::Pause(ms) => Step::Pause(ms),
            ClientStep::Done(done) => return json(&ended(&done)),
        };
        json(&step)
    }

    /// The bytes to sign.
    #[must_use]
    pub fn to_sign(&self) -> Vec<u8> {
        self.message.clone()
    }

    /// Takes the signature, as Web Crypto returns it. An invalid one ends the exchange.
    ///
    /// # Errors
    /// Throws for arguments of the wrong type.
    pub fn signed(&mut self, #[wasm_bindgen(unchecked_param_type = "Uint8Array")] signature: &JsValue) -> Result<(), JsError> {
        self.inner.signed(&bytes(signature, "signature")?);
        Ok(())
    }

    /// Takes the response to the request. `headers`: alternating names and values. For a stream, `body` is empty.
    ///
    /// # Errors
    /// Throws for arguments of the wrong type.
    pub fn answered(
        &mut self,
        session: &mut Session,
        #[wasm_bindgen(unchecked_param_type = "number")] status: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string[]")] headers: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] body: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
    ) -> Result<(), JsError> {
        let status = u16::try_from(count(status, "status")?).unwrap_or(u16::MAX);
        let (headers, body, now) = (texts(headers, "headers")?, text(body, "body")?, millis(now_ms, "now_ms")?);
        let headers: Vec<(&str, &str)> = pairs(&headers).collect();
        self.inner.answered(&mut session.0, &Response { status, headers: &headers, body: body.as_bytes() }, now);
        Ok(())
    }

    /// Reports that there was no response, because provably nothing was `sent` or although something may have been, or that the
    /// response does not belong to this call (`garbled`).
    ///
    /// # Errors
    /// Throws for arguments of the wrong type.
    pub fn lost(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "boolean")] sent: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "boolean")] garbled: &JsValue,
    ) -> Result<(), JsError> {
        self.inner.lost(match (flag(sent, "sent")?, flag(garbled, "garbled")?) {
            (_, true) => Lost::Garbled,
            (true, false) => Lost::NoAnswer,
            (false, false) => Lost::NotSent,
        });
        Ok(())
    }

    /// Stops the exchange, because a key did not sign or the caller no longer waits.
    pub fn stop(&mut self) {
        self.inner.stop();
    }
}

fn ended(done: &Done) -> Step<'_> {
    let verdict = match done.verdict {
        Verdict::Answered => "answered",
        Verdict::Refused => "refused",
        Verdict::NotDone => "not_done",
        Verdict::Open => "open",
        Verdict::InDoubt => "in_doubt",
    };
    let (why, problem) = match &done.why {
        Why::Response => ("answer", None),
        Why::Unreadable => ("unreadable", None),
        Why::Lost(_) => ("lost", None),
        Why::NotReady => ("not_ready", None),
        Why::Stopped => ("stopped", None),
        Why::Unsigned(error) => ("unsigned", Some((error.code(), error.to_string()))),
    };
    Step::Done { verdict, why, retry_after_ms: done.retry_after_ms, problem }
}
