//! Verifies receipts with the gateway's public keys.

use railgate::receipt::{self, Pending};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{flag, json, text, thrown};

/// A receipt that is being checked. Web Crypto verifies the signature: `signature()` over `signed()` with the key `jwk()`,
/// ECDSA over P-256 with SHA-256. If it cannot even import the key, the signature is not valid.
#[wasm_bindgen]
pub struct ReceiptCheck(Pending);

#[wasm_bindgen]
impl ReceiptCheck {
    /// `jws`: the compact JWS; `jwks`: the key set that the gateway publishes at `/.well-known/jwks.json`.
    ///
    /// # Errors
    /// Throws `receipt_invalid` if it cannot be a receipt, or is from another gateway.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "string")] jws: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] jwks: &JsValue,
    ) -> Result<Self, JsError> {
        receipt::begin(&text(jws, "jws")?, &text(jwks, "jwks")?).map(Self).map_err(|error| thrown(&error))
    }

    /// The key that must have signed it, as a JWK.
    #[must_use]
    pub fn jwk(&self) -> String {
        self.0.jwk()
    }

    /// The signed bytes.
    #[must_use]
    pub fn signed(&self) -> Vec<u8> {
        self.0.signed().to_vec()
    }

    /// The signature: 64 bytes, as Web Crypto expects it.
    #[must_use]
    pub fn signature(&self) -> Vec<u8> {
        self.0.signature().to_vec()
    }

    /// The claims of the receipt, as a JSON object with amounts as text. `valid` is the result of Web Crypto.
    ///
    /// # Errors
    /// Throws `receipt_invalid` if the signature is not valid or the signed text is not a receipt.
    pub fn finish(&self, #[wasm_bindgen(unchecked_param_type = "boolean")] valid: &JsValue) -> Result<String, JsError> {
        json(&self.0.finish(flag(valid, "valid")?).map_err(|error| thrown(&error))?)
    }
}
