/**
 * A signed conversation with one server: the core says what to send and what an answer means, `fetch` sends it.
 *
 * What may be sent again is sent again when an answer gets lost, each time with a signature of its own; what the call says
 * stays the same byte for byte, so that the server knows it.
 *
 * @module
 */

import type { Draft, Session } from "../../wasm/client.js";
import { ConnectionError, DisposedError, type ErrorDetails, GATEWAY_CODES, InternalError, RailgateError } from "../errors.js";
import { guarded, isProblem, problemError } from "../problem.js";
import { Deadline, type Patience, pause, pauseAfter, retryAfterMs, unlessAborted } from "./patience.js";
import type { Signer } from "./signer.js";

/** A call, without its signature. */
export interface Call {
  /** In capitals. */
  readonly method: string;
  /** Path and query as they travel. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON text; empty is none. */
  readonly body: string;
  /** It carries the token. */
  readonly authenticated: boolean;
  /** It may be sent again when its answer got lost: nothing is done twice. */
  readonly repeatable: boolean;
  /** Made again by its caller it would be another call: nothing that the caller knows says that it is the same. */
  readonly once?: boolean;
  /** The key that it is sent under. */
  readonly idempotencyKey?: string | undefined;
  /** Codes that prove that no try of it was carried out, beside those of every call. */
  readonly proofs?: readonly string[];
  /** Whether the body of a 2xx, read as JSON, is an answer to it. One that is not is no answer. */
  readonly answers?: (body: unknown) => boolean;
  /** How much longer than others it may take, in milliseconds. */
  readonly extraMs: number;
  /** A key that it makes known, which signs too. */
  readonly newKey?: Signer;
}

/** An answer that says that the call was carried out. */
export interface Answer {
  /** 200 to 299. */
  readonly status: number;
  /** Its headers. */
  readonly headers: Headers;
  /** Its body as text. */
  readonly text: string;
}

/** What its tries need to know of a call. */
type Tried = Pick<Call, "method" | "repeatable" | "once" | "idempotencyKey" | "proofs" | "extraMs">;

/** What is done with an answer's body. */
type Take<A> = (response: Response, deadline: Deadline) => Promise<A>;

/** Is told of something new. */
type Learned = (clientId: string | undefined) => Promise<void>;

/** What the core makes and takes. */
interface Wire {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Codes of refusals that end by themselves, or that a lost answer leaves behind. The rest is for the caller to see. */
const PASSING: ReadonlySet<string> = new Set([
  "rate_limited",
  "timeout",
  "store_unavailable",
  "not_logged_yet",
  "request_in_progress",
  "version_conflict",
  // The network sent the call twice, and the other copy was the first: what came of it is asked anew.
  "nonce_replayed",
]);

/** How often in a row a call fetches what it needs: a challenge and a token, and each once more. */
const ROUNDS = 5;

/** Statuses of proxies that have no answer of the gateway. */
const NO_ANSWER: ReadonlySet<number> = new Set([502, 503, 504]);

/** Settings of `fetch` that not every runtime has. Nothing of an account belongs into a cache, and no cookies into a call. */
function settings(): RequestInit {
  const known = Request.prototype;
  return {
    redirect: "manual",
    ...("cache" in known ? { cache: "no-store" } : {}),
    ...("credentials" in known ? { credentials: "omit" } : {}),
    ...("referrerPolicy" in known ? { referrerPolicy: "no-referrer" } : {}),
  };
}

/** The core's session, driven. */
export class Connection {
  readonly #signer: Signer;
  readonly #fetch: typeof fetch;
  readonly #patience: Patience;
  readonly #settings = settings();
  /** Called when there is something new to keep, with the client's id where the answer names it. */
  readonly #learned: Learned;
  #session: Session | undefined;
  #renewal: Promise<void> | undefined;

  constructor(session: Session, signer: Signer, fetcher: typeof fetch, patience: Patience, learned: Learned) {
    this.#session = session;
    this.#signer = signer;
    this.#fetch = fetcher;
    this.#patience = patience;
    this.#learned = learned;
  }

  /** The core's half. */
  get session(): Session {
    if (this.#session === undefined) throw new DisposedError("RailgateClient");
    return this.#session;
  }

  /** Frees it; what is under way finds it gone. */
  dispose(): void {
    this.#session?.free();
    this.#session = undefined;
  }

  /** Carries out a call; its answer, read. */
  send(call: Call, signal: AbortSignal): Promise<Answer> {
    return this.exchange(call, signal, this.#patience.attempts, async (response) => {
      const { status, headers } = response;
      const text = await response.text();
      if (call.answers?.(parsed(text)) === false) {
        const what = `what was answered (${status}) is no answer to this call; whether it was carried out is not known`;
        throw new ConnectionError("connection_lost", what, { status, ...again(call) });
      }
      return { status, headers, text };
    });
  }

