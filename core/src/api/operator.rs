//! Operators' calls: what they send, and what they see.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::provider::{FeeBody, ProviderBody, RoutesBody};
use super::request::body;
#[cfg(feature = "openapi")]
use super::request::{PositiveAmountInput, schema::floor};
use super::{AmountInput, BalanceView, ClientPlaceView, DecimalNumber, Jwk, KeyView, Rate, RouteStepView, TermsBody, TokenView};
use crate::engine::Moved;
use crate::ledger::Mode;
use crate::route::health::Health;
use crate::store::record::{ApprovalStatus, ClientRecord, KeyRecord, KeyStatus, MovementKind, OperatorAct, OperatorRole, OperatorStatus};
use crate::time::rfc3339;

body! {
    /// An operator who enrols.
    OperatorEnrollBody {
        /// The code of the invitation.
        [example = "opi_01KAJX3M7Q5W8ZP9D2R4T6V8YB", pattern = "^[A-Za-z0-9_]{1,64}$"]
        code: String,
        /// The public key. Its private key never leaves its owner.
        jwk: Jwk,
    } optional {
        /// A name for people; default: the one that they were invited under.
        [example = "Ada", min_length = 1, max_length = 100]
        name: String,
    }
}

body! {
    /// Somebody who is invited to be an operator.
    OperatorInviteBody {
        /// A name for people.
        [example = "Ada", min_length = 1, max_length = 100]
        name: String,
        /// `viewer`, `agent`, `approver` or `admin`.
        [example = "agent", pattern = "^(viewer|agent|approver|admin)$"]
        role: String,
        /// Why, for the audit trail.
        [min_length = 1, max_length = 500]
        reason: String,
    } optional {}
}

body! {
    /// Another role for an operator.
    RoleBody {
        /// `viewer`, `agent`, `approver` or `admin`.
        [example = "approver", pattern = "^(viewer|agent|approver|admin)$"]
        role: String,
        /// Why, for the audit trail.
        [min_length = 1, max_length = 500]
        reason: String,
    } optional {}
}

body! {
    /// Why something is done, for the audit trail.
    ReasonBody {
        /// 1 to 500 printable characters.
        [example = "contract signed", min_length = 1, max_length = 500]
        reason: String,
    } optional {}
}

body! {
    /// What somebody says who decides about what another one asked for.
    CommentBody {} optional {
        /// 1 to 500 printable characters.
        [example = "compared with the bank statement", min_length = 1, max_length = 500]
        comment: String,
    }
}

/// The state of what operators see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangesView {
    /// Another number after every change; it says nothing else.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, example = 204_869_188_253_121_i64))]
    pub mark: i64,
    /// How many events the log has, of all clients.
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub events: i64,
}

body! {
    /// A client whose live keys are approved.
    ApproveClientBody {
        /// Why, for the audit trail.
        [example = "contract signed", min_length = 1, max_length = 500]
        reason: String,
    } optional {
        /// The thumbprint of the key to approve; required if several wait.
        [pattern = "^[A-Za-z0-9_-]{43}$"]
        key: String,
    }
}

body! {
    /// Real money that a client paid in, or was paid out.
    MoveMoneyBody {
        /// ISO 4217 code.
        [example = "EUR", pattern = "^[A-Z]{3}$"]
        currency: String,
        /// More than zero.
        [value_type = PositiveAmountInput, example = 250.00]
        amount: AmountInput,
        /// The operator's reference, unique for each client: a repeat changes nothing.
        [example = "wire-2026-0001", pattern = "^[A-Za-z0-9._-]{1,64}$"]
        reference: String,
        /// What proves it, such as the line of a bank statement.
        [example = "statement 7, line 12", min_length = 1, max_length = 500]
        evidence: String,
    } optional {
        /// Why, for the audit trail.
        [min_length = 1, max_length = 500]
        reason: String,
    }
}

