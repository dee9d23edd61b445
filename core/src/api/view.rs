//! Response bodies: the wire format, which bindings use too.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::PaymentApprovalView;
use crate::error::{Category, FieldProblem, Problem};
use crate::ids::Short;
use crate::lifecycle::{Direction, IsoStatus, ReversalStatus, SettlementStatus, StateName, named_enum};
use crate::money::Money;
use crate::rail::FailureCode;
use crate::rail::PayeeMatch;
use crate::route::health::Health;
use crate::route::{FeeRefund, RouteRefusal};
use crate::store::record::{Actor, EventType};
use crate::validate::ReversalReason;

mod access;
mod balance;
mod event;
mod provider;
mod webhook;

pub use access::*;
pub use balance::*;
pub use event::*;
pub use provider::*;
pub use webhook::*;

/// An exact decimal, written as a JSON number with the currency's decimals. It is never converted to a float.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecimalNumber(SmolStr);

impl From<Money> for DecimalNumber {
    fn from(money: Money) -> Self {
        Self(money.decimal_text())
    }
}

impl DecimalNumber {
    /// Wraps text that [`Money::decimal`] wrote.
    pub(crate) fn from_text(decimal: impl Into<SmolStr>) -> Self {
        Self(decimal.into())
    }

    /// Nothing, as a gateway says by leaving it out.
    pub(crate) fn zero() -> Self {
        Self(SmolStr::new_static("0"))
    }

    /// The decimal's text, such as `10.50`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        !self.0.bytes().any(|b| b.is_ascii_digit() && b != b'0')
    }
}

impl Serialize for DecimalNumber {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DecimalNumber {
    /// Keeps the digits as they are: `0.10` stays `0.10`.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <Box<RawValue>>::deserialize(deserializer)?;
        let digits = raw.get().strip_prefix('-').unwrap_or(raw.get());
        if digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return Ok(Self(raw.get().into()));
        }
        Err(serde::de::Error::custom(format_args!("{raw} is not a decimal")))
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for DecimalNumber {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::Number)
            .description(Some("Exact decimal with the currency's minor-unit digits; at most 15 significant digits"))
            .examples([serde_json::json!(10.5)])
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for DecimalNumber {}

/// A page of a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page<T> {
    /// The items of this page.
    pub data: Vec<T>,
    /// Whether there are more items after this page.
    pub has_more: bool,
    /// The cursor of the next page; opaque, null on the last page.
    pub next_cursor: Option<String>,
}

/// A settlement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SettlementView {
    /// `stl_` and a ULID.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: Short,
    /// The client's reference; the id again for an incoming payment.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub reference: SmolStr,
    /// The settlement's state.
    pub status: SettlementStatus,
    /// The number of events so far; grows with every event.
    pub version: u32,
    /// Whether no real money moves.
    pub sandbox: bool,
    /// Whether the client pays (`outgoing`) or is paid by another client of the gateway (`incoming`).
    #[serde(default = "Direction::unsaid")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub direction: Direction,
    /// The amount, with the currency's decimals.
    pub amount: DecimalNumber,
    /// The amount in minor units, an integer as a string.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub amount_minor: SmolStr,
    /// ISO 4217 code.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub currency: SmolStr,
    /// Who paid, as a participant; null for an outgoing payment.
    pub from: Option<String>,
    /// The receiving participant, in canonical form.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub to: SmolStr,
    /// What the provider reports about the payee.
    pub payee: PayeeView,
    /// The fee, charged in addition to the amount.
    pub fee: DecimalNumber,
    /// Amount plus fee; zero for an incoming payment.
    pub total_debit: DecimalNumber,
    /// The provider of the current attempt; `books` for a payment between two clients.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub provider: SmolStr,
    /// The rail's own reference.
    pub rail_reference: Option<String>,
    /// How many attempts were started.
    pub attempts: u16,
    /// Why it failed; null if it did not.
    pub failure: Option<FailureView>,
    /// Whether a person must look at it.
    pub needs_review: bool,
    /// The amount given back by completed reversals.
    pub reversed_amount: DecimalNumber,
    /// The amount of reversals in flight.
    pub reversing_amount: DecimalNumber,
    /// What completed reversals gave back of the fee; only if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee_refunded: Option<DecimalNumber>,
    /// ISO 20022 status.
    pub iso_status: IsoStatus,
    /// The client's description.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub description: Option<SmolStr>,
    /// The client's own key-value pairs.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, String>))]
    pub metadata: Arc<BTreeMap<String, String>>,
    /// `cli_` and a ULID.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub client_id: Short,
    /// When it was created, RFC 3339.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub created_at: Short,
    /// When it last changed, RFC 3339.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub updated_at: Short,
    /// When it first became final, RFC 3339.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub completed_at: Option<Short>,
    /// The client's end user who pays, by the client's own name for them; absent if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The approval of that user; absent if the payment needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<PaymentApprovalView>>,
    /// When it is cancelled if nothing was sent by then, RFC 3339.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub expires_at: Option<Short>,
    /// Paths of related resources.
    pub links: LinksView,
}

