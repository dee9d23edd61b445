//! What callers see: the wire shapes. Bindings hand out the same types.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Category, FieldProblem, Problem};
use crate::lifecycle::{IsoStatus, ReversalStatus, SettlementStatus, StateName};
use crate::money::Money;
use crate::rail::FailureCode;
use crate::rail::PayeeMatch;
use crate::store::record::{Actor, EventType};
use crate::validate::ReversalReason;

mod access;
mod webhook;

pub use access::*;
pub use webhook::*;

/// An exact decimal that is written as a JSON number with the currency's decimals, never through a float.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecimalNumber(String);

impl From<Money> for DecimalNumber {
    fn from(money: Money) -> Self {
        Self(money.decimal())
    }
}

impl DecimalNumber {
    /// From text that [`Money::decimal`] wrote.
    pub(crate) fn from_text(decimal: String) -> Self {
        Self(decimal)
    }

    /// The decimal's text, such as `10.50`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether no digit of it says anything.
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
    /// Digit by digit: `0.10` stays `0.10`.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <Box<RawValue>>::deserialize(deserializer)?;
        let digits = raw.get().strip_prefix('-').unwrap_or(raw.get());
        if digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return Ok(Self(Box::<str>::from(raw).into()));
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
    /// The page.
    pub data: Vec<T>,
    /// Whether there is more behind it.
    pub has_more: bool,
    /// Where the next page begins; opaque, null on the last.
    pub next_cursor: Option<String>,
}

/// The settlement record.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SettlementView {
    /// `stl_` and a ULID.
    pub id: String,
    /// The client's reference.
    pub reference: String,
    /// Where it stands.
    pub status: SettlementStatus,
    /// Grows with every event.
    pub version: u32,
    /// No real money moves.
    pub sandbox: bool,
    /// The amount, written with the minor unit's decimals.
    pub amount: DecimalNumber,
    /// The amount in minor units, an integer as text.
    pub amount_minor: String,
    /// ISO 4217 code.
    pub currency: String,
    /// The receiving participant, canonical.
    pub to: String,
    /// What the provider says of the payee.
    pub payee: PayeeView,
    /// The fee.
    pub fee: DecimalNumber,
    /// Amount and fee.
    pub total_debit: DecimalNumber,
    /// The provider of the current attempt.
    pub provider: String,
    /// The rail's own reference.
    pub rail_reference: Option<String>,
    /// How many attempts were started.
    pub attempts: u16,
    /// Why it failed, if it did.
    pub failure: Option<FailureView>,
    /// A person must look.
    pub needs_review: bool,
    /// Given back by completed reversals.
    pub reversed_amount: DecimalNumber,
    /// Being given back by reversals under way.
    pub reversing_amount: DecimalNumber,
    /// ISO 20022 status.
    pub iso_status: IsoStatus,
    /// The client's description.
    pub description: Option<String>,
    /// The client's own pairs.
    pub metadata: BTreeMap<String, String>,
    /// `cli_` and a ULID.
    pub client_id: String,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// When it last changed, RFC 3339.
    pub updated_at: String,
    /// When it was final for the first time, RFC 3339.
    pub completed_at: Option<String>,
    /// Cancelled if nothing was sent by then, RFC 3339.
    pub expires_at: Option<String>,
    /// Where to go from here.
    pub links: LinksView,
}

/// What the provider says of the payee.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PayeeView {
    /// The account holder's name, where the provider tells.
    pub display_name: Option<String>,
    /// Whether the participant is known there.
    #[serde(rename = "match")]
    pub payee_match: PayeeMatch,
}

impl PayeeView {
    /// Nobody can tell.
    pub const UNKNOWN: Self = Self { display_name: None, payee_match: PayeeMatch::NotAvailable };
}