body! {
    /// The limits of a client's payments in one mode and currency. What is left out stays as it is; `null` lifts a limit.
    SetLimitsBody {
        /// `sandbox` or `live`.
        [example = "live", pattern = "^(sandbox|live)$"]
        mode: String,
        /// ISO 4217 code.
        [example = "EUR", pattern = "^[A-Z]{3}$"]
        currency: String,
        /// Why, for the audit trail.
        [min_length = 1, max_length = 500]
        reason: String,
    } optional {
        /// The smallest payment.
        [value_type = Option<PositiveAmountInput>]
        min: AmountInput,
        /// The largest payment.
        [value_type = Option<PositiveAmountInput>]
        max: AmountInput,
        /// The most that the payments of a day (UTC) add up to.
        [value_type = Option<PositiveAmountInput>]
        daily_value: AmountInput,
        /// The most payments of a day.
        daily_count: u32,
    }
}

body! {
    /// What a client pays instead of the providers' fees.
    SetFeesBody {
        /// All of its rules.
        fees: Vec<FeeBody>,
        /// Why, for the audit trail.
        [min_length = 1, max_length = 500]
        reason: String,
    } optional {}
}

body! {
    /// Which calls a client's sessions may sign instead of its key.
    SetSessionSignaturesBody {
        /// `sandbox` or `live`.
        [example = "live", pattern = "^(sandbox|live)$"]
        mode: String,
        /// `all`: every call that need not be signed by the key itself; `reads`: of those, calls with `GET` or `HEAD`; `off`: none.
        [example = "all", pattern = "^(all|reads|off)$"]
        session_signatures: String,
        /// Why, for the audit trail.
        [min_length = 1, max_length = 500]
        reason: String,
    } optional {}
}

body! {
    /// The floor of a client's live account: how far below zero its available money may fall.
    SetFloorBody {
        /// ISO 4217 code.
        [example = "EUR", pattern = "^[A-Z]{3}$"]
        currency: String,
        /// Zero for none, otherwise less than zero.
        [schema_with = floor, example = "-500.00"]
        amount: AmountInput,
        /// The operator's reference, unique for each client, also among deposits and withdrawals: a repeat of the same change changes
        /// nothing.
        [example = "contract-2026-0001", pattern = "^[A-Za-z0-9._-]{1,64}$"]
        reference: String,
        /// What proves it, such as the paragraph of a contract. Clients never see it.
        [example = "contract of May, paragraph 4", min_length = 1, max_length = 500]
        evidence: String,
    } optional {
        /// Why, for the audit trail.
        [min_length = 1, max_length = 500]
        reason: String,
    }
}

body! {
    /// A decision about something that needs review.
    ResolveReviewBody {
        /// `confirmed_completed`, `confirmed_failed`, `accept_discrepancy` or `keep_waiting`.
        [example = "confirmed_completed", pattern = "^(confirmed_completed|confirmed_failed|accept_discrepancy|keep_waiting)$"]
        resolution: String,
        /// What proves it, for the audit trail. Clients never see it.
        [example = "statement 7, line 12", min_length = 1, max_length = 500]
        evidence: String,
    } optional {
        /// Why, for the audit trail.
        [min_length = 1, max_length = 500]
        reason: String,
        /// The version of the settlement that the operator has seen.
        version: u32,
    }
}

/// A person who runs the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorView {
    /// `opr_` and a ULID.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// What they may do.
    pub role: OperatorRole,
    /// Whether they were invited, may sign, or were revoked.
    pub status: OperatorStatus,
    /// Who invited them; null if that was done on the store itself.
    pub invited_by: Option<String>,
    /// When they were invited, RFC 3339.
    pub created_at: String,
    /// When the invitation expires, RFC 3339; null once it was used.
    pub expires_at: Option<String>,
    /// When they enrolled, RFC 3339.
    pub enrolled_at: Option<String>,
    /// When they were revoked, RFC 3339.
    pub revoked_at: Option<String>,
}

/// An invited operator, with the code that is shown only once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorInvitationView {
    /// The operator.
    pub operator: OperatorView,
    /// With it, they enrol a key: `opi_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Set if the code was shown before, in the response to the first call with the same `Idempotency-Key`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub code_shown: bool,
}

/// All operators.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorsView {
    /// In the order in which they were invited.
    pub data: Vec<OperatorView>,
}

