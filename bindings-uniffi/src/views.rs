//! The core's views as records of the languages.

use std::collections::HashMap;

use crate::error::FieldProblem;
use crate::mirror::mirror_record;
use crate::names::{
    Actor, Direction, EventType, FailureCode, FeeRefund, KeyStatus, MovementKind, PayeeMatch, PaymentApprovalStatus, ProviderHealth,
    ReversalReason, ReversalStatus, RouteRefusal, SettlementStatus, StateName, Verdict,
};
use crate::values::{Decimal, Instant, Json};

mirror_record! {
    /// The approval of a payment by its end user.
    PaymentApproval of railgate::api::PaymentApprovalView {
        /// How far it is.
        status: PaymentApprovalStatus,
        /// When the user decided.
        decided_at: Option<Instant>,
    }
}

mirror_record! {
    /// A settlement.
    Settlement of railgate::api::SettlementView {
        /// `stl_` and a ULID.
        id: String,
        /// The client's reference; the id again if the client is paid.
        reference: String,
        /// Its status.
        status: SettlementStatus,
        /// Grows with every event.
        version: u32,
        /// True if no real money moves.
        sandbox: bool,
        /// Whether the client pays or is paid.
        direction: Direction,
        /// The amount, with all decimals of the currency.
        amount: Decimal,
        /// The amount in minor units: an integer as text.
        amount_minor: String,
        /// ISO 4217 code.
        currency: String,
        /// Who paid, as a participant; absent if the client pays.
        payer("from") = from: Option<String>,
        /// The receiving participant, in canonical form.
        to: String,
        /// The payee according to the provider.
        payee: Payee,
        /// The fee.
        fee: Decimal,
        /// Amount plus fee; zero if the client is paid.
        total_debit: Decimal,
        /// The provider of the current attempt; `books` for a payment between two clients.
        provider: String,
        /// The rail's own reference.
        rail_reference: Option<String>,
        /// The number of attempts started.
        attempts: u16,
        /// Why it failed, if it did.
        failure: Option<Failure>,
        /// Flagged for review by a person.
        needs_review: bool,
        /// The total of completed reversals.
        reversed_amount: Decimal,
        /// The total of reversals in flight.
        reversing_amount: Decimal,
        /// What completed reversals gave back of the fee; absent if they gave nothing.
        fee_refunded: Option<Decimal>,
        /// The ISO 20022 status code, such as `ACSC`.
        iso_status: String,
        /// The client's description.
        description: Option<String>,
        /// The client's own names and values.
        metadata: HashMap<String, String>,
        /// `cli_` and a ULID.
        client_id: String,
        /// When it was created.
        created_at: Instant,
        /// When it last changed.
        updated_at: Instant,
        /// When it became final for the first time.
        completed_at: Option<Instant>,
        /// The client's end user who pays, by the client's name for them; absent if none does.
        user: Option<String>,
        /// The approval of that user; absent if the payment needs none.
        approval: Option<PaymentApproval>,
        /// It is cancelled if not dispatched by then.
        expires_at: Option<Instant>,
        /// Paths of related resources.
        links: Links,
    }
}

mirror_record! {
    /// The payee according to the provider.
    Payee of railgate::api::PayeeView {
        /// The account holder's name, if the provider returns it.
        display_name: Option<String>,
        /// Whether the payee is the intended one.
        payee_match("match"): PayeeMatch,
    }
}

mirror_record! {
    /// Why a settlement or a reversal failed.
    Failure of railgate::api::FailureView {
        /// The gateway's code of the reason.
        code: FailureCode,
        /// The family of the code.
        category: String,
        /// One sentence for people.
        message: String,
        /// The rail's own code.
        rail_code: Option<String>,
        /// The ISO 20022 reason code.
        iso_reason: String,
    }
}

mirror_record! {
    /// The clock of a sandbox.
    SandboxClock of railgate::api::ClockView {
        /// The sandbox's time.
        now: Instant,
        /// Whether the clock is stopped, or will be when it has arrived.
        frozen: bool,
        /// How far it is ahead of the host's clock, in milliseconds; negative after it was stopped for a while.
        ahead_ms: i64,
        /// The time to which it is on its way; none once it has arrived.
        advancing_to: Option<Instant>,
    }
}

