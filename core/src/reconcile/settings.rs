//! How a provider writes its statements: the `statement_…` members of its settings.

use std::collections::BTreeMap;

use super::text;
use crate::error::{Error, FieldProblem, Result};
use crate::money::Currency;
use crate::time::Millis;

/// The names begin with this.
const PREFIX: &str = "statement_";
/// The grace of a provider that says nothing.
const GRACE_HOURS: Millis = 24;
const HOUR: Millis = 3_600_000;

/// How a provider writes its statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The columns of a table; `None` if the settings have none.
    pub(super) table: Option<Table>,
    /// The gateway's own account, as the entries of the GSMA's API name it.
    pub(super) account: Option<String>,
    /// By how much the times of the two sides may differ.
    pub(crate) grace: Millis,
}

/// The columns of a table, by the names in its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) delimiter: u8,
    pub(super) point: char,
    pub(super) header: u64,
    pub(super) amount: Amounts,
    pub(super) currency: Cell,
    pub(super) date: String,
    /// The form of times; `None` for that of ISO 8601.
    pub(super) pattern: Option<String>,
    pub(super) offset: Millis,
    pub(super) references: Vec<String>,
    pub(super) participant: Option<String>,
    pub(super) entry: Option<String>,
    pub(super) text: Option<String>,
    /// A column, and the values with which a line counts.
    pub(super) status: Option<(String, Vec<String>)>,
}

/// Where a table has amounts, and whether money left or came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Amounts {
    /// One column; money that left is negative, or positive.
    Signed { column: String, outgoing_is_negative: bool },
    /// One column, and another that has one of these values for money that left.
    Said { column: String, direction: String, outgoing: Vec<String> },
    /// A column each for money that left and money that came.
    Two { outgoing: String, incoming: String },
}

/// A column, or the same for every line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Column(String),
    Currency(Currency),
}

/// Reads the settings one by one.
struct Reader<'a> {
    left: BTreeMap<&'a str, &'a str>,
    problems: Vec<FieldProblem>,
}

impl Settings {
    /// Reads the settings of a provider. Those with other names belong to its rail.
    ///
    /// # Errors
    /// `invalid_fields` with all problems.
    pub fn parse(settings: &BTreeMap<String, String>) -> Result<Self> {
        let named = settings.iter().filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?, value.as_str())));
        let mut reader = Reader { left: named.collect(), problems: Vec::new() };
        let account = reader.text("account");
        let hours = reader.text("grace_hours").map(|hours| hours.parse::<Millis>().ok().filter(|hours| (0..=240).contains(hours)));
        if hours == Some(None) {
            reader.refuse("grace_hours", "must be a whole number of hours from 0 to 240");
        }
        let table = reader.table();
        for name in std::mem::take(&mut reader.left).into_keys() {
            reader.refuse(name, "is not a setting of statements");
        }
        if !reader.problems.is_empty() {
            return Err(Error::invalid(reader.problems));
        }
        Ok(Self { table, account, grace: hours.flatten().unwrap_or(GRACE_HOURS) * HOUR })
    }
}

impl Reader<'_> {
    fn text(&mut self, name: &str) -> Option<String> {
        self.left.remove(name).map(str::to_owned)
    }

    fn list(&mut self, name: &str) -> Vec<String> {
        let value = self.text(name).unwrap_or_default();
        value.split(',').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
    }

    fn refuse(&mut self, name: &str, message: &str) {
        self.problems.push(FieldProblem::new(format!("/settings/{PREFIX}{name}"), "statement_setting", message));
    }

    /// The columns of a table, if there are settings for one.
    fn table(&mut self) -> Option<Table> {
        if self.left.is_empty() {
            return None;
        }
        let delimiter = match self.text("delimiter").as_deref() {
            None => b',',
            Some("tab") => b'\t',
            Some(text) if text.len() == 1 && text.is_ascii() && !matches!(text, "\"" | "\r" | "\n") => text.as_bytes()[0],
            Some(_) => self.fallen_back("delimiter", "must be one character, or tab", b','),
        };
        let point = match self.text("decimal").as_deref() {
            None | Some(".") => '.',
            Some(",") => ',',
            Some(_) => self.fallen_back("decimal", "must be . or ,", '.'),
        };
        let header = match self.text("header_row").map(|row| row.parse().ok().filter(|row| (1..=100).contains(row))) {
            None => 1,
            Some(Some(row)) => row,
            Some(None) => self.fallen_back("header_row", "must be a whole number from 1 to 100", 1),
        };
        let amount = self.amounts();
        let currency = match self.text("currency") {
            None => self.fallen_back("currency", "is required for a table: a column, or = and a code", None),
            Some(text) => match text.strip_prefix('=') {
                None => Some(Cell::Column(text)),
                Some(code) => match Currency::from_code(code) {
                    Some(currency) => Some(Cell::Currency(currency)),
                    None => self.fallen_back("currency", "must have an ISO 4217 code after =", None),
                },
            },
        };
        let date = self.text("date");
        if date.is_none() {
            self.refuse("date", "is required for a table: the column with the time of booking");
        }
        let pattern = self.text("date_format");
        if pattern.as_ref().is_some_and(|it| !["YYYY", "MM", "DD"].iter().all(|part| it.contains(part))) {
            self.refuse("date_format", "must have YYYY, MM and DD, and may have hh, mm and ss");
        }
        let offset = match self.text("utc_offset").map(|text| text::offset(&text)) {
            None => 0,
            Some(Some(offset)) => offset,
            Some(None) => self.fallen_back("utc_offset", "must be an offset such as +03:00", 0),
        };
        let (references, participant, entry, text) =
            (self.list("references"), self.text("participant"), self.text("entry"), self.text("text"));
        if references.len() > 4 {
            self.refuse("references", "may name at most four columns");
        }
        let status = self.text("status").map(|column| (column, self.list("booked")));
        if status.as_ref().is_some_and(|(_, booked)| booked.is_empty()) {
            self.refuse("booked", "must have the values of the status with which a line counts");
        }
        let (amount, currency, date) = (amount?, currency?, date?);
        Some(Table { delimiter, point, header, amount, currency, date, pattern, offset, references, participant, entry, text, status })
    }

    fn fallen_back<T>(&mut self, name: &str, message: &str, value: T) -> T {
        self.refuse(name, message);
        value
    }

    fn amounts(&mut self) -> Option<Amounts> {
        let (column, two) = (self.text("amount"), (self.text("amount_outgoing"), self.text("amount_incoming")));
        let (direction, values, negative) = (self.text("direction"), self.list("outgoing"), self.text("outgoing_sign"));
        match (column, two, direction, negative.as_deref()) {
            (None, (Some(outgoing), Some(incoming)), None, None) if values.is_empty() => Some(Amounts::Two { outgoing, incoming }),
            (Some(column), (None, None), Some(direction), None) if !values.is_empty() => {
                Some(Amounts::Said { column, direction, outgoing: values })
            }
            (Some(column), (None, None), None, None | Some("negative" | "positive")) if values.is_empty() => {
                Some(Amounts::Signed { column, outgoing_is_negative: negative.as_deref() != Some("positive") })
            }
            _ => {
                let said = "a table needs amount, with outgoing_sign negative or positive; or amount, direction and outgoing; or \
                            amount_outgoing and amount_incoming";
                self.fallen_back("amount", said, None)
            }
        }
    }
}
