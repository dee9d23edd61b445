/**
* The options of a client and of each call.
 *
 * @module
 */

import type { QrOptions } from "../qr.js";
import type { Hooks } from "./hooks.js";
import type { Patience } from "./patience.js";
import type { Signer } from "./signer.js";
import type { Routes } from "../routes.js";
import type { Environment } from "../types.js";
import type { Json } from "../values.js";
import type { Vault } from "./vault.js";

/** How to reach a gateway, and with which key. */
export interface ClientOptions {
  /** The gateway's public address, such as `https://pay.example.com`. It is signed. */
  readonly baseUrl: string;
  /** `sandbox` by default. */
  readonly environment?: Environment;
  /** Stores the key and the session; by default in this origin's IndexedDB. */
  readonly vault?: Vault;
  /** A key that you store yourself, instead of a vault. */
  readonly signer?: Signer;
  /** Limits on attempts, timeouts and backoff. */
  readonly patience?: Partial<Patience>;
  /** A replacement for the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Called around each HTTP request, for logs and traces. */
  readonly hooks?: Hooks;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call: it rejects with the signal's reason. If it was already sent, it may still be executed. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a receipt in a readable form. Those of a drawing are for its QR code, `image/svg+xml`. */
export interface ReceiptOptions extends CallOptions, QrOptions {}

/** Options of an enrolment. */
export interface EnrollOptions extends CallOptions {
  /** The code of an invitation (`inv_…`), for a gateway whose operator invites its clients. */
  readonly invitation?: string | undefined;
}

/** What an app says of the device that enrols. */
export interface DeviceFacts {
  /** The platform, such as `web`, `android` or `ios`. */
  readonly platform: string;
  /** The version of the app. */
  readonly appVersion?: string | undefined;
  /** The model of the device. */
  readonly model?: string | undefined;
  /** What its owner calls it. */
  readonly name?: string | undefined;
}

/** Options of waiting for a settlement. */
export interface SettledOptions extends CallOptions {
  /** Waits for its reversals too: until none is in flight. */
  readonly reversals?: boolean | undefined;
}

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /** For how many seconds the response may wait until the settlement is final; at most 30. */
  readonly waitS?: number | undefined;
}

/** Options of a reversal. */
export interface ReverseOptions extends CallOptions {
  /**
   * Identifies this call, so that you can repeat it yourself, also after you aborted it. By default each call gets a new key, which
   * an error reports if you need it.
   */
  readonly idempotencyKey?: string | undefined;
}

/** How much is on a page. */
export interface PageOptions extends CallOptions {
  /** The size of a page, 1 to 200; 50 by default. */
  readonly limit?: number | undefined;
}

/** Selects a page of events. */
export interface EventsOptions extends PageOptions {
  /** Only events after this sequence (of a settlement) or position (of the feed). */
  readonly after?: number | undefined;
}

/** Selects a page of the feed. */
export interface FeedOptions extends EventsOptions {
  /** The epoch that `after` is of, from an earlier page: if a backup was restored since, the call is refused (`epoch_changed`). */
  readonly epoch?: number | undefined;
}

/** Options of following anything, after a place of this kind. */
export interface FollowAfter<T> extends CallOptions {
  /** Only what comes after this: the sequence of an event of a settlement, a position of the feed, the id of a notification. */
  readonly after?: T | undefined;
  /** How many failed connections in a row end it; 12 by default, which takes some minutes. */
  readonly attempts?: number | undefined;
}

/** Options of following events. */
export type FollowOptions = FollowAfter<number>;

/** Options of following the feed. */
export interface FollowFeedOptions extends FollowOptions {
  /** The epoch that `after` is of, from a page: if a backup was restored since, following ends with `epoch_changed`. */
  readonly epoch?: number | undefined;
}

/** Selects the lines of a statement. */
export type StatementFilter = NonNullable<Routes["/balances/{currency}/entries"]["GET"]["query"]>;

/** Selects the deliveries of a webhook. */
export type DeliveryFilter = NonNullable<Routes["/webhooks/{id}/deliveries"]["GET"]["query"]>;

/** Options of {@link RailgateClient.raw}. */
export interface RawOptions extends CallOptions {
  /** An object, sent as JSON. */
  readonly body?: object | undefined;
  /** The media type of the response; `application/json` by default. */
  readonly accept?: string | undefined;
  /** Sent as `Idempotency-Key`; makes a `POST` repeatable. */
  readonly idempotencyKey?: string | undefined;
}

/** The response to {@link RailgateClient.raw}. */
export interface RawAnswer {
  /** The HTTP status, 200 to 299. */
  readonly status: number;
  /** The response headers. */
  readonly headers: Headers;
  /** The body. */
  readonly bytes: Uint8Array;
  /** Returns the body as text. */
  text(): string;
  /** Returns the body as JSON, with amounts as text. */
  json(): Json;
}

/** The media types of a receipt that are text. */
export type ReceiptForm = "application/jose" | "text/html" | "text/plain" | "image/svg+xml";
