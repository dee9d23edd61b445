//! What a receipt shows to people, in any medium: a page, a PDF, lines of text.
//!
//! Nothing here is signed, but nothing is left out that would change the meaning of what is: amounts keep all their
//! digits, times their seconds. Text by others is [tamed](Row::value).

use std::borrow::Cow;

use super::Receipt;
use crate::lifecycle::SettlementStatus;
use crate::money::grouped;
use crate::time::parse_rfc3339;

/// What kind of document it is.
pub const TITLE: &str = "Payment receipt";
/// The notice on every sandbox receipt.
pub const SANDBOX: &str = "Sandbox: no money was moved.";
/// Above the code and the signed receipt.
pub const CHECK: &str = "Check this receipt";
/// The explanation of the code and the signed receipt.
pub const HOW: &str = "This is the signed receipt, a JWS (ES256); the code holds the same. Any JOSE library checks it, also \
                       offline, with the issuer's keys at /.well-known/jwks.json.";
/// Replaces [`HOW`] if there is no code because the signed receipt is too long for one.
pub const HOW_WITHOUT_CODE: &str = "This is the signed receipt, a JWS (ES256). Any JOSE library checks it, also offline, with the \
                                    issuer's keys at /.well-known/jwks.json.";

/// What is to be seen first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading<'a> {
    /// The amount that the payee got, its digits in groups of three: `1,234,567.890`.
    pub amount: String,
    /// ISO 4217 code.
    pub currency: &'a str,
    /// Where the settlement stands, in a few words.
    pub status: &'static str,
    /// The colour for it.
    pub tone: Tone,
    /// It stands for no money: [`SANDBOX`] must be seen.
    pub sandbox: bool,
    /// Who says all this: the gateway's public address, `railgate` where it has none.
    pub issuer: Cow<'a, str>,
}

/// How a status is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The payee has the whole amount.
    Paid,
    /// A part of it was reversed.
    Partly,
    /// All of it was reversed or returned.
    Back,
}

impl Tone {
    /// Its name, as a CSS class.
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
    /// The value, for people. In text by others, characters that would affect the text around it (control characters, those
    /// that switch the direction of writing) are replaced; letters of right-to-left scripts are kept.
    pub value: Cow<'a, str>,
    /// The kind of value.
    pub kind: Kind,
    /// The part of the receipt that it belongs to.
    pub part: Part,
}

/// The kind of value in a [`Row`]: how it is written, and where it may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An amount with its currency, or a time: short, and our own text.
    Plain,
    /// An id, a reference, an address: every character counts.
    Code,
    /// Free text in any script and direction, **not signed**.
    Words,
}

/// A part of a receipt, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Who paid what to whom, and when.
    Payment,
    /// What is needed to look it up.
    Record,
}

impl Part {
    /// Its headline, in English.
    pub fn title(self) -> &'static str {
        match self {
            Self::Payment => "Payment",
            Self::Record => "For the records",
        }
    }
}

impl Receipt {
    /// What is to be seen first.
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

    /// The lines of the receipt, those of a part together.
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

/// `21 November 2026, 10:38:17 UTC`. Text that is no time is returned unchanged.
fn readable(time: &str) -> String {
    parse_rfc3339(time).and_then(crate::time::readable).unwrap_or_else(|| tame(time).into_owned())
}

/// Text by others without characters that affect the text around it: control characters, and those that switch the
/// direction of writing. Letters of right-to-left scripts are kept.
pub(super) fn tame(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}');
    if text.contains(acts) { Cow::Owned(text.replace(acts, "\u{fffd}")) } else { Cow::Borrowed(text) }
}
