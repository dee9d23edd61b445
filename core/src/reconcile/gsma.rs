//! Statement entries of the GSMA Mobile Money API, as a JSON array.

use std::cell::RefCell;
use std::fmt;
use std::io::BufRead;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};

use super::bounded::{Bounded, Progress};
use super::settings::Settings;
use super::{Each, Head, kept, text, unusable};
use crate::error::{Error, Result, excerpt};
use crate::lifecycle::Direction;
use crate::money::Currency;
use crate::store::record::{StatementFormat, StatementLine};

/// An entry, as far as it matters here. Further members are allowed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    transaction_reference: String,
    transaction_status: String,
    amount: String,
    currency: String,
    #[serde(default)]
    debit_party: Vec<Pair>,
    #[serde(default)]
    credit_party: Vec<Pair>,
    #[serde(default)]
    custom_data: Vec<Pair>,
    transaction_receipt: Option<String>,
    description_text: Option<String>,
    creation_date: Option<String>,
    modification_date: Option<String>,
    request_date: Option<String>,
    date_created: Option<String>,
    date_modified: Option<String>,
}

#[derive(Deserialize)]
struct Pair {
    key: String,
    value: String,
}

pub(super) fn read(source: &mut dyn BufRead, settings: &Settings, each: Each<'_>) -> Result<Head> {
    let Some(account) = &settings.account else {
        let said = "to read entries of the GSMA's API, the provider's settings must have the gateway's account there";
        return Err(unusable("/settings/statement_account", said));
    };
    let (bounded, progress) = Bounded::new(source);
    let refused = RefCell::new(None);
    let entries = Entries { account, progress: &progress, refused: &refused, each, head: Head::new(StatementFormat::Gsma) };
    let mut reader = serde_json::Deserializer::from_reader(bounded);
    let read = reader.deserialize_seq(entries).and_then(|head| reader.end().map(|()| head));
    read.map_err(|error| {
        let place =
            if error.is_io() { format!("byte {}", progress.at()) } else { format!("line {}, column {}", error.line(), error.column()) };
        refused.take().unwrap_or_else(|| unusable(place, format!("it is not an array of statement entries: {error}")))
    })
}

struct Entries<'a> {
    account: &'a str,
    progress: &'a Progress,
    refused: &'a RefCell<Option<Error>>,
    each: Each<'a>,
    head: Head,
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = Head;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of statement entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut entries: A) -> std::result::Result<Head, A::Error> {
        let mut n = 0;
        loop {
            self.progress.token();
            let Some(entry) = entries.next_element::<Entry>()? else { return Ok(self.head) };
            n += 1;
            let line = line(&entry, n, self.account);
            let line = line.map_err(|(member, said)| unusable(format!("/{}/{member}", n - 1), said));
            // An error of this crate goes around the reader, which knows only its own.
            if let Err(error) = line.and_then(|line| self.head.take(line, &mut *self.each)) {
                self.refused.replace(Some(error));
                return Err(A::Error::custom("refused"));
            }
        }
    }
}

/// An entry as a line; `None` if it does not count.
fn line(entry: &Entry, line: u64, account: &str) -> std::result::Result<Option<StatementLine>, (&'static str, String)> {
    if !entry.transaction_status.eq_ignore_ascii_case("completed") {
        return Ok(None);
    }
    let code = entry.currency.trim();
    let currency = Currency::from_code(code).ok_or_else(|| ("currency", format!("{:?} is not an ISO 4217 code", excerpt(code))))?;
    let amount = text::amount(&entry.amount, currency, '.').map_err(|said| ("amount", said))?;
    if amount == 0 {
        return Ok(None);
    }
    let is_ours = |party: &[Pair]| party.iter().any(|it| super::matching::plain(&it.value) == super::matching::plain(account));
    let (direction, other) = match (is_ours(&entry.debit_party), is_ours(&entry.credit_party)) {
        (true, false) => (Direction::Outgoing, &entry.credit_party),
        (false, true) => (Direction::Incoming, &entry.debit_party),
        (true, true) | (false, false) => {
            return Err(("debitParty", format!("exactly one party must be the account {account:?} of statement_account")));
        }
    };
    let dates = [&entry.creation_date, &entry.date_created, &entry.modification_date, &entry.date_modified, &entry.request_date];
    let date = dates.into_iter().flatten().next().ok_or(("creationDate", "is required".to_owned()))?;
    let (at, whole_day) = text::iso_time(date, 0).map_err(|said| ("creationDate", said))?;
    let wanted = |it: &&Pair| ["msisdn", "iban", "accountid", "walletid"].contains(&it.key.to_ascii_lowercase().as_str());
    let participant = other.iter().find(wanted).or_else(|| other.first());
    // The description is no reference: whoever is paid, or pays, may have written it.
    let references = [Some(&entry.transaction_reference), entry.transaction_receipt.as_ref()];
    let references = references.into_iter().flatten().chain(entry.custom_data.iter().map(|it| &it.value).take(2));
    Ok(Some(StatementLine {
        line,
        direction: if amount > 0 { direction } else { direction.opposite() },
        amount: amount.checked_abs().ok_or(("amount", "is too large".to_owned()))?,
        currency,
        at,
        whole_day,
        references: references.filter_map(|it| kept(it)).collect(),
        participant: participant.and_then(|it| kept(&it.value)),
        entry: kept(&entry.transaction_reference),
        text: entry.description_text.as_deref().and_then(kept),
    }))
}
