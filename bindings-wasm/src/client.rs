//! Signing calls with a key that Web Crypto keeps, which signs asynchronously and may be one that cannot be read.

use railgate::auth::PublicKey;
use railgate::client::{
    Answer as ClientAnswer, Call as ClientCall, ClientError, Done, Exchange as ClientExchange, Lost, Patience, Request as ClientRequest,
    Session as ClientSession, SignedBy, Snapshot, Step as ClientStep, Verdict, Why,
};
use railgate::error::Error;
use railgate::ledger::Mode;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{array, bytes, flag, json, millis, text, thrown, thrown_as};

/// A request as JSON. An empty body is none.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    method: String,
    /// Path and query.
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    fn made(self) -> ClientRequest {
        let Self { method, path, headers, body } = self;
        ClientRequest { method, path, headers, body: body.into_bytes() }
    }

    fn of(request: ClientRequest) -> Result<Self, JsError> {
        let ClientRequest { method, path, headers, body } = request;
        // It was text when it came in.
        let body = String::from_utf8(body).map_err(|cause| thrown(&Error::internal(cause)))?;
        Ok(Self { method, path, headers, body })
    }
}

/// A call as JSON, and how patiently it is carried out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    request: Request,
    repeatable: bool,
    extra_ms: u64,
    /// The public JWK of a key that it makes known, as JSON.
    new_key: Option<String>,
    attempts: u64,
    timeout_ms: u64,
    pause_ms: u64,
    longest_pause_ms: u64,
    /// It begins with the pause after so many failures, and this at least.
    after: Option<(u32, u64)>,
}

/// A step as JSON.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Step<'a> {
    /// To be signed by the session's key, or by the new one: `to_sign`.
    Sign {
        new_key: bool,
    },
    Send {
        request: Request,
        timeout_ms: u64,
        prepares: bool,
    },
    Pause(u64),
    Done {
        verdict: &'static str,
        why: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        /// Code and detail, where it cannot be signed.
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<(&'a str, String)>,
    },
}

/// An answer as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str, name: &str) -> Result<T, JsError> {
    serde_json::from_str(json)
        .map_err(|error| thrown(&Error::field(format!("/{name}"), "malformed", format!("{name} is not what it should be: {error}"))))
}

fn refused(error: ClientError) -> JsError {
    thrown_as(error.code(), &error.to_string())
}

fn key(jwk: &JsValue, name: &str) -> Result<PublicKey, JsError> {
    PublicKey::trusted_jwk(&text(jwk, name)?).map_err(|error| thrown(&error))
}

/// A conversation with one gateway in the name of one key.
#[wasm_bindgen]
pub struct Session(ClientSession);

#[wasm_bindgen]
impl Session {
    /// `base`: the gateway's address, as it calls itself; `mode`: `sandbox` or `live`; `jwk`: the public key as a JWK (ECDSA over
    /// P-256, or Ed25519).
    ///
    /// # Errors
    /// Throws `invalid_address`, or what is wrong with the key.
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

    /// The request that enrols the key as a new sandbox client. To be signed, without a token.
    ///
    /// # Errors
    /// Throws for arguments that are none.
    pub fn enroll_request(&self, #[wasm_bindgen(unchecked_param_type = "string")] name: &JsValue) -> Result<String, JsError> {
        json(&Request::of(self.0.enroll_request(&text(name, "name")?))?)
    }

    /// The request that asks for live access with a key of its own. To be signed by both keys, without a token.
    ///
    /// # Errors
    /// Throws what is wrong with the key.
    pub fn enroll_live_request(&self, #[wasm_bindgen(unchecked_param_type = "string")] jwk: &JsValue) -> Result<String, JsError> {
        json(&Request::of(self.0.enroll_live_request(&key(jwk, "jwk")?))?)
    }

    /// What to keep for the next session, as JSON. It holds the token.
    ///
    /// # Errors
    /// None that is known.
    pub fn snapshot(&self) -> Result<String, JsError> {
        json(&self.0.snapshot())
    }

    /// Takes up what [`Session::snapshot`] gave.
    ///
    /// # Errors
    /// Throws for what is no snapshot.
    pub fn restore(&mut self, #[wasm_bindgen(unchecked_param_type = "string")] snapshot: &JsValue) -> Result<(), JsError> {
        let snapshot: Snapshot = parse(&text(snapshot, "snapshot")?, "snapshot")?;
        self.0.restore(&snapshot);
        Ok(())
    }
}

/// One signed call, step by step: what to sign, what to send, how long to wait, and at the end what is known.
#[wasm_bindgen]
pub struct Exchange {
    inner: ClientExchange,
    /// What is to be signed.
    message: Vec<u8>,
}