/// An operator's first session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorEnrollmentView {
    /// The operator.
    pub operator: OperatorView,
    /// The key's RFC 7638 thumbprint: the `keyid` of its signatures.
    pub key_id: String,
    /// The first access token.
    #[serde(flatten)]
    pub token: TokenView,
}

/// What an operator asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApprovalView {
    /// `apr_` and a ULID.
    pub id: String,
    /// What was asked for.
    pub act: OperatorAct,
    /// What it is about: the client, provider or settlement, as the call named it.
    pub subject: String,
    /// The body of the call. Of secrets it has the names, and `hidden` for each value; secrets that it does not name are removed.
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value))]
    pub request: Box<RawValue>,
    /// The client concerned.
    pub client_id: Option<String>,
    /// Why it was asked for.
    pub reason: Option<String>,
    /// Whether it waits, or how it was decided.
    pub status: ApprovalStatus,
    /// The operator who asked.
    pub asked_by: String,
    /// When, RFC 3339.
    pub asked_at: String,
    /// When it expires unless somebody decides before, RFC 3339.
    pub expires_at: String,
    /// The operator who decided.
    pub decided_by: Option<String>,
    /// When, RFC 3339.
    pub decided_at: Option<String>,
    /// What the decider said.
    pub comment: Option<String>,
}

/// The answer to an act that a second operator has to confirm, and to a decision about it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskedView {
    /// What was asked for.
    pub approval: ApprovalView,
}

/// How an act ended, as it is kept under the `Idempotency-Key` of its call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationView {
    /// It waits for a second operator.
    Asked(AskedView),
    /// Money was moved, or credit was set.
    Moved(MovementView),
    /// It is done.
    Done,
}

/// A page of what operators asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApprovalsView {
    /// Newest first.
    pub data: Vec<ApprovalView>,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// A client, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClientView {
    /// `cli_` and a ULID.
    pub client_id: String,
    /// The name given when it enrolled.
    pub name: String,
    /// When it enrolled, RFC 3339.
    pub created_at: String,
    /// Whether it may not call.
    pub suspended: bool,
    /// How many active keys of the sandbox it has.
    pub sandbox_keys: usize,
    /// How many active live keys it has.
    pub live_keys: usize,
    /// How many of its keys await approval.
    pub pending_keys: usize,
}

impl ClientView {
    /// The view of a client with these keys.
    pub fn of(client: &ClientRecord, keys: &[KeyRecord]) -> Self {
        let active = |mode| keys.iter().filter(|key| key.status == KeyStatus::Active && key.mode == mode).count();
        Self {
            client_id: format!("cli_{}", client.id),
            name: client.name.clone(),
            created_at: rfc3339(client.created_at),
            suspended: client.suspended,
            sandbox_keys: active(Mode::Sandbox),
            live_keys: active(Mode::Live),
            pending_keys: keys.iter().filter(|key| key.status == KeyStatus::Pending).count(),
        }
    }
}

/// A page of clients.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClientsView {
    /// Oldest first.
    pub data: Vec<ClientView>,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// Everything about a client.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClientDetailView {
    /// The client.
    #[serde(flatten)]
    pub client: ClientView,
    /// Its keys, oldest first.
    pub keys: Vec<KeyView>,
    /// Its balances, live and of the sandbox.
    pub balances: Vec<BalanceView>,
    /// What is agreed with it.
    pub terms: TermsBody,
    /// The version of the configuration that changed the terms last; 0 if nothing was ever agreed.
    pub terms_version: i64,
    /// Where it is, if it moves to another gateway or came from one.
    pub place: Option<ClientPlaceView>,
}

/// Something that somebody did or tried to do.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditView {
    /// Its number, which grows with time.
    pub no: i64,
    /// When, RFC 3339.
    pub at: String,
    /// Who acted: a `client`, or an `operator`.
    pub by: &'static str,
    /// The operator who acted; null for a client, and for what was done on the store itself.
    pub operator_id: Option<String>,
    /// The client that acted, or that was acted on.
    pub client_id: Option<String>,
    /// The key that signed.
    pub key_id: Option<String>,
    /// What signed the call: the `key` itself, or a `session`; null if nothing did, and of older calls.
    pub signed_by: Option<&'static str>,
    /// What was done.
    pub action: &'static str,
    /// What it was done to.
    pub target: Option<String>,
    /// `done`, or the code of the refusal.
    pub outcome: String,
    /// What was decided and why.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub detail: Option<Box<RawValue>>,
}

