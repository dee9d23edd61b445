//! Rails: the protocols of operators. The engine decides *that* a call is made. A [`Rail`] defines how, as data, and interprets the
//! reply; a host sends the request. A rail does no I/O, reads no clock, uses no store and keeps no state.
//!
//! This program has a rail of its own, and pays over it:
//!
//! ```
//! use railgate::api::{Action, CreateRequest, RailCall, SettlementStatus};
//! use railgate::rail::{Carried, Carrier, Heard, HttpReply, HttpRequest, Link, Rail, RailAnswer, Rails, Request};
//! use railgate::route::{Capabilities, ProviderSpec};
//! # use std::sync::Arc;
//! # use railgate::{Config, Gateway, env::ManualEnv, ledger::Mode, store::memory::MemoryStore};
//!
//! struct Acme;
//!
//! impl Rail for Acme {
//!     fn kind(&self) -> &'static str {
//!         "acme"
//!     }
//!     fn capabilities(&self) -> Capabilities {
//!         Capabilities { check_payee: false, reverse: false, partial_reverse: false, inquiry: true, idempotent_submit: true }
//!     }
//!     fn encode(&self, call: &RailCall, link: &Link<'_>) -> Request {
//!         let method = if call.action == Action::Submit { "PUT" } else { "GET" };
//!         let url = format!("https://{}.example/payments/{}", link.provider.id, call.rail_key);
//!         let body = format!("{} {} {}", call.to.as_str(), call.money.currency(), call.money.decimal());
//!         Request::Http(HttpRequest::new(method, url).body(body))
//!     }
//!     fn decode(&self, call: &RailCall, _: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
//!         Heard::Answer(match (reply.status, call.action) {
//!             (200, _) => RailAnswer::Completed { rail_reference: None },
//!             (404, Action::Inquire) => RailAnswer::NotSent,
//!             _ => RailAnswer::Unknown, // what is not proved is unknown
//!         })
//!     }
//! }
//!
//! # struct Network;
//! # impl Carrier for Network {
//! #     fn carry(&self, request: &HttpRequest) -> Carried {
//! #         assert_eq!(request.body, b"msisdn:+254700000001 EUR 10.50");
//! #         Carried::Answered(HttpReply { status: 200, headers: Vec::new(), body: Vec::new() })
//! #     }
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config {
//!     rails: Rails::built_in().with(Acme),
//!     providers: vec![ProviderSpec::new("acme-kenya", "Acme Kenya", Mode::Sandbox, &Acme)],
//!     ..Config::sandbox()
//! };
//! # let (store, env) = (Arc::new(MemoryStore::new()), Arc::new(ManualEnv::new(1_795_257_497_042, 1)));
//! let gateway = Gateway::open_with(store, env, config)?;
//! let enrolled = gateway.enroll("Shop")?;
//! let shop = gateway.client(&enrolled);
//! shop.create(CreateRequest::new("10.50 EUR".parse()?, "msisdn:+254700000001".parse()?, "inv-1".parse()?))?;
//! gateway.work_with(&Network)?; // a `Carrier`: here one that always gets 200
//! assert_eq!(shop.settlement("inv-1")?.status, SettlementStatus::Completed);
//! # Ok(())
//! # }
//! ```
//!
//! An operator may want several requests for one call, for example to confirm a quote: then [`Rail::decode`] returns the next one.
//! It may want an access token: then [`Rail::token_request`] asks for one, which is kept until it expires.
//!
//! To add one to this crate, write a file here that implements [`Rail`], and add a line to [`Rails::built_in`].
//! Nothing outside this folder names a rail, except that of the gateway's own [`books`], which nobody configures.

pub mod adapter;
pub mod books;
mod carry;
pub mod gsma;
pub mod mojaloop;
mod parts;
mod request;
pub mod simulator;

use std::fmt;
use std::sync::Arc;

use crate::api::{Action, PayeeView, RailCall, ScenarioView};
use crate::error::FieldProblem;
use crate::lifecycle::attempt::AnswerKind;
use crate::lifecycle::stored_enum;
use crate::participant::Participant;
use crate::route::health::Health;
use crate::route::{Capabilities, ProviderSpec};
use crate::time::Millis;
use simulator::Outcome;

pub use carry::Carrier;
pub(crate) use request::is_address;
pub use request::{AccessToken, CallbackError, Carried, Heard, HttpReply, HttpRequest, Inbound, Link, Payee, Request, Tls};

/// The setting of any provider that says whence its callbacks come: ranges of addresses, separated by commas. Without it, from
/// anywhere.
pub const CALLBACK_SOURCES: &str = "callback_sources";
/// The setting of any provider with the authorities that vouch for it, in PEM, instead of those that the system trusts.
pub const TLS_AUTHORITIES: &str = "tls_authorities";
/// The setting of any provider with the gateway's own certificates, in PEM, if the operator wants to know who calls.
pub const TLS_CERTIFICATES: &str = "tls_certificates";
/// The secret of any provider with the private key of [`TLS_CERTIFICATES`], in PEM.
pub const TLS_KEY: &str = "tls_key";

/// What the names of settings begin with that are about a provider's statements.
const OF_STATEMENTS: &str = "statement_";

/// Whether any provider may have a setting of this name, whatever its rail.
fn is_common_setting(name: &str) -> bool {
    matches!(name, CALLBACK_SOURCES | TLS_AUTHORITIES | TLS_CERTIFICATES) || name.starts_with(OF_STATEMENTS)
}

/// The protocol of a kind of operator. Implementations are pure.
pub trait Rail: Send + Sync {
    /// The value of a provider's `rail` setting. Never changes.
    fn kind(&self) -> &'static str;

    /// The default capabilities of operators of this kind; a provider can override them.
    fn capabilities(&self) -> Capabilities;

    /// Checks the settings of a provider, and derives from them what it [supports](ProviderSpec::capabilities). Returns what is wrong,
    /// with pointers such as `/settings/api_key`.
    fn configure(&self, _provider: &mut ProviderSpec) -> Vec<FieldProblem> {
        Vec::new()
    }

    /// The payee behind a participant, as far as the rail knows without asking the operator.
    fn payee(&self, _to: &Participant) -> PayeeView {
        PayeeView::UNKNOWN
    }

    /// The request that asks a provider for the payee behind a participant, for a check before a payment; `None` if it cannot be
    /// asked. It moves no money and may be repeated.
    fn look_up_payee(&self, _payee: &Payee, _link: &Link<'_>) -> Option<HttpRequest> {
        None
    }

    /// The meaning of the provider's reply to [`Rail::look_up_payee`], or what to ask next. A reply that does not follow the protocol
    /// is [`PayeeView::UNKNOWN`].
    fn decode_payee(&self, _payee: &Payee, _link: &Link<'_>, _reply: &HttpReply) -> Heard<PayeeView> {
        Heard::Answer(PayeeView::UNKNOWN)
    }

    /// The request for an access token, if operators of this kind want one. It moves no money and may be repeated.
    fn token_request(&self, _provider: &ProviderSpec) -> Option<HttpRequest> {
        None
    }

    /// The access token in the reply to [`Rail::token_request`]; `None` if there is none.
    fn decode_token(&self, _reply: &HttpReply) -> Option<AccessToken> {
        None
    }

    /// The request to send to the provider for a call.
    fn encode(&self, call: &RailCall, link: &Link<'_>) -> Request;

    /// The meaning of the provider's reply, or what to send next for the same call. A reply that does not follow the protocol is
    /// [`RailAnswer::Unknown`]. If the next request provably does not leave, a call that moves money counts as not sent: return one
    /// only as long as nothing was paid, and nothing will be without it.
    fn decode(&self, call: &RailCall, link: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer>;

    /// The request that asks a provider how it is; `None` if it cannot be asked.
    fn heartbeat(&self, _link: &Link<'_>) -> Option<HttpRequest> {
        None
    }

    /// How the provider says that it is; `None` if it does not say.
    fn decode_heartbeat(&self, _reply: &HttpReply) -> Option<Health> {
        None
    }

    /// Authenticates a callback from a provider, and returns the [key](RailCall::rail_key) of its subject.
    ///
    /// # Errors
    /// [`CallbackError`] if the callback cannot be authenticated or read. Nothing may change then.
    fn callback_key(&self, _inbound: &Inbound<'_>, _provider: &ProviderSpec) -> Result<String, CallbackError> {
        Err(CallbackError::Unsupported)
    }

    /// The meaning of a callback about `call`, which asks about the attempt or reversal with the key that [`Rail::callback_key`]
    /// returned.
    ///
    /// # Errors
    /// [`CallbackError::Malformed`] if the callback cannot be read, or is about another payment.
    fn decode_callback(&self, _call: &RailCall, _inbound: &Inbound<'_>) -> Result<RailAnswer, CallbackError> {
        Err(CallbackError::Unsupported)
    }

    /// The HTTP status that tells the operator that its callback was taken note of.
    fn callback_status(&self) -> u16 {
        200
    }

    /// Whether [`RailAnswer::NotSent`] in answer to `action` proves that nothing happened. That the operator could not be reached
    /// is proof. That it does not know the payment is proof only if it declares its inquiries authoritative.
    fn proves_not_sent(&self, action: Action, provider: &ProviderSpec) -> bool {
        match action {
            Action::Submit | Action::Reverse => true,
            Action::Inquire | Action::InquireReversal => provider.capabilities.inquiry,
        }
    }

    /// The operator itself, if it is inside the gateway. [`Rail::encode`] then returns [`Request::Inside`].
    fn inside(&self) -> Option<&dyn Inside> {
        None
    }

    /// The scenarios that can be played in the sandbox.
    fn scenarios(&self) -> &'static [ScenarioView] {
        &[]
    }
}

/// An operator inside the gateway. Like a real one, it keeps its own books, in the gateway's store.
pub trait Inside: Send + Sync {
    /// Whether a request reaches the operator.
    fn is_reachable(&self, call: &RailCall) -> bool;
    /// The answer to a payment or a reversal that has arrived.
    fn answer(&self, call: &RailCall) -> RailAnswer;
    /// The answer to an inquiry about a payment or a reversal that arrived `elapsed` milliseconds ago.
    fn inquire(&self, call: &RailCall, elapsed: Millis) -> RailAnswer;
    /// The callbacks about a payment: the delay after its arrival, and the answer.
    fn callbacks(&self, call: &RailCall) -> Vec<(Millis, RailAnswer)>;
    /// Its answer since it was told what becomes of a payment, and why if it is to refuse it.
    fn told(&self, call: &RailCall, outcome: Outcome, code: Option<FailureCode>) -> RailAnswer;
}

/// The rails that a gateway supports.
#[derive(Clone)]
pub struct Rails(Vec<Arc<dyn Rail>>);

impl Rails {
    /// The simulated one alone.
    pub fn sandbox() -> Self {
        Self(vec![Arc::new(simulator::Simulator)])
    }

    /// All rails in this crate.
    pub fn built_in() -> Self {
        Self::sandbox().with(adapter::Adapter).with(gsma::Gsma).with(mojaloop::Mojaloop)
    }

    /// Adds a rail, replacing any other of the same kind.
    #[must_use]
    pub fn with(mut self, rail: impl Rail + 'static) -> Self {
        self.0.retain(|other| other.kind() != rail.kind());
        self.0.push(Arc::new(rail));
        self
    }

    /// The kinds of rail, for people.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|rail| rail.kind())
    }

    /// The rail of this kind.
    pub fn get(&self, kind: &str) -> Option<&dyn Rail> {
        self.0.iter().find(|rail| rail.kind() == kind).map(|rail| &**rail)
    }
}

impl fmt::Debug for Rails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds()).finish()
    }
}

