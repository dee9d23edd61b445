/**
 * Errors: one class for each kind of trouble, so that `instanceof` and `code` both say what to do.
 *
 * @module
 */

import type { ErrorCategory, FieldProblem, GatewayCode, Problem } from "./types.js";

export { CATEGORIES, GATEWAY_CODES, type ErrorCategory, type GatewayCode } from "./types.js";

/** Every code of trouble on this side of the wire. */
export const LOCAL_CODES = [
  "connection_lost",
  "unreadable_answer",
  "not_ready",
  "invalid_address",
  "invalid_path",
  "unsignable_request",
  "malformed_signature",
  "disposed",
  "unsupported",
  "header_missing",
  "header_malformed",
  "timestamp_too_old",
  "timestamp_too_new",
  "no_matching_signature",
  "body_malformed",
  "invalid_secret",
  "storage_unavailable",
  "storage_quota",
  "storage_failed",
  "storage_corrupt",
  "storage_version",
  "storage_conflict",
  "storage_erased",
  "storage_lost",
  "outcome_unknown",
] as const;

/** A code of trouble on this side of the wire. */
export type LocalCode = (typeof LOCAL_CODES)[number];

/** Every code that this version knows. A newer gateway may answer with others. */
export type KnownCode = GatewayCode | LocalCode;

/** The code of an error: a known one, or one that a newer gateway has. */
export type ErrorCode = KnownCode | (string & {});

/** What there is to say about an error beside its code and message. */
export interface ErrorDetails {
  /** The family of its code. */
  readonly category?: ErrorCategory | undefined;
  /** The HTTP status, where there was an answer. */
  readonly status?: number | undefined;
  /** The same request is safe and useful to send again. */
  readonly retryable?: boolean | undefined;
  /** Everything that is wrong with the request. */
  readonly errors?: readonly FieldProblem[] | undefined;
  /** Names the request in the server's log. */
  readonly requestId?: string | undefined;
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The whole problem document. */
  readonly problem?: Problem | undefined;
  /** The `Idempotency-Key` of a call that may have been carried out. */
  readonly idempotencyKey?: string | undefined;
  /** What caused it. */
  readonly cause?: unknown;
}

/** Something that was asked for was not done. Every error of this package is one, except for a wrong argument's `TypeError`. */
export class RailgateError extends Error {
  override readonly name: string = "RailgateError";
  /** Stable, for programs. */
  readonly code: ErrorCode;
  /** The family of the code, where the gateway names one. */
  readonly category: ErrorCategory | undefined;
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** The same request is safe and useful to send again. */
  readonly retryable: boolean;
  /** Everything that is wrong with the request, with JSON pointers; empty where nothing in particular is. */
  readonly errors: readonly FieldProblem[];
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The whole problem document (RFC 9457), where there is one. */
  readonly problem: Problem | undefined;
  /**
   * Where the call may have been carried out, the `Idempotency-Key` that it was sent under, if any: made again with this one it
   * is not done twice.
   */
  readonly idempotencyKey: string | undefined;

  /** An error of this package. */
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.category = details.category;
    this.status = details.status;
    this.retryable = details.retryable ?? false;
    this.errors = details.errors ?? [];
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
    this.problem = details.problem;
    this.idempotencyKey = details.idempotencyKey;
  }
}

/** The request itself is wrong; `errors` says where. */
export class ValidationError extends RailgateError {
  override readonly name: string = "ValidationError";
}

/** The caller may not do this, or did not prove who it is. */
export class AuthorisationError extends RailgateError {
  override readonly name: string = "AuthorisationError";
}

/** There is no such thing, or it belongs to somebody else. */
export class NotFoundError extends RailgateError {
  override readonly name: string = "NotFoundError";
}

/** The request is well formed, and the state of affairs forbids it: no funds, already reversed, … */
export class BusinessRuleError extends RailgateError {
  override readonly name: string = "BusinessRuleError";
}

/** Nothing is wrong with the request; try later. */
export class UnavailableError extends RailgateError {
  override readonly name: string = "UnavailableError";
}

/** A fault of the gateway or of this package. */
export class InternalError extends RailgateError {
  override readonly name: string = "InternalError";
}

/**
 * No answer came, or, after a try without one, none that tells what became of that (it is the `cause`): whether the call was carried
 * out is not known.
 *
 * Where it is `retryable`, making the same call again finds out and does nothing twice. Where it is not, the same call would be
 * another one: a reversal that you gave no name, which may be made again with this error's `idempotencyKey`, or a `POST` of
 * `RailgateClient.call` without a key. Look first then.
 */
export class ConnectionError extends RailgateError {
  override readonly name: string = "ConnectionError";
}

/** A receipt is not genuine. */
export class ReceiptError extends ValidationError {
  override readonly name: string = "ReceiptError";
}

/** A webhook is not to be trusted. */
export class WebhookError extends ValidationError {
  override readonly name: string = "WebhookError";
}

/** The browser's storage did not do what was asked of it. */
export class StorageError extends RailgateError {
  override readonly name: string = "StorageError";
}

/** The object was disposed of; make another one. */
export class DisposedError extends RailgateError {
  override readonly name: string = "DisposedError";

  /** `what` was used after its end. */
  constructor(what: string) {
    super("disposed", `this ${what} was disposed of; make another one`);
  }
}
