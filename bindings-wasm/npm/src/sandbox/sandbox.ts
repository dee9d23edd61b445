/** The sandbox: a whole gateway in a tab, or in a Node process. */

// For projects whose settings do not bring `Symbol.dispose`; kept in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import * as check from "../check.js";
import { DisposedError } from "../errors.js";
import { problemError } from "../problem.js";
import { parseView } from "../json.js";
import type {
  Balance,
  CheckResult,
  CreateRequest,
  FeedPage,
  Page,
  Problem,
  Receipt,
  ReconcileResult,
  Reversal,
  ReverseRequest,
  ReverseResult,
  Scenario,
  Settlement,
  SettlementEvent,
  StatusView,
} from "../types.js";
import type { AmountInput, Created, JsonWebKeySet, ListFilter, Timestamp } from "../values.js";
import { eraseDatabase } from "./indexeddb.js";
import { openPort, type PortOptions } from "./open.js";
import type { Port } from "./port.js";
import { type Sheet, drawn } from "./sheet.js";
import { EventWatch } from "./watch.js";

/** How a sandbox is opened. */
export interface SandboxOptions {
  /** Names it among others of the page's origin; `sandbox` by default. Tabs that open the same name share one sandbox. */
  readonly name?: string;
  /**
   * Where it is kept. `indexeddb`: in the browser, until it is erased; every answer is durable before it is given.
   * `memory`: for as long as the object lives, shared with nobody. By default: IndexedDB where there is one, as in every
   * browser, and memory elsewhere, as in Node.
   */
  readonly storage?: "indexeddb" | "memory";
  /**
   * 32 bytes that all ids and keys are drawn from, for tests and demonstrations that must come out the same each time
   * (give `now` as well). Random by default.
   */
  readonly seed?: Uint8Array;
  /** The clock, in Unix milliseconds; `Date.now` by default. */
  readonly now?: () => number;
  /** Gives up opening, such as while another tab that has the sandbox hangs. */
  readonly signal?: AbortSignal;
}

/** For every call. */
export interface CallOptions {
  /** Gives up waiting for the answer; what has begun is carried out all the same. */
  readonly signal?: AbortSignal;
}

/** A part of a list of events. */
export interface EventsQuery {
  /** Only those after this sequence (or, in the feed, position). */
  readonly after?: number;
  /** At most so many. */
  readonly limit?: number;
}

/** What to watch. */
export interface WatchOptions {
  /** Begins after this position of the feed; by default with the first event. */
  readonly after?: number;
  /** Only the events of this settlement: its reference or its id. */
  readonly settlement?: string;
  /** Ends it: the iterator throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The sandbox's clock, which drives expiry, inquiries and late answers. */
export interface Clock {
  /** What it shows. */
  readonly now: Timestamp;
  /** It stands still. */
  readonly frozen: boolean;
  /** How far it was put ahead, in milliseconds. */
  readonly ahead_ms: number;
}

/** A change of the sandbox's clock. */
export interface ClockChange {
  /** Stop it, or let it run. */
  readonly frozen?: boolean;
  /** Put it forward; everything that falls due on the way happens, each at its own time. */
  readonly advance_ms?: number;
}

/** Play money to be added. */
export interface FundRequest {
  /** How much. */
  readonly amount: AmountInput;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** Forms of a receipt that are text. */
export type ReceiptForm = "application/jose" | "text/html" | "text/plain" | "image/svg+xml";

type Answer = { readonly ok: unknown; readonly replayed?: boolean } | { readonly error: Problem };

const READS = new Set([
  "check",
  "get",
  "status",
  "list",
  "events",
  "feed",
  "reversals",
  "reversal",
  "receipt",
  "keys",
  "balances",
  "balance",
  "scenarios",
  "clock",
]);

/**
 * A settlement gateway of your own: no server, no network, no real money. Payments run as they would at the operators, by
 * the simulator: whom to pay to see what, {@link Sandbox.scenarios} tells.
 *
 * ```js
 * import { Sandbox } from "railgate";
 *
 * const sandbox = await Sandbox.open();
 * await sandbox.create({ amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1" });
 * for await (const { event } of sandbox.watch()) console.log(event.reference, event.type);
 * ```
 *
 * In a browser everything is kept in IndexedDB. An answer is given when its effect is durable, and tabs that have the same
 * sandbox open see the same things, live. Every method rejects with a {@link RailgateError}, or a `TypeError` for an
 * argument of a wrong type.
 */
export class Sandbox {
  #port: Port | undefined;

  private constructor(port: Port) {
    this.#port = port;
  }