/// The providers of a gateway without a configuration: simulated ones, in order of preference.
pub fn sandbox_providers() -> Vec<ProviderSpec> {
    vec![
        ProviderSpec::simulator("simulator", "Simulated operator"),
        ProviderSpec::simulator("simulator-backup", "Simulated operator, second choice"),
    ]
}

/// The scenarios of the sandbox.
pub fn sandbox_scenarios() -> &'static [ScenarioView] {
    simulator::Simulator.scenarios()
}

stored_enum! {
    /// The result of a payee check.
    pub enum PayeeMatch {
        /// The payee is the one that the payer means.
        Match = 1 "match",
        /// The payee's name is similar: show it and ask.
        CloseMatch = 2 "close_match",
        /// The payee is another one.
        NoMatch = 3 "no_match",
        /// The provider cannot check.
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
        /// The gateway's own account at the provider has insufficient funds; for a reversal between two clients, the payee's account.
        InsufficientFunds = 4 "insufficient_funds",
        /// The provider already has a payment like this one.
        Duplicate = 5 "duplicate",
        /// The payment exceeds a limit of the provider or the recipient.
        OverLimit = 6 "over_limit",
        /// The provider could not be reached; provably nothing was sent.
        ProviderOffline = 7 "provider_offline",
        /// The provider does not accept this amount.
        InvalidAmount = 8 "invalid_amount",
        /// The provider does not allow this payment.
        NotAllowed = 9 "not_allowed",
        /// Any other reason.
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

    /// The category of the failure.
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

/// A rail's answer about a payment or a reversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RailAnswer {
    /// It was carried out.
    Completed {
        /// The rail's own reference.
        rail_reference: Option<String>,
    },
    /// It was accepted; the outcome follows later.
    Accepted {
        /// The rail's own reference.
        rail_reference: Option<String>,
    },
    /// It was refused: it did not happen, and will not.
    Declined {
        /// The reason.
        code: FailureCode,
        /// Whether another provider may be tried.
        elsewhere_ok: bool,
        /// The rail's own code.
        rail_code: Option<String>,
    },
    /// It provably never reached the rail: no connection could be made, or an authoritative inquiry did not find it.
    NotSent,
    /// The outcome is unknown: timeout, connection reset, 5xx, unreadable reply.
    Unknown,
    /// It was completed and then came back.
    Returned {
        /// The rail's own code.
        rail_code: Option<String>,
    },
}

impl RailAnswer {
    /// The kind of answer, without its details.
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
