//! A receipt as PDF, with the same rows, order and look as the printable page.
//!
//! | file | content |
//! |---|---|
//! | `mod.rs` | the layout of a receipt |
//! | `text.rs` | text of any script as lines of glyphs |
//! | `fonts.rs` | which font has which character |
//! | `paper.rs` | pages, and the tags that describe each part |
//!
//! The document contains real text and is tagged (headings, tables with header cells, a figure with alternative text). It
//! depends only on the receipt: as long as the system's fonts stay the same, it has the same bytes every time. Its size is
//! limited: texts are cut off at a thousand bytes, and a receipt has a dozen of them.
#![allow(clippy::float_arithmetic, reason = "places on a page in points; amounts come as text")]

mod fonts;
mod paper;
mod text;

use std::sync::{Arc, LazyLock};

use railgate::receipt::sheet::{CHECK, HOW, HOW_WITHOUT_CODE, Heading, Kind, Part, Row, SANDBOX, TITLE, Tone};
use railgate::receipt::{Code, Drawing, Receipt};
use railgate::{Error, Result};
use tokio::sync::Semaphore;

use fonts::Style;
use paper::{Block, Cell, Colour, Mark, Role, WIDTH, mm};
use text::{Base, Fonts, Line, lines};

const INK: Colour = Colour(0x14, 0x18, 0x1f);
const SOFT: Colour = Colour(0x5a, 0x63, 0x72);
const RULE: Colour = Colour(0xe2, 0xe5, 0xea);
const ALARM: Colour = Colour(0xb4, 0x23, 0x18);

fn colour(tone: Tone) -> Colour {
    match tone {
        Tone::Paid => Colour(0x0a, 0x6b, 0x4b),
        Tone::Partly => Colour(0x8a, 0x52, 0x00),
        Tone::Back => Colour(0x8f, 0x1d, 0x2c),
    }
}

/// A receipt as PDF, drawn off the request threads, two at a time: it takes some milliseconds, and some megabytes where a
/// font of the system is needed. A caller who leaves does not stop the drawing, which keeps its place.
///
/// # Errors
/// See [`pdf`].
pub(crate) async fn drawn(receipt: Receipt) -> Result<Vec<u8>> {
    static AT_ONCE: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(2)));
    let permit = Arc::clone(&AT_ONCE).acquire_owned().await.map_err(Error::internal)?;
    let drawing = tokio::task::spawn_blocking(move || {
        let drawn = pdf(&receipt);
        drop(permit);
        drawn
    });
    drawing.await.map_err(Error::internal)?
}

/// Draws a receipt on A4, on one page unless something in it is very long.
///
/// # Errors
/// `internal` if it cannot be written, which no receipt is known to cause.
pub fn pdf(receipt: &Receipt) -> Result<Vec<u8>> {
    let mut draft = draft(receipt)?;
    let footer = draft.line(&format!("Receipt {}", receipt.claims.jti), Style::Regular, 7.5);
    let Draft { mut fonts, blocks } = draft;
    let mut number = |page: usize, all: usize| fonts.line(&format!("{page} / {all}"), Style::Regular, 7.5);
    paper::print(receipt, blocks, footer, &mut number)
}

fn draft(receipt: &Receipt) -> Result<Draft> {
    let mut draft = Draft { fonts: Fonts::new().ok_or_else(|| Error::internal("the fonts cannot be read"))?, blocks: Vec::new() };
    draft.head(&receipt.heading());
    let rows = receipt.rows();
    for part in [Part::Payment, Part::Record] {
        draft.title(part.title());
        rows.iter().filter(|row| row.part == part).for_each(|row| draft.row(row));
    }
    match receipt.code(Drawing::default()) {
        Ok(code) => draft.check(receipt, code),
        // A receipt that is too long for a code is still a receipt.
        Err(_) => draft.check_without_code(receipt),
    }
    Ok(draft)
}

/// The blocks of a receipt, from the top.
struct Draft {
    fonts: Fonts,
    blocks: Vec<Block>,
}

/// The line height of a text, relative to its size.
const LEADING: f32 = 1.4;
/// The distance of the base line from the top of a line, relative to the text's size.
const RISE: f32 = 1.06;
/// The left edge of the values.
const COLUMN: f32 = mm(38.0);

impl Fonts {
    /// One line of the gateway's own text.
    fn line(&mut self, text: &str, style: Style, size: f32) -> Line {
        let first = lines(self, text, (style, Base::Ltr), size, f32::MAX).into_iter().next();
        first.unwrap_or_else(|| Line { runs: Vec::new(), width: 0.0 })
    }
}