  /** Carries out a call; leaves its answer to `take`. */
  exchange<A>(call: Call, signal: AbortSignal, attempts: number, take: Take<A>): Promise<A> {
    const sign = async (): Promise<Wire> => {
      await this.#ready(call.authenticated, signal);
      const { method, path, headers, body } = call;
      const request = JSON.stringify({ method, path, headers, body } satisfies Wire);
      const draft = guarded(() => this.session.draft(request, call.authenticated, Date.now(), random()));
      const signed = await finished(draft, this.#signer, signal);
      return JSON.parse(call.newKey === undefined ? signed : await this.#byNewKey(signed, call.newKey, signal)) as Wire;
    };
    return this.#persist(sign, call, signal, attempts, take);
  }

  /** Fetches what the session lacks. Calls that need it at the same time wait for the same. */
  async #ready(authenticated: boolean, signal: AbortSignal): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      signal.throwIfAborted();
      if (this.#need(authenticated) === undefined) return;
      this.#renewal ??= this.#renew(authenticated).finally(() => (this.#renewal = undefined));
      await unlessAborted(this.#renewal, signal);
    }
    throw new InternalError("not_ready", "the server's challenges or tokens end before they can be used; is its clock right?");
  }

  #need(authenticated: boolean): ReturnType<Session["needs"]> {
    return this.session.needs(Date.now(), authenticated);
  }

  /** A challenge, or a token. One caller's signal does not end what others wait for; the tries and their time-outs do. */
  async #renew(authenticated: boolean): Promise<void> {
    const { signal } = new AbortController();
    const prepare = async (): Promise<Wire> => {
      // Asked anew for each try: a refusal may have shown that the challenge is the one to be fetched.
      const need = this.#need(authenticated) ?? "challenge";
      const draft = guarded(() => this.session.prepare(need, Date.now(), random()));
      return JSON.parse(await finished(draft, this.#signer, signal)) as Wire;
    };
    const text = await this.#persist(prepare, { method: "GET", repeatable: true, extraMs: 0 }, signal, this.#patience.attempts, async (response) => {
      const text = await response.text();
      guarded(() => this.session.learn(heard(response, text), Date.now()));
      return text;
    });
    const clientId = (parsed(text) as { client_id?: unknown } | undefined)?.client_id;
    await this.#learned(typeof clientId === "string" ? clientId : undefined);
  }

  #byNewKey(request: string, key: Signer, signal: AbortSignal): Promise<string> {
    const jwk = JSON.stringify(key.publicKey);
    const draft = guarded(() => this.session.draft_of_new_key(request, jwk, Date.now(), random()));
    return finished(draft, key, signal);
  }

