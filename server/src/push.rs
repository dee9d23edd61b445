//! Pushes as their push services receive them: what a notification says, in its user's language, encrypted for one subscription.

use std::sync::Arc;

use axum::body::Bytes;
use hyper::HeaderMap;
use hyper::header::HeaderValue;
use railgate::Engine;
use railgate::notification::Push;
use railgate::push::{Request, SubscriptionKeys, Urgency, VapidKey, encrypt, origin_of, topic_of};
use railgate::store::record::{DeliveryRecord, NotificationFacts};
use railgate::time::{Millis, rfc3339};
use serde::Serialize;

use crate::texts::Locale;

/// Sends to one subscription.
pub(crate) struct Pusher {
    keys: SubscriptionKeys,
    vapid: VapidKey,
    origin: String,
    contact: Option<Arc<str>>,
}

/// Why a push is not sent, and never will be.
pub(crate) enum Unsent {
    /// It is of no use any more.
    TooLate,
    /// It is damaged, or too long for a message.
    Unusable,
}

/// What an app receives. The first members have the names of the options of `showNotification`.
#[derive(Serialize)]
struct Payload<'a> {
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    body: String,
    lang: String,
    dir: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<&'a str>,
    silent: bool,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    kind: &'static str,
    at: String,
    #[serde(flatten)]
    facts: Facts<'a>,
}

/// What it is about, as far as its user lets it say.
#[derive(Serialize)]
struct Facts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    settlement_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a str>,
}

impl<'a> Facts<'a> {
    fn of(facts: &'a NotificationFacts) -> Self {
        // Destructured, so that a new fact is not sent by accident.
        let NotificationFacts { settlement_id, reference, amount, currency, to, failure, expires_at, device_id, device } = facts;
        Self {
            settlement_id: settlement_id.as_deref(),
            reference: reference.as_deref(),
            amount: amount.as_deref(),
            currency: currency.as_deref(),
            to: to.as_deref(),
            failure: failure.map(railgate::rail::FailureCode::as_str),
            expires_at: expires_at.map(rfc3339),
            device_id: device_id.as_deref(),
            device: device.as_deref(),
        }
    }
}

impl Pusher {
    pub(crate) fn new(keys: SubscriptionKeys, vapid: VapidKey, url: &str, contact: Option<Arc<str>>) -> Self {
        Self { keys, vapid, origin: origin_of(url).to_owned(), contact }
    }

    /// The headers and the body of a push, encrypted anew for each try.
    pub(crate) fn message(&self, engine: &Engine, delivery: &DeliveryRecord, at: Millis) -> Result<(HeaderMap, Bytes), Unsent> {
        let push: Push = serde_json::from_str(&delivery.body).map_err(|_| Unsent::Unusable)?;
        let left = push.until - at;
        if left <= 0 {
            return Err(Unsent::TooLate);
        }
        let topic = push.about.as_ref().map(|about| topic_of(&self.keys, about));
        let text = payload(&push, topic.as_deref(), left).ok_or(Unsent::Unusable)?;
        let body = self.encrypted(engine, text.as_bytes()).ok_or(Unsent::Unusable)?;
        let urgency = match (push.silent, push.kind.is_urgent()) {
            (true, _) => Urgency::Low,
            (false, true) => Urgency::High,
            (false, false) => Urgency::Normal,
        };
        let request = Request { ttl_s: u32::try_from(left / 1_000).unwrap_or(u32::MAX), urgency, topic };
        let headers = request.headers(&self.vapid, &self.origin, self.contact.as_deref(), at / 1_000).map_err(|_| Unsent::Unusable)?;
        let mut map = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            map.insert(name, HeaderValue::try_from(value).map_err(|_| Unsent::Unusable)?);
        }
        Ok((map, body.into()))
    }

    fn encrypted(&self, engine: &Engine, text: &[u8]) -> Option<Vec<u8>> {
        let (mut salt, mut ephemeral) = ([0; 16], zeroize::Zeroizing::new([0; 32]));
        // One draw in 2^32 is no secret of the curve.
        (0..4).find_map(|_| {
            engine.env().random(&mut salt);
            engine.env().random(&mut *ephemeral);
            encrypt(&self.keys, text, salt, &ephemeral)
        })
    }
}

