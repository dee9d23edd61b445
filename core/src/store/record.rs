//! What a store keeps: plain data without behaviour.
//!
//! ```
//! use railgate::store::record::{EventRecord, EventType, Key, RecordKind};
//! use railgate::store::{Scan, Store as _, typed_all};
//! # use std::sync::Arc;
//! # use railgate::{Config, Gateway, api::CreateRequest, env::ManualEnv, store::memory::MemoryStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (store, env) = (Arc::new(MemoryStore::new()), Arc::new(ManualEnv::new(1_795_257_497_042, 1)));
//! # let gateway = Gateway::open_with(store.clone(), env, Config::sandbox())?;
//! # let enrolled = gateway.enroll("Shop")?;
//! # gateway.client(&enrolled).create(CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?))?;
//! // All events of all settlements, in pages, as a tool would read them.
//! let mut kinds = Vec::new();
//! let mut page = Scan::all(RecordKind::Event, 100);
//! loop {
//!     let events: Vec<EventRecord> = typed_all(store.scan(&page)?)?;
//!     let Some(last) = events.last() else { break };
//!     page = Scan::after(&Key::Event((last.settlement, last.n)), 100);
//!     kinds.extend(events.iter().map(|event| event.kind));
//! }
//! assert_eq!(kinds, [EventType::SettlementAccepted]);
//! # Ok(())
//! # }
//! ```
//!
//! The kinds of records are declared in `store/tables.rs`; this module has the types of their fields.

mod bundle;
mod log;
mod mobile;
mod notification;
mod operator;
mod quality;
mod reconcile;
mod webhook;

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::ids::ClientNo;
use crate::ledger::Mode;
use crate::lifecycle::{Direction, stored_enum};
use crate::rail::FailureCode;
use crate::route::FeeRefund;
use crate::time::Millis;
use crate::traceparent::TraceParent;

pub use super::tables::*;
pub use bundle::*;
pub use log::*;
pub use mobile::*;
pub use notification::*;
pub use operator::*;
pub use quality::*;
pub use reconcile::*;
pub use webhook::*;

/// A SHA-256 digest.
pub type Digest32 = [u8; 32];

/// The version of a record whose kind once had none. 0 is stored as NULL, which is what the rows of that time have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Version(pub u32);

impl Version {
    /// The version after the next change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl From<Version> for u32 {
    fn from(version: Version) -> Self {
        version.0
    }
}

/// A value of a record whose kind once did not have it: `None` in the rows of that time, which a journal still writes as the same
/// bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Later<T>(pub Option<T>);

stored_enum! {
    /// Whether a key may sign.
    pub enum KeyStatus {
        /// The key may sign.
        Active = 1 "active",
        /// The key may not sign before an operator approves it.
        Pending = 2 "pending",
        /// The key may never sign again.
        Revoked = 3 "revoked",
    }
}

stored_enum! {
    /// The purpose of one of the gateway's secrets.
    pub enum SecretKind {
        /// The HMAC key of challenges.
        Challenge = 1 "challenge",
        /// The P-256 key that signs receipts.
        Receipt = 2 "receipt",
        /// The Ed25519 key that signs the log's checkpoints.
        Log = 3 "log",
        /// The P-256 key that identifies the gateway to push services.
        Vapid = 4 "vapid",
    }
}

stored_enum! {
    /// What an operator did to a client's account.
    pub enum MovementKind {
        /// The client paid in.
        Deposit = 1 "deposit",
        /// The client was paid out.
        Withdrawal = 2 "withdrawal",
        /// The client's credit was set: no money moves.
        CreditLine = 3 "credit_line",
    }
}

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventSubject {
    /// A settlement.
    Settlement,
    /// What an operator did to a client's account.
    Movement,
    /// A partner's bundle.
    Bundle,
}

impl EventType {
    /// What it is about.
    pub const fn subject(self) -> EventSubject {
        match self {
            Self::BalanceDeposited | Self::BalanceWithdrawn | Self::BalanceCreditChanged => EventSubject::Movement,
            Self::BundleCreated
            | Self::BundleEdited
            | Self::BundleCommented
            | Self::BundleTested
            | Self::BundlePublicationAsked
            | Self::BundlePublicationFailed
            | Self::BundleSuperseded
            | Self::BundleTestAsked
            | Self::BundleSubmitted
            | Self::BundleInReview
            | Self::BundleApproved
            | Self::BundleRejected
            | Self::BundleChangesRequested
            | Self::BundleWithdrawn
            | Self::BundlePublished
            | Self::BundleRevoked => EventSubject::Bundle,
            Self::SettlementAccepted
            | Self::SettlementSubmitted
            | Self::SettlementUnknown
            | Self::SettlementCompleted
            | Self::SettlementFailed
            | Self::SettlementCancelled
            | Self::SettlementPartiallyReversed
            | Self::SettlementReversed
            | Self::SettlementReturned
            | Self::SettlementDiscrepancy
            | Self::SettlementReviewed
            | Self::AttemptStarted
            | Self::AttemptAnswered
            | Self::ReversalAccepted
            | Self::ReversalSubmitted
            | Self::ReversalUnknown
            | Self::ReversalCompleted
            | Self::ReversalFailed
            | Self::ApprovalRequested
            | Self::ApprovalApproved
            | Self::ApprovalDeclined => EventSubject::Settlement,
        }
    }
}

