/**
* Verifies that a webhook comes unaltered from the gateway, and signs some for tests. For Node, workers and browsers.
 *
 * @module
 */

// For projects whose settings lack `Symbol.dispose`; preserved in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import { loadWebhook } from "#load/webhook";
import type { WebhookVerifier as Core } from "../wasm/webhook.js";
import * as check from "./check.js";
import { DisposedError, InternalError, type LocalCode, RailgateError, WebhookError } from "./errors.js";
import { guarded } from "./problem.js";
import { parseView } from "./json.js";
import type { BalanceMovement, EventType, Reversal, Settlement, Webhook } from "./types.js";
import type { Timestamp } from "./values.js";

export { DisposedError, RailgateError, WebhookError } from "./errors.js";
export type { BalanceMovement, EventType, Reversal, Settlement, Webhook } from "./types.js";
export type { Timestamp } from "./values.js";

/** Headers in the forms of common frameworks: a `Headers`, or an object with names in any case (Node's `request.headers`). */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The data of a webhook about a settlement. */
export interface WebhookData extends Settlement {
  /** The event's position in the settlement's trace: drop events older than the latest that you have. */
  readonly sequence: number;
  /** The reversal, if the event is about one. */
  readonly reversal?: Reversal;
}

/** The members of every genuine webhook. */
interface Told {
  /** The event's id, the same in each attempt: drop those that you have already seen. */
  readonly id: string;
  /** When this attempt was made. */
  readonly sentAt: Date;
  /** When the event happened. */
  readonly timestamp: Timestamp;
}

/** The types of events about what an operator of the gateway did to the client's account: money in or out, and credit. */
export type BalanceEventType = Extract<EventType, `balance.${string}`>;

/** The data of a webhook about what an operator of the gateway did to the client's account. */
export interface BalanceData extends BalanceMovement {
  /** 1: there is one event. */
  readonly sequence: number;
}

/** A genuine webhook about a settlement. */
export interface SettlementMessage extends Told {
  /** The type of the event. */
  readonly type: Exclude<EventType, BalanceEventType>;
  /** The settlement as of the event, with amounts as text. */
  readonly data: WebhookData;
}

/** A genuine webhook about what an operator of the gateway did to the client's account: money in or out, and credit. */
export interface BalanceMessageOf<Type extends BalanceEventType> extends Told {
  /** The type of the event. */
  readonly type: Type;
  /** What was done, with amounts as text. */
  readonly data: BalanceData;
}

/** One for each type, so that a check of the type tells what the data is. */
export type BalanceMessage = { [Type in BalanceEventType]: BalanceMessageOf<Type> }[BalanceEventType];

/** A genuine webhook about another webhook of the client, which was disabled. */
export interface DisabledMessage extends Told {
  /** The type of the event. */
  readonly type: "webhook.disabled";
  /** The webhook that was disabled. */
  readonly data: Webhook;
}

/** A genuine webhook; its `type` determines the type of `data`. */
export type WebhookMessage = SettlementMessage | BalanceMessage | DisabledMessage;

const NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/**
* Verifies webhooks (Standard Webhooks 1.0.0) with one secret or, during a rotation, several.
 *
 * ```js
 * const webhooks = await WebhookVerifier.open(process.env.RAILGATE_WEBHOOK_SECRET);
 * const message = webhooks.verify(headers, rawBody); // throws a WebhookError unless it is genuine
 * ```
 */
export class WebhookVerifier {
  #core: Core | undefined;

  private constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Creates a verifier.
   *
   * @param secrets - One or more secrets as the gateway showed them: `whsec_` and base64.
   * @throws {@link WebhookError} if one is not a secret.
   */
  static async open(secrets: string | readonly string[]): Promise<WebhookVerifier> {
    return new WebhookVerifier(await opened(secrets));
  }

  /**
   * Returns the message of a webhook if it is genuine and its timestamp is at most five minutes from now.
   *
   * @param headers - The request's headers.
   * @param body - The body, byte for byte as received: not parsed and serialised again.
   * @param now - The current time, for tests; `Date.now()` by default.
   * @throws {@link WebhookError} if it is not genuine; then respond with 400.
   */
  verify(headers: WebhookHeaders, body: string | Uint8Array | ArrayBuffer, now: Date | number = Date.now()): WebhookMessage {
    const [id, timestamp, signature] = fields(headers);
    if (isParsed(body)) throw new WebhookError("body_parsed", PARSED);
    const raw = check.bytes(body, "body");
    const at = check.instant(now, "now");
    const core = this.#core;
    if (core === undefined) throw new DisposedError("WebhookVerifier");
    trusted(() => core.verify(id, timestamp, signature, raw, at));
    return message(id ?? "", Number(timestamp), raw);
  }

