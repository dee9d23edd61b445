//! The payee of a payment, and the client's reference for it: two texts that exist only in canonical form.
//!
//! ```
//! use railgate::participant::{Namespace, Participant, ParticipantError, Reference, ReferenceError};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let payee: Participant = "msisdn:(49)151-12345678".parse()?;
//! assert_eq!((payee.as_str(), payee.namespace()), ("msisdn:+4915112345678", Namespace::Msisdn));
//! // For logs.
//! assert_eq!(format!("{payee:?}"), "msisdn:***5678");
//!
//! // A typing error in an IBAN is found before any money moves.
//! assert!(Participant::parse("iban:DE89370400440532013000").is_ok());
//! assert_eq!(Participant::parse("iban:DE89370400440532013001"), Err(ParticipantError::IbanCheckDigits));
//!
//! assert_eq!("invoice 1".parse::<Reference>(), Err(ReferenceError::Malformed));
//! # Ok(())
//! # }
//! ```
//!
//! A [`Participant`] is `namespace:identifier`, validated and normalised by the rules of its namespace: ITU-T E.164 for telephone
//! numbers, ISO 13616 for IBANs, RFC 5321 for mail addresses. Two participants are the same exactly if their texts are equal.

use std::fmt;
use std::str::FromStr;

use smol_str::SmolStr;

use crate::error::Params;

macro_rules! namespaces {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The kind of a participant's identifier, which determines the rails that can reach it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Namespace { $($(#[$doc])* $variant,)* }

        impl Namespace {
            /// All namespaces.
            pub const ALL: &'static [Namespace] = &[$(Namespace::$variant,)*];

            /// The wire name.
            pub fn as_str(self) -> &'static str { match self { $(Self::$variant => $name,)* } }

            /// The namespace with this wire name.
            #[expect(clippy::should_implement_trait, reason = "an unknown name is an ordinary answer, not an error")]
            pub fn from_str(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

namespaces! {
    /// A telephone number, E.164: `msisdn:+4915112345678`.
    Msisdn = "msisdn",
    /// An international bank account number, ISO 13616, upper case: `iban:DE89370400440532013000`.
    Iban = "iban",
    /// An account number assigned by the provider.
    Acct = "acct",
    /// A wallet number assigned by the provider.
    Wallet = "wallet",
    /// A name that the provider resolves.
    Alias = "alias",
    /// A mail address, with its domain in lower case.
    Email = "email",
    /// A merchant or biller number.
    Business = "business",
    /// A device, such as a terminal.
    Device = "device",
    /// Another client of this gateway, paid on the books, without a rail.
    Participant = "participant",
    /// A scenario of the simulator, in the sandbox only.
    Sim = "sim",
}

/// Why a text is not a participant. The message describes a valid one and contains no personal data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParticipantError {
    /// It is not `namespace:identifier`.
    #[error("must be namespace:identifier; the namespace is 1 to 32 of a-z, 0-9, '.', '_', '-' and begins with a letter")]
    Malformed,
    /// The identifier is empty or longer than 128 characters.
    #[error("the identifier after the colon must have 1 to 128 characters")]
    Length,
    /// The identifier has a forbidden character.
    #[error("the identifier must have no white space, no control characters and none of '/', '?', '#'")]
    Characters,
    /// It is well formed, but its namespace is unknown.
    #[error("the namespace '{0}' is not known; there are {known}", known = known_namespaces())]
    UnknownNamespace(String),
    /// It is not an E.164 telephone number.
    #[error("must be an E.164 number: '+', the country code and the number, 7 to 15 digits that do not begin with 0")]
    Msisdn,
    /// The number has a trunk prefix: whether its 0 belongs to the number depends on the country.
    #[error("must be written without the trunk prefix '(0)': country code and number only")]
    MsisdnTrunk,
    /// It does not have the form of an IBAN.
    #[error("must be an IBAN: two letters, two check digits, then letters and digits, without spaces")]
    Iban,
    /// The country has no IBANs.
    #[error("'{0}' is not a country of the ISO 13616 registry, so this is no IBAN")]
    IbanCountry(String),
    /// It is too long or too short for its country.
    #[error("an IBAN of {country} has {expected} characters, this one has {found}")]
    IbanLength {
        /// The country, ISO 3166-1 alpha-2.
        country: &'static str,
        /// The length according to the registry.
        expected: u8,
        /// The actual length.
        found: usize,
    },
    /// The check digits do not match, because of a typing error.
    #[error("the IBAN's check digits do not fit: a character is wrong or two are swapped")]
    IbanCheckDigits,
    /// It does not have the form of a mail address.
    #[error("must be a mail address such as name@example.com; a domain with other letters is written in its xn-- form")]
    Email,
    /// It is not the name of a simulator scenario.
    #[error("must be the name of a simulator scenario such as sim:ok: a-z, 0-9, '_' and '-'")]
    Scenario,
}

impl ParticipantError {
    /// The stable code of the field problem.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownNamespace(_) => "participant_unknown_namespace",
            Self::Malformed
            | Self::Length
            | Self::Characters
            | Self::Msisdn
            | Self::MsisdnTrunk
            | Self::Iban
            | Self::IbanCountry(_)
            | Self::IbanLength { .. }
            | Self::IbanCheckDigits
            | Self::Email
            | Self::Scenario => "participant_malformed",
        }
    }
}

