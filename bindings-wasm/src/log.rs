//! Verifies traces of settlements, and proofs that their events are in the gateway's transparency log.

use railgate::log::{Checkpoint, Hash, LogKey, NoteError, Proof, ProofError};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{json, text};

/// What a proof says; `reason` is why it says nothing.
#[derive(Serialize)]
#[serde(untagged)]
enum Verdict {
    Included { included: bool, log: String, key: String, size: u64, index: u64, root: String },
    Not { included: bool, reason: String },
}

impl Verdict {
    fn not(reason: impl Into<String>) -> Self {
        Self::Not { included: false, reason: reason.into() }
    }
}

/// Whether the event with this hash is in a log: as JSON, `{"included":true,"log","key","size","index","root"}` or
/// `{"included":false,"reason"}`. `proof`: the text of the C2SP tlog-proof; `event_hash`: lower-case hexadecimal; `keys`: the verifier
/// keys of the log, one a line.
///
/// # Errors
/// Throws if an argument is not a string.
#[wasm_bindgen]
pub fn verify_log_proof(
    #[wasm_bindgen(unchecked_param_type = "string")] proof: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "string")] event_hash: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "string")] keys: &JsValue,
) -> Result<String, JsError> {
    let (proof, event_hash, keys) = (text(proof, "proof")?, text(event_hash, "event_hash")?, text(keys, "keys")?);
    json(&verified(&proof, &event_hash, &keys))
}

fn verified(proof: &str, event_hash: &str, keys: &str) -> Verdict {
    let proof = match Proof::parse(proof) {
        Ok(proof) => proof,
        Err(error) => return Verdict::not(error.to_string()),
    };
    let Some(hash) = hash(event_hash) else { return Verdict::not("the hash of the event must be 64 hexadecimal digits") };
    let mut reason = ProofError::Checkpoint(NoteError::NotSigned);
    for key in keys.lines().filter_map(LogKey::parse) {
        match proof.verify(&hash, &key) {
            Ok(checkpoint) => return included(&checkpoint, &proof, &key),
            // Another key of the log, such as an older one, may have signed it.
            Err(ProofError::Checkpoint(NoteError::NotSigned)) => {}
            Err(error) => reason = error,
        }
    }
    Verdict::not(reason.to_string())
}

fn included(Checkpoint { origin, size, root }: &Checkpoint, proof: &Proof, key: &LogKey) -> Verdict {
    Verdict::Included { included: true, log: origin.to_string(), key: key.to_string(), size: *size, index: proof.index, root: hex(root) }
}

/// What a trace says: `head` is the hash of its last event, which covers all of them.
#[derive(Serialize)]
struct Trace {
    unbroken: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_at: Option<usize>,
}

/// Whether events are a trace from its start, as it was recorded: as JSON, `{"unbroken":true,"head"}` or
/// `{"unbroken":false,"broken_at"}` with the sequence number of the first one that is not. `events`: a JSON array of them.
///
/// # Errors
/// Throws if the argument is not a string.
#[wasm_bindgen]
pub fn verify_trace(#[wasm_bindgen(unchecked_param_type = "string")] events: &JsValue) -> Result<String, JsError> {
    json(&trace(&text(events, "events")?))
}

fn trace(events: &str) -> Trace {
    // A map of serde_json is sorted, and events have neither floats nor names outside ASCII: it is written in canonical form (RFC 8785).
    let events: Vec<Map<String, Value>> = serde_json::from_str(events).unwrap_or_default();
    let mut last: Option<String> = None;
    for (sequence, mut event) in (1..).zip(events) {
        let stated = event.remove("hash");
        let form = serde_json::to_vec(&event).unwrap_or_default();
        let computed = hex(&Sha256::digest(form).into());
        let follows = event.get("prev").and_then(Value::as_str) == last.as_deref();
        let is_next = event.get("sequence").and_then(Value::as_u64) == u64::try_from(sequence).ok();
        if !follows || !is_next || stated.as_ref().and_then(Value::as_str) != Some(&computed) {
            return Trace { unbroken: false, head: None, broken_at: Some(sequence) };
        }
        last = Some(computed);
    }
    Trace { unbroken: last.is_some(), broken_at: last.is_none().then_some(1), head: last }
}

fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash(text: &str) -> Option<Hash> {
    let mut hash = [0; 32];
    (text.len() == 64 && text.is_ascii()).then_some(())?;
    for (byte, at) in hash.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(hash)
}
