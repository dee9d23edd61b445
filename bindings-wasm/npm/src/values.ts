/**
* Types that are not on the wire as such: amounts, times, and results that the client builds from responses.
 *
 * @module
 */

import type { Routes } from "./routes.js";
import type { Balance, Environment, Problem, Settlement } from "./types.js";

/** An exact decimal with its currency's decimals, such as `"10.50"`, `"1000"` (JPY) or `"0.250"` (KWD). */
export type Amount = string;

/**
* An amount in a request: a decimal as text, or a number if that is exact enough (it is sent as JavaScript prints it).
 * Validation refuses more decimals than the currency has, exponents and signs.
 */
export type AmountInput = string | number;

/** A time as RFC 3339 in UTC with milliseconds, such as `"2026-11-21T10:38:17.042Z"`. */
export type Timestamp = string;

/** A time in a request: a `Date`, or RFC 3339 with its offset. */
export type TimeInput = Timestamp | Date;

/** Any value of JSON. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** An object of JSON whose members depend on what it is about. */
export interface JsonObject {
  /** Any member. */
  readonly [name: string]: Json;
}

/** The result of a create. */
export interface Created {
  /** The settlement in its current state. */
  readonly settlement: Settlement;
  /** The settlement already existed: the same request was sent before. */
  readonly replayed: boolean;
}

/** The result of an enrolment. */
export interface Enrollment {
  /** `cli_` and a ULID. */
  readonly client_id: string;
  /** The key's RFC 7638 thumbprint. */
  readonly key_id: string;
  /** Sandbox or live. */
  readonly environment: Environment;
  /** `pending` until an operator approves a live key. */
  readonly status: "active" | "pending";
  /** The scopes of the key, separated by spaces. */
  readonly scope?: string;
  /** The secret that verifies webhooks. It is shown only once: keep it. Absent for a key that was already enrolled. */
  readonly webhook_secret?: string;
  /** The balances of the new accounts: play money. */
  readonly balances?: readonly Balance[];
}

/** Selects the settlements of a list. */
export interface ListFilter extends Omit<NonNullable<Routes["/gateway/settlements"]["GET"]["query"]>, "created_from" | "created_to"> {
  /** Created at this time or later. */
  readonly created_from?: TimeInput;
  /** Created before this time. */
  readonly created_to?: TimeInput;
}

/** An element of a batch that succeeded. */
export interface BatchDone {
  /** 201, or 200 if it already existed. */
  readonly status: 200 | 201;
  /** The settlement, new or existing. */
  readonly settlement: Settlement;
  /** Absent. */
  readonly problem?: never;
}

/** An element of a batch that was refused. */
export interface BatchRefused {
  /** The HTTP status of the problem. */
  readonly status: number;
  /** The reason; its pointers are relative to the element. */
  readonly problem: Problem;
  /** Absent. */
  readonly settlement?: never;
}

/** The result of one element of a batch. */
export type BatchResult = BatchDone | BatchRefused;

/** A public key as a JWK (RFC 7517). Web Crypto's `JsonWebKey` exists only in projects with browser types. */
export interface PublicJwk {
  /** The key type: `EC` or `OKP`. */
  readonly kty?: string;
  /** The curve, such as `P-256`. */
  readonly crv?: string;
  /** The x coordinate or, for `OKP`, the public key, in base64url. */
  readonly x?: string;
  /** The y coordinate in base64url, for `EC`. */
  readonly y?: string;
  /** The key id. */
  readonly kid?: string;
  /** The signature algorithm, such as `ES256`. */
  readonly alg?: string;
  /** The use of the key, such as `sig`. */
  readonly use?: string;
}

/** A set of public keys (RFC 7517), such as the gateway publishes at `/.well-known/jwks.json`. */
export interface JsonWebKeySet {
  /** The public keys, including retired ones. */
  readonly keys: readonly PublicJwk[];
}
