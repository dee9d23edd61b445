//! States, types and reasons, mirrored from the core.

use crate::mirror::mirror_enum;

mirror_enum! {
    /// The status of a settlement.
    SettlementStatus of railgate::lifecycle::SettlementStatus {
        /// Stored, funds held, nothing sent.
        Accepted = "accepted",
        /// An attempt was stored and may have been sent.
        Submitted = "submitted",
        /// The outcome is unknown; the money stays on hold.
        Unknown = "unknown",
        /// Paid. Final, but can still be reversed or returned.
        Completed = "completed",
        /// A part of it was reversed.
        PartiallyReversed = "partially_reversed",
        /// All of it was reversed.
        Reversed = "reversed",
        /// The rail returned it after completion.
        Returned = "returned",
        /// Proven not paid; the money is released.
        Failed = "failed",
        /// Withdrawn before anything was sent; the money is released.
        Cancelled = "cancelled",
    }
}

mirror_enum! {
    /// Whether the owner of a settlement pays or is paid.
    Direction of railgate::lifecycle::Direction {
        /// It pays.
        Outgoing = "outgoing",
        /// Another client of the gateway pays it.
        Incoming = "incoming",
    }
}

mirror_enum! {
    /// The status of a key.
    KeyStatus of railgate::store::record::KeyStatus {
        /// It may sign.
        Active = "active",
        /// It may sign once an operator has approved it.
        Pending = "pending",
        /// It may never sign again.
        Revoked = "revoked",
    }
}

mirror_enum! {
    /// The status of a reversal.
    ReversalStatus of railgate::lifecycle::ReversalStatus {
        /// Stored, its amount set aside, nothing sent.
        Accepted = "accepted",
        /// Stored as sent; the rail may have it.
        Submitted = "submitted",
        /// The outcome is unknown.
        Unknown = "unknown",
        /// The money was returned.
        Completed = "completed",
        /// Proven not reversed.
        Failed = "failed",
    }
}

mirror_enum! {
    /// A state of a settlement, an attempt or a reversal, as named in an event.
    StateName of railgate::lifecycle::StateName {
        /// Stored, money held, nothing sent.
        Accepted = "accepted",
        /// Stored as sent; the rail may have it.
        Submitted = "submitted",
        /// The outcome is unknown.
        Unknown = "unknown",
        /// Completed.
        Completed = "completed",
        /// A part was reversed.
        PartiallyReversed = "partially_reversed",
        /// All was reversed.
        Reversed = "reversed",
        /// The rail returned it after completion.
        Returned = "returned",
        /// Proven not to have happened.
        Failed = "failed",
        /// Withdrawn before anything was sent.
        Cancelled = "cancelled",
        /// An attempt was stored and may have been sent.
        Started = "started",
        /// The rail refused.
        Declined = "declined",
        /// Proven never to have reached the rail.
        NotSent = "not_sent",
    }
}

mirror_enum! {
    /// Why a settlement or a reversal failed.
    FailureCode of railgate::rail::FailureCode {
        /// The recipient does not exist at the provider.
        RecipientNotFound = "recipient_not_found",
        /// The recipient's account is closed.
        AccountClosed = "account_closed",
        /// The recipient's account is blocked.
        AccountBlocked = "account_blocked",
        /// The gateway's own account at the provider has insufficient funds.
        InsufficientFunds = "insufficient_funds",
        /// The provider already has the same payment.
        Duplicate = "duplicate",
        /// The amount exceeds one of the provider's limits.
        OverLimit = "over_limit",
        /// The provider cannot be reached; it is proven that nothing was sent.
        ProviderOffline = "provider_offline",
        /// The provider does not accept this amount.
        InvalidAmount = "invalid_amount",
        /// The provider does not allow the payment.
        NotAllowed = "not_allowed",
        /// Any other reason.
        Other = "other",
    }
}

mirror_enum! {
    /// Whether the payee is the one that the payer intends.
    PayeeMatch of railgate::rail::PayeeMatch {
        /// The payee is the intended one.
        Match = "match",
        /// The names nearly match: show the name and ask the payer.
        CloseMatch = "close_match",
        /// The payee is not the intended one.
        NoMatch = "no_match",
        /// The provider cannot check it.
        NotAvailable = "not_available",
    }
}

mirror_enum! {
    /// Whether a provider takes a payment.
    Verdict of railgate::api::Verdict {
        /// It is tried, unless one before it pays.
        In = "in",
        /// It is not tried.
        Out = "out",
    }
}

mirror_enum! {
    /// Why a provider on the route does not take a payment.
    RouteRefusal of railgate::route::RouteRefusal {
        /// The payment is pinned to another provider.
        NotPinned = "not_pinned",
        /// It does not reach such participants, or does not settle the currency.
        NotServed = "not_served",
        /// It takes no payments at all.
        Disabled = "disabled",
        /// It takes no payments for a while.
        Maintenance = "maintenance",
        /// The amount is less than it takes.
        BelowMinimum = "below_minimum",
        /// The amount is more than it takes.
        AboveMaximum = "above_maximum",
        /// It does not answer, and another provider takes the payment.
        Unavailable = "unavailable",
    }
}

