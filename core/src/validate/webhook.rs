//! Parses the bodies of calls about webhooks.
//!
//! ```
//! use railgate::validate::webhook::{parse_new_webhook, parse_webhook_patch};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let made = parse_new_webhook(br#"{"url": "https://shop.example/hooks", "events": ["settlement.completed"]}"#)?;
//! assert_eq!(made.topics.map(|topics| topics.iter().count()), Some(1));
//!
//! // In a patch, `null` and absence differ.
//! let patch = parse_webhook_patch(br#"{"description": null}"#)?;
//! assert_eq!((patch.description, patch.url), (Some(None), None));
//! # Ok(())
//! # }
//! ```
//!
//! Which URLs a webhook may have is not decided here: it depends on the gateway's configuration, which the engine's guard has.

use super::json::{FieldProblems, Object, Value};
use super::{sized, time};
use crate::api::{NewWebhook, NewWebhookBody, ReplayBody, RotationBody, TestBody, WebhookPatch, WebhookPatchBody};
use crate::error::Error;
use crate::store::record::{EventType, Topic, TopicSet};
use crate::time::Millis;
use crate::webhook::URL_MAX_BYTES;

const DESCRIPTION_MAX_CHARS: usize = 200;
/// More than there are types, so that a list with duplicates is accepted.
const EVENTS_MAX: usize = 100;
/// Means all types of event, including future ones.
const EVERYTHING: &str = "*";
const GRACE_DEFAULT_S: u32 = 86_400;
const GRACE_MAX_S: u32 = 604_800;

/// A valid request to deliver the events of a period again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayRequest {
    /// Start of the period, inclusive.
    pub since: Millis,
    /// End of the period, exclusive; `None` for no end.
    pub until: Option<Millis>,
    /// Feed position after which to start; 0 for all.
    pub after: i64,
}

/// Parses `{"url", "events"?, "description"?}`. Missing `events`, `null` and `"*"` all mean every type of event.
///
/// # Errors
/// [`crate::ErrorCode::MalformedJson`], or [`crate::ErrorCode::InvalidFields`] with all problems.
pub fn parse_new_webhook(body: &[u8]) -> Result<NewWebhook, Error> {
    let mut body = Object::parse(body, &NewWebhookBody::FIELDS)?;
    let url = body.required("url", url);
    let topics = body.optional("events", events);
    let description = body.optional("description", description);
    body.finish(|| Some(NewWebhook { url: url?, topics: topics?.flatten(), description: description? }))
}

/// Parses `{"url"?, "events"?, "description"?, "enabled"?}`. Absent fields stay unchanged; `null` selects every type
/// of event, or removes the description.
///
/// # Errors
/// See [`parse_new_webhook`].
pub fn parse_webhook_patch(body: &[u8]) -> Result<WebhookPatch, Error> {
    let mut body = Object::parse(body, &WebhookPatchBody::FIELDS)?;
    let url = body.patch("url", |value| url(kept(value)?));
    let topics = body.patch("events", |value| value.map_or(Ok(None), events));
    let description = body.patch("description", |value| value.map(description).transpose());
    let enabled = body.patch("enabled", |value| kept(value)?.boolean());
    body.finish(|| Some(WebhookPatch { url: url?, topics: topics?, description: description?, enabled: enabled? }))
}

/// Parses `{"grace"?}` in seconds and returns milliseconds; default: one day. The body may be empty.
///
/// # Errors
/// See [`parse_new_webhook`].
pub fn parse_rotation(body: &[u8]) -> Result<Millis, Error> {
    let in_millis = |seconds: Option<u32>| Millis::from(seconds.unwrap_or(GRACE_DEFAULT_S)) * 1_000;
    if body.is_empty() {
        return Ok(in_millis(None));
    }
    let mut body = Object::parse(body, &RotationBody::FIELDS)?;
    let grace = body.optional("grace", grace_s);
    body.finish(|| grace.map(in_millis))
}

/// Parses `{"type"?}`, the type of example to send; default: `settlement.completed`. The body may be empty.
///
/// # Errors
/// See [`parse_new_webhook`].
pub fn parse_webhook_test(body: &[u8]) -> Result<Topic, Error> {
    const USUAL: Topic = Topic::Event(EventType::SettlementCompleted);
    if body.is_empty() {
        return Ok(USUAL);
    }
    let mut body = Object::parse(body, &TestBody::FIELDS)?;
    let topic = body.optional("type", topic);
    body.finish(|| topic).map(|topic| topic.unwrap_or(USUAL))
}

