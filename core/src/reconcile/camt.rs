//! ISO 20022 camt.053 and camt.054, versions 02 and 08.
//!
//! Document types, entities of their own and encodings other than UTF-8 are refused: nothing in a file can make it larger than it is.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesDecl, BytesStart, Event};

use super::bounded::{Bounded, Progress};
use super::{Each, Head, TOKEN_MAX, kept, text, unusable};
use crate::error::{Result, excerpt};
use crate::lifecycle::Direction;
use crate::money::Currency;
use crate::store::record::{StatementFormat, StatementLine};
use crate::time::Millis;

/// The namespaces of the versions that are read.
const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:";
const VERSIONS: [(&str, StatementFormat); 4] = [
    ("camt.053.001.02", StatementFormat::Camt053),
    ("camt.053.001.08", StatementFormat::Camt053),
    ("camt.054.001.02", StatementFormat::Camt054),
    ("camt.054.001.08", StatementFormat::Camt054),
];
/// Deeper than any element of these messages.
const DEPTH_MAX: usize = 64;
/// The most references that are kept of one transaction.
const REFERENCES_MAX: usize = 6;

/// What is known of an entry, or of one transaction in it.
#[derive(Default)]
struct Part {
    amount: Option<(String, String)>,
    direction: Option<Direction>,
    references: Vec<String>,
    /// The reference of the bank, which names this one alone.
    entry: Option<String>,
    creditor: Option<String>,
    debtor: Option<String>,
    text: Option<String>,
}

/// The entry that is being read.
#[derive(Default)]
struct Entry {
    own: Part,
    status: Option<String>,
    booked: Option<String>,
    value: Option<String>,
    /// The transaction that is being read.
    open: Option<Part>,
    /// One without an amount, which has that of the entry if it is alone.
    alone: Option<Part>,
    /// How many transactions there were with an amount of their own, and without.
    with: u32,
    without: u32,
}

struct Message<'a> {
    each: Each<'a>,
    progress: Progress,
    head: Option<Head>,
    /// The names of the open elements, each after a slash.
    path: String,
    depth: usize,
    /// The path of the entry that is being read, by its length, and the entry.
    entry: Option<(usize, Entry)>,
    /// The text of the open element, and its attribute `Ccy`.
    text: String,
    currency: Option<String>,
    n: u64,
}

pub(super) fn read(source: &mut dyn BufRead, each: Each<'_>) -> Result<Head> {
    let (bounded, progress) = Bounded::new(source);
    let mut reader = Reader::from_reader(bounded);
    let mut message = Message {
        each,
        progress: progress.clone(),
        head: None,
        path: String::new(),
        depth: 0,
        entry: None,
        text: String::new(),
        currency: None,
        n: 0,
    };
    let mut token = Vec::new();
    loop {
        token.clear();
        progress.token();
        let event = reader.read_event_into(&mut token);
        match event.map_err(|error| message.bad(format!("it is not well-formed XML in UTF-8: {error}")))? {
            Event::Start(start) => message.open(&start)?,
            Event::Empty(start) => {
                message.open(&start)?;
                message.close()?;
            }
            Event::End(_) => message.close()?,
            Event::Text(text) => message.add(&text.xml10_content())?,
            Event::CData(text) => message.add(&text.xml10_content())?,
            Event::GeneralRef(named) => {
                let known = if named.is_char_ref() { named.resolve_char_ref().ok().flatten() } else { None };
                match (known, resolve_predefined_entity(&named)) {
                    (Some(known), _) => message.add(known.encode_utf8(&mut [0; 4]))?,
                    (None, Some(known)) => message.add(known)?,
                    (None, None) => return Err(message.bad(format!("the entity {:?} is not allowed", excerpt(&named)))),
                }
            }
            Event::DocType(_) => return Err(message.bad("a document type is not allowed")),
            Event::Decl(declaration) => message.declared(&declaration)?,
            Event::Comment(_) | Event::PI(_) => {}
            Event::Eof => return message.end(),
        }
    }
}

