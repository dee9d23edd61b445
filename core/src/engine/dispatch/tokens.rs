//! The access tokens with which operators are called, as long as they are valid. They are in this process's memory only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::env::Env;
use crate::rail::AccessToken;
use crate::route::ProviderSpec;
use crate::time::Millis;

/// How long before its end a token is no longer used, in milliseconds; less for one that does not live ten times as long.
const MARGIN: Millis = 30_000;

/// The current token of each provider.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<BTreeMap<String, Kept>>);

struct Kept {
    /// The provider as it was configured then: with other secrets it is another one.
    of: Arc<ProviderSpec>,
    token: Arc<AccessToken>,
    /// By the steady clock.
    until: Millis,
}

/// A token that an exchange uses.
pub(crate) struct Held {
    token: Arc<AccessToken>,
    used: bool,
}

impl Held {
    pub(crate) fn token(&self) -> &AccessToken {
        &self.token
    }

    /// Whether it was used before, so that the operator may have ended it meanwhile.
    pub(crate) fn was_used(&self) -> bool {
        self.used
    }
}

impl Tokens {
    pub(crate) fn current(&self, env: &dyn Env, of: &Arc<ProviderSpec>) -> Option<Held> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.get(&of.id).filter(|kept| Arc::ptr_eq(&kept.of, of) && env.steady() < kept.until)?;
        Some(Held { token: Arc::clone(&kept.token), used: true })
    }

    pub(crate) fn keep(&self, env: &dyn Env, of: &Arc<ProviderSpec>, token: AccessToken) -> Held {
        let lifetime = token.lifetime_ms - MARGIN.min(token.lifetime_ms / 10);
        let (token, until) = (Arc::new(token), env.steady().saturating_add(lifetime));
        let kept = Kept { of: Arc::clone(of), token: Arc::clone(&token), until };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(of.id.clone(), kept);
        Held { token, used: false }
    }

    /// Forgets this token of the provider, if it has no newer one.
    pub(crate) fn forget(&self, of: &ProviderSpec, held: &Held) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.get(&of.id).is_some_and(|kept| Arc::ptr_eq(&kept.token, &held.token)) {
            kept.remove(&of.id);
        }
    }
}