/// Lines below each other, as marks, and their total height.
fn paragraph(lines: Vec<Line>, (x, y): (f32, f32), size: f32, colour: Colour) -> (Vec<Mark>, f32) {
    let height = lines.len() as f32 * size * LEADING;
    let place = |(n, line): (usize, Line)| Mark::Text { x, y: y + n as f32 * size * LEADING + size * RISE, line, size, colour };
    (lines.into_iter().enumerate().map(place).collect(), height)
}

impl Draft {
    fn line(&mut self, text: &str, style: Style, size: f32) -> Line {
        self.fonts.line(text, style, size)
    }

    fn wrapped(&mut self, text: &str, style: Style, size: f32, width: f32) -> Vec<Line> {
        lines(&mut self.fonts, text, (style, Base::Ltr), size, width)
    }

    fn head(&mut self, heading: &Heading<'_>) {
        let tone = colour(heading.tone);
        let bar = Mark::Box { x: 0.0, y: 0.0, width: WIDTH, height: 3.0, colour: tone };
        self.blocks.push(Block { gap: 0.0, height: 3.0, cells: vec![Cell::decoration(vec![bar])] });

        let title = self.line(TITLE, Style::Bold, 13.0);
        let room = WIDTH - title.width - 24.0;
        let issuer = lines(&mut self.fonts, &heading.issuer, (Style::Regular, Base::Inline), 9.0, room);
        let (mut marks, height) = paragraph(issuer, (0.0, 3.5), 9.0, SOFT);
        for mark in &mut marks {
            if let Mark::Text { x, line, .. } = mark {
                *x = WIDTH - line.width;
            }
        }
        let title = Mark::Text { x: 0.0, y: 14.0, line: title, size: 13.0, colour: INK };
        let cells = vec![Cell::new(Role::Title, vec![title]), Cell::new(Role::Paragraph, marks)];
        self.blocks.push(Block { gap: 16.0, height: height.max(18.0), cells });

        if heading.sandbox {
            let line = self.line(SANDBOX, Style::Bold, 10.0);
            let frame = Mark::Frame { x: 0.0, y: 0.0, width: WIDTH, height: 24.0, round: 3.0, dashed: true, colour: ALARM };
            let words = Mark::Text { x: 10.0, y: 15.6, line, size: 10.0, colour: ALARM };
            let cells = vec![Cell::decoration(vec![frame]), Cell::new(Role::Paragraph, vec![words])];
            self.blocks.push(Block { gap: 12.0, height: 24.0, cells });
        }
        self.sum(heading, tone);
    }

    /// The amount and its status.
    fn sum(&mut self, heading: &Heading<'_>, tone: Colour) {
        let amount = self.line(&heading.amount, Style::Bold, 28.0);
        let currency = self.line(heading.currency, Style::Bold, 14.0);
        let status = self.line(heading.status, Style::Bold, 9.0);
        let end = amount.width + 7.0 + currency.width;
        let pill = status.width + 20.0;
        // Beside it, or below if there is no room.
        let (left, top) = if end + 20.0 + pill <= WIDTH { (WIDTH - pill, 11.0) } else { (0.0, 42.0) };
        let cells = vec![
            Cell::new(
                Role::Paragraph,
                vec![
                    Mark::Text { x: 0.0, y: 28.0, line: amount, size: 28.0, colour: INK },
                    Mark::Text { x: end - currency.width, y: 28.0, line: currency, size: 14.0, colour: SOFT },
                ],
            ),
            Cell::decoration(vec![Mark::Frame { x: left, y: top, width: pill, height: 19.0, round: 9.5, dashed: false, colour: tone }]),
            Cell::new(Role::Paragraph, vec![Mark::Text { x: left + 10.0, y: top + 12.7, line: status, size: 9.0, colour: tone }]),
        ];
        self.blocks.push(Block { gap: 18.0, height: (top + 19.0).max(36.0), cells });
    }

    fn title(&mut self, title: &str) {
        let line = self.line(&title.to_uppercase(), Style::Bold, 7.5);
        let words = Mark::Text { x: 0.0, y: 8.0, line, size: 7.5, colour: SOFT };
        let cells = vec![Cell::new(Role::Headline, vec![words]), Cell::decoration(vec![rule(13.5)])];
        self.blocks.push(Block { gap: 18.0, height: 14.0, cells });
    }