  /**
   * Like {@link WebhookVerifier.verify}, for a `Request` (workers, Deno, Bun, route handlers), whose body it reads.
   *
   * @throws {@link WebhookError} if it is not genuine.
   */
  async verifyRequest(request: Request): Promise<WebhookMessage> {
    if (!check.hasMethods(request, "arrayBuffer")) throw new TypeError("request must be a Request");
    return this.verify(request.headers, await request.arrayBuffer());
  }

  /** Frees the memory with the secrets. */
  dispose(): void {
    this.#core?.free();
    this.#core = undefined;
  }

  /** Calls {@link WebhookVerifier.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** Options of {@link signTestDelivery}. */
export interface TestDeliveryOptions {
  /** The message's id; a new one by default. The same one again is a repeated delivery. */
  readonly id?: string;
  /** When the attempt was made; now by default. */
  readonly at?: Date | number;
}

/** The content of a test delivery. */
export interface TestMessage {
  /** The type of the event. */
  readonly type: string;
  /** When the event happened; now by default. */
  readonly timestamp?: Timestamp;
  /** What your receiver reads: as much of a settlement as it needs. Amounts may be text or numbers. */
  readonly data: object;
}

/** A delivery as the gateway would send it, for tests of a receiver. */
export interface TestDelivery {
  /** The headers of the `POST`. */
  readonly headers: Readonly<Record<"content-type" | "webhook-id" | "webhook-timestamp" | "webhook-signature", string>>;
  /** The body, to be sent byte for byte. */
  readonly body: string;
}

/**
 * Signs a message like the gateway does, so that you can test your receiver without one.
 *
 * ```js
 * const { headers, body } = await signTestDelivery(secret, { type: "settlement.completed", data: { reference: "inv-1" } });
 * await fetch("http://localhost:3000/hook", { method: "POST", headers, body });
 * ```
 *
 * @param secrets - The secret that your receiver has; several, as during a rotation, sign together.
 * @param message - The message, or the text of any body.
 * @throws {@link WebhookError} if a secret is none.
 */
export async function signTestDelivery(
  secrets: string | readonly string[],
  message: string | TestMessage,
  options: TestDeliveryOptions = {},
): Promise<TestDelivery> {
  const { id = `evt_test_${crypto.randomUUID()}`, at = Date.now() } = options;
  if (check.header(id, "options.id").includes(".")) throw new TypeError("options.id must not have a full stop: it separates what is signed");
  const ms = check.instant(at, "options.at");
  const timestamp = new Date(ms).toISOString();
  const body = typeof message === "string" ? message : check.json({ timestamp, ...check.object(message, "message") }, "message");
  const seconds = Math.floor(ms / 1000);
  const core = await opened(secrets);
  try {
    const signature = core.sign(id, seconds, check.bytes(body, "message"));
    const headers = { "webhook-id": id, "webhook-timestamp": String(seconds), "webhook-signature": signature };
    return { headers: { "content-type": "application/json", ...headers }, body };
  } finally {
    core.free();
  }
}

async function opened(secrets: string | readonly string[]): Promise<Core> {
  const all: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  if (all.length === 0) throw new TypeError("secrets must not be empty");
  const texts = all.map((secret) => check.text(secret, "secrets"));
  const { WebhookVerifier: Verifier } = await loadWebhook();
  return trusted(() => new Verifier(texts), "invalid_secret");
}

/** Converts a refusal of the core to a `WebhookError`; internal errors stay as they are. */
function trusted<T>(call: () => T, code?: LocalCode): T {
  try {
    return guarded(call);
  } catch (error) {
    if (!(error instanceof RailgateError) || error instanceof InternalError) throw error;
    throw new WebhookError(code ?? error.code, error.message, { cause: error });
  }
}

/** The three headers; the core reports a missing one. A duplicate counts as missing, because the gateway sends each once. */
function fields(headers: WebhookHeaders): (string | undefined)[] {
  const found = isHeaders(headers) ? (name: string) => headers.get(name) : lookup(check.object(headers, "headers"));
  return NAMES.map((name) => {
    const value = found(name);
    return typeof value === "string" ? value : undefined;
  });
}

const PARSED =
  "the body was parsed, or not read at all, but the signature covers its bytes: pass them as received, in Express with express.raw() instead of express.json()";

/** What frameworks hand on instead of the bytes: parsed JSON, or nothing. */
function isParsed(body: unknown): boolean {
  if (body === undefined || Array.isArray(body)) return true;
  return typeof body === "object" && body !== null && [Object.prototype, null].includes(Object.getPrototypeOf(body) as object | null);
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
    throw new WebhookError("body_malformed", "the signature is valid, but the body is not JSON", { cause });
  }
  const said = read as Pick<WebhookMessage, "type" | "timestamp" | "data">;
  return { id, sentAt: new Date(sentS * 1000), type: said.type, timestamp: said.timestamp, data: said.data } as WebhookMessage;
}
