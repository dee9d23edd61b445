/**
 * What is asked and what is answered: the shapes of the HTTP interface, with the names that travel.
 *
 * One difference: amounts. The interface writes them as JSON numbers with the currency's decimals, and a JavaScript number
 * would lose the last zero and, in sums, a cent. Here they are strings, exactly as the server wrote them.
 *
 * @module
 */

/** An exact decimal with its currency's decimals, such as `"10.50"`, `"1000"` (JPY) or `"0.250"` (KWD). */
export type Amount = string;

/**
 * An amount to be sent: a decimal as text, or a number where that is exact enough (it is written as JavaScript prints it).
 * More decimals than the currency has, exponents and signs are refused by validation.
 */
export type AmountInput = string | number;

/** A time as RFC 3339 in UTC with milliseconds, such as `"2026-11-21T10:38:17.042Z"`. */
export type Timestamp = string;

/** Play money, or real money. They never meet. */
export type Environment = "sandbox" | "live";

/** Every state of a settlement. */
export const SETTLEMENT_STATUSES = [
  "accepted",
  "submitted",
  "unknown",
  "completed",
  "partially_reversed",
  "reversed",
  "returned",
  "failed",
  "cancelled",
] as const;

/**
 * Where a settlement stands.
 *
 * - `accepted`: stored, the money is held, nothing was sent
 * - `submitted`: sent to a provider, or about to be
 * - `unknown`: the provider's answer got lost; the money stays held until it is known. Never the same as `failed`
 * - `completed`: paid; may still be reversed or returned
 * - `partially_reversed`, `reversed`: given back in part, in whole
 * - `returned`: the provider sent it back later
 * - `failed`: proven not to be paid; the money is free again
 * - `cancelled`: stopped before anything was sent
 */
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];

/** Every state of a reversal. */
export const REVERSAL_STATUSES = ["accepted", "submitted", "unknown", "completed", "failed"] as const;

/** Where a reversal stands. */
export type ReversalStatus = (typeof REVERSAL_STATUSES)[number];

/** Every ISO 20022 status that is used. */
export const ISO_STATUSES = ["RCVD", "ACSP", "PDNG", "ACSC", "RJCT", "CANC"] as const;

/** An ISO 20022 payment status. */
export type IsoStatus = (typeof ISO_STATUSES)[number];

/** Every reason for which a settlement or a reversal fails. */
export const FAILURE_CODES = [
  "recipient_not_found",
  "account_closed",
  "account_blocked",
  "insufficient_funds",
  "duplicate",
  "over_limit",
  "provider_offline",
  "invalid_amount",
  "not_allowed",
  "other",
] as const;

/** Why a settlement or a reversal failed. */
export type FailureCode = (typeof FAILURE_CODES)[number];

/** Every answer to the question whether the payee is known under that name. */
export const PAYEE_MATCHES = ["match", "close_match", "no_match", "not_available"] as const;

/** Whether the payee is known there. */
export type PayeeMatch = (typeof PAYEE_MATCHES)[number];

/** Every reason that a reversal can be given. */
export const REVERSAL_REASONS = [
  "duplicate",
  "incorrect_amount",
  "incorrect_recipient",
  "fraud",
  "customer_request",
  "other",
] as const;

/** Why a settlement is reversed. */
export type ReversalReason = (typeof REVERSAL_REASONS)[number];

/** Every type of event in a settlement's trace. */
export const EVENT_TYPES = [
  "settlement.accepted",
  "settlement.submitted",
  "settlement.unknown",
  "settlement.completed",
  "settlement.failed",
  "settlement.cancelled",
  "settlement.partially_reversed",
  "settlement.reversed",
  "settlement.returned",
  "settlement.discrepancy",
  "settlement.reviewed",
  "attempt.started",
  "attempt.answered",
  "reversal.accepted",
  "reversal.submitted",
  "reversal.unknown",
  "reversal.completed",
  "reversal.failed",
] as const;

/** What happened. */
export type EventType = (typeof EVENT_TYPES)[number];

/** Everybody who can make something happen. */
export const ACTORS = ["client", "system", "rail", "operator"] as const;

/** Who made it happen. */
export type Actor = (typeof ACTORS)[number];

/** A state of a settlement, of an attempt or of a reversal, as the trace names it. */
export type StateName = SettlementStatus | "started" | "declined" | "not_sent";

