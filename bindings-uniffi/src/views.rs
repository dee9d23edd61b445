//! What callers see: the core's views as records of each language.

use std::collections::HashMap;

use crate::error::FieldProblem;
use crate::mirror::mirror_record;
use crate::names::{Actor, EventType, FailureCode, KeyStatus, PayeeMatch, ReversalReason, ReversalStatus, SettlementStatus, StateName};
use crate::values::{Decimal, Instant, Json};

mirror_record! {
    /// The settlement record.
    Settlement of railgate::api::SettlementView {
        /// `stl_` and a ULID.
        id: String,
        /// The client's reference.
        reference: String,
        /// Where it stands.
        status: SettlementStatus,
        /// Grows with every event.
        version: u32,
        /// No real money moves.
        sandbox: bool,
        /// The amount, written with the minor unit's decimals.
        amount: Decimal,
        /// The amount in minor units, an integer as text.
        amount_minor: String,
        /// ISO 4217 code.
        currency: String,
        /// The receiving participant, canonical.
        to: String,
        /// What the provider says of the payee.
        payee: Payee,
        /// The fee.
        fee: Decimal,
        /// Amount and fee.
        total_debit: Decimal,
        /// The provider of the current attempt.
        provider: String,
        /// The rail's own reference.
        rail_reference: Option<String>,
        /// How many attempts were started.
        attempts: u16,
        /// Why it failed, if it did.
        failure: Option<Failure>,
        /// A person must look.
        needs_review: bool,
        /// Given back by completed reversals.
        reversed_amount: Decimal,
        /// Being given back by reversals under way.
        reversing_amount: Decimal,
        /// ISO 20022 status.
        iso_status: String,
        /// The client's description.
        description: Option<String>,
        /// The client's own pairs.
        metadata: HashMap<String, String>,
        /// `cli_` and a ULID.
        client_id: String,
        /// When it was created.
        created_at: Instant,
        /// When it last changed.
        updated_at: Instant,
        /// When it became final for the first time.
        completed_at: Option<Instant>,
        /// Cancelled if not dispatched by then.
        expires_at: Option<Instant>,
        /// Where to go from here.
        links: Links,
    }
}

mirror_record! {
    /// What the provider says of the payee.
    Payee of railgate::api::PayeeView {
        /// The account holder's name, where the provider tells.
        display_name: Option<String>,
        /// Whether the participant is known there.
        #[serde(rename = "match")]
        payee_match: PayeeMatch,
    }
}

mirror_record! {
    /// Why something failed.
    Failure of railgate::api::FailureView {
        /// The gateway's code.
        code: FailureCode,
        /// The family.
        category: String,
        /// One sentence for people.
        message: String,
        /// The rail's own code.
        rail_code: Option<String>,
        /// ISO 20022 reason.
        iso_reason: String,
    }
}

mirror_record! {
    /// Paths of a settlement's parts, relative to the base address.
    Links of railgate::api::LinksView {
        /// The record.
        #[serde(rename = "self")]
        record = itself: String,
        /// Its status.
        status: String,
        /// Its trace.
        events: String,
        /// Undoing it.
        reverse: String,
        /// Its receipt.
        receipt: String,
    }
}

mirror_record! {
    /// The short form for polling.
    Status of railgate::api::StatusView {
        /// `stl_` and a ULID.
        id: String,
        /// The client's reference.
        reference: String,
        /// Where it stands.
        status: SettlementStatus,
        /// Grows with every event.
        version: u32,
        /// ISO 20022 status.
        iso_status: String,
        /// Why it failed, if it did.
        failure: Option<Failure>,
        /// A person must look.
        needs_review: bool,
        /// Nothing more happens by itself.
        #[serde(rename = "final")]
        is_final: bool,
        /// When it last changed.
        updated_at: Instant,
    }
}

mirror_record! {
    /// One link of a settlement's trace.
    ///
    /// `hash` is the lower-case hex SHA-256 of the RFC 8785 form of this object without `hash`; `prev` is the hash of the
    /// event before it, null for the first. Fields stand in the order of that form.
    Event of railgate::api::EventView {
        /// Who made it happen.
        actor: Actor,
        /// When.
        at: Instant,
        /// The attempt concerned, from 1.
        attempt: Option<u16>,
        /// More about it.
        data: Json,
        /// The state before.
        #[serde(rename = "from")]
        from_state = from: Option<StateName>,
        /// Hash of this event.
        hash: Option<String>,
        /// `evt_` and a ULID.
        id: String,
        /// Hash of the event before.
        prev: Option<String>,
        /// The client's reference.
        reference: String,
        /// Its place in the trace, from 1, without gaps.
        sequence: u32,
        /// `stl_` and a ULID.
        settlement_id: String,
        /// The state after.
        #[serde(rename = "to")]
        to_state = to: Option<StateName>,
        /// What happened.
        #[serde(rename = "type")]
        kind: EventType,
    }
}

mirror_record! {
    /// An event in its owner's feed.
    FeedEvent of railgate::api::FeedEventView {
        /// Its place in the feed, from 1, without gaps.
        position: i64,
        /// The event, as the settlement's own trace shows it.
        event: Event,
    }
}

