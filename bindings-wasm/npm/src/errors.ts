/**
* Errors: one class for each family, so that programs can use `instanceof` or `code`.
 *
 * @module
 */

import type { ErrorCategory, FieldProblem, GatewayCode, Problem } from "./types.js";

export { CATEGORIES, GATEWAY_CODES, type ErrorCategory, type GatewayCode } from "./types.js";

/** Every code of an error that this package raises itself, not the gateway. */
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
  "webassembly_forbidden",
  "header_missing",
  "header_malformed",
  "timestamp_too_old",
  "timestamp_too_new",
  "no_matching_signature",
  "body_malformed",
  "body_parsed",
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

/** A code of an error that this package raises itself. */
export type LocalCode = (typeof LOCAL_CODES)[number];

/** Every code that this version knows. A newer gateway may return others. */
export type KnownCode = GatewayCode | LocalCode;

/** The code of an error: a known one, or one of a newer gateway. */
export type ErrorCode = KnownCode | (string & {});

/** The properties of an error besides its code and message. */
export interface ErrorDetails {
  /** The family of the code. */
  readonly category?: ErrorCategory | undefined;
  /** The HTTP status, if there was a response. */
  readonly status?: number | undefined;
  /** It is safe and useful to send the same request again. */
  readonly retryable?: boolean | undefined;
  /** All problems of the request. */
  readonly errors?: readonly FieldProblem[] | undefined;
  /** Identifies the request in the server's log. */
  readonly requestId?: string | undefined;
  /** How long the server asks the client to wait before a retry, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The complete problem document. */
  readonly problem?: Problem | undefined;
  /** The `Idempotency-Key` of a call that may have been executed. */
  readonly idempotencyKey?: string | undefined;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/** The base class of every error of this package, except for the `TypeError` for a wrong argument. */
export class RailgateError extends Error {
  override readonly name: string = "RailgateError";
  /** Stable, for use by programs. */
  readonly code: ErrorCode;
  /** The family of the code, if the gateway sent one. */
  readonly category: ErrorCategory | undefined;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** It is safe and useful to send the same request again. */
  readonly retryable: boolean;
  /** All problems of the request, with JSON pointers; empty if the error is not about particular fields. */
  readonly errors: readonly FieldProblem[];
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined;
  /** How long the server asks the client to wait before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The complete problem document (RFC 9457), if there is one. */
  readonly problem: Problem | undefined;
  /**
   * If the call may have been executed, the `Idempotency-Key` that it was sent with, if any. Repeated with this key, it is not
   * executed twice.
   */
  readonly idempotencyKey: string | undefined;

  /** Creates an error with its code, message and further properties. */
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

/** The request is invalid; `errors` lists the fields. */
export class ValidationError extends RailgateError {
  override readonly name: string = "ValidationError";
}

/** The caller is not allowed to do this, or is not authenticated. */
export class AuthorisationError extends RailgateError {
  override readonly name: string = "AuthorisationError";
}

/** The object does not exist, or it belongs to another client. */
export class NotFoundError extends RailgateError {
  override readonly name: string = "NotFoundError";
}

/** The request is well formed, but the current state forbids it: no funds, already reversed, … */
export class BusinessRuleError extends RailgateError {
  override readonly name: string = "BusinessRuleError";
}

/** The request is valid, but the service is unavailable; try again later. */
export class UnavailableError extends RailgateError {
  override readonly name: string = "UnavailableError";
}

/** A fault of the gateway or of this package. */
export class InternalError extends RailgateError {
  override readonly name: string = "InternalError";
}

/** Why there was no response. `blocked`: a browser does not tell whether it refused the call or could not reach the server. */
export type ConnectionReason =
  | "refused"
  | "unknown_host"
  | "unreachable"
  | "offline"
  | "timeout"
  | "certificate"
  | "broken"
  | "blocked"
  | "proxy"
  | "foreign_response"
  | "unknown";

/** The properties of a {@link ConnectionError}. */
export interface ConnectionDetails extends ErrorDetails {
  /** The address of the attempt that failed last, without its query. */
  readonly url?: string | undefined;
  /** Why there was no response. */
  readonly reason?: ConnectionReason | undefined;
  /** Provably nothing of the call was sent. */
  readonly notSent?: boolean | undefined;
}

/**
* There was no response. If `notSent` is true, the call was not executed. Otherwise nobody knows: there was no response, or an attempt
* got none and a later attempt failed for another reason (the `cause`) that does not tell.
 *
* If it is `retryable`, repeat the same call to find out; nothing is done twice. If not, a repetition would be a new call: a
 * reversal without a reference or key of yours, which you can repeat with this error's `idempotencyKey`, or a `POST` of
 * `RailgateClient.call` without a key. In that case check the state first.
 */
export class ConnectionError extends RailgateError {
  override readonly name: string = "ConnectionError";
  /** The address of the attempt that failed last, without its query. */
  readonly url: string | undefined;
  /** Why there was no response. */
  readonly reason: ConnectionReason;
  /** Provably nothing of the call was sent, in any attempt: it was not executed. */
  readonly notSent: boolean;

  /** Creates an error with its code, message and further properties. */
  constructor(code: ErrorCode, message: string, details: ConnectionDetails = {}) {
    super(code, message, details);
    this.url = details.url;
    this.reason = details.reason ?? "unknown";
    this.notSent = details.notSent ?? false;
  }
}

/** A receipt is not genuine. */
export class ReceiptError extends ValidationError {
  override readonly name: string = "ReceiptError";
}

/** A webhook is not genuine. */
export class WebhookError extends ValidationError {
  override readonly name: string = "WebhookError";
}

/** An operation of the browser's storage failed. */
export class StorageError extends RailgateError {
  override readonly name: string = "StorageError";
}

/** The object was disposed of; create a new one. */
export class DisposedError extends RailgateError {
  override readonly name: string = "DisposedError";

  /** `what` is the kind of object that was used after its disposal. */
  constructor(what: string) {
    super("disposed", `this ${what} was disposed of; create a new one`);
  }
}
