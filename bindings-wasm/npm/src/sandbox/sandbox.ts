/** The sandbox: a complete gateway in a tab or a Node process. */

// For projects whose settings lack `Symbol.dispose`; preserved in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import * as check from "../check.js";
import { DisposedError } from "../errors.js";
import { problemError } from "../problem.js";
import { parseView } from "../json.js";
import type {
  AdvanceRequest,
  Balance,
  CheckResult,
  Clock,
  ClockChange,
  CreateRequest,
  Faults,
  FaultsRequest,
  FeedPage,
  FundRequest,
  Page,
  Problem,
  Receipt,
  ReconcileResult,
  ResetResult,
  Reversal,
  ReverseRequest,
  ReverseResult,
  Scenario,
  Settlement,
  SettlementEvent,
  StatusView,
} from "../types.js";
import type { Created, JsonWebKeySet, ListFilter } from "../values.js";
import { eraseDatabase } from "./indexeddb.js";
import { openPort, type PortOptions } from "./open.js";
import type { Port } from "./port.js";
import { type Sheet, drawn } from "./sheet.js";
import { EventWatch } from "./watch.js";

/** Options for opening a sandbox. */
export interface SandboxOptions {
  /** The name, unique within the page's origin; `sandbox` by default. Tabs that open the same name share one sandbox. */
  readonly name?: string;
  /**
   * Where the state is stored. `indexeddb`: in the browser, until it is erased; a call resolves only when its effect is durable.
   * `memory`: for the lifetime of the object, not shared. By default IndexedDB if available, as in every
   * browser, and otherwise memory, as in Node.
   */
  readonly storage?: "indexeddb" | "memory";
  /**
   * 32 bytes from which all ids and keys are derived, for reproducible tests and demonstrations (set `now` as well).
   * Random by default.
   */
  readonly seed?: Uint8Array;
  /** The clock, in Unix milliseconds; `Date.now` by default. */
  readonly now?: () => number;
  /** Aborts opening, for example while another tab that has the sandbox hangs. */
  readonly signal?: AbortSignal;
}

/** Options of every call. */
export interface CallOptions {
  /** Stops waiting for the result; a call that has begun is executed anyway. */
  readonly signal?: AbortSignal;
}

/** Selects a page of events. */
export interface EventsQuery {
  /** Only events after this sequence (of a settlement) or position (of the feed). */
  readonly after?: number;
  /** The maximum number of events. */
  readonly limit?: number;
}

/** Options of {@link Sandbox.watch}. */
export interface WatchOptions {
  /** The position of the feed to start after; by default the watch starts with the first event. */
  readonly after?: number;
  /** Only events of the settlement with this reference or id. */
  readonly settlement?: string;
  /** Ends the watch: the iterator throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The media types of a receipt that are text. */
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
  "faults",
  "scenarios",
  "clock",
]);

/**
* A settlement gateway without server, network or real money. A simulated operator carries out payments;
 * {@link Sandbox.scenarios} lists its payees and what happens to payments to them.
 *
 * ```js
 * import { Sandbox } from "railgate";
 *
 * const sandbox = await Sandbox.open();
 * await sandbox.create({ amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1" });
 * for await (const { event } of sandbox.watch()) console.log(event.reference, event.type);
 * ```
 *
* In a browser everything is stored in IndexedDB. A call resolves when its effect is durable, and tabs that have the same
 * sandbox open see the same state, live. Every method rejects with a {@link RailgateError}, or a `TypeError` for an
 * argument of the wrong type.
 */
export class Sandbox {
  #port: Port | undefined;

  private constructor(port: Port) {
    this.#port = port;
  }

  /**
   * Opens the sandbox; the first time, creates a client with funded accounts.
   *
   * @throws {@link StorageError} if the browser's storage is unavailable, damaged or from a newer version.
   */
  static async open(options: SandboxOptions = {}): Promise<Sandbox> {
    return new Sandbox(await openPort(checked(options)));
  }

