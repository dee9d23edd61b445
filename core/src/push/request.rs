//! The headers of a push message (RFC 8030). What the answer of a push service means: [`crate::webhook::Verdict::of_push_status`].

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::message::SubscriptionKeys;
use super::vapid::VapidKey;
use crate::auth::SignError;
use crate::lifecycle::named_enum;

named_enum! {
    /// How soon a device that saves its battery should hear of a message.
    pub enum Urgency {
        /// When it is on power and Wi-Fi.
        VeryLow = "very-low",
        /// When it is on power or Wi-Fi.
        Low = "low",
        /// When it is neither.
        Normal = "normal",
        /// At once, whatever its battery.
        High = "high",
    }
}

/// How a push service treats a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// How long it is kept for a device that is not reachable, in seconds; 0 for not at all.
    pub ttl_s: u32,
    /// How soon it is delivered.
    pub urgency: Urgency,
    /// A kept message with the same topic is replaced by this one ([`topic_of`]).
    pub topic: Option<String>,
}

impl Request {
    /// The headers of the request, by lower-case name. `origin` is that of the subscription's endpoint.
    ///
    /// # Errors
    /// [`SignError`]: never for a key in memory.
    pub fn headers(
        &self,
        key: &VapidKey,
        origin: &str,
        contact: Option<&str>,
        now_s: i64,
    ) -> Result<Vec<(&'static str, String)>, SignError> {
        let mut headers = vec![
            ("authorization", key.authorization(origin, contact, now_s)?),
            ("content-encoding", "aes128gcm".to_owned()),
            ("content-type", "application/octet-stream".to_owned()),
            ("ttl", self.ttl_s.to_string()),
            ("urgency", self.urgency.as_str().to_owned()),
        ];
        headers.extend(self.topic.clone().map(|topic| ("topic", topic)));
        Ok(headers)
    }
}

/// The origin of an endpoint's URL, such as `https://push.example.net`: whom a token is for.
pub fn origin_of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    &url[..end]
}

/// The topic of messages about the same thing to one subscription. It tells the push service nothing but that they are about the same.
pub fn topic_of(keys: &SubscriptionKeys, about: &str) -> String {
    let digest = Sha256::new().chain_update(b"railgate-push-topic\0").chain_update(keys.auth()).chain_update(about).finalize();
    // A topic has at most 32 characters.
    URL_SAFE_NO_PAD.encode(&digest[..24])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_fits_into_its_header_and_tells_subscriptions_apart() {
        let p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
        let keys = |auth: &str| SubscriptionKeys::parse(p256dh, auth).unwrap();
        let (one, other) = (keys("BTBZMqHH6r4Tts7J_aSIgg"), keys("AAAAAAAAAAAAAAAAAAAAAA"));
        let topic = topic_of(&one, "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB");
        assert_eq!(topic.len(), 32);
        assert!(topic.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        assert_eq!(topic, topic_of(&one, "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB"));
        assert_ne!(topic, topic_of(&other, "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB"));
        assert_ne!(topic, topic_of(&one, "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YC"));
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        for (url, origin) in [
            ("https://push.example.net/p/1?a=b", "https://push.example.net"),
            ("https://push.example.net", "https://push.example.net"),
            ("http://127.0.0.1:8030/p", "http://127.0.0.1:8030"),
            ("https://push.example.net?a=https://other/", "https://push.example.net"),
        ] {
            assert_eq!(origin_of(url), origin);
        }
    }

    #[test]
    fn headers_say_how_to_treat_it() {
        let key = VapidKey::new(&[7; 32]).unwrap();
        let request = Request { ttl_s: 60, urgency: Urgency::VeryLow, topic: Some("t".to_owned()) };
        let headers = request.headers(&key, "https://push.example.net", None, 1_000).unwrap();
        let names: Vec<_> = headers.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["authorization", "content-encoding", "content-type", "ttl", "urgency", "topic"]);
        assert_eq!((headers[3].1.as_str(), headers[4].1.as_str(), headers[5].1.as_str()), ("60", "very-low", "t"));
    }
}
