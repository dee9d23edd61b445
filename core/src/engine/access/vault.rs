//! How the secrets in the store are kept: sealed under a master key, or, where whoever reads the store could read the key as
//! well, as they are.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::env::Env;
use crate::error::{Error, Result};
use crate::seal::MasterKeys;

/// Keeps secrets.
pub(crate) trait Vault: Send + Sync {
    /// How a secret is kept at `place`; `None` where there is no master key.
    fn seal(&self, env: &dyn Env, place: &str, secret: &[u8]) -> Option<Vec<u8>>;
    /// What [`Vault::seal`] kept.
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

/// As they are: whoever can read the store of a tab or an app can read whatever would open it as well.
#[cfg(feature = "sandbox")]
pub(crate) struct Plain;

/// What stands before a secret that is kept as it is. No sealed value begins with it.
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
            Some(_) | None => Err(Error::internal("a secret of the sandbox is not as it was written")),
        }
    }
}