mirror_record! {
    /// Paths of a settlement's resources, relative to the base address.
    Links of railgate::api::LinksView {
        /// The settlement.
        record("self") = itself: String,
        /// Its status.
        status: String,
        /// Its trace.
        events: String,
        /// Its reversal call.
        reverse: String,
        /// Its receipt.
        receipt: String,
    }
}

mirror_record! {
    /// The status of a settlement: the short form for polling.
    Status of railgate::api::StatusView {
        /// `stl_` and a ULID.
        id: String,
        /// The client's reference.
        reference: String,
        /// Its status.
        status: SettlementStatus,
        /// Grows with every event.
        version: u32,
        /// The ISO 20022 status code, such as `ACSC`.
        iso_status: String,
        /// Why it failed, if it did.
        failure: Option<Failure>,
        /// Flagged for review by a person.
        needs_review: bool,
        /// True if it no longer changes by itself.
        is_final("final"): bool,
        /// When it last changed.
        updated_at: Instant,
    }
}

mirror_record! {
    /// An event of the trace of a settlement, or of money that an operator moved.
    ///
    /// `hash` is the lower-case hex SHA-256 of the RFC 8785 form of this object without `hash`; `prev` is the hash of the
    /// previous event, null for the first. Fields are in the order of that form.
    Event of railgate::api::EventView {
        /// Who caused it.
        actor: Actor,
        /// When it happened.
        at: Instant,
        /// The attempt that it is about, from 1.
        attempt: Option<u16>,
        /// Further data, depending on the type.
        data: Json,
        /// The previous state.
        from_state("from") = from: Option<StateName>,
        /// The hash of this event.
        hash: Option<String>,
        /// `evt_` and a ULID.
        id: String,
        /// The hash of the previous event.
        prev: Option<String>,
        /// The client's reference; of money that an operator moved, the operator's.
        reference: String,
        /// Its position in the trace, from 1, without gaps.
        sequence: u32,
        /// `stl_` and a ULID; none if it is about money that an operator moved.
        settlement_id: Option<String>,
        /// The new state.
        to_state("to") = to: Option<StateName>,
        /// The type of the event.
        kind("type"): EventType,
    }
}

mirror_record! {
    /// An event in its owner's feed.
    FeedEvent of railgate::api::FeedEventView {
        /// Its position in the feed, from 1, without gaps.
        position: i64,
        /// The event, as in its trace.
        event: Event,
    }
}

mirror_record! {
    /// A page of a feed.
    FeedPage of railgate::api::FeedPage {
        /// The events, oldest first.
        data: Vec<FeedEvent>,
        /// Whether there are more events now.
        has_more: bool,
        /// The position to continue after, also if there are no more events yet.
        next_after: i64,
        /// The epoch of the positions, from 1. It changes when the gateway's operator restores a backup.
        epoch: u32,
    }
}

mirror_record! {
    /// A key of the client.
    Key of railgate::api::KeyView {
        /// Its RFC 7638 thumbprint.
        key_id: String,
        /// `ecdsa-p256-sha256` or `ed25519`.
        algorithm: String,
        /// `sandbox` or `live`.
        environment: String,
        /// Whether it may sign.
        status: KeyStatus,
        /// The owner's label.
        label: Option<String>,
        /// Its scopes, separated by spaces.
        scope: String,
        /// When it was added.
        created_at: Instant,
        /// When it was revoked.
        revoked_at: Option<Instant>,
    }
}

mirror_record! {
    /// A reversal.
    Reversal of railgate::api::ReversalView {
        /// `rev_` and a ULID.
        id: String,
        /// `stl_` and a ULID.
        settlement_id: String,
        /// The client's reference of the reversal.
        reference: Option<String>,
        /// Its status.
        status: ReversalStatus,
        /// The ISO 20022 status code, such as `ACSC`.
        iso_status: String,
        /// The reversed amount.
        amount: Decimal,
        /// The amount in minor units: an integer as text.
        amount_minor: String,
        /// ISO 4217 code.
        currency: String,
        /// The reason.
        reason: Option<ReversalReason>,
        /// The client's description.
        description: Option<String>,
        /// The rail's own reference.
        rail_reference: Option<String>,
        /// Why it failed, if it did.
        failure: Option<Failure>,
        /// Flagged for review by a person.
        needs_review: bool,
        /// When it was created.
        created_at: Instant,
        /// When it last changed.
        updated_at: Instant,
        /// When it was completed.
        completed_at: Option<Instant>,
    }
}

