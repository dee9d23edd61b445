/**
 * A client of a gateway's HTTP interface, for browsers, Node, Deno and workers.
 *
* Each call is signed with a key that never leaves Web Crypto (RFC 9421). Challenges and tokens are fetched and renewed
 * automatically. After a lost response the call is retried without doing anything twice.
 *
 * @module
 */

// For projects whose settings lack `Symbol.dispose`; preserved in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import { loadClient } from "#load/client";
import * as check from "./check.js";
import { API, SETTLEMENTS, type Routed, get, one, part, post, query, range, routed, streamed, unauthenticated } from "./client/calls.js";
import { type Answer, type Call, Connection } from "./client/connection.js";
import { Log } from "./client/log.js";
import type {
  CallOptions,
  ClientOptions,
  CreateOptions,
  DeviceFacts,
  EnrollOptions,
  EventsOptions,
  FeedOptions,
  FollowAfter,
  FollowFeedOptions,
  FollowOptions,
  RawAnswer,
  RawOptions,
  ReceiptForm,
  ReceiptOptions,
  ReverseOptions,
  SettledOptions,
  StatementFilter,
} from "./client/options.js";
import { data, isOf, json, view } from "./client/read.js";
import { type Deadline, Linked, PATIENCE, type Patience, pause } from "./client/patience.js";
import type {
  AnswerOf,
  DefaultForm,
  FormOf,
  ListPath,
  Method,
  PageOf,
  PathOf,
  Route,
  RouteArguments,
  RouteOptions,
} from "./client/routed.js";
import type { Signer } from "./client/signer.js";
import { EventStream, lines } from "./client/stream.js";
import { type Kept, type Vault, indexedDbVault, memoryVault } from "./client/vault.js";
import { Webhooks } from "./client/webhooks.js";
import { ConnectionError, DisposedError, InternalError, RailgateError } from "./errors.js";
import { type Gateway, ends } from "./gateway.js";
import { parseView } from "./json.js";
import { Listing, byCursor, byPosition, bySequence } from "./listing.js";
import { guarded } from "./problem.js";
import type { Changes, DeviceEnrollment, Notification, OperatorEnrollment } from "./routes.js";
import type {
  AdvanceRequest,
  Balance,
  CheckResult,
  CreateRequest,
  Environment,
  Clock,
  ClockChange,
  Faults,
  FaultsRequest,
  FeedEvent,
  FeedPage,
  FundRequest,
  BalanceMovement,
  Key,
  Page,
  Provider,
  Receipt,
  ReceiptProof,
  ReconcileResult,
  ResetRequest,
  ResetResult,
  ReverseRequest,
  ReverseResult,
  Reversal,
  Scenario,
  Settlement,
  SettlementEvent,
  StatementEntry,
  StatusView,
} from "./types.js";
import type { BatchResult, Created, Enrollment, Json, JsonWebKeySet, ListFilter } from "./values.js";

export { generateKeyPair, generateSigner, webCryptoSigner, type KeyPair, type Signer } from "./client/signer.js";
export { indexedDbVault, memoryVault, type Kept, type Vault, type VaultOptions } from "./client/vault.js";
export type {
  CallOptions,
  ClientOptions,
  CreateOptions,
  DeliveryFilter,
  DeviceFacts,
  EnrollOptions,
  EventsOptions,
  FeedOptions,
  FollowAfter,
  FollowFeedOptions,
  FollowOptions,
  RawAnswer,
  RawOptions,
  ReceiptForm,
  ReceiptOptions,
  ReverseOptions,
  SettledOptions,
  StatementFilter,
} from "./client/options.js";
export type { HookFailure, HookRequest, HookResponse, Hooks } from "./client/hooks.js";
export type { Log } from "./client/log.js";
export type {
  Accepts,
  AnswerOf,
  DefaultForm,
  FormOf,
  ListPath,
  Method,
  PageOf,
  PathOf,
  Route,
  RouteArguments,
  RouteBasics,
  RouteOptions,
} from "./client/routed.js";
export type { Webhooks } from "./client/webhooks.js";
export type { Gateway } from "./gateway.js";
export { Listing } from "./listing.js";
export type * as Operators from "./routes.js";
export type { Routes } from "./routes.js";
export type { Patience } from "./client/patience.js";
export * from "./errors.js";
export * from "./types.js";
export * from "./values.js";

/** The length of `cli_` and `opr_`. */
const PREFIX = 4;
/** The server's limit for waiting calls, in seconds. */
const LONGEST_WAIT_S = 30;
const FOLLOW_ATTEMPTS = 12;

/**
 * A client of one gateway.
 *
 * ```js
 * const client = await RailgateClient.open({ baseUrl: "https://pay.example.com" });
 * if (!client.enrolled) await client.enroll("Corner shop");
 * const { settlement } = await client.create({ amount: "10.50", currency: "EUR", to: "sim:ok", reference: "inv-1" });
 * ```
 */
export class RailgateClient implements Gateway {
  /** Who is told about events, and what was delivered. */
  readonly webhooks: Webhooks = new Webhooks(this);
  /** The transparency log of all events. */
  readonly log: Log = new Log(this);
  readonly #options: ClientOptions;
  readonly #vault: Vault;
  readonly #environment: Environment;
  readonly #patience: Patience;
  /** Calls in flight. Not listeners of a single signal: Node warns when there are many. */
  readonly #running = new Set<Linked>();
  readonly #connection: Connection;
  #kept: Kept;

