//! Receipts: the signed outcome of a settlement, which anybody can verify without asking the gateway.
//!
//! ```
//! use railgate::ErrorCode;
//! use railgate::receipt::verify_receipt;
//! # use std::sync::Arc;
//! # use railgate::{Config, Gateway, api::CreateRequest, env::ManualEnv, seal::MasterKeys, store::memory::MemoryStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let config = Config { master: Some(Arc::new(MasterKeys::generate(1, [7; 32]))), ..Config::sandbox() };
//! # let (store, env) = (Arc::new(MemoryStore::new()), Arc::new(ManualEnv::new(1_795_257_497_042, 1)));
//! # let gateway = Gateway::open_with(store, env, config)?;
//! # let enrolled = gateway.enroll("Shop")?;
//! # let shop = gateway.client(&enrolled);
//! # shop.create(CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?))?;
//! # gateway.work()?;
//! // The gateway issues it, and publishes its keys. To have any, it needs a master key.
//! let receipt = shop.receipt("inv-1")?;
//! let keys = gateway.receipt_keys()?;
//!
//! // Anybody verifies it, offline.
//! let claims = verify_receipt(&receipt.jws, &keys)?;
//! assert_eq!((&*claims.reference, &*claims.amt, &*claims.cur), ("inv-1", "10.50", "EUR"));
//! assert_eq!(claims.to, "sim:***"); // the payee, masked
//!
//! let forged = receipt.jws.replacen('.', ".e30", 1);
//! assert_eq!(verify_receipt(&forged, &keys).map_err(|error| error.code), Err(ErrorCode::ReceiptInvalid));
//!
//! // For people, there are a page, a picture and a text.
//! assert!(receipt.html().contains("10.50"));
//! # Ok(())
//! # }
//! ```
//!
//! A receipt is a compact JWS (RFC 7515, ES256) about one moment: the event that completed, reversed or returned the settlement.
//! Its content follows from the settlement as that event left it, and the signature is deterministic (RFC 6979): the gateway
//! returns the same bytes every time, until its key is replaced. Events that move no money (the request for a reversal or its
//! failure, a discrepancy) issue no new receipt.
//!
//! Each later event of that kind issues another receipt, which names its predecessor in `supersedes`. With two receipts of a
//! settlement, it is therefore clear which one is current, and with one receipt, one can ask for a later one.

mod form;
mod page;
mod qr;
pub mod sheet;
mod verify;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::api::DecimalNumber;
use crate::auth::{KeyId, SignError, Signer};
use crate::error::{Error, Result};
use crate::ids::{IdKey, Ulid};
use crate::ledger::Mode;
use crate::lifecycle::SettlementStatus;
use crate::money::Money;
use crate::store::record::{Digest32, EventRecord, EventType, SettlementRecord};
use crate::time::rfc3339;
use crate::trace;

pub use form::Form;
pub use page::content_security_policy;
#[cfg(feature = "reconcile")]
pub(crate) use page::{escape, policy_of};
pub use qr::{Bar, Code, Drawing, Level};
#[cfg(feature = "reconcile")]
pub(crate) use sheet::tame;
pub use verify::{Pending, begin, verify_receipt};

/// The `typ` of a receipt's header.
pub const TYP: &str = "settlement-receipt+jwt";
/// The `alg` of a receipt's header.
const ALG: &str = "ES256";

/// The content of a receipt. The names are those in the JWS; amounts are decimals with the currency's number of decimals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Claims {
    /// The issuer: the gateway's public address, or `railgate` if it has none.
    pub iss: String,
    /// The receipt's id: `rcpt_` and a ULID.
    pub jti: String,
    /// When the event of the receipt occurred, in seconds since the Unix epoch.
    pub iat: i64,
    /// The settlement: `stl_` and a ULID.
    pub sub: String,
    /// `sandbox` or `live`. A sandbox receipt represents no money.
    #[cfg_attr(feature = "openapi", schema(value_type = Mode))]
    pub env: String,
    /// The client's reference.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The amount that the payee received.
    #[cfg_attr(feature = "openapi", schema(format = "decimal"))]
    pub amt: String,
    /// The ISO 4217 code of the currency.
    pub cur: String,
    /// The fee, in addition to the amount.
    #[cfg_attr(feature = "openapi", schema(format = "decimal"))]
    pub fee: String,
    /// The payer: `cli_` and a ULID.
    pub from: String,
    /// The payee, masked.
    pub to: String,
    /// The status of the settlement: `completed`, `partially_reversed`, `reversed` or `returned`.
    pub status: SettlementStatus,
    /// When the payment was completed, RFC 3339.
    pub settled_at: String,
    /// The provider that made the payment.
    pub provider: String,
    /// The rail's own reference.
    pub rail_ref: Option<String>,
    /// The amount returned by reversals.
    #[cfg_attr(feature = "openapi", schema(format = "decimal"))]
    pub rev: String,
    /// The event trace up to the event of the receipt.
    pub ev: Trace,
    /// The receipt that this one replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
}

