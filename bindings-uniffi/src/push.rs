//! Pushes (Web Push, UnifiedPush) on a device: the keys that they are encrypted for, and what they say.

use std::sync::Arc;

use railgate::api::PushKeysBody;
use railgate::push::{SubscriptionKeys, decrypt};
use serde::Deserialize;

use crate::error::{GatewayError, Problem};
use crate::link::{parse, random};
use crate::names::NotificationKind;
use crate::values::{Decimal, Instant};

/// The keys that pushes for this app are encrypted for (RFC 8291). Whoever has them can read its pushes.
#[derive(uniffi::Object)]
pub struct PushKeys {
    private: [u8; 32],
    auth: [u8; 16],
    keys: SubscriptionKeys,
}

/// A decrypted push. It says no more than the user's preferences allow.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct PushMessage {
    /// What happened, in a few words.
    pub title: String,
    /// A sentence about it; empty if the user does not want more said.
    pub body: String,
    /// The language of both, a BCP 47 tag.
    pub lang: String,
    /// The direction of that language: `ltr` or `rtl`.
    pub dir: String,
    /// The same for pushes about one payment: show the last one instead of the earlier ones.
    pub tag: Option<String>,
    /// Whether it must be shown without a sound: it came in quiet hours.
    pub silent: bool,
    /// What it tells.
    pub kind: NotificationKind,
    /// When that happened.
    pub at: Instant,
    /// `ntf_` and a ULID: the notification in the inbox.
    pub notification_id: Option<String>,
    /// `stl_` and a ULID: the payment, if it is about one.
    pub settlement_id: Option<String>,
    /// The reference of the payment.
    pub reference: Option<String>,
    /// The amount: that of the payment, or what was given back of it.
    pub amount: Option<Decimal>,
    /// ISO 4217 code.
    pub currency: Option<String>,
    /// The payee.
    pub to: Option<String>,
    /// Why the payment failed: a failure code.
    pub failure: Option<String>,
    /// Until when the payment waits for approval.
    pub expires_at: Option<Instant>,
    /// `dev_` and a ULID: the device, if it is about one.
    pub device_id: Option<String>,
    /// What the owner of the device calls it, or its model or platform.
    pub device: Option<String>,
}

/// The text of a push: the first members have the names of the options of the browsers' `showNotification`.
#[derive(Deserialize)]
struct Shown {
    title: String,
    #[serde(default)]
    body: String,
    lang: String,
    dir: String,
    tag: Option<String>,
    #[serde(default)]
    silent: bool,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    id: Option<String>,
    kind: NotificationKind,
    at: Instant,
    settlement_id: Option<String>,
    reference: Option<String>,
    amount: Option<Decimal>,
    currency: Option<String>,
    to: Option<String>,
    failure: Option<String>,
    expires_at: Option<Instant>,
    device_id: Option<String>,
    device: Option<String>,
}

impl Shown {
    fn message(self) -> PushMessage {
        let Self { title, body, lang, dir, tag, silent, data } = self;
        let Data { id, kind, at, settlement_id, reference, amount, currency, to, failure, expires_at, device_id, device } = data;
        let notification_id = id;
        PushMessage {
            title,
            body,
            lang,
            dir,
            tag,
            silent,
            kind,
            at,
            notification_id,
            settlement_id,
            reference,
            amount,
            currency,
            to,
            failure,
            expires_at,
            device_id,
            device,
        }
    }
}

impl PushKeys {
    fn of(secret: [u8; 48]) -> Option<Self> {
        let (private, auth) = secret.split_first_chunk::<32>()?;
        let (private, auth) = (*private, auth.try_into().ok()?);
        Some(Self { keys: SubscriptionKeys::of(&private, auth)?, private, auth })
    }

    pub(crate) fn body(&self) -> PushKeysBody {
        let (p256dh, auth) = self.keys.texts();
        PushKeysBody { p256dh, auth }
    }
}

#[uniffi::export]
impl PushKeys {
    /// The keys of an earlier [`PushKeys::secret`]; new ones by default.
    ///
    /// # Errors
    /// `Invalid` with code `push_keys_malformed`; `Unsigned` if the device has no randomness.
    #[uniffi::constructor(default(secret = None))]
    pub fn new(secret: Option<Vec<u8>>) -> Result<Arc<Self>, GatewayError> {
        let malformed = || GatewayError::invalid(Problem::local("push_keys_malformed", "these are not the secret bytes of push keys"));
        let keys = match secret {
            Some(secret) => Self::of(secret.try_into().map_err(|_| malformed())?).ok_or_else(malformed)?,
            // One draw in 2^32 is no key of the curve.
            None => loop {
                if let Some(keys) = Self::of(random()?) {
                    break keys;
                }
            },
        };
        Ok(Arc::new(keys))
    }

    /// The 48 bytes to keep, where only the app can read them: without them, no push can be read.
    ///
    /// # Errors
    /// None.
    pub fn secret(&self) -> Result<Vec<u8>, GatewayError> {
        Ok([&self.private[..], &self.auth[..]].concat())
    }

    /// Decrypts a message as the push service delivered it, in the coding `aes128gcm`, and reads what the gateway wrote.
    ///
    /// # Errors
    /// `NotGenuine` with code `push_invalid`: it is damaged, for other keys, or not a gateway's.
    pub fn decrypt(&self, message: Vec<u8>) -> Result<PushMessage, GatewayError> {
        let invalid = |detail| GatewayError::not_genuine("push_invalid", detail);
        let text = decrypt(&self.keys, &self.private, &message).map_err(|error| invalid(error.to_string()))?;
        parse::<Shown>(&text).map(Shown::message).map_err(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GatewayError;

    const TEXT: &str = r#"{"title": "A payment arrived", "lang": "en", "dir": "ltr", "silent": false,
        "data": {"kind": "payment.completed", "at": "2026-11-21T10:38:17.042Z", "amount": "1234.50", "currency": "KES"}}"#;

    fn sealed(keys: &PushKeys, text: &[u8]) -> Vec<u8> {
        railgate::push::encrypt(&keys.keys, text, [1; 16], &[2; 32]).unwrap()
    }

    #[test]
    fn a_push_is_read_with_its_keys_and_with_no_others() {
        let keys = PushKeys::new(None).unwrap();
        let again = PushKeys::new(Some(keys.secret().unwrap())).unwrap();
        let told = again.decrypt(sealed(&keys, TEXT.as_bytes())).unwrap();
        assert_eq!((told.title.as_str(), told.kind, told.body.as_str()), ("A payment arrived", NotificationKind::PaymentCompleted, ""));
        assert_eq!((told.amount.map(|it| it.to_string()).as_deref(), told.at), (Some("1234.50"), Instant(1_795_257_497_042)));
        let code = |error: GatewayError| error.problem().code.clone();
        let others = PushKeys::new(None).unwrap();
        assert_eq!(code(others.decrypt(sealed(&keys, TEXT.as_bytes())).unwrap_err()), "push_invalid");
        assert_eq!(code(keys.decrypt(sealed(&keys, b"{}")).unwrap_err()), "push_invalid");
        assert_eq!(code(keys.decrypt(Vec::new()).unwrap_err()), "push_invalid");
        for bad in [vec![], vec![7; 47], vec![0; 48]] {
            assert_eq!(PushKeys::new(Some(bad)).map(|_| ()).map_err(code), Err("push_keys_malformed".to_owned()));
        }
    }
}
