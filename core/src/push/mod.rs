//! Web Push: messages to browsers and apps, through the push service of each.
//!
//! Three standards: the message is encrypted for one subscription ([`message`](encrypt), RFC 8291, in the coding of RFC 8188), the
//! request is signed for its push service ([`vapid`](VapidKey), RFC 8292), and a few headers say how to treat it (RFC 8030). Nothing here
//! sends anything: time and randomness are arguments.
//!
//! ```
//! use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
//! use railgate::push::{Request, SubscriptionKeys, Urgency, VapidKey, decrypt};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // What a browser's `PushSubscription.toJSON()` has under `keys`.
//! let p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
//! let keys = SubscriptionKeys::parse(p256dh, "BTBZMqHH6r4Tts7J_aSIgg")?;
//!
//! # let (key, salt, ephemeral) = ([7; 32], [8; 16], [9; 32]);
//! let vapid = VapidKey::new(&key).ok_or("not a key")?;
//! let request = Request { ttl_s: 600, urgency: Urgency::High, topic: None };
//! let headers = request.headers(&vapid, "https://push.example.net", Some("mailto:ops@example.com"), 1_795_257_497)?;
//! assert!(headers.iter().any(|(name, value)| *name == "ttl" && value == "600"));
//!
//! let body = railgate::push::encrypt(&keys, b"Your payment has arrived", salt, &ephemeral).ok_or("draw again")?;
//! // Only the receiver can read it; here, the key that RFC 8291 uses as an example.
//! let receiver = URL_SAFE_NO_PAD.decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")?;
//! let receiver: [u8; 32] = receiver.try_into().map_err(|_| "too short")?;
//! assert_eq!(decrypt(&keys, &receiver, &body)?, b"Your payment has arrived");
//! # Ok(())
//! # }
//! ```

mod coding;
mod message;
mod request;
mod vapid;

pub use coding::CodingError;
pub use message::{KeysError, PLAINTEXT_MAX_BYTES, RECORD_BYTES, SubscriptionKeys, decrypt, encrypt};
pub use request::{Request, Urgency, origin_of, topic_of};
#[cfg(feature = "push")]
pub(crate) use vapid::application_server_key;
pub use vapid::{VAPID_LIFE_S, VapidKey};