/// A page of the audit trail.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditPageView {
    /// Newest first.
    pub data: Vec<AuditView>,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// Real money that entered or left a client's account, or a change of its credit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MovementView {
    /// The client.
    pub client_id: String,
    /// `deposit`, `withdrawal` or `credit_line`.
    pub kind: MovementKind,
    /// ISO 4217 code.
    pub currency: String,
    /// How much; of a credit line, how far below zero the available money may fall from then on.
    pub amount: DecimalNumber,
    /// The credit before; present for a credit line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<DecimalNumber>,
    /// The operator's reference.
    pub reference: String,
    /// What proves it.
    pub evidence: String,
    /// When it was made, RFC 3339.
    pub at: String,
}

impl From<&Moved> for MovementView {
    fn from(moved: &Moved) -> Self {
        let it = &moved.movement;
        Self {
            client_id: format!("cli_{}", moved.client.id),
            kind: it.kind,
            currency: it.currency.code().to_owned(),
            amount: it.money().into(),
            previous: it.previous().map(DecimalNumber::from),
            reference: it.reference.as_str().to_owned(),
            evidence: it.evidence.clone(),
            at: rfc3339(it.at),
        }
    }
}

/// A provider as an operator configured it, and how it is. Its secrets are never shown.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatedProviderView {
    /// The provider.
    #[serde(flatten)]
    pub provider: ProviderBody,
    /// The version of the configuration that changed it last; 0 if only the program has it.
    pub version: i64,
    /// The names of its secrets.
    pub secret_names: Vec<String>,
    /// Whether it takes payments, and answers.
    pub status: Health,
    /// The share of calls that it answered lately, from 0 to 1; null if there were too few.
    pub success_rate: Option<f64>,
    /// Of 100 calls, 95 were answered within so many milliseconds.
    pub p95_ms: Option<u64>,
}

/// All providers.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatedProvidersView {
    /// In the order in which the gateway knows them.
    pub data: Vec<OperatedProviderView>,
}

/// The table of routes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatedRoutesView {
    /// The table.
    #[serde(flatten)]
    pub table: RoutesBody,
    /// Its version, which is also the `ETag`; 0 if there never was one.
    pub version: i64,
}

/// Where a payment would go.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExplainView {
    /// Each provider, in or out, and why.
    pub route: Vec<RouteStepView>,
}

/// What the gateway did in a period, and what waits.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverviewView {
    /// The beginning of the period, RFC 3339.
    pub from: String,
    /// Its end, exclusive, RFC 3339.
    pub to: String,
    /// How many settlements were counted: the newest of the period.
    pub counted: usize,
    /// Whether those are all of the period.
    pub complete: bool,
    /// By environment, provider and currency.
    pub figures: Vec<FigureView>,
    /// What waits for a person.
    pub reviews: ReviewsDueView,
    /// How many requests of operators wait for a second one.
    pub approvals_pending: usize,
    /// What waits to be carried out.
    pub queues: QueuesView,
    /// What became of the webhooks of the period.
    pub webhooks: WebhookFiguresView,
    /// The servers that run over the store, and those that were gone within a day without a proper stop; the newest first. A server
    /// of a version that keeps no record of itself is not among them.
    pub nodes: Vec<NodeView>,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NodeView {
    /// 16 hexadecimal digits; different after each start.
    pub id: String,
    /// The name of its machine.
    pub host: String,
    /// The URL of the address that it listens on; null if it listens on all addresses of its machine.
    pub address: Option<String>,
    /// The version of its program.
    pub version: String,
    /// When it started, RFC 3339.
    pub started_at: String,
    /// When it last said that it runs, which it does every ten seconds, RFC 3339; by its own clock.
    pub seen_at: String,
    /// Whether that is no more than 30 seconds away from the time of the server that answers.
    pub up: bool,
}

