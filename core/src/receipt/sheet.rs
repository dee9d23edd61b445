//! What a receipt shows to people, in any medium: a page, a PDF, lines of text.
//!
//! ```
//! use railgate::receipt::sheet::{Part, SANDBOX, TITLE};
//! # use std::sync::Arc;
//! # use railgate::{Config, Gateway, api::CreateRequest, env::ManualEnv, seal::MasterKeys, store::memory::MemoryStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let config = Config { master: Some(Arc::new(MasterKeys::generate(1, [7; 32]))), ..Config::sandbox() };
//! # let (store, env) = (Arc::new(MemoryStore::new()), Arc::new(ManualEnv::new(1_795_257_497_042, 1)));
//! # let gateway = Gateway::open_with(store, env, config)?;
//! # let enrolled = gateway.enroll("Shop")?;
//! # let shop = gateway.client(&enrolled);
//! # shop.create(CreateRequest::new("1250.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?))?;
//! # gateway.work()?;
//! let receipt = shop.receipt("inv-1")?;
//!
//! let heading = receipt.heading();
//! let mut lines = vec![TITLE.to_owned(), format!("{} {}: {}", heading.amount, heading.currency, heading.status)];
//! if heading.sandbox {
//!     lines.push(SANDBOX.to_owned());
//! }
//! for row in receipt.rows().into_iter().filter(|row| row.part == Part::Payment) {
//!     lines.push(format!("{}: {}", row.name, row.value));
//! }
//! assert_eq!(lines[1], "1,250.50 EUR: Paid");
//! assert!(lines.contains(&"Settled: 21 November 2026, 10:38:17 UTC".to_owned()));
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here is signed, but nothing is omitted that would change the meaning of the signed content: amounts keep all their
//! digits, times their seconds. Text by others is [tamed](Row::value).

use std::borrow::Cow;

use super::Receipt;
use crate::lifecycle::SettlementStatus;
use crate::money::grouped;
use crate::time::parse_rfc3339;

/// The title of the document.
pub const TITLE: &str = "Payment receipt";
/// The notice on every sandbox receipt.
pub const SANDBOX: &str = "Sandbox: no money was moved.";
/// The headline above the code and the signed receipt.
pub const CHECK: &str = "Check this receipt";
/// The explanation of the code and the signed receipt.
pub const HOW: &str = "This is the signed receipt, a JWS (ES256); the code holds the same. Any JOSE library checks it, also \
                       offline, with the issuer's keys at /.well-known/jwks.json.";
/// Replaces [`HOW`] if there is no code because the signed receipt is too long for one.
pub const HOW_WITHOUT_CODE: &str = "This is the signed receipt, a JWS (ES256). Any JOSE library checks it, also offline, with the \
                                    issuer's keys at /.well-known/jwks.json.";

/// The most prominent part of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading<'a> {
    /// The amount that the payee received, with its digits in groups of three: `1,234,567.890`.
    pub amount: String,
    /// The ISO 4217 code of the currency.
    pub currency: &'a str,
    /// The status of the settlement, in a few words.
    pub status: &'static str,
    /// The colour for the status.
    pub tone: Tone,
    /// Whether it represents no money: [`SANDBOX`] must then be visible.
    pub sandbox: bool,
    /// The issuer: the gateway's public address, or `railgate` if it has none.
    pub issuer: Cow<'a, str>,
}

/// The colour scheme of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The payee has the whole amount.
    Paid,
    /// Part of it was reversed.
    Partly,
    /// All of it was reversed or returned.
    Back,
}

impl Tone {
    /// The CSS class of the tone.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Partly => "partly",
            Self::Back => "back",
        }
    }
}

/// One line of a receipt: a name and a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// The name, in English.
    pub name: &'static str,
    /// The value, for people. In text by others, characters that would affect the surrounding text (control characters, and those
    /// that change the writing direction) are replaced; letters of right-to-left scripts are kept.
    pub value: Cow<'a, str>,
    /// The kind of value.
    pub kind: Kind,
    /// The part of the receipt that it belongs to.
    pub part: Part,
}

