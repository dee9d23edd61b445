//! Signing calls with a key in Web Crypto, which signs asynchronously and may be non-extractable.

use railgate::auth::PublicKey;
use railgate::client::{Answer as ClientAnswer, ClientError, Drafted, Need, Request as ClientRequest, Session as ClientSession, Snapshot};
use railgate::error::Error;
use railgate::ledger::Mode;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{array, bytes_or_none, flag, json, millis, text, thrown, thrown_as};

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
    fn read(value: &JsValue) -> Result<ClientRequest, JsError> {
        let Self { method, path, headers, body } = parse(&text(value, "request")?, "request")?;
        Ok(ClientRequest { method, path, headers, body: body.into_bytes() })
    }

    fn write(request: ClientRequest) -> Result<String, JsError> {
        let ClientRequest { method, path, headers, body } = request;
        // It was text when it came in.
        let body = String::from_utf8(body).map_err(|cause| thrown(&Error::internal(cause)))?;
        json(&Self { method, path, headers, body })
    }
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
    let status = if let ClientError::Refused { status, .. } = &error { Some(*status) } else { None };
    thrown_as(error.code(), status, &error.to_string())
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
        ClientSession::deferred(&text(base, "base")?, mode, key(jwk, "jwk")?).map(Self).map_err(refused)
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

    /// What to fetch before a call can be signed: `challenge`, `token`, or nothing. `authenticated` is false for calls that carry
    /// no token.
    ///
    /// # Errors
    /// Throws for arguments that are none.
    #[wasm_bindgen(unchecked_return_type = "\"challenge\" | \"token\" | undefined")]
    pub fn needs(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "boolean")] authenticated: &JsValue,
    ) -> Result<Option<String>, JsError> {
        let need = self.0.needs(millis(now_ms, "now_ms")?, flag(authenticated, "authenticated")?);
        Ok(need.map(|need| match need {
            Need::Challenge => "challenge".to_owned(),
            Need::Token => "token".to_owned(),
        }))
    }

    /// The request that fetches what is needed. `random`: 16 bytes, never used twice.
    ///
    /// # Errors
    /// Throws `not_ready` if something else is needed first.
    pub fn prepare(
        &self,
        #[wasm_bindgen(unchecked_param_type = "\"challenge\" | \"token\"")] need: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Uint8Array")] random: &JsValue,
    ) -> Result<Draft, JsError> {
        let need = match text(need, "need")?.as_str() {
            "challenge" => Need::Challenge,
            "token" => Need::Token,
            _ => return Err(thrown(&Error::field("/need", "unknown_need", "must be challenge or token"))),
        };
        self.0.prepare_draft(need, millis(now_ms, "now_ms")?, array(random, "random")?).map(Draft).map_err(refused)
    }

    /// A request that is to be signed. `request`: `{"method", "path", "headers": [[name, value]], "body"}` as JSON; `random`: 16
    /// bytes, never used twice.
    ///
    /// # Errors
    /// Throws `not_ready`, `invalid_path`, `unsignable_request`.
    pub fn draft(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string")] request: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "boolean")] authenticated: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Uint8Array")] random: &JsValue,
    ) -> Result<Draft, JsError> {
        let (request, authenticated) = (Request::read(request)?, flag(authenticated, "authenticated")?);
        let draft = self.0.draft(request, authenticated, millis(now_ms, "now_ms")?, array(random, "random")?);
        draft.map(|draft| Draft(Drafted::Sign(draft))).map_err(refused)
    }

    /// The second signature of a request that brings a new key, to be made by that key. `request` is what the draft of the first
    /// came to; `jwk` is the new public key.
    ///
    /// # Errors
    /// As of [`Session::draft`].
    pub fn draft_of_new_key(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string")] request: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] jwk: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Uint8Array")] random: &JsValue,
    ) -> Result<Draft, JsError> {
        let (request, key) = (Request::read(request)?, key(jwk, "jwk")?);
        let draft = self.0.draft_of_new_key(request, &key, millis(now_ms, "now_ms")?, array(random, "random")?);
        draft.map(|draft| Draft(Drafted::Sign(draft))).map_err(refused)
    }

    /// The request that enrols the key as a new sandbox client. To be signed, without a token.
    ///
    /// # Errors
    /// Throws for arguments that are none.
    pub fn enroll_request(&self, #[wasm_bindgen(unchecked_param_type = "string")] name: &JsValue) -> Result<String, JsError> {
        Request::write(self.0.enroll_request(&text(name, "name")?))
    }

    /// The request that asks for live access with a key of its own. To be signed by both keys, without a token.
    ///
    /// # Errors
    /// Throws what is wrong with the key.
    pub fn enroll_live_request(&self, #[wasm_bindgen(unchecked_param_type = "string")] jwk: &JsValue) -> Result<String, JsError> {
        Request::write(self.0.enroll_live_request(&key(jwk, "jwk")?))
    }

    /// Learns the challenge or the token from the answer to a request that asked for one, or enrolled. `answer`:
    /// `{"status", "headers": [[name, value]], "body"}` as JSON.
    ///
    /// # Errors
    /// Throws the gateway's own code and status if it refused, else `unreadable_answer`.
    pub fn learn(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "string")] answer: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
    ) -> Result<(), JsError> {
        with_answer(answer, now_ms, |answer, now| self.0.learn(answer, now))?.map_err(refused)
    }

    /// Learns from any answer. True if the same call may be sent once more, with a new signature.
    ///
    /// # Errors
    /// Throws for arguments that are none.
    pub fn hear(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "string")] answer: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
    ) -> Result<bool, JsError> {
        with_answer(answer, now_ms, |answer, now| self.0.hear(answer, now))
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

fn with_answer<T>(answer: &JsValue, now_ms: &JsValue, look: impl FnOnce(&ClientAnswer<'_>, i64) -> T) -> Result<T, JsError> {
    let (answer, now) = (text(answer, "answer")?, millis(now_ms, "now_ms")?);
    let Answer { status, headers, body } = parse(&answer, "answer")?;
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Ok(look(&ClientAnswer { status, headers: &headers, body: body.as_bytes() }, now))
}

/// A request that may still lack its signature.
#[wasm_bindgen]
pub struct Draft(Drafted);

#[wasm_bindgen]
impl Draft {
    /// The bytes to sign; nothing if the request is to be sent without a signature.
    #[must_use]
    pub fn to_sign(&self) -> Option<Vec<u8>> {
        match &self.0 {
            Drafted::Plain(_) => None,
            Drafted::Sign(draft) => Some(draft.to_sign().to_vec()),
        }
    }

    /// The request, ready to be sent, as JSON. `signature`: as Web Crypto gives it, if there was something to sign.
    ///
    /// # Errors
    /// Throws `malformed_signature`.
    pub fn finish(&self, #[wasm_bindgen(unchecked_optional_param_type = "Uint8Array")] signature: &JsValue) -> Result<String, JsError> {
        let signature = bytes_or_none(signature, "signature")?.unwrap_or_default();
        match &self.0 {
            Drafted::Plain(request) => Request::write(request.clone()),
            Drafted::Sign(draft) => Request::write(draft.finish(&signature).map_err(refused)?),
        }
    }
}