/// Parses `{"since", "until"?, "after"?}`.
///
/// # Errors
/// See [`parse_new_webhook`].
pub fn parse_replay(body: &[u8]) -> Result<ReplayRequest, Error> {
    let mut body = Object::parse(body, &ReplayBody::FIELDS)?;
    let since = body.required("since", time);
    let until = body.optional("until", |value| {
        let until = time(value)?;
        let fits = since.is_none_or(|since| since < until);
        fits.then_some(until).ok_or_else(|| FieldProblems::one("out_of_range", "must be later than since"))
    });
    let after = body.optional("after", position);
    body.finish(|| Some(ReplayRequest { since: since?, until: until?, after: after?.unwrap_or(0) }))
}

fn kept(value: Option<Value<'_>>) -> Result<Value<'_>, FieldProblems> {
    value.ok_or_else(|| FieldProblems::one("required", "cannot be removed; omit it to leave it unchanged"))
}

fn url(value: Value<'_>) -> Result<String, FieldProblems> {
    sized(value.text()?, 1, URL_MAX_BYTES)
}

fn description(value: Value<'_>) -> Result<String, FieldProblems> {
    sized(value.text()?, 0, DESCRIPTION_MAX_CHARS)
}

/// Parses a list of event types; `None` means all.
fn events(value: Value<'_>) -> Result<Option<TopicSet>, FieldProblems> {
    let is_everything = |value: &Value<'_>| value.text().is_ok_and(|text| text == EVERYTHING);
    if is_everything(&value) {
        return Ok(None);
    }
    let elements = value.elements(EVENTS_MAX)?;
    if elements.len() == 1 && elements.iter().all(is_everything) {
        return Ok(None);
    }
    let mut problems = FieldProblems::default();
    let mut topics = Vec::with_capacity(elements.len());
    for (n, element) in elements.into_iter().enumerate() {
        topics.extend(problems.note(&n.to_string(), topic(element)));
    }
    problems.into_result(Some(TopicSet::of(topics)))
}

fn topic(value: Value<'_>) -> Result<Topic, FieldProblems> {
    let name = value.text()?;
    Topic::from_name(&name).ok_or_else(|| {
        if name == EVERYTHING {
            return FieldProblems::one("event_type_unknown", "\"*\" means every type and must be the only element");
        }
        let known: Vec<_> = Topic::all().map(Topic::as_str).collect();
        FieldProblems::one("event_type_unknown", format!("must be one of {}", known.join(", ")))
    })
}

fn grace_s(value: Value<'_>) -> Result<u32, FieldProblems> {
    let grace = value.number()?.parse().ok().filter(|seconds| *seconds <= GRACE_MAX_S);
    grace.ok_or_else(|| FieldProblems::one("out_of_range", format!("must be a whole number of seconds from 0 to {GRACE_MAX_S}")))
}

fn position(value: Value<'_>) -> Result<i64, FieldProblems> {
    let position = value.number()?.parse().ok().filter(|position| *position >= 0);
    position.ok_or_else(|| FieldProblems::one("out_of_range", "must be a whole number, such as next_after of the previous response"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETED: Topic = Topic::Event(EventType::SettlementCompleted);

    #[track_caller]
    fn codes<T: std::fmt::Debug>(read: Result<T, Error>) -> String {
        read.unwrap_err().fields.iter().map(|field| format!("{} {}", field.pointer, field.code)).collect::<Vec<_>>().join(", ")
    }

    fn new(body: &str) -> Result<NewWebhook, Error> {
        parse_new_webhook(body.as_bytes())
    }

    fn patch(body: &str) -> Result<WebhookPatch, Error> {
        parse_webhook_patch(body.as_bytes())
    }

    #[test]
    fn a_webhook_names_an_address_and_what_it_wants_to_hear() {
        let whole = new(r#"{"url":"https://x.example/h","events":["webhook.disabled","settlement.completed"],"description":"é"}"#).unwrap();
        assert_eq!(whole.url, "https://x.example/h");
        assert_eq!(whole.topics, Some(TopicSet::of([COMPLETED, Topic::WebhookDisabled])));
        assert_eq!(whole.description.as_deref(), Some("é"));
        for everything in ["", r#","events":null"#, r#","events":"*""#, r#","events":["*"]"#] {
            let plain = new(&format!(r#"{{"url":"u"{everything}}}"#)).unwrap();
            assert_eq!((plain.topics, plain.description), (None, None), "{everything}");
        }
        let every_one: Vec<_> = Topic::all().map(Topic::as_str).collect();
        let body = serde_json::json!({"url": "u", "events": every_one});
        assert_eq!(new(&body.to_string()).unwrap().topics, Some(TopicSet::of(Topic::all())), "all of today are not all for ever");
    }

    #[test]
    fn everything_that_is_wrong_with_a_webhook_is_told_at_once() {
        let wrong = r#"{"url":7,"events":["settlement.completed","settlement.paid",1],"description":"a\nb","secret":"s"}"#;
        let expected = "/url wrong_type, /events/1 event_type_unknown, /events/2 wrong_type, /description invalid_characters, \
                        /secret unknown_field";
        assert_eq!(codes(new(wrong)), expected);
        let unknown = new(r#"{"url":"u","events":["x"]}"#).unwrap_err();
        assert!(unknown.fields[0].message.contains("settlement.completed, ") && unknown.fields[0].message.ends_with("webhook.disabled"));
        assert_eq!(codes(new(r#"{"url":null,"events":[]}"#)), "/url required, /events too_few");
        assert_eq!(codes(new(r#"{"url":"","events":["settlement.completed","*"]}"#)), "/url required, /events/1 event_type_unknown");
        assert_eq!(codes(new(r#"{"url":"u","events":"settlement.completed"}"#)), "/events wrong_type");
        let long = serde_json::json!({"url": "u".repeat(URL_MAX_BYTES + 1), "description": "é".repeat(201)});
        assert_eq!(codes(new(&long.to_string())), "/url too_long, /description too_long");
        new(&serde_json::json!({"url": "u".repeat(URL_MAX_BYTES), "description": "é".repeat(200)}).to_string()).unwrap();
    }

    #[test]
    fn a_patch_tells_what_is_absent_from_what_is_taken_away() {
        assert_eq!(patch("{}").unwrap(), WebhookPatch::default());
        let away = patch(r#"{"events":null,"description":null}"#).unwrap();
        assert_eq!((away.topics, away.description), (Some(None), Some(None)));
        let all = patch(r#"{"url":"u","events":["settlement.completed"],"description":"d","enabled":false}"#).unwrap();
        assert_eq!((all.url.as_deref(), all.enabled), (Some("u"), Some(false)));
        assert_eq!((all.topics, all.description), (Some(Some(TopicSet::of([COMPLETED]))), Some(Some("d".to_owned()))));
        assert_eq!(patch(r#"{"events":"*"}"#).unwrap().topics, Some(None));
        assert_eq!(codes(patch(r#"{"url":null,"enabled":null}"#)), "/url required, /enabled required");
        assert_eq!(codes(patch(r#"{"enabled":"true","status":"enabled"}"#)), "/enabled wrong_type, /status unknown_field");
        assert_eq!(codes(patch(r#"{"url":"a","url":"b"}"#)), "/url duplicate_field");
        assert!(patch("").is_err());
    }

    #[test]
    fn a_rotation_leaves_a_day_unless_told() {
        let rotation = |body: &str| parse_rotation(body.as_bytes());
        assert_eq!(rotation("").unwrap(), 86_400_000);
        assert_eq!(rotation("{}").unwrap(), 86_400_000);
        assert_eq!(rotation(r#"{"grace":0}"#).unwrap(), 0);
        assert_eq!(rotation(r#"{"grace":604800}"#).unwrap(), 604_800_000);
        for wrong in ["604801", "-1", "1.5", "1e3", "99999999999999999999"] {
            assert_eq!(codes(rotation(&format!(r#"{{"grace":{wrong}}}"#))), "/grace out_of_range", "{wrong}");
        }
        assert_eq!(codes(rotation(r#"{"grace":true}"#)), "/grace wrong_type");
    }

    #[test]
    fn a_test_is_of_a_completed_settlement_unless_told() {
        let test = |body: &str| parse_webhook_test(body.as_bytes());
        assert_eq!(test("").unwrap(), COMPLETED);
        assert_eq!(test("{}").unwrap(), COMPLETED);
        assert_eq!(test(r#"{"type":"webhook.disabled"}"#).unwrap(), Topic::WebhookDisabled);
        assert_eq!(codes(test(r#"{"type":"*"}"#)), "/type event_type_unknown");
    }

    #[test]
    fn a_replay_has_a_beginning_and_may_have_an_end() {
        let replay = |body: &str| parse_replay(body.as_bytes());
        let open = replay(r#"{"since":"2026-11-21T12:38:17.042+02:00"}"#).unwrap();
        assert_eq!(open, ReplayRequest { since: 1_795_257_497_042, until: None, after: 0 });
        let part = replay(r#"{"since":"1970-01-01T00:00:00Z","until":"1970-01-01T00:00:01Z","after":7}"#).unwrap();
        assert_eq!(part, ReplayRequest { since: 0, until: Some(1_000), after: 7 });
        assert_eq!(codes(replay("{}")), "/since required");
        assert_eq!(
            codes(replay(r#"{"since":"today","until":1,"after":-1}"#)),
            "/since time_malformed, /until wrong_type, /after out_of_range"
        );
        let backwards = r#"{"since":"1970-01-01T00:00:01Z","until":"1970-01-01T00:00:01Z"}"#;
        assert_eq!(codes(replay(backwards)), "/until out_of_range");
    }
}
