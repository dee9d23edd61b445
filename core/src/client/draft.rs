//! A request between its two halves of being signed: keys may sign asynchronously or elsewhere, as Web Crypto, a phone's key store
//! and a security key do.

use super::{ClientError, Request};
use crate::auth::UnsignedFields;

/// A request that lacks nothing but a signature. It is good for a few minutes, and to be sent once.
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

    /// The request, ready to be sent.
    pub(super) fn finish(self, signature: &[u8]) -> Result<Request, ClientError> {
        let mut request = self.request;
        request.add(self.fields.finish(signature)?);
        Ok(request)
    }
}
