//! The books of the gateway itself, as a rail: a payment between two of its clients moves money from one account to the other.
//!
//! ```
//! use railgate::rail::Rail as _;
//! use railgate::rail::books::{Books, ID, providers};
//!
//! // One provider for each mode, which nobody configures.
//! let [sandbox, live] = providers();
//! assert!(sandbox.mode.is_sandbox() && !live.mode.is_sandbox());
//! assert_eq!((sandbox.id.as_str(), live.id.as_str(), Books.kind()), (ID, ID, "books"));
//! ```
//!
//! There is nobody to call: the engine decides such a payment, and its reversals, in the commit that creates them.

use super::{Heard, HttpReply, Link, Rail, RailAnswer, Request};
use crate::api::RailCall;
use crate::ledger::Mode;
use crate::participant::Namespace;
use crate::route::{Capabilities, ProviderSpec, Serves};

/// The id of the provider, in both modes. No other provider can have it.
pub const ID: &str = "books";

/// The kind of participant that is a client of the gateway.
pub const NAMESPACE: Namespace = Namespace::Participant;

/// The rail of payments between two clients.
pub struct Books;

impl Rail for Books {
    fn kind(&self) -> &'static str {
        "books"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: true, reverse: true, partial_reverse: true, inquiry: true, idempotent_submit: true }
    }

    /// Nothing is ever sent.
    fn encode(&self, _: &RailCall, _: &Link<'_>) -> Request {
        Request::Known(RailAnswer::Unknown)
    }

    fn decode(&self, _: &RailCall, _: &Link<'_>, _: &HttpReply) -> Heard<RailAnswer> {
        Heard::Answer(RailAnswer::Unknown)
    }
}

/// The provider of each mode: it reaches the clients of the gateway, and nobody else.
pub fn providers() -> [ProviderSpec; 2] {
    [Mode::Sandbox, Mode::Live].map(|mode| ProviderSpec {
        namespaces: Serves::Only(vec![NAMESPACE]),
        ..ProviderSpec::new(ID, "Clients of this gateway", mode, &Books)
    })
}
