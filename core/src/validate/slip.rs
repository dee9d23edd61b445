//! What people type instead of an amount, and what they mean by it.

use crate::money::{Amount, AmountError};

use super::json::FieldProblems;

/// The problem of an amount. For a text that is nearly one, the message says what to change, and `nearest` is the amount that was
/// probably meant. It is never taken for what was typed: whoever pays confirms it.
pub(super) fn of(error: AmountError, text: &str) -> FieldProblems {
    match meant(text).filter(|_| error == AmountError::Malformed) {
        Some((slip, amount)) => FieldProblems::one(error.code(), format!("{}: write {amount}", slip.message()))
            .with([("nearest", amount), ("hint", slip.name().to_owned())]),
        None if error == AmountError::Malformed && text.contains(',') => {
            let message = "must have no comma: it could stand for a decimal point or for thousands";
            FieldProblems::one(error.code(), message).with([("hint", Slip::Comma.name().to_owned())])
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
    let mut first = None;
    let mut note = |slip| first = first.or(Some(slip));
    let mut number = text.trim();
    if number.len() < text.len() {
        note(Slip::Spaces);
    }
    let bare = number.trim_matches(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '+' | '-'));
    if bare.len() < number.len() {
        note(Slip::Symbol);
        number = bare;
    }
    let grouped: String = number.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '’')).collect();
    if grouped.len() < number.len() {
        note(if number.contains(['\'', '’']) { Slip::Thousands } else { Slip::Spaces });
    }
    let pointed = pointed(&grouped, &mut note)?;
    let plain = pointed.strip_prefix('+').unwrap_or(&pointed);
    let (integer, fraction) = plain.split_once('.').map_or((plain, None), |(integer, fraction)| (integer, Some(fraction)));
    let integer = match integer.trim_start_matches('0') {
        "" => "0",
        rest => rest,
    };
    let plain = match fraction.filter(|fraction| !fraction.is_empty()) {
        Some(fraction) => [integer, ".", fraction].concat(),
        None => integer.to_owned(),
    };
    if plain != pointed {
        note(Slip::Form);
    }
    Amount::parse(&plain).ok()?;
    Some((first?, plain))
}

/// The text with a point before the decimals and no other separator. Of `1,000` nobody knows which of both the comma is.
fn pointed(text: &str, note: &mut impl FnMut(Slip)) -> Option<String> {
    let commas = text.matches(',').count();
    let points = text.matches('.').count();
    match (commas, points) {
        (0, 0 | 1) => return Some(text.to_owned()),
        (1, 0) => {
            let decimals = text.split_once(',').map_or(0, |(_, decimals)| decimals.len());
            note(Slip::Comma);
            return (decimals != 3).then(|| text.replace(',', "."));
        }
        _ => note(Slip::Thousands),
    }
    let (thousands, decimal) = match (text.rfind(','), text.rfind('.')) {
        (Some(comma), Some(point)) if comma > point && commas == 1 => ('.', Some(',')),
        (Some(comma), Some(point)) if comma < point && points == 1 => (',', Some('.')),
        (Some(_), None) => (',', None),
        (None, Some(_)) => ('.', None),
        _ => return None,
    };
    let whole = decimal.and_then(|decimal| text.split_once(decimal)).map_or(text, |(whole, _)| whole);
    let mut groups = whole.split(thousands);
    let leads = groups.next().is_some_and(|group| (1..=3).contains(&group.len()));
    if !leads || !groups.all(|group| group.len() == 3) {
        return None;
    }
    let joined = text.replace(thousands, "");
    Some(decimal.map_or(joined.clone(), |decimal| joined.replace(decimal, ".")))
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
            ("5 EUR", Slip::Symbol, "5"),
            ("KSh 1,500.00", Slip::Symbol, "1500.00"),
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