/// The part of the settlement's event trace that a receipt covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trace {
    /// The sequence number of the event.
    pub n: u32,
    /// The hash of the event, which covers all earlier ones: lower-case hex.
    pub head: String,
}

/// The header of a receipt, with its members in the signed order.
#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    kid: &'a str,
    typ: &'static str,
}

/// A signed receipt in each of its forms: [`Receipt::view`], [`Receipt::jws`], [`Receipt::html`], [`Receipt::svg`] and
/// [`Receipt::text`]; and its parts, to show it in any other form: [`Receipt::heading`], [`Receipt::rows`] and [`Receipt::code`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The content.
    pub claims: Claims,
    /// The key that signed it.
    pub key_id: KeyId,
    /// The compact JWS.
    pub jws: String,
    /// The payer's description of the payment. It is not signed.
    pub description: Option<String>,
}

impl Receipt {
    /// Signs `claims`.
    ///
    /// # Errors
    /// `internal` if `signer` is not a P-256 key that can sign.
    pub fn sign(claims: Claims, description: Option<String>, signer: &dyn Signer) -> Result<Self> {
        let key_id = signer.public_key().id();
        let kid = key_id.to_string();
        let mut jws = String::with_capacity(1_200);
        push_part(&mut jws, &serde_json::to_vec(&Header { alg: ALG, kid: &kid, typ: TYP }).map_err(Error::internal)?);
        jws.push('.');
        push_part(&mut jws, &serde_json::to_vec(&claims).map_err(Error::internal)?);
        let signature = signer.sign(jws.as_bytes()).map_err(|error: SignError| Error::internal(error.to_string()))?;
        jws.push('.');
        push_part(&mut jws, &signature);
        Ok(Self { claims, key_id, jws, description })
    }

    /// The receipt as readable members, including the JWS.
    pub fn view(&self) -> ReceiptView {
        let claims = self.claims.clone();
        ReceiptView {
            id: claims.jti,
            issuer: claims.iss,
            issued_at: rfc3339(claims.iat.saturating_mul(1_000)),
            settlement_id: claims.sub,
            reference: claims.reference,
            sandbox: claims.env == Mode::Sandbox.as_str(),
            status: claims.status,
            amount: DecimalNumber::from_text(claims.amt),
            currency: claims.cur,
            fee: DecimalNumber::from_text(claims.fee),
            reversed_amount: DecimalNumber::from_text(claims.rev),
            from: claims.from,
            to: claims.to,
            settled_at: claims.settled_at,
            provider: claims.provider,
            rail_reference: claims.rail_ref,
            trace: claims.ev,
            supersedes: claims.supersedes,
            key_id: self.key_id.to_string(),
            jws: self.jws.clone(),
        }
    }
}

fn push_part(out: &mut String, bytes: &[u8]) {
    URL_SAFE_NO_PAD.encode_string(bytes, out);
}

/// A receipt as JSON. Only `jws` is authoritative; the rest is its content, for people and simple programs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReceiptView {
    /// `rcpt_` and a ULID.
    pub id: String,
    /// The issuer: the gateway's public address, or `railgate` if it has none.
    pub issuer: String,
    /// When the event of the receipt occurred, RFC 3339.
    pub issued_at: String,
    /// `stl_` and a ULID.
    pub settlement_id: String,
    /// The client's reference.
    pub reference: String,
    /// Whether it is a sandbox receipt, which represents no money.
    pub sandbox: bool,
    /// `completed`, `partially_reversed`, `reversed` or `returned`.
    pub status: SettlementStatus,
    /// The amount that the payee received.
    pub amount: DecimalNumber,
    /// The ISO 4217 code of the currency.
    pub currency: String,
    /// The fee, in addition to the amount.
    pub fee: DecimalNumber,
    /// The amount returned by reversals.
    pub reversed_amount: DecimalNumber,
    /// The payer: `cli_` and a ULID.
    pub from: String,
    /// The payee, masked.
    pub to: String,
    /// When the payment was completed, RFC 3339.
    pub settled_at: String,
    /// The provider that made the payment.
    pub provider: String,
    /// The rail's own reference.
    pub rail_reference: Option<String>,
    /// The event trace up to the event of the receipt.
    pub trace: Trace,
    /// The receipt that this one replaces; null for the first.
    pub supersedes: Option<String>,
    /// The key in `/.well-known/jwks.json` that signed it.
    pub key_id: String,
    /// The receipt itself: a compact JWS (ES256).
    pub jws: String,
}

