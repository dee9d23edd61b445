//! How a gateway identifies itself to a push service (RFC 8292): a short-lived token, signed by the key that the app subscribed with.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::auth::{P256Key, SignError, Signer as _};

/// How long a token is valid, in seconds: half of what a push service may accept at most.
pub const VAPID_LIFE_S: i64 = 12 * 3_600;

/// A key that identifies the gateway to push services, and to which each subscription is bound.
#[derive(Debug)]
pub struct VapidKey(P256Key);

impl VapidKey {
    /// A key from its secret scalar, big-endian; `None` if that is zero or not below the group's order.
    pub fn new(secret: &[u8; 32]) -> Option<Self> {
        P256Key::new(secret).map(Self)
    }

    /// Its public half, as an app passes it to `PushManager.subscribe` as `applicationServerKey`: an uncompressed point in base64url.
    pub fn application_server_key(&self) -> String {
        application_server_key(self.0.public_key().as_bytes())
    }

    /// The value of `Authorization` for a push service with this origin, such as `https://push.example.net`. `contact` is where its
    /// people reach those of the gateway: a `mailto:` or `https:` URI.
    ///
    /// # Errors
    /// [`SignError`]: never for a key in memory.
    pub fn authorization(&self, origin: &str, contact: Option<&str>, now_s: i64) -> Result<String, SignError> {
        let mut claims = serde_json::Map::new();
        claims.insert("aud".to_owned(), origin.into());
        claims.insert("exp".to_owned(), now_s.saturating_add(VAPID_LIFE_S).into());
        if let Some(contact) = contact {
            claims.insert("sub".to_owned(), contact.into());
        }
        let claims = serde_json::Value::from(claims).to_string();
        let signed = [r#"{"typ":"JWT","alg":"ES256"}"#, &claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
        let signature = URL_SAFE_NO_PAD.encode(self.0.sign(signed.as_bytes())?);
        Ok(format!("vapid t={signed}.{signature}, k={}", self.application_server_key()))
    }
}

/// The public half of a key as an app needs it, from an uncompressed point.
pub(crate) fn application_server_key(point: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(point)
}

#[cfg(test)]
mod tests {
    use p256::ecdsa::signature::Verifier as _;

    use super::*;

    /// The claims of a token, if it was signed by the key beside it.
    fn verified(authorization: &str) -> Option<serde_json::Value> {
        let (token, key) = authorization.strip_prefix("vapid t=")?.split_once(", k=")?;
        let (signed, signature) = token.rsplit_once('.')?;
        let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(&URL_SAFE_NO_PAD.decode(key).ok()?).ok()?;
        let signature = p256::ecdsa::Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).ok()?).ok()?;
        key.verify(signed.as_bytes(), &signature).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(signed.split_once('.')?.1).ok()?).ok()
    }

    #[test]
    fn the_example_of_the_standard_is_verified_in_the_same_way() {
        let example = concat!(
            "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6",
            "Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, ",
            "k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs",
        );
        assert_eq!(verified(example).unwrap()["aud"], "https://push.example.net");
    }

    #[test]
    fn a_token_is_for_one_push_service_and_half_a_day() {
        let key = VapidKey::new(&[7; 32]).unwrap();
        let authorization = key.authorization("https://push.example.net", Some("mailto:ops@example.com"), 1_000).unwrap();
        let expected = serde_json::json!({"aud": "https://push.example.net", "exp": 44_200, "sub": "mailto:ops@example.com"});
        assert_eq!(verified(&authorization), Some(expected));
        assert!(authorization.ends_with(&key.application_server_key()));
        assert_eq!(verified(&authorization.replace("vapid t=e", "vapid t=f")), None);
        assert_eq!(verified(&key.authorization("https://p.example", None, 0).unwrap()).unwrap().get("sub"), None);
        assert_eq!(VapidKey::new(&[0; 32]).map(|key| key.application_server_key()), None);
    }
}
