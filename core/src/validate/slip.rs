//! What people type instead of an amount, and what they mean by it.

use crate::error::Params;
use crate::money::{Amount, AmountError};

use super::json::FieldProblems;

/// The problem of an amount. For a text that is nearly one, the message says what to change, and `nearest` is the amount that was
/// probably meant. It is never taken for what was typed: whoever pays confirms it.
pub(super) fn of(error: AmountError, text: &str) -> FieldProblems {
    match meant(text).filter(|_| error == AmountError::Malformed) {
        Some((slip, amount)) => {
            let message = format!("{}: write {amount}", slip.message());
            FieldProblems::with(error.code(), message, Params::one("nearest", amount).and("hint", slip.name().to_owned()))
        }
        None if error == AmountError::Malformed && text.contains(',') => {
            let message = "must have no comma: it could stand for a decimal point or for thousands";
            FieldProblems::with(error.code(), message, Params::one("hint", Slip::Comma.name().to_owned()))
        }
        None => error.into(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slip {
    Spaces,
    Symbol,
    Comma,
    Thousands,
    Form,
}

impl Slip {
    fn name(self) -> &'static str {
        match self {
            Self::Spaces => "spaces",
            Self::Symbol => "symbol",
            Self::Comma => "comma",
            Self::Thousands => "thousands",
            Self::Form => "form",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Spaces => "must have no spaces",
            Self::Symbol => "must be the number alone, without the currency, which is a field of its own",
            Self::Comma => "must have a point before the decimals, not a comma",
            Self::Thousands => "must have no separators between thousands",
            Self::Form => "must have no plus sign, no needless zeros in front, and digits on both sides of the point",
        }
    }
}

/// The amount that a text probably means, and the first thing to change in it; `None` if it is too far from any or ambiguous.
fn meant(text: &str) -> Option<(Slip, String)> {
    let (first, number) = bare(text)?;
    let (slip, decimals) = separated(number.as_bytes())?;
    let (whole, fraction) = number.split_at(decimals.unwrap_or(number.len()));
    let digits = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    let (whole, fraction) = (digits(whole), digits(fraction));
    let mut amount = match whole.trim_start_matches('0') {
        "" => "0".to_owned(),
        rest => rest.to_owned(),
    };
    if !fraction.is_empty() {
        amount.push('.');
        amount.push_str(&fraction);
    }
    Amount::parse(&amount).ok()?;
    Some((first.or(slip).unwrap_or(Slip::Form), amount))
}

/// The digits of a number and the points and commas between them, and the first that has to go.
fn bare(text: &str) -> Option<(Option<Slip>, String)> {
    let (mut first, mut number, mut ended) = (None, String::new(), false);
    for c in text.chars() {
        let slip = match c {
            // Of an abbreviation, as in `Rs. 500`.
            '.' | ',' if number.is_empty() && first == Some(Slip::Symbol) => Slip::Symbol,
            '0'..='9' | '.' | ',' if ended => return None,
            '0'..='9' | '.' | ',' => {
                number.push(c);
                continue;
            }
            '-' => return None,
            '+' if number.is_empty() => Slip::Form,
            '\'' | '’' => Slip::Thousands,
            c if c.is_whitespace() => Slip::Spaces,
            _ => {
                ended = !number.is_empty();
                Slip::Symbol
            }
        };
        first = first.or(Some(slip));
    }
    Some((first, number))
}

/// Where the decimals begin, with the separator, and what is wrong with the separators. Of `1,000` nobody knows which of both the comma
/// is, and a text whose groups are not thousands is no number.
fn separated(number: &[u8]) -> Option<(Option<Slip>, Option<usize>)> {
    let count = |wanted: u8| number.iter().filter(|byte| **byte == wanted).count();
    let (commas, points) = (count(b','), count(b'.'));
    let last = number.iter().rposition(|byte| !byte.is_ascii_digit());
    match (commas, points) {
        (0, 0 | 1) => return Some((None, last)),
        (1, 0) => return (last? + 4 != number.len()).then_some((Some(Slip::Comma), last)),
        _ => {}
    }
    let decimals = last.filter(|at| commas > 0 && points > 0 && number.get(*at).is_some_and(|kind| count(*kind) == 1));
    let whole = number.get(..decimals.unwrap_or(number.len()))?;
    let mut groups = whole.split(|byte| !byte.is_ascii_digit());
    let leads = groups.next().is_some_and(|group| (1..=3).contains(&group.len()));
    let mixed = whole.contains(&b',') && whole.contains(&b'.');
    (leads && !mixed && groups.all(|group| group.len() == 3)).then_some((Some(Slip::Thousands), decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_is_answered_with_what_they_mean() {
        for (typed, slip, amount) in [
            (" 5", Slip::Spaces, "5"),
            ("5 ", Slip::Spaces, "5"),
            ("1 000", Slip::Spaces, "1000"),
            ("1\u{202f}000,50", Slip::Spaces, "1000.50"),
            ("€5", Slip::Symbol, "5"),
            ("5 EUR", Slip::Spaces, "5"),
            ("KSh 1,500.00", Slip::Symbol, "1500.00"),
            ("Rs. 500", Slip::Symbol, "500"),
            ("1,50", Slip::Comma, "1.50"),
            ("1.000,50", Slip::Thousands, "1000.50"),
            ("1,000.50", Slip::Thousands, "1000.50"),
            ("1,000,000", Slip::Thousands, "1000000"),
            ("1'000.50", Slip::Thousands, "1000.50"),
            ("+5", Slip::Form, "5"),
            ("05", Slip::Form, "5"),
            (".5", Slip::Form, "0.5"),
            ("5.", Slip::Form, "5"),
        ] {
            assert_eq!(Amount::parse(typed), Err(AmountError::Malformed), "{typed:?}");
            assert_eq!(meant(typed), Some((slip, amount.to_owned())), "{typed:?}");
        }
    }

    #[test]
    fn what_could_mean_two_amounts_is_not_guessed() {
        for typed in ["1,000", "1,2,3", "1.2.3", "1,00.50", "five", "", " ", "€", "5 5x5", "--5", "1.0.0,5,5", ","] {
            assert_eq!(meant(typed), None, "{typed:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_meant_is_an_amount(typed in "[ €+.,'0-9]{0,9}") {
            if let Some((_, amount)) = meant(&typed) {
                proptest::prop_assert!(Amount::parse(&amount).is_ok());
            }
        }
    }
}
