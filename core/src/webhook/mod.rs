//! Webhooks as defined in [Standard Webhooks 1.0.0]: signing, verifying, when to retry, what a response means, and where a webhook
//! may be sent.
//!
//! Everything here is a pure function: time and randomness are arguments, and nothing is sent. The gateway, a phone and a browser
//! therefore verify with the same code.
//!
//! # Verifying what the gateway sends
//!
//! Verify the raw bytes of the body, before anything parses them.
//!
//! ```
//! use railgate::webhook::{SignedHeaders, TOLERANCE_S, VerifyError, WebhookSecret, verify};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Kept where the receiver keeps its secrets. During a rotation there may be two.
//! let secrets = [WebhookSecret::parse("whsec_cmFpbGdhdGUgZG9jdW1lbnRhdGlvbiBleGFtcGxlICE=")?];
//!
//! // From any HTTP library: a function that finds a header by its name.
//! let request = [
//!     ("webhook-id", "evt_01JD0000000000000000000000"),
//!     ("webhook-timestamp", "1795257497"),
//!     ("webhook-signature", "v1,SxqO7I+mGXF8UV9+Y8e/rZCarR6CRUwTDKcTNuC/Svc="),
//! ];
//! let headers = SignedHeaders::find(|name| request.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))?;
//! let body = br#"{"type":"settlement.completed"}"#;
//!
//! let now_s = 1795257500;
//! verify(&secrets, &headers, body, now_s, TOLERANCE_S)?;
//!
//! assert_eq!(verify(&secrets, &headers, b"{}", now_s, TOLERANCE_S), Err(VerifyError::NoMatchingSignature));
//! # Ok(())
//! # }
//! ```
//!
//! [Standard Webhooks 1.0.0]: https://www.standardwebhooks.com

mod guard;
mod schedule;
mod secret;
mod sign;
mod verdict;

pub use guard::{AddressKind, Cidr, CidrError, Destination, Guard, GuardError, Host, URL_MAX_BYTES};
pub use schedule::{ATTEMPTS_MAX, RETRY_AFTER_MAX_MS, next_delay, parse_retry_after};
pub use secret::{SecretError, WebhookSecret};
pub use sign::{ID, SIGNATURE, SignedHeaders, TIMESTAMP, TOLERANCE_S, VerifyError, sign, verify};
pub use verdict::Verdict;