  async #persist<A>(
    make: () => Promise<Wire>,
    call: Tried,
    signal: AbortSignal,
    attempts: number,
    take: Take<A>,
  ): Promise<A> {
    let failures = 0;
    let signedAnew = false;
    let unanswered = false;
    let open = false;
    // Whatever ends the tries says nothing of those before it, unless it proves that none was carried out. To have read twice does
    // no harm.
    const known = (error: unknown): unknown => {
      if (call.method === "GET" || signal.aborted || proves(error, call)) return error;
      return unanswered || (open && !isOpen(error)) ? inDoubt(error, call) : error;
    };
    for (;;) {
      const wire = await make().catch((error: unknown) => {
        throw known(error);
      });
      const tried = await this.#try(wire, call, signal, take);
      if ("taken" in tried) return tried.taken;
      if (tried.refused && !signedAnew) {
        // Refused before anything was done, for a reason that another signature cures. Once.
        signedAnew = true;
        continue;
      }
      failures += 1;
      const { error } = tried;
      const wait = error.retryAfterMs ?? 0;
      if (!call.repeatable || !passing(error) || failures >= attempts || wait > this.#patience.longestPauseMs) {
        throw error instanceof ConnectionError ? error : known(error);
      }
      unanswered ||= error instanceof ConnectionError;
      open ||= isOpen(error);
      await pause(Math.max(wait, pauseAfter(failures, this.#patience)), signal);
    }
  }

  /** One try: what was taken from its answer, or why there is nothing to take. */
  async #try<A>(
    wire: Wire,
    call: Tried,
    signal: AbortSignal,
    take: Take<A>,
  ): Promise<{ readonly taken: A } | { readonly error: RailgateError; readonly refused: boolean }> {
    const deadline = new Deadline(this.#patience.timeoutMs + call.extraMs, signal);
    // Detached: a page's own `fetch` is no method of ours.
    const fetcher = this.#fetch;
    try {
      const response = await fetcher(this.session.base() + wire.path, this.#init(wire, deadline.signal));
      if (response.ok) {
        const taken = await take(response, deadline);
        this.#hear(response, "");
        return { taken };
      }
      const text = await response.text();
      return { error: refusal(response, text, call), refused: this.#hear(response, text) };
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof ConnectionError) return { error: cause, refused: false };
      if (cause instanceof RailgateError) throw cause;
      return { error: lost(cause, deadline.signal.aborted, call), refused: false };
    } finally {
      deadline.release();
    }
  }

  #init(wire: Wire, signal: AbortSignal): RequestInit {
    const headers = wire.headers.map(([name, value]): [string, string] => [name, value]);
    return { ...this.#settings, method: wire.method, headers, signal, ...(wire.body === "" ? {} : { body: wire.body }) };
  }

  /** Tells the session what an answer says about challenges, tokens and clocks. */
  #hear(response: Response, text: string): boolean {
    return guarded(() => this.session.hear(heard(response, text), Date.now()));
  }
}

/** The request of a draft as JSON, signed if it is to be. */
async function finished(draft: Draft, signer: Signer, signal: AbortSignal): Promise<string> {
  try {
    const bytes = draft.to_sign();
    const signature = bytes === undefined ? undefined : await unlessAborted(signer.sign(bytes), signal);
    if (bytes !== undefined && !ArrayBuffer.isView(signature)) throw new TypeError("what a signer's sign gives must be a Uint8Array");
    return guarded(() => draft.finish(signature));
  } finally {
    draft.free();
  }
}

/** The parts of an answer that the core looks at. */
function heard(response: Response, body: string): string {
  const headers = ["date", "signature-challenge"].flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return JSON.stringify({ status: response.status, headers, body });
}

function random(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(16));
}

function passing(error: RailgateError): boolean {
  return error instanceof ConnectionError || PASSING.has(error.code);
}

/** What an error says about a call that may have been carried out: whether its caller may make it again, and under which key. */
function again({ once, idempotencyKey }: Tried): ErrorDetails {
  return { retryable: once !== true, idempotencyKey };
}

/** An answer that leaves open whether this very try was carried out. */
function isOpen(error: unknown): boolean {
  const { code, status = 0 } = (error ?? {}) as RailgateError;
  return code === "request_in_progress" || code === "nonce_replayed" || (status >= 500 && code !== "no_route");
}

/** A refusal of the request itself: all tries of it were the same, so none was carried out. The core has the same rule. */
function proves(error: unknown, { proofs }: Tried): boolean {
  if (!(error instanceof RailgateError) || error.problem === undefined) return false;
  const { code, status = 0 } = error;
  return status === 422 || (status < 500 && (code === "reference_conflict" || code === "body_too_large" || proofs?.includes(code) === true));
}

function refusal(response: Response, text: string, call: Tried): RailgateError {
  const details = { retryAfterMs: retryAfterMs(response.headers.get("retry-after"), Date.now()) };
  const problem = parsed(text);
  const { status } = response;
  const { idempotencyKey } = call;
  // A proxy's own errors may have a code, too.
  const type = response.headers.get("content-type") ?? "";
  if (isProblem(problem) && (type.startsWith("application/problem+json") || isKnown(problem.code))) {
    // The server sees a key where there is one, and cannot know that nobody else does.
    const doubt = isOpen({ ...problem, status }) ? { ...again(call), ...(problem.retryable === true ? {} : { retryable: false }) } : {};
    return problemError({ ...problem, status }, { ...details, ...doubt });
  }
  if (NO_ANSWER.has(status)) {
    return new ConnectionError("connection_lost", `something before the server answered ${status}`, { status, ...again(call), ...details });
  }
  const said = response.type === "opaqueredirect" ? "a redirect" : String(status);
  return new InternalError("unreadable_answer", `${said} is not an answer of this interface; is the address right?`, { status, idempotencyKey });
}

/** What became of a try before is not known, and `cause` does not tell. */
function inDoubt(cause: unknown, call: Tried): ConnectionError {
  const { code, name, retryAfterMs } = (cause ?? {}) as RailgateError;
  const what = `no answer came to a try, and another failed (${code ?? name}); whether the call was carried out is not known`;
  return new ConnectionError("connection_lost", what, { ...again(call), retryAfterMs, cause });
}

function isKnown(code: string): boolean {
  return GATEWAY_CODES.some((known) => known === code);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function lost(cause: unknown, late: boolean, call: Tried): ConnectionError {
  const what = late ? "no answer came in time" : "the connection broke, or was not allowed";
  return new ConnectionError("connection_lost", `${what}; whether the call was carried out is not known`, { ...again(call), cause });
}