mirror_record! {
    /// The result of a reverse call: the reversal (null if the settlement was cancelled instead) and the settlement.
    Reversed of railgate::api::ReverseView {
        /// The reversal.
        reversal: Option<Reversal>,
        /// The settlement in its current state.
        settlement: Settlement,
    }
}

mirror_record! {
    /// A client's balance in one currency.
    Balance of railgate::api::BalanceView {
        /// The account's name: `main`.
        account: String,
        /// ISO 4217 code.
        currency: String,
        /// True for play money.
        sandbox: bool,
        /// The amount that can be spent without credit. It may fall to `credit` below zero.
        available: Decimal,
        /// The credit that was granted: how far below zero `available` may fall. Zero if there is none, as always in the sandbox.
        credit: Decimal,
        /// The amount on hold for settlements in flight.
        reserved: Decimal,
        /// The amount expected from reversals in flight.
        pending: Decimal,
        /// The ledger balance: available plus reserved.
        ledger: Decimal,
        /// The time of the balance.
        as_of: Instant,
    }
}

mirror_record! {
    /// A line of a statement: a posted transfer, and the balance after it.
    StatementEntry of railgate::api::EntryView {
        /// Its number in the statement, from 1; 0 for a balance brought forward.
        number: i64,
        /// When it was posted.
        at: Instant,
        /// `payment`, `fee`, `fee_refund`, `reversal`, `return`, `deposit`, `withdrawal`, `funding`, or `brought_forward` for what was
        /// there before.
        kind("type"): String,
        /// What the account gained; less than zero for what it spent.
        amount: Decimal,
        /// The balance after it, as `ledger` of the balance: what is on hold still counts.
        balance: Decimal,
        /// ISO 4217 code.
        currency: String,
        /// The reference of the settlement, or of the deposit or withdrawal.
        reference: Option<String>,
        /// The settlement that it belongs to.
        settlement_id: Option<String>,
        /// The settlement's description.
        description: Option<String>,
    }
}

mirror_record! {
    /// Real money that an operator of the gateway credited or debited, or a change of credit.
    Movement of railgate::api::BalanceMovementView {
        /// What was done.
        kind: MovementKind,
        /// The operator's reference.
        reference: String,
        /// How much, more than zero; of a credit line, how far below zero `available` may fall from then on, or zero.
        amount: Decimal,
        /// The credit before; only of a credit line.
        previous: Option<Decimal>,
        /// ISO 4217 code.
        currency: String,
        /// When it was made.
        at: Instant,
    }
}

mirror_record! {
    /// The proof that the last event of a settlement is in the gateway's log. Hashes are lower-case hex.
    Proof of railgate::api::ProofView {
        /// `stl_` and a ULID.
        settlement_id: String,
        /// The client's reference.
        reference: String,
        /// `evt_` and a ULID.
        event_id: String,
        /// The event's position in the trace.
        sequence: u32,
        /// The event's hash.
        event_hash: String,
        /// The salt of the leaf, 32 bytes.
        salt: String,
        /// The index of the leaf, from 0.
        leaf_index: u64,
        /// The size of the tree that the proof refers to.
        tree_size: u64,
        /// The hashes from the leaf's sibling up to the root's child (RFC 6962).
        path: Vec<String>,
        /// The signed checkpoint of that tree (C2SP `tlog-checkpoint`).
        checkpoint: String,
        /// The whole proof as a C2SP `tlog-proof`.
        proof: String,
    }
}

