//! Draws a sandbox's receipts in readable forms from the parts that [`Gateway::call`](crate::gateway::Gateway::call) returns. A
//! separate module, which a page loads on first use.

use railgate::error::{Error, ErrorCode};
use railgate::receipt::{Form, Receipt};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{text, texts, thrown};

/// Draws the receipt from `parts`, which the caller's own gateway returned, in the form of the media type `form`: `text/html`,
/// `image/svg+xml` or `text/plain`. Does not check its signature.
///
/// # Errors
/// Throws `not_acceptable` for other forms, `receipt_invalid` for other parts.
#[wasm_bindgen]
pub fn draw_receipt(
    #[wasm_bindgen(unchecked_param_type = "string")] form: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "readonly string[]")] parts: &JsValue,
) -> Result<String, JsError> {
    let (form, parts) = (text(form, "form")?, texts(parts, "parts")?);
    let form = Form::of(&form).ok_or_else(|| thrown(&Error::new(ErrorCode::NotAcceptable)))?;
    Receipt::of_parts(parts).and_then(|receipt| receipt.drawn(form)).map_err(|error| thrown(&error))
}