  /**
   * Opens the sandbox, and makes it the first time: a client with funded accounts.
   *
   * @throws {@link StorageError} where the browser's storage is unavailable, not whole or of a newer version.
   */
  static async open(options: SandboxOptions = {}): Promise<Sandbox> {
    return new Sandbox(await openPort(checked(options)));
  }

  /** Deletes a stored sandbox for ever. Tabs that have it open are told so by `storage_erased`. */
  static async erase(name = "sandbox"): Promise<void> {
    await eraseDatabase(check.filled(name, "name"));
  }

  /** Whether this tab does the work for all tabs of the sandbox. Another one takes over when it is closed. */
  get leads(): boolean {
    return this.#open().leads;
  }

  /**
   * Makes a settlement. The same request again makes nothing new and gives the settlement as it stands.
   *
   * @throws {@link ValidationError} with everything that is wrong; {@link BusinessRuleError} such as `insufficient_funds`
   * or, where the reference was used for something else, `reference_conflict`.
   */
  async create(request: CreateRequest, options?: CallOptions): Promise<Created> {
    const { ok, replayed } = await this.#ask<Settlement>("create", { body: check.object(request, "request") }, options);
    return { settlement: ok, replayed };
  }

  /** What a create with this request would meet now: problems, route, fee and payee. Changes nothing. */
  async check(request: CreateRequest, options?: CallOptions): Promise<CheckResult> {
    return (await this.#ask<CheckResult>("check", { body: check.object(request, "request") }, options)).ok;
  }

  /** A settlement, by its reference or id. */
  async get(ref: string, options?: CallOptions): Promise<Settlement> {
    return (await this.#ask<Settlement>("get", { ref: check.filled(ref, "ref") }, options)).ok;
  }

  /** Where a settlement stands. */
  async status(ref: string, options?: CallOptions): Promise<StatusView> {
    return (await this.#ask<StatusView>("status", { ref: check.filled(ref, "ref") }, options)).ok;
  }

  /** Where a settlement stands once nothing more happens by itself. Waits for that; a signal ends the waiting. */
  async settled(ref: string, options?: CallOptions): Promise<StatusView> {
    const signal = check.signal(options?.signal, "signal") ?? new AbortController().signal;
    const { changes } = this.#open();
    for (;;) {
      const { count } = changes;
      const status = await this.status(ref, { signal });
      if (status.final) return status;
      await changes.after(count, signal);
    }
  }

  /** Settlements, newest first. */
  async list(filter: ListFilter = {}, options?: CallOptions): Promise<Page<Settlement>> {
    return (await this.#ask<Page<Settlement>>("list", { query: check.object(filter, "filter") }, options)).ok;
  }

  /** A settlement's trace, oldest first. */
  async events(ref: string, query: EventsQuery = {}, options?: CallOptions): Promise<Page<SettlementEvent>> {
    const members = { ref: check.filled(ref, "ref"), query: check.object(query, "query") };
    return (await this.#ask<Page<SettlementEvent>>("events", members, options)).ok;
  }

  /** The events of all settlements in their one order, oldest first. */
  async feed(query: EventsQuery = {}, options?: CallOptions): Promise<FeedPage> {
    return (await this.#ask<FeedPage>("feed", { query: check.object(query, "query") }, options)).ok;
  }

  /** The events of all settlements, or of one, as they happen: in this tab or another. */
  watch(options: WatchOptions = {}): EventWatch {
    const { changes } = this.#open();
    const { settlement } = options;
    if (settlement !== undefined) check.filled(settlement, "settlement");
    return new EventWatch({
      changes,
      read: (after, signal) => this.feed({ after }, { signal }),
      after: options.after === undefined ? 0 : check.whole(options.after, "after", 0),
      wanted: ({ event }) => settlement === undefined || settlement === event.reference || settlement === event.settlement_id,
      signal: check.signal(options.signal, "signal"),
    });
  }

  /**
   * Undoes a settlement, in whole or in part. One of which nothing was sent yet is cancelled.
   *
   * @throws {@link BusinessRuleError} such as `settlement_in_flight` or `reversal_exceeds_remaining`.
   */
  async reverse(ref: string, request: ReverseRequest = {}, options?: CallOptions): Promise<ReverseResult> {
    const members = { ref: check.filled(ref, "ref"), body: check.object(request, "request") };
    return (await this.#ask<ReverseResult>("reverse", members, options)).ok;
  }

  /** A settlement's reversals, oldest first. */
  async reversals(ref: string, options?: CallOptions): Promise<readonly Reversal[]> {
    return (await this.#ask<{ data: readonly Reversal[] }>("reversals", { ref: check.filled(ref, "ref") }, options)).ok.data;
  }

  /** One reversal of a settlement. */
  async reversal(ref: string, id: string, options?: CallOptions): Promise<Reversal> {
    return (await this.#ask<Reversal>("reversal", { ref: check.filled(ref, "ref"), id: check.filled(id, "id") }, options)).ok;
  }

  /** Asks the simulated operator now and compares: record, books, trace and operator. */
  async reconcile(ref: string, options?: CallOptions): Promise<ReconcileResult> {
    return (await this.#ask<ReconcileResult>("reconcile", { ref: check.filled(ref, "ref") }, options)).ok;
  }

  /** The signed receipt of a completed settlement. */
  async receipt(ref: string, options?: CallOptions): Promise<Receipt> {
    return (await this.#ask<Receipt>("receipt", { ref: check.filled(ref, "ref") }, options)).ok;
  }

  /** The receipt as text: a page to print, plain text, its QR code as SVG, or the compact JWS alone. */
  async receiptAs(ref: string, form: ReceiptForm, options?: CallOptions): Promise<string> {
    const members = { ref: check.filled(ref, "ref"), accept: check.filled(form, "form") };
    return drawn((await this.#ask<Sheet>("receipt", members, options)).ok);
  }

  /** The public keys that receipts are verified by. */
  async jwks(options?: CallOptions): Promise<JsonWebKeySet> {
    return (await this.#ask<JsonWebKeySet>("keys", {}, options)).ok;
  }

  /** What the accounts hold. */
  async balances(options?: CallOptions): Promise<readonly Balance[]> {
    return (await this.#ask<{ data: readonly Balance[] }>("balances", {}, options)).ok.data;
  }

  /** What the account in one currency holds. */
  async balance(currency: string, options?: CallOptions): Promise<Balance> {
    return (await this.#ask<Balance>("balance", { currency: check.filled(currency, "currency") }, options)).ok;
  }

  /** Adds play money. */
  async fund(request: FundRequest, options?: CallOptions): Promise<Balance> {
    return (await this.#ask<Balance>("fund", { body: check.object(request, "request") }, options)).ok;
  }

  /** Whom to pay to see what. */
  async scenarios(options?: CallOptions): Promise<readonly Scenario[]> {
    return (await this.#ask<{ data: readonly Scenario[] }>("scenarios", {}, options)).ok.data;
  }

  /** What the sandbox's clock shows. */
  async clock(options?: CallOptions): Promise<Clock> {
    return (await this.#ask<Clock>("clock", {}, options)).ok;
  }

  /** Stops the clock, lets it run, or puts it forward: a day's waiting in a moment. */
  async setClock(change: ClockChange, options?: CallOptions): Promise<Clock> {
    return (await this.#ask<Clock>("set_clock", { body: check.object(change, "change") }, options)).ok;
  }

  /** Lets go of the sandbox; another tab takes over. What was stored stays. Resolves when all of that is done. */
  async close(): Promise<void> {
    const port = this.#port;
    this.#port = undefined;
    await port?.close();
  }

  /** As {@link Sandbox.close}, without waiting: for `using`. */
  [Symbol.dispose](): void {
    void this.close();
  }

  /** As {@link Sandbox.close}: for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(): Port {
    if (this.#port === undefined) throw new DisposedError("Sandbox");
    return this.#port;
  }

  async #ask<T>(call: string, members: object, options?: CallOptions): Promise<{ readonly ok: T; readonly replayed: boolean }> {
    const port = this.#open();
    const signal = check.signal(options?.signal, "signal");
    signal?.throwIfAborted();
    const asked = port.request(JSON.stringify({ call, ...members }), { mutates: !READS.has(call), signal });
    const answer = parseView(await unlessAborted(asked, signal)) as Answer;
    if ("error" in answer) throw problemError(answer.error);
    return { ok: answer.ok as T, replayed: answer.replayed === true };
  }
}

function unlessAborted<T>(asked: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return asked;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    asked.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function checked(options: SandboxOptions): PortOptions {
  check.object(options, "options");
  const { name = "sandbox", storage, seed, now = Date.now } = options;
  check.filled(name, "name");
  if (storage !== undefined && storage !== "indexeddb" && storage !== "memory") {
    throw new TypeError('storage must be "indexeddb" or "memory"');
  }
  if (seed !== undefined && !(seed instanceof Uint8Array && seed.length === 32))
    throw new TypeError("seed must be a Uint8Array of 32 bytes");
  if (typeof now !== "function") throw new TypeError("now must be a function");
  return {
    name,
    signal: check.signal(options.signal, "signal"),
    memory: (storage ?? (typeof indexedDB === "undefined" ? "memory" : "indexeddb")) === "memory",
    seed,
    now: () => Math.floor(check.number(now(), "now()")),
  };
}
