//! QR codes (ISO/IEC 18004). A receipt's code contains the compact JWS itself, so that a scanner can verify it offline.

use std::fmt::Write as _;

use fast_qr::{ECL, Mode, QRBuilder};

use super::Receipt;
use super::page::escape;
use super::sheet::tame;
use crate::error::{Error, Result};

/// The pixels of a module in an image without a size.
const MODULE: usize = 4;

/// How much of a code may be damaged (ISO/IEC 18004). The more, the larger the code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Level {
    /// 7 %. Enough where a damaged code can be shown or printed again.
    #[default]
    L,
    /// 15 %.
    M,
    /// 25 %.
    Q,
    /// 30 %.
    H,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 4] = [Self::L, Self::M, Self::Q, Self::H];

    /// Its letter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::L => "L",
            Self::M => "M",
            Self::Q => "Q",
            Self::H => "H",
        }
    }

    /// The most bytes that a code of this level can contain.
    pub const fn max_bytes(self) -> usize {
        match self {
            Self::L => 2_953,
            Self::M => 2_331,
            Self::Q => 1_663,
            Self::H => 1_273,
        }
    }

    fn ecl(self) -> ECL {
        match self {
            Self::L => ECL::L,
            Self::M => ECL::M,
            Self::Q => ECL::Q,
            Self::H => ECL::H,
        }
    }
}

/// How a code is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawing {
    /// How much of it may be damaged.
    pub level: Level,
    /// Light modules around it: scanners need four (ISO/IEC 18004), unless what surrounds it is light anyway.
    pub margin: usize,
    /// The image's side in pixels; by default four a module.
    pub size: Option<u32>,
}

impl Drawing {
    /// The widest margin.
    pub const MARGIN_MAX: usize = 64;
    /// The largest image, in pixels.
    pub const SIZE_MAX: u32 = 16_384;
}

impl Default for Drawing {
    fn default() -> Self {
        Self { level: Level::L, margin: 4, size: None }
    }
}

/// A QR code (ISO/IEC 18004) to draw: dark bars on a light square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The side of the square in modules, including the light ones around the code: at most 185.
    pub side: usize,
    /// The dark bars.
    pub bars: Vec<Bar>,
    /// The image's side in pixels.
    size: Option<u32>,
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
    /// The code for these bytes, in byte mode. `None` for more than [`Level::max_bytes`].
    pub fn of(bytes: &[u8], drawing: Drawing) -> Option<Self> {
        let Drawing { level, margin, size } = drawing;
        let code = QRBuilder::new(bytes).mode(Mode::Byte).ecl(level.ecl()).build().ok()?;
        let mut bars: Vec<Bar> = Vec::new();
        for row in 0..code.size {
            let y = row + margin;
            let dark = code[row].iter().enumerate().filter(|(_, module)| module.value());
            for x in dark.map(|(column, _)| column + margin) {
                match bars.last_mut() {
                    Some(bar) if bar.y == y && bar.x + bar.length == x => bar.length += 1,
                    Some(_) | None => bars.push(Bar { x, y, length: 1 }),
                }
            }
        }
        Some(Self { side: code.size + 2 * margin, bars, size })
    }

    /// The code as an SVG document, black on white. `title`, which may be any text, is the alternative text.
    pub fn svg(&self, title: &str) -> String {
        let side = self.side;
        let size = self.size.map_or(MODULE * side, |size| size as usize);
        let mut svg = String::with_capacity(32 * 1_024);
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{size}\" height=\"{size}\" viewBox=\"0 0 {side} {side}\" role=\"img\" shape-rendering=\"crispEdges\">\
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
    /// `internal` if the JWS is longer than a QR code can contain (2,953 bytes), which never happens; `invalid_fields` if only its level
    /// keeps it from being drawn.
    pub fn code(&self, drawing: Drawing) -> Result<Code> {
        let bytes = self.jws.as_bytes();
        Code::of(bytes, drawing).ok_or_else(|| match drawing.level {
            Level::L => Error::internal("the receipt is too long for a QR code"),
            level => {
                let most = level.max_bytes();
                let detail = format!("the receipt has {} bytes, and a code of this level at most {most}: choose a lower one", bytes.len());
                Error::field("/level", "too_long", detail)
            }
        })
    }

    /// [`Receipt::code`] as an SVG document, with the receipt's id as title.
    ///
    /// # Errors
    /// The same as for [`Receipt::code`].
    pub fn svg(&self) -> Result<String> {
        self.drawn_as(Drawing::default(), None)
    }

    /// [`Receipt::svg`], drawn as the caller wants it.
    ///
    /// # Errors
    /// The same as for [`Receipt::code`].
    pub fn drawn_as(&self, drawing: Drawing, title: Option<&str>) -> Result<String> {
        Ok(self.code(drawing)?.svg(title.unwrap_or(&self.claims.jti)))
    }
}
