//! What end users read, in their language: one catalogue (Fluent), a file for each language.
//!
//! A language is a file beside this one and its line in [`LANGUAGES`]. Plurals and digits are those of CLDR for the user's locale: `ar-EG`
//! and `ar-MA` share a catalogue, but not their digits.

use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use fluent_langneg::{NegotiationStrategy, negotiate_languages};
use icu_decimal::DecimalFormatter;
use icu_decimal::input::Decimal;
use railgate::notification::Detail;
use railgate::store::record::{NotificationFacts, NotificationKind};
use railgate::time::Millis;
use unic_langid::{CharacterDirection, LanguageIdentifier};

/// The languages, the default first.
const LANGUAGES: [(&str, &str); 2] = [("en", include_str!("en.ftl")), ("ar", include_str!("ar.ftl"))];
/// More tags of an `Accept-Language` are not read.
const ACCEPTED_MOST: usize = 20;
/// The longest text that is inserted, in characters.
const INSERTED_MOST: usize = 100;
/// Isolates what stands between them from the direction of the text around it.
const ISOLATE: (char, char) = ('\u{2068}', '\u{2069}');

struct Language {
    tag: LanguageIdentifier,
    bundle: FluentBundle<FluentResource>,
}

impl AsRef<LanguageIdentifier> for Language {
    fn as_ref(&self) -> &LanguageIdentifier {
        &self.tag
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.tag == other.tag
    }
}

fn languages() -> &'static [Language] {
    static ALL: OnceLock<Vec<Language>> = OnceLock::new();
    ALL.get_or_init(|| LANGUAGES.iter().filter_map(|(tag, text)| language(tag, text)).collect())
}

/// `None` for a file with errors, which the tests do not let pass.
fn language(tag: &str, text: &str) -> Option<Language> {
    let tag: LanguageIdentifier = tag.parse().ok()?;
    let mut bundle = FluentBundle::new_concurrent(vec![tag.clone()]);
    // Only values are isolated, and only where that changes how they look.
    bundle.set_use_isolating(false);
    bundle.add_resource(FluentResource::try_new(text.to_owned()).ok()?).ok()?;
    Some(Language { tag, bundle })
}

/// A user's language, and the locale of their numbers.
pub(crate) struct Locale {
    language: Option<&'static Language>,
    numbers: Option<DecimalFormatter>,
}

/// What is shown of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    pub(crate) title: String,
    /// Empty if nothing may be said.
    pub(crate) body: String,
    /// The language of both.
    pub(crate) lang: String,
    /// `rtl` or `ltr`.
    pub(crate) dir: &'static str,
}

