/**
* Signed calls to one server. The core decides what to sign and send, what a response means and what may be retried;
 * this module does the I/O with `fetch` and the waiting with timers.
 *
 * @module
 */

import type { Exchange, Session } from "../../wasm/client.js";
import { ConnectionError, DisposedError, type ErrorDetails, InternalError, RailgateError } from "../errors.js";
import { type Failed, failed } from "./network.js";
import { guarded, isProblem, problemError } from "../problem.js";
import { type HookRequest, type Hooks, told, withHeaders } from "./hooks.js";
import { Deadline, type Patience, pause, unlessAborted } from "./patience.js";
import type { Signer } from "./signer.js";

/** A call before it is signed. */
export interface Call {
  /** The HTTP method, in capitals. */
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** The headers, with names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON text; empty means no body. */
  readonly body: string;
  /** It may be retried after a lost response: nothing is done twice. */
  readonly repeatable: boolean;
  /** A repetition by the caller would be a new call, because the caller has no key or reference that identifies it. */
  readonly once?: boolean;
  /** The `Idempotency-Key` that it is sent with. */
  readonly idempotencyKey?: string | undefined;
  /** Whether the body of a 2xx, parsed as JSON, is a response to this call. Any other body counts as no response. */
  readonly answers?: (body: unknown) => boolean;
  /** Added to the timeout of other calls, in milliseconds. */
  readonly extraMs: number;
  /** A key that the call enrols and that must also sign it. */
  readonly newKey?: Signer;
  /** For a stream that is reopened: how often in a row it broke, and the pause that the server asked for, in milliseconds. */
  readonly after?: readonly [failures: number, ms: number] | undefined;
}

/** A response that reports success. */
export interface Answer {
  /** The HTTP status, 200 to 299. */
  readonly status: number;
  /** The response headers. */
  readonly headers: Headers;
  /** The body. */
  readonly bytes: Uint8Array;
  /** The body as text. */
  readonly text: string;
}

/** Handles a 2xx; returns the result and as much of the body as was read. */
type Take<A> = (response: Response, deadline: Deadline) => Promise<readonly [taken: A, body: string]>;

/** Called when the session has changed, with the client's id if the response named it. */
type Learned = (clientId: string | undefined) => Promise<void>;

/** A request as the core builds it. */
interface Wire {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** How the exchange ended. */
interface Done {
  readonly verdict: "answered" | "refused" | "not_done" | "open" | "in_doubt";
  readonly why: "answer" | "unreadable" | "lost" | "not_ready" | "stopped" | "unsigned";
  readonly retry_after_ms?: number;
  readonly problem?: readonly [code: string, detail: string];
}

/** The next step that the core requests; exactly one member is present. */
interface Step {
  readonly sign?: { readonly new_key: boolean };
  readonly send?: { readonly request: Wire; readonly timeout_ms: number; readonly prepares: boolean };
  readonly pause?: number;
  readonly done?: Done;
}

/** What was tried, for a message. */
interface Attempt {
  readonly method: string;
  readonly url: string;
}

/** Builds an error from the last attempt. */
type Last = (done: Done) => unknown;

/** The members of a call that an error reports. */
type Told = Pick<Call, "once" | "idempotencyKey" | "newKey">;

/** Settings of `fetch`, some of which not every runtime has. Account data must not be cached, and calls carry no cookies. */
function settings(): RequestInit {
  const known = Request.prototype;
  return {
    redirect: "manual",
    ...("cache" in known ? { cache: "no-store" } : {}),
    ...("credentials" in known ? { credentials: "omit" } : {}),
    ...("referrerPolicy" in known ? { referrerPolicy: "no-referrer" } : {}),
  };
}

/** Drives the core's session. */
export class Connection {
  readonly #exchange: typeof Exchange;
  readonly #signer: Signer;
  readonly #fetch: typeof fetch;
  readonly #patience: Patience;
  readonly #settings = settings();
  readonly #learned: Learned;
  readonly #hooks: Hooks;
  #calls = 0;
  #session: Session | undefined;
  #renewal: Promise<void> | undefined;

  constructor(
    core: typeof Exchange,
    session: Session,
    signer: Signer,
    fetcher: typeof fetch,
    patience: Patience,
    hooks: Hooks,
    learned: Learned,
  ) {
    this.#exchange = core;
    this.#session = session;
    this.#signer = signer;
    this.#fetch = fetcher;
    this.#patience = patience;
    this.#hooks = hooks;
    this.#learned = learned;
  }