    fn row(&mut self, row: &Row<'_>) {
        let (size, pad) = match row.part {
            Part::Payment => (10.0, 4.2),
            Part::Record => (9.0, 3.6),
        };
        let room = WIDTH - COLUMN;
        let base = match row.kind {
            Kind::Plain => Base::Ltr,
            Kind::Code => Base::Inline,
            Kind::Words => Base::Auto,
        };
        let name = self.line(row.name, Style::Regular, size);
        let mut marks = vec![Mark::Text { x: 0.0, y: pad + size * RISE, line: name, size, colour: SOFT }];
        let mut least = size * LEADING;
        if row.kind == Kind::Words {
            let line = self.line("not signed", Style::Regular, 7.5);
            marks.push(Mark::Text { x: 0.0, y: pad + size * LEADING + 7.5, line, size: 7.5, colour: SOFT });
            least += 10.0;
        }
        let value = lines(&mut self.fonts, &row.value, (Style::Regular, base), size, room);
        let (value, height) = paragraph(value, (COLUMN, pad), size, INK);
        let height = height.max(least) + 2.0 * pad;
        let mut value = Cell::new(Role::Value, value);
        // Combining marks can be stacked without end; they must not reach the text above.
        value.clip = Some((COLUMN, WIDTH, height));
        let cells = vec![Cell::new(Role::Name, marks), value, Cell::decoration(vec![rule(height)])];
        self.blocks.push(Block { gap: 0.0, height, cells });
    }

    /// The code, with its explanation beside it.
    fn check(&mut self, receipt: &Receipt, code: Code) {
        let side = mm(62.0);
        // The light modules around the code are its margin.
        let quiet = side * 4.0 / code.side as f32;
        let left = side + 12.0;
        let alt = format!("QR code of the signed receipt {}", receipt.claims.jti);
        let (mut cells, height) = self.explained(&receipt.jws, HOW, left, WIDTH - left);
        let figure = Cell::new(Role::Figure(alt), vec![Mark::Code { x: -quiet, y: -quiet, side, code }]);
        cells.insert(0, figure);
        self.blocks.push(Block { gap: 22.0, height: height.max(side - 2.0 * quiet), cells });
    }

    fn check_without_code(&mut self, receipt: &Receipt) {
        let (mut cells, height) = self.explained("", HOW_WITHOUT_CODE, 0.0, WIDTH);
        cells.truncate(2);
        self.blocks.push(Block { gap: 22.0, height, cells });
        for line in self.signed(&receipt.jws, WIDTH) {
            let (marks, height) = paragraph(vec![line], (0.0, 0.0), JWS, SOFT);
            self.blocks.push(Block { gap: 0.0, height, cells: vec![Cell::new(Role::Paragraph, marks)] });
        }
    }

    /// The explanation of the signed receipt, and the receipt itself.
    fn explained(&mut self, jws: &str, how: &str, left: f32, room: f32) -> (Vec<Cell>, f32) {
        let title = self.line(&CHECK.to_uppercase(), Style::Bold, 7.5);
        let title = Mark::Text { x: left, y: 8.0, line: title, size: 7.5, colour: SOFT };
        let how = self.wrapped(how, Style::Regular, 8.5, room);
        let (how, high) = paragraph(how, (left, 14.0), 8.5, SOFT);
        let below = 14.0 + high + 6.0;
        let (signed, higher) = paragraph(self.signed(jws, room), (left, below), JWS, SOFT);
        let cells = vec![Cell::new(Role::Headline, vec![title]), Cell::new(Role::Paragraph, how), Cell::new(Role::Paragraph, signed)];
        (cells, below + higher)
    }

    /// The signed receipt in lines of equal length.
    fn signed(&mut self, jws: &str, room: f32) -> Vec<Line> {
        let one = self.line("0", Style::Mono, JWS).width;
        // As many as fit on a line, but at least one.
        let many = ((room / one.max(0.1)) as usize).max(1);
        let rows = jws.as_bytes().chunks(many).map(|row| String::from_utf8_lossy(row).into_owned());
        rows.map(|row| self.line(&row, Style::Mono, JWS)).collect()
    }
}

/// The font size of the signed receipt.
const JWS: f32 = 5.8;

fn rule(y: f32) -> Mark {
    Mark::Box { x: 0.0, y: y - 0.6, width: WIDTH, height: 0.6, colour: RULE }
}

#[cfg(test)]
mod tests;
