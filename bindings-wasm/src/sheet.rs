//! A sandbox's receipts as people see them: what [`Gateway::call`](crate::gateway::Gateway::call) leaves to be drawn. A
//! module of its own, which a page loads on first use.

use railgate::error::{Error, ErrorCode};
use railgate::receipt::{Form, Receipt};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{text, texts, thrown};

/// The receipt of these `parts`, which the caller's own gateway gave, in the form of the media type `form`: `text/html`,
/// `image/svg+xml` or `text/plain`. Its signature is not checked here.
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
