/** What can go wrong between a gateway and its storage, as errors that say what to do. */

import { InternalError, RailgateError, StorageError } from "../errors.js";
import { thrown } from "../problem.js";

/** What the browser's database said, as one of ours. */
export function storageFailure(cause: unknown): RailgateError {
  if (cause instanceof RailgateError) return cause;
  switch (cause instanceof DOMException ? cause.name : "") {
    case "QuotaExceededError":
      return new StorageError("storage_quota", "The browser's storage is full; nothing of this was kept, make room and try again", {
        retryable: true,
        cause,
      });
    case "SecurityError":
      return new StorageError("storage_unavailable", 'The browser lets this page store nothing; open the sandbox with storage: "memory"', {
        cause,
      });
    case "VersionError":
      return new StorageError("storage_version", "A newer version of railgate made this sandbox; reload the page to get that version", {
        cause,
      });
    default:
      return new StorageError("storage_failed", "The browser's storage failed; nothing of this was kept, try again", {
        retryable: true,
        cause,
      });
  }
}

/** For a call whose effect went with a gateway that had to be thrown away. */
export function lostWithOthers(): StorageError {
  return new StorageError("storage_failed", "A call beside this one failed badly; nothing of this was kept, try again", {
    retryable: true,
  });
}

/** Why a gateway could not be made from what is stored. */
export function openingFailure(cause: unknown): Error {
  const error = thrown(cause);
  if (!(error instanceof RailgateError)) return error;
  if (error.code === "journal_version") {
    return new StorageError("storage_version", "A newer version of railgate wrote this sandbox; reload the page to get that version", {
      cause,
    });
  }
  if (error.code === "journal_corrupt") {
    return new StorageError("storage_corrupt", `${error.message}. Nothing was changed; Sandbox.erase deletes it`, { cause });
  }
  return error;
}

/** For a call of which nobody can tell whether it was kept. */
export function outcomeUnknown(message: string, cause?: unknown): StorageError {
  return new StorageError("outcome_unknown", `${message}; look whether it was carried out before you ask again`, { cause });
}

/** An error as another tab can be told of it. */
export interface Trouble {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  /** Of the storage, or of the gateway. */
  readonly storage: boolean;
}

/** To be sent. */
export function troubleOf(error: Error): Trouble {
  const { code, retryable } = error instanceof RailgateError ? error : { code: "internal", retryable: false };
  return { code, message: error.message, retryable, storage: error instanceof StorageError };
}

/** As it was. */
export function errorOf({ code, message, retryable, storage }: Trouble): RailgateError {
  return new (storage ? StorageError : InternalError)(code, message, { retryable });
}

/** Whatever was thrown, as an error. */
export function asError(value: unknown): Error {
  return value instanceof Error ? value : new InternalError("internal", "a fault of this package; please report it", { cause: value });
}