/** One thing that is wrong with a request, and where. */
export interface FieldProblem {
  /** RFC 6901 JSON pointer into the request, such as `/amount`; for query parameters the parameter's name. */
  readonly pointer: string;
  /** Stable, for programs: `required`, `amount_scale`, … */
  readonly code: string;
  /** One sentence for people, saying what would be right. */
  readonly message: string;
}

/** An RFC 9457 problem document: why a call was not carried out. */
export interface Problem {
  /** Names the kind of problem: the path of its page on the server, `/docs/problems/<code>`. */
  readonly type?: string;
  /** The same sentence for every occurrence. */
  readonly title?: string;
  /** The HTTP status. */
  readonly status?: number;
  /** One sentence about this occurrence. */
  readonly detail?: string;
  /** The path that was asked for. */
  readonly instance?: string;
  /** Stable, for programs. */
  readonly code: string;
  /** The family of the code. */
  readonly category?: string;
  /** The same request is safe and useful to send again. */
  readonly retryable?: boolean;
  /** Names this request in the server's log. */
  readonly request_id?: string;
  /** In the sandbox, for a signature that does not fit: what it should have been made over. */
  readonly signature_base?: string;
  /** Everything that is wrong with the request. */
  readonly errors?: readonly FieldProblem[];
}

/** A settlement to be made. `reference` is its idempotency key: the same request sent again makes nothing new. */
export interface CreateRequest {
  /** Above zero, at most 15 significant digits, no more decimals than the currency has. */
  readonly amount: AmountInput;
  /** ISO 4217 code in upper case. */
  readonly currency: string;
  /** Who is paid, `namespace:identifier`, such as `msisdn:+254700000001`, `iban:DE…` or `sim:ok` (sandbox). */
  readonly to: string;
  /** Yours, `[A-Za-z0-9._-]{1,64}`, once and for ever. */
  readonly reference: string;
  /** The mode; the credential's unless told. */
  readonly sandbox?: boolean;
  /** For people, at most 140 characters. */
  readonly description?: string;
  /** At most 50 pairs; keys up to 40, values up to 500 characters. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The id of the provider that it must go through. */
  readonly provider?: string;
  /** The quote that it is to be priced by, from a check. */
  readonly quote_id?: string;
  /** RFC 3339: cancelled if nothing was sent by then. */
  readonly expires_at?: Timestamp;
}

/** A settlement to be undone, in whole or in part. */
export interface ReverseRequest {
  /** How much; all that is left unless told. */
  readonly amount?: AmountInput;
  /** Why. */
  readonly reason?: ReversalReason;
  /** Your name for the reversal. */
  readonly reference?: string;
  /** For people, at most 140 characters. */
  readonly description?: string;
}

/** What the provider says of the payee. */
export interface Payee {
  /** The account holder's name, where the provider tells. */
  readonly display_name: string | null;
  /** Whether the payee is known there. */
  readonly match: PayeeMatch;
}

/** Why something failed. */
export interface Failure {
  /** The gateway's code. */
  readonly code: FailureCode;
  /** The family. */
  readonly category: string;
  /** One sentence for people. */
  readonly message: string;
  /** The provider's own code. */
  readonly rail_code: string | null;
  /** The ISO 20022 reason, such as `AC03`. */
  readonly iso_reason: string;
}

/** Paths of a settlement's parts, relative to the server's address. */
export interface SettlementLinks {
  /** The record. */
  readonly self: string;
  /** Its status. */
  readonly status: string;
  /** Its trace. */
  readonly events: string;
  /** Undoing it. */
  readonly reverse: string;
  /** Its receipt. */
  readonly receipt: string;
}

/** One payment. */
export interface Settlement {
  /** `stl_` and a ULID. */
  readonly id: string;
  /** The client's reference. */
  readonly reference: string;
  /** Where it stands. */
  readonly status: SettlementStatus;
  /** Grows with every event. */
  readonly version: number;
  /** No real money moves. */
  readonly sandbox: boolean;
  /** The amount. */
  readonly amount: Amount;
  /** The amount in minor units, an integer as text. */
  readonly amount_minor: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The receiving participant, in its one canonical form. */
  readonly to: string;
  /** What the provider says of the payee. */
  readonly payee: Payee;
  /** The fee. */
  readonly fee: Amount;
  /** Amount and fee. */
  readonly total_debit: Amount;
  /** The provider of the current attempt. */
  readonly provider: string;
  /** The provider's own reference. */
  readonly rail_reference: string | null;
  /** How many attempts were started. */
  readonly attempts: number;
  /** Why it failed, if it did. */
  readonly failure: Failure | null;
  /** A person must look. */
  readonly needs_review: boolean;
  /** Given back by completed reversals. */
  readonly reversed_amount: Amount;
  /** Being given back by reversals under way. */
  readonly reversing_amount: Amount;
  /** ISO 20022 status. */
  readonly iso_status: IsoStatus;
  /** The client's description. */
  readonly description: string | null;
  /** The client's own pairs. */
  readonly metadata: Readonly<Record<string, string>>;
  /** `cli_` and a ULID. */
  readonly client_id: string;
  /** When it was made. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** When it was final for the first time. */
  readonly completed_at: Timestamp | null;
  /** Cancelled if nothing was sent by then. */
  readonly expires_at: Timestamp | null;
  /** Where to go from here. */
  readonly links: SettlementLinks;
}

