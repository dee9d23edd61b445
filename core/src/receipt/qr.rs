//! QR codes (ISO/IEC 18004). A receipt's code contains the compact JWS itself, so that a scanner can verify it offline.

use std::fmt::Write as _;

use fast_qr::{ECL, Mode, QRBuilder};

use super::Receipt;
use super::page::escape;
use super::sheet::tame;
use crate::error::{Error, Result};

/// Light modules around the code (ISO/IEC 18004).
const QUIET: usize = 4;

/// A QR code (ISO/IEC 18004) to draw: dark bars on a light square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The side of the square in modules, including the light ones around the code: at most 185.
    pub side: usize,
    /// The dark bars.
    pub bars: Vec<Bar>,
}

/// Adjacent dark modules in one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Modules from the left.
    pub x: usize,
    /// Modules from the top.
    pub y: usize,
    /// The number of modules.
    pub length: usize,
}

impl Code {
    /// The code for these bytes: byte mode, error level L, because a damaged code can be shown or printed again. `None` for more
    /// than 2,953 bytes, the most that a code can contain.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let code = QRBuilder::new(bytes).mode(Mode::Byte).ecl(ECL::L).build().ok()?;
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
        Some(Self { side: code.size + 2 * QUIET, bars })
    }

    /// The code as an SVG document, black on white. `title`, which may be any text, is the alternative text.
    pub fn svg(&self, title: &str) -> String {
        let side = self.side;
        let mut svg = String::with_capacity(32 * 1_024);
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" role=\"img\" shape-rendering=\"crispEdges\">\
             <title>{}</title><path fill=\"#fff\" d=\"M0 0h{side}v{side}H0z\"/><path fill=\"#000\" d=\"",
            escape(&tame(title))
        );
        for Bar { x, y, length } in &self.bars {
            let _ = write!(svg, "M{x} {y}h{length}v1h-{length}z");
        }
        svg.push_str("\"/></svg>");
        svg
    }

    /// The modules row by row, `side` times `side` bytes: 1 is dark.
    pub fn modules(&self) -> Vec<u8> {
        let mut modules = vec![0; self.side * self.side];
        for bar in &self.bars {
            let start = bar.y * self.side + bar.x;
            modules[start..start + bar.length].fill(1);
        }
        modules
    }
}

impl Receipt {
    /// The QR code of the JWS.
    ///
    /// # Errors
    /// `internal` if the JWS is longer than a QR code can contain (2,953 bytes), which never happens.
    pub fn code(&self) -> Result<Code> {
        Code::of(self.jws.as_bytes()).ok_or_else(|| Error::internal("the receipt is too long for a QR code"))
    }

    /// [`Receipt::code`] as an SVG document, with the receipt's id as title.
    ///
    /// # Errors
    /// The same as for [`Receipt::code`].
    pub fn svg(&self) -> Result<String> {
        Ok(self.code()?.svg(&self.claims.jti))
    }
}
