/** The sandbox: a complete gateway in a tab or a Node process. */

// For projects whose settings lack `Symbol.dispose`; preserved in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import * as check from "../check.js";
import type {
  CallOptions,
  CreateOptions,
  DeviceFacts,
  EventsOptions,
  FeedOptions,
  FollowFeedOptions,
  FollowOptions,
  PageOptions,
  ReceiptForm,
  ReceiptOptions,
  ReverseOptions,
  SettledOptions,
} from "../client/options.js";
import { Deadline } from "../client/patience.js";
import { DisposedError, RailgateError } from "../errors.js";
import { type Gateway, ends } from "../gateway.js";
import { parseView } from "../json.js";
import { Listing, byCursor, byPosition, bySequence } from "../listing.js";
import { problemError } from "../problem.js";
import type { Device, DeviceCode, DeviceCodeRequest, User, UserRequest } from "../routes.js";
import type {
  AdvanceRequest,
  Balance,
  CheckResult,
  Clock,
  ClockChange,
  CreateRequest,
  Faults,
  FaultsRequest,
  FeedEvent,
  FeedPage,
  FundRequest,
  Page,
  Problem,
  Receipt,
  ReconcileResult,
  ResetRequest,
  ResetResult,
  Reversal,
  ReverseRequest,
  ReverseResult,
  Scenario,
  Settlement,
  SettlementEvent,
  StatusView,
} from "../types.js";
import type { BatchResult, Created, JsonWebKeySet, ListFilter } from "../values.js";
import { eraseDatabase } from "./indexeddb.js";
import { openPort } from "./open.js";
import { type SandboxOptions, checked } from "./options.js";
import type { Port } from "./port.js";
import { type Sheet, drawn } from "./sheet.js";
import { EventWatch, type Watching } from "./watch.js";