impl MovementKind {
    /// The event that its client is told.
    pub(crate) const fn event(self) -> EventType {
        match self {
            Self::Deposit => EventType::BalanceDeposited,
            Self::Withdrawal => EventType::BalanceWithdrawn,
            Self::CreditLine => EventType::BalanceCreditChanged,
        }
    }

    /// What the audit trail calls it.
    pub(crate) const fn action(self) -> AuditAction {
        match self {
            Self::Deposit => AuditAction::Deposit,
            Self::Withdrawal => AuditAction::Withdraw,
            Self::CreditLine => AuditAction::SetCredit,
        }
    }
}

stored_enum! {
    /// What a row of the configuration is about.
    pub enum SetupSubject {
        /// A provider.
        Provider = 1 "provider",
        /// The table of routes.
        Routes = 2 "routes",
        /// The terms of a client.
        Terms = 3 "terms",
        /// Where a client is: it moves to another gateway, or came from one.
        Place = 4 "place",
    }
}

stored_enum! {
    /// What a reference was used for.
    pub enum ReferenceKind {
        /// A settlement.
        Settlement = 1 "settlement",
        /// A reversal.
        Reversal = 2 "reversal",
        /// What an operator did to the client's account: a deposit, a withdrawal or a change of credit.
        Movement = 3 "movement",
    }
}

stored_enum! {
    /// Why something needs review.
    pub enum ReviewReason {
        /// Its outcome was still unknown after a day.
        NoEndForADay = 1 "no_end_for_a_day",
        /// An answer of the rail contradicts what was proved.
        Discrepancy = 2 "discrepancy",
        /// The provider's statement has it, and here its outcome is open.
        InStatement = 3 "in_statement",
        /// The provider's statement contradicts the recorded outcome.
        StatementDiffers = 4 "statement_differs",
    }
}

impl ReviewReason {
    /// The reason that counts if something waits for two.
    pub(crate) const fn or_stronger(self, other: Self) -> Self {
        if other.strength() > self.strength() { other } else { self }
    }

    const fn strength(self) -> u8 {
        match self {
            Self::NoEndForADay => 0,
            Self::InStatement => 1,
            Self::StatementDiffers => 2,
            Self::Discrepancy => 3,
        }
    }

    /// The likely reason for something that was flagged by a program that recorded none.
    pub(crate) const fn guess(is_final: bool) -> Self {
        if is_final { Self::Discrepancy } else { Self::NoEndForADay }
    }
}

stored_enum! {
    /// What signed a call.
    pub enum SignedWith {
        /// The key.
        Key = 1 "key",
        /// A session on which the key's owner and the gateway have agreed.
        Session = 2 "session",
    }
}