/// Why something failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailureView {
    /// The gateway's code.
    pub code: FailureCode,
    /// The family.
    pub category: Category,
    /// One sentence for people.
    pub message: Cow<'static, str>,
    /// The rail's own code.
    pub rail_code: Option<String>,
    /// ISO 20022 reason.
    pub iso_reason: Cow<'static, str>,
}

/// Paths of a settlement's parts, relative to the base address.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinksView {
    /// The record.
    #[serde(rename = "self")]
    pub itself: String,
    /// Its status.
    pub status: String,
    /// Its trace.
    pub events: String,
    /// Undoing it.
    pub reverse: String,
    /// Its receipt.
    pub receipt: String,
}

/// What came of one element of a batch: a settlement or a problem.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchResult {
    /// The status that this element would have been answered with by itself: 201, 200 for a replay, or a problem's.
    #[cfg_attr(feature = "openapi", schema(example = 201))]
    pub status: u16,
    /// The settlement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settlement: Option<SettlementView>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// The answer of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchView {
    /// One for each element, in their order.
    pub results: Vec<BatchResult>,
}

/// The short form for polling.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusView {
    /// `stl_` and a ULID.
    pub id: String,
    /// The client's reference.
    pub reference: String,
    /// Where it stands.
    pub status: SettlementStatus,
    /// Grows with every event.
    pub version: u32,
    /// ISO 20022 status.
    pub iso_status: IsoStatus,
    /// Why it failed, if it did.
    pub failure: Option<FailureView>,
    /// A person must look.
    pub needs_review: bool,
    /// Nothing more happens by itself.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// When it last changed, RFC 3339.
    pub updated_at: String,
}

/// One link of a settlement's trace.
///
/// `hash` is the lower-case hex SHA-256 of the RFC 8785 form of this object without `hash`; `prev` is the hash of the
/// event before it, null for the first. Fields stand in the order of that form.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EventView {
    /// Who made it happen.
    pub actor: Actor,
    /// When, RFC 3339.
    pub at: String,
    /// The attempt concerned, from 1.
    pub attempt: Option<u16>,
    /// More about it.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub data: Box<RawValue>,
    /// The state before.
    pub from: Option<StateName>,
    /// Hash of this event.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub hash: Option<String>,
    /// `evt_` and a ULID.
    pub id: String,
    /// Hash of the event before.
    pub prev: Option<String>,
    /// The client's reference.
    pub reference: String,
    /// Its place in the trace, from 1, without gaps.
    pub sequence: u32,
    /// `stl_` and a ULID.
    pub settlement_id: String,
    /// The state after.
    pub to: Option<StateName>,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: EventType,
}

/// A reversal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReversalView {
    /// `rev_` and a ULID.
    pub id: String,
    /// `stl_` and a ULID.
    pub settlement_id: String,
    /// The client's reference of the reversal.
    pub reference: Option<String>,
    /// Where it stands.
    pub status: ReversalStatus,
    /// ISO 20022 status.
    pub iso_status: IsoStatus,
    /// How much.
    pub amount: DecimalNumber,
    /// The same in minor units, an integer as text.
    pub amount_minor: String,
    /// ISO 4217 code.
    pub currency: String,
    /// Why.
    pub reason: Option<ReversalReason>,
    /// The client's description.
    pub description: Option<String>,
    /// The rail's own reference.
    pub rail_reference: Option<String>,
    /// Why it failed, if it did.
    pub failure: Option<FailureView>,
    /// A person must look.
    pub needs_review: bool,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// When it last changed, RFC 3339.
    pub updated_at: String,
    /// When it was completed, RFC 3339.
    pub completed_at: Option<String>,
}

/// The answer of a reverse call: the reversal (null when the settlement was cancelled instead) and the settlement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReverseView {
    /// The reversal.
    pub reversal: Option<ReversalView>,
    /// The settlement as it stands.
    pub settlement: SettlementView,
}

/// A settlement's reversals.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReversalsView {
    /// Oldest first.
    pub data: Vec<ReversalView>,
}