/// What waits to be carried out by the servers; each counted up to 10,000. Under load, a few of each always do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueuesView {
    /// Calls to providers that are due.
    pub outbox_due: usize,
    /// Since when the oldest of them is due, RFC 3339.
    pub outbox_due_since: Option<String>,
    /// Webhooks with deliveries that are due.
    pub webhooks_due: usize,
    /// Commits whose events are not in the feeds yet.
    pub commits_to_number: usize,
}

/// The deliveries of webhooks, of all clients and both environments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookFiguresView {
    /// How many were counted: the oldest of the period, up to 50,000. Deliveries are kept for 30 days.
    pub counted: usize,
    /// Whether those are all of the period.
    pub complete: bool,
    /// How many have arrived.
    pub delivered: usize,
    /// How many were given up.
    pub failed: usize,
    /// How many failed so far and will be tried again.
    pub retrying: usize,
    /// How many were not tried yet.
    pub waiting: usize,
}

/// The settings of the gateway that operators act under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorSettingsView {
    /// Which acts a second operator has to confirm.
    pub four_eyes: FourEyesView,
}

/// Which acts a second operator has to confirm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FourEyesView {
    /// Live money in or out of a client's account, and its credit.
    pub money: bool,
    /// Live access of a client.
    pub access: bool,
    /// The outcome of a payment or reversal, from `outcome_from` on.
    pub outcome: bool,
    /// The smallest amount whose outcome needs a second operator, in units of its currency.
    pub outcome_from: i64,
    /// A new or changed live provider, and enabling one.
    pub provider: bool,
    /// The table of routes.
    pub routes: bool,
    /// Limits and fees of a client.
    pub terms: bool,
}

impl From<&crate::engine::FourEyes> for FourEyesView {
    fn from(rules: &crate::engine::FourEyes) -> Self {
        let crate::engine::FourEyes { money, access, outcome, provider, routes, terms, outcome_from } = *rules;
        Self { money, access, outcome, outcome_from, provider, routes, terms }
    }
}

/// The payments of one provider in one currency. Amounts of different currencies are never added up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FigureView {
    /// Whether it is the sandbox.
    pub sandbox: bool,
    /// The provider that has them, or had them last.
    pub provider: String,
    /// ISO 4217 code.
    pub currency: String,
    /// How many were accepted.
    pub count: usize,
    /// What they add up to, whatever became of them.
    pub value: DecimalNumber,
    /// How many were carried out, reversed later or not.
    pub succeeded: usize,
    /// What those add up to.
    pub succeeded_value: DecimalNumber,
    /// How many failed.
    pub failed: usize,
    /// How many were cancelled.
    pub cancelled: usize,
    /// How many are not final.
    pub open: usize,
    /// Of those that succeeded or failed, the share that succeeded, from 0 to 1; null if there are none.
    pub success_rate: Option<Rate>,
    /// Half of those that succeeded took at most so many milliseconds.
    pub p50_ms: Option<i64>,
    /// 95 of 100 that succeeded took at most so many milliseconds.
    pub p95_ms: Option<i64>,
}

/// What waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewsDueView {
    /// How many, counted up to 10,000.
    pub due: usize,
    /// Since when the oldest waits, RFC 3339.
    pub oldest_at: Option<String>,
    /// What those add up to, by environment and currency.
    pub at_stake: Vec<StakeView>,
}

/// What waits for a person in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StakeView {
    /// Whether it is the sandbox.
    pub sandbox: bool,
    /// ISO 4217 code.
    pub currency: String,
    /// The sum of the payments and reversals.
    pub amount: DecimalNumber,
}

/// What a provider was given, and what is on its way, in one currency: an account of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PositionView {
    /// The provider.
    pub provider: String,
    /// Whether it is the sandbox.
    pub sandbox: bool,
    /// ISO 4217 code.
    pub currency: String,
    /// What was paid through it: carried out, less what came back. The gateway owes it so much as was not settled with it outside.
    pub posted: DecimalNumber,
    /// What is on hold for payments that it may have.
    pub pending: DecimalNumber,
}

/// All positions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PositionsView {
    /// By currency.
    pub data: Vec<PositionView>,
}