stored_enum! {
    /// What somebody did or tried to do, in the audit trail.
    pub enum AuditAction {
        /// A client enrolled.
        Enroll = 1 "enroll",
        /// A client asked for a live key.
        EnrollLive = 2 "enroll_live",
        /// A token was issued.
        IssueToken = 3 "issue_token",
        /// A token was revoked.
        RevokeToken = 4 "revoke_token",
        /// A key was added.
        AddKey = 5 "add_key",
        /// A key was revoked.
        RevokeKey = 6 "revoke_key",
        /// A settlement was created.
        CreateSettlement = 7 "create_settlement",
        /// A settlement was cancelled or reversed.
        ReverseSettlement = 8 "reverse_settlement",
        /// The gateway compared a settlement with its rail.
        CheckSettlement = 9 "check_settlement",
        /// An operator approved a client's live keys.
        ApproveClient = 10 "approve_client",
        /// An operator suspended a client.
        SuspendClient = 11 "suspend_client",
        /// An operator ended a client's suspension.
        ResumeClient = 12 "resume_client",
        /// A secret of the gateway was replaced.
        RotateSecret = 13 "rotate_secret",
        /// Play money was added to an account.
        Fund = 14 "fund",
        /// A webhook was created.
        CreateWebhook = 15 "create_webhook",
        /// A webhook was changed.
        UpdateWebhook = 16 "update_webhook",
        /// A webhook was removed.
        DeleteWebhook = 17 "delete_webhook",
        /// A webhook got a new secret.
        RotateWebhookSecret = 18 "rotate_webhook_secret",
        /// A disabled webhook was enabled.
        EnableWebhook = 19 "enable_webhook",
        /// A test delivery was requested.
        TestWebhook = 20 "test_webhook",
        /// A repeat of a delivery was requested.
        RedeliverWebhook = 21 "redeliver_webhook",
        /// A replay of a webhook's events since some time was requested.
        ReplayWebhook = 22 "replay_webhook",
        /// A client was refused more often than is recorded one by one; the name says how often.
        MoreRefusals = 23 "more_refusals",
        /// An operator invited somebody to enrol.
        Invite = 24 "invite",
        /// An operator withdrew an invitation.
        WithdrawInvitation = 25 "withdraw_invitation",
        /// An operator added or replaced a provider.
        PutProvider = 30 "put_provider",
        /// An operator enabled a provider.
        EnableProvider = 31 "enable_provider",
        /// An operator disabled a provider.
        DisableProvider = 32 "disable_provider",
        /// An operator put a provider into maintenance.
        MaintainProvider = 33 "maintain_provider",
        /// An operator replaced the table of routes.
        PutRoutes = 34 "put_routes",
        /// An operator credited what a client paid in.
        Deposit = 35 "deposit",
        /// An operator debited what a client was paid out.
        Withdraw = 36 "withdraw",
        /// An operator replaced the terms of a client.
        PutTerms = 37 "put_terms",
        /// An operator set the credit of a client.
        SetCredit = 38 "set_credit",
        /// An operator decided about something that needed review.
        ResolveReview = 40 "resolve_review",
        /// An operator compared a provider's statement with the settlements.
        Reconcile = 41 "reconcile",
        /// A client decided what becomes of a settlement of its sandbox.
        AdvanceSettlement = 50 "advance_settlement",
        /// A client ordered faults for its sandbox.
        SetFaults = 51 "set_faults",
        /// A client reset its sandbox.
        ResetSandbox = 52 "reset_sandbox",
        /// A client changed the clock of its sandbox.
        SetClock = 53 "set_clock",
        /// An operator began a new epoch of the log.
        BeginEpoch = 56 "begin_epoch",
        /// An operator added lines that a client's statement lacked.
        RepairStatement = 57 "repair_statement",
        /// Somebody was invited to be an operator.
        InviteOperator = 60 "invite_operator",
        /// An operator enrolled their key.
        EnrollOperator = 61 "enroll_operator",
        /// An operator got another role.
        ChangeRole = 62 "change_role",
        /// An operator was revoked.
        RevokeOperator = 63 "revoke_operator",
        /// An operator asked for something that a second one has to confirm.
        AskApproval = 64 "ask_approval",
        /// A second operator confirmed what another one had asked for.
        ConfirmApproval = 65 "confirm_approval",
        /// An operator declined what was asked for.
        DeclineApproval = 66 "decline_approval",
        /// A client added or changed an end user.
        PutUser = 70 "put_user",
        /// A client made a code with which a device of a user enrols.
        MakeDeviceCode = 71 "make_device_code",
        /// A device enrolled.
        EnrollDevice = 72 "enroll_device",
        /// A device got another name.
        RenameDevice = 73 "rename_device",
        /// A device was revoked.
        RevokeDevice = 74 "revoke_device",
        /// A user approved a payment.
        ApprovePayment = 75 "approve_payment",
        /// A user declined a payment.
        DeclinePayment = 76 "decline_payment",
        /// A push subscription was added.
        Subscribe = 78 "subscribe",
        /// A push subscription was removed.
        Unsubscribe = 79 "unsubscribe",
        /// A partner made a bundle.
        CreateBundle = 80 "create_bundle",
        /// A partner replaced the content of a bundle.
        EditBundle = 81 "edit_bundle",
        /// A partner asked for a review of a bundle.
        SubmitBundle = 82 "submit_bundle",
        /// A partner withdrew a bundle.
        WithdrawBundle = 83 "withdraw_bundle",
        /// Somebody asked for a test of a bundle's endpoint.
        TestBundle = 84 "test_bundle",
        /// Somebody commented on a bundle.
        CommentBundle = 85 "comment_bundle",
        /// An operator decided about a bundle; the detail says what.
        ReviewBundle = 86 "review_bundle",
        /// An operator asked for the publication of a bundle.
        PublishBundle = 87 "publish_bundle",
        /// An operator revoked a bundle.
        RevokeBundle = 88 "revoke_bundle",
        /// A step of the move of a client to another gateway, or from one.
        MoveClient = 90 "move_client",
    }
}

