//! The QR code of a receipt: the compact JWS itself, so that a scanner without a network has all there is to check.

use std::fmt::Write as _;

use fast_qr::{ECL, Mode, QRBuilder};

use super::Receipt;
use crate::error::{Error, Result};

/// Light modules around the code (ISO/IEC 18004).
const QUIET: usize = 4;

/// A QR code (ISO/IEC 18004) to be drawn: dark bars on a light square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The side of the square in modules, the light ones around the code among them: at most 185.
    pub side: usize,
    /// What is dark.
    pub bars: Vec<Bar>,
}

/// Dark modules beside each other in one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Modules from the left.
    pub x: usize,
    /// Modules from the top.
    pub y: usize,
    /// How many there are.
    pub length: usize,
}

impl Receipt {
    /// The QR code of the JWS: byte mode, error level L, since paper that is worn can be asked for anew.
    ///
    /// # Errors
    /// `internal` if the JWS is longer than a QR code holds (2,953 bytes), which no receipt is.
    pub fn code(&self) -> Result<Code> {
        let code =
            QRBuilder::new(self.jws.as_bytes()).mode(Mode::Byte).ecl(ECL::L).build().map_err(|error| Error::internal(error.to_string()))?;
        let mut bars: Vec<Bar> = Vec::new();
        for row in 0..code.size {
            let y = row + QUIET;
            let dark = code[row].iter().enumerate().filter(|(_, module)| module.value());
            for x in dark.map(|(column, _)| column + QUIET) {
                match bars.last_mut() {
                    Some(bar) if bar.y == y && bar.x + bar.length == x => bar.length += 1,
                    Some(_) | None => bars.push(Bar { x, y, length: 1 }),
                }
            }
        }
        Ok(Code { side: code.size + 2 * QUIET, bars })
    }

    /// [`Receipt::code`] as an SVG document.
    ///
    /// # Errors
    /// As of [`Receipt::code`].
    pub fn svg(&self) -> Result<String> {
        let Code { side, bars } = self.code()?;
        let mut svg = String::with_capacity(32 * 1_024);
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" role=\"img\" shape-rendering=\"crispEdges\">\
             <title>{}</title><path fill=\"#fff\" d=\"M0 0h{side}v{side}H0z\"/><path fill=\"#000\" d=\"",
            // An id of ours: nothing in it needs to be escaped.
            self.claims.jti
        );
        for Bar { x, y, length } in bars {
            let _ = write!(svg, "M{x} {y}h{length}v1h-{length}z");
        }
        svg.push_str("\"/></svg>");
        Ok(svg)
    }
}
