/**
 * Webhooks: whether one comes from the gateway as it is. For Node, workers and browsers.
 *
 * @module
 */

// For projects whose settings do not bring `Symbol.dispose`; kept in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import { loadWebhook } from "#load/webhook";
import type { WebhookVerifier as Core } from "../wasm/webhook.js";
import * as check from "./check.js";
import { DisposedError, InternalError, type LocalCode, RailgateError, WebhookError } from "./errors.js";
import { guarded } from "./problem.js";
import { parseView } from "./json.js";
import type { EventType, Reversal, Settlement } from "./types.js";
import type { Timestamp } from "./values.js";

export { DisposedError, RailgateError, WebhookError } from "./errors.js";
export type { EventType, Reversal, Settlement } from "./types.js";
export type { Timestamp } from "./values.js";

/** Headers as frameworks have them: a `Headers`, or an object with names in any case (Node's `request.headers`). */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** What a webhook about a settlement says. */
export interface WebhookData extends Settlement {
  /** The event's place in the settlement's trace: drop what is older than what you have. */
  readonly sequence: number;
  /** The reversal that the event is about, where it is about one. */
  readonly reversal?: Reversal;
}

/** A webhook of the client, as the gateway shows it. */
export interface Webhook {
  /** `whk_` and a ULID. */
  readonly id: string;
  /** Where deliveries go; shown to others without its query. */
  readonly url: string;
  /** The types of events that it receives. */
  readonly events: readonly WebhookMessage["type"][];
  /** It receives all types of events, including future ones. */
  readonly all_events: boolean;
  /** What its owner calls it. */
  readonly description: string | null;
  /** `disabled` by its owner, `gone` (it answered 410), or `failing` (five days of failures only). */
  readonly status: "enabled" | "disabled" | "gone" | "failing";
  /** Since when every delivery has failed. */
  readonly failing_since: Timestamp | null;
  /** When it was made. */
  readonly created_at: Timestamp;
  /** When it last changed. */
  readonly updated_at: Timestamp;
}

/** What every genuine webhook says. */
interface Told {
  /** The event's id, the same on each try: drop what you have seen. */
  readonly id: string;
  /** When this try was made. */
  readonly sentAt: Date;
  /** When it happened. */
  readonly timestamp: Timestamp;
}

/** A genuine webhook about a settlement. */
export interface SettlementMessage extends Told {
  /** What happened. */
  readonly type: EventType;
  /** The settlement as the event left it, with amounts as text. */
  readonly data: WebhookData;
}

/** A genuine webhook about another webhook of the client, which was disabled. */
export interface DisabledMessage extends Told {
  /** What happened. */
  readonly type: "webhook.disabled";
  /** The one that was disabled. */
  readonly data: Webhook;
}

/** A genuine webhook; its `type` says what `data` is. */
export type WebhookMessage = SettlementMessage | DisabledMessage;

const NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/**
 * Verifies webhooks (Standard Webhooks 1.0.0) with one or, while a secret is being changed, several secrets.
 *
 * ```js
 * const webhooks = await WebhookVerifier.open(process.env.WEBHOOK_SECRET);
 * const message = webhooks.verify(headers, rawBody); // throws a WebhookError unless it is genuine
 * ```
 */
export class WebhookVerifier {
  #core: Core | undefined;

  private constructor(core: Core) {
    this.#core = core;
  }

  /**
   * A verifier.
   *
   * @param secrets - `whsec_` and base64, as the gateway showed it; or several.
   * @throws {@link WebhookError} where one is not a secret.
   */
  static async open(secrets: string | readonly string[]): Promise<WebhookVerifier> {
    const all: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
    if (all.length === 0) throw new TypeError("secrets must not be empty");
    const texts = all.map((secret) => check.text(secret, "secrets"));
    const { WebhookVerifier: Verifier } = await loadWebhook();
    return new WebhookVerifier(trusted(() => new Verifier(JSON.stringify(texts)), "invalid_secret"));
  }

  /**
   * What a webhook says, if it is genuine and was sent within the last five minutes.
   *
   * @param headers - The request's headers.
   * @param body - The body, byte for byte as received: not parsed and serialised again.
   * @param now - The time, for tests; the clock by default.
   * @throws {@link WebhookError} unless it is genuine. Answer 400 then.
   */
  verify(headers: WebhookHeaders, body: string | Uint8Array | ArrayBuffer, now: Date | number = Date.now()): WebhookMessage {
    const [id, timestamp, signature] = fields(headers);
    const raw = check.bytes(body, "body");
    const at = check.instant(now, "now");
    const core = this.#core;
    if (core === undefined) throw new DisposedError("WebhookVerifier");
    trusted(() => core.verify(id, timestamp, signature, raw, at));
    return message(id ?? "", Number(timestamp), raw);
  }

  /**
   * The same for a `Request` (workers, Deno, Bun, route handlers): reads its body.
   *
   * @throws {@link WebhookError} unless it is genuine.
   */
  async verifyRequest(request: Request): Promise<WebhookMessage> {
    if (!check.hasMethods(request, "arrayBuffer")) throw new TypeError("request must be a Request");
    return this.verify(request.headers, await request.arrayBuffer());
  }

  /** Frees the secrets' memory. */
  dispose(): void {
    this.#core?.free();
    this.#core = undefined;
  }

  /** The same, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** What the core refuses, as an error of webhooks; its own faults stay faults. */
function trusted<T>(call: () => T, code?: LocalCode): T {
  try {
    return guarded(call);
  } catch (error) {
    if (!(error instanceof RailgateError) || error instanceof InternalError) throw error;
    throw new WebhookError(code ?? error.code, error.message, { cause: error });
  }
}

/** The three headers; the core says which is missing. One that came twice is not one that the gateway sent. */
function fields(headers: WebhookHeaders): (string | undefined)[] {
  const found = isHeaders(headers) ? (name: string) => headers.get(name) : lookup(check.object(headers, "headers"));
  return NAMES.map((name) => {
    const value = found(name);
    return typeof value === "string" ? value : undefined;
  });
}

function isHeaders(headers: WebhookHeaders): headers is Headers {
  return check.hasMethods(headers, "get", "has");
}

function lookup(headers: Readonly<Record<string, unknown>>): (name: string) => unknown {
  const names = Object.keys(headers);
  return (name) => {
    const key = names.find((known) => known.toLowerCase() === name);
    const value = key === undefined ? undefined : headers[key];
    return Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
  };
}

function message(id: string, sentS: number, raw: Uint8Array): WebhookMessage {
  let read: unknown;
  try {
    read = parseView(new TextDecoder("utf-8", { fatal: true }).decode(raw));
  } catch (cause) {
    throw new WebhookError("body_malformed", "the signature fits, and the body is not JSON", { cause });
  }
  const said = read as Pick<WebhookMessage, "type" | "timestamp" | "data">;
  return { id, sentAt: new Date(sentS * 1000), type: said.type, timestamp: said.timestamp, data: said.data } as WebhookMessage;
}
