/**
 * What is not on the wire as such: how amounts and times look here, and what the client makes of answers.
 *
 * @module
 */

import type { Balance, Environment, Problem, Settlement, SettlementStatus } from "./types.js";

/** An exact decimal with its currency's decimals, such as `"10.50"`, `"1000"` (JPY) or `"0.250"` (KWD). */
export type Amount = string;

/**
 * An amount to be sent: a decimal as text, or a number where that is exact enough (it is written as JavaScript prints it).
 * More decimals than the currency has, exponents and signs are refused by validation.
 */
export type AmountInput = string | number;

/** A time as RFC 3339 in UTC with milliseconds, such as `"2026-11-21T10:38:17.042Z"`. */
export type Timestamp = string;

/** What came of a create. */
export interface Created {
  /** The settlement as it stands. */
  readonly settlement: Settlement;
  /** It was there already: the same request was sent before. */
  readonly replayed: boolean;
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