/// What the provider reports about the payee.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PayeeView {
    /// The account holder's name, if the provider discloses it.
    pub display_name: Option<String>,
    /// Whether the provider knows the participant.
    #[serde(rename = "match")]
    pub payee_match: PayeeMatch,
}

impl PayeeView {
    /// The payee is unknown and cannot be checked.
    pub const UNKNOWN: Self = Self { display_name: None, payee_match: PayeeMatch::NotAvailable };
}

/// Why something failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailureView {
    /// The gateway's code.
    pub code: FailureCode,
    /// The category of the code.
    pub category: Category,
    /// One sentence for people.
    pub message: Cow<'static, str>,
    /// The rail's own code.
    pub rail_code: Option<String>,
    /// ISO 20022 reason.
    pub iso_reason: Cow<'static, str>,
}

/// Paths of a settlement's resources, relative to the base address.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinksView {
    /// The settlement itself.
    #[serde(rename = "self")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub itself: SettlementPath,
    /// Its status.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub status: SettlementPath,
    /// Its trace.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub events: SettlementPath,
    /// Reverses or cancels it.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub reverse: SettlementPath,
    /// Its receipt.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub receipt: SettlementPath,
}

impl LinksView {
    /// The paths of the settlement with this reference.
    pub(crate) fn of(reference: &SmolStr) -> Self {
        let [itself, status, events, reverse, receipt] =
            PARTS.map(|part| SettlementPath { start: SETTLEMENTS, reference: reference.clone(), part });
        Self { itself, status, events, reverse, receipt }
    }
}

/// The paths of a settlement's resources, below its own.
const PARTS: [&str; 5] = ["", "/status", "/events", "/reverse", "/receipt"];

/// The path of a settlement or of one of its resources. It is only written out where it is sent.
#[derive(Debug, Clone)]
pub struct SettlementPath {
    start: &'static str,
    reference: SmolStr,
    part: &'static str,
}

const SETTLEMENTS: &str = "/api/v1/gateway/settlements/";

impl SettlementPath {
    /// The path as text.
    pub fn text(&self) -> String {
        [self.start, &self.reference, self.part].concat()
    }
}

impl fmt::Display for SettlementPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.start, self.reference, self.part)
    }
}

impl Serialize for SettlementPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SettlementPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Kept as it is: a later gateway may have other paths.
        Ok(Self { start: "", reference: SmolStr::deserialize(deserializer)?, part: "" })
    }
}

/// The result of one element of a batch: a settlement or a problem.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchResult {
    /// The status of the same request sent alone: 201, 200 for a replay, or that of the problem.
    #[cfg_attr(feature = "openapi", schema(example = 201))]
    pub status: u16,
    /// The settlement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settlement: Option<SettlementView>,
    /// Why there is no settlement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// The response to a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchView {
    /// One result for each element, in the same order.
    pub results: Vec<BatchResult>,
}