/// Whether an event of this kind issues a receipt because it moved money.
pub(crate) fn issues(kind: EventType) -> bool {
    match kind {
        EventType::SettlementCompleted
        | EventType::SettlementPartiallyReversed
        | EventType::SettlementReversed
        | EventType::SettlementReturned => true,
        EventType::SettlementAccepted
        | EventType::SettlementSubmitted
        | EventType::SettlementUnknown
        | EventType::SettlementFailed
        | EventType::SettlementCancelled
        | EventType::SettlementDiscrepancy
        | EventType::SettlementReviewed
        | EventType::AttemptStarted
        | EventType::AttemptAnswered
        | EventType::ReversalAccepted
        | EventType::ReversalSubmitted
        | EventType::ReversalUnknown
        | EventType::ReversalCompleted
        | EventType::ReversalFailed
        | EventType::BalanceDeposited
        | EventType::BalanceWithdrawn
        | EventType::BalanceCreditChanged
        | EventType::ApprovalRequested
        | EventType::ApprovalApproved
        | EventType::ApprovalDeclined
        | EventType::BundleCreated
        | EventType::BundleEdited
        | EventType::BundleCommented
        | EventType::BundleTested
        | EventType::BundlePublicationAsked
        | EventType::BundlePublicationFailed
        | EventType::BundleSuperseded
        | EventType::BundleTestAsked
        | EventType::BundleSubmitted
        | EventType::BundleInReview
        | EventType::BundleApproved
        | EventType::BundleRejected
        | EventType::BundleChangesRequested
        | EventType::BundleWithdrawn
        | EventType::BundlePublished
        | EventType::BundleRevoked => false,
    }
}

/// The data that a receipt needs about its event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    n: u32,
    at: crate::time::Millis,
    hash: Digest32,
}

impl From<&EventRecord> for Moment {
    fn from(event: &EventRecord) -> Self {
        Self { n: event.n, at: event.at, hash: event.hash }
    }
}

/// The claims about a paid settlement: `moment` is its latest event that issues a receipt, `before` the previous one. `client` owns the
/// settlement, and pays unless somebody else does.
pub(crate) fn claims(
    issuer: &str,
    key: &IdKey,
    client: Ulid,
    provider: &str,
    record: &SettlementRecord,
    moments: (Moment, Option<Moment>),
) -> Claims {
    let (moment, before) = moments;
    let money = |minor| Money::from_minor(minor, record.currency).decimal();
    let payer = record.other_side().and_then(|it| it.from.as_deref()?.strip_prefix("participant:"));
    // Derived from the event: needs no room in the store, and never changes.
    let id = |moment: Moment| format!("rcpt_{}", key.child("rcpt", record.no, moment.n, moment.at));
    Claims {
        iss: issuer.to_owned(),
        jti: id(moment),
        iat: moment.at.div_euclid(1_000),
        sub: format!("stl_{}", trace::settlement_ulid(key, record)),
        env: record.mode.as_str().to_owned(),
        reference: record.reference.as_str().to_owned(),
        amt: money(record.amount),
        cur: record.currency.code().to_owned(),
        fee: money(record.fee),
        from: payer.map_or_else(|| format!("cli_{client}"), str::to_owned),
        to: record.to.masked(),
        status: record.status,
        settled_at: rfc3339(record.completed_at.unwrap_or(moment.at)),
        provider: provider.to_owned(),
        rail_ref: record.more.as_deref().and_then(|more| more.rail_reference.clone()),
        rev: money(record.reversed),
        ev: Trace { n: moment.n, head: trace::hex(&moment.hash) },
        supersedes: before.map(id),
    }
}

#[cfg(test)]
mod tests;