  private constructor(
    options: ClientOptions,
    vault: Vault,
    environment: Environment,
    patience: Patience,
    kept: Kept,
    connect: (keep: (clientId: string | undefined) => Promise<void>) => Connection,
  ) {
    this.#options = options;
    this.#vault = vault;
    this.#environment = environment;
    this.#patience = patience;
    this.#kept = kept;
    this.#connection = connect((clientId) => this.#keep(clientId));
  }

  /**
   * Loads the core and the key (or makes a new key); sends nothing yet.
   *
   * @throws {@link RailgateError} with code `unsupported` or {@link StorageError} if no key can be made or stored.
   */
  static async open(options: ClientOptions): Promise<RailgateClient> {
    check.object(options, "options");
    const { baseUrl, environment = "sandbox", signer: given, hooks = {}, ...more } = options;
    check.filled(baseUrl, "options.baseUrl");
    if (environment !== "sandbox" && environment !== "live") throw new TypeError('options.environment must be "sandbox" or "live"');
    const fetcher = more.fetch ?? ((input, init) => globalThis.fetch(input, init));
    if (typeof fetcher !== "function") throw new TypeError("options.fetch must be a function");
    check.object(hooks, "options.hooks");
    const vault = more.vault ?? (given === undefined ? indexedDbVault({ profile: `${environment}@${baseUrl}` }) : memoryVault(given));
    const patience = patient(more.patience);
    const [{ Exchange, Session }, key] = await Promise.all([loadClient(), vault.signer()]);
    const signer = signing(key, "signer");
    const session = guarded(() => new Session(baseUrl, environment, JSON.stringify(signer.publicKey)));
    const found = await vault.read();
    const kept = found.keyId === session.key_id() ? found : {};
    if (kept.session !== undefined) resume(session, kept.session);
    const connect = (keep: (clientId: string | undefined) => Promise<void>) =>
      new Connection(Exchange, session, signer, fetcher, patience, hooks, keep);
    return new RailgateClient(options, vault, environment, patience, kept, connect);
  }

  /** Whether the key is enrolled, according to this vault. */
  get enrolled(): boolean {
    return this.#kept.clientId !== undefined;
  }

  /** The client's id once it is enrolled (`cli_…`), or the operator's (`opr_…`), according to this vault. */
  get clientId(): string | undefined {
    return this.#kept.clientId;
  }

  /** The RFC 7638 thumbprint of the key. */
  get keyId(): string {
    return this.#connection.session.key_id();
  }

