//! Rails: how a kind of operator is spoken to. The engine decides *that* something is asked; a [`Rail`] says how, as data, and
//! reads the answer; a host carries it. A rail does no I/O, reads no clock, knows no store and keeps no state.
//!
//! To add one: a file here that implements [`Rail`], and its line in [`Rails::built_in`]. Nothing outside this folder names one.

mod carry;
mod request;
pub mod simulator;

use std::fmt;
use std::sync::Arc;

use crate::api::{Action, PayeeView, RailCall, ScenarioView};
use crate::lifecycle::attempt::AnswerKind;
use crate::lifecycle::stored_enum;
use crate::participant::Participant;
use crate::route::{Capabilities, ProviderSpec};
use crate::time::Millis;

pub use carry::Carrier;
pub use request::{Callback, CallbackError, Carried, HttpReply, HttpRequest, Inbound, Request};

/// How a kind of operator is spoken to. Pure.
pub trait Rail: Send + Sync {
    /// What a provider's `rail` says. Never changes.
    fn kind(&self) -> &'static str;

    /// What operators of this kind can do, unless a provider says otherwise.
    fn capabilities(&self) -> Capabilities;

    /// Who stands behind a participant, as far as it is known without asking the operator.
    fn payee(&self, _to: &Participant) -> PayeeView {
        PayeeView::UNKNOWN
    }

    /// The request that asks a provider who stands behind a participant, for a check before a payment; `None` where it cannot be
    /// asked. It moves no money and may be repeated.
    fn look_up_payee(&self, _to: &Participant, _provider: &ProviderSpec) -> Option<HttpRequest> {
        None
    }

    /// What the provider's reply to [`Rail::look_up_payee`] says. Whatever does not fit its protocol is
    /// [`PayeeView::UNKNOWN`].
    fn decode_payee(&self, _to: &Participant, _reply: &HttpReply) -> PayeeView {
        PayeeView::UNKNOWN
    }

    /// What to send to the provider, to ask it that.
    fn encode(&self, call: &RailCall, provider: &ProviderSpec) -> Request;

    /// What the provider's reply means. Whatever does not fit what its protocol says is [`RailAnswer::Unknown`].
    fn decode(&self, call: &RailCall, reply: &HttpReply) -> RailAnswer;

    /// Reads what a provider sends by itself: about what, and what it says.
    ///
    /// # Errors
    /// [`CallbackError`] if it cannot be proved to come from the provider, or cannot be read. Nothing may change then.
    fn callback(&self, _inbound: &Inbound<'_>, _provider: &ProviderSpec) -> Result<Callback, CallbackError> {
        Err(CallbackError::Unsupported)
    }

    /// Whether [`RailAnswer::NotSent`] in answer to `action` proves that nothing happened: that the operator could not even be
    /// reached does; that it does not know the payment does only where it declares that authoritative.
    fn proves_not_sent(&self, action: Action, provider: &ProviderSpec) -> bool {
        match action {
            Action::Submit | Action::Reverse => true,
            Action::Inquire | Action::InquireReversal => provider.capabilities.inquiry,
        }
    }

    /// The operator itself, where it lives inside the gateway; [`Rail::encode`] then gives [`Request::Inside`].
    fn inside(&self) -> Option<&dyn Inside> {
        None
    }

    /// What can be played with it in the sandbox.
    fn scenarios(&self) -> &'static [ScenarioView] {
        &[]
    }
}

/// An operator inside the gateway. It keeps books of its own, as a real one does, in the gateway's store.
pub trait Inside: Send + Sync {
    /// Whether a request arrives at all.
    fn is_reachable(&self, call: &RailCall) -> bool;
    /// The answer to a payment or a reversal that has arrived.
    fn answer(&self, call: &RailCall) -> RailAnswer;
    /// The answer to a question about one that arrived `elapsed` milliseconds ago.
    fn inquire(&self, call: &RailCall, elapsed: Millis) -> RailAnswer;
    /// The callbacks about a payment: how long after it arrived, and what each says.
    fn callbacks(&self, call: &RailCall) -> Vec<(Millis, RailAnswer)>;
}

/// The rails that a gateway speaks.
#[derive(Clone)]
pub struct Rails(Vec<Arc<dyn Rail>>);

impl Rails {
    /// All that this crate brings.
    pub fn built_in() -> Self {
        Self(vec![Arc::new(simulator::Simulator)])
    }

    /// With one more; it takes the place of one of the same kind.
    #[must_use]
    pub fn with(mut self, rail: impl Rail + 'static) -> Self {
        self.0.retain(|other| other.kind() != rail.kind());
        self.0.push(Arc::new(rail));
        self
    }

    /// The one of this kind.
    pub fn get(&self, kind: &str) -> Option<&dyn Rail> {
        self.0.iter().find(|rail| rail.kind() == kind).map(|rail| &**rail)
    }
}

impl fmt::Debug for Rails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|rail| rail.kind())).finish()
    }
}

