/**
 * A client of a gateway's HTTP interface, for browsers, Node, Deno and workers.
 *
 * Each call is signed with a key that never leaves WebCrypto (RFC 9421); challenges and tokens are fetched and renewed by
 * themselves; a lost answer is asked for again without doing anything twice.
 *
 * @module
 */

// For projects whose settings do not bring `Symbol.dispose`; kept in the declarations.
/// <reference lib="esnext.disposable" preserve="true" />

import { loadClient } from "#load/client";
import * as check from "./check.js";
import { API, SETTLEMENTS, get, one, part, post, query, range, streamed, unauthenticated } from "./client/calls.js";
import { type Answer, type Call, Connection } from "./client/connection.js";
import type {
  CallOptions,
  ClientOptions,
  CreateOptions,
  EventsOptions,
  FollowOptions,
  RawOptions,
  ReceiptForm,
  ReverseOptions,
} from "./client/options.js";
import { type Deadline, Linked, PATIENCE, type Patience } from "./client/patience.js";
import type { Signer } from "./client/signer.js";
import { EventStream } from "./client/stream.js";
import { type Kept, type Vault, indexedDbVault, memoryVault } from "./client/vault.js";
import { ConnectionError, DisposedError, InternalError, RailgateError } from "./errors.js";
import { parseView } from "./json.js";
import { guarded } from "./problem.js";
import type {
  Balance,
  CheckResult,
  CreateRequest,
  Environment,
  FeedEvent,
  FeedPage,
  Key,
  Page,
  Receipt,
  ReconcileResult,
  ReverseRequest,
  ReverseResult,
  Reversal,
  Scenario,
  Settlement,
  SettlementEvent,
  StatusView,
} from "./types.js";
import type { BatchResult, Created, Enrollment, JsonWebKeySet, ListFilter } from "./values.js";

export { generateKeyPair, generateSigner, webCryptoSigner, type KeyPair, type Signer } from "./client/signer.js";
export { indexedDbVault, memoryVault, type Kept, type Vault, type VaultOptions } from "./client/vault.js";
export type {
  CallOptions,
  ClientOptions,
  CreateOptions,
  EventsOptions,
  FollowOptions,
  RawOptions,
  ReceiptForm,
  ReverseOptions,
} from "./client/options.js";
export type { Patience } from "./client/patience.js";
export * from "./errors.js";
export * from "./types.js";
export * from "./values.js";

/** The server's own limit. */
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
export class RailgateClient {
  readonly #vault: Vault;
  readonly #environment: Environment;
  readonly #patience: Patience;
  /** What is under way: not listeners of one signal, of which Node warns when there are many. */
  readonly #running = new Set<Linked>();
  readonly #connection: Connection;
  #kept: Kept;

  private constructor(
    vault: Vault,
    environment: Environment,
    patience: Patience,
    kept: Kept,
    connect: (keep: (clientId: string | undefined) => Promise<void>) => Connection,
  ) {
    this.#vault = vault;
    this.#environment = environment;
    this.#patience = patience;
    this.#kept = kept;
    this.#connection = connect((clientId) => this.#keep(clientId));
  }

  /**
   * Loads the core and the key (which is made where there is none); nothing is sent yet.
   *
   * @throws {@link RailgateError} with code `unsupported` or {@link StorageError} where there is no place for a key.
   */
  static async open(options: ClientOptions): Promise<RailgateClient> {
    const { baseUrl, environment = "sandbox", signer: given, ...more } = check.object(options, "options") as unknown as ClientOptions;
    check.filled(baseUrl, "options.baseUrl");
    if (environment !== "sandbox" && environment !== "live") throw new TypeError('options.environment must be "sandbox" or "live"');
    const fetcher = more.fetch ?? ((input, init) => globalThis.fetch(input, init));
    if (typeof fetcher !== "function") throw new TypeError("options.fetch must be a function");
    const vault = more.vault ?? (given === undefined ? indexedDbVault({ profile: `${environment}@${baseUrl}` }) : memoryVault(given));
    const patience = patient(more.patience);
    const [{ Exchange, Session }, key] = await Promise.all([loadClient(), vault.signer()]);
    const signer = signing(key, "signer");
    const session = guarded(() => new Session(baseUrl, environment, JSON.stringify(signer.publicKey)));
    const found = await vault.read();
    const kept = found.keyId === session.key_id() ? found : {};
    if (kept.session !== undefined) resume(session, kept.session);
    return new RailgateClient(vault, environment, patience, kept, (keep) => new Connection(Exchange, session, signer, fetcher, patience, keep));
  }

