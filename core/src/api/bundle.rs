//! Bundles: what a partner writes, and what partner and reviewers see. [`crate::validate::bundle`] checks the bodies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[cfg(feature = "openapi")]
use super::request::PositiveAmountInput;
use super::request::body;
use super::{AmountInput, FeeBody, LimitBody, SecretTexts, TimeoutsBody};
use crate::ledger::Mode;
use crate::lifecycle::BundleStatus;
use crate::store::record::{BundleStepKind, ConformanceStatus};

body! {
    /// A bundle, as JSON.
    BundleBody {
        /// What the provider is. `GET /api/v1/bundles/schema` has its JSON Schema.
        manifest: ManifestBody,
    } optional {
        /// Secrets of its endpoints. They are sealed and never shown again; left out, those that it has stay.
        secrets: BundleSecretsBody,
        /// Documents for the reviewers, at most 20.
        documents: Vec<DocumentBody>,
    }
}

body! {
    /// A provider, as its partner describes it.
    ManifestBody {
        /// The id of the provider, once it is published live; `<id>-sandbox` in the sandbox.
        [example = "acme", pattern = "^[a-z0-9._-]{1,56}$"]
        id: String,
        /// The version of this description.
        [example = "1.0.0", pattern = "^[0-9]{1,5}\\.[0-9]{1,5}\\.[0-9]{1,5}$"]
        version: String,
        /// A name for people.
        [example = "Acme Pay", min_length = 1, max_length = 100]
        name: String,
        /// The protocol that it speaks: `adapter` or `gsma`.
        [example = "adapter", pattern = "^(adapter|gsma)$"]
        rail: String,
        /// The kinds of participant that it reaches.
        [example = json!(["msisdn"]), min_items = 1]
        namespaces: Vec<String>,
        /// The currencies that it settles, ISO 4217.
        [example = json!(["KES"]), min_items = 1]
        currencies: Vec<String>,
        /// Who answers questions.
        [min_items = 1]
        contacts: Vec<ContactBody>,
        /// Its endpoint for tests, where no real money moves.
        sandbox: SandboxPlaceBody,
    } optional {
        /// The countries that it reaches, ISO 3166-1 alpha-2.
        [example = json!(["KE"]), min_items = 1]
        countries: Vec<String>,
        /// Settings of its rail.
        settings: BTreeMap<String, String>,
        /// Smallest and largest payments, by currency.
        limits: BTreeMap<String, LimitBody>,
        /// What it charges.
        [min_items = 1]
        fees: Vec<FeeBody>,
        /// How long calls to it may take.
        timeouts: TimeoutsBody,
        /// What it promises to do; must agree with its settings.
        capabilities: PromisedBody,
        /// The payments that it would like to get.
        routes: Vec<WishBody>,
        /// Its endpoint for real money. Without it, the bundle can only be published in the sandbox.
        live: LivePlaceBody,
    }
}

body! {
    /// Somebody who answers questions.
    ContactBody {
        /// `technical`, `operations` or `compliance`.
        [example = "technical", pattern = "^(technical|operations|compliance)$"]
        role: String,
        /// An address.
        [example = "pay@acme.example", max_length = 254, pattern = "^[!-?A-~]+@[!-?A-~]+$"]
        email: String,
    } optional {
        /// A name.
        [example = "Ada Acme", min_length = 1, max_length = 100]
        name: String,
    }
}

body! {
    /// An endpoint for tests.
    SandboxPlaceBody {
        /// Its address.
        [example = "https://sandbox.acme.example/railgate", min_length = 1, max_length = 2048]
        base_url: String,
        /// Whom the test pays there.
        test: TestPartiesBody,
    } optional {
        /// Settings that differ from the general ones.
        settings: BTreeMap<String, String>,
    }
}

body! {
    /// An endpoint for real money.
    LivePlaceBody {
        /// Its address.
        [example = "https://api.acme.example/railgate", min_length = 1, max_length = 2048]
        base_url: String,
    } optional {
        /// Settings that differ from the general ones.
        settings: BTreeMap<String, String>,
    }
}

body! {
    /// Whom the test of the sandbox endpoint pays, and how much.
    TestPartiesBody {
        /// Somebody who is paid at once, or within 20 seconds.
        [example = "msisdn:+254700000001"]
        to: String,
    } optional {
        /// Somebody whom it does not know; without it, declines are not tested.
        [example = "msisdn:+254700000404"]
        unknown_to: String,
        /// Somebody who is paid later: the payment is accepted at first; without it, callbacks are not tested.
        [example = "msisdn:+254700000202"]
        later_to: String,
        /// How much each time; default: 10.
        [value_type = Option<PositiveAmountInput>]
        amount: AmountInput,
        /// In which currency; default: the first of `currencies`.
        [example = "KES"]
        currency: String,
    }
}

