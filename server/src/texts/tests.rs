//! Every template in every language, for every plural category.

use std::fmt::Write as _;

use railgate::rail::FailureCode;

use super::*;

const MINUTE: Millis = 60_000;
const LEFT: Option<Millis> = Some(5 * MINUTE);

fn facts() -> NotificationFacts {
    NotificationFacts {
        settlement_id: Some("stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB".to_owned()),
        reference: Some("inv-1".to_owned()),
        amount: Some("1234567.50".to_owned()),
        currency: Some("EUR".to_owned()),
        to: Some("msisdn:+254700000001".to_owned()),
        failure: Some(FailureCode::OverLimit),
        expires_at: Some(1_795_257_497_042),
        device_id: Some("dev_1".to_owned()),
        device: Some("Pixel 9".to_owned()),
    }
}

/// Isolates as they are written in the source, so that a person sees them.
fn visible(text: &str) -> String {
    text.replace('\u{2068}', "[").replace('\u{2069}', "]").replace('\u{a0}', "_")
}

#[test]
fn every_notification_in_every_language() {
    let mut table = String::new();
    for (tag, _) in LANGUAGES {
        let locale = Locale::of([tag]);
        for kind in NotificationKind::ALL {
            writeln!(table, "{tag} {}", kind.as_str()).unwrap();
            for detail in Detail::ALL {
                let phrase = locale.phrase(*kind, &facts(), *detail, LEFT);
                writeln!(table, "  {:6} {} | {}", detail.as_str(), visible(&phrase.title), visible(&phrase.body)).unwrap();
            }
        }
        for code in FailureCode::ALL {
            let failed = NotificationFacts { failure: Some(*code), ..facts() };
            let phrase = locale.phrase(NotificationKind::PaymentFailed, &failed, Detail::Full, LEFT);
            writeln!(table, "{tag} {}: {}", code.as_str(), visible(&phrase.body)).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

/// A number of each plural category that the language has (CLDR).
#[test]
fn every_plural_in_every_language() {
    let mut table = String::new();
    for tag in ["en", "ar", "ar-EG", "ar-MA"] {
        let locale = Locale::of([tag]);
        for count in [0, 1, 2, 3, 11, 100, 1_000] {
            let rest = ["minutes", "hours", "days"].map(|unit| {
                let mut args = FluentArgs::new();
                args.set("unit", unit);
                locale.text("rest", None, &locale.counted(args, count))
            });
            writeln!(table, "{tag} {count}: {}", rest.join(" | ")).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_language_has_the_messages_of_the_default_one() {
    assert_eq!(languages().len(), LANGUAGES.len(), "a catalogue has an error");
    let ids = |text: &str| -> Vec<String> {
        let names = text.lines().filter(|line| line.contains(" =") && !line.starts_with('#'));
        names.map(|line| line.split(" =").next().unwrap().to_owned()).filter(|name| !name.contains('[') && !name.contains('{')).collect()
    };
    for (tag, text) in LANGUAGES {
        assert_eq!(ids(text), ids(LANGUAGES[0].1), "{tag}");
    }
}

#[test]
fn amounts_are_written_as_the_locale_writes_them() {
    for (tag, shown) in [
        ("en", "EUR_1,234,567.50"),
        ("en-IN", "EUR_12,34,567.50"),
        ("ar-EG", "[١٬٢٣٤٬٥٦٧٫٥٠_EUR]"),
        ("ar-AE", "[1,234,567.50_EUR]"),
        ("ar-MA", "[1.234.567,50_EUR]"),
        ("tlh", "EUR_1,234,567.50"),
    ] {
        assert_eq!(visible(&Locale::of([tag]).amount("1234567.50", "EUR")), shown, "{tag}");
    }
    assert_eq!(visible(&Locale::of(["en"]).amount("7", "JPY")), "JPY_7", "decimals are those of the currency");
}

#[test]
fn the_best_language_that_there_is() {
    let lang = |tags: &[&str]| Locale::of(tags.iter().copied()).phrase(NotificationKind::PaymentFailed, &facts(), Detail::None, LEFT).lang;
    assert_eq!(lang(&["ar"]), "ar");
    assert_eq!(lang(&["ar-EG"]), "ar");
    assert_eq!(lang(&["fr", "ar-EG", "en"]), "ar");
    assert_eq!(lang(&["en-GB", "ar"]), "en");
    assert_eq!(lang(&["fr"]), "en");
    assert_eq!(lang(&["", "not a tag", "*"]), "en");
    assert_eq!(lang(&[]), "en");
}

#[test]
fn accepted_languages_are_ordered_by_weight() {
    assert_eq!(Locale::accepted("fr;q=0.3, ar-EG, en;q=0.8"), ["ar-EG", "en", "fr"]);
    assert_eq!(Locale::accepted("en;q=0, ar;q=0.001,*;q=0.5"), ["ar"]);
    assert_eq!(Locale::accepted("de;q=2, ar;q=0.1234, en ; q=1.000"), ["en"]);
    assert_eq!(Locale::accepted(""), [""; 0]);
}

#[test]
fn a_value_cannot_turn_the_text_around_it() {
    let hostile = NotificationFacts { to: Some("acct:\u{2069}\u{202e}abc\n\u{0}".to_owned()), ..facts() };
    let body =
        |tag: &str, facts: &NotificationFacts| Locale::of([tag]).phrase(NotificationKind::PaymentCompleted, facts, Detail::Full, LEFT).body;
    assert_eq!(visible(&body("en", &hostile)), "EUR_1,234,567.50 was paid to abc.");
    assert!(visible(&body("ar", &hostile)).contains("[abc]"));
    let arabic = NotificationFacts { to: Some("alias:متجر".to_owned()), ..facts() };
    assert!(visible(&body("en", &arabic)).contains("[متجر]"), "also in a text from left to right");
    let long = NotificationFacts { to: Some(format!("acct:{}", "x".repeat(101))), ..facts() };
    assert!(body("en", &long).contains(&format!("{}…", "x".repeat(100))));
}

#[test]
fn what_has_ended_is_not_counted_down() {
    let body = |left| Locale::of(["en"]).phrase(NotificationKind::ApprovalRequested, &facts(), Detail::Amount, left).body;
    assert_eq!(visible(&body(LEFT)), "Pay EUR_1,234,567.50? Approve it within 5 minutes.");
    assert_eq!(visible(&body(Some(0))), "Pay EUR_1,234,567.50?");
    assert_eq!(visible(&body(None)), "Pay EUR_1,234,567.50?");
}

#[test]
fn what_is_left_is_told_in_the_largest_unit() {
    let rest = |minutes: Millis| Locale::of(["en"]).rest(minutes * MINUTE);
    assert_eq!(rest(1), "Approve it within 1 minute.");
    assert_eq!(rest(119), "Approve it within 119 minutes.");
    assert_eq!(rest(120), "Approve it within 2 hours.");
    assert_eq!(rest(2_880), "Approve it within 2 days.");
}