/// A settlement's short form, for polling.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusView {
    /// `stl_` and a ULID.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: Short,
    /// The client's reference.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub reference: SmolStr,
    /// The settlement's state.
    pub status: SettlementStatus,
    /// The number of events so far; grows with every event.
    pub version: u32,
    /// ISO 20022 status.
    pub iso_status: IsoStatus,
    /// Why it failed; null if it did not.
    pub failure: Option<FailureView>,
    /// Whether a person must look at it.
    pub needs_review: bool,
    /// Whether the state is final: it no longer changes by itself.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// When it last changed, RFC 3339.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub updated_at: Short,
}

/// An event of the trace of a settlement, of money that an operator moved, or of a bundle.
///
/// `hash` is the lower-case hex SHA-256 of the RFC 8785 form of this object without `hash`. `prev` is the hash of the previous
/// event, null for the first. The fields are in the order of that form.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EventView {
    /// Who caused it.
    pub actor: Actor,
    /// When it happened, RFC 3339.
    pub at: String,
    /// The attempt concerned, from 1.
    pub attempt: Option<u16>,
    /// Details of the event, by its type: [`EventView::details`].
    #[cfg_attr(feature = "openapi", schema(schema_with = any_details))]
    pub data: Box<RawValue>,
    /// The state before, if the event is about a state.
    pub from: Option<StateName>,
    /// The hash of this event.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub hash: Option<String>,
    /// `evt_` and a ULID.
    pub id: String,
    /// The hash of the previous event.
    pub prev: Option<String>,
    /// The client's reference; of money that an operator moved, the operator's.
    pub reference: String,
    /// Its place in the trace, from 1, without gaps.
    pub sequence: u32,
    /// `stl_` and a ULID; null if it is about money that an operator moved.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub settlement_id: Option<String>,
    /// The state after, if the event is about a state.
    pub to: Option<StateName>,
    /// The type of event.
    #[serde(rename = "type")]
    pub kind: EventType,
}

/// A reversal of a settlement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReversalView {
    /// `rev_` and a ULID.
    pub id: String,
    /// `stl_` and a ULID.
    pub settlement_id: String,
    /// The client's reference for the reversal.
    pub reference: Option<String>,
    /// The reversal's state.
    pub status: ReversalStatus,
    /// ISO 20022 status.
    pub iso_status: IsoStatus,
    /// The amount given back.
    pub amount: DecimalNumber,
    /// The amount in minor units, an integer as a string.
    pub amount_minor: String,
    /// ISO 4217 code.
    pub currency: String,
    /// The client's reason.
    pub reason: Option<ReversalReason>,
    /// The client's description.
    pub description: Option<String>,
    /// The rail's own reference.
    pub rail_reference: Option<String>,
    /// Why it failed; null if it did not.
    pub failure: Option<FailureView>,
    /// Whether a person must look at it.
    pub needs_review: bool,
    /// When it was created, RFC 3339.
    pub created_at: String,
    /// When it last changed, RFC 3339.
    pub updated_at: String,
    /// When it became final, RFC 3339.
    pub completed_at: Option<String>,
}

/// The response to a reverse call: the reversal (null if the settlement was cancelled instead) and the settlement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReverseView {
    /// The reversal.
    pub reversal: Option<ReversalView>,
    /// The settlement after the call.
    pub settlement: SettlementView,
}

/// A settlement's reversals.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReversalsView {
    /// The reversals, oldest first.
    pub data: Vec<ReversalView>,
}

fn first_epoch() -> u32 {
    1
}

/// The response to a pre-flight check.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CheckView {
    /// Whether a create with this body would be accepted now.
    pub ok: bool,
    /// Why it would be refused.
    pub problems: Vec<FieldProblem>,
    /// What to review before paying.
    pub warnings: Vec<FieldProblem>,
    /// What the settlement would cost.
    pub quote: Option<QuoteView>,
    /// The providers in the order in which they would be tried, and why some would not be.
    pub route: Vec<RouteStepView>,
    /// What the provider reports about the payee.
    pub payee: PayeeView,
    /// Whether the account has sufficient funds. To a phone, `false` also if its user's limits refuse the payment.
    pub funds_available: bool,
}