mirror_record! {
    /// Events of a feed.
    FeedPage of railgate::api::FeedPage {
        /// The events, oldest first.
        data: Vec<FeedEvent>,
        /// There are more.
        has_more: bool,
        /// Where to go on, also when what comes next is still to happen.
        next_after: i64,
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
        /// What its owner calls it.
        label: Option<String>,
        /// What it may do, names with spaces between them.
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
        /// Where it stands.
        status: ReversalStatus,
        /// ISO 20022 status.
        iso_status: String,
        /// How much.
        amount: Decimal,
        /// The same in minor units, an integer as text.
        amount_minor: String,
        /// ISO 4217 code.
        currency: String,
        /// Why.
        reason: Option<ReversalReason>,
        /// The client's description.
        description: Option<String>,
        /// The rail's own reference.
        rail_reference: Option<String>,
        /// Why it failed, if it did.
        failure: Option<Failure>,
        /// A person must look.
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
    /// The answer of a reverse call: the reversal (null when the settlement was cancelled instead) and the settlement.
    Reversed of railgate::api::ReverseView {
        /// The reversal.
        reversal: Option<Reversal>,
        /// The settlement as it stands.
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
        /// Play money.
        sandbox: bool,
        /// May be spent.
        available: Decimal,
        /// Held by settlements under way.
        reserved: Decimal,
        /// Announced by reversals under way.
        pending: Decimal,
        /// What the books say: available and reserved.
        ledger: Decimal,
        /// As of when.
        as_of: Instant,
    }
}

mirror_record! {
    /// The answer of a pre-flight check.
    Check of railgate::api::CheckView {
        /// A create with this body would be accepted now.
        ok: bool,
        /// Why not.
        problems: Vec<FieldProblem>,
        /// What should be looked at before.
        warnings: Vec<FieldProblem>,
        /// What it would cost.
        quote: Option<Quote>,
        /// The providers that would be tried, in order.
        route: Vec<String>,
        /// What the provider says of the payee.
        payee: Payee,
        /// The account holds enough.
        funds_available: bool,
    }
}

mirror_record! {
    /// What a settlement would cost, until when that holds.
    Quote of railgate::api::QuoteView {
        /// The fee.
        fee: Decimal,
        /// Amount and fee.
        total_debit: Decimal,
        /// The provider it would go to first.
        provider: String,
        /// Until when it holds.
        expires_at: Instant,
        /// Send it as `quote_id` to get this fee.
        quote_id: String,
    }
}

mirror_record! {
    /// The answer of a reconciling check: do record, ledger, event chain and rail agree?
    Reconciliation of railgate::api::ReconcileView {
        /// They do.
        consistent: bool,
        /// Where they do not, or could not be compared.
        findings: Vec<Finding>,
        /// The settlement as it stands after the rail was asked.
        settlement: Settlement,
    }
}

mirror_record! {
    /// One thing that was compared and does not agree.
    Finding of railgate::api::FindingView {
        /// Stable code.
        code: String,
        /// One sentence for people.
        message: String,
    }
}

mirror_record! {
    /// A receipt as JSON. What counts is `jws`; the rest is what it says, for people and simple programs.
    Receipt of railgate::api::ReceiptView {
        /// `rcpt_` and a ULID.
        id: String,
        /// Who says it: the gateway's public address, `railgate` where it has none.
        issuer: String,
        /// When the event took place that it is about.
        issued_at: Instant,
        /// `stl_` and a ULID.
        settlement_id: String,
        /// The client's reference.
        reference: String,
        /// It stands for no money.
        sandbox: bool,
        /// `completed`, `partially_reversed`, `reversed` or `returned`.
        status: SettlementStatus,
        /// The amount that the payee got.
        amount: Decimal,
        /// ISO 4217 code.
        currency: String,
        /// The fee, beside the amount.
        fee: Decimal,
        /// Given back by reversals.
        reversed_amount: Decimal,
        /// Who paid: `cli_` and a ULID.
        #[serde(rename = "from")]
        payer = from: String,
        /// Who was paid, masked.
        #[serde(rename = "to")]
        payee = to: String,
        /// When it was completed.
        settled_at: Instant,
        /// Through which provider.
        provider: String,
        /// The rail's own reference.
        rail_reference: Option<String>,
        /// The trace up to the event that it is about.
        trace: Trace,
        /// The receipt that this one takes the place of; null for the first.
        supersedes: Option<String>,
        /// Under which key of `/.well-known/jwks.json` it is signed.
        key_id: String,
        /// The receipt itself: a compact JWS (ES256).
        jws: String,
    }
}

mirror_record! {
    /// Up to where a receipt knows the settlement's trace.
    Trace of railgate::receipt::Trace {
        /// The sequence of the event.
        n: u32,
        /// Its hash, which covers all before it: lower-case hex.
        head: String,
    }
}

mirror_record! {
    /// What a genuine receipt says.
    ReceiptClaims of railgate::receipt::Claims {
        /// Who says it: the gateway's public address, `railgate` where it has none.
        issuer = iss: String,
        /// The receipt's id: `rcpt_` and a ULID.
        id = jti: String,
        /// When the event took place that it is about, to the second.
        issued_at = iat: Instant,
        /// The settlement: `stl_` and a ULID.
        settlement_id = sub: String,
        /// `sandbox` or `live`. A sandbox receipt stands for no money.
        environment = env: String,
        /// The client's reference.
        reference: String,
        /// The amount that the payee got.
        amount = amt: Decimal,
        /// ISO 4217 code.
        currency = cur: String,
        /// The fee, beside the amount.
        fee: Decimal,
        /// Who paid: `cli_` and a ULID.
        payer = from: String,
        /// Who was paid, masked.
        payee = to: String,
        /// Where the settlement stands: `completed`, `partially_reversed`, `reversed` or `returned`.
        status: SettlementStatus,
        /// When it was completed.
        settled_at: Instant,
        /// Through which provider.
        provider: String,
        /// The rail's own reference.
        rail_reference = rail_ref: Option<String>,
        /// Given back by reversals.
        reversed_amount = rev: Decimal,
        /// The trace up to the event.
        trace = ev: Trace,
        /// The receipt that this one takes the place of.
        supersedes: Option<String>,
    }
}
