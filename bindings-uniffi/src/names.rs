//! Names of states, kinds and reasons, as the core has them.

use crate::mirror::mirror_enum;

mirror_enum! {
    /// Where a settlement stands.
    SettlementStatus of railgate::lifecycle::SettlementStatus {
        /// Stored, funds held, nothing sent.
        Accepted = "accepted",
        /// An attempt was stored and may have left.
        Submitted = "submitted",
        /// The rail's answer is not known; the hold stays.
        Unknown = "unknown",
        /// Paid. Final, but can still be reversed or returned.
        Completed = "completed",
        /// A part of it was reversed.
        PartiallyReversed = "partially_reversed",
        /// All of it was reversed.
        Reversed = "reversed",
        /// The rail bounced it after it had completed.
        Returned = "returned",
        /// Proved not paid; the money is released.
        Failed = "failed",
        /// Withdrawn before anything was sent; the money is released.
        Cancelled = "cancelled",
    }
}

mirror_enum! {
    /// Whether a key may sign.
    KeyStatus of railgate::store::record::KeyStatus {
        /// It may.
        Active = "active",
        /// Not before an operator approves it.
        Pending = "pending",
        /// Never again.
        Revoked = "revoked",
    }
}

mirror_enum! {
    /// Where a reversal stands.
    ReversalStatus of railgate::lifecycle::ReversalStatus {
        /// Stored, its amount set aside, nothing sent.
        Accepted = "accepted",
        /// Stored as sent; the rail may have it.
        Submitted = "submitted",
        /// The rail's answer is not known.
        Unknown = "unknown",
        /// The money is back.
        Completed = "completed",
        /// Proved not reversed.
        Failed = "failed",
    }
}

mirror_enum! {
    /// A state of a settlement, an attempt or a reversal, as an event names it.
    StateName of railgate::lifecycle::StateName {
        /// Stored, money held, nothing sent.
        Accepted = "accepted",
        /// Stored as sent; the rail may have it.
        Submitted = "submitted",
        /// The rail's answer is not known.
        Unknown = "unknown",
        /// Done.
        Completed = "completed",
        /// A part was reversed.
        PartiallyReversed = "partially_reversed",
        /// All was reversed.
        Reversed = "reversed",
        /// The rail bounced it after completing.
        Returned = "returned",
        /// Proved not to have happened.
        Failed = "failed",
        /// Withdrawn before anything was sent.
        Cancelled = "cancelled",
        /// An attempt was stored and may have left.
        Started = "started",
        /// The rail refused.
        Declined = "declined",
        /// Provably never reached the rail.
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
        /// The gateway's own account at the provider is short.
        InsufficientFunds = "insufficient_funds",
        /// The provider already has a payment like it.
        Duplicate = "duplicate",
        /// Over one of the provider's limits.
        OverLimit = "over_limit",
        /// The provider cannot be reached; provably nothing was sent.
        ProviderOffline = "provider_offline",
        /// The provider does not take this amount.
        InvalidAmount = "invalid_amount",
        /// The provider does not allow it.
        NotAllowed = "not_allowed",
        /// Anything else.
        Other = "other",
    }
}

mirror_enum! {
    /// Whether the payee is who the payer thinks.
    PayeeMatch of railgate::rail::PayeeMatch {
        /// The participant is who the payer thinks.
        Match = "match",
        /// Nearly: show the name and ask.
        CloseMatch = "close_match",
        /// Not.
        NoMatch = "no_match",
        /// The provider cannot tell.
        NotAvailable = "not_available",
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
        /// It was not the client's will.
        Fraud = "fraud",
        /// The client's customer asked for it.
        CustomerRequest = "customer_request",
        /// None of the others.
        Other = "other",
    }
}

mirror_enum! {
    /// What happened.
    EventType of railgate::store::record::EventType {
        /// Stored, money held.
        SettlementAccepted = "settlement.accepted",
        /// On its way.
        SettlementSubmitted = "settlement.submitted",
        /// The rail's answer is not known.
        SettlementUnknown = "settlement.unknown",
        /// Paid.
        SettlementCompleted = "settlement.completed",
        /// Proved not paid.
        SettlementFailed = "settlement.failed",
        /// Withdrawn.
        SettlementCancelled = "settlement.cancelled",
        /// A part came back.
        SettlementPartiallyReversed = "settlement.partially_reversed",
        /// All came back.
        SettlementReversed = "settlement.reversed",
        /// The rail bounced it.
        SettlementReturned = "settlement.returned",
        /// Something contradicts what was proved.
        SettlementDiscrepancy = "settlement.discrepancy",
        /// A person looked.
        SettlementReviewed = "settlement.reviewed",
        /// An attempt was stored, about to leave.
        AttemptStarted = "attempt.started",
        /// The rail's answer changed it.
        AttemptAnswered = "attempt.answered",
        /// A reversal was asked for.
        ReversalAccepted = "reversal.accepted",
        /// It is on its way.
        ReversalSubmitted = "reversal.submitted",
        /// The rail's answer is not known.
        ReversalUnknown = "reversal.unknown",
        /// The money is back.
        ReversalCompleted = "reversal.completed",
        /// Proved not reversed.
        ReversalFailed = "reversal.failed",
    }
}

mirror_enum! {
    /// Who made it happen.
    Actor of railgate::store::record::Actor {
        /// The client, by a call.
        Client = "client",
        /// The gateway itself.
        System = "system",
        /// The rail, by an answer or a callback.
        Rail = "rail",
        /// A person on the gateway's side.
        Operator = "operator",
    }
}
