//! How secrets are stored: sealed under a master key, or in plain text if anyone who can read the store could also read the key.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::env::Env;
use crate::error::{Error, Result};
use crate::seal::MasterKeys;

/// Seals and opens the secrets in the store.
pub(crate) trait Vault: Send + Sync {
    /// Seals a secret for storage at `place`; `None` if there is no master key.
    fn seal(&self, env: &dyn Env, place: &str, secret: &[u8]) -> Option<Vec<u8>>;
    /// Opens a secret that [`Vault::seal`] sealed.
    fn open(&self, place: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>>;
}

impl Vault for Option<Arc<MasterKeys>> {
    fn seal(&self, env: &dyn Env, place: &str, secret: &[u8]) -> Option<Vec<u8>> {
        let mut random = [0u8; 24];
        env.random(&mut random);
        self.as_ref().map(|master| master.seal(place, random, secret))
    }

    fn open(&self, place: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        self.as_ref().ok_or_else(super::secrets::no_master)?.open(place, sealed).map_err(Error::internal)
    }
}

/// Stores secrets in plain text: anyone who can read the store of a browser tab or an app could read the master key as well.
#[cfg(feature = "sandbox")]
pub(crate) struct Plain;

/// The first byte of a plain secret. No sealed secret starts with it.
#[cfg(feature = "sandbox")]
const PLAIN: u8 = 0;

#[cfg(feature = "sandbox")]
impl Vault for Plain {
    fn seal(&self, _: &dyn Env, _: &str, secret: &[u8]) -> Option<Vec<u8>> {
        Some([&[PLAIN], secret].concat())
    }

    fn open(&self, _: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        match sealed.split_first() {
            Some((&PLAIN, secret)) => Ok(Zeroizing::new(secret.to_vec())),
            Some(_) | None => Err(Error::internal("a secret of the sandbox is damaged")),
        }
    }
}