/** The short form of a settlement, for waiting. */
export interface StatusView {
  /** `stl_` and a ULID. */
  readonly id: string;
  /** The client's reference. */
  readonly reference: string;
  /** Where it stands. */
  readonly status: SettlementStatus;
  /** Grows with every event. */
  readonly version: number;
  /** ISO 20022 status. */
  readonly iso_status: IsoStatus;
  /** Why it failed, if it did. */
  readonly failure: Failure | null;
  /** A person must look. */
  readonly needs_review: boolean;
  /** Nothing more happens by itself. */
  readonly final: boolean;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

/** One link of a settlement's trace. Each holds the hash of the one before. */
export interface SettlementEvent {
  /** Who made it happen. */
  readonly actor: Actor;
  /** When. */
  readonly at: Timestamp;
  /** The attempt concerned, from 1. */
  readonly attempt: number | null;
  /** More about it; amounts in it are text. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The state before. */
  readonly from: StateName | null;
  /** SHA-256 of this event's RFC 8785 form without `hash`, lower-case hexadecimal. */
  readonly hash: string;
  /** `evt_` and a ULID. */
  readonly id: string;
  /** The hash of the event before; null for the first. */
  readonly prev: string | null;
  /** The client's reference of the settlement. */
  readonly reference: string;
  /** Its place in the trace, from 1, without gaps. */
  readonly sequence: number;
  /** `stl_` and a ULID. */
  readonly settlement_id: string;
  /** The state after. */
  readonly to: StateName | null;
  /** What happened. */
  readonly type: EventType;
}

/** An event in its owner's feed, which holds those of all settlements. */
export interface FeedEvent {
  /** Its place in the feed, from 1, without gaps. */
  readonly position: number;
  /** The event. */
  readonly event: SettlementEvent;
}

/** A page of the feed. */
export interface FeedPage {
  /** The events, oldest first. */
  readonly data: readonly FeedEvent[];
  /** There are more. */
  readonly has_more: boolean;
  /** Pass it as `after` for what comes next, also when that is still to happen. */
  readonly next_after: number;
}

/** A page of a list. */
export interface Page<T> {
  /** The page. */
  readonly data: readonly T[];
  /** Whether there is more behind it. */
  readonly has_more: boolean;
  /** Where the next page begins; opaque, null on the last. */
  readonly next_cursor: string | null;
}

/** Money on its way back. */
export interface Reversal {
  /** `rev_` and a ULID. */
  readonly id: string;
  /** `stl_` and a ULID. */
  readonly settlement_id: string;
  /** The client's reference of the reversal. */
  readonly reference: string | null;
  /** Where it stands. */
  readonly status: ReversalStatus;
  /** ISO 20022 status. */
  readonly iso_status: IsoStatus;
  /** How much. */
  readonly amount: Amount;
  /** The same in minor units, an integer as text. */
  readonly amount_minor: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** Why. */
  readonly reason: ReversalReason | null;
  /** The client's description. */
  readonly description: string | null;
  /** The provider's own reference. */
  readonly rail_reference: string | null;
  /** Why it failed, if it did. */
  readonly failure: Failure | null;
  /** A person must look. */
  readonly needs_review: boolean;
  /** When it was made. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
  /** When it was completed. */
  readonly completed_at: Timestamp | null;
}

/** What came of a create. */
export interface Created {
  /** The settlement as it stands. */
  readonly settlement: Settlement;
  /** It was there already: the same request was sent before. */
  readonly replayed: boolean;
}

/** What came of a reverse call. */
export interface ReverseResult {
  /** The reversal; null where the settlement was cancelled instead, for nothing had been sent. */
  readonly reversal: Reversal | null;
  /** The settlement as it stands. */
  readonly settlement: Settlement;
}

/** What an account holds in one currency. */
export interface Balance {
  /** The account's name: `main`. */
  readonly account: string;
  /** ISO 4217 code. */
  readonly currency: string;
  /** Play money. */
  readonly sandbox: boolean;
  /** May be spent. */
  readonly available: Amount;
  /** Held by settlements under way. */
  readonly reserved: Amount;
  /** Announced by reversals under way. */
  readonly pending: Amount;
  /** What the books say: available and reserved. */
  readonly ledger: Amount;
  /** When that was so. */
  readonly as_of: Timestamp;
}

/** What a settlement would cost, and until when that holds. */
export interface Quote {
  /** The fee. */
  readonly fee: Amount;
  /** Amount and fee. */
  readonly total_debit: Amount;
  /** The provider that it would go to first. */
  readonly provider: string;
  /** Until then. */
  readonly expires_at: Timestamp;
  /** Send it as `quote_id` to get this fee. */
  readonly quote_id: string;
}

/** What a create would meet now. */
export interface CheckResult {
  /** It would be accepted. */
  readonly ok: boolean;
  /** Why not. */
  readonly problems: readonly FieldProblem[];
  /** What should be looked at before. */
  readonly warnings: readonly FieldProblem[];
  /** What it would cost. */
  readonly quote: Quote | null;
  /** The providers that would be tried, in order. */
  readonly route: readonly string[];
  /** What the provider says of the payee. */
  readonly payee: Payee;
  /** The account holds enough. */
  readonly funds_available: boolean;
}

/** One thing that was compared and does not agree. */
export interface Finding {
  /** Stable, for programs. */
  readonly code: string;
  /** One sentence for people. */
  readonly message: string;
}

/** Whether the record, the books, the trace and the provider agree. */
export interface ReconcileResult {
  /** They do. */
  readonly consistent: boolean;
  /** Where they do not, or could not be compared. */
  readonly findings: readonly Finding[];
  /** The settlement as it stands after the provider was asked. */
  readonly settlement: Settlement;
}

/** One scenario of the sandbox's simulated provider. */
export interface Scenario {
  /** Send it as `to`. */
  readonly to: string;
  /** What happens then. */
  readonly description: string;
}

/** Up to where a receipt knows the settlement's trace. */
export interface ReceiptTrace {
  /** The sequence of the event. */
  readonly n: number;
  /** Its hash, which covers all before it: lower-case hexadecimal. */
  readonly head: string;
}

/** A receipt as the gateway shows it. What counts is `jws`. */
export interface Receipt {
  /** `rcpt_` and a ULID. */
  readonly id: string;
  /** Who says it: the gateway's public address. */
  readonly issuer: string;
  /** When the event took place that it is about. */
  readonly issued_at: Timestamp;
  /** `stl_` and a ULID. */
  readonly settlement_id: string;
  /** The client's reference. */
  readonly reference: string;
  /** It stands for no money. */
  readonly sandbox: boolean;
  /** `completed`, `partially_reversed`, `reversed` or `returned`. */
  readonly status: SettlementStatus;
  /** The amount that the payee got. */
  readonly amount: Amount;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The fee, beside the amount. */
  readonly fee: Amount;
  /** Given back by reversals. */
  readonly reversed_amount: Amount;
  /** Who paid: `cli_` and a ULID. */
  readonly from: string;
  /** Who was paid, masked. */
  readonly to: string;
  /** When it was completed. */
  readonly settled_at: Timestamp;
  /** Through which provider. */
  readonly provider: string;
  /** The provider's own reference. */
  readonly rail_reference: string | null;
  /** The trace up to the event that it is about. */
  readonly trace: ReceiptTrace;
  /** The receipt that this one takes the place of; null for the first. */
  readonly supersedes: string | null;
  /** Under which key of `/.well-known/jwks.json` it is signed. */
  readonly key_id: string;
  /** The receipt itself: a compact JWS (ES256). */
  readonly jws: string;
}

/** What a genuine receipt says: the claims of its JWS. */
export interface ReceiptClaims {
  /** Who says it: the gateway's public address. */
  readonly iss: string;
  /** The receipt's id: `rcpt_` and a ULID. */
  readonly jti: string;
  /** When the event took place that it is about, in seconds since 1970. */
  readonly iat: number;
  /** The settlement: `stl_` and a ULID. */
  readonly sub: string;
  /** A sandbox receipt stands for no money. */
  readonly env: Environment;
  /** The client's reference. */
  readonly ref: string;
  /** The amount that the payee got. */
  readonly amt: Amount;
  /** ISO 4217 code. */
  readonly cur: string;
  /** The fee, beside the amount. */
  readonly fee: Amount;
  /** Who paid: `cli_` and a ULID. */
  readonly from: string;
  /** Who was paid, masked. */
  readonly to: string;
  /** `completed`, `partially_reversed`, `reversed` or `returned`. */
  readonly status: SettlementStatus;
  /** When it was completed. */
  readonly settled_at: Timestamp;
  /** Through which provider. */
  readonly provider: string;
  /** The provider's own reference. */
  readonly rail_ref: string | null;
  /** Given back by reversals. */
  readonly rev: Amount;
  /** The trace up to the event. */
  readonly ev: ReceiptTrace;
  /** The receipt that this one takes the place of. */
  readonly supersedes?: string;
}

/** A public key as JSON (RFC 7517): what WebCrypto calls `JsonWebKey`, which only projects with the types of a browser have. */
export interface PublicJwk {
  /** The family: `EC` or `OKP`. */
  readonly kty?: string;
  /** The curve, such as `P-256`. */
  readonly crv?: string;
  /** The point. */
  readonly x?: string;
  /** Its other half, where the curve has one. */
  readonly y?: string;
  /** Its name. */
  readonly kid?: string;
  /** How it signs. */
  readonly alg?: string;
  /** What it is for. */
  readonly use?: string;
}

/** A set of public keys (RFC 7517), such as the gateway publishes at `/.well-known/jwks.json`. */
export interface JsonWebKeySet {
  /** The keys. */
  readonly keys: readonly PublicJwk[];
}

/** A key of a client. */
export interface Key {
  /** RFC 7638 thumbprint (SHA-256). */
  readonly key_id: string;
  /** How it signs. */
  readonly algorithm: "ecdsa-p256-sha256" | "ed25519";
  /** What it may touch. */
  readonly environment: Environment;
  /** `pending` until an operator approves. */
  readonly status: "active" | "pending" | "revoked";
  /** What its owner calls it. */
  readonly label: string | null;
  /** What it may do, names with spaces between them. */
  readonly scope: string;
  /** When it was made known. */
  readonly created_at: Timestamp;
  /** When it was revoked. */
  readonly revoked_at: Timestamp | null;
}

/** What an enrolment brought. */
export interface Enrollment {
  /** `cli_` and a ULID. */
  readonly client_id: string;
  /** The key's RFC 7638 thumbprint. */
  readonly key_id: string;
  /** What it may touch. */
  readonly environment: Environment;
  /** `pending` until an operator approves a live key. */
  readonly status: "active" | "pending";
  /** What the key may do, names with spaces between them. */
  readonly scope?: string;
  /** Verifies webhooks. It is shown this once: keep it. Not there for a key that was enrolled before. */
  readonly webhook_secret?: string;
  /** What the new accounts hold: play money. */
  readonly balances?: readonly Balance[];
}

/** Which settlements a list is to show. */
export interface ListFilter {
  /** Those in one of these states. */
  readonly status?: SettlementStatus | readonly SettlementStatus[];
  /** ISO 4217 code. */
  readonly currency?: string;
  /** The id of a provider. */
  readonly provider?: string;
  /** Whom they pay. */
  readonly to?: string;
  /** The one with this reference. */
  readonly reference?: string;
  /** In this mode. */
  readonly sandbox?: boolean;
  /** Made then or later, RFC 3339. */
  readonly created_from?: Timestamp;
  /** Made before, RFC 3339. */
  readonly created_to?: Timestamp;
  /** At least so much. */
  readonly min_amount?: AmountInput;
  /** At most so much. */
  readonly max_amount?: AmountInput;
  /** Those that a person must look at. */
  readonly needs_review?: boolean;
  /** A page's size, 1 to 200; 50 unless told. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** An element of a batch that was carried out. */
export interface BatchDone {
  /** 201, or 200 where it was there already. */
  readonly status: 200 | 201;
  /** The settlement. */
  readonly settlement: Settlement;
  /** There is none. */
  readonly problem?: never;
}

/** An element of a batch that was refused. */
export interface BatchRefused {
  /** The problem's status. */
  readonly status: number;
  /** Why; pointers begin at the element. */
  readonly problem: Problem;
  /** There is none. */
  readonly settlement?: never;
}

/** What came of one element of a batch. */
export type BatchResult = BatchDone | BatchRefused;
