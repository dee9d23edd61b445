//! QR codes of receipts and other texts.

use railgate::error::Error;
use railgate::receipt::Code;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{text, text_or_none, thrown};

/// The QR code of a text (UTF-8, byte mode, error correction level L) as an SVG document, with its quiet zone. `title` is the
/// alternative text; it may be any text.
///
/// # Errors
/// Throws if the text is longer than 2,953 bytes.
#[wasm_bindgen]
pub fn qr_svg(
    #[wasm_bindgen(js_name = text, unchecked_param_type = "string")] content: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "string")] title: &JsValue,
) -> Result<String, JsError> {
    let title = text_or_none(title, "title")?.unwrap_or_default();
    Ok(code(content)?.svg(&title))
}

/// The modules of the same code, row by row, one byte each, 1 for a dark one; the side length is the square root of their number.
///
/// # Errors
/// As [`qr_svg`].
#[wasm_bindgen]
pub fn qr_matrix(#[wasm_bindgen(js_name = text, unchecked_param_type = "string")] content: &JsValue) -> Result<Vec<u8>, JsError> {
    Ok(code(content)?.modules())
}

fn code(content: &JsValue) -> Result<Code, JsError> {
    let content = text(content, "text")?;
    Code::of(content.as_bytes()).ok_or_else(|| thrown(&Error::field("/text", "too_long", "must be at most 2,953 bytes in UTF-8")))
}