  /** The session in the core. */
  get session(): Session {
    if (this.#session === undefined) throw new DisposedError("RailgateClient");
    return this.#session;
  }

  /** The public key that signs, as a JWK. */
  get publicKey(): Signer["publicKey"] {
    return this.#signer.publicKey;
  }

  /** Frees the session; calls in flight then fail with a `DisposedError`. */
  dispose(): void {
    this.#session?.free();
    this.#session = undefined;
  }

  /** Executes a call and returns its response with the body read. */
  send(call: Call, signal: AbortSignal): Promise<Answer> {
    return this.exchange(call, signal, this.#patience.attempts, async (response) => {
      const { status, headers } = response;
      const bytes = new Uint8Array(await response.arrayBuffer());
      const text = new TextDecoder().decode(bytes);
      if (call.answers?.(parsed(text)) === false) {
        const what = `the response (${status}) does not belong to this call; it is unknown whether the call was executed`;
        throw new ConnectionError("connection_lost", what, { status, reason: "foreign_response", ...again(call) });
      }
      return [{ status, headers, bytes, text }, text];
    });
  }

  /** Executes a call and passes its response to `take`. */
  exchange<A>(call: Call, signal: AbortSignal, attempts: number, take: Take<A>): Promise<A> {
    const { method, path, headers, body, repeatable, extraMs, newKey, after = [0, 0] } = call;
    const { timeoutMs, pauseMs, longestPauseMs } = this.#patience;
    const jwk = newKey && JSON.stringify(newKey.publicKey);
    const times = [attempts, timeoutMs, extraMs, pauseMs, longestPauseMs, ...after];
    const exchange = guarded(() => new this.#exchange(method, path, headers.flat(), body, repeatable, jwk, times));
    return this.#drive(exchange, call, signal, take);
  }

  async #drive<A>(exchange: Exchange, call: Told, signal: AbortSignal, take: Take<A> | undefined): Promise<A> {
    let taken: A | undefined;
    let last: Last = () => undefined;
    const numbers = { call: (this.#calls += 1), attempt: 0 };
    const stopped = (error: unknown): void => {
      last = () => error;
      exchange.stop();
    };
    try {
      for (;;) {
        // Concurrent calls wait for the same renewal.
        if (take !== undefined && guarded(() => exchange.lacks(this.session, Date.now()))) {
          await unlessAborted(this.#renewed(exchange), signal).catch(stopped);
        }
        const random = crypto.getRandomValues(new Uint8Array(48));
        const { sign, send, pause: ms, done } = JSON.parse(guarded(() => exchange.next(this.session, Date.now(), random))) as Step;
        if (sign !== undefined) {
          const signer = (sign.new_key ? call.newKey : undefined) ?? this.#signer;
          await signed(exchange, signer, signal).catch(stopped);
        } else if (send !== undefined) {
          numbers.attempt += 1;
          const tried = await this.#try(exchange, send, { ...call, ...numbers }, signal, take);
          if ("taken" in tried) taken = tried.taken;
          else last = tried.last;
        } else if (ms !== undefined) {
          await pause(ms, signal);
        } else if (done !== undefined) {
          if (done.verdict === "answered") return taken as A;
          const error = failure(done, last);
          throw done.verdict === "in_doubt" && !signal.aborted ? inDoubt(error, call) : error;
        }
      }
    } finally {
      exchange.free();
    }
  }

  /** Gets a challenge and a token. A caller's signal does not end this, since others wait for it; the attempts and timeouts do. */
  #renewed(exchange: Exchange): Promise<void> {
    const { signal } = new AbortController();
    this.#renewal ??= this.#drive<void>(exchange.preparation(), {}, signal, undefined).finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  /** Makes one attempt; returns the result of `take`, or the error if there is none. */
  async #try<A>(
    exchange: Exchange,
    { request, timeout_ms: ms, prepares }: NonNullable<Step["send"]>,
    call: Told & Pick<HookRequest, "call" | "attempt">,
    signal: AbortSignal,
    take: Take<A> | undefined,
  ): Promise<{ readonly taken: A } | { readonly last: Last }> {
    const { method, path } = request;
    const seen: HookRequest = { call: call.call, attempt: call.attempt, method, url: this.session.base() + path, renews: prepares };
    const headers = withHeaders(this.#hooks, seen, request.headers);
    const begun = performance.now();
    const since = () => Math.round(performance.now() - begun);
    let open = true;
    const after = ({ status, headers }: Response) => {
      open = false;
      told(this.#hooks.after, { ...seen, status, requestId: headers.get("x-request-id") ?? undefined, ms: since() });
    };
    const deadline = new Deadline(ms, signal);
    // Detached, so that `fetch` is not called as a method of this object.
    const fetcher = this.#fetch;
    try {
      const response = await fetcher(seen.url, this.#init(request, headers, deadline.signal));
      if (response.ok && !prepares && take !== undefined) {
        const [taken, text] = await take(response, deadline);
        after(response);
        this.#answered(exchange, response, text);
        return { taken };
      }
      const text = await response.text();
      after(response);
      this.#answered(exchange, response, text);
      if (response.ok) await this.#learned(clientIdIn(text));
      return { last: (done) => refusal(response, text, call, done) };
    } catch (cause) {
      if (open) told(this.#hooks.error, { ...seen, error: signal.aborted ? signal.reason : cause, ms: since() });
      signal.throwIfAborted();
      const garbled = cause instanceof ConnectionError;
      if (cause instanceof RailgateError && !garbled) throw cause;
      const why = failed(cause, seen.url, deadline.signal.aborted);
      exchange.lost(!why.notSent, garbled);
      // The query may name people, and messages go to logs.
      const attempt = { method, url: seen.url.split("?", 1)[0] ?? "" };
      return { last: ({ verdict }) => (garbled ? cause : lost(cause, attempt, why, verdict === "not_done", call)) };
    } finally {
      deadline.release();
    }
  }

  #init({ method, body }: Wire, headers: [string, string][], signal: AbortSignal): RequestInit {
    return { ...this.#settings, method, headers, signal, ...(body === "" ? {} : { body }) };
  }

  #answered(exchange: Exchange, { status, headers }: Response, body: string): void {
    guarded(() => exchange.answered(this.session, status, [...headers].flat(), body, Date.now()));
  }
}

/** Has the signer sign the exchange's current request. */
async function signed(exchange: Exchange, signer: Signer, signal: AbortSignal): Promise<void> {
  const signature = await unlessAborted(signer.sign(exchange.to_sign()), signal);
  if (!ArrayBuffer.isView(signature)) throw new TypeError("a signer's sign must return a Uint8Array");
  guarded(() => exchange.signed(signature));
}

function clientIdIn(text: string): string | undefined {
  const { client_id: id } = (parsed(text) ?? {}) as { client_id?: unknown };
  return typeof id === "string" ? id : undefined;
}

/** For the error of a call that may have been executed: whether the caller may repeat it, and with which key. */
function again({ once, idempotencyKey }: Told): ErrorDetails {
  return { retryable: once !== true, idempotencyKey };
}

/** The error of a call that did not succeed. */
function failure(done: Done, last: Last): unknown {
  if (done.problem !== undefined) return problemError({ code: done.problem[0], detail: done.problem[1] });
  if (done.why !== "not_ready") return last(done);
  return new InternalError("not_ready", "the server's challenges or tokens expire before they can be used; is its clock right?");
}

function refusal(response: Response, text: string, call: Told, { verdict, why, retry_after_ms: retryAfterMs }: Done): RailgateError {
  const { status } = response;
  const problem = parsed(text);
  if (why === "answer" && isProblem(problem)) {
    // The server sees the key, but does not know that the caller may not have chosen it.
    const doubt = verdict === "open" ? { ...again(call), ...(problem.retryable === true ? {} : { retryable: false }) } : {};
    return problemError({ ...problem, status }, { retryAfterMs, ...doubt });
  }
  if (why === "lost") {
    const details = { status, reason: "proxy", ...again(call), retryAfterMs } as const;
    return new ConnectionError("connection_lost", `a proxy before the server returned ${status}`, details);
  }
  const said = response.type === "opaqueredirect" ? "a redirect" : String(status);
  const what = `${said} is not a response of this API; is the address right?`;
  return new InternalError("unreadable_answer", what, { status, idempotencyKey: call.idempotencyKey });
}

/** The outcome of an earlier attempt is unknown, and `cause` does not reveal it. */
function inDoubt(cause: unknown, call: Told): ConnectionError {
  const { code, name, retryAfterMs, url, reason } = (cause ?? {}) as ConnectionError;
  const what = `an attempt got no response, and a later one failed (${code ?? name}); it is unknown whether the call was executed`;
  return new ConnectionError("connection_lost", what, { url, reason, ...again(call), retryAfterMs, cause });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function lost(cause: unknown, attempt: Attempt, { reason, said }: Failed, notSent: boolean, call: Told): ConnectionError {
  const { method, url } = attempt;
  const outcome = notSent ? "nothing was sent" : "it is unknown whether the call was executed";
  return new ConnectionError("connection_lost", `${method} ${url}: ${said}; ${outcome}`, { url, reason, notSent, ...again(notSent ? {} : call), cause });
}
