/**
 * The options of a client, and of each call.
 *
 * @module
 */

import type { Patience } from "./patience.js";
import type { Signer } from "./signer.js";
import type { Environment } from "../types.js";
import type { Vault } from "./vault.js";

/** How to reach a gateway, and with which key. */
export interface ClientOptions {
  /** The address that the gateway calls itself, such as `https://pay.example.com`. It is signed. */
  readonly baseUrl: string;
  /** `sandbox` by default. */
  readonly environment?: Environment;
  /** Where the key and the session are kept; in this origin's IndexedDB by default. */
  readonly vault?: Vault;
  /** A key of your own, kept by yourself; instead of a vault. */
  readonly signer?: Signer;
  /** How long and how often a call is tried. */
  readonly patience?: Partial<Patience>;
  /** Instead of the `fetch` that is here. */
  readonly fetch?: typeof globalThis.fetch;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. What was sent may have been carried out all the same. */
  readonly signal?: AbortSignal | undefined;
}

/** What a create takes. */
export interface CreateOptions extends CallOptions {
  /** Hold the answer until the settlement is final, at most so many seconds, up to 30. */
  readonly waitS?: number | undefined;
}

/** What a reversal takes. */
export interface ReverseOptions extends CallOptions {
  /**
   * Names this call, so that you can repeat it yourself, also after you aborted it; a new one for each call by default, which an
   * error reports where it matters.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Which events. */
export interface EventsOptions extends CallOptions {
  /** Only what comes after this sequence (of a settlement) or position (of the feed). */
  readonly after?: number | undefined;
  /** A page's size, 1 to 200; 50 by default. */
  readonly limit?: number | undefined;
}

/** What following takes. */
export interface FollowOptions extends CallOptions {
  /** Only what comes after this sequence (of a settlement) or position (of the feed). */
  readonly after?: number | undefined;
  /** How often in a row it tries to connect before it gives up; 12 by default, which takes some minutes. */
  readonly attempts?: number | undefined;
}

/** Any other call of the interface. */
export interface RawOptions extends CallOptions {
  /** An object, sent as JSON. */
  readonly body?: object | undefined;
  /** The form of the answer; `application/json` by default. */
  readonly accept?: string | undefined;
  /** Sent as `Idempotency-Key`; makes a `POST` one that may be repeated. */
  readonly idempotencyKey?: string | undefined;
}

/** Forms of a receipt that are text. */
export type ReceiptForm = "application/jose" | "text/html" | "text/plain" | "image/svg+xml";