mirror_enum! {
    /// What completed reversals give back of a fee.
    FeeRefund of railgate::route::FeeRefund {
        /// Nothing: the fee is for the payment, whatever becomes of it.
        Nothing = "none",
        /// The share of the fee that the reversed part is of the payment, rounded down; all of it with the whole payment.
        Proportional = "proportional",
        /// All of it, once the whole payment is reversed; nothing for a part.
        Full = "full",
    }
}

mirror_enum! {
    /// How a provider is.
    ProviderHealth of railgate::route::health::Health {
        /// It answers, or was not asked lately.
        Up = "up",
        /// It answers slowly, not always, or is being tried again after an outage.
        Degraded = "degraded",
        /// It does not answer: payments go elsewhere or wait.
        Down = "down",
        /// Its operator announced that it takes no payments for a while.
        Maintenance = "maintenance",
    }
}

mirror_enum! {
    /// Why a settlement is reversed.
    ReversalReason of railgate::validate::ReversalReason {
        /// It was sent twice.
        Duplicate = "duplicate",
        /// The amount was wrong.
        IncorrectAmount = "incorrect_amount",
        /// The participant was wrong.
        IncorrectRecipient = "incorrect_recipient",
        /// The client did not authorise it.
        Fraud = "fraud",
        /// The client's customer asked for it.
        CustomerRequest = "customer_request",
        /// Any other reason.
        Other = "other",
    }
}

mirror_enum! {
    /// The type of an event.
    EventType of railgate::store::record::EventType {
        /// Stored, money held.
        SettlementAccepted = "settlement.accepted",
        /// Stored as sent; the rail may have it.
        SettlementSubmitted = "settlement.submitted",
        /// The outcome is unknown.
        SettlementUnknown = "settlement.unknown",
        /// Paid.
        SettlementCompleted = "settlement.completed",
        /// Proven not paid.
        SettlementFailed = "settlement.failed",
        /// Withdrawn before anything was sent.
        SettlementCancelled = "settlement.cancelled",
        /// A part was reversed.
        SettlementPartiallyReversed = "settlement.partially_reversed",
        /// All of it was reversed.
        SettlementReversed = "settlement.reversed",
        /// The rail returned it.
        SettlementReturned = "settlement.returned",
        /// An answer contradicts an earlier proof.
        SettlementDiscrepancy = "settlement.discrepancy",
        /// A person has reviewed it.
        SettlementReviewed = "settlement.reviewed",
        /// An attempt was stored and is about to be sent.
        AttemptStarted = "attempt.started",
        /// The rail's answer changed the attempt.
        AttemptAnswered = "attempt.answered",
        /// A reversal was requested.
        ReversalAccepted = "reversal.accepted",
        /// The reversal was stored as sent; the rail may have it.
        ReversalSubmitted = "reversal.submitted",
        /// The outcome is unknown.
        ReversalUnknown = "reversal.unknown",
        /// The money was returned.
        ReversalCompleted = "reversal.completed",
        /// Proven not reversed.
        ReversalFailed = "reversal.failed",
        /// An operator credited what the client paid in.
        BalanceDeposited = "balance.deposited",
        /// An operator debited what the client was paid out.
        BalanceWithdrawn = "balance.withdrawn",
        /// An operator set the client's credit.
        BalanceCreditChanged = "balance.credit_changed",
        /// The payment waits for the approval of the end user who pays.
        ApprovalRequested = "approval.requested",
        /// The user approved the payment.
        ApprovalApproved = "approval.approved",
        /// The user declined the payment.
        ApprovalDeclined = "approval.declined",
        /// Its partner made a bundle.
        BundleCreated = "bundle.created",
        /// Its partner replaced a bundle's content.
        BundleEdited = "bundle.edited",
        /// Somebody said something about a bundle.
        BundleCommented = "bundle.commented",
        /// The sandbox endpoint of a bundle was tested.
        BundleTested = "bundle.tested",
        /// An operator asked for the publication of a bundle, which a test precedes.
        BundlePublicationAsked = "bundle.publication_asked",
        /// A bundle was not published.
        BundlePublicationFailed = "bundle.publication_failed",
        /// A later version took the place of a bundle, in the sandbox or live.
        BundleSuperseded = "bundle.superseded",
        /// Somebody asked for another test of a bundle.
        BundleTestAsked = "bundle.test_asked",
        /// Its partner asked for a review of a bundle.
        BundleSubmitted = "bundle.submitted",
        /// A reviewer began with a bundle.
        BundleInReview = "bundle.in_review",
        /// A reviewer approved a bundle.
        BundleApproved = "bundle.approved",
        /// A reviewer rejected a bundle.
        BundleRejected = "bundle.rejected",
        /// A reviewer asked for changes of a bundle.
        BundleChangesRequested = "bundle.changes_requested",
        /// Its partner withdrew a bundle.
        BundleWithdrawn = "bundle.withdrawn",
        /// A bundle was published in the sandbox or live.
        BundlePublished = "bundle.published",
        /// An operator revoked a bundle.
        BundleRevoked = "bundle.revoked",
    }
}

