//! Draws a sandbox's receipts in readable forms from the parts that [`Gateway::call`](crate::gateway::Gateway::call) returns. A
//! separate module, which a page loads on first use.

use railgate::error::{Error, ErrorCode};
use railgate::receipt::{Form, Receipt};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{drawing, text, text_or_none, texts, thrown};

/// Draws the receipt from `parts`, which the caller's own gateway returned, in the form of the media type `form`: `text/html`,
/// `image/svg+xml` or `text/plain`. Does not check its signature. The rest says how the image is drawn, as for a QR code; by default its
/// title is the receipt's id.
///
/// # Errors
/// Throws `not_acceptable` for other forms, `receipt_invalid` for other parts, `invalid_fields` if an option of the image is none.
#[wasm_bindgen]
pub fn draw_receipt(
    #[wasm_bindgen(unchecked_param_type = "string")] form: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "readonly string[]")] parts: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "string")] title: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "string")] level: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "number")] margin: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "number")] size: &JsValue,
) -> Result<String, JsError> {
    let (form, parts) = (text(form, "form")?, texts(parts, "parts")?);
    let (title, drawing) = (text_or_none(title, "title")?, drawing(level, margin, size)?);
    let form = Form::of(&form).ok_or_else(|| thrown(&Error::new(ErrorCode::NotAcceptable)))?;
    let drawn = |receipt: Receipt| match form {
        Form::Image => receipt.drawn_as(drawing, title.as_deref()),
        Form::Page | Form::Text => receipt.drawn(form),
    };
    Receipt::of_parts(parts).and_then(drawn).map_err(|error| thrown(&error))
}
