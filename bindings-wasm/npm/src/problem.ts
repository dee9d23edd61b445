/**
* Converts problem documents and errors of the core to this package's errors.
 *
 * @module
 */

import {
  AuthorisationError,
  BusinessRuleError,
  CATEGORIES,
  type ErrorCategory,
  type ErrorCode,
  type ErrorDetails,
  InternalError,
  NotFoundError,
  RailgateError,
  ReceiptError,
  UnavailableError,
  ValidationError,
} from "./errors.js";
import type { Problem } from "./types.js";

type ErrorClass = new (code: ErrorCode, message: string, details?: ErrorDetails) => RailgateError;

const BY_CATEGORY: Readonly<Record<ErrorCategory, ErrorClass>> = {
  validation: ValidationError,
  authorisation: AuthorisationError,
  identification: NotFoundError,
  business_rule: BusinessRuleError,
  service_unavailable: UnavailableError,
  internal: InternalError,
};

/** The class for a problem without a category, by its HTTP status. */
function byStatus(status: number | undefined): ErrorClass {
  if (status === undefined || status >= 500) return status === undefined ? ValidationError : UnavailableError;
  if (status === 401 || status === 403) return AuthorisationError;
  if (status === 404) return NotFoundError;
  if (status === 409) return BusinessRuleError;
  return status === 429 ? UnavailableError : ValidationError;
}

/** Whether a value has the members of a problem document. */
export function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && typeof (value as { code?: unknown }).code === "string";
}

/** The error for a problem document. */
export function problemError(problem: Problem, details: ErrorDetails = {}): RailgateError {
  // A newer gateway may have other categories.
  const category = CATEGORIES.find((known) => known === problem.category);
  const family = category === undefined ? byStatus(problem.status) : BY_CATEGORY[category];
  const kind = problem.code === "receipt_invalid" ? ReceiptError : family;
  return new kind(problem.code, problem.detail ?? problem.title ?? problem.code, {
    category,
    status: problem.status,
    retryable: problem.retryable,
    errors: problem.errors,
    requestId: problem.request_id,
    problem,
    ...details,
  });
}

/** Converts an error of the core, whose message is a problem document, to one of ours. */
export function thrown(error: unknown): Error {
  if (error instanceof RailgateError || error instanceof TypeError) return error;
  if (error instanceof Error) {
    const problem = problemOf(error.message);
    if (problem !== undefined) return problemError(problem);
  }
  return new InternalError("internal", "a fault of this package; please report it", { cause: error });
}

function problemOf(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isProblem(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Runs a call of the core and converts its errors to ours. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw thrown(error);
  }
}