mirror_enum! {
    /// Who caused an event.
    Actor of railgate::store::record::Actor {
        /// The client, by a call.
        Client = "client",
        /// The gateway itself.
        System = "system",
        /// The rail, by an answer or a callback.
        Rail = "rail",
        /// A person who operates the gateway.
        Operator = "operator",
        /// The end user who pays, on a device.
        User = "user",
    }
}

mirror_enum! {
    /// Whether the devices of an end user may call.
    UserStatus of railgate::store::record::UserStatus {
        /// They may.
        Active = "active",
        /// They may not, until the client changes it.
        Blocked = "blocked",
    }
}

mirror_enum! {
    /// Who vouches for the key of a device.
    AttestationFormat of railgate::store::record::AttestationFormat {
        /// Android Key Attestation.
        AndroidKey = "android-key",
        /// App Attest, of Apple.
        AppleAppAttest = "apple-app-attest",
    }
}

mirror_enum! {
    /// Where the key of a device lives.
    AttestationLevel of railgate::store::record::AttestationLevel {
        /// In software.
        Software = "software",
        /// In the trusted environment of the processor.
        TrustedEnvironment = "trusted_environment",
        /// In a security chip.
        StrongBox = "strongbox",
        /// Beside an app that Apple vouches for, on a device with a Secure Enclave.
        SecureEnclave = "secure_enclave",
    }
}

mirror_enum! {
    /// How far the approval of a payment by its end user is.
    PaymentApprovalStatus of railgate::store::record::PaymentApprovalStatus {
        /// The payment waits for the user.
        Pending = "pending",
        /// The user approved it.
        Approved = "approved",
        /// The user declined it.
        Declined = "declined",
        /// It ended before the user decided.
        Ended = "ended",
    }
}

mirror_enum! {
    /// What an operator did to the client's account.
    MovementKind of railgate::store::record::MovementKind {
        /// The client paid in.
        Deposit = "deposit",
        /// The client was paid out.
        Withdrawal = "withdrawal",
        /// The client's credit was set: no money moves.
        CreditLine = "credit_line",
    }
}

mirror_enum! {
    /// Whether a webhook receives deliveries, and if not, why.
    WebhookStatus of railgate::store::record::EndpointStatus {
        /// It receives deliveries.
        Enabled = "enabled",
        /// Its owner disabled it.
        Disabled = "disabled",
        /// Its receiver answered that it is gone for good (410).
        Gone = "gone",
        /// Every delivery failed for five days.
        Failing = "failing",
        /// Its owner removed it.
        Removed = "removed",
    }
}

mirror_enum! {
    /// The state of a delivery to a webhook.
    DeliveryStatus of railgate::store::record::DeliveryStatus {
        /// It will be tried, or tried again.
        Pending = "pending",
        /// The receiver answered with a 2xx.
        Delivered = "delivered",
        /// All attempts failed.
        Failed = "failed",
    }
}

mirror_enum! {
    /// Why a delivery was created.
    DeliveryCause of railgate::store::record::DeliveryCause {
        /// The event happened.
        Event = "event",
        /// Its owner asked for the same delivery again.
        Redelivery = "redelivery",
        /// Its owner asked for the events of a period again.
        Replay = "replay",
        /// Its owner tested the webhook.
        Test = "test",
    }
}

mirror_enum! {
    /// What a notification tells.
    NotificationKind of railgate::store::record::NotificationKind {
        /// A payment waits for the user's approval.
        ApprovalRequested = "approval.requested",
        /// A payment was cancelled because its user did not approve it in time.
        ApprovalExpired = "approval.expired",
        /// A payment arrived.
        PaymentCompleted = "payment.completed",
        /// A payment failed.
        PaymentFailed = "payment.failed",
        /// A payment was cancelled before it was sent.
        PaymentCancelled = "payment.cancelled",
        /// The rail returned a payment after it had completed.
        PaymentReturned = "payment.returned",
        /// All or part of a payment was given back.
        PaymentReversed = "payment.reversed",
        /// A device was enrolled.
        DeviceEnrolled = "device.enrolled",
        /// A device was revoked.
        DeviceRevoked = "device.revoked",
    }
}

mirror_enum! {
    /// What a device is connected by.
    NetworkKind of railgate::store::record::Network {
        /// A wireless network.
        Wifi = "wifi",
        /// A mobile network.
        Cellular = "cellular",
        /// A cable.
        Ethernet = "ethernet",
        /// Nothing.
        Offline = "offline",
        /// It is not known.
        Unknown = "unknown",
    }
}

mirror_enum! {
    /// The unit of what was measured.
    QualityUnit of railgate::store::record::QualityUnit {
        /// Milliseconds.
        Milliseconds = "ms",
        /// Seconds.
        Seconds = "s",
        /// A number of things.
        Count = "count",
        /// Bytes.
        Bytes = "bytes",
        /// Hundredths.
        Percent = "percent",
    }
}