impl Message<'_> {
    #[cold]
    fn bad(&self, said: impl Into<String>) -> crate::Error {
        unusable(format!("byte {}", self.progress.at()), said)
    }

    fn declared(&self, declaration: &BytesDecl<'_>) -> Result<()> {
        match declaration.encoding() {
            None => Ok(()),
            Some(Ok(encoding)) if encoding.eq_ignore_ascii_case("utf-8") || encoding.eq_ignore_ascii_case("us-ascii") => Ok(()),
            Some(_) => Err(self.bad("the file must be in UTF-8, and say so if it says anything")),
        }
    }

    fn add(&mut self, text: &str) -> Result<()> {
        if self.text.len() + text.len() > TOKEN_MAX {
            return Err(self.bad(format!("one element may have at most {TOKEN_MAX} bytes")));
        }
        self.text.push_str(text);
        Ok(())
    }

    fn open(&mut self, start: &BytesStart<'_>) -> Result<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.bad(format!("elements are nested more than {DEPTH_MAX} deep")));
        }
        let name = start.local_name();
        let name = name.as_ref();
        if self.head.is_none() && name == "Document" {
            self.head = Some(Head::new(self.format(start)?));
        }
        self.path.push('/');
        self.path.push_str(name);
        self.text.clear();
        self.currency = None;
        match (&mut self.entry, name) {
            (None, "Ntry") if self.head.is_some() => self.entry = Some((self.path.len(), Entry::default())),
            (Some((_, entry)), "TxDtls") => entry.open = Some(Part::default()),
            (Some(_), "Amt") => {
                let currency = start.try_get_attribute("Ccy").map_err(|error| self.bad(error.to_string()))?;
                self.currency = currency.map(|it| it.value.into_owned());
            }
            (None | Some(_), _) => {}
        }
        Ok(())
    }

    /// The format by the namespace of the document.
    fn format(&self, start: &BytesStart<'_>) -> Result<StatementFormat> {
        let known = || VERSIONS.map(|(name, _)| name).join(", ");
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| self.bad(error.to_string()))?;
            if let Some(name) = attribute.value.strip_prefix(NAMESPACE) {
                let found = VERSIONS.iter().find(|(known, _)| *known == name);
                return found
                    .map(|(_, format)| *format)
                    .ok_or_else(|| self.bad(format!("{} is not read, only {}", excerpt(name), known())));
            }
        }
        Err(self.bad(format!("the document has no namespace of ISO 20022; read are {}", known())))
    }

    fn close(&mut self) -> Result<()> {
        if let Some((base, mut entry)) = self.entry.take() {
            if self.path.len() == base {
                self.booked(entry)?;
            } else {
                let name = self.path[base..].to_owned();
                let (text, currency) = (std::mem::take(&mut self.text), self.currency.take());
                if name.ends_with("/TxDtls") {
                    self.transaction(&mut entry)?;
                } else {
                    entry.take(&name, text, currency);
                }
                self.entry = Some((base, entry));
            }
        } else if self.path.ends_with("/FrToDt/FrDtTm") || self.path.ends_with("/FrToDt/ToDtTm") {
            let (at, _) = text::iso_time(&self.text, 0).map_err(|said| self.bad(said))?;
            self.period(at);
        }
        self.text.clear();
        self.depth -= 1;
        let parent = self.path.rfind('/').unwrap_or(0);
        self.path.truncate(parent);
        Ok(())
    }

    /// The period of all the statements in the file together.
    fn period(&mut self, at: Millis) {
        if let Some(head) = &mut self.head {
            head.period = Some(head.period.map_or((at, at), |(from, to)| (from.min(at), to.max(at))));
        }
    }

    /// A transaction ends: it is a line if it has an amount of its own.
    fn transaction(&mut self, entry: &mut Entry) -> Result<()> {
        let Some(part) = entry.open.take() else { return Ok(()) };
        if part.amount.is_some() {
            entry.with += 1;
            let line = self.line(entry, &part)?;
            return self.take(line);
        }
        entry.without += 1;
        entry.alone = (entry.without == 1).then_some(part);
        Ok(())
    }

    /// An entry ends: it is a line, unless its transactions were.
    fn booked(&mut self, mut entry: Entry) -> Result<()> {
        let line = match (entry.with, entry.alone.take()) {
            (0, Some(mut alone)) if entry.without == 1 => {
                alone.amount = entry.own.amount.take();
                alone.references.extend(entry.own.references.drain(..).take(2));
                alone.entry = alone.entry.or(entry.own.entry.take());
                self.line(&entry, &alone)?
            }
            (0, _) => {
                let own = std::mem::take(&mut entry.own);
                entry.own.direction = own.direction;
                self.line(&entry, &own)?
            }
            (_, _) if entry.without == 0 => return Ok(()),
            (_, _) => return Err(self.bad("some transactions of an entry have an amount, and some have none")),
        };
        self.take(line)
    }

    fn take(&mut self, line: Option<StatementLine>) -> Result<()> {
        match &mut self.head {
            Some(head) => head.take(line, &mut *self.each),
            None => Ok(()),
        }
    }

    /// A part of an entry as a line; `None` if it does not count.
    fn line(&mut self, entry: &Entry, part: &Part) -> Result<Option<StatementLine>> {
        self.n += 1;
        let missing = |what: &str| self.bad(format!("entry {}: {what} is missing", self.n));
        if entry.status.as_deref().ok_or_else(|| missing("Sts"))? != "BOOK" {
            return Ok(None);
        }
        let (amount, code) = part.amount.as_ref().ok_or_else(|| missing("Amt"))?;
        let bad_code = || self.bad(format!("{:?} is not an ISO 4217 code", excerpt(code)));
        let currency = Currency::from_code(code).ok_or_else(bad_code)?;
        let amount = text::amount(amount, currency, '.').map_err(|said| self.bad(said))?;
        if amount == 0 {
            return Ok(None);
        }
        let direction = part.direction.or(entry.own.direction).ok_or_else(|| missing("CdtDbtInd"))?;
        let date = entry.booked.as_ref().or(entry.value.as_ref()).ok_or_else(|| missing("BookgDt"))?;
        let (at, whole_day) = text::iso_time(date, 0).map_err(|said| self.bad(said))?;
        let participant = match direction {
            Direction::Outgoing => &part.creditor,
            Direction::Incoming => &part.debtor,
        };
        Ok(Some(StatementLine {
            line: self.n,
            direction: if amount < 0 { direction.opposite() } else { direction },
            amount: amount.checked_abs().ok_or_else(|| self.bad("the amount is too large"))?,
            currency,
            at,
            whole_day,
            references: part.references.clone(),
            participant: participant.clone(),
            entry: part.entry.clone(),
            text: part.text.clone().or_else(|| entry.own.text.clone()),
        }))
    }

    fn end(self) -> Result<Head> {
        if self.depth > 0 {
            return Err(self.bad("the file ends in the middle of an element: it is cut off"));
        }
        let none = self.bad("the file has no document of ISO 20022");
        self.head.ok_or(none)
    }
}

