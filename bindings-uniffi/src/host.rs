//! The interfaces that the app implements: the connection and the key.

use async_trait::async_trait;

/// A header of a request or a response.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct HttpHeader {
    /// The name, in any case.
    pub name: String,
    /// The value.
    pub value: String,
}

/// A request to send unchanged: its essential parts are signed.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The absolute address.
    pub url: String,
    /// The headers; the transport adds `host` and `content-length`.
    pub headers: Vec<HttpHeader>,
    /// The body; empty means no body.
    pub body: Vec<u8>,
    /// The timeout for the complete response, in milliseconds.
    pub timeout_ms: u64,
}

/// A response with any status. Redirects are responses and must not be followed.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct HttpResponse {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<HttpHeader>,
    /// The complete body.
    pub body: Vec<u8>,
}

/// Why a transport got no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum TransportError {
    /// Nothing of the request can have left the device: no network, no address, no connection.
    #[error("{detail}")]
    NotSent {
        /// One sentence for people.
        detail: String,
    },
    /// The request was or may have been sent, and no complete response arrived. Use this whenever in doubt.
    #[error("{detail}")]
    NoAnswer {
        /// One sentence for people.
        detail: String,
    },
}

impl From<uniffi::UnexpectedUniFFICallbackError> for TransportError {
    /// An error of an unexpected kind: it is unknown what was sent.
    fn from(error: uniffi::UnexpectedUniFFICallbackError) -> Self {
        Self::NoAnswer { detail: error.reason }
    }
}

/// The connection to a gateway. The packages include implementations; an app may provide its own.
#[uniffi::export(with_foreign)]
#[async_trait]
pub trait HttpTransport: Send + Sync {
    /// Sends the request once and returns the response. It must not retry by itself.
    ///
    /// # Errors
    /// [`TransportError`].
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, TransportError>;

    /// Returns after this many milliseconds. The library has no timers of its own.
    ///
    /// # Errors
    /// [`TransportError`] if it can no longer wait.
    async fn pause(&self, ms: u64) -> Result<(), TransportError>;
}

/// Why a key did not sign.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum SignerError {
    /// The key is missing or locked, or its user did not agree.
    #[error("{detail}")]
    Unavailable {
        /// One sentence for people.
        detail: String,
    },
}

impl From<uniffi::UnexpectedUniFFICallbackError> for SignerError {
    fn from(error: uniffi::UnexpectedUniFFICallbackError) -> Self {
        Self::Unavailable { detail: error.reason }
    }
}

/// The device's key. The private key stays where it is: in the Android Keystore, the Secure Enclave, a file.
#[uniffi::export(with_foreign)]
#[async_trait]
pub trait Signer: Send + Sync {
    /// The public key: for P-256 the uncompressed point (65 bytes, as `SecKeyCopyExternalRepresentation` returns it), for
    /// Ed25519 the 32 bytes, or for either a `SubjectPublicKeyInfo` in DER (as `PublicKey.getEncoded()` returns it).
    ///
    /// # Errors
    /// [`SignerError`].
    fn public_key(&self) -> Result<Vec<u8>, SignerError>;

    /// Signs `message`: ECDSA with SHA-256 over P-256, in DER (as the platforms' key stores return it) or `r‖s`; or Ed25519.
    ///
    /// # Errors
    /// [`SignerError`].
    async fn sign(&self, message: Vec<u8>) -> Result<Vec<u8>, SignerError>;
}