#[wasm_bindgen]
impl Exchange {
    /// `call`: `{"request": {"method", "path", "headers": [[name, value]], "body"}, "repeatable", "extra_ms", "new_key", "attempts",
    /// "timeout_ms", "pause_ms", "longest_pause_ms", "after": [failures, ms]}` as JSON.
    ///
    /// # Errors
    /// Throws for what is no call, and what is wrong with a new key.
    #[wasm_bindgen(constructor)]
    pub fn new(#[wasm_bindgen(unchecked_param_type = "string")] call: &JsValue) -> Result<Self, JsError> {
        let Call { request, repeatable, extra_ms, new_key, attempts, timeout_ms, pause_ms, longest_pause_ms, after } =
            parse(&text(call, "call")?, "call")?;
        let tries = u32::try_from(attempts).unwrap_or(u32::MAX);
        let patience = Patience { tries, timeout_ms, pause_ms, longest_pause_ms, unconnected: true };
        let mut call = ClientCall::new(request.made()).extra(extra_ms);
        if repeatable {
            call = call.repeatable();
        }
        if let Some(jwk) = new_key {
            call = call.with_new_key(PublicKey::trusted_jwk(&jwk).map_err(|error| thrown(&error))?);
        }
        let mut inner = ClientExchange::new(call, patience);
        if let Some((failures, ms)) = after {
            inner = inner.after(failures, ms);
        }
        Ok(Self { inner, message: Vec::new() })
    }

    /// Fetches what this call needs, for all that wait for the same.
    #[must_use]
    pub fn preparation(&self) -> Self {
        Self { inner: self.inner.preparation(), message: Vec::new() }
    }

    /// Whether the next step fetches something that other calls may be fetching, too.
    ///
    /// # Errors
    /// Throws for arguments that are none.
    pub fn lacks(&self, session: &Session, #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue) -> Result<bool, JsError> {
        Ok(self.inner.lacks(&session.0, millis(now_ms, "now_ms")?))
    }

    /// What to do next, as JSON: `{"sign": {"new_key"}}`, `{"send": {"request", "timeout_ms", "prepares"}}`, `{"pause": ms}` or
    /// `{"done": {"verdict", "why", "retry_after_ms", "problem"}}`. `random`: 16 bytes, never used twice.
    ///
    /// # Errors
    /// Throws for arguments that are none.
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
            ClientStep::Send { request, timeout_ms, prepares } => Step::Send { request: Request::of(request)?, timeout_ms, prepares },
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

    /// The signature, as Web Crypto gives it. One that is none ends the exchange.
    ///
    /// # Errors
    /// Throws for arguments that are none.
    pub fn signed(&mut self, #[wasm_bindgen(unchecked_param_type = "Uint8Array")] signature: &JsValue) -> Result<(), JsError> {
        self.inner.signed(&bytes(signature, "signature")?);
        Ok(())
    }

    /// The answer to what was sent: `{"status", "headers": [[name, value]], "body"}` as JSON. Of a stream the body is left out.
    ///
    /// # Errors
    /// Throws for arguments that are none.
    pub fn answered(
        &mut self,
        session: &mut Session,
        #[wasm_bindgen(unchecked_param_type = "string")] answer: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
    ) -> Result<(), JsError> {
        let (answer, now) = (text(answer, "answer")?, millis(now_ms, "now_ms")?);
        let Answer { status, headers, body } = parse(&answer, "answer")?;
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.inner.answered(&mut session.0, &ClientAnswer { status, headers: &headers, body: body.as_bytes() }, now);
        Ok(())
    }

    /// There is no answer to what was sent, or, if it is `garbled`, what came is none to this call.
    ///
    /// # Errors
    /// Throws for arguments that are none.
    pub fn lost(&mut self, #[wasm_bindgen(unchecked_param_type = "boolean")] garbled: &JsValue) -> Result<(), JsError> {
        self.inner.lost(if flag(garbled, "garbled")? { Lost::Garbled } else { Lost::NoAnswer });
        Ok(())
    }

    /// It cannot go on: a key did not sign, or nobody waits any more.
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
        Why::Answer => ("answer", None),
        Why::Unreadable => ("unreadable", None),
        Why::Lost(_) => ("lost", None),
        Why::NotReady => ("not_ready", None),
        Why::Stopped => ("stopped", None),
        Why::Unsigned(error) => ("unsigned", Some((error.code(), error.to_string()))),
    };
    Step::Done { verdict, why, retry_after_ms: done.retry_after_ms, problem }
}
