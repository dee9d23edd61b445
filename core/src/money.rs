//! Money: an integer of minor units with a currency inside, a decimal text at the edges, never a float.
//!
//! ```
//! use railgate::money::{Amount, AmountError, Currency, Money, grouped};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let price: Money = "1250.50 EUR".parse()?;
//! assert_eq!((price.minor(), price.currency().code()), (125_050, "EUR"));
//! assert_eq!((price.decimal(), grouped(&price.decimal())), ("1250.50".to_owned(), "1,250.50".to_owned()));
//!
//! // The currency decides how many decimals there are, and nothing is rounded.
//! let yen = Currency::from_code("JPY").ok_or("not a currency")?;
//! assert_eq!(Money::from_minor(500, yen).decimal(), "500");
//! assert_eq!(Amount::parse("10.5")?.to_money(yen), Err(AmountError::Scale { max: 0 }));
//! assert_eq!(Amount::parse("1e3"), Err(AmountError::Exponent));
//!
//! // Different currencies do not add up.
//! assert_eq!(price.checked_add(Money::from_minor(500, yen)), None);
//! # Ok(())
//! # }
//! ```
//!
//! Sources: ISO 4217 (codes, numbers, minor units), RFC 8259 section 6 (the grammar of numbers). The limit is 15
//! significant digits: an IEEE 754 double represents 15 decimal digits without loss, so even a client whose JSON parser
//! only uses doubles gets back what was sent.

mod iso4217;

use iso4217::Place;
use rust_decimal::Decimal;
use smol_str::{SmolStr, format_smolstr};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Params};

/// The largest number of minor-unit decimals of any ISO 4217 code.
const MAX_MINOR_UNITS: u8 = 4;
/// The number of significant digits that a double preserves.
const MAX_DIGITS: u32 = 15;

/// A currency in which money can be moved: an ISO 4217 code with a defined minor unit.
///
/// Funds codes (`CHE`), metals (`XAU`), units of account (`XDR`), the test code (`XTS`) and `XXX` are excluded.
/// Withdrawn codes (`HRK`) are included, because old records use them; the routes decide what is *offered*.
/// Ordered by code; serialised as the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(Place);

impl Currency {
    /// The currency with this alphabetic code, exactly as in ISO 4217: three upper-case letters.
    pub fn from_code(code: &str) -> Option<Self> {
        Place::from_code(code).map(Self)
    }

    /// The currency with this numeric code, 1 to 999.
    pub fn from_numeric(numeric: u16) -> Option<Self> {
        Place::from_numeric(numeric).map(Self)
    }

    /// The alphabetic code, such as `EUR`.
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// The numeric code, such as 978 for `EUR`. The store keeps this one.
    pub fn numeric(self) -> u16 {
        self.0.numeric()
    }

    /// The number of decimals of the minor unit: 2 for `EUR`, 0 for `JPY`, 3 for `KWD`.
    pub fn minor_units(self) -> u8 {
        self.0.minor_units()
    }

    /// All currencies, by numeric code.
    pub fn all() -> impl Iterator<Item = Currency> {
        (1..1000).filter_map(Self::from_numeric)
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl serde::Serialize for Currency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> serde::Deserialize<'de> for Currency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_code(&code).ok_or_else(|| serde::de::Error::custom("not the code of an ISO 4217 currency"))
    }
}

/// Why a text is not an amount, or not an amount of its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// It does not follow the grammar of a JSON number.
    #[error("must be a plain decimal number such as 10.50: no plus sign, no leading zeros, no spaces, digits on both sides of the point")]
    Malformed,
    /// It has an exponent.
    #[error("must be written out, without an exponent: 1000, not 1e3")]
    Exponent,
    /// It is zero or less.
    #[error("must be greater than zero")]
    NotPositive,
    /// It has more than 15 significant digits, or more minor units than the engine can count.
    #[error("must have at most 15 significant digits, so that every JSON implementation reads it back unchanged")]
    Digits,
    /// It has more decimals than the currency's minor unit, even if they are zeros.
    #[error("{}", scale_message(*.max))]
    Scale {
        /// The maximum number of decimals.
        max: u8,
    },
}

