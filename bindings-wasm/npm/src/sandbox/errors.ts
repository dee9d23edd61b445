/** Errors between a gateway and its storage; their messages tell the user what to do. */

import { InternalError, RailgateError, StorageError } from "../errors.js";
import { thrown } from "../problem.js";

/** Converts an error of the browser's database to one of ours. */
export function storageFailure(cause: unknown): RailgateError {
  if (cause instanceof RailgateError) return cause;
  switch (cause instanceof DOMException ? cause.name : "") {
    case "QuotaExceededError":
      return new StorageError("storage_quota", "The browser's storage is full; nothing was saved, free some space and try again", {
        retryable: true,
        cause,
      });
    case "SecurityError":
      return new StorageError("storage_unavailable", 'This page may not store anything; open the sandbox with storage: "memory"', {
        cause,
      });
    case "VersionError":
      return new StorageError("storage_version", "A newer version of railgate created this sandbox; reload the page to get that version", {
        cause,
      });
    default:
      return new StorageError("storage_failed", "The browser's storage failed; nothing was saved, try again", {
        retryable: true,
        cause,
      });
  }
}

/** For a call whose effect was lost because another call of its group crashed the gateway. */
export function lostWithOthers(): StorageError {
  return new StorageError("storage_failed", "Another call in the same group crashed; nothing was saved, try again", {
    retryable: true,
  });
}

/** The error when a gateway could not be opened from the stored state. */
export function openingFailure(cause: unknown): Error {
  const error = thrown(cause);
  if (!(error instanceof RailgateError)) return error;
  if (error.code === "journal_version") {
    return new StorageError("storage_version", "A newer version of railgate wrote this sandbox; reload the page to get that version", {
      cause,
    });
  }
  if (error.code === "journal_corrupt") {
    return new StorageError("storage_corrupt", `${error.message}. Nothing was changed; Sandbox.erase deletes the sandbox`, { cause });
  }
  return error;
}

/** For a call whose outcome is unknown. */
export function outcomeUnknown(message: string, cause?: unknown): StorageError {
  return new StorageError("outcome_unknown", `${message}; check whether the call was executed before you repeat it`, { cause });
}

/** An error as sent to another tab. */
export interface Trouble {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  /** Whether it is a `StorageError`. */
  readonly storage: boolean;
}

/** Converts an error for sending. */
export function troubleOf(error: Error): Trouble {
  const { code, retryable } = error instanceof RailgateError ? error : { code: "internal", retryable: false };
  return { code, message: error.message, retryable, storage: error instanceof StorageError };
}

/** Converts a received error back. */
export function errorOf({ code, message, retryable, storage }: Trouble): RailgateError {
  return new (storage ? StorageError : InternalError)(code, message, { retryable });
}

/** Converts any thrown value to an error. */
export function asError(value: unknown): Error {
  return value instanceof Error ? value : new InternalError("internal", "a fault of this package; please report it", { cause: value });
}