/// The providers of a gateway that nobody has configured: simulated ones, in order of preference.
pub fn sandbox_providers() -> Vec<ProviderSpec> {
    vec![
        ProviderSpec::simulator("simulator", "Simulated operator"),
        ProviderSpec::simulator("simulator-backup", "Simulated operator, second choice"),
    ]
}

/// What can be played in the sandbox.
pub fn sandbox_scenarios() -> &'static [ScenarioView] {
    simulator::Simulator.scenarios()
}

stored_enum! {
    /// What a payee check says.
    pub enum PayeeMatch {
        /// The participant is who the payer thinks.
        Match = 1 "match",
        /// Nearly: show the name and ask.
        CloseMatch = 2 "close_match",
        /// Not.
        NoMatch = 3 "no_match",
        /// The provider cannot tell.
        NotAvailable = 4 "not_available",
    }
}

stored_enum! {
    /// Why a settlement or a reversal failed.
    pub enum FailureCode {
        /// The recipient does not exist at the provider.
        RecipientNotFound = 1 "recipient_not_found",
        /// The recipient's account is closed.
        AccountClosed = 2 "account_closed",
        /// The recipient's account is blocked.
        AccountBlocked = 3 "account_blocked",
        /// The gateway's own account at the provider is short.
        InsufficientFunds = 4 "insufficient_funds",
        /// The provider already has a payment like it.
        Duplicate = 5 "duplicate",
        /// Over one of the provider's limits.
        OverLimit = 6 "over_limit",
        /// The provider cannot be reached; provably nothing was sent.
        ProviderOffline = 7 "provider_offline",
        /// The provider does not take this amount.
        InvalidAmount = 8 "invalid_amount",
        /// The provider does not allow it.
        NotAllowed = 9 "not_allowed",
        /// Anything else.
        Other = 10 "other",
    }
}

impl FailureCode {
    /// The ISO 20022 status reason (ExternalStatusReason1Code).
    pub const fn iso_reason(self) -> &'static str {
        match self {
            Self::RecipientNotFound => "AC03",
            Self::AccountClosed => "AC07",
            Self::AccountBlocked => "AC06",
            Self::InsufficientFunds => "AM04",
            Self::Duplicate => "AM05",
            Self::OverLimit => "AM14",
            Self::ProviderOffline => "AB08",
            Self::InvalidAmount => "AM12",
            Self::NotAllowed => "AG01",
            Self::Other => "MS03",
        }
    }

    /// Which family it belongs to.
    pub const fn category(self) -> crate::error::Category {
        use crate::error::Category as C;
        match self {
            Self::RecipientNotFound | Self::AccountClosed => C::Identification,
            Self::AccountBlocked | Self::NotAllowed => C::Authorisation,
            Self::InsufficientFunds | Self::Duplicate | Self::OverLimit | Self::Other => C::BusinessRule,
            Self::ProviderOffline => C::ServiceUnavailable,
            Self::InvalidAmount => C::Validation,
        }
    }

    /// One sentence for people.
    pub const fn message(self) -> &'static str {
        match self {
            Self::RecipientNotFound => "The provider does not know the recipient",
            Self::AccountClosed => "The recipient's account is closed",
            Self::AccountBlocked => "The recipient's account is blocked",
            Self::InsufficientFunds => "The provider reports insufficient funds",
            Self::Duplicate => "The provider already has a payment like this one",
            Self::OverLimit => "The payment is over a limit of the provider or the recipient",
            Self::ProviderOffline => "No provider could be reached; nothing was sent",
            Self::InvalidAmount => "The provider does not take this amount",
            Self::NotAllowed => "The provider does not allow this payment",
            Self::Other => "The provider refused the payment",
        }
    }
}

/// What a rail said about a payment or a reversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RailAnswer {
    /// Done.
    Completed {
        /// The rail's own reference of it.
        rail_reference: Option<String>,
    },
    /// Taken; how it ended comes later.
    Accepted {
        /// The rail's own reference of it.
        rail_reference: Option<String>,
    },
    /// Refused: it did not happen and will not.
    Declined {
        /// Why.
        code: FailureCode,
        /// Whether another provider may be asked.
        elsewhere_ok: bool,
        /// The rail's own code.
        rail_code: Option<String>,
    },
    /// Provably never reached the rail: it could not connect, or an authoritative inquiry does not know it.
    NotSent,
    /// Nobody knows: time-out, reset, 5xx, unparsable.
    Unknown,
    /// It had completed and came back.
    Returned {
        /// The rail's own code.
        rail_code: Option<String>,
    },
}

impl RailAnswer {
    /// What it says, without the details.
    pub fn kind(&self) -> AnswerKind {
        match self {
            Self::Completed { .. } => AnswerKind::Completed,
            Self::Accepted { .. } => AnswerKind::Accepted,
            Self::Declined { .. } => AnswerKind::Declined,
            Self::NotSent => AnswerKind::NotSent,
            Self::Unknown => AnswerKind::Unknown,
            Self::Returned { .. } => AnswerKind::Returned,
        }
    }
}
