//! What a store keeps: plain data, no behaviour. The kinds of records are declared in `store/tables.rs`; here is what their
//! fields are made of.

mod log;
mod webhook;

use std::collections::BTreeMap;

use crate::lifecycle::stored_enum;
use crate::rail::FailureCode;
use crate::time::Millis;

pub use super::tables::*;
pub use log::*;
pub use webhook::*;

/// A SHA-256 digest.
pub type Digest32 = [u8; 32];

stored_enum! {
    /// Whether a key may sign.
    pub enum KeyStatus {
        /// It may.
        Active = 1 "active",
        /// Not before an operator approves it.
        Pending = 2 "pending",
        /// Never again.
        Revoked = 3 "revoked",
    }
}

stored_enum! {
    /// What a secret of the gateway is for.
    pub enum SecretKind {
        /// The HMAC key of challenges.
        Challenge = 1 "challenge",
        /// The P-256 key that signs receipts.
        Receipt = 2 "receipt",
        /// The Ed25519 key that signs the log's checkpoints.
        Log = 3 "log",
    }
}

stored_enum! {
    /// What somebody did or tried to do.
    pub enum AuditAction {
        /// A client enrolled.
        Enroll = 1 "enroll",
        /// A client asked for a live key.
        EnrollLive = 2 "enroll_live",
        /// A token was taken.
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
        /// A settlement was compared with its rail.
        CheckSettlement = 9 "check_settlement",
        /// An operator approved a client's live keys.
        ApproveClient = 10 "approve_client",
        /// An operator suspended a client.
        SuspendClient = 11 "suspend_client",
        /// An operator let a client call again.
        ResumeClient = 12 "resume_client",
        /// A secret of the gateway was replaced.
        RotateSecret = 13 "rotate_secret",
        /// Play money was put into an account.
        Fund = 14 "fund",
        /// A webhook was made.
        CreateWebhook = 15 "create_webhook",
        /// A webhook was changed.
        UpdateWebhook = 16 "update_webhook",
        /// A webhook was removed.
        DeleteWebhook = 17 "delete_webhook",
        /// A webhook got a new secret.
        RotateWebhookSecret = 18 "rotate_webhook_secret",
        /// A disabled webhook was enabled.
        EnableWebhook = 19 "enable_webhook",
        /// A webhook was tried.
        TestWebhook = 20 "test_webhook",
        /// A delivery was asked for again.
        RedeliverWebhook = 21 "redeliver_webhook",
        /// A webhook's events since some time were asked for again.
        ReplayWebhook = 22 "replay_webhook",
    }
}

/// The parts of a settlement that are mostly empty, kept as one value.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettlementMore {
    /// The client's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The client's own pairs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The provider that the client pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// The quote that fixed the fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote_id: Option<String>,
    /// The rail's own reference of the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail_reference: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Why a settlement or a reversal failed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The gateway's code.
    pub code: FailureCode,
    /// The rail's own code, when it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail_code: Option<String>,
}

stored_enum! {
    /// What happened.
    pub enum EventType {
        /// Stored, money held.
        SettlementAccepted = 1 "settlement.accepted",
        /// On its way.
        SettlementSubmitted = 2 "settlement.submitted",
        /// The rail's answer is not known.
        SettlementUnknown = 3 "settlement.unknown",
        /// Paid.
        SettlementCompleted = 4 "settlement.completed",
        /// Proved not paid.
        SettlementFailed = 5 "settlement.failed",
        /// Withdrawn.
        SettlementCancelled = 6 "settlement.cancelled",
        /// A part came back.
        SettlementPartiallyReversed = 7 "settlement.partially_reversed",
        /// All came back.
        SettlementReversed = 8 "settlement.reversed",
        /// The rail bounced it.
        SettlementReturned = 9 "settlement.returned",
        /// Something contradicts what was proved.
        SettlementDiscrepancy = 10 "settlement.discrepancy",
        /// A person looked.
        SettlementReviewed = 11 "settlement.reviewed",
        /// An attempt was stored, about to leave.
        AttemptStarted = 12 "attempt.started",
        /// The rail's answer changed it.
        AttemptAnswered = 13 "attempt.answered",
        /// A reversal was asked for.
        ReversalAccepted = 14 "reversal.accepted",
        /// It is on its way.
        ReversalSubmitted = 15 "reversal.submitted",
        /// The rail's answer is not known.
        ReversalUnknown = 16 "reversal.unknown",
        /// The money is back.
        ReversalCompleted = 17 "reversal.completed",
        /// Proved not reversed.
        ReversalFailed = 18 "reversal.failed",
    }
}

stored_enum! {
    /// Who made it happen.
    pub enum Actor {
        /// The client, by a call.
        Client = 1 "client",
        /// The gateway itself.
        System = 2 "system",
        /// The rail, by an answer or a callback.
        Rail = 3 "rail",
        /// A person on the gateway's side.
        Operator = 4 "operator",
    }
}

/// A task's key: when it is due (milliseconds, upper 43 bits) and a number that makes it unique (lower 20).
///
/// The outbox is ordered by its own key: the due ones are a prefix, and leasing one moves it to the lease's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskKey(pub i64);

impl TaskKey {
    /// A key due at `due`, told apart by the low 20 bits of `n`.
    pub fn new(due: Millis, n: u32) -> Self {
        Self(due << 20 | i64::from(n & 0xf_ffff))
    }

    /// When it is due.
    pub fn due(self) -> Millis {
        self.0 >> 20
    }
}

stored_enum! {
    /// What the outbox is to do.
    pub enum TaskKind {
        /// Send the next attempt of a settlement.
        Dispatch = 1 "dispatch",
        /// Ask the rail how attempt `child` ended.
        Inquire = 2 "inquire",
        /// Send reversal `child`.
        Reverse = 3 "reverse",
        /// Ask the rail how reversal `child` ended.
        InquireReversal = 4 "inquire_reversal",
        /// The simulated operator calls back; `tries` says which of its callbacks.
        SimulatorCallback = 5 "simulator_callback",
    }
}

/// The name of the [`MetaRecord`] with the key of public ids, which no two gateways have in common.
pub(crate) const ID_KEY: &str = "id_key";

/// The name of the [`MetaRecord`] with the clock of a sandbox, which marks a store as one.
pub(crate) const SANDBOX_KEY: &str = "sandbox";