fn scale_message(max: u8) -> String {
    match max {
        0 => "must be a whole number, since the currency has no smaller unit; leave the point and what follows it out".to_owned(),
        1 => "must have at most 1 decimal, zeros included".to_owned(),
        max => format!("must have at most {max} decimals, zeros included"),
    }
}

impl AmountError {
    /// The stable code of the field problem.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed => "amount_malformed",
            Self::Exponent => "amount_exponent",
            Self::NotPositive => "amount_not_positive",
            Self::Digits => "amount_digits",
            Self::Scale { .. } => "amount_scale",
        }
    }

    /// The values in the message.
    pub(crate) fn params(&self) -> Params {
        let max = match self {
            Self::Digits => MAX_DIGITS,
            Self::Scale { max } => u32::from(*max),
            Self::Malformed | Self::Exponent | Self::NotPositive => return Params::default(),
        };
        Params::one("max", format!("{max}"))
    }
}

/// A positive decimal, exactly as written, before its currency is known.
///
/// Compared by value: `10.5` equals `10.50`. The number of decimals is kept as well, because [`Amount::to_money`]
/// rejects too many even if they are zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(Decimal);

impl Amount {
    /// Parses `(0|[1-9]\d*)(\.\d+)?` with at most 15 significant digits and a value above zero. Leading zeros are not significant;
    /// all other digits are, including trailing zeros. Does not allocate.
    ///
    /// # Errors
    /// The first that applies of [`AmountError::Malformed`], [`AmountError::Exponent`], [`AmountError::NotPositive`],
    /// [`AmountError::Digits`] and, for more decimals than any currency has, [`AmountError::Scale`].
    pub fn parse(text: &str) -> Result<Amount, AmountError> {
        let (negative, unsigned) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            all => (false, all),
        };
        let (integer, rest) = split_digits(unsigned);
        if matches!(integer, [] | [b'0', _, ..]) {
            return Err(AmountError::Malformed);
        }
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => match split_digits(rest) {
                ([], _) => return Err(AmountError::Malformed),
                split => split,
            },
            rest => (&[][..], rest),
        };
        match rest {
            [] => {}
            [b'e' | b'E', exponent @ ..] if is_exponent(exponent) => return Err(AmountError::Exponent),
            _ => return Err(AmountError::Malformed),
        }
        let (mut value, mut significant) = (0i64, 0u32);
        for digit in integer.iter().chain(fraction).map(|byte| i64::from(byte - b'0')) {
            if significant > 0 || digit > 0 {
                significant = significant.saturating_add(1);
                if significant <= MAX_DIGITS {
                    value = value * 10 + digit;
                }
            }
        }
        if negative || significant == 0 {
            return Err(AmountError::NotPositive);
        }
        if significant > MAX_DIGITS {
            return Err(AmountError::Digits);
        }
        let scale = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        // A `Decimal` has at most 28 decimals; more would not fit any currency either.
        Decimal::try_new(value, scale).map(Amount).map_err(|_| AmountError::Scale { max: MAX_MINOR_UNITS })
    }

    /// Parses what may be zero, such as a credit: `None` for zero.
    ///
    /// # Errors
    /// As for [`Amount::parse`]; [`AmountError::NotPositive`] only with a sign.
    pub fn parse_or_zero(text: &str) -> Result<Option<Amount>, AmountError> {
        match Self::parse(text) {
            Err(AmountError::NotPositive) if !text.starts_with('-') => Ok(None),
            parsed => parsed.map(Some),
        }
    }

    /// Converts it to money of `currency`, without rounding.
    ///
    /// # Errors
    /// [`AmountError::Scale`] if it has more decimals than the currency, [`AmountError::Digits`] if the minor units exceed 64 bits.
    pub fn to_money(self, currency: Currency) -> Result<Money, AmountError> {
        let max = currency.minor_units();
        if self.0.scale() > u32::from(max) {
            return Err(AmountError::Scale { max });
        }
        self.scaled(max).map(|minor| Money { minor, currency }).ok_or(AmountError::Digits)
    }

    /// The number of units of `10^-decimals`, without rounding; `None` if it has more decimals, or does not fit 64 bits.
    pub fn scaled(self, decimals: u8) -> Option<i64> {
        let missing = u32::from(decimals).checked_sub(self.0.scale())?;
        i64::try_from(self.0.mantissa()).ok()?.checked_mul(10_i64.checked_pow(missing)?)
    }
}

