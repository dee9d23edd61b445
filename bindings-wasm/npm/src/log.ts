/**
 * Verifies, offline, that a settlement's events are what was recorded, and that the gateway's transparency log has them.
 *
 * @module
 */

import { loadLog } from "#load/log";
import * as check from "./check.js";
import { guarded } from "./problem.js";
import type { SettlementEvent } from "./types.js";

export { RailgateError } from "./errors.js";
export type { SettlementEvent } from "./types.js";

/** An event is in the log, under a checkpoint that the log has signed. */
export interface Included {
  /** Always `true`. */
  readonly included: true;
  /** The name of the log. */
  readonly log: string;
  /** The verifier key that the checkpoint is signed with. */
  readonly key: string;
  /** How many events the log had. */
  readonly size: number;
  /** The place of the event among them, from 0. */
  readonly index: number;
  /** The root of the tree, lower-case hexadecimal. */
  readonly root: string;
}

/** A proof that does not prove what it should. */
export interface NotIncluded {
  /** Always `false`. */
  readonly included: false;
  /** Why, in English. */
  readonly reason: string;
}

/**
 * Verifies the proof that an event is in the log: the path from its leaf to the root, and the signature of the checkpoint.
 *
 * @param proof - The text of the C2SP tlog-proof: `proof` of `RailgateClient.proof`, or a `.tlog-proof` file.
 * @param eventHash - The hash of the event, lower-case hexadecimal: compute it from the events with {@link verifyTrace}.
 * @param keys - The log's verifier keys, one a line, such as `await client.log.keys()`. Keep a copy that you trust.
 */
export async function verifyLogProof(proof: string, eventHash: string, keys: string): Promise<Included | NotIncluded> {
  const given = [check.text(proof, "proof"), check.text(eventHash, "eventHash"), check.text(keys, "keys")] as const;
  const { verify_log_proof } = await loadLog();
  return JSON.parse(guarded(() => verify_log_proof(...given))) as Included | NotIncluded;
}

/** What {@link verifyTrace} found. */
export type TraceVerdict =
  | {
      /** Every event has its hash, and follows the one before. */
      readonly unbroken: true;
      /** The hash of the last event, which covers all of them. */
      readonly head: string;
    }
  | {
      /** An event was changed, removed or moved. */
      readonly unbroken: false;
      /** The sequence number of the first event that does not fit; 1 if there is none at all. */
      readonly broken_at: number;
    };

/**
 * Verifies the trace of a settlement: computes the hash of each event, which covers the one before.
 *
 * @param events - All events of the settlement from the first one, as the gateway sent them.
 */
export async function verifyTrace(events: readonly SettlementEvent[]): Promise<TraceVerdict> {
  if (!Array.isArray(events)) throw new TypeError("events must be an array");
  const given = JSON.stringify(events);
  const { verify_trace } = await loadLog();
  return JSON.parse(guarded(() => verify_trace(given))) as TraceVerdict;
}
