//! Tables: comma-separated values with a header row.

use std::io::BufRead;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::settings::{Amounts, Cell, Settings, Table};
use super::{Each, Head, TOKEN_MAX, broken, kept, text, unusable};
use crate::error::{Result, excerpt};
use crate::lifecycle::Direction;
use crate::money::Currency;
use crate::store::record::{StatementFormat, StatementLine};

/// The most columns of a table.
const COLUMNS_MAX: usize = 512;

/// The rows of a table.
struct Rows<'a> {
    source: &'a mut dyn BufRead,
    reader: Reader,
    fields: Vec<u8>,
    ends: Vec<usize>,
    /// The line in the file on which the row begins, and the one on which the next one does.
    line: u64,
    next: u64,
}

/// The place of each column that the settings name.
struct Places {
    amount: (usize, Option<usize>),
    currency: Option<usize>,
    date: usize,
    references: Vec<usize>,
    participant: Option<usize>,
    entry: Option<usize>,
    text: Option<usize>,
    status: Option<usize>,
}

pub(super) fn read(source: &mut dyn BufRead, settings: &Settings, each: Each<'_>) -> Result<Head> {
    let Some(table) = &settings.table else {
        let said =
            "to read a table, the provider's settings must name its columns: statement_amount, statement_currency, statement_date, …";
        return Err(unusable("/settings/statement_amount", said));
    };
    let reader = ReaderBuilder::new().delimiter(table.delimiter).build();
    let mut rows = Rows { source, reader, fields: vec![0; TOKEN_MAX], ends: vec![0; COLUMNS_MAX], line: 1, next: 1 };
    let mut head = Head::new(StatementFormat::Csv);
    let mut header = None;
    while let Some(row) = rows.next()? {
        if rows.line < table.header {
            continue;
        }
        let row = row.fields(&rows)?;
        match &header {
            None => header = Some((row.len(), Places::of(table, &row, rows.line)?)),
            Some((width, _)) if row.len() != *width => {
                let said = format!("the row has {} fields, the header {width}", row.len());
                return Err(unusable(format!("line {}", rows.line), said));
            }
            Some((_, places)) => {
                let line = line(table, places, &row, rows.line).map_err(|said| unusable(format!("line {}", rows.line), said))?;
                head.take(line, &mut *each)?;
            }
        }
    }
    if header.is_none() {
        return Err(unusable(format!("line {}", table.header), "the file ends before its header"));
    }
    Ok(head)
}

/// A row that was read: how many fields it has, and where they end.
struct Row(usize);

impl Row {
    fn fields<'r>(&self, rows: &'r Rows<'_>) -> Result<Vec<&'r str>> {
        let mut begin = 0;
        let ends = rows.ends[..self.0].iter();
        ends.map(|end| {
            let field = &rows.fields[std::mem::replace(&mut begin, *end)..*end];
            std::str::from_utf8(field).map_err(|_| unusable(format!("line {}", rows.line), "the file must be in UTF-8"))
        })
        .collect()
    }
}

