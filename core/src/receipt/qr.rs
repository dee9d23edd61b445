//! The QR code of a receipt: the compact JWS itself, so that a scanner without a network has all there is to check.

use std::fmt::Write as _;

use fast_qr::{ECL, Mode, QRBuilder};

use super::Receipt;
use crate::error::{Error, Result};

/// Light modules around the code (ISO/IEC 18004).
const QUIET: usize = 4;

impl Receipt {
    /// The QR code of the JWS as an SVG document: byte mode, error level L, since paper that is worn can be asked for anew.
    ///
    /// # Errors
    /// `internal` if the JWS is longer than a QR code holds (2,953 bytes), which no receipt is.
    pub fn svg(&self) -> Result<String> {
        let code =
            QRBuilder::new(self.jws.as_bytes()).mode(Mode::Byte).ecl(ECL::L).build().map_err(|error| Error::internal(error.to_string()))?;
        let side = code.size + 2 * QUIET;
        let mut svg = String::with_capacity(32 * 1_024);
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" role=\"img\" shape-rendering=\"crispEdges\">\
             <title>{}</title><path fill=\"#fff\" d=\"M0 0h{side}v{side}H0z\"/><path fill=\"#000\" d=\"",
            // An id of ours: nothing in it needs to be escaped.
            self.claims.jti
        );
        for y in 0..code.size {
            let row: Vec<bool> = code[y].iter().map(|module| module.value()).collect();
            for (x, length) in dark_runs(&row) {
                let _ = write!(svg, "M{} {}h{length}v1h-{length}z", x + QUIET, y + QUIET);
            }
        }
        svg.push_str("\"/></svg>");
        Ok(svg)
    }
}

/// Where dark modules begin in a row, and how many there are.
fn dark_runs(row: &[bool]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (x, _) in row.iter().enumerate().filter(|(_, dark)| **dark) {
        match runs.last_mut() {
            Some((begin, length)) if *begin + *length == x => *length += 1,
            Some(_) | None => runs.push((x, 1)),
        }
    }
    runs
}