impl Locale {
    /// The locale for these tags, the preferred first. Of a tag for which there is no catalogue, a shorter one counts.
    pub(crate) fn of<'a>(tags: impl IntoIterator<Item = &'a str>) -> Self {
        let wanted: Vec<LanguageIdentifier> = tags.into_iter().filter_map(|tag| tag.parse().ok()).collect();
        let all = languages();
        let found = negotiate_languages(&wanted, all, all.first(), NegotiationStrategy::Lookup).into_iter().next();
        let tag = found.map(|found| wanted.iter().find(|tag| tag.language == found.tag.language).unwrap_or(&found.tag).to_string());
        let numbers = tag.and_then(|tag| tag.parse::<icu_locale_core::Locale>().ok());
        let numbers = numbers.and_then(|locale| DecimalFormatter::try_new(locale.into(), Default::default()).ok());
        Self { language: found, numbers }
    }

    /// The tags of an `Accept-Language` header, the preferred first.
    pub(crate) fn accepted(header: &str) -> Vec<&str> {
        let mut tags: Vec<(&str, u32)> = header.split(',').take(ACCEPTED_MOST).filter_map(weighed).collect();
        tags.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        tags.into_iter().filter(|(tag, weight)| *weight > 0 && *tag != "*").map(|(tag, _)| tag).collect()
    }

    fn is_rtl(&self) -> bool {
        self.language.is_some_and(|language| language.tag.character_direction() == CharacterDirection::RTL)
    }

    /// A notification in words, with what `detail` lets it say. `left` is how long the user has, if they have to decide.
    pub(crate) fn phrase(&self, kind: NotificationKind, facts: &NotificationFacts, detail: Detail, left: Option<Millis>) -> Phrase {
        let id = kind.as_str().replace('.', "-");
        let args = self.args(facts, left);
        let body = match detail {
            Detail::None => String::new(),
            Detail::Amount => self.text(&id, Some("amount"), &args),
            Detail::Full => self.text(&id, Some("full"), &args),
        };
        let lang = self.language.map(|language| language.tag.to_string()).unwrap_or_default();
        Phrase {
            title: self.text(&id, Some("title"), &args),
            body: body.trim_end().to_owned(),
            lang,
            dir: if self.is_rtl() { "rtl" } else { "ltr" },
        }
    }

    fn args(&self, facts: &NotificationFacts, left: Option<Millis>) -> FluentArgs<'static> {
        let mut args = FluentArgs::new();
        let text = |value: &Option<String>| self.inserted(value.as_deref().unwrap_or("…"));
        // The namespace of a payee is not for people.
        let payee = facts.to.as_ref().map(|to| to.split_once(':').map_or(to.as_str(), |(_, id)| id).to_owned());
        args.set("amount", self.amount(facts.amount.as_deref().unwrap_or_default(), facts.currency.as_deref().unwrap_or_default()));
        args.set("payee", text(&payee));
        args.set("reference", text(&facts.reference));
        args.set("device", text(&facts.device));
        let reason = facts.failure.map_or("other", railgate::rail::FailureCode::as_str).replace('_', "-");
        args.set("reason", self.text(&format!("reason-{reason}"), None, &FluentArgs::new()));
        args.set("rest", left.filter(|left| *left > 0).map(|left| self.rest(left)).unwrap_or_default());
        args
    }

    /// An amount with its currency, as the locale writes both.
    fn amount(&self, decimal: &str, currency: &str) -> String {
        let mut args = FluentArgs::new();
        args.set("value", self.number(decimal));
        args.set("currency", currency.to_owned());
        self.isolated(self.text("amount", None, &args))
    }

    /// How long the user has, in the largest unit of which it is at least one.
    fn rest(&self, rest: Millis) -> String {
        const MINUTE: Millis = 60_000;
        let minutes = (rest / MINUTE).max(0);
        let (unit, count) = match minutes {
            0..120 => ("minutes", minutes.max(1)),
            120..2_880 => ("hours", minutes / 60),
            _ => ("days", minutes / 1_440),
        };
        let mut args = FluentArgs::new();
        args.set("unit", unit);
        self.text("rest", None, &self.counted(args, count))
    }

    fn counted(&self, mut args: FluentArgs<'static>, count: i64) -> FluentArgs<'static> {
        args.set("count", count);
        args.set("number", self.number(&count.to_string()));
        args
    }

    /// A decimal in the digits and with the separators of the locale.
    fn number(&self, decimal: &str) -> String {
        let parsed = decimal.parse::<Decimal>().ok();
        parsed.zip(self.numbers.as_ref()).map_or_else(|| decimal.to_owned(), |(parsed, numbers)| numbers.format(&parsed).to_string())
    }

    /// A value that somebody entered: one line, not too long, without characters that turn the text around it.
    fn inserted(&self, value: &str) -> String {
        let turns = |c: char| matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let mut text: String = value.chars().filter(|c| !c.is_control() && !turns(*c)).take(INSERTED_MOST + 1).collect();
        if text.chars().count() > INSERTED_MOST {
            text.pop();
            text.push('…');
        }
        self.isolated(text)
    }

    /// The text, isolated if its direction may differ from that of the language.
    fn isolated(&self, text: String) -> String {
        let rtl = |c: char| matches!(c, '\u{0590}'..='\u{08ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}');
        if self.is_rtl() || text.chars().any(rtl) { format!("{}{text}{}", ISOLATE.0, ISOLATE.1) } else { text }
    }

    /// A message of the catalogue, or one of its attributes; in the default language if this one lacks it.
    fn text(&self, id: &str, attribute: Option<&str>, args: &FluentArgs<'_>) -> String {
        let own = self.language.into_iter().chain(languages().first());
        own.into_iter().find_map(|language| shown(&language.bundle, id, attribute, args)).unwrap_or_default()
    }
}

fn shown(bundle: &FluentBundle<FluentResource>, id: &str, attribute: Option<&str>, args: &FluentArgs<'_>) -> Option<String> {
    let message = bundle.get_message(id)?;
    let pattern = match attribute {
        Some(name) => message.get_attribute(name)?.value(),
        None => message.value()?,
    };
    let mut errors = Vec::new();
    let text = bundle.format_pattern(pattern, Some(args), &mut errors).into_owned();
    Some(text).filter(|_| errors.is_empty())
}

/// A tag of an `Accept-Language` header and its weight in thousandths; `None` if it cannot be read.
fn weighed(part: &str) -> Option<(&str, u32)> {
    let mut parts = part.split(';').map(str::trim);
    let tag = parts.next().filter(|tag| !tag.is_empty())?;
    let Some(weight) = parts.find_map(|parameter| parameter.strip_prefix("q=")) else { return Some((tag, 1_000)) };
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    let thousandths = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let decimals: u32 = format!("{decimals:0<3}").parse().ok().filter(|_| thousandths)?;
    match whole {
        "0" => Some((tag, decimals)),
        "1" if decimals == 0 => Some((tag, 1_000)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