  /** Deletes a stored sandbox permanently. Tabs that have it open get the error `storage_erased`. */
  static async erase(name = "sandbox"): Promise<void> {
    await eraseDatabase(check.filled(name, "name"));
  }

  /** Whether this tab is the leader, which does the work for all tabs of the sandbox. When it is closed, another takes over. */
  get leads(): boolean {
    return this.#open().leads;
  }

  /**
   * Creates a settlement. A repetition of the same request creates nothing new and returns the settlement in its current state.
   *
   * @throws {@link ValidationError} with all problems; {@link BusinessRuleError} such as `insufficient_funds`
   * or, if the reference was used for a different request, `reference_conflict`.
   */
  async create(request: CreateRequest, options?: CallOptions): Promise<Created> {
    const { ok, replayed } = await this.#ask<Settlement>("create", { body: check.object(request, "request") }, options);
    return { settlement: ok, replayed };
  }

  /** Returns what a create with this request would find now: problems, route, fee and payee. Changes nothing. */
  async check(request: CreateRequest, options?: CallOptions): Promise<CheckResult> {
    return (await this.#ask<CheckResult>("check", { body: check.object(request, "request") }, options)).ok;
  }

  /** Returns a settlement, by its reference or id. */
  async get(ref: string, options?: CallOptions): Promise<Settlement> {
    return (await this.#ask<Settlement>("get", { ref: check.filled(ref, "ref") }, options)).ok;
  }

  /** Returns the status of a settlement. */
  async status(ref: string, options?: CallOptions): Promise<StatusView> {
    return (await this.#ask<StatusView>("status", { ref: check.filled(ref, "ref") }, options)).ok;
  }

  /** Waits until a settlement no longer changes by itself and returns its status; a signal ends the wait. */
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

  /** Returns a page of settlements, newest first. */
  async list(filter: ListFilter = {}, options?: CallOptions): Promise<Page<Settlement>> {
    return (await this.#ask<Page<Settlement>>("list", { query: check.object(filter, "filter") }, options)).ok;
  }

  /** Returns a page of a settlement's trace, oldest first. */
  async events(ref: string, query: EventsQuery = {}, options?: CallOptions): Promise<Page<SettlementEvent>> {
    const members = { ref: check.filled(ref, "ref"), query: check.object(query, "query") };
    return (await this.#ask<Page<SettlementEvent>>("events", members, options)).ok;
  }

  /** Returns a page of the events of all settlements, oldest first, in one order that never changes. */
  async feed(query: EventsQuery = {}, options?: CallOptions): Promise<FeedPage> {
    return (await this.#ask<FeedPage>("feed", { query: check.object(query, "query") }, options)).ok;
  }

  /** Iterates over the events of all settlements, or of one, as they happen, in this tab or another. */
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
   * Reverses a settlement, in whole or in part. If nothing was sent yet, it is cancelled.
   *
   * @throws {@link BusinessRuleError} such as `settlement_in_flight` or `reversal_exceeds_remaining`.
   */
  async reverse(ref: string, request: ReverseRequest = {}, options?: CallOptions): Promise<ReverseResult> {
    const members = { ref: check.filled(ref, "ref"), body: check.object(request, "request") };
    return (await this.#ask<ReverseResult>("reverse", members, options)).ok;
  }

  /** Returns a settlement's reversals, oldest first. */
  async reversals(ref: string, options?: CallOptions): Promise<readonly Reversal[]> {
    return (await this.#ask<{ data: readonly Reversal[] }>("reversals", { ref: check.filled(ref, "ref") }, options)).ok.data;
  }

  /** Returns one reversal, by its `rev_` id or your reference. */
  async reversal(ref: string, id: string, options?: CallOptions): Promise<Reversal> {
    return (await this.#ask<Reversal>("reversal", { ref: check.filled(ref, "ref"), id: check.filled(id, "id") }, options)).ok;
  }

  /** Asks the simulated operator now and compares its answer with the record, the ledger and the trace. */
  async reconcile(ref: string, options?: CallOptions): Promise<ReconcileResult> {
    return (await this.#ask<ReconcileResult>("reconcile", { ref: check.filled(ref, "ref") }, options)).ok;
  }

  /** Returns the signed receipt of a completed settlement. */
  async receipt(ref: string, options?: CallOptions): Promise<Receipt> {
    return (await this.#ask<Receipt>("receipt", { ref: check.filled(ref, "ref") }, options)).ok;
  }

  /** Returns the receipt as text: a printable page, plain text, its QR code as SVG, or the compact JWS alone. */
  async receiptAs(ref: string, form: ReceiptForm, options?: CallOptions): Promise<string> {
    const members = { ref: check.filled(ref, "ref"), accept: check.filled(form, "form") };
    return drawn((await this.#ask<Sheet>("receipt", members, options)).ok);
  }

  /** Returns the public keys that verify receipts. */
  async jwks(options?: CallOptions): Promise<JsonWebKeySet> {
    return (await this.#ask<JsonWebKeySet>("keys", {}, options)).ok;
  }

  /** Returns the balances of all accounts. */
  async balances(options?: CallOptions): Promise<readonly Balance[]> {
    return (await this.#ask<{ data: readonly Balance[] }>("balances", {}, options)).ok.data;
  }

  /** Returns the balance in one currency. */
  async balance(currency: string, options?: CallOptions): Promise<Balance> {
    return (await this.#ask<Balance>("balance", { currency: check.filled(currency, "currency") }, options)).ok;
  }

  /** Adds play money and returns the new balance. */
  async fund(request: FundRequest, options?: CallOptions): Promise<Balance> {
    return (await this.#ask<Balance>("fund", { body: check.object(request, "request") }, options)).ok;
  }

  /**
   * Has the simulated operator decide about a settlement now, whatever its scenario, and returns the settlement.
   *
   * @throws {@link BusinessRuleError} with code `invalid_state` if that cannot become of it.
   */
  async advance(ref: string, request: AdvanceRequest, options?: CallOptions): Promise<Settlement> {
    const members = { ref: check.filled(ref, "ref"), body: check.object(request, "request") };
    return (await this.#ask<Settlement>("advance", members, options)).ok;
  }

  /** Returns the faults of the simulated operator. */
  async faults(options?: CallOptions): Promise<Faults> {
    return (await this.#ask<Faults>("faults", {}, options)).ok;
  }

  /** Replaces the faults of the simulated operator; what is left out is 0. The same seed and calls have the same faults. */
  async setFaults(request: FaultsRequest, options?: CallOptions): Promise<Faults> {
    return (await this.#ask<Faults>("set_faults", { body: check.object(request, "request") }, options)).ok;
  }

  /**
   * Starts again: cancels what was not sent, has the simulated operator refuse what is open, removes the faults, restores the
   * opening balances and lets the clock run. History and references stay.
   */
  async reset(options?: CallOptions): Promise<ResetResult> {
    return (await this.#ask<ResetResult>("reset", {}, options)).ok;
  }

  /** Returns the simulator's scenarios: payees and what happens to payments to them. */
  async scenarios(options?: CallOptions): Promise<readonly Scenario[]> {
    return (await this.#ask<{ data: readonly Scenario[] }>("scenarios", {}, options)).ok.data;
  }

  /** Returns the state of the sandbox's clock. */
  async clock(options?: CallOptions): Promise<Clock> {
    return (await this.#ask<Clock>("clock", {}, options)).ok;
  }

  /** Stops the clock, lets it run, or advances it, so that a day's wait takes a moment. */
  async setClock(change: ClockChange, options?: CallOptions): Promise<Clock> {
    return (await this.#ask<Clock>("set_clock", { body: check.object(change, "change") }, options)).ok;
  }

  /** Closes the sandbox; another tab takes over, and stored data is kept. Resolves when this is done. */
  async close(): Promise<void> {
    const port = this.#port;
    this.#port = undefined;
    await port?.close();
  }

  /** Calls {@link Sandbox.close} without waiting, for `using`. */
  [Symbol.dispose](): void {
    void this.close();
  }

  /** Calls {@link Sandbox.close}, for `await using`. */
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