/// A client's balance in one currency.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BalanceView {
    /// The account's name: `main`.
    pub account: Cow<'static, str>,
    /// ISO 4217 code.
    pub currency: String,
    /// Play money.
    pub sandbox: bool,
    /// May be spent.
    pub available: DecimalNumber,
    /// Held by settlements under way.
    pub reserved: DecimalNumber,
    /// Announced by reversals under way.
    pub pending: DecimalNumber,
    /// What the books say: available and reserved.
    pub ledger: DecimalNumber,
    /// When that was so, RFC 3339.
    pub as_of: String,
}

/// A client's balances.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BalancesView {
    /// One for each currency.
    pub data: Vec<BalanceView>,
}

/// The answer of a pre-flight check.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CheckView {
    /// A create with this body would be accepted now.
    pub ok: bool,
    /// Why not.
    pub problems: Vec<FieldProblem>,
    /// What should be looked at before.
    pub warnings: Vec<FieldProblem>,
    /// What it would cost.
    pub quote: Option<QuoteView>,
    /// The providers that would be tried, in order.
    pub route: Vec<String>,
    /// What the provider says of the payee.
    pub payee: PayeeView,
    /// The account holds enough.
    pub funds_available: bool,
}

/// What a settlement would cost, until when that holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteView {
    /// The fee.
    pub fee: DecimalNumber,
    /// Amount and fee.
    pub total_debit: DecimalNumber,
    /// The provider it would go to first.
    pub provider: String,
    /// Until when that holds, RFC 3339.
    pub expires_at: String,
    /// Send it as `quote_id` to get this fee.
    pub quote_id: String,
}

/// The answer of a reconciling check: do record, ledger, event chain and rail agree?
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReconcileView {
    /// They do.
    pub consistent: bool,
    /// Where they do not, or could not be compared.
    pub findings: Vec<FindingView>,
    /// The settlement as it stands after the rail was asked.
    pub settlement: SettlementView,
}

/// One thing that was compared and does not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FindingView {
    /// Stable code.
    pub code: Cow<'static, str>,
    /// One sentence for people.
    pub message: String,
}

/// One scenario of the simulator.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenarioView {
    /// Send it as `to`.
    pub to: Cow<'static, str>,
    /// What happens.
    pub description: Cow<'static, str>,
}

/// What the simulated operator can be made to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScenariosView {
    /// Every scenario.
    pub data: Vec<ScenarioView>,
}

/// An event in its owner's feed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedEventView {
    /// Its place in the feed, from 1, without gaps; what `after` and `Last-Event-ID` name.
    pub position: i64,
    /// The event, as the settlement's own trace shows it.
    pub event: EventView,
}

/// A page of a feed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedPage {
    /// The events, oldest first.
    pub data: Vec<FeedEventView>,
    /// There are more.
    pub has_more: bool,
    /// Pass it as `after` for what comes next, also when that is still to happen.
    pub next_after: i64,
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
    /// What the leaf is salted with, 32 bytes in lower-case hexadecimal. The leaf is
    /// SHA-256(`railgate-event-v1` ‖ 0 ‖ salt ‖ event hash).
    pub salt: String,
    /// The leaf's index in the tree, from 0.
    pub leaf_index: u64,
    /// The size of the tree that the proof is about.
    pub tree_size: u64,
    /// The hashes from the leaf's sibling up to the root's child (RFC 6962), lower-case hexadecimal.
    pub path: Vec<String>,
    /// The signed checkpoint of that tree (C2SP `tlog-checkpoint`).
    pub checkpoint: String,
    /// All of it as a C2SP `tlog-proof`.
    pub proof: String,
}

/// How the service is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HealthView {
    /// `ok` or `ready`.
    #[cfg_attr(feature = "openapi", schema(example = "ok"))]
    pub status: Cow<'static, str>,
    /// The service's version.
    pub version: Cow<'static, str>,
}
