//! Parses the bodies of calls about notifications.
//!
//! ```
//! use railgate::notification::Detail;
//! use railgate::store::record::NotificationKind;
//! use railgate::validate::notification::parse_preferences;
//!
//! # fn main() -> Result<(), railgate::Error> {
//! let wants = parse_preferences(br#"{"detail": "amount", "kinds": {"payment.completed": {"push": false}}}"#)?;
//! assert_eq!(wants.detail, Detail::Amount);
//! assert!(wants.channels(NotificationKind::PaymentCompleted).inbox && !wants.channels(NotificationKind::PaymentCompleted).push);
//! # Ok(())
//! # }
//! ```

use super::json::{FieldProblems, Object, Value};
use super::sized;
use crate::api::{ChannelsBody, PreferencesBody, PushKeysBody, PushSubscriptionBody, QuietHoursBody};
use crate::error::Error;
use crate::notification::{Channels, Detail, Preferences, Quiet, QuietError};
use crate::push::{KeysError, SubscriptionKeys};
use crate::store::record::NotificationKind;
use crate::time::Millis;
use crate::webhook::URL_MAX_BYTES;

/// The longest BCP 47 tag that is stored.
const LOCALE_MAX_BYTES: usize = 35;

/// A valid request to push to a subscription. Whether its endpoint may be called depends on the gateway's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubscription {
    /// Where the push service takes messages for it.
    pub endpoint: String,
    /// The keys that encrypt for it.
    pub keys: SubscriptionKeys,
    /// When it expires.
    pub expires_at: Option<Millis>,
    /// The gateway's key that it was made with; `None` for the present one.
    pub application_server_key: Option<String>,
    /// The language of the device.
    pub locale: Option<String>,
}

/// Parses a [`PushSubscriptionBody`].
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_subscription(body: &[u8]) -> Result<NewSubscription, Error> {
    let mut body = Object::parse(body, &SUBSCRIPTION)?;
    let endpoint = body.required("endpoint", |value| sized(value.text()?, 1, URL_MAX_BYTES));
    let keys = body.required("keys", keys);
    let given = body.optional("expirationTime", millis);
    let also = body.optional("expiration_time", millis);
    let key = body.optional("application_server_key", |value| sized(value.text()?, 1, 100));
    let locale = body.optional("locale", locale);
    body.finish(|| {
        let expires_at = given?.or(also?);
        Some(NewSubscription { endpoint: endpoint?, keys: keys?, expires_at, application_server_key: key?, locale: locale? })
    })
}

/// The members of a [`PushSubscriptionBody`], with both names of one.
const SUBSCRIPTION: [&str; PushSubscriptionBody::FIELDS.len() + 1] =
    ["endpoint", "keys", "expirationTime", "expiration_time", "application_server_key", "locale"];

fn keys(value: Value<'_>) -> Result<SubscriptionKeys, FieldProblems> {
    let mut body = value.object(&PushKeysBody::FIELDS)?;
    let p256dh = body.required("p256dh", |value| sized(value.text()?, 1, 100));
    let auth = body.required("auth", |value| sized(value.text()?, 1, 100));
    let read = p256dh.as_ref().zip(auth.as_ref()).map(|(p256dh, auth)| SubscriptionKeys::parse(p256dh, auth));
    if let Some(Err(error)) = &read {
        let name = match error {
            KeysError::P256dh => "p256dh",
            KeysError::Auth => "auth",
        };
        body.refuse(name, FieldProblems::one("key_malformed", error.to_string()));
    }
    Ok(body.finish(|| read?.ok())?)
}

fn millis(value: Value<'_>) -> Result<Millis, FieldProblems> {
    // A browser gives a DOMHighResTimeStamp, which may have a fraction.
    let text = value.number()?;
    let whole = text.split_once('.').map_or(&*text, |(whole, _)| whole);
    let time = whole.parse().ok().filter(|time| (0..=253_402_300_799_999).contains(time));
    time.ok_or_else(|| FieldProblems::one("out_of_range", "must be a time in milliseconds since 1970"))
}

fn locale(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    let tag = text.len() <= LOCALE_MAX_BYTES
        && text.split('-').all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    tag.then(|| text.into_owned()).ok_or_else(|| FieldProblems::one("locale_malformed", "must be a BCP 47 tag, such as ar-EG"))
}

/// Parses a [`PreferencesBody`].
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_preferences(body: &[u8]) -> Result<Preferences, Error> {
    let mut body = Object::parse(body, &PreferencesBody::FIELDS)?;
    let detail = body.optional("detail", |value| {
        let text = value.text()?;
        Detail::from_name(&text).ok_or_else(|| {
            let known: Vec<_> = Detail::ALL.iter().map(|detail| detail.as_str()).collect();
            FieldProblems::one("unknown_value", format!("must be one of {}", known.join(", ")))
        })
    });
    let locale = body.optional("locale", locale);
    let quiet = body.optional("quiet_hours", quiet);
    let kinds = body.optional("kinds", kinds);
    body.finish(|| {
        let mut wants = Preferences { detail: detail?.unwrap_or(Detail::None), locale: locale?, quiet: quiet?, ..Preferences::default() };
        kinds?.unwrap_or_default().into_iter().for_each(|(kind, channels)| wants.set(kind, channels));
        Some(wants)
    })
}

