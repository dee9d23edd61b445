//! The boundary to JavaScript: arguments may have any type, whatever the declarations say; results are JSON.
#![allow(dead_code, reason = "no module takes every kind of argument")]

use std::ops::RangeInclusive;

use js_sys::{Array, Uint8Array};
use railgate::error::{CodeFacts, FieldProblem, Problem};
use railgate::receipt::{Drawing, Level};
use railgate::{Error, ErrorCode};
use serde::Serialize;
use wasm_bindgen::{JsCast as _, JsError, JsValue};

/// 2^53: up to here, a JavaScript number represents every integer exactly.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The JavaScript `Error` to throw for `error`: its message is the problem as JSON.
pub(crate) fn thrown(error: &Error) -> JsError {
    JsError::new(&error.problem_json())
}

/// A problem with a code that the HTTP interface does not have.
#[derive(Serialize)]
struct Local<'a> {
    code: &'a str,
    detail: &'a str,
    retryable: bool,
}

/// The JavaScript `Error` for a code that the HTTP interface does not have.
pub(crate) fn thrown_as(code: &str, detail: &str) -> JsError {
    json(&Local { code, detail, retryable: false }).map_or_else(|error| error, |problem| JsError::new(&problem))
}

const MALFORMED: CodeFacts = ErrorCode::MalformedRequest.facts();
const INVALID: CodeFacts = ErrorCode::InvalidFields.facts();

fn wrong(name: &str, wanted: &str) -> JsError {
    let field = FieldProblem::new(format!("/{name}"), "wrong_type", format!("must be {wanted}"));
    thrown_problem(&MALFORMED.problem(format!("{name} must be {wanted}").into(), vec![field]))
}

/// The JavaScript `Error` for an argument with a value that is refused.
pub(crate) fn invalid(field: FieldProblem) -> JsError {
    let detail = format!("{} {}", field.pointer.trim_start_matches('/'), field.message);
    thrown_problem(&INVALID.problem(detail.into(), vec![field]))
}

/// A problem of one of the codes that the module has in any case: [`thrown`] brings the texts of all.
fn thrown_problem(problem: &Problem) -> JsError {
    json(problem).map_or_else(|error| error, |problem| JsError::new(&problem))
}

/// A string. An unpaired surrogate becomes U+FFFD.
pub(crate) fn text(value: &JsValue, name: &str) -> Result<String, JsError> {
    value.as_string().ok_or_else(|| wrong(name, "a string"))
}

/// A string, or `None` for `undefined` or `null`.
pub(crate) fn text_or_none(value: &JsValue, name: &str) -> Result<Option<String>, JsError> {
    if value.is_undefined() || value.is_null() { Ok(None) } else { text(value, name).map(Some) }
}

/// An array of strings.
pub(crate) fn texts(value: &JsValue, name: &str) -> Result<Vec<String>, JsError> {
    let read = value.dyn_ref::<Array>().and_then(|given| given.iter().map(|one| one.as_string()).collect());
    read.ok_or_else(|| wrong(name, "an array of strings"))
}

/// A copy of the bytes in a `Uint8Array`.
pub(crate) fn bytes(value: &JsValue, name: &str) -> Result<Vec<u8>, JsError> {
    value.dyn_ref().map(Uint8Array::to_vec).ok_or_else(|| wrong(name, "a Uint8Array"))
}

/// A copy of the bytes in a `Uint8Array`, or `None` for `undefined` or `null`.
pub(crate) fn bytes_or_none(value: &JsValue, name: &str) -> Result<Option<Vec<u8>>, JsError> {
    if value.is_undefined() || value.is_null() { Ok(None) } else { bytes(value, name).map(Some) }
}

/// The bytes of a `Uint8Array` of length `N`.
pub(crate) fn array<const N: usize>(value: &JsValue, name: &str) -> Result<[u8; N], JsError> {
    bytes(value, name)?.try_into().map_err(|_| wrong(name, &format!("{N} bytes")))
}

/// `true` or `false`; other values that JavaScript treats as such are refused.
pub(crate) fn flag(value: &JsValue, name: &str) -> Result<bool, JsError> {
    value.as_bool().ok_or_else(|| wrong(name, "true or false"))
}

/// A time, in milliseconds since the Unix epoch: an integer. `Date.now()` is one.
pub(crate) fn millis(value: &JsValue, name: &str) -> Result<i64, JsError> {
    let number = value.as_f64().filter(|number| number.trunc() == *number && number.abs() <= LARGEST_WHOLE);
    number.map(|whole| whole as i64).ok_or_else(|| wrong(name, "a whole number of milliseconds"))
}

/// A whole number in `range`, or `None` for `undefined` or `null`.
pub(crate) fn count_or_none(value: &JsValue, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, JsError> {
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let given = count(value, name)?;
    if range.contains(&given) {
        return Ok(Some(given));
    }
    let message = format!("must be from {} to {}", range.start(), range.end());
    Err(invalid(FieldProblem::new(format!("/{name}"), "out_of_range", message)))
}

/// How a QR code is drawn; what is `undefined` or `null` has its default.
pub(crate) fn drawing(level: &JsValue, margin: &JsValue, size: &JsValue) -> Result<Drawing, JsError> {
    let usual = Drawing::default();
    let level = match text_or_none(level, "level")? {
        None => usual.level,
        Some(level) => Level::ALL
            .into_iter()
            .find(|known| known.as_str() == level)
            .ok_or_else(|| invalid(FieldProblem::new("/level", "unknown_value", "must be L, M, Q or H")))?,
    };
    let margin = count_or_none(margin, "margin", 0..=Drawing::MARGIN_MAX as u64)?;
    let size = count_or_none(size, "size", 1..=Drawing::SIZE_MAX.into())?;
    Ok(Drawing { level, margin: margin.map_or(usual.margin, |margin| margin as usize), size: size.map(|size| size as u32) })
}

/// A non-negative whole number.
pub(crate) fn count(value: &JsValue, name: &str) -> Result<u64, JsError> {
    let number = value.as_f64().filter(|number| number.trunc() == *number && (0.0..=LARGEST_WHOLE).contains(number));
    number.map(|whole| whole as u64).ok_or_else(|| wrong(name, "a whole number, not below zero"))
}

/// An array of `N` non-negative whole numbers.
pub(crate) fn counts<const N: usize>(value: &JsValue, name: &str) -> Result<[u64; N], JsError> {
    let given = value.dyn_ref::<Array>().filter(|given| given.length() as usize == N);
    let given = given.ok_or_else(|| wrong(name, &format!("an array of {N} numbers")))?;
    let mut counts = [0; N];
    for (count, given) in counts.iter_mut().zip(given.iter()) {
        *count = self::count(&given, name)?;
    }
    Ok(counts)
}

/// A view as JSON.
pub(crate) fn json(view: &impl Serialize) -> Result<String, JsError> {
    serde_json::to_string(view).map_err(|_| JsError::new("a value could not be written as JSON"))
}