  /**
   * Enrols the key as a new sandbox client with funded accounts. A key that is already enrolled, such as after a lost response,
   * stays with its client: no second client is made, and the result has no webhook secret, which is shown only once.
   *
   * @param name - The name of the client.
   */
  async enroll(name: string, options: EnrollOptions = {}): Promise<Enrollment> {
    const { invitation } = options;
    if (invitation !== undefined) check.filled(invitation, "invitation");
    const request = guarded(() => this.#connection.session.enroll_request(check.filled(name, "name"), invitation));
    try {
      const answer = await this.#send(unauthenticated(request), options);
      const { access_token: _token, expires_in: _life, token_type: _type, ...enrollment } = view<Enrollment & TokenParts>(answer);
      await this.#keep(enrollment.client_id);
      return enrollment;
    } catch (error) {
      if (!isEnrolled(error)) throw error;
      // The token response of this call names the client.
      const balances = await this.balances(options);
      if (this.clientId === undefined) throw error;
      return { client_id: this.clientId, key_id: this.keyId, environment: this.#environment, status: "active", balances };
    }
  }

  /**
   * Requests live access for a new key, signed by a sandbox client's key. When an operator has approved it, open a client with
   * `environment: "live"` and the new key.
   *
   * A key that is already enrolled, such as after a lost response, stays with its client.
   *
   * @param key - The new key, such as `await indexedDbVault({ profile: "live" }).signer()`: one that was made for this.
   * @throws {@link BusinessRuleError} with code `key_exists` if the key is another client's, of the sandbox, or was revoked.
   */
  async enrollLive(key: Signer, options: CallOptions = {}): Promise<Enrollment> {
    const jwk = JSON.stringify(signing(key).publicKey);
    const request = guarded(() => this.#connection.session.enroll_live_request(jwk));
    try {
      return view(await this.#send({ ...unauthenticated(request), newKey: key }, options));
    } catch (error) {
      if (!isEnrolled(error) || this.clientId === undefined) throw error;
      const live = await this.#with(key, "live");
      try {
        const status = await live.#standing(options);
        if (status === undefined || (status === "active" && live.clientId !== this.clientId)) throw error;
        return { client_id: this.clientId, key_id: live.keyId, environment: "live", status };
      } finally {
        await live.close();
      }
    }
  }

  /** Another client of the same gateway, with another key. */
  #with(key: Signer, environment: Environment): Promise<RailgateClient> {
    return RailgateClient.open({ ...this.#options, environment, signer: key, vault: memoryVault(key) });
  }

  /** Whether the key may call, or waits for approval, which only a call tells; `undefined` if neither. */
  async #standing(options: CallOptions): Promise<"active" | "pending" | undefined> {
    try {
      await this.balances(options);
      return "active";
    } catch (error) {
      if (!(error instanceof RailgateError) || error.problem === undefined) throw error;
      return error.code === "enrollment_pending" ? "pending" : undefined;
    }
  }

  /**
   * Enrols the key as an operator's, one of the people who run the gateway. Open the client with `environment: "live"`. What
   * operators do is in {@link RailgateClient.call} and {@link RailgateClient.all}, under `/operator`. A key that is already an operator's,
   * such as after a lost response, stays with that operator.
   *
   * @param code - The code of the operator's invitation (`opi_…`).
   * @param name - The operator's name; by default that of the invitation.
   */
  async enrollOperator(code: string, name?: string, options: CallOptions = {}): Promise<EnrolledOperator> {
    const named = name === undefined ? {} : { name: check.filled(name, "name") };
    const body = JSON.stringify({ code: check.filled(code, "code"), jwk: this.#connection.publicKey, ...named });
    try {
      const answer = await this.#send(post(`${API}/operator/enrollments`, body), options);
      const { access_token: _token, expires_in: _life, token_type: _type, ...enrollment } = view<OperatorEnrollment>(answer);
      await this.#keep(enrollment.operator.id);
      return enrollment;
    } catch (error) {
      if (!isEnrolled(error)) throw error;
      // The token response of this call names the operator, as a client with the same ULID.
      const { data: operators } = await this.call("GET", "/operator/operators", options);
      const operator = operators.find(({ id }) => id.slice(PREFIX) === this.clientId?.slice(PREFIX));
      if (operator === undefined) throw error;
      await this.#keep(operator.id);
      return { operator, key_id: this.keyId };
    }
  }

  /**
   * Enrols the key as that of an end user's device, with the code that the app's backend made for its user. A device that is already
   * enrolled, such as after a lost response, stays enrolled.
   *
   * @param code - The code, as the user typed it or the app's link has it.
   * @param facts - What the app says of the device.
   */
  async enrollDevice(code: string, facts: DeviceFacts, options: CallOptions = {}): Promise<Omit<DeviceEnrollment, keyof TokenParts>> {
    const { platform, appVersion, model, name } = facts;
    const said = { platform: check.filled(platform, "facts.platform"), app_version: appVersion, model, name };
    const body = JSON.stringify({ code: check.filled(code, "code"), jwk: this.#connection.publicKey, ...said });
    try {
      const answer = await this.#send(post(`${API}/mobile/devices`, body), options);
      const { access_token: _token, expires_in: _life, token_type: _type, ...enrollment } = view<DeviceEnrollment>(answer);
      await this.#keep(enrollment.client_id);
      return enrollment;
    } catch (error) {
      if (!isEnrolled(error)) throw error;
      const devices = await this.call("GET", "/mobile/devices", options);
      const device = devices.data.find((it) => it.key_id === this.keyId);
      if (device === undefined || this.clientId === undefined) throw error;
      return { device, client_id: this.clientId, environment: this.#environment, scope: "mobile" };
    }
  }

  /**
   * Iterates over the notifications of the user of this device as they come, each once and in order; with `after`, first over those since
   * that one. It reconnects by itself; leave the loop or abort the signal to end it. The inbox itself: `all("/mobile/notifications")`.
   */
  async *followNotifications(options: FollowAfter<string> = {}): AsyncGenerator<Notification, void, void> {
    const after = check.text(options.after ?? "", "options.after");
    const stream = this.#stream(`${API}/mobile/notifications`, options, after, String, (id, last) => id.startsWith("ntf_") && id !== last);
    for await (const { data } of stream) yield parseView(data) as Notification;
  }

  /** Returns the payments that wait for the user of this device, newest first. */
  async paymentApprovals(options: CallOptions = {}): Promise<readonly Settlement[]> {
    return data(await this.#send(get(`${API}/mobile/approvals`), options));
  }

  /**
   * Approves a payment that waits for the user of this device.
   *
   * @param shown - The payment as the app showed it: the key signs its amount, currency, payee and reference, and the gateway pays that
   *   or nothing.
   * @param payeeName - The name of the payee, if the app showed one.
   * @throws {@link BusinessRuleError} with code `approval_decided` if another device was first; `detail` says what it decided.
   */
  approve(shown: Settlement, payeeName?: string, options: CallOptions = {}): Promise<Settlement> {
    return this.#decide("approve", shown, { payee_name: payeeName }, undefined, options);
  }

  /**
   * Declines a payment that waits for the user of this device: it is cancelled.
   *
   * @param shown - The payment as the app showed it.
   * @param reason - Why, for the trace.
   * @throws As {@link RailgateClient.approve}.
   */
  decline(shown: Settlement, reason?: string, options: CallOptions = {}): Promise<Settlement> {
    return this.#decide("decline", shown, {}, reason, options);
  }

  async #decide(decision: string, payment: Settlement, more: object, reason: string | undefined, options: CallOptions): Promise<Settlement> {
    const { id, amount, currency, to, reference } = payment;
    const body = JSON.stringify({ decision, shown: { amount, currency, to, reference, ...more }, reason });
    return view(await this.#send(post(`${API}/mobile/approvals/${part(id, "shown.id")}`, body), options));
  }

  /**
   * Makes a payment. Repeated with the same reference, it creates nothing new, also after a lost response, a reload or a crash.
   *
   * @throws {@link ValidationError} with all problems in `errors`; {@link BusinessRuleError} if the current state forbids it;
   *   {@link ConnectionError} if there was no response: send the same request again.
   */
  async create(request: CreateRequest, options: CreateOptions = {}): Promise<Created> {
    const waitS = Math.min(check.whole(options.waitS ?? 0, "options.waitS", 0), LONGEST_WAIT_S);
    const prefer = waitS === 0 ? [] : ([["prefer", `wait=${waitS}`]] as const);
    const body = check.json(request, "request");
    const { reference } = JSON.parse(body) as Partial<CreateRequest>;
    const call = { ...post(SETTLEMENTS, body, prefer), extraMs: waitS * 1000, answers: (said: unknown) => isOf(said, reference) };
    const answer = await this.#send(call, options);
    return { settlement: view<Settlement>(answer), replayed: answer.status === 200 };
  }

  /** Makes up to 1,000 payments at once. Each succeeds or fails independently; results are in the order of the requests. */
  async createBatch(requests: readonly CreateRequest[], options: CallOptions = {}): Promise<readonly BatchResult[]> {
    if (!Array.isArray(requests)) throw new TypeError("requests must be an array");
    const body = JSON.stringify({ settlements: requests.map((request) => check.object(request, "requests")) });
    const answers = (said: unknown): boolean => {
      const { results } = (said ?? {}) as { results?: unknown };
      return Array.isArray(results) && results.length === requests.length;
    };
    return view<{ results: readonly BatchResult[] }>(await this.#send({ ...post(`${SETTLEMENTS}/batch`, body), answers }, options)).results;
  }

  /** Returns what a create would find now: problems, fee, route, payee, funds. Changes nothing. */
  async check(request: CreateRequest, options: CallOptions = {}): Promise<CheckResult> {
    return view(await this.#send(post(`${SETTLEMENTS}/check`, check.json(request, "request")), options));
  }

  /**
   * Returns a settlement.
   *
   * @param ref - Your reference, or the `stl_` id.
   * @throws {@link NotFoundError}
   */
  async get(ref: string, options: CallOptions = {}): Promise<Settlement> {
    return view(await this.#send(get(one(ref)), options));
  }

  /** Returns the status of a settlement. */
  async status(ref: string, options: CallOptions = {}): Promise<StatusView> {
    return view(await this.#send(get(`${one(ref)}/status`), options));
  }

  /**
   * Waits until a settlement is final, that is, until it no longer changes by itself. May take days; end it with a signal.
   *
   * @param options - `reversals: true` waits for its reversals too.
   */
  async settled(ref: string, options: SettledOptions = {}): Promise<StatusView> {
    for (let known = await this.status(ref, options); ; known = await this.#changed(ref, known, options)) {
      if (!known.final) continue;
      if (options.reversals !== true) return known;
      // The last reversal may have changed the status since.
      if ((await this.reversals(ref, options)).every(ends)) return this.status(ref, options);
    }
  }

  /**
   * Waits until a reversal has completed or failed, and returns it.
   *
   * @param id - Its `rev_` id or your reference for it.
   */
  async reversed(ref: string, id: string, options: CallOptions = {}): Promise<Reversal> {
    check.filled(id, "id");
    for (let known = await this.status(ref, options); ; known = await this.#changed(ref, known, options)) {
      const reversal = await this.reversal(ref, id, options);
      if (ends(reversal)) return reversal;
    }
  }

  /** Waits for the next event of a settlement, for as long as the server lets a call wait. */
  async #changed(ref: string, { version }: StatusView, options: CallOptions): Promise<StatusView> {
    const call = get(`${one(ref)}/status?wait=${LONGEST_WAIT_S}&version=${version}`);
    const status = view<StatusView>(await this.#send({ ...call, extraMs: LONGEST_WAIT_S * 1000 }, options));
    // A client with too many such calls is answered at once.
    if (status.version === version) await pause(this.#patience.pauseMs, options.signal ?? new AbortController().signal);
    return status;
  }

  /** Returns settlements, newest first. */
  list(filter: ListFilter = {}, options: CallOptions = {}): Listing<Page<Settlement>> {
    const path = (more: object) => SETTLEMENTS + query({ ...check.object(filter, "filter"), ...more });
    return this.#listing<Page<Settlement>>(byCursor, path, options);
  }

  /** Streams all settlements that a filter selects, newest first: faster than the pages of a list. Throws if it breaks off. */
  export(filter: Omit<ListFilter, "limit" | "cursor"> = {}, options: CallOptions = {}): AsyncGenerator<Settlement, void, void> {
    return this.#records(() => `${SETTLEMENTS}/export${query(check.object(filter, "filter"))}`, options);
  }

  #listing<P extends Pick<Page<unknown>, "data">>(
    next: (page: P) => object | undefined,
    path: (more: object) => string,
    options: CallOptions,
  ): Listing<P> {
    return new Listing(async (more) => view<P>(await this.#send(get(path(more)), options)), next);
  }

  async *#records<T>(path: () => string, options: CallOptions): AsyncGenerator<T, void, void> {
    const call = get(path(), "application/x-ndjson");
    const linked = this.#begin(options);
    try {
      const records = await this.#connection.exchange(call, linked.signal, this.#patience.attempts, (response, deadline) => {
        deadline.keep();
        return Promise.resolve([lines(response, deadline), ""]);
      });
      for await (const line of records) yield parseView(line) as T;
    } catch (error) {
      linked.signal.throwIfAborted();
      throw error;
    } finally {
      this.#done(linked);
    }
  }

  /** Returns a settlement's trace, oldest first. */
  events(ref: string, options: EventsOptions = {}): Listing<Page<SettlementEvent>> {
    return this.#listing<Page<SettlementEvent>>(bySequence, (more) => `${one(ref)}/events${range({ ...options, ...more })}`, options);
  }

  /** Returns the events of all settlements, in one order that never changes. */
  feed(options: FeedOptions = {}): Listing<FeedPage> {
    return this.#listing<FeedPage>(byPosition, (more) => `${API}/gateway/events${range({ ...options, ...more })}`, options);
  }

  /**
   * Iterates over a settlement's events as they happen, each once and in order. It reconnects by itself; leave the loop or
   * abort the signal to end it.
   */
  async *follow(ref: string, options: FollowOptions = {}): AsyncGenerator<SettlementEvent, void, void> {
    for await (const { data } of this.#follow(`${one(ref)}/events`, options)) yield parseView(data) as SettlementEvent;
  }

  /** Iterates over the events of all settlements as they happen. */
  async *followFeed(options: FollowFeedOptions = {}): AsyncGenerator<FeedEvent, void, void> {
    for await (const { data, place } of this.#follow(`${API}/gateway/events${range({ epoch: options.epoch })}`, options)) {
      yield { position: place, event: parseView(data) as SettlementEvent };
    }
  }

  /**
   * Iterates whenever something changed that operators see, of any client: for pages that then read again what they show. Only for
   * operators.
   */
  async *followChanges(options: FollowOptions = {}): AsyncGenerator<Changes, void, void> {
    const after = check.whole(options.after ?? 0, "options.after", 0);
    const isNews = (mark: number, last: number): boolean => Number.isSafeInteger(mark) && mark !== last;
    for await (const { data } of this.#stream(`${API}/operator/changes`, options, after, Number, isNews)) yield parseView(data) as Changes;
  }

  /**
   * Reverses a settlement: cancels it if nothing was sent yet, otherwise returns the remaining amount or a part of it.
   *
   * @throws {@link BusinessRuleError}: `settlement_in_flight` while it is in flight, `already_reversed`, …;
   *   {@link ConnectionError} if there was no response: unless you set a `reference` for the reversal or a key for the call, repeat
   *   it only with the error's `idempotencyKey`; any other call would be a second reversal.
   */
  async reverse(ref: string, request: ReverseRequest = {}, options: ReverseOptions = {}): Promise<ReverseResult> {
    const key = check.header(options.idempotencyKey ?? crypto.randomUUID(), "options.idempotencyKey");
    const call = post(`${one(ref)}/reverse`, check.json(request, "request"), [["idempotency-key", key]]);
    const once = (options.idempotencyKey ?? request.reference ?? null) === null;
    const answers = (said: unknown): boolean => isOf(((said ?? {}) as Partial<ReverseResult>).settlement, ref);
    return view(await this.#send({ ...call, once, idempotencyKey: key, answers }, options));
  }

  /** Returns a settlement's reversals, oldest first. */
  async reversals(ref: string, options: CallOptions = {}): Promise<readonly Reversal[]> {
    return data(await this.#send(get(`${one(ref)}/reversals`), options));
  }

  /** Returns one reversal, by its `rev_` id or your reference. */
  async reversal(ref: string, id: string, options: CallOptions = {}): Promise<Reversal> {
    return view(await this.#send(get(`${one(ref)}/reversals/${part(id, "id")}`), options));
  }

  /** Asks the provider now and compares its answer with the record, the ledger and the trace. */
  async reconcile(ref: string, options: CallOptions = {}): Promise<ReconcileResult> {
    return view(await this.#send(post(`${one(ref)}/check`, ""), options));
  }

  /**
   * Returns a settlement's receipt.
   *
   * @throws {@link BusinessRuleError} with code `not_completed` until it is paid.
   */
  async receipt(ref: string, options: CallOptions = {}): Promise<Receipt> {
    return view(await this.#send(get(`${one(ref)}/receipt`), options));
  }

  /** Returns the receipt as an A4 document (PDF), for servers that can draw one. */
  receiptAs(ref: string, form: "application/pdf", options?: CallOptions): Promise<Uint8Array>;
  /** Returns the receipt as a compact JWS, a printable page, text or a QR code. */
  receiptAs(ref: string, form: ReceiptForm, options?: ReceiptOptions): Promise<string>;
  async receiptAs(ref: string, form: ReceiptForm | "application/pdf", options: ReceiptOptions = {}): Promise<string | Uint8Array> {
    const { size, margin, level, title } = options;
    const answer = await this.#send(get(`${one(ref)}/receipt${query({ size, margin, level, title })}`, check.header(form, "form")), options);
    return form === "application/pdf" ? answer.bytes : answer.text;
  }

  /**
   * Returns the proof that the event of a receipt is in the gateway's log.
   *
   * @throws {@link UnavailableError} with code `not_logged_yet` for some seconds after the event.
   */
  async proof(ref: string, options: CallOptions = {}): Promise<ReceiptProof> {
    return view(await this.#send(get(`${one(ref)}/receipt/proof`), options));
  }

  /** Returns the public keys of receipts, for {@link verifyReceipt} of `railgate/receipt`. */
  async jwks(options: CallOptions = {}): Promise<JsonWebKeySet> {
    return view(await this.#send(get("/.well-known/jwks.json"), options));
  }

  /** Returns the providers that payments can go to: what each takes and charges, and how it is. */
  async providers(options: CallOptions = {}): Promise<readonly Provider[]> {
    return data(await this.#send(get(`${API}/providers`), options));
  }

  /** Returns one provider, by its id. */
  async provider(id: string, options: CallOptions = {}): Promise<Provider> {
    return view(await this.#send(get(`${API}/providers/${part(id, "id")}`), options));
  }

  /** Returns the balances of all accounts, one for each currency. */
  async balances(options: CallOptions = {}): Promise<readonly Balance[]> {
    return data(await this.#send(get(`${API}/balances`), options));
  }

  /** Returns the balance in one currency. */
  async balance(currency: string, options: CallOptions = {}): Promise<Balance> {
    return view(await this.#send(get(`${API}/balances/${part(currency, "currency")}`), options));
  }

  /** Returns the statement of the account in a currency: each posted transfer with the balance after it, newest first. */
  statement(currency: string, filter: StatementFilter = {}, options: CallOptions = {}): Listing<Page<StatementEntry>> {
    const path = (more: object) => entries(currency) + query({ ...check.object(filter, "filter"), ...more });
    return this.#listing<Page<StatementEntry>>(byCursor, path, options);
  }

  /** Streams a statement: faster than its pages. Throws if it breaks off. */
  exportStatement(
    currency: string,
    filter: Omit<StatementFilter, "limit" | "cursor"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<StatementEntry, void, void> {
    return this.#records(() => entries(currency) + query(check.object(filter, "filter")), options);
  }

  /** Returns what an operator of the gateway did to the balance, by the operator's reference. */
  async movement(reference: string, options: CallOptions = {}): Promise<BalanceMovement> {
    return view(await this.#send(get(`${API}/balances/movements/${part(reference, "reference")}`), options));
  }

  /** Returns the simulator's scenarios: sandbox payees and what happens to payments to them. */
  async scenarios(options: CallOptions = {}): Promise<readonly Scenario[]> {
    return data(await this.#send(get(`${API}/simulator/scenarios`), options));
  }

  /**
   * Adds play money and returns the new balance. After a lost response the call is sent again, and the amount is added once.
   *
   * @throws {@link ConnectionError} if there was no response at all: the amount may have been added.
   */
  async fund(request: FundRequest, options: CallOptions = {}): Promise<Balance> {
    return view(await this.#simulate("fund", request, options));
  }

  /**
   * Has the simulated operator decide about a settlement of the sandbox now, whatever its scenario, and returns the settlement.
   *
   * @throws {@link BusinessRuleError} with code `invalid_state` if that cannot become of it.
   */
  async advance(ref: string, request: AdvanceRequest, options: CallOptions = {}): Promise<Settlement> {
    return view(await this.#simulate(`settlements/${part(ref, "ref")}/advance`, request, options));
  }

  /** Returns the state of the sandbox's clock. */
  async clock(options: CallOptions = {}): Promise<Clock> {
    return view(await this.#send(get(`${API}/simulator/clock`), options));
  }

  /**
   * Stops the clock of the sandbox, lets it run, or advances it. Everything that becomes due on the way is done at its own time; the
   * result has `advancing_to` if that takes longer than 20 seconds. A call that is sent again after a lost response advances it once.
   *
   * @throws {@link ConnectionError} if there was no response at all: the clock may have been advanced.
   */
  async setClock(change: ClockChange, options: CallOptions = {}): Promise<Clock> {
    const extraMs = LONGEST_WAIT_S * 1000;
    return view(await this.#simulate("clock", check.object(change, "change"), options, { method: "PUT", extraMs }));
  }

  /** Returns the faults of the simulated operator. */
  async faults(options: CallOptions = {}): Promise<Faults> {
    return view(await this.#send(get(`${API}/simulator/faults`), options));
  }

  /** Replaces the faults of the simulated operator; what is left out is 0. The same seed and calls have the same faults. */
  async setFaults(request: FaultsRequest, options: CallOptions = {}): Promise<Faults> {
    const call = post(`${API}/simulator/faults`, check.json(request, "request"));
    return view(await this.#send({ ...call, method: "PUT" }, options));
  }

  /**
   * Starts the sandbox again: cancels what was not sent, has the simulated operator refuse what is open, removes the faults, lets the
   * clock run and restores the opening balances. History and references stay.
   *
   * @param request - `cursor`: the `next_cursor` of the result before, if that has one.
   */
  async reset(request: ResetRequest = {}, options: CallOptions = {}): Promise<ResetResult> {
    return view(await this.#simulate("reset", request, options));
  }

  #simulate(path: string, request: object, options: CallOptions, more: Partial<Call> = {}): Promise<Answer> {
    const key = crypto.randomUUID();
    const call = post(`${API}/simulator/${path}`, check.json(request, "request"), [["idempotency-key", key]]);
    return this.#send({ ...call, once: true, idempotencyKey: key, ...more }, options);
  }

  /** Returns the client's keys, oldest first. */
  async keys(options: CallOptions = {}): Promise<readonly Key[]> {
    return data(await this.#send(get(`${API}/auth/keys`), options));
  }

  /**
   * Adds another key to the client, for example for a new device or to replace this key.
   *
   * A key that this client has already, such as after a lost response, stays as it is.
   *
   * @throws {@link BusinessRuleError} with code `key_exists` if the key is somebody else's, of the other environment, or was revoked.
   */
  async addKey(key: Signer, label?: string, options: CallOptions = {}): Promise<Key> {
    const named = label === undefined ? {} : { label: check.filled(label, "label") };
    const body = JSON.stringify({ jwk: signing(key).publicKey, ...named });
    try {
      return view(await this.#send({ ...post(`${API}/auth/keys`, body), newKey: key }, options));
    } catch (error) {
      if (!isEnrolled(error)) throw error;
      const added = await this.#with(key, this.#environment);
      const { keyId } = added;
      await added.close();
      const found = (await this.keys(options)).find(({ key_id, environment }) => key_id === keyId && environment === this.#environment);
      if (found === undefined || found.status === "revoked") throw error;
      return found;
    }
  }

  /** Revokes a key and its tokens. */
  async revokeKey(keyId: string, options: CallOptions = {}): Promise<void> {
    await this.#send({ ...get(`${API}/auth/keys/${part(keyId, "keyId")}`), method: "DELETE" }, options);
  }

  /**
   * Makes any call of the HTTP interface, with the types of {@link Routes}.
   *
   * ```js
   * const { data } = await client.call("GET", "/operator/clients", { query: { pending: true } });
   * await client.call("POST", "/operator/clients/{id}/suspend", { params: { id: "cli_…" }, body: { reason: "asked to" } });
   * ```
   *
   * @param method - The HTTP method, in capitals.
   * @param path - The path below `/api/v1`, with its parameters in braces.
   * @returns The parsed response with amounts as text; text or bytes if `accept` is not JSON; `undefined` if there is none.
   */
  async call<M extends Method, P extends PathOf<M>, A extends FormOf<Route<M, P>> = DefaultForm<Route<M, P>>>(
    method: M,
    path: P,
    ...[options]: RouteArguments<RouteOptions<Route<M, P>, A>>
  ): Promise<AnswerOf<Route<M, P>, A>> {
    const { accept, signal } = (options ?? {}) as { accept?: string } & CallOptions;
    const { bytes, text } = await this.#send(routed(capitals(method), path, (options ?? {}) as Routed), { signal });
    const binary = accept === "application/pdf" || accept === "application/octet-stream";
    const answer = binary ? bytes : accept === undefined || accept === "application/json" ? json(text) : text;
    return answer as AnswerOf<Route<M, P>, A>;
  }

  /** Returns any list of the HTTP interface that has pages, such as `/operator/audit`. */
  all<P extends ListPath>(
    path: P,
    ...[options]: RouteArguments<Omit<RouteOptions<Route<"GET", P>, never>, "accept">>
  ): Listing<PageOf<P>> {
    const given = (options ?? {}) as Routed & CallOptions;
    const read = async (more: object) => {
      const call = routed("GET", path, { ...given, query: { ...given.query, ...more } });
      return view(await this.#send(call, given));
    };
    return new Listing(read as () => Promise<PageOf<P>>, byCursor);
  }

  /**
   * Makes a call that this version does not know, and signs it.
   *
   * @param method - The HTTP method, in capitals.
   * @param path - The path below `/api/v1`, with its query.
   */
  async raw(method: string, path: string, options: RawOptions = {}): Promise<RawAnswer> {
    const key = options.idempotencyKey;
    const named = key === undefined ? [] : ([["idempotency-key", check.header(key, "options.idempotencyKey")]] as const);
    const body = options.body === undefined ? "" : check.json(options.body, "options.body");
    // `fetch` would refuse it at each attempt.
    if (body !== "" && (method === "GET" || method === "HEAD")) throw new TypeError(`a ${method} has no body`);
    const accept = check.header(options.accept ?? "application/json", "options.accept");
    const call = { ...post(API + check.text(path, "path"), body, named, accept), method: capitals(method) };
    const repeatable = method !== "POST" || key !== undefined;
    const { text, ...answer } = await this.#send({ ...call, repeatable, once: !repeatable, idempotencyKey: key }, options);
    return { ...answer, text: () => text, json: () => json(text) as Json };
  }

  /**
   * Revokes the token and deletes key and session: the next client of this vault makes a new key, which must be enrolled. A client
   * that is open in another tab keeps the key until it is closed; {@link RailgateClient.revokeKey} ends it everywhere.
   *
   * @throws {@link RailgateError} if the token could not be revoked, for example without a network: it expires by itself, and key
   *   and session are deleted anyway.
   */
  async forget(options: CallOptions = {}): Promise<void> {
    check.signal(options.signal, "options.signal");
    try {
      await this.#send(post(`${API}/auth/tokens/revoke`, "{}"), options);
    } catch (error) {
      // A key that is revoked or unknown has no usable token.
      if (!(error instanceof RailgateError) || (error.code !== "key_revoked" && error.code !== "key_unknown")) throw error;
    } finally {
      // Afterwards no call in flight can store a session again.
      await this.close();
      await this.#vault.clear();
    }
  }

  /** Aborts calls in flight, and frees the core's memory. Key and session stay in the vault. */
  close(): Promise<void> {
    this.#connection.dispose();
    for (const linked of this.#running) linked.end(new DisposedError("RailgateClient"));
    return Promise.resolve();
  }

  /** Calls {@link RailgateClient.close}, for `using`. */
  [Symbol.dispose](): void {
    void this.close();
  }

  /** Calls {@link RailgateClient.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send(call: Call, options: CallOptions): Promise<Answer> {
    const linked = this.#begin(options);
    try {
      return await this.#connection.send(call, linked.signal);
    } finally {
      this.#done(linked);
    }
  }

  /** A signal that is aborted with the caller's signal or when the client is disposed of. */
  #begin(options: CallOptions): Linked {
    const linked = new Linked(check.signal(options.signal, "options.signal"));
    this.#running.add(linked);
    return linked;
  }

  #done(linked: Linked): void {
    this.#running.delete(linked);
    linked.close();
  }

  #follow(path: string, options: FollowOptions): AsyncGenerator<{ data: string; place: number }, void, void> {
    const after = check.whole(options.after ?? 0, "options.after", 0);
    // A duplicate, or not an event of this stream, is left out.
    return this.#stream(path, options, after, Number, (at, place) => Number.isSafeInteger(at) && at > place);
  }

  /** A stream from a place on, each of whose events has its own as `id`. */
  async *#stream<T extends number | string>(
    path: string,
    options: FollowAfter<T>,
    first: T,
    placed: (id: string) => T,
    follows: (at: T, place: T) => boolean,
  ): AsyncGenerator<{ data: string; place: T }, void, void> {
    const attempts = check.whole(options.attempts ?? FOLLOW_ATTEMPTS, "options.attempts", 1);
    let place = first;
    const linked = this.#begin(options);
    try {
      let after: Call["after"];
      for (let short = 1; ; short += 1) {
        const begun = performance.now();
        const stream = await this.#connection.exchange({ ...streamed(path, place), after }, linked.signal, attempts, opened);
        try {
          for await (const { id, data } of stream.events()) {
            const at = placed(id ?? "");
            if (!follows(at, place)) continue;
            [place, short] = [at, 0];
            yield { data, place };
          }
        } finally {
          await stream.close();
        }
        linked.signal.throwIfAborted();
        // Streams end with their token, also if no event arrived in all that time.
        if (performance.now() - begun > this.#patience.longestPauseMs) short = 0;
        if (short >= attempts) throw new ConnectionError("connection_lost", "the stream ended repeatedly", { retryable: true });
        after = [short + 1, stream.retryMs ?? 0];
      }
    } finally {
      this.#done(linked);
    }
  }

  /** Stores the session for the next visit. If that fails, the next visit only needs a renewal. */
  async #keep(clientId = this.#kept.clientId): Promise<void> {
    this.#kept = { clientId, keyId: this.keyId, session: this.#connection.session.snapshot() };
    await this.#vault.write(this.#kept).catch(() => undefined);
  }
}

function patient(given: Partial<Patience> = {}): Patience {
  const all = { ...PATIENCE, ...check.object(given, "options.patience") };
  check.whole(all.attempts, "options.patience.attempts", 1);
  for (const name of ["timeoutMs", "pauseMs", "longestPauseMs"] as const) check.whole(all[name], `options.patience.${name}`, 0);
  return all;
}

/** Resumes a stored session. One that cannot be read is from an older version and is replaced. */
function resume(session: { restore(text: string): void }, text: string): void {
  try {
    session.restore(text);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw new InternalError("internal", "a fault of this package", { cause: error });
  }
}

/** The path of a statement. */
function entries(currency: string): string {
  return `${API}/balances/${part(currency, "currency")}/entries`;
}

/** Whether an enrolment failed because the key is enrolled: by an earlier attempt, if the key was made for it. */
function isEnrolled(error: unknown): boolean {
  return error instanceof RailgateError && error.code === "key_exists";
}

function capitals(method: string): string {
  if (!/^[A-Z]+$/.test(check.text(method, "method"))) throw new TypeError("method must be in capitals");
  return method;
}

/** An operator whose key is enrolled. For a key that was enrolled already, the `scope` is not known. */
type EnrolledOperator = Omit<OperatorEnrollment, keyof TokenParts | "scope"> & Partial<Pick<OperatorEnrollment, "scope">>;

/** The part of an enrolment's response that only the session uses. */
interface TokenParts {
  /** The token. */
  readonly access_token?: string;
  /** Its lifetime. */
  readonly expires_in?: number;
  /** `Bearer`. */
  readonly token_type?: string;
}

function signing(key: Signer, name = "key"): Signer {
  const { publicKey, sign } = check.object(key, name);
  check.object(publicKey, `${name}.publicKey`);
  if (typeof sign !== "function") throw new TypeError(`${name}.sign must be a function`);
  return key;
}

function opened(response: Response, deadline: Deadline): Promise<[EventStream, string]> {
  return Promise.resolve([new EventStream(response, deadline), ""]);
}