body! {
    /// What a provider promises to do.
    PromisedBody {} optional {
        /// It can identify the payee before a payment.
        check_payee: bool,
        /// It can reverse a payment.
        reverse: bool,
        /// It can reverse a part of a payment.
        partial_reverse: bool,
        /// It can be asked for the outcome of a payment, and its "not found" is authoritative.
        inquiry: bool,
    }
}

body! {
    /// Payments that a provider would like to get.
    WishBody {
        /// The kind of participant.
        [example = "msisdn", min_length = 1]
        namespace: String,
    } optional {
        /// What the participant's identifier starts with.
        [example = "+2547"]
        prefix: String,
        /// Only this currency.
        currency: String,
        /// The smallest payment; needs a currency.
        [value_type = Option<PositiveAmountInput>]
        min: AmountInput,
        /// The largest payment; needs a currency.
        [value_type = Option<PositiveAmountInput>]
        max: AmountInput,
        /// The lowest is tried first; default: 100.
        [maximum = 1_000_000]
        priority: u32,
        /// Its share among those of the same priority; default: 1.
        [maximum = 1_000_000]
        weight: u32,
    }
}

body! {
    /// Secrets of a provider's endpoints, by name.
    BundleSecretsBody {} optional {
        /// Those of the endpoint for tests.
        sandbox: SecretTexts,
        /// Those of the endpoint for real money.
        live: SecretTexts,
    }
}

body! {
    /// A document for the reviewers.
    DocumentBody {
        /// The name of the file; its ending says what it is: pdf, png, jpg, txt, md, csv or json.
        [example = "licence.pdf", max_length = 100]
        name: String,
        /// The content, in base64.
        [min_length = 1]
        content: String,
    } optional {}
}

body! {
    /// What a reviewer says about a bundle.
    ReviewBundleBody {
        /// 1 to 2,000 characters.
        [example = "The licence has expired: please attach the new one.", min_length = 1, max_length = 2000]
        comment: String,
    } optional {}
}

body! {
    /// The approval of a bundle.
    ApproveBundleBody {
        /// The `digest` of the revision that was reviewed: so the call's signature covers it.
        [example = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9", pattern = "^[0-9a-f]{64}$"]
        digest: String,
        /// 1 to 2,000 characters.
        [example = "All checks passed; licence seen.", min_length = 1, max_length = 2000]
        comment: String,
    } optional {}
}

body! {
    /// A comment on a bundle.
    BundleCommentBody {
        /// 1 to 2,000 characters.
        [example = "Is this really the largest payment?", min_length = 1, max_length = 2000]
        comment: String,
    } optional {
        /// The place that it is about: an RFC 6901 pointer into the bundle.
        [example = "/manifest/limits/KES/max", max_length = 256]
        pointer: String,
    }
}

body! {
    /// The publication of a bundle.
    PublishBundleBody {
        /// `sandbox` first, then `live`.
        [example = "sandbox", pattern = "^(sandbox|live)$"]
        mode: String,
        /// 1 to 500 printable characters.
        [example = "contract signed", min_length = 1, max_length = 500]
        reason: String,
    } optional {
        /// Whether its wishes are added to the table of routes; default: true.
        routes: bool,
    }
}

/// A bundle.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleView {
    /// What lists show of it.
    #[serde(flatten)]
    pub summary: BundleSummaryView,
    /// The manifest of the last revision, as it was sent.
    #[cfg_attr(feature = "openapi", schema(value_type = ManifestBody))]
    pub manifest: Box<RawValue>,
    /// The documents of the last revision.
    pub documents: Vec<DocumentView>,
    /// The names of its secrets.
    pub secrets: BundleSecretsView,
    /// What the gateway found when it was submitted last.
    pub findings: Vec<BundleFindingView>,
    /// Who signed for the last revision: its partner, and who approved it.
    pub signatures: Vec<BundleSignatureView>,
}

/// A bundle in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleSummaryView {
    /// `bun_` and a ULID.
    pub id: String,
    /// The partner.
    pub client_id: String,
    /// The mode of the credential that made it. Only one that was made with a live credential is published live.
    pub mode: Mode,
    /// The id in its manifest.
    pub provider: String,
    /// The version in its manifest.
    pub release: String,
    /// The current state.
    pub status: BundleStatus,
    /// The number of the last revision, from 1.
    pub revision: u32,
    /// The digest of that revision: SHA-256 over the lines that `sha256sum` prints of its manifest and its documents, by name.
    pub digest: String,
    /// The version of the bundle, which is its `ETag`.
    pub version: u32,
    /// How the test of its sandbox endpoint is; null before the first.
    pub conformance: Option<ConformanceStatus>,
    /// Where its provider was made.
    pub published: PublishedView,
    /// Where it is published once a test has passed; null if nobody asked for that.
    pub publishing: Option<Mode>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// When it last changed, RFC 3339.
    pub updated_at: String,
}

