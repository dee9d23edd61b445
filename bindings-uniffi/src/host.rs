//! What the app brings: the connection and the key.

use async_trait::async_trait;

/// One line of a request's or an answer's head.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct HttpHeader {
    /// The name, in any case.
    pub name: String,
    /// The value.
    pub value: String,
}

/// A request that is ready to be sent as it stands: everything that matters in it is signed.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The absolute address.
    pub url: String,
    /// Its head; `host` and `content-length` are the transport's to add.
    pub headers: Vec<HttpHeader>,
    /// The body; empty is none.
    pub body: Vec<u8>,
    /// How long to wait for the whole answer, in milliseconds.
    pub timeout_ms: u64,
}

/// An answer, whatever its status. Redirects are answers and are not followed.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// Its head.
    pub headers: Vec<HttpHeader>,
    /// The whole body.
    pub body: Vec<u8>,
}

/// Why a transport has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum TransportError {
    /// Nothing of the request can have left the device: no network, no address, no connection.
    #[error("{detail}")]
    NotSent {
        /// One sentence for people.
        detail: String,
    },
    /// It left or may have left, and no complete answer came. Use this whenever in doubt.
    #[error("{detail}")]
    NoAnswer {
        /// One sentence for people.
        detail: String,
    },
}

impl From<uniffi::UnexpectedUniFFICallbackError> for TransportError {
    /// An error of an unexpected kind: it is not known what was sent.
    fn from(error: uniffi::UnexpectedUniFFICallbackError) -> Self {
        Self::NoAnswer { detail: error.reason }
    }
}

/// The connection to a gateway. The packages bring some; an app may bring its own.
#[uniffi::export(with_foreign)]
#[async_trait]
pub trait HttpTransport: Send + Sync {
    /// Sends the request once and returns the answer. It must not retry by itself.
    ///
    /// # Errors
    /// [`TransportError`].
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, TransportError>;

    /// Returns after this many milliseconds. Nothing here has a timer of its own.
    ///
    /// # Errors
    /// [`TransportError`], if it can wait no longer.
    async fn pause(&self, ms: u64) -> Result<(), TransportError>;
}

/// Why a key did not sign.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum SignerError {
    /// The key is not there, is locked, or its user did not agree.
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

/// The device's key. Its private half stays where it is: in the Android Keystore, the Secure Enclave, a file.
#[uniffi::export(with_foreign)]
#[async_trait]
pub trait Signer: Send + Sync {
    /// The public half: of P-256 the uncompressed point (65 bytes, as `SecKeyCopyExternalRepresentation` gives it), of
    /// Ed25519 the 32 bytes, or of either a `SubjectPublicKeyInfo` in DER (as `PublicKey.getEncoded()` gives it).
    ///
    /// # Errors
    /// [`SignerError`].
    fn public_key(&self) -> Result<Vec<u8>, SignerError>;

    /// Signs `message`: ECDSA with SHA-256 over P-256, in DER (as the platforms' key stores give it) or `r‖s`; or Ed25519.
    ///
    /// # Errors
    /// [`SignerError`].
    async fn sign(&self, message: Vec<u8>) -> Result<Vec<u8>, SignerError>;
}