/// How many lines end in these bytes.
fn breaks(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

impl Rows<'_> {
    /// Skips what is left of the end of a line, and empty lines, which are no rows.
    fn skip_empty(&mut self) -> Result<()> {
        loop {
            let input = self.source.fill_buf().map_err(|error| broken(0, &error))?;
            let empty = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let is_over = empty < input.len() || input.is_empty();
            self.next += breaks(&input[..empty]);
            self.source.consume(empty);
            if is_over {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<Option<Row>> {
        let (mut used, mut ended) = (0, 0);
        self.skip_empty()?;
        self.line = self.next;
        loop {
            let input = self.source.fill_buf().map_err(|error| broken(0, &error))?;
            let (result, read, written, found) = self.reader.read_record(input, &mut self.fields[used..], &mut self.ends[ended..]);
            self.next += breaks(&input[..read]);
            self.source.consume(read);
            (used, ended) = (used + written, ended + found);
            let place = || format!("line {}", self.line);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => return Err(unusable(place(), format!("a row may have at most {TOKEN_MAX} bytes"))),
                ReadRecordResult::OutputEndsFull => return Err(unusable(place(), format!("a row may have at most {COLUMNS_MAX} fields"))),
                ReadRecordResult::Record => return Ok(Some(Row(ended))),
                ReadRecordResult::End => return Ok(None),
            }
        }
    }
}

impl Places {
    fn of(table: &Table, header: &[&str], line: u64) -> Result<Self> {
        let place = |name: &String| {
            let mut found = header.iter().enumerate().filter(|(_, title)| title.trim() == name.as_str()).map(|(at, _)| at);
            match (found.next(), found.next()) {
                (Some(at), None) => Ok(at),
                (Some(_), Some(_)) => Err(unusable(format!("line {line}"), format!("there are two columns {name:?}"))),
                (None, _) => Err(unusable(format!("line {line}"), format!("there is no column {name:?}"))),
            }
        };
        let some = |name: &Option<String>| name.as_ref().map(&place).transpose();
        let amount = match &table.amount {
            Amounts::Signed { column, .. } => (place(column)?, None),
            Amounts::Said { column, direction, .. } => (place(column)?, Some(place(direction)?)),
            Amounts::Two { outgoing, incoming } => (place(outgoing)?, Some(place(incoming)?)),
        };
        let currency = match &table.currency {
            Cell::Column(name) => Some(place(name)?),
            Cell::Currency(_) => None,
        };
        Ok(Self {
            amount,
            currency,
            date: place(&table.date)?,
            references: table.references.iter().map(&place).collect::<Result<_>>()?,
            participant: some(&table.participant)?,
            entry: some(&table.entry)?,
            text: some(&table.text)?,
            status: table.status.as_ref().map(|(name, _)| place(name)).transpose()?,
        })
    }
}

/// A row as a line; `None` if it does not count.
fn line(table: &Table, places: &Places, row: &[&str], line: u64) -> Result<Option<StatementLine>, String> {
    if let (Some(at), Some((_, booked))) = (places.status, &table.status)
        && !booked.iter().any(|it| it.eq_ignore_ascii_case(row[at].trim()))
    {
        return Ok(None);
    }
    let currency = match (&table.currency, places.currency) {
        (Cell::Currency(currency), _) => *currency,
        (Cell::Column(_), at) => {
            let code = at.map_or("", |at| row[at].trim());
            Currency::from_code(code).ok_or_else(|| format!("{:?} is not an ISO 4217 code", excerpt(code)))?
        }
    };
    let signed = signed(table, places, row, currency)?;
    if signed == 0 {
        return Ok(None);
    }
    let date = row[places.date];
    let (at, whole_day) = match &table.pattern {
        Some(pattern) => text::patterned(date, pattern, table.offset)?,
        None => text::iso_time(date, table.offset)?,
    };
    let some = |at: Option<usize>| at.and_then(|at| kept(row[at]));
    Ok(Some(StatementLine {
        line,
        direction: if signed < 0 { Direction::Outgoing } else { Direction::Incoming },
        amount: signed.checked_abs().ok_or("the amount is too large")?,
        currency,
        at,
        whole_day,
        references: places.references.iter().filter_map(|at| kept(row[*at])).collect(),
        participant: some(places.participant),
        entry: some(places.entry),
        text: some(places.text),
    }))
}

/// The amount of a row: less than zero for money that left.
fn signed(table: &Table, places: &Places, row: &[&str], currency: Currency) -> Result<i64, String> {
    let amount = |at: usize| text::amount(row[at], currency, table.point);
    let (first, second) = places.amount;
    Ok(match &table.amount {
        Amounts::Signed { outgoing_is_negative: true, .. } => amount(first)?,
        Amounts::Signed { outgoing_is_negative: false, .. } => -amount(first)?,
        Amounts::Said { outgoing, .. } => {
            let said = second.map_or("", |at| row[at].trim());
            let left = outgoing.iter().any(|it| it.eq_ignore_ascii_case(said));
            let amount = amount(first)?.saturating_abs();
            if left { -amount } else { amount }
        }
        Amounts::Two { .. } => {
            let each = |at: usize| if row[at].trim().is_empty() { Ok(0) } else { amount(at).map(i64::saturating_abs) };
            let (left, came) = (each(first)?, second.map_or(Ok(0), each)?);
            if left != 0 && came != 0 {
                return Err("the row has both an outgoing and an incoming amount".to_owned());
            }
            came - left
        }
    })
}