fn quiet(value: Value<'_>) -> Result<Quiet, FieldProblems> {
    let mut body = value.object(&QuietHoursBody::FIELDS)?;
    let mut part = |name| body.required(name, |value| sized(value.text()?, 1, 64));
    let (from, to, zone) = (part("from"), part("to"), part("time_zone"));
    let read = from.zip(to).zip(zone).map(|((from, to), zone)| Quiet::parse(&from, &to, &zone));
    if let Some(Err(error)) = &read {
        let (name, code) = match error {
            QuietError::From => ("from", "time_malformed"),
            QuietError::To => ("to", "time_malformed"),
            QuietError::Zone => ("time_zone", "time_zone_unknown"),
        };
        body.refuse(name, FieldProblems::one(code, error.to_string()));
    }
    Ok(body.finish(|| read?.ok())?)
}

fn kinds(value: Value<'_>) -> Result<Vec<(NotificationKind, Channels)>, FieldProblems> {
    let mut problems = FieldProblems::default();
    let mut kinds: Vec<(NotificationKind, Channels)> = Vec::new();
    // More members than there are kinds are unknown or duplicates.
    for (name, value) in value.members_within(NotificationKind::ALL.len())? {
        let read = match NotificationKind::from_name(&name) {
            None => Err(FieldProblems::one("unknown_field", "is not a kind of notification")),
            Some(kind) if kinds.iter().any(|(known, _)| *known == kind) => Err(FieldProblems::one("duplicate_field", "appears twice")),
            Some(kind) => channels(value).map(|channels| (kind, channels)),
        };
        kinds.extend(problems.note(&name, read));
    }
    problems.into_result(kinds)
}

fn channels(value: Value<'_>) -> Result<Channels, FieldProblems> {
    let mut body = value.object(&ChannelsBody::FIELDS)?;
    let inbox = body.optional("inbox", Value::boolean);
    let push = body.optional("push", Value::boolean);
    Ok(body.finish(|| Some(Channels { inbox: inbox?.unwrap_or(true), push: push?.unwrap_or(true) }))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const P256DH: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

    #[track_caller]
    fn codes<T: std::fmt::Debug>(read: Result<T, Error>) -> String {
        read.unwrap_err().fields.iter().map(|field| format!("{} {}", field.pointer, field.code)).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_subscription_is_read_as_a_browser_gives_it() {
        let body = format!(r#"{{"endpoint":"https://p.example/1","expirationTime":null,"keys":{{"p256dh":"{P256DH}","auth":"{AUTH}"}}}}"#);
        let read = parse_subscription(body.as_bytes()).unwrap();
        assert_eq!((read.endpoint.as_str(), read.expires_at, read.locale), ("https://p.example/1", None, None));
        let later = body.replace("null", "1795257497042.25");
        assert_eq!(parse_subscription(later.as_bytes()).unwrap().expires_at, Some(1_795_257_497_042));
        let ours = later.replace("expirationTime", "expiration_time");
        assert_eq!(parse_subscription(ours.as_bytes()).unwrap().expires_at, Some(1_795_257_497_042));
    }

    #[test]
    fn everything_that_is_wrong_with_a_subscription_is_told_at_once() {
        let wrong = format!(r#"{{"endpoint":7,"keys":{{"p256dh":"{AUTH}","auth":"{AUTH}"}},"expirationTime":-1,"locale":"a b","x":1}}"#);
        let expected =
            "/endpoint wrong_type, /keys/p256dh key_malformed, /expirationTime out_of_range, /locale locale_malformed, /x unknown_field";
        assert_eq!(codes(parse_subscription(wrong.as_bytes())), expected);
        let short = format!(r#"{{"endpoint":"u","keys":{{"p256dh":"{P256DH}","auth":"AAAA"}}}}"#);
        assert_eq!(codes(parse_subscription(short.as_bytes())), "/keys/auth key_malformed");
        assert_eq!(codes(parse_subscription(b"{}")), "/endpoint required, /keys required");
        assert_eq!(codes(parse_subscription(br#"{"endpoint":"u","keys":{}}"#)), "/keys/p256dh required, /keys/auth required");
    }

    #[test]
    fn preferences_are_replaced_as_a_whole() {
        assert_eq!(parse_preferences(b"{}").unwrap(), Preferences::default());
        let body = br#"{"detail":"full","locale":"ar-EG","quiet_hours":{"from":"22:00","to":"07:00","time_zone":"Africa/Cairo"},
            "kinds":{"payment.completed":{"push":false},"device.enrolled":{}}}"#;
        let wants = parse_preferences(body).unwrap();
        assert_eq!((wants.detail, wants.locale.as_deref()), (Detail::Full, Some("ar-EG")));
        assert_eq!(wants.quiet.unwrap().shown().2, "Africa/Cairo");
        assert_eq!(wants.kinds.len(), 1, "what is as by default is not stored");
    }

    #[test]
    fn everything_that_is_wrong_with_preferences_is_told_at_once() {
        let wrong = br#"{"detail":"all","locale":"-","quiet_hours":{"from":"22:00","to":"22:00","time_zone":"Z"},
            "kinds":{"payment.lost":{},"payment.failed":{"push":1},"payment.returned":{},"payment.returned":{}},"muted":true}"#;
        let expected = "/detail unknown_value, /locale locale_malformed, /quiet_hours/to time_malformed, /kinds/payment.lost unknown_field, \
                        /kinds/payment.failed/push wrong_type, /kinds/payment.returned duplicate_field, /muted unknown_field";
        assert_eq!(codes(parse_preferences(wrong)), expected);
        let zone = br#"{"quiet_hours":{"from":"22:00","to":"07:00","time_zone":"Mars/Base"}}"#;
        assert_eq!(codes(parse_preferences(zone)), "/quiet_hours/time_zone time_zone_unknown");
        assert_eq!(
            codes(parse_preferences(br#"{"quiet_hours":{}}"#)),
            "/quiet_hours/from required, /quiet_hours/to required, /quiet_hours/time_zone required"
        );
    }
}