/// What an app receives of a push, as JSON.
fn payload(push: &Push, tag: Option<&str>, left: Millis) -> Option<String> {
    let locale = Locale::of(push.locales.iter().map(String::as_str));
    let left = push.facts.expires_at.map(|_| left);
    let phrase = locale.phrase(push.kind, &push.facts, push.detail, left);
    let data = Data { id: push.id.as_deref(), kind: push.kind.as_str(), at: rfc3339(push.at), facts: Facts::of(&push.facts) };
    let payload = Payload { title: phrase.title, body: phrase.body, lang: phrase.lang, dir: phrase.dir, tag, silent: push.silent, data };
    serde_json::to_string(&payload).ok()
}

#[cfg(test)]
mod tests {
    use railgate::notification::Detail;
    use railgate::rail::FailureCode;
    use railgate::store::record::NotificationKind;

    use super::*;

    /// Everything that a push could reveal, each recognisable.
    fn facts() -> NotificationFacts {
        NotificationFacts {
            settlement_id: Some("stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB".to_owned()),
            reference: Some("rent-of-ada".to_owned()),
            amount: Some("1234.50".to_owned()),
            currency: Some("KES".to_owned()),
            to: Some("msisdn:+254700000001".to_owned()),
            failure: Some(FailureCode::AccountBlocked),
            expires_at: Some(1_795_257_497_042),
            device_id: Some("dev_01KAJX3M7Q5W8ZP9D2R4T6V8YC".to_owned()),
            device: Some("Ada's phone".to_owned()),
        }
    }

    #[test]
    fn no_push_says_more_than_its_user_lets_it() {
        let amounts = ["1234", "1,234", "1.234", "١٬٢٣٤", "KES", "EUR"];
        let details = ["stl_", "rent-of-ada", "254700000001", "blocked", "محظور", "dev_", "phone", "msisdn"];
        for kind in NotificationKind::ALL {
            for detail in Detail::ALL {
                for locale in ["en", "ar", "ar-MA"] {
                    let push = Push {
                        id: Some("ntf_01KAJX3M7Q5W8ZP9D2R4T6V8YD".to_owned()),
                        kind: *kind,
                        at: 1_795_257_497_042,
                        detail: *detail,
                        facts: facts().within(*detail),
                        locales: vec![locale.to_owned()],
                        about: Some("42/7".to_owned()),
                        until: 1_795_257_997_042,
                        silent: false,
                    };
                    let text = payload(&push, Some("tag"), 300_000).unwrap();
                    let said = |words: &[&str]| words.iter().filter(|word| text.contains(**word)).count();
                    match detail {
                        Detail::None => assert_eq!(said(&amounts) + said(&details), 0, "{text}"),
                        Detail::Amount => assert_eq!(said(&details), 0, "{text}"),
                        Detail::Full => assert!(said(&details) > 0, "{text}"),
                    }
                    assert!(!text.contains("42/7"), "numbers of the store stay inside: {text}");
                    assert!(text.len() < 2_000, "{}", text.len());
                }
            }
        }
    }

    #[test]
    fn a_payload_is_what_a_service_worker_shows() {
        let push = Push {
            id: Some("ntf_01KAJX3M7Q5W8ZP9D2R4T6V8YD".to_owned()),
            kind: NotificationKind::PaymentCompleted,
            at: 1_795_257_497_042,
            detail: Detail::Amount,
            facts: facts().within(Detail::Amount),
            locales: vec!["de".to_owned()],
            about: None,
            until: 1_795_257_997_042,
            silent: true,
        };
        let payload: serde_json::Value = serde_json::from_str(&payload(&push, None, 300_000).unwrap()).unwrap();
        let expected = serde_json::json!({
            "title": "Your payment has arrived", "body": "KES\u{a0}1,234.50 was paid.", "lang": "en", "dir": "ltr", "silent": true,
            "data": {
                "id": "ntf_01KAJX3M7Q5W8ZP9D2R4T6V8YD", "kind": "payment.completed", "at": "2026-11-21T10:38:17.042Z",
                "amount": "1234.50", "currency": "KES", "expires_at": "2026-11-21T10:38:17.042Z",
            },
        });
        assert_eq!(payload, expected);
    }
}