/// A provider on the route of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RouteStepView {
    /// The provider's id.
    pub provider: String,
    /// Whether it takes the payment.
    pub verdict: Verdict,
    /// Why it does not take it.
    pub why: Option<RouteRefusal>,
    /// What it charges, if it takes the payment.
    pub fee: Option<DecimalNumber>,
    /// How it is. One that is `down` takes the payment only if no other does; the payment then waits for it.
    pub health: Health,
}

named_enum! {
    /// Whether a provider takes a payment.
    pub enum Verdict {
        /// It is tried, unless one before it pays.
        In = "in",
        /// It is not tried.
        Out = "out",
    }
}

/// What a settlement would cost, and until when this is guaranteed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteView {
    /// The fee, charged in addition to the amount.
    pub fee: DecimalNumber,
    /// What reversals would give back of the fee. An older gateway does not say it, and gives back nothing.
    #[serde(default = "FeeRefund::unsaid")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub fee_refund: FeeRefund,
    /// Amount plus fee.
    pub total_debit: DecimalNumber,
    /// The provider that would be tried first.
    pub provider: String,
    /// When the quote expires, RFC 3339.
    pub expires_at: String,
    /// Send it as `quote_id` in the create to get this fee.
    pub quote_id: String,
}

/// The response to a reconciling check: do record, ledger, event trace and rail agree?
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReconcileView {
    /// Whether they all agree.
    pub consistent: bool,
    /// Where they disagree, or could not be compared.
    pub findings: Vec<FindingView>,
    /// The settlement after the rail was asked.
    pub settlement: SettlementView,
}

/// A disagreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FindingView {
    /// Stable code.
    pub code: Cow<'static, str>,
    /// One sentence for people.
    pub message: String,
}

/// A scenario of the simulator.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioView {
    /// Send it as `to` in a create.
    pub to: Cow<'static, str>,
    /// What the simulated operator does.
    pub description: Cow<'static, str>,
}

/// The scenarios of the simulated operator.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenariosView {
    /// All scenarios.
    pub data: Vec<ScenarioView>,
}

/// An event in its owner's feed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedEventView {
    /// Its place in the feed, from 1, without gaps; use it as `after` or `Last-Event-ID`.
    pub position: i64,
    /// The event, as in its trace.
    pub event: EventView,
}

/// A page of a feed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedPage {
    /// The events, oldest first.
    pub data: Vec<FeedEventView>,
    /// Whether there are more events.
    pub has_more: bool,
    /// Pass it as `after` to get the next events, even if they have not happened yet.
    pub next_after: i64,
    /// The epoch of the positions, from 1. It changes when the gateway's operator restores a backup: later positions are then assigned
    /// again. Pass it as `epoch` to be told. 1 at an older gateway, which has no epochs.
    #[serde(default = "first_epoch")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub epoch: u32,
}

/// The proof that a settlement's last event is in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProofView {
    /// `stl_` and a ULID.
    pub settlement_id: String,
    /// The client's reference.
    pub reference: String,
    /// `evt_` and a ULID.
    pub event_id: String,
    /// The event's place in the settlement's trace.
    pub sequence: u32,
    /// The event's hash, lower-case hexadecimal.
    pub event_hash: String,
    /// The salt of the leaf, 32 bytes in lower-case hexadecimal. The leaf is SHA-256(`railgate-event-v1` ‖ 0 ‖ salt ‖ event hash).
    pub salt: String,
    /// The leaf's index in the tree, from 0.
    pub leaf_index: u64,
    /// The size of the tree that the proof refers to.
    pub tree_size: u64,
    /// The hashes from the leaf's sibling up to the root's child (RFC 6962), lower-case hexadecimal.
    pub path: Vec<String>,
    /// The signed checkpoint of that tree (C2SP `tlog-checkpoint`).
    pub checkpoint: String,
    /// The whole proof as a C2SP `tlog-proof`.
    pub proof: String,
}

/// The health of the service.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HealthView {
    /// `ok` or `ready`.
    #[cfg_attr(feature = "openapi", schema(example = "ok"))]
    pub status: Cow<'static, str>,
    /// The service's version.
    pub version: Cow<'static, str>,
}