impl ParticipantError {
    /// The values in the message, with a hint where several reasons have the same code.
    pub(crate) fn params(&self) -> Params {
        let hint = match self {
            Self::Length => return Params::one("max", format!("{IDENTIFIER_MAX_CHARS}")),
            Self::UnknownNamespace(namespace) => return Params::one("namespace", namespace.clone()),
            Self::Malformed | Self::Characters | Self::Scenario => return Params::default(),
            Self::IbanCountry(_) => "iban_country",
            Self::IbanLength { .. } => "iban_length",
            Self::Msisdn => "msisdn",
            Self::MsisdnTrunk => "msisdn_trunk",
            Self::Iban => "iban",
            Self::IbanCheckDigits => "iban_check",
            Self::Email => "email",
        };
        let params = Params::one("hint", hint.to_owned());
        match self {
            Self::IbanCountry(country) => params.and("country", country.clone()),
            Self::IbanLength { country, expected, found } => {
                params.and("country", (*country).to_owned()).and("length", format!("{expected}")).and("found", format!("{found}"))
            }
            _ => params,
        }
    }
}

fn known_namespaces() -> String {
    Namespace::ALL.iter().map(|namespace| namespace.as_str()).collect::<Vec<_>>().join(", ")
}

const IDENTIFIER_MAX_CHARS: usize = 128;

/// The payee of a settlement: `namespace:identifier` in canonical form.
///
/// `Debug` shows the masked form, so that no participant gets into a log by accident.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Participant {
    text: SmolStr,
    namespace: Namespace,
}

impl Participant {
    /// Parses `^[a-z][a-z0-9._-]{0,31}:[^\s/?#]{1,128}$` and converts it to canonical form.
    ///
    /// # Errors
    /// The first check that fails, as a [`ParticipantError`].
    pub fn parse(text: &str) -> Result<Self, ParticipantError> {
        let (prefix, identifier) = text.split_once(':').ok_or(ParticipantError::Malformed)?;
        if !is_namespace(prefix) {
            return Err(ParticipantError::Malformed);
        }
        check_identifier(identifier)?;
        let namespace = Namespace::from_str(prefix).ok_or_else(|| ParticipantError::UnknownNamespace(prefix.to_owned()))?;
        let mut canonical = String::with_capacity(text.len() + 1);
        canonical.push_str(prefix);
        canonical.push(':');
        match namespace {
            Namespace::Msisdn => push_msisdn(&mut canonical, identifier)?,
            Namespace::Iban => push_iban(&mut canonical, identifier)?,
            Namespace::Email => push_email(&mut canonical, identifier)?,
            Namespace::Sim => {
                if !identifier.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')) {
                    return Err(ParticipantError::Scenario);
                }
                canonical.push_str(identifier);
            }
            Namespace::Acct | Namespace::Wallet | Namespace::Alias | Namespace::Business | Namespace::Device | Namespace::Participant => {
                canonical.push_str(identifier)
            }
        }
        Ok(Self { text: canonical.into(), namespace })
    }

    /// Restores an earlier result of [`Participant::as_str`]. The text is trusted, so that stricter rules in a later version do not
    /// make old records unreadable. `None` only if its namespace is unknown.
    pub fn from_stored(text: String) -> Option<Self> {
        let namespace = text.split_once(':').and_then(|(prefix, _)| Namespace::from_str(prefix))?;
        Some(Self { text: text.into(), namespace })
    }

    /// The canonical text, `namespace:identifier`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The canonical text, shared.
    pub(crate) fn text(&self) -> SmolStr {
        self.text.clone()
    }

    /// The part before the colon.
    pub fn namespace(&self) -> Namespace {
        self.namespace
    }

    /// The part after the colon.
    pub fn identifier(&self) -> &str {
        self.text.get(self.namespace.as_str().len() + 1..).unwrap_or_default()
    }

    /// The masked form, for logs and for people who may not see the whole: the namespace and the last characters, as in
    /// `iban:***3000`. Shows four characters of a long identifier, two of a short one, none of one with fewer than six.
    pub fn masked(&self) -> String {
        let identifier = self.identifier();
        let length = identifier.chars().count();
        let shown = match length {
            0..6 => 0,
            6..12 => 2,
            _ => 4,
        };
        let tail: String = identifier.chars().skip(length - shown).collect();
        format!("{}:***{tail}", self.namespace.as_str())
    }
}

