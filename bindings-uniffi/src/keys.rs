//! The client's keys: live access, further devices and replacement.

use std::sync::Arc;

use railgate::ErrorCode;
use railgate::client::Request;
use railgate::ledger::Mode;

use crate::client::{Data, Enrollment, GatewayClient};
use crate::error::{GatewayError, Problem};
use crate::host::Signer;
use crate::link::NewKey;
use crate::names::KeyStatus;
use crate::views::Key;

const KEYS: &str = "/api/v1/auth/keys";

#[uniffi::export]
impl GatewayClient {
    /// Requests live access for a new key; the sandbox client's key and the new one both sign. When an operator has approved it,
    /// open a client with `Environment.Live` and the new key. Repeat the call to find out whether it is approved.
    ///
    /// # Errors
    /// `Refused`; `Unanswered`, `Unsigned`.
    pub async fn enroll_live(&self, key: Arc<dyn Signer>) -> Result<Enrollment, GatewayError> {
        let key = NewKey::new(key)?;
        let request = self.link.session(|session| session.enroll_live_request(&key.public));
        match self.by_both(request, &key).await {
            Err(error) if is_known(&error) => self.live_before(&key).await,
            enrolled => enrolled,
        }
    }

    /// Returns the client's keys, oldest first.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn keys(&self) -> Result<Vec<Key>, GatewayError> {
        let page: Data<Key> = self.look(KEYS.to_owned()).await?;
        Ok(page.data)
    }

    /// Adds another key to the same client, for a further device or to replace this one; both sign. Adding the same key
    /// again changes nothing.
    ///
    /// # Errors
    /// `Refused`, such as `key_exists` for another client's key; `Unanswered`, `Unsigned`.
    pub async fn add_key(&self, key: Arc<dyn Signer>, label: Option<String>) -> Result<Key, GatewayError> {
        let key = NewKey::new(key)?;
        let label = label.map(|label| format!(r#","label":{}"#, serde_json::Value::from(label))).unwrap_or_default();
        let request = Request::post(KEYS, format!(r#"{{"jwk":{}{label}}}"#, key.public.jwk()));
        match self.by_both(request, &key).await {
            Err(error) if is_known(&error) => {
                let id = key.public.id().to_string();
                self.keys().await?.into_iter().find(|known| known.key_id == id).ok_or(error)
            }
            added => added,
        }
    }

    /// Revokes one of the client's keys and its tokens, permanently.
    ///
    /// # Errors
    /// `Refused` with code `key_not_found`; `Unanswered`, `Unsigned`.
    pub async fn revoke_key(&self, key_id: String) -> Result<(), GatewayError> {
        if key_id.is_empty() || !key_id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
            return Err(GatewayError::invalid(Problem::local("key_not_found", "this is not the id of a key")));
        }
        self.call(Request::new("DELETE", &format!("{KEYS}/{key_id}"))).await
    }
}

/// The key is already enrolled, perhaps by an attempt whose response was lost.
fn is_known(error: &GatewayError) -> bool {
    matches!(error, GatewayError::Refused { problem } if problem.code == ErrorCode::KeyExists.as_str())
}

impl GatewayClient {
    /// The state of a live key that was enrolled before: a sandbox key cannot see it, but the live key can ask for itself.
    async fn live_before(&self, key: &NewKey) -> Result<Enrollment, GatewayError> {
        let (client_id, status) = match self.link.of_new_key(key, Mode::Live)?.identify().await {
            Ok(client_id) => (client_id, KeyStatus::Active),
            Err(GatewayError::Refused { problem }) if problem.code == ErrorCode::EnrollmentPending.as_str() => {
                (self.link.identify().await?, KeyStatus::Pending)
            }
            Err(error) => return Err(error),
        };
        Ok(Enrollment { client_id, key_id: key.public.id().to_string(), status, webhook_secret: None, balances: Vec::new() })
    }
}