/// The kind of value in a [`Row`]: how to show it, and where it may be wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An amount with its currency, or a time: short, and our own text.
    Plain,
    /// An id, a reference or an address: every character matters.
    Code,
    /// Free text in any script and direction, **not signed**.
    Words,
}

/// A part of a receipt, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Who paid what to whom, and when.
    Payment,
    /// What is needed to look up the payment.
    Record,
}

impl Part {
    /// The part's headline, in English.
    pub fn title(self) -> &'static str {
        match self {
            Self::Payment => "Payment",
            Self::Record => "For the records",
        }
    }
}

impl Receipt {
    /// The most prominent part of the receipt.
    pub fn heading(&self) -> Heading<'_> {
        let claims = &self.claims;
        let (status, tone) = status(claims.status);
        Heading {
            amount: grouped(&claims.amt),
            currency: &claims.cur,
            status,
            tone,
            sandbox: claims.env == "sandbox",
            issuer: tame(&claims.iss),
        }
    }

    /// The lines of the receipt, grouped by part.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let claims = &self.claims;
        let mut rows = Vec::with_capacity(13);
        let mut add = |part, name, kind, value| rows.push(Row { name, value, kind, part });
        let money = |amount: &str| Cow::Owned(format!("{} {}", grouped(amount), claims.cur));
        add(Part::Payment, "Settled", Kind::Plain, Cow::Owned(readable(&claims.settled_at)));
        add(Part::Payment, "From", Kind::Code, tame(&claims.from));
        add(Part::Payment, "To", Kind::Code, tame(&claims.to));
        add(Part::Payment, "Reference", Kind::Code, tame(&claims.reference));
        if let Some(description) = &self.description {
            add(Part::Payment, "Description", Kind::Words, Cow::Owned(tame(&description.replace(['\n', '\t'], " ")).into_owned()));
        }
        add(Part::Payment, "Fee", Kind::Plain, money(&claims.fee));
        if claims.rev.bytes().any(|digit| matches!(digit, b'1'..=b'9')) {
            add(Part::Payment, "Given back", Kind::Plain, money(&claims.rev));
        }
        add(Part::Record, "Provider", Kind::Code, tame(&claims.provider));
        if let Some(reference) = &claims.rail_ref {
            add(Part::Record, "Rail reference", Kind::Code, tame(reference));
        }
        add(Part::Record, "Settlement", Kind::Code, tame(&claims.sub));
        add(Part::Record, "Receipt", Kind::Code, tame(&claims.jti));
        if let Some(before) = &claims.supersedes {
            add(Part::Record, "Replaces", Kind::Code, tame(before));
        }
        add(Part::Record, "Issuer", Kind::Code, tame(&claims.iss));
        rows
    }
}

fn status(status: SettlementStatus) -> (&'static str, Tone) {
    match status {
        SettlementStatus::Completed => ("Paid", Tone::Paid),
        SettlementStatus::PartiallyReversed => ("Paid, a part of it given back", Tone::Partly),
        SettlementStatus::Reversed => ("Paid and given back in full", Tone::Back),
        SettlementStatus::Returned => ("Paid and returned by the provider", Tone::Back),
        SettlementStatus::Accepted
        | SettlementStatus::Submitted
        | SettlementStatus::Unknown
        | SettlementStatus::Failed
        | SettlementStatus::Cancelled => ("Not paid", Tone::Back),
    }
}

/// `21 November 2026, 10:38:17 UTC`. Text that is not a time is returned unchanged.
fn readable(time: &str) -> String {
    parse_rfc3339(time).and_then(crate::time::readable).unwrap_or_else(|| tame(time).into_owned())
}

/// Removes characters from text by others that would affect the surrounding text: control characters, and those that change the
/// writing direction. Letters of right-to-left scripts are kept.
pub(crate) fn tame(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}');
    if text.contains(acts) { Cow::Owned(text.replace(acts, "\u{fffd}")) } else { Cow::Borrowed(text) }
}