impl Entry {
    /// Takes the text of an element, which has this path below the entry.
    fn take(&mut self, path: &str, text: String, currency: Option<String>) {
        match path {
            "/Sts" | "/Sts/Cd" if !text.trim().is_empty() => self.status = Some(text.trim().to_owned()),
            "/BookgDt/Dt" | "/BookgDt/DtTm" => self.booked = Some(text),
            "/ValDt/Dt" | "/ValDt/DtTm" => self.value = Some(text),
            "/Amt" => self.own.amount = currency.map(|currency| (text, currency)),
            "/CdtDbtInd" => self.own.direction = direction(&text),
            "/AcctSvcrRef" => {
                self.own.refer(&text);
                self.own.entry = kept(&text);
            }
            "/NtryRef" => self.own.refer(&text),
            "/AddtlNtryInf" => self.own.text = kept(&text),
            _ => {
                if let (Some(part), Some((_, name))) = (&mut self.open, path.split_once("/TxDtls")) {
                    part.take(name, text, currency);
                }
            }
        }
    }
}

impl Part {
    /// Takes the text of an element, which has this path below the transaction.
    fn take(&mut self, path: &str, text: String, currency: Option<String>) {
        match path {
            // Of a converted amount, what was booked counts, and not what was instructed.
            "/Amt" => self.amount = currency.map(|currency| (text, currency)),
            "/AmtDtls/TxAmt/Amt" if self.amount.is_none() => self.amount = currency.map(|currency| (text, currency)),
            "/CdtDbtInd" => self.direction = direction(&text),
            "/Refs/AcctSvcrRef" => {
                self.refer(&text);
                self.entry = kept(&text);
            }
            // What is remitted with it is no reference: whoever is paid, or pays, may have written it.
            "/Refs/EndToEndId" | "/Refs/TxId" | "/Refs/InstrId" | "/Refs/UETR" | "/Refs/ClrSysRef" => self.refer(&text),
            "/RltdPties/CdtrAcct/Id/IBAN" | "/RltdPties/CdtrAcct/Id/Othr/Id" => self.creditor = kept(&text),
            "/RltdPties/DbtrAcct/Id/IBAN" | "/RltdPties/DbtrAcct/Id/Othr/Id" => self.debtor = kept(&text),
            "/RmtInf/Ustrd" | "/AddtlTxInf" if self.text.is_none() => self.text = kept(&text),
            _ => {}
        }
    }

    fn refer(&mut self, text: &str) {
        let text = kept(text).filter(|text| text != "NOTPROVIDED" && !self.references.contains(text));
        self.references.extend(text.filter(|_| self.references.len() < REFERENCES_MAX));
    }
}

fn direction(text: &str) -> Option<Direction> {
    match text.trim() {
        "DBIT" => Some(Direction::Outgoing),
        "CRDT" => Some(Direction::Incoming),
        _ => None,
    }
}