mirror_record! {
    /// An operator that payments can go to: what it takes, what it charges, and how it is.
    Provider of railgate::api::ProviderView {
        /// Its id, which a request can name as its provider.
        id: String,
        /// Its name, for people.
        name: String,
        /// The protocol that it speaks.
        rail: String,
        /// True if no real money moves.
        sandbox: bool,
        /// The kinds of participant that it reaches; absent for all.
        namespaces: Option<Vec<String>>,
        /// The currencies that it settles, ISO 4217; absent for all.
        currencies: Option<Vec<String>>,
        /// The countries that it reaches, ISO 3166-1 alpha-2, for people; empty if it does not say.
        countries: Vec<String>,
        /// Smallest and largest payments, by currency. A currency that is not listed has no limits.
        limits: HashMap<String, AmountLimits>,
        /// What it charges. The rule that fits best applies: of both currency and namespace, then of the currency, then of the namespace.
        fees: Vec<FeeRule>,
        /// What it supports.
        capabilities: Capabilities,
        /// How it is, as seen by the server that answered.
        status: ProviderHealth,
        /// The share of the last minute's payments and reversals to which it gave an answer, 0 to 1; absent if there were none.
        success_rate: Option<f64>,
        /// The time within which 95 % of its answers came in the last minute, in milliseconds; absent if there were none.
        p95_ms: Option<u64>,
        /// When these figures last changed; absent if nothing was sent to it yet.
        updated_at: Option<Instant>,
    }
}

mirror_record! {
    /// The smallest and the largest payment in one currency.
    AmountLimits of railgate::api::LimitView {
        /// The smallest payment.
        min: Decimal,
        /// The largest payment; absent if there is no limit.
        max: Option<Decimal>,
    }
}

mirror_record! {
    /// A fee: a flat part and a percentage of the amount, each rounded up, within bounds. Amounts are in units of the payment's currency.
    FeeRule of railgate::api::FeeView {
        /// Only for this currency; absent for all.
        currency: Option<String>,
        /// Only for this kind of participant; absent for all.
        namespace: Option<String>,
        /// An amount for each payment.
        flat: Decimal,
        /// Hundredths of the payment's amount.
        percent: Decimal,
        /// The smallest fee.
        min: Decimal,
        /// The largest fee; absent if there is no limit.
        max: Option<Decimal>,
        /// In rising order of `from_amount`; the last whose `from_amount` the payment reaches replaces `flat` and `percent`.
        tiers: Vec<FeeTier>,
        /// What completed reversals give back of it.
        refund: FeeRefund,
    }
}

mirror_record! {
    /// A flat part and a percentage from some amount on, for the whole payment.
    FeeTier of railgate::api::FeeTierView {
        /// The smallest payment of the tier.
        from_amount("from") = from: Decimal,
        /// An amount for each payment.
        flat: Decimal,
        /// Hundredths of the payment's amount.
        percent: Decimal,
    }
}

mirror_record! {
    /// What a provider supports.
    Capabilities of railgate::route::Capabilities {
        /// It can identify the payee before a payment.
        check_payee: bool,
        /// It can reverse a payment.
        reverse: bool,
        /// It can reverse a part of a payment.
        partial_reverse: bool,
        /// It can be asked for the outcome of a payment, and its "not found" is authoritative.
        inquiry: bool,
        /// It treats a repeated request with the same key as one request.
        idempotent_submit: bool,
    }
}

mirror_record! {
    /// The result of a pre-flight check.
    Check of railgate::api::CheckView {
        /// A create with this body would be accepted now.
        ok: bool,
        /// The reasons why it would not.
        problems: Vec<FieldProblem>,
        /// Points to review before paying.
        warnings: Vec<FieldProblem>,
        /// The cost.
        quote: Option<Quote>,
        /// The providers in the order in which they would be tried, and why some would not be.
        route: Vec<RouteStep>,
        /// The payee according to the provider.
        payee: Payee,
        /// Whether the account has sufficient funds.
        funds_available: bool,
    }
}

mirror_record! {
    /// A provider on the route of a payment.
    RouteStep of railgate::api::RouteStepView {
        /// The provider's id.
        provider: String,
        /// Whether it takes the payment.
        verdict: Verdict,
        /// Why it does not take it.
        why: Option<RouteRefusal>,
        /// What it charges, if it takes the payment.
        fee: Option<Decimal>,
        /// How it is. One that is down takes the payment only if no other does; the payment then waits for it.
        health: ProviderHealth,
    }
}

mirror_record! {
    /// What a settlement would cost, and until when.
    Quote of railgate::api::QuoteView {
        /// The fee.
        fee: Decimal,
        /// What reversals would give back of the fee.
        fee_refund: FeeRefund,
        /// Amount plus fee.
        total_debit: Decimal,
        /// The provider that it would go to first.
        provider: String,
        /// The end of its validity.
        expires_at: Instant,
        /// Send it as `quote_id` to get this fee.
        quote_id: String,
    }
}