/// Where a bundle's provider was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PublishedView {
    /// In the sandbox, as `<id>-sandbox`.
    pub sandbox: bool,
    /// Live.
    pub live: bool,
}

/// A document of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentView {
    /// The name of the file.
    pub name: String,
    /// Its type, from the ending of the name.
    pub media_type: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// The names of a bundle's secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleSecretsView {
    /// Those of the endpoint for tests.
    pub sandbox: Vec<String>,
    /// Those of the endpoint for real money.
    pub live: Vec<String>,
}

/// Something that reviewers should know; it refuses nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleFindingView {
    /// Stable code: `id_taken`, `serves_the_same`, `route_overlap`, `first_route`.
    pub code: String,
    /// The place in the bundle that it is about.
    pub pointer: String,
    /// One sentence for people.
    pub message: String,
}

/// A signature for a revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleSignatureView {
    /// `partner` or `reviewer`.
    pub role: String,
    /// The partner's or the operator's id.
    pub by: String,
    /// The thumbprint of the key (RFC 7638).
    pub key_id: Option<String>,
    /// The digest of the revision.
    pub digest: String,
    /// When, RFC 3339.
    pub at: String,
}

/// A page of bundles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundlesView {
    /// Newest first.
    pub data: Vec<BundleSummaryView>,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// A step of a bundle's timeline.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleStepView {
    /// Its number on the timeline, from 1, without gaps.
    pub sequence: u32,
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: BundleStepKind,
    /// When it happened, RFC 3339.
    pub at: String,
    /// The partner's id, an operator's, or null for the gateway itself.
    pub by: Option<String>,
    /// The thumbprint of the key that signed.
    pub key_id: Option<String>,
    /// The revision that it is about.
    pub revision: u32,
    /// The state before.
    pub from: BundleStatus,
    /// The state after.
    pub to: BundleStatus,
    /// What was said.
    pub comment: Option<String>,
    /// Further details, such as `pointer`, `digest`, `mode`, `findings`; of a test, `status` and the number of `failed` checks.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub data: Option<Box<RawValue>>,
}

/// A page of a timeline.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleTimelineView {
    /// Oldest first.
    pub data: Vec<BundleStepView>,
    /// Whether there are more.
    pub has_more: bool,
}

/// How two revisions differ.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleDiffView {
    /// The earlier revision.
    pub from: u32,
    /// The later revision.
    pub to: u32,
    /// Each place that differs.
    pub changes: Vec<BundleChangeView>,
}

/// A place at which two revisions differ.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleChangeView {
    /// An RFC 6901 pointer into the bundle.
    pub pointer: String,
    /// What was there; missing if nothing was. Of a document, its SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub before: Option<Box<RawValue>>,
    /// What is there; missing if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub after: Option<Box<RawValue>>,
}

/// The report of a test of a bundle's sandbox endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConformanceReport {
    /// Whether no check failed.
    pub ok: bool,
    /// The endpoint.
    pub base_url: String,
    /// How many checks failed.
    pub failed: u32,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// The checks, in order.
    pub checks: Vec<CheckReport>,
}

/// A check of a test.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CheckReport {
    /// What was checked.
    pub check: String,
    /// `passed`, `failed`, `advice` (it may stay, but would be better otherwise) or `skipped`.
    pub result: String,
    /// Why, unless it passed.
    pub why: Option<String>,
    /// What was expected.
    pub expected: String,
    /// Where the protocol says so.
    pub says: String,
    /// What was sent and what came, in order; long texts are cut off.
    pub exchanges: Vec<ExchangeReport>,
}

/// A request of a test, and what came.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExchangeReport {
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The body that was sent.
    pub body: String,
    /// What came; null if nothing did.
    pub came: Option<CameReport>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// The answer to a request of a test.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CameReport {
    /// The status.
    pub status: u16,
    /// The body, as far as it is text.
    pub body: String,
}

/// The last test of a bundle.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConformanceView {
    /// How the test is; null before the first.
    pub status: Option<ConformanceStatus>,
    /// The revision that the report is about.
    pub revision: Option<u32>,
    /// When it was reported, RFC 3339.
    pub at: Option<String>,
    /// The report of the last test that ended.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<ConformanceReport>))]
    pub report: Option<Box<RawValue>>,
}

/// A bundle as its events show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BundleEventView {
    /// The bundle, as the step left it.
    #[serde(flatten)]
    pub bundle: BundleSummaryView,
    /// The number of the step on its timeline.
    pub sequence: u32,
    /// What was said.
    pub comment: Option<String>,
}