  /** The key is enrolled, as far as this vault knows. */
  get enrolled(): boolean {
    return this.#kept.clientId !== undefined;
  }

  /** The client's id once it is enrolled (`cli_…`), as far as this vault knows. */
  get clientId(): string | undefined {
    return this.#kept.clientId;
  }

  /** The RFC 7638 thumbprint of the key. */
  get keyId(): string {
    return this.#connection.session.key_id();
  }

  /**
   * Makes the key known to the gateway, as a new sandbox client with funded accounts. A key that is enrolled already, as after a
   * lost answer, is still that client's: there is no second one, and no webhook secret, which is shown once.
   *
   * @param name - What the client is called.
   */
  async enroll(name: string, options: CallOptions = {}): Promise<Enrollment> {
    const request = guarded(() => this.#connection.session.enroll_request(check.filled(name, "name")));
    try {
      const answer = await this.#send(unauthenticated(request), options);
      const { access_token: _token, expires_in: _life, token_type: _type, ...enrollment } = view<Enrollment & TokenParts>(answer);
      await this.#keep(enrollment.client_id);
      return enrollment;
    } catch (error) {
      if (!(error instanceof RailgateError) || error.code !== "key_exists") throw error;
      // Whose it is, its token says.
      const balances = await this.balances(options);
      if (this.clientId === undefined) throw error;
      return { client_id: this.clientId, key_id: this.keyId, environment: this.#environment, status: "active", balances };
    }
  }

  /**
   * Asks for live access with a key of its own, from a sandbox client's key. An operator approves it; then open a client with
   * `environment: "live"` and that key.
   *
   * @param key - The new key, such as `await indexedDbVault({ profile: "live" }).signer()`.
   * @throws {@link BusinessRuleError} with code `key_exists`, also where a try whose answer got lost did it.
   */
  async enrollLive(key: Signer, options: CallOptions = {}): Promise<Enrollment> {
    const jwk = JSON.stringify(signing(key).publicKey);
    const request = guarded(() => this.#connection.session.enroll_live_request(jwk));
    return view(await this.#send({ ...unauthenticated(request), newKey: key }, options));
  }

  /**
   * Pays. Sent again with the same reference, it makes nothing new: also after a lost answer, a reload or a crash.
   *
   * @throws {@link ValidationError} with all problems in `errors`; {@link BusinessRuleError} where the state of affairs forbids
   *   it; {@link ConnectionError} where no answer came: send the same request again.
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

  /** Pays up to 1,000 at once. Each succeeds or fails by itself; results stand in the order of the requests. */
  async createBatch(requests: readonly CreateRequest[], options: CallOptions = {}): Promise<readonly BatchResult[]> {
    if (!Array.isArray(requests)) throw new TypeError("requests must be an array");
    const body = JSON.stringify({ settlements: requests.map((request) => check.object(request, "requests")) });
    const answers = (said: unknown): boolean => {
      const { results } = (said ?? {}) as { results?: unknown };
      return Array.isArray(results) && results.length === requests.length;
    };
    return view<{ results: readonly BatchResult[] }>(await this.#send({ ...post(`${SETTLEMENTS}/batch`, body), answers }, options)).results;
  }

  /** What a create would meet now: problems, fee, route, payee, funds. Nothing is done. */
  async check(request: CreateRequest, options: CallOptions = {}): Promise<CheckResult> {
    return view(await this.#send(post(`${SETTLEMENTS}/check`, check.json(request, "request")), options));
  }

  /**
   * A settlement.
   *
   * @param ref - Your reference, or the `stl_` id.
   * @throws {@link NotFoundError}
   */
  async get(ref: string, options: CallOptions = {}): Promise<Settlement> {
    return view(await this.#send(get(one(ref)), options));
  }

  /** Where a settlement stands. */
  async status(ref: string, options: CallOptions = {}): Promise<StatusView> {
    return view(await this.#send(get(`${one(ref)}/status`), options));
  }

  /** Waits until a settlement is final: until nothing more happens by itself. May take days; end it with a signal. */
  async settled(ref: string, options: CallOptions = {}): Promise<StatusView> {
    const path = `${one(ref)}/status`;
    let known = await this.status(ref, options);
    while (!known.final) {
      const call = { ...get(`${path}?wait=${LONGEST_WAIT_S}&version=${known.version}`), extraMs: LONGEST_WAIT_S * 1000 };
      known = view<StatusView>(await this.#send(call, options));
    }
    return known;
  }

  /** A page of settlements, newest first. */
  async list(filter: ListFilter = {}, options: CallOptions = {}): Promise<Page<Settlement>> {
    return view(await this.#send(get(SETTLEMENTS + query(check.object(filter, "filter"))), options));
  }

  /** All settlements, newest first, page after page. */
  async *settlements(filter: ListFilter = {}, options: CallOptions = {}): AsyncGenerator<Settlement, void, void> {
    let page = await this.list(filter, options);
    for (;;) {
      yield* page.data;
      if (page.next_cursor === null) return;
      page = await this.list({ ...filter, cursor: page.next_cursor }, options);
    }
  }

  /** A page of a settlement's trace, oldest first. */
  async events(ref: string, options: EventsOptions = {}): Promise<Page<SettlementEvent>> {
    return view(await this.#send(get(`${one(ref)}/events${range(options)}`), options));
  }

  /** A page of all events of all settlements, in one order that never changes. */
  async feed(options: EventsOptions = {}): Promise<FeedPage> {
    return view(await this.#send(get(`${API}/gateway/events${range(options)}`), options));
  }

  /**
   * A settlement's events as they happen, each once and in order. Breaks of the connection are mended; leave the loop or
   * abort the signal to end it.
   */
  async *follow(ref: string, options: FollowOptions = {}): AsyncGenerator<SettlementEvent, void, void> {
    for await (const { data } of this.#follow(`${one(ref)}/events`, options)) yield parseView(data) as SettlementEvent;
  }

  /** All events of all settlements as they happen. */
  async *followFeed(options: FollowOptions = {}): AsyncGenerator<FeedEvent, void, void> {
    for await (const { data, place } of this.#follow(`${API}/gateway/events`, options)) {
      yield { position: place, event: parseView(data) as SettlementEvent };
    }
  }

  /**
   * Undoes a settlement: cancels it where nothing was sent yet, else gives back what is left or a part of it.
   *
   * @throws {@link BusinessRuleError}: `settlement_in_flight` while it is in flight, `already_reversed`, …;
   *   {@link ConnectionError} where no answer came: unless the reversal has a `reference`, or the call a key of yours, only the
   *   error's `idempotencyKey` makes the same call again, and any other gives back once more.
   */
  async reverse(ref: string, request: ReverseRequest = {}, options: ReverseOptions = {}): Promise<ReverseResult> {
    const key = check.header(options.idempotencyKey ?? crypto.randomUUID(), "options.idempotencyKey");
    const call = post(`${one(ref)}/reverse`, check.json(request, "request"), [["idempotency-key", key]]);
    const once = (options.idempotencyKey ?? request.reference ?? null) === null;
    const answers = (said: unknown): boolean => isOf(((said ?? {}) as Partial<ReverseResult>).settlement, ref);
    return view(await this.#send({ ...call, once, idempotencyKey: key, answers }, options));
  }

  /** A settlement's reversals, oldest first. */
  async reversals(ref: string, options: CallOptions = {}): Promise<readonly Reversal[]> {
    return data(await this.#send(get(`${one(ref)}/reversals`), options));
  }

  /** One of them, by its `rev_` id or your reference. */
  async reversal(ref: string, id: string, options: CallOptions = {}): Promise<Reversal> {
    return view(await this.#send(get(`${one(ref)}/reversals/${part(id, "id")}`), options));
  }

  /** Asks the provider now, and compares what it says with the record, the books and the trace. */
  async reconcile(ref: string, options: CallOptions = {}): Promise<ReconcileResult> {
    return view(await this.#send(post(`${one(ref)}/check`, ""), options));
  }

  /**
   * A settlement's receipt.
   *
   * @throws {@link BusinessRuleError} with code `not_completed` until it is paid.
   */
  async receipt(ref: string, options: CallOptions = {}): Promise<Receipt> {
    return view(await this.#send(get(`${one(ref)}/receipt`), options));
  }

  /** The receipt as a compact JWS, as a page to print, as text, or its QR code. */
  async receiptAs(ref: string, form: ReceiptForm, options: CallOptions = {}): Promise<string> {
    return (await this.#send(get(`${one(ref)}/receipt`, check.header(form, "form")), options)).text;
  }

  /** The public keys of receipts, for {@link verifyReceipt} of `railgate/receipt`. */
  async jwks(options: CallOptions = {}): Promise<JsonWebKeySet> {
    return view(await this.#send(get("/.well-known/jwks.json"), options));
  }

  /** What the accounts hold, one for each currency. */
  async balances(options: CallOptions = {}): Promise<readonly Balance[]> {
    return data(await this.#send(get(`${API}/balances`), options));
  }

  /** What the account holds in one currency. */
  async balance(currency: string, options: CallOptions = {}): Promise<Balance> {
    return view(await this.#send(get(`${API}/balances/${part(currency, "currency")}`), options));
  }

  /** Whom to pay in the sandbox to see things go wrong. */
  async scenarios(options: CallOptions = {}): Promise<readonly Scenario[]> {
    return data(await this.#send(get(`${API}/simulator/scenarios`), options));
  }

  /** The client's keys, oldest first. */
  async keys(options: CallOptions = {}): Promise<readonly Key[]> {
    return data(await this.#send(get(`${API}/auth/keys`), options));
  }

  /**
   * Makes another key of the same client known, such as one for a new device, or to take the place of this one.
   *
   * @throws {@link BusinessRuleError} with code `key_exists`, also where a try whose answer got lost did it.
   */
  async addKey(key: Signer, label?: string, options: CallOptions = {}): Promise<Key> {
    const named = label === undefined ? {} : { label: check.filled(label, "label") };
    const body = JSON.stringify({ jwk: signing(key).publicKey, ...named });
    return view(await this.#send({ ...post(`${API}/auth/keys`, body), newKey: key }, options));
  }

  /** Revokes one; its tokens end with it. */
  async revokeKey(keyId: string, options: CallOptions = {}): Promise<void> {
    await this.#send({ ...get(`${API}/auth/keys/${part(keyId, "keyId")}`), method: "DELETE" }, options);
  }

  /**
   * Any call of the interface (`GET /openapi.json` describes them): signed, and read as JSON with amounts as text.
   *
   * @param method - In capitals.
   * @param path - Below `/api/v1`, such as `/webhooks`, with its query.
   * @returns What the answer says; `undefined` for an empty one, text where `accept` is no JSON.
   */
  async call(method: string, path: string, options: RawOptions = {}): Promise<unknown> {
    if (!/^[A-Z]+$/.test(check.text(method, "method"))) throw new TypeError("method must be in capitals");
    const key = options.idempotencyKey;
    const named = key === undefined ? [] : ([["idempotency-key", check.header(key, "options.idempotencyKey")]] as const);
    const body = options.body === undefined ? "" : check.json(options.body, "options.body");
    // What `fetch` would refuse at each try.
    if (body !== "" && (method === "GET" || method === "HEAD")) throw new TypeError(`a ${method} has no body`);
    const accept = check.header(options.accept ?? "application/json", "options.accept");
    const call = { ...post(API + check.text(path, "path"), body, named, accept), method };
    const repeatable = method !== "POST" || key !== undefined;
    const answer = await this.#send({ ...call, repeatable, once: !repeatable, idempotencyKey: key }, options);
    if (answer.text === "") return undefined;
    return accept === "application/json" ? view(answer) : answer.text;
  }

  /**
   * Ends the token and forgets key and session: whoever opens the vault again makes another key, which must be enrolled. A client
   * that another tab has open keeps the key until it is closed; {@link RailgateClient.revokeKey} ends it everywhere.
   *
   * @throws {@link RailgateError} where the token could not be ended, as without a network: it ends by itself, and key and session
   *   are forgotten all the same.
   */
  async forget(options: CallOptions = {}): Promise<void> {
    check.signal(options.signal, "options.signal");
    try {
      await this.#send(post(`${API}/auth/tokens/revoke`, "{}"), options);
    } catch (error) {
      // No token of a key that is revoked, or was never made known, can be used.
      if (!(error instanceof RailgateError) || (error.code !== "key_revoked" && error.code !== "key_unknown")) throw error;
    } finally {
      // No call in flight stores a session once more.
      this.dispose();
      await this.#vault.clear();
    }
  }

  /** Aborts calls in flight, and frees the core's memory. Key and session stay in the vault. */
  dispose(): void {
    this.#connection.dispose();
    for (const linked of this.#running) linked.end(new DisposedError("RailgateClient"));
  }

  /** The same, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  async #send(call: Call, options: CallOptions): Promise<Answer> {
    const linked = this.#begin(options);
    try {
      return await this.#connection.send(call, linked.signal);
    } finally {
      this.#done(linked);
    }
  }

  /** Something that ends with the caller's signal, or with the client. */
  #begin(options: CallOptions): Linked {
    const linked = new Linked(check.signal(options.signal, "options.signal"));
    this.#running.add(linked);
    return linked;
  }

  #done(linked: Linked): void {
    this.#running.delete(linked);
    linked.close();
  }

  async *#follow(path: string, options: FollowOptions): AsyncGenerator<{ data: string; place: number }, void, void> {
    const attempts = check.whole(options.attempts ?? FOLLOW_ATTEMPTS, "options.attempts", 1);
    let place = check.whole(options.after ?? 0, "options.after", 0);
    const linked = this.#begin(options);
    try {
      let after: Call["after"];
      for (let short = 1; ; short += 1) {
        const begun = performance.now();
        const stream = await this.#connection.exchange({ ...streamed(path, place), after }, linked.signal, attempts, opened);
        try {
          for await (const { id, data } of stream.events()) {
            const at = Number(id);
            // A copy, or no event of this stream.
            if (!Number.isSafeInteger(at) || at <= place) continue;
            [place, short] = [at, 0];
            yield { data, place };
          }
        } finally {
          await stream.close();
        }
        linked.signal.throwIfAborted();
        // Streams end with their token, also where nothing happened in all that time.
        if (performance.now() - begun > this.#patience.longestPauseMs) short = 0;
        if (short >= attempts) throw new ConnectionError("connection_lost", "the stream ends again and again", { retryable: true });
        after = [short + 1, stream.retryMs ?? 0];
      }
    } finally {
      this.#done(linked);
    }
  }

  /** Keeps the session for the next visit. Where that fails it costs a renewal then, and nothing now. */
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

/** Takes up an earlier session. One that cannot be read is an older version's, and is made anew. */
function resume(session: { restore(text: string): void }, text: string): void {
  try {
    session.restore(text);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw new InternalError("internal", "a fault of this package", { cause: error });
  }
}

function view<T>(answer: Answer): T {
  try {
    return parseView(answer.text) as T;
  } catch (cause) {
    throw new InternalError("unreadable_answer", "the answer is not JSON", { status: answer.status, cause });
  }
}

function data<T>(answer: Answer): readonly T[] {
  return view<{ data: readonly T[] }>(answer).data;
}

/** Whether this is a settlement with that reference or id: what a portal before the server says is none, and another's is another. */
function isOf(said: unknown, ref: unknown): boolean {
  if (typeof ref !== "string") return false;
  const { id, reference } = (said ?? {}) as Readonly<Record<string, unknown>>;
  // The server takes ids in either case.
  return reference === ref || (typeof id === "string" && id.toUpperCase() === ref.toUpperCase());
}

/** What only the session keeps of an enrolment. */
interface TokenParts {
  readonly access_token?: string;
  readonly expires_in?: number;
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
