//! Reads the statements of providers and compares them with what the gateway has.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use railgate::reconcile::{Settings, read};
//!
//! # fn main() -> Result<(), railgate::Error> {
//! let settings = [("statement_amount", "Amount"), ("statement_currency", "=KES"), ("statement_date", "Date"), ("statement_references", "Receipt")];
//! let settings: BTreeMap<String, String> = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
//! let settings = Settings::parse(&settings)?;
//!
//! let statement = "Date,Receipt,Amount\n2026-11-24,R-1,-10.50\n2026-11-24,R-2,4.00\n";
//! let mut lines = Vec::new();
//! let head = read(&mut statement.as_bytes(), &settings, &mut |line| Ok(lines.push(line)))?;
//! assert_eq!((head.lines, lines[0].amount, lines[0].direction.as_str()), (2, 10_50, "outgoing"));
//! assert_eq!((lines[1].references[0].as_str(), lines[1].direction.as_str()), ("R-2", "incoming"));
//!
//! let refused = read(&mut "Date,Receipt\n".as_bytes(), &settings, &mut |_| Ok(())).unwrap_err();
//! assert_eq!((&*refused.fields[0].pointer, &*refused.fields[0].message), ("line 1", "there is no column \"Amount\""));
//! # Ok(())
//! # }
//! ```
//!
//! A statement is read as a stream, and its format is found by its first byte: `<` for ISO 20022 camt.053 and camt.054, `[` for
//! statement entries of the GSMA Mobile Money API, otherwise a table. No token, row or element takes more than [`TOKEN_MAX`] bytes of
//! memory, whatever the file has. Sources: ISO 20022 camt.053.001.02 and .08, camt.054.001.02 and .08; GSMA Mobile Money API 1.2.0;
//! RFC 4180.

mod bounded;
mod camt;
mod csv;
mod gsma;
mod matching;
mod report;
mod settings;
mod text;

use std::io::BufRead;

use crate::error::{Error, ErrorCode, FieldProblem, Result};
use crate::store::record::{StatementFormat, StatementLine};
use crate::time::Millis;

pub(crate) use matching::{Compact, Done, Item, Lines, Place, RETURN, REVERSAL, State, identity, judge, likely, party};

pub use report::{CSV_HEADER, HTML_END, content_security_policy, csv_cells, html_begin, html_row};
pub use settings::Settings;

/// The most bytes that one token, row or element of a statement may have.
pub const TOKEN_MAX: usize = 64 * 1024;

/// The most lines of one statement.
pub const LINES_MAX: u32 = 2_000_000;

/// The most characters of a text that a finding keeps of a line.
const TEXT_MAX: usize = 140;

/// What a whole statement says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Its format.
    pub format: StatementFormat,
    /// The lines that were read.
    pub lines: u32,
    /// The lines that do not count: not booked, or of nothing.
    pub skipped: u32,
    /// The time that it is about, as it says: from, and until, exclusive.
    pub period: Option<(Millis, Millis)>,
}

impl Head {
    fn new(format: StatementFormat) -> Self {
        Self { format, lines: 0, skipped: 0, period: None }
    }

    /// Counts a line and passes it on; `None` for one that does not count.
    fn take(&mut self, line: Option<StatementLine>, each: Each<'_>) -> Result<()> {
        let Some(line) = line else {
            self.skipped = self.skipped.saturating_add(1);
            return Ok(());
        };
        if self.lines == LINES_MAX {
            return Err(unusable(format!("line {}", line.line), format!("a statement has at most {LINES_MAX} lines: split it")));
        }
        self.lines += 1;
        each(line)
    }
}

/// Takes one line after another.
type Each<'a> = &'a mut dyn FnMut(StatementLine) -> Result<()>;

/// Reads a whole statement, one line after another.
///
/// # Errors
/// `statement_unusable` with the place, and those of `each`.
pub fn read(source: &mut dyn BufRead, settings: &Settings, each: Each<'_>) -> Result<Head> {
    let start = source.fill_buf().map_err(|error| broken(0, &error))?;
    let utf16 = start.starts_with(&[0xfe, 0xff]) || start.starts_with(&[0xff, 0xfe]) || start.iter().take(4).any(|byte| *byte == 0);
    if utf16 {
        return Err(unusable("byte 0", "the file must be in UTF-8; this is UTF-16, UTF-32 or no text"));
    }
    if start.starts_with(&[0xef, 0xbb, 0xbf]) {
        source.consume(3);
    }
    let first = source.fill_buf().map_err(|error| broken(0, &error))?.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        None => Err(unusable("byte 0", "the file is empty")),
        Some(b'<') => camt::read(source, each),
        Some(b'[' | b'{') => gsma::read(source, settings, each),
        Some(_) => csv::read(source, settings, each),
    }
}

/// The problem with a statement, and where it is.
pub(crate) fn unusable(pointer: impl Into<String>, message: impl Into<String>) -> Error {
    let (pointer, message) = (pointer.into(), message.into());
    let mut error = Error::with(ErrorCode::StatementUnusable, format!("{pointer}: {message}"));
    error.fields.push(FieldProblem::new(pointer, "statement_unusable", message));
    error
}

/// The file cannot be read any further.
fn broken(at: u64, error: &std::io::Error) -> Error {
    unusable(format!("byte {at}"), format!("the file cannot be read: {error}"))
}

/// A text as it is kept: without spaces around it, and not at any length; `None` for none.
fn kept(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().filter(|it| !it.is_control()).take(TEXT_MAX).collect())
}