mirror_record! {
    /// The result of a reconciliation: whether record, ledger, trace and rail agree.
    Reconciliation of railgate::api::ReconcileView {
        /// True if they agree.
        consistent: bool,
        /// The points on which they do not agree or could not be compared.
        findings: Vec<Finding>,
        /// The settlement after the rail was asked.
        settlement: Settlement,
    }
}

mirror_record! {
    /// A point on which record, ledger, trace and rail do not agree.
    Finding of railgate::api::FindingView {
        /// Stable code.
        code: String,
        /// One sentence for people.
        message: String,
    }
}

mirror_record! {
    /// A receipt as JSON. Its authoritative form is `jws`; the other members repeat its claims, for people and simple programs.
    Receipt of railgate::api::ReceiptView {
        /// `rcpt_` and a ULID.
        id: String,
        /// The issuer: the gateway's public address, or `railgate` if none is set.
        issuer: String,
        /// The time of the event that it is about.
        issued_at: Instant,
        /// `stl_` and a ULID.
        settlement_id: String,
        /// The client's reference.
        reference: String,
        /// True if it represents no real money.
        sandbox: bool,
        /// `completed`, `partially_reversed`, `reversed` or `returned`.
        status: SettlementStatus,
        /// The amount that the payee received.
        amount: Decimal,
        /// ISO 4217 code.
        currency: String,
        /// The fee, in addition to the amount.
        fee: Decimal,
        /// The total of completed reversals.
        reversed_amount: Decimal,
        /// The payer: `cli_` and a ULID.
        payer("from") = from: String,
        /// The payee, masked.
        payee("to") = to: String,
        /// When it was completed.
        settled_at: Instant,
        /// The provider that carried it out.
        provider: String,
        /// The rail's own reference.
        rail_reference: Option<String>,
        /// The trace up to the event that it is about.
        trace: Trace,
        /// The id of the previous receipt, which this one replaces; null for the first.
        supersedes: Option<String>,
        /// The id of the key in `/.well-known/jwks.json` that signed it.
        key_id: String,
        /// The receipt itself: a compact JWS (ES256).
        jws: String,
    }
}

mirror_record! {
    /// The end of the trace that a receipt covers.
    Trace of railgate::receipt::Trace {
        /// The sequence of the last event.
        n: u32,
        /// Its hash, which covers all earlier events: lower-case hex.
        head: String,
    }
}

mirror_record! {
    /// The claims of a genuine receipt.
    ReceiptClaims of railgate::receipt::Claims {
        /// The issuer: the gateway's public address, or `railgate` if none is set.
        issuer = iss: String,
        /// The receipt's id: `rcpt_` and a ULID.
        id = jti: String,
        /// The time of the event that it is about, to the second.
        issued_at = iat: Instant,
        /// The settlement's id: `stl_` and a ULID.
        settlement_id = sub: String,
        /// `sandbox` or `live`. A sandbox receipt represents no real money.
        environment = env: String,
        /// The client's reference.
        reference: String,
        /// The amount that the payee received.
        amount = amt: Decimal,
        /// ISO 4217 code.
        currency = cur: String,
        /// The fee, in addition to the amount.
        fee: Decimal,
        /// The payer: `cli_` and a ULID.
        payer = from: String,
        /// The payee, masked.
        payee = to: String,
        /// The settlement's status: `completed`, `partially_reversed`, `reversed` or `returned`.
        status: SettlementStatus,
        /// When it was completed.
        settled_at: Instant,
        /// The provider that carried it out.
        provider: String,
        /// The rail's own reference.
        rail_reference = rail_ref: Option<String>,
        /// The total of completed reversals.
        reversed_amount = rev: Decimal,
        /// The trace up to the event.
        trace = ev: Trace,
        /// The id of the previous receipt, which this one replaces; null for the first.
        supersedes: Option<String>,
    }
}

mirror_record! {
    /// A scenario of the simulated operator.
    Scenario of railgate::api::ScenarioView {
        /// The participant: send it as `to`.
        to: String,
        /// What happens to payments to it.
        description: String,
    }
}