impl FromStr for Participant {
    type Err = ParticipantError;

    fn from_str(text: &str) -> Result<Self, ParticipantError> {
        Self::parse(text)
    }
}

impl fmt::Debug for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

fn is_namespace(text: &str) -> bool {
    text.len() <= 32
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
}

fn check_identifier(identifier: &str) -> Result<(), ParticipantError> {
    let mut length = 0;
    for c in identifier.chars() {
        length += 1;
        if length > IDENTIFIER_MAX_CHARS {
            return Err(ParticipantError::Length);
        }
        if c.is_whitespace() || c.is_control() || matches!(c, '/' | '?' | '#') {
            return Err(ParticipantError::Characters);
        }
    }
    if length == 0 { Err(ParticipantError::Length) } else { Ok(()) }
}

/// E.164: 7 to 15 digits, the first not 0. A leading `+` and common separators between digits are dropped.
fn push_msisdn(out: &mut String, identifier: &str) -> Result<(), ParticipantError> {
    let number = identifier.strip_prefix('+').unwrap_or(identifier);
    if number.contains("(0)") {
        return Err(ParticipantError::MsisdnTrunk);
    }
    let begins = number.starts_with(|c: char| c.is_ascii_digit() || c == '(');
    let ends = number.ends_with(|c: char| c.is_ascii_digit() || c == ')');
    if !begins || !ends {
        return Err(ParticipantError::Msisdn);
    }
    out.push('+');
    let mut digits = 0;
    for c in number.chars() {
        match c {
            '0' if digits == 0 => return Err(ParticipantError::Msisdn),
            '0'..='9' => {
                digits += 1;
                out.push(c);
            }
            '-' | '.' | '(' | ')' => {}
            _ => return Err(ParticipantError::Msisdn),
        }
    }
    if (7..=15).contains(&digits) { Ok(()) } else { Err(ParticipantError::Msisdn) }
}

/// ISO 13616: known country, correct length, check digits by ISO 7064 MOD 97-10.
fn push_iban(out: &mut String, identifier: &str) -> Result<(), ParticipantError> {
    let bytes = identifier.as_bytes();
    let shaped =
        matches!(bytes, [a, b, c, d, ..] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() && c.is_ascii_digit() && d.is_ascii_digit());
    if !shaped || !bytes.iter().all(u8::is_ascii_alphanumeric) {
        return Err(ParticipantError::Iban);
    }
    let start = out.len();
    out.extend(identifier.chars().map(|c| c.to_ascii_uppercase()));
    let iban = out.get(start..).unwrap_or_default();
    let country = iban.get(..2).unwrap_or_default();
    let (country, expected) = IBAN_LENGTHS
        .binary_search_by_key(&country, |(code, _)| code)
        .ok()
        .and_then(|at| IBAN_LENGTHS.get(at).copied())
        .ok_or_else(|| ParticipantError::IbanCountry(country.to_owned()))?;
    if bytes.len() != usize::from(expected) {
        return Err(ParticipantError::IbanLength { country, expected, found: bytes.len() });
    }
    // 00, 01 and 99 can satisfy the check but are never issued: check digits are 98 minus a remainder of 0 to 96.
    let issued = !matches!(iban.get(2..4), Some("00" | "01" | "99"));
    let (head, tail) = iban.as_bytes().split_at(4);
    let remainder = tail.iter().chain(head).fold(0u32, |sum, byte| match byte {
        b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
        letter => (sum * 100 + u32::from(letter - b'A') + 10) % 97,
    });
    if issued && remainder == 1 { Ok(()) } else { Err(ParticipantError::IbanCheckDigits) }
}