/// The fields of a settlement that are usually empty, stored as one value.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettlementMore {
    /// The client's description; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<SmolStr>,
    /// The client's own key-value pairs.
    #[serde(default, skip_serializing_if = "no_pairs")]
    pub metadata: Arc<BTreeMap<String, String>>,
    /// The public id of the provider that the client pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// The id of the quote that fixed the fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote_id: Option<String>,
    /// The rail's own reference for the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail_reference: Option<String>,
    /// Why the settlement failed; `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Whether it counts for the limits of the day on which it was accepted, until it fails or is cancelled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// What reversals give back of the fee; `None` for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee_refund: Option<FeeRefund>,
    /// The other client's settlement of the same payment, if both are clients of the gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_side: Option<OtherSide>,
    /// The client's own name for the end user who pays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Whether it counts for the limits of its user on that day, until it fails or is cancelled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted_for_user: bool,
    /// The approval of its user, if it needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<PaymentApproval>,
    /// The place in a distributed trace of the call that made it, if that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<TraceParent>,
}

fn no_pairs(metadata: &BTreeMap<String, String>) -> bool {
    metadata.is_empty()
}

/// The settlement that the other one of two clients has of a payment between them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherSide {
    /// The number of the settlement.
    pub settlement: i64,
    /// The number of the client that owns it.
    pub client: u32,
    /// That client as a participant, if it is the payer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl SettlementRecord {
    /// Whether its owner pays or is paid. Only what is paid out reserves money first.
    pub const fn direction(&self) -> Direction {
        if self.hold == 0 { Direction::Incoming } else { Direction::Outgoing }
    }

    /// The other client's settlement of the same payment, if both are clients of the gateway.
    pub fn other_side(&self) -> Option<&OtherSide> {
        self.more.as_deref()?.other_side.as_ref()
    }
}

/// Why a settlement or a reversal failed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The gateway's code for the reason.
    pub code: FailureCode,
    /// The rail's own code, if it returned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail_code: Option<String>,
}

stored_enum! {
    /// The type of an event in a trace.
    pub enum EventType {
        /// Stored, money held.
        SettlementAccepted = 1 "settlement.accepted",
        /// Recorded as sent; the rail may have the payment.
        SettlementSubmitted = 2 "settlement.submitted",
        /// The rail's answer is not known.
        SettlementUnknown = 3 "settlement.unknown",
        /// Paid.
        SettlementCompleted = 4 "settlement.completed",
        /// Proved not paid.
        SettlementFailed = 5 "settlement.failed",
        /// Cancelled before it was sent.
        SettlementCancelled = 6 "settlement.cancelled",
        /// Part of the money was returned.
        SettlementPartiallyReversed = 7 "settlement.partially_reversed",
        /// All of the money was returned.
        SettlementReversed = 8 "settlement.reversed",
        /// The rail returned the payment after it had completed.
        SettlementReturned = 9 "settlement.returned",
        /// Something contradicts a proven result.
        SettlementDiscrepancy = 10 "settlement.discrepancy",
        /// A person reviewed the settlement.
        SettlementReviewed = 11 "settlement.reviewed",
        /// An attempt was stored, but has not left yet.
        AttemptStarted = 12 "attempt.started",
        /// The rail's answer changed the attempt.
        AttemptAnswered = 13 "attempt.answered",
        /// A reversal was requested.
        ReversalAccepted = 14 "reversal.accepted",
        /// Recorded as sent; the rail may have the reversal.
        ReversalSubmitted = 15 "reversal.submitted",
        /// The rail's answer is not known.
        ReversalUnknown = 16 "reversal.unknown",
        /// The money was returned.
        ReversalCompleted = 17 "reversal.completed",
        /// Proved not reversed.
        ReversalFailed = 18 "reversal.failed",
        /// An operator credited what the client paid in.
        BalanceDeposited = 19 "balance.deposited",
        /// An operator debited what the client was paid out.
        BalanceWithdrawn = 20 "balance.withdrawn",
        /// An operator set the client's credit.
        BalanceCreditChanged = 21 "balance.credit_changed",
        /// The payment waits for the approval of the end user who pays.
        ApprovalRequested = 22 "approval.requested",
        /// The user approved the payment, on the device that the event names.
        ApprovalApproved = 23 "approval.approved",
        /// The user declined the payment.
        ApprovalDeclined = 24 "approval.declined",
        /// Its partner made a bundle.
        BundleCreated = 40 "bundle.created",
        /// Its partner replaced a bundle's content.
        BundleEdited = 41 "bundle.edited",
        /// Somebody said something about a bundle.
        BundleCommented = 42 "bundle.commented",
        /// The sandbox endpoint of a bundle was tested.
        BundleTested = 43 "bundle.tested",
        /// An operator asked for the publication of a bundle, which a test precedes.
        BundlePublicationAsked = 44 "bundle.publication_asked",
        /// A bundle was not published.
        BundlePublicationFailed = 45 "bundle.publication_failed",
        /// A later version took the place of a bundle, in the sandbox or live.
        BundleSuperseded = 46 "bundle.superseded",
        /// Somebody asked for another test of a bundle.
        BundleTestAsked = 47 "bundle.test_asked",
        /// Its partner asked for a review of a bundle.
        BundleSubmitted = 48 "bundle.submitted",
        /// A reviewer began with a bundle.
        BundleInReview = 49 "bundle.in_review",
        /// A reviewer approved a bundle.
        BundleApproved = 50 "bundle.approved",
        /// A reviewer rejected a bundle.
        BundleRejected = 51 "bundle.rejected",
        /// A reviewer asked for changes of a bundle.
        BundleChangesRequested = 52 "bundle.changes_requested",
        /// Its partner withdrew a bundle.
        BundleWithdrawn = 53 "bundle.withdrawn",
        /// A bundle was published in the sandbox or live.
        BundlePublished = 54 "bundle.published",
        /// An operator revoked a bundle.
        BundleRevoked = 55 "bundle.revoked",
    }
}

