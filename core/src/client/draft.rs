//! A request before it is signed. Signing is split in two because keys may sign asynchronously or elsewhere: Web Crypto, a phone's
//! key store, a security key.

use super::{ClientError, Request};
use crate::auth::UnsignedFields;

/// A request that is complete except for its signature. It is valid for a few minutes and must be sent only once.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) request: Request,
    pub(super) fields: UnsignedFields,
}

impl Draft {
    /// The bytes to sign.
    pub(super) fn to_sign(&self) -> &[u8] {
        self.fields.to_sign()
    }

    /// The signed request, ready to send.
    pub(super) fn finish(self, signature: &[u8]) -> Result<Request, ClientError> {
        let mut request = self.request;
        request.add(self.fields.finish(signature)?);
        Ok(request)
    }
}