/// A mail address in common form: RFC 5321 without quoted local parts and address literals.
fn push_email(out: &mut String, identifier: &str) -> Result<(), ParticipantError> {
    let (local, domain) = identifier.rsplit_once('@').ok_or(ParticipantError::Email)?;
    let local_fits = !local.is_empty()
        && local.len() <= 64
        && !local.contains(['@', '"', '(', ')', ',', ':', ';', '<', '>', '[', ']', '\\'])
        && local.split('.').all(|atom| !atom.is_empty());
    let label_fits = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let domain_fits = domain.split('.').count() >= 2
        && domain.split('.').all(label_fits)
        && !domain.rsplit('.').next().is_some_and(|top| top.bytes().all(|b| b.is_ascii_digit()));
    if !local_fits || !domain_fits {
        return Err(ParticipantError::Email);
    }
    out.push_str(local);
    out.push('@');
    out.extend(domain.chars().map(|c| c.to_ascii_lowercase()));
    Ok(())
}

/// The countries of the ISO 13616 registry (SWIFT's IBAN Registry, release 102 of June 2026) with the
/// length of their IBANs, sorted by country.
#[rustfmt::skip]
const IBAN_LENGTHS: &[(&str, u8)] = &[
    ("AD", 24), ("AE", 23), ("AL", 28), ("AT", 20), ("AZ", 28), ("BA", 20), ("BE", 16), ("BG", 22), ("BH", 22), ("BI", 27),
    ("BR", 29), ("BY", 28), ("CH", 21), ("CR", 22), ("CY", 28), ("CZ", 24), ("DE", 22), ("DJ", 27), ("DK", 18), ("DO", 28),
    ("EE", 20), ("EG", 29), ("ES", 24), ("FI", 18), ("FK", 18), ("FO", 18), ("FR", 27), ("GB", 22), ("GE", 22), ("GI", 23),
    ("GL", 18), ("GR", 27), ("GT", 28), ("HN", 28), ("HR", 21), ("HU", 28), ("IE", 22), ("IL", 23), ("IQ", 23), ("IS", 26),
    ("IT", 27), ("JO", 30), ("KW", 30), ("KZ", 20), ("LB", 28), ("LC", 32), ("LI", 21), ("LT", 20), ("LU", 20), ("LV", 21),
    ("LY", 25), ("MC", 27), ("MD", 24), ("ME", 22), ("MK", 19), ("MN", 20), ("MR", 27), ("MT", 31), ("MU", 30), ("NI", 28),
    ("NL", 18), ("NO", 15), ("OM", 23), ("PK", 24), ("PL", 28), ("PS", 29), ("PT", 25), ("QA", 29), ("RO", 24), ("RS", 22),
    ("RU", 33), ("SA", 24), ("SC", 31), ("SD", 18), ("SE", 24), ("SI", 19), ("SK", 24), ("SM", 27), ("SO", 23), ("ST", 25),
    ("SV", 28), ("TL", 23), ("TN", 24), ("TR", 26), ("UA", 29), ("VA", 22), ("VG", 24), ("XK", 20), ("YE", 30),
];

/// Why a text is not a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// It does not match `[A-Za-z0-9._-]{1,64}`.
    #[error("must be 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-'")]
    Malformed,
    /// It would have another meaning in a path.
    #[error("must not begin with stl_, and not be check, batch, quote, export, '.' or '..': paths use these")]
    Reserved,
}

impl ReferenceError {
    /// The stable code of the field problem.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed => "reference_malformed",
            Self::Reserved => "reference_reserved",
        }
    }
}