stored_enum! {
    /// Who caused an event.
    pub enum Actor {
        /// The client, through a call.
        Client = 1 "client",
        /// The gateway itself.
        System = 2 "system",
        /// The rail, through an answer or a callback.
        Rail = 3 "rail",
        /// A person who works for the gateway.
        Operator = 4 "operator",
        /// The end user who pays, on a device.
        User = 5 "user",
    }
}

/// A task's key: its due time (milliseconds, upper 43 bits) and a number that makes it unique (lower 20 bits).
///
/// The outbox is ordered by this key: due tasks are a prefix, and leasing one moves it to the end of the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskKey(pub i64);

impl SettlementRecord {
    /// Its client and mode: whose clock its times are of.
    pub(crate) fn owner(&self) -> (ClientNo, Mode) {
        (self.client, self.mode)
    }
}

impl EndpointRecord {
    /// Its client and mode: whose clock its deliveries follow.
    pub(crate) fn owner(&self) -> (ClientNo, Mode) {
        (self.client, self.mode)
    }
}

/// The keys of tasks that wait for a client's clock begin here, at a time that no host's clock shows before the year 2109: so they are
/// ordered by that client's time, and never due by themselves.
pub(crate) const WAITING: Millis = 1 << 42;

impl TaskKey {
    /// A key due at `due`; the low 20 bits of `n` make it unique.
    pub fn new(due: Millis, n: u32) -> Self {
        Self(due << 20 | i64::from(n & 0xf_ffff))
    }

    /// A key of a task that waits until a client's clock shows `at`.
    pub(crate) fn waiting(at: Millis, n: u32) -> Self {
        Self::new(WAITING + at.clamp(0, WAITING - 1), n)
    }

    /// The time of the client's clock for which the task waits; `None` if it waits for none.
    pub(crate) fn waits_until(self) -> Option<Millis> {
        (self.due() >= WAITING).then(|| self.due() - WAITING)
    }

    /// When the task is due.
    pub fn due(self) -> Millis {
        self.0 >> 20
    }
}

stored_enum! {
    /// What a task must do.
    pub enum TaskKind {
        /// Send the next attempt of a settlement.
        Dispatch = 1 "dispatch",
        /// Ask the rail how attempt `child` ended.
        Inquire = 2 "inquire",
        /// Send reversal `child`.
        Reverse = 3 "reverse",
        /// Ask the rail how reversal `child` ended.
        InquireReversal = 4 "inquire_reversal",
        /// Deliver a callback of the simulated operator; `tries` selects which one.
        SimulatorCallback = 5 "simulator_callback",
        /// Look at the clock of the client's sandbox.
        Clock = 6 "clock",
    }
}

/// The name of the [`MetaRecord`] with the key of public ids, which is unique to each gateway.
pub(crate) const ID_KEY: &str = "id_key";

/// The name of the [`MetaRecord`] with the clock of a sandbox, which marks the store as one.
pub(crate) const SANDBOX_KEY: &str = "sandbox";
