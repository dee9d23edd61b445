//! QR codes of receipts and other texts.

use railgate::error::FieldProblem;
use railgate::receipt::Code;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{drawing, invalid, text, text_or_none};

/// The QR code of a text (UTF-8, byte mode) as an SVG document. `title` is the alternative text; it may be any text. `level` is how
/// much of the code may be damaged: `L` (7 %, the default), `M` (15 %), `Q` (25 %) or `H` (30 %). `margin`: light modules around the
/// code, 4 by default. `size`: the image's side in pixels, 4 a module by default.
///
/// # Errors
/// Throws if the text is longer than a code of the level can contain (2,953 bytes at `L`), or an option is none.
#[wasm_bindgen]
pub fn qr_svg(
    #[wasm_bindgen(js_name = text, unchecked_param_type = "string")] content: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "string")] title: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "string")] level: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "number")] margin: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "number")] size: &JsValue,
) -> Result<String, JsError> {
    let title = text_or_none(title, "title")?.unwrap_or_default();
    Ok(code(content, level, margin, size)?.svg(&title))
}

/// The modules of the same code, row by row, one byte each, 1 for a dark one; the side length is the square root of their number.
///
/// # Errors
/// As [`qr_svg`].
#[wasm_bindgen]
pub fn qr_matrix(#[wasm_bindgen(js_name = text, unchecked_param_type = "string")] content: &JsValue) -> Result<Vec<u8>, JsError> {
    Ok(code(content, &JsValue::NULL, &JsValue::NULL, &JsValue::NULL)?.modules())
}

fn code(content: &JsValue, level: &JsValue, margin: &JsValue, size: &JsValue) -> Result<Code, JsError> {
    let (content, drawing) = (text(content, "text")?, drawing(level, margin, size)?);
    Code::of(content.as_bytes(), drawing).ok_or_else(|| {
        let most = drawing.level.max_bytes();
        invalid(FieldProblem::new("/text", "too_long", format!("must be at most {most} bytes in UTF-8")))
    })
}