impl ReferenceError {
    /// The values in the message.
    pub(crate) fn params(&self) -> Params {
        Params::one("max", format!("{REFERENCE_MAX_CHARS}"))
    }
}

const REFERENCE_MAX_CHARS: usize = 64;

/// The client's reference for a settlement or a reversal, which is also its idempotency key. Unique per client for ever.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference(SmolStr);

impl Reference {
    /// Parses `[A-Za-z0-9._-]{1,64}`, except texts that API paths use.
    ///
    /// # Errors
    /// [`ReferenceError::Malformed`] and [`ReferenceError::Reserved`]. The dot segments of RFC 3986 section 3.3 are reserved too:
    /// URL libraries remove them from a path, so the record could not be addressed.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let fits = (1..=REFERENCE_MAX_CHARS).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if !fits {
            return Err(ReferenceError::Malformed);
        }
        if text.starts_with("stl_") || matches!(text, "check" | "batch" | "quote" | "export" | "." | "..") {
            return Err(ReferenceError::Reserved);
        }
        Ok(Self(text.into()))
    }

    /// Restores an earlier result of [`Reference::as_str`], which is trusted.
    pub fn from_stored(text: String) -> Self {
        Self(text.into())
    }

    /// The text, exactly as the client wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// [`Reference::as_str`], shared.
    pub(crate) fn text(&self) -> SmolStr {
        self.0.clone()
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canonical(text: &str) -> String {
        Participant::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).as_str().to_owned()
    }

    fn refused(text: &str) -> ParticipantError {
        Participant::parse(text).err().unwrap_or_else(|| panic!("{text:?} was accepted"))
    }

    #[test]
    fn each_namespace_has_its_canonical_form() {
        for (given, expected) in [
            ("msisdn:+254712345678", "msisdn:+254712345678"),
            ("msisdn:254712345678", "msisdn:+254712345678"),
            ("msisdn:+1-202-555-0100", "msisdn:+12025550100"),
            ("msisdn:+1(202)555.0100", "msisdn:+12025550100"),
            ("msisdn:(1)2025550100", "msisdn:+12025550100"),
            ("msisdn:1234567", "msisdn:+1234567"),
            ("iban:DE89370400440532013000", "iban:DE89370400440532013000"),
            ("iban:gb29nwbk60161331926819", "iban:GB29NWBK60161331926819"),
            ("email:Jane.Doe@EXAMPLE.Com", "email:Jane.Doe@example.com"),
            ("email:a+b@xn--bcher-kva.example", "email:a+b@xn--bcher-kva.example"),
            ("sim:decline-recipient_not_found", "sim:decline-recipient_not_found"),
            ("acct:00-12:34", "acct:00-12:34"),
            ("wallet:W.1", "wallet:W.1"),
            ("alias:Žofie", "alias:Žofie"),
            ("business:600100", "business:600100"),
            ("device:pos_7", "device:pos_7"),
            ("participant:shop", "participant:shop"),
        ] {
            assert_eq!(canonical(given), expected);
            let stored = Participant::from_stored(expected.to_owned()).unwrap();
            assert_eq!(stored, Participant::parse(given).unwrap());
            assert_eq!(format!("{}:{}", stored.namespace().as_str(), stored.identifier()), expected);
        }
    }

    #[test]
    fn the_grammar_is_that_of_the_contract() {
        for text in ["", ":", ":x", "msisdn", "Msisdn:+254712345678", "1acct:x", "-a:x", "a b:x", "ácct:x", "acct :1"] {
            assert_eq!(refused(text), ParticipantError::Malformed, "{text:?}");
        }
        assert_eq!(refused(&format!("{}:x", "a".repeat(33))), ParticipantError::Malformed);
        assert_eq!(refused(&format!("{}:x", "a".repeat(32))).code(), "participant_unknown_namespace");
        for text in ["acct:", &format!("acct:{}", "x".repeat(129)), &format!("acct:{}", "é".repeat(129))] {
            assert_eq!(refused(text), ParticipantError::Length, "{text:?}");
        }
        assert_eq!(canonical(&format!("acct:{}", "é".repeat(128))).chars().count(), 133);
        for c in ['/', '?', '#', ' ', '\t', '\n', '\u{a0}', '\u{2003}', '\0', '\u{7f}', '\u{85}', '\u{1b}'] {
            assert_eq!(refused(&format!("alias:a{c}b")), ParticipantError::Characters, "{c:?}");
        }
        let unknown = refused("bank:1");
        assert_eq!((unknown.code(), unknown.to_string().contains("msisdn, iban, acct")), ("participant_unknown_namespace", true));
    }

    #[test]
    fn telephone_numbers_are_e164() {
        for number in [
            "+",
            "123456",
            "+123456",
            "1234567890123456",
            "+0712345678",
            "0712345678",
            "00254712345678",
            "++254712345678",
            "254712345678+",
            "-254712345678",
            "254712345678-",
            "+254 712",
            "25471234567a",
            "()",
            "٢٥٤٧١٢٣٤٥",
            "(0712)345678",
        ] {
            let error = refused(&format!("msisdn:{number}"));
            assert_eq!(error.code(), "participant_malformed", "{number}");
        }
        assert_eq!(refused("msisdn:+44(0)2079460958"), ParticipantError::MsisdnTrunk);
        assert_eq!(canonical("msisdn:123456789012345"), "msisdn:+123456789012345");
    }

    /// Examples from the registry: one of each format, and some of the newest countries.
    #[test]
    fn ibans_of_the_registry_are_accepted() {
        for iban in [
            "AD1200012030200359100100",
            "AE070331234567890123456",
            "AT611904300234573201",
            "BE68539007547034",
            "BR1800360305000010009795493C1",
            "BY13NBRB3600900000002Z00AB00",
            "CH9300762011623852957",
            "CR05015202001026284066",
            "DE89370400440532013000",
            "DK5000400440116243",
            "EE382200221020145685",
            "ES9121000418450200051332",
            "FI2112345600000785",
            "FR1420041010050500013M02606",
            "GB29NWBK60161331926819",
            "GI75NWBK000000007099453",
            "HU42117730161111101800000000",
            "IE29AIBK93115212345678",
            "IT60X0542811101000000123456",
            "LC55HEMM000100010012001200023015",
            "MT84MALT011000012345MTLCAST001S",
            "NL91ABNA0417164300",
            "NO9386011117947",
            "PL61109010140000071219812874",
            "SA0380000000608010167519",
            "SC18SSCB11010000000000001497USD",
            "SE4550000000058398257466",
            "TR330006100519786457841326",
            "UA213223130000026007233566001",
            "VA59001123000012345678",
            "XK051212012345678906",
        ] {
            assert_eq!(canonical(&format!("iban:{}", iban.to_lowercase())), format!("iban:{iban}"));
        }
        assert_eq!(IBAN_LENGTHS.len(), 89);
        assert!(IBAN_LENGTHS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn ibans_are_refused_for_the_right_reason() {
        use ParticipantError::{Iban, IbanCheckDigits, IbanCountry, IbanLength};
        for (iban, error) in [
            ("DE88370400440532013000", IbanCheckDigits),
            ("DE89370400440532013001", IbanCheckDigits),
            ("DE89370400440532010300", IbanCheckDigits),
            ("DE8937040044053201300", IbanLength { country: "DE", expected: 22, found: 21 }),
            ("DE893704004405320130000", IbanLength { country: "DE", expected: 22, found: 23 }),
            ("US89370400440532013000", IbanCountry("US".to_owned())),
            ("ZZ89", IbanCountry("ZZ".to_owned())),
            ("DE", Iban),
            ("D", Iban),
            ("DEX9370400440532013000", Iban),
            ("DE89-3704-0044-0532-0130-00", Iban),
            ("DE8937040044053201300é", Iban),
            ("1E89370400440532013000", Iban),
        ] {
            assert_eq!(refused(&format!("iban:{iban}")), error, "{iban}");
        }
    }

    /// Adding 97 to the check digits, or subtracting it, does not change the remainder.
    #[test]
    fn check_digits_that_are_never_issued_are_refused() {
        let satisfied: Vec<String> =
            (0..100).map(|n| format!("iban:DE{n:02}000000000000000000")).filter(|t| Participant::parse(t).is_ok()).collect();
        assert_eq!(satisfied.len(), 1, "{satisfied:?}");
        for bban in 0..200 {
            for digits in ["00", "01", "99"] {
                assert!(Participant::parse(&format!("iban:DE{digits}{bban:018}")).is_err());
            }
        }
    }

    #[test]
    fn mail_addresses_have_a_sane_shape() {
        for address in [
            "",
            "a",
            "@example.com",
            "a@",
            "a@b",
            "a@b.",
            "a@.b",
            "a@b..c",
            "a@-b.c",
            "a@b-.c",
            "a@b.1",
            "a@127.0.0.1",
            "a@b_c.d",
            "a@bücher.de",
            ".a@b.c",
            "a.@b.c",
            "a..b@c.d",
            "a@b@c.d",
            "\"a\"@b.c",
            "a<b>@c.d",
            "a@[1.2.3.4]",
        ] {
            assert_eq!(refused(&format!("email:{address}")).code(), "participant_malformed", "{address}");
        }
        assert_eq!(refused(&format!("email:{}@b.c", "a".repeat(65))), ParticipantError::Email);
    }

    #[test]
    fn scenarios_are_lower_case_names() {
        for name in ["OK", "slow 30s", "a.b", "a:b", "é"] {
            assert_eq!(refused(&format!("sim:{name}")).code(), "participant_malformed", "{name}");
        }
        assert_eq!(refused("sim:OK"), ParticipantError::Scenario);
    }

    #[test]
    fn logs_see_only_the_end() {
        for (text, masked) in [
            ("iban:DE89370400440532013000", "iban:***3000"),
            ("acct:1234567", "acct:***67"),
            ("acct:12345", "acct:***"),
            ("sim:ok", "sim:***"),
            ("alias:ěščřžýáí", "alias:***áí"),
        ] {
            let it = Participant::parse(text).unwrap();
            assert_eq!((it.masked().as_str(), format!("{it:?}").as_str()), (masked, masked));
        }
    }

    #[test]
    fn stored_texts_are_trusted_but_for_their_namespace() {
        assert!(Participant::from_stored("iban:not one any more".to_owned()).is_some());
        assert!(Participant::from_stored("bank:1".to_owned()).is_none());
        assert!(Participant::from_stored("nothing".to_owned()).is_none());
        for namespace in Namespace::ALL {
            assert_eq!(Namespace::from_str(namespace.as_str()), Some(*namespace));
        }
    }

    #[test]
    fn references_are_kept_as_written() {
        for text in ["a", "Inv-2026.11_21", "-", "_", "stl", "STL_1", "Check", "checks", "...", &"x".repeat(64)] {
            assert_eq!(Reference::parse(text).unwrap().as_str(), text);
        }
        for text in ["", " ", "a b", "a/b", "é", "a\0", "a\n", "a:b", "a%20", &"x".repeat(65)] {
            assert_eq!(Reference::parse(text), Err(ReferenceError::Malformed), "{text:?}");
        }
        for text in ["stl_", "stl_01ARZ3NDEKTSV4RRFFQ69G5FAV", "check", "batch", "quote", "export", ".", ".."] {
            assert_eq!(Reference::parse(text), Err(ReferenceError::Reserved), "{text}");
        }
        assert_eq!(ReferenceError::Malformed.code(), "reference_malformed");
        assert_eq!(ReferenceError::Reserved.code(), "reference_reserved");
    }

    proptest! {
        #[test]
        fn the_canonical_form_is_its_own(text in "(msisdn|iban|acct|email|sim|alias):[+(]?[0-9A-Za-z@.()-]{1,30}") {
            if let Ok(first) = Participant::parse(&text) {
                prop_assert_eq!(Participant::parse(first.as_str()), Ok(first));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "(msisdn|iban|email|sim|alias|x|):?\\PC{0,140}") {
            let _ = Participant::parse(&text).map(|it| it.masked());
            let _ = Reference::parse(&text);
        }

        #[test]
        fn one_wrong_digit_is_found(at in 4usize..22, add in 1u8..10) {
            let mut iban = b"DE89370400440532013000".to_vec();
            iban[at] = b'0' + (iban[at] - b'0' + add) % 10;
            let text = format!("iban:{}", String::from_utf8(iban).unwrap());
            prop_assert_eq!(Participant::parse(&text), Err(ParticipantError::IbanCheckDigits));
        }
    }
}