/// The longest run of decimal digits at the start, and the rest.
fn split_digits(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    bytes.split_at(end)
}

/// Whether RFC 8259 allows this after an `e`.
fn is_exponent(bytes: &[u8]) -> bool {
    let digits = match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        all => all,
    };
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

impl FromStr for Amount {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        Self::parse(text)
    }
}

/// An amount in one currency, in minor units. May be negative, for example as a balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

impl Money {
    /// `minor` units of `currency`: 1050 and `USD` are 10.50 dollars.
    pub fn from_minor(minor: i64, currency: Currency) -> Money {
        Money { minor, currency }
    }

    /// The number of minor units.
    pub fn minor(self) -> i64 {
        self.minor
    }

    /// The currency of the amount.
    pub fn currency(self) -> Currency {
        self.currency
    }

    /// The amount with exactly the currency's decimals: `10.50`, `-0.05`, for `JPY` `10`. Valid as a JSON number.
    pub fn decimal(self) -> String {
        self.decimal_text().into()
    }

    /// [`Money::decimal`], in place.
    pub(crate) fn decimal_text(self) -> SmolStr {
        let sign = if self.minor < 0 { "-" } else { "" };
        let count = self.minor.unsigned_abs();
        match self.currency.minor_units() {
            0 => format_smolstr!("{sign}{count}"),
            decimals => {
                let unit = 10u64.pow(u32::from(decimals));
                format_smolstr!("{sign}{}.{:0width$}", count / unit, count % unit, width = usize::from(decimals))
            }
        }
    }

    /// The sum; `None` if the currencies differ or it overflows.
    pub fn checked_add(self, other: Money) -> Option<Money> {
        self.with(other, i64::checked_add)
    }

    /// The difference; `None` if the currencies differ or it overflows.
    pub fn checked_sub(self, other: Money) -> Option<Money> {
        self.with(other, i64::checked_sub)
    }

    fn with(self, other: Money, apply: fn(i64, i64) -> Option<i64>) -> Option<Money> {
        if self.currency != other.currency {
            return None;
        }
        apply(self.minor, other.minor).map(|minor| Money { minor, ..self })
    }
}

impl FromStr for Money {
    type Err = Error;

    /// Parses an amount and a currency, such as `10.50 EUR`: exactly, with no more decimals than the currency has.
    fn from_str(text: &str) -> Result<Self, Error> {
        let malformed = || Error::field("", "money_malformed", "must be an amount and an ISO 4217 currency code, such as 10.50 EUR");
        let (amount, currency) = text.split_once(' ').ok_or_else(malformed)?;
        let currency = Currency::from_code(currency).ok_or_else(malformed)?;
        let money = Amount::parse(amount).and_then(|amount| amount.to_money(currency));
        money.map_err(|error| Error::field("", error.code(), error.to_string()))
    }
}

