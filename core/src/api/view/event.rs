//! What an event says, by its type.

use serde::{Deserialize, Serialize};

use super::EventView;
use crate::lifecycle::BundleStatus;
use crate::lifecycle::attempt::AnswerKind;
use crate::lifecycle::review::Resolution;
use crate::rail::FailureCode;
use crate::store::record::{EventType, MovementKind, ReviewReason};

/// One struct for each kind of details: members that not all of its events have are optional and left out.
macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $member:ident: $kind:ty,)* })*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub struct $name {
            $($(#[$about])* pub $member: $kind,)*
        }
    )* };
}

bodies! {
    /// Details of `settlement.accepted`: the terms of the payment.
    PaymentDetails {
        /// The amount, a decimal as text.
        amount: String,
        /// ISO 4217 code.
        currency: String,
        /// The fee, a decimal as text.
        fee: String,
        /// The payee.
        to: String,
    }

    /// Details of an event whose type says everything.
    NoDetails {}

    /// Details of `settlement.completed`: the terms, if the client is the payee.
    CompletionDetails {
        /// The amount, a decimal as text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<String>,
        /// ISO 4217 code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        currency: Option<String>,
        /// The payer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// The payee.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    }

    /// Details of an event that may say that a person must look at the settlement.
    ReviewDetails {
        /// `true` if the event is about that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        needs_review: Option<bool>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<ReviewReason>,
    }

    /// Details of `settlement.failed`.
    FailureDetails {
        /// Why it failed.
        code: FailureCode,
    }

    /// Details of `settlement.cancelled`.
    CancellationDetails {
        /// `expired`, `declined` by its user, or `reset` of a sandbox; absent if the client cancelled it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }

    /// Details of an event that a reversal caused.
    ReversalDetails {
        /// The reversal: `rev_` and a ULID.
        reversal: String,
    }

    /// Details of `reversal.accepted`.
    ReversalTerms {
        /// The amount to give back, a decimal as text.
        amount: String,
        /// The reversal: `rev_` and a ULID.
        reversal: String,
    }

    /// What a provider answered to an attempt.
    AnswerDetails {
        /// The answer.
        answer: AnswerKind,
        /// The provider's own reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rail_reference: Option<String>,
        /// Why it declined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<FailureCode>,
        /// The provider's own code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rail_code: Option<String>,
    }

    /// Details of the later events of a reversal, and of what contradicts a proven result: what a provider answered, or that a person
    /// must look at it.
    OutcomeDetails {
        /// The amount given back, a decimal as text, if another client gave it back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<String>,
        /// The answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<AnswerKind>,
        /// The provider's own reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rail_reference: Option<String>,
        /// Why it declined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<FailureCode>,
        /// The provider's own code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rail_code: Option<String>,
        /// `true` if a person must look at it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        needs_review: Option<bool>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<ReviewReason>,
        /// The reversal that it is about: `rev_` and a ULID.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reversal: Option<String>,
    }

    /// Details of `settlement.reviewed`.
    DecisionDetails {
        /// What a person decided.
        resolution: Resolution,
        /// The reversal that it is about: `rev_` and a ULID.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reversal: Option<String>,
    }

    /// Details of `approval.requested`.
    ApprovalTerms {
        /// Until when the user can decide, RFC 3339.
        expires_at: String,
        /// The user who is asked, as the client names them.
        user: String,
    }

    /// Details of `approval.approved` and `approval.declined`: what the user's device signed.
    ConsentDetails {
        /// The device: `dev_` and a ULID.
        device: String,
        /// The thumbprint of the device's key, which signed the call.
        key_id: String,
        /// Why the user declined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What the app showed to the user.
        shown: ShownDetails,
    }

    /// The payment as an app showed it to its user.
    ShownDetails {
        /// The amount, a decimal as text.
        amount: String,
        /// ISO 4217 code.
        currency: String,
        /// The name of the payee, if one was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payee_name: Option<String>,
        /// The client's reference.
        reference: String,
        /// The payee.
        to: String,
    }

    /// Details of `attempt.started`.
    AttemptDetails {
        /// The provider's id.
        provider: String,
        /// The number of the try, from 2, if the attempt is sent again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sends: Option<u16>,
    }

    /// Details of `balance.deposited` and `balance.withdrawn`.
    MovementDetails {
        /// What was moved.
        movement: MovedDetails,
    }

    /// What an operator moved.
    MovedDetails {
        /// The amount, a decimal as text.
        amount: String,
        /// ISO 4217 code.
        currency: String,
        /// `deposit` or `withdrawal`.
        kind: MovementKind,
        /// The operator's reference.
        reference: String,
    }

    /// Details of `balance.credit_changed`.
    CreditDetails {
        /// The credit.
        credit: CreditChange,
    }

    /// Details of the steps of a bundle, such as `bundle.submitted`.
    BundleDetails {
        /// The step.
        bundle: BundleStepDetails,
    }

    /// A step of a bundle.
    BundleStepDetails {
        /// The digest of the bundle's revision.
        digest: String,
        /// The state before.
        from: BundleStatus,
        /// The revision that it is about.
        revision: u32,
        /// SHA-256, in hexadecimal digits, of the comment and of the `data` on the timeline, each followed by a line feed.
        said_sha256: String,
        /// The state after.
        to: BundleStatus,
    }

    /// How an operator changed the credit.
    CreditChange {
        /// The credit from then on, a decimal as text.
        amount: String,
        /// ISO 4217 code.
        currency: String,
        /// The credit before, a decimal as text.
        previous: String,
        /// The operator's reference.
        reference: String,
    }
}

macro_rules! details {
    ($($body:ident: $($kind:ident)|+;)*) => {
        /// What an event says, by its type.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum EventDetails {
            $(#[doc = concat!("See [`", stringify!($body), "`].")] $body($body),)*
        }

        impl EventDetails {
            /// The details of an event of this type, from its `data`.
            ///
            /// # Errors
            /// If they are of another type.
            pub fn parse(kind: EventType, data: &str) -> serde_json::Result<Self> {
                match kind {
                    $($(EventType::$kind)|+ => serde_json::from_str(data).map(Self::$body),)*
                }
            }

            /// The name of the schema of the details of events of this type.
            pub const fn schema_name(kind: EventType) -> &'static str {
                match kind {
                    $($(EventType::$kind)|+ => stringify!($body),)*
                }
            }
        }

        /// The schema of `data`: one for each kind of details, which the type of event tells apart.
        #[cfg(feature = "openapi")]
        pub(super) fn any_details() -> utoipa::openapi::Schema {
            let one = utoipa::openapi::schema::AnyOfBuilder::new();
            one$(.item(utoipa::openapi::Ref::from_schema_name(stringify!($body))))*
                .description(Some("Details of the event, by its type."))
                .build()
                .into()
        }
    };
}

details! {
    PaymentDetails: SettlementAccepted;
    NoDetails: SettlementSubmitted;
    CompletionDetails: SettlementCompleted;
    ReviewDetails: SettlementUnknown;
    FailureDetails: SettlementFailed;
    CancellationDetails: SettlementCancelled;
    ReversalDetails: SettlementPartiallyReversed | SettlementReversed;
    AnswerDetails: SettlementReturned | AttemptAnswered;
    OutcomeDetails: SettlementDiscrepancy | ReversalSubmitted | ReversalUnknown | ReversalCompleted | ReversalFailed;
    DecisionDetails: SettlementReviewed;
    AttemptDetails: AttemptStarted;
    ReversalTerms: ReversalAccepted;
    MovementDetails: BalanceDeposited | BalanceWithdrawn;
    CreditDetails: BalanceCreditChanged;
    BundleDetails: BundleCreated
        | BundleEdited
        | BundleCommented
        | BundleTested
        | BundlePublicationAsked
        | BundlePublicationFailed
        | BundleSuperseded
        | BundleTestAsked
        | BundleSubmitted
        | BundleInReview
        | BundleApproved
        | BundleRejected
        | BundleChangesRequested
        | BundleWithdrawn
        | BundlePublished
        | BundleRevoked;
    ApprovalTerms: ApprovalRequested;
    ConsentDetails: ApprovalApproved | ApprovalDeclined;
}

impl EventView {
    /// Its `data`.
    ///
    /// # Errors
    /// If they are not those of its type, as in an event of a newer gateway.
    pub fn details(&self) -> serde_json::Result<EventDetails> {
        EventDetails::parse(self.kind, self.data.get())
    }
}