/** The longest that a create waits, in seconds, as on a server. */
const LONGEST_WAIT_S = 30;

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
  "users",
  "user",
  "devices",
  "device",
  "approvals",
  "approval",
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
 * for await (const { event } of sandbox.followFeed()) console.log(event.reference, event.type);
 * ```
 *
* In a browser everything is stored in IndexedDB. A call resolves when its effect is durable, and tabs that have the same
 * sandbox open see the same state, live. Every method rejects with a {@link RailgateError}, or a `TypeError` for an
 * argument of the wrong type.
 */
export class Sandbox implements Gateway {
  #port: Port | undefined;
  readonly #device: string | undefined;

  private constructor(port: Port, device?: string) {
    this.#port = port;
    this.#device = device;
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
  async create(request: CreateRequest, options: CreateOptions = {}): Promise<Created> {
    const waitS = Math.min(check.whole(options.waitS ?? 0, "options.waitS", 0), LONGEST_WAIT_S);
    const { ok, replayed } = await this.#ask<Settlement>("create", { body: check.object(request, "request") }, options);
    return { settlement: waitS === 0 ? ok : await this.#waited(ok.id, waitS, options), replayed };
  }

  /** The settlement as soon as it is final, or in its state after `waitS` seconds. */
  async #waited(id: string, waitS: number, options: CallOptions): Promise<Settlement> {
    const deadline = new Deadline(waitS * 1000, options.signal ?? new AbortController().signal);
    try {
      await this.settled(id, { signal: deadline.signal });
    } catch (error) {
      if (!deadline.signal.aborted) throw error;
      options.signal?.throwIfAborted();
    } finally {
      deadline.done();
    }
    return this.get(id, options);
  }

  /** Makes many payments. Each succeeds or fails independently; results are in the order of the requests. */
  async createBatch(requests: readonly CreateRequest[], options?: CallOptions): Promise<readonly BatchResult[]> {
    if (!Array.isArray(requests)) throw new TypeError("requests must be an array");
    const bodies = requests.map((request) => check.object(request, "requests"));
    return Promise.all(bodies.map((body) => this.#element(body, options)));
  }

  async #element(body: object, options?: CallOptions): Promise<BatchResult> {
    try {
      const { ok, replayed } = await this.#ask<Settlement>("create", { body }, options);
      return { status: replayed ? 200 : 201, settlement: ok };
    } catch (error) {
      if (!(error instanceof RailgateError) || error.problem === undefined) throw error;
      return { status: error.status ?? 0, problem: error.problem };
    }
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

  /**
   * Waits until a settlement no longer changes by itself and returns its status; a signal ends the wait.
   *
   * @param options - `reversals: true` waits for its reversals too.
   */
  settled(ref: string, options: SettledOptions = {}): Promise<StatusView> {
    return this.#until(options, async (signal) => {
      const status = await this.status(ref, { signal });
      if (!status.final || options.reversals !== true) return status.final ? status : undefined;
      // The last reversal may have changed the status since.
      return (await this.reversals(ref, { signal })).every(ends) ? this.status(ref, { signal }) : undefined;
    });
  }

  /** Waits until a reversal has completed or failed, and returns it; `id` is its `rev_` id or your reference for it. */
  reversed(ref: string, id: string, options: CallOptions = {}): Promise<Reversal> {
    return this.#until(options, async (signal) => {
      const reversal = await this.reversal(ref, id, { signal });
      return ends(reversal) ? reversal : undefined;
    });
  }

  /** Looks again after each change, until there is something to see. */
  async #until<T>(options: CallOptions, look: (signal: AbortSignal) => Promise<T | undefined>): Promise<T> {
    const signal = check.signal(options.signal, "signal") ?? new AbortController().signal;
    const { changes } = this.#open();
    for (;;) {
      const { count } = changes;
      const seen = await look(signal);
      if (seen !== undefined) return seen;
      await changes.after(count, signal);
    }
  }

  /** Returns settlements, newest first. */
  list(filter: ListFilter = {}, options?: CallOptions): Listing<Page<Settlement>> {
    const members = (more: object) => ({ query: { ...check.object(filter, "filter"), ...more } });
    return this.#listing<Page<Settlement>>("list", byCursor, members, options);
  }

  /** Returns a settlement's trace, oldest first. */
  events(ref: string, options: EventsOptions = {}): Listing<Page<SettlementEvent>> {
    const members = (more: object) => ({ ref: check.filled(ref, "ref"), query: range(options, more) });
    return this.#listing<Page<SettlementEvent>>("events", bySequence, members, options);
  }

  /** Returns the events of all settlements, oldest first, in one order that never changes. */
  feed(options: FeedOptions = {}): Listing<FeedPage> {
    return this.#listing<FeedPage>("feed", byPosition, (more) => ({ query: range(options, more) }), options);
  }

  #listing<P extends Pick<Page<unknown>, "data">>(
    call: string,
    next: (page: P) => object | undefined,
    members: (more: object) => object,
    options?: CallOptions,
  ): Listing<P> {
    return new Listing(async (more) => (await this.#ask<P>(call, members(more), options)).ok, next);
  }

  /** Iterates over a settlement's events as they happen, in this tab or another. */
  follow(ref: string, options: FollowOptions = {}): EventWatch<SettlementEvent> {
    check.filled(ref, "ref");
    return this.#follow(options, ({ sequence }) => sequence, (after, signal) => this.events(ref, { after, signal }).page());
  }

  /** Iterates over the events of all settlements as they happen, in this tab or another. */
  followFeed(options: FollowFeedOptions = {}): EventWatch<FeedEvent> {
    return this.#follow(options, ({ position }) => position, (after, signal) => this.feed({ after, signal }).page());
  }

  #follow<T>(options: FollowOptions, place: Watching<T>["place"], read: Watching<T>["read"]): EventWatch<T> {
    const { changes } = this.#open();
    const after = check.whole(options.after ?? 0, "after", 0);
    return new EventWatch({ changes, read, after, place, signal: check.signal(options.signal, "signal") });
  }

  /**
   * Reverses a settlement, in whole or in part. If nothing was sent yet, it is cancelled.
   *
   * @throws {@link BusinessRuleError} such as `settlement_in_flight` or `reversal_exceeds_remaining`.
   */
  async reverse(ref: string, request: ReverseRequest = {}, options: ReverseOptions = {}): Promise<ReverseResult> {
    const { idempotencyKey: key } = options;
    const keyed = key === undefined ? {} : { idempotency_key: check.header(key, "options.idempotencyKey") };
    const members = { ref: check.filled(ref, "ref"), body: check.object(request, "request"), ...keyed };
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
  async receiptAs(ref: string, form: ReceiptForm, options: ReceiptOptions = {}): Promise<string> {
    const members = { ref: check.filled(ref, "ref"), accept: check.filled(form, "form") };
    return drawn((await this.#ask<Sheet>("receipt", members, options)).ok, options);
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
   * opening balances and lets the clock run. History and references stay. It does all at once, so there is no next cursor.
   */
  async reset(request: ResetRequest = {}, options?: CallOptions): Promise<ResetResult> {
    check.object(request, "request");
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

  /** Adds or changes an end user; what is left out stays as it is. */
  async putUser(user: string, request: UserRequest = {}, options?: CallOptions): Promise<User> {
    const members = { user: check.filled(user, "user"), body: check.object(request, "request") };
    return (await this.#ask<User>("put_user", members, options)).ok;
  }

  /** Returns the end users, sorted by name. */
  users(options: PageOptions = {}): Listing<Page<User>> {
    return this.#listing<Page<User>>("users", byCursor, (more) => ({ query: { limit: options.limit, ...more } }), options);
  }

  /** Returns an end user, by your own name for them. */
  async user(user: string, options?: CallOptions): Promise<User> {
    return (await this.#ask<User>("user", { user: check.filled(user, "user") }, options)).ok;
  }

  /** Makes a code with which one device of an end user enrols within ten minutes. Adds the user if there is none. No QR code is drawn. */
  async enrollmentCode(request: DeviceCodeRequest, options?: CallOptions): Promise<DeviceCode> {
    return (await this.#ask<DeviceCode>("enrollment_code", { body: check.object(request, "request") }, options)).ok;
  }

  /** Enrols a device with such a code. It needs no key: a sandbox verifies no signature. */
  async enrollDevice(code: string, facts: DeviceFacts, options?: CallOptions): Promise<Device> {
    const { platform, appVersion, model, name } = facts;
    const body = { code: check.filled(code, "code"), platform: check.filled(platform, "facts.platform"), app_version: appVersion, model, name };
    return (await this.#ask<Device>("enroll_device", { body }, options)).ok;
  }

  /** Returns the devices of an end user, oldest first; on a device, those of its user. */
  async devices(user?: string, options?: CallOptions): Promise<readonly Device[]> {
    const members = user === undefined ? {} : { user: check.filled(user, "user") };
    return (await this.#ask<{ data: readonly Device[] }>("devices", members, options)).ok.data;
  }

  /** Returns a device, by its `dev_` id. */
  async device(id: string, options?: CallOptions): Promise<Device> {
    return (await this.#ask<Device>("device", { id: check.filled(id, "id") }, options)).ok;
  }

  /** Gives a device another name. */
  async renameDevice(id: string, name: string, options?: CallOptions): Promise<Device> {
    return (await this.#ask<Device>("rename_device", { id: check.filled(id, "id"), body: { name: check.text(name, "name") } }, options)).ok;
  }

  /** Revokes a device: nothing more is done on it. */
  async revokeDevice(id: string, options?: CallOptions): Promise<Device> {
    return (await this.#ask<Device>("revoke_device", { id: check.filled(id, "id") }, options)).ok;
  }

  /**
   * The same sandbox on a device of an end user: whatever is called there, the user does. They make and see their own payments, and
   * approve or decline those that wait for them. Closing it leaves the sandbox open.
   */
  onDevice(id: string): Sandbox {
    return new Sandbox(this.#open(), check.filled(id, "id"));
  }

  /** On a device: returns the payments that wait for its user, newest first. */
  async paymentApprovals(options?: CallOptions): Promise<readonly Settlement[]> {
    return (await this.#ask<{ data: readonly Settlement[] }>("approvals", {}, options)).ok.data;
  }

  /** On a device: returns a payment that waits for its user or did, by its `stl_` id. */
  async paymentApproval(id: string, options?: CallOptions): Promise<Settlement> {
    return (await this.#ask<Settlement>("approval", { id: check.filled(id, "id") }, options)).ok;
  }

  /**
   * On a device: approves a payment that waits for its user.
   *
   * @param shown - The payment as the app showed it: the gateway pays that or nothing.
   * @throws {@link BusinessRuleError} with code `approval_decided` if another device was first; `detail` says what it decided.
   */
  approve(shown: Settlement, payeeName?: string, options?: CallOptions): Promise<Settlement> {
    return this.#decide("approve", shown, { payee_name: payeeName }, undefined, options);
  }

  /** On a device: declines a payment that waits for its user. It is cancelled. */
  decline(shown: Settlement, reason?: string, options?: CallOptions): Promise<Settlement> {
    return this.#decide("decline", shown, {}, reason, options);
  }

  async #decide(decision: string, payment: Settlement, more: object, reason?: string, options?: CallOptions): Promise<Settlement> {
    const { id, amount, currency, to, reference } = payment;
    const body = { decision, shown: { amount, currency, to, reference, ...more }, reason };
    return (await this.#ask<Settlement>("decide", { id: check.filled(id, "shown.id"), body }, options)).ok;
  }

  /** Closes the sandbox; another tab takes over, and stored data is kept. Resolves when this is done. */
  async close(): Promise<void> {
    const port = this.#port;
    this.#port = undefined;
    if (this.#device === undefined) await port?.close();
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
    const asked = port.request(JSON.stringify({ call, ...members, as: this.#device }), { mutates: !READS.has(call), signal });
    const answer = parseView(await unlessAborted(asked, signal)) as Answer;
    if ("error" in answer) throw problemError(answer.error);
    return { ok: answer.ok as T, replayed: answer.replayed === true };
  }
}

/** The query for a page of events. A sandbox has one epoch. */
function range(options: EventsOptions, more: object): object {
  const { after, limit } = check.object(options, "options") as EventsOptions;
  return { after, limit, ...more };
}

function unlessAborted<T>(asked: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return asked;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    asked.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