/// Groups the integer part of a plain decimal in threes, for people: `1234567.890` becomes `1,234,567.890`.
pub fn grouped(decimal: &str) -> String {
    let (sign, unsigned) = decimal.strip_prefix('-').map_or(("", decimal), |rest| ("-", rest));
    let (whole, fraction) = unsigned.split_once('.').map_or((unsigned, None), |(w, f)| (w, Some(f)));
    let mut out = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn currency(code: &str) -> Currency {
        Currency::from_code(code).unwrap()
    }

    fn minor(text: &str, code: &str) -> Result<i64, AmountError> {
        Amount::parse(text)?.to_money(currency(code)).map(Money::minor)
    }

    #[test]
    fn currencies_are_those_that_money_moves_in() {
        for (code, numeric, decimals) in
            [("USD", 840, 2), ("EUR", 978, 2), ("JPY", 392, 0), ("KWD", 414, 3), ("ALL", 8, 2), ("HRK", 191, 2)]
        {
            let it = currency(code);
            assert_eq!((it.code(), it.numeric(), it.minor_units()), (code, numeric, decimals));
            assert_eq!(Currency::from_numeric(numeric), Some(it));
            assert_eq!(format!("{it:?} {it}"), format!("{code} {code}"));
        }
        for code in ["", "usd", "Usd", "US", "USDD", " USD", "ABC", "XXX", "XTS", "XAU", "XAG", "XDR", "XAD", "CHE", "CLF", "USN", "UYI"] {
            assert_eq!(Currency::from_code(code), None, "{code}");
        }
        for numeric in [0, 1, 959, 963, 999, 1000, u16::MAX] {
            assert_eq!(Currency::from_numeric(numeric), None, "{numeric}");
        }
    }

    /// Compared with list one of ISO 4217, because the numbers come from a crate with another source.
    #[test]
    fn minor_units_are_those_of_the_standard() {
        let without = ["BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"];
        let three = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];
        assert!(Currency::all().count() > 150);
        for it in Currency::all() {
            let expected = if without.contains(&it.code()) {
                0
            } else if three.contains(&it.code()) {
                3
            } else {
                2
            };
            assert_eq!(it.minor_units(), expected, "{it}");
            assert_eq!(Currency::from_code(it.code()), Some(it));
        }
    }

    #[test]
    fn currencies_sort_by_code_and_are_json_strings() {
        let mut all: Vec<_> = Currency::all().collect();
        all.sort();
        assert!(all.windows(2).all(|pair| pair[0].code() < pair[1].code()));
        assert_eq!(serde_json::to_string(&currency("EUR")).unwrap(), "\"EUR\"");
        assert_eq!(serde_json::from_str::<Currency>("\"EUR\"").unwrap(), currency("EUR"));
        for bad in ["\"eur\"", "\"XXX\"", "978", "null"] {
            assert!(serde_json::from_str::<Currency>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn amounts_that_are_accepted() {
        for (text, code, expected) in [
            ("0.1", "USD", 10),
            ("1.10", "USD", 110),
            ("1.1", "USD", 110),
            ("10", "USD", 1000),
            ("10.50", "USD", 1050),
            ("0.01", "USD", 1),
            ("1", "JPY", 1),
            ("100", "JPY", 100),
            ("0.001", "KWD", 1),
            ("123456789012.345", "KWD", 123_456_789_012_345),
            ("999999999999999", "KWD", 999_999_999_999_999_000),
            ("999999999999999", "JPY", 999_999_999_999_999),
            ("9999999999999.99", "EUR", 999_999_999_999_999),
        ] {
            assert_eq!(minor(text, code), Ok(expected), "{text} {code}");
        }
    }

    #[test]
    fn amounts_that_are_refused() {
        use AmountError::{Digits, Exponent, Malformed, NotPositive, Scale};
        for text in [
            "", " ", "-", "+1", "01", "00", "00.1", "-01", "1.", ".5", "-.5", ".", "1..2", "1.2.3", "1,5", "1 ", " 1", "1_000", "0x10",
            "1e", "1e+", "1e1.5", "e3", "1.e3", "--1", "-+1", "NaN", "Infinity", "\u{0661}", "\u{ff11}", "1\0", "1\n", "$1", "one",
        ] {
            assert_eq!(Amount::parse(text), Err(Malformed), "{text:?}");
        }
        for text in ["1e3", "1E3", "1e+3", "1e-3", "1.5e2", "0e0", "-1e3", "1e999999999999999999999"] {
            assert_eq!(Amount::parse(text), Err(Exponent), "{text}");
        }
        for text in ["0", "0.0", "0.00", "-0", "-1", "-0.01", "-1234567890123456", "0.0000000000000000000000000000000000"] {
            assert_eq!(Amount::parse(text), Err(NotPositive), "{text}");
        }
        for text in [
            "1234567890123456",
            "1000000000000000",
            "1.000000000000000",
            "0.1234567890123456",
            "99999999999999999999999999999999999999999999",
        ] {
            assert_eq!(Amount::parse(text), Err(Digits), "{text}");
        }
        assert_eq!(Amount::parse(&"9".repeat(1_000_000)), Err(Digits));
        assert_eq!(Amount::parse("0.00000000000000000000000000001"), Err(Scale { max: 4 }));
        for (text, code, max) in [
            ("10.500", "USD", 2),
            ("0.001", "USD", 2),
            ("0.0000000000000000000001", "USD", 2),
            ("1.0", "JPY", 0),
            ("1.5", "JPY", 0),
            ("1.2345", "KWD", 3),
        ] {
            assert_eq!(minor(text, code), Err(Scale { max }), "{text} {code}");
        }
    }

    #[test]
    fn refusals_have_stable_codes_and_say_what_would_be_right() {
        for (error, code, says) in [
            (AmountError::Malformed, "amount_malformed", "10.50"),
            (AmountError::Exponent, "amount_exponent", "1000, not 1e3"),
            (AmountError::NotPositive, "amount_not_positive", "greater than zero"),
            (AmountError::Digits, "amount_digits", "15 significant digits"),
            (AmountError::Scale { max: 0 }, "amount_scale", "whole number"),
            (AmountError::Scale { max: 2 }, "amount_scale", "2 decimals"),
        ] {
            assert_eq!(error.code(), code);
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn amounts_are_equal_by_value() {
        assert_eq!(Amount::parse("10.5"), Amount::parse("10.50"));
        assert!(Amount::parse("10.05").unwrap() < Amount::parse("10.5").unwrap());
    }

    #[test]
    fn money_is_written_with_the_decimals_of_its_minor_unit() {
        for (minor, code, text) in [
            (1050, "USD", "10.50"),
            (5, "USD", "0.05"),
            (-5, "USD", "-0.05"),
            (0, "USD", "0.00"),
            (10, "JPY", "10"),
            (-10, "JPY", "-10"),
            (1, "KWD", "0.001"),
            (i64::MAX, "USD", "92233720368547758.07"),
            (i64::MIN, "USD", "-92233720368547758.08"),
            (i64::MIN, "JPY", "-9223372036854775808"),
        ] {
            assert_eq!(Money::from_minor(minor, currency(code)).decimal(), text);
        }
    }

    #[test]
    fn sums_neither_overflow_nor_mix_currencies() {
        let (dollar, yen) = (currency("USD"), currency("JPY"));
        let one = Money::from_minor(1, dollar);
        assert_eq!(one.checked_add(one), Some(Money::from_minor(2, dollar)));
        assert_eq!(one.checked_sub(Money::from_minor(3, dollar)), Some(Money::from_minor(-2, dollar)));
        assert_eq!(one.checked_add(Money::from_minor(1, yen)), None);
        assert_eq!(one.checked_sub(Money::from_minor(1, yen)), None);
        assert_eq!(Money::from_minor(i64::MAX, dollar).checked_add(one), None);
        assert_eq!(Money::from_minor(i64::MIN, dollar).checked_sub(one), None);
    }

    fn any_currency() -> impl Strategy<Value = Currency> {
        prop::sample::select(Currency::all().collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(minor in 1i64..=999_999_999_999_999, currency in any_currency()) {
            let money = Money::from_minor(minor, currency);
            let read = Amount::parse(&money.decimal()).and_then(|amount| amount.to_money(currency));
            prop_assert_eq!(read, Ok(money));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[-+]?[0-9]{0,40}[.eE]?[0-9]{0,40}", currency in any_currency()) {
            if let Ok(money) = Amount::parse(&text).and_then(|amount| amount.to_money(currency)) {
                prop_assert!(money.minor() > 0);
            }
        }

        #[test]
        fn reads_what_a_big_decimal_reads(integer in 0u64..1_000_000_000_000, cents in 0u32..100) {
            let text = format!("{integer}.{cents:02}");
            let expected = i64::try_from(integer * 100 + u64::from(cents)).unwrap();
            let read = Amount::parse(&text).and_then(|amount| amount.to_money(Currency::from_code("EUR").unwrap()));
            prop_assert_eq!(read.map(Money::minor), if expected == 0 { Err(AmountError::NotPositive) } else { Ok(expected) });
        }
    }
}
